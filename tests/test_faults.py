"""Every fault of the model is found out by the rules that it names; every rule has a fault and a step of the model."""

import re
from contextlib import closing
from pathlib import Path

import pytest

import conformance
from conformance.about import source
from conformance.kit import rules
from conformance.kit.faults import astray, table, unbroken
from conformance.kit.kills import Matrix
from impl.model.model import Model

CONTRACT = rules.load(Path(conformance.__file__).parent / "contract")
FAULTS = table("conformance") or {}


@pytest.mark.parametrize("chapter", [it.chapter for it in CONTRACT.chapters.values()])
def test_every_fault_is_found_out_by_the_rules_that_it_names(chapter):
    faults = [it for it in FAULTS.values() if it.breaks[0].startswith(f"{chapter}-")]
    with closing(Matrix("conformance", faults, rest=8)) as matrix:
        wrong = {it.fault.name: it.wrong for it in matrix.run() if it.wrong}
        assert not matrix.broken
        assert not wrong
        assert not matrix.late()


def test_every_rule_has_a_fault_and_every_fault_a_rule():
    assert not list(unbroken(CONTRACT.chapters.values(), FAULTS))
    assert not list(astray(CONTRACT, FAULTS))


def test_every_rule_is_kept_by_a_step_of_the_model_that_names_it():
    text = "".join(path.read_text() for path in source("model").rglob("*.py"))
    chapters = "|".join(it.chapter for it in CONTRACT.chapters.values())
    assert set(re.findall(rf"\b(?:{chapters})-\d+\b", text)) ^ CONTRACT.rules.keys() == set()


def test_what_a_fault_changes_is_a_step_that_names_a_rule_which_it_breaks():
    """So a rule's step and its fault lead to each other."""
    told = {
        name: re.findall(r"[A-Z]+-\d+", " ".join(getattr(Model, step).__doc__ or "" for step in it.steps))
        for name, it in FAULTS.items()
        if it.steps  # a few change no step, but a class that users hold
    }
    assert not [name for name, ids in told.items() if set(ids).isdisjoint(FAULTS[name].breaks)]


def test_the_gate_holds_for_this_projects_own_contract():
    assert (conformance.MODEL, conformance.FAULTS) == ("model", "fault")
