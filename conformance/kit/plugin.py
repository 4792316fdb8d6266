"""The pytest plugin: judgements become items, one per cell; a run ends with the matrix.

Nothing is loaded or started unless a judgement is collected or the suite's folder is asked for.
"""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Generator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from . import parallel, records, rules, waivers
from .cases import Judgement
from .cells import Cell
from .columns import item_name, parse
from .ending import ending
from .explain import explain
from .options import SUBJECTS, options
from .run import Result, Run
from .strict import Mistake

SUITE = Path(__file__).resolve().parents[1]
RECORD = Path("reports/out/latest.jsonl")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("conformance", "holding a subject to the contract")
    for flag, settings in OPTIONS.items():
        group.addoption(flag, **settings)


OPTIONS: dict[str, dict[str, Any]] = {
    "--subject": {
        "action": "append",
        "default": [],
        "metavar": "NAME[:ARGUMENT]",
        "help": f"what is judged: stock, model, a module, ...; repeatable (default: {' and '.join(SUBJECTS)})",
    },
    "--subject-python": {
        "action": "append",
        "default": [],
        "metavar": "PATH",
        "help": "the Python that holds the subject (default: this one); repeat it to judge several versions in one run",
    },
    "--target": {"default": "cpu:8", "help": "where it runs: cpu:N (default: cpu:8)"},
    "--partitioner": {"default": "both", "help": "shardy, gspmd or both (default: both)"},
    "--rule": {"action": "append", "default": [], "metavar": "GLOB", "help": "judge only these rules; repeatable"},
    "--wide": {"action": "store_true", "help": "judge also the cases of products too large for every run"},
    "--record": {"metavar": "FILE", "help": f"where the verdicts go, a JSON line per cell (default: {RECORD})"},
    "--cell-timeout": {"type": float, "default": 30.0, "metavar": "S", "help": "when a silent host is called hung"},
    "--hosts": {"type": int, "default": 1, "metavar": "N", "help": "hosts per configuration (default: 1)"},
}


def pytest_configure(config: pytest.Config) -> None:
    plugin = Conformance(config)
    config.pluginmanager.register(plugin, "conformance")
    config.add_cleanup(plugin.stop)
    config.args[:] = map(item_name, config.args)
    if plugin.asked():
        if config.pluginmanager.has_plugin("nfplugin") and not config.getoption("newfirst"):
            config.pluginmanager.unregister(
                name="nfplugin"
            )  # for --nf it remembers all cells of all versions ever judged
        try:
            plugin.prepare()
        except Mistake as mistake:
            raise pytest.UsageError(str(mistake)) from None


PICKING = ("keyword", "markexpr", "deselect", "ignore", "ignore_glob", "lf", "stepwise", "maxfail")


class Unexpected(Exception):  # noqa: N818
    """Raised in a cell that makes the run red."""


class CellItem(pytest.Item):
    """One cell."""

    def __init__(self, *, cell: Cell, run: Run, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.cell, self.run = cell, run
        self.result: Result | None = None

    @classmethod
    def of(cls, cell: Cell, parent: pytest.Collector, run: Run) -> CellItem:
        name = item_name(cell.name)
        # Given as text, the id is read as pytest reads it back for --lf.
        item: CellItem = cls.from_parent(parent, name=name, nodeid=f"{parent.nodeid}::{name}", cell=cell, run=run)
        return item

    def runtest(self) -> None:
        self.tell(self.run.judge(self.cell))

    def tell(self, result: Result) -> None:
        """Tells pytest a verdict its own way. A known deviation is an expected failure, which --runxfail shows."""
        self.result, ruling = result, result.ruling
        self.user_properties.append(("verdict", ruling.judged.verdict))
        if ruling.unexpected:
            raise Unexpected
        if ruling.waiver is not None:
            raise pytest.xfail.Exception(f"{ruling.waiver.id}: {ruling.waiver.reason}")
        if ruling.judged.verdict == "unsupported":
            raise pytest.skip.Exception(ruling.reason or "unsupported", _use_item_location=True)

    def teardown(self) -> None:
        self.result = None

    def protocol(self) -> None:
        """What pytest does with an item, less what a cell has no use for: fixtures, marks, captured output."""
        hook = self.ihook
        hook.pytest_runtest_logstart(nodeid=self.nodeid, location=self.location)
        call = pytest.CallInfo.from_call(self.runtest, "call", (pytest.exit.Exception, KeyboardInterrupt))
        report = hook.pytest_runtest_makereport(item=self, call=call)
        hook.pytest_runtest_logreport(report=report)
        if report.failed:
            hook.pytest_exception_interact(node=self, call=call, report=report)
        self.teardown()
        end = pytest.TestReport(
            self.nodeid,
            self.location,
            report.keywords,
            "passed",
            None,
            "teardown",
            user_properties=self.user_properties,
        )
        hook.pytest_runtest_logreport(report=end)  # reporters wait for it
        hook.pytest_runtest_logfinish(nodeid=self.nodeid, location=self.location)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], *args: Any, **kwargs: Any) -> Any:
        told = isinstance(excinfo.value, Unexpected | pytest.xfail.Exception)
        if self.result is None or not told:
            return super().repr_failure(excinfo, *args, **kwargs)
        if self.result.ruling.unexpected or self.config.option.runxfail:
            return explain(self.result)
        return str(excinfo.value)

    @property
    def location(self) -> tuple[str, int, str]:
        return self.nodeid.partition("::")[0], 0, self.cell.name

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, 0, self.cell.name


class Conformance:
    """One pytest process's part in a run: the only one, a worker of pytest-xdist, or the controller of workers."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.worker: str | None = getattr(config, "workerinput", {}).get("workerid")
        self.run: Run | None = None
        self.mistake: str | None = None  # found while collecting
        self.troubles: list[str] = []
        self.tail: list[str] = []  # what is said after the failures
        # Options that are about how pytest runs an item: then it runs all of them its own way.
        self.whole = any(getattr(config.option, it, False) for it in ("usepdb", "setuponly", "setupshow"))

    @property
    def controls(self) -> bool:
        """Whether workers judge for this process."""
        option = self.config.option
        return self.worker is None and getattr(option, "dist", "no") != "no" and not option.collectonly

    @property
    def terminal(self) -> Any:
        """pytest's terminal reporter, if there is one."""
        return self.config.pluginmanager.getplugin("terminalreporter")

    def asked(self, whole: bool = False) -> bool:
        """Whether the arguments speak of the suite (or of all of it)."""
        base = self.config.invocation_params.dir
        paths = [(base / argument.partition("::")[0]).resolve() for argument in self.config.args]
        return any(path in (SUITE, *SUITE.parents) or (not whole and SUITE in path.parents) for path in paths)

    @property
    def narrowed(self) -> bool:
        """Whether the run was asked for less than the whole suite."""
        return bool(self.config.option.rule) or not self.asked(whole=True)

    @property
    def ahead(self) -> bool:
        """Whether all that is collected will be judged here, so that hosts may begin with it meanwhile."""
        named = any("::" in argument for argument in self.config.args)
        return self.worker is None and not (self.controls or self.config.option.collectonly or named or self._picks())

    def _picks(self) -> bool:
        """Whether an option of pytest may leave cells out; which ones, only those who collect know."""
        return any(getattr(self.config.option, it, None) for it in PICKING)

    def prepare(self) -> Run:
        """Checks everything that can be checked before a host is started."""
        if self.run is None:
            option = self.config.option
            contract = rules.load(SUITE / "contract")
            known = waivers.load(SUITE / "waivers", contract)
            asked = options(
                contract,
                subjects=option.subject,
                pythons=option.subject_python,
                target=option.target,
                partitioner=option.partitioner,
                rules=option.rule,
                cell_timeout=option.cell_timeout,
                hosts=option.hosts,
                record=self._record(),
                wide=option.wide,
            )
            writer = None
            if not option.collectonly:
                writer = records.Writer(records.part(asked.record, self.worker) if self.worker else asked.record)
            self.run = Run(contract, known, asked, writer, self.worker or "main")
            if self.controls:
                self.run.announce(selected=self.narrowed or self._picks())
        return self.run

    def _record(self) -> Path:
        if self.config.option.record is not None:
            return self.config.invocation_params.dir / str(self.config.option.record)
        default = self.config.rootpath / RECORD
        with contextlib.suppress(OSError):
            default.parent.mkdir(parents=True, exist_ok=True)
        return default

    def stop(self) -> None:
        """Leaves nothing running, however the session ended."""
        if self.run is not None:
            self.run.stop()
            gc.unfreeze()

    # Collecting.

    def pytest_report_header(self) -> list[str]:
        if self.run is None:
            return []
        asked = self.run.options
        pythons = dict.fromkeys(it.python for it in asked.configurations)
        subjects, partitioners = (
            dict.fromkeys(getattr(it, part) for it in asked.configurations) for part in ("subject", "partitioner")
        )
        target = asked.configurations[0].target
        return [
            f"conformance: {' and '.join(subjects)} on {target}, {' and '.join(partitioners)}, in {', '.join(pythons)}"
        ]

    @pytest.hookimpl(tryfirst=True)
    def pytest_pycollect_makeitem(
        self, collector: pytest.Collector, name: str, obj: object
    ) -> list[pytest.Item] | None:
        if not isinstance(obj, Judgement) or collector.path.parent != SUITE:
            return None
        try:
            run = self.prepare()
            if not name.startswith("test_"):
                raise Mistake(f"{collector.path}: a judgement is called {name}; call it test_{name}")
            marks = getattr(collector.obj, "REVIEWED", {})  # type: ignore[attr-defined]
            cells = run.add(collector.path, name.removeprefix("test_"), obj, marks)
        except Mistake as mistake:
            if self.worker is not None:  # the controller shows it
                raise collector.CollectError(str(mistake)) from None
            self.mistake = self.mistake or str(mistake)
            return []
        if self.ahead:
            run.want(cells)
        return [CellItem.of(cell, collector, run) for cell in cells]

    @pytest.hookimpl(wrapper=True)
    def pytest_collection(self) -> Generator[None, object, object]:
        result = yield
        if self.mistake is not None:
            raise pytest.UsageError(self.mistake)
        return result

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        if self.run is None or self.mistake is not None or not self.run.modules:
            return
        option = self.config.option
        cells = [item.cell for item in session.items if isinstance(item, CellItem)]
        self.run.begin(cells, narrowed=self.narrowed, stops=bool(option.maxfail))
        if self.worker is None and not option.collectonly:
            self.run.want(cells)
        gc.freeze()  # the cells stay; nobody need walk them again

    # Judging.

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
        if self.worker is not None and self.run is not None:  # more might be another worker's
            self.run.want(it.cell for it in (item, nextitem) if isinstance(it, CellItem))
        if not isinstance(item, CellItem) or self.whole:
            return None
        if nextitem is None or nextitem.parent is not item.parent or next(item.iter_markers(), None) is not None:
            return None  # after the last of a module, pytest takes down what was set up
        item.protocol()
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: pytest.CollectReport | pytest.TestReport) -> tuple[str, str, str] | None:
        if report.when == "call" and report.failed and dict(report.user_properties).get("verdict") == "not_run":
            return "not run", "n", "NOT RUN"  # said once per configuration, not once per cell
        return None

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Drops what pytest keeps of a cell's setup and teardown: most of the memory, and searched at each failure."""
        if report.when == "teardown" and report.passed and self.terminal is not None and parse(report.nodeid):
            kept = self.terminal.stats.get("", [])
            if kept and kept[-1] is report:
                kept.pop()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, object, object]:
        at_once = True
        try:
            result = yield
            at_once = bool(self.config.option.collectonly)
            return result
        except session.Failed:  # -x
            at_once = False
            raise
        finally:
            if self.run is not None and not self.controls:
                self._finish(self.run, session, at_once)

    def _finish(self, run: Run, session: pytest.Session, at_once: bool) -> None:
        run.finish(at_once)
        reports = []
        for item in session.items if run.changed else ():
            if isinstance(item, CellItem) and (result := run.changed.get(item.cell.name)) is not None:
                call = pytest.CallInfo.from_call(partial(item.tell, result), "call")
                report = item.ihook.pytest_runtest_makereport(item=item, call=call)
                reports += [] if report.passed else [report]
        troubles = [run.writer.trouble] if run.writer is not None and run.writer.trouble else []
        if self.worker is None:
            self.troubles += troubles
            for report in reports:
                self.config.hook.pytest_runtest_logreport(report=report)
        else:
            told = [self.config.hook.pytest_report_to_serializable(config=self.config, report=it) for it in reports]
            self.config.workeroutput["conformance"] = {"reports": told, "troubles": troubles}  # type: ignore[attr-defined]

    # pytest-xdist.

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_make_scheduler(self, config: pytest.Config, log: Any) -> Any:
        return parallel.scheduler(config, log) if self.run is not None else None

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        told = getattr(node, "workeroutput", {}).get("conformance", {})
        self.troubles += told.get("troubles", ())
        for data in told.get("reports", ()):
            report = self.config.hook.pytest_report_from_serializable(config=self.config, data=data)
            report.node = node
            self.config.hook.pytest_runtest_logreport(report=report)

    # The end.

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.run is None or self.worker is not None or self.config.option.collectonly:
            return
        if self.controls:
            try:
                self.run.merge()
            except Mistake as mistake:
                self.troubles.append(str(mistake))
        if session.exitstatus == pytest.ExitCode.OK and (self.run.red or self.troubles):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        terminal = self.terminal
        if terminal is not None and self.run.begun and self.config.get_verbosity() > -2:
            said = ending(self.run.options.record, self.run.problems.values(), self.troubles)
            self.tail = list(said.after)
            terminal.ensure_newline()
            for paragraph in said.before:
                terminal.write(f"\n{paragraph}\n")

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        for paragraph in self.tail:
            terminalreporter.write(f"\n{paragraph}\n")
