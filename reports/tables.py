"""Markdown tables out of ledgers: rows that a page chooses, versions across, a word in each place."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from reports import rules
from reports.ledgers import Ledger, LedgerError, Seen, canonical
from reports.patterns import expand
from reports.text import visible
from reports.words import release

HOLDS = "holds"
NONE = "-"


@dataclass(frozen=True)
class Row:
    """``LABEL = RULE[PATTERNS]: WORD``: what stands in front, the cases meant, and what is said where they hold.

    Without a word of its own, a rule with several legal outcomes is told by those that were seen.
    """

    label: str
    rule: str
    patterns: tuple[str, ...] = ("*",)
    holds: str = ""


def row(spelled: str) -> Row:
    """A row from its spelling; patterns and the word may be left out."""
    found = re.fullmatch(r"(.+?)\s+=\s+([A-Z]+-\d+)(?:\[([^\]]+)\])?(?::\s*(.+))?", spelled.strip())
    if found is None:
        raise LedgerError(f"{visible(spelled)!r} is no row; write LABEL = RULE[PATTERN], and : WORD for where it holds")
    label, rule, patterns, holds = found.groups()
    return Row(label, rule, tuple(patterns.split()) if patterns else ("*",), holds or "")


def table(
    ledgers: Sequence[Ledger], rows: Sequence[Row], spans: bool = False, say: Mapping[str, str] | None = None
) -> str:
    """The table. With `spans`, versions beside each other that say the same are one column; `say` has other words."""
    versions: dict[str, list[Ledger]] = {}
    for ledger in sorted(ledgers, key=lambda it: release(it.version)):
        versions.setdefault(ledger.version, []).append(ledger)
    columns = [([version], [_told(row, of, say or {}) for row in rows]) for version, of in versions.items()]
    if spans:
        grouped = [list(group) for _, group in groupby(columns, key=lambda column: column[1])]
        columns = [([version for names, _ in group for version in names], group[0][1]) for group in grouped]
    heads = [names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}" for names, _ in columns]
    body = [[row.label, *(told[number] for _, told in columns)] for number, row in enumerate(rows)]
    return "\n".join(map(_line, [["", *heads], ["---"] * (1 + len(heads)), *body]))


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(visible(cell).replace("|", "\\|") for cell in cells) + " |"


def _told(row: Row, ledgers: Sequence[Ledger], say: Mapping[str, str]) -> str:
    """What a version does: one word where the partitioners agree."""
    words: dict[str, list[str]] = {}
    for ledger in ledgers:
        words.setdefault(_words(row, ledger, say), []).append(ledger.partitioner)
    if len(words) == 1:
        return next(iter(words))
    return ", ".join(f"{word} ({' and '.join(partitioners)})" for word, partitioners in words.items())


def _words(row: Row, ledger: Ledger, say: Mapping[str, str]) -> str:
    entry, cases = ledger.rule.get(row.rule), rules.cases(ledger.version).get(row.rule)
    if (entry is None) != (cases is None) or (entry is not None and entry.total != len(cases or ())):
        raise LedgerError(f"{ledger.file} is older than the cases of {row.rule}; make sweep makes the ledgers again")
    if entry is None or cases is None:
        if all(rule.id != row.rule for rule in rules.contract().rules.values()):
            raise LedgerError(f"there is no rule {row.rule}")
        return NONE
    meant = expand(row.patterns, cases)
    if not meant:
        raise LedgerError(f"{row.rule} has no case {' '.join(row.patterns)}; one is {cases[0]}")
    words: dict[str, int] = {}
    for seen in entry.seen:
        if there := expand(seen.cases, meant):
            said = say.get(word(seen), word(seen))
            words[said] = words.get(said, 0) + len(there)
    held = len(meant) - sum(words.values())
    holds = row.holds or " or ".join(say.get(name, name) for name in sorted(entry.permitted)) or HOLDS
    return " / ".join([*([holds] if held else []), *sorted(words)])


def word(seen: Seen) -> str:
    """What was seen, in a word or two."""
    if seen.observed is None:
        return NONE
    pins = seen.observed if isinstance(seen.observed, list) else [seen.observed]
    return " or ".join(dict.fromkeys(_short(pin) for pin in pins))


def _short(observed: Mapping[str, Any]) -> str:
    if "hung" in observed:
        return "hang"
    if "signal" in observed or "exit" in observed:
        return "crash"
    raised = observed.get("raised")
    if isinstance(raised, Mapping):
        return str(raised.get("class"))
    return ", ".join(
        f"{name} {value if isinstance(value, str) else canonical(value)}" for name, value in observed.items()
    )
