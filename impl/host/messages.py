"""The protocol: one JSON object a line, data only, checked against a schema on both sides.

A host says `hello`, is sent `request`s, and answers each with `begin`, any number of `note`s, and `end`.
"""

from __future__ import annotations

import json
from types import NoneType
from typing import Any

LIMIT = 1 << 20  # bytes of one line
LEFT = 113  # the exit status of a host that left in order, which no subject gives by accident
VERSION = 1

Types = tuple[type, ...]
REQUIRED: dict[str, dict[str, Types]] = {
    "hello": {
        "protocol": (int,),
        "versions": (dict,),
        "devices": (list,),
        "memory_kinds": (list,),
        "capabilities": (list,),
        "partitioner": (str, NoneType),
        "problem": (str, NoneType),
    },
    "request": {"id": (int,), "probe": (str,), "case": (dict,)},
    "begin": {"id": (int,), "stderr": (int,)},
    "note": {"id": (int,)},
    "end": {
        "id": (int,),
        "stderr": (int,),
        "raised": (dict, NoneType),
        "error": (str, NoneType),
        "cost": (dict,),
        "seconds": (float, int),
    },
}
ITEMS: dict[str, dict[str, Types]] = {
    "hello": {
        "versions": (str,),
        "devices": (dict,),
        "memory_kinds": (str,),
        "capabilities": (str,),
        "spellings": (str,),
    },
    "end": {"cost": (int,)},
}
OPTIONAL: dict[str, dict[str, Types]] = {
    "hello": {"spellings": (dict,)},
    "note": {"fields": (dict,), "step": (str,)},
}


class ProtocolError(ValueError):
    """A line that is no message."""


def encode(kind: str, **content: Any) -> bytes:
    """One message as a line; ValueError or TypeError where the content is not plain JSON data or too long."""
    message = {"kind": kind, **content}
    check(message)
    line = json.dumps(message, separators=(",", ":"), allow_nan=False).encode() + b"\n"
    if len(line) > LIMIT:
        raise ValueError(f"a {kind} message of {len(line)} bytes; the limit is {LIMIT}")
    return line


def decode(line: bytes) -> dict[str, Any]:
    """The message in a line, or ProtocolError."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ProtocolError(f"not a message: {line[:80]!r} ({error})") from None
    check(message)
    return message  # type: ignore[no-any-return]


def check(message: Any) -> None:
    """ProtocolError unless the message follows the schema."""
    kind = message.get("kind") if isinstance(message, dict) else None
    if not isinstance(kind, str) or kind not in REQUIRED:
        raise ProtocolError(f"no message is of kind {kind!r}")
    required, optional = REQUIRED[kind], OPTIONAL.get(kind, {})
    for name, types in required.items():
        if name not in message:
            raise ProtocolError(f"a {kind} message without {name!r}")
        _typed(kind, name, message[name], types)
    for name, value in message.items():
        if name in optional:
            _typed(kind, name, value, optional[name])
        elif name not in required and name != "kind":
            raise ProtocolError(f"a {kind} message has no {name!r}")
    for name, types in ITEMS.get(kind, {}).items():
        holds = message.get(name, ())
        for item in holds.values() if isinstance(holds, dict) else holds:
            _typed(kind, name, item, types, " holds a")


def _typed(kind: str, name: str, value: Any, types: Types, how: str = " is a") -> None:
    if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
        raise ProtocolError(f"{name!r} of a {kind} message{how} {type(value).__name__}, not {types[0].__name__}")


class Lines:
    """Cuts a stream of bytes into messages; ProtocolError on a line over the limit."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> list[dict[str, Any]]:
        *lines, self._rest = (self._rest + data).split(b"\n")
        if len(self._rest) > LIMIT or any(len(line) > LIMIT for line in lines):
            raise ProtocolError(f"a line over {LIMIT} bytes")
        return [decode(line) for line in lines]
