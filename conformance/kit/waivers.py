"""Known deviations. A waiver pins what is observed instead of what the rule says. No command writes one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from .columns import MOST_DEVICES, PARTITIONERS, Column
from .rules import Contract, Rule, version
from .strict import Globs, Mistake, read
from .verdicts import DEVIATING, HELD, RED, Judged, Observation, agrees

CRASHES = ("signal", "exit", "hung")
TARGETS = [f"cpu:{n}" for n in range(1, MOST_DEVICES + 1)]


@dataclass(frozen=True)
class When:
    """The configurations that a waiver speaks of."""

    subject: Globs
    versions: str
    targets: Globs
    partitioners: Globs

    def __post_init__(self) -> None:
        try:
            SpecifierSet(self.versions)
        except InvalidSpecifier:
            raise ValueError(f"versions {self.versions!r}; write specifiers such as >=0.4.38,<0.9") from None
        _known("partitioners", self.partitioners, PARTITIONERS)
        _known("targets", self.targets, TARGETS)

    def match(self, column: Column) -> bool:
        """Whether a configuration is meant. A host without a version is meant by none."""
        at = version(column.version)
        return (
            at is not None
            and SpecifierSet(self.versions).contains(at, prereleases=True)
            and self.subject.match(column.configuration.subject)
            and self.targets.match(column.configuration.target)
            and self.partitioners.match(column.configuration.partitioner)
        )


def _known(name: str, globs: Globs, values: Sequence[str]) -> None:
    """Refuses a pattern that can match nothing."""
    for pattern in globs.patterns:
        if not any(map(Globs((pattern,)).match, values)):
            raise ValueError(f"{name} {pattern!r}: there is none such; one is {values[0]}")


@dataclass(frozen=True)
class Waiver:
    """One known deviation: where, what is seen instead (several pins where that varies), why, how long."""

    id: str
    rule: str
    cases: Globs
    when: When
    observed: Any
    reason: str
    link: str
    expires: date

    def __post_init__(self) -> None:
        if not self.pins or not all(isinstance(pin, dict) and pin for pin in self.pins):
            raise ValueError("observed is a table of what is seen, or a list of such tables")
        if not self.reason.strip():
            raise ValueError("reason is empty; say what is known")
        if self.link != "none found" and not self.link.startswith(("https://", "http://")):
            raise ValueError(f'link {self.link!r}; give the URL of the report, or "none found"')

    @property
    def pins(self) -> list[dict[str, Any]]:
        return self.observed if isinstance(self.observed, list) else [self.observed]

    def expired(self, today: date) -> bool:
        return today > self.expires

    def holds(self, rule: Rule, observed: Observation) -> bool:
        """Whether the observation is one that is pinned: how its probe was cut short, else every field of the rule."""
        cut = {name for name in (*CRASHES, "raised") if observed.get(name, "nothing") != "nothing"}
        seen = rule.fields & observed.keys()
        return any(
            cut <= pin.keys()
            and ("touch" in pin or "raised" in pin.keys() - rule.fields or seen <= pin.keys())
            and all(name in observed and agrees(name, wanted, observed[name]) for name, wanted in pin.items())
            for pin in self.pins
        )


@dataclass(frozen=True, slots=True)
class Ruling:
    """A verdict after the waivers: `waiver` speaks of the cell, and unless `unexpected` it holds."""

    judged: Judged
    waiver: Waiver | None
    unexpected: bool
    reason: str | None


class Waivers:
    """Waivers by rule. Those that have expired waive nothing."""

    def __init__(self, waivers: Iterable[Waiver], today: date | None = None) -> None:
        self.all = tuple(waivers)
        self.expired = tuple(waiver for waiver in self.all if waiver.expired(today or date.today()))
        self._by_rule: dict[str, list[Waiver]] = {}
        for waiver in self.all:
            if waiver not in self.expired:
                self._by_rule.setdefault(waiver.rule, []).append(waiver)
        self._meant: dict[tuple[str, Column], list[Waiver]] = {}

    def of(self, rule: Rule, column: Column) -> list[Waiver]:
        """The waivers that speak of a rule under a configuration."""
        key = rule.id, column
        if key not in self._meant:
            self._meant[key] = [waiver for waiver in self._by_rule.get(rule.id, ()) if waiver.when.match(column)]
        return self._meant[key]

    def rule(self, rule: Rule, case: str, column: Column, judged: Judged) -> Ruling:
        """Whether a verdict is expected: held, or deviating exactly as a waiver pins it."""
        speaking = [waiver for waiver in self.of(rule, column) if waiver.cases.match(case)]
        if not speaking or judged.verdict not in DEVIATING | HELD:
            return Ruling(judged, None, judged.verdict in RED, judged.reason)
        if judged.verdict in HELD:
            reason = f"waiver {speaking[0].id} no longer applies, the rule holds here: narrow it or remove it"
            return Ruling(judged, speaking[0], True, reason)
        for waiver in speaking:
            if waiver.holds(rule, judged.observed):
                return Ruling(judged, waiver, False, judged.reason)
        reason = f"waiver {speaking[0].id} pins another observation"
        return Ruling(judged, speaking[0], True, f"{judged.reason}; {reason}" if judged.reason else reason)


@dataclass(frozen=True)
class File:
    waiver: tuple[Waiver, ...] = ()


def load(folder: Path, contract: Contract) -> Waivers:
    """The waivers in a folder (which may be empty), or a `Mistake`."""
    homes: dict[str, Path] = {}
    waivers: list[Waiver] = []
    for path in sorted(folder.glob("*.toml")):
        for waiver in read(path, File).waiver:
            if waiver.id in homes:
                raise Mistake(f"{path}: waiver {waiver.id} is already in {homes[waiver.id]}; give it an id of its own")
            if waiver.rule not in contract.rules:
                wrong = f"names rule {waiver.rule}, which the contract has not; correct or remove it"
                raise Mistake(f"{path}: waiver {waiver.id} {wrong}")
            if lacking := _uncovered(waiver, contract.rules[waiver.rule]):
                raise Mistake(f"{path}: waiver {waiver.id} {lacking}")
            homes[waiver.id] = path
            waivers.append(waiver)
    return Waivers(waivers)


def _uncovered(waiver: Waiver, rule: Rule) -> str | None:
    """What a waiver's pins leave open, or None: a pin says all that its rule judges, or how the probe was cut short."""
    for pin in waiver.pins:
        raised = isinstance(pin.get("raised"), dict)
        if raised and (lacking := {"class", "at"} - pin["raised"].keys()):
            return f"pins an exception without its {' and '.join(sorted(lacking))}"
        if any(key in pin for key in CRASHES):
            if "touch" not in pin:
                return "pins a death without its point of touch; add touch"
        elif "touch" in pin:
            return f"pins a point of touch without how the process ended; add one of {', '.join(CRASHES)}"
        elif not raised and not any(wanted.keys() <= pin.keys() for wanted in rule.legal.values()):
            least = min((wanted.keys() - pin.keys() for wanted in rule.legal.values()), key=len)
            return f"does not pin {', '.join(sorted(least))}, which {rule.id} judges; add it to observed"
        if unknown := ", ".join(sorted(pin.keys() - rule.fields - {*CRASHES, "touch", "raised"})):
            return f"pins {unknown}, which {rule.id} does not judge; its fields are {', '.join(sorted(rule.fields))}"
    return None
