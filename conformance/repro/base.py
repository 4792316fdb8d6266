"""What the parts of the folder share: the script so far, and the order in which things are evaluated."""

from __future__ import annotations

import ast
import types
from abc import ABC, abstractmethod
from collections.abc import Callable, ItemsView, Iterable, KeysView, Sequence, ValuesView
from functools import partial
from typing import Any

from .frame import Frame, Symbols
from .syntax import calm
from .values import Known, Row, Table, Value


class Base(ABC):
    """The script so far, and how its parts are put in order."""

    def __init__(self, package: str, observers: set[str], again: set[Any]) -> None:
        self.package, self.observers, self.again = package, observers, again
        self.symbols = Symbols()
        self.lengths: dict[Any, list[int]] = {}  # of what each helper with its known arguments was written out as
        self.within: dict[Any, set[Any]] = {}  # which others were written out in it
        self.functions: list[ast.stmt] = []
        self.specialised: dict[Any, str] = {}
        self.parameters: dict[str, dict[str, str]] = {}  # of each function of the script, and their symbols
        self.imports: set[str] = set()
        self.underway: list[Any] = []  # helpers that are being written out

    # Given by the parts.

    @abstractmethod
    def block(self, statements: Sequence[ast.stmt], frame: Frame) -> Value | None: ...

    @abstractmethod
    def loosen(self, names: Iterable[str], frame: Frame) -> None: ...

    @abstractmethod
    def expr(self, node: ast.expr, frame: Frame) -> Value: ...

    @abstractmethod
    def truth(self, value: Value, frame: Frame) -> Known | ast.expr: ...

    @abstractmethod
    def function(self, node: ast.FunctionDef, frame: Frame) -> ast.FunctionDef: ...

    @abstractmethod
    def call(self, node: ast.Call, frame: Frame) -> Value: ...

    @abstractmethod
    def passed(self, function: Any, frame: Frame) -> ast.expr: ...

    @abstractmethod
    def spelled(self, value: Value, frame: Frame) -> ast.expr: ...

    @abstractmethod
    def path(self, path: str) -> ast.expr: ...

    @abstractmethod
    def consumed(self, value: Value, frame: Frame) -> ast.expr: ...

    # The order in which things are evaluated.

    def several(self, nodes: Sequence[ast.expr], frame: Frame) -> list[Value]:
        """The values of operands that are evaluated one after the other."""
        return self.in_order([partial(self.expr, node, frame) for node in nodes], frame)

    def in_order(self, folds: Sequence[Callable[[], Value]], frame: Frame) -> list[Value]:
        """Folds one after the other. Where a later one puts statements before, earlier ones become variables first."""
        values: list[Value] = []
        for fold in folds:
            before = len(frame.out)
            value = fold()
            if len(frame.out) > before:
                put, frame.out[before:] = frame.out[before:], []
                values = [self.settled(it, frame) for it in values]
                frame.out += put
            values.append(value)
        return values

    def settled(self, value: Value, frame: Frame, name: str = "it") -> Value:
        """A value of which nothing is left to run: what is becomes a variable."""
        match value:
            case Known():
                return value
            case Row(kind, parts, lazy):
                return type(value)(kind, [self.settled(it, frame, name) for it in parts], lazy)
            case Table(keys, values):
                pairs = [
                    (key and self.settled(key, frame, name), self.settled(it, frame, name))
                    for key, it in zip(keys, values, strict=True)
                ]
                return Table([key for key, _ in pairs], [it for _, it in pairs])
            case ast.Starred():
                if calm(value.value):
                    return value
                return ast.Starred(frame.emit(name, ast.List([value], ast.Load())), ast.Load())
        return value if calm(value) else frame.emit(name, value)

    def firm(self, value: Value, frame: Frame, name: str) -> Value:
        """A value that gives the same object wherever, and however often, it is written."""
        match value:
            case Known():
                return value
            case Row(kind, parts, lazy) if kind is tuple and not value.spread and not lazy:
                return Row(kind, [self.firm(it, frame, f"{name}{i}") for i, it in enumerate(parts)])
            case ast.Name() if value.id in frame.stable or "@" not in value.id:
                return value
            case ast.Attribute() | ast.Subscript() | ast.Constant() if calm(value):
                return value
        return frame.emit(name, self.spelled(value, frame))

    def calm(self, value: Value) -> bool:
        """Whether nothing of a value is left to run that does anything."""
        match value:
            case Known():
                return True
            case Row(_, parts):
                return all(map(self.calm, parts))
            case Table(keys, values):
                return all(it is None or self.calm(it) for it in [*keys, *values])
            case ast.Starred():
                return calm(value.value)
        return calm(value)

    def ready(self, value: Value, frame: Frame) -> Value:
        """A row or a table whose parts have run, so that they may be taken apart, where statements can be put."""
        taken = isinstance(value, Table) or (isinstance(value, Row) and not value.spread and value.kind is not set)
        return self.settled(value, frame) if taken and frame.straight else value

    def elements(self, value: Value, frame: Frame) -> list[Value] | None:
        """The elements of a value that is ready, where their number is known."""
        match value:
            case Known(it) if isinstance(it, (tuple, list, dict, str, range, KeysView, ValuesView, ItemsView)):
                return self.entries(value)
            case Row() if not value.spread and value.kind is not set and self.calm(value):
                return value.parts
        return None

    def entries(self, value: Known) -> list[Value]:
        raise NotImplementedError

    def ours(self, function: Any) -> bool:
        """Whether it is one of the suite's functions."""
        where = getattr(function, "__module__", None) or ""
        return where.startswith(self.package) and isinstance(function, (types.FunctionType, types.MethodType))
