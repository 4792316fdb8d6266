"""The installed JAX as a subject: what its observers say, and that looking changes nothing.

JAX lives in a process of its own, one for most of these tests: `there(f, ...)` runs `f` in it and returns what it says.
"""

import ast
import json
import os
import resource
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conformance import test_put as chapter
from conformance.probes import arrays, places, put
from impl import stock

ARRAY = "f32_8x8"
PROBES = Path(places.__file__).parent
MEGABYTE = 1 << 20

# What the process that has JAX holds.
loaded: list[str]
subject: Any
jax: Any
see: Any
steps: list[str]


def a_process(*args):
    return ProcessPoolExecutor(1, get_context("spawn"), *args)


@pytest.fixture(scope="module")
def there():
    with a_process(start) as pool:
        yield lambda f, *args: pool.submit(f, *args).result(timeout=120)


def start(partitioner="shardy"):
    global loaded, subject, jax, see, steps
    os.environ.update(stock.environment("cpu:8"))
    stock.load()
    from jax._src import xla_bridge

    loaded = list(xla_bridge._backends)
    subject, steps = stock.start("cpu:8", partitioner), []
    jax, see = subject.jax, subject.see(lambda **said: steps.extend(filter(None, [said.get("step")])))


def made(source):
    return arrays.make(jax, source, ARRAY)


# --- where it runs ----------------------------------------------------------------------------------------------------


def test_the_environment_keeps_the_users_own_flags(monkeypatch):
    monkeypatch.setenv("XLA_FLAGS", f"--xla_dump_to=/x {stock.DEVICE_COUNT}=3")
    assert stock.environment("cpu:4")["XLA_FLAGS"] == f"--xla_dump_to=/x {stock.DEVICE_COUNT}=4"


@pytest.mark.parametrize("target", ["cpu", "cpu:", "cpu:0", "cpu:x", "cpu:2x4", "gpu", "tpu:8"])
def test_an_unknown_target_is_named_with_the_way_out(target):
    with pytest.raises(ValueError, match=rf"^unknown target {target}: write cpu:N, such as cpu:8$"):
        stock.environment(target)


def test_loading_starts_no_backend(there):
    assert there(backends_after_loading) == []


def backends_after_loading():
    return loaded


def test_hello_says_what_is_there(there):
    hello = there(greet)
    assert hello["partitioner"] == "shardy"
    assert [device["id"] for device in hello["devices"]] == list(range(8))
    assert hello["versions"].keys() == {"python", "jax", "jaxlib", "numpy"}
    assert hello["capabilities"] == sorted(hello["capabilities"])
    assert {"device_put.flags", "executes", "pointers"} < set(hello["capabilities"])


def test_the_partitioner_is_switched():
    with a_process(start, ("gspmd",)) as pool:
        assert pool.submit(greet).result(timeout=120)["partitioner"] == "gspmd"


def greet():
    return subject.hello()


def test_probes_use_only_names_that_subjects_offer(there):
    names, observers = there(offered)
    used = [chain for path in PROBES.glob("*.py") for chain in chains(ast.parse(path.read_text()))]
    assert len(used) > 100
    assert not {it for it in used if it[0] == "see" and it[1] not in observers}
    assert not {it for it in used if it[0] == "jax" and not any(it[1 : len(name) + 1] == name for name in names)}


def offered():
    from impl.host.names import NAMES

    return [tuple(name.split(".")) for name in NAMES], dir(see)


def chains(node):
    """The dotted names that start with `jax` or `see`, each at its full length, as tuples."""
    parts, inner = [], node
    while isinstance(inner, ast.Attribute):
        parts.append(inner.attr)
        inner = inner.value
    if parts and isinstance(inner, ast.Name) and inner.id in ("jax", "see"):
        yield (inner.id, *reversed(parts))
        return
    for child in ast.iter_child_nodes(node):
        yield from chains(child)


# --- what the observers say -------------------------------------------------------------------------------------------


def test_every_replica_counts_for_the_value(there):
    assert there(values) == ["same", "differs", "differs", "differs"]


def values():
    value, x = arrays.value(ARRAY), made("rep")
    other = value.copy()
    other[7, 7] += 1
    shards = [jax_itself().device_put(other if n == 3 else value, jax.devices()[n]) for n in range(4)]
    odd = jax_itself().make_array_from_single_device_arrays(value.shape, x.sharding, shards)
    assert np.array_equal(np.asarray(odd), value), "a look at the whole array sees one replica"
    return [see.same(x, value), see.same(odd, value), see.same(x, value.astype("i4")), see.same(x, value[:4])]


def jax_itself():
    import jax

    return jax


def test_a_place_says_what_is_seen_of_an_array_that_lies_there(there):
    expected = json.loads(json.dumps({source: place.sharding for source, place in places.SOURCES.items()}))
    assert there(shardings) == expected


def shardings():
    return {source: see.sharding(made(source)) for source in places.SOURCES}


def test_another_memory_kind_is_part_of_a_sharding(there):
    if "pinned_host" in there(greet)["memory_kinds"]:
        assert there(far) == {"type": "SingleDeviceSharding", "devices": [3], "memory": "pinned_host"}


def far():
    return see.sharding(jax.device_put(made("one"), single(3, memory_kind="pinned_host")))


def single(device, **more):
    return jax.sharding.SingleDeviceSharding(jax.devices()[device], **more)


def test_sharing_is_told_from_pointers(there):
    assert there(sharing) == {"itself": "all", "another": "none", "one of four": "some"}


def sharing():
    x = made("rep")
    spans = see.spans(x)
    return {
        "itself": see.shares(spans, x),
        "another": see.shares(spans, made("rep")),
        "one of four": see.shares(spans[:1], x),
    }


def test_the_state_of_an_array_and_the_steps_to_it(there):
    steps = ["is_deleted", "shards", "read"]
    assert there(states) == {
        "intact": ("intact", steps),
        "changed": ("changed", steps),
        "deleted": ("deleted", steps[:2]),
        "torn": ("torn", steps[:2]),
    }


def states():
    value, other = arrays.value(ARRAY), arrays.value(ARRAY) + 1
    deleted = made("xy")
    deleted.delete()
    told = {}
    for name, x, holds in [
        ("intact", made("xy"), value),
        ("changed", made("xy"), other),
        ("deleted", deleted, value),
        ("torn", torn(), value),
    ]:
        steps.clear()
        told[name] = see.state(x, holds), list(steps)
    return told


def torn():
    """Donated while the user held a host view of one shard: that shard stays, the others are gone."""
    x = made("xy")
    view = np.asarray(x.addressable_shards[0].data)
    jax.block_until_ready(jax.jit(put.bump, donate_argnums=0)(x))
    del view
    return x


def test_the_words_of_an_error_are_found(there):
    assert there(words) == ["donate", "may_alias"]


def words():
    return see.named(ValueError("may_alias and donate cannot both be"), ("donate", "may_alias", "devices"))


def test_costs_are_counted_since_the_last_look(there):
    assert there(costs) == [{"lower": 1, "compile": 1}, {"lower": 0, "compile": 0}]


def costs():
    x = made("one")
    subject.cost()
    jax.block_until_ready(jax.jit(lambda x: x * 3)(x))
    return [subject.cost(), subject.cost()]


# --- looking changes nothing ------------------------------------------------------------------------------------------

DONATIONS = ("none", "same", "yx", "perm")
MET = {(case.source, case.target) for case in chapter.puts}


@pytest.mark.parametrize("source", places.SOURCES)
def test_reading_pointers_does_not_change_what_donation_does(there, source):
    for donation in ("jit", *(target for target in DONATIONS if (source, target) in MET)):
        assert there(donated, source, donation, True) == there(donated, source, donation, False), donation


def donated(source, donation, look):
    x = made(source)
    if look:
        see.spans(x)
    if donation == "jit":
        jax.block_until_ready(jax.jit(put.bump, donate_argnums=0)(x))
    else:
        jax.block_until_ready(jax.device_put(x, places.make(jax, source, donation), donate=True))
    return see.state(x, arrays.value(ARRAY))


@pytest.mark.skipif(not hasattr(resource, "getrusage"), reason="no peak memory to read")
def test_reading_pointers_does_not_keep_memory_from_being_reused():
    with a_process(start) as pool:
        looked, unlooked, kept = pool.submit(peaks).result(timeout=120)
    assert max(looked, unlooked) < 64 * MEGABYTE < 192 * MEGABYTE < kept


def peaks():
    """By how much peak memory grows with a program over 256 MB: donated after a look, donated unseen, not donated."""
    import jax.numpy as jnp

    def peak():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

    def growth(look, **donate):
        x = jax.block_until_ready(jax.jit(lambda: jnp.ones(64 * MEGABYTE, np.float32))())
        if look:
            see.spans(x)
        before = peak()
        jax.block_until_ready(jax.jit(lambda x: x + 1, **donate)(x))
        return peak() - before

    return growth(True, donate_argnums=0), growth(False, donate_argnums=0), growth(False)


def test_a_source_never_lies_in_the_hosts_memory(there):
    assert there(addresses) == {4}


def addresses():
    some = [name for name, values in arrays.ARRAYS.items() if 0 < np.prod(values.shape) < 1000]
    return {arrays.value(array).ctypes.data % 64 for array in some for _ in range(20)}


@pytest.mark.parametrize("source", ["one", "xy"])
def test_settling_waits_for_programs_that_nobody_holds(there, source):
    unsettled, settled = there(left_running, source)
    assert unsettled > 0.05 > 0.02 > settled


def left_running(source):
    """How busy the other threads are after a program of which nothing is kept, before and after settling."""
    from jax import lax

    slow = jax.jit(lambda x: lax.fori_loop(0, 100_000, lambda _, x: (x * 1.0001) @ x * 1e-4, x))
    x = made(source)
    jax.block_until_ready(slow(x))

    def others():
        return time.process_time() - time.thread_time()

    def busy():
        before = others()
        time.sleep(0.05)
        return (others() - before) / 0.05

    slow(x)
    unsettled = busy()
    subject.settle()
    return unsettled, busy()


# --- the chapter's own tables -----------------------------------------------------------------------------------------


def test_the_rows_are_the_flag_table():
    rows = {(flags.get("donate", False), flags.get("may_alias")) for flags in put.FLAGS.values()}
    assert rows == {(donate, alias) for donate in (False, True) for alias in (None, False, True)}


def test_no_kind_of_source_or_target_is_left_out():
    sources, targets = map(set, zip(*MET, *((case.source, case.target) for case in chapter.swaps), strict=True))
    assert sources >= {*places.SOURCES, *arrays.HOSTS}
    assert targets == set(places.TARGETS)


def test_targets_are_what_their_names_say():
    here = places.SOURCES["xy"]
    assert places.target("xy", "none") is None
    assert places.target("xy", "same") == here
    assert places.target("free", "same") == places.SOURCES["one"]
    assert places.target("xy", "perm") == replace(here, devices=(3, 1, 0, 2))
    assert places.target("xy", "other4") == replace(here, devices=(4, 5, 6, 7))
