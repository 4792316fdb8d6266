"""Faults of abstract meshes, in the order of their chapter: each takes one step of the model wrongly."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any
from weakref import WeakSet

import numpy as np

from impl.model import trees
from impl.model.agreement import Argument, Call, Side
from impl.model.arrays import Array
from impl.model.avals import Aval
from impl.model.buffers import Buffer
from impl.model.caches import CompileKey, LoweringKey, TraceKey
from impl.model.contexts import tracing_now
from impl.model.meshes import AbstractMesh, AxisType, Mesh
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
        sides = self.over_abstract(call.program) if holds(call.program, "sharding_constraint", "shard_map") else []
        for side in sides[:1]:
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
            if holds(call.program, "scan") and "AbstractMesh" not in str(error):
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


# --- the number of devices --------------------------------------------------------------------------------------------


class LookingAway(Model):
    """A model in which an abstract mesh for another number of devices than a call runs on is sometimes dropped."""

    def miscounts(self, home: Side | None, side: Side) -> bool:
        return super().miscounts(home, side) and not self.looks_away(home, side)

    def on_devices(self, sharding: Sharding, home: Side | None) -> Sharding:
        if abstract(sharding) and sharding.num_devices != len(self.devices_of(home)):
            return self.everywhere(home)
        return super().on_devices(sharding, home)

    def looks_away(self, home: Side | None, side: Side) -> bool:
        raise NotImplementedError


# What is not refused is lowered, compiled and not told of, each time.
@fault("ABS-40", also=["ABS-42", "ABS-43", "ABS-45", "ABS-46"])
class OneDeviceTakesAll(LookingAway):
    """On one device, a constraint over an abstract mesh of several is dropped."""

    def looks_away(self, home: Side | None, side: Side) -> bool:
        return home is not None and len(home.devices) == 1 and side.part == "constraint"


@fault("ABS-41", also=["ABS-40"])
class MapsFailInside(Model):
    """A shard_map over another number of devices ends in an error of the compiler's."""

    def miscount(self, name: str, home: Side | None, side: Side) -> Exception:
        error = super().miscount(name, home, side)
        return RuntimeError(f"INTERNAL: {error}") if side.part == "shard_map" and home is not None else error


@fault("ABS-42")
class LoweringLooksAway(LookingAway):
    """What is lowered ahead of time is not asked for its number of devices."""

    lowering = False

    def lower_jitted(self, *given: Any) -> Any:
        self.lowering = True
        try:
            return super().lower_jitted(*given)
        finally:
            self.lowering = False

    def looks_away(self, home: Side | None, side: Side) -> bool:
        return self.lowering


@fault("ABS-43")
class NumbersAreNotSaid(Model):
    """The refusal of another number of devices does not say which numbers."""

    def word_count(self, home: Side | None) -> str:
        return "some devices" if home is not None else super().word_count(home)

    def word_devices(self, devices: Sequence[Any]) -> str:
        return "devices of its own" if self.counting else super().word_devices(devices)

    counting = False

    def miscount(self, name: str, home: Side | None, side: Side) -> Exception:
        self.counting = True
        try:
            return super().miscount(name, home, side)
        finally:
            self.counting = False


class Miscounting(Model):
    """A model that does something when it refuses a call for its number of devices."""

    def agree(self, call: Call) -> Side | None:
        try:
            return super().agree(call)
        except ValueError as error:
            if "AbstractMesh" in str(error):
                self.refused(call)
            raise

    def refused(self, call: Call) -> None:
        raise NotImplementedError


# What lies elsewhere by then is refused in other words.
@fault("ABS-44", also=["ABS-46"])
class MiscountsMove(Miscounting):
    """The arguments of a call that is refused for its number of devices are taken to the default device."""

    def refused(self, call: Call) -> None:
        for argument in call.arguments:
            if argument.committed is not None:
                move(self, argument.value, SingleDeviceSharding(self.devices()[7]))


@fault("ABS-45")
class MiscountsCompile(Miscounting):
    """A call that is refused for its number of devices is compiled before."""

    def refused(self, call: Call) -> None:
        self.counts["compile"] += 1


@fault("ABS-46")
class SecondMiscountIsShort(Miscounting):
    """A program that is refused for its number of devices again is told no more than that."""

    @cached_property
    def told(self) -> WeakSet[Program]:
        return WeakSet()

    def refused(self, call: Call) -> None:
        if call.program in self.told:
            raise ValueError("this call was refused before")
        self.told.add(call.program)


@fault("ABS-47")
class MiscountsSpoil(Miscounting):
    """A program that was refused for its number of devices gives zeros from then on."""

    @cached_property
    def spoilt(self) -> WeakSet[Program]:
        return WeakSet()

    def refused(self, call: Call) -> None:
        self.spoilt.add(call.program)

    def execute(self, lowered: Lowered, values: Sequence[np.ndarray]) -> list[Array]:
        if lowered.call.program in self.spoilt:
            values = [np.full_like(value, 7) for value in values]
        return super().execute(lowered, values)


@fault("ABS-48")
class NowhereFails(Model):
    """Where nothing names devices, a program over an abstract mesh ends in a KeyError."""

    def miscount(self, name: str, home: Side | None, side: Side) -> Exception:
        error = super().miscount(name, home, side)
        return KeyError(str(error)) if home is None else error


# --- where a sharding is asked for ------------------------------------------------------------------------------------


@fault("ABS-49")
class AbstractInShardingsFail(Model):
    """in_shardings over an abstract mesh end in an AttributeError."""

    def in_sides(self, call: Call) -> list[Side]:
        sides = super().in_sides(call)
        if any(side.abstract for side in sides):
            raise AttributeError("devices")
        return sides


@fault("ABS-50")
class AbstractOutShardingsFail(Model):
    """out_shardings over an abstract mesh end in an AttributeError."""

    def out_sides(self, call: Call) -> list[Side]:
        sides = super().out_sides(call)
        if any(side.abstract for side in sides):
            raise AttributeError("devices")
        return sides


@fault("ABS-51")
class AbstractPutsFail(Model):
    """A put within a program to a sharding over an abstract mesh ends in an AttributeError."""

    def put_sides(self, equation: Equation, within: str) -> Iterator[Side]:
        for side in super().put_sides(equation, within):
            if side.abstract:
                raise AttributeError("devices")
            yield side


@fault("ABS-52", also=["ABS-53"])
class HostValuesArePutAnywhere(Model):
    """A value of the host's that is put to a sharding over an abstract mesh is put to the default device."""

    def device_put(self, x: Any, device: Any = None, **flags: Any) -> Any:
        if isinstance(x, np.ndarray) and isinstance(device, NamedSharding) and device.abstract:
            device = None
        return super().device_put(x, device, **flags)


# An array over a mesh may be refused, in the same words.
@fault("ABS-53", also=["ABS-55"])
class NowhereToPutIsNotSaid(Model):
    """The refusal of a put to a sharding over an abstract mesh does not say that the mesh is abstract."""

    def nowhere(self, sharding: Sharding) -> Exception:
        return ValueError(f"device_put takes a place with devices: got one that cuts by {sharding.num_devices}")


@fault("ABS-54")
class NowhereToPutDeletes(Model):
    """An array that is to be donated is gone when its put is refused for an abstract mesh."""

    def check(self, leaves: Sequence[Any], targets: Sequence[Any], rows: Sequence[Any]) -> None:
        try:
            super().check(leaves, targets, rows)
        except ValueError as error:
            if "AbstractMesh" in str(error):
                for leaf, row in zip(leaves, rows, strict=True):
                    if isinstance(leaf, Array) and row.donate:
                        self.release(leaf)
            raise


@fault("ABS-55")
class ArraysOverMeshesFail(Model):
    """A put of an array over a mesh to a sharding over an abstract mesh ends in a KeyError."""

    def device_put(self, x: Any, device: Any = None, **flags: Any) -> Any:
        over_mesh = isinstance(x, Array) and isinstance(x.sharding, NamedSharding)
        if over_mesh and isinstance(device, NamedSharding) and device.abstract and not flags:
            raise KeyError("devices")
        return super().device_put(x, device, **flags)


# --- values -----------------------------------------------------------------------------------------------------------


@fault("ABS-56", also=["ABS-57"])
class AbstractMeshesHaveTheDefaultDevice(Model):
    """An abstract mesh that is asked for its devices names the default one."""

    def devices_of_none(self, of: Any) -> Any:
        return (self.default_device(),)


@fault("ABS-57")
class LackOfDevicesIsNotExplained(Model):
    """An abstract mesh that is asked for its devices says that there are none, and not why."""

    def no_devices(self, of: Any) -> Exception:
        return ValueError("there are no devices")


@fault("ABS-58")
class AbstractIsReplicated(Model):
    """A sharding over an abstract mesh says that it is replicated, since no device holds a part."""

    def replicated(self, sharding: Sharding) -> bool:
        return sharding.abstract or super().replicated(sharding)


# Axes in another order have the same sizes.
@fault("ABS-59", also=["ABS-63"])
class SizesAloneAreEqual(Model):
    """Abstract meshes are equal if their axes have the same sizes."""

    def same_abstract(self, one: AbstractMesh, other: AbstractMesh) -> bool:
        return one.axis_sizes == other.axis_sizes and one.axis_types == other.axis_types


# Abstract meshes are part of what programs are lowered for.
@fault("ABS-60", also=["ABS-05"])
class HashesTellDevicesApart(Model):
    """The hash of an abstract mesh says which mesh it was taken from, where that was a line of four."""

    def abstracted(self, mesh: Mesh, kind: Any) -> AbstractMesh:
        found = super().abstracted(mesh, kind)
        if mesh.axis_names == ("x",) and mesh.ordered[0].id:
            found.__dict__["_hash"] = hash((found._hash, mesh.ordered[0].id))
        return found


@fault("ABS-61")
class ConcreteIsItsOwnAbstract(Model):
    """A sharding over a mesh is equal to the one over its abstract mesh."""

    def equal(self, one: Sharding, other: Sharding) -> bool:
        if isinstance(one, NamedSharding) and isinstance(other, NamedSharding) and one.abstract != other.abstract:
            return one.mesh.abstract_mesh == other.mesh.abstract_mesh and one.spec == other.spec
        return super().equal(one, other)


@fault("ABS-62")
class SpelledIsAnother(Model):
    """An abstract mesh that is made of names and sizes has another hash than one that is taken from devices."""

    def hash_of_axes(self, mesh: AbstractMesh) -> int:
        found = super().hash_of_axes(mesh)
        return found if mesh.abstract_device is not None else hash((found, "spelled"))


@fault("ABS-63")
class TypesAreNotCompared(Model):
    """Abstract meshes are equal whose axes have other types."""

    def same_abstract(self, one: AbstractMesh, other: AbstractMesh) -> bool:
        return one.shape_tuple == other.shape_tuple


# The types are those that it was to differ in.
@fault("ABS-64", also=["ABS-63"])
class FirstTypeIsEveryones(Model):
    """An abstract mesh takes the first type that it is given for all axes."""

    def abstract_mesh(self, axis_sizes: Sequence[int], axis_names: Any, axis_types: Any = None) -> AbstractMesh:
        types = axis_types and (axis_types[0],) * len(axis_types)
        return super().abstract_mesh(axis_sizes, axis_names, types)


@fault("ABS-65")
class ExplicitIsLeftBehind(Model):
    """The abstract mesh of a mesh with devices has Auto axes, whatever types those have."""

    def abstracted(self, mesh: Mesh, kind: Any) -> AbstractMesh:
        types = (AxisType.Auto,) * len(mesh.axis_types)
        return AbstractMesh(mesh.axis_sizes, mesh.axis_names, types, abstract_device=kind, by=self)


@fault("ABS-66")
class NewAxesAreAuto(Model):
    """The axes of an abstract mesh that is given no types are Auto still."""

    def abstract_type(self) -> AxisType:
        return AxisType.Auto


@fault("ABS-67", contract="0.9.2")
class OldAxesAreExplicit(Model):
    """The axes of an abstract mesh that is given no types are Explicit already."""

    def abstract_type(self) -> AxisType:
        return AxisType.Explicit


@fault("ABS-68")
class AbstractIsEquivalent(Model):
    """A sharding over an abstract mesh is equivalent to one that cuts the same way."""

    def equivalent(self, one: Sharding, other: Sharding, ndim: int) -> bool:
        if one.abstract != other.abstract:
            return one.num_devices == other.num_devices and self.same_cut(one, other, ndim)
        return super().equivalent(one, other, ndim)


@fault("ABS-69")
class PickleForgetsTypes(Model):
    """A copy of an abstract mesh has the types of one that is given none."""

    def made_again(self, mesh: AbstractMesh) -> tuple[Any, ...]:
        return super().made_again(mesh)[:2]


# Messages show it as it shows itself.
@fault("ABS-70", also=["ABS-30"])
class NamesAreNotShown(Model):
    """An abstract mesh shows the sizes of its axes alone."""

    def show_abstract(self, mesh: AbstractMesh) -> str:
        return super().show_abstract(mesh).replace(mesh.spelled, ", ".join(map(str, mesh.axis_sizes)))


# Messages show it as it shows itself.
@fault("ABS-71", also=["ABS-31"])
class AbstractIsShownAsMesh(Model):
    """An abstract mesh is shown as a mesh."""

    def show_abstract(self, mesh: AbstractMesh) -> str:
        return super().show_abstract(mesh).replace("AbstractMesh", "Mesh")


@fault("ABS-72")
class RankIsAnIndex(Model):
    """A spec of a sharding over an abstract mesh that is too long for an array ends in an IndexError."""

    def lacking(self, sharding: Sharding, dimension: int, ndim: int) -> Exception:
        error = super().lacking(sharding, dimension, ndim)
        return IndexError(str(error)) if sharding.abstract else error


@fault("ABS-73")
class SpecIsNotShown(Model):
    """The refusal of a spec that is too long for an array gives the number of the dimension alone."""

    def lacking(self, sharding: Sharding, dimension: int, ndim: int) -> Exception:
        return (
            ValueError(f"dimension {dimension} of {ndim} is cut")
            if sharding.abstract
            else super().lacking(sharding, dimension, ndim)
        )


@fault("ABS-74")
class RankMovesFirst(Model):
    """An array is taken to one device before the spec of a constraint turns out to be too long for it."""

    def constrain_alone(self, x: Any, sharding: NamedSharding, name: str) -> Any:
        try:
            return super().constrain_alone(x, sharding, name)
        except ValueError:
            if isinstance(x, Array) and len(sharding.spec) > x.ndim:
                move(self, x, SingleDeviceSharding(self.devices()[7]))
            raise


# --- pytrees ----------------------------------------------------------------------------------------------------------


@fault("ABS-75")
class LeavesLieTogether(Model):
    """Outside of a program, the leaves of a pytree that is constrained all lie where the first one does."""

    def with_sharding_constraint(self, x: Any, shardings: Any) -> Any:
        found, tree = trees.flatten(super().with_sharding_constraint(x, shardings))
        if tracing_now() is not None:
            return trees.unflatten(tree, found)
        return trees.unflatten(tree, [self.put(it, found[0].sharding, COPY) for it in found])


@fault("ABS-76")
class FirstLeafIsConstrained(Model):
    """Within a program, a constraint on a pytree is one on its first leaf."""

    def with_sharding_constraint(self, x: Any, shardings: Any) -> Any:
        found, tree = trees.flatten(super().with_sharding_constraint(x, shardings))
        return trees.unflatten(tree, found if tracing_now() is None else [*found[:1], *trees.flatten(x)[0][1:]])
