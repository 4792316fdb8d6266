"""One record file, loaded: `load(path)` gives a `Run`.

A record file is untrusted input. A line that cannot be used is told in `Run.problems` and never stops the reading;
whatever may have cost a cell makes the run `partial`, and a run without its footer always is.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reports import columns, counts, lines
from reports.columns import Column, FieldError, checked
from reports.run import CELL, QUESTION, WHERE, Footer, Gate, Header, Incident, Judged, Run
from reports.text import plural, visible
from reports.words import PARTS, RED_UNLESS_WAIVED, Configuration

if TYPE_CHECKING:
    import pandas as pd

SCHEMA = 1
MOST_PROBLEMS = 30

_HEADER = (
    Column("project", columns.text_or_none, None),
    Column("started", columns.text_or_none, None),
    Column("selected", columns.flag),
    Column("writer", columns.word, "main"),
    Column("flags", columns.texts, {}),
)
_CONFIGURATION = (
    Column("python", columns.word_or_none, None),
    Column("devices", columns.count, 0),
    Column("witness", columns.word_or_none, None),
    Column("out_of_force", columns.count, 0),
    Column("problem", columns.text_or_none, None),
    Column("cells", columns.count_or_none, None),
)
_GATE = (Column("gate", columns.word), Column("text", columns.text))
_INCIDENT = (Column("text", columns.text), Column("stderr", columns.text, ""))
_FOOTER = (
    Column("cells", columns.count),
    Column("verdicts", columns.counts),
    Column("unexpected", columns.count_or_none, None),
    Column("observations", columns.count_or_none, None),
    Column("complete", columns.flag),
)


class LoadError(Exception):
    """The file cannot be a run: one line that names it and says why."""


def load(path: Path | str) -> Run:
    """The run recorded in `path`, with the parts that its writers leave beside it when the run is killed.

    Raises `LoadError` when the file cannot be read, is of another schema, or holds no record at all.
    """
    path = Path(path)
    reader = _Reader()
    try:
        reader.read(path)
        parts = _parts(path)
        names = ", ".join(part.name for part in parts)
        if reader.footer is None:
            reader.lost("no footer: the run did not end" + (f"; its parts were read: {names}" if parts else ""))
            for part in parts:
                reader.read(part, part=True)
            reader.footer = None
        elif parts:
            reader.problem(f"beside it, not read, lie the parts of a run that did not end: {names}")
        return reader.run(path)
    except OSError as error:
        raise LoadError(f"{visible(str(path))}: cannot be read: {error.strerror or error}") from None
    except LoadError as error:
        raise LoadError(f"{visible(str(path))}: {error}") from None


def _parts(path: Path) -> list[Path]:
    part = re.compile(re.escape(path.name) + r"\.gw\d+")
    return sorted((p for p in path.parent.iterdir() if part.fullmatch(p.name)), key=lambda p: (len(p.name), p.name))


class StaleError(Exception):
    """A part that an earlier run left behind."""


class _Reader:
    """Takes in record files, one after the other, and makes a `Run` of them."""

    def __init__(self) -> None:
        self.footer: Footer | None = None
        self._headers: list[Header] = []
        self._judged: dict[Configuration, Judged] = {}
        self._due: dict[Configuration, int | None] = {}
        self._cells = columns.Rows(CELL, key=("rule", "case", *PARTS))
        self._questions = columns.Rows(QUESTION, key=("question", "case", *PARTS))
        self._gates: list[Gate] = []
        self._incidents: list[Incident] = []
        self._partial = False
        self._replaced = 0
        self._problems: list[str] = []
        self._untold = 0
        # Of the file that is being read:
        self._part = ""
        self._writers: set[str] = set()
        self._kinds: Mapping[str, Callable[[dict[str, Any]], None]] = {
            "header": self._header,
            "configuration": self._configuration,
            "cell": self._cell,
            "question": self._question,
            "gate": self._gate,
            "incident": self._incident,
            "footer": self._footer,
        }

    def problem(self, text: str) -> None:
        """Tell what cost no cell; after `MOST_PROBLEMS`, count only."""
        if len(self._problems) < MOST_PROBLEMS:
            self._problems.append(visible(self._part + text))
        else:
            self._untold += 1

    def lost(self, text: str) -> None:
        """Tell what may have cost a cell."""
        self._partial = True
        self.problem(text)

    def read(self, path: Path, part: bool = False) -> None:
        """Read a file, which may be a part of the run that was read before."""
        self._part = f"{path.name}: " if part else ""
        self._writers = set()
        self.footer = None
        try:
            for number, record in lines.records(path, self.lost):
                self._line(number, record)
        except StaleError:
            self.problem("started before the run did, so left by an earlier one; not read")
        self._part = ""

    def run(self, path: Path) -> Run:
        """All that was read. Raises `LoadError` where that is nothing."""
        if not (self._headers or self._cells or self._judged or self.footer):
            raise LoadError("; ".join(["no record in it", *self._problems[:1]]))
        cells, questions = self._cells.frame(), self._questions.frame()
        if self.footer is not None:
            self._compare(cells, self.footer)
        if doubled := len(cells) - cells["name"].nunique():
            self.problem(f"{plural(doubled, 'cell')} with a name that another cell has too")
        for frame in (cells, questions):
            for parts in frame[list(PARTS)].drop_duplicates().itertuples(index=False, name=None):
                configuration = Configuration(*parts)
                self._judged.setdefault(configuration, Judged(configuration))
        untold = [f"and {plural(self._untold, 'more problem')}"] if self._untold else []
        return Run(
            path=path,
            headers=tuple(self._headers),
            configurations=tuple(self._judged.values()),
            cells=cells,
            questions=questions,
            gates=tuple(dict.fromkeys(self._gates)),
            incidents=tuple(self._incidents),
            footer=self.footer,
            partial=self._partial,
            problems=(*self._problems, *untold),
            replaced=self._replaced,
        )

    def _line(self, number: int, record: dict[str, Any]) -> None:
        kind = record.get("kind")
        if type(kind) is not str or kind not in self._kinds:
            name = f"'{visible(kind, 40)}'" if type(kind) is str else "no name"
            self.problem(f"line {number}: its kind is {name}, which this version does not know; ignored")
            return
        if self.footer is not None:
            self.lost(f"line {number}: a {kind} after the footer")
        if kind != "header" and not self._writers:
            self._writers.add("")
            self.lost(f"line {number}: a {kind} before any header")
        try:
            self._kinds[kind](record)
        except FieldError as error:
            self.lost(f"line {number}: a {kind} that cannot be used: {error}")

    def _header(self, record: dict[str, Any]) -> None:
        schema = record.get("schema")
        if schema != SCHEMA:
            told = f"schema {schema}" if type(schema) is int else "a header without a schema number"
            raise LoadError(f"{told}; this version reads schema {SCHEMA}")
        header = Header(*checked(_HEADER, record))
        if self._part and self._headers and (header.started or "") < (self._headers[0].started or ""):
            raise StaleError
        if header.writer in self._writers:
            raise FieldError("it is the second one, so these are several runs in one file")
        if not self._part and header.writer != "main" and not self._writers:
            self.lost(f"written by {header.writer}, one of several writers: a part of a run")
        self._writers.add(header.writer)
        self._headers.append(header)

    def _configuration(self, record: dict[str, Any]) -> None:
        where = Configuration(*checked(WHERE, record))
        *said, self._due[where] = checked(_CONFIGURATION, record)
        self._judged[where] = Judged(where, *said)

    def _cell(self, record: dict[str, Any]) -> None:
        if "name" not in record:
            record["name"] = _name(record)
        unexpected = record.get("waiver") is None and record.get("verdict") in RED_UNLESS_WAIVED
        if record.setdefault("unexpected", unexpected) is False and unexpected:
            self.problem(f"{_name(record)} is {record['verdict']} without a waiver, so it was not expected as it says")
            record["unexpected"] = True
        self._replaced += self._cells.put(record)

    def _question(self, record: dict[str, Any]) -> None:
        self._questions.put(record)

    def _gate(self, record: dict[str, Any]) -> None:
        self._gates.append(Gate(*checked(_GATE, record)))

    def _incident(self, record: dict[str, Any]) -> None:
        self._incidents.append(Incident(Configuration(*checked(WHERE, record)), *checked(_INCIDENT, record)))

    def _footer(self, record: dict[str, Any]) -> None:
        if self.footer is not None:
            raise FieldError("the file has one already")
        self.footer = Footer(*checked(_FOOTER, record))

    def _compare(self, cells: pd.DataFrame, footer: Footer) -> None:
        """The footer against what was read."""
        if not footer.complete:
            self.lost("the footer says that the run is not complete")
        verdicts = Counter(cells["verdict"].astype(object))
        places = {Configuration(*parts): number for parts, number in counts.sizes(cells, PARTS)}
        told_and_found = [
            ("cells", footer.cells, len(cells)),
            ("unexpected cells", footer.unexpected, int(cells["unexpected"].sum())),
            *((f"cells as {v}", footer.verdicts.get(v, 0), verdicts[v]) for v in sorted({*footer.verdicts, *verdicts})),
            *((f"cells of {place.name}", due, places.get(place, 0)) for place, due in self._due.items()),
        ]
        for what, told, found in told_and_found:
            if told not in (None, found):
                self.lost(f"the run counts {told:,} {what}, the file holds {found:,}")


def _name(record: Mapping[str, Any]) -> str:
    """The name of a cell that says none; a part that cannot be used is refused elsewhere."""
    given = (record.get(key) for key in ("rule", "case", *PARTS))
    rule, case, *parts = (part if type(part) is str else "?" for part in given)
    return f"{rule}[{case}]@{Configuration(*parts).name}"
