"""The operations of programs, a row each: how operands are called, what comes out, and what transformations make of it.

An operation promotes dtypes and broadcasts shapes by itself, so that `x + 1` is one operation, of two arguments.
"""

from __future__ import annotations

import builtins
import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import avals
from .avals import Aval, aval_of
from .words import shown

Values = tuple[np.ndarray, ...]
Apply = Callable[..., Any]


@dataclass(frozen=True)
class Operation:
    """One operation.

    `arguments` name its operands in messages, the last one all that follow, with their number in the place of "*".
    `infer` gives the aval of the output for those of the operands, and `evaluate` its value. `pull` gives for the
    cotangent of the output those of the operands, None where there is none. `batch` does it to operands of which some
    have one dimension more, the first. Both are written with the operations they are handed.
    """

    arguments: tuple[str, ...]
    infer: Callable[..., Aval]
    evaluate: Callable[..., np.ndarray]
    pull: Callable[..., Sequence[Any]]
    batch: Callable[..., Any]

    def called(self, number: int) -> str:
        """The name of an operand."""
        return self.arguments[min(number, len(self.arguments) - 1)].replace("*", str(number))


# --- element by element -----------------------------------------------------------------------------------------------


def _broadcast(name: str, operands: Sequence[Aval]) -> tuple[int, ...]:
    shapes = [it.shape for it in operands]
    if all(shape == shapes[0] for shape in shapes):
        return shapes[0]
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        alike = len({len(shape) for shape in shapes}) == 1
        raise (TypeError if alike else ValueError)(  # JAX has one for shapes of one rank, and one for others
            f"{name} got shapes that do not broadcast: {', '.join(map(str, shapes))}"
        ) from None


def _numeric(name: str, operands: Sequence[Aval], kinds: str) -> None:
    for number, it in enumerate(operands):
        if it.dtype.kind not in kinds or not isinstance(it.dtype, np.dtype):
            raise TypeError(f"{name} takes no operand of dtype {it.dtype.name}, as number {number} is")


Meet = Callable[..., tuple[Any, bool]]


def _meeting(name: str, kinds: str, meet: Meet = avals.meet) -> Callable[..., Aval]:
    def infer(*operands: Aval) -> Aval:
        dtype, weak = meet(operands)
        _numeric(name, operands, kinds)
        return Aval(_broadcast(name, operands), dtype, weak)

    return infer


def _inexact(operands: Sequence[Aval]) -> tuple[Any, bool]:
    """For what has no value among the integers: they become float32."""
    dtype, weak = avals.meet(operands)
    return (np.dtype(np.float32), weak) if dtype.kind in "biu" else (dtype, weak)


def _counting(operands: Sequence[Aval]) -> tuple[Any, bool]:
    """For what has no value among the bools: they become int32."""
    dtype, weak = avals.meet(operands)
    return (np.dtype(np.int32), weak) if dtype.kind == "b" else (dtype, weak)


def _comparing(name: str) -> Callable[..., Aval]:
    def infer(*operands: Aval) -> Aval:
        dtype, weak = avals.meet(operands)
        if isinstance(dtype, np.dtype) or name not in ("eq", "ne"):  # keys are equal or not, and in no order
            _numeric(name, operands, "biufcV")
        return Aval(_broadcast(name, operands), np.dtype(bool), weak)

    return infer


def _promoted(f: Callable[..., Any], meet: Meet = avals.meet) -> Callable[..., np.ndarray]:
    def evaluate(operands: Sequence[Aval], *values: np.ndarray, **params: Any) -> np.ndarray:
        dtype, _ = meet(operands)
        return np.asarray(f(*(_as(value, dtype) for value in values), **params))

    return evaluate


def _as(value: np.ndarray, dtype: Any) -> np.ndarray:
    """A value in a dtype in which operands meet; keys meet as they are."""
    return value.astype(dtype, copy=False) if isinstance(dtype, np.dtype) else value


def _lined_up(apply: Apply, operands: Sequence[Any], mapped: Sequence[bool]) -> list[Any]:
    """Operands whose mapped dimension comes before all others, also where they differ in rank."""
    rank = max(np.ndim(x) - is_mapped for x, is_mapped in zip(operands, mapped, strict=True))
    return [
        apply("reshape", x, shape=(x.shape[0], *[1] * (rank + 1 - x.ndim), *x.shape[1:]))
        if is_mapped and x.ndim <= rank
        else x
        for x, is_mapped in zip(operands, mapped, strict=True)
    ]


def _batch_elements(name: str) -> Callable[..., Any]:
    def batch(apply: Apply, operands: Sequence[Any], mapped: Sequence[bool], **params: Any) -> Any:
        return apply(name, *_lined_up(apply, operands, mapped), **params)

    return batch


def _like(apply: Apply, ct: Any, x: Any) -> Any:
    """A cotangent as its operand needs it: summed over what was broadcast, in its dtype."""
    aval = aval_of(x)
    ahead = ct.ndim - aval.ndim
    axes = [*range(ahead)] + [ahead + i for i, n in enumerate(aval.shape) if n == 1 != ct.shape[ahead + i]]
    if axes:
        ct = apply("reshape", apply("sum", ct, axes=tuple(axes)), shape=aval.shape)
    return ct if ct.dtype == aval.dtype else apply("convert", ct, dtype=aval.dtype)


def _pull_elements(f: Callable[..., Sequence[Any]]) -> Callable[..., Sequence[Any]]:
    def pull(apply: Apply, ct: Any, operands: Sequence[Any], output: Any, **params: Any) -> Sequence[Any]:
        found = f(apply, ct, *operands, output, **params)
        return [None if it is None else _like(apply, it, x) for it, x in zip(found, operands, strict=True)]

    return pull


def _elements(
    name: str,
    arguments: tuple[str, ...],
    infer: Callable[..., Aval],
    f: Callable[..., Any],
    pull: Callable[..., Sequence[Any]],
    meet: Meet = avals.meet,
) -> Operation:
    return Operation(arguments, infer, _promoted(f, meet), _pull_elements(pull), _batch_elements(name))


NUMBERS, ORDERED, ALL = "iufcV", "biufV", "biufcV"
ARITHMETIC: dict[str, tuple[Callable[..., Any], str, Callable[..., Sequence[Any]]]] = {
    "add": (np.add, ALL, lambda apply, ct, x, y, out: (ct, ct)),
    "sub": (np.subtract, NUMBERS, lambda apply, ct, x, y, out: (ct, -ct)),
    "mul": (np.multiply, ALL, lambda apply, ct, x, y, out: (ct * y, ct * x)),
    "maximum": (
        np.maximum,
        ALL,
        lambda apply, ct, x, y, out: (ct * _prevails(apply, x, y), ct * _prevails(apply, y, x)),
    ),
}
FUNCTIONS: dict[str, tuple[Callable[..., Any], Callable[..., Sequence[Any]]]] = {
    "exp": (np.exp, lambda apply, ct, x, out: (ct * out,)),
    "log": (np.log, lambda apply, ct, x, out: (ct / x,)),
    "sin": (np.sin, lambda apply, ct, x, out: (ct * apply("cos", x),)),
    "cos": (np.cos, lambda apply, ct, x, out: (-ct * apply("sin", x),)),
    "tanh": (np.tanh, lambda apply, ct, x, out: (ct * (1 - out * out),)),
}
COMPARISONS = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}


BITS = {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}


def _prevails(apply: Apply, x: Any, y: Any) -> Any:
    """How much of a maximum is each of the first: equals share it."""
    return apply("select", apply("gt", x, y), 1.0, apply("select", apply("eq", x, y), 0.5, 0.0))


def _divide(apply: Apply, ct: Any, x: Any, y: Any, out: Any) -> Sequence[Any]:
    return ct / y, -ct * out / y


def _pull_mod(apply: Apply, ct: Any, x: Any, y: Any, out: Any) -> Sequence[Any]:
    return ct, -ct * apply("floordiv", x, y)


def _infer_abs(x: Aval) -> Aval:
    _numeric("abs", [x], ALL)
    if x.dtype.kind == "c":
        raise NotImplementedError(f"the model has no absolute values of complex numbers: got {x}")
    return x


def _pull_abs(apply: Apply, ct: Any, x: Any, out: Any) -> Sequence[Any]:
    return (apply("select", apply("ge", x, 0), ct, -ct),)


def _evaluate_pow(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """A power by elements. Among integers, those with a negative exponent are fractions, of which the whole part is."""
    whole = x.dtype.kind in "iu"
    power = np.where((y < 0) & (np.abs(x) != 1), 0, np.power(x, np.abs(y))) if whole else np.power(x, y)
    return np.asarray(power, x.dtype)


def _pull_pow(apply: Apply, ct: Any, x: Any, y: Any, out: Any) -> Sequence[Any]:
    base = apply("select", apply("eq", x, 0), 1, x)  # a power of 0 does not change with its exponent
    return ct * y * apply("pow", x, apply("sub", y, 1)), ct * out * apply("log", base)


def _pull_power(apply: Apply, ct: Any, x: Any, out: Any, exponent: int) -> Sequence[Any]:
    return (ct * exponent * apply("power", x, exponent=exponent - 1),)


def _infer_power(x: Aval, exponent: int) -> Aval:
    _numeric("power", [x], ALL)
    if exponent < 0 and x.dtype.kind in "biu":
        raise TypeError(f"integers have no negative powers: got {x} to the power of {exponent}")
    return Aval(x.shape, *_counting([x]))


def _infer_select(which: Aval, x: Aval, y: Aval) -> Aval:
    if which.dtype != bool:
        raise TypeError(f"select chooses by bool, not by {which.dtype.name}")
    dtype, weak = avals.meet((x, y))
    return Aval(_broadcast("select", (which, x, y)), dtype, weak)


def _evaluate_select(operands: Sequence[Aval], which: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    dtype, _ = avals.meet(operands[1:])
    return np.where(which, _as(x, dtype), _as(y, dtype))


def _pull_select(apply: Apply, ct: Any, which: Any, x: Any, y: Any, out: Any) -> Sequence[Any]:
    return None, apply("select", which, ct, 0), apply("select", which, 0, ct)


# --- shapes -----------------------------------------------------------------------------------------------------------


def _infer_sum(x: Aval, axes: tuple[int, ...]) -> Aval:
    _numeric("sum", [x], ALL)
    wider = {"b": "int32", "i": "int32", "u": "uint32"}.get(x.dtype.kind)
    narrow = wider is not None and x.dtype.itemsize < 4
    shape = tuple(n for i, n in enumerate(x.shape) if i not in axes)
    return Aval(shape, np.dtype(wider) if narrow else x.dtype, x.weak_type)


def _evaluate_sum(operands: Sequence[Aval], x: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    return np.asarray(np.sum(x, axis=axes, dtype=_infer_sum(operands[0], axes).dtype))


def _pull_sum(apply: Apply, ct: Any, operands: Sequence[Any], output: Any, axes: tuple[int, ...]) -> Sequence[Any]:
    shape = np.shape(operands[0])
    kept = apply("reshape", ct, shape=tuple(1 if i in axes else n for i, n in enumerate(shape)))
    return [_like(apply, apply("broadcast", kept, shape=shape), operands[0])]


def _infer_max(x: Aval, axes: tuple[int, ...]) -> Aval:
    if any(x.shape[axis] == 0 for axis in axes):
        raise ValueError(f"the maximum over no elements is none: axes {axes} of shape {x.shape}")
    return x.with_shape([n for i, n in enumerate(x.shape) if i not in axes])


def _pull_max(apply: Apply, ct: Any, operands: Sequence[Any], output: Any, axes: tuple[int, ...]) -> Sequence[Any]:
    (x,) = operands
    kept = tuple(1 if i in axes else n for i, n in enumerate(np.shape(x)))
    top = apply("convert", x == apply("reshape", output, shape=kept), dtype=ct.dtype)
    count = apply("reshape", apply("sum", top, axes=axes), shape=kept)
    return [apply("reshape", ct, shape=kept) * top / count]


def _batch_reduction(name: str) -> Callable[..., Any]:
    def batch(apply: Apply, operands: Sequence[Any], mapped: Sequence[bool], axes: tuple[int, ...]) -> Any:
        return apply(name, operands[0], axes=tuple(axis + 1 for axis in axes))

    return batch


def _infer_reshape(x: Aval, shape: tuple[int, ...]) -> Aval:
    if math.prod(shape) != x.size:
        raise TypeError(
            f"an array of shape {x.shape} and size {x.size} has no shape {shape} of size {math.prod(shape)}"
        )
    return x.with_shape(shape)


def _infer_transpose(x: Aval, axes: tuple[int, ...]) -> Aval:
    if sorted(axes) != list(range(x.ndim)):
        raise TypeError(f"the axes {axes} do not order the dimensions of an array of shape {x.shape}")
    return x.with_shape([x.shape[axis] for axis in axes])


def _infer_broadcast(x: Aval, shape: tuple[int, ...]) -> Aval:
    ahead = len(shape) - x.ndim
    if any(n < 0 for n in shape):
        raise TypeError(f"the sizes of a shape are 0 or more: got {shape}")
    if ahead < 0 or any(n not in (1, shape[ahead + i]) for i, n in enumerate(x.shape)):
        raise ValueError(f"an array of shape {x.shape} does not broadcast to shape {shape}")
    return x.with_shape(shape)


def _batch_broadcast(apply: Apply, operands: Sequence[Any], mapped: Sequence[bool], shape: tuple[int, ...]) -> Any:
    (x,) = operands
    longer = (x.shape[0], *[1] * (len(shape) + 1 - x.ndim), *x.shape[1:])
    return apply("broadcast", apply("reshape", x, shape=longer), shape=(x.shape[0], *shape))


def _infer_convert(x: Aval, dtype: Any) -> Aval:
    if x.dtype != dtype:
        _numeric("astype", [x], ALL)
    return Aval(x.shape, dtype)


def _converted(x: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """A value in another dtype; what is no integer of that dtype becomes the nearest, and NaN 0."""
    if dtype.kind in "iu" and x.dtype.kind not in "biuc":
        bounds, wide = np.iinfo(dtype), x.astype(np.float64)
        return np.where(np.isnan(wide), 0, np.clip(wide, bounds.min, bounds.max)).astype(dtype)
    return x.astype(dtype)


def _pull_convert(apply: Apply, ct: Any, operands: Sequence[Any], output: Any, dtype: Any) -> Sequence[Any]:
    return [apply("convert", ct, dtype=aval_of(operands[0]).dtype)]


def _infer_concatenate(*operands: Aval, axis: int) -> Aval:
    first = operands[0]
    for it in operands:
        if it.ndim != first.ndim or any(
            n != m for i, (n, m) in enumerate(zip(it.shape, first.shape, strict=True)) if i != axis
        ):
            raise TypeError(
                f"concatenate along dimension {axis} got shapes that differ in another: "
                f"{', '.join(str(other.shape) for other in operands)}"
            )
    shape = list(first.shape)
    shape[axis] = builtins.sum(it.shape[axis] for it in operands)
    dtype, weak = avals.meet(operands)
    return Aval(tuple(shape), dtype, weak)


def _pull_concatenate(apply: Apply, ct: Any, operands: Sequence[Any], output: Any, axis: int) -> Sequence[Any]:
    found, start = [], 0
    for x in operands:
        index = (*[slice(None)] * axis, slice(start, start + np.shape(x)[axis]))
        found.append(_like(apply, apply("index", ct, index=whole(index, ct.shape)), x))
        start += np.shape(x)[axis]
    return found


def _batch_concatenate(apply: Apply, operands: Sequence[Any], mapped: Sequence[bool], axis: int) -> Any:
    (size,) = {x.shape[0] for x, is_mapped in zip(operands, mapped, strict=True) if is_mapped}
    all_mapped = [
        x if is_mapped else apply("broadcast", x, shape=(size, *np.shape(x)))
        for x, is_mapped in zip(operands, mapped, strict=True)
    ]
    return apply("concatenate", *all_mapped, axis=axis + 1)


Index = tuple[Any, ...]


def whole(index: Any, shape: tuple[int, ...]) -> Index:
    """An index with a part for every dimension: slices with their bounds, ints within them, None for a new one.

    An int past the end means the last element, as it does in JAX.
    """
    parts = index if isinstance(index, tuple) else (index,)
    used = [part for part in parts if part is not None and part is not Ellipsis]
    if len([part for part in parts if part is Ellipsis]) > 1:
        raise IndexError("an index has one ... at most: got two")
    if len(used) > len(shape):
        raise IndexError(f"an array of {len(shape)} dimensions takes no {len(used)} indices")
    rest = [slice(None)] * (len(shape) - len(used))
    if any(part is Ellipsis for part in parts):
        at = next(i for i, part in enumerate(parts) if part is Ellipsis)
        parts = (*parts[:at], *rest, *parts[at + 1 :])
    else:
        parts = (*parts, *rest)
    sizes = iter(shape)
    return tuple(None if part is None else _part(part, next(sizes)) for part in parts)


def _part(part: Any, size: int) -> Any:
    if isinstance(part, slice):
        return (*part.indices(size),)
    if isinstance(part, bool | np.bool_) or np.ndim(part) > 0:
        raise NotImplementedError(f"the model's arrays are not indexed by arrays: {part!r}")
    if not hasattr(part, "__index__"):
        error = TypeError if isinstance(part, str | float | complex) else IndexError
        raise error(f"an index is an int, a slice, None or ...: got {shown(part)}")
    number = operator.index(part)
    return max(0, min(size - 1, number + size if number < 0 else number))


def spelled(index: Index) -> Index:
    """A whole index as NumPy takes it."""
    return tuple(_slice(*part) if isinstance(part, tuple) else part for part in index)


def _slice(start: int, stop: int, step: int) -> slice:
    if not range(start, stop, step):
        return slice(0, 0)
    return slice(start, None if stop < 0 else stop, step)


def _shape_at(shape: tuple[int, ...], index: Index) -> tuple[int, ...]:
    return tuple(1 if part is None else len(range(*part)) for part in index if not isinstance(part, int))


def _infer_index(x: Aval, index: Index) -> Aval:
    return x.with_shape(_shape_at(x.shape, index))


def _pull_index(apply: Apply, ct: Any, operands: Sequence[Any], output: Any, index: Index) -> Sequence[Any]:
    return [apply("unindex", ct, index=index, shape=np.shape(operands[0]))]


def _batch_index(apply: Apply, operands: Sequence[Any], mapped: Sequence[bool], index: Index) -> Any:
    return apply("index", operands[0], index=((0, np.shape(operands[0])[0], 1), *index))


def _infer_unindex(x: Aval, index: Index, shape: tuple[int, ...]) -> Aval:
    return x.with_shape(shape)


def _evaluate_unindex(operands: Sequence[Aval], x: np.ndarray, index: Index, shape: tuple[int, ...]) -> np.ndarray:
    found = np.zeros(shape, x.dtype)
    found[spelled(index)] = x
    return found


def _pull_unindex(
    apply: Apply, ct: Any, operands: Sequence[Any], output: Any, index: Index, shape: Any
) -> Sequence[Any]:
    return [apply("index", ct, index=index)]


def _batch_unindex(apply: Apply, operands: Sequence[Any], mapped: Sequence[bool], index: Index, shape: Any) -> Any:
    size = np.shape(operands[0])[0]
    return apply("unindex", operands[0], index=((0, size, 1), *index), shape=(size, *shape))


def _infer_matmul(x: Aval, y: Aval) -> Aval:
    _numeric("matmul", [x, y], ALL)
    if x.shape[-1] != y.shape[-2]:
        raise TypeError(f"matmul sums over dimensions of one size, and got {x.shape[-1]} and {y.shape[-2]}")
    dtype, weak = avals.meet((x, y))
    try:
        rows = np.broadcast_shapes(x.shape[:-2], y.shape[:-2])
    except ValueError:
        raise ValueError(f"matmul got shapes that do not broadcast: {x.shape}, {y.shape}") from None
    return Aval((*rows, x.shape[-2], y.shape[-1]), dtype, weak)


def _turned(apply: Apply, x: Any) -> Any:
    return apply("transpose", x, axes=(*range(x.ndim - 2), x.ndim - 1, x.ndim - 2))


ELEMENTS: dict[str, Operation] = {
    **{
        name: _elements(name, ("x", "y"), _meeting(name, kinds), f, pull)
        for name, (f, kinds, pull) in ARITHMETIC.items()
    },
    **{
        name: _elements(name, ("x", "y"), _comparing(name), f, lambda apply, ct, x, y, out: (None, None))
        for name, f in COMPARISONS.items()
    },
    **{
        name: _elements(name, ("x",), _meeting(name, ALL, _inexact), f, pull, _inexact)
        for name, (f, pull) in FUNCTIONS.items()
    },
    **{
        name: _elements(name, ("x", "y"), _meeting(name, "biu"), f, lambda apply, ct, x, y, out: (None, None))
        for name, f in BITS.items()
    },
    "not": _elements("not", ("x",), _meeting("not", "biu"), np.invert, lambda apply, ct, x, out: (None,)),
    "div": _elements("div", ("x", "y"), _meeting("div", ALL, _inexact), np.divide, _divide, _inexact),
    "floordiv": _elements(
        "floordiv",
        ("x", "y"),
        _meeting("floordiv", ORDERED, _counting),
        np.floor_divide,
        lambda apply, ct, x, y, out: (None, None),
        _counting,
    ),
    "mod": _elements("mod", ("x", "y"), _meeting("mod", ORDERED, _counting), np.remainder, _pull_mod, _counting),
    "abs": _elements("abs", ("x",), _infer_abs, lambda x: np.abs(x).astype(x.dtype, copy=False), _pull_abs),
    "neg": _elements("neg", ("x",), _meeting("neg", NUMBERS), np.negative, lambda apply, ct, x, out: (-ct,)),
    "pow": _elements("pow", ("x", "y"), _meeting("pow", ALL, _counting), _evaluate_pow, _pull_pow, _counting),
    "power": _elements(  # by an exponent that is part of the program, as integers have gradients then
        "power",
        ("x",),
        _infer_power,
        lambda x, exponent: (x**exponent).astype(x.dtype, copy=False),
        _pull_power,
        _counting,
    ),
    "select": Operation(
        ("condition", "x", "y"),
        _infer_select,
        _evaluate_select,
        _pull_elements(_pull_select),
        _batch_elements("select"),
    ),
}

SHAPES: dict[str, Operation] = {
    "sum": Operation(("a",), _infer_sum, _evaluate_sum, _pull_sum, _batch_reduction("sum")),
    "max": Operation(
        ("a",),
        _infer_max,
        lambda operands, x, axes: np.asarray(np.max(x, axis=axes)),
        _pull_max,
        _batch_reduction("max"),
    ),
    "reshape": Operation(
        ("a",),
        _infer_reshape,
        lambda operands, x, shape: x.reshape(shape),
        lambda apply, ct, operands, output, shape: [apply("reshape", ct, shape=np.shape(operands[0]))],
        lambda apply, operands, mapped, shape: apply("reshape", operands[0], shape=(np.shape(operands[0])[0], *shape)),
    ),
    "transpose": Operation(
        ("a",),
        _infer_transpose,
        lambda operands, x, axes: x.transpose(axes),
        lambda apply, ct, operands, output, axes: [apply("transpose", ct, axes=tuple(np.argsort(axes).tolist()))],
        lambda apply, operands, mapped, axes: apply("transpose", operands[0], axes=(0, *(axis + 1 for axis in axes))),
    ),
    "broadcast": Operation(
        ("array",),
        _infer_broadcast,
        lambda operands, x, shape: np.broadcast_to(x, shape),
        lambda apply, ct, operands, output, shape: [_like(apply, ct, operands[0])],
        _batch_broadcast,
    ),
    "convert": Operation(
        ("x",),
        _infer_convert,
        lambda operands, x, dtype: _converted(x, dtype),
        _pull_convert,
        lambda apply, operands, mapped, dtype: apply("convert", operands[0], dtype=dtype),
    ),
    "concatenate": Operation(
        ("arrays[*]",),
        _infer_concatenate,
        _promoted(lambda *xs, axis: np.concatenate(xs, axis)),
        _pull_concatenate,
        _batch_concatenate,
    ),
    "index": Operation(("x",), _infer_index, lambda operands, x, index: x[spelled(index)], _pull_index, _batch_index),
    "unindex": Operation(("x",), _infer_unindex, _evaluate_unindex, _pull_unindex, _batch_unindex),
    "matmul": Operation(
        ("a", "b"),
        _infer_matmul,
        _promoted(lambda x, y: np.matmul(x, y).astype(x.dtype, copy=False)),
        _pull_elements(lambda apply, ct, x, y, out: (ct @ _turned(apply, y), _turned(apply, x) @ ct)),
        _batch_elements("matmul"),
    ),
}

OPERATIONS = ELEMENTS | SHAPES
