"""The model's meshes, specs, shardings and their texts, held to the installed JAX and to those of SHARDSPEC_PYTHONS.

Each JAX is asked once, in a process of its own, by tests/values_there.py; the same questions are put to the model here.
"""

import json
import pickle
import sys
import time
from types import SimpleNamespace

import numpy as np
import pytest

from impl.model import layouts, meshes, shardings, specs, texts
from impl.model.dates import NEWEST, PROMISES, Contract
from impl.model.devices import machine
from impl.model.keys import KEY
from impl.model.positional import PositionalSharding
from tests import values_there
from tests.test_stock_versions import OTHERS, told
from tests.values_there import BAD, GOOD, OPEN, SHAPES, a_mesh, a_spec, corpus

PARTITIONERS = ("shardy", "gspmd")
DEVICES = machine(16)["model"]


class Making(meshes.Meshes):
    def __init__(self, contract):
        self.contract = contract

    def all_devices(self):
        return DEVICES


def model(version=NEWEST):
    """The model as of a version of JAX, in the shape that questions take."""
    contract = Contract(version)
    return SimpleNamespace(
        AbstractMesh=Making(contract).abstract_mesh,
        AxisType=meshes.AxisType,
        Format=layouts.Format,
        Layout=layouts.Layout,
        Mesh=meshes.Mesh,
        NamedSharding=shardings.NamedSharding,
        PartitionSpec=specs.PartitionSpec,
        SingleDeviceSharding=shardings.SingleDeviceSharding,
        devices=list(DEVICES),
        make_mesh=Making(contract).make_mesh,
        ordering="logical_device_ids",
    )


JAX = model()


PYTHONS = [sys.executable, *OTHERS]


def asked(python, partitioner="shardy"):
    return told(python, partitioner, "tests.values_there")


@pytest.fixture(params=PYTHONS, ids=lambda it: str(PYTHONS.index(it)), scope="module")
def python(request):
    """A Python whose JAX speaks as the model does."""
    if "values" not in asked(request.param):
        pytest.skip(f"JAX {asked(request.param)['version']} answers in other words")
    return request.param


@pytest.fixture(scope="module")
def both(python):
    """What JAX says of all values, and what the model says at that date."""
    there = asked(python)
    return there["values"], json.loads(json.dumps(values_there.values(model(there["version"]))))


# --- values held to JAX -------------------------------------------------------------------------------------------


def test_shardings_say_the_same(both):
    for it, there, here in zip(corpus(), *(said["told"] for said in both), strict=True):
        assert here == there, it


@pytest.mark.parametrize("same", ["equal", "equivalent"])
def test_every_two_shardings_compare_the_same(both, same):
    there, here = (said[same] for said in both)
    for one, theirs, ours in zip(corpus(), there, here, strict=True):
        assert theirs == ours, (one, [other for other, a, b in zip(corpus(), theirs, ours, strict=True) if a != b])


@pytest.mark.parametrize("asked_of", ["meshes", "equal_meshes", "equal_abstract", "specs", "equal_specs", "hashes"])
def test_meshes_and_specs_are_the_same(both, asked_of):
    there, here = (said[asked_of] for said in both)
    assert here == there


@pytest.mark.parametrize("name", sorted(GOOD))
def test_what_jax_accepts_is_accepted(both, name):
    there, here = (said["good"][name] for said in both)
    assert here == there


MEANINGLESS = "JAX accepts it, and nothing that it could mean works: the contract asks for an error"
LATER = "JAX accepts it here and fails where it is used"
ACCIDENT = "JAX fails in its own code on the way; the contract asks for an error that says what is wrong"
PRIVATE = "JAX's class is private, and Exception its only public base; the model's is one of those"

DIFFERENCES = {
    "abstract.rank": ("", "ValueError", LATER),
    "abstract.repeated": ("", "ValueError", MEANINGLESS),
    "axis.repeated": ("Exception", "ValueError", PRIVATE),
    "axis.repeated.grouped": ("Exception", "ValueError", PRIVATE),
    "equivalent.number": ("AttributeError", "TypeError", ACCIDENT),
    "equivalent.single": ("AttributeError", "", "an abstract mesh and a device are not equivalent, either way round"),
    "layout.repeated": ("", "ValueError", LATER),
    "make.half": ("", "ValueError", "JAX cuts the half off without a word"),
    "make.repeated": ("", "ValueError", MEANINGLESS),
    "make.zero": ("IndexError", "ValueError", ACCIDENT),
    "mesh.numbers": ("", "TypeError", LATER),
    "mesh.repeated": ("", "ValueError", MEANINGLESS),
    "mesh.twice": ("", "ValueError", LATER),
    "named.mesh": ("AttributeError", "TypeError", ACCIDENT),
    "named.tuple": ("AttributeError", "TypeError", ACCIDENT),
    "order.twice": ("", "ValueError", "JAX gives one of the devices no part of the array"),
    "rank": ("IndexError", "ValueError", ACCIDENT),
    "rank.equivalent": ("IndexError", "ValueError", ACCIDENT),
    "rank.map": ("IndexError", "ValueError", ACCIDENT),
    "rank.zero": ("IndexError", "ValueError", ACCIDENT),
}
"""Where the model answers otherwise than JAX: JAX's class of error, the model's, and the reason."""


@pytest.mark.parametrize("name", sorted(BAD))
def test_bad_input_raises_the_same_classes(both, name):
    there, here = (said["bad"][name][:1] for said in both)
    if name in DIFFERENCES:
        assert ((*there, "")[0], (*here, "")[0]) == DIFFERENCES[name][:2]
    else:
        assert here == there


def test_differences_are_of_something():
    assert set(DIFFERENCES) <= set(BAD)


# --- texts held to JAX --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("partitioner", PARTITIONERS)
def test_modules_say_the_same(python, partitioner):
    dtype = np.dtype("float32")
    for group, there in zip(values_there.together().values(), asked(python, partitioner)["texts"], strict=True):
        closed = [it.make(JAX) for it in group if values_there.is_closed(it)]
        arguments = [texts.Declared(SHAPES[0], dtype, it) for it in closed]
        text = texts.module(arguments, arguments[::-1], partitioner=partitioner, devices=closed[0].num_devices)
        assert json.loads(json.dumps(values_there.declared(text))) == there["module"]


@pytest.mark.parametrize("partitioner", PARTITIONERS)
def test_constraints_say_the_same(python, partitioner):
    for group, there in zip(values_there.together().values(), asked(python, partitioner)["texts"], strict=True):
        of = [it.make(JAX) for it in group]
        names = texts.Meshes()
        sdy = [texts.sdy(it, 3, names.name(it)) for it in of]
        gspmd = [[texts.unspecified(it), texts.hlo(it, 3)] for it in of]
        assert there["constraints"] == {
            "sdy": sdy if partitioner == "shardy" else [],
            "gspmd": gspmd if partitioner == "gspmd" else [],
            "meshes": [line.removeprefix("sdy.mesh ") for line in names.lines()] if partitioner == "shardy" else [],
        }


def test_the_texts_of_positional_shardings():
    """As 0.6.2 writes them; Shardy had none."""
    square = PositionalSharding(DEVICES[:4]).reshape(2, 2)
    assert [
        texts.hlo(it, 2) for it in (square, square.T, square.replicate(0), square.replicate(1), square.replicate())
    ] == [
        "{devices=[2,2]0,1,2,3}",
        "{devices=[2,2]0,2,1,3}",
        "{devices=[1,2,2]0,2,1,3 last_tile_dim_replicate}",
        "{devices=[2,1,2]0,1,2,3 last_tile_dim_replicate}",
        "{replicated}",
    ]
    with pytest.raises(NotImplementedError, match="PositionalSharding"):
        texts.sdy_mesh(square)


@pytest.mark.parametrize(
    ("dtype", "element"),
    [
        ("bool", "i1"),
        ("int4", "i4"),
        ("uint8", "ui8"),
        ("int64", "i64"),
        ("float16", "f16"),
        ("bfloat16", "bf16"),
        ("complex64", "complex<f32>"),
        ("complex128", "complex<f64>"),
        ("float8_e4m3fn", "f8E4M3FN"),
        ("float8_e4m3b11fnuz", "f8E4M3B11FNUZ"),
    ],
)
def test_types_of_numbers_in_a_module(dtype, element):
    import ml_dtypes

    of = texts.Declared((2, 3), np.dtype(getattr(ml_dtypes, dtype, dtype)))
    assert f"@main(tensor<2x3x{element}>)" in texts.module([of], [], partitioner="shardy", devices=1)


@pytest.mark.parametrize(
    ("partitioner", "annotation"),
    [
        ("shardy", 'sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>'),
        ("gspmd", 'mhlo.sharding = "{devices=[4,1]<=[4]}"'),
    ],
)
def test_keys_are_declared_as_numbers_that_are_never_cut_within_a_key(partitioner, annotation):
    it = texts.Declared((8,), KEY, values_there.sharding("line", "x")(JAX))
    assert f"@main(tensor<8x2xui32> {{{annotation}}})" in texts.module([it], [], partitioner=partitioner, devices=4)


@pytest.mark.parametrize("partitioner", PARTITIONERS)
def test_what_else_a_module_says_of_a_value(partitioner):
    it = texts.Declared((), np.dtype("float32"), memory="pinned_host", aliases=1)
    text = texts.module([it], [it], partitioner=partitioner, devices=8)
    attributes = '{mhlo.memory_kind = "pinned_host", tf.aliasing_output = 1 : i32}'
    assert f"@main(tensor<f32> {attributes}) -> (tensor<f32> {attributes})" in text


# --- bad input is told in one clear line --------------------------------------------------------------------------


WORDS = {
    "abstract.rank": ["(2, 2)", "('x',)"],
    "axis.open": ["P(UNCONSTRAINED,)", "Mesh('x': 4"],
    "axis.repeated": ["P('x', 'x')", "['x']", "Mesh('x': 2, 'y': 2"],
    "axis.unknown": ["P('y',)", "'y'", "('x',)", "Mesh('x': 4"],
    "divides": ["(6,)", "dimension 0 of size 6 into 4", "'x' of size 4"],
    "divides.abstract": ["(6,)", "dimension 0 of size 6 into 4", "'x' of size 4", "AbstractMesh('x': 4"],
    "equivalent.number": ["3", "int"],
    "format.alone": ["Layout(major_to_minor=(1, 0))"],
    "kind": ["ModelDevice(id=0)", "'attic'", "device, pinned_host, unpinned_host"],
    "layout.repeated": ["(0, 0)"],
    "make.half": ["(2.5,)", "('x',)"],
    "make.many": ["(32,)", "32", "there are 16", "[0, 1, 2, 3, 4, 5, 6, 7, 8,"],
    "make.many.given": ["(4,)", "[0, 1, 2]"],
    "make.zero": ["(0,)", "('x',)"],
    "map.abstract": ["AbstractMesh('x': 4"],
    "mesh.none": ["(None,)"],
    "mesh.rank": ["(4,)", "('x', 'y')"],
    "mesh.repeated": ["['x']", "['x', 'x']"],
    "mesh.twice": ["[0]", "[0, 0]"],
    "mesh.types": ["(Auto, Auto)", "('x',)"],
    "mesh.types.class": ["('Auto',)"],
    "named.mesh": ["3", "int"],
    "named.tuple": ["('x',)", "tuple"],
    "order.twice": ["(0, 1, 1, 3)", "Mesh('x': 4"],
    "rank": ["P(None, 'x')", "dimension 1", "shape (8,)"],
    "rank.equivalent": ["P(None, 'x')", "dimension 1", "1"],
}
"""What a message names."""


@pytest.mark.parametrize("name", sorted(WORDS))
def test_messages_name_what_is_wrong(name):
    said = values_there.message(lambda: BAD[name](JAX))
    assert [word for word in WORDS[name] if word not in said] == []
    assert "\n" not in said


def test_every_dimension_that_is_not_divided_is_named():
    sharding = values_there.sharding("cube", ("x", "y"), None, "z")(JAX)
    with pytest.raises(
        ValueError, match=r"\(6, 5, 3\).*dimension 0 of size 6 into 4 by 'x' of size 2, 'y' of size 2"
    ) as error:
        sharding.check((6, 5, 3))
    assert "dimension 2 of size 3 into 2 by 'z' of size 2" in str(error.value)
    assert "dimension 1" not in str(error.value)


def test_a_check_takes_the_rank_of_the_whole_spec():
    sharding = values_there.sharding("line", "x", None)(JAX)
    assert sharding.shard_shape((8,)) == (2,)
    sharding.check((8, 3))
    with pytest.raises(ValueError, match=r"at least 2 dimensions.* 1: shape \(8,\)"):
        sharding.check((8,))
    shardings.SingleDeviceSharding(DEVICES[0]).check(())


def test_layouts_are_for_one_rank():
    layouts.Layout((1, 0)).check((3, 4))
    with pytest.raises(ValueError, match=r"Layout\(major_to_minor=\(1, 0\)\).* 1: shape \(3,\)"):
        layouts.Layout((1, 0)).check((3,))


# --- tiles --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("it", [it for it in corpus() if not it.abstract][::7], ids=str)
def test_tiles_are_the_index_map_in_numbers(it):
    sharding = it.make(JAX)
    tiles = sharding.tiles(SHAPES[0])
    assert tiles.sizes == sharding.shard_shape(SHAPES[0])
    assert tiles.shape == SHAPES[0]
    assert tiles.coordinates.shape == (sharding.num_devices, 3)
    assert dict(zip(sharding.ordered, map(tiles.index, range(sharding.num_devices)), strict=True)) == (
        sharding.devices_indices_map(SHAPES[0])
    )
    whole = np.arange(np.prod(SHAPES[0])).reshape(SHAPES[0])
    for number, place in enumerate(tiles.coordinates):
        assert whole[tiles.index(number)].shape == tiles.sizes
        assert whole[tiles.index(number)].flat[0] == whole[tuple(place * tiles.sizes)]


def test_the_order_of_devices_in_the_program_moves_tiles_and_not_devices():
    there = values_there.sharding("square", "y", "x", order="round")(JAX)
    assert there.ordered == values_there.sharding("square", "y", "x")(JAX).ordered
    assert [tuple(place) for place in there.tiles((4, 4)).coordinates] == [(1, 1), (0, 0), (1, 0), (0, 1)]


def test_tiles_over_thousands_of_devices_take_milliseconds():
    devices = np.array(machine(16 * 20 * 28)["model"], dtype=object).reshape(16, 20, 28)
    mesh = meshes.Mesh(devices, ("x", "y", "z"))
    start = time.perf_counter()
    tiles = shardings.NamedSharding(mesh, specs.PartitionSpec("y", ("z", "x"))).tiles((40, 896))
    assert time.perf_counter() - start < 0.1
    assert (tiles.counts, tiles.sizes) == ((20, 448), (2, 2))
    assert tuple(tiles.coordinates[devices.size - 28]) == (19, 15)  # x is 15, y is 19, z is 0


# --- values as values ---------------------------------------------------------------------------------------------

VALUES = [
    a_mesh(JAX, "cube"),
    a_mesh(JAX, "cube").abstract_mesh,
    a_spec(JAX, ("x", OPEN, None, ("y", "z"))),
    values_there.sharding("mixed", "x", ("z", "y"), kind="pinned_host")(JAX),
    values_there.sharding("line", "x", order="back")(JAX),
    values_there.sharding("line", "x", abstract=True)(JAX),
    shardings.SingleDeviceSharding(DEVICES[3], memory_kind="pinned_host"),
    PositionalSharding(DEVICES[:4]).reshape(2, 2).replicate(0),
    layouts.Layout((1, 0)),
    layouts.Format(layouts.Layout((1, 0)), shardings.SingleDeviceSharding(DEVICES[3])),
]


@pytest.mark.parametrize("value", VALUES, ids=str)
def test_a_value_never_changes(value):
    for name in vars(value):
        with pytest.raises(AttributeError, match="value"):
            setattr(value, name, None)
        with pytest.raises(AttributeError, match="value"):
            delattr(value, name)


@pytest.mark.parametrize("value", VALUES, ids=str)
def test_the_call_that_makes_a_value_makes_it_again(value):
    make, args = value.__reduce__()
    again = make(*args)
    assert again is not value
    assert (again, hash(again), repr(again)) == (value, hash(value), repr(value))


def test_values_without_devices_pickle():
    for value in (VALUES[1], VALUES[2], VALUES[5], layouts.Layout((1, 0))):
        assert pickle.loads(pickle.dumps(value)) == value
    assert pickle.loads(pickle.dumps(specs.PartitionSpec(specs.UNCONSTRAINED)))[0] is specs.UNCONSTRAINED


def test_maps_belong_to_who_asked():
    sharding = values_there.sharding("line", "x")(JAX)
    sharding.devices_indices_map((8,)).clear()
    assert len(sharding.devices_indices_map((8,))) == 4


def test_a_mesh_keeps_its_own_devices():
    grid = np.array(DEVICES[:2], dtype=object)
    mesh = meshes.Mesh(grid, ("x",))
    grid[0] = DEVICES[7]
    assert [it.id for it in mesh.devices] == [0, 1]


def test_one_process_sees_its_own_devices():
    devices = machine(4, processes=2)["model"]
    sharding = shardings.NamedSharding(meshes.Mesh(devices, ("x",)), specs.PartitionSpec("x"))
    assert not sharding.is_fully_addressable
    assert sharding.addressable_devices == set(devices[:2])
    assert list(sharding.addressable_devices_indices_map((8,)).items()) == [
        (devices[0], (slice(0, 2),)),
        (devices[1], (slice(2, 4),)),
    ]


def test_equivalence_is_one():
    """Reflexive, symmetric, transitive, whatever the rank; and what is equal is equivalent."""
    some = [it.make(JAX) for it in corpus()[::5]]
    for ndim in (3, 4):
        rows = np.array([[shardings.equivalent(one, other, ndim) for other in some] for one in some])
        assert rows.diagonal().all()
        assert (rows == rows.T).all()
        assert (rows == (rows @ rows)).all()
        assert rows[np.array([[one == other for other in some] for one in some])].all()


def test_the_kind_of_memory_and_the_platform_are_part_of_it():
    host = machine(1)["cpu"][0]
    one = shardings.SingleDeviceSharding(DEVICES[0])
    assert one == shardings.SingleDeviceSharding(DEVICES[0], memory_kind="device")
    for other in (one.with_memory_kind("pinned_host"), shardings.SingleDeviceSharding(host)):
        assert one != other
        assert not one.is_equivalent_to(other, 0)


# --- positional shardings, which JAX had until 0.6.2 --------------------------------------------------------------


def test_positional_shardings_are_cut_as_their_grid_is():
    line = PositionalSharding(DEVICES[:4])
    square = line.reshape(2, 2)
    mesh = a_mesh(JAX, "square")
    for positional, spec in [(square, ("x", "y")), (square.T, ("y", "x")), (square.replicate(0), (None, "y"))]:
        named = shardings.NamedSharding(mesh, a_spec(JAX, spec))
        assert positional.is_equivalent_to(named, 2)
        assert positional.devices_indices_map((8, 8)) == named.devices_indices_map((8, 8))
    assert square.replicate().is_equivalent_to(shardings.NamedSharding(mesh, a_spec(JAX, ())), 2)
    assert [it.shape for it in (square.replicate(0), square.replicate(1, keepdims=False), line.reshape(-1, 1))] == [
        (1, 2),
        (2,),
        (4, 1),
    ]
    assert square == PositionalSharding(mesh.devices) != line
    assert square.transpose(1, 0) == square.T == square.T.T.T
    assert square.replicate(-1) == square.replicate(1)
    assert square.replicate((0, 1)) == square.replicate() == square.T.replicate()


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (lambda it: it.shard_shape((8,)), "2 dimensions.*given one of 1"),
        (lambda it: it.shard_shape((8, 7)), r"\(8, 7\).*dimension 1 of size 7 into 2"),
        (lambda it: it.reshape(3, 2), "reshape"),
        (lambda it: it.replicate(2), "no axis 2"),
        (lambda it: it.with_memory_kind("attic"), "attic"),
        (lambda it: PositionalSharding([]), "at least one device"),
    ],
    ids=["rank", "divides", "reshape", "axis", "kind", "none"],
)
def test_positional_shardings_refuse(act, words):
    with pytest.raises(ValueError, match=words):
        act(PositionalSharding(DEVICES[:4]).reshape(2, 2))


def test_another_kind_of_memory_leaves_the_grid():
    """JAX 0.6.2 forgets the shape."""
    square = PositionalSharding(DEVICES[:4]).reshape(2, 2)
    assert square.with_memory_kind("pinned_host").shape == (2, 2)


# --- dates --------------------------------------------------------------------------------------------------------


def test_a_contract_has_a_date():
    assert not Contract("0.8.3").promises("make_mesh.explicit")
    assert Contract("0.9.0").promises("make_mesh.explicit")
    assert Contract("0.10.2").promises("make_mesh.explicit")  # by number, not by letter
    assert Contract("0.6.2").promises("positional_sharding")
    assert not Contract("0.7.0").promises("positional_sharding")
    assert Contract() == Contract(NEWEST)
    with pytest.raises(KeyError, match="flags"):
        Contract().promises("flags")
    with pytest.raises(ValueError, match=r"'0\.7rc1'"):
        Contract("0.7rc1").promises("export")


def test_promises_are_made_before_they_end():
    for since, until in PROMISES.values():
        if until is not None:
            assert not Contract(until).promises(next(name for name, it in PROMISES.items() if it == (since, until)))
            assert Contract(since).promises(next(name for name, it in PROMISES.items() if it == (since, until)))


@pytest.mark.parametrize(
    ("version", "made", "abstract"),
    [("0.8.3", "Auto", "Auto"), ("0.10.2", "Explicit", "Auto"), ("0.12.0", "Explicit", "Explicit")],
)
def test_axes_without_types_have_those_of_the_date(version, made, abstract):
    jax = model(version)
    assert repr(jax.make_mesh((2,), ("x",)).axis_types) == f"({made},)"
    assert repr(jax.AbstractMesh((2,), ("x",)).axis_types) == f"({abstract},)"
    assert repr(jax.Mesh(DEVICES[:2], ("x",)).axis_types) == "(Auto,)"
