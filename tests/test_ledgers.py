"""The ledgers under version control: of the form, of this suite, and quoted by the pages as they are."""

import re
import subprocess
import sys
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
    text = (ROOT / file).read_text().replace("$(record)", "reports/out/latest.jsonl")
    lines = [line.strip() for line in text.splitlines()]
    runs = [n for n, line in enumerate(lines) if re.search(r"^[^#(]*(\(python\) -m )?pytest conformance", line)]
    assert runs
    for before, _, after in (lines[n - 1 : n + 2] for n in runs):
        assert before == "rm -f reports/out/latest.jsonl", "so that no earlier run's record is checked"
        assert "reports ledger check reports/out/latest.jsonl" in after
    assert all(line[:1] not in "-|" for n in runs for line in lines[n : n + 2])


MADE = {
    "": ["rm -f", "pytest conformance", "reports ledger check"],
    "--collect-only -q": ["rm -f", "pytest conformance"],
    "-k 'x --co'": ["rm -f", "pytest conformance", "reports ledger check"],
}


@pytest.mark.parametrize("arguments", MADE)
def test_what_make_conformance_runs(arguments):
    line = ["make", "--dry-run", "conformance", f"PYTHON={sys.executable}", f"ARGS={arguments}"]
    told = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    found = [word for line in told for word in MADE[""] if word in line]
    assert found == MADE[arguments]


@pytest.mark.parametrize("arguments", ["--record other.jsonl", "-q --record=other.jsonl"])
def test_make_conformance_checks_what_it_records(arguments):
    line = ["make", "--dry-run", "conformance", f"PYTHON={sys.executable}", f"ARGS={arguments}"]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "make records in reports/out/latest.jsonl and checks that" in done.stderr


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
