"""A run without pytest and without hosts: what is asked of the pool, and what is made of its answers."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from conformance.kit import Case, every, judge, records, run
from conformance.kit.options import Options
from conformance.kit.rules import Chapter, Contract, Rule
from conformance.kit.strict import Mistake
from conformance.kit.waivers import Waivers
from impl.host import Configuration, Hello, Incident, Outcome

CRASH = Outcome("crashed", {"a": 1}, touch="look", signal="SIGSEGV", late=True)


@dataclass(frozen=True)
class Point(Case):
    n: int


@dataclass(frozen=True)
class Needy(Point):
    @property
    def needs(self):
        return ("wings",) if self.n else ()


@dataclass(frozen=True)
class Other(Case):
    n: int
    m: int = 0

    @property
    def id(self):
        return str(self.n)


RULES = {
    rule.id: rule
    for rule in (
        Rule("PUT-01", "t", "w", 1, "0.4", "points", expect={"a": 1}),
        Rule("PUT-02", "t", "w", 1, "0.4", "again", expect={"survives": True}),
        Rule("PUT-03", "t", "w", 1, "0.4", "points", needs=("wings",), expect={"b": 1}),
    )
}
POINTS = judge(probe="put.put", cases=every(Point, n=range(3)))


class Pool:
    """Answers at once."""

    hello = Hello(versions={"jax": "1.0"})

    def __init__(self, **_):
        self.wanted, self.taken, self.blamed, self.unblamed = [], [], [], []

    def start(self, configurations):
        self.configurations = configurations

    def open(self, configuration):
        return self.hello

    def want(self, requests):
        self.wanted += [request.id for request in requests]

    def take(self, request):
        self.taken.append(request)
        return Outcome("ended", {"a": 1})

    def late(self):
        blamed, self.blamed = self.blamed, []
        return blamed

    def incidents(self):
        return self.unblamed

    def counts(self):
        return {"observations": len(self.taken)}

    def close(self):
        pass

    kill = close


@pytest.fixture
def start(monkeypatch, tmp_path):
    """A run of judgements; the pool is at its `_pool` until it finishes."""
    monkeypatch.setattr(run, "Pool", Pool)
    monkeypatch.setattr("conformance.kit.faults.table", lambda package: None)

    def start(pythons=(sys.executable,), subjects=("stock",), **judgements):
        record = tmp_path / "a.jsonl"
        there = tuple(Configuration(it, python, "cpu:8", "shardy") for it in subjects for python in pythons)
        asked = Options(there, (), 60.0, 1, record)
        contract = Contract({"put": Chapter("PUT", "t", tuple(RULES.values()))}, (), RULES)
        it = run.Run(contract, Waivers([]), asked, records.Writer(record))
        cells = [
            cell for name, judgement in judgements.items() for cell in it.add(Path("test_put.py"), name, judgement, {})
        ]
        it.begin(cells, narrowed=False, stops=False)
        return it, {cell.name.partition("@")[0]: cell for cell in cells}

    return start


def lines(it, kind):
    return [line for line in map(json.loads, it.options.record.read_text().splitlines()) if line["kind"] == kind]


def test_judgements_that_observe_the_same_share_it(start):
    it, cells = start(points=POINTS, again=POINTS)
    verdicts = {name: it.judge(cell).ruling.judged.verdict for name, cell in cells.items()}
    assert {verdicts[f"PUT-0{rule}[{n}]"] for rule in (1, 2) for n in range(3)} == {"conforms"}
    assert len(it._pool.taken) == 3


def test_the_same_id_for_another_case_is_a_mistake(start):
    other = judge(probe="put.put", cases=every(Other, n=[0], m=[1]))
    with pytest.raises(Mistake, match=r"Point\(n=0\) and Other\(n=0, m=1\) share the id 0 and the probe put.put"):
        start(points=POINTS, again=other)


def test_nothing_is_asked_for_what_is_not_supported(start):
    it, cells = start(points=POINTS)
    it.want([cells["PUT-03[0]"], cells["PUT-01[1]"]])
    assert it._pool.wanted == ["1"]
    result = it.judge(cells["PUT-03[0]"])
    assert (result.ruling.judged.verdict, result.outcome) == ("unsupported", None)
    assert not it._pool.taken


def test_nothing_is_asked_for_a_case_whose_own_needs_are_not_there(start):
    it, cells = start(points=judge(probe="put.put", cases=every(Needy, n=range(2))))
    it.want(cells.values())
    assert it._pool.wanted == ["0"]
    result = it.judge(cells["PUT-01[1]"])
    assert (result.ruling.judged.verdict, result.outcome) == ("unsupported", None)
    it.judge(cells["PUT-01[0]"])
    assert {name: line["reason"] for line in lines(it, "cell") for name in [line["name"].partition("@")[0]]} == {
        "PUT-01[1]": "not there: wings (the case)",
        "PUT-01[0]": None,
    }


def test_a_limit_goes_with_the_request(start):
    it, cells = start(points=judge(probe="put.put", cases=every(Point, n=[0]), limit=2.5))
    it.judge(cells["PUT-01[0]"])
    assert [request.limit for request in it._pool.taken] == [2.5]


def test_two_limits_for_one_observation_are_a_mistake(start):
    other = judge(probe="put.put", cases=every(Point, n=[0]), limit=2.5)
    with pytest.raises(Mistake, match=r"share the id 0 and the probe put.put, but not the limit"):
        start(points=POINTS, again=other)


def test_late_blame_replaces_what_was_told_and_spares_what_another_cell_shows(start):
    it, cells = start(points=POINTS, again=POINTS)
    for name in ("PUT-01[0]", "PUT-02[0]", "PUT-01[1]"):
        it.judge(cells[name])
    it._pool.blamed = [(cells["PUT-01[0]"].look.request, CRASH), (cells["PUT-01[1]"].look.request, CRASH)]
    it.judge(cells["PUT-02[2]"])
    assert {name.partition("@")[0] for name in it.changed} == {"PUT-02[0]"}
    assert it.judge(cells["PUT-02[1]"]).ruling.judged.verdict == "crashed"  # was not told before
    told = [(line["name"].partition("@")[0], line["verdict"]) for line in lines(it, "cell")]
    assert told == [
        ("PUT-01[0]", "conforms"),
        ("PUT-02[0]", "conforms"),
        ("PUT-01[1]", "conforms"),
        ("PUT-02[2]", "conforms"),
        ("PUT-02[0]", "crashed"),
        ("PUT-02[1]", "crashed"),
    ]


def test_a_late_crash_that_nobody_else_shows_is_shown_by_all(start):
    it, cells = start(points=POINTS)
    it.judge(cells["PUT-01[0]"])
    it._pool.blamed = [(cells["PUT-01[0]"].look.request, CRASH)]
    it.finish(at_once=False)
    assert [result.ruling.judged.verdict for result in it.changed.values()] == ["crashed"]


def test_a_death_without_a_culprit_is_an_incident_and_red(start):
    it, cells = start(points=POINTS)
    for cell in cells.values():
        it.judge(cell)
    request = cells["PUT-01[0]"].look.request
    it._pool.unblamed = [Incident(request.configuration, "a host died", (request,), "its last words")]
    it.finish(at_once=False)
    (incident,) = lines(it, "incident")
    assert incident["cells"] == ["PUT-01[0]@stock-1.0-cpu8-shardy", "PUT-03[0]@stock-1.0-cpu8-shardy"]
    assert lines(it, "footer")[0]["complete"] is True
    it.gates.clear()
    assert it.red


def test_what_is_left_unjudged_makes_the_record_partial_and_the_run_red(start):
    it, cells = start(points=POINTS)
    it.judge(cells["PUT-01[0]"])
    it.finish(at_once=False)
    assert lines(it, "footer")[0]["complete"] is False
    assert it.red


def test_a_host_that_is_lost_on_the_way_is_told(start, monkeypatch):
    monkeypatch.setattr(Pool, "take", lambda self, request: Outcome("not_run", reason="the template died"))
    it, cells = start(points=POINTS)
    assert it.judge(cells["PUT-01[0]"]).ruling.unexpected
    assert it.problems == {"the template died": ""}


def test_hosts_that_cannot_be_ended_in_order_leave_a_gate(start, monkeypatch):
    def close(self):
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(Pool, "close", close)
    it, cells = start(points=POINTS)
    for cell in cells.values():
        it.judge(cell)
    it.gates.clear()
    it.finish(at_once=False)
    assert [gate["gate"] for gate in it.gates] == ["hosts"]
    assert "Too many open files" in lines(it, "gate")[-1]["text"]
    assert lines(it, "footer")


def test_no_room_for_hosts_is_a_mistake(start, monkeypatch):
    def open(self, configuration):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Pool, "open", open)
    with pytest.raises(Mistake, match=r"no host can be started: .*No space left"):
        start(points=POINTS)


def test_an_argument_that_reads_like_a_module_cannot_be_told_apart(start):
    with pytest.raises(Mistake, match=r"--subject my:a and my.a both give the column my.a-1.0-cpu8-shardy: judge them"):
        start(subjects=("my:a", "my.a"), points=POINTS)


def test_two_pythons_of_one_version_cannot_be_told_apart(start):
    with pytest.raises(Mistake, match=r"a and b both give the column stock-1.0-cpu8-shardy: judge them in two runs"):
        start(pythons=("a", "b"), points=POINTS)
