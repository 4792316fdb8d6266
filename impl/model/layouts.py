"""Layouts: the order of an array's dimensions in memory, and how they go with a sharding."""

from __future__ import annotations

from typing import Any

from .shardings import Sharding
from .values import Value
from .words import shown


class Layout(Value):
    """The dimensions of an array in the order of its memory, slowest first."""

    major_to_minor: tuple[int, ...]

    def __init__(self, major_to_minor: Any) -> None:
        order = tuple(major_to_minor)
        if sorted(order) != list(range(len(order))):
            raise ValueError(f"a layout orders the dimensions 0 to {len(order) - 1}: got {order}")
        super().__init__(order, major_to_minor=order)

    def check(self, shape: tuple[int, ...]) -> None:
        """ValueError where it is for arrays of another rank."""
        if len(self.major_to_minor) != len(shape):
            raise ValueError(
                f"{self} is for arrays of {len(self.major_to_minor)} dimensions, and was given one of {len(shape)}:"
                f" shape {tuple(shape)}"
            )

    def __repr__(self) -> str:
        return f"Layout(major_to_minor={self.major_to_minor})"


class Format(Value):
    """A layout and a sharding; None leaves either open."""

    layout: Layout | None
    sharding: Sharding | None

    def __init__(self, layout: Layout | None = None, sharding: Sharding | None = None) -> None:
        if not isinstance(layout, Layout | None):
            raise TypeError(f"a Format takes a Layout: got {shown(layout)}")
        if not isinstance(sharding, Sharding | None):
            raise TypeError(f"a Format takes a Sharding: got {shown(sharding)}")
        if layout is not None and sharding is None:
            raise ValueError(f"a Format with a layout takes a sharding too: got {layout} and no sharding")
        super().__init__(layout, sharding, layout=layout, sharding=sharding)

    def __repr__(self) -> str:
        return f"Format(layout={self.layout}, sharding={self.sharding})"
