"""The model's jitted functions: their arguments, donation, results, and what is compiled ahead of time."""

import functools

import numpy as np
import pytest

from impl.model import namespace
from impl.model.model import Model

VALUE = np.arange(64, dtype=np.float32).reshape(8, 8)


@pytest.fixture
def mesh(jax):
    return jax.sharding.Mesh(np.array(jax.devices()[:4], object).reshape(2, 2), ("x", "y"))


@pytest.fixture
def named(jax, mesh):
    """A sharding over that mesh."""
    return lambda *spec, **memory: jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(*spec), **memory)


def spans(x):
    return {shard.data.unsafe_buffer_pointer() for shard in x.addressable_shards}


# --- donation ---------------------------------------------------------------------------------------------------------


def test_a_donated_argument_makes_room_for_a_result(jax, named):
    x = jax.device_put(VALUE, named("x"))
    before = spans(x)
    y = jax.jit(lambda x: x + 1, donate_argnums=0)(x)
    assert x.is_deleted()
    assert spans(y) == before
    assert np.array_equal(y, VALUE + 1)


def test_two_donated_arguments_make_room_for_two_results_of_which_one_is_the_other_turned(jax, named):
    x, y = jax.device_put(VALUE, named("x")), jax.device_put(VALUE.T.copy(), named("x"))
    a, b = jax.jit(lambda x, y: (y, x), donate_argnums=(0, 1))(x, y)
    assert x.is_deleted()
    assert y.is_deleted()
    assert np.array_equal(a, VALUE.T), "results are not written before arguments are read"
    assert np.array_equal(b, VALUE)


@pytest.mark.parametrize(
    "f",
    [
        lambda jax, named: jax.jit(lambda x: x.sum(), donate_argnums=0),
        lambda jax, named: jax.jit(lambda x: x.astype(np.int32), donate_argnums=0),
        lambda jax, named: jax.jit(lambda x: x + 1, donate_argnums=0, out_shardings=named("x", "y")),
        lambda jax, named: jax.jit(
            lambda x: x + 1, donate_argnums=0, out_shardings=named("x", memory_kind="pinned_host")
        ),
        lambda jax, named: jax.jit(lambda x: x[:4], donate_argnums=0, out_shardings=named()),
    ],
    ids=["shape", "dtype", "cut", "memory", "whole"],
)
def test_a_donation_without_a_result_like_it_is_told_and_takes_nothing(jax, named, f):
    x = jax.device_put(VALUE, named("x"))
    with pytest.warns(UserWarning, match=r"Some donated buffers were not usable: x \(float32\[8,8\]\)"):
        f(jax, named)(x)
    assert np.array_equal(x, VALUE)


def test_one_result_takes_one_donation(jax, named):
    x, y = (jax.device_put(VALUE, named("x")) for _ in range(2))
    with pytest.warns(UserWarning, match="second"):
        jax.jit(lambda first, second: first + second, donate_argnames=("first", "second"))(x, y)
    assert (x.is_deleted(), y.is_deleted()) == (True, False)


@pytest.mark.parametrize("donated", [0, 1, (0, 1)])
def test_an_array_that_is_donated_is_no_other_argument(jax, named, donated):
    x = jax.device_put(VALUE, named("x"))
    with pytest.raises(RuntimeError, match="arguments first and second of <lambda> are one array"):
        jax.jit(lambda first, second: first + second, donate_argnums=donated)(x, x)
    assert np.array_equal(x, VALUE)


def test_an_array_that_shares_the_memory_of_a_donated_one_keeps_its_value(jax, named):
    x = jax.device_put(VALUE, named("x"))
    other = jax.device_put(x, named("x", None), may_alias=True)
    assert spans(x) == spans(other)
    y = jax.jit(lambda x: x + 1, donate_argnums=0)(x)
    assert np.array_equal(other, VALUE)
    assert np.array_equal(y, VALUE + 1)


def test_what_a_call_lays_out_anew_is_donated_where_a_result_is_like_it_then(jax, named):
    loose = jax.device_put(VALUE)
    with pytest.warns(UserWarning, match="not usable"):
        y = jax.jit(lambda x: x + 1, donate_argnums=0, out_shardings=named("x"))(loose)
    assert np.array_equal(loose, VALUE)
    assert y.committed
    one = jax.sharding.SingleDeviceSharding(jax.devices()[5])
    z = jax.jit(lambda x: x + 1, donate_argnums=0, out_shardings=one)(loose)
    assert loose.is_deleted()
    assert np.array_equal(z, VALUE + 1)


def test_a_compiled_text_says_which_result_lies_in_the_memory_of_which_parameter(jax, named):
    x, y, z = (jax.device_put(VALUE, named("x", "y")) for _ in range(3))
    f = jax.jit(lambda unused, x, y: (y + 1, x.sum(), x * 2), donate_argnums=(1, 2))
    text = f.lower(x, y, z).compile().as_text()
    assert text.startswith("HloModule jit__lambda_, ")
    assert "input_output_alias={ {0}: (0, {}, may-alias), {2}: (1, {}, may-alias) }" in text
    assert "{(f32[4,4]{1,0}, f32[4,4]{1,0})->(f32[4,4]{1,0}, f32[], f32[4,4]{1,0})}, num_partitions=4" in text
    one = jax.jit(lambda x: x + 1, donate_argnums=0).lower(VALUE).compile().as_text()
    assert "input_output_alias={ {}: (0, {}, may-alias) }" in one
    assert "alias" not in jax.jit(lambda x: x + 1).lower(VALUE).compile().as_text()


def test_a_memory_analysis_counts_the_bytes_of_each_device(jax, named):
    x = jax.device_put(VALUE, named("x"))
    told = jax.jit(lambda x, y: (x + 1, y.sum()), donate_argnums=0).lower(x, x).compile().memory_analysis()
    assert (told.argument_size_in_bytes, told.output_size_in_bytes, told.alias_size_in_bytes) == (256, 132, 128)
    keys = jax.random.wrap_key_data(np.zeros((4, 2), np.uint32))
    told = jax.jit(lambda x: x, donate_argnums=0).lower(keys).compile().memory_analysis()
    assert told.alias_size_in_bytes == 32


@pytest.mark.parametrize(
    ("dtype", "name"), [("bool", "pred"), ("int8", "s8"), ("uint16", "u16"), ("bfloat16", "bf16"), ("complex64", "c64")]
)
def test_a_compiled_text_has_the_compiler_s_names_of_dtypes(jax, dtype, name):
    x = np.zeros((2, 3), getattr(jax.numpy, dtype).dtype)
    assert f"{{({name}[2,3]{{1,0}})->" in jax.jit(lambda x: x).lower(x).compile().as_text()


def test_a_lowered_text_declares_what_is_donated(jax, named):
    x = jax.device_put(VALUE, named("x"))
    said = jax.jit(lambda x, y: y + 1, donate_argnums=1, out_shardings=named("x")).lower(x, x).as_text()
    assert "tf.aliasing_output = 0 : i32" in said
    assert "jax.buffer_donor" not in said
    open_ = jax.jit(lambda x, y: y + 1, donate_argnums=1).lower(x, x).as_text()
    assert "jax.buffer_donor = true" in open_
    assert "tf.aliasing_output" not in open_


def test_the_host_s_memory_and_views_are_never_written_over(jax):
    held = np.zeros(64 + 16, np.float32)
    start = (-held.ctypes.data) % 64 // 4
    aligned = held[start : start + 64]
    x = jax.device_put(aligned)
    jax.jit(lambda x: x + 1, donate_argnums=0)(x)
    assert not aligned.any()
    y = jax.device_put(VALUE.copy())
    seen = np.asarray(y)
    jax.jit(lambda x: x + 1, donate_argnums=0)(y)
    assert np.array_equal(seen, VALUE)


def test_two_donated_replicas_change_places(jax, named):
    x, y = (jax.device_put(it, named(), may_alias=False) for it in (VALUE, -VALUE))
    a, b = jax.jit(lambda x, y: (y, x), donate_argnums=(0, 1))(x, y)
    assert (x.is_deleted(), y.is_deleted()) == (True, True)
    for shard, other in zip(a.addressable_shards, b.addressable_shards, strict=True):
        assert np.array_equal(shard.data, -VALUE), "results are not written before arguments are read"
        assert np.array_equal(other.data, VALUE)


def test_a_result_is_not_written_where_its_dimensions_lie_in_another_order(jax, named):
    turned = jax.experimental.layout.Format(jax.experimental.layout.Layout((1, 0)), named())
    x = jax.device_put(VALUE, turned)
    y = jax.jit(lambda x: x + 1, donate_argnums=0)(x)
    assert x.is_deleted()
    assert y.format.layout.major_to_minor == (0, 1)
    assert {shard.data.format.layout.major_to_minor for shard in y.addressable_shards} == {(0, 1)}
    assert all(buffer.data.flags.c_contiguous for buffer in y.buffers)
    assert np.array_equal(y, VALUE + 1)


def test_each_shard_of_a_result_takes_the_memory_of_its_own_device(jax, named):
    x = jax.device_put(VALUE, named("x"), may_alias=False)
    before = {shard.device: shard.data.unsafe_buffer_pointer() for shard in x.addressable_shards}
    y = jax.jit(lambda x: x + 1, donate_argnums=0)(x)
    assert {shard.device: shard.data.unsafe_buffer_pointer() for shard in y.addressable_shards} == before


# --- results ----------------------------------------------------------------------------------------------------------


def test_a_result_is_no_argument_even_where_it_is_the_argument(jax, named):
    x = jax.device_put(VALUE, named("x"))
    captured = jax.device_put(VALUE)
    for y in (jax.jit(lambda x: x)(x), *jax.jit(lambda x: (x, captured))(x)):
        assert y is not x
        assert not spans(y) & (spans(x) | spans(captured))
    twice = jax.jit(lambda x: (x + 1,) * 2)(x)
    assert not spans(twice[0]) & spans(twice[1])


def test_results_lie_as_the_program_says(jax, named):
    x = jax.device_put(VALUE, named("x", "y"))
    constrain = jax.lax.with_sharding_constraint
    said = {
        "operand": (lambda x: x * 2 - 1, named("x", "y")),
        "another shape": (lambda x: x.sum(), named()),
        "constraint": (lambda x: constrain(x + 1, named("y")) * 2, named("y")),
        "put": (lambda x: jax.device_put(x, named(None, "x")) + 1, named(None, "x")),
        "jit within": (lambda x: jax.jit(lambda y: y + 1, out_shardings=named("y"))(x), named("y")),
        "wanted within": (lambda x: jax.jit(lambda y: y + 1, in_shardings=named("y"))(x), named("y")),
        "shard_map": (
            lambda x: jax.shard_map(
                lambda y: y, mesh=named().mesh, in_specs=named("x").spec, out_specs=named("x").spec
            )(x),
            named("x"),
        ),
    }
    assert {what: jax.jit(f)(x).sharding for what, (f, _) in said.items()} == {
        what: lies for what, (_, lies) in said.items()
    }
    assert jax.jit(lambda x: x, out_shardings=named("y"))(x).sharding == named("y")


def test_a_program_without_arguments_runs_on_the_default_device(jax):
    three = jax.jit(lambda: 3)
    assert three().sharding.ordered == (jax.devices()[0],)
    with jax.default_device(jax.devices()[5]):
        assert three().sharding.ordered == (jax.devices()[5],)
        assert not three().committed


# --- arguments --------------------------------------------------------------------------------------------------------


def test_static_arguments_are_part_of_the_function(jax):
    scaled = jax.jit(lambda x, n, *, by=2: x * (n if n > by else by), static_argnums=1, static_argnames="by")
    assert scaled(2.0, 3) == 6
    assert scaled(2.0, n=3, by=5) == 10
    with pytest.raises(ValueError, match="static argument n of <lambda> cannot be hashed"):
        scaled(2.0, [3])
    with pytest.raises(TypeError, match="argument n"):
        jax.jit(lambda x, n: x, static_argnums=0)(2.0, "n")


def test_a_jitted_function_may_be_a_method_or_partial(jax):
    class Layer:
        def __init__(self, bias):
            self.bias = bias

        @functools.partial(jax.jit, static_argnums=0)
        def __call__(self, x):
            return x + self.bias

    assert Layer(3)(2.0) == 5
    assert jax.jit(functools.partial(lambda a, b: a - b, 5.0))(2.0) == 3
    assert jax.jit(lambda *args, **kwargs: args[1] - kwargs["b"])(0, 5.0, b=2.0) == 3


# --- ahead of time ----------------------------------------------------------------------------------------------------


def test_a_compiled_object_takes_what_it_was_compiled_for_and_nothing_else(jax, named):
    x = jax.device_put(VALUE, named("x"))
    compiled = jax.jit(lambda first, tree: first + tree["a"][0]).lower(x, {"a": [VALUE]}).compile()
    assert np.array_equal(compiled(x, {"a": [VALUE]}), 2 * VALUE)
    wrong = {
        "structure": (TypeError, (x, {"a": VALUE}), r"args\[1\]\['a'\]\[0\].*args\[1\]\['a'\]"),
        "count": (TypeError, (x,), r"args\[0\]"),
        "dtype": (TypeError, (x, {"a": [VALUE.astype(np.int32)]}), r"tree\['a'\]\[0\] of float32.*int32"),
        "shape": (TypeError, (x, {"a": [VALUE[:4]]}), r"tree\['a'\]\[0\].*float32\[4,8\]"),
        "place": (ValueError, (x, {"a": [x]}), r"tree\['a'\]\[0\] as .*P\(\).* as .*P\('x',\)"),
        "value": (TypeError, (jax.ShapeDtypeStruct(VALUE.shape, VALUE.dtype), {"a": [VALUE]}), "argument first"),
    }
    for kind, args, words in wrong.values():
        with pytest.raises(kind, match=words):
            compiled(*args)
    with pytest.raises(TypeError, match=r"kwargs\['tree'\]"):
        compiled(x, tree={"a": [VALUE]})


def test_a_compiled_object_says_where_it_takes_and_gives(jax, named):
    x = jax.device_put(VALUE, named("x"))
    lowered = jax.jit(lambda a, b: {"c": a, "d": b.sum()}, out_shardings={"c": named("y"), "d": None}).lower(x, VALUE)
    assert repr(lowered.out_info["d"]) == "ShapeDtypeStruct(shape=(), dtype=float32)"
    assert str(lowered.in_avals[0][1]) == "float32[8,8]"
    compiled = lowered.compile()
    assert compiled.input_shardings == ((named("x"), named()), {})
    assert compiled.output_shardings == {"c": named("y"), "d": named()}


@pytest.mark.parametrize(
    ("partitioner", "cut"), [("shardy", '#sdy.sharding<@mesh, [{"x"}, {}]>'), ("gspmd", "{devices=[2,1,2]<=[4] ")]
)
def test_a_lowered_text_declares_what_the_program_was_told(partitioner, cut):
    jax = namespace.of(Model(8, partitioner=partitioner))
    devices = np.array(jax.devices()[:4], object).reshape(2, 2)
    lies = jax.sharding.NamedSharding(jax.sharding.Mesh(devices, ("x", "y")), jax.sharding.PartitionSpec("x"))
    x = jax.device_put(VALUE, lies)

    def declaration(text):
        return next(line for line in text.splitlines() if "@main" in line)

    def f(a, b, c):
        return a + c

    arguments, results = declaration(jax.jit(f).lower(x, VALUE, VALUE).as_text()).split("->")
    assert cut in arguments
    assert arguments.count("tensor<8x8xf32>") == 2, "what is not used is left out"
    assert results.strip() == "(tensor<8x8xf32>)", "the partitioner finds out the rest"
    arguments, results = declaration(
        jax.jit(f, keep_unused=True, out_shardings=lies).lower(VALUE, VALUE, VALUE).as_text()
    ).split("->")
    assert arguments.count("tensor<8x8xf32>") == 3
    assert cut in results
    assert cut not in arguments


def test_a_compiled_object_compiles_nothing(jax, model):
    f = jax.jit(lambda x: x + 1)
    compiled = f.lower(1.0).compile()
    before = model.counts.copy()
    compiled(2.0)
    jax.eval_shape(f, 1.0)
    assert (model.counts - before)["compile"] == 0
