"""Small facts about syntax trees, and small pieces of them."""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, TypeGuard


def still(node: ast.expr) -> bool:
    """Whether an expression gives the same wherever it is evaluated."""
    if isinstance(node, ast.Attribute):
        return still(node.value)
    if isinstance(node, ast.Subscript):
        return still(node.value) and still(node.slice)
    if isinstance(node, ast.Call) and not node.args:
        return ast.unparse(node.func) == "jax.devices"
    if isinstance(node, (ast.Tuple, ast.List)):
        return all(map(still, node.elts))
    if isinstance(node, ast.Dict):
        return all(it is None or still(it) for it in [*node.keys, *node.values])
    return isinstance(node, (ast.Name, ast.Constant, ast.Lambda))


def reads(node: ast.AST) -> TypeGuard[ast.Name]:
    """Whether it is a name that is read."""
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)


def is_name(node: Any, name: str) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name) and node.id == name


def only_read(name: str, node: ast.AST) -> bool:
    """Whether a function only takes parts of a variable: it neither changes it nor hands it on."""
    for outer in ast.walk(node):
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


def only_combined(name: str, node: ast.AST) -> bool:
    """Whether a function only merges, spreads, reads by key or returns a table of facts."""
    for outer in ast.walk(node):
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


def read_in(statements: Iterable[ast.AST]) -> Counter[str]:
    """How often names are read in statements."""
    return Counter(it.id for part in statements for it in ast.walk(part) if isinstance(it, ast.Name) and reads(it))


def is_world(node: Any) -> bool:
    """`jax` and `see`, which a script has at its top."""
    return isinstance(node, ast.Name) and node.id in ("jax", "see")


def name_of(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


HOLE = ast.Constant(None)


def assign(name: str, value: ast.expr) -> ast.Assign:
    return ast.Assign([ast.Name(name, ast.Store())], value)


def load(node: ast.expr) -> ast.expr:
    node = copy.copy(node)
    if hasattr(node, "ctx"):
        node.ctx = ast.Load()
    return node


def store(node: ast.expr) -> ast.expr:
    node = copy.copy(node)
    if hasattr(node, "ctx"):
        node.ctx = ast.Store()
    if isinstance(node, (ast.Tuple, ast.List)):
        node.elts = [store(it) for it in node.elts]
    return node


def shown(node: ast.expr) -> ast.FormattedValue:
    return ast.FormattedValue(node, -1, None)


def merged(left: ast.Dict, right: ast.Dict) -> ast.Dict:
    return ast.Dict([*left.keys, *right.keys], [*left.values, *right.values])


def ends(statements: Sequence[ast.stmt]) -> bool:
    return bool(statements) and isinstance(statements[-1], ast.Return) and statements[-1].value is None


def stored(statements: Iterable[ast.AST]) -> set[str]:
    """The names that statements set, inner functions apart."""
    found: set[str] = set()
    rooms: list[ast.AST] = list(statements)
    while rooms:
        node = rooms.pop()
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            if isinstance(node, ast.FunctionDef):
                found.add(node.name)
            continue
        if isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
            found.add(node.id)
        if isinstance(node, ast.ExceptHandler) and node.name:
            found.add(node.name)
        rooms += ast.iter_child_nodes(node)
    return found


def stored_once(node: ast.AST) -> set[str]:
    """The names that a function sets once, and not in a loop; its parameters if it never sets them."""
    counts: dict[str, int] = {}

    def visit(it: ast.AST, weight: int) -> None:
        if isinstance(it, ast.Name) and isinstance(it.ctx, (ast.Store, ast.Del)):
            counts[it.id] = counts.get(it.id, 0) + weight
        if isinstance(it, ast.arg):
            counts[it.arg] = counts.get(it.arg, 0) + 1
        for child in ast.iter_child_nodes(it):
            visit(child, 2 if isinstance(it, (ast.For, ast.While)) else weight)

    visit(node, 1)
    return {name for name, count in counts.items() if count == 1}


def tidy(statements: list[ast.stmt]) -> list[ast.stmt]:
    for statement in statements:
        ast.fix_missing_locations(statement)
    return statements


def one_by_one(targets: Sequence[ast.expr], given: Sequence[ast.expr]) -> bool:
    """Whether `a, b = x, y` may be written `a = x; b = y`."""
    spread = any(isinstance(it, ast.Starred) for it in (*targets, *given))
    names = stored(targets)
    swaps = any(reads(it) and it.id in names for value in given for it in ast.walk(value))
    return len(targets) == len(given) and not spread and not swaps
