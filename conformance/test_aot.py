"""AOT: what is lowered and compiled ahead of time, and whether it agrees with calling."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from conformance.kit import Case, Eight, Four, every, judge
from conformance.probes.aot import (
    AROUND,
    BAD,
    COSTS,
    COUNTS,
    DONATED,
    DROPPED,
    ELSEWHERE,
    FOR,
    LOOSELY,
    MISTAKES,
    OPTIONS,
    PLACES,
    PROGRAMS,
    SHARDS,
    TAKEN,
    TEXTS,
    TRACED,
    UNFIT,
    USED,
    WITHIN,
    WORDED,
)
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
STAGES = ("free", "dev1", "mesh1", "four", "back", "rep", "square", "eight")
"""Where they are tried."""
staged = every(Staged, form=PROGRAMS, place=STAGES).where(
    lambda c: (
        (c.form == "plain" or c.place == HOME.get(c.form, "four"))
        or (c.form in CORE and c.place in ("free", "back", "square"))
    )
)
test_staged = judge(probe="aot.stages", cases=staged)


@dataclass(frozen=True)
class Wrong(Four):  # type-dtype
    wrong: str
    mistake: str


wrongs = every(
    Wrong, wrong=MISTAKES, mistake=list(dict.fromkeys(it for some in MISTAKES.values() for it in some))
).where(lambda c: c.mistake in MISTAKES[c.wrong])
test_wrongs = judge(probe="aot.refused", cases=wrongs)


@dataclass(frozen=True)
class Call(Four):  # wide
    call: str


loosely = every(Call, call=LOOSELY)
test_loosely = judge(probe="aot.loosely", cases=loosely)
worded = every(Call, call=WORDED)
test_worded = judge(probe="aot.worded", cases=worded)


@dataclass(frozen=True)
class Within(Four):  # vmap
    how: str


within = every(Within, how=WITHIN)
test_within = judge(probe="aot.within", cases=within)


@dataclass(frozen=True)
class Around(Eight):  # thread-array
    how: str
    given: str

    @property
    def needs(self) -> tuple[str, ...]:
        return ("set_mesh",) if self.how.startswith("set_") else ()

    @property
    def lies(self) -> dict[str, Any]:
        """Where the program was compiled to leave its result."""
        return PLACES["four"].sharding


around = every(Around, how=AROUND, given=("array", "numpy"))
test_around = judge(probe="aot.around", cases=around)


@dataclass(frozen=True)
class Costing(Case):  # multiply-four
    program: str
    place: str

    @property
    def devices(self) -> int:
        return 1 + max(PLACES[self.place].devices)

    @property
    def flops(self) -> float:
        return float(COSTS[self.program][2])

    @property
    def count(self) -> int:
        """How many devices it runs on."""
        return len(PLACES[self.place].devices)

    @property
    def shard(self) -> int:
        """How many bytes each device has of an array."""
        return 4 * math.prod(SHARDS[self.place])

    @property
    def taken(self) -> int:
        """How many bytes each device has of the arguments that the program uses."""
        return int(self.shard * USED.get(self.program, COSTS[self.program][1]))


costs = every(Costing, program=COSTS, place=SHARDS).where(
    lambda c: c.program in ("multiply", "bump") or c.place in ("free", "four")
)
test_costs = judge(probe="aot.cost", cases=costs)


@dataclass(frozen=True)
class Texted(Case):  # plain-four
    form: str
    place: str

    @property
    def devices(self) -> int:
        return 1 + max(PLACES[self.place].devices)

    @property
    def needs(self) -> tuple[str, ...]:
        return ("shard_map",) if self.form == "map" else ()

    @property
    def count(self) -> int:
        """How many devices it runs on."""
        return 1 if self.form == "no_arguments" else len(PLACES[self.place].devices)


texts = every(Texted, form=TEXTS, place=("free", "four", "back", "rep", "square")).where(
    lambda c: (c.place == "free") == (c.form == "no_arguments") or (c.place == "free" and c.form in CORE)
)
test_texts = judge(probe="aot.text", cases=texts)


@dataclass(frozen=True)
class Standing(Case):  # mixed-four
    given: str
    place: str

    @property
    def devices(self) -> int:
        return 1 + max(PLACES[self.place].devices)


standing = every(Standing, given=FOR, place=STAGES).where(lambda c: c.given == "structs" or c.place in SHARDS)
test_standing = judge(probe="aot.stands", cases=standing)

traces = every(Texted, form=TRACED, place=("free", "four", "square")).where(
    lambda c: c.place == ("free" if c.form == "no_arguments" else "four") or c.form in CORE
)
test_traces = judge(probe="aot.traced", cases=traces)


@dataclass(frozen=True)
class Optional(Four):  # level
    options: str

    @property
    def lies(self) -> dict[str, Any]:
        """Where the result lies."""
        return PLACES["four"].sharding


optional = every(Optional, options=OPTIONS)
test_optional = judge(probe="aot.options", cases=optional)


@dataclass(frozen=True)
class Bad(Four):  # unknown-jit
    options: str
    how: str

    @property
    def needs(self) -> tuple[str, ...]:
        return ("jit.compiler_options",) if self.how == "jit" else ()


bad = every(Bad, options=BAD, how=("compile", "jit"))
test_bad = judge(probe="aot.bad_options", cases=bad)


@dataclass(frozen=True)
class Export(Case):  # tree-four-elsewhere
    form: str
    place: str
    there: str

    @property
    def devices(self) -> int:
        return 1 + max(*PLACES[self.place].devices, *PLACES[ELSEWHERE[self.place]].devices)

    @property
    def needs(self) -> tuple[str, ...]:
        return ("shard_map",) if self.form == "map" else ()

    @property
    def count(self) -> int:
        """How many devices the program is for."""
        return 1 if self.form in ("no_arguments", "weak") else len(PLACES[self.place].devices)

    @property
    def home(self) -> list[int]:
        """The devices of its results, in order."""
        return list(PLACES[self.place if self.there == "there" else ELSEWHERE[self.place]].devices)

    @property
    def placed(self) -> bool:
        """Whether it has results, and arguments that say where they are computed."""
        return self.form not in ("no_arguments", "weak", "nothing")


MOVED = ("plain", "tree", "constraint", "map", "key")
"""The programs that are also called on other devices than they were exported for."""
exports = every(Export, form=TAKEN, place=ELSEWHERE, there=("there", "elsewhere")).where(
    lambda c: (
        (c.there == "there" and (c.form == "plain" or c.place == HOME.get(c.form, "four")))
        or (c.there == "elsewhere" and c.place == "four" and c.form in MOVED)
    )
)
test_exports = judge(probe="aot.exported", cases=exports)


@dataclass(frozen=True)
class Unfit(Case):  # devices-fewer
    wrong: str
    mistake: str

    @property
    def devices(self) -> int:
        return 8 if self.mistake == "more" else 4


KINDS = {"devices": COUNTS, "call": UNFIT, "platform": ("tpu",)}
unfit = every(Unfit, wrong=KINDS, mistake=(*COUNTS, *UNFIT, "tpu")).where(lambda c: c.mistake in KINDS[c.wrong])
test_unfit = judge(probe="aot.unfit", cases=unfit)

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
    "AOT-48": "73641f7f",
    "AOT-49": "99d630ae",
    "AOT-50": "d4b74f5c",
    "AOT-51": "426caca2",
    "AOT-52": "54eafc92",
    "AOT-53": "3609e981",
    "AOT-54": "e722c32f",
    "AOT-55": "c1f62460",
    "AOT-56": "1c88a502",
    "AOT-57": "f2e6f40b",
    "AOT-58": "57c383d8",
    "AOT-59": "ede68367",
    "AOT-60": "5360e611",
    "AOT-61": "f8c13884",
    "AOT-62": "44b7a1e8",
    "AOT-63": "51cb8c01",
    "AOT-64": "8a1221cf",
    "AOT-65": "7aced507",
    "AOT-66": "9d53d83a",
    "AOT-67": "ff9a7e06",
    "AOT-68": "8a59e982",
    "AOT-69": "afc45fb4",
    "AOT-70": "059a18bc",
    "AOT-71": "df4d5e29",
    "AOT-72": "26f16810",
    "AOT-73": "cebc2e1e",
    "AOT-74": "ce7aa214",
    "AOT-75": "2a1274f3",
    "AOT-76": "4dcf87bd",
    "AOT-77": "9df9b9a9",
    "AOT-78": "71aea219",
    "AOT-79": "5dae8f15",
    "AOT-80": "1a39b023",
    "AOT-81": "203dc0f4",
    "AOT-82": "02c4029e",
    "AOT-83": "87473a49",
    "AOT-84": "237698d6",
    "AOT-85": "045916c4",
    "AOT-86": "e33e3c82",
    "AOT-87": "ef6b7dc9",
    "AOT-88": "187c3b43",
}
