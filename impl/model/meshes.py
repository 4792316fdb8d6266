"""Meshes: devices in a grid whose axes have names."""

from __future__ import annotations

import enum
import math
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NoReturn

import numpy as np

from .dates import Contract
from .devices import Device
from .values import Value
from .words import shown


class AxisType(enum.Enum):
    """Who decides how arrays lie along an axis: the partitioner, the types of arrays, or the program itself."""

    Auto = enum.auto()
    Explicit = enum.auto()
    Manual = enum.auto()

    def __repr__(self) -> str:
        return self.name


@dataclass(frozen=True)
class AbstractDevice:
    """What an abstract mesh keeps of its devices: their kind."""

    device_kind: str
    num_cores: int | None
    platform: str

    def __str__(self) -> str:
        return f"device_kind={self.device_kind}, num_cores={self.num_cores}, platform={self.platform}"


class Axes(Value):
    """What meshes with and without devices share: axes with a name, a size and a type each."""

    axis_names: tuple[Any, ...]
    axis_sizes: tuple[int, ...]
    axis_types: tuple[AxisType, ...]

    @cached_property
    def shape(self) -> OrderedDict[Any, int]:
        """The size of each axis by its name."""
        return OrderedDict(self.shape_tuple)

    @cached_property
    def shape_tuple(self) -> tuple[tuple[Any, int], ...]:
        """Names and sizes in pairs."""
        return tuple(zip(self.axis_names, self.axis_sizes, strict=True))

    @property
    def empty(self) -> bool:
        """Whether it is the mesh that stands for none."""
        return self.size == 0

    @property
    def size(self) -> int:
        """How many devices it has room for."""
        return math.prod(self.axis_sizes) if self.axis_sizes else 0

    def _spelled(self) -> str:
        """Axes as messages show them."""
        return ", ".join(f"{name!r}: {size}" for name, size in self.shape_tuple)


class Mesh(Axes):
    """Devices in a grid; the order of the devices is part of it."""

    devices: np.ndarray[Any, Any]
    ordered: tuple[Device, ...]

    def __init__(self, devices: Any, axis_names: Any, axis_types: Any = None) -> None:
        grid = np.array(devices, dtype=object)
        grid.flags.writeable = False
        names = _names(axis_names)
        if grid.ndim != len(names):
            raise ValueError(
                f"a mesh needs one axis name for each dimension of its devices: {len(names)} names {names}"
                f" for devices of shape {grid.shape}"
            )
        ordered = () if not names and grid.flat[0] is None else tuple(grid.flat)
        if wrong := [it for it in ordered if not isinstance(it, Device)]:
            raise TypeError(f"a mesh is made of devices: got {shown(wrong[0])} among them")
        _distinct("devices", [it.id for it in ordered] if len(set(ordered)) < len(ordered) else ())
        types = _types(names, axis_types, AxisType.Auto)
        super().__init__(
            ordered,
            grid.shape,
            names,
            types,
            devices=grid,
            ordered=ordered,
            axis_names=names,
            axis_sizes=grid.shape,
            axis_types=types,
        )

    @property
    def size(self) -> int:
        """How many devices it has."""
        return len(self.ordered)

    @cached_property
    def device_ids(self) -> np.ndarray[Any, Any]:
        """The ids of the devices, in the same grid."""
        return np.array([it.id for it in self.ordered], dtype=int).reshape(self.axis_sizes)

    @cached_property
    def abstract_mesh(self) -> AbstractMesh:
        """The same axes without the devices; their kind stays."""
        if not self.axis_names:
            return AbstractMesh((), (), ())
        first = self.ordered[0]
        kind = AbstractDevice(first.device_kind, None, first.platform)
        return AbstractMesh(self.axis_sizes, self.axis_names, self.axis_types, abstract_device=kind)

    def __enter__(self) -> Mesh:
        from . import contexts

        contexts.entered(self)
        return self

    def __exit__(self, *error: object) -> None:
        from . import contexts

        contexts.left(self)

    def _call(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return (self.devices, self.axis_names, self.axis_types), {}

    def __str__(self) -> str:
        return "Mesh()" if self.empty else f"Mesh({self._spelled()}, axis_types={self.axis_types})"

    def __repr__(self) -> str:
        if self.empty:
            return "Mesh(axis_sizes=(), axis_names=())"
        return f"Mesh(axis_sizes={self.axis_sizes}, axis_names={self.axis_names}, axis_types={self.axis_types})"


class AbstractMesh(Axes):
    """The axes of a mesh without devices: what a program can be traced for once and run on many of."""

    abstract_device: AbstractDevice | None

    def __init__(
        self,
        axis_sizes: Sequence[int],
        axis_names: Any,
        axis_types: Any = None,
        *,
        abstract_device: AbstractDevice | None = None,
    ) -> None:
        if not isinstance(axis_sizes, Iterable):
            raise TypeError(f"the sizes of axes are a tuple: got {shown(axis_sizes)}")
        sizes, names = tuple(axis_sizes), _names(axis_names)
        if len(sizes) != len(names):
            raise ValueError(f"a mesh needs one size for each axis name: sizes {sizes} for names {names}")
        types = _types(names, axis_types, AxisType.Explicit)
        super().__init__(
            sizes,
            names,
            types,
            abstract_device,
            axis_sizes=sizes,
            axis_names=names,
            axis_types=types,
            abstract_device=abstract_device,
        )

    @property
    def abstract_mesh(self) -> AbstractMesh:
        """Itself."""
        return self

    @property
    def devices(self) -> NoReturn:
        """It has none."""
        raise ValueError(f"an AbstractMesh has no devices: {self}")

    device_ids = local_devices = devices

    def __enter__(self) -> NoReturn:
        raise ValueError(f"an AbstractMesh has no devices to run on: {self}")

    def __exit__(self, *error: object) -> None: ...

    def _call(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return (self.axis_sizes, self.axis_names, self.axis_types), {"abstract_device": self.abstract_device}

    def __repr__(self) -> str:
        device = "" if self.abstract_device is None else f", {self.abstract_device}"
        return f"AbstractMesh({self._spelled() or '()'}, axis_types={self.axis_types}{device})"


def make_mesh(
    axis_sizes: Iterable[int],
    axis_names: Any,
    axis_types: Any = None,
    *,
    devices: Sequence[Device],
    contract: Contract,
) -> Mesh:
    """A mesh over the first of the devices, as many as it has room for, in their order."""
    sizes = tuple(axis_sizes)
    if not all(isinstance(size, int | np.integer) and size >= 1 for size in sizes):
        raise ValueError(f"the sizes of a mesh are whole numbers from 1 on: got {sizes} for axes {axis_names}")
    if not all(isinstance(it, Device) for it in devices):
        raise TypeError(f"a mesh is made of devices: got {shown(devices)}")
    count = math.prod(sizes)
    if count > len(devices):
        ids = [it.id for it in devices]
        raise ValueError(
            f"a mesh of sizes {sizes} takes {count} devices, and there are {len(devices)}: device ids {ids}"
        )
    if axis_types is None and contract.promises("make_mesh.explicit"):
        axis_types = (AxisType.Explicit,) * len(sizes)
    chosen = np.empty(count, dtype=object)
    chosen[:] = devices[:count]
    return Mesh(chosen.reshape(sizes), axis_names, axis_types)


def abstract_mesh(
    axis_sizes: Sequence[int], axis_names: Any, axis_types: Any = None, *, contract: Contract
) -> AbstractMesh:
    """An abstract mesh whose axes, where they are given no types, have those of the contract's date."""
    mesh = AbstractMesh(axis_sizes, axis_names, axis_types)
    if axis_types is not None or contract.promises("abstract_mesh.explicit"):
        return mesh
    return AbstractMesh(axis_sizes, axis_names, (AxisType.Auto,) * len(mesh.axis_sizes))


def _names(given: Any) -> tuple[Any, ...]:
    """The names of axes; a string is one name."""
    if not isinstance(given, Iterable):
        raise TypeError(f"the names of axes are a tuple: got {shown(given)}")
    names = (given,) if isinstance(given, str) else tuple(given)
    if None in names:
        raise ValueError(f"None is no name of an axis: got {names}")
    _distinct("axis names", names)
    return names


def _types(names: tuple[Any, ...], given: Any, default: AxisType) -> tuple[AxisType, ...]:
    """The type of each axis; one that is no tuple is that of a single axis."""
    types = (default,) * len(names) if given is None else given if isinstance(given, tuple) else (given,)
    if wrong := [it for it in types if not isinstance(it, AxisType)]:
        raise TypeError(f"the types of axes are of AxisType: got {wrong[0]!r} among axis_types={types}")
    if len(types) != len(names):
        raise ValueError(f"a mesh needs one type for each axis: axis_types={types} for axis names {names}")
    return types


def _distinct(what: str, given: Sequence[Any]) -> None:
    if repeated := [it for it in dict.fromkeys(given) if given.count(it) > 1]:
        raise ValueError(f"the {what} of a mesh are distinct: {repeated} are repeated in {list(given)}")
