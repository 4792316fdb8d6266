"""HTML that cannot be forgotten to be escaped: whatever is not `Markup` already is text."""

from __future__ import annotations

import html
from collections.abc import Iterable

from reports.text import visible


class Markup(str):
    """HTML made by this module."""

    __slots__ = ()


LONGEST = 2000
_VOID = ("meta", "br")


def element(tag: str, /, *children: str | Iterable[str], **attributes: str | bool) -> Markup:
    """One element. A child is text unless it is `Markup`; ``class_`` is spelled so that Python can read it."""
    given = "".join(_attribute(key, value) for key, value in attributes.items() if value is not False)
    if tag in _VOID:
        return Markup(f"<{tag}{given}>")
    inner = "".join(safe(child) if isinstance(child, str) else "".join(map(safe, child)) for child in children)
    return Markup(f"<{tag}{given}>{inner}</{tag}>")


def safe(text: str) -> str:
    """The text with nothing in it that a browser would act on; `Markup` stays as it is."""
    return text if isinstance(text, Markup) else html.escape(visible(text, LONGEST))


def join(parts: Iterable[str]) -> Markup:
    """The parts, one after the other."""
    return Markup("".join(map(safe, parts)))


def lines(parts: Iterable[str]) -> Markup:
    """The parts, one a line."""
    return Markup(element("br").join(map(safe, parts)))


def _attribute(key: str, value: str | bool) -> str:
    name = key.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{html.escape(visible(str(value), LONGEST))}"'
