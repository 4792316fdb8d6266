"""Case ids as patterns: exactly the cases meant, the same whatever the order, and short enough to read."""

from __future__ import annotations

import random
from itertools import product

import pytest

from reports.patterns import compress, expand

SOURCES, TARGETS = ("one", "x", "xy", "rep"), ("none", "same", "perm", "other4", "yx")
CASES = [
    f"{source}_to_{target}-{flags}-{array}"
    for source, target, flags, array in product(
        SOURCES, TARGETS, ("alias", "copy", "donate", "delete_input"), ("f32_8x8", "i8_3")
    )
]
MIXED = [*CASES, "key", "key-typed", "tree-of-4", "x_to_", "a-b-c-d-e-f-g-h-i-j-k", "a-b-c-d-e-f-g-h-i-j-z"]


def of(*globs: str) -> frozenset[str]:
    return expand(globs, CASES)


@pytest.mark.parametrize("cases", [CASES, MIXED], ids=["one shape", "mixed shapes"])
@pytest.mark.parametrize("seed", range(12))
def test_patterns_match_exactly_the_members_in_whatever_order_they_come(seed: int, cases: list[str]) -> None:
    dice = random.Random(seed)
    members = dice.sample(cases, dice.randint(1, len(cases)))
    told = compress(members, cases)
    assert expand(told, cases) == frozenset(members)
    shuffled = dice.sample(cases, len(cases))
    assert compress(set(members), shuffled) == told
    assert compress(dice.sample(members, len(members)), set(cases)) == told


@pytest.mark.parametrize("seed", range(12))
def test_whole_fields_are_found_again(seed: int) -> None:
    """Cases chosen by two globs need no more than two, or all but some."""
    dice = random.Random(seed)
    globs = [
        f"{dice.choice(['*', *SOURCES])}_to_{dice.choice(TARGETS)}-{dice.choice(['*', 'copy', 'donate'])}-*"
        for _ in range(2)
    ]
    assert len(compress(of(*globs), CASES)) <= 2


@pytest.mark.parametrize(
    ("members", "told"),
    [
        (of("*"), ("*",)),
        (of("*_to_other4-donate-*"), ("*_to_other4-donate-*",)),
        (of("*-i8_3"), ("*-i8_3",)),
        (of("*") - of("*_to_perm-*", "*_to_same-copy-*"), ("*", "!*_to_perm-*", "!*_to_same-copy-*")),
        (of("*_to_perm-*", "*_to_same-*"), ("*_to_perm-*", "*_to_same-*")),
        (of("*-copy-*") - of("*_to_perm-*"), ("*-copy-*", "!*_to_perm-*")),
        (of("x_to_same-copy-i8_3"), ("x_to_same-copy-i8_3",)),
        (frozenset(), ()),
    ],
)
def test_what_people_would_write(members: frozenset[str], told: tuple[str, ...]) -> None:
    assert compress(members, CASES) == told


def test_only_cases_that_are_there_count() -> None:
    assert compress(["x_to_same-copy-i8_3"], ["x_to_same-copy-i8_3", "x_to_perm-copy-i8_3"]) == ("*_to_same-*",)
    with pytest.raises(ValueError, match="nowhere is none of the cases"):
        compress(["nowhere"], CASES)
