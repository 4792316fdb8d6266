"""MSH: meshes of every size, what is none, and what holds while one is in context."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

from conformance.kit import Case, every, judge
from conformance.probes.msh import CHOICES, GRIDS, MISUSES, NAMES, UP_TO_8, count, parsed


class Eight(Case):
    """A case that speaks of all eight devices."""

    @property
    def devices(self) -> int:
        return 8


# --- make_mesh --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Make(Eight):  # 2x4-turned
    sizes: str
    choice: str

    @property
    def shape(self) -> list[int]:
        return list(parsed(self.sizes))

    @property
    def axes(self) -> list[list[str | int]]:
        return [[name, size] for name, size in zip(NAMES, self.shape, strict=False)]

    @property
    def surplus(self) -> bool:
        """Whether more devices are given than it takes."""
        return self.choice in ("default", "more") and count(self.sizes) < 8

    @property
    def there(self) -> list[int]:
        """The ids of the devices that it has, in order."""
        return list(CHOICES[self.choice](count(self.sizes))[: count(self.sizes)])

    @property
    def chosen(self) -> list[int]:
        """The ids of its devices, in any order."""
        return sorted(self.there)


SIZES = ["x".join(map(str, sizes)) for sizes in UP_TO_8]
makes = every(Make, sizes=SIZES, choice=CHOICES).where(
    lambda c: c.choice in ("default", "turned", "more") or len(c.shape) < 3
)
test_makes = judge(probe="msh.make", cases=makes)


@dataclass(frozen=True)
class NumpySizes(Eight):  # 2x4-int32
    sizes: str
    dtype: str


numpy_sizes = every(NumpySizes, sizes=("1", "8", "2x4", "2x2x2"), dtype=("int8", "int32", "int64", "uint8"))
test_numpy_sizes = judge(probe="msh.numpy_sizes", cases=numpy_sizes)


@dataclass(frozen=True)
class Typed(Eight):  # make_mesh-2-AE
    how: str
    axes: int
    types: str

    @property
    def given(self) -> bool:
        return self.types != "none"

    @property
    def auto(self) -> str:
        return "A" * self.axes

    @property
    def explicit(self) -> str:
        return "E" * self.axes


TYPES = ["none", *("".join(types) for axes in (1, 2, 3) for types in product("AEM", repeat=axes))]
types = every(Typed, how=("make_mesh", "Mesh"), axes=(1, 2, 3), types=TYPES).where(
    lambda c: not c.given or len(c.types) == c.axes
)
test_types = judge(probe="msh.typed", cases=types)

# --- what is no mesh --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Misuse(Eight):  # many-3x4
    what: str
    wrong: str

    @property
    def negative(self) -> bool:
        return "m" in self.wrong

    @property
    def needs(self) -> tuple[str, ...]:
        return ("axis_types",) if self.what in ("rank_types", "no_type") else ()


WRONG = dict.fromkeys(wrong for wrongs in MISUSES.values() for wrong in wrongs)
misuses = every(Misuse, what=MISUSES, wrong=WRONG).where(lambda c: c.wrong in MISUSES[c.what])
test_misuses = judge(probe="msh.misuse", cases=misuses)


@dataclass(frozen=True)
class Grid(Eight):  # 4-2x2
    sizes: str
    grid: str

    @property
    def there(self) -> list[int]:
        return list(range(count(self.sizes)))


grids = every(Grid, sizes=SIZES, grid=GRIDS).where(lambda c: count(c.sizes) >= 4 and len(parsed(c.sizes)) < 3)
test_grids = judge(probe="msh.grid", cases=grids)


REVIEWED = {
    "MSH-01": "53bb1423",
    "MSH-02": "c082f3fe",
    "MSH-03": "5519c70b",
    "MSH-04": "f344d70e",
    "MSH-05": "ec1fafc6",
    "MSH-06": "321889cc",
    "MSH-07": "ce12da35",
    "MSH-08": "ff55d363",
    "MSH-09": "d9d7f7cb",
    "MSH-10": "543dd4f3",
    "MSH-11": "bba04675",
    "MSH-12": "09f27cbe",
    "MSH-13": "1d7e90df",
    "MSH-14": "c9bdddbc",
    "MSH-15": "3b8b158c",
    "MSH-16": "375f0897",
    "MSH-17": "814a7c7f",
    "MSH-18": "a385b362",
    "MSH-19": "5af178ff",
    "MSH-20": "cbd16bb6",
    "MSH-21": "4f71e640",
    "MSH-22": "871162d6",
    "MSH-23": "d11cad0b",
    "MSH-24": "d0dc7c29",
    "MSH-25": "9a9558ac",
    "MSH-26": "4380c0e1",
    "MSH-27": "39a822ac",
    "MSH-28": "428c7702",
    "MSH-29": "c2456283",
    "MSH-30": "fc0e4eb9",
    "MSH-31": "86a433b2",
    "MSH-32": "119afc3f",
}
