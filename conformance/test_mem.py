"""MEM: kinds of memory in the modules of programs and of their results."""

from __future__ import annotations

from dataclasses import dataclass

from conformance.kit import Case, every, judge
from conformance.probes.mem import FORMS, HOW, LAYS, SPOTS, STAYS, WAYS


class Kinds(Case):
    """A case with a kind of memory, and a place."""

    lay: str
    memory: str

    @property
    def devices(self) -> int:
        return len(LAYS[self.lay].devices)

    @property
    def needs(self) -> tuple[str, ...]:
        """A kind that is named, on devices where it is not the usual one."""
        return () if self.memory in USUAL else ("memory.device", f"memory.{self.memory}")


USUAL = ("unnamed", "default")
OTHER = ("pinned_host", "unpinned_host")


@dataclass(frozen=True)
class Said(Kinds):  # four-out-pinned_host
    lay: str
    way: str
    memory: str


usuals = every(Said, lay=LAYS, way=WAYS, memory=USUAL)
test_usuals = judge(probe="mem.said", cases=usuals)

others = every(Said, lay=LAYS, way=WAYS, memory=OTHER)
test_others = judge(probe="mem.said", cases=others)


@dataclass(frozen=True)
class Idle(Kinds):  # four-amid-sharding
    lay: str
    spot: str
    how: str
    memory = "default"


idles = every(Idle, lay=LAYS, spot=SPOTS, how=HOW).where(
    lambda c: (c.how != "device" or c.lay == "one") and (c.lay != "rep" or c.spot == "whole")
)
test_idles = judge(probe="mem.idle", cases=idles)

idle_values = every(Idle, lay=("one", "four"), spot=SPOTS, how=["sharding"])
test_idle_values = judge(probe="mem.idle_value", cases=idle_values)


@dataclass(frozen=True)
class Moved(Kinds):  # four-put-pinned_host
    lay: str
    form: str
    memory: str


moves = every(Moved, lay=LAYS, form=FORMS, memory=("default", *OTHER)).where(
    lambda c: c.form != "constraint_eager" or c.memory == "default" or c.lay == "four"
)
test_moves = judge(probe="mem.moved", cases=moves)

stays = every(Moved, lay=LAYS, form=STAYS, memory=("default", *OTHER))
test_stays = judge(probe="mem.stays", cases=stays)


REVIEWED = {
    "MEM-01": "9a3580eb",
    "MEM-02": "140e043e",
    "MEM-03": "41d0322f",
    "MEM-04": "ee5f9a5b",
    "MEM-05": "784acc83",
    "MEM-06": "4d4b7aff",
    "MEM-07": "f7929f58",
    "MEM-08": "506a5648",
    "MEM-09": "f7c15fa0",
    "MEM-10": "c108439f",
    "MEM-11": "d9580758",
    "MEM-12": "6ba4b4dd",
    "MEM-13": "41f7aa73",
    "MEM-14": "68071144",
    "MEM-15": "7faa2b9b",
    "MEM-16": "55868429",
    "MEM-17": "713fdd27",
    "MEM-18": "38a02331",
    "MEM-19": "13f0d176",
    "MEM-20": "4bd4d0e7",
}
