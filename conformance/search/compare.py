"""Holds what a subject did against what the model did, as far as the contract promises it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from conformance.probes import programs
from impl.host import Outcome

from .walk import Act, Held, Notes, Step, Walk

SURVIVES = "True"
"""The test of a script whose process dies where the difference is seen."""


@dataclass(frozen=True)
class Difference:
    """The first thing that is not as promised: where in the program, what of it, what is promised, what is seen.

    `test` is an expression of Python over `seen`, all that a script notes; it holds where it is as promised.
    """

    where: str
    what: str
    promised: str
    seen: str
    test: str = SURVIVES

    def __str__(self) -> str:
        return f"{self.where}: {self.what}: promised is {self.promised}; seen is {self.seen}"


def compare(steps: Sequence[Step], model: Notes, outcome: Outcome) -> Difference | None:
    """The first difference, or None."""
    return next(_differences(steps, model, outcome), None)


def dies(steps: Sequence[Step], model: Notes, outcome: Outcome) -> Difference | None:
    """Whether a program ends the process, which none may, whatever is open in it."""
    if outcome.status not in ("crashed", "hung"):
        return None
    number = (outcome.touch or "").removeprefix("step ")
    return death(_named(steps[int(number)]) if number.isdecimal() else str(outcome.touch), outcome)


def _differences(steps: Sequence[Step], model: Notes, outcome: Outcome) -> Iterator[Difference]:
    seen = outcome.fields
    walk = Walk(steps, model)
    for act in walk:
        where = _named(act.step)
        if f"step{act.number}" not in seen:
            yield death(where, outcome)
        yield from _step(where, act, seen[f"step{act.number}"])
        if f"gone{act.number}" not in seen:
            yield death(f"after {where}", outcome)
        yield from _gone(where, act, seen[f"gone{act.number}"])
    for name in (it for it in seen if it.startswith("view_")):
        if seen[name] != "same":
            yield Difference("the end", "bytes of a view", "same", seen[name], f"seen[{name!r}] == 'same'")
    for name, held in walk.held.items():
        field = f"left_{name}"
        if field not in seen:
            yield death("the look at what is left", outcome)
        legal = ("intact", "deleted") if held.open else (model[field],)
        if seen[field] not in legal:
            yield Difference("the end", "state", " or ".join(legal), seen[field], f"seen[{field!r}] in {legal}")
    for name, held in walk.held.items():
        if seen[f"left_{name}"] == "intact":
            if f"shares_{name}" not in seen or f"with_{name}" not in seen:
                yield death("the end of what is left", outcome)
            yield from _shares(name, held, walk.held, seen)
            yield from _fates(name, held, walk.held, seen)
    if outcome.status != "ended" or outcome.raised is not None:
        yield death("after all", outcome)


def _named(step: Step) -> str:
    """What a step does, without the slots that it does it with."""
    said = [step.get(it) for it in ("f", "how", "flags")]
    return " ".join([step["do"], *(it if isinstance(it, str) else "+".join(it) for it in said if it)])


def death(where: str, outcome: Outcome) -> Difference:
    """The process, or the program, ended before its end."""
    how = outcome.signal or (outcome.raised or {}).get("class") or outcome.reason or outcome.status
    return Difference(where, "the process", "survives", str(how).partition("\n")[0])


def _step(where: str, act: Act, seen: Notes) -> Iterator[Difference]:
    """What a step did, or how it was refused."""
    at = f"seen['step{act.number}']"
    if (seen["is"] == "done") is not act.done:
        test = f"{at}['is'] {'==' if act.done else '!='} 'done'"
        yield Difference(where, "outcome", _told(act.note), _told(seen), test)
    elif act.done:
        outputs = zip(act.lies, seen["lies"], act.exact, strict=True)
        for number, (lies, other, exact) in enumerate(outputs):
            for name in _promised(act, number, exact):
                wanted, found = _plain(lies.get(name)), _plain(other.get(name))
                if wanted != found:
                    test = f"{at}['lies'][{number}].get({name!r}) == {wanted!r}"
                    yield Difference(where, name, str(wanted), str(found), test)
    elif not any(it.ended for it in act.inputs) and act.note["is"] != seen["is"]:
        # a deleted array is refused for that, or for what else is wrong with it
        yield Difference(where, "error", _told(act.note), _told(seen), f"{at}['is'] == {act.note['is']!r}")


def _told(note: Notes) -> str:
    return " ".join([note["is"], *note.get("says", ())])


def _plain(value: Any) -> Any:
    """One name in a tuple, as part of a spec, means that name."""
    one = isinstance(value, list) and all(isinstance(it, (list, str)) or it is None for it in value)
    return [it[0] if isinstance(it, list) and len(it) == 1 else it for it in value] if one else value


def _promised(act: Act, number: int, exact: bool) -> list[str]:
    """What the contract says of where an output lies."""
    names = ["devices", "committed"]
    if exact:
        names += ["type", "axes", "spec", "kind"]
    if act.step["do"] in ("put", "puts"):
        at = act.step["at"] if act.step["do"] == "put" else act.step["at"][number]
        names += ["layout"] * bool(at and programs.PLACES[at].order)
    return names


def _gone(where: str, act: Act, seen: Sequence[bool]) -> Iterator[Difference]:
    """Which inputs a step deleted."""
    for position, (it, gone, other) in enumerate(zip(act.inputs, act.gone, seen, strict=True)):
        if gone != other and not it.open and not act.declines(it):
            test = f"seen['gone{act.number}'][{position}] is {gone}"
            promised, found = ("deleted" if it else "intact" for it in (gone, other))
            yield Difference(where, "input", promised, found, test)


def _shares(name: str, held: Held, others: dict[str, Held], seen: Notes) -> Iterator[Difference]:
    """Which arrays have memory in common."""
    field = f"shares_{name}"
    for other in seen[field]:
        if not held.may_share(others[other]):
            test = f"{other!r} not in seen[{field!r}]"
            yield Difference("the end", "memory of two arrays", "apart", "shared", test)


def _fates(name: str, held: Held, others: dict[str, Held], seen: Notes) -> Iterator[Difference]:
    """Which arrays went with one that was deleted: those of one fate may, as a whole."""
    field = f"with_{name}"
    for other, state in seen[field].items():
        legal = ("intact", "deleted") if others[other].fate is held.fate else ("intact",)
        if state not in legal:
            test = f"seen[{field!r}].get({other!r}, 'intact') in {legal}"
            yield Difference("the end", "another array than the one deleted", " or ".join(legal), state, test)
