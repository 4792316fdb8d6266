"""ABS: meshes without devices: programs over them, operations on their own, and what they are as values."""

from __future__ import annotations

from dataclasses import dataclass

from conformance.kit import Case, Eight, Four, every, judge
from conformance.probes.abs import (
    ACTS,
    ALIKE,
    COUNTED,
    FORMS,
    HAVING,
    INPUTS,
    KEPT,
    LACKING,
    NOWHERE,
    PAIRS,
    PUT_FLAGS,
    RANKS,
    SECONDS,
    SPELLED,
    TAKES,
    TOGETHER,
    TREE_ACTS,
    TREES,
    WAYS,
)
from conformance.probes.meshes import SIDES

MAPS = ("map", "sum", "both", "inner_map", "scan_map", "constant_map", "map_concrete", "concrete_map")
"""The forms that have a shard_map in them."""


class Formed(Eight):
    """A case of a form of program."""

    form: str

    @property
    def needs(self) -> tuple[str, ...]:
        return ("shard_map",) if self.form in MAPS else ()


@dataclass(frozen=True)
class Called(Formed):  # constraint-first_last
    form: str
    sides: str

    @property
    def exact(self) -> bool:
        """Whether the program says how its result is cut; through loops and branches, and backwards, it does not."""
        return self.form not in ("scan", "scan_map", "cond", "while", "grad", "vmap")


class Run(Called):
    """A case of calls for two sets of devices in turn."""

    @property
    def wide(self) -> bool:
        """Sets of devices that overlap say what two that do not say, and so do some forms that hold another."""
        return self.sides == "across" or (self.form, self.sides) in REPEATED


REPEATED = [(form, "order") for form in ("inner", "constant_beside")] + [
    *[("map", "squares"), ("constraint", "squares"), ("both", "first_last")],
    *[("inner_map", "first_last"), ("scan_map", "first_last"), ("cond", "first_last")],
]
"""What says little that is not said by others."""

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

    @property
    def wide(self) -> bool:
        ours = {"constraint": ("rep", "columns", "square"), "map": ("renamed", "square", "folded")}
        return self.side not in ours[self.form]


guests = every(Guest, form=("constraint", "map"), side=("rep", "columns", "renamed", "square", "folded", "spelled"))
test_guests = judge(probe="abs.guest", cases=guests)


texts = every(
    Called, form=("constraint", "map", "both", "inner", "scan", "cond", "grad"), sides=("first_last", "order")
).where(lambda c: c.sides == "first_last" or c.form in ("constraint", "map"))
test_texts = judge(probe="abs.text", cases=texts)


class Concrete(Called):
    """A case of a mesh with devices."""

    @property
    def wide(self) -> bool:
        return (self.form, self.sides) == ("map", "order")


concretes = every(Concrete, form=("constraint", "map", "inner", "scan"), sides=("first_last", "order")).where(
    lambda c: c.sides == "first_last" or c.form in ("constraint", "map")
)
test_concretes = judge(probe="abs.concrete", cases=concretes)


@dataclass(frozen=True)
class Together(Formed):  # abstract_concrete-numpy
    form: str
    given: str

    @property
    def wide(self) -> bool:
        return self.given == "numpy" and self.form in ("concrete_abstract", "map_concrete")


togethers = every(Together, form=TOGETHER, given=("other", "numpy", "four"))
test_togethers = judge(probe="abs.together", cases=togethers)


class Acted(Eight):
    """A case of an operation on its own."""

    act: str

    @property
    def needs(self) -> tuple[str, ...]:
        return ("shard_map",) if self.act == "map" else ()


@dataclass(frozen=True)
class Eager(Acted):  # map-square_other
    act: str
    side: str

    @property
    def wide(self) -> bool:
        """A shard_map on its own is four programs."""
        return self.side in ("four", "square") if self.act == "constraint" else self.side != "back"


eagers = every(Eager, act=ACTS, side=("four", "other", "back", "rep", "columns", "square", "square_other")).where(
    lambda c: c.act == "constraint" or c.side in ("other", "back", "columns", "square_other")
)
test_eagers = judge(probe="abs.eager", cases=eagers)


@dataclass(frozen=True)
class Tree(Eight):  # eager-devices
    act: str
    meshes: str


tree_constraints = every(Tree, act=TREE_ACTS, meshes=TREES).where(lambda c: (c.act, c.meshes) != ("jit", "devices"))
test_tree_constraints = judge(probe="abs.tree", cases=tree_constraints)


@dataclass(frozen=True)
class Misuse(Acted):  # constraint-renamed
    act: str
    given: str


misuses = every(Misuse, act=ACTS, given=INPUTS)
test_misuses = judge(probe="abs.misuse", cases=misuses)


@dataclass(frozen=True)
class Pair(Eight):  # other-last
    given: str
    turn: str

    @property
    def wide(self) -> bool:
        """What is taken, by several programs, is taken once of either kind."""
        return (self.given, self.turn) in (("free", "first"), ("numpy", "last"))

    @property
    def placed(self) -> bool:
        """Whether the input in question lies on four devices, as the other one does."""
        return self.given in SIDES and len(SIDES[self.given].devices) == 4


pairs = every(Pair, given=SECONDS, turn=("last", "first"))
test_pairs = judge(probe="abs.pair", cases=pairs)


@dataclass(frozen=True)
class Met(Formed):  # scan-eight
    form: str
    given: str


class Counted(Met):
    """A case of another number of devices."""

    @property
    def wide(self) -> bool:
        """Deep in a program one number of devices stands for others."""
        return self.form in ("inner", "scan") and self.given == {"inner": "two", "scan": "eight"}[self.form]


counts = every(Counted, form=COUNTED, given=("two", "eight", "dev0", "four")).where(
    lambda c: (c.form == "several") == (c.given == "four")
)
test_counts = judge(probe="abs.count", cases=counts)


nowheres = every(Met, form=NOWHERE, given=("free", "numpy"))
test_nowheres = judge(probe="abs.nowhere", cases=nowheres)


@dataclass(frozen=True)
class Take(Eight):  # inner_out-columns
    how: str
    given: str

    @property
    def wide(self) -> bool:
        return self.how != "in" and self.given == ("columns" if self.how in ("out", "put") else "four")


takes = every(Take, how=TAKES, given=("four", "other", "columns"))
test_takes = judge(probe="abs.take", cases=takes)


@dataclass(frozen=True)
class Put(Eight):  # numpy-donate
    given: str
    flags: str

    @property
    def needs(self) -> tuple[str, ...]:
        return ("device_put.flags",) if self.flags == "donate" else ()


puts = every(Put, given=("numpy", "free", "dev0", "four", "other", "columns"), flags=PUT_FLAGS).where(
    lambda c: c.flags == "plain" or c.given in ("numpy", "free", "dev0")
)
test_puts = judge(probe="abs.put", cases=puts)


@dataclass(frozen=True)
class Lack(Four):  # mesh.devices
    asked: str


lacks = every(Lack, asked=LACKING)
test_lacks = judge(probe="abs.lacking", cases=lacks)


@dataclass(frozen=True)
class Have(Four):  # num_devices-square
    asked: str
    side: str


haves = every(Have, asked=HAVING, side=("four", "square", "columns", "rep"))
test_haves = judge(probe="abs.having", cases=haves)


@dataclass(frozen=True)
class Alike(Eight):  # other_devices
    meshes: str

    @property
    def equal(self) -> bool:
        """Whether the axes are the same."""
        one, other = (SIDES[side] for side in ALIKE[self.meshes])
        return one.axes == other.axes

    @property
    def unequal(self) -> bool:
        return not self.equal


alikes = every(Alike, meshes=ALIKE)
test_alikes = judge(probe="abs.alike", cases=alikes)


@dataclass(frozen=True)
class Side(Four):  # square
    side: str


concrete_abstracts = every(Side, side=("four", "square", "mesh0"))
test_concrete_abstracts = judge(probe="abs.concrete_abstract", cases=concrete_abstracts)

shows = every(Side, side=("four", "square", "renamed"))
test_shows = judge(probe="abs.show", cases=shows)


@dataclass(frozen=True)
class Spelled(Four):  # half
    mesh: str

    @property
    def needs(self) -> tuple[str, ...]:
        return ("axis_types",)

    @property
    def types(self) -> list[str]:
        return list(SPELLED[self.mesh][2])

    @property
    def equal(self) -> bool:
        """Whether its axes are those of the place's mesh, whose types are all Auto."""
        names, sizes, types, side = SPELLED[self.mesh]
        return tuple(zip(names, sizes, strict=True)) == SIDES[side].axes and set(types) == {"Auto"}

    @property
    def unequal(self) -> bool:
        return not self.equal


spelleds = every(Spelled, mesh=SPELLED)
test_spelleds = judge(probe="abs.spelled", cases=spelleds)


@dataclass(frozen=True)
class Default(Case):  # 2x2
    sizes: tuple[int, ...]

    @property
    def id(self) -> str:
        return "x".join(map(str, self.sizes))


defaults = every(Default, sizes=((4,), (2, 2)))
test_defaults = judge(probe="abs.default", cases=defaults)


@dataclass(frozen=True)
class Equivalent(Eight):  # four-four
    side: str
    spec: str


equivalents = every(Equivalent, side=("four", "other", "mesh0", "dev0"), spec=("four", "rep", "mesh0")).where(
    lambda c: c.side != "mesh0" or c.spec == "mesh0"
)
test_equivalents = judge(probe="abs.equivalent", cases=equivalents)


@dataclass(frozen=True)
class Keep(Four):  # sharding-pickle
    what: str
    way: str

    @property
    def needs(self) -> tuple[str, ...]:
        return ("memory.pinned_host",) if self.what == "kind" else ()


keeps = every(Keep, what=KEPT, way=WAYS)
test_keeps = judge(probe="abs.keep", cases=keeps)


@dataclass(frozen=True)
class Rank(Four):  # shard_shape
    how: str

    @property
    def needs(self) -> tuple[str, ...]:
        return ("shard_map",) if self.how == "map" else ()


ranks = every(Rank, how=RANKS)
test_ranks = judge(probe="abs.rank", cases=ranks)


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
    "ABS-40": "cdc7fc1e",
    "ABS-41": "e199df87",
    "ABS-42": "6e686905",
    "ABS-43": "dafc47d1",
    "ABS-44": "368bae5f",
    "ABS-45": "a33f4db1",
    "ABS-46": "15b3f86c",
    "ABS-47": "c2634e15",
    "ABS-48": "f1c084d1",
    "ABS-49": "821f8886",
    "ABS-50": "d0ec1267",
    "ABS-51": "bd3c4cc8",
    "ABS-52": "984f76f4",
    "ABS-53": "04f688a3",
    "ABS-54": "9536f4d2",
    "ABS-55": "a0ba5f2e",
    "ABS-56": "57d0f905",
    "ABS-57": "86c90f48",
    "ABS-58": "d26103a0",
    "ABS-59": "df9cc51a",
    "ABS-60": "1ebe3106",
    "ABS-61": "fd8e4f26",
    "ABS-62": "21d3f11f",
    "ABS-63": "b1d345b7",
    "ABS-64": "8565ac5f",
    "ABS-65": "5c2cf5f8",
    "ABS-66": "37c01f39",
    "ABS-67": "910908ce",
    "ABS-68": "964e303a",
    "ABS-69": "ccf0c01e",
    "ABS-70": "ba7c25e7",
    "ABS-71": "a92d1ce6",
    "ABS-72": "206795c1",
    "ABS-73": "45151b3d",
    "ABS-74": "7091f593",
    "ABS-75": "6b03ccec",
    "ABS-76": "5271f3ca",
}
