"""The ledgers under version control: of the form, of this suite, and quoted by the pages as they are."""

from pathlib import Path

import pytest

from reports import ledgers, rules
from reports.__main__ import main
from reports.pages import renewed
from reports.sweep import plan

ROOT = Path(__file__).parents[1]
FILES = sorted(ledgers.FOLDER.glob("*"))
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def test_each_ledger_is_of_the_form_and_of_this_suite():
    """Red when rules or cases have changed since: `make sweep` makes the ledgers again."""
    problems = []
    for path in FILES:
        assert path.suffix == ".toml", path
        problems += ledgers.problems(path, rules.cases(ledgers.read(path).version))
    assert not problems, f"{problems[0]} (and {len(problems) - 1} more): make sweep, or reports ledger write"


def test_each_deviation_is_one_that_a_waiver_of_its_rule_pins():
    known = rules.contract().waivers
    for path in FILES:
        for rule, entry in ledgers.read(path).rule.items():
            for seen in entry.seen:
                assert seen.verdict == "unsupported" or seen.waiver in known, f"{path}: {rule} {seen}"


def test_each_version_of_the_sweep_has_its_ledgers():
    planned = plan()
    there = {
        (it.version, it.partitioner) for it in ledgers.stored() if (it.subject, it.target) == ("stock", planned.target)
    }
    versions = {version for version, _ in there}
    assert not there or versions >= set(planned.versions)
    assert {partitioner for _, partitioner in there} <= {"shardy", "gspmd"}


@pytest.mark.skipif(not FILES, reason="no ledgers yet")
def test_same_sharding_copies_start_to_be_copies_in_0_6_2(capsys):
    assert main(["ledger", "diff", "0.5.3", "0.6.2"]) == 0
    (copies,) = [part for part in capsys.readouterr().out.split("\n\n") if part.startswith("PUT-17 ")]
    starts = copies[copies.index("now holds") :]
    assert 'was deviates, shares = "all"' in starts
    assert "*_to_same-*" in starts


@pytest.mark.parametrize("file", ["Makefile", "tox.ini"])
def test_a_conformance_run_ends_with_the_check(file):
    """After pytest, on a line of its own: both must succeed."""
    lines = [line.strip() for line in (ROOT / file).read_text().splitlines()]
    runs = [n for n, line in enumerate(lines) if "pytest conformance" in line and not line.startswith("#")]
    assert runs
    assert all("reports ledger check reports/out/latest.jsonl" in lines[n + 1] for n in runs)
    assert all(line[:1] not in "-|" for n in runs for line in lines[n : n + 2])


def test_the_pages_quote_the_ledgers_as_they_are():
    stale = [path.name for path in PAGES for before, after in [renewed(path, main)] if before != after]
    assert not stale, f"python -m reports ledger pages {' '.join(stale)}"


def test_the_readme_shows_the_matrix():
    assert "<!-- python -m reports ledger show --named " in PAGES[0].read_text()


def test_the_suite_s_cases_are_at_hand():
    """Without them the tests above would pass over anything."""
    cases = rules.cases("0.12.0.1")
    assert len(cases) > 30
    assert all(cases.values())
    assert set(cases) <= set(rules.contract().rules)
