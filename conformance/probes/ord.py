"""ORD: what `device_put` does where it takes an array to its own devices in another order."""

from __future__ import annotations

import math

from . import arrays
from .places import Place

MESHES = {"2x2": (("x", 2), ("y", 2)), "2x4": (("x", 2), ("y", 4)), "4x2": (("x", 4), ("y", 2))}
"""The axes of meshes, by their shapes."""


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
}
"""Orders of devices: as they are; two neighbours swapped; the other way round; each one on, the first last; three in
turn; the second half first; the mesh filled by columns, which transposes it."""

SPECS = {
    1: ("o", "x", "y", "xy", "yx"),
    2: ("o.o", "x.o", "y.o", "o.x", "o.y", "x.y", "y.x", "xy.o", "yx.o", "o.xy", "o.yx"),
}
"""All ways to cut arrays of one and two dimensions over two axes: for each dimension the axes that cut it, or o."""

HOLDS = {1: "f32_8", 2: "f32_8x8"}
"""The array of each rank."""

FLAGS = {
    "default": {},
    "copy": {"donate": False, "may_alias": False},
    "donate": {"donate": True},
}


def spec(name: str) -> tuple[str | tuple[str, ...] | None, ...]:
    """The parts of a partition spec."""
    parts = {"o": None, "x": "x", "y": "y", "xy": ("x", "y"), "yx": ("y", "x")}
    return tuple(parts[part] for part in name.split("."))


def rank(name: str) -> int:
    """For how many dimensions a spec is written."""
    return len(name.split("."))


def place(mesh: str, order: str, cut: str) -> Place:
    """A mesh over the first devices in an order, and how it cuts arrays."""
    axes = MESHES[mesh]
    sizes = [size for _, size in axes]
    return Place(tuple(ORDERS[order](list(range(math.prod(sizes))), sizes)), axes, spec(cut))


def put(jax, see, mesh, order, source, target, flags):
    """An array over a mesh is put to a mesh of that shape over the same devices in another order."""
    _put(jax, see, place(mesh, "base", source), place(mesh, order, target), HOLDS[rank(source)], flags)


def _put(jax, see, old, new, array, flags):
    x = jax.block_until_ready(jax.device_put(arrays.value(array), old.make(jax)))
    before = see.spans(x)
    where = new.make(jax)
    see.step("put")
    try:
        y = jax.block_until_ready(jax.device_put(x, where, **FLAGS[flags]))
    except Exception:
        see(accepted=False)
        raise
    see(accepted=True)
    see.step("output")
    see(value=see.same(y, arrays.value(array)), shards=see.shards(y))
    see(sharding=see.sharding(y), type=type(y.sharding).__name__, committed=see.committed(y))
    see(shares=see.shares(before, y))
    see(input=see.state(x, arrays.value(array)))


def lower(jax, see, mesh, order, source, target, flags):
    """The module of the program that such a put runs, which no other case runs."""
    old, new = place(mesh, "base", source), place(mesh, order, target)
    x = jax.block_until_ready(
        jax.device_put(arrays.value(f"f32_{'16x8' if rank(source) == 2 else '16'}"), old.make(jax))
    )
    where = new.make(jax)
    see.step("put")
    found = see.modules(lambda: jax.block_until_ready(jax.device_put(x, where, **FLAGS[flags])))
    see(modules=len(found))
    see(argument=[see.tiles(it, "argument") for it in found], result=[see.tiles(it, "result") for it in found])
    see(partitioners=[see.partitioner(it) for it in found])
