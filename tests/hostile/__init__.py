"""Subjects that do what a broken backend may do: the real JAX with one thing made wrong.

Each module is a subject that a user could name (`--subject tests.hostile.wrong_data`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from impl import stock


class Namespace:
    """The namespace of a subject with some names replaced."""

    def __init__(self, jax: Any, **replaced: Any) -> None:
        self._jax = jax
        self.__dict__.update(replaced)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._jax, name)


def putting(change: Callable[..., Any]) -> Callable[[str, str], Any]:
    """A `start` whose device_put of an array is `change(device_put, x, sharding, **flags)`."""

    def start(target: str, partitioner: str) -> Any:
        subject: Any = stock.start(target, partitioner)
        put = subject.jax.device_put

        def device_put(x: Any, *args: Any, **flags: Any) -> Any:
            return put(x, *args, **flags) if isinstance(x, np.ndarray) else change(put, x, *args, **flags)

        subject.jax = Namespace(subject.jax, device_put=device_put)
        return subject

    return start


def reordered(args: tuple[Any, ...]) -> bool:
    """Whether a put goes to devices out of order: what tells one case from the others."""
    mesh = getattr(args[1], "mesh", None) if len(args) > 1 else None
    ids = [device.id for device in mesh.devices.flat] if mesh is not None else []
    return len(ids) > 1 and ids != sorted(ids)
