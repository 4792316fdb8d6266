"""What shardings mean: the steps that they ask when they are compared, and when arrays are cut by them.

A sharding asks the model that its devices belong to; one without devices asks `SOUND`, which is no model's own.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, TypeVar, cast

from .meshes import AxisType
from .specs import UNCONSTRAINED
from .words import shown

if TYPE_CHECKING:
    from .devices import Device
    from .meshes import Axes
    from .shardings import Index, Shape, Sharding
    from .specs import PartitionSpec

S = TypeVar("S", bound="Sharding")


class Meanings:
    """The steps that say what shardings mean."""

    # --- compared with each other -------------------------------------------------------------------------------------

    def equivalent(self, one: Sharding, other: Sharding, ndim: int) -> bool:
        """Whether arrays of that rank lie the same way in both, however they are written: an equivalence.

        SHD-01, SHD-07, SHD-08, SHD-09, SHD-10, ABS-68.
        """
        return (
            self.same_devices_in_order(one, other) and self.same_memory(one, other) and self.same_cut(one, other, ndim)
        )

    def same_devices_in_order(self, one: Sharding, other: Sharding) -> bool:
        """The same devices in the same order; without devices, as many of none.

        SHD-03, SHD-04, SHD-06, SHD-10, ABS-68.
        """
        if one.abstract or other.abstract:
            return one.abstract and other.abstract and one.num_devices == other.num_devices
        return one.ordered == other.ordered

    def same_memory(self, one: Sharding, other: Sharding) -> bool:
        """The same kind of memory. SHD-05, MEM-22, MEM-24."""
        return one.memory_kind == other.memory_kind

    def same_cut(self, one: Sharding, other: Sharding, ndim: int) -> bool:
        """The same tile at each place, for arrays of that rank. ORD-64, SHD-01, SHD-02, SHD-09."""
        return one.tiling(ndim) == other.tiling(ndim)

    def equal(self, one: Sharding, other: Sharding) -> bool:
        """Whether both were made of equal parts, which makes them equivalent.

        ORD-60, ORD-61, SHD-11, SHD-12, SHD-14, SHD-15, SHD-36, ABS-61, MEM-21, MEM-23, MEM-25.
        """
        return type(one) is type(other) and one._parts == other._parts

    def hashed(self, kind: str, parts: Sequence[Hashable]) -> int:
        """The hash of a sharding made of these parts. SHD-11, SHD-13, MEM-23, MEM-25, ORD-60."""
        return hash((kind, parts))

    # --- cut by them --------------------------------------------------------------------------------------------------

    def divides(self, count: int, size: int) -> bool:
        """Whether a dimension is cut into so many tiles evenly; one of size 0 always is.

        SHD-16, SHD-24, SHD-53, SHD-54.
        """
        return size % count == 0

    def shard_shape(self, sharding: Sharding, shape: Shape) -> Shape:
        """The shape of what each device holds. SHD-16."""
        return sharding.tiles(shape).sizes

    def indices(self, sharding: Sharding, shape: Shape) -> dict[Device, Index]:
        """What each device holds, the devices in the sharding's own order. SHD-17, ORD-65."""
        return dict(zip(sharding.ordered, sharding.indices(shape), strict=True))

    def indices_here(self, sharding: Sharding, shape: Shape) -> dict[Device, Index]:
        """The same for the devices of this process. SHD-18."""
        return {device: at for device, at in self.indices(sharding, shape).items() if self.here(device)}

    def here(self, device: Device) -> bool:
        """Whether a device belongs to this process: the first, which is the one that is shown. SHD-18, SHD-19."""
        return device.process_index == 0

    def count(self, sharding: Sharding) -> int:
        """How many devices it has, each of which counts. SHD-19."""
        return len(sharding.ordered)

    def replicated(self, sharding: Sharding) -> bool:
        """Whether each device holds the whole of every array. SHD-20, ABS-58."""
        return sharding.is_whole

    # --- in memory ----------------------------------------------------------------------------------------------------

    def memory_of(self, device: Device, kind: str | None) -> str:
        """A kind of memory of a device, its default where none is given; one that it has not is refused.

        SHD-21, SHD-33, MEM-27, MEM-31, MEM-32, MEM-33, MEM-34.
        """
        return device.default_memory().kind if kind is None else device.memory(kind).kind

    def in_memory(self, sharding: S, kind: str) -> S:
        """The same in another kind of memory. SHD-22, MEM-29."""
        return cast("S", sharding.in_kind(kind))

    def shown_memory(self, sharding: Sharding) -> str:
        """The kind of memory as messages show it. MEM-26, MEM-28."""
        return "" if sharding.memory_kind is None else f", memory_kind={sharding.memory_kind}"

    # --- copied and shown ---------------------------------------------------------------------------------------------

    def copied(self, sharding: S) -> S:
        """A copy: a value that never changes is its own. SHD-38."""
        return sharding

    def remade(self, sharding: Sharding) -> tuple[object, ...]:
        """What pickles and deep copies make it of again, its kind of memory among it. SHD-39, MEM-30, ORD-63."""
        return sharding.made()

    def written(self, sharding: Sharding) -> str:
        """A sharding in one line, with all in which two can differ but for the devices of a mesh.

        ORD-62, SHD-41, SHD-42, SHD-43.
        """
        return sharding.shown()

    # --- what cannot be -----------------------------------------------------------------------------------------------

    def check_named(self, mesh: Axes, spec: PartitionSpec) -> None:
        """That a spec names axes of a mesh, each once, and leaves to the partitioner only what is the partitioner's.

        SHD-28, SHD-30.
        """
        named = spec.named
        if unknown := [axis for axis in named if axis not in mesh.axis_names]:
            raise self.unknown(mesh, spec, unknown[0])
        if repeated := [axis for axis in dict.fromkeys(named) if named.count(axis) > 1]:
            raise self.repeated(mesh, spec, repeated[0])
        if UNCONSTRAINED in spec.parts and AxisType.Auto not in mesh.axis_types:
            raise ValueError(f"{spec} leaves a dimension to the partitioner, and no axis is Auto in {mesh}")

    def unknown(self, mesh: Axes, spec: PartitionSpec, axis: object) -> Exception:
        """The error about an axis that a mesh has not. SHD-28, SHD-29."""
        return ValueError(f"{spec} names the axis {axis!r}, and the axes are {mesh.axis_names} in {mesh}")

    def repeated(self, mesh: Axes, spec: PartitionSpec, axis: object) -> Exception:
        """The error about an axis that cuts twice. SHD-30, SHD-31."""
        return ValueError(f"{spec} names axes more than once, and an axis cuts one dimension: [{axis!r}] in {mesh}")

    def uneven(self, sharding: Sharding, shape: Shape, cut: Sequence[str]) -> Exception:
        """The error about dimensions that are not cut evenly, each in words. SHD-24, SHD-25."""
        return ValueError(f"{sharding} cannot cut shape {shape} evenly: {'; '.join(cut)}")

    def lacking(self, sharding: Sharding, dimension: int, ndim: int) -> Exception:
        """The error about a dimension that is cut, and that an array has not. SHD-26, SHD-27, ABS-72, ABS-73."""
        return ValueError(f"{sharding} cuts dimension {dimension}, and was given an array of {ndim} dimensions")

    def no_mesh(self, given: object) -> Exception:
        """The error about what is no mesh. SHD-32."""
        return TypeError(f"a NamedSharding takes a Mesh or an AbstractMesh: got {shown(given)}")

    def no_spec(self, given: object) -> Exception:
        """The error about what is no spec. SHD-32."""
        return TypeError(f"a NamedSharding takes a PartitionSpec: got {shown(given)}")


SOUND = Meanings()
"""The meanings of what has no devices."""


def of(device: Device | None) -> Meanings:
    """Whom a device asks."""
    return (device.client.meanings if device else None) or SOUND


def shared(one: Sharding, other: Sharding) -> Meanings:
    """Whom two shardings ask: the model of the first that has devices."""
    return one.meanings if not one.abstract else other.meanings
