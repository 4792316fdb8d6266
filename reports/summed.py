"""A record summed up: the ledger of each configuration that a run judged."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from reports import ledgers
from reports.ledgers import Answer, Asked, Entry, Ledger, LedgerError, Seen, canonical, file
from reports.patterns import compress
from reports.rules import Contract
from reports.run import Judged, Run
from reports.text import plural, visible
from reports.words import HELD, PARTS, UNJUDGED

_CUT = ("signal", "exit", "hung", "touch", "raised")


def whole(run: Run) -> None:
    """A `LedgerError` if the record does not hold the whole suite: what it lacks would read as gone."""
    if run.partial:
        raise LedgerError(f"{run.path}: a partial run, so no ledger: {run.problems[0]}")
    if run.selected:
        raise LedgerError(f"{run.path}: a selection of the suite (-k, --rule, ...), so no ledger")
    if run.flags:
        raise LedgerError(visible(f"{run.path}: a run with {run.flags} set, so no ledger; run it without"))


def red(run: Run, judged: Judged) -> list[str]:
    """Why a configuration is not as the suite expects it, so that its ledger would write down a mistake."""
    cells = _of(run.cells, judged)
    found = [f"could not be judged: {judged.problem}"] if judged.problem else []
    found += [f"{plural(n, 'cell')} unexpected" for n in [int(cells["unexpected"].sum())] if n]
    found += [f"gate {gate.gate}: {gate.text}" for gate in run.gates]
    return found + [f"incident: {it.text}" for it in run.incidents if it.configuration == judged.configuration]


def ledger(run: Run, judged: Judged, contract: Contract) -> Ledger:
    """The sum of one configuration."""
    rules: dict[str, list[Any]] = {}
    cells = _of(run.cells, judged)
    for cell in cells.astype(object).itertuples(index=False):
        rules.setdefault(str(cell.rule), []).append(cell)
    entries = {rule: _entry(cells, contract) for rule, cells in rules.items()}
    questions: dict[str, Counter[str]] = {}
    for asked in _of(run.questions, judged).astype(object).itertuples(index=False):
        answer = canonical(_plain(json.loads(str(asked.observed))))
        questions.setdefault(str(asked.question), Counter())[answer] += 1
    return Ledger(
        *judged.configuration.parts,
        cells=dict(sum((Counter(entry.cells) for entry in entries.values()), Counter())),
        witness=judged.witness,
        rule=entries,
        question={
            question: Asked(tuple(Answer(n, json.loads(answer)) for answer, n in answers.items()))
            for question, answers in questions.items()
        },
    )


def write(run: Run, folder: Path, contract: Contract, although_red: bool = False) -> Iterator[tuple[str, str, bool]]:
    """Writes the ledger of each configuration: its name, what became of the file or why nothing did, and whether."""
    whole(run)
    folder.mkdir(parents=True, exist_ok=True)
    for judged in run.configurations:
        name = judged.configuration.name
        if not judged.configuration.has_ledger:
            yield name, "no ledger is kept of it; its run alone says what it does", True
            continue
        if (wrong := red(run, judged)) and not although_red:
            yield name, f"no ledger, the run is red: {'; '.join(wrong)}", False
            continue
        yield name, ledgers.write(folder / file(judged.configuration), ledger(run, judged, contract)), True


def cases(run: Run, judged: Judged) -> dict[str, Sequence[str]]:
    """The cases of each rule, as the run had them."""
    of = _of(run.cells, judged).astype(object)
    return {str(rule): list(mine["case"]) for rule, mine in of.groupby("rule")}


def _of(frame: Any, judged: Judged) -> Any:
    """The rows of one configuration."""
    for part, value in zip(PARTS, judged.configuration.parts, strict=True):
        frame = frame[frame[part] == value]
    return frame


def _entry(cells: Sequence[Any], contract: Contract) -> Entry:
    there = [cell.case for cell in cells]
    groups: dict[tuple[str, ...], list[str]] = {}
    for cell in cells:
        if cell.verdict not in HELD:
            groups.setdefault(_kind(cell, contract), []).append(cell.case)
    counts = Counter[str](cell.verdict for cell in cells if cell.verdict in HELD)
    for (verdict, *_), members in groups.items():
        counts[verdict] += len(members)
    return Entry(
        level=cells[0].level,
        cells=dict(counts),
        permitted=dict(Counter(str(cell.outcome) for cell in cells if cell.verdict == "permitted")),
        seen=tuple(
            Seen(verdict, len(members), compress(members, there), json.loads(observed), reason or None, waiver or None)
            for (verdict, observed, reason, waiver), members in groups.items()
        ),
    )


def _kind(cell: Any, contract: Contract) -> tuple[str, str, str, str]:
    """What cells of one pattern have in common: verdict, observation, reason and waiver."""
    if cell.verdict in UNJUDGED:
        return cell.verdict, "null", cell.reason if isinstance(cell.reason, str) else "no reason given", ""
    id = cell.waiver if isinstance(cell.waiver, str) else ""
    waiver = contract.waivers.get(id)
    if waiver is not None and len(waiver.pins) > 1 and not cell.unexpected:
        pins = sorted((_plain(pin) for pin in waiver.pins), key=canonical)
        words = [word for word in ("deviates", "crashed", "hung") if word in set(map(_verdict, pins))]
        return " or ".join(words), canonical(pins), "", id
    observed, expected = json.loads(cell.observed), json.loads(cell.expected)
    otherwise = {name: value for name, value in observed.items() if name in _CUT or expected.get(name, ...) != value}
    return cell.verdict, canonical(_plain(otherwise or observed)), "", id


def _verdict(pin: Mapping[str, Any]) -> str:
    return "hung" if "hung" in pin else "crashed" if "signal" in pin or "exit" in pin else "deviates"


def _plain(observed: Mapping[str, Any]) -> dict[str, Any]:
    """An observation without what nobody promises, an exception's message; null as TOML can spell it."""
    told = dict(observed)
    if isinstance(told.get("raised"), Mapping):
        told["raised"] = {key: value for key, value in told["raised"].items() if key != "message"}
    return {key: _spelled(value) for key, value in told.items()}


def _spelled(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _spelled(it) for key, it in value.items()}
    if isinstance(value, list):
        return [_spelled(it) for it in value]
    return "null" if value is None else value
