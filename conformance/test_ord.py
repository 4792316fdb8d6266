"""ORD: arrays put to the same devices in another order."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from conformance.kit import Case, every, judge
from conformance.probes.arrays import ARRAYS
from conformance.probes.ord import HOLDS, MESHES, ORDERS, SPECS, place, rank
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


def shards(lies: Place, shape: tuple[int, ...]) -> list[Any]:
    """What `see.shards` says of an array of that shape that counts its elements."""
    numbers, found = np.arange(math.prod(shape)).reshape(shape), []
    for device, at in sorted(coordinates(lies).items()):
        part = numbers
        for dimension in range(len(shape)):
            number, count = tile(lies, at, dimension)
            part = np.split(part, count, dimension)[number]
        found.append([device, part.shape, float(part.flat[0])])
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
    """An array over a mesh is put to a mesh of that shape over the same devices in an order."""

    mesh: str
    order: str
    source: str
    target: str
    flags: str

    @property
    def id(self) -> str:
        return f"{self.mesh}-{self.order}-{self.source}_to_{self.target}-{self.flags}"

    @property
    def old(self) -> Place:
        return place(self.mesh, "base", self.source)

    @property
    def new(self) -> Place:
        return place(self.mesh, self.order, self.target)

    @property
    def devices(self) -> int:
        return len(self.new.devices)

    @property
    def wide(self) -> bool:
        return not _always(self)

    @property
    def placed(self) -> dict[str, Any]:
        """The sharding that the output must have."""
        return self.new.sharding

    @property
    def shards(self) -> list[Any]:
        """What each device must hold of the output."""
        return shards(self.new, ARRAYS[HOLDS[rank(self.source)]].shape)

    @property
    def argument(self) -> list[list[list[int]]]:
        """Which places of the program must hold each tile of its argument."""
        return [holders(self.old, self.new.devices, rank(self.source))]

    @property
    def result(self) -> list[list[list[int]]]:
        """And of its result."""
        return [holders(self.new, self.new.devices, rank(self.source))]

    @property
    def spread(self) -> bool:
        """Whether a device holds less than the whole array."""
        return self.source.strip("o.") != ""


SMALL = {
    it: [spec for spec in specs if it == 1 or not {"xy", "yx"} & set(spec.split("."))] for it, specs in SPECS.items()
}
"""The specs whose pairs are always tried: of one dimension all, of two those that cut each over one axis at most."""
OTHER = [order for order in ORDERS if order != "base"]
CUTS = [spec for specs in SPECS.values() for spec in specs]


def _turn(case: Reorder) -> int:
    """Which of the orders a pair of specs is tried with on eight devices: each spec, on either side, meets all."""
    specs = SMALL[rank(case.source)]
    return specs.index(case.source) + specs.index(case.target) + 3 * (case.mesh == "4x2")


def _always(case: Reorder) -> bool:
    """Whether a case is among those that are always tried; each takes a compilation."""
    specs, pair = SMALL[rank(case.source)], {case.source, case.target}
    if case.order == "base" or not pair <= {*specs}:
        return False
    if case.mesh == "2x2":
        orders = OTHER[1::2] if pair & WHOLE else OTHER
        same = len(pair) == 1
        given = case.flags != "donate" or pair <= GIVEN
        return case.order in orders and given and (case.flags == "default" or same)
    flags = "default" if case.mesh == "2x4" else "donate"
    return case.flags == flags and OTHER[_turn(case) % len(OTHER)] == case.order


WHOLE = {"o", "o.o"}
"""An array that lies whole on each device looks alike in all orders: pairs with such a side are tried in half."""
GIVEN = {"x.o", "x.y", "o.o"}
"""Cuts that are donated in every order: in part, fully cut and whole."""

reorders = every(
    Reorder, mesh=MESHES, order=ORDERS, source=CUTS, target=CUTS, flags=("default", "copy", "donate")
).where(
    lambda c: (
        rank(c.source) == rank(c.target)
        and (c.flags == "default" or (c.flags == "donate" and c.order != "base") or _always(c))
    )
)
test_reorders = judge(probe="ord.put", cases=reorders)


class Moved(Reorder):
    """The same, and a look at the module of the program that moves the array."""

    wide = False


LOOKED_AT = {
    "2x2": (("x", "y"), ("x.y", "y.x"), ("o.x", "y.o")),
    "2x4": (("x.y", "y.o"), ("xy.o", "x.y")),
}
modules = every(Moved, mesh=LOOKED_AT, order=OTHER, source=CUTS, target=CUTS, flags=["default", "donate"]).where(
    lambda c: (
        (c.source, c.target) in LOOKED_AT[c.mesh]
        and (c.order in ("rotation", "columns") if c.mesh == "2x4" else c.source != "x" or c.order == "cycle")
        and (c.flags == "default" or (c.mesh, c.order) == ("2x2", "cycle"))
    )
)
test_modules = judge(probe="ord.lower", cases=modules)

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
}
