"""The sentences of the rules and why deviations are known, where the contract is at hand. Reports work without them."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reports.text import visible

if TYPE_CHECKING:
    from conformance.kit.rules import Rule as Judged


@dataclass(frozen=True)
class Rule:
    """What a report says of a rule, or a question, beside its verdicts."""

    id: str
    text: str
    why: str


@dataclass(frozen=True)
class Waiver:
    """Why a deviation is known."""

    reason: str
    link: str
    pins: tuple[Mapping[str, Any], ...] = ()
    """What is observed instead; several where the subject varies."""


@dataclass(frozen=True)
class Contract:
    """The rules and questions by id, the changes that no rule judges yet, and the waivers by id."""

    rules: Mapping[str, Rule] = field(default_factory=dict)
    open_changes: tuple[str, ...] = ()
    waivers: Mapping[str, Waiver] = field(default_factory=dict)


def title(rule: str, level: str, rules: Mapping[str, Rule] | None) -> str:
    """``PUT-04 MUST: sentence``, without the sentence where the contract does not know the rule."""
    known = (rules or {}).get(rule)
    return f"{visible(rule)} {level}".rstrip() + (f": {visible(known.text, 1000)}" if known else "")


def contract() -> Contract:
    """The contract of this checkout; an empty one where it is not there or cannot be read."""
    try:
        import conformance
        from conformance.kit import rules, waivers
        from conformance.kit.strict import Mistake
    except ImportError:
        return Contract()
    suite = Path(str(conformance.__file__)).parent
    try:
        loaded = rules.load(suite / "contract")
    except Mistake:
        return Contract()
    reasons: dict[str, Waiver] = {}
    with contextlib.suppress(Mistake):
        reasons = {
            it.id: Waiver(it.reason, it.link, tuple(it.pins)) for it in waivers.load(suite / "waivers", loaded).all
        }
    known = {rule.id: Rule(rule.id, rule.text, rule.why) for rule in loaded.rules.values()}
    for chapter in loaded.chapters.values():
        known |= {question.id: Rule(question.id, question.text, question.why) for question in chapter.question}
    return Contract(known, tuple(f"{change.number} {change.subject}" for change in loaded.open_changes), reasons)


def cases(version: str) -> dict[str, tuple[str, ...]]:
    """The ids of the cases of each rule that is in force at a version; nothing where the suite is not at hand."""
    return {rule.id: ids for rule, ids in _cases() if rule.in_force(version)}


@cache
def _cases() -> tuple[tuple[Judged, tuple[str, ...]], ...]:
    """Every rule of the contract with its cases, laid out as a run lays them out."""
    try:
        import conformance
        from conformance.kit import Judgement, rules
        from conformance.kit.cells import lay_out
        from conformance.kit.strict import Mistake
    except ImportError:
        return ()
    suite = Path(str(conformance.__file__)).parent
    ids: dict[str, list[str]] = {}
    try:
        loaded = rules.load(suite / "contract")
        for stem, chapter in loaded.chapters.items():
            module = import_module(f"{conformance.__name__}.test_{stem}")
            for name in sorted({rule.cases for rule in chapter.rule}):
                judgement = getattr(module, f"test_{name}", None)
                if isinstance(judgement, Judgement):
                    for case, spoken, _ in lay_out(chapter, name, judgement, []).speaks:
                        for rule in spoken:
                            ids.setdefault(rule.id, []).append(case.id)
    except (Mistake, ImportError):
        return ()
    return tuple((loaded.rules[id], tuple(found)) for id, found in ids.items())
