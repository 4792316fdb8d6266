"""A device_put that segfaults at once."""

import ctypes

from impl.stock import environment, load
from tests.hostile import putting

__all__ = ["environment", "load", "start"]
start = putting(lambda *args, **flags: ctypes.string_at(0))
