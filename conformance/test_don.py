"""DON: donation in jit: to calls that can use it, to calls that cannot, and what becomes of the donated arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from conformance.kit import Case, Cases, every, judge
from conformance.probes.arrays import ARRAYS, OPTIONAL
from conformance.probes.don import (
    ALONE,
    CHAINS,
    FORMS,
    GLANCES,
    HARMLESS,
    MISUSES,
    MODULES,
    NO_OPERATIONS,
    NUMBERS,
    OPERATIONS,
    PERHAPS,
    PLACES,
    READS,
    REFUSALS,
    SAME_MEMORY,
    SHAPES,
    SPARE,
    SPECS,
    TRACED,
    TWICE,
    VIEWS,
)


@dataclass(frozen=True)
class At(Case):
    """A case of an array that lies somewhere."""

    @property
    def devices(self) -> int:
        return 1 + max(PLACES[self.data()["place"]].devices)

    @property
    def needs(self) -> tuple[str, ...]:
        return PLACES[self.data()["place"]].needs


A = TypeVar("A", bound=At)


@dataclass(frozen=True)
class Donate(At):  # keyword-xy
    form: str
    place: str

    @property
    def keeps(self) -> bool:
        """Whether the call has another argument, which it is not to take."""
        return bool(FORMS[self.form].keeps)

    @property
    def wide(self) -> bool:
        if self.form == "plain":
            return self.place in (*RENAMED, "dev5", "two")
        if self.form in ("both_keywords", "first", "list"):
            return True
        return self.place in ("rep", "eight") or (self.place != "one" and self.form in ONCE)


RENAMED = ("y", "folded_yx", "none_y", "none_folded_yx", "yx")
"""Cuts that are others with the axes' names exchanged."""

ONCE = (
    *("keyword", "compiled_keyword", "named_second", "negative", "static", "static_named", "nested"),
    *("swap", "kept", "itself"),
)
"""Forms that differ in what the call says, wherever the arrays lie."""

MAIN = ("one", "xy", "rep", "eight")
donations = every(Donate, form=FORMS, place=("one", "dev5", "free", "mesh1", "two", *SPECS, "back", "eight")).where(
    lambda c: c.form == "plain" or (c.place in MAIN and (c.place != "eight" or c.form in ("both", "tree", "compiled")))
)
test_donations = judge(probe="don.donate", cases=donations)


@dataclass(frozen=True)
class Kind(At):  # bf16_8x8-xy
    array: str
    place: str

    @property
    def needs(self) -> tuple[str, ...]:
        dtype = ARRAYS[self.array].dtype
        return (f"dtype.{dtype}",) if dtype in OPTIONAL else ()

    @property
    def wide(self) -> bool:
        return self.place == "xy" and self.array in ("f8_8x8", "i4_8x8")


kinds = every(Kind, array=[*NUMBERS, *SHAPES, *ALONE], place=("one", "xy", "rep")).where(
    lambda c: c.place == "one" or c.array in NUMBERS or (c.place == "xy" and c.array in ALONE)
)
test_kinds = judge(probe="don.kinds", cases=kinds)


@dataclass(frozen=True)
class Chained(At):  # out-xy
    chained: str
    place: str

    @property
    def wide(self) -> bool:
        return self.place in RENAMED or (self.chained == "out" and self.place in ("rep", "eight"))


chains = every(Chained, chained=CHAINS, place=("one", "free", *SPECS, "eight")).where(
    lambda c: c.chained == "jit" or (c.place in MAIN)
)
test_chains = judge(probe="don.chain", cases=chains)


@dataclass(frozen=True)
class Placed(At):  # xy
    place: str


mixtures = every(Placed, place=("one", "free", "xy", "rep", "eight"))
test_mixtures = judge(probe="don.mixed", cases=mixtures)


@dataclass(frozen=True)
class Spare(At):  # half-xy
    form: str
    place: str

    @property
    def needs(self) -> tuple[str, ...]:
        return (*super().needs, *(["memory.pinned_host"] if self.form == "pinned" else []))

    @property
    def wide(self) -> bool:
        return (self.form, self.place) not in SPARED


SPARED = {
    *((form, "one") for form in ("sum", "half", "c64", "nothing", "dropped", "pinned")),
    *((form, "xy") for form in ("sum", "c64", "nothing", "dropped", "whole", "cut")),
    *((form, "one") for form in ("i32", "flat", "idle")),
    *((form, "xy") for form in ("flat", "free_in")),
    ("columns", "columns"),
}
"""The programs that are tried with every run: each function somewhere, and each way to find out that nothing fits."""


SOME = ("sum", "half", "c64", "other", "dropped")
"""The functions that are tried on all places; the others on one device and on four."""

spares = every(Spare, form=SPARE, place=("one", "free", "xy", "x", "rep", "eight")).where(
    lambda c: (
        (
            c.place in ("xy", "rep")
            if c.form in ("whole", "cut")
            else c.form in SOME or c.place == ("one" if c.form == "pinned" else "xy") or c.place == "one"
        )
        and (c.form, c.place) != ("whole", "rep")
    )
)
test_spares = judge(probe="don.spare", cases=spares)

perhaps = every(Spare, form=PERHAPS, place=("one", "xy", "x", "rep", "columns")).where(
    lambda c: (
        (c.place == "columns")
        if c.form == "columns"
        else c.place != "columns" and (c.place != "one" or not c.form.startswith("free"))
    )
)
test_perhaps = judge(probe="don.spare", cases=perhaps)


@dataclass(frozen=True)
class Fewer(At):  # out-xy
    donated: str
    place: str

    @property
    def wide(self) -> bool:
        return (self.donated, self.place) not in (("open", "one"), ("open", "xy"), ("out", "xy"))


fewers = every(Fewer, donated=("open", "out"), place=("one", "xy", "rep"))
test_fewers = judge(probe="don.fewer", cases=fewers)


@dataclass(frozen=True)
class Beside(At):  # both-whole-xy
    donated: str
    out: str
    place: str

    @property
    def wide(self) -> bool:
        return self.id not in ("committed-open-xy", "free-open-xy", "free-whole-xy", "both-whole-xy", "free-whole-rep")


besides = every(Beside, donated=("committed", "free", "both"), out=("open", "same", "whole"), place=("xy", "rep"))
test_besides = judge(probe="don.beside", cases=besides)


@dataclass(frozen=True)
class Aliased(At):  # after_sum-xy
    form: str
    place: str

    @property
    def aliases(self) -> list[list[list[int]]]:
        """What the compiled module is to say, but that it leaves open."""
        return [[list(output), list(parameter)] for output, parameter in MODULES[self.form].aliases]

    @property
    def count(self) -> int:
        """How many aliases those are."""
        return len(MODULES[self.form].aliases)

    @property
    def usable(self) -> bool:
        """Whether it donates, and each donation has a result to go to."""
        return 0 < self.count == len(MODULES[self.form].donates)

    @property
    def wide(self) -> bool:
        if self.place not in ("one", "xy"):
            return self.form not in ("not", "plain") or (self.form, self.place) == ("not", "x")
        once = {"flat": "xy", "after_unused": "one", "after_kept": "one"}
        return self.form in ("half", "i32") or once.get(self.form, self.place) != self.place


aliases = every(Aliased, form=MODULES, place=("one", "free", "xy", "rep", "x", "eight")).where(
    lambda c: c.place in ("one", "xy") or c.form in ("not", "plain", "out", "both", "sum")
)
test_aliases = judge(probe="don.aliased", cases=aliases)


@dataclass(frozen=True)
class Tie(At):  # constrain-output-xy
    way: str
    ended: str
    place: str

    @property
    def operates(self) -> bool:
        """Whether what it gives is another array."""
        return self.way in OPERATIONS

    @property
    def constrains(self) -> bool:
        """Whether it is a sharding constraint."""
        return self.way == "constrain"

    @property
    def needs(self) -> tuple[str, ...]:
        return ("device_put.flags",) if self.way == "put_copy" else ()

    @property
    def wide(self) -> bool:
        some = ("constrain", "tuple", "put_copy") if self.place == "xy" else ("put_copy",)
        return self.operates and self.place != "one" and self.way not in some


ties = every(Tie, way=[*OPERATIONS, *NO_OPERATIONS], ended=("output", "input"), place=("one", "xy", "rep"))
test_ties = judge(probe="don.tie", cases=ties)


@dataclass(frozen=True)
class Result(At):  # second-xy
    ended: str
    place: str

    @property
    def wide(self) -> bool:
        return self.place not in ("one", "xy")


result_pairs = every(Result, ended=("first", "second"), place=("one", "free", "xy", "rep", "eight"))
test_result_pairs = judge(probe="don.results", cases=result_pairs)


@dataclass(frozen=True)
class Captured(At):  # later-xy
    what: str
    place: str

    @property
    def wide(self) -> bool:
        return self.place != "one" and self.id != "itself-xy"


captures = every(Captured, what=("another", "later", "itself"), place=("one", "xy", "rep", "eight"))
test_captures = judge(probe="don.captured", cases=captures, limit=8.0)


@dataclass(frozen=True)
class Viewed(At):  # shard-xy
    view: str
    place: str


viewings = every(Viewed, view=VIEWS, place=("one", "rep", "xy", "eight")).where(
    lambda c: c.place == "one" or c.view != "dlpack"
)
test_viewings = judge(probe="don.viewed", cases=viewings)


@dataclass(frozen=True)
class Refusal(At):  # tracing-xy
    refusal: str
    place: str

    @property
    def wide(self) -> bool:
        return self.place == "eight" and self.refusal != "tracing"


refusals = every(Refusal, refusal=REFUSALS, place=("one", "xy", "eight")).where(
    lambda c: c.place != "eight" or c.refusal in ("gone", "tracing", "compiled_gone")
)
test_refusals = judge(probe="don.refused", cases=refusals, limit=8.0)


@dataclass(frozen=True)
class Misuse(Case):  # out_of_range
    option: str


misuses = every(Misuse, option=MISUSES)
test_misuses = judge(probe="don.misuse", cases=misuses)


@dataclass(frozen=True)
class Traced(At):  # scan-xy
    under: str
    place: str

    @property
    def wide(self) -> bool:
        if self.under in ("eval_shape", "lower", "compile"):
            return False
        return self.under == "grad" or (self.place != "one" and self.id != "jit-xy")


tracings = every(Traced, under=TRACED, place=("one", "xy", "rep"))
test_tracings = judge(probe="don.traced", cases=tracings)

# Here processes end, and new ones have to compile again what the old ones had. So these come last, and of them those
# that do.


def last(cases: Cases[A]) -> Cases[A]:
    """The same cases, those that may end a process after the others."""
    return Cases(cases.kind, sorted(cases, key=lambda it: it.id in DEADLY))


DEADLY = (
    *("constrain-xy", "add-xy", "again-xy", "hit-eight"),
    *("both-cold-xy", "first-hot-rep", "first-compiled-eight"),
    *("alias-first-xy", "assembled-both-xy"),
)
"""Of the cases that end a process of some version, or hang it, those that are tried with every run."""


@dataclass(frozen=True)
class Use(At):  # is_ready-eight
    use: str
    place: str

    @property
    def reads(self) -> bool:
        """Whether the use needs what the array holds."""
        return self.use in READS

    @property
    def harmless(self) -> bool:
        """Whether a deleted array has an answer to it."""
        return self.use in HARMLESS

    @property
    def wide(self) -> bool:
        if self.place == "one":
            return self.use in ("grad", "vmap", "iterate")
        return self.id not in ("again-free", "compiled-xy") and self.use in COMPILES and self.id not in DEADLY


COMPILES = (
    *("copy", "iterate", "index", "add", "beside", "fresh", "fresh_donating", "hit", "compiled", "in_tree", "grad"),
    *("vmap", "constrain", "again"),
)
"""The uses that run programs: each on one device, and few on several, where some end the process."""


ANYWHERE = {
    "free": ("add", "again", "hit", "is_ready", "asarray"),
    "rep": [it for it in (*GLANCES, *HARMLESS, *READS) if it not in COMPILES],
}
"""The uses of an array that is committed nowhere, and of one in replicas."""

uses = last(
    every(Use, use=[*GLANCES, *HARMLESS, *READS], place=("one", "free", "xy", "rep", "eight")).where(
        lambda c: c.use in ANYWHERE.get(c.place, (c.use,))
    )
)
test_uses = judge(probe="don.use", cases=uses, limit=8.0)


class Ending(At):
    """A case of what ends or occupies the process on several devices: few of these are judged in every run."""

    place: str

    @property
    def wide(self) -> bool:
        return self.place != "one" and self.id not in DEADLY


@dataclass(frozen=True)
class Twice(Ending):  # first-hot-xy
    order: str
    how: str
    place: str


twices = last(
    every(Twice, order=TWICE, how=("cold", "hot", "compiled"), place=("one", "xy", "rep", "eight")).where(
        lambda c: (c.how == "cold" and c.place != "rep") or c.order in ("first", "both")
    )
)
test_twices = judge(probe="don.twice", cases=twices, limit=8.0)


@dataclass(frozen=True)
class View(Ending):  # alias-first-xy
    view: str
    order: str
    place: str

    @property
    def needs(self) -> tuple[str, ...]:
        return ("device_put.flags",) if self.view == "alias" else ()


two_views = last(
    every(View, view=SAME_MEMORY, order=("first", "second", "both"), place=("one", "xy")).where(
        lambda c: c.view != "shard" or c.place == "one"
    )
)
test_two_views = judge(probe="don.views", cases=two_views, limit=8.0)


REVIEWED = {
    "DON-01": "f2b6be28",
    "DON-02": "afcc76fc",
    "DON-03": "c1e3ec03",
    "DON-04": "1f244483",
    "DON-05": "8b43ef73",
    "DON-06": "213b8d23",
    "DON-07": "26bd241e",
    "DON-08": "a8a0457e",
    "DON-09": "cfb58685",
    "DON-10": "fed516af",
    "DON-11": "e45a1e56",
    "DON-12": "f6c3189b",
    "DON-13": "4906ea3c",
    "DON-14": "f37902d7",
    "DON-15": "396e06b9",
    "DON-16": "852cf26c",
    "DON-17": "349fdfbd",
    "DON-18": "56b9e222",
    "DON-19": "3010bb58",
    "DON-20": "f0c3b06a",
    "DON-21": "e2baa6ea",
    "DON-22": "a17980fe",
    "DON-23": "b52a03ba",
    "DON-24": "14a8d31a",
    "DON-25": "55aa7284",
    "DON-26": "76470eac",
    "DON-27": "f8a63f68",
    "DON-28": "e1fd5354",
    "DON-29": "ab35dcab",
    "DON-30": "3b47c00a",
    "DON-31": "8787d859",
    "DON-32": "bae1de2e",
    "DON-33": "175a6524",
    "DON-34": "b6ad1a36",
    "DON-35": "5af3cee6",
    "DON-36": "8f714060",
    "DON-37": "7a4e2e0b",
    "DON-38": "ea20332d",
    "DON-39": "4bccfcb4",
    "DON-40": "974823ff",
    "DON-41": "cef56d9e",
    "DON-42": "a45204b8",
    "DON-43": "3312b9fd",
    "DON-44": "19f4c2b2",
    "DON-45": "237b95d5",
    "DON-46": "ec53d246",
    "DON-47": "4d69e5b0",
    "DON-48": "f7bc3b38",
    "DON-49": "b25a2d22",
    "DON-50": "f641878d",
    "DON-51": "6514103f",
    "DON-52": "12691a68",
    "DON-53": "3603b0f8",
    "DON-54": "f61bbd5c",
    "DON-55": "5898d6a8",
    "DON-56": "51a1a8ce",
    "DON-57": "a8f7fa1b",
    "DON-58": "205c7360",
    "DON-59": "a1c0480d",
    "DON-60": "324fd538",
    "DON-61": "4a49bea3",
    "DON-62": "236c4023",
    "DON-63": "4db68742",
    "DON-64": "456e7188",
    "DON-65": "0415bdcb",
    "DON-66": "308e28b4",
    "DON-67": "a153b4fd",
    "DON-68": "92be5f2b",
    "DON-69": "cda52cce",
    "DON-70": "d74b36b2",
    "DON-71": "6f018bc1",
    "DON-72": "305b750b",
    "DON-73": "4deaddcc",
    "DON-74": "27f25ed0",
}
