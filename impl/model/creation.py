"""Those functions of `jax.numpy` that make arrays: where nothing places them, unless they are given a place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .arrays import Array
from .avals import SCALARS, aval_of, canonical
from .operators import Operators

if TYPE_CHECKING:
    from .model import Model

Shape = int | Sequence[int]


class Numbers:
    """A type of numbers as users have it: a dtype where one is asked for, and a function that makes arrays of it."""

    def __init__(self, model: Model, dtype: np.dtype) -> None:
        self._model, self.dtype = model, dtype

    def __call__(self, x: Any) -> Any:
        return Creation(self._model).asarray(x, canonical(self.dtype))

    def __instancecheck__(self, x: object) -> bool:
        return isinstance(x, self.dtype.type)

    def __eq__(self, other: object) -> bool:
        return bool(self.dtype == other)

    def __hash__(self) -> int:
        return hash(self.dtype.type)

    def __repr__(self) -> str:
        return f"jax.numpy.{self.dtype.name}"


class Creation:
    """They run as operations do, so that within a program they belong to it."""

    def __init__(self, model: Model) -> None:
        self._model = model

    def array(self, object: Any, dtype: Any = None, *, device: Any = None) -> Any:
        """An array of what NumPy takes for one, on memory of its own."""
        if isinstance(object, Operators) or type(object) in SCALARS:
            made = self._model.apply("reshape", object, shape=aval_of(object).shape)
            return self._put(made if dtype is None else self._model.astype(made, dtype), device)
        value = np.asarray(object)
        return self._put(self._model.astype(value, value.dtype if dtype is None else dtype), device)

    def asarray(self, a: Any, dtype: Any = None, *, device: Any = None) -> Any:
        """The same; an array is itself."""
        is_it = isinstance(a, Operators) and dtype in (None, a.dtype)
        return self._put(a, device) if is_it else self.array(a, dtype, device=device)

    def full(self, shape: Shape, fill_value: Any, dtype: Any = None, *, device: Any = None) -> Any:
        sizes = (shape,) if isinstance(shape, int) else tuple(shape)
        value = fill_value if dtype is None else self._model.astype(fill_value, dtype)
        return self._put(self._model.broadcast_to(value, sizes), device)

    def zeros(self, shape: Shape, dtype: Any = None, *, device: Any = None) -> Any:
        return self.full(shape, 0, np.float32 if dtype is None else dtype, device=device)

    def ones(self, shape: Shape, dtype: Any = None, *, device: Any = None) -> Any:
        return self.full(shape, 1, np.float32 if dtype is None else dtype, device=device)

    def zeros_like(self, a: Any, dtype: Any = None, *, device: Any = None) -> Any:
        return self._like(a, 0, dtype, device)

    def ones_like(self, a: Any, dtype: Any = None, *, device: Any = None) -> Any:
        return self._like(a, 1, dtype, device)

    def arange(self, start: Any, stop: Any = None, step: Any = None, dtype: Any = None, *, device: Any = None) -> Any:
        bounds = (start,) if stop is None else (start, stop)
        return self.array(np.arange(*bounds, **({} if step is None else {"step": step})), dtype, device=device)

    def _like(self, a: Any, value: int, dtype: Any, device: Any) -> Any:
        """An array of that shape which lies like another."""
        aval = aval_of(a)
        made = self.full(aval.shape, value, aval.dtype if dtype is None else canonical(dtype))
        if device is None and isinstance(a, Array) and a.committed:
            return self._put(made, a.sharding)
        return self._put(made, device)

    def _put(self, x: Any, device: Any) -> Any:
        return x if device is None else self._model.device_put(x, device)
