"""Cells: rule × case × configuration, laid out from the contract, a module's judgements and the columns of the run."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from impl.host import Request

from .cases import Case, Judgement
from .columns import Column, cell_name
from .rules import Chapter, Question, Rule
from .strict import Mistake
from .verdicts import lacking, references


@dataclass(frozen=True, slots=True)
class Look:
    """One case under one configuration: everything that shares one observation."""

    column: Column
    case: Case
    rules: tuple[Rule, ...]
    questions: tuple[Question, ...]
    request: Request = field(repr=False)

    def cells(self, chosen: Callable[[Rule], bool] = lambda rule: True) -> Iterable[Cell]:
        """The cells of the rules chosen."""
        return (self.cell(rule) for rule in self.rules if chosen(rule))

    def cell(self, rule: Rule) -> Cell:
        """One rule's share of the look."""
        hello, asked = self.column.hello, self.column.configuration
        obstacle = hello.problem
        if obstacle is None and self.case.devices > asked.devices:
            obstacle = f"the case needs {self.case.devices} devices, {asked.target} has {asked.devices}"
        name = cell_name(rule.id, self.request.id, self.column.name)
        return Cell(self, rule, name, obstacle, lacking(rule, self.case, hello.capabilities))


@dataclass(frozen=True, slots=True)
class Cell:
    """One rule's share of a look: the unit that gets a verdict.

    `obstacle` is the stated prerequisite that is missing, `lacking` what the API lacks for it; None where there is all.
    """

    look: Look
    rule: Rule
    name: str
    obstacle: str | None
    lacking: str | None

    @property
    def observable(self) -> bool:
        """Whether the cell's probe can run."""
        return self.obstacle is None and self.lacking is None


@dataclass(frozen=True)
class Layout:
    """A judgement spread over the columns of a run. `speaks` holds each case with the rules and questions about it."""

    name: str
    judgement: Judgement
    columns: tuple[Column, ...]
    rules: tuple[Rule, ...]
    speaks: tuple[tuple[Case, tuple[Rule, ...], tuple[Question, ...]], ...]

    def looks(self) -> Iterable[Look]:
        """By case, then configuration, so that all hosts have work; with the rules in force there."""
        probe, limit = self.judgement.probe, self.judgement.limit
        columns = [(it, {rule.id for rule in self.rules if rule.in_force(it.version)}) for it in self.columns]
        for case, rules, questions in self.speaks:
            id, data = case.id, case.data()
            for column, in_force in columns:
                there = tuple(rule for rule in rules if rule.id in in_force)
                yield Look(column, case, there, questions, Request(column.configuration, probe, id, data, limit))

    @cached_property
    def ids(self) -> dict[str, list[str]]:
        """The ids of the cases that each rule speaks of."""
        found: dict[str, list[str]] = {rule.id: [] for rule in self.rules}
        for case, rules, _ in self.speaks:
            id = case.id
            for rule in rules:
                found[rule.id].append(id)
        return found


def lay_out(
    chapter: Chapter | None, name: str, judgement: Judgement, columns: Sequence[Column], wide: bool = False
) -> Layout:
    """Spreads the judgement `test_NAME` of a chapter's module over columns; no chapter, no rules.

    Cases that are `wide` are left out unless they are asked for.
    """
    rules = tuple(rule for rule in chapter.rule if rule.cases == name) if chapter else ()
    questions = tuple(question for question in chapter.question if question.cases == name) if chapter else ()
    for case in itertools.islice(judgement.cases, 1):
        spoken = {rule.id: references(rule) for rule in rules} | {it.id: set(it.when) for it in questions}
        for id, names in spoken.items():
            if unknown := sorted(name for name in names if not hasattr(case, name)):
                has = f"{type(case).__name__} has {', '.join(_names(case))}"
                raise Mistake(f"{id} speaks of {unknown[0]}, which is nothing of its cases; {has}")
    return Layout(
        name,
        judgement,
        tuple(columns),
        rules,
        tuple(
            (case, _speaking(rules, case), _speaking(questions, case))
            for case in judgement.cases
            if wide or not case.wide
        ),
    )


def _speaking(entries: Iterable[Any], case: Case) -> tuple[Any, ...]:
    return tuple(it for it in entries if all(globs.match(getattr(case, key)) for key, globs in it.when.items()))


def _names(case: Case) -> list[str]:
    """Fields and properties of a case."""
    return [name for name in dir(case) if not name.startswith("_") and name not in ("data", "devices", "needs", "wide")]
