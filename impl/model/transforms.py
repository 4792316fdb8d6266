"""Transformations: gradients, mapping over a dimension, and the shapes of results.

A function is traced whole first, so that what can be refused is refused before anything happens. Then its operations
run one by one, as if they stood alone: a put does to its argument what it does outside.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import trees
from .agreement import Argument, Call
from .arrays import Array
from .avals import Aval, aval_of, inexact
from .binding import Bound, bind, listed, name_of
from .contexts import tracing_now
from .control import Control
from .infos import struct
from .meshes import Mesh
from .operations import OPERATIONS, whole
from .operators import Operators
from .programs import Equation, Program, Var, constant
from .put import COPY, Row, Target
from .shardings import NamedSharding, Sharding, SingleDeviceSharding, abstract, laid_over
from .specs import PartitionSpec
from .words import function, shown

Params = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Known:
    """A value on its way through a transformed program; under vmap, whether it has the mapped dimension, its first."""

    value: Any
    mapped: bool = False


Act = Callable[[str, Sequence[Known], Params], Known]
"""What a transformation makes of an operation."""


ANY_RANK = ("device_put", "key_data", "wrap_key_data")
"""Operations that are the same on arrays of one dimension more."""
WHOLE = ("while", "shard_map")
"""Operations that the model neither maps nor transposes."""


@dataclass(frozen=True, eq=False)
class Done:
    """An operation that has run, as the way back needs it."""

    name: str
    operands: Sequence[Known]
    params: Params
    output: Known


class Transforms(Control):
    """The steps of grad, vjp, vmap and eval_shape."""

    def eval_shape(self, fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """What a function would return, without values: nothing runs.

        PUT-59, PUT-71, PUT-72, PUT-73, PUT-79, DON-71, AOT-42.
        """
        bound = bind(function(fun, "eval_shape"), args, kwargs)
        program = self.trace(name_of(fun), bound.function, [it.aval for it in bound.arguments])
        return program.result([struct(aval) for aval in program.avals])

    # --- gradients ----------------------------------------------------------------------------------------------------

    def grad(self, fun: Callable[..., Any], argnums: int | Sequence[int] = 0) -> Callable[..., Any]:
        """The gradient of a function that returns one scalar. PUT-61, PUT-64."""
        name, numbers = name_of(function(fun, "grad")), listed("argnums", argnums, int)

        @functools.wraps(fun)
        def gradient(*args: Any, **kwargs: Any) -> Any:
            if any(not -len(args) <= number < len(args) for number in numbers):
                raise (TypeError if max(numbers) >= len(args) else ValueError)(  # as JAX has it
                    f"{name} has no gradient for argnums={argnums}: {len(args)} arguments were given"
                )
            bound = bind(fun, args, kwargs)
            wanted = [number % len(args) for number in numbers]
            for it in bound.arguments:
                if it.position in wanted and not inexact(it.aval.dtype):
                    raise TypeError(f"{name} has no gradient for argument {it.name}: it is {it.aval}")
            program = self.prepared(bound, name, [it.position in wanted for it in bound.arguments])
            if program.tree != trees.LEAF or program.avals[0].shape or not _real(program.avals[0]):
                raise TypeError(
                    f"{name} has a gradient if it returns one real number, and it returns "
                    f"{', '.join(map(str, program.avals)) or 'none'}"
                )
            inputs, outputs, tape = self.forward(program, bound)
            found = self.backward(
                tape, outputs, [self.like(np.ones((), program.avals[0].dtype), program.avals[0])], inputs
            )
            each = [trees.unflatten(bound.args.children[number], _of(bound, number, found)) for number in wanted]
            return each[0] if isinstance(argnums, int) else tuple(each)

        return gradient

    def vjp(self, fun: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
        """What a function returns, and its pullback: what takes cotangents back to the arguments. PUT-65."""
        bound, name = bind(function(fun, "vjp"), primals, {}), name_of(fun)
        program = self.prepared(bound, name, [inexact(it.aval.dtype) for it in bound.arguments])
        inputs, outputs, tape = self.forward(program, bound)

        def pullback(*cotangents: Any) -> tuple[Any, ...]:
            if len(cotangents) != 1:
                raise TypeError(f"the pullback of {name} takes one argument: got {len(cotangents)}")
            leaves, tree = trees.flatten(cotangents[0])
            if tree != program.tree:
                raise ValueError(f"the pullback of {name} takes cotangents in the structure of what {name} returned")
            for leaf, aval in zip(leaves, program.avals, strict=True):
                if (aval_of(leaf).shape, aval_of(leaf).dtype) != (aval.shape, aval.dtype):
                    raise ValueError(f"the pullback of {name} takes a cotangent of {aval}: got {aval_of(leaf)}")
            return tuple(trees.unflatten(bound.args, self.backward(tape, outputs, leaves, inputs)))

        return program.result([it.value for it in outputs]), pullback

    def prepared(self, bound: Bound, name: str, wanted: Sequence[bool]) -> Program:
        """The program of a function whose sides agree and which can be transposed; nothing has happened by then.

        PUT-59, PUT-60, PUT-62, PUT-63, PUT-79, PUT-80, PUT-81, DEV-02.
        """
        program = self.trace(name, bound.function, [it.aval for it in bound.arguments])
        self.check_alive(Call(program, bound.arguments, ()))
        self.agree_one_by_one(program, bound.arguments)
        self.check_transposable(program, wanted)
        return program

    def check_transposable(self, program: Program, wanted: Sequence[bool]) -> None:
        """Refuses what has no way back, among what depends on the inputs that are wanted. PUT-62, PUT-63, PUT-81."""
        for equation in _depending(program, wanted):
            if equation.name == "device_put":
                self.check_put_transposable(program.name, equation.params["row"])
            elif equation.name == "while":
                raise ValueError(
                    f"{program.name} has no gradient: while_loop forgets the values on its way, scan does not"
                )
            elif equation.name == "shard_map":
                raise NotImplementedError(
                    f"{program.name} has no gradient in the model: it is a shard_map, or holds one"
                )
            for inner in equation.params.get("programs", ()):
                self.check_transposable(inner, [True] * len(inner.inputs))

    def check_put_transposable(self, name: str, row: Row) -> None:
        """A put that donates gives away what its transpose would need. PUT-62."""
        if row.donate:
            raise ValueError(f"{name} has no gradient: it holds a device_put that donates its input (donate=True)")

    def forward(self, program: Program, bound: Bound) -> tuple[list[Known], list[Known], list[Done]]:
        """Runs a program one operation after the other; gives its inputs, its outputs and what was done."""
        tape: list[Done] = []

        def act(name: str, operands: Sequence[Known], params: Params) -> Known:
            output = Known(self.perform(name, [it.value for it in operands], params))
            tape.append(Done(name, operands, params, output))
            return output

        inputs = [Known(self.lifted(it.value)) for it in bound.arguments]
        outputs = self.interpret(program, [*inputs, *map(Known, program.captured)], act)
        return inputs, [it if isinstance(it.value, Operators) else Known(self.lifted(it.value)) for it in outputs], tape

    def backward(
        self, tape: Sequence[Done], outputs: Sequence[Known], cotangents: Sequence[Any], inputs: Sequence[Known]
    ) -> list[Any]:
        """Takes the cotangents of outputs back to inputs."""
        found: dict[Known, Any] = {}
        for output, cotangent in zip(outputs, cotangents, strict=True):
            self.add_to(found, output, cotangent)
        for done in reversed(tape):
            if done.output in found:
                pulled = self.pull(done, found.pop(done.output))
                for operand, cotangent in zip(done.operands, pulled, strict=True):
                    if cotangent is not None and inexact(aval_of(operand.value).dtype):
                        self.add_to(found, operand, cotangent)
        return [found[it] if it in found else self.zeros(aval_of(it.value)) for it in inputs]

    def add_to(self, found: dict[Known, Any], at: Known, cotangent: Any) -> None:
        """Adds a cotangent to what is known of a value's."""
        found[at] = self.apply("add", found[at], cotangent) if at in found else cotangent

    def pull(self, done: Done, cotangent: Any) -> Sequence[Any]:
        """The cotangents of an operation's operands."""
        if done.name == "device_put":
            return [self.pull_put(cotangent, done.operands[0].value, done.params)]
        if done.name == "sharding_constraint":
            return [self.pull_constraint(cotangent, done.output.value, done.params["sharding"])]
        row = OPERATIONS[done.name]
        return row.pull(self.apply, cotangent, [it.value for it in done.operands], done.output.value, **done.params)

    def pull_constraint(self, cotangent: Any, output: Any, sharding: Sharding) -> Any:
        """The transpose of a constraint: the same one, with the devices that it had. ABS-01."""
        if tracing_now() is None and abstract(sharding):
            known = isinstance(output, Array) and isinstance(output.sharding, NamedSharding)
            return self.constrain(cotangent, output.sharding) if known else cotangent
        return self.constrain(cotangent, sharding)

    def pull_put(self, cotangent: Any, x: Any, params: Params) -> Any:
        """The transpose of a put: a put back to where the operand lies. PUT-61, PUT-65, PUT-66, PUT-67."""
        back = x.sharding if params["target"] is not None and isinstance(x, Array) else None
        return self.leaf(cotangent, back, self.pulled_row(params["row"]))

    def pulled_row(self, row: Row) -> Row:
        """The transpose of a put copies, whatever the put's own row. PUT-66, PUT-67."""
        return COPY

    def zeros(self, aval: Aval) -> Any:
        """Zeros of that aval, where nothing places them."""
        return self.apply("broadcast", np.zeros((), aval.dtype), shape=aval.shape)

    def lifted(self, value: Any) -> Any:
        """A value of the host's as an array that is committed nowhere."""
        if isinstance(value, Operators):
            return value
        return self.like(constant(value), aval_of(value))

    def like(self, value: np.ndarray, aval: Aval) -> Array:
        """An array that is committed nowhere."""
        return self.spread(value, SingleDeviceSharding(self.default_device()), committed=False, aval=aval)

    # --- mapping ------------------------------------------------------------------------------------------------------

    def vmap(self, fun: Callable[..., Any], in_axes: Any = 0, out_axes: Any = 0) -> Callable[..., Any]:
        """A function mapped over a dimension of its arguments. PUT-68, PUT-69, DON-73."""
        function(fun, "vmap")

        @functools.wraps(fun)
        def mapped(*args: Any, **kwargs: Any) -> Any:
            bound, name = bind(fun, args, kwargs), name_of(fun)
            axes = _axes(name, bound, in_axes)
            size = _size(name, bound.arguments, axes)
            avals = [
                it.aval if axis is None else it.aval.with_shape(_without(it.aval.shape, axis))
                for it, axis in zip(bound.arguments, axes, strict=True)
            ]
            program = self.trace(name, bound.function, avals)
            self.check_alive(Call(program, bound.arguments, ()))
            places = _places(name, program, out_axes)
            self.check_mappable(program, [axis is not None for axis in axes])
            self.agree_one_by_one(program, bound.arguments)
            inputs = [
                Known(it.value if axis is None else self.moved(self.lifted(it.value), axis, 0), axis is not None)
                for it, axis in zip(bound.arguments, axes, strict=True)
            ]
            outputs = self.interpret(program, [*inputs, *map(Known, program.captured)], self.act_mapped)
            return program.result([self.gathered(it, size, axis) for it, axis in zip(outputs, places, strict=True)])

        return mapped

    def check_mappable(self, program: Program, mapped: Sequence[bool]) -> None:
        """Refuses what cannot be mapped, among what depends on inputs that are, before anything happens. PUT-70."""
        for equation in _depending(program, mapped):
            if equation.name == "device_put":
                self.check_put_mappable(program.name, equation.params["sharding"])
            elif equation.name in WHOLE:
                raise NotImplementedError(
                    f"the model does not map {equation.name} over a dimension: {program.name} does"
                )
            for inner in equation.params.get("programs", ()):
                self.check_mappable(inner, [True] * len(inner.inputs))

    def check_put_mappable(self, name: str, sharding: Sharding | None) -> None:
        """A put to a sharding that names axes: which dimensions it means under vmap, nobody says. PUT-70."""
        if isinstance(sharding, NamedSharding) and sharding.spec.named:
            raise NotImplementedError(
                f"{name} puts to {sharding} under vmap, where arrays have one dimension more: a spec that names axes "
                "does not say which dimensions it means then"
            )

    def act_mapped(self, name: str, operands: Sequence[Known], params: Params) -> Known:
        """An operation on all examples at once. PUT-68, PUT-69."""
        values, mapped = [it.value for it in operands], [it.mapped for it in operands]
        if not any(mapped) or name in ANY_RANK:
            return Known(self.perform(name, values, params), any(mapped))
        if name == "sharding_constraint":
            one_more = params | {"sharding": _one_more(params["sharding"])}
            return Known(self.perform(name, values, one_more), True)
        return Known(OPERATIONS[name].batch(self.apply, values, mapped, **params), True)

    def gathered(self, known: Known, size: int, axis: int | None) -> Any:
        """A result with the mapped dimension where it is wanted; None where it has none."""
        value = self.lifted(known.value)
        if axis is None:
            if known.mapped:
                raise ValueError(f"out_axes is None for a result of shape {value.shape} that has the mapped dimension")
            return value
        if not known.mapped:
            value = self.apply("broadcast", value, shape=(size, *value.shape))
        return self.moved(value, 0, axis)

    def moved(self, x: Any, source: int, to: int) -> Any:
        """An array with one dimension elsewhere; itself where that changes nothing."""
        if not -x.ndim <= to < x.ndim:
            raise ValueError(f"axis {to} is out of bounds for an array of dimension {x.ndim}")
        order = [axis for axis in range(x.ndim) if axis != source % x.ndim]
        order.insert(to % x.ndim, source % x.ndim)
        return x if order == list(range(x.ndim)) else self.apply("transpose", x, axes=tuple(order))

    # --- one operation after the other --------------------------------------------------------------------------------

    def interpret(self, program: Program, inputs: Sequence[Known], act: Act) -> list[Known]:
        """Runs a program as a transformation has it; what is within jits, loops and branches comes one by one too.

        A put within those is one within a compiled program. PUT-56, PUT-57.
        """
        known: dict[Var, Known] = dict(zip(program.inputs, inputs, strict=True))
        for equation in program.equations:
            operands = [known[var] for var in equation.inputs]
            if equation.name == "jit":
                outputs = self.interpret_jit(equation, operands, _within(act))
            elif equation.name == "scan":
                outputs = self.interpret_scan(equation, operands, _within(act))
            elif equation.name == "cond":
                outputs = self.interpret_cond(equation, operands, _within(act))
            elif equation.name in WHOLE:
                outputs = self.interpret_whole(equation, operands)
            else:
                outputs = [act(equation.name, operands, equation.params)]
            known.update(zip(equation.outputs, outputs, strict=True))
        return [known[var] for var in program.outputs]

    def interpret_jit(self, equation: Equation, operands: Sequence[Known], act: Act) -> list[Known]:
        """A jit within: its shardings are constraints."""

        def constrained(known: Sequence[Known], shardings: Sequence[Sharding | None]) -> list[Known]:
            return [
                it if lies is None else act("sharding_constraint", [it], {"sharding": lies})
                for it, lies in zip(known, shardings, strict=True)
            ]

        inputs = constrained(operands, equation.params["ins"])
        return constrained(self.interpret(equation.params["programs"][0], inputs, act), equation.params["outs"])

    def interpret_scan(self, equation: Equation, operands: Sequence[Known], act: Act) -> list[Known]:
        """A loop, step by step."""
        (program,), count = equation.params["programs"], equation.params["carried"]
        rows = len(program.inputs) - len(program.captured) - count
        state, xs, captured = list(operands[:count]), operands[count : count + rows], operands[count + rows :]
        shapes = [aval.shape for aval in equation.avals[count : count + rows]]
        steps = range(equation.params["length"])
        outputs: dict[int, list[Known]] = {}
        for i in steps[::-1] if equation.params["reverse"] else steps:
            row = [act("index", [x], {"index": whole(i, shape)}) for x, shape in zip(xs, shapes, strict=True)]
            found = self.interpret(program, [*state, *row, *captured], act)
            state, outputs[i] = found[:count], found[count:]
        return [*state, *self.stacked(program, count, [outputs[i] for i in steps], act)]

    def stacked(self, program: Program, count: int, each: Sequence[Sequence[Known]], act: Act) -> Iterator[Known]:
        """The outputs of all steps of a loop, as arrays of one dimension more."""
        for number, aval in enumerate(program.avals[count:]):
            if each:
                parts = [act("reshape", [step[number]], {"shape": (1, *aval.shape)}) for step in each]
                yield act("concatenate", parts, {"axis": 0})
            else:
                yield Known(self.zeros(aval.with_shape((0, *aval.shape))))

    def interpret_cond(self, equation: Equation, operands: Sequence[Known], act: Act) -> list[Known]:
        """The branch that is taken; both, where that is not known or differs between examples."""
        taken, other = equation.params["programs"]
        pred, rest = operands[0], operands[1:]
        count, split = len(taken.inputs) - len(taken.captured), len(taken.inputs)
        given = [rest[:split], [*rest[:count], *rest[split:]]]
        if isinstance(pred.value, Array) and not pred.mapped:
            branch = 0 if pred.value else 1
            return self.interpret((taken, other)[branch], given[branch], act)
        results = [self.interpret(it, values, act) for it, values in zip((taken, other), given, strict=True)]
        return [act("select", [pred, x, y], {}) for x, y in zip(*results, strict=True)]

    def interpret_whole(self, equation: Equation, operands: Sequence[Known]) -> list[Known]:
        """What no transformation takes apart: it depends on nothing that is mapped or differentiated."""
        outputs = [var.aval for var in equation.outputs]
        return list(map(Known, self.operation(equation.name, [it.value for it in operands], outputs, equation.params)))

    def perform(self, name: str, values: Sequence[Any], params: Params) -> Any:
        """One operation as it stands, alone."""
        if name == "device_put":
            return self.perform_put(values[0], params["target"], params["row"])
        if name == "sharding_constraint":
            within, sharding = params.get("within"), params["sharding"]
            return self.constrain_within(values[0], sharding) if within else self.constrain(values[0], sharding)
        if name in ("key_data", "wrap_key_data"):
            return getattr(self, name)(*values)
        return self.apply(name, *values, **params)

    def constrain_within(self, x: Any, sharding: Sharding) -> Any:
        """A constraint within a jit: over an abstract mesh, it is on its operand's devices, if those are as many."""
        if tracing_now() is not None or not abstract(sharding):
            return self.constrain(x, sharding)
        if not isinstance(x, Array) or len(x.sharding.ordered) != sharding.num_devices:
            return x
        mesh = sharding.mesh
        grid = np.array(x.sharding.ordered, dtype=object).reshape(mesh.axis_sizes)
        return self.constrain(x, laid_over(Mesh(grid, mesh.axis_names, mesh.axis_types), sharding))

    def perform_put(self, x: Any, target: Target, row: Row) -> Any:
        """A put does what it does outside, flags and all. PUT-61, PUT-64, PUT-68, PUT-69."""
        return self.leaf(x, target, row)


def _depending(program: Program, given: Sequence[bool]) -> Iterator[Equation]:
    """The operations that depend on inputs of a program."""
    depends = {var for var, is_given in zip(program.inputs, given, strict=False) if is_given}
    for equation in program.equations:
        if not depends.isdisjoint(equation.inputs):
            depends.update(equation.outputs)
            yield equation


def _within(act: Act) -> Act:
    """The same for operations within a compiled program, where a put gives a result of its own and no more."""
    given: dict[str, Params] = {"device_put": {"row": COPY}, "sharding_constraint": {"within": True}}
    return lambda name, operands, params: act(name, operands, params | given.get(name, {}))


def _real(aval: Aval) -> bool:
    return inexact(aval.dtype) and aval.dtype.kind != "c"


def _of(bound: Bound, position: int, found: Sequence[Any]) -> list[Any]:
    """What was found for the arrays of one argument."""
    return [it for argument, it in zip(bound.arguments, found, strict=True) if argument.position == position]


def _axes(name: str, bound: Bound, in_axes: Any) -> list[int | None]:
    """The dimension of each array that is mapped over; None where there is none."""
    if in_axes is None:
        raise ValueError(f"{name} is mapped over a dimension of some argument: in_axes is None")
    if isinstance(in_axes, list | tuple):
        if len(in_axes) != len(bound.args.children):
            raise ValueError(f"in_axes has {len(in_axes)} entries for {len(bound.args.children)} arguments of {name}")
        in_axes = tuple(in_axes)
    found = trees.spread(in_axes, bound.args, "in_axes")
    return found + [0] * (len(bound.arguments) - len(found))


def _places(name: str, program: Program, out_axes: Any) -> list[int | None]:
    """Where each result has the mapped dimension."""
    places = trees.spread(out_axes, program.tree, "out_axes")
    for axis, aval in zip(places, program.avals, strict=True):
        if axis is not None and not -aval.ndim - 1 <= _axis("out_axes", axis) <= aval.ndim:
            raise ValueError(f"{name} has no place for the mapped dimension at axis {axis} of a result of {aval}")
    return places


def _axis(option: str, axis: Any) -> int:
    if not isinstance(axis, int):
        raise TypeError(f"{option} are ints and None: got {shown(axis)}")
    return axis


def _size(name: str, arguments: Sequence[Argument], axes: Sequence[int | None]) -> int:
    """How long the dimension is that is mapped over."""
    sizes: dict[int, str] = {}
    for it, axis in zip(arguments, axes, strict=True):
        if axis is None:
            continue
        if not -it.aval.ndim <= _axis("in_axes", axis) < it.aval.ndim:
            raise ValueError(f"{name} is mapped over axis {axis} of argument {it.name}, which is {it.aval}")
        sizes[it.aval.shape[axis]] = f"{it.aval.shape[axis]} along axis {axis} of argument {it.name}"
    if len(sizes) != 1:
        raise ValueError(f"{name} is mapped over dimensions of one size: got {', '.join(sizes.values()) or 'none'}")
    return next(iter(sizes))


def _without(shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    axis %= len(shape)
    return (*shape[:axis], *shape[axis + 1 :])


def _one_more(sharding: Sharding) -> Sharding:
    """A sharding for arrays of one dimension more, their first, which it leaves whole."""
    return sharding.with_spec(PartitionSpec(None, *sharding.spec)) if isinstance(sharding, NamedSharding) else sharding
