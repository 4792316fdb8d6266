"""The words that the judge and the pool share."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True)
class Configuration:
    """What is judged, and where: a subject, the Python that holds it, a target, a partitioner."""

    subject: str
    python: str
    target: str
    partitioner: str

    @property
    def devices(self) -> int:
        """How many devices the target asks for."""
        return int(self.target.rpartition(":")[2])


@dataclass(frozen=True)
class Request:
    """One observation to take; equal requests share it."""

    configuration: Configuration
    probe: str
    id: str
    case: Mapping[str, Any] = field(compare=False)
    limit: float = field(default=math.inf, compare=False)
    """Seconds from its begin, where they are fewer than the pool's own."""


@dataclass(frozen=True)
class Hello:
    """What a host says of itself. With a `problem` (one line) its configuration cannot be judged."""

    versions: Mapping[str, str] = field(default_factory=dict)
    devices: tuple[Mapping[str, Any], ...] = ()
    memory_kinds: tuple[str, ...] = ()
    capabilities: tuple[str, ...] = ()
    partitioner: str | None = None
    spellings: Mapping[str, str] = field(default_factory=dict)
    problem: str | None = None
    stderr: str = ""

    @property
    def version(self) -> str:
        return self.versions.get("jax", "none")


Status = Literal["ended", "crashed", "hung", "not_run", "error"]


@dataclass(frozen=True)
class Outcome:
    """What became of a request.

    `fields` holds what was noted, also before a crash or a hang; `touch` is the step announced last; `raised` an
    exception of the subject that left the probe; `late` marks a crash that struck after the probe had ended and was
    traced back to it by replay; `stderr` is the attempt's slice of the host's stderr, stacks of a hang included.
    """

    status: Status
    fields: Mapping[str, Any] = field(default_factory=dict)
    touch: str | None = None
    raised: Mapping[str, Any] | None = None
    signal: str | None = None
    exit: int | None = None
    late: bool = False
    stderr: str = ""
    reason: str | None = None
    cost: Mapping[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    attempt: int = 1


@dataclass(frozen=True)
class Incident:
    """A host's death that could be blamed on no cell: the run is red."""

    configuration: Configuration
    what: str
    requests: tuple[Request, ...] = ()
    stderr: str = ""
