"""The reading guide of the model: what it names is there."""

import re
from pathlib import Path

import pytest

from impl.model.model import Model

ROOT = Path(__file__).parents[1]
GUIDE = (ROOT / "docs" / "model.md").read_text()
FOLLOWED = GUIDE[GUIDE.index("## Follow an array") : GUIDE.index("## Faults")]
WORDS = {"x", "donate", "also", "Model", "jax.device_put"}
"""What is no step: variables, and names of JAX."""


def test_the_modules_that_it_names_are_there():
    named = set(re.findall(r"`(\w+\.py)`", FOLLOWED))
    assert len(named) > 15
    assert [name for name in named if not (ROOT / "impl" / "model" / name).exists()] == []


def test_the_steps_that_it_names_are_there():
    named = set(re.findall(r"`([a-z_]+)`", FOLLOWED)) - WORDS
    assert len(named) > 20
    assert [name for name in named if not callable(getattr(Model, name, None))] == []


def test_most_modules_of_the_model_are_met():
    modules = {path.name for path in (ROOT / "impl" / "model").glob("*.py")}
    values = {"avals.py", "keys.py", "layouts.py", "meshes.py", "positional.py", "specs.py", "texts.py", "values.py"}
    apart = {"__init__.py", "creation.py", "devices.py", "see.py", "subject.py", "words.py"}
    assert modules - set(re.findall(r"`(\w+\.py)`", FOLLOWED)) <= values | apart


@pytest.mark.parametrize("rule", re.findall(r"git grep .*?([A-Z]+-\d+)", GUIDE))
def test_one_search_finds_all_of_a_rule(rule):
    for place in (
        "conformance/contract",
        "conformance/test_put.py",
        "impl/model",
        "impl/faults",
        "conformance/waivers",
    ):
        path = ROOT / place
        files = sorted(path.rglob("*.[pt]*")) if path.is_dir() else [path]
        assert any(
            re.search(rf"\b{rule}\b", file.read_text()) for file in files if file.is_file() and file.suffix != ".pyc"
        )
