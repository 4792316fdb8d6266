"""Shardings: which device holds which part of an array, and in which kind of memory."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable
from functools import cached_property, lru_cache
from typing import Any, TypeGuard, overload

import numpy as np

from . import meanings
from .devices import KINDS, Device
from .meanings import Meanings, S
from .meshes import AbstractMesh, Axes, Mesh
from .specs import PartitionSpec
from .tiles import Tiles, Tiling
from .values import Value
from .words import shown

Shape = tuple[int, ...]
Index = tuple[slice, ...]


class Sharding(Value, ABC):
    """Devices in an order, the tile of an array that each holds, and a kind of memory.

    A subclass says what its devices are and how it cuts an array of a rank; the rest follows.
    """

    memory_kind: str | None
    ordered: tuple[Device, ...]
    meanings: Meanings

    def __init__(self, device: Device | None, *parts: Hashable, **fields: Any) -> None:
        """`device`: the first that it has; `parts` decide equality, `fields` become attributes."""
        asked = meanings.of(device)
        super().__init__(*parts, meanings=asked, **fields)
        self.__dict__["_hash"] = asked.hashed(type(self).__name__, parts)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return meanings.shared(self, other).equal(self, other) if isinstance(other, Sharding) else NotImplemented

    __hash__ = Value.__hash__

    def __copy__(self: S) -> S:
        return self.meanings.copied(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return self.meanings.remade(self)

    def __repr__(self) -> str:
        return self.meanings.written(self)

    def made(self) -> tuple[Any, ...]:
        """What makes it again, as `__reduce__` says it."""
        return super().__reduce__()

    @abstractmethod
    def shown(self) -> str:
        """All of it in one line."""

    @property
    def abstract(self) -> bool:
        """Whether it is over a mesh without devices."""
        return False

    @abstractmethod
    def tiling(self, ndim: int) -> Tiling:
        """How it cuts arrays of a rank."""

    @abstractmethod
    def in_kind(self, kind: str) -> Sharding:
        """The same in another kind of memory."""

    @property
    @abstractmethod
    def is_whole(self) -> bool:
        """Whether each device holds the whole of every array."""

    def with_memory_kind(self: S, kind: str) -> S:
        """The same in another kind of memory."""
        return self.meanings.in_memory(self, kind)

    def check(self, shape: Shape) -> None:
        """ValueError where it cannot cut that shape."""
        self.check_rank(shape)
        self.tiles(shape)

    def check_rank(self, shape: Shape) -> None:  # most are for any
        """ValueError where it is for arrays of more dimensions."""

    def tiles(self, shape: Shape) -> Tiles:
        """How it cuts that shape; ValueError where it cannot."""
        return _tiles(self, tuple(shape))

    def shard_shape(self, shape: Shape) -> Shape:
        """The shape of what each device holds of that shape."""
        return self.meanings.shard_shape(self, shape)

    def indices(self, shape: Shape) -> tuple[Index, ...]:
        """What each of its places holds of that shape."""
        return _indices(self, tuple(shape))

    def devices_indices_map(self, shape: Shape) -> dict[Device, Index]:
        """What each device holds of that shape, the devices in the sharding's own order."""
        return self.meanings.indices(self, shape)

    def addressable_devices_indices_map(self, shape: Shape) -> dict[Device, Index]:
        """The same for the devices of this process."""
        return self.meanings.indices_here(self, shape)

    def is_equivalent_to(self, other: Sharding, ndim: int) -> bool:
        """Whether arrays of that rank lie the same way in both."""
        return equivalent(self, other, ndim)

    @property
    def device_set(self) -> set[Device]:
        """Its devices in no order."""
        return set(self.ordered)

    @property
    def num_devices(self) -> int:
        """How many devices it has."""
        return self.meanings.count(self)

    @property
    def addressable_devices(self) -> set[Device]:
        """Those of its devices that belong to this process."""
        return set(filter(self.meanings.here, self.ordered))

    @cached_property
    def is_fully_addressable(self) -> bool:
        """Whether all its devices belong to this process."""
        return all(map(self.meanings.here, self.ordered))

    @property
    def is_fully_replicated(self) -> bool:
        """Whether each device holds the whole of every array."""
        return self.meanings.replicated(self)

    def _memory(self) -> str:
        """The kind of memory as messages show it."""
        return self.meanings.shown_memory(self)


class SingleDeviceSharding(Sharding):
    """Arrays lie on one device, whole."""

    def __init__(self, device: Device, memory_kind: str | None = None) -> None:
        if not isinstance(device, Device):
            raise TypeError(f"a SingleDeviceSharding takes a device: got {shown(device)}")
        kind = kind_of(device, memory_kind)
        super().__init__(device, device, kind, ordered=(device,), memory_kind=kind)

    is_whole = True

    def tiling(self, ndim: int) -> Tiling:
        return whole(1, ndim)

    def in_kind(self, kind: str) -> SingleDeviceSharding:
        return SingleDeviceSharding(self.ordered[0], memory_kind=kind)

    def _call(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return self.ordered, {"memory_kind": self.memory_kind}

    def shown(self) -> str:
        return f"SingleDeviceSharding(device={self.ordered[0]!r}{self._memory()})"


class NamedSharding(Sharding):
    """Dimensions are cut over the named axes of a mesh.

    `logical_device_ids` puts other devices at the mesh's positions, without changing their order: the i-th position is
    held by the mesh's device number `logical_device_ids[i]`.
    """

    mesh: Mesh | AbstractMesh
    spec: PartitionSpec
    logical_device_ids: tuple[int, ...] | None

    def __init__(
        self,
        mesh: Mesh | AbstractMesh,
        spec: PartitionSpec,
        *,
        memory_kind: str | None = None,
        logical_device_ids: tuple[int, ...] | None = None,
    ) -> None:
        first = mesh.ordered[0] if isinstance(mesh, Mesh) and mesh.ordered else None
        asked = mesh.by if isinstance(mesh, AbstractMesh) and isinstance(mesh.by, Meanings) else None
        _check_named(mesh, spec, logical_device_ids, meanings.of(first))
        kind = kind_of(first, memory_kind)
        super().__init__(
            first,
            mesh,
            spec,
            kind,
            logical_device_ids,
            mesh=mesh,
            spec=spec,
            memory_kind=kind,
            logical_device_ids=logical_device_ids,
        )
        if asked is not None:
            self.__dict__["meanings"] = asked

    @property
    def abstract(self) -> bool:
        return isinstance(self.mesh, AbstractMesh)

    @property
    def ordered(self) -> tuple[Device, ...]:  # type: ignore[override]
        """The devices in the order of the mesh; an abstract mesh has none."""
        if isinstance(self.mesh, AbstractMesh):
            none: tuple[Device, ...] = self.mesh.by.devices_of_none(self)
            return none
        return self.mesh.ordered

    @property
    def num_devices(self) -> int:
        """How many devices it has, or would have."""
        return self.mesh.size if self.abstract else super().num_devices

    @property
    def is_whole(self) -> bool:
        """Whether no axis with more than one device cuts anything."""
        return all(self.mesh.shape[axis] == 1 for axis in self.spec.named)

    def check_rank(self, shape: Shape) -> None:
        if len(self.spec) > len(shape):
            raise ValueError(
                f"{self} is for arrays of at least {len(self.spec)} dimensions, and was given one of {len(shape)}:"
                f" shape {tuple(shape)}"
            )

    def tiling(self, ndim: int) -> Tiling:
        return _named(self, ndim)

    def in_kind(self, kind: str) -> NamedSharding:
        return NamedSharding(self.mesh, self.spec, memory_kind=kind, logical_device_ids=self.logical_device_ids)

    def with_spec(self, spec: PartitionSpec) -> NamedSharding:
        """The same mesh cut otherwise."""
        ids = self.logical_device_ids
        return NamedSharding(self.mesh, spec, memory_kind=self.memory_kind, logical_device_ids=ids)

    def _call(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return (self.mesh, self.spec), {"memory_kind": self.memory_kind, "logical_device_ids": self.logical_device_ids}

    def shown(self) -> str:
        ids = "" if self.logical_device_ids is None else f", logical_device_ids={self.logical_device_ids}"
        return f"NamedSharding(mesh={self.mesh}, spec={self.spec}{self._memory()}{ids})"


def equivalent(one: Sharding, other: Sharding, ndim: int) -> bool:
    """Whether arrays of that rank lie the same way: same devices, same order, same tiles, same kind of memory.

    Shardings over abstract meshes have no devices to compare, and are not the same as one that has.
    """
    if not isinstance(other, Sharding):
        raise TypeError(f"a sharding is equivalent to shardings only: got {shown(other)}")
    return meanings.shared(one, other).equivalent(one, other, ndim)


def abstract(sharding: Sharding) -> TypeGuard[NamedSharding]:
    """Whether it is over a mesh without devices."""
    return sharding.abstract


def laid_over(mesh: Mesh, sharding: NamedSharding) -> NamedSharding:
    """The same over another mesh with these axes."""
    ids = sharding.logical_device_ids
    return NamedSharding(mesh, sharding.spec, memory_kind=sharding.memory_kind, logical_device_ids=ids)


@overload
def kind_of(device: Device, kind: str | None) -> str: ...
@overload
def kind_of(device: None, kind: str | None) -> str | None: ...
def kind_of(device: Device | None, kind: str | None) -> str | None:
    """A kind of memory of a device, its default where none is given; of no device, any that there is."""
    if device is not None:
        return meanings.of(device).memory_of(device, kind)
    if kind not in (None, *KINDS):
        raise ValueError(f"there is no memory {kind!r}; there are {', '.join(KINDS)}")
    return kind


@lru_cache(1024)
def renumbered(old: NamedSharding, new: NamedSharding) -> NamedSharding:
    """How `old` cuts arrays, over the devices of `new` in their order: the logical device ids say who holds what.

    No device holds another part than before; the two have the same devices.
    """
    places = {device: place for place, device in enumerate(new.ordered)}
    grid = np.array(new.ordered, dtype=object).reshape(old.mesh.axis_sizes)
    mesh = Mesh(grid, old.mesh.axis_names, old.mesh.axis_types)
    logical = tuple(places[device] for device in old.ordered)
    return NamedSharding(mesh, old.spec, memory_kind=old.memory_kind, logical_device_ids=logical)


@lru_cache(1024)
def whole(devices: int, ndim: int) -> Tiling:
    """No dimension is cut: every device holds everything."""
    return Tiling((1,) * ndim, np.zeros((devices, ndim), np.int32))


@lru_cache(512)
def _named(sharding: NamedSharding, ndim: int) -> Tiling:
    """The tile of each device: along a dimension, the coordinates of the axes that cut it, as digits of a number."""
    mesh, spec = sharding.mesh, sharding.spec
    counts, coordinates = [1] * ndim, np.zeros((mesh.size, ndim), np.int32)
    positions = _positions(mesh.axis_sizes, sharding.logical_device_ids)
    for dimension in range(len(spec)):
        for axis in spec.axes(dimension):
            if dimension >= ndim:
                raise sharding.meanings.lacking(sharding, dimension, ndim)
            size = mesh.shape[axis]
            counts[dimension] *= size
            coordinates[:, dimension] *= size
            coordinates[:, dimension] += positions[mesh.axis_names.index(axis)]
    return Tiling(tuple(counts), coordinates)


@lru_cache(128)
def _positions(sizes: Shape, logical: tuple[int, ...] | None) -> tuple[np.ndarray[Any, Any], ...]:
    """For each axis of a mesh, where each device stands along it."""
    if not sizes:
        return ()
    if logical is None:
        return tuple(np.indices(sizes, np.int32).reshape(len(sizes), -1))
    return np.unravel_index(np.argsort(logical), sizes)


@lru_cache(512)
def _tiles(sharding: Sharding, shape: Shape) -> Tiles:
    if not all(isinstance(size, int | np.integer) for size in shape):
        raise TypeError(f"a shape is a tuple of ints: got {shape}")
    try:
        tiling = sharding.tiling(len(shape))
    except ValueError as error:
        raise ValueError(f"{error}: shape {shape}") from None
    divides = sharding.meanings.divides
    wrong = [dimension for dimension, count in enumerate(tiling.counts) if not divides(count, shape[dimension])]
    if not wrong:
        return Tiles(tiling, tuple(size // count for size, count in zip(shape, tiling.counts, strict=True)))
    cut = [
        f"dimension {dimension} of size {shape[dimension]} into {tiling.counts[dimension]}{_by(sharding, dimension)}"
        for dimension in wrong
    ]
    raise sharding.meanings.uneven(sharding, shape, cut)


@lru_cache(128)
def _indices(sharding: Sharding, shape: Shape) -> tuple[Index, ...]:
    tiles = sharding.tiles(shape)
    return tuple(map(tiles.index, range(len(tiles.coordinates))))


def _by(sharding: Sharding, dimension: int) -> str:
    """The axes that cut a dimension, where a sharding has axes."""
    if not isinstance(sharding, NamedSharding):
        return ""
    axes = sharding.spec.axes(dimension)
    return f" by {', '.join(f'{axis!r} of size {sharding.mesh.shape[axis]}' for axis in axes)}"


def _check_named(mesh: object, spec: object, logical: tuple[int, ...] | None, asked: Meanings) -> None:
    """That a spec and an order of devices are for a mesh."""
    if not isinstance(mesh, Axes):
        raise asked.no_mesh(mesh)
    if not isinstance(spec, PartitionSpec):
        raise asked.no_spec(spec)
    asked.check_named(mesh, spec)
    if logical is not None and sorted(logical) != list(range(mesh.size)):
        raise ValueError(f"logical_device_ids order the {mesh.size} devices of a mesh: got {logical} for {mesh}")
