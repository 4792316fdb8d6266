"""What the model keeps from one call to the next: what is done once, what has to be done again, and what goes."""

import functools
import gc
import weakref
from typing import Any

import numpy as np
import pytest

VALUE = np.arange(64, dtype=np.float32).reshape(8, 8)
LEVELS = ("trace", "lower", "compile")


@pytest.fixture
def redone(model):
    """What a call does again: how often it traces, lowers and compiles."""

    def redone(call, *args, **kwargs):
        before = model.counts.copy()
        call(*args, **kwargs)
        return tuple(model.counts[level] - before[level] for level in LEVELS)

    return redone


@pytest.fixture
def at(jax):
    """A sharding over some devices in a line, or over a mesh of another shape, cut by a spec."""

    def at(devices, *spec, sizes=None, names=("x", "y"), **memory):
        grid = np.array([jax.devices()[i] for i in devices], object).reshape(sizes or (len(devices),))
        mesh = jax.sharding.Mesh(grid, names[: grid.ndim])
        return jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(*spec), **memory)

    return at


FIRST, LAST = (0, 1, 2, 3), (4, 5, 6, 7)


def test_a_call_like_another_redoes_nothing(jax, at, redone):
    f = jax.jit(lambda x: x + 1)
    x = jax.device_put(VALUE, at(FIRST, "x"))
    assert redone(f, x) == (1, 1, 1)
    assert redone(f, x) == (0, 0, 0)
    assert redone(f, jax.device_put(VALUE + 1, at(FIRST, "x"))) == (0, 0, 0)


def test_a_second_jit_of_a_function_redoes_nothing(jax, redone):
    def f(x):
        return x + 1

    class It:
        def method(self, x):
            return x + 1

    it = It()
    assert redone(jax.jit(f), VALUE) == (1, 1, 1)
    assert redone(jax.jit(f), VALUE) == (0, 0, 0)
    assert redone(jax.jit(it.method), VALUE) == (1, 1, 1)
    assert redone(jax.jit(it.method), VALUE) == (0, 0, 0)
    assert redone(jax.jit(It().method), VALUE) == (1, 1, 1), "another object's"
    assert redone(jax.jit(lambda x: x + 1), VALUE) == (1, 1, 1), "another function of the same text"
    assert redone(jax.jit(functools.partial(f)), VALUE) == (1, 1, 1)


def test_functions_that_call_themselves_equal_are_two(jax, redone):
    class Scale:
        def __init__(self, by):
            self.by = by

        def __eq__(self, other):
            return isinstance(other, Scale) and self.by == other.by

        def __hash__(self):
            return hash(self.by)

        def __call__(self, x):
            return x * self.by

    x = np.arange(4, dtype=np.int32)
    assert jax.jit(Scale(1))(x).dtype == np.int32
    assert jax.jit(Scale(1.0))(x).dtype == np.float32


@pytest.mark.parametrize("devices", [LAST, (3, 2, 1, 0), (0, 1, 2, 4)])
def test_other_devices_only_compile(jax, at, redone, devices):
    f = jax.jit(lambda x: x + 1)
    f(jax.device_put(VALUE, at(FIRST, "x")))
    x = jax.device_put(VALUE, at(devices, "x"))
    assert redone(f, x) == (0, 0, 1)
    assert redone(f, x) == (0, 0, 0)
    assert [device.id for device in f(x).sharding.mesh.devices] == list(devices)
    assert redone(f, jax.device_put(VALUE, at(FIRST, "x"))) == (0, 0, 0)


@pytest.mark.parametrize(
    "given",
    [
        lambda jax, at: jax.device_put(VALUE, at(FIRST)),
        lambda jax, at: jax.device_put(VALUE, at(FIRST, None, "x")),
        lambda jax, at: jax.device_put(VALUE, at(FIRST, "x", sizes=(2, 2))),
        lambda jax, at: jax.device_put(VALUE, at(FIRST, "z", names="z")),
        lambda jax, at: jax.device_put(VALUE, at(FIRST, "x", memory_kind="pinned_host")),
        lambda jax, at: jax.device_put(VALUE, jax.devices()[0]),
        lambda jax, at: jax.device_put(VALUE),
    ],
)
def test_an_argument_that_lies_otherwise_is_lowered_anew(jax, at, redone, given):
    f = jax.jit(lambda x: x + 1)
    x, y = jax.device_put(VALUE, at(FIRST, "x")), given(jax, at)
    assert redone(f, x) == (1, 1, 1)
    assert redone(f, y) == (0, 1, 1)
    assert f(y).sharding == y.sharding
    assert f(y).committed == y.committed
    assert f(x).sharding == x.sharding


@pytest.mark.parametrize(
    "options",
    [
        {"donate_argnums": 0},
        {"out_shardings": "there"},
        {"in_shardings": "there"},
        {"keep_unused": True},
    ],
)
def test_what_a_jit_is_told_is_lowered_anew(jax, at, redone, options):
    def f(x):
        return x + 1

    x = jax.device_put(VALUE, at(FIRST, "x"))
    told = {name: at(FIRST, None, "x") if it == "there" else it for name, it in options.items()}
    assert redone(jax.jit(f), x) == (1, 1, 1)
    assert redone(jax.jit(f, **told), x) == (0, 1, 1)
    assert x.is_deleted() == ("donate_argnums" in told)
    x = jax.device_put(VALUE, at(FIRST, "x"))
    assert redone(jax.jit(f, **told), x) == (0, 0, 0)


def test_options_of_the_compiler_only_compile(jax, redone):
    def f(x):
        return x + 1

    jax.jit(f)(VALUE)
    assert redone(jax.jit(f, compiler_options={"level": 1}), VALUE) == (0, 0, 1)
    assert redone(jax.jit(f, compiler_options={"level": True}), VALUE) == (0, 0, 1)
    assert redone(jax.jit(f, compiler_options={"level": 1}), VALUE) == (0, 0, 0)


def test_other_types_are_traced_anew(jax, redone):
    f = jax.jit(lambda x: x)
    for x in (VALUE, VALUE[:4], VALUE.astype(np.int32), 1, np.int32(1), True, (VALUE,), {"x": VALUE}):
        assert redone(f, x) == (1, 1, 1)
        assert redone(f, x) == (0, 0, 0)
    assert f(1).weak_type
    assert not f(np.int32(1)).weak_type


def test_static_values_that_are_equal_are_not_the_same(jax, redone):
    f = jax.jit(lambda x, by: x * (by[0] if isinstance(by, tuple) else by), static_argnums=1)
    x = np.arange(4, dtype=np.int32)
    for by, dtype in ((1, "int32"), (1.0, "float32"), (True, "int32"), ((1,), "int32"), ((1.0,), "float32")):
        assert redone(f, x, by) == (1, 1, 1)
        assert redone(f, x, by) == (0, 0, 0)
        assert f(x, by).dtype == dtype
    assert np.signbit(f(np.ones(1, np.float32), -0.0)[0])
    assert not np.signbit(f(np.ones(1, np.float32), 0.0)[0])


def test_a_mesh_in_context_is_part_of_the_trace(jax, at, redone):
    f = jax.jit(lambda x: jax.lax.with_sharding_constraint(x, jax.sharding.PartitionSpec("x")))
    for _ in range(2):
        for devices in (FIRST, LAST):
            with jax.set_mesh(at(devices).mesh):
                assert [device.id for device in f(VALUE).sharding.mesh.devices] == list(devices)
    with at(FIRST).mesh:
        assert redone(f, VALUE) == (1, 1, 1), "another kind of context"


def test_a_default_device_only_compiles(jax, redone):
    f = jax.jit(lambda x: x + 1)
    f(VALUE)
    with jax.default_device(jax.devices()[1]):
        assert redone(f, VALUE) == (0, 0, 1)
        assert f(VALUE).devices() == {jax.devices()[1]}
    assert f(VALUE).devices() == {jax.devices()[0]}


def test_operations_on_their_own_are_compiled_once(jax, redone):
    x = jax.device_put(VALUE)
    assert redone(lambda: x + 3) == (0, 1, 1)
    assert redone(lambda: x + 3) == (0, 0, 0)
    assert redone(lambda: x[1:3]) == (0, 1, 1)
    assert redone(lambda: x[1:3]) == (0, 0, 0)
    assert redone(lambda: x[1:4]) == (0, 1, 1)


def test_a_trace_within_another_is_kept_unless_it_holds_its_values(jax, redone):
    inner = jax.jit(lambda x: x + 1)

    def outer(x):
        held = jax.jit(lambda y: x * y)
        return inner(x) + held(inner(x))

    assert redone(jax.jit(outer), VALUE) == (3, 1, 1)

    captured: list[Any] = []
    around = jax.jit(lambda y: captured[-1] * y)

    def fresh(x):
        captured.append(x)
        return around(x)

    for value in (VALUE, VALUE[:4]):
        assert np.array_equal(jax.jit(fresh)(value), value * value)


def test_an_error_leaves_nothing(jax, at, redone):
    lies = [False]

    def f(x):
        if lies[0]:
            raise ZeroDivisionError
        return x + 1

    lies[0] = True
    with pytest.raises(ZeroDivisionError):
        jax.jit(f)(VALUE)
    lies[0] = False
    assert redone(jax.jit(f), VALUE) == (1, 1, 1)
    add = jax.jit(lambda x, y: x + y)
    x, y = jax.device_put(VALUE, at(FIRST, "x")), jax.device_put(VALUE, at(LAST, "x"))
    for _ in range(2):
        with pytest.raises(ValueError, match="same devices"):
            add(x, y)
    assert redone(add, x, x) == (0, 1, 1)
    with pytest.raises(ValueError, match="same devices"):
        add(x, y)


def test_a_captured_array_may_go(jax, redone):
    held, given = jax.device_put(VALUE), VALUE.copy()
    f = jax.jit(lambda x: x + held + given)
    assert np.array_equal(f(VALUE), VALUE * 3)
    given[...] = 0
    assert np.array_equal(f(VALUE), VALUE * 3), "it was traced with what NumPy's array held then"
    held.delete()
    with pytest.raises(RuntimeError, match="deleted"):
        f(VALUE)


def test_what_is_kept_goes_with_its_function(jax, model):
    def f(x):
        return x + 1

    jax.jit(f)(VALUE)
    programs = [weakref.ref(program) for program in model.caches.trace.of(f).values()]
    modules = [weakref.ref(module) for program in programs for module in model.caches.lowering.of(program()).values()]
    assert len(programs) == len(modules) == 1
    del f
    gc.collect()
    assert not any(it() for it in (*programs, *modules))


def test_caches_can_be_cleared(jax, redone):
    f, g = jax.jit(lambda x: x + 1), jax.jit(lambda x: x + 2)
    f(VALUE), g(VALUE)
    f.clear_cache()
    assert redone(f, VALUE) == (1, 1, 1)
    assert redone(g, VALUE) == (0, 0, 0)
    jax.clear_caches()
    assert redone(f, VALUE) == redone(g, VALUE) == (1, 1, 1)


def test_what_is_compiled_ahead_is_what_a_call_compiles(jax, redone):
    f = jax.jit(lambda x: x + 1)
    assert redone(lambda: f.lower(VALUE)) == (1, 1, 0)
    assert redone(lambda: f.lower(VALUE).compile()) == (0, 0, 1)
    assert redone(f, VALUE) == (0, 0, 0)
