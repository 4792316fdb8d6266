"""What is known of the arrays of a program, step by step: the contract's part in what the model noted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from conformance.probes.put import FLAGS

from .lying import Lies, cut_alike, wanted

Step = Mapping[str, Any]
Notes = Mapping[str, Any]


@dataclass
class Fate:
    """What may be one for several arrays: a put that may alias may give its output the memory of its input. PUT-10."""

    ended: bool = False
    """Whether one of them was deleted or donated."""
    views: set[str] = field(default_factory=set)
    """The views of one of them that are held."""


@dataclass
class Held:
    """An array.

    `exact`: the contract says how it is cut, and in which kind of memory it lies; of what a program returns it may say
    its devices alone.
    """

    lies: Lies
    exact: bool
    fate: Fate = field(default_factory=Fate)
    ended: bool = False
    source: Held | None = None
    """What it was put from, if it was put."""

    def may_share(self, other: Held) -> bool:
        """Whether it may have memory in common with another array.

        A copy may not with what it is a copy of. PUT-17. Of two copies of one array no rule says that they are apart.
        """
        return self.fate is other.fate or (
            self.origin is other.origin and self.source is not other and other.source is not self
        )

    @property
    def origin(self) -> Held:
        """What it was put from in the end."""
        return self.source.origin if self.source is not None else self

    @property
    def open(self) -> bool:
        """Whether nobody can say if it is alive."""
        return self.fate.ended and not self.ended


@dataclass(frozen=True)
class Act:
    """A step with the arrays that it is given, as they are before it, and what is noted of it."""

    number: int
    step: Step
    inputs: Sequence[Held]
    note: Notes
    lies: Sequence[Lies]
    gone: Sequence[bool]

    @property
    def done(self) -> bool:
        return bool(self.note["is"] == "done")

    @property
    def rows(self) -> list[str]:
        """The rows of the flag table that a put is told, one for each input."""
        flags = self.step.get("flags", [])
        return [flags] if isinstance(flags, str) else list(flags)

    @property
    def donates(self) -> list[Held]:
        """The inputs that are to be donated."""
        if self.step["do"] in ("put", "puts"):
            return [it for it, row in zip(self.inputs, self.rows, strict=True) if FLAGS[row].get("donate")]
        return [self.inputs[position] for position in self.step.get("donate", ())]

    def declines(self, x: Held) -> bool:
        """Whether the donation of an input may be declined.

        As a view of it is held (PUT-31), or as the program's output may be cut otherwise than it, or lie elsewhere.
        """
        if not any(x is it for it in self.donates):
            return False
        if x.fate.views or self.step["do"] in ("put", "puts"):
            return bool(x.fate.views)
        if any(self.step.get(it) for it in ("where", "in", "under")) or not x.exact:
            return True
        others = [it.lies for it in self.inputs] + [wanted(it) for it in [self.step.get("out")] if it]
        return not all(it["committed"] and cut_alike(it, x.lies) for it in others)

    @property
    def exact(self) -> list[bool]:
        """Of each output, whether the contract says exactly where it lies."""
        if self.step["do"] in ("put", "puts"):
            places = self.step["at"] if self.step["do"] == "puts" else [self.step["at"]]
            return [bool(at) or it.exact for at, it in zip(places, self.inputs, strict=True)]
        return [self.step["do"] in ("make", "make_on") or bool(self.step.get("out"))] * len(self.lies)


class Walk:
    """Goes through a program with what was noted of it."""

    def __init__(self, steps: Sequence[Step], notes: Notes) -> None:
        self.steps, self.notes = steps, notes
        self.held: dict[str, Held] = {}
        self.views: dict[str, Fate] = {}

    def __iter__(self) -> Iterator[Act]:
        """Each step, before what it does to what is held; as far as there are notes."""
        for number, step in enumerate(self.steps):
            if f"gone{number}" not in self.notes:
                return
            inputs = [self.held[name] for name in step.get("of", ())]
            note = self.notes[f"step{number}"]
            act = Act(number, step, inputs, note, note.get("lies", ()), self.notes[f"gone{number}"])
            yield act
            self.after(act)

    def after(self, act: Act) -> None:
        for it, gone in zip(act.inputs, act.gone, strict=True):
            if gone and not it.ended:
                it.ended = it.fate.ended = True
        if not act.done:
            return
        for it in act.donates:
            if act.declines(it):
                it.ended, it.fate.ended = False, True
        match act.step:
            case {"do": "view", "view": view}:
                act.inputs[0].fate.views.add(view)
                self.views[view] = act.inputs[0].fate
            case {"do": "drop", "view": view}:
                self.views.pop(view).views.discard(view)
        made = [Held(lies, exact) for lies, exact in zip(act.lies, act.exact, strict=True)]
        if act.step["do"] in ("put", "puts"):
            for row, x, y in zip(act.rows, act.inputs, made, strict=True):
                y.source = x
                if not FLAGS[row].get("donate") and FLAGS[row].get("may_alias") is not False:
                    y.fate = x.fate
        self.held |= zip(act.step.get("to", ()), made, strict=True)
