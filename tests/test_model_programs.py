"""The model's operations and programs, each held to NumPy: values, gradients and mapping, row by row."""

import itertools
import operator
import random
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from impl.model import avals
from impl.model.avals import Aval, aval_of
from impl.model.operations import BITS, OPERATIONS, spelled, whole
from impl.model.programs import trace


def numbers(*shape, start=0.25, step=0.5):
    return (start + step * np.arange(np.prod(shape, dtype=int))).reshape(shape).astype(np.float32)


A, B, ROW, COLUMN = numbers(3, 4), numbers(3, 4, start=9, step=-0.375), numbers(4), numbers(3, 1)
BOOLS = np.arange(12).reshape(3, 4) % 3 == 0

ROWS: dict[str, tuple[list[tuple[np.ndarray, ...]], dict[str, Any]]] = {
    "add": ([(A, B), (A, ROW), (COLUMN, ROW)], {}),
    "sub": ([(A, B), (ROW, A)], {}),
    "mul": ([(A, B), (COLUMN, A)], {}),
    "div": ([(A, B + 0.1), (ROW, A + 1)], {}),
    "maximum": ([(A, B), (A, ROW)], {}),
    "eq": ([(A, B), (A, A)], {}),
    "ne": ([(A, B)], {}),
    "lt": ([(A, B)], {}),
    "le": ([(A, B)], {}),
    "gt": ([(A, ROW)], {}),
    "ge": ([(A, B)], {}),
    "floordiv": ([(A, B + 0.1), (B + 0.1, A), (ROW, -A - 1)], {}),
    "mod": ([(A, B + 0.1), (B + 0.1, A), (ROW, -A - 1)], {}),
    "pow": ([(A, B / 4), (ROW, A - 3), (COLUMN, ROW)], {}),
    "abs": ([(A - 3,)], {}),
    "neg": ([(A,)], {}),
    "exp": ([(A / 4,)], {}),
    "log": ([(A,)], {}),
    "sin": ([(A,)], {}),
    "cos": ([(A,)], {}),
    "tanh": ([(A,)], {}),
    "power": ([(A,)], {"exponent": 3}),
    "select": ([(BOOLS, A, B), (BOOLS, COLUMN, ROW)], {}),
    "sum": ([(A,)], {"axes": (1,)}),
    "max": ([(A,)], {"axes": (0,)}),
    "reshape": ([(A,)], {"shape": (2, 6)}),
    "transpose": ([(A,)], {"axes": (1, 0)}),
    "broadcast": ([(ROW,), (COLUMN,)], {"shape": (3, 4)}),
    "convert": ([(A,)], {"dtype": np.dtype(np.float16)}),
    "concatenate": ([(A, B, A)], {"axis": 1}),
    "index": ([(A,)], {"index": whole((slice(None, None, -2), None, 1), A.shape)}),
    "unindex": ([(ROW,)], {"index": whole((2, slice(1, None)), (4, 5)), "shape": (4, 5)}),
    "not": ([(A > 2,)], {}),
    **{name: ([(A > 2, B > 1), (A > 2, ROW > 1)], {}) for name in BITS},
    "matmul": ([(A, B.T), (A, numbers(2, 4, 5))], {}),
}
CASES = [(name, operands, params) for name, (some, params) in ROWS.items() for operands in some]
IDS = [f"{name}{i}" for name, (some, _) in ROWS.items() for i in range(len(some))]


def test_no_operation_is_left_out():
    assert set(ROWS) == set(OPERATIONS)


@pytest.mark.parametrize(("name", "operands", "params"), CASES, ids=IDS)
def test_what_is_known_of_an_output_is_what_comes_out(name, operands, params):
    row = OPERATIONS[name]
    for kinds in itertools.product(["float32", "int32", "bfloat16", "bool"], repeat=len(operands)):
        given = [
            x.astype(ml_dtypes.bfloat16 if kind == "bfloat16" else kind)
            for x, kind in zip(operands, kinds, strict=True)
        ]
        known = [aval_of(x) for x in given]
        try:
            inferred = row.infer(*known, **params)
        except TypeError:
            assert name in ("select", "sub", "neg", "not", *BITS), "these take no bools, or only some numbers"
            continue
        with np.errstate(all="ignore"):
            out = row.evaluate(known, *given, **params)
        assert (out.shape, out.dtype) == (inferred.shape, inferred.dtype), kinds


@pytest.mark.parametrize(("name", "operands", "params"), CASES, ids=IDS)
def test_gradients_are_those_of_finite_differences(model, name, operands, params):
    if OPERATIONS[name].infer(*map(aval_of, operands), **params).dtype == bool:
        return
    weights = numbers(*OPERATIONS[name].infer(*map(aval_of, operands), **params).shape, start=1, step=0.125)
    wanted = [i for i, x in enumerate(operands) if x.dtype != bool]

    def f(*xs):
        return (model.astype(model.apply(name, *xs, **params), np.float32) * weights).sum()

    def in_float64(*xs):
        return float((OPERATIONS[name].evaluate([Aval(x.shape, x.dtype) for x in xs], *xs, **params) * weights).sum())

    doubles = [x if x.dtype == bool else x.astype(np.float64) for x in operands]
    for number, gradient in zip(wanted, model.grad(f, argnums=wanted)(*operands), strict=True):
        found = np.asarray(gradient)
        assert found.shape == operands[number].shape
        for at in np.ndindex(found.shape):
            above, below = ([x.copy() for x in doubles] for _ in range(2))
            above[number][at] += 1e-6 if name != "convert" else 0.5
            below[number][at] -= 1e-6 if name != "convert" else 0.5
            slope = (in_float64(*above) - in_float64(*below)) / (2e-6 if name != "convert" else 1)
            assert found[at] == pytest.approx(slope, rel=1e-2 if name == "convert" else 1e-4, abs=1e-4), (number, at)


@pytest.mark.parametrize(("name", "operands", "params"), CASES, ids=IDS)
def test_mapping_is_a_loop(model, name, operands, params):
    for mapped in itertools.product([False, True], repeat=len(operands)):
        if not any(mapped):
            continue
        given = [np.stack([x, x[::-1], x]) if it else x for x, it in zip(operands, mapped, strict=True)]
        axes = tuple(0 if it else None for it in mapped)
        found = np.asarray(model.vmap(lambda *xs: model.apply(name, *xs, **params), in_axes=axes)(*given))
        for i in range(3):
            example = [x[i] if it else x for x, it in zip(given, mapped, strict=True)]
            alone = OPERATIONS[name].evaluate(list(map(aval_of, example)), *example, **params)
            np.testing.assert_allclose(found[i], alone, rtol=1e-6)


def test_an_index_means_what_it_means_to_numpy():
    rng, x = random.Random(0), np.arange(4 * 5 * 6).reshape(4, 5, 6)
    for _ in range(2000):
        bounds = [None, *range(-8, 9)]
        parts: list[Any] = [
            rng.choice(
                [rng.randrange(-4, 4), slice(rng.choice(bounds), rng.choice(bounds), rng.choice([None, 1, 2, -1, -3]))]
            )
            for _ in range(rng.randrange(4))
        ]
        for _ in range(rng.randrange(3)):
            parts.insert(rng.randrange(len(parts) + 1), None)
        if rng.random() < 0.3:
            parts.insert(rng.randrange(len(parts) + 1), Ellipsis)
        index = tuple(parts)
        found = whole(index, x.shape)
        np.testing.assert_array_equal(x[spelled(found)], x[index], str(index))
        assert OPERATIONS["index"].infer(aval_of(x), index=found).shape == x[index].shape, index


def test_dtypes_meet_in_one_whatever_their_order():
    for one, other in itertools.product(avals.WIDER, repeat=2):
        assert avals.widest(one, other) == avals.widest(other, one)
    for some in itertools.product(["int8", "uint8", "float16", "bfloat16", "int", "float"], repeat=3):
        ways = {avals.widest(avals.widest(a, b), c) for a, b, c in itertools.permutations(some)}
        assert len(ways) == 1, some


@pytest.mark.parametrize(
    ("some", "dtype", "weak"),
    [
        ([("int32", False), ("int32", True)], "int32", False),
        ([("int16", False), ("float32", True)], "float32", True),
        ([("bfloat16", False), ("float16", False)], "float32", False),
        ([("uint8", False), ("int8", False)], "int16", False),
        ([("uint32", False), ("int32", False)], "int32", False),  # int64, which has no room here
        ([("float16", False), ("float32", True)], "float16", False),
        ([("int32", True), ("float32", True)], "float32", True),
        ([("bool", False), ("int32", True)], "int32", True),
        ([("float32", False), ("complex64", True)], "complex64", False),
    ],
)
def test_a_weak_dtype_gives_way(some, dtype, weak):
    given = [Aval((), np.dtype(getattr(ml_dtypes, name, name)), is_weak) for name, is_weak in some]
    assert avals.meet(given) == (np.dtype(dtype), weak)


@pytest.mark.parametrize("does", [operator.floordiv, operator.mod, divmod, operator.pow])
@pytest.mark.parametrize("kind", ["int32", "uint8", "float32", "bfloat16"])
def test_operators_are_numpy_s_on_either_side(model, does, kind):
    dtype = np.dtype(getattr(ml_dtypes, kind, kind))
    x = np.array([[7], [5], [-6 if kind != "uint8" else 6], [1]]).astype(dtype)
    y = np.array([2, 3, -4 if kind != "uint8" and does is not operator.pow else 4]).astype(dtype)
    for one, other in ((x, y), (y, x[:2]), (x, 3), (9, y)):
        left, right = (it if isinstance(it, int) else model.device_put(it) for it in (one, other))
        found, wanted = does(left, right), does(one, other)
        assert np.asarray(found).dtype == dtype
        assert np.array_equal(found, wanted), (one, other)
        assert np.array_equal(does(left, other), wanted)
        assert np.array_equal(does(one, right), wanted)


def test_integers_to_negative_powers_are_whole(model):
    x, y = np.array([-2, -1, 0, 1, 2], np.int32), np.arange(-3, 3, dtype=np.int32)[:, None]
    wanted = [
        [0 if exponent < 0 and abs(base) != 1 else base**exponent for base in x.tolist()]
        for exponent in y[:, 0].tolist()
    ]
    assert np.array_equal(model.device_put(x) ** model.device_put(y), wanted)


def test_dtypes_without_a_common_one_do_not_meet(model):
    with pytest.raises(ValueError, match=r"float8_e4m3fn, float8_e5m2"):
        model.apply("add", np.ones(2, ml_dtypes.float8_e4m3fn), np.ones(2, ml_dtypes.float8_e5m2))


# --- programs ---------------------------------------------------------------------------------------------------------


def test_what_is_captured_is_captured_once(model):
    held = model.device_put(np.float32(3))
    program = trace(model, "f", lambda x: x * held + held, [Aval((), np.dtype(np.float32))])
    assert program.captured == (held,)
    assert len(program.inputs) == 2


def test_a_tracer_is_of_no_use_outside(model):
    left = []

    def leak(x):
        left.append(x)
        return x

    model.jit(leak)(1.0)
    for use in (
        lambda: left[0] + 1,
        lambda: model.jit(lambda y: y + left[0])(1.0),
        lambda: model.grad(lambda y: y)(left[0]),
    ):
        with pytest.raises(TypeError, match="leak"):
            use()
    assert model.jit(lambda x: x + 1)(1.0) == 2, "a trace that ended badly is over"


def test_an_error_within_a_function_ends_its_trace(model):
    with pytest.raises(ZeroDivisionError):
        model.jit(lambda x: 1 // 0)(1.0)
    assert float(model.device_put(np.float32(1)) + 1) == 2


def test_inner_functions_capture_what_is_traced_around_them(model):
    def outer(x):
        inner = model.jit(lambda y: y * x)
        stepped = model.scan(lambda carry, row: (carry + row * x, carry), x, np.arange(3, dtype=np.float32))
        chosen = model.cond(x > 1, lambda y: y + x, lambda y: y - x, x)
        looped = model.while_loop(lambda state: state < x, lambda state: state + x, -x)
        return inner(x + 1), stepped, chosen, looped

    inner, (carry, outputs), chosen, looped = model.jit(outer)(2.0)
    assert (float(inner), float(carry), float(chosen), float(looped)) == (6, 8, 4, 2)
    assert np.asarray(outputs).tolist() == [2, 2, 4]


def test_a_loop_carries_one_type(model):
    carry, outputs = model.scan(lambda c, x: (c + x, c), 0, np.ones(3, np.float32))
    assert carry.dtype == outputs.dtype == np.float32, "a Python int takes the type that it becomes"
    with pytest.raises(TypeError, match=r"float32\[\], it returns float32\[2\]"):
        model.scan(lambda c, x: (np.ones(2, np.float32), c), np.float32(0), np.ones(3, np.float32))


def test_shards_exchange_along_an_axis(jax, model):
    devices = np.array(jax.devices()).reshape(4, 2)
    mesh, spec = jax.sharding.Mesh(devices, ("x", "y")), jax.sharding.PartitionSpec

    def f(a):
        return jax.lax.psum(a, "y"), jax.jit(lambda b: jax.lax.psum(b, ("x", "y")))(a), jax.lax.psum(1, "x") * a

    outs = (spec("x"), spec(), spec(("x", "y")))
    rows, total, scaled = jax.shard_map(f, mesh=mesh, in_specs=spec(("x", "y")), out_specs=outs)(numbers(8))
    pairs = numbers(8).reshape(4, 2).sum(1)
    assert np.asarray(rows).tolist() == pairs.tolist()
    assert np.asarray(total).tolist() == [numbers(8).sum()]
    assert np.asarray(scaled).tolist() == (numbers(8) * 4).tolist()
    assert [shard.data.shape for shard in rows.addressable_shards] == [(1,)] * 8
