"""Records: whole lines or none, also on a full disk; parts merged by their footers; partial ones never called whole."""

import json
import multiprocessing
import resource

import pytest

from conformance.kit import records
from conformance.kit.records import Totals, Writer
from conformance.kit.strict import Mistake

HEADER = {"kind": "header", "schema": 1, "writer": "main", "selected": False}
PLACE = {"subject": "stock", "version": "1", "target": "cpu:8", "partitioner": "shardy"}


def cell(name, verdict="conforms", unexpected=False):
    return {"kind": "cell", "name": name, "verdict": verdict, "unexpected": unexpected, **PLACE}


def footer(*cells, complete=True, **counts):
    totals = Totals()
    for line in cells:
        totals.add(line)
    return totals.footer(complete, counts)


def configuration(cells):
    return {"kind": "configuration", "cells": cells, **PLACE}


def write(path, *lines):
    path.write_bytes(b"".join(map(records.encode, lines)))


def read(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_lines_are_on_disk_as_soon_as_they_are_written(tmp_path):
    path = tmp_path / "a.jsonl"
    earlier = '{"kind":"header","writer":"main"}\n'
    path.write_text(earlier)
    writer = Writer(path)
    assert path.read_text() == earlier  # until there is something to record
    writer.begin(HEADER)
    writer.write(cell("a"))
    assert read(path) == [HEADER, cell("a")]
    writer.close()


def test_a_file_made_for_nothing_is_removed_and_an_earlier_record_kept(tmp_path):
    Writer(tmp_path / "new.jsonl").close()
    (tmp_path / "old.jsonl").write_text('{"kind":"header"}\n')
    Writer(tmp_path / "old.jsonl").close()
    assert [path.name for path in tmp_path.iterdir()] == ["old.jsonl"]


def test_what_cannot_be_written_is_told_before_the_run(tmp_path):
    for path in (tmp_path, tmp_path / "no" / "a.jsonl"):
        with pytest.raises(Mistake, match=r"--record .* cannot be written: .*; name another file"):
            Writer(path)
    with pytest.raises(Mistake, match="not a regular file"):
        Writer(type(tmp_path)("/dev/full"))
    notes = tmp_path / "notes.md"
    notes.write_text("what a user would miss\n")
    with pytest.raises(Mistake, match="something else than a record"):
        Writer(notes)
    assert notes.read_text() == "what a user would miss\n"


def test_two_runs_do_not_write_one_file(tmp_path):
    first = Writer(tmp_path / "a.jsonl")
    with pytest.raises(Mistake, match="is being written by another run"):
        Writer(tmp_path / "a.jsonl")
    first.close()
    Writer(tmp_path / "a.jsonl").close()


def _fill(path, limit, trouble):
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    writer = Writer(path)
    writer.begin(HEADER)
    for number in range(100):
        writer.write(cell(f"cell {number}"))
    trouble.send(writer.trouble)


def test_a_full_disk_costs_nothing_that_was_recorded(tmp_path):
    path = tmp_path / "a.jsonl"
    ours, theirs = multiprocessing.Pipe()
    limit = 1000  # not at the end of a line
    process = multiprocessing.get_context("fork").Process(target=_fill, args=(path, limit, theirs))
    process.start()
    process.join()
    trouble = ours.recv()
    lines = read(path)  # each is whole
    assert lines[:3] == [HEADER, cell("cell 0"), cell("cell 1")]
    assert limit - 200 < path.stat().st_size <= limit
    assert path.read_bytes().endswith(b"\n")
    assert str(path) in trouble
    assert "File too large" in trouble
    assert "\n" not in trouble


def test_totals_count_the_last_word_on_each_cell():
    first = [cell("a"), cell("b", "deviates", True), cell("a", "crashed", True)]
    told = footer(*first, observations=2, reruns=1)
    assert (told["cells"], told["unexpected"], told["observations"], told["reruns"]) == (2, 2, 2, 1)
    assert told["verdicts"] == {"deviates": 1, "crashed": 1}


@pytest.fixture
def parts(tmp_path):
    """The parts of two workers, whole unless a test spoils one."""
    path = tmp_path / "a.jsonl"
    write(path, {**HEADER, "selected": True})
    gate = records.gate("review mark", "text")
    shares = {"gw0": [cell("a"), cell("b")], "gw1": [cell("c", "crashed", True)]}
    for worker, cells in shares.items():
        head = {**HEADER, "writer": worker}
        write(records.part(path, worker), head, configuration(3), gate, *cells, footer(*cells, observations=1))
    return path


def test_parts_are_merged_once_their_footers_are_there(parts):
    merged = records.merge(parts)
    assert read(parts) == merged
    assert [line["kind"] for line in merged] == ["header", "configuration", "gate", "cell", "cell", "cell", "footer"]
    assert (merged[0]["writer"], merged[0]["selected"]) == ("main", False)
    last = merged[-1]
    assert (last["cells"], last["unexpected"], last["observations"], last["complete"]) == (3, 1, 2, True)
    assert list(parts.parent.iterdir()) == [parts]


def test_a_later_line_replaces_an_earlier_one(parts):
    part = records.part(parts, "gw1")
    lines = read(part)
    write(part, *lines[:-1], cell("c"), footer(cell("c")))
    merged = records.merge(parts)
    assert [line["verdict"] for line in merged if line["kind"] == "cell"] == ["conforms"] * 3


@pytest.mark.parametrize("spoil", ["no footer", "incomplete", "cut off", "cells missing"])
def test_a_merge_with_a_partial_part_is_partial(parts, spoil):
    part = records.part(parts, "gw1")
    lines = read(part)
    if spoil == "no footer":
        write(part, *lines[:-1])
    elif spoil == "incomplete":
        write(part, *lines[:-1], {**lines[-1], "complete": False})
    elif spoil == "cut off":
        part.write_bytes(part.read_bytes()[:-20])
    else:
        write(part, *lines[:-2], footer())
    merged = records.merge(parts)
    assert merged[-1]["complete"] is False
    assert {line["name"] for line in merged if line["kind"] == "cell"} >= {"a", "b"}


def test_parts_that_cannot_be_merged_are_kept(parts):
    (parts.parent / "a.jsonl.merging").mkdir()
    with pytest.raises(Mistake, match=r"kept beside it: a.jsonl.gw0, a.jsonl.gw1"):
        records.merge(parts)
    assert len(records.parts(parts)) == 2


def test_without_parts_nothing_is_merged(tmp_path):
    path = tmp_path / "a.jsonl"
    write(path, HEADER)
    assert records.merge(path) == []
    assert read(path) == [HEADER]


def test_flags_are_what_the_user_has_set_beyond_what_the_target_decides():
    theirs = {"JAX_ENABLE_X64": "1", "JAX_PLATFORMS": "cpu", "JAX_DEBUG_NANS": "", "HOME": "/x"}
    own = "--xla_force_host_platform_device_count=2"
    assert records.flags(theirs | {"XLA_FLAGS": f"{own} --xla_a=1"}) == {
        "JAX_ENABLE_X64": "1",
        "XLA_FLAGS": "--xla_a=1",
    }
    assert records.flags({"XLA_FLAGS": own, "JAX_NUM_CPU_DEVICES": "2"}) == {}
