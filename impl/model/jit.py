"""Running programs: an operation on its own, a jitted function, and one that is compiled ahead of time.

Read from the top: a call is taken apart into its arguments and its program, its sides have to agree, it is lowered and
compiled, then it runs: arguments are read, the program is evaluated, and its results are laid out.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from . import texts, trees
from .agreement import Agreement, Argument, Call, Side, committed_to, replicated_over
from .arrays import Array
from .avals import Aval, ShapeDtypeStruct, aval_of
from .binding import Bound, Parameters, bind, name_of, parameters, wanting
from .buffers import Buffer
from .contexts import HELD, tracing_now
from .meshes import Mesh
from .operations import OPERATIONS, Functions
from .programs import Equation, Program, Tracer, UnexpectedTracerError, Var, constant, single, trace
from .shardings import NamedSharding, Sharding, SingleDeviceSharding
from .specs import PartitionSpec

# --- what users hold --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Options:
    """What a function was jitted with; its parameters are meant by name."""

    has: Parameters
    static: frozenset[str]
    donated: frozenset[str]
    in_shardings: Any
    out_shardings: Any
    keep_unused: bool


class Jitted:
    """A function that runs as one program."""

    def __init__(self, model: Programs, f: Callable[..., Any], options: Options) -> None:
        functools.update_wrapper(self, f)
        self.model, self.f, self.options = model, f, options

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.model.call_jitted(self, args, kwargs)

    def lower(self, *args: Any, **kwargs: Any) -> Lowered:
        return self.model.lower_jitted(self, args, kwargs)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)


@dataclass(frozen=True, eq=False)
class Lowered:
    """A program with the shardings of its arguments and results: `home` is one of its sides, if it has any."""

    model: Programs
    call: Call
    tree: trees.Tree
    home: Side | None
    ins: tuple[Sharding, ...]
    outs: tuple[Sharding, ...]

    def compile(self) -> Compiled:
        return self.model.compile(self)

    def as_text(self, dialect: str = "stablehlo") -> str:
        return self.model.text(self, dialect)

    @property
    def in_avals(self) -> Any:
        return trees.unflatten(self.tree, [it.aval for it in self.call.arguments])

    @property
    def out_info(self) -> Any:
        return self.call.program.result([struct(it) for it in self.call.program.avals])


@dataclass(frozen=True, eq=False)
class Compiled:
    """A program that runs where it was compiled for, and nowhere else."""

    lowered: Lowered

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.lowered.model.call_compiled(self.lowered, args, kwargs)

    @property
    def input_shardings(self) -> Any:
        return trees.unflatten(self.lowered.tree, self.lowered.ins)

    @property
    def output_shardings(self) -> Any:
        return self.lowered.call.program.result(self.lowered.outs)


def _reached(path: str) -> str:
    """How an array is reached from the arguments by position and by name, of which its path starts with the number."""
    return path.replace("[0]", "args", 1) if path.startswith("[0]") else path.replace("[1]", "kwargs", 1)


def struct(aval: Aval) -> ShapeDtypeStruct:
    """What stands for an array of which that is known."""
    return ShapeDtypeStruct(aval.shape, aval.dtype, weak_type=aval.weak_type)


class Programs(Functions, Agreement):
    """The steps by which programs run."""

    # --- what is called -----------------------------------------------------------------------------------------------

    def jit(
        self,
        fun: Callable[..., Any],
        *,
        in_shardings: Any = None,
        out_shardings: Any = None,
        static_argnums: Any = (),
        static_argnames: Any = (),
        donate_argnums: Any = (),
        donate_argnames: Any = (),
        keep_unused: bool = False,
        inline: bool = False,
        compiler_options: Mapping[str, Any] | None = None,
    ) -> Jitted:
        """A function that runs as one program; the last two say how it is compiled, which shows nowhere here."""
        if not callable(fun):
            raise TypeError(f"jit takes a function: got {fun!r}")
        has, name = parameters(fun), name_of(fun)
        static = has.meant(name, "static", static_argnums, static_argnames)
        donated = has.meant(name, "donate", donate_argnums, donate_argnames)
        if both := static & donated:
            raise ValueError(f"arguments of {name} cannot be both static and donated: {', '.join(sorted(both))}")
        return Jitted(self, fun, Options(has, static, donated, in_shardings, out_shardings, keep_unused))

    def call_jitted(self, jitted: Jitted, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Runs a jitted function; within a function that is traced, its program becomes part of the outer one."""
        call, _ = self.taken_apart(jitted, args, kwargs)
        program = call.program
        if tracing_now() is None:
            return program.result(self.call(call))
        operands = [*(it.value for it in call.arguments), *program.captured]
        ins = (*(it.wanted for it in call.arguments), *[None] * len(program.captured))
        params = {"programs": (program,), "ins": ins, "outs": call.outs}
        return program.result(self.operation("jit", operands, program.avals, params))

    def lower_jitted(self, jitted: Jitted, args: Sequence[Any], kwargs: dict[str, Any]) -> Lowered:
        """Lowers a jitted function for arguments, or for what stands for them; where they lie is checked. DEV-01."""
        call, bound = self.taken_apart(jitted, args, kwargs)
        return self.lower(call, bound.tree, self.agree(call))

    def taken_apart(self, jitted: Jitted, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[Call, Bound]:
        """A call of a jitted function as its program and its arguments."""
        options = jitted.options
        bound = bind(jitted.f, args, kwargs, options.static, options.donated, options.has)
        if options.in_shardings is not None and kwargs:
            raise ValueError(f"in_shardings are for arguments by position; got {', '.join(kwargs)} by name")
        by_position = self.prefixed(options.in_shardings, bound.args, "in_shardings", self.mesh_that_places())
        ins = by_position + [None] * (len(bound.arguments) - len(by_position))
        arguments = wanting(bound.arguments, ins)
        program = self.trace(name_of(jitted.f), bound.function, [it.aval for it in arguments])
        outs = self.prefixed(options.out_shardings, program.tree, "out_shardings", self.mesh_that_places())
        for sharding, aval in zip([*ins, *outs], [*(it.aval for it in arguments), *program.avals], strict=True):
            if sharding is not None:
                sharding.check(aval.shape)
        return Call(program, arguments, tuple(outs), keeps_unused=options.keep_unused), bound

    def prefixed(self, prefix: Any, tree: trees.Tree, name: str, mesh: Mesh | None) -> list[Sharding | None]:
        """The shardings that an option means, one for each array of a pytree; a mesh is that of bare specs."""
        return [self.named(it, name, mesh) for it in trees.spread(prefix, tree, name)]

    def named(self, sharding: Any, name: str, mesh: Mesh | None) -> Sharding | None:
        """A sharding; a bare spec takes its mesh from the context. DEV-33."""
        if isinstance(sharding, PartitionSpec):
            if mesh is None:
                raise RuntimeError(
                    f"{name} is {sharding} alone, which takes a mesh in context: enter one, or give a sharding"
                )
            return NamedSharding(mesh, sharding)
        if not isinstance(sharding, Sharding | None):
            raise TypeError(f"{name} takes shardings, specs and None: got {sharding!r} of {type(sharding)}")
        return sharding

    def trace(self, name: str, f: Callable[..., Any], avals: Sequence[Aval], axes: Any = None) -> Program:
        """Finds out what a function does; nothing runs. PUT-59, PUT-60, PUT-63, PUT-71, PUT-72, PUT-73, PUT-79."""
        self.counts["trace"] += 1
        return trace(self, name, f, avals, axes)

    def apply(self, name: str, *operands: Any, **params: Any) -> Any:
        """An operation of the table: it runs at once, or becomes part of the program that is being traced."""
        row = OPERATIONS[name]
        avals = [aval_of(x) for x in operands]
        names = [(row.called(number), number) for number in range(len(operands))]
        return self.operation(name, operands, (row.infer(*avals, **params),), params, names)[0]

    def operation(
        self,
        name: str,
        operands: Sequence[Any],
        outputs: Sequence[Aval],
        params: dict[str, Any],
        names: Sequence[tuple[str, int | None]] = (),
    ) -> list[Any]:
        """Any operation, also one that holds programs: it runs at once as a program of its own, or is recorded."""
        record = tracing_now()
        if record is not None:
            return record.record(name, operands, outputs, params)
        program = single(name, [aval_of(x) for x in operands], outputs, params)
        called = [*names, *((f"captured[{number}]", None) for number in range(len(operands) - len(names)))]
        arguments = tuple(
            Argument(*it, x, var.aval, committed_to(x))
            for it, x, var in zip(called, operands, program.inputs, strict=True)
        )
        return self.call(Call(program, arguments, (None,) * len(outputs), eager=True))

    # --- a call, from the top -----------------------------------------------------------------------------------------

    def call(self, call: Call) -> list[Any]:
        """Runs a program: what is refused is refused before anything is compiled, moved or deleted. DEV-14, DEV-16."""
        self.check_alive(call)
        lowered = self.lower(call, trees.LEAF, self.agree(call))
        self.compile(lowered)
        return self.execute(lowered, [self.feed(it, lowered.home) for it in call.arguments])

    def check_alive(self, call: Call) -> None:
        """Arguments that are gone are refused, and those that one call takes from itself. PUT-26, DEV-15."""
        for it in call.arguments:
            if isinstance(it.value, Array):
                self.touch(it.value)
            elif isinstance(it.value, Tracer) and it.value.trace not in HELD.traces:
                raise UnexpectedTracerError(
                    f"{it.value!r} left {it.value.trace.name} and was used as argument {it.name}"
                )
            elif isinstance(it.value, ShapeDtypeStruct):
                raise TypeError(f"argument {it.name} of {call.program.name} stands for an array, and has no value")
        if any(it.donated for it in call.arguments):
            self.check_donated_once_per_call(call)

    def check_donated_once_per_call(self, call: Call) -> None:
        """An array that is donated is no other argument's."""
        owners: dict[int, Argument] = {}
        for it in call.arguments:
            for buffer in it.value.buffers if isinstance(it.value, Array) else ():
                first = owners.setdefault(id(buffer), it)
                if first is not it and (first.donated or it.donated):
                    raise ValueError(
                        f"arguments {first.name} and {it.name} of {call.program.name} share their memory, and one of "
                        "them is donated: an array that is donated can be there only once"
                    )

    def lower(self, call: Call, tree: trees.Tree, home: Side | None) -> Lowered:
        """Lays down where arguments and results of a program lie."""
        self.counts["lower"] += 1
        ins = tuple(self.sharding_in(it, home) for it in call.arguments)
        return Lowered(self, call, tree, home, ins, self.shardings_out(call, home))

    def compile(self, lowered: Lowered) -> Compiled:
        """Compiles a program that is lowered. DEV-16, DEV-49, DEV-59."""
        self.counts["compile"] += 1
        return Compiled(lowered)

    def execute(self, lowered: Lowered, values: Sequence[np.ndarray]) -> list[Array]:
        """Evaluates a program on values, lays out its results, and deletes what it was given for them."""
        call, commits = lowered.call, self.results_commit(lowered.home)
        captured = [self.capture(x) for x in call.program.captured]
        results = self.evaluate(call.program, [*values, *captured])
        reused = self.donations(lowered)
        arrays = [
            self.deliver(value, aval, sharding, commits, reused[number].value.buffers if number in reused else ())
            for number, (value, aval, sharding) in enumerate(
                zip(results, call.program.avals, lowered.outs, strict=True)
            )
        ]
        for argument in reused.values():
            self.release(argument.value)
        return arrays

    # --- what a program is given --------------------------------------------------------------------------------------

    def feed(self, argument: Argument, home: Side | None) -> np.ndarray:
        """The value of an argument for a call, which leaves the argument as it is. DEV-23, DEV-38."""
        if not isinstance(argument.value, Array):
            return constant(argument.value)
        if argument.committed is None:
            return self.follow(argument.value, home)
        if argument.wanted is not None and not argument.wanted.is_equivalent_to(argument.committed, argument.aval.ndim):
            return self.lay_out(argument.value, argument.wanted)
        return self.value(argument.value)

    def follow(self, x: Array, home: Side | None) -> np.ndarray:
        """The value of an array that is committed nowhere, for a call that runs elsewhere. It does not move itself.

        DEV-24, DEV-27, DEV-28, DEV-29.
        """
        return self.value(x)

    def lay_out(self, x: Array, sharding: Sharding) -> np.ndarray:
        """The value of an array that in_shardings cut otherwise on its own devices, for one call. DEV-22."""
        return self.value(x)

    def capture(self, x: Any) -> np.ndarray:
        """The value of what a function captured: a constant, wherever it lies. DEV-57."""
        return self.value(x) if isinstance(x, Array) else constant(x)

    def sharding_in(self, argument: Argument, home: Side | None) -> Sharding:
        """How a program takes an argument: as it is wanted, as it lies, or else whole where the program runs."""
        return argument.wanted or argument.committed or self.everywhere(home)

    # --- where results lie --------------------------------------------------------------------------------------------

    def shardings_out(self, call: Call, home: Side | None) -> tuple[Sharding, ...]:
        """Where results lie: as out_shardings say, as the program says, or else whole where it runs. DEV-21, DEV-25."""
        found = self.propagated(call.program, [it.wanted or it.committed for it in call.arguments])
        return tuple([wanted or said or self.everywhere(home) for wanted, said in zip(call.outs, found, strict=True)])

    def everywhere(self, home: Side | None) -> Sharding:
        """Whole on each device that a call runs on: those of its sides, else the default one. DEV-21, DEV-26."""
        if home is None:
            return SingleDeviceSharding(self.default_device())
        if isinstance(home.sharding, SingleDeviceSharding):
            return SingleDeviceSharding(home.devices[0])
        if isinstance(home.sharding, NamedSharding) and isinstance(home.sharding.mesh, Mesh):
            return replicated_over(home.sharding.mesh)
        return replicated_over(Mesh(np.array(home.devices, dtype=object), ("devices",)))

    def results_commit(self, home: Side | None) -> bool:
        """Results are bound to their devices where anything in the call was. DEV-25, DEV-26, DEV-28."""
        return home is not None

    def propagated(self, program: Program, ins: Sequence[Sharding | None]) -> list[Sharding | None]:
        """How results lie as far as a program says: like operands of the same shape, unless it says otherwise."""
        lies: dict[Var, Sharding | None] = dict(zip(program.inputs, ins, strict=False))
        for equation in program.equations:
            operands = [lies.get(var) for var in equation.inputs]
            lies.update(zip(equation.outputs, self.propagated_by(equation, operands), strict=True))
        return [lies.get(var) for var in program.outputs]

    def propagated_by(self, equation: Equation, operands: Sequence[Sharding | None]) -> list[Sharding | None]:
        """How the outputs of one operation lie."""
        if equation.name == "jit":
            ins = [wanted or lies for wanted, lies in zip(equation.params["ins"], operands, strict=True)]
            found = self.propagated(equation.params["programs"][0], ins)
            return [wanted or lies for wanted, lies in zip(equation.params["outs"], found, strict=True)]
        if "shardings" in equation.params and None not in equation.params["shardings"]:
            return list(equation.params["shardings"])
        known = [(aval.shape, it) for aval, it in zip(equation.avals, operands, strict=True) if it is not None]
        return [next((it for shape, it in known if shape == var.aval.shape), None) for var in equation.outputs]

    def deliver(
        self, value: np.ndarray, aval: Aval, sharding: Sharding, committed: bool, reuse: Sequence[Buffer]
    ) -> Array:
        """A result: never in memory of an argument that was not donated. PUT-56, PUT-57."""
        return self.spread(value, sharding, committed=committed, aval=aval, reuse=reuse)

    # --- donation -----------------------------------------------------------------------------------------------------

    def donations(self, lowered: Lowered) -> dict[int, Argument]:
        """The donated arguments that a result can take the place of, by the number of the result; others stay whole."""
        call, found, unusable = lowered.call, dict[int, Argument](), []
        for argument in call.arguments:
            if argument.donated and isinstance(argument.value, Array):
                lies = argument.value.sharding
                fitting = (
                    number
                    for number, (aval, out) in enumerate(zip(call.program.avals, lowered.outs, strict=True))
                    if number not in found and self.fits_into(argument.aval, lies, aval, out)
                )
                number = next(fitting, None)
                if number is None:
                    unusable.append(argument)
                else:
                    found[number] = argument
        if unusable:
            described = ", ".join(f"{it.name} ({it.aval})" for it in unusable)
            warnings.warn(
                f"Some donated buffers were not usable: {described} of {call.program.name}. No result is like them.",
                stacklevel=2,
            )
        return found

    def fits_into(self, aval: Aval, lies: Sharding, result: Aval, out: Sharding) -> bool:
        """Whether a result can lie in the memory of an argument: alike in dtype, devices, shards and memory."""
        return (
            (aval.shape, aval.dtype) == (result.shape, result.dtype)
            and self.same_devices(lies.ordered, out.ordered)
            and lies.memory_kind == out.memory_kind
            and lies.shard_shape(aval.shape) == out.shard_shape(result.shape)
        )

    # --- evaluation ---------------------------------------------------------------------------------------------------

    def evaluate(self, program: Program, values: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The values of the results for those of the inputs."""
        known: dict[Var, np.ndarray] = dict(zip(program.inputs, values, strict=True))
        with np.errstate(all="ignore"):  # devices raise no flags
            for equation in program.equations:
                outputs = self.evaluate_equation(equation, [known[var] for var in equation.inputs])
                known.update(zip(equation.outputs, outputs, strict=True))
        return [known[var] for var in program.outputs]

    def evaluate_equation(self, equation: Equation, values: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
        """The values of an operation: of a row of the table, or of a step that is called after it."""
        row = OPERATIONS.get(equation.name)
        if row is not None:
            return (row.evaluate(equation.avals, *values, **equation.params),)
        outputs: Sequence[np.ndarray] = getattr(self, f"evaluate_{equation.name}")(equation, values)
        return outputs

    def evaluate_jit(self, equation: Equation, values: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
        """A jit within runs as part of the program around it. DEV-08."""
        return self.evaluate(equation.params["programs"][0], values)

    # --- a compiled object --------------------------------------------------------------------------------------------

    def call_compiled(self, lowered: Lowered, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Runs a compiled program on arguments that lie where it was compiled for, or nowhere yet.

        What does not fit is refused before anything happens. DEV-48, DEV-49, DEV-50, DEV-56.
        """
        call = replace(lowered.call, arguments=self.renewed(lowered, args, kwargs))
        self.check_alive(call)
        self.check_placed(lowered, call)
        values = [self.hand_over(it, built) for it, built in zip(call.arguments, lowered.ins, strict=True)]
        return call.program.result(self.execute(replace(lowered, call=call), values))

    def renewed(self, lowered: Lowered, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[Argument, ...]:
        """The arguments of a compiled program with other values, of the same structure, shapes and dtypes."""
        name = lowered.call.program.name
        leaves, tree = trees.flatten((tuple(args), kwargs))
        if tree != lowered.tree:
            built, given = (", ".join(map(_reached, it.paths)) or "nothing" for it in (lowered.tree, tree))
            raise TypeError(f"{name} was compiled for arrays at {built}, and is called with arrays at {given}")
        for it, value in zip(lowered.call.arguments, leaves, strict=True):
            aval = aval_of(value)
            if (aval.shape, aval.dtype) != (it.aval.shape, it.aval.dtype):
                raise TypeError(f"{name} was compiled for argument {it.name} of {it.aval}, and is called with {aval}")
        return tuple(
            replace(it, value=value, committed=committed_to(value))
            for it, value in zip(lowered.call.arguments, leaves, strict=True)
        )

    def check_placed(self, lowered: Lowered, call: Call) -> None:
        """Refuses committed arguments that lie otherwise than the program was compiled for. DEV-44, DEV-50."""
        for argument, built in zip(call.arguments, lowered.ins, strict=True):
            if argument.committed is None or not self.is_checked(call, argument):
                continue
            if self.lies_otherwise(built, argument.committed, argument.aval):
                raise self.misplaced(call.program.name, argument, built, argument.committed)

    def is_checked(self, call: Call, argument: Argument) -> bool:
        """Every argument is checked, whether or not the program uses it. DEV-44."""
        return True

    def lies_otherwise(self, built: Sharding, given: Sharding, aval: Aval) -> bool:
        """Whether two shardings differ in any respect; how they are written is of no matter. DEV-51."""
        return (
            self.other_count(built, given)
            or self.other_devices(built, given)
            or self.other_order(built, given)
            or self.other_cut(built, given, aval)
            or self.other_kind(built, given)
        )

    def other_count(self, built: Sharding, given: Sharding) -> bool:
        """On fewer or more devices. DEV-41."""
        return len(built.ordered) != len(given.ordered)

    def other_devices(self, built: Sharding, given: Sharding) -> bool:
        """On as many devices, and others. DEV-39, DEV-54."""
        return len(built.ordered) == len(given.ordered) and built.device_set != given.device_set

    def other_order(self, built: Sharding, given: Sharding) -> bool:
        """On the same devices in another order. DEV-40."""
        return built.device_set == given.device_set and not self.same_devices(built.ordered, given.ordered)

    def other_cut(self, built: Sharding, given: Sharding, aval: Aval) -> bool:
        """Cut into other tiles by its spec or its mesh, among as many devices. DEV-42."""
        tilings = built.tiling(aval.ndim), given.tiling(aval.ndim)
        return len(built.ordered) == len(given.ordered) and tilings[0] != tilings[1]

    def other_kind(self, built: Sharding, given: Sharding) -> bool:
        """In another kind of memory. DEV-43."""
        return built.memory_kind != given.memory_kind

    def misplaced(self, name: str, argument: Argument, built: Sharding, given: Sharding) -> Exception:
        """The error that names an argument which lies wrong, and shows both shardings. DEV-45, DEV-54."""
        return ValueError(
            f"{name} was compiled for{self.word_argument_called(argument)} as {self.show(built)}, and is called with "
            f"one as {self.show(given)}: put it there first, or compile for where it is"
        )

    def word_argument_called(self, argument: Argument) -> str:
        """Which argument lies wrong. DEV-46, DEV-55."""
        return f" argument {argument.name}"

    def show(self, sharding: Sharding) -> str:
        """A sharding as far as two can differ: mesh, spec, kind of memory, and devices in order. DEV-47, DEV-55."""
        return f"{sharding} on {self.word_devices(sharding.ordered)}"

    def hand_over(self, argument: Argument, built: Sharding) -> np.ndarray:
        """The value of an argument for a compiled program, which leaves the argument as it is. DEV-51, DEV-53."""
        if isinstance(argument.value, Array) and argument.committed is None:
            return self.place_loose(argument.value, built)
        return self.value(argument.value) if isinstance(argument.value, Array) else constant(argument.value)

    def place_loose(self, x: Array, built: Sharding) -> np.ndarray:
        """The value of an array that is committed nowhere, where a program was compiled for. DEV-51, DEV-53."""
        return self.value(x)

    # --- a lowered text -----------------------------------------------------------------------------------------------

    def text(self, lowered: Lowered, dialect: str) -> str:
        """The declaration of a module for this model's partitioner, with the shardings that the program is told."""
        if dialect != "stablehlo":
            raise NotImplementedError(f"the model's programs have no text as {dialect}, only as stablehlo")
        call = lowered.call
        kept = [it for it in call.arguments if call.keeps_unused or call.uses(it)]
        ins = [(it.aval, it.wanted or it.committed) for it in kept]
        outs = [*zip(call.program.avals, call.outs, strict=True)]
        said = [sharding for _, sharding in [*ins, *outs] if sharding is not None]
        kinds = any(it.memory_kind != it.ordered[0].default_memory().kind for it in said)
        return texts.module(
            [_declared(*it, kinds) for it in ins],
            [_declared(*it, kinds) for it in outs],
            partitioner=self.partitioner,
            devices=len(self.everywhere(lowered.home).ordered),
        )


def _declared(aval: Aval, sharding: Sharding | None, kinds: bool) -> texts.Declared:
    memory = sharding.memory_kind if kinds and sharding is not None else None
    return texts.Declared(aval.shape, aval.dtype, sharding, memory)
