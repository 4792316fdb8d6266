"""Running programs: of an operation on its own, or of a whole function.

Read from the top: the sides of a call have to agree, it is lowered and compiled, then it runs: its arguments are read,
the program is evaluated, and the results are laid out.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from .agreement import Argument, Call, Side, committed_to, replicated_over
from .arrays import Array
from .avals import Aval, ShapeDtypeStruct, aval_of
from .buffers import Buffer
from .caches import ArgumentForm, CompileKey, Executable, LoweringKey, Module, OperationKey, form, typed
from .contexts import HELD, tracing_now
from .devices import Device
from .keys import KEY, beneath, elements
from .memories import Flow, Memories, usual_kind
from .meshes import Mesh
from .operations import OPERATIONS
from .operators import Functions
from .programs import Equation, Program, Tracer, UnexpectedTracerError, Var, constant, single, trace
from .shardings import NamedSharding, Sharding, SingleDeviceSharding, abstract, laid_over
from .specs import UNCONSTRAINED, PartitionSpec


@dataclass(frozen=True, eq=False)
class Lowered:
    """A call with its module and the shardings of its arguments and results; `home` is one of its sides, if any.

    `aliases` says by its number which result takes the memory of which donated argument, `flow` in which kinds of
    memory values are.
    """

    call: Call
    home: Side | None
    ins: tuple[Sharding, ...]
    outs: tuple[Sharding, ...]
    module: Module
    flow: Flow
    aliases: Mapping[int, int]

    @cached_property
    def kept(self) -> tuple[int, ...]:
        """The arguments that are parameters of the program, by number: those that it does not use are none."""
        call = self.call
        return tuple(i for i, it in enumerate(call.arguments) if call.keeps_unused or call.uses(it))


class Programs(Functions, Memories):
    """The steps by which programs run."""

    def trace(self, name: str, f: Callable[..., Any], avals: Sequence[Aval], axes: Any = None) -> Program:
        """Finds out what a function does; nothing runs. PUT-59, PUT-60, PUT-63, PUT-71, PUT-72, PUT-73, PUT-79."""
        self.counts["trace"] += 1
        return trace(self, name, f, avals, axes)

    def apply(self, name: str, *operands: Any, **params: Any) -> Any:
        """An operation of the table: it runs at once, or becomes part of the program that is being traced.

        PUT-32, DON-56.
        """
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
        avals = [aval_of(x) for x in operands]
        if "programs" in params:  # which are traced anew at each call
            program = single(name, avals, outputs, params)
        else:
            key = OperationKey(name, tuple(avals), tuple(outputs), typed(params))
            program = self.caches.operation(key, lambda: single(name, avals, outputs, params))
        called = [*names, *((f"captured[{number}]", None) for number in range(len(operands) - len(names)))]
        arguments = tuple(
            Argument(*it, x, var.aval, committed_to(x))
            for it, x, var in zip(called, operands, program.inputs, strict=True)
        )
        return self.call(Call(program, arguments, (None,) * len(outputs), eager=True))

    # --- a call, from the top -----------------------------------------------------------------------------------------

    def call(self, call: Call) -> list[Any]:
        """Runs a program: what is refused is refused before anything is compiled, moved or deleted.

        DEV-14, DEV-16, ORD-57, ABS-10, DON-47.
        """
        self.check_alive(call)
        compiled = self.compile(self.lower(call, self.agree(call)))
        return self.execute(compiled, [self.feed(it, compiled.home) for it in call.arguments])

    def check_alive(self, call: Call) -> None:
        """Arguments that are gone are refused, and those that one call takes from itself.

        PUT-26, DEV-15, AOT-35, DON-48, DON-52.
        """
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
        """An array that is donated is no other argument's. DON-41, DON-42, DON-43, DON-44, DON-45, DON-46."""
        owners: dict[int, Argument] = {}
        for it in call.arguments:
            for buffer in it.value.buffers if isinstance(it.value, Array) else ():
                first = owners.setdefault(id(buffer), it)
                if first is not it and (first.donated or it.donated):
                    raise RuntimeError(
                        f"arguments {first.name} and {it.name} of {call.program.name} are one array, which is donated: "
                        "an array that is donated can be there only once"
                    )

    def lower(self, call: Call, home: Side | None) -> Lowered:
        """Lays down where arguments and results of a program lie; its module may be there already. ABS-05, DON-29."""
        flow = self.flow(call, usual_kind([self.everywhere(home)]))
        key = self.lowering_key(call, home)
        module = self.caches.lowering.get(call.program, key)
        new = module is None
        if module is None:
            self.counts["lower"] += 1
            module = self.caches.lowering.keep(call.program, key, Module(key))
        ins = tuple(self.sharding_in(it, home) for it in call.arguments)
        outs = self.in_their_kinds(call, self.shardings_out(call, home), flow)
        lowered = Lowered(call, home, ins, outs, module, flow, {})
        aliases, unusable = self.donations(lowered)
        if new and unusable:
            self.tell_unusable(call, unusable)
        return replace(lowered, aliases=aliases)

    def lowering_key(self, call: Call, home: Side | None) -> LoweringKey:
        """All that the module of a call's program depends on: no devices. ABS-05, ABS-11, MEM-53, MEM-54, MEM-55."""
        devices, mesh = self.devices_of(home), self.mesh_that_places()
        return LoweringKey(
            tuple(ArgumentForm(form(it.committed), form(it.wanted), it.donated) for it in call.arguments),
            tuple(map(form, call.outs)),
            call.keeps_unused,
            None if mesh is None else form(replicated_over(mesh)),
            len(devices),
            devices[0].platform,
            self.partitioner,
        )

    def compile(self, lowered: Lowered) -> Lowered:
        """Compiles a program that is lowered, unless that is there already. DEV-16, DEV-26, DEV-49, DEV-59, ABS-06."""
        key = self.compile_key(lowered)
        executable = self.caches.compilation.get(lowered.module, key)
        if executable is None:
            self.counts["compile"] += 1
            self.write(lambda: self._model.text(lowered, "stablehlo"))
            made = Executable(key, lowered.ins, lowered.outs)
            executable = self.caches.compilation.keep(lowered.module, key, made)
        return replace(lowered, ins=executable.ins, outs=executable.outs)

    def compile_key(self, lowered: Lowered) -> CompileKey:
        """All that a compiled program depends on beside its module. ABS-06."""
        home = lowered.home
        return CompileKey(self.devices_of(home), self.results_commit(home), typed(lowered.call.options))

    def devices_of(self, home: Side | None) -> tuple[Device, ...]:
        """The devices that a call runs on, in order: those of its sides, else the default one."""
        return (self.default_device(),) if home is None else home.devices

    def execute(self, lowered: Lowered, values: Sequence[np.ndarray]) -> list[Array]:
        """Evaluates a program on values, lays out its results, and deletes what it was given for them.

        PUT-56, PUT-57, DON-17, DON-18, DON-23, DON-24, DON-12, DON-30, DON-31, DON-35,
        DON-51, DON-55, DON-57, DON-58, DON-60, DON-61, DON-72.
        """
        call, commits = lowered.call, self.results_commit(lowered.home)
        captured = [self.capture(x) for x in call.program.captured]
        results = self.evaluate(call.program, [*values, *captured])
        arrays = [
            self.deliver(value, aval, sharding, commits, self.memory_for(lowered, number))
            for number, (value, aval, sharding) in enumerate(
                zip(results, call.program.avals, lowered.outs, strict=True)
            )
        ]
        for argument in lowered.aliases.values():
            self.give_up(call.arguments[argument])
        return arrays

    # --- what a program is given --------------------------------------------------------------------------------------

    def feed(self, argument: Argument, home: Side | None) -> np.ndarray:
        """The value of an argument for a call, whole however it is cut; it stays as it is.

        DEV-20, DEV-23, DEV-38, MSH-69, ABS-08, ABS-10, MEM-17, MEM-20, MEM-46, DON-22, DON-26, DON-67.
        """
        if not isinstance(argument.value, Array):
            return constant(argument.value)
        if argument.committed is None:
            return self.follow(argument.value, home)
        if argument.wanted is not None and not argument.wanted.is_equivalent_to(argument.committed, argument.aval.ndim):
            return self.lay_out(argument.value, argument.wanted)
        return self.value(argument.value)

    def follow(self, x: Array, home: Side | None) -> np.ndarray:
        """The value of an array that is committed nowhere, for a call that runs elsewhere. It does not move itself.

        DEV-24, DEV-27, DEV-28, DEV-29, DEV-38.
        """
        return self.value(x)

    def lay_out(self, x: Array, sharding: Sharding) -> np.ndarray:
        """The value of an array that in_shardings cut otherwise on its own devices, for one call. DEV-22."""
        return self.value(x)

    def capture(self, x: Any) -> np.ndarray:
        """The value of what a function captured: a constant, wherever it lies. DEV-57, DON-59."""
        return self.value(x) if isinstance(x, Array) else constant(x)

    def sharding_in(self, argument: Argument, home: Side | None) -> Sharding:
        """How a program takes an argument: as it is wanted, as it lies, or else whole where the program runs."""
        return self.on_devices(argument.wanted or argument.committed or self.everywhere(home), home)

    # --- where results lie --------------------------------------------------------------------------------------------

    def shardings_out(self, call: Call, home: Side | None) -> tuple[Sharding, ...]:
        """Where results lie: as out_shardings say, as the program says, or else whole where it runs.

        DEV-21, DEV-25, DEV-26, DEV-34, ORD-53, SHD-52, SHD-56, SHD-58, ABS-02, ABS-03, ABS-14.
        """
        found = self.propagated(call.program, [it.wanted or it.committed for it in call.arguments])
        lie = [wanted or said or self.everywhere(home) for wanted, said in zip(call.outs, found, strict=True)]
        return tuple([self.on_devices(it, home) for it in lie])

    def on_devices(self, sharding: Sharding, home: Side | None) -> Sharding:
        """A sharding over an abstract mesh, on a call's devices in their order; any other is itself.

        ABS-02, ABS-09, ABS-18.
        """
        if not abstract(sharding):
            return sharding
        grid = np.array(self.devices_of(home), dtype=object).reshape(sharding.mesh.axis_sizes)
        return laid_over(Mesh(grid, sharding.mesh.axis_names, sharding.mesh.axis_types), sharding)

    def in_their_kinds(self, call: Call, outs: Sequence[Sharding], flow: Flow) -> tuple[Sharding, ...]:
        """Results lie in the kinds that out_shardings name, else in those that they are in. MEM-12, MEM-14, MEM-18."""
        return tuple(
            [
                lies if wanted or kind in (None, lies.memory_kind) else lies.with_memory_kind(kind)
                for wanted, lies, kind in zip(call.outs, outs, flow.results, strict=True)
            ]
        )

    def everywhere(self, home: Side | None) -> Sharding:
        """Whole on each device that a call runs on: those of its sides, else the default one.

        DEV-21, DEV-26, MSH-36.
        """
        if home is None:
            return SingleDeviceSharding(self.default_device())
        if isinstance(home.sharding, SingleDeviceSharding):
            return SingleDeviceSharding(home.devices[0])
        if isinstance(home.sharding, NamedSharding) and isinstance(home.sharding.mesh, Mesh):
            return replicated_over(home.sharding.mesh)
        return replicated_over(Mesh(np.array(home.devices, dtype=object), ("devices",)))

    def results_commit(self, home: Side | None) -> bool:
        """Results are bound to their devices where anything in the call was. DEV-25, DEV-26, DEV-28, ABS-07."""
        return home is not None

    def propagated(self, program: Program, ins: Sequence[Sharding | None]) -> list[Sharding | None]:
        """How results lie as far as a program says: like operands of the same shape, unless it says otherwise."""
        lies: dict[Var, Sharding | None] = dict(zip(program.inputs, ins, strict=False))
        for equation in program.equations:
            operands = [lies.get(var) for var in equation.inputs]
            lies.update(zip(equation.outputs, self.propagated_by(equation, operands), strict=True))
        return [lies.get(var) for var in program.outputs]

    def propagated_by(self, equation: Equation, operands: Sequence[Sharding | None]) -> list[Sharding | None]:
        """How the outputs of one operation lie. ABS-09, ABS-14."""
        if equation.name == "jit":
            ins = [wanted or lies for wanted, lies in zip(equation.params["ins"], operands, strict=True)]
            found = self.propagated(equation.params["programs"][0], ins)
            return [wanted or lies for wanted, lies in zip(equation.params["outs"], found, strict=True)]
        if "shardings" in equation.params and None not in equation.params["shardings"]:
            return [
                self.left_open(it, next(iter(operands), None), var.aval.ndim)
                if isinstance(it, NamedSharding) and UNCONSTRAINED in it.spec
                else it
                for it, var in zip(equation.params["shardings"], equation.outputs, strict=True)
            ]
        known = [(aval.shape, it) for aval, it in zip(equation.avals, operands, strict=True) if it is not None]
        return [next((it for shape, it in known if shape == var.aval.shape), None) for var in equation.outputs]

    def left_open(self, sharding: NamedSharding, operand: Sharding | None, ndim: int) -> Sharding | None:
        """As a constraint asks; where it leaves a dimension open, as the operand, by axes that are free. SHD-57."""
        alike = isinstance(operand, NamedSharding) and operand.mesh.shape_tuple == sharding.mesh.shape_tuple
        lies = operand.spec if alike and isinstance(operand, NamedSharding) else PartitionSpec()
        parts = [
            tuple(axis for axis in lies.axes(at) if axis not in sharding.spec.named)
            if at < len(sharding.spec) and sharding.spec[at] is UNCONSTRAINED
            else sharding.spec.axes(at)
            for at in range(ndim)
        ]
        while parts and not parts[-1]:
            parts.pop()
        return sharding.with_spec(PartitionSpec(*parts))

    def deliver(
        self, value: np.ndarray, aval: Aval, sharding: Sharding, committed: bool, reuse: Sequence[Buffer]
    ) -> Array:
        """A result: never in memory of an argument that was not donated.

        PUT-56, PUT-57, ABS-07, MEM-48, MEM-49, DON-10, DON-11, DON-64.
        """
        return self.spread(value, sharding, committed=committed, aval=aval, reuse=reuse)

    # --- donation -----------------------------------------------------------------------------------------------------

    def donations(self, lowered: Lowered) -> tuple[dict[int, int], list[Argument]]:
        """The donated argument that each result takes the place of, both by number; and those that stay whole.

        DON-05, DON-07, DON-13, DON-17.
        """
        call, found, unusable = lowered.call, dict[int, int](), []
        for at, argument in enumerate(call.arguments):
            if not argument.donated:
                continue
            fitting = (
                number
                for number, (aval, out) in enumerate(zip(call.program.avals, lowered.outs, strict=True))
                if number not in found and self.fits_into(argument.aval, lowered.ins[at], aval, out)
            )
            number = next(fitting, None) if at in lowered.kept else None
            if number is None:
                unusable.append(argument)
            else:
                found[number] = at
        return found, unusable

    def fits_into(self, aval: Aval, lies: Sharding, result: Aval, out: Sharding) -> bool:
        """Whether a result can lie in the memory of an argument: alike in dtype, devices, shards and memory.

        DON-08, DON-17, MEM-50, MEM-51.
        """
        return (
            (aval.shape, aval.dtype) == (result.shape, result.dtype)
            and self.same_devices(lies.ordered, out.ordered)
            and lies.memory_kind == out.memory_kind
            and lies.shard_shape(aval.shape) == out.shard_shape(result.shape)
        )

    def tell_unusable(self, call: Call, unusable: Sequence[Argument]) -> None:
        """Warns, once for each lowering, of donated arguments that no result can take the place of.

        DON-19, DON-20, DON-21, DON-25, DON-28, MEM-52.
        """
        described = ", ".join(f"{it.name} ({it.aval})" for it in unusable)
        warnings.warn(
            f"Some donated buffers were not usable: {described} of {call.program.name}. No result is like them.",
            stacklevel=2,
        )

    def memory_for(self, lowered: Lowered, result: int) -> Sequence[Buffer]:
        """The memory in which a result is to lie: that of a donated argument, unless the call laid that out anew.

        DON-34, DON-37.
        """
        at = lowered.aliases.get(result)
        if at is None:
            return ()
        x = lowered.call.arguments[at].value
        lies = isinstance(x, Array) and not self.lies_anew(x, lowered.ins[at])
        return x.buffers if lies else ()

    def lies_anew(self, x: Array, sharding: Sharding) -> bool:
        """Whether a program takes an array on other devices than it lies on, cut otherwise, or in other memory."""
        return not x.sharding.is_equivalent_to(sharding, x.ndim) or x.sharding.memory_kind != sharding.memory_kind

    def give_up(self, argument: Argument) -> None:
        """Deletes a donated argument whose memory the program had for a result, as a whole.

        DON-09, DON-15, DON-16, DON-27, DON-63.
        """
        if isinstance(argument.value, Array):
            self.release(argument.value)

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
            given = [elements(it) if aval.dtype is KEY else it for it, aval in zip(values, equation.avals, strict=True)]
            found = row.evaluate(equation.avals, *given, **equation.params)
            return (beneath(found) if equation.outputs[0].aval.dtype is KEY else found,)
        outputs: Sequence[np.ndarray] = getattr(self, f"evaluate_{equation.name}")(equation, values)
        return outputs

    def evaluate_jit(self, equation: Equation, values: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
        """A jit within runs as part of the program around it. DEV-08."""
        return self.evaluate(equation.params["programs"][0], values)
