"""Writes known values as a script has them."""

from __future__ import annotations

import ast
import types
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np

from .base import Base
from .frame import Frame
from .source import entry
from .syntax import name_of
from .values import Known, Row, Table, UnfoldableError, Value, literal


class Spelling(Base):
    def spelled(self, value: Value, frame: Frame) -> ast.expr:
        """A value as an expression of the script."""
        match value:
            case Row(_, parts, True):
                return _call("iter", self.spelled(Row(list, parts), frame))
            case Row(kind, parts):
                elements = [self.spelled(it, frame) for it in parts]
                if kind is set:
                    return ast.Set(elements) if elements else _call("set")
                return (ast.Tuple if kind is tuple else ast.List)(elements, ast.Load())
            case Table(keys, values):
                said = [None if key is None else self.spelled(key, frame) for key in keys]
                return ast.Dict(said, [self.spelled(it, frame) for it in values])
            case Known(lazy=True):
                return _call("iter", self.spelled(Known(value.value, value.origin), frame))
            case Known():
                return self.known(value, frame)
        return value

    def consumed(self, value: Value, frame: Frame) -> ast.expr:
        """A value that is used up at once, so that an iterator may be written as a row."""
        match value:
            case Known(it, source, lazy=True):
                return self.known(Known(it, source), frame)
            case Row(kind, parts, True):
                return self.spelled(Row(kind, parts), frame)
        return self.spelled(value, frame)

    def known(self, value: Known, frame: Frame) -> ast.expr:
        it = value.value
        if it is ...:
            return ast.Constant(it)
        if literal(it):
            return ast.parse(repr(it), mode="eval").body
        if value.shown:
            return self.path(value.shown)
        if isinstance(it, float):
            return _call("float", ast.Constant(str(it)))
        if isinstance(it, types.ModuleType) and not it.__name__.startswith(self.package):
            return self.path(it.__name__)
        if type(it) in (tuple, list):
            parts = [self.known(Known(part, entry(value, i)), frame) for i, part in enumerate(it)]
            return (ast.Tuple if type(it) is tuple else ast.List)(parts, ast.Load())
        if type(it) in (set, frozenset):
            held = ast.Set([self.known(Known(part), frame) for part in sorted(it, key=repr)])
            made = [held] if it else []
            return _call(type(it).__name__, *made) if type(it) is frozenset or not made else held
        if isinstance(it, Mapping):
            values = [self.known(Known(part, entry(value, key)), frame) for key, part in it.items()]
            return ast.Dict([self.known(Known(key), frame) for key in it], values)
        if isinstance(it, range):
            return ast.parse(f"range({it.stop})" if it == range(it.stop) else repr(it), mode="eval").body
        if isinstance(it, slice):
            return _call("slice", *(self.known(Known(part), frame) for part in (it.start, it.stop, it.step)))
        if isinstance(it, np.dtype):
            spelled = it.name if it.name in np.sctypeDict and np.dtype(it.name) == it else it.str
            return ast.Call(self.path("numpy.dtype"), [ast.Constant(spelled)], [])
        if isinstance(it, np.generic):
            return ast.Call(self.path(f"numpy.{type(it).__name__}"), [self.known(Known(it.item()), frame)], [])
        if self.ours(it):
            return self.passed(it, frame)
        if isinstance(it, types.BuiltinMethodType) and not isinstance(it.__self__, types.ModuleType):
            return ast.Attribute(self.known(Known(it.__self__), frame), it.__name__, ast.Load())
        if (path := self.found(it)) is not None:
            return self.path(path)
        if value.origin is not None:
            node, module = value.origin
            outer = ast.Lambda(ast.arguments([], [], None, [], [], None, []), node)
            inner = Frame("inline", module, outer, frame.symbols, frame)
            return self.spelled(self.expr(node, inner), inner)
        raise UnfoldableError(f"a script cannot be given {it!r}")

    def path(self, path: str) -> ast.expr:
        """A dotted path, whose module the script imports."""
        parts = path.split(".")
        count = len(parts)
        while count > 1 and not _is_module(".".join(parts[:count])):
            count -= 1
        module = ".".join(parts[:count])
        if module == "numpy":
            self.imports.add("import numpy as np")
            path = ".".join(["np", *parts[1:]])
        elif module != "builtins":
            self.imports.add(f"import {module}")
        else:
            path = parts[-1]
        return ast.parse(path, mode="eval").body

    def found(self, it: Any) -> str | None:
        """Where a function or a class is found by its name."""
        where, name = getattr(it, "__module__", None), getattr(it, "__qualname__", "")
        if not where or where.startswith(self.package) or not name.isidentifier():
            return None
        return f"{where}.{name}" if getattr(import_module(where), name, None) is it else None


def _is_module(path: str) -> bool:
    try:
        return isinstance(import_module(path), types.ModuleType)
    except ImportError:
        return False


def _call(name: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(name_of(name), [*arguments], [])
