"""Folds calls: what depends on the case's data is worked out, helpers are written out where they are called."""

from __future__ import annotations

import ast
import inspect
import re
import types
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from keyword import iskeyword
from typing import Any

from .expressions import Expressions
from .frame import Frame, LeftError
from .source import definition, of_data_alone
from .statements import Statements
from .syntax import (
    COMPREHENSIONS,
    body_of,
    calm,
    captured,
    changed,
    is_name,
    name_of,
    only_read,
    parameters,
    passed_on,
    stored,
)
from .values import LAZY, MUTABLE, WHOLE, Known, Row, Table, UnfoldableError, Value, literal, plain, sure, used_up

DEEP = 30  # calls of helpers in calls of helpers, at most


class Calls(Statements, Expressions):
    def call(self, node: ast.Call, frame: Frame) -> Value:
        function: list[Value] = []

        def first() -> Value:
            function.append(self.expr(node.func, frame))
            return function[0]

        def operand(it: ast.expr) -> Value:
            if isinstance(it, ast.GeneratorExp) and isinstance(function[0], Known):
                if function[0] in (Known(any), Known(all)) and len(nodes) == 1:
                    return self.any_or_all(function[0].value, it, frame)
                joins = getattr(function[0].value, "__name__", "") == "join"
                return self.comprehension(it, frame, joins or whole(function[0]))
            return self.expr(it, frame)

        nodes = [*node.args, *(it.value for it in node.keywords)]
        called, *values = self.in_order([first, *(partial(operand, it) for it in nodes)], frame)
        if called in (Known(any), Known(all)) and len(nodes) == 1 and isinstance(nodes[0], ast.GeneratorExp):
            return values[0]
        arguments = [it for value in values[: len(node.args)] for it in self.spread(value)]
        pairs: list[tuple[str | None, Value]] = []
        for keyword, value in zip(node.keywords, values[len(node.args) :], strict=True):
            more = {keyword.arg: value} if keyword.arg else self.named(value, frame)
            pairs += [(None, value)] if more is None else more.items()
        keywords = {name: value for name, value in pairs if name is not None}
        spread = None in dict(pairs) or any(isinstance(it, ast.Starred) for it in arguments)
        if isinstance(called, Known) and not spread:
            if len(keywords) < len(pairs):
                raise UnfoldableError("a call is given a keyword twice")
            made = self.applied(called.value, arguments, keywords, frame)
            if made is not None:
                return made
        if wrong := [name for name in keywords if not name.isidentifier() or iskeyword(name)]:
            raise UnfoldableError(f"a call is given a keyword {wrong[0]!r}, which is no name")
        spell = self.consumed if whole(called) else self.spelled
        function_ = name_of("note") if is_name(called, "see") else self.spelled(called, frame)
        given = [spell(it, frame) for it in arguments]
        return ast.Call(function_, given, [ast.keyword(name, spell(it, frame)) for name, it in pairs])

    def named(self, value: Value, frame: Frame) -> dict[str, Value] | None:
        """What is spread over the keywords of a call, by name."""
        table = self.as_table(value)
        found = table.named()
        if found is not None and len(found) < len(table.keys):  # what is replaced runs too
            settled = self.settled(table, frame)
            assert isinstance(settled, Table)
            found = settled.named()
        return found

    def applied(
        self, function: Any, arguments: Sequence[Value], keywords: Mapping[str, Value], frame: Frame
    ) -> Value | None:
        """A call of a known function: its result, or its body written out; None where it is left to run."""
        suite = self.ours(function)
        values = [*arguments, *keywords.values()]
        may = of_data_alone(function, self.package) if suite else sure(function) or self.shaped(function)
        if may and all(isinstance(it, Known) for it in values):
            made = self.worked_out(function, arguments, keywords)
            if made is not None:
                return made
        if function in (list, tuple) and len(values) == 1 and isinstance(row := values[0], Row) and row.kind is not set:
            return self.row(function, row.parts)
        if function in (zip, enumerate) and not keywords.keys() - {"strict"}:
            woven = self.woven(function, arguments, keywords, frame)
            if woven is not None:
                return woven
        if function is len and isinstance(row := values[0], Row) and not row.spread and row.kind is not set:
            ready = self.ready(row, frame)
            if self.calm(ready):
                return Known(len(row.parts))
            return ast.Call(name_of("len"), [self.spelled(ready, frame)], [])
        return self.written(function, arguments, keywords, frame) if suite else None

    def shaped(self, function: Any) -> bool:
        """Whether it makes one of the suite's frozen pieces of data."""
        return isinstance(function, type) and function.__module__.startswith(self.package)

    def worked_out(self, function: Any, arguments: Sequence[Value], keywords: Mapping[str, Value]) -> Known | None:
        """What a function gives for known arguments, where that may stand for itself."""
        given = [it.value for it in arguments if isinstance(it, Known)]
        named = {name: it.value for name, it in keywords.items() if isinstance(it, Known)}
        held = [it for it in (*given, *named.values()) if isinstance(it, MUTABLE)]
        before = repr(held)
        try:
            value = function(*given, **named)
        except Exception:  # the script fails as the probe does
            return None
        if repr(held) != before:
            raise UnfoldableError(f"{getattr(function, '__name__', function)} changes data of the case or of a table")
        lazy = function in LAZY if _hashable(function) else False
        value = used_up(value)
        made_here = "<locals>" in getattr(value, "__qualname__", "")  # it may lean on its variables
        if plain(value) or (callable(value) and not made_here):
            return Known(value, lazy=lazy)
        return None

    def woven(
        self, function: Any, arguments: Sequence[Value], keywords: Mapping[str, Value], frame: Frame
    ) -> Value | None:
        """The rows of `zip` or `enumerate` over lists whose elements are known one by one."""
        ready = [self.ready(it, frame) for it in arguments]
        lists = [self.elements(it, frame) for it in ready]
        strict = keywords.get("strict", Known(False))
        found = [it for it in lists if it is not None]
        if len(found) < len(lists) or not found or not isinstance(strict, Known):
            return None
        if function is enumerate:
            if len(found) > 1:
                return None
            found = [[Known(index) for index, _ in enumerate(found[0])], *found]
        if len({*map(len, found)}) > 1 and strict.value:
            raise UnfoldableError("zip is given lists of several lengths")
        rows = [self.row(tuple, it) for it in zip(*found, strict=False)]
        return self.row(tuple, rows, lazy=True)

    # Helpers of the suite.

    def written(self, function: Any, arguments: Sequence[Value], keywords: Mapping[str, Value], frame: Frame) -> Value:
        """A call of one of the suite's functions: in line where it can be, else as a function of the script."""
        node, module = definition(function)
        if getattr(node, "decorator_list", None):
            raise UnfoldableError(f"{function.__name__} has a decorator")
        if isinstance(function, types.MethodType):
            arguments = [Known(function.__self__), *arguments]
            function = function.__func__
        given = self.bound(function, arguments, keywords, frame)
        key = _key(function, given)
        if key in self.underway or reason(node) or (key in self.again and not isinstance(node, ast.Lambda)):
            return self.called(function, node, module, given, frame)
        if len(self.underway) > DEEP:
            raise UnfoldableError(f"{function.__name__} calls itself without end")
        length, before = len(frame.out), self.state()
        self.underway.append(key)
        try:
            value = self.in_line(node, module, given, frame)
            self.lengths.setdefault(key, []).append(len(frame.out) - length)
            for outer in self.underway[:-1]:
                self.within.setdefault(outer, set()).add(key)
            return value
        except LeftError:
            del frame.out[length:]
            self.back(before)
        finally:
            self.underway.pop()
        return self.called(function, node, module, given, frame)

    def state(self) -> tuple[Any, ...]:
        lengths = {key: [*it] for key, it in self.lengths.items()}
        return len(self.functions), dict(self.specialised), set(self.imports), lengths

    def back(self, state: tuple[Any, ...]) -> None:
        count, self.specialised, self.imports, self.lengths = state
        del self.functions[count:]

    def bound(
        self, function: Any, arguments: Sequence[Value], keywords: Mapping[str, Value], frame: Frame
    ) -> dict[str, Value]:
        """The parameters of a helper and what they are given, in the order in which that is worked out."""
        signature = inspect.signature(function)
        try:
            found = signature.bind(*arguments, **keywords)
        except TypeError as error:
            raise UnfoldableError(f"{function.__name__}: {error}") from None
        order = [name for name in found.arguments if name not in keywords]
        order += [name for name in keywords if name in found.arguments]
        found.apply_defaults()
        order += [name for name in found.arguments if name not in order]
        return {name: self.gathered(found.arguments[name], signature.parameters[name]) for name in order}

    def gathered(self, value: Any, parameter: inspect.Parameter) -> Value:
        """The value of a parameter, of one such as *args or **options, or a default."""
        if parameter.kind is parameter.VAR_POSITIONAL:
            return self.row(tuple, value)
        if parameter.kind is parameter.VAR_KEYWORD:
            if all(isinstance(it, Known) for it in value.values()):
                return Known({name: it.value for name, it in value.items()})
            return Table([Known(name) for name in value], [*value.values()])
        return value if isinstance(value, (Known, Row, Table, ast.expr)) else Known(value)

    def in_line(
        self, node: ast.FunctionDef | ast.Lambda, module: types.ModuleType, given: Mapping[str, Value], frame: Frame
    ) -> Value:
        inner = Frame("inline", module, node, frame.symbols, frame)
        if inner.looping and captured([node.body] if isinstance(node, ast.Lambda) else node.body) & inner.locals:
            raise LeftError  # what its functions take from it must not change with the next round
        if (made := self.put_in(node, given, inner)) is not None:
            return made
        length = len(frame.out)
        for name, value in given.items():
            kept = self.handed(name, value, inner)
            if kept is None:
                self.assign(ast.Name(name, ast.Store()), value, inner)
            else:
                inner.env[name] = kept
        result = self.expr(node.body, inner) if isinstance(node, ast.Lambda) else self.block(node.body, inner)
        if not frame.straight and len(frame.out) > length:
            raise LeftError
        return Known(None) if result is None else result

    def put_in(self, node: ast.FunctionDef | ast.Lambda, given: Mapping[str, Value], inner: Frame) -> ast.expr | None:
        """The one expression of a helper with its arguments put in, where they run just as they would have."""
        body = [it for it in body_of(node) if not (isinstance(it, ast.Expr) and isinstance(it.value, ast.Constant))]
        last = body[0] if len(body) == 1 else None
        result = node.body if isinstance(node, ast.Lambda) else last.value if isinstance(last, ast.Return) else None
        left = {name: it for name, it in given.items() if isinstance(it, ast.expr) and not self.calm(it)}
        if result is None or not left or not all(isinstance(it, (Known, ast.expr)) for it in given.values()):
            return None
        if any(
            not isinstance(it, Known) and not stays(it, inner) for name, it in given.items() if name in inner.captured
        ):
            return None
        if any(isinstance(it, Known) and isinstance(it.value, MUTABLE) for it in given.values()):
            return None
        length, before = len(inner.out), self.state()
        inner.env = dict(given)
        try:
            with inner.crooked():
                made = self.expr(result, inner)
        except LeftError:
            made = Known(None)
        if isinstance(made, ast.expr) and [*left.values()] == [*early(made, [*left.values()])]:
            return made
        del inner.out[length:]
        self.back(before)
        inner.env = {}
        return None

    def handed(self, name: str, value: Value, inner: Frame) -> Value | None:
        """What stands for a parameter wherever it is read, where no variable is needed."""
        if name in stored(body_of(inner.node)):
            if isinstance(value, Known) and isinstance(value.value, MUTABLE) and changed(name, inner.node):
                raise UnfoldableError("a helper changes data of the case or of a table")
            return None
        match value:
            case Known(it, lazy=False):
                if isinstance(it, MUTABLE) and (changed(name, inner.node) or passed_on(name, inner.node, inner.locals)):
                    raise UnfoldableError("a helper changes data of the case or of a table, or hands it on to what may")
                return value
            case ast.Name():
                return value if stays(value, inner) or name not in inner.captured else None
            case Row() | Table() if only_read(name, inner.node) and inner.straight and self.calm(value):
                if isinstance(value, Row) and value.lazy:
                    return None
                whole = value.keys if isinstance(value, Table) else []
                if None in whole or (isinstance(value, Row) and (value.spread or value.kind is set)):
                    return None
                if isinstance(value, Row):
                    return Row(value.kind, [self.firm(it, inner, f"{name}{i}") for i, it in enumerate(value.parts)])
                named = value.named()
                if named is None or len(named) < len(value.keys):
                    return None
                return Table([Known(it) for it in named], [self.firm(it, inner, key) for key, it in named.items()])
        return None

    def called(
        self,
        function: Any,
        node: ast.FunctionDef | ast.Lambda,
        module: types.ModuleType,
        given: Mapping[str, Value],
        frame: Frame,
        whole: bool = False,
    ) -> ast.Call:
        """Makes a function of the script, with the known arguments folded in, and calls it with the others.

        `whole`: with all its parameters, as it is handed on.
        """
        folded = {name for name, it in given.items() if isinstance(it, Known) or is_world(it)} if not whole else set()
        open_ = [name for name in given if name not in folded]
        key = ("whole", function) if whole else _key(function, given)
        if key not in self.specialised:
            base = function.__name__.strip("_<>") or "helper"
            self.specialised[key] = frame.symbols.fresh(base)
            inner = Frame("stays", module, node, frame.symbols)
            self.parameters[self.specialised[key]] = {it: inner.symbol(it) for it in open_}
            inner.stable = {*frame.stable}
            inner.env = {name: given[name] for name in given if name in folded}
            inner.env |= {name: name_of(inner.symbol(name)) for name in open_}
            inner.stable |= {inner.symbol(name) for name in open_ if name in inner.once}
            if isinstance(node, ast.Lambda):
                value = self.expr(node.body, inner)
                inner.out.append(ast.Return(self.spelled(value, inner)))
                body: list[ast.stmt] = inner.out
            else:
                body = self.body(node, inner)
                if said := reason(node):
                    body.insert(0, ast.Expr(ast.Constant(_filled(said, inner))))
            by_name = [it.arg for it in node.args.kwonlyargs] if whole else []
            plain = [ast.arg(inner.symbol(it)) for it in open_ if it not in by_name]
            named_alone = [ast.arg(inner.symbol(it)) for it in by_name]
            made = ast.arguments([], plain, None, named_alone, [None for _ in by_name], None, [])
            self.functions.append(ast.FunctionDef(self.specialised[key], made, body, []))
        symbols = self.parameters[self.specialised[key]]
        values = [self.spelled(given[it], frame) for it in open_]
        if [*symbols] == open_:
            return ast.Call(name_of(self.specialised[key]), values, [])
        named = [ast.keyword(symbols[name], it) for name, it in zip(open_, values, strict=True)]
        return ast.Call(name_of(self.specialised[key]), [], named)

    def passed(self, function: Any, frame: Frame) -> ast.expr:
        """A function of the suite that is handed on, not called."""
        if not isinstance(function, types.FunctionType):
            raise UnfoldableError(f"a method of {type(function.__self__).__name__} is handed on")
        node, module = definition(function)
        if getattr(node, "decorator_list", None):
            raise UnfoldableError(f"{function.__name__} has a decorator")
        if isinstance(node, ast.Lambda):
            key = ("lambda", function)
            self.lengths.setdefault(key, []).append(2)
            if key not in self.again:
                return self.lambda_(node, self.top_frame(module, node, frame))
            if key not in self.specialised:  # it is one function, however often it is handed on
                made = self.lambda_(node, self.top_frame(module, node, frame))
                self.specialised[key] = frame.symbols.fresh("f")
                self.functions.append(ast.Assign([ast.Name(self.specialised[key], ast.Store())], made))
            return name_of(self.specialised[key])
        simple = node.args
        if simple.defaults or any(simple.kw_defaults) or simple.vararg or simple.kwarg:
            raise UnfoldableError(f"{function.__name__} is handed on, and takes more than plain arguments")
        given: dict[str, Value] = {name: name_of(name) for name in parameters(node)}
        return self.called(function, node, module, given, frame, whole=True).func

    def top_frame(self, module: types.ModuleType, node: ast.Lambda, frame: Frame) -> Frame:
        """The top level of a module, around one of its lambdas."""
        outer = ast.Lambda(ast.arguments([], [], None, [], [], None, []), ast.Constant(None))
        return Frame("stays", module, outer, frame.symbols)


def stays(value: Value, frame: Frame) -> bool:
    """Whether it is a variable that is set once and for all."""
    return isinstance(value, ast.Name) and (value.id in frame.stable or "@" not in value.id)


def early(node: ast.expr, parts: Sequence[ast.expr]) -> Iterator[ast.AST]:
    """Which of its parts an expression evaluates before anything else that matters, in order, and each of them once."""
    order = [*evaluated_in(node, parts)]
    if len([it for it in order if any(it is part for part in parts)]) == len(parts):
        yield from order[: len(parts)]


def evaluated_in(node: ast.AST, parts: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """What an expression evaluates, in order, as far as it matters; None for what it may not evaluate."""
    if any(node is it for it in parts):
        yield node
        return
    if isinstance(node, (ast.IfExp, ast.BoolOp, ast.Lambda, *COMPREHENSIONS)) or (
        isinstance(node, ast.Compare) and len(node.ops) > 1
    ):
        inside = [it for it in ast.walk(node) if any(it is part for part in parts)]
        yield from [node, *inside, *inside]  # too late, or too often
        return
    children = [*ast.iter_child_nodes(node)]
    if isinstance(node, ast.Dict):
        children = [it for pair in zip(node.keys, node.values, strict=True) for it in pair if it is not None]
    for child in children:
        yield from evaluated_in(child, parts)
    if isinstance(node, ast.expr) and not calm(node):
        yield node


def is_world(value: Value) -> bool:
    """`jax` and `see`, which a script has at its top."""
    return isinstance(value, ast.Name) and value.id in ("jax", "see")


def whole(function: Value) -> bool:
    """Whether a function uses up an iterator that it is given."""
    return isinstance(function, Known) and _hashable(function.value) and function.value in WHOLE


def reason(node: ast.FunctionDef | ast.Lambda) -> str | None:
    """The docstring of a helper that says why it is as it is, in a part of its own: such a helper stays a function."""
    said = ast.get_docstring(node) if isinstance(node, ast.FunctionDef) else None
    return said if said and "\n\n" in said else None


def _filled(said: str, frame: Frame) -> str:
    """A docstring with what is known of the parameters that it names."""

    def known(found: re.Match[str]) -> str:
        value = frame.env.get(found[1])
        return str(value.value) if isinstance(value, Known) and literal(value.value) else found[0]

    return re.sub(r"`(\w+)`", known, said)


def _hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _key(function: Any, given: Mapping[str, Value]) -> tuple[Any, ...]:
    """What tells one specialised function from another: the function and what is known of its arguments."""
    return (
        function,
        *((name, type(it.value), _told(it.value)) for name, it in sorted(given.items()) if isinstance(it, Known)),
        *((name, it.id) for name, it in sorted(given.items()) if is_world(it) and isinstance(it, ast.Name)),
    )


def _told(value: Any) -> Any:
    return value if isinstance(value, types.FunctionType) else repr(value)
