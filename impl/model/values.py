"""What the model's plain values have in common."""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial
from typing import Any


class Value:
    """Compares and hashes by its parts, pickles by the call that made it, and never changes."""

    _parts: tuple[Hashable, ...]
    _hash: int

    def __init__(self, *parts: Hashable, **fields: Any) -> None:
        """`parts` decide equality; `fields` become attributes."""
        self.__dict__.update(fields, _parts=parts, _hash=hash((type(self).__name__, parts)))

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Value) or type(self) is not type(other):
            return NotImplemented
        return self._hash == other._hash and self._parts == other._parts

    def __hash__(self) -> int:
        return self._hash

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a {type(self).__name__} is a value: {name!r} cannot be set")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a {type(self).__name__} is a value: {name!r} cannot be deleted")

    def _call(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments that make this value again."""
        return self._parts, {}

    def __reduce__(self) -> tuple[Any, ...]:
        positional, keywords = self._call()
        return partial(type(self), **keywords), positional
