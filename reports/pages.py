"""Pages that quote what `python -m reports ledger` prints: each quotation stands beneath its command.

    <!-- python -m reports ledger table --spans
    To other devices = PUT-11[*_to_other4-*]: deleted
    -->
    ...
    <!-- end -->

Words of the first line are arguments; each further line is one argument, so that rows need no quoting.
"""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from reports.ledgers import LedgerError
from reports.text import visible

PROGRAM = "python -m reports "
QUOTED = ("show", "table", "diff")
"""The commands that a page may quote: they only read."""
_QUOTE = re.compile(r"(<!-- python -m reports (ledger\b.*?)\s*-->\n)(.*?)(<!-- end -->)", re.DOTALL)


def renewed(path: Path, main: Callable[[Sequence[str]], int]) -> tuple[str, str]:
    """The text of a page as it is, and with every quotation made anew by `main`."""
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise LedgerError(f"{path}: cannot be read: {error}") from None
    if text.count(f"<!-- {PROGRAM}ledger") != len(_QUOTE.findall(text)):
        raise LedgerError(f"{path}: a quoted command without its <!-- end -->")

    def quote(found: re.Match[str]) -> str:
        opening, command, _, end = found.groups()
        first, *rest = command.splitlines()
        arguments = [*shlex.split(first), *filter(None, (line.strip() for line in rest))]
        return f"{opening}{_printed(path, arguments, main)}{end}"

    return text, _QUOTE.sub(quote, text)


def _printed(path: Path, arguments: Sequence[str], main: Callable[[Sequence[str]], int]) -> str:
    told = visible(shlex.join(arguments))
    if len(arguments) < 2 or arguments[1] not in QUOTED:
        raise LedgerError(f"{path}: {told}: a page can quote ledger {', '.join(QUOTED)}")
    out, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        status: Any
        try:
            status = main(arguments)
        except SystemExit as usage:  # that of argparse, which ends with what is wrong
            status = usage.code
    if status != 0:
        *_, why = [f"it ends with {status}", *errors.getvalue().splitlines()]
        raise LedgerError(f"{path}: {told}: {visible(why.rpartition(': error: ')[2].removeprefix('reports: '))}")
    if arguments[1] == "table":
        return f"\n{out.getvalue()}\n"
    return f"```\n$ {PROGRAM}{shlex.join(arguments)}\n{out.getvalue()}```\n"
