"""The real suite's own waivers, each kind of change to them on the real JAX: what is pinned stays pinned, or is red."""

import datetime
import json
import re
import shutil
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
WAIVER = "PUT-22/other-devices"
WHERE = {WAIVER: ("*_to_other4-*", "pinned_to_pinned1-*"), "PUT-22/keys": ("*-key_8x8",)}


@pytest.fixture
def copy(tmp_path):
    """A copy of the suite, to change."""
    for folder in ("conformance", "impl", "reports"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__", "out"))
    for file in ("conftest.py", "pyproject.toml"):
        shutil.copy(ROOT / file, tmp_path)
    return tmp_path


def judge(copy, *args):
    command = [sys.executable, "-m", "pytest", "conformance", "--subject", "stock", "--partitioner", "shardy"]
    command += ["--record", "run.jsonl", "-p", "no:cacheprovider", *args]
    done = subprocess.run(command, cwd=copy, capture_output=True, text=True)
    lines = [json.loads(line) for line in (copy / "run.jsonl").read_text().splitlines()]
    cells = [line for line in lines if line["kind"] == "cell"]
    gates = [line["gate"] for line in lines if line["kind"] == "gate"]
    return done.returncode, done.stdout, cells, gates


def edit(copy, change):
    file = copy / "conformance/waivers/put.toml"
    before = file.read_text()
    after = change(before)
    assert after != before
    file.write_text(after)


def without(id):
    return lambda text: re.sub(
        r"\[\[waiver\]\]\nid = \"" + re.escape(id) + r"\".*?(?=\n\[\[|\n# ---|\Z)", "", text, flags=re.S
    )


def test_the_segmentation_faults_are_crashed_cells_that_pins_cover(copy):
    status, _, cells, gates = judge(copy, "--rule", "PUT-22")
    assert (status, gates) == (0, [])
    crashed = [cell for cell in cells if cell["verdict"] == "crashed"]
    assert crashed
    assert {cell["waiver"] for cell in crashed} == WHERE.keys()
    for cell in crashed:
        assert any(fnmatch(cell["case"], pattern) for pattern in WHERE[cell["waiver"]])
        assert (cell["observed"]["signal"], cell["observed"]["touch"]) == ("SIGSEGV", "is_deleted")


def test_without_its_waiver_a_crash_is_red_and_shown(copy):
    edit(copy, without(WAIVER))
    status, text, cells, _ = judge(copy, "--rule", "PUT-22", "-k", "xy_to_ and not key_8x8")
    red = {cell["name"] for cell in cells if cell["unexpected"]}
    assert status == 1
    assert red
    assert red == {cell["name"] for cell in cells if cell["verdict"] == "crashed"}
    for name in red:
        assert f"python -m conformance run '{name}'" in text
    assert "Asking a donated array whether it is deleted" in text


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda text: text.replace('touch = "is_deleted"', 'touch = "repr"'), "pins"),
        (lambda text: text.replace('signal = "SIGSEGV"', 'signal = "SIGBUS"'), "pins"),
        (lambda text: text.replace('cases = ["*_to_other4-', 'cases = ["*_to_*-'), "no longer applies"),
    ],
    ids=["other step", "other signal", "cells that hold"],
)
def test_a_waiver_that_does_not_hold_is_red(copy, change, says):
    edit(copy, change)
    status, text, cells, _ = judge(copy, "--rule", "PUT-22", "-k", "xy_to_")
    assert status == 1
    assert any(cell["unexpected"] for cell in cells)
    assert WAIVER in text
    assert says in " ".join(text.split())


def test_a_waiver_that_matches_no_case_is_red(copy):
    edit(
        copy,
        lambda text: re.sub(
            r'(?<=id = "PUT-31/view-of-one-shard"\nrule = "PUT-31"\n)cases = .*', 'cases = "*_to_nowhere-*"', text
        ),
    )
    status, text, _, gates = judge(copy, "--rule", "PUT-31")
    assert status == 1
    assert "PUT-31/view-of-one-shard" in text
    assert gates == ["unmatched waiver"]


def test_an_expired_waiver_is_red(copy):
    yesterday = datetime.date.today() - datetime.timedelta(days=1)
    edit(copy, lambda text: text.replace("expires = 2027-06-01", f"expires = {yesterday}"))
    status, text, cells, gates = judge(copy, "--rule", "PUT-22", "-k", "xy_to_")
    assert status == 1
    assert "expired" in text
    assert any(cell["unexpected"] for cell in cells) or "expired waiver" in gates
