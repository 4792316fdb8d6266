"""The words that the judge and the pool share."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

PACKAGES = {"fault": "faults"}
"""Where this project's own subjects are in `impl`, if not under their names."""


@cache
def home(name: str) -> str | None:
    """The module of one of this project's own subjects; None for anybody else's."""
    module = f"impl.{PACKAGES.get(name, name)}"
    return module if "." not in name and importlib.util.find_spec(module) is not None else None


@dataclass(frozen=True)
class Configuration:
    """What is judged, and where: a subject, the Python that holds it, a target, a partitioner.

    The subject is a NAME, or NAME:ARGUMENT where it is told more when it starts.
    """

    subject: str
    python: str
    target: str
    partitioner: str

    @property
    def name(self) -> str:
        """The subject without its argument: what a process imports."""
        return self.subject.partition(":")[0]

    @property
    def argument(self) -> str | None:
        """What the subject is told when it starts, if anything."""
        return self.subject.partition(":")[2] or None

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
        """The version that is judged: JAX's, or that of the contract which a subject without JAX keeps."""
        return self.versions.get("jax") or self.versions.get("contract", "none")


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
