"""The model as a subject."""

from __future__ import annotations

import platform
from collections import Counter
from typing import Any

import ml_dtypes
import numpy as np

from impl.host import capabilities
from impl.host.see import Note

from . import dates, namespace
from .dates import NEWEST, Contract
from .model import Model
from .see import See


class Subject:
    """A model that is judged. What it offers is asked of a `sound` one: what a fault breaks is still offered."""

    def __init__(self, model: Model, sound: Model) -> None:
        self.model, self.sound = model, sound
        self.jax = namespace.of(model)
        """What probes get as `jax`."""
        jax = namespace.of(sound)
        devices = np.array(jax.devices())
        everywhere = jax.sharding.NamedSharding(jax.sharding.Mesh(devices, ("all",)), jax.sharding.PartitionSpec("all"))
        spread = jax.device_put(np.zeros(devices.size, np.float32), everywhere)
        self._capabilities = set(capabilities.found(jax, spread, vars(ml_dtypes)))
        see = self.see(lambda **_: None)
        self._partitioner = see.partitioner(see.lowered(jax.jit(lambda x: x), spread))
        self._capabilities |= {self._partitioner} if self._partitioner else set()
        self._taken: Counter[str] = Counter()

    def hello(self) -> dict[str, Any]:
        """What this host is, as found."""
        devices = self.sound.devices()
        return {
            "versions": {
                "python": platform.python_version(),
                "numpy": np.__version__,
                "contract": self.model.contract.version,
            },
            "devices": [{"id": it.id, "platform": it.platform, "kind": it.device_kind} for it in devices],
            "memory_kinds": sorted(memory.kind for memory in devices[0].addressable_memories()),
            "capabilities": sorted(self._capabilities),
            "partitioner": self._partitioner,
        }

    def see(self, note: Note) -> See:
        """The observers for one probe."""
        return See(note, self.model, pointers="pointers" in self._capabilities)

    def settle(self) -> None:
        """Nothing is under way: what the model does is done when the call returns."""

    def cost(self) -> dict[str, int]:
        """What was lowered and compiled since the last call."""
        since = self.model.counts - self._taken
        self._taken.update(since)
        return {what: since[what] for what in ("lower", "compile")}


def start(devices: int, partitioner: str, contract: str = "", model: type[Model] | None = None) -> Subject:
    """The model with that many devices, under that partitioner, as of a version of JAX."""
    contract = contract or NEWEST
    dates.check(contract)
    classes = (model or Model, Model)
    return Subject(*(it(devices, partitioner=partitioner, contract=Contract(contract)) for it in classes))
