"""How messages show what they were given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

LONGEST = 120
"""A text that is longer is cut: a message is one line."""


def shown(value: Any) -> str:
    """A value with its type, in one line: "'cpu' of type str"."""
    kind = type(value).__name__
    if isinstance(value, type):
        return f"the class {value.__name__}"
    if isinstance(getattr(value, "shape", None), tuple):  # an array is told by its shape
        return f"an array of type {kind} and shape {tuple(value.shape)}"
    text = " ".join(repr(value).split())
    if " at 0x" in text:
        text = f"{kind} {getattr(value, '__name__', '')}".rstrip()
    return f"{text if len(text) <= LONGEST else text[:LONGEST] + '...'} of type {kind}"


def function(given: Any, what: str) -> Callable[..., Any]:
    """A function that was given; TypeError for what cannot be called."""
    if not callable(given):
        raise TypeError(f"{what} takes a function: got {shown(given)}")
    called: Callable[..., Any] = given
    return called
