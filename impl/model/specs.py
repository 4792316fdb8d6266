"""How the dimensions of an array are spread over the axes of a mesh."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from .values import Value


class Unconstrained:
    """The part of a spec that leaves a dimension to the partitioner; there is one."""

    def __repr__(self) -> str:
        return "UNCONSTRAINED"

    def __reduce__(self) -> str:
        return "UNCONSTRAINED"


UNCONSTRAINED = Unconstrained()


class PartitionSpec(Value):
    """For each dimension the axis, or the axes, that cut it, major first; None where it is whole.

    It looks like a tuple and is none, so that a tree of specs has specs for leaves. Dimensions past its end are whole.
    """

    UNCONSTRAINED: ClassVar = UNCONSTRAINED
    parts: tuple[Any, ...]

    def __init__(self, *parts: Any) -> None:
        plain = tuple(map(_plain, parts))
        super().__init__(*plain, parts=plain)

    def axes(self, dimension: int) -> tuple[Any, ...]:
        """The axes that cut a dimension, none if nothing does."""
        part = self.parts[dimension] if dimension < len(self.parts) else None
        if part is None or part is UNCONSTRAINED:
            return ()
        return part if isinstance(part, tuple) else (part,)

    @property
    def named(self) -> tuple[Any, ...]:
        """All axes that it names, in its order."""
        return tuple(axis for dimension in range(len(self.parts)) for axis in self.axes(dimension))

    def __len__(self) -> int:
        return len(self.parts)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.parts)

    def __getitem__(self, at: Any) -> Any:
        return self.parts[at]

    def __add__(self, other: PartitionSpec | tuple[Any, ...]) -> PartitionSpec:
        return PartitionSpec(*self, *other) if isinstance(other, PartitionSpec | tuple) else NotImplemented

    def __radd__(self, other: tuple[Any, ...]) -> PartitionSpec:
        return PartitionSpec(*other, *self) if isinstance(other, tuple) else NotImplemented

    def index(self, part: Any) -> int:
        """Where a part comes first."""
        return self.parts.index(_plain(part))

    def count(self, part: Any) -> int:
        """How often a part occurs."""
        return self.parts.count(_plain(part))

    def __repr__(self) -> str:
        return f"P({repr(self.parts)[1:-1]})"


def _plain(part: Any) -> Any:
    """One spelling of a part: an empty group of axes cuts nothing, a group of one is that one."""
    if not isinstance(part, list | tuple):
        return part
    group = tuple(part)
    return None if not group else group[0] if len(group) == 1 else group
