"""The values that probes put, and how they make arrays of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from .places import Place, at


@dataclass(frozen=True)
class Values:
    """The numbers 0, 1, ... as an array, over and over: 64 of them where `dtype` has room for that, else `below`.

    A `key` is an array of PRNG keys; `dtype` and `shape` are those of the numbers in them.
    """

    dtype: str
    shape: tuple[int, ...]
    below: int = 64
    key: bool = False

    @property
    def rank(self) -> int:
        """How many dimensions the array has."""
        return len(self.shape) - self.key


ARRAYS = {
    "f32_8x8": Values("float32", (8, 8)),
    "b1_8x8": Values("bool", (8, 8), below=2),
    "i32_8x8": Values("int32", (8, 8)),
    "u8_8x8": Values("uint8", (8, 8)),
    "i8_8x8": Values("int8", (8, 8)),
    "i16_8x8": Values("int16", (8, 8)),
    "u16_8x8": Values("uint16", (8, 8)),
    "u32_8x8": Values("uint32", (8, 8)),
    "f16_8x8": Values("float16", (8, 8)),
    "bf16_8x8": Values("bfloat16", (8, 8)),
    "c64_8x8": Values("complex64", (8, 8)),
    "f8_8x8": Values("float8_e4m3fn", (8, 8), below=16),
    "i4_8x8": Values("int4", (8, 8), below=8),
    "key_8x8": Values("uint32", (8, 8, 2), key=True),
    "f32_8": Values("float32", (8,), below=8),
    "f32_16": Values("float32", (16,), below=16),
    "f32_16x8": Values("float32", (16, 8)),
    "f32_2x2x4x4": Values("float32", (2, 2, 4, 4)),
    "f32_0x8": Values("float32", (0, 8)),
    "f32_0d": Values("float32", ()),
    "f32_wide": Values("float32", (3072, 3072)),  # copying it takes longer than returning
    "b1_0d": Values("bool", (), below=2),
    "i32_0d": Values("int32", ()),
    "c64_0d": Values("complex64", ()),
}

OPTIONAL = ("float8_e4m3fn", "int4")
"""The dtypes that are capabilities: a case with one needs `dtype.NAME`."""

SCALARS = ("np_scalar", "python")
HOSTS = ("np_aligned", "np_misaligned", "np_strided", "np_columns", "np_swapped", "np_readonly", *SCALARS)
"""Sources in the host's own memory. NumPy arrays that start on a multiple of 64 bytes and four bytes past one, of which
every other element is meant, with the first dimension innermost, with the bytes of each element the other way round,
and read-only (aligned); NumPy's and Python's scalars."""


def value(array: str, past: int = 4) -> np.ndarray:
    """What the array holds, on memory of its own.

    It starts `past` bytes past a multiple of 64. Unless that is 0, no backend takes the host's memory for the array's
    own: such an array could not be donated.
    """
    values = ARRAYS[array]
    dtype = np.dtype(values.dtype)
    count = math.prod(values.shape)
    holds = np.arange(3, 4) if count == 1 else np.arange(values.below)
    room = np.empty(count * dtype.itemsize + 128, np.uint8)
    start = (past - room.ctypes.data) % 64
    fresh = room[start : start + count * dtype.itemsize].view(dtype)
    fresh.reshape(-1, holds.size)[...] = (holds % values.below).astype(dtype)
    return fresh.reshape(values.shape)


def make(jax: Any, source: str, array: str) -> Any:
    """A fresh array at a source, its transfer done."""
    if source in HOSTS:
        return HOST[source](array)
    holds = jax.random.wrap_key_data(value(array)) if ARRAYS[array].key else value(array)
    return jax.block_until_ready(jax.device_put(holds, at(source).make(jax)))


def placed(jax: Any, place: Place, array: str) -> Any:
    """A fresh array at any other place, its transfer done."""
    holds = jax.random.wrap_key_data(value(array)) if ARRAYS[array].key else value(array)
    return jax.block_until_ready(jax.device_put(holds, place.make(jax)))


def numbers(jax: Any, array: str, x: Any) -> Any:
    """The array that holds the numbers of `x`: itself, or what lies under an array of keys."""
    return jax.random.key_data(x) if ARRAYS[array].key else x


def spans(jax: Any, see: Any, source: str, array: str, x: Any) -> list[tuple[int, int]]:
    """The bytes of each shard of an input, or those of the host's memory that it may touch."""
    return _extent(x) if source in HOSTS else see.spans(numbers(jax, array, x))


def state(jax: Any, see: Any, source: str, array: str, x: Any) -> str:
    """What became of an input: as `see.state` says it; one in the host's memory is "intact" or "changed"."""
    return _kept(source, array, x) if source in HOSTS else see.state(numbers(jax, array, x), value(array))


def _strided(array: str) -> np.ndarray:
    every = np.repeat(value(array, 0), 2, axis=-1)
    return every[..., ::2]


def _columns(array: str) -> np.ndarray:
    """In memory the other way round, and aligned."""
    turned = value(array, 0)
    turned[...] = value(array).T
    return turned.T


def _swapped(array: str) -> np.ndarray:
    turned = value(array, 0).view(np.dtype(ARRAYS[array].dtype).newbyteorder())
    turned[...] = value(array)
    return turned


def _readonly(array: str) -> np.ndarray:
    held = value(array, 0)
    held.flags.writeable = False
    return held


HOST = {
    "np_aligned": lambda array: value(array, 0),
    "np_misaligned": lambda array: value(array, 4),
    "np_strided": _strided,
    "np_columns": _columns,
    "np_swapped": _swapped,
    "np_readonly": _readonly,
    "np_scalar": lambda array: value(array)[()],
    "python": lambda array: value(array).item(),
}


def _extent(x: Any) -> list[tuple[int, int]]:
    """The bytes from the first to the last of a NumPy array; a scalar has none that anyone could share."""
    if not isinstance(x, np.ndarray):
        return []
    low = x.ctypes.data
    return [(low, low + sum((n - 1) * step for n, step in zip(x.shape, x.strides, strict=True)) + x.itemsize)]


def _kept(source: str, array: str, x: Any) -> str:
    """Whether a host's value still is what it was made as: its numbers, its type, and whether it may be written to."""
    was = HOST[source](array)
    same = type(x) is type(was) and np.array_equal(x, was)
    same = same and np.asarray(x).flags.writeable == np.asarray(was).flags.writeable
    return "intact" if same else "changed"
