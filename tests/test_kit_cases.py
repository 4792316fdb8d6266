"""Cases, the layout of cells, and their names."""

from dataclasses import dataclass

import pytest

from conformance.kit import Case, every, judge
from conformance.kit.cells import lay_out
from conformance.kit.columns import CellName, Column, parse
from conformance.kit.rules import Chapter, Question, Rule
from conformance.kit.strict import Globs, Mistake
from impl.host import Configuration, Hello


@dataclass(frozen=True)
class Put(Case):
    source: str
    flags: str

    @property
    def donates(self) -> bool:
        return self.flags == "donate"


puts = every(Put, source=("xy", "one"), flags=("copy", "donate"))


def rule(id, when=None, **more):
    given = {"id": id, "text": "t", "why": "w", "change": 1, "since": "0.4.34", "cases": "puts", "expect": {"a": 1}}
    return Rule(**{**given, "when": when or {}, **more})


def column(version="0.10.2", partitioner="shardy", subject="stock"):
    return Column(Configuration(subject, "python", "cpu:8", partitioner), Hello(versions={"jax": version}))


def names(chapter, columns, cases=puts):
    layout = lay_out(chapter, "puts", judge(probe="put.put", cases=cases), columns)
    return [cell.name for look in layout.looks() for cell in look.cells()]


def test_every_combination_with_readable_ids():
    assert [case.id for case in puts] == ["xy-copy", "xy-donate", "one-copy", "one-donate"]
    assert [case.id for case in puts.where(lambda case: case.donates)] == ["xy-donate", "one-donate"]
    assert puts.by_id["one-copy"].data() == {"source": "one", "flags": "copy"}


def test_unsafe_and_ambiguous_ids_and_wrong_fields_are_refused():
    with pytest.raises(ValueError, match="use only letters, digits"):
        judge(probe="put.put", cases=every(Put, source=("x y",), flags=("copy",)))
    with pytest.raises(ValueError, match=r"share the id a-b-c"):
        judge(probe="put.put", cases=every(Put, source=("a", "a-b"), flags=("b-c", "c")))
    with pytest.raises(ValueError, match="wants values for source, flags; flags is missing"):
        every(Put, source=("xy",))
    with pytest.raises(ValueError, match="colour is missing or unknown"):
        every(Put, source=("xy",), flags=("copy",), colour=("red",))


def test_a_limit_that_is_none():
    with pytest.raises(ValueError, match="limit 0: give seconds above 0"):
        judge(probe="put.put", cases=puts, limit=0)


def test_cells_go_by_case_then_configuration_then_rule():
    chapter = Chapter("PUT", "", (rule("PUT-01"), rule("PUT-02", {"donates": Globs(("true",))})))
    assert names(chapter, [column(), column(partitioner="gspmd")], cases=puts.where(lambda c: c.source == "xy")) == [
        "PUT-01[xy-copy]@stock-0.10.2-cpu8-shardy",
        "PUT-01[xy-copy]@stock-0.10.2-cpu8-gspmd",
        "PUT-01[xy-donate]@stock-0.10.2-cpu8-shardy",
        "PUT-02[xy-donate]@stock-0.10.2-cpu8-shardy",
        "PUT-01[xy-donate]@stock-0.10.2-cpu8-gspmd",
        "PUT-02[xy-donate]@stock-0.10.2-cpu8-gspmd",
    ]


def test_a_rule_out_of_force_has_no_cells_there_only():
    chapter = Chapter("PUT", "", (rule("PUT-01", since="0.10"),))
    assert {name.partition("@")[2] for name in names(chapter, [column("0.9.2"), column()])} == {
        "stock-0.10.2-cpu8-shardy"
    }


def test_an_observation_is_shared_with_the_rules_that_are_not_chosen():
    chapter = Chapter("PUT", "", (rule("PUT-01"), rule("PUT-02")))
    layout = lay_out(chapter, "puts", judge(probe="put.put", cases=puts), [column()])
    look = next(iter(layout.looks()))
    (cell,) = look.cells(lambda rule: rule.id == "PUT-02")
    assert cell.rule.id == "PUT-02"
    assert [rule.id for rule in cell.look.rules] == ["PUT-01", "PUT-02"]


@pytest.mark.parametrize("entry", ["when", "expect", "question"])
def test_a_word_that_the_cases_do_not_have_is_told(entry):
    if entry == "question":
        chapter = Chapter(
            "PUT", "", question=(Question("PUT-Q1", "t", "w", 1, "puts", ("a",), {"flag": Globs(("x",))}),)
        )
    elif entry == "when":
        chapter = Chapter("PUT", "", (rule("PUT-01", {"flag": Globs(("copy",))}),))
    else:
        chapter = Chapter("PUT", "", (rule("PUT-01", expect={"a": "@flag"}),))
    with pytest.raises(Mistake, match=r"speaks of flag, .* Put has donates, flags, id, source"):
        names(chapter, [column()])


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        (
            "PUT-04[xy_to_perm-copy-f32_8x8]@stock-0.10.2-cpu8-shardy",
            ("PUT-04", "xy_to_perm-copy-f32_8x8", "stock", "0.10.2", "cpu:8", "shardy"),
        ),
        (
            "conformance/test_put.py::PUT-04[a.b+c]@my.subject-0.12.0.dev1+g0-cpu16-gspmd",
            ("PUT-04", "a.b+c", "my.subject", "0.12.0.dev1+g0", "cpu:16", "gspmd"),
        ),
        (
            "PUT-04[a]@fault.copy_is_alias-0.12.0-cpu8-shardy",
            ("PUT-04", "a", "fault:copy_is_alias", "0.12.0", "cpu:8", "shardy"),
        ),
        ("PUT-04[a]@model.0.8.3-0.8.3-cpu8-gspmd", ("PUT-04", "a", "model:0.8.3", "0.8.3", "cpu:8", "gspmd")),
    ],
)
def test_cell_names_are_read_back(name, parts):
    assert parse(name) == CellName(*parts)


@pytest.mark.parametrize(
    "name", ["PUT-04", "PUT-04[a]", "PUT-04[a]@stock", "PUT-04[a]@stock-1-tpu-shardy", "[a]@b-c-cpu8-d"]
)
def test_what_is_no_cell_name(name):
    assert parse(name) is None


def test_the_names_of_cells_can_always_be_read_back():
    chapter = Chapter("PUT", "", (rule("PUT-01"),))
    for odd in (
        column("0.10.2-custom.1", subject="my.own"),
        column("none"),
        column("1/2 [x]@\né-y"),
        column("", subject="fault:it"),
    ):
        for name in names(chapter, [odd]):
            parts = parse(name)
            assert parts is not None
            assert (parts.subject, parts.target, parts.partitioner) == (odd.configuration.subject, "cpu:8", "shardy")
