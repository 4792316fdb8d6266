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


REVIEWED: dict[str, str] = {}
