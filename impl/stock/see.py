"""The observers that probes get as `see`.

Observing must not change what is observed: before the act a probe asks for metadata and pointers alone, and values are
compared on copies. No observer lists live arrays or formats a traceback.
"""

from __future__ import annotations

import functools
import gc
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from types import FrameType
from typing import Any

import jax
import numpy as np
from jax.sharding import NamedSharding, Sharding

from impl.host import see as host

from . import counts

Note = host.Note
Span = tuple[int, int]
"""The bytes of one shard: first address and one past the last."""

WITNESSES = {"sdy.": "shardy", "mhlo.sharding": "gspmd"}
"""What only one partitioner's lowering writes into a text."""


class See(host.See):
    def __init__(self, note: Note, pointers: bool) -> None:
        super().__init__(note)
        self._pointers = pointers

    def same(self, y: jax.Array, value: np.ndarray) -> str:
        """Whether every shard of `y`, replicas too, holds bit for bit its part of `value`: "same" or "differs"."""
        alike = y.shape == value.shape and y.dtype == value.dtype
        alike = alike and all(np.array(it.data).tobytes() == value[it.index].tobytes() for it in y.addressable_shards)
        return "same" if alike else "differs"

    def sharding(self, y: jax.Array) -> dict[str, Any]:
        """The sharding exactly, as data: its class, mesh, devices in order, spec; a memory kind if not the default."""
        return describe(y.sharding, y.shape)

    def committed(self, y: jax.Array) -> bool:
        """Whether `y` is bound to its devices."""
        return bool(y.committed)

    def spans(self, x: jax.Array) -> list[Span]:
        """Where each shard of `x` lies in memory, as plain numbers that hold no reference; [] where nothing tells."""
        data = [shard.data for shard in x.addressable_shards if self._pointers]
        return [(start := it.unsafe_buffer_pointer(), start + it.nbytes) for it in data]

    def shares(self, before: Sequence[Span], y: jax.Array) -> str:
        """How many shards of `y` share bytes with the spans taken earlier: "none", "some", "all", or "unknown"."""
        if not self._pointers:
            return "unknown"
        shared = [any(low < end and start < high for low, high in before) for start, end in self.spans(y)]
        return "all" if shared and all(shared) else "some" if any(shared) else "none"

    def state(self, x: jax.Array, value: np.ndarray) -> str:
        """What became of an array that held `value`.

        "intact": nothing is deleted and the value is right; "changed": nothing is deleted, but the value is wrong;
        "deleted": nothing of it is left; "torn": neither alive nor deleted as a whole.
        """
        self.step("is_deleted")
        deleted = x.is_deleted()
        self.step("shards")
        try:
            alive = [not shard.data.is_deleted() for shard in x.addressable_shards]
        except RuntimeError:
            alive = []
        if deleted:
            return "torn" if any(alive) else "deleted"
        if not (alive and all(alive)):
            return "torn"
        self.step("read")
        try:
            return "intact" if self.same(x, value) == "same" else "changed"
        except RuntimeError:
            return "torn"

    def named(self, error: Exception, words: Iterable[str]) -> list[str]:
        """Those of `words` that the error's message contains."""
        return [word for word in words if word in str(error)]

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

    def fast_path(self, call: Callable[[], Any]) -> bool:
        """Calls once, and says whether C++ served every jitted call in it."""
        return self.redone(call)["dispatch"] == 0

    def lowered(self, f: Any, *args: Any, **kwargs: Any) -> str:
        """The StableHLO of a jitted function for these arguments. It traces and lowers: look at the counters before."""
        return str(f.lower(*args, **kwargs).as_text())

    def lowered_hlo(self, f: Any, *args: Any, **kwargs: Any) -> str:
        """The same program as HLO."""
        return str(f.lower(*args, **kwargs).as_text("hlo"))

    def compiled_text(self, f: Any, *args: Any, **kwargs: Any) -> str:
        """The optimised HLO of a jitted function for these arguments, per device; it has no other dialect."""
        return str(f.lower(*args, **kwargs).compile().as_text())

    def aliases(self, text: str) -> list[dict[str, Any]]:
        """Which outputs of a compiled text lie in the memory of which parameters, and whether they must.

        Each is an index into a tuple of tuples: `output` [] is the only output, `parameter` [2] is the third. XLA
        numbers the parameters that the program kept, which may be fewer than the function's.
        """
        header = text.partition("\n")[0]
        alias = r"\{([\d, ]*)\}: \((\d+), \{([\d, ]*)\}, (may|must)-alias\)"
        return [
            {
                "output": [int(it) for it in re.findall(r"\d+", output)],
                "parameter": [int(it) for it in (number, *re.findall(r"\d+", index))],
                "must": how == "must",
            }
            for output, number, index, how in re.findall(alias, header)
        ]

    def partitioner(self, text: str) -> str | None:
        """The partitioner that a lowered text is meant for; None where nothing in the text says, or not one thing."""
        meant = [name for mark, name in WITNESSES.items() if mark in text]
        return meant[0] if len(meant) == 1 else None

    def memory_kind(self, y: jax.Array) -> str | None:
        """The kind of memory that `y` lies in, also if it is the default."""
        kind: str | None = y.sharding.memory_kind
        return kind

    def layout(self, y: jax.Array) -> list[int]:
        """The dimensions of `y` in the order of its memory, slowest first, as a Layout takes them."""
        whole = y.format if hasattr(y, "format") else y.layout
        inner = whole.layout if hasattr(whole, "layout") else whole.device_local_layout
        return list(inner.major_to_minor)

    def names_devices(self, error: Exception, ids: Sequence[int]) -> bool:
        """Whether the message names exactly these devices, in this order."""
        return tuple(ids) in device_sets(str(error))

    def names_argument(self, error: Exception, name: str, position: int) -> bool:
        """Whether the message names an argument, by its name or by its position."""
        return names_argument(str(error), name, position)

    def names_part(self, error: Exception, part: str) -> bool:
        """Whether the message says that this part of the call is a side of it: a key of `part_words`."""
        return re.search(part_words(part), str(error), re.IGNORECASE) is not None

    def names_spec(self, error: Exception, spec: Sequence[Any]) -> bool:
        """Whether the message shows this partition spec."""
        inner = re.escape("".join(", ".join(map(repr, spec)).split()))
        return re.search(rf"(?<!\w)(?:PartitionSpec|P)\({inner},?\)", "".join(str(error).split())) is not None

    def names_axes(self, error: Exception, axes: Sequence[Sequence[Any]]) -> bool:
        """Whether the message shows a mesh of exactly these axes and sizes."""
        sizes = ",".join(f"{name!r}:{size}" for name, size in axes)
        return re.search(rf"Mesh\({sizes}(?:\)|,(?!'))", "".join(str(error).split())) is not None


def describe(sharding: Sharding, shape: tuple[int, ...]) -> dict[str, Any]:
    """The sharding of an array of that shape as plain data."""
    data: dict[str, Any] = {"type": type(sharding).__name__}
    if isinstance(sharding, NamedSharding):
        mesh = sharding.mesh
        devices = list(mesh.devices.flat)
        data["axes"] = [[name, size] for name, size in mesh.shape.items()]
        data["devices"] = [device.id for device in devices]
        data["spec"] = [list(part) if isinstance(part, tuple) else part for part in sharding.spec]
    else:
        devices = list(sharding.devices_indices_map(shape))  # in the sharding's own order
        data["devices"] = [device.id for device in devices]
    if sharding.memory_kind not in (None, devices[0].default_memory().kind):
        data["memory"] = sharding.memory_kind
    return data


def dispatches(frame: FrameType) -> bool:
    """Whether this is JAX's dispatch in Python: of a jitted function, or of the program left of a transformed one."""
    code = frame.f_code
    return code.co_name in ("cache_miss", "call_impl_cache_miss") and code.co_filename.endswith("jax/_src/pjit.py")


def traces(frame: FrameType) -> bool:
    """Whether a dispatch is given tracers, as under vmap and grad: C++ serves none, and nothing was missed."""
    given = [frame.f_locals.get(name) for name in ("args", "kwargs")]
    return any(isinstance(it, jax.core.Tracer) for it in jax.tree.leaves(given))


def device_sets(text: str) -> list[tuple[int, ...]]:
    """Every set of devices that a message names, in its order: ids in brackets after the word, or devices' reprs.

    Numbers that merely look like ids are none: shapes, counts, axis sizes, line numbers, the tiles of an HLO sharding.
    """
    ids = r"devices?(?:[ _]ids?\s*[=:]?\s*(?:array)?(?=[(\[{])|\s*[=:]\s*(?=[(\[{])|\s+(?=[\[{]))"
    found = []
    for match in re.finditer(ids + r"([\[({][\[\](){}\d,\s]*[\])}])(?!\s*(?:<=|\d))", text):
        if not re.search(r"[\])}]\s*\d", match[1]):  # devices=[2]0,1 are tiles
            found.append(tuple(map(int, re.findall(r"\d+", match[1]))))
    inner = r"(?:[^()]|\([^()]*\))*"
    device = rf"(?:\w*Device\(id=\d+{inner}\)|\b(?:TFRT_)?(?:CPU|GPU|TPU|CUDA|ROCM)[_:]\d+\b(?!:)(?:\({inner}\))?)"
    for match in re.finditer(rf"[\[({{\s]*{device}(?:[\s,\[\](){{}}]*{device})*", text, re.IGNORECASE):
        nested = re.match(r"\s*[\[({]\s*[\[({]", match[0])
        for part in [match[0]] if nested else re.split(r"[\])}]\s*,?\s*[\[({]", match[0]):
            found.append(tuple(int(re.findall(r"\d+", it)[0]) for it in re.findall(device, part, re.IGNORECASE)))
    return found


def names_argument(text: str, name: str, position: int) -> bool:
    """Whether a message names an argument: "argument first of f", "arg first", "args[0]", "argument 0"."""
    number = rf"(?:number |at position |#)?{position}(?![\w.])"
    return (
        re.search(rf"\b[Aa]rg(?:ument)?s?(?: [`'\"]?{re.escape(name)}(?!\w)| {number}|\[{position}\])", text)
        is not None
    )


def part_words(part: str) -> str:
    """What a message calls a part of a call, as a pattern."""
    return {
        "argument": r"\barg(ument)?s?\b",
        "in_shardings": r"\bin_shardings?\b|\binput shardings?\b|\bpassed to p?jit\b",
        "out_shardings": r"\bout_shardings?\b|\boutput shardings?\b",
        "constraint": r"\b(with_)?sharding[_ ]constraint\b",
        "shard_map": r"\bshard_map\b",
        "jit": r"\bp?jit inside\b",
        "context": r"\bcontext mesh\b|\bmesh context\b|\bset_mesh\b|\buse_mesh\b",
    }[part]
