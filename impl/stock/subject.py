"""The installed JAX with its backend running."""

from __future__ import annotations

import platform
from typing import Any

import jax
import jaxlib
import ml_dtypes
import numpy as np

from impl.host import capabilities
from impl.host.see import Note

from . import counts, namespace
from .see import See

NAMESPACE, SPELLINGS = namespace.of(jax)
"""Found once, before any backend starts; the hosts that are forked share it."""


class Subject:
    jax = NAMESPACE
    """What probes get as `jax`."""

    def __init__(self, partitioner: str) -> None:
        jax.config.update("jax_use_shardy_partitioner", partitioner == "shardy")
        devices = np.array(jax.devices())
        everywhere = jax.sharding.NamedSharding(jax.sharding.Mesh(devices, ("all",)), jax.sharding.PartitionSpec("all"))
        self._spread = jax.device_put(np.zeros(devices.size, np.float32), everywhere)
        self._sum = jax.jit(lambda x: x.sum())
        self._capabilities = set(capabilities.found(self.jax, self._spread, vars(ml_dtypes)))

    def hello(self) -> dict[str, Any]:
        """What this host is, as found."""
        partitioner = self._partitioner()
        return {
            "versions": {
                "python": platform.python_version(),
                "jax": jax.__version__,
                "jaxlib": jaxlib.__version__,
                "numpy": np.__version__,
            },
            "devices": [{"id": it.id, "platform": it.platform, "kind": it.device_kind} for it in jax.devices()],
            "memory_kinds": sorted(memory.kind for memory in jax.devices()[0].addressable_memories()),
            "capabilities": sorted(self._capabilities | {partitioner} if partitioner else self._capabilities),
            "partitioner": partitioner,
            "spellings": SPELLINGS,
        }

    def see(self, note: Note) -> See:
        """The observers for one probe."""
        return See(note, pointers="pointers" in self._capabilities)

    def settle(self) -> None:
        """Waits for the programs in flight: one that needs every device comes after all that went before it.

        From 0.11 or 0.12 on, a copy from device to device that nobody reads is not waited for, and nothing public waits
        for it once its array is gone. Probes therefore wait for what they put.
        """
        with counts.unseen():
            jax.block_until_ready(self._sum(self._spread))

    def cost(self) -> dict[str, int]:
        """What was lowered and compiled since the last call."""
        return counts.take()

    def _partitioner(self) -> str | None:
        """The partitioner that really runs, read off a lowered module."""
        with counts.unseen():
            see = self.see(lambda **_: None)
            return see.partitioner(see.lowered(jax.jit(lambda x: x), self._spread))
