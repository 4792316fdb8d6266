"""The command line of `reports`: filters, JSON, mistakes in one line, exit statuses."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from reports.__main__ import main
from tests.reports_records import cell, whole, write


@pytest.fixture
def record(tmp_path: Path) -> str:
    cells = [
        cell("PUT-01"),
        cell("PUT-02", "w", "deviates", waiver="PUT-02/x"),
        cell("PUT-02", "u", "deviates"),
        cell("ORD-01", "c", "crashed"),
    ]
    return str(whole(tmp_path / "run.jsonl", *cells))


def command(*arguments: Any, **options: Any) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "reports", *map(str, arguments)]
    return subprocess.run(line, **{"capture_output": True, "text": True, "check": False} | options)


@pytest.mark.parametrize(
    ("filters", "shown"),
    [
        ([], []),
        (["--unexpected"], ["ORD-01[c]", "PUT-02[u]"]),
        (["--rule", "PUT-*"], ["PUT-01[a-copy-f32]", "PUT-02[w]", "PUT-02[u]"]),
        (["--rule", "ORD-*", "--rule", "PUT-01"], ["ORD-01[c]", "PUT-01[a-copy-f32]"]),
        (["--verdict", "deviates"], ["PUT-02[w]", "PUT-02[u]"]),
        (["--verdict", "deviates", "--unexpected"], ["PUT-02[u]"]),
        (["--rule", "PUT-01", "--unexpected"], []),
    ],
)
def test_show_prints_the_table_or_what_passes_every_filter(
    record: str, capsys: pytest.CaptureFixture[str], filters: list[str], shown: list[str]
) -> None:
    assert main(["show", record, *filters]) == 0
    out = capsys.readouterr().out
    summary = f"{len(shown)} of 4 cells from 1 observation." if filters else "4 cells from 1 observation."
    assert summary in out.splitlines()
    assert ("Known deviations" in out) is not bool(filters)
    assert [line.split("@")[0].strip() for line in out.splitlines() if "]@" in line] == shown
    assert ("No cell passes" in out) is (bool(filters) and not shown)


def test_show_json(record: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", record, "--json", "--verdict", "crashed"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["cells"], said["partial"], said["observations"]) == (4, False, 1)
    assert [row["name"] for row in said["listed"]] == ["ORD-01[c]@stock-0.10.2-cpu8-shardy"]
    assert said["listed"][0]["observed"] == {"input": "intact"}
    assert said["listed"][0]["waiver"] is None
    put = next(row for row in said["matrix"] if row["chapter"] == "PUT")
    assert (put["conforms"], put["deviates"], put["waived"], put["unexpected"], put["hung"]) == (1, 2, 1, 1, 0)
    assert main(["show", record, "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["listed"]) == 4


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["show", "RECORD", "--rule", "KEY-*"], "no rule in RECORD matches KEY-*; it has ORD-01, PUT-01, PUT-02"),
        (["show", "FOLDER/fifo"], "FOLDER/fifo: cannot be read: it is not a regular file"),
        (["show", "FOLDER"], "FOLDER: cannot be read: Is a directory"),
        (["show", "FOLDER/absent"], "FOLDER/absent: cannot be read: No such file or directory"),
        (["diff", "RECORD", "FOLDER/rubbish"], "FOLDER/rubbish: no record in it"),
        (["diff", "RECORD", "RECORD", "--a", "nothing"], "no configuration of A is called 'nothing'"),
        (
            ["site", "RECORD", "-o", "RECORD"],
            "RECORD: the page cannot be written: File exists; name another folder with -o",
        ),
    ],
)
def test_a_mistake_is_one_line(
    record: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], told: str
) -> None:
    write(tmp_path / "rubbish", b"\x1b[2J\n")
    os.mkfifo(tmp_path / "fifo")

    def real(text: str) -> str:
        return text.replace("RECORD", record).replace("FOLDER", str(tmp_path))

    assert main([real(argument) for argument in arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("reports: ")
    assert real(told) in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("arguments", [["show", "x", "--verdict", "passed"], ["frobnicate"], [], ["site", "x"]])
def test_wrong_usage(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert "usage: python -m reports" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["show", "diff", "site", "sweep"])
def test_help_teaches_the_exit_statuses(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main([name, "--help"])
    assert caught.value.code == 0
    out = capsys.readouterr().out
    assert "Exit status: 0" in out
    assert ("3 no regression was\nfound" in out) is (name == "diff")
    assert max(map(len, out.splitlines())) <= 120


def test_the_page_is_written_and_its_path_printed(
    record: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["site", record, "-o", str(tmp_path / "out")]) == 0
    assert Path(capsys.readouterr().out.strip()).read_text("utf-8").startswith("<!doctype html>")


@pytest.mark.parametrize(("cells", "lines"), [(3000, 1), (1, 0)], ids=["in the middle", "at once"])
def test_a_reader_that_goes_away_is_no_error(tmp_path: Path, cells: int, lines: int) -> None:
    path = whole(tmp_path / "r", *(cell(case=f"c{n}") for n in range(cells)))
    line = [sys.executable, "-m", "reports", "show", str(path), "--rule", "*"]
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=buffered) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        for _ in range(lines):
            process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_is_one_line(record: str) -> None:
    with Path("/dev/full").open("w") as full:
        done = command("show", record, capture_output=False, stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 2
    assert done.stderr == "reports: the output cannot be written: No space left on device\n"


def test_a_closed_output_is_one_line(record: str) -> None:
    line = ["sh", "-c", 'exec "$@" >&-', "sh", sys.executable, "-m", "reports", "show", record]
    done = subprocess.run(line, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "reports: the output cannot be written: it is closed\n"


def test_a_terminal_that_knows_only_ascii(tmp_path: Path) -> None:
    path = whole(tmp_path / "r", cell("PUT-01", verdict="deviates", observed={"x": "é世"}))
    done = command("show", path, "--unexpected", env={"PYTHONIOENCODING": "ascii", "PYTHONPATH": str(Path.cwd())})
    assert (done.returncode, done.stderr) == (0, "")
    assert 'x = "\\xe9\\u4e16"' in done.stdout
