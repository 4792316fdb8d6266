"""What a loaded run is: the frames, their columns, and what surrounds them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from reports import columns
from reports.columns import Column
from reports.words import LEVELS, VERDICTS, Configuration

if TYPE_CHECKING:
    import pandas as pd

WHERE = (
    Column("subject", columns.word),
    Column("version", columns.word),
    Column("target", columns.word),
    Column("partitioner", columns.word),
)
CELL = (
    Column("name", columns.word),
    Column("rule", columns.word),
    Column("chapter", columns.word),
    Column("level", columns.one_of(LEVELS)),
    Column("case", columns.word),
    *WHERE,
    Column("verdict", columns.one_of(VERDICTS)),
    Column("outcome", columns.word_or_none, None),
    Column("expected", columns.data),
    Column("observed", columns.data),
    Column("reason", columns.text_or_none, None),
    Column("waiver", columns.word_or_none, None),
    Column("unexpected", columns.flag, dtype="bool"),
    Column("witness", columns.word_or_none, None),
    Column("cost", columns.data, {}),
    Column("attempt", columns.count, 1, dtype="int64"),
    Column("seconds", columns.seconds, 0.0, dtype="float64"),
    Column("observation", columns.word_or_none, None),
)
QUESTION = (
    Column("question", columns.word),
    Column("case", columns.word),
    *WHERE,
    Column("observed", columns.data),
)


@dataclass(frozen=True)
class Header:
    """What a writer said of the run when it began."""

    project: str | None
    started: str | None
    selected: bool
    writer: str
    flags: Mapping[str, str]


@dataclass(frozen=True)
class Judged:
    """What a host said of its configuration when it started."""

    configuration: Configuration
    python: str | None = None
    devices: int = 0
    witness: str | None = None
    out_of_force: int = 0
    problem: str | None = None


@dataclass(frozen=True)
class Gate:
    """A gate of the suite that did not hold."""

    gate: str
    text: str


@dataclass(frozen=True)
class Incident:
    """A death that no cell could be blamed for."""

    configuration: Configuration
    text: str
    stderr: str


@dataclass(frozen=True)
class Footer:
    """What the writer counted when it ended."""

    cells: int
    verdicts: Mapping[str, int]
    unexpected: int | None
    observations: int | None
    complete: bool


@dataclass(frozen=True)
class Run:
    """A record file, checked.

    ``cells`` has one row per cell, in the order judged, under the columns of ``CELL``. Every text column is a
    category of plain strings (null where the record says null). ``expected``, ``observed`` and ``cost`` hold canonical
    JSON text: equal objects compare equal. ``unexpected`` is bool, ``attempt`` int64, ``seconds`` float64.
    ``questions`` has the columns of ``QUESTION``, likewise.
    """

    path: Path
    headers: tuple[Header, ...]
    configurations: tuple[Judged, ...]
    cells: pd.DataFrame
    questions: pd.DataFrame
    gates: tuple[Gate, ...]
    incidents: tuple[Incident, ...]
    footer: Footer | None
    partial: bool
    """Cells are missing, or may be."""
    problems: tuple[str, ...]
    """What is wrong with the file, one line each, safe to print."""
    replaced: int
    """Cells that were judged again later in the run; the later line holds."""

    @property
    def selected(self) -> bool:
        """Only some cells were asked for."""
        return any(header.selected for header in self.headers)

    @property
    def flags(self) -> str:
        """The user's own variables that reach JAX, such as ``JAX_ENABLE_X64=1``; "" where there are none."""
        return " ".join(sorted({f"{name}={value}" for header in self.headers for name, value in header.flags.items()}))

    @property
    def observations(self) -> int | None:
        """How many observations the cells share, where the footer says it."""
        return None if self.footer is None else self.footer.observations
