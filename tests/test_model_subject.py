"""The model as a subject: what it offers, what its observers say, and that it needs no JAX."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from impl import model
from impl.host.names import CAPABILITIES, NAMES, has
from impl.model.dates import NEWEST
from impl.model.model import Model
from tests import stock_there, test_stock, test_stock_versions

ROOT = Path(__file__).parents[1]
PARTITIONERS = ("shardy", "gspmd")
OLD = "0.4.35"


def started(partitioner="shardy", *argument):
    return model.start("cpu:8", partitioner, *argument)


@pytest.fixture
def subject():
    return started()


@pytest.fixture
def see(subject):
    return subject.see(lambda **_: None)


# --- where it runs ----------------------------------------------------------------------------------------------------

ALONE = """
import json, sys
from impl import model
model.load()
subject = model.start("cpu:8", "shardy")
subject.hello()
print(json.dumps(sorted({name.partition(".")[0] for name in sys.modules})))
"""


def test_a_process_that_holds_the_model_holds_no_jax():
    run = subprocess.run([sys.executable, "-c", ALONE], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = {*json.loads(run.stdout)}
    assert {"impl", "numpy", "ml_dtypes"} <= loaded
    assert not {"jax", "jaxlib", "conformance", "scipy"} & loaded


@pytest.mark.parametrize("target", ["cpu", "cpu:0", "cpu:2x4", "gpu"])
def test_an_unknown_target_is_named_with_the_way_out(target):
    with pytest.raises(ValueError, match=rf"^unknown target {target}: write cpu:N, such as cpu:8$"):
        model.environment(target)


@pytest.mark.parametrize("count", [1, 3, 8])
def test_there_are_as_many_devices_as_the_target_asks_for(count):
    hello = model.start(f"cpu:{count}", "shardy").hello()
    assert [device["id"] for device in hello["devices"]] == list(range(count))


@pytest.mark.parametrize("partitioner", PARTITIONERS)
def test_the_partitioner_is_read_off_what_was_lowered(partitioner):
    assert started(partitioner).hello()["partitioner"] == partitioner


def test_what_a_fault_breaks_is_still_offered(subject):
    class Broken(Model):
        """Takes nothing, and says nothing of its partitioner."""

        def device_put(self, *args, **flags):
            raise RuntimeError("no")

        def text(self, lowered, dialect="stablehlo"):
            return "module {}"

    broken = model.start("cpu:8", "shardy", model=Broken)
    assert broken.hello() == subject.hello()
    with pytest.raises(RuntimeError, match=r"^no$"):
        broken.jax.device_put(1.0)


# --- the date of the contract -----------------------------------------------------------------------------------------


def test_hello_says_which_contract_is_kept(subject):
    versions = subject.hello()["versions"]
    assert versions.keys() == {"python", "numpy", "contract"}
    assert versions["contract"] == NEWEST
    assert started("shardy", "0.8.3").hello()["versions"]["contract"] == "0.8.3"


@pytest.mark.parametrize("argument", ["nonsense", "0.8", "0.8.x", "-1.0.0", "0.8.3 ", "v0.8.3", "newest"])
def test_what_is_no_version_is_refused_in_a_line(argument):
    with pytest.raises(ValueError, match=r"name a version of JAX from .*, such as \d+\.\d+\.\d+$") as caught:
        started("shardy", argument)
    assert argument in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("argument", [OLD, "0.5.3", "0.6.2", "0.7.2", "0.9.2", NEWEST])
def test_a_name_is_there_or_says_which_capability_to_ask_for(argument):
    subject = started("shardy", argument)
    there = set(subject.hello()["capabilities"])
    for name in NAMES:
        assert has(subject.jax, name) == (name not in CAPABILITIES or CAPABILITIES[name] in there), name


def test_the_date_decides_what_is_offered():
    old, new = (set(started("shardy", it).hello()["capabilities"]) for it in (OLD, NEWEST))
    assert {"executes", "pointers", "device_put.flags", "platforms", "dtype.bfloat16", "dtype.int4"} <= old & new
    assert {"set_mesh", "axis_types", "memory.pinned_host"} <= new - old
    assert "positional_sharding" in old - new
    assert "abstract_mesh" in old & new


# --- what is done under the names that probes use, as JAX does it -----------------------------------------------------


LATER = {
    "auto": "texts declare programs, and do not say what they do",
    "export": "texts declare programs, and do not say what they do",
    "sharding_type_error": "types have no shardings yet",
}
"""What the model does not do yet."""


@pytest.mark.parametrize("partitioner", PARTITIONERS)
@pytest.mark.parametrize("version", [OLD, NEWEST])
@pytest.mark.parametrize("check", test_stock_versions.DO)
def test_a_name_does_what_it_does_in_jax(check, version, partitioner):
    subject = started(partitioner, version)
    see = subject.see(lambda **_: None)
    try:
        does = stock_there.CHECKS[check](subject, subject.jax, see)
    except AttributeError as error:
        lacks = re.search(r"needs '(\w+)'$", str(error))
        does = str(error)
        if lacks and lacks[1] not in subject.hello()["capabilities"]:
            pytest.skip(f"no {lacks[1]} in the model of {version}")
    except Exception as error:
        does = f"{type(error).__name__}: {error}"
    same = json.loads(json.dumps(does)) == test_stock_versions.DO[check]
    assert same == (check not in LATER), does


def test_memory_kinds_are_what_was_asked_for(subject, see):
    kinds = stock_there.kinds(subject, subject.jax, see)
    assert kinds["asked"] == kinds["got"] == ["device", "pinned_host", "unpinned_host"]
    assert kinds["default"] == "device"


# --- what the observers say -------------------------------------------------------------------------------------------


@pytest.fixture
def there(subject, see, monkeypatch):
    """Runs what stock's tests run, on the model."""
    for name, it in {"subject": subject, "jax": subject.jax, "see": see}.items():
        monkeypatch.setattr(test_stock, name, it, raising=False)
    monkeypatch.setattr(test_stock, "jax_itself", lambda: subject.jax)
    return lambda f: f()


def test_every_replica_counts_for_the_value(there):
    test_stock.test_every_replica_counts_for_the_value(there)


def test_a_place_says_what_is_seen_of_an_array_that_lies_there(there):
    test_stock.test_a_place_says_what_is_seen_of_an_array_that_lies_there(there)


def test_another_memory_kind_is_part_of_a_sharding(there):
    test_stock.test_another_memory_kind_is_part_of_a_sharding(there)


def test_sharing_is_told_from_pointers(there):
    test_stock.test_sharing_is_told_from_pointers(there)


def test_costs_are_counted_since_the_last_look(there):
    test_stock.test_costs_are_counted_since_the_last_look(there)


def test_what_becomes_of_an_array(subject, see):
    jax, value = subject.jax, stock_there.VALUE
    x, y = (stock_there.put(jax, "x") for _ in range(2))
    y.delete()
    assert [see.state(x, value), see.state(x, value + 1), see.state(y, value)] == ["intact", "changed", "deleted"]


LEVELS = ("trace", "lower", "compile", "dispatch")


def test_a_second_call_does_nothing_again(subject, see):
    jax, x = subject.jax, stock_there.put(subject.jax, "x")
    program = jax.jit(see.traced(lambda x: x * 3 + 1))
    assert not see.fast_path(lambda: program(x))
    assert see.redone(lambda: program(x)) == dict.fromkeys(LEVELS, 0)
    jax.clear_caches()
    assert see.redone(lambda: program(x)) == dict.fromkeys(LEVELS, 1)
    assert see.fast_path(lambda: program(x))


def test_an_ahead_of_time_program_is_called_without_compiling(subject, see):
    ahead = subject.jax.jit(see.traced(stock_there.bump)).lower(stock_there.VALUE).compile()
    before = see.compiled()
    assert see.redone(lambda: ahead(stock_there.VALUE)) == dict.fromkeys(LEVELS, 0)
    assert see.compiled() == before
