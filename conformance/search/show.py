"""Tells a difference: the program, what each side did, where they differ, and the program as plain JAX."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator

from conformance.kit.columns import Column
from conformance.repro.script import Story, formatted, written
from conformance.repro.values import UnfoldableError
from impl.host import Request

from .corpus import USUAL
from .hunt import Found
from .walk import Step

WIDTH = 80
HEADLINE = "A program of arrays that JAX places otherwise than its contract says."
MAKER = "Made by shardspec's search, an executable contract of how JAX places arrays."
ENDING = (
    "Exits with 0 where what it sees is as promised, with 1 where it is not; or dies, where that is the difference."
)


def told(found: Found, column: Column) -> str:
    """All that is to be said of a difference, as text of 80 columns."""
    lines = [*brief(found), ""]
    lines += _observations(found, column.configuration.subject)
    try:
        script = formatted(plain(found, column))
    except UnfoldableError as error:
        script = f"none can be made: {error}\n"
    return "\n".join([*lines, "", "As plain JAX:", "", script])


def brief(found: Found) -> list[str]:
    """The program, and where it differs."""
    lines = [line for number, step in enumerate(found.steps) for line in _wrapped(f"{number} {spelled(step)}", 4)]
    return [*lines, "", *_wrapped(str(found.difference), 2)]


def spelled(step: Step) -> str:
    """A step on one line, such as `b = put a at turned, flags donate`."""
    to = ", ".join(step.get("to", ()))
    of = ", ".join(step.get("of", ()))
    usual = {"at": None, "flags": None, "hurry": False, **USUAL.get(step["do"], {})}
    rest = {it: value for it, value in step.items() if it not in ("do", "of", "to") and value != usual.get(it)}
    said = ", ".join(f"{name} {_said(value)}" for name, value in rest.items())
    return (f"{to} = " if to else "") + " ".join(filter(None, [step["do"], of, said]))


def _said(value: object) -> str:
    return "+".join(map(str, value)) if isinstance(value, list) else str(value)


def _observations(found: Found, subject: str) -> Iterator[str]:
    """What both noted: once where it is the same."""
    one, other = "the model", subject
    for name in {**found.notes, **found.outcome.fields}:
        sides = {one: found.notes.get(name), other: found.outcome.fields.get(name)}
        texts = {side: json.dumps(it) if it is not None else "nothing" for side, it in sides.items()}
        if texts[one] == texts[other]:
            yield from _wrapped(f"{name}: {texts[one]}", 4)
        else:
            for side, text in texts.items():
                yield from _wrapped(f"{name}, {side}: {text}", 4)
    if found.outcome.status != "ended":
        yield from _wrapped(f"{other} {found.outcome.status} at: {found.outcome.touch}", 4)


def _wrapped(text: str, indent: int) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=" " * indent, subsequent_indent=" " * (indent + 4))


def plain(found: Found, column: Column) -> str:
    """The program as plain JAX, in the spelling of the version that it is for."""
    it = column.configuration
    story = Story(
        HEADLINE,
        MAKER,
        {
            "on": f"jax {column.version}, {it.target}, {it.partitioner}",
            "expected": f"{found.difference.what}: {found.difference.promised}",
            "observed": f"{found.difference.what}: {found.difference.seen}",
        },
        ENDING,
        f"ok = {found.difference.test}",
    )
    case = {"steps": [*found.steps], "fresh": False}
    return written("conformance", Request(it, "programs.run", "program", case), column.hello, story)
