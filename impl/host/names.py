"""What probes get as `jax`: the names of today's JAX that they may use, and no others.

Every subject offers these names, so the list is the shape that JAX as installed, the model, an enforced layer or a
fault has to have. What a spelling cannot hide, a probe gets right itself: the sizes of a mesh, a layout and its
sharding are given by position, the types of axes by keyword and always (their default has changed).
"""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

NAMES = (
    "Array",
    "ShapeDtypeStruct",
    "block_until_ready",
    "clear_caches",
    "default_device",
    "device_get",
    "device_put",
    "devices",
    "errors.JaxRuntimeError",
    "errors.ShardingTypeError",
    "eval_shape",
    "experimental.layout.Format",
    "experimental.layout.Layout",
    "experimental.mesh_utils.create_device_mesh",
    "experimental.pjit.AUTO",
    "experimental.pjit.pjit",
    "export.deserialize",
    "export.export",
    "grad",
    "jit",
    "lax.cond",
    "lax.psum",
    "lax.scan",
    "lax.while_loop",
    "lax.with_sharding_constraint",
    "live_arrays",
    "make_array_from_single_device_arrays",
    "make_mesh",
    "numpy",
    "profiler.device_memory_profile",
    "random.key",
    "random.key_data",
    "random.wrap_key_data",
    "reshard",
    "set_mesh",
    "shard_map",
    "sharding.AbstractMesh",
    "sharding.AxisType",
    "sharding.GSPMDSharding",
    "sharding.Mesh",
    "sharding.NamedSharding",
    "sharding.PartitionSpec",
    "sharding.PositionalSharding",
    "sharding.SingleDeviceSharding",
    "sharding.get_abstract_mesh",
    "sharding.get_mesh",
    "sharding.in_logical_order",
    "tree.leaves",
    "tree.map",
    "tree.structure",
    "vjp",
    "vmap",
)

CAPABILITIES = {
    "errors.ShardingTypeError": "sharding_type_error",
    "experimental.layout.Format": "format",
    "experimental.layout.Layout": "format",
    "experimental.pjit.AUTO": "auto",
    "export.deserialize": "export",
    "export.export": "export",
    "reshard": "reshard",
    "set_mesh": "set_mesh",
    "shard_map": "shard_map",
    "sharding.AbstractMesh": "abstract_mesh",
    "sharding.AxisType": "axis_types",
    "sharding.GSPMDSharding": "gspmd_sharding",
    "sharding.PositionalSharding": "positional_sharding",
    "sharding.get_abstract_mesh": "get_abstract_mesh",
    "sharding.get_mesh": "get_mesh",
    "sharding.in_logical_order": "logical_device_order",
}
"""The names that some JAX lacks, each with the capability that a rule or a case asks for to use it."""


class Names(SimpleNamespace):
    """The namespace, or a part of it; asked for a name that is not there, it says what to do. All parts are there."""

    def __init__(self, path: str = "jax") -> None:
        super().__init__()
        self._path = path

    def __getattr__(self, last: str) -> Any:
        if last.startswith("_"):  # Python's own questions
            raise AttributeError(last)
        path = f"{self._path}.{last}"
        if any(f"jax.{name}".startswith(f"{path}.") for name in NAMES):
            return vars(self).setdefault(last, Names(path))
        capability = CAPABILITIES.get(path.removeprefix("jax."))
        if capability:
            raise AttributeError(f"there is no {path} here: a rule or a case that uses it needs {capability!r}")
        raise AttributeError(f"probes have no {path}: impl/host/names.py lists the names that subjects offer")


def offer(names: Names, name: str, found: Any) -> None:
    """Puts what a name stands for into the namespace."""
    *outer, last = name.split(".")
    at = "jax"
    for part in outer:
        at = f"{at}.{part}"
        names = vars(names).setdefault(part, Names(at))
    setattr(names, last, found)


def has(names: Names, name: str) -> bool:
    """Whether the namespace has that name."""
    found: Any = names
    for part in name.split("."):
        if not hasattr(found, part):
            return False
        found = getattr(found, part)
    return True


def capabilities(names: Names) -> Iterator[str]:
    """The capabilities whose names are all there."""
    for capability in dict.fromkeys(CAPABILITIES.values()):
        if all(has(names, name) for name, needed in CAPABILITIES.items() if needed == capability):
            yield capability
