"""Reproducers: `python -m conformance repro CELL` writes a stand-alone script of plain JAX that shows a deviation.

The script is made from the cell's probe and case, so what it does is what the suite did, and it is run before it is
offered: it must show the same deviation, a crash or a hang included.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from conformance.kit import alone
from conformance.kit.columns import parse
from conformance.kit.explain import fields
from conformance.kit.run import Result
from conformance.kit.strict import Mistake
from conformance.kit.verdicts import DEVIATING, agrees
from impl.host import Configuration, Hello, Outcome, Pool, Request

from .script import noted, script

START = 60.0  # seconds that importing JAX may take beside the time limit of the cell
HANG = 30.0  # seconds of silence that are a hang, where the cell has no limit of its own


def repro(package: str, name: str, python: str, output: Path | None) -> int:
    """Writes the cell's reproducer to `output` or stdout, once it has shown the deviation; 1 if none does."""
    asked = parse(name)
    if asked is not None and asked.subject != "stock":
        raise Mistake(f"{name}: reproducers are plain JAX, so they are made for the subject stock, not {asked.subject}")
    result, _ = alone.find(package, name, python, None, _take)
    judged = result.ruling.judged
    if judged.verdict not in DEVIATING:
        because = f" ({result.ruling.reason})" if result.ruling.reason else ""
        _say(f"{name}: {judged.verdict}{because}: there is no deviation to reproduce")
        return 1
    _say(f"{judged.verdict}: {fields(judged.observed)}")
    shows = ""
    for short in (True, False):
        text = script(package, result, short)
        shown = run(text, result)
        if shown.same:
            _say(f"the script shows it: {shown.how}")
            if output is None:
                print(text, end="", flush=True)
            else:
                output.write_text(text, encoding="utf-8")
            return 0
        shows = shown.how
    _say(f"{name}: no script is offered, as the one that was made does not show it: {shows}")
    return 1


@dataclass(frozen=True)
class Shown:
    """What a script showed when it was run: whether it is what the cell observed, and how it ended."""

    same: bool
    how: str


def run(text: str, result: Result) -> Shown:
    """Runs a script as its reader would, in the subject's Python, and compares."""
    look = result.cell.look
    with tempfile.TemporaryDirectory(prefix="shardspec-") as folder:
        path, out, err = (Path(folder) / name for name in ("reproducer.py", "out", "err"))
        path.write_text(text, encoding="utf-8")
        environment = {name: it for name, it in os.environ.items() if not name.startswith(("JAX_", "XLA_", "PYTHON"))}
        with out.open("w") as stdout, err.open("w") as stderr:
            command = [look.column.configuration.python, str(path)]
            child = subprocess.Popen(command, cwd=folder, env=environment, stdout=stdout, stderr=stderr)
            try:
                status = _watched(child, out, min(look.request.limit, HANG))
            finally:
                child.kill()
                child.wait()
        seen, touch = noted(out.read_text(encoding="utf-8").splitlines())
        said = err.read_text(encoding="utf-8", errors="replace")
    return _compared(result, seen, touch, status, said.strip().rpartition("\n")[2])


def _watched(child: subprocess.Popen[bytes], out: Path, limit: float) -> int | None:
    """The exit status of a script, or None if it fell silent."""
    said, since = 0, time.monotonic()
    while child.poll() is None:
        time.sleep(0.05)
        if (size := out.stat().st_size) > said:
            said, since = size, time.monotonic()
        if time.monotonic() - since > (limit if said else START):
            return None
    return child.returncode


def _compared(result: Result, seen: dict[str, object], touch: str | None, status: int | None, last: str) -> Shown:
    """Holds what a script showed against what the cell observed."""
    observed = result.ruling.judged.observed
    ends: dict[str, object] = {"touch": touch or "begin"}
    if status is None:
        ends["hung"] = True
    elif status < 0:
        ends["signal"] = signal.Signals(-status).name
    else:
        ends["exit"] = status
    raised = observed.get("raised", "nothing")
    if isinstance(raised, dict):  # it left the script as it left the probe: its name stands before its message
        kind = last.partition(":")[0].rpartition(".")[2]
        same = status == 1 and kind == raised["class"] and touch == raised["at"]
    elif died := observed.keys() & {"signal", "exit", "hung"}:
        same = all(ends.get(name) == observed[name] for name in (*died, "touch"))
    else:
        same = status == 1
    fields_ = result.cell.rule.fields & observed.keys() - {"raised", "survives"}
    same = same and all(name in seen and agrees(name, observed[name], seen[name]) for name in fields_)
    shown = {name: seen[name] for name in sorted(fields_) if name in seen}
    return Shown(same, ", ".join(filter(None, (fields(ends), fields(shown) if shown else "", last[:200]))))


def _take(configuration: Configuration, request: Request, probes: str) -> tuple[Hello, Outcome]:
    pool = Pool(probes=probes, cell_timeout=HANG)
    try:
        hello = pool.open(configuration)
        outcome = Outcome("not_run", reason=hello.problem) if hello.problem else pool.take(request)
        pool.close()
        return hello, dict(pool.late()).get(request, outcome)
    finally:
        pool.kill()


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
