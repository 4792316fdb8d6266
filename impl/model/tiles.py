"""How an array is cut into tiles, and which device holds which, as arrays of numbers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np


class Tiling:
    """How arrays of a rank are cut: into how many tiles along each dimension, and where each device's tile is."""

    __slots__ = ("_bytes", "coordinates", "counts")

    def __init__(self, counts: tuple[int, ...], coordinates: np.ndarray[Any, Any]) -> None:
        coordinates.flags.writeable = False
        self.counts = counts
        self.coordinates = coordinates
        self._bytes = coordinates.tobytes()

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return isinstance(other, Tiling) and self.counts == other.counts and self._bytes == other._bytes

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True)
class Tiles:
    """A tiling of one shape: `sizes` is the shape of a tile."""

    tiling: Tiling
    sizes: tuple[int, ...]

    @property
    def counts(self) -> tuple[int, ...]:
        """How many tiles there are along each dimension."""
        return self.tiling.counts

    @property
    def coordinates(self) -> np.ndarray[Any, Any]:
        """For each device, in the sharding's order, where its tile is among them."""
        return self.tiling.coordinates

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The shape that is cut."""
        return tuple(size * count for size, count in zip(self.sizes, self.counts, strict=True))

    def index(self, device: int) -> tuple[slice, ...]:
        """What a device, given by its number in the sharding's order, holds; an uncut dimension is `slice(None)`."""
        return self._indices[device]

    @cached_property
    def _indices(self) -> list[tuple[slice, ...]]:
        """What each device holds."""
        along = [
            [slice(None)] if count == 1 else [slice(at * size, (at + 1) * size) for at in range(count)]
            for count, size in zip(self.counts, self.sizes, strict=True)
        ]
        return [
            tuple([parts[at] for parts, at in zip(along, place, strict=True)]) for place in self.coordinates.tolist()
        ]
