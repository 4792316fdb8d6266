"""The devices that the benchmarks use."""

from __future__ import annotations

from functools import cache

import jax
import numpy as np
from jax.sharding import Mesh


@cache
def mesh(count: int, backwards: bool = False) -> Mesh:
    """A mesh of one axis, `x`, over the first devices; fewer devices than asked for are an error."""
    devices = jax.devices()[:count]
    if len(devices) < count:
        raise RuntimeError(f"{count} devices asked for, {len(devices)} there: XLA_FLAGS came too late or says so")
    return Mesh(np.array(devices[::-1] if backwards else devices), ("x",))
