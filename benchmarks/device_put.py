"""device_put by row of its flag table and kind of move, to the finished result. Rows and places are the contract's."""

from __future__ import annotations

from functools import cache
from typing import Any

import jax
import numpy as np

from conformance.probes import places
from conformance.probes.put import FLAGS

from .means import attributes, watch

SHAPE = 1024, 1024  # float32, 4 MiB: sharing and copying cost visibly different times
ROWS = [row for row in FLAGS if row != "both"]  # which is refused
MOVES = ["xy_to_same", "one_to_dev1", "xy_to_yx", "xy_to_perm"]  # same sharding, other device, other spec, other order


@cache
def move(name: str) -> tuple[Any, Any, Any]:
    """What makes a source, from what, and where it is put; compiled and warm."""
    source, _, target = name.partition("_to_")
    here, there = places.SOURCES[source].make(jax), places.make(jax, source, target)
    seed = jax.device_put(np.ones(SHAPE, np.float32), here)
    make = jax.jit(lambda x: x + 1, out_shardings=here)
    for row in ROWS:
        jax.device_put(make(seed).block_until_ready(), there, **FLAGS[row]).block_until_ready()
    return make, seed, there


@attributes(params=[ROWS, MOVES], param_names=["flags", "move"], timer=watch, number=10, repeat=(10, 50, 1.0))
def time_put(flags: str, name: str) -> None:
    """One put of a fresh source: a put fills a hidden host copy of its source, and a donating one uses it up.

    The source is not touched again: donated to another device, it may point at memory that is gone.
    """
    make, seed, there = move(name)
    x = make(seed).block_until_ready()
    with watch:
        y = jax.device_put(x, there, **FLAGS[flags]).block_until_ready()
    del y  # what freeing it costs is not the put's
