"""Where a function or a table of the probes is written, and what of it stands for itself."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import types
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from .syntax import is_name


class UnfoldableError(Exception):
    """A probe uses a form that cannot be made a script; the message says which."""


@dataclasses.dataclass(frozen=True)
class Known:
    """An object at hand.

    `origin` is the expression that a module's table has for it, with that module; `shown` how a script spells it.
    """

    value: Any
    origin: tuple[ast.expr, types.ModuleType] | None = None
    shown: ast.expr | None = None


@cache
def _tree(module: types.ModuleType) -> ast.Module:
    return ast.parse(inspect.getsource(module))


def definition(function: Any) -> tuple[ast.FunctionDef | ast.Lambda, types.ModuleType]:
    """The source of a function, and the module that it is in."""
    function = getattr(function, "__func__", function)
    module = import_module(function.__module__)
    code = function.__code__
    found = [
        node
        for node in ast.walk(_tree(module))
        if isinstance(node, (ast.FunctionDef, ast.Lambda))
        and (node.name if isinstance(node, ast.FunctionDef) else "<lambda>") == code.co_name
        and min([node.lineno, *(it.lineno for it in getattr(node, "decorator_list", ()))]) == code.co_firstlineno
    ]
    if len(found) > 1:  # several lambdas that start on one line: the one whose body the code is of
        spans = set(code.co_positions())
        found = [it for it in found if isinstance(it, ast.Lambda) and _span(it.body) in spans]
    if not found:
        raise UnfoldableError(f"the source of {function.__name__} is not found in {module.__name__}")
    return found[0], module


def _span(node: ast.expr) -> tuple[int | None, ...]:
    return node.lineno, node.end_lineno, node.col_offset, node.end_col_offset


def origin(module: types.ModuleType, name: str) -> tuple[ast.expr, types.ModuleType] | None:
    """The expression that a module's top level gives a name."""
    try:
        tree = _tree(module)
    except (OSError, TypeError):
        return None
    for node in tree.body:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        if any(is_name(it, name) for it in targets) and isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value:
            return node.value, module
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.level:
            for alias in node.names:
                if (alias.asname or alias.name) == name and node.module:
                    return origin(import_module("." * node.level + node.module, module.__package__), alias.name)
    return None


def entry(base: Known, key: Any) -> tuple[ast.expr, types.ModuleType] | None:
    """The expression that a table's source has under a key."""
    if base.origin is None:
        return None
    node, module = base.origin
    if isinstance(node, ast.Dict):
        for name, value in zip(node.keys, node.values, strict=True):
            if isinstance(name, ast.Constant) and name.value == key:
                return value, module
            if name is None and isinstance(value, ast.Name):
                inner = origin(module, value.id)
                if inner and (found := entry(Known(None, inner), key)):
                    return found
    if isinstance(node, (ast.Tuple, ast.List)) and isinstance(key, int):
        return node.elts[key], module
    return None


def literal(value: Any) -> bool:
    """Whether `repr` is source that gives the value back."""
    if value is None or value is Ellipsis or isinstance(value, (bool, int, str, bytes)):
        return type(value) in (type(None), type(...), bool, int, str, bytes)
    if type(value) in (float, complex):
        return bool(np.isfinite(value))
    if type(value) in (tuple, list, set, frozenset):
        return all(map(literal, value)) and (bool(value) or type(value) in (tuple, list))
    if type(value) is dict:
        return all(map(literal, value)) and all(map(literal, value.values()))
    return False


def plain(value: Any) -> bool:
    """Whether a known value may stand for itself while folding: data, down to its parts."""
    if literal(value) or dataclasses.is_dataclass(value) or isinstance(value, (np.dtype, np.generic, type)):
        return True
    if type(value) in (tuple, list):
        return all(plain(it) or callable(it) for it in value)
    if isinstance(value, Mapping):
        return all(plain(it) or callable(it) for it in value.values())
    return isinstance(value, (types.MethodType, types.BuiltinMethodType, range))


def immutable(value: Any) -> bool:
    """Whether a variable may be replaced by its value wherever it is read."""
    return not isinstance(value, (set, np.ndarray, np.generic))
