"""Faults of puts to the same devices in another order, in the order of their chapter.

What `also` names shows the slip unavoidably: a shard with a wrong value lies in the wrong place as well (ORD-02), a put
that is refused has no result, and what is not deleted was not donated (ORD-08).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from impl.model import plan
from impl.model.arrays import Array
from impl.model.buffers import Buffer
from impl.model.devices import Device
from impl.model.model import Model
from impl.model.positional import PositionalSharding
from impl.model.put import COPY, Order, Place, Row, Target
from impl.model.shardings import NamedSharding, Sharding
from impl.model.specs import PartitionSpec

from . import fault
from .put import ALIAS, Tearing, copies

RESULT = ("ORD-01", "ORD-02", "ORD-03", "ORD-04", "ORD-05")
"""What is said of the result."""

# --- what several faults need -----------------------------------------------------------------------------------------


def renumbered_by(sharding: Sharding, ids: Any) -> Sharding:
    """The same mesh and spec, with other logical device ids."""
    assert isinstance(sharding, NamedSharding)
    logical = None if ids is None else tuple(map(int, ids))
    return NamedSharding(sharding.mesh, sharding.spec, memory_kind=sharding.memory_kind, logical_device_ids=logical)


class Reordering(Model):
    """A model that is wrong about the place of an array that goes to another order, or about the flags of its put."""

    def place(self, x: Any, target: Target) -> Place:
        place = super().place(x, target)
        if isinstance(x, Array) and self.reorders(x.sharding, place.sharding):
            return self.another_place(x, place)
        return place

    def another_place(self, x: Array, place: Place) -> Place:
        return place

    def put(self, x: Array, target: Target, row: Row) -> Array:
        if self.reorders(x.sharding, super().place(x, target).sharding):
            row = self.another_row(row)
        return super().put(x, target, row)

    def another_row(self, row: Row) -> Row:
        return row


# --- the result -------------------------------------------------------------------------------------------------------


@fault("ORD-01")
class LastPieceIsLost(Model):
    """A shard in the new order that is put together of several pieces lacks the last one."""

    def copy(self, x: Array, moves: plan.Plan, position: int, device: Device, kind: str, layout: Order) -> Buffer:
        buffer = super().copy(x, moves, position, device, kind, layout)
        *others, last = moves.pieces(position)
        if others and isinstance(x.sharding, NamedSharding) and x.sharding.logical_device_ids is not None:
            buffer.data[last.new] = 0
        return buffer


@fault("ORD-02")
class OrderIsLogicalOnly(Reordering):
    """An array that is cut alike stays where it lies, and its new sharding calls that a logical order."""

    def another_place(self, x: Array, place: Place) -> Place:
        old, new = x.sharding, place.sharding
        assert isinstance(old, NamedSharding)
        assert isinstance(new, NamedSharding)
        if old.spec != new.spec:
            return place
        logical = [new.ordered.index(device) for device in old.ordered]
        return replace(place, sharding=renumbered_by(new, logical))


@fault("ORD-03")
class SpecIsTrimmed(Reordering):
    """The result's spec does not name the dimensions at its end that are not cut."""

    def another_place(self, x: Array, place: Place) -> Place:
        assert isinstance(place.sharding, NamedSharding)
        parts = list(place.sharding.spec)
        while parts and parts[-1] is None:
            parts.pop()
        return replace(place, sharding=place.sharding.with_spec(PartitionSpec(*parts)))


@fault("ORD-04", also=["ORD-03"])
class WholeNeedsNoNames(Reordering):
    """A result that lies whole on each device has a sharding without names."""

    def another_place(self, x: Array, place: Place) -> Place:
        if not place.sharding.is_fully_replicated:
            return place
        return replace(place, sharding=PositionalSharding(place.sharding.ordered).replicate())


@fault("ORD-05")
class WholeIsBoundNowhere(Model):
    """A result that lies whole on each device is committed to none."""

    def commits(self, x: Any, target: Target) -> bool:
        whole = isinstance(target, NamedSharding) and target.is_fully_replicated
        return super().commits(x, target) and not (isinstance(x, Array) and len(x.buffers) > 1 and whole)


# What is refused has neither a result nor a module.
@fault("ORD-06", also=[*RESULT, "ORD-08", "ORD-09", "ORD-10", "ORD-20", "ORD-21"])
class DonationNeedsEqualCuts(Reordering):
    """A donating put to another order is refused where source and target are cut otherwise."""

    def put(self, x: Array, target: Target, row: Row) -> Array:
        new = self.place(x, target).sharding
        if (
            row.donate
            and self.reorders(x.sharding, new)
            and x.sharding.tiling(x.ndim).counts != new.tiling(x.ndim).counts
        ):
            raise ValueError(f"cannot donate {x.sharding} to {new}")
        return super().put(x, target, row)


# --- the input --------------------------------------------------------------------------------------------------------


@fault("ORD-07")
class OldOrderIsGone(Model):
    """The input is deleted with the array over the new devices that was made of its shards."""

    def put(self, x: Array, target: Target, row: Row) -> Array:
        y = super().put(x, target, row)
        if row == ALIAS and self.reorders(x.sharding, y.sharding):
            self.release(x)
        return y


@fault("ORD-08")
class DonatesTheGoBetween(Reordering):
    """Donated is what was made of the input's shards, and the input itself stays."""

    def another_row(self, row: Row) -> Row:
        return COPY if row.donate else row


@fault("ORD-09", also=["ORD-08", "ORD-10"])
class OnlyMovedShardsGo(Tearing):
    """Of a donated input those shards are deleted that leave their device."""

    def donated(self, x: Array) -> None:
        for buffer in x.buffers[1:]:
            buffer.delete()


@fault("ORD-10", also=["ORD-08"])
class DonatedShardsStay(Reordering):
    """A donating put to another order shares the shards that stay where they are, and leaves the input."""

    def another_row(self, row: Row) -> Row:
        return ALIAS if row.donate else row


@fault("ORD-11")
class CopyReusesShards(Reordering):
    """A copy in another order shares the shards that stay where they are."""

    def another_row(self, row: Row) -> Row:
        return ALIAS if copies(row) else row


# --- the program ------------------------------------------------------------------------------------------------------


@fault("ORD-20")
class ModuleForgetsOrder(Model):
    """The module does not say that its argument's mesh takes the devices in another order."""

    def text_of_reorder(self, x: Array, old: Sharding, new: Sharding) -> str:
        return super().text_of_reorder(x, renumbered_by(old, None), new)


@fault("ORD-20", also=["ORD-01", "ORD-02"])
class OrderTurnedRound(Model):
    """The logical device ids say where each device goes, and not which one comes there."""

    def renumber(self, old: Sharding, new: Sharding) -> Sharding:
        found = super().renumber(old, new)
        assert isinstance(found, NamedSharding)
        return renumbered_by(found, np.argsort(found.logical_device_ids or ()))


@fault("ORD-21")
class ModuleOrdersBoth(Model):
    """The module says of its result, too, that its mesh takes the devices in the order of its argument's."""

    def text_of_reorder(self, x: Array, old: Sharding, new: Sharding) -> str:
        assert isinstance(old, NamedSharding)
        return super().text_of_reorder(x, old, renumbered_by(new, old.logical_device_ids))
