"""Everything about a rule from its id: the command, and that there is everything."""

import sys
from pathlib import Path

import pytest

from conformance.about import about, places
from conformance.kit.strict import Mistake
from tests import kit_toy

ROOT = Path(__file__).parents[1]


@pytest.fixture
def toy(tmp_path, monkeypatch, capsys):
    """What is printed about a rule of the toy suite."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("conformance.about.ROOT", tmp_path)
    faults = ["'mistaken', 'wrong', ('TOY-01',)", "'bent', 'sideways', ('TOY-04',), ('TOY-01',)"]
    kit_toy.write(tmp_path, "fine", "other", "crash", "calm", faults=faults, waivers=kit_toy.WAIVER)
    home = tmp_path / "toy" / "subject.py"
    home.write_text(home.read_text() + "\n\n    def rights(self):\n        '''Is right. TOY-01, TOY-010.'''\n")

    def toy(rule):
        assert about("toy", rule) == 0
        return capsys.readouterr().out

    yield toy
    for module in [name for name in sys.modules if name.partition(".")[0] == "toy"]:
        del sys.modules[module]


def test_all_about_a_rule(toy):
    assert toy("TOY-01") == (
        """\
TOY-01 MUST: A toy is right.
  why      Otherwise it is wrong.
  change   1 of 2024-10-01, toys; in force since 0.5
  sentence toy/contract/toy.toml:6
  expects  value = "right"
  cases    4 of test_acts (toy/test_toy.py:15): fine, other, crash, ...
  probe    toy.act (toy/probes/toy.py:4)
  model    toy/subject.py:45 Toy.rights
  fault    mistaken (toy/faults.py:1): It does something else.
  fault    bent (toy/faults.py:1): It does something else. (it breaks TOY-04,
           and this one beside)
"""
    )
    assert "waiver   TOY-02/crash of toy.subject >=0.5, crash: Toys break." in toy("TOY-02")
    assert '  expects  side = "left" (left) or side = "right" (right), where does = fine |\n' in toy("TOY-04")
    assert toy("toy-01") == toy("TOY-01")
    with pytest.raises(Mistake, match="there is no rule TOY-11; near it: TOY-01"):
        toy("toy-11")


def test_a_place_is_told_by_the_innermost_function_or_class(tmp_path):
    (tmp_path / "a.py").write_text("@f('A-01')\nclass B:\n    def c(self):\n        '''A-01.'''\n\nx = 'A-01 A-011'\n")
    assert [(Path(place).name, within) for place, within in places(tmp_path, "A-01")] == [
        ("a.py:1", "B"),
        ("a.py:4", "B.c"),
        ("a.py:6", "the module"),
    ]
