"""A device_put that loops in C and never gives the interpreter lock back."""

import ctypes

from impl.stock import environment, load
from tests.hostile import putting

__all__ = ["environment", "load", "start"]
start = putting(lambda *args, **flags: ctypes.PyDLL(None).sleep(100_000))
