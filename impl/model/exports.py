"""Programs that are taken elsewhere: exported, written down as bytes, read back, and called."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from . import trees
from .agreement import Argument, Call, committed_to
from .arrays import Array
from .avals import Aval
from .jit import Jits, Jitted
from .meshes import Mesh
from .programs import Program
from .shardings import NamedSharding, Sharding
from .words import shown

MARK = b"exported by the model\n"
"""What the bytes of an exported program start with."""


@dataclass(frozen=True, eq=False, repr=False)
class Exported:
    """A program that names no device: how many it is for, of which platforms, and what it takes and gives."""

    model: Exports
    fun_name: str
    program: Program
    names: tuple[tuple[str, int | None], ...]
    outs: tuple[Sharding | None, ...]
    in_tree: trees.Tree
    nr_devices: int
    platforms: tuple[str, ...]
    text: str

    @property
    def in_avals(self) -> tuple[Aval, ...]:
        return tuple(var.aval for var in self.program.inputs[: len(self.names)])

    @property
    def out_avals(self) -> tuple[Aval, ...]:
        return self.program.avals

    @property
    def out_tree(self) -> trees.Tree:
        return self.program.tree

    def mlir_module(self) -> str:
        return self.text

    def serialize(self) -> bytearray:
        return self.model.as_bytes(self)

    def call(self, *args: Any, **kwargs: Any) -> Any:
        return self.model.call_exported(self, args, kwargs)


class Exports(Jits):
    """The steps by which programs are taken elsewhere."""

    def export(self, fun_jit: Any, *, platforms: Sequence[str] | None = None) -> Callable[..., Exported]:
        """What exports a jitted function for arguments, or for what stands for them; nothing is compiled. AOT-83."""
        if not isinstance(fun_jit, Jitted):
            raise ValueError(f"what is exported was given to jit before: got {shown(fun_jit)}")

        def exported(*args: Any, **kwargs: Any) -> Exported:
            lowered = self.lower_jitted(fun_jit, args, kwargs)
            call, devices = lowered.call, self.devices_of(lowered.lowered.home)
            return Exported(
                self,
                call.program.name,
                self.without_devices(call.program),
                tuple((it.name, it.position) for it in call.arguments),
                tuple(map(_abstract, call.outs)),
                lowered.tree,
                len(devices),
                tuple(platforms or (devices[0].platform,)),
                lowered.as_text(),
            )

        return exported

    def without_devices(self, program: Program) -> Program:
        """A program whose shardings name axes and no devices, so that it can be called on others. AOT-77, AOT-78."""
        equations = tuple(
            replace(it, params={name: self.param_without_devices(value) for name, value in it.params.items()})
            for it in program.equations
        )
        captured = tuple(np.array(self.value(it)) if isinstance(it, Array) else it for it in program.captured)
        return replace(program, equations=equations, captured=captured)

    def param_without_devices(self, value: Any) -> Any:
        """The same of what an operation is told."""
        if isinstance(value, tuple):
            return tuple(map(self.param_without_devices, value))
        if isinstance(value, Program):
            return self.without_devices(value)
        if isinstance(value, Mesh):
            return value.abstract_mesh
        return _abstract(value) if isinstance(value, Sharding) else value

    def as_bytes(self, exported: Exported) -> bytearray:
        """An exported program as bytes. AOT-79, AOT-80, AOT-81, AOT-82, AOT-83."""
        parts = {name: value for name, value in vars(exported).items() if name != "model"}
        return bytearray(MARK + pickle.dumps(parts))

    def deserialize(self, blob: bytes | bytearray) -> Exported:
        """An exported program that is read back. AOT-79, AOT-80, AOT-81, AOT-82, AOT-83."""
        if not bytes(blob).startswith(MARK):
            raise ValueError("these bytes are no exported program")
        return Exported(self, **pickle.loads(bytes(blob)[len(MARK) :]))

    # --- a call of an exported program --------------------------------------------------------------------------------

    def call_exported(self, exported: Exported, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Runs an exported program where its arguments lie, as the jitted function would be. AOT-76, AOT-77, AOT-78.

        What does not fit is refused before anything is compiled, moved or deleted. AOT-79, AOT-84, AOT-87, AOT-88.
        """
        leaves, tree = trees.flatten((tuple(args), kwargs))
        if self.is_misshapen(exported.in_tree, tree):
            raise self.misshapen(exported.fun_name, exported.in_tree, tree)
        arguments = []
        for (name, position), var, value in zip(exported.names, exported.program.inputs, leaves, strict=False):
            argument = Argument(name, position, value, var.aval, committed_to(value))
            arguments.append(argument)
        call = Call(exported.program, tuple(arguments), exported.outs)
        for argument in arguments:
            given = self.given_aval(exported.fun_name, argument, argument.value)
            if self.is_mistyped_there(call, argument, given):
                raise self.mistyped(exported.fun_name, argument, given)
        self.check_runs_there(exported, call)
        return exported.program.result(self.call(call))

    def is_mistyped_there(self, call: Call, argument: Argument, given: Aval) -> bool:
        """Whether an argument of an exported program is of another type than it was exported for. AOT-87."""
        return self.is_mistyped(call, argument, given)

    def check_runs_there(self, exported: Exported, call: Call) -> None:
        """Refuses to run on another number of devices, or another platform, than a program is for.

        AOT-84, AOT-85, AOT-86.
        """
        devices = self.devices_of(self.agree(call))
        if len(devices) != exported.nr_devices:
            raise self.other_number(exported, len(devices))
        if devices[0].platform not in exported.platforms:
            raise self.other_platform(exported, devices[0].platform)

    def other_number(self, exported: Exported, number: int) -> Exception:
        """The error that names both numbers of devices. AOT-85, AOT-88."""
        return ValueError(
            f"{exported.fun_name} was exported for {exported.nr_devices} devices, and is called on {number} devices"
        )

    def other_platform(self, exported: Exported, platform: str) -> Exception:
        """The error that names both platforms. AOT-86."""
        return ValueError(
            f"{exported.fun_name} was exported for {', '.join(exported.platforms)}, and is called on {platform}"
        )


def _abstract(sharding: Any) -> Any:
    """A sharding over the axes of its mesh alone."""
    if isinstance(sharding, NamedSharding) and isinstance(sharding.mesh, Mesh):
        return NamedSharding(sharding.mesh.abstract_mesh, sharding.spec)
    return sharding
