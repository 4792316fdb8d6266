"""Bad input to arrays and their places: device_put, meshes and shardings, reading, operators, keys."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

import numpy as np

from tests.bad_rows import ABSTRACT, ACCIDENT, LATER, NOT_HERE, Opaque, bad, differs, double, leaked
from tests.input_there import VALUE

PUT = {
    "put.target.string": bad(lambda jax, a: jax.device_put(a.x, "cpu"), "'cpu' | of type str"),
    "put.target.number": bad(lambda jax, a: jax.device_put(a.x, 1), "of type int"),
    "put.target.spec": bad(lambda jax, a: jax.device_put(a.x, a.P("x")), "'x' | of type PartitionSpec"),
    "put.target.mesh": bad(lambda jax, a: jax.device_put(a.x, a.line), "'x' | of type Mesh | (4,)"),
    "put.target.layout": bad(lambda jax, a: jax.device_put(a.x, a.Layout((1, 0))), "of type Layout | (1, 0)"),
    "put.target.class": bad(lambda jax, a: jax.device_put(a.x, a.Named)),
    "put.target.array": differs(
        ACCIDENT, "ValueError", lambda jax, a: jax.device_put(a.x, a.loose), "shape (8, 8) | of type Array"
    ),
    "put.target.dtype": bad(lambda jax, a: jax.device_put(VALUE, np.float32)),
    "put.divides": bad(
        lambda jax, a: jax.device_put(a.six, a.rows), "'x' of size 4 | dimension 0 of size 6 | shape (6,)"
    ),
    "put.divides.host": bad(
        lambda jax, a: jax.device_put(np.zeros((6, 8)), a.rows), "'x' of size 4 | dimension 0 of size 6 | shape (6, 8)"
    ),
    "put.divides.second": bad(
        lambda jax, a: jax.device_put(np.zeros((8, 7)), a.Named(a.square, a.P("x", "y"))),
        "'y' of size 2 | dimension 1 of size 7 | shape (8, 7)",
    ),
    "put.divides.grouped": bad(
        lambda jax, a: jax.device_put(np.zeros((6, 8)), a.Named(a.square, a.P(("x", "y")))),
        "'x' of size 2 | 'y' of size 2 | dimension 0 of size 6 | shape (6, 8)",
    ),
    "put.divides.donated": bad(
        lambda jax, a: jax.device_put(a.six, a.rows, donate=True), "'x' of size 4 | dimension 0 of size 6 | shape (6,)"
    ),
    "put.divides.one": bad(
        lambda jax, a: jax.device_put([a.x, a.six], a.rows, donate=True),
        "'x' of size 4 | dimension 0 of size 6 | shape (6,)",
    ),
    "put.rank": bad(
        lambda jax, a: jax.device_put(a.vector, a.Named(a.line, a.P(None, "x"))), "shape (8,) | 2 dimensions"
    ),
    "put.rank.host": bad(
        lambda jax, a: jax.device_put(np.zeros(8), a.Named(a.line, a.P(None, "x"))), "shape (8,) | 2 dimensions"
    ),
    "put.rank.scalar": bad(lambda jax, a: jax.device_put(3.0, a.rows), "shape () | 1 dimensions"),
    "put.rank.none": bad(lambda jax, a: jax.device_put(3.0, a.Named(a.line, a.P(None))), "shape () | 1 dimensions"),
    "put.kind": bad(lambda jax, a: jax.device_put(a.x, a.rows.with_memory_kind("attic")), "'attic'"),
    "put.kind.single": bad(lambda jax, a: jax.device_put(a.x, a.Single(a.devices[0], memory_kind="attic")), "'attic'"),
    "put.layout.rank": bad(
        lambda jax, a: jax.device_put(a.x, a.Format(a.Layout((0, 1, 2)), a.rows)), "(0, 1, 2) | 2 dimensions"
    ),
    "put.layout.rank.host": bad(
        lambda jax, a: jax.device_put(VALUE, a.Format(a.Layout((0,)), a.Single(a.devices[0]))), "(0,) | 2 dimensions"
    ),
    "put.layout.divides": bad(
        lambda jax, a: jax.device_put(a.six, a.Format(a.Layout((0,)), a.rows)),
        "'x' of size 4 | dimension 0 of size 6 | shape (6,)",
    ),
    "put.abstract": bad(lambda jax, a: jax.device_put(a.x, a.Named(a.line.abstract_mesh, a.P("x"))), "AbstractMesh"),
    "put.abstract.host": bad(
        lambda jax, a: jax.device_put(VALUE, a.Named(a.line.abstract_mesh, a.P("x"))), "AbstractMesh"
    ),
    "put.gone": bad(lambda jax, a: jax.device_put(a.gone, a.rows), "float32[8,8]"),
    "put.gone.nowhere": bad(lambda jax, a: jax.device_put(a.gone), "float32[8,8]"),
    "put.gone.elsewhere": bad(lambda jax, a: jax.device_put(a.gone, a.devices[1]), "float32[8,8]"),
    "put.gone.donated": bad(lambda jax, a: jax.device_put([a.x, a.gone], a.devices[1], donate=True), "float32[8,8]"),
    "put.string": bad(lambda jax, a: jax.device_put("text"), "'text' | of type str"),
    "put.strings": bad(lambda jax, a: jax.device_put(np.array(["a", "b"])), "dtype <U1"),
    "put.bytes": bad(lambda jax, a: jax.device_put(b"text"), "'text' | of type bytes"),
    "put.object": bad(lambda jax, a: jax.device_put(Opaque()), "of type Opaque"),
    "put.object.placed": bad(lambda jax, a: jax.device_put(Opaque(), a.devices[1]), "of type Opaque"),
    "put.objects": bad(lambda jax, a: jax.device_put(np.array([Opaque()], dtype=object)), "dtype object"),
    "put.datetime": bad(lambda jax, a: jax.device_put(datetime(2020, 1, 1)), "of type datetime | (2020, 1, 1, 0, 0)"),
    "put.datetimes": bad(
        lambda jax, a: jax.device_put(np.array(["2020-01-01"], dtype="datetime64[D]")), "dtype datetime64"
    ),
    "put.fields": bad(
        lambda jax, a: jax.device_put(np.zeros(3, dtype=[("a", np.float32), ("b", np.int32)])), "'a' | 'b'"
    ),
    "put.bytes.order": differs("PUT-74: either is legal", "", lambda jax, a: jax.device_put(np.arange(3, dtype=">i4"))),
    "put.void": bad(lambda jax, a: jax.device_put(np.zeros(3, dtype="V4")), "dtype |V4"),
    "put.long": bad(lambda jax, a: jax.device_put(np.longdouble(1)), f"dtype {np.dtype(np.longdouble)}"),
    "put.long.array": bad(
        lambda jax, a: jax.device_put(np.zeros(2, np.longdouble), a.devices[1]), f"dtype {np.dtype(np.longdouble)}"
    ),
    "put.long.complex": bad(lambda jax, a: jax.device_put(np.clongdouble(1)), f"dtype {np.dtype(np.clongdouble)}"),
    "put.timedelta": bad(lambda jax, a: jax.device_put(np.timedelta64(1)), "dtype timedelta64"),
    "put.masked": bad(lambda jax, a: jax.device_put(np.ma.array([1.0, 2.0], mask=[False, True])), "masked"),
    "put.decimal": bad(lambda jax, a: jax.device_put(Decimal(1)), "of type Decimal"),
    "put.range": bad(lambda jax, a: jax.device_put(range(3)), "of type range"),
    "put.memory": bad(lambda jax, a: jax.device_put(memoryview(b"ab")), "of type memoryview"),
    "put.deep": bad(lambda jax, a: jax.device_put({"a": [a.x, {"b": "text"}]}, a.devices[1], donate=True), "'text'"),
    "put.function": bad(lambda jax, a: jax.device_put(double), "of type function"),
    "put.set": bad(lambda jax, a: jax.device_put({1, 2}), "of type set"),
    "put.struct": bad(
        lambda jax, a: jax.device_put(a.Struct((8,), np.float32)), "shape (8,) | of type ShapeDtypeStruct"
    ),
    "put.int": bad(lambda jax, a: jax.device_put(2**40), "1099511627776 | int32"),
    "put.second.object": bad(
        lambda jax, a: jax.device_put({"a": a.x, "b": Opaque()}, a.devices[1], donate=True), "of type Opaque"
    ),
    "put.keys": bad(lambda jax, a: jax.device_put({1: a.x, "b": a.x}), "'b'"),
    "put.both": bad(
        lambda jax, a: jax.device_put(a.x, a.devices[1], donate=True, may_alias=True), "donate | may_alias"
    ),
    "put.both.host": bad(lambda jax, a: jax.device_put(VALUE, donate=True, may_alias=True), "donate | may_alias"),
    "put.both.one": bad(
        lambda jax, a: jax.device_put([a.x, a.y], donate=[False, True], may_alias=True), "donate | may_alias"
    ),
    "put.twice": differs(
        "PUT-53: JAX moves the array twice",
        "ValueError",
        lambda jax, a: jax.device_put([a.x, a.x], a.devices[1], donate=True),
    ),
    "put.prefix.longer": bad(
        lambda jax, a: jax.device_put([a.x, a.y], [a.rows, a.rows, a.rows]),
        "the device argument | list of 3 | list of 2",
    ),
    "put.prefix.shorter": bad(
        lambda jax, a: jax.device_put([a.x, a.y], [a.rows]), "the device argument | list of 1 | list of 2"
    ),
    "put.prefix.kind": bad(
        lambda jax, a: jax.device_put([a.x, a.y], (a.rows, a.rows)), "the device argument | tuple of 2 | list of 2"
    ),
    "put.prefix.deeper": bad(lambda jax, a: jax.device_put(a.x, [a.rows]), "the device argument | list of 1 | a leaf"),
    "put.prefix.keys": bad(
        lambda jax, a: jax.device_put({"a": a.x}, {"b": a.rows}), "the device argument | 'b' | 'a' | dict of 'b'"
    ),
    "put.prefix.donate": bad(
        lambda jax, a: jax.device_put([a.x, a.y], donate=[True]), "the donate argument | list of 1 | list of 2"
    ),
    "put.prefix.alias": bad(
        lambda jax, a: jax.device_put([a.x, a.y], may_alias=(True, False)),
        "the may_alias argument | tuple of 2 | list of 2",
    ),
    "put.prefix.inside": bad(
        lambda jax, a: jax.device_put({"a": [a.x, a.y]}, {"a": [a.rows]}),
        "the device argument | 'a' | list of 1 | list of 2",
    ),
    "put.flag": bad(lambda jax, a: jax.device_put(a.x, a.devices[1], donated=True), "'donated'"),
    "put.nothing": bad(lambda jax, a: jax.device_put(), "'x'"),
    "put.key.spec": bad(lambda jax, a: jax.device_put(a.key, a.rows), "shape () | 1 dimensions"),
    "put.inside.target": bad(lambda jax, a: jax.jit(lambda x: jax.device_put(x, "cpu"))(a.x), "'cpu' | of type str"),
    "put.inside.both": bad(
        lambda jax, a: jax.jit(lambda x: jax.device_put(x, donate=True, may_alias=True))(a.x), "donate | may_alias"
    ),
    "put.inside.divides": bad(
        lambda jax, a: jax.jit(lambda x: jax.device_put(x, a.rows))(a.six),
        "'x' of size 4 | dimension 0 of size 6 | shape (6,)",
    ),
    "put.inside.object": bad(lambda jax, a: jax.jit(lambda x: jax.device_put(Opaque()))(a.x), "of type Opaque"),
    "put.leaked": bad(lambda jax, a: jax.device_put(leaked(jax, a)), "float32[8,8]"),
}


PLACES = {
    "mesh.sizes": bad(lambda jax, a: a.Mesh(np.array(a.devices), ("x", "y")), "shape (8,) | 'x' | 'y'"),
    "mesh.string": bad(lambda jax, a: a.Mesh("devices", ("x",)), "shape () | 'x'"),
    "mesh.none": bad(lambda jax, a: a.Mesh(None, ("x",)), "shape () | 'x'"),
    "mesh.numbers": differs(LATER, "TypeError", lambda jax, a: a.Mesh(np.array([1, 2]), ("x",)), "1 of type int"),
    "mesh.one.number": differs(
        LATER, "TypeError", lambda jax, a: a.Mesh(np.array([a.devices[0], 3], object), ("x",)), "3 of type int"
    ),
    "mesh.empty.places": differs(
        LATER, "TypeError", lambda jax, a: a.Mesh(np.array([None, None]), ("x",)), "of type NoneType"
    ),
    "mesh.names": bad(lambda jax, a: a.Mesh(np.array(a.devices), None), "of type NoneType"),
    "mesh.ragged": bad(lambda jax, a: a.Mesh([a.devices[:2], a.devices[:1]], ("x", "y")), "shape (2,) | 'x' | 'y'"),
    "make.many": bad(
        lambda jax, a: jax.make_mesh((16,), ("x",), axis_types=(jax.sharding.AxisType.Auto,)),
        "device ids [0, 1, 2, 3, 4, 5, 6, 7] | (16,)",
    ),
    "make.names": bad(lambda jax, a: jax.make_mesh((2, 2), None), "of type NoneType"),
    "make.platform": differs(
        ACCIDENT, "TypeError", lambda jax, a: jax.make_mesh((2,), ("x",), devices="cpu"), "'cpu' | of type str"
    ),
    "devices.platform": bad(lambda jax, a: jax.devices("abacus"), "'abacus'"),
    "single.number": differs(LATER, "TypeError", lambda jax, a: a.Single(0), "of type int"),
    "single.none": bad(lambda jax, a: a.Single(None), "of type NoneType"),
    "single.list": differs(LATER, "TypeError", lambda jax, a: a.Single(a.devices)),
    "named.devices": differs(ACCIDENT, "TypeError", lambda jax, a: a.Named(a.devices, a.P("x")), "AbstractMesh"),
    "named.string": differs(ACCIDENT, "TypeError", lambda jax, a: a.Named(a.line, "x"), "'x' | of type str"),
    "named.missing": bad(lambda jax, a: a.Named(a.line), "'spec'"),
    "named.kind.number": differs(ACCIDENT, "ValueError", lambda jax, a: a.Named(a.line, a.P("x"), memory_kind=3)),
    "named.number": bad(lambda jax, a: a.Named(a.line, a.P(3)), "axis 3 | 'x' | (3,)"),
    "named.axis": bad(lambda jax, a: a.Named(a.square, a.P("x", "z")), "'x' | 'z' | 'y'"),
    "named.axis.twice": bad(lambda jax, a: a.Named(a.square, a.P("x", ("y", "x"))), "'x' | 'y'"),
    "named.shape.string": bad(lambda jax, a: a.rows.shard_shape("ab"), "'a' | 'b'"),
    "named.devices.none": bad(lambda jax, a: a.Named(a.line.abstract_mesh, a.P()).addressable_devices, "AbstractMesh"),
    "axis.type": bad(lambda jax, a: jax.sharding.AxisType.Automatic),
    "abstract.none": bad(lambda jax, a: jax.sharding.AbstractMesh(None, ("x",)), "of type NoneType"),
    "enter.abstract": bad(lambda jax, a: a.line.abstract_mesh.__enter__(), "'x' | AbstractMesh"),
    "layout.string": differs(LATER, "ValueError", lambda jax, a: a.Layout("ab"), "'a' | 'b'"),
    "layout.gap": differs(
        LATER, "ValueError", lambda jax, a: jax.device_put(a.x, a.Format(a.Layout((0, 2)), a.rows)), "(0, 2)"
    ),
    "struct.shape": bad(lambda jax, a: a.Struct(8, np.float32), "of type int"),
    "struct.dtype": bad(lambda jax, a: a.Struct((8,), "float33"), "'float33'"),
    "struct.sharding": bad(lambda jax, a: a.Struct((8,), np.float32, sharding=3), "of type int"),
    "struct.rank": bad(lambda jax, a: a.Struct((), np.float32, sharding=a.rows), "shape () | 1 dimensions"),
    "struct.long": differs(
        LATER, "TypeError", lambda jax, a: a.Struct((8,), np.longdouble), f"dtype {np.dtype(np.longdouble)}"
    ),
    "struct.none": bad(lambda jax, a: a.Struct((8,), None), "shape (8,)"),
    "made.count": bad(lambda jax, a: a.made((8, 8), a.rows, parts(a)[:3]), "[0, 1, 2, 3] | [0, 1, 2]"),
    "made.shape": bad(lambda jax, a: a.made((16, 8), a.rows, parts(a)), "shape (2, 8) | (16, 8) | (4, 8)"),
    "made.devices": bad(lambda jax, a: a.made((8, 8), a.elsewhere, parts(a)), "[4, 5, 6, 7] | [0, 1, 2, 3]"),
    "made.twice": bad(lambda jax, a: a.made((8, 8), a.rows, parts(a)[:3] * 2), "[0, 1, 2, 3] | [0, 1, 2]"),
    "made.spread": bad(lambda jax, a: a.made((8, 8), a.rows, [a.x]), "[0, 1, 2, 3]"),
    "made.dtypes": bad(
        lambda jax, a: a.made(
            (8, 8), a.rows, [*parts(a)[:3], jax.device_put(np.zeros((2, 8), np.int32), a.devices[3])]
        ),
        "int32",
    ),
    "made.host": bad(lambda jax, a: a.made((2, 8), a.Single(a.devices[0]), [VALUE[:2]])),
    "made.sharding": differs(
        ACCIDENT, "TypeError", lambda jax, a: a.made((8, 8), a.devices[0], parts(a)), "of type Device"
    ),
    "made.divides": bad(
        lambda jax, a: a.made((6, 8), a.rows, parts(a)), "'x' of size 4 | dimension 0 of size 6 | shape (6, 8)"
    ),
    "made.gone": differs(
        "it is deleted, and JAX says that it has no shards",
        "RuntimeError",
        lambda jax, a: a.made((8, 8), a.rows, gone(jax, a)),
        "float32[2,8]",
    ),
    "made.none": bad(lambda jax, a: a.made((8, 8), a.rows, []), "[0, 1, 2, 3]"),
    "made.shape.number": bad(lambda jax, a: a.made(8, a.rows, parts(a)), "shape (2, 8) | (8,) | (2,)"),
    "made.one": bad(lambda jax, a: a.made((2, 8), a.Single(a.devices[0]), parts(a)[0]), "shape (2, 8) | of type Array"),
}


def parts(a):
    return [shard.data for shard in a.x.addressable_shards]


def gone(jax, a):
    parts = [shard.data for shard in jax.device_put(VALUE, a.rows).addressable_shards]
    parts[0].delete()
    return parts


ARRAYS = {
    "array.gone.numpy": bad(lambda jax, a: np.asarray(a.gone), "float32[8,8]"),
    "array.gone.get": bad(lambda jax, a: jax.device_get(a.gone), "float32[8,8]"),
    "array.gone.get.tree": bad(lambda jax, a: jax.device_get({"a": a.x, "b": [a.gone]}), "float32[8,8]"),
    "array.gone.add": bad(lambda jax, a: a.gone + 1, "float32[8,8]"),
    "array.gone.add.second": bad(lambda jax, a: a.x + a.gone, "float32[8,8]"),
    "array.gone.jit": bad(lambda jax, a: jax.jit(double)(a.gone), "float32[8,8]"),
    "array.gone.repr": bad(lambda jax, a: repr(a.gone), "float32[8,8]"),
    "array.gone.item": bad(lambda jax, a: a.gone.item(), "float32[8,8]"),
    "array.gone.index": bad(lambda jax, a: a.gone[0], "float32[8,8]"),
    "array.gone.shards": bad(lambda jax, a: a.gone.addressable_shards, "float32[8,8]"),
    "array.gone.wait": bad(lambda jax, a: a.gone.block_until_ready(), "float32[8,8]"),
    "array.gone.wait.tree": bad(lambda jax, a: jax.block_until_ready([a.x, a.gone]), "float32[8,8]"),
    "array.gone.captured": bad(lambda jax, a: jax.jit(lambda x: x + a.gone)(a.x), "float32[8,8]"),
    "array.gone.grad": bad(lambda jax, a: jax.grad(lambda x: x.sum())(a.gone), "float32[8,8]"),
    "array.gone.vmap": bad(lambda jax, a: jax.vmap(double)(a.gone), "float32[8,8]"),
    "array.gone.bool": bad(lambda jax, a: bool(a.gone), "shape (8, 8)"),
    "array.gone.sum": bad(lambda jax, a: a.gone.sum(), "float32[8,8]"),
    "array.gone.lower": bad(lambda jax, a: jax.jit(double).lower(a.gone).compile()(a.gone), "float32[8,8]"),
    "array.key.numpy": bad(lambda jax, a: np.asarray(a.key), "key<fry> | key_data"),
    "array.key.add": bad(lambda jax, a: a.key + 1, "key<fry>"),
    "array.key.add.key": bad(lambda jax, a: a.key + a.key, "key<fry>"),
    "array.key.neg": bad(lambda jax, a: -a.key, "key<fry>"),
    "array.key.float": bad(lambda jax, a: float(a.key), "key<fry>"),
    "array.key.sum": differs(ABSTRACT, "TypeError", lambda jax, a: a.key.sum()),
    "array.key.less": bad(lambda jax, a: a.key < a.key, "key<fry>"),
    "array.key.item": differs(ABSTRACT, "TypeError", lambda jax, a: a.key.item()),
    "array.key.astype": differs(ABSTRACT, "TypeError", lambda jax, a: a.key.astype(np.float32)),
    "array.item": bad(lambda jax, a: a.x.item(), "shape (8, 8)"),
    "array.float": bad(lambda jax, a: float(a.vector), "shape (8,)"),
    "array.int": bad(lambda jax, a: int(a.x), "shape (8, 8)"),
    "array.bool": bad(lambda jax, a: bool(a.x), "shape (8, 8)"),
    "array.index": bad(lambda jax, a: [1, 2, 3][a.scalar], "float32[]"),
    "array.index.array": bad(lambda jax, a: [1, 2, 3][a.whole], "int32[8]"),
    "array.range": bad(lambda jax, a: range(a.scalar), "float32[]"),
    "array.complex": bad(lambda jax, a: complex(a.x), "shape (8, 8)"),
    "array.len": bad(lambda jax, a: len(a.scalar)),
    "array.iter": bad(lambda jax, a: list(a.scalar)),
    "array.hash": bad(lambda jax, a: hash(a.x), "'Array'"),
    "array.set": bad(lambda jax, a: a.x.__setitem__(0, 1)),
    "array.delete": bad(lambda jax, a: a.x.__delitem__(0), "'Array'"),
    "array.ranks": bad(lambda jax, a: a.x[0, 0, 0], "2 dimensions"),
    "array.ranks.scalar": bad(lambda jax, a: a.scalar[0], "0 dimensions"),
    "array.ellipses": bad(lambda jax, a: a.x[..., 0, ...]),
    "array.by.string": bad(lambda jax, a: a.x["a"], "'a' | of type str"),
    "array.by.float": bad(lambda jax, a: a.x[1.5], "of type float"),
    "array.by.float.array": bad(lambda jax, a: a.x[a.scalar], "float32[]"),
    "array.by.slice": bad(lambda jax, a: a.x[1.5:]),
    "array.by.step": bad(lambda jax, a: a.x[::0]),
    "array.by.object": bad(lambda jax, a: a.x[Opaque()], "of type Opaque"),
    "array.shards.number": bad(lambda jax, a: a.x.addressable_data(7)),
    "array.pointer": bad(lambda jax, a: a.x.unsafe_buffer_pointer(), "4"),
    "array.format": bad(lambda jax, a: format(a.x, ".2f")),
    "array.writeable": bad(lambda jax, a: np.asarray(a.loose).__setitem__((0, 0), 5)),
    "array.shape.set": bad(lambda jax, a: setattr(a.x, "shape", (64,)), "'shape' | 'Array'"),
    "array.dlpack": bad(lambda jax, a: np.from_dlpack(a.x), "4"),
    "array.dlpack.gone": bad(lambda jax, a: np.from_dlpack(a.gone)),
    "array.matmul.scalar": bad(lambda jax, a: a.x @ 3, "(8, 8)"),
    "array.matmul": bad(lambda jax, a: a.loose @ a.six, "8 | 6"),
    "array.matmul.batch": bad(
        lambda jax, a: jax.numpy.matmul(np.zeros((2, 3, 4), np.float32), np.zeros((3, 4, 5), np.float32)),
        "(2, 3, 4) | (3, 4, 5)",
    ),
    "array.add.shapes": bad(lambda jax, a: a.loose + a.six, "(8, 8) | (6,)"),
    "array.add.string": bad(lambda jax, a: a.x + "text", "'Array' | 'str'"),
    "array.add.none": bad(lambda jax, a: a.x + None, "'Array' | 'NoneType'"),
    "array.add.object": bad(lambda jax, a: a.x + Opaque(), "'Array' | 'Opaque'"),
    "array.add.list": bad(lambda jax, a: a.x - [1, 2], "'Array' | 'list'"),
    "array.add.strings": bad(lambda jax, a: a.loose + np.array(["a"] * 8), "dtype <U1"),
    "array.add.objects": bad(lambda jax, a: a.loose + np.array([Opaque()] * 8, dtype=object), "dtype object"),
    "array.add.int": bad(lambda jax, a: a.whole + 2**40, "1099511627776 | int32"),
    "array.add.devices": bad(
        lambda jax, a: a.x + a.y, "device ids [0, 1, 2, 3] | device ids [4, 5, 6, 7] | argument x | argument y"
    ),
    "array.mul.devices": bad(
        lambda jax, a: a.one * a.x, "device ids [1] | device ids [0, 1, 2, 3] | argument x | argument y"
    ),
    "array.sub.bool": bad(lambda jax, a: a.truth - a.truth, "sub | bool"),
    "array.neg.bool": bad(lambda jax, a: -a.truth, "neg | bool"),
    "array.less.shapes": bad(lambda jax, a: a.loose < a.six, "(8, 8) | (6,)"),
    "array.equal.shapes": bad(lambda jax, a: a.loose == a.six, "(8, 8) | (6,)"),
    "array.less.string": bad(lambda jax, a: a.loose < "text", "'Array' | 'str'"),
    "array.less.none": bad(lambda jax, a: a.loose < None, "'Array' | 'NoneType'"),
    "array.pow.string": bad(lambda jax, a: a.loose ** "2", "'Array' | 'str'"),
    "array.pow.negative": bad(lambda jax, a: a.whole**-1, "int32[8] | -1"),
    "array.pow.negative.bool": bad(lambda jax, a: a.truth**-1, "bool[] | -1"),
    "array.pow.three": bad(lambda jax, a: pow(a.six, 2, 3)),
    "array.pow.shapes": bad(lambda jax, a: a.loose**a.six, "(8, 8) | (6,)"),
    "array.floordiv.string": bad(lambda jax, a: a.loose // "2", "'Array' | 'str'"),
    "array.floordiv.complex": bad(lambda jax, a: (a.six * 1j) // 2, "complex64"),
    "array.floordiv.key": bad(lambda jax, a: a.key // 2, "key<fry>"),
    "array.mod.none": bad(lambda jax, a: a.loose % None, "'Array' | 'NoneType'"),
    "array.mod.complex": bad(lambda jax, a: (a.six * 1j) % 2, "complex64"),
    "array.mod.devices": bad(lambda jax, a: a.x % a.y, "device ids [0, 1, 2, 3] | device ids [4, 5, 6, 7]"),
    "array.abs.key": bad(lambda jax, a: abs(a.key), "key<fry>"),
    "array.abs.complex": differs(NOT_HERE, "NotImplementedError", lambda jax, a: abs(a.six * 1j), "complex64[6]"),
    "array.at": differs(NOT_HERE, "NotImplementedError", lambda jax, a: a.six.at[0].set(1), ".at"),
    "array.pow.key": bad(lambda jax, a: a.key**2, "key<fry>"),
    "array.radd.string": bad(lambda jax, a: "text" + a.loose),
    "array.iadd.shapes": bad(lambda jax, a: iadd(a.loose, a.six), "(8, 8) | (6,)"),
    "array.sum.axis": bad(lambda jax, a: a.x.sum(2), "axis 2"),
    "array.sum.axis.negative": bad(lambda jax, a: a.x.sum(axis=-3), "axis -3"),
    "array.sum.axis.string": differs(
        "JAX takes it for an axis of a mesh around the call",
        "TypeError",
        lambda jax, a: a.x.sum("x"),
        "'x' | of type str",
    ),
    "array.sum.axis.twice": bad(lambda jax, a: a.x.sum((0, 0)), "(0, 0)"),
    "array.max.axis": bad(lambda jax, a: a.x.max(5), "axis 5"),
    "array.max.none": bad(lambda jax, a: jax.numpy.max(np.zeros((0, 3), np.float32)), "shape (0, 3) | (0, 1)"),
    "array.reshape": bad(lambda jax, a: a.x.reshape(3, 3), "shape (8, 8) | shape (3, 3)"),
    "array.reshape.open": bad(lambda jax, a: a.x.reshape(5, -1), "shape (8, 8) | shape (5, 12)"),
    "array.reshape.open.twice": bad(lambda jax, a: a.x.reshape(-1, -1), "(-1, -1)"),
    "array.reshape.float": bad(lambda jax, a: a.x.reshape(6.4, 10), "of type float"),
    "array.reshape.string": bad(lambda jax, a: a.x.reshape("ab"), "'a' | of type str"),
    "array.transpose": bad(lambda jax, a: a.x.transpose(0, 0), "shape (8, 8) | (0, 0)"),
    "array.transpose.rank": bad(lambda jax, a: a.x.transpose(0), "shape (8, 8) | (0,)"),
    "array.transpose.range": bad(lambda jax, a: a.x.transpose(0, 2), "axis 2"),
    "array.astype": bad(lambda jax, a: a.x.astype("float33"), "'float33'"),
    "array.astype.object": bad(lambda jax, a: a.x.astype(object), "dtype object"),
    "array.astype.string": bad(lambda jax, a: a.x.astype(str), "dtype <U0"),
    "numpy.concatenate": bad(lambda jax, a: jax.numpy.concatenate([a.loose, a.six]), "(8, 8) | (6,)"),
    "numpy.concatenate.sizes": bad(lambda jax, a: jax.numpy.concatenate([a.loose, a.loose[:, :3]]), "(8, 8) | (8, 3)"),
    "numpy.concatenate.none": bad(lambda jax, a: jax.numpy.concatenate([])),
    "numpy.concatenate.axis": bad(lambda jax, a: jax.numpy.concatenate([a.six, a.six], axis=1), "axis 1"),
    "numpy.concatenate.scalars": bad(lambda jax, a: jax.numpy.concatenate([a.scalar, a.scalar]), "axis 0"),
    "numpy.concatenate.strings": bad(lambda jax, a: jax.numpy.concatenate(["a", "b"]), "'a' | of type str"),
    "numpy.concatenate.devices": bad(
        lambda jax, a: jax.numpy.concatenate([a.x, a.y]),
        "device ids [0, 1, 2, 3] | device ids [4, 5, 6, 7] | argument arrays[0] | argument arrays[1]",
    ),
    "numpy.array.string": bad(lambda jax, a: jax.numpy.array("text"), "dtype <U4"),
    "numpy.array.object": bad(lambda jax, a: jax.numpy.asarray(Opaque()), "dtype object"),
    "numpy.array.ragged": bad(lambda jax, a: jax.numpy.array([[1, 2], [3]])),
    "numpy.zeros.negative": bad(lambda jax, a: jax.numpy.zeros((-1, 2)), "(-1, 2)"),
    "numpy.zeros.float": bad(lambda jax, a: jax.numpy.zeros((1.5, 2)), "1.5"),
    "numpy.zeros.dtype": bad(lambda jax, a: jax.numpy.zeros(3, "float33"), "'float33'"),
    "numpy.zeros.divides": bad(
        lambda jax, a: jax.numpy.zeros((6, 8), device=a.rows), "'x' of size 4 | dimension 0 of size 6 | shape (6, 8)"
    ),
    "numpy.full.shape": bad(lambda jax, a: jax.numpy.full((2,), a.six), "shape (6,) | shape (2,)"),
    "numpy.add.string": bad(lambda jax, a: jax.numpy.add(a.six, "text"), "'text' | of type str"),
    "numpy.exp.string": bad(lambda jax, a: jax.numpy.exp("text"), "'text' | of type str"),
    "numpy.exp.key": bad(lambda jax, a: jax.numpy.exp(a.key), "key<fry>"),
    "array.gone.copy": bad(lambda jax, a: a.gone.copy(), "float32[8,8]"),
    "array.gone.ready": bad(lambda jax, a: a.gone.is_ready(), "float32[8,8]", fatal=True),
    "array.and.float": bad(lambda jax, a: a.six & a.six, "and | float32"),
    "array.not.float": bad(lambda jax, a: ~a.six, "not | float32"),
    "numpy.broadcast": bad(lambda jax, a: jax.numpy.broadcast_to(a.six, (5, 5)), "shape (6,) | shape (5, 5)"),
    "numpy.broadcast.rank": bad(lambda jax, a: jax.numpy.broadcast_to(a.x, (8,)), "shape (8, 8) | shape (8,)"),
    "numpy.sum.string": bad(lambda jax, a: jax.numpy.sum("text"), "'text' | of type str"),
    "numpy.sum.none": bad(lambda jax, a: jax.numpy.sum(None), "of type NoneType"),
    "numpy.sum.objects": bad(lambda jax, a: jax.numpy.sum(np.array([Opaque()], dtype=object)), "dtype object"),
    "numpy.where.shapes": bad(lambda jax, a: jax.numpy.where(a.truth, a.loose, a.six), "(8, 8) | (6,)"),
    "numpy.where.string": bad(lambda jax, a: jax.numpy.where("text", 1, 2), "'text' | of type str"),
    "numpy.mean.string": bad(lambda jax, a: jax.numpy.mean("text"), "'text' | of type str"),
    "numpy.float8": bad(
        lambda jax, a: a.loose.astype(jax.numpy.float8_e4m3fn) + a.loose.astype(jax.numpy.float8_e5m2),
        "float8_e4m3fn | float8_e5m2",
    ),
    "numpy.float8.float16": bad(
        lambda jax, a: a.loose.astype(jax.numpy.float8_e4m3fn) + a.loose.astype(jax.numpy.float16), "float8_e4m3fn"
    ),
}


def iadd(a, b):
    a += b
    return a


KEYS = {
    "key.string": bad(lambda jax, a: jax.random.key("seed"), "'seed' | of type str"),
    "key.float": bad(lambda jax, a: jax.random.key(1.5), "of type float"),
    "key.none": differs(
        "JAX has another class for None than for all else that is no integer",
        "TypeError",
        lambda jax, a: jax.random.key(None),
        "of type NoneType",
    ),
    "key.array": bad(lambda jax, a: jax.random.key(np.arange(3)), "shape (3,) | of type ndarray"),
    "key.floats": bad(lambda jax, a: jax.random.key(a.scalar), "shape () | of type Array"),
    "key.of.key": bad(lambda jax, a: jax.random.key(a.key), "shape () | of type Array"),
    "key.data.number": bad(lambda jax, a: jax.random.key_data(3), "of type int"),
    "key.data.array": bad(lambda jax, a: jax.random.key_data(a.x), "shape (8, 8) | of type Array"),
    "key.data.host": bad(lambda jax, a: jax.random.key_data(np.zeros(2, np.float32)), "shape (2,) | of type ndarray"),
    "key.data.gone": bad(lambda jax, a: jax.random.key_data(deleted(jax.random.key(1))), "uint32[2]"),
    "key.wrap.float": bad(lambda jax, a: jax.random.wrap_key_data(np.zeros(2, np.float32)), "float32[2] | int32"),
    "key.wrap.shape": bad(lambda jax, a: jax.random.wrap_key_data(np.zeros(3, np.uint32)), "uint32[3]"),
    "key.wrap.scalar": bad(lambda jax, a: jax.random.wrap_key_data(np.uint32(3)), "uint32[]"),
    "key.wrap.key": bad(lambda jax, a: jax.random.wrap_key_data(a.key), "key<fry>[] | int32"),
    "key.wrap.string": bad(lambda jax, a: jax.random.wrap_key_data("ab"), "'ab' | of type str"),
    "key.wrap.list": bad(lambda jax, a: jax.random.wrap_key_data([1.5, 2.5])),
    "key.index": bad(lambda jax, a: a.key[0], "0 dimensions"),
    "key.jit.add": bad(lambda jax, a: jax.jit(lambda k: k + 1)(a.key), "key<fry>"),
    "key.grad": bad(lambda jax, a: jax.grad(lambda k: 1.0)(a.key), "argument k | key<fry>[]"),
    "key.cond": differs(ACCIDENT, "TypeError", lambda jax, a: jax.lax.cond(a.key, double, double, a.x)),
}


def deleted(x):
    x.delete()
    return x


BAD = PUT | PLACES | ARRAYS | KEYS
