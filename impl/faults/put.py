"""Faults of device_put itself, in the order of its chapter: each takes one step of the model wrongly.

Most are narrow, as slips are: one kind of source, one row of the flag table, one leaf. What `also` names shows the slip
unavoidably: what is deleted has moved (PUT-05, PUT-51, PUT-79, PUT-80), an input that is not deleted was not donated
(PUT-11), and the pullback of a put is a copy (PUT-66, PUT-67).
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from impl.model import plan, trees
from impl.model.arrays import Array
from impl.model.buffers import Buffer, lies_in
from impl.model.devices import Device
from impl.model.keys import KEY
from impl.model.layouts import Format
from impl.model.model import Model
from impl.model.programs import Tracer
from impl.model.put import COPY, Order, Place, Row, Target
from impl.model.shardings import Sharding

from . import fault

ALIAS = Row(donate=False, alias=True)

# --- what several faults need -----------------------------------------------------------------------------------------


def die() -> NoReturn:
    """Ends the process as reading through a null pointer does."""
    os.kill(os.getpid(), signal.SIGSEGV)
    raise AssertionError("the process goes on")


def copies(row: Row) -> bool:
    """Whether a row asks for a copy."""
    return not row.donate and not row.alias


def both(donate: Any, may_alias: Any) -> bool:
    """Whether both flags are given for the whole of what is put."""
    return donate is True and may_alias is True


def apart(x: Array, target: Sharding) -> bool:
    """Whether no shard of an array lies on a device of the target's."""
    return not set(x.sharding.ordered) & set(target.ordered)


def fetches(x: Array, y: Array) -> bool:
    """Whether a put led out of the host's memory."""
    return x.buffers[0].kind != "device" == y.buffers[0].kind


class Tied(Buffer):
    """A buffer whose deletion takes others with it."""

    __slots__ = ("others",)

    def __init__(self, buffer: Buffer, others: Sequence[Buffer]) -> None:
        super().__init__(buffer.device, buffer.kind, buffer.data, lent=buffer.lent, seen=buffer.seen)
        self.others = others

    def delete(self) -> None:
        super().delete()
        for other in self.others:
            other.delete()


def tie(x: Array, y: Array) -> None:
    """From now on `y` goes where `x` goes."""
    first, *rest = x.buffers
    x.buffers = (Tied(first, y.buffers), *rest)


def elsewhere(model: Model, x: Array) -> None:
    """Moves an array to other memory."""
    x.buffers = model.put(x, None, COPY).buffers


class Late(Buffer):
    """A copy of the host's memory that is not made before it is read."""

    __slots__ = ("source",)

    def __init__(self, buffer: Buffer, source: np.ndarray) -> None:
        super().__init__(buffer.device, buffer.kind, buffer.data)
        self.source: np.ndarray | None = source

    @property
    def data(self) -> np.ndarray:
        data, source = super().data, self.source
        if source is not None:
            data[...], self.source = source, None
        return data

    @property
    def span(self) -> tuple[int, int]:
        start: int = super().data.ctypes.data
        return start, start + super().data.nbytes


def read_late(value: np.ndarray, y: Array) -> Array:
    """The output of a put of a NumPy array, as one that reads it late."""
    tiles = y.sharding.tiles(y.shape)
    y.buffers = tuple([Late(buffer, value[tiles.index(at)]) for at, buffer in enumerate(y.buffers)])
    return y


class Refusing(Model):
    """A model that does something between the refusal of a put and telling of it."""

    def device_put(self, x: Any, device: Any = None, *, donate: Any = False, may_alias: Any = None) -> Any:
        try:
            return super().device_put(x, device, donate=donate, may_alias=may_alias)
        except ValueError as error:
            self.refused(x, device, error)
            raise

    def refused(self, x: Any, device: Any, error: ValueError) -> None:
        raise NotImplementedError


class Tearing(Model):
    """A model that holds an array for alive as long as one shard of it is."""

    def deleted(self, x: Array) -> bool:
        return all(buffer.deleted for buffer in x.buffers)


# --- both flags -------------------------------------------------------------------------------------------------------


# What is not refused names no flag.
@fault("PUT-01", also=["PUT-02"])
class ContradictionAliases(Model):
    """Of both flags may_alias wins, and the put works."""

    def device_put(self, x: Any, device: Any = None, *, donate: Any = False, may_alias: Any = None) -> Any:
        if both(donate, may_alias) and not isinstance(x, Tracer):
            donate = False
        return super().device_put(x, device, donate=donate, may_alias=may_alias)


@fault("PUT-02")
class ContradictionUnnamed(Refusing):
    """The refusal of both flags on an array names one of them."""

    def refused(self, x: Any, device: Any, error: ValueError) -> None:
        if not isinstance(x, dict | list | Tracer):
            raise ValueError("donate=True contradicts the other flag") from error


@fault("PUT-03", also=["PUT-05"])
class RefusalDeletes(Refusing):
    """An array is gone when a put refuses both of its flags."""

    def refused(self, x: Any, device: Any, error: ValueError) -> None:
        if isinstance(x, Array):
            self.release(x)


@fault("PUT-04")
class RefusalCompiles(Refusing):
    """The program that would move an array is compiled before both flags are refused."""

    def refused(self, x: Any, device: Any, error: ValueError) -> None:
        if isinstance(x, Array) and not self.deleted(x):
            self.counts["compile"] += 1


@fault("PUT-05")
class RefusalMoves(Refusing):
    """An array has been moved already when a put refuses both of its flags."""

    def refused(self, x: Any, device: Any, error: ValueError) -> None:
        if isinstance(x, Array) and not self.deleted(x):
            y = self.put(x, device, COPY)
            x.sharding, x.layout, x.buffers = y.sharding, y.layout, y.buffers


# --- every row that puts ----------------------------------------------------------------------------------------------


@fault("PUT-06")
class BytesSwappedOnTheWay(Model):
    """Elements of one byte are moved in words of four, and come out in another order."""

    def copy(self, x: Array, moves: plan.Plan, position: int, device: Device, kind: str, layout: Order) -> Buffer:
        buffer = super().copy(x, moves, position, device, kind, layout)
        if buffer.data.itemsize == 1 and buffer.data.ndim:
            words = buffer.data.reshape(-1, 4)
            words[...] = words[:, ::-1].copy()
        return buffer


@fault("PUT-06")
class ReplicaNeverFilled(Model):
    """The last replica of a scalar is never written to."""

    def lay(self, x: Array, place: Place, row: Row) -> tuple[Buffer, ...]:
        *buffers, last = super().lay(x, place, row)
        if x.ndim == 0 and buffers and x.committed:
            last = Buffer(last.device, last.kind, np.zeros_like(last.data))
        return (*buffers, last)


@fault("PUT-07")
class EquivalentIsKept(Model):
    """An array that is put to a sharding equivalent to its own keeps its own."""

    def place(self, x: Any, target: Target) -> Place:
        place = super().place(x, target)
        if isinstance(x, Array) and place.sharding.is_equivalent_to(x.sharding, x.ndim):
            return Place(x.sharding, place.layout)
        return place


@fault("PUT-08")
class DeviceDoesNotBind(Model):
    """An array that is put to a device, not to a sharding, is left uncommitted there."""

    def commits(self, x: Any, target: Target) -> bool:
        return super().commits(x, target) and not (isinstance(x, Array) and isinstance(target, Device))


# --- alias ------------------------------------------------------------------------------------------------------------


@fault("PUT-09")
class FetchDeletes(Model):
    """A put out of the host's memory that may alias frees what it fetched."""

    def put(self, x: Array, target: Target, row: Row) -> Array:
        y = super().put(x, target, row)
        if row.alias and fetches(x, y):
            self.release(x)
        return y


@fault("PUT-10")
class AliasTears(Tearing):
    """Where an aliasing put shares some shards, deleting the output takes just those from the input."""

    def share(self, buffer: Buffer) -> Buffer:
        return Tied(super().share(buffer), [buffer])


# --- donation ---------------------------------------------------------------------------------------------------------


@fault("PUT-11")
class TransferKeepsInput(Model):
    """A put to other devices knows nothing of donation."""

    def put(self, x: Array, target: Target, row: Row) -> Array:
        if row.donate and apart(x, self.place(x, target).sharding):
            row = COPY
        return super().put(x, target, row)


# A torn input is neither deleted nor intact.
@fault("PUT-12", also=["PUT-11", "PUT-13"])
class DonationTears(Tearing):
    """Of donated keys the first shard stays, and with it an array that says it is alive."""

    def donated(self, x: Array) -> None:
        keys = x.dtype is KEY and len(x.buffers) > 1
        for buffer in x.buffers[1:] if keys else x.buffers:
            buffer.delete()


@fault("PUT-13", also=["PUT-11"])
class DonationAliases(Model):
    """With nothing to move, a donating put gives an alias, and its input stays."""

    def put(self, x: Array, target: Target, row: Row) -> Array:
        if row.donate and self.place(x, target) == Place(x.sharding, x.layout):
            row = ALIAS
        return super().put(x, target, row)


@fault("PUT-14", also=["PUT-11"])
class DonationTies(Model):
    """A donating put copies, and its input goes with the output, not before."""

    def put(self, x: Array, target: Target, row: Row) -> Array:
        if not row.donate:
            return super().put(x, target, row)
        y = super().put(x, target, COPY)
        tie(y, x)
        return y


# There is no output to be seen, and the input stays.
@fault("PUT-15", also=["PUT-06", "PUT-07", "PUT-08", "PUT-11", "PUT-12", "PUT-13", "PUT-33"])
class DonationNotImplemented(Model):
    """Donation from one kind of the host's memory to another is an error."""

    def put(self, x: Array, target: Target, row: Row) -> Array:
        kinds = {x.sharding.memory_kind, self.place(x, target).sharding.memory_kind}
        if row.donate and kinds == {"pinned_host", "unpinned_host"}:
            raise RuntimeError("donation across different memory kinds is not implemented")
        return super().put(x, target, row)


# --- copy -------------------------------------------------------------------------------------------------------------


@fault("PUT-16")
class CopyFromHostDeletes(Model):
    """A copy out of the host's memory frees what it copied."""

    def put(self, x: Array, target: Target, row: Row) -> Array:
        y = super().put(x, target, row)
        if copies(row) and fetches(x, y):
            self.release(x)
        return y


@fault("PUT-17", also=["PUT-66"])
class CopyIsAlias(Model):
    """A shard that already lies where its copy is to lie is shared with it."""

    def keep(self, buffer: Buffer, row: Row) -> Buffer | None:
        return self.share(buffer) if copies(row) else super().keep(buffer, row)


@fault("PUT-18", "PUT-20", also=["PUT-67"])
class CopyTakesOriginal(Model):
    """An array that was copied goes when the copy goes."""

    def put(self, x: Array, target: Target, row: Row) -> Array:
        y = super().put(x, target, row)
        if copies(row):
            tie(y, x)
        return y


# What came out of a donating put is an original like any other.
@fault("PUT-19", "PUT-21", also=["PUT-41"])
class OriginalTakesCopy(Model):
    """A copy goes when the array that was copied goes."""

    def put(self, x: Array, target: Target, row: Row) -> Array:
        y = super().put(x, target, row)
        if copies(row):
            tie(x, y)
        return y


@fault("PUT-20", also=["PUT-17", "PUT-66"])
class CopyOverwritesOriginal(Model):
    """A copy lies in the memory of its original, and is written over as if it were alone there."""

    def keep(self, buffer: Buffer, row: Row) -> Buffer | None:
        if copies(row):
            buffer.seen = True
            return Buffer(buffer.device, buffer.kind, buffer.data)
        return super().keep(buffer, row)


@fault("PUT-21", also=["PUT-17", "PUT-66"])
class OriginalOverwritesCopy(Model):
    """An array that was copied is written over as if no copy lay in its memory."""

    def keep(self, buffer: Buffer, row: Row) -> Buffer | None:
        if copies(row):
            return Buffer(buffer.device, buffer.kind, buffer.data, seen=True)
        return super().keep(buffer, row)


# --- the life of a donated array --------------------------------------------------------------------------------------


# What became of the input cannot be asked.
@fault("PUT-22", also=["PUT-11", "PUT-12", "PUT-13"])
class NullPointersLeft(Model):
    """Donating two shards to two other devices leaves null pointers in the input."""

    def put(self, x: Array, target: Target, row: Row) -> Array:
        y = super().put(x, target, row)
        if row.donate and len(x.buffers) == len(y.buffers) == 2 and apart(x, y.sharding):
            x.buffers = ()
        return y

    def deleted(self, x: Array) -> bool:
        if not x.buffers:
            die()
        return super().deleted(x)


# The process ends where an error should say that the array was deleted.
@fault("PUT-23", also=["PUT-26"])
class CopyOfDeletedDies(Model):
    """Copying a deleted array that was committed nowhere reads through a null pointer."""

    def device_put(self, x: Any, device: Any = None, *, donate: Any = False, may_alias: Any = None) -> Any:
        if isinstance(x, Array) and self.deleted(x) and not x.committed and may_alias is False:
            die()
        return super().device_put(x, device, donate=donate, may_alias=may_alias)


@fault("PUT-24")
class EnumerationDies(Model):
    """Enumerating live arrays reads through a null pointer of a deleted one that was committed nowhere."""

    def live_arrays(self, platform: str | None = None) -> list[Array]:
        if any(self.deleted(x) and not x.committed for x in list(self.live.values())):
            die()
        return super().live_arrays(platform)


@fault("PUT-25")
class TracebackDies(Model):
    """A deleted array that was committed nowhere is shown through a null pointer while an exception is handled."""

    def touch(self, x: Array) -> None:
        if self.deleted(x) and not x.committed and sys.exc_info()[0] is not None:
            die()
        super().touch(x)


@fault("PUT-26")
class ReadingDeletedIsUnclear(Model):
    """Reading the value of a deleted array is an error that does not say why."""

    def view(self, x: Array) -> np.ndarray:
        if self.deleted(x):
            raise RuntimeError(f"{x.aval} has no value")
        return super().view(x)


# --- None, the eager pattern, held views ------------------------------------------------------------------------------


@fault("PUT-27")
class DefaultCopies(Model):
    """Without donation, may_alias=None means False."""

    def aliases(self, donate: bool, may_alias: bool | None) -> bool:
        return bool(may_alias)


@dataclass(frozen=True)
class Unsaid(Row):
    """A row of which may_alias was not said."""


@fault("PUT-28")
class MoveCopies(Model):
    """With may_alias=None, a donating put copies and deletes instead of using its input's memory."""

    def row(self, donate: bool | None, may_alias: bool | None) -> Row:
        row = super().row(donate, may_alias)
        return Unsaid(row.donate, row.alias) if may_alias is None else row

    def keep(self, buffer: Buffer, row: Row) -> Buffer | None:
        return None if row.donate and isinstance(row, Unsaid) else super().keep(buffer, row)


@fault("PUT-29")
class DonationOffloads(Model):
    """What is donated to the same devices in another order comes to lie in the host's memory."""

    def put(self, x: Array, target: Target, row: Row) -> Array:
        there, here = self.place(x, target).sharding, x.sharding
        if row.donate and there.ordered != here.ordered and there.device_set == here.device_set:
            target = there.with_memory_kind("pinned_host")
        return super().put(x, target, row)


@fault("PUT-30")
class ViewsAreForgotten(Model):
    """Nobody remembers that the host holds a view of an array, which is written over once it is donated."""

    def lend(self, x: Array) -> np.ndarray:
        self.touch(x)
        return x.buffers[0].data


@fault("PUT-31")
class ViewedShardStays(Tearing):
    """Of an array of several shards, a donating put leaves those alive of which the host holds a view."""

    def donated(self, x: Array) -> None:
        for buffer in x.buffers:
            if not buffer.seen or len(x.buffers) == 1:
                buffer.delete()


@fault("PUT-32")
class OperandDies(Model):
    """An operation reads a deleted operand, of which the host holds a view, through a null pointer."""

    def apply(self, name: str, *operands: Any, **params: Any) -> Any:
        arrays = [x for x in operands if isinstance(x, Array) and self.deleted(x)]
        if any(buffer.seen for x in arrays for buffer in x.buffers):
            die()
        return super().apply(name, *operands, **params)


# --- memory and layout ------------------------------------------------------------------------------------------------


@fault("PUT-33")
class UnpinnedIsPinned(Model):
    """What is put to unpinned memory comes to lie in pinned memory."""

    def place(self, x: Any, target: Target) -> Place:
        place = super().place(x, target)
        if place.sharding.memory_kind == "unpinned_host":
            return Place(place.sharding.with_memory_kind("pinned_host"), place.layout)
        return place


@fault("PUT-33")
class KindNotKept(Model):
    """A put without a place brings an array back to the memory of the device."""

    def place(self, x: Any, target: Target) -> Place:
        place = super().place(x, target)
        if target is None and place.sharding.memory_kind not in (None, "device"):
            return Place(place.sharding.with_memory_kind("device"), place.layout)
        return place


@fault("PUT-34")
class LayoutIsLost(Model):
    """Of a format only the sharding is heeded."""

    def place(self, x: Any, target: Target) -> Place:
        return super().place(x, target.sharding if isinstance(target, Format) else target)


# --- values in the host's own memory ----------------------------------------------------------------------------------


@fault("PUT-35")
class NumpyIsLocked(Model):
    """A NumPy array without dimensions is kept as a constant, and can no longer be written to."""

    def take(self, value: Any, target: Target, row: Row) -> Array:
        if isinstance(value, np.ndarray) and value.ndim == 0:
            value.flags.writeable = False
        return super().take(value, target, row)


@fault("PUT-36", "PUT-37", "PUT-38")
class FlagsStopAtTheHost(Model):
    """What becomes of a NumPy array's memory does not depend on the flags."""

    def borrows(self, data: np.ndarray, layout: Order, row: Row) -> bool:
        return super().borrows(data, layout, ALIAS)


@fault("PUT-36")
class CopyBorrowsReadOnly(Model):
    """A copy of a NumPy array that nobody can write to is none."""

    def borrows(self, data: np.ndarray, layout: Order, row: Row) -> bool:
        return super().borrows(data, layout, ALIAS if copies(row) and not data.flags.writeable else row)


@fault("PUT-37")
class DonationBorrowsReadOnly(Model):
    """A donating put takes over a NumPy array that nobody can write to."""

    def borrows(self, data: np.ndarray, layout: Order, row: Row) -> bool:
        return super().borrows(data, layout, ALIAS if row.donate and not data.flags.writeable else row)


@fault("PUT-38")
class AlignedIsReadLate(Model):
    """An aligned NumPy array is not copied before its copy is read."""

    def take(self, value: Any, target: Target, row: Row) -> Array:
        y = super().take(value, target, row)
        late = not row.alias and isinstance(value, np.ndarray) and value.ctypes.data % 64 == 0
        return read_late(value, y) if late else y


@fault("PUT-82")
class LargeIsReadLate(Model):
    """A large NumPy array is not copied before its copy is read."""

    def take(self, value: Any, target: Target, row: Row) -> Array:
        y = super().take(value, target, row)
        late = not row.alias and isinstance(value, np.ndarray) and value.nbytes > 2**20
        return read_late(value, y) if late else y


@fault("PUT-39")
class LentMemoryIsOverwritten(Model):
    """A program that is given an array over a NumPy array's memory writes its result there."""

    def reusable(self, buffer: Buffer, order: Order) -> bool:
        if buffer.lent and buffer.data.flags.writeable:
            buffer.seen = False
        return super().reusable(buffer, order)


class Watched(Buffer):
    """A buffer that is gone when its memory changes."""

    __slots__ = ("was",)

    def __init__(self, buffer: Buffer) -> None:
        super().__init__(buffer.device, buffer.kind, buffer.data, lent=buffer.lent, seen=buffer.seen)
        self.was = buffer.data.tobytes()

    @property
    def deleted(self) -> bool:
        return super().deleted or self.data.tobytes() != self.was


@fault("PUT-40")
class WritingDeletes(Model):
    """An array over a NumPy array's memory is gone as soon as that is written to."""

    def take(self, value: Any, target: Target, row: Row) -> Array:
        y = super().take(value, target, row)
        y.buffers = tuple([Watched(buffer) if buffer.lent else buffer for buffer in y.buffers])
        return y


@fault("PUT-74")
class BytesOfAnotherMachine(Model):
    """The bytes of a NumPy array are taken in this machine's order, whatever its dtype says."""

    def take(self, value: Any, target: Target, row: Row) -> Array:
        if isinstance(value, np.ndarray) and not value.dtype.isnative:
            value = value.view(value.dtype.newbyteorder())
        return super().take(value, target, row)


@fault("PUT-75")
class SwappedInPlace(Model):
    """The bytes of a NumPy array are brought into this machine's order where they lie."""

    def take(self, value: Any, target: Target, row: Row) -> Array:
        y = super().take(value, target, row)
        if isinstance(value, np.ndarray) and not value.dtype.isnative:
            value.byteswap(inplace=True)
        return y


# --- copies of what was donated, and puts of what is gone -------------------------------------------------------------


class Moved(Buffer):
    """A buffer over the memory of a donated one."""

    __slots__ = ()


@fault("PUT-41")
class CopyOfMovedIsNone(Model):
    """A copy of what came out of a donating put, to where it lies already, is the very same buffers."""

    def move(self, buffer: Buffer) -> Buffer:
        return Moved(buffer.device, buffer.kind, buffer.data, seen=buffer.seen)

    def keep(self, buffer: Buffer, row: Row) -> Buffer | None:
        return buffer if copies(row) and isinstance(buffer, Moved) else super().keep(buffer, row)


class Checking(Model):
    """A model that does something before it tells that what is put is deleted."""

    def check(self, leaves: Sequence[Any], targets: Sequence[Target], rows: Sequence[Row]) -> None:
        for leaf, target in zip(leaves, targets, strict=True):
            if isinstance(leaf, Array) and self.deleted(leaf):
                self.gone(leaf, target)
        super().check(leaves, targets, rows)

    def gone(self, x: Array, target: Target) -> None:
        raise NotImplementedError


@fault("PUT-42")
class NoShardsToPut(Checking):
    """A put of a deleted array to a sharding says that there are no shards, and not why."""

    def gone(self, x: Array, target: Target) -> None:
        if isinstance(target, Sharding):
            raise RuntimeError(f"there are 0 shards of {x.aval} to put on {target.num_devices} devices")


@fault("PUT-43")
class NeighboursGoToo(Checking):
    """A put of a deleted array deletes whatever lies as it lay."""

    def gone(self, x: Array, target: Target) -> None:
        for other in list(self.live.values()):
            if other.sharding == x.sharding:
                self.release(other)


@fault("PUT-44")
class CompiledBeforeItIsGone(Checking):
    """The program that would move a deleted array is compiled before anybody asks whether there is one."""

    def gone(self, x: Array, target: Target) -> None:
        self.counts["compile"] += 1


@fault("PUT-76")
class WrongTwice(Model):
    """Both flags on a deleted array end in an assertion."""

    def device_put(self, x: Any, device: Any = None, *, donate: Any = False, may_alias: Any = None) -> Any:
        if both(donate, may_alias) and isinstance(x, Array) and self.deleted(x):
            raise AssertionError("an array to donate has buffers")
        return super().device_put(x, device, donate=donate, may_alias=may_alias)


@fault("PUT-77")
class MovedMemoryIsFree(Model):
    """The memory of a donated array is given to the next one, although its output lies there."""

    free: tuple[np.ndarray, ...] = ()

    def donated(self, x: Array) -> None:
        self.free = tuple([buffer.data for buffer in x.buffers if not buffer.seen])
        super().donated(x)

    def taken(self, part: np.ndarray, layout: Order) -> np.ndarray:
        for number, data in enumerate(self.free):
            if (data.shape, data.dtype) == (part.shape, part.dtype) and lies_in(data, layout):
                self.free = self.free[:number] + self.free[number + 1 :]
                data[...] = part
                return data
        return super().taken(part, layout)


# --- several leaves ---------------------------------------------------------------------------------------------------


@fault("PUT-45")
class LaterLeavesFollow(Model):
    """From the second leaf on, every leaf is put where the second one is put."""

    def prefix(self, prefix: Any, tree: trees.Tree, name: str) -> list[Any]:
        said = super().prefix(prefix, tree, name)
        return said[:1] + said[1:2] * (len(said) - 1) if name == "device" else said


@fault("PUT-46")
class ListBecomesTuple(Model):
    """A list in a dict comes back as a tuple."""

    def device_put(self, x: Any, device: Any = None, *, donate: Any = False, may_alias: Any = None) -> Any:
        y = super().device_put(x, device, donate=donate, may_alias=may_alias)
        if isinstance(y, dict):
            return {key: tuple(it) if isinstance(it, list) else it for key, it in y.items()}
        return y


@fault("PUT-78")
class NamesAreLost(Model):
    """A named tuple comes back as a plain one."""

    def device_put(self, x: Any, device: Any = None, *, donate: Any = False, may_alias: Any = None) -> Any:
        y = super().device_put(x, device, donate=donate, may_alias=may_alias)
        return tuple(y) if isinstance(y, tuple) else y


# Alone, such a leaf stays.
@fault("PUT-47", also=["PUT-45"])
class DonationSpreads(Model):
    """Where one leaf is donated, those that are copied go with it."""

    donates = False

    def check(self, leaves: Sequence[Any], targets: Sequence[Target], rows: Sequence[Row]) -> None:
        super().check(leaves, targets, rows)
        self.donates = any(row.donate for row in rows)

    def leaf(self, x: Any, target: Target, row: Row) -> Any:
        y = super().leaf(x, target, row)
        if self.donates and copies(row) and isinstance(x, Array):
            self.release(x)
        return y


@fault("PUT-48")
class LeafContradictionUnnamed(Refusing):
    """The refusal of both flags on a leaf of a pytree names neither."""

    def refused(self, x: Any, device: Any, error: ValueError) -> None:
        if isinstance(x, dict) and "donate and may_alias" in str(error):
            raise ValueError("the flags of a leaf contradict each other") from error


@fault("PUT-49")
class DonateIsBlamed(Model):
    """Where may_alias does not fit a pytree, the refusal names donate."""

    def prefix(self, prefix: Any, tree: trees.Tree, name: str) -> list[Any]:
        return super().prefix(prefix, tree, "donate" if name == "may_alias" else name)


# Where the leaves lay cannot be asked any more: the look at them is an error.
@fault("PUT-50", also=["PUT-51"])
class RefusedTreeIsGone(Refusing):
    """The arrays of a pytree are gone when the put of it is refused."""

    def refused(self, x: Any, device: Any, error: ValueError) -> None:
        for leaf in trees.leaves(x) if isinstance(x, dict) else ():
            if isinstance(leaf, Array):
                self.release(leaf)


@fault("PUT-50")
class RefusedTreeIsLocked(Refusing):
    """The NumPy arrays of a pytree stay locked when the put of it is refused."""

    def refused(self, x: Any, device: Any, error: ValueError) -> None:
        for leaf in trees.leaves(x) if isinstance(x, dict) else ():
            if isinstance(leaf, np.ndarray):
                leaf.flags.writeable = False


@fault("PUT-51")
class RefusedTreeMoves(Refusing):
    """The last array of a pytree lies in other memory when the put of it is refused."""

    def refused(self, x: Any, device: Any, error: ValueError) -> None:
        if isinstance(x, dict):
            elsewhere(self, trees.leaves(x)[-1])


@fault("PUT-52")
class RefusedTreeCompiles(Refusing):
    """The program that would move a pytree is compiled before the put of it is refused."""

    def refused(self, x: Any, device: Any, error: ValueError) -> None:
        if isinstance(x, dict):
            self.counts["compile"] += 1


@fault("PUT-53")
class SharedLeafIsLost(Model):
    """A call that donates an array twice or keeps it too is refused, and the array is gone."""

    def check_donated_once(self, leaves: Sequence[Any], rows: Sequence[Row]) -> None:
        try:
            super().check_donated_once(leaves, rows)
        except ValueError:
            for leaf, row in zip(leaves, rows, strict=True):
                if row.donate:
                    self.release(leaf)
            raise


@fault("PUT-54")
class FirstLeafDecides(Model):
    """An array that an earlier leaf keeps is kept by the later ones, and one that it donates is refused there."""

    def check_donated_once(self, leaves: Sequence[Any], rows: Sequence[Row]) -> None:
        kept: set[int] = set()
        assert isinstance(rows, list)
        for number, (leaf, row) in enumerate(zip(leaves, rows, strict=True)):
            if not row.donate:
                kept.add(id(leaf))
            elif id(leaf) in kept:
                rows[number] = COPY
        super().check_donated_once(leaves, rows)
