"""What the installed JAX does when spelled as today, told as plain data: `python -m tests.stock_there PARTITIONER`.

Each check gets a started subject, its namespace and its observers. It needs nothing but that JAX; test_stock_versions
says what the answers must be.
"""

from __future__ import annotations

import gc
import importlib
import inspect
import json
import os
import sys
import threading
from typing import Any, ClassVar

import numpy as np

from impl import stock
from impl.host.names import CAPABILITIES, NAMES, has

VALUE = np.arange(64, dtype=np.float32).reshape(8, 8)


# --- names ------------------------------------------------------------------------------------------------------------


def names(subject, jax, see):
    """The names that are missing, and what is said when one is used."""
    missing = [name for name in NAMES if not has(jax, name)]
    return {name: said(lambda name=name: use(jax, name)) for name in missing}


def use(jax, name):
    for part in name.split("."):
        jax = getattr(jax, part)
    return jax


def said(act):
    """The error that an act raises; None where it raises none."""
    try:
        act()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def capabilities(subject, jax, see):
    """The names that some JAX lacks, with what to ask for."""
    return CAPABILITIES


def foreign(subject, jax, see):
    """What is said of a name that subjects do not offer, though JAX has it."""
    return [said(lambda: jax.pmap), said(lambda: jax.sharding.Sharding)]


def older_spellings(subject, jax, see):
    """Every spelling leads to what the namespace has; the source of an adapter alone makes the same function."""
    told = {}
    for name, path in subject.hello()["spellings"].items():
        module, _, last = path.rpartition(".")
        if module == "adapters":
            adapter = getattr(importlib.import_module("impl.stock.adapters"), last)
            lifted: dict[str, Any] = {"jax": jax_itself(), "np": np}
            exec("from __future__ import annotations\n" + inspect.getsource(adapter), lifted)
            told[name] = adapter is use(jax, name) and callable(lifted[last])
        else:
            told[name] = getattr(importlib.import_module(module), last) is use(jax, name)
    return told


def jax_itself():
    return importlib.import_module("jax")


# --- what the names do ------------------------------------------------------------------------------------------------


def square(jax, first=0):
    return jax.sharding.Mesh(np.array(jax.devices()[first : first + 4]).reshape(2, 2), ("x", "y"))


def named(jax, *spec, mesh=None):
    return jax.sharding.NamedSharding(mesh or square(jax), jax.sharding.PartitionSpec(*spec))


def put(jax, *spec):
    return jax.block_until_ready(jax.device_put(VALUE, named(jax, *spec)))


def make_mesh(subject, jax, see):
    mesh = jax.make_mesh((2, 4), ("x", "y"))
    return {"shape": dict(mesh.shape), "devices": sorted(it.id for it in mesh.devices.flat), "names": mesh.axis_names}


def make_mesh_of_types(subject, jax, see):
    types = jax.sharding.AxisType
    meshes = [jax.make_mesh((2, 4), ("x", "y"), axis_types=(types.Explicit, it)) for it in (types.Auto, types.Explicit)]
    meshes.append(jax.sharding.AbstractMesh((2, 4), ("x", "y"), axis_types=(types.Explicit, types.Auto)))
    return [[it.name for it in mesh.axis_types] for mesh in meshes]


def abstract_mesh(subject, jax, see):
    mesh = jax.sharding.AbstractMesh((2, 4), ("x", "y"))
    return {"shape": dict(mesh.shape), "names": mesh.axis_names, "type": type(mesh).__name__}


def constraint_over_an_abstract_mesh(subject, jax, see):
    types = jax.sharding.AxisType if "axis_types" in subject.hello()["capabilities"] else None
    mesh = jax.sharding.AbstractMesh((2, 2), ("x", "y"), **({"axis_types": (types.Auto,) * 2} if types else {}))
    there = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("y"))
    y = jax.jit(lambda x: jax.lax.with_sharding_constraint(x * 2, there))(put(jax, "x"))
    return [see.same(y, VALUE * 2), see.sharding(y)["spec"]]


def shard_map(subject, jax, see):
    spec = jax.sharding.PartitionSpec
    told = []
    for check in ({}, {"check_vma": False}):
        how = {"mesh": square(jax), "in_specs": spec("x", "y"), "out_specs": spec(None, "y"), **check}
        summed = jax.shard_map(lambda x: jax.lax.psum(x, "x"), **how)
        told.append([see.same(f(put(jax, "x", "y")), VALUE[:4] + VALUE[4:]) for f in (summed, jax.jit(summed))])
    return told


def shard_map_checks_replication(subject, jax, see):
    """An output that is said to be replicated and is not: refused with the check alone."""
    spec = jax.sharding.PartitionSpec
    told = []
    for check in (True, False):
        split = jax.shard_map(lambda x: x, mesh=square(jax), in_specs=spec("x"), out_specs=spec(), check_vma=check)
        told.append(said(lambda split=split: jax.jit(split)(put(jax, "x"))) is not None)
    return told


def set_mesh(subject, jax, see):
    """Within the context a program that names no sharding runs on the mesh, and nowhere else; contexts nest and end."""

    def run():
        return see.sharding(jax.jit(lambda x: x * 2)(VALUE))

    told = [run()]
    with jax.set_mesh(square(jax)):
        told.append(run())
        with jax.set_mesh(square(jax, 4)):
            told.append(run())
        told.append(run())
    return [*told, run()]


def mesh_as_a_context(subject, jax, see):
    """A mesh resolves a bare PartitionSpec within itself, and nowhere else."""

    def bare():
        constrained = jax.jit(lambda x: jax.lax.with_sharding_constraint(x * 2, jax.sharding.PartitionSpec("y")))
        return see.sharding(constrained(VALUE))

    told = [said(bare) is not None]
    with square(jax):
        told.append(bare())
    return [*told, said(bare) is not None]


def reshard(subject, jax, see):
    types = jax.sharding.AxisType
    mesh = jax.make_mesh((2, 2), ("x", "y"), axis_types=(types.Explicit,) * 2)
    x = jax.device_put(VALUE, named(jax, "x", mesh=mesh))
    with jax.set_mesh(mesh):
        y = jax.jit(lambda x: jax.reshard(x, jax.sharding.PartitionSpec("y", "x")))(x)
    return [see.same(y, VALUE), see.sharding(y)["spec"]]


def sharding_type_error(subject, jax, see):
    """Explicit axes: two operands whose types are cut along other axes are refused while tracing."""
    mesh = jax.make_mesh((2, 4), ("x", "y"), axis_types=(jax.sharding.AxisType.Explicit,) * 2)
    x, y = (jax.device_put(VALUE, named(jax, axis, mesh=mesh)) for axis in ("x", "y"))
    with jax.set_mesh(mesh):
        try:
            jax.jit(lambda x, y: x + y)(x, y)
        except jax.errors.ShardingTypeError as error:
            return type(error).__name__


def layouts(subject, jax, see):
    """Puts with each order of the dimensions: the value and the order that it then has."""
    told: dict[str, Any] = {}
    layout = jax.experimental.layout
    for name, order in {"rows": (0, 1), "columns": (1, 0)}.items():
        try:
            y = jax.device_put(VALUE, layout.Format(layout.Layout(order), named(jax, "x")))
            told[name] = [see.same(y, VALUE), see.layout(y), see.sharding(y)["spec"]]
        except Exception as error:
            told[name] = type(error).__name__
    return told


def positional_sharding(subject, jax, see):
    y = jax.device_put(VALUE, jax.sharding.PositionalSharding(jax.devices()[3::-1]).reshape(4, 1))
    return [see.same(y, VALUE), see.sharding(y)]


def auto(subject, jax, see):
    """Lowered only: compiling it under Shardy ends the process from 0.7 on."""
    f = jax.jit(lambda x: x * 2, in_shardings=jax.experimental.pjit.AUTO(square(jax)))
    return "multiply" in see.lowered(f, jax.ShapeDtypeStruct((8, 8), np.float32))


def export(subject, jax, see):
    return "stablehlo.add" in jax.export.export(jax.jit(lambda x: x + 1))(VALUE).mlir_module()


def keys(subject, jax, see):
    data = jax.random.key_data(jax.random.key(7))
    return see.same(jax.random.key_data(jax.random.wrap_key_data(data)), np.asarray(data))


def trees(subject, jax, see):
    return jax.tree.leaves(jax.tree.map(lambda it: it + 1, {"a": [1, 2], "b": None}))


def assembled(subject, jax, see):
    there = named(jax, "x")
    parts = [jax.device_put(VALUE[it], device) for device, it in there.devices_indices_map((8, 8)).items()]
    y = jax.make_array_from_single_device_arrays((8, 8), there, parts)
    return [see.same(y, VALUE), isinstance(y, jax.Array), jax.device_get(y).tobytes() == VALUE.tobytes()]


def transformed(subject, jax, see):
    shape = jax.eval_shape(lambda x: jax.vmap(jax.grad(lambda r: (r * r).sum()))(x), VALUE)
    scanned = jax.jit(lambda x: jax.lax.scan(lambda c, r: (c + r, None), jax.numpy.zeros(8, "f"), x)[0])(VALUE)
    chosen = jax.jit(lambda x: jax.lax.cond(x[0, 0] == 0, lambda x: x + 1, lambda x: x, x))(VALUE)
    return [list(shape.shape), see.same(scanned, VALUE.sum(0)), see.same(chosen, VALUE + 1)]


def runtime_error(subject, jax, see):
    try:
        jax.jit(bump).lower(VALUE).compile({"xla_no_such_option": 1})
    except jax.errors.JaxRuntimeError as error:
        return "xla_no_such_option" in str(error)


# --- observers --------------------------------------------------------------------------------------------------------


def bump(x):
    return x + 1


def counters(subject, jax, see):
    """What each call redoes, by public means, and beside it what JAX's own counters say of it where it has some."""
    told = {}

    def tell(what, call):
        with Private() as own:
            try:
                told[what] = {"seen": see.redone(call), "own": own}
            except Exception as error:
                told[what] = {"raised": type(error).__name__}

    x, other = put(jax, "x"), jax.block_until_ready(jax.device_put(VALUE[:4], named(jax, "x")))
    f = see.traced(lambda x: x * 3 + 1)
    program = jax.jit(f)
    wrappers = [jax.jit(f), jax.jit(f, out_shardings=named(jax)), jax.jit(f, donate_argnums=0)]
    tell("first", lambda: program(x))
    tell("second", lambda: program(x))
    tell("new shape", lambda: program(other))
    tell("back", lambda: program(x))
    tell("another jit over it", lambda: wrappers[0](x))
    tell("another output", lambda: wrappers[1](x))
    donated = [put(jax, "x") for _ in range(3)]
    for what, given in zip(("donated", "donated again"), donated, strict=False):
        tell(what, lambda given=given: wrappers[2](given))
    tell("waited for", lambda: jax.block_until_ready(program(x)))
    like = jax.jit(see.traced(lambda x: x * 3 + 1))
    tell("another function", lambda: like(x))

    outer = jax.jit(see.traced(lambda x: jax.jit(see.traced(lambda x: x * 5))(x) + 1))
    tell("nested", lambda: outer(x))
    tell("nested again", lambda: outer(x))

    where = jax.ShapeDtypeStruct((8, 8), np.float32)
    calls = jax.jit(see.traced(lambda x: jax_itself().pure_callback(lambda x: np.asarray(x), where, x)))
    tell("callback", lambda: jax.block_until_ready(calls(VALUE)))
    tell("callback again", lambda: jax.block_until_ready(calls(VALUE)))
    keyed = jax.jit(see.traced(lambda k: jax.random.key_data(k)))
    tell("key", lambda: keyed(KEYS[0]))
    tell("key again", lambda: keyed(KEYS[1]))
    placed = jax.jit(f, in_shardings=named(jax, "x"))
    for what in ("host's array", "host's array again"):
        tell(what, lambda: placed(VALUE))
    for what in ("fresh sharding", "fresh sharding again"):
        tell(what, lambda: jax.jit(f, out_shardings=named(jax, "y"))(x))
    ahead = jax.jit(f).lower(x).compile()
    tell("ahead of time", lambda: ahead(x))
    for what in ("under vmap", "under vmap again"):
        tell(what, lambda: jax.vmap(program)(x))
    sums = jax.jit(see.traced(lambda x: (x * x).sum()))
    slope = jax.grad(sums)
    for what in ("under grad", "under grad again"):
        tell(what, lambda: slope(x))
    whole = jax.jit(slope)
    for what in ("grad in jit", "grad in jit again"):
        tell(what, lambda: whole(x))
    scanned = jax.jit(lambda x: jax.lax.scan(see.traced(lambda c, r: (c + r, None)), x[0], x)[0])
    for what in ("scan", "scan again"):
        tell(what, lambda: scanned(x))
    tell("python", lambda: sum([1, 2]))
    return told


KEYS: list[Any] = []


class Private:
    """JAX's own counters, its tests' means: {} where it has none."""

    events: ClassVar = {"jit_cpp_cache_miss": "dispatch", "pjit_lower": "dispatch", "lower_jaxpr_to_module": "lower"}

    def __enter__(self):
        from jax._src import util

        self.util = util
        self.counts: dict[str, int] = {}
        if hasattr(util, "test_event_listener"):
            self.counts.update(dispatch=0, lower=0)
            util.test_event_listener = self.listen
        return self.counts

    def listen(self, event, *_):
        if event in self.events:
            self.counts[self.events[event]] += 1

    def __exit__(self, *_):
        if self.counts:
            self.util.test_event_listener = None


def the_window_leaves_no_trace(subject, jax, see):
    """Profile function and collector are as before, also after a call that raises; the error is the call's."""

    def before(*_):
        return None

    def fail():
        raise LookupError("mine")

    told = []
    for collects in (True, False):
        (gc.enable if collects else gc.disable)()
        sys.setprofile(before)
        error = said(lambda: see.redone(fail))
        told.append([error, sys.getprofile() is before, gc.isenabled() is collects])
    sys.setprofile(None)
    gc.enable()
    return told


def watching_changes_nothing(subject, jax, see):
    """What later calls redo is the same whether or not the earlier ones were watched."""
    told = []
    for watch in (see.redone, lambda call: call()):
        program, x = jax.jit(see.traced(lambda x: x * 7)), put(jax, "x")
        watch(lambda program=program, x=x: program(x))
        watch(lambda program=program, x=x: program(x))
        told.append([see.redone(lambda program=program, it=it: program(it)) for it in (x, VALUE, x)])
    return told[0] == told[1]


def other_threads(subject, jax, see):
    """Dispatch in another thread is out of sight; its traces, lowerings and compilations are not."""
    program, x = jax.jit(see.traced(lambda x: x * 9)), put(jax, "x")

    def elsewhere():
        thread = threading.Thread(target=lambda: program(x))
        thread.start()
        thread.join()

    return see.redone(elsewhere)


def texts(subject, jax, see):
    x = put(jax, "x", "y")
    program = jax.jit(lambda x: x * 2)
    stablehlo, hlo, compiled = (it(program, x) for it in (see.lowered, see.lowered_hlo, see.compiled_text))
    return {
        "lowered": "stablehlo.multiply" in stablehlo and see.partitioner(stablehlo),
        "hlo": hlo.startswith("HloModule") and "f32[8,8]" in hlo,
        "compiled": compiled.startswith("HloModule") and "f32[4,4]" in compiled,
        "of neither": see.partitioner(see.lowered(jax.jit(lambda x: x), VALUE)),
    }


def aliases(subject, jax, see):
    x, y, z = put(jax, "x"), put(jax, "x"), jax.device_put(np.arange(8, dtype=np.float32), named(jax))
    two = jax.jit(lambda z, x, y: (x + y, y * 2, z), donate_argnums=(1, 2))
    return {
        "none": see.aliases(see.compiled_text(jax.jit(bump), x)),
        "one": see.aliases(see.compiled_text(jax.jit(bump, donate_argnums=0), x)),
        "two": see.aliases(see.compiled_text(two, z, x, y)),
    }


def kinds(subject, jax, see):
    device = jax.devices()[3]
    there = subject.hello()["memory_kinds"]
    made = [jax.device_put(VALUE, jax.sharding.SingleDeviceSharding(device, memory_kind=kind)) for kind in there]
    default = see.memory_kind(jax.device_put(VALUE, device))
    return {"asked": there, "got": [see.memory_kind(it) for it in made], "default": default}


CHECKS = {
    check.__name__: check
    for check in (
        names,
        capabilities,
        foreign,
        older_spellings,
        make_mesh,
        make_mesh_of_types,
        abstract_mesh,
        constraint_over_an_abstract_mesh,
        shard_map,
        shard_map_checks_replication,
        set_mesh,
        mesh_as_a_context,
        reshard,
        sharding_type_error,
        layouts,
        positional_sharding,
        auto,
        export,
        keys,
        trees,
        assembled,
        transformed,
        runtime_error,
        counters,
        the_window_leaves_no_trace,
        watching_changes_nothing,
        other_threads,
        texts,
        aliases,
        kinds,
    )
}


def main(partitioner):
    os.environ.update(stock.environment("cpu:8"))
    stock.load()
    subject = stock.start("cpu:8", partitioner)
    told = {"hello": subject.hello(), "start": subject.cost()}
    see = subject.see(lambda **_: None)
    KEYS.extend(subject.jax.random.key(seed) for seed in range(2))
    for name, check in CHECKS.items():
        try:
            told[name] = {"is": check(subject, subject.jax, see)}
        except Exception as error:
            told[name] = {"raised": f"{type(error).__name__}: {error}"}
    print(json.dumps(told))


if __name__ == "__main__":
    main(sys.argv[1])
