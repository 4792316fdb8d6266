"""Where an array lies, as a program notes it, and what follows from that."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

from conformance.probes import arrays, programs

Lies = Mapping[str, Any]
"""A sharding as `see.sharding` gives it, with `committed`, `kind` and `layout`."""

Piece = tuple[tuple[int, int], ...]
"""A part of an array: where it starts and stops in each dimension."""

SHAPE = arrays.ARRAYS[programs.ARRAY].shape


def devices(lies: Lies) -> list[int]:
    """The devices, in order."""
    return list(lies["devices"])


def pieces(lies: Lies) -> list[Piece]:
    """What each device holds, in the order of the devices."""
    parts = [(it,) if isinstance(it, str) else tuple(it or ()) for it in lies.get("spec", ())]
    return _pieces(tuple(map(tuple, lies.get("axes", ()))), tuple(parts), len(lies["devices"]))


@cache
def _pieces(axes: tuple[tuple[str, int], ...], spec: tuple[tuple[str, ...], ...], count: int) -> list[Piece]:
    sizes = dict(axes)
    found = []
    for position in range(count):
        at = dict(zip(sizes, np.unravel_index(position, tuple(sizes.values())), strict=True)) if sizes else {}
        piece = []
        for dimension, size in enumerate(SHAPE):
            number, tiles = 0, 1
            for axis in spec[dimension] if dimension < len(spec) else ():
                number, tiles = number * sizes[axis] + int(at[axis]), tiles * sizes[axis]
            piece.append((size // tiles * number, size // tiles * (number + 1)))
        found.append(tuple(piece))
    return found


def cut_alike(one: Lies, other: Lies) -> bool:
    """Whether each device holds the same, in both."""
    return dict(zip(devices(one), pieces(one), strict=True)) == dict(zip(devices(other), pieces(other), strict=True))


def keeps(one: Lies, other: Lies) -> bool:
    """Whether some device holds the same in both."""
    before = dict(zip(devices(one), pieces(one), strict=True))
    return any(before.get(device) == piece for device, piece in zip(devices(other), pieces(other), strict=True))


def wanted(place: str) -> Lies:
    """Where an array lies after a put to that place."""
    it = programs.PLACES[place]
    return {**it.sharding, "committed": it.committed, "kind": it.kind or "device", "layout": list(it.order or (0, 1))}
