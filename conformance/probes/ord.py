"""ORD: what `device_put` does where it takes an array to its own devices in another order."""

from __future__ import annotations

import math
import pickle

import numpy as np

from . import arrays, shardings
from .places import EIGHT, FOUR, SQUARE, Place
from .shardings import Lay

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
    except Exception as error:
        see(refused=type(error).__name__, value="none", shards=[], sharding={})
        see(type="none", committed=False, shares="none")
    else:
        see(refused="no")
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


# --- sides that are no NamedShardings, and devices that are not the same ----------------------------------------------

BACK = FOUR[::-1]
LINE = (("x", 4),)
PLACES = {
    "named": Lay("named", FOUR, SQUARE, ("x", "y")),
    "rows": Lay("named", FOUR, SQUARE, ("x",)),
    "whole": Lay("named", FOUR, SQUARE),
    "back": Lay("named", BACK, SQUARE, ("x", "y")),
    "back_rows": Lay("named", BACK, SQUARE, ("x",)),
    "back_whole": Lay("named", BACK, SQUARE),
    "positional": Lay("positional", FOUR, (), (2, 2)),
    "back_positional": Lay("positional", BACK, (), (2, 2)),
    "gspmd": Lay("gspmd", FOUR),
    "back_gspmd": Lay("gspmd", BACK),
    "one": Lay("single", (0,)),
    "one1": Lay("single", (1,)),
    "one5": Lay("single", (5,)),
    "mesh1": Lay("named", (1,), (("x", 1),), ("x",)),
    "mesh0": Lay("named", (0,), (("x", 1),), ("x",)),
    "two_back": Lay("named", (1, 0), (("x", 2),), ("x",)),
    "across": Lay("named", (5, 4, 3, 2), SQUARE, ("x", "y")),
    "next": Lay("named", (3, 2, 1, 4), SQUARE, ("x", "y")),
    "eight_back": Lay("named", EIGHT[::-1], (("x", 4), ("y", 2)), ("x", "y")),
}
"""Where an array lies and where it is put; what is called back has the devices of others in another order."""

UNNAMED = tuple(
    (source, target) for source in ("named", "rows", "whole") for target in ("back_positional", "back_gspmd")
)
UNNAMED += (
    ("positional", "back"),
    ("positional", "back_positional"),
    ("positional", "back_whole"),
    ("gspmd", "back"),
    ("gspmd", "back_rows"),
    ("gspmd", "back_gspmd"),
    ("gspmd", "back_positional"),
)
"""Pairs on the same devices in another order of which one is no NamedSharding."""

APART = (
    *(
        (source, target)
        for source in ("back", "back_rows", "back_whole")
        for target in ("one", "one1", "one5", "two_back")
    ),
    *((source, "eight_back") for source in ("one", "back", "back_rows")),
    *((source, target) for source in ("named", "back") for target in ("across", "next")),
    *((source, target) for source in ("one", "mesh0") for target in ("one1", "mesh1", "back", "two_back")),
    ("eight_back", "back"),
    ("two_back", "back_rows"),
)
"""Pairs on devices that are not the same, many of which are written in another order."""


def move(jax, see, source, target, flags):
    """A put between two such places: what it gives, or what its refusal says; and what became of the input."""
    x = jax.device_put(arrays.value("f32_8x8"), shardings.make(jax, *PLACES[source].parts))
    jax.block_until_ready(x)
    where = shardings.make(jax, *PLACES[target].parts)
    see.step("put")
    try:
        y = jax.block_until_ready(jax.device_put(x, where, **FLAGS[flags]))
    except Exception as error:
        see(refused=type(error).__name__, explained=_explained(see, error, PLACES[source], PLACES[target]))
        see(result="refused", placed="refused")
    else:
        right = see.same(y, arrays.value("f32_8x8")) == "same" and see.shards(y) == held(PLACES[target])
        see(refused="no", explained=True, result="right" if right else "wrong")
        see(placed="there" if y.sharding == where else "elsewhere")
    see(input=see.state(x, arrays.value("f32_8x8")))


def held(lay):
    """What `see.shards` says of the array there."""
    value, cuts, found = arrays.value("f32_8x8"), shardings.counts(lay, 2), []
    for device, (row, column) in sorted(zip(lay.devices, shardings.tiles(lay, 2), strict=True)):
        part = np.split(np.split(value, cuts[0], 0)[row], cuts[1], 1)[column]
        found.append([device, list(part.shape), part.flat[0].item()])
    return found


CLASSES = {"positional": "PositionalSharding", "gspmd": "GSPMDSharding", "single": "SingleDeviceSharding"}


def _explained(see, error, old, new):
    """Whether a message names the devices of both sides, or the class of the one that is no NamedSharding."""
    if see.named(error, [CLASSES[lay.form] for lay in (old, new) if lay.form in CLASSES]):
        return True
    return see.names_devices(error, old.devices) and see.names_devices(error, new.devices)


# --- several leaves ---------------------------------------------------------------------------------------------------

LEAVES = {
    "alike": (("base", "x.y", "reverse", "y.x"), ("base", "x.o", "reverse", "o.y"), ("base", "o.y", "reverse", "o.y")),
    "orders": (("base", "x.y", "swap", "x.y"), ("base", "x.y", "cycle", "y.x"), ("base", "x.y", "columns", "x.o")),
    "stays": (("base", "x.y", "base", "x.y"), ("base", "x.y", "reverse", "x.y"), ("base", "o.x", "base", "o.x")),
    "back": (("reverse", "x.y", "base", "x.y"), ("base", "x.y", "reverse", "x.y"), ("swap", "y.o", "cycle", "y.o")),
}
"""Three leaves, each with the order and the cut in which it lies and those that it is put to."""

GIVEN = {
    "none": (False, False, False),
    "first": (True, False, False),
    "second": (False, True, False),
    "outer": (True, False, True),
    "every": (True, True, True),
}
"""Which of the three are donated."""


def tree(jax, see, leaves, given):
    """A put of three leaves at once, of which some are donated."""
    sides = [(place("2x2", order, cut), place("2x2", by, to)) for order, cut, by, to in LEAVES[leaves]]
    x = {name: arrays.placed(jax, old, "f32_8x8") for name, (old, _) in zip("abc", sides, strict=True)}
    where = {name: new.make(jax) for name, (_, new) in zip("abc", sides, strict=True)}
    donated = dict(zip("abc", GIVEN[given], strict=True))
    see.step("put")
    y = jax.block_until_ready(jax.device_put(x, where, donate=donated))
    see.step("output")
    see(values=[see.same(y[name], arrays.value("f32_8x8")) for name in "abc"])
    see(shardings=[see.sharding(y[name]) for name in "abc"])
    states = [see.state(x[name], arrays.value("f32_8x8")) for name in "abc"]
    see(kept=[it for it, gone in zip(states, GIVEN[given], strict=True) if not gone])
    see(gone=[it for it, gone in zip(states, GIVEN[given], strict=True) if gone])


# --- before and after meet --------------------------------------------------------------------------------------------


def meet(jax, see, order, cut, how):
    """An array meets itself in another order, and then an array that lies in that order already."""
    old, new = place("2x2", "base", cut), place("2x2", order, cut)
    x = arrays.placed(jax, old, "f32_8x8")
    y = jax.block_until_ready(jax.device_put(x, new.make(jax)))
    add = {"eager": lambda a, b: a + b, "jit": jax.jit(lambda a, b: a + b)}[how]
    compiled = see.compiled()
    see.step("apart")
    try:
        jax.block_until_ready(add(x, y))
    except Exception as error:
        see(refused=type(error).__name__)
        see(devices=see.names_devices(error, old.devices) and see.names_devices(error, new.devices))
    else:
        see(refused="no", devices=False)
    see(compiled=see.compiled() - compiled)
    see.step("together")
    z = add(y, arrays.placed(jax, new, "f32_8x8"))
    see(value=see.same(z, 2 * arrays.value("f32_8x8")), lies=see.sharding(z)["devices"])


# --- within a program -------------------------------------------------------------------------------------------------


def inside(jax, see, order, target, flags):
    """A put to another order within a program."""
    old, new = place("2x2", "base", "x.y"), place("2x2", order, target)
    x = arrays.placed(jax, old, "f32_8x8")
    where = new.make(jax)
    see.step("put")
    try:
        y = jax.block_until_ready(jax.jit(lambda a: jax.device_put(a, where, **FLAGS[flags]))(x))
    except Exception as error:
        see(refused=type(error).__name__)
        see(devices=see.names_devices(error, old.devices) and see.names_devices(error, new.devices))
    else:
        see(refused="no", value=see.same(y, arrays.value("f32_8x8")), sharding=see.sharding(y))
    see(input=see.state(x, arrays.value("f32_8x8")))


# --- a sharding that has a logical order ------------------------------------------------------------------------------


def logical(jax, see, mesh, order, cut):
    """A sharding over a mesh that carries a logical order of the mesh's devices, beside others."""
    lies = place(mesh, "base", cut)
    ids = place(mesh, order, cut).devices
    devices = np.array([jax.devices()[id] for id in lies.devices]).reshape([size for _, size in lies.axes])
    grid = jax.sharding.Mesh(devices, [name for name, _ in lies.axes])
    parts = jax.sharding.PartitionSpec(*lies.spec)
    one, same = (jax.sharding.in_logical_order(grid, parts, ids) for _ in range(2))
    plain = jax.sharding.NamedSharding(grid, parts)
    other = jax.sharding.in_logical_order(grid, parts, (ids[-1], *ids[:-1]))
    see(equal=one == same, hash=hash(one) == hash(same), unequal=[one != it for it in (plain, other)])
    see(shown=str(list(ids))[1:-1] in repr(one), plain_shown="logical" in repr(plain))
    see(
        alike=one.is_equivalent_to(same, 2),
        as_plain=one.is_equivalent_to(plain, 2),
        as_other=one.is_equivalent_to(other, 2),
    )
    see.step("indices")
    shape = (16, 8)
    found = sorted((device.id, index) for device, index in one.devices_indices_map(shape).items())
    see(indices=[[id, *(it.indices(size)[:2] for it, size in zip(index, shape, strict=True))] for id, index in found])
    see.step("lower")
    struct = jax.ShapeDtypeStruct(shape, np.float32, sharding=one)
    see(argument=see.tiles(see.lowered(jax.jit(lambda a: a + 1), struct), "argument"))
    see.step("pickle")
    again, parts, *_ = one.__reduce_ex__(pickle.HIGHEST_PROTOCOL)  # devices have to be pickled otherwise
    see(pickled=again(*parts) == one)
