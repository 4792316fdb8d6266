"""The protocol's schema and its lines."""

import json

import pytest

from impl.host import messages
from impl.host.messages import LIMIT, Lines, ProtocolError, decode, encode

HELLO = {
    "kind": "hello",
    "protocol": messages.VERSION,
    "versions": {},
    "devices": [],
    "memory_kinds": [],
    "capabilities": [],
    "partitioner": None,
    "problem": None,
}


def test_a_subject_may_say_how_it_spells_names():
    for more in ({}, {"spellings": {"set_mesh": "jax.sharding.use_mesh"}}):
        assert decode(json.dumps(HELLO | more).encode()) == HELLO | more


def test_a_message_survives_the_wire_in_pieces():
    line = encode("note", id=3, fields={"value": "same", "ids": [1, None, 2.5]}) + encode("begin", id=4, stderr=0)
    lines = Lines()
    seen = [message for i in range(len(line)) for message in lines.feed(line[i : i + 1])]
    assert seen == [
        {"kind": "note", "id": 3, "fields": {"value": "same", "ids": [1, None, 2.5]}},
        {"kind": "begin", "id": 4, "stderr": 0},
    ]


@pytest.mark.parametrize(
    ("line", "names"),
    [
        (b"rubbish", "not a message"),
        (b"\xff\xfe", "not a message"),
        (b"[" * 100_000, "not a message"),
        (b"[1]", "kind None"),
        (b'{"kind": "evaluate"}', "'evaluate'"),
        (b'{"kind": ["end"]}', "kind"),
        (b'{"kind": "begin", "id": 1}', "without 'stderr'"),
        (b'{"kind": "begin", "id": "1", "stderr": 0}', "'id'"),
        (b'{"kind": "begin", "id": true, "stderr": 0}', "'id'"),
        (b'{"kind": "begin", "id": 1, "stderr": 0, "more": 1}', "'more'"),
        (b'{"kind": "note", "id": 1, "fields": []}', "'fields'"),
        (json.dumps(HELLO | {"spellings": []}).encode(), "'spellings' of a hello message is a list"),
        (json.dumps(HELLO | {"spellings": {"jit": 1}}).encode(), "'spellings' of a hello message holds a int"),
    ],
)
def test_what_is_no_message_is_refused_by_name(line, names):
    with pytest.raises(ProtocolError, match=names):
        decode(line)


def test_a_line_without_end_is_refused_before_it_fills_the_memory():
    lines = Lines()
    lines.feed(b"x" * (LIMIT - 1))
    with pytest.raises(ProtocolError, match="a line over"):
        lines.feed(b"x" * 2)


def test_only_plain_data_of_bounded_size_is_sent():
    for value in (object(), {1, 2}, b"bytes", float("nan")):
        with pytest.raises((TypeError, ValueError)):
            encode("note", id=1, fields={"value": value})
    with pytest.raises(ValueError, match="the limit"):
        encode("note", id=1, fields={"value": "x" * LIMIT})


def test_every_kind_has_a_schema():
    assert set(messages.REQUIRED) == {"hello", "request", "begin", "note", "end"}
