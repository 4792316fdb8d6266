"""device_put, and the two flags: what becomes of its input and where its output lies.

Read from the top: a call is checked whole before anything happens, then each leaf is put; a leaf is laid out shard by
shard, and each shard is shared, moved or copied.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import plan, texts, trees
from .arrays import Array, Arrays, kind_of
from .avals import ShapeDtypeStruct, aval_of
from .buffers import Buffer, cut, lies_in, room, row_major
from .contexts import tracing_now
from .devices import Device
from .layouts import Format
from .shardings import NamedSharding, Sharding, SingleDeviceSharding, abstract, renumbered
from .specs import PartitionSpec
from .words import shown

Target = Device | Sharding | Format | PartitionSpec | None
Order = tuple[int, ...]
ALIGNMENT = 64
"""The host's memory is taken for an array's own only from a multiple of that many bytes on."""


@dataclass(frozen=True)
class Row:
    """A row of the flag table: whether the input is donated, and whether the output may share its memory."""

    donate: bool
    alias: bool


COPY = Row(donate=False, alias=False)


@dataclass(frozen=True)
class Place:
    """Where a leaf is to lie, and in which layout."""

    sharding: Sharding
    layout: Order


class Puts(Arrays):
    """The steps of device_put."""

    def device_put(self, x: Any, device: Any = None, *, donate: Any = False, may_alias: Any = None) -> Any:
        """Puts each leaf of a pytree to its place, with its flags; `device`, `donate` and `may_alias` are prefixes.

        Whatever is refused is refused before any leaf is touched. PUT-03, PUT-04, PUT-05, PUT-50, PUT-51, PUT-52. Both
        flags at once are refused whatever is put. PUT-01, PUT-02, PUT-23, PUT-48, PUT-58, PUT-76. What comes back has
        the structure of what was put. PUT-46, PUT-78, ORD-40, ABS-52, ABS-55.
        """
        leaves, tree = trees.flatten(x)
        targets = self.prefix(device, tree, "device")
        rows = [
            self.row(*flags)
            for flags in zip(
                self.prefix(donate, tree, "donate"), self.prefix(may_alias, tree, "may_alias"), strict=True
            )
        ]
        self.check(leaves, targets, rows)
        return trees.unflatten(tree, [self.leaf(*it) for it in zip(leaves, targets, rows, strict=True)])

    def prefix(self, prefix: Any, tree: trees.Tree, name: str) -> list[Any]:
        """What an argument says of each leaf; one that is no prefix is refused and named.

        PUT-45, PUT-49, ORD-41, ORD-42, ORD-43.
        """
        return trees.spread(prefix, tree, name)

    def row(self, donate: bool | None, may_alias: bool | None) -> Row:
        """The row that two flags mean; both are a contradiction. PUT-01, PUT-02, PUT-48, PUT-58, PUT-76."""
        if donate and may_alias:
            raise ValueError("donate and may_alias cannot both be True: memory is either handed over or shared")
        return Row(bool(donate), self.aliases(bool(donate), may_alias))

    def aliases(self, donate: bool, may_alias: bool | None) -> bool:
        """None means that the output may share, unless the input is donated. PUT-27, PUT-28."""
        return not donate if may_alias is None else may_alias

    def check(self, leaves: Sequence[Any], targets: Sequence[Target], rows: Sequence[Row]) -> None:
        """All that can be refused of a call is refused here.

        PUT-42, PUT-43, PUT-44, PUT-47, PUT-50, PUT-53, ORD-34, ABS-54.
        """
        self.check_donated_once(leaves, rows)
        for leaf, target in zip(leaves, targets, strict=True):
            if isinstance(leaf, Array):
                self.touch(leaf)
            elif isinstance(leaf, ShapeDtypeStruct):
                raise TypeError(f"{shown(leaf)} stands for an array, and has no value to put")
            else:
                aval_of(leaf)
            place = self.place(leaf, target)
            if tracing_now() is None and abstract(place.sharding):
                raise self.nowhere(place.sharding)

    def nowhere(self, sharding: Sharding) -> Exception:
        """The error that a put outside of a program takes devices, which an abstract mesh has none of.

        ABS-52, ABS-53, ABS-54, ABS-55.
        """
        return ValueError(f"device_put takes a place with devices, and an AbstractMesh has none: got {sharding}")

    def check_donated_once(self, leaves: Sequence[Any], rows: Sequence[Row]) -> None:
        """Memory that one leaf donates may be no other leaf's, whatever the order of the leaves. PUT-53, PUT-54."""
        owners: dict[int, tuple[int, bool]] = {}
        for number, (leaf, row) in enumerate(zip(leaves, rows, strict=True)):
            for buffer in leaf.buffers if isinstance(leaf, Array) else ():
                first, donated = owners.setdefault(id(buffer), (number, row.donate))
                if first != number and (donated or row.donate):
                    raise ValueError(
                        f"leaves {first} and {number} of what is put share their memory, and one of them is donated: "
                        "an array that is donated can be there only once"
                    )

    def leaf(self, x: Any, target: Target, row: Row) -> Any:
        """Puts one leaf: an array, a value of the host's, or, within a program, what stands for an array. PUT-55."""
        if tracing_now() is not None:
            return self._model.put_inside(x, target, row)
        return self.put(x, target, row) if isinstance(x, Array) else self.take(x, target, row)

    # --- an array -----------------------------------------------------------------------------------------------------

    def put(self, x: Array, target: Target, row: Row) -> Array:
        """Puts an array; donating it is never an error.

        PUT-06, PUT-07, PUT-08, PUT-09, PUT-11, PUT-13, PUT-14, PUT-15, PUT-16, PUT-18, PUT-19, PUT-20, PUT-21, PUT-29,
        ORD-06, ORD-07, ORD-08, ORD-10, ORD-11, ORD-30, ORD-31, ORD-35, ORD-37.
        """
        self.touch(x)
        place = self.place(x, target)
        buffers = self.lay(x, place, row)
        y = Array(self._model, x.aval, place.sharding, buffers, self.commits(x, target), place.layout)
        if row.donate:
            self.donated(x)
        return y

    def place(self, x: Any, target: Target) -> Place:
        """Where a leaf is to lie: where it was told to, or where it lies.

        PUT-07, PUT-33, PUT-34, ORD-02, ORD-03, ORD-04, ORD-30, ORD-33, ORD-34, MSH-68, MEM-15, MEM-47.
        """
        if target is None and isinstance(x, Array):
            return Place(x.sharding, x.layout)
        ndim = np.ndim(x) if not isinstance(x, Array) else x.ndim
        layout = row_major(ndim)
        if isinstance(target, Format):
            layout = tuple(target.layout.major_to_minor) if target.layout is not None else layout
            target = target.sharding
            if sorted(layout) != list(range(ndim)):
                raise ValueError(f"the layout {layout} does not order the {ndim} dimensions of the array")
        if isinstance(target, PartitionSpec) and (mesh := self._model.mesh_that_places()) is not None:
            target = NamedSharding(mesh, target)
        if target is None:
            return Place(SingleDeviceSharding(self._model.default_device()), layout)
        if isinstance(target, Device):
            return Place(SingleDeviceSharding(target), layout)
        if not isinstance(target, Sharding):
            raise ValueError(f"device_put takes a device, a sharding or a format as its device: got {shown(target)}")
        target.check(x.shape if isinstance(x, Array) else np.shape(x))
        return Place(target, layout)

    def commits(self, x: Any, target: Target) -> bool:
        """Whether the output is bound to its devices: if a place was asked for, or as the input was. PUT-08, ORD-05."""
        return target is not None or (isinstance(x, Array) and x.committed)

    def lay(self, x: Array, place: Place, row: Row) -> tuple[Buffer, ...]:
        """Lays an array out anew, shard by shard. PUT-06, ORD-01, ORD-02, ORD-32."""
        if self.reorders(x.sharding, place.sharding):
            x = self.reorder(x, place.sharding)
        moves = plan.plan(x.sharding, place.sharding, x.shape)
        return tuple(
            [
                self.shard(x, moves, position, device, kind_of(place.sharding, device), place.layout, row)
                for position, device in enumerate(place.sharding.ordered)
            ]
        )

    def reorders(self, old: Sharding, new: Sharding) -> bool:
        """Whether two shardings by name have the same devices in another order: that takes a program. ORD-20."""
        named = isinstance(old, NamedSharding) and isinstance(new, NamedSharding)
        return named and old.ordered != new.ordered and self.same_set(old, new)

    def same_set(self, old: Sharding, new: Sharding) -> bool:
        """Whether two shardings have the same devices, in whatever order."""
        return old.device_set == new.device_set

    def reorder(self, x: Array, new: Sharding) -> Array:
        """The same shards, where they are, as an array over the devices in their new order; and the module to move it.

        ORD-20, ORD-21.
        """
        old = self.renumber(x.sharding, new)
        held = dict(zip(x.sharding.ordered, x.buffers, strict=True))
        self.write(lambda: self.text_of_reorder(x, old, new))
        return Array(self._model, x.aval, old, tuple(held[device] for device in old.ordered), x.committed, x.layout)

    def renumber(self, old: Sharding, new: Sharding) -> Sharding:
        """The old sharding over the new one's devices: its mesh says in which order it takes them. ORD-20."""
        return renumbered(old, new)

    def text_of_reorder(self, x: Array, old: Sharding, new: Sharding) -> str:
        """The module of the program that moves an array between shardings over one list of devices. ORD-20, ORD-21."""
        sides = [texts.Declared(x.shape, x.dtype, sharding) for sharding in (old, new)]
        return texts.module(sides[:1], sides[1:], partitioner=self._model.partitioner, devices=len(new.ordered))

    def shard(
        self, x: Array, moves: plan.Plan, position: int, device: Device, kind: str, layout: Order, row: Row
    ) -> Buffer:
        """One shard of the output: the old one shared or moved, where it is just that one; else a copy of pieces."""
        whole = moves.whole(position)
        if whole is not None:
            old = x.buffers[whole]
            if old.kind == kind and lies_in(old.data, layout):
                kept = self.keep(old, row)
                if kept is not None:
                    return kept
        return self.copy(x, moves, position, device, kind, layout)

    def keep(self, buffer: Buffer, row: Row) -> Buffer | None:
        """What becomes of a shard that stays as it is: it is shared, moved or (None) copied.

        PUT-17, PUT-20, PUT-21, PUT-28, PUT-41.
        """
        if row.alias:
            return self.share(buffer)
        if row.donate and not buffer.lent:
            return self.move(buffer)
        return None

    def share(self, buffer: Buffer) -> Buffer:
        """The memory of an input in the output's hands too; each goes its own way. PUT-09, PUT-10, PUT-29."""
        return buffer.again()

    def move(self, buffer: Buffer) -> Buffer:
        """The memory of a donated buffer in the output's hands. PUT-13, PUT-14, PUT-77."""
        return Buffer(buffer.device, buffer.kind, buffer.data, seen=buffer.seen)

    def copy(self, x: Array, moves: plan.Plan, position: int, device: Device, kind: str, layout: Order) -> Buffer:
        """A shard on memory of its own, put together from pieces.

        PUT-06, PUT-17, PUT-18, PUT-19, PUT-20, PUT-21, PUT-34, PUT-41, PUT-66, PUT-67, ORD-01.
        """
        like = x.buffers[0].data
        data = room(moves.new.sizes + like.shape[x.ndim :], like.dtype, layout)
        for piece in moves.pieces(position):
            data[piece.new] = x.buffers[piece.source].data[piece.old]
        return Buffer(device, kind, data)

    def donated(self, x: Array) -> None:
        """A donated input is deleted, as a whole. PUT-11, PUT-12, PUT-31, PUT-32, PUT-47, PUT-77, ORD-09, ORD-36."""
        self.release(x)

    # --- a value of the host's ----------------------------------------------------------------------------------------

    def take(self, value: Any, target: Target, row: Row) -> Array:
        """Puts a value of the host's, which stays as it is under every row.

        PUT-35, PUT-38, PUT-40, PUT-74, PUT-75, PUT-82.
        """
        aval = aval_of(value)
        place = self.place(value, target)
        plain = type(value) is np.ndarray and value.dtype == aval.dtype  # in this machine's order of bytes
        data = value if plain else np.asarray(value, aval.dtype)
        tiles = place.sharding.tiles(aval.shape)
        buffers = []
        for position, device in enumerate(place.sharding.ordered):
            kind = kind_of(place.sharding, device)
            alone = len(place.sharding.ordered) == 1 and kind == device.default_memory().kind
            if alone and data is value and self.borrows(data, place.layout, row):
                buffers.append(Buffer(device, kind, data.view(), lent=True, seen=True))
            else:
                buffers.append(Buffer(device, kind, self.taken(data[tiles.index(position)], place.layout)))
        return Array(self._model, aval, place.sharding, tuple(buffers), self.commits(value, target), place.layout)

    def borrows(self, data: np.ndarray, layout: Order, row: Row) -> bool:
        """Whether the host's memory is taken for the array's own. PUT-36, PUT-37, PUT-38, PUT-40."""
        return row.alias and lies_in(data, layout) and data.ctypes.data % ALIGNMENT == 0

    def taken(self, part: np.ndarray, layout: Order) -> np.ndarray:
        """A part of a value of the host's on memory of the array's own, at once. PUT-36, PUT-37, PUT-38, PUT-82."""
        return cut(part, (), layout)
