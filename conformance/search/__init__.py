"""Random search: `python -m conformance search` holds a subject against the model on programs that Hypothesis draws.

A program is data, a list of steps. It runs on both, without what the contract leaves open and what is known of JAX; the
first thing that differs is a finding about the subject, with its rule, or a mistake of the model's. No waiver hides it.
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings
from hypothesis.errors import Flaky

from conformance.kit.columns import Column
from conformance.kit.options import check_subject, executable, holder
from conformance.kit.strict import Mistake
from impl.host import Configuration

from . import draw, show
from .hunt import Found, Hunt
from .walk import Step

EVERY = 50  # programs between two lines of progress
PHASES = (Phase.generate, Phase.shrink)


class DiffersError(Exception):
    def __init__(self, found: Found) -> None:
        super().__init__(str(found.difference))
        self.found = found


NEEDED = ("device_put.flags", "executes", "format", "memory.pinned_host", "set_mesh", "shard_map")
"""The capabilities that programs take for granted."""


def search(subject: str, python: str, partitioner: str, examples: int, start: int) -> int:
    """Draws programs from a seed and tells each kind of difference once, shrunk; 1 if there is one."""
    check_subject(subject)
    asked = Configuration(subject, holder(subject, executable(python)), "cpu:8", partitioner)
    held = Configuration("model", holder("model", executable(python)), "cpu:8", partitioner)
    if examples < 1:
        raise Mistake(f"--examples {examples}: give at least 1")
    with Hunt(held, asked) as hunt:
        columns = [Column(it, hunt.hello(it)) for it in (asked, held)]
        for column in columns:
            if column.hello.problem is not None:
                raise Mistake(f"nothing can be searched: {column.hello.problem}")
            if lacking := [it for it in NEEDED if it not in column.hello.capabilities]:
                raise Mistake(f"programs need {', '.join(lacking)}, which {column.name} lacks")
        _say(f"{columns[0].name} against {columns[1].name}")
        _say(f"{examples} programs from seed {start}")
        number = 0
        for found in differences(hunt, examples, start, _say):
            number += 1
            _say(f"\ndifference {number}\n\n{show.told(found, columns[0])}")
        hunt.finish()
        for company in hunt.in_company:
            _say("\nonly after other programs:\n" + "\n".join(show.brief(company)))
        for line in _summary(hunt):
            _say(line)
        return 1 if number or hunt.in_company else 0


def differences(hunt: Hunt, examples: int, start: int, say: Callable[[str], None]) -> Iterator[Found]:
    """The differences among so many programs, each kind once and as small as it gets."""
    drawing = Drawing(hunt, examples, say)
    round_ = 0
    while drawing.drawn < examples:
        found = first(drawing, examples - drawing.drawn, start + round_)
        if found is None:
            return
        round_ += 1
        drawing.next(found)
        yield hunt.smallest(found)


class Drawing:
    """Tries programs as they are drawn, and those that a difference is shrunk to."""

    def __init__(self, hunt: Hunt, examples: int, say: Callable[[str], None]) -> None:
        self.hunt, self.examples, self.say = hunt, examples, say
        self.drawn = 0
        self.shrinks = False
        self.told: set[str] = set()

    def next(self, found: Found) -> None:
        """Goes on drawing, past differences of that kind."""
        self.told.add(str(found.difference))
        self.shrinks = False

    def __call__(self, steps: list[Step]) -> None:
        if not self.shrinks:
            self.drawn += 1
            if self.drawn % EVERY == 0:
                self.say(f"[{self.drawn}/{self.examples}] {self.hunt.counts['done']} steps done")
        found = self.hunt.differs(steps)
        if found is not None and str(found.difference) not in self.told:
            self.shrinks = True
            raise DiffersError(found)


def first(check: Drawing, examples: int, start: int, phases: Sequence[Phase] = PHASES) -> Found | None:
    """The first difference that is drawn, shrunk if that is one of the phases."""

    def trial(steps: list[Step]) -> None:
        check(steps)

    test = settings(
        max_examples=examples,
        database=None,
        deadline=None,
        print_blob=False,
        verbosity=Verbosity.quiet,
        report_multiple_bugs=False,
        phases=phases,
        suppress_health_check=[*HealthCheck],
    )(given(draw.steps())(trial))
    try:
        with suppress(Flaky):  # in company alone, where it is kept
            seed(start)(test)()
    except DiffersError as differs:
        return differs.found
    return None


def _summary(hunt: Hunt) -> Iterator[str]:
    counts = hunt.counts
    yield f"{counts['programs']} programs of {counts['steps']} steps, {counts['done']} of them done"
    out = ", ".join(f"{why} {count}" for why, count in hunt.left_out.most_common())
    yield from textwrap.wrap(f"left out: {out or 'nothing'}", 80, subsequent_indent="  ")


def _say(line: str) -> None:
    print(line, file=sys.stdout, flush=True)
