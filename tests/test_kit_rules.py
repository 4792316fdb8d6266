"""The contract as data: what is refused, in one line that names the file and the place, and what is in force."""

from datetime import date
from pathlib import Path

import pytest

from conformance.kit import rules
from conformance.kit.rules import Rule
from conformance.kit.strict import Globs, Mistake

CHANGES = """
[[change]]
number = 681073828
date = 2024-10-01
release = "0.4.34"
subject = "donate and may_alias"
rules = ["PUT-01"]

[[change]]
number = 2
date = 2024-10-02
release = "0.4.35"
subject = "later"
"""
RULE = """
[[rule]]
id = "PUT-01"
text = "A put keeps the value."
why = "Otherwise it is no put."
change = 681073828
since = "0.4.34"
cases = "puts"
when = {flags = ["donate", "move*"], placed = true}
expect = {value = "same"}
"""


@pytest.fixture
def contract(tmp_path):
    def load(text=RULE, changes=CHANGES):
        (tmp_path / "put.toml").write_text(f'chapter = "PUT"\ntitle = "put"\n{text}')
        (tmp_path / "changes.toml").write_text(changes)
        return rules.load(tmp_path)

    return load


def test_a_contract_is_read_whole(contract):
    loaded = contract()
    rule = loaded.rules["PUT-01"]
    assert (rule.level, rule.chapter, rule.fields, rule.until) == ("MUST", "PUT", {"value"}, None)
    assert rule.when == {"flags": Globs(("donate", "move*")), "placed": Globs(("true",))}
    assert loaded.chapters["put"].title == "put"
    assert [change.number for change in loaded.open_changes] == [2]
    assert loaded.changes[0].date == date(2024, 10, 1)


def test_globs_match_ids_and_the_spelling_of_booleans():
    assert Globs(("donate", "mo*")).match("move")
    assert not Globs(("donate", "mo*")).match("donated")
    assert Globs(("true",)).match(True)
    assert not Globs(("true",)).match(1)


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("since =", "sinse =", "rule 1 (PUT-01): unknown key sinse; the keys are id, text"),
        ('why = "Otherwise it is no put."', "", "rule 1 (PUT-01), why: missing"),
        ("change = 681073828", 'change = "681073828"', "rule 1 (PUT-01), change: '681073828' is not of the kind"),
        ("change = 681073828", "change = 3", "PUT-01 names change 3, which changes.toml has not"),
        ('cases = "puts"', 'cases = "puts"\nneeds = "executes"', "rule 1 (PUT-01), needs: 'executes' is not a list"),
        ('cases = "puts"', 'cases = "puts"\nneeds = ["a", 1]', "rule 1 (PUT-01), needs 2: 1 is not of the kind"),
        ('cases = "puts"', 'cases = "puts"\nlevel = "WILL"', "rule 1 (PUT-01): level 'WILL'"),
        ('cases = "puts"', 'cases = "puts"\nlevel = "MAY"', "a MAY rule names its legal outcomes"),
        ('{value = "same"}', "{}", "give either expect or outcomes"),
        ('{value = "same"}', '{value = "same"}\noutcomes = {a = {b = 1}}', "give either expect or outcomes"),
        ('{flags = ["donate", "move*"], placed = true}', "{flags = 3}", "rule 1 (PUT-01), when, flags: 3 is neither"),
        ('{flags = ["donate", "move*"], placed = true}', "5", "rule 1 (PUT-01), when: 5 is not a table"),
        ('expect = {value = "same"}', "outcomes = {a = 5}", "rule 1 (PUT-01), outcomes, a: 5 is not a table"),
        ('"0.4.34"', '"soon"', "'soon' is no version"),
        ('"PUT-01"', '"PUT1"', "'PUT1' is no rule id"),
        ('"PUT-01"', '"ORD-01"', "ORD-01 is not of chapter PUT"),
        ("[[rule]]", "[[rules]]", "unknown key rules; the keys are chapter, title, rule, question, excluded"),
        ("[[rule]]", "[[rule]", "not a TOML file: "),
    ],
)
def test_a_malformed_contract_is_one_line(contract, old, new, complaint):
    assert old in RULE
    with pytest.raises(Mistake) as told:
        contract(RULE.replace(old, new, 1))
    line = str(told.value)
    assert "put.toml: " in line
    assert complaint in line
    assert "\n" not in line


def test_ids_are_not_reused_and_changes_name_known_rules(contract):
    with pytest.raises(Mistake, match="PUT-01 is already in"):
        contract(RULE + RULE)
    with pytest.raises(Mistake, match=r"changes.toml: change 681073828 names PUT-09, in no chapter"):
        contract(changes=CHANGES.replace("PUT-01", "PUT-09"))


def test_a_folder_without_chapters_is_told(tmp_path):
    with pytest.raises(Mistake, match="there is no chapter"):
        rules.load(tmp_path)


def rule(**more):
    given = {"id": "PUT-01", "text": "t", "why": "w", "change": 1, "since": "0.4.34", "cases": "puts"}
    return Rule(**{**given, "expect": {"value": 1}, **more})


@pytest.mark.parametrize(
    ("version", "holds"),
    [
        ("0.4.33", False),
        ("0.4.34", True),
        ("0.4.34.dev20241001", True),  # leads to the release that promises it
        ("0.10.2", True),  # later than 0.4.34, though not as text
        ("0.12.0", False),
        ("0.12.0.1", False),
        ("none", True),  # without a version nothing can be ruled out
    ],
)
def test_rules_are_in_force_by_version(version, holds):
    assert rule(until="0.12").in_force(version) is holds


def test_the_digest_follows_sentence_and_level_only():
    assert rule().digest == "60aceab4" == rule(why="another", since="0.5", expect={"value": 2}).digest
    assert rule().digest != rule(text="T").digest
    assert rule().digest != rule(level="SHOULD").digest


def test_every_change_names_the_rules_that_come_from_it():
    contract = rules.load(Path(rules.__file__).parents[1] / "contract")
    named = {rule: change.number for change in contract.changes for rule in change.rules}
    assert named == {rule.id: rule.change for rule in contract.rules.values()}
