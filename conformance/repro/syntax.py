"""Small facts about syntax trees, and small pieces of them."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any, TypeGuard

from .values import CHANGES

FUNCTIONS = (ast.FunctionDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def name_of(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def is_name(node: Any, name: str) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name) and node.id == name


def reads(node: ast.AST) -> TypeGuard[ast.Name]:
    """Whether it is a name that is read."""
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)


def path_of(node: ast.AST) -> str | None:
    """A chain of names, such as jax.sharding.Mesh."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and (base := path_of(node.value)) is not None:
        return f"{base}.{node.attr}"
    return None


def assign(name: str, value: ast.expr) -> ast.Assign:
    return ast.Assign([ast.Name(name, ast.Store())], value)


def parameters(node: ast.FunctionDef | ast.Lambda) -> list[str]:
    it = node.args
    extra = [more.arg for more in (it.vararg, it.kwarg) if more is not None]
    return [arg.arg for arg in (*it.posonlyargs, *it.args, *it.kwonlyargs)] + extra


def body_of(node: ast.AST) -> list[ast.stmt]:
    """The statements of a function; a lambda has none."""
    return node.body if isinstance(node, ast.FunctionDef) else []


def room(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """All nodes that share their variables: what inner functions and comprehensions hold stays out."""
    for node in nodes:
        yield node
        if isinstance(node, FUNCTIONS):
            arguments = node.args
            given = [*arguments.defaults, *(it for it in arguments.kw_defaults if it is not None)]
            yield from room([*given, *getattr(node, "decorator_list", ())])
        elif isinstance(node, COMPREHENSIONS):
            yield from room([node.generators[0].iter])
        else:
            yield from room(ast.iter_child_nodes(node))


def stored(nodes: Iterable[ast.AST]) -> set[str]:
    """The names that statements set or delete, inner functions apart."""
    return {name for node in room(nodes) if (name := _set(node))}


def _set(node: ast.AST) -> str | None:
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.FunctionDef(name=name):
            return name
        case ast.ExceptHandler(name=name):
            return name
    return None


def once(node: ast.FunctionDef | ast.Lambda) -> set[str]:
    """The names that a function sets once, and not in a loop; its parameters if it never sets them."""
    counts: dict[str, int] = dict.fromkeys(parameters(node), 1)

    def visit(nodes: Iterable[ast.AST], weight: int) -> None:
        for it in nodes:
            if name := _set(it):
                counts[name] = counts.get(name, 0) + weight
            if not isinstance(it, (*FUNCTIONS, *COMPREHENSIONS)):
                visit(ast.iter_child_nodes(it), 2 if isinstance(it, (ast.For, ast.While)) else weight)

    visit(body_of(node), 1)
    return {name for name, count in counts.items() if count == 1}


def captured(nodes: Iterable[ast.AST]) -> set[str]:
    """The names that inner functions and generators take from outside, whenever they run."""
    found: set[str] = set()
    for outer in nodes:
        for node in ast.walk(outer):
            if isinstance(node, FUNCTIONS):
                inside = [node.body] if isinstance(node, ast.Lambda) else node.body
                mine = set(parameters(node)) | stored(inside)
                found |= {it.id for part in inside for it in ast.walk(part) if isinstance(it, ast.Name)} - mine
            elif isinstance(node, ast.GeneratorExp):
                mine = stored([it.target for it in node.generators])
                found |= {it.id for it in ast.walk(node) if reads(it)} - mine
    return found


def mentions(name: str, nodes: Iterable[ast.AST]) -> bool:
    """Whether a name stands in statements, however it is used."""
    return any(
        is_name(it, name) or (isinstance(it, (ast.ExceptHandler, ast.FunctionDef)) and it.name == name)
        for part in nodes
        for it in ast.walk(part)
    )


def private(name: str, blocks: Iterable[Sequence[ast.stmt]], whole: ast.AST) -> bool:
    """Whether these blocks of a function use a name each for itself, and so do all others that use it."""
    homes = None if name in captured(body_of(whole)) else _homes(name, body_of(whole))
    return homes is not None and all(id(it) in homes for it in blocks if mentions(name, it))


def _homes(name: str, statements: Sequence[ast.stmt]) -> set[int] | None:
    """The blocks that set a name before they use it; None where it is used in another."""
    used = [it for it in statements if mentions(name, [it])]
    if used and isinstance(used[0], ast.Assign) and name in stored(used[0].targets):
        return None if mentions(name, [used[0].value]) else {id(statements)}
    found: set[int] = set()
    for statement in used:
        blocks = [getattr(statement, it, []) for it in ("body", "orelse", "finalbody")]
        handlers = getattr(statement, "handlers", [])
        rest = [it for it in ast.iter_child_nodes(statement) if not isinstance(it, (ast.stmt, ast.ExceptHandler))]
        if mentions(name, rest) or isinstance(statement, FUNCTIONS) or any(it.name == name for it in handlers):
            return None
        for block in [*blocks, *(it.body for it in handlers)]:
            inner = _homes(name, block)
            if inner is None:
                return None
            found |= inner
        if mentions(name, [it.type for it in handlers if it.type]):
            return None
    return found


@cache
def changed(name: str, whole: ast.AST) -> bool:
    """Whether a function may change in place what a variable holds."""
    for node in ast.walk(whole):
        match node:
            case ast.Call(func=ast.Attribute(value=base, attr=attr)) if attr in CHANGES and _rooted(base, name):
                return True
            case ast.Subscript(ctx=ast.Store() | ast.Del()) if _rooted(node.value, name):
                return True
            case ast.AugAssign() if _rooted(node.target, name):
                return True
    return False


def passed_on(name: str, whole: ast.AST, variables: Iterable[str]) -> bool:
    """Whether a variable is an argument of a function that is a variable itself, which may change it in place."""
    mine = set(variables)
    calls = [it for it in ast.walk(whole) if isinstance(it, ast.Call)]
    inner = [it for it in calls if not isinstance(it.func, ast.Name) or it.func.id in mine]
    inner = [
        it
        for it in inner
        if not isinstance(it.func, ast.Attribute) or not (_rooted(it.func, "jax") or _rooted(it.func, "see"))
    ]
    given = [arg for it in inner for arg in (*it.args, *(more.value for more in it.keywords))]
    return any(is_name(it, name) for it in given)


def _rooted(node: ast.AST, name: str) -> bool:
    """Whether it is the variable, or a part of what it holds."""
    while isinstance(node, (ast.Subscript, ast.Attribute)):
        node = node.value
    return is_name(node, name)


def only_read(name: str, whole: ast.AST) -> bool:
    """Whether a function only takes parts of a variable: it neither changes it nor hands it on."""
    for outer in ast.walk(whole):
        for field, value in ast.iter_fields(outer):
            inside = value if isinstance(value, list) else [value]
            if any(is_name(it, name) and isinstance(it.ctx, ast.Load) for it in inside):
                parts = (isinstance(outer, ast.Subscript) and isinstance(outer.ctx, ast.Load) and field == "value") or (
                    isinstance(outer, (ast.For, ast.comprehension)) and field == "iter"
                )
                parts = parts or (isinstance(outer, ast.Call) and getattr(outer.func, "id", "") in ("zip", "enumerate"))
                spread = isinstance(outer, ast.Starred) or (isinstance(outer, ast.keyword) and outer.arg is None)
                if not parts and not spread:
                    return False
    return True


def only_combined(name: str, whole: ast.AST) -> bool:
    """Whether a function only merges, spreads, reads by key or returns a table of facts."""
    for outer in ast.walk(whole):
        for field, value in ast.iter_fields(outer):
            inside = value if isinstance(value, list) else [value]
            if any(is_name(it, name) for it in inside) and not (
                (isinstance(outer, (ast.BinOp, ast.AugAssign)) and isinstance(outer.op, ast.BitOr))
                or (isinstance(outer, ast.keyword) and outer.arg is None)
                or (isinstance(outer, (ast.Assign, ast.AnnAssign)) and field in ("target", "targets"))
                or (isinstance(outer, ast.Subscript) and isinstance(outer.ctx, ast.Load) and field == "value")
                or isinstance(outer, ast.Return)
            ):
                return False
    return True


def calm(node: ast.expr) -> bool:
    """Whether it does not matter when, or whether, an expression is evaluated within its statement."""
    match node:
        case ast.Name() | ast.Constant() | ast.Lambda():
            return True
        case ast.Attribute():
            return (path_of(node) or "").startswith(("jax.", "np."))
        case ast.Subscript(value=base, slice=index):
            return isinstance(base, ast.Call) and calm(base) and calm(index)
        case ast.Call(func=func, args=[], keywords=[]):
            return path_of(func) == "jax.devices"
        case ast.UnaryOp(operand=ast.Constant()):
            return True
        case ast.Tuple() | ast.List():
            return all(map(calm, node.elts))
        case ast.Dict():
            return all(it is None or calm(it) for it in [*node.keys, *node.values])
    return False
