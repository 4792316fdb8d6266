"""The sweep: what goes wrong with one version is said, and the others go on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest

from reports import sweep
from reports.ledgers import LedgerError
from reports.sweep import Children, Pin, Plan, SweepError
from tests.reports_records import cell, configuration, footer, header, write

PLAN = Plan("3.12", "cpu:8", ("0.5.3", "9.9.9", "0.6.2"), (Pin("<0.5", ("numpy<2.3",)),))


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Environments and runs without their cost: 9.9.9 cannot be installed, 0.6.2 is red, 0.7.2's run leaves nothing."""

    def environment(plan: Plan, version: str, root: Path, say: object, children: Children) -> Path:
        if version == "9.9.8":
            raise PermissionError(13, "Permission denied", str(root))
        if version == "9.9.9":
            raise SweepError("cannot be installed: no such version")
        return root / version

    def judged(plan: Plan, version: str, python: Path, root: Path, children: Children) -> tuple[Path, Path]:
        assert python == root / version
        bad = cell("PUT-01", "b", "deviates" if version == "0.6.2" else "conforms", version=version)
        cells = [cell("PUT-01", "a", version=version), bad]
        record = root / f"{version}.jsonl"
        if version != "0.7.2":
            write(record, header(), configuration(version=version), *cells, footer(*cells))
        return record, root / f"{version}.log"

    monkeypatch.setattr(sweep, "time", SimpleNamespace(monotonic=lambda: 0.0))
    monkeypatch.setattr(sweep, "_environment", environment)
    monkeypatch.setattr(sweep, "_judged", judged)
    return tmp_path


@pytest.mark.parametrize("jobs", [1, 3])
def test_one_version_stops_no_other(root: Path, capsys: pytest.CaptureFixture[str], jobs: int) -> None:
    versions = ["9.9.9", "9.9.8", "0.6.2", "0.7.2", "0.5.3"]
    assert sweep.sweep(PLAN, versions, jobs, root / "ledger", root) == 1
    out = capsys.readouterr().out
    assert "9.9.9: NO LEDGERS: cannot be installed: no such version" in out
    assert "9.9.8: NO LEDGERS: [Errno 13] Permission denied" in out
    assert (
        "0.6.2: NO LEDGERS: 2 cells in 0 s; stock-0.6.2-cpu8-shardy no ledger, the run is red: 1 cell unexpected" in out
    )
    assert "0.7.2: NO LEDGERS: " in out
    assert "0.5.3: 2 cells in 0 s; stock-0.5.3-cpu8-shardy new" in out
    assert out.splitlines()[-1] == "5 versions in 0 min 0 s; no ledgers of 9.9.9, 9.9.8, 0.6.2, 0.7.2."
    assert [path.name for path in (root / "ledger").iterdir()] == ["stock-0.5.3-cpu8-shardy.toml"]


def test_a_sweep_of_what_holds(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert sweep.sweep(PLAN, ["0.5.3"], 1, root / "ledger", root) == 0
    assert sweep.sweep(PLAN, ["0.5.3", "0.5.3"], 1, root / "ledger", root) == 0
    assert "stock-0.5.3-cpu8-shardy unchanged\n1 version in 0 min 0 s.\n" in capsys.readouterr().out


@pytest.mark.parametrize("version", ["../x", "٣.٤"])
def test_what_is_no_version_makes_no_folder(root: Path, version: str) -> None:
    with pytest.raises(LedgerError, match="is no version"):
        sweep.sweep(PLAN, ["0.5.3", version], 1, root / "ledger", root)
    assert not (root / "ledger").exists()


def test_old_versions_have_their_pins() -> None:
    plan = sweep.plan()
    assert plan.packages("0.4.35") == [
        "jax==0.4.35",
        "jaxlib==0.4.35",
        "numpy<2.3",
        "scipy<1.15",
        "flatbuffers",
        "absl-py",
    ]
    assert plan.packages("0.12.0.1") == ["jax==0.12.0.1", "jaxlib==0.12.0.1", "flatbuffers"]
    assert {"0.4.35", "0.12.0.1"} <= set(plan.versions)


def test_no_earlier_run_s_record_is_summed_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record = tmp_path / "reports" / "out" / "sweep" / "0.5.3.jsonl"
    record.parent.mkdir(parents=True)
    write(record, header(), footer())
    monkeypatch.setattr(sys, "executable", "/bin/false")
    made, log = sweep._judged(PLAN, "0.5.3", Path("python"), tmp_path, Children())
    assert (made, made.exists(), log.exists()) == (record, False, True)


BROKEN = {"no program": (b"\x00junk", 0o755), "not executable": (b"", 0o644), "fails": (b"#!/bin/sh\nexit 3\n", 0o755)}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_environment_is_built_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    python = tmp_path / ".envs" / "jax-0.5.3" / "bin" / "python"
    python.parent.mkdir(parents=True)
    content, mode = BROKEN[name]
    python.write_bytes(content)
    python.chmod(mode)
    installed: list[Sequence[str]] = []
    monkeypatch.setattr(sweep, "_uv", lambda: ["uv"])
    monkeypatch.setattr(sweep, "_install", lambda children, command: installed.append(command))
    assert sweep._environment(PLAN, "0.5.3", tmp_path, print, Children()) == python
    assert [command[1] for command in installed] == ["venv", "pip"]


STOPPED = """
import sys
from pathlib import Path
from reports import sweep
from reports.__main__ import main

def judged(plan, version, python, root, children):
    children.run([sys.executable, "-c", "import os, time; print(os.getpid(), flush=True); time.sleep(600)"])
    raise sweep.SweepError("ended")

sweep._environment = lambda plan, version, root, say, children: Path(version)
sweep._judged = judged
sys.exit(main(["sweep", "0.5.3", "0.6.2", "--jobs", "1", "--ledgers", sys.argv[1]]))
"""


@pytest.mark.parametrize(
    ("number", "status", "said"),
    [(signal.SIGINT, 130, "reports: interrupted\n"), (signal.SIGTERM, 143, "")],
    ids=["Ctrl-C", "SIGTERM"],
)
def test_a_sweep_that_is_stopped_leaves_nothing_running(tmp_path: Path, number: int, status: int, said: str) -> None:
    line = [sys.executable, "-c", STOPPED, str(tmp_path)]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "0.5.3: judging\n"
        child = int(process.stdout.readline())
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (status, said)
    assert "judging" not in out, "no other version is begun"
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)
