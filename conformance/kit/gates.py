"""Gates: what must hold of the suite itself. They never stop a run; they are listed at its end and make it red.

They speak of whole chapters: what a run left out by selection is not held against the suite.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import faults
from .cells import Cell, Layout
from .columns import Column
from .records import Line, gate
from .rules import Chapter, Contract
from .strict import Mistake
from .waivers import Waivers


@dataclass(frozen=True)
class Module:
    """A test module as collected: its file, its chapter if it has one, its judgements laid out, its review marks."""

    path: Path
    chapter: Chapter | None
    layouts: dict[str, Layout]
    marks: Mapping[str, Any]

    @property
    def stem(self) -> str:
        return stem(self.path)


def stem(path: Path) -> str:
    """What a test module shares with its chapter's file: test_put.py and put.toml."""
    return path.stem.removeprefix("test_")


class Extent:
    """What a run collected: which rules whole, under which configurations."""

    def __init__(self, layouts: Iterable[Layout], collected: Collection[str]) -> None:
        found: dict[tuple[str, str], int] = {}
        for name in collected:
            rule, _, rest = name.partition("[")
            key = rule, rest.rpartition("@")[2]
            found[key] = found.get(key, 0) + 1
        due = {
            (rule.id, column.name): len(layout.ids[rule.id])
            for layout in layouts
            for rule in layout.rules
            for column in layout.columns
            if rule.in_force(column.version)
        }
        self.short = {key for key, count in due.items() if found.get(key, 0) < count}
        self.whole = {key for key, count in due.items() if count and key not in self.short}

    def has(self, rule: str, column: Column) -> bool:
        """Whether the rule was collected whole under the configuration."""
        return (rule, column.name) in self.whole

    def covers(self, column: Column) -> bool:
        """Whether all rules were collected whole under the configuration."""
        return not any(name == column.name for _, name in self.short)

    def rules(self) -> set[str]:
        """Rules collected whole under some configuration."""
        return {rule for rule, _ in self.whole}


def check(
    contract: Contract,
    waivers: Waivers,
    modules: Collection[Module],
    extent: Extent,
    narrowed: bool,
    package: str | None = None,
) -> Iterator[Line]:
    """Every gate that does not hold. `narrowed`: the run was asked for less than the whole suite.

    `package` holds the contract and says where its faults are.
    """
    whole = not narrowed and not extent.short
    for module in modules:
        yield from _links(module, whole)
        yield from _marks(module, extent)
        yield from _waivers(waivers, module, extent)
    if not narrowed:
        yield from _files(contract, modules)
    if whole and package is not None:
        yield from _faults(contract, modules, package)
    for waiver in waivers.expired:
        if waiver.rule in extent.rules():
            text = f"waiver {waiver.id} expired on {waiver.expires}: judge it again, then renew or remove it"
            yield gate("expired waiver", text)


def idle(columns: Iterable[Column], cells: Collection[Cell], extent: Extent) -> Iterator[Line]:
    """Configurations, collected whole, in which no cell can be judged: to say nothing is not to conform."""
    judged = {cell.look.column for cell in cells if cell.lacking is None}
    for column in columns:
        if column not in judged and column.hello.problem is None and extent.covers(column):
            of = f"its subject says that it can do {', '.join(column.hello.capabilities) or 'nothing'}"
            why = of if any(cell.look.column == column for cell in cells) else "no rule is in force there"
            yield gate("nothing judged", f"nothing was judged in {column.name}: {why}")


def _links(module: Module, whole: bool) -> Iterator[Line]:
    """Rules and cases, both ways."""
    if not whole or module.chapter is None:
        return
    for rule in module.chapter.rule:
        if rule.cases not in module.layouts:
            text = (
                f"{rule.id} asks for cases {rule.cases!r}: write test_{rule.cases} = judge(...) in {module.path.name}"
            )
            yield gate("rule without cases", text)
        elif not module.layouts[rule.cases].ids[rule.id]:
            where = f"test_{rule.cases} in {module.path.name}"
            text = f"{rule.id} speaks of none of the cases of {where}: widen its when, or add cases"
            yield gate("rule without cases", text)
    for layout in module.layouts.values():
        left = [case.id for case, rules, _ in layout.speaks if not rules]
        if left:
            some = ", ".join(left[:3]) + (", ..." if len(left) > 3 else "")
            text = f"{len(left)} of test_{layout.name} in {module.path.name} are judged by no rule: {some}"
            yield gate("case without rule", text)


def _marks(module: Module, extent: Extent) -> Iterator[Line]:
    """Review marks: whoever rewords a rule looks at its cases again, and says so."""
    known = {rule.id for rule in module.chapter.rule} if module.chapter else set()
    for layout in module.layouts.values():
        for rule in layout.rules:
            mark = module.marks.get(rule.id)
            if mark != rule.digest and rule.id in extent.rules():
                wrong = "has no review mark" if mark is None else f"was reworded after its review mark {mark!r}"
                way = f'check its cases against its sentence, then write "{rule.id}": "{rule.digest}"'
                yield gate("review mark", f"{rule.id} {wrong} in {module.path.name}: {way}")
    for id in module.marks:
        if id not in known:
            text = f"{module.path.name} has a review mark for {id}, which is no rule of its chapter: remove it"
            yield gate("review mark", text)


def _waivers(waivers: Waivers, module: Module, extent: Extent) -> Iterator[Line]:
    """Waivers whose pattern matches no case of their rule."""
    for layout in module.layouts.values():
        for rule in layout.rules:
            speaking = {w.id: w for c in layout.columns if extent.has(rule.id, c) for w in waivers.of(rule, c)}
            for waiver in speaking.values():
                if not any(map(waiver.cases.match, layout.ids[rule.id])):
                    way = f"correct its pattern {waiver.cases} or remove it"
                    text = f"waiver {waiver.id} matches no case of {rule.id}: {way}"
                    yield gate("unmatched waiver", text)


def _faults(contract: Contract, modules: Collection[Module], package: str) -> Iterator[Line]:
    """Rules and faults, both ways: a rule that nothing breaks may have cases that find nothing."""
    try:
        known = faults.table(package)
    except Mistake as mistake:
        yield gate("faults", str(mistake))
        return
    if known is None:
        return
    for rule in faults.unbroken((module.chapter for module in modules if module.chapter is not None), known):
        text = f"{rule} has no fault: write one that breaks it, and see that its cases find it out"
        yield gate("rule without fault", text)
    for name, rule in faults.astray(contract, known):
        yield gate("fault without rule", f"fault {name} names {rule}, which the contract has not: correct or remove it")


def _files(contract: Contract, modules: Collection[Module]) -> Iterator[Line]:
    """Chapter files and test modules, both ways."""
    stems = {module.stem for module in modules}
    for stem in contract.chapters:
        if stem not in stems:
            text = f"contract/{stem}.toml has no test_{stem}.py with judgements: write it"
            yield gate("chapter without module", text)
    for module in modules:
        if module.chapter is None:
            text = f"{module.path.name} has judgements, but there is no contract/{module.stem}.toml: write it"
            yield gate("module without chapter", text)
