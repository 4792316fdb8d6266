"""AOT: what is lowered and compiled ahead of time, and whether it agrees with calling."""

from __future__ import annotations

from dataclasses import dataclass

from conformance.kit import Case, every, judge
from conformance.probes.aot import DONATED, DROPPED, PLACES, PROGRAMS
from conformance.probes.places import Place


@dataclass(frozen=True)
class Staged(Case):  # tree-four
    form: str
    place: str

    @property
    def at(self) -> Place:
        return PLACES[self.place]

    @property
    def devices(self) -> int:
        return 1 + max(self.at.devices)

    @property
    def needs(self) -> tuple[str, ...]:
        return ("shard_map",) if self.form == "map" else ()

    @property
    def donates(self) -> bool:
        return self.form in DONATED

    @property
    def drops(self) -> bool:
        """Whether the program does not use all of its arguments."""
        return self.form in DROPPED


CORE = ("plain", "both", "tree", "donated", "unused", "constant")
"""The programs that are tried at several places; the others at one."""
LOOSE = ("no_arguments", "weak", "scalar")
"""Those that nothing can be cut of."""
staged = every(Staged, form=PROGRAMS, place=PLACES).where(
    lambda c: (
        (c.form == "plain" or c.place == ("free" if c.form in LOOSE else "four"))
        or (c.form in CORE and c.place in ("free", "back", "square"))
    )
)
test_staged = judge(probe="aot.stages", cases=staged)

REVIEWED: dict[str, str] = {}
