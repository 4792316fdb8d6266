"""Counts what is traced, lowered and compiled in this process, by public means.

JAX's monitoring events tell of lowering and compilation, in whatever thread. Its event of a trace does not: it speaks
of inner functions up to 0.9 and later also where nothing is traced; so a traced function counts itself (`See.traced`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import jax.monitoring

EVENTS = {
    "/jax/core/compile/jaxpr_to_mlir_module_duration": "lower",
    "/jax/core/compile/backend_compile_duration": "compile",
}

LEVELS = ("trace", "lower", "compile")

total: Counter[str] = Counter()
_taken: Counter[str] = Counter()


def _listen(event: str, seconds: float, **_: Any) -> None:
    if event in EVENTS:
        total[EVENTS[event]] += 1


jax.monitoring.register_event_duration_secs_listener(_listen)


@contextmanager
def unseen() -> Iterator[None]:
    """What happens within is the suite's own, and is not counted."""
    before = total.copy()
    yield
    total.clear()
    total.update(before)


def take() -> dict[str, int]:
    """The counts since the last call."""
    since = total - _taken
    _taken.update(since)
    return {what: since[what] for what in EVENTS.values()}
