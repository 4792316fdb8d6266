"""How the arguments of a function are taken apart: into arrays, each with a name, and what the function is made for."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from . import trees
from .agreement import Argument, committed_to
from .avals import aval_of
from .words import shown

POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


@dataclass(frozen=True)
class Parameters:
    """The parameters of a function: those that take a position, what takes all further ones, and all that take a name.

    `signature` is missing where Python cannot say.
    """

    signature: inspect.Signature | None
    positional: tuple[str, ...]
    rest: str | None
    named: frozenset[str]

    def called(self, position: int) -> str:
        """What the argument at a position is called."""
        ahead = len(self.positional)
        return self.positional[position] if position < ahead else f"{self.rest or 'args'}[{position - ahead}]"

    def meant(self, function: str, option: str, numbers: Any, names: Any) -> frozenset[str]:
        """What the arguments are called that an option speaks of, by number and by name."""
        numbers = listed(f"{option}_argnums", numbers, int)
        names = listed(f"{option}_argnames", names, str)
        count = len(self.positional)
        if self.rest is None and any(not -count <= it < count for it in numbers):
            raise ValueError(f"{option}_argnums={tuple(numbers)} of {function}, which takes {count} positions")
        if unknown := [it for it in names if self.signature and it not in self.named]:
            raise ValueError(f"{option}_argnames={tuple(unknown)} of {function}, which has no such parameters")
        return frozenset([*(self.called(it if it >= 0 else count + it) for it in numbers), *names])

    def check(self, function: str, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        """TypeError where the function cannot be called with as many arguments, or with these names."""
        if self.signature is not None:
            try:
                self.signature.bind(*args, **kwargs)
            except TypeError as error:
                raise TypeError(f"{function}: {error}") from None


def listed(option: str, given: Any, kind: type) -> list[Any]:
    """What an option lists, of one type all of it; one alone stands for a list of it."""
    listed = [] if given is None else [given] if isinstance(given, kind) else given
    if not isinstance(listed, Iterable) or not all(isinstance(it, kind) for it in listed):
        raise TypeError(f"{option} takes a {kind.__name__} or several: got {shown(given)}")
    return list(listed)


def parameters(f: Callable[..., Any]) -> Parameters:
    """The parameters of a function."""
    try:
        signature = inspect.signature(f)
    except (TypeError, ValueError):
        return Parameters(None, (), None, frozenset())
    every = signature.parameters.values()
    rest = next((it.name for it in every if it.kind is inspect.Parameter.VAR_POSITIONAL), None)
    open_ = any(it.kind is inspect.Parameter.VAR_KEYWORD for it in every)
    return Parameters(
        None if open_ else signature,
        tuple(it.name for it in every if it.kind in POSITIONAL),
        rest,
        frozenset(it.name for it in every if it.kind is not inspect.Parameter.POSITIONAL_ONLY),
    )


@dataclass(frozen=True, eq=False)
class Bound:
    """A function with its arguments: the arrays among them, and the function of as many arrays that is left then.

    `args` are the arrays that came by position, as a pytree; `tree` is the structure of all.
    """

    arguments: tuple[Argument, ...]
    function: Callable[..., Any]
    args: trees.Tree
    tree: trees.Tree


def bind(
    f: Callable[..., Any],
    args: Sequence[Any],
    kwargs: dict[str, Any],
    static: frozenset[str] = frozenset(),
    donated: frozenset[str] = frozenset(),
    has: Parameters | None = None,
) -> Bound:
    """A function with its arguments, but for those that it is made for (`static`)."""
    has, name = has or parameters(f), name_of(f)
    has.check(name, args, kwargs)
    called = [has.called(position) for position in range(len(args))]
    for it, value in [*zip(called, args, strict=True), *kwargs.items()]:
        if it in static:
            _check_hash(name, it, value)
    positions = [i for i, it in enumerate(called) if it not in static]
    names = [it for it in kwargs if it not in static]
    given = tuple(args[i] for i in positions), {it: kwargs[it] for it in names}
    leaves, tree = trees.flatten(given)

    def function(*arrays: Any) -> Any:
        by_position, by_name = trees.unflatten(tree, arrays)
        filled = list(args)
        for i, value in zip(positions, by_position, strict=True):
            filled[i] = value
        return f(*filled, **{**kwargs, **by_name})

    where = [*((called[i], i) for i in positions), *((it, _position(has, it)) for it in sorted(names))]
    steps = [child for part in tree.children for child in part.children]
    described = [
        (f"{it}{path}", position, it in donated)
        for (it, position), child in zip(where, steps, strict=True)
        for path in child.paths
    ]
    arguments = tuple(_argument(name, *it, value) for it, value in zip(described, leaves, strict=True))
    return Bound(arguments, function, tree.children[0], tree)


def _argument(function: str, name: str, position: int | None, donated: bool, value: Any) -> Argument:
    try:
        aval = aval_of(value)
    except (TypeError, OverflowError) as error:
        raise type(error)(f"argument {name} of {function}: {error}") from None
    return Argument(name, position, value, aval, committed_to(value), donated=donated)


def _position(has: Parameters, name: str) -> int | None:
    return has.positional.index(name) if name in has.positional else None


def _check_hash(function: str, name: str, value: Any) -> None:
    try:
        hash(value)
    except TypeError as error:
        raise ValueError(f"the static argument {name} of {function} cannot be hashed: {error}") from None


def wanting(arguments: Sequence[Argument], shardings: Sequence[Any]) -> tuple[Argument, ...]:
    """Arguments with their in_shardings."""
    return tuple(
        it if sharding is None else replace(it, wanted=sharding)
        for it, sharding in zip(arguments, shardings, strict=True)
    )


def name_of(f: Callable[..., Any]) -> str:
    """What a message calls a function."""
    return getattr(f, "__name__", type(f).__name__)
