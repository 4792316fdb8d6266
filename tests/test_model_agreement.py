"""Which sides the model finds in a call, and what it says of two that lie apart."""

import numpy as np
import pytest

VALUE = np.arange(64, dtype=np.float32).reshape(8, 8)
HERE, THERE = "device ids [0, 1, 2, 3] of platform MODEL", "device ids [4, 5, 6, 7] of platform MODEL"


@pytest.fixture
def lies(jax):
    """A sharding over some devices, in an order."""

    def lies(*ids, names=("x",), spec=("x",)):
        devices = np.array([jax.devices()[id] for id in ids], object)
        return jax.sharding.NamedSharding(jax.sharding.Mesh(devices, names), jax.sharding.PartitionSpec(*spec))

    return lies


@pytest.fixture
def here(lies):
    return lies(0, 1, 2, 3)


@pytest.fixture
def there(lies):
    return lies(4, 5, 6, 7)


def nested(jax, inner, loops=True):
    """A function of one array that does `inner` deep within jits, branches and loops; with `while`, if it may."""

    def branch(x):
        return jax.jit(lambda y: jax.lax.scan(lambda carry, row: (inner(carry), row), y, None, length=2)[0])(x)

    def loop(x):
        return jax.lax.while_loop(lambda state: state[0, 0] < 9, lambda state: branch(state) + 9, x)

    return lambda x: jax.lax.cond(x[0, 0] == 0, loop if loops else branch, lambda y: y, x)


INNER = {
    "constraint": lambda jax, lies: lambda x: jax.lax.with_sharding_constraint(x, lies),
    "shard_map": lambda jax, lies: jax.shard_map(lambda y: y, mesh=lies.mesh, in_specs=lies.spec, out_specs=lies.spec),
    "in": lambda jax, lies: jax.jit(lambda y: y + 1, in_shardings=lies),
    "out": lambda jax, lies: jax.jit(lambda y: y + 1, out_shardings=lies),
    "put": lambda jax, lies: lambda x: jax.device_put(x, lies),
}
SAID = {"constraint": "a sharding constraint", "shard_map": "a shard_map", "in": "a jit inside", "out": "a jit inside"}


@pytest.mark.parametrize("part", INNER)
@pytest.mark.parametrize("how", ["call", "lower", "grad"])
def test_sides_deep_within_a_program_are_found(jax, model, here, there, part, how):
    f = nested(jax, INNER[part](jax, there), loops=how != "grad")
    x = jax.device_put(VALUE, here)
    calls = {"call": jax.jit(f), "lower": jax.jit(f).lower, "grad": jax.grad(lambda x: jax.jit(f)(x).sum())}
    before = model.counts["compile"]
    with pytest.raises(ValueError, match="argument x on") as error:
        calls[how](x)
    assert model.counts["compile"] == before
    assert HERE in str(error.value)
    assert THERE in str(error.value)
    assert SAID.get(part, "a device_put") in str(error.value)


@pytest.mark.parametrize("part", INNER)
def test_sides_deep_within_a_program_may_agree(jax, here, part):
    f = nested(jax, INNER[part](jax, here))
    y = jax.jit(f)(jax.device_put(VALUE, here))
    assert list(y.sharding.ordered) == list(here.ordered)


def test_the_first_two_that_lie_apart_are_named_alone(jax, here, there):
    x, y = jax.device_put(VALUE, here), jax.device_put(VALUE, there)
    with pytest.raises(ValueError, match="tree") as error:
        jax.jit(lambda tree, *more, **named: tree["a"] + more[0] + named["b"][0])({"a": x}, x, y, b=[y])
    assert "argument tree['a'] on" in str(error.value)
    assert "argument more[1] on" in str(error.value)
    assert "named" not in str(error.value)
    with pytest.raises(ValueError, match=r"argument b\[0\] on device ids \[4, 5, 6, 7\]"):
        jax.jit(lambda tree, **named: tree["a"] + named["b"][0])({"a": x}, b=[y])


def test_methods_and_partial_functions_name_their_arguments(jax, here, there):
    class Layer:
        @jax.jit
        def __call__(self, weights, x):
            return weights + x

    x, y = jax.device_put(VALUE, here), jax.device_put(VALUE, there)
    with pytest.raises(TypeError, match="argument self of __call__"):
        Layer()(x, y)

    class Bound:
        def apply(self, weights, x):
            return weights + x

    with pytest.raises(ValueError, match=r"apply was called with argument weights on .* and argument x on"):
        jax.jit(Bound().apply)(x, y)


def test_what_stands_for_an_array_is_a_side_if_it_has_a_sharding(jax, here, there):
    struct = jax.ShapeDtypeStruct
    add = jax.jit(lambda x, y: x + y)
    with pytest.raises(ValueError, match="argument x"):
        add.lower(struct(VALUE.shape, VALUE.dtype, sharding=here), jax.device_put(VALUE, there))
    lowered = add.lower(struct(VALUE.shape, VALUE.dtype), jax.device_put(VALUE, there))
    assert lowered.compile().output_shardings.ordered == there.ordered


def test_under_grad_and_vmap_a_put_takes_its_operand_elsewhere(jax, here, there):
    x, y = jax.device_put(VALUE, here), jax.device_put(VALUE, there)

    def f(x, y):
        return (jax.device_put(x, there) * y).sum()

    gradient = jax.grad(f)(x, y)
    assert np.array_equal(gradient, VALUE)
    assert gradient.sharding == here, "the gradient lies where its argument lies"
    with pytest.raises(ValueError, match=r"argument x on .*0, 1, 2, 3.* and argument y on .*4, 5, 6, 7"):
        jax.jit(f)(x, y)
    with pytest.raises(ValueError, match=r"a device_put within f on .*4, 5, 6, 7.* and argument y on .*0, 1, 2, 3"):
        jax.grad(f)(x, x)


def test_an_array_that_a_differentiated_function_captures_is_an_operand(jax, here, there):
    x, held = jax.device_put(VALUE, here), jax.device_put(VALUE, there)
    with pytest.raises(ValueError, match=r"argument x on .* and a captured array within <lambda> on"):
        jax.grad(lambda x: (x * held).sum())(x)
    with pytest.raises(ValueError, match="captured"):
        jax.vmap(lambda x: x * held[0])(x)
    assert np.array_equal(jax.jit(lambda x: x * held)(x), VALUE * VALUE), "a jitted one takes its value"


def test_unused_arguments_of_transformed_functions_meet_nobody(jax, here, there):
    x, y = jax.device_put(VALUE, here), jax.device_put(VALUE, there)
    assert np.array_equal(jax.vmap(lambda x, y: x + 1)(x, y), VALUE + 1)
    assert np.array_equal(jax.grad(lambda x, y: (x * x).sum())(x, y), 2 * VALUE)
    with pytest.raises(ValueError, match="argument y"):
        jax.jit(lambda x, y: x + 1)(x, y)


def test_contexts_of_one_thread_are_not_another_s(jax, here):
    import threading

    seen = []
    with jax.set_mesh(here.mesh):
        thread = threading.Thread(target=lambda: seen.append((jax.device_put(VALUE) + 1).sharding.num_devices))
        thread.start()
        thread.join()
        assert (jax.device_put(VALUE) + 1).sharding.num_devices == 4
    assert seen == [1]


def test_the_innermost_context_holds_and_ends_with_its_block(jax, here, there):
    x = jax.device_put(VALUE)
    with jax.set_mesh(here.mesh):
        with jax.set_mesh(there.mesh):
            assert (x + 1).sharding.ordered == there.ordered
        with pytest.raises(KeyError), jax.set_mesh(there.mesh):
            raise KeyError
        assert (x + 1).sharding.ordered == here.ordered
        with there.mesh:
            assert not (x + 1).committed, "`with mesh:` is the innermost, and places nothing"
    assert not (x + 1).committed
    jax.set_mesh(here.mesh)
    assert (x + 1).sharding.ordered == here.ordered, "it holds for good where nothing ends it"


def test_a_context_ends_what_began_within_it(jax, here, there):
    x = jax.device_put(VALUE)
    with jax.set_mesh(here.mesh):
        jax.set_mesh(there.mesh)
        assert (x + 1).sharding.ordered == there.ordered
    assert not (x + 1).committed, "not the outer mesh, which was set before"


def test_of_two_equal_meshes_the_inner_one_is_left(jax, here, there):
    x = jax.device_put(VALUE)
    with here.mesh, jax.set_mesh(there.mesh):
        with here.mesh:
            assert not (x + 1).committed
        assert (x + 1).sharding.ordered == there.ordered


def test_no_mesh_is_a_mesh_of_its_own(jax, here):
    x = jax.device_put(VALUE)
    with jax.set_mesh(here.mesh):
        with jax.set_mesh(None):
            assert not (x + 1).committed
        assert (x + 1).committed


def test_the_innermost_default_device_holds_and_ends_with_its_block(jax):
    first, third, fifth = jax.devices()[0], jax.devices()[3], jax.devices()[5]
    with jax.default_device(third):
        with jax.default_device(fifth):
            assert jax.device_put(1.0).device == fifth
        with pytest.raises(KeyError), jax.default_device(fifth):
            raise KeyError
        assert jax.device_put(1.0).device == third
        with jax.default_device(None):
            assert jax.device_put(1.0).device == first
    assert jax.device_put(1.0).device == first


def test_a_default_device_is_entered_as_often_as_one_likes(jax):
    third = jax.default_device(jax.devices()[3])
    for _ in range(2):
        with third, third:
            assert jax.device_put(1.0).device.id == 3
    assert third(jax.device_put)(1.0).device.id == 3
    assert jax.device_put(1.0).device.id == 0


@pytest.fixture(autouse=True)
def no_context_is_left():
    from impl.model.contexts import HELD

    yield
    HELD.meshes.clear()
    HELD.devices.clear()
