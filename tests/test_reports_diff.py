"""Two runs compared: what became of each cell, what is a regression, and what the exit status says."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from reports import changes
from reports.__main__ import main
from reports.diff import Diff, DiffError, compare
from reports.load import load
from tests.reports_records import cell, header, whole, write

HELD, DEVIATING, OTHER = ("conforms", "permitted"), ("deviates", "crashed", "hung"), ("unsupported", "not_run", "error")


def diff(tmp_path: Path, a: list[Any], b: list[Any], glob_a: str = "*", glob_b: str = "*", **said_b: Any) -> Diff:
    return compare(load(whole(tmp_path / "a", *a)), load(whole(tmp_path / "b", *b, **said_b)), glob_a, glob_b)


def found(of: Diff) -> list[tuple[str, bool]]:
    return list(of.changes[["category", "regression"]].itertuples(index=False, name=None))


def expected(was: str, now: str) -> list[tuple[str, bool]]:
    """Written out as DESIGN's reader would say it, not as the code does."""
    if was in HELD and now in DEVIATING:
        return [("newly deviating", True)]
    if was in DEVIATING and now in HELD:
        return [("newly conforming", False)]
    if was == now:
        return []
    return [("changed verdict", (was in HELD and now in OTHER) or (was == "deviates" and now in ("crashed", "hung")))]


@pytest.mark.parametrize(("was", "now"), list(product(HELD + DEVIATING + OTHER, repeat=2)))
def test_every_pair_of_verdicts(tmp_path: Path, was: str, now: str) -> None:
    same: dict[str, Any] = {"observed": {"input": "?"}}
    change = diff(tmp_path, [cell(verdict=was, **same), cell(case="z")], [cell(verdict=now, **same), cell(case="z")])
    assert found(change) == expected(was, now)
    assert change.compared == 2
    assert change.exit == any(regression for _, regression in expected(was, now))


@pytest.mark.parametrize(
    ("verdict", "changed"), [("deviates", True), ("crashed", True), ("conforms", False), ("error", False)]
)
def test_another_observation_counts_where_it_deviates(tmp_path: Path, verdict: str, changed: bool) -> None:
    a, b = (cell(verdict=verdict, waiver="w", observed={"x": n, "y": 0}) for n in (1, 2))
    assert found(diff(tmp_path, [a], [b])) == ([("changed deviation", False)] if changed else [])
    again = cell(verdict=verdict, waiver="w", observed={"y": 0, "x": 1})
    assert found(diff(tmp_path, [a], [again])) == [], "the order of the fields is no change"


def test_vanished_and_appeared(tmp_path: Path) -> None:
    kept, held, bad = cell("PUT-01"), cell("PUT-02"), cell("PUT-03", verdict="deviates")
    gone = diff(tmp_path, [kept, held, bad], [kept])
    assert found(gone) == [("vanished", True), ("vanished", False)], "a deviation that is gone is no loss"
    assert gone.exit == 1
    come = diff(tmp_path, [kept], [kept, held, bad])
    assert found(come) == [("appeared", False)] * 2
    assert come.exit == 0


def test_what_is_gone_from_a_selection_is_no_regression_and_no_clean_end(tmp_path: Path) -> None:
    change = diff(tmp_path, [cell("PUT-01"), cell("PUT-02")], [cell("PUT-01")], selected=True)
    assert found(change) == [("vanished", False)]
    assert change.exit == 3
    assert diff(tmp_path, [cell("PUT-01")], [cell("PUT-01")], selected=True).exit == 0


@pytest.mark.parametrize("side", ["a", "b"])
def test_a_partial_side_is_said_and_is_no_clean_end(tmp_path: Path, side: str) -> None:
    paths = {name: whole(tmp_path / name, cell("PUT-01"), cell("PUT-02")) for name in "ab"}
    write(paths[side], header(), cell("PUT-01"))
    change = compare(load(paths["a"]), load(paths["b"]))
    assert change.exit == 3
    assert f"{side.upper()} is partial" in changes.text(change)
    assert change.regressions == 0


def test_a_regression_outweighs_a_gap(tmp_path: Path) -> None:
    b = write(tmp_path / "b", header(), cell(verdict="hung"))
    assert compare(load(whole(tmp_path / "a", cell())), load(b)).exit == 1


def places(versions: str, partitioners: str, **said: Any) -> list[Any]:
    return [cell(version=v, partitioner=p, **said) for v in versions.split() for p in partitioners.split()]


@pytest.mark.parametrize(
    ("a", "b", "pairs"),
    [
        (("1", "shardy gspmd"), ("2", "gspmd shardy"), ["1-shardy 2-shardy", "1-gspmd 2-gspmd"]),
        (("1 2", "shardy"), ("1 2", "shardy"), ["1-shardy 1-shardy", "2-shardy 2-shardy"]),
        (("1 2", "shardy"), ("2", "shardy"), ["2-shardy 2-shardy"]),
        (("1", "gspmd"), ("1", "shardy"), ["1-gspmd 1-shardy"]),
        (("1", "gspmd shardy"), ("2", "shardy"), ["1-shardy 2-shardy"]),
    ],
)
def test_configurations_pair_by_what_varies_within_a_file(tmp_path: Path, a: Any, b: Any, pairs: list[str]) -> None:
    change = diff(tmp_path, places(*a), places(*b))
    told = [" ".join(c.name.replace("stock-", "").replace("cpu8-", "") for c in pair) for pair in change.pairs]
    assert told == pairs
    assert change.compared == len(pairs)
    assert change.exit == (3 if change.only_a else 0)


def test_runs_of_several_subjects_pair_each_with_its_like(tmp_path: Path) -> None:
    def both(version: str) -> list[Any]:
        return [*places(version, "shardy gspmd"), *places("0.12.0", "shardy gspmd", subject="model")]

    pairs = diff(tmp_path, both("0.7.2"), both("0.10.2")).pairs
    assert [f"{a.name} {b.name}" for a, b in pairs] == [
        "stock-0.7.2-cpu8-shardy stock-0.10.2-cpu8-shardy",
        "stock-0.7.2-cpu8-gspmd stock-0.10.2-cpu8-gspmd",
        "model-0.12.0-cpu8-shardy model-0.12.0-cpu8-shardy",
        "model-0.12.0-cpu8-gspmd model-0.12.0-cpu8-gspmd",
    ]


def test_where_pairing_would_be_a_guess_the_user_chooses(tmp_path: Path) -> None:
    a, b = places("1 2", "shardy"), places("3", "shardy", verdict="deviates")
    with pytest.raises(DiffError, match="--a and --b"):
        diff(tmp_path, a, b)
    change = diff(tmp_path, a, b, glob_a="stock-2-*")
    assert found(change) == [("newly deviating", True)]
    assert change.changes["name_a"][0] == "PUT-01[a-copy-f32]@stock-2-cpu8-shardy"
    with pytest.raises(DiffError, match="no configuration of B is called '9'; it has stock-3-cpu8-shardy"):
        diff(tmp_path, a, b, glob_b="9")


def test_two_configurations_of_one_file_never_mix(tmp_path: Path) -> None:
    a = [cell(partitioner="shardy"), cell(partitioner="gspmd", verdict="deviates")]
    b = [cell(partitioner="shardy", verdict="deviates"), cell(partitioner="gspmd")]
    change = diff(tmp_path, a, b)
    assert found(change) == [("newly deviating", True), ("newly conforming", False)]


def test_the_text_groups_by_rule_and_says_each_kind_once(tmp_path: Path) -> None:
    crash = {"observed": {"signal": "SIGSEGV", "touch": "is_deleted"}}
    a = [cell(rule, f"c{n}") for rule in ("PUT-01", "PUT-02") for n in range(7)]
    b = [cell("PUT-01", f"c{n}", "crashed", **crash) for n in range(7)] + [cell("PUT-02", f"c{n}") for n in range(7)]
    change = diff(tmp_path, a, b)
    text = changes.text(change)
    assert "NEWLY DEVIATING: 7 cells, 7 regressions" in text
    assert text.count("7 cells: conforms -> crashed, SIGSEGV at is_deleted") == 1
    assert "and 2 more (--all names them)" in text
    assert "PUT-02" not in text
    assert "14 cells compared: 7 changes, 7 regressions." in text
    assert changes.text(change, every=True).count("PUT-01[") == 7
    assert max(map(len, text.splitlines()[2:])) <= 80


def test_json_says_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole(tmp_path / "a", cell(), cell("PUT-02"))
    whole(tmp_path / "b", cell(verdict="deviates"))
    assert main(["diff", str(tmp_path / "a"), str(tmp_path / "b"), "--json"]) == 1
    said = json.loads(capsys.readouterr().out)
    assert (said["compared"], said["regressions"], said["gaps"]) == (1, 2, [])
    assert [change["category"] for change in said["changes"]] == ["newly deviating", "vanished"]
    assert said["changes"][0]["observed_b"] == {"input": "intact"}
    assert said["changes"][1]["observed_b"] is None


def test_exit_statuses_of_the_real_command(tmp_path: Path) -> None:
    good, bad = whole(tmp_path / "good", cell()), whole(tmp_path / "bad", cell(verdict="crashed"))
    for arguments, status in (([good, good], 0), ([good, bad], 1), ([good, tmp_path / "absent"], 2)):
        command = [sys.executable, "-m", "reports", "diff", *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == status, done.stderr
        assert (done.stderr.count("\n"), bool(done.stdout)) == ((1, False) if status == 2 else (0, True))
