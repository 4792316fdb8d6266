"""Faults of device agreement, in the order of its chapter: each takes one step of the model wrongly.

Most are narrow, as slips are: one pair of sides, one way of calling, one word of a message. `also` names what such a
slip unavoidably shows in as well: a call that should have been refused has no message, and compiles.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from impl.model import trees
from impl.model.agreement import Argument, Call, Side, replicated_over
from impl.model.arrays import Array
from impl.model.avals import Aval, ShapeDtypeStruct
from impl.model.contexts import HELD
from impl.model.devices import Device
from impl.model.jit import CompiledJit, Jitted
from impl.model.meshes import Mesh
from impl.model.model import Model
from impl.model.programs import Equation, Program
from impl.model.put import COPY
from impl.model.running import Lowered
from impl.model.shardings import NamedSharding, Sharding

from . import fault

# --- what several faults need -----------------------------------------------------------------------------------------

PASSES = ("DEV-10", "DEV-11", "DEV-13", "DEV-16")
"""What is broken beside a rule where a call passes that should be refused: nothing is told, and it is compiled.

Where an argument should have been named it is DEV-12 too.
"""

REPEATED = ("DEV-17", "DEV-18", "DEV-58")
"""And where such a call passes after one that agreed, and again: there is no refusal that could be like the first.

When it passes again it is compiled already; what it was to donate is gone, which is DEV-59.
"""

TAKEN = ("DEV-45", "DEV-46", "DEV-47")
"""What is broken beside a rule where a compiled object takes what it should refuse; it compiles nothing."""


def meet(one: Side, other: Side, *parts: str) -> bool:
    """Whether two sides are these parts of a call, in this order."""
    return (one.part, other.part) == parts


def move(model: Model, x: Array, sharding: Sharding) -> None:
    """Takes an array elsewhere for good, as committed as it was."""
    y = model.put(x, sharding, COPY)
    x.sharding, x.layout, x.buffers = y.sharding, y.layout, y.buffers


def in_order_of_ids(sharding: Sharding) -> Sharding:
    """On the same devices in the order of their ids, whole."""
    devices = sorted(sharding.ordered, key=lambda device: device.id)
    return replicated_over(Mesh(np.array(devices, dtype=object), ("devices",)))


def loose(argument: Argument) -> bool:
    """Whether an argument is an array that is committed nowhere."""
    return isinstance(argument.value, Array) and argument.committed is None


def without_path(name: str) -> str:
    """What an argument is called whose leaf is meant: `tree` of `tree['v'][0]`."""
    return name.partition("[")[0]


class Refusing(Model):
    """A model that does something between the refusal of a call and telling of it."""

    def agree(self, call: Call) -> Side | None:
        try:
            return super().agree(call)
        except ValueError:
            self.refused(call)
            raise

    def refused(self, call: Call) -> None:
        raise NotImplementedError


class Remembering(Model):
    """A model that remembers of each program how its last call ended: `before` is that of the program at hand."""

    before = ""

    @cached_property
    def ended(self) -> WeakKeyDictionary[object, str]:
        return WeakKeyDictionary()

    def call_jitted(self, jitted: Jitted, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        with self.remembered(jitted):
            return super().call_jitted(jitted, args, kwargs)

    def call_compiled(self, compiled: CompiledJit, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        with self.remembered(compiled):
            return super().call_compiled(compiled, args, kwargs)

    @contextmanager
    def remembered(self, program: object) -> Iterator[None]:
        outer, self.before = self.before, self.ended.get(program, "")
        self.ended[program] = "ran"
        try:
            yield
        except ValueError as error:
            self.ended[program] = "refused"
            if self.before == "refused":
                self.refused_again(error)
            raise
        finally:
            self.before = outer

    def refused_again(self, error: ValueError) -> None:
        """Called when a call is refused, and so was the one before it."""


# --- sides that lie apart are refused ---------------------------------------------------------------------------------


@fault("DEV-01", also=[*PASSES, "DEV-12"])
class LaterArgumentsPass(Model):
    """From the third one on, arguments are not compared with the first."""

    def counts_as_side(self, call: Call, argument: Argument) -> bool:
        return call.arguments.index(argument) < 2


@fault("DEV-01", also=["DEV-10", "DEV-11", "DEV-12", "DEV-13"])
class StructsPass(Model):
    """What stands for an array when a program is lowered is not compared with anything."""

    def counts_as_side(self, call: Call, argument: Argument) -> bool:
        return not isinstance(argument.value, ShapeDtypeStruct)


@fault("DEV-01", "DEV-02", also=["DEV-09", *PASSES, "DEV-12", "DEV-15", *REPEATED, "DEV-59"])
class OrderOfArgumentsIsIgnored(Model):
    """Two arguments on the same devices in different orders may meet."""

    def apart(self, one: Side, other: Side) -> bool:
        same = meet(one, other, "argument", "argument") and set(one.devices) == set(other.devices)
        return super().apart(one, other) and not same


@fault("DEV-02", also=[*PASSES, "DEV-12"])
class ConcatenateGathers(Model):
    """The operands of concatenate may lie anywhere."""

    def counts_as_side(self, call: Call, argument: Argument) -> bool:
        return not (call.eager and call.program.name == "concatenate")


# What passes is donated where it was to be: DEV-15.
@fault("DEV-03", also=[*PASSES, "DEV-12", "DEV-15", *REPEATED])
class InShardingsMoveSilently(Model):
    """in_shardings on other devices, as many as the argument lies on, move it there."""

    def apart(self, one: Side, other: Side) -> bool:
        own = meet(one, other, "argument", "in_shardings") and one.name == other.name
        return super().apart(one, other) and not (own and len(one.devices) == len(other.devices))


@fault("DEV-04", also=[*PASSES, "DEV-12", *REPEATED])
class OutShardingsMoveSilently(Model):
    """out_shardings move a result away from where the arguments lie."""

    def apart(self, one: Side, other: Side) -> bool:
        return super().apart(one, other) and not meet(one, other, "argument", "out_shardings")


@fault("DEV-05", also=PASSES)
class FirstOutShardingDecides(Model):
    """Of several out_shardings only the first is looked at."""

    def out_sides(self, call: Call) -> list[Side]:
        return super().out_sides(call)[:1]


@fault("DEV-05", also=[*PASSES, "DEV-12"])
class InShardingsMindTheirOwn(Model):
    """in_shardings are compared with the argument that they are for, and with no other."""

    def apart(self, one: Side, other: Side) -> bool:
        others = meet(one, other, "argument", "in_shardings") and one.name != other.name
        return super().apart(one, other) and not others


@fault("DEV-06", also=[*PASSES, "DEV-12"])
class LoopsAreNotEntered(Model):
    """A constraint within a loop is never found."""

    def equation_sides(self, equation: Equation, within: str) -> Iterator[Side]:
        if equation.name not in ("scan", "while"):
            yield from super().equation_sides(equation, within)


@fault("DEV-07", also=PASSES)
class MapsMeetAnywhere(Model):
    """Two shard_maps over different devices may follow each other in one program."""

    def apart(self, one: Side, other: Side) -> bool:
        return super().apart(one, other) and not meet(one, other, "shard_map", "shard_map")


@fault("DEV-08", also=[*PASSES, "DEV-12"])
class InnerOutShardingsPass(Model):
    """Of a jit within another one only the in_shardings are looked at."""

    def inner_sides(self, equation: Equation, within: str) -> Iterator[Side]:
        ins_alone = replace(equation, params={**equation.params, "outs": ()})
        yield from super().inner_sides(ins_alone, within)


@fault("DEV-09", also=[*PASSES, "DEV-12", *REPEATED])
class UnusedArgumentsPass(Model):
    """Arguments that the program neither uses nor keeps are dropped before devices are compared."""

    def counts_as_side(self, call: Call, argument: Argument) -> bool:
        return call.keeps_unused or call.uses(argument)


# --- what the refusal says and does -----------------------------------------------------------------------------------


@fault("DEV-10")
class MapAfterConstraintAsserts(Model):
    """A shard_map over other devices than a constraint ends in an assertion."""

    def refusal(self, name: str, one: Side, other: Side) -> Exception:
        error = super().refusal(name, one, other)
        return AssertionError(str(error)) if meet(one, other, "constraint", "shard_map") else error


# Where the platform is told with the devices, the second one's is lost with them.
@fault("DEV-11", also=["DEV-55"])
class OneSideTwice(Model):
    """Of two arguments, the devices of the first are told twice."""

    def refusal(self, name: str, one: Side, other: Side) -> Exception:
        if meet(one, other, "argument", "argument"):
            other = replace(other, sharding=one.sharding)
        return super().refusal(name, one, other)


@fault("DEV-11")
class DevicesAreSorted(Model):
    """The devices of out_shardings are told in the order of their ids, not in that of the mesh."""

    def refusal(self, name: str, one: Side, other: Side) -> Exception:
        if other.part == "out_shardings":
            other = replace(other, sharding=in_order_of_ids(other.sharding))
        return super().refusal(name, one, other)


@fault("DEV-12")
class PathsAreLost(Model):
    """A leaf of an argument is called as the whole argument is."""

    def word_argument(self, side: Side) -> str:
        return super().word_argument(replace(side, name=without_path(side.name)))


@fault("DEV-12")
class OperandsAreNamed(Model):
    """A refusal under grad and vmap speaks of the operands of an operation, not of the function's arguments."""

    def agree_one_by_one(self, program: Program, arguments: Sequence[Argument]) -> None:
        """Nothing: each operation looks for itself."""


@fault("DEV-13")
class InnerJitIsUnnamed(Model):
    """The refusal of a jit within another one does not say that there is one."""

    def word_part(self, side: Side) -> str:
        return "a sharding" if side.part == "jit" else super().word_part(side)


@fault("DEV-14")
class ConcatenateMovesFirst(Refusing):
    """The operands of concatenate have been brought together already when it is refused."""

    def refused(self, call: Call) -> None:
        if call.program.name == "concatenate":
            for argument in call.arguments[1:]:
                move(self, argument.value, call.arguments[0].value.sharding)


@fault("DEV-15", also=["DEV-59"])
class RefusalDonates(Refusing):
    """What a call was to donate is gone when it is refused."""

    def refused(self, call: Call) -> None:
        for argument in call.arguments:
            if argument.donated and isinstance(argument.value, Array):
                self.release(argument.value)


@fault("DEV-16")
class BodiesCompileFirst(Refusing):
    """The bodies of loops and branches are compiled before the sides of the whole are compared."""

    def refused(self, call: Call) -> None:
        self.counts["compile"] += any(it.name in ("scan", "while", "cond") for it in call.program.equations)


@fault("DEV-17", also=["DEV-18", "DEV-58", "DEV-59"])
class CheckedOnce(Remembering):
    """A program that has run is not checked again."""

    def agree(self, call: Call) -> Side | None:
        return next(iter(self.sides(call)), None) if self.before == "ran" else super().agree(call)


@fault("DEV-18", also=["DEV-58", "DEV-59"])
class SecondAttemptPasses(Remembering):
    """A call that was refused is let through when it is tried again."""

    def agree(self, call: Call) -> Side | None:
        return next(iter(self.sides(call)), None) if self.before == "refused" else super().agree(call)


@fault("DEV-58")
class SecondRefusalIsShort(Remembering):
    """Who is refused again is told no more than that."""

    def refused_again(self, error: ValueError) -> None:
        raise ValueError("this call was refused before") from error


@fault("DEV-59")
class SecondRefusalCompiles(Remembering):
    """A call that was refused is compiled before it is refused again."""

    def refused_again(self, error: ValueError) -> None:
        self.counts["compile"] += 1


@fault("DEV-19")
class RefusalEmptiesArguments(Remembering):
    """A program that was refused is given empty arguments from then on."""

    def feed(self, argument: Argument, home: Side | None) -> np.ndarray:
        value = super().feed(argument, home)
        return np.zeros_like(value) if self.before == "refused" else value


# --- sides that agree are accepted ------------------------------------------------------------------------------------


@fault("DEV-20")
class ShardsAreTakenAsTheyLie(Model):
    """An argument that is cut otherwise than the first is taken shard by shard as if it were cut like that."""

    def feed(self, argument: Argument, home: Side | None) -> np.ndarray:
        value = super().feed(argument, home)
        if home is None or argument.committed is None or home.sharding == argument.committed:
            return value
        old, new = (sharding.tiles(value.shape) for sharding in (argument.committed, home.sharding))
        if np.prod(old.sizes) != np.prod(new.sizes):
            return value
        mistaken = np.empty_like(value)
        for position in range(len(home.devices)):
            mistaken[new.index(position)] = value[old.index(position)].reshape(new.sizes)
        return mistaken


@fault("DEV-21")
class OutShardingsLoseOrder(Model):
    """out_shardings that agree with an argument give a result on their devices in the order of the ids."""

    def shardings_out(self, call: Call, home: Side | None) -> tuple[Sharding, ...]:
        found = super().shardings_out(call, home)
        agree = home is not None and home.part == "argument" and any(call.outs)
        return tuple(map(in_order_of_ids, found)) if agree else found


@fault("DEV-22")
class LaidOutForGood(Model):
    """in_shardings that cut an argument otherwise lay out the caller's own array anew."""

    def lay_out(self, x: Array, sharding: Sharding) -> np.ndarray:
        move(self, x, sharding)
        return super().lay_out(x, sharding)


@fault("DEV-23")
class ArgumentsAreRenamed(Model):
    """An argument whose sharding is equivalent to the first one's, and written otherwise, takes that one over."""

    def feed(self, argument: Argument, home: Side | None) -> np.ndarray:
        lies = argument.committed
        if home is not None and lies is not None and lies.is_equivalent_to(home.sharding, argument.aval.ndim):
            argument.value.sharding = home.sharding
        return super().feed(argument, home)


@fault("DEV-57")
class CapturedIsTakenHome(Model):
    """An array that a function captures is taken to the default device for good."""

    def capture(self, x: Any) -> np.ndarray:
        if isinstance(x, Array):
            move(self, x, self.everywhere(None))
        return super().capture(x)


@fault("DEV-24")
class LooseElsewhereIsLost(Model):
    """An uncommitted array on another device than the default one counts as zero."""

    def follow(self, x: Array, home: Side | None) -> np.ndarray:
        value = super().follow(x, home)
        return value if x.sharding.ordered[0] == self.default_device() else np.zeros_like(value)


@fault("DEV-25")
class FirstOperandDecides(Model):
    """The first operand decides where the result lies, though it is committed nowhere."""

    def shardings_out(self, call: Call, home: Side | None) -> tuple[Sharding, ...]:
        found = super().shardings_out(call, home)
        decides = home is not None and home.part == "argument" and loose(call.arguments[0])
        return (call.arguments[0].value.sharding,) * len(found) if decides else found


@fault("DEV-26")
class LooseResultStays(Model):
    """Where nothing is committed, the result lies where the first operand lies."""

    def compile(self, lowered: Lowered) -> Lowered:
        compiled, given = super().compile(lowered), lowered.call.arguments
        stays = lowered.home is None and given and loose(given[0])
        return replace(compiled, outs=(given[0].value.sharding,) * len(compiled.outs)) if stays else compiled


@fault("DEV-27")
class FollowersMove(Model):
    """An uncommitted array that follows an argument stays where it followed it to."""

    def follow(self, x: Array, home: Side | None) -> np.ndarray:
        if home is not None and home.part == "argument":
            move(self, x, self.everywhere(home))
        return super().follow(x, home)


@fault("DEV-28")
class OutShardingsDoNotBind(Model):
    """Where out_shardings alone say where a call runs, its result is left uncommitted."""

    def results_commit(self, home: Side | None) -> bool:
        return super().results_commit(home) and not (home is not None and home.part == "out_shardings")


@fault("DEV-29")
class TakenForGood(Model):
    """An uncommitted array that in_shardings take to their devices stays there."""

    def follow(self, x: Array, home: Side | None) -> np.ndarray:
        if home is not None and home.part == "in_shardings":
            move(self, x, home.sharding)
        return super().follow(x, home)


# --- a mesh context ---------------------------------------------------------------------------------------------------


@fault("DEV-30", also=["DEV-31", "DEV-32", "DEV-60"])
class SetMeshForgetsEager(Model):
    """set_mesh says where jitted calls run, and not where eager operations do."""

    def sides(self, call: Call) -> list[Side]:
        return [side for side in super().sides(call) if not (call.eager and side.part == "context")]


@fault("DEV-31")
class ContextWithoutDevices(Model):
    """The refusal under set_mesh says of the mesh how large it is, not which devices it has."""

    def word(self, side: Side) -> str:
        if side.part == "context":
            return f"{self.word_part(side)} of size {len(side.devices)}"
        return super().word(side)


@fault("DEV-32")
class ContextCompilesFirst(Model):
    """Under set_mesh a program is compiled before the mesh is looked at."""

    def refusal(self, name: str, one: Side, other: Side) -> Exception:
        self.counts["compile"] += meet(one, other, "argument", "context")
        return super().refusal(name, one, other)


@fault("DEV-60")
class ContextNamesNoArgument(Model):
    """The refusal under set_mesh does not say which argument lies elsewhere."""

    def refusal(self, name: str, one: Side, other: Side) -> Exception:
        if meet(one, other, "argument", "context"):
            one = replace(one, name="")
        return super().refusal(name, one, other)


class ByAxisNames(Model):
    """A model that knows a constraint by axis names alone: its mesh is the one in context."""

    def by_names(self, side: Side) -> bool:
        mesh = self.mesh_in_context()
        return side.part == "constraint" and isinstance(side.sharding, NamedSharding) and side.sharding.mesh == mesh


@fault("DEV-33", also=["DEV-35", "DEV-36", "DEV-61"])
class AxisNamesHaveNoDevices(ByAxisNames):
    """A constraint by axis names is not compared with anything."""

    def constraint_sides(self, equation: Equation, within: str) -> Iterator[Side]:
        for side in super().constraint_sides(equation, within):
            if not self.by_names(side):
                yield side


@fault("DEV-34")
class WithMeshPlacesResults(Model):
    """Under `with mesh:` results lie on that mesh, wherever their arguments lie."""

    def shardings_out(self, call: Call, home: Side | None) -> tuple[Sharding, ...]:
        found, mesh = super().shardings_out(call, home), self.mesh_in_context()
        if mesh is None or self.mesh_that_places() is not None:
            return found
        return (replicated_over(mesh),) * len(found)


@fault("DEV-35")
class AxisNamesAreShown(ByAxisNames):
    """The refusal of a constraint by axis names shows the spec, and not the devices that it means."""

    def word(self, side: Side) -> str:
        if self.by_names(side):
            return f"{self.word_part(side)} as {side.sharding}"
        return super().word(side)


@fault("DEV-36")
class AxisNamesCompileFirst(ByAxisNames):
    """A constraint by axis names is compiled before its devices are looked at."""

    def refusal(self, name: str, one: Side, other: Side) -> Exception:
        self.counts["compile"] += self.by_names(other)
        return super().refusal(name, one, other)


@fault("DEV-61")
class AxisNamesBlameNobody(ByAxisNames):
    """The refusal of a constraint by axis names does not say which argument lies elsewhere."""

    def refusal(self, name: str, one: Side, other: Side) -> Exception:
        return super().refusal(name, replace(one, name="") if self.by_names(other) else one, other)


@fault("DEV-37")
class MeshBindsTheLoose(Model):
    """Under set_mesh an uncommitted array on other devices than the mesh is refused."""

    def argument_sides(self, call: Call) -> list[Side]:
        bound = [it for it in call.arguments if self.mesh_that_places() is not None and loose(it)]
        return super().argument_sides(call) + [
            Side("argument", it.value.sharding, call.program.name, it.name, it.position) for it in bound
        ]


@fault("DEV-37", also=["DEV-30", "DEV-31", "DEV-32", "DEV-60"])
class OuterMeshHolds(Model):
    """Where set_mesh is entered within set_mesh, the outer mesh holds."""

    def mesh_that_places(self) -> Mesh | None:
        mesh, is_set = HELD.meshes[0] if HELD.meshes else (None, False)
        return mesh if is_set else None


@fault("DEV-38")
class GuestsMoveIn(Model):
    """An uncommitted array that is used under set_mesh stays on the mesh."""

    def follow(self, x: Array, home: Side | None) -> np.ndarray:
        if home is not None and home.part == "context":
            move(self, x, home.sharding)
        return super().follow(x, home)


# --- a compiled object ------------------------------------------------------------------------------------------------


@fault("DEV-39", also=TAKEN)
class OneDeviceInCommon(Model):
    """A compiled object takes an argument that lies on one of its devices at least."""

    def other_devices(self, built: Sharding, given: Sharding) -> bool:
        return super().other_devices(built, given) and built.device_set.isdisjoint(given.device_set)


@fault("DEV-40", also=TAKEN)
class ReplicasHaveNoOrder(Model):
    """A compiled object takes replicas in any order."""

    def other_order(self, built: Sharding, given: Sharding) -> bool:
        return super().other_order(built, given) and not given.is_fully_replicated


@fault("DEV-41", also=TAKEN)
class FewerDevicesPass(Model):
    """A compiled object takes an argument on fewer devices than it was compiled for."""

    def other_count(self, built: Sharding, given: Sharding) -> bool:
        return len(built.ordered) < len(given.ordered)


@fault("DEV-42", also=TAKEN)
class ReplicatedFitsAll(Model):
    """A compiled object takes an argument that lies whole on each device, however it was to be cut."""

    def other_cut(self, built: Sharding, given: Sharding, aval: Aval) -> bool:
        return super().other_cut(built, given, aval) and not given.is_fully_replicated


@fault("DEV-43", also=TAKEN)
class KindsPass(Model):
    """A compiled object takes arguments from any kind of memory."""

    def other_kind(self, built: Sharding, given: Sharding) -> bool:
        return False


@fault("DEV-44", also=TAKEN)
class CompiledDropsUnused(Model):
    """A compiled object does not look at arguments that its program does not use."""

    def is_checked(self, call: Call, argument: Argument) -> bool:
        return call.uses(argument)


@fault("DEV-45")
class KindsAreTypes(Model):
    """An argument in another kind of memory is refused with a TypeError."""

    def misplaced(self, name: str, argument: Argument, built: Sharding, given: Sharding) -> Exception:
        error = super().misplaced(name, argument, built, given)
        return TypeError(str(error)) if self.other_kind(built, given) else error


@fault("DEV-46")
class CompiledLosesPaths(Model):
    """A compiled object calls a leaf of an argument as the whole argument is called."""

    def word_argument_called(self, argument: Argument) -> str:
        return super().word_argument_called(replace(argument, name=without_path(argument.name)))


@fault("DEV-47")
class DevicesAreNotShown(Model):
    """A compiled object shows two meshes by their axes, with no devices."""

    def show(self, sharding: Sharding) -> str:
        return str(sharding)


@fault("DEV-48")
class CompiledDonatesFirst(Model):
    """What a compiled object was to donate is gone when it refuses a call."""

    def check_placed(self, lowered: Lowered, call: Call) -> None:
        try:
            super().check_placed(lowered, call)
        except ValueError:
            for argument in call.arguments:
                if argument.donated:
                    self.release(argument.value)
            raise


@fault("DEV-49")
class CompiledAnew(Model):
    """For an argument on its devices in another order a compiled object is compiled again, and refuses it then."""

    def misplaced(self, name: str, argument: Argument, built: Sharding, given: Sharding) -> Exception:
        self.counts["compile"] += self.other_order(built, given)
        return super().misplaced(name, argument, built, given)


@fault("DEV-50")
class CompiledIsSpoilt(Remembering):
    """A compiled object that has refused a call is given empty arguments from then on."""

    def hand_over(self, argument: Argument, built: Sharding) -> np.ndarray:
        value = super().hand_over(argument, built)
        return np.zeros_like(value) if self.before == "refused" else value


@fault("DEV-51")
class LooseIsPlacedByIds(Model):
    """A compiled object hands the parts of an uncommitted array to its devices in the order of their ids."""

    def place_loose(self, x: Array, built: Sharding) -> np.ndarray:
        value, tiles = super().place_loose(x, built), built.tiles(x.shape)
        placed, ids = value.copy(), [device.id for device in built.ordered]
        for position, number in enumerate(ids):
            placed[tiles.index(position)] = value[tiles.index(sorted(ids).index(number))]
        return placed


@fault("DEV-52")
class ResultStaysWithTheLoose(Model):
    """A compiled object that is called with an uncommitted array returns its result to where that lies."""

    def call_compiled(self, compiled: CompiledJit, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        lowered, given = compiled.lowered, trees.leaves((args, kwargs))
        stays = [x.sharding for x in given if isinstance(x, Array) and not x.committed][:1] * len(lowered.outs)
        return super().call_compiled(
            replace(compiled, lowered=replace(lowered, outs=tuple(stays) or lowered.outs)), args, kwargs
        )


@fault("DEV-53")
class CompiledPlacesForGood(Model):
    """An uncommitted array stays where a compiled object has placed it."""

    def place_loose(self, x: Array, built: Sharding) -> np.ndarray:
        move(self, x, built)
        return super().place_loose(x, built)


# --- another platform -------------------------------------------------------------------------------------------------


@fault("DEV-54", also=["DEV-55", "DEV-56"])
class DevicesAreTheirIds(Model):
    """Devices of different platforms are the same where their ids are."""

    def same_devices(self, some: Sequence[Device], others: Sequence[Device]) -> bool:
        return [device.id for device in some] == [device.id for device in others]


@fault("DEV-55")
class PlatformsAreNotSaid(Model):
    """The refusal of devices of two platforms gives their ids alone."""

    def word_platform(self, devices: Sequence[Device]) -> str:
        return ""


@fault("DEV-56")
class PlatformsCompileFirst(Model):
    """A program for one platform is compiled before it turns out that an argument lies on another."""

    def refusal(self, name: str, one: Side, other: Side) -> Exception:
        self.counts["compile"] += one.devices[0].platform != other.devices[0].platform
        return super().refusal(name, one, other)
