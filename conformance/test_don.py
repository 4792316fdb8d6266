"""DON: donation in jit: to calls that can use it, to calls that cannot, and what becomes of the donated arrays."""

from __future__ import annotations

from dataclasses import dataclass

from conformance.kit import Case, every, judge
from conformance.probes.arrays import ARRAYS, OPTIONAL
from conformance.probes.don import CHAINS, FORMS, MODULES, PERHAPS, PLACES, SPARE, SPECS


@dataclass(frozen=True)
class At(Case):
    """A case of an array that lies somewhere."""

    @property
    def devices(self) -> int:
        return 1 + max(PLACES[self.data()["place"]].devices)

    @property
    def needs(self) -> tuple[str, ...]:
        return PLACES[self.data()["place"]].needs


@dataclass(frozen=True)
class Donate(At):  # keyword-xy
    form: str
    place: str

    @property
    def keeps(self) -> bool:
        """Whether the call has another argument, which it is not to take."""
        return bool(FORMS[self.form].keeps)


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


kinds = every(Kind, array=[it for it in ARRAYS if it not in ("f32_wide",)], place=("one", "xy")).where(
    lambda c: c.place == "one" or ARRAYS[c.array].shape[:2] == (8, 8)
)
test_kinds = judge(probe="don.kinds", cases=kinds)


@dataclass(frozen=True)
class Chained(At):  # out-xy
    chained: str
    place: str


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


fewers = every(Fewer, donated=("open", "out"), place=("one", "xy", "rep"))
test_fewers = judge(probe="don.fewer", cases=fewers)


@dataclass(frozen=True)
class Beside(At):  # both-whole-xy
    donated: str
    out: str
    place: str


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


aliases = every(Aliased, form=MODULES, place=("one", "free", "xy", "rep", "x", "eight")).where(
    lambda c: c.place in ("one", "xy") or c.form in ("not", "plain", "out", "both", "sum")
)
test_aliases = judge(probe="don.aliased", cases=aliases)

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
}
