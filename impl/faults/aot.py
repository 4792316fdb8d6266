"""Faults of what is done ahead of time, in the order of its chapter: each takes one step of the model wrongly."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from impl.model import trees
from impl.model.agreement import Argument, Call, Side, replicated_over
from impl.model.arrays import Array
from impl.model.avals import Aval, ShapeDtypeStruct
from impl.model.exports import Exported
from impl.model.infos import ArgInfo
from impl.model.jit import OPTIONS, CompiledJit, CompiledMemoryStats, Jitted, LoweredJit, TracedJit
from impl.model.keys import KEY, NUMBERS
from impl.model.meshes import Mesh
from impl.model.model import Model
from impl.model.programs import Equation, Tracer
from impl.model.running import Lowered
from impl.model.shardings import NamedSharding, Sharding, SingleDeviceSharding
from impl.model.texts import size

from . import fault
from .dev import in_order_of_ids

# --- what several faults need -----------------------------------------------------------------------------------------


class Ahead(Model):
    """A model that knows whether a compiled program is being called."""

    ahead = False

    def call_compiled(self, compiled: CompiledJit, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        outer, self.ahead = self.ahead, True
        try:
            return super().call_compiled(compiled, args, kwargs)
        finally:
            self.ahead = outer


def release_donated(model: Model, call: Call) -> None:
    """Deletes the arrays, committed nowhere, that a program is to be given for good."""
    for argument in call.arguments:
        if argument.donated and isinstance(argument.value, Array) and argument.committed is None:
            model.release(argument.value)


# --- a compiled program agrees with the jitted function ---------------------------------------------------------------


# What is called again, in other words or after a refusal is called with such numbers too.
@fault("AOT-01", also=["AOT-06", "AOT-38", "AOT-39", "AOT-40"])
class ScalarsCountAsZero(Model):
    """Numbers of Python's and NumPy's scalars count as zero where a compiled program is called with them."""

    def hand_over(self, argument: Argument, built: Sharding) -> np.ndarray:
        value = super().hand_over(argument, built)
        return value if isinstance(argument.value, Array | np.ndarray) else np.zeros_like(value)


# What the program says of its results is what they are in a call of the jitted function.
@fault("AOT-02", also=["AOT-23", "AOT-25"])
class FurtherResultsAreWhole(Model):
    """Of several results of a compiled program only the first is cut, unless any argument is donated."""

    def call_compiled(self, compiled: CompiledJit, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        lowered = compiled.lowered
        donates = any(it.donated for it in lowered.call.arguments)
        outs = lowered.outs if donates else (*lowered.outs[:1], *map(in_order_of_ids, lowered.outs[1:]))
        return super().call_compiled(replace(compiled, lowered=replace(lowered, outs=outs)), args, kwargs)


@fault("AOT-03")
class CompiledCommits(Ahead):
    """The results of a compiled program are bound to their devices, whatever its arguments were."""

    def results_commit(self, home: Side | None) -> bool:
        return self.ahead or super().results_commit(home)


@fault("AOT-04")
class WeakTypesHarden(Model):
    """The results of a compiled program are of no weak type."""

    def call_compiled(self, compiled: CompiledJit, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        found = super().call_compiled(compiled, args, kwargs)
        for x in trees.leaves(found):
            x.aval = replace(x.aval, weak_type=False)
        return found


@fault("AOT-05", also=["AOT-20", "AOT-22"])
class TuplesBecomeLists(Model):
    """A compiled program gives its results as a list where the function returns a tuple."""

    def call_compiled(self, compiled: CompiledJit, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        found = super().call_compiled(compiled, args, kwargs)
        return list(found) if isinstance(found, tuple) else found


@fault("AOT-06")
class ThirdArgumentIsLost(Model):
    """From its second call on, a compiled program takes zeros for its third argument."""

    def call_compiled(self, compiled: CompiledJit, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        again = vars(compiled).setdefault("called", [])
        again.append(None)
        arguments = compiled.lowered.call.arguments
        if len(again) > 1 and len(arguments) > 2:
            leaves, tree = trees.flatten((tuple(args), kwargs))
            leaves[2] = self.device_put(np.zeros_like(self.value(leaves[2])), leaves[2].sharding)
            args, kwargs = trees.unflatten(tree, leaves)
        return super().call_compiled(compiled, args, kwargs)


# It lowers before it refuses.
@fault("AOT-07", also=["AOT-37"])
class NamesAreLoweredAgain(Model):
    """A compiled program is lowered again where it is called with arguments by name."""

    def call_compiled(self, compiled: CompiledJit, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        self.counts["lower"] += bool(kwargs)
        return super().call_compiled(compiled, args, kwargs)


@fault("AOT-08")
class NamedArgumentsAreGone(Model):
    """A compiled program deletes the arrays that it is given by name."""

    def call_compiled(self, compiled: CompiledJit, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        found = super().call_compiled(compiled, args, kwargs)
        for x in trees.leaves(kwargs):
            self.release(x)
        return found


@fault("AOT-09")
class CopiesAreDonated(Model):
    """Of a pytree that a compiled program is to donate, it donates a copy."""

    def call_compiled(self, compiled: CompiledJit, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        if any(it.donated for it in compiled.lowered.call.arguments):
            args = [self.device_put(it, may_alias=False) if isinstance(it, dict) else it for it in args]
        return super().call_compiled(compiled, args, kwargs)


# Whoever asks for a text or exports has lowered.
@fault("AOT-10", also=["AOT-63", "AOT-83"])
class OutShardingsAreTriedOut(Model):
    """A program with out_shardings is compiled already when it is lowered."""

    def lower_jitted(self, jitted: Jitted, args: Sequence[Any], kwargs: dict[str, Any]) -> LoweredJit:
        found = super().lower_jitted(jitted, args, kwargs)
        self.counts["compile"] += any(found.lowered.call.outs)
        return found


# What is gone when it is lowered is still gone when it is compiled.
@fault("AOT-11", also=["AOT-12"])
class LoweringDonates(Model):
    """Arrays committed nowhere that a program is to be given for good are gone when it is lowered."""

    def lower_jitted(self, jitted: Jitted, args: Sequence[Any], kwargs: dict[str, Any]) -> LoweredJit:
        found = super().lower_jitted(jitted, args, kwargs)
        release_donated(self, found.lowered.call)
        return found


@fault("AOT-12")
class CompilingDonates(Model):
    """Arrays committed nowhere that a program is to be given for good are gone when it is compiled."""

    def compile_ahead(self, lowered: LoweredJit, options: Mapping[str, Any]) -> CompiledJit:
        found = super().compile_ahead(lowered, options)
        release_donated(self, lowered.call)
        return found


# --- what a program says of its arguments -----------------------------------------------------------------------------


@fault("AOT-13")
class NamesAreLeftOut(Model):
    """in_tree is the structure of the arguments by position alone."""

    def argument_tree(self, tree: trees.Tree) -> trees.Tree:
        return super().argument_tree(tree).children[0]


@fault("AOT-14")
class AvalsAreStrong(Model):
    """in_avals have no weak types."""

    def argument_avals(self, call: Call) -> list[Aval]:
        return [replace(it, weak_type=False) for it in super().argument_avals(call)]


@fault("AOT-15")
class ArgumentsAreNumbersBeneath(Model):
    """args_info tells of keys what the numbers beneath them are."""

    def argument_infos(self, call: Call) -> list[ArgInfo]:
        found = super().argument_infos(call)
        return [replace(it, shape=(*it.shape, *NUMBERS), dtype="uint32") if it.dtype is KEY else it for it in found]


@fault("AOT-16")
class OneLeafIsDonated(Model):
    """args_info says only of the first array of a pytree that it is donated."""

    def argument_infos(self, call: Call) -> list[ArgInfo]:
        positions = [it.position for it in call.arguments]
        found = super().argument_infos(call)
        return [
            replace(it, donated=it.donated and positions.index(position) == number)
            for number, (it, position) in enumerate(zip(found, positions, strict=True))
        ]


@fault("AOT-17")
class DonatedByPosition(Model):
    """donate_argnums are the positions of the arguments, however many arrays they hold."""

    def donated_numbers(self, call: Call) -> tuple[int, ...]:
        return tuple(dict.fromkeys(it.position or 0 for it in call.arguments if it.donated))


@fault("AOT-18")
class LooseIsTakenAtHome(Model):
    """input_shardings say of what is committed nowhere that it is taken on the default device."""

    def argument_shardings(self, lowered: Lowered) -> list[Sharding]:
        found = super().argument_shardings(lowered)
        loose = [it.committed is None and it.wanted is None for it in lowered.call.arguments]
        home = SingleDeviceSharding(self.default_device())
        return [home if is_loose else it for it, is_loose in zip(found, loose, strict=True)]


# --- what a program says of its results -------------------------------------------------------------------------------


@fault("AOT-19")
class OutShardingsAreNotTold(Model):
    """out_info of a lowered program tells no sharding."""

    def result_infos(self, call: Call) -> list[ShapeDtypeStruct]:
        return [replace(it, sharding=None) for it in super().result_infos(call)]


@fault("AOT-20", "AOT-22")
class ResultsAreListed(Model):
    """What a function returns as a tuple is told as a list."""

    def result_tree(self, call: Call) -> trees.Tree:
        found = super().result_tree(call)
        return replace(found, kind=list) if found.kind is tuple else found


@fault("AOT-21")
class ResultsAreNumbersBeneath(Model):
    """out_info of a lowered program tells of keys what the numbers beneath them are."""

    def result_infos(self, call: Call) -> list[ShapeDtypeStruct]:
        found = super().result_infos(call)
        return [
            ShapeDtypeStruct((*it.shape, *NUMBERS), np.uint32, sharding=it.sharding) if it.dtype is KEY else it
            for it in found
        ]


@fault("AOT-23", also=["AOT-25"])
class ResultsAreToldWhole(Model):
    """output_shardings say of results over a mesh that they lie whole on each device."""

    def result_shardings(self, lowered: Lowered) -> list[Sharding]:
        found = super().result_shardings(lowered)
        return [in_order_of_ids(it) if isinstance(it, NamedSharding) else it for it in found]


@fault("AOT-24")
class ShardsAreTold(Model):
    """out_info of a compiled program tells the shape of what each device holds."""

    def ready_infos(self, lowered: Lowered) -> list[ShapeDtypeStruct]:
        found = super().ready_infos(lowered)
        return [replace(it, shape=it.sharding.shard_shape(it.shape)) if it.sharding else it for it in found]


@fault("AOT-25")
class OneDeviceIsNotTold(Model):
    """out_info of a compiled program tells no sharding of results on one device."""

    def ready_infos(self, lowered: Lowered) -> list[ShapeDtypeStruct]:
        one = [len(lies.ordered) == 1 for lies in self.result_shardings(lowered)]
        found = super().ready_infos(lowered)
        return [replace(it, sharding=None) if alone else it for it, alone in zip(found, one, strict=True)]


# --- calls that do not fit --------------------------------------------------------------------------------------------

TAKEN = ("AOT-27", "AOT-28", "AOT-29")
"""What is broken beside a rule where an argument of another type is taken: nothing is told."""


class Refusing(Model):
    """A model that does something more when a compiled program refuses what its arguments are."""

    def call_compiled(self, compiled: CompiledJit, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        try:
            return super().call_compiled(compiled, args, kwargs)
        except TypeError:
            self.refused(compiled, args, kwargs)
            raise

    def refused(self, compiled: CompiledJit, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        raise NotImplementedError


@fault("AOT-26", also=TAKEN)
class UnusedAreOfAnyType(Model):
    """An argument that the program does not use may have any type."""

    def is_mistyped(self, call: Call, argument: Argument, given: Aval) -> bool:
        return call.uses(argument) and super().is_mistyped(call, argument, given)


@fault("AOT-27")
class ShapesAreValues(Model):
    """An argument of another shape is refused with a ValueError."""

    def mistyped(self, name: str, argument: Argument, given: Aval) -> Exception:
        error = super().mistyped(name, argument, given)
        return ValueError(str(error)) if given.shape != argument.aval.shape else error


@fault("AOT-28")
class LeavesAreNotNamed(Model):
    """Of an argument that is a pytree, the refusal does not say which array has another type."""

    def word_argument_mistyped(self, argument: Argument) -> str:
        return super().word_argument_mistyped(replace(argument, name=argument.name.partition("[")[0]))


# An exported program is refused in the same words.
@fault("AOT-29", also=["AOT-87"])
class OneTypeTwice(Model):
    """The refusal shows twice the type that the program was compiled for."""

    def mistyped(self, name: str, argument: Argument, given: Aval) -> Exception:
        return super().mistyped(name, argument, argument.aval)


@fault("AOT-30", also=["AOT-31", "AOT-32"])
class ListsAreTuples(Model):
    """A compiled program takes a list where it was compiled for a tuple."""

    def is_misshapen(self, built: trees.Tree, given: trees.Tree) -> bool:
        return super().is_misshapen(built, as_tuples(given))


def as_tuples(tree: trees.Tree) -> trees.Tree:
    """The structure with tuples in the place of lists."""
    kind = tuple if tree.kind is list else tree.kind
    return trees.Tree(kind, tree.keys, tuple(map(as_tuples, tree.children)))


@fault("AOT-31")
class CountsAreValues(Model):
    """Too few or too many arguments are refused with a ValueError."""

    def misshapen(self, name: str, built: trees.Tree, given: trees.Tree) -> Exception:
        error = super().misshapen(name, built, given)
        return ValueError(str(error)) if built.leaves != given.leaves else error


# An exported program is refused in the same words.
@fault("AOT-32", also=["AOT-87"])
class StructuresAreCounted(Model):
    """The refusal of arguments of another structure says how many arrays there are."""

    def misshapen(self, name: str, built: trees.Tree, given: trees.Tree) -> Exception:
        return TypeError(f"{name} was compiled for {built.leaves} arrays, and is called with {given.leaves}")


@fault("AOT-33")
class TextIsAValue(Model):
    """Text in the place of an array is refused with a ValueError."""

    def given_aval(self, name: str, argument: Argument, value: Any) -> Aval:
        try:
            return super().given_aval(name, argument, value)
        except TypeError as error:
            raise (ValueError if isinstance(value, str) else TypeError)(str(error)) from None


@fault("AOT-34")
class StrangersAreNotDescribed(Model):
    """The refusal of what is no array says no more than that."""

    def given_aval(self, name: str, argument: Argument, value: Any) -> Aval:
        try:
            return super().given_aval(name, argument, value)
        except TypeError:
            raise TypeError(f"argument {argument.name} of {name} is no array") from None


@fault("AOT-35")
class DeletedIsAValue(Ahead):
    """A compiled program refuses a deleted array with a ValueError."""

    def check_alive(self, call: Call) -> None:
        try:
            super().check_alive(call)
        except RuntimeError as error:
            raise (ValueError if self.ahead else RuntimeError)(str(error)) from None


@fault("AOT-36")
class RefusalTakesWhatIsDonated(Refusing):
    """What a call was to donate is gone when it is refused for what its arguments are."""

    def refused(self, compiled: CompiledJit, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        if any(it.donated for it in compiled.lowered.call.arguments):
            for x in trees.leaves((args, kwargs)):
                if isinstance(x, Array):
                    self.release(x)


@fault("AOT-37")
class StructuresAreLoweredFirst(Model):
    """Arguments of another structure are lowered for before it turns out that they do not fit."""

    def misshapen(self, name: str, built: trees.Tree, given: trees.Tree) -> Exception:
        self.counts["lower"] += 1
        return super().misshapen(name, built, given)


class Spoilt(Refusing):
    """A model in which a refusal leaves its compiled program spoilt: from then on its values are zero."""

    def spoils(self, args: Sequence[Any], kwargs: dict[str, Any]) -> bool:
        raise NotImplementedError

    def refused(self, compiled: CompiledJit, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        if self.spoils(args, kwargs):
            vars(compiled)["spoilt"] = True

    def call_compiled(self, compiled: CompiledJit, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        found = super().call_compiled(compiled, args, kwargs)
        if "spoilt" in vars(compiled):
            return trees.map(lambda x: self.device_put(np.zeros_like(self.value(x)), x.sharding), found)
        return found


@fault("AOT-38")
class RefusedCallsSpoil(Spoilt):
    """A compiled program gives zeros once it has refused arrays."""

    def spoils(self, args: Sequence[Any], kwargs: dict[str, Any]) -> bool:
        return not within_trace(args, kwargs)


def within_trace(args: Sequence[Any], kwargs: dict[str, Any]) -> bool:
    """Whether a call is one of a function that is traced."""
    return any(isinstance(x, Tracer) for x in trees.leaves((tuple(args), kwargs)))


# --- calls that fit in other words ------------------------------------------------------------------------------------


@fault("AOT-39")
class WeakTypesAreValues(Model):
    """A value of another weak type is refused with a ValueError."""

    def is_mistyped(self, call: Call, argument: Argument, given: Aval) -> bool:
        found = super().is_mistyped(call, argument, given)
        if not found and given.weak_type != argument.aval.weak_type:
            raise ValueError(f"argument {argument.name} is weak in one of both")
        return found


@fault("AOT-40")
class WidthsAreCompared(Model):
    """NumPy's values of 64 bits a number are taken as they are, and do not fit."""

    def given_aval(self, name: str, argument: Argument, value: Any) -> Aval:
        found = super().given_aval(name, argument, value)
        return replace(found, dtype=value.dtype) if isinstance(value, np.ndarray | np.generic) else found


@fault("AOT-41")
class StridesAreCompiledFor(Model):
    """NumPy's values whose elements do not lie side by side are brought together by a program of their own."""

    def hand_over(self, argument: Argument, built: Sharding) -> np.ndarray:
        value = argument.value
        self.counts["compile"] += isinstance(value, np.ndarray) and not value.flags.c_contiguous
        return super().hand_over(argument, built)


# --- calls within something else --------------------------------------------------------------------------------------


@fault("AOT-42", also=["AOT-43"])
class EvalShapeLooksWithin(Model):
    """A compiled program within eval_shape gives the shapes of its results."""

    looking = False

    def eval_shape(self, fun: Any, *args: Any, **kwargs: Any) -> Any:
        self.looking = True
        try:
            return super().eval_shape(fun, *args, **kwargs)
        finally:
            self.looking = False

    def call_compiled(self, compiled: CompiledJit, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        if self.looking:
            program = compiled.lowered.call.program
            return program.result([np.zeros(it.shape, it.dtype) for it in program.avals])
        return super().call_compiled(compiled, args, kwargs)


@fault("AOT-43")
class TracersAreNoArrays(Model):
    """The refusal of a compiled program within a traced function says that a tracer is no array."""

    def compiled_within(self, name: str, met: Tracer) -> Exception:
        return TypeError(f"{name} takes arrays, and {met!r} is none")


@fault("AOT-44")
class TracedIsCompiledFirst(Model):
    """A compiled program within a traced function is compiled again before it is refused."""

    def compiled_within(self, name: str, met: Tracer) -> Exception:
        self.counts["compile"] += 1
        return super().compiled_within(name, met)


@fault("AOT-45")
class TracersSpoil(Spoilt):
    """A compiled program gives zeros once it was called in a traced function."""

    def spoils(self, args: Sequence[Any], kwargs: dict[str, Any]) -> bool:
        return within_trace(args, kwargs)


@fault("AOT-46")
class ContextsEmptyHostValues(Model):
    """Under set_mesh a compiled program takes NumPy's values for zeros."""

    def hand_over(self, argument: Argument, built: Sharding) -> np.ndarray:
        value = super().hand_over(argument, built)
        lost = self.mesh_that_places() is not None and isinstance(argument.value, np.ndarray)
        return np.zeros_like(value) if lost else value


@fault("AOT-47")
class ContextsPlaceResults(Model):
    """Under a mesh context the results of a compiled program lie whole on that mesh."""

    def call_compiled(self, compiled: CompiledJit, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        lowered, mesh = compiled.lowered, self.mesh_in_context()
        if mesh is not None:
            lowered = replace(lowered, outs=(replicated_over(mesh),) * len(lowered.outs))
        return super().call_compiled(replace(compiled, lowered=lowered), args, kwargs)


# --- what programs cost, and their texts ------------------------------------------------------------------------------


@fault("AOT-48", also=["AOT-50", "AOT-51"])
class BytesAreNotTold(Model):
    """cost_analysis tells flops alone."""

    def cost(self, call: Call) -> dict[str, float]:
        return {"flops": super().cost(call)["flops"]}


@fault("AOT-49")
class ProductsAreCountedOnce(Model):
    """The additions of a product of matrices are not counted."""

    def flops(self, equation: Equation) -> int:
        return super().flops(equation) // (2 if equation.name == "matmul" else 1)


@fault("AOT-50")
class ResultsAreNotWritten(Model):
    """What a program writes is not among the bytes that it accesses."""

    def cost(self, call: Call) -> dict[str, float]:
        found = super().cost(call)
        written = sum(size(it.shape, it.dtype) for it in call.program.avals)
        return {**found, "bytes accessed": found["bytes accessed"] - written}


@fault("AOT-51")
class CompiledCostsAreListed(Model):
    """cost_analysis of a compiled program is a list of one dict."""

    def compiled_cost(self, lowered: Lowered) -> Any:
        return [super().compiled_cost(lowered)]


@fault("AOT-52", also=["AOT-53"])
class ProductsAreLibraryCalls(Model):
    """A product of matrices becomes a call of a library, of whose flops a compiled program knows none."""

    def compiled_cost(self, lowered: Lowered) -> dict[str, float]:
        found = super().compiled_cost(lowered)
        called = any(it.name == "matmul" for it in lowered.call.program.equations)
        return {**found, "flops": 0.0} if called else found


@fault("AOT-53")
class CompiledCountsTwice(Model):
    """The flops of a program that is compiled for one device are those of a processor that does two at a time."""

    def compiled_cost(self, lowered: Lowered) -> dict[str, float]:
        found = super().compiled_cost(lowered)
        return {**found, "flops": found["flops"] / 2}


@fault("AOT-54")
class MemoryIsOfAllDevices(Model):
    """memory_analysis tells the bytes of the arguments on all devices together."""

    def memory_analysis(self, lowered: Lowered) -> CompiledMemoryStats:
        found = super().memory_analysis(lowered)
        count = len(self.devices_of(lowered.home))
        return replace(found, argument_size_in_bytes=found.argument_size_in_bytes * count)


@fault("AOT-55")
class CompiledTextsAreWhole(Model):
    """The text of a compiled program has the shapes of whole arrays."""

    def shards_of(self, lowered: Lowered) -> tuple[list[tuple[Any, Any]], list[tuple[Any, Any]]]:
        found = super().shards_of(lowered)
        call = lowered.call
        if not self.reading:
            return found
        avals = [call.arguments[at].aval for at in lowered.kept]
        return [(it.shape, it.dtype) for it in avals], [(it.shape, it.dtype) for it in call.program.avals]

    reading = False

    def compiled_text(self, lowered: Lowered) -> str:
        self.reading = True
        try:
            return super().compiled_text(lowered)
        finally:
            self.reading = False


@fault("AOT-56")
class ShardyReadsHlo(Model):
    """Where several devices run a program, its text is HLO unless StableHLO is asked for."""

    def text(self, lowered: Lowered, dialect: str | None) -> str:
        return super().text(lowered, dialect or ("hlo" if len(self.devices_of(lowered.home)) > 1 else None))


@fault("AOT-57")
class KeysStayKeys(Model):
    """Keys are declared as they are, in StableHLO too."""

    def stablehlo_text(self, lowered: Lowered) -> str:
        return super().stablehlo_text(lowered).replace("x2xui32", "x!key<fry>")


@fault("AOT-58")
class OnePartition(Model):
    """The StableHLO of every program says that it is for one device."""

    def stablehlo_text(self, lowered: Lowered) -> str:
        return re.sub(r"num_partitions = \d+", "num_partitions = 1", super().stablehlo_text(lowered))


class Read(Model):
    """A model whose modules are others than their texts."""

    def module(self, lowered: Lowered, dialect: str | None) -> str:
        text = self.text(lowered, dialect)
        return text if text.startswith("HloModule") == self.spared else f"{text}\n// by another way"

    spared = False


@fault("AOT-59", also=["AOT-56"])
class ModulesAreLoweredAnew(Read):
    """compiler_ir in StableHLO is another module than the one whose text is shown."""

    spared = True


@fault("AOT-60")
class HloHasNoEntry(Model):
    """The HLO of a program for several devices has no computation that it starts with."""

    def hlo_text(self, lowered: Lowered) -> str:
        found = super().hlo_text(lowered)
        return found.replace("ENTRY ", "") if len(self.devices_of(lowered.home)) > 1 else found


@fault("AOT-61")
class ConstraintsStayShardys(Model):
    """A sharding constraint is left in HLO as Shardy's operation."""

    def hlo_text(self, lowered: Lowered) -> str:
        found = super().hlo_text(lowered)
        constrained = any(it.name == "sharding_constraint" for it in lowered.call.program.equations)
        return f"{found}  c = sdy.sharding_constraint\n" if constrained else found


@fault("AOT-62")
class HloIsConvertedAnew(Read):
    """compiler_ir in HLO is another module than the one whose text is shown."""


@fault("AOT-63")
class HloIsCompiled(Model):
    """A program is compiled when its HLO is asked for."""

    def hlo_text(self, lowered: Lowered) -> str:
        self.counts["compile"] += 1
        return super().hlo_text(lowered)


@fault("AOT-64")
class DialectsAreLookedUp(Model):
    """A dialect that there is not ends in a KeyError."""

    def unknown_dialect(self, dialect: str) -> Exception:
        return KeyError(dialect)


@fault("AOT-65")
class LocationsHaveNoNames(Model):
    """Locations do not have the names of arguments."""

    def located(self, call: Call, text: str) -> str:
        return f"#loc = loc(unknown)\n{text}"


# --- what a program is lowered for ------------------------------------------------------------------------------------


def stands(argument: Argument) -> bool:
    """Whether an argument only stands for an array."""
    return isinstance(argument.value, ShapeDtypeStruct)


@fault("AOT-66")
class StructsAreNotDeclared(Model):
    """The text of a program does not say how that is cut which only stands for an array."""

    def stablehlo_text(self, lowered: Lowered) -> str:
        call = lowered.call
        bare = [replace(it, committed=None) if stands(it) else it for it in call.arguments]
        return super().stablehlo_text(replace(lowered, call=replace(call, arguments=tuple(bare))))


@fault("AOT-67")
class StructsAreTakenWhole(Model):
    """What only stands for an array is told to be taken whole."""

    def argument_shardings(self, lowered: Lowered) -> list[Sharding]:
        found, home = super().argument_shardings(lowered), self.everywhere(lowered.home)
        return [home if stands(it) else lies for it, lies in zip(lowered.call.arguments, found, strict=True)]


@fault("AOT-68")
class StructsGiveWholeResults(Model):
    """The results of a program that is lowered for what stands for arrays lie whole."""

    def compile_ahead(self, lowered: LoweredJit, options: Mapping[str, Any]) -> CompiledJit:
        found = super().compile_ahead(lowered, options)
        if not any(map(stands, lowered.call.arguments)):
            return found
        home = self.everywhere(found.lowered.home)
        return replace(found, lowered=replace(found.lowered, outs=(home,) * len(found.lowered.outs)))


# --- a traced program -------------------------------------------------------------------------------------------------


@fault("AOT-69")
class TracingLowers(Model):
    """A function that is traced ahead of time is lowered at once."""

    def trace_jitted(self, jitted: Jitted, args: Sequence[Any], kwargs: dict[str, Any]) -> TracedJit:
        self.counts["lower"] += 1
        return super().trace_jitted(jitted, args, kwargs)


@fault("AOT-70")
class TracingKeepsEverything(Model):
    """A traced program says that it donates nothing."""

    def trace_jitted(self, jitted: Jitted, args: Sequence[Any], kwargs: dict[str, Any]) -> TracedJit:
        found = super().trace_jitted(jitted, args, kwargs)
        kept = tuple(replace(it, donated=False) for it in found.call.arguments)
        return Undonated(found.model, replace(found.call, arguments=kept), found.tree, found.call)


@dataclass(frozen=True, eq=False, repr=False)
class Undonated(TracedJit):
    """A traced program that is lowered for another call than it tells of."""

    meant: Call

    def lower(self) -> LoweredJit:
        return self.model.lower_ahead(self.meant, self.tree)


@fault("AOT-71")
class TracedOutShardingsAreLost(Model):
    """A traced program is lowered without its out_shardings."""

    def trace_jitted(self, jitted: Jitted, args: Sequence[Any], kwargs: dict[str, Any]) -> TracedJit:
        found = super().trace_jitted(jitted, args, kwargs)
        return Undonated(found.model, found.call, found.tree, replace(found.call, outs=(None,) * len(found.call.outs)))


# --- options of the compiler ------------------------------------------------------------------------------------------


@fault("AOT-72")
class OptimizedResultsAreWhole(Model):
    """Where a level of optimisation is asked for, results lie whole."""

    def compile_ahead(self, lowered: LoweredJit, options: Mapping[str, Any]) -> CompiledJit:
        found = super().compile_ahead(lowered, options)
        if "xla_backend_optimization_level" not in options:
            return found
        home = self.everywhere(found.lowered.home)
        return replace(found, lowered=replace(found.lowered, outs=(home,) * len(found.lowered.outs)))


@fault("AOT-73", also=["AOT-74"])
class UnknownOptionsAreDropped(Model):
    """Options that the compiler does not have are dropped."""

    def check_option(self, name: str, value: Any) -> None:
        if name in OPTIONS:
            super().check_option(name, value)


@fault("AOT-74")
class OptionsAreNotNamed(Model):
    """The refusal of a value does not say of which option it is."""

    def check_option(self, name: str, value: Any) -> None:
        if name in OPTIONS and not isinstance(value, OPTIONS[name]):
            raise RuntimeError(f"{value!r} is no value of this option")
        super().check_option(name, value)


@fault("AOT-75")
class RefusedOptionsTakeArguments(Model):
    """The arrays that a program was lowered for are gone once an option was refused."""

    def compile_ahead(self, lowered: LoweredJit, options: Mapping[str, Any]) -> CompiledJit:
        try:
            return super().compile_ahead(lowered, options)
        except RuntimeError:
            for it in lowered.call.arguments:
                self.release(it.value)
            raise


# --- exported programs ------------------------------------------------------------------------------------------------


@fault("AOT-76")
class FirstScalarIsFrozen(Model):
    """Python's numbers that an exported program is called with count as zero."""

    def call_exported(self, exported: Exported, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        args = [type(it)(0) if isinstance(it, float) else it for it in args]
        return super().call_exported(exported, args, kwargs)


# Results on other devices are not equivalent to those of the function there.
@fault("AOT-77", also=["AOT-78"])
class ResultsComeHome(Model):
    """The results of an exported program that is called on other devices are brought to the first ones."""

    def call_exported(self, exported: Exported, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        found = super().call_exported(exported, args, kwargs)
        return trees.map(lambda x: self.device_put(x, in_order_of_ids_from_zero(self, x.sharding)), found)


def in_order_of_ids_from_zero(model: Model, sharding: Sharding) -> Sharding:
    """The same on as many of the first devices, where it lies apart from them."""
    first = model.devices()[: len(sharding.ordered)]
    if not isinstance(sharding, NamedSharding) or sharding.device_set & set(first):
        return sharding
    mesh = Mesh(np.array(first, dtype=object).reshape(sharding.mesh.axis_sizes), sharding.mesh.axis_names)
    return NamedSharding(mesh, sharding.spec)


@fault("AOT-78")
class ExportedResultsAreWhole(Model):
    """The results of an exported program lie whole on each device."""

    def call_exported(self, exported: Exported, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        found = super().call_exported(exported, args, kwargs)
        return trees.map(
            lambda x: self.device_put(x, replicated_over(x.sharding.mesh)) if len(x.buffers) > 1 else x, found
        )


@fault("AOT-79")
class ExportedTuplesAreLists(Model):
    """The structure of results is lost in a file: dicts come back as lists."""

    def call_exported(self, exported: Exported, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        found = super().call_exported(exported, args, kwargs)
        return list(found.values()) if isinstance(found, dict) else found


@fault("AOT-80")
class NamesAreNotWritten(Model):
    """An exported program tells the structure of its arguments by position alone."""

    def deserialize(self, blob: bytes | bytearray) -> Exported:
        return told_by_position(super().deserialize(blob))

    def export(self, fun_jit: Any, *, platforms: Sequence[str] | None = None) -> Callable[..., Exported]:
        found = super().export(fun_jit, platforms=platforms)
        return lambda *args, **kwargs: told_by_position(found(*args, **kwargs))


@dataclass(frozen=True, eq=False, repr=False)
class ByPosition(Exported):
    """An exported program that tells less than it knows."""

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        return found.children[0] if name == "in_tree" and "asked" not in vars(self) else found

    def call(self, *args: Any, **kwargs: Any) -> Any:
        vars(self)["asked"] = True
        return super().call(*args, **kwargs)

    def serialize(self) -> bytearray:
        parts = {name: value for name, value in vars(self).items() if name != "asked"}
        return self.model.as_bytes(Exported(**parts))


def told_by_position(exported: Exported) -> Exported:
    """The program that tells the structure of its arguments by position alone."""
    return ByPosition(**vars(exported))


@fault("AOT-81")
class ModulesAreNotWritten(Model):
    """The text of a module is not written down."""

    def as_bytes(self, exported: Exported) -> bytearray:
        return super().as_bytes(replace(exported, text=""))


@fault("AOT-82")
class DevicesAreNotCounted(Model):
    """An exported program that has been read back says that it is for one device."""

    def deserialize(self, blob: bytes | bytearray) -> Exported:
        found = super().deserialize(blob)
        return OneDevice(**vars(found)) if found.nr_devices > 1 else found


@dataclass(frozen=True, eq=False, repr=False)
class OneDevice(Exported):
    """An exported program that says that it is for one device until it is called."""

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        return 1 if name == "nr_devices" and "asked" not in vars(self) else found

    def call(self, *args: Any, **kwargs: Any) -> Any:
        vars(self)["asked"] = True
        return super().call(*args, **kwargs)


@fault("AOT-83")
class WritingCompiles(Model):
    """An exported program is compiled when it is written down."""

    def as_bytes(self, exported: Exported) -> bytearray:
        self.counts["compile"] += 1
        return super().as_bytes(exported)


@fault("AOT-84")
class ExportedTakesNames(Model):
    """An exported program deletes the arrays that it is given by name."""

    def call_exported(self, exported: Exported, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        found = super().call_exported(exported, args, kwargs)
        for x in trees.leaves(kwargs):
            self.release(x)
        return found


@fault("AOT-85", also=["AOT-88"])
class FewerDevicesRun(Model):
    """An exported program runs on fewer devices than it is for."""

    def check_runs_there(self, exported: Exported, call: Call) -> None:
        if len(self.devices_of(self.agree(call))) >= exported.nr_devices:
            super().check_runs_there(exported, call)


@fault("AOT-86")
class PlatformIsWanted(Model):
    """The refusal of another platform names the one that the program is for alone."""

    def other_platform(self, exported: Exported, platform: str) -> Exception:
        return ValueError(f"{exported.fun_name} is for {', '.join(exported.platforms)}")


@fault("AOT-87", also=["AOT-88"])
class ExportedTakesAnyShape(Model):
    """An exported program takes arguments of another shape, as far as its operations go."""

    def is_mistyped_there(self, call: Call, argument: Argument, given: Aval) -> bool:
        return bool(given.dtype != argument.aval.dtype)


@fault("AOT-88")
class ExportedCompilesFirst(Model):
    """An exported program is compiled before the devices are counted that it is called on."""

    def other_number(self, exported: Exported, number: int) -> Exception:
        self.counts["compile"] += 1
        return super().other_number(exported, number)
