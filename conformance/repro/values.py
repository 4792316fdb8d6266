"""What an expression is worth while a probe is folded: known, known in part, or left to run."""

from __future__ import annotations

import ast
import dataclasses
import types
from collections.abc import ItemsView, Iterator, KeysView, Mapping, ValuesView
from typing import Any

import numpy as np


class UnfoldableError(Exception):
    """A probe uses a form that cannot be made a script; the message says which."""


@dataclasses.dataclass(frozen=True)
class Known:
    """An object at hand.

    `origin` is the expression that a module's table has for it, with that module; `shown` is a path by which a script
    has it too, such as np.float32. A `lazy` one is an iterator, which is good for one use.
    """

    value: Any
    origin: tuple[ast.expr, types.ModuleType] | None = None
    shown: str = ""
    lazy: bool = False


@dataclasses.dataclass(frozen=True)
class Row:
    """A tuple, a list or a set whose elements are told apart; those that are left to run have not run yet."""

    kind: type
    parts: list[Value]
    lazy: bool = False

    @property
    def spread(self) -> bool:
        """Whether one of the parts is any number of elements."""
        return any(isinstance(it, ast.Starred) for it in self.parts)


@dataclasses.dataclass(frozen=True)
class Table:
    """A dictionary whose entries are told apart; a key that is None spreads another dictionary."""

    keys: list[Value | None]
    values: list[Value]

    def named(self) -> dict[str, Value] | None:
        """The entries by name, where every key is one; of two of one name the last."""
        names = [it.value if isinstance(it, Known) and isinstance(it.value, str) else None for it in self.keys]
        if None in names:
            return None
        return {str(name): value for name, value in zip(names, self.values, strict=True)}


Value = Known | Row | Table | ast.expr

MUTABLE = (list, dict, set)
CHANGES = {
    *("append", "extend", "insert", "pop", "popitem", "remove", "clear", "sort", "reverse", "update", "setdefault"),
    *("add", "discard", "difference_update", "intersection_update", "symmetric_difference_update", "fill", "resize"),
    *("__setitem__", "__delitem__", "__iadd__", "__ior__", "setflags"),
}
"""Methods that change what they are called on."""

SURE = frozenset(
    (
        *(abs, all, any, ascii, bin, bool, bytes, callable, chr, complex, dict, divmod, enumerate, float, format),
        *(frozenset, getattr, hasattr, hash, hex, int, isinstance, issubclass, len, list, max, min, oct, ord, pow),
        *(range, repr, reversed, round, set, slice, sorted, str, sum, tuple, type, zip, map, filter),
    )
)
"""Functions that may be called while folding: they depend on their arguments alone and change nothing."""

WHOLE = frozenset((dict, frozenset, list, max, min, set, sorted, sum, tuple, zip, enumerate, reversed))
"""Functions that use up an iterator that they are given, at once or, as iterators themselves, when they are."""

LAZY = frozenset((enumerate, filter, map, reversed, zip))
"""Functions that give an iterator."""

MODULES = ("dataclasses", "itertools", "math", "numpy", "operator")
"""Modules of such functions."""


def literal(value: Any) -> bool:
    """Whether `repr` is source that gives the value back."""
    if type(value) in (types.NoneType, types.EllipsisType, bool, int, str, bytes):
        return True
    if type(value) in (float, complex):
        return bool(np.isfinite(value))
    if type(value) in (tuple, list, set):
        return all(map(literal, value)) and (bool(value) or type(value) is not set)
    if type(value) is dict:
        return all(map(literal, value)) and all(map(literal, value.values()))
    return False


def plain(value: Any) -> bool:
    """Whether a value that was worked out may stand for itself: data, down to its parts."""
    if literal(value) or dataclasses.is_dataclass(value) or isinstance(value, (np.dtype, np.generic, type, float)):
        return True
    if type(value) in (tuple, list, set, frozenset):
        return all(plain(it) or callable(it) for it in value)
    if isinstance(value, Mapping):
        return all(plain(it) or callable(it) for it in value.values())
    if isinstance(value, (KeysView, ValuesView, ItemsView)):
        return True
    return isinstance(value, (types.MethodType, types.BuiltinMethodType, range, slice))


def lasting(value: Any) -> bool:
    """Whether a variable may be replaced by this value wherever it is read, if nothing changes it in place."""
    return not isinstance(value, (set, np.ndarray, np.generic)) and value is not NotImplemented


def sure(function: Any) -> bool:
    """Whether a function from outside the suite may be called while folding."""
    try:
        if function in SURE:
            return True
    except TypeError:
        return False
    if isinstance(function, types.BuiltinMethodType) and not isinstance(function.__self__, types.ModuleType):
        data = isinstance(function.__self__, (str, bytes, int, float, complex, tuple, *MUTABLE, frozenset, range))
        view = isinstance(function.__self__, (Mapping, np.generic, np.dtype))
        return (data or view) and function.__name__ not in CHANGES
    where = (getattr(function, "__module__", None) or "").split(".")
    return where[0] in MODULES and "random" not in where and callable(function)


def used_up(value: Any) -> Any:
    """An iterator that was worked out, as a tuple."""
    return tuple(value) if isinstance(value, Iterator) else value


def evaluated(node: ast.expr, **values: Any) -> Known | None:
    """What an operation on values at hand gives; None where it fails, or gives what cannot stand for itself."""
    code = compile(ast.fix_missing_locations(ast.Expression(node)), "<fold>", "eval")
    try:
        value = eval(code, {}, values)  # of our own probes' source, on our own data
    except Exception:
        return None  # the script fails as the probe does
    return Known(value) if plain(value) else None
