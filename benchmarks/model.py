"""What the model costs: a put, the plan of a move over thousands of devices, and judging it whole."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from functools import cache

import numpy as np

from conformance.probes import put as probes
from impl import model
from impl.model.devices import machine
from impl.model.meshes import Mesh
from impl.model.plan import plan
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
    """The plan of a move over 8,960 devices, made anew, and the pieces of a hundred of its shards. Target: 1 s."""
    with watch:
        _planned(move)


@attributes(params=list(LARGE), param_names=["move"], unit="MB")
def track_plan_memory(move: str) -> float:
    """What that takes at its peak. Target: 500 MB."""
    tracemalloc.start()
    _planned(move)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak / 1e6


def _planned(move: str) -> int:
    old, new = LARGE[move]
    mesh = Mesh(np.array(machine(np.prod(CHIPS).item())["model"], object).reshape(CHIPS), ("x", "y", "z"))
    made = plan(NamedSharding(mesh, old), NamedSharding(mesh, new), (17920, 17920, 28))
    return sum(1 for position in range(0, mesh.size, mesh.size // 100) for _ in made.pieces(position))


class WholeRun:
    """PUT and DEV judged on the model, both partitioners, with one core for judge and hosts together."""

    @attributes(timeout=600)
    def setup_cache(self) -> dict[str, float]:
        return figures("--subject", "model", cores=1)

    @attributes(unit="s")
    def track_seconds(self, run: dict[str, float]) -> float:
        """Target: 10 s."""
        return run["seconds"]

    @attributes(params=["cells", "observations"], param_names=["what"], unit="")
    def track_count(self, run: dict[str, float], what: str) -> float:
        return run[what]
