"""The date of the contract: what is promised in which versions of JAX."""

from __future__ import annotations

import re
from dataclasses import dataclass

FIRST, NEWEST = "0.4.32", "0.12.0"
_NUMBER = "(0|[1-9][0-9]*)"
_VERSION = rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(\.[1-9][0-9]*)?"

PROMISES: dict[str, tuple[str, str | None]] = {
    "abstract_mesh": ("0.4.32", None),
    "abstract_mesh.explicit": ("0.11.1", None),  # its axes where they are given no types
    "auto": ("0.4.32", "0.10.0"),
    "axis_types": ("0.5.3", None),
    "device_put.flags": ("0.4.34", None),
    "export": ("0.4.32", None),
    "format": ("0.4.32", None),
    "get_abstract_mesh": ("0.5.0", None),
    "get_mesh": ("0.8.0", None),
    "gspmd_sharding": ("0.4.32", "0.7.0"),
    "jit.compiler_options": ("0.4.36", None),
    "make_mesh": ("0.4.32", None),
    "make_mesh.explicit": ("0.9.0", None),  # likewise
    "memory.device": ("0.7.0", None),  # of the host platform's devices; before, one kind was all they had
    "memory.pinned_host": ("0.7.0", None),
    "memory.unpinned_host": ("0.4.32", None),
    "positional_sharding": ("0.4.32", "0.7.0"),
    "reshard": ("0.5.1", None),
    "set_mesh": ("0.5.0", None),
    "set_mesh.statement": ("0.7.0", None),  # as soon as it is called
    "shard_map": ("0.4.32", None),
    "sharding_type_error": ("0.6.0", None),
}
"""What is promised from one version on and until before another: capabilities by their names, and defaults.

The contract starts with FIRST. Today's spelling of a name counts, and what it was called before.
"""


@dataclass(frozen=True)
class Contract:
    """The contract as of a version of JAX."""

    version: str = NEWEST

    def promises(self, name: str) -> bool:
        """Whether that is promised then."""
        since, until = PROMISES[name]
        return _key(since) <= _key(self.version) and (until is None or _key(self.version) < _key(until))


def check(version: str) -> None:
    """ValueError unless there is a contract as of that version of JAX, which is between FIRST and NEWEST or a patch."""
    if not re.fullmatch(_VERSION, version) or not _key(FIRST) <= _key(version)[:3] <= _key(NEWEST):
        raise ValueError(f"no contract of {version}: name a version of JAX from {FIRST} to {NEWEST}, such as 0.8.3")


def _key(version: str) -> tuple[int, ...]:
    """Versions in their order."""
    try:
        return tuple(map(int, version.split(".")))
    except ValueError:
        raise ValueError(f"a version is numbers with dots between them: got {version!r}") from None
