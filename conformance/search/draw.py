"""Draws programs: steps over a few slots, of which some may hold nothing, and some a deleted array."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from conformance.probes import programs
from conformance.probes.put import FLAGS

SLOTS = ("a", "b", "c", "d", "e")
LONGEST = 10
"""Steps of a program: what its script can be written out as."""

PLACES = tuple(it for it in programs.PLACES if it != "free")
SHARDINGS = tuple(name for name in PLACES if not programs.PLACES[name].bare and not programs.PLACES[name].order)
MESHES = tuple(name for name in SHARDINGS if programs.PLACES[name].axes)
NEAR = {
    "one": ("one", "mesh1", "free", "pinned", "one_columns", "dev1"),
    "four": ("xy", "x", "rep", "yx", "turned", "rep_turned", "line", "columns", "back", "folded", "renamed"),
    "apart": ("other", "other_xy", "across", "two", "eight", "all", "dev5"),
}
Draw = Callable[[st.SearchStrategy[Any]], Any]

Program = list[dict[str, Any]]


@st.composite
def steps(draw: Draw) -> Program:
    """A program: it starts with an array or two, most of which lie on the same four devices."""
    count = draw(st.integers(2, LONGEST))
    drawn = Drawn(draw)
    return [drawn.step() for _ in range(count)]


class Drawn:
    """Draws a program's steps; knows which slots may hold something."""

    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        self.slots: list[str] = []
        self.views = 0

    def pick(self, options: Any) -> Any:
        return self.draw(st.sampled_from(options))

    def step(self) -> dict[str, Any]:
        if not self.slots:
            return self.make()
        return getattr(self, self.pick(WEIGHTS))()  # type: ignore[no-any-return]

    def of(self, count: int = 1) -> list[str]:
        return [self.pick(self.slots) for _ in range(count)]

    def to(self, count: int = 1) -> list[str]:
        free = [it for it in SLOTS if it not in self.slots]
        names = (free + self.slots)[:count] if free else [self.pick(self.slots)]
        names = list(dict.fromkeys(names))[:count]
        names += [it for it in SLOTS if it not in names][: count - len(names)]
        self.slots += [it for it in names if it not in self.slots]
        return names

    def place(self, among: tuple[str, ...] = PLACES) -> str:
        near = [it for it in NEAR["four"] if it in among]
        return str(self.draw(st.one_of(st.sampled_from(near), st.sampled_from(among))))

    def maybe(self, draw: Callable[[], Any]) -> Any:
        """Something, one time in four."""
        return draw() if self.pick((False, False, False, True)) else None

    # What steps do.

    def make(self) -> dict[str, Any]:
        return {"do": "make", "at": self.place((*PLACES, "free")), "to": self.to()}

    def make_on(self) -> dict[str, Any]:
        return {"do": "make_on", "device": self.pick((0, 1, 5)), "to": self.to()}

    def put(self) -> dict[str, Any]:
        at = self.draw(st.one_of(st.none(), st.just(self.place())))
        return {"do": "put", "of": self.of(), "at": at, "flags": self.pick(tuple(FLAGS)), "to": self.to()}

    def puts(self) -> dict[str, Any]:
        rows = [row for row in FLAGS if row != "both"]
        count = self.pick((2, 3))
        flags = [self.pick(rows) for _ in range(count)]
        at = [self.place() for _ in range(count)]
        return {"do": "puts", "of": self.of(count), "at": at, "flags": flags, "to": self.to(count)}

    def delete(self) -> dict[str, Any]:
        return {"do": "delete", "of": self.of()}

    def view(self) -> dict[str, Any]:
        self.views += 1
        return {"do": "view", "of": self.of(), "how": self.pick(tuple(programs.VIEWS)), "view": f"v{self.views}"}

    def drop(self) -> dict[str, Any]:
        return {"do": "drop", "view": f"v{self.views}"} if self.views else self.use()

    def use(self) -> dict[str, Any]:
        return {"do": "use", "of": self.of(), "how": self.pick(tuple(programs.USES))}

    def eager(self) -> dict[str, Any]:
        f = self.pick(tuple(programs.EAGER))
        of = self.of(1 if f == "bump" else 2)
        return {"do": "eager", "f": f, "of": of, "under": self.maybe(self.under), "to": self.to()}

    def under(self) -> list[str]:
        return [self.pick(tuple(programs.CONTEXTS)), self.place(MESHES)]

    def call(self) -> dict[str, Any]:
        f = self.pick(tuple(programs.FUNCTIONS))
        takes, gives = ARITY[f]
        where = self.place(MESHES if f == "map" else SHARDINGS) if f in programs.NAMING else None
        donate = [it for it in range(takes) if self.pick((False, True))]
        return {
            "do": "call",
            "f": f,
            "where": where,
            "of": self.of(takes),
            "donate": donate,
            "in": self.maybe(lambda: [self.place(SHARDINGS) for _ in range(takes)]),
            "out": self.maybe(lambda: self.place(SHARDINGS)),
            "keep": self.pick((False, False, True)),
            "under": self.maybe(self.under),
            "hot": self.pick((0, 0, 2)),
            "to": self.to(gives),
        }

    def compiled(self) -> dict[str, Any]:
        call = self.call()
        built = [self.place(SHARDINGS)] * len(call["of"])
        return {**call, "do": "compiled", "built": built, "in": None, "under": None, "hot": 0}


ARITY = dict.fromkeys(programs.FUNCTIONS, (1, 1)) | {"twice": (1, 2), "add": (2, 1), "both": (2, 2), "unused": (2, 1)}
"""How many arrays a function takes and gives."""

WEIGHTS = (
    *("make", "make_on", "delete", "view", "drop", "use"),
    *("put", "put", "put", "put", "puts", "puts"),
    *("eager", "eager", "call", "call", "call", "call", "compiled"),
)
"""What steps do, as often as they are drawn."""
