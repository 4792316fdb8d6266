"""Faults, as far as the judge knows them: names of subjects that break rules on purpose, and the rules they break.

The package that holds a contract says in `MODEL` which subject keeps all of it, and in `FAULTS` which one is that with
a fault, `FAULTS:NAME`; the module of the latter has them in a table of its own, `FAULTS`. Without an argument that
subject is the model once more, and its cost names the steps it took that faults take wrongly; with a version of JAX as
its argument, it is the model of that contract.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from typing import Protocol

from impl.host import home

from .rules import Chapter, Contract
from .strict import Mistake


class Fault(Protocol):
    """One way to be wrong: the rules that it breaks, those that it breaks beside them, and the steps that it changes.

    Where the model takes none of these steps, the fault shows nothing; without any, it may show everywhere.
    """

    @property
    def name(self) -> str: ...
    @property
    def breaks(self) -> tuple[str, ...]: ...
    @property
    def also(self) -> tuple[str, ...]: ...
    @property
    def why(self) -> str: ...
    @property
    def contract(self) -> str: ...
    @property
    def where(self) -> str: ...
    @property
    def steps(self) -> frozenset[str]: ...


def table(package: str) -> Mapping[str, Fault] | None:
    """The faults of the contract in a package, by their names; None where it has no such subject.

    A `Mistake` about the first one that cannot be.
    """
    subject: str | None = getattr(import_module(package), "FAULTS", None)
    if subject is None:
        return None
    try:
        faults: Mapping[str, Fault] = import_module(home(subject) or subject).FAULTS
    except ValueError as error:
        raise Mistake(str(error)) from error
    return faults


def named(fault: Fault) -> tuple[str, ...]:
    """Every rule that a fault names."""
    return (*fault.breaks, *fault.also)


def unbroken(chapters: Iterable[Chapter], faults: Mapping[str, Fault]) -> Iterator[str]:
    """Rules that no fault breaks: whether their cases would find them broken, nobody knows."""
    broken = {rule for fault in faults.values() for rule in fault.breaks}
    for chapter in chapters:
        yield from (rule.id for rule in chapter.rule if rule.id not in broken)


def astray(contract: Contract, faults: Mapping[str, Fault]) -> Iterator[tuple[str, str]]:
    """Faults that name a rule which the contract has not, and that rule."""
    for fault in faults.values():
        yield from ((fault.name, rule) for rule in named(fault) if rule not in contract.rules)
