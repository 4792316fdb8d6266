"""JAX as installed, as a subject.

A subject offers `environment`, `load` and `start`: a template process calls the first two, starts no backend, and forks
hosts, each of which calls `start`. Nothing here imports JAX before its environment is set.
"""

from __future__ import annotations

import contextlib
import importlib
import os
from typing import TYPE_CHECKING

from impl.host.targets import cpus

if TYPE_CHECKING:
    from .subject import Subject

DEVICE_COUNT = "--xla_force_host_platform_device_count"


def environment(target: str) -> dict[str, str]:
    """The environment that gives `target`; the user's other XLA flags stay."""
    count = cpus(target)
    theirs = [flag for flag in os.environ.get("XLA_FLAGS", "").split() if not flag.startswith(DEVICE_COUNT)]
    return {
        "JAX_PLATFORMS": "cpu",
        "JAX_PLATFORM_NAME": "",  # the user's own wishes of another place give way
        "JAX_NUM_CPU_DEVICES": "-1",
        "XLA_FLAGS": " ".join([*theirs, f"{DEVICE_COUNT}={count}"]),
        "JAX_TRACEBACK_FILTERING": "off",  # costly, and nobody reads the tracebacks
        "OPENBLAS_NUM_THREADS": "1",  # no threads of its own, which a fork would lose
    }


LATER = (
    "jax.experimental.multihost_utils",
    "jaxlib.mlir.dialects.builtin",
    "jaxlib.mlir.dialects.mhlo",
    "scipy.linalg",
)
"""What JAX imports at its first put, lowering and call of an exported program: here once, not in every forked host."""


def load() -> None:
    """Imports JAX and everything that leans on it."""
    from . import subject  # noqa: F401

    for module in LATER:
        with contextlib.suppress(ImportError):
            importlib.import_module(module)


def start(target: str, partitioner: str) -> Subject:
    """Starts the backend in this process, under that partitioner."""
    from .subject import Subject

    return Subject(partitioner)
