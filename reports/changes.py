"""A diff as text for people and as data for programs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from reports.diff import CATEGORIES, Diff
from reports.jsonable import about, rows
from reports.rules import Rule, title
from reports.run import Run
from reports.text import gist, plural, visible, wrap
from reports.words import DEVIATING

if TYPE_CHECKING:
    import pandas as pd

FEW = 5
"""Cells named for each kind of change, unless every one is asked for."""


def text(diff: Diff, rules: Mapping[str, Rule] | None = None, every: bool = False) -> str:
    """What changed: categories, rules beneath, and beneath those each kind of change with its cells."""
    lines = [*_side("A", diff.a), *_side("B", diff.b), ""]
    lines += [
        line for a, b in diff.pairs for line in wrap(visible(f"{a.name} -> {b.name}" if a != b else a.name), hang=3)
    ]
    lines += [line for b in diff.only_b for line in wrap(visible(f"{b.name} is in B only, so not compared"), hang=3)]
    for category, meaning in CATEGORIES.items():
        cells = diff.changes[diff.changes["category"] == category]
        if not cells.empty:
            regressions = plural(int(cells["regression"].sum()), "regression")
            lines += ["", *wrap(f"{category.upper()}: {plural(len(cells), 'cell')}, {regressions} ({meaning})", hang=2)]
            lines += _by_rule(cells, rules, len(cells) if every else FEW)
    found = f"{plural(len(diff.changes), 'change')}, {plural(diff.regressions, 'regression')}"
    lines += ["", f"{plural(diff.compared, 'cell')} compared: {found}."]
    lines += [line for gap in diff.gaps for line in wrap(f"NOT THE WHOLE TRUTH: {visible(gap)}", hang=2)]
    return "\n".join(lines)


def data(diff: Diff) -> dict[str, Any]:
    """The same for programs; observations are objects."""
    return {
        "a": about(diff.a),
        "b": about(diff.b),
        "pairs": [[a.name, b.name] for a, b in diff.pairs],
        "only_a": [c.name for c in diff.only_a],
        "only_b": [c.name for c in diff.only_b],
        "compared": diff.compared,
        "regressions": diff.regressions,
        "gaps": list(diff.gaps),
        "changes": rows(diff.changes.drop(columns="pair")),
    }


def _side(letter: str, run: Run) -> list[str]:
    facts = about(run)
    flags = [word for word in ("partial", "selected") if facts[word]]
    told = ", ".join([plural(len(run.cells), "cell"), f"started {facts['started'] or 'at an unknown time'}", *flags])
    lines = wrap(f"{letter}: {visible(str(run.path))} ({visible(told)})", hang=3)
    return lines + [line for problem in run.problems for line in wrap(problem, indent=3, hang=2)]


def _by_rule(cells: pd.DataFrame, rules: Mapping[str, Rule] | None, most: int) -> list[str]:
    lines: list[str] = []
    for (rule, level), group in cells.groupby(["rule", "level"], sort=True):
        lines += wrap(title(str(rule), str(level), rules), indent=2, hang=2)
        kinds: dict[str, list[str]] = {}
        cell: Any
        for cell in group.itertuples(index=False):
            kinds.setdefault(_kind(cell), []).append(
                visible(cell.name_b if isinstance(cell.name_b, str) else cell.name_a)
            )
        for kind, names in kinds.items():
            lines += wrap(f"{plural(len(names), 'cell')}: {kind}", indent=4, hang=2)
            lines += [f"      {name}" for name in names[:most]]
            lines += [f"      and {len(names) - most:,} more (--all names them)"] if len(names) > most else []
    return lines


def _kind(cell: Any) -> str:
    """``conforms -> crashed, SIGSEGV at is_deleted``."""
    sides = []
    for verdict, observed in ((cell.verdict_a, cell.observed_a), (cell.verdict_b, cell.observed_b)):
        if not isinstance(verdict, str):
            sides.append("no cell")
        elif verdict in DEVIATING:
            sides.append(f"{verdict}, {visible(gist(observed), 120)}")
        else:
            sides.append(verdict)
    return " -> ".join(sides)
