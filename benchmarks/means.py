"""How the suites talk to asv: a clock that runs only when told to, and attributes of a benchmark."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any, TypeVar

Benchmark = TypeVar("Benchmark", bound=Callable[..., Any])


class Stopwatch:
    """A `timer` for asv whose time passes only while it is held: what a call needs afresh is made outside.

    asv's other means to that end measure something else. `setup()` forces one call per sample, whose noise hid a real
    slowdown; `timeraw_` starts a process, and JAX, for each sample; sources made ahead in a batch run out, since asv
    calls as often as it likes. It also keeps compilation out of a quick run, whose first call is its only one.
    What it adds itself is measured by `dispatch.time_nothing`.
    """

    def __init__(self) -> None:
        self.total = self.since = 0.0

    def __call__(self) -> float:
        return self.total

    def __enter__(self) -> None:
        self.since = perf_counter()

    def __exit__(self, *_: object) -> None:
        self.total += perf_counter() - self.since

    @contextmanager
    def per(self, count: int) -> Iterator[None]:
        """Shares the time among so many events: asv then reports one of them."""
        since = perf_counter()
        yield
        self.total += (perf_counter() - since) / count


watch = Stopwatch()


def attributes(**values: Any) -> Callable[[Benchmark], Benchmark]:
    """What asv reads off a benchmark: `params`, `unit`, `timer` ..."""

    def give(benchmark: Benchmark) -> Benchmark:
        for name, value in values.items():
            setattr(benchmark, name, value)
        return benchmark

    return give
