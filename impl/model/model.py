"""The model: an implementation of the whole contract, in NumPy, written to be read.

It is made of steps, each a method that names the rules it keeps. A fault is a subclass in which one step goes wrong.
The steps come from parts, each on top of those that it needs:

    Arrays -> Puts, Keys
    Arrays -> Contexts -> Agreement -> Memories -> Programs -> Jits
    Puts, Jits -> Control -> Transforms -> Model
    Jits -> Exports -> Model

Meanings, which shardings ask, and Meshes, which make meshes.
"""

from __future__ import annotations

import weakref
from collections import Counter

from .caches import Caches
from .dates import Contract
from .devices import KINDS, Device, machine
from .exports import Exports
from .keys import Keys
from .meanings import Meanings
from .meshes import Meshes
from .specs import PartitionSpec
from .transforms import Transforms


class Model(Keys, Exports, Transforms, Meanings, Meshes):
    """A machine with its arrays, and what JAX does with them, as of a date of the contract."""

    PartitionSpec = PartitionSpec
    """What users write specs with. SHD-34, SHD-35, SHD-40."""

    def __init__(
        self,
        devices: int = 8,
        *,
        partitioner: str = "shardy",
        contract: Contract | None = None,
        processes: int = 1,
    ) -> None:
        self.contract = contract or Contract()
        self.partitioner = partitioner
        kinds = [kind for kind in KINDS if self.contract.promises(f"memory.{kind}")]
        self.platforms = machine(devices, processes=processes, kinds=kinds, meanings=self)
        self.counts: Counter[str] = Counter()
        self.caches = Caches()
        self.modules: list[str] | None = None
        self.live = weakref.WeakValueDictionary()

    def all_devices(self) -> list[Device]:
        """The devices that a mesh is made of where none are given. MSH-04."""
        return self.devices()

    def devices(self, platform: str | None = None) -> list[Device]:
        """The devices of a platform, the default one if none is named."""
        if platform is None:
            return list(next(iter(self.platforms.values())))
        if platform not in self.platforms:
            raise RuntimeError(f"there is no platform {platform!r}; there are {', '.join(self.platforms)}")
        return list(self.platforms[platform])
