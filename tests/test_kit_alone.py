"""`python -m conformance run CELL`: one cell in the foreground, without pytest."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.kit import alone
from conformance.kit.strict import Mistake
from tests import kit_toy

ROOT = Path(__file__).parents[1]
CELL = "{}[{}]@toy.subject-1.0-cpu8-shardy"


@pytest.fixture
def run(tmp_path, monkeypatch, capfd):
    """Runs a cell of the toy suite; returns the status and what stood on the terminal."""
    kit_toy.write(tmp_path, "fine", "other", "crash", "wrong", "pause", waivers=kit_toy.WAIVER)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("TOY_LOG", str(tmp_path / "log"))

    def run(rule, case, **more):
        status = alone.run("toy", CELL.format(rule, case), sys.executable, **more)
        return status, " ".join(capfd.readouterr().out.split())

    yield run
    for module in [name for name in sys.modules if name.partition(".")[0] == "toy"]:
        del sys.modules[module]


def test_a_cell_that_conforms(run):
    status, said = run("TOY-01", "fine")
    assert status == 0
    assert 'value = "right"' in said
    assert "conforms" in said
    assert "A toy is right." in said


def test_a_cell_that_deviates_and_what_its_probe_prints(run):
    status, said = run("TOY-01", "wrong")
    assert status == 1
    assert said.startswith("something odd ")  # on the terminal, as it happens
    assert 'expected value = "right" observed value = "wrong"' in said


def test_a_target_that_there_is_not(run):
    with pytest.raises(Mistake, match="its target, cpu:99999, is wrong: too many devices"):
        alone.run("toy", CELL.format("TOY-01", "fine").replace("cpu8", "cpu99999"), sys.executable)


@pytest.mark.parametrize(
    ("column", "complaint"),
    [
        ("toy.subject-1.0-cpu8-sharpy", "its partitioner, sharpy, is none of shardy, gspmd"),
        ("fault.no_such-0.12.0-cpu8-shardy", "subject fault:no_such: there is no fault no_such"),
        ("model.0.3.0-0.3.0-cpu8-shardy", "subject model:0.3.0: no contract of 0.3.0"),
    ],
)
def test_a_column_that_there_is_not(run, column, complaint):
    with pytest.raises(Mistake, match=complaint):
        alone.run("toy", f"TOY-01[fine]@{column}", sys.executable)


def test_a_subject_that_there_is_not(run):
    with pytest.raises(Mistake, match="subject stock:x: stock takes no argument"):
        run("TOY-01", "fine", subject="stock:x")


def test_breakpoints_work(run, tmp_path):
    code = (
        f"from conformance.kit import alone; alone.run('toy', {CELL.format('TOY-01', 'pause')!r}, {sys.executable!r})"
    )
    env = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    told = subprocess.run(
        [sys.executable, "-c", code], input="p does * 2\nc\n", capture_output=True, text=True, env=env
    )
    assert "'pausepause'" in told.stdout
    assert told.stdout.index("'pausepause'") < told.stdout.index("conforms: ")


def test_a_waiver_speaks_here_too(run):
    status, said = run("TOY-02", "crash")
    assert status == 0
    assert "TOY-02/crash" in said
    assert 'observed signal = "SIGSEGV", touch = "look"' in said


def test_the_rest_of_the_observation_decides_as_in_a_run(run):
    assert run("TOY-01", "crash")[0] == 0
    assert run("TOY-05", "fine")[0] == 1  # unsupported is no yes


@pytest.mark.parametrize(
    ("rule", "case", "complaint"),
    [
        ("TOY-09", "fine", "there is no rule TOY-09; near it: TOY-0"),
        ("TOY-01", "fin", "TOY-01 has no case fin; near it: fine"),
        ("TOY-05", "wrong", "TOY-05 has no case wrong; near it: fine"),
        ("TOY-03", "fine", "TOY-03 is not in force in 1.0: since 2.0"),
    ],
)
def test_a_bad_name_is_one_line(run, rule, case, complaint):
    with pytest.raises(Mistake, match=complaint):
        run(rule, case)


def test_the_version_of_the_name_must_be_there(run, tmp_path):
    python = tmp_path / "python-jax-2.0"
    python.symlink_to(sys.executable)
    with pytest.raises(Mistake, match=r"the cell is of version 1.0, .* has 2.0: give --subject-python"):
        alone.run("toy", CELL.format("TOY-01", "fine"), str(python))


def test_another_subject_may_be_of_another_version(run, tmp_path):
    other = (
        (tmp_path / "toy" / "subject.py")
        .read_text()
        .replace('"jax": self.version or version or "1.0"', '"contract": "2.0"')
    )
    (tmp_path / "toy" / "other.py").write_text(other.replace("partitioner):", "partitioner, *argument):", 1))
    status, said = run("TOY-01", "fine", subject="toy.other")
    assert (status, "configuration toy.other 2.0, cpu:8, shardy" in said) == (0, True)
    status, said = run("TOY-01", "fine", subject="toy.other:more")
    assert status == 0
    assert said.endswith("run 'TOY-01[fine]@toy.other.more-2.0-cpu8-shardy' --subject toy.other:more")


def test_the_command_line():
    told = subprocess.run([sys.executable, "-m", "conformance", "run", "PUT"], cwd=ROOT, capture_output=True, text=True)
    assert told.returncode == 2
    assert told.stderr.count("\n") == 1
    assert told.stderr.startswith("python -m conformance: ")


def test_a_reader_that_leaves_early_ends_it_in_silence():
    reads, writes = os.pipe()
    os.close(reads)
    with os.fdopen(writes, "wb") as gone:
        command = [sys.executable, "-m", "conformance", "rule", "PUT-17"]
        told = subprocess.run(command, cwd=ROOT, stdout=gone, stderr=subprocess.PIPE, text=True)
    assert (told.returncode, told.stderr) == (141, "")
