"""What meshes, specs and shardings answer, told as plain data: `python -m tests.values_there PARTITIONER` asks JAX.

Every question takes a namespace shaped like JAX and is asked of the model as well. A sharding is a mesh, a spec, a kind
of memory and an order of the mesh's devices, by name.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import sys
from dataclasses import dataclass
from operator import add
from types import SimpleNamespace
from typing import Any

import numpy as np

MESHES = {
    "one": ((5,), (1,), "x"),
    "other": ((2,), (1,), "x"),
    "line": ((0, 1, 2, 3), (4,), "x"),
    "back": ((3, 2, 1, 0), (4,), "x"),
    "renamed": ((0, 1, 2, 3), (4,), "p"),
    "elsewhere": ((4, 5, 6, 7), (4,), "x"),
    "square": ((0, 1, 2, 3), (2, 2), "xy"),
    "turned": ((0, 2, 1, 3), (2, 2), "xy"),
    "swapped": ((0, 1, 2, 3), (2, 2), "yx"),
    "tall": ((0, 1, 2, 3), (4, 1), "xy"),
    "wide": ((0, 1, 2, 3), (1, 4), "xy"),
    "six": ((0, 1, 2, 3, 4, 5), (2, 3), "xy"),
    "eight": ((0, 1, 2, 3, 4, 5, 6, 7), (4, 2), "xy"),
    "cube": ((0, 1, 2, 3, 4, 5, 6, 7), (2, 2, 2), "xyz"),
    "mixed": ((6, 1, 0, 7, 3, 2, 5, 4), (2, 2, 2), "xyz"),
    "many": (tuple(range(16)), (2, 2, 2, 2), "wxyz"),
    "flat": ((0, 1, 2, 3, 4, 5, 6, 7), (2, 1, 4), "xyz"),
}
"""Ids of devices in order, sizes and names of axes."""

ORDERS = {"": None, "same": (0, 1, 2, 3), "back": (3, 2, 1, 0), "turned": (0, 2, 1, 3), "round": (1, 2, 3, 0)}
"""Orders of the devices of a mesh of four in the program: `logical_device_ids`."""

SHAPES = ((48, 48, 48), (48, 0, 24), (12, 8, 18), (5, 24, 3))
"""The first is cut evenly by all; the others by some."""

OPEN = "?"
"""What stands for an unconstrained part."""


@dataclass(frozen=True)
class Named:
    """A NamedSharding; one on an abstract mesh if it is `abstract`."""

    mesh: str
    spec: tuple[Any, ...]
    kind: str | None = None
    order: str = ""
    abstract: bool = False

    def make(self, jax):
        mesh = a_mesh(jax, self.mesh)
        mesh = mesh.abstract_mesh if self.abstract else mesh
        order = {} if not self.order else {jax.ordering: ORDERS[self.order]}
        return jax.NamedSharding(mesh, a_spec(jax, self.spec), memory_kind=self.kind, **order)


@dataclass(frozen=True)
class Single:
    """A SingleDeviceSharding."""

    device: int
    kind: str | None = None
    abstract = False
    spec = ()

    def make(self, jax):
        return jax.SingleDeviceSharding(jax.devices[self.device], memory_kind=self.kind)


def a_mesh(jax, name):
    ids, sizes, axes = MESHES[name]
    return jax.Mesh(np.array([jax.devices[id] for id in ids]).reshape(sizes), tuple(axes))


def a_spec(jax, parts):
    return jax.PartitionSpec(*(jax.PartitionSpec.UNCONSTRAINED if part == OPEN else part for part in parts))


def specs(axes):
    """Specs over some axes: every part alone and in pairs, and longer ones where an axis comes later."""
    groups = [group for size in range(1, len(axes) + 1) for group in itertools.permutations(axes, size)]
    parts = [None, *axes, *groups, OPEN]
    for spec in [(), *itertools.product(parts), *itertools.product(parts, parts), *((None, it, OPEN) for it in parts)]:
        named = [axis for part in spec if part not in (None, OPEN) for axis in part]
        if len(named) == len(set(named)):
            yield spec


def corpus():
    """Some hundreds of shardings: of meshes with many specs, every so manieth."""
    found: list[Any] = [Single(0), Single(5), Single(5, "device"), Single(5, "pinned_host")]
    for name, (ids, _, axes) in MESHES.items():
        of = list(specs(axes))
        step = -(-len(of) // 16)
        found += [Named(name, spec) for spec in of[::step]]
        found += [Named(name, spec, "pinned_host") for spec in of[:: step * 8]]
        if len(ids) == 4:
            closed = [spec for spec in of if OPEN not in spec]
            found += [Named(name, spec, order=order) for order in ORDERS if order for spec in closed[1 :: step * 5]]
    for name, spec, kind in itertools.product(("line", "square"), ((), ("x",), (None, "x")), (None, "device")):
        found.append(Named(name, spec, kind, abstract=True))
    return found


def plain(text):
    """A text in which devices are of no platform."""
    text = re.sub(r"\b(Cpu|Model)Device", "Device", str(text))
    return re.sub(r"=(cpu|model)\b", "=it", text)


def error(act):
    """The classes of the error that an act raises, Python's own alone; [] where it raises none."""
    try:
        act()
    except Exception as caught:
        return [it.__name__ for it in type(caught).__mro__ if it.__module__ == "builtins"]
    return []


def message(act):
    try:
        act()
    except Exception as caught:
        return str(caught)
    return ""


# --- what each sharding says --------------------------------------------------------------------------------------


def told(sharding, abstract):
    """What it is and how it cuts each shape."""
    said = {
        "repr": plain(repr(sharding)),
        "memory_kind": sharding.memory_kind,
        "devices": sharding.num_devices,
        "replicated": sharding.is_fully_replicated,
        "shapes": [
            error(lambda shape=shape: sharding.shard_shape(shape))[:1] or sharding.shard_shape(shape)
            for shape in SHAPES
        ],
    }
    if not abstract:
        said["maps"] = [
            index(sharding, shape) for shape in SHAPES if not error(lambda shape=shape: sharding.shard_shape(shape))
        ]
        said["set"] = sorted(device.id for device in sharding.device_set)
        said["addressable"] = sharding.is_fully_addressable
    return said


def index(sharding, shape):
    """Each device's id and part, in order."""
    return [
        [device.id, [[it.start, it.stop] for it in at]] for device, at in sharding.devices_indices_map(shape).items()
    ]


def pairs(shardings, same):
    """A row of 0 and 1 for each: whether it is the same as each."""
    return ["".join("01"[bool(same(a, b))] for b in shardings) for a in shardings]


def agrees(things):
    """Whether equal things have equal hashes."""
    return all(hash(a) == hash(b) for a in things for b in things if a == b)


def equivalent(a, b):
    """In arrays of three dimensions. Where JAX has an error for an answer, one of them has devices and one has not."""
    try:
        return a.is_equivalent_to(b, 3)
    except (AttributeError, RuntimeError):
        return False


def values(jax):
    things = corpus()
    made = [it.make(jax) for it in things]
    return {
        "told": [told(sharding, it.abstract) for it, sharding in zip(things, made, strict=True)],
        "equal": pairs(made, lambda a, b: a == b),
        "equivalent": pairs(made, equivalent),
        "hashes": agrees(made),
        "meshes": [
            [plain(repr(it)), plain(str(it)), plain(repr(it.abstract_mesh)), it.size, it.device_ids.tolist()]
            for it in (a_mesh(jax, name) for name in MESHES)
        ],
        "equal_meshes": pairs([a_mesh(jax, name) for name in MESHES], lambda a, b: a == b),
        "equal_abstract": pairs([a_mesh(jax, name).abstract_mesh for name in MESHES], lambda a, b: a == b),
        "specs": [repr(a_spec(jax, spec)) for spec in specs("xy")],
        "equal_specs": pairs([a_spec(jax, spec) for spec in specs("xy")], lambda a, b: a == b),
        "good": {name: plain(repr(act(jax))) for name, act in GOOD.items()},
        "bad": {name: error(lambda act=act: act(jax)) for name, act in BAD.items()},
    }


def P(*parts):  # noqa: N802
    return lambda jax: a_spec(jax, parts)


def sharding(mesh, *spec, **more):
    return lambda jax: Named(mesh, spec, **more).make(jax)


def four(jax, *shape):
    return np.array(jax.devices[:4]).reshape(shape or (4,))


LINE = sharding("line", "x")

GOOD = {
    "mesh.list": lambda jax: jax.Mesh(jax.devices[:2], "x"),
    "mesh.names": lambda jax: jax.Mesh(jax.devices[:2], ["x"]),
    "mesh.number": lambda jax: jax.Mesh(jax.devices[:2], (1,)),
    "mesh.types": lambda jax: jax.Mesh(four(jax, 2, 2), ("x", "y"), (jax.AxisType.Explicit, jax.AxisType.Auto)),
    "mesh.type": lambda jax: jax.Mesh(four(jax), ("x",), jax.AxisType.Explicit),
    "mesh.types.equal": lambda jax: jax.Mesh(four(jax), ("x",), jax.AxisType.Explicit) == a_mesh(jax, "line"),
    "mesh.scalar": lambda jax: jax.Mesh(np.array(jax.devices[0]), ()),
    "mesh.empty": lambda jax: jax.Mesh(np.empty((), object), ()),
    "mesh.empty.abstract": lambda jax: jax.Mesh(np.empty((), object), ()).abstract_mesh,
    "abstract.empty": lambda jax: jax.AbstractMesh((), ()),
    "abstract.types": lambda jax: jax.AbstractMesh((2, 2), ("x", "y"), (jax.AxisType.Auto, jax.AxisType.Explicit)),
    "make.four": lambda jax: jax.make_mesh((4,), ("x",), axis_types=(jax.AxisType.Auto,)),
    "make.default": lambda jax: jax.make_mesh((2, 4), ("x", "y")),
    "make.one": lambda jax: jax.make_mesh((), ()),
    "make.ids": lambda jax: jax.make_mesh((2, 2), ("x", "y")).device_ids.tolist(),
    "make.given": lambda jax: jax.make_mesh((2,), "x", devices=jax.devices[5:]).device_ids.tolist(),
    "make.back": lambda jax: jax.make_mesh((2, 2), ("x", "y"), devices=jax.devices[::-1]).device_ids.tolist(),
    "make.array": lambda jax: jax.make_mesh(np.array([2, 2]), ("x", "y")),
    "spec.list": lambda jax: jax.PartitionSpec(["x", "y"], ("z",), ()),
    "spec.tuple": lambda jax: P("x")(jax) == ("x",),
    "spec.plus": lambda jax: [add(P("x")(jax), it) for it in (P("y")(jax), ("y",))] + [add(("y",), P("x")(jax))],
    "spec.items": lambda jax: [
        P("x", None)(jax)[0],
        P("x", None)(jax)[:1],
        len(P("x", None)(jax)),
        list(P("x", None)(jax)),
        "x" in P("x")(jax),
    ],
    "spec.index": lambda jax: [P(None, "x")(jax).index(("x",)), P(None, "x")(jax).count("x")],
    "kind": lambda jax: [
        LINE(jax).with_memory_kind("pinned_host"),
        Single(3).make(jax).with_memory_kind("pinned_host"),
    ],
    "kind.again": lambda jax: LINE(jax).with_memory_kind("device") == LINE(jax),
    "kind.abstract": sharding("line", "x", kind="pinned_host", abstract=True),
    "rank.trailing": lambda jax: sharding("line", None)(jax).shard_shape(()),
    "other": lambda jax: [LINE(jax) == 3, LINE(jax) != 3, a_mesh(jax, "line") == 3, P()(jax) == 3],
    "layout.equal": lambda jax: [jax.Layout((1, 0)) == jax.Layout([1, 0]), jax.Layout((1, 0)) == jax.Layout((0, 1))],
    "format.equal": lambda jax: jax.Format(jax.Layout((1, 0)), LINE(jax)) == jax.Format(jax.Layout((1, 0)), LINE(jax)),
    "format.open": lambda jax: jax.Format(),
}
"""What is accepted, and what it is."""

BAD = {
    "mesh.rank": lambda jax: jax.Mesh(four(jax), ("x", "y")),
    "mesh.rank.string": lambda jax: jax.Mesh(four(jax, 2, 2), "xy"),
    "mesh.repeated": lambda jax: jax.Mesh(four(jax, 2, 2), ("x", "x")),
    "mesh.twice": lambda jax: jax.Mesh([jax.devices[0], jax.devices[0]], "x"),
    "mesh.none": lambda jax: jax.Mesh(jax.devices[:2], (None,)),
    "mesh.names": lambda jax: jax.Mesh(jax.devices[:2], 3),
    "mesh.numbers": lambda jax: jax.Mesh([1, 2], "x"),
    "mesh.types": lambda jax: jax.Mesh(four(jax), ("x",), (jax.AxisType.Auto,) * 2),
    "mesh.types.class": lambda jax: jax.Mesh(four(jax), ("x",), ("Auto",)),
    "mesh.types.list": lambda jax: jax.Mesh(four(jax), ("x",), [jax.AxisType.Auto]),
    "mesh.set": lambda jax: setattr(a_mesh(jax, "line"), "axis_names", ("y",)),
    "mesh.devices": lambda jax: a_mesh(jax, "line").devices.__setitem__(0, jax.devices[5]),
    "mesh.axis": lambda jax: a_mesh(jax, "line").shape["y"],
    "abstract.rank": lambda jax: jax.AbstractMesh((2, 2), ("x",)),
    "abstract.repeated": lambda jax: jax.AbstractMesh((2, 2), ("x", "x")),
    "abstract.sizes": lambda jax: jax.AbstractMesh(2, "x"),
    "abstract.types": lambda jax: jax.AbstractMesh((2,), ("x",), (jax.AxisType.Auto,) * 2),
    "abstract.devices": lambda jax: a_mesh(jax, "line").abstract_mesh.devices,
    "abstract.device_ids": lambda jax: a_mesh(jax, "line").abstract_mesh.device_ids,
    "abstract.enter": lambda jax: a_mesh(jax, "line").abstract_mesh.__enter__(),
    "make.many": lambda jax: jax.make_mesh((32,), ("x",)),
    "make.many.given": lambda jax: jax.make_mesh((4,), ("x",), devices=jax.devices[:3]),
    "make.zero": lambda jax: jax.make_mesh((0,), ("x",)),
    "make.negative": lambda jax: jax.make_mesh((-1,), ("x",)),
    "make.negative.two": lambda jax: jax.make_mesh((-2, -2), ("x", "y")),
    "make.half": lambda jax: jax.make_mesh((2.5,), ("x",)),
    "make.string": lambda jax: jax.make_mesh(("a",), ("x",)),
    "make.number": lambda jax: jax.make_mesh(2, ("x",)),
    "make.rank": lambda jax: jax.make_mesh((2, 2), ("x",)),
    "make.repeated": lambda jax: jax.make_mesh((2, 2), ("x", "x")),
    "make.types": lambda jax: jax.make_mesh((2,), ("x",), axis_types=("Auto",)),
    "spec.order": lambda jax: P("x")(jax) < P("y")(jax),
    "spec.item": lambda jax: P("x")(jax)[1],
    "spec.index": lambda jax: P("x")(jax).index("y"),
    "spec.set": lambda jax: setattr(P("x")(jax), "parts", ()),
    "spec.unhashable": lambda jax: jax.PartitionSpec({"x"}),
    "axis.unknown": sharding("line", "y"),
    "axis.unknown.abstract": sharding("line", "y", abstract=True),
    "axis.unknown.grouped": sharding("line", ("x", "y")),
    "axis.repeated": sharding("square", "x", "x"),
    "axis.repeated.grouped": sharding("square", ("x", "x")),
    "axis.open": lambda jax: jax.NamedSharding(jax.Mesh(four(jax), ("x",), jax.AxisType.Explicit), P(OPEN)(jax)),
    "named.tuple": lambda jax: jax.NamedSharding(a_mesh(jax, "line"), ("x",)),
    "named.none": lambda jax: jax.NamedSharding(a_mesh(jax, "line"), None),
    "named.mesh": lambda jax: jax.NamedSharding(3, P("x")(jax)),
    "named.set": lambda jax: setattr(LINE(jax), "spec", P()(jax)),
    "kind": sharding("line", "x", kind="attic"),
    "kind.single": lambda jax: Single(0, "attic").make(jax),
    "kind.with": lambda jax: LINE(jax).with_memory_kind("attic"),
    "kind.abstract": sharding("line", "x", kind="attic", abstract=True),
    "order.short": lambda jax: jax.NamedSharding(
        a_mesh(jax, "line"), P("x")(jax), **{jax.ordering: (0, 1)}
    ).shard_shape((4,)),
    "order.twice": lambda jax: jax.NamedSharding(a_mesh(jax, "line"), P("x")(jax), **{jax.ordering: (0, 1, 1, 3)}),
    "divides": lambda jax: LINE(jax).shard_shape((6,)),
    "divides.map": lambda jax: LINE(jax).devices_indices_map((6,)),
    "divides.abstract": lambda jax: sharding("line", "x", abstract=True)(jax).shard_shape((6,)),
    "rank": lambda jax: sharding("line", None, "x")(jax).shard_shape((8,)),
    "rank.map": lambda jax: sharding("line", None, "x")(jax).devices_indices_map((8,)),
    "rank.zero": lambda jax: LINE(jax).shard_shape(()),
    "rank.equivalent": lambda jax: sharding("line", None, "x")(jax).is_equivalent_to(sharding("line", "x")(jax), 1),
    "shape.number": lambda jax: LINE(jax).shard_shape(8),
    "equivalent.number": lambda jax: LINE(jax).is_equivalent_to(3, 1),
    "equivalent.single": lambda jax: sharding("line", "x", abstract=True)(jax).is_equivalent_to(Single(0).make(jax), 1),
    "devices.abstract": lambda jax: sharding("line", "x", abstract=True)(jax).device_set,
    "map.abstract": lambda jax: sharding("line", "x", abstract=True)(jax).devices_indices_map((8,)),
    "addressable.abstract": lambda jax: sharding("line", "x", abstract=True)(jax).is_fully_addressable,
    "layout.number": lambda jax: jax.Layout(3),
    "layout.repeated": lambda jax: jax.Layout((0, 0)),
    "format.alone": lambda jax: jax.Format(jax.Layout((1, 0))),
    "format.layout": lambda jax: jax.Format(3, LINE(jax)),
    "format.sharding": lambda jax: jax.Format(None, 3),
}
"""What is not, each for one reason."""


# --- texts --------------------------------------------------------------------------------------------------------


def together():
    """The shardings of the corpus that can be arguments of one program, in groups: same devices, same order."""
    groups: dict[tuple[int, ...], list[Any]] = {}
    for it in corpus():
        if not it.abstract:
            devices = (it.device,) if isinstance(it, Single) else MESHES[it.mesh][0]
            groups.setdefault(devices, []).append(it)
    return groups


def texts(jax):
    """What modules say of arguments, results and constraints with each sharding, and of their meshes."""
    return [lowered(group, [it.make(jax) for it in group]) for group in together().values()]


def lowered(group, shardings):
    import jax

    def constrained(*xs):
        return [jax.lax.with_sharding_constraint(x, it) for x, it in zip(xs, shardings, strict=True)]

    closed = [made for it, made in zip(group, shardings, strict=True) if is_closed(it)]
    arguments = [jax.ShapeDtypeStruct(SHAPES[0], np.float32, sharding=it) for it in closed]
    bare = [jax.ShapeDtypeStruct(SHAPES[0], np.float32) for _ in shardings]
    return {
        "module": declared(jax.jit(lambda *xs: xs, out_shardings=tuple(closed[::-1])).lower(*arguments).as_text()),
        "constraints": constraints(jax.jit(constrained).lower(*bare).as_text()),
    }


def is_closed(it):
    """Whether it can be that of an argument, and says nothing of memory."""
    return OPEN not in it.spec and it.kind in (None, "device")


def declared(text):
    """The meshes of a module and the annotations of its arguments and results, in order."""
    signature = text.partition("func.func")[2].partition("\n")[0]
    return {
        "meshes": re.findall(r"sdy\.mesh (@\w+ = <.*?\]>)", text),
        "values": re.findall(r'(?:#sdy\.sharding(<@.*?\]>)|mhlo\.sharding = "(.*?)")', signature),
        "counts": re.findall(r"mhlo\.num_\w+ = \d+", text),
    }


def constraints(text):
    """The meshes of a module, and what its constraints say."""
    return {
        "meshes": re.findall(r"sdy\.mesh (@\w+ = <.*?\]>)", text),
        "sdy": re.findall(r"sdy\.sharding_constraint %\w+ (<.*>) :", text),
        "gspmd": re.findall(r'@Sharding\(%\w+\) \{backend_config = "(.*?)", mhlo.sharding = "(.*?)"', text),
    }


def today(version):
    """Whether that JAX shows specs and meshes in today's words, as the model does: from 0.10 on."""
    return tuple(map(int, version.split(".")[:2])) >= (0, 10)


def stock():
    """The installed JAX, on sixteen devices of the host."""
    os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=16"
    os.environ["JAX_PLATFORMS"] = "cpu"
    import jax
    from jax.experimental import layout

    names = ("AbstractMesh", "AxisType", "Mesh", "NamedSharding", "PartitionSpec", "SingleDeviceSharding")
    return SimpleNamespace(
        **{name: getattr(jax.sharding, name, None) for name in names},
        Format=getattr(layout, "Format", None),
        Layout=layout.Layout,
        make_mesh=jax.make_mesh,
        devices=jax.devices(),
        ordering="_logical_device_ids",
        version=jax.__version__,
        partition=lambda name: jax.config.update("jax_use_shardy_partitioner", name == "shardy"),
    )


if __name__ == "__main__":
    there = stock()
    there.partition(sys.argv[1])
    answers = {"values": values(there), "texts": texts(there)} if today(there.version) else {}
    json.dump({"version": there.version, **answers}, sys.stdout)
