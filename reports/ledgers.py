"""Ledgers: small text files under version control, each the sum of one version x target x partitioner.

Of each rule a ledger has the counts of its verdicts, and for each way in which cells do not hold the patterns of these
cases and what was observed. It has no dates, paths or timings: the same subject and suite give the same bytes.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reports.patterns import compress, expand
from reports.text import visible
from reports.words import PARTS, VERDICTS, Configuration, release

FOLDER = Path(__file__).parent / "ledger"
_HEAD = "# Made by `python -m reports ledger write`, not by hand; docs/ledgers.md says how to read it.\n"


class LedgerError(Exception):
    """A ledger that is not one, or that cannot be made: one line."""


@dataclass(frozen=True)
class Seen:
    """One way in which cells of a rule do not hold, or could not be judged.

    ``observed`` is what was seen apart from what is as the rule expects; a list where the subject varies, as its waiver
    pins it, and then the verdict may be ``crashed or hung``.
    """

    verdict: str
    cells: int
    cases: tuple[str, ...]
    observed: Any = None
    reason: str | None = None
    waiver: str | None = None


@dataclass(frozen=True)
class Entry:
    """One rule: how many cells got each verdict, how many each legal outcome, and whatever else was seen."""

    level: str
    cells: dict[str, int]
    permitted: dict[str, int] = field(default_factory=dict)
    seen: tuple[Seen, ...] = ()

    @property
    def total(self) -> int:
        """All cells of the rule."""
        return sum(self.cells.values())

    def count(self, *verdicts: str) -> int:
        """The cells with one of these verdicts; one that varies counts under any of its own."""
        return sum(n for verdict, n in self.cells.items() if any(word in verdicts for word in verdict.split(" or ")))


@dataclass(frozen=True)
class Answer:
    """What was observed where the contract only asks, and in how many cases."""

    cells: int
    observed: dict[str, Any]


@dataclass(frozen=True)
class Asked:
    """One question and its answers."""

    answer: tuple[Answer, ...]


@dataclass(frozen=True)
class Ledger:
    """The sum of one configuration."""

    subject: str
    version: str
    target: str
    partitioner: str
    cells: dict[str, int]
    witness: str | None = None
    rule: dict[str, Entry] = field(default_factory=dict)
    question: dict[str, Asked] = field(default_factory=dict)

    @property
    def configuration(self) -> Configuration:
        """What was judged, and where."""
        return Configuration(self.subject, self.version, self.target, self.partitioner)

    @property
    def file(self) -> str:
        """The name of its file."""
        return file(self.configuration)


def file(configuration: Configuration) -> str:
    """The name of a configuration's ledger; a `LedgerError` where it would lie in another folder."""
    if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*", configuration.name):
        raise LedgerError(f"{visible(configuration.name)!r} is no name for a ledger")
    return f"{configuration.name}.toml"


def text(ledger: Ledger) -> str:
    """The ledger as TOML, one thing a line, everything in its order."""
    lines = [_HEAD.rstrip("\n")]
    lines += _pairs({part: getattr(ledger, part) for part in (*PARTS, "witness")})
    lines += _pairs({"cells": _ordered(ledger.cells)})
    rules = sorted(ledger.rule.items(), key=_by_id)
    lines += ["", "[rule]", *(line for rule, entry in rules if not entry.seen for line in rule_lines(rule, entry))]
    lines += [line for rule, entry in rules if entry.seen for line in ("", *rule_lines(rule, entry))]
    for question, asked in sorted(ledger.question.items(), key=_by_id):
        for answer in sorted(asked.answer, key=lambda it: (-it.cells, canonical(it.observed))):
            lines += ["", f"[[question.{_key(question)}.answer]]"]
            lines += _pairs({"cells": answer.cells, "observed": json.loads(canonical(answer.observed))})
    return "\n".join(lines) + "\n"


def rule_lines(rule: str, entry: Entry) -> list[str]:
    """A rule's part of the text, one line where it holds; two entries that say the same have the same."""
    told: dict[str, Any] = {"level": entry.level, "cells": _ordered(entry.cells)}
    told |= {"permitted": dict(sorted(entry.permitted.items()))} if entry.permitted else {}
    if not entry.seen:
        return [f"{_key(rule)} = {_value(told)}"]
    lines = [f"[rule.{_key(rule)}]", *_pairs(told)]
    for seen in sorted(entry.seen, key=_order):
        told = {"verdict": seen.verdict, "cells": seen.cells, "cases": _patterns(seen.cases)}
        told |= {"observed": json.loads(canonical(seen.observed)), "reason": seen.reason, "waiver": seen.waiver}
        lines += ["", f"[[rule.{_key(rule)}.seen]]", *_pairs(told)]
    return lines


def read(path: Path) -> Ledger:
    """The ledger in a file, or a `LedgerError`."""
    from conformance.kit.strict import Mistake
    from conformance.kit.strict import read as strictly

    try:
        ledger = strictly(path, Ledger)
    except Mistake as mistake:
        raise LedgerError(str(mistake)) from None
    for what in _no_observations(ledger):
        raise LedgerError(f"{path}: {what}")
    return ledger


def write(path: Path, ledger: Ledger) -> str:
    """Writes a ledger's file, at once or not at all: whether it is ``new``, ``changed`` or ``unchanged``."""
    made = text(ledger).encode()
    before = path.read_bytes() if path.exists() else None
    if before == made:
        return "unchanged"
    fresh = path.with_name(f".{path.name}.new")
    try:
        fresh.write_bytes(made)
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)
    return "new" if before is None else "changed"


def stored(folder: Path = FOLDER) -> list[Ledger]:
    """The ledgers in a folder, by subject, target, version and partitioner."""
    found = [read(path) for path in sorted(folder.glob("*.toml"))]
    return sorted(found, key=lambda it: (it.subject, it.target, release(it.version), it.partitioner != "shardy"))


def problems(path: Path, suite: Mapping[str, tuple[str, ...]] | None = None) -> list[str]:
    """What is wrong with the form of a ledger's file; `suite` has the cases of each rule that is in force there."""
    try:
        ledger = read(path)
    except LedgerError as error:
        return [str(error)]
    found = [*_form(ledger, path), *(_against(ledger, suite) if suite is not None else ())]
    return [f"{path}: {problem}" for problem in found]


def canonical(value: Any) -> str:
    """Plain data as text: equal data have equal text."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def _no_observations(ledger: Ledger) -> Iterator[str]:
    """What TOML can say and no observation is."""
    for rule, entry in ledger.rule.items():
        for number, seen in enumerate(entry.seen, 1):
            each = seen.observed if isinstance(seen.observed, list) and seen.observed else [seen.observed]
            if seen.observed is not None and not all(isinstance(it, dict) and _is_plain(it) for it in each):
                yield f"rule {rule}, seen {number}, observed: {_PLAIN}"
    for question, asked in ledger.question.items():
        for number, answer in enumerate(asked.answer, 1):
            if not _is_plain(answer.observed):
                yield f"question {question}, answer {number}, observed: {_PLAIN}"


_PLAIN = "is not a table (or a list of them) of strings, finite numbers, true, false, lists and tables"


def _is_plain(value: Any) -> bool:
    if isinstance(value, dict):
        return all(map(_is_plain, value.values()))
    if isinstance(value, list):
        return all(map(_is_plain, value))
    return isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value))


def _form(ledger: Ledger, path: Path) -> Iterator[str]:
    if path.name != f"{ledger.configuration.name}.toml":
        yield f"its name should be {ledger.configuration.name}.toml, by what it says of itself"
    if path.read_bytes().decode("utf-8") != text(ledger):
        yield "not in the form that `ledger write` gives it"
    total = Counter[str]()
    for rule, entry in ledger.rule.items():
        total.update(entry.cells)
        seen = Counter[str]()
        for it in entry.seen:
            seen[it.verdict] += it.cells
            if any(word not in VERDICTS for word in it.verdict.split(" or ")):
                yield f"{rule}: {it.verdict} is no verdict"
            if (it.observed is None) == (it.reason is None):
                yield f"{rule}: give what was observed, or the reason why nothing was"
        told = Counter({verdict: n for verdict, n in entry.cells.items() if verdict not in ("conforms", "permitted")})
        if seen != told:
            yield f"{rule}: its cells are {_told(told)}, those of its cases {_told(seen)}"
        permitted, by_outcome = entry.cells.get("permitted", 0), sum(entry.permitted.values())
        if permitted != by_outcome:
            yield f"{rule}: {permitted} cells permitted, {by_outcome} by outcome"
    if total != Counter(ledger.cells):
        yield f"its cells are {_told(ledger.cells)}, those of its rules {_told(total)}"


def _against(ledger: Ledger, suite: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    for rule in sorted(suite.keys() ^ ledger.rule.keys()):
        yield f"{rule} is {'not in it' if rule in suite else 'no rule of the contract there'}"
    for rule in sorted(suite.keys() & ledger.rule.keys()):
        entry, cases = ledger.rule[rule], suite[rule]
        if entry.total != len(cases):
            yield f"{rule}: {entry.total} cells, and the suite has {len(cases)} cases"
            continue
        meant = [expand(it.cases, cases) for it in entry.seen]
        for it, members in zip(entry.seen, meant, strict=True):
            if len(members) != it.cells:
                yield f"{rule}: {' '.join(it.cases)} is {len(members)} cases, not {it.cells}"
            elif compress(members, cases) != it.cases:
                yield f"{rule}: {' '.join(it.cases)} is said with fewer as {' '.join(compress(members, cases))}"
        if sum(map(len, meant)) != len(frozenset().union(*meant)):
            yield f"{rule}: a case is in two of its patterns"


def _told(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{n} {verdict}" for verdict, n in counts.items() if n) or "none"


def _by_id(item: tuple[str, Any]) -> tuple[str, int, str]:
    chapter, _, number = item[0].partition("-")
    return chapter, len(number), number


def _order(seen: Seen) -> tuple[int, str, list[str]]:
    word = seen.verdict.split(" or ")[0]
    return VERDICTS.index(word) if word in VERDICTS else len(VERDICTS), seen.verdict, _patterns(seen.cases)


def _patterns(patterns: Iterable[str]) -> list[str]:
    return sorted(patterns, key=lambda pattern: (pattern.startswith("!"), pattern))


def _ordered(counts: Mapping[str, int]) -> dict[str, int]:
    """Verdicts in their own order, without those that no cell got."""
    words = [*(v for v in VERDICTS if counts.get(v)), *sorted(v for v in counts if v not in VERDICTS and counts[v])]
    return {word: counts[word] for word in words}


def _pairs(told: Mapping[str, Any]) -> Iterator[str]:
    """Keys with their values; a list of several strings has one a line, so that a diff shows which one changed."""
    for key, value in told.items():
        if isinstance(value, list) and len(value) > 1:
            yield from [f"{key} = [", *(f"    {_value(item)}," for item in value), "]"]
        elif value is not None:
            yield f"{key} = {_value(value)}"


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(key)} = {_value(it)}" for key, it in value.items()) + "}"
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    told = json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return told.encode("utf-8", "replace").decode()  # half a surrogate pair is no text


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _value(key)
