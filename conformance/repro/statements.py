"""Folds statements: what the case's data decide is decided, and loops over its data are written out."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Sequence
from itertools import chain

from .base import Base
from .frame import Frame, LeftError
from .syntax import (
    assign,
    changed,
    is_name,
    name_of,
    only_combined,
    only_read,
    passed_on,
    path_of,
    private,
    reads,
    stored,
)
from .values import MUTABLE, Known, Row, Table, UnfoldableError, Value, evaluated, lasting

FRESH = ("dict", "list", "set", "sorted")  # functions that always give a new object
UNROLLED = 12  # rounds of a loop, at most, that are written out


class Statements(Base):
    def block(self, statements: Sequence[ast.stmt], frame: Frame) -> Value | None:
        """Folds statements into `frame.out`; what a return gives, or None where there is none."""
        for index, node in enumerate(statements):
            rest = statements[index + 1 :]
            match node:
                case ast.Return():
                    value = self.expr(node.value, frame) if node.value else Known(None)
                    if frame.kind == "stays":
                        frame.out.append(ast.Return(self.spelled(value, frame) if node.value else None))
                    if frame.kind == "main":
                        self.run(value, frame)  # nobody takes what a probe returns
                    return value
                case ast.If():
                    test = self.truth(self.expr(node.test, frame), frame)
                    if isinstance(test, Known):
                        return self.block([*(node.body if test.value else node.orelse), *rest], frame)
                    if frame.last and isinstance(node.body[-1], ast.Return) and node.body[-1].value is None:
                        self.branch(test, node.body[:-1], [*node.orelse, *rest], frame, last=True)
                        return Known(None)
                    self.branch(test, node.body, node.orelse, frame, last=False)
                case ast.Raise():
                    self.statement(node, frame)
                    return None
                case ast.Break() | ast.Continue():
                    frame.out.append(type(node)())
                    return None
                case ast.For():
                    self.loop(node, frame)
                case _:
                    self.statement(node, frame)
        return None

    def branch(
        self, test: ast.expr, body: Sequence[ast.stmt], orelse: Sequence[ast.stmt], frame: Frame, last: bool
    ) -> None:
        """An `if` that is left to run; `last`: nothing comes after it."""
        if not last:
            self.loosen(self.public((body, orelse), frame), frame)
        before, sides = dict(frame.env), []
        for side in (body, orelse):
            sides.append(self.nested(side, frame, last))
            frame.env = dict(before)
        frame.out.append(ast.If(test, sides[0] or [ast.Pass()], sides[1]))

    def nested(
        self, statements: Sequence[ast.stmt], frame: Frame, last: bool = False, looping: bool = False
    ) -> list[ast.stmt]:
        """Folds the body of a statement that is left to run; from one that is not the last, nothing may return."""
        outer, frame.out = frame.out, []
        before = frame.last, frame.looping
        frame.last, frame.looping = frame.last and last, frame.looping or looping
        try:
            ended = self.block(statements, frame) is not None
            if ended and frame.kind != "stays" and not frame.last:
                raise LeftError
            return frame.out
        finally:
            frame.out = outer
            frame.last, frame.looping = before

    def public(self, blocks: Collection[Sequence[ast.stmt]], frame: Frame) -> list[str]:
        """The names that blocks set, and that are more than each block's own, in order."""
        return [name for name in sorted(stored(chain(*blocks))) if not private(name, blocks, frame.node)]

    def loosen(self, names: Iterable[str], frame: Frame) -> None:
        """Makes variables of names that what is left to run sets."""
        for name in names:
            frame.loose.add(name)
            if name not in frame.env:
                frame.stable.discard(frame.symbol(name))
                frame.env[name] = name_of(frame.symbol(name))
                continue
            value = frame.env[name]
            symbol = frame.symbol(name)
            frame.stable.discard(symbol)
            if not is_name(value, symbol):
                frame.out.append(assign(symbol, self.spelled(value, frame)))
                frame.env[name] = name_of(symbol)

    def loop(self, node: ast.For, frame: Frame) -> None:
        over = self.ready(self.expr(node.iter, frame), frame)
        targets = stored([node.target])
        jumps = any(isinstance(it, (ast.Break, ast.Continue, ast.Return)) for it in ast.walk(node))
        speaks = targets & {it.id for part in node.body for it in ast.walk(part) if reads(it)}
        parts = self.elements(over, frame) if not jumps else None
        if parts is not None and len(parts) <= UNROLLED and (speaks or not parts):
            for part in parts:
                self.assign(node.target, part, frame)
                self.block(node.body, frame)
            self.block(node.orelse, frame)
            return
        source = self.consumed(over, frame)
        names = {*targets, *self.public((node.body, node.orelse), frame)}
        self.loosen(sorted(names), frame)
        target = self.target(node.target, frame)
        body = self.nested(node.body, frame, looping=True)
        frame.out.append(ast.For(target, source, body or [ast.Pass()], self.nested(node.orelse, frame)))

    def statement(self, node: ast.stmt, frame: Frame) -> None:
        match node:
            case ast.Expr(ast.Constant()) | ast.Pass():
                pass
            case ast.Expr():
                self.run(self.expr(node.value, frame), frame)
            case ast.Assign():
                self.assigned(node.targets, self.own(node.targets, node.value, frame), frame)
            case ast.AnnAssign():
                if node.value is not None:
                    self.assigned([node.target], self.own([node.target], node.value, frame), frame)
            case ast.AugAssign():
                self.augmented(node, frame)
            case ast.Try():
                self.guarded(node, frame)
            case ast.With():
                self.entered(node, frame)
            case ast.Delete():
                for target in node.targets:
                    self.deleted(target, frame)
            case ast.Raise():
                said = [self.spelled(it, frame) for it in self.several([x for x in (node.exc, node.cause) if x], frame)]
                cause = said[1] if len(said) > 1 else None
                frame.out.append(ast.Raise(said[0] if said else None, cause))
            case ast.FunctionDef():
                made = self.function(node, frame)
                frame.out.append(made)
                frame.env[node.name] = name_of(made.name)
                if node.name in frame.once and node.name not in frame.loose and not frame.looping:
                    frame.stable.add(made.name)
            case _:
                raise UnfoldableError(f"a probe has {type(node).__name__.lower()}, which no script is made from")

    def run(self, value: Value, frame: Frame) -> None:
        """A value that nobody takes: what of it is left to run."""
        match value:
            case Known() | ast.Name():
                return
            case Row(parts=parts) if not value.spread:
                for it in parts:
                    self.run(it, frame)
            case Row() | Table():
                if not self.calm(value):
                    frame.out.append(ast.Expr(self.spelled(value, frame)))
            case _:
                frame.out.append(ast.Expr(value))

    # Assignments.

    def own(self, targets: Sequence[ast.expr], node: ast.expr, frame: Frame) -> Value:
        """The value for variables; one that may be changed in place must be theirs alone, and the script's."""
        value = self.expr(node, frame)
        names = {it.id for it in targets if isinstance(it, ast.Name)}
        touched = any(changed(it, frame.node) or passed_on(it, frame.node, frame.locals) for it in names)
        if not touched or not isinstance(value, Known) or not isinstance(value.value, MUTABLE):
            return value
        if not isinstance(node, ast.BinOp) and not (isinstance(node, ast.Call) and path_of(node.func) in FRESH):
            raise UnfoldableError("a probe changes data of the case or of a table, or hands it on to what may")
        return self.spelled(value, frame)

    def assigned(self, targets: Sequence[ast.expr], value: Value, frame: Frame) -> None:
        """One value to all targets, left to right."""
        plain = isinstance(value, Known) and not isinstance(value.value, MUTABLE)
        first, *others = sorted(targets, key=lambda it: not isinstance(it, ast.Name))
        if others and isinstance(first, ast.Name) and all(isinstance(it, (ast.Tuple, ast.List)) for it in others):
            self.bind(first.id, value, frame)
            value, targets = frame.env[first.id], others
        elif others and not plain:
            value = frame.emit("it", self.spelled(value, frame))
        for target in targets:
            self.assign(target, value, frame)

    def assign(self, target: ast.expr, value: Value, frame: Frame) -> None:
        match target:
            case ast.Name():
                self.bind(target.id, value, frame)
            case ast.Tuple() | ast.List():
                parts = self.apart(target, value, frame)
                if parts is None:
                    self.whole(target, value, frame)
                    return
                for inner, part in zip(target.elts, parts, strict=True):
                    self.assign(inner, part, frame)
            case _:
                if not isinstance(value, Known):
                    value, place = self.in_order([lambda: value, lambda: self.place(target, frame)], frame)
                else:
                    place = self.place(target, frame)
                assert isinstance(place, ast.expr)
                frame.out.append(ast.Assign([self.target(place, frame)], self.spelled(value, frame)))

    def apart(self, target: ast.Tuple | ast.List, value: Value, frame: Frame) -> list[Value] | None:
        """The parts of a value that may be given one by one to the names that it is taken apart into."""
        if isinstance(value, Known):
            parts = self.elements(value, frame)
        elif isinstance(value, Row) and not value.spread and value.kind is not set:
            parts = value.parts
        else:
            parts = None
        names = all(isinstance(it, (ast.Name, ast.Tuple, ast.List)) for it in _places(target))
        if parts is None or len(parts) != len(target.elts) or not names:
            return None
        symbols = {frame.symbol(name) for name in stored([target])}
        swaps = any(is_in(symbols, it) for it in parts)
        return None if swaps else parts

    def whole(self, target: ast.expr, value: Value, frame: Frame) -> None:
        """Takes apart in the script."""
        if not all(isinstance(it, (ast.Name, ast.Tuple, ast.List, ast.Starred)) for it in _places(target)):
            raise UnfoldableError("a probe takes a value apart into parts of objects")
        given = self.spelled(value, frame)
        for name in stored([target]):
            frame.env[name] = name_of(frame.symbol(name))
        frame.out.append(ast.Assign([self.target(target, frame)], given))
        frame.stable |= self.lasting_symbols(stored([target]), frame)

    def lasting_symbols(self, names: Iterable[str], frame: Frame) -> set[str]:
        return {frame.symbol(it) for it in names if it in frame.once and it not in frame.loose and not frame.looping}

    def bind(self, name: str, value: Value, frame: Frame) -> None:
        """Gives a variable a value, known or as a statement."""
        if name not in frame.loose and (kept := self.kept(name, value, frame)) is not None:
            frame.env[name] = kept
            return
        symbol = frame.symbol(name)
        frame.out.append(assign(symbol, self.spelled(value, frame)))
        frame.env[name] = name_of(symbol)
        frame.stable |= self.lasting_symbols([name], frame)

    def kept(self, name: str, value: Value, frame: Frame) -> Value | None:
        """What stands for a variable wherever it is read, where none is needed."""
        match value:
            case Known(it, lazy=False):
                return value if lasting(it) else None
            case ast.Name():
                return value if value.id in frame.stable and name in frame.once else None
            case Table() if only_combined(name, frame.node) and (named := value.named()) is not None:
                keys: list[Value | None] = [Known(it) for it in named]
                if len(named) < len(value.keys):
                    return None
                return Table(keys, [self.firm(it, frame, key) for key, it in named.items()])
            case Row(lazy=False) if name in frame.once and not value.spread and only_read(name, frame.node):
                return Row(value.kind, [self.firm(it, frame, f"{name}{i}") for i, it in enumerate(value.parts)])
        return None

    def place(self, target: ast.expr, frame: Frame) -> ast.expr:
        """The place that an assignment fills, its own parts folded."""
        match target:
            case ast.Attribute():
                (base,) = self.several([target.value], frame)
                return ast.Attribute(self.held(base, frame), target.attr, ast.Load())
            case ast.Subscript():
                base, index = self.several([target.value, target.slice], frame)
                return ast.Subscript(self.held(base, frame), self.spelled(index, frame), ast.Load())
        return target

    def held(self, value: Value, frame: Frame) -> ast.expr:
        """An object that is about to be changed, which must be the script's own."""
        if not isinstance(value, ast.expr) or isinstance(value, ast.Constant):
            raise UnfoldableError("a probe changes data of the case or of a table in place")
        return value

    def target(self, target: ast.expr, frame: Frame) -> ast.expr:
        match target:
            case ast.Name():
                return ast.Name(frame.symbol(target.id) if "@" not in target.id else target.id, ast.Store())
            case ast.Tuple() | ast.List():
                return ast.Tuple([self.target(it, frame) for it in target.elts], ast.Store())
            case ast.Starred():
                return ast.Starred(self.target(target.value, frame), ast.Store())
            case ast.Attribute():
                return ast.Attribute(target.value, target.attr, ast.Store())
            case ast.Subscript():
                return ast.Subscript(target.value, target.slice, ast.Store())
        raise UnfoldableError("a probe assigns to what no script assigns to")

    def augmented(self, node: ast.AugAssign, frame: Frame) -> None:
        if isinstance(node.target, ast.Name):
            name = node.target.id
            before, value = frame.env.get(name), self.expr(node.value, frame)
            if name not in frame.loose and (made := self.added(before, node.op, value)) is not None:
                self.bind(name, made, frame)
                return
            given = self.spelled(value, frame)
            self.loosen([name], frame)
            frame.out.append(ast.AugAssign(ast.Name(frame.symbol(name), ast.Store()), node.op, given))
            return
        place = self.place(node.target, frame)
        before_value = len(frame.out)
        value = self.expr(node.value, frame)
        inner = [it for it in ast.iter_child_nodes(place) if isinstance(it, ast.expr)]
        if len(frame.out) > before_value and not all(map(self.calm, inner)):
            raise UnfoldableError("a probe adds to a part of an object what takes statements to work out")
        filled = self.target(place, frame)
        assert isinstance(filled, (ast.Attribute, ast.Subscript))
        frame.out.append(ast.AugAssign(filled, node.op, self.spelled(value, frame)))

    def added(self, before: Value | None, op: ast.operator, value: Value) -> Value | None:
        """What an assignment such as += gives, where it need not be left to run."""
        if isinstance(before, Table) and isinstance(value, Table) and isinstance(op, ast.BitOr):
            more = value.named()
            if more is None or len(more) < len(value.keys):
                return None
            both = {**(before.named() or {}), **more}  # what is replaced has run
            return Table([Known(it) for it in both], [*both.values()])
        if isinstance(before, Known) and isinstance(value, Known) and not isinstance(before.value, MUTABLE):
            return evaluated(ast.BinOp(name_of("left"), op, name_of("right")), left=before.value, right=value.value)
        return None

    def deleted(self, target: ast.expr, frame: Frame) -> None:
        if isinstance(target, ast.Name):
            value = frame.env.pop(target.id, None)
            symbol = frame.symbol(target.id)
            if is_name(value, symbol):
                frame.out.append(ast.Delete([ast.Name(symbol, ast.Del())]))
            elif value is None:
                raise UnfoldableError(f"a probe deletes {target.id}, which is no variable there")
            return
        place = self.target(self.place(target, frame), frame)
        if isinstance(place, (ast.Attribute, ast.Subscript)):
            place.ctx = ast.Del()
        frame.out.append(ast.Delete([place]))

    # Statements with bodies that are left to run.

    def guarded(self, node: ast.Try, frame: Frame) -> None:
        blocks = [node.body, *(it.body for it in node.handlers), node.orelse, node.finalbody]
        self.loosen(self.public(blocks, frame), frame)
        body = self.nested(node.body, frame) or [ast.Pass()]
        handlers = []
        for it in node.handlers:
            with frame.crooked():
                kind = self.spelled(self.expr(it.type, frame), frame) if it.type else None
            if it.name:
                frame.loose.add(it.name)
                frame.stable.discard(frame.symbol(it.name))
                frame.env[it.name] = name_of(frame.symbol(it.name))
            caught = frame.symbol(it.name) if it.name else None
            handlers.append(ast.ExceptHandler(kind, caught, self.nested(it.body, frame) or [ast.Pass()]))
            if it.name:
                frame.env.pop(it.name, None)
        orelse, finalbody = self.nested(node.orelse, frame), self.nested(node.finalbody, frame)
        frame.out.append(ast.Try(body, handlers, orelse, finalbody))

    def entered(self, node: ast.With, frame: Frame) -> None:
        first, *more = node.items
        body: list[ast.stmt] = [ast.With(more, node.body)] if more else node.body
        context = self.spelled(self.expr(first.context_expr, frame), frame)
        names = stored([first.optional_vars]) if first.optional_vars else set()
        self.loosen(sorted({*names, *self.public([body], frame)}), frame)
        target = self.target(first.optional_vars, frame) if first.optional_vars else None
        items, inner = [ast.withitem(context, target)], self.nested(body, frame) or [ast.Pass()]
        if more and len(inner) == 1 and isinstance(inner[0], ast.With):
            items, inner = [*items, *inner[0].items], inner[0].body
        frame.out.append(ast.With(items, inner))


def _places(target: ast.expr) -> list[ast.expr]:
    """The targets within a target, itself included."""
    found = [it for it in ast.walk(target) if isinstance(getattr(it, "ctx", None), ast.Store)]
    return [it for it in found if isinstance(it, ast.expr)]


def is_in(symbols: set[str], value: Value) -> bool:
    """Whether a value speaks of one of these variables."""
    match value:
        case Known():
            return False
        case Row(_, parts):
            return any(is_in(symbols, it) for it in parts)
        case Table(keys, values):
            return any(it is not None and is_in(symbols, it) for it in [*keys, *values])
    return any(isinstance(it, ast.Name) and it.id in symbols for it in ast.walk(value))
