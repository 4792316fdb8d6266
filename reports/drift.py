"""Two ledgers compared, rule by rule: what started to hold, what stopped, what deviates otherwise."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reports import diff
from reports.ledgers import Asked, Entry, Ledger, Seen, canonical, rule_lines
from reports.patterns import compress, expand
from reports.rules import Rule, title
from reports.text import fields, gist, plural, visible, wrap
from reports.words import HELD, UNJUDGED

if TYPE_CHECKING:
    import pandas as pd

Cases = Mapping[str, Sequence[str]]
HOLDS = "conforms"
_WITNESS = "witness"
_NOW = {
    "newly conforming": "now holds",
    "newly deviating": "no longer holds",
    "changed verdict": "another verdict",
    "changed deviation": "deviates otherwise",
    "vanished": "gone",
    "appeared": "new",
}
"""The categories of `diff`, in the words and the order of a ledger."""


@dataclass(frozen=True)
class Difference:
    """What differs between two ledgers in one rule or question: a line of counts, and lines beneath it."""

    id: str
    level: str
    counts: str
    lines: tuple[str, ...]


def compare(old: Ledger, new: Ledger, cases: Cases) -> list[Difference]:
    """What differs, by rule. Cells are named where `cases` has the rule's; else counts have to do."""
    rules = [rule for rule in sorted(old.rule.keys() | new.rule.keys()) if _lines(old, rule) != _lines(new, rule)]
    found = _changes(old, new, {rule: cases[rule] for rule in rules if rule in cases})
    told: list[Difference | None] = [
        _rule(rule, old.rule.get(rule), new.rule.get(rule), found, cases) for rule in rules
    ]
    told += [
        _question(question, old.question.get(question), new.question.get(question))
        for question in sorted(old.question.keys() | new.question.keys())
    ]
    if old.witness != new.witness:
        told.append(Difference(_WITNESS, "", f"{new.witness}, was {old.witness}", ()))
    return [difference for difference in told if difference is not None]


def text(
    pairs: Sequence[tuple[Ledger, Ledger]], cases: Sequence[Cases], rules: Mapping[str, Rule] | None = None
) -> str:
    """The differences of each pair, those that are alike said once; "" where there are none."""
    alike: dict[Difference, list[tuple[Ledger, Ledger]]] = {}
    for pair, there in zip(pairs, cases, strict=True):
        for difference in compare(*pair, there):
            alike.setdefault(difference, []).append(pair)
    lines: list[str] = []
    heading = ""
    for difference, where in sorted(alike.items(), key=lambda item: item[0].id):
        if heading != (heading := title(difference.id, difference.level, rules)):
            lines += ["", *wrap(heading, hang=2)]
        lines += wrap(f"{_places(where)}: {difference.counts}", indent=2, hang=4)
        lines += difference.lines
    if {difference.id for difference in alike} == {_WITNESS}:
        lines += ["", "No rule differs."]
    return "\n".join(lines[1:])


def how(seen: Seen) -> str:
    """``deviates, shares = "all"``; ``crashed, SIGSEGV at use``; ``unsupported, not there: export``."""
    return _how(seen.verdict, seen.observed, seen.reason)


def _how(verdict: str, observed: Any, reason: str | None) -> str:
    if observed is None:
        return visible(f"{verdict}, {reason}", 160)
    pins = observed if isinstance(observed, list) else [observed]
    gists = " or ".join(gist(canonical(pin)) for pin in pins)
    return visible(gists if verdict == "hung" else f"{verdict}, {gists}", 160)


def _places(pairs: Sequence[tuple[Ledger, Ledger]]) -> str:
    """``0.5.3 -> 0.6.2 cpu:8 shardy and gspmd``: what is shared once, the partitioners side by side."""
    named: dict[str, list[str]] = {}
    for old, new in pairs:
        usual = old.subject == new.subject == "stock"
        (*a, left), (*b, right) = (it.configuration.parts[usual:] for it in (old, new))
        told = " ".join(x if x == y else f"{x} -> {y}" for x, y in zip(a, b, strict=True))
        named.setdefault(told, []).append(left if left == right else f"{left} -> {right}")
    return visible("; ".join(f"{told} {' and '.join(partitioners)}" for told, partitioners in named.items()), 300)


def _lines(ledger: Ledger, rule: str) -> list[str]:
    return list(rule_lines(rule, ledger.rule[rule])) if rule in ledger.rule else []


def _changes(old: Ledger, new: Ledger, cases: Cases) -> pd.DataFrame:
    """The cells that changed, as those of two runs are compared; what a ledger says of a cell counts as observed."""
    return diff.changes(diff.met(_frame(old, cases), _frame(new, cases)), b_is_whole=True)


def _frame(ledger: Ledger, cases: Cases) -> pd.DataFrame:
    import pandas as pd

    rows = []
    for rule, entry in ledger.rule.items():
        there = cases.get(rule, ())
        states = {case: seen for seen in entry.seen for case in expand(seen.cases, there)}
        for case in there:
            seen = states.get(case)
            verdict = seen.verdict.split(" or ")[0] if seen else HOLDS
            state = canonical([seen.verdict, seen.observed, seen.reason]) if seen else ""
            rows.append((rule, case, entry.level, verdict, state))
    frame = pd.DataFrame(rows, columns=["rule", "case", "level", "verdict", "observed"], dtype=object)
    return frame.assign(name=frame["case"], pair=0)


def _rule(rule: str, old: Entry | None, new: Entry | None, changes: pd.DataFrame, cases: Cases) -> Difference:
    if old is None or new is None:
        word, only = ("new", new) if new else ("gone", old)
        told = f"{word}: {plural(only.total, 'cell')}, {only.count(*HELD)} hold" if only else word
        return Difference(rule, only.level if only else "", told, ())
    mine = changes[changes["rule"] == rule]
    there = _judged(old, new, mine["case"], cases.get(rule, ()))
    lines = [line for category in _NOW for line in _kinds(mine[mine["category"] == category], category, there)]
    if rule not in cases:
        lines += wrap(f"verdicts: {_counts(new.cells)}; was {_counts(old.cells)}", indent=4, hang=2)
        lines += wrap("which cells is not known: the suite at hand has other cases", indent=4, hang=2)
    if old.level != new.level:
        lines += wrap(f"level {new.level}, was {old.level}", indent=4, hang=2)
    if old.permitted != new.permitted:
        lines += wrap(f"legal outcomes: {_counts(new.permitted)}; was {_counts(old.permitted)}", indent=4, hang=2)
    if not lines and _waivers(old) != _waivers(new):
        lines += wrap(f"waivers: {', '.join(_waivers(new)) or 'none'}", indent=4, hang=2)
        lines += wrap(f"was: {', '.join(_waivers(old)) or 'none'}", indent=6, hang=2)
    held, was = (f"{it.count(*HELD)} of {it.total}" for it in (new, old))
    counts = f"{held} hold" + (f", was {was if new.total != old.total else old.count(*HELD)}" if held != was else "")
    return Difference(rule, new.level, counts, tuple(lines or ["    its patterns or their waivers differ"]))


def _judged(old: Entry, new: Entry, changed: Iterable[str], cases: Sequence[str]) -> frozenset[str]:
    """The cases that patterns tell apart: those judged on both sides, and those that changed."""
    unjudged = [expand(it.cases, cases) for it in (*old.seen, *new.seen) if it.verdict in UNJUDGED]
    return frozenset(cases).difference(*unjudged) | frozenset(changed)


def _kinds(cells: pd.DataFrame, category: str, cases: Collection[str]) -> list[str]:
    """Each kind of change with the patterns of its cells."""
    lines: list[str] = []
    kinds: dict[tuple[str, str], list[str]] = {}
    cell: Any
    for cell in cells.itertuples(index=False):
        kinds.setdefault((_state(cell.verdict_a, cell.observed_a), _state(cell.verdict_b, cell.observed_b)), []).append(
            cell.case
        )
    for (was, now), members in sorted(kinds.items()):
        told = f"{_NOW[category]}, {plural(len(members), 'cell')}"
        told += f": {now}" if now != "held" else ""
        told += f" (was {was})" if was != "held" else ""
        lines += wrap(f"{told}", indent=4, hang=2)
        lines += [f"      {visible(pattern)}" for pattern in compress(members, cases)]
    return lines


def _state(verdict: Any, observed: Any) -> str:
    return "held" if verdict == HOLDS else _how(*json.loads(observed)) if isinstance(verdict, str) else "no cell"


def _question(id: str, old: Asked | None, new: Asked | None) -> Difference | None:
    was, now = (_answers(asked) for asked in (old, new))
    if was == now:
        return None
    lines = [
        line
        for answer in sorted(was.keys() | now.keys())
        if was.get(answer, 0) != now.get(answer, 0)
        for line in wrap(f"{now.get(answer, 0)}, was {was.get(answer, 0)}: {visible(fields(answer))}", 4, 2)
    ]
    return Difference(id, "", "other answers", tuple(lines))


def _answers(asked: Asked | None) -> dict[str, int]:
    return {canonical(answer.observed): answer.cells for answer in asked.answer} if asked else {}


def _waivers(entry: Entry) -> list[str]:
    return sorted({seen.waiver for seen in entry.seen if seen.waiver})


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{n} {word}" for word, n in sorted(counts.items())) or "none"
