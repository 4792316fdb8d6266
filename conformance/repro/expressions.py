"""Folds expressions."""

from __future__ import annotations

import ast
import builtins
import copy
import dataclasses
import types
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, cast

import numpy as np

from .base import Base
from .frame import Frame
from .source import entry, origin
from .statements import UNROLLED
from .syntax import body_of, captured, is_name, name_of, parameters, reads, stored
from .values import CHANGES, MUTABLE, Known, Row, Table, UnfoldableError, Value, evaluated, literal, plain

INWARD = ("__import__", "dir", "eval", "exec", "globals", "locals", "super", "vars")
"""Functions that look at where they are called, which is elsewhere in a script."""


class Spread(Row):
    """Operands that a star makes of one."""


class Expressions(Base):
    def expr(self, node: ast.expr, frame: Frame) -> Value:
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
                return self.conditional(node, frame)
            case ast.BoolOp():
                return self.either(node.op, [partial(self.expr, it, frame) for it in node.values], frame)
            case ast.Lambda():
                return self.lambda_(node, frame)
            case ast.ListComp() | ast.GeneratorExp() | ast.SetComp() | ast.DictComp():
                return self.comprehension(node, frame)
            case ast.Starred():
                return self.starred(node, frame)
            case ast.Tuple() | ast.List() | ast.Set():
                return self.display(node, frame)
            case ast.Dict():
                return self.table(node, frame)
            case ast.JoinedStr():
                return self.text(node, frame)
            case ast.Slice():
                return self.slice(node, frame)
            case ast.BinOp():
                left, right = self.several([node.left, node.right], frame)
                return self.operation(node.op, left, right, frame)
            case ast.UnaryOp():
                return self.unary(node.op, self.expr(node.operand, frame), frame)
            case ast.Compare():
                return self.compared(node, frame)
            case ast.Subscript():
                base, index = self.several([node.value, node.slice], frame)
                return self.subscript(base, index, frame)
        raise UnfoldableError(f"a probe has {type(node).__name__}, which no script is made from")

    def look_up(self, name: str, frame: Frame) -> Value:
        if name in frame.env:
            return frame.env[name]
        if name in frame.locals:
            raise UnfoldableError(f"{name} is read where it may not be set")
        if name in vars(frame.module):
            return Known(vars(frame.module)[name], origin(frame.module, name))
        if name in vars(builtins) and name not in INWARD:
            return Known(vars(builtins)[name])
        raise UnfoldableError(f"{name} is neither a variable nor anything of {frame.module.__name__}")

    def attribute(self, base: Value, attr: str, frame: Frame) -> Value:
        if is_name(base, "see"):
            if attr not in self.observers and attr != "step":
                raise UnfoldableError(f"there is no observer {attr}")
            return name_of(attr)
        if isinstance(base, Known):
            try:
                found = getattr(base.value, attr)
            except AttributeError:
                return ast.Attribute(self.spelled(base, frame), attr, ast.Load())
            if isinstance(base.value, types.ModuleType):
                if base.value.__name__.startswith(self.package):
                    return Known(found, origin(base.value, attr))
                fixed = callable(found) or isinstance(found, types.ModuleType)  # data may be otherwise where it runs
                shown = f"{base.value.__name__}.{attr}"
                return Known(found, shown=shown) if fixed else self.path(shown)
            if base.shown:
                return Known(found, shown=f"{base.shown}.{attr}")
            if isinstance(base.value, MUTABLE) and attr in CHANGES:
                raise UnfoldableError("a probe changes data of the case or of a table in place")
            if not isinstance(base.value, (np.ndarray, np.generic)) or literal(found):
                data = plain(found) or isinstance(found, types.FunctionType) or dataclasses.is_dataclass(found)
                if data:
                    return Known(found)
        return ast.Attribute(self.spelled(base, frame), attr, ast.Load())

    # Displays.

    def display(self, node: ast.Tuple | ast.List | ast.Set, frame: Frame) -> Value:
        kind = {ast.Tuple: tuple, ast.List: list, ast.Set: set}[type(node)]
        values = self.several(node.elts, frame)
        return self.row(kind, [it for value in values for it in self.spread(value)])

    def starred(self, node: ast.Starred, frame: Frame) -> Value:
        """What is spread into a display or a call, as a row that `spread` takes apart."""
        value = self.expr(node.value, frame)
        match value:
            case Row(kind, parts) if kind is not set:
                return Spread(tuple, parts)
            case Known() if not isinstance(value.value, np.ndarray):
                return Spread(tuple, self.entries(value))
        return Spread(tuple, [ast.Starred(self.consumed(value, frame), ast.Load())])

    def spread(self, value: Value) -> list[Value]:
        """One operand, or those that a star makes of it."""
        return value.parts if isinstance(value, Spread) else [value]

    def row(self, kind: type, parts: Sequence[Value], lazy: bool = False) -> Value:
        """A tuple, a list or a set; a tuple of which all is known is known."""
        if kind is tuple and all(isinstance(it, Known) for it in parts):
            return Known(tuple(it.value for it in parts if isinstance(it, Known)), lazy=lazy)
        return Row(kind, [*parts], lazy)

    def table(self, node: ast.Dict, frame: Frame) -> Value:
        nodes = [it for pair in zip(node.keys, node.values, strict=True) for it in pair if it is not None]
        values = iter(self.several(nodes, frame))
        made = Table([], [])
        for key in node.keys:
            if key is not None:
                made.keys.append(next(values))
                made.values.append(next(values))
                continue
            more = self.as_table(next(values))
            made.keys.extend(more.keys)
            made.values.extend(more.values)
        return made

    def as_table(self, value: Value) -> Table:
        """A dictionary as its entries, or as one that is spread."""
        if isinstance(value, Table):
            return value
        if isinstance(value, Known) and isinstance(value.value, Mapping):
            known = [Known(it, entry(value, key)) for key, it in value.value.items()]
            return Table([Known(it) for it in value.value], [*known])
        return Table([None], [value])

    def entries(self, value: Known) -> list[Value]:
        """The elements of a known value, with where they are written."""
        numbered = isinstance(value.value, (tuple, list))
        return [Known(it, entry(value, i) if numbered else None) for i, it in enumerate(value.value)]

    def text(self, node: ast.JoinedStr, frame: Frame) -> Value:
        """An f-string."""
        parts = [it for it in node.values if isinstance(it, ast.FormattedValue)]
        specs = [
            (self.text(it.format_spec, frame) if isinstance(it.format_spec, ast.JoinedStr) else None) for it in parts
        ]
        values = iter(self.several([it.value for it in parts], frame))
        made: list[ast.expr] = []
        for it in node.values:
            if isinstance(it, ast.Constant):
                made.append(it)
                continue
            assert isinstance(it, ast.FormattedValue)
            value, spec = next(values), specs[parts.index(it)]
            if isinstance(value, Known) and (spec is None or isinstance(spec, Known)):
                shape = ast.JoinedStr([ast.Constant(spec.value)]) if spec else None
                one = ast.JoinedStr([ast.FormattedValue(name_of("value"), it.conversion, shape)])
                known = evaluated(one, value=value.value)
                if known is not None:
                    made.append(ast.Constant(known.value))
                    continue
            if spec is not None and not isinstance(spec, Known):
                raise UnfoldableError("a probe formats as what it works out says")
            shape = ast.JoinedStr([ast.Constant(spec.value)]) if spec else None
            made.append(ast.FormattedValue(self.spelled(value, frame), it.conversion, shape))
        if all(isinstance(it, ast.Constant) for it in made):
            return Known("".join(str(it.value) for it in made if isinstance(it, ast.Constant)))
        return ast.JoinedStr(made)

    def slice(self, node: ast.Slice, frame: Frame) -> Value:
        bounds = (node.lower, node.upper, node.step)
        given = iter(self.several([it for it in bounds if it is not None], frame))
        values = [None if it is None else next(given) for it in bounds]
        if all(it is None or isinstance(it, Known) for it in values):
            return Known(slice(*(it.value if isinstance(it, Known) else None for it in values)))
        return ast.Slice(*(None if it is None else self.spelled(it, frame) for it in values))

    # Operations.

    def operation(self, op: ast.operator, left: Value, right: Value, frame: Frame) -> Value:
        if isinstance(left, Known) and isinstance(right, Known):
            made = evaluated(ast.BinOp(name_of("left"), op, name_of("right")), left=left.value, right=right.value)
            if made is not None:
                return made
        if isinstance(op, ast.BitOr) and _tables(left, right):
            one, other = self.as_table(left), self.as_table(right)
            return Table([*one.keys, *other.keys], [*one.values, *other.values])
        if isinstance(op, ast.Add) and (kind := _kind(left)) and kind is _kind(right):
            return self.row(kind, [*self.listed(left), *self.listed(right)])
        return ast.BinOp(self.spelled(left, frame), op, self.spelled(right, frame))

    def listed(self, value: Value) -> list[Value]:
        if isinstance(value, Row):
            return value.parts
        return self.entries(value) if isinstance(value, Known) else []

    def unary(self, op: ast.unaryop, value: Value, frame: Frame) -> Value:
        if isinstance(value, Known):
            made = evaluated(ast.UnaryOp(op, name_of("value")), value=value.value)
            if made is not None:
                return made
        if isinstance(op, ast.Not):
            test = self.truth(value, frame)
            return Known(not test.value) if isinstance(test, Known) else ast.UnaryOp(op, test)
        return ast.UnaryOp(op, self.spelled(value, frame))

    def compared(self, node: ast.Compare, frame: Frame) -> Value:
        nodes = [node.left, *node.comparators]

        def fold(index: int) -> Value:
            with frame.crooked(index > 1):  # only the first two are sure to be worked out
                return self.expr(nodes[index], frame)

        values = self.in_order([partial(fold, index) for index in range(len(nodes))], frame)
        if all(isinstance(it, Known) for it in values):
            given = {f"v{index}": it.value for index, it in enumerate(values) if isinstance(it, Known)}
            first, *others = map(name_of, given)
            if (made := evaluated(ast.Compare(first, node.ops, [*others]), **given)) is not None:
                return made
        first_, *rest = [self.spelled(it, frame) for it in values]
        return ast.Compare(first_, node.ops, rest)

    def truth(self, value: Value, frame: Frame) -> Known | ast.expr:
        """What a condition gives: known, or to be worked out."""
        match value:
            case Known(lazy=True) | Row(lazy=True):
                return Known(True) if self.calm(value) else self.spelled(value, frame)
            case Known():
                try:
                    return Known(bool(value.value))
                except Exception:
                    return self.spelled(value, frame)
            case Row(_, parts) if not value.spread and self.calm(value):
                return Known(bool(parts))
            case Table(keys) if None not in keys and self.calm(value):
                return Known(bool(keys))
            case ast.Lambda():
                return Known(True)
        return self.spelled(value, frame)

    def conditional(self, node: ast.IfExp, frame: Frame) -> Value:
        test = self.truth(self.expr(node.test, frame), frame)
        if isinstance(test, Known):
            return self.expr(node.body if test.value else node.orelse, frame)
        with frame.crooked():
            either = [self.spelled(self.expr(it, frame), frame) for it in (node.body, node.orelse)]
        return ast.IfExp(test, *either)

    def either(self, op: ast.boolop, folds: Sequence[Callable[[], Value]], frame: Frame) -> Value:
        """`and` or `or`: the first operand that decides, or the last."""
        left: list[ast.expr] = []
        for index, fold in enumerate(folds):
            with frame.crooked(bool(left)):
                value = fold()
            test = self.truth(value, frame)
            decides = isinstance(test, Known) and bool(test.value) is isinstance(op, ast.Or)
            if isinstance(test, Known) and not decides and index < len(folds) - 1:
                continue
            if not left and (decides or index == len(folds) - 1):
                return value
            left.append(self.spelled(value, frame))
            if decides:
                break
        return ast.BoolOp(op, left)

    def subscript(self, base: Value, index: Value, frame: Frame) -> Value:
        if isinstance(index, Known):
            match base:
                case Known():
                    try:
                        found = base.value[index.value]
                    except Exception:
                        found = NotImplemented  # the script fails as the probe does
                    if found is not NotImplemented and not isinstance(base.value, np.ndarray):
                        return Known(found, entry(base, index.value))
                case Row(kind, parts) if kind is not set and not base.spread and _at(parts, index.value) is not None:
                    ready = self.ready(base, frame)
                    if self.calm(ready) and isinstance(ready, Row):
                        at_: Any = ready.parts[index.value]
                        return self.row(kind, at_) if isinstance(at_, list) else at_
                case Table():
                    ready = self.ready(base, frame)
                    named = ready.named() if isinstance(ready, Table) and self.calm(ready) else None
                    if named and isinstance(index.value, str) and index.value in named:
                        return named[index.value]
                    base = ready
        at = self.spelled(index, frame)
        return ast.Subscript(self.spelled(base, frame), at, ast.Load())

    # Comprehensions.

    def comprehension(self, node: Any, frame: Frame, whole: bool = False) -> Value:
        """Written out where all that it runs over is known; else left. `whole`: a generator that is used up at once."""
        over = self.ready(self.expr(node.generators[0].iter, frame), frame)
        lazy = isinstance(node, ast.GeneratorExp)
        if len(node.generators) == 1 and (whole or not lazy) and not self.outlives(node):
            parts = self.elements(over, frame)
            if parts is not None and len(parts) <= UNROLLED and self.speaks(node, parts, frame):
                made = self.written_out(node, parts, frame)
                if made is not None:
                    return made
        return self.left(node, over, frame)

    def outlives(self, node: Any) -> bool:
        """Whether an inner function takes a variable of the comprehension from outside: it sees the last of it."""
        inner = [getattr(node, it) for it in ("elt", "key", "value") if hasattr(node, it)]
        return bool(captured(inner) & stored([it.target for it in node.generators]))

    def left(self, node: Any, over: Value, frame: Frame) -> Value:
        """A comprehension that is left to run."""
        before = dict(frame.env)
        made: Any = copy.copy(node)
        made.generators = []
        first = self.consumed(over, frame)
        with frame.crooked(looping=True):
            for index, generator in enumerate(node.generators):
                source = first if index == 0 else self.consumed(self.expr(generator.iter, frame), frame)
                into = self.into(generator.target, frame)
                tests = [self.truth(self.expr(it, frame), frame) for it in generator.ifs]
                said = [self.spelled(it, frame) for it in tests if not (isinstance(it, Known) and it.value)]
                made.generators.append(ast.comprehension(into, source, said, 0))
            for field in ("elt", "key", "value"):
                if hasattr(node, field):
                    setattr(made, field, self.spelled(self.expr(getattr(node, field), frame), frame))
        frame.env = before
        return cast(ast.expr, made)

    def into(self, target: ast.expr, frame: Frame) -> ast.expr:
        """The variables of a comprehension, which are its own."""
        match target:
            case ast.Name():
                symbol = frame.symbols.fresh(target.id)
                frame.env[target.id] = name_of(symbol)
                return ast.Name(symbol, ast.Store())
            case ast.Tuple() | ast.List():
                return ast.Tuple([self.into(it, frame) for it in target.elts], ast.Store())
            case ast.Starred():
                return ast.Starred(self.into(target.value, frame), ast.Store())
        raise UnfoldableError("a comprehension sets what is no variable")

    def speaks(self, node: Any, parts: Sequence[Value], frame: Frame) -> bool:
        """Whether a comprehension speaks of the suite's own things, which the script has not."""
        if any(not isinstance(it, Known) or not literal(it.value) for it in parts):
            return True
        read = {it.id for it in ast.walk(node) if reads(it)} - stored([it.target for it in node.generators])
        for name in read:
            found = frame.env.get(name) or Known(vars(frame.module).get(name))
            if isinstance(found, (Row, Table)):
                return True
            if isinstance(found, Known) and not literal(found.value) and not self.foreign(found.value):
                return True
        return False

    def foreign(self, value: Any) -> bool:
        """Whether it belongs to Python, NumPy or the standard library, which the script has too."""
        where = value.__name__ if isinstance(value, types.ModuleType) else getattr(value, "__module__", None)
        return where is not None and not where.startswith(self.package)

    def written_out(self, node: Any, parts: Sequence[Value], frame: Frame) -> Value | None:
        """One part after the other, if no condition is left to run."""
        generator = node.generators[0]
        before = dict(frame.env)
        rounds: list[dict[str, Value]] = []
        for part in parts:
            frame.env = dict(before)
            self.take(generator.target, part, frame)
            tests = []
            for it in generator.ifs:
                with frame.crooked():
                    tests.append(self.truth(self.expr(it, frame), frame))
                if isinstance(tests[-1], Known) and not tests[-1].value:
                    break
            if not all(isinstance(it, Known) for it in tests):
                frame.env = before
                return None
            if all(it.value for it in tests if isinstance(it, Known)):
                rounds.append(frame.env)

        def fold(env: dict[str, Value], field: str) -> Value:
            frame.env = env
            return self.expr(getattr(node, field), frame)

        fields = ("key", "value") if isinstance(node, ast.DictComp) else ("elt",)
        made = self.in_order([partial(fold, env, field) for env in rounds for field in fields], frame)
        frame.env = before
        if isinstance(node, ast.DictComp):
            return Table([*made[::2]], made[1::2])
        if isinstance(node, ast.GeneratorExp):
            return self.row(tuple, made, lazy=True)
        return Row(set if isinstance(node, ast.SetComp) else list, made)

    def any_or_all(self, function: Any, node: ast.GeneratorExp, frame: Frame) -> Value:
        """`any` or `all` of a generator, which stops at the part that decides."""
        over = self.ready(self.expr(node.generators[0].iter, frame), frame)
        parts = self.elements(over, frame) if len(node.generators) == 1 else None
        if parts is None or len(parts) > UNROLLED or not self.speaks(node, parts, frame) or node.generators[0].ifs:
            return ast.Call(name_of(function.__name__), [self.spelled(self.left(node, over, frame), frame)], [])
        before = dict(frame.env)

        def fold(part: Value) -> Value:
            frame.env = dict(before)
            self.take(node.generators[0].target, part, frame)
            test = self.truth(self.expr(node.elt, frame), frame)
            truly = isinstance(test, (Known, ast.Compare)) or _negation(test)
            return test if truly else ast.Call(name_of("bool"), [self.spelled(test, frame)], [])

        op = ast.Or() if function is any else ast.And()
        value = self.either(op, [partial(fold, it) for it in parts], frame) if parts else Known(function is all)
        frame.env = before
        return value

    def take(self, target: ast.expr, value: Value, frame: Frame) -> None:
        """Gives the variables of a comprehension what they are for one round."""
        if isinstance(target, ast.Name):
            frame.env[target.id] = value
            return
        parts = self.elements(value, frame)
        if not isinstance(target, (ast.Tuple, ast.List)) or parts is None or len(parts) != len(target.elts):
            raise UnfoldableError("a comprehension takes apart what is not known")
        for inner, part in zip(target.elts, parts, strict=True):
            self.take(inner, part, frame)

    # Functions inside of functions.

    def lambda_(self, node: ast.Lambda, frame: Frame) -> ast.Lambda:
        arguments, inner = self.inside(node, frame)
        with inner.crooked():
            return ast.Lambda(arguments, self.spelled(self.expr(node.body, inner), inner))

    def function(self, node: ast.FunctionDef, frame: Frame) -> ast.FunctionDef:
        """An inner function, which stays one."""
        decorators = [self.spelled(it, frame) for it in self.several(node.decorator_list, frame)]
        symbol = frame.symbol(node.name)
        arguments, inner = self.inside(node, frame)
        if node.name not in inner.locals:
            inner.env[node.name] = name_of(symbol)
        return ast.FunctionDef(symbol, arguments, self.body(node, inner), decorators)

    def inside(self, node: ast.Lambda | ast.FunctionDef, frame: Frame) -> tuple[ast.arguments, Frame]:
        """The parameters of an inner function, and a frame in which what it takes from outside is folded in."""
        defaults = self.several([*node.args.defaults, *(it for it in node.args.kw_defaults if it)], frame)
        given = [self.spelled(it, frame) for it in defaults]
        for name in sorted(captured([node]) & frame.locals - frame.env.keys()):
            self.loosen([name], frame)  # it is set later
        inner = Frame("stays", frame.module, node, frame.symbols, frame)
        inner.straight, inner.looping = True, False
        names = parameters(node)
        inner.env = {name: it for name, it in frame.env.items() if name not in inner.locals}
        inner.locals |= frame.locals - frame.env.keys() - inner.locals
        inner.env |= {name: name_of(inner.symbol(name)) for name in names}
        inner.stable |= {inner.symbol(name) for name in names if name in inner.once}
        it, positional = node.args, len(node.args.defaults)
        named = iter(given[positional:])
        arguments = ast.arguments(
            [ast.arg(inner.symbol(arg.arg)) for arg in it.posonlyargs],
            [ast.arg(inner.symbol(arg.arg)) for arg in it.args],
            ast.arg(inner.symbol(it.vararg.arg)) if it.vararg else None,
            [ast.arg(inner.symbol(arg.arg)) for arg in it.kwonlyargs],
            [None if default is None else next(named) for default in it.kw_defaults],
            ast.arg(inner.symbol(it.kwarg.arg)) if it.kwarg else None,
            given[:positional],
        )
        return arguments, inner

    def body(self, node: ast.FunctionDef, frame: Frame) -> list[ast.stmt]:
        """The body of a function that stays one."""
        self.loosen(sorted(frame.loose & frame.env.keys() & frame.locals), frame)
        self.block(body_of(node), frame)
        return frame.out or [ast.Pass()]


def _tables(left: Value, right: Value) -> bool:
    """Whether two dictionaries are merged, of which one is told apart."""
    both = (left, right)
    return any(isinstance(it, Table) for it in both) and all(
        isinstance(it, Table) or (isinstance(it, Known) and isinstance(it.value, Mapping)) for it in both
    )


def _kind(value: Value) -> type | None:
    """The kind of a tuple or a list whose elements are known one by one."""
    if isinstance(value, Row) and not value.lazy and value.kind is not set:
        return value.kind
    return type(value.value) if isinstance(value, Known) and type(value.value) in (tuple, list) else None


def _at(parts: Sequence[Value], index: int | slice) -> Any:
    try:
        return parts[index]
    except IndexError:
        return None


def _negation(node: Value) -> bool:
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
