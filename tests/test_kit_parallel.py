"""How pytest-xdist is told which cells belong together."""

import pytest

from conformance.kit.columns import item_name, parse
from conformance.kit.parallel import scope

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
