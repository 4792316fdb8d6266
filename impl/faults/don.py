"""Faults of donation in jit, in the order of its chapter: each takes one step of the model wrongly.

What `also` names beside a rule: a donation that a program forgets is in none of the texts either (DON-32 to DON-34,
DON-38); what a program deletes or keeps against its own module disagrees with it (DON-35).
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary, WeakValueDictionary

import numpy as np

from impl.model.agreement import Argument, Call, Side
from impl.model.arrays import Array
from impl.model.avals import Aval
from impl.model.binding import Bound, Parameters
from impl.model.buffers import Buffer
from impl.model.contexts import tracing_now
from impl.model.jit import CompiledJit, CompiledMemoryStats, Jitted, LoweredJit
from impl.model.model import Model
from impl.model.programs import Equation
from impl.model.running import Lowered
from impl.model.shardings import NamedSharding, Sharding

from . import fault
from .put import Tearing

# --- what several faults need -----------------------------------------------------------------------------------------

TEXTS = ("DON-32", "DON-33", "DON-34", "DON-38")
"""What says that a program donates."""


def held(call: Call) -> list[Argument]:
    """The arguments that are arrays."""
    return [it for it in call.arguments if isinstance(it.value, Array)]


def used(lowered: Lowered) -> list[Argument]:
    """The arguments whose memory results take."""
    return [lowered.call.arguments[at] for at in lowered.aliases.values()]


class AfterRunning(Model):
    """A model that does something more with the arguments of a program that has run."""

    def execute(self, lowered: Lowered, values: Sequence[np.ndarray]) -> list[Array]:
        arrays = super().execute(lowered, values)
        for it in self.lost(lowered):
            self.release(it.value)
        return arrays

    def lost(self, lowered: Lowered) -> list[Argument]:
        """The arguments that are deleted beside those that should be."""
        raise NotImplementedError


class Counting(Model):
    """A model that counts the calls of each jitted function."""

    @cached_property
    def calls(self) -> WeakKeyDictionary[Jitted, Counter[str]]:
        return WeakKeyDictionary()

    now: tuple[Jitted | None, int] = (None, 0)
    before: Jitted | None = None

    def call_jitted(self, jitted: Jitted, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        counted = self.calls.setdefault(jitted, Counter())
        counted["call"] += 1
        self.now, outer = (jitted, counted["call"]), self.now
        try:
            return super().call_jitted(jitted, args, kwargs)
        finally:
            self.now, self.before = outer, jitted


# --- what a result can take the place of ------------------------------------------------------------------------------


# Of two positions the second is not donated: nor is that told.
@fault("DON-01", also=["DON-25", *TEXTS])
class FirstPositionDonates(Model):
    """Of several positions only the first is donated."""

    def meant_to_donate(self, has: Parameters, name: str, numbers: Any, names: Any) -> frozenset[str]:
        return super().meant_to_donate(has, name, numbers[:1] if isinstance(numbers, tuple) else numbers, names)


# What is not donated may be there twice.
@fault("DON-02", also=["DON-06", "DON-41", "DON-42", "DON-43"])
class KeywordsKeepTheirs(Model):
    """What is passed by name to a call is not donated."""

    def call_jitted(self, jitted: Jitted, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        if kwargs:
            jitted = Jitted(self, jitted.f, replace(jitted.options, donated=frozenset()))
        return super().call_jitted(jitted, args, kwargs)


# A compiled object's pytree is one, and so are the arrays of all dtypes.
@fault("DON-03", also=["DON-04", "DON-08", *TEXTS])
class FirstLeafDonates(Model):
    """Of a donated pytree only the first array is."""

    def taken_apart(self, jitted: Jitted, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[Call, Bound]:
        call, bound = super().taken_apart(jitted, args, kwargs)
        heads = [it.name.partition("[")[0] for it in call.arguments]
        arguments = [
            replace(it, donated=it.donated and head not in heads[:number])
            for number, (it, head) in enumerate(zip(call.arguments, heads, strict=True))
        ]
        return replace(call, arguments=tuple(arguments)), bound


# Its module says otherwise, and its results lie elsewhere.
@fault("DON-04", also=["DON-03", "DON-15", "DON-34", "DON-35"])
class CompiledObjectsKeepArguments(Model):
    """A compiled object donates nothing when it is called."""

    def call_compiled(self, compiled: CompiledJit, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        return super().call_compiled(replace(compiled, lowered=replace(compiled.lowered, aliases={})), args, kwargs)


# What they lay out anew stays, and is not told.
@fault("DON-05", also=["DON-28"])
class InShardingsKeepArguments(Model):
    """What in_shardings name is not donated."""

    def donations(self, lowered: Lowered) -> tuple[dict[int, int], list[Argument]]:
        found, unusable = super().donations(lowered)
        wanted = [number for number, at in found.items() if lowered.call.arguments[at].wanted is not None]
        return {number: at for number, at in found.items() if number not in wanted}, unusable


# A static argument that is to be donated is not refused either.
@fault("DON-06", also=["DON-69"])
class PositionsWithoutStaticOnes(Model):
    """Where an argument is static, positions are counted without it, and mean none."""

    def jit(
        self, fun: Callable[..., Any], *, static_argnums: Any = (), donate_argnums: Any = (), **options: Any
    ) -> Any:
        donated = () if static_argnums != () else donate_argnums
        return super().jit(fun, static_argnums=static_argnums, donate_argnums=donated, **options)


@fault("DON-07")
class UnusedArgumentsStay(Model):
    """What the function does not use is not donated."""

    def donations(self, lowered: Lowered) -> tuple[dict[int, int], list[Argument]]:
        found, unusable = super().donations(lowered)
        call = lowered.call
        return {number: at for number, at in found.items() if call.uses(call.arguments[at])}, unusable


@fault("DON-08")
class BooleansStay(Model):
    """An array of booleans is like no result."""

    def fits_into(self, aval: Aval, lies: Sharding, result: Aval, out: Sharding) -> bool:
        return aval.dtype != bool and super().fits_into(aval, lies, result, out)


# A chain of steps over such an array is one of them.
@fault("DON-09", also=["DON-01", "DON-15"])
class ColumnsStay(Model):
    """An array that is cut along its second dimension alone is not deleted."""

    def give_up(self, argument: Argument) -> None:
        lies = argument.value.sharding if isinstance(argument.value, Array) else None
        if not (isinstance(lies, NamedSharding) and tuple(lies.spec)[:1] == (None,)):
            super().give_up(argument)


# So is the last of a chain of them.
@fault("DON-10", also=["DON-14"])
class TurnedInPlace(Model):
    """What is cut as none_x is written into the memory of its argument as if it were cut as x."""

    def deliver(
        self, value: np.ndarray, aval: Aval, sharding: Sharding, committed: bool, reuse: Sequence[Buffer]
    ) -> Array:
        turned = reuse and isinstance(sharding, NamedSharding) and tuple(sharding.spec) == (None, "x")
        return super().deliver(value.T if turned else value, aval, sharding, committed, reuse)


@fault("DON-11")
class ScalarsAreNotWritten(Model):
    """A result without dimensions is what lay in the memory that it is given."""

    def deliver(
        self, value: np.ndarray, aval: Aval, sharding: Sharding, committed: bool, reuse: Sequence[Buffer]
    ) -> Array:
        stale = np.array(reuse[0].data) if reuse and not aval.shape else value
        return super().deliver(stale, aval, sharding, committed, reuse)


# So does the other array where one is committed, and what a module does not say is gone.
@fault("DON-12", also=["DON-30", "DON-31", "DON-35"])
class BystandersGoToo(AfterRunning):
    """Where an argument is donated, the others are deleted with it."""

    def lost(self, lowered: Lowered) -> list[Argument]:
        return [it for it in held(lowered.call) if not it.donated] if lowered.aliases else []


@fault("DON-13")
class SecondDonationIsDoubted(Model):
    """Of two donations that are used, one is told as unusable."""

    def donations(self, lowered: Lowered) -> tuple[dict[int, int], list[Argument]]:
        found, unusable = super().donations(lowered)
        return found, unusable + [lowered.call.arguments[at] for at in [*found.values()][1:]]


@fault("DON-14")
class FifthStepIsStale(Counting):
    """The fifth call of a program finds the memory that it writes to still being read."""

    def deliver(
        self, value: np.ndarray, aval: Aval, sharding: Sharding, committed: bool, reuse: Sequence[Buffer]
    ) -> Array:
        return super().deliver(value * 0 if self.now[1] == 5 else value, aval, sharding, committed, reuse)


@fault("DON-15")
class FourthStepKeeps(Counting):
    """The fourth call of a program deletes nothing."""

    def give_up(self, argument: Argument) -> None:
        if self.now[1] != 4:
            super().give_up(argument)


@fault("DON-16")
class TurnsKeep(Counting):
    """A program that is called again after another one deletes nothing."""

    def give_up(self, argument: Argument) -> None:
        jitted, call = self.now
        if call < 2 or jitted is self.before:
            super().give_up(argument)


# --- what no result can take the place of -----------------------------------------------------------------------------


# There is nothing left to call it with again, or later.
@fault("DON-17", also=["DON-18", "DON-22"])
class OtherDtypesTake(AfterRunning):
    """A donated array with a result of its shape in another dtype is deleted."""

    def lost(self, lowered: Lowered) -> list[Argument]:
        avals = lowered.call.program.avals
        return [
            it
            for it in held(lowered.call)
            if it.donated and any(it.aval.shape == aval.shape and it.aval.dtype != aval.dtype for aval in avals)
        ]


@fault("DON-18")
class SumsInVain(Model):
    """Where no result takes a donation, a result without dimensions is lost with it."""

    def execute(self, lowered: Lowered, values: Sequence[np.ndarray]) -> list[Array]:
        arrays = super().execute(lowered, values)
        if any(it.donated for it in lowered.call.arguments) and not lowered.aliases:
            for array in arrays:
                if not array.shape:
                    array.buffers[0].data[...] = 0
        return arrays


@fault("DON-19", also=["DON-21", "DON-39"])
class SumsAreNotTold(Model):
    """That a donation cannot be used is not told where all results are without dimensions."""

    def tell_unusable(self, call: Call, unusable: Sequence[Argument]) -> None:
        if any(aval.shape for aval in call.program.avals) or not call.program.avals:
            super().tell_unusable(call, unusable)


@fault("DON-20")
class NoBufferIsNamed(Model):
    """That donations cannot be used is told without saying which."""

    def tell_unusable(self, call: Call, unusable: Sequence[Argument]) -> None:
        warnings.warn(f"Some donated buffers of {call.program.name} were not usable.", stacklevel=2)


@fault("DON-21", also=["DON-39"])
class ToldTwice(Model):
    """That donations cannot be used is told twice when the program is lowered."""

    def tell_unusable(self, call: Call, unusable: Sequence[Argument]) -> None:
        super().tell_unusable(call, unusable)
        super().tell_unusable(call, unusable)


@fault("DON-22")
class OfferedIsLost(Model):
    """An array that was donated in vain reads as zero in a later call that does not donate it."""

    @cached_property
    def offered(self) -> WeakValueDictionary[int, Array]:
        return WeakValueDictionary()

    def feed(self, argument: Argument, home: Side | None) -> np.ndarray:
        value = super().feed(argument, home)
        if not isinstance(argument.value, Array):
            return value
        if argument.donated:
            self.offered[id(argument.value)] = argument.value
        return value * 0 if id(argument.value) in self.offered and not argument.donated else value


@fault("DON-23")
class AllOrNone(AfterRunning):
    """Where one donated array has a result to go to, all of them are deleted."""

    def lost(self, lowered: Lowered) -> list[Argument]:
        return [it for it in held(lowered.call) if it.donated] if lowered.aliases else []


# So is the result of one that is committed and one that is not, and of two over one memory, both donated.
@fault("DON-24", also=["DON-29", "DON-46"])
class OneForTwo(Model):
    """A result that takes the place of one of two donated arrays is zero."""

    def execute(self, lowered: Lowered, values: Sequence[np.ndarray]) -> list[Array]:
        arrays = super().execute(lowered, values)
        if 0 < len(lowered.aliases) < sum(it.donated for it in lowered.call.arguments):
            for buffer in arrays[0].buffers:
                buffer.data[...] = 0
        return arrays


@fault("DON-25")
class PartIsEnough(Model):
    """That donations cannot be used is told only where none can."""

    def tell_unusable(self, call: Call, unusable: Sequence[Argument]) -> None:
        if len(unusable) == sum(it.donated for it in call.arguments):
            super().tell_unusable(call, unusable)


# --- what a result can perhaps take the place of ----------------------------------------------------------------------


# What fails deletes nothing, and tells nothing.
@fault("DON-26", also=["DON-28"])
class LaidOutIsNotDonated(Model):
    """To donate an array that in_shardings place is an internal error."""

    def feed(self, argument: Argument, home: Side | None) -> np.ndarray:
        if argument.donated and argument.committed is None and argument.wanted is not None:
            raise RuntimeError("INTERNAL: a donated buffer is of another size than its parameter")
        return super().feed(argument, home)


@fault("DON-27", also=["DON-28"])
class LaidOutIsWrittenOver(Model):
    """A donated array that in_shardings place is written over and stays."""

    def give_up(self, argument: Argument) -> None:
        if isinstance(argument.value, Array) and argument.committed is None and argument.wanted is not None:
            for buffer in argument.value.buffers:
                buffer.data[...] = 0
        else:
            super().give_up(argument)


@fault("DON-28")
class AsManyBytesAreNotTold(Model):
    """That a donation cannot be used is not told where a result has as many elements in another form."""

    def tell_unusable(self, call: Call, unusable: Sequence[Argument]) -> None:
        sizes = {(np.prod(aval.shape), aval.shape) for aval in call.program.avals}
        if not any(
            np.prod(it.aval.shape) == size and it.aval.shape != shape for it in unusable for size, shape in sizes
        ):
            super().tell_unusable(call, unusable)


@fault("DON-29")
class LooseBesideOutShardings(Model):
    """To donate an uncommitted array alone, beside a committed one, with out_shardings is an internal error."""

    def lower(self, call: Call, home: Side | None) -> Lowered:
        donated = [it for it in call.arguments if it.donated]
        beside = any(it.committed is not None for it in call.arguments)
        if beside and donated and all(it.committed is None for it in donated) and call.outs[0] is not None:
            raise RuntimeError("INTERNAL: an aliased input and an output have different sizes")
        return super().lower(call, home)


@fault("DON-30")
class CommittedGoesForTheOther(AfterRunning):
    """Where an uncommitted array is donated, the committed ones beside it are deleted as well."""

    def lost(self, lowered: Lowered) -> list[Argument]:
        loose = any(it.committed is None for it in used(lowered))
        return [it for it in held(lowered.call) if it.committed is not None] if loose else []


@fault("DON-31")
class LooseGoesWithTheOther(AfterRunning):
    """Where a committed array is donated, the uncommitted ones beside it are deleted as well."""

    def lost(self, lowered: Lowered) -> list[Argument]:
        bound = any(it.committed is not None for it in used(lowered))
        return [it for it in held(lowered.call) if it.committed is None] if bound else []


# --- what the compiled module says ------------------------------------------------------------------------------------


@fault("DON-32")
class ParametersByPosition(Model):
    """The compiled module numbers parameters as the function's arguments, also where it has not kept all."""

    def compiled_text(self, lowered: Lowered) -> str:
        text = super().compiled_text(lowered)
        for number, at in reversed(list(enumerate(lowered.kept))):
            text = text.replace(f": ({number}, ", f": ({at}, ")
        return text


@fault("DON-33", also=["DON-35"])
class BytesOfAllDevices(Model):
    """The memory analysis counts the bytes that are shared on all devices together."""

    def memory_analysis(self, lowered: Lowered) -> CompiledMemoryStats:
        told = super().memory_analysis(lowered)
        devices = len(lowered.ins[0].ordered)
        return replace(told, alias_size_in_bytes=told.alias_size_in_bytes * devices)


@fault("DON-34")
class ReplicasOnFreshMemory(Model):
    """A result in replicas is written to memory of its own, whatever its module says."""

    def memory_for(self, lowered: Lowered, result: int) -> Sequence[Buffer]:
        out = lowered.outs[result]
        whole = isinstance(out, NamedSharding) and out.is_fully_replicated
        return () if whole else super().memory_for(lowered, result)


@fault("DON-35", also=["DON-34"])
class KeptBesideSum(Model):
    """An argument whose memory a result takes beside another one without dimensions is not deleted."""

    def execute(self, lowered: Lowered, values: Sequence[np.ndarray]) -> list[Array]:
        shapes = [aval.shape for aval in lowered.call.program.avals]
        if len(shapes) == 2 and () in shapes:
            lowered = replace(lowered, aliases={})
        return super().execute(lowered, values)


@fault("DON-36", also=["DON-35"])
class EveryDonationIsAnAlias(Model):
    """The compiled module aliases what is donated with the first result, whether or not that is like it."""

    def compiled_text(self, lowered: Lowered) -> str:
        donated = [at for at in lowered.kept if lowered.call.arguments[at].donated]
        aliases: Mapping[int, int] = lowered.aliases or ({0: donated[0]} if donated else {})
        return super().compiled_text(replace(lowered, aliases=aliases))


@fault("DON-37")
class CompiledObjectsWriteInPlace(Model):
    """The result of a compiled object that donates nothing is written into its argument."""

    ahead = False

    def call_compiled(self, compiled: CompiledJit, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        self.ahead = not any(it.donated for it in compiled.lowered.call.arguments)
        try:
            return super().call_compiled(compiled, args, kwargs)
        finally:
            self.ahead = False

    def memory_for(self, lowered: Lowered, result: int) -> Sequence[Buffer]:
        first = lowered.call.arguments[0].value
        return first.buffers if self.ahead and isinstance(first, Array) else super().memory_for(lowered, result)


@fault("DON-38")
class SecondIsNotDeclared(Model):
    """The lowered module declares donations to the first result alone."""

    def declared_donated(self, lowered: Lowered, argument: int, devices: int) -> dict[str, Any]:
        return super().declared_donated(lowered, argument, devices) if lowered.aliases.get(0) == argument else {}


@fault("DON-39")
class LoweredInSilence(Model):
    """Nothing is told of donations while a program is lowered ahead of time."""

    def lower_jitted(self, jitted: Jitted, args: Sequence[Any], kwargs: dict[str, Any]) -> LoweredJit:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return super().lower_jitted(jitted, args, kwargs)


# --- positions --------------------------------------------------------------------------------------------------------


# Nor are those refused that are out of range.
@fault("DON-40", also=["DON-68", "DON-69"])
class NegativePositionsMeanNone(Model):
    """Negative positions are let pass, and donate nothing."""

    def meant_to_donate(self, has: Parameters, name: str, numbers: Any, names: Any) -> frozenset[str]:
        return super().meant_to_donate(has, name, () if isinstance(numbers, int) and numbers < 0 else numbers, names)


# --- an array that is there twice -------------------------------------------------------------------------------------


class Poisoned(Model):
    """A model in which something that happened shows in the next program that runs: its results are zero."""

    poison = False

    def execute(self, lowered: Lowered, values: Sequence[np.ndarray]) -> list[Array]:
        arrays, poisoned = super().execute(lowered, values), self.poison
        self.poison = False
        for array in arrays if poisoned else ():
            for buffer in array.buffers:
                buffer.data[...] = 0
        return arrays


class Spoiling(Model):
    """A model that remembers arrays which read as zero from now on in what is called with them."""

    @cached_property
    def spoilt(self) -> WeakValueDictionary[int, Array]:
        return WeakValueDictionary()

    def spoil(self, call: Call) -> None:
        for it in held(call):
            self.spoilt[id(it.value)] = it.value

    def feed(self, argument: Argument, home: Side | None) -> np.ndarray:
        value = super().feed(argument, home)
        return value * 0 if id(argument.value) in self.spoilt else value


def shared(model: Model, call: Call) -> bool:
    """Whether two arrays of a call are not the same one and lie over one memory."""
    arrays = {id(it.value): it.value for it in held(call) if not model.deleted(it.value)}
    starts = [{buffer.span[0] for buffer in x.buffers} for x in arrays.values()]
    return any(one & other for number, one in enumerate(starts) for other in starts[:number])


# What is not refused tells nothing, and takes the array.
@fault("DON-41", also=["DON-42", "DON-43", "DON-44", "DON-45"])
class KeptBesideDonated(Model):
    """An array that is donated may be there again, if it is kept there."""

    def check_donated_once_per_call(self, call: Call) -> None:
        if not any(it.donated is not other.donated for it in held(call) for other in held(call)):
            super().check_donated_once_per_call(call)


# So is an array beside its own shard.
@fault("DON-42", also=["DON-46"])
class TwiceForNoReason(Model):
    """That an array is donated and there twice is refused without the reason."""

    def check_donated_once_per_call(self, call: Call) -> None:
        try:
            super().check_donated_once_per_call(call)
        except RuntimeError as error:
            raise RuntimeError(str(error).partition(" are one array")[0] + " are one array") from None


@fault("DON-43")
class TwiceSomewhere(Model):
    """That an array is donated and there twice is told without saying where."""

    def check_donated_once_per_call(self, call: Call) -> None:
        try:
            super().check_donated_once_per_call(call)
        except RuntimeError:
            raise RuntimeError("an array that is donated can be there only once") from None


# There is nothing left for later; an array whose shards are other arrays goes the same way.
@fault("DON-44", also=["DON-45", "DON-46"])
class RefusedTwiceAndTaken(Model):
    """An array that is donated and there twice is deleted when the call is refused."""

    def check_donated_once_per_call(self, call: Call) -> None:
        try:
            super().check_donated_once_per_call(call)
        except RuntimeError:
            for it in held(call):
                self.release(it.value)
            raise


@fault("DON-45")
class RefusedTwiceAndLost(Spoiling):
    """An array that was donated and there twice reads as zero from then on."""

    def check_donated_once_per_call(self, call: Call) -> None:
        try:
            super().check_donated_once_per_call(call)
        except RuntimeError:
            self.spoil(call)
            raise


@fault("DON-46")
class OverlapAsserts(Model):
    """Two arrays over one memory in a call that donates end in an assertion."""

    def check_donated_once_per_call(self, call: Call) -> None:
        super().check_donated_once_per_call(call)
        if shared(self, call):
            raise AssertionError("buffers of a call overlap")


@fault("DON-47")
class OverlapSpoilsLater(Poisoned):
    """After a call that donates with two arrays over one memory, the next program gives zero."""

    def call(self, call: Call) -> list[Any]:
        overlaps = any(it.donated for it in call.arguments) and shared(self, call)
        try:
            return super().call(call)
        finally:
            self.poison = self.poison or overlaps


# --- an array that is used again --------------------------------------------------------------------------------------


@fault("DON-48")
class InvalidBuffer(Model):
    """A program that is given a deleted array says that a buffer is invalid."""

    def check_alive(self, call: Call) -> None:
        if not call.eager and any(self.deleted(it.value) for it in held(call)):
            raise ValueError("an invalid buffer was passed to the program")
        super().check_alive(call)


@fault("DON-49")
class WaitingAsserts(Model):
    """Waiting for a pytree with a deleted array in it ends in an assertion."""

    def block_until_ready(self, tree: Any) -> Any:
        if isinstance(tree, list) and any(self.deleted(x) for x in tree if isinstance(x, Array)):
            raise AssertionError("an array that is waited for has buffers")
        return super().block_until_ready(tree)


@fault("DON-50")
class DeletedOnce(Model):
    """To delete an array that is deleted is an error."""

    def release(self, x: Array) -> None:
        self.touch(x)
        super().release(x)


@fault("DON-51")
class DeletingTakesTheHeir(Model):
    """To delete a donated array overwrites the result that lies in its memory."""

    @cached_property
    def heirs(self) -> dict[int, tuple[Array, Array]]:
        return {}

    def execute(self, lowered: Lowered, values: Sequence[np.ndarray]) -> list[Array]:
        arrays = super().execute(lowered, values)
        for number, at in lowered.aliases.items():
            x = lowered.call.arguments[at].value
            if isinstance(x, Array):
                self.heirs[id(x)] = (x, arrays[number])
        return arrays

    def release(self, x: Array) -> None:
        if self.deleted(x) and id(x) in self.heirs:
            for buffer in self.heirs[id(x)][1].buffers:
                buffer.data[...] = 0
        super().release(x)


# A call with another argument that is deleted is refused likewise.
@fault("DON-52", also=["DON-67"])
class RefusalSpoilsLater(Poisoned):
    """After the refusal of a deleted array, the next program gives zero."""

    def check_alive(self, call: Call) -> None:
        self.poison = self.poison or any(self.deleted(it.value) for it in held(call))
        super().check_alive(call)


@fault("DON-53")
class DeletingRevives(Model):
    """To delete an array that is deleted makes one of zeros of it."""

    def release(self, x: Array) -> None:
        if self.deleted(x):
            data = [np.zeros(x.sharding.shard_shape(x.shape), x.dtype) for _ in x.buffers]
            old = x.buffers
            x.buffers = tuple(Buffer(it.device, it.kind, fresh) for it, fresh in zip(old, data, strict=True))
        else:
            super().release(x)


# --- an array that another one came from ------------------------------------------------------------------------------


def over(model: Model, x: Array) -> Array:
    """Another array over the buffers of one."""
    return Array(model, x.aval, x.sharding, x.buffers, x.committed, x.layout)


@fault("DON-54")
class ConstraintsAlias(Model):
    """A constraint on an array that lies so already gives another array over its buffers."""

    def with_sharding_constraint(self, x: Any, shardings: Any) -> Any:
        lies = isinstance(x, Array) and isinstance(shardings, Sharding) and not self.deleted(x)
        return over(self, x) if lies and x.sharding == shardings else super().with_sharding_constraint(x, shardings)


@fault("DON-55")
class IdentityAliases(Model):
    """What a program returns as it came is an array over the buffers of the argument."""

    def execute(self, lowered: Lowered, values: Sequence[np.ndarray]) -> list[Array]:
        arrays, program = super().execute(lowered, values), lowered.call.program
        given = dict(zip(program.inputs, lowered.call.arguments, strict=False))
        for number, var in enumerate(program.outputs):
            argument = given.get(var)
            if argument is not None and not argument.donated and isinstance(argument.value, Array):
                arrays[number] = over(self, argument.value)
        return arrays


@fault("DON-56")
class NothingDoneAliases(Model):
    """A slice of all of an array is another one over its buffers."""

    def apply(self, name: str, *operands: Any, **params: Any) -> Any:
        y = super().apply(name, *operands, **params)
        x = operands[0] if operands else None
        whole = name == "index" and isinstance(x, Array) and isinstance(y, Array) and x.shape == y.shape
        return over(self, x) if whole and isinstance(x, Array) else y


@fault("DON-57")
class EqualResultsAreOne(Model):
    """Two results of a call of the same value lie in the same buffers."""

    def execute(self, lowered: Lowered, values: Sequence[np.ndarray]) -> list[Array]:
        arrays = super().execute(lowered, values)
        if len(arrays) == 2 and arrays[0].shape and arrays[0].aval == arrays[1].aval:
            one, other = (self.value(it) for it in arrays)
            if np.array_equal(one, other):
                arrays[1] = over(self, arrays[0])
        return arrays


# What is gone cannot be donated then, nor looked at.
@fault("DON-58", also=["DON-59", "DON-61"])
class CapturedGoesToo(Model):
    """What a donating function captured is deleted with its argument."""

    def execute(self, lowered: Lowered, values: Sequence[np.ndarray]) -> list[Array]:
        arrays = super().execute(lowered, values)
        for x in lowered.call.program.captured if lowered.aliases else ():
            if isinstance(x, Array):
                self.release(x)
        return arrays


# To capture an array that is gone is a use of it.
@fault("DON-59", also=["DON-48"])
class CapturedIsZero(Model):
    """What a function captured and is deleted now is zero to it."""

    def capture(self, x: Any) -> np.ndarray:
        if isinstance(x, Array) and self.deleted(x):
            return np.zeros(x.shape, x.dtype)
        return super().capture(x)


@fault("DON-60")
class CapturedArgumentIsZero(Model):
    """The result of a function that captured its own donated argument is zero."""

    def execute(self, lowered: Lowered, values: Sequence[np.ndarray]) -> list[Array]:
        captured = {id(x) for x in lowered.call.program.captured}
        arrays = super().execute(lowered, values)
        if any(it.donated and id(it.value) in captured for it in lowered.call.arguments):
            for buffer in arrays[0].buffers:
                buffer.data[...] = 0
        return arrays


@fault("DON-61")
class CapturingSpoilsLater(Poisoned):
    """After a function that captured its own donated argument, the next program gives zero."""

    def execute(self, lowered: Lowered, values: Sequence[np.ndarray]) -> list[Array]:
        captured = {id(x) for x in lowered.call.program.captured}
        own = any(it.donated and id(it.value) in captured for it in lowered.call.arguments)
        arrays = super().execute(lowered, values)
        self.poison = self.poison or own
        return arrays


# --- views of the host's ----------------------------------------------------------------------------------------------


@fault("DON-62")
class ViewsAreWrittenOver(Model):
    """The memory of an array that the host holds a view of is written over like any other."""

    def reusable(self, buffer: Buffer, order: tuple[int, ...]) -> bool:
        return True


# Keys lie over the memory of the numbers that they were made of: somebody else sees it.
@fault("DON-63", also=["DON-08"])
class ViewedShardsStay(Tearing):
    """Of an array that is donated, those shards stay that the host holds a view of."""

    def give_up(self, argument: Argument) -> None:
        if isinstance(argument.value, Array):
            for buffer in argument.value.buffers:
                if not buffer.seen:
                    buffer.delete()


# So is the result of two arrays over one memory; keys lie over that of the numbers that they were made of.
@fault("DON-64", also=["DON-11", "DON-46"])
class ViewedMemoryIsNotWritten(Model):
    """A result that should lie in memory that the host holds a view of is zero."""

    def deliver(
        self, value: np.ndarray, aval: Aval, sharding: Sharding, committed: bool, reuse: Sequence[Buffer]
    ) -> Array:
        seen = any(buffer.seen for buffer in reuse)
        return super().deliver(value * 0 if seen else value, aval, sharding, committed, reuse)


# --- calls that come to nothing ---------------------------------------------------------------------------------------


@fault("DON-65")
class MisfitsAreInternal(Model):
    """An argument of another shape than was compiled for is an internal error."""

    def renewed(self, compiled: CompiledJit, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[Argument, ...]:
        try:
            return super().renewed(compiled, args, kwargs)
        except TypeError as error:
            raise RuntimeError(f"INTERNAL: {error}") from None


# What is gone cannot be used later.
@fault("DON-66", also=["DON-67"])
class RefusedAndTaken(Model):
    """A call whose sides lie apart deletes what was to be donated to it, and is refused."""

    def agree(self, call: Call) -> Side | None:
        try:
            return super().agree(call)
        except ValueError:
            for it in held(call):
                if it.donated:
                    self.release(it.value)
            raise


@fault("DON-67")
class RefusedAndLost(Spoiling):
    """Arrays of a call whose sides lie apart read as zero from then on."""

    def agree(self, call: Call) -> Side | None:
        try:
            return super().agree(call)
        except ValueError:
            self.spoil(call)
            raise


# What is not refused says nothing.
@fault("DON-68", also=["DON-69"])
class UnknownNamesDonateNothing(Model):
    """Names of no parameters are let pass, and donate nothing."""

    def meant_to_donate(self, has: Parameters, name: str, numbers: Any, names: Any) -> frozenset[str]:
        known = () if isinstance(names, str) and names not in has.named else names
        return super().meant_to_donate(has, name, numbers, known)


@fault("DON-69")
class SomeOptionIsWrong(Model):
    """Options of donation that mean nothing are refused without saying which option it is."""

    def meant_to_donate(self, has: Parameters, name: str, numbers: Any, names: Any) -> frozenset[str]:
        try:
            return super().meant_to_donate(has, name, numbers, names)
        except (TypeError, ValueError) as error:
            raise type(error)(f"an option of the jit of {name} means no argument") from None


@fault("DON-70")
class RefusedWhenItIsTooLate(Model):
    """Options that mean nothing are refused by the call, which has deleted its arguments by then."""

    def jit(self, fun: Callable[..., Any], **options: Any) -> Any:
        try:
            return super().jit(fun, **options)
        except (TypeError, ValueError) as raised:
            error = raised

        def late(*args: Any) -> Any:
            for x in args:
                self.release(x)
            raise error

        return late


# --- a donating function within something else ------------------------------------------------------------------------


@fault("DON-71")
class ShapesForArrays(Model):
    """eval_shape of a donating function deletes what it is given."""

    def eval_shape(self, fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        shapes = super().eval_shape(fun, *args, **kwargs)
        for x in args if isinstance(fun, Jitted) and fun.options.donated else ():
            self.release(x)
        return shapes


@fault("DON-72")
class InnerDonationReachesOut(Model):
    """A call deletes its arguments where a function within donates."""

    within = False

    def call_jitted(self, jitted: Jitted, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        self.within = self.within or (tracing_now() is not None and bool(jitted.options.donated))
        return super().call_jitted(jitted, args, kwargs)

    def execute(self, lowered: Lowered, values: Sequence[np.ndarray]) -> list[Array]:
        arrays, within = super().execute(lowered, values), self.within
        self.within = False
        for it in held(lowered.call) if within else ():
            self.release(it.value)
        return arrays


@fault("DON-73")
class MappedIsWrittenOver(Model):
    """A donating function under vmap writes over its argument, which stays."""

    def vmap(self, fun: Callable[..., Any], in_axes: Any = 0, out_axes: Any = 0) -> Callable[..., Any]:
        mapped = super().vmap(fun, in_axes, out_axes)

        def writing(*args: Any) -> Any:
            y = mapped(*args)
            for x in args if isinstance(fun, Jitted) and fun.options.donated else ():
                for buffer in x.buffers:
                    buffer.data[...] = 0
            return y

        return writing


@fault("DON-74")
class LoopsStandStill(Model):
    """A loop gives the state that it started with."""

    def evaluate_scan(self, equation: Equation, values: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
        count = equation.params["carried"]
        return [*values[:count], *super().evaluate_scan(equation, values)[count:]]
