"""The ledgers as a matrix: versions across, chapters and the rules that do not hold everywhere down; 80 columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import groupby

from reports.drift import how
from reports.ledgers import Entry, Ledger
from reports.rules import Rule, title
from reports.text import WIDTH, plain, plural, visible, wrap
from reports.words import DEVIATING, HELD, release

_LEFT = 20
_COLUMN = 6
_DEATHS = ("crashed", "hung")
_CHAPTER: Mapping[str, Callable[[Entry], int]] = {
    "cells": lambda entry: entry.total,
    "hold": lambda entry: entry.count(*HELD),
    "deviate": lambda entry: entry.count("deviates"),
    "crash or hang": lambda entry: entry.count(*_DEATHS),
    "unsupported": lambda entry: entry.count("unsupported"),
}
_LEGEND = """\
A rule's row says how many of its cells do not hold: . none, ! some of these end
or hang the process, - none judged (the rule is out of force, or no such API).
Where the partitioners differ, the row is {first}'s and the next one the other's."""

Places = Mapping[str, Mapping[str, Ledger]]
"""Ledgers by partitioner and version."""


def matrix(ledgers: Sequence[Ledger], named: Sequence[str] = (), rules: Mapping[str, Rule] | None = None) -> str:
    """The matrix of each subject and target among the ledgers; so many versions across as fit, the others beneath.

    Rules have a row each where they do not hold everywhere. With `named`, these have one and the others are counted,
    and what these say stands at the end.
    """
    blocks = []
    for (subject, target), group in groupby(ledgers, key=lambda it: (it.subject, it.target)):
        places = _places(group)
        versions = sorted({version for of in places.values() for version in of}, key=release)
        most = (WIDTH - _LEFT) // _COLUMN
        for start in range(0, len(versions), most):
            heading = f"{subject} {target}, {' and '.join(places)}"
            blocks.append(
                "\n".join([*wrap(visible(heading)), "", *_block(places, versions[start : start + most], named)])
            )
    first = next((name for name in ("shardy", "gspmd") if any(it.partitioner == name for it in ledgers)), "the first")
    levels = {rule: entry.level for ledger in ledgers for rule, entry in ledger.rule.items()}
    said = [line for rule in named for line in wrap(title(rule, levels[rule], rules), hang=2)]
    return "\n\n".join([*blocks, _LEGEND.format(first=first), *(["\n".join(said)] if said else [])])


def details(ledgers: Sequence[Ledger], wanted: Sequence[str], rules: Mapping[str, Rule] | None = None) -> str:
    """These rules one by one: what does not hold, and from which version to which."""
    lines: list[str] = []
    for rule in wanted:
        level = next(ledger.rule[rule].level for ledger in ledgers if rule in ledger.rule)
        lines += ["", *wrap(title(rule, level, rules), hang=2)]
        for (subject, target), group in groupby(ledgers, key=lambda it: (it.subject, it.target)):
            places = _places(group)
            versions = sorted({version for of in places.values() for version in of}, key=release)
            alike = groupby(versions, key=lambda version: _told(rule, version, places))
            for told, run in alike:
                first, *rest = run
                span = f"{first} to {rest[-1]}" if rest else first
                lines += wrap(visible(f"{subject} {target}, {span}"), indent=2, hang=2)
                lines += told
    return "\n".join(lines[1:])


def _places(ledgers: Iterable[Ledger]) -> Places:
    places: dict[str, dict[str, Ledger]] = {}
    for ledger in sorted(ledgers, key=lambda it: it.partitioner != "shardy"):  # that of today first
        places.setdefault(ledger.partitioner, {})[ledger.version] = ledger
    return places


def _block(places: Places, versions: Sequence[str], named: Sequence[str]) -> list[str]:
    there = [ledger for of in places.values() for ledger in of.values()]
    levels = {rule: entry.level for ledger in there for rule, entry in ledger.rule.items()}
    lines = _heads(versions)
    for chapter, group in groupby(sorted(levels), key=lambda rule: rule.partition("-")[0]):
        rules = tuple(group)
        for what, count in _CHAPTER.items():
            name = chapter if what == "cells" else ""
            rows = _rows(f"{plain(name, 5):<5} {what}", places, versions, partial(_total, rules, count))
            lines += rows if what in ("cells", "hold") or _any(rows) else []
        of_each = {
            rule: _rows(f"  {plain(rule, 9)} {levels[rule]}", places, versions, partial(_failing, rule))
            for rule in rules
        }
        shown = [rule for rule in rules if (rule in named if named else _any(of_each[rule]))]
        lines += [row for rule in shown for row in of_each[rule]]
        lines += _others([_any(rows) for rule, rows in of_each.items() if rule not in shown])
    return lines


def _others(fail: Sequence[bool]) -> list[str]:
    """What is said of rules without a row: whether each has cells that do not hold."""
    counted = {"with some": sum(fail), "with none": len(fail) - sum(fail)}
    told = " and ".join(f"{plural(n, 'rule')} {how}" for how, n in counted.items() if n)
    return [f"  and {told}"] if told else []


def _any(rows: Sequence[str]) -> bool:
    """Whether a row counts anything."""
    return any(digit in row[_LEFT:] for row in rows for digit in "123456789")


def _rows(label: str, places: Places, versions: Sequence[str], told: Callable[[Ledger], str]) -> list[str]:
    """One row where the partitioners agree, otherwise one of each."""
    of_each = {name: [told(of[v]) if v in of else "" for v in versions] for name, of in places.items()}
    agreed = [{column for column in columns if column} for columns in zip(*of_each.values(), strict=True)]
    if all(len(said) <= 1 for said in agreed):
        return [_row(label, ["".join(said) for said in agreed])]
    (_, first), *others = of_each.items()
    return [_row(label, first), *(_row(f"        {plain(name, 11)}", told) for name, told in others)]


def _row(label: str, columns: Iterable[str]) -> str:
    return (label.ljust(_LEFT) + "".join(column.rjust(_COLUMN) for column in columns)).rstrip()


def _heads(versions: Sequence[str]) -> list[str]:
    """Versions over two lines: ``0.12`` above ``.0.1``."""
    split = [visible(version, 20).split(".") for version in versions]
    above = [".".join(parts[:2]) for parts in split]
    beneath = ["".join(f".{part}" for part in parts[2:]) for parts in split]
    return [_row("", above), _row("", beneath)]


def _total(rules: Sequence[str], count: Callable[[Entry], int], ledger: Ledger) -> str:
    entries = [ledger.rule[rule] for rule in rules if rule in ledger.rule]
    return str(sum(map(count, entries))) if entries else "-"


def _failing(rule: str, ledger: Ledger) -> str:
    entry = ledger.rule.get(rule)
    if entry is None or entry.count("unsupported") == entry.total:
        return "-"
    failing = entry.count(*DEVIATING)
    return f"{failing}{'!' if entry.count(*_DEATHS) else ''}" if failing else "."


def _told(rule: str, version: str, places: Places) -> tuple[str, ...]:
    """What a version does with a rule: what the partitioners agree on once."""
    each: dict[tuple[str, ...], list[str]] = {}
    for partitioner, of in places.items():
        if version in of:
            each.setdefault(_lines(of[version].rule.get(rule)), []).append(partitioner)
    if len(each) == 1:
        return next(iter(each))
    return tuple(line for told, names in each.items() for line in (f"    {' and '.join(names)}", *told))


def _lines(entry: Entry | None) -> tuple[str, ...]:
    if entry is None:
        return ("    out of force",)
    lines = wrap(f"{entry.count(*HELD)} of {plural(entry.total, 'cell')} hold", indent=4, hang=2)
    for seen in entry.seen:
        waiver = f" ({seen.waiver})" if seen.waiver else ""
        lines += wrap(f"{plural(seen.cells, 'cell')}: {how(seen)}{visible(waiver)}", indent=4, hang=2)
        lines += [f"      {visible(pattern)}" for pattern in seen.cases]
    return tuple(lines)
