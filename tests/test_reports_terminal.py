"""The table at the end of a run, and what stands around it."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from reports import terminal
from reports.load import load
from reports.rules import Contract, Rule
from reports.run import Run
from reports.text import gist, wrap
from reports.words import VERDICTS
from tests.reports_records import cell, configuration, footer, header, question, whole, write

HOSTILE = "<script>\x1b[31m\u202e\x00\x9b\ud800\n\r&\"'"


def run_of(path: Path, *cells: Any, **said: Any) -> Run:
    return load(whole(path / "r", *cells, **said))


def table(run: Run) -> list[str]:
    configurations = [judged.configuration for judged in run.configurations]
    return terminal.verdicts(run.cells, configurations, run.observations, run.partial, run.selected).splitlines()


def numbers(lines: list[str], start: str) -> list[list[str]]:
    return [line.split()[-len(lines[2].split()) :] for line in lines if line.startswith(f"  {start}")]


def test_counts_and_the_columns_always_there(tmp_path: Path) -> None:
    lines = table(run_of(tmp_path, cell(case="a"), cell(case="b"), cell(case="c", partitioner="gspmd")))
    assert lines == [
        "stock 0.10.2 cpu:8",
        "",
        "                                            un-",
        "          conforms  deviates  crashed  expected",
        "PUT",
        "  shardy         2         0        0         0",
        "  gspmd          1         0        0         0",
        "",
        "3 cells from 1 observation.",
    ]


def test_waived_deviations_stand_apart_from_unexpected_ones(tmp_path: Path) -> None:
    cells = [
        cell(case="a", verdict="deviates", waiver="PUT-01/x"),
        cell(case="b", verdict="deviates"),
        cell(case="c", verdict="crashed", waiver="PUT-01/y"),
        cell(case="d", waiver="PUT-01/x", unexpected=True),  # conforms, so the waiver no longer holds
        cell(case="e", verdict="unsupported"),
    ]
    lines = table(run_of(tmp_path, *cells))
    assert lines[3].split() == ["conforms", "deviates", "crashed", "supported", "waived", "expected"]
    assert lines[5].split() == ["shardy", "1", "2", "1", "1", "2", "2"]


@pytest.mark.parametrize("configurations", [1, 2, 6])
@pytest.mark.parametrize("verdicts", [("conforms",), VERDICTS[:4], VERDICTS])
def test_never_wider_than_a_terminal(tmp_path: Path, configurations: int, verdicts: tuple[str, ...]) -> None:
    places = list(product(["0.7.2", "0.12.0.1.dev20261231"], ["cpu:8", "tpu-compile:v5e:2x4"], ["shardy", "gspmd"]))
    cells = [
        cell(f"{chapter}-01", f"{verdict}{n}", verdict, version=version, target=target, partitioner=partitioner)
        for version, target, partitioner in places[:configurations]
        for chapter in ("ORD", "PUT")
        for verdict in verdicts
        for n in range(120)
    ]
    run = run_of(tmp_path, *cells)
    text = terminal.summary(run)
    assert max(map(len, text.splitlines())) <= 80
    assert f"{len(cells):,} cells" in text
    joined = {"permitted": "mitted", "unsupported": "ported"}  # what is beneath a hyphen where room is scarce
    for verdict in {*verdicts, "conforms", "deviates", "crashed"}:
        assert joined.get(verdict, verdict) in text
    assert text.count("120") >= 2 * configurations * len(verdicts), "every count is there"
    assert text.count("240") >= configurations * len(verdicts), "and the sum of both chapters"


@pytest.mark.parametrize("size", [10, 70, 900])
def test_a_long_or_hostile_name_does_not_break_the_table(tmp_path: Path, size: int) -> None:
    subjects = [("x" * size) + HOSTILE, "é世" * (size // 2), "a.b"]
    text = terminal.summary(run_of(tmp_path, *(cell(subject=subject) for subject in subjects)))
    assert max(map(len, text.splitlines())) <= 80
    assert text.replace("\n", "").isprintable()
    assert text.isascii()


def test_two_versions_with_every_verdict_but_those_of_a_broken_run_fit_in_a_table(tmp_path: Path) -> None:
    places = product(["0.4.35", "0.12.0.1"], ["shardy", "gspmd"])
    verdicts = ("conforms", "permitted", "deviates", "crashed", "hung", "unsupported")
    cells = [
        cell("PUT-01", f"{verdict}{n}", verdict, version=version, partitioner=partitioner, waiver="PUT-01/x")
        for version, partitioner in places
        for verdict in verdicts
        for n in range(2 if verdict == "conforms" else 1)
    ]
    lines = table(run_of(tmp_path, *cells))
    assert lines[2:6] == [
        "                             per-                       unsup-         unex-",
        "                  conforms mitted deviates crashed hung ported waived pected",
        "PUT",
        "  0.4.35 shardy          2      1        1       1    1      1      3      0",
    ]


def test_two_subjects_fit_in_a_table(tmp_path: Path) -> None:
    places = [
        {"subject": subject, "version": version, "partitioner": partitioner}
        for subject, version in (("stock", "0.12.0.1"), ("model", "0.12.0"))
        for partitioner in ("shardy", "gspmd")
    ]
    verdicts = ("conforms", "permitted", "deviates", "crashed", "unsupported")
    cells = [cell(case=v, verdict=v, waiver="PUT-01/x", **place) for place in places for v in verdicts]
    lines = table(run_of(tmp_path, *cells))
    assert lines[0] == "cpu:8"
    assert [line.rstrip("0123456789 ") for line in lines[5:9]] == [
        "  stock 0.12.0.1 shardy",
        "  stock 0.12.0.1 gspmd",
        "  model 0.12.0 shardy",
        "  model 0.12.0 gspmd",
    ]
    assert {len(line) for line in lines[5:9]} == {len(lines[3])}


def test_an_answer_that_all_give_is_told_once(tmp_path: Path) -> None:
    places = [{"subject": subject, "partitioner": it} for subject in ("stock", "model") for it in ("shardy", "gspmd")]
    cells = [cell(**place) for place in places]
    path = write(tmp_path / "r", header(), *cells, *(question(**place) for place in places), footer(*cells))
    assert '\n    everywhere\n       1 shares = "all"' in terminal.summary(load(path))
    asked = [question("none" if place["subject"] == "model" else "all", **place) for place in places]
    path = write(tmp_path / "r", header(), *cells, *asked, footer(*cells))
    assert "\n    stock shardy, stock gspmd\n" in terminal.summary(load(path))


def test_columns_never_touch(tmp_path: Path) -> None:
    cells = [cell(case=verdict, verdict=verdict) for verdict in VERDICTS[:4]]
    seen = set()
    for size in range(12, 50):
        lines = table(run_of(tmp_path, *(one | {"partitioner": "p" * size} for one in cells)))
        seen.add(len(lines))
        if "conforms" in lines[3]:
            wide, narrow = ("permitted", "expected"), ("mitted", "pected")
            conforms, permitted, deviates, crashed, unexpected = lines[3].split()
            assert (conforms, deviates, crashed) == ("conforms", "deviates", "crashed")
            assert (permitted, unexpected) in (wide, narrow)
            assert lines[5].split() == ["p" * size, "1", "1", "1", "1", "2"]
    assert len(seen) == 2, "a table while it fits, then words"


@pytest.mark.parametrize(
    ("observed", "told"),
    [
        ({"signal": "SIGSEGV", "touch": "is_deleted", "value": "same"}, "SIGSEGV at is_deleted"),
        ({"exit": 3, "touch": "put"}, "exit 3 at put"),
        ({"hung": True, "touch": "value"}, "hung at value"),
        ({"raised": {"class": "ValueError", "message": "no", "at": "put"}}, "ValueError at put: no"),
        ({"raised": "nothing", "x": True}, 'raised = "nothing", x = true'),
        ({}, "nothing"),
    ],
)
def test_the_gist_of_an_observation(observed: dict[str, Any], told: str) -> None:
    assert gist(json.dumps(observed)) == told


def test_a_path_is_never_broken_apart() -> None:
    path = "/" + "a-long-folder/" * 10
    assert wrap(f"see {path} and more", hang=2) == ["see", f"  {path}", "  and more"]


def test_partial_and_selected_are_said_beside_the_total(tmp_path: Path) -> None:
    assert table(run_of(tmp_path, cell(), selected=True))[-1] == "1 cell from 1 observation of a selection."
    partial = load(write(tmp_path / "p", header(), cell()))
    assert table(partial)[-1] == "1 cell; PARTIAL, the run is not whole."
    assert "PARTIAL: no footer" in terminal.summary(partial)


def test_a_run_without_a_cell(tmp_path: Path) -> None:
    assert "0 cells" in terminal.summary(run_of(tmp_path))


def test_what_was_not_judged_is_noted(tmp_path: Path) -> None:
    why = "the case needs 8 devices, cpu:4 has 4"
    cells = [
        *(cell("PUT-01", f"c{n}", "not_run", reason=why) for n in range(3)),
        cell("PUT-01", "c", "unsupported", partitioner="gspmd"),
    ]
    selected = load(write(tmp_path / "s", header(selected=True), *cells, footer(*cells)))
    assert terminal.notes(selected).splitlines() == [
        "nothing was judged in gspmd: all of its cells are unsupported",
        f"3 cells not run: {why}",
    ]
    whole_run = load(write(tmp_path / "w", header(), *cells, footer(*cells)))
    assert terminal.notes(whole_run).splitlines() == [f"3 cells not run: {why}"], "there, a gate says it"
    problem = configuration(problem="no host")
    lost = [cell("PUT-01", "c", "not_run", reason="no host")]
    told = terminal.notes(load(write(tmp_path / "p", header(), problem, *lost, footer(*lost))))
    assert told == "shardy could not be judged: no host", "said once"


def test_what_the_user_has_set_is_noted_once(tmp_path: Path) -> None:
    flags = {"JAX_ENABLE_X64": "1", "XLA_FLAGS": "--x\x1b"}
    parts = [header(writer=f"gw{n}", flags=flags) for n in range(2)]
    told = terminal.notes(load(write(tmp_path / "r", *parts, cell(), footer(cell())))).splitlines()
    assert [line for line in told if "JAX" in line] == ["judged with JAX_ENABLE_X64=1 XLA_FLAGS=--x\\x1b set"]


def test_known_deviations_by_rule(tmp_path: Path) -> None:
    died = {"signal": "SIGSEGV", "touch": "is_deleted", "value": "same"}
    cells = [
        *(cell("PUT-09", f"c{n}", "crashed", waiver="PUT-09/other", observed=died) for n in range(3)),
        *(cell("PUT-04", f"d{n}", "deviates", waiver="PUT-04/x", observed={"shares": n}) for n in range(2)),
        cell("PUT-04", "e", "deviates"),
        cell("PUT-04", "f", "deviates", waiver="PUT-04/x", unexpected=True),
    ]
    run = run_of(tmp_path, *cells)
    rules = {"PUT-09": Rule("PUT-09", "Later use never ends the process.", "why")}
    assert terminal.known(run.cells, rules).splitlines() == [
        "Known deviations (waived): 5 cells of 2 rules",
        "  Reasons and links are in conformance/waivers.",
        "  PUT-04 MUST",
        "        2 deviates: shares = 0 and 1 other (PUT-04/x)",
        "  PUT-09 MUST: Later use never ends the process.",
        "        3 crashed: SIGSEGV at is_deleted (PUT-09/other)",
    ]
    assert terminal.known(run_of(tmp_path, cell()).cells) == ""


def test_questions_by_answer_and_configuration(tmp_path: Path) -> None:
    asked = [question("none", case=f"{n}") for n in range(3)] + [question(case="9")]
    asked += [question(partitioner=name) for name in ("gspmd", "other")]
    asked += [question(f"{n}", case=f"{n}", question="PUT-Q2") for n in range(9)]
    run = load(write(tmp_path / "r", header(), *asked, footer()))
    told = terminal.questions(run.questions, [judged.configuration for judged in run.configurations]).splitlines()
    assert told[:8] == [
        "Questions (recorded, never judged)",
        "  PUT-Q1",
        "    shardy",
        '       3 shares = "none"',
        '       1 shares = "all"',
        "    gspmd, other",
        '       1 shares = "all"',
        "  PUT-Q2",
    ]
    assert told[-1] == "         and 3 other answers"


def test_listed_cells_show_expected_against_observed(tmp_path: Path) -> None:
    raised = {"raised": {"class": "ValueError", "message": "no\nway", "at": "put"}}
    run = run_of(tmp_path, cell("PUT-02", verdict="deviates", observed=raised, reason="because"), cell("PUT-01"))
    assert terminal.listed(run.cells, {"PUT-01": Rule("PUT-01", "One.", "")}).splitlines() == [
        "  PUT-01 MUST: One.",
        "    PUT-01[a-copy-f32]@stock-0.10.2-cpu8-shardy",
        "      conforms",
        '      expected  input = "deleted"',
        '      observed  input = "deleted"',
        "",
        "  PUT-02 MUST",
        "    PUT-02[a-copy-f32]@stock-0.10.2-cpu8-shardy",
        "      deviates, unexpected",
        '      expected  input = "deleted"',
        '      observed  raised = {"at": "put", "class": "ValueError", "message":',
        '                "no\\nway"}',
        "      because   because",
    ]


def test_unexpected_cells_are_summed_up_by_rule(tmp_path: Path) -> None:
    red = [cell("PUT-01", case, "deviates", unexpected=True, observed={"shares": "all"}) for case in "ab"]
    run = run_of(tmp_path, *red, cell("PUT-01", "c"))
    text = terminal.unexpected(run.cells)
    assert text.startswith("Unexpected: 2 cells of 1 rule")
    assert '2 deviates: shares = "all"' in text
    assert terminal.unexpected(run_of(tmp_path, cell()).cells) == ""


def test_what_went_wrong_around_the_cells_is_said(tmp_path: Path) -> None:
    run = load(
        write(
            tmp_path / "r",
            header(),
            configuration(problem="fewer devices than asked: 4 of 8", witness="gspmd", out_of_force=2),
            {"kind": "gate", "gate": "expired waiver", "text": "PUT-01/x expired"},
            {"kind": "gate", "gate": "expired waiver", "text": "PUT-01/x expired"},
            {"kind": "incident", "subject": "stock", "version": "1", "target": "cpu:8", "partitioner": "shardy"}
            | {"text": "died", "stderr": "a\x1b[2J\nlast words\n"},
            footer(),
        )
    )
    text = terminal.summary(run, Contract({}, ("681073828 put flags",)))
    assert "could not be judged: fewer devices than asked: 4 of 8" in text
    assert "was lowered by gspmd" in text
    assert "2 rules out of force" in text
    assert text.count("GATE expired waiver: PUT-01/x expired") == 1
    assert "INCIDENT in stock-1-cpu8-shardy: died" in text
    assert "a\\x1b[2J\n    last words" in text
    assert "no rule judges yet, 1 of them: 681073828" in text


@pytest.mark.parametrize("verdict", ["conforms", "deviates", "hung"])
def test_no_field_acts_on_a_terminal(tmp_path: Path, verdict: str) -> None:
    free = dict.fromkeys(("reason", "waiver", "outcome", "name", "chapter", "version", "target", "witness"), HOSTILE)
    run = load(
        write(
            tmp_path / "r",
            header(project=HOSTILE, started=HOSTILE),
            configuration(subject=HOSTILE, problem=HOSTILE, witness=HOSTILE, python=HOSTILE),
            cell(HOSTILE, HOSTILE, verdict, observed={HOSTILE: HOSTILE}, expected={HOSTILE: [HOSTILE]}, **free),
            question(HOSTILE, question=HOSTILE),
            {"kind": "gate", "gate": HOSTILE, "text": HOSTILE},
        )
    )
    text = terminal.summary(run) + terminal.listed(run.cells)
    assert text.replace("\n", "").isprintable()
    assert "\\x1b[31m" in text


def test_programs_are_counted_once_for_all_cells_that_share_their_observation(tmp_path: Path) -> None:
    cells = [
        cell("PUT-01", "a", cost={"compile": 2}),
        cell("PUT-02", "a", cost={"compile": 2}),
        cell("PUT-01", "b", cost={"compile": 1}),
        cell("PUT-01", "a", cost={"compile": 4}, partitioner="gspmd"),
        cell("DEV-01", "a", cost={"compile": 0}, chapter="DEV"),
        cell("PUT-01", "c", cost={HOSTILE: "x"}),
    ]
    run = run_of(tmp_path, *cells)
    configurations = [judged.configuration for judged in run.configurations]
    assert terminal.compilations(run.cells, configurations).splitlines() == [
        "Programs compiled, and their share of the cells",
        "  shardy: 3 (60.0 %), DEV 0 (0.0 %), PUT 3 (75.0 %)",
        "  gspmd: PUT 4 (400.0 %)",
    ]
    assert terminal.compilations(run_of(tmp_path, cell()).cells, configurations) == "", "where nobody counts"
