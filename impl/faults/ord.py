"""Faults of puts to the same devices in another order, in the order of their chapter.

What `also` names shows the slip unavoidably: a shard with a wrong value lies in the wrong place as well (ORD-02), a put
that is refused has no result, what is not deleted was not donated (ORD-08), and what is wrong of one array is wrong of
a leaf (ORD-40, ORD-41, ORD-43).
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from dataclasses import replace
from itertools import count
from typing import Any

import numpy as np

from impl.model import plan, trees
from impl.model.agreement import Call, Side
from impl.model.arrays import Array
from impl.model.buffers import Buffer
from impl.model.devices import Device
from impl.model.meshes import Mesh
from impl.model.model import Model
from impl.model.positional import PositionalSharding
from impl.model.put import COPY, Order, Place, Row, Target
from impl.model.running import Lowered
from impl.model.shardings import Index, NamedSharding, Shape, Sharding, SingleDeviceSharding
from impl.model.specs import PartitionSpec

from . import fault
from .dev import in_order_of_ids
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


@fault("ORD-01", also=["ORD-40"])
class LastPieceIsLost(Model):
    """A shard in the new order that is put together of several pieces lacks the last one."""

    def copy(self, x: Array, moves: plan.Plan, position: int, device: Device, kind: str, layout: Order) -> Buffer:
        buffer = super().copy(x, moves, position, device, kind, layout)
        pieces = list(moves.pieces(position))
        if len(pieces) > 1 and isinstance(x.sharding, NamedSharding) and x.sharding.logical_device_ids is not None:
            buffer.data[pieces[-1].new] = 0
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


@fault("ORD-03", also=["ORD-41"])
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
    """A result of one dimension that lies whole on each device is committed to none."""

    def commits(self, x: Any, target: Target) -> bool:
        whole = isinstance(target, NamedSharding) and target.is_fully_replicated
        line = isinstance(x, Array) and x.ndim == 1 and len(x.buffers) > 1
        return super().commits(x, target) and not (whole and line)


# What is refused has neither a result nor a module, and leaves no leaf of a pytree put.
@fault("ORD-06", also=[*RESULT, "ORD-08", "ORD-20", "ORD-21", "ORD-40", "ORD-41", "ORD-42", "ORD-43"])
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
    """An input of one dimension is deleted with the array over the new devices that was made of its shards."""

    def put(self, x: Array, target: Target, row: Row) -> Array:
        y = super().put(x, target, row)
        if row == ALIAS and x.ndim == 1 and self.reorders(x.sharding, y.sharding):
            self.release(x)
        return y


@fault("ORD-08", also=["ORD-43"])
class DonatesTheGoBetween(Reordering):
    """Donated is what was made of the input's shards, and the input itself stays."""

    def another_row(self, row: Row) -> Row:
        return COPY if row.donate else row


@fault("ORD-09", also=["ORD-08", "ORD-10", "ORD-43"])
class FirstShardStays(Tearing):
    """Of an input that is donated in another order the first shard stays."""

    reordering = False

    def put(self, x: Array, target: Target, row: Row) -> Array:
        self.reordering = self.reorders(x.sharding, self.place(x, target).sharding)
        return super().put(x, target, row)

    def donated(self, x: Array) -> None:
        for buffer in x.buffers[1:] if self.reordering else x.buffers:
            buffer.delete()


@fault("ORD-10", also=["ORD-08", "ORD-43"])
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


@fault("ORD-20", also=["ORD-01", "ORD-02", "ORD-40", "ORD-53"])
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


# --- sides that are no NamedShardings, and devices that are not the same ----------------------------------------------


class Leaving(Model):
    """A model that is wrong about an array that goes to devices which are not the same as its own."""

    def leaves(self, x: Array, new: Sharding) -> bool:
        return not self.same_set(x.sharding, new)

    def put(self, x: Array, target: Target, row: Row) -> Array:
        if self.leaves(x, super().place(x, target).sharding):
            row = self.another_row(row)
        y = super().put(x, target, row)
        if self.leaves(x, y.sharding):
            self.left(x, y, row)
        return y

    def another_row(self, row: Row) -> Row:
        return row

    def left(self, x: Array, y: Array, row: Row) -> None: ...


@fault("ORD-30", contract="0.6.2")
class NamesAreAsserted(Model):
    """A put to another order asserts that its target is a NamedSharding."""

    def place(self, x: Any, target: Target) -> Place:
        place = super().place(x, target)
        if isinstance(x, Array) and self.same_set(x.sharding, place.sharding) and x.sharding.ordered[0].id == 0:
            assert isinstance(place.sharding, NamedSharding | SingleDeviceSharding), place.sharding
        return place


@fault("ORD-31")
class FewerDevicesAreATypeError(Leaving):
    """A put to some of the devices that the array lies on is refused with a TypeError."""

    def place(self, x: Any, target: Target) -> Place:
        place = super().place(x, target)
        if isinstance(x, Array) and place.sharding.device_set < x.sharding.device_set:
            ids = [[device.id for device in it.ordered] for it in (x.sharding, place.sharding)]
            raise TypeError(f"an array on device ids {ids[0]} cannot be put to device ids {ids[1]}")
        return place


@fault("ORD-32")
class StrangersAreTurned(Model):
    """A copy of several shards to devices that are not the same takes the new ones from behind."""

    def lay(self, x: Array, place: Place, row: Row) -> tuple[Buffer, ...]:
        buffers = super().lay(x, place, row)
        if row.donate or len(x.buffers) == 1 or self.same_set(x.sharding, place.sharding):
            return buffers
        turned = zip(place.sharding.ordered, reversed(buffers), strict=True)
        return tuple([Buffer(device, buffer.kind, np.array(buffer.data)) for device, buffer in turned])


@fault("ORD-33")
class OneDeviceIsAMesh(Leaving):
    """An array of several devices that goes to one lies over a mesh of it."""

    def place(self, x: Any, target: Target) -> Place:
        place = super().place(x, target)
        if not isinstance(place.sharding, SingleDeviceSharding) or not isinstance(x, Array) or len(x.buffers) == 1:
            return place
        return replace(place, sharding=NamedSharding(Mesh(place.sharding.ordered, ("x",)), PartitionSpec()))


@fault("ORD-34")
class FewerDevicesAreRefused(Model):
    """A put to some of the devices that the array lies on is refused, and nothing is said of either side."""

    def place(self, x: Any, target: Target) -> Place:
        place = super().place(x, target)
        if isinstance(x, Array) and place.sharding.device_set < x.sharding.device_set:
            raise ValueError("an array cannot be put there from where it lies")
        return place


@fault("ORD-35")
class LeavingDeletes(Leaving):
    """An array that goes to devices which are not the same is gone where it was."""

    def left(self, x: Array, y: Array, row: Row) -> None:
        if row == ALIAS:
            self.release(x)


@fault("ORD-36", also=["ORD-37"])
class OneShardStays(Leaving, Tearing):
    """Of an array that is donated to devices which are not the same the first shard stays."""

    leaving = False

    def put(self, x: Array, target: Target, row: Row) -> Array:
        self.leaving = self.leaves(x, self.place(x, target).sharding)
        return super().put(x, target, row)

    def donated(self, x: Array) -> None:
        for buffer in x.buffers[1:] if self.leaving else x.buffers:
            buffer.delete()


@fault("ORD-37")
class LeavingNeverDonates(Leaving):
    """A donating put to devices that are not the same copies."""

    def another_row(self, row: Row) -> Row:
        return COPY if row.donate else row


# --- several leaves ---------------------------------------------------------------------------------------------------


class Spreading(Model):
    """A model that is wrong about what an argument of a put says of each leaf."""

    argument = ""

    def prefix(self, prefix: Any, tree: trees.Tree, name: str) -> list[Any]:
        said = super().prefix(prefix, tree, name)
        return self.said(said) if name == self.argument and len(said) > 1 else said

    def said(self, said: list[Any]) -> list[Any]:
        return said


@fault("ORD-40")
class DonationIsForAll(Model):
    """Where the first leaf is donated and another is not, the value of that one is lost."""

    def device_put(self, x: Any, device: Any = None, *, donate: Any = False, may_alias: Any = None) -> Any:
        y = super().device_put(x, device, donate=donate, may_alias=may_alias)
        if isinstance(donate, dict) and donate["a"] and not donate["b"]:
            y["b"] = self.spread(np.zeros(y["b"].shape, y["b"].dtype), y["b"].sharding, committed=True)
        return y


@fault("ORD-41")
class FirstPlaceIsForAll(Spreading):
    """All leaves go where the first one goes."""

    argument = "device"

    def said(self, said: list[Any]) -> list[Any]:
        return said[:1] * len(said)


@fault("ORD-42")
class OneDonatesAll(Spreading):
    """Where one leaf is donated, all are."""

    argument = "donate"

    def said(self, said: list[Any]) -> list[Any]:
        return [any(said)] * len(said)


@fault("ORD-43")
class OneKeepsAll(Spreading):
    """Where one leaf is kept, all are."""

    argument = "donate"

    def said(self, said: list[Any]) -> list[Any]:
        return [all(said)] * len(said)


# --- before and after meet, and within a program ----------------------------------------------------------------------


def arguments(one: Side, other: Side) -> bool:
    """Whether two sides of a call are arguments."""
    return one.part == other.part == "argument"


@fault("ORD-50")
class OrdersAreTypes(Model):
    """Arguments in two orders are refused with a TypeError."""

    def refusal(self, name: str, one: Side, other: Side) -> Exception:
        error = super().refusal(name, one, other)
        return TypeError(str(error)) if arguments(one, other) else error


@fault("ORD-51")
class OrdersAreNotShown(Model):
    """The refusal of arguments in two orders says that they are, and not which these are."""

    def refusal(self, name: str, one: Side, other: Side) -> Exception:
        if arguments(one, other):
            return ValueError(f"{name} was called with arguments on devices in two orders")
        return super().refusal(name, one, other)


@fault("ORD-52")
class OrdersCompileFirst(Model):
    """The program for arguments in two orders is compiled before the second is looked at."""

    def refusal(self, name: str, one: Side, other: Side) -> Exception:
        self.counts["compile"] += arguments(one, other)
        return super().refusal(name, one, other)


@fault("ORD-53")
class SumsGoBack(Model):
    """The result of arguments in one order lies in the order of the devices' ids."""

    def shardings_out(self, call: Call, home: Side | None) -> tuple[Sharding, ...]:
        found = super().shardings_out(call, home)
        return tuple(map(in_order_of_ids, found)) if home is not None and home.part == "argument" else found


@fault("ORD-55")
class PutsAreTypes(Model):
    """A put to another order within a program is refused with a TypeError."""

    def refusal(self, name: str, one: Side, other: Side) -> Exception:
        error = super().refusal(name, one, other)
        return TypeError(str(error)) if other.part == "put" else error


@fault("ORD-56")
class PutsNameNoDevices(Model):
    """The refusal of a put to another order within a program names no devices."""

    def refusal(self, name: str, one: Side, other: Side) -> Exception:
        if other.part == "put":
            return ValueError(f"{name} cannot put an array to another order")
        return super().refusal(name, one, other)


@fault("ORD-57")
class RefusedPutsDonate(Model):
    """What a put within a program was to donate is gone when the program is refused."""

    def call(self, call: Call) -> list[Any]:
        try:
            return super().call(call)
        except ValueError:
            puts = [it for it in call.program.equations if it.name == "device_put"]
            for argument in call.arguments if any(it.params["row"].donate for it in puts) else ():
                self.release(argument.value)
            raise


# --- a sharding that has a logical order ------------------------------------------------------------------------------


def is_logical(sharding: Sharding) -> bool:
    """Whether a sharding has a logical order."""
    return isinstance(sharding, NamedSharding) and sharding.logical_device_ids is not None


@fault("ORD-60")
class OrdersHashAlone(Model):
    """Each sharding with a logical order has a hash of its own."""

    made = count()

    def hashed(self, kind: str, parts: Sequence[Hashable]) -> int:
        logical = kind == "NamedSharding" and parts[-1] is not None
        return super().hashed(kind, (*parts, next(self.made)) if logical else parts)


@fault("ORD-61")
class OrdersAreEqual(Model):
    """Shardings that differ in their logical orders alone are equal."""

    def equal(self, one: Sharding, other: Sharding) -> bool:
        if not isinstance(one, NamedSharding) or not isinstance(other, NamedSharding):
            return super().equal(one, other)
        return super().equal(renumbered_by(one, None), renumbered_by(other, None))


@fault("ORD-62")
class OrdersArePrintedAlike(Model):
    """The repr of a sharding lacks its logical order."""

    def written(self, sharding: Sharding) -> str:
        return super().written(renumbered_by(sharding, None) if is_logical(sharding) else sharding)


@fault("ORD-63")
class PickleLosesOrder(Model):
    """What pickle keeps of a sharding lacks its logical order."""

    def remade(self, sharding: Sharding) -> tuple[object, ...]:
        return super().remade(renumbered_by(sharding, None) if is_logical(sharding) else sharding)


@fault("ORD-64")
class OrdersAreNeverAlike(Model):
    """A sharding with a logical order is equivalent to none without."""

    def same_cut(self, one: Sharding, other: Sharding, ndim: int) -> bool:
        return super().same_cut(one, other, ndim) and is_logical(one) == is_logical(other)


@fault("ORD-65")
class IndicesForgetOrder(Model):
    """The map of indices says what each device would hold without the logical order."""

    def indices(self, sharding: Sharding, shape: Shape) -> dict[Device, Index]:
        return super().indices(renumbered_by(sharding, None) if is_logical(sharding) else sharding, shape)


@fault("ORD-66")
class ArgumentsForgetOrder(Model):
    """A module for Shardy takes the meshes of its arguments in the devices' own order."""

    def stablehlo_text(self, lowered: Lowered) -> str:
        return re.sub(r", device_ids=\[[\d, ]*\]", "", super().stablehlo_text(lowered))
