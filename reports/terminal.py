"""The end of a run, in 80 columns, without colour. Every function returns text; "" when it has nothing to say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from reports import counts
from reports.rules import Contract, Rule, title
from reports.run import Run
from reports.text import WIDTH, fields, gist, plain, plural, visible, wrap
from reports.words import PARTS, Configuration, labels

if TYPE_CHECKING:
    import pandas as pd

_MOST = 6
"""Answers to a question, and reasons for cells that did not run, that are told."""
_HEADINGS = {"unsupported": ("un-", "supported"), "unexpected": ("un-", "expected")}
_NARROW = {
    "permitted": ("per-", "mitted"),
    "unsupported": ("unsup-", "ported"),
    "unexpected": ("unex-", "pected"),
}
"""For a table that is too wide with the others."""


def summary(run: Run, contract: Contract | None = None) -> str:
    """Everything that the end of a run says, apart from its unexpected cells (`listed`)."""
    contract = contract or Contract()
    judged = [j.configuration for j in run.configurations]
    parts = (
        verdicts(run.cells, judged, run.observations, run.partial, run.selected),
        notes(run),
        compilations(run.cells, judged),
        known(run.cells, contract.rules),
        questions(run.questions, judged, contract.rules),
        open_changes(contract),
        failures(run),
    )
    return "\n\n".join(part for part in parts if part)


def verdicts(
    cells: pd.DataFrame,
    configurations: Sequence[Configuration],
    observations: int | None = None,
    partial: bool = False,
    selected: bool = False,
) -> str:
    """Chapters, the configurations beneath each, and how many of their cells got each verdict."""
    shared, names = labels(configurations)
    names = {configuration: plain(name, WIDTH - 2) for configuration, name in names.items()}
    chapters = counts.by(cells, "chapter")
    columns = counts.shown([c for chapter in chapters.values() for c in chapter.values()])
    rows: list[tuple[str, Counter[str] | None]] = []
    for chapter, row in chapters.items():
        rows.append((plain(chapter, WIDTH), None))
        rows.extend((name, row[c]) for c, name in names.items() if c in row)
    if len(chapters) > 1:
        rows.append(("all chapters", None))
        for configuration, name in names.items():
            of = [row[configuration] for row in chapters.values() if configuration in row]
            if of:
                rows.append((name, sum(of, Counter())))
    text = _table(rows, columns, _HEADINGS) or _table(rows, columns, _NARROW) or _list(rows, columns)
    told = _total(len(cells), observations, partial, selected)
    return "\n".join([*wrap(visible(shared)), *([""] if shared else []), text, "", told]).strip("\n")


def total(run: Run) -> str:
    """The line beneath the table: ``4 cells from 1 observation.``"""
    return _total(len(run.cells), run.observations, run.partial, run.selected)


def _total(cells: int, observations: int | None, partial: bool, selected: bool) -> str:
    told = plural(cells, "cell")
    told += f" from {plural(observations, 'observation')}" if observations is not None else ""
    told += " of a selection" if selected else ""
    return f"{told}; PARTIAL, the run is not whole." if partial else f"{told}."


def compilations(cells: pd.DataFrame, configurations: Sequence[Configuration]) -> str:
    """What makes a suite slow: the programs that were compiled, and their share of the cells."""
    found = counts.compilations(cells)
    _, names = labels(configurations)
    lines = []
    for configuration in configurations:
        chapters = found.get(configuration, {})
        compiled, size = (sum(it[i] for it in chapters.values()) for i in (0, 1))
        if compiled:
            told = [_share("", compiled, size)] if len(chapters) > 1 else []
            told += [_share(f"{chapter} ", *both) for chapter, both in sorted(chapters.items())]
            lines += wrap(f"{plain(names[configuration], 60)}: {', '.join(told)}", indent=2, hang=2)
    return "\n".join(["Programs compiled, and their share of the cells", *lines]) if lines else ""


def _share(what: str, compiled: int, cells: int) -> str:
    return f"{visible(what, 40)}{compiled:,} ({100 * compiled / cells:.1f} %)"


def known(cells: pd.DataFrame, rules: Mapping[str, Rule] | None = None) -> str:
    """The deviations that waivers cover, summed up by rule."""
    frame = cells[counts.known(cells)]
    note = "  Reasons and links are in conformance/waivers."
    return _by_rule("Known deviations (waived)", [note], frame, rules) if len(frame) else ""


def unexpected(cells: pd.DataFrame, rules: Mapping[str, Rule] | None = None) -> str:
    """The cells that make a run red, summed up by rule."""
    frame = cells[cells["unexpected"]]
    return _by_rule("Unexpected", [], frame, rules) if len(frame) else ""


def _by_rule(what: str, notes: Sequence[str], cells: pd.DataFrame, rules: Mapping[str, Rule] | None) -> str:
    """Cells counted by rule, waiver, verdict and what was mostly observed."""
    frame = cells.astype(object).fillna({"waiver": ""})
    by = frame.groupby(["rule", "level", "waiver", "verdict", "observed"]).size().reset_index(name="n")
    lines = [f"{what}: {plural(len(frame), 'cell')} of {plural(frame['rule'].nunique(), 'rule')}", *notes]
    for (rule, level), group in by.groupby(["rule", "level"]):
        lines += wrap(title(str(rule), str(level), rules), indent=2, hang=2)
        for (waiver, verdict), same in group.groupby(["waiver", "verdict"]):
            gists = Counter[str]()
            for observed, n in zip(same["observed"], same["n"], strict=True):
                gists[gist(observed)] += n
            most, _ = gists.most_common(1)[0]
            more = f" and {plural(len(gists) - 1, 'other')}" if len(gists) > 1 else ""
            named = f" ({visible(str(waiver))})" if waiver else ""
            told = f"{int(same['n'].sum()):>7,} {verdict}: {visible(most, 120)}{more}{named}"
            lines += wrap(told, indent=2, hang=10)
    return "\n".join(lines)


def questions(
    frame: pd.DataFrame, configurations: Sequence[Configuration], rules: Mapping[str, Rule] | None = None
) -> str:
    """What was observed where the contract leaves it open: each answer with its count, per configuration."""
    if frame.empty:
        return ""
    _, names = labels(configurations)
    lines = ["Questions (recorded, never judged)"]
    answers: dict[str, dict[Configuration, Counter[str]]] = {}
    for (question, *parts, observed), n in counts.sizes(frame, ["question", *PARTS, "observed"]):
        answers.setdefault(question, {}).setdefault(Configuration(*parts), Counter())[fields(observed)] += n
    for question, per in answers.items():
        lines += wrap(title(question, "", rules), indent=2, hang=2)
        alike: dict[tuple[tuple[str, int], ...], list[str]] = {}
        for configuration in configurations:
            if configuration in per:
                alike.setdefault(tuple(per[configuration].most_common()), []).append(plain(names[configuration], 60))
        for most, where in alike.items():
            everywhere = len(where) == len(configurations) > 2
            lines += wrap("everywhere" if everywhere else ", ".join(where), indent=4, hang=2)
            lines += [line for answer, n in most[:_MOST] for line in wrap(f"{n:>8,} {visible(answer)}", hang=11)]
            lines += [f"         and {plural(len(most) - _MOST, 'other answer')}"] if len(most) > _MOST else []
    return "\n".join(lines)


def notes(run: Run) -> str:
    """What the reader of the table must know: what is wrong with the file, and with what was to be judged."""
    _, names = labels([j.configuration for j in run.configurations])
    told = [f"PARTIAL: {problem}" if run.partial else problem for problem in run.problems]
    told += [f"judged with {visible(run.flags)} set"] if run.flags else []
    for judged in run.configurations:
        name = plain(names[judged.configuration], 60)
        if judged.problem is not None:
            told.append(f"{name} could not be judged: {visible(judged.problem)}")
        elif run.selected and idle(run.cells, judged.configuration):
            told.append(f"nothing was judged in {name}: all of its cells are unsupported")
        if judged.witness not in (None, judged.configuration.partitioner):
            told.append(f"{name} was lowered by {visible(judged.witness or '')}")
    problems = {judged.problem for judged in run.configurations}
    unrun = Counter(run.cells.loc[run.cells["verdict"] == "not_run", "reason"].dropna().astype(object))
    for reason, n in unrun.most_common(_MOST):
        if reason not in problems:
            told.append(f"{plural(n, 'cell')} not run: {visible(reason)}")
    for away in sorted({judged.out_of_force for judged in run.configurations} - {0}):
        where = ", ".join(plain(names[j.configuration], 60) for j in run.configurations if j.out_of_force == away)
        told.append(f"{plural(away, 'rule')} out of force, so without cells: {where}")
    if run.replaced:
        told.append(f"{plural(run.replaced, 'cell')} judged again later in the run; the later verdict counts")
    return "\n".join(line for text in told for line in wrap(text, hang=2))


def idle(cells: pd.DataFrame, configuration: Configuration) -> bool:
    """Whether a configuration has cells and all of them are unsupported."""
    sizes = counts.sizes(cells, [*PARTS, "verdict"])
    return {verdict for (*parts, verdict), _ in sizes if tuple(parts) == configuration.parts} == {"unsupported"}


def open_changes(contract: Contract) -> str:
    """The JAX changes that the contract knows and no rule judges yet."""
    if not contract.open_changes:
        return ""
    numbers = ", ".join(change.split(" ")[0] for change in contract.open_changes)
    return "\n".join(
        wrap(f"Changes of JAX that no rule judges yet, {len(contract.open_changes)} of them: {numbers}", hang=2)
    )


def failures(run: Run) -> str:
    """The gates that did not hold and the deaths that no cell could be blamed for."""
    told = [wrap(f"GATE {visible(g.gate, 80)}: {visible(g.text)}", hang=2) for g in run.gates]
    for incident in run.incidents:
        told.append(wrap(f"INCIDENT in {visible(incident.configuration.name)}: {visible(incident.text)}", hang=2))
        tail = incident.stderr.splitlines()[-8:]
        told.append([line for text in tail for line in wrap(visible(text), indent=4)])
    return "\n".join(line for lines in told for line in lines)


def listed(cells: pd.DataFrame, rules: Mapping[str, Rule] | None = None) -> str:
    """The cells one by one beneath their rules: name, verdict, expected against observed."""
    lines: list[str] = []
    for (rule, level), group in cells.astype(object).groupby(["rule", "level"]):
        lines += ["", *wrap(title(str(rule), str(level), rules), indent=2, hang=2)]
        cell: Any
        for cell in group.itertuples():
            lines += [f"    {visible(cell.name)}", *_told(cell)]
    return "\n".join(lines[1:])


def _told(cell: Any) -> list[str]:
    verdict = f"{cell.verdict} ({visible(cell.outcome)})" if isinstance(cell.outcome, str) else cell.verdict
    verdict += ", unexpected" if cell.unexpected else ""
    verdict += f", waiver {visible(cell.waiver)}" if isinstance(cell.waiver, str) else ""
    told = [verdict]
    told += [f"expected  {visible(fields(cell.expected))}", f"observed  {visible(fields(cell.observed))}"]
    told += [f"because   {visible(cell.reason)}"] if isinstance(cell.reason, str) else []
    return [line for text in told for line in wrap(text, indent=6, hang=10)]


def _table(
    rows: Sequence[tuple[str, Counter[str] | None]], columns: Sequence[str], headings: Mapping[str, tuple[str, str]]
) -> str:
    """Names to the left, numbers beneath their headings; "" when that is too wide."""
    heads = [headings.get(column, ("", column)) for column in columns]
    numbers = [[f"{found[column]:,}" for column in columns] for _, found in rows if found is not None]
    widths = [max(len(text) for text in column) for column in zip(*numbers, *zip(*heads, strict=True), strict=True)]
    left = max((2 + len(name) for name, found in rows if found is not None), default=0)
    gap = min((WIDTH - left - sum(widths)) // len(widths), 2)
    if gap < 1:
        return ""

    def line(name: str, texts: Iterable[str]) -> str:
        return (name.ljust(left) + "".join(t.rjust(w + gap) for t, w in zip(texts, widths, strict=True))).rstrip()

    filled = iter(numbers)
    body = [name if found is None else line(f"  {name}", next(filled)) for name, found in rows]
    return "\n".join([*(text for text in (line("", h) for h in zip(*heads, strict=True)) if text), *body])


def _list(rows: Sequence[tuple[str, Counter[str] | None]], columns: Sequence[str]) -> str:
    """The same as words, for what no table of this width holds."""
    lines: list[str] = []
    for name, found in rows:
        if found is None:
            lines.append(name)
        else:
            lines.append(f"  {name}")
            lines += wrap(", ".join(f"{column} {found[column]:,}" for column in columns), indent=4)
    return "\n".join(lines)
