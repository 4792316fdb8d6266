"""Makes a script shorter and nicer to read, and nothing else."""

from __future__ import annotations

import ast
import copy
import textwrap
from collections import Counter
from collections.abc import Collection, Iterable

from .calls import early
from .fold import Folded
from .syntax import COMPREHENSIONS, is_name, path_of, reads, stored

QUIET = ("isinstance", "len", "list", "sorted", "tuple", "type", "jax.devices")
QUIET_METHODS = ("astype", "copy", "default_memory", "get", "items", "keys", "reshape", "split", "values", "view")
"""What a statement may call and still be left out where nobody asks for what it gives."""


def tidied(functions: list[ast.stmt], body: list[ast.stmt]) -> tuple[list[ast.stmt], list[ast.stmt]]:
    """A script without what folding leaves: values that are named to be used at once, and `pass`."""
    compact = _Compact()
    functions, body = [compact.visit(it) for it in functions], [compact.visit(it) for it in body]
    while True:
        names = [it for part in (*functions, *body) for it in ast.walk(part) if isinstance(it, ast.Name)]
        once = Counter(it.id for it in names if isinstance(it.ctx, ast.Store))
        read = Counter(it.id for it in names if reads(it))
        joined = _Joined({name for name, count in once.items() if count == read[name] == 1 and "@" in name})
        functions, body = joined.body(functions), joined.body(body)
        if not joined.found:
            return functions, body


class _Joined(ast.NodeTransformer):
    """Puts a value that has a name for the next statement alone where that statement has the name."""

    def __init__(self, names: Collection[str]) -> None:
        self.names = names
        self.found = False

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        for field, value in ast.iter_fields(node):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                setattr(node, field, self.body(value, visit=False))
        return node

    def body(self, statements: Iterable[ast.stmt], visit: bool = True) -> list[ast.stmt]:
        made: list[ast.stmt] = []
        for statement in [self.visit(it) if visit else it for it in statements]:
            if made and self.join(made[-1], statement):
                made.pop()
            made.append(statement)
        return [it for it in made if not isinstance(it, ast.Pass)] or made[:1]

    def join(self, first: ast.stmt, then: ast.stmt) -> bool:
        match first, then:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value),
                ast.Expr(value=taker) | ast.Assign(value=taker) | ast.Return(value=ast.expr() as taker),
            ) if name in self.names:
                pass
            case _:
                return False
        place = next((it for it in ast.walk(taker) if isinstance(it, ast.Name) and it.id == name), None)
        ends = isinstance(then, ast.Return) and place is taker  # what it holds goes to the caller all the same
        spare = name.startswith("it@") or ends
        if place is None or not (spare or isinstance(value, ast.Lambda)):
            return False
        inner = [it for it in ast.walk(taker) if isinstance(it, (ast.Lambda, *COMPREHENSIONS))]
        if any(place is it for outer in inner for it in ast.walk(outer)):
            return False
        if not isinstance(value, ast.Lambda) and [*early(taker, [place])] != [place]:
            return False
        then_: ast.AST = _Put(place, value).visit(then)
        self.found = True
        return then_ is then


class _Put(ast.NodeTransformer):
    def __init__(self, place: ast.Name, value: ast.expr) -> None:
        self.place, self.value = place, value

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return self.value if node is self.place else node


class _Compact(ast.NodeTransformer):
    """Writes a list of devices as a user would."""

    def visit_List(self, node: ast.List) -> ast.AST:
        ids = [id for it in node.elts if (id := _device(it)) is not None]
        if len(ids) < max(2, len(node.elts)):
            return self.generic_visit(node)
        first, end = ids[0], ids[0] + len(ids)
        if ids == [*range(first, end)]:
            return ast.parse(f"jax.devices()[{first or ''}:{end}]", mode="eval").body
        made = ast.parse(f"[jax.devices()[i] for i in {tuple(ids)}]", mode="eval").body
        for it in ast.walk(made):
            if isinstance(it, ast.Name) and it.id == "i":
                it.id = "i@"
        return made

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        """0 - x.ctypes.data"""
        self.generic_visit(node)
        match node:
            case ast.BinOp(ast.Constant(0), ast.Sub(), ast.Attribute(ast.Attribute(attr="ctypes"), "data") as address):
                return ast.UnaryOp(ast.USub(), address)
        return node


def wrapped(statements: Iterable[ast.stmt], width: int) -> list[ast.stmt]:
    """Functions whose docstrings fit into the width."""
    return [_Wrapped(width).visit(it) for it in statements]


class _Wrapped(ast.NodeTransformer):
    def __init__(self, width: int, indent: int = 0) -> None:
        self.width, self.indent = width, indent

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self.visit_definition(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return self.visit_definition(node)

    def visit_definition(self, node: ast.FunctionDef | ast.ClassDef) -> ast.AST:
        indent = self.indent + 4
        node.body = [_Wrapped(self.width, indent).visit(it) for it in node.body]
        if said := ast.get_docstring(node):
            node.body[0] = ast.Expr(ast.Constant(_laid_out(said, self.width, " " * indent)))
        return node


def _laid_out(said: str, width: int, indent: str) -> str:
    """A docstring as it stands between its quotes."""
    quotes = 3
    lines = said.splitlines()

    def fits() -> bool:
        ends = [indent + quotes * " " + lines[0], *(indent + it for it in lines[1:])]
        return all(len(it) <= width for it in ends) and (len(lines) > 1 or len(ends[0]) + quotes <= width)

    if not fits():
        first, *others = said.split("\n\n")
        filled = [
            textwrap.fill(it, width, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)
            for it in [" " * quotes + first, *others]
        ]
        lines = [it.strip() for it in "\n\n".join(filled).splitlines()]
    return lines[0] if len(lines) == 1 and fits() else f"\n{indent}".join([*lines, ""])


def _device(node: ast.expr) -> int | None:
    """The number of a device."""
    match node:
        case ast.Subscript(value=base, slice=ast.Constant(value=int(id))) if ast.unparse(base) == "jax.devices()":
            return id
    return None


def shortened(
    folded: Folded, kept: Collection[str], observers: Collection[str]
) -> tuple[list[ast.stmt], list[ast.stmt]]:
    """Without the facts that the rule does not speak of, and without what was only there for them."""
    body = [_Notes(kept).visit(copy.deepcopy(it)) for it in folded.body]
    functions = [_Notes(kept).visit(copy.deepcopy(it)) for it in folded.functions]
    quiet = set(observers)
    quiet |= {it.name for it in functions if isinstance(it, ast.FunctionDef) and _quiet(it, quiet)}
    while True:
        read = {it.id for part in body for it in ast.walk(part) if reads(it)}
        left = [it for it in body if it is not None and not _idle(it, read, quiet)]
        if len(left) == len(body):
            break
        body = left
    following = [*body[1:], None]  # a step that announces nothing is none
    body = [it for it, then in zip(body, following, strict=True) if not (_steps(it) and (then is None or _steps(then)))]
    return body, functions


def _steps(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and is_name(node.value.func, "step")


def needed(functions: Iterable[ast.stmt], body: Iterable[ast.stmt]) -> list[ast.stmt]:
    """The functions that a script calls, and those that they call."""
    used = {it.id for part in body for it in ast.walk(part) if reads(it)}
    kept: list[ast.stmt] = []
    for it in reversed([*functions]):
        if stored([it]) & used:
            used |= {inner.id for inner in ast.walk(it) if reads(inner)}
            kept.insert(0, it)
    return kept


def _idle(node: ast.stmt, read: Collection[str], quiet: Collection[str]) -> bool:
    """Whether a statement only looks at something that nobody asks for."""
    if isinstance(node, ast.Assign) and all(isinstance(it, ast.Name) and it.id not in read for it in node.targets):
        return _quiet(node.value, quiet)
    return isinstance(node, ast.Pass) or (isinstance(node, ast.Expr) and _quiet(node, quiet))


def _quiet(node: ast.AST, quiet: Collection[str]) -> bool:
    """Whether nothing that it calls changes anything."""
    calls = [it.func for it in ast.walk(node) if isinstance(it, ast.Call)]
    methods = [it.attr in QUIET_METHODS for it in calls if isinstance(it, ast.Attribute) and not _of_jax(it)]
    paths = [path_of(it) or "" for it in calls if not isinstance(it, ast.Attribute) or _of_jax(it)]
    known = (it in quiet or it in QUIET or it.startswith(("np.", "jax.sharding.")) for it in paths)
    return all(methods) and all(known)


def _of_jax(node: ast.AST) -> bool:
    return (path_of(node) or "").startswith(("np.", "jax."))


class _Notes(ast.NodeTransformer):
    def __init__(self, kept: Collection[str]) -> None:
        self.kept = kept

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        call = node.value
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "note"):
            return node
        call.keywords = [it for it in call.keywords if it.arg is None or it.arg in self.kept]
        return node if call.keywords else ast.Pass()
