"""The plan of a move: which pieces of which shards make up each new shard.

Tiles say how a shape is cut on each side. A piece is the overlap of an old tile and a new one; along each dimension the
overlaps are few, and their product is never written down, so that thousands of devices need little room.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from .devices import Device
from .shardings import Sharding
from .tiles import Tiles

Index = tuple[slice, ...]


@dataclass(frozen=True)
class Piece:
    """A part of the old shard at position `source` (of the old devices), and its place in the new shard."""

    source: int
    old: Index
    new: Index


@dataclass(frozen=True, eq=False)
class Plan:
    """How what lies as `old` on some devices comes to lie as `new` on others."""

    old: Tiles
    new: Tiles
    old_devices: Sequence[Device]
    new_devices: Sequence[Device]

    def here(self, position: int) -> int | None:
        """Which old shard lies on the device of a new one."""
        return self._at.get(self.new_devices[position])

    def whole(self, position: int) -> int | None:
        """Which old shard is just the new one, on the same device."""
        here = self.here(position)
        if here is None or (self.old.counts, self.old.sizes) != (self.new.counts, self.new.sizes):
            return None
        return here if (self.old.coordinates[here] == self.new.coordinates[position]).all() else None

    def pieces(self, position: int) -> Iterator[Piece]:
        """What a new shard is made of; from its own device where that has it, from the replicas in turn elsewhere."""
        here = self.here(position)
        tile = self.new.coordinates[position]
        for steps in itertools.product(*(self._overlaps[axis][at] for axis, at in enumerate(tile))):
            number = sum(step[0] * stride for step, stride in zip(steps, self._strides, strict=True))
            holders = self._holders[number]
            near = here is not None and self._numbers[here] == number
            source = here if here is not None and near else holders[position % len(holders)]
            yield Piece(source, tuple(step[1] for step in steps), tuple(step[2] for step in steps))

    @cached_property
    def _at(self) -> dict[Device, int]:
        return {device: position for position, device in enumerate(self.old_devices)}

    @cached_property
    def _strides(self) -> tuple[int, ...]:
        return tuple(int(np.prod(self.old.counts[axis + 1 :])) for axis in range(len(self.old.counts)))

    @cached_property
    def _numbers(self) -> list[int]:
        """The number of the tile that each old device holds."""
        numbers: list[int] = (self.old.coordinates @ np.array(self._strides, np.int64)).tolist()
        return numbers

    @cached_property
    def _holders(self) -> dict[int, list[int]]:
        """The positions that hold each old tile, by the tile's number."""
        holders: dict[int, list[int]] = {}
        for position, number in enumerate(self._numbers):
            holders.setdefault(number, []).append(position)
        return holders

    @cached_property
    def _overlaps(self) -> list[list[list[tuple[int, slice, slice]]]]:
        """By dimension and new tile: the old tiles that it overlaps, with the slices of both."""
        sides = zip(self.old.sizes, self.new.sizes, self.new.counts, strict=True)
        return [[_overlaps(at, old, new) if old and new else [] for at in range(count)] for old, new, count in sides]


def _overlaps(at: int, old: int, new: int) -> list[tuple[int, slice, slice]]:
    """Which tiles of size `old` the tile number `at` of size `new` overlaps, and where."""
    start, stop = at * new, (at + 1) * new
    found = []
    for tile in range(start // old, -(-stop // old)):
        low, high = max(start, tile * old), min(stop, (tile + 1) * old)
        found.append((tile, slice(low - tile * old, high - tile * old), slice(low - start, high - start)))
    return found


@lru_cache(4096)
def plan(old: Sharding, new: Sharding, shape: tuple[int, ...]) -> Plan:
    """The plan between two shardings of a shape; ValueError where one of them does not divide it."""
    return Plan(old.tiles(shape), new.tiles(shape), old.ordered, new.ordered)
