"""Faults of sharding values, in the order of their chapter: each takes one step of the model wrongly.

An answer that is wrong for a pair of shardings is often wrong for a third as well: `also` names the laws that break.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from itertools import count
from typing import Any, cast

import numpy as np

from impl.model.agreement import Call, Side
from impl.model.avals import Aval
from impl.model.control import Values
from impl.model.devices import KINDS, Device
from impl.model.keys import KEY
from impl.model.meanings import S
from impl.model.meshes import Axes, Mesh
from impl.model.model import Model
from impl.model.programs import Equation
from impl.model.shardings import Index, NamedSharding, Shape, Sharding, SingleDeviceSharding
from impl.model.specs import UNCONSTRAINED, PartitionSpec

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


# How the other one cuts is not asked, and so not whether it can.
@fault("SHD-09", also=["SHD-02", "SHD-26", "SHD-27"])
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


# Its copies, and what it becomes in a memory that it is in, are others then.
@fault("SHD-11", also=["SHD-22", "SHD-39"])
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


# A copy has another hash, and what was equal is not, where hashes are looked at first.
@fault("SHD-13", also=["SHD-11", "SHD-39"])
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


# --- asked what they are ----------------------------------------------------------------------------------------------


@fault("SHD-16")
class LastDimensionIsWhole(Model):
    """The shape of a shard has the last of three dimensions whole."""

    def shard_shape(self, sharding: Sharding, shape: Shape) -> Shape:
        sizes = super().shard_shape(sharding, shape)
        return (*sizes[:-1], shape[-1]) if len(shape) == 3 else sizes


@fault("SHD-17", also=["SHD-18", "SHD-22"])
class PartsGoByIds(Model):
    """The parts of an array go to the devices in the order of their ids."""

    def indices(self, sharding: Sharding, shape: Shape) -> dict[Device, Index]:
        found = super().indices(sharding, shape)
        return dict(zip(sorted(found, key=lambda device: device.id), found.values(), strict=True))


@fault("SHD-18")
class LastPartIsElsewhere(Model):
    """The last of a sharding's devices is not in the map of this process."""

    def indices_here(self, sharding: Sharding, shape: Shape) -> dict[Device, Index]:
        found = super().indices_here(sharding, shape)
        return {device: found[device] for device in list(found)[: max(1, len(found) - 1)]}


@fault("SHD-19")
class ReplicasAreOne(Model):
    """Devices that all hold the same count as one."""

    def count(self, sharding: Sharding) -> int:
        return 1 if sharding.is_whole else super().count(sharding)


@fault("SHD-20")
class AxesOfOneCut(Model):
    """What names an axis is not replicated, though the axis has one device."""

    def replicated(self, sharding: Sharding) -> bool:
        named = isinstance(sharding, NamedSharding) and sharding.spec.named
        return super().replicated(sharding) and not named


@fault("SHD-21")
class DefaultIsTheLast(Model):
    """The default memory of device 5 is the last of its kinds."""

    def memory_of(self, device: Device, kind: str | None) -> str:
        return device.memories[-1].kind if kind is None and device.id == 5 else super().memory_of(device, kind)


@fault("SHD-22")
class MovedIsWhole(Model):
    """A NamedSharding that is taken to other memory loses its spec."""

    def in_memory(self, sharding: S, kind: str) -> S:
        moved = super().in_memory(sharding, kind)
        return cast("S", moved.with_spec(PartitionSpec())) if isinstance(moved, NamedSharding) else moved


# --- what cannot be ---------------------------------------------------------------------------------------------------


@fault("SHD-24", also=["SHD-25"])
class OneIsDivisible(Model):
    """A dimension of size 1 can be cut into any number of tiles."""

    def divides(self, count: int, size: int) -> bool:
        return size == 1 or super().divides(count, size)


@fault("SHD-25")
class UnevenShapeIsNotSaid(Model):
    """The refusal of an uneven shape says which dimension it is, and not of which shape."""

    def uneven(self, sharding: Sharding, shape: Shape, cut: Sequence[str]) -> Exception:
        return ValueError(f"{sharding} cannot cut an array evenly: {'; '.join(cut)}")


@fault("SHD-26")
class LackingIsAnIndex(Model):
    """A dimension that an array has not is an index out of range."""

    def lacking(self, sharding: Sharding, dimension: int, ndim: int) -> Exception:
        return IndexError(f"{super().lacking(sharding, dimension, ndim)}: shape {(8,) * ndim}")


@fault("SHD-27")
class RankIsNotSaid(Model):
    """Where equivalence is asked at too low a rank, the refusal does not say which."""

    def lacking(self, sharding: Sharding, dimension: int, ndim: int) -> Exception:
        return ValueError(f"{sharding} cuts dimension {dimension}, which the array has not")


@fault("SHD-28")
class UnknownAxisIsLookedUp(Model):
    """An unknown axis is an error of a look-up."""

    def unknown(self, mesh: Axes, spec: PartitionSpec, axis: object) -> Exception:
        return LookupError(str(super().unknown(mesh, spec, axis)))


@fault("SHD-29")
class KnownAxesAreNotSaid(Model):
    """The refusal of an unknown axis says nothing of those that there are."""

    def unknown(self, mesh: Axes, spec: PartitionSpec, axis: object) -> Exception:
        return ValueError(f"the mesh has no axis {axis!r}")


@fault("SHD-30")
class RepeatedAxisIsOfItsOwnClass(Model):
    """A repeated axis is an error of a class that users do not know."""

    def repeated(self, mesh: Axes, spec: PartitionSpec, axis: object) -> Exception:
        return RepeatedAxis(str(super().repeated(mesh, spec, axis)))


class RepeatedAxis(Exception):  # noqa: N818
    """An error that no user can name."""


@fault("SHD-31")
class RepeatedAxisIsNotSaid(Model):
    """The refusal of a repeated axis does not say which it is."""

    def repeated(self, mesh: Axes, spec: PartitionSpec, axis: object) -> Exception:
        return ValueError("an axis cuts one dimension, and one of them is there more than once")


@fault("SHD-32")
class SpecIsAskedForParts(Model):
    """What is no spec is asked for its parts."""

    def no_spec(self, given: object) -> Exception:
        return AttributeError(f"{type(given).__name__} has no parts")


@fault("SHD-33")
class KindsAreNotSaid(Model):
    """The refusal of a kind of memory does not say which there are."""

    def memory_of(self, device: Device, kind: str | None) -> str:
        try:
            return super().memory_of(device, kind)
        except ValueError:
            raise ValueError(f"there is no memory {kind!r}") from None


# --- written, copied, shown -------------------------------------------------------------------------------------------


class LiteralSpec(PartitionSpec):
    """A spec that is equal to those that were written in the same way."""

    def __init__(self, *parts: object) -> None:
        super().__init__(*parts)
        self.__dict__["_parts"] = parts


@fault("SHD-34", "SHD-35")
class SpecsAreWhatWasWritten(Model):
    """Specs are compared as they were written, groups of one and of none with them."""

    PartitionSpec = LiteralSpec


@fault("SHD-36", also=["SHD-13"])
class NonesAreHashed(Model):
    """Shardings whose specs differ in Nones at the end are equal, and have hashes that differ."""

    def equal(self, one: Sharding, other: Sharding) -> bool:
        return super().equal(one, other) or (
            isinstance(one, NamedSharding)
            and isinstance(other, NamedSharding)
            and (one.mesh, one.memory_kind) == (other.mesh, other.memory_kind)
            and shortened(one.spec) == shortened(other.spec)
        )


def shortened(spec: PartitionSpec) -> tuple[object, ...]:
    """The parts of a spec up to the last that is not None."""
    parts = spec.parts
    while parts and parts[-1] is None:
        parts = parts[:-1]
    return parts


@fault("SHD-38")
class CopyForgetsMemory(Model):
    """The copy of a sharding lies in the default memory."""

    def copied(self, sharding: S) -> S:
        return sharding.with_memory_kind("device")


@fault("SHD-39")
class PickleForgetsMemory(Model):
    """A sharding that was pickled lies in the default memory."""

    def remade(self, sharding: Sharding) -> tuple[object, ...]:
        return sharding.with_memory_kind("device").made()


class ClosingSpec(PartitionSpec):
    """A spec whose copies leave nothing to the partitioner."""

    def __reduce__(self) -> tuple[object, ...]:
        return ClosingSpec, tuple(None if part is UNCONSTRAINED else part for part in self.parts)


@fault("SHD-40")
class CopiedSpecsAreClosed(Model):
    """A spec that is copied leaves nothing to the partitioner."""

    PartitionSpec = ClosingSpec


@fault("SHD-41")
class MeshIsNotShown(Model):
    """A NamedSharding is printed without the axes of its mesh."""

    def written(self, sharding: Sharding) -> str:
        if isinstance(sharding, NamedSharding):
            return f"NamedSharding(spec={sharding.spec}, memory_kind={sharding.memory_kind})"
        return super().written(sharding)


@fault("SHD-42")
class MemoryIsNotShown(Model):
    """A sharding is printed without its kind of memory."""

    def written(self, sharding: Sharding) -> str:
        return super().written(sharding).replace(f", memory_kind={sharding.memory_kind}", "")


@fault("SHD-43")
class DeviceIsNotShown(Model):
    """The sharding of a device is printed with the platform alone."""

    def written(self, sharding: Sharding) -> str:
        if isinstance(sharding, SingleDeviceSharding):
            return f"SingleDeviceSharding({sharding.ordered[0].platform}, memory_kind={sharding.memory_kind})"
        return super().written(sharding)


# --- as programs write them -------------------------------------------------------------------------------------------


def respelled(sharding: Sharding, respell: Callable[[tuple[Any, ...]], tuple[Any, ...]]) -> Sharding:
    """The same with other parts in its spec, if it has one."""
    if not isinstance(sharding, NamedSharding):
        return sharding
    return sharding.with_spec(PartitionSpec(*respell(sharding.spec.parts)))


@fault("SHD-44", also=["SHD-50"])
class GroupsOfArgumentsAreTurned(Model):
    """A module says the axes that cut one dimension of an argument the other way round."""

    def argument_written(self, sharding: Sharding | None) -> Sharding | None:
        turned = lambda parts: tuple(part[::-1] if isinstance(part, tuple) else part for part in parts)  # noqa: E731
        return sharding and respelled(sharding, turned)


@fault("SHD-45")
class LastDimensionOfResultsIsWhole(Model):
    """A module leaves out the third dimension of a result's spec."""

    def result_written(self, sharding: Sharding | None) -> Sharding | None:
        return sharding and respelled(sharding, lambda parts: parts[:2])


@fault("SHD-46", also=["SHD-50"])
class ConstraintsAreWhole(Model):
    """A module asks by a constraint of both axes on one dimension that it be whole."""

    def constraint_written(self, sharding: Sharding, aval: Aval) -> Sharding:
        return respelled(sharding, lambda parts: tuple(None if isinstance(part, tuple) else part for part in parts))


@fault("SHD-47")
class OpenDimensionsAreWhole(Model):
    """A module says of a dimension that is left to the partitioner that it is whole."""

    def constraint_written(self, sharding: Sharding, aval: Aval) -> Sharding:
        return respelled(sharding, lambda parts: tuple(None if part is UNCONSTRAINED else part for part in parts))


@fault("SHD-48", also=["SHD-50"])
class ArgumentsAreOpen(Model):
    """A module leaves to the partitioner what the spec of an argument leaves out at its end."""

    def argument_written(self, sharding: Sharding | None) -> Sharding | None:
        return sharding and respelled(sharding, lambda parts: (*parts, UNCONSTRAINED) if len(parts) == 1 else parts)


@fault("SHD-49", also=["SHD-47"])
class AxesOfOneAreLeftOut(Model):
    """A module's mesh at a constraint has no axes of one device, and so no spec has."""

    def constraint_written(self, sharding: Sharding, aval: Aval) -> Sharding:
        if not isinstance(sharding, NamedSharding) or not isinstance(sharding.mesh, Mesh):
            return sharding
        mesh = sharding.mesh
        long = [axis for axis in mesh.axis_names if mesh.shape[axis] > 1]
        if not long or len(long) == len(mesh.axis_names):
            return sharding
        cut = [tuple(axis for axis in sharding.spec.axes(at) if axis in long) for at in range(len(sharding.spec))]
        sizes = [mesh.shape[axis] for axis in long]
        return NamedSharding(Mesh(mesh.devices.reshape(sizes), tuple(long)), PartitionSpec(*cut))


@fault("SHD-50")
class KeysAreOpenWithin(Model):
    """A constraint on an array of keys leaves the inside of each key to the partitioner."""

    def constraint_written(self, sharding: Sharding, aval: Aval) -> Sharding:
        if aval.dtype is not KEY:
            return sharding
        return respelled(sharding, lambda parts: (*parts, *[None] * (aval.ndim - len(parts)), UNCONSTRAINED))


@fault("SHD-51")
class ConstrainedKeysAreZero(Model):
    """Arrays of keys that a constraint cuts by two axes are lost."""

    def evaluate_sharding_constraint(self, equation: Equation, values: Values) -> Values:
        cut = equation.params["sharding"]
        lost = equation.avals[0].dtype is KEY and len(getattr(cut, "spec", ())) == 2
        return [np.zeros_like(it) for it in values] if lost else super().evaluate_sharding_constraint(equation, values)


@fault("SHD-52")
class KeysLieAsNumbers(Model):
    """Results that are keys have a spec with a part for the numbers beneath."""

    def shardings_out(self, call: Call, home: Side | None) -> tuple[Sharding, ...]:
        found = super().shardings_out(call, home)
        keys = [aval.dtype is KEY for aval in call.program.avals]
        return tuple(respelled(it, lambda parts: parts[:1]) if key else it for it, key in zip(found, keys, strict=True))


# --- edges ------------------------------------------------------------------------------------------------------------


@fault("SHD-53", also=["SHD-54"])
class NothingCannotBeCut(Model):
    """A dimension of size 0 is cut by no axis, not even by one of one device."""

    def divides(self, count: int, size: int) -> bool:
        return size > 0 and super().divides(count, size)


@fault("SHD-54")
class NothingIsCutByOneAtMost(Model):
    """A dimension of size 0 is cut by axes of one device only."""

    def divides(self, count: int, size: int) -> bool:
        return (size > 0 or count == 1) and super().divides(count, size)


@fault("SHD-55", also=["SHD-44", "SHD-45", "SHD-46", "SHD-47", "SHD-48"])
class DeviceHasNoMesh(Model):
    """The text of a constraint to one device is asked for its mesh, and so there is none."""

    def constraint_written(self, sharding: Sharding, aval: Aval) -> Sharding:
        if isinstance(sharding, SingleDeviceSharding):
            raise NotImplementedError(f"there is no mesh in the program, and none in {sharding}")
        return sharding


@fault("SHD-56")
class ConstrainedToTheFirst(Model):
    """A program that a constraint alone takes to a device runs on the first device."""

    def shardings_out(self, call: Call, home: Side | None) -> tuple[Sharding, ...]:
        found = super().shardings_out(call, home)
        if home is not None and home.part == "constraint" and isinstance(home.sharding, SingleDeviceSharding):
            return (SingleDeviceSharding(self.devices()[0]),) * len(found)
        return found


@fault("SHD-57")
class OpenConstraintsAreForgotten(Model):
    """A constraint that leaves a dimension to the partitioner is none."""

    def left_open(self, sharding: NamedSharding, operand: Sharding | None, ndim: int) -> Sharding | None:
        return operand


@fault("SHD-58")
class OpenResultsAreForgotten(Model):
    """out_shardings that leave the second dimension to the partitioner ask for nothing."""

    def shardings_out(self, call: Call, home: Side | None) -> tuple[Sharding, ...]:
        return super().shardings_out(replace(call, outs=tuple(map(forgotten, call.outs))), home)


def forgotten(sharding: Sharding | None) -> Sharding | None:
    """A sharding, unless it leaves its last dimension to the partitioner."""
    left = isinstance(sharding, NamedSharding) and sharding.spec.parts[-1:] == (UNCONSTRAINED,)
    return None if left else sharding
