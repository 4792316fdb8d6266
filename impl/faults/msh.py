"""Faults of meshes, in the order of their chapter: each takes one step of the model wrongly.

`also` names what a slip unavoidably shows in as well: devices that are chosen wrongly lie in no right order, and a mesh
that should have been refused has no message.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from impl.model.devices import Device
from impl.model.meshes import AxisType, Mesh
from impl.model.model import Model

from . import fault

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
