"""The observers that probes get as `see`: those of every subject, and what the model counts."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from impl.host import observers
from impl.host.see import Note

from .model import Model


class See(observers.Observers):
    def __init__(self, note: Note, model: Model, pointers: bool) -> None:
        super().__init__(note, pointers)
        self._model = model
        self._traces = 0

    def compiled(self) -> int:
        """How many programs the model has compiled so far."""
        return self._model.counts["compile"]

    def traced(self, f: Callable[..., Any]) -> Callable[..., Any]:
        """`f` in a function of its own that counts its calls: jit, grad or scan that one, and give `f` to nobody."""

        @functools.wraps(f)
        def counted(*args: Any, **kwargs: Any) -> Any:
            self._traces += 1
            return f(*args, **kwargs)

        return counted

    def counts(self) -> dict[str, int]:
        """How often the model has traced (what `traced` gave), lowered and compiled so far."""
        counts = self._model.counts
        return {"trace": self._traces, "lower": counts["lower"], "compile": counts["compile"]}

    def redone(self, call: Callable[[], Any]) -> dict[str, int]:
        """Calls once, and counts what was done again: trace, lower, compile, and dispatch, a miss of the fast path.

        The model counts what its caches miss. It has no fast path: it dispatches what it compiles, and no other.
        """
        before = self.counts()
        call()
        done = {level: count - before[level] for level, count in self.counts().items()}
        return done | {"dispatch": done["compile"]}

    def modules(self, call: Callable[[], Any]) -> list[str]:
        """Calls once, and gives the text of each module that the model lowered and compiled in it, in order."""
        found: list[str] = []
        before, self._model.modules = self._model.modules, found
        try:
            call()
        finally:
            self._model.modules = before
        return found

    def fast_path(self, call: Callable[[], Any]) -> bool:
        """Calls once, and says whether no program in it was dispatched."""
        return self.redone(call)["dispatch"] == 0
