"""What a probe is handed to tell what it saw."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Note = Callable[..., None]


class NotDataError(TypeError):
    """A probe noted something that is not plain data: the suite's fault, never the subject's."""


class See:
    """Streams facts to the judge as they are observed, so that a crash keeps what was already seen.

    Subjects derive from this class and add their observers.
    """

    def __init__(self, note: Note) -> None:
        self._note = note
        self.touch: str | None = None

    def __call__(self, **fields: Any) -> None:
        """Notes fields of the observation; later values of a field replace earlier ones."""
        self._note(fields=fields)

    def step(self, name: str) -> None:
        """Announces the step that comes next: the point of touch, should the process die in it."""
        self.touch = name
        self._note(step=name)
