"""``python -m reports show|diff|site|ledger``: the command line. What a user may get wrong ends in one line."""

from __future__ import annotations

import argparse
import contextlib
import fnmatch
import json
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reports import ledger_commands
from reports.text import visible
from reports.words import VERDICTS

if TYPE_CHECKING:
    import pandas as pd

_ABOUT = """\
Read the record of a conformance run (`pytest conformance/ --record FILE`).

  python -m reports show FILE                           the table of the whole run
  python -m reports show FILE --verdict crashed         the cells that ended the process
  python -m reports show FILE --rule 'PUT-*' --unexpected   what makes these rules red
  python -m reports diff LAST-NIGHT TONIGHT             what changed, in either direction
  python -m reports site FILE -o DIR                    one page for a browser, no network needed
  python -m reports ledger --help                       the ledgers: runs summed up under version control
  python -m reports sweep [VERSION ...]                 judges versions of JAX and makes their ledgers again
"""
_EXITS = "Exit status: 0 done; 2 nothing done, one line on stderr says why; 141 the reader of the output went away."
_SHOW = f"""\
Print chapters x configurations with the count of each verdict, known deviations summed up by rule, and questions. With
a filter, print instead each cell that passes every filter, beneath the sentence of its rule.

A run without a footer, or that lost a line, is called PARTIAL: what it does not show was not observed.

{_EXITS}
"""
_DIFF = """\
Compare two runs cell by cell: same rule, same case, paired configuration. Configurations are paired by the parts
(subject; version, target, partitioner of one subject) that take several values within A or within B. So two versions
compare when each file has one of them; where a file has several, choose:

  python -m reports diff RUN RUN --a '*-0.7.2-*' --b '*-0.12.0.1-*'       from version to version
  python -m reports diff RUN RUN --a '*-gspmd' --b '*-shardy'             from GSPMD to Shardy

A regression is a cell that held in A (conforms, permitted) and in B deviates, crashes or hangs, could not be judged
(unsupported, not_run, error), or is gone; or one that deviated in A and crashes or hangs in B. A cell gone from a
partial run or from a selection is not called one, for nobody looked.

Exit status: 0 no regression; 1 regressions; 2 a file cannot be read, or nothing can be compared; 3 no regression was
found, but not everything could be compared: a side is partial, B is a selection without some cells of A, or a
configuration of A is not in B; 141 the reader of the output went away.
"""
_SITE = f"""\
Write DIR/index.html: the matrix, each rule with its sentence and counts, and the deviating cells with expected against
observed. One file; no script, no network; it opens from disk.

{_EXITS}
"""
_SWEEP = """\
Judge versions of JAX, the whole suite under both partitioners, and make their ledgers again. Each version has an
environment of its own, .envs/jax-VERSION, which uv builds where it is not there. Records, and what pytest said, are in
reports/out/sweep.

Exit status: 0 every ledger is made; 1 a version could not be installed or judged, or its run is red, which is said, and
has no new ledger; 2 nothing done; 130 or 143 interrupted or terminated, and nothing goes on running.
"""


class UserError(Exception):
    """Something the user can put right: one line."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; the exit status."""
    options = _parser().parse_args(arguments)
    if sys.stdout is None:
        print("reports: the output cannot be written: it is closed", file=sys.stderr)
        return 2
    from reports.diff import DiffError
    from reports.ledgers import LedgerError
    from reports.load import LoadError

    try:
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="backslashreplace")
        status: int = options.command(options)
        sys.stdout.flush()
        return status
    except (LoadError, DiffError, LedgerError, UserError) as error:
        print(f"reports: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("reports: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        _mute()
        return 141
    except OSError as error:
        if error.filename is not None:
            print(f"reports: {visible(str(error.filename))}: {error.strerror}", file=sys.stderr)
            return 2
        _mute()
        print(f"reports: the output cannot be written: {error.strerror}", file=sys.stderr)
        return 2


def _mute() -> None:
    """Send what is still buffered for a broken output nowhere, so that the interpreter ends in silence."""
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _show(options: argparse.Namespace) -> int:
    from reports import counts, jsonable, rules, terminal
    from reports.load import load

    run = load(options.file)
    filtered = bool(options.rule or options.verdict or options.unexpected)
    cells = _filtered(run.cells, options)
    if options.json:
        shown = cells if filtered else run.cells
        _print_json(jsonable.about(run) | {"matrix": counts.matrix(run.cells), "listed": jsonable.rows(shown)})
        return 0
    contract = rules.contract()
    if filtered:
        listed = terminal.listed(cells, contract.rules) or "No cell passes these filters."
        print(f"{listed}\n\n{len(cells):,} of {terminal.total(run)}")
    else:
        print(terminal.summary(run, contract))
    return 0


def _diff(options: argparse.Namespace) -> int:
    from reports import changes, diff, rules
    from reports.load import load

    found = diff.compare(load(options.a), load(options.b), options.only_a, options.only_b)
    if options.json:
        _print_json(changes.data(found))
    else:
        print(changes.text(found, rules.contract().rules, options.all))
    return found.exit


def _site(options: argparse.Namespace) -> int:
    from reports import rules, site
    from reports.load import load

    run = load(options.file)
    try:
        page = site.write(run, rules.contract(), options.output)
    except OSError as error:
        where = visible(str(options.output))
        raise UserError(f"{where}: the page cannot be written: {error.strerror}; name another folder with -o") from None
    print(page)
    return 0


def _sweep(options: argparse.Namespace) -> int:
    from reports.ledgers import FOLDER
    from reports.sweep import plan, sweep

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    planned = plan()
    return sweep(planned, options.versions or planned.versions, max(options.jobs, 1), options.ledgers or FOLDER)


def _filtered(cells: pd.DataFrame, options: argparse.Namespace) -> pd.DataFrame:
    if options.rule:
        known = sorted(cells["rule"].unique())
        wanted = [rule for rule in known if any(fnmatch.fnmatchcase(rule, glob) for glob in options.rule)]
        if not wanted:
            has = visible(", ".join(known), 200) or "no cell at all"
            raise UserError(f"no rule in {visible(str(options.file))} matches {', '.join(options.rule)}; it has {has}")
        cells = cells[cells["rule"].isin(wanted)]
    if options.verdict:
        cells = cells[cells["verdict"].isin(options.verdict)]
    return cells[cells["unexpected"]] if options.unexpected else cells


def _print_json(data: dict[str, Any]) -> None:
    json.dump(data, sys.stdout, indent=1)
    print()


def _parser() -> argparse.ArgumentParser:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="python -m reports", description=_ABOUT, formatter_class=raw)
    commands = parser.add_subparsers(metavar="COMMAND", required=True)

    show = commands.add_parser("show", help="the table, and cells one by one", description=_SHOW, formatter_class=raw)
    show.add_argument("file", metavar="FILE", type=Path, help="a record file")
    show.add_argument("--rule", metavar="GLOB", action="append", help="cells of these rules; may be repeated")
    show.add_argument("--verdict", choices=VERDICTS, action="append", help="cells of this verdict; may be repeated")
    show.add_argument("--unexpected", action="store_true", help="cells that make the run red")
    show.add_argument("--json", action="store_true", help="one JSON object; without a filter it lists every cell")
    show.set_defaults(command=_show)

    diff = commands.add_parser("diff", help="what changed between two runs", description=_DIFF, formatter_class=raw)
    diff.add_argument("a", metavar="A", type=Path, help="the record file of the earlier run")
    diff.add_argument("b", metavar="B", type=Path, help="the record file of the later run")
    diff.add_argument("--a", dest="only_a", metavar="GLOB", default="*", help="of A only these configurations")
    diff.add_argument("--b", dest="only_b", metavar="GLOB", default="*", help="of B only these configurations")
    diff.add_argument("--all", action="store_true", help="name every changed cell, not the first few of each kind")
    diff.add_argument("--json", action="store_true", help="one JSON object")
    diff.set_defaults(command=_diff)

    site = commands.add_parser("site", help="one page for a browser", description=_SITE, formatter_class=raw)
    site.add_argument("file", metavar="FILE", type=Path, help="a record file")
    site.add_argument("-o", "--output", metavar="DIR", type=Path, required=True, help="made if it does not exist")
    site.set_defaults(command=_site)

    ledger_commands.add(commands, raw)

    sweep = commands.add_parser(
        "sweep", help="versions of JAX judged, their ledgers made again", description=_SWEEP, formatter_class=raw
    )
    sweep.add_argument("versions", metavar="VERSION", nargs="*", help="default: those of reports/sweep.toml")
    sweep.add_argument("--jobs", metavar="N", type=int, default=2, help="versions at a time (2)")
    sweep.add_argument("--ledgers", metavar="DIR", type=Path, help="where they are made (reports/ledger)")
    sweep.set_defaults(command=_sweep)
    return parser


if __name__ == "__main__":
    sys.exit(main())
