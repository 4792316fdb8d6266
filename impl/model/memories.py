"""Kinds of memory in programs: which kind each value is in, and what the module says of it.

A value is in the kind of memory that a sharding in the program takes it to, else in that of the operands it comes from.
None stands for the default kind where nobody has chosen it: constants are in it, and what is committed nowhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from .agreement import Agreement, Argument, Call, Side
from .programs import Equation, Program, Var
from .shardings import Sharding

Kind = str | None


@dataclass(frozen=True, eq=False)
class Flow:
    """The kinds of memory of a program's results, and those that something within it is taken to."""

    results: list[Kind]
    taken_to: list[str]


@dataclass(frozen=True, eq=False)
class Walk:
    """A program that is being gone through: the default kind where it runs, and the kinds found on the way."""

    usual: str
    taken_to: list[str] = field(default_factory=list)


class Memories(Agreement):
    """The steps that follow kinds of memory through a program."""

    # --- an argument and its in_shardings -----------------------------------------------------------------------------

    def agree(self, call: Call) -> Side | None:
        """Refuses sides that lie apart, and arguments of which another kind is asked.

        DEV-14, DEV-15, DEV-16, DEV-17, DEV-18, MSH-70, ABS-15, ABS-16, ABS-44, ABS-45, ABS-46, ABS-47, MEM-35, MEM-38,
        MEM-59, DON-66.
        """
        home = super().agree(call)
        for it in call.arguments:
            if it.wanted is not None and it.committed is not None and self.in_other_memory(it.committed, it.wanted):
                raise self.wrong_memory(call.program.name, it, it.committed, it.wanted)
        return home

    def in_other_memory(self, lies: Sharding, wanted: Sharding) -> bool:
        """Whether an argument lies in another kind of memory than its in_sharding names. MEM-35, MEM-38."""
        kinds = {lies.memory_kind, wanted.memory_kind}
        return None not in kinds and len(kinds) > 1

    def wrong_memory(self, name: str, argument: Argument, lies: Sharding, wanted: Sharding) -> Exception:
        """The error that names an argument in the wrong memory, and both kinds. MEM-35, MEM-36, MEM-37, MEM-38."""
        return ValueError(
            f"{name} was called with{self.word_argument_in(argument)} in {self.word_kind(lies.memory_kind)}, and its "
            f"in_shardings ask for {self.word_kind(wanted.memory_kind)}: put it there first, or ask for where it is"
        )

    def word_argument_in(self, argument: Argument) -> str:
        """Which argument it is. MEM-37."""
        return f" argument {argument.name}"

    def word_kind(self, kind: Kind) -> str:
        """A kind of memory in words. MEM-36, MEM-40."""
        return f"memory of kind {kind}"

    # --- what a module says -------------------------------------------------------------------------------------------

    def kinds_are_said(self, call: Call, ins: Sequence[Sharding], outs: Sequence[Sharding], flow: Flow) -> bool:
        """Whether a module speaks of memory: where one kind is not the default. MEM-01, MEM-02, MEM-03, MEM-04."""
        usual = usual_kind([*ins, *outs])
        kinds = [*self.kinds_of_arguments(call, ins), *self.kinds_of_results(call, outs), *flow.taken_to]
        return any(kind not in (None, usual) for kind in kinds)

    def kinds_of_arguments(self, call: Call, ins: Sequence[Sharding]) -> list[Kind]:
        """The kinds of the arguments, whether or not the program uses them. MEM-01, MEM-05."""
        return [it.memory_kind for it in ins]

    def kinds_of_results(self, call: Call, outs: Sequence[Sharding]) -> list[Kind]:
        """The kinds of the results. MEM-02, MEM-06."""
        return [it.memory_kind for it in outs]

    # --- which kind a value is in -------------------------------------------------------------------------------------

    def flow(self, call: Call, usual: str) -> Flow:
        """Follows the kinds of a call's arguments through its program; nothing is moved on the way. MEM-41."""
        walk = Walk(usual)
        given = [self.kind_given(it.wanted or it.committed) for it in call.arguments]
        return Flow(self.kinds_after(call.program, given, walk), walk.taken_to)

    def kind_given(self, sharding: Sharding | None) -> Kind:
        """The kind that an argument brings along. MEM-18."""
        return None if sharding is None else sharding.memory_kind

    def kinds_after(self, program: Program, kinds: Sequence[Kind], walk: Walk) -> list[Kind]:
        """The kinds of a program's results, for those of its inputs."""
        known: dict[Var, Kind] = dict(zip(program.inputs, kinds, strict=False))
        for equation in program.equations:
            found = self.kinds_after_one(equation, [known.get(var) for var in equation.inputs], walk)
            known.update(zip(equation.outputs, found, strict=False))
        return [known.get(var) for var in program.outputs]

    def kinds_after_one(self, equation: Equation, kinds: Sequence[Kind], walk: Walk) -> Sequence[Kind]:
        """The kinds of what one operation gives, which may hold programs. MEM-57."""
        if equation.name in ("device_put", "sharding_constraint"):
            return [self.kind_taken_to(equation, kinds[0], walk)]
        if equation.name == "jit":
            return self.kinds_after_jit(equation, kinds, walk)
        if "programs" not in equation.params:
            return [self.kind_computed(equation.name, kinds)] * len(equation.outputs)
        programs = equation.params["programs"]
        each = [self.kinds_after(it, given, walk) for it, given in zip(programs, _given(equation, kinds), strict=True)]
        return each[0]

    def kind_taken_to(self, equation: Equation, kind: Kind, walk: Walk) -> Kind:
        """The kind of what a put or a constraint gives: the one that it names, else its operand's.

        MEM-10, MEM-11, MEM-13, MEM-14, MEM-15.
        """
        sharding: Sharding | None = equation.params["sharding"]
        to = kind if sharding is None or sharding.memory_kind is None else sharding.memory_kind
        if to is not None and self.goes(equation, kind or walk.usual, to):
            walk.taken_to.append(to)
        return to

    def goes(self, equation: Equation, kind: str, to: str) -> bool:
        """Whether anything is to be done to get there: a put to where its operand lies does nothing, and is not said.

        MEM-03, MEM-04, MEM-07, MEM-08, MEM-09.
        """
        return kind != to

    def kinds_after_jit(self, equation: Equation, kinds: Sequence[Kind], walk: Walk) -> list[Kind]:
        """A jit within: its shardings take what it is given, and what it gives, to their kinds. MEM-06."""
        ins, outs = equation.params["ins"], equation.params["outs"]
        given = [(wanted and wanted.memory_kind) or kind for wanted, kind in zip(ins, kinds, strict=True)]
        found = self.kinds_after(equation.params["programs"][0], given, walk)
        results = [(wanted and wanted.memory_kind) or kind for wanted, kind in zip(outs, found, strict=True)]
        for before, after in zip([*kinds, *found], [*given, *results], strict=True):
            if after is not None and self.goes(equation, before or walk.usual, after):
                walk.taken_to.append(after)
        return results

    def kind_computed(self, name: str, kinds: Sequence[Kind]) -> Kind:
        """The kind of what is computed: that of the operands, which are all in one. MEM-19, MEM-39, MEM-44, MEM-58."""
        found = list(dict.fromkeys(kind for kind in kinds if kind is not None))
        if len(found) > 1:
            raise self.mixed_memories(name, found)
        return found[0] if found else None

    def mixed_memories(self, name: str, kinds: Sequence[str]) -> Exception:
        """The error that names an operation on operands in several kinds of memory, and the kinds.

        MEM-39, MEM-40, MEM-41.
        """
        words = ", ".join(map(self.word_kind, kinds))
        return ValueError(f"{name} takes operands in one kind of memory: got some in {words}; put them into one first")


def _given(equation: Equation, kinds: Sequence[Kind]) -> list[Sequence[Kind]]:
    """The kinds of the operands that each program of an operation is given."""
    programs, count = equation.params["programs"], len(equation.outputs)
    if equation.name == "cond":  # whose first operand decides
        kinds, count = kinds[1:], len(programs[0].inputs) - len(programs[0].captured)
    if len(programs) == 1:
        return [kinds]
    first = count + len(programs[0].captured)  # then what the second one captured
    return [kinds[:first], [*kinds[:count], *kinds[first:]]]


def usual_kind(shardings: Sequence[Sharding]) -> str:
    """The default kind of the devices that a program runs on."""
    return shardings[0].ordered[0].default_memory().kind
