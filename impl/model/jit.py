"""Jitted functions: called, lowered for arguments that lie somewhere, and compiled ahead of time."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from . import texts, trees
from .agreement import Argument, Call, committed_to
from .arrays import Array
from .avals import Aval, ShapeDtypeStruct, aval_of
from .binding import Bound, Parameters, bind, name_of, parameters, wanting
from .caches import TraceKey, owner_of, typed
from .contexts import HELD, tracing_now
from .infos import Infos, struct
from .meshes import AUTO, Mesh
from .programs import Program, Tracer, constant
from .running import Lowered
from .shardings import NamedSharding, Sharding
from .specs import PartitionSpec
from .words import function, shown

# --- what users hold --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Options:
    """What a function was jitted with; its parameters are meant by name. `within`: by pjit, for `with mesh:`."""

    has: Parameters
    static: frozenset[str]
    donated: frozenset[str]
    in_shardings: Any
    out_shardings: Any
    keep_unused: bool
    compiler: Mapping[str, Any]
    within: bool = False


class Jitted:
    """A function that runs as one program."""

    def __init__(self, model: Jits, f: Callable[..., Any], options: Options) -> None:
        functools.update_wrapper(self, f)
        self.model, self.f, self.options = model, f, options

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.model.call_jitted(self, args, kwargs)

    def lower(self, *args: Any, **kwargs: Any) -> LoweredJit:
        return self.model.lower_jitted(self, args, kwargs)

    def trace(self, *args: Any, **kwargs: Any) -> TracedJit:
        return self.model.trace_jitted(self, args, kwargs)

    def eval_shape(self, *args: Any, **kwargs: Any) -> Any:
        program = self.model.taken_apart(self, args, kwargs)[0].program
        return program.result([struct(it) for it in program.avals])

    def clear_cache(self) -> None:
        """Nothing of the function is kept any longer, whichever jit it came by."""
        self.model.caches.trace.forget(owner_of(self.f)[0])

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)


@dataclass(frozen=True, eq=False, repr=False)
class Stage:
    """A jitted function on its way to be run, for arguments that lie somewhere; `tree` is their structure."""

    model: Jits
    call: Call
    tree: trees.Tree

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.call.program.name})"

    @property
    def in_tree(self) -> trees.Tree:
        return self.model.argument_tree(self.tree)

    @property
    def in_avals(self) -> Any:
        return trees.unflatten(self.tree, self.model.argument_avals(self.call))

    @property
    def args_info(self) -> Any:
        return trees.unflatten(self.tree, self.model.argument_infos(self.call))

    @property
    def donate_argnums(self) -> tuple[int, ...]:
        return self.model.donated_numbers(self.call)

    @property
    def out_tree(self) -> trees.Tree:
        return self.model.result_tree(self.call)

    @property
    def out_info(self) -> Any:
        return trees.unflatten(self.out_tree, self.model.result_infos(self.call))


class TracedJit(Stage):
    """A jitted function that is traced."""

    def lower(self) -> LoweredJit:
        return self.model.lower_ahead(self.call, self.tree)


@dataclass(frozen=True, eq=False, repr=False)
class LoweredJit(Stage):
    """A jitted function that is lowered."""

    lowered: Lowered

    def compile(self, compiler_options: Mapping[str, Any] | None = None) -> CompiledJit:
        return self.model.compile_ahead(self, compiler_options or {})

    def as_text(self, dialect: str | None = None, *, debug_info: bool = False) -> str:
        text = self.model.text(self.lowered, dialect)
        return self.model.located(self.call, text) if debug_info else text

    def compiler_ir(self, dialect: str | None = None) -> Module:
        return Module(self.model.module(self.lowered, dialect))

    def cost_analysis(self) -> dict[str, float]:
        return self.model.cost(self.call)


@dataclass(frozen=True)
class Module:
    """A module of a program, of which its text is shown."""

    text: str

    def __str__(self) -> str:
        return self.text

    def as_hlo_text(self) -> str:
        return self.text


@dataclass(frozen=True, eq=False, repr=False)
class CompiledJit(Stage):
    """A jitted function that runs where it was compiled for, and nowhere else."""

    lowered: Lowered

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.model.call_compiled(self, args, kwargs)

    @property
    def input_shardings(self) -> Any:
        return trees.unflatten(self.tree, self.model.argument_shardings(self.lowered))

    @property
    def output_shardings(self) -> Any:
        return trees.unflatten(self.out_tree, self.model.result_shardings(self.lowered))

    @property
    def out_info(self) -> Any:
        return trees.unflatten(self.out_tree, self.model.ready_infos(self.lowered))

    def as_text(self) -> str:
        return self.model.compiled_text(self.lowered)

    def cost_analysis(self) -> dict[str, float]:
        return self.model.compiled_cost(self.lowered)

    def memory_analysis(self) -> CompiledMemoryStats:
        return self.model.memory_analysis(self.lowered)


@dataclass(frozen=True)
class CompiledMemoryStats:
    """How many bytes a compiled program takes on each of its devices; `alias` are those of results in arguments."""

    argument_size_in_bytes: int
    output_size_in_bytes: int
    alias_size_in_bytes: int
    temp_size_in_bytes: int = 0
    generated_code_size_in_bytes: int = 0


OPTIONS = {"xla_embed_ir_in_executable": bool, "xla_backend_optimization_level": int}
"""Options of a compiler, with their types; here they change nothing."""


class Jits(Infos):
    """The steps of jit, and those of what it gives."""

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
        """A function that runs as one program; how it is compiled shows nowhere but in what is compiled again.

        DON-06, DON-70.
        """
        has, name = parameters(function(fun, "jit")), name_of(fun)
        static = has.meant(name, "static", static_argnums, static_argnames)
        donated = self.meant_to_donate(has, name, donate_argnums, donate_argnames)
        if both := static & donated:
            raise ValueError(f"arguments of {name} cannot be both static and donated: {', '.join(sorted(both))}")
        ins = tuple(in_shardings) if isinstance(in_shardings, list) else in_shardings  # they are for a tuple
        return Jitted(self, fun, Options(has, static, donated, ins, out_shardings, keep_unused, compiler_options or {}))

    def meant_to_donate(self, has: Parameters, name: str, numbers: Any, names: Any) -> frozenset[str]:
        """What the arguments are called that a function is to be donated.

        DON-01, DON-02, DON-06, DON-40, DON-68, DON-69.
        """
        return has.meant(name, "donate", numbers, names)

    def pjit(self, fun: Callable[..., Any], **options: Any) -> Jitted:
        """jit as it was called first: where `with mesh:` holds, it runs on that mesh. MSH-33, MSH-34, MSH-38."""
        jitted = self.jit(fun, **options)
        return Jitted(self, fun, replace(jitted.options, within=True))

    def mesh_for_specs(self, options: Options) -> Mesh | None:
        """The mesh whose axes bare specs name that a function was jitted with. MSH-54, MSH-58."""
        return self.mesh_in_context() if options.within else self.mesh_that_places()

    def call_jitted(self, jitted: Jitted, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Runs a jitted function; within a function that is traced, its program becomes part of the outer one.

        DEV-19, DEV-58, DEV-59, DON-02, DON-14, DON-15, DON-16, DON-72.
        """
        call, _ = self.taken_apart(jitted, args, kwargs)
        program = call.program
        if tracing_now() is None:
            return program.result(self.call(call))
        operands = [*(it.value for it in call.arguments), *program.captured]
        ins = (*(it.wanted for it in call.arguments), *[None] * len(program.captured))
        params = {"programs": (program,), "ins": ins, "outs": call.outs}
        return program.result(self.operation("jit", operands, program.avals, params))

    def lower_jitted(self, jitted: Jitted, args: Sequence[Any], kwargs: dict[str, Any]) -> LoweredJit:
        """Lowers a jitted function for arguments, or for what stands for them; where they lie is checked.

        Nothing is compiled or run, and the arguments stay as they are. DEV-01, AOT-10, AOT-11, DON-39.
        """
        call, bound = self.taken_apart(jitted, args, kwargs)
        return self.lower_ahead(call, bound.tree)

    def trace_jitted(self, jitted: Jitted, args: Sequence[Any], kwargs: dict[str, Any]) -> TracedJit:
        """Traces a jitted function for arguments, or for what stands for them; nothing is lowered.

        AOT-69, AOT-70, AOT-71.
        """
        call, bound = self.taken_apart(jitted, args, kwargs)
        return TracedJit(self, call, bound.tree)

    def lower_ahead(self, call: Call, tree: trees.Tree) -> LoweredJit:
        """Lowers what is traced: what stands for an array is as good as the array. AOT-68, AOT-71."""
        return LoweredJit(self, call, tree, self.lower(call, self.agree(call)))

    def compile_ahead(self, lowered: LoweredJit, options: Mapping[str, Any]) -> CompiledJit:
        """Compiles a lowered program for calls to come; the arrays that it was lowered for stay as they are.

        AOT-12, AOT-68, AOT-72, AOT-75.
        """
        options = {**lowered.call.options, **options}
        for name, value in options.items():
            self.check_option(name, value)
        ready = replace(lowered.lowered, call=replace(lowered.call, options=options))
        return CompiledJit(self, lowered.call, lowered.tree, self.compile(ready))

    def check_option(self, name: str, value: Any) -> None:
        """Refuses options that the compiler does not have, and values that they do not take. AOT-73, AOT-74."""
        if name not in OPTIONS:
            raise RuntimeError(f"No such compile option: {name!r}")
        if not isinstance(value, OPTIONS[name]):
            raise RuntimeError(f"{name} takes a value of type {OPTIONS[name].__name__}: got {value!r}")

    def taken_apart(self, jitted: Jitted, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[Call, Bound]:
        """A call of a jitted function as its program and its arguments: each array is one. DON-02, DON-03."""
        options = jitted.options
        bound = bind(jitted.f, args, kwargs, options.static, options.donated, options.has)
        if options.in_shardings is not None and kwargs:
            raise ValueError(f"in_shardings are for arguments by position; got {', '.join(kwargs)} by name")
        by_position = self.prefixed(options.in_shardings, bound.args, "in_shardings", self.mesh_for_specs(options))
        ins = by_position + [None] * (len(bound.arguments) - len(by_position))
        arguments = wanting(bound.arguments, ins)
        program = self.traced(jitted.f, bound, self.trace_key(jitted, bound, args, kwargs))
        outs = self.prefixed(options.out_shardings, program.tree, "out_shardings", self.mesh_for_specs(options))
        for sharding, aval in zip([*ins, *outs], [*(it.aval for it in arguments), *program.avals], strict=True):
            if sharding is not None:
                sharding.check(aval.shape)
        for it in arguments:
            if it.committed is not None:  # what stands for an array may lie as no array could
                it.committed.check(it.aval.shape)
        call = Call(program, arguments, tuple(outs), keeps_unused=options.keep_unused, options=options.compiler)
        return replace(call, mesh=self.mesh_for_specs(options) if options.within else None), bound

    def traced(self, f: Callable[..., Any], bound: Bound, key: TraceKey) -> Program:
        """The program of a function, traced unless that is there already.

        One that captures values of a trace around it is that trace's own. A captured array of NumPy's is what it was.
        """
        owner, _ = owner_of(f)
        if (kept := self.caches.trace.get(owner, key)) is not None:
            return kept
        program = self.trace(name_of(f), bound.function, key.avals)
        if any(isinstance(it, Tracer) for it in program.captured):
            return program
        captured = tuple(np.array(it) if isinstance(it, np.ndarray) else it for it in program.captured)
        return self.caches.trace.keep(owner, key, replace(program, captured=captured))

    def trace_key(self, jitted: Jitted, bound: Bound, args: Sequence[Any], kwargs: dict[str, Any]) -> TraceKey:
        """All that the trace of a call depends on beside its function: no devices of arguments. ABS-04."""
        options = jitted.options
        given = [*((options.has.called(position), it) for position, it in enumerate(args)), *kwargs.items()]
        return TraceKey(
            owner_of(jitted.f)[1],
            tuple((name, typed(it)) for name, it in given if name in options.static),
            tuple(kwargs),
            bound.tree,
            tuple(it.aval for it in bound.arguments),
            tuple(HELD.meshes[-1:]),
            tuple((axis, size) for trace in HELD.traces for axis, size in trace.axes.items()),
        )

    def prefixed(self, prefix: Any, tree: trees.Tree, name: str, mesh: Mesh | None) -> list[Sharding | None]:
        """The shardings that an option means, one for each array of a pytree; a mesh is that of bare specs."""
        return [self.named(it, name, mesh) for it in trees.spread(prefix, tree, name)]

    def named(self, sharding: Any, name: str, mesh: Mesh | None) -> Sharding | None:
        """A sharding; a bare spec takes its mesh from the context.

        DEV-33, MSH-54, MSH-55, MSH-56, MSH-57, MSH-58, MSH-59, MSH-63.
        """
        if isinstance(sharding, AUTO):
            return self.automatic(sharding)
        if isinstance(sharding, PartitionSpec):
            if mesh is None:
                raise RuntimeError(
                    f"{name} is {sharding} alone, which takes a mesh in context: enter one, or give a sharding"
                )
            return NamedSharding(mesh, sharding)
        if not isinstance(sharding, Sharding | None):
            raise TypeError(f"{name} takes shardings, specs and None: got {shown(sharding)}")
        return sharding

    def automatic(self, left: AUTO) -> Sharding | None:
        """What a sharding becomes that is left to the compiler: whole on each device of its mesh.

        MSH-71, MSH-72, MSH-73.
        """
        return NamedSharding(left.mesh, PartitionSpec())

    # --- a compiled object --------------------------------------------------------------------------------------------

    def call_compiled(self, compiled: CompiledJit, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Runs a compiled program on arguments that lie where it was compiled for, or nowhere yet.

        What does not fit is refused before anything happens. DEV-48, DEV-49, DEV-50, DEV-56. Results lie where it was
        compiled to leave them, as those of a call of the jitted function: DEV-52, AOT-01, AOT-02, AOT-03, AOT-04,
        AOT-05, AOT-06. Nothing is lowered or compiled (AOT-07), and what is around the call is of no matter. DON-04,
        DON-37, AOT-08, AOT-09, AOT-36, AOT-38, AOT-45, AOT-46, AOT-47.
        """
        lowered = compiled.lowered
        call = replace(lowered.call, arguments=self.renewed(compiled, args, kwargs))
        self.check_alive(call)
        self.check_placed(lowered, call)
        values = [self.hand_over(it, built) for it, built in zip(call.arguments, lowered.ins, strict=True)]
        return call.program.result(self.execute(replace(lowered, call=call), values))

    def renewed(self, compiled: CompiledJit, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[Argument, ...]:
        """The arguments of a compiled program with other values, which have to fit.

        AOT-36, AOT-37, AOT-38, AOT-41, DON-65.
        """
        call = compiled.lowered.call
        leaves, tree = trees.flatten((tuple(args), kwargs))
        self.check_untraced(call.program.name, leaves)
        if self.is_misshapen(compiled.tree, tree):
            raise self.misshapen(call.program.name, compiled.tree, tree)
        for it, value in zip(call.arguments, leaves, strict=True):
            given = self.given_aval(call.program.name, it, value)
            if self.is_mistyped(call, it, given):
                raise self.mistyped(call.program.name, it, given)
        return tuple(
            replace(it, value=value, committed=committed_to(value))
            for it, value in zip(call.arguments, leaves, strict=True)
        )

    def check_untraced(self, name: str, leaves: Sequence[Any]) -> None:
        """Refuses what stands for arrays in a function that is traced. AOT-42, AOT-44, AOT-45."""
        if (met := next((it for it in leaves if isinstance(it, Tracer)), None)) is not None:
            raise self.compiled_within(name, met)

    def compiled_within(self, name: str, met: Tracer) -> Exception:
        """The error that says what a compiled program met, and what to call instead. AOT-43, AOT-44."""
        return TypeError(
            f"{name} is compiled, and runs on arrays only: it met {met!r} within {met.trace.name}, "
            "where the function that was given to jit can be called"
        )

    def is_misshapen(self, built: trees.Tree, given: trees.Tree) -> bool:
        """Whether arguments are of another structure; the order of a dict is of no matter. AOT-30, AOT-40."""
        return built != given

    def misshapen(self, name: str, built: trees.Tree, given: trees.Tree) -> Exception:
        """The error that says where two structures differ. AOT-31, AOT-32, AOT-37."""
        was, now = (", ".join(map(_reached, it.paths)) or "nothing" for it in (built, given))
        where = _reached(trees.departs(built, given))
        return TypeError(f"{name} was compiled for arrays at {was}, and is called with arrays at {now}: see {where}")

    def given_aval(self, name: str, argument: Argument, value: Any) -> Aval:
        """The type of an argument: of a value of the host's, that of the array it becomes. AOT-33, AOT-34, AOT-40."""
        if isinstance(value, ShapeDtypeStruct):
            raise TypeError(f"argument {argument.name} of {name} stands for an array, a ShapeDtypeStruct has no value")
        try:
            return aval_of(value)
        except TypeError as error:
            raise TypeError(f"argument {argument.name} of {name}: {error}") from None

    def is_mistyped(self, call: Call, argument: Argument, given: Aval) -> bool:
        """Whether an argument is of another shape or dtype, used or not; weak types always fit. AOT-26, AOT-39."""
        return (argument.aval.shape, argument.aval.dtype) != (given.shape, given.dtype)

    def mistyped(self, name: str, argument: Argument, given: Aval) -> Exception:
        """The error that shows both types. AOT-27, AOT-29."""
        called = self.word_argument_mistyped(argument)
        return TypeError(f"{name} was compiled for{called} of {argument.aval}, and is called with {given}")

    def word_argument_mistyped(self, argument: Argument) -> str:
        """Which argument has another type. AOT-28."""
        return f" argument {argument.name}"

    def check_placed(self, lowered: Lowered, call: Call) -> None:
        """Refuses committed arguments that lie otherwise than the program was compiled for. DEV-44, DEV-48, DEV-50."""
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
        """The error that names an argument which lies wrong, and shows both shardings. DEV-45, DEV-49, DEV-54."""
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
        """The value of an argument for a compiled program, which leaves the argument as it is.

        DEV-51, DEV-53, AOT-01, AOT-08, AOT-41, AOT-46.
        """
        if isinstance(argument.value, Array) and argument.committed is None:
            return self.place_loose(argument.value, built)
        return self.value(argument.value) if isinstance(argument.value, Array) else constant(argument.value)

    def place_loose(self, x: Array, built: Sharding) -> np.ndarray:
        """The value of an array that is committed nowhere, where a program was compiled for. DEV-51, DEV-53."""
        return self.value(x)

    # --- a lowered text -----------------------------------------------------------------------------------------------

    def text(self, lowered: Lowered, dialect: str | None) -> str:
        """The module as a text: StableHLO where nothing else is asked for. ABS-11, ABS-12, AOT-56, AOT-63."""
        if dialect not in (None, "stablehlo", "hlo"):
            raise self.unknown_dialect(dialect)
        return self.hlo_text(lowered) if dialect == "hlo" else self.stablehlo_text(lowered)

    def module(self, lowered: Lowered, dialect: str | None) -> str:
        """The module as a tool gets it: no other than the text. AOT-59, AOT-62."""
        return self.text(lowered, dialect)

    def unknown_dialect(self, dialect: str) -> Exception:
        """The error that names a dialect which there is not. AOT-64."""
        return ValueError(f"a program has a text as stablehlo or hlo, and not as {dialect!r}")

    def hlo_text(self, lowered: Lowered) -> str:
        """The declaration of an HLO module, for either partitioner free of Shardy's words.

        MEM-56, AOT-60, AOT-61, AOT-63.
        """
        call = lowered.call
        ins = [
            (call.arguments[at].aval, call.arguments[at].wanted or call.arguments[at].committed) for at in lowered.kept
        ]
        return texts.hlo_module(
            call.program.name,
            [(aval.shape, aval.dtype, told) for aval, told in ins],
            [(aval.shape, aval.dtype) for aval in call.program.avals],
        )

    def located(self, call: Call, text: str) -> str:
        """A text with the names of the arguments that its parameters come from. AOT-65."""
        names = "".join(f'#loc{number} = loc("{it.name}")\n' for number, it in enumerate(call.arguments, 1))
        return f"#loc = loc(unknown)\n{text}{names}"

    def stablehlo_text(self, lowered: Lowered) -> str:
        """The declaration of a module for this model's partitioner, with the shardings that the program is told.

        ABS-11, ABS-12, AOT-57, AOT-58, AOT-66, ORD-66.
        """
        call = lowered.call
        kept = [(call.arguments[at], lowered.ins[at]) for at in lowered.kept]
        said = self.kinds_are_said(call, lowered.ins, lowered.outs, lowered.flow)
        devices = len(self.everywhere(lowered.home).ordered)
        donated = [self.declared_donated(lowered, at, devices) for at in lowered.kept]
        return texts.module(
            [
                replace(_declared(it.aval, self.argument_written(it.wanted or it.committed), lies, said), **given)
                for (it, lies), given in zip(kept, donated, strict=True)
            ],
            [
                _declared(aval, self.result_written(wanted), lies, said)
                for aval, wanted, lies in zip(call.program.avals, call.outs, lowered.outs, strict=True)
            ],
            partitioner=self.partitioner,
            devices=devices,
            placed=lowered.flow.taken_to,
            constraints=[
                texts.Declared(aval.shape, aval.dtype, self.constraint_written(sharding, aval))
                for aval, sharding in constrained(call.program)
            ],
        )

    def argument_written(self, sharding: Sharding | None) -> Sharding | None:
        """How a module says that an argument is cut: as it is. SHD-44, SHD-48, SHD-49."""
        return sharding

    def result_written(self, sharding: Sharding | None) -> Sharding | None:
        """How a module says that a result is cut: as out_shardings say. SHD-45, SHD-49."""
        return sharding

    def constraint_written(self, sharding: Sharding, aval: Aval) -> Sharding:
        """How a module says what a constraint asks, with what it leaves to the partitioner.

        SHD-46, SHD-47, SHD-49, SHD-50, SHD-55.
        """
        return sharding

    def declared_donated(self, lowered: Lowered, argument: int, devices: int) -> dict[str, Any]:
        """How a module declares a donated argument: with the result that takes its place, or as a donor.

        The latter where several devices run it and nothing has said yet how that result is cut. DON-38.
        """
        result = next((result for result, at in lowered.aliases.items() if at == argument), None)
        if result is None:
            return {}
        said = devices == 1 or lowered.call.outs[result] is not None
        return {"aliases": result} if said else {"donor": True}

    def compiled_text(self, lowered: Lowered) -> str:
        """The first line of a compiled module, which says what results lie in the memory of which parameters.

        DON-32, DON-36.
        """
        ins, outs = self.shards_of(lowered)
        parameters = {at: number for number, at in enumerate(lowered.kept)}
        return texts.compiled(
            lowered.call.program.name,
            ins,
            outs,
            {result: parameters[at] for result, at in lowered.aliases.items()},
            devices=len(self.everywhere(lowered.home).ordered),
        )

    def memory_analysis(self, lowered: Lowered) -> CompiledMemoryStats:
        """How many bytes parameters and results take on each device, and how many of the latter are the former's.

        DON-33, AOT-54.
        """
        ins, outs = self.shards_of(lowered)
        return CompiledMemoryStats(
            argument_size_in_bytes=sum(texts.size(*it) for it in ins),
            output_size_in_bytes=sum(texts.size(*it) for it in outs),
            alias_size_in_bytes=sum(texts.size(*outs[result]) for result in lowered.aliases),
        )

    def shards_of(self, lowered: Lowered) -> tuple[list[tuple[Any, Any]], list[tuple[Any, Any]]]:
        """Shape and dtype of what each device has of the parameters, and of the results. AOT-55."""
        call = lowered.call
        ins = [(call.arguments[at].aval, lowered.ins[at]) for at in lowered.kept]
        outs = [*zip(call.program.avals, lowered.outs, strict=True)]
        shards = [[(it.shard_shape(aval.shape), aval.dtype) for aval, it in some] for some in (ins, outs)]
        return shards[0], shards[1]


def constrained(program: Program) -> Iterator[tuple[Aval, Sharding]]:
    """What a program constrains, at any depth, and how."""
    for equation in program.equations:
        if equation.name == "sharding_constraint":
            yield equation.avals[0], equation.params["sharding"]
        for inner in equation.params.get("programs", ()):
            yield from constrained(inner)


def _reached(path: str) -> str:
    """How an array is reached from the arguments by position and by name, of which its path starts with the number."""
    return path.replace("[0]", "args", 1) if path.startswith("[0]") else path.replace("[1]", "kwargs", 1)


def _declared(aval: Aval, told: Sharding | None, lies: Sharding, kinds: bool) -> texts.Declared:
    return texts.Declared(aval.shape, aval.dtype, told, lies.memory_kind if kinds else None)
