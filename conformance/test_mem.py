"""MEM: kinds of memory in the modules of programs and of their results."""

from __future__ import annotations

from dataclasses import dataclass

from conformance.kit import Case, every, judge
from conformance.probes.mem import (
    ASKED,
    COMPUTE,
    ENTRIES,
    FORMS,
    GIVES,
    HOW,
    INDEX,
    LAYS,
    MANY,
    PAIRED,
    READ,
    SPOTS,
    STAYS,
    THROUGH,
    TYPES,
    WAYS,
    WRONG,
)


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
KINDS = ("default", *OTHER)
TWO = ("default", "pinned_host")
APART = (("default", "pinned_host"), ("unpinned_host", "default"))
"""Kinds, and pairs of them, that stand for the others where a product is too large for every run."""


@dataclass(frozen=True)
class Said(Kinds):  # four-out-pinned_host
    lay: str
    way: str
    memory: str

    @property
    def wide(self) -> bool:
        """On four devices everything is judged in each run, elsewhere two kinds, and some ways where all have all."""
        if self.lay == "four":
            return False
        return self.memory not in TWO or (
            self.lay == "rep" and self.way not in ("argument", "out", "constraint", "put")
        )


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

    @property
    def wide(self) -> bool:
        """On one device it is the put to a device that is judged everywhere in a program, in each run."""
        return self.lay == "one" and self.how != "device" and self.spot not in ("whole", "inner")


idles = every(Idle, lay=LAYS, spot=SPOTS, how=HOW).where(
    lambda c: (c.how != "device" or c.lay == "one") and (c.lay != "rep" or c.spot == "whole")
)
test_idles = judge(probe="mem.idle", cases=idles)


class IdleValue(Idle):
    """A case whose program runs."""

    @property
    def wide(self) -> bool:
        return self.spot not in ("inner", "scan", "grad") and (self.lay, self.spot) != ("one", "twice")


idle_values = every(IdleValue, lay=("one", "four"), spot=SPOTS, how=["sharding"])
test_idle_values = judge(probe="mem.idle_value", cases=idle_values)


@dataclass(frozen=True)
class Moved(Kinds):  # four-put-pinned_host
    lay: str
    form: str
    memory: str

    @property
    def wide(self) -> bool:
        """Whatever takes a program is judged on four devices in each run, and here and there elsewhere."""
        if self.form == "put_eager" or (self.lay, self.form) in (("one", "put"), ("rep", "out")):
            return self.lay != "four" and self.memory != "pinned_host"
        few = {"constraint_eager": ("default",), "constraint": KINDS}.get(self.form, TWO)
        return self.lay != "four" or self.memory not in few


moves = every(Moved, lay=LAYS, form=FORMS, memory=("default", *OTHER)).where(
    lambda c: c.form != "constraint_eager" or c.memory == "default" or c.lay == "four"
)
test_moves = judge(probe="mem.moved", cases=moves)


class Stays(Moved):
    """A case of a program that names no kind."""

    @property
    def wide(self) -> bool:
        if self.lay == "four":
            return (self.form, self.memory) == ("returned", "default")
        return (self.lay, self.form, self.memory) != ("one", "returned", "pinned_host")


stays = every(Stays, lay=LAYS, form=STAYS, memory=("default", *OTHER))
test_stays = judge(probe="mem.stays", cases=stays)


class Typed(Case):
    """A case of shardings of one class or of two, in kinds of memory."""

    one: str

    @property
    def devices(self) -> int:
        return 1 if self.one in ("single", "mesh_of_one") else 4

    @property
    def needs(self) -> tuple[str, ...]:
        found = [ONCE[it] for it in self.data().values() if it in ONCE]
        kinds = [f"memory.{it}" for it in self.data().values() if it in OTHER]
        return tuple(dict.fromkeys([*found, *kinds, *(["memory.device"] if kinds else [])]))


ONCE = {"positional": "positional_sharding", "gspmd": "gspmd_sharding"}
"""The classes that not every JAX has."""


@dataclass(frozen=True)
class Pair(Typed):  # named-named-unnamed-pinned_host
    one: str
    other: str
    memory: str
    second: str

    @property
    def same(self) -> bool:
        """Whether both are in the same kind of memory."""
        return self.memory == self.second or {self.memory, self.second} == set(USUAL)

    @property
    def spelt(self) -> bool:
        """Whether one names the default kind and the other none."""
        return self.one == self.other and {self.memory, self.second} == set(USUAL)

    @property
    def written_alike(self) -> bool:
        """Whether both are written in the same way."""
        return self.one == self.other and self.memory == self.second


pairs = every(Pair, one=TYPES, other=TYPES, memory=(*USUAL, *OTHER), second=(*USUAL, *OTHER)).where(
    lambda c: c.one == c.other or (c.one, c.other) == ("single", "mesh_of_one")
)
test_pairs = judge(probe="mem.pair", cases=pairs)


@dataclass(frozen=True)
class One(Typed):  # named-pinned_host
    one: str
    memory: str


shardings = every(One, one=TYPES, memory=(*USUAL, *OTHER))
test_shardings = judge(probe="mem.sharding", cases=shardings)


@dataclass(frozen=True)
class Wrong(Case):  # with_named-unknown
    asked: str
    given: str

    @property
    def devices(self) -> int:
        return 1 if self.asked in ("single", "with_single", "device") else 4

    @property
    def needs(self) -> tuple[str, ...]:
        return tuple(capability for name, capability in ONCE.items() if self.asked.endswith(name))

    @property
    def is_name(self) -> bool:
        """Whether what is asked for is the name of a kind, if of none that there is."""
        return isinstance(WRONG[self.given], str)


wrongs = every(Wrong, asked=ASKED, given=WRONG)
test_wrongs = judge(probe="mem.wrong", cases=wrongs)


@dataclass(frozen=True)
class All(Case):  # all
    @property
    def id(self) -> str:
        return "all"


memories = every(All)
test_memories = judge(probe="mem.memories", cases=memories)


class Meeting(Case):
    """A case in which two kinds of memory meet."""

    lay: str
    memory: str
    second: str

    @property
    def devices(self) -> int:
        return len(LAYS[self.lay].devices)

    @property
    def needs(self) -> tuple[str, ...]:
        kinds = [f"memory.{it}" for it in (self.memory, self.second) if it in OTHER]
        return ("memory.device", *kinds)


@dataclass(frozen=True)
class Entry(Meeting):  # four-in_second-default-pinned_host
    lay: str
    entry: str
    memory: str
    second: str

    @property
    def wide(self) -> bool:
        """One argument meets each kind in each run, the others of them two."""
        if self.lay == "one" and self.entry == "in":
            return False
        return (self.memory, self.second) not in APART or (self.lay == "four" and self.entry not in ("in", "in_second"))


entries = every(Entry, lay=("one", "four"), entry=ENTRIES, memory=KINDS, second=KINDS).where(
    lambda c: c.memory != c.second
)
test_entries = judge(probe="mem.entry", cases=entries)


@dataclass(frozen=True)
class Follower(Kinds):  # four-numpy-pinned_host
    lay: str
    given: str
    memory: str

    @property
    def wide(self) -> bool:
        ours = {"one": ("free", "pinned_host"), "four": ("numpy", "unpinned_host")}
        return (self.given, self.memory) != ours[self.lay]


followers = every(Follower, lay=("one", "four"), given=("free", "numpy"), memory=OTHER)
test_followers = judge(probe="mem.follow", cases=followers)


@dataclass(frozen=True)
class Mixed(Meeting):  # four-jit-default-pinned_host
    lay: str
    act: str
    memory: str
    second: str

    @property
    def wide(self) -> bool:
        """An addition meets each pair of kinds in each run, the other operations two, or one."""
        if (self.lay, self.act) == ("one", "add"):
            return False
        few = APART[:1] if self.act in ("concatenate", "inner", "where") or self.lay == "four" else APART
        return (self.memory, self.second) not in few


mixtures = every(Mixed, lay=("one", "four"), act=PAIRED, memory=KINDS, second=KINDS).where(
    lambda c: c.memory != c.second and (c.lay == "one" or c.act in ("add", "jit"))
)
test_mixtures = judge(probe="mem.mixed", cases=mixtures)


@dataclass(frozen=True)
class Used(Kinds):  # four-slice-eager-pinned_host
    lay: str
    act: str
    how: str
    memory: str

    @property
    def wide(self) -> bool:
        """Most parts are taken in one program in each run, and so is most of what is computed, and one by one outside.

        What is in unpinned memory is got as a whole, and a row of it.
        """
        if self.memory == "unpinned_host":
            return (self.lay, self.act) not in (("one", "row"), ("one", "asarray"), ("one", "get"))
        if self.how == "jit":
            return self.act not in ("stepped", "dynamic", *MANY) or (self.lay, self.act) in TWICE
        if self.act in INDEX:
            return self.act not in ONE_BY_ONE[self.lay]
        return self.act in COMPUTE and self.act not in ("concatenate", "matmul", "where")


ONE_BY_ONE = {"one": ("element", "stepped"), "four": ("row", "last", "slice", "column", "dynamic")}
TWICE = (("one", "dynamic"), ("one", "parts"), ("four", "stepped"), ("four", "results"))


def _some(case: Used) -> bool:
    """Parts of an array everywhere; what is computed in one way each on one device and on four; what is read, read."""
    if case.act in READ:
        return case.how == "eager"
    if case.act in MANY:
        return case.how == "jit" and case.memory == "pinned_host"
    if case.act in INDEX:
        return case.memory == "pinned_host" or (case.lay == "one" and case.how == "eager")
    return case.memory == "pinned_host" and case.how == {"one": "jit", "four": "eager"}[case.lay]


uses = every(Used, lay=("one", "four"), act=(*INDEX, *COMPUTE, *READ, *MANY), how=("eager", "jit"), memory=OTHER).where(
    _some
)
test_uses = judge(probe="mem.used", cases=uses)


@dataclass(frozen=True)
class Odd(Kinds):  # four-key_8x8-pinned_host
    lay: str
    array: str
    memory: str

    @property
    def wide(self) -> bool:
        return (self.memory == "unpinned_host") != (self.lay == "rep") or (self.lay, self.array) == ("one", "f32_0x8")


oddities = every(Odd, lay=LAYS, array=("key_8x8", "f32_0x8", "f32_0d"), memory=OTHER).where(
    lambda c: c.lay in ("one", "rep" if c.array == "f32_0d" else "four")
)
test_oddities = judge(probe="mem.other", cases=oddities)


@dataclass(frozen=True)
class Given(Meeting):  # four-out-default-pinned_host
    lay: str
    form: str
    memory: str
    second: str

    @property
    def alike(self) -> bool:
        """Whether the result lies in the kind of memory that the argument lies in."""
        return self.memory == self.second

    @property
    def told(self) -> bool:
        """Whether it must be told that the donation is of no use."""
        return not self.alike

    @property
    def wide(self) -> bool:
        """What JAX dies of is judged for three pairs of kinds in each run."""
        pair = (self.memory, self.second)
        if self.lay == "four":
            return self.second != "pinned_host" or (self.form == "out" and not self.alike)
        few = {
            "out": (("default", "pinned_host"), ("pinned_host", "pinned_host")),
            "put": (
                *(("default", "default"), ("default", "pinned_host"), ("default", "unpinned_host")),
                *(("pinned_host", "default"), ("pinned_host", "pinned_host"), ("unpinned_host", "unpinned_host")),
            ),
        }
        return pair not in few.get(self.form, ())


donations = every(Given, lay=("one", "four"), form=GIVES, memory=KINDS, second=KINDS).where(
    lambda c: (
        (c.lay == "one" or (c.form != "put_only" and "unpinned_host" not in (c.memory, c.second)))
        and (c.form != "put_only" or (c.memory, c.second) == ("default", "pinned_host"))
    )
)
test_donations = judge(probe="mem.given_up", cases=donations)


@dataclass(frozen=True)
class Keyed(Kinds):  # four-pinned_host
    lay: str
    memory: str

    @property
    def wide(self) -> bool:
        return (self.lay == "four") != (self.memory == "pinned_host")


keys = every(Keyed, lay=("one", "four"), memory=OTHER)
test_keys = judge(probe="mem.keyed", cases=keys)


class KeyedOut(Keyed):
    """A case of one function with several out_shardings."""

    @property
    def wide(self) -> bool:
        return self.lay == "one"


keys_out = every(KeyedOut, lay=("one", "four"), memory=OTHER)
test_keys_out = judge(probe="mem.keyed_out", cases=keys_out)


class AsHlo(Said):
    """A case of a text in another dialect."""

    @property
    def wide(self) -> bool:
        return self.lay != "four"


as_hlo = every(AsHlo, lay=LAYS, way=WAYS, memory=["default"])
test_as_hlo = judge(probe="mem.said_as_hlo", cases=as_hlo)


class Passage(Moved):
    """A case of a transformation, a loop or a branch."""

    @property
    def wide(self) -> bool:
        if self.form == "scan":
            return self.lay != "four"
        return self.lay == "four" or (self.memory == "unpinned_host") != (self.form == "grad_jit")


passages = every(Passage, lay=("one", "four"), form=THROUGH, memory=OTHER).where(
    lambda c: c.lay == "one" or (c.memory == "pinned_host" and c.form in ("grad", "scan"))
)
test_passages = judge(probe="mem.through", cases=passages)


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
    "MEM-21": "7d4055be",
    "MEM-22": "7ba890f8",
    "MEM-23": "5a9a9836",
    "MEM-24": "49f067a7",
    "MEM-25": "13016cbb",
    "MEM-26": "ba2d0328",
    "MEM-27": "c42b4d15",
    "MEM-28": "53f7f865",
    "MEM-29": "8d618b55",
    "MEM-30": "f146e98c",
    "MEM-31": "9aedd191",
    "MEM-32": "2666585f",
    "MEM-33": "09a8625e",
    "MEM-34": "c0ba2d1c",
    "MEM-35": "7604bbd6",
    "MEM-36": "36235eb7",
    "MEM-37": "f6a81882",
    "MEM-38": "56496ce9",
    "MEM-39": "0323b69f",
    "MEM-40": "de157c46",
    "MEM-41": "9630969e",
    "MEM-42": "9f465340",
    "MEM-43": "e4f31442",
    "MEM-44": "976d5372",
    "MEM-45": "57c228b6",
    "MEM-46": "9b84b28e",
    "MEM-47": "862b42cd",
    "MEM-48": "0263c202",
    "MEM-49": "f600fbca",
    "MEM-50": "f32c4257",
    "MEM-51": "53d4b6e5",
    "MEM-52": "f161df89",
    "MEM-53": "8d4f7c27",
    "MEM-54": "29be364d",
    "MEM-55": "2cf5f522",
    "MEM-56": "e67cca8f",
    "MEM-57": "1fe4a71a",
    "MEM-58": "00b2656e",
    "MEM-59": "31d84e31",
}
