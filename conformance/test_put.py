"""PUT: the six rows of the flag table, on every kind of input and target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from conformance.kit import Case, every, judge
from conformance.probes.arrays import ARRAYS
from conformance.probes.places import SOURCES, TARGETS, target
from conformance.probes.put import FLAGS, USES


@dataclass(frozen=True)
class Between(Case):
    """An array that lies at a source is put to a target."""

    source: str
    target: str

    @property
    def id(self) -> str:
        _, _, *rest = self.data().values()
        return "-".join([f"{self.source}_to_{self.target}", *rest])

    @property
    def meant(self) -> bool:
        """Whether the target says something of its own about this source."""
        if len(SOURCES[self.source].devices) == 1:
            return self.target not in ("dev5", "perm")  # every device is another one, and one device has one order
        return self.source != self.target

    @property
    def devices(self) -> int:
        """How many devices it takes to have those that are named."""
        there = target(self.source, self.target) or SOURCES[self.source]
        return 1 + max(SOURCES[self.source].devices + there.devices)

    @property
    def placed(self) -> dict[str, Any]:
        """The sharding that the output must have."""
        return (target(self.source, self.target) or SOURCES[self.source]).sharding

    @property
    def committed(self) -> bool:
        """Whether the output must be committed."""
        return self.target != "none" or SOURCES[self.source].committed


@dataclass(frozen=True)
class Put(Between):  # xy_to_perm-copy-f32_8x8
    flags: str
    array: str


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
class Row(Between):  # xy_to_same-default-alias-f32_8x8
    flags: str
    twin: str
    array: str


@dataclass(frozen=True)
class Held(Between):  # one_to_same-look-f32_8x8
    then: str
    array: str


@dataclass(frozen=True)
class Plain(Between):  # xy_to_perm-f32_8x8
    array: str


BETWEEN = {"source": SOURCES, "target": TARGETS, "array": ARRAYS}
ONCE = ("xy", "other4")
"""Donating to other devices can end the process, which costs as much as a hundred cells. `puts` does it from every
source, `uses` in every way from `mesh1`; elsewhere it is done this once."""


def _once(case: Between) -> bool:
    return case.target != "other4" or (case.source, case.target) == ONCE


puts = every(Put, flags=[row for row in FLAGS if row != "both"], **BETWEEN).where(lambda c: c.meant)
test_puts = judge(probe="put.put", cases=puts)

refusals = every(Put, flags=["both"], **BETWEEN).where(lambda c: c.meant)
test_refusals = judge(probe="put.refused", cases=refusals)

ACTS = ("delete_output", "delete_input", "donate_output", "donate_input")
pairs = every(Pair, flags=["alias", "copy", "donate"], act=ACTS, **BETWEEN).where(
    lambda c: c.meant and (c.act in ACTS[::2] if c.flags == "alias" else c.flags == "copy" or c.target != "other4")
)
test_pairs = judge(probe="put.pair", cases=pairs)

USED = {
    **dict.fromkeys([("one", "none"), ("one", "dev1"), ("free", "same"), ("x", "yx"), ("xy", "perm")], tuple(USES)),
    ("rep", "perm"): tuple(use for use in USES if not use.startswith("hit")),  # a hang costs the whole time limit
    ("mesh1", "other4"): tuple(USES),
    ("one", "other4"): ("jit",),
    ONCE: ("add", "live_arrays", "traceback"),
}
uses = every(Use, use=USES, **BETWEEN).where(lambda c: c.use in USED.get((c.source, c.target), ()))
test_uses = judge(probe="put.use", cases=uses)

TWINS = {"default": "alias", "move": "donate"}
rows = every(Row, flags=TWINS, twin=TWINS.values(), **BETWEEN).where(
    lambda c: c.meant and TWINS[c.flags] == c.twin and (c.flags == "default" or _once(c))
)
test_rows = judge(probe="put.rows", cases=rows)

eagers = every(Plain, **BETWEEN).where(lambda c: c.meant and _once(c))
test_eagers = judge(probe="put.eager", cases=eagers)

helds = every(Held, then=["look", "overwrite"], **BETWEEN).where(
    lambda c: c.meant and c.source in ("one", "xy", "rep") and (c.then == "overwrite" or _once(c))
)
test_helds = judge(probe="put.held", cases=helds)


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
}
