"""The names of today and the observers, on the installed JAX and on every JAX that SHARDSPEC_PYTHONS names.

Each JAX is asked once, in a process of its own, by tests/stock_there.py.
"""

import json
import os
import re
import subprocess
import sys
import warnings
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
VARIABLE = "SHARDSPEC_PYTHONS"
OTHERS = list(filter(None, os.environ.get(VARIABLE, "").split(os.pathsep)))
PARTITIONERS = ("shardy", "gspmd")


@cache
def told(python, partitioner, module="tests.stock_there"):
    """What a module says of the JAX of that Python, in one go."""
    asked = subprocess.run(
        [python, "-W", "ignore", "-m", module, partitioner],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert asked.returncode == 0, f"{python} ended with {asked.returncode}\n{asked.stderr}"
    return json.loads(asked.stdout)


JAXES = [(python, partitioner) for python in (sys.executable, *OTHERS) for partitioner in PARTITIONERS]
pythons = pytest.mark.parametrize(
    ("python", "partitioner"), JAXES, ids=[f"{n // 2}-{it}" for n, (_, it) in enumerate(JAXES)]
)


def test_other_versions_are_judged():
    if not OTHERS:
        reason = f"only the installed JAX is tested: name the Pythons of others in {VARIABLE}, {os.pathsep!r} between"
        warnings.warn(reason, stacklevel=1)
        pytest.skip(reason)
    versions = Counter(told(python, "shardy")["hello"]["versions"]["jax"] for python in OTHERS)
    assert max(versions.values()) == 1, "each other Python has another JAX"


# --- names ------------------------------------------------------------------------------------------------------------

MISSING = "AttributeError: there is no jax.{} here: a rule or a case that uses it needs {!r}"
FOREIGN = "AttributeError: probes have no jax.{}: impl/host/names.py lists the names that subjects offer"


@pythons
def test_a_name_is_there_or_says_which_capability_to_ask_for(python, partitioner):
    here = told(python, partitioner)
    capabilities = set(here["hello"]["capabilities"])
    lacking = {name: of for name, of in here["capabilities"]["is"].items() if of not in capabilities}
    missing = here["names"]["is"]
    assert missing == {name: MISSING.format(name, lacking[name]) for name in missing}
    assert {lacking[name] for name in missing} == set(lacking.values()), "a capability is lacking with its names there"


@pythons
def test_a_name_that_subjects_do_not_offer_is_refused(python, partitioner):
    assert told(python, partitioner)["foreign"]["is"] == [FOREIGN.format(it) for it in ("pmap", "sharding.Sharding")]


@pythons
def test_spellings_lead_to_what_probes_get(python, partitioner):
    here = told(python, partitioner)
    spelled = here["older_spellings"]["is"]
    assert spelled.keys() == here["hello"]["spellings"].keys()
    assert all(spelled.values()), spelled


# --- what they do -----------------------------------------------------------------------------------------------------

FOUR = {"type": "NamedSharding", "axes": [["x", 2], ["y", 2]], "devices": [0, 1, 2, 3], "spec": []}
FIRST = {"type": "SingleDeviceSharding", "devices": [0]}
KINDS = {
    ("unpinned_host",): "unpinned_host",
    ("device", "pinned_host", "unpinned_host"): "device",
}
"""The kinds of memory that a CPU has had, and its default."""

LAYOUTS = {"rows": ["same", [0, 1], ["x"]], "columns": ["same", [1, 0], ["x"]]}
DO = {
    "make_mesh": {"shape": {"x": 2, "y": 4}, "devices": list(range(8)), "names": ["x", "y"]},
    "make_mesh_of_types": [["Explicit", "Auto"], ["Explicit", "Explicit"], ["Explicit", "Auto"]],
    "abstract_mesh": {"shape": {"x": 2, "y": 4}, "names": ["x", "y"], "type": "AbstractMesh"},
    "constraint_over_an_abstract_mesh": ["same", ["y"]],
    "shard_map": [["same", "same"], ["same", "same"]],
    "shard_map_checks_replication": [True, False],
    "set_mesh": [FIRST, FOUR, {**FOUR, "devices": [4, 5, 6, 7]}, FOUR, FIRST],
    "mesh_as_a_context": [True, FOUR | {"spec": ["y"]}, True],
    "reshard": ["same", ["y", "x"]],
    "sharding_type_error": "ShardingTypeError",
    "layouts": LAYOUTS,
    "positional_sharding": ["same", {"type": "PositionalSharding", "devices": [3, 2, 1, 0]}],
    "auto": True,
    "export": True,
    "keys": "same",
    "trees": [2, 3],
    "assembled": ["same", True, True],
    "transformed": [[8, 8], "same", "same"],
    "runtime_error": True,
}
BROKEN = {
    ("0.4.35", "layouts"): LAYOUTS | {"columns": "AssertionError"},
    ("0.4.38", "layouts"): LAYOUTS | {"columns": "AssertionError"},
}
"""What does not work in a JAX though it is offered there: the suite's findings, no spelling of ours."""


@pythons
@pytest.mark.parametrize("check", DO)
def test_a_name_does_the_same_everywhere(python, partitioner, check):
    here = told(python, partitioner)
    hello, does = here["hello"], here[check]
    lacks = re.search(r"needs '(\w+)'$", does.get("raised", ""))
    if lacks:
        assert lacks[1] not in hello["capabilities"]
        pytest.skip(f"no {lacks[1]} in jax {hello['versions']['jax']}")
    assert does == {"is": BROKEN.get((hello["versions"]["jax"], check), DO[check])}


@pythons
def test_memory_kinds_are_what_was_asked_for(python, partitioner):
    here = told(python, partitioner)
    kinds = here["kinds"]["is"]
    assert kinds["got"] == kinds["asked"]
    assert kinds["default"] == KINDS[tuple(kinds["asked"])]
    assert {f"memory.{kind}" for kind in kinds["asked"]} <= set(here["hello"]["capabilities"])


# --- capabilities -----------------------------------------------------------------------------------------------------

EVERYWHERE = {"abstract_mesh", "device_put.flags", "executes", "format", "pointers", "shard_map"}


@pythons
def test_capabilities_are_asked_for_without_compiling(python, partitioner):
    here = told(python, partitioner)
    capabilities = here["hello"]["capabilities"]
    assert EVERYWHERE | {"dtype.bfloat16", "dtype.int4"} <= set(capabilities)
    assert "platforms" not in capabilities
    assert here["hello"]["partitioner"] == partitioner
    assert here["start"] == {"lower": 0, "compile": 0}


# --- counters ---------------------------------------------------------------------------------------------------------

LEVELS = ("trace", "lower", "compile", "dispatch")
REDONE = {
    "first": (1, 1, 1, 1),
    "second": (0, 0, 0, 0),
    "new shape": (1, 1, 1, 1),
    "back": (0, 0, 0, 0),
    "another jit over it": (0, 0, 0, 0),
    "another output": (0, 1, 1, 1),
    "donated": (0, 1, 1, 1),
    "donated again": (0, 0, 0, 0),
    "waited for": (0, 0, 0, 0),
    "another function": (1, 1, 1, 1),
    "nested": (2, 1, 1, 1),
    "nested again": (0, 0, 0, 0),
    "key": (1, 1, 1, 1),
    "key again": (0, 0, 0, 0),
    "host's array again": (0, 0, 0, 0),
    "fresh sharding": (0, 1, 1, 1),
    "fresh sharding again": (0, 0, 0, 0),
    "ahead of time": (0, 0, 0, 0),
    "under vmap": (1, 1, 1, 1),
    "under vmap again": (0, 0, 0, 0),
    "under grad again": (0, 0, 0, 0),
    "grad in jit": (0, 1, 1, 1),
    "grad in jit again": (0, 0, 0, 0),
    "scan": (1, 1, 1, 1),
    "scan again": (0, 0, 0, 0),
    "python": (0, 0, 0, 0),
}


@pythons
def test_every_level_of_every_call_is_counted(python, partitioner):
    calls = told(python, partitioner)["counters"]["is"]
    seen = {what: tuple(said["seen"][level] for level in LEVELS) for what, said in calls.items() if "seen" in said}
    assert {what: seen.get(what) for what in REDONE} == REDONE


@pythons
def test_callbacks_are_rows_of_their_own(python, partitioner):
    """Up to 0.4.38 none can be lowered under Shardy; up to 0.6 C++ serves none."""
    first, again = (told(python, partitioner)["counters"]["is"][what] for what in ("callback", "callback again"))
    if partitioner == "shardy" and "raised" in again:
        assert first == again == {"raised": "AttributeError"}
        return
    assert first["seen"] == dict.fromkeys(LEVELS, 1)
    assert again["seen"] == dict.fromkeys(LEVELS, 0) | {"dispatch": again["own"].get("dispatch", 1)}


@pythons
def test_the_counters_agree_with_jaxs_own(python, partitioner):
    calls = told(python, partitioner)["counters"]["is"]
    compared = {what: said for what, said in calls.items() if said.get("own")}
    for what, said in compared.items():
        assert {level: said["seen"][level] for level in said["own"]} == said["own"], what
    assert compared or told(python, partitioner)["hello"]["versions"]["jax"] == "0.4.35", (
        "JAX has no counters of its own"
    )


@pythons
def test_watching_changes_nothing_and_leaves_nothing(python, partitioner):
    here = told(python, partitioner)
    assert here["watching_changes_nothing"] == {"is": True}
    assert here["the_window_leaves_no_trace"] == {"is": [["LookupError: mine", True, True]] * 2}


@pythons
def test_what_another_thread_redoes_is_counted_but_its_dispatch(python, partitioner):
    assert told(python, partitioner)["other_threads"]["is"] == dict(zip(LEVELS, (1, 1, 1, 0), strict=True))


# --- texts ------------------------------------------------------------------------------------------------------------


@pythons
def test_texts_are_of_their_dialect_and_tell_the_partitioner(python, partitioner):
    texts = told(python, partitioner)["texts"]["is"]
    assert texts == {"lowered": partitioner, "hlo": True, "compiled": True, "of neither": None}


@pythons
def test_aliases_are_read_off_a_compiled_text(python, partitioner):
    def alias(output, parameter):
        return {"output": output, "parameter": parameter, "must": False}

    assert told(python, partitioner)["aliases"]["is"] == {
        "none": [],
        "one": [alias([], [0])],
        "two": [alias([0], [1]), alias([1], [2])],
    }
