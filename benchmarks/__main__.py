"""`python -m benchmarks run`: asv on this working tree and a Python that exists, and a count of what came of it."""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from .results import figures

ROOT = Path(__file__).parents[1]


def run(python: str, more: Sequence[str], asv: Sequence[str] = (sys.executable, "-m", "asv"), root: Path = ROOT) -> int:
    """Runs asv and says what it measured: 0 only if that is something, and nothing failed."""
    if not Path("~/.asv-machine.json").expanduser().exists():
        subprocess.run([*asv, "machine", "--yes"], cwd=root, stdout=subprocess.DEVNULL, check=False)
    began = time.time()
    command = [*asv, "run", "--show-stderr", "-E", f"existing:{python}", "--set-commit-hash", "HEAD", *more]
    status = subprocess.run(command, cwd=root, check=False).returncode
    found = figures(root / ".asv" / "results", began)
    measured = sum(figure.measured for figure in found)
    failed = [figure.name for figure in found if figure.value is None]
    for name in failed:
        print(f"failed: {name}")
    left = len(found) - measured - len(failed)
    print(f"{measured} measured, {len(failed)} failed" + (f", {left} not run" if left else ""))
    if not found:
        print(f"nothing was measured: asv ended with status {status} and says above why")
    return 0 if measured and not failed else 1


def lacks(python: str) -> str | None:
    """Why a Python cannot run the suites, in one line."""
    if shutil.which(python) is None:
        return f"--python {python}: there is no such program; give the path of an environment's python"
    code = "import asv_runner, jax"
    check = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False)
    if check.returncode == 0:
        return None
    last = check.stderr.strip().rpartition("\n")[2]
    return f"--python {python}: {last}; install jax and asv_runner there"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    commands = parser.add_subparsers(required=True)
    options = commands.add_parser("run", help="measure, count the results", description="Other options go to asv run.")
    options.add_argument("--python", default=sys.executable, help="a Python that has jax and asv_runner")
    chosen, more = parser.parse_known_args(arguments)
    problem = lacks(chosen.python)
    if problem:
        print(problem, file=sys.stderr)
        return 2
    return run(chosen.python, more)


if __name__ == "__main__":
    sys.exit(main())
