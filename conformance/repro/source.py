"""Where a function or a table of the probes is written."""

from __future__ import annotations

import ast
import builtins
import inspect
import types
from functools import cache
from importlib import import_module
from typing import Any

from .syntax import is_name
from .values import MODULES, Known, UnfoldableError

PURE = (*MODULES, "collections", "copy", "functools", "re", "string", "textwrap", "typing")
"""Modules whose functions depend on their arguments alone."""

ELSEWHERE = (
    "__import__",
    "eval",
    "exec",
    "globals",
    "hash",
    "id",
    "input",
    "locals",
    "object",
    "open",
    "print",
    "vars",
)
"""Functions of Python that depend on more, or do more."""

Origin = tuple[ast.expr, types.ModuleType]


@cache
def _tree(module: types.ModuleType) -> ast.Module:
    return ast.parse(inspect.getsource(module))


@cache
def _functions(module: types.ModuleType) -> list[ast.FunctionDef | ast.Lambda]:
    return [node for node in ast.walk(_tree(module)) if isinstance(node, (ast.FunctionDef, ast.Lambda))]


def definition(function: Any) -> tuple[ast.FunctionDef | ast.Lambda, types.ModuleType]:
    """The source of a function, and the module that it is in."""
    return _definition(getattr(function, "__func__", function))


@cache
def _definition(function: types.FunctionType) -> tuple[ast.FunctionDef | ast.Lambda, types.ModuleType]:
    module = import_module(function.__module__)
    code = function.__code__
    if function.__closure__:
        raise UnfoldableError(f"{function.__qualname__} of {module.__name__} leans on variables of another function")
    found = [
        node
        for node in _functions(module)
        if code.co_filename == module.__file__
        and (node.name if isinstance(node, ast.FunctionDef) else "<lambda>") == code.co_name
        and min([node.lineno, *(it.lineno for it in getattr(node, "decorator_list", ()))]) == code.co_firstlineno
    ]
    if len(found) > 1:  # several lambdas that start on one line: the one whose body the code is of
        spans = set(code.co_positions())
        found = [it for it in found if isinstance(it, ast.Lambda) and _span(it.body) in spans]
    if len(found) != 1:
        raise UnfoldableError(f"the source of {function.__name__} is not found in {module.__name__}")
    return found[0], module


def _span(node: ast.expr) -> tuple[int | None, ...]:
    return node.lineno, node.end_lineno, node.col_offset, node.end_col_offset


def origin(module: types.ModuleType, name: str) -> Origin | None:
    """The expression that a module's top level gives a name, if it does so once."""
    try:
        tree = _tree(module)
    except (OSError, TypeError):
        return None
    given: list[ast.expr] = []
    for node in tree.body:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        if any(is_name(it, name) for it in targets) and isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value:
            given.append(node.value)
    if given:
        return (given[0], module) if len(given) == 1 else None
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.level:
            for alias in node.names:
                if (alias.asname or alias.name) == name and node.module:
                    return origin(import_module("." * node.level + node.module, module.__package__), alias.name)
    return None


def entry(base: Known, key: Any) -> Origin | None:
    """The expression that a table's source has under a key."""
    if base.origin is None:
        return None
    node, module = base.origin
    if isinstance(node, ast.Dict):
        for name, value in reversed([*zip(node.keys, node.values, strict=True)]):
            if isinstance(name, ast.Constant) and name.value == key:
                return value, module
            if name is None and isinstance(value, ast.Name):
                inner = origin(module, value.id)
                if inner and (found := entry(Known(None, inner), key)):
                    return found
    if isinstance(node, (ast.Tuple, ast.List)) and isinstance(key, int):
        spread = any(isinstance(it, ast.Starred) for it in node.elts)
        return None if spread else (node.elts[key], module)
    return None


def of_data_alone(function: Any, package: str) -> bool:
    """Whether a function of the suite depends on its arguments and on tables alone, as far as its names tell."""
    return _of_data_alone(getattr(function, "__func__", function), package)


@cache
def _of_data_alone(function: types.FunctionType, package: str, seen: frozenset[Any] = frozenset()) -> bool:
    names, here = _names(function.__code__), vars(import_module(function.__module__))
    for name in names:
        found = here.get(name, vars(builtins).get(name))
        module = isinstance(found, types.ModuleType)
        where = getattr(found, "__name__" if module else "__module__", None) or ""
        if where.startswith(package):
            parts = vars(found) if module or isinstance(found, type) else {name: found}
            inner = {it for key, it in parts.items() if key in names and isinstance(it, types.FunctionType)} - seen
            if not all(_of_data_alone(it, package, seen | inner) for it in inner):
                return False
        elif where == "builtins":
            if name in ELSEWHERE:
                return False
        elif where and (where.partition(".")[0] not in PURE or "random" in names):
            return False
    return True


def _names(code: types.CodeType) -> set[str]:
    inner = [it for it in code.co_consts if isinstance(it, types.CodeType)]
    return {*code.co_names}.union(*map(_names, inner))
