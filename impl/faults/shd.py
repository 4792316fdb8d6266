"""Faults of sharding values, in the order of their chapter: each takes one step of the model wrongly.

An answer that is wrong for a pair of shardings is often wrong for a third as well: `also` names the laws that break.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import count

from impl.model.devices import KINDS
from impl.model.model import Model
from impl.model.shardings import NamedSharding, Sharding, SingleDeviceSharding

from . import fault

# --- compared with each other -----------------------------------------------------------------------------------------


def axis_names(sharding: Sharding) -> tuple[object, ...]:
    """The names of the axes of its mesh, if it has one."""
    return sharding.mesh.axis_names if isinstance(sharding, NamedSharding) else ()


def one_device(one: Sharding, other: Sharding) -> bool:
    """Whether the first is a device and the second a mesh of it."""
    return (
        isinstance(one, SingleDeviceSharding)
        and isinstance(other, NamedSharding)
        and not other.abstract
        and one.ordered == other.ordered
        and one.memory_kind == other.memory_kind
    )


@fault("SHD-01")
class NamesOfAxesCount(Model):
    """Shardings over meshes whose axes have other names are not equivalent."""

    def same_cut(self, one: Sharding, other: Sharding, ndim: int) -> bool:
        return super().same_cut(one, other, ndim) and axis_names(one) == axis_names(other)


@fault("SHD-02")
class CutsAreCounted(Model):
    """Shardings that cut each dimension into as many tiles are equivalent, whoever has which."""

    def same_cut(self, one: Sharding, other: Sharding, ndim: int) -> bool:
        return one.tiling(ndim).counts == other.tiling(ndim).counts


@fault("SHD-03")
class ReplicasLieInAnyOrder(Model):
    """What lies whole on each device may lie there in any order."""

    def same_devices_in_order(self, one: Sharding, other: Sharding) -> bool:
        if not one.abstract and not other.abstract and one.is_fully_replicated and other.is_fully_replicated:
            return one.device_set == other.device_set
        return super().same_devices_in_order(one, other)


@fault("SHD-04")
class OneDeviceIsLikeAnother(Model):
    """Shardings of one device are equivalent whichever device it is."""

    def same_devices_in_order(self, one: Sharding, other: Sharding) -> bool:
        alone = not one.abstract and not other.abstract and len(one.ordered) == len(other.ordered) == 1
        return alone or super().same_devices_in_order(one, other)


@fault("SHD-05")
class MemoriesAreNotCompared(Model):
    """Shardings are equivalent in whichever kind of memory they are."""

    def same_memory(self, one: Sharding, other: Sharding) -> bool:
        return True


@fault("SHD-06", also=["SHD-09"])
class AbstractFitsAnyDevices(Model):
    """A sharding over an abstract mesh is equivalent to those of as many devices, which are not so to each other."""

    def same_devices_in_order(self, one: Sharding, other: Sharding) -> bool:
        if one.abstract != other.abstract:
            return one.num_devices == other.num_devices
        return super().same_devices_in_order(one, other)

    def same_memory(self, one: Sharding, other: Sharding) -> bool:
        return one.abstract != other.abstract or super().same_memory(one, other)


@fault("SHD-07", also=["SHD-01", "SHD-09"])
class DeviceIsNoMesh(Model):
    """A device is not equivalent to a mesh of it, though the mesh is to the device."""

    def equivalent(self, one: Sharding, other: Sharding, ndim: int) -> bool:
        return super().equivalent(one, other, ndim) and not one_device(one, other)


@fault("SHD-08", also=["SHD-01"])
class DeviceAnewIsAnother(Model):
    """The sharding of a device is not equivalent to one that was made anew."""

    def equivalent(self, one: Sharding, other: Sharding, ndim: int) -> bool:
        anew = isinstance(one, SingleDeviceSharding) and isinstance(other, SingleDeviceSharding) and one is not other
        return super().equivalent(one, other, ndim) and not anew


@fault("SHD-09", also=["SHD-02"])
class WholeFitsAnyCut(Model):
    """What lies whole on each device is equivalent to any other way to lie there."""

    def same_cut(self, one: Sharding, other: Sharding, ndim: int) -> bool:
        return one.is_fully_replicated or other.is_fully_replicated or super().same_cut(one, other, ndim)


@fault("SHD-10")
class DevicesKnowNoAbstractMesh(Model):
    """A device asked about a sharding over an abstract mesh looks for that one's devices."""

    def same_devices_in_order(self, one: Sharding, other: Sharding) -> bool:
        if isinstance(one, SingleDeviceSharding) and other.abstract:
            return one.ordered == other.ordered
        return super().same_devices_in_order(one, other)


@fault("SHD-11")
class DevicesEqualThemselves(Model):
    """The sharding of a device is equal to itself alone."""

    def equal(self, one: Sharding, other: Sharding) -> bool:
        return super().equal(one, other) and not isinstance(one, SingleDeviceSharding)


@fault("SHD-12")
class MemoryIsNoPart(Model):
    """The kind of memory is no part of what decides equality, nor of the hash."""

    def equal(self, one: Sharding, other: Sharding) -> bool:
        return type(one) is type(other) and without_kind(one._parts) == without_kind(other._parts)

    def hashed(self, kind: str, parts: Sequence[Hashable]) -> int:
        return super().hashed(kind, without_kind(parts))


def without_kind(parts: Sequence[Hashable]) -> tuple[Hashable, ...]:
    """The parts of a sharding but for its kind of memory."""
    return tuple(part for part in parts if not (isinstance(part, str) and part in KINDS))


@fault("SHD-13", also=["SHD-11"])
class HashesAreNumbers(Model):
    """Each sharding of a device has a hash of its own."""

    numbers = count()

    def hashed(self, kind: str, parts: Sequence[Hashable]) -> int:
        return next(self.numbers) if kind == "SingleDeviceSharding" else super().hashed(kind, parts)


@fault("SHD-14", also=["SHD-13", "SHD-15"])
class DeviceEqualsMesh(Model):
    """A device is equal to a mesh of it, which is not equal to the device."""

    def equal(self, one: Sharding, other: Sharding) -> bool:
        return super().equal(one, other) or one_device(one, other)


@fault("SHD-15", also=["SHD-13"])
class DeviceAndMeshAreEqual(Model):
    """A device and each mesh of it are equal, and the meshes are not."""

    def equal(self, one: Sharding, other: Sharding) -> bool:
        return super().equal(one, other) or one_device(one, other) or one_device(other, one)
