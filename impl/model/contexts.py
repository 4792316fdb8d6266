"""What holds for a thread while it is within a context: meshes, a default device, and the functions being traced."""

from __future__ import annotations

import contextlib
import threading
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from .arrays import Arrays
from .devices import Device
from .meshes import AbstractMesh, Mesh
from .words import shown

if TYPE_CHECKING:
    from .caches import Caches
    from .programs import Trace


class Held(threading.local):
    """What a thread has entered, the innermost last. A mesh is there with whether `set_mesh` set it."""

    def __init__(self) -> None:
        self.meshes: list[tuple[Mesh | None, bool]] = []
        self.devices: list[Device | None] = []
        self.traces: list[Trace] = []


HELD = Held()


def entered(mesh: Mesh) -> None:
    """`with mesh:` begins."""
    HELD.meshes.append((mesh, False))


def left(mesh: Mesh) -> None:
    """`with mesh:` ends."""
    innermost = max(number for number, held in enumerate(HELD.meshes) if held == (mesh, False))
    del HELD.meshes[innermost]


@contextlib.contextmanager
def tracing(trace: Trace) -> Iterator[None]:
    """A function is traced: what it does is recorded there."""
    HELD.traces.append(trace)
    try:
        yield
    finally:
        HELD.traces.pop()


class SetMesh:
    """A mesh that holds as soon as `set_mesh` is called, until the end of its `with`, or for good.

    In older contracts it holds within its `with` alone.
    """

    def __init__(self, steps: Contexts, mesh: Mesh | None) -> None:
        self._steps, self._mesh = steps, mesh
        self._before = steps.put_in_context(mesh) if steps.holds_at_once() else None

    def __enter__(self) -> None:
        if self._before is None:
            self._before = self._steps.put_in_context(self._mesh)

    def __exit__(self, *error: object) -> None:
        assert self._before is not None
        self._steps.restore(self._before)


class DefaultDevice(contextlib.ContextDecorator):
    """A default device holds within the block, which may be entered again; None for the first device."""

    def __init__(self, device: Device | None) -> None:
        self._device = device

    def __enter__(self) -> None:
        HELD.devices.append(self._device)

    def __exit__(self, *error: object) -> None:
        HELD.devices.pop()


class Contexts(Arrays):
    """The steps that ask which context holds."""

    caches: Caches
    counts: Counter[str]
    partitioner: str

    def set_mesh(self, mesh: Mesh | None) -> SetMesh:
        """The mesh that programs run on from now on; None for none.

        DEV-30, DEV-31, DEV-37, MSH-52, MSH-65, MSH-66, MSH-67.
        """
        if not isinstance(mesh, Mesh | None):
            raise ValueError(f"set_mesh takes a mesh with devices: got {shown(mesh)}")
        if HELD.traces:
            raise ValueError(f"set_mesh was called within {HELD.traces[-1].name}, which is being traced")
        return SetMesh(self, mesh)

    def holds_at_once(self) -> bool:
        """Whether a mesh that is set holds before it is entered. MSH-50."""
        return self._model.contract.promises("set_mesh.statement")

    def put_in_context(self, mesh: Mesh | None) -> list[tuple[Mesh | None, bool]]:
        """A mesh that is set is in context from now on, in this thread; gives what was before. MSH-41, MSH-50, MSH-64.

        MSH-47, MSH-48, MSH-49.
        """
        before = list(HELD.meshes)
        HELD.meshes.append((mesh, True))
        return before

    def restore(self, before: list[tuple[Mesh | None, bool]]) -> None:
        """What was in context is so again. MSH-42, MSH-43, MSH-44, MSH-45, MSH-51."""
        HELD.meshes[:] = before

    def get_mesh(self) -> Mesh:
        """The mesh that was set; the empty one where none was. MSH-60."""
        mesh = self.mesh_that_places()
        return Mesh(np.empty((), object), ()) if mesh is None else mesh

    def get_abstract_mesh(self) -> AbstractMesh:
        """The same without its devices, while functions are traced as well. MSH-61."""
        return self.get_mesh().abstract_mesh

    def default_device_is(self, device: Device | str | None) -> DefaultDevice:
        """A context in which what nobody places lies on that device; a platform's name stands for its first."""
        if isinstance(device, str) and device in self._model.platforms:
            device = self._model.devices(device)[0]
        if not isinstance(device, Device | None):
            raise ValueError(f"default_device takes a device: got {shown(device)}")
        return DefaultDevice(device)

    def default_device(self) -> Device:
        """Where lies what nobody places: on the device of the innermost context, else on the first. DEV-26."""
        chosen = HELD.devices[-1] if HELD.devices else None
        return chosen or self._model.devices()[0]

    def mesh_in_context(self) -> Mesh | None:
        """The mesh whose axes a bare spec names: that of the innermost context, of either kind.

        DEV-33, DEV-37, MSH-46, MSH-53, MSH-54, MSH-58.
        """
        return HELD.meshes[-1][0] if HELD.meshes else None

    def mesh_that_places(self) -> Mesh | None:
        """The mesh that programs run on: that of the innermost context, if set_mesh set it.

        DEV-30, DEV-34, DEV-37, MSH-36, MSH-37, MSH-39, MSH-40, MSH-62.
        """
        mesh, is_set = HELD.meshes[-1] if HELD.meshes else (None, False)
        return mesh if is_set else None

    def clear_caches(self) -> None:
        """Nothing that was traced, lowered or compiled is kept any longer."""
        self.caches.clear()


def tracing_now() -> Trace | None:
    """The innermost trace of this thread, if a function is being traced."""
    return HELD.traces[-1] if HELD.traces else None
