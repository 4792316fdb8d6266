"""Counts of verdicts, as every report shows them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from reports.words import ALWAYS_SHOWN, PARTS, RED_UNLESS_WAIVED, VERDICTS, Configuration

if TYPE_CHECKING:
    import pandas as pd

WAIVED = "waived"
UNEXPECTED = "unexpected"
COUNTED = (*VERDICTS, WAIVED, UNEXPECTED)
"""The verdicts of a group of cells add up to its size; beside them, how many are waived and how many are unexpected."""


def by(cells: pd.DataFrame, group: str) -> dict[str, dict[Configuration, Counter[str]]]:
    """For each value of the column `group`, in order, and each configuration that has cells there: the counts.

    The counter knows each word of `COUNTED`, and each verdict apart: ``"crashed, waived"``, ``"crashed, unexpected"``.
    """
    found: dict[str, dict[Configuration, Counter[str]]] = {}
    keys = [group, *PARTS, "verdict", "unexpected"]
    frame = cells[keys].assign(waived=known(cells))
    for (value, *parts, verdict, unexpected, waived), size in sizes(frame, [*keys, "waived"]):
        counts = found.setdefault(str(value), {}).setdefault(Configuration(*parts), Counter())
        counts[verdict] += size
        counts[UNEXPECTED] += size * unexpected
        counts[WAIVED] += size * waived
        counts[f"{verdict}, waived"] += size * waived
        counts[f"{verdict}, unexpected"] += size * unexpected
    return dict(sorted(found.items()))


def sizes(frame: pd.DataFrame, keys: Sequence[str]) -> Iterator[tuple[tuple[Any, ...], int]]:
    """Each combination of the columns `keys` that occurs, in order, with the number of its rows."""
    size = frame.groupby(list(keys), observed=True).size()
    combinations: Any = size.index
    return zip(combinations.tolist(), size.tolist(), strict=True)


def compilations(cells: pd.DataFrame) -> dict[Configuration, dict[str, tuple[int, int]]]:
    """By configuration, where they are counted, and chapter: the programs that were compiled, and the cells there are.

    A program is counted with the observation for which it was compiled, however many cells and observations share it.
    """
    frame = cells[[*PARTS, "chapter", "observation", "case", "cost"]]
    size = dict(sizes(frame, [*PARTS, "chapter"]))
    found: dict[Configuration, dict[str, tuple[int, int]]] = {}
    once = frame.drop_duplicates([*PARTS, "chapter", "observation", "case"])
    for (*parts, chapter, cost), n in sizes(once, [*PARTS, "chapter", "cost"]):
        compiled = json.loads(cost).get("compile")
        if isinstance(compiled, int):
            chapters = found.setdefault(Configuration(*parts), {})
            before, _ = chapters.get(chapter, (0, 0))
            chapters[chapter] = before + n * compiled, size[*parts, chapter]
    return found


def matrix(cells: pd.DataFrame) -> list[dict[str, Any]]:
    """Chapters x configurations as plain data: every count, zeros too."""
    return [
        {"chapter": chapter, "configuration": configuration.name, **{what: found[what] for what in COUNTED}}
        for chapter, row in by(cells, "chapter").items()
        for configuration, found in row.items()
    ]


def known(cells: pd.DataFrame) -> pd.Series[bool]:
    """Which cells deviate as a waiver says they do."""
    return cells["waiver"].notna() & ~cells["unexpected"] & cells["verdict"].isin(RED_UNLESS_WAIVED)


def shown(counts: Sequence[Counter[str]]) -> list[str]:
    """What is worth a column: what occurs, and what is always shown."""
    return [what for what in COUNTED if what in (*ALWAYS_SHOWN, UNEXPECTED) or any(c[what] for c in counts)]
