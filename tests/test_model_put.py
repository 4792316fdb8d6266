"""The model's device_put from within: plans, memory and fates, which the contract's probes see from outside only."""

import itertools
import random

import numpy as np
import pytest

from impl.model import namespace, trees
from impl.model.buffers import Buffer, lies_in, room
from impl.model.dates import Contract
from impl.model.devices import machine
from impl.model.layouts import Format, Layout
from impl.model.meshes import Mesh
from impl.model.model import Model
from impl.model.plan import plan
from impl.model.shardings import NamedSharding, SingleDeviceSharding
from impl.model.specs import PartitionSpec as P


def mesh(devices, order, sizes, names="xyz"):
    return Mesh(np.array([devices[i] for i in order], object).reshape(sizes), tuple(names[: len(sizes)]))


def shardings(devices):
    """Shardings of two dimensions over some of eight devices, in several orders."""
    meshes = [
        mesh(devices, range(4), (2, 2)),
        mesh(devices, (3, 1, 0, 2), (2, 2)),
        mesh(devices, range(8), (4, 2)),
        mesh(devices, (7, 6, 5, 4), (4,)),
        mesh(devices, range(8), (2, 2, 2)),
    ]
    parts = [None, "x", "y", ("x", "y"), ("y", "x"), ("z", "x")]
    for m, (a, b) in itertools.product(meshes, itertools.product(parts, repeat=2)):
        axes = [axis for part in (a, b) for axis in (part if isinstance(part, tuple) else (part,)) if axis]
        if len(set(axes)) == len(axes) and set(axes) <= set(m.axis_names):
            yield NamedSharding(m, P(a, b))
    yield SingleDeviceSharding(devices[5])


def test_a_plan_puts_every_element_in_its_place():
    devices = machine(8)["model"]
    all_of_them = list(shardings(devices))
    rng = random.Random(0)
    value = np.arange(64).reshape(8, 8)
    for old, new in [rng.sample(all_of_them, 2) for _ in range(400)]:
        moves = plan(old, new, value.shape)
        parts = [value[old.tiles(value.shape).index(i)] for i in range(old.num_devices)]
        for position, device in enumerate(new.ordered):
            got = np.full(new.shard_shape(value.shape), -1)
            for piece in moves.pieces(position):
                assert (got[piece.new] == -1).all(), "an element is written twice"
                got[piece.new] = parts[piece.source][piece.old]
                here = old.ordered[piece.source]
                if device in old.ordered and here is not device:
                    own = parts[old.ordered.index(device)]
                    assert not np.isin(parts[piece.source][piece.old], own).any(), "taken from afar, and it was here"
            assert (got == value[new.tiles(value.shape).index(position)]).all(), (old, new)


def test_a_plan_knows_which_shards_stay_whole():
    devices = machine(8)["model"]
    for old, new in itertools.islice(itertools.permutations(shardings(devices), 2), 0, None, 7):
        moves = plan(old, new, (8, 8))
        where = old.devices_indices_map((8, 8))
        for position, (device, index) in enumerate(new.devices_indices_map((8, 8)).items()):
            whole = moves.whole(position)
            assert (whole is not None) == (where.get(device) == index)
            assert whole is None or old.ordered[whole] is device


def test_a_plan_over_thousands_of_devices_is_small():
    devices = machine(8960)["model"]
    m = mesh(devices, range(8960), (16, 20, 28))
    moves = plan(NamedSharding(m, P(("x", "y", "z"))), NamedSharding(m, P(None, ("x", "y", "z"))), (17920, 17920))
    pieces = list(moves.pieces(8959))
    assert len(pieces) == 8960
    assert {piece.source for piece in pieces} == set(range(8960))


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_room_lies_in_the_order_asked_for(order):
    data = room((4, 6), np.dtype(np.int32), order)
    assert data.shape == (4, 6)
    assert lies_in(data, order)
    assert not lies_in(data, order[::-1])


def test_keys_stay_together_in_every_layout():
    data = room((4, 6, 2), np.dtype(np.uint32), (1, 0))
    assert data.strides == (8, 32, 4)


def test_memory_that_two_arrays_see_is_not_written_over(jax):
    x = jax.device_put(np.arange(8, dtype=np.float32))
    y = jax.device_put(x)
    jax.jit(lambda x: x + 1, donate_argnums=0)(x)
    assert x.is_deleted()
    assert np.array_equal(np.asarray(y), np.arange(8))


def test_a_donated_buffer_is_written_over_where_nobody_sees_it(jax):
    x = jax.device_put(np.arange(8, dtype=np.float32), may_alias=False)
    (before,) = x.buffers
    span = before.span
    (after,) = jax.jit(lambda x: x + 1, donate_argnums=0)(x).buffers
    assert after.span == span


def test_what_the_host_lent_is_not_moved_into_a_donating_puts_output(jax):
    room = np.zeros(80, np.uint8)
    start = -room.ctypes.data % 64
    value = room[start : start + 16].view(np.float32)
    x = jax.device_put(value)
    assert x.buffers[0].lent
    y = jax.device_put(x, donate=True)
    value += 1
    assert np.array_equal(np.asarray(y), np.zeros(4))


def aligned(*shape):
    """Zeros of the host's that an array may borrow."""
    size = 4 * int(np.prod(shape))
    room = np.zeros(size + 64, np.uint8)
    start = -room.ctypes.data % 64
    return room[start : start + size].view(np.float32).reshape(shape)


def turned(sharding):
    """The columns of two dimensions first."""
    return Format(Layout((1, 0)), sharding)


def test_only_the_default_memory_is_the_host_s(jax):
    value = aligned(4)
    pinned = jax.device_put(value, SingleDeviceSharding(jax.devices()[0], memory_kind="pinned_host"))
    default = jax.device_put(value)
    value += 1
    assert (pinned.buffers[0].lent, default.buffers[0].lent) == (False, True)
    assert np.asarray(pinned).tolist() == [0] * 4


def test_a_put_to_nowhere_keeps_the_layout(jax):
    x = jax.device_put(np.arange(24.0).reshape(4, 6), turned(SingleDeviceSharding(jax.devices()[1])))
    for flags in ({}, {"may_alias": False}, {"donate": True}):
        y = jax.device_put(x, **flags)
        assert y.format == x.format, flags
        assert lies_in(y.buffers[0].data, (1, 0)), flags


@pytest.mark.parametrize("flags", [{}, {"may_alias": True}, {"donate": True}])
def test_a_shard_that_stays_lies_as_it_is_wanted(jax, flags):
    value = np.arange(24, dtype=np.float32).reshape(4, 6)
    x = jax.device_put(value, NamedSharding(mesh(jax.devices(), range(2), (2,)), P("x")))
    y = jax.device_put(x, turned(x.sharding), **flags)
    assert all(lies_in(buffer.data, (1, 0)) for buffer in y.buffers)
    assert y.format == turned(x.sharding)
    assert np.array_equal(np.asarray(y), value)


def test_replicas_have_numbers(jax):
    devices = jax.devices()
    x = jax.device_put(np.arange(8.0), NamedSharding(mesh(devices, (5, 4, 3, 2), (2, 2)), P("y")))
    assert [(shard.device.id, shard.index[0].start, shard.replica_id) for shard in x.addressable_shards] == [
        (5, 0, 0),
        (4, 4, 0),
        (3, 0, 1),
        (2, 4, 1),
    ]


def test_a_part_of_an_array_is_bound_to_its_device_and_as_weak(jax):
    x = jax.device_put(1.0)
    part = x.addressable_shards[0].data
    assert (x.committed, part.committed) == (False, True)
    assert (x.weak_type, part.weak_type) == (True, True)
    assert not jax.device_put(np.float32(1)).addressable_shards[0].data.weak_type


@pytest.mark.parametrize(
    ("version", "kinds"), [("0.6.2", ["unpinned_host"]), ("0.7.0", ["device", "pinned_host", "unpinned_host"])]
)
def test_memories_are_those_of_their_day(version, kinds):
    (device,) = Model(1, contract=Contract(version)).devices()
    assert [memory.kind for memory in device.addressable_memories()] == kinds


def test_a_part_of_an_array_shares_its_fate(jax):
    devices = jax.devices()
    x = jax.device_put(np.arange(8.0), NamedSharding(mesh(devices, range(4), (4,)), P("x")))
    x.addressable_shards[2].data.delete()
    assert x.is_deleted()
    with pytest.raises(RuntimeError, match="deleted"):
        np.asarray(x)


def test_one_process_sees_its_own_shards():
    model = Model(8, processes=2)
    jax = namespace.of(model)
    x = jax.device_put(np.arange(8.0), NamedSharding(mesh(jax.devices(), range(8), (8,)), P("x")))
    assert [shard.device.id for shard in x.addressable_shards] == [0, 1, 2, 3]
    assert len(x.global_shards) == 8
    assert not x.is_fully_addressable
    with pytest.raises(RuntimeError, match="other processes"):
        np.asarray(x)
    assert str(x) == repr(x) == "Array(shape=(8,), dtype=float32)", "what is not seen is not shown"
    assert float(x.sum()) == 28, "each process has the whole of what is replicated"


def test_devices_are_shared_out_equally():
    with pytest.raises(ValueError, match="8 devices cannot be shared out equally to 3"):
        Model(8, processes=3)


def test_before_the_flags_a_put_had_none():
    jax = namespace.of(Model(2, contract=Contract("0.4.33")))
    with pytest.raises(TypeError):
        jax.device_put(1.0, donate=True)


TREE = {"b": [1, None, (2,)], "a": 3}


def test_a_tree_comes_back_and_its_leaves_have_paths():
    leaves, tree = trees.flatten(TREE)
    assert leaves == [3, 1, 2]
    assert tree.paths == ("['a']", "['b'][0]", "['b'][2][0]")
    assert trees.unflatten(tree, leaves) == TREE


@pytest.mark.parametrize(
    ("prefix", "said"),
    [
        (True, [True, True, True]),
        (None, [None, None, None]),
        ({"a": 1, "b": 2}, [1, 2, 2]),
        ({"a": 1, "b": [2, None, 3]}, [1, 2, 3]),
        ({"a": None, "b": [2, None, None]}, [None, 2, None]),
    ],
)
def test_a_prefix_speaks_for_the_leaves_beneath(prefix, said):
    assert trees.spread(prefix, trees.flatten(TREE)[1], "donate") == said


@pytest.mark.parametrize("prefix", [{"a": 1}, {"a": 1, "b": [1]}, [1, 2], {"a": [1], "b": 2}, {"a": 1, "b": {"c": 1}}])
def test_what_is_no_prefix_is_named(prefix):
    with pytest.raises(ValueError, match="the donate argument is no prefix of the pytree"):
        trees.spread(prefix, trees.flatten(TREE)[1], "donate")


def test_a_deleted_buffer_is_never_read():
    buffer = Buffer(machine(1)["model"][0], "device", np.zeros(2))
    buffer.delete()
    with pytest.raises(RuntimeError):
        _ = buffer.data
