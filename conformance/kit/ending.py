"""What a run says at its end: the matrix before pytest's failures, what is known and what is wrong after them."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from .explain import readable

WIDTH = 80
TAIL = 20  # lines of a host's stderr


@dataclass(frozen=True)
class Ending:
    """Paragraphs to print before and after the unexpected cells."""

    before: Sequence[str]
    after: Sequence[str]


def ending(path: Path, stderrs: Iterable[str], troubles: Sequence[str]) -> Ending:
    """Reads the record back and sums it up. `stderrs`: what hosts said that could not be judged."""
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
        _some(table, terminal.unexpected(run.cells, contract.rules), terminal.notes(run), *_said(stderrs)),
        _some(
            terminal.compilations(run.cells, judged),
            terminal.known(run.cells, contract.rules),
            terminal.questions(run.questions, judged, contract.rules),
            terminal.open_changes(contract),
            terminal.failures(run),
            *said,
            _wrap(f"Recorded {'in part ' if run.partial else ''}in {_near(path)}"),
        ),
    )


def _near(path: Path) -> Path:
    """The path as it can be typed here."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


def _said(stderrs: Iterable[str]) -> Iterator[str]:
    for stderr in stderrs:
        if lines := readable(stderr).strip().splitlines():
            yield "\n".join(["What the host said", *(f"  {line}" for line in lines[-TAIL:])])


def _some(*paragraphs: str) -> list[str]:
    return [paragraph for paragraph in paragraphs if paragraph]


def _wrap(text: str) -> str:
    return textwrap.fill(text, WIDTH, subsequent_indent="  ", break_on_hyphens=False, break_long_words=False)
