"""The kill matrix, on a toy: which faults are found out, by what, and what is said of those that are not."""

import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from conformance import faults as command
from conformance.kit import kills
from conformance.kit.faults import table
from conformance.kit.strict import Mistake
from impl.faults import fault, find
from tests import kit_toy

ROOT = Path(__file__).parents[1]
AT = "@toy.faults.{}-1.0-cpu8-shardy"


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """Writes the toy suite with faults, given as (name, does, breaks, also)."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("TOY_LOG", str(tmp_path / "log"))

    def write(*faults, cases=("fine", "other", "calm")):
        kit_toy.write(tmp_path, *cases, faults=[", ".join(map(repr, it)) for it in faults])
        return "toy"

    yield write
    for module in [name for name in sys.modules if name.partition(".")[0] == "toy"]:
        del sys.modules[module]


def hunt(package, whole=False, rest=1):
    with closing(kills.Matrix(package, (table(package) or {}).values(), whole, rest)) as matrix:
        found = {it.fault.name: it for it in matrix.run()}
        assert matrix.late() == {}
        return matrix, found


def test_of_what_no_rule_that_it_names_speaks_of_one_in_so_many_is_observed_others_for_each_fault(toy):
    bent = [(name, "sideways", ("TOY-04",)) for name in ("bent", "askew")]
    package = toy(*bent, cases=("fine", "other", "calm", "mild", "quiet", "still"))
    _, all_of_it = hunt(package)
    assert [it.observed for it in all_of_it.values()] == [6, 6]
    _, found = hunt(package, rest=3)
    assert [it.observed for it in found.values()] == [3, 4], "fine and other, and of the rest: mild; calm and still"
    assert [it.cells for it in found.values()] == [it.cells for it in all_of_it.values()]


def test_a_fault_is_found_out_in_the_fields_of_the_rules_that_it_names(toy):
    matrix, found = hunt(
        toy(
            ("mistaken", "wrong", ("TOY-01",)),
            ("deadly", "crash", ("TOY-02",)),
            ("bent", "sideways", ("TOY-04",)),
            ("more", "wrong", ("TOY-01",)),
        )
    )
    assert matrix.broken == []
    assert [name for name, it in found.items() if it.wrong] == []
    cells = [f"TOY-01[{case}]{AT.format('mistaken')}" for case in ("fine", "other", "calm")]
    assert found["mistaken"].cells == {"TOY-01": cells}
    assert found["deadly"].cells.keys() == {"TOY-02"}, "what was noted before the crash is as it should be"
    assert found["bent"].cells.keys() == {"TOY-04"}


def test_what_a_fault_says_of_itself_has_to_be_so(toy):
    _, found = hunt(
        toy(
            ("harmless", "fine", ("TOY-01",)),
            ("stale", "wrong", ("TOY-01",), ("TOY-02",)),
            ("secret", "wrong", ("TOY-02",)),
            ("elsewhere", "raise", ("TOY-01",)),
            ("unseen", "wrong", ("TOY-05",), ("TOY-01",)),
        )
    )
    assert {name: it.wrong for name, it in found.items()} == {
        "harmless": ["not found out by TOY-01"],
        "stale": ["does not break, as it says, TOY-02"],
        "secret": ["not found out by TOY-02", "breaks, and does not say so, TOY-01"],
        "elsewhere": ["not found out by TOY-01", "breaks, and does not say so, TOY-02, TOY-04"],
        "unseen": ["not found out by TOY-05"],
    }


def test_an_exception_before_a_rules_field_was_seen_is_no_contradiction(toy, tmp_path):
    package = toy(("early", "raise", ("TOY-03",)), cases=("fine",))
    home = tmp_path / "toy" / "contract" / "toy.toml"
    home.write_text(home.read_text().replace('since = "2.0"', 'since = "0.5"'))
    _, found = hunt(package)
    assert found["early"].survived == ["TOY-03"]


def test_a_fault_of_an_older_contract_is_judged_by_the_rules_that_are_in_force_there(toy, tmp_path):
    package = toy(("old", "wrong", ("TOY-01",)), ("new", "wrong", ("TOY-01",)), cases=("fine",))
    home, rules = tmp_path / "toy" / "faults.py", tmp_path / "toy" / "contract" / "toy.toml"
    home.write_text(home.read_text().replace("('TOY-01',))", "('TOY-01',), contract='0.9')", 1))
    text = 'id = "TOY-01"\ntext = "A toy is right."\nwhy = "Otherwise it is wrong."\nchange = 1\nsince = "0.5"'
    rules.write_text(rules.read_text().replace(text, f'{text}\nuntil = "1.0"', 1))
    matrix, found = hunt(package)
    assert matrix.broken == []
    assert found["old"].cells == {"TOY-01": ["TOY-01[fine]@toy.faults.old-0.9-cpu8-shardy"]}
    assert found["new"].wrong == ["not found out by TOY-01"], "it is no longer in force"


def test_a_fault_that_hangs(toy, monkeypatch):
    monkeypatch.setattr(kills, "PATIENCE", 0.3)
    _, found = hunt(toy(("stuck", "stall", ("TOY-02",)), cases=("fine",)))
    assert found["stuck"].wrong == []


def test_a_fault_that_always_hangs_or_dies_is_given_up_and_the_others_are_judged(toy, monkeypatch):
    monkeypatch.setattr(kills, "PATIENCE", 0.3)
    monkeypatch.setitem(kills.ENOUGH, "crashed", ("dies", 2))
    faults = (("stuck", "stall", ("TOY-05",)), ("deadly", "crash", ("TOY-05",)), ("mistaken", "wrong", ("TOY-01",)))
    _, found = hunt(toy(*faults, cases=("fine", "other", "calm", "more", "still")))
    assert found["stuck"].wrong == [f"hangs at TOY-01[calm]{AT.format('stuck')}; given up after 3 observations"]
    assert found["deadly"].wrong == [f"dies at TOY-01[other]{AT.format('deadly')}; given up after 2 observations"]
    assert (found["mistaken"].wrong, found["mistaken"].observed) == ([], 5)


def test_a_model_that_hangs_is_given_up(toy, monkeypatch):
    monkeypatch.setattr(kills, "PATIENCE", 0.3)
    monkeypatch.setitem(kills.ENOUGH, "hung", ("hangs", 1))
    with pytest.raises(Mistake, match="the model hangs in 1 cases, such as stall: given up"):
        hunt(toy(("mistaken", "wrong", ("TOY-01",)), cases=("fine", "stall", "other")))


def test_a_fault_that_cannot_be_judged_is_a_problem_of_its_own(toy, tmp_path):
    package = toy(("mistaken", "wrong", ("TOY-01",)), ("broken", "wrong", ("TOY-01",)))
    home = tmp_path / "toy" / "faults.py"
    home.write_text(home.read_text().replace("    toy = Toy(", "    assert name != 'broken', 'no'\n    toy = Toy("))
    _, found = hunt(package)
    assert found["mistaken"].wrong == []
    problem = "it cannot be judged: subject toy.faults:broken does not start: AssertionError: no"
    assert found["broken"].wrong == [problem]


def test_a_model_that_does_not_keep_its_contract(toy, capsys):
    package = toy(("deadly", "crash", ("TOY-02",)), cases=("fine", "wrong"))
    assert command.faults(package, [], False) == 1
    out = capsys.readouterr().out
    assert "THE MODEL deviates in 1 of its cells, such as TOY-01[wrong]@toy.subject-1.0-cpu8-shardy" in out.replace(
        "\n ", ""
    )
    assert "1 of 1 faults are as they say" in out


def test_what_is_printed(toy, capsys):
    package = toy(("mistaken", "wrong", ("TOY-01",)), ("secret", "wrong", ("TOY-02",)))
    assert command.faults(package, [], True) == 1
    said = capsys.readouterr()
    assert max(map(len, said.out.splitlines())) <= 80
    assert said.out.rpartition(" cells and ")[0] == (
        """\
mistaken
  by       TOY-01       3  fine
secret
  SURPRISE TOY-01       3  fine
  NOT AS IT SAYS: not found out by TOY-02
  NOT AS IT SAYS: breaks, and does not say so, TOY-01

1 of 2 faults are as they say, in 6"""
    )
    assert said.err.splitlines()[2:] == [
        "[1/2] mistaken: found out, 3 observations",
        "[2/2] secret: NOT as it says, 3 observations",
    ]
    assert command.faults(package, ["mistaken"], False) == 0
    assert command.listed(package, []) == 0
    assert capsys.readouterr().out.endswith("secret: TOY-02\n    It does something else.\n")
    with pytest.raises(Mistake, match="there is no fault mistake; near it: mistaken; --list lists them all"):
        command.faults(package, ["mistake"], False)
    with pytest.raises(Mistake, match="there is no fault ''; near it: none"):
        command.faults(package, [""], False)


def test_a_fault_that_is_written_wrongly_is_one_line(toy, tmp_path):
    package = toy(("mistaken", "wrong", ("TOY-01",)))
    home = tmp_path / "toy" / "faults.py"
    home.write_text(home.read_text() + "\n\nraise ValueError('fault bent names TOY-01 twice')\n")
    with pytest.raises(Mistake, match="fault bent names TOY-01 twice"):
        command.listed(package, [])


def test_the_registry_of_faults(monkeypatch):
    monkeypatch.setattr("impl.faults.FAULTS", {})

    CopyIsAlias: Any = type("CopyIsAlias", (), {"__doc__": "A copy shares\n    its memory."})  # noqa: N806
    assert fault("PUT-01", also=["PUT-02"])(CopyIsAlias) is CopyIsAlias
    it = find("copy_is_alias")
    assert (it.breaks, it.also, it.model) == (("PUT-01",), ("PUT-02",), CopyIsAlias)
    assert it.why == "A copy shares its memory."
    with pytest.raises(LookupError, match="there is no fault copy_is; near it: copy_is_alias; python -m conformance"):
        find("copy_is")
    for names, also, docs in ((("PUT-01",), (), "w"), (("PUT-01", "PUT-01"), (), "x"), ((), (), "y"), (("A",), (), "")):
        with pytest.raises(ValueError, match="fault "):
            fault(*names, also=also)(type("CopyIsAlias" if docs == "w" else "Other", (), {"__doc__": docs}))
