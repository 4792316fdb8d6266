"""A whole suite in miniature, on a subject without JAX: what pytest makes of every verdict, with real hosts."""

from pathlib import Path
from textwrap import dedent

from conformance.kit.rules import load

SUBJECT = """
    import os, sys
    from impl.host.see import See

    def environment(target):
        return {}

    def load():
        if "broken" in os.path.basename(sys.executable):
            raise ModuleNotFoundError("No module named 'jax'", name="jax")

    def start(target, partitioner):
        if "empty" in os.path.basename(sys.executable):
            print("the driver is not there")
            raise RuntimeError("none found")
        return Toy(int(target.rpartition(":")[2]), partitioner)

    class Toy:
        jax = None

        def __init__(self, devices, partitioner):
            self.devices, self.partitioner, self.version = devices, partitioner, ""

        def hello(self):
            _, _, version = os.path.basename(sys.executable).partition("jax-")
            return {
                "versions": {"jax": self.version or version or "1.0", "python": "3"},
                "devices": [{"id": i} for i in range(self.devices)],
                "memory_kinds": [],
                "capabilities": ["executes"],
                "partitioner": self.partitioner,
            }

        def see(self, note):
            return See(note)

        def settle(self):
            pass

        def cost(self):
            return {}
"""
PROBES = """
    import os, signal, threading, time

    def act(jax, see, does):
        does = jax or does  # a fault does the same whatever the case
        with open(os.environ["TOY_LOG"], "a") as log:
            log.write(does + "\\n")
        if does == "wrong":
            print("something odd", flush=True)
        see.step("look")
        side = {"other": "left", "sideways": "up"}.get(does, "right")
        see(value="wrong" if does == "wrong" else "right", side=side)
        if does == "crash":
            os.kill(os.getpid(), signal.SIGSEGV)
        if does == "later":
            threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGSEGV)).start()
        if does == "pause":
            breakpoint()
        if does == "stall":
            time.sleep(1e6)
        if does == "raise":
            raise ValueError("no")
        see(end=True)
"""
FAULTS = """
    from dataclasses import dataclass

    from .subject import Toy, environment, load

    @dataclass(frozen=True)
    class Fault:
        name: str
        does: str
        breaks: tuple
        also: tuple = ()
        why: str = "It does something else."
        where: str = "toy/faults.py:1"
        steps: frozenset = frozenset()
        contract: str = ""

    FAULTS = {it.name: it for it in [@FAULTS@]}

    def start(target, partitioner, name=None):
        toy = Toy(int(target.rpartition(":")[2]), partitioner)
        toy.jax = FAULTS[name].does if name in FAULTS else None
        toy.version = FAULTS[name].contract if name in FAULTS else name
        return toy
"""
CONTRACT = """
    chapter = "TOY"
    title = "toys"

    [[rule]]
    id = "TOY-01"
    text = "A toy is right."
    why = "Otherwise it is wrong."
    change = 1
    since = "0.5"
    cases = "acts"
    expect = {value = "right"}

    [[rule]]
    id = "TOY-02"
    text = "A toy survives."
    why = "Otherwise it is dead."
    change = 1
    since = "0.5"
    cases = "acts"
    expect = {survives = true}

    [[rule]]
    id = "TOY-03"
    level = "SHOULD"
    text = "A toy comes to its end."
    why = "Otherwise it is lost."
    change = 1
    since = "2.0"
    cases = "acts"
    when = {does = ["fine", "raise"]}
    expect = {end = true}

    [[rule]]
    id = "TOY-04"
    level = "MAY"
    text = "A toy takes a side."
    why = "Either is fun."
    change = 1
    since = "0.5"
    cases = "acts"
    when = {does = ["fine", "other"]}
    [rule.outcomes]
    left = {side = "left"}
    right = {side = "right"}

    [[rule]]
    id = "TOY-05"
    text = "A toy flies."
    why = "One may dream."
    change = 1
    since = "0.5"
    needs = ["flying"]
    cases = "acts"
    when = {does = "fine"}
    expect = {height = 1}

    [[question]]
    id = "TOY-Q1"
    text = "Which side?"
    why = "One may ask."
    change = 1
    cases = "acts"
    fields = ["side"]
"""
CHANGES = """
    [[change]]
    number = 1
    date = 2024-10-01
    release = "0.5"
    subject = "toys"
    rules = ["TOY-01"]
"""
WAIVER = """
    [[waiver]]
    id = "TOY-02/crash"
    rule = "TOY-02"
    cases = "crash"
    when = {subject = "toy.subject", versions = ">=0.5", targets = "cpu:*", partitioners = "*"}
    observed = {signal = "SIGSEGV", touch = "look"}
    reason = "Toys break."
    link = "none found"
    expires = 2999-01-01
"""
MODULE = """
    from dataclasses import dataclass

    from conformance.kit import Case, every, judge

    @dataclass(frozen=True)
    class Act(Case):
        does: str

        @property
        def wide(self):
            return self.does == "wide"

    acts = every(Act, does=@CASES@)
    test_acts = judge(probe="toy.act", cases=acts)
    REVIEWED = @MARKS@
"""
CONFTEST = """
    from pathlib import Path

    from conformance.kit import plugin, run

    plugin.SUITE = Path(__file__).parent / "toy"
    run.PROBES = "toy.probes"
    pytest_plugins = ["conformance.kit.plugin"]
"""


def write(
    path: Path,
    *cases: str,
    waivers: str | None = None,
    marks: dict[str, str] | None = None,
    faults: list[str] | None = None,
) -> Path:
    """Writes the suite as the package `toy` under a folder, with a conftest that points the plugin at it.

    `faults`: the arguments of each `Fault`, as text.
    """
    if waivers is None:
        waivers = WAIVER if "crash" in cases else ""
    toy = path / "toy"
    files = {
        path / "conftest.py": CONFTEST,
        toy / "__init__.py": "" if faults is None else 'MODEL, FAULTS = "toy.subject", "toy.faults"',
        toy / "subject.py": SUBJECT,
        toy / "faults.py": FAULTS.replace("@FAULTS@", ", ".join(f"Fault({it})" for it in faults or ())),
        toy / "probes" / "__init__.py": "",
        toy / "probes" / "toy.py": PROBES,
        toy / "contract" / "toy.toml": CONTRACT,
        toy / "contract" / "changes.toml": CHANGES,
        toy / "waivers" / "toy.toml": waivers,
    }
    for file, text in files.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(dedent(text))
    if marks is None:
        marks = {rule.id: rule.digest for rule in load(toy / "contract").rules.values()}
    module = MODULE.replace("@CASES@", repr(cases)).replace("@MARKS@", repr(marks))
    (toy / "test_toy.py").write_text(dedent(module))
    return toy
