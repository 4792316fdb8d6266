"""What a run is asked for: checked at once, each mistake in one line that names the way out."""

import os
import shutil
import sys
from pathlib import Path

import pytest

from conformance.kit.options import options
from conformance.kit.rules import Chapter, Contract, Rule
from conformance.kit.strict import Mistake

RULES = {id: Rule(id, "t", "w", 1, "0.4", "puts", expect={"a": 1}) for id in ("PUT-01", "PUT-02", "ORD-01")}
CHAPTERS = ("ORD", "PUT", "KEY")


def ask(**more):
    given = {"subjects": ["stock"], "pythons": [], "target": "cpu:8", "partitioner": "both", "rules": []}
    limits = {"cell_timeout": 60.0, "hosts": 1, "record": Path("a.jsonl")}
    chapters = {it: Chapter(it, "t", tuple(rule for rule in RULES.values() if rule.chapter == it)) for it in CHAPTERS}
    return options(Contract(chapters, (), RULES), **{**given, **limits, **more})


def test_the_default_is_jax_and_the_model_in_this_python_under_both_partitioners():
    asked = ask(subjects=[])
    assert [(it.subject, it.python, it.partitioner) for it in asked.configurations] == [
        ("stock", sys.executable, "shardy"),
        ("stock", sys.executable, "gspmd"),
        ("model", sys.executable, "shardy"),
        ("model", sys.executable, "gspmd"),
    ]
    assert asked.chosen("PUT-01")


def test_subjects_without_jax_stay_in_this_python_and_are_judged_once():
    others = [sys.executable, *filter(None, map(shutil.which, ("true", "false")))]
    asked = ask(subjects=["stock", "model", "my.module:2"], pythons=others, partitioner="gspmd")
    assert [(it.subject, it.python) for it in asked.configurations] == [
        *(("stock", python) for python in others),
        ("model", sys.executable),
        *(("my.module:2", python) for python in others),
    ]


@pytest.mark.parametrize("version", ["0.4.32", "0.10.2", "0.12.0", "0.12.0.1"])
def test_the_model_keeps_the_contract_as_of_a_version(version):
    assert ask(subjects=[f"model:{version}"]).configurations[0].argument == version


def test_rules_are_chosen_by_pattern():
    asked = ask(rules=["PUT-*2", "ORD-01"])
    assert [rule for rule in RULES if asked.chosen(rule)] == ["PUT-02", "ORD-01"]


def test_a_python_is_found_by_path_or_name_and_stays_the_link_that_it_is(tmp_path, monkeypatch):
    (tmp_path / "python-x").symlink_to(sys.executable)
    monkeypatch.chdir(tmp_path)
    assert ask(pythons=["./python-x"], partitioner="shardy").configurations[0].python == str(tmp_path / "python-x")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    assert ask(pythons=["python-x"]).configurations[0].python == str(tmp_path / "python-x")


@pytest.mark.parametrize(
    ("asked", "complaint"),
    [
        (
            {"rules": ["PUT-9*"]},
            "--rule PUT-9*: no rule of the contract matches; there are ORD-01 to ORD-01 and PUT-01 to PUT-02; repeat",
        ),
        ({"rules": ["put-0*"]}, "--rule put-0*: no rule of the contract matches; write PUT-0*"),
        ({"target": "gpu"}, "--target gpu: unknown; give cpu:N, such as cpu:8"),
        ({"target": "cpu:0"}, "--target cpu:0: unknown"),
        ({"partitioner": "all"}, "--partitioner all: unknown; give shardy, gspmd or both"),
        ({"subjects": ["a-b"]}, "--subject a-b: give a name such as stock"),
        ({"subjects": ["model:"]}, "--subject model:: give a name such as stock"),
        ({"subjects": ["model:0-8"]}, "--subject model:0-8: give a name such as stock"),
        ({"subjects": ["a" * 300]}, "give a name such as stock"),
        ({"subjects": ["a", "b", "a"]}, "--subject a is given twice; give each subject once"),
        ({"subjects": ["fault"]}, "--subject fault: which one? write fault:NAME; python -m conformance faults --list"),
        ({"subjects": ["fault:no_such"]}, "--subject fault:no_such: there is no fault no_such; python -m conformance"),
        ({"subjects": ["impl.faults:no_such"]}, "--subject impl.faults:no_such: there is no fault no_such; python -m"),
        ({"subjects": ["stock:x"]}, "--subject stock:x: stock takes no argument: got stock:x"),
        *(
            ({"subjects": [f"model:{it}"]}, f"model:{it}: no contract of {it}: name a version of JAX from 0.4.32 to")
            for it in ("0.3.0", "0.4.31", "0.12.1", "99.0.0", "00.12.0", "0.12.00", "0.12.0.0", "0.12", "1", "nonsense")
        ),
        ({"pythons": ["/no/python"]}, "--subject-python /no/python: there is no such program"),
        ({"pythons": [sys.executable, sys.executable]}, "is given twice"),
        ({"target": "cpu:1\u0663"}, "unknown; give cpu:N, such as cpu:8"),
        ({"target": "cpu:4097"}, "--target cpu:4097: too many devices; give at most cpu:4096"),
        ({"target": "cpu:" + "9" * 5000}, "too many devices"),
        ({"cell_timeout": float("nan")}, "--cell-timeout wants seconds above 0"),
        ({"cell_timeout": float("inf")}, "--cell-timeout wants seconds above 0"),
        ({"hosts": 0}, "--hosts at least 1"),
        ({"cell_timeout": 0.0}, "--cell-timeout wants seconds above 0"),
    ],
)
def test_what_cannot_be_is_one_line(asked, complaint):
    with pytest.raises(Mistake) as told:
        ask(**asked)
    assert complaint in str(told.value)
    assert "\n" not in str(told.value)
