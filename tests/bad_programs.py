"""Bad input to programs: jit and what it gives, constraints, shard_map, loops, transformations, contexts."""

from __future__ import annotations

import numpy as np

from tests.bad_rows import ACCIDENT, Opaque, added, bad, both, differs, double, leaked
from tests.input_there import VALUE


def f_static(x, n):
    return x * n


JIT = {
    "jit.number": bad(lambda jax, a: jax.jit(3), "of type int"),
    "jit.none": bad(lambda jax, a: jax.jit(None), "of type NoneType"),
    "jit.option": bad(lambda jax, a: jax.jit(double, static=0), "'static'"),
    "jit.static.range": bad(lambda jax, a: jax.jit(double, static_argnums=1), "(1,) | static_argnums=(1,)"),
    "jit.static.negative": bad(lambda jax, a: jax.jit(double, static_argnums=-2), "(-2,) | static_argnums=(-2,)"),
    "jit.static.name": bad(lambda jax, a: jax.jit(double, static_argnames="y"), "'y' | static_argnames=('y',)"),
    "jit.static.string": bad(lambda jax, a: jax.jit(double, static_argnums="x"), "'x' | of type str | static_argnums"),
    "jit.static.float": bad(lambda jax, a: jax.jit(double, static_argnums=0.5), "of type float | static_argnums"),
    "jit.static.name.number": bad(lambda jax, a: jax.jit(double, static_argnames=0), "of type int | static_argnames"),
    "jit.static.hash": bad(
        lambda jax, a: jax.jit(f_static, static_argnums=1)(a.x, [1]), "the static argument | argument n | 'list'"
    ),
    "jit.static.hash.name": bad(
        lambda jax, a: jax.jit(f_static, static_argnames="n")(a.x, n=[1]), "the static argument | argument n | 'list'"
    ),
    "jit.static.array": bad(
        lambda jax, a: jax.jit(f_static, static_argnums=1)(a.x, a.scalar), "the static argument | argument n | 'Array'"
    ),
    "jit.static.numpy": bad(
        lambda jax, a: jax.jit(f_static, static_argnums=1)(a.x, np.zeros(3)), "the static argument | argument n"
    ),
    "jit.donate.range": bad(lambda jax, a: jax.jit(double, donate_argnums=1), "(1,) | donate_argnums=(1,)"),
    "jit.donate.range.call": bad(
        lambda jax, a: jax.jit(double, donate_argnums=(0, 2))(a.x), "(0, 2) | donate_argnums=(0,"
    ),
    "jit.donate.name": bad(lambda jax, a: jax.jit(double, donate_argnames="y"), "'y' | donate_argnames=('y',)"),
    "jit.donate.static": bad(lambda jax, a: jax.jit(f_static, donate_argnums=1, static_argnums=1), "f_static | n"),
    "jit.donate.static.names": bad(
        lambda jax, a: jax.jit(f_static, donate_argnames="n", static_argnames="n"), "f_static | n"
    ),
    "jit.donate.static.both": bad(
        lambda jax, a: jax.jit(f_static, donate_argnums=1, static_argnames="n"), "f_static | n"
    ),
    "jit.donate.twice": bad(lambda jax, a: jax.jit(both, donate_argnums=(0, 1))(a.one, a.one), "first | second"),
    "jit.donate.twice.spread": bad(
        lambda jax, a: jax.jit(both, donate_argnums=(0, 1))(a.x, a.x), "first | second", fatal=True
    ),  # the process of JAX 0.10.2 dies
    "jit.donate.twice.once": bad(lambda jax, a: jax.jit(both, donate_argnums=0)(a.one, a.one), "first | second"),
    "jit.donate.gone": bad(lambda jax, a: jax.jit(both, donate_argnums=1)(a.gone, a.x), "float32[8,8]"),
    "jit.donate.apart": bad(
        lambda jax, a: jax.jit(both, donate_argnums=(0, 1))(a.x, a.y),
        "device ids [0, 1, 2, 3] | device ids [4, 5, 6, 7] | argument first | argument second",
    ),
    "jit.in.string": bad(lambda jax, a: jax.jit(double, in_shardings="x")(a.x), "'x' | of type str | in_shardings"),
    "jit.in.number": bad(lambda jax, a: jax.jit(double, in_shardings=3)(a.x), "of type int | in_shardings"),
    "jit.in.device": bad(
        lambda jax, a: jax.jit(double, in_shardings=a.devices[0])(a.x), "of type Device | in_shardings"
    ),
    "jit.in.spec": bad(lambda jax, a: jax.jit(double, in_shardings=a.P("x"))(a.x), "'x' | in_shardings"),
    "jit.in.longer": bad(
        lambda jax, a: jax.jit(double, in_shardings=(a.rows, a.rows))(a.x),
        "the in_shardings argument | tuple of 2 | tuple of 1",
    ),
    "jit.in.shorter": bad(
        lambda jax, a: jax.jit(both, in_shardings=(a.rows,))(a.x, a.x),
        "the in_shardings argument | tuple of 1 | tuple of 2",
    ),
    "jit.in.deeper": bad(
        lambda jax, a: jax.jit(double, in_shardings=((a.rows, a.rows),))(a.x),
        "the in_shardings argument | tuple of 2 | a leaf | [0]",
    ),
    "jit.in.keys": bad(
        lambda jax, a: jax.jit(added, in_shardings=({"a": a.rows},))({"a": a.x, "b": a.x}),
        "the in_shardings argument | 'a' | 'b' | dict of 'a'",
    ),
    "jit.in.divides": bad(
        lambda jax, a: jax.jit(double, in_shardings=a.rows)(a.six), "'x' of size 4 | dimension 0 of size 6 | shape (6,)"
    ),
    "jit.in.rank": bad(
        lambda jax, a: jax.jit(double, in_shardings=a.Named(a.line, a.P(None, "x")))(a.vector),
        "shape (8,) | 2 dimensions",
    ),
    "jit.in.devices": differs(
        "DEV-03: JAX moves a committed array",
        "ValueError",
        lambda jax, a: jax.jit(double, in_shardings=a.elsewhere)(a.x),
        "device ids [0, 1, 2, 3] | device ids [4, 5, 6, 7] | argument x | in_shardings",
    ),
    "jit.in.cut": differs(
        "DEV-22: either is legal", "", lambda jax, a: jax.jit(double, in_shardings=a.Named(a.line, a.P(None, "x")))(a.x)
    ),
    "jit.in.kwargs": bad(lambda jax, a: jax.jit(double, in_shardings=a.rows)(x=a.x), "in_shardings"),
    "jit.in.two": bad(
        lambda jax, a: jax.jit(both, in_shardings=(a.rows, a.elsewhere))(VALUE, VALUE),
        "device ids [0, 1, 2, 3] | device ids [4, 5, 6, 7] | argument first | argument second",
    ),
    "jit.in.abstract": bad(
        lambda jax, a: jax.jit(double, in_shardings=a.Named(a.line.abstract_mesh, a.P("x")))(VALUE), "AbstractMesh"
    ),
    "jit.out.string": bad(lambda jax, a: jax.jit(double, out_shardings="x")(a.x), "'x' | of type str | out_shardings"),
    "jit.out.device": bad(
        lambda jax, a: jax.jit(double, out_shardings=a.devices[0])(a.x), "of type Device | out_shardings"
    ),
    "jit.out.spec": bad(lambda jax, a: jax.jit(double, out_shardings=a.P("x"))(a.x), "'x' | out_shardings"),
    "jit.out.deeper": bad(
        lambda jax, a: jax.jit(double, out_shardings=(a.rows,))(a.x), "the out_shardings argument | tuple of 1 | a leaf"
    ),
    "jit.out.longer": bad(
        lambda jax, a: jax.jit(lambda x: (x, x), out_shardings=(a.rows,) * 3)(a.x),
        "the out_shardings argument | tuple of 3 | tuple of 2",
    ),
    "jit.out.divides": bad(
        lambda jax, a: jax.jit(double, out_shardings=a.rows)(a.six),
        "'x' of size 4 | dimension 0 of size 6 | shape (6,)",
    ),
    "jit.out.rank": bad(
        lambda jax, a: jax.jit(lambda x: x.sum(), out_shardings=a.rows)(a.x), "shape () | 1 dimensions"
    ),
    "jit.out.devices": bad(
        lambda jax, a: jax.jit(double, out_shardings=a.elsewhere)(a.x),
        "device ids [0, 1, 2, 3] | device ids [4, 5, 6, 7] | argument x | out_shardings",
    ),
    "jit.out.two": bad(
        lambda jax, a: jax.jit(lambda x: (x, x), out_shardings=(a.rows, a.elsewhere))(VALUE),
        "device ids [0, 1, 2, 3] | device ids [4, 5, 6, 7] | out_shardings",
    ),
    "jit.apart": bad(
        lambda jax, a: jax.jit(both)(a.x, a.y),
        "device ids [0, 1, 2, 3] | device ids [4, 5, 6, 7] | argument first | argument second",
    ),
    "jit.apart.tree": bad(
        lambda jax, a: jax.jit(added)({"a": a.x, "b": a.y}),
        "device ids [0, 1, 2, 3] | device ids [4, 5, 6, 7] | argument tree['a'] | argument tree['b']",
    ),
    "jit.apart.unused": differs(
        "DEV-09: JAX leaves it unchecked",
        "ValueError",
        lambda jax, a: jax.jit(lambda first, second: first)(a.x, a.y),
        "device ids [0, 1, 2, 3] | device ids [4, 5, 6, 7] | argument first | argument second",
    ),
    "jit.many": bad(lambda jax, a: jax.jit(double)(a.x, a.x), "double"),
    "jit.few": bad(lambda jax, a: jax.jit(both)(a.x), "'second'"),
    "jit.keyword": bad(lambda jax, a: jax.jit(double)(a.x, y=3), "'y'"),
    "jit.keyword.twice": bad(lambda jax, a: jax.jit(double)(a.x, x=a.x), "'x'"),
    "jit.argument.string": bad(lambda jax, a: jax.jit(double)("text"), "argument x | 'text' | of type str"),
    "jit.argument.object": bad(lambda jax, a: jax.jit(double)(Opaque()), "argument x | of type Opaque"),
    "jit.argument.objects": bad(
        lambda jax, a: jax.jit(double)(np.array([Opaque()], dtype=object)), "argument x | dtype object"
    ),
    "jit.argument.strings": bad(lambda jax, a: jax.jit(double)(np.array(["a"])), "argument x | dtype <U1"),
    "jit.argument.inside": bad(
        lambda jax, a: jax.jit(added)({"a": a.x, "b": "text"}), "argument tree['b'] | 'text' | of type str"
    ),
    "jit.argument.keyword": bad(
        lambda jax, a: jax.jit(both)(a.x, second="text"), "argument second | 'text' | of type str"
    ),
    "jit.argument.function": bad(
        lambda jax, a: jax.jit(lambda f, x: f(x))(double, a.x), "argument f | of type function"
    ),
    "jit.argument.struct": bad(lambda jax, a: jax.jit(double)(a.Struct((8,), np.float32)), "argument x"),
    "jit.argument.int": bad(lambda jax, a: jax.jit(double)(2**40), "argument x | 1099511627776 | int32"),
    "jit.argument.none": bad(lambda jax, a: jax.jit(double)(None), "'NoneType' | 'int'"),
    "jit.argument.keys": bad(lambda jax, a: jax.jit(lambda t: t["a"])({"a": a.x, 1: a.x}), "'a'"),
    "jit.returns.string": bad(lambda jax, a: jax.jit(lambda x: "text")(a.x), "of type str"),
    "jit.returns.object": bad(lambda jax, a: jax.jit(lambda x: {"a": x, "b": Opaque()})(a.x), "of type Opaque"),
    "jit.returns.function": bad(lambda jax, a: jax.jit(lambda x: double)(a.x), "of type function"),
    "jit.returns.int": bad(lambda jax, a: jax.jit(lambda x: 2**40)(a.x), "1099511627776 | int32"),
    "jit.raises": bad(lambda jax, a: jax.jit(lambda x: 1 / 0)(a.x)),
    "jit.raises.key": bad(lambda jax, a: jax.jit(lambda x: {"x": x}["missing"])(a.x), "'missing'"),
    "jit.leaked": bad(lambda jax, a: leaked(jax, a) + 1, "argument x | float32[8,8]"),
    "jit.leaked.argument": bad(lambda jax, a: jax.jit(double)(leaked(jax, a)), "argument x | float32[8,8]"),
    "jit.leaked.captured": bad(lambda jax, a: capturing(jax, leaked(jax, a))(a.x), "float32[8,8]"),
    "jit.leaked.returned": bad(lambda jax, a: returning(jax, leaked(jax, a))(a.x), "float32[8,8]"),
    "jit.leaked.numpy": bad(lambda jax, a: np.asarray(leaked(jax, a)), "float32[8,8]"),
    "jit.leaked.bool": bad(lambda jax, a: bool(leaked(jax, a)), "shape (8, 8)"),
    "jit.concrete.bool": bad(lambda jax, a: jax.jit(lambda x: x if x.sum() > 0 else -x)(a.x), "bool[] | of type bool"),
    "jit.concrete.bool.array": bad(lambda jax, a: jax.jit(lambda x: x if x > 0 else -x)(a.x), "shape (8, 8)"),
    "jit.concrete.and": bad(lambda jax, a: jax.jit(lambda x: x and x)(a.scalar), "float32[] | of type bool"),
    "jit.concrete.int": bad(lambda jax, a: jax.jit(lambda x: int(x))(a.scalar), "float32[] | of type int"),
    "jit.concrete.float": bad(lambda jax, a: jax.jit(lambda x: float(x))(a.scalar), "float32[] | of type float"),
    "jit.concrete.complex": bad(lambda jax, a: jax.jit(lambda x: complex(x))(a.scalar), "float32[] | of type complex"),
    "jit.concrete.index": bad(lambda jax, a: jax.jit(lambda i: [1, 2, 3][i])(1), "int32[]"),
    "jit.concrete.range": bad(lambda jax, a: jax.jit(lambda n: sum(range(n)))(3), "int32[]"),
    "jit.concrete.numpy": bad(lambda jax, a: jax.jit(lambda x: np.asarray(x))(a.x), "float32[8,8]"),
    "jit.concrete.numpy.function": bad(lambda jax, a: jax.jit(lambda x: np.sin(x))(a.x), "float32[8,8]"),
    "jit.concrete.item": bad(lambda jax, a: jax.jit(lambda x: x.item())(a.scalar), "float32[]"),
    "jit.concrete.list": bad(lambda jax, a: jax.jit(lambda x: x.tolist())(a.x), "float32[8,8]"),
    "jit.concrete.devices": bad(lambda jax, a: jax.jit(lambda x: len(x.devices()))(a.x), "float32[8,8]"),
    "jit.concrete.shards": bad(lambda jax, a: jax.jit(lambda x: x.addressable_shards)(a.x), "float32[8,8]"),
    "jit.concrete.delete": bad(lambda jax, a: jax.jit(lambda x: x.delete())(a.x), "float32[8,8]"),
    "jit.concrete.deleted": bad(lambda jax, a: jax.jit(lambda x: x.is_deleted())(a.x), "float32[8,8]"),
    "jit.concrete.wait": bad(lambda jax, a: jax.jit(lambda x: x.unsafe_buffer_pointer())(a.x), "float32[8,8]"),
    "jit.concrete.committed": bad(lambda jax, a: jax.jit(lambda x: x.committed)(a.x), "float32[8,8]"),
    "jit.concrete.static": bad(
        lambda jax, a: jax.jit(lambda x: jax.jit(f_static, static_argnums=1)(x, x))(a.x),
        "the static argument | argument n | 'Tracer'",
    ),
    "jit.concrete.set": bad(lambda jax, a: jax.jit(lambda x: setitem(x))(a.x)),
    "jit.concrete.hash": bad(lambda jax, a: jax.jit(lambda x: hash(x))(a.x), "'Tracer'"),
    "jit.concrete.attribute": bad(lambda jax, a: jax.jit(lambda x: x.size_in_bytes)(a.x), "float32[8,8]"),
    "jit.concrete.len": bad(lambda jax, a: jax.jit(lambda x: len(x))(a.scalar)),
    "jit.concrete.iter": bad(lambda jax, a: jax.jit(lambda x: list(x))(a.scalar)),
    "jit.concrete.shape": bad(lambda jax, a: jax.jit(lambda x, n: x.reshape(n, 4))(a.x, 16), "int32[]"),
    "jit.concrete.axis": bad(lambda jax, a: jax.jit(lambda x, n: x.sum(n))(a.x, 0), "int32[] | of type int"),
    "jit.inner.shapes": bad(lambda jax, a: jax.jit(lambda x, y: x + y)(a.loose, a.six), "(8, 8) | (6,)"),
    "jit.inner.devices": bad(
        lambda jax, a: jax.jit(lambda x: jax.jit(double, in_shardings=a.elsewhere)(x))(a.x),
        "device ids [0, 1, 2, 3] | device ids [4, 5, 6, 7] | argument x",
    ),
    "jit.inner.rank": bad(lambda jax, a: jax.jit(lambda x: x[0, 0])(a.vector), "1 dimensions"),
    "jit.bound": bad(lambda jax, a: jax.jit(double).lower(), "'x'"),
}


def capturing(jax, kept):
    return jax.jit(lambda x: x + kept)


def returning(jax, kept):
    return jax.jit(lambda x: kept)


def setitem(x):
    x[0] = 1
    return x


def compiled(jax, a, *args, f=double, **options):
    return jax.jit(f, **options).lower(*(args or (a.x,))).compile()


def struct(jax, shape=(8, 8), dtype=np.float32, **more):
    return jax.ShapeDtypeStruct(shape, dtype, **more)


COMPILED = {
    "lower.apart": bad(
        lambda jax, a: jax.jit(both).lower(a.x, a.y),
        "device ids [0, 1, 2, 3] | device ids [4, 5, 6, 7] | argument first | argument second",
    ),
    "lower.apart.struct": bad(
        lambda jax, a: jax.jit(both).lower(struct(jax, sharding=a.rows), struct(jax, sharding=a.elsewhere)),
        "device ids [0, 1, 2, 3] | device ids [4, 5, 6, 7] | argument first | argument second",
    ),
    "lower.object": bad(lambda jax, a: jax.jit(double).lower(Opaque()), "argument x | of type Opaque"),
    "lower.few": bad(lambda jax, a: jax.jit(both).lower(a.x), "'second'"),
    "lower.struct.divides": bad(
        lambda jax, a: jax.jit(double).lower(struct(jax, (6,), sharding=a.rows)),
        "'x' of size 4 | dimension 0 of size 6 | shape (6,)",
    ),
    "lower.dialect": bad(lambda jax, a: jax.jit(double).lower(a.x).as_text("esperanto"), "'esperanto'"),
    "lower.attribute": bad(lambda jax, a: jax.jit(double).lower(a.x).run, "'LoweredJit' | 'run'"),
    "compiled.shape": bad(lambda jax, a: compiled(jax, a)(a.vector), "argument x | float32[8,8] | float32[8]"),
    "compiled.shape.size": bad(
        lambda jax, a: compiled(jax, a, a.loose)(a.loose[:4]), "argument x | float32[8,8] | float32[4,8]"
    ),
    "compiled.dtype": bad(
        lambda jax, a: compiled(jax, a, a.loose)(np.zeros((8, 8), np.int32)), "argument x | float32[8,8] | int32[8,8]"
    ),
    "compiled.many": bad(lambda jax, a: compiled(jax, a)(a.x, a.x), "[0] | [1]"),
    "compiled.few": bad(lambda jax, a: compiled(jax, a, a.x, a.x, f=both)(a.x), "[0] | [1]"),
    "compiled.none": bad(lambda jax, a: compiled(jax, a)(), "[0]"),
    "compiled.keyword": bad(lambda jax, a: compiled(jax, a)(x=a.x), "'x' | [0]"),
    "compiled.tree": bad(lambda jax, a: compiled(jax, a, {"a": a.x, "b": a.x}, f=added)({"a": a.x}), "'a' | 'b' | [0]"),
    "compiled.tree.kind": bad(lambda jax, a: compiled(jax, a, [a.x], f=lambda t: t[0])((a.x,)), "[0]"),
    "compiled.string": bad(lambda jax, a: compiled(jax, a)("text"), "'text' | of type str"),
    "compiled.object": bad(lambda jax, a: compiled(jax, a)(Opaque()), "of type Opaque"),
    "compiled.struct": bad(lambda jax, a: compiled(jax, a, a.loose)(struct(jax)), "argument x"),
    "compiled.devices": bad(
        lambda jax, a: compiled(jax, a)(a.y), "device ids [0, 1, 2, 3] | device ids [4, 5, 6, 7] | argument x"
    ),
    "compiled.devices.count": bad(
        lambda jax, a: compiled(jax, a)(a.one), "device ids [0, 1, 2, 3] | device ids [1] | argument x"
    ),
    "compiled.cut": bad(
        lambda jax, a: compiled(jax, a)(jax.device_put(VALUE, a.Named(a.line, a.P(None, "x")))),
        "device ids [0, 1, 2, 3] | argument x",
    ),
    "compiled.gone": bad(lambda jax, a: compiled(jax, a)(a.gone), "float32[8,8]"),
    "compiled.unused": differs(
        "DEV-44: JAX leaves it unchecked",
        "ValueError",
        lambda jax, a: compiled(jax, a, a.x, a.x, f=lambda first, second: first)(a.x, a.y),
        "device ids [0, 1, 2, 3] | device ids [4, 5, 6, 7] | argument second",
    ),
    "compiled.static": bad(lambda jax, a: compiled(jax, a, a.x, 2, f=f_static, static_argnums=1)(a.x, 2), "[0] | [1]"),
    "compiled.donated.twice": bad(
        lambda jax, a: compiled(jax, a, a.one, a.one, f=both, donate_argnums=0)(a.one, a.one)
    ),
    "compiled.donated.devices": bad(
        lambda jax, a: compiled(jax, a, donate_argnums=0)(a.y),
        "device ids [0, 1, 2, 3] | device ids [4, 5, 6, 7] | argument x",
    ),
    "compiled.within": bad(lambda jax, a: jax.jit(compiled(jax, a))(a.x)),
    "compiled.grad": bad(lambda jax, a: jax.grad(lambda x: compiled(jax, a)(x).sum())(a.x)),
    "compiled.tracer": bad(lambda jax, a: jax.jit(lambda x: compiled(jax, a)(x))(a.x)),
    "eval.object": bad(lambda jax, a: jax.eval_shape(double, Opaque()), "argument x | of type Opaque"),
    "eval.shapes": bad(lambda jax, a: jax.eval_shape(both, struct(jax), struct(jax, (6,))), "(8, 8) | (6,)"),
    "eval.few": bad(lambda jax, a: jax.eval_shape(both, struct(jax)), "'second'"),
    "eval.returns": bad(lambda jax, a: jax.eval_shape(lambda x: "text", struct(jax)), "of type str"),
    "eval.number": bad(lambda jax, a: jax.eval_shape(3, struct(jax)), "of type int"),
    "eval.bool": bad(lambda jax, a: jax.eval_shape(lambda x: bool(x), struct(jax)), "shape (8, 8)"),
}


def constrained(jax, sharding):
    return jax.jit(lambda x: jax.lax.with_sharding_constraint(x, sharding))


CONSTRAINTS = {
    "constraint.rank": bad(
        lambda jax, a: constrained(jax, a.Named(a.line, a.P(None, "x")))(a.vector), "shape (8,) | 2 dimensions"
    ),
    "constraint.devices": bad(
        lambda jax, a: constrained(jax, a.elsewhere)(a.x),
        "device ids [0, 1, 2, 3] | device ids [4, 5, 6, 7] | argument x",
    ),
    "constraint.eager.devices": bad(
        lambda jax, a: a.constrain(a.x, a.elsewhere), "device ids [0, 1, 2, 3] | device ids [4, 5, 6, 7] | argument x"
    ),
    "constraint.spec": bad(lambda jax, a: constrained(jax, a.P("x"))(a.x), "'x'"),
    "constraint.spec.axis": bad(lambda jax, a: within(a.line, lambda: constrained(jax, a.P("q"))(a.x)), "'q' | 'x'"),
    "constraint.string": bad(lambda jax, a: constrained(jax, "x")(a.x), "'x' | of type str"),
    "constraint.none": bad(lambda jax, a: constrained(jax, None)(a.x)),
    "constraint.device": bad(lambda jax, a: constrained(jax, a.devices[0])(a.x), "of type Device"),
    "constraint.tree": bad(
        lambda jax, a: a.constrain([a.x, a.x], [a.rows]),
        "the with_sharding_constraint argument | list of 1 | list of 2",
    ),
    "constraint.object": bad(lambda jax, a: a.constrain(Opaque(), a.rows), "of type Opaque"),
    "constraint.gone": bad(lambda jax, a: a.constrain(a.gone, a.rows), "float32[8,8]"),
}


def within(context, act):
    with context:
        return act()


def mapped(jax, a, f=double, *, mesh=None, ins=None, outs=None):
    P = a.P  # noqa: N806
    return jax.shard_map(
        f, mesh=mesh or a.line, in_specs=P("x") if ins is None else ins, out_specs=P("x") if outs is None else outs
    )


SHARD_MAP = {
    "map.divides": bad(lambda jax, a: mapped(jax, a)(a.six), "'x' of size 4 | dimension 0 of size 6 | shape (6,)"),
    "map.rank": bad(
        lambda jax, a: mapped(jax, a, ins=a.P(None, "x"), outs=a.P(None, "x"))(a.vector), "shape (8,) | 1 dimensions"
    ),
    "map.rank.out": bad(
        lambda jax, a: mapped(jax, a, outs=a.P(None, None, "x"))(a.x), "float32[2,8] | 'x' | out_specs"
    ),
    "map.scalar.out": bad(lambda jax, a: mapped(jax, a, lambda x: x.sum())(a.x), "float32[] | 'x' | out_specs"),
    "map.axis": bad(lambda jax, a: mapped(jax, a, ins=a.P("q"))(a.x), "'q' | 'x'"),
    "map.axis.out": bad(lambda jax, a: mapped(jax, a, outs=a.P("q"))(a.x), "'q' | 'x'"),
    "map.devices": bad(
        lambda jax, a: mapped(jax, a, mesh=a.other)(a.x),
        "device ids [0, 1, 2, 3] | device ids [4, 5, 6, 7] | argument x",
    ),
    "map.mesh": bad(lambda jax, a: mapped(jax, a, mesh="x")(a.x), "'x' | of type str"),
    "map.mesh.none": bad(lambda jax, a: jax.shard_map(double, in_specs=a.P("x"), out_specs=a.P("x"))(a.x)),
    "map.specs.few": bad(
        lambda jax, a: mapped(jax, a, both, ins=(a.P("x"),))(a.x, a.x),
        "the in_specs argument | tuple of 1 | tuple of 2",
    ),
    "map.specs.many": bad(
        lambda jax, a: mapped(jax, a, ins=(a.P("x"), a.P("x")))(a.x), "the in_specs argument | tuple of 2 | tuple of 1"
    ),
    "map.specs.string": bad(lambda jax, a: mapped(jax, a, ins="x")(a.x), "'x' | of type str | in_specs"),
    "map.specs.sharding": bad(lambda jax, a: mapped(jax, a, ins=a.rows)(a.x), "of type NamedSharding | in_specs"),
    "map.specs.out.many": bad(
        lambda jax, a: mapped(jax, a, outs=(a.P("x"), a.P("x")))(a.x), "the out_specs argument | tuple of 2 | a leaf"
    ),
    "map.specs.out.string": bad(lambda jax, a: mapped(jax, a, outs="x")(a.x), "'x' | of type str | out_specs"),
    "map.few": bad(lambda jax, a: mapped(jax, a, both)(a.x), "'second'"),
    "map.keyword": bad(lambda jax, a: mapped(jax, a)(x=a.x), "position | x"),
    "map.psum": differs(
        ACCIDENT, "NameError", lambda jax, a: mapped(jax, a, lambda x: jax.lax.psum(x, "q"))(a.x), "'q'"
    ),
    "map.psum.outside": bad(lambda jax, a: jax.lax.psum(a.x, "x"), "'x'"),
    "map.psum.jit": bad(lambda jax, a: jax.jit(lambda x: jax.lax.psum(x, "x"))(a.x), "'x'"),
    "map.object": bad(lambda jax, a: mapped(jax, a)(Opaque()), "argument x | of type Opaque"),
    "map.returns": bad(lambda jax, a: mapped(jax, a, lambda x: "text")(a.x), "of type str"),
    "map.gone": bad(lambda jax, a: mapped(jax, a)(a.gone), "float32[8,8]"),
    "map.bool": bad(lambda jax, a: mapped(jax, a, lambda x: x if x.sum() > 0 else -x)(a.x), "bool[] | of type bool"),
    "map.replicated": bad(lambda jax, a: mapped(jax, a, outs=a.P())(a.x), "'x' | out_specs"),
    "map.number": bad(lambda jax, a: mapped(jax, a, 3)(a.x), "of type int"),
}


def step(carry, x):
    return carry + x, x


CONTROL = {
    "scan.carry.dtype": bad(
        lambda jax, a: jax.lax.scan(lambda c, x: (c.astype(np.int32), x), a.scalar, a.six), "float32[] | int32[]"
    ),
    "scan.carry.shape": bad(
        lambda jax, a: jax.lax.scan(lambda c, x: (a.loose, x), a.scalar, a.six), "float32[] | float32[8,8]"
    ),
    "scan.carry.tree": bad(lambda jax, a: jax.lax.scan(lambda c, x: ((c, c), x), a.scalar, a.six), "scan | structure"),
    "scan.pair": bad(lambda jax, a: jax.lax.scan(lambda c, x: c, a.scalar, a.six), "float32[]"),
    "scan.triple": bad(lambda jax, a: jax.lax.scan(lambda c, x: (c, x, x), a.scalar, a.six), "float32[]"),
    "scan.lengths": bad(lambda jax, a: jax.lax.scan(lambda c, xs: (c, xs[0]), a.scalar, (a.six, a.loose)), "[6, 8]"),
    "scan.length": bad(lambda jax, a: jax.lax.scan(step, a.scalar, a.six, length=5), "[5, 6]"),
    "scan.length.none": bad(lambda jax, a: jax.lax.scan(lambda c, _: (c, c), a.scalar), "length"),
    "scan.length.string": differs(
        "JAX reads the digits of a text",
        "TypeError",
        lambda jax, a: jax.lax.scan(lambda c, _: (c, c), a.scalar, length="3"),
        "'3' | of type str",
    ),
    "scan.length.negative": bad(lambda jax, a: jax.lax.scan(lambda c, _: (c, c), a.scalar, length=-1), "of type int"),
    "scan.scalar": differs(ACCIDENT, "ValueError", lambda jax, a: jax.lax.scan(step, a.scalar, a.scalar)),
    "scan.number": bad(lambda jax, a: jax.lax.scan(3, a.scalar, a.six), "of type int"),
    "scan.object": bad(lambda jax, a: jax.lax.scan(step, Opaque(), a.six), "of type Opaque"),
    "scan.arguments": bad(lambda jax, a: jax.lax.scan(double, a.scalar, a.six)),
    "scan.devices": bad(
        lambda jax, a: jax.lax.scan(
            lambda c, x: (c + x, c), a.one, jax.device_put(np.zeros((4, 8, 8), np.float32), a.devices[2])
        ),
        "device ids [1] | device ids [2] | argument init | argument captured[0]",
    ),
    "scan.gone": bad(lambda jax, a: jax.lax.scan(lambda c, x: (c, x), a.scalar, a.gone), "float32[8,8]"),
    "scan.bool": bad(
        lambda jax, a: jax.lax.scan(lambda c, x: (c if c > 0 else x, x), a.scalar, a.six), "bool[] | of type bool"
    ),
    "scan.output": bad(lambda jax, a: jax.lax.scan(lambda c, x: (c, "text"), a.scalar, a.six), "of type str"),
    "while.carry.dtype": bad(
        lambda jax, a: jax.lax.while_loop(lambda c: c < 3, lambda c: c.astype(np.int32), a.scalar),
        "float32[] | int32[]",
    ),
    "while.carry.shape": bad(
        lambda jax, a: jax.lax.while_loop(lambda c: c.sum() < 3, lambda c: c.reshape(1), a.scalar),
        "float32[] | float32[1]",
    ),
    "while.carry.tree": bad(
        lambda jax, a: jax.lax.while_loop(lambda c: c < 3, lambda c: (c,), a.scalar), "while_loop | structure"
    ),
    "while.test.shape": bad(lambda jax, a: jax.lax.while_loop(lambda c: c < 3, lambda c: c, a.six), "bool[6]"),
    "while.test.dtype": bad(lambda jax, a: jax.lax.while_loop(lambda c: c, lambda c: c, a.scalar), "float32[]"),
    "while.test.tree": bad(
        lambda jax, a: jax.lax.while_loop(lambda c: (c < 3, c), lambda c: c, a.scalar), "bool[] | float32[]"
    ),
    "while.test.none": bad(lambda jax, a: jax.lax.while_loop(lambda c: None, lambda c: c, a.scalar), "nothing"),
    "while.test.string": bad(lambda jax, a: jax.lax.while_loop(lambda c: "text", lambda c: c, a.scalar), "of type str"),
    "while.number": bad(lambda jax, a: jax.lax.while_loop(3, lambda c: c, a.scalar), "of type int"),
    "while.object": bad(lambda jax, a: jax.lax.while_loop(lambda c: True, lambda c: c, Opaque()), "of type Opaque"),
    "cond.shapes": bad(lambda jax, a: jax.lax.cond(True, lambda x: x, lambda x: x[0], a.six), "float32[6] | float32[]"),
    "cond.dtypes": bad(
        lambda jax, a: jax.lax.cond(True, lambda x: x, lambda x: x.astype(np.int32), a.six), "float32[6] | int32[6]"
    ),
    "cond.trees": bad(lambda jax, a: jax.lax.cond(True, lambda x: x, lambda x: (x, x), a.six), "float32[6]"),
    "cond.pred.shape": bad(lambda jax, a: jax.lax.cond(a.six, double, double, a.six), "shape (6,)"),
    "cond.pred.string": bad(lambda jax, a: jax.lax.cond("text", double, double, a.six), "'text' | of type str"),
    "cond.pred.none": bad(lambda jax, a: jax.lax.cond(None, double, double, a.six), "of type NoneType"),
    "cond.pred.object": bad(lambda jax, a: jax.lax.cond(Opaque(), double, double, a.six), "of type Opaque"),
    "cond.few": bad(lambda jax, a: jax.lax.cond(True, double), "'false_fun'"),
    "cond.number": bad(lambda jax, a: jax.lax.cond(True, 3, double, a.six), "of type int"),
    "cond.operands": bad(lambda jax, a: jax.lax.cond(True, double, double), "'x'"),
    "cond.operand": bad(lambda jax, a: jax.lax.cond(True, double, double, "text"), "'text' | of type str"),
    "cond.devices": bad(
        lambda jax, a: jax.lax.cond(True, both, lambda first, second: first, a.x, a.y),
        "device ids [0, 1, 2, 3] | device ids [4, 5, 6, 7] | argument operands[0] | argument operands[1]",
    ),
    "cond.gone": bad(lambda jax, a: jax.lax.cond(True, double, double, a.gone), "float32[8,8]"),
}


TRANSFORMS = {
    "grad.output.shape": bad(lambda jax, a: jax.grad(double)(a.x), "float32[8,8]"),
    "grad.output.tree": bad(lambda jax, a: jax.grad(lambda x: (x.sum(), x.sum()))(a.x), "float32[]"),
    "grad.output.int": bad(lambda jax, a: jax.grad(lambda x: x.sum().astype(np.int32))(a.x), "int32[]"),
    "grad.output.complex": bad(lambda jax, a: jax.grad(lambda x: x.sum().astype(np.complex64))(a.x), "complex64[]"),
    "grad.output.none": bad(lambda jax, a: jax.grad(lambda x: None)(a.x), "none"),
    "grad.output.string": bad(lambda jax, a: jax.grad(lambda x: "text")(a.x), "of type str"),
    "grad.input.int": bad(lambda jax, a: jax.grad(lambda x: x.sum() * 1.0)(a.whole), "argument x | int32[8]"),
    "grad.input.int.python": bad(lambda jax, a: jax.grad(lambda x: x * 1.0)(3), "argument x | int32[]"),
    "grad.input.bool": bad(lambda jax, a: jax.grad(lambda x: 1.0)(a.truth), "argument x | bool[]"),
    "grad.input.complex": bad(lambda jax, a: jax.grad(lambda x: x.sum())(a.x.astype(np.complex64)), "complex64[]"),
    "grad.input.string": bad(lambda jax, a: jax.grad(lambda x: 1.0)("text"), "argument x | 'text' | of type str"),
    "grad.input.object": bad(lambda jax, a: jax.grad(lambda x: 1.0)(Opaque()), "argument x | of type Opaque"),
    "grad.input.tree": bad(
        lambda jax, a: jax.grad(lambda t: t["a"].sum())({"a": a.x, "b": a.whole}), "argument t['b'] | int32[8]"
    ),
    "grad.argnums": bad(lambda jax, a: jax.grad(lambda x: x.sum(), argnums=1)(a.x), "argnums=1"),
    "grad.argnums.negative": bad(lambda jax, a: jax.grad(lambda x: x.sum(), argnums=-2)(a.x), "argnums=-2"),
    "grad.argnums.string": bad(lambda jax, a: jax.grad(lambda x: x.sum(), argnums="x")(a.x), "'x' | of type str"),
    "grad.none": bad(lambda jax, a: jax.grad(lambda x: x.sum())(), "argnums=0"),
    "grad.few": bad(lambda jax, a: jax.grad(both)(a.scalar), "'second'"),
    "grad.number": bad(lambda jax, a: jax.grad(3), "of type int"),
    "grad.devices": bad(
        lambda jax, a: jax.grad(lambda first, second: both(first, second).sum())(a.x, a.y),
        "device ids [0, 1, 2, 3] | device ids [4, 5, 6, 7] | argument first | argument second",
    ),
    "grad.bool": differs(
        "JAX knows the values outside of jit; the model traces a function whole before it runs any of it",
        "TracerBoolConversionError",
        lambda jax, a: jax.grad(lambda x: x.sum() if x.sum() > 0 else -x.sum())(a.x),
        "bool[] | of type bool",
    ),
    "grad.while": bad(
        lambda jax, a: jax.grad(lambda x: jax.lax.while_loop(lambda c: c < 9, lambda c: c * 2, x))(a.scalar),
        "while_loop",
    ),
    "grad.donate": bad(
        lambda jax, a: jax.grad(lambda x: jax.device_put(x, a.devices[1], donate=True).sum())(a.one), "donate"
    ),
    "vjp.shape": bad(lambda jax, a: jax.vjp(double, a.loose)[1](a.six), "float32[8,8] | float32[6]"),
    "vjp.dtype": bad(lambda jax, a: jax.vjp(double, a.loose)[1](a.loose.astype(np.int32)), "float32[8,8] | int32[8,8]"),
    "vjp.tree": bad(lambda jax, a: jax.vjp(lambda x: (x, x), a.loose)[1](a.loose), "structure"),
    "vjp.many": bad(lambda jax, a: jax.vjp(double, a.loose)[1](a.loose, a.loose), "one argument: got 2"),
    "vjp.none": bad(lambda jax, a: jax.vjp(double, a.loose)[1](), "one argument: got 0"),
    "vjp.object": bad(lambda jax, a: jax.vjp(double, a.loose)[1](Opaque()), "of type Opaque"),
    "vjp.input": bad(lambda jax, a: jax.vjp(double, Opaque()), "argument x | of type Opaque"),
    "vjp.few": bad(lambda jax, a: jax.vjp(both, a.loose), "'second'"),
    "vjp.devices": bad(
        lambda jax, a: jax.vjp(both, a.x, a.y),
        "device ids [0, 1, 2, 3] | device ids [4, 5, 6, 7] | argument first | argument second",
    ),
    "vjp.number": bad(lambda jax, a: jax.vjp(3, a.x), "of type int"),
    "vmap.sizes": bad(lambda jax, a: jax.vmap(both)(a.loose, a.six), "argument first | argument second | axis 0"),
    "vmap.axis": bad(lambda jax, a: jax.vmap(double, in_axes=2)(a.loose), "argument x | float32[8,8] | axis 2"),
    "vmap.axis.negative": bad(
        lambda jax, a: jax.vmap(double, in_axes=-3)(a.loose), "argument x | float32[8,8] | axis -3"
    ),
    "vmap.axis.out": bad(lambda jax, a: jax.vmap(double, out_axes=2)(a.loose), "float32[8] | axis 2"),
    "vmap.axis.none": bad(lambda jax, a: jax.vmap(double, in_axes=None)(a.loose), "in_axes"),
    "vmap.axes.none": bad(lambda jax, a: jax.vmap(both, in_axes=(None, None))(a.loose, a.loose), "none"),
    "vmap.axes.few": bad(lambda jax, a: jax.vmap(both, in_axes=(0,))(a.loose, a.loose), "in_axes"),
    "vmap.axes.many": bad(lambda jax, a: jax.vmap(double, in_axes=(0, 0))(a.loose), "in_axes"),
    "vmap.axes.string": bad(lambda jax, a: jax.vmap(double, in_axes="x")(a.loose), "'x' | of type str | in_axes"),
    "vmap.axes.float": bad(lambda jax, a: jax.vmap(double, in_axes=0.5)(a.loose), "of type float | in_axes"),
    "vmap.axes.tree": bad(
        lambda jax, a: jax.vmap(added, in_axes=({"a": 0},))({"a": a.loose, "b": a.loose}),
        "the in_axes argument | 'a' | 'b' | dict of 'a'",
    ),
    "vmap.out.none": bad(lambda jax, a: jax.vmap(double, out_axes=None)(a.loose), "shape (8, 8) | out_axes"),
    "vmap.out.tree": bad(
        lambda jax, a: jax.vmap(double, out_axes=(0, 0))(a.loose), "the out_axes argument | tuple of 2 | a leaf"
    ),
    "vmap.scalar": bad(lambda jax, a: jax.vmap(double)(a.scalar), "argument x | float32[] | axis 0"),
    "vmap.nothing": bad(lambda jax, a: jax.vmap(lambda: 3.0)(), "none"),
    "vmap.object": bad(lambda jax, a: jax.vmap(double)(Opaque()), "argument x | of type Opaque"),
    "vmap.string": bad(lambda jax, a: jax.vmap(double)("text"), "argument x | 'text' | of type str"),
    "vmap.few": bad(lambda jax, a: jax.vmap(both)(a.loose), "'second'"),
    "vmap.number": bad(lambda jax, a: jax.vmap(3), "of type int"),
    "vmap.devices": bad(
        lambda jax, a: jax.vmap(both)(a.x, a.y),
        "device ids [0, 1, 2, 3] | device ids [4, 5, 6, 7] | argument first | argument second",
    ),
    "vmap.bool": bad(lambda jax, a: jax.vmap(lambda x: x if x.sum() > 0 else -x)(a.loose), "bool[] | of type bool"),
    "vmap.returns": bad(lambda jax, a: jax.vmap(lambda x: "text")(a.loose), "of type str"),
    "vmap.put": differs(
        "PUT-70: JAX guesses which dimensions are meant",
        "NotImplementedError",
        lambda jax, a: jax.vmap(lambda x: jax.device_put(x, a.rows))(a.loose),
    ),
    "vmap.inner": bad(lambda jax, a: jax.vmap(lambda x: x + a.six)(a.loose), "(8,) | (6,)"),
}


CONTEXTS = {
    "set_mesh.string": bad(lambda jax, a: jax.set_mesh("x"), "'x' | of type str"),
    "set_mesh.sharding": bad(lambda jax, a: jax.set_mesh(a.rows), "of type NamedSharding"),
    "set_mesh.devices": bad(lambda jax, a: jax.set_mesh(a.devices)),
    "set_mesh.abstract": bad(
        lambda jax, a: within(jax.set_mesh(a.line.abstract_mesh), lambda: 1), "'x' | of type AbstractMesh"
    ),
    "set_mesh.inside": bad(lambda jax, a: jax.jit(lambda x: within(jax.set_mesh(a.line), lambda: x))(a.x), "set_mesh"),
    "set_mesh.apart": bad(
        lambda jax, a: within(jax.set_mesh(a.other), lambda: jax.jit(double)(a.x)),
        "device ids [0, 1, 2, 3] | device ids [4, 5, 6, 7] | argument x",
    ),
    "set_mesh.apart.eager": bad(
        lambda jax, a: within(jax.set_mesh(a.other), lambda: a.x + 1),
        "device ids [0, 1, 2, 3] | device ids [4, 5, 6, 7] | argument x",
    ),
    "set_mesh.axis": bad(
        lambda jax, a: within(jax.set_mesh(a.line), lambda: constrained(jax, a.P("y"))(a.x)), "'y' | 'x'"
    ),
    "set_mesh.in": bad(
        lambda jax, a: within(jax.set_mesh(a.other), lambda: jax.jit(double, in_shardings=a.rows)(VALUE)),
        "device ids [0, 1, 2, 3] | device ids [4, 5, 6, 7] | argument x | in_shardings",
    ),
    "mesh.twice": bad(lambda jax, a: a.line(), "'Mesh'"),
    "default.string": bad(
        lambda jax, a: within(jax.default_device("abacus"), lambda: jax.device_put(VALUE)), "'abacus' | of type str"
    ),
    "default.number": bad(lambda jax, a: within(jax.default_device(1), lambda: jax.device_put(VALUE)), "of type int"),
    "default.sharding": bad(
        lambda jax, a: within(jax.default_device(a.rows), lambda: jax.device_put(VALUE)), "of type NamedSharding"
    ),
    "default.mesh": bad(
        lambda jax, a: within(jax.default_device(a.line), lambda: jax.device_put(VALUE)), "'x' | of type Mesh | (4,)"
    ),
    "default.inside": bad(
        lambda jax, a: jax.jit(lambda x: within(jax.default_device(3), lambda: x))(a.x), "of type int"
    ),
    "tree.map": bad(lambda jax, a: jax.tree.map(both, {"a": 1}, {"b": 1}), "structure"),
    "tree.map.lengths": bad(lambda jax, a: jax.tree.map(both, [1, 2], [1]), "structure"),
    "tree.map.few": bad(lambda jax, a: jax.tree.map(both, [1, 2]), "'second'"),
    "tree.map.number": bad(lambda jax, a: jax.tree.map(3, [1, 2]), "'int'"),
    "tree.keys": bad(lambda jax, a: jax.tree.leaves({1: 1, "a": 2}), "'a'"),
    "live.platform": bad(lambda jax, a: jax.live_arrays("abacus"), "'abacus'"),
}

BAD = JIT | COMPILED | CONSTRAINTS | SHARD_MAP | CONTROL | TRANSFORMS | CONTEXTS
