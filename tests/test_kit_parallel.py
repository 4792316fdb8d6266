"""How pytest-xdist is told which cells belong together."""

from types import SimpleNamespace

import pytest

from conformance.kit.columns import item_name, parse
from conformance.kit.parallel import scheduler, scope

FILE = "conformance/test_put.py::"


def test_cells_of_one_observation_share_a_scope():
    one, other = (scope(f"{FILE}{rule}[a-b@stock-0.10.2-cpu8-shardy]") for rule in ("PUT-01", "PUT-02"))
    assert one == other == f"{FILE}[a-b@stock-0.10.2-cpu8-shardy]"


@pytest.mark.parametrize(
    "nodeid",
    [
        f"{FILE}PUT-01[a-c@stock-0.10.2-cpu8-shardy]",
        f"{FILE}PUT-01[a-b@stock-0.10.2-cpu8-gspmd]",
        "conformance/test_ord.py::PUT-01[a-b@stock-0.10.2-cpu8-shardy]",
    ],
)
def test_another_case_configuration_or_chapter_is_another_scope(nodeid):
    assert scope(nodeid) != scope(f"{FILE}PUT-01[a-b@stock-0.10.2-cpu8-shardy]")


@pytest.mark.parametrize(
    "nodeid", ["tests/test_a.py::test_b[c]", "tests/test_a.py::T::test_b", "tests/test_a.py::test[a@b]"]
)
def test_other_tests_are_their_own_scope(nodeid):
    assert scope(nodeid) == nodeid


def test_a_node_id_is_as_good_as_a_cell_name():
    name = "PUT-01[a-b]@stock-0.10.2-cpu8-shardy"
    assert item_name(FILE + name) == f"{FILE}PUT-01[a-b@stock-0.10.2-cpu8-shardy]"
    assert parse(item_name(FILE + name)) == parse(name)
    for other in ("conformance", FILE + "PUT-01", "tests/test_a.py::test_b[c]"):
        assert item_name(other) == other


class Node:
    """A worker that is told what to run, and runs nothing."""

    def __init__(self, id):
        self.gateway = SimpleNamespace(id=id)
        self.sent, self.shutting_down = [], False

    def send_runtest_some(self, indices):
        self.sent += indices

    def shutdown(self):
        self.shutting_down = True


@pytest.fixture
def nodes():
    """A scheduler for two workers, both ready."""
    pytest.importorskip("xdist")
    settings = {"dist": "load", "tx": ["2*popen"]}
    config = SimpleNamespace(getvalue=settings.get, option=SimpleNamespace(loadscopereorder=True))
    made = scheduler(config, None)
    both = Node("gw0"), Node("gw1")
    for node in both:
        made.add_node(node)
    return made, *both


CELLS = [f"{FILE}PUT-0{rule}[{case}@stock-0.10.2-cpu8-shardy]" for case in "abcdefgh" for rule in (1, 2)]


def test_a_dead_workers_cells_go_to_its_replacement(nodes):
    made, one, other = nodes
    for node in (one, other):
        made.add_node_collection(node, CELLS)
    made.schedule()
    for node in (one, other):
        for index in list(node.sent)[:3]:
            made.mark_test_complete(node, index)
    ran = other.sent[:3]
    made.remove_node(other)
    third = Node("gw2")
    made.add_node(third)
    made.add_node_collection(third, CELLS)
    made.schedule()
    while not made.tests_finished:  # each has something to go on with, or was told that there is no more
        for node in (one, third):
            pending = [it for it in node.sent if not made.assigned_work[node][scope(CELLS[it])][CELLS[it]]]
            assert len(pending) > 1 or node.shutting_down
            if pending:
                made.mark_test_complete(node, pending[0])
    assert sorted({*one.sent, *third.sent, *ran}) == list(range(len(CELLS)))


def test_a_replacement_that_finds_other_cells_gets_none_and_the_run_ends(nodes):
    made, one, other = nodes
    for node in (one, other):
        made.add_node_collection(node, CELLS[:8])
    made.schedule()
    made.remove_node(other)
    while not one.shutting_down:
        made.mark_test_complete(
            one, next(it for it in one.sent if not made.assigned_work[one][scope(CELLS[it])][CELLS[it]])
        )
    made.remove_node(one)
    third = Node("gw2")
    made.add_node(third)
    made.add_node_collection(third, CELLS[1:])
    made.schedule()
    assert (third.sent, third.shutting_down, made.tests_finished) == ([], True, True)


def test_a_worker_that_dies_before_anything_is_handed_out_is_waited_for(nodes):
    made, one, other = nodes
    made.add_node_collection(one, CELLS)
    made.remove_node(one)
    third = Node("gw2")
    made.add_node(third)
    made.add_node_collection(other, CELLS)
    assert not made.collection_is_completed
    made.add_node_collection(third, CELLS)
    made.schedule()
    assert third.sent
    assert other.sent
