"""Loading a record file: what is whole, what is partial, and that no input breaks the reader."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from reports.load import MOST_PROBLEMS, LoadError, load
from reports.run import CELL
from tests.reports_records import PLACE, cell, configuration, footer, header, question, whole, write

CELLS = [cell("PUT-01"), cell("PUT-02", verdict="deviates", waiver="PUT-02/x"), cell("PUT-03", verdict="crashed")]


def one_problem(path: Path) -> str:
    run = load(path)
    assert len(run.problems) == 1, run.problems
    return run.problems[0]


def test_a_whole_run(tmp_path: Path) -> None:
    place = configuration(out_of_force=3, cells=3)
    run = load(write(tmp_path / "r", header(), place, *CELLS, question(), footer(*CELLS, observations=2)))
    assert (run.partial, run.problems, run.selected, run.replaced, run.observations) == (False, (), False, 0, 2)
    assert run.configurations[0].configuration.name == "stock-0.10.2-cpu8-shardy"
    assert run.configurations[0].out_of_force == 3
    assert run.cells["verdict"].tolist() == ["conforms", "deviates", "crashed"]
    assert run.cells["unexpected"].tolist() == [False, False, True]
    assert run.questions["observed"].tolist() == ['{"shares":"all"}']


def test_columns_are_the_documented_ones_even_without_a_cell(tmp_path: Path) -> None:
    full, empty = load(whole(tmp_path / "a", *CELLS)).cells, load(whole(tmp_path / "b")).cells
    for frame in (full, empty):
        assert list(frame.columns) == [column.name for column in CELL]
        assert [str(dtype) for dtype in frame.dtypes] == [column.dtype for column in CELL]


def test_a_record_of_only_the_design_s_fields(tmp_path: Path) -> None:
    optional = (
        "name",
        "outcome",
        "reason",
        "waiver",
        "unexpected",
        "witness",
        "cost",
        "attempt",
        "seconds",
        "observation",
    )
    absent: dict[str, Any] = dict.fromkeys(optional, ...)
    records = [cell(verdict=verdict, case=verdict, **absent) for verdict in ("conforms", "hung")]
    run = load(
        write(tmp_path / "r", header(), *records, footer(cells=2, verdicts={"conforms": 1, "hung": 1}, unexpected=1))
    )
    assert not run.problems
    assert run.cells["name"].tolist() == [f"PUT-01[{case}]@stock-0.10.2-cpu8-shardy" for case in ("conforms", "hung")]
    assert run.cells["unexpected"].tolist() == [False, True]
    assert run.cells["waiver"].isna().all()


def test_every_proper_prefix_is_partial(tmp_path: Path) -> None:
    data = whole(tmp_path / "r", *CELLS).read_bytes()
    ends = [i + 1 for i, byte in enumerate(data) if byte == ord("\n")]
    assert not load(tmp_path / "r").partial
    for cut in [*ends[:-1], *(end - 20 for end in ends[1:]), ends[-2] + 1]:
        (tmp_path / "cut").write_bytes(data[:cut])
        run = load(tmp_path / "cut")
        assert run.partial, data[:cut]
        assert any("no footer" in problem for problem in run.problems)


def test_a_line_cut_off_is_told_from_rubbish(tmp_path: Path) -> None:
    cut, rubbish = write(tmp_path / "a", header(), b'{"kind": "ce'), write(tmp_path / "b", header(), b"rubbish\n")
    assert load(cut).problems[0].startswith("line 2: cut off")
    assert load(rubbish).problems[0].startswith("line 2: not JSON")


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (b"\n", "line 2: not JSON"),
        (b"\x00" * 4096 + b"\n", "line 2: not JSON"),
        (b'"\xff\xfe"\n', "line 2: not UTF-8 at byte 2"),
        (b"[1]\n", "line 2: not an object"),
        (b"[" * 100_000 + b"\n", "line 2: nested too deeply"),
        (
            b'{"kind":"cell","observed":' + b'{"a":' * 100_000 + b"1" + b"}" * 100_001 + b"\n",
            "line 2: nested too deeply",
        ),
        (b'{"kind": NaN}\n', "line 2: not JSON (NaN"),
        (b'{"kind": ' + b"9" * 5000 + b"}\n", "line 2: not JSON"),
        (b'{"kind": "' + b"x" * (5 << 20) + b'"}\n', "line 2: longer than 4 MiB"),
        ({"kind": "header", "schema": 1, "selected": "no"}, "field 'selected' is neither true nor false"),
        (
            {"kind": "header", "schema": 1, "selected": False},
            "line 2: a header that cannot be used: it is the second one",
        ),
        ({"kind": "footer", "cells": -1, "verdicts": {}, "complete": True}, "field 'cells' is not a count"),
        (
            {"kind": "footer", "cells": 1, "verdicts": {"conforms": "1"}, "complete": True},
            "field 'verdicts' is not a count",
        ),
        ({"kind": "footer", "cells": 1, "verdicts": {}}, "field 'complete' is missing"),
        (configuration(devices=True), "field 'devices' is not a count"),
        (configuration(target=None), "field 'target' is not a name"),
        ({"kind": "gate", "gate": "x"}, "field 'text' is missing"),
        ({"kind": "incident", **PLACE, "text": 3}, "field 'text' is not text"),
        (question(observed=[1]), "field 'observed' is not an object"),
    ],
)
def test_a_bad_line_is_one_problem_and_makes_the_run_partial(tmp_path: Path, line: Any, told: str) -> None:
    path = write(tmp_path / "r", header(), line, CELLS[0], footer(CELLS[0]))
    assert told in one_problem(path)
    assert load(path).partial
    assert load(path).cells["rule"].tolist() == ["PUT-01"], "the reading went on"


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("rule", ["PUT"], "is not a name"),
        ("rule", "", "is not a name"),
        ("case", "x" * 2000, "is 2,000 characters long"),
        ("level", "PERHAPS", "is none of MUST, SHOULD, MAY"),
        ("verdict", "passed", "is none of conforms"),
        ("verdict", {"conforms": 1}, "is none of conforms"),
        ("expected", "deleted", "is not an object"),
        ("expected", '{"input":"deleted"}', "is not an object"),  # the text under which the object itself is kept
        ("observed", None, "is not an object"),
        (
            "observed",
            {"a": [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]},
            "too deeply",
        ),
        ("unexpected", 1, "is neither true nor false"),
        ("attempt", True, "is not a count"),
        ("attempt", 1 << 70, "is not a count"),
        ("seconds", -1, "is not a number of seconds"),
        ("seconds", 10**400, "is not a number of seconds"),
        ("seconds", "1", "is not a number of seconds"),
        ("waiver", 7, "is not a name"),
        ("verdict", ..., "is missing"),
    ],
)
def test_a_cell_with_a_bad_field_is_lost_by_name(tmp_path: Path, field: str, value: Any, told: str) -> None:
    record = cell("PUT-02") | {field: value}
    if value is ...:
        del record[field]
    path = write(tmp_path / "r", header(), CELLS[0], record, footer(CELLS[0]))
    problem = one_problem(path)
    assert problem.startswith(f"line 3: a cell that cannot be used: field '{field}' ")
    assert told in problem
    assert load(path).partial
    assert load(path).cells["rule"].tolist() == ["PUT-01"]


def test_a_number_that_is_not_finite_is_refused(tmp_path: Path) -> None:
    line = json.dumps(CELLS[1]).replace('"intact"', "1e999").encode() + b"\n"
    assert "not finite" in one_problem(write(tmp_path / "r", header(), CELLS[0], line, footer(CELLS[0])))


def test_an_unknown_kind_is_told_and_costs_nothing(tmp_path: Path) -> None:
    path = write(tmp_path / "r", header(), {"kind": "x\x1b[2J"}, CELLS[0], footer(CELLS[0]))
    assert "line 2: its kind is 'x\\x1b[2J'" in one_problem(path)
    assert not load(path).partial


def test_problems_are_counted_after_the_first(tmp_path: Path) -> None:
    run = load(write(tmp_path / "r", header(), b"?\n" * 5000, footer()))
    assert len(run.problems) == MOST_PROBLEMS + 1
    assert run.problems[-1] == f"and {5000 - MOST_PROBLEMS:,} more problems"


def test_the_later_line_of_a_cell_holds(tmp_path: Path) -> None:
    late = cell("PUT-01", verdict="crashed", observed={"signal": "SIGSEGV"})
    run = load(write(tmp_path / "r", header(), *CELLS, late, footer(*CELLS, late)))
    assert (run.partial, run.problems, run.replaced) == (False, (), 1)
    assert run.cells["verdict"].tolist() == ["crashed", "deviates", "crashed"]
    assert run.cells["observed"][0] == '{"signal":"SIGSEGV"}'


def test_two_cells_of_one_name_are_told(tmp_path: Path) -> None:
    twins = [cell(case=case, name="same") for case in "ab"]
    assert "1 cell with a name that another cell has" in one_problem(whole(tmp_path / "r", *twins))


def test_a_deviation_that_claims_to_be_expected_is_not(tmp_path: Path) -> None:
    liar = cell(verdict="deviates", unexpected=False)
    path = write(tmp_path / "r", header(), liar, footer(liar, unexpected=1))
    assert "deviates without a waiver" in one_problem(path)
    assert load(path).cells["unexpected"].tolist() == [True]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"cells": 4}, "the run counts 4 cells, the file holds 3"),
        ({"unexpected": 0}, "the run counts 0 unexpected cells, the file holds 1"),
        ({"complete": False}, "the footer says that the run is not complete"),
        ({"verdicts": {"conforms": 1, "deviates": 1, "crashed": 1, "hung": 9}}, "the run counts 9 cells as hung"),
    ],
)
def test_a_footer_that_does_not_agree(tmp_path: Path, said: dict[str, Any], told: str) -> None:
    path = write(tmp_path / "r", header(), *CELLS, footer(*CELLS, **said))
    assert told in one_problem(path)
    assert load(path).partial


def test_a_configuration_that_lacks_cells(tmp_path: Path) -> None:
    path = write(tmp_path / "r", header(), configuration(cells=4), *CELLS, footer(*CELLS))
    assert one_problem(path) == "the run counts 4 cells of stock-0.10.2-cpu8-shardy, the file holds 3"
    assert load(path).partial


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ((CELLS[0], footer(CELLS[0])), "line 1: a cell before any header"),
        ((header(), footer(), CELLS[0]), "line 3: a cell after the footer"),
        (
            (header(), CELLS[0], header(), footer(CELLS[0])),
            "line 3: a header that cannot be used: it is the second one",
        ),
        ((header(writer="gw0"), CELLS[0], footer(CELLS[0])), "written by gw0, one of several writers"),
    ],
)
def test_what_is_not_one_whole_run_is_partial(tmp_path: Path, lines: Any, told: str) -> None:
    run = load(write(tmp_path / "r", *lines))
    assert run.partial
    assert any(told in problem for problem in run.problems)


def test_parts_of_a_killed_run_are_read_and_still_partial(tmp_path: Path) -> None:
    write(tmp_path / "r", header())
    write(tmp_path / "r.gw0", header(writer="gw0"), CELLS[0], footer(CELLS[0]))
    write(tmp_path / "r.gw1", header(writer="gw1"), CELLS[1], b'{"kind": "cell"')
    write(tmp_path / "r.gw2", header(writer="gw2", started="2026-11-30T04:00:00Z"), CELLS[2])
    write(tmp_path / "r.gwen", header(), CELLS[2])
    run = load(tmp_path / "r")
    assert run.cells["rule"].tolist() == ["PUT-01", "PUT-02"]
    assert run.partial
    assert run.footer is None
    told = "\n".join(run.problems)
    assert "no footer: the run did not end; its parts were read: r.gw0, r.gw1, r.gw2" in told
    assert "r.gw1: line 3: cut off" in told
    assert "r.gw2: started before the run did" in told


def test_parts_are_read_where_the_file_itself_is_still_empty(tmp_path: Path) -> None:
    write(tmp_path / "r")
    write(tmp_path / "r.gw0", header(writer="gw0"), CELLS[0], footer(CELLS[0]))
    run = load(tmp_path / "r")
    assert run.partial
    assert run.footer is None, "a part's footer is not the run's"
    assert len(run.cells) == 1


def test_parts_beside_a_whole_run_are_told_and_not_read(tmp_path: Path) -> None:
    whole(tmp_path / "r", CELLS[0])
    write(tmp_path / "r.gw0", header(writer="gw0"), CELLS[1])
    assert "not read" in one_problem(tmp_path / "r")
    assert len(load(tmp_path / "r").cells) == 1


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "no record in it"),
        (b"\x89PNG\r\n", "no record in it; line 1: not UTF-8"),
        (b'{"kind": "header", "schema": 2}\n', "schema 2; this version reads schema 1"),
        (b'{"kind": "header"}\n', "a header without a schema number"),
    ],
)
def test_a_file_that_is_no_run(tmp_path: Path, data: bytes, told: str) -> None:
    path = write(tmp_path / "r", data)
    with pytest.raises(LoadError) as caught:
        load(path)
    assert str(caught.value).startswith(f"{path}: {told}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", [".", "absent"])
def test_a_path_that_cannot_be_read(tmp_path: Path, name: str) -> None:
    with pytest.raises(LoadError, match="cannot be read"):
        load(tmp_path / name)


def test_random_damage_never_breaks_the_reader(tmp_path: Path) -> None:
    dice = random.Random(7)
    data = write(tmp_path / "r", header(), configuration(), *CELLS, question(), footer(*CELLS)).read_bytes()
    for _ in range(300):
        damaged = bytearray(data)
        for _ in range(dice.randint(1, 4)):
            at = dice.randrange(len(damaged))
            damaged[at : at + dice.randint(0, 30)] = dice.randbytes(dice.randint(0, 3)) + dice.choice(
                [b"", b"{", b'"', b"\n"]
            )
        (tmp_path / "r").write_bytes(damaged)
        try:
            told = load(tmp_path / "r").problems
        except LoadError as error:
            told = (str(error),)
        assert "".join(told).isprintable()


def test_importing_the_package_imports_no_pandas() -> None:
    code = "import sys, reports.load, reports.terminal, reports.diff, reports.site; sys.exit('pandas' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
