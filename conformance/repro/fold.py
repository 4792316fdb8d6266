"""Folds a case into the source of a probe.

What the case's data decide is decided, helpers are written out where they are called, and what is left is the straight
code that a JAX user would have written for this one case. It is what makes a probe a script.

A value is either `Known`, a Python object at hand, or an expression that is left to run.
"""

from __future__ import annotations

import ast
import copy
import dataclasses
import inspect
import types
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from keyword import iskeyword
from typing import Any

import numpy as np

from .source import Known, UnfoldableError, definition, entry, immutable, literal, origin, plain
from .syntax import (
    HOLE,
    assign,
    ends,
    is_name,
    is_world,
    load,
    merged,
    name_of,
    one_by_one,
    only_combined,
    only_read,
    read_in,
    reads,
    shown,
    still,
    store,
    stored,
    stored_once,
    tidy,
)

UNROLLED = 12  # rounds of a loop, at most, that are written out


Value = Known | ast.expr


class _Left(Exception):  # noqa: N818, a signal
    """A function returns from inside of something that is left to run: it cannot be written out in line."""


@dataclasses.dataclass
class Folded:
    """The statements of a script's body, the functions they call, and what they need besides."""

    body: list[ast.stmt]
    functions: list[ast.stmt]
    imports: set[str]
    observers: set[str]


def fold(probe: Callable[..., Any], case: Mapping[str, Any], package: str, reserved: Iterable[str]) -> Folded:
    """The probe with that case folded in; `package` holds the probes, `reserved` names the script's own functions."""
    names = {"jax", "see", "np", "json", "os", "sys", "seen", "note", "step", "legal", "ok", *reserved}
    again: set[Any] = set()
    while True:  # a helper that is called again, and is more than an expression, becomes a function of the script
        folder = _Folder(package, names, again)
        folded = folder.main(probe, case)
        if not (more := folder.repeated() - again):
            return folded
        again |= more


class _Frame:
    """One function whose body is being folded; one written out in line shares `out` and `taken` with its caller."""

    def __init__(
        self, module: types.ModuleType, node: ast.AST, out: list[ast.stmt], taken: set[str], void: bool = False
    ) -> None:
        self.module, self.out, self.taken, self.void = module, out, taken, void
        self.env: dict[str, Value] = {}
        self.emitted: dict[str, str] = {}  # a variable's name in the script
        self.node = node
        self.loose: set[str] = set()  # variables that are set inside of what is left to run
        self.straight = True  # whether statements may be put before the one at hand
        self.once = stored_once(node)
        self.stable: set[str] = {"jax", "see"}

    def name(self, source: str) -> str:
        if source not in self.emitted:
            name = source
            while name in self.taken:
                name += "_"
            self.taken.add(name)
            self.emitted[source] = name
        return self.emitted[source]


class _Folder:
    def __init__(self, package: str, reserved: set[str], again: set[Any]) -> None:
        self.package, self.reserved, self.again = package, reserved, again
        self.lengths: dict[Any, list[int]] = {}  # of what each helper with its known arguments was written out as
        self.functions: list[ast.stmt] = []
        self.specialised: dict[Any, str] = {}
        self.imports: set[str] = set()
        self.observers: set[str] = set()
        self.top = set(reserved)

    def main(self, probe: Callable[..., Any], case: Mapping[str, Any]) -> Folded:
        node, module = definition(probe)
        assert isinstance(node, ast.FunctionDef)
        names = list(inspect.signature(probe).parameters)
        given: dict[str, Value] = {names[0]: name_of("jax"), names[1]: name_of("see")}
        given |= {name: Known(case[name]) for name in names[2:]}
        frame = _Frame(module, node, [], self.top, void=True)
        frame.env.update(given)
        try:
            self.block(node.body, frame)
            out = frame.out
        except _Left:  # it returns from inside of a loop or a try: it stays a function
            self.top.clear()
            self.top |= self.reserved
            self.functions.clear()
            self.specialised.clear()
            frame = _Frame(module, node, [], self.top)
            out = [ast.Expr(self.residual(self.called(probe, node, module, given, frame), frame))]
        return Folded(tidy(out), tidy(self.functions), self.imports, self.observers)

    def repeated(self) -> set[Any]:
        """Helpers, with their known arguments, that were written out more than once as more than an expression."""
        return {key for key, lengths in self.lengths.items() if len(lengths) > 1 and max(lengths) > 1}

    # Statements.

    def block(self, statements: Sequence[ast.stmt], frame: _Frame) -> Value | None:
        """Folds statements into `frame.out`; what a return gives, or None where there is none."""
        for index, statement in enumerate(statements):
            if isinstance(statement, ast.Return):
                return self.expr(statement.value, frame) if statement.value else Known(None)
            if isinstance(statement, ast.If):
                test = self.expr(statement.test, frame)
                rest = list(statements[index + 1 :])
                if isinstance(test, Known):
                    return self.block([*(statement.body if test.value else statement.orelse), *rest], frame)
                if frame.void and ends(statement.body):
                    self.branch(test, statement.body[:-1], [*statement.orelse, *rest], frame, last=True)
                    return Known(None)
                self.branch(test, statement.body, statement.orelse, frame, last=False)
            elif isinstance(statement, ast.For):
                self.loop(statement, frame)
            else:
                self.statement(statement, frame)
        return None

    def branch(
        self, test: ast.expr, body: Sequence[ast.stmt], orelse: Sequence[ast.stmt], frame: _Frame, last: bool
    ) -> None:
        """An `if` that is left to run; `last`: nothing comes after it."""
        for side in (body, orelse):
            inner = read_in(side)
            outer = {name for name, count in read_in([frame.node]).items() if count > inner.get(name, 0)}
            if not last:
                self.loosen(side, frame, outer | frame.env.keys())
        before = dict(frame.env)
        sides = []
        for side in (body, orelse):
            sides.append(self.nested(side, frame, last))
            frame.env = dict(before)
        frame.env |= {name: name_of(frame.name(name)) for name in stored([*body, *orelse]) & frame.loose}
        frame.out.append(ast.If(test, sides[0] or [ast.Pass()], sides[1]))

    def nested(self, statements: Sequence[ast.stmt], frame: _Frame, last: bool = False) -> list[ast.stmt]:
        """Folds the body of a statement that is left to run; from one that is not the last, nothing may return."""
        outer, frame.out = frame.out, []
        void, frame.void = frame.void, frame.void and last
        try:
            if self.block(statements, frame) is not None and not frame.void:
                raise _Left
            return frame.out
        finally:
            frame.out, frame.void = outer, void

    def loosen(self, statements: Sequence[ast.stmt], frame: _Frame, among: Collection[str] | None = None) -> None:
        """Makes variables of the names that the statements set."""
        for name in sorted(it for it in stored(statements) if among is None or it in among):
            frame.loose.add(name)
            if (value := frame.env.get(name)) is not None and not is_name(value, frame.name(name)):
                frame.out.append(assign(frame.name(name), self.residual(value, frame)))
            if name in frame.env:
                frame.env[name] = name_of(frame.name(name))

    def loop(self, node: ast.For, frame: _Frame) -> None:
        over = self.expr(node.iter, frame)
        parts = self.elements(over)
        jumps = any(isinstance(it, (ast.Break, ast.Continue, ast.Return)) for it in ast.walk(node))
        speaks = stored([ast.Expr(node.target)]) & {it.id for part in node.body for it in ast.walk(part) if reads(it)}
        if parts is not None and len(parts) <= UNROLLED and not jumps and speaks:
            for part in parts:
                self.assign(node.target, part, frame)
                self.block(node.body, frame)
            return
        self.loosen([node], frame)
        for name in stored([ast.Expr(node.target)]):
            frame.env[name] = name_of(frame.name(name))
        target = self.target(node.target, frame)
        source = self.residual(over, frame)
        frame.out.append(ast.For(target, source, self.nested(node.body, frame), self.nested(node.orelse, frame)))

    def statement(self, node: ast.stmt, frame: _Frame) -> None:
        match node:
            case ast.Expr(ast.Constant()) | ast.Pass():
                pass
            case ast.Expr():
                value = self.expr(node.value, frame)
                if not isinstance(value, (Known, ast.Name)):
                    frame.out.append(ast.Expr(value))
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=given)) if one_by_one(
                targets, given
            ):
                values = self.several(given, frame)
                for target, value in zip(targets, values, strict=True):
                    self.assign(target, value, frame)
            case ast.Assign():
                value = self.expr(node.value, frame)
                for target in sorted(node.targets, key=lambda it: not isinstance(it, ast.Name)):
                    self.assign(target, value, frame)
                    value = self.look_up(target.id, frame) if isinstance(target, ast.Name) else value
            case ast.AnnAssign() if node.value is not None:
                self.assign(node.target, self.expr(node.value, frame), frame)
            case ast.AugAssign():
                value = self.expr(node.value, frame)
                if isinstance(node.target, ast.Name) and isinstance(node.op, ast.BitOr):
                    before = frame.env.get(node.target.id)
                    if (
                        isinstance(before, ast.Dict)
                        and isinstance(value, ast.Dict)
                        and node.target.id not in frame.loose
                    ):
                        self.assign(node.target, merged(before, value), frame)
                        return
                self.loosen([node], frame)
                value = self.residual(value, frame)
                place = self.target(node.target, frame)
                assert isinstance(place, (ast.Name, ast.Attribute, ast.Subscript))
                frame.out.append(ast.AugAssign(place, node.op, value))
            case ast.Try():
                self.loosen([node], frame)
                frame.out.append(self.guarded(node, frame, lambda it: self.nested(it, frame)))
            case ast.With():
                self.loosen(node.body, frame)
                frame.out.append(ast.With(self.entered(node, frame), self.nested(node.body, frame) or [ast.Pass()]))
            case ast.Delete():
                for target in node.targets:
                    left = self.expr(load(target), frame)
                    if not isinstance(left, Known):
                        frame.out.append(ast.Delete([store(left)]))
            case ast.Raise():
                error = self.residual(self.expr(node.exc, frame), frame) if node.exc else None
                frame.out.append(ast.Raise(error, None))
            case ast.FunctionDef():
                name = frame.name(node.name)
                frame.env[node.name] = name_of(name)
                frame.stable.add(name)
                made = self.closure(node, frame)
                made.name = name
                frame.out.append(made)
            case _:
                raise UnfoldableError(f"a probe has {type(node).__name__.lower()}, which no script is made from")

    def guarded(self, node: ast.Try, frame: _Frame, block: Callable[[Sequence[ast.stmt]], list[ast.stmt]]) -> ast.Try:
        body = block(node.body) or [ast.Pass()]
        handlers = []
        for it in node.handlers:
            kind = self.residual(self.expr(it.type, frame), frame) if it.type else None
            if it.name:
                frame.env[it.name] = name_of(frame.name(it.name))
            caught = frame.name(it.name) if it.name else None
            handlers.append(ast.ExceptHandler(kind, caught, block(it.body) or [ast.Pass()]))
        return ast.Try(body, handlers, block(node.orelse), block(node.finalbody))

    def entered(self, node: ast.With, frame: _Frame) -> list[ast.withitem]:
        items = []
        for it in node.items:
            context = self.residual(self.expr(it.context_expr, frame), frame)
            for name in stored([ast.Expr(it.optional_vars)]) if it.optional_vars else ():
                frame.env[name] = name_of(frame.name(name))
            items.append(ast.withitem(context, self.target(it.optional_vars, frame) if it.optional_vars else None))
        return items

    def assign(self, target: ast.expr, value: Value, frame: _Frame) -> None:
        match target:
            case ast.Name() if isinstance(value, ast.Dict) and self.combines(target.id, value, frame):
                frame.env[target.id] = self.apart(value, target.id, frame)
            case ast.Name() if isinstance(value, (ast.List, ast.Tuple)) and self.sure(target.id, value, frame):
                frame.env[target.id] = self.apart(value, target.id, frame)
            case ast.Name():
                keep = isinstance(value, Known) and value.value is not NotImplemented and immutable(value.value)
                alias = isinstance(value, ast.Name) and value.id in frame.stable
                if target.id not in frame.loose and (keep or (alias and target.id in frame.once)):
                    frame.env[target.id] = value
                    return
                name = frame.name(target.id)
                frame.out.append(assign(name, self.residual(value, frame)))
                frame.env[target.id] = name_of(name)
                if target.id in frame.once and target.id not in frame.loose:
                    frame.stable.add(name)
            case ast.Tuple() | ast.List():
                parts = self.elements(value)
                if parts is None or len(parts) != len(target.elts) or any(isinstance(it, ast.Starred) for it in parts):
                    for name in stored([ast.Expr(target)]):
                        frame.env[name] = name_of(frame.name(name))
                    frame.out.append(ast.Assign([self.target(target, frame)], self.residual(value, frame)))
                    return
                for inner, part in zip(target.elts, parts, strict=True):
                    self.assign(inner, part, frame)
            case _:
                place = self.target(target, frame)
                frame.out.append(ast.Assign([place], self.residual(value, frame)))

    def combines(self, name: str, value: ast.Dict, frame: _Frame) -> bool:
        """Whether a variable holds facts by name that are only put together with others: it is no variable then."""
        known = all(isinstance(it, ast.Constant) and isinstance(it.value, str) for it in value.keys)
        return known and name not in frame.loose and only_combined(name, frame.node)

    def sure(self, name: str, value: ast.List | ast.Tuple, frame: _Frame) -> bool:
        """Whether a variable holds a list of which only the elements are read: they are variables then."""
        spread = any(isinstance(it, ast.Starred) for it in value.elts)
        return not spread and name in frame.once and name not in frame.loose and only_read(name, frame.node)

    def apart(self, value: ast.expr, name: str, frame: _Frame) -> ast.expr:
        """A table or a list with each part a variable of its own, seen where it was seen."""
        if still(value):
            return value
        if isinstance(value, ast.Dict):
            names = [str(it.value) if isinstance(it, ast.Constant) else name for it in value.keys]
            parts = [self.apart(it, name_, frame) for name_, it in zip(names, value.values, strict=True)]
            return ast.Dict(value.keys, parts)
        if isinstance(value, (ast.List, ast.Tuple)):
            made = type(value)([self.apart(it, f"{name}{i}", frame) for i, it in enumerate(value.elts)], ast.Load())
            made.parts = [  # type: ignore[union-attr]
                was if isinstance(was, Known) else it
                for was, it in zip(getattr(value, "parts", made.elts), made.elts, strict=True)
            ]
            return made
        name = name if name.isidentifier() and not iskeyword(name) else "it"
        while name in frame.taken:
            name += "_"
        frame.taken.add(name)
        frame.stable.add(name)
        frame.out.append(assign(name, value))
        return name_of(name)

    def target(self, target: ast.expr, frame: _Frame) -> ast.expr:
        """The place that an assignment fills, as the script has it."""
        if isinstance(target, ast.Name):
            return ast.Name(frame.name(target.id), ast.Store())
        if isinstance(target, (ast.Tuple, ast.List)):
            return ast.Tuple([self.target(it, frame) for it in target.elts], ast.Store())
        if isinstance(target, ast.Starred):
            return ast.Starred(self.target(target.value, frame), ast.Store())
        return store(self.residual(self.expr(load(target), frame), frame))

    # Expressions.

    def expr(self, node: ast.expr, frame: _Frame) -> Value:
        match node:
            case ast.Constant():
                return Known(node.value)
            case ast.Name():
                return self.look_up(node.id, frame)
            case ast.Attribute():
                return self.attribute(self.expr(node.value, frame), node.attr, frame)
            case ast.Call():
                return self.call(node, frame)
            case ast.IfExp():
                test = self.expr(node.test, frame)
                if isinstance(test, Known):
                    return self.expr(node.body if test.value else node.orelse, frame)
                with _crooked(frame):
                    either = [self.residual(self.expr(it, frame), frame) for it in (node.body, node.orelse)]
                return ast.IfExp(test, *either)
            case ast.BoolOp():
                return self.either(node, frame)
            case ast.Lambda():
                made: ast.expr = self.closure(node, frame)
                return made
            case ast.ListComp() | ast.GeneratorExp() | ast.SetComp() | ast.DictComp():
                return self.comprehension(node, frame)
            case ast.Starred():
                return ast.Starred(self.residual(self.expr(node.value, frame), frame), ast.Load())
            case ast.Tuple() | ast.List() | ast.Set():
                return self.display(node, frame)
            case ast.Dict():
                return self.table(node, frame)
            case ast.JoinedStr() | ast.FormattedValue() | ast.Slice():
                return self.rebuilt(node, frame)
            case ast.BinOp():
                left, right = self.several([node.left, node.right], frame)
                if isinstance(node.op, ast.BitOr) and isinstance(left, ast.Dict) and isinstance(right, ast.Dict):
                    return merged(left, right)
                return self.operation(ast.BinOp(HOLE, node.op, HOLE), ("left", "right"), [left, right], frame)
            case ast.UnaryOp():
                return self.operation(ast.UnaryOp(node.op, HOLE), ("operand",), [self.expr(node.operand, frame)], frame)
            case ast.Compare():
                left, *rest = self.several([node.left, *node.comparators], frame)
                if all(isinstance(it, Known) for it in (left, *rest)):
                    return self.evaluated(node, [left, *rest])
                others = [self.residual(it, frame) for it in rest]
                return ast.Compare(self.residual(left, frame), node.ops, others)
            case ast.Subscript():
                return self.subscript(node, frame)
            case _:
                raise UnfoldableError(f"a probe has {type(node).__name__}, which no script is made from")

    def look_up(self, name: str, frame: _Frame) -> Value:
        if name in frame.env:
            return frame.env[name]
        if name in vars(frame.module):
            return Known(vars(frame.module)[name], origin(frame.module, name))
        builtins = vars(import_module("builtins"))
        if name in builtins:
            return Known(builtins[name])
        raise UnfoldableError(f"{name} is neither a variable nor anything of {frame.module.__name__}")

    def attribute(self, base: Value, attr: str, frame: _Frame) -> Value:
        if isinstance(base, Known):
            found = getattr(base.value, attr)
            if self.foreign(base.value) or base.shown is not None:
                return Known(found, shown=ast.Attribute(self.residual(base, frame), attr, ast.Load()))
            if not isinstance(base.value, (np.ndarray, np.generic)) or literal(found):
                if isinstance(base.value, types.ModuleType):
                    return Known(found, origin(base.value, attr))
                if plain(found) or isinstance(found, (types.MethodType, types.BuiltinMethodType, types.FunctionType)):
                    return Known(found)
                if dataclasses.is_dataclass(found) or isinstance(found, np.dtype):
                    return Known(found)
            return ast.Attribute(self.residual(base, frame), attr, ast.Load())
        return ast.Attribute(base, attr, ast.Load())

    def foreign(self, value: Any) -> bool:
        """Whether it belongs to NumPy or the standard library, which the script has too."""
        return isinstance(value, types.ModuleType) and not value.__name__.startswith(self.package)

    def either(self, node: ast.BoolOp, frame: _Frame) -> Value:
        left: list[ast.expr] = []
        stops = isinstance(node.op, ast.Or)
        for index, operand in enumerate(node.values):
            with _crooked(frame, index > 0):
                value = self.expr(operand, frame)
            last = index == len(node.values) - 1
            if isinstance(value, Known):
                if bool(value.value) == stops:
                    if not left:
                        return value
                    left.append(self.residual(value, frame))
                    break
                if last and left:
                    left.append(self.residual(value, frame))
                elif last:
                    return value
            else:
                left.append(value)
        return left[0] if len(left) == 1 else ast.BoolOp(node.op, left)

    def several(self, nodes: Sequence[ast.expr], frame: _Frame) -> list[Value]:
        """Folds operands in order. Where a later one puts statements before, earlier ones are made variables first."""
        values: list[Value] = []
        for node in nodes:
            before = len(frame.out)
            value = self.expr(node, frame)
            if len(frame.out) > before:
                for index, earlier in enumerate(values):
                    if not isinstance(earlier, Known) and not still(earlier):
                        name = self.spare(frame)
                        frame.out.insert(before, assign(name, earlier))
                        before += 1
                        values[index] = name_of(name)
            values.append(value)
        return values

    def spare(self, frame: _Frame) -> str:
        number = 1
        while f"it{number}" in frame.taken:
            number += 1
        frame.taken.add(f"it{number}")
        frame.stable.add(f"it{number}")
        return f"it{number}"

    def display(self, node: ast.Tuple | ast.List | ast.Set, frame: _Frame) -> Value:
        parts: list[Value] = []
        for element, value in zip(node.elts, self.several(node.elts, frame), strict=True):
            inner = self.elements(self.expr(element.value, frame)) if isinstance(element, ast.Starred) else None
            parts += inner if inner is not None else [value]
        if isinstance(node, ast.Tuple) and all(isinstance(it, Known) for it in parts):
            return Known(tuple(it.value for it in parts if isinstance(it, Known)))
        elements = [self.residual(it, frame) for it in parts]
        made = ast.Set(elements) if isinstance(node, ast.Set) else type(node)(elements, ast.Load())
        made.parts = parts  # type: ignore[union-attr]
        return made

    def table(self, node: ast.Dict, frame: _Frame) -> Value:
        keys: list[ast.expr | None] = []
        values: list[ast.expr] = []
        for key, value in zip(node.keys, self.several(node.values, frame), strict=True):
            if key is not None:
                keys.append(self.residual(self.expr(key, frame), frame))
                values.append(self.residual(value, frame))
            elif isinstance(value, Known):
                keys += [self.residual(Known(it), frame) for it in value.value]
                values += [self.residual(Known(it), frame) for it in value.value.values()]
            elif isinstance(value, ast.Dict):
                keys += value.keys
                values += value.values
            else:
                keys.append(None)
                values.append(value)
        return ast.Dict(keys, values)

    def rebuilt(self, node: ast.expr, frame: _Frame) -> Value:
        """A form whose parts are folded one by one; known if they all are."""
        parts: list[Value] = []
        made = copy.copy(node)
        for field, value in ast.iter_fields(node):
            if isinstance(value, ast.expr):
                parts.append(self.expr(value, frame))
                setattr(made, field, self.residual(parts[-1], frame))
            elif isinstance(value, list):
                parts += (inner := [self.expr(it, frame) for it in value])
                given = [self.residual(it, frame) for it in inner]
                if isinstance(node, ast.JoinedStr):
                    given = [it if isinstance(it, (ast.Constant, ast.FormattedValue)) else shown(it) for it in given]
                setattr(made, field, given)
        if isinstance(node, ast.JoinedStr) and all(isinstance(it, Known) for it in parts):
            return self.evaluated(made, [])
        return made

    def operation(self, node: ast.expr, fields: Sequence[str], values: Sequence[Value], frame: _Frame) -> Value:
        if all(isinstance(it, Known) for it in values):
            known = self.evaluated(node, values, fields)
            if isinstance(known, Known):
                return known
        for field, value in zip(fields, values, strict=True):
            setattr(node, field, self.residual(value, frame))
        return node

    def evaluated(self, node: ast.expr, values: Sequence[Value], fields: Sequence[str] = ()) -> Value:
        """What an operation on known operands gives."""
        given = {f"v{index}": it.value for index, it in enumerate(values) if isinstance(it, Known)}
        made = copy.copy(node)
        names = [name_of(name) for name in given]
        if isinstance(made, ast.Compare):
            made.left, made.comparators = names[0], list(names[1:])
        for field, name in zip(fields, names, strict=False):
            setattr(made, field, name)
        code = compile(ast.fix_missing_locations(ast.Expression(copy.deepcopy(made))), "<fold>", "eval")
        value = eval(code, {}, given)  # of our own probes' source, on our own data
        return Known(value)

    def subscript(self, node: ast.Subscript, frame: _Frame) -> Value:
        base, index = self.several([node.value, node.slice], frame)
        if isinstance(base, Known) and isinstance(index, Known):
            value = base.value[index.value]
            return Known(value, entry(base, index.value))
        parts = getattr(base, "parts", None)
        if parts is not None and isinstance(index, Known) and isinstance(index.value, int):
            return parts[index.value]  # type: ignore[no-any-return]
        if isinstance(base, ast.Dict) and isinstance(index, Known):
            for key, value in zip(base.keys, base.values, strict=True):
                if isinstance(key, ast.Constant) and key.value == index.value:
                    return value
        return ast.Subscript(self.residual(base, frame), self.residual(index, frame), ast.Load())

    def elements(self, value: Value) -> list[Value] | None:
        """The elements of a value, where their number is known."""
        if isinstance(value, Known):
            try:
                return [Known(it) for it in value.value]
            except TypeError:
                return None
        if isinstance(value, (ast.Tuple, ast.List)):
            return list(getattr(value, "parts", value.elts))
        return None

    def comprehension(self, node: Any, frame: _Frame) -> Value:
        """Written out where all that it runs over is known; else left, with its names as they are."""
        first = node.generators[0]
        over = self.expr(first.iter, frame)
        parts = self.elements(over)
        listed = len(node.generators) == 1
        if listed and parts is not None and len(parts) <= UNROLLED and self.ours(node, parts, frame):
            kept = self.written_out(node, parts, frame)
            if kept is not None:
                return kept
        before = dict(frame.env)
        with _crooked(frame):
            made = copy.copy(node)
            made.generators = []
            for index, generator in enumerate(node.generators):
                source = over if index == 0 else self.expr(generator.iter, frame)
                for name in stored([ast.Expr(generator.target)]):
                    frame.env[name] = name_of(name)
                into = store(copy.deepcopy(generator.target))
                tests = [self.residual(self.expr(it, frame), frame) for it in generator.ifs]
                tests = [it for it in tests if not (isinstance(it, ast.Constant) and it.value)]
                made.generators.append(ast.comprehension(into, self.residual(source, frame), tests, 0))
            for field in ("elt", "key", "value"):
                if hasattr(node, field):
                    setattr(made, field, self.residual(self.expr(getattr(node, field), frame), frame))
        frame.env = before
        return made  # type: ignore[no-any-return]

    def ours(self, node: ast.AST, parts: Sequence[Value], frame: _Frame) -> bool:
        """Whether a comprehension speaks of the suite's own things, which the script has not."""
        if any(not isinstance(it, Known) or not literal(it.value) for it in parts):
            return True
        read = {it.id for it in ast.walk(node) if reads(it)}
        found = [frame.env.get(name) or Known(vars(frame.module).get(name)) for name in read]
        known = [it.value for it in found if isinstance(it, Known)]
        return any(not self.foreign(it) and not literal(it) for it in known)

    def written_out(self, node: Any, parts: Sequence[Value], frame: _Frame) -> Value | None:
        before, rooms = dict(frame.env), list(frame.out)
        keys: list[Value] = []
        made: list[Value] = []
        for part in parts:
            self.bind(node.generators[0].target, part, frame)
            tests = [self.expr(it, frame) for it in node.generators[0].ifs]
            if not all(isinstance(it, Known) for it in tests):
                frame.env, frame.out[:] = before, rooms
                return None
            if all(it.value for it in tests if isinstance(it, Known)):
                if isinstance(node, ast.DictComp):
                    keys.append(self.expr(node.key, frame))
                made.append(self.expr(node.value if isinstance(node, ast.DictComp) else node.elt, frame))
        frame.env = before
        values = [self.residual(it, frame) for it in made]
        if isinstance(node, ast.DictComp):
            return ast.Dict([self.residual(it, frame) for it in keys], values)
        if all(isinstance(it, Known) for it in made) and isinstance(node, ast.GeneratorExp):
            return Known(tuple(it.value for it in made if isinstance(it, Known)))
        if isinstance(node, ast.SetComp):
            return ast.Set(values)
        shown = ast.List(values, ast.Load())
        shown.parts = made  # type: ignore[attr-defined]
        return shown

    def bind(self, target: ast.expr, value: Value, frame: _Frame) -> None:
        """Binds the variable of a comprehension for one round."""
        if isinstance(target, ast.Name):
            frame.env[target.id] = value
            return
        parts = self.elements(value)
        if not isinstance(target, (ast.Tuple, ast.List)) or parts is None:
            raise UnfoldableError("a comprehension takes apart what is not known")
        for inner, part in zip(target.elts, parts, strict=True):
            self.bind(inner, part, frame)

    def closure(self, node: Any, frame: _Frame) -> Any:
        """A lambda or an inner function, with what it takes from outside folded in."""
        parameters = [it.arg for it in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
        parameters += [it.arg for it in (node.args.vararg, node.args.kwarg) if it is not None]
        inner = _Frame(frame.module, node, [], set(frame.taken))
        inner.env = {**frame.env, **{name: name_of(name) for name in parameters}}
        inner.stable = set(frame.stable)
        made = copy.deepcopy(node)
        made.args.defaults = [self.residual(self.expr(it, frame), frame) for it in node.args.defaults]
        for it in (*made.args.posonlyargs, *made.args.args, *made.args.kwonlyargs):
            it.annotation = None
        inner.taken |= set(parameters)
        if isinstance(node, ast.Lambda):
            inner.straight = False
            made.body = self.residual(self.expr(node.body, inner), inner)
        else:
            made.body = self.body(node.body, inner)
            made.returns = None
        return made

    def body(self, statements: Sequence[ast.stmt], frame: _Frame) -> list[ast.stmt]:
        """The body of a function that stays a function: its returns stay."""
        frame.loose |= stored(it for it in statements if isinstance(it, (ast.If, ast.For, ast.Try, ast.With)))
        made = _Staying(self, frame).block(statements)
        return made or [ast.Pass()]

    # Calls.

    def call(self, node: ast.Call, frame: _Frame) -> Value:
        nodes = [it.value if isinstance(it, ast.Starred) else it for it in node.args]
        nodes += [it.value for it in node.keywords]
        function, *values = self.several([node.func, *nodes], frame)
        arguments: list[Value] = []
        for place, value in zip(node.args, values, strict=False):
            parts = self.elements(value) if isinstance(place, ast.Starred) else [value]
            arguments += parts if parts is not None else [ast.Starred(self.residual(value, frame), ast.Load())]
        keywords: dict[str, Value] = {}
        rest: list[ast.expr] = []
        for keyword, value in zip(node.keywords, values[len(node.args) :], strict=True):
            if keyword.arg is not None:
                keywords[keyword.arg] = value
            elif isinstance(value, Known):
                keywords |= {name: Known(it) for name, it in value.value.items()}
            elif isinstance(value, ast.Dict) and all(isinstance(it, ast.Constant) for it in value.keys):
                pairs = zip(value.keys, value.values, strict=True)
                keywords |= {str(key.value): it for key, it in pairs if isinstance(key, ast.Constant)}
            else:
                rest.append(value)
        if isinstance(function, Known):
            known = not rest and all(isinstance(it, Known) for it in (*arguments, *keywords.values()))
            made = self.applied(function.value, arguments, keywords, known, frame) if not rest else None
            if made is not None:
                return made
        called = self.residual(function, frame)
        if is_name(called, "see"):
            called = name_of("note")
        elif isinstance(called, ast.Attribute) and is_name(called.value, "see"):
            if called.attr != "step":
                self.observers.add(called.attr)
            called = name_of(called.attr)
        given = [self.residual(it, frame) for it in arguments]
        named = [ast.keyword(name, self.residual(it, frame)) for name, it in keywords.items()]
        return ast.Call(called, given, [*named, *(ast.keyword(None, it) for it in rest)])

    def applied(
        self,
        function: Any,
        arguments: Sequence[Value],
        keywords: Mapping[str, Value],
        known: bool,
        frame: _Frame,
    ) -> Value | None:
        """A call of a known function: its result, or its body written out; None where it is left to run."""
        ours = getattr(function, "__module__", None) or ""
        suite = ours.startswith(self.package) and isinstance(function, (types.FunctionType, types.MethodType))
        if known:
            given = [it.value for it in arguments if isinstance(it, Known)]
            named = {name: it.value for name, it in keywords.items() if isinstance(it, Known)}
            try:
                value = function(*given, **named)
            except Exception:  # such as a dtype that only JAX brings: the script will know
                return self.written(function, arguments, keywords, frame) if suite else None
            if not isinstance(value, (str, bytes)) and isinstance(value, Iterator | type({}.items())):
                value = tuple(value)
            ours_too = not self.numeric(function) and (suite or not isinstance(value, np.ndarray))
            ours_too = ours_too and "<locals>" not in getattr(value, "__qualname__", "")  # it may lean on its variables
            if plain(value) or dataclasses.is_dataclass(value) or (callable(value) and ours_too):
                return Known(value)
        if function in (zip, enumerate) and (woven := self.woven(function, arguments, keywords, frame)) is not None:
            return woven
        return self.written(function, arguments, keywords, frame) if suite else None

    def woven(
        self, function: Any, arguments: Sequence[Value], keywords: Mapping[str, Value], frame: _Frame
    ) -> Value | None:
        """The rows of `zip` or `enumerate` over lists whose elements are known one by one."""
        lists = [self.elements(it) for it in arguments]
        if function is enumerate:
            lists = [[Known(index) for index, _ in enumerate(lists[0] or [])], *lists]
        if any(it is None for it in lists) or keywords.keys() - {"strict"}:
            return None
        rows = [self.row(it, frame) for it in zip(*(it or [] for it in lists), strict=True)]
        return self.row(rows, frame)

    def row(self, parts: Sequence[Value], frame: _Frame) -> Value:
        """A tuple of values, known or not."""
        if all(isinstance(it, Known) for it in parts):
            return Known(tuple(it.value for it in parts if isinstance(it, Known)))
        made = ast.Tuple([self.residual(it, frame) for it in parts], ast.Load())
        made.parts = list(parts)  # type: ignore[attr-defined]
        return made

    def numeric(self, function: Any) -> bool:
        return (getattr(function, "__module__", None) or "").startswith("numpy") or isinstance(
            getattr(function, "__self__", None), (np.ndarray, np.generic)
        )

    def written(self, function: Any, arguments: Sequence[Value], keywords: Mapping[str, Value], frame: _Frame) -> Value:
        """A call of one of the suite's functions: in line where it can be, else as a function of the script."""
        node, module = definition(function)
        if isinstance(function, types.MethodType):
            arguments = [Known(function.__self__), *arguments]
            function = function.__func__
        try:
            bound = inspect.signature(function).bind(*arguments, **keywords)
        except TypeError as error:
            raise UnfoldableError(f"{function.__name__}: {error}") from None
        bound.apply_defaults()
        given: dict[str, Value] = {
            name: it if isinstance(it, (Known, ast.expr)) else self.gathered(it, frame)
            for name, it in bound.arguments.items()
        }
        key = _key(function, given)
        if key in self.again and not isinstance(node, ast.Lambda):
            return self.called(function, node, module, given, frame)
        length, taken, functions = len(frame.out), set(frame.taken), len(self.functions)
        try:
            value = self.in_line(node, module, given, frame)
            self.lengths.setdefault(key, []).append(len(frame.out) - length)
            return value
        except _Left:
            del frame.out[length:]
            del self.functions[functions:]
            frame.taken.clear()
            frame.taken |= taken
        return self.called(function, node, module, given, frame)

    def gathered(self, value: Any, frame: _Frame) -> Value:
        """The value of a parameter such as *args or **options, or a default."""
        if isinstance(value, tuple) and any(isinstance(it, (Known, ast.AST)) for it in value):
            if all(isinstance(it, Known) for it in value):
                return Known(tuple(it.value for it in value))
            made = ast.Tuple([self.residual(it, frame) for it in value], ast.Load())
            made.parts = list(value)  # type: ignore[attr-defined]
            return made
        if isinstance(value, dict) and any(isinstance(it, (Known, ast.AST)) for it in value.values()):
            if all(isinstance(it, Known) for it in value.values()):
                return Known({name: it.value for name, it in value.items()})
            return ast.Dict([ast.Constant(name) for name in value], [self.residual(it, frame) for it in value.values()])
        return Known(value)

    def in_line(
        self, node: ast.FunctionDef | ast.Lambda, module: types.ModuleType, given: Mapping[str, Value], frame: _Frame
    ) -> Value:
        inner = _Frame(module, node, frame.out, frame.taken)
        inner.straight, inner.stable = frame.straight, frame.stable
        length = len(frame.out)
        for name, value in given.items():
            simple = isinstance(value, (Known, ast.Name)) or (
                isinstance(value, (ast.Tuple, ast.List, ast.Dict)) and still(value) and only_read(name, node)
            )
            if simple and name not in stored(node.body if isinstance(node.body, list) else []):
                inner.env[name] = value
            else:
                self.assign(ast.Name(name, ast.Store()), value, inner)
        if isinstance(node, ast.Lambda):
            result: Value | None = self.expr(node.body, inner)
        else:
            result = self.block(node.body, inner)
        if not frame.straight and len(frame.out) > length:
            raise _Left
        return Known(None) if result is None else result

    def called(
        self,
        function: Any,
        node: ast.FunctionDef | ast.Lambda,
        module: types.ModuleType,
        given: Mapping[str, Value],
        frame: _Frame,
    ) -> Value:
        """Makes a function of the script, with the known arguments folded in, and calls it with the others."""
        if isinstance(node, ast.Lambda):
            raise UnfoldableError("a lambda of a table is called where its body cannot be written out")
        world = {name: it for name, it in given.items() if isinstance(it, Known) or is_world(it)}
        open_ = [name for name in given if name not in world]
        key = _key(function, given)
        if key not in self.specialised:
            name = function.__name__.strip("_")
            while name in self.top:
                name += "_"
            self.top.add(name)
            self.specialised[key] = name
            inner = _Frame(module, node, [], set(self.top))
            inner.env = {**world, **{it: name_of(it) for it in open_}}
            inner.taken |= set(open_)
            inner.emitted = {it: it for it in open_}
            made = copy.copy(node)
            made.name, made.returns, made.body = name, None, self.body(node.body, inner)
            made.args = ast.arguments([], [ast.arg(it) for it in open_], None, [], [], None, [])
            self.functions.append(made)
        return ast.Call(name_of(self.specialised[key]), [self.residual(given[it], frame) for it in open_], [])

    # What is left.

    def residual(self, value: Value, frame: _Frame) -> ast.expr:
        """A value as an expression of the script."""
        if not isinstance(value, Known):
            return value
        it = value.value
        if isinstance(it, (str, bytes, int, float, type(None), type(...))) and literal(it):
            return ast.Constant(it)
        if literal(it):
            return ast.parse(repr(it), mode="eval").body
        if value.shown is not None:
            return value.shown
        if isinstance(it, types.ModuleType):
            self.imports.add("import numpy as np" if it is np else f"import {it.__name__}")
            return name_of("np") if it is np else ast.parse(it.__name__, mode="eval").body
        if isinstance(it, (tuple, list)):
            kind = ast.Tuple if isinstance(it, tuple) else ast.List
            return kind([self.residual(Known(part), frame) for part in it], ast.Load())
        if isinstance(it, dict):
            values = [self.residual(Known(part, entry(value, key)), frame) for key, part in it.items()]
            return ast.Dict([self.residual(Known(key), frame) for key in it], values)
        if isinstance(it, range):
            return ast.parse(repr(it), mode="eval").body
        if isinstance(it, np.dtype):
            self.imports.add("import numpy as np")
            spelled = it.name if it.name in np.sctypeDict and np.dtype(it.name) == it else it.str
            return ast.parse(f"np.dtype({spelled!r})", mode="eval").body
        if isinstance(it, np.generic):
            self.imports.add("import numpy as np")
            return ast.parse(f"np.dtype({it.dtype.name!r}).type({it.item()!r})", mode="eval").body
        if isinstance(it, (types.FunctionType, types.MethodType)) and it.__module__.startswith(self.package):
            return self.passed(it, frame)
        if isinstance(it, types.BuiltinMethodType) and not isinstance(it.__self__, types.ModuleType):
            return ast.Attribute(self.residual(Known(it.__self__), frame), it.__name__, ast.Load())
        if isinstance(it, type) and it.__module__ == "numpy":
            self.imports.add("import numpy as np")
            return ast.parse(f"np.{it.__name__}", mode="eval").body
        if value.origin is not None:
            node, module = value.origin
            return self.residual(self.expr(node, _Frame(module, node, frame.out, frame.taken)), frame)
        if (isinstance(it, type) or callable(it)) and getattr(it, "__module__", None) == "builtins":
            return name_of(it.__name__)
        raise UnfoldableError(f"a script cannot be given {it!r}")

    def passed(self, function: Any, frame: _Frame) -> ast.expr:
        """A function of the suite that is handed on, not called."""
        node, module = definition(function)
        if isinstance(node, ast.Lambda):
            return self.closure(node, _Frame(module, node, [], set(self.top)))  # type: ignore[no-any-return]
        names = list(inspect.signature(function).parameters)
        made = self.called(function, node, module, {name: name_of(name) for name in names}, frame)
        assert isinstance(made, ast.Call)
        return made.func


class _Staying:
    """Folds the body of a function that stays one: like a block, except that its returns are left in place."""

    def __init__(self, folder: _Folder, frame: _Frame) -> None:
        self.folder, self.frame = folder, frame

    def block(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        outer, self.frame.out = self.frame.out, []
        try:
            for statement in statements:
                self.one(statement)
                if self.frame.out and isinstance(self.frame.out[-1], (ast.Return, ast.Raise)):
                    break
            return self.frame.out
        finally:
            self.frame.out = outer

    def one(self, node: ast.stmt) -> None:
        frame, folder = self.frame, self.folder
        match node:
            case ast.Return():
                value = folder.residual(folder.expr(node.value, frame), frame) if node.value else None
                frame.out.append(ast.Return(value))
            case ast.If():
                test = folder.expr(node.test, frame)
                if isinstance(test, Known):
                    for statement in node.body if test.value else node.orelse:
                        self.one(statement)
                else:
                    frame.out.append(ast.If(test, self.block(node.body) or [ast.Pass()], self.block(node.orelse)))
            case ast.For():
                over = folder.residual(folder.expr(node.iter, frame), frame)
                for name in stored([ast.Expr(node.target)]):
                    frame.env[name] = name_of(frame.name(name))
                target = folder.target(node.target, frame)
                frame.out.append(ast.For(target, over, self.block(node.body) or [ast.Pass()], []))
            case ast.Try():
                frame.out.append(folder.guarded(node, frame, self.block))
            case ast.With():
                frame.out.append(ast.With(folder.entered(node, frame), self.block(node.body) or [ast.Pass()]))
            case _:
                folder.statement(node, frame)


class _crooked:  # noqa: N801, used like a function
    """Within, no statement may be put before the one at hand: it may not run, or run more than once."""

    def __init__(self, frame: _Frame, really: bool = True) -> None:
        self.frame, self.really = frame, really

    def __enter__(self) -> None:
        self.before = self.frame.straight
        if self.really:
            self.frame.straight = False

    def __exit__(self, *_: object) -> None:
        self.frame.straight = self.before


def _key(function: Any, given: Mapping[str, Value]) -> tuple[Any, ...]:
    """What tells one specialised function from another: the function and what is known of its arguments."""
    return (
        function,
        *((name, repr(it.value)) for name, it in given.items() if isinstance(it, Known)),
        *((name, it.id) for name, it in given.items() if is_world(it) and isinstance(it, ast.Name)),
    )
