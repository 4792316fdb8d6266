"""The kill matrix: each fault meets the cases of the chapters that it names, and the rules that it names find it out.

What a fault shows is laid beside what the model shows without it. Where the model takes none of the steps that a fault
takes wrongly, there is nothing to observe; where both show the same, nothing to judge.
"""

from __future__ import annotations

import math
import sys
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path

from impl.host import Configuration, Outcome, Pool, Request

from . import rules
from .cases import Case, Judgement
from .cells import lay_out
from .columns import Column, cell_name
from .faults import Fault, named
from .rules import Rule
from .strict import Mistake
from .verdicts import DEVIATING, HELD, Judged, agrees, judge, known, legal

TARGET, PARTITIONER = "cpu:8", "shardy"
AHEAD = 2  # faults that have hosts beside the one that is judged
PATIENCE = 30.0  # seconds after which a fault is called hung
ENOUGH = {"hung": ("hangs", 3), "crashed": ("dies", 30)}
"""What is given up when it was done so often, for each time takes long."""


@dataclass
class Sight:
    """One observation of the model, which keeps all rules, and the rules that speak of it."""

    request: Request
    spoken: dict[str, tuple[Rule, Case]] = field(default_factory=dict)
    chapters: set[str] = field(default_factory=set)
    facts: object = None
    held: frozenset[str] = frozenset()
    steps: frozenset[str] = frozenset()

    @property
    def contract(self) -> str:
        """The version of JAX whose contract the model keeps here; none is the newest."""
        return self.request.configuration.argument or ""

    def of(self, fault: Fault) -> bool:
        """Whether a fault may show here."""
        chapters = {chapter_of(rule) for rule in named(fault)}
        return not chapters.isdisjoint(self.chapters) and (not fault.steps or not fault.steps.isdisjoint(self.steps))


@dataclass
class Found:
    """What came of one fault: by rule, the cells that do not hold with it and do without, those in its field first."""

    fault: Fault
    cells: dict[str, list[str]] = field(default_factory=dict)
    killed: set[str] = field(default_factory=set)
    observed: int = 0
    problems: list[str] = field(default_factory=list)
    """What is wrong beside the rules."""
    given_up: str | None = None
    """Why it was not judged to the end: what was not found is not known."""
    ended: Counter[str] = field(default_factory=Counter)
    """How often its hosts were hung, crashed, ..., where the model's was not."""

    @property
    def survived(self) -> list[str]:
        """Rules that it is to break and that do not find it out in a field of theirs."""
        return [rule for rule in self.fault.breaks if rule not in self.killed]

    @property
    def stale(self) -> list[str]:
        """Rules that are said to be broken beside them and are not."""
        return [rule for rule in self.fault.also if rule not in self.cells]

    @property
    def surprises(self) -> list[str]:
        """Rules that it breaks and does not name."""
        return sorted(self.cells.keys() - set(named(self.fault)))

    @property
    def wrong(self) -> list[str]:
        """Everything that is not as the fault says, each in a line."""
        if self.given_up is not None:
            return [self.given_up, *self.problems]
        told = [(self.survived, "not found out by"), (self.stale, "does not break, as it says,")]
        told += [(self.surprises, "breaks, and does not say so,")]
        return self.problems + [f"{what} {', '.join(ids)}" for ids, what in told if ids]


@dataclass(frozen=True)
class Hunt:
    """A fault that is being observed: what is asked of it."""

    found: Found
    configuration: Configuration
    sights: dict[Request, Sight]


class Matrix:
    """The model as observed once, and the faults of it that are laid beside it."""

    def __init__(self, package: str, faults: Iterable[Fault], whole: bool = False, rest: int = 1) -> None:
        """For these faults, in the chapters that they name; `whole`: in all that there are.

        Observations that no rule speaks of which a fault names can only show a surprise: one in `rest` is taken, others
        for each fault.
        """
        self.package, self.faults, self.whole, self.rest = package, tuple(faults), whole, rest
        self.contract = rules.load(Path(import_module(package).__path__[0]) / "contract")
        self.pool = Pool(probes=f"{package}.probes", cell_timeout=PATIENCE)
        self.configuration = Configuration(self._subject("FAULTS"), sys.executable, TARGET, PARTITIONER)
        try:
            self.columns: dict[str, Column] = {}
            """The model, by the contract that it keeps: the newest, and those that faults ask for."""
            self.sights: dict[Request, Sight] = {}
            for contract in dict.fromkeys(["", *(fault.contract for fault in self.faults)]):
                self.columns[contract] = self._open(contract)
                self.sights |= self._sights(contract)
            self.broken = self._observe()
            """Cells that the model itself does not keep."""
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Ends what still runs."""
        self.pool.kill()

    def run(self) -> Iterator[Found]:
        """What comes of each fault."""
        hunts = deque[Hunt]()
        for fault in self.faults:
            hunts.append(self._hunt(fault))
            self.pool.want(hunts[-1].sights)
            if len(hunts) > AHEAD:
                yield self._found(hunts.popleft())
        while hunts:
            yield self._found(hunts.popleft())

    def late(self) -> dict[str, list[str]]:
        """Ends the hosts in order: by fault, what its hosts did when all seemed over."""
        self.pool.close()
        told = [
            (request.configuration, f"its host died after {request.probe} of {request.id} had ended")
            for request, _ in self.pool.late()
        ]
        told += [(it.configuration, it.what) for it in self.pool.incidents()]
        found: dict[str, list[str]] = {}
        for configuration, what in told:
            found.setdefault(configuration.argument or "", []).append(what)
        return found

    def _subject(self, kind: str) -> str:
        subject: str = getattr(import_module(self.package), kind)
        return subject

    def _open(self, contract: str) -> Column:
        asked = self._of(contract)
        model = f"{self._subject('MODEL')}{f':{contract}' if contract else ''}"
        column = Column(replace(asked, subject=model), self.pool.open(asked))
        if column.hello.problem is not None:
            raise Mistake(f"the model cannot be judged: {column.hello.problem}")
        return column

    def _of(self, argument: str) -> Configuration:
        """The faults' subject with an argument."""
        return replace(self.configuration, subject=f"{self.configuration.subject}{f':{argument}' if argument else ''}")

    def _sights(self, contract: str) -> dict[Request, Sight]:
        """Every observation to take of the model, which keeps that contract, with all rules that speak of it."""
        faults = [fault for fault in self.faults if fault.contract == contract]
        chapters = {chapter_of(rule) for fault in faults for rule in named(fault)}
        column, asked = self.columns[contract], self._of(contract)
        sights: dict[Request, Sight] = {}
        for stem, chapter in self.contract.chapters.items():
            if not self.whole and chapter.chapter not in chapters:
                continue
            for name, judgement in vars(import_module(f"{self.package}.test_{stem}")).items():
                if isinstance(judgement, Judgement):
                    for look in lay_out(chapter, name.removeprefix("test_"), judgement, [column]).looks():
                        if cells := [cell for cell in look.cells() if cell.observable]:
                            request = replace(look.request, configuration=asked)
                            sight = sights.setdefault(request, Sight(request))
                            sight.spoken.update({cell.rule.id: (cell.rule, look.case) for cell in cells})
                            sight.chapters.add(chapter.chapter)
        return sights

    def _observe(self) -> list[str]:
        """Observes the model; the names of cells that do not hold."""
        self.pool.want(self.sights)
        broken = []
        ended = Counter[str]()
        for request, sight in self.sights.items():
            outcome = self.pool.take(request)
            if does := _too_often(ended, outcome):
                raise Mistake(f"the model {does} in {ended[outcome.status]} cases, such as {request.id}: given up")
            judged = self._judge(sight, outcome)
            sight.facts, sight.steps = _facts(outcome), frozenset(outcome.cost)
            sight.held = frozenset(rule for rule, it in judged.items() if it.verdict in HELD)
            name = self.columns[sight.contract].name
            broken += [cell_name(rule, request.id, name) for rule in judged if rule not in sight.held]
        for contract in self.columns:
            self.pool.leave(self._of(contract))
        return broken

    def _hunt(self, fault: Fault) -> Hunt:
        it = self._of(fault.name)
        there = (sight for sight in self.sights.values() if sight.contract == fault.contract)
        within = [sight for sight in there if self.whole or sight.of(fault)]
        first = self.faults.index(fault)
        asked = [
            sight
            for place, sight in enumerate(within, first)
            if place % self.rest == 0 or not sight.spoken.keys().isdisjoint(named(fault))
        ]
        return Hunt(Found(fault), it, {replace(sight.request, configuration=it): sight for sight in asked})

    def _found(self, hunt: Hunt) -> Found:
        if (problem := self.pool.open(hunt.configuration).problem) is not None:
            hunt.found.given_up = f"it cannot be judged: {problem}"
        for request, sight in hunt.sights.items():
            if hunt.found.given_up is not None:
                break
            self._lay(hunt, sight, self.pool.take(request))
        self.pool.leave(hunt.configuration)
        return hunt.found

    def _lay(self, hunt: Hunt, sight: Sight, outcome: Outcome) -> None:
        """Lays what a fault shows beside what the model shows."""
        found = hunt.found
        found.observed += 1
        if _facts(outcome) == sight.facts:
            return
        column = replace(self.columns[sight.contract], configuration=hunt.configuration).name
        for id, judged in self._judge(sight, outcome).items():
            rule, case = sight.spoken[id]
            name = cell_name(id, sight.request.id, column)
            if judged.verdict not in DEVIATING | HELD:  # not of the fault's doing
                found.problems = found.problems or [f"{judged.verdict} in {name}: {judged.reason}"]
            elif judged.verdict in DEVIATING and id in sight.held:
                cells = found.cells.setdefault(id, [])
                if contradicts(rule, case, outcome) and id not in found.killed:
                    found.killed.add(id)
                    cells.insert(0, name)  # the first that finds it out
                else:
                    cells.append(name)
        if does := _too_often(found.ended, outcome):
            cell = cell_name(next(iter(sight.spoken)), sight.request.id, column)
            found.given_up = f"{does} at {cell}; given up after {found.observed:,} observations"

    def _judge(self, sight: Sight, outcome: Outcome) -> dict[str, Judged]:
        return judge(sight.spoken.values(), outcome, self.columns[sight.contract].hello.capabilities)


def chapter_of(rule: str) -> str:
    """The chapter that a rule's id says."""
    return rule.partition("-")[0]


def contradicts(rule: Rule, case: Case, outcome: Outcome) -> bool:
    """Whether a field that the rule speaks of was seen, and is not as any of its legal outcomes says."""
    facts = known(outcome)
    return all(
        any(name in facts and not agrees(name, value, facts[name]) for name, value in wanted.items())
        for wanted in legal(rule, case).values()
    )


def _too_often(ended: Counter[str], outcome: Outcome) -> str | None:
    """What an outcome, counted here, does once too often."""
    ended[outcome.status] += 1
    does, often = ENOUGH.get(outcome.status, ("", math.inf))
    return does if ended[outcome.status] >= often else None


def _facts(outcome: Outcome) -> object:
    """What tells one outcome from another; neither what it cost nor what an exception says."""
    raised = outcome.raised and {**outcome.raised, "message": ""}
    died = (outcome.signal, outcome.exit, outcome.touch) if outcome.status != "ended" else ()
    return outcome.status, outcome.fields, raised, died
