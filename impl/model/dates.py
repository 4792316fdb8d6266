"""The date of the contract: what is promised in which versions of JAX."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

NEWEST = "0.12.0"

PROMISES: dict[str, tuple[str, str | None]] = {
    "device_put.flags": ("0.4.34", None),
    "make_mesh": ("0.4.33", None),
    "make_mesh.explicit": ("0.9.0", None),  # the types of axes that are given none
    "abstract_mesh": ("0.4.33", None),
    "abstract_mesh.explicit": ("0.11.0", None),
    "axis_types": ("0.5.0", None),
    "set_mesh": ("0.5.0", None),
    "shard_map": ("0.4.31", None),
    "reshard": ("0.7.0", None),
    "format": ("0.4.31", None),
    "jit.compiler_options": ("0.4.36", None),
    "sharding_type_error": ("0.6.0", None),
    "memory.device": ("0.7.0", None),  # on the host platform
    "memory.pinned_host": ("0.7.0", None),
    "memory.unpinned_host": ("0.4.33", None),
    "positional_sharding": ("0.4.31", "0.7.0"),
    "gspmd_sharding": ("0.4.31", "0.7.0"),
    "auto": ("0.4.31", "0.10.0"),
    "runtime_error.jax": ("0.8.0", None),  # JaxRuntimeError; XlaRuntimeError before
}
"""What is promised from one version on, and until before another: capabilities by their names, and changed defaults."""


@dataclass(frozen=True)
class Contract:
    """The contract as of a version of JAX."""

    version: str = NEWEST

    @cached_property
    def _at(self) -> tuple[int, ...]:
        return _ordered(self.version)

    def promises(self, name: str) -> bool:
        """Whether it is promised then."""
        since, until = PROMISES[name]
        return _ordered(since) <= self._at and (until is None or self._at < _ordered(until))


def _ordered(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:3])
