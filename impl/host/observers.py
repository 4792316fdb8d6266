"""The observers that lean on nothing but public attributes of arrays, public methods of programs and texts.

Every subject with arrays of JAX's shape derives its `see` from them, and adds how it counts what it does. Observing
must not change what is observed: before the act a probe asks for metadata and pointers alone, and values are compared
on copies. No observer lists live arrays or formats a traceback.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from . import see

Span = tuple[int, int]
"""The bytes of one shard: first address and one past the last."""

WITNESSES = {"sdy.": "shardy", "mhlo.sharding": "gspmd"}
"""What only one partitioner's lowering writes into a text."""


class Observers(see.See):
    def __init__(self, note: see.Note, pointers: bool) -> None:
        super().__init__(note)
        self._pointers = pointers

    def same(self, y: Any, value: np.ndarray) -> str:
        """Whether every shard of `y`, replicas too, holds bit for bit its part of `value`: "same" or "differs"."""
        alike = y.shape == value.shape and y.dtype == value.dtype
        alike = alike and all(np.array(it.data).tobytes() == value[it.index].tobytes() for it in y.addressable_shards)
        return "same" if alike else "differs"

    def sharding(self, y: Any) -> dict[str, Any]:
        """The sharding exactly, as data: its class, mesh, devices in order, spec; a memory kind if not the default."""
        return describe(y.sharding, y.shape)

    def placement(self, sharding: Any, shape: Sequence[int]) -> dict[str, Any]:
        """The same of a sharding on its own, for arrays of that shape."""
        return describe(sharding, tuple(shape))

    def shards(self, y: Any) -> list[Any]:
        """What each device holds of `y`, by its id: the sizes of its shard and the first number there, if any."""
        found = []
        for shard in sorted(y.addressable_shards, key=lambda it: it.device.id):
            data = np.array(shard.data)
            found.append([shard.device.id, list(data.shape), *(it.item() for it in data.flat[:1])])
        return found

    def committed(self, y: Any) -> bool:
        """Whether `y` is bound to its devices."""
        return bool(y.committed)

    def spans(self, x: Any) -> list[Span]:
        """Where each shard of `x` lies in memory, as plain numbers that hold no reference; [] where nothing tells."""
        data = [shard.data for shard in x.addressable_shards if self._pointers]
        return [(start := it.unsafe_buffer_pointer(), start + it.nbytes) for it in data]

    def shares(self, before: Sequence[Span], y: Any) -> str:
        """How many shards of `y` share bytes with the spans taken earlier: "none", "some", "all", or "unknown"."""
        if not self._pointers:
            return "unknown"
        shared = [any(low < end and start < high for low, high in before) for start, end in self.spans(y)]
        return "all" if shared and all(shared) else "some" if any(shared) else "none"

    def state(self, x: Any, value: np.ndarray) -> str:
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

    def lowered(self, f: Any, *args: Any, **kwargs: Any) -> str:
        """The StableHLO of a jitted function for these arguments. It traces and lowers: look at the counters before."""
        return str(f.lower(*args, **kwargs).as_text())

    def lowered_hlo(self, f: Any, *args: Any, **kwargs: Any) -> str:
        """The same program as HLO."""
        return str(f.lower(*args, **kwargs).as_text("hlo"))

    def compiled_text(self, f: Any, *args: Any, **kwargs: Any) -> str:
        """The optimised HLO of a jitted function for these arguments, per device; it has no other dialect."""
        return str(f.lower(*args, **kwargs).compile().as_text())

    def tiles(self, text: str, side: str) -> list[list[int]] | None:
        """Which places of a program hold each tile of its only argument or result, by the number of the tile.

        Read off a lowered text, whichever partitioner it is meant for; None where it does not say. The places are those
        of the devices that the program runs on, in their order; `side` is "argument" or "result".
        """
        return tiles_in(text, side)

    def shardy_operations(self, text: str) -> list[str]:
        """The operations of Shardy's dialect in a text. What HLO keeps of it, as strings and names, is none."""
        return sorted(set(re.findall(r"(?<![\w.#\"])sdy\.\w+", text)))

    def written(self, text: str) -> dict[str, list[dict[str, Any] | None]]:
        """The shardings that a lowered text has: of its "arguments", its "results" and, in order, its "constraints".

        Each is None where nothing is said, or `tiles`, for each place of the program the tile there, "0.1" for the
        first along the first dimension and the second along the next; `open`, the dimensions that are left to the
        partitioner; and `axes`, names and sizes of the mesh, where the text has one. Whichever partitioner it is for.
        """
        return written_in(text)

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

    def kinds_said(self, text: str) -> list[str]:
        """The kinds of memory that a module speaks of: of arguments, of results, or of where something is placed."""
        return sorted(set(re.findall(r'(?:\bmemory_kind|_xla_buffer_placement)\s*=\s*"(\w+)"', text)))

    def operations(self, text: str) -> dict[str, int]:
        """How often a module has each operation, a custom call by what it calls; inner calls and returns are none."""
        operation = r'^\s*(?:%[^=]*= *)?"?((?:stablehlo|mhlo|chlo|sdy)\.(?!mesh\b)\w+)"?(?:\(.*?\))? ?(?:@(\w+))?'
        found = re.findall(operation, text, re.MULTILINE)
        return dict(sorted(Counter(callee or name for name, callee in found).items()))

    def memory_kind(self, y: Any) -> str | None:
        """The kind of memory that `y` lies in, also if it is the default."""
        kind: str | None = y.sharding.memory_kind
        return kind

    def shard_kinds(self, y: Any) -> list[str | None]:
        """The kinds of memory that the shards of `y` say they lie in, each once."""
        return sorted({shard.data.sharding.memory_kind for shard in y.addressable_shards}, key=str)

    def layout(self, y: Any) -> list[int]:
        """The dimensions of `y` in the order of its memory, slowest first, as a Layout takes them."""
        whole = y.format if hasattr(y, "format") else y.layout
        inner = whole.layout if hasattr(whole, "layout") else whole.device_local_layout
        return list(inner.major_to_minor)

    def names_devices(self, error: Exception, ids: Sequence[int]) -> bool:
        """Whether the message names exactly these devices, in this order."""
        return tuple(ids) in device_sets(str(error))

    def names_argument(self, error: Exception, name: str, position: int) -> bool:
        """Whether the message names an argument, by its name or by its position."""
        return re.search(argument_words(name, position), str(error)) is not None

    def names_part(self, error: Exception, part: str) -> bool:
        """Whether the message says that this part of the call is a side of it: a key of `part_words`."""
        return re.search(part_words(part), str(error), re.IGNORECASE) is not None

    def names_spec(self, error: Exception, spec: Sequence[Any]) -> bool:
        """Whether the message shows this partition spec."""
        inner = re.escape(", ".join(map(repr, spec))).replace(r",\ ", r",\s*")
        return re.search(rf"(?<!\w)(?:PartitionSpec|P)\({inner},?\s*\)", str(error)) is not None

    def names_axes(self, error: Exception, axes: Sequence[Sequence[Any]]) -> bool:
        """Whether the message shows a mesh of exactly these axes and sizes."""
        sizes = ",".join(f"{name!r}:{size}" for name, size in axes)
        return re.search(rf"Mesh\({sizes}(?:\)|,(?!'))", "".join(str(error).split())) is not None

    def names_tuple(self, error: Exception, values: Sequence[Any]) -> bool:
        """Whether the message shows these values in a row, as a tuple or a list."""
        inner = ",".join(map(repr, values)).replace(" ", "")
        text = str(error).replace(" ", "")
        return any(f"{opened}{inner}{closed}" in text for opened, closed in (("(", ")"), ("(", ",)"), ("[", "]")))

    def names_count(self, error: Exception, count: int) -> bool:
        """Whether the message has that number, outside of brackets."""
        text, found = str(error), 1
        while found:
            text, found = re.subn(r"\[[^\[\]()]*\]|\([^\[\]()]*\)", "", text)
        return re.search(rf"(?<![\w.-]){count}(?![\w]|\.\d)", text) is not None

    def shows_axes(self, error: Exception, axes: Sequence[Sequence[Any]]) -> bool:
        """Whether the message shows these axes and sizes, and no more in that place: as a mesh or in pairs."""
        pairs = ",".join(f"({name!r},{size})" for name, size in axes)
        text = "".join(str(error).split())
        return self.names_axes(error, axes) or re.search(rf"\({re.escape(pairs)},?\)", text) is not None


def describe(sharding: Any, shape: tuple[int, ...]) -> dict[str, Any]:
    """The sharding of an array of that shape as plain data."""
    kind = type(sharding).__name__
    data: dict[str, Any] = {"type": kind}
    if kind == "NamedSharding":
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


def tiles_in(text: str, side: str) -> list[list[int]] | None:
    """Which places hold each tile of the only argument or result of the main function of a text."""
    argument, _, result = text.partition("@main(")[2].partition("\n")[0].partition(") -> ")
    said = argument if side == "argument" else result
    count = int(re.findall(r"num_partitions = (\d+)", text)[0])
    if named := re.search(r"sdy\.sharding<@(\w+), \[(.*?)\]", said):
        mesh = re.findall(rf"sdy\.mesh @{named[1]} = <\[(.*?)\](?:, device_ids=\[(.*?)\])?>", text)[0]
        axes = re.findall(r'"(\w+)"=(\d+)', mesh[0])
        sizes = [int(size) for _, size in axes]
        cutting = [[name for name, _ in axes].index(axis) for axis in re.findall(r'"(\w+)"', named[2])]
        others = [axis for axis in range(len(axes)) if axis not in cutting]
        grid = np.array(_numbers(mesh[1]) or range(count), int).reshape(sizes)
        order, tiles = grid.transpose(cutting + others), [sizes[axis] for axis in cutting]
    elif listed := re.search(r"\{devices=\[([\d,]+)\]([^ }]+)( last_tile_dim_replicate)?\}", said):
        counted = re.match(r"<=\[([\d,]+)\](?:T\(([\d,]+)\))?", listed[2])
        if counted:
            grid = np.arange(count).reshape(_numbers(counted[1]))
            order = grid.transpose(_numbers(counted[2] or "") or None)
        else:
            order = np.array(_numbers(listed[2]))
        tiles = _numbers(listed[1])[: -1 if listed[3] else None]
    elif "{replicated}" in said:
        order, tiles = np.arange(count), []
    else:
        return None
    return [sorted(tile) for tile in order.reshape(math.prod(tiles), -1).tolist()]


def written_in(text: str) -> dict[str, list[dict[str, Any] | None]]:
    """The shardings that a lowered text has, by what they are of."""
    count = int(re.findall(r"num_partitions = (\d+)", text)[0])
    ins, _, outs = text.partition("@main(")[2].partition("\n")[0].partition(") -> ")
    found: dict[str, list[dict[str, Any] | None]] = {
        name: [
            _sharding(text, said, len(re.findall(r"\d+x", kind)), count)
            for kind, said in re.findall(r"tensor<([^>]*)>((?:(?!tensor<).)*)", declared)
        ]
        for name, declared in (("arguments", ins), ("results", outs))
    }
    calls = r"^.*(?:sdy\.sharding_constraint|custom_call @Sharding\b).*$"
    found["constraints"] = [
        _sharding(text, line, len(re.findall(r"\d+x", re.findall(r"tensor<([^>]*)>", line)[0])), count)
        for line in re.findall(calls, text, re.MULTILINE)
    ]
    return found


def _sharding(text: str, said: str, ndim: int, count: int) -> dict[str, Any] | None:
    """One sharding of arrays of a rank, in what a text says of something, over so many places."""
    if named := re.search(r"<@(\w+), \[((?:\{[^{}]*\}(?:, )?)*)\]", said):
        return _by_axes(text, named[1], re.findall(r"\{([^{}]*)\}", named[2]), count)
    listed = re.search(r"\{devices=\[([\d,]+)\]([^ }]+)( last_tile_dim_replicate)?\}", said)
    if not listed and not re.search(r"\{(?:replicated|maximal device=\d+)\}", said):
        return None
    tiles = [[0] * ndim] * count
    if listed:
        counted = re.match(r"<=\[([\d,]+)\](?:T\(([\d,]+)\))?", listed[2])
        order = np.array(_numbers(listed[2])) if not counted else np.arange(count)
        if counted:
            order = order.reshape(_numbers(counted[1])).transpose(_numbers(counted[2] or "") or None)
        sizes = _numbers(listed[1])
        for number, place in enumerate(order.flat):
            tiles[place] = np.array(np.unravel_index(number, sizes)).tolist()[: -1 if listed[3] else None]
    left = re.search(r"unspecified_dims=\[([\d,]*)\]", said)
    return {"tiles": _tiles(tiles), "open": _numbers(left[1]) if left else [], "axes": None}


def _by_axes(text: str, mesh: str, parts: Sequence[str], count: int) -> dict[str, Any]:
    """The same where each dimension has the axes of a mesh that cut it."""
    said, ids = re.findall(rf"sdy\.mesh @{mesh} = <\[(.*?)\](?:, device_ids=\[(.*?)\])?>", text)[0]
    axes = {name: int(size) for name, size in re.findall(r'"(\w+)"=(\d+)', said)}
    stands = np.indices(list(axes.values())).reshape(len(axes), -1) if axes else np.zeros((0, count), int)
    tiles = np.zeros((stands.shape[1], len(parts)), int)
    for dimension, part in enumerate(parts):
        for axis in re.findall(r'"(\w+)"', part):
            tiles[:, dimension] = tiles[:, dimension] * axes[axis] + stands[list(axes).index(axis)]
    if axes and ids:
        tiles[_numbers(ids)] = tiles.copy()
    left = [dimension for dimension, part in enumerate(parts) if "?" in part]
    return {"tiles": _tiles(tiles.tolist()), "open": left, "axes": [[name, size] for name, size in axes.items()]}


def _tiles(tiles: list[list[int]]) -> list[str]:
    return [".".join(map(str, tile)) for tile in tiles]


def _numbers(text: str) -> list[int]:
    return [int(it) for it in re.findall(r"\d+", text)]


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


def argument_words(name: str, position: int) -> str:
    """What a message calls an argument, as a pattern: "argument first of f", "arg first", "args[0]", "argument 0"."""
    number = rf"(?:number |at position |#)?{position}(?![\w.])"
    return rf"\b[Aa]rg(?:ument)?s?(?: [`'\"]?{re.escape(name)}(?!\w)| {number}|\[{position}\])"


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
