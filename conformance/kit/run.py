"""A run, pytest apart: opens the columns, lays cells out, takes observations, rules on them and records it all."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from impl.host import Outcome, Pool, Request

from . import gates, records
from .cases import Case, Judgement
from .cells import Cell, Layout, Look, lay_out
from .columns import Column
from .options import Options
from .rules import Contract, Rule
from .strict import Mistake
from .verdicts import Judged, expected, judge
from .waivers import Ruling, Waivers

PROBES = "conformance.probes"


@dataclass(frozen=True, slots=True)
class Result:
    """One cell as judged, with the observation it rests on (None where none was taken)."""

    cell: Cell
    ruling: Ruling
    outcome: Outcome | None


class Run:
    """Hosts are started when the first judgement is added, and recording begins when the cells are known."""

    def __init__(
        self, contract: Contract, waivers: Waivers, options: Options, writer: records.Writer | None, who: str = "main"
    ) -> None:
        self.contract, self.waivers, self.options, self.writer, self.who = contract, waivers, options, writer, who
        self.started = datetime.now(UTC)
        self.begun = False
        self.modules: dict[Path, gates.Module] = {}
        self.gates: list[records.Line] = []
        self.incidents: list[records.Line] = []
        self.problems: dict[str, str] = {}  # why a configuration cannot be judged, and what its host said
        self.changed: dict[str, Result] = {}  # verdicts that a later death changed after they were told
        self.totals = records.Totals()
        self._columns: tuple[Column, ...] = ()
        self._pool: Pool | None = None
        self._complete = False
        self._due: set[str] = set()
        # Everything that speaks of an observation decides how a death is shown, chosen or not.
        self._observed: dict[Request, tuple[Look, dict[str, tuple[Rule, Case]]]] = {}
        self._looks: dict[Request, list[Cell]] = {}  # the cells to judge, by the observation that they share
        self._judged: dict[Request, tuple[Outcome, dict[str, Judged]]] = {}
        self._results: dict[str, Result] = {}

    @property
    def columns(self) -> tuple[Column, ...]:
        """The configurations with what their hosts say; asking starts the hosts."""
        if self._pool is None:
            try:
                self._pool = Pool(probes=PROBES, hosts=self.options.hosts, cell_timeout=self.options.cell_timeout)
                self._pool.start(self.options.configurations)
                self._columns = tuple(Column(it, self._pool.open(it)) for it in self.options.configurations)
            except OSError as error:
                raise Mistake(f"no host can be started: {error}") from None
            _tell_apart(self._columns)
        return self._columns

    def add(self, path: Path, name: str, judgement: Judgement, marks: dict[str, Any]) -> list[Cell]:
        """Lays out the judgement `test_NAME` of a test module, and returns the cells that --rule leaves in."""
        chapter = self.contract.chapters.get(gates.stem(path))
        layout = lay_out(chapter, name, judgement, self.columns, self.options.wide)
        module = self.modules.setdefault(path, gates.Module(path, chapter, {}, marks))
        module.layouts[name] = layout
        cells: list[Cell] = []
        for look in layout.looks():
            first, spoken = self._observed.setdefault(look.request, (look, {}))
            if first.request.case != look.request.case or first.request.limit != look.request.limit:
                raise Mistake(_clash(first, look))
            spoken.update({rule.id: (rule, look.case) for rule in look.rules})
            cells += look.cells(lambda rule: self.options.chosen(rule.id))
        return cells

    def announce(self, selected: bool) -> None:
        """Starts the record that workers' parts will be merged into; until then it is a partial one."""
        self._header((), selected)
        self.begun = True

    def merge(self) -> None:
        """Merges the workers' parts into the record."""
        self.stop()
        lines = records.merge(self.options.record)
        self.gates = [line for line in lines if line["kind"] == "gate"]
        self.incidents = [line for line in lines if line["kind"] == "incident"]
        for line in lines:
            if line["kind"] == "configuration" and line["problem"] is not None:
                self.problems[line["problem"]] = line["stderr"]
        self._complete = bool(lines) and lines[-1]["complete"]

    @property
    def red(self) -> bool:
        """Whether something is wrong that no cell shows."""
        return bool(self.gates or self.incidents) or (self.begun and not self._complete)

    @property
    def layouts(self) -> list[Layout]:
        return [layout for module in self.modules.values() for layout in module.layouts.values()]

    def begin(self, cells: Sequence[Cell], narrowed: bool, stops: bool) -> None:
        """Starts recording, now that it is known what will be judged. `stops`: the run may end early, on demand."""
        self.begun = True
        self._due = {cell.name for cell in cells}
        for cell in cells:
            self._looks.setdefault(cell.look.request, []).append(cell)
        extent = gates.Extent(self.layouts, self._due)
        modules = list(self.modules.values())
        stems = {module.stem for module in modules}
        selected = bool(extent.short) or stops or not stems >= self.contract.chapters.keys()
        package = PROBES.rpartition(".")[0]
        broken = [*gates.check(self.contract, self.waivers, modules, extent, narrowed or stops, package)]
        broken += gates.idle(self.columns, cells, extent) if not narrowed else ()
        self._header(self.columns, selected)
        numbers = Counter(cell.look.column for cell in cells)
        for column in self.columns:
            away = sum(not rule.in_force(column.version) for layout in self.layouts for rule in layout.rules)
            self._write(records.configuration(column, numbers[column], away))
            if column.hello.problem is not None:
                self.problems[column.hello.problem] = column.hello.stderr
        for line in broken:
            self._gate(line)

    def want(self, cells: Iterable[Cell]) -> None:
        """Sends ahead the observations that cells rest on."""
        if self._pool is not None:
            self._pool.want(cell.look.request for cell in cells if cell.observable)

    def judge(self, cell: Cell) -> Result:
        """Judges one cell, observing first unless another cell of the same look did."""
        name = cell.name
        if name not in self._results:
            self._results[name] = result = self._judge(cell)
            self._write(records.cell(cell, result.ruling, result.outcome))
            self._absorb()
        return self._results[name]

    def finish(self, at_once: bool) -> None:
        """Ends the hosts, which may still change verdicts (`changed`), and closes the record with its footer."""
        counts: dict[str, int] = {}
        if self._pool is not None:
            pool = self._pool
            try:
                if at_once:
                    pool.kill()
                else:
                    pool.close()
            except OSError as error:
                self._gate(
                    records.gate("hosts", f"they cannot be ended in order, what came late is not known: {error}")
                )
                with contextlib.suppress(OSError):
                    pool.kill()
            self._absorb()
            self._pool = None
            counts = pool.counts()
            for incident in pool.incidents():
                column = next(it for it in self._columns if it.configuration == incident.configuration)
                names = [cell.name for request in incident.requests for cell in self._looks.get(request, ())]
                self.incidents.append(records.incident(incident, column, names))
                self._write(self.incidents[-1])
        if self.begun:
            whole = self.who != "main" or self._due <= self._results.keys()  # of a worker's share, the merge knows
            self._complete = bool(self._due) and whole and not at_once and not (self.writer and self.writer.trouble)
            self._write(self.totals.footer(self._complete, counts))
        self.stop()
        for memory in (self._looks, self._observed, self._judged, self._results):
            memory.clear()

    def stop(self) -> None:
        """Ends what still runs and lets go of the record."""
        if self._pool is not None:
            self._pool.kill()
            self._pool = None
        if self.writer is not None:
            self.writer.close()

    def _judge(self, cell: Cell) -> Result:
        if not cell.observable:
            return self._rule(cell, unobserved(cell), None)
        request = cell.look.request
        if request not in self._judged:
            assert self._pool is not None, "cells are judged between begin and finish"
            try:
                outcome = self._pool.take(request)
            except OSError as error:
                outcome = Outcome("error", reason=f"its host cannot be reached: {error}")
            self._judged[request] = outcome, self._verdicts(cell.look, outcome)
            for line in records.questions(cell.look, outcome):
                self._write(line)
        outcome, judged = self._judged[request]
        return self._rule(cell, judged[cell.rule.id], outcome)

    def _rule(self, cell: Cell, judged: Judged, outcome: Outcome | None) -> Result:
        return Result(cell, self.waivers.rule(cell.rule, cell.look.request.id, cell.look.column, judged), outcome)

    def _verdicts(self, look: Look, outcome: Outcome) -> dict[str, Judged]:
        if outcome.status == "not_run" and outcome.reason:
            self.problems.setdefault(outcome.reason, outcome.stderr)
        _, spoken = self._observed[look.request]
        return judge(spoken.values(), outcome, look.column.hello.capabilities)

    def _absorb(self) -> None:
        """Judges again the cells of observations that a later death was traced back to."""
        assert self._pool is not None
        for request, outcome in self._pool.late():
            cells = self._looks.get(request, [])
            for cell in cells[:1]:
                self._judged[request] = outcome, self._verdicts(cell.look, outcome)
            for cell in cells:
                before = self._results.get(cell.name)
                if before is None or not cell.observable:
                    continue  # not judged yet
                after = self._rule(cell, self._judged[request][1][cell.rule.id], outcome)
                if after.ruling != before.ruling:
                    self._results[cell.name] = self.changed[cell.name] = after
                    self._write(records.cell(cell, after.ruling, outcome))

    def _header(self, columns: Sequence[Column], selected: bool) -> None:
        if self.writer is not None:
            if self.who == "main":
                for stale in records.parts(self.options.record):
                    stale.unlink()
            configurations = self.options.configurations
            self.writer.begin(
                records.header(configurations, columns, selected, self.who, self.started, self.options.wide)
            )

    def _gate(self, line: records.Line) -> None:
        self.gates.append(line)
        self._write(line)

    def _write(self, line: records.Line) -> None:
        self.totals.add(line)
        if self.writer is not None:
            self.writer.write(line)


def unobserved(cell: Cell) -> Judged:
    """The verdict of a cell whose probe cannot run: nobody to run it, or nothing to run it on."""
    if cell.obstacle is not None:
        return Judged("not_run", expected(cell.rule, cell.look.case), reason=cell.obstacle)
    spoken = [(cell.rule, cell.look.case)]
    return judge(spoken, Outcome("not_run"), cell.look.column.hello.capabilities)[cell.rule.id]


def _clash(first: Look, second: Look) -> str:
    """Two looks that would share an observation but ask for different ones."""
    both = f"{first.case} and {second.case} share the id {second.case.id} and the probe {second.request.probe}"
    same = first.case.data() == second.case.data()
    return f"{both}, but not the limit: give both judgements the same one" if same else both


def _tell_apart(columns: Sequence[Column]) -> None:
    """Two Pythons that hold the same version would give their cells the same names, and so would a:b and a.b."""
    first: dict[str, Column] = {}
    for column in columns:
        one, other = first.setdefault(column.name, column).configuration, column.configuration
        if one != other:
            problem = f" ({column.hello.problem})" if column.hello.problem else ""
            pair = (
                ("", one.subject, other.subject)
                if one.python == other.python
                else ("-python", one.python, other.python)
            )
            both = "--subject{} {} and {}".format(*pair)
            raise Mistake(f"{both} both give the column {column.name}{problem}: judge them in two runs")
