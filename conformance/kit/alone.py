"""One cell, without pytest, on the user's own terminal."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from pathlib import Path

from impl.host import Configuration, Hello, Outcome, Request, foreground

from . import rules, waivers
from .cases import Case, Judgement
from .cells import Layout, Look, lay_out
from .columns import PARTITIONERS, CellName, Column, parse, target_problem
from .explain import explain
from .options import executable, holder, holds_jax, subject_problem
from .rules import Contract, Rule
from .run import Result, unobserved
from .strict import Mistake
from .verdicts import HELD, judge, known

Take = Callable[[Configuration, Request, str], tuple[Hello, Outcome]]
"""Takes one observation: a request of a configuration, with the package that holds its probe."""


def run(package: str, name: str, python: str, subject: str | None = None) -> int:
    """Judges the cell of that name and says what was seen; 0 where it is as the contract or a waiver says, else 1."""
    result, outcome = find(package, name, python, subject, _on_this_terminal)
    _say(result, outcome)
    waived = result.ruling.waiver is not None and not result.ruling.unexpected
    return 0 if waived or (result.ruling.judged.verdict in HELD and not result.ruling.unexpected) else 1


def find(package: str, name: str, python: str, subject: str | None, take: Take) -> tuple[Result, Outcome]:
    """The cell of that name, judged, with all that was observed; a `Mistake` where there is no such cell."""
    contract, allowed = _suite(package)
    asked = parse(name)
    if asked is None:
        raise Mistake(f"{name} is no cell name; one is PUT-04[CASE]@stock-0.10.2-cpu8-shardy, CASE a case's id")
    if wrong := target_problem(asked.target):
        raise Mistake(f"{name}: its target, {asked.target}, is wrong: {wrong}")
    if asked.partitioner not in PARTITIONERS:
        raise Mistake(f"{name}: its partitioner, {asked.partitioner}, is none of {', '.join(PARTITIONERS)}")
    subject = subject or asked.subject
    if wrong := subject_problem(subject):
        raise Mistake(f"subject {subject}: {wrong}")
    rule, layout = _find(package, contract, asked)
    case, together, questions = _case(layout, rule, asked.case)
    configuration = Configuration(subject, holder(subject, executable(python)), asked.target, asked.partitioner)
    judgement = layout.judgement
    request = Request(configuration, judgement.probe, case.id, case.data(), judgement.limit)
    hello, outcome = take(configuration, request, f"{package}.probes")
    column = Column(configuration, hello)
    if hello.problem is None and column.spelled != asked.version and subject == asked.subject:
        here = f"{python} has {column.spelled}: give --subject-python"
        kept = f"{subject} keeps the contract of {column.spelled}"
        raise Mistake(f"the cell is of version {asked.version}, {here if holds_jax(subject) else kept}")
    there = tuple(it for it in together if it.in_force(column.version))
    if rule not in there:
        raise Mistake(f"{rule.id} is not in force in {column.version}: since {rule.since}, until {rule.until or 'now'}")
    cell = Look(column, case, there, questions, request).cell(rule)
    if not cell.observable:
        judged, seen = unobserved(cell), None
    else:
        judged, seen = judge(((it, case) for it in there), outcome, hello.capabilities)[rule.id], outcome
    return Result(cell, allowed.rule(rule, case.id, column, judged), seen), outcome


@cache
def _suite(package: str) -> tuple[Contract, waivers.Waivers]:
    folder = Path(import_module(package).__path__[0])
    contract = rules.load(folder / "contract")
    return contract, waivers.load(folder / "waivers", contract)


def _on_this_terminal(configuration: Configuration, request: Request, probes: str) -> tuple[Hello, Outcome]:
    print("no time limit here; the third Ctrl-C ends a probe that is stuck", file=sys.stderr, flush=True)
    return foreground(configuration, request, probes=probes)


def _find(package: str, contract: Contract, asked: CellName) -> tuple[Rule, Layout]:
    """The rule that a cell's name says, with the cases of its judgement."""
    rule = contract.rules.get(asked.rule)
    if rule is None:
        raise Mistake(f"there is no rule {asked.rule}; near it: {_near(asked.rule, contract.rules)}")
    stem, chapter = next((stem, it) for stem, it in contract.chapters.items() if it.chapter == rule.chapter)
    judgement = getattr(import_module(f"{package}.test_{stem}"), f"test_{rule.cases}", None)
    if not isinstance(judgement, Judgement):
        raise Mistake(f"{rule.id} has no cases: test_{stem}.py has no test_{rule.cases} = judge(...)")
    return rule, lay_out(chapter, rule.cases, judgement, [], wide=True)


def _case(layout: Layout, rule: Rule, id: str) -> tuple[Case, tuple[Rule, ...], tuple[rules.Question, ...]]:
    spoken = {case.id: (case, together, asking) for case, together, asking in layout.speaks if rule in together}
    if id not in spoken:
        raise Mistake(f"{rule.id} has no case {id}; near it: {_near(id, spoken)}")
    return spoken[id]


def _near(name: str, names: Iterable[str]) -> str:
    names = list(names)
    return ", ".join(get_close_matches(name, names, 3, 0.4) or names[:3]) or "none"


def _say(result: Result, outcome: Outcome) -> None:
    print()
    for field, value in known(outcome).items():
        print(f"{field} = {json.dumps(value)}")
    print(f"\n{explain(result)}", flush=True)
