"""The observers that probes get as `see`: those of every subject, and how JAX as installed counts what it does."""

from __future__ import annotations

import functools
import gc
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import jax

from impl.host import observers

from . import counts


class See(observers.Observers):
    def compiled(self) -> int:
        """How many programs this process has compiled so far."""
        return counts.total["compile"]

    def traced(self, f: Callable[..., Any]) -> Callable[..., Any]:
        """`f` in a function of its own whose traces are counted: jit, grad or scan that one, and give `f` to nobody."""

        @functools.wraps(f)
        def counted(*args: Any, **kwargs: Any) -> Any:
            counts.total["trace"] += 1
            return f(*args, **kwargs)

        return counted

    def counts(self) -> dict[str, int]:
        """How often this process has traced (what `traced` gave), lowered and compiled so far."""
        return {level: counts.total[level] for level in counts.LEVELS}

    def redone(self, call: Callable[[], Any]) -> dict[str, int]:
        """Calls once, and counts what was done again: trace, lower, compile, and dispatch, a miss of the fast path.

        The fast path is C++ alone: it missed where JAX's Python dispatch was entered for arrays, in this thread. What
        is called while such a dispatch traces is part of it.
        """
        before, misses = self.counts(), 0
        inside: list[bool] = []

        def watch(frame: FrameType, event: str, arg: Any) -> None:
            nonlocal misses
            if event == "call" and dispatches(frame):
                missed = not any(inside) and not traces(frame)
                misses += missed
                inside.append(missed)
            elif event == "return" and dispatches(frame):  # also where it raises
                inside.pop()

        profile, collects = sys.getprofile(), gc.isenabled()
        gc.disable()  # a collection in the window would run JAX's own hook
        sys.setprofile(watch)
        try:
            call()
        finally:
            sys.setprofile(profile)
            if collects:
                gc.enable()
        return {level: count - before[level] for level, count in self.counts().items()} | {"dispatch": misses}

    def modules(self, call: Callable[[], Any]) -> list[str]:
        """Calls once, and gives the text of each module that JAX lowered and compiled in it, in order."""
        with tempfile.TemporaryDirectory() as folder:
            jax.config.update("jax_dump_ir_to", folder)
            try:
                call()
            finally:
                jax.config.update("jax_dump_ir_to", None)
            return [path.read_text() for path in sorted(Path(folder).glob("*_compile.mlir"))]

    def fast_path(self, call: Callable[[], Any]) -> bool:
        """Calls once, and says whether C++ served every jitted call in it."""
        return self.redone(call)["dispatch"] == 0


def dispatches(frame: FrameType) -> bool:
    """Whether this is JAX's dispatch in Python: of a jitted function, or of the program left of a transformed one."""
    code = frame.f_code
    return code.co_name in ("cache_miss", "call_impl_cache_miss") and code.co_filename.endswith("jax/_src/pjit.py")


def traces(frame: FrameType) -> bool:
    """Whether a dispatch is given tracers, as under vmap and grad: C++ serves none, and nothing was missed."""
    given = [frame.f_locals.get(name) for name in ("args", "kwargs")]
    return any(isinstance(it, jax.core.Tracer) for it in jax.tree.leaves(given))
