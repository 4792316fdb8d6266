"""Draws programs: steps over a few slots, of which some may hold a deleted array.

Each step is drawn by itself, and takes its arrays from slots by number among those that have been filled by then: so
a program stays one whatever is taken out of it, and Hypothesis can shrink it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis import strategies as st

from conformance.probes import programs
from conformance.probes.put import FLAGS

Program = list[dict[str, Any]]
Strategy = st.SearchStrategy[Any]

SLOTS = "abcde"
LONGEST = 10
"""Steps of a program: as many as a script is written out for."""

PLACES = tuple(it for it in programs.PLACES if it != "free")
SHARDINGS = tuple(name for name, it in programs.PLACES.items() if it.committed and not (it.bare or it.order or it.kind))
"""Those that a program may name."""

MESHES = tuple(name for name in SHARDINGS if programs.PLACES[name].axes)
NEAR = ("xy", "yx", "x", "rep", "line", "columns", "folded", "renamed", "turned", "rep_turned", "back")
"""The same four devices: where most of what is drawn lies, so that it meets."""


def place(among: Sequence[str]) -> Strategy:
    near = [it for it in NEAR if it in among]
    return st.one_of(st.sampled_from(near), st.sampled_from(among))


def seldom(strategy: Strategy) -> Strategy:
    """Something, one time in four."""
    return st.one_of(st.none(), st.none(), st.none(), strategy)


def several(strategy: Strategy, count: int) -> Strategy:
    return st.tuples(*[strategy] * count).map(list)


def step(do: str, takes: int = 0, gives: int = 0, **says: Strategy) -> Strategy:
    """A step that takes arrays from slots and fills some; the slots are numbers as yet."""
    numbers = {"of": several(st.integers(0, len(SLOTS) - 1), takes)} if takes else {}
    slots = {"to": several(st.integers(0, len(SLOTS) - 1), gives)} if gives else {}
    waits = {"hurry": st.booleans()} if do in ("put", "puts", "call") else {}
    return st.fixed_dictionaries({"do": st.just(do), **numbers, **says, **waits, **slots})


def puts(count: int) -> Strategy:
    """Several arrays that are put in one call."""
    rows = [row for row in FLAGS if row != "both"]
    return step("puts", count, count, at=several(place(PLACES), count), flags=several(st.sampled_from(rows), count))


ARITY = dict.fromkeys(programs.FUNCTIONS, (1, 1)) | {"twice": (1, 2), "add": (2, 1), "both": (2, 2), "unused": (2, 1)}
"""How many arrays a function takes and gives."""


def call(do: str, f: str) -> Strategy:
    """A jitted call, or one of a compiled object."""
    takes, gives = ARITY[f]
    where = place(MESHES if f == "map" else SHARDINGS) if f in programs.NAMING else st.none()
    says: Mapping[str, Strategy] = {
        "where": where,
        "donate": st.sets(st.integers(0, takes - 1)).map(sorted),
        "out": st.one_of(st.none(), place(SHARDINGS)),
        "keep": st.booleans(),
    }
    if do == "call":
        more = {"in": seldom(several(place(SHARDINGS), takes)), "under": seldom(UNDER), "hot": st.sampled_from((0, 2))}
    else:
        more = {"in": st.none(), "built": place(SHARDINGS).map(lambda at: [at] * takes)}
    return step(do, takes, gives, f=st.just(f), **says, **more)


UNDER = st.tuples(st.sampled_from(tuple(programs.CONTEXTS)), place(MESHES)).map(list)

MAKE = st.one_of(
    step("make", gives=1, at=place((*PLACES, "free"))),
    step("make", gives=1, at=place((*PLACES, "free"))),
    step("make_on", gives=1, device=st.sampled_from((0, 1, 5))),
)
REORDERED = {"xy": "turned", "turned": "xy", "rep": "rep_turned", "rep_turned": "rep", "line": "back", "back": "line"}
"""Places on the same devices in another order: "reordered" from where an array lies, as far as the drawing knows it."""

PUT = st.one_of(
    *(step("put", 1, 1, at=st.one_of(place(PLACES), st.none()), flags=st.just(row)) for row in 2 * tuple(FLAGS)),
    *(step("put", 1, 1, at=st.just("reordered"), flags=st.just(row)) for row in ("donate", "move")),
    puts(2),
    puts(3),
)
USE = st.one_of(
    step("delete", 1),
    step("view", 1, how=st.sampled_from(tuple(programs.VIEWS))),
    step("drop"),
    step("use", 1, how=st.sampled_from(tuple(programs.USES))),
)
RUN = st.one_of(
    *(call("call", f) for f in programs.FUNCTIONS),
    *(call("compiled", f) for f in ("bump", "add", "both", "unused", "constraint")),
    step("capture", 2, 1),
    step("eager", 1, 1, f=st.just("bump"), under=seldom(UNDER)),
    *(step("eager", 2, 1, f=st.just(f), under=seldom(UNDER)) for f in ("add", "stack")),
)


NOTHING = st.just({"do": "nothing"})
"""The simplest step, which is left out: what a program shrinks to."""


def steps() -> st.SearchStrategy[Program]:
    """Programs: they start with two arrays."""
    later = st.one_of(NOTHING, MAKE, PUT, USE, USE, RUN)
    return st.tuples(MAKE, st.one_of(NOTHING, MAKE, MAKE), *[later] * (LONGEST - 2)).map(resolved)


def resolved(drawn: Sequence[Mapping[str, Any]]) -> Program:
    """Steps with names for the numbers of slots, and views that are dropped in the order in which they were taken."""
    filled: list[str] = []
    lies: dict[str, str] = {}
    views: list[str] = []
    made: Program = []
    for number, it in enumerate(drawn):
        if it["do"] == "nothing":
            continue
        said = dict(it)
        if "of" in said:
            said["of"] = _sources(said["of"], filled)
        if "to" in said:
            said["to"] = _targets(said["to"], filled)
            filled += [slot for slot in said["to"] if slot not in filled]
        if said.get("at") == "reordered":
            said["at"] = REORDERED.get(lies.get(said["of"][0], ""), "turned")
        for slot in said.get("to", ()):
            lies[slot] = said["at"] if said["do"] in ("make", "put") and said["at"] else said.get("out") or ""
        if said["do"] == "view":
            said["view"] = f"v{number}"
            views.append(said["view"])
        if said["do"] == "drop":
            if not views:
                continue
            said["view"] = views.pop(0)
        made.append(said)
    return made


def _sources(numbers: Sequence[int], filled: Sequence[str]) -> list[str]:
    """Slots to take arrays from: the same one twice only where the number drawn for both is the last."""
    found: list[str] = []
    for number in numbers:
        others = [slot for slot in filled if slot not in found or number == len(SLOTS) - 1] or [*filled]
        found.append(others[number % len(others)])
    return found


def _targets(numbers: Sequence[int], filled: Sequence[str]) -> list[str]:
    """Slots for what a step makes: empty ones as long as there are any, else the ones drawn, each once."""
    found: list[str] = []
    for number in numbers:
        empty = [slot for slot in SLOTS if slot not in filled and slot not in found]
        others = [slot for slot in SLOTS if slot not in found]
        found.append(empty[0] if empty else others[number % len(others)])
    return found
