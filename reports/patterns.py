"""Case ids as few patterns: globs that match exactly the cases meant, among all the cases there are."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache
from itertools import combinations

BUT = "!"
"""Before a glob: all the cases that it matches are left out."""
_JOINT = re.compile(r"(-|_to_)")
_MOST_FIELDS = 8
"""Fields of an id that a glob may leave open, each by itself; of a longer id the last ones go together."""


def compress(members: Collection[str], cases: Collection[str]) -> tuple[str, ...]:
    """Few and plain globs for exactly these members of `cases`; the same whatever order they come in.

    A glob leaves whole fields of an id open: ``*_to_other4-donate-*``. Where that saves a third of the globs, they are
    all cases of what the members have in common but some: ``*-donate-*``, ``!*_to_perm-*``.
    """
    wanted, there = frozenset(members), frozenset(cases)
    if strangers := wanted - there:
        raise ValueError(f"{min(strangers)} is none of the cases")
    if not wanted:
        return ()
    told = _cover(wanted, there)
    common = _common(wanted, there)
    inside = expand([common], there)
    but = _cover(inside - wanted, inside) if len(told) > 2 else told
    return (common, *(BUT + glob for glob in but)) if 3 * (1 + len(but)) <= 2 * len(told) else told


def expand(patterns: Iterable[str], cases: Iterable[str]) -> frozenset[str]:
    """The cases that any of the patterns matches, without those that one with a ``!`` leaves out."""
    meant: tuple[list[str], list[str]] = [], []
    for pattern in patterns:
        meant[pattern.startswith(BUT)].append(fnmatch.translate(pattern.removeprefix(BUT)))
    matches, left_out = (re.compile("|".join(globs) or "(?!)").match for globs in meant)
    return frozenset(case for case in cases if matches(case) and not left_out(case))


@cache  # partitioners, and versions of JAX, mostly deviate alike
def _cover(wanted: frozenset[str], cases: frozenset[str]) -> tuple[str, ...]:
    """Globs that match these cases alone: the one that covers most first, then without those that others make needless.

    Of those that cover as much the plainest is taken.
    """
    found = {glob: expand([glob], wanted) for glob in _exact(sorted(wanted), cases - wanted)}
    chosen: list[str] = []
    left = wanted
    while left:
        best = min(found, key=lambda glob: (-len(found[glob] & left), _plainness(glob)))
        chosen.append(best)
        left -= found[best]
    for glob in sorted(chosen, key=lambda glob: (len(found[glob]), glob)):
        rest = [other for other in chosen if other != glob]
        if wanted == frozenset().union(*(found[other] for other in rest)):
            chosen = rest
    return tuple(sorted(chosen))


def _exact(wanted: Sequence[str], others: frozenset[str]) -> set[str]:
    """The globs that match one of `wanted` and none of `others`, without those that leave less open than another."""
    exact: dict[str, bool] = {}
    kept: set[str] = set()
    for case in wanted:
        named: list[frozenset[int]] = []
        for fields, glob in _globs(case):
            if any(fewer <= fields for fewer in named):
                continue
            if glob not in exact:
                match = re.compile(fnmatch.translate(glob)).match
                exact[glob] = not any(map(match, others))
            if exact[glob]:
                named.append(fields)
                kept.add(glob)
    return kept


def _globs(case: str) -> Iterator[tuple[frozenset[int], str]]:
    """The id with each choice of its fields named and the others left open, the fewest named first."""
    fields, joints = _split(case)
    for size in range(len(fields) + 1):
        for named in combinations(range(len(fields)), size):
            yield frozenset(named), _glob(fields, joints, frozenset(named))


def _common(members: frozenset[str], cases: frozenset[str]) -> str:
    """The id with only those fields named that tell all the members from some of the other cases."""
    fields, joints = _split(min(members))
    told = _shared(members, fields, joints) - _shared(cases, fields, joints)
    return _glob(fields, joints, frozenset(told))


def _shared(cases: Collection[str], fields: Sequence[str], joints: Sequence[str]) -> set[int]:
    """Which of the fields are the same in every case; none where an id is built otherwise."""
    shared = set(range(len(fields)))
    for case in cases:
        others, between = _split(case)
        shared = {n for n in shared if others[n] == fields[n]} if between == joints else set()
    return shared


def _split(case: str) -> tuple[list[str], list[str]]:
    """The fields of an id, and what stands before each."""
    parts = _JOINT.split(case, maxsplit=_MOST_FIELDS - 1)
    return parts[::2], ["", *parts[1::2]]


def _glob(fields: Sequence[str], joints: Sequence[str], named: frozenset[int]) -> str:
    glob = ""
    for number, (joint, field) in enumerate(zip(joints, fields, strict=True)):
        if number in named:
            glob += joint + field
        elif not glob.endswith("*"):
            glob += joint + "*"
    return glob


def _plainness(glob: str) -> tuple[int, int, str]:
    """The fewer fields are named the plainer, then the shorter, then by spelling."""
    return sum(field != "*" for field in _JOINT.split(glob)[::2]), len(glob), glob
