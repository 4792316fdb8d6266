"""Gives the variables of a script their names."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Mapping, Sequence
from keyword import iskeyword
from typing import Any

from .syntax import COMPREHENSIONS, FUNCTIONS
from .values import UnfoldableError

BUILTINS = frozenset(vars(builtins))


class Scope:
    """A function, a comprehension or the whole script: what it sets, and all that it and what is inside mention."""

    def __init__(self, outer: Scope | None) -> None:
        self.outer = outer
        self.mentions: set[str] = set()

    def around(self, other: Scope) -> bool:
        """Whether it is the other, or around it."""
        at: Scope | None = other
        while at is not None and at is not self:
            at = at.outer
        return at is self


def named(statements: Sequence[ast.stmt], reserved: Iterable[str]) -> list[ast.stmt]:
    """The statements with a name for each symbol, such that none is taken for another.

    Parameters keep theirs where they can, as JAX's messages show them.
    """
    top = Scope(None)
    home: dict[str, Scope] = {}
    kept: list[str] = []
    for statement in statements:
        _look(statement, top, home, kept)
    if lost := {it for it in top.mentions if "@" in it} - home.keys():
        raise UnfoldableError(f"a script reads {', '.join(sorted(lost))}, which nothing sets")
    taken = {*reserved}
    names: dict[str, str] = {}
    for symbol in [*kept, *(it for it in home if it not in {*kept})]:
        scope = home[symbol]
        clashing = {it for it in scope.mentions if "@" not in it}
        for other, name in names.items():
            there = home[other]
            if (scope.around(there) and symbol in there.mentions) or (there.around(scope) and other in scope.mentions):
                clashing.add(name)
        unfit = taken if symbol in kept else taken | BUILTINS
        names[symbol] = next(it for it in _candidates(symbol) if it not in clashing and it not in unfit)
    return copied(statements, names)


def copied(statements: Sequence[ast.stmt], names: Mapping[str, str] | None = None) -> list[ast.stmt]:
    """Copies that share nothing, with names in place of symbols."""
    return [ast.fix_missing_locations(_copy(it, names or {})) for it in statements]


def _candidates(symbol: str) -> Iterable[str]:
    base = symbol.partition("@")[0]
    base = base if base.isidentifier() and not iskeyword(base) else "it"
    yield base
    number = 2
    while True:
        yield f"{base}_{number}" if base[-1].isdigit() else f"{base}{number}"
        number += 1


def _look(node: ast.AST, scope: Scope, home: dict[str, Scope], kept: list[str]) -> None:
    """Notes where each symbol is set and mentioned."""

    def mention(name: str, sets: bool) -> None:
        at: Scope | None = scope
        while at is not None:
            at.mentions.add(name)
            at = at.outer
        if sets and "@" in name:
            home.setdefault(name, scope)

    match node:
        case ast.Name():
            mention(node.id, isinstance(node.ctx, ast.Store))
        case ast.FunctionDef() | ast.ExceptHandler():
            if node.name:
                mention(node.name, True)
        case ast.arg():
            mention(node.arg, True)
            kept.append(node.arg)
            return
    if isinstance(node, FUNCTIONS):
        arguments = node.args
        outside = [
            *arguments.defaults,
            *(it for it in arguments.kw_defaults if it),
            *getattr(node, "decorator_list", []),
        ]
        for it in outside:
            _look(it, scope, home, kept)
        inner = Scope(scope)
        extra = [it for it in (arguments.vararg, arguments.kwarg) if it]
        for arg in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *extra):
            _look(arg, inner, home, kept)
        for it in [node.body] if isinstance(node, ast.Lambda) else node.body:
            _look(it, inner, home, kept)
    elif isinstance(node, COMPREHENSIONS):
        _look(node.generators[0].iter, scope, home, kept)
        inner = Scope(scope)
        for generator in node.generators:
            _look(generator.target, inner, home, kept)
        for index, generator in enumerate(node.generators):
            for it in [*([generator.iter] if index else []), *generator.ifs]:
                _look(it, inner, home, kept)
        for field in ("elt", "key", "value"):
            if hasattr(node, field):
                _look(getattr(node, field), inner, home, kept)
    else:
        for child in ast.iter_child_nodes(node):
            _look(child, scope, home, kept)


def _copy(node: Any, names: Mapping[str, str]) -> Any:
    if isinstance(node, list):
        return [_copy(it, names) for it in node]
    if isinstance(node, ast.Constant):
        return ast.Constant(node.value)
    if isinstance(node, ast.AST):
        return type(node)(**{field: _copy(value, names) for field, value in ast.iter_fields(node)})
    return names.get(node, node) if isinstance(node, str) and "@" in node else node
