"""What is known while one function is folded."""

from __future__ import annotations

import ast
import types
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import Literal

from .syntax import assign, body_of, captured, name_of, once, parameters, stored
from .values import Value

Kind = Literal["main", "inline", "stays"]
"""The probe itself, written out at the top; a helper that is written out where it is called; a function that stays."""


class LeftError(Exception):
    """A function cannot be written out in line, as it returns from inside of something that is left to run."""


class Symbols:
    """Names of a script while it is made: each variable has one of its own, such as x@3, until all are known."""

    def __init__(self) -> None:
        self.numbers = count()

    def fresh(self, name: str) -> str:
        return f"{name}@{next(self.numbers)}"


class Frame:
    """One function that is being folded."""

    def __init__(
        self,
        kind: Kind,
        module: types.ModuleType,
        node: ast.FunctionDef | ast.Lambda,
        symbols: Symbols,
        outer: Frame | None = None,
    ) -> None:
        self.kind, self.module, self.node, self.symbols = kind, module, node, symbols
        self.env: dict[str, Value] = {}
        self.out: list[ast.stmt] = []
        self.own: dict[str, str] = {}  # the symbols of its variables
        body = body_of(node)
        self.locals = set(parameters(node)) | stored(body)
        self.once = once(node)
        self.captured = captured([node.body] if isinstance(node, ast.Lambda) else body) & self.locals
        self.loose = self.captured - self.once
        """Variables that stay variables, as what is left to run sets or reads them."""
        self.stable: set[str] = outer.stable if outer else {"jax"}
        """Symbols that are set once and for all."""
        self.straight: bool = outer.straight if outer else True
        """Whether a statement may be put before the one at hand."""
        self.looping: bool = outer.looping if outer else False
        """Whether this may run more than once, with the same variables."""
        self.last = kind == "main"
        """Whether nothing comes after the statements at hand."""
        if outer and kind == "inline":
            self.out = outer.out

    def symbol(self, name: str) -> str:
        if name not in self.own:
            self.own[name] = self.symbols.fresh(name)
        return self.own[name]

    def emit(self, name: str, value: ast.expr) -> ast.Name:
        """A new variable that is set once."""
        symbol = self.symbols.fresh(name)
        if not self.straight:
            raise LeftError
        self.out.append(assign(symbol, value))
        if not self.looping:
            self.stable.add(symbol)
        return name_of(symbol)

    @contextmanager
    def crooked(self, really: bool = True, looping: bool = False) -> Iterator[None]:
        """Within, no statement may be put before the one at hand: it may not run, or run more than once."""
        before = self.straight, self.looping
        self.straight, self.looping = self.straight and not really, self.looping or looping
        try:
            yield
        finally:
            self.straight, self.looping = before
