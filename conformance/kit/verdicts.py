"""What one observation says about each rule that speaks of it. Pure: data in, data out."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from impl.host import Outcome

from .cases import Case
from .rules import Rule

Verdict = Literal["conforms", "permitted", "deviates", "crashed", "hung", "unsupported", "not_run", "error"]

HELD = frozenset(("conforms", "permitted"))
DEVIATING = frozenset(("deviates", "crashed", "hung"))
RED = DEVIATING | {"error", "not_run"}
"""Verdicts that make a run red, unless a waiver pins them."""

Observation = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Judged:
    """The verdict of one cell and what it rests on; `outcome` names the legal outcome seen, where there are several."""

    verdict: Verdict
    expected: Observation
    observed: Observation = field(default_factory=dict)
    outcome: str | None = None
    reason: str | None = None


def judge(spoken: Iterable[tuple[Rule, Case]], outcome: Outcome, capabilities: Collection[str]) -> dict[str, Judged]:
    """The verdict of every rule that speaks of one observation, by rule id. No exception or death is invisible."""
    judged = {rule.id: _one(rule, case, outcome, capabilities) for rule, case in spoken}
    seen = {id: it for id, it in judged.items() if it.verdict != "unsupported"}
    if outcome.raised is not None and not any("raised" in it.observed for it in seen.values()):
        seen |= {id: _raised(it, outcome) for id, it in seen.items() if it.verdict in HELD}
    if outcome.status in ("crashed", "hung") and not any(it.verdict == outcome.status for it in seen.values()):
        seen = {id: _died(it, outcome) for id, it in seen.items()}
    return judged | seen


def lacking(rule: Rule, case: Case, capabilities: Collection[str]) -> str | None:
    """What a cell needs of the API that is not there, and whose need it is; None where all is there."""
    needs = dict.fromkeys(case.needs, "the case") | dict.fromkeys(rule.needs, "the rule")
    missing = [f"{need} ({whose})" for need, whose in needs.items() if need not in capabilities]
    return f"not there: {', '.join(sorted(missing))}" if missing else None


def expected(rule: Rule, case: Case) -> Observation:
    """What the rule expects of the case, as recorded: its fields, or its outcomes by name."""
    return _recorded(legal(rule, case))


def legal(rule: Rule, case: Case) -> Mapping[str | None, Observation]:
    """The rule's legal observations, by name, with each "@name" replaced by the case's own property of that name."""
    return {
        outcome: {name: plain(getattr(case, it[1:])) if _refers(it) else it for name, it in wanted.items()}
        for outcome, wanted in rule.legal.items()
    }


def references(rule: Rule) -> set[str]:
    """The properties of the case that a rule speaks of."""
    values = (value for wanted in rule.legal.values() for value in wanted.values())
    return {*rule.when, *(value[1:] for value in values if _refers(value))}


def known(outcome: Outcome) -> dict[str, Any]:
    """Everything that is known of an observation, `raised` and `survives` included.

    `raised` is the string "nothing" where the probe came to its end, so that TOML can spell it.
    """
    facts = dict(outcome.fields)
    if outcome.raised is not None:
        facts["raised"] = dict(outcome.raised)
    elif outcome.status == "ended" or outcome.late:
        facts["raised"] = "nothing"
    facts["survives"] = outcome.status not in ("crashed", "hung")
    return facts


def same(wanted: Any, seen: Any) -> bool:
    """Equality of plain data that tells true from 1."""
    if isinstance(wanted, dict) and isinstance(seen, dict):
        return wanted.keys() == seen.keys() and all(same(value, seen[key]) for key, value in wanted.items())
    if isinstance(wanted, list) and isinstance(seen, list):
        return len(wanted) == len(seen) and all(map(same, wanted, seen))
    return bool(wanted == seen) and isinstance(wanted, bool) == isinstance(seen, bool)


def within(wanted: Any, seen: Any) -> bool:
    """Whether everything that `wanted` says holds of `seen`, whose tables may say more; lists are compared whole."""
    if isinstance(wanted, dict) and isinstance(seen, dict):
        return all(key in seen and within(value, seen[key]) for key, value in wanted.items())
    return same(wanted, seen)


def plain(value: Any) -> Any:
    """A value as it comes out of a message: tuples are lists, keys are strings."""
    if isinstance(value, str | bool):
        return value
    return json.loads(json.dumps(value))


def _refers(value: Any) -> bool:
    return isinstance(value, str) and value.startswith("@")


def _recorded(legal: Mapping[str | None, Observation]) -> Observation:
    return legal[None] if None in legal else {str(name): wanted for name, wanted in legal.items()}


def _one(rule: Rule, case: Case, outcome: Outcome, capabilities: Collection[str]) -> Judged:
    if (missing := lacking(rule, case, capabilities)) is not None:
        return Judged("unsupported", expected(rule, case), reason=missing)
    allowed = legal(rule, case)
    judged = Judged("error", _recorded(allowed), reason=outcome.reason)
    if outcome.status in ("not_run", "error"):
        return replace(judged, verdict=outcome.status)
    facts = known(outcome)
    judged = replace(judged, observed={name: facts[name] for name in sorted(rule.fields & facts.keys())}, reason=None)
    died = outcome.status in ("crashed", "hung")
    undecided = False
    for name, wanted in allowed.items():
        seen = wanted.keys() & facts.keys()
        agreed = all(agrees(key, wanted[key], facts[key]) for key in seen)
        if agreed and len(seen) == len(wanted):
            return replace(judged, verdict="conforms" if name is None else "permitted", outcome=name)
        undecided |= len(seen) < len(wanted) and (agreed or died)
    if died and (undecided or "survives" in rule.fields):
        return _died(judged, outcome)
    if outcome.raised is not None:
        return _raised(judged, outcome)
    if undecided:
        unseen = ", ".join(sorted(rule.fields - facts.keys()))
        return replace(judged, verdict="error", reason=f"the probe ended without noting {unseen}")
    return replace(judged, verdict="deviates")


def agrees(name: str, wanted: Any, seen: Any) -> bool:
    """Whether a field is as a rule or a waiver says; an exception's message is nobody's promise."""
    return within(wanted, seen) if name == "raised" else same(wanted, seen)


def _raised(judged: Judged, outcome: Outcome) -> Judged:
    """The cell as deviating by an exception, beside the fields that were noted."""
    observed = {**judged.observed, "raised": known(outcome)["raised"]}
    return replace(judged, verdict="deviates", outcome=None, observed=observed)


def _died(judged: Judged, outcome: Outcome) -> Judged:
    """The cell as crashed or hung: how the process ended and the point of touch, then the fields noted before."""
    how: dict[str, Any]
    if outcome.status == "hung":
        how = {"hung": True}
    else:
        how = {"signal": outcome.signal} if outcome.signal else {"exit": outcome.exit}
    noted = {name: value for name, value in judged.observed.items() if name != "survives"}
    verdict: Verdict = "hung" if outcome.status == "hung" else "crashed"
    reason = outcome.reason or ("after the probe had ended; found by replay" if outcome.late else None)
    observed = {**how, "touch": outcome.touch or "begin", **noted}
    return replace(judged, verdict=verdict, outcome=None, observed=observed, reason=reason)
