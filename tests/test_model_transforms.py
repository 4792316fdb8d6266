"""The model's gradients and mapping: whole functions, and what a refusal leaves undone."""

import numpy as np
import pytest

VALUE = np.arange(64, dtype=np.float32).reshape(8, 8)


@pytest.fixture
def lies(jax):
    devices = np.array(jax.devices()[:4], object)
    return lambda *spec: jax.sharding.NamedSharding(
        jax.sharding.Mesh(devices, ("x",)), jax.sharding.PartitionSpec(*spec)
    )


def layers(jax, weights, x):
    """A small network: what a user of placement trains."""
    for layer in weights:
        x = jax.jit(lambda w, x: jax.numpy.concatenate([x @ w["w"], x[:, :2]], axis=1)[:, :4] * w["b"])(layer, x)
    return (x * x).mean()


def test_a_gradient_keeps_the_structure_and_the_place_of_its_argument(jax, model, lies):
    rng = np.random.default_rng(0)
    weights = [
        {"w": rng.normal(size=(4, 4)).astype(np.float32), "b": rng.normal(size=4).astype(np.float32)} for _ in range(3)
    ]
    x = rng.normal(size=(8, 4)).astype(np.float32)
    placed = jax.tree.map(lambda w: jax.device_put(w, lies("x")), weights)
    found = jax.grad(lambda w: layers(jax, w, jax.device_put(x, lies("x"))))(placed)
    assert [sorted(layer) for layer in found] == [["b", "w"]] * 3
    assert {tuple(it.id for it in leaf.sharding.ordered) for leaf in jax.tree.leaves(found)} == {(0, 1, 2, 3)}
    at = float(layers(jax, weights, x))
    for number, layer in enumerate(weights):
        for name, value in layer.items():
            moved = [{key: it.copy() for key, it in layer.items()} for layer in weights]
            direction = rng.normal(size=value.shape).astype(np.float32)
            moved[number][name] += np.float32(1e-2) * direction
            slope = (float(layers(jax, moved, x)) - at) / 1e-2
            assert float((np.asarray(found[number][name]) * direction).sum()) == pytest.approx(slope, rel=0.2, abs=0.02)


def test_gradients_of_gradients_of_mapped_and_jitted_functions(jax):
    def cube(x):
        return jax.lax.scan(lambda carry, _: (carry * x, None), x, None, length=2)[0]

    third = jax.grad(jax.grad(jax.grad(cube)))
    assert float(third(2.0)) == 6
    x = np.arange(4, dtype=np.float32)
    for f in (jax.vmap(jax.grad(cube)), jax.jit(jax.vmap(jax.grad(cube))), jax.vmap(jax.jit(jax.grad(cube)))):
        assert np.asarray(f(x)).tolist() == [0, 3, 12, 27]
    assert np.asarray(jax.grad(lambda x: jax.vmap(cube)(x).sum())(x)).tolist() == [0, 3, 12, 27]
    grid = jax.vmap(jax.vmap(lambda a, b: a - 2 * b, in_axes=(None, 0)), in_axes=(0, None))(x, x)
    assert np.array_equal(grid, x[:, None] - 2 * x[None])


def test_a_pullback_may_be_called_again(jax):
    out, back = jax.vjp(lambda x, y: {"a": x * y, "b": x + 1}, np.float32(2), np.float32(3))
    assert float(out["a"]) == 6
    for _ in range(2):
        assert [float(it) for it in back({"a": np.float32(1), "b": np.float32(10)})] == [13, 2]
    assert [float(it) for it in back({"a": np.float32(0), "b": np.float32(0)})] == [0, 0]


def test_branches_of_mapped_functions_differ_by_example(jax):
    x = np.arange(6, dtype=np.float32).reshape(3, 2)
    found = jax.vmap(lambda a: jax.lax.cond(a[0] > 1, lambda b: b.sum(), lambda b: -b[1], a))(x)
    assert np.asarray(found).tolist() == [-1, 5, 9]
    slope = jax.jit(jax.grad(lambda a: jax.lax.cond(a > 1, lambda b: b * b, lambda b: -b, a)))
    assert (float(slope(3.0)), float(slope(0.0))) == (6, -1)


def test_what_a_gradient_does_not_depend_on_may_have_no_way_back(jax):
    x = jax.device_put(VALUE)
    held = jax.device_put(VALUE)

    def f(x, steps):
        count = jax.lax.while_loop(lambda n: n < 3, lambda n: n + 1, steps)
        return (x * jax.device_put(held, donate=True)[0, 1]).sum() + count

    assert np.array_equal(jax.grad(f)(x, 0), np.ones_like(VALUE))
    assert held.is_deleted()


def test_nothing_is_put_while_a_function_is_traced(jax):
    held = jax.device_put(VALUE)
    y = jax.jit(lambda: jax.device_put(held, donate=True) + jax.device_put(VALUE))()
    assert np.array_equal(y, 2 * VALUE)
    assert np.array_equal(held, VALUE), "within a program a put promises a result of its own, and no more"


# --- nothing happens before all is known ------------------------------------------------------------------------------


def donating(jax, then):
    """A function that donates one array, and then does what is refused."""
    return lambda first, second: (then(jax.device_put(first, donate=True), second)).sum()


REFUSED = {
    "apart": lambda jax, lies: (jax.vmap, lambda first, second: first + second),
    "spec": lambda jax, lies: (jax.vmap, lambda first, second: first + jax.device_put(second, lies("x"))),
    "while": lambda jax, lies: (
        jax.vmap,
        lambda first, second: first + jax.lax.while_loop(lambda n: n[0] < 3, lambda n: n + 1, second),
    ),
    "transposed": lambda jax, lies: (jax.grad, lambda first, second: first),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_refusal_comes_before_a_donation(jax, lies, what):
    transform, then = REFUSED[what](jax, lies)
    first = jax.device_put(VALUE, jax.devices()[0])
    second = jax.device_put(VALUE, jax.devices()[1 if what == "apart" else 0])
    kind = NotImplementedError if what in ("spec", "while") else ValueError
    with pytest.raises(kind):
        transform(donating(jax, then))(first, second)
    assert np.array_equal(first, VALUE)


def test_a_put_within_a_jit_is_one_within_a_program_also_when_it_is_mapped(jax, lies):
    x = jax.device_put(VALUE, jax.devices()[0])
    before = x.addressable_shards[0].data.unsafe_buffer_pointer()
    y = jax.vmap(jax.jit(lambda x: jax.device_put(x, donate=True)))(x)
    assert np.array_equal(x, VALUE)
    assert y.addressable_shards[0].data.unsafe_buffer_pointer() != before
    with pytest.raises(ValueError, match="donates"):
        jax.grad(jax.jit(lambda x: jax.device_put(x, donate=True).sum()))(x)


def test_a_mapped_put_donates_as_one_outside_does(jax, lies):
    x = jax.device_put(VALUE, lies())
    y = jax.vmap(lambda x: jax.device_put(x, lies(), donate=True) + 1)(x)
    assert x.is_deleted()
    assert np.array_equal(y, VALUE + 1)


def test_a_deleted_array_is_refused_before_anything_is_traced_into_it(jax):
    x = jax.device_put(VALUE)
    x.delete()
    for call in (jax.grad(lambda x: x.sum()), jax.vmap(lambda x: x + 1), lambda x: jax.vjp(lambda x: x, x)):
        with pytest.raises(RuntimeError, match=r"deleted with shape=float32\[8,8\]"):
            call(x)
    assert jax.eval_shape(lambda x: x.sum(), x).shape == ()
