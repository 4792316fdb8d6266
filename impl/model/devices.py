"""Devices and their memories: where arrays can lie.

A machine has a platform of its own, whose devices compute, and the host's CPU beside it, as an accelerator has. Its
devices belong to processes in equal shares; the model runs all of them in lockstep and shows what one of them sees.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

if TYPE_CHECKING:
    from .meanings import Meanings

KINDS = ("device", "pinned_host", "unpinned_host")
"""The kinds of memory that a device addresses, its default first."""


@dataclass(frozen=True)
class Memory:
    """A kind of memory, as one device has it."""

    kind: str


@dataclass(frozen=True, eq=False)
class Client:
    """What runs the devices of one platform. Platforms are told apart by their clients.

    `meanings` is the model that says what shardings over its devices mean; None for no model's own.
    """

    platform: str
    meanings: Meanings | None = field(default=None, repr=False)


@dataclass(frozen=True, eq=False)
class Device:
    """One device; two of them are equal if they are the same."""

    id: int
    client: Client = field(repr=False)
    process_index: int = 0
    memories: tuple[Memory, ...] = ()

    @property
    def platform(self) -> str:
        return self.client.platform

    @property
    def device_kind(self) -> str:
        return self.client.platform

    def addressable_memories(self) -> list[Memory]:
        return list(self.memories)

    def default_memory(self) -> Memory:
        return self.memories[0]

    def memory(self, kind: str) -> Memory:
        """The memory of that kind; ValueError where there is none."""
        for memory in self.memories:
            if memory.kind == kind:
                return memory
        raise ValueError(f"{self!r} has no memory {kind!r}; it has {', '.join(it.kind for it in self.memories)}")

    def __reduce__(self) -> tuple[Any, ...]:
        """A device is pickled as its place in this process, and copied as itself."""
        DEVICES[id(self.client), self.id] = self
        return _device, (id(self.client), self.id)

    def __repr__(self) -> str:
        return f"{self.platform.capitalize()}Device(id={self.id})"


DEVICES: WeakValueDictionary[tuple[int, int], Device] = WeakValueDictionary()
"""Devices that were pickled, by their client and their number."""


def _device(client: int, number: int) -> Device:
    """The device that was pickled; LookupError where it is none of this process."""
    if (client, number) not in DEVICES:
        raise LookupError(f"device {number} was pickled in another process, or is gone")
    return DEVICES[client, number]


def machine(
    count: int, *, processes: int = 1, kinds: Sequence[str] = KINDS, meanings: Meanings | None = None
) -> dict[str, tuple[Device, ...]]:
    """The devices by platform, the default platform first: `count` devices, and one of the host."""
    if count < 1 or processes < 1 or count % processes:
        raise ValueError(f"{count} devices cannot be shared out equally to {processes} processes")
    own, host = Client("model", meanings), Client("cpu", meanings)
    memories = tuple(map(Memory, kinds))
    share = count // processes
    return {
        own.platform: tuple(Device(id, own, id // share, memories) for id in range(count)),
        host.platform: (Device(0, host, 0, memories),),
    }
