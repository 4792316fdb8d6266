"""Records: a JSON line per cell as it is judged, between header and footer; without its footer a file is partial."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from impl.host import Configuration, Incident, Outcome

from .cells import Cell, Look
from .columns import Column
from .strict import Mistake
from .verdicts import Observation, known
from .waivers import Ruling

SCHEMA = 1

Line = dict[str, Any]


def header(
    configurations: Sequence[Configuration],
    columns: Sequence[Column],
    selected: bool,
    writer: str,
    started: datetime,
    wide: bool = False,
) -> Line:
    """What is judged, where, and by which revision of the suite; what the columns do not share is null here.

    A run that is `wide` says so among its flags: it has cells that other runs leave out.
    """

    def only(values: Iterable[str]) -> str | None:
        distinct = sorted(set(values))
        return distinct[0] if len(distinct) == 1 else None

    return {
        "kind": "header",
        "schema": SCHEMA,
        "project": revision(),
        "started": stamp(started),
        "subject": only(it.subject for it in configurations),
        "version": only(column.version for column in columns),
        "python": only(_python(column) for column in columns),
        "target": only(it.target for it in configurations),
        "partitioners": list(dict.fromkeys(it.partitioner for it in configurations)),
        "selected": selected,
        "flags": flags(os.environ) | ({"--wide": "on"} if wide else {}),
        "writer": writer,
    }


TARGETS = ("JAX_PLATFORMS", "JAX_PLATFORM_NAME", "JAX_NUM_CPU_DEVICES", "--xla_force_host_platform_device_count")
"""What says where to run, which the target decides."""


def flags(environment: Mapping[str, str]) -> dict[str, str]:
    """The user's variables that reach JAX and may change what it does."""
    found = {name: value for name, value in sorted(environment.items()) if name.startswith("JAX_")}
    found["XLA_FLAGS"] = " ".join(it for it in environment.get("XLA_FLAGS", "").split() if not it.startswith(TARGETS))
    return {name: value for name, value in found.items() if value and name not in TARGETS}


def configuration(column: Column, cells: int, out_of_force: int) -> Line:
    """What a configuration's host said, its cells, and how many rules have none because of its version."""
    hello = column.hello
    return {
        "kind": "configuration",
        **_place(column),
        "python": _python(column),
        "versions": dict(hello.versions),
        "devices": len(hello.devices),
        "memory_kinds": list(hello.memory_kinds),
        "capabilities": list(hello.capabilities),
        "witness": hello.partitioner,
        "out_of_force": out_of_force,
        "cells": cells,
        "problem": hello.problem,
        "stderr": hello.stderr if hello.problem else "",
    }


def cell(of: Cell, ruling: Ruling, outcome: Outcome | None) -> Line:
    """One verdict. A later line with the same name replaces the earlier one."""
    judged, column = ruling.judged, of.look.column
    return {
        "kind": "cell",
        "rule": of.rule.id,
        "chapter": of.rule.chapter,
        "level": of.rule.level,
        "case": of.look.request.id,
        **_place(column),
        "verdict": judged.verdict,
        "outcome": judged.outcome,
        "expected": judged.expected,
        "observed": judged.observed,
        "reason": ruling.reason,
        "waiver": ruling.waiver.id if ruling.waiver else None,
        "unexpected": ruling.unexpected,
        "witness": column.hello.partitioner,
        "cost": dict(outcome.cost) if outcome else {},
        "attempt": outcome.attempt if outcome else 0,
        "seconds": round(outcome.seconds, 6) if outcome else 0.0,
        "name": of.name,
        "observation": of.look.request.probe,
    }


def questions(look: Look, outcome: Outcome) -> Iterator[Line]:
    """What was observed where the contract only asks."""
    facts = known(outcome)
    for question in look.questions:
        observed: Observation = {name: facts[name] for name in question.fields if name in facts}
        if observed:
            yield {
                "kind": "question",
                "question": question.id,
                "case": look.request.id,
                **_place(look.column),
                "observed": observed,
            }


def gate(name: str, text: str) -> Line:
    return {"kind": "gate", "gate": name, "text": text}


def incident(of: Incident, column: Column, names: Sequence[str]) -> Line:
    """A host's death that no cell could be blamed for, with the cells that may have caused it."""
    return {"kind": "incident", **_place(column), "text": of.what, "cells": list(names), "stderr": of.stderr}


class Totals:
    """What a footer sums up, told line by line."""

    def __init__(self) -> None:
        self._cells: dict[str, tuple[str, bool]] = {}

    def add(self, line: Mapping[str, Any]) -> None:
        if line["kind"] == "cell":
            self._cells[line["name"]] = line["verdict"], line["unexpected"]

    def footer(self, complete: bool, counts: Mapping[str, int]) -> Line:
        return {
            "kind": "footer",
            "cells": len(self._cells),
            "verdicts": dict(Counter(verdict for verdict, _ in self._cells.values()).most_common()),
            "unexpected": sum(unexpected for _, unexpected in self._cells.values()),
            "observations": counts.get("observations", 0),
            "reruns": counts.get("reruns", 0),
            "ended": stamp(datetime.now(UTC)),
            "complete": complete,
        }


class Writer:
    """Appends lines to one file. What is there stays whole: a line that does not fit is taken back, and said once."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.trouble: str | None = None
        self._size = 0
        try:
            if path.exists() and not path.is_file():
                raise OSError(0, "it is not a regular file")
            if path.exists() and path.stat().st_size and not _is_record(path):
                raise OSError(0, "it holds something else than a record")
            self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise Mistake(f"--record {path} cannot be written: {error.strerror}; name another file") from None
        self._fresh = os.fstat(self._file).st_size == 0
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._file)
            raise Mistake(f"--record {path} is being written by another run; name another file") from None

    def begin(self, line: Line) -> None:
        """Starts the file anew with its header."""
        self._fresh = False
        os.ftruncate(self._file, 0)
        self._size = 0
        self.write(line)

    def write(self, line: Line) -> None:
        """Appends one line at once, or nothing."""
        data = encode(line)
        try:
            written = os.write(self._file, data)
            if written < len(data):
                written += os.write(self._file, data[written:])  # tells the reason
            self._size += written
        except OSError as error:
            if self.trouble is None:
                kept = f"{self._size:,} bytes are kept, the run is not recorded whole"
                self.trouble = f"{self.path}: {error.strerror}; {kept}: make room or name another file with --record"
            self._take_back()

    def _take_back(self) -> None:
        with contextlib.suppress(OSError):  # readers drop a last line that is not whole
            os.ftruncate(self._file, self._size)

    def close(self) -> None:
        """Lets go of the file; one that was made for nothing is removed."""
        if self._file >= 0:
            if self._fresh and os.fstat(self._file).st_size == 0:
                self.path.unlink(missing_ok=True)
            os.close(self._file)
            self._file = -1


def _is_record(path: Path) -> bool:
    """Whether a file begins as this module begins one."""
    start = b'{"kind":"header"'
    with path.open("rb") as file:
        return file.read(len(start)) == start


def encode(line: Line) -> bytes:
    return json.dumps(line, separators=(",", ":")).encode() + b"\n"


def lines(path: Path) -> Iterator[Line]:
    """The whole lines of a file that this run wrote."""
    with path.open("rb") as file:
        for data in file:
            try:
                yield json.loads(data)
            except ValueError:  # cut off
                continue


def parts(path: Path) -> list[Path]:
    """The files that workers write beside the record."""
    return sorted(it for it in path.parent.iterdir() if re.fullmatch(re.escape(path.name) + r"\.gw\d+", it.name))


def part(path: Path, worker: str) -> Path:
    return path.with_name(f"{path.name}.{worker}")


def merge(path: Path) -> list[Line]:
    """Puts the workers' parts together as one record at `path`, returns its lines and removes the parts.

    It is complete only if every part has its footer, says that it is complete, and every cell collected is there.
    """
    found = parts(path)
    head: Line | None = None
    merged: dict[tuple[Any, ...], Line] = {}
    counts: Counter[str] = Counter()
    complete = bool(found)
    for file in found:
        footer: Line | None = None
        for line in lines(file):
            if line["kind"] == "header":
                head = head or {**line, "writer": "main"}
            elif line["kind"] == "footer":
                footer = line
                counts.update(observations=line["observations"], reruns=line["reruns"])
            else:
                merged[_identity(line)] = line
        complete = complete and footer is not None and bool(footer["complete"])
    if head is None:
        return []
    totals = Totals()
    for line in merged.values():
        totals.add(line)
    due = sum(line["cells"] for line in merged.values() if line["kind"] == "configuration")
    footer = totals.footer(complete, counts)
    footer["complete"] = complete and footer["cells"] == due > 0
    whole = [head, *merged.values(), footer]
    fresh = path.with_name(f"{path.name}.merging")
    try:
        fresh.write_bytes(b"".join(map(encode, whole)))
        fresh.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            fresh.unlink()
        kept = f"they are kept beside it: {', '.join(it.name for it in found)}"
        raise Mistake(f"{path}: the parts cannot be merged: {error.strerror}; {kept}") from None
    for file in found:
        file.unlink(missing_ok=True)
    return whole


def revision() -> str:
    """The revision of this project, or "unknown"."""
    command = ["git", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        answer = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return "unknown"
    return answer.stdout.strip() or "unknown"


def stamp(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _identity(line: Line) -> tuple[Any, ...]:
    """What makes two lines of different parts speak of the same thing: the later one counts."""
    if line["kind"] == "cell":
        return "cell", line["name"]
    if line["kind"] == "incident":
        return "incident", id(line)
    keys = {"gate": ("gate", "text"), "question": ("question", "case", *PLACE), "configuration": PLACE}
    return line["kind"], *(line[key] for key in keys[line["kind"]])


PLACE = ("subject", "version", "target", "partitioner")


def _place(column: Column) -> dict[str, str]:
    it = column.configuration
    return dict(zip(PLACE, (it.subject, column.version, it.target, it.partitioner), strict=True))


def _python(column: Column) -> str:
    return column.hello.versions.get("python", "unknown")
