"""Today's names over older ones that need more than another path.

A reproducer lifts the source of one function, so each stands alone: `import jax` and NumPy are all it leans on.
"""

from __future__ import annotations

from typing import Any

import jax


def abstract_mesh(axis_sizes: Any, axis_names: Any, axis_types: Any = None) -> Any:
    """`jax.sharding.AbstractMesh` where it takes pairs of name and size; such a mesh has no axis types."""
    if axis_types is not None:
        raise TypeError("the axes of a mesh have no types in this JAX")
    return jax.sharding.AbstractMesh(tuple(zip(axis_names, axis_sizes, strict=True)))


def shard_map(f: Any, *, mesh: Any, in_specs: Any, out_specs: Any, check_vma: bool = True) -> Any:
    """`jax.shard_map` where it is experimental and calls its check by another name."""
    from jax.experimental.shard_map import shard_map

    return shard_map(f, mesh=mesh, in_specs=in_specs, out_specs=out_specs, check_rep=check_vma)


def in_logical_order(mesh: Any, spec: Any, ids: Any) -> Any:
    """A NamedSharding whose mesh has its devices at other places, by their numbers there; JAX keeps it to itself."""
    return jax.sharding.NamedSharding(mesh, spec, _logical_device_ids=tuple(ids))
