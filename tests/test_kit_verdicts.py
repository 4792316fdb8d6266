"""The verdict table: what an observation says about a rule, also when it ended in a crash, a hang or an exception."""

from dataclasses import dataclass

import pytest

from conformance.kit import Case
from conformance.kit.rules import Rule
from conformance.kit.verdicts import judge, same, within
from impl.host import Outcome


@dataclass(frozen=True)
class Point(Case):
    target: str

    @property
    def placed(self):
        return {"mesh": (8,), "spec": self.target}


CASE = Point("x")
ALIVE = {"survives": True}
RAISED = {"class": "ValueError", "message": "no", "at": "put"}


def rule(id="PUT-01", **more):
    given = {"id": id, "text": "t", "why": "w", "change": 1, "since": "0.4.34", "cases": "puts"}
    return Rule(**{**given, **more})


def one(outcome, capabilities=(), **more):
    return judge([(rule(**more), CASE)], outcome, capabilities)["PUT-01"]


def ended(raised=None, **fields):
    return Outcome("ended", fields=fields, raised=raised)


def crashed(late=False, **fields):
    return Outcome("crashed", fields=fields, touch="is_deleted", signal="SIGSEGV", late=late)


WHOLE = {"gone": {"input": "deleted"}, "apart": {"input": "intact", "shares": "none"}}


@pytest.mark.parametrize(
    ("expect", "outcome", "verdict", "observed"),
    [
        ({"a": 1}, ended(a=1, b=2), "conforms", {"a": 1}),
        ({"a": 1}, ended(a=2), "deviates", {"a": 2}),
        ({"a": True}, ended(a=1), "deviates", {"a": 1}),
        ({"a": 1}, ended(b=2), "error", {}),
        ({"a": 1, "b": 2}, ended(a=3), "deviates", {"a": 3}),  # whatever b would have been
        ({"a": 1, "b": 2}, ended(a=1), "error", {"a": 1}),
        ({"a": 1}, ended(RAISED), "deviates", {"raised": RAISED}),
        ({"a": 1, "b": 2}, ended(RAISED, a=1), "deviates", {"a": 1, "raised": RAISED}),
        ({"a": 1}, ended(RAISED, a=1), "deviates", {"a": 1, "raised": RAISED}),  # nobody else would show it
        ({"raised": {"class": "ValueError"}}, ended(RAISED), "conforms", {"raised": RAISED}),
        ({"raised": {"class": "TypeError"}}, ended(RAISED), "deviates", {"raised": RAISED}),
        ({"raised": {"class": "ValueError"}}, ended(), "deviates", {"raised": "nothing"}),
        ({"raised": "nothing"}, ended(), "conforms", {"raised": "nothing"}),
        ({"a": "@placed"}, ended(a={"mesh": [8], "spec": "x"}), "conforms", {"a": {"mesh": [8], "spec": "x"}}),
        ({"a": "@placed"}, ended(a={"mesh": [8], "spec": "x", "more": 1}), "deviates", None),
        (ALIVE, ended(), "conforms", {"survives": True}),
        (ALIVE, crashed(a=1), "crashed", {"signal": "SIGSEGV", "touch": "is_deleted"}),
        (ALIVE, crashed(late=True), "crashed", {"signal": "SIGSEGV", "touch": "is_deleted"}),
        ({"a": 1, **ALIVE}, crashed(a=1), "crashed", {"signal": "SIGSEGV", "touch": "is_deleted", "a": 1}),
        ({"b": 1}, crashed(a=1), "crashed", {"signal": "SIGSEGV", "touch": "is_deleted"}),
        ({"a": 2, "b": 1}, crashed(a=1), "crashed", {"signal": "SIGSEGV", "touch": "is_deleted", "a": 1}),
        ({"a": 1}, Outcome("crashed", exit=3), "crashed", {"exit": 3, "touch": "begin"}),
        ({"a": 1}, Outcome("hung", touch="put"), "hung", {"hung": True, "touch": "put"}),
        (ALIVE, Outcome("hung", touch="put"), "hung", {"hung": True, "touch": "put"}),
        ({"a": 1}, Outcome("error", reason="the probe is wrong"), "error", {}),
        ({"a": 1}, Outcome("not_run", reason="no host"), "not_run", {}),
    ],
)
def test_one_legal_observation(expect, outcome, verdict, observed):
    judged = one(outcome, expect=expect)
    assert judged.verdict == verdict
    assert observed is None or judged.observed == observed


@pytest.mark.parametrize(
    ("outcome", "verdict", "name"),
    [
        (ended(input="deleted"), "permitted", "gone"),
        (ended(input="intact", shares="none"), "permitted", "apart"),
        (ended(input="intact", shares="all"), "deviates", None),
        (ended(input="torn"), "deviates", None),  # whatever it shares
        (ended(input="intact"), "error", None),  # undecided: shares is missing
        (ended(RAISED, input="intact"), "deviates", None),
        (crashed(input="deleted"), "crashed", None),  # nobody else would show the crash
        (crashed(input="intact"), "crashed", None),
    ],
)
def test_several_legal_outcomes(outcome, verdict, name):
    judged = one(outcome, outcomes=WHOLE)
    assert (judged.verdict, judged.outcome) == (verdict, name)
    assert judged.expected == WHOLE


def test_fields_noted_before_a_crash_are_judged_when_another_cell_shows_it():
    rules = [rule("PUT-01", expect={"a": 1}), rule("PUT-02", expect={"a": 2}), rule("PUT-03", expect=ALIVE)]
    judged = judge([(rule, CASE) for rule in rules], crashed(a=1), ())
    assert [judged[rule.id].verdict for rule in rules] == ["conforms", "deviates", "crashed"]
    assert judged["PUT-01"].observed == {"a": 1}


@pytest.mark.parametrize(
    "outcome", [crashed(a=1, b=1), crashed(late=True, a=1, b=1), Outcome("hung", {"a": 1, "b": 1})]
)
def test_no_death_is_invisible(outcome):
    """Where every field had been noted, every cell shows it, apart from those that observe nothing."""
    rules = [
        rule("PUT-01", expect={"a": 1}),
        rule("PUT-02", expect={"b": 2}),
        rule("PUT-03", expect={"c": 1}, needs=("c",)),
    ]
    judged = judge([(rule, CASE) for rule in rules], outcome, ())
    assert [judged[rule.id].verdict for rule in rules] == [outcome.status, outcome.status, "unsupported"]
    assert judged["PUT-01"].observed["a"] == 1


@pytest.mark.parametrize("at", ["put", "settle"])
def test_no_exception_is_invisible(at):
    """Where every field had been noted, every cell that held shows it; a rule about exceptions judges for all."""
    raised = {**RAISED, "at": at}
    held = [rule("PUT-01", expect={"a": 1}), rule("PUT-02", outcomes={"x": {"b": 2}, "y": {"b": 3}})]
    held += [rule("PUT-03", expect=ALIVE), rule("PUT-04", expect={"c": 1}, needs=("c",))]

    def verdicts(*more):
        judged = judge([(it, CASE) for it in (*held, *more)], ended(raised, a=1, b=2), ())
        assert all(it.observed["raised"] == raised for it in judged.values() if it.verdict == "deviates")
        return [it.verdict for it in judged.values()]

    assert verdicts() == ["deviates"] * 3 + ["unsupported"]
    for shows, verdict in (
        ({"end": True}, "deviates"),
        ({"a": 2}, "deviates"),
        ({"raised": "nothing"}, "deviates"),
        ({"raised": {"class": "ValueError"}}, "conforms"),
    ):
        assert verdicts(rule("PUT-05", expect=shows)) == ["conforms", "permitted", "conforms", "unsupported", verdict]


def test_an_exception_before_a_late_crash_is_shown_beside_it():
    rules = [rule("PUT-01", expect={"a": 1}), rule("PUT-02", expect=ALIVE)]
    outcome = Outcome("crashed", {"a": 1}, touch="put", signal="SIGSEGV", late=True, raised=RAISED)
    judged = judge([(it, CASE) for it in rules], outcome, ())
    assert [(it.verdict, it.observed.get("raised")) for it in judged.values()] == [
        ("deviates", RAISED),
        ("crashed", None),
    ]


def test_a_late_crash_says_how_it_was_found():
    assert "found by replay" in str(one(crashed(late=True), expect=ALIVE).reason)


def test_capabilities_decide_before_the_observation():
    judged = one(crashed(), expect={"a": 1}, needs=("executes", "flags"), capabilities=["executes"])
    assert (judged.verdict, judged.reason) == ("unsupported", "not there: flags (the rule)")


@dataclass(frozen=True)
class Pinned(Case):
    needs = ("memory.pinned_host", "flags")


def test_what_is_lacking_and_whose_need_it_is():
    def said(*capabilities):
        both = [(rule(expect={"a": 1}, needs=("flags",)), Pinned()), (rule("PUT-02", expect={"a": 1}), Pinned())]
        return [it.reason for it in judge(both, ended(a=1), capabilities).values()]

    lacking = "not there: flags (the rule), memory.pinned_host (the case)"
    assert said() == [lacking, lacking.replace("the rule", "the case")]
    assert said("flags") == ["not there: memory.pinned_host (the case)"] * 2
    assert said("flags", "memory.pinned_host") == [None, None]


def test_comparing_plain_data():
    assert same({"a": [1, "x"]}, {"a": [1, "x"]})
    assert not same({"a": [True]}, {"a": [1]})
    assert not same([1], [1, 2])
    assert not same({"a": 1}, {"a": 1, "b": 2})
    assert within({"a": {"b": 1}}, {"a": {"b": 1, "c": 2}, "d": 3})
    assert not within({"a": {"b": 2}}, {"a": {"b": 1}})
    assert not within({"d": 3}, {"a": 1})
