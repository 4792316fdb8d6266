"""Meshes: devices in a grid whose axes have names."""

from __future__ import annotations

import enum
import math
from collections import OrderedDict
from collections.abc import Hashable, Iterable, Sequence
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
    by: Meshes
    """Whose steps it asks."""

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

    @property
    def spelled(self) -> str:
        """Axes as messages show them."""
        return ", ".join(f"{name!r}: {size}" for name, size in self.shape_tuple)


class Mesh(Axes):
    """Devices in a grid; the order of the devices is part of it."""

    devices: np.ndarray[Any, Any]
    ordered: tuple[Device, ...]
    by: Meshes

    def __init__(self, devices: Any, axis_names: Any, axis_types: Any = None, *, by: Meshes | None = None) -> None:
        """`by` has the steps that decide what is a mesh: the sound ones, unless a model has its own."""
        by = by or Meshes()
        grid = np.array(devices, dtype=object)
        grid.flags.writeable = False
        names = by.names(axis_names)
        by.check_grid(grid, names)
        ordered = () if not names and grid.flat[0] is None else tuple(grid.flat)
        by.check_devices(ordered)
        types = by.types(names, axis_types, AxisType.Auto)
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
            by=by,
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
        return self.by.abstracted(self, kind)

    def __enter__(self) -> Mesh:
        self.by.enter(self)
        return self

    def __exit__(self, kind: object = None, *error: object) -> None:
        self.by.leave(self, kind is not None)

    def _call(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return (self.devices, self.axis_names, self.axis_types), {}

    def __str__(self) -> str:
        return "Mesh()" if self.empty else f"Mesh({self.spelled}, axis_types={self.axis_types})"

    def __repr__(self) -> str:
        if self.empty:
            return "Mesh(axis_sizes=(), axis_names=())"
        return f"Mesh(axis_sizes={self.axis_sizes}, axis_names={self.axis_names}, axis_types={self.axis_types})"


class AbstractMesh(Axes):
    """The axes of a mesh without devices: what a program can be traced for once and run on many of.

    Two with the same axes are equal, whatever kind of device they are of.
    """

    abstract_device: AbstractDevice | None

    def __init__(
        self,
        axis_sizes: Sequence[int],
        axis_names: Any,
        axis_types: Any = None,
        *,
        abstract_device: AbstractDevice | None = None,
        by: Meshes | None = None,
    ) -> None:
        """`by` has the steps that decide what it is and says: the sound ones, unless a model has its own."""
        by = by or Meshes()
        if not isinstance(axis_sizes, Iterable):
            raise TypeError(f"the sizes of axes are a tuple: got {shown(axis_sizes)}")
        sizes, names = tuple(axis_sizes), by.names(axis_names)
        if len(sizes) != len(names):
            raise ValueError(f"a mesh needs one size for each axis name: sizes {sizes} for names {names}")
        types = by.types(names, axis_types, by.abstract_type())
        super().__init__(
            sizes,
            names,
            types,
            axis_sizes=sizes,
            axis_names=names,
            axis_types=types,
            abstract_device=abstract_device,
            by=by,
        )
        self.__dict__["_hash"] = by.hash_of_axes(self)

    def __eq__(self, other: object) -> bool:
        return self.by.same_abstract(self, other) if isinstance(other, AbstractMesh) else NotImplemented

    __hash__ = Value.__hash__

    @property
    def abstract_mesh(self) -> AbstractMesh:
        """Itself."""
        return self

    @property
    def devices(self) -> Any:
        """It has none."""
        return self.by.devices_of_none(self)

    device_ids = local_devices = devices

    def __enter__(self) -> NoReturn:
        raise self.by.no_devices(self)

    def __exit__(self, *error: object) -> None: ...

    def _call(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return self.by.made_again(self), {"abstract_device": self.abstract_device}

    def __repr__(self) -> str:
        return self.by.show_abstract(self)


@dataclass(frozen=True)
class AUTO:
    """A sharding over a mesh that is left to the compiler."""

    mesh: Mesh


class Meshes:
    """The steps that make meshes, and refuse what is none. A model says which devices there are, as of which date."""

    contract = Contract()

    def mesh(self, devices: Any, axis_names: Any, axis_types: Any = None) -> Mesh:
        """`Mesh`: devices in the grid in which they are given. MSH-10."""
        return Mesh(devices, axis_names, axis_types, by=self)

    def enter(self, mesh: Mesh) -> None:
        """`with mesh:` begins: the mesh is in context from now on, in this thread alone.

        MSH-41, MSH-47, MSH-48, MSH-49, MSH-53.
        """
        from . import contexts

        contexts.entered(mesh)

    def leave(self, mesh: Mesh, failed: bool = False) -> None:
        """`with mesh:` ends, by an exception or not: what was in context before it is so again.

        MSH-42, MSH-43, MSH-44, MSH-45.
        """
        from . import contexts

        contexts.left(mesh)

    def make_mesh(
        self,
        axis_sizes: Any,
        axis_names: Any,
        axis_types: Any = None,
        *,
        devices: Sequence[Device] | np.ndarray[Any, Any] | None = None,
    ) -> Mesh:
        """A mesh of axes of those sizes, over devices that are chosen and put in order here. MSH-01, MSH-27."""
        sizes = self.sizes(axis_sizes, axis_names)
        chosen = self.chosen(math.prod(sizes), sizes, self.all_devices() if devices is None else devices)
        return self.mesh(self.laid_out(sizes, chosen), axis_names, self.types_made(sizes, axis_types))

    # --- without devices ----------------------------------------------------------------------------------------------

    def abstract_mesh(self, axis_sizes: Sequence[int], axis_names: Any, axis_types: Any = None) -> AbstractMesh:
        """`AbstractMesh`: axes alone. ABS-64."""
        return AbstractMesh(axis_sizes, axis_names, axis_types, by=self)

    def abstract_type(self) -> AxisType:
        """The type of the axes of an abstract mesh that is given none. ABS-66, ABS-67."""
        return AxisType.Explicit if self.contract.promises("abstract_mesh.explicit") else AxisType.Auto

    def abstracted(self, mesh: Mesh, kind: AbstractDevice) -> AbstractMesh:
        """The axes of a mesh, with their types. ABS-59, ABS-60, ABS-65."""
        return AbstractMesh(mesh.axis_sizes, mesh.axis_names, mesh.axis_types, abstract_device=kind, by=self)

    def same_abstract(self, one: AbstractMesh, other: AbstractMesh) -> bool:
        """Whether two have axes of the same names, sizes and types, in the same order. ABS-59, ABS-63."""
        return one._parts == other._parts

    def hash_of_axes(self, mesh: AbstractMesh) -> int:
        """The same for two that are equal. ABS-60, ABS-62."""
        return hash(("AbstractMesh", mesh._parts))

    def made_again(self, mesh: AbstractMesh) -> tuple[Any, ...]:
        """What a copy of it is made of, also in another process. ABS-69."""
        return mesh.axis_sizes, mesh.axis_names, mesh.axis_types

    def show_abstract(self, mesh: AbstractMesh) -> str:
        """It as text: its axes, and that it is abstract. ABS-70, ABS-71."""
        device = "" if mesh.abstract_device is None else f", {mesh.abstract_device}"
        return f"AbstractMesh({mesh.spelled or '()'}, axis_types={mesh.axis_types}{device})"

    def devices_of_none(self, of: Any) -> Any:
        """The devices of an abstract mesh, or of a sharding over one: none, which is an error. ABS-56."""
        raise self.no_devices(of)

    def no_devices(self, of: Any) -> Exception:
        """The error about something that takes devices. ABS-57."""
        return ValueError(f"an AbstractMesh has no devices: {of}")

    def create_device_mesh(self, mesh_shape: Any, devices: Sequence[Device] | None = None) -> np.ndarray[Any, Any]:
        """The general helper: as many devices as a grid of that shape takes, in the order that suits it. MSH-05."""
        sizes = self.sizes(mesh_shape)
        given = list(self.all_devices() if devices is None else devices)
        if len(given) != math.prod(sizes):
            raise ValueError(f"a grid of sizes {sizes} takes {math.prod(sizes)} devices: got {len(given)}")
        return self.laid_out(sizes, given)

    def all_devices(self) -> Sequence[Device]:
        """Where no devices are given, all of the default platform. MSH-04."""
        raise NotImplementedError

    def sizes(self, given: Any, names: Any = ()) -> tuple[int, ...]:
        """The sizes of axes: whole numbers from 1 on. MSH-11, MSH-14, MSH-15, MSH-16, MSH-17, MSH-30, MSH-32."""
        if not isinstance(given, Iterable):
            raise TypeError(f"the sizes of a mesh are a sequence of whole numbers: got {shown(given)}")
        sizes = tuple(given)
        if wrong := [size for size in sizes if not self.is_whole(size)]:
            raise ValueError(
                f"the sizes of a mesh are whole numbers: got {shown(wrong[0])} among {sizes} for axes {names}"
            )
        found = tuple(int(size) for size in sizes)
        if wrong := [size for size in found if not self.is_size(size)]:
            raise ValueError(f"the sizes of a mesh are 1 and more: got {wrong[0]} among {found} for axes {names}")
        return found

    def is_whole(self, size: Any) -> bool:
        """Whether something is a whole number and nothing else. MSH-11, MSH-16, MSH-17."""
        return isinstance(size, int | np.integer) and not isinstance(size, bool)

    def is_size(self, size: int) -> bool:
        """Whether a whole number can be the size of an axis. MSH-14, MSH-15."""
        return size >= 1

    def chosen(self, count: int, sizes: tuple[int, ...], devices: Any) -> list[Device]:
        """The first of the devices, as many as a mesh takes.

        MSH-02, MSH-03, MSH-12, MSH-13, MSH-24, MSH-25, MSH-26, MSH-28.
        """
        if not isinstance(devices, Iterable) or isinstance(devices, str):
            raise TypeError(f"the devices of a mesh are a sequence: got {shown(devices)}")
        given = list(devices.flat if isinstance(devices, np.ndarray) else devices)
        if wrong := [it for it in given if not self.is_device(it)]:
            raise TypeError(f"a mesh is made of devices: got {shown(wrong[0])} among them")
        if not self.suffice(count, len(given)):
            raise ValueError(
                f"a mesh of sizes {sizes} takes {count} devices, and there are {len(given)}: "
                f"device ids {[it.id for it in given]}"
            )
        return given[:count]

    def is_device(self, given: Any) -> bool:
        """Whether something is a device. MSH-24."""
        return isinstance(given, Device)

    def suffice(self, count: int, there: int) -> bool:
        """Whether there are enough devices for a mesh. MSH-12, MSH-28."""
        return count <= there

    def laid_out(self, sizes: tuple[int, ...], devices: Sequence[Device]) -> np.ndarray[Any, Any]:
        """Devices in a grid: in their own order, the last axis varying fastest. MSH-05, MSH-06."""
        chosen = np.empty(len(devices), dtype=object)
        chosen[:] = devices
        return chosen.reshape(sizes)

    def types_made(self, sizes: tuple[int, ...], given: Any) -> Any:
        """The types of the axes of a mesh that is made: as given, else those of the contract's date. MSH-07, MSH-08."""
        if given is None and self.contract.promises("make_mesh.explicit"):
            return (AxisType.Explicit,) * len(sizes)
        return given

    # --- what is a mesh -----------------------------------------------------------------------------------------------

    def names(self, given: Any) -> tuple[Any, ...]:
        """The names of axes; a string is one name. MSH-18, MSH-22, MSH-29, MSH-32."""
        if not isinstance(given, Iterable):
            raise TypeError(f"the names of axes are a tuple: got {shown(given)}")
        names = (given,) if isinstance(given, str) else tuple(given)
        if wrong := [name for name in names if not self.is_name(name)]:
            raise ValueError(f"the name of an axis is a string: got {shown(wrong[0])} among {names}")
        if repeated := self.there_twice(names):
            raise ValueError(f"the axis names of a mesh are distinct: {repeated} are repeated in {list(names)}")
        return names

    def is_name(self, given: Any) -> bool:
        """Whether something can be the name of an axis: what a spec can name one by. MSH-22, MSH-29."""
        return isinstance(given, Hashable) and not isinstance(given, tuple | None)

    def there_twice(self, given: Sequence[Any]) -> list[Any]:
        """What is there more than once. MSH-18, MSH-23."""
        return [it for it in dict.fromkeys(given) if given.count(it) > 1]

    def check_grid(self, grid: np.ndarray[Any, Any], names: tuple[Any, ...]) -> None:
        """Refuses a grid of devices that has not one dimension for each name. MSH-19, MSH-31."""
        if grid.ndim != len(names):
            raise ValueError(
                f"a mesh needs one axis name for each dimension of its devices: {len(names)} names {names}"
                f" for devices of shape {grid.shape}"
            )

    def check_devices(self, ordered: tuple[Any, ...]) -> None:
        """Refuses what is no device, and a device that is there twice. MSH-23, MSH-24."""
        if wrong := [it for it in ordered if not self.is_device(it)]:
            raise TypeError(f"a mesh is made of devices: got {shown(wrong[0])} among them")
        if repeated := self.there_twice(ordered) if len(set(ordered)) < len(ordered) else ():
            ids, all_ids = ([it.id for it in devices] for devices in (repeated, ordered))
            raise ValueError(f"the devices of a mesh are distinct: {ids} are repeated in device ids {all_ids}")

    def types(self, names: tuple[Any, ...], given: Any, default: AxisType) -> tuple[AxisType, ...]:
        """The type of each axis; one that is no tuple is that of a single axis.

        MSH-09, MSH-10, MSH-20, MSH-21, MSH-32.
        """
        types = (default,) * len(names) if given is None else given if isinstance(given, tuple) else (given,)
        if wrong := [it for it in types if not self.is_type(it)]:
            raise TypeError(f"the types of axes are of AxisType: got {wrong[0]!r} among axis_types={types}")
        if len(types) != len(names):
            raise ValueError(f"a mesh needs one type for each axis: axis_types={types} for axis names {names}")
        return types

    def is_type(self, given: Any) -> bool:
        """Whether something is the type of an axis. MSH-21."""
        return isinstance(given, AxisType)
