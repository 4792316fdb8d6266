"""`python -m conformance`: one cell in the foreground, scripts that show deviations, faults, all about a rule."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from pathlib import Path

from conformance.about import about
from conformance.faults import faults, listed
from conformance.kit.alone import run
from conformance.kit.columns import PARTITIONERS
from conformance.kit.strict import Mistake
from conformance.repro import every, repro

PACKAGE = "conformance"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m conformance", description="Holds a subject to the contract.")
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser(
        "run",
        help="judge one cell on this terminal",
        description="Judges one cell on this terminal, where breakpoints and prints of its probe work. "
        "Exit status: 0 as the contract or a waiver says, 1 otherwise, 2 for a cell that there is not.",
    )
    _cell(one)
    one.add_argument("--subject", help="judge another subject than the cell's name says")
    one.set_defaults(do=lambda it: run(PACKAGE, it.cell, it.subject_python, it.subject))
    script = commands.add_parser(
        "repro",
        help="write a stand-alone script that shows a cell's deviation",
        description="Writes a script of plain JAX that shows a cell's deviation; it is run first, and offered only if "
        "it shows the same. Exit status: 0 if it is offered, 1 if not, 2 for a cell that there is not.",
    )
    _cell(script)
    script.add_argument("-o", "--output", type=Path, metavar="FILE", help="where to write it, in place of stdout")
    script.set_defaults(do=lambda it: repro(PACKAGE, it.cell, it.subject_python, it.output))
    scripts = commands.add_parser(
        "repros",
        help="write such a script for every known deviation of a run",
        description="Writes to a folder one script for each waiver, and each observation that it pins, that a record "
        "has. Exit status: 0 if every one of them shows its deviation, 1 if not, 2 for a record that there is not.",
    )
    scripts.add_argument("record", type=Path, metavar="RECORD", help="such as reports/out/latest.jsonl")
    _python(scripts)
    scripts.add_argument("-o", "--output", type=Path, metavar="DIR", required=True, help="the folder to write to")
    scripts.set_defaults(do=lambda it: every(PACKAGE, it.record, it.subject_python, it.output))
    matrix = commands.add_parser(
        "faults",
        help="judge the faults of the model: the kill matrix",
        description="Judges each fault on the model, in the chapters that it names: the rules that it names have to "
        "find it out, and no others. Exit status: 0 if all is as they say, 1 if not, 2 for a fault that there is not.",
    )
    matrix.add_argument("names", metavar="NAME", nargs="*", help="faults, such as copy_is_alias (default: all)")
    matrix.add_argument("--whole", action="store_true", help="in every chapter, not only those that a fault names")
    matrix.add_argument("--list", action="store_true", help="say what they do, and judge nothing")
    matrix.set_defaults(do=lambda it: listed(PACKAGE, it.names) if it.list else faults(PACKAGE, it.names, it.whole))
    hunt = commands.add_parser(
        "search",
        help="hold a subject against the model on random programs",
        description="Draws random programs, runs them on a subject and on the model, and tells where they differ: the "
        "program as small as it gets, what both did, and a script of plain JAX. Exit status: 0 if nothing differs, "
        "1 if something does, 2 for a subject that there is not.",
    )
    hunt.add_argument("--subject", default="stock", help="the subject (default: stock)")
    _python(hunt)
    hunt.add_argument("--partitioner", choices=PARTITIONERS, default="shardy")
    hunt.add_argument("--examples", type=int, default=1000, metavar="N", help="how many programs (default: 1000)")
    hunt.add_argument("--seed", type=int, default=0, metavar="S", help="what they are drawn from (default: 0)")
    hunt.set_defaults(do=_search)
    rule = commands.add_parser(
        "rule",
        help="say all about a rule: its sentence, its cases, the model's steps, its faults, its waivers",
        description="Says where each part of a rule is. Exit status: 0, or 2 for a rule that there is not.",
    )
    rule.add_argument("id", metavar="ID", help="such as PUT-17")
    rule.set_defaults(do=lambda it: about(PACKAGE, it.id))
    options = parser.parse_args(arguments)
    try:
        status: int = options.do(options)
        sys.stdout.flush()
        return status
    except Mistake as mistake:
        print(f"python -m conformance: {mistake}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("python -m conformance: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        with contextlib.suppress(OSError):  # what is still buffered goes nowhere, so that the end is silent
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141


def _search(options: argparse.Namespace) -> int:
    try:
        from conformance.search import search  # which takes a while to import
    except ModuleNotFoundError as error:
        raise Mistake(f"search needs {error.name}: pip install --group dev") from None
    it = options
    return search(it.subject, it.subject_python, it.partitioner, it.examples, it.seed)


def _cell(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("cell", metavar="CELL", help="such as PUT-04[xy_to_perm-copy-f32_8x8]@stock-0.10.2-cpu8-shardy")
    _python(parser)


def _python(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--subject-python", default=sys.executable, metavar="PATH", help="the Python that holds the subject"
    )


if __name__ == "__main__":
    sys.exit(main())
