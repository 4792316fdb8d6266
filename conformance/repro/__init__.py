"""Reproducers: `python -m conformance repro CELL` writes a stand-alone script of plain JAX that shows a deviation.

The script is made from the cell's probe and case, so what it does is what the suite did, and it is run before it is
offered: it must show the same deviation, a crash or a hang included.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from conformance.kit import alone
from conformance.kit.columns import parse
from conformance.kit.explain import fields
from conformance.kit.run import Result
from conformance.kit.strict import Mistake
from conformance.kit.verdicts import DEVIATING
from impl.host import Configuration, Hello, Outcome, Pool, Request

from .show import HANG, Shown, show

AT_ONCE = 2  # scripts that run side by side


def repro(package: str, name: str, python: str, output: Path | None) -> int:
    """Writes the cell's reproducer to `output` or stdout, once it has shown the deviation; 1 if none does."""
    if not _plain(name):
        raise Mistake(f"{name}: reproducers are plain JAX, so they are made for the subject stock alone")
    (result,) = _judged(package, [name], python)
    judged = result.ruling.judged
    if judged.verdict not in DEVIATING:
        because = f" ({result.ruling.reason})" if result.ruling.reason else ""
        _say(f"{name}: {judged.verdict}{because}: there is no deviation to reproduce")
        return 1
    _say(f"{judged.verdict}: {fields(judged.observed)}")
    shown = show(package, result)
    if not shown.same:
        _say(f"{name}: no script is offered, as the one that was made does not show it: {shown.how}")
        return 1
    _say(f"the script shows it: {shown.how}")
    if output is None:
        print(shown.text, end="", flush=True)
    else:
        _write(output, shown.text)
    return 0


def every(package: str, record: Path, python: str, folder: Path) -> int:
    """Writes to `folder` a reproducer of every known deviation in a record; 1 unless all of them show theirs.

    One for each waiver and each observation that it pins; where partitioners agree, under the first.
    """
    chosen = dict(_deviations(record))
    if not chosen:
        raise Mistake(f"{record}: no cell of the subject stock deviates in it as a waiver says")
    _say(f"{len(chosen)} known deviations in {record}")
    results = _judged(package, list(chosen.values()), python)
    folder.mkdir(parents=True, exist_ok=True)
    good = 0
    with ThreadPoolExecutor(AT_ONCE) as workers:
        for name, result, shown in zip(
            chosen, results, workers.map(lambda it: _tried(package, it), results), strict=True
        ):
            good += shown.same
            _say(f"{name}: {'shown' if shown.same else 'NOT shown'}: {shown.how}")
            if not shown.same:
                _say(f"  {result.cell.name} observes {fields(result.ruling.judged.observed)}")
            else:
                _write(folder / f"{name}.py", shown.text)
    _say(f"{good} of {len(chosen)} shown by their scripts, in {folder}")
    return 0 if good == len(chosen) else 1


def _tried(package: str, result: Result) -> Shown:
    if result.ruling.judged.verdict not in DEVIATING:
        return Shown("", False, f"{result.ruling.judged.verdict} this time")
    try:
        return show(package, result)
    except Mistake as mistake:
        return Shown("", False, str(mistake))


def _deviations(record: Path) -> Iterator[tuple[str, str]]:
    """A name for each known deviation in a record, such as PUT-11.not-donated, and a cell that shows it."""
    seen: dict[tuple[str, str], str] = {}
    try:
        lines = record.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise Mistake(f"{record} cannot be read: {error}") from None
    for line in lines:
        try:
            cell = json.loads(line)
        except ValueError:
            continue  # cut off
        if not isinstance(cell, dict) or cell.get("kind") != "cell" or not cell.get("waiver") or cell.get("unexpected"):
            continue
        if not _plain(str(cell.get("name"))):
            continue
        key = str(cell["waiver"]), json.dumps(cell.get("observed"), sort_keys=True)
        if key not in seen:
            seen[key] = re.sub(r"[^A-Za-z0-9_-]", ".", key[0])
            number = sum(waiver == key[0] for waiver, _ in seen)
            yield seen[key] + (f"-{number}" if number > 1 else ""), str(cell["name"])


def _judged(package: str, names: list[str], python: str) -> list[Result]:
    """The cells of these names as they are judged now, in one go."""
    pool = Pool(probes=f"{package}.probes", cell_timeout=HANG)
    taken: dict[Request, tuple[Hello, Outcome]] = {}

    def take(configuration: Configuration, request: Request, _: str) -> tuple[Hello, Outcome]:
        if request not in taken:
            hello = pool.open(configuration)
            outcome = Outcome("not_run", reason=hello.problem) if hello.problem else pool.take(request)
            taken[request] = hello, outcome
        return taken[request]

    try:
        for name in names:
            alone.find(package, name, python, None, take)
        pool.close()
        for request, outcome in pool.late():  # a crash that struck later
            taken[request] = taken[request][0], outcome
    finally:
        pool.kill()
    return [alone.find(package, name, python, None, take)[0] for name in names]


def _plain(name: str) -> bool:
    """Whether a cell is one of plain JAX; a name that is none is somebody else's to refuse."""
    asked = parse(name)
    return asked is None or asked.subject == "stock"


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Mistake(f"{path} cannot be written: {error.strerror}; name another place with --output") from None


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
