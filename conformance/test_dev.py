"""DEV: the sides of a call on devices that disagree, and on devices that agree."""

from __future__ import annotations

from dataclasses import dataclass

from conformance.kit import Case, every, judge
from conformance.probes.dev import ACTS, CONTEXTS, LOOSE, MEETINGS, PLATFORMS, PROGRAMS
from conformance.probes.meshes import APART, CALLED, FITTING, SIDES, TOGETHER
from conformance.probes.places import Place


class Placed(Case):
    """A case of sides that lie somewhere."""

    @property
    def places(self) -> list[Place]:
        """The places that it names."""
        raise NotImplementedError

    @property
    def devices(self) -> int:
        return 1 + max(max(place.devices) for place in self.places)

    @property
    def there(self) -> list[int]:
        """The devices, in order, of the first of its places: where the result lies, if there is one."""
        return list(self.places[0].devices)


@dataclass(frozen=True)
class Meet(Placed):  # in-disjoint
    meeting: str
    sides: str

    @property
    def places(self) -> list[Place]:
        return [SIDES[side] for side in {**APART, **TOGETHER}[self.sides]]

    @property
    def needs(self) -> tuple[str, ...]:
        return ("shard_map",) if "shard_map" in MEETINGS[self.meeting].parts else ()

    @property
    def meant(self) -> bool:
        """Whether each `shard_map` has a mesh."""
        parts = MEETINGS[self.meeting].parts
        return all(place.axes for part, place in zip(parts, self.places, strict=True) if part == "shard_map")

    @property
    def argued(self) -> bool:
        """Whether a side is an argument."""
        return "argument" in MEETINGS[self.meeting].parts

    @property
    def donates(self) -> bool:
        return MEETINGS[self.meeting].donates

    @property
    def wide(self) -> bool:
        return self.meeting not in MAIN and self.sides in ("superset", "one_many")


MAIN = ("jit", "eager", "in", "in_out", "out", "constraint", "constraints", "map", "map_constraint", "inner_in")
"""The ways to meet that are tried on all kinds of devices; the others only on `SOME`."""
SOME = ("disjoint", "order", "subset", "superset", "one_many", "many_one")
ODD = {
    "mesh_one": ("jit", "in", "map"),
    "squares": ("jit", "in", "map"),
    "line_square": ("jit", "in", "map_constraint"),
    "replicas_order": ("jit", "eager", "in", "out"),
}
"""Kinds of devices that are like others, and the ways to meet that are tried on them."""

meetings = every(Meet, meeting=MEETINGS, sides=APART).where(
    lambda c: c.meant and c.meeting in ODD.get(c.sides, MEETINGS if c.sides in SOME else MAIN)
)
test_meetings = judge(probe="dev.meet", cases=meetings)


@dataclass(frozen=True)
class Repeat(Meet):  # in-order
    @property
    def wide(self) -> bool:
        return self.sides == "order" and self.meeting not in ("jit", "donated", "in")


AGAIN = ("jit", "keyword", "eager", "unused", "donated", "in", "out", "constraint", "map", "inner_in")
repeats = every(Repeat, meeting=AGAIN, sides=("disjoint", "order", "one_one")).where(
    lambda c: c.sides != "one_one" or c.meeting in ("jit", "in")
)
test_repeats = judge(probe="dev.again", cases=repeats, limit=8.0)

ANEW = ("spec", "replicated", "shape", "reordered")
"""Sides on the same devices that cut an array differently."""


@dataclass(frozen=True)
class Agree(Meet):  # map-renamed
    @property
    def wide(self) -> bool:
        return self.meeting != "jit" and self.sides not in ("spec", "renamed", "meshless", "reordered")


agreements = every(Agree, meeting=("jit", "eager", "in", "out", "constraint", "map"), sides=TOGETHER).where(
    lambda c: c.meant and (c.meeting != "in" or c.sides not in ANEW)
)
test_agreements = judge(probe="dev.agree", cases=agreements)


@dataclass(frozen=True)
class Sides(Placed):  # disjoint
    sides: str

    @property
    def places(self) -> list[Place]:
        return [SIDES[side] for side in {**APART, **TOGETHER}[self.sides]]


captures = every(Sides, sides=("disjoint", "order", "one_many", "superset"))
test_captures = judge(probe="dev.capture", cases=captures)

layouts = every(Sides, sides=ANEW)
test_layouts = judge(probe="dev.lay", cases=layouts)


@dataclass(frozen=True)
class Follow(Placed):  # back-python-jit-last
    place: str
    loose: str
    form: str
    turn: str

    @property
    def places(self) -> list[Place]:
        return [SIDES[self.place]]

    @property
    def wide(self) -> bool:
        jitted = {"back": ("free", "python"), "dev1": ("free", "free_1", "numpy"), "free": LOOSE}
        if self.form == "jit":
            return self.loose not in jitted.get(self.place, LOOSE)
        return self.place in jitted and (self.place, self.loose) not in (("free", "free"), ("free", "free_1"))


HOW = (("jit", "last"), ("eager", "first"), ("tree", "last"))
followers = every(
    Follow, place=("four", "back", "dev1", "free"), loose=LOOSE, form=("jit", "eager", "tree"), turn=("first", "last")
).where(lambda c: (c.form, c.turn) in HOW[: 3 if c.loose == "free" else 2])
test_followers = judge(probe="dev.follow", cases=followers)


@dataclass(frozen=True)
class Take(Placed):  # in-back-free
    meeting: str
    place: str
    loose: str

    @property
    def places(self) -> list[Place]:
        return [SIDES[self.place]]

    @property
    def wide(self) -> bool:
        return self.loose == "numpy" and self.place != ("back" if self.meeting == "map" else "dev1")


taken = every(
    Take,
    meeting=("in", "out", "constraint", "map"),
    place=("back", "dev1", "square_other"),
    loose=("free", "numpy"),
).where(lambda c: c.meeting != "map" or c.place != "dev1")
test_taken = judge(probe="dev.take", cases=taken)


@dataclass(frozen=True)
class Under(Placed):  # set_mesh-eight_four-dev0-jit
    how: str
    meshes: str
    array: str
    act: str

    @property
    def places(self) -> list[Place]:
        return [SIDES[side] for side in (*self.meshes.split("_"), self.array) if side in SIDES]

    @property
    def needs(self) -> tuple[str, ...]:
        return ("set_mesh",) if self.how == "set_mesh" else ()

    @property
    def there(self) -> list[int]:
        """The devices of the innermost mesh."""
        return list(SIDES[self.meshes.split("_")[-1]].devices)

    @property
    def wide(self) -> bool:
        return self.how == "with" and (self.meshes, self.array) in (
            *(("four", "numpy"), ("eight", "free"), ("four", "eight"), ("eight_four", "eight")),
        )

    @property
    def lies(self) -> list[int]:
        """The devices of the array."""
        return list(SIDES[self.array].devices)


STRANGERS = (
    ("eight", "dev0"),
    ("eight", "four"),
    ("four", "other"),
    ("four", "back"),
    ("four", "eight"),
    ("eight_four", "eight"),
    ("eight_four", "dev0"),
)
"""Nested mesh contexts, the innermost last, and an array that lies on other devices than it."""
GUESTS = (("four", "four"), ("four", "free"), ("eight", "free"), ("four", "numpy"), ("eight_four", "four"))
"""The same, and an array that lies on its devices, or is committed nowhere."""

NESTS = ("four", "eight", "eight_four")
contexts = every(Under, how=CONTEXTS, meshes=NESTS, array=("dev0", "four", "other", "back", "eight"), act=ACTS).where(
    lambda c: (c.meshes, c.array) in STRANGERS and (c.act != "eager" or c.array in ("dev0", "back"))
)
test_contexts = judge(probe="dev.under", cases=contexts)

guests = every(Under, how=CONTEXTS, meshes=NESTS, array=("four", "free", "numpy"), act=("jit", "constraint")).where(
    lambda c: (c.meshes, c.array) in GUESTS
)
test_guests = judge(probe="dev.under", cases=guests)


@dataclass(frozen=True)
class Called(Placed):  # order-replicas_order-plain
    differs: str
    fault: str
    form: str

    @property
    def places(self) -> list[Place]:
        return [SIDES[side] for side in CALLED[self.differs][self.fault]]

    @property
    def needs(self) -> tuple[str, ...]:
        return tuple(need for place in self.places for need in place.needs)

    @property
    def used(self) -> bool:
        """Whether the program uses the argument in question."""
        return self.form not in ("unused", "kept")

    @property
    def donates(self) -> bool:
        return self.form == "donated"


FAULTS = [fault for faults in CALLED.values() for fault in faults]
calls = every(Called, differs=CALLED, fault=FAULTS, form=PROGRAMS).where(
    lambda c: (
        c.fault in CALLED[c.differs] and (c.form == "plain" or c.fault in ("disjoint", "order", "more", "other_spec"))
    )
)
test_calls = judge(probe="dev.called", cases=calls)


@dataclass(frozen=True)
class Fit(Placed):  # back_free-plain
    fit: str
    form: str

    @property
    def places(self) -> list[Place]:
        return [SIDES[FITTING[self.fit][0]]]


fits = every(Fit, fit=FITTING, form=("plain", "named", "second", "unused")).where(
    lambda c: c.form == "plain" or c.fit in ("renamed", "four_free", "back_numpy")
)
test_fits = judge(probe="dev.fits", cases=fits)


@dataclass(frozen=True)
class Platform(Case):  # called_turned
    form: str


platforms = every(Platform, form=[f"{form}{turn}" for form in PLATFORMS for turn in ("", "_turned")])
test_platforms = judge(probe="dev.platforms", cases=platforms)


REVIEWED = {
    "DEV-01": "d39ffd52",
    "DEV-02": "78ca6ac6",
    "DEV-03": "0e0409ff",
    "DEV-04": "11afa6de",
    "DEV-05": "420e8d0d",
    "DEV-06": "7fd2cbec",
    "DEV-07": "e11bff3a",
    "DEV-08": "7ec3e877",
    "DEV-09": "e99abe90",
    "DEV-10": "99e22ed9",
    "DEV-11": "4e6ce6d0",
    "DEV-12": "4507a205",
    "DEV-13": "fcf1bfe6",
    "DEV-14": "8f985112",
    "DEV-15": "e6c8d354",
    "DEV-16": "7b4d6de6",
    "DEV-17": "7d699f4b",
    "DEV-18": "3e595503",
    "DEV-19": "683c585c",
    "DEV-20": "d27e3d99",
    "DEV-21": "07a77c5e",
    "DEV-22": "ca36688c",
    "DEV-23": "1343cea3",
    "DEV-24": "3cf8b7fd",
    "DEV-25": "26a23dbd",
    "DEV-26": "37b0daca",
    "DEV-27": "8b0adbc2",
    "DEV-28": "cbbe57d5",
    "DEV-29": "8930180a",
    "DEV-30": "32989efc",
    "DEV-31": "ce622763",
    "DEV-32": "347bc1f0",
    "DEV-33": "66356933",
    "DEV-34": "ac5323ef",
    "DEV-35": "76a047fc",
    "DEV-36": "ff826453",
    "DEV-37": "b2582714",
    "DEV-38": "15cd7e5f",
    "DEV-39": "ba7d238c",
    "DEV-40": "4936395c",
    "DEV-41": "94a7b04d",
    "DEV-42": "a0c842e9",
    "DEV-43": "b43a4b7b",
    "DEV-44": "6e79d6c8",
    "DEV-45": "fe0e7114",
    "DEV-46": "6d0fe78c",
    "DEV-47": "c07db0d8",
    "DEV-48": "a7aea43e",
    "DEV-49": "9290eb23",
    "DEV-50": "4d2bac7b",
    "DEV-51": "915eccac",
    "DEV-52": "5067dd78",
    "DEV-53": "0f7a1228",
    "DEV-54": "1c53c9a5",
    "DEV-55": "cb39bf7f",
    "DEV-56": "37925d39",
    "DEV-57": "a1b54b38",
    "DEV-58": "e3403e75",
    "DEV-59": "4a22f05d",
    "DEV-60": "a7f73ebd",
    "DEV-61": "4b59264c",
}
