"""Shardings without names, as JAX had them until 0.7: devices in a grid, or in whatever order GSPMD wrote."""

from __future__ import annotations

from typing import Any

import numpy as np

from .shardings import Shape, Sharding, kind_of, whole
from .tiles import Tiling


class PositionalSharding(Sharding):
    """Dimensions are cut as a grid of devices is: its shape says into how many tiles, its places who holds which.

    `reshape` and `transpose` turn the grid; `replicate` lays the places along an axis together, to hold the same.
    """

    shape: Shape
    memory_kind: str
    _held: np.ndarray[Any, Any]

    def __init__(self, devices: Any, *, memory_kind: str | None = None, held: Any = None) -> None:
        """`held`: the numbers of the devices at each place, along its last dimension; by default one at each."""
        grid = np.array(devices, dtype=object)
        if not grid.size:
            raise ValueError(f"a PositionalSharding takes at least one device: got {devices}")
        if held is None:
            held = np.arange(grid.size).reshape(*grid.shape, 1)
        ordered, shape = tuple(grid.flat), held.shape[:-1]
        kind = kind_of(ordered[0], memory_kind)
        fields = {"ordered": ordered, "memory_kind": kind, "shape": shape, "_held": held}
        super().__init__(ordered[0], ordered, shape, held.tobytes(), kind, **fields)

    @property
    def ndim(self) -> int:
        """How many dimensions the grid has."""
        return len(self.shape)

    @property
    def T(self) -> PositionalSharding:  # noqa: N802
        """The grid the other way round."""
        return self.transpose()

    def reshape(self, *shape: Any) -> PositionalSharding:
        """The places in a grid of another shape."""
        places = self._held.reshape(-1, self._held.shape[-1])
        return self._with(places[np.arange(len(places)).reshape(*shape)])

    def transpose(self, *axes: int) -> PositionalSharding:
        """The axes of the grid in another order, the other way round where none is given."""
        order = self._numbers(axes or range(self.ndim)[::-1])
        return self._with(self._held.transpose(*order, self.ndim))

    def replicate(self, axis: int | tuple[int, ...] | None = None, keepdims: bool = True) -> PositionalSharding:
        """The places along an axis laid together, along all of them where none is given."""
        gone = self._numbers(range(self.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,))
        kept = [number for number in range(self.ndim) if number not in gone]
        together = self._held.transpose(*kept, *gone, self.ndim)
        held = np.sort(together.reshape(*together.shape[: len(kept)], -1), axis=-1)
        return self._with(np.expand_dims(held, gone) if keepdims else held)

    def in_kind(self, kind: str) -> PositionalSharding:
        return PositionalSharding(self.ordered, memory_kind=kind, held=self._held)

    @property
    def is_whole(self) -> bool:
        """Whether each device holds the whole of every array."""
        return bool(self._held.shape[-1] == len(self.ordered))

    def tiling(self, ndim: int) -> Tiling:
        if self.is_whole:
            return whole(len(self.ordered), ndim)
        if ndim != self.ndim:
            raise ValueError(f"{self} is for arrays of {self.ndim} dimensions, and was given one of {ndim}")
        coordinates = np.zeros((len(self.ordered), ndim), np.int32)
        for place in np.ndindex(self.shape):
            coordinates[self._held[place]] = place
        return Tiling(self.shape, coordinates)

    def _with(self, held: np.ndarray[Any, Any]) -> PositionalSharding:
        """The same devices in another grid."""
        return PositionalSharding(self.ordered, memory_kind=self.memory_kind, held=held)

    def _numbers(self, axes: Any) -> tuple[int, ...]:
        """Axes of the grid counted from its first; ValueError for one that it has not."""
        if wrong := [axis for axis in axes if not -self.ndim <= axis < self.ndim]:
            raise ValueError(f"{self} has {self.ndim} axes, and no axis {wrong[0]}")
        return tuple(axis % self.ndim for axis in axes)

    def _call(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return (self.ordered,), {"memory_kind": self.memory_kind, "held": self._held}

    def shown(self) -> str:
        ids = [
            f"{{{', '.join(str(self.ordered[it].id) for it in self._held[place])}}}" for place in np.ndindex(self.shape)
        ]
        grid = np.array(ids, dtype=object).reshape(self.shape).tolist()
        return f"PositionalSharding(device ids {str(grid).replace(chr(39), '')}{self._memory()}, shape={self.shape})"


class GSPMDSharding(Sharding):
    """Arrays are cut as GSPMD was told, or said; where no tiling is given, they lie whole on each device."""

    memory_kind: str
    _cut: Tiling | None

    def __init__(self, devices: Any, cut: Tiling | None = None, *, memory_kind: str | None = None) -> None:
        ordered = tuple(devices)
        if not ordered:
            raise ValueError("a GSPMDSharding takes at least one device: got none")
        if cut is not None and len(cut.coordinates) != len(ordered):
            raise ValueError(f"a tiling of {len(cut.coordinates)} devices was given for {len(ordered)}: {ordered}")
        kind = kind_of(ordered[0], memory_kind)
        parts = None if cut is None else (cut.counts, cut.coordinates.tobytes())
        super().__init__(ordered[0], ordered, parts, kind, ordered=ordered, memory_kind=kind, _cut=cut)

    @classmethod
    def get_replicated(cls, devices: Any, *, memory_kind: str | None = None) -> GSPMDSharding:
        """Whole on each of the devices."""
        return cls(devices, memory_kind=memory_kind)

    @property
    def is_whole(self) -> bool:
        return self._cut is None or all(count == 1 for count in self._cut.counts)

    def in_kind(self, kind: str) -> GSPMDSharding:
        return GSPMDSharding(self.ordered, self._cut, memory_kind=kind)

    def tiling(self, ndim: int) -> Tiling:
        if self._cut is None:
            return whole(len(self.ordered), ndim)
        if ndim != len(self._cut.counts):
            raise ValueError(f"{self} is for arrays of {len(self._cut.counts)} dimensions, and was given one of {ndim}")
        return self._cut

    def _call(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return (self.ordered, self._cut), {"memory_kind": self.memory_kind}

    def shown(self) -> str:
        cut = "replicated" if self._cut is None else f"tiles={list(self._cut.counts)}"
        return f"GSPMDSharding({{{cut}}} on device ids {[it.id for it in self.ordered]}{self._memory()})"
