"""What a run is asked for, checked before anything starts."""

from __future__ import annotations

import math
import os
import re
import shutil
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from importlib import import_module
from pathlib import Path

from impl.host import Configuration, home

from .columns import PARTITIONERS, target_problem
from .rules import Contract
from .strict import Mistake

SUBJECTS = ("stock", "model")
"""What is judged where nothing else is asked for."""
WITHOUT_JAX = ("model", "fault")
LONGEST = 200


@dataclass(frozen=True)
class Options:
    """The configurations to judge and how."""

    configurations: tuple[Configuration, ...]
    rules: tuple[str, ...]
    cell_timeout: float
    hosts: int
    record: Path
    wide: bool = False

    def chosen(self, rule: str) -> bool:
        """Whether --rule leaves a rule in."""
        return not self.rules or any(fnmatchcase(rule, pattern) for pattern in self.rules)


def options(
    contract: Contract,
    *,
    subjects: Sequence[str],
    pythons: Sequence[str],
    target: str,
    partitioner: str,
    rules: Sequence[str],
    cell_timeout: float,
    hosts: int,
    record: Path,
    wide: bool = False,
) -> Options:
    """The options, or a `Mistake` about the first one that cannot be."""
    for subject in subjects:
        check_subject(subject)
    if len(set(subjects)) < len(subjects):
        raise Mistake(f"--subject {_twice(subjects)} is given twice; give each subject once")
    if wrong := target_problem(target):
        raise Mistake(f"--target {target}: {wrong}")
    if partitioner not in (*PARTITIONERS, "both"):
        raise Mistake(f"--partitioner {partitioner}: unknown; give shardy, gspmd or both")
    if not 0 < cell_timeout < math.inf or hosts < 1:
        raise Mistake("--cell-timeout wants seconds above 0, --hosts at least 1")
    for pattern in rules:
        if not any(fnmatchcase(rule, pattern) for rule in contract.rules):
            raise Mistake(f"--rule {pattern}: no rule of the contract matches; {_hint(pattern, contract)}")
    partitioners = PARTITIONERS if partitioner == "both" else (partitioner,)
    found = [executable(python) for python in pythons] or [sys.executable]
    if len(set(found)) < len(found):
        raise Mistake(f"--subject-python {_twice(found)} is given twice; give each Python once")
    configurations = tuple(
        Configuration(subject, python, target, it)
        for subject in subjects or SUBJECTS
        for python in dict.fromkeys(holder(subject, python) for python in found)
        for it in partitioners
    )
    return Options(configurations, tuple(rules), cell_timeout, hosts, record, wide)


def check_subject(subject: str) -> None:
    """A `Mistake` about --subject where there is none such."""
    if wrong := subject_problem(subject):
        raise Mistake(f"--subject {subject}: {wrong}")


def subject_problem(subject: str) -> str | None:
    """Why there is no such subject, as far as can be told before its process starts.

    One of this project's own says in `check` which arguments it takes; without that it takes none. Of anybody else's,
    its `start` decides.
    """
    if not re.fullmatch(r"\w+(\.\w+)*(:[\w.+]+)?", subject) or len(subject) > LONGEST:
        return "give a name such as stock, or a module such as my.subject; with an argument, model:0.8.3"
    name, _, argument = subject.partition(":")
    module = home(name.removeprefix("impl."))
    if module is None:
        return None
    try:
        check = getattr(import_module(module), "check", None)
        if check is not None:
            check(argument)
    except (LookupError, ValueError) as error:
        return str(error)
    return f"{name} takes no argument: got {subject}" if argument and check is None else None


def holds_jax(subject: str) -> bool:
    """Whether a subject needs the Python that holds JAX. This project's model and its faults do not."""
    return subject.partition(":")[0] not in WITHOUT_JAX


def holder(subject: str, python: str) -> str:
    """The Python that holds a subject, where `python` is the one that holds JAX."""
    return python if holds_jax(subject) else sys.executable


def _hint(pattern: str, contract: Contract) -> str:
    upper = pattern.upper()
    if any(fnmatchcase(rule, upper) for rule in contract.rules):
        return f"write {upper}"
    chapters = [[rule.id for rule in chapter.rule] for chapter in contract.chapters.values()]
    there = " and ".join(f"{min(ids)} to {max(ids)}" for ids in chapters if ids)
    return f"there are {there}; repeat --rule for several patterns"


def executable(python: str) -> str:
    """The path of a Python, symbolic links kept (they make its environment)."""
    path = shutil.which(os.path.expanduser(python))  # noqa: PTH111, a Path drops ./
    if path is None:
        raise Mistake(f"--subject-python {python}: there is no such program; give the path of an environment's python")
    return str(Path(path).absolute())


def _twice(names: Iterable[str]) -> str:
    seen: set[str] = set()
    return next(name for name in names if name in seen or seen.add(name))  # type: ignore[func-returns-value]
