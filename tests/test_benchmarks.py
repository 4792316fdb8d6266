"""The benchmarks: that asv finds them, that none falls into asv's traps, that their results are counted."""

import json
import math
import os
import subprocess
import sys
import time
from pathlib import Path
from unittest import mock

import pytest
from asv.runner import BENCHMARK_RUN_SCRIPT  # type: ignore[import-untyped]

with mock.patch.dict(os.environ):  # the devices that the suites ask for are not for the other tests
    from benchmarks import __main__ as front
    from benchmarks.means import Stopwatch
    from benchmarks.results import figures

ROOT = Path(__file__).parents[1]
SUITES = ROOT / "benchmarks"


DISCOVER = """
import json, sys
from asv_runner.discovery import disc_benchmarks, update_sys_path
update_sys_path(sys.argv[1])
found = {
    it.name: {"params": it.params, "setups": len(it._setups), "number": getattr(it, "number", None)}
    for it in disc_benchmarks(sys.argv[1])
}
json.dump(found, open(sys.argv[2], "w"))
"""


def python(*arguments, folder):
    """What a program wrote, run as asv runs one: not in the project, with the answer's file as its last argument."""
    answer = folder / "answer"
    run = subprocess.run(
        [sys.executable, *map(str, arguments), str(answer)], cwd=folder, capture_output=True, text=True, timeout=120
    )
    assert run.returncode == 0, run.stdout + run.stderr
    return json.loads(answer.read_text())


def measure(name, folder, **attributes):
    return python(BENCHMARK_RUN_SCRIPT, "run", SUITES, name, json.dumps(attributes), "None", folder=folder)


@pytest.fixture(scope="module")
def suites(tmp_path_factory):
    return python("-c", DISCOVER, SUITES, folder=tmp_path_factory.mktemp("asv"))


def test_asv_finds_every_suite(suites):
    assert {name.partition(".")[0] for name in suites} == {"dispatch", "device_put", "model", "pool"}
    assert len(suites) >= 12


def test_each_legal_row_and_kind_of_move_is_measured(suites):
    rows, moves = suites["device_put.time_put"]["params"]
    assert len(rows) == 5
    assert len(moves) >= 4


def test_no_benchmark_has_a_setup(suites):
    assert [name for name, it in suites.items() if it["setups"]] == []


def test_asv_does_not_choose_how_often(suites):
    """It would choose once: the first call prepares and is slow."""
    numbers = {name: it["number"] for name, it in suites.items() if ".time_" in name}
    assert all(number >= 1 for number in numbers.values())
    assert all(number >= 100 for name, number in numbers.items() if name.startswith("dispatch."))


def test_the_device_count_is_proved(tmp_path, monkeypatch):
    monkeypatch.setenv("XLA_FLAGS", "--xla_cpu_enable_fast_math=false --xla_force_host_platform_device_count=3")
    assert measure("dispatch.track_devices", tmp_path) == 8


def test_a_first_call_does_not_time_its_preparation(tmp_path):
    """`asv run --quick` calls once: what it times must not be a compilation (20 ms and more)."""

    def sample():
        once = {"number": 1, "repeat": 1, "rounds": 1, "warmup_time": 0}
        return measure("dispatch.time_dispatch-1", tmp_path, **once)["samples"][0]

    assert any(0 < sample() < 0.01 for _ in range(3))  # a busy machine may hold up one of them


def test_the_pool_is_measured_per_request(tmp_path):
    (sample,) = measure("pool.time_ahead-0", tmp_path, number=1, repeat=1, rounds=1, warmup_time=0)["samples"]
    assert 0 < sample < 0.005  # the target is 0.3 ms; a batch of 600 takes longer than this


def test_the_memory_of_a_whole_run_is_the_judges_alone(tmp_path):
    large = b"x" * 300_000_000  # getrusage would give every child of this process as much
    judge = [sys.executable, "-P", SUITES / "judge.py", tmp_path / "peak", "--version"]
    subprocess.run(judge, cwd=tmp_path, check=True, capture_output=True)
    taken = json.loads((tmp_path / "peak").read_text())
    assert 10e6 < taken["peak_memory"] < 150e6 < len(large)
    assert 0 < taken["cpu_seconds"] < 60


def test_a_stopwatch_stands_still_outside(monkeypatch):
    monkeypatch.setattr("benchmarks.means.perf_counter", iter([10, 11, 100, 130]).__next__)
    watch = Stopwatch()
    assert watch() == 0
    with watch:
        pass
    assert watch() == 1
    with watch.per(10):
        pass
    assert watch() == 4


def result(root, started, **values):
    """Results as asv writes them: a list for the parameters 1 and 8, else a benchmark without parameters."""
    folder = root / ".asv" / "results" / "machine"
    folder.mkdir(parents=True)
    (folder / "machine.json").write_text("{}")
    rows = {
        name: [
            value,
            [["1", "8"]] if isinstance(value, list) and len(value) == 2 else [],
            "version",
            int(started * 1000),
        ]
        for name, value in values.items()
    }
    columns = ["result", "params", "version", "started_at", "duration"]
    (folder / "0123abcd-existing.json").write_text(json.dumps({"result_columns": columns, "results": rows}))
    return folder.parent


def test_results_are_told_from_failures_and_from_older_ones(tmp_path):
    folder = result(tmp_path, 1000.5, good=[1e-6, None], skipped=[math.nan, 2e-6], count=[8], failed=None)
    found = figures(folder, 1000.5)
    assert {it.name for it in found if it.measured} == {"good(1)", "skipped(8)", "count"}
    assert {it.name for it in found if it.value is None} == {"good(8)", "failed"}
    assert len(found) == 6
    assert figures(folder, 1001) == []


@pytest.mark.parametrize(
    ("values", "status", "code", "said"),
    [
        ({"good": [1.0, 2.0]}, 0, 0, "2 measured, 0 failed"),
        ({"good": [1.0, 2.0]}, 1, 0, "2 measured, 0 failed"),  # asv's status on success in environments it makes
        ({"good": [1.0, None]}, 0, 1, "failed: good(8)"),
        ({"bad": None}, 0, 1, "failed: bad"),
        ({}, 0, 1, "nothing was measured"),
        (None, 0, 1, "nothing was measured"),
    ],
)
def test_what_was_measured_decides_not_the_exit_status(tmp_path, monkeypatch, capsys, values, status, code, said):
    monkeypatch.setenv("HOME", str(tmp_path))
    if values is None:
        result(tmp_path, time.time() - 60, old=[1.0, 2.0])
    else:
        result(tmp_path, time.time() + 60, **values)
    asv = [sys.executable, "-c", f"raise SystemExit({status})"]
    assert front.run("python", [], asv, tmp_path) == code
    assert said in capsys.readouterr().out


def test_a_python_that_cannot_measure_is_named(capsys, tmp_path):
    assert front.main(["run", "--python", str(tmp_path / "none")]) == 2
    bare = tmp_path / "python"
    bare.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')
    bare.chmod(0o755)
    assert front.main(["run", "--python", str(bare)]) == 2
    first, second = capsys.readouterr().err.splitlines()
    assert "there is no such program" in first
    assert "No module named 'asv_runner'" in second
