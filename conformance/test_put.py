"""PUT: the six rows of the flag table, on every kind of input and target."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from conformance.kit import Case, every, judge
from conformance.probes import put as probes
from conformance.probes.arrays import ARRAYS, HOSTS, OPTIONAL, SCALARS
from conformance.probes.places import EIGHT, FOUR, HELD, KINDS, ORDERS, SOURCES, TARGETS, at, lies
from conformance.probes.put import FLAGS, USES


@dataclass(frozen=True)
class Between(Case):
    """An input that lies at a source is put to a target."""

    source: str
    target: str

    @property
    def id(self) -> str:
        _, _, *rest = self.data().values()
        return "-".join([f"{self.source}_to_{self.target}", *rest])

    @property
    def owner(self) -> str:
        """Whose memory the input lies in: "jax" or "host"."""
        return "host" if self.source in HOSTS else "jax"

    @property
    def bytes(self) -> bool:
        """Whether both sides hold bytes that they could share."""
        return self.source not in SCALARS and math.prod(ARRAYS[self.data()["array"]].shape) > 0

    @property
    def devices(self) -> int:
        """How many devices it takes to have those that are named."""
        return 1 + max(at(self.source).devices + lies(self.source, self.target).devices)

    @property
    def needs(self) -> tuple[str, ...]:
        """The kinds of memory, layouts and dtypes that not every JAX has."""
        dtype = ARRAYS[self.data()["array"]].dtype
        places = at(self.source).needs + lies(self.source, self.target).needs
        return tuple(dict.fromkeys(places + ((f"dtype.{dtype}",) if dtype in OPTIONAL else ())))

    @property
    def placed(self) -> dict[str, Any]:
        """The sharding that the output must have."""
        return lies(self.source, self.target).sharding

    @property
    def committed(self) -> bool:
        """Whether the output must be committed."""
        return self.target != "none" or at(self.source).committed

    @property
    def kinds(self) -> bool:
        """Whether a kind of memory is named, or left to be chosen."""
        here, there = at(self.source), lies(self.source, self.target)
        return self.target in ("none", "dev1") or bool(here.kind or there.kind)

    @property
    def layout(self) -> tuple[int, ...]:
        """The layout that the output must have, where one was asked for."""
        return lies(self.source, self.target).order


@dataclass(frozen=True)
class Put(Between):  # xy_to_perm-copy-f32_8x8
    flags: str
    array: str


@dataclass(frozen=True)
class First(Put):  # xy_to_perm-copy-f32_8x8
    """The same, of all there are: some of the rest, and few of those that end the process, are put with every run."""

    @property
    def wide(self) -> bool:
        there = (self.source, self.target, self.array)
        if self.id in DEADLY:
            return False
        if self.flags in ("donate", "move") and (self.target == "other4" or there in KEYS):
            return True
        held = self.source in HELD or (self.source, self.target) == ("rep", "pinned1")
        return there in REST and self.source not in HOSTS and not held and self.array in (WIDE, *CUT)


@dataclass(frozen=True)
class Pair(Between):  # xy_to_yx-copy-delete_input-f32_8x8
    flags: str
    act: str
    array: str


@dataclass(frozen=True)
class Use(Between):  # mesh1_to_other4-repr-f32_8x8
    use: str
    array: str


@dataclass(frozen=True)
class Later(Use):  # mesh1_to_other4-repr-f32_8x8
    """The same, of which few that end the process are made with every run."""

    @property
    def wide(self) -> bool:
        if (self.source, self.target) == ONCE:
            return self.use != "traceback"
        return self.target == "other4" and (self.source != "mesh1" or self.use not in FATAL)


@dataclass(frozen=True)
class Row(Between):  # xy_to_same-default-alias-f32_8x8
    flags: str
    twin: str
    array: str


@dataclass(frozen=True)
class Held(Between):  # one_to_same-look-f32_8x8, or xy_to_perm-look-whole-f32_8x8
    then: str
    view: str
    array: str

    @property
    def id(self) -> str:
        return super().id.replace("-shard-", "-")


@dataclass(frozen=True)
class Plain(Between):  # xy_to_perm-f32_8x8
    array: str


@dataclass(frozen=True)
class Ordered(Between):  # xy_to_perm-keep_donate-f32_8x8
    order: str
    array: str


@dataclass(frozen=True)
class Inside(Between):  # xy_to_same-copy-delete-f32_8x8
    flags: str
    then: str
    array: str

    @property
    def wide(self) -> bool:
        return self.flags in TWINS  # each is a program


@dataclass(frozen=True)
class Then(Between):  # xy_to_same-copy-delete-f32_8x8
    flags: str
    then: str
    array: str


@dataclass(frozen=True)
class Under(Between):  # xy_to_same-vmap-f32_8x8
    under: str
    array: str


@dataclass(frozen=True)
class Shaped(Put):  # xy_to_same-copy-f32_8x8
    @property
    def shape(self) -> tuple[int, ...]:
        return ARRAYS[self.array].shape

    @property
    def dtype(self) -> str:
        return ARRAYS[self.array].dtype


@dataclass(frozen=True)
class Chain(Case):  # xy-pinned-same-f32_8x8
    source: str
    middle: str
    last: str
    array: str

    @property
    def devices(self) -> int:
        return 1 + max(at(self.source).devices)

    @property
    def needs(self) -> tuple[str, ...]:
        places = (at(self.source), lies(self.source, self.middle), lies(self.source, self.last))
        return tuple(dict.fromkeys(need for place in places for need in place.needs))


@dataclass(frozen=True)
class Tree(Case):  # reordered-prefix_donate-tree
    """Three leaves with their flags, and the form in which their places are given."""

    leaves: str
    flags: str
    targets: str

    @property
    def devices(self) -> int:
        return len(FOUR)

    @property
    def keeps(self) -> bool:
        """Whether some leaf is not to be donated."""
        *_, rows = probes.TREES[self.flags]
        return not {"donate", "move"}.issuperset(rows)


@dataclass(frozen=True)
class Filled(Between):  # xy_to_perm-named-copy-f32_8x8
    container: str
    flags: str
    array: str


@dataclass(frozen=True)
class Misfit(Case):  # reordered-conflict_last
    """Three leaves with flags or places that do not fit them; `misfits` starts with what is wrong."""

    leaves: str
    flags: str

    @property
    def devices(self) -> int:
        return len(FOUR)

    @property
    def at_fault(self) -> list[str]:
        """The argument that is no prefix of the tree."""
        words = {"donate": "donate", "alias": "may_alias", "place": "device"}
        return [words[word] for word in self.flags.split("_")[:1] if word in words]


# --- what is put where ------------------------------------------------------------------------------------------------

SPELT = ("renamed", "tupled", "pinned", "columns")
MEANT = {
    "one": ("none", "same", "dev1", "mesh1", "yx", "rep", "eight", "other4", *KINDS, *ORDERS),
    "free": ("none", "same", "dev1", "yx", "rep", "other4", "pinned"),
    "mesh1": ("none", "same", "dev0", "dev1", "yx", "rep", "other4", "renamed"),
    "two": ("same", "dev0", "line"),
    "xy": ("none", "same", "dev0", "dev1", "dev5", "two", "yx", "rep", "line", "eight", "perm", "other4", *SPELT),
    "x": ("none", "same", "dev1", "dev5", "yx", "rep", "line", "perm", "other4", "longer"),
    "rep": ("none", "same", "dev0", "dev1", "dev5", "yx", "two", "eight", "perm", "other4"),
    "eight": ("same", "dev1", "xy", "perm"),
    "pinned": ("none", "same", "dev1", "device"),
}
"""The targets that say most about each source: all rows are put there, and much else is done with them."""

WIDE, OTHERS = "f32_8x8", ("b1", "i32", "u8", "f16", "bf16", "c64", "f8", "i4")
INTEGERS = ("i8", "i16", "u16", "u32")
SOME: dict[str, dict[str, tuple[str, ...]]] = {
    **{f"{dtype}_8x8": {"xy": ("perm",)} for dtype in OTHERS},
    "key_8x8": {"one": ("none", "dev1"), "xy": ("same", "yx", "perm")},
    "f32_0x8": {"one": ("none", "dev1"), "xy": ("yx", "perm"), "np_aligned": ("none",)},
    "f32_0d": {
        "one": ("none", "rep"),
        "rep": ("same", "perm"),
        "np_scalar": ("none", "rep"),
        "python": ("none", "rep"),
    },
    "b1_0d": {"python": ("none",)},
    "i32_0d": {"python": ("none",)},
    "c64_0d": {"python": ("none",)},
}
"""Where arrays of other dtypes and shapes are put."""

NUMPY = {
    **dict.fromkeys(("np_misaligned", "np_strided", "np_columns"), ("none", "xy")),
    "np_aligned": ("none", "dev1", "rep", "xy", "line", "pinned"),
    "np_readonly": ("none", "xy"),
}
"""Where NumPy's arrays are put."""

PUTS = {
    *[(source, target, WIDE) for table in (MEANT, NUMPY) for source, targets in table.items() for target in targets],
    *[(source, target, it) for it, table in SOME.items() for source, targets in table.items() for target in targets],
}


def _own(source: str, target: str) -> bool:
    """Whether a target is there for a source and says something that no target before it says."""
    here, there = at(source), lies(source, target)
    if target == "none":
        return True
    if not set(there.devices).issubset(EIGHT) or (target == "longer" and not there.axes):
        return False
    if target == "dev5" and len(here.devices) == 1:  # elsewhere, as dev1 is
        return False
    return all(lies(source, name) != there for name in TARGETS[1 : TARGETS.index(target)])


ELSE: dict[str, dict[str, tuple[str, ...]]] = {
    **{f"{dtype}_8x8": {"xy": ("same", "yx", "dev5")} for dtype in OTHERS},
    **{f"{dtype}_8x8": {"xy": ("same", "yx", "dev5", "perm")} for dtype in INTEGERS},
    "key_8x8": {"one": ("same",), "xy": ("none", "dev1")},
    "f32_0x8": {"one": ("same", "rep"), "xy": ("same", "dev1")},
    "f32_0d": {"np_aligned": ("none", "dev1", "rep"), "np_scalar": ("dev1", "pinned"), "python": ("dev1", "pinned")},
    WIDE: {
        **{source: tuple(it for it in TARGETS if _own(source, it)) for source in (*SOURCES, *HELD)},
        **dict.fromkeys(("np_misaligned", "np_strided", "np_columns", "np_readonly"), ("dev1", "rep", "pinned")),
    },
}
"""Everything else: every source of JAX's to every target, and more of the host's and of the other dtypes and shapes."""

REST = {(s, t, it) for it, table in ELSE.items() for s, targets in table.items() for t in targets} - PUTS
CUT = tuple(f"{dtype}_8x8" for dtype in (*OTHERS, *INTEGERS))
KEYS = {("one", "dev1", "key_8x8"), ("xy", "perm", "key_8x8")}
DEADLY = (
    *("one_to_other4-donate-f32_8x8", "xy_to_other4-donate-f32_8x8", "xy_to_other4-move-f32_8x8"),
    *("two_to_other4-donate-f32_8x8", "one_to_dev1-donate-key_8x8", "xy_to_perm-donate-key_8x8"),
)
"""Of the puts after which the process ends as soon as it asks whether the input is deleted, those of every run."""
SPOKEN = ("alias", "copy", "donate", "both")
"""The rows that say both flags. Those that leave one at None mean two of them: `rows` compares them."""

BETWEEN = {"source": (*MEANT, "unpinned", *HOSTS), "target": TARGETS, "array": ARRAYS}
FIRST = BETWEEN | {"array": [WIDE]}
ROWS = tuple(row for row in FLAGS if row != "both")
ONCE = ("xy", "other4")
"""Donating to other devices can end the process, which costs as much as a hundred cells. `puts` does it from every
source, `uses` in every way from `mesh1`; elsewhere it is done this once."""


def _meant(case: Any) -> bool:
    return (case.source, case.target, case.array) in PUTS


def _anything(case: Put) -> bool:
    return _meant(case) or (case.flags in SPOKEN and (case.source, case.target, case.array) in REST)


def _once(case: Between) -> bool:
    return case.target != "other4" or (case.source, case.target) == ONCE


def _of(table: Mapping[str, tuple[str, ...]]) -> Any:
    """Whether a case's source and target are in a table."""
    return lambda case: case.target in table.get(case.source, ())


# --- the rows on everything -------------------------------------------------------------------------------------------

puts = every(First, flags=ROWS, **BETWEEN).where(_anything)
test_puts = judge(probe="put.put", cases=puts)

refusals = every(First, flags=["both"], **BETWEEN).where(_anything)
test_refusals = judge(probe="put.refused", cases=refusals)

swaps = every(Put, flags=ROWS, **FIRST).where(_of({"np_swapped": ("none", "dev1", "xy", "rep", "pinned")}))
test_swaps = judge(probe="put.swapped", cases=swaps)

GONE = {
    "one": ("none", "same", "dev1", "rep", "columns"),
    "xy": ("none", "same", "dev1", "yx", "perm", "other4", "columns"),
}
gones = every(Put, flags=FLAGS, **FIRST).where(_of(GONE))
test_gones = judge(probe="put.gone", cases=gones)

PAIRED = {
    "one": ("none", "same", "dev1", "mesh1", "yx", "rep", "other4", "pinned", "unpinned"),
    "free": ("none", "same", "yx", "rep"),
    "mesh1": ("none", "same", "dev0", "yx", "rep"),
    "two": ("line",),
    "xy": ("none", "same", "dev0", "dev1", "dev5", "yx", "rep", "line", "eight", "perm", "other4", "renamed", "pinned"),
    "x": ("none", "same", "dev1", "yx", "rep", "line", "perm", "longer"),
    "rep": ("none", "same", "dev0", "dev1", "yx", "two", "perm"),
    "eight": ("xy",),
    "pinned": ("same",),
    **NUMPY,
}
ACTS = ("delete_output", "delete_input", "donate_output", "donate_input", "write_input")


def _can(case: Pair) -> bool:
    """Whether an act means something: only the host's own memory is written to, and only JAX's is deleted."""
    if case.owner == "host":
        return case.act.endswith("output") or (case.act == "write_input" and case.source != "np_readonly")
    if case.flags == "alias":  # what becomes of the output when the input goes is nobody's promise
        return case.act.endswith("output")
    return case.act != "write_input" and (case.flags == "copy" or case.target != "other4")


pairs = every(Pair, flags=["alias", "copy", "donate"], act=ACTS, **FIRST).where(lambda c: _of(PAIRED)(c) and _can(c))
test_pairs = judge(probe="put.pair", cases=pairs)

hurries = every(Put, source=["np_misaligned"], target=["none", "dev1"], flags=["copy", "donate"], array=["f32_wide"])
test_hurries = judge(probe="put.hurry", cases=hurries)

IN = ("same", "pinned", "unpinned")
chains = every(Chain, source=["one", "xy", "pinned", "unpinned"], middle=IN, last=IN, array=[WIDE]).where(
    lambda c: c.middle == "same" or c.source not in KINDS
)
test_chains = judge(probe="put.chain", cases=chains)

# --- the life of what was donated -------------------------------------------------------------------------------------

USED = {
    **dict.fromkeys([("one", "none"), ("one", "dev1"), ("free", "same"), ("x", "yx"), ("xy", "perm")], tuple(USES)),
    ("rep", "perm"): tuple(use for use in USES if not use.startswith("hit")),  # a hang costs the whole time limit
    ("mesh1", "other4"): tuple(USES),
    ("one", "other4"): ("jit",),
    ONCE: ("add", "live_arrays", "traceback"),
}
FATAL = ("is_deleted", "repr", "add", "delete", "live_arrays", "memory_profile", "traceback")
"""The uses that end the process in each way of theirs."""
uses = every(Later, use=USES, **FIRST).where(lambda c: c.use in USED.get((c.source, c.target), ()))
test_uses = judge(probe="put.use", cases=uses, limit=10)

TWINS = {"default": "alias", "move": "donate"}
ALIKE = MEANT | {"np_aligned": ("none", "xy"), "np_misaligned": ("none", "xy")}
rows = every(Row, flags=TWINS, twin=TWINS.values(), **FIRST).where(
    lambda c: _of(ALIKE)(c) and TWINS[c.flags] == c.twin and (c.flags == "default" or _once(c))
)
test_rows = judge(probe="put.rows", cases=rows)

eagers = every(Plain, **FIRST).where(lambda c: _of(MEANT)(c) and _once(c))
test_eagers = judge(probe="put.eager", cases=eagers)

OF_SHARD = ("none", "same", "dev1", "dev5", "yx", "rep", "perm", "other4", "columns")
VIEWED: dict[str, dict[str, tuple[str, ...]]] = {
    "shard": dict.fromkeys(("one", "xy", "rep"), OF_SHARD),
    "last": {"xy": ("same", "perm"), "rep": ("perm",)},
    "whole": {"one": ("same", "dev1"), "xy": ("same", "perm"), "rep": ("same", "perm")},
    "get": {"one": ("same", "dev1"), "xy": ("perm",)},
    "dlpack": {"one": ("none", "same", "dev1")},
}
helds = every(Held, then=["look", "overwrite"], view=VIEWED, **FIRST).where(
    lambda c: _meant(c) and _of(VIEWED[c.view])(c) and (c.then == "overwrite" or _once(c))
)
test_helds = judge(probe="put.held", cases=helds)

AFTER = {"one": ("none", "dev1", "other4", "columns"), "xy": ("same", "yx", "perm", "other4"), "rep": ("perm",)}
afters = every(Plain, **FIRST).where(_of(AFTER))
test_afters = judge(probe="put.after", cases=afters)

torns = every(Use, use=["repr", "asarray", "put", "add"], **FIRST).where(_of({"xy": ("perm",)}))
test_torns = judge(probe="put.torn", cases=torns, limit=5)

# --- several leaves ---------------------------------------------------------------------------------------------------

PATHS = {"one": ("dev1",), "xy": ("same", "perm", "other4")}
twices = every(Ordered, order=probes.ORDERS, **FIRST).where(_of(PATHS))
test_twices = judge(probe="put.twice", cases=twices)

orders = every(Plain, **FIRST).where(_of(PATHS))
test_orders = judge(probe="put.orders", cases=orders)

TREES = {
    "reordered": ("one", "prefix", "tree"),
    "moved": ("one", "tree"),
    **dict.fromkeys(("mixed", "partly"), ("prefix",)),
    **dict.fromkeys(("apart", "keyed"), ("tree",)),
}
trees = every(Tree, leaves=TREES, flags=probes.TREES, targets=("one", "prefix", "tree")).where(
    lambda c: c.targets in TREES[c.leaves]
)
test_trees = judge(probe="put.tree", cases=trees)

containers = every(Filled, container=probes.CONTAINERS, flags=["copy", "move"], **FIRST).where(_of({"xy": ("perm",)}))
test_containers = judge(probe="put.filled", cases=containers)

misfits = every(Misfit, leaves=["reordered", "mixed"], flags=probes.MISFITS)
test_misfits = judge(probe="put.misfit", cases=misfits)

# --- inside of programs and transformations ---------------------------------------------------------------------------

KEEPING = ("default", "alias", "copy")

INSIDE = {"one": ("none", "same"), "xy": ("none", "same", "yx", "rep")}
insides = every(Inside, flags=ROWS, then=["look", "delete"], **FIRST).where(_of(INSIDE))
test_insides = judge(probe="put.inside", cases=insides)

TRANSFORMED = {"one": ("none", "dev1"), "xy": ("same", "perm")}
unders = every(Under, under=[it for it in probes.UNDER if it != "nothing"], **FIRST).where(_of(TRANSFORMED))
test_unders = judge(probe="put.under", cases=unders)

BACK = {"one": ("none", "same", "dev1"), "xy": ("none", "same", "yx", "perm")}
gradients = every(Put, flags=ROWS, **FIRST).where(_of(BACK))
test_gradients = judge(probe="put.gradient", cases=gradients)

REFUSED = {"one": ("none", "dev1"), "xy": ("yx", "perm")}
agains = every(Put, flags=["donate", "move"], **FIRST).where(_of(REFUSED))
test_agains = judge(probe="put.again", cases=agains)

cotangents = every(Then, flags=KEEPING, then=["look", "delete"], **FIRST).where(_of(BACK))
test_cotangents = judge(probe="put.cotangent", cases=cotangents)

MAPPED = {"one": ("none", "same", "dev1", "rep"), "xy": ("none",), "rep": ("same", "perm")}
mappeds = every(Put, flags=ROWS, **FIRST).where(_of(MAPPED))
test_mappeds = judge(probe="put.mapped", cases=mappeds)

specs = every(Plain, **FIRST).where(_of(dict.fromkeys(("one", "xy", "x", "rep"), ("line",))))
test_specs = judge(probe="put.mapped_spec", cases=specs)

SHAPED = {"one": ("none", "dev1"), "xy": ("yx", "perm"), "np_aligned": ("none",)}
shapes = every(Shaped, flags=ROWS, **FIRST).where(_of(SHAPED))
test_shapes = judge(probe="put.shaped", cases=shapes)


REVIEWED = {
    "PUT-01": "58d7c759",
    "PUT-02": "3c97b71c",
    "PUT-03": "b1a51926",
    "PUT-04": "1892223c",
    "PUT-05": "161deb90",
    "PUT-06": "b558a8d6",
    "PUT-07": "ce86943e",
    "PUT-08": "78d0884b",
    "PUT-09": "d4598f64",
    "PUT-10": "4b737beb",
    "PUT-11": "203245b7",
    "PUT-12": "bce9ef55",
    "PUT-13": "db76f7d5",
    "PUT-14": "fe15e314",
    "PUT-15": "e626c78a",
    "PUT-16": "1edd2203",
    "PUT-17": "833b9d44",
    "PUT-18": "6beaf499",
    "PUT-19": "2fc8e322",
    "PUT-20": "c03dbd85",
    "PUT-21": "65cd744d",
    "PUT-22": "7143802d",
    "PUT-23": "0838ed63",
    "PUT-24": "b82acfe9",
    "PUT-25": "b40daf96",
    "PUT-26": "61488eba",
    "PUT-27": "31d4c29d",
    "PUT-28": "21170652",
    "PUT-29": "4a55e62a",
    "PUT-30": "687bd0f9",
    "PUT-31": "d590027d",
    "PUT-32": "0025a652",
    "PUT-33": "020a41ef",
    "PUT-34": "6e121b76",
    "PUT-35": "e919063c",
    "PUT-36": "22452962",
    "PUT-37": "09df1e15",
    "PUT-38": "fdf0dcc3",
    "PUT-39": "f76a853b",
    "PUT-40": "fc4a2f3b",
    "PUT-41": "13765364",
    "PUT-42": "5179bf43",
    "PUT-43": "e5a4dab6",
    "PUT-44": "e46f7322",
    "PUT-76": "cc1d1ffd",
    "PUT-77": "4e06de47",
    "PUT-45": "0b05bbc0",
    "PUT-46": "cbfcb4c5",
    "PUT-78": "a8d16755",
    "PUT-47": "5b008204",
    "PUT-48": "41bfeda7",
    "PUT-49": "e92004c3",
    "PUT-50": "941834c0",
    "PUT-51": "a45464ef",
    "PUT-52": "72fefc18",
    "PUT-53": "efc0acc7",
    "PUT-54": "97fb03c2",
    "PUT-55": "de2bb0c2",
    "PUT-56": "114fe192",
    "PUT-57": "f32ae2ee",
    "PUT-58": "9fd28931",
    "PUT-59": "ee23f7ff",
    "PUT-60": "004e843e",
    "PUT-79": "66ff82f2",
    "PUT-61": "d58d0c6b",
    "PUT-62": "589ac8b8",
    "PUT-63": "a2e639c2",
    "PUT-80": "18656f1a",
    "PUT-81": "d7096abf",
    "PUT-82": "b2dd3061",
    "PUT-64": "963868c4",
    "PUT-65": "f8e014ea",
    "PUT-66": "d2f334ba",
    "PUT-67": "dfc27aba",
    "PUT-68": "7f437e63",
    "PUT-69": "db325167",
    "PUT-70": "45f06b2a",
    "PUT-74": "d979b197",
    "PUT-75": "1e443f87",
    "PUT-71": "2262315c",
    "PUT-72": "274dbbc8",
    "PUT-73": "c2e97af9",
}
