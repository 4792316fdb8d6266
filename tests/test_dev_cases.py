"""DEV's own tables: sides that are called apart lie apart, ways to meet are those that the contract lists."""

from itertools import combinations_with_replacement

import pytest

from conformance import test_dev as chapter
from conformance.probes import dev
from conformance.probes.meshes import APART, CALLED, FITTING, SIDES, TOGETHER


def devices(pair):
    return [SIDES[side].devices for side in pair]


def cut(side):
    """How a place cuts an array."""
    return SIDES[side].axes, SIDES[side].spec


@pytest.mark.parametrize("name", APART)
def test_sides_apart_differ_in_devices_or_in_their_order(name):
    one, other = devices(APART[name])
    assert one != other
    assert (sorted(one) == sorted(other)) == name.endswith("order")


@pytest.mark.parametrize("name", TOGETHER)
def test_sides_together_have_the_same_devices_in_the_same_order(name):
    one, other = devices(TOGETHER[name])
    assert one == other
    assert (cut(TOGETHER[name][0]) != cut(TOGETHER[name][1])) == (name != "equal")


DIFFER = {
    "devices": lambda one, other: len(one.devices) == len(other.devices) and set(one.devices) != set(other.devices),
    "order": lambda one, other: one.devices != other.devices and set(one.devices) == set(other.devices),
    "size": lambda one, other: len(one.devices) != len(other.devices),
    "spec": lambda one, other: (one.devices, one.axes) == (other.devices, other.axes) and one.spec != other.spec,
    "shape": lambda one, other: one.devices == other.devices and one.axes != other.axes,
    "kind": lambda one, other: one.devices == other.devices and one.spec == other.spec and one.kind != other.kind,
}


@pytest.mark.parametrize(("differs", "fault"), [(differs, fault) for differs in CALLED for fault in CALLED[differs]])
def test_a_fault_is_the_one_that_it_is_called(differs, fault):
    sides = [SIDES[side] for side in CALLED[differs][fault]]
    assert [name for name, differ in DIFFER.items() if differ(*sides)] == [differs]


def test_what_fits_is_on_the_devices_it_was_built_for_or_nowhere():
    for built, given in FITTING.values():
        assert given in dev.LOOSE or SIDES[given].devices == SIDES[built].devices


def test_each_kind_of_side_meets_each_other():
    """The pairs that the contract lists."""
    met = {frozenset(dev.MEETINGS[case.meeting].parts) for case in chapter.meetings}
    sides = ("argument", "in_shardings", "out_shardings", "constraint", "shard_map")
    assert {frozenset(pair) for pair in combinations_with_replacement(sides, 2)} <= met


def test_each_way_to_meet_is_tried_with_other_devices_other_numbers_and_another_order():
    """But for a shard_map, whose side has a mesh: one device alone has none."""
    tried = {(case.meeting, case.sides) for case in chapter.meetings}
    ways = {(meeting, sides) for meeting in dev.MEETINGS for sides in chapter.SOME}
    assert {"disjoint", "order", "subset", "superset", "one_many", "many_one"} == set(chapter.SOME)
    assert {meeting for meeting, _ in ways - tried} <= {it for it in dev.MEETINGS if "map" in it}
    assert {sides for _, sides in ways - tried} <= {"one_many", "many_one"}
    assert {sides for _, sides in tried} == set(APART)


def test_the_tables_of_calls_speak_of_the_same():
    assert dev.CALLS.keys() == dev.MEETINGS.keys() >= set(dev.ADD)
    assert dev.PROGRAMS.keys() == dev.GIVES.keys() >= dev.IN_QUESTION.keys()
    assert CALLED.keys() == dev.SHOWN.keys()
