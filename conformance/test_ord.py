"""ORD: arrays put to the same devices in another order."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from conformance.kit import Case, Cases, Four, every, judge
from conformance.probes import arrays
from conformance.probes.ord import APART, FLAGS, GIVEN, HOLDS, LEAVES, MESHES, PLACES, SPECS, UNNAMED, place, rank
from conformance.probes.places import Place

# --- where things have to be ------------------------------------------------------------------------------------------


def coordinates(lies: Place) -> dict[int, dict[str, int]]:
    """Where each device stands along each axis of a mesh."""
    names, sizes = zip(*lies.axes, strict=True)
    return {
        device: dict(zip(names, map(int, np.unravel_index(position, sizes)), strict=True))
        for position, device in enumerate(lies.devices)
    }


def tile(lies: Place, at: dict[str, int], dimension: int) -> tuple[int, int]:
    """Which part of a dimension is held at these coordinates, and of how many."""
    part = lies.spec[dimension] if dimension < len(lies.spec) else None
    number, count = 0, 1
    for axis in part if isinstance(part, tuple) else [part] if part else []:
        size = dict(lies.axes)[axis]
        number, count = number * size + at[axis], count * size
    return number, count


def shards(lies: Place, array: str) -> list[Any]:
    """What `see.shards` says of an array there, of one of keys by the numbers beneath."""
    numbers, found = arrays.value(array), []
    for device, at in sorted(coordinates(lies).items()):
        part = numbers
        for dimension in range(len(lies.spec)):
            number, count = tile(lies, at, dimension)
            part = np.split(part, count, dimension)[number]
        found.append([device, part.shape, *(it.item() for it in part.flat[:1])])
    return found


def holders(lies: Place, places: tuple[int, ...], ndim: int) -> list[list[int]]:
    """By tile, which of `places` hold it: numbers of places where devices are listed."""
    found: dict[tuple[int, ...], list[int]] = {}
    for device, at in coordinates(lies).items():
        tiles = tuple(tile(lies, at, dimension)[0] for dimension in range(ndim))
        found.setdefault(tiles, []).append(places.index(device))
    return [sorted(found[it]) for it in sorted(found)]


# --- meshes of one shape ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Reorder(Case):
    """An array over a mesh is put to a mesh of that shape, or another, over the same devices in an order."""

    mesh: str
    order: str
    source: str
    target: str
    flags: str
    array: str

    @property
    def id(self) -> str:
        array = "" if self.array == HOLDS.get(rank(self.source)) else f"-{self.array}"
        return f"{self.mesh}-{self.order}-{self.source}_to_{self.target}-{self.flags}{array}"

    @property
    def old(self) -> Place:
        return place(self.mesh.split("_")[0], "base", self.source)

    @property
    def new(self) -> Place:
        return place(self.mesh.split("_")[-1], self.order, self.target)

    @property
    def devices(self) -> int:
        return len(self.new.devices)

    @property
    def wide(self) -> bool:
        product = self.mesh in MESHES and self.source in CUTS and self.array == HOLDS[rank(self.source)]
        return product and not _always(self)

    @property
    def placed(self) -> dict[str, Any]:
        """The sharding that the output must have."""
        return self.new.sharding

    @property
    def shards(self) -> list[Any]:
        """What each device must hold of the output."""
        return shards(self.new, self.array)

    @property
    def argument(self) -> list[list[list[int]]]:
        """Which places of the program must hold each tile of its argument."""
        return [holders(self.old, self.new.devices, rank(self.source))]

    @property
    def result(self) -> list[list[list[int]]]:
        """And of its result."""
        return [holders(self.new, self.new.devices, rank(self.source))]


SMALL = {
    it: [spec for spec in specs if it == 1 or not {"xy", "yx"} & set(spec.split("."))] for it, specs in SPECS.items()
}
"""The specs whose pairs are always tried: of one dimension all, of two those that cut each over one axis at most."""
OTHER = ("swap", "reverse", "rotation", "cycle", "halves", "columns")
CUTS = [spec for specs in SPECS.values() for spec in specs]


def _pair(case: Reorder) -> tuple[int, int]:
    """Where a pair of small specs stands in the table of all."""
    specs = SMALL[rank(case.source)]
    return specs.index(case.source), specs.index(case.target)


def _always(case: Reorder) -> bool:
    """Whether a case is among those that are always tried; each takes a compilation.

    On 2x2 all pairs of small specs, with orders by turns, and a few with every order and donated. On each mesh of eight
    devices every third pair, and donated on the second mesh.
    """
    if case.order == "base" or not _small(case):
        return False
    (row, column), pair = _pair(case), {case.source, case.target}
    its_turn = OTHER[(row + 2 * column) % len(OTHER)] == case.order
    if case.mesh == "2x2":
        few = pair <= FEW
        always = {"default": its_turn or few, "donate": its_turn and few, "copy": False}
        return always[case.flags] or (few and len(pair) == 1)
    flags, third = ("default", 0) if case.mesh == "2x4" else ("donate", 1)
    return case.flags == flags and its_turn and (row + column) % 3 == third


def _small(case: Reorder) -> bool:
    return {case.source, case.target} <= {*SMALL[rank(case.source)]}


FEW = {"x.o", "x.y", "o.o"}
"""Cuts that are tried in every order: in part, fully cut and whole."""

product = every(
    Reorder,
    mesh=MESHES,
    order=("base", *OTHER),
    source=CUTS,
    target=CUTS,
    flags=("default", "copy", "donate"),
    array=[HOLDS[1], HOLDS[2]],
).where(
    lambda c: (
        rank(c.source) == rank(c.target)
        and c.array == HOLDS[rank(c.source)]
        and (c.flags == "default" or (c.flags == "donate" and c.order != "base") or _always(c))
    )
)

# --- meshes of other shapes, and other arrays -------------------------------------------------------------------------


def _between(meshes: str, order: str, *pairs: str, flags: str = "default", array: str = "") -> list[Reorder]:
    """Puts between two meshes, or between two of one shape, for pairs of specs such as "x.y y.x"."""
    cuts = [pair.split() for pair in pairs]
    return [Reorder(meshes, order, one, other, flags, array or HOLDS[rank(one)]) for one, other in cuts]


LINES = SPECS[1]
SHAPES = [
    case
    for at, one in enumerate(LINES)
    for by, other in enumerate(LINES)
    if (at + by) % 2 == 0
    for case in _between("4x2_2x4", OTHER[(at + by) % len(OTHER)], f"{one} {other}")
] + [
    *_between("4x2_2x4", "rotation", "x.y y.x", "x.y x.y"),
    *_between("2x4_4x2", "cycle", "x.y y.x", "o.yx xy.o", flags="donate"),
    *_between("2x2_4", "rotation", "xy x", "x.y x.o", "y.o o.x"),
    *_between("4_2x2", "cycle", "x yx", "x.o o.xy", "o.x y.x"),
    *_between("2x2_1x4", "reverse", "x.y x.y", "y.x y.o"),
    *_between("8_2x2x2", "halves", "x zyx", "x.o y.xz"),
    *_between("2x2x2_8", "cycle", "z.xy o.x", "xz.y x.o"),
    *_between("2x2x2_2x4", "swap", "z.yx y.x", "y.o x.y"),
    *_between(
        "1x2x2x2_1x1x4x2x1", "axes", "yz.w w.z", "xy.zw wz.xyv", "w.y o.zw", "x.y.z.w v.w.z.y", "o.w.y.z y.o.zx.w"
    ),
]
"""Meshes of two shapes over the same devices. The first have half of the pairs of one dimension, in orders by turns."""

OTHERS = [
    *_between("2x2", "rotation", "x.y y.x", "o.o o.y", array="f32_0x8"),
    *_between("2x2", "reverse", "o.y y.o", "o.x o.x", array="f32_0x8"),
    *_between("2x2", "cycle", "o.y o.y", array="f32_0x8", flags="donate"),
    *_between("2x2_4", "cycle", "x.y o.x", array="f32_0x8"),
    *_between("2x2", "rotation", "x.y y.x", "o.o o.y", array="key_8x8"),
    *_between("2x2", "reverse", "o.y y.o", array="key_8x8"),
    *_between("2x2", "cycle", "x.y x.y", array="key_8x8", flags="donate"),
    *_between("4_2x2", "cycle", "x.o x.y", array="key_8x8"),
    *_between("2x2", "rotation", "all all", array="f32_0d"),
    *_between("2x2_4", "reverse", "all all", array="f32_0d", flags="donate"),
    *_between("2x2", "rotation", "x y", "all x", "x all", array="f32_8x8"),
]
"""Arrays without elements, of keys, without dimensions; and specs that name some of the dimensions or none."""

reorders = Cases(Reorder, [*product, *SHAPES, *OTHERS])
test_reorders = judge(probe="ord.put", cases=reorders)

# --- the program ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Moved(Reorder):
    """The same, and a look at the module of the program that moves the array."""

    @property
    def wide(self) -> bool:
        return False


LOOKED_AT = {
    "2x2": (("x", "y"), ("x.y", "y.x"), ("o.x", "y.o")),
    "2x4": (("x.y", "y.o"), ("xy.o", "x.y")),
}
modules = Cases(
    Moved,
    [
        Moved(mesh, order, *pair, flags, HOLDS[rank(pair[0])])
        for mesh, pairs in LOOKED_AT.items()
        for order in OTHER
        for pair in pairs
        for flags in ("default", "donate")
        if (order in ("rotation", "columns") if mesh == "2x4" else pair[0] != "x" or order == "cycle")
        and (flags == "default" or (mesh, order) == ("2x2", "cycle"))
    ],
)
test_modules = judge(probe="ord.lower", cases=modules)

# --- sides that are no NamedShardings, and devices that are not the same ----------------------------------------------


@dataclass(frozen=True)
class Move(Case):  # named_to_back_positional-default
    source: str
    target: str
    flags: str

    @property
    def id(self) -> str:
        return f"{self.source}_to_{self.target}-{self.flags}"

    @property
    def devices(self) -> int:
        return 1 + max(PLACES[self.source].devices + PLACES[self.target].devices)

    @property
    def needs(self) -> tuple[str, ...]:
        forms = (PLACES[self.source].form, PLACES[self.target].form)
        return tuple(dict.fromkeys(f"{it}_sharding" for it in forms if it in ("positional", "gspmd")))

    @property
    def wide(self) -> bool:
        """Donating to as many other devices ends the process, wherever from: few are always tried."""
        pair = (self.source, self.target)
        return self.flags == "donate" and pair in MANY

    @property
    def same_set(self) -> bool:
        """Whether both sides have the same devices."""
        return {*PLACES[self.source].devices} == {*PLACES[self.target].devices}


MANY = (
    ("named", "next"),
    ("back", "across"),
    *(
        (source, target)
        for source in ("one", "mesh0")
        for target in ("one1", "mesh1")
        if (source, target) != ("one", "mesh1")
    ),
)
"""Pairs of as many devices, beside those that are always tried."""

moves = every(Move, source=PLACES, target=PLACES, flags=FLAGS).where(
    lambda c: (c.source, c.target) in (*UNNAMED, *APART)
)
test_moves = judge(probe="ord.move", cases=moves)

# --- several leaves ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Tree(Four):  # orders-outer
    leaves: str
    given: str

    @property
    def shardings(self) -> list[dict[str, Any]]:
        """The sharding that each leaf must have."""
        return [place("2x2", order, cut).sharding for _, _, order, cut in LEAVES[self.leaves]]

    @property
    def kept(self) -> list[str]:
        """What must become of the leaves that are not donated."""
        return ["intact" for gone in GIVEN[self.given] if not gone]

    @property
    def gone(self) -> list[str]:
        """And of those that are."""
        return ["deleted" for gone in GIVEN[self.given] if gone]


trees = every(Tree, leaves=LEAVES, given=GIVEN)
test_trees = judge(probe="ord.tree", cases=trees)

# --- before and after meet, and within a program ----------------------------------------------------------------------


@dataclass(frozen=True)
class Meet(Four):  # reverse-o.o-eager
    order: str
    cut: str
    how: str

    @property
    def lies(self) -> list[int]:
        """The devices of the result, in order."""
        return list(place("2x2", self.order, self.cut).devices)


meetings = every(Meet, order=("reverse", "cycle"), cut=("o.o", "x.o", "x.y"), how=("eager", "jit")).where(
    lambda c: c.order == "reverse" or c.how == "jit"
)
test_meetings = judge(probe="ord.meet", cases=meetings)


@dataclass(frozen=True)
class Inside(Four):  # rotation-y.x-donate
    order: str
    target: str
    flags: str

    @property
    def placed(self) -> dict[str, Any]:
        """The sharding that the result must have."""
        return place("2x2", self.order, self.target).sharding


insides = every(Inside, order=("swap", "rotation"), target=("x.y", "o.o"), flags=FLAGS)
test_insides = judge(probe="ord.inside", cases=insides)

# --- a sharding that has a logical order ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Logical(Case):  # 2x2-rotation-x.o
    mesh: str
    order: str
    cut: str

    @property
    def wide(self) -> bool:
        """On eight devices each way to cut is always tried with one order."""
        turn = SPECS[2].index(self.cut) + 3 * (self.mesh == "4x2")
        return self.mesh != "2x2" and OTHER[turn % len(OTHER)] != self.order

    @property
    def lies(self) -> Place:
        return place(self.mesh, self.order, self.cut)

    @property
    def devices(self) -> int:
        return len(self.lies.devices)

    @property
    def argument(self) -> list[list[int]]:
        """Which places must hold each tile: the mesh's devices are counted from 0 on."""
        return holders(self.lies, tuple(range(self.devices)), 2)

    def _as(self, order: tuple[int, ...]) -> bool:
        other = replace(self.lies, devices=order)
        return holders(other, tuple(range(self.devices)), 2) == self.argument

    @property
    def as_plain(self) -> bool:
        """Whether each device holds what it would hold without the logical order."""
        return self._as(tuple(range(self.devices)))

    @property
    def as_other(self) -> bool:
        """And by the order that is turned by one."""
        return self._as((self.lies.devices[-1], *self.lies.devices[:-1]))

    @property
    def indices(self) -> list[Any]:
        """The part of each device: where it starts and stops."""
        found = []
        for device, at in sorted(coordinates(self.lies).items()):
            tiles = [tile(self.lies, at, dimension) for dimension in range(2)]
            parts = [
                (number * size // count, size // count) for (number, count), size in zip(tiles, (16, 8), strict=True)
            ]
            found.append([device, *([start, start + size] for start, size in parts)])
        return found


logicals = every(Logical, mesh=MESHES, order=OTHER, cut=SPECS[2])
test_logicals = judge(probe="ord.logical", cases=logicals)


REVIEWED = {
    "ORD-01": "aece1a82",
    "ORD-02": "de0d02ad",
    "ORD-03": "5f3d7195",
    "ORD-04": "84ce98c8",
    "ORD-05": "e009a8fd",
    "ORD-06": "cb654891",
    "ORD-07": "54dcfd98",
    "ORD-08": "8a021975",
    "ORD-09": "c6d2234f",
    "ORD-10": "f62bfb78",
    "ORD-11": "f3e5f948",
    "ORD-20": "df27f71a",
    "ORD-21": "0fcdc759",
    "ORD-30": "fe22baef",
    "ORD-31": "8cfd4742",
    "ORD-32": "f8b68ab5",
    "ORD-33": "ca949ace",
    "ORD-34": "344c7363",
    "ORD-35": "8b3e1274",
    "ORD-36": "59bb3c65",
    "ORD-37": "28a3712b",
    "ORD-40": "e010080a",
    "ORD-41": "e9ac8137",
    "ORD-42": "4f69e81f",
    "ORD-43": "4ecf2b94",
    "ORD-50": "043f8864",
    "ORD-51": "ec8c1f3f",
    "ORD-52": "cc849d41",
    "ORD-53": "4d315d97",
    "ORD-55": "2d81fac5",
    "ORD-56": "05385f6f",
    "ORD-57": "4d58a9ba",
    "ORD-60": "20cebe0f",
    "ORD-61": "c28d3169",
    "ORD-62": "3b2a2bf0",
    "ORD-63": "c730db44",
    "ORD-64": "68722578",
    "ORD-65": "7e71eb6e",
    "ORD-66": "2ac31cba",
}
