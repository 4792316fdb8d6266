"""What the installed JAX and its devices can do, found by asking and trying, never by a version.

A rule or a case names what it needs; a cell of something that is not here is `unsupported`. Every start of a host asks
all of it, so nothing here compiles. What no API tells is tried: pointers, and the types of numbers that a device holds.
Elsewhere, what is offered and does not work is no missing capability: it is a deviation.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import jax
import ml_dtypes
import numpy as np

from . import namespace


def found(spelled: namespace.Names, x: jax.Array) -> Iterator[str]:
    """The capabilities; `x` lies on every device."""
    yield "executes"  # devices that hold an array run programs; those of a compiler alone hold none
    names: dict[str, list[bool]] = {}
    for name, capability in namespace.CAPABILITIES.items():
        names.setdefault(capability, []).append(namespace.has(spelled, name))
    yield from (capability for capability, there in names.items() if all(there))
    yield from (capability for capability, ask in ASKED.items() if _works(ask, x))
    yield from (f"memory.{memory.kind}" for memory in jax.devices()[0].addressable_memories())
    yield from (f"dtype.{name}" for name in DTYPES if _works(_holds, name))


def _platforms(x: jax.Array) -> bool:
    """Whether there is another platform than the default one, which the host's own CPU always could be.

    A plugin for CPUs calls its platform "cpu" as well; its client is another one.
    """
    return jax.devices("cpu")[0].client is not jax.devices()[0].client


def _holds(dtype: str) -> bool:
    value = np.ones(2, getattr(ml_dtypes, dtype))
    return np.asarray(jax.device_put(value)).tobytes() == value.tobytes()


def _works(ask: Callable[[Any], object], of: Any) -> bool:
    try:
        return bool(ask(of))
    except Exception:  # each backend says in its own way that it cannot
        return False


def _takes(f: Callable[..., Any], *parameters: str) -> bool:
    return set(parameters) <= inspect.signature(f).parameters.keys()


ASKED: dict[str, Callable[[jax.Array], object]] = {
    "device_put.flags": lambda x: _takes(jax.device_put, "donate", "may_alias"),
    "jit.compiler_options": lambda x: _takes(jax.jit, "compiler_options"),
    "platforms": _platforms,
    "pointers": lambda x: x.addressable_shards[0].data.unsafe_buffer_pointer(),
}

DTYPES = [
    name
    for name, it in vars(ml_dtypes).items()
    if isinstance(it, type) and issubclass(it, np.generic) and hasattr(jax.numpy, name)
]
"""The types of numbers that NumPy lacks and JAX has a name for."""
