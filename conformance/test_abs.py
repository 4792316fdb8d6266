"""ABS: meshes without devices: programs over them, operations on their own, and what they are as values."""

from __future__ import annotations

from dataclasses import dataclass

from conformance.kit import Case, every, judge
from conformance.probes.abs import ACTS, FORMS, INPUTS, PAIRS, SECONDS, TOGETHER
from conformance.probes.meshes import SIDES

MAPS = ("map", "sum", "both", "inner_map", "scan_map", "constant_map", "map_concrete", "concrete_map")
"""The forms that have a shard_map in them."""


class Formed(Case):
    """A case of a form of program."""

    form: str

    @property
    def devices(self) -> int:
        return 8

    @property
    def needs(self) -> tuple[str, ...]:
        return ("shard_map",) if self.form in MAPS else ()


@dataclass(frozen=True)
class Run(Formed):  # constraint-first_last
    form: str
    sides: str

    @property
    def exact(self) -> bool:
        """Whether the program says how its result is cut; through loops and branches, and backwards, it does not."""
        return self.form not in ("scan", "scan_map", "cond", "while", "grad", "vmap")


MAIN = ("constraint", "map", "inner", "constant_beside")
"""The forms that are called for all pairs of devices; the others for two disjoint sets only."""

runs = every(Run, form=FORMS, sides=PAIRS).where(
    lambda c: (
        c.sides == "first_last"
        or (c.form in MAIN and c.sides != "squares")
        or (c.form in ("constraint", "map", "both") and c.sides == "squares")
    )
)
test_runs = judge(probe="abs.run", cases=runs)


@dataclass(frozen=True)
class Guest(Formed):  # constraint-renamed
    form: str
    side: str


guests = every(Guest, form=("constraint", "map"), side=("rep", "columns", "renamed", "square", "folded", "spelled"))
test_guests = judge(probe="abs.guest", cases=guests)

texts = every(
    Run, form=("constraint", "map", "both", "inner", "scan", "cond", "grad"), sides=("first_last", "order")
).where(lambda c: c.sides == "first_last" or c.form in ("constraint", "map"))
test_texts = judge(probe="abs.text", cases=texts)

concretes = every(Run, form=("constraint", "map", "inner", "scan"), sides=("first_last", "order")).where(
    lambda c: c.sides == "first_last" or c.form in ("constraint", "map")
)
test_concretes = judge(probe="abs.concrete", cases=concretes)


@dataclass(frozen=True)
class Together(Formed):  # abstract_concrete-numpy
    form: str
    given: str


togethers = every(Together, form=TOGETHER, given=("other", "numpy", "four"))
test_togethers = judge(probe="abs.together", cases=togethers)


class Acted(Case):
    """A case of an operation on its own."""

    act: str

    @property
    def devices(self) -> int:
        return 8

    @property
    def needs(self) -> tuple[str, ...]:
        return ("shard_map",) if self.act == "map" else ()


@dataclass(frozen=True)
class Eager(Acted):  # map-square_other
    act: str
    side: str


eagers = every(Eager, act=ACTS, side=("four", "other", "back", "rep", "columns", "square", "square_other"))
test_eagers = judge(probe="abs.eager", cases=eagers)


@dataclass(frozen=True)
class Misuse(Acted):  # constraint-renamed
    act: str
    given: str


misuses = every(Misuse, act=ACTS, given=INPUTS)
test_misuses = judge(probe="abs.misuse", cases=misuses)


@dataclass(frozen=True)
class Pair(Case):  # other-last
    given: str
    turn: str

    @property
    def devices(self) -> int:
        return 8

    @property
    def placed(self) -> bool:
        """Whether the input in question lies on four devices, as the other one does."""
        return self.given in SIDES and len(SIDES[self.given].devices) == 4


pairs = every(Pair, given=SECONDS, turn=("last", "first"))
test_pairs = judge(probe="abs.pair", cases=pairs)


REVIEWED = {
    "ABS-01": "99223789",
    "ABS-02": "65302623",
    "ABS-03": "b31f9b59",
    "ABS-04": "d8bab8c8",
    "ABS-05": "96044278",
    "ABS-06": "832979e0",
    "ABS-07": "0477a233",
    "ABS-08": "8fcf3ae9",
    "ABS-09": "6ec09c2f",
    "ABS-10": "104d6692",
    "ABS-11": "fe47f16d",
    "ABS-12": "5cf72535",
    "ABS-13": "18f1b9c6",
    "ABS-14": "a4f7533c",
    "ABS-15": "2d29e800",
    "ABS-16": "c1c9801a",
    "ABS-17": "15921dee",
    "ABS-18": "ca8a9cb8",
    "ABS-19": "632a4f5c",
    "ABS-20": "dbea4ad3",
    "ABS-21": "fdb42cdb",
    "ABS-22": "fbef2a23",
    "ABS-23": "775866ac",
    "ABS-24": "75459f63",
    "ABS-25": "1834e7c2",
    "ABS-26": "f8b6202f",
    "ABS-27": "f48eec0e",
    "ABS-28": "31b4ef22",
    "ABS-29": "608c6389",
    "ABS-30": "d2ed17a7",
    "ABS-31": "f7d10dab",
    "ABS-32": "ec955777",
    "ABS-33": "32fe2571",
    "ABS-34": "bb33775f",
    "ABS-35": "eae0828e",
    "ABS-36": "07b4b32c",
    "ABS-37": "d2fe8536",
    "ABS-38": "7210aeee",
    "ABS-39": "a1bbed76",
}
