"""Random search: what the contract leaves open, what is known of JAX, and programs on the model and on JAX."""

import copy
import subprocess
import sys

import pytest
from hypothesis import Phase

from conformance.__main__ import main
from conformance.kit.columns import Column
from conformance.probes import programs
from conformance.repro.script import FAILS, formatted, noted
from conformance.search import Drawing, corpus, differences, draw, first, show
from conformance.search.compare import compare
from conformance.search.findings import FINDINGS
from conformance.search.hunt import Found, Hunt
from conformance.search.walk import Walk
from impl.host import Configuration, Outcome

KEPT = corpus.load()
NAMES = [it.name for it in FINDINGS]


@pytest.fixture(scope="module")
def hunt():
    with Hunt(on("model"), on("stock")) as hunt:
        assert (hunt.hello(hunt.model).problem, hunt.hello(hunt.subject).problem) == (None, None)
        yield hunt


def on(subject):
    return Configuration(subject, sys.executable, "cpu:8", "shardy")


def quiet(line):
    pass


def observed(hunt, steps):
    """What the model notes of a program, and what JAX does."""
    outcome = hunt.observe(hunt.model, steps)
    assert (outcome.status, outcome.raised) == ("ended", None)
    return outcome.fields, hunt.observe(hunt.subject, steps, fresh=True)


# --- programs on both -------------------------------------------------------------------------------------------------


def test_random_programs_do_on_jax_what_they_do_on_the_model(hunt):
    found = [str(it.difference) for it in differences(hunt, 100, 0, quiet)]
    assert (found, hunt.in_company) == ([], [])
    assert hunt.counts["programs"] == 100
    assert hunt.counts["done"] > 250


@pytest.mark.parametrize("name", NAMES)
def test_a_finding_is_there(hunt, name):
    (finding,) = [it for it in FINDINGS if it.name == name]
    if not finding.holds(hunt.hello(hunt.subject).version):
        pytest.skip("this JAX is of another version")
    notes, outcome = observed(hunt, KEPT[name].steps)
    assert str(compare(KEPT[name].steps, notes, outcome)).startswith(KEPT[name].differs)
    assert any(finding.meets(act) for act in Walk(KEPT[name].steps, notes)), "programs would not go without it"


@pytest.mark.parametrize("name", [name for name in KEPT if name not in NAMES])
def test_a_program_that_is_kept_does_the_same_on_both(hunt, name):
    notes, outcome = observed(hunt, KEPT[name].steps)
    assert compare(KEPT[name].steps, notes, outcome) is None
    assert hunt.settled(KEPT[name].steps)[0] == KEPT[name].steps, "nothing of it is open"


def test_each_finding_has_its_program():
    assert set(NAMES) == {it.name for it in KEPT.values() if it.differs}


@pytest.mark.parametrize("fault", ["contradiction_aliases", "refusal_donates", "copy_is_alias", "donation_ties"])
def test_a_fault_is_found(fault):
    with Hunt(on("model"), on(f"fault:{fault}")) as hunt:
        assert first(Drawing(hunt, 500, quiet), 500, 0, phases=[Phase.generate]) is not None


def test_what_only_shows_after_other_programs_is_kept_apart(hunt, monkeypatch):
    steps = KEPT["reordered"].steps
    torn = {"left_a": "torn"}
    observe = hunt.observe

    def after_others(configuration, steps, fresh=False):
        outcome = observe(configuration, steps, fresh)
        return outcome if fresh or configuration == hunt.model else Outcome("ended", outcome.fields | torn)

    monkeypatch.setattr(hunt, "observe", after_others)
    monkeypatch.setattr(hunt, "in_company", [])
    assert hunt.differs(steps) is None
    assert [str(it.difference) for it in hunt.in_company] == ["the end: state: promised is deleted; seen is torn"]


def test_a_death_that_is_late_is_told_with_its_program():
    with Hunt(on("model"), on("stock")) as hunt:
        steps = KEPT["reordered"].steps
        hunt.observe(hunt.subject, steps)
        (request,) = hunt.pool.attempts
        hunt.pool.blamed.append((request, Outcome("crashed", signal="SIGABRT", late=True)))
        hunt.finish()
    (found,) = hunt.in_company
    assert (found.steps, str(found.difference)) == (
        steps,
        "after all: the process: promised is survives; seen is SIGABRT",
    )


# --- what is compared -------------------------------------------------------------------------------------------------

CHANGES = {
    "refused": lambda notes: notes["step1"].update({"is": "ValueError", "says": []}),
    "done": lambda notes: notes["step3"].update({"is": "done", "lies": []}),
    "devices": lambda notes: notes["step1"]["lies"][0].update(devices=[0, 1, 2, 3]),
    "committed": lambda notes: notes["step2"]["lies"][0].update(committed=False),
    "spec": lambda notes: notes["step1"]["lies"][0].update(spec=["y", "x"]),
    "input kept": lambda notes: notes["gone1"].__setitem__(0, False),
    "input lost": lambda notes: notes["gone5"].__setitem__(0, True),
    "value": lambda notes: notes.update(left_d="changed"),
    "torn": lambda notes: notes.update(left_a="torn"),
    "tied": lambda notes: notes.update(with_d={"e": "deleted"}),
}
"""What could have been seen of the program "reordered" in place of what the model notes."""


@pytest.mark.parametrize("change", CHANGES)
def test_what_is_promised_is_held_against_what_is_seen(hunt, change):
    steps = KEPT["reordered"].steps
    notes = hunt.observe(hunt.model, steps).fields
    seen = copy.deepcopy(dict(notes))
    CHANGES[change](seen)
    difference = compare(steps, notes, Outcome("ended", seen))
    assert difference is not None
    assert eval(difference.test, {"seen": seen}) is False
    assert eval(difference.test, {"seen": notes}) is True


def test_a_death_is_a_difference_where_it_strikes(hunt):
    steps = KEPT["reordered"].steps
    notes = hunt.observe(hunt.model, steps).fields
    for last, where in {
        "step1": "put donate",
        "gone1": "after put donate",
        "left_a": "the look at what is left",
    }.items():
        seen = {name: it for name, it in notes.items() if [*notes].index(name) < [*notes].index(last)}
        difference = compare(steps, notes, Outcome("crashed", seen, signal="SIGSEGV"))
        assert str(difference) == f"{where}: the process: promised is survives; seen is SIGSEGV"
    late = Outcome("crashed", notes, signal="SIGSEGV", late=True)
    assert str(compare(steps, notes, late)).startswith("after all: ")


ALIASED = [
    {"do": "make", "at": "xy", "to": ["a"]},
    {"do": "put", "of": ["a"], "at": "renamed", "flags": "default", "to": ["b"]},
    {"do": "delete", "of": ["b"]},
]


@pytest.mark.parametrize(("left", "same"), [("intact", True), ("deleted", True), ("torn", False), ("changed", False)])
def test_what_may_share_may_go_as_a_whole(hunt, left, same):
    notes = hunt.observe(hunt.model, ALIASED).fields
    seen = {name: it for name, it in notes.items() if not name.endswith("_a")} | {"left_a": left}
    if left == "intact":
        seen |= {"shares_a": [], "with_a": {}}
    assert (compare(ALIASED, notes, Outcome("ended", seen)) is None) is same


def test_arrays_of_one_fate_may_share_memory(hunt):
    steps = ALIASED[:2]
    notes = hunt.observe(hunt.model, steps).fields
    seen = {**notes, "shares_a": ["a", "b"], "with_a": {"b": "deleted"}}
    assert compare(steps, notes, Outcome("ended", seen)) is None


def test_a_copy_may_share_memory_with_another_copy_and_not_with_the_original(hunt):
    copies = [{"do": "put", "of": ["a"], "at": "yx", "flags": "copy", "to": [name]} for name in "bc"]
    steps = [ALIASED[0], *copies]
    notes = hunt.observe(hunt.model, steps).fields
    seen = {**notes, "shares_b": ["b", "c"]}
    assert compare(steps, notes, Outcome("ended", seen)) is None
    difference = compare(steps, notes, Outcome("ended", {**seen, "shares_a": ["a", "c"]}))
    assert str(difference) == "the end: memory of two arrays: promised is apart; seen is shared"


def test_a_program_goes_without_what_is_open(hunt):
    steps = [*ALIASED, corpus.said({"do": "eager", "f": "bump", "of": ["a"], "to": ["c"]})]
    left, _ = hunt.settled(steps)
    assert left == ALIASED


def test_what_is_open_is_tried_as_well_and_ends_no_process(hunt, monkeypatch):
    steps = [*ALIASED, corpus.said({"do": "eager", "f": "bump", "of": ["a"], "to": ["c"]})]
    observe = hunt.observe

    def dying(configuration, steps, fresh=False):
        crashes = configuration == hunt.subject and len(steps) == 4
        return Outcome("crashed", touch="step 3", signal="SIGSEGV") if crashes else observe(configuration, steps, fresh)

    monkeypatch.setattr(hunt, "known", list)
    monkeypatch.setattr(hunt, "observe", dying)
    found = hunt.differs(steps)
    assert found is not None
    assert str(found.difference) == "eager bump: the process: promised is survives; seen is SIGSEGV"


def test_a_program_goes_without_what_has_nothing_to_take(hunt):
    refused = {"do": "put", "of": ["a"], "at": "xy", "flags": "both", "to": ["b"]}
    steps = [ALIASED[0], refused, {"do": "delete", "of": ["b"]}, {"do": "delete", "of": ["a"]}]
    left, notes = hunt.settled(steps)
    assert left == [*steps[:2], steps[3]]
    assert notes["step1"]["is"] == "ValueError"


# --- what is drawn ----------------------------------------------------------------------------------------------------


def test_steps_take_what_is_there():
    made, put = {"do": "make", "at": "xy", "to": [4]}, {"do": "puts", "of": [0, 2], "to": [0, 0]}
    steps = draw.resolved([made, {"do": "nothing"}, put, {"do": "drop"}, {"do": "view", "of": [1]}, {"do": "drop"}])
    assert [it.get("to") for it in steps] == [["a"], ["b", "c"], None, None]
    assert [it.get("of") for it in steps] == [None, ["a", "a"], ["b"], None]
    assert (steps[2]["view"], steps[3]["view"]) == ("v4", "v4")


def test_a_slot_is_filled_again_where_none_is_empty():
    steps = draw.resolved([{"do": "make", "at": "xy", "to": [number]} for number in (0, 0, 0, 0, 0, 3)])
    assert [it["to"] for it in steps] == [["a"], ["b"], ["c"], ["d"], ["e"], ["d"]]


def test_every_step_that_can_be_drawn_can_be_done():
    assert set(draw.ARITY) == set(programs.FUNCTIONS) <= set(programs.GIVES)
    assert set(draw.SHARDINGS) < set(programs.PLACES)
    assert set(programs.EAGER) <= set(programs.GIVES)


# --- what is told -----------------------------------------------------------------------------------------------------


def test_a_difference_is_a_script_that_shows_it(hunt, tmp_path):
    steps = KEPT["unused"].steps
    notes, outcome = observed(hunt, steps)
    difference = compare(steps, notes, outcome)
    assert difference is not None
    column = Column(hunt.subject, hunt.hello(hunt.subject))
    path = tmp_path / "program.py"
    path.write_text(formatted(show.plain(Found(steps, notes, outcome, difference), column)))
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (1, FAILS)
    assert noted(done.stdout.splitlines())[0] == outcome.fields


def test_the_search_tells_what_it_finds(capsys):
    assert main(["search", "--subject", "fault:contradiction_aliases", "--examples", "60"]) == 1
    told = capsys.readouterr().out
    assert "put both: outcome: promised is ValueError donate may_alias; seen is done" in told
    assert "\njax.config.update(" in told
    assert max(map(len, told.partition("As plain JAX")[0].splitlines())) <= 80


def test_the_same_seed_finds_the_same(capsys):
    told = []
    for _ in range(2):
        assert main(["search", "--subject", "model", "--examples", "30", "--seed", "7"]) == 0
        told.append(capsys.readouterr().out)
    assert told[0] == told[1]
    assert "30 programs of " in told[0]


def test_a_subject_that_is_not_there_is_a_mistake(capsys):
    assert main(["search", "--subject", "no.such", "--examples", "1"]) == 2
    assert main(["search", "--examples", "0"]) == 2
    assert "--examples 0: give at least 1" in capsys.readouterr().err


def test_a_subject_that_lacks_what_programs_use_is_a_mistake(capsys):
    assert main(["search", "--subject", "model:0.6.2", "--examples", "1"]) == 2
    assert "programs need " in capsys.readouterr().err
