"""A cell's verdict in words: what a failing item shows, and what `python -m conformance run` says."""

from __future__ import annotations

import json
import shlex
import sys
import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

from .columns import parse
from .run import Result

WIDTH = 80
LABEL = 15


def explain(result: Result) -> str:
    """The rule, the case, expected against observed, why, the command that runs just this cell, the host's stderr."""
    judged = result.ruling.judged
    headline = f"{judged.verdict}: {fields(judged.observed)}"  # pytest's summary shows as much of it as fits
    lines = [headline, *(line for label, text in _facts(result) for line in _labelled(label, text))]
    if result.outcome is not None and (said := readable(result.outcome.stderr).strip("\n")):
        lines += ["host stderr", *(f"  {line}" for line in said.split("\n"))]
    return "\n".join(lines)


def command(result: Result) -> str:
    """What runs one cell alone, in the foreground."""
    name, it = result.cell.name, result.cell.look.column.configuration
    there = "" if it.python == sys.executable else f" --subject-python {shlex.quote(it.python)}"
    meant = parse(name)
    if meant is None or meant.subject != it.subject:  # a module's argument reads as a module in it
        there += f" --subject {it.subject}"
    return f"python -m conformance run '{name}'{there}"


def fields(data: Mapping[str, Any]) -> str:
    """Plain data on one line, each field as TOML would nearly say it; nothing in it can act on a terminal."""
    return ", ".join(f"{name} = {json.dumps(value)}" for name, value in data.items()) or "nothing"


def readable(text: str) -> str:
    """A host's stderr without what could act on a terminal."""
    return "".join(it if it.isprintable() or it in "\n\t" else repr(it)[1:-1] for it in text)


def _facts(result: Result) -> Iterator[tuple[str, str]]:
    cell, judged, outcome = result.cell, result.ruling.judged, result.outcome
    column = cell.look.column
    it = column.configuration
    yield "rule", f"{cell.rule.id} {cell.rule.level}: {cell.rule.text}"
    yield "case", fields(cell.look.case.data())
    yield "configuration", f"{it.subject} {column.version}, {it.target}, {it.partitioner}, {it.python}"
    either = (f"{fields(wanted)} ({name})" for name, wanted in judged.expected.items())
    yield "expected", " or ".join(either) if cell.rule.outcomes else fields(judged.expected)
    yield "observed", fields(judged.observed)
    if outcome is not None and outcome.touch and judged.verdict != "conforms":
        yield "last step", outcome.touch
    if result.ruling.reason:
        yield "because", readable(result.ruling.reason)
    if result.ruling.waiver is not None:
        waiver = result.ruling.waiver
        yield "waiver", f"{waiver.id} pins {' or '.join(map(fields, waiver.pins))}: {waiver.reason}"
    yield "run just it", command(result)


def _labelled(label: str, text: str) -> list[str]:
    start = label.ljust(LABEL)
    if label == "run just it":  # to be copied: never wrapped
        return [start + text]
    return textwrap.wrap(
        text, WIDTH, initial_indent=start, subsequent_indent=" " * LABEL, break_on_hyphens=False, break_long_words=False
    )
