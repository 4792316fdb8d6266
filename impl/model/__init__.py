"""The executable model: an implementation that keeps the whole contract, in NumPy, without JAX.

As a subject, `model` keeps the newest contract, and `model:0.8.3` the contract as of that version of JAX.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from impl.host.targets import cpus

if TYPE_CHECKING:
    from .model import Model
    from .subject import Subject


def check(contract: str) -> None:
    """ValueError, in one line, where there is no contract of that version of JAX; none is the newest."""
    from . import dates

    if contract:
        dates.check(contract)


def environment(target: str) -> dict[str, str]:
    """The model's devices are its own; the environment only keeps NumPy from threads, which a fork would lose."""
    cpus(target)
    return {"OPENBLAS_NUM_THREADS": "1"}


def load() -> None:
    """Imports the model."""
    from . import subject  # noqa: F401


def start(target: str, partitioner: str, contract: str = "", model: type[Model] | None = None) -> Subject:
    """The model under that partitioner, as of a version of JAX; of a class of its own, if one is given."""
    from .subject import start

    return start(cpus(target), partitioner, contract, model)
