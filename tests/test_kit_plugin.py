"""The plugin, end to end: real pytest, real hosts, a toy for a subject."""

import json
import sys
from collections import Counter
from pathlib import Path
from textwrap import dedent
from xml.etree import ElementTree

import pandas as pd
import pytest

import reports.load
import reports.terminal
from conformance.kit import plugin
from conformance.kit import run as kit_run
from conformance.kit.columns import item_name
from impl.host import Pool
from tests import kit_toy

pytest_plugins = ["pytester"]

LOADED = pd, reports.load, reports.terminal  # once; a run in this process would load and drop them
ROOT = Path(__file__).parents[1]
KINDS = [f"toy{n}" for n in range(40)]
ONE = ("--subject", "toy.subject", "--partitioner", "shardy", "-p", "no:randomly")


@pytest.fixture
def toy(pytester, monkeypatch):
    """Runs pytest on a toy suite; `lines` holds what it recorded and `observed` what its probes did."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    log = pytester.path / "log"
    monkeypatch.setenv("TOY_LOG", str(log))
    monkeypatch.setattr(plugin, "SUITE", pytester.path / "toy")  # for runs in this process; others have the conftest
    monkeypatch.setattr(kit_run, "PROBES", "toy.probes")

    class Toy:
        path = pytester.path / "toy"
        record = pytester.path / "reports" / "out" / "latest.jsonl"

        def run(self, *arguments, apart=False):
            log.write_text("")
            if apart or "-n" in arguments:
                self.result = pytester.runpytest_subprocess(*ONE, *arguments, timeout=120)
            else:
                self.result = pytester.runpytest_inprocess(*ONE, *arguments)
            self.text = self.result.stdout.str()
            return self

        @property
        def outcomes(self):
            return {what: count for what, count in self.result.parseoutcomes().items() if "warning" not in what}

        @property
        def observed(self):
            return Counter(log.read_text().split())

        @property
        def lines(self):
            return [json.loads(line) for line in self.record.read_text().splitlines()]

        def of(self, kind):
            return [line for line in self.lines if line["kind"] == kind]

        @property
        def verdicts(self):
            return {line["name"].partition("@")[0]: line["verdict"] for line in self.of("cell")}

    def write(*cases, **more):
        kit_toy.write(pytester.path, *cases, **more)
        return Toy()

    return write


def test_hosts_begin_while_the_rest_is_collected(toy):
    suite = toy("fine", "other")
    waits = """
        import os, time
        from pathlib import Path

        for _ in range(200):
            if begun := Path(os.environ["TOY_LOG"]).read_text():
                break
            time.sleep(0.05)
        assert begun, "nothing was asked of the hosts yet"
    """
    (suite.path / "test_waits.py").write_text(dedent(waits))
    assert suite.run(str(suite.path)).outcomes == toy("fine", "other").run(str(suite.path / "test_toy.py")).outcomes
    assert suite.observed == {"fine": 1, "other": 1}


def test_every_verdict_in_pytests_words(toy):
    run = toy("fine", "other", "crash", "wrong", "raise").run("toy", "-v")
    assert run.verdicts == {
        "TOY-01[fine]": "conforms",
        "TOY-02[fine]": "conforms",
        "TOY-04[fine]": "permitted",
        "TOY-05[fine]": "unsupported",
        "TOY-01[other]": "conforms",
        "TOY-02[other]": "conforms",
        "TOY-04[other]": "permitted",
        "TOY-01[crash]": "conforms",  # noted before the crash
        "TOY-02[crash]": "crashed",
        "TOY-01[wrong]": "deviates",
        "TOY-02[wrong]": "conforms",
        "TOY-01[raise]": "deviates",  # nobody else shows the exception
        "TOY-02[raise]": "deviates",
    }
    run.result.assert_outcomes(passed=8, skipped=1, xfailed=1, failed=3)
    assert run.result.ret == 1
    assert run.observed == {"fine": 1, "other": 1, "crash": 2, "wrong": 1, "raise": 1}  # the suspect runs again
    name = "TOY-01[wrong]@toy.subject-1.0-cpu8-shardy"
    failures = run.text[run.text.index("= FAILURES =") :]
    assert (
        run.text.index("cells from 5 observations") < run.text.index("= FAILURES =") < run.text.index("(TOY-02/crash)")
    )
    for fact in (
        "TOY-01 MUST: A toy is right.",
        'does = "wrong"',
        "toy.subject 1.0, cpu:8, shardy,",  # where the line ends is a matter of how long the Python's path is
        'expected       value = "right"',
        'observed       value = "wrong"',
        "last step      look",
        f"python -m conformance run '{name}'",
        "host stderr\n  ",
        "something odd",
    ):
        assert fact in failures
    assert "Traceback" not in run.text
    assert f"FAILED toy/test_toy.py::{item_name(name)} - deviates:" in run.text
    footer = run.lines[-1]
    assert (footer["complete"], footer["unexpected"], footer["observations"]) == (True, 3, 5)
    assert run.lines[0]["selected"] is False
    assert Counter(line["observed"]["side"] for line in run.of("question")) == {"right": 4, "left": 1}


def test_a_known_deviation_is_green_and_its_absence_red(toy):
    assert toy("fine", "crash").run("toy").result.ret == 0
    run = toy("fine", "crash", waivers="").run("toy")
    assert run.result.ret == 1
    assert 'observed       signal = "SIGSEGV", touch = "look"' in run.text


def test_a_waiver_that_no_longer_holds_is_red(toy):
    run = toy("fine", waivers=kit_toy.WAIVER.replace('"crash"', '"fine"')).run("toy")
    assert run.result.ret == 1
    assert "waiver TOY-02/crash no longer applies" in " ".join(run.text.split())
    run = toy("crash", waivers=kit_toy.WAIVER.replace('"look"', '"leap"')).run("toy")
    assert "waiver TOY-02/crash pins another observation" in " ".join(run.text.split())
    assert 'TOY-02/crash pins signal = "SIGSEGV", touch = "leap": Toys break.' in " ".join(run.text.split())


def test_runxfail_shows_what_is_waived(toy):
    run = toy("crash").run("toy", "--runxfail")
    assert "A toy survives." in run.text[run.text.index("= FAILURES =") :]


def test_a_crash_after_its_probe_is_blamed_on_the_cells_that_were_already_told(toy):
    run = toy("fine", "later").run("toy", "--junitxml", "junit.xml")
    assert run.result.ret == 1
    assert run.verdicts["TOY-02[later]"] == "crashed"
    assert run.lines[-1]["verdicts"]["crashed"] == 1
    assert "TOY-02[later]@toy.subject-1.0-cpu8-shardy" in run.text[run.text.index("= FAILURES =") :]
    assert "after the probe had ended; found by replay" in run.text
    xml = Path("junit.xml").read_text()
    assert 'failures="1"' in xml
    assert "Segmentation fault" in xml, "the host's stderr is there too"


def test_gates_are_listed_and_red_though_every_cell_passes(toy):
    run = toy(
        "fine",
        "other",
        "crash",
        marks={"TOY-01": "00000000"},
        waivers=kit_toy.WAIVER.replace('cases = "crash"', 'cases = "cra"'),
    )
    run.run("toy/test_toy.py::TOY-01")
    assert [line["gate"] for line in run.of("gate")] == ["review mark"]
    assert run.result.ret == 1
    run.result.assert_outcomes(passed=3)
    assert "TOY-01 was reworded after its review mark '00000000'" in " ".join(run.text.split())
    run.run("toy")
    assert {line["gate"] for line in run.of("gate")} == {"review mark", "unmatched waiver"}


def test_rules_need_faults_where_a_contract_has_them(toy):
    faults = [
        "'mistaken', 'wrong', ('TOY-01', 'TOY-02', 'TOY-03', 'TOY-05')",
        "'bent', 'sideways', ('TOY-09',), ('X-1',)",
    ]
    run = toy("fine", "other", "raise", faults=faults).run("toy")
    assert [(line["gate"], line["text"].partition(":")[0]) for line in run.of("gate")] == [
        ("rule without fault", "TOY-04 has no fault"),
        ("fault without rule", "fault bent names TOY-09, which the contract has not"),
        ("fault without rule", "fault bent names X-1, which the contract has not"),
    ]
    assert run.result.ret == 1
    for narrowed in (("toy/test_toy.py",), ("toy", "-k", "fine"), ("toy", "--rule", "TOY-0*")):
        assert not run.run(*narrowed).of("gate")
    assert {line["gate"] for line in run.run("toy", "-n", "2").of("gate")} == {
        "rule without fault",
        "fault without rule",
    }


@pytest.mark.parametrize("more", [(), ("-n", "2")])
def test_a_fault_that_is_written_wrongly_is_one_line_and_red(toy, more):
    suite = toy("fine", faults=["'mistaken', 'wrong', ('TOY-01',)"])
    home = suite.path / "faults.py"
    home.write_text(home.read_text() + "\nraise ValueError('fault bent names TOY-01 twice')\n")
    run = suite.run("toy", *more)
    assert [(line["gate"], line["text"]) for line in run.of("gate")] == [("faults", "fault bent names TOY-01 twice")]
    assert run.result.ret == 1


@pytest.mark.parametrize(
    ("arguments", "collected", "observed"),
    [
        (("toy", "-k", "TOY-02 and not crash"), {"TOY-02[fine]", "TOY-02[other]"}, {"fine", "other"}),
        (("toy", "--rule", "TOY-0[45]"), {"TOY-04[fine]", "TOY-05[fine]", "TOY-04[other]"}, {"fine", "other"}),
        (("toy/test_toy.py::TOY-01[fine]@toy.subject-1.0-cpu8-shardy",), {"TOY-01[fine]"}, {"fine"}),
        (("toy/test_toy.py::TOY-01[fine@toy.subject-1.0-cpu8-shardy]",), {"TOY-01[fine]"}, {"fine"}),
        (("toy/test_toy.py::TOY-05",), {"TOY-05[fine]"}, set()),
    ],
)
def test_a_selection_observes_no_more_than_it_needs_and_is_called_one(toy, arguments, collected, observed):
    run = toy("fine", "other", "crash").run(*arguments)
    assert run.result.ret == 0
    assert set(run.verdicts) == collected
    assert set(run.observed) == observed
    assert run.lines[0]["selected"] is True
    assert run.lines[-1]["complete"] is True
    assert not run.of("gate")
    assert "of a selection" in run.text


def test_cases_of_a_product_too_large_for_every_run_have_cells_only_where_they_are_asked_for(toy):
    run = toy("fine", "wide").run("toy")
    assert set(run.observed) == {"fine"}
    assert run.lines[0]["flags"] == {}
    assert not run.of("gate")
    run = run.run("toy", "--wide")
    assert set(run.observed) == {"fine", "wide"}
    assert run.lines[0]["flags"] == {"--wide": "on"}, "so no ledger is made of it"
    assert "TOY-01[wide]" in run.verdicts
    assert "judged with --wide=on set" in run.text


def test_a_selection_does_not_change_a_verdict(toy):
    """TOY-02 shows the crash, so TOY-01 is judged on what was noted, whether TOY-02 was asked for or not."""
    assert toy("crash").run("toy", "--rule", "TOY-01").verdicts == {"TOY-01[crash]": "conforms"}


def test_a_subject_that_can_do_nothing_has_kept_nothing(toy):
    run = toy("fine")
    subject, contract = run.path / "subject.py", run.path / "contract" / "toy.toml"
    subject.write_text(subject.read_text().replace('["executes"]', "[]"))
    contract.write_text(contract.read_text().replace('since = "0.5"\n', 'since = "0.5"\nneeds = ["executes"]\n'))
    contract.write_text(contract.read_text().replace('needs = ["executes"]\nneeds = ["flying"]', 'needs = ["flying"]'))
    run.run("toy")
    assert set(run.verdicts.values()) == {"unsupported"}
    assert run.result.ret == 1
    text = "nothing was judged in toy.subject-1.0-cpu8-shardy: its subject says that it can do nothing"
    assert [(line["gate"], line["text"]) for line in run.of("gate")] == [("nothing judged", text)]
    run.run("toy", "--rule", "TOY-01")
    assert run.result.ret == 0
    assert "nothing was judged in shardy: all of its cells are unsupported" in run.text


def test_a_run_without_any_cell_is_not_called_complete(toy):
    run = toy("fine").run("toy", "-k", "nothing")
    assert run.result.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    assert (run.lines[-1]["cells"], run.lines[-1]["complete"]) == (0, False)
    assert "Recorded in part in" in " ".join(run.text.split())
    run.run("toy", "-k", "nothing", "-n", "2")
    assert run.result.ret != 0
    assert run.lines[-1]["complete"] is False


def test_too_few_devices_are_said_once_and_red(toy):
    run = toy("fine", "other")
    module = run.path / "test_toy.py"
    module.write_text(module.read_text().replace("    does: str\n", "    does: str\n    devices = 16\n"))
    run.run("toy")
    assert run.result.ret == 1
    assert set(run.verdicts.values()) == {"not_run"}
    assert run.text.count("7 cells not run: the case needs 16 devices, cpu:8 has 8") == 1
    assert "FAILED" not in run.text


def test_hosts_that_cannot_be_reached_are_told_in_a_line(toy, monkeypatch):
    def take(self, request):
        raise FileNotFoundError(2, "No such file or directory", "gone")

    monkeypatch.setattr(Pool, "take", take)
    run = toy("fine").run("toy")
    assert run.result.ret == 1
    assert run.verdicts["TOY-01[fine]"] == "error"
    assert "its host cannot be reached: [Errno 2] No such file" in run.text
    assert "Traceback" not in run.text


def test_stopping_at_the_first_failure_keeps_what_was_judged_and_is_partial(toy):
    run = toy("wrong", "fine", "other").run("toy", "-x")
    assert run.result.ret == 1
    assert run.verdicts == {"TOY-01[wrong]": "deviates"}
    assert (run.lines[0]["selected"], run.lines[-1]["complete"]) == (True, False)
    assert "PARTIAL" in run.text


def test_cells_beside_ordinary_tests_and_their_fixtures(toy):
    run = toy("fine", "wrong")
    module = run.path / "test_toy.py"
    ordinary = """
import pytest

@pytest.fixture(scope="module", autouse=True)
def around():
    print("SET UP", __name__)
    yield
    print("TAKEN DOWN", __name__)

def test_before(around): pass
"""
    module.write_text(ordinary + module.read_text() + "\n\ndef test_behind(around): pass\n")
    (run.path / "test_zoo.py").write_text(ordinary)
    run.run("toy", "-v", "-s", "--durations", "0", "-vv")
    run.result.assert_outcomes(passed=7, failed=1, skipped=1)
    told = [line.rpartition(" ")[2] for line in run.text.splitlines() if "SET UP" in line or "TAKEN DOWN" in line]
    assert [name.rpartition(".")[2] for name in told] == ["test_toy", "test_toy", "test_zoo", "test_zoo"]
    assert "call     toy/test_toy.py::TOY-01[wrong@toy.subject-1.0-cpu8-shardy]" in run.text


def test_marks_of_a_module_are_kept(toy):
    run = toy("fine", "wrong")
    module = run.path / "test_toy.py"
    module.write_text(module.read_text() + "\n\nimport pytest\npytestmark = pytest.mark.skip(reason='not today')\n")
    run.run("toy", "-rs")
    run.result.assert_outcomes(skipped=6)
    assert "not today" in run.text
    assert not run.of("cell")


def test_setting_up_only_judges_nothing(toy):
    assert not toy("fine").run("toy", "--setup-only").of("cell")


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "xdist"])
def test_the_junit_file_has_every_cell_with_its_verdict(toy, workers):
    toy("fine", "crash", "wrong").run("toy", "--junitxml", "junit.xml", *workers)
    cells = {it.get("name"): it for it in ElementTree.parse("junit.xml").iter("testcase")}
    verdicts = {name: next(it.iter("property")).get("value") for name, it in cells.items()}
    at = "@toy.subject-1.0-cpu8-shardy]"
    assert verdicts == {
        f"TOY-01[fine{at}": "conforms",
        f"TOY-02[fine{at}": "conforms",
        f"TOY-04[fine{at}": "permitted",
        f"TOY-05[fine{at}": "unsupported",
        f"TOY-01[crash{at}": "conforms",
        f"TOY-02[crash{at}": "crashed",
        f"TOY-01[wrong{at}": "deviates",
        f"TOY-02[wrong{at}": "conforms",
    }
    assert [name for name, it in cells.items() if it.find("failure") is not None] == [f"TOY-01[wrong{at}"]


def test_the_last_failures_alone(toy):
    run = toy("fine", "wrong").run("toy")
    run.run("toy", "--lf")
    assert run.verdicts == {"TOY-01[wrong]": "deviates"}
    assert set(run.observed) == {"wrong"}


def test_collecting_only_shows_cells_and_leaves_the_record_alone(toy):
    run = toy("fine").run("toy", "--collect-only", "-q")
    assert "toy/test_toy.py::TOY-01[fine@toy.subject-1.0-cpu8-shardy]" in run.text
    assert run.result.ret == 0
    assert not run.record.exists()
    assert not run.observed


def test_two_versions_in_one_run(toy):
    run = toy("fine", "raise")
    for version in ("1.0", "2.0"):
        Path(f"python-jax-{version}").symlink_to(sys.executable)
    run.run(
        "toy", "--subject-python", "./python-jax-1.0", "--subject-python", "./python-jax-2.0", "--partitioner", "both"
    )
    cells = Counter((line["version"], line["partitioner"]) for line in run.of("cell"))
    assert cells == {("1.0", "shardy"): 6, ("1.0", "gspmd"): 6, ("2.0", "shardy"): 8, ("2.0", "gspmd"): 8}
    assert [line["out_of_force"] for line in run.of("configuration")] == [1, 1, 0, 0]
    assert run.observed == {"fine": 4, "raise": 4}
    there = Path("python-jax-2.0").absolute()
    assert f"run 'TOY-03[raise]@toy.subject-2.0-cpu8-gspmd' --subject-python {there}" in run.text
    assert run.lines[0]["version"] is None
    Path("another-jax-2.0").symlink_to(sys.executable)
    run.run("toy", "--subject-python", "./another-jax-2.0", "--subject-python", "./python-jax-2.0")
    assert "both give the column toy.subject-2.0-cpu8-shardy: judge them in two runs" in run.result.stderr.str()


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "xdist"])
def test_two_subjects_in_one_run(toy, workers):
    """One has no JAX but a contract that it keeps; each is judged where its version has the rules in force."""
    run = toy("fine", "wrong", "raise")
    other = kit_toy.SUBJECT.replace('"jax": self.version or version or "1.0"', '"contract": "2.0"')
    (run.path / "other.py").write_text(dedent(other))
    run.run("toy", "--subject", "toy.other", "--partitioner", "both", *workers)
    cells = Counter((line["subject"], line["version"], line["partitioner"]) for line in run.of("cell"))
    assert cells == {
        ("toy.subject", "1.0", "shardy"): 8,
        ("toy.subject", "1.0", "gspmd"): 8,
        ("toy.other", "2.0", "shardy"): 10,
        ("toy.other", "2.0", "gspmd"): 10,
    }
    assert run.observed == {"fine": 4, "wrong": 4, "raise": 4}
    head = run.lines[0]
    assert (head["subject"], head["version"], head["target"], head["selected"]) == (None, None, "cpu:8", False)
    assert run.lines[-1]["complete"] is True
    assert "conformance: toy.subject and toy.other on cpu:8, shardy and gspmd, in " in run.text
    table = [line.split() for line in run.text.splitlines() if line.startswith("  toy.")]
    assert [line[:3] for line in table] == [
        ["toy.subject", "1.0", "shardy"],
        ["toy.subject", "1.0", "gspmd"],
        ["toy.other", "2.0", "shardy"],
        ["toy.other", "2.0", "gspmd"],
    ]
    assert "run 'TOY-01[wrong]@toy.other-2.0-gspmd'" not in run.text
    assert "run 'TOY-01[wrong]@toy.other-2.0-cpu8-gspmd'" in run.text
    run.run("toy", "--subject", "toy.other", "-k", "toy.other and TOY-03")
    assert set(run.observed) == {"fine", "raise"}
    assert {line["subject"] for line in run.of("cell")} == {"toy.other"}
    assert run.lines[0]["selected"] is True


@pytest.mark.parametrize(
    ("python", "problem", "stderr"),
    [("broken", "JAX is not there", ""), ("empty", "no devices: ", "the driver is not there")],
)
@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "xdist"])
def test_what_cannot_be_judged_is_said_once_and_red(toy, python, problem, stderr, workers):
    run = toy("fine", "other")
    Path(python).symlink_to(sys.executable)
    run.run("toy", "--subject-python", f"./{python}", "--junitxml", "junit.xml", *workers)
    assert run.result.ret == 1
    assert set(run.verdicts.values()) == {"not_run"}
    assert run.text.count(problem) == 1 + run.text.count(f"RuntimeError: {problem}")
    assert run.text.count(stderr or problem) == 1
    assert "FAILURES" not in run.text
    assert "FAILED" not in run.text
    assert f'failures="{len(run.verdicts)}"' in Path("junit.xml").read_text()


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "xdist"])
def test_a_mistake_is_one_line_and_nothing_runs(toy, workers):
    run = toy("fine").run("toy", *workers, "--rule", "TOY-9*")
    assert run.result.ret == pytest.ExitCode.USAGE_ERROR
    (line,) = [line for line in run.result.stderr.lines if line]
    assert "--rule TOY-9*: no rule of the contract matches; there are TOY-0" in line
    assert "test session starts" not in run.text
    assert not run.observed
    assert not run.record.exists()


def test_a_record_without_a_name_is_a_mistake(toy):
    run = toy("fine").run("toy", "--record", "")
    assert run.result.ret == pytest.ExitCode.USAGE_ERROR
    assert "cannot be written: it is not a regular file; name another file" in run.result.stderr.str()
    assert not run.observed


@pytest.mark.parametrize(("arguments", "selected"), [((), False), (("-k", "TOY"), True), (("--rule", "TOY-0*"), True)])
def test_what_a_judge_of_workers_leaves_behind_is_a_selection_only_if_something_was_selected(toy, arguments, selected):
    run = toy("fine", "other")
    Path("conftest.py").write_text(
        Path("conftest.py").read_text()
        + """
import os
def pytest_configure(config):
    global worker
    worker = hasattr(config, "workerinput")
def pytest_runtest_logreport(report):
    if not worker:
        os._exit(9)
"""
    )
    run.run("toy", "-n", "2", *arguments)
    assert [line["selected"] for line in run.lines] == [selected]


def test_a_malformed_waiver_stops_the_run_before_it_starts(toy):
    run = toy("fine", waivers=kit_toy.WAIVER.replace('"TOY-02"', '"TOY-99"')).run("toy")
    assert run.result.ret == pytest.ExitCode.USAGE_ERROR
    (line,) = [line for line in run.result.stderr.lines if line]
    assert "names rule TOY-99, which the contract has not" in line
    assert not run.observed


def test_a_rule_about_something_that_cases_have_not_is_a_usage_error(toy):
    run = toy("fine")
    contract = run.path / "contract" / "toy.toml"
    contract.write_text(contract.read_text().replace("when = {does =", "when = {dose ="))
    run.run("toy")
    assert run.result.ret == pytest.ExitCode.USAGE_ERROR
    assert "TOY-03 speaks of dose, which is nothing of its cases; Act has does, id" in run.result.stderr.str()
    run.run("toy", "-n", "2")
    assert run.result.ret != 0
    assert "TOY-03 speaks of dose" in run.text


def test_other_tests_start_nothing_and_record_nothing(toy):
    run = toy("fine")
    run.path.joinpath("contract", "toy.toml").write_text("broken")
    Path("test_other.py").write_text("def test_it(): pass")
    run.run("test_other.py")
    assert run.result.ret == 0
    assert "conformance: " not in run.text
    assert not Path("reports").exists()


@pytest.mark.parametrize("dist", ["load", "loadgroup"])
def test_workers_take_every_observation_once(toy, dist):
    acts = ("fine", "other", "crash", "wrong", "raise")
    run = toy(*acts).run("toy", "-n", "2", "--dist", dist)
    alone = toy(*acts).run("toy")
    assert run.observed == {"fine": 1, "other": 1, "crash": 2, "wrong": 1, "raise": 1}
    assert run.result.ret == 1
    assert run.outcomes == alone.outcomes
    assert run.verdicts == alone.verdicts
    assert (run.lines[0]["writer"], run.lines[-1]["complete"], run.lines[-1]["observations"]) == ("main", True, 5)
    assert "something odd" in run.text
    assert [path.name for path in run.record.parent.iterdir()] == ["latest.jsonl"]


def test_workers_tell_late_blame_and_gates(toy):
    run = toy("fine", "later", marks={}).run("toy", "-n", "2")
    assert run.verdicts["TOY-02[later]"] == "crashed"
    assert "TOY-02[later]@toy.subject-1.0-cpu8-shardy" in run.text[run.text.index("= FAILURES =") :]
    assert len(run.of("gate")) == 4  # TOY-03 is not in force
    assert run.text.count("TOY-01 has no review mark") == 1


def test_a_worker_that_dies_leaves_a_partial_record_with_all_that_was_judged(toy):
    run = toy("fine", "other")
    Path("conftest.py").write_text(
        Path("conftest.py").read_text()
        + """
import os
def pytest_configure(config):
    global worker
    worker = hasattr(config, "workerinput")
def pytest_runtest_logreport(report):
    if worker and "TOY-02[other" in report.nodeid and report.when == "call":
        os._exit(9)
"""
    )
    run.run("toy", "-n", "2", "--max-worker-restart", "0")
    assert run.result.ret == 1
    assert {"TOY-01[other]", "TOY-02[other]"} <= run.verdicts.keys()
    assert run.lines[-1]["complete"] is False
    assert "PARTIAL" in run.text


def test_a_worker_that_dies_is_replaced_and_the_run_comes_to_its_red_end(toy):
    run = toy(*KINDS, "wrong")
    Path("conftest.py").write_text(
        Path("conftest.py").read_text()
        + """
import os
def pytest_configure(config):
    global worker
    worker = getattr(config, "workerinput", {}).get("workerid")
def pytest_runtest_logreport(report):
    if worker in ("gw0", "gw1") and "TOY-02[toy30" in report.nodeid and report.when == "call":
        os._exit(9)
"""
    )
    run.run("toy", "-n", "2")
    assert run.result.ret == 1
    assert len(run.verdicts) == 2 * 41
    assert run.verdicts["TOY-01[wrong]"] == "deviates"
    assert run.lines[-1]["complete"] is False


def test_without_xdist_all_is_well(toy):
    run = toy("fine").run("toy", "-p", "no:xdist", apart=True)
    assert run.result.ret == 0


def test_a_full_disk_is_told_once_and_costs_nothing_that_was_recorded(toy):
    run = toy("fine", "other", "crash")
    Path("conftest.py").write_text(
        Path("conftest.py").read_text()
        + """
import resource
def pytest_runtestloop():
    resource.setrlimit(resource.RLIMIT_FSIZE, (3000, resource.RLIM_INFINITY))
"""
    )
    run.run("toy", apart=True)
    assert run.result.ret == 1
    run.result.assert_outcomes(passed=7, skipped=1, xfailed=1)
    assert run.text.count("File too large; ") == 1
    assert 0 < len(run.of("cell")) < 9
    assert "PARTIAL" in run.text


def test_interrupted_by_the_user(toy):
    run = toy("fine", "other")
    Path("conftest.py").write_text(
        Path("conftest.py").read_text()
        + """
def pytest_runtest_logreport(report):
    if "TOY-02[fine" in report.nodeid and report.when == "call":
        raise KeyboardInterrupt
"""
    )
    run.run("toy", apart=True)
    assert run.result.ret == pytest.ExitCode.INTERRUPTED
    assert run.lines[-1]["complete"] is False
    assert run.verdicts["TOY-02[fine]"] == "conforms"
