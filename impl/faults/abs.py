"""Faults of abstract meshes, in the order of their chapter: each takes one step of the model wrongly."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from impl.model.agreement import Argument, Call, Side
from impl.model.arrays import Array
from impl.model.avals import Aval
from impl.model.buffers import Buffer
from impl.model.caches import CompileKey, LoweringKey, TraceKey
from impl.model.meshes import AbstractMesh, Mesh
from impl.model.model import Model
from impl.model.programs import Equation, Program
from impl.model.put import COPY
from impl.model.running import Lowered
from impl.model.shardings import NamedSharding, Sharding, SingleDeviceSharding, abstract

from . import fault

# --- what several faults need -----------------------------------------------------------------------------------------


def move(model: Model, x: Array, sharding: Sharding) -> None:
    """Takes an array elsewhere for good, as committed as it was."""
    y = model.put(x, sharding, COPY)
    x.sharding, x.layout, x.buffers = y.sharding, y.layout, y.buffers


def meet(one: Side, other: Side, *parts: str) -> bool:
    """Whether two sides are these parts of a call, in this order."""
    return (one.part, other.part) == parts


def ids(sharding: Sharding) -> list[int]:
    """The ids of a sharding's devices, in order."""
    return [device.id for device in sharding.ordered]


def programs_in(program: Program) -> Iterator[Program]:
    """A program and those within it."""
    yield program
    for equation in program.equations:
        for inner in equation.params.get("programs", ()):
            yield from programs_in(inner)


def holds(program: Program, *names: str) -> bool:
    """Whether a program has operations of these names at its top."""
    return any(equation.name in names for equation in program.equations)


class Knowing(Model):
    """A model that knows which constraints and shard_maps of a program are over abstract meshes."""

    def over_abstract(self, program: Program) -> list[Side]:
        return [side for side in self.program_sides(program) if side.abstract]

    def over_concrete(self, program: Program) -> list[Side]:
        return [side for side in self.program_sides(program) if not side.abstract]


# --- in a program -----------------------------------------------------------------------------------------------------


@fault("ABS-01")
class AbstractAxesExchangeNothing(Model):
    """A sum over the axes of an abstract mesh leaves each device with its own part."""

    def exchange(self, shards: Sequence[np.ndarray], mesh: Any, axes: Sequence[str]) -> Sequence[np.ndarray]:
        return list(shards) if isinstance(mesh, AbstractMesh) else super().exchange(shards, mesh, axes)


@fault("ABS-02")
class AbstractMeshIsSorted(Model):
    """The devices of a call are put into an abstract mesh in the order of their ids."""

    def on_devices(self, sharding: Sharding, home: Side | None) -> Sharding:
        found = super().on_devices(sharding, home)
        if abstract(sharding) and isinstance(found, NamedSharding) and isinstance(found.mesh, Mesh):
            devices = sorted(found.ordered, key=lambda device: device.id)
            grid = np.array(devices, dtype=object).reshape(found.mesh.axis_sizes)
            return NamedSharding(Mesh(grid, found.mesh.axis_names), found.spec)
        return found


@fault("ABS-03")
class LoopsEndOnTheDefaultDevice(Knowing):
    """What comes out of a while loop with an abstract mesh in it lies on the default device."""

    def shardings_out(self, call: Call, home: Side | None) -> tuple[Sharding, ...]:
        found = super().shardings_out(call, home)
        lost = holds(call.program, "while") and self.over_abstract(call.program)
        return (SingleDeviceSharding(self.default_device()),) * len(found) if lost else found


# What is traced anew is another program, which is lowered anew.
@fault("ABS-04", also=["ABS-05"])
class DevicesAreTraced(Model):
    """The devices of the arguments are part of what a function is traced for."""

    def trace_key(self, jitted: Any, bound: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> TraceKey:
        lie = tuple(str(ids(it.committed)) for it in bound.arguments if it.committed is not None)
        key = super().trace_key(jitted, bound, args, kwargs)
        return key._replace(static=(*key.static, ("devices", lie)))


@fault("ABS-05")
class DevicesAreLowered(Model):
    """The devices of a call are part of what its program is lowered for."""

    def lowering_key(self, call: Call, home: Side | None) -> LoweringKey:
        key = super().lowering_key(call, home)
        return key._replace(platform=f"{key.platform} {[device.id for device in self.devices_of(home)]}")


@fault("ABS-06")
class LatestDevicesAlone(Model):
    """Of a program, what was compiled for the latest set of devices is kept alone."""

    def compile_key(self, lowered: Lowered) -> CompileKey:
        key = super().compile_key(lowered)
        if self.caches.compilation.get(lowered.module, key) is None:
            self.caches.compilation.forget(lowered.module)
        return key


@fault("ABS-07")
class AbstractMeshesDoNotBind(Knowing):
    """The results of a program over an abstract mesh are left uncommitted."""

    bound = True

    def execute(self, lowered: Lowered, values: Sequence[np.ndarray]) -> list[Array]:
        self.bound = not self.over_abstract(lowered.call.program)
        try:
            return super().execute(lowered, values)
        finally:
            self.bound = True

    def deliver(
        self, value: np.ndarray, aval: Aval, sharding: Sharding, committed: bool, reuse: Sequence[Buffer]
    ) -> Array:
        return super().deliver(value, aval, sharding, committed and self.bound, reuse)


# Where there is no result, it lies nowhere.
@fault("ABS-08", also=["ABS-09"])
class NamesHaveToAgreeWithin(Model):
    """Within a program, too, an argument has to lie by axes of the abstract mesh's names."""

    def agreed(self, name: str, sides: Sequence[Side]) -> Side | None:
        home = super().agreed(name, sides)
        if home is not None and isinstance(home.sharding, NamedSharding):
            names = home.sharding.mesh.axis_names
            for side in sides:
                if side.abstract and isinstance(side.sharding, NamedSharding) and names == ("p",):
                    raise self.miscount(name, home, side)
        return home


@fault("ABS-09")
class OtherShapesStay(Model):
    """A constraint over an abstract mesh leaves an operand as it lies that lies by axes of other names."""

    def propagated_by(self, equation: Equation, operands: Sequence[Sharding | None]) -> list[Sharding | None]:
        found = super().propagated_by(equation, operands)
        if equation.name == "sharding_constraint" and (lies := operands[0]) is not None:
            asked = equation.params["sharding"]
            other = isinstance(lies, NamedSharding) and isinstance(lies.mesh, Mesh)
            if other and abstract(asked) and lies.mesh.axis_names != asked.mesh.axis_names:  # type: ignore[attr-defined]
                return [lies]
        return found


@fault("ABS-10")
class ArgumentsAreLaidOutForGood(Knowing):
    """An argument is laid out by the abstract mesh of its program, and stays so."""

    def call(self, call: Call) -> list[Any]:
        results = super().call(call)
        for side in self.over_abstract(call.program)[:1]:
            for argument in call.arguments:
                if argument.committed is not None and argument.committed.num_devices == side.sharding.num_devices:
                    home = Side("argument", argument.committed, "")
                    move(self, argument.value, self.on_devices(side.sharding, home))
        return results


@fault("ABS-11")
class TextSaysWhetherItIsFirst(Model):
    """The lowered text says whether a program is for the first device."""

    def text(self, lowered: Lowered, dialect: str | None) -> str:
        said = super().text(lowered, dialect)
        return said if self.devices_of(lowered.home)[0] == self.devices()[0] else f"// not for the first\n{said}"


@fault("ABS-12")
class TextNamesADevice(Model):
    """The lowered text says on which device it was lowered: the default one, whatever it is for."""

    def text(self, lowered: Lowered, dialect: str | None) -> str:
        return f"// lowered on {self.default_device()!r}\n{super().text(lowered, dialect)}"


# --- concrete meshes --------------------------------------------------------------------------------------------------


@fault("ABS-13")
class ConcreteScanEndsEarly(Knowing):
    """A scan whose body has a constraint with devices in it gives the state that it began with."""

    def evaluate_scan(self, equation: Equation, values: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
        found = super().evaluate_scan(equation, values)
        count = equation.params["carried"]
        return [*values[:count], *found[count:]] if self.over_concrete(equation.params["programs"][0]) else found


@fault("ABS-14")
class ConcreteWithinIsLost(Knowing):
    """A constraint with devices within a jit that is within another says nothing of the result."""

    def propagated_by(self, equation: Equation, operands: Sequence[Sharding | None]) -> list[Sharding | None]:
        found = super().propagated_by(equation, operands)
        lost = equation.name == "jit" and self.over_concrete(equation.params["programs"][0])
        return [None] * len(found) if lost else found


class ScanRefused(Model):
    """A model that tells otherwise that a program with a scan is refused."""

    def agree(self, call: Call) -> Side | None:
        try:
            return super().agree(call)
        except ValueError as error:
            if holds(call.program, "scan"):
                raise self.told(error) from None
            raise

    def told(self, error: ValueError) -> Exception:
        raise NotImplementedError


@fault("ABS-15", also=["DEV-10"])
class ScanAsserts(ScanRefused):
    """A scan with a constraint on other devices in it ends in an assertion."""

    def told(self, error: ValueError) -> Exception:
        return AssertionError(str(error))


# Nothing is named in it.
@fault("ABS-16", also=["DEV-11", "DEV-12", "DEV-13"])
class ScanSaysLittle(ScanRefused):
    """The refusal of a scan with a constraint on other devices in it says no more than that."""

    def told(self, error: ValueError) -> Exception:
        return ValueError("devices of a scan differ")


# Where there is no result, it lies nowhere.
@fault("ABS-17", also=["ABS-18"])
class AbstractOrConcrete(Model):
    """A program has abstract meshes or meshes with devices, not both."""

    def agreed(self, name: str, sides: Sequence[Side]) -> Side | None:
        of_program = [side for side in sides if side.part in ("constraint", "shard_map")]
        if len({side.abstract for side in of_program}) > 1:
            raise ValueError(f"{name} has an AbstractMesh and a mesh with devices in it")
        return super().agreed(name, sides)


@fault("ABS-18")
class AbstractTakesTheFirstDevices(Model):
    """Where a constraint says where a program runs, what is over an abstract mesh lies on the first devices."""

    def on_devices(self, sharding: Sharding, home: Side | None) -> Sharding:
        if home is not None and home.part == "constraint" and abstract(sharding):
            grid = np.array(self.devices()[: sharding.num_devices], dtype=object)
            mesh = Mesh(grid.reshape(sharding.mesh.axis_sizes), sharding.mesh.axis_names)
            return NamedSharding(mesh, sharding.spec)
        return super().on_devices(sharding, home)


@fault("ABS-19")
class AbstractFreesConcrete(Model):
    """Where a program has an abstract mesh, its constraints with devices are compared with no argument."""

    def agreed(self, name: str, sides: Sequence[Side]) -> Side | None:
        if any(side.abstract for side in sides) and any(side.part == "argument" for side in sides):
            sides = [side for side in sides if side.abstract or side.part != "constraint"]
        return super().agreed(name, sides)


# --- operations on their own ------------------------------------------------------------------------------------------


@fault("ABS-20")
class TurnedMeshesTurnValues(Model):
    """A constraint outside of a program, on devices that are not in the order of their ids, turns the value round."""

    def constrain_alone(self, x: Any, sharding: NamedSharding, name: str) -> Any:
        y = super().constrain_alone(x, sharding, name)
        if ids(y.sharding) == sorted(ids(y.sharding)):
            return y
        return self.spread(self.value(y)[::-1], y.sharding, committed=True)


@fault("ABS-21")
class ReplicasStayWhole(Model):
    """A constraint outside of a program leaves an array as it is that lies whole on each device."""

    def constrain_alone(self, x: Any, sharding: NamedSharding, name: str) -> Any:
        y = super().constrain_alone(x, sharding, name)
        return x if x.is_fully_replicated else y


@fault("ABS-22")
class AloneDoesNotBind(Model):
    """The result of a constraint outside of a program is left uncommitted."""

    def constrain_alone(self, x: Any, sharding: NamedSharding, name: str) -> Any:
        y = super().constrain_alone(x, sharding, name)
        y.committed = False
        return y


@fault("ABS-23")
class AloneLaysOutForGood(Model):
    """A constraint outside of a program lays out its input itself."""

    def constrain_alone(self, x: Any, sharding: NamedSharding, name: str) -> Any:
        y = super().constrain_alone(x, sharding, name)
        move(self, x, y.sharding)
        return y


ACCEPTED = ("ABS-29", "ABS-33")
"""What is broken beside a rule where an input is taken that should be refused: nothing is told, and it is compiled."""
UNTOLD = ("ABS-31", "ABS-32")
"""What more is not told where the input has no mesh."""


@fault("ABS-24", also=[*ACCEPTED, "ABS-30"])
class NamesAloneAreCompared(Model):
    """Outside of a program a mesh fits whose axes have the right names, however long they are."""

    def same_axes(self, mesh: Mesh, other: AbstractMesh) -> bool:
        return mesh.axis_names == other.axis_names


# A shard_map takes such an input as well, in each turn.
@fault("ABS-25", also=[*ACCEPTED, "ABS-30", "ABS-36", "ABS-37", "ABS-38"])
class SizesAloneAreCompared(Model):
    """Outside of a program a mesh fits whose axes have the right sizes, whatever their names are."""

    def mesh_of(self, what: str, name: str, x: Any, mesh: AbstractMesh) -> Mesh:
        lies = x.sharding.mesh if isinstance(x, Array) and isinstance(x.sharding, NamedSharding) else None
        if isinstance(lies, Mesh) and lies.axis_sizes == mesh.axis_sizes:
            return Mesh(lies.devices, mesh.axis_names, mesh.axis_types)
        return super().mesh_of(what, name, x, mesh)


class Placing(Model):
    """A model in which a constraint outside of a program puts some inputs to the first devices, by a program for it."""

    def constrain_alone(self, x: Any, sharding: NamedSharding, name: str) -> Any:
        if not self.places(x):
            return super().constrain_alone(x, sharding, name)
        self.counts["compile"] += 1
        grid = np.array(self.devices()[: sharding.num_devices], dtype=object).reshape(sharding.mesh.axis_sizes)
        lies = NamedSharding(Mesh(grid, sharding.mesh.axis_names), sharding.spec)
        return self.constrain(self.leaf(x, lies, COPY), lies, name)

    def places(self, x: Any) -> bool:
        raise NotImplementedError


@fault("ABS-26", also=[*ACCEPTED, *UNTOLD])
class SingleDevicesAreSpread(Placing):
    """Outside of a program, an array that is committed to one device is spread over the first ones."""

    def places(self, x: Any) -> bool:
        return isinstance(x, Array) and isinstance(x.sharding, SingleDeviceSharding) and x.committed


@fault("ABS-27", also=[*ACCEPTED, *UNTOLD])
class LooseArraysAreSpread(Placing):
    """Outside of a program, an array that is committed nowhere is spread over the first devices."""

    def places(self, x: Any) -> bool:
        return isinstance(x, Array) and not x.committed


@fault("ABS-28", also=[*ACCEPTED, *UNTOLD])
class HostValuesAreSpread(Placing):
    """Outside of a program, a value of the host's is spread over the first devices."""

    def places(self, x: Any) -> bool:
        return not isinstance(x, Array)


@fault("ABS-29")
class MapsOfHostValuesFail(Model):
    """A shard_map outside of a program ends in a KeyError where none of its inputs is an array."""

    def mesh_of_inputs(self, arguments: Sequence[Argument], mesh: AbstractMesh) -> Mesh:
        try:
            return super().mesh_of_inputs(arguments, mesh)
        except ValueError as error:
            if not any(isinstance(it.value, Array) for it in arguments):
                raise KeyError(str(error)) from None
            raise


@fault("ABS-30")
class AxesAreNotShown(Model):
    """The refusal of an input says of the abstract mesh how many devices it is for, and not its axes."""

    def input_refused(self, what: str, name: str, got: str, mesh: AbstractMesh) -> Exception:
        said = str(super().input_refused(what, name, got, mesh))
        return ValueError(said.replace(repr(mesh), f"an AbstractMesh of {mesh.size}"))


@fault("ABS-31")
class NothingIsAskedFor(Model):
    """The refusal of an input without a mesh says what it is, and not what it should be."""

    def input_refused(self, what: str, name: str, got: str, mesh: AbstractMesh) -> Exception:
        if " over " in got:
            return super().input_refused(what, name, got, mesh)
        return ValueError(f"{what} does not take argument {name}, which is {got}")


@fault("ABS-32")
class ClassesAreNotTold(Model):
    """The refusal of an array without a mesh does not say which sharding it has."""

    def word_class(self, x: Array) -> str:
        return "wrong sharding"


@fault("ABS-33")
class HostValuesCompileFirst(Model):
    """A constraint outside of a program is compiled before it is looked at what it was given."""

    def input_refused(self, what: str, name: str, got: str, mesh: AbstractMesh) -> Exception:
        self.counts["compile"] += what == "with_sharding_constraint" and got.startswith("a value")
        return super().input_refused(what, name, got, mesh)


def of_one_map(one: Side, other: Side) -> bool:
    """Whether two sides are the inputs of a shard_map outside of a program."""
    return meet(one, other, "argument", "argument") and one.within == other.within == "shard_map"


@fault("ABS-34", also=["ABS-35", "ABS-37", "ABS-38"])
class FirstInputDecides(Model):
    """The first input of a shard_map outside of a program says where it runs, wherever the others lie."""

    def apart(self, one: Side, other: Side) -> bool:
        return super().apart(one, other) and not of_one_map(one, other)


@fault("ABS-35")
class SecondInputHasNoDevices(Model):
    """The refusal of two inputs of a shard_map shows the devices of the first one alone."""

    def refusal(self, name: str, one: Side, other: Side) -> Exception:
        error = super().refusal(name, one, other)
        if of_one_map(one, other):
            return ValueError(str(error).replace(f" on {self.word_devices(other.devices)}", " on others"))
        return error


@fault("ABS-36", also=["ABS-37", "ABS-38"])
class FirstInputIsLookedAt(Model):
    """Of the inputs of a shard_map outside of a program, the mesh of the first one alone is looked at."""

    def mesh_of_inputs(self, arguments: Sequence[Argument], mesh: AbstractMesh) -> Mesh:
        return super().mesh_of_inputs([it for it in arguments if it.committed is not None][:1] or arguments, mesh)


@fault("ABS-37")
class InputsHaveNoNames(Model):
    """The refusal of an input of a shard_map does not say which one it is."""

    def mesh_of_inputs(self, arguments: Sequence[Argument], mesh: AbstractMesh) -> Mesh:
        return super().mesh_of_inputs([replace(it, name="") for it in arguments], mesh)


@fault("ABS-38")
class SeveralInputsCompileFirst(Model):
    """A shard_map of several inputs is compiled before it is looked at whether they fit."""

    def mesh_of_inputs(self, arguments: Sequence[Argument], mesh: AbstractMesh) -> Mesh:
        try:
            return super().mesh_of_inputs(arguments, mesh)
        except ValueError:
            self.counts["compile"] += len(arguments) > 1
            raise


@fault("ABS-39")
class FollowersFail(Model):
    """Beside an array that fits, what is committed nowhere ends in a KeyError."""

    def mesh_of_inputs(self, arguments: Sequence[Argument], mesh: AbstractMesh) -> Mesh:
        found = super().mesh_of_inputs(arguments, mesh)
        if any(it.committed is None for it in arguments):
            raise KeyError("sharding")
        return found
