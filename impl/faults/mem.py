"""Faults of memory kinds, in the order of their chapter: each takes one step of the model wrongly."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from functools import partial
from itertools import count
from typing import Any

import numpy as np

from impl.model.agreement import Argument, Call, Side
from impl.model.arrays import Array
from impl.model.avals import Aval
from impl.model.buffers import Buffer
from impl.model.caches import Form, LoweringKey
from impl.model.contexts import tracing_now
from impl.model.devices import Device
from impl.model.meanings import S
from impl.model.memories import Flow, Kind, Walk
from impl.model.model import Model
from impl.model.programs import Equation
from impl.model.put import COPY, Place, Target
from impl.model.running import Lowered
from impl.model.shardings import NamedSharding, Sharding

from . import fault

PUT, CONSTRAINT = "device_put", "sharding_constraint"


def back(model: Model, x: Array) -> None:
    """Takes an array to the default memory for good."""
    y = model.put(x, x.sharding.with_memory_kind(x.sharding.ordered[0].default_memory().kind), COPY)
    x.sharding, x.buffers = y.sharding, y.buffers


# --- what a module says -----------------------------------------------------------------------------------------------


@fault("MEM-01")
class InShardingsAreSaid(Model):
    """in_shardings are annotated with their kind of memory, whichever it is."""

    def kinds_are_said(self, call: Call, ins: Sequence[Sharding], outs: Sequence[Sharding], flow: Flow) -> bool:
        return super().kinds_are_said(call, ins, outs, flow) or any(it.wanted for it in call.arguments)


@fault("MEM-02")
class OutShardingsAreSaid(Model):
    """out_shardings are annotated with their kind of memory, whichever it is."""

    def kinds_are_said(self, call: Call, ins: Sequence[Sharding], outs: Sequence[Sharding], flow: Flow) -> bool:
        return super().kinds_are_said(call, ins, outs, flow) or any(call.outs)


@fault("MEM-03")
class ConstraintsAreSaid(Model):
    """A constraint places its operand in memory, though it lies there."""

    def goes(self, equation: Equation, kind: str, to: str) -> bool:
        return super().goes(equation, kind, to) or equation.name == CONSTRAINT


@fault("MEM-04", "MEM-09")
class PutsAreSaid(Model):
    """A put places its operand in memory, though it lies there."""

    def goes(self, equation: Equation, kind: str, to: str) -> bool:
        return super().goes(equation, kind, to) or equation.name == PUT


@fault("MEM-05")
class UnusedArgumentsAreNotSaid(Model):
    """An argument that the program does not use is not said to lie in any memory."""

    def kinds_of_arguments(self, call: Call, ins: Sequence[Sharding]) -> list[Kind]:
        return [it.memory_kind for argument, it in zip(call.arguments, ins, strict=True) if call.uses(argument)]


@fault("MEM-06")
class ResultsAreNotSaid(Model):
    """A result in another kind of memory leaves a module without a word of it."""

    def kinds_of_results(self, call: Call, outs: Sequence[Sharding]) -> list[Kind]:
        return []


@fault("MEM-07", "MEM-13", also=["MEM-15"])
class ConstraintsCutOnly(Model):
    """The kind of memory of a constraint is dropped."""

    def kind_taken_to(self, equation: Equation, kind: Kind, walk: Walk) -> Kind:
        return (kind or walk.usual) if equation.name == CONSTRAINT else super().kind_taken_to(equation, kind, walk)


@fault("MEM-08")
class PutsAmidAreNotSaid(Model):
    """A put within a program is said where its output is a result, and nowhere else."""

    def goes(self, equation: Equation, kind: str, to: str) -> bool:
        return super().goes(equation, kind, to) and equation.name != PUT


# A put that should have been nothing is said, and its results lie elsewhere: they take no donated array's place.
@fault("MEM-10", also=["MEM-04", "MEM-09", "MEM-14", "MEM-50", "MEM-52"])
class IdlePutsGoToTheHost(Model):
    """A put to where its operand lies takes it to the host's memory."""

    def kind_taken_to(self, equation: Equation, kind: Kind, walk: Walk) -> Kind:
        to = super().kind_taken_to(equation, kind, walk)
        return "pinned_host" if equation.name == PUT and (kind or walk.usual) == (to or walk.usual) else to


# --- which kind a result has ------------------------------------------------------------------------------------------


@fault("MEM-11", also=["MEM-13"])
class UnpinnedMemoryHoldsFast(Model):
    """A constraint cannot take an array from unpinned memory to the device's."""

    def kind_taken_to(self, equation: Equation, kind: Kind, walk: Walk) -> Kind:
        to = super().kind_taken_to(equation, kind, walk)
        if equation.name == CONSTRAINT and (kind, to) == ("unpinned_host", "device"):
            raise NotImplementedError(f"no way from {kind} to {to}")
        return to


# As a result that is in no other kind is not said to be. Keys, and what takes a donated array's place, are in none.
@fault("MEM-12", also=["MEM-06", "MEM-48", "MEM-50", "MEM-51", "MEM-52", "MEM-55"])
class OutShardingsCutOnly(Model):
    """The kind of memory of out_shardings is dropped."""

    def in_their_kinds(self, call: Call, outs: Sequence[Sharding], flow: Flow) -> tuple[Sharding, ...]:
        outs = super().in_their_kinds(call, outs, flow)
        usual = [it.ordered[0].default_memory().kind for it in outs]
        return tuple(
            it if wanted is None else it.with_memory_kind(kind)
            for it, wanted, kind in zip(outs, call.outs, usual, strict=True)
        )


# Nor is such a put said, and its result takes a donated array's place.
@fault("MEM-14", also=["MEM-08", "MEM-51", "MEM-52"])
class PutsWithinStay(Model):
    """A put within a program leaves its operand in the kind of memory where it is."""

    def kind_taken_to(self, equation: Equation, kind: Kind, walk: Walk) -> Kind:
        return (kind or walk.usual) if equation.name == PUT else super().kind_taken_to(equation, kind, walk)


@fault("MEM-15")
class PutsAcrossDevicesStay(Model):
    """An array on several devices that is put to another kind of memory stays in its own."""

    def place(self, x: Any, target: Target) -> Place:
        place = super().place(x, target)
        if isinstance(x, Array) and len(x.buffers) > 1 and tracing_now() is None:
            kind = x.sharding.memory_kind or x.buffers[0].kind
            return replace(place, sharding=place.sharding.with_memory_kind(kind))
        return place


@fault("MEM-16")
class BuffersStayOnTheDevice(Model):
    """The results of programs on several devices lie in the default memory, whatever they say."""

    def spread(self, value: np.ndarray, sharding: Sharding, **how: Any) -> Array:
        x = super().spread(value, sharding, **how)
        if len(x.buffers) > 1:
            x.buffers = tuple(Buffer(it.device, it.device.default_memory().kind, it.data) for it in x.buffers)
        return x


# What is compared with a number comes back, and meets what has stayed: found by running it.
@fault("MEM-17", "MEM-20", "MEM-46", also=["MEM-44"])
class ReadingBringsBack(Model):
    """An argument in another kind of memory than the default one is brought back when a program reads it."""

    def feed(self, argument: Argument, home: Side | None) -> np.ndarray:
        x = argument.value
        if isinstance(x, Array):
            back(self, x)
        return super().feed(argument, home)


@fault("MEM-18")
class ReturnedArgumentsComeBack(Model):
    """An argument that a program returns as it is comes back to the default memory."""

    def in_their_kinds(self, call: Call, outs: Sequence[Sharding], flow: Flow) -> tuple[Sharding, ...]:
        given = set(call.program.inputs)
        outs = super().in_their_kinds(call, outs, flow)
        return tuple(
            it if wanted or var not in given else it.with_memory_kind(it.ordered[0].default_memory().kind)
            for it, wanted, var in zip(outs, call.outs, call.program.outputs, strict=True)
        )


# What is computed in pinned memory then meets what lies there.
@fault("MEM-19", also=["MEM-44", "MEM-58"])
class HostsComputeUnpinned(Model):
    """What is computed from pinned memory lies in unpinned memory."""

    def kind_computed(self, name: str, kinds: Sequence[Kind]) -> Kind:
        kind = super().kind_computed(name, kinds)
        return "unpinned_host" if kind == "pinned_host" else kind


# --- kinds as part of shardings ---------------------------------------------------------------------------------------

HOSTS = {"pinned_host", "unpinned_host"}


@fault("MEM-21")
class HostsMemoriesAreEqual(Model):
    """Shardings in pinned and in unpinned memory are equal."""

    def equal(self, one: Sharding, other: Sharding) -> bool:
        if type(one) is type(other) and {one.memory_kind, other.memory_kind} == HOSTS:
            return super().equal(one, other.in_kind(str(one.memory_kind)))
        return super().equal(one, other)


@fault("MEM-22")
class HostsMemoriesAreEquivalent(Model):
    """Shardings in pinned and in unpinned memory are equivalent."""

    def same_memory(self, one: Sharding, other: Sharding) -> bool:
        return super().same_memory(one, other) or {one.memory_kind, other.memory_kind} == HOSTS


@fault("MEM-23", "MEM-25")
class HashesAreNew(Model):
    """Each sharding has a hash of its own."""

    def hashed(self, kind: str, parts: Sequence[Hashable]) -> int:
        return next(NUMBERS)


NUMBERS = count(1)


@fault("MEM-24")
class UnpinnedIsNeverTheSame(Model):
    """Shardings in unpinned memory are equivalent to none, not even to themselves."""

    def same_memory(self, one: Sharding, other: Sharding) -> bool:
        return super().same_memory(one, other) and one.memory_kind != "unpinned_host"


@fault("MEM-26", "MEM-28")
class HostsMemoryIsShownAsOne(Model):
    """Shardings in pinned and in unpinned memory show that they are in the host's."""

    def shown_memory(self, sharding: Sharding) -> str:
        return ", memory_kind=host" if sharding.memory_kind in HOSTS else super().shown_memory(sharding)


# Whatever is about unpinned memory is about pinned memory then.
@fault(
    "MEM-27",
    also=[
        *("MEM-05", "MEM-06", "MEM-07", "MEM-08", "MEM-12", "MEM-13", "MEM-14", "MEM-15", "MEM-21", "MEM-22"),
        *("MEM-26", "MEM-28", "MEM-29", "MEM-31", "MEM-35", "MEM-36", "MEM-37", "MEM-38", "MEM-48"),
    ],
)
class HostsMemoryIsPinned(Model):
    """A sharding in unpinned memory is one in pinned memory."""

    def memory_of(self, device: Device, kind: str | None) -> str:
        found = super().memory_of(device, kind)
        return "pinned_host" if found == "unpinned_host" else found


@fault("MEM-29")
class MeshesOfOneStay(Model):
    """Over a mesh of one device, with_memory_kind changes nothing."""

    def in_memory(self, sharding: S, kind: str) -> S:
        if isinstance(sharding, NamedSharding) and sharding.num_devices == 1:
            return sharding
        return super().in_memory(sharding, kind)


@fault("MEM-30")
class PickledWithoutMemory(Model):
    """A sharding of one device is pickled without its kind of memory."""

    def remade(self, sharding: Sharding) -> tuple[object, ...]:
        again, positional = sharding.made()
        keywords = {name: it for name, it in again.keywords.items() if name != "memory_kind"}
        return partial(again.func, **keywords), positional


@fault("MEM-31")
class LaterDevicesHaveOneMemory(Model):
    """From the fifth device on, every kind of memory is the default one."""

    def memory_of(self, device: Device, kind: str | None) -> str:
        return super().memory_of(device, kind if device.id < 4 else None)


# --- kinds that there are not -----------------------------------------------------------------------------------------


@fault("MEM-32", also=["MEM-33"])
class CapitalsAreNoMatter(Model):
    """A kind of memory may be given in capitals."""

    def memory_of(self, device: Device, kind: str | None) -> str:
        return super().memory_of(device, kind.lower() if isinstance(kind, str) else kind)


@fault("MEM-33")
class OtherKindsAreNotOffered(Model):
    """A kind of memory that there is not is refused without a word of those that there are."""

    def memory_of(self, device: Device, kind: str | None) -> str:
        try:
            return super().memory_of(device, kind)
        except ValueError:
            raise ValueError(f"there is no memory {kind!r}") from None


@fault("MEM-34")
class NumbersMeanTheDefault(Model):
    """A kind of memory that is no string is taken for the default one."""

    def memory_of(self, device: Device, kind: str | None) -> str:
        return super().memory_of(device, kind if isinstance(kind, str) else None)


# --- kinds that meet --------------------------------------------------------------------------------------------------


@fault("MEM-35", also=["MEM-36", "MEM-37", "MEM-38"])
class HostsMemoriesAreOne(Model):
    """In pinned and in unpinned memory, arguments and in_shardings may meet."""

    def in_other_memory(self, lies: Sharding, wanted: Sharding) -> bool:
        return super().in_other_memory(lies, wanted) and {lies.memory_kind, wanted.memory_kind} != HOSTS


@fault("MEM-36")
class OneKindTwice(Model):
    """The refusal of an argument's kind of memory names its own twice."""

    def wrong_memory(self, name: str, argument: Argument, lies: Sharding, wanted: Sharding) -> Exception:
        return super().wrong_memory(name, argument, lies, lies)


@fault("MEM-37")
class ArgumentsInWrongMemoryHaveNoName(Model):
    """The refusal of an argument's kind of memory does not say which argument it is."""

    def word_argument_in(self, argument: Argument) -> str:
        return " one"


@fault("MEM-38")
class WrongMemoryCompilesFirst(Model):
    """A program is compiled before it turns out that an argument lies in another kind of memory."""

    def wrong_memory(self, name: str, argument: Argument, lies: Sharding, wanted: Sharding) -> Exception:
        self.counts["compile"] += 1
        return super().wrong_memory(name, argument, lies, wanted)


@fault("MEM-39")
class MixturesAreTypeErrors(Model):
    """Operands in different kinds of memory are refused with a TypeError."""

    def mixed_memories(self, name: str, kinds: Sequence[str]) -> Exception:
        return TypeError(str(super().mixed_memories(name, kinds)))


@fault("MEM-40")
class MixturesNameOneKind(Model):
    """The refusal of operands in different kinds of memory names the first of them."""

    def mixed_memories(self, name: str, kinds: Sequence[str]) -> Exception:
        return super().mixed_memories(name, kinds[:1])


@fault("MEM-41")
class MixturesComeBackFirst(Model):
    """Operands in different kinds of memory are brought to the device before they are refused."""

    def mixed_memories(self, name: str, kinds: Sequence[str]) -> Exception:
        for x in self.live_arrays():
            back(self, x)
        return super().mixed_memories(name, kinds)


# --- what is done with an array in another kind of memory -------------------------------------------------------------


# As rows and scalars are parts.
@fault("MEM-42", also=["MEM-45"])
class HostsPartsAreNotThere(Model):
    """An array in the host's memory on several devices has no parts."""

    def index(self, x: Any, index: Any) -> Any:
        if isinstance(x, Array) and len(x.buffers) > 1 and x.sharding.memory_kind in HOSTS:
            raise ValueError("the parts of an array in the host's memory are not to be had")
        return super().index(x, index)


@fault("MEM-43")
class StepsAreForgotten(Model):
    """Within a program, a slice with a step is one without."""

    def index(self, x: Any, index: Any) -> Any:
        if tracing_now() is not None and isinstance(index, slice):
            return super().index(x, slice(index.start, index.stop))
        return super().index(x, index)


@fault("MEM-44")
class HostsDoNotMultiply(Model):
    """There is no product of matrices in pinned memory."""

    def kind_computed(self, name: str, kinds: Sequence[Kind]) -> Kind:
        if name == "matmul" and "pinned_host" in kinds:
            raise NotImplementedError("no matmul in pinned memory")
        return super().kind_computed(name, kinds)


@fault("MEM-45")
class UnpinnedMemoryIsNotGot(Model):
    """device_get takes nothing out of unpinned memory."""

    def got(self, x: Array) -> np.ndarray | Array:
        if x.sharding.memory_kind == "unpinned_host":
            raise RuntimeError("unpinned memory is not read")
        return super().got(x)


# --- other arrays -----------------------------------------------------------------------------------------------------


@fault("MEM-47")
class NothingStaysWhereItIs(Model):
    """An array without elements that is put to another kind of memory stays in its own."""

    def place(self, x: Any, target: Target) -> Place:
        place = super().place(x, target)
        if isinstance(x, Array) and not x.size and tracing_now() is None:
            return replace(place, sharding=place.sharding.with_memory_kind(str(x.sharding.memory_kind)))
        return place


@fault("MEM-48")
class NothingIsLeftOnTheDevice(Model):
    """A result without elements lies in the default memory."""

    def deliver(
        self, value: np.ndarray, aval: Aval, sharding: Sharding, committed: bool, reuse: Sequence[Buffer]
    ) -> Array:
        if not value.size:
            sharding = sharding.with_memory_kind(sharding.ordered[0].default_memory().kind)
        return super().deliver(value, aval, sharding, committed, reuse)


# --- donation across kinds --------------------------------------------------------------------------------------------


@fault("MEM-49")
class HostsMemoryKeepsWhatWasThere(Model):
    """A result that takes the place of an argument in the host's memory holds what was there."""

    def deliver(
        self, value: np.ndarray, aval: Aval, sharding: Sharding, committed: bool, reuse: Sequence[Buffer]
    ) -> Array:
        if reuse and sharding.memory_kind in HOSTS:
            value = value - 1
        return super().deliver(value, aval, sharding, committed, reuse)


# A donation that is declined is told.
@fault("MEM-50", also=["MEM-52"])
class HostsMemoryIsNotReused(Model):
    """The memory of an argument on the host is never that of a result."""

    def fits_into(self, aval: Aval, lies: Sharding, result: Aval, out: Sharding) -> bool:
        return super().fits_into(aval, lies, result, out) and lies.memory_kind not in HOSTS


# And one that is not, is not.
@fault("MEM-51", also=["MEM-52"])
class MemoryFitsAnyKind(Model):
    """A result can lie in the memory of an argument of another kind."""

    def fits_into(self, aval: Aval, lies: Sharding, result: Aval, out: Sharding) -> bool:
        return super().fits_into(aval, lies, result, out.with_memory_kind(str(lies.memory_kind)))


@fault("MEM-52")
class UselessDonationIsNotTold(Model):
    """A donated argument in the host's memory that is of no use is not told of."""

    def tell_unusable(self, call: Call, unusable: Sequence[Argument]) -> None:
        told = [it for it in unusable if it.value.sharding.memory_kind not in HOSTS]
        if told:
            super().tell_unusable(call, told)


# --- kinds in keys ----------------------------------------------------------------------------------------------------


def without_memory(form: Form | None) -> Form | None:
    """A form without its kind of memory."""
    return None if form is None else form._replace(memory_kind=None)


# The cases of MEM-18 share a function, and find each other's module: found by running it.
@fault("MEM-53", also=["MEM-18"])
class KeysLackTheKindsOfArguments(Model):
    """Arguments that differ in their kind of memory alone find the same module."""

    def lowering_key(self, call: Call, home: Side | None) -> LoweringKey:
        key = super().lowering_key(call, home)
        return key._replace(
            arguments=tuple(it._replace(committed=without_memory(it.committed)) for it in key.arguments)
        )


@fault("MEM-54")
class UnpinnedMemoryIsAlwaysNew(Model):
    """A program for an argument in unpinned memory is compiled at each call."""

    def lowering_key(self, call: Call, home: Side | None) -> LoweringKey:
        key = super().lowering_key(call, home)
        kinds = [it.committed.memory_kind for it in call.arguments if it.committed is not None]
        return key._replace(platform=f"{key.platform} {next(NUMBERS)}") if "unpinned_host" in kinds else key


@fault("MEM-55")
class KeysLackTheKindsOfResults(Model):
    """out_shardings that differ in their kind of memory alone find the same module."""

    def lowering_key(self, call: Call, home: Side | None) -> LoweringKey:
        key = super().lowering_key(call, home)
        return key._replace(outs=tuple(map(without_memory, key.outs)))


# --- and also ---------------------------------------------------------------------------------------------------------


@fault("MEM-56")
class HloPlacesEverything(Model):
    """HLO says of the default memory that results are placed in it."""

    def hlo_text(self, lowered: Lowered) -> str:
        return super().hlo_text(lowered) + '// frontend_attributes={_xla_buffer_placement="device"}\n'


@fault("MEM-57")
class NoLoopsInPinnedMemory(Model):
    """A while loop takes no state in pinned memory."""

    def kinds_after_one(self, equation: Equation, kinds: Sequence[Kind], walk: Walk) -> Sequence[Kind]:
        if equation.name == "while" and "pinned_host" in kinds:
            raise NotImplementedError("no loops in pinned memory")
        return super().kinds_after_one(equation, kinds, walk)


@fault("MEM-58")
class NoSquaresInUnpinnedMemory(Model):
    """Two factors in unpinned memory have no product."""

    def kind_computed(self, name: str, kinds: Sequence[Kind]) -> Kind:
        if name == "mul" and list(kinds).count("unpinned_host") > 1:
            raise NotImplementedError("no product in unpinned memory")
        return super().kind_computed(name, kinds)


@fault("MEM-59")
class WhatIsFreeIsOfTheDefaultKind(Model):
    """What is committed nowhere is refused, with a TypeError, where in_shardings ask for it in the host's memory."""

    def agree(self, call: Call) -> Side | None:
        for it in call.arguments:
            if it.committed is None and it.wanted is not None and it.wanted.memory_kind in HOSTS:
                raise TypeError(str(self.wrong_memory(call.program.name, it, it.wanted, it.wanted)))
        return super().agree(call)
