"""What a subject and its devices can do, found by asking and trying, never by a version.

A rule or a case names what it needs; a cell of something that is not here is `unsupported`. Every start of a host asks
all of it, so nothing here compiles. What no API tells is tried: pointers, and the types of numbers that a device holds.
Elsewhere, what is offered and does not work is no missing capability: it is a deviation.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from . import names


def found(jax: names.Names, x: Any, dtypes: Mapping[str, Any]) -> Iterator[str]:
    """The capabilities; `x` lies on every device, `dtypes` are types of numbers by name, among other things."""
    yield "executes"  # devices that hold an array run programs; those of a compiler alone hold none
    yield from names.capabilities(jax)
    yield from (capability for capability, ask in ASKED.items() if _works(ask, jax, x))
    yield from (f"memory.{memory.kind}" for memory in jax.devices()[0].addressable_memories())
    for name, it in dtypes.items():
        if isinstance(it, type) and issubclass(it, np.generic) and hasattr(jax.numpy, name) and _works(_holds, jax, it):
            yield f"dtype.{name}"


def _platforms(jax: Any, x: Any) -> bool:
    """Whether there is another platform than the default one, which the host's own CPU always could be.

    A plugin for CPUs calls its platform "cpu" as well; its client is another one.
    """
    return jax.devices("cpu")[0].client is not jax.devices()[0].client


def _reads_back(jax: Any, x: Any) -> bool:
    """Whether exported programs are read back at all, which takes a package that JAX does without."""
    try:
        jax.export.deserialize(bytearray())
    except ImportError:
        return False
    except Exception:
        return True
    return True


def _holds(jax: Any, dtype: type[np.generic]) -> bool:
    value = np.ones(2, dtype)
    return np.asarray(jax.device_put(value)).tobytes() == value.tobytes()


def _holds_at_once(jax: Any, x: Any) -> bool:
    """Whether a mesh that is set is in context as soon as `set_mesh` is called, before it is entered."""
    with jax.set_mesh(x.sharding.mesh):
        pass  # what is no context of its own is none at once
    held = jax.set_mesh(x.sharding.mesh)
    empty = jax.sharding.get_abstract_mesh().empty
    if empty:
        return False
    with held:
        return True


def _works(ask: Callable[[Any, Any], object], jax: Any, of: Any) -> bool:
    try:
        return bool(ask(jax, of))
    except Exception:  # each backend says in its own way that it cannot
        return False


def _takes(f: Callable[..., Any], *parameters: str) -> bool:
    return set(parameters) <= inspect.signature(f).parameters.keys()


ASKED: dict[str, Callable[[Any, Any], object]] = {
    "export.serialize": _reads_back,
    "device_put.flags": lambda jax, x: _takes(jax.device_put, "donate", "may_alias"),
    "jit.compiler_options": lambda jax, x: _takes(jax.jit, "compiler_options"),
    "platforms": _platforms,
    "set_mesh.statement": _holds_at_once,
    "pointers": lambda jax, x: x.addressable_shards[0].data.unsafe_buffer_pointer(),
}
