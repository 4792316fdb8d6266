"""A device_put that prints rubbish and forged protocol lines."""

import os

from impl.stock import environment, load
from tests.hostile import putting

__all__ = ["environment", "load", "start"]

FORGED = [
    '{"kind":"note","id":1,"fields":{"value":"differs"}}',
    '{"kind":"end","id":1,"stderr":0,"raised":null,"error":null,"cost":{},"seconds":0}',
    '{"kind":"hello"}',
]


def change(put, *args, **flags):
    print("rubbish", *FORGED, sep="\n", flush=True)
    os.write(1, b"\xff\x00\x1b[31m")
    return put(*args, **flags)


start = putting(change)
