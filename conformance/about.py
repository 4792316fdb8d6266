"""`python -m conformance rule ID`: where each part of a rule is: its sentence, cases, steps of the model, faults."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from pathlib import Path

from impl.host import home

from .kit import rules, waivers
from .kit.cases import Judgement
from .kit.cells import lay_out
from .kit.explain import fields
from .kit.faults import named, table
from .kit.rules import Chapter, Contract, Rule
from .kit.strict import Mistake

ROOT = Path(__file__).parents[1]
WIDTH, LABEL = 80, 9
SOME = 3  # cases that are named


def about(package: str, id: str) -> int:
    """Prints everything that is known of a rule."""
    id = id.upper()
    folder = Path(import_module(package).__path__[0])
    contract = rules.load(folder / "contract")
    if id not in contract.rules:
        near = ", ".join(get_close_matches(id, contract.rules, 3, 0.4)) or "none"
        raise Mistake(f"there is no rule {id}; near it: {near}")
    rule = contract.rules[id]
    stem, chapter = next((stem, it) for stem, it in contract.chapters.items() if it.chapter == rule.chapter)
    parts = [
        ("why", rule.why),
        ("change", _change(contract, rule)),
        ("sentence", " ".join(lines(folder / "contract" / f"{stem}.toml", rf'^id = "{id}"'))),
        *_judged(package, stem, chapter, rule),
        *_model(package, id),
        *_faults(package, id),
        *_waivers(folder, contract, id),
    ]
    print("\n".join(_wrap(f"{id} {rule.level}: {rule.text}", "", "  ")))
    for label, text in parts:
        print("\n".join(_wrap(text, f"  {label:<{LABEL}}", " " * (LABEL + 2))))
    return 0


def places(source: Path, id: str) -> Iterator[tuple[str, str]]:
    """Where a module, or those in a folder, speak of a rule: `path:line`, and the function or class that it is in."""
    for path in sorted(source.rglob("*.py")) if source.is_dir() else [source]:
        text = path.read_text("utf-8")
        for number, line in enumerate(text.splitlines(), 1):
            if re.search(rf"\b{id}\b", line):
                yield f"{_near(path)}:{number}", _within(text, number)


def lines(path: Path, pattern: str) -> list[str]:
    """Where lines of a file match."""
    text = path.read_text("utf-8").splitlines()
    return [f"{_near(path)}:{number}" for number, line in enumerate(text, 1) if re.search(pattern, line)]


def source(subject: str) -> Path:
    """A subject's module, or the folder that it is."""
    path = Path(str(import_module(home(subject) or subject).__file__))
    return path.parent if path.name == "__init__.py" else path


def _change(contract: Contract, rule: Rule) -> str:
    change = next(it for it in contract.changes if it.number == rule.change)
    force = f"in force since {rule.since}" + (f", until {rule.until}" if rule.until else "")
    return f"{change.number} of {change.date}, {change.subject}; {force}"


def _judged(package: str, stem: str, chapter: Chapter, rule: Rule) -> Iterator[tuple[str, str]]:
    """The rule's cases, and what it expects of them."""
    where = ", ".join(f"{name} = {globs}" for name, globs in rule.when.items())
    either = (f"{fields(wanted)} ({name})" if name else fields(wanted) for name, wanted in rule.legal.items())
    needs = f"; needs {', '.join(rule.needs)}" if rule.needs else ""
    yield "expects", " or ".join(either) + (f", where {where}" if where else "") + needs
    module = import_module(f"{package}.test_{stem}")
    judgement = getattr(module, f"test_{rule.cases}", None)
    if not isinstance(judgement, Judgement):
        yield "cases", "none"
        return
    ids = lay_out(chapter, rule.cases, judgement, []).ids[rule.id]
    more = len(lay_out(chapter, rule.cases, judgement, [], wide=True).ids[rule.id]) - len(ids)
    wide = f", {more:,} more with --wide" if more else ""
    path = Path(str(module.__file__))
    there = " ".join(lines(path, rf"^test_{rule.cases} = "))
    some = ", ".join(ids[:SOME]) + (", ..." if len(ids) > SOME else "")
    yield "cases", f"{len(ids):,} of test_{rule.cases} ({there}): {some}{wide}"
    file, _, name = judgement.probe.rpartition(".")
    probes = path.parent / "probes" / f"{file.replace('.', '/')}.py"
    yield "probe", f"{judgement.probe} ({' '.join(lines(probes, rf'^def {name}[(]'))})"


def _model(package: str, id: str) -> Iterator[tuple[str, str]]:
    subject: str | None = getattr(import_module(package), "MODEL", None)
    for place, within in places(source(subject), id) if subject else ():
        yield "model", f"{place} {within}"


def _faults(package: str, id: str) -> Iterator[tuple[str, str]]:
    for fault in (table(package) or {}).values():
        if id in named(fault):
            more = "" if id in fault.breaks else f" (it breaks {' '.join(fault.breaks)}, and this one beside)"
            yield "fault", f"{fault.name} ({fault.where}): {fault.why}{more}"


def _waivers(folder: Path, contract: Contract, id: str) -> Iterator[tuple[str, str]]:
    for waiver in waivers.load(folder / "waivers", contract).all:
        if waiver.rule == id:
            when = f"{', '.join(waiver.when.subject.patterns)} {waiver.when.versions}"
            yield "waiver", f"{waiver.id} of {when}, {waiver.cases}: {waiver.reason}"


def _within(text: str, line: int) -> str:
    """The function or class that a line of Python is in, decorators included."""
    found = [name for start, end, name in _spans(text) if start <= line <= end]
    return ".".join(found) or "the module"


@cache
def _spans(text: str) -> list[tuple[int, int, str]]:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    found = [node for node in ast.walk(ast.parse(text)) if isinstance(node, kinds)]
    spans = [
        (min([it.lineno for it in node.decorator_list] + [node.lineno]), node.end_lineno or node.lineno, node.name)
        for node in found
    ]
    return sorted(spans, key=lambda span: (span[0], -span[1]))


def _near(path: Path) -> Path:
    return path.relative_to(ROOT) if path.is_relative_to(ROOT) else path


def _wrap(text: str, first: str, rest: str) -> list[str]:
    return textwrap.wrap(
        text, WIDTH, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False, break_long_words=False
    )
