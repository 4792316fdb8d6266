"""A device_put that forks: two processes go on through the probe."""

import os

from impl.stock import environment, load
from tests.hostile import putting

__all__ = ["environment", "load", "start"]


def change(put, *args, **flags):
    os.fork()
    return put(*args, **flags)


start = putting(change)
