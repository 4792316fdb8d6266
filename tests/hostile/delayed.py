"""A device_put to reordered devices that returns well and ends the process 50 ms later."""

import ctypes
import threading

from impl.stock import environment, load
from tests.hostile import putting, reordered

__all__ = ["environment", "load", "start"]


def change(put, *args, **flags):
    if reordered(args):
        threading.Timer(0.05, lambda: ctypes.string_at(0)).start()
    return put(*args, **flags)


start = putting(change)
