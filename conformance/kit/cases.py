"""Cases: points of a rule's parameter space, enumerated exhaustively, each with a readable, stable id."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields
from functools import cache, cached_property
from typing import Any, Generic, TypeVar

C = TypeVar("C", bound="Case")
_fields: Callable[[Any], tuple[str, ...]] = cache(lambda kind: tuple(field.name for field in fields(kind)))


@dataclass(frozen=True)
class Case:
    """Derive a frozen dataclass; its fields are what the probe is given. Properties may serve `when` and `@expect`."""

    @property
    def id(self) -> str:
        """The fields, in order; a class may say it better, as long as ids stay unique and never change."""
        return "-".join(str(value) for value in self.data().values())

    @property
    def devices(self) -> int:
        """How many devices the case needs; on a target with fewer its cells do not run, which makes the run red."""
        return 1

    @property
    def needs(self) -> tuple[str, ...]:
        """Capabilities that the case needs beside those of its rules; without one its cells are `unsupported`."""
        return ()

    @property
    def wide(self) -> bool:
        """Whether the case is one of a product too large for every run: it has cells only with --wide."""
        return False

    def data(self) -> dict[str, Any]:
        """The fields as the probe gets them."""
        return {name: getattr(self, name) for name in _fields(type(self))}


class Four(Case):
    """A case of four devices."""

    @property
    def devices(self) -> int:
        return 4


class Eight(Case):
    """A case of eight devices."""

    @property
    def devices(self) -> int:
        return 8


class Cases(Generic[C]):
    """An ordered set of cases of one class."""

    def __init__(self, kind: type[C], cases: Iterable[C]) -> None:
        self.kind = kind
        self._cases = tuple(cases)

    @cached_property
    def by_id(self) -> dict[str, C]:
        """The cases by their ids, of which each is well formed and there once, or a ValueError."""
        found: dict[str, C] = {}
        for case in self._cases:
            id = case.id
            if not re.fullmatch(r"[A-Za-z0-9_.+-]+", id):
                raise ValueError(f"{self.kind.__name__} id {id!r}: use only letters, digits and _ . + - in ids")
            if id in found:
                raise ValueError(f"{found[id]} and {case} share the id {id}; tell them apart in it")
            found[id] = case
        return found

    def where(self, holds: Callable[[C], bool]) -> Cases[C]:
        """Those cases for which `holds` is true."""
        return Cases(self.kind, filter(holds, self._cases))

    def __iter__(self) -> Iterator[C]:
        return iter(self.by_id.values())

    def __len__(self) -> int:
        return len(self.by_id)


def every(kind: type[C], **values: Iterable[Any]) -> Cases[C]:
    """Every combination of the values given for each field, the last field varying fastest."""
    names = _fields(kind)
    if wrong := ", ".join(sorted(set(values) ^ set(names))):
        wanted = f"every({kind.__name__}) wants values for {', '.join(names)}"
        raise ValueError(f"{wanted}; {wrong} is missing or unknown")
    return Cases(kind, itertools.starmap(kind, itertools.product(*(values[name] for name in names))))


@dataclass(frozen=True)
class Judgement:
    """Cases and the probe that observes them. Assigned to `test_NAME`; the rules with `cases = "NAME"` judge it."""

    probe: str
    cases: Cases[Any]
    limit: float = math.inf


def judge(*, probe: str, cases: Cases[Any], limit: float = math.inf) -> Judgement:
    """Holds `cases`, observed by `probe` (MODULE.FUNCTION in conformance/probes), to the rules that name them.

    `limit`: seconds, less than --cell-timeout, after which an observation that may hang is called hung.
    """
    if not limit > 0:
        raise ValueError(f"limit {limit}: give seconds above 0")
    len(cases)  # which looks at the ids, here, where a traceback says whose they are
    return Judgement(probe, cases, limit)
