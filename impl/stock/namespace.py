"""What probes get as `jax`: the names of today's JAX that they may use, and no others.

Every subject offers these names, so the list is the shape that a model, an enforced layer or a fault has to have. A
name that the installed JAX spells in an older way is translated here, by what that JAX offers, never by its version.
"""

from __future__ import annotations

from types import ModuleType, SimpleNamespace
from typing import Any

NAMES = (
    "block_until_ready",
    "device_put",
    "devices",
    "jit",
    "live_arrays",
    "profiler.device_memory_profile",
    "sharding.Mesh",
    "sharding.NamedSharding",
    "sharding.PartitionSpec",
    "sharding.SingleDeviceSharding",
)


def of(jax: ModuleType) -> SimpleNamespace:
    """The namespace over an imported JAX."""
    top = SimpleNamespace()
    for name in NAMES:
        *path, last = name.split(".")
        inner: Any = top
        found: Any = jax
        for part in path:
            found = getattr(found, part)
            if not hasattr(inner, part):
                setattr(inner, part, SimpleNamespace())
            inner = getattr(inner, part)
        setattr(inner, last, getattr(found, last))
    return top
