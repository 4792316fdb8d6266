"""What is kept from one call to the next: three caches, each beneath the one before it.

    function --TraceKey--> Program --LoweringKey--> Module --CompileKey--> Executable

A key says all that the entry depends on, beside what it lies beneath: its owner, by whose identity it is kept and with
which it goes. So nothing is kept of a function that is gone, and `clear_caches` forgets the rest. An operation that
runs on its own has no function: its program is kept by an `OperationKey`.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MethodType
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import numpy as np

from .avals import Aval
from .devices import Device
from .meshes import AbstractMesh, Mesh
from .shardings import NamedSharding, Sharding, SingleDeviceSharding
from .specs import PartitionSpec
from .trees import Tree

if TYPE_CHECKING:
    from .programs import Program

# --- keys -------------------------------------------------------------------------------------------------------------


class TraceKey(NamedTuple):
    """What the trace of a function depends on: what it is called with, and the context that it is traced in."""

    method: Callable[..., Any] | None
    """The function of a bound method, whose owner is the object that it is bound to."""
    static: tuple[tuple[str, Any], ...]
    names: tuple[str, ...]
    tree: Tree
    avals: tuple[Aval, ...]
    meshes: tuple[tuple[Mesh | None, bool], ...]
    """The mesh in context, and whether set_mesh set it."""
    axes: tuple[tuple[Any, int], ...]
    """Those of the shard_maps around it."""


class OperationKey(NamedTuple):
    """What the program of one operation depends on."""

    name: str
    operands: tuple[Aval, ...]
    outputs: tuple[Aval, ...]
    params: Any


class Form(NamedTuple):
    """A sharding without its devices: with them, in their order, it is that sharding again."""

    kind: type[Sharding]
    mesh: AbstractMesh | None
    spec: PartitionSpec | None
    logical_device_ids: tuple[int, ...] | None
    memory_kind: str | None
    itself: Sharding | None
    """One of another kind than over a mesh or on one device, devices and all."""


class ArgumentForm(NamedTuple):
    """An argument as a program takes it: how it lies where it is committed, its in_sharding, and whether it is donated.

    It is called nothing: names are for messages.
    """

    committed: Form | None
    wanted: Form | None
    donated: bool


class LoweringKey(NamedTuple):
    """What the module of a program depends on: forms alone, and how many devices of which platform there will be."""

    arguments: tuple[ArgumentForm, ...]
    outs: tuple[Form | None, ...]
    keeps_unused: bool
    context: Form | None
    devices: int
    platform: str
    partitioner: str


class CompileKey(NamedTuple):
    """What a compiled module depends on: its devices, in order, whether it binds to them, and how it is compiled."""

    devices: tuple[Device, ...]
    commits: bool
    options: Any


def form(sharding: Sharding | None) -> Form | None:
    """The form of a sharding."""
    if sharding is None:
        return None
    kind, memory = type(sharding), sharding.memory_kind
    if isinstance(sharding, NamedSharding):
        return Form(kind, sharding.mesh.abstract_mesh, sharding.spec, sharding.logical_device_ids, memory, None)
    itself = None if isinstance(sharding, SingleDeviceSharding) else sharding
    return Form(kind, None, None, None, memory, itself)


def typed(value: Any) -> Any:
    """A value as part of a key: values that Python calls equal differ where their types do, as 1, 1.0 and True."""
    if isinstance(value, tuple | list):
        return type(value), *map(typed, value)
    if isinstance(value, Mapping):
        return type(value), *((typed(key), typed(it)) for key, it in value.items())
    if isinstance(value, slice):  # has no hash of its own
        return slice, typed(value.start), typed(value.stop), typed(value.step)
    if isinstance(value, float | complex | np.inexact):  # 0.0 and -0.0 are equal, and a NaN is not what it is
        return type(value), repr(value)
    return type(value), value


# --- entries ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Module:
    """A program that is lowered: it names no devices."""

    key: LoweringKey


@dataclass(frozen=True, eq=False)
class Executable:
    """A module that is compiled: how it takes its arguments, and how it leaves its results, on its devices."""

    key: CompileKey
    ins: tuple[Sharding, ...]
    outs: tuple[Sharding, ...]


# --- caches -----------------------------------------------------------------------------------------------------------

Key = TypeVar("Key", bound=tuple[Any, ...])
Entry = TypeVar("Entry")


class Cache(Generic[Key, Entry]):
    """Entries by their keys, beneath an owner each."""

    def __init__(self) -> None:
        self._owned: dict[int, tuple[Any, dict[Key, Entry]]] = {}

    def get(self, owner: Any, key: Key) -> Entry | None:
        """The entry, if there is one."""
        return self.of(owner).get(key)

    def keep(self, owner: Any, key: Key, entry: Entry) -> Entry:
        """Keeps an entry until its owner is gone."""
        number = id(owner)
        if number not in self._owned:
            try:
                held: Any = weakref.ref(owner, lambda _: self._owned.pop(number, None))
            except TypeError:  # what cannot be held weakly stays
                held = owner
            self._owned[number] = (held, {})
        self._owned[number][1][key] = entry
        return entry

    def of(self, owner: Any) -> dict[Key, Entry]:
        """All entries beneath an owner, the oldest first."""
        return self._owned[id(owner)][1] if id(owner) in self._owned else {}

    def forget(self, owner: Any = None) -> None:
        """Forgets the entries beneath an owner, or all."""
        if owner is None:
            self._owned.clear()
        else:
            self._owned.pop(id(owner), None)


@dataclass
class Caches:
    """The caches of a model."""

    trace: Cache[TraceKey, Program] = field(default_factory=Cache)
    lowering: Cache[LoweringKey, Module] = field(default_factory=Cache)
    compilation: Cache[CompileKey, Executable] = field(default_factory=Cache)
    operations: dict[OperationKey, Program] = field(default_factory=dict)

    ROOM = 4096
    """For so many operations; the oldest go first."""

    def operation(self, key: OperationKey, make: Callable[[], Program]) -> Program:
        """The program of an operation, made where there is none; what cannot be a key is kept by nobody."""
        try:
            found = self.operations.pop(key, None)
        except TypeError:
            return make()
        self.operations[key] = program = found or make()
        while len(self.operations) > self.ROOM:
            del self.operations[next(iter(self.operations))]
        return program

    def clear(self) -> None:
        """Forgets everything."""
        for cache in (self.trace, self.lowering, self.compilation):
            cache.forget()
        self.operations.clear()


def owner_of(f: Callable[..., Any]) -> tuple[Any, Callable[..., Any] | None]:
    """What the traces of a function are kept beneath: itself.

    A bound method is made anew at each look: its object is the owner, and its function a part of the key.
    """
    return (f.__self__, f.__func__) if isinstance(f, MethodType) else (f, None)
