"""MSH: meshes of every size, what is none, and what holds while one is in context."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

from conformance.kit import Eight, every, judge
from conformance.probes.dev import ACTS
from conformance.probes.meshes import SIDES
from conformance.probes.msh import (
    CALLS,
    CHOICES,
    CONTEXTS,
    GETTERS,
    GRIDS,
    LEFT,
    LOOSE,
    MISUSES,
    MIXED_NESTS,
    NAMES,
    NAMING,
    NO_MESHES,
    RETURNS,
    SPECS,
    UP_TO_8,
    count,
    parsed,
)

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

# --- what a context gives ---------------------------------------------------------------------------------------------


def ids(mesh: str) -> list[int]:
    """The devices of a mesh, in order; of none, the default one."""
    return list(SIDES[mesh].devices) if mesh in SIDES else [0]


class WithMesh(Eight):
    """A case of one mesh."""

    mesh: str

    @property
    def there(self) -> list[int]:
        return ids(self.mesh)


class Within(WithMesh):
    """A case in which a mesh is in context."""

    how: str

    @property
    def needs(self) -> tuple[str, ...]:
        return ("set_mesh",) if self.how == "set_mesh" else ()

    @property
    def axes(self) -> list[list[str | int]]:
        return [list(axis) for axis in SIDES[self.mesh].axes]


@dataclass(frozen=True)
class Returns(Within):  # set_mesh-back-jit-int
    how: str
    mesh: str
    call: str
    function: str

    @property
    def wide(self) -> bool:
        return self.mesh in ("four", "other", "two", "across")

    @property
    def computed(self) -> bool:
        """Whether an array is made; a number that is returned eagerly is none."""
        return self.function != "int"


GRIDS_OF_DEVICES = ("four", "back", "other", "square", "renamed", "two", "eight", "mesh1", "across")
PROMISED = (("with", "pjit"), ("set_mesh", "jit"))
returns = every(Returns, how=CONTEXTS, mesh=GRIDS_OF_DEVICES, call=CALLS, function=RETURNS).where(
    lambda c: (
        (
            c.mesh == "square"
            or (c.mesh == "back" and c.function == "int")
            or ((c.how, c.call) in PROMISED and c.function == "int")
        )
        and not (c.call == "eager" and c.function in ("int", "pair"))
        and (c.function in ("int", "zeros") or (c.how, c.call) in PROMISED)
    )
)
test_returns = judge(probe="msh.returns", cases=returns)


@dataclass(frozen=True)
class Turns(Eight):  # set_mesh.pjit-set_mesh.jit-four
    first: str
    last: str
    mesh: str

    @property
    def wide(self) -> bool:
        return self.first in ("none.pjit", self.last)

    @property
    def there(self) -> list[int]:
        return ids("none" if self.last.startswith("none") else self.mesh)

    @property
    def needs(self) -> tuple[str, ...]:
        return ("set_mesh",) if "set_mesh" in self.first + self.last else ()


LAST = ("none.jit", "with.pjit", "set_mesh.jit")
turns = every(
    Turns,
    first=("none.jit", "none.pjit", "with.jit", "with.pjit", "set_mesh.jit", "set_mesh.pjit"),
    last=LAST,
    mesh=("back",),
)
test_turns = judge(probe="msh.turns", cases=turns)


@dataclass(frozen=True)
class Takes(Within):  # set_mesh-back-jit-numpy
    how: str
    mesh: str
    call: str
    argument: str

    @property
    def wide(self) -> bool:
        return self.mesh == "square" and self.argument != "numpy"


takes = every(Takes, how=CONTEXTS, mesh=("back", "square"), call=("pjit", "jit", "eager"), argument=LOOSE).where(
    lambda c: (c.call == "pjit") == (c.how == "with") and (c.call != "eager" or c.argument == "free")
)
test_takes = judge(probe="msh.takes", cases=takes)

# --- contexts within contexts -----------------------------------------------------------------------------------------


class Nested(Eight):
    """A case of two meshes, one after the other."""

    meshes: str

    @property
    def outer(self) -> list[int]:
        return ids(self.meshes.split("_")[0])

    @property
    def inner(self) -> list[int]:
        return ids(self.meshes.split("_")[1])

    one, other = outer, inner


@dataclass(frozen=True)
class Nest(Nested):  # set_mesh-eight_four-end
    how: str
    meshes: str
    ending: str

    @property
    def twice(self) -> bool:
        return self.outer == self.inner

    @property
    def needs(self) -> tuple[str, ...]:
        return ("set_mesh",) if self.how == "set_mesh" else ()


PAIRS = ("eight_four", "four_eight", "four_back", "four_other", "back_across", "back_back", "eight_eight")
nests = every(Nest, how=CONTEXTS, meshes=PAIRS, ending=("end", "error"))
test_nests = judge(probe="msh.nest", cases=nests)


@dataclass(frozen=True)
class Mix(Nested):  # set_in_with-four_back
    kinds: str
    meshes: str


mixes = every(Mix, kinds=MIXED_NESTS, meshes=("four_back", "eight_four", "back_other"))
test_mixes = judge(probe="msh.mix", cases=mixes)

# --- threads ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Threads(Within):  # set_mesh-back
    how: str
    mesh: str

    @property
    def thread(self) -> list[int]:
        return [0]

    here = Within.there


@dataclass(frozen=True)
class Enters(Within):  # set_mesh-back
    how: str
    mesh: str

    @property
    def here(self) -> list[int]:
        return [0]

    thread = Within.there


threads = every(Threads, how=CONTEXTS, mesh=("four", "back", "eight"))
test_threads = judge(probe="msh.thread_within", cases=threads)
thread_enters = every(Enters, how=CONTEXTS, mesh=("four", "back", "eight"))
test_thread_enters = judge(probe="msh.thread_enters", cases=thread_enters)


@dataclass(frozen=True)
class Apart(Nested):  # set_mesh-four_back
    how: str
    meshes: str

    @property
    def needs(self) -> tuple[str, ...]:
        return ("set_mesh",) if self.how == "set_mesh" else ()


threads_apart = every(Apart, how=CONTEXTS, meshes=("four_back", "four_other", "eight_back"))
test_threads_apart = judge(probe="msh.threads_apart", cases=threads_apart)

# --- specs alone ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Named(Within):  # with-back-constraint-columns
    how: str
    mesh: str
    place: str
    spec: str

    @property
    def wide(self) -> bool:
        if self.how == "none" or self.spec not in ("rows", "whole"):
            return False
        return self.mesh == "four" or (self.spec == "whole" and not self.place.endswith("out"))

    @property
    def put(self) -> bool:
        return self.place == "put"

    @property
    def told(self) -> bool:
        """Whether the place says how the result is cut."""
        return self.place not in ("in", "pjit_in", "constraint_eager")

    @property
    def meant(self) -> list[str | None]:
        return [*SPECS[self.spec], None, None][:2]


HEEDS = {
    "with": ("constraint", "constraint_eager", "pjit_in", "pjit_out"),
    "set_mesh": ("constraint", "constraint_eager", "in", "out", "put"),
}
"""Where a spec alone may stand in each kind of context."""
named = every(Named, how=CONTEXTS, mesh=("four", "back"), place=NAMING, spec=("rows", "columns", "whole")).where(
    lambda c: c.place in HEEDS[c.how] and (c.mesh == "back" or c.spec == "rows")
)
test_named = judge(probe="msh.named", cases=named)
unnamed = every(Named, how=("none", *CONTEXTS), mesh=("four",), place=NAMING, spec=SPECS).where(
    lambda c: (
        c.spec in ("rows", "whole")
        if c.how == "none"
        else (c.place in HEEDS[c.how] and c.spec in ("unknown", "one_unknown"))
    )
)
test_unnamed = judge(probe="msh.unnamed", cases=unnamed)

# --- set_mesh ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Statement(Nested):  # four_back
    meshes: str


statements = every(Statement, meshes=("four_back", "back_eight", "other_four"))
test_statements = judge(probe="msh.statement", cases=statements)


@dataclass(frozen=True)
class Unset(WithMesh):  # back
    mesh: str


unset = every(Unset, mesh=("four", "back"))
test_unset = judge(probe="msh.unset", cases=unset)


@dataclass(frozen=True)
class Get(Nested):  # get_mesh-four_back
    getter: str
    meshes: str


getters = every(Get, getter=GETTERS, meshes=("four_back", "back_square", "square_eight"))
test_getters = judge(probe="msh.get", cases=getters)


@dataclass(frozen=True)
class Wrong(Eight):  # sharding
    given: str


wrongs = every(Wrong, given=NO_MESHES)
test_wrongs = judge(probe="msh.set_wrong", cases=wrongs)


@dataclass(frozen=True)
class Inside(Nested):  # none_four
    meshes: str


insides = every(Inside, meshes=("none_four", "four_four", "four_back"))
test_insides = judge(probe="msh.set_inside", cases=insides)


@dataclass(frozen=True)
class WithInside(WithMesh):  # back
    mesh: str

    @property
    def meant(self) -> list[str | None]:
        return ["x", None]


with_inside = every(WithInside, mesh=("four", "back", "other"))
test_with_inside = judge(probe="msh.with_inside", cases=with_inside)


@dataclass(frozen=True)
class Reshaped(Eight):  # set_mesh-four-square-jit
    how: str
    meshes: str
    array: str
    act: str

    @property
    def wide(self) -> bool:
        if self.act != "jit" and self.how == "with":
            return True
        return self.array not in (("square", "four") if self.act != "jit" else ("square", "four", "renamed"))

    @property
    def needs(self) -> tuple[str, ...]:
        return ("set_mesh",) if self.how == "set_mesh" else ()


reshaped = every(
    Reshaped,
    how=CONTEXTS,
    meshes=("four", "square", "rep"),
    array=("square", "folded", "renamed", "columns", "four"),
    act=ACTS,
).where(lambda c: c.meshes != c.array and (c.meshes != "rep" or c.array == "square"))
test_reshaped = judge(probe="dev.under", cases=reshaped)

# --- shardings left to the compiler -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Auto(WithMesh):  # both-square
    left: str
    mesh: str

    @property
    def partitions(self) -> int:
        return len(self.there)

    @property
    def all(self) -> list[int]:
        return sorted(self.there)


autos = every(Auto, left=LEFT, mesh=("square", "four", "back", "eight", "two"))
test_autos = judge(probe="msh.auto", cases=autos)
auto_runs = every(Auto, left=("both",), mesh=("square", "four"))
test_auto_runs = judge(probe="msh.auto_runs", cases=auto_runs)


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
    "MSH-33": "214cf043",
    "MSH-34": "67f3dda1",
    "MSH-35": "276ecef9",
    "MSH-36": "fcce7df6",
    "MSH-37": "b57b9b5a",
    "MSH-38": "e9c38928",
    "MSH-39": "3ff9dff5",
    "MSH-40": "34fdb251",
    "MSH-41": "38f97086",
    "MSH-42": "3af22a1a",
    "MSH-43": "9a844534",
    "MSH-44": "1541cdb6",
    "MSH-45": "e4e4834d",
    "MSH-46": "ce795a0a",
    "MSH-47": "c02ae636",
    "MSH-48": "d73264a2",
    "MSH-49": "244c27fc",
    "MSH-50": "0ae7f65a",
    "MSH-51": "c79240e7",
    "MSH-52": "0436ff34",
    "MSH-53": "ec122cb7",
    "MSH-54": "e6d4cd41",
    "MSH-55": "2842249a",
    "MSH-56": "f8267a14",
    "MSH-57": "e21d80a5",
    "MSH-58": "38768712",
    "MSH-59": "b5dd6401",
    "MSH-60": "4d52472a",
    "MSH-61": "98f64706",
    "MSH-62": "0151e4a5",
    "MSH-63": "25204df7",
    "MSH-64": "3c9cc2ec",
    "MSH-65": "b17c358b",
    "MSH-66": "b35bb944",
    "MSH-67": "45efa21e",
    "MSH-68": "324120fc",
    "MSH-69": "a485bbe8",
    "MSH-70": "d3adc394",
    "MSH-71": "3bb382d1",
    "MSH-72": "5caf6318",
    "MSH-73": "2e855d44",
}
