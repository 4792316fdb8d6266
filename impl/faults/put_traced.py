"""Faults of device_put within programs and under transformations, in the order of its chapter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from impl.model import trees
from impl.model.arrays import Array
from impl.model.avals import Aval
from impl.model.binding import Bound
from impl.model.model import Model
from impl.model.programs import Equation, Program, Tracer
from impl.model.put import COPY, Row, Target
from impl.model.running import Lowered
from impl.model.shardings import NamedSharding
from impl.model.transforms import Known

from . import fault
from .put import both, elsewhere, tie

# --- inside of programs -----------------------------------------------------------------------------------------------


@fault("PUT-55")
class FreedBeforeItIsRead(Model):
    """A put within a program that donates reads its operand when that is gone."""

    def evaluate_device_put(self, equation: Equation, values: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
        values = super().evaluate_device_put(equation, values)
        return [np.zeros_like(value) for value in values] if equation.params["row"].donate else values


class Returning(Model):
    """A model that does something to a result that is a put of an argument to where that lies."""

    def execute(self, lowered: Lowered, values: Sequence[np.ndarray]) -> list[Array]:
        results = super().execute(lowered, values)
        program = lowered.call.program
        given = dict(zip(program.inputs, lowered.call.arguments, strict=False))
        puts = {it.outputs[0]: given.get(it.inputs[0]) for it in program.equations if it.name == "device_put"}
        for var, y in zip(program.outputs, results, strict=True):
            argument = puts.get(var)
            if argument is not None and isinstance(x := argument.value, Array) and x.sharding == y.sharding:
                self.returned(x, y)
        return results

    def returned(self, x: Array, y: Array) -> None:
        raise NotImplementedError


@fault("PUT-56")
class ResultIsAlias(Returning):
    """What a program returns that puts its argument to where it lies shares its memory."""

    def returned(self, x: Array, y: Array) -> None:
        y.buffers = tuple([buffer.again() for buffer in x.buffers])


@fault("PUT-57")
class ResultTakesArgument(Returning):
    """An argument that a program puts to where it lies goes with what the program returned."""

    def returned(self, x: Array, y: Array) -> None:
        tie(y, x)


# --- under transformations: both flags --------------------------------------------------------------------------------


# What is not refused is compiled and runs.
@fault("PUT-58", also=["PUT-60"])
class TracedContradictionAliases(Model):
    """Within a function that is traced, of both flags may_alias wins, and the function runs."""

    def device_put(self, x: Any, device: Any = None, *, donate: Any = False, may_alias: Any = None) -> Any:
        if both(donate, may_alias) and isinstance(x, Tracer):
            donate = False
        return super().device_put(x, device, donate=donate, may_alias=may_alias)


@fault("PUT-60")
class TracedRefusalCompiles(Model):
    """A function is compiled up to the put whose flags contradict each other."""

    def trace(self, name: str, f: Callable[..., Any], avals: Sequence[Aval], axes: Any = None) -> Program:
        try:
            return super().trace(name, f, avals, axes)
        except ValueError:
            self.counts["compile"] += 1
            raise


def arrays_in(tree: Any) -> list[Array]:
    """The arrays of a pytree."""
    return [leaf for leaf in trees.leaves(tree) if isinstance(leaf, Array)]


class Estimating(Model):
    """A model that does something between the refusal of what eval_shape finds and telling of it."""

    def eval_shape(self, fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        try:
            return super().eval_shape(fun, *args, **kwargs)
        except ValueError:
            for x in arrays_in(args):
                self.refused(x)
            raise

    def refused(self, x: Array) -> None:
        raise NotImplementedError


@fault("PUT-59", also=["PUT-79"])
class TracedRefusalDeletes(Estimating):
    """An array is gone when eval_shape refuses a put of it."""

    def refused(self, x: Array) -> None:
        self.release(x)


@fault("PUT-79")
class TracedRefusalMoves(Estimating):
    """An array lies in other memory when eval_shape refuses a put of it."""

    def refused(self, x: Array) -> None:
        elsewhere(self, x)


# --- under transformations: gradients ---------------------------------------------------------------------------------


@fault("PUT-61")
class FreeCotangentIsLost(Model):
    """A cotangent that is committed nowhere does not come back through a put."""

    def pull_put(self, cotangent: Any, x: Any, params: dict[str, Any]) -> Any:
        found = super().pull_put(cotangent, x, params)
        if isinstance(cotangent, Array) and not cotangent.committed:
            return self.like(np.zeros(cotangent.shape, cotangent.dtype), cotangent.aval)
        return found


@fault("PUT-62")
class TransposeIsUnclear(Model):
    """That a donating put has no transpose is told without a word of donation."""

    def check_put_transposable(self, name: str, row: Row) -> None:
        if row.donate:
            raise ValueError(f"{name} has no gradient: it holds a device_put that cannot be transposed")


class Preparing(Model):
    """A model that does something between the refusal to transpose a donating put and telling of it."""

    def prepared(self, bound: Bound, name: str, wanted: Sequence[bool]) -> Program:
        try:
            return super().prepared(bound, name, wanted)
        except ValueError as error:
            if "donate=True" in str(error):
                for x in arrays_in([it.value for it in bound.arguments]):
                    self.refused(x)
            raise

    def refused(self, x: Array) -> None:
        raise NotImplementedError


@fault("PUT-63", also=["PUT-80"])
class ForwardPassHasDonated(Preparing):
    """When a donating put is refused to be transposed, it has happened."""

    def refused(self, x: Array) -> None:
        self.release(x)


@fault("PUT-80")
class ForwardPassHasMoved(Preparing):
    """When a donating put is refused to be transposed, its argument lies in other memory."""

    def refused(self, x: Array) -> None:
        elsewhere(self, x)


@fault("PUT-81")
class ForwardPassIsCompiled(Preparing):
    """When a donating put is refused to be transposed, a program has been compiled, each time."""

    def refused(self, x: Array) -> None:
        self.counts["compile"] += 1


@fault("PUT-64")
class ForwardPassTakes(Model):
    """Under a transformation, an array that is cut is gone when it was put to a place."""

    def perform_put(self, x: Any, target: Target, row: Row) -> Any:
        y = super().perform_put(x, target, row)
        if isinstance(x, Array) and not x.is_fully_replicated and target is not None:
            self.release(x)
        return y


@fault("PUT-65")
class CotangentIsTurned(Model):
    """The pullback of a put gives back the rows of the first shard in the opposite order."""

    def pull_put(self, cotangent: Any, x: Any, params: dict[str, Any]) -> Any:
        found = super().pull_put(cotangent, x, params)
        first = found.buffers[0].data
        first[...] = first[::-1].copy()
        return found


@fault("PUT-66")
class CotangentIsShared(Model):
    """The transpose of a put has the put's own row, not that of a copy."""

    def pulled_row(self, row: Row) -> Row:
        return row


@fault("PUT-67")
class CotangentGoesToo(Model):
    """A cotangent goes with what the pullback of a put made of it."""

    def pull_put(self, cotangent: Any, x: Any, params: dict[str, Any]) -> Any:
        found = super().pull_put(cotangent, x, params)
        tie(found, cotangent)
        return found


# --- under transformations: mapping and shapes ------------------------------------------------------------------------


def turned(known: Known) -> Known:
    """A value whose examples come in the opposite order."""
    return replace(known, value=known.value[::-1])


# Outside of vmap they are not.
@fault("PUT-68", also=["PUT-69"])
class ExamplesAreTurned(Model):
    """A put under vmap gives the examples in the opposite order."""

    def act_mapped(self, name: str, operands: Sequence[Known], params: dict[str, Any]) -> Known:
        known = super().act_mapped(name, operands, params)
        return turned(known) if name == "device_put" else known


@fault("PUT-69")
class VmapForgetsFlags(Model):
    """Under vmap every put is a copy."""

    def act_mapped(self, name: str, operands: Sequence[Known], params: dict[str, Any]) -> Known:
        return super().act_mapped(name, operands, params | {"row": COPY} if name == "device_put" else params)


@fault("PUT-70")
class SpecMeansAnything(Model):
    """A put under vmap to a spec that names an axis works, and gives the examples in the opposite order."""

    def check_mappable(self, program: Program, mapped: Sequence[bool]) -> None:
        pass

    def act_mapped(self, name: str, operands: Sequence[Known], params: dict[str, Any]) -> Known:
        known = super().act_mapped(name, operands, params)
        sharding = params.get("sharding")
        named = name == "device_put" and isinstance(sharding, NamedSharding) and sharding.spec.named
        return turned(known) if named else known


@fault("PUT-71")
class ShapeIsAllocated(Model):
    """eval_shape gives arrays of zeros."""

    def eval_shape(self, fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        shapes = super().eval_shape(fun, *args, **kwargs)
        return trees.map(lambda it: self.like(np.zeros(it.shape, it.dtype), it.aval), shapes)


@fault("PUT-72")
class ShapeTakesDonation(Model):
    """An array is gone when eval_shape was asked about a put that donates it."""

    donates = False

    def put_inside(self, x: Any, target: Target, row: Row) -> Any:
        self.donates = row.donate
        return super().put_inside(x, target, row)

    def eval_shape(self, fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        shapes = super().eval_shape(fun, *args, **kwargs)
        for x in arrays_in(args) if self.donates else ():
            self.release(x)
        return shapes


@fault("PUT-72")
class ShapeMoves(Model):
    """An array lies in other memory when eval_shape was asked about it."""

    def eval_shape(self, fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        shapes = super().eval_shape(fun, *args, **kwargs)
        for x in arrays_in(args):
            elsewhere(self, x)
        return shapes


@fault("PUT-73")
class ShapeIsCompiled(Model):
    """eval_shape compiles the program whose shapes it is asked for."""

    def eval_shape(self, fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        shapes = super().eval_shape(fun, *args, **kwargs)
        self.counts["compile"] += 1
        return shapes
