"""The observers that probes get as `see`.

Observing must not change what is observed: before the act a probe asks for metadata and pointers alone, and values are
compared on copies. No observer lists live arrays or formats a traceback.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import jax
import numpy as np
from jax.sharding import NamedSharding, Sharding

from impl.host import see as host

from . import counts

Note = host.Note
Span = tuple[int, int]
"""The bytes of one shard: first address and one past the last."""


class See(host.See):
    def __init__(self, note: Note, pointers: bool) -> None:
        super().__init__(note)
        self._pointers = pointers

    def same(self, y: jax.Array, value: np.ndarray) -> str:
        """Whether every shard of `y`, replicas too, holds bit for bit its part of `value`: "same" or "differs"."""
        alike = y.shape == value.shape and y.dtype == value.dtype
        alike = alike and all(np.array(it.data).tobytes() == value[it.index].tobytes() for it in y.addressable_shards)
        return "same" if alike else "differs"

    def sharding(self, y: jax.Array) -> dict[str, Any]:
        """The sharding exactly, as data: its class, mesh, devices in order, spec; a memory kind if not the default."""
        return describe(y.sharding)

    def committed(self, y: jax.Array) -> bool:
        """Whether `y` is bound to its devices."""
        return bool(y.committed)

    def spans(self, x: jax.Array) -> list[Span]:
        """Where each shard of `x` lies in memory, as plain numbers that hold no reference; [] where nothing tells."""
        data = [shard.data for shard in x.addressable_shards if self._pointers]
        return [(start := it.unsafe_buffer_pointer(), start + it.nbytes) for it in data]

    def shares(self, before: Sequence[Span], y: jax.Array) -> str:
        """How many shards of `y` share bytes with the spans taken earlier: "none", "some", "all", or "unknown"."""
        if not self._pointers:
            return "unknown"
        shared = [any(low < end and start < high for low, high in before) for start, end in self.spans(y)]
        return "all" if shared and all(shared) else "some" if any(shared) else "none"

    def state(self, x: jax.Array, value: np.ndarray) -> str:
        """What became of an array that held `value`.

        "intact": nothing is deleted and the value is right; "changed": nothing is deleted, but the value is wrong;
        "deleted": nothing of it is left; "torn": neither alive nor deleted as a whole.
        """
        self.step("is_deleted")
        deleted = x.is_deleted()
        self.step("shards")
        try:
            alive = [not shard.data.is_deleted() for shard in x.addressable_shards]
        except RuntimeError:
            alive = []
        if deleted:
            return "torn" if any(alive) else "deleted"
        if not (alive and all(alive)):
            return "torn"
        self.step("read")
        try:
            return "intact" if self.same(x, value) == "same" else "changed"
        except RuntimeError:
            return "torn"

    def named(self, error: Exception, words: Iterable[str]) -> list[str]:
        """Those of `words` that the error's message contains."""
        return [word for word in words if word in str(error)]

    def compiled(self) -> int:
        """How many programs this process has compiled so far."""
        return counts.total["compile"]


def describe(sharding: Sharding) -> dict[str, Any]:
    """A sharding as plain data."""
    data: dict[str, Any] = {"type": type(sharding).__name__}
    if isinstance(sharding, NamedSharding):
        mesh = sharding.mesh
        devices = list(mesh.devices.flat)
        data["axes"] = [[name, size] for name, size in mesh.shape.items()]
        data["devices"] = [device.id for device in devices]
        data["spec"] = [list(part) if isinstance(part, tuple) else part for part in sharding.spec]
    else:
        devices = sorted(sharding.device_set, key=lambda device: device.id)
        data["devices"] = [device.id for device in devices]
    if sharding.memory_kind not in (None, devices[0].default_memory().kind):
        data["memory"] = sharding.memory_kind
    return data
