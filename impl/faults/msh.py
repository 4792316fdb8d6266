"""Faults of meshes, in the order of their chapter: each takes one step of the model wrongly.

`also` names what a slip unavoidably shows in as well: devices that are chosen wrongly lie in no right order, and a mesh
that should have been refused has no message.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from impl.model.agreement import Argument, Call, Side, replicated_over
from impl.model.arrays import Array
from impl.model.contexts import HELD, SetMesh
from impl.model.devices import Device
from impl.model.jit import CompiledJit, LoweredJit
from impl.model.meshes import AUTO, AbstractMesh, AxisType, Mesh
from impl.model.model import Model
from impl.model.programs import Program
from impl.model.shardings import NamedSharding, Sharding, SingleDeviceSharding
from impl.model.specs import PartitionSpec

from . import fault
from .dev import move

# --- make_mesh --------------------------------------------------------------------------------------------------------


@fault("MSH-01")
class ThreeAxesTurnRound(Model):
    """The names of three axes without types are taken in the other direction."""

    def make_mesh(self, axis_sizes: Any, axis_names: Any, axis_types: Any = None, *, devices: Any = None) -> Mesh:
        untyped = isinstance(axis_names, tuple) and len(axis_names) == 3 and axis_types is None
        turned = axis_names[::-1] if untyped else axis_names
        return super().make_mesh(axis_sizes, turned, axis_types, devices=devices)


@fault("MSH-02", also=["MSH-05", "MSH-06", "MSH-26"])
class TuplesAreNotLookedAt(Model):
    """Devices that are given in a tuple are not taken: the mesh is made of the first that there are."""

    def chosen(self, count: int, sizes: tuple[int, ...], devices: Any) -> list[Device]:
        return super().chosen(count, sizes, self.all_devices() if isinstance(devices, tuple) else devices)


@fault("MSH-03", also=["MSH-05", "MSH-06"])
class SurplusIsCutOffInFront(Model):
    """Of more devices than it takes, in an order of their own, a mesh has the last."""

    def chosen(self, count: int, sizes: tuple[int, ...], devices: Any) -> list[Device]:
        found = super().chosen(count, sizes, devices)
        if not isinstance(devices, list) or devices == self.all_devices():
            return found
        return devices[-count:]


@fault("MSH-04", also=["MSH-05", "MSH-06"])
class LastDevicesFirst(Model):
    """Where no devices are given, the last ones are taken first."""

    def all_devices(self) -> list[Device]:
        return super().all_devices()[::-1]


@fault("MSH-05")
class HelperCountsDown(Model):
    """The general helper lets the first axis vary fastest."""

    def create_device_mesh(self, mesh_shape: Any, devices: Sequence[Device] | None = None) -> np.ndarray[Any, Any]:
        grid = super().create_device_mesh(mesh_shape, devices)
        return grid.reshape(-1).reshape(grid.shape, order="F")


@fault("MSH-06", also=["MSH-32"])  # a refusal shows devices in the order in which they were laid out
class InOrderOfIds(Model):
    """Devices are put in the order of their ids before they are laid out."""

    def laid_out(self, sizes: tuple[int, ...], devices: Sequence[Device]) -> np.ndarray[Any, Any]:
        return super().laid_out(sizes, sorted(devices, key=lambda device: device.id))


@fault("MSH-26", also=["MSH-05", "MSH-06"])
class ArraysAreReadBackwards(Model):
    """Devices in an array of one dimension are taken from its end."""

    def chosen(self, count: int, sizes: tuple[int, ...], devices: Any) -> list[Device]:
        turned = isinstance(devices, np.ndarray) and devices.ndim == 1
        return super().chosen(count, sizes, devices[::-1] if turned else devices)


@fault("MSH-11")
class ArraysOfSizesAreSorted(Model):
    """Sizes in an array of NumPy's are put in descending order."""

    def sizes(self, given: Any, names: Any = ()) -> tuple[int, ...]:
        found = super().sizes(given, names)
        return tuple(sorted(found, reverse=True)) if isinstance(given, np.ndarray) else found


# --- the types of axes ------------------------------------------------------------------------------------------------


@fault("MSH-07", contract="0.8.3")
class ExplicitTooSoon(Model):
    """Axes are explicit by default before that was promised."""

    def types_made(self, sizes: tuple[int, ...], given: Any) -> Any:
        return (AxisType.Explicit,) * len(sizes) if given is None else given


@fault("MSH-08")
class AutoForGood(Model):
    """Axes are automatic by default where they have long been explicit."""

    def types_made(self, sizes: tuple[int, ...], given: Any) -> Any:
        return given


@fault("MSH-09")
class TypesTurnRound(Model):
    """The types that are asked for are given to the axes from the last one on."""

    def types(self, names: tuple[Any, ...], given: Any, default: AxisType) -> tuple[AxisType, ...]:
        return super().types(names, given, default)[::-1]


@fault("MSH-10")
class GridsAreExplicit(Model):
    """The axes of a grid of devices are explicit by default, as those of `make_mesh` are."""

    def mesh(self, devices: Any, axis_names: Any, axis_types: Any = None) -> Mesh:
        axes = np.ndim(np.array(devices, dtype=object))
        return super().mesh(devices, axis_names, self.types_made((1,) * axes, axis_types))


# --- what is no mesh --------------------------------------------------------------------------------------------------


@fault("MSH-12")
class WantIsNoMisuse(Model):
    """Where there are too few devices, that is called an error of the machine's."""

    def chosen(self, count: int, sizes: tuple[int, ...], devices: Any) -> list[Device]:
        try:
            return super().chosen(count, sizes, devices)
        except ValueError as error:
            if len(devices) < len(self.all_devices()):
                raise
            raise RuntimeError(str(error)) from None


@fault("MSH-28", also=["MSH-13"])
class OthersFillUp(Model):
    """Where too few devices are given, others are taken besides."""

    def chosen(self, count: int, sizes: tuple[int, ...], devices: Any) -> list[Device]:
        given = list(devices) if isinstance(devices, list) else devices
        if isinstance(given, list) and len(given) < count:
            given += [it for it in self.all_devices() if it not in given]
        return super().chosen(count, sizes, given)


@fault("MSH-13")
class WantIsNotCounted(Model):
    """The refusal for want of devices does not say how many there are."""

    def chosen(self, count: int, sizes: tuple[int, ...], devices: Any) -> list[Device]:
        try:
            return super().chosen(count, sizes, devices)
        except ValueError:
            raise ValueError(f"there are too few devices for a mesh of sizes {sizes}") from None


@fault("MSH-14", also=["MSH-30"])
class NothingIsASize(Model):
    """An axis may be of size 0."""

    def is_size(self, size: int) -> bool:
        return size >= 0


@fault("MSH-15", also=["MSH-30"])
class BelowNothingIsASize(Model):
    """A negative size is taken for whatever is left, as when an array is reshaped."""

    def is_size(self, size: int) -> bool:
        return size != 0


@fault("MSH-30")
class SizesAreNotShown(Model):
    """The refusal of a size below 1 does not show it."""

    def sizes(self, given: Any, names: Any = ()) -> tuple[int, ...]:
        try:
            return super().sizes(given, names)
        except ValueError as error:
            raise ValueError(str(error).partition(": got")[0]) from None


@fault("MSH-16", also=["MSH-32"])
class SizesAreRoundedDown(Model):
    """What is left over of a size that is no whole number is dropped."""

    def is_whole(self, size: Any) -> bool:
        return super().is_whole(size) or (isinstance(size, float) and size % 1 > 0)


@fault("MSH-17", also=["MSH-32"])
class BoolsAreSizes(Model):
    """True is a size of 1."""

    def is_whole(self, size: Any) -> bool:
        return isinstance(size, int | np.integer)


@fault("MSH-18", also=["MSH-32"])
class NamesMayRepeat(Model):
    """Two axes may have one name."""

    def there_twice(self, given: Sequence[Any]) -> list[Any]:
        return [it for it in super().there_twice(given) if not isinstance(it, str)]


@fault("MSH-19", also=["MSH-31"])
class AxesNeedNoName(Model):
    """Axes for which there is no name have none."""

    def check_grid(self, grid: np.ndarray[Any, Any], names: tuple[Any, ...]) -> None:
        if grid.ndim < len(names):
            super().check_grid(grid, names)


@fault("MSH-31")
class NamesAreNotCounted(Model):
    """The refusal of names for another number of axes says that they do not fit."""

    def check_grid(self, grid: np.ndarray[Any, Any], names: tuple[Any, ...]) -> None:
        try:
            super().check_grid(grid, names)
        except ValueError:
            raise ValueError("the names of a mesh's axes do not fit its devices") from None


@fault("MSH-20", also=["MSH-32"])
class OneTypeForAll(Model):
    """One type stands for the types of all axes."""

    def types(self, names: tuple[Any, ...], given: Any, default: AxisType) -> tuple[AxisType, ...]:
        alone = isinstance(given, tuple) and len(given) == 1
        return super().types(names, given * len(names) if alone else given, default)


@fault("MSH-21", also=["MSH-32"])
class TypesMayBeAnything(Model):
    """Whatever is given as the type of an axis is its type."""

    def is_type(self, given: Any) -> bool:
        return True


@fault("MSH-22")
class NoneIsAName(Model):
    """An axis may be called None."""

    def is_name(self, given: Any) -> bool:
        return given is None or super().is_name(given)


@fault("MSH-29", also=["MSH-32"])
class TuplesAreNames(Model):
    """An axis may be called by a tuple."""

    def is_name(self, given: Any) -> bool:
        return isinstance(given, tuple) or super().is_name(given)


@fault("MSH-23", also=["MSH-32"])
class DevicesMayRepeat(Model):
    """A device may be in a mesh twice."""

    def there_twice(self, given: Sequence[Any]) -> list[Any]:
        return [it for it in super().there_twice(given) if not isinstance(it, Device)]


@fault("MSH-24", also=["MSH-32"])
class IdsAreDevices(Model):
    """A number is taken for a device."""

    def is_device(self, given: Any) -> bool:
        return isinstance(given, int) or super().is_device(given)


@fault("MSH-32")
class TypesAreJustWrong(Model):
    """The refusal of what is no type of an axis does not show it."""

    def types(self, names: tuple[Any, ...], given: Any, default: AxisType) -> tuple[AxisType, ...]:
        try:
            return super().types(names, given, default)
        except TypeError:
            raise TypeError("the types of axes are of AxisType") from None


@fault("MSH-27")
class RefusedAfterCompiling(Model):
    """Something is compiled before a mesh is refused."""

    def make_mesh(self, axis_sizes: Any, axis_names: Any, axis_types: Any = None, *, devices: Any = None) -> Mesh:
        try:
            return super().make_mesh(axis_sizes, axis_names, axis_types, devices=devices)
        except (TypeError, ValueError):
            self.counts["compile"] += 1
            raise


@fault("MSH-25")
class GridsAreReadByColumns(Model):
    """Devices in an array of more dimensions are taken with the first of them varying fastest."""

    def chosen(self, count: int, sizes: tuple[int, ...], devices: Any) -> list[Device]:
        return super().chosen(count, sizes, devices.T if isinstance(devices, np.ndarray) else devices)


# --- what a context gives ---------------------------------------------------------------------------------------------


def over(mesh: Mesh, devices: Sequence[Device]) -> Mesh:
    """The same axes over other devices."""
    return Mesh(np.array(devices, dtype=object).reshape(mesh.axis_sizes), mesh.axis_names, mesh.axis_types)


def is_loose(call: Call) -> bool:
    """Whether a call is jitted, and has arguments that are all committed nowhere."""
    return not call.eager and bool(call.arguments) and all(it.committed is None for it in call.arguments)


@fault("MSH-33")
class AxesAreForgotten(Model):
    """Of the mesh in context pjit keeps the devices alone, as one long axis."""

    def home_of(self, call: Call) -> Side | None:
        home = super().home_of(call)
        if home is None:
            return None
        return replace(home, sharding=replicated_over(Mesh(np.array(home.devices, dtype=object), ("devices",))))


@fault("MSH-34")
class SquaresAreTurned(Model):
    """pjit without arguments takes the devices of a mesh of two axes by columns."""

    def home_of(self, call: Call) -> Side | None:
        home = super().home_of(call)
        if home is None or call.arguments or call.mesh is None or len(call.mesh.axis_names) != 2:
            return home
        return replace(home, sharding=replicated_over(over(call.mesh, list(call.mesh.devices.T.flat))))


@fault("MSH-35")
class ArgumentsKeepAtHome(Model):
    """pjit runs on the default device where it is given anything, and on the mesh where it is not."""

    def home_of(self, call: Call) -> Side | None:
        return None if call.arguments else super().home_of(call)


@fault("MSH-36")
class WithMeansTheSecond(Model):
    """Under `with mesh:`, what has no place lies on the second device."""

    def everywhere(self, home: Side | None) -> Sharding:
        if home is None and self.mesh_in_context() is not None:
            return SingleDeviceSharding(self.devices()[1])
        return super().everywhere(home)


@fault("MSH-37")
class TreesStayAtHome(Model):
    """A function that returns several arrays does not run on the mesh that was set."""

    def sides(self, call: Call) -> list[Side]:
        several = not call.eager and not call.arguments and len(call.outs) > 1
        return [it for it in super().sides(call) if not (several and it.part == "context")]


@fault("MSH-38")
class PjitKnowsOldContextsOnly(Model):
    """pjit heeds `with mesh:`, and not what set_mesh set."""

    def sides(self, call: Call) -> list[Side]:
        return [it for it in super().sides(call) if not (call.mesh is not None and it.part == "context")]

    def home_of(self, call: Call) -> Side | None:
        return None if self.mesh_that_places() is not None else super().home_of(call)


@fault("MSH-39")
class MadeAtHome(Model):
    """What is made eagerly of nothing lies on the default device, whatever mesh was set."""

    def sides(self, call: Call) -> list[Side]:
        made = call.eager and all(it.committed is None and it.aval.shape == () for it in call.arguments)
        return [it for it in super().sides(call) if not (made and it.part == "context")]


@fault("MSH-40")
class LooseStayAtHome(Model):
    """A jitted function of arguments that are committed nowhere runs on the default device, whatever mesh was set."""

    def sides(self, call: Call) -> list[Side]:
        found = super().sides(call)
        return [] if is_loose(call) and [it.part for it in found] == ["context"] else found


@fault("MSH-70")
class HomesAreRemembered(Model):
    """Where a program without arguments ran first, it runs for ever."""

    @cached_property
    def homes(self) -> WeakKeyDictionary[Program, Side | None]:
        return WeakKeyDictionary()

    def agree(self, call: Call) -> Side | None:
        found = super().agree(call)
        return found if call.arguments or call.eager else self.homes.setdefault(call.program, found)


# --- contexts within contexts -----------------------------------------------------------------------------------------


@fault("MSH-41")
class TheOuterHolds(Model):
    """A mesh that is entered within the context of another one is in context behind it."""

    def enter(self, mesh: Mesh) -> None:
        super().enter(mesh)
        HELD.meshes.insert(0, HELD.meshes.pop())


@fault("MSH-42", also=["MSH-44"])
class AllAreLeft(Model):
    """Who leaves the context of a mesh leaves those of all others around it."""

    def leave(self, mesh: Mesh, failed: bool = False) -> None:
        if len(set(HELD.meshes)) == len(HELD.meshes):
            HELD.meshes.clear()
        elif HELD.meshes:
            super().leave(mesh, failed)


@fault("MSH-43", also=["MSH-44"])
class OneMoreCall(Model):
    """The call after contexts in a context still runs on the outermost mesh."""

    nested, stale = False, None

    def enter(self, mesh: Mesh) -> None:
        super().enter(mesh)
        self.nested = len(HELD.meshes) > 1

    def leave(self, mesh: Mesh, failed: bool = False) -> None:
        super().leave(mesh, failed)
        self.stale = mesh if self.nested and not HELD.meshes else None

    def home_of(self, call: Call) -> Side | None:
        home, stale, self.stale = super().home_of(call), self.stale, None
        return Side("context", replicated_over(stale), "") if home is None and stale is not None else home


@fault("MSH-44", also=["MSH-45"])
class ErrorsLeaveAll(Model):
    """An exception leaves all contexts at once."""

    def leave(self, mesh: Mesh, failed: bool = False) -> None:
        if failed:
            HELD.meshes.clear()
        elif HELD.meshes:
            super().leave(mesh, failed)


@fault("MSH-45", also=["MSH-44"])
class EnteredOnce(Model):
    """A mesh that is in context is not put there again, and is left by whoever leaves it first."""

    def enter(self, mesh: Mesh) -> None:
        if (mesh, False) not in HELD.meshes:
            super().enter(mesh)

    def leave(self, mesh: Mesh, failed: bool = False) -> None:
        if (mesh, False) in HELD.meshes:
            super().leave(mesh, failed)


@fault("MSH-46")
class KindsAreMixedUp(Model):
    """Where one mesh is set and another one entered, the inner one is taken backwards."""

    def mesh_in_context(self) -> Mesh | None:
        mesh = super().mesh_in_context()
        if mesh is None or len({is_set for _, is_set in HELD.meshes}) == 1:
            return mesh
        return over(mesh, mesh.ordered[::-1])


# --- threads ----------------------------------------------------------------------------------------------------------


class Shared(Model):
    """A model in which a thread without a mesh in context has the one that another thread entered."""

    shared: Mesh | None = None

    def shares(self) -> bool:
        raise NotImplementedError

    def enter(self, mesh: Mesh) -> None:
        super().enter(mesh)
        self.shared = mesh if self.shares() else None

    def leave(self, mesh: Mesh, failed: bool = False) -> None:
        super().leave(mesh, failed)
        self.shared = None

    def mesh_in_context(self) -> Mesh | None:
        return super().mesh_in_context() or (None if HELD.meshes else self.shared)


@fault("MSH-47")
class ThreadsInherit(Shared):
    """What the first thread has in context, all threads have."""

    def shares(self) -> bool:
        return threading.current_thread() is threading.main_thread()


@fault("MSH-49")
class ThreadsEnterForAll(Shared):
    """What another thread than the first puts in context, all threads have."""

    def shares(self) -> bool:
        return threading.current_thread() is not threading.main_thread()


@fault("MSH-48")
class TheLastThreadWins(Model):
    """All threads but the first have the mesh in context that one of them entered last."""

    latest: Mesh | None = None

    def enter(self, mesh: Mesh) -> None:
        super().enter(mesh)
        self.latest = mesh

    def mesh_in_context(self) -> Mesh | None:
        mesh = super().mesh_in_context()
        return mesh if mesh is None or threading.current_thread() is threading.main_thread() else self.latest


# --- specs alone ------------------------------------------------------------------------------------------------------


@fault("MSH-58")
class OutInOrderOfIds(Model):
    """A spec alone in out_shardings of pjit means the devices of the mesh in the order of their ids."""

    def named(self, sharding: Any, name: str, mesh: Mesh | None) -> Sharding | None:
        found = super().named(sharding, name, mesh)
        if name == "out_shardings" and isinstance(sharding, PartitionSpec) and self.mesh_that_places() is None:
            assert isinstance(found, NamedSharding)
            assert isinstance(found.mesh, Mesh)
            return NamedSharding(over(found.mesh, sorted(found.mesh.ordered, key=lambda it: it.id)), sharding)
        return found


@fault("MSH-63")
class OutIsWhole(Model):
    """A spec alone in out_shardings says on which mesh a result lies, and not how it is cut."""

    def named(self, sharding: Any, name: str, mesh: Mesh | None) -> Sharding | None:
        found = super().named(sharding, name, mesh)
        if name == "out_shardings" and isinstance(sharding, PartitionSpec) and mesh is not None:
            return NamedSharding(mesh, PartitionSpec())
        return found


@fault("MSH-68")
class PutsInOrderOfIds(Model):
    """A put to a spec alone takes the devices of the mesh in the order of their ids."""

    def place(self, x: Any, target: Any) -> Any:
        mesh = self.mesh_that_places()
        if isinstance(target, PartitionSpec) and mesh is not None:
            target = NamedSharding(over(mesh, sorted(mesh.ordered, key=lambda it: it.id)), target)
        return super().place(x, target)


@fault("MSH-54")
class MissingIsAnAttribute(Model):
    """Where no mesh is in context, a spec alone ends in an AttributeError."""

    def named(self, sharding: Any, name: str, mesh: Mesh | None) -> Sharding | None:
        try:
            return super().named(sharding, name, mesh)
        except RuntimeError as error:
            raise AttributeError(str(error)) from None


@fault("MSH-55")
class MissingIsNotSaid(Model):
    """The refusal of a spec alone does not say what it is that is missing."""

    def named(self, sharding: Any, name: str, mesh: Mesh | None) -> Sharding | None:
        try:
            return super().named(sharding, name, mesh)
        except RuntimeError:
            raise RuntimeError(f"{name} is {sharding} alone, which does not do here") from None


@fault("MSH-56", also=["MSH-57", "MSH-59"])
class UnknownAxesCutNothing(Model):
    """An axis that the mesh in context has not cuts nothing, in out_shardings."""

    def named(self, sharding: Any, name: str, mesh: Mesh | None) -> Sharding | None:
        if name == "out_shardings" and isinstance(sharding, PartitionSpec) and mesh is not None:
            sharding = PartitionSpec(*(it if it in mesh.axis_names else None for it in sharding))
        return super().named(sharding, name, mesh)


@fault("MSH-57")
class UnknownAxesAreNotNamed(Model):
    """The refusal of an axis that there is not does not name it."""

    def named(self, sharding: Any, name: str, mesh: Mesh | None) -> Sharding | None:
        try:
            return super().named(sharding, name, mesh)
        except ValueError:
            raise ValueError(f"the mesh in context has not all axes of {name}") from None


@fault("MSH-59")
class RefusedSpecsCompile(Model):
    """Something is compiled before a spec alone is refused."""

    def named(self, sharding: Any, name: str, mesh: Mesh | None) -> Sharding | None:
        try:
            return super().named(sharding, name, mesh)
        except (RuntimeError, ValueError):
            self.counts["compile"] += 1
            raise


# --- set_mesh ---------------------------------------------------------------------------------------------------------


@fault("MSH-50", also=["MSH-51"])
class SetHasToBeEntered(Model):
    """A mesh that is set holds once it is entered."""

    def holds_at_once(self) -> bool:
        return False


@fault("MSH-51", also=["MSH-42", "MSH-44", "MSH-45", "MSH-60", "MSH-61", "MSH-64"])
class LeavingForgets(Model):
    """Who leaves a mesh that was set leaves all."""

    def restore(self, before: list[tuple[Mesh | None, bool]]) -> None:
        HELD.meshes.clear()


@fault("MSH-64")
class NoneIsNothing(Model):
    """Setting None leaves the mesh in context that is there."""

    def put_in_context(self, mesh: Mesh | None) -> list[tuple[Mesh | None, bool]]:
        return list(HELD.meshes) if mesh is None else super().put_in_context(mesh)


@fault("MSH-60")
class GotInOrderOfIds(Model):
    """`get_mesh` gives the devices in the order of their ids."""

    def get_mesh(self) -> Mesh:
        mesh = super().get_mesh()
        return mesh if mesh.empty else over(mesh, sorted(mesh.ordered, key=lambda it: it.id))


@fault("MSH-61")
class TracesHaveNoMesh(Model):
    """While a function is traced, `get_abstract_mesh` gives the empty mesh."""

    def get_abstract_mesh(self) -> AbstractMesh:
        return AbstractMesh((), ()) if HELD.traces else super().get_abstract_mesh()


@fault("MSH-52")
class TracesMaySet(Model):
    """A function that is being traced may set a mesh."""

    def set_mesh(self, mesh: Mesh | None) -> SetMesh:
        return SetMesh(self, mesh) if HELD.traces else super().set_mesh(mesh)


@fault("MSH-66")
class RefusedAndSet(Model):
    """A mesh that a traced function set is refused, and holds for the next call."""

    stale: Mesh | None = None

    def set_mesh(self, mesh: Mesh | None) -> SetMesh:
        self.stale = mesh if HELD.traces else None
        return super().set_mesh(mesh)

    def sides(self, call: Call) -> list[Side]:
        stale, self.stale = self.stale, None
        return super().sides(call) + ([] if stale is None else [Side("context", replicated_over(stale), "")])


@fault("MSH-53")
class TracesEnterNothing(Model):
    """`with mesh:` within a function that is being traced does nothing."""

    def enter(self, mesh: Mesh) -> None:
        if not HELD.traces:
            super().enter(mesh)

    def leave(self, mesh: Mesh, failed: bool = False) -> None:
        if not HELD.traces:
            super().leave(mesh, failed)


@fault("MSH-65")
class AbstractMeshesAreNone(Model):
    """An abstract mesh that is set is taken for none."""

    def set_mesh(self, mesh: Any) -> SetMesh:
        return super().set_mesh(None if isinstance(mesh, AbstractMesh) else mesh)


@fault("MSH-67")
class RefusedAndForgotten(Model):
    """When something is refused as no mesh, the mesh in context is gone."""

    def set_mesh(self, mesh: Any) -> SetMesh:
        if not isinstance(mesh, Mesh | None):
            HELD.meshes.clear()
        return super().set_mesh(mesh)


# --- arrays on the devices of the mesh, cut otherwise -----------------------------------------------------------------


@fault("MSH-62")
class AxesHaveToAgree(Model):
    """An array over another mesh than the one that was set is refused, be it on the same devices."""

    def apart(self, one: Side, other: Side) -> bool:
        meshes = [getattr(it.sharding, "mesh", None) for it in (one, other)]
        return super().apart(one, other) or (other.part == "context" and meshes[0] != meshes[1])


@fault("MSH-69")
class GuestsAreRelaid(Model):
    """An array that is used under a mesh lies on it from then on."""

    def feed(self, argument: Argument, home: Side | None) -> np.ndarray:
        mesh = self.mesh_that_places()
        if mesh is not None and argument.committed is not None and isinstance(argument.value, Array):
            move(self, argument.value, replicated_over(mesh))
        return super().feed(argument, home)


# --- shardings left to the compiler -----------------------------------------------------------------------------------


@fault("MSH-71", contract="0.9.2")
class AutoKeepsDevicesAlone(Model):
    """Of the mesh over which shardings are left to the compiler, the module has the devices alone, as one long axis."""

    def automatic(self, left: AUTO) -> Sharding | None:
        return replicated_over(Mesh(np.array(left.mesh.ordered, dtype=object), ("devices",)))


@fault("MSH-72", also=["MSH-71", "MSH-73"], contract="0.9.2")
class AutoIsNoSharding(Model):
    """Shardings that are left to the compiler are none, and their mesh is lost."""

    def automatic(self, left: AUTO) -> Sharding | None:
        return None


class Left(NamedSharding):
    """One that was left to the compiler."""


@fault("MSH-73", contract="0.9.2")
class AutoIsNotCompiled(Model):
    """What is left to the compiler cannot be compiled."""

    def automatic(self, left: AUTO) -> Sharding | None:
        return Left(left.mesh, PartitionSpec())

    def compile_ahead(self, lowered: LoweredJit, *options: Any) -> CompiledJit:
        if any(isinstance(it, Left) for it in lowered.lowered.call.outs):
            raise NotImplementedError("no automatic partitioner is there")
        return super().compile_ahead(lowered, *options)
