"""Programs: what a function does to arrays, as equations; and what stands for arrays while those are found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np

from . import trees
from .avals import Aval, aval_of
from .contexts import HELD, tracing
from .operators import Operators


class Var:
    """A value in a program: what is known of it."""

    __slots__ = ("aval",)

    def __init__(self, aval: Aval) -> None:
        self.aval = aval


@dataclass(frozen=True, eq=False)
class Equation:
    """One operation of a program: which, on which values, giving which."""

    name: str
    inputs: tuple[Var, ...]
    outputs: tuple[Var, ...]
    params: dict[str, Any]

    @property
    def avals(self) -> tuple[Aval, ...]:
        """What is known of its operands."""
        return tuple(var.aval for var in self.inputs)


@dataclass(frozen=True, eq=False)
class Program:
    """What a function does.

    Its last inputs are what the function captured: arrays, and tracers of a function around it. `tree` is the structure
    of what it returns.
    """

    name: str
    inputs: tuple[Var, ...]
    equations: tuple[Equation, ...]
    outputs: tuple[Var, ...]
    tree: trees.Tree
    captured: tuple[Any, ...] = ()

    @property
    def avals(self) -> tuple[Aval, ...]:
        """What is known of its results."""
        return tuple(var.aval for var in self.outputs)

    @property
    def used(self) -> set[Var]:
        """Its values that some operation takes, or that it returns."""
        return {*self.outputs, *(var for equation in self.equations for var in equation.inputs)}

    def result(self, leaves: Sequence[Any]) -> Any:
        """The results as the function returns them."""
        return trees.unflatten(self.tree, leaves)


class ConcretizationTypeError(TypeError):
    """A value was asked for that a traced function does not have."""


class TracerBoolConversionError(ConcretizationTypeError):
    """A traced value was to decide a branch."""


class TracerArrayConversionError(TypeError):
    """A traced value was to become an array of NumPy's."""


class TracerIntegerConversionError(TypeError):
    """A traced value was to be an index or a count."""


class UnexpectedTracerError(TypeError):
    """A tracer was used when its function had been traced to its end."""


class Tracer(Operators):
    """What a traced function gets in the place of an array: what is known of it, and no value."""

    traced = True

    def __init__(self, trace: Trace, var: Var) -> None:
        self.trace, self.var = trace, var
        self.model, self.aval = trace.model, var.aval

    def __repr__(self) -> str:
        return f"Tracer({self.aval})"

    def _held(self, kind: type) -> NoReturn:
        raise CONVERSIONS.get(kind, ConcretizationTypeError)(self._lacks(f"of type {kind.__name__}"))

    def _index(self) -> NoReturn:
        raise TracerIntegerConversionError(self._lacks("an index or a count"))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NoReturn:
        raise TracerArrayConversionError(self._lacks("an array of NumPy's"))

    def __getattr__(self, name: str) -> NoReturn:
        if name in OF_VALUES:
            raise ConcretizationTypeError(self._lacks(f"the {name} of an array that is there"))
        raise AttributeError(f"{self!r} has no attribute {name!r}")

    def _lacks(self, what: str) -> str:
        instead = "; lax.cond and lax.while_loop decide by such" if self.dtype == bool else ""
        return f"{self.trace.name} is being traced, and {self!r} is no value that could be {what}{instead}"


CONVERSIONS: dict[type, type[ConcretizationTypeError]] = {bool: TracerBoolConversionError}
OF_VALUES = frozenset(
    [
        "addressable_data",
        "addressable_shards",
        "committed",
        "delete",
        "devices",
        "global_shards",
        "is_deleted",
        "is_fully_addressable",
        "is_fully_replicated",
        "item",
        "tolist",
        "unsafe_buffer_pointer",
        "__dlpack__",
    ]
)
"""What arrays say of themselves that nothing can say of a tracer."""


@dataclass(eq=False)
class Trace:
    """The record of a function that is being traced. `axes` are the sizes of the mesh axes that it is mapped over."""

    model: Any
    name: str
    axes: dict[str, int] = field(default_factory=dict)
    equations: list[Equation] = field(default_factory=list)
    captured: dict[int, tuple[Any, Var]] = field(default_factory=dict)

    def record(self, name: str, operands: Sequence[Any], avals: Sequence[Aval], params: dict[str, Any]) -> list[Tracer]:
        """Notes an operation; gives what stands for its outputs."""
        outputs = tuple(map(Var, avals))
        self.equations.append(Equation(name, tuple(map(self.var, operands)), outputs, params))
        return [Tracer(self, var) for var in outputs]

    def var(self, x: Any) -> Var:
        """The variable that holds `x`; what comes from outside is captured, once."""
        if isinstance(x, Tracer):
            if x.trace is self:
                return x.var
            if x.trace not in HELD.traces:
                raise UnexpectedTracerError(f"{x!r} stood for an array in {x.trace.name}, and was used outside")
        if id(x) not in self.captured:
            self.captured[id(x)] = (x, Var(aval_of(x)))
        return self.captured[id(x)][1]


def trace(
    model: Any, name: str, f: Callable[..., Any], avals: Sequence[Aval], axes: dict[str, int] | None = None
) -> Program:
    """The program of a function of as many arrays; what it returns is a pytree of arrays."""
    record = Trace(model, name, axes or {})
    inputs = tuple(map(Var, avals))
    with tracing(record):
        leaves, tree = trees.flatten(f(*[Tracer(record, var) for var in inputs]))
        for leaf in leaves:
            _returned(name, leaf)
        outputs = tuple(map(record.var, leaves))
    return Program(
        name,
        (*inputs, *(var for _, var in record.captured.values())),
        tuple(record.equations),
        outputs,
        tree,
        tuple(value for value, _ in record.captured.values()),
    )


def _returned(name: str, leaf: Any) -> None:
    try:
        aval_of(leaf)
    except TypeError as error:
        raise TypeError(f"{name} returned a value of type {type(leaf).__name__}, which is no array") from error


def single(name: str, operands: Sequence[Aval], outputs: Sequence[Aval], params: dict[str, Any]) -> Program:
    """The program of one operation."""
    inputs, out = tuple(map(Var, operands)), tuple(map(Var, outputs))
    tree = trees.Tree(tuple, tuple(range(len(out))), (trees.LEAF,) * len(out))
    return Program(name, inputs, (Equation(name, inputs, out, params),), out, tree)


def constant(value: Any) -> np.ndarray:
    """A value of the host's as programs have it."""
    return np.asarray(value, aval_of(value).dtype)
