"""The values that probes put, and how they make arrays of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .places import SOURCES

ARRAYS = {"f32_8x8": np.arange(64, dtype=np.float32).reshape(8, 8)}


def value(array: str) -> np.ndarray:
    """What the array holds, on memory of its own.

    It starts four bytes past a multiple of 64, so that no backend takes the host's memory for the array's own: such an
    array could not be donated.
    """
    holds = ARRAYS[array]
    room = np.zeros(holds.nbytes + 64, np.uint8)
    start = (4 - room.ctypes.data) % 64
    fresh = room[start : start + holds.nbytes].view(holds.dtype).reshape(holds.shape)
    fresh[...] = holds
    return fresh


def make(jax: Any, source: str, array: str) -> Any:
    """A fresh array at a source, its transfer done."""
    return jax.block_until_ready(jax.device_put(value(array), SOURCES[source].make(jax)))
