"""Makes a cell's script, runs it as its reader would, and holds what it shows against what the cell observed."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from conformance.kit.explain import fields
from conformance.kit.run import Result
from conformance.kit.verdicts import agrees

from .script import DEATHS, FAILS, noted, script
from .values import UnfoldableError

START = 60.0  # seconds that importing JAX may take beside the time limit of the cell
HANG = 30.0  # seconds of silence that are a hang, where the cell has no limit of its own
LINE = 200  # columns of a line of stderr that are shown


@dataclass(frozen=True)
class Shown:
    """What a script showed when it was run: whether it is what the cell observed, and how it ended."""

    text: str
    same: bool
    how: str


class StoppedError(Exception):
    """Nobody waits for a script any more."""


def show(package: str, result: Result, stop: threading.Event) -> Shown:
    """The cell's script, run: the short one if it shows the deviation, else the whole one, which may not either."""
    try:
        shown = run(script(package, result, short=True), result, stop)
        return shown if shown.same else run(script(package, result, short=False), result, stop)
    except UnfoldableError as error:
        return Shown("", False, f"none can be made of its probe: {error}")


def run(text: str, result: Result, stop: threading.Event) -> Shown:
    """Runs a script as its reader would, in the subject's Python, and compares; `stop` ends it early."""
    look = result.cell.look
    with tempfile.TemporaryDirectory(prefix="shardspec-") as folder:
        path, out, err = (Path(folder) / name for name in ("reproducer.py", "out", "err"))
        path.write_text(text, encoding="utf-8")
        environment = {name: it for name, it in os.environ.items() if not name.startswith(("JAX_", "XLA_", "PYTHON"))}
        with out.open("w") as stdout, err.open("w") as stderr:
            command = [look.column.configuration.python, str(path)]
            child = subprocess.Popen(command, cwd=folder, env=environment, stdout=stdout, stderr=stderr)
            try:
                status = _watched(child, out, min(look.request.limit, HANG), stop)
            finally:
                child.kill()
                child.wait()
        told = out.read_text(encoding="utf-8", errors="replace").splitlines()
        said = err.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return Shown(text, *_compared(result, told, status, said))


def _watched(child: subprocess.Popen[bytes], out: Path, limit: float, stop: threading.Event) -> int | None:
    """The exit status of a script, or None if it fell silent."""
    said, since = 0, time.monotonic()
    while child.poll() is None:
        if stop.wait(0.05):
            raise StoppedError
        if (size := out.stat().st_size) > said:
            said, since = size, time.monotonic()
        if time.monotonic() - since > (limit if said else START):
            return None
    return child.returncode


def _compared(result: Result, told: Sequence[str], status: int | None, said: Sequence[str]) -> tuple[bool, str]:
    """Holds what a script showed, and said on stderr, against what the cell observed."""
    observed = result.ruling.judged.observed
    seen, touch = noted(told)
    fails = status == 1 and told[-1:] == [FAILS]
    ends: dict[str, object] = {"touch": touch or "begin"}
    if status is None:
        ends["hung"] = True
    elif status < 0:
        ends["signal"] = signal.Signals(-status).name
    else:
        ends["exit"] = status
    raised = observed.get("raised", "nothing")
    last = said[-1] if said else ""
    if isinstance(raised, dict):  # it left the script as it left the probe: its name stands before its message
        named = [line for line in said if line.partition(":")[0].rpartition(".")[2] == raised["class"]]
        last = named[-1] if named else last  # JAX may add a notice after the message
        same = status == 1 and bool(named) and touch == raised["at"]
    elif died := observed.keys() & DEATHS:
        same = all(ends.get(name) == observed[name] for name in (*died, "touch"))
    else:  # it may die later on, as the probe did
        outcome = result.outcome
        dies = outcome is not None and outcome.status != "ended" and touch == outcome.touch
        same = fails or (dies and (status is None or status < 0))
    fields_ = result.cell.rule.fields & observed.keys() - {"raised", "survives"}
    same = same and all(name in seen and agrees(name, observed[name], seen[name]) for name in fields_)
    shown = {name: seen[name] for name in sorted(fields_) if name in seen}
    because = "" if same and not isinstance(raised, dict) else last[:LINE]
    return same, ", ".join(filter(None, (fields(ends), fields(shown) if shown else "", because)))
