"""The good neighbours of bad input: calls that JAX accepts, and that a model which refuses too eagerly does not."""

from __future__ import annotations

import copy
import enum

import numpy as np

from tests.bad_programs import compiled, constrained, f_static, mapped, struct, within
from tests.bad_rows import added, both, double
from tests.input_there import VALUE


class Rank(enum.IntEnum):
    HIGH = 3


def parts(a):
    return [shard.data for shard in a.x.addressable_shards]


def twice(context, act):
    """What an act gives within a context, entered a second time."""
    return [within(context, act), within(context, act)]


def deleted(jax, act, x):
    """What an act gives, and whether an array is gone then."""
    return [act(), x.is_deleted()]


def some_keys(jax):
    return jax.random.wrap_key_data(np.arange(8, dtype=np.uint32).reshape(4, 2))


def raised(x, n):
    return x if n == 0 else raised(x * x, n - 1)


GOOD = {
    # device_put
    "put.device": lambda jax, a: jax.device_put(a.x, a.devices[1]),
    "put.nowhere": lambda jax, a: [jax.device_put(a.x), jax.device_put(a.loose), jax.device_put(VALUE)],
    "put.sharding": lambda jax, a: jax.device_put(a.loose, a.rows),
    "put.divides": lambda jax, a: jax.device_put(np.zeros((4, 6), np.float32), a.rows),
    "put.divides.grouped": lambda jax, a: jax.device_put(VALUE, a.Named(a.square, a.P(None, ("x", "y")))),
    "put.divides.none": lambda jax, a: jax.device_put(np.zeros((0, 3), np.float32), a.rows),
    "put.rank": lambda jax, a: jax.device_put(a.vector, a.Named(a.line, a.P())),
    "put.rank.scalar": lambda jax, a: jax.device_put(3.0, a.Named(a.line, a.P())),
    "put.kind": lambda jax, a: jax.device_put(a.x, a.rows.with_memory_kind("pinned_host")),
    "put.layout": lambda jax, a: jax.device_put(a.x, a.Format(a.Layout((0, 1)), a.rows)),
    "put.layout.none": lambda jax, a: jax.device_put(a.x, a.Format(None, a.rows)),
    "put.scalars": lambda jax, a: [jax.device_put(it) for it in (1, 2.5, True, 1j, np.float16(3), np.int8(-1))],
    "put.wide": lambda jax, a: jax.device_put([np.arange(3), np.zeros(2), np.array([2**33])]),
    "put.derived": lambda jax, a: [jax.device_put(it) for it in (Rank.HIGH, np.float64(2.5), np.bool_(True))],
    "put.strided": lambda jax, a: jax.device_put(VALUE.T[::2], a.devices[2]),
    "put.empty": lambda jax, a: jax.device_put([None, (), {}, [None, a.x]], a.devices[1]),
    "put.tree": lambda jax, a: jax.device_put({"a": a.x, "b": [a.one, 3]}, {"a": a.devices[0], "b": None}),
    "put.tree.prefix": lambda jax, a: jax.device_put(
        {"a": [a.x, a.x], "b": a.one}, {"a": a.devices[1], "b": a.devices[2]}
    ),
    "put.key": lambda jax, a: jax.device_put(a.key, a.devices[3]),
    "put.keys": lambda jax, a: jax.device_put(jax.random.wrap_key_data(np.zeros((4, 2), np.uint32)), a.rows),
    "put.flags": lambda jax, a: jax.device_put(a.x, a.devices[1], donate=False, may_alias=False),
    "put.flags.tree": lambda jax, a: jax.device_put([a.x, a.one], donate=[False, False], may_alias=[True, None]),
    "put.twice": lambda jax, a: jax.device_put([a.x, a.x], a.devices[1]),
    "put.inside": lambda jax, a: jax.jit(lambda x: jax.device_put(x, a.rows))(a.x),
    "put.inside.host": lambda jax, a: jax.jit(lambda x: x + jax.device_put(VALUE, a.rows))(a.x),
    "put.inside.donated": lambda jax, a: deleted(
        jax, lambda: jax.jit(lambda x: x + jax.device_put(a.x, donate=True))(a.x), a.x
    ),
    # places
    "mesh.rank": lambda jax, a: a.Mesh(np.array(a.devices[:1]).reshape(1, 1), ("x", "y")).shape["y"],
    "single.kind": lambda jax, a: a.Single(a.devices[0], "pinned_host"),
    "named.lists": lambda jax, a: a.Named(a.square, a.P(["x", "y"])).shard_shape((8, 3)),
    "struct": lambda jax, a: [a.Struct((8,), "float32").dtype, a.Struct([8, 2], np.float64).shape],
    "struct.sharding": lambda jax, a: a.Struct((8,), np.float32, sharding=a.rows).sharding,
    "made": lambda jax, a: a.made((8, 8), a.rows, parts(a)),
    "made.mixed": lambda jax, a: a.made((8, 8), a.rows, parts(a)[::-1]),
    "made.one": lambda jax, a: a.made((2, 8), a.Single(a.devices[0]), parts(a)[:1]),
    # arrays
    "array.item": lambda jax, a: [a.scalar.item(), a.six[:1].item(), float(a.scalar), int(a.scalar), complex(a.scalar)],
    "array.bool": lambda jax, a: [bool(a.truth), bool(a.six[:1] == 0), not a.scalar],
    "array.index": lambda jax, a: [[1, 2, 3][a.whole[1]], list(range(a.whole[2]))],
    "array.list": lambda jax, a: [a.six.tolist(), a.scalar.tolist()],
    "array.format": lambda jax, a: [f"{a.scalar:.2f}", f"{a.six}", str(a.truth)],
    "array.iterate": lambda jax, a: [len(a.six), [float(it) for it in a.six]],
    "array.past": lambda jax, a: [a.six[17], a.six[-17], a.six[4:17]],
    "array.slices": lambda jax, a: [a.loose[1:3, ::-2], a.loose[..., 0], a.loose[None, 2], a.loose[-1, 1:1]],
    "array.ellipsis": lambda jax, a: [a.loose[..., 1:2, 3], a.loose[2, ...], a.scalar[...], a.scalar[()]],
    "array.add": lambda jax, a: [a.x + 1, 1 - a.x, a.x + a.x, a.x + a.loose, a.x + VALUE, a.loose + a.six[:1]],
    "array.types": lambda jax, a: [a.whole + 1, a.whole + 1.5, a.whole / 2, a.truth + 1, a.whole * a.truth, -a.whole],
    "array.compare": lambda jax, a: [a.six == a.six, a.six < 3, 3 + a.six >= 5, a.six != np.float32(2)],
    "array.equal": lambda jax, a: [a.x == "text", a.x != None, a.x == Ellipsis],  # noqa: E711
    "array.matmul": lambda jax, a: [a.loose @ a.loose, a.loose @ a.loose[0], a.loose[0] @ a.loose, a.six @ a.six],
    "array.power": lambda jax, a: [a.six**2, a.six**0, a.whole**2, a.truth**2, (a.six > 1) ** (a.six > 2)],
    "array.power.any": lambda jax, a: [
        a.six**0.5,
        a.whole**0.5,
        a.six**a.scalar,
        2**a.whole,
        a.whole ** (a.whole - 3),
        a.six**True,
        jax.numpy.power(a.six, 3),
        a.whole.astype("int8") ** 2,
    ],
    "array.whole": lambda jax, a: [
        (a.six - 2.5) // 2,
        (a.six - 2.5) % 2,
        (a.whole - 3) // -2,
        (a.whole - 3) % -2,
        9 // (a.whole + 1),
        9.5 % (a.six + 1),
        a.whole // 0.5,
        a.truth // True,
        a.truth % True,
        divmod(a.whole, 3),
        divmod(7, a.whole + 1),
        jax.numpy.floor_divide(a.six, 4),
        jax.numpy.remainder(a.six, 4),
    ],
    "array.abs": lambda jax, a: [abs(a.six - 2), abs(a.whole - 2), abs(a.truth), jax.numpy.abs(-2.5), abs(a.x)],
    "array.gradients": lambda jax, a: [
        jax.grad(lambda x: ((x - 2.5) % 2 + x // 2 + abs(x - 2.5)).sum())(a.six),
        jax.grad(lambda y: (7 % y).sum())(a.six + 1.5),
    ],
    "array.sum": lambda jax, a: [a.loose.sum(), a.loose.sum(0), a.loose.sum((0, -1)), a.truth.sum(), a.loose.mean(1)],
    "array.max": lambda jax, a: [a.loose.max(), a.loose.max(1), a.whole.max()],
    "array.reshape": lambda jax, a: [a.loose.reshape(4, -1), a.loose.reshape((64,)), a.loose.reshape(-1)],
    "array.transpose": lambda jax, a: [a.loose.T, a.loose.transpose(1, 0), a.loose.transpose((-1, 0))],
    "array.astype": lambda jax, a: [a.six.astype(int), a.six.astype("float16"), a.six.astype(bool)],
    "array.astype.bounds": lambda jax, a: [
        (a.six * 100).astype(np.uint8),
        (a.six * -1e20).astype(np.int16),
        (a.six / 0).astype(np.int32),
        (a.six * 1e10).astype(np.int32),
    ],
    "array.copy": lambda jax, a: deleted(jax, lambda: [a.x.delete(), a.x.delete()], a.x),
    "array.get": lambda jax, a: jax.device_get({"a": a.x, "b": [3, None, a.scalar]}),
    "array.wait": lambda jax, a: jax.block_until_ready([a.x, 3, None, "text"]),
    "array.dlpack": lambda jax, a: np.from_dlpack(a.one),
    "array.pointer": lambda jax, a: a.one.unsafe_buffer_pointer() == a.one.unsafe_buffer_pointer(),
    "array.bits": lambda jax, a: [(a.six > 1) & (a.six < 4), (a.six > 4) | (a.six < 1), ~(a.six > 2), a.whole ^ 3],
    "array.copies": lambda jax, a: [a.x.copy(), a.one.to_device(a.devices[2]), copy.copy(a.x), copy.deepcopy(a.loose)],
    "array.ready": lambda jax, a: [a.x.is_ready(), a.x.copy_to_host_async(), a.x.nbytes, a.x.itemsize],
    "array.flat": lambda jax, a: [a.loose.ravel(), a.loose.flatten()],
    "array.repr": lambda jax, a: [repr(a.x), repr(a.six), repr(a.truth), repr(a.six.astype("float16")), str(a.x)],
    "array.repr.weak": lambda jax, a: [repr(jax.device_put(it)) for it in (1, 2.5, True, np.float32(2))],
    "array.isinstance": lambda jax, a: [
        isinstance(a.x, jax.Array),
        isinstance(VALUE, jax.Array),
        jax.jit(lambda x: x + isinstance(x, jax.Array))(a.six),
    ],
    "numpy.created": lambda jax, a: [
        jax.numpy.zeros((2, 3)),
        jax.numpy.ones(4, int),
        jax.numpy.full((2,), 7.0),
        jax.numpy.arange(5),
        jax.numpy.arange(0.0, 1.0, 0.25),
        jax.numpy.array([1, 2, 3]),
        jax.numpy.array([[1.0, 2]]),
        jax.numpy.array(1.0),
        jax.numpy.asarray(VALUE),
        jax.numpy.zeros_like(a.x),
        jax.numpy.ones_like(a.whole),
        jax.numpy.zeros((8, 8), device=a.rows),
        jax.jit(lambda x: x + jax.numpy.arange(6))(a.six),
    ],
    "numpy.types": lambda jax, a: [
        jax.numpy.float32(a.whole),
        jax.numpy.float32(1),
        jax.numpy.int32(2.5),
        jax.numpy.bfloat16([1, 2]),
        jax.numpy.float32(VALUE.astype(np.float64)),
        jax.jit(lambda x: jax.numpy.float16(x))(a.x),
        np.dtype(jax.numpy.int8) == np.int8,
        a.six.astype(jax.numpy.int8),
        jax.numpy.zeros(2, jax.numpy.bfloat16),
        np.ones(2, jax.numpy.int16),
        a.Struct((2,), jax.numpy.float32).dtype == jax.numpy.float32,
        jax.numpy.float32 == np.float32,
        jax.numpy.float32 in {np.float32: 1},
        isinstance(np.float32(1), jax.numpy.float32),
        isinstance(np.float64(1), jax.numpy.float32),
    ],
    "numpy.elements": lambda jax, a: [
        jax.numpy.add(a.six, 1),
        jax.numpy.maximum(a.six, 2),
        jax.numpy.less(a.six, 2),
        jax.numpy.negative(a.x),
    ],
    "numpy.concatenate": lambda jax, a: jax.numpy.concatenate([a.six, a.six[:2], np.ones(1, np.float32)]),
    "numpy.broadcast": lambda jax, a: jax.numpy.broadcast_to(a.six, (2, 6)),
    "numpy.where": lambda jax, a: jax.numpy.where(a.six > 2, a.six, 0),
    # keys
    "key.seeds": lambda jax, a: [
        jax.random.key_data(jax.random.key(it)) for it in (0, -1, 2**32 - 1, 2**40, np.uint8(3), np.int64(5), True)
    ],
    "key.wrap": lambda jax, a: jax.random.wrap_key_data(np.zeros((3, 2), np.uint32)),
    "key.shape": lambda jax, a: [a.key.shape, a.key.ndim, str(a.key.dtype)],
    "key.get": lambda jax, a: jax.device_get([a.key]),
    "key.program": lambda jax, a: [
        jax.jit(lambda k: jax.random.key_data(k))(a.key),
        jax.jit(lambda k: jax.random.wrap_key_data(k))(np.zeros(2, np.uint32)),
        jax.jit(lambda s: jax.random.key_data(jax.random.key(s)))(3),
        jax.vmap(lambda k: jax.random.key_data(k))(some_keys(jax)),
        jax.lax.scan(lambda c, k: (c, jax.random.key_data(k)), 0, some_keys(jax))[1],
    ],
    "key.array": lambda jax, a: [
        some_keys(jax)[1],
        some_keys(jax)[::-2].reshape(2, 1).T,
        jax.numpy.concatenate([some_keys(jax), some_keys(jax)[:1]]),
        jax.numpy.where(np.array([True, False, True, False]), some_keys(jax), some_keys(jax)[::-1]),
        some_keys(jax) == some_keys(jax)[2],
        jax.lax.cond(True, lambda k: k, lambda k: k[::-1], some_keys(jax)),
    ],
    # jit
    "jit": lambda jax, a: [jax.jit(double)(it) for it in (a.x, a.loose, a.one, VALUE, 3, 2.5, True)],
    "jit.several": lambda jax, a: jax.jit(both)(a.x, a.loose),
    "jit.tree": lambda jax, a: jax.jit(added)({"a": a.x, "b": VALUE}),
    "jit.none": lambda jax, a: jax.jit(lambda x, y: (None, [x], {"y": y}))(a.x, None),
    "jit.keywords": lambda jax, a: jax.jit(both)(second=a.x, first=1),
    "jit.static": lambda jax, a: [
        jax.jit(f_static, static_argnums=1)(a.x, 3),
        jax.jit(f_static, static_argnames="n")(a.x, n=3),
        jax.jit(f_static, static_argnums=(-1,))(a.x, 3),
        jax.jit(raised, static_argnames=["n"])(a.six, n=2),
    ],
    "jit.donated": lambda jax, a: deleted(jax, lambda: jax.jit(double, donate_argnums=0)(a.x), a.x),
    "jit.donated.name": lambda jax, a: deleted(jax, lambda: jax.jit(double, donate_argnames="x")(x=a.x), a.x),
    "jit.donated.unusable": lambda jax, a: deleted(jax, lambda: jax.jit(lambda x: x.sum(), donate_argnums=0)(a.x), a.x),
    "jit.donated.host": lambda jax, a: jax.jit(double, donate_argnums=0)(VALUE),
    "jit.in": lambda jax, a: [jax.jit(double, in_shardings=a.rows)(it) for it in (a.x, VALUE, a.loose)],
    "jit.in.list": lambda jax, a: jax.jit(both, in_shardings=[a.rows, a.rows])(VALUE, VALUE),
    "jit.eval": lambda jax, a: [jax.jit(double).eval_shape(a.x).shape, jax.jit(double).clear_cache()],
    "jit.in.none": lambda jax, a: jax.jit(both, in_shardings=(a.rows, None))(VALUE, a.x),
    "jit.in.tree": lambda jax, a: jax.jit(added, in_shardings=({"a": a.rows, "b": None},))({"a": VALUE, "b": a.x}),
    "jit.in.prefix": lambda jax, a: jax.jit(added, in_shardings=a.rows)({"a": VALUE, "b": VALUE}),
    "jit.out": lambda jax, a: jax.jit(double, out_shardings=a.Named(a.line, a.P(None, "x")))(a.x),
    "jit.out.tree": lambda jax, a: jax.jit(lambda x: (x, {"y": x}), out_shardings=(a.rows, a.Named(a.line, a.P())))(
        a.x
    ),
    "jit.out.none": lambda jax, a: jax.jit(lambda x: (x, x), out_shardings=(None, a.rows))(a.x),
    "jit.captured": lambda jax, a: jax.jit(lambda x: x + a.y)(a.x),
    "jit.captured.loose": lambda jax, a: jax.jit(lambda x: x + a.loose)(a.x),
    "jit.constant": lambda jax, a: jax.jit(lambda: (VALUE, 3))(),
    "jit.shape": lambda jax, a: jax.jit(lambda x: x.reshape(x.shape[0] * 8) if x.ndim > 1 else x)(a.loose),
    "jit.get": lambda jax, a: jax.jit(lambda x: jax.device_get(x))(a.x),
    "jit.nested": lambda jax, a: jax.jit(lambda x: jax.jit(double)(x) + 1)(a.x),
    "jit.option": lambda jax, a: jax.jit(double, keep_unused=True, inline=True)(a.x),
    "jit.method": lambda jax, a: jax.jit(a.x.reshape, static_argnums=0)((64,)).shape,
    "lower": lambda jax, a: jax.jit(double).lower(a.gone).out_info.shape,
    "compiled": lambda jax, a: [compiled(jax, a)(a.x), compiled(jax, a)(VALUE), compiled(jax, a)(a.loose)],
    "compiled.struct": lambda jax, a: compiled(jax, a, struct(jax, sharding=a.rows))(a.x),
    "compiled.loose": lambda jax, a: compiled(jax, a, struct(jax))(a.loose),
    "compiled.equivalent": lambda jax, a: compiled(jax, a)(jax.device_put(VALUE, a.Named(a.line, a.P("x", None)))),
    "compiled.static": lambda jax, a: compiled(jax, a, a.x, 2, f=f_static, static_argnums=1)(a.x),
    "eval.shape": lambda jax, a: [jax.eval_shape(both, struct(jax), 1).shape, jax.eval_shape(double, 2).dtype],
    # constraints and shard_map
    "constraint": lambda jax, a: constrained(jax, a.Named(a.line, a.P(None, "x")))(a.x),
    "constraint.uneven": lambda jax, a: jax.jit(lambda x: a.constrain(x, a.rows) * 2)(a.six),
    "constraint.spec": lambda jax, a: within(a.line, lambda: constrained(jax, a.P(None, "x"))(a.x)),
    "constraint.open": lambda jax, a: constrained(jax, a.Named(a.line, a.P(a.P.UNCONSTRAINED, None)))(a.x),
    "constraint.eager": lambda jax, a: a.constrain(a.x, a.Named(a.line, a.P(None, "x"))),
    "constraint.tree": lambda jax, a: a.constrain([a.x, a.x], [a.rows, a.Named(a.line, a.P())]),
    "map": lambda jax, a: mapped(jax, a)(a.x),
    "map.psum": lambda jax, a: mapped(jax, a, lambda x: jax.lax.psum(x, "x"), outs=a.P())(a.x),
    "map.sum": lambda jax, a: mapped(jax, a, lambda x: x.sum().reshape(1))(a.x),
    "map.unchecked": lambda jax, a: jax.shard_map(
        double, mesh=a.line, in_specs=a.P(), out_specs=a.P(), check_vma=False
    )(a.loose),
    "map.replicated": lambda jax, a: mapped(jax, a, ins=a.P(), outs=a.P())(a.loose),
    "map.both": lambda jax, a: mapped(jax, a, both, ins=(a.P("x"), a.P()))(a.x, 1.0),
    "map.square": lambda jax, a: mapped(
        jax, a, lambda x: jax.lax.psum(x, "y"), mesh=a.square, ins=a.P("x", "y"), outs=a.P("x")
    )(a.loose),
    # loops and branches
    "scan": lambda jax, a: jax.lax.scan(lambda c, x: (c + x, c * x), a.scalar, a.six),
    "scan.weak": lambda jax, a: jax.lax.scan(lambda c, x: (c + x, None), 0.0, a.six),
    "scan.length": lambda jax, a: jax.lax.scan(lambda c, _: (c + 1, c), 0, None, length=3),
    "scan.zero": lambda jax, a: jax.lax.scan(lambda c, _: (c + 1, c), 0, None, length=0),
    "scan.tree": lambda jax, a: jax.lax.scan(lambda c, x: ({"n": c["n"] + x[0]}, x[1]), {"n": 0.0}, (a.six, a.six)),
    "scan.reverse": lambda jax, a: jax.lax.scan(lambda c, x: (c * 2 + x, c), 0.0, a.six, reverse=True),
    "while": lambda jax, a: jax.lax.while_loop(lambda c: c < 40, lambda c: c * 2, a.scalar),
    "while.tree": lambda jax, a: jax.lax.while_loop(lambda c: c[0] < 4, lambda c: (c[0] + 1, c[1] * 2), (0, a.six)),
    "cond": lambda jax, a: [jax.lax.cond(it, double, lambda x: x, a.six) for it in (True, False, a.truth, 1, a.scalar)],
    "cond.devices": lambda jax, a: jax.lax.cond(True, double, lambda x: x, a.x),
    # transformations
    "grad": lambda jax, a: [jax.grad(lambda x: (x * x).sum())(a.x), jax.grad(lambda x: x * x)(3.0)],
    "grad.argnums": lambda jax, a: jax.grad(lambda x, y: (x * y).sum(), argnums=(0, -1))(a.x, a.x),
    "grad.tree": lambda jax, a: jax.grad(lambda t: (t["a"] * t["b"][0]).sum())({"a": a.x, "b": [a.x]}),
    "grad.other.int": lambda jax, a: jax.grad(lambda x, n: (x * n).sum())(a.loose, 3),
    "grad.of.jit": lambda jax, a: [
        jax.grad(jax.jit(lambda x: (x * x).sum()))(a.x),
        jax.jit(jax.grad(lambda x: (x * x).sum()))(a.x),
        jax.grad(jax.grad(lambda x: x * x * x))(2.0),
        jax.vmap(jax.grad(lambda x: (x * x).sum()))(a.loose),
    ],
    "grad.scan": lambda jax, a: jax.grad(lambda x: jax.lax.scan(lambda c, r: (c * r, c), x, a.six + 1)[0])(2.0),
    "vjp": lambda jax, a: jax.vjp(double, a.loose)[1](a.loose),
    "vjp.tree": lambda jax, a: jax.vjp(lambda x: (x, {"y": x * x}), a.loose)[1]((a.loose, {"y": a.loose})),
    "vmap": lambda jax, a: jax.vmap(double)(a.loose),
    "vmap.axes": lambda jax, a: [
        jax.vmap(both, in_axes=(0, None))(a.loose, a.loose[0]),
        jax.vmap(both, in_axes=[1, 0], out_axes=1)(a.loose, a.loose),
        jax.vmap(both, in_axes=(-1, -2), out_axes=-1)(a.loose, a.loose),
    ],
    "vmap.out.none": lambda jax, a: jax.vmap(lambda x: (x, a.scalar), out_axes=(0, None))(a.loose),
    "vmap.tree": lambda jax, a: jax.vmap(added, in_axes=({"a": 0, "b": None},))({"a": a.loose, "b": a.loose[0]}),
    # contexts
    "default.device": lambda jax, a: within(jax.default_device(a.devices[3]), lambda: [jax.device_put(1.0), double(2)]),
    "default.again": lambda jax, a: twice(jax.default_device(a.devices[3]), lambda: jax.device_put(1.0)),
    "default.decorates": lambda jax, a: jax.default_device(a.devices[3])(jax.device_put)(1.0),
    "default.none": lambda jax, a: within(jax.default_device(None), lambda: jax.device_put(1.0)),
    "set_mesh": lambda jax, a: within(jax.set_mesh(a.line), lambda: jax.jit(double)(VALUE)),
    "set_mesh.none": lambda jax, a: within(jax.set_mesh(None), lambda: jax.jit(double)(a.x)),
    "set_mesh.put": lambda jax, a: within(jax.set_mesh(a.line), lambda: jax.device_put(VALUE, a.P("x"))),
    "set_mesh.spec": lambda jax, a: within(jax.set_mesh(a.line), lambda: jax.jit(double, in_shardings=a.P("x"))(VALUE)),
    "with.mesh": lambda jax, a: within(a.line, lambda: [jax.jit(double)(a.y), a.loose + 1]),
    "tree": lambda jax, a: [jax.tree.map(both, {"a": [1]}, {"a": [2]}), jax.tree.leaves([None, (1, {"z": 2, "b": 3})])],
}
"""By kind of call, as in the tables of bad input."""
