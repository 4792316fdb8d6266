"""Cells: rule × case × configuration, laid out from the contract, a module's judgements and the columns of the run."""

from __future__ import annotations

import itertools
from collections import Counter
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
        return Cell(self, rule, cell_name(rule.id, self.request.id, self.column.name))


@dataclass(frozen=True, slots=True)
class Cell:
    """One rule's share of a look: the unit that gets a verdict."""

    look: Look
    rule: Rule
    name: str

    @property
    def lacking(self) -> str | None:
        """What the API lacks for it, or None."""
        return lacking(self.rule, self.look.case, self.look.column.hello.capabilities)


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
        for case, rules, questions in self.speaks:
            data = case.data()
            for column in self.columns:
                there = tuple(rule for rule in rules if rule.in_force(column.version))
                request = Request(column.configuration, self.judgement.probe, case.id, data, self.judgement.limit)
                yield Look(column, case, there, questions, request)

    @cached_property
    def counts(self) -> Counter[str]:
        """How many cases each rule speaks of."""
        return Counter(rule.id for _, rules, _ in self.speaks for rule in rules)


def lay_out(chapter: Chapter | None, name: str, judgement: Judgement, columns: Sequence[Column]) -> Layout:
    """Spreads the judgement `test_NAME` of a chapter's module over columns; no chapter, no rules."""
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
        tuple((case, _speaking(rules, case), _speaking(questions, case)) for case in judgement.cases),
    )


def _speaking(entries: Iterable[Any], case: Case) -> tuple[Any, ...]:
    return tuple(it for it in entries if all(globs.match(getattr(case, key)) for key, globs in it.when.items()))


def _names(case: Case) -> list[str]:
    """Fields and properties of a case."""
    return [name for name in dir(case) if not name.startswith("_") and name not in ("data", "devices", "needs")]
