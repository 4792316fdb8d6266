"""Faults of what is done ahead of time, in the order of its chapter: each takes one step of the model wrongly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from impl.model import trees
from impl.model.agreement import Argument, Call, Side, replicated_over
from impl.model.arrays import Array
from impl.model.avals import Aval, ShapeDtypeStruct
from impl.model.infos import ArgInfo
from impl.model.jit import CompiledJit, Jitted, LoweredJit
from impl.model.keys import KEY, NUMBERS
from impl.model.model import Model
from impl.model.programs import Tracer
from impl.model.running import Lowered
from impl.model.shardings import NamedSharding, Sharding, SingleDeviceSharding

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
    """Deletes the arrays that a program is to be given for good."""
    for argument in call.arguments:
        if argument.donated and isinstance(argument.value, Array):
            model.release(argument.value)


# --- a compiled program agrees with the jitted function ---------------------------------------------------------------


@fault("AOT-01", also=["AOT-06"])
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


@fault("AOT-07")
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


@fault("AOT-10")
class OutShardingsAreTriedOut(Model):
    """A program with out_shardings is compiled already when it is lowered."""

    def lower_jitted(self, jitted: Jitted, args: Sequence[Any], kwargs: dict[str, Any]) -> LoweredJit:
        found = super().lower_jitted(jitted, args, kwargs)
        self.counts["compile"] += any(found.lowered.call.outs)
        return found


# What is gone when it is lowered is still gone when it is compiled.
@fault("AOT-11", also=["AOT-12"])
class LoweringDonates(Model):
    """The arrays that a program is to be given for good are gone when it is lowered."""

    def lower_jitted(self, jitted: Jitted, args: Sequence[Any], kwargs: dict[str, Any]) -> LoweredJit:
        found = super().lower_jitted(jitted, args, kwargs)
        release_donated(self, found.lowered.call)
        return found


@fault("AOT-12")
class CompilingDonates(Model):
    """The arrays that a program is to be given for good are gone when it is compiled."""

    def compile_ahead(self, lowered: LoweredJit) -> CompiledJit:
        found = super().compile_ahead(lowered)
        release_donated(self, lowered.lowered.call)
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


@fault("AOT-29")
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


@fault("AOT-32")
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
