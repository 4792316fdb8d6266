"""Reproducers: `python -m conformance repro CELL` writes a stand-alone script of plain JAX that shows a deviation.

The script is made from the cell's probe and case, so what it does is what the suite did, and it is run before it is
offered: it must show the same deviation, a crash or a hang included.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path
from typing import Self

from conformance.kit import alone
from conformance.kit.columns import Column, parse
from conformance.kit.options import executable
from conformance.kit.run import Result
from conformance.kit.strict import Mistake
from conformance.kit.verdicts import DEVIATING
from impl.host import Configuration, Hello, Outcome, Pool, Request

from .script import brief
from .show import HANG, Shown, show

AT_ONCE = 2  # scripts that run side by side


@contextmanager
def _ended_in_order() -> Iterator[None]:
    """Makes signals that end the process exceptions, so that what it has started is ended first."""
    signals = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {it: signal.signal(it, lambda number, _: sys.exit(128 + number)) for it in signals}
    try:
        yield
    finally:
        for it, handler in before.items():
            signal.signal(it, handler)


@_ended_in_order()
def repro(package: str, name: str, python: str, output: Path | None) -> int:
    """Writes the cell's reproducer to `output` or stdout, once it has shown the deviation; 1 if none does."""
    if not _plain(name):
        raise Mistake(f"{name}: reproducers are plain JAX, so they are made for the subject stock alone")
    if output is not None:
        _check(output)
    with Judge(package, python) as judge:
        (result,) = judge.results([name])
    judged = result.ruling.judged
    if judged.verdict == "not_run":
        raise Mistake(f"{name} cannot be judged: {result.ruling.reason}")
    if judged.verdict not in DEVIATING:
        because = f" ({result.ruling.reason})" if result.ruling.reason else ""
        _say(f"{name}: {judged.verdict}{because}: there is no deviation to reproduce")
        return 1
    _say(f"{judged.verdict}: {brief(judged.observed)}")
    shown = show(package, result, threading.Event())
    if not shown.same:
        _say(f"{name}: no script is offered: {shown.how}")
        return 1
    _say(f"the script shows it: {shown.how}")
    if output is None:
        print(shown.text, end="", flush=True)
    else:
        _write(output, shown.text)
    return 0


@_ended_in_order()
def every(package: str, record: Path, python: str, folder: Path) -> int:
    """Writes to `folder` a reproducer of every known deviation in a record; 1 unless all of them show theirs.

    One for each waiver and each observation that it pins; where partitioners agree, under the first.
    """
    cells = [*_deviations(record)]
    if not cells:
        raise Mistake(f"{record}: no cell of the subject stock deviates in it as a waiver says")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Mistake(f"{folder} cannot be made: {error.strerror}; name another folder with --output") from None
    with Judge(package, python) as judge:
        chosen = _chosen(cells, judge.version(cells[0].name))
        if not chosen:
            versions = ", ".join(sorted({it.version for it in cells}))
            raise Mistake(f"{record} is of {versions}, which {python} does not have: give --subject-python")
        _say(f"{len(chosen)} known deviations in {record}: judging their cells, which takes a while")
        results = judge.results([*chosen.values()])
    _say("making and running their scripts")
    good, stop = 0, threading.Event()
    with ThreadPoolExecutor(AT_ONCE) as workers:
        shows = workers.map(lambda it: _tried(package, it, stop), results)
        try:
            for number, (name, result, shown) in enumerate(zip(chosen, results, shows, strict=True), 1):
                good += shown.same
                _say(f"[{number}/{len(chosen)}] {name}: {'shown' if shown.same else 'NOT shown'}: {shown.how}")
                if shown.same:
                    _write(folder / f"{name}.py", shown.text)
                else:
                    _say(f"  {result.cell.name} observes {brief(result.ruling.judged.observed)}")
        finally:  # what is left to do, where this is cut short
            stop.set()
            workers.shutdown(wait=False, cancel_futures=True)
    _say(f"{good} of {len(chosen)} shown by their scripts, in {folder}")
    return 0 if good == len(chosen) else 1


def _tried(package: str, result: Result, stop: threading.Event) -> Shown:
    if result.ruling.judged.verdict not in DEVIATING:
        return Shown("", False, f"{result.ruling.judged.verdict} this time")
    return show(package, result, stop)


class Judge:
    """Judges cells by name, all in one go."""

    def __init__(self, package: str, python: str) -> None:
        self.package, self.python = package, python
        self.pool = Pool(probes=f"{package}.probes", cell_timeout=HANG)
        self.taken: dict[Request, tuple[Hello, Outcome]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.pool.kill()

    def version(self, name: str) -> str:
        """The version that the Python has, as names have it."""
        asked = parse(name)
        if asked is None:
            return ""
        it = Configuration(asked.subject, executable(self.python), asked.target, asked.partitioner)
        column = Column(it, self.pool.open(it))
        if column.hello.problem is not None:
            raise Mistake(f"nothing can be judged: {column.hello.problem}")
        return column.spelled

    def results(self, names: Sequence[str]) -> list[Result]:
        for name in names:
            self.find(name)
        self.pool.close()
        for request, outcome in self.pool.late():  # a crash that struck later
            self.taken[request] = self.taken[request][0], outcome
        return [self.find(name) for name in names]

    def find(self, name: str) -> Result:
        return alone.find(self.package, name, self.python, None, self.take)[0]

    def take(self, configuration: Configuration, request: Request, _: str) -> tuple[Hello, Outcome]:
        if request not in self.taken:
            hello = self.pool.open(configuration)
            outcome = Outcome("not_run", reason=hello.problem) if hello.problem else self.pool.take(request)
            self.taken[request] = hello, outcome
        return self.taken[request]


@dataclass(frozen=True)
class Deviation:
    """A cell of a record that deviates as a waiver says."""

    name: str
    version: str
    waiver: str
    observed: str


def _deviations(record: Path) -> Iterator[Deviation]:
    """The cells of a record that deviate as a waiver says."""
    try:
        lines = record.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise Mistake(f"{record} cannot be read: {error}") from None
    for line in lines:
        try:
            cell = json.loads(line)
        except (ValueError, RecursionError):
            continue  # cut off
        if not isinstance(cell, dict) or cell.get("kind") != "cell" or not cell.get("waiver") or cell.get("unexpected"):
            continue
        asked = parse(str(cell.get("name")))
        if asked is not None and asked.subject == "stock":
            observed = json.dumps(cell.get("observed"), sort_keys=True)
            yield Deviation(str(cell["name"]), asked.version, str(cell["waiver"]), observed)


def _chosen(cells: Iterable[Deviation], version: str) -> dict[str, str]:
    """A name for each known deviation of a version, such as PUT-11.not-donated, and a cell that shows it."""
    seen: set[tuple[str, str]] = set()
    chosen: dict[str, str] = {}
    for it in cells:
        if it.version != version or (it.waiver, it.observed) in seen:
            continue
        seen.add((it.waiver, it.observed))
        stem = re.sub(r"[^A-Za-z0-9_-]", ".", it.waiver)
        numbers = (f"{stem}-{number}" for number in count(2))
        chosen[next(name for name in chain([stem], numbers) if name not in chosen)] = it.name
    return chosen


def _plain(name: str) -> bool:
    """Whether a cell is one of plain JAX; a name that is none is somebody else's to refuse."""
    asked = parse(name)
    return asked is None or asked.subject == "stock"


def _check(path: Path) -> None:
    """Complains early of a place where nothing can be written; makes the folders that it is in."""
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir() or not path.parent.is_dir() or not os.access(path if path.exists() else path.parent, os.W_OK):
        raise Mistake(f"{path} cannot be written; name another place with --output")


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Mistake(f"{path} cannot be written: {error.strerror}; name another place with --output") from None


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
