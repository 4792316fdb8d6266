"""Gates: the suite's own promises, judged where a run collected enough to judge them."""

from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

import pytest

from conformance.kit import Case, every, gates, judge
from conformance.kit.cells import lay_out
from conformance.kit.columns import Column
from conformance.kit.rules import Chapter, Contract, Rule
from conformance.kit.strict import Globs
from conformance.kit.waivers import Waiver, Waivers, When
from impl.host import Configuration, Hello


@dataclass(frozen=True)
class Put(Case):
    flags: str


PUTS = every(Put, flags=("copy", "donate"))
COLUMNS = [
    Column(Configuration("stock", "python", "cpu:8", partitioner), Hello(versions={"jax": "0.10.2"}))
    for partitioner in ("shardy", "gspmd")
]
ALL = Rule("PUT-01", "t", "w", 1, "0.4.34", "puts", expect={"a": 1})
COPIES = replace(ALL, id="PUT-02", when={"flags": Globs(("copy",))})
WAIVER = Waiver(
    id="PUT-02/it",
    rule="PUT-02",
    cases=Globs(("copy",)),
    when=When(Globs(("stock",)), ">=0.4", Globs(("*",)), Globs(("*",))),
    observed={"a": 2},
    reason="r",
    link="none found",
    expires=date(2027, 6, 1),
)


def check(*rules, cases=PUTS, name="puts", marks=None, waivers=(), left_out="", narrowed=False, today=None):
    """The gates that a run of one module finds; cells whose names hold `left_out` were not collected."""
    chapter = Chapter("PUT", "puts", rules)
    layout = lay_out(chapter, name, judge(probe="put.put", cases=cases), COLUMNS)
    if marks is None:
        marks = {rule.id: rule.digest for rule in rules}
    module = gates.Module(Path("test_put.py"), chapter, {name: layout}, marks)
    names = [cell.name for look in layout.looks() for cell in look.cells()]
    extent = gates.Extent([layout], {it for it in names if not left_out or left_out not in it})
    contract = Contract({"put": chapter}, (), {rule.id: rule for rule in rules})
    today = today or date(2027, 1, 1)
    found = gates.check(contract, Waivers(waivers, today), [module], extent, narrowed)
    return [(line["gate"], line["text"]) for line in found]


def test_a_suite_in_order_passes():
    assert check(ALL, COPIES, waivers=[WAIVER]) == []


def test_a_rule_without_cases():
    ((gate, text),) = check(ALL, replace(COPIES, when={"flags": Globs(("move",))}))
    assert (gate, text) == (
        "rule without cases",
        "PUT-02 speaks of none of the cases of test_puts in test_put.py: widen its when, or add cases",
    )
    ((gate, text),) = check(ALL, replace(ALL, id="PUT-02", cases="moves"))
    assert (gate, text) == (
        "rule without cases",
        "PUT-02 asks for cases 'moves': write test_moves = judge(...) in test_put.py",
    )


def test_a_case_without_a_rule():
    ((gate, text),) = check(COPIES)
    assert (gate, text) == ("case without rule", "1 of test_puts in test_put.py are judged by no rule: donate")


@pytest.mark.parametrize("mark", [None, "00000000"])
def test_a_reworded_rule_prints_the_digest_to_write(mark):
    marks = {"PUT-01": ALL.digest} | ({"PUT-02": mark} if mark else {})
    ((gate, text),) = check(ALL, COPIES, marks=marks)
    assert gate == "review mark"
    assert text.endswith(f'then write "PUT-02": "{COPIES.digest}"')
    assert ("has no review mark" in text) is (mark is None)


def test_a_mark_for_a_rule_that_is_gone():
    ((_, text),) = check(ALL, marks={"PUT-01": ALL.digest, "PUT-07": "x"})
    assert "has a review mark for PUT-07, which is no rule" in text


def test_a_waiver_that_matches_nothing():
    ((gate, text),) = check(ALL, COPIES, waivers=[replace(WAIVER, cases=Globs(("donate",)))])
    assert (gate, text) == (
        "unmatched waiver",
        "waiver PUT-02/it matches no case of PUT-02: correct its pattern donate or remove it",
    )


def test_a_waiver_for_other_configurations_is_not_judged_here():
    when = replace(WAIVER.when, versions="<0.5")
    assert check(ALL, COPIES, waivers=[replace(WAIVER, cases=Globs(("donate",)), when=when)]) == []


def test_an_expired_waiver():
    ((gate, text),) = check(ALL, COPIES, waivers=[WAIVER], today=date(2027, 6, 2))
    assert gate == "expired waiver"
    assert "PUT-02/it expired on 2027-06-01" in text


@pytest.mark.parametrize("left_out", ["PUT-02[copy]@stock-0.10.2-cpu8-shardy", "donate", "shardy"])
def test_what_a_selection_leaves_out_is_not_held_against_the_suite(left_out):
    lost = replace(ALL, id="PUT-03", when={"flags": Globs(("move",))})
    assert check(ALL, COPIES, lost, left_out=left_out) == []
    assert "rule without cases" in {gate for gate, _ in check(ALL, COPIES, lost)}


def test_a_rule_collected_whole_under_one_configuration_is_judged_there():
    stale = replace(WAIVER, cases=Globs(("donate",)))
    assert [gate for gate, _ in check(ALL, COPIES, waivers=[stale], left_out="gspmd")] == ["unmatched waiver"]
    assert check(ALL, COPIES, waivers=[stale], left_out="PUT-02") == []
    assert [gate for gate, _ in check(ALL, COPIES, marks={}, left_out="PUT-02")] == ["review mark"]


@pytest.mark.parametrize(
    ("capabilities", "since", "left_out", "told"),
    [
        (("wings",), "0.4", "", []),
        (("legs",), "0.4", "", ["its subject says that it can do legs"] * 2),
        ((), "0.4", "", ["its subject says that it can do nothing"] * 2),
        ((), "0.4", "PUT-01[copy]@stock-0.10.2-cpu8-gspmd", ["its subject says that it can do nothing"]),
        (("wings",), "0.11", "", ["no rule is in force there"] * 2),
    ],
)
@pytest.mark.parametrize("needy", ["rule", "case"])
def test_a_configuration_in_which_nothing_is_judged(monkeypatch, needy, capabilities, since, left_out, told):
    if needy == "case":
        monkeypatch.setattr(Put, "needs", ("wings",))
    hello = Hello(versions={"jax": "0.10.2"}, capabilities=capabilities)
    columns = [replace(column, hello=hello) for column in COLUMNS]
    chapter = Chapter("PUT", "puts", (replace(ALL, needs=("wings",) if needy == "rule" else (), since=since),))
    layout = lay_out(chapter, "puts", judge(probe="put.put", cases=PUTS), columns)
    cells = [cell for look in layout.looks() for cell in look.cells() if cell.name != left_out]
    found = gates.idle(columns, cells, gates.Extent([layout], {cell.name for cell in cells}))
    assert [line["text"].partition(": ")[2] for line in found] == told


def test_chapters_and_modules_belong_together():
    chapter = Chapter("ORD", "order")
    module = gates.Module(Path("test_put.py"), None, {}, {})
    contract = Contract({"ord": chapter}, (), {})
    extent = gates.Extent([], ())
    found = [line["text"] for line in gates.check(contract, Waivers([]), [module], extent, narrowed=False)]
    assert found == [
        "contract/ord.toml has no test_ord.py with judgements: write it",
        "test_put.py has judgements, but there is no contract/put.toml: write it",
    ]
    assert not list(gates.check(contract, Waivers([]), [module], extent, narrowed=True))
