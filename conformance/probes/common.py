"""What probes of several chapters do alike: arrays that lie somewhere, what became of them, and errors as data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from . import arrays
from .places import Place

ARRAY = "f32_8x8"
"""The array that a probe speaks of, where its case names none."""

INTERNAL = ("INVALID_ARGUMENT", "FAILED_PRECONDITION", "UNIMPLEMENTED", "NOT_FOUND", "INTERNAL:", "Check failed")
"""Words of the runtime's and the compiler's own errors."""

WHICH = {(True, True): "both", (True, False): "first", (False, True): "second", (False, False): "neither"}
"""Which of two sides something holds of."""


def array_at(jax: Any, place: Place) -> Any:
    """A fresh array that lies there, its transfer done."""
    return jax.block_until_ready(jax.device_put(arrays.value(ARRAY), place.make(jax)))


def constrain(jax: Any, x: Any, sharding: Any) -> Any:
    return jax.lax.with_sharding_constraint(x, sharding)


def mapped(jax: Any, sharding: Any) -> Any:
    """A shard_map over a sharding's mesh that adds one."""
    return jax.shard_map(lambda x: x + 1, mesh=sharding.mesh, in_specs=sharding.spec, out_specs=sharding.spec)


def remember(see: Any, xs: Sequence[Any]) -> list[Any]:
    """Where arrays lie."""
    return [(see.sharding(x), see.committed(x), see.spans(x)) for x in xs]


def left(see: Any, xs: Sequence[Any], before: list[Any], value: np.ndarray | None = None) -> str:
    """What became of the arrays remembered: "untouched", "moved", or as `see.state` says it."""
    states = {see.state(x, arrays.value(ARRAY) if value is None else value) for x in xs} - {"intact"}
    moved = not states and remember(see, xs) != before
    return " ".join(sorted(states)) or ("moved" if moved else "untouched")


def class_of(see: Any, error: Exception) -> str:
    """The class of an error, and whether it is an internal one."""
    return ("internal " if see.named(error, INTERNAL) else "") + type(error).__name__


def all_are(seen: Sequence[Any]) -> Any:
    """What all are, or "differs"."""
    return seen[0] if all(it == seen[0] for it in seen) else "differs"
