"""What the model costs: a put, the plan of a move over thousands of devices, and judging it whole."""

from __future__ import annotations

import math
import tracemalloc
from collections import deque
from collections.abc import Callable
from functools import cache

import numpy as np

from conformance.probes import put as probes
from impl import model
from impl.model.devices import machine
from impl.model.meshes import Mesh
from impl.model.plan import Plan, plan
from impl.model.shardings import NamedSharding
from impl.model.specs import PartitionSpec as P
from impl.model.subject import Subject

from .device_put import MOVES, ROWS
from .means import attributes, watch
from .pool import figures

CHIPS = 16, 20, 28  # the largest slice of v5p: 8,960 devices
LARGE = {
    "swap": (P("x", "y"), P("y", "x")),  # each device sends parts of its own to some others
    "turn": (P(("x", "y", "z")), P(None, ("x", "y", "z"))),  # each sends something to every other
    "gather": (P(("x", "y", "z")), P()),
    "scatter": (P(), P("x", "y", "z")),
}


@cache
def subject() -> Subject:
    """The newest contract on eight devices."""
    model.load()
    return model.start("cpu:8", "shardy")


@attributes(params=[ROWS, MOVES], param_names=["flags", "move"], timer=watch, number=100)
def time_put_cell(flags: str, move: str) -> None:
    """The probe of a put, observers and all, in a host that is there. Target: 0.3 ms."""
    source, _, target = move.partition("_to_")
    held = subject()
    see = held.see(lambda **_: None)
    put: Callable[..., None] = probes.put
    with watch:
        put(held.jax, see, source, target, flags, "f32_8x8")


@attributes(params=list(LARGE), param_names=["move"], timer=watch, number=1)
def time_plan(move: str) -> None:
    """A plan over 8,960 devices, made anew: which shards stay whole, and what one of them is made of. Target: 1 s."""
    with watch:
        _planned(move)


@attributes(params=["swap", "scatter"], param_names=["move"], timer=watch, number=1)
def time_pieces(move: str) -> None:
    """The same with every piece of every shard, 28,672 and 8,960 of them. (Of the others there are 80 million.)"""
    with watch:
        made = _planned(move)
        for position in range(made.new.coordinates.shape[0]):
            deque(made.pieces(position), 0)


@attributes(params=list(LARGE), param_names=["move"], unit="MB")
def track_plan_memory(move: str) -> float:
    """What a plan takes at its peak. Target: 500 MB."""
    tracemalloc.start()
    _planned(move)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak / 1e6


def _planned(move: str) -> Plan:
    old, new = LARGE[move]
    mesh = Mesh(np.array(machine(math.prod(CHIPS))["model"], object).reshape(CHIPS), ("x", "y", "z"))
    made = plan(NamedSharding(mesh, old), NamedSharding(mesh, new), (17920, 17920, 28))
    deque(map(made.whole, range(mesh.size)), 0)
    deque(made.pieces(mesh.size - 1), 0)
    return made


class WholeRun:
    """PUT and DEV judged on the model, with one core for judge and host together."""

    @attributes(timeout=600)
    def setup_cache(self) -> dict[str, float]:
        return figures("--subject", "model", "--partitioner", "shardy", cores=1)

    @attributes(unit="s")
    def track_seconds(self, run: dict[str, float]) -> float:
        """Target: 10 s."""
        return run["seconds"]

    @attributes(params=["cells", "observations"], param_names=["what"], unit="")
    def track_count(self, run: dict[str, float], what: str) -> float:
        return run[what]
