"""The page: well formed, whole, safe whatever the records hold."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from reports import site
from reports.load import load
from reports.rules import Contract, Rule, Waiver
from tests.reports_records import PLACE, cell, configuration, footer, header, question, whole, write

HOSTILE = "</style></title><script>alert(1)</script><img src=x onerror=alert(1)>\x1b[31m\u202e\x00\ud800\r&amp;\"'"
VOID = {"meta", "br"}


class Page(HTMLParser):
    """Elements with their attributes and text; complains when they do not nest."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self._open: list[str] = []
        self.feed(html)
        self.close()
        assert not self._open

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)
            self.texts.setdefault(tag, []).append("")

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        for tag in set(self._open):
            self.texts[tag][-1] += data

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


def page(path: Path, contract: Contract | None = None) -> Page:
    return Page(site.page(load(path), contract or Contract()))


CELLS = [
    cell("PUT-01", "a"),
    cell("PUT-01", "a", partitioner="gspmd"),
    cell("PUT-01", "b", "crashed", waiver="PUT-01/x", observed={"signal": "SIGSEGV", "touch": "is_deleted"}),
    cell("PUT-02", "c", "deviates", level="SHOULD"),
    cell("ORD-01", "d", "not_run", waiver="ORD-01/x"),
]


def test_the_matrix_has_every_rule_and_count(tmp_path: Path) -> None:
    rules = {"PUT-01": Rule("PUT-01", "Later use never ends the process.", "")}
    made = page(whole(tmp_path / "r", *CELLS), Contract(rules, ("681073828 put flags",)))
    matrix = made.texts["table"][0]
    for text in ("PUT-01 MUST", "PUT-02 SHOULD", "ORD-01", "shardy", "gspmd", "Later use never ends the process."):
        assert text in matrix
    counts = [text for text in made.texts["span"] if re.match(r"\d", text)]
    assert counts.count("1 conforms") == 4, "chapter and rule, in two configurations"
    assert counts.count("1 crashed, waived") == 3, "chapter, rule, and the list of cells"
    assert counts.count("1 deviates, unexpected") == 3
    assert counts.count("1 not_run, waived") == 3, "what was not run stands beside what was"
    assert "no cells" in made.texts["td"]
    assert "681073828 put flags" in made.texts["li"]


def test_deviating_cells_are_listed_unexpected_rules_first(tmp_path: Path) -> None:
    contract = Contract({"PUT-01": Rule("PUT-01", "Later use is safe.", "A crash loses the work.")})
    made = page(whole(tmp_path / "r", *CELLS), contract)
    assert "Later use is safe.A crash loses the work." in made.texts["p"]
    assert [text.split()[0] for text in made.texts["h3"]] == ["PUT-02", "ORD-01", "PUT-01"]
    assert "PUT-01[b]@stock-0.10.2-cpu8-shardy" in made.texts["li"]
    assert "PUT-01[a]@stock-0.10.2-cpu8-shardy" not in made.texts["li"]
    for text in ('signal = "SIGSEGV", touch = "is_deleted"', 'input = "deleted"'):
        assert text in made.texts["code"]
    anchors = {attributes["id"] for attributes in made.all("h3")}
    links = {str(attributes["href"]).removeprefix("#") for attributes in made.all("a")}
    assert links == anchors == {"PUT-01", "PUT-02", "ORD-01"}


def test_why_a_deviation_is_known_is_told_where_the_waivers_are_at_hand(tmp_path: Path) -> None:
    link = "https://example.org/?a=1&b=2"
    waivers = {"PUT-01/x": Waiver("It reads <null>.", link), "ORD-01/x": Waiver("No host.", "none found")}
    html = site.page(load(whole(tmp_path / "r", *CELLS)), Contract(waivers=waivers))
    made = Page(html)
    assert f"waiver PUT-01/x: It reads <null>. (link: {link})" in made.texts["span"]
    assert "waiver ORD-01/x: No host. (link: none found)" in made.texts["span"]
    assert [a["href"] for a in made.all("a") if not str(a["href"]).startswith("#")] == [link]


def test_tables_can_be_read_by_a_screen_reader_and_scrolled_by_key(tmp_path: Path) -> None:
    made = page(write(tmp_path / "r", header(), *CELLS, question(), footer(*CELLS)))
    assert len(made.all("table")) == len(made.all("caption")) == len(made.all("thead"))
    assert all(attributes.get("scope") for attributes in made.all("th"))
    regions = [attributes for attributes in made.all("div") if attributes.get("role") == "region"]
    assert len(regions) == len(made.all("table"))
    assert all(region["tabindex"] == "0" and region["aria-label"] for region in regions)
    assert len(made.all("h1")) == 1
    assert made.all("html")[0]["lang"] == "en"


def test_nothing_is_loaded_and_the_policy_forbids_it(tmp_path: Path) -> None:
    html = site.page(load(whole(tmp_path / "r", *CELLS)), Contract())
    made = Page(html)
    assert not {tag for tag, _ in made.elements} & {"script", "link", "img", "iframe", "object", "form", "base", "svg"}
    assert not re.search(r"https?:|url\(|@import|style=| on[a-z]+=", html)
    (policy,) = (m["content"] for m in made.all("meta") if m.get("http-equiv") == "Content-Security-Policy")
    digest = base64.b64encode(hashlib.sha256(made.texts["style"][0].encode()).digest()).decode()
    assert policy == f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    assert "prefers-color-scheme: dark" in made.texts["style"][0]


@pytest.mark.parametrize(("text", "told"), [("whole", False), ("partial", True), ("selected", True), ("gate", True)])
def test_the_first_thing_said_is_whether_the_counts_can_be_trusted(tmp_path: Path, text: str, told: bool) -> None:
    gate = [{"kind": "gate", "gate": "expired waiver", "text": "x"}] if text == "gate" else []
    end = [] if text == "partial" else [footer(cell())]
    html = site.page(load(write(tmp_path / "r", header(selected=text == "selected"), cell(), *gate, *end)), Contract())
    assert ("The run is whole, and nothing unexpected happened." in html) is not told
    assert ("PARTIAL" in html) is (text == "partial")
    assert ("a selection" in html) is (text == "selected")
    assert ("expired waiver" in html) is (text == "gate")


@pytest.mark.parametrize("verdict", ["conforms", "deviates", "crashed", "not_run"])
def test_no_string_of_a_record_becomes_markup(tmp_path: Path, verdict: str) -> None:
    free = dict.fromkeys(("reason", "outcome", "name", "chapter", "witness", "observation"), HOSTILE)
    place = dict.fromkeys(PLACE, HOSTILE)
    path = write(
        tmp_path / "r",
        header(project=HOSTILE, started=HOSTILE),
        configuration(**place, problem=HOSTILE, witness=HOSTILE, python=HOSTILE),
        cell(HOSTILE, HOSTILE, verdict, observed={HOSTILE: [HOSTILE]}, expected={HOSTILE: HOSTILE}, **free, **place),
        cell(HOSTILE, "w", verdict, observed={HOSTILE: [HOSTILE]}, waiver=HOSTILE, **free, **place),
        question(HOSTILE, question=HOSTILE, **place),
        {"kind": HOSTILE},
        {"kind": "gate", "gate": HOSTILE, "text": HOSTILE},
        {"kind": "incident", **place, "text": HOSTILE, "stderr": f"{HOSTILE}\n{HOSTILE}"},
    )
    contract = Contract({HOSTILE: Rule(HOSTILE, HOSTILE, HOSTILE)}, (HOSTILE,))
    html = site.page(load(path), contract)
    html.encode()
    plain, hostile = page(write(tmp_path / "p", header(), *CELLS, question())), Page(html)
    known = {tag for tag, _ in plain.elements} | {"pre", "strong", "h2", "h3"}
    assert {tag for tag, _ in hostile.elements} <= known
    assert not [a for _, attributes in hostile.elements for a in attributes if a.startswith("on") or a == "src"]
    assert html.replace("\n", "").isprintable(), "no control character, no direction mark"
    assert len(hostile.texts["style"]) == len(hostile.texts["title"]) == 1
    assert "alert(1)" in "".join(hostile.texts["body"])


def test_many_cells_are_cut_and_the_cut_is_said(tmp_path: Path) -> None:
    same = [cell("PUT-01", f"s{n}", "deviates") for n in range(site.MOST_CELLS + 5)]
    other = [cell("PUT-02", f"o{n}", "deviates", observed={"x": n}) for n in range(site.MOST_KINDS + 7)]
    made = page(whole(tmp_path / "r", *same, *other))
    assert "and 5 more" in made.texts["li"]
    assert "and 7 more kinds" in made.texts["p"]
    assert len([text for text in made.texts["li"] if text.startswith("PUT-01[")]) == site.MOST_CELLS


def test_writing_makes_the_folder_and_replaces_the_page_whole(tmp_path: Path) -> None:
    run = load(whole(tmp_path / "r", cell()))
    first = site.write(run, Contract(), tmp_path / "a" / "b")
    before = first.stat().st_ino
    written = site.write(run, Contract(), tmp_path / "a" / "b")
    assert written.stat().st_ino != before, "a reader of the old page never sees half of the new one"
    assert written == tmp_path / "a" / "b" / "index.html"
    assert [path.name for path in written.parent.iterdir()] == ["index.html"]
    assert written.read_text("utf-8").startswith("<!doctype html>\n<html lang=")
