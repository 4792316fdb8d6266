"""Arrays: a value cut into shards, each in a buffer; and the steps by which arrays are read, deleted and made."""

from __future__ import annotations

import itertools
import json
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from . import trees
from .avals import Aval
from .buffers import Buffer, cut, lies_in, row_major
from .devices import Device
from .layouts import Format, Layout
from .operators import Operators
from .shardings import Sharding, SingleDeviceSharding
from .words import shown

if TYPE_CHECKING:
    from .model import Model


class Array(Operators):
    """An array as a user has it: a shape and a dtype, a sharding, and a buffer for each of its devices, in order.

    A `committed` array is bound to its devices; `layout` is the order of dimensions in memory, slowest first.
    """

    model: Model

    def __init__(
        self,
        model: Model,
        aval: Aval,
        sharding: Sharding,
        buffers: tuple[Buffer, ...],
        committed: bool,
        layout: tuple[int, ...] | None = None,
    ) -> None:
        self.model, self.aval, self.sharding, self.buffers = model, aval, sharding, buffers
        self.committed = committed
        self.layout = layout or row_major(len(aval.shape))
        model.live[next(_numbers)] = self

    @property
    def format(self) -> Format:
        return Format(Layout(self.layout), self.sharding)

    @property
    def is_fully_addressable(self) -> bool:
        return self.sharding.is_fully_addressable

    @property
    def is_fully_replicated(self) -> bool:
        return self.sharding.is_fully_replicated

    @property
    def device(self) -> Device | Sharding:
        return self.sharding.ordered[0] if len(self.buffers) == 1 else self.sharding

    def devices(self) -> set[Device]:
        return set(self.sharding.ordered)

    @property
    def addressable_shards(self) -> list[Shard]:
        return [shard for shard in self.global_shards if shard.device.process_index == 0]

    @property
    def global_shards(self) -> list[Shard]:
        return self.model.shards(self)

    def addressable_data(self, index: int) -> Array:
        """The shard of that number, as an array on one device that shares its buffer."""
        return self.addressable_shards[index].data

    def is_deleted(self) -> bool:
        return self.model.deleted(self)

    def delete(self) -> None:
        self.model.release(self)

    def is_ready(self) -> bool:
        self.model.touch(self)
        return True

    def copy_to_host_async(self) -> None:
        self.model.touch(self)

    def copy(self) -> Array:
        copied: Array = self.__copy__()
        return copied

    def to_device(self, device: Any) -> Array:
        moved: Array = self.model.device_put(self, device)
        return moved

    def block_until_ready(self) -> Array:
        self.model.touch(self)
        return self  # nothing here is asynchronous

    def unsafe_buffer_pointer(self) -> int:
        self.model.touch(self)
        if len(self.buffers) != 1:
            raise RuntimeError(f"an array has one pointer if it lies on one device: it lies on {len(self.buffers)}")
        return self.buffers[0].span[0]

    def _held(self, kind: type) -> Any:
        return self.model.view(self).item()

    def _index(self) -> int:
        return int(self.model.view(self))

    def item(self) -> Any:
        self.model.touch(self)
        if self.size != 1:
            raise ValueError(f"an array of one element has an item, and one of shape {self.shape} has none")
        return self.model.view(self).item()

    def tolist(self) -> Any:
        return self.model.view(self).tolist()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        view = self.model.view(self)
        return np.array(view, dtype) if copy or (dtype is not None and dtype != view.dtype) else view

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0  # the host's memory, where the model keeps all of it

    def __dlpack__(self, **asked: Any) -> Any:
        if len(self.buffers) != 1:
            raise BufferError(f"an array is handed over from one device; this one lies on {len(self.buffers)}")
        return self.model.lend(self).__dlpack__(**asked)

    def __copy__(self) -> Any:
        return self.model.device_put(self, may_alias=False)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return self.model.device_put(self, may_alias=False)

    def __reduce__(self) -> tuple[Any, ...]:
        """An array is pickled as its value: what is read back is NumPy's, to be put where the reader wants it."""
        return tuple(np.array(self.model.view(self)).__reduce__())

    def __repr__(self) -> str:
        self.model.touch(self)
        dtype = f"dtype={self.dtype}" + (", weak_type=True" if self.weak_type else "")
        if not isinstance(self.dtype, np.dtype) or not self.model.readable(self):
            return f"Array(shape={self.shape}, {dtype})"
        value = np.array2string(self.model.value(self), separator=", ", prefix="Array(", suffix=",")
        return f"Array({value}, {dtype})"

    def __str__(self) -> str:
        self.model.touch(self)
        shown = isinstance(self.dtype, np.dtype) and self.model.readable(self)
        return str(self.model.value(self)) if shown else repr(self)

    def __format__(self, spec: str) -> str:
        return format(self.model.view(self)[()], spec)  # a scalar's own format; an array has none


_numbers = itertools.count()


@dataclass(frozen=True)
class Shard:
    """One device's part of an array: which part it is, and the part as an array on that device alone."""

    device: Device
    index: tuple[slice, ...]
    replica_id: int
    data: Array


class Arrays:
    """The steps of the model that read, delete and make arrays."""

    live: weakref.WeakValueDictionary[int, Array]

    def deleted(self, x: Array) -> bool:
        """An array is gone as a whole as soon as one of its buffers is. PUT-12, PUT-22."""
        return any(buffer.deleted for buffer in x.buffers)

    def touch(self, x: Array) -> None:
        """What every use does first: a deleted array is an error that says so. PUT-23, PUT-25, PUT-26, PUT-42."""
        if self.deleted(x):
            raise RuntimeError(f"Array has been deleted with shape={x.aval}.")

    def release(self, x: Array) -> None:
        """Deletes an array as a whole, and no other; once more is no error.

        PUT-12, PUT-23, PUT-43, DON-50, DON-51, DON-53.
        """
        for buffer in x.buffers:
            buffer.delete()

    def shards(self, x: Array) -> list[Shard]:
        """The parts of an array, as arrays that share its buffers."""
        self.touch(x)
        tiles = x.sharding.tiles(x.shape)
        seen: dict[tuple[int, ...], int] = {}
        found = []
        for position, buffer in enumerate(x.buffers):
            tile = tuple(tiles.coordinates[position].tolist())
            replica = seen[tile] = seen.get(tile, -1) + 1
            found.append(Shard(buffer.device, tiles.index(position), replica, self._part(x, tiles.sizes, buffer)))
        return found

    def _part(self, x: Array, sizes: tuple[int, ...], buffer: Buffer) -> Array:
        aval = Aval(sizes, x.aval.dtype, x.aval.weak_type)
        place = SingleDeviceSharding(buffer.device, memory_kind=buffer.kind)
        return Array(self._model, aval, place, (buffer,), committed=True, layout=x.layout)

    def readable(self, x: Array) -> bool:
        """Whether devices of this process hold all of it."""
        return x.is_fully_addressable or (x.is_fully_replicated and bool(x.sharding.addressable_devices))

    def view(self, x: Array) -> np.ndarray:
        """The value for the host's eyes: one shard's own memory where that is all of it. Its bytes stay.

        PUT-26, PUT-30.
        """
        self.touch(x)
        if not isinstance(x.dtype, np.dtype):
            raise TypeError(f"an array of dtype {x.dtype} has no numbers that NumPy knows; ask for its key_data")
        if not self.readable(x):
            raise RuntimeError(f"an array over the devices of other processes cannot be read whole: {x.sharding}")
        if not x.is_fully_replicated:
            return self.value(x)
        seen = self.lend(x).view()
        seen.flags.writeable = False
        return seen

    def lend(self, x: Array) -> np.ndarray:
        """The memory of an array of which one buffer is all; from now on that is not written over. PUT-30."""
        self.touch(x)
        x.buffers[0].seen = True
        return x.buffers[0].data

    def value(self, x: Array) -> np.ndarray:
        """The whole value, on memory of its own; of an array of keys, the numbers beneath."""
        self.touch(x)
        if x.is_fully_replicated:
            return np.array(x.buffers[0].data)
        tiles = x.sharding.tiles(x.shape)
        first = x.buffers[0].data
        whole = np.empty(x.shape + first.shape[x.ndim :], first.dtype)
        for position, buffer in enumerate(x.buffers):
            whole[tiles.index(position)] = buffer.data
        return whole

    def spread(
        self,
        value: np.ndarray,
        sharding: Sharding,
        *,
        committed: bool,
        aval: Aval | None = None,
        layout: tuple[int, ...] | None = None,
        reuse: Sequence[Buffer] = (),
    ) -> Array:
        """A new array of that value, on memory of its own: fresh, or that of buffers to reuse. PUT-56, MEM-16.

        These are all buffers of an array into which this one fits, so that each is on the device of its shard.
        """
        aval = aval or Aval(value.shape, value.dtype)
        order = layout or row_major(len(aval.shape))
        tiles = sharding.tiles(aval.shape)
        buffers = []
        for position, device in enumerate(sharding.ordered):
            kind, part = kind_of(sharding, device), value[tiles.index(position)]
            if reuse and self.reusable(reuse[position], order):
                reuse[position].data[...] = part
                buffers.append(Buffer(device, kind, reuse[position].data))
            else:
                buffers.append(Buffer(device, kind, cut(part, (), order)))
        return Array(self._model, aval, sharding, tuple(buffers), committed, order)

    def reusable(self, buffer: Buffer, order: tuple[int, ...]) -> bool:
        """Whether a new shard may be written over a donated buffer: nobody else sees it.

        PUT-30, PUT-39, PUT-77, DON-62.
        """
        return not buffer.seen and lies_in(buffer.data, order)

    def block_until_ready(self, tree: Any) -> Any:
        """Waits for the arrays of a pytree: nothing here is asynchronous, but a deleted array is told.

        PUT-26, DON-49.
        """
        for leaf in trees.leaves(tree):
            if isinstance(leaf, Array):
                self.touch(leaf)
        return tree

    def device_get(self, tree: Any) -> Any:
        """The values of a pytree of arrays, in the host's memory. PUT-26, PUT-30."""
        return trees.map(lambda leaf: self.got(leaf) if isinstance(leaf, Array) else leaf, tree)

    def got(self, x: Array) -> np.ndarray | Array:
        """An array in the host's memory; of keys, itself, as the host has no numbers for them. MEM-45."""
        self.touch(x)
        return self.view(x) if isinstance(x.dtype, np.dtype) else x

    def make_array_from_single_device_arrays(
        self, shape: int | Sequence[int], sharding: Sharding, arrays: Sequence[Array]
    ) -> Array:
        """An array of shards that are there already, one on each device of a sharding; it shares their buffers."""
        if not isinstance(sharding, Sharding):
            raise TypeError(f"an array of shards takes a sharding: got {shown(sharding)}")
        if not isinstance(arrays, list | tuple) or not all(isinstance(x, Array) for x in arrays):
            raise TypeError(f"an array of shards takes a list of arrays: got {shown(arrays)}")
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        sharding.check(shape)
        sizes = sharding.tiles(shape).sizes
        held = {x.sharding.ordered[0]: x for x in arrays if len(x.buffers) == 1}
        if len(held) != len(arrays) or set(held) != set(sharding.ordered):
            devices = [sorted(device.id for device in some) for some in (sharding.ordered, held)]
            raise ValueError(f"one array is wanted on each of the devices {devices[0]}; there are some on {devices[1]}")
        for x in arrays:
            self.touch(x)
            if x.shape != sizes:
                raise ValueError(
                    f"{sharding} cuts {shape} into shards of {sizes}; one of the arrays has shape {x.shape}"
                )
            if x.dtype != arrays[0].dtype:
                raise ValueError(f"the shards of an array have one dtype: got {arrays[0].dtype} and {x.dtype}")
        buffers = tuple(held[device].buffers[0] for device in sharding.ordered)
        return Array(self._model, Aval(shape, arrays[0].dtype), sharding, buffers, committed=True)

    def live_arrays(self, platform: str | None = None) -> list[Array]:
        """Every array that is alive. PUT-24."""
        if platform is not None:
            self._model.devices(platform)  # which refuses one that there is not
        alive = [x for x in list(self.live.values()) if not self.deleted(x)]
        return [x for x in alive if platform in (None, x.sharding.ordered[0].platform)]

    def device_memory_profile(self) -> bytes:
        """How many bytes live arrays hold on each device, as JSON. PUT-24."""
        held: dict[str, int] = {}
        buffers = {id(buffer): buffer for x in self.live_arrays() for buffer in x.buffers}
        for buffer in buffers.values():
            held[repr(buffer.device)] = held.get(repr(buffer.device), 0) + buffer.data.nbytes
        return json.dumps(held).encode()

    def write(self, text: Callable[[], str]) -> None:
        """Keeps the text of a module that is compiled while somebody looks."""
        if self._model.modules is not None:
            self._model.modules.append(text())

    @property
    def _model(self) -> Model:
        """This model, whose steps are those of all its parts: what one part asks of another, it asks of this."""
        return self  # type: ignore[return-value]


def kind_of(sharding: Sharding, device: Device) -> str:
    """The kind of memory that a shard lies in: the one named, else the device's default. PUT-33."""
    kind: str = sharding.memory_kind or device.default_memory().kind
    return kind
