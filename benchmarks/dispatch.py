"""Calls of a jitted function that every cache serves: what a training loop pays per step."""

from __future__ import annotations

from functools import cache
from typing import Any

import jax
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec

from .devices import mesh
from .means import attributes, watch

# asv would take its number of calls per sample from the first call, which compiles: one, and hide what it is to show.
OFTEN: dict[str, Any] = {"timer": watch, "number": 100, "repeat": (10, 50, 1.0)}  # 10 to 50 samples, about a second


@cache
def program(count: int) -> tuple[Any, Any]:
    """A compiled function and its argument, a row per device."""
    x = jax.device_put(np.ones((count, 8), np.float32), NamedSharding(mesh(count), PartitionSpec("x")))
    f = jax.jit(lambda x: x + 1)
    for _ in range(3):
        f(x).block_until_ready()
    return f, x


@attributes(params=[1, 8], param_names=["devices"], **OFTEN)
def time_dispatch(count: int) -> None:
    """Until the call returns; the devices are idle when it begins."""
    f, x = program(count)
    with watch:
        y = f(x)
    y.block_until_ready()


@attributes(params=[1, 8], param_names=["devices"], **OFTEN)
def time_blocking(count: int) -> None:
    """Until the result is there."""
    f, x = program(count)
    with watch:
        f(x).block_until_ready()


@attributes(**OFTEN)
def time_nothing() -> None:
    """What the clock itself adds to each of the above."""
    with watch:
        pass


@attributes(unit="devices")
def track_devices() -> int:
    """How many devices there are: a figure for eight devices that came from fewer would be a lie."""
    return len(jax.devices())
