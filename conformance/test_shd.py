"""SHD: shardings compared with each other, as they cut arrays, and as programs write them."""

from __future__ import annotations

from dataclasses import dataclass

from conformance.kit import Case, every, judge
from conformance.probes.shardings import ALL, GROUPS, MORE, RANKS, partners


def group_of(name: str) -> str:
    """The group of a sharding by its name."""
    return next((group for group in MORE if name in MORE[group]), "base")


def needed(*groups: str) -> tuple[str, ...]:
    """The capabilities that groups of shardings take."""
    return tuple(dict.fromkeys(GROUPS[group] for group in groups if group in GROUPS))


# --- compared with each other -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Compare(Case):  # 2-square_x.y-base
    rank: int
    sharding: str
    against: str

    @property
    def devices(self) -> int:
        return 8

    @property
    def needs(self) -> tuple[str, ...]:
        return needed(group_of(self.sharding), self.against)

    @property
    def meets(self) -> str:
        """Every relation that the sharding has to one of those that it is compared with."""
        return "-".join(sorted({relation for _, _, relation in partners(self.rank, self.sharding, self.against)}))


NAMES = list(dict.fromkeys(name for rank in RANKS for name in ALL[rank]))
comparisons = every(Compare, rank=RANKS, sharding=NAMES, against=("base", *GROUPS)).where(
    lambda c: (
        c.sharding in ALL[c.rank]
        and (c.against == "base" or group_of(c.sharding) in list(GROUPS)[: list(GROUPS).index(c.against) + 1])
    )
)
test_comparisons = judge(probe="shd.compare", cases=comparisons)


@dataclass(frozen=True)
class Relate(Case):  # 2-positional
    rank: int
    group: str

    @property
    def devices(self) -> int:
        return 8

    @property
    def needs(self) -> tuple[str, ...]:
        return needed(self.group)


relations = every(Relate, rank=RANKS, group=("base", *GROUPS)).where(lambda c: c.group == "base" or c.rank == 2)
test_relations = judge(probe="shd.relate", cases=relations)

REVIEWED = {
    "SHD-01": "9563eafd",
    "SHD-02": "ca0024bc",
    "SHD-03": "dec0c7f4",
    "SHD-04": "4e4e3cdd",
    "SHD-05": "6ab07ca1",
    "SHD-06": "afffba11",
    "SHD-07": "6110555a",
    "SHD-08": "a7ea9862",
    "SHD-09": "c60017ce",
    "SHD-10": "37a94047",
    "SHD-11": "7831df5a",
    "SHD-12": "1c99b0d9",
    "SHD-13": "ca596bc5",
    "SHD-14": "6cae9883",
    "SHD-15": "2ceab95b",
}
