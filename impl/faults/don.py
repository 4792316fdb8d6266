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
from impl.model.jit import CompiledJit, CompiledMemoryStats, Jitted, LoweredJit
from impl.model.model import Model
from impl.model.running import Lowered
from impl.model.shardings import NamedSharding, Sharding

from . import fault

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


@fault("DON-02", also=["DON-06"])
class KeywordsKeepTheirs(Model):
    """What is passed by name to a call is not donated."""

    def call_jitted(self, jitted: Jitted, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        if kwargs:
            jitted = Jitted(self, jitted.f, replace(jitted.options, donated=frozenset()))
        return super().call_jitted(jitted, args, kwargs)


# A compiled object's pytree is one.
@fault("DON-03", also=["DON-04", *TEXTS])
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


@fault("DON-06")
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
    """What is cut as yx is written into the memory of its argument as if it were cut as xy."""

    def deliver(
        self, value: np.ndarray, aval: Aval, sharding: Sharding, committed: bool, reuse: Sequence[Buffer]
    ) -> Array:
        turned = reuse and isinstance(sharding, NamedSharding) and tuple(sharding.spec) == ("y", "x")
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


# There is nothing left to call it with again, or later; and its module says otherwise.
@fault("DON-17", also=["DON-18", "DON-22", "DON-35"])
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


# So is the result of one that is committed and one that is not, both donated.
@fault("DON-24", also=["DON-29"])
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
        if len(shapes) > 1 and () in shapes:
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


@fault("DON-40")
class NegativePositionsMeanNone(Model):
    """Negative positions are let pass, and donate nothing."""

    def meant_to_donate(self, has: Parameters, name: str, numbers: Any, names: Any) -> frozenset[str]:
        return super().meant_to_donate(has, name, () if isinstance(numbers, int) and numbers < 0 else numbers, names)
