"""On the installed JAX, the script of every probe of the contract sees what the host saw."""

import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.kit import rules, waivers
from conformance.kit.cases import Judgement
from conformance.kit.cells import lay_out
from conformance.kit.columns import Column
from conformance.kit.run import Result
from conformance.kit.verdicts import judge
from conformance.repro.script import draft, noted
from impl.host import Configuration, Pool

ROOT = Path(__file__).parents[1]
LIMIT = 10.0
EACH = 2  # cases of each judgement
HOW = {"ended": ("0", "1"), "hung": ("hung",), "crashed": tuple(str(-number) for number in range(1, 65))}


@pytest.fixture(scope="module")
def results():
    """Some cells of each judgement, with what a host saw."""
    contract = rules.load(ROOT / "conformance" / "contract")
    allowed = waivers.load(ROOT / "conformance" / "waivers", contract)
    configuration = Configuration("stock", sys.executable, "cpu:8", "shardy")
    pool = Pool(cell_timeout=LIMIT)
    column = Column(configuration, pool.open(configuration))
    cells = []
    for stem, chapter in contract.chapters.items():
        for name, judgement in vars(importlib.import_module(f"conformance.test_{stem}")).items():
            if isinstance(judgement, Judgement):
                looks = [*lay_out(chapter, name.removeprefix("test_"), judgement, [column]).looks()]
                there = [cell for look in looks if (cell := next((it for it in look.cells() if it.observable), None))]
                cells += there[:: max(1, -(-len(there) // EACH))]
    pool.want(it.look.request for it in cells)
    made = []
    for cell in cells:
        outcome = pool.take(cell.look.request)
        seen = judge(((it, cell.look.case) for it in cell.look.rules), outcome, column.hello.capabilities)
        made.append(Result(cell, allowed.rule(cell.rule, cell.look.case.id, column, seen[cell.rule.id]), outcome))
    pool.close()
    late = dict(pool.late())
    return [it for it in made if it.cell.look.request not in late]


def test_scripts_see_what_hosts_see(results, tmp_path):
    assert len({it.cell.look.request.probe for it in results}) > 20
    paths = []
    for number, result in enumerate(results):
        paths.append(tmp_path / f"{number}.py")
        paths[-1].write_text(draft("conformance", result, short=False))
    command = [sys.executable, str(ROOT / "tests" / "repro_runner.py"), str(LIMIT), *map(str, paths)]
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    ends = told.stdout.split()
    assert len(ends) == len(paths), told.stderr
    differ = []
    for result, path, end in zip(results, paths, ends, strict=True):
        out = path.with_suffix(".out").read_text(errors="replace")
        seen, touch = noted(out.splitlines())
        wanted = json.loads(json.dumps(dict(result.outcome.fields)))
        same = {name: it for name, it in seen.items() if name not in ("survives", "raised")} == wanted
        same = same and end in HOW[result.outcome.status]
        if not same or (result.outcome.status != "ended" and touch != result.outcome.touch):
            differ.append(f"{result.cell.name}: {wanted} ({result.outcome.status}), not {seen} ({end})\n{out[-500:]}")
    assert not differ, "\n".join(differ)
