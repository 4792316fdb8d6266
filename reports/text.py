"""Strings from a record, made safe and short enough to show. Every report shows strings through here."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping
from typing import Any

LONGEST_SHOWN = 400
WIDTH = 80


def visible(text: str, limit: int = LONGEST_SHOWN) -> str:
    """The text on one line, without a character that could act on a terminal or reorder a page.

    Control characters, line ends, surrogates, direction marks and unassigned code points become escapes such as
    ``\\x1b``. Text longer than `limit` is cut, and the cut is said.
    """
    cut = len(text) - limit
    if cut > 0:
        text = text[:limit]
    if not text.isprintable():
        text = "".join(c if c.isprintable() else c.encode("unicode_escape", "backslashreplace").decode() for c in text)
    return f"{text}... ({cut:,} more characters)" if cut > 0 else text


def plain(text: str, width: int) -> str:
    """A label for a table: visible, ASCII only (one character, one column), cut in the middle to `width`."""
    text = visible(text).encode("ascii", "backslashreplace").decode()
    if len(text) <= width:
        return text
    head = (width - 2) // 2
    return f"{text[:head]}..{text[len(text) - (width - 2 - head) :]}"


def fields(data: str) -> str:
    """``{"input":"deleted"}`` as ``input = "deleted"``: the fields of an expectation or an observation."""
    parsed: Mapping[str, Any] = json.loads(data)
    return ", ".join(f"{key} = {_value(value)}" for key, value in parsed.items()) or "nothing"


def gist(data: str) -> str:
    """An observation in a few words: how it died, what it raised, otherwise its fields."""
    parsed: dict[str, Any] = json.loads(data)
    touch = f" at {parsed['touch']}" if parsed.get("touch") else ""
    if parsed.get("signal"):
        return f"{parsed['signal']}{touch}"
    if parsed.get("hung"):
        return f"hung{touch}"
    if "exit" in parsed:
        return f"exit {_value(parsed['exit'])}{touch}"
    raised = parsed.get("raised")
    if isinstance(raised, dict):
        message = f": {raised['message']}" if raised.get("message") else ""
        return f"{raised.get('class')} at {raised.get('at')}{message}"
    return fields(data)


def plural(count: int, noun: str) -> str:
    """``1 cell``, ``2 cells``, ``12,345 cells``."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def wrap(text: str, indent: int = 0, hang: int = 0) -> list[str]:
    """Lines of at most `WIDTH`, each `indent` from the left and each but the first `hang` further; words stay whole."""
    first, rest = " " * indent, " " * (indent + hang)
    whole = textwrap.TextWrapper(WIDTH, first, rest, break_long_words=False, break_on_hyphens=False)
    return whole.wrap(text)


def _value(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
