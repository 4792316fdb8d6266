"""Device agreement: the sides of a call, whether they agree, and what is said where they do not.

Sides are the arguments, their in_shardings, the out_shardings, what the program holds (constraints, shard_maps, puts,
jits within) and the mesh that set_mesh set. They agree if they lie on the same devices in the same order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .arrays import Array
from .avals import Aval, ShapeDtypeStruct
from .contexts import Contexts, tracing_now
from .devices import Device
from .meshes import AbstractMesh, Mesh
from .programs import Equation, Program
from .shardings import NamedSharding, Sharding, abstract
from .specs import PartitionSpec


@dataclass(frozen=True, eq=False)
class Argument:
    """An array among the arguments of a call: what it is called and at which position, and what the call asks of it.

    `committed` is where it lies, unless it is committed nowhere; `wanted` is its in_sharding.
    """

    name: str
    position: int | None
    value: Any
    aval: Aval
    committed: Sharding | None
    wanted: Sharding | None = None
    donated: bool = False


@dataclass(frozen=True, eq=False)
class Call:
    """A program with its arguments and its out_shardings, one for each result.

    It is `eager` if no jit was asked for; one that `keeps_unused` is lowered with arguments that it does not use;
    `options` are the compiler's. `mesh` is the one in context, if it was pjit that was asked for.
    """

    program: Program
    arguments: tuple[Argument, ...]
    outs: tuple[Sharding | None, ...]
    eager: bool = False
    keeps_unused: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)
    mesh: Mesh | None = None

    def uses(self, argument: Argument) -> bool:
        """Whether the program does anything with an argument."""
        return self.program.inputs[self.arguments.index(argument)] in self.program.used


@dataclass(frozen=True, eq=False)
class Side:
    """What a call has on devices: which part of the call it is, and where that lies.

    `name` and `position` are those of an argument, or of the one that an in_sharding is for.
    """

    part: str
    sharding: Sharding
    within: str
    name: str = ""
    position: int | None = None

    @property
    def devices(self) -> tuple[Device, ...]:
        return self.sharding.ordered

    @property
    def abstract(self) -> bool:
        """Whether it is over a mesh without devices: it runs where the others are, on as many."""
        return abstract(self.sharding)


PARTS = {
    "argument": "argument",
    "captured": "a captured array",
    "in_shardings": "in_shardings",
    "out_shardings": "out_shardings",
    "constraint": "a sharding constraint",
    "shard_map": "the mesh of a shard_map",
    "jit": "the shardings of a jit inside",
    "put": "a device_put",
    "context": "the context mesh, which set_mesh set,",
}
"""What a message calls the parts of a call."""


class Agreement(Contexts):
    """The steps that refuse sides which lie apart."""

    def agree(self, call: Call) -> Side | None:
        """Refuses a call whose sides lie apart, every time anew; else gives a side, where the call runs.

        Nothing has been compiled, moved or deleted when it does, and nothing is remembered of what it did.
        DEV-01, DEV-02, DEV-14, DEV-15, DEV-16, DEV-17, DEV-18, DEV-19, DEV-32, DEV-36, DEV-56, DEV-58, DEV-59,
        MSH-70, DON-66, DON-67.
        """
        return self.agreed(call.program.name, self.sides(call)) or self.home_of(call)

    def home_of(self, call: Call) -> Side | None:
        """Where a call runs that has no sides: of pjit, on the mesh in context. MSH-33, MSH-34, MSH-35, MSH-43."""
        return None if call.mesh is None else Side("context", replicated_over(call.mesh), "")

    def agreed(self, name: str, sides: Sequence[Side]) -> Side | None:
        """Refuses the first side that lies apart from the one before all others; else gives that one.

        Then it refuses those over abstract meshes that are for another number of devices. ABS-08, ABS-17, ABS-19.
        """
        placed = [side for side in sides if not side.abstract]
        home = placed[0] if placed else None
        for other in placed[1:]:
            if self.apart(placed[0], other):
                raise self.refusal(name, placed[0], other)
        for side in sides:
            if side.abstract and self.miscounts(home, side):
                raise self.miscount(name, home, side)
        return home

    def miscounts(self, home: Side | None, side: Side) -> bool:
        """Whether an abstract mesh is for another number of devices than a call runs on: 1 if nothing says.

        ABS-08, ABS-40, ABS-42, ABS-47.
        """
        return side.sharding.num_devices != (1 if home is None else len(home.devices))

    def apart(self, one: Side, other: Side) -> bool:
        """Whether two sides disagree, whatever parts of the call they are.

        DEV-01, DEV-02, DEV-03, DEV-04, DEV-05, DEV-06, DEV-07, DEV-08, ORD-50, MSH-62, ABS-34.
        """
        return not self.same_devices(one.devices, other.devices)

    def same_devices(self, some: Sequence[Device], others: Sequence[Device]) -> bool:
        """The same devices in the same order, of one platform; how they are cut does not matter. DEV-20, DEV-54."""
        return some == others

    # --- which sides there are ----------------------------------------------------------------------------------------

    def sides(self, call: Call) -> list[Side]:
        """All sides of a call, jitted or not, in the order in which a message names them.

        DEV-30, MSH-37, MSH-38, MSH-39, MSH-40, MSH-66.
        """
        return [
            *self.argument_sides(call),
            *self.in_sides(call),
            *self.out_sides(call),
            *self.program_sides(call.program),
            *self.context_sides(),
        ]

    def argument_sides(self, call: Call) -> list[Side]:
        """The arguments that are committed somewhere; the others agree with all. DEV-01, DEV-02, DEV-24, DEV-37."""
        return [
            Side("argument", it.committed, call.program.name, it.name, it.position)
            for it in call.arguments
            if it.committed is not None and self.counts_as_side(call, it)
        ]

    def counts_as_side(self, call: Call, argument: Argument) -> bool:
        """An argument counts wherever it stands, and whether or not the program uses it. DEV-01, DEV-02, DEV-09."""
        return True

    def in_sides(self, call: Call) -> list[Side]:
        """The in_shardings. DEV-03, DEV-05, ABS-49."""
        return [
            side
            for it in call.arguments
            for side in _side("in_shardings", it.wanted, call.program.name, it.name, it.position)
        ]

    def out_sides(self, call: Call) -> list[Side]:
        """The out_shardings. DEV-04, DEV-05, ABS-50."""
        return [side for it in call.outs for side in _side("out_shardings", it, call.program.name)]

    def context_sides(self) -> list[Side]:
        """The mesh that set_mesh set; that of `with mesh:` is none. DEV-30, DEV-34."""
        mesh = self.mesh_that_places()
        return [] if mesh is None else [Side("context", replicated_over(mesh), "")]

    def program_sides(self, program: Program) -> Iterator[Side]:
        """What a program holds, and the programs within it. DEV-06, DEV-07, DEV-08."""
        for equation in program.equations:
            yield from self.equation_sides(equation, program.name)

    def equation_sides(self, equation: Equation, within: str) -> Iterator[Side]:
        """The sides that one operation is, or holds at any depth. DEV-06, DEV-07, DEV-08."""
        if equation.name == "sharding_constraint":
            yield from self.constraint_sides(equation, within)
        elif equation.name == "shard_map":
            yield from self.map_sides(equation, within)
        elif equation.name == "jit":
            yield from self.inner_sides(equation, within)
        elif equation.name == "device_put":
            yield from self.put_sides(equation, within)
        for program in equation.params.get("programs", ()):
            yield from self.program_sides(program)

    def constraint_sides(self, equation: Equation, within: str) -> Iterator[Side]:
        """A constraint, whether a sharding names its devices or the context does. DEV-06, DEV-33."""
        yield from _side("constraint", equation.params["sharding"], within)

    def map_sides(self, equation: Equation, within: str) -> Iterator[Side]:
        """The mesh of a shard_map. DEV-07."""
        yield Side("shard_map", replicated_over(equation.params["mesh"]), within)

    def inner_sides(self, equation: Equation, within: str) -> Iterator[Side]:
        """The in_shardings and out_shardings of a jit within. DEV-08."""
        for sharding in (*equation.params["ins"], *equation.params["outs"]):
            yield from _side("jit", sharding, within)

    def put_sides(self, equation: Equation, within: str) -> Iterator[Side]:
        """Where a put within a compiled program puts: it lays out anew, and moves nowhere else. ORD-55, ABS-51."""
        yield from _side("put", equation.params["sharding"], within)

    # --- operations one by one ----------------------------------------------------------------------------------------

    def agree_one_by_one(self, program: Program, arguments: Sequence[Argument]) -> None:
        """Refuses a program whose operations run one by one, as under grad and vmap, before the first of them runs.

        Sides meet where an operation takes both; a put takes its operand elsewhere. They are called what the function
        calls them. DEV-02, DEV-12, DEV-30.
        """
        given = [
            *(_side("argument", it.committed, program.name, it.name, it.position) for it in arguments),
            *(_side("captured", committed_to(x), program.name) for x in program.captured),
        ]
        lies = {var: next(side, None) for var, side in zip(program.inputs, given, strict=True)}
        for equation in program.equations:
            sides = [side for var in equation.inputs if (side := lies.get(var)) is not None]
            put = list(self.put_sides(equation, program.name)) if equation.name == "device_put" else None
            if put is None:
                sides += [*self.equation_sides(equation, program.name), *self.context_sides()]
            if tracing_now() is not None:  # where it runs is for the program around it to say
                sides = [side for side in sides if not side.abstract]
            self.agreed(program.name, sides)
            home = next((side for side in put or sides if not side.abstract), None)
            lies.update((var, home) for var in equation.outputs)

    # --- what a refusal says ------------------------------------------------------------------------------------------

    def refusal(self, name: str, one: Side, other: Side) -> Exception:
        """The error that names two sides which lie apart.

        DEV-10, DEV-11, DEV-31, DEV-32, DEV-35, DEV-36, DEV-54, DEV-56, DEV-60, DEV-61, ORD-50, ORD-51, ORD-52, ORD-55,
        ORD-56, ABS-35.
        """
        return ValueError(
            f"{name} was called with {self.word(one)} and {self.word(other)}: "
            "all that meets in one call has to lie on the same devices, in the same order"
        )

    def miscount(self, name: str, home: Side | None, side: Side) -> Exception:
        """The error that names an abstract mesh which is for another number of devices, and where the call runs.

        ABS-40, ABS-41, ABS-44, ABS-45, ABS-46, ABS-48.
        """
        runs = "as nothing in it says where" if home is None else f"with {self.word(home)}"
        return ValueError(
            f"{name} runs on {self.word_count(home)}, {runs}, and {self.word_part(side)} within "
            f"{side.within or name} is over an AbstractMesh of {side.sharding.num_devices} devices: "
            "one program is for one number of devices"
        )

    def word_count(self, home: Side | None) -> str:
        """How many devices a call runs on. ABS-43."""
        return "1 device" if home is None or len(home.devices) == 1 else f"{len(home.devices)} devices"

    def word(self, side: Side) -> str:
        """A side in words. DEV-11, DEV-31, DEV-35."""
        called = self.word_argument(side) if side.name else f" within {side.within}" if side.within else ""
        return f"{self.word_part(side)}{called} on {self.word_devices(side.devices)}"

    def word_part(self, side: Side) -> str:
        """What a side is. DEV-13."""
        return PARTS[side.part]

    def word_argument(self, side: Side) -> str:
        """Which argument it is, or is for. DEV-12, DEV-60, DEV-61."""
        return f" {side.name}" if side.part == "argument" else f" for argument {side.name}"

    def word_devices(self, devices: Sequence[Device]) -> str:
        """The devices of a side, in order. DEV-11, DEV-31, DEV-35."""
        return f"device ids {[device.id for device in devices]}{self.word_platform(devices)}"

    def word_platform(self, devices: Sequence[Device]) -> str:
        """Their platform, as other platforms have devices of the same ids. DEV-55."""
        return f" of platform {devices[0].platform.upper()}"


def committed_to(value: Any) -> Sharding | None:
    """Where an argument is committed, or what stands for one; None if nowhere."""
    if isinstance(value, Array):
        return value.sharding if value.committed else None
    return value.sharding if isinstance(value, ShapeDtypeStruct) else None


def replicated_over(mesh: Mesh | AbstractMesh) -> NamedSharding:
    """On every device of a mesh, whole."""
    return NamedSharding(mesh, PartitionSpec())


def _side(
    part: str, sharding: Sharding | None, within: str, name: str = "", position: int | None = None
) -> Iterator[Side]:
    """A side, if there is a sharding."""
    if sharding is not None:
        yield Side(part, sharding, within, name, position)
