"""The contract as data: rules, questions and changes, read strictly from `contract/*.toml`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, get_args

from packaging.version import InvalidVersion, Version

from .strict import Globs, Mistake, read

Level = Literal["MUST", "SHOULD", "MAY"]


def version(text: str) -> Version | None:
    """A version to compare with, or None where `text` is none (a host without JAX)."""
    try:
        return Version(text)
    except InvalidVersion:
        return None


@dataclass(frozen=True)
class Rule:
    """One normative sentence. It names its one legal observation in `expect`, or several in `outcomes`."""

    id: str
    text: str
    why: str
    change: int
    since: str
    cases: str
    level: str = "MUST"
    until: str | None = None
    needs: tuple[str, ...] = ()
    when: dict[str, Globs] = field(default_factory=dict)
    expect: dict[str, Any] | None = None
    outcomes: dict[str, dict[str, Any]] | None = None

    def __post_init__(self) -> None:
        _check(re.fullmatch(r"[A-Z]+-\d\d+", self.id), f"{self.id!r} is no rule id; write one such as PUT-04")
        _check(self.level in get_args(Level), f"level {self.level!r}; the levels are {', '.join(get_args(Level))}")
        _check(bool(self.expect) != bool(self.outcomes), "give either expect or outcomes, and let it name a field")
        _check(self.level != "MAY" or self.outcomes, "a MAY rule names its legal outcomes; else write a question")
        _check(not self.outcomes or len(self.outcomes) > 1, "one outcome alone is no choice; write it as expect")
        _check(all(self.legal.values()), "an outcome names at least one field")
        for bound in filter(None, (self.since, self.until)):
            _check(version(bound), f"{bound!r} is no version; write one such as 0.4.34")

    @property
    def chapter(self) -> str:
        return self.id.partition("-")[0]

    @property
    def legal(self) -> Mapping[str | None, Mapping[str, Any]]:
        """The legal observations by name; the only one has no name."""
        legal: dict[str | None, Mapping[str, Any]] = {None: self.expect} if self.expect else {}
        legal.update(self.outcomes or {})
        return legal

    @property
    def fields(self) -> frozenset[str]:
        """Every field of an observation that this rule judges."""
        return frozenset(name for wanted in self.legal.values() for name in wanted)

    @property
    def digest(self) -> str:
        """What a review mark repeats: it changes when the sentence or its level does."""
        return sha256(f"{self.level}\n{self.text}".encode()).hexdigest()[:8]

    def in_force(self, at: str) -> bool:
        """Whether that version promises the rule; a development version counts as the release it leads to."""
        now = version(at)
        if now is None:
            return True
        now = Version(now.base_version)
        return Version(self.since) <= now and (self.until is None or now < Version(self.until))


@dataclass(frozen=True)
class Question:
    """Where nothing could deviate: what happens is recorded and shown, never judged."""

    id: str
    text: str
    why: str
    change: int
    cases: str
    fields: tuple[str, ...]
    when: dict[str, Globs] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _check(re.fullmatch(r"[A-Z]+-Q\d+", self.id), f"{self.id!r} is no question id; write one such as PUT-Q1")
        _check(self.fields, "name the fields to record")

    @property
    def chapter(self) -> str:
        return self.id.partition("-")[0]


@dataclass(frozen=True)
class Excluded:
    """A rule that is not judged, on purpose."""

    id: str
    text: str
    reason: str


@dataclass(frozen=True)
class Chapter:
    """One file of the contract, `contract/put.toml`; its cases are in `test_put.py`."""

    chapter: str
    title: str
    rule: tuple[Rule, ...] = ()
    question: tuple[Question, ...] = ()
    excluded: tuple[Excluded, ...] = ()


@dataclass(frozen=True)
class Change:
    """A JAX change, and the rules that judge it; with none it is open."""

    number: int
    date: date
    release: str
    subject: str
    rules: tuple[str, ...] = ()


@dataclass(frozen=True)
class Changes:
    change: tuple[Change, ...] = ()


@dataclass(frozen=True)
class Contract:
    """The chapters by the name of their file, and the changes they come from."""

    chapters: Mapping[str, Chapter]
    changes: tuple[Change, ...]
    rules: Mapping[str, Rule]

    @property
    def open_changes(self) -> list[Change]:
        """The changes that no rule judges yet."""
        return [change for change in self.changes if not any(rule in self.rules for rule in change.rules)]


def load(folder: Path) -> Contract:
    """The contract in a folder, or a `Mistake`."""
    files = sorted(path for path in folder.glob("*.toml") if path.name != "changes.toml")
    if not files:
        raise Mistake(f"{folder}: there is no chapter, such as put.toml, in it")
    chapters = {path: read(path, Chapter) for path in files}
    changes = read(folder / "changes.toml", Changes).change
    homes: dict[str, Path] = {}
    numbers = {change.number for change in changes}
    for path, chapter in chapters.items():
        entries: list[Rule | Question | Excluded] = [*chapter.rule, *chapter.question, *chapter.excluded]
        for entry in entries:
            if entry.id in homes:
                raise Mistake(f"{path}: {entry.id} is already in {homes[entry.id]}; take the next number, ids stay")
            if entry.id.partition("-")[0] != chapter.chapter:
                raise Mistake(f"{path}: {entry.id} is not of chapter {chapter.chapter}; move it to its own file")
            if not isinstance(entry, Excluded) and entry.change not in numbers:
                raise Mistake(f"{path}: {entry.id} names change {entry.change}, which changes.toml has not; add it")
            homes[entry.id] = path
    for change in changes:
        if unknown := set(change.rules) - set(homes):
            names = ", ".join(sorted(unknown))
            raise Mistake(f"{folder / 'changes.toml'}: change {change.number} names {names}, in no chapter; drop it")
    rules = {rule.id: rule for chapter in chapters.values() for rule in chapter.rule}
    return Contract({path.stem: chapter for path, chapter in chapters.items()}, changes, rules)


def _check(held: object, complaint: str) -> None:
    if not held:
        raise ValueError(complaint)
