"""How users write operations: Python's operators and methods on arrays, and the functions of `jax.numpy`."""

from __future__ import annotations

import math
import operator
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

import numpy as np

from . import avals
from .avals import Aval, aval_of
from .operations import whole
from .words import shown


class Functions:
    """Those functions of `jax.numpy` that the model has, over its operations."""

    apply: Callable[..., Any]

    def concatenate(self, arrays: Sequence[Any], axis: int = 0) -> Any:
        if not len(arrays):
            raise ValueError("concatenate takes at least one array")
        return self.apply("concatenate", *arrays, axis=_axis(axis, aval_of(arrays[0]).ndim))

    def sum(self, a: Any, axis: Any = None) -> Any:
        return self.apply("sum", a, axes=_axes(axis, np.ndim(a)))

    def max(self, a: Any, axis: Any = None) -> Any:
        return self.apply("max", a, axes=_axes(axis, np.ndim(a)))

    def mean(self, a: Any, axis: Any = None) -> Any:
        axes = _axes(axis, np.ndim(a))
        return self.sum(a, axis) / math.prod(np.shape(a)[it] for it in axes)

    def reshape(self, a: Any, shape: Any) -> Any:
        sizes = [_size(it) for it in (shape if isinstance(shape, Sequence) else [shape])]
        if sizes.count(-1) > 1:
            raise TypeError(f"reshape takes one size of -1, the one that is left: got {tuple(sizes)}")
        if -1 in sizes:
            rest = -math.prod(sizes)
            sizes[sizes.index(-1)] = math.prod(np.shape(a)) // rest if rest else 0
        return self.apply("reshape", a, shape=tuple(sizes))

    def transpose(self, a: Any, axes: Any = None) -> Any:
        order = range(np.ndim(a))[::-1] if axes is None else [_axis(axis, np.ndim(a)) for axis in axes]
        return self.apply("transpose", a, axes=tuple(order))

    def broadcast_to(self, array: Any, shape: Sequence[int]) -> Any:
        return self.apply("broadcast", array, shape=tuple(map(_size, shape)))

    def astype(self, x: Any, dtype: Any) -> Any:
        return self.apply("convert", x, dtype=avals.canonical(dtype))

    def where(self, condition: Any, x: Any, y: Any) -> Any:
        return self.apply("select", condition, x, y)

    def power(self, x: Any, y: Any) -> Any:
        return self.apply("power", x, exponent=int(y)) if isinstance(y, int) else self.apply("pow", x, y)

    def matmul(self, a: Any, b: Any) -> Any:
        """The product of matrices; a vector is a row on the left and a column on the right."""
        if not (np.ndim(a) and np.ndim(b)):
            raise ValueError(f"matmul takes no scalars, and got shapes {np.shape(a)} and {np.shape(b)}")
        left, right = np.ndim(a) == 1, np.ndim(b) == 1
        rows = self.reshape(a, (1, *np.shape(a))) if left else a
        columns = self.reshape(b, (*np.shape(b), 1)) if right else b
        out = self.apply("matmul", rows, columns)
        out = out[..., 0, :] if left else out
        return out[..., 0] if right else out

    def index(self, x: Any, index: Any) -> Any:
        """Parts of an array, wherever it lies. MEM-42, MEM-43, MEM-45."""
        if isinstance(index, Operators) and index.traced and not index.shape and index.dtype.kind in "iu" and len(x):
            return self.row_at(x, index)
        return self.apply("index", x, index=whole(index, x.shape))

    def row_at(self, x: Any, index: Any) -> Any:
        """The row at an index that is not known before the program runs; past an end it is the last there. MEM-43."""
        at = self.where(index < 0, index + len(x), index)
        found = x[0]
        for number in range(1, len(x)):
            found = self.where(at >= number, x[number], found)
        return found


HOSTS = (bool, int, float, complex, np.ndarray, np.generic)
"""What may meet an array in an operation, beside arrays and what stands for them."""


def _size(size: Any) -> int:
    try:
        return operator.index(size)
    except TypeError as error:
        if isinstance(size, Operators):
            raise
        raise TypeError(f"the sizes of a shape are ints: got {shown(size)}") from error


def _axis(axis: Any, ndim: int) -> int:
    if isinstance(axis, Operators):
        axis = int(axis)
    if not isinstance(axis, int | np.integer):
        raise TypeError(f"an axis is an int: got {shown(axis)}")
    if not -ndim <= axis < ndim:
        raise ValueError(f"axis {axis} is out of bounds for an array of dimension {ndim}")
    return int(axis % ndim)


def _axes(axis: Any, ndim: int) -> tuple[int, ...]:
    given = range(ndim) if axis is None else axis if isinstance(axis, list | tuple) else (axis,)
    axes = tuple(_axis(it, ndim) for it in given)
    if len(set(axes)) < len(axes):
        raise ValueError(f"the axes of a reduction are distinct: got {axis}")
    return axes


class Operators:
    """What arrays and tracers have in common: Python's operators, and the methods of arrays."""

    model: Any
    aval: Aval
    traced = False
    __array_priority__ = 100  # NumPy's arrays leave the operators to these
    __hash__ = None  # type: ignore[assignment]

    @property
    def shape(self) -> tuple[int, ...]:
        return self.aval.shape

    @property
    def dtype(self) -> Any:
        return self.aval.dtype

    @property
    def ndim(self) -> int:
        return len(self.aval.shape)

    @property
    def size(self) -> int:
        return self.aval.size

    @property
    def itemsize(self) -> int:
        return int(self.aval.dtype.itemsize)

    @property
    def nbytes(self) -> int:
        return self.size * self.itemsize

    @property
    def weak_type(self) -> bool:
        return self.aval.weak_type

    @property
    def T(self) -> Any:  # noqa: N802
        return self.model.transpose(self)

    def sum(self, axis: Any = None) -> Any:
        return self.model.sum(self, axis)

    def max(self, axis: Any = None) -> Any:
        return self.model.max(self, axis)

    def mean(self, axis: Any = None) -> Any:
        return self.model.mean(self, axis)

    def reshape(self, *shape: Any) -> Any:
        return self.model.reshape(self, shape[0] if len(shape) == 1 else shape)

    def ravel(self) -> Any:
        return self.model.reshape(self, -1)

    flatten = ravel

    def transpose(self, *axes: Any) -> Any:
        return self.model.transpose(self, (axes[0] if isinstance(axes[0], tuple) else axes) if axes else None)

    def astype(self, dtype: Any) -> Any:
        return self.model.astype(self, dtype)

    @property
    def at(self) -> NoReturn:
        raise NotImplementedError("the model's arrays have no .at: make a new one, as with where or concatenate")

    def __getitem__(self, index: Any) -> Any:
        return self.model.index(self, index)

    def __setitem__(self, index: Any, value: Any) -> None:
        raise TypeError("arrays do not change: make a new one instead of setting items of this one")

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of an array without dimensions")
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        if not self.shape:
            raise TypeError("iteration over an array without dimensions")
        return (self[i] for i in range(self.shape[0]))

    @abstractmethod
    def _held(self, kind: type) -> Any:
        """The one element of it, to be made a scalar of that type."""

    @abstractmethod
    def _index(self) -> int:
        """The one element of it, an integer, as an index or a count."""

    def __bool__(self) -> bool:
        if self.size != 1:
            raise ValueError(f"one element is true or false, and an array of shape {self.shape} is neither")
        return bool(self._held(bool))

    def __int__(self) -> int:
        return int(self._scalar(int))

    def __float__(self) -> float:
        return float(self._scalar(float))

    def __complex__(self) -> complex:
        return complex(self._scalar(complex))

    def __index__(self) -> int:
        if self.shape or self.dtype.kind not in "iu":
            raise TypeError(f"an index or a count is one integer, and this is {self.aval}")
        return self._index()

    def _scalar(self, kind: type) -> Any:
        if self.shape:
            raise TypeError(
                f"an array without dimensions becomes a {kind.__name__}, and one of shape {self.shape} none"
            )
        return self._held(kind)

    def _with(self, name: str, other: Any, turned: bool = False) -> Any:
        if not isinstance(other, (Operators, *HOSTS)):
            return NotImplemented
        return self.model.apply(name, other, self) if turned else self.model.apply(name, self, other)

    def __add__(self, other: Any) -> Any:
        return self._with("add", other)

    def __radd__(self, other: Any) -> Any:
        return self._with("add", other, turned=True)

    def __sub__(self, other: Any) -> Any:
        return self._with("sub", other)

    def __rsub__(self, other: Any) -> Any:
        return self._with("sub", other, turned=True)

    def __mul__(self, other: Any) -> Any:
        return self._with("mul", other)

    def __rmul__(self, other: Any) -> Any:
        return self._with("mul", other, turned=True)

    def __truediv__(self, other: Any) -> Any:
        return self._with("div", other)

    def __rtruediv__(self, other: Any) -> Any:
        return self._with("div", other, turned=True)

    def __matmul__(self, other: Any) -> Any:
        return self.model.matmul(self, other) if isinstance(other, (Operators, *HOSTS)) else NotImplemented

    def __rmatmul__(self, other: Any) -> Any:
        return self.model.matmul(other, self) if isinstance(other, HOSTS) else NotImplemented

    def __floordiv__(self, other: Any) -> Any:
        return self._with("floordiv", other)

    def __rfloordiv__(self, other: Any) -> Any:
        return self._with("floordiv", other, turned=True)

    def __mod__(self, other: Any) -> Any:
        return self._with("mod", other)

    def __rmod__(self, other: Any) -> Any:
        return self._with("mod", other, turned=True)

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self

    def __pow__(self, other: Any) -> Any:
        return self.model.power(self, other) if isinstance(other, (Operators, *HOSTS)) else NotImplemented

    def __rpow__(self, other: Any) -> Any:
        return self.model.power(other, self) if isinstance(other, HOSTS) else NotImplemented

    def __abs__(self) -> Any:
        return self.model.apply("abs", self)

    def __and__(self, other: Any) -> Any:
        return self._with("and", other)

    __rand__ = __and__

    def __or__(self, other: Any) -> Any:
        return self._with("or", other)

    __ror__ = __or__

    def __xor__(self, other: Any) -> Any:
        return self._with("xor", other)

    __rxor__ = __xor__

    def __invert__(self) -> Any:
        return self.model.apply("not", self)

    def __pos__(self) -> Any:
        return self

    def __neg__(self) -> Any:
        return self.model.apply("neg", self)

    def __eq__(self, other: Any) -> Any:
        return self._with("eq", other)

    def __ne__(self, other: Any) -> Any:
        return self._with("ne", other)

    def __lt__(self, other: Any) -> Any:
        return self._with("lt", other)

    def __le__(self, other: Any) -> Any:
        return self._with("le", other)

    def __gt__(self, other: Any) -> Any:
        return self._with("gt", other)

    def __ge__(self, other: Any) -> Any:
        return self._with("ge", other)
