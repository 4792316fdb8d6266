"""``python -m reports sweep``: judges versions of JAX, each in its own environment, and makes their ledgers again.

What can go wrong with one version is said, and the others go on; then the exit status is 1.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from reports.ledgers import FOLDER, LedgerError
from reports.text import plural, visible

ROOT = Path(__file__).parents[1]
DATA = Path(__file__).with_suffix(".toml")
_ASK = "from importlib.metadata import version as v; print(v('jax'), v('jaxlib'))"
_WHICH = "import sys; print('%d.%d' % sys.version_info[:2], sys._base_executable or sys.executable)"


@dataclass(frozen=True)
class Pin:
    """Packages that some versions need beside jax and jaxlib."""

    versions: str
    packages: tuple[str, ...]


@dataclass(frozen=True)
class Plan:
    """What is judged: ``sweep.toml``."""

    python: str
    target: str
    versions: tuple[str, ...]
    pin: tuple[Pin, ...] = ()

    def packages(self, version: str) -> list[str]:
        """What the environment of a version has."""
        from packaging.specifiers import SpecifierSet

        pins = [pin for pin in self.pin if SpecifierSet(pin.versions).contains(version, prereleases=True)]
        return [f"jax=={version}", f"jaxlib=={version}", *(package for pin in pins for package in pin.packages)]


class SweepError(Exception):
    """Why a version has no ledgers: one line."""


class Children:
    """The programs that run for a sweep: none outlives it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[str]] | None = set()

    def run(self, command: Sequence[str], **options: Any) -> tuple[int, str]:
        """Runs a program to its end: its exit status, and what it wrote to those streams that are pipes."""
        with self._lock:
            if self._running is None:
                raise SweepError("the sweep was stopped")
            child = subprocess.Popen(command, stdin=subprocess.DEVNULL, text=True, errors="replace", **options)
            self._running.add(child)
        out, err = child.communicate()
        with self._lock:
            if self._running is not None:
                self._running.discard(child)
        return child.returncode, f"{out or ''}{err or ''}"

    def stop(self) -> None:
        """Ends those that run, and starts no others."""
        with self._lock:
            running, self._running = self._running or set(), None
        for child in running:
            child.terminate()


def plan(path: Path = DATA) -> Plan:
    """The plan in a file, or a `LedgerError`."""
    from conformance.kit.strict import Mistake, read

    try:
        return read(path, Plan)
    except Mistake as mistake:
        raise LedgerError(str(mistake)) from None


def sweep(plan: Plan, versions: Sequence[str], jobs: int, folder: Path = FOLDER, root: Path = ROOT) -> int:
    """Judges these versions, says how each went, and writes the ledgers of those that went as expected."""
    versions = list(dict.fromkeys(versions))
    for version in versions:
        if not re.fullmatch(r"[0-9][A-Za-z0-9.+]*", version):
            raise LedgerError(f"{visible(version)!r} is no version; write one such as {plan.versions[-1]}")
    started = time.monotonic()
    failed: list[str] = []
    say = partial(print, flush=True)
    children = Children()
    with ThreadPoolExecutor(jobs) as pool:
        work = {pool.submit(_one, plan, version, folder, root, say, children): version for version in versions}
        try:
            for number, done in enumerate(as_completed(work), 1):
                version = work[done]
                try:
                    told = done.result()
                except (SweepError, LedgerError, OSError) as error:
                    failed.append(version)
                    told = f"NO LEDGERS: {visible(str(error))}"
                say(f"[{number}/{len(work)}] {version}: {told}")
        except BaseException:  # Ctrl-C, SIGTERM, an output that went away
            children.stop()
            pool.shutdown(cancel_futures=True)
            raise
    minutes, seconds = divmod(round(time.monotonic() - started), 60)
    names = f"; no ledgers of {', '.join(v for v in versions if v in failed)}" if failed else ""
    say(f"{plural(len(versions), 'version')} in {minutes} min {seconds} s{names}.")
    return 1 if failed else 0


def _one(plan: Plan, version: str, folder: Path, root: Path, say: Callable[[str], None], children: Children) -> str:
    """Makes the ledgers of one version; how they compare with those that were there."""
    from reports import rules, summed
    from reports.load import LoadError, load

    python = _environment(plan, version, root, say, children)
    say(f"{version}: judging")
    started = time.monotonic()
    record, log = _judged(plan, version, python, root, children)
    seconds = round(time.monotonic() - started)
    try:
        run = load(record)
    except LoadError as error:
        raise SweepError(f"{error}; see {log.relative_to(root)}") from None
    told = list(summed.write(run, folder, rules.contract()))
    said = f"{plural(len(run.cells), 'cell')} in {seconds} s; " + "; ".join(f"{name} {how}" for name, how, _ in told)
    if not told or not all(written for *_, written in told):
        raise SweepError(f"{said}; see {log.relative_to(root)}")
    return said


def _judged(plan: Plan, version: str, python: Path, root: Path, children: Children) -> tuple[Path, Path]:
    """The record of a run of the whole suite, and what pytest said."""
    out = root / "reports" / "out" / "sweep"
    out.mkdir(parents=True, exist_ok=True)
    record, log = out / f"{version}.jsonl", out / f"{version}.log"
    record.unlink(missing_ok=True)  # a run that does not begin leaves none
    command = [sys.executable, "-m", "pytest", "conformance", "-q", "-p", "no:cacheprovider"]
    command += ["--subject", "stock", "--target", plan.target]
    with log.open("wb") as output:
        judge = [*command, "--subject-python", str(python), "--record", str(record)]
        children.run(judge, cwd=root, stdout=output, stderr=subprocess.STDOUT)
    return record, log


def _environment(plan: Plan, version: str, root: Path, say: Callable[[str], None], children: Children) -> Path:
    """The Python of a version's environment, which is built where it is not there whole."""
    home = root / ".envs" / f"jax-{version}"
    python = home / "bin" / "python"
    with contextlib.suppress(OSError):  # it is not there, or no program
        _, told = children.run([str(python), "-c", _ASK], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        if told.split() == [version, version]:
            return python
    say(f"{version}: installing into {home.relative_to(root)}")
    uv = _uv()
    _install(children, [*uv, "venv", "--quiet", "--clear", "--python", _python(plan.python), str(home)])
    try:
        _install(children, [*uv, "pip", "install", "--quiet", "--python", str(python), *plan.packages(version)])
    except SweepError:
        shutil.rmtree(home, ignore_errors=True)
        raise
    return python


def _python(version: str) -> str:
    """A Python of this version that runs, pyenv's included (its shims may not); else uv looks for one."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    candidates = [sys.executable, f"python{version}", *map(str, sorted(pyenv.glob(f"{version}.*/bin/python")))]
    for candidate in candidates:
        with contextlib.suppress(OSError):
            told = subprocess.run([candidate, "-c", _WHICH], capture_output=True, text=True, check=False).stdout
            found, _, path = told.strip().partition(" ")
            if found == version:
                return path
    return version


def _uv() -> list[str]:
    if importlib.util.find_spec("uv"):
        return [sys.executable, "-m", "uv"]
    if found := shutil.which("uv"):
        return [found]
    raise LedgerError("uv is not there, which builds the environments: pip install --group sweep")


def _install(children: Children, command: Sequence[str]) -> None:
    status, told = children.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if status:
        raise SweepError(f"cannot be installed: {' '.join(re.sub(r'[^ -~]', ' ', told).split())}")
