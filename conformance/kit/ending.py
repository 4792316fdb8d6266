"""What a run says at its end: the matrix before pytest's failures, what is known and what is wrong after them."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .explain import readable
from .waivers import Waivers

WIDTH = 80
TAIL = 20  # lines of a host's stderr


@dataclass(frozen=True)
class Ending:
    """Paragraphs to print before and after the unexpected cells."""

    before: Sequence[str]
    after: Sequence[str]


def ending(path: Path, waivers: Waivers, problems: Mapping[str, str], troubles: Sequence[str]) -> Ending:
    """Reads the record back and sums it up. `problems`: why configurations could not be judged, and their stderr."""
    from reports import rules, terminal
    from reports.load import LoadError, load

    said = [_wrap(trouble) for trouble in troubles]
    try:
        run = load(path)
    except LoadError as error:
        return Ending([], [*said, _wrap(str(error))])
    contract = rules.contract()
    judged = [it.configuration for it in run.configurations]
    table = terminal.verdicts(run.cells, judged, run.observations, run.partial, run.selected)
    return Ending(
        _some(table, terminal.notes(run), *_problems(problems, [it.problem for it in run.configurations])),
        _some(
            terminal.known(run.cells, contract.rules),
            _reasons(waivers, run.cells["waiver"][~run.cells["unexpected"]].dropna().unique()),
            terminal.questions(run.questions, judged, contract.rules),
            terminal.open_changes(contract),
            terminal.failures(run),
            *said,
            _wrap(f"Recorded in {path}"),
        ),
    )


def _reasons(waivers: Waivers, used: Iterable[str]) -> str:
    """Why the deviations are known: a record holds no more of a waiver than its id."""
    reasons = {waiver.id: f"{waiver.reason} (until {waiver.expires}; link: {waiver.link})" for waiver in waivers.all}
    lines = [_wrap(f"{id}: {reasons[id]}", indent=2) for id in sorted(used) if id in reasons]
    return "\n".join(["Why they are known", *lines]) if lines else ""


def _problems(problems: Mapping[str, str], told: Collection[str | None]) -> Iterator[str]:
    """What kept cells from being judged, unless it is told already, and what the host said."""
    for problem, stderr in problems.items():
        if problem not in told:
            yield _wrap(f"Not judged any more: {problem}")
        if lines := readable(stderr).strip().splitlines():
            yield "\n".join(["What the host said", *(f"  {line}" for line in lines[-TAIL:])])


def _some(*paragraphs: str) -> list[str]:
    return [paragraph for paragraph in paragraphs if paragraph]


def _wrap(text: str, indent: int = 0) -> str:
    start = " " * indent
    return textwrap.fill(
        text,
        WIDTH,
        initial_indent=start,
        subsequent_indent=start + "  ",
        break_on_hyphens=False,
        break_long_words=False,
    )
