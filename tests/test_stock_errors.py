"""What an error is said to name: on messages that released versions really wrote, and on ones that only look alike."""

import pytest

from tests.test_stock import a_process, start

FOUR, OTHER, BACK = (0, 1, 2, 3), (4, 5, 6, 7), (3, 2, 1, 0)

MIXED_0_4_35 = (
    "Received incompatible devices for jitted computation. Got argument first of <lambda>.<locals>.<lambda> with shape "
    "float32[8,8] and device ids [0, 1, 2, 3] on platform CPU and sharding_constraint inside jit with device ids "
    "[3, 2, 1, 0] on platform CPU at program.py:33:44 (<lambda>.<locals>.<lambda>)"
)
MIXED_0_12 = (
    "Received incompatible devices for jitted computation. Got argument tree['u'] of <lambda>.<locals>.<lambda> with "
    "shape float32[8,8] and with device ids [0] on platform CPU and explicit output sharding with device ids "
    "[0, 1, 2, 3] on platform CPU"
)
EAGER_SHARD_MAP = (
    "Received incompatible devices for jitted computation. Got argument args[0] of <jax._src.util.HashablePartial "
    "object at 0x7f83e35d9250> with shape float32[8,8] and with device ids [0, 1, 2, 3] on platform CPU and shard_map "
    "inside jit with device ids [4, 5, 6, 7] on platform CPU at "
)
CALLED_0_4_35 = (
    "Compiled object called with input sharding(s) does not match the sharding(s) the computation was compiled with. "
    "Here are the 1 mismatches:\nGot input sharding(s) that compiled object was called with: "
    "SingleDeviceSharding(device=CpuDevice(id=1), memory_kind=unpinned_host) and sharding(s) the computation was "
    "compiled with: NamedSharding(mesh=Mesh('x': 4), spec=PartitionSpec('x',), memory_kind=unpinned_host) for arg "
    "first with shape: float32[8,8]"
)
CALLED_0_12 = (
    "Computation was compiled for input shardings that disagree with the shardings of arguments passed to it. Here are "
    "the 1 mismatches:\nArgument first with shape float32[8,8]:\n  Passed sharding: NamedSharding(mesh=Mesh('x': 2, "
    "'y': 2, axis_types=(Auto, Auto)), spec=P('x', 'y'), memory_kind=device)\n  Required sharding: NamedSharding("
    "mesh=Mesh('x': 4, axis_types=(Auto,)), spec=P('x',), memory_kind=device)"
)


@pytest.fixture(scope="module")
def say():
    """`say(observer, message, ...)`: what an observer says of an error with that message."""
    with a_process(start) as pool:
        yield lambda *args: pool.submit(observed, *args).result(timeout=120)


def observed(observer, message, *args):
    from impl.stock.see import See

    see = See(lambda **_: None, True)
    return getattr(see, observer)(ValueError(message), *args)


@pytest.mark.parametrize(
    ("message", "sets"),
    [
        (MIXED_0_4_35, [FOUR, BACK]),
        (MIXED_0_12, [(0,), FOUR]),
        (EAGER_SHARD_MAP, [FOUR, OTHER]),
        (CALLED_0_4_35, [(1,)]),
        ("on Mesh(device_ids=array([[0, 1],\n       [2, 3]]), axis_names=('x', 'y'))", [FOUR]),
        ("on Mesh(device_ids=[0 1 2 3], axis_names=('x',))", [FOUR]),
        ("on devices [CpuDevice(id=4), CpuDevice(id=5), CpuDevice(id=6), CpuDevice(id=7)]", [OTHER]),
        ("[TFRT_CPU_0, TFRT_CPU_1] and [TFRT_CPU_2, TFRT_CPU_3]", [(0, 1), (2, 3)]),
        ("[[cuda:0, cuda:1], [cuda:2, cuda:3]]", [FOUR]),
        ("TpuDevice(id=1, process_index=0, coords=(1,0,0), core_on_chip=0)", [(1,)]),
        ("TPU_1(process=0,(1,0,0,0)) and devices {4, 5, 6, 7}", [(1,), OTHER]),
    ],
)
def test_device_sets_are_found_however_they_are_written(say, message, sets):
    for ids in sets:
        assert say("names_devices", message, ids), ids
    for ids in ((0, 1, 2), (1, 2, 3), (0, 1, 2, 3, 4), (7, 6, 5, 4), ()):
        assert not say("names_devices", message, ids), ids


def test_the_order_of_devices_counts(say):
    assert not say("names_devices", MIXED_0_12, BACK)
    assert not say("names_devices", EAGER_SHARD_MAP, tuple(reversed(OTHER)))


@pytest.mark.parametrize(
    ("message", "ids"),
    [
        (CALLED_0_12, FOUR),
        (CALLED_0_12, (4,)),
        ("argument x with shape float32[0,1,2,3]", FOUR),
        ("at /home/cpu:3:1 (<lambda>)", (3,)),
        ("the mesh has 4 devices (4)", (4,)),
        ("GSPMDSharding({devices=[2]0,1})", (2, 0, 1)),
        ("GSPMDSharding({devices=[2,2]<=[4]})", (2, 2)),
        ("sizes=(0, 1, 2, 3) and shards [0, 1, 2, 3]", FOUR),
        ("args[0]", (0,)),
        ("device ids [10, 1, 2, 3]", FOUR),
        ("CpuDevice(id=0) and CpuDevice(id=1)", (0, 1)),
        ("[CpuDevice(id=0)], [CpuDevice(id=1)]", (0, 1)),
    ],
)
def test_numbers_that_look_like_ids_are_none(say, message, ids):
    assert not say("names_devices", message, ids)


@pytest.mark.parametrize(
    ("message", "name", "position", "named"),
    [
        (MIXED_0_4_35, "first", 0, True),
        (MIXED_0_4_35, "second", 1, False),
        (MIXED_0_12, "tree['u']", 0, True),
        (MIXED_0_12, "tree['v']", 1, False),
        (EAGER_SHARD_MAP, "first", 0, True),
        (EAGER_SHARD_MAP, "second", 1, False),
        (CALLED_0_4_35, "first", 0, True),
        (CALLED_0_12, "first", 0, True),
        (CALLED_0_12, "with", 1, False),
        ("Got argument x of second.<locals>.first", "first", 0, False),
        ("Got argument firsts of f", "first", 0, False),
        ("argument 1 of f", "second", 1, True),
        ("argument 10 of f", "second", 1, False),
        ("the arguments first and second", "first", 0, True),
        ("the respective arg. first of all", "first", 0, False),
    ],
)
def test_an_argument_is_named_by_its_name_or_its_position(say, message, name, position, named):
    assert say("names_argument", message, name, position) is named


@pytest.mark.parametrize(
    ("message", "parts"),
    [
        (MIXED_0_4_35, {"argument", "constraint"}),
        (MIXED_0_12, {"argument", "out_shardings"}),
        (EAGER_SHARD_MAP, {"argument", "shard_map"}),
        ("Got ARG_SHARDING with device ids [0] and pjit inside jit with device ids [1]", {"jit"}),
        ("Got argument x of f with device ids [0] and jit's context mesh with device ids [1]", {"argument", "context"}),
        ("Sharding passed to pjit does not match the sharding on the respective arg", {"argument", "in_shardings"}),
        ("incompatible devices for jitted computation in my_shard_maps", set()),
    ],
)
def test_the_parts_of_a_call_are_told_apart(say, message, parts):
    known = ("argument", "in_shardings", "out_shardings", "constraint", "shard_map", "jit", "context")
    assert {part for part in known if say("names_part", message, part)} == parts


@pytest.mark.parametrize(
    ("message", "spec", "shown"),
    [
        (CALLED_0_4_35, ("x",), True),
        (CALLED_0_12, ("x",), True),
        (CALLED_0_12, ("x", "y"), True),
        (CALLED_0_12, ("y",), False),
        (CALLED_0_12, (None, "x"), False),
        ("spec=PartitionSpec(None, ('x', 'y'))", (None, ("x", "y")), True),
        ("spec=PartitionSpec()", (), True),
        ("MAP('x')", ("x",), False),
    ],
)
def test_specs_are_found_in_both_spellings(say, message, spec, shown):
    assert say("names_spec", message, spec) is shown


@pytest.mark.parametrize(
    ("message", "axes", "shown"),
    [
        (CALLED_0_4_35, (("x", 4),), True),
        (CALLED_0_12, (("x", 4),), True),
        (CALLED_0_12, (("x", 2), ("y", 2)), True),
        (CALLED_0_12, (("x", 2),), False),
        (CALLED_0_12, (("y", 2),), False),
        ("Mesh('x': 48)", (("x", 4),), False),
    ],
)
def test_a_mesh_is_shown_by_all_of_its_axes(say, message, axes, shown):
    assert say("names_axes", message, axes) is shown
