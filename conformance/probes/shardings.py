"""A few hundred shardings as plain data: meshes, orders of devices, spellings of specs, classes, kinds of memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

import numpy as np

from .places import EIGHT, FOUR, SQUARE


@dataclass(frozen=True)
class Lay:
    """A sharding of one class: "named", "abstract", "single", "positional" or "gspmd".

    The first two have axes and a spec, in which "?" is a dimension left to the partitioner. A positional one says by
    the sizes in `spec` into how many tiles its devices, in their order, are cut; a GSPMD one is replicated.
    """

    form: str
    devices: tuple[int, ...]
    axes: tuple[tuple[str, int], ...] = ()
    spec: tuple[Any, ...] = ()
    kind: str = ""

    @property
    def parts(self) -> tuple[Any, ...]:
        """What `make` takes."""
        return self.form, self.devices, self.axes, self.spec, self.kind

    @property
    def written(self) -> str:
        """The spec for an id: x.y is two dimensions, xy is one that both axes cut, - one that is whole."""
        return ".".join(written(part) for part in self.spec) or "whole"


def written(part: Any) -> str:
    """A part of a spec in letters."""
    if part is None:
        return "-"
    if isinstance(part, tuple):
        return f"t{part[0]}" if len(part) == 1 else "".join(part) or "0"
    return "U" if part == "?" else str(part)


MESHES = {
    "square": (FOUR, SQUARE),
    "renamed": (FOUR, (("p", 2), ("q", 2))),
    "swapped": (FOUR, (("y", 2), ("x", 2))),
    "line": (FOUR, (("x", 4),)),
    "thin": (FOUR, (("x", 4), ("y", 1))),
    "flat": (FOUR, (("x", 1), ("y", 4))),
    "back": ((3, 2, 1, 0), SQUARE),
    "backline": ((3, 2, 1, 0), (("x", 4),)),
    "turned": ((0, 2, 1, 3), SQUARE),
    "other": ((4, 5, 6, 7), SQUARE),
    "long": (EIGHT, (("x", 2), ("y", 4))),
    "longback": (EIGHT[::-1], (("x", 2), ("y", 4))),
    "two": ((0, 1), (("x", 2),)),
    "one": ((0,), (("x", 1),)),
    "one5": ((5,), (("x", 1), ("y", 1))),
}
"""Devices in their order, and the axes of a mesh over them."""

SPELLINGS: dict[int, list[tuple[Any, ...]]] = {
    1: [(None,), (("x",),), ((),)],
    2: [(None,), (None, None), ("x", None), (("x",), None), ("x", ("y",)), ((), "y")],
    3: [("x", None, None), (("x",), "y", None), (None, None, None)],
}
"""Other ways to write specs, by rank: what follows the last axis left away or not, an axis alone or in a tuple."""


def placements(axes: Any, rank: int) -> list[tuple[Any, ...]]:
    """Every way to cut arrays of a rank by some of two axes, or of one: as specs that end with their last axis."""
    names = [name for name, _ in axes]
    found = []
    for where in product([None, *range(rank)], repeat=len(names)):
        groups = [
            tuple(name for name, at in zip(names, where, strict=True) if at == dimension) for dimension in range(rank)
        ]
        for turned in (False, True) if any(len(group) > 1 for group in groups) else (False,):
            parts = [group[::-1] if turned else group for group in groups]
            spec = [None if not part else part[0] if len(part) == 1 else part for part in parts]
            while spec and spec[-1] is None:
                spec.pop()
            found.append(tuple(spec))
    return found


def _named(rank: int) -> Iterator[tuple[str, Lay]]:
    """Those over meshes: everywhere, what a spec can say; at rank 3 over some of the meshes."""
    for mesh, (devices, axes) in MESHES.items():
        if rank < 3 or mesh in ("square", "line", "back"):
            specs = placements(axes, rank) + (SPELLINGS.get(rank, []) if mesh == "square" else [])
            for spec in specs:
                lay = Lay("named", devices, axes, spec)
                yield f"{mesh}_{lay.written}", lay


def _others(group: str) -> Iterator[tuple[str, Lay]]:
    """Shardings of arrays of rank 2, of a class or in a kind of memory that not every JAX has."""
    if group == "positional":
        for name, devices, sizes in (
            *[("line", FOUR, sizes) for sizes in ((2, 2), (4, 1), (1, 4), (2, 1), (1, 2), (1, 1))],
            ("back", (3, 2, 1, 0), (2, 2)),
            ("turned", (0, 2, 1, 3), (2, 2)),
            ("other", (4, 5, 6, 7), (2, 2)),
            ("one", (0,), (1, 1)),
        ):
            yield f"{name}_{'x'.join(map(str, sizes))}", Lay("positional", devices, (), sizes)
    if group == "gspmd":
        for name in ("line", "backline", "other", "two", "one"):
            yield name, Lay("gspmd", MESHES[name][0])
    if group == "abstract":
        for spec in [*placements(SQUARE, 2), ("x", None)]:
            lay = Lay("abstract", FOUR, SQUARE, spec)
            yield lay.written, lay
    if group in ("pinned_host", "device"):
        for name, spec in [("square", spec) for spec in ((), ("x",), ("x", "y"))] + [
            ("renamed", ("p", "q")),
            ("back", ()),
        ]:
            lay = Lay("named", *MESHES[name], spec, group)
            yield f"{name}_{lay.written}", lay
        yield "dev0", Lay("single", (0,), kind=group)


SINGLES = {f"dev{id}": Lay("single", (id,)) for id in (0, 1, 5)}
RANKS = (0, 1, 2, 3)
BASE = {rank: {**dict(_named(rank)), **SINGLES} for rank in RANKS}
"""By rank, the shardings of arrays that every JAX has."""

SHAPES = {0: (), 1: (16,), 2: (16, 24), 3: (8, 16, 24)}
"""A shape for each rank that every sharding of it divides."""

GROUPS = {
    "positional": "positional_sharding",
    "gspmd": "gspmd_sharding",
    "abstract": "abstract_mesh",
    "pinned_host": "memory.pinned_host",
    "device": "memory.device",
}
"""Shardings of arrays of rank 2 that not every JAX has, and the capability that they take."""

MORE = {group: {f"{group}_{name}": lay for name, lay in _others(group)} for group in GROUPS}
"""These by their group."""

ALL: dict[int, dict[str, Lay]] = {
    rank: {**BASE[rank], **({k: v for group in GROUPS for k, v in MORE[group].items()} if rank == 2 else {})}
    for rank in RANKS
}
"""All by rank and name."""


def make(jax: Any, form: str, ids: Any, axes: Any, spec: Any, kind: str) -> Any:
    """The sharding."""
    devices = [jax.devices()[id] for id in ids]
    memory = {"memory_kind": kind} if kind else {}
    if form == "single":
        return jax.sharding.SingleDeviceSharding(devices[0], **memory)
    if form == "gspmd":
        return jax.sharding.GSPMDSharding.get_replicated(devices)
    if form == "positional":
        grid = jax.sharding.PositionalSharding(devices).reshape(*spec, -1)
        return grid.replicate(-1, keepdims=False)
    mesh = jax.sharding.Mesh(np.array(devices).reshape([size for _, size in axes]), [name for name, _ in axes])
    free = jax.sharding.PartitionSpec.UNCONSTRAINED
    spec_of = jax.sharding.PartitionSpec(*[free if part == "?" else part for part in spec])
    return jax.sharding.NamedSharding(mesh.abstract_mesh if form == "abstract" else mesh, spec_of, **memory)


# --- what they mean, from the data alone ------------------------------------------------------------------------------


def counts(lay: Lay, rank: int) -> list[int]:
    """Into how many tiles each dimension of an array is cut."""
    if lay.form in ("single", "gspmd"):
        return [1] * rank
    if lay.form == "positional":
        return list(lay.spec)
    sizes = dict(lay.axes)
    return [prod(sizes[axis] for axis in axes(lay, dimension)) for dimension in range(rank)]


def axes(lay: Lay, dimension: int) -> tuple[Any, ...]:
    """The axes that cut a dimension."""
    part = lay.spec[dimension] if dimension < len(lay.spec) else None
    if part is None or part == "?":
        return ()
    return part if isinstance(part, tuple) else (part,)


def tiles(lay: Lay, rank: int) -> list[list[int]]:
    """For each device, in the sharding's order, which tile it holds: a number for each dimension."""
    if lay.form in ("single", "gspmd"):
        return [[0] * rank for _ in lay.devices]
    if lay.form == "positional":
        each = len(lay.devices) // prod(lay.spec)
        return [
            [int(at) for at in np.unravel_index(position // each, lay.spec)] for position in range(len(lay.devices))
        ]
    sizes, found = [size for _, size in lay.axes], []
    for position in range(prod(sizes)):
        stands = dict(zip([name for name, _ in lay.axes], np.unravel_index(position, sizes), strict=True))
        tile = []
        for dimension in range(rank):
            at = 0
            for axis in axes(lay, dimension):
                at = at * dict(lay.axes)[axis] + int(stands[axis])
            tile.append(at)
        found.append(tile)
    return found


MEANT = {
    rank: {
        name: (lay.form == "abstract", lay.devices, lay.kind == "pinned_host", counts(lay, rank), tiles(lay, rank))
        for name, lay in lays.items()
    }
    for rank, lays in ALL.items()
}
"""What a sharding of arrays of a rank means: whether it lacks devices, these in order, its memory, and its tiles."""


def relation(one: Any, other: Any) -> str:
    """How two meanings compare: by the first thing in which they differ, or "alike"."""
    if one[0] != other[0]:
        return "abstract"
    if set(one[1]) != set(other[1]):
        return "devices"
    if one[1] != other[1]:
        return "order"
    if one[2] != other[2]:
        return "kind"
    return "alike" if one[3:] == other[3:] else "cut"


def partners(rank: int, name: str, against: str) -> list[tuple[Any, ...]]:
    """The shardings of a group, each with its name and how it compares with one; of its own, it and the next ones.

    Whoever compares them asks both ways round, so that every two meet once.
    """
    group, meant = BASE[rank] if against == "base" else MORE[against], MEANT[rank]
    names = list(group)[list(group).index(name) :] if name in group else list(group)
    return [(other, relation(meant[name], meant[other]), *group[other].parts) for other in names]


def gathered(rank: int, group: str) -> list[tuple[Any, ...]]:
    """A group and some of those that every JAX has; or all of these, where it is theirs."""
    lays = BASE[rank] if group == "base" else {**dict(list(BASE[rank].items())[::3]), **MORE[group]}
    return [(name, *lay.parts) for name, lay in lays.items()]


# --- as programs write them -------------------------------------------------------------------------------------------


def opened(spec: tuple[Any, ...], rank: int) -> list[tuple[Any, ...]]:
    """A spec with each choice, but none, of the dimensions that nothing cuts left to the partitioner."""
    parts = [*spec, *[None] * (rank - len(spec))]
    whole = [dimension for dimension in range(rank) if parts[dimension] is None]
    found = []
    for chosen in product((False, True), repeat=len(whole)):
        left = [dimension for dimension, it in zip(whole, chosen, strict=True) if it]
        if left:
            found.append(tuple("?" if dimension in left else part for dimension, part in enumerate(parts)))
    return found


def _texts(rank: int) -> Iterator[tuple[str, Lay]]:
    """On meshes of 2 by 2 and 2 by 4 all that a spec can say; some of it on others, and on one device."""
    for mesh in ("square", "long", *(("back", "turned", "flat", "one5") if rank == 2 else ())):
        devices, axes = MESHES[mesh]
        for spec in placements(axes, rank):
            every = mesh in ("square", "long")
            for it in (spec, *(opened(spec, rank) if every or spec == ("x",) else ())):
                lay = Lay("named", devices, axes, it)
                yield f"{mesh}_{lay.written}", lay
    yield from SINGLES.items()


TEXTS = {rank: dict(_texts(rank)) for rank in (1, 2, 3)}
"""By rank, the shardings that are looked at as text."""
