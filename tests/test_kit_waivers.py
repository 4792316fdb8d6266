"""Waivers: strictly loaded, pinned to the observation, tied to versions, and red as soon as they no longer hold."""

from datetime import date

import pytest

from conformance.kit import waivers
from conformance.kit.columns import Column
from conformance.kit.rules import Contract, Rule
from conformance.kit.strict import Globs, Mistake
from conformance.kit.verdicts import Judged
from conformance.kit.waivers import Waiver, Waivers, When
from impl.host import Configuration, Hello

CRASH = {"signal": "SIGSEGV", "touch": "is_deleted"}
TEXT = """
[[waiver]]
id = "PUT-09/other-devices"
rule = "PUT-09"
cases = "*_to_other4-donate-*"
when = {subject = "stock", versions = ">=0.4.38,<0.12", targets = "cpu:*", partitioners = "*"}
observed = {signal = "SIGSEGV", touch = "is_deleted"}
reason = "The input points at freed memory."
link = "none found"
expires = 2027-06-01
"""


def rule(**more):
    return Rule("PUT-09", "t", "w", 1, "0.4.34", "puts", **(more or {"expect": {"survives": True}}))


WIDE = rule(expect={"a": 1, "b": 2})
EITHER = rule(outcomes={"gone": {"input": "deleted"}, "apart": {"input": "intact", "shares": "none"}})


def column(version="0.10.2", subject="stock", target="cpu:8", partitioner="shardy"):
    return Column(Configuration(subject, "python", target, partitioner), Hello(versions={"jax": version}))


def waiver(observed=None, **more):
    given = {
        "id": "PUT-09/it",
        "rule": "PUT-09",
        "cases": Globs(("a*",)),
        "when": When(Globs(("stock",)), ">=0.4.38,<0.12", Globs(("cpu:*",)), Globs(("*",))),
        "observed": observed or CRASH,
        "reason": "r",
        "link": "none found",
        "expires": date(2999, 1, 1),
    }
    return Waiver(**{**given, **more})


def judged(verdict, **observed):
    return Judged(verdict, {}, observed)


def ruling(verdict_, the_waiver, the_rule=None, case="a1", at=None, **observed):
    return Waivers([the_waiver]).rule(the_rule or rule(), case, at or column(), judged(verdict_, **observed))


@pytest.fixture
def load(tmp_path):
    def load(text=TEXT, the_rule=None):
        (tmp_path / "put.toml").write_text(text)
        return waivers.load(tmp_path, Contract({}, (), {"PUT-09": the_rule or rule()}))

    return load


def test_a_waiver_is_read_whole(load):
    (it,) = load().all
    assert it.pins == [CRASH]
    assert it.cases.match("xy_to_other4-donate-f32")
    assert it.expires == date(2027, 6, 1)


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ('rule = "PUT-09"', 'rule = "PUT-10"', "names rule PUT-10, which the contract has not"),
        ('link = "none found"', "", "link: missing"),
        ('"none found"', '"somewhere"', "link 'somewhere'; give the URL"),
        ("2027-06-01", '"2027-06-01"', "expires: '2027-06-01' is not of the kind expected here (a date"),
        (">=0.4.38,<0.12", "0.4.38 up", "versions '0.4.38 up'; write specifiers"),
        ('targets = "cpu:*", ', "", "when, targets: missing"),
        ('partitioners = "*"', 'partitioners = ["*", "shardi"]', "partitioners 'shardi': there is none such"),
        ('targets = "cpu:*"', 'targets = "cpu8"', "targets 'cpu8': there is none such; one is cpu:1"),
        (TEXT, "waiver = [1, 2]", "waiver 1: 1 is not a table"),
        ("[[waiver]]", f"deep = {'[' * 2000}{']' * 2000}\n[[waiver]]", "nested too deeply"),
        ('{signal = "SIGSEGV", touch = "is_deleted"}', "[]", "observed is a table of what is seen"),
        (', touch = "is_deleted"', "", "pins a death without its point of touch"),
        ('signal = "SIGSEGV", ', "", "pins a point of touch without how the process ended"),
        ('{signal = "SIGSEGV", touch = "is_deleted"}', '{raised = {class = "E"}}', "pins an exception without its at"),
        (', touch = "is_deleted"', ', touch = "x", raised = {}', "pins an exception without its at and class"),
        ('{signal = "SIGSEGV", touch = "is_deleted"}', "{input = 1}", "does not pin survives, which PUT-09 judges"),
        (', touch = "is_deleted"', ', touch = "x", value = 1', "pins value, which PUT-09 does not judge"),
        ("[[waiver]]", "[[wavier]]", "unknown key wavier"),
    ],
)
def test_a_malformed_waiver_is_one_line(load, old, new, complaint):
    assert old in TEXT
    with pytest.raises(Mistake) as told:
        load(TEXT.replace(old, new))
    line = str(told.value)
    assert "put.toml: " in line
    assert complaint in line
    assert "\n" not in line


def test_ids_are_unique(load):
    with pytest.raises(Mistake, match="is already in"):
        load(TEXT + TEXT)


@pytest.mark.parametrize(
    ("the_rule", "observed", "held"),
    [
        (WIDE, "{a = 2}", False),
        (WIDE, "{a = 2, b = 2}", True),
        (WIDE, "[{a = 2, b = 2}, {a = 3}]", False),
        (EITHER, '{input = "torn"}', True),
        (EITHER, '{shares = "all"}', False),
        (EITHER, '{raised = {class = "E", at = "put"}}', True),
    ],
)
def test_a_pin_covers_what_its_rule_judges(load, the_rule, observed, held):
    text = TEXT.replace('{signal = "SIGSEGV", touch = "is_deleted"}', observed)
    if held:
        assert load(text, the_rule).all
    else:
        with pytest.raises(Mistake, match="which PUT-09 judges; add it"):
            load(text, the_rule)


def test_a_pinned_deviation_is_waived_and_anything_else_is_not():
    pinned = waiver()
    assert ruling("crashed", pinned, **CRASH, value="same").waiver is pinned
    assert not ruling("crashed", pinned, **CRASH, value="same").unexpected
    elsewhere = ruling("crashed", pinned, signal="SIGSEGV", touch="repr")
    assert (elsewhere.unexpected, elsewhere.reason) == (True, "waiver PUT-09/it pins another observation")
    healed = ruling("conforms", pinned, survives=True)
    assert healed.unexpected
    assert "no longer applies" in str(healed.reason)
    assert ruling("permitted", pinned).unexpected


def test_errors_and_missing_hosts_are_never_waived_and_unsupported_says_nothing():
    for verdict in ("error", "not_run"):
        assert (ruling(verdict, waiver()).unexpected, ruling(verdict, waiver()).waiver) == (True, None)
    assert not ruling("unsupported", waiver()).unexpected


def test_any_of_several_pins_may_hold():
    varies = waiver([{"a": 2, "b": 2}, {"a": 3, "b": 2}])
    assert not ruling("deviates", varies, WIDE, a=3, b=2).unexpected
    assert ruling("deviates", varies, WIDE, a=4, b=2).unexpected


def test_a_pin_is_about_every_field_that_was_seen():
    torn = waiver({"input": "torn"})
    assert not ruling("deviates", torn, EITHER, input="torn").unexpected
    assert ruling("deviates", torn, EITHER, input="torn", shares="all").unexpected


def test_an_exception_is_pinned_by_class_and_step_whatever_it_says():
    pinned = waiver({"raised": {"class": "ValueError", "at": "put"}})
    told = {"class": "ValueError", "at": "put", "message": "device 3"}
    assert not ruling("deviates", pinned, WIDE, a=1, raised=told).unexpected
    assert ruling("deviates", pinned, WIDE, raised={**told, "at": "jit"}).unexpected


@pytest.mark.parametrize("pin", [{}, {"type": "S"}, {"type": "S", "devices": [0], "more": 1}])
def test_a_pin_says_all_of_a_field(pin):
    placed = {"type": "S", "devices": [0]}
    sharded = rule(expect={"sharding": "@placed"})
    assert ruling("deviates", waiver({"sharding": pin}), sharded, sharding=placed).unexpected
    assert not ruling("deviates", waiver({"sharding": placed}), sharded, sharding=placed).unexpected


@pytest.mark.parametrize("cut", [{"raised": {"class": "E", "at": "put"}}, {**CRASH}, {"hung": True, "touch": "put"}])
def test_a_pin_of_fields_waives_no_probe_that_was_cut_short(cut):
    assert not ruling("deviates", waiver({"a": 2, "b": 2}), WIDE, a=2, b=2).unexpected
    assert ruling("deviates", waiver({"a": 2, "b": 2}), WIDE, a=2, b=2, **cut).unexpected


def test_a_pin_of_a_crash_waives_no_exception_before_it():
    raised = {"class": "E", "message": "no", "at": "put"}
    assert ruling("crashed", waiver(), **CRASH, raised=raised).unexpected
    assert not ruling("crashed", waiver({**CRASH, "raised": raised}), **CRASH, raised=raised).unexpected
    about = rule(expect={"raised": "nothing", "survives": True})
    assert not ruling("crashed", waiver(), about, **CRASH, raised="nothing").unexpected


def test_a_rule_about_exceptions_has_its_other_fields_pinned_too():
    about, raised = rule(expect={"raised": {"class": "V"}, "a": 1}), {"class": "W", "at": "put"}
    assert ruling("deviates", waiver({"raised": raised}), about, raised=raised, a=2).unexpected
    assert not ruling("deviates", waiver({"raised": raised, "a": 2}), about, raised=raised, a=2).unexpected


@pytest.mark.parametrize(
    ("case", "at", "speaks"),
    [
        ("a1", column(), True),
        ("b1", column(), False),
        ("a1", column("0.4.35"), False),
        ("a1", column("0.12.0.1"), False),
        ("a1", column("0.11.3.dev20260801"), True),
        ("a1", column("none"), False),
        ("a1", column(subject="model"), False),
        ("a1", column(target="gpu:8"), False),
    ],
)
def test_a_waiver_speaks_of_its_cells_only(case, at, speaks):
    assert ruling("crashed", waiver(), case=case, at=at, **CRASH).unexpected is not speaks


def test_it_speaks_of_one_partitioner_if_it_says_so():
    one = waiver(when=When(Globs(("stock",)), ">=0.4", Globs(("*",)), Globs(("gspmd",))))
    assert ruling("crashed", one, **CRASH).unexpected
    assert not ruling("crashed", one, at=column(partitioner="gspmd"), **CRASH).unexpected


def test_an_expired_waiver_waives_nothing():
    kept = Waivers([waiver(expires=date(2027, 6, 1))], today=date(2027, 6, 1))
    gone = Waivers([waiver(expires=date(2027, 6, 1))], today=date(2027, 6, 2))
    assert not kept.rule(rule(), "a1", column(), judged("crashed", **CRASH)).unexpected
    assert gone.rule(rule(), "a1", column(), judged("crashed", **CRASH)).unexpected
    assert [it.id for it in gone.expired] == ["PUT-09/it"]
