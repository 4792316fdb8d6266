"""Runs programs on the model and on a subject, without what is open and what is known, and compares."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Self

from impl.host import Configuration, Hello, Outcome, Pool, Request

from .compare import Difference, compare, death, dies
from .corpus import USUAL
from .findings import FINDINGS, Finding
from .open import OPEN, Open
from .walk import Act, Notes, Step, Walk

Compare = Callable[[Sequence[Step], Notes, Outcome], Difference | None]

LIMIT = 20.0  # seconds in one program that are a hang
LIFE = 10_000  # runs after which hosts are replaced, so that what led to a late death is found in time


@dataclass(frozen=True)
class Found:
    """A program that differs: what the model noted, what the subject did, and the first difference."""

    steps: Sequence[Step]
    notes: Notes
    outcome: Outcome
    difference: Difference


class BrokenModelError(Exception):
    """The model did not come to the end of a program: a mistake of the model's, never the subject's."""

    def __init__(self, steps: Sequence[Step], outcome: Outcome) -> None:
        super().__init__(outcome.status)
        how = f"{outcome.status}: {outcome.reason or outcome.raised or outcome.signal}"
        self.found = Found(steps, {}, outcome, Difference(f"the model at {outcome.touch}", "it", "survives", how))


class Hunt:
    """Two hosts, and what was counted on the way."""

    def __init__(self, model: Configuration, subject: Configuration) -> None:
        self.model, self.subject = model, subject
        self.numbers = count()
        self.counts: Counter[str] = Counter()
        self.left_out: Counter[str] = Counter()
        self.in_company: list[Found] = []
        """Programs that differed after others alone."""
        self.programs: dict[str, Sequence[Step]] = {}
        """What hosts that are alive have run."""
        self.pool = self.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.pool.kill()

    def start(self) -> Pool:
        pool = Pool(cell_timeout=LIMIT)
        pool.start([self.model, self.subject])
        return pool

    def finish(self) -> None:
        """Lets the hosts go; what they die of then, or have died of since, is kept with what else shows in company."""
        self.pool.close()
        ends = [(self.programs[request.id], outcome) for request, outcome in self.pool.late()]
        ends += [((), Outcome("crashed", reason=it.what, stderr=it.stderr)) for it in self.pool.incidents()]
        self.in_company += [Found(steps, {}, outcome, death("after all", outcome)) for steps, outcome in ends]

    def renew(self) -> None:
        """Replaces the hosts."""
        self.finish()
        self.programs.clear()
        self.pool = self.start()

    def hello(self, configuration: Configuration) -> Hello:
        return self.pool.open(configuration)

    def observe(self, configuration: Configuration, steps: Sequence[Step], fresh: bool = False) -> Outcome:
        """What a program does; `fresh` as if nothing had been compiled before."""
        id = f"program_{next(self.numbers)}"
        self.programs[id] = steps
        return self.pool.take(Request(configuration, "programs.run", id, {"steps": [*steps], "fresh": fresh}))

    def settled(self, steps: Sequence[Step], opened: Sequence[Open] = OPEN) -> tuple[Sequence[Step], Notes]:
        """A program without the steps that are open, or known, and what the model notes of it."""
        known = self.known()
        while True:
            outcome = self.observe(self.model, steps)
            walk = Walk(steps, outcome.fields)
            out = {act.number: why for act in walk if (why := _left_out(act, opened, known))}
            if opened:
                self.left_out.update(out.values())
            noted = sum(f"gone{number}" in outcome.fields for number in range(len(steps)))
            if noted < len(steps):  # a slot that a step takes from holds nothing, as what was to fill it was refused
                if all(name in walk.held for name in steps[noted].get("of", ())):
                    raise BrokenModelError(steps, outcome)
                out[noted] = "nothing there"
            elif not out:
                if outcome.status != "ended" or outcome.raised:
                    raise BrokenModelError(steps, outcome)
                return steps, outcome.fields
            steps = [step for number, step in enumerate(steps) if number not in out]

    def known(self) -> list[Finding]:
        """The findings that the subject's version has."""
        if self.subject.name != "stock":
            return []
        version = self.hello(self.subject).version
        return [it for it in FINDINGS if it.holds(version)]

    def differs(self, steps: Sequence[Step]) -> Found | None:
        """What of a program the subject does otherwise than the model, also if nothing ran before it."""
        if len(self.programs) > LIFE:
            self.renew()
        try:
            left, notes = self.settled(steps)
            self.counts["programs"] += 1
            self.counts["steps"] += len(left)
            self.counts["done"] += sum(notes[f"step{number}"]["is"] == "done" for number in range(len(left)))
            return self.tried(left, notes, compare) or self.tried(*self.settled(steps, opened=()), dies)
        except BrokenModelError as broken:
            return broken.found

    def tried(self, steps: Sequence[Step], notes: Notes, differs: Compare) -> Found | None:
        """Runs a program on the subject; where that differs, again as if nothing had run before."""
        outcome = self.observe(self.subject, steps)
        difference = differs(steps, notes, outcome)
        if difference is None:
            return None
        alone = self.observe(self.subject, steps, fresh=True)
        again = differs(steps, notes, alone)
        if again is None:
            self.in_company.append(Found(steps, notes, outcome, difference))
            return None
        return Found(steps, notes, alone, again)

    def smallest(self, found: Found) -> Found:
        """The same difference without the steps, and without the options of steps, that it does not take."""
        for steps in _smaller(found.steps):
            less = self.differs(steps)
            if less is not None and str(less.difference) == str(found.difference) and less.steps != found.steps:
                return self.smallest(less)
        return found


def _smaller(steps: Sequence[Step]) -> Iterator[list[Step]]:
    """Programs with one step less, or with one option less of a step."""
    for number, step in reversed([*enumerate(steps)]):
        yield [*steps[:number], *steps[number + 1 :]]
        for option, usual in USUAL.get(step["do"], {}).items():
            if option != "where" and step[option] != usual:
                yield [*steps[:number], {**step, option: usual}, *steps[number + 1 :]]


def _left_out(act: Act, opened: Sequence[Open], known: Sequence[Finding]) -> str | None:
    """Why a step is left out of programs."""
    reasons = [it.name for it in opened if it.meets(act)] + [it.name for it in known if it.meets(act)]
    return next(iter(reasons), None)
