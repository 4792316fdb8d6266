"""The names that probes get as `jax`, found in the installed JAX.

A name that it spells in an older way is found by what that JAX offers, never by its version.
"""

from __future__ import annotations

import importlib
import inspect
import warnings
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from impl.host.names import NAMES, Names, offer

from . import adapters


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
    "sharding.in_logical_order": (  # what puts to another order are made with: no JAX has made it public so far
        Spelling(f"{MESHES}.in_logical_order"),
        Spelling("adapters.in_logical_order", over=f"{MESHES}.NamedSharding"),
    ),
}
"""How names have been spelled since 0.4.35, today's first; a name that is not here has had one spelling, `jax.NAME`."""


def of(jax: ModuleType) -> tuple[Names, dict[str, str]]:
    """The namespace over an imported JAX, and how those names are spelled that are not at today's path."""
    top, spelled = Names(), {}
    for name in NAMES:
        for spelling in SPELLINGS.get(name, (Spelling(f"jax.{name}"),)):
            try:
                found = spelling.find(jax)
            except LookupError:
                continue
            offer(top, name, found)
            if spelling.path != f"jax.{name}":
                spelled[name] = spelling.path
            break
    return top, spelled


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
