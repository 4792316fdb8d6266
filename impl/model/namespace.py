"""The names of JAX over a model: what probes get as `jax`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import ml_dtypes
import numpy as np

from impl.host.names import Names, offer

from . import trees
from .avals import WEAK, WIDER, ShapeDtypeStruct
from .creation import Creation, Numbers
from .layouts import Format, Layout
from .meshes import AUTO, AxisType
from .model import Model
from .operators import Operators
from .positional import GSPMDSharding, PositionalSharding
from .shardings import NamedSharding, SingleDeviceSharding

DATED = {
    "experimental.layout.Format": "format",
    "experimental.layout.Layout": "format",
    "experimental.pjit.AUTO": "auto",
    "export.deserialize": "export",
    "export.export": "export",
    "set_mesh": "set_mesh",
    "shard_map": "shard_map",
    "sharding.AbstractMesh": "abstract_mesh",
    "sharding.AxisType": "axis_types",
    "sharding.GSPMDSharding": "gspmd_sharding",
    "sharding.PositionalSharding": "positional_sharding",
    "sharding.get_abstract_mesh": "get_abstract_mesh",
    "sharding.get_mesh": "get_mesh",
    "make_mesh": "make_mesh",
}
"""The names that were not always there, with the promise that brought them."""


DTYPES = [name for name in WIDER if name not in WEAK.values()]
"""The names of types of numbers in `jax.numpy`."""


def of(model: Model) -> Names:
    """The namespace, as of the date of the model's contract."""
    names = Names()
    for name, it in table(model).items():
        if name not in DATED or model.contract.promises(DATED[name]):
            offer(names, name, it)
    return names


def table(model: Model) -> dict[str, Any]:
    """What each name stands for."""
    return {
        "Array": Operators,  # arrays, and what stands for them in a program
        "ShapeDtypeStruct": ShapeDtypeStruct,
        "block_until_ready": model.block_until_ready,
        "clear_caches": model.clear_caches,
        "default_device": model.default_device_is,
        "device_get": model.device_get,
        "device_put": model.device_put if model.contract.promises("device_put.flags") else _without_flags(model),
        "devices": model.devices,
        "errors.JaxRuntimeError": RuntimeError,
        "eval_shape": model.eval_shape,
        "experimental.layout.Format": Format,
        "experimental.layout.Layout": Layout,
        "experimental.mesh_utils.create_device_mesh": model.create_device_mesh,
        "experimental.pjit.AUTO": AUTO,
        "experimental.pjit.pjit": model.pjit,
        "export.deserialize": model.deserialize,
        "export.export": model.export,
        "grad": model.grad,
        "jit": model.jit,
        "lax.cond": model.cond,
        "lax.psum": model.psum,
        "lax.scan": model.scan,
        "lax.while_loop": model.while_loop,
        "lax.with_sharding_constraint": model.with_sharding_constraint,
        "live_arrays": model.live_arrays,
        "make_array_from_single_device_arrays": model.make_array_from_single_device_arrays,
        "make_mesh": model.make_mesh,
        "profiler.device_memory_profile": model.device_memory_profile,
        "random.key": model.key,
        "random.key_data": model.key_data,
        "random.wrap_key_data": model.wrap_key_data,
        "set_mesh": model.set_mesh,
        "shard_map": model.shard_map,
        "sharding.AbstractMesh": model.abstract_mesh,
        "sharding.AxisType": AxisType,
        "sharding.GSPMDSharding": GSPMDSharding,
        "sharding.Mesh": model.mesh,
        "sharding.NamedSharding": NamedSharding,
        "sharding.PartitionSpec": model.PartitionSpec,
        "sharding.PositionalSharding": PositionalSharding,
        "sharding.SingleDeviceSharding": SingleDeviceSharding,
        "sharding.get_abstract_mesh": model.get_abstract_mesh,
        "sharding.get_mesh": model.get_mesh,
        "sharding.in_logical_order": _in_logical_order,
        "tree.leaves": trees.leaves,
        "tree.map": trees.map,
        "tree.structure": trees.structure,
        "vjp": model.vjp,
        "vmap": model.vmap,
        **{f"numpy.{name}": getattr(model, name) for name in NUMPY},
        **{f"numpy.{name}": partial(model.apply, operation) for name, operation in ELEMENTWISE.items()},
        **{f"numpy.{name}": getattr(Creation(model), name) for name in CREATION},
        **{f"numpy.{name}": Numbers(model, dtype) for name, dtype in dtypes().items()},
    }


NUMPY = ("broadcast_to", "concatenate", "matmul", "max", "mean", "power", "reshape", "sum", "transpose", "where")
"""The functions of `jax.numpy` that the model has: these,"""
ELEMENTWISE = {
    **{name: name for name in ("abs", "add", "cos", "exp", "log", "maximum", "sin", "tanh")},
    **{"subtract": "sub", "multiply": "mul", "divide": "div", "negative": "neg"},
    **{"floor_divide": "floordiv", "remainder": "mod"},
    **{"equal": "eq", "not_equal": "ne", "less": "lt", "less_equal": "le", "greater": "gt", "greater_equal": "ge"},
}
"""those that are an operation each,"""
CREATION = ("arange", "array", "asarray", "full", "ones", "ones_like", "zeros", "zeros_like")
"""and those that make arrays."""


def dtypes() -> dict[str, np.dtype]:
    """The types of numbers: NumPy's, and those that it lacks."""
    lacking = {name: getattr(ml_dtypes, name, None) for name in DTYPES if name not in np.sctypeDict}
    return {name: np.dtype(lacking.get(name, name)) for name in DTYPES if lacking.get(name, name) is not None}


def _in_logical_order(mesh: Any, spec: Any, ids: Sequence[int]) -> NamedSharding:
    """A NamedSharding whose mesh has its devices at other places, by their numbers there."""
    return NamedSharding(mesh, spec, logical_device_ids=tuple(ids))


def _without_flags(model: Model) -> Callable[..., Any]:
    """device_put as it was before its flags."""

    def device_put(x: Any, device: Any = None) -> Any:
        return model.device_put(x, device)

    return device_put
