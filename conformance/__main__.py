"""`python -m conformance run CELL`: one cell in the foreground, without pytest."""

from __future__ import annotations

import argparse
import sys

from conformance.kit.alone import run
from conformance.kit.strict import Mistake


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m conformance", description="Holds a subject to the contract.")
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser(
        "run",
        help="judge one cell on this terminal",
        description="Judges one cell on this terminal, where breakpoints and prints of its probe work. "
        "Exit status: 0 as the contract or a waiver says, 1 otherwise, 2 for a cell that there is not.",
    )
    one.add_argument("cell", metavar="CELL", help="such as PUT-04[xy_to_perm-copy-f32_8x8]@stock-0.10.2-cpu8-shardy")
    one.add_argument(
        "--subject-python", default=sys.executable, metavar="PATH", help="the Python that holds the subject"
    )
    one.add_argument("--subject", help="judge another subject than the cell's name says")
    options = parser.parse_args(arguments)
    try:
        return run("conformance", options.cell, options.subject_python, options.subject)
    except Mistake as mistake:
        print(f"python -m conformance: {mistake}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
