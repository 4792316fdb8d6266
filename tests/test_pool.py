"""The pool on a subject without JAX: what it makes of processes that behave and of processes at their worst."""

import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from impl.host import Configuration, Outcome, Pool, Request, foreground
from impl.host.launch import Forking

ROOT = Path(__file__).parents[1]
TOY = Configuration("tests.toys", sys.executable, "toy:8", "shardy")
PROBES = "tests.toys.probes"


def ask(probe, id="", **case):
    return Request(TOY, f"toy.{probe}", f"{probe}{id}", case)


@pytest.fixture(params=[True, False], ids=["fork", "spawn"])
def fork(request):
    return request.param


@pytest.fixture
def pool(fork):
    pool = Pool(probes=PROBES, cell_timeout=1.0, fork=fork)
    yield pool
    pool.kill()


def run(pool, *requests):
    """The outcomes of requests that are all sent ahead, as the judge would take them."""
    pool.want(requests)
    return [pool.take(request) for request in requests]


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def gone(pids, within=5.0):
    pids = list(pids)
    end = time.monotonic() + within
    while any(map(alive, pids)) and time.monotonic() < end:
        time.sleep(0.02)
    return not any(map(alive, pids))


def test_hello_says_what_the_host_is(pool):
    hello = pool.open(TOY)
    assert hello.problem is None
    assert (hello.version, len(hello.devices), hello.partitioner) == ("1.0", 8, "shardy")


def test_outcomes_come_back_to_their_requests(pool):
    outcomes = run(pool, *(ask("fine", i, n=i) for i in range(200)))
    assert [outcome.fields for outcome in outcomes] == [{"n": i} for i in range(200)]
    assert run(pool, ask("returns"))[0].fields == {"returned": True}
    assert pool.counts() == {"observations": 201, "reruns": 0, "restarts": 0}


def test_a_request_is_run_once_however_often_it_is_wanted(pool):
    first = run(pool, ask("fine", n=1), ask("fine", n=1))
    assert first == run(pool, ask("fine", n=1)) * 2
    assert pool.counts()["observations"] == 1


def test_a_segfault_is_one_outcome_with_what_was_seen_before(pool):
    before, crash, after = run(pool, ask("fine", n=1), ask("segfault"), ask("fine", 2, n=2))
    assert (before.status, after.status) == ("ended", "ended")
    assert (crash.status, crash.signal, crash.touch, crash.fields) == ("crashed", "SIGSEGV", "touch", {"before": 1})
    assert (crash.attempt, crash.late) == (2, False)
    assert "last words" in crash.stderr
    assert "Segmentation fault" in crash.stderr
    assert pool.counts() == {"observations": 3, "reruns": 1, "restarts": 1}


def test_an_exit_is_a_death_too(pool):
    outcome, after = run(pool, ask("leaves", status=0), ask("fine", n=1))
    assert (outcome.status, outcome.signal, outcome.exit, outcome.touch) == ("crashed", None, 0, "leave")
    assert after.status == "ended"


def test_a_delayed_crash_is_blamed_on_its_own_request(pool):
    """It strikes while a later, innocent request runs, long after its own outcome was taken."""
    requests = [ask("fine", n=0), ask("delayed"), *(ask("slow", i) for i in range(10))]
    outcomes = run(pool, *requests)
    assert [outcome.status for outcome in outcomes] == ["ended"] * len(requests)
    pool.close()
    ((request, blamed),) = pool.late()
    assert request == ask("delayed")
    assert (blamed.status, blamed.signal, blamed.late, blamed.fields) == ("crashed", "SIGSEGV", True, {"planted": True})
    assert pool.late() == []
    assert pool.incidents() == []
    assert pool.counts()["observations"] == len(requests)


def test_a_delayed_crash_of_the_last_request_is_not_missed(pool):
    run(pool, ask("fine", n=1), ask("delayed"))
    pool.close()
    assert [request for request, _ in pool.late()] == [ask("delayed")]


def test_a_host_that_was_idle_has_time_to_leave(pool, monkeypatch):
    monkeypatch.setattr("impl.host.pool.LEAVE", 0.9)
    run(pool, ask("fine", n=1))
    time.sleep(0.95)  # as while other configurations are judged
    pool.close()
    assert pool.incidents() == []


def test_a_death_that_nothing_repeats_is_an_incident(pool, tmp_path):
    requests = [ask("fine", n=1), ask("dies_once", flag=str(tmp_path / "flag")), ask("fine", 2, n=2)]
    outcomes = run(pool, *requests)
    assert [(outcome.status, outcome.attempt) for outcome in outcomes] == [("ended", 1), ("ended", 2), ("ended", 1)]
    pool.close()
    (incident,) = pool.incidents()
    assert "SIGKILL" in incident.what
    assert incident.requests == (requests[0],)
    assert pool.late() == []


@pytest.mark.parametrize(("probe", "fields"), [("sleeps", {"asleep": True}), ("spins", {})])
def test_a_silent_host_shows_its_stacks(pool, probe, fields):
    hung, after = run(pool, ask(probe), ask("fine", n=1))
    assert (hung.status, hung.fields, hung.reason) == ("hung", fields, None)
    assert f"in {probe}" in hung.stderr
    assert after.status == "ended"


@pytest.mark.parametrize("fork", [True], indirect=True)
def test_a_request_is_hung_after_its_own_limit_and_the_others_keep_theirs(pool):
    begun = time.monotonic()
    hung, slow, after = run(
        pool, replace(ask("sleeps"), limit=0.2), ask("slow", seconds=0.5), replace(ask("slow", 2), limit=0.5)
    )
    assert (hung.status, hung.touch, slow.status, after.status) == ("hung", "sleep", "ended", "ended")
    pool.cell_timeout = 0.2
    assert run(pool, replace(ask("sleeps", 2), limit=60))[0].status == "hung"  # the user's limit is lower
    assert time.monotonic() - begun < 5


@pytest.mark.parametrize("fork", [True], indirect=True)
def test_what_is_queued_does_not_wait_for_a_host_that_hangs(pool, monkeypatch):
    monkeypatch.setattr("impl.host.pool.STUCK", 0.1)
    monkeypatch.setattr("impl.host.pool.WINDOW", 1)
    hanging, *others = requests = [ask("sleeps"), ask("slow", seconds=0.3), *(ask("fine", i, n=i) for i in range(50))]
    pool.want(requests)
    assert pool.take(hanging).status == "hung"
    assert {pool.attempts[request].outcome.status for request in others} == {"ended"}
    assert len(run(pool, *others)) == pool.counts()["observations"] - 1
    pool.close()
    assert (pool.counts()["reruns"], pool.incidents()) == (0, [])


@pytest.mark.parametrize("fork", [True], indirect=True)
def test_a_limit_counts_from_the_begin_of_a_request_and_for_its_rerun_too(pool, tmp_path):
    first, second = run(pool, ask("slow", seconds=0.6), replace(ask("slow", 2), limit=0.3))  # it waits its turn
    assert (first.status, second.status) == ("ended", "ended")
    (rerun,) = run(pool, replace(ask("dies_then_sleeps", flag=str(tmp_path / "flag")), limit=0.3))
    assert (rerun.status, rerun.attempt) == ("hung", 2)


def test_a_stopped_host_has_no_stacks_and_says_why(pool):
    hung, after = run(pool, ask("stops"), ask("fine", n=1))
    assert (hung.status, hung.touch) == ("hung", "stop")
    assert hung.reason == "no stacks: the process is stopped"
    assert after.status == "ended"


def test_the_time_limit_counts_for_each_request_alone(pool):
    outcomes = run(pool, *(ask("slow", i, seconds=0.3) for i in range(6)))
    assert {outcome.status for outcome in outcomes} == {"ended"}


def test_the_time_limit_does_not_count_while_the_judge_is_away(pool):
    requests = [ask("slow", i, seconds=0.4) for i in range(3)]
    pool.want(requests)
    pool.take(requests[0])
    time.sleep(2.5)
    assert [pool.take(request).status for request in requests] == ["ended"] * 3


def test_an_exception_of_the_subject_is_told_from_a_slip_of_the_suite(pool):
    raises, slips = run(pool, ask("raises"), ask("slips"))
    assert raises.status == "ended"
    assert raises.raised == {"class": "ValueError", "message": "may_alias and donate", "at": "act"}
    assert raises.fields == {"before": 1}
    assert slips.status == "error"
    assert "nothing_of_the_kind" in slips.reason
    assert "toy.py:" in slips.reason


def test_an_exception_without_a_message_is_still_one(pool):
    outcome, after = run(pool, ask("raises_the_unspeakable"), ask("fine", n=1))
    assert outcome.raised == {
        "class": "UnspeakableError",
        "message": "(its message cannot be had: RuntimeError)",
        "at": "act",
    }
    assert after.attempt == 1


@pytest.mark.parametrize(("fault", "name"), [("settle leaves", "SystemExit"), ("no cost", "ValueError")])
def test_what_fails_after_the_probe_is_told(pool, monkeypatch, fault, name):
    monkeypatch.setenv("TOY_FAULT", fault)
    (outcome,) = run(pool, ask("fine", n=1))
    assert outcome.raised is not None
    assert (outcome.raised["class"], outcome.raised["at"], outcome.fields) == (name, "settle", {"n": 1})


def test_a_late_exit_as_if_all_were_well_is_a_death(pool):
    run(pool, ask("fine", n=1), ask("exits_later"))
    pool.close()
    ((request, blamed),) = pool.late()
    assert (request.id, blamed.status, blamed.exit) == ("exits_later", "crashed", 0)


def test_one_host_that_dies_at_once_among_others_costs_nothing(pool, monkeypatch, tmp_path):
    monkeypatch.setenv("TOY_FAULT", "dies once")
    monkeypatch.setenv("TOY_FILE", str(tmp_path / "hosts"))
    outcomes = run(pool, ask("fine", n=1), ask("segfault"), *(ask("fine", i, n=i) for i in range(9)))
    assert [outcome.status for outcome in outcomes] == ["ended", "crashed", *["ended"] * 9]
    assert len((tmp_path / "hosts").read_text().split()) >= 4


def test_a_stopped_template_is_given_up(monkeypatch):
    monkeypatch.setattr("impl.host.pool.STACKS", 0.3)
    monkeypatch.setattr("impl.host.pool.DIE", 0.3)
    pool = Pool(probes=PROBES, cell_timeout=1.0, fork=True)
    outcomes = run(pool, ask("stops_its_parent"), ask("fine", n=1))
    assert [outcome.status for outcome in outcomes] == ["not_run"] * 2
    assert "its template does not answer" in str(outcomes[1].reason)
    pool.close()


def test_a_pool_without_its_folder_says_so(pool):
    outcomes = run(pool, ask("removes", folder=str(pool.folder)), ask("fine", n=1))
    assert [outcome.status for outcome in outcomes] == ["not_run"] * 2
    assert "a host cannot be started" in str(outcomes[1].reason)


def test_what_a_subject_prints_stays_off_the_channel(pool):
    printed, after = run(pool, ask("prints"), ask("fine", n=1))
    assert (printed.status, printed.fields) == ("ended", {"printed": True})
    assert "rubbish" in printed.stderr
    assert "from a program" in printed.stderr
    assert (after.status, after.stderr) == ("ended", "")


@pytest.mark.parametrize("probe", ["not_data", "too_much"])
def test_an_observation_that_is_no_plain_data_is_an_error(pool, probe):
    outcome, after = run(pool, ask(probe), ask("fine", n=1))
    assert outcome.status == "error"
    assert "not plain data" in outcome.reason
    assert after.status == "ended"


def test_a_probe_that_forks_answers_once(pool):
    forked, *others = run(pool, ask("forks"), *(ask("fine", i, n=i) for i in range(50)))
    assert (forked.status, forked.fields) == ("ended", {"pid_is_zero": False})
    assert [outcome.fields["n"] for outcome in others] == list(range(50))


def test_a_host_that_closes_its_channel_is_ended(pool):
    closed, after = run(pool, ask("closes"), ask("fine", n=1))
    assert (closed.status, closed.reason) == ("error", "the host closed its channel")
    assert after.status == "ended"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux hands orphans to the template")
@pytest.mark.parametrize("probe", ["leaves_children", "leaves_a_chain"])
def test_nothing_that_a_host_started_outlives_the_pool(tmp_path, probe):
    pool = Pool(probes=PROBES)
    assert run(pool, ask(probe, file=str(tmp_path / "pids")))[0].status == "ended"
    pids = [int(pid) for pid in (tmp_path / "pids").read_text().split()]
    assert all(map(alive, pids))
    pool.close()
    assert gone(pids)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process's children")
def test_nothing_that_a_template_started_outlives_the_pool(monkeypatch):
    monkeypatch.setenv("TOY_FAULT", "load starts a program")
    pool = Pool(probes=PROBES, fork=True)
    pool.open(TOY)
    (launcher,) = pool.launchers.values()
    assert isinstance(launcher, Forking)
    template = launcher.process.pid
    children = Path(f"/proc/{template}/task/{template}/children").read_text().split()
    assert len(children) == 2
    pool.close()
    assert gone(map(int, children))


def test_several_hosts_share_the_work_and_take_each_observation_once():
    pool = Pool(probes=PROBES, hosts=3)
    outcomes = run(pool, *(ask("slow", i, seconds=0.01) for i in range(100)), ask("segfault"))
    pool.close()
    assert [outcome.status for outcome in outcomes] == ["ended"] * 100 + ["crashed"]
    assert pool.counts() == {"observations": 101, "reruns": 1, "restarts": 1}


@pytest.mark.parametrize("victim", ["host", "judge"])
def test_a_kill_in_the_middle_leaves_no_process_behind(victim, fork):
    code = f"""
import sys
from tests.test_pool import Pool, PROBES, TOY, ask
pool = Pool(probes=PROBES, fork={fork})
requests = [ask("slow", i, seconds=0.02) for i in range(100)]
pool.want(requests)
for i, request in enumerate(requests):
    print(pool.take(request).status, flush=True)
    if i == 10:
        (lane,) = pool.lanes.values()
        print("pid", lane.workers[0].child.pid, *[it.process.pid for it in [lane.launcher] if {fork}], flush=True)
pool.close()
print(len(pool.late()), len(pool.incidents()))
"""
    judge = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    lines = []
    for line in judge.stdout or ():
        lines.append(line.strip())
        if line.startswith("pid"):
            pids = [int(pid) for pid in line.split()[1:]]
            os.kill(pids[0] if victim == "host" else judge.pid, signal.SIGKILL)
    judge.wait(30)
    assert gone(pids)
    if victim == "host":
        assert lines.count("ended") == 100
        assert lines[-1] == "0 1", "no request is blamed; the death is an incident"
    else:
        assert judge.returncode == -signal.SIGKILL


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        ("no jax", "JAX is not there"),
        ("no devices", "no devices: RuntimeError: Unable to initialize backend"),
        ("fewer devices", "fewer devices than asked: toy:8 needs 8, the host has 1"),
        ("dead switch", "the partitioner that ran is gspmd, not shardy"),
        ("no driver", "subject tests.toys does not start: FileNotFoundError: libdriver.so"),
        ("number for a version", "a fresh host died at once (exit 1): impl.host.messages.ProtocolError: 'versions'"),
        ("host dies", "a fresh host died at once (SIGILL)"),
    ],
)
def test_an_environment_that_cannot_be_judged_is_told_from_a_deviation(pool, monkeypatch, fault, says):
    monkeypatch.setenv("TOY_FAULT", fault)
    hello = pool.open(TOY)
    assert hello.problem.startswith(says)
    outcomes = run(pool, ask("fine", n=1), ask("segfault"))
    assert outcomes == [Outcome("not_run", reason=hello.problem)] * 2
    pool.close()
    assert pool.incidents() == []


def test_a_subject_without_a_dot_is_ours_or_anybodys(pool, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "tests"))
    assert pool.open(Configuration("toys", sys.executable, "toy:8", "shardy")).problem is None
    assert "No module named 'nobodys'" in str(
        pool.open(Configuration("nobodys", sys.executable, "toy:8", "shardy")).problem
    )


def test_an_argument_is_told_at_the_start_and_shares_the_template(pool):
    told = {name: replace(TOY, subject=f"tests.toys{name}") for name in ("", ":wings", ":legs.4")}
    pool.start(told.values())
    assert {name: pool.open(it).capabilities[1:] for name, it in told.items()} == {
        "": (),
        ":wings": ("wings",),
        ":legs.4": ("legs.4",),
    }
    assert len(pool.launchers) == 1
    wings = replace(ask("dies_once", flag="/"), configuration=told[":wings"])
    crash = replace(ask("segfault"), configuration=told[":wings"])
    assert [outcome.status for outcome in run(pool, crash, wings)] == ["crashed", "ended"]  # a second host knows it too


def test_a_configuration_that_is_let_go_leaves_in_order_and_the_others_stay(pool):
    other = replace(TOY, partitioner="gspmd")
    run(pool, *(ask("fine", i, n=i) for i in range(3)), ask("delayed"))
    pool.open(other)
    pool.leave(TOY)
    talks = {it: pool.lanes[it].talks for it in (TOY, other)}
    assert [it.status for it in run(pool, *(replace(ask("slow", i), configuration=other) for i in range(30)))]
    pool.close()
    assert [request for request, _ in pool.late()] == [ask("delayed")], "what comes late is blamed still"
    assert gone(talk.child.pid for of in talks.values() for talk in of)
    assert pool.counts()["observations"] == 34
    assert pool.incidents() == []


def test_a_template_that_dies_is_the_environments_fault(monkeypatch):
    monkeypatch.setenv("TOY_FAULT", "template dies")
    pool = Pool(probes=PROBES, fork=True)
    assert "died (SIGILL)" in str(pool.open(TOY).problem)
    pool.close()


def test_an_import_that_never_ends_is_given_up(pool, monkeypatch):
    monkeypatch.setenv("TOY_FAULT", "load hangs")
    monkeypatch.setattr("impl.host.pool.START", 0.5)
    assert pool.open(TOY).problem.startswith(f"{sys.executable} said no hello within")
    pool.close()


def test_a_python_that_is_not_there(pool):
    nowhere = Configuration("tests.toys", "/nowhere/python", "toy:8", "shardy")
    assert pool.open(nowhere).problem == "cannot start /nowhere/python: No such file or directory"
    pool.close()


@pytest.mark.parametrize("program", ["true", "false", "cat"])
def test_a_program_that_is_no_python(program):
    configuration = Configuration("tests.toys", shutil.which(program) or program, "toy:8", "shardy")
    pool = Pool(probes=PROBES)
    assert pool.open(configuration).problem is not None
    assert pool.take(Request(configuration, "toy.fine", "fine", {"n": 1})).status == "not_run"
    pool.close()


def test_one_broken_configuration_does_not_stop_another(pool):
    nowhere = Configuration("tests.toys", "/nowhere/python", "toy:8", "shardy")
    lost = Request(nowhere, "toy.fine", "fine", {"n": 1})
    assert [outcome.status for outcome in run(pool, lost, ask("fine", n=1))] == ["not_run", "ended"]


def test_the_foreground_runs_one_request_on_the_own_terminal(capfd):
    hello, outcome = foreground(TOY, ask("prints"), probes=PROBES)
    assert (hello.problem, outcome.status, outcome.fields) == (None, "ended", {"printed": True})
    assert "from a program" in capfd.readouterr().out
    _, outcome = foreground(TOY, ask("segfault"), probes=PROBES)
    assert (outcome.status, outcome.signal, outcome.touch) == ("crashed", "SIGSEGV", "touch")


def test_the_foreground_tells_the_argument():
    hello, _ = foreground(replace(TOY, subject="tests.toys:wings"), ask("fine"), probes=PROBES)
    assert hello.capabilities == ("executes", "wings")


def test_the_third_interrupt_ends_a_probe_that_is_stuck_in_the_foreground():
    code = """
from tests.test_pool import PROBES, TOY, ask, foreground
print(foreground(TOY, ask("spins"), probes=PROBES)[1].signal)
"""
    judge = subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    children = Path(f"/proc/{judge.pid}/task/{judge.pid}/children")
    end = time.monotonic() + 20
    while not children.read_text() and time.monotonic() < end:
        time.sleep(0.02)
    time.sleep(0.5)  # the probe begins
    for _ in range(3):
        os.kill(judge.pid, signal.SIGINT)
        time.sleep(0.2)
    said, stacks = judge.communicate(timeout=20)
    assert said == "SIGABRT\n"
    assert "in spins" in stacks
