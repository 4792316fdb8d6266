"""Avals: what is known of an array before it has a value, its shape and its dtype; and how dtypes meet."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

from .words import shown

if TYPE_CHECKING:
    from .shardings import Sharding


class Shaped:
    """What has a shape."""

    shape: tuple[int, ...]

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)


@dataclass(frozen=True)
class Aval(Shaped):
    """A shape and a dtype. A dtype is weak where it comes from a scalar of Python's: it gives way to the others'."""

    shape: tuple[int, ...]
    dtype: Any
    weak_type: bool = False

    def with_shape(self, shape: Sequence[int]) -> Aval:
        """The same dtype in another shape."""
        return Aval(tuple(shape), self.dtype, self.weak_type)

    def __str__(self) -> str:
        return f"{self.dtype.name}[{','.join(map(str, self.shape))}]"


@dataclass(frozen=True)
class ShapeDtypeStruct(Shaped):
    """What stands for an array where no value is needed; one with a sharding stands for a committed array."""

    shape: tuple[int, ...]
    dtype: Any
    sharding: Sharding | None = field(default=None, kw_only=True)
    weak_type: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        if self.dtype is None:
            raise ValueError(f"a ShapeDtypeStruct takes a dtype: got None for shape {self.shape}")
        if not isinstance(self.shape, Iterable):
            raise TypeError(f"a shape is a tuple of ints: got {shown(self.shape)}")
        object.__setattr__(self, "shape", tuple(self.shape))
        object.__setattr__(self, "dtype", canonical(self.dtype))
        self._check_sharding()

    def _check_sharding(self) -> None:
        """ValueError where it stands for an array that no sharding could have, evenly cut or not."""
        from .shardings import Sharding

        if self.sharding is None:
            return
        if not isinstance(self.sharding, Sharding):
            raise ValueError(f"a ShapeDtypeStruct takes a sharding: got {shown(self.sharding)}")
        self.sharding.check_rank(self.shape)

    @property
    def aval(self) -> Aval:
        return Aval(self.shape, self.dtype, self.weak_type)

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        sharding = f", sharding={self.sharding}" if self.sharding is not None else ""
        return f"ShapeDtypeStruct(shape={self.shape}, dtype={self.dtype.name}{sharding})"


NARROWER = {"float64": "float32", "int64": "int32", "uint64": "uint32", "complex128": "complex64"}
"""What becomes of the dtypes of 64 bits a number."""

SCALARS = {bool: ("bool", False), int: ("int32", True), float: ("float32", True), complex: ("complex64", True)}
"""The dtypes of Python's scalars, and whether they are weak."""

HELD = frozenset("biufcV")
"""The kinds of NumPy's dtypes that arrays may have; V is what it says of those that it lacks itself."""

NEVER = (np.void, np.longdouble, np.clongdouble)
"""NumPy's dtypes of these kinds that arrays do not have."""


@lru_cache(256)
def canonical(dtype: Any) -> Any:
    """The dtype as arrays have it: in this machine's order of bytes, and of 32 bits instead of 64."""
    if not isinstance(dtype, np.dtype) and hasattr(dtype, "kind"):
        return dtype  # that of keys, which is none of NumPy's
    found = np.dtype(dtype)
    if found.kind not in HELD or found.type in NEVER or found.itemsize == 0:
        raise TypeError(f"arrays have no dtype {found}")
    return np.dtype(NARROWER.get(found.name, found.newbyteorder("=")))


def aval_of(x: Any) -> Aval:
    """The aval of an array, of a value of the host's, or of what stands for an array."""
    found = getattr(x, "aval", None)
    if isinstance(found, Aval):
        return found
    if isinstance(x, np.ma.MaskedArray):
        raise ValueError("a masked array is no array of JAX's: fill it first, as with filled(0)")
    if isinstance(x, np.ndarray | np.generic):
        return Aval(x.shape, canonical(x.dtype))
    scalar = next((kind for kind in SCALARS if isinstance(x, kind)), None)
    if scalar is not None:
        name, weak = SCALARS[scalar]
        if scalar is int and not -(2**31) <= x < 2**31:
            raise OverflowError(f"the int {x} does not fit int32, the dtype of Python's ints")
        return Aval((), np.dtype(name), weak)
    raise TypeError(f"{shown(x)} is no array: arrays, NumPy's arrays and scalars are")


WIDER = {
    "bool": ["int"],
    "int": ["uint8", "int8", "uint4", "int4", "uint2", "int2"],
    "uint2": [],
    "int2": [],
    "uint4": [],
    "int4": [],
    "uint8": ["uint16", "int16"],
    "uint16": ["uint32", "int32"],
    "uint32": ["uint64", "int64"],
    "int8": ["int16"],
    "int16": ["int32"],
    "int32": ["int64"],
    "uint64": ["float"],
    "int64": ["float"],
    "float": ["float16", "bfloat16", "complex", "float8_e4m3fn", "float8_e5m2"],
    "float8_e4m3fn": [],
    "float8_e5m2": [],
    "float16": ["float32"],
    "bfloat16": ["float32"],
    "float32": ["complex64"],
    "complex": ["complex64"],
    "complex64": [],
}
"""The next wider dtypes of each; "int", "float" and "complex" are the weak ones, which are narrower than any other."""

WEAK = {"i": "int", "u": "int", "f": "float", "c": "complex"}
STRONG = {"int": "int32", "float": "float32", "complex": "complex64"}


def inexact(dtype: Any) -> bool:
    """Whether its numbers are real or complex, so that there are gradients."""
    name: str = dtype.name
    return name.startswith(("float", "bfloat", "complex"))


@lru_cache(256)
def widest(one: str, other: str) -> str:
    """The narrowest dtype that holds what both hold; "" where there is none."""
    common = above(one) & above(other)
    least = [it for it in common if common <= above(it)]
    return least[0] if least else ""


@lru_cache(64)
def above(name: str) -> frozenset[str]:
    """A dtype and all wider ones."""
    return frozenset({name}).union(*(above(it) for it in WIDER[name]))


def meet(avals: Sequence[Aval]) -> tuple[Any, bool]:
    """The dtype in which operands meet, and whether it is weak."""
    first = avals[0]
    if all(it.dtype == first.dtype and it.weak_type == first.weak_type for it in avals):
        return first.dtype, first.weak_type
    return _meet(tuple((it.dtype, it.weak_type) for it in avals))


@lru_cache(512)
def _meet(dtypes: tuple[tuple[Any, bool], ...]) -> tuple[Any, bool]:
    found = ""
    for dtype, weak in dtypes:
        name = WEAK.get(dtype.kind, dtype.name) if weak else dtype.name
        if name not in WIDER:
            raise TypeError(f"an array of dtype {dtype.name} does not meet others")
        wider = widest(found, name) if found else name
        if not wider:
            raise ValueError(f"dtypes {', '.join(it.name for it, _ in dtypes)} have no common one: convert them first")
        found = wider
    return canonical(_dtype(STRONG.get(found, found))), found in STRONG


def _dtype(name: str) -> np.dtype:
    return np.dtype(getattr(ml_dtypes, name, name))
