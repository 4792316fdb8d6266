"""The sentences of the rules and why deviations are known, where the contract is at hand. Reports work without them."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from reports.text import visible


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
        reasons = {it.id: Waiver(it.reason, it.link) for it in waivers.load(suite / "waivers", loaded).all}
    known = {rule.id: Rule(rule.id, rule.text, rule.why) for rule in loaded.rules.values()}
    for chapter in loaded.chapters.values():
        known |= {question.id: Rule(question.id, question.text, question.why) for question in chapter.question}
    return Contract(known, tuple(f"{change.number} {change.subject}" for change in loaded.open_changes), reasons)
