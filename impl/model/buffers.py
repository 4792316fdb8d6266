"""Buffers: the bytes of one shard, in one memory of one device."""

from __future__ import annotations

import numpy as np

from .devices import Device


class Buffer:
    """The bytes of one shard. Arrays that hold the same buffer share its fate; a buffer is deleted once, for all.

    `lent` memory is the host's own. Memory that is `seen` elsewhere, by another buffer or by the host as a view, never
    changes: nothing is written over it.
    """

    __slots__ = ("_data", "device", "kind", "lent", "seen")

    def __init__(self, device: Device, kind: str, data: np.ndarray, *, lent: bool = False, seen: bool = False) -> None:
        self.device, self.kind, self.lent, self.seen = device, kind, lent, seen
        self._data: np.ndarray | None = data

    @property
    def deleted(self) -> bool:
        return self._data is None

    @property
    def data(self) -> np.ndarray:
        """The shard as NumPy has it; its strides are the layout."""
        if self._data is None:
            raise RuntimeError("a deleted buffer was read")  # arrays are asked first, so nobody meets this
        return self._data

    @property
    def span(self) -> tuple[int, int]:
        """Where its bytes lie: the first address, and one past the last."""
        start: int = self.data.ctypes.data
        return start, start + self.data.nbytes

    def again(self) -> Buffer:
        """Another buffer over the same memory, with a fate of its own."""
        self.seen = True
        return Buffer(self.device, self.kind, self.data, lent=self.lent, seen=True)

    def delete(self) -> None:
        self._data = None


def room(shape: tuple[int, ...], dtype: np.dtype, order: tuple[int, ...]) -> np.ndarray:
    """Fresh memory for a shard whose dimensions lie in that order, slowest first; others follow behind."""
    if order == tuple(range(len(order))):
        return np.empty(shape, dtype)
    whole = (*order, *range(len(order), len(shape)))
    inverse = np.argsort(whole)
    return np.empty([shape[it] for it in whole], dtype).transpose(inverse)


def cut(value: np.ndarray, index: tuple[slice, ...], order: tuple[int, ...]) -> np.ndarray:
    """A part of a value in memory of its own."""
    part = value[index]
    fresh = room(part.shape, part.dtype, order)
    fresh[...] = part
    return fresh


def row_major(ndim: int) -> tuple[int, ...]:
    """The layout that every array has unless another one is asked for: the last dimension innermost."""
    return tuple(range(ndim))


def lies_in(data: np.ndarray, order: tuple[int, ...]) -> bool:
    """Whether a shard's memory has that order of dimensions."""
    whole = (*order, *range(len(order), data.ndim))
    return bool(data.transpose(whole).flags.c_contiguous)
