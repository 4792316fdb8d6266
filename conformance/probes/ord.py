"""ORD: what `device_put` does where it takes an array to its own devices in another order."""

from __future__ import annotations

import math

from . import arrays
from .places import Place

MESHES = ("2x2", "2x4", "4x2")
"""Meshes by their shapes; the axes are called x, y, z, w and v, in that order."""


def _columns(ids, sizes):
    """The grid filled column by column."""
    return [ids[row + column * sizes[0]] for row in range(sizes[0]) for column in range(sizes[1])]


ORDERS = {
    "base": lambda ids, sizes: ids,
    "swap": lambda ids, sizes: [ids[1], ids[0], *ids[2:]],
    "reverse": lambda ids, sizes: ids[::-1],
    "rotation": lambda ids, sizes: [*ids[1:], ids[0]],
    "cycle": lambda ids, sizes: [ids[1], ids[2], ids[0], *ids[3:]],
    "halves": lambda ids, sizes: [*ids[len(ids) // 2 :], *ids[: len(ids) // 2]],
    "columns": _columns,
    "axes": lambda ids, sizes: [ids[0], ids[2], ids[1], ids[3], ids[4], ids[6], ids[5], ids[7]],
}
"""Orders of devices: as they are; two neighbours swapped; the other way round; each one on, the first last; three in
turn; the second half first; the mesh filled by columns, which transposes it; of eight in a cube, two axes swapped."""

SPECS = {
    1: ("o", "x", "y", "xy", "yx"),
    2: ("o.o", "x.o", "y.o", "o.x", "o.y", "x.y", "y.x", "xy.o", "yx.o", "o.xy", "o.yx"),
}
"""All ways to cut arrays of one and two dimensions over two axes: for each dimension the axes that cut it, or o."""

HOLDS = {1: "f32_8", 2: "f32_8x8", 4: "f32_2x2x4x4"}
"""The array of each rank, where no other one is named."""

FLAGS = {
    "default": {},
    "copy": {"donate": False, "may_alias": False},
    "donate": {"donate": True},
}


def axes(mesh: str) -> tuple[tuple[str, int], ...]:
    """The axes of a mesh."""
    return tuple(zip("xyzwv", map(int, mesh.split("x")), strict=False))


def spec(name: str) -> tuple[str | tuple[str, ...] | None, ...]:
    """The parts of a partition spec; that of `all` has none."""
    parts = [] if name == "all" else name.split(".")
    return tuple(None if part == "o" else part if len(part) == 1 else tuple(part) for part in parts)


def rank(name: str) -> int:
    """For how many dimensions a spec is written."""
    return len(spec(name))


def place(mesh: str, order: str, cut: str) -> Place:
    """A mesh over the first devices in an order, and how it cuts arrays."""
    sizes = [size for _, size in axes(mesh)]
    return Place(tuple(ORDERS[order](list(range(math.prod(sizes))), sizes)), axes(mesh), spec(cut))


def put(jax, see, mesh, order, source, target, flags, array):
    """An array over a mesh is put to another mesh over the same devices in an order.

    `mesh` is the shape of both, or both shapes; the order is that of the second.
    """
    old, new = place(mesh.split("_")[0], "base", source), place(mesh.split("_")[-1], order, target)
    x = arrays.placed(jax, old, array)
    before = see.spans(arrays.numbers(jax, array, x))
    where = new.make(jax)
    see.step("put")
    try:
        y = jax.block_until_ready(jax.device_put(x, where, **FLAGS[flags]))
    except Exception:
        see(accepted=False)
        raise
    see(accepted=True)
    see.step("output")
    numbers = arrays.numbers(jax, array, y)
    see(value=see.same(numbers, arrays.value(array)), shards=see.shards(numbers))
    see(sharding=see.sharding(y), type=type(y.sharding).__name__, committed=see.committed(y))
    see(shares=see.shares(before, numbers))
    see(input=see.state(arrays.numbers(jax, array, x), arrays.value(array)))


def lower(jax, see, mesh, order, source, target, flags, array):
    """The module of the program that such a put runs, which no other case runs."""
    old, new = place(mesh, "base", source), place(mesh, order, target)
    x = arrays.placed(jax, old, {"f32_8": "f32_16", "f32_8x8": "f32_16x8"}[array])
    where = new.make(jax)
    see.step("put")
    found = see.modules(lambda: jax.block_until_ready(jax.device_put(x, where, **FLAGS[flags])))
    see(modules=len(found))
    see(argument=[see.tiles(it, "argument") for it in found], result=[see.tiles(it, "result") for it in found])
