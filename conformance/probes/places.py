"""Where arrays lie and where they are put, as plain data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Place:
    """Devices by id. With axes they form a mesh, in this order; without, it is one device and no mesh.

    `committed` is false where JAX is left to choose the device. A `bare` place is given as a device, not as a sharding.
    `kind` is a kind of memory, "" for the device's own; `order` is a layout, major dimension first, () for any.
    """

    devices: tuple[int, ...]
    axes: tuple[tuple[str, int], ...] = ()
    spec: tuple[str | tuple[str, ...] | None, ...] = ()
    committed: bool = True
    bare: bool = False
    kind: str = ""
    order: tuple[int, ...] = ()

    def make(self, jax: Any) -> Any:
        """The second argument of `device_put`."""
        devices = [jax.devices()[id] for id in self.devices]
        memory = {"memory_kind": self.kind} if self.kind else {}
        if not self.committed:
            return None
        if self.bare:
            return devices[0]
        if not self.axes:
            sharding = jax.sharding.SingleDeviceSharding(devices[0], **memory)
        else:
            names, sizes = zip(*self.axes, strict=True)
            mesh = jax.sharding.Mesh(np.array(devices).reshape(sizes), names)
            sharding = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(*self.spec), **memory)
        if not self.order:
            return sharding
        return jax.experimental.layout.Format(jax.experimental.layout.Layout(self.order), sharding)

    @property
    def sharding(self) -> dict[str, Any]:
        """What `see.sharding` says of an array that lies here, but for its kind of memory.

        A part of a spec that is one name in a tuple means that name, and newer JAX writes it so.
        """
        if not self.axes:
            return {"type": "SingleDeviceSharding", "devices": self.devices}
        spec = [part[0] if isinstance(part, tuple) and len(part) == 1 else part for part in self.spec]
        return {"type": "NamedSharding", "axes": self.axes, "devices": self.devices, "spec": spec}

    @property
    def needs(self) -> tuple[str, ...]:
        """The capabilities that it takes."""
        return (*([f"memory.{self.kind}"] if self.kind else []), *(["format"] if self.order else []))


SQUARE = (("x", 2), ("y", 2))
FOUR = (0, 1, 2, 3)
EIGHT = (0, 1, 2, 3, 4, 5, 6, 7)

SOURCES = {
    "one": Place((0,)),
    "free": Place((0,), committed=False),
    "mesh1": Place((0,), (("x", 1),)),
    "xy": Place(FOUR, SQUARE, ("x", "y")),
    "x": Place(FOUR, SQUARE, ("x",)),
    "rep": Place(FOUR, SQUARE),
    "two": Place((0, 1), (("x", 2),), ("x",)),
    "eight": Place(EIGHT, (("x", 4), ("y", 2)), ("x", "y")),
}
"""One device, committed, left to JAX and as a mesh; four devices, wholly sharded, partly and fully replicated; two and
eight devices."""

HELD = {"pinned": Place((0,), kind="pinned_host"), "unpinned": Place((0,), kind="unpinned_host")}
"""Sources that not every JAX has: kinds of one device's memory."""

HOST = Place((0,), committed=False)
"""Where what lies in the host's own memory is put without a target."""

ABSOLUTE = {
    "dev0": Place((0,)),
    "dev1": Place((1,), bare=True),
    "dev5": Place((5,), bare=True),
    "mesh1": SOURCES["mesh1"],
    "two": SOURCES["two"],
    "xy": SOURCES["xy"],
    "yx": Place(FOUR, SQUARE, ("y", "x")),
    "rep": SOURCES["rep"],
    "line": Place(FOUR, (("x", 4),), ("x",)),
    "eight": SOURCES["eight"],
    "pinned1": Place((1,), kind="pinned_host"),
    "pinned_yx": Place(FOUR, SQUARE, ("y", "x"), kind="pinned_host"),
}
"""Targets that are the same for every source."""

KINDS = {"device": "device", "pinned": "pinned_host", "unpinned": "unpinned_host"}
ORDERS = {"rows": (0, 1), "columns": (1, 0)}

TARGETS = ("none", "same", *ABSOLUTE, "perm", "other4", "renamed", "longer", "tupled", *KINDS, *ORDERS)


def at(source: str) -> Place:
    """Where an array lies."""
    return {**SOURCES, **HELD}.get(source, HOST)


def target(source: str, name: str) -> Place | None:
    """Where to put an array that lies at `source`; None for the target that is not given."""
    if name == "none":
        return None
    if name in ABSOLUTE:
        return ABSOLUTE[name]
    here = replace(at(source), committed=True)
    if name == "same":
        return here
    if name == "perm":  # the same devices in another order
        order = [i for i in (3, 1, 0, 2, 6, 4, 7, 5) if i < len(here.devices)]
        return replace(here, devices=tuple(here.devices[i] for i in order))
    if name == "other4":  # the same on devices four further on
        return replace(here, devices=tuple(id + 4 for id in here.devices))
    if name == "renamed":  # the same with other names of the axes, over another mesh therefore
        axes = tuple((f"{axis}2", size) for axis, size in here.axes)
        return replace(here, axes=axes, spec=tuple(f"{axis}2" for axis in here.spec))
    if name == "longer":  # the same with a spec that names every dimension
        return replace(here, spec=(*here.spec, None, None)[:2])
    if name == "tupled":  # the same with each part of the spec as a tuple
        return replace(here, spec=tuple((str(axis),) for axis in here.spec))
    if name in KINDS:  # the same in a kind of memory
        return replace(here, kind=KINDS[name])
    if name in ORDERS:  # the same in a layout
        return replace(here, order=ORDERS[name])
    raise ValueError(f"unknown target {name}: the targets are {', '.join(TARGETS)}")


def lies(source: str, name: str) -> Place:
    """Where an array that lies at `source` lies after its put."""
    return target(source, name) or at(source)


def make(jax: Any, source: str, name: str) -> Any:
    """The second argument of `device_put` for that target."""
    place = target(source, name)
    return None if place is None else place.make(jax)
