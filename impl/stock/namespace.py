"""What probes get as `jax`: the names of today's JAX that they may use, and no others.

Every subject offers these names, so the list is the shape that a model, an enforced layer or a fault has to have. A
name that the installed JAX spells in an older way is found here, by what that JAX offers, never by its version. What a
spelling cannot hide, a probe gets right itself: the sizes of a mesh, a layout and its sharding are given by position,
the types of axes by keyword and always (their default has changed).
"""

from __future__ import annotations

import importlib
import inspect
import warnings
from dataclasses import dataclass
from types import ModuleType, SimpleNamespace
from typing import Any

from . import adapters

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
    "experimental.pjit.AUTO",
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
    "tree.leaves",
    "tree.map",
    "vjp",
    "vmap",
)

CAPABILITIES = {
    "errors.ShardingTypeError": "sharding_type_error",
    "experimental.layout.Format": "format",
    "experimental.layout.Layout": "format",
    "experimental.pjit.AUTO": "auto",
    "export.export": "export",
    "reshard": "reshard",
    "set_mesh": "set_mesh",
    "shard_map": "shard_map",
    "sharding.AbstractMesh": "abstract_mesh",
    "sharding.AxisType": "axis_types",
    "sharding.GSPMDSharding": "gspmd_sharding",
    "sharding.PositionalSharding": "positional_sharding",
}
"""The names that some JAX lacks, each with the capability that a rule or a case asks for to use it."""


@dataclass(frozen=True)
class Spelling:
    """One way to spell a name: a path of JAX, or `adapters.NAME` over the path that it leans on.

    It holds where the path exists and, where parameters are given, takes them.
    """

    path: str
    takes: tuple[str, ...] = ()
    over: str = ""

    def find(self, jax: ModuleType) -> Any:
        """What the name stands for here; LookupError where this spelling does not hold."""
        found = reach(jax, self.over or self.path)
        if self.takes and not set(self.takes) <= inspect.signature(found).parameters.keys():
            raise LookupError(self.path)
        return getattr(adapters, self.path.removeprefix("adapters.")) if self.over else found


LAYOUT, MESHES = "jax.experimental.layout", "jax.sharding"
SPELLINGS = {
    "errors.ShardingTypeError": (  # users meet it and cannot name it: no JAX has made it public so far
        Spelling("jax.errors.ShardingTypeError"),
        Spelling("jax._src.core.ShardingTypeError"),
    ),
    "experimental.layout.Format": (
        Spelling(f"{LAYOUT}.Format"),
        Spelling(f"{LAYOUT}.Layout", takes=("device_local_layout",)),
    ),
    "experimental.layout.Layout": (
        Spelling(f"{LAYOUT}.Layout", takes=("major_to_minor",)),
        Spelling(f"{LAYOUT}.DeviceLocalLayout"),
    ),
    "reshard": (
        Spelling("jax.reshard"),
        Spelling(f"{MESHES}.reshard"),
        Spelling("jax.experimental.shard.reshard"),
    ),
    "set_mesh": (  # a mesh as its own context is none of them: programs that name no sharding do not run on it
        Spelling("jax.set_mesh"),
        Spelling(f"{MESHES}.use_mesh"),
    ),
    "shard_map": (
        Spelling("jax.shard_map"),
        Spelling("adapters.shard_map", over="jax.experimental.shard_map.shard_map"),
    ),
    "sharding.AbstractMesh": (
        Spelling(f"{MESHES}.AbstractMesh", takes=("axis_sizes",)),
        Spelling("adapters.abstract_mesh", takes=("shape_tuple",), over=f"{MESHES}.AbstractMesh"),
    ),
}
"""How names have been spelled since 0.4.35, today's first; a name that is not here has had one spelling, `jax.NAME`."""


class Names(SimpleNamespace):
    """A part of the namespace; asked for a name that is not there, it says what to do."""

    def __init__(self, path: str = "jax") -> None:
        super().__init__()
        self._path = path

    def __getattr__(self, last: str) -> Any:
        if last.startswith("_"):  # Python's own questions
            raise AttributeError(last)
        path = f"{self._path}.{last}"
        capability = CAPABILITIES.get(path.removeprefix("jax."))
        if capability:
            raise AttributeError(f"this JAX has no {path}: a rule or a case that uses it needs {capability!r}")
        raise AttributeError(f"probes have no {path}: impl/stock/namespace.py lists the names that subjects offer")


def of(jax: ModuleType) -> tuple[Names, dict[str, str]]:
    """The namespace over an imported JAX, and how those names are spelled that are not at today's path."""
    top, spelled = Names(), {}
    for name in NAMES:
        inner = _inner(top, name)
        for spelling in SPELLINGS.get(name, (Spelling(f"jax.{name}"),)):
            try:
                found = spelling.find(jax)
            except LookupError:
                continue
            setattr(inner, name.rpartition(".")[2], found)
            if spelling.path != f"jax.{name}":
                spelled[name] = spelling.path
            break
    return top, spelled


def has(names: Names, name: str) -> bool:
    """Whether the namespace has that name."""
    found: Any = names
    for part in name.split("."):
        if not hasattr(found, part):
            return False
        found = getattr(found, part)
    return True


def reach(jax: ModuleType, path: str) -> Any:
    """What is at a path that starts with `jax`, its modules imported on the way; LookupError where nothing is."""
    found: Any = jax
    at = "jax"
    for part in path.split(".")[1:]:
        at = f"{at}.{part}"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a name on its way out is still a spelling
            if not hasattr(found, part) and isinstance(found, ModuleType):
                try:
                    importlib.import_module(at)
                except ImportError:
                    raise LookupError(path) from None
            try:
                found = getattr(found, part)
            except AttributeError:
                raise LookupError(path) from None
    return found


def _inner(top: Names, name: str) -> Names:
    """The part of the namespace that a name belongs to."""
    at = "jax"
    for part in name.split(".")[:-1]:
        at = f"{at}.{part}"
        top = vars(top).setdefault(part, Names(at))
    return top
