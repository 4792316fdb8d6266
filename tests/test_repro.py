"""`python -m conformance repro` and `repros`, on the installed JAX and a suite in miniature."""

import ast
import json
import os
import signal
import subprocess
import sys
import time
import venv
from pathlib import Path
from textwrap import dedent

import pytest

from conformance import __main__ as command
from conformance.repro import script as scripts
from tests import kit_toy

ROOT = Path(__file__).parents[1]
PROBES = """
    import os, signal, time

    import numpy as np

    SHIFT = {"wrong": 1, "odd": 2}

    def act(jax, see, does):
        y = put(jax, 3)
        see.step("look")
        see(side="right", where=see.sharding(y)["devices"])
        if does == "first":
            try:
                os.close(os.open(os.environ["TOY_LOG"], os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                see(value="right")
            else:
                see(value="wrong")
            return
        see(value="right" if see.same(y, values() + SHIFT.get(does, 0)) == "same" else "wrong")
        if does == "raise":
            jax.device_put(y, "nowhere")
        if does == "while":
            see(value="wrong")
            while y is None:
                pass
        if does == "crash":
            see.step("kill")
            os.kill(os.getpid(), signal.SIGSEGV)
        if does == "stuck":
            see.step("sleep")
            time.sleep(99)

    def values():
        return np.arange(8, dtype=np.float32)

    def put(jax, id):
        return jax.block_until_ready(jax.device_put(values(), jax.devices()[id]))
"""
WAIVER = """
    [[waiver]]
    id = "{rule}/{does}"
    rule = "{rule}"
    cases = "{does}"
    when = {{subject = "stock", versions = ">=0.4", targets = "cpu:*", partitioners = "*"}}
    observed = {observed}
    reason = "Toys break."
    link = "none found"
    expires = 2999-01-01
"""
KNOWN = {
    ("TOY-01", "wrong"): '{value = "wrong"}',
    ("TOY-01", "first"): '{value = "wrong"}',
    ("TOY-02", "crash"): '{signal = "SIGSEGV", touch = "kill"}',
    ("TOY-02", "stuck"): '{hung = true, touch = "sleep"}',
}
CASES = ("fine", "wrong", "first", "raise", "while", "crash", "stuck")


@pytest.fixture
def version():
    told = [sys.executable, "-c", "from importlib.metadata import version; print(version('jax'))"]
    return subprocess.run(told, capture_output=True, text=True, check=True).stdout.strip()


@pytest.fixture
def conformance(tmp_path, monkeypatch, capfd):
    """Runs a command on the toy suite; returns its status and what it wrote to stdout and to stderr."""
    waivers = "".join(WAIVER.format(rule=rule, does=does, observed=it) for (rule, does), it in KNOWN.items())
    toy = kit_toy.write(tmp_path, *CASES, waivers=waivers)
    (toy / "probes" / "toy.py").write_text(dedent(PROBES))
    module = (toy / "test_toy.py").read_text()
    (toy / "test_toy.py").write_text(module.replace("cases=acts)", "cases=acts, limit=4)"))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("TOY_LOG", str(tmp_path / "log"))
    monkeypatch.setattr(command, "PACKAGE", "toy")

    def conformance(*arguments):
        status = command.main([*map(str, arguments)])
        told = capfd.readouterr()
        return status, told.out, told.err

    yield conformance
    for name in [name for name in sys.modules if name.partition(".")[0] == "toy"]:
        del sys.modules[name]


@pytest.fixture
def cell(version):
    return lambda rule, does: f"{rule}[{does}]@stock-{version}-cpu8-shardy"


def alone(path, *arguments):
    """Runs a script as somebody who has nothing but JAX does."""
    (path.parent / "empty").mkdir(exist_ok=True)
    return subprocess.run(
        [sys.executable, "-I", path, *arguments],
        cwd=path.parent / "empty",
        env={"PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_script_stands_alone(conformance, cell, tmp_path):
    script = tmp_path / "script.py"
    status, out, err = conformance("repro", cell("TOY-01", "wrong"), "-o", script)
    assert (status, out) == (0, "")
    assert 'deviates: value = "wrong"' in err
    assert 'the script shows it: touch = "look", exit = 1, value = "wrong"' in err
    text = script.read_text()
    for ours in ("conformance", "impl", "toy.", str(ROOT)):
        assert ours not in text
    assert "TOY-01 MUST: A toy is right." in text
    assert "Made by shardspec, an executable contract of how JAX places arrays, for its rule TOY-01." in text
    assert "\nExits with 1 where the rule does not hold, with 0 where it does.\n" in text
    assert '\nok = seen.get("value") == "right"\n' in text
    assert "survives" not in text, "the rule does not speak of it"
    assert max(map(len, text.splitlines())) <= 88
    told = alone(script)
    assert told.returncode == 1, told.stderr
    assert 'value = "wrong"' in told.stdout
    assert told.stdout.endswith("the rule does not hold\n")
    assert "where" not in told.stdout, "the rule does not speak of it"
    script.write_text(text.replace("+ 1", "+ 0"))
    told = alone(script)
    assert told.returncode == 0, told.stderr
    assert told.stdout.endswith("the rule holds\n")


def test_a_crash_on_stdout(conformance, cell, tmp_path):
    status, out, err = conformance("repro", cell("TOY-02", "crash"))
    assert status == 0, err
    assert 'the script shows it: touch = "kill", signal = "SIGSEGV"\n' in err
    assert "Exits with 0 where the rule holds; where it does not, the process dies: SIGSEGV." in out
    assert 'note(survives=True)\nok = seen.get("survives") is True\n' in out
    script = tmp_path / "script.py"
    script.write_text(out)
    told = alone(script)
    assert told.returncode == -11
    assert told.stdout.endswith("# kill\n")


def test_what_is_raised(conformance, cell):
    status, out, err = conformance("repro", cell("TOY-02", "raise"))
    assert status == 0, err
    assert 'jax.device_put(y, "nowhere")' in out
    assert "Exits with 0 where the rule holds, with 1 where it does not: ValueError leaves it." in out
    assert "exit = 1, ValueError: " in err.replace("TypeError", "ValueError")


def test_a_cell_that_conforms(conformance, cell, tmp_path):
    status, out, err = conformance("repro", cell("TOY-01", "fine"), "-o", tmp_path / "script.py")
    assert (status, out) == (1, "")
    assert "conforms: there is no deviation to reproduce" in err
    assert not (tmp_path / "script.py").exists()


@pytest.mark.parametrize(
    ("does", "why"),
    [
        ("first", 'no script is offered: touch = "look", exit = 0, value = "right"'),
        ("while", "no script is offered: none can be made of its probe: a probe has while"),
    ],
)
def test_a_script_that_does_not_show_it_is_not_offered(conformance, cell, tmp_path, does, why):
    status, out, err = conformance("repro", cell("TOY-01", does), "-o", tmp_path / "script.py")
    assert (status, out) == (1, "")
    assert why in err
    assert not (tmp_path / "script.py").exists()


def test_a_script_that_is_no_python_is_not_offered(conformance, cell, monkeypatch):
    monkeypatch.setattr(scripts, "named", lambda *_: [ast.Expr(ast.Name("a b", ast.Load()))])
    status, out, err = conformance("repro", cell("TOY-01", "wrong"))
    assert (status, out) == (1, "")
    assert "no script is offered: none can be made of its probe: what is made of it is no Python" in err


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("nothing", "nothing is no cell name"),
        ("TOY-01[none]@stock-0.10.2-cpu8-shardy", "TOY-01 has no case none"),
        ("TOY-77[fine]@stock-0.10.2-cpu8-shardy", "there is no rule TOY-77"),
        ("TOY-01[wrong]@toy.subject-1.0-cpu8-shardy", "made for the subject stock alone"),
        ("TOY-01[wrong]@stock-0.0.1-cpu8-shardy", "the cell is of version 0.0.1"),
    ],
)
def test_a_cell_that_there_is_not(conformance, name, why):
    status, out, err = conformance("repro", name)
    assert (status, out) == (2, "")
    assert why in err
    assert err.count("\n") == 1


def test_folders_that_are_missing_are_made(conformance, cell, tmp_path):
    status, _, err = conformance("repro", cell("TOY-01", "wrong"), "-o", tmp_path / "new" / "folder" / "script.py")
    assert status == 0, err
    assert (tmp_path / "new" / "folder" / "script.py").exists()


def test_a_python_without_jax_is_told(conformance, cell, version, tmp_path):
    venv.create(tmp_path / "bare", with_pip=False)
    python = tmp_path / "bare" / "bin" / "python"
    path = record(tmp_path / "record.jsonl", known(cell("TOY-01", "wrong"), "TOY-01", "wrong"))
    for asked in (("repro", cell("TOY-01", "wrong")), ("repros", path, "-o", tmp_path / "made")):
        status, out, err = conformance(*asked, "--subject-python", python)
        assert (status, out, err.count("\n")) == (2, "", 1), err
        assert "has no jax" in err


@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize(("sent", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_script_that_runs_is_ended_with_the_command(conformance, cell, tmp_path, sent, status, many):
    def scripts():
        told = subprocess.run(["ps", "-ww", "-eo", "pid,args"], capture_output=True, text=True, check=True).stdout
        return {line for line in told.splitlines() if line.endswith("reproducer.py") and str(tmp_path) in line}

    path = record(tmp_path / "record.jsonl", known(cell("TOY-02", "stuck"), "TOY-02", "stuck"))
    asked = ["repros", str(path), "-o", str(tmp_path / "made")] if many else ["repro", cell("TOY-02", "stuck")]
    start = "import sys; from conformance import __main__ as it; it.PACKAGE = 'toy'; sys.exit(it.main())"
    env = os.environ | {"TMPDIR": str(tmp_path), "PYTHONPATH": f"{tmp_path}:{ROOT}"}
    with subprocess.Popen([sys.executable, "-c", start, *asked], env=env, stderr=subprocess.PIPE, text=True) as it:
        until = time.monotonic() + 60
        while not scripts() and time.monotonic() < until:
            time.sleep(0.1)
        assert scripts()
        it.send_signal(sent)
        err = it.communicate(timeout=20)[1]
    assert it.returncode == status
    assert "Traceback" not in err
    assert not scripts()


@pytest.mark.parametrize("place", ["", "file/script.py"])
def test_a_place_that_cannot_be_written_is_told_at_once(conformance, cell, tmp_path, place):
    (tmp_path / "file").write_text("")
    status, out, err = conformance("repro", cell("TOY-01", "wrong"), "-o", tmp_path / place)
    assert (status, out) == (2, "")
    assert "cannot be written; name another place with --output" in err


def record(path, *cells):
    path.write_text("".join(json.dumps({"kind": "cell"} | it) + "\n" for it in cells))
    return path


def known(name, rule, does, **more):
    observed = {"value": "wrong"} if rule == "TOY-01" else {"touch": "kill" if does == "crash" else "sleep"}
    return {"name": name, "waiver": f"{rule}/{does}", "observed": observed} | more


def test_every_known_deviation_of_a_record(conformance, cell, version, tmp_path):
    cells = [known(cell(*it), *it) for it in KNOWN]
    again = [it | {"name": it["name"].replace("shardy", "gspmd")} for it in cells]
    others = [
        known(cell("TOY-01", "fine"), "TOY-01", "fine", unexpected=True),
        known(cell("TOY-01", "fine"), "TOY-01", "fine", waiver=None),
        known("TOY-01[fine]@toy.subject-1.0-cpu8-shardy", "TOY-01", "fine"),
        known("TOY-01[fine]@stock-0.0.1-cpu8-shardy", "TOY-01", "fine"),
        {"kind": "footer"},
    ]
    path = record(tmp_path / "record.jsonl", *cells, *again, *others)
    path.write_text("[]\nnull\n" + path.read_text() + '{"kind": "cell", "na')  # cut off
    status, out, err = conformance("repros", path, "-o", tmp_path / "made")
    assert (status, out) == (1, "")
    assert "4 known deviations in" in err
    assert "3 of 4 shown by their scripts" in err
    assert '[4/4] TOY-02.stuck: shown: touch = "sleep", hung = true\n' in err
    assert "[2/4] TOY-01.first: NOT shown" in err
    made = {it.name for it in (tmp_path / "made").iterdir()}
    assert made == {"TOY-01.wrong.py", "TOY-02.crash.py", "TOY-02.stuck.py"}
    assert alone(tmp_path / "made" / "TOY-02.crash.py").returncode == -11


def test_a_record_of_which_nothing_can_be_made(conformance, cell, tmp_path):
    fine = {"name": cell("TOY-01", "fine"), "waiver": None}
    other = known("TOY-01[wrong]@stock-0.0.1-cpu8-shardy", "TOY-01", "wrong")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    for path, why in [
        (record(tmp_path / "fine.jsonl", fine), "no cell of the subject stock deviates in it"),
        (record(tmp_path / "empty.jsonl"), "no cell of the subject stock deviates in it"),
        (ROOT / "README.md", "no cell of the subject stock deviates in it"),
        (tmp_path / "missing.jsonl", "cannot be read"),
        (tmp_path / "binary", "cannot be read"),
        (record(tmp_path / "other.jsonl", other), "is of 0.0.1, which"),
    ]:
        status, out, err = conformance("repros", path, "-o", tmp_path / "made")
        assert (status, out, err.count("\n")) == (2, "", 1)
        assert why in err


def test_a_folder_that_cannot_be_made(conformance, cell, tmp_path):
    (tmp_path / "file").write_text("")
    path = record(tmp_path / "record.jsonl", known(cell("TOY-01", "wrong"), "TOY-01", "wrong"))
    status, _, err = conformance("repros", path, "-o", tmp_path / "file" / "made")
    assert status == 2
    assert "cannot be made" in err
