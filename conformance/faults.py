"""`python -m conformance faults`: the kill matrix, fault by fault, and a list of the faults."""

from __future__ import annotations

import sys
import textwrap
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from difflib import get_close_matches

from .kit.faults import Fault, table
from .kit.kills import Found, Matrix
from .kit.strict import Mistake

WIDTH = 80


def faults(package: str, names: Sequence[str], whole: bool) -> int:
    """Judges these faults, or all, and prints what came of each; 1 unless all is as they say."""
    chosen = choose(package, names)
    started = time.monotonic()
    _say(f"{len(chosen)} {'fault' if len(chosen) == 1 else 'faults'}: observing the model first")
    with closing(Matrix(package, chosen, whole)) as matrix:
        _say(f"{len(matrix.sights):,} observations of the model in {time.monotonic() - started:.0f} s")
        results = {}
        for number, found in enumerate(matrix.run(), 1):
            results[found.fault.name] = found
            how = "NOT as it says" if found.wrong else "found out"
            _say(f"[{number}/{len(chosen)}] {found.fault.name}: {how}, {found.observed:,} observations")
        for name, problems in matrix.late().items():
            if name in results:
                results[name].problems += problems
        broken = matrix.broken
    for found in results.values():
        print("\n".join(_told(found)))
    wrong = [name for name, found in results.items() if found.wrong]
    print()
    if broken:
        print("\n".join(_wrap(f"THE MODEL deviates in {len(broken):,} of its cells, such as {broken[0]}")))
    cells = sum(len(names) for found in results.values() for names in found.cells.values())
    said = f"{len(results) - len(wrong)} of {len(results)} faults are as they say"
    more = f"; NOT as they say: {', '.join(wrong)}" if wrong else ""
    print("\n".join(_wrap(f"{said}, in {cells:,} cells and {time.monotonic() - started:.0f} s{more}.")))
    return 1 if wrong or broken else 0


def listed(package: str, names: Sequence[str]) -> int:
    """Prints what each fault does and which rules it names."""
    for fault in choose(package, names):
        also = f", also {' '.join(fault.also)}" if fault.also else ""
        print("\n".join([*_wrap(f"{fault.name}: {' '.join(fault.breaks)}{also}"), *_wrap(fault.why, 4)]))
    return 0


def choose(package: str, names: Sequence[str]) -> list[Fault]:
    """The faults of these names, or all; a `Mistake` where there is none such."""
    there: Mapping[str, Fault] = table(package) or {}
    for name in names:
        if name not in there:
            near = ", ".join(get_close_matches(name, there, 3, 0.5)) or "none"
            raise Mistake(f"there is no fault {name or repr(name)}; near it: {near}; --list lists them all")
    if not there:
        raise Mistake(f"{package} has no faults")
    return [there[name] for name in dict.fromkeys(names)] or [*there.values()]


def _told(found: Found) -> list[str]:
    """A fault with a row for each rule that does not hold: how many cells, and the first."""
    lines = [found.fault.name]
    for rule in sorted(found.cells, key=lambda it: (it not in found.fault.breaks, it not in found.fault.also, it)):
        how = "by" if rule in found.fault.breaks else "also" if rule in found.fault.also else "SURPRISE"
        first, *_ = cells = found.cells[rule]
        case = first.partition("[")[2].partition("]")[0]
        lines.append(f"  {how:<9}{rule:<8}{len(cells):>6,}  {case}")
    return lines + [line for it in found.wrong for line in _wrap(f"NOT AS IT SAYS: {it}", 2)]


def _wrap(text: str, indent: int = 0) -> list[str]:
    first, rest = " " * indent, " " * (indent + 2)
    return textwrap.wrap(
        text, WIDTH, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False, break_long_words=False
    )


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
