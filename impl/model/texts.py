"""Shardings as the text of a lowered module: Shardy's dialect, and the attribute that GSPMD reads.

Devices are numbered by their place in the program, which is their place in the sharding's order; their ids are nowhere.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .keys import KEY, NUMBERS
from .shardings import NamedSharding, Sharding, SingleDeviceSharding
from .specs import UNCONSTRAINED

ELEMENTS = {"bool": "i", "int": "i", "uint": "ui", "float": "f", "bfloat": "bf"}
"""How MLIR starts the name of a type of numbers."""


@dataclass(frozen=True)
class Declared:
    """An argument or a result of a program, as its module declares it.

    `memory` is a kind of memory where the program says any; `aliases` is the result that may take an argument's memory,
    `donor` says that some result may, whichever the compiler finds. Keys are declared as the numbers beneath them,
    which are never cut within a key.
    """

    shape: tuple[int, ...]
    dtype: Any
    sharding: Sharding | None = None
    memory: str | None = None
    aliases: int | None = None
    donor: bool = False


def module(
    arguments: Sequence[Declared],
    results: Sequence[Declared],
    *,
    partitioner: str,
    devices: int,
    name: str = "main",
    placed: Sequence[str] = (),
    constraints: Sequence[Declared] = (),
) -> str:
    """A module that declares a function, its arguments and results annotated for a partitioner.

    Of what the function does, it says in which kinds of memory something is `placed`, and what is constrained how.
    """
    meshes = Meshes()
    ins = ", ".join(_declared(it, partitioner, meshes) for it in arguments)
    outs = ", ".join(_declared(it, partitioner, meshes) for it in results)
    inside = [_constrained(it, partitioner, meshes) for it in constraints]
    lines = [*meshes.lines(), f"func.func private @{name}({ins}) -> ({outs})", *map(_placed, placed), *inside]
    counts = f"mhlo.num_partitions = {devices} : i32, mhlo.num_replicas = 1 : i32"
    return "\n".join([f"module attributes {{{counts}}} {{", *(f"  {line}" for line in lines), "}", ""])


class Meshes:
    """The meshes of a module, each with the name that stands for it."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def name(self, sharding: Sharding) -> str:
        """The name of a sharding's mesh; a new one where it is not among them yet."""
        mesh = sdy_mesh(sharding)
        if mesh not in self._names:
            number = sum(it != "empty_mesh" for it in self._names.values())
            self._names[mesh] = "empty_mesh" if mesh == EMPTY else f"mesh_{number - 1}" if number else "mesh"
        return self._names[mesh]

    def lines(self) -> list[str]:
        """What declares them."""
        return [f"sdy.mesh @{name} = {mesh}" for mesh, name in self._names.items()]


EMPTY = "<[]>"


def sdy_mesh(sharding: Sharding) -> str:
    """The mesh of a sharding for Shardy; one device without a mesh has the empty one."""
    if isinstance(sharding, SingleDeviceSharding):
        return EMPTY
    if not isinstance(sharding, NamedSharding):
        raise NotImplementedError(f"Shardy has no text for a sharding without named axes: {sharding}")
    axes = ", ".join(f'"{name}"={size}' for name, size in sharding.mesh.shape_tuple)
    logical = sharding.logical_device_ids
    if logical is None or logical == tuple(range(len(logical))):
        return f"<[{axes}]>"
    return f"<[{axes}], device_ids=[{', '.join(map(str, logical))}]>"


def sdy(sharding: Sharding, ndim: int, mesh: str = "mesh") -> str:
    """How arrays of that rank are cut, for Shardy, over a mesh with a name: `<@mesh, [{"x"}, {}]>`."""
    spec = sharding.spec if isinstance(sharding, NamedSharding) else ()
    parts = [*spec, *[None] * (ndim - len(spec))][:ndim]
    return f"<@{mesh}, [{', '.join(map(_sdy_part, parts))}]>"


def hlo(sharding: Sharding, ndim: int) -> str:
    """How arrays of that rank are cut, for GSPMD: `{devices=[2,1,2]<=[4] last_tile_dim_replicate}`.

    The numbers after the tiles say which device has which: listed, or counted over axes in another order.
    """
    tiling = sharding.tiling(ndim)
    tiles = math.prod(tiling.counts)
    if tiles == 1:
        return "{replicated}"
    replicas = len(tiling.coordinates) // tiles
    counts = _numbers((*tiling.counts, replicas) if replicas > 1 else tiling.counts)
    last = " last_tile_dim_replicate" if replicas > 1 else ""
    if isinstance(sharding, NamedSharding) and sharding.logical_device_ids is None:
        order = _counted(sharding)
    else:
        order = _listed(tiling.counts, tiling.coordinates)
    return f"{{devices=[{counts}]{order}{last}}}"


def unspecified(sharding: Sharding) -> str:
    """The dimensions that a constraint leaves to GSPMD: `unspecified_dims=[0]`; nothing where there are none."""
    spec = sharding.spec if isinstance(sharding, NamedSharding) else ()
    open_ = [dimension for dimension, part in enumerate(spec) if part is UNCONSTRAINED]
    return f"unspecified_dims=[{_numbers(open_)}]" if open_ else ""


def compiled(
    name: str,
    arguments: Sequence[tuple[tuple[int, ...], Any]],
    results: Sequence[tuple[tuple[int, ...], Any]],
    aliases: Mapping[int, int],
    *,
    devices: int,
) -> str:
    """The first line of a compiled module: shapes and dtypes per device, and which result lies in which parameter."""
    alone = len(results) == 1
    shared = ", ".join(
        f"{{{'' if alone else result}}}: ({parameter}, {{}}, may-alias)"
        for result, parameter in sorted(aliases.items())
    )
    ins, outs = (", ".join(_laid_out(*it) for it in some) for some in (arguments, results))
    parts = [
        f"HloModule jit_{_plain(name)}, is_scheduled=true",
        *([f"input_output_alias={{ {shared} }}"] if shared else []),
        f"entry_computation_layout={{({ins})->{outs if alone else f'({outs})'}}}",
        *([f"num_partitions={devices}"] if devices > 1 else []),
    ]
    return ", ".join(parts) + "\n"


def hlo_module(
    name: str,
    arguments: Sequence[tuple[tuple[int, ...], Any, Sharding | None]],
    results: Sequence[tuple[tuple[int, ...], Any]],
) -> str:
    """An HLO module that declares a function: its parameters, with their shardings in HLO's words, and its result."""
    ins = ", ".join(_laid_out(shape, dtype) for shape, dtype, _ in arguments)
    outs = ", ".join(_laid_out(*it) for it in results)
    given = outs if len(results) == 1 else f"({outs})"
    lines = [f"HloModule jit_{_plain(name)}, entry_computation_layout={{({ins})->{given}}}", "", "ENTRY main {"]
    for number, (shape, dtype, sharding) in enumerate(arguments):
        cut = f", sharding={hlo(sharding, len(numbers(shape, dtype)[0]))}" if sharding is not None else ""
        lines.append(f"  Arg_{number} = {_laid_out(shape, dtype)} parameter({number}){cut}")
    return "\n".join([*lines, f"  ROOT result = {given} custom-call()", "}", ""])


def _plain(name: str) -> str:
    """A name as modules have it."""
    return re.sub(r"[^A-Za-z0-9_.-]", "_", name)


def numbers(shape: tuple[int, ...], dtype: Any) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """What the compiler has of an array: of keys, the numbers beneath."""
    return ((*shape, *NUMBERS), np.dtype(np.uint32)) if dtype is KEY else (shape, dtype)


def size(shape: tuple[int, ...], dtype: Any) -> int:
    """How many bytes an array takes."""
    shape, dtype = numbers(shape, dtype)
    return math.prod(shape) * int(dtype.itemsize)


def _laid_out(shape: tuple[int, ...], dtype: Any) -> str:
    """A shape with its layout, the innermost dimension first, in the compiler's own names: `f32[8,8]{1,0}`."""
    shape, dtype = numbers(shape, dtype)
    element = {"bool": "pred", "c": f"c{dtype.itemsize * 8}"}.get(dtype.name if dtype.name == "bool" else dtype.kind)
    name = element or re.sub("^i", "s", _element(dtype).lower()).replace("ui", "u")
    layout = f"{{{_numbers(reversed(range(len(shape))))}}}" if shape else ""
    return f"{name}[{_numbers(shape)}]{layout}"


def _declared(it: Declared, partitioner: str, meshes: Meshes) -> str:
    shape, dtype = numbers(it.shape, it.dtype)
    attributes = {
        "mhlo.memory_kind": it.memory and f'"{it.memory}"',
        **(_annotation(it.sharding, len(shape), partitioner, meshes) if it.sharding else {}),
        "tf.aliasing_output": None if it.aliases is None else f"{it.aliases} : i32",
        "jax.buffer_donor": "true" if it.donor else None,
    }
    given = ", ".join(f"{name} = {text}" for name, text in attributes.items() if text)
    kind = _tensor(shape, dtype)
    return f"{kind} {{{given}}}" if given else kind


def _tensor(shape: tuple[int, ...], dtype: np.dtype[Any]) -> str:
    """MLIR's name of a type of arrays: `tensor<8x8xf32>`."""
    return f"tensor<{''.join(f'{size}x' for size in shape)}{_element(dtype)}>"


def _constrained(it: Declared, partitioner: str, meshes: Meshes) -> str:
    """A constraint on a value of the program."""
    assert it.sharding is not None
    shape, dtype = numbers(it.shape, it.dtype)
    kind = _tensor(shape, dtype)
    if partitioner == "shardy":
        return f"sdy.sharding_constraint %0 {sdy(it.sharding, len(shape), meshes.name(it.sharding))} : {kind}"
    said = f'backend_config = "{unspecified(it.sharding)}", mhlo.sharding = "{hlo(it.sharding, len(shape))}"'
    return f"stablehlo.custom_call @Sharding(%0) {{{said}}} : ({kind}) -> {kind}"


def _placed(kind: str) -> str:
    attributes = f'{{_xla_buffer_placement = "{kind}"}}'
    return f"stablehlo.custom_call @annotate_device_placement() {{mhlo.frontend_attributes = {attributes}}} : () -> ()"


def _annotation(sharding: Sharding, ndim: int, partitioner: str, meshes: Meshes) -> dict[str, str]:
    if partitioner == "gspmd":
        return {"mhlo.sharding": f'"{hlo(sharding, ndim)}"'}
    return {"sdy.sharding": f"#sdy.sharding{sdy(sharding, ndim, meshes.name(sharding))}"}


def _element(dtype: np.dtype[Any]) -> str:
    """MLIR's name of a type of numbers."""
    if dtype.kind == "c":
        return f"complex<f{dtype.itemsize * 4}>"
    found = re.fullmatch(r"([a-z]+)(\d*)(?:_(\w+))?", dtype.name)
    assert found, dtype
    return f"{ELEMENTS[found[1]]}{found[2] or 1}{(found[3] or '').upper()}"


def _sdy_part(part: Any) -> str:
    if part is None:
        return "{}"
    if part is UNCONSTRAINED:
        return "{?}"
    return f"{{{', '.join(f'{chr(34)}{axis}{chr(34)}' for axis in (part if isinstance(part, tuple) else (part,)))}}}"


def _counted(sharding: NamedSharding) -> str:
    """The devices counted up in the mesh, its axes taken in the spec's order and those that cut nothing last.

    Axes of one device count for nothing, and axes that stay side by side count as one.
    """
    mesh = sharding.mesh
    cutting = sharding.spec.named
    taken = [*cutting, *(axis for axis in mesh.axis_names if axis not in cutting)]
    long = [axis for axis in mesh.axis_names if mesh.shape[axis] > 1]
    runs: list[list[Any]] = []
    for axis in (it for it in taken if it in long):
        if runs and long.index(axis) == long.index(runs[-1][-1]) + 1:
            runs[-1].append(axis)
        else:
            runs.append([axis])
    grid = sorted(runs, key=lambda run: long.index(run[0]))
    sizes = _numbers(math.prod(mesh.shape[axis] for axis in run) for run in grid)
    return f"<=[{sizes}]" if len(runs) == 1 else f"<=[{sizes}]T({_numbers(grid.index(run) for run in runs)})"


def _listed(counts: tuple[int, ...], coordinates: np.ndarray[Any, Any]) -> str:
    """The devices of each tile in turn, those of one tile in their own order."""
    tile = np.ravel_multi_index(tuple(coordinates.T), counts)
    return _numbers(np.argsort(tile, kind="stable"))


def _numbers(given: Any) -> str:
    return ",".join(map(str, given))
