"""What judging costs: a request, a crash, a whole run. Targets are those of the walking skeleton."""

from __future__ import annotations

import atexit
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from impl.host.facts import Configuration, Request
from impl.host.launch import ROOT
from impl.host.pool import Pool

from .means import attributes, watch

BATCH = 600  # requests: the number that the targets speak of
SUBJECTS = ["tests.toys", "stock"]  # without JAX: the pool alone; with it: the host's heap collection and waits too

_ids = itertools.count()


def start(subject: str) -> tuple[Pool, Configuration]:
    """A pool with one warm host."""
    opened, configuration = Pool(probes="tests.toys.probes"), Configuration(subject, sys.executable, "cpu:8", "shardy")
    take(opened, request(configuration))
    return opened, configuration


@cache
def pool(subject: str) -> tuple[Pool, Configuration]:
    """The pool that the requests of one process share."""
    opened, configuration = start(subject)
    atexit.register(opened.kill)
    return opened, configuration


def request(configuration: Configuration, probe: str = "toy.fine") -> Request:
    return Request(configuration, probe, str(next(_ids)), {})


def take(pool: Pool, request: Request, status: str = "ended") -> None:
    """Takes one outcome, which must be what was asked for: a failure is not a price."""
    outcome = pool.take(request)
    if outcome.status != status:
        raise RuntimeError(f"{request.probe} {outcome.status}: {outcome.reason or outcome.stderr}")


@attributes(params=SUBJECTS, param_names=["subject"], timer=watch, number=1)
def time_ahead(subject: str) -> None:
    """A request, with all of them sent ahead. Target: 0.3 ms."""
    opened, configuration = pool(subject)
    requests = [request(configuration) for _ in range(BATCH)]
    with watch.per(BATCH):
        opened.want(requests)
        for each in requests:
            take(opened, each)


@attributes(params=SUBJECTS, param_names=["subject"], timer=watch, number=1)
def time_lockstep(subject: str) -> None:
    """A request, with nothing sent beyond the next one, as under pytest-xdist."""
    opened, configuration = pool(subject)
    requests = [request(configuration) for _ in range(BATCH)]
    with watch.per(BATCH):
        for each, following in itertools.zip_longest(requests, requests[1:]):
            opened.want(filter(None, [each, following]))
            take(opened, each)


@attributes(params=SUBJECTS, param_names=["subject"], timer=watch, number=1, repeat=5)
def time_restart(subject: str) -> None:
    """A host more from a warm template, until its first outcome. Target: 0.3 s."""
    opened, configuration = start(subject)
    first = request(replace(configuration, partitioner="gspmd"))
    with watch:
        take(opened, first)
    opened.kill()


@attributes(params=SUBJECTS, param_names=["subject"], timer=watch, number=1)
def time_crash(subject: str) -> None:
    """From a request whose probe crashes to the next one's outcome: two restarts, one to run the suspect again."""
    opened, configuration = pool(subject)
    crashing, following = request(configuration, "toy.segfault"), request(configuration)
    with watch:
        opened.want([crashing, following])
        take(opened, crashing, "crashed")
        take(opened, following)


class WholeRun:
    """`make conformance`, run once for all the figures. Targets: 600 cells in 30 s, crashes included; 150 MB."""

    @attributes(timeout=600)
    def setup_cache(self) -> dict[str, float]:
        """The figures of one run. asv shares them between the benchmarks; as no call is timed, nothing is forced."""
        return figures()

    @attributes(unit="s")
    def track_seconds(self, run: dict[str, float]) -> float:
        return run["seconds"]

    @attributes(unit="s")
    def track_seconds_per_600_cells(self, run: dict[str, float]) -> float:
        return run["seconds"] / run["cells"] * 600

    @attributes(unit="MB")
    def track_peak_memory(self, run: dict[str, float]) -> float:
        """Of the judge alone."""
        return run["peak_memory"] / 1e6

    @attributes(unit="s")
    def track_cpu_seconds_per_1000_cells(self, run: dict[str, float]) -> float:
        """Of the judge alone, pytest included, its start included."""
        return run["cpu_seconds"] / run["cells"] * 1000

    @attributes(params=["cells", "observations", "crashed", "reruns"], param_names=["what"], unit="")
    def track_count(self, run: dict[str, float], what: str) -> float:
        """What the run consisted of: less of it would be faster, and no gain."""
        return run[what]


def figures(*options: str, cores: int | None = None) -> dict[str, float]:
    """What one run of the judge took and consisted of, on so many cores; on all if none are given."""
    with tempfile.TemporaryDirectory() as folder:
        taken, record = Path(folder, "taken"), Path(folder, "record")
        began = time.perf_counter()
        # -P: this folder is not on the judge's path
        judge = [sys.executable, "-P", str(Path(__file__).with_name("judge.py")), str(taken)]
        run = subprocess.run(
            [*judge, "conformance", "-q", "-p", "no:cacheprovider", "--record", str(record), *options],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            preexec_fn=None if cores is None else lambda: _keep_to(cores),
        )
        seconds = time.perf_counter() - began
        footer = _footer(record)
        if not footer.get("complete") or not footer["cells"]:
            raise RuntimeError(f"the run is not whole (exit {run.returncode}):\n{run.stdout}")
        return {
            "seconds": seconds,
            **json.loads(taken.read_text()),
            **{name: footer[name] for name in ("cells", "observations", "reruns")},
            "crashed": footer["verdicts"].get("crashed", 0),
        }


def _keep_to(cores: int) -> None:
    """Keeps this process, and those that it starts, to the first of its cores (Linux)."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])


def _footer(record: Path) -> dict[str, Any]:
    """The last line of a record, if there is one."""
    lines = record.read_text().splitlines() if record.exists() else []
    return json.loads(lines[-1]) if lines else {}
