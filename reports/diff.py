"""Two runs compared, cell by cell.

A cell of A meets the cell of B of the same rule and case in the paired configuration. Two configurations pair when they
agree in every part that takes several values within A or within B, of one subject. So two versions compare when each
file has one, with each partitioner beside its like and the model beside the model; and nothing pairs by guessing.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reports.run import Run
from reports.words import DEVIATING, HELD, PARTS, Configuration

if TYPE_CHECKING:
    import pandas as pd

CATEGORIES = {
    "newly deviating": "held in A, deviates, crashes or hangs in B",
    "changed verdict": "another kind of verdict, such as a deviation that now crashes, or a cell no longer judged",
    "changed deviation": "the same verdict in both, another observation",
    "vanished": "judged in A, not in B",
    "appeared": "judged in B, not in A",
    "newly conforming": "deviated, crashed or hung in A, holds in B",
}
"""What may become of a cell, the worst first."""


_COMPARED = ["rule", "case", "level", "name", "verdict", "observed"]
_CHANGE = ["category", "regression", "rule", "level", "case", "pair"]
_CHANGE += [f"{column}_{side}" for side in "ab" for column in ("name", "verdict", "observed")]


class DiffError(Exception):
    """The two runs have nothing that can be compared: one line."""


@dataclass(frozen=True)
class Diff:
    """What changed from A to B.

    ``changes`` has one row per changed cell: ``category``, ``regression``, ``rule``, ``level``, ``case``, ``pair`` (its
    place in ``pairs``), and for each side ``name``, ``verdict`` and ``observed`` with the suffix ``_a`` or ``_b``, null
    where that side has no such cell.
    """

    a: Run
    b: Run
    pairs: tuple[tuple[Configuration, Configuration], ...]
    only_a: tuple[Configuration, ...]
    only_b: tuple[Configuration, ...]
    compared: int
    changes: pd.DataFrame

    @property
    def regressions(self) -> int:
        """Cells that lost something."""
        return int(self.changes["regression"].sum())

    @property
    def gaps(self) -> tuple[str, ...]:
        """Why "no regression" would not be the whole truth."""
        gaps = [f"{side} is partial" for side, run in (("A", self.a), ("B", self.b)) if run.partial]
        gaps += [f"{c.name} of A has no counterpart in B" for c in self.only_a]
        if self.b.selected and (self.changes["category"] == "vanished").any():
            gaps.append("B is a selection that leaves out cells of A")
        return tuple(gaps)

    @property
    def exit(self) -> int:
        """The exit status: 1 with a regression, 3 without one but with gaps, otherwise 0."""
        return 1 if self.regressions else 3 if self.gaps else 0


def compare(a: Run, b: Run, only_a: str = "*", only_b: str = "*") -> Diff:
    """What changed from `a` to `b`, of the configurations whose name matches the globs."""
    of_a, of_b = _chosen(a, only_a, "A"), _chosen(b, only_b, "B")
    pairs = paired(of_a, of_b)
    if not pairs:
        raise DiffError("A and B have no configuration that can be paired; choose one on each side with --a and --b")
    both = _matched(a, b, pairs)
    return Diff(
        a=a,
        b=b,
        pairs=tuple(pairs.items()),
        only_a=tuple(c for c in of_a if c not in pairs),
        only_b=tuple(c for c in of_b if c not in pairs.values()),
        compared=int((both["found"] == "both").sum()),
        changes=changes(both, b_is_whole=not (b.partial or b.selected)),
    )


def _chosen(run: Run, glob: str, side: str) -> list[Configuration]:
    names = [judged.configuration for judged in run.configurations]
    chosen = [c for c in names if fnmatch.fnmatchcase(c.name, glob)]
    if names and not chosen:
        raise DiffError(f"no configuration of {side} is called '{glob}'; it has {', '.join(c.name for c in names)}")
    return chosen


def paired(of_a: Sequence[Configuration], of_b: Sequence[Configuration]) -> dict[Configuration, Configuration]:
    """Each configuration of A that has a counterpart in B, with it."""
    varying = [i for i in range(len(PARTS)) if any(_several(of, i) for of in (of_a, of_b))]

    def key(configuration: Configuration) -> tuple[str, ...]:
        return tuple(configuration.parts[i] for i in varying)

    there = {key(c): c for c in of_b}
    return {c: there[key(c)] for c in of_a if key(c) in there}


def _several(of: Sequence[Configuration], part: int) -> bool:
    """Whether a part takes several values: among the subjects, or beneath one of them."""
    found = {(c.subject, c.parts[part]) for c in of}
    return len(found) > (len({c.subject for c in of}) if part else 1)


def _matched(a: Run, b: Run, pairs: Mapping[Configuration, Configuration]) -> pd.DataFrame:
    """One row per rule, case and pair: the verdicts and observations of both sides, and how it came about."""
    left = _side(a, {c: number for number, c in enumerate(pairs)})
    right = _side(b, {c: number for number, c in enumerate(pairs.values())})
    return met(left, right)


def met(left: pd.DataFrame, right: pd.DataFrame) -> pd.DataFrame:
    """The cells of both sides, each beside its like; ``found`` says which sides have it."""
    return left.merge(right, on=["rule", "case", "pair"], how="outer", suffixes=("_a", "_b"), indicator="found")


def _side(run: Run, number: Mapping[Configuration, int]) -> pd.DataFrame:
    import numpy as np

    parts = list(PARTS)
    found = [number.get(Configuration(*c), -1) for c in run.cells[parts].drop_duplicates().to_numpy()]
    side = run.cells[_COMPARED].astype(object)
    side["pair"] = np.array(found, dtype="int64")[run.cells.groupby(parts, observed=True, sort=False).ngroup()]
    return side[side["pair"] >= 0]


def changes(both: pd.DataFrame, b_is_whole: bool) -> pd.DataFrame:
    """What became of the cells that have met: one row per change, as `Diff.changes`."""
    import numpy as np

    was, now = both["verdict_a"], both["verdict_b"]
    vanished, appeared = both["found"] == "left_only", both["found"] == "right_only"
    held, holds, deviated, deviates = was.isin(HELD), now.isin(HELD), was.isin(DEVIATING), now.isin(DEVIATING)
    categories = {
        "vanished": vanished,
        "appeared": appeared,
        "newly deviating": held & deviates,
        "newly conforming": deviated & holds,
        "changed verdict": was != now,
        "changed deviation": deviated & (both["observed_a"] != both["observed_b"]),
    }
    category = np.select(list(categories.values()), list(categories), default="")
    lost = held & ~holds & (~vanished | b_is_whole)
    worse = (was == "deviates") & now.isin(("crashed", "hung"))
    level = both["level_b"].where(both["level_b"].notna(), both["level_a"])
    found = both.assign(category=category, regression=lost | worse, level=level)[_CHANGE]
    return found[found["category"] != ""].sort_values(["rule", "case", "pair"], ignore_index=True)
