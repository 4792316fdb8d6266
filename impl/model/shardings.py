"""Shardings: which device holds which part of an array, and in which kind of memory."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property, lru_cache
from typing import Any, overload

import numpy as np

from .devices import KINDS, Device
from .meshes import AbstractMesh, Axes, AxisType, Mesh
from .specs import UNCONSTRAINED, PartitionSpec
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

    @abstractmethod
    def tiling(self, ndim: int) -> Tiling:
        """How it cuts arrays of a rank."""

    @abstractmethod
    def with_memory_kind(self, kind: str) -> Sharding:
        """The same in another kind of memory."""

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
        return self.tiles(shape).sizes

    def devices_indices_map(self, shape: Shape) -> dict[Device, Index]:
        """What each device holds of that shape, the devices in the sharding's own order."""
        return dict(zip(self.ordered, _indices(self, tuple(shape)), strict=True))

    def addressable_devices_indices_map(self, shape: Shape) -> dict[Device, Index]:
        """The same for the devices of this process."""
        return {device: at for device, at in self.devices_indices_map(shape).items() if _here(device)}

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
        return len(self.ordered)

    @property
    def addressable_devices(self) -> set[Device]:
        """Those of its devices that belong to this process."""
        return set(filter(_here, self.ordered))

    @cached_property
    def is_fully_addressable(self) -> bool:
        """Whether all its devices belong to this process."""
        return all(map(_here, self.ordered))

    @property
    @abstractmethod
    def is_fully_replicated(self) -> bool:
        """Whether each device holds the whole of every array."""

    def _memory(self) -> str:
        """The kind of memory as messages show it."""
        return "" if self.memory_kind is None else f", memory_kind={self.memory_kind}"


class SingleDeviceSharding(Sharding):
    """Arrays lie on one device, whole."""

    def __init__(self, device: Device, memory_kind: str | None = None) -> None:
        if not isinstance(device, Device):
            raise TypeError(f"a SingleDeviceSharding takes a device: got {shown(device)}")
        kind = kind_of(device, memory_kind)
        super().__init__(device, kind, ordered=(device,), memory_kind=kind)

    is_fully_replicated = True

    def tiling(self, ndim: int) -> Tiling:
        return whole(1, ndim)

    def with_memory_kind(self, kind: str) -> SingleDeviceSharding:
        return SingleDeviceSharding(self.ordered[0], memory_kind=kind)

    def _call(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return self.ordered, {"memory_kind": self.memory_kind}

    def __repr__(self) -> str:
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
        _check_named(mesh, spec, logical_device_ids)
        kind = kind_of(mesh.ordered[0] if isinstance(mesh, Mesh) and mesh.ordered else None, memory_kind)
        super().__init__(
            mesh,
            spec,
            kind,
            logical_device_ids,
            mesh=mesh,
            spec=spec,
            memory_kind=kind,
            logical_device_ids=logical_device_ids,
        )

    @property
    def ordered(self) -> tuple[Device, ...]:  # type: ignore[override]
        """The devices in the order of the mesh; an abstract mesh has none."""
        if isinstance(self.mesh, AbstractMesh):
            raise ValueError(f"a sharding over an AbstractMesh has no devices: {self}")
        return self.mesh.ordered

    @property
    def num_devices(self) -> int:
        """How many devices it has, or would have."""
        return self.mesh.size

    @property
    def is_fully_replicated(self) -> bool:
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

    def with_memory_kind(self, kind: str) -> NamedSharding:
        return NamedSharding(self.mesh, self.spec, memory_kind=kind, logical_device_ids=self.logical_device_ids)

    def with_spec(self, spec: PartitionSpec) -> NamedSharding:
        """The same mesh cut otherwise."""
        ids = self.logical_device_ids
        return NamedSharding(self.mesh, spec, memory_kind=self.memory_kind, logical_device_ids=ids)

    def _call(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return (self.mesh, self.spec), {"memory_kind": self.memory_kind, "logical_device_ids": self.logical_device_ids}

    def __repr__(self) -> str:
        ids = "" if self.logical_device_ids is None else f", logical_device_ids={self.logical_device_ids}"
        return f"NamedSharding(mesh={self.mesh}, spec={self.spec}{self._memory()}{ids})"


def equivalent(one: Sharding, other: Sharding, ndim: int) -> bool:
    """Whether arrays of that rank lie the same way: same devices, same order, same tiles, same kind of memory.

    Shardings over abstract meshes have no devices to compare, and are not the same as one that has.
    """
    if not isinstance(other, Sharding):
        raise TypeError(f"a sharding is equivalent to shardings only: got {shown(other)}")
    if abstract(one) or abstract(other):
        devices = abstract(one) and abstract(other) and one.num_devices == other.num_devices
    else:
        devices = one.ordered == other.ordered
    return devices and one.memory_kind == other.memory_kind and one.tiling(ndim) == other.tiling(ndim)


def abstract(sharding: Sharding) -> bool:
    """Whether it is over a mesh without devices."""
    return isinstance(sharding, NamedSharding) and isinstance(sharding.mesh, AbstractMesh)


@overload
def kind_of(device: Device, kind: str | None) -> str: ...
@overload
def kind_of(device: None, kind: str | None) -> str | None: ...
def kind_of(device: Device | None, kind: str | None) -> str | None:
    """A kind of memory of a device, its default where none is given; of no device, any that there is."""
    if device is not None:
        return device.default_memory().kind if kind is None else device.memory(kind).kind
    if kind not in (None, *KINDS):
        raise ValueError(f"there is no memory {kind!r}; there are {', '.join(KINDS)}")
    return kind


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
                raise ValueError(f"{sharding} cuts dimension {dimension}, and was given an array of {ndim} dimensions")
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
    if all(size % count == 0 for size, count in zip(shape, tiling.counts, strict=True)):
        return Tiles(tiling, tuple(size // count for size, count in zip(shape, tiling.counts, strict=True)))
    wrong = [dimension for dimension, count in enumerate(tiling.counts) if shape[dimension] % count]
    cut = "; ".join(
        f"dimension {dimension} of size {shape[dimension]} into {tiling.counts[dimension]}{_by(sharding, dimension)}"
        for dimension in wrong
    )
    raise ValueError(f"{sharding} cannot cut shape {shape} evenly: {cut}")


@lru_cache(128)
def _indices(sharding: Sharding, shape: Shape) -> tuple[Index, ...]:
    tiles = sharding.tiles(shape)
    return tuple(map(tiles.index, range(sharding.num_devices)))


def _by(sharding: Sharding, dimension: int) -> str:
    """The axes that cut a dimension, where a sharding has axes."""
    if not isinstance(sharding, NamedSharding):
        return ""
    axes = sharding.spec.axes(dimension)
    return f" by {', '.join(f'{axis!r} of size {sharding.mesh.shape[axis]}' for axis in axes)}"


def _check_named(mesh: object, spec: object, logical: tuple[int, ...] | None) -> None:
    """That a spec names axes of a mesh, each once, and leaves to the partitioner only what is the partitioner's."""
    if not isinstance(mesh, Axes):
        raise TypeError(f"a NamedSharding takes a Mesh or an AbstractMesh: got {shown(mesh)}")
    if not isinstance(spec, PartitionSpec):
        raise TypeError(f"a NamedSharding takes a PartitionSpec: got {shown(spec)}")
    named = spec.named
    if unknown := [axis for axis in named if axis not in mesh.axis_names]:
        raise ValueError(f"{spec} names the axis {unknown[0]!r}, and the axes are {mesh.axis_names} in {mesh}")
    if len(set(named)) < len(named):
        repeated = [axis for axis in dict.fromkeys(named) if named.count(axis) > 1]
        raise ValueError(f"{spec} names axes more than once, and an axis cuts one dimension: {repeated} in {mesh}")
    if UNCONSTRAINED in spec.parts and AxisType.Auto not in mesh.axis_types:
        raise ValueError(f"{spec} leaves a dimension to the partitioner, and no axis is Auto in {mesh}")
    if logical is not None and sorted(logical) != list(range(mesh.size)):
        raise ValueError(f"logical_device_ids order the {mesh.size} devices of a mesh: got {logical} for {mesh}")


def _here(device: Device) -> bool:
    """Whether a device belongs to this process: the first, which is the one that is shown."""
    return device.process_index == 0
