"""Ledgers: a record summed up, written, validated, checked against a later run, and compared across versions."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from reports import ledgers, rules
from reports.__main__ import main
from reports.rules import Contract, Rule, Waiver
from tests.reports_records import Record, cell, configuration, footer, header, question, whole, write

CASES = [f"{source}_to_{target}-f32" for source in ("x", "xy", "rep") for target in ("same", "perm", "other4")]
SHARES = {"shares": "all"}
DIES = {"signal": "SIGSEGV", "touch": "use"}
PINS = ({"hung": True, "touch": "use"}, DIES)


@pytest.fixture(autouse=True)
def _suite(monkeypatch: pytest.MonkeyPatch) -> None:
    """A suite of three rules, each on all of CASES; PUT-02 is in force from 0.5 on."""
    known = {id: Rule(id, f"Sentence of {id}.", "") for id in ("PUT-01", "PUT-02", "DEV-01", "PUT-Q1")}
    waivers = {"PUT-02/varies": Waiver("", "", PINS), "PUT-02/one": Waiver("", "", (DIES,))}
    monkeypatch.setattr(rules, "contract", lambda: Contract(known, (), waivers))
    monkeypatch.setattr(
        rules,
        "cases",
        lambda version: {
            id: tuple(CASES) for id in ("DEV-01", "PUT-01", "PUT-02") if id != "PUT-02" or version != "0.4.35"
        },
    )


def judged(
    bad: dict[str, dict[str, Any]] | None = None, rules: Iterable[str] = ("PUT-01", "PUT-02", "DEV-01"), **said: Any
) -> list[Record]:
    """Every case of each rule; of `bad`, ``RULE[GLOB-LESS-CASE]`` deviates as said there."""
    cells = []
    for rule in rules:
        for case in CASES:
            other = dict((bad or {}).get(f"{rule}[{case}]", {}))
            verdict = other.pop("verdict", "deviates") if other else "conforms"
            usual = {"waiver": f"{rule}/w"} if other and verdict in ("deviates", "crashed", "hung") else {}
            cells.append(cell(rule, case, verdict, **{"expected": {"shares": "none"}} | usual | other | said))
    return cells


def bad(rule: str, *cases: str, **said: Any) -> dict[str, dict[str, Any]]:
    return {f"{rule}[{case}]": {"observed": SHARES} | said for case in cases}


def record(path: Path, *cells: Record, **said: Any) -> Path:
    versions = dict.fromkeys((c["version"], c["partitioner"]) for c in cells if c["kind"] == "cell")
    places = [configuration(version=v, partitioner=p, witness=p) for v, p in versions]
    return write(path, header(**said), *places, *cells, footer(*cells))


def run(*arguments: Any) -> int:
    return main(["ledger", *map(str, arguments)])


SAME = [f"{source}_to_same-f32" for source in ("x", "xy", "rep")]
OTHER = [f"{source}_to_other4-f32" for source in ("x", "xy", "rep")]


@pytest.fixture
def there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """Ledgers of 0.5.3 and 0.6.2, both partitioners, and 0.4.35 under GSPMD."""
    folder = tmp_path / "ledger"
    old, new = bad("PUT-01", *SAME) | bad("DEV-01", CASES[1]), bad("DEV-01", CASES[1], observed={"shares": "some"})
    for version, what in (("0.5.3", old), ("0.6.2", new)):
        cells = [c for p in ("shardy", "gspmd") for c in judged(what, version=version, partitioner=p)]
        assert run("write", record(tmp_path / version, *cells), "--ledgers", folder) == 0
    dies = bad("PUT-01", *OTHER, verdict="crashed", observed=DIES)
    oldest = judged(dies, rules=("PUT-01", "DEV-01"), version="0.4.35", partitioner="gspmd")
    assert run("write", record(tmp_path / "0.4.35", *oldest), "--ledgers", folder) == 0
    capsys.readouterr()
    return folder


DEV = """
[rule.DEV-01]
level = "MUST"
cells = {conforms = 8, deviates = 1}

[[rule.DEV-01.seen]]
verdict = "deviates"
cells = 1
cases = ["x_to_perm-*"]
observed = {shares = "all"}
waiver = "DEV-01/w"
"""


def test_a_ledger_says_what_does_not_hold_and_nothing_that_differs_from_run_to_run(there: Path) -> None:
    text = (there / "stock-0.5.3-cpu8-shardy.toml").read_text()
    assert text.startswith("# Made by")
    assert text[text.index("[rule]") :].replace(DEV, "") == (
        """\
[rule]
PUT-02 = {level = "MUST", cells = {conforms = 9}}

[rule.PUT-01]
level = "MUST"
cells = {conforms = 6, deviates = 3}

[[rule.PUT-01.seen]]
verdict = "deviates"
cells = 3
cases = ["*_to_same-*"]
observed = {shares = "all"}
waiver = "PUT-01/w"
"""
    )
    assert "cells = {conforms = 23, deviates = 4}\n" in text
    for said in ("2026", "seconds", "3.11", "/tmp"):
        assert said not in text


def test_questions_and_legal_outcomes_are_counted(tmp_path: Path) -> None:
    cells = [
        cell("PUT-02", case, "permitted", level="MAY", outcome=["a", "b", "b"][n % 3]) for n, case in enumerate(CASES)
    ]
    path = record(tmp_path / "r", *cells, question(), *(question("some", case=it) for it in "bc"))
    assert run("write", path, "--ledgers", tmp_path) == 0
    ledger = ledgers.read(tmp_path / "stock-0.10.2-cpu8-shardy.toml")
    assert ledger.rule["PUT-02"].permitted == {"a": 3, "b": 6}
    assert [(it.cells, it.observed) for it in ledger.question["PUT-Q1"].answer] == [
        (2, {"shares": "some"}),
        (1, {"shares": "all"}),
    ]


def test_what_is_as_expected_and_an_exception_s_message_are_left_out(tmp_path: Path) -> None:
    raised = {"class": "TypeError", "at": "put", "message": "at 0x7f"}
    what = bad("PUT-01", CASES[0], observed={"shares": "none", "input": None, "raised": raised})
    assert run("write", record(tmp_path / "r", *judged(what)), "--ledgers", tmp_path) == 0
    seen = ledgers.read(tmp_path / "stock-0.10.2-cpu8-shardy.toml").rule["PUT-01"].seen
    assert [it.observed for it in seen] == [{"input": "null", "raised": {"class": "TypeError", "at": "put"}}]


def test_where_the_subject_varies_the_ledger_is_the_same(tmp_path: Path) -> None:
    texts = set()
    for name, dying in (("a", 0), ("b", 2)):
        what = bad("PUT-02", *OTHER, verdict="hung", observed=PINS[0], waiver="PUT-02/varies")
        what |= bad("PUT-02", *OTHER[:dying], verdict="crashed", observed=PINS[1], waiver="PUT-02/varies")
        folder = tmp_path / f"of {name}"
        assert run("write", record(tmp_path / name, *judged(what)), "--ledgers", folder) == 0
        texts.add((folder / "stock-0.10.2-cpu8-shardy.toml").read_text())
        assert run("validate", "--ledgers", folder) == 0
    (text,) = texts
    assert 'verdict = "crashed or hung"\ncells = 3\ncases = ["*_to_other4-*"]\n' in text
    assert 'observed = [\n    {hung = true, touch = "use"},\n    {signal = "SIGSEGV", touch = "use"},\n]\n' in text


ODD = ['"', "\\", "a\nb", "\x00\x1b[2J", "\x7f", "é世", "\u2028", "", "a.b", "]]", "'" * 3, '"' * 3, "# x", "true"]


@pytest.mark.parametrize("odd", ODD)
def test_any_text_in_a_record_is_plain_text_in_a_ledger(tmp_path: Path, odd: str) -> None:
    seen = {"shares": odd, odd: [odd, {odd: True}, 1.5, -3], "nested": {"x": [[], {}]}}
    path = record(tmp_path / "r", *judged(bad("PUT-01", CASES[0], observed=seen)))
    assert run("write", path, "--ledgers", tmp_path / "l") == 0
    assert run("validate", "--ledgers", tmp_path / "l") == 0
    assert run("check", path, "--ledgers", tmp_path / "l") == 0
    (entry,) = ledgers.read(tmp_path / "l" / "stock-0.10.2-cpu8-shardy.toml").rule["PUT-01"].seen
    assert entry.observed == seen


def test_half_a_surrogate_pair_makes_no_other_difference(tmp_path: Path) -> None:
    path = record(tmp_path / "r", *judged(bad("PUT-01", CASES[0], observed={"shares": "\ud800"})))
    assert run("write", path, "--ledgers", tmp_path / "l") == 0
    assert run("check", path, "--ledgers", tmp_path / "l") == 0


@pytest.mark.parametrize("command", ["write", "check"])
@pytest.mark.parametrize("subject", ["../x", "/tmp/x", ".x"])
def test_no_record_names_a_file_elsewhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str, subject: str
) -> None:
    path = whole(tmp_path / "r", *(cell("PUT-01", case, subject=subject) for case in CASES))
    assert run(command, path, "--ledgers", tmp_path / "l") == 2
    assert "is no name for a ledger" in capsys.readouterr().err
    assert sorted(it.name for it in tmp_path.rglob("*") if it.is_file()) == ["r"]


def test_unsupported_cells_have_their_reason(tmp_path: Path) -> None:
    what = bad("PUT-01", *SAME, verdict="unsupported", observed={}, reason="not there: export (the rule)")
    assert run("write", record(tmp_path / "r", *judged(what)), "--ledgers", tmp_path) == 0
    (seen,) = ledgers.read(tmp_path / "stock-0.10.2-cpu8-shardy.toml").rule["PUT-01"].seen
    assert (seen.verdict, seen.cases, seen.reason, seen.observed) == (
        "unsupported",
        ("*_to_same-*",),
        "not there: export (the rule)",
        None,
    )


@pytest.mark.parametrize("order", [1, -1])
def test_the_order_of_a_record_is_nothing(tmp_path: Path, order: int, there: Path) -> None:
    what = bad("PUT-01", *SAME) | bad("DEV-01", CASES[1])
    path = record(tmp_path / "r", *judged(what, version="0.5.3")[::order])
    before = (there / "stock-0.5.3-cpu8-shardy.toml").read_bytes()
    assert run("write", path, "--ledgers", there) == 0
    assert (there / "stock-0.5.3-cpu8-shardy.toml").read_bytes() == before
    assert run("check", path, "--ledgers", there) == 0


@pytest.mark.parametrize("command", ["write", "check"])
@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([header(), *judged()], "a partial run, so no ledger: no footer"),
        ([header(writer="gw1"), *judged(), footer(*judged())], "a partial run, so no ledger: written by gw1"),
        ([header(), *judged(), footer(*judged(), complete=False)], "a partial run"),
        ([header(), *judged()[1:], footer(*judged())], "a partial run"),
        ([header(selected=True), *judged()], "a partial run"),
    ],
    ids=["no footer", "one of several writers", "not complete", "a lost cell", "partial and selected"],
)
def test_a_partial_record_makes_no_ledger(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str, lines: list[Record], said: str
) -> None:
    path = write(tmp_path / "r", *lines)
    assert run(command, path, "--ledgers", tmp_path / "ledger") == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err
    assert err.count("\n") == 1
    assert not list(tmp_path.glob("ledger/*"))


def test_a_selection_makes_no_ledger_and_is_not_compared(
    tmp_path: Path, there: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = record(tmp_path / "r", *judged(version="0.5.3")[:3], selected=True)
    assert run("write", path, "--ledgers", there) == 2
    assert "a selection of the suite" in capsys.readouterr().err
    assert run("check", path, "--ledgers", there) == 0
    assert capsys.readouterr().out == f"{path}: of a selection, so not compared with the ledgers.\n"


RED: list[tuple[dict[str, dict[str, Any]], list[Record], str]] = [
    (bad("PUT-01", CASES[0], waiver=None), [], "1 cell unexpected"),
    (bad("PUT-01", CASES[0], verdict="error", reason="?"), [], "1 cell unexpected"),
    ({}, [{"kind": "gate", "gate": "expired waiver", "text": "x"}], "gate expired waiver: x"),
]


@pytest.mark.parametrize(("what", "more", "said"), RED, ids=["deviates", "error", "gate"])
def test_a_red_run_makes_a_ledger_only_where_that_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], what: Any, more: list[Record], said: str
) -> None:
    path, folder = record(tmp_path / "r", *more, *judged(what)), tmp_path / "ledger"
    assert run("write", path, "--ledgers", folder) == 1
    assert f"no ledger, the run is red: {said}" in capsys.readouterr().out
    assert not list(folder.iterdir())
    assert run("write", path, "--ledgers", folder, "--red") == 0
    assert run("validate", "--ledgers", folder) == 0


def test_a_changed_verdict_is_a_readable_difference(
    tmp_path: Path, there: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    what = bad("PUT-01", *SAME[:2]) | bad("DEV-01", CASES[1], observed={"shares": "some"})
    what |= bad("PUT-02", OTHER[0], verdict="crashed", observed=DIES)
    path = record(tmp_path / "r", *judged(what, version="0.5.3"))
    assert run("check", path, "--ledgers", there) == 1
    out = capsys.readouterr().out
    assert (
        out
        == (
            """\
Not as the ledgers say:

DEV-01 MUST: Sentence of DEV-01.
  0.5.3 cpu:8 shardy: 8 of 9 hold
    deviates otherwise, 1 cell: deviates, shares = "some" (was deviates, shares
      = "all")
      x_to_perm-*

PUT-01 MUST: Sentence of PUT-01.
  0.5.3 cpu:8 shardy: 7 of 9 hold, was 6
    now holds, 1 cell (was deviates, shares = "all")
      rep_to_same-*

PUT-02 MUST: Sentence of PUT-02.
  0.5.3 cpu:8 shardy: 8 of 9 hold, was 9
    no longer holds, 1 cell: crashed, SIGSEGV at use
      x_to_other4-*

1 ledger compared: not the same.
"""
        )
        + out[out.index("If that is meant: ") :]
    )
    assert f"python -m reports ledger write {path}" in " ".join(out.split())


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ({"level": "SHOULD"}, "level SHOULD, was MUST"),
        ({"witness": "?"}, None),
        ({"waiver": "PUT-01/other"}, "waivers: DEV-01/w"),
    ],
)
def test_every_other_change_is_said_too(
    tmp_path: Path, there: Path, capsys: pytest.CaptureFixture[str], what: dict[str, Any], said: str | None
) -> None:
    cells = judged(bad("PUT-01", *SAME) | bad("DEV-01", CASES[1]), version="0.5.3")
    changed = [c | what if c["rule"] == "PUT-01" and ("waiver" not in what or c["waiver"]) else c for c in cells]
    assert run("check", record(tmp_path / "r", *changed), "--ledgers", there) == (1 if said else 0)
    said = said and said.replace("DEV-01/w", "PUT-01/other")
    assert (said or "the same") in capsys.readouterr().out


def test_other_cases_and_other_rules_are_a_difference(
    tmp_path: Path, there: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cells = judged(bad("PUT-01", *SAME), rules=("PUT-01", "PUT-02"), version="0.5.3")
    more = cell("PUT-02", "one_to_none-f32", version="0.5.3")
    assert run("check", record(tmp_path / "r", *cells, more), "--ledgers", there) == 1
    out = capsys.readouterr().out
    assert "gone: 9 cells, 8 hold" in out
    assert "10 of 10 hold, was 9 of 9" in out


def test_an_exception_is_told_by_its_class(tmp_path: Path, there: Path, capsys: pytest.CaptureFixture[str]) -> None:
    raised = {"class": "TypeError", "at": "put", "message": "0x7f"}
    what = bad("PUT-01", *SAME, observed={"raised": raised}) | bad("DEV-01", CASES[1])
    path = record(tmp_path / "r", *judged(what, version="0.5.3"))
    assert run("check", path, "--ledgers", there) == 1
    said = 'deviates otherwise, 3 cells: deviates, TypeError at put (was deviates, shares = "all")'
    assert said in " ".join(capsys.readouterr().out.split())


def test_what_could_not_be_judged_is_a_difference(
    tmp_path: Path, there: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    what = bad("PUT-01", *SAME, verdict="not_run", reason="8 devices are asked for, 4 are there")
    assert run("check", record(tmp_path / "r", *judged(what, version="0.6.2")), "--ledgers", there) == 1
    out = " ".join(capsys.readouterr().out.split())
    assert "another verdict, 3 cells: not_run, 8 devices are asked for, 4 are there *_to_same-*" in out


def test_a_version_without_a_ledger_is_said_and_passes(
    tmp_path: Path, there: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("check", record(tmp_path / "r", *judged(version="0.7.2")), "--ledgers", there) == 0
    assert capsys.readouterr().out == "stock-0.7.2-cpu8-shardy: no ledger of it is committed, so not compared.\n"


def test_one_partitioner_s_ledger_that_is_gone_is_a_difference(
    tmp_path: Path, there: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (there / "stock-0.5.3-cpu8-gspmd.toml").unlink()
    assert run("check", tmp_path / "0.5.3", "--ledgers", there) == 1
    out = capsys.readouterr().out
    assert "stock-0.5.3-cpu8-gspmd: its ledger is gone; that of shardy is there\n" in out
    assert "1 ledger compared: not the same.\n" in out
    (there / "stock-0.5.3-cpu8-shardy.toml").unlink()
    assert run("check", tmp_path / "0.5.3", "--ledgers", there) == 0


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (lambda data: data.replace(b"\n", b"\r\n"), "not in the form"),
        (lambda data: data.replace(b'version = "0.5.3"', b'version = "0.5.4"'), "its name should be stock-0.5.4-cpu8-"),
        (lambda data: data.replace(b'subject = "stock"', b'subject = "../x"'), "its name should be ../x-0.5.3-cpu8-"),
    ],
    ids=["line ends", "another version", "another folder"],
)
@pytest.mark.parametrize("command", ["check", "validate"])
def test_a_ledger_that_says_the_same_in_another_form_fails_too(
    tmp_path: Path, there: Path, capsys: pytest.CaptureFixture[str], edit: Any, said: str, command: str
) -> None:
    path = there / "stock-0.5.3-cpu8-shardy.toml"
    path.write_bytes(edit(path.read_bytes()))
    given = [tmp_path / "0.5.3"] if command == "check" else []
    assert run(command, *given, "--ledgers", there) == 1
    assert f"{path}: {said}" in capsys.readouterr().out


def test_no_ledger_is_of_a_run_with_flags(tmp_path: Path, there: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = record(tmp_path / "r", *judged(version="0.5.3"), flags={"JAX_ENABLE_X64": "1", "XLA_FLAGS": "--x\x1b"})
    for more in ([], ["--red"]):
        assert run("write", path, "--ledgers", there, *more) == 2
        assert "with JAX_ENABLE_X64=1 XLA_FLAGS=--x\\x1b set, so no ledger; run" in capsys.readouterr().err
    assert run("check", path, "--ledgers", there) == 0
    said = f"{path}: of a run with JAX_ENABLE_X64=1 XLA_FLAGS=--x\\x1b set, so not compared with the ledgers.\n"
    assert capsys.readouterr().out == said


def test_two_versions_differ_readably_and_alike_partitioners_are_said_once(
    there: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("diff", "0.5.3", "0.6.2", "--ledgers", there) == 0
    assert capsys.readouterr().out == (
        """\
DEV-01 MUST: Sentence of DEV-01.
  0.5.3 -> 0.6.2 cpu:8 shardy and gspmd: 8 of 9 hold
    deviates otherwise, 1 cell: deviates, shares = "some" (was deviates, shares
      = "all")
      x_to_perm-*

PUT-01 MUST: Sentence of PUT-01.
  0.5.3 -> 0.6.2 cpu:8 shardy and gspmd: 9 of 9 hold, was 6
    now holds, 3 cells (was deviates, shares = "all")
      *_to_same-*
"""
    )
    assert run("diff", "stock-0.6.2-cpu8-shardy", "stock-0.6.2-cpu8-gspmd", "--ledgers", there) == 0
    said = "witness\n  0.6.2 cpu:8 shardy -> gspmd: gspmd, was shardy\n\nNo rule differs.\n"
    assert capsys.readouterr().out == said
    assert run("diff", "0.4.35", "0.5.3", "--ledgers", there) == 0
    assert "new: 9 cells, 9 hold" in capsys.readouterr().out, "PUT-02 is in force from 0.5 on"


def test_the_model_has_no_ledger_and_is_no_trouble(
    tmp_path: Path, there: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its columns stand beside those of stock in a run; the run itself says whether they conform."""
    sides = [
        (configuration(version=version, subject=subject), *judged({}, version=version, subject=subject))
        for subject, version in (("stock", "0.6.2"), ("model", "0.12.0"), ("fault:it", "0.12.0"))
    ]
    cells = [line for _, *of in sides for line in of]
    path = write(tmp_path / "r", header(), *(line for side in sides for line in side), footer(*cells))
    said = "No ledgers of model, fault:it are kept: the run itself says whether it"
    run("check", path, "--ledgers", there)
    assert capsys.readouterr().out.startswith(said)
    assert run("write", path, "--ledgers", there) == 0
    assert "model-0.12.0-cpu8-shardy: no ledger is kept of it" in capsys.readouterr().out
    assert not [*there.glob("model*"), *there.glob("fault*")]
    assert run("check", path, "--ledgers", there) == 0
    assert "1 ledger compared: the same." in capsys.readouterr().out
    path = write(tmp_path / "r", header(), *sides[1], footer(*sides[1][1:]))
    assert run("check", path, "--ledgers", there) == 0
    assert capsys.readouterr().out.count("\n") == 1


def test_another_subject_differs_readably(tmp_path: Path, there: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cells = judged(bad("DEV-01", CASES[1], observed={"shares": "some"}), version="0.6.2", subject="mine")
    path = write(tmp_path / "r", header(), configuration(version="0.6.2", subject="mine"), *cells, footer(*cells))
    assert run("write", path, "--ledgers", there) == 0
    assert run("check", path, "--ledgers", there) == 0
    capsys.readouterr()
    assert run("diff", "stock-0.5.3-cpu8-shardy", "mine-*", "--ledgers", there) == 0
    assert "  stock -> mine 0.5.3 -> 0.6.2 cpu:8 shardy: 9 of 9 hold, was 6\n" in capsys.readouterr().out


def test_patterns_of_a_difference_need_not_tell_apart_what_neither_side_judged(
    tmp_path: Path, there: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lacking = {"verdict": "unsupported", "observed": {}, "reason": "not there: pointers (the rule)"}
    for version, what in (("0.7.1", bad("PUT-01", *SAME[1:])), ("0.7.2", {})):
        what = what | bad("PUT-01", SAME[0], **lacking)
        assert run("write", record(tmp_path / "r", *judged(what, version=version)), "--ledgers", there) == 0
    capsys.readouterr()
    assert run("diff", "0.7.1", "0.7.2", "--ledgers", there) == 0
    assert 'now holds, 2 cells (was deviates, shares = "all")\n      *_to_same-*\n' in capsys.readouterr().out


def test_ledgers_older_than_the_suite_are_compared_by_their_counts(
    there: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rules, "cases", lambda version: {})
    assert run("diff", "0.5.3", "0.6.2", "--ledgers", there) == 0
    out = capsys.readouterr().out
    assert "verdicts: 9 conforms; was 6 conforms, 3 deviates" in out
    assert "which cells is not known" in out


def test_the_matrix(there: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("show", "--ledgers", there) == 0
    assert capsys.readouterr().out.split("\n\nA rule's row")[0] == (
        """\
stock cpu:8, shardy and gspmd

                       0.4   0.5   0.6
                       .35    .3    .2
DEV   cells              9     9     9
      hold               9     8     8
      deviate            0     1     1
  DEV-01 MUST            .     1     1
PUT   cells              9    18    18
      hold               6    15    18
      deviate            0     3     0
      crash or hang      3     0     0
  PUT-01 MUST           3!     3     .
  and 1 rule with none"""
    )


def test_the_matrix_of_named_rules_says_what_they_are_and_counts_the_others(
    there: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("show", "--named", "PUT-02", "--ledgers", there) == 0
    block, _, said = capsys.readouterr().out.split("\n\n", 1)[1].split("\n\n")
    assert said == "PUT-02 MUST: Sentence of PUT-02.\n"
    assert block.endswith(
        """\
  PUT-02 MUST            -     .     .
  and 1 rule with some"""
    )
    assert "  and 1 rule with some\nPUT " in block  # DEV-01
    assert run("show", "--named", "PUT-*", "--ledgers", there) == 0
    assert capsys.readouterr().out.count("  and 1 rule with some") == 1
    assert run("show", "--named", "KEY-*", "--ledgers", there) == 2
    assert "no rule in these ledgers matches KEY-*" in capsys.readouterr().err


def test_partitioners_that_differ_have_a_row_each(
    tmp_path: Path, there: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = record(tmp_path / "r", *judged(bad("PUT-02", CASES[0]), version="0.6.2", partitioner="gspmd"))
    assert run("write", path, "--ledgers", there) == 0
    capsys.readouterr()
    assert run("show", "--ledgers", there) == 0
    out = capsys.readouterr().out
    assert "  PUT-02 MUST                  .     .\n        gspmd            -     .     1\n" in out


def test_ten_versions_fit_in_80_columns_and_twelve_do_with_the_rest_beneath(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    versions = ["0.4.35", "0.4.38", "0.5.3", "0.6.2", "0.7.2", "0.8.3", "0.9.2", "0.10.2", "0.11.2", "0.12.0.1"]
    cells = [cell("PUT-01", f"c{n}", version=v) for v in [*versions, "0.13.0", "1.0"] for n in range(12345 % 130)]
    assert run("write", record(tmp_path / "r", *cells), "--ledgers", tmp_path / "l") == 0
    capsys.readouterr()
    assert run("show", "--ledgers", tmp_path / "l") == 0
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 80
    heads = [line.split() for line in out.splitlines() if line.lstrip().startswith(("0.4 ", "0.13"))]
    assert [len(head) for head in heads] == [10, 2]


def test_a_rule_in_detail_from_version_to_version(there: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("show", "--rule", "PUT-0*", "--ledgers", there) == 0
    assert capsys.readouterr().out == (
        """\
PUT-01 MUST: Sentence of PUT-01.
  stock cpu:8, 0.4.35
    6 of 9 cells hold
    3 cells: crashed, SIGSEGV at use (PUT-01/w)
      *_to_other4-*
  stock cpu:8, 0.5.3
    6 of 9 cells hold
    3 cells: deviates, shares = "all" (PUT-01/w)
      *_to_same-*
  stock cpu:8, 0.6.2
    9 of 9 cells hold

PUT-02 MUST: Sentence of PUT-02.
  stock cpu:8, 0.4.35
    out of force
  stock cpu:8, 0.5.3 to 0.6.2
    9 of 9 cells hold
"""
    )


def test_a_table_of_rows_that_a_page_chooses(there: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        "Unchanged = PUT-01[*_to_same-*]: copied",
        "a|b = PUT-01",
        "Elsewhere = PUT-01[* !*_to_same-*]",
        "new = PUT-02",
    ]
    assert run("table", *rows, "--say=shares all=shared", "--ledgers", there) == 0
    assert capsys.readouterr().out == (
        """\
|  | 0.4.35 | 0.5.3 | 0.6.2 |
| --- | --- | --- | --- |
| Unchanged | copied | shared | copied |
| a\\|b | holds / crash | holds / shared | holds |
| Elsewhere | holds / crash | holds | holds |
| new | - | holds | holds |
"""
    )
    assert run("table", rows[3], "--spans", "--ledgers", there) == 0
    assert capsys.readouterr().out == "|  | 0.4.35 | 0.5.3 to 0.6.2 |\n| --- | --- | --- |\n| new | - | holds |\n"


def test_a_table_tells_legal_outcomes_where_no_word_is_chosen(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cells = [
        cell("PUT-01", case, "permitted", level="MAY", outcome="b" if case.startswith("x_") else "a") for case in CASES
    ]
    once = [cell("DEV-01", case, "permitted", level="MAY", outcome="a") for case in CASES]
    path = record(tmp_path / "r", *cells, *once)
    assert run("write", path, "--ledgers", tmp_path / "l") == 0
    capsys.readouterr()
    assert (
        run("table", "x = PUT-01", "y = DEV-01", "z = PUT-01: fine", "--say", "a=A", "--ledgers", tmp_path / "l") == 0
    )
    assert [line.split("|")[2].strip() for line in capsys.readouterr().out.splitlines()[2:]] == ["A or b", "A", "fine"]


def test_a_page_is_renewed_where_it_quotes(there: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.md"
    quoted = f"<!-- python -m reports ledger table --ledgers {there}\nNew things = PUT-02\n-->\nstale\n<!-- end -->"
    page.write_text(f"Before.\n\n{quoted}\n\nAfter.\n")
    assert run("pages", page, "--check") == 1
    assert "stale" in page.read_text()
    assert run("pages", page) == 0
    text = page.read_text()
    assert "\n| New things | - | holds | holds |\n\n<!-- end -->\n\nAfter.\n" in text
    assert "stale" not in text
    assert run("pages", page, "--check") == 0
    page.write_text(f"<!-- python -m reports ledger show --ledgers {there} -->\n<!-- end -->")
    assert run("pages", page) == 0
    assert (
        f"```\n$ python -m reports ledger show --ledgers {there}\nstock cpu:8, shardy and gspmd\n" in page.read_text()
    )


def change(before: str, after: str) -> Any:
    return lambda text: text.replace(before, after)


FORM = {
    "not TOML": (lambda text: text + "[", "not a TOML file"),
    "unknown key": (change("witness", "wittness"), "unknown key wittness"),
    "another kind": (change("cells = 3\n", 'cells = "3"\n'), "is not of the kind expected here (a whole number)"),
    "another name": (change('"0.5.3"', '"0.5.4"'), "its name should be stock-0.5.4-cpu8-shardy.toml"),
    "its own order": (change('"deviates"\ncells = 3\n', '"deviates"\n\ncells = 3\n'), "not in the form"),
    "a count": (change("conforms = 6, deviates = 3}", "conforms = 6, deviates = 4}"), "PUT-01: its cells"),
    "the sum": (change("conforms = 23", "conforms = 24"), "its cells are 24 conforms"),
    "a pattern": (change("*_to_same-*", "*_to_perm-*"), None),
    "too wide a pattern": (change("*_to_same-*", "*"), "PUT-01: * is 9 cases, not 3"),
    "too long a pattern": (change('["*_to_same-*"]', '["*_to_same-f32"]'), "is said with fewer as *_to_same-*"),
    "an unknown rule": (change("PUT-02", "PUT-77"), "PUT-02 is not in it"),
    "a verdict": (change('verdict = "deviates"', 'verdict = "wrong"'), "wrong is no verdict"),
    "nothing observed": (change('observed = {shares = "all"}\n', ""), "give what was observed"),
}


@pytest.mark.parametrize("name", FORM)
def test_a_ledger_that_is_not_one_is_told_in_one_line(
    there: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    path = there / "stock-0.5.3-cpu8-shardy.toml"
    edit, said = FORM[name]
    before = path.read_text()
    path.write_text(edit(before))
    assert path.read_text() != before
    status = run("validate", "--ledgers", there)
    out = capsys.readouterr().out
    if said is None:
        assert status == 0, "a pattern alone may be another truth; a run finds that"
        return
    assert status == 1
    assert any(said in line and str(path) in line for line in out.splitlines()), out
    assert out.splitlines()[-1].startswith("5 ledgers, ")


@pytest.mark.parametrize("command", ["show", "diff", "check"])
def test_no_command_reads_what_is_no_ledger(
    there: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    (there / "stock-0.5.3-cpu8-shardy.toml").write_text("subject = 3\n")
    path = record(tmp_path / "r", *judged(version="0.5.3"))
    arguments = {"show": (), "diff": ("0.5.3", "0.6.2"), "check": (path,)}[command]
    assert run(command, *arguments, "--ledgers", there) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert "stock-0.5.3-cpu8-shardy.toml: " in err


ODD_VALUES = ["2020-01-01", "12:00:00", "nan", "{a = [{b = -inf}]}", "3", '"all"', "[]", "[3]", "[{a = nan}]"]


@pytest.mark.parametrize("command", ["show", "diff", "check", "validate"])
def test_what_only_toml_can_say_is_told_in_one_line(
    there: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    path = there / "stock-0.5.3-cpu8-shardy.toml"
    before = path.read_text()
    arguments: dict[str, list[Any]]
    arguments = {"show": ["--rule", "*"], "diff": ["0.5.3", "0.6.2"], "check": [tmp_path / "0.5.3"], "validate": []}
    for odd in ODD_VALUES:
        path.write_text(before.replace('observed = {shares = "all"}', f"observed = {odd}"))
        assert run(command, *arguments[command], "--ledgers", there) == (1 if command == "validate" else 2)
        out, err = capsys.readouterr()
        (line,) = [line for line in (out + err).splitlines() if line.startswith(("reports: ", "/"))]
        assert f"{path}: rule DEV-01, seen 1, observed: is not a table" in line


def test_a_question_s_answer_is_an_observation_too(there: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = there / "stock-0.5.3-cpu8-shardy.toml"
    path.write_text(f"{path.read_text()}\n[[question.PUT-Q1.answer]]\ncells = 1\nobserved = {{a = 2020-01-01}}\n")
    assert run("validate", path) == 1
    assert "question PUT-Q1, answer 1, observed: is not a table" in capsys.readouterr().out


def test_a_damaged_ledger_is_made_anew(there: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = there / "stock-0.5.3-cpu8-shardy.toml"
    before = path.read_bytes()
    path.write_bytes(b"\xff\x00")
    again = record(tmp_path / "r", *judged(bad("PUT-01", *SAME) | bad("DEV-01", CASES[1]), version="0.5.3"))
    assert run("write", again, "--ledgers", there) == 0
    assert capsys.readouterr().out == "stock-0.5.3-cpu8-shardy: changed\n"
    assert path.read_bytes() == before


def test_a_ledger_that_cannot_be_written_stays_as_it_was(
    there: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, data: Any, *_: Any) -> int:
        with path.open("wb") as file:
            file.write(b"#")
        raise OSError(28, "No space left on device", str(path))

    before = {path: path.read_bytes() for path in there.iterdir()}
    again = record(tmp_path / "r", *judged(version="0.5.3"))
    monkeypatch.setattr(Path, "write_bytes", full)
    monkeypatch.setattr(Path, "write_text", full)
    assert run("write", again, "--ledgers", there) == 2
    assert f"reports: {there}/" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in there.iterdir()} == before


def test_a_folder_that_cannot_be_made_is_named(there: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").touch()
    assert run("write", tmp_path / "0.5.3", "--ledgers", tmp_path / "file" / "x") == 2
    assert capsys.readouterr().err == f"reports: {tmp_path}/file/x: Not a directory\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["diff", "0.1", "0.5.3"], "no ledger of 0.1; there are those of 0.4.35, 0.5.3, 0.6.2"),
        (["show", "--rule", "KEY-*"], "no rule in these ledgers matches KEY-*"),
        (["table", "just words"], "'just words' is no row; write LABEL = RULE[PATTERN]"),
        (["table", "x = PUT-01[nowhere-*]"], "PUT-01 has no case nowhere-*; one is x_to_same-f32"),
        (["table", "x = KEY-01"], "there is no rule KEY-01"),
        (["validate", "--ledgers", "/nonexistent"], "/nonexistent: there is no such folder"),
        (["pages", "PAGE"], "a page can quote ledger show, table, diff"),
        (["pages", "OPEN"], "a quoted command without its <!-- end -->"),
        (["pages", "OPTION"], "OPTION: ledger show --nonsense: unrecognized arguments: --nonsense"),
        (["pages", "RULE"], "RULE: ledger show --rule KEY-01: no rule in these ledgers matches KEY-01"),
    ],
)
def test_a_mistake_is_one_line(
    there: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    (tmp_path / "PAGE").write_text("<!-- python -m reports ledger write x -->\n<!-- end -->")
    (tmp_path / "OPEN").write_text("<!-- python -m reports ledger show -->\n")
    (tmp_path / "OPTION").write_text("<!-- python -m reports ledger show --nonsense -->\n<!-- end -->")
    (tmp_path / "RULE").write_text("<!-- python -m reports ledger show --rule KEY-01 -->\n<!-- end -->")
    given = [str(tmp_path / it) if (tmp_path / it).exists() else it for it in arguments]
    assert main(["ledger", given[0], "--ledgers", str(there), *given[1:]]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err
    assert err.count("\n") == 1


def test_without_ledgers_there_is_nothing_to_show(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("show", "--ledgers", tmp_path) == 0
    assert capsys.readouterr().out == "No ledgers yet.\n"
    assert run("check", whole(tmp_path / "r", cell()), "--ledgers", tmp_path) == 0
