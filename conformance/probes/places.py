"""Where arrays lie and where they are put, as plain data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Place:
    """Devices by id. With axes they form a mesh, in this order; without, it is one device and no mesh.

    `committed` is false where JAX is left to choose the device. A `bare` place is given as a device, not as a sharding.
    """

    devices: tuple[int, ...]
    axes: tuple[tuple[str, int], ...] = ()
    spec: tuple[str, ...] = ()
    committed: bool = True
    bare: bool = False

    def make(self, jax: Any) -> Any:
        """The second argument of `device_put`."""
        devices = [jax.devices()[id] for id in self.devices]
        if not self.committed:
            return None
        if self.bare:
            return devices[0]
        if not self.axes:
            return jax.sharding.SingleDeviceSharding(devices[0])
        names, sizes = zip(*self.axes, strict=True)
        mesh = jax.sharding.Mesh(np.array(devices).reshape(sizes), names)
        return jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(*self.spec))

    @property
    def sharding(self) -> dict[str, Any]:
        """What `see.sharding` says of an array that lies here."""
        if not self.axes:
            return {"type": "SingleDeviceSharding", "devices": self.devices}
        return {"type": "NamedSharding", "axes": self.axes, "devices": self.devices, "spec": self.spec}


SQUARE = (("x", 2), ("y", 2))
FOUR = (0, 1, 2, 3)

SOURCES = {
    "one": Place((0,)),
    "free": Place((0,), committed=False),
    "mesh1": Place((0,), (("x", 1),)),
    "xy": Place(FOUR, SQUARE, ("x", "y")),
    "x": Place(FOUR, SQUARE, ("x",)),
    "rep": Place(FOUR, SQUARE),
}
"""One device, committed, left to JAX and as a mesh; four devices, wholly sharded, partly and fully replicated."""

ABSOLUTE = {
    "dev1": Place((1,), bare=True),
    "dev5": Place((5,), bare=True),
    "yx": Place(FOUR, SQUARE, ("y", "x")),
    "rep": SOURCES["rep"],
}
"""Targets that are the same for every source."""

TARGETS = ("none", "same", *ABSOLUTE, "perm", "other4")


def target(source: str, name: str) -> Place | None:
    """Where to put an array that lies at `source`; None for the target that is not given."""
    if name == "none":
        return None
    if name in ABSOLUTE:
        return ABSOLUTE[name]
    here = replace(SOURCES[source], committed=True)
    if name == "same":
        return here
    if name == "perm":  # the same devices in another order
        return replace(here, devices=tuple(here.devices[i] for i in (3, 1, 0, 2)))
    if name == "other4":  # the same on devices four further on
        return replace(here, devices=tuple(id + 4 for id in here.devices))
    raise ValueError(f"unknown target {name}: the targets are {', '.join(TARGETS)}")


def make(jax: Any, source: str, name: str) -> Any:
    """The second argument of `device_put` for that target."""
    place = target(source, name)
    return None if place is None else place.make(jax)
