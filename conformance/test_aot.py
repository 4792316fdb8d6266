"""AOT: what is lowered and compiled ahead of time, and whether it agrees with calling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from conformance.kit import Case, every, judge
from conformance.probes.aot import AROUND, DONATED, DROPPED, LOOSELY, MISTAKES, PLACES, PROGRAMS, WITHIN, WORDED
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
HOME = {"no_arguments": "free", "weak": "free", "scalar": "free", "zero": "rep"}
"""The one place of those that have nothing to be cut; elsewhere it is four devices."""
staged = every(Staged, form=PROGRAMS, place=PLACES).where(
    lambda c: (
        (c.form == "plain" or c.place == HOME.get(c.form, "four"))
        or (c.form in CORE and c.place in ("free", "back", "square"))
    )
)
test_staged = judge(probe="aot.stages", cases=staged)


@dataclass(frozen=True)
class Wrong(Case):  # type-dtype
    wrong: str
    mistake: str

    @property
    def devices(self) -> int:
        return 4


wrongs = every(
    Wrong, wrong=MISTAKES, mistake=list(dict.fromkeys(it for some in MISTAKES.values() for it in some))
).where(lambda c: c.mistake in MISTAKES[c.wrong])
test_wrongs = judge(probe="aot.refused", cases=wrongs)


@dataclass(frozen=True)
class Call(Case):  # wide
    call: str

    @property
    def devices(self) -> int:
        return 4


loosely = every(Call, call=LOOSELY)
test_loosely = judge(probe="aot.loosely", cases=loosely)
worded = every(Call, call=WORDED)
test_worded = judge(probe="aot.worded", cases=worded)


@dataclass(frozen=True)
class Within(Case):  # vmap
    how: str

    @property
    def devices(self) -> int:
        return 4


within = every(Within, how=WITHIN)
test_within = judge(probe="aot.within", cases=within)


@dataclass(frozen=True)
class Around(Case):  # thread-array
    how: str
    given: str

    @property
    def devices(self) -> int:
        return 8

    @property
    def needs(self) -> tuple[str, ...]:
        return ("set_mesh",) if self.how.startswith("set_") else ()

    @property
    def lies(self) -> dict[str, Any]:
        """Where the program was compiled to leave its result."""
        return PLACES["four"].sharding


around = every(Around, how=AROUND, given=("array", "numpy"))
test_around = judge(probe="aot.around", cases=around)

REVIEWED = {
    "AOT-01": "25f2b668",
    "AOT-02": "3c616ff1",
    "AOT-03": "d64bf72b",
    "AOT-04": "00990dbf",
    "AOT-05": "f21d657d",
    "AOT-06": "34874504",
    "AOT-07": "eef27d71",
    "AOT-08": "8a2dbaf5",
    "AOT-09": "fdbcc74d",
    "AOT-10": "90865ea2",
    "AOT-11": "f11d57ee",
    "AOT-12": "4c6dcfa9",
    "AOT-13": "aaeee888",
    "AOT-14": "62b86f41",
    "AOT-15": "218de3cb",
    "AOT-16": "c9c3b0a3",
    "AOT-17": "0a7baa17",
    "AOT-18": "af0f0beb",
    "AOT-19": "99693133",
    "AOT-20": "52b2282b",
    "AOT-21": "e709e705",
    "AOT-22": "b340875b",
    "AOT-23": "3da02833",
    "AOT-24": "b1804053",
    "AOT-25": "a81a4d4a",
    "AOT-26": "8f57144d",
    "AOT-27": "11074543",
    "AOT-28": "707e7ceb",
    "AOT-29": "45914f6b",
    "AOT-30": "be32dafb",
    "AOT-31": "5dfb1017",
    "AOT-32": "c5ea14d7",
    "AOT-33": "79185745",
    "AOT-34": "ad65581b",
    "AOT-35": "e1cb7033",
    "AOT-36": "439c0746",
    "AOT-37": "d530e9a7",
    "AOT-38": "c3b00389",
    "AOT-39": "c801dabd",
    "AOT-40": "5557fcd6",
    "AOT-41": "a513151a",
    "AOT-42": "ab9571ef",
    "AOT-43": "6192a368",
    "AOT-44": "f7484d72",
    "AOT-45": "e323570d",
    "AOT-46": "0c83612c",
    "AOT-47": "bd1d86d5",
}
