"""The whole suite against real subjects that misbehave: each is told apart from the others and from JAX itself."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HERE = sys.executable
REORDER = "xy_to_perm-copy-f32_8x8"  # one case: no row of it touches what JAX gets wrong
NEIGHBOURS = f"{REORDER} or xy_to_same-default-f32_8x8 or xy_to_none-default-f32_8x8"


def command(record, *args):
    return [HERE, "-m", "pytest", "conformance/test_put.py", "-p", "no:cacheprovider", "--record", str(record), *args]


def marked(record, env=None):
    """An environment by which every process of a run can be found."""
    return {**os.environ, "SHARDSPEC_RUN": str(record), **(env or {})}


def left_behind(record):
    """Processes of a run that are still there."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if f"SHARDSPEC_RUN={record}\0".encode() in path.read_bytes():
                found.append(int(path.parent.name))
    return found


class Run:
    """One finished run of the suite: exit status, what it printed, what it recorded."""

    def __init__(self, path, *args, env=None, timeout=240):
        self.record = path
        done = subprocess.run(
            command(path, *args), cwd=ROOT, capture_output=True, text=True, timeout=timeout, env=marked(path, env)
        )
        self.status, self.text = done.returncode, done.stdout + done.stderr
        self.lines = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
        self.cells = {line["name"]: line for line in self.lines if line["kind"] == "cell"}

    def verdicts(self, *, case="", probe="put.put"):
        """The verdicts by rule of the cells of one case (one partitioner was asked for)."""
        return {
            cell["rule"]: cell["verdict"]
            for cell in self.cells.values()
            if cell["observation"] == probe and cell["case"].startswith(case)
        }


def judge(tmp_path, subject, *args, select=REORDER, **kwargs):
    chosen = ["-k", select, "--partitioner", "shardy", "--subject", subject, *args]
    return Run(tmp_path / f"{subject}.jsonl", *chosen, **kwargs)


@pytest.fixture(scope="module")
def stock(tmp_path_factory):
    """What the real JAX does in the cases that the hostile subjects are held to."""
    return judge(tmp_path_factory.mktemp("stock"), "stock", select=NEIGHBOURS)


def test_the_cases_used_here_hold_on_the_real_jax(stock):
    verdicts = stock.verdicts(case=REORDER)
    assert len(verdicts) >= 4
    assert set(verdicts.values()) <= {"conforms", "permitted"}


def test_a_segfault_at_once(tmp_path):
    run = judge(tmp_path, "tests.hostile.segfault")
    assert run.status == 1
    verdicts = run.verdicts(case=REORDER)
    assert set(verdicts.values()) == {"crashed"}
    put = [cell["observed"] for cell in run.cells.values() if cell["observation"] == "put.put"]
    assert {(observed["signal"], observed["touch"]) for observed in put} == {("SIGSEGV", "put")}
    assert "Segmentation fault" in run.text, "the host's stderr is in the report"
    assert "python -m conformance run" in run.text


def test_a_crash_after_the_probe_returned_is_blamed_on_the_right_cell(tmp_path, stock):
    run = judge(tmp_path, "tests.hostile.delayed", select=NEIGHBOURS)
    assert run.status == 1
    crashed = {cell["case"] for cell in run.cells.values() if cell["verdict"] == "crashed"}
    assert crashed
    assert all(case.startswith(REORDER) for case in crashed)
    innocent = [cell for cell in run.cells.values() if not cell["case"].startswith(REORDER)]
    assert innocent
    for cell in innocent:
        assert cell["verdict"] == stock.cells[cell["name"].replace("@tests.hostile.delayed-", "@stock-")]["verdict"]
    assert not [line for line in run.lines if line["kind"] == "incident"]


@pytest.mark.parametrize(
    ("subject", "says"),
    [("sleeps", "tests/hostile/sleeps.py"), ("spins", "tests/hostile/spins.py"), ("stops", "the process is stopped")],
)
def test_a_hang_is_a_verdict_with_its_stacks_or_the_reason_why_not(tmp_path, subject, says):
    run = judge(tmp_path, f"tests.hostile.{subject}", "--cell-timeout", "2", "--rule", "PUT-06")
    assert run.status == 1
    assert set(run.verdicts().values()) == {"hung"}
    assert {cell["observed"]["touch"] for cell in run.cells.values()} == {"put"}
    assert says in run.text


@pytest.mark.parametrize("subject", ["prints", "forks"])
def test_noise_and_forks_change_no_verdict(tmp_path, stock, subject):
    run = judge(tmp_path, f"tests.hostile.{subject}", select=NEIGHBOURS)
    mine = {name.replace(f"@tests.hostile.{subject}-", "@stock-"): cell["observed"] for name, cell in run.cells.items()}
    assert mine == {name: cell["observed"] for name, cell in stock.cells.items()}
    assert not left_behind(run.record)


def test_wrong_data_deviates_in_value_alone(tmp_path, stock):
    run = judge(tmp_path, "tests.hostile.wrong_data")
    before, after = stock.verdicts(case=REORDER), run.verdicts(case=REORDER)
    changed = {rule for rule in before if before[rule] != after[rule]}
    assert changed == {"PUT-06"}
    assert after["PUT-06"] == "deviates"
    assert run.status == 1


def test_an_observer_that_holds_a_view_does_not_go_unnoticed(tmp_path):
    select = "xy_to_perm-donate-f32_8x8"
    stock = judge(tmp_path, "stock", select=select).verdicts(case=select)
    held = judge(tmp_path, "tests.hostile.holds_view", select=select)
    assert stock != held.verdicts(case=select)
    assert held.status == 1


@pytest.mark.parametrize(
    ("subject", "partitioner", "says"),
    [
        ("dead_switch", "gspmd", "the partitioner that ran is shardy, not gspmd"),
        ("fewer_devices", "shardy", "fewer devices than asked: cpu:8 needs 8, the host has 2"),
    ],
)
def test_an_environment_that_cannot_be_judged_makes_the_run_red_not_shorter(
    tmp_path, stock, subject, partitioner, says
):
    run = judge(tmp_path, f"tests.hostile.{subject}", "--partitioner", partitioner, select=NEIGHBOURS)
    assert run.status == 1
    assert len(run.cells) == len(stock.cells)
    assert {cell["verdict"] for cell in run.cells.values()} == {"not_run"}
    assert " ".join(run.text.split()).count(says) >= 1


def test_a_python_without_jax_is_said_once(tmp_path):
    venv.create(tmp_path / "bare")
    run = judge(tmp_path, "stock", "--subject-python", str(tmp_path / "bare/bin/python"))
    assert run.status == 1
    assert {cell["verdict"] for cell in run.cells.values()} == {"not_run"}
    assert "JAX is not there" in run.text
    assert run.text.count("Traceback") == 0


def test_every_observation_is_taken_once_under_two_workers(tmp_path):
    counted = tmp_path / "counted"
    run = judge(tmp_path, "tests.hostile.counts", "-n", "2", select="xy_to_", env={"SHARDSPEC_COUNT": str(counted)})
    taken = len(counted.read_text().splitlines())
    distinct = {(cell["observation"], cell["case"]) for cell in run.cells.values()}
    footer = run.lines[-1]
    assert footer["complete"]
    assert footer["observations"] == len(distinct)
    assert footer["reruns"] > 0, "the crashing cases are run again"
    assert taken == footer["observations"] + footer["reruns"]


@pytest.mark.parametrize("workers", [[], ["-n", "2"]])
def test_a_judge_killed_in_the_middle_loses_no_judged_cell(tmp_path, workers):
    record = tmp_path / "killed.jsonl"
    judge = subprocess.Popen(
        command(record, *workers), cwd=ROOT, stdout=subprocess.DEVNULL, start_new_session=True, env=marked(record)
    )
    seen = 0
    end = time.monotonic() + 60
    while seen < 60 and time.monotonic() < end:
        time.sleep(0.02)
        seen = sum(path.read_bytes().count(b'"kind":"cell"') for path in tmp_path.glob("killed.jsonl*"))
    os.kill(judge.pid, signal.SIGKILL)
    judge.wait()
    end = time.monotonic() + 20
    while left_behind(record) and time.monotonic() < end:
        time.sleep(0.1)
    assert not left_behind(record), "no process is left behind"
    kept = sum(path.read_bytes().count(b'"kind":"cell"') for path in tmp_path.glob("killed.jsonl*"))
    assert kept >= seen >= 60
    shown = subprocess.run([HERE, "-m", "reports", "show", str(record)], cwd=ROOT, capture_output=True, text=True)
    assert "PARTIAL" in shown.stdout


def test_a_host_killed_in_the_middle_loses_no_cell(tmp_path):
    counted = tmp_path / "counted"
    record = tmp_path / "killed.jsonl"
    chosen = ["--subject", "tests.hostile.counts", "-k", "xy_to_none or xy_to_same", "--partitioner", "shardy"]
    env = marked(record, {"SHARDSPEC_COUNT": str(counted)})
    judge = subprocess.Popen(command(record, *chosen), cwd=ROOT, stdout=subprocess.PIPE, env=env, text=True)
    while not counted.exists() or len(counted.read_text().splitlines()) < 10:
        time.sleep(0.002)
    os.kill(int(counted.read_text().split()[-1]), signal.SIGKILL)
    text, _ = judge.communicate(timeout=240)
    lines = [json.loads(line) for line in record.read_text().splitlines()]
    (configuration,) = (line for line in lines if line["kind"] == "configuration")
    assert len({line["name"] for line in lines if line["kind"] == "cell"}) == configuration["cells"]
    assert lines[-1]["complete"]
    assert judge.returncode == 1
    incidents = [line for line in lines if line["kind"] == "incident"]
    assert len(incidents) == 1
    assert "SIGKILL" in incidents[0]["text"]
    assert "SIGKILL" in text
