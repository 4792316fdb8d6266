"""One static page with the matrix. It opens from disk: no script, no network, nothing beside it."""

from __future__ import annotations

import base64
import hashlib
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reports import counts
from reports.markup import Markup, element, join, lines
from reports.rules import Contract, Rule, Waiver
from reports.run import Run
from reports.text import fields, plural
from reports.words import HELD, PARTS, RED_UNLESS_WAIVED, VERDICTS, Configuration, labels

if TYPE_CHECKING:
    import pandas as pd

MOST_KINDS = 60
"""Kinds of deviation shown of a rule."""
MOST_CELLS = 200
"""Cells named of a kind."""


def write(run: Run, contract: Contract, folder: Path) -> Path:
    """Write ``index.html`` into `folder`, whole or not at all; its path."""
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / "index.html"
    draft = folder / f".index.html.{os.getpid()}"
    try:
        draft.write_text(page(run, contract), encoding="utf-8")
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)
    return target


def page(run: Run, contract: Contract) -> str:
    """The page."""
    style = Markup(files("reports").joinpath("style.css").read_text(encoding="utf-8"))
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    configurations = [judged.configuration for judged in run.configurations]
    shared, names = labels(configurations)
    what = f"{shared} " if shared else ""
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", f"{what}conformance"),
        element("style", style),
    )
    body = element(
        "body",
        element("header", element("h1", f"{what}conformance"), _facts(run), _state(run)),
        element(
            "main",
            *_failures(run),
            _matrix(run, contract.rules, names),
            _deviations(run, contract),
            _questions(run, contract.rules, names),
            _open(contract),
        ),
    )
    return f"<!doctype html>\n{element('html', head, body, lang='en')}\n"


def _facts(run: Run) -> Markup:
    header = run.headers[0] if run.headers else None
    facts = [plural(len(run.cells), "cell")]
    facts[0] += f" from {plural(run.observations, 'observation')}" if run.observations is not None else ""
    if header:
        facts += [f"started {header.started}"] if header.started else []
        facts += [f"project {header.project}"] if header.project else []
    return element("p", "; ".join(facts), class_="soft")


def _state(run: Run) -> Markup:
    """What the reader must know before reading a count."""
    unexpected = int(run.cells["unexpected"].sum())
    told = [f"{plural(unexpected, 'unexpected cell')}."] if unexpected else []
    told += ["This run is PARTIAL: what it does not show was not observed."] if run.partial else []
    told += ["This run is a selection: only some cells were asked for."] if run.selected else []
    told += run.problems
    for judged in run.configurations:
        told += [f"{judged.configuration.name} could not be judged: {judged.problem}"] if judged.problem else []
    if told or run.gates or run.incidents:
        told += [plural(len(run.gates), "gate") + " did not hold."] if run.gates else []
        told += [plural(len(run.incidents), "death") + " without a cell to blame."] if run.incidents else []
        return element("div", *(element("p", text) for text in told), class_="alarm")
    return element("p", "The run is whole, and nothing unexpected happened.", class_="calm")


def _failures(run: Run) -> Iterator[Markup]:
    if run.gates or run.incidents:
        yield element("h2", "Gates and incidents")
    if run.gates:
        yield element("ul", *(element("li", element("strong", gate.gate), f": {gate.text}") for gate in run.gates))
    for incident in run.incidents:
        yield element("p", element("strong", incident.configuration.name), f": {incident.text}")
        if incident.stderr:
            yield element("pre", lines(incident.stderr.splitlines()[-40:]))


def _matrix(run: Run, rules: Mapping[str, Rule], names: Mapping[Configuration, str]) -> Markup:
    """Chapters and their rules, one column per configuration."""
    chapters, by_rule = counts.by(run.cells, "chapter"), counts.by(run.cells, "rule")
    about = run.cells[["chapter", "rule", "level"]].astype(object).drop_duplicates("rule").sort_values("rule")
    deviating = set(run.cells.loc[_shown(run.cells), "rule"].unique())
    bodies = []
    for chapter, row in chapters.items():
        rows = [_row(element("th", chapter, scope="rowgroup"), row, names, class_="chapter")]
        for rule, level in about.loc[about["chapter"] == chapter, ["rule", "level"]].itertuples(index=False, name=None):
            title = element("a", rule, href=f"#{_anchor(rule)}") if rule in deviating else rule
            head = element(
                "th", title, " ", element("span", level, class_="level"), _sentence(rule, rules), scope="row"
            )
            rows.append(_row(head, by_rule[rule], names))
        bodies.append(element("tbody", rows))
    columns = [_column(name) for name in names.values()]
    top = element("thead", element("tr", element("th", "Chapter and rule", scope="col"), *columns))
    table = element("table", element("caption", "Cells by verdict"), top, *bodies, class_="matrix")
    legend = element("p", "Waived: a known deviation, seen again exactly as it is recorded.", class_="soft")
    return join([element("h2", "Matrix"), legend, _scroll("Matrix", table)])


def _sentence(rule: str, rules: Mapping[str, Rule]) -> str:
    return element("span", rules[rule].text, class_="sentence") if rule in rules else ""


def _column(name: str) -> Markup:
    return element("th", lines(name.split(" ")), scope="col")


def _row(
    head: Markup, row: Mapping[Configuration, Counter[str]], names: Iterable[Configuration], class_: str = ""
) -> Markup:
    return element("tr", head, *(element("td", _counts(row.get(c))) for c in names), class_=class_ or False)


def _counts(found: Counter[str] | None) -> Markup:
    """The counts of one field of the matrix, one a line, those not judged beside those that hold."""
    if found is None:
        return element("span", "no cells", class_="open")
    told = []
    for verdict in VERDICTS:
        tone = "good" if verdict in HELD else "open"
        waived, unexpected = (found[f"{verdict}, {what}"] for what in (counts.WAIVED, counts.UNEXPECTED))
        for number, text, class_ in (
            (found[verdict] - waived - unexpected, verdict, tone),
            (waived, f"{verdict}, waived", "known"),
            (unexpected, f"{verdict}, unexpected", "bad"),
        ):
            if number:
                told.append(element("span", f"{number:,} {text}", class_=class_))
    return lines(told)


def _shown(cells: pd.DataFrame) -> pd.Series[bool]:
    return cells["verdict"].isin(RED_UNLESS_WAIVED) | cells["unexpected"]


def _deviations(run: Run, contract: Contract) -> Markup:
    """Each rule's kinds of deviation: verdict and waiver, expected against observed, and which cells."""
    cells = run.cells[_shown(run.cells)].astype(object)
    parts: list[str] = [element("h2", "Cells that do not hold")]
    if cells.empty:
        return join([*parts, element("p", "None.")])
    how = element("code", "python -m conformance run 'CELL'")
    parts.append(element("p", "Unexpected ones first. Run one by its name, in the foreground: ", how))
    kinds = ["unexpected", "verdict", "waiver", "expected", "observed", "reason"]
    by_rule: list[tuple[Any, pd.DataFrame]] = list(cells.groupby(["rule", "level"]))
    for (rule, level), of_rule in sorted(by_rule, key=lambda group: not group[1]["unexpected"].any()):
        groups: list[tuple[Any, pd.DataFrame]] = list(of_rule.groupby(kinds, dropna=False, sort=False))
        groups.sort(key=lambda group: (not group[0][0], -len(group[1])))
        heading = element("h3", str(rule), " ", element("span", str(level), class_="level"), id=_anchor(str(rule)))
        parts.append(heading)
        if known := contract.rules.get(str(rule)):
            parts.append(element("p", known.text, element("br"), element("span", known.why, class_="soft")))
        rows = [_kind(contract.waivers, group["name"].tolist(), *key) for key, group in groups[:MOST_KINDS]]
        heads = (element("th", text, scope="col") for text in ("Verdict and cells", "Expected", "Observed"))
        caption = element("caption", f"{rule}: {plural(len(of_rule), 'cell')}, {plural(len(groups), 'kind')}")
        table = element(
            "table", caption, element("thead", element("tr", *heads)), element("tbody", rows), class_="kinds"
        )
        parts.append(_scroll(f"Cells of {rule}", table))
        if len(groups) > MOST_KINDS:
            parts.append(element("p", f"and {len(groups) - MOST_KINDS:,} more kinds"))
    return join(parts)


def _kind(
    waivers: Mapping[str, Waiver],
    names: Sequence[str],
    unexpected: bool,
    verdict: str,
    waiver: object,
    expected: str,
    observed: str,
    reason: object,
) -> Markup:
    told = f"{len(names):,} {verdict}" + (", unexpected" if unexpected else ", waived")
    more = [element("li", f"and {len(names) - MOST_CELLS:,} more")] if len(names) > MOST_CELLS else []
    cells = element("ul", *(element("li", name) for name in names[:MOST_CELLS]), *more, class_="cells")
    return element(
        "tr",
        element(
            "td",
            element("span", told, class_="bad" if unexpected else "known"),
            [element("br"), element("span", _why(waivers, waiver), class_="soft")] if isinstance(waiver, str) else "",
            [element("br"), element("span", reason, class_="soft")] if isinstance(reason, str) else "",
            element("details", element("summary", plural(len(names), "cell")), cells),
        ),
        element("td", element("code", fields(expected))),
        element("td", element("code", fields(observed))),
    )


def _why(waivers: Mapping[str, Waiver], id: str) -> Markup:
    """A waiver, with its reason and link where they are at hand."""
    known = waivers.get(id)
    if known is None:
        return join([f"waiver {id}"])
    linked = known.link.startswith(("https://", "http://"))
    link = element("a", known.link, href=known.link) if linked else known.link
    return join([f"waiver {id}: {known.reason} (link: ", link, ")"])


def _questions(run: Run, rules: Mapping[str, Rule], names: Mapping[Configuration, str]) -> Markup:
    """What was observed where the contract leaves it open."""
    if run.questions.empty:
        return join([])
    answers: dict[tuple[str, str], Counter[Configuration]] = {}
    for (question, observed, *parts), size in counts.sizes(run.questions, ["question", "observed", *PARTS]):
        answers.setdefault((question, observed), Counter())[Configuration(*parts)] += size
    rows = [
        element(
            "tr",
            element("th", question, _sentence(question, rules), scope="row"),
            element("td", element("code", fields(observed))),
            *(element("td", f"{found[c]:,}") for c in names),
        )
        for (question, observed), found in answers.items()
    ]
    heads = [element("th", text, scope="col") for text in ("Question", "Observed")]
    top = element("thead", element("tr", *heads, *map(_column, names.values())))
    caption = element("caption", "Recorded, never judged: cells by what was observed.")
    table = element("table", caption, top, element("tbody", rows), class_="matrix")
    return join([element("h2", "Questions"), _scroll("Questions", table)])


def _open(contract: Contract) -> Markup:
    if not contract.open_changes:
        return join([])
    return join(
        [
            element("h2", "Open changes"),
            element("p", "JAX changes that no rule judges yet."),
            element("ul", *(element("li", change) for change in contract.open_changes)),
        ]
    )


def _scroll(label: str, table: Markup) -> Markup:
    return element("div", table, class_="scroll", tabindex="0", role="region", aria_label=label)


def _anchor(rule: str) -> str:
    """A name for a place on the page; a rule's ID as it is, whatever else as a digest."""
    return (
        rule
        if re.fullmatch(r"[A-Za-z0-9-]+", rule)
        else hashlib.sha256(rule.encode("utf-8", "replace")).hexdigest()[:16]
    )
