"""A device_put that sleeps for ever."""

import time

from impl.stock import environment, load
from tests.hostile import putting

__all__ = ["environment", "load", "start"]
start = putting(lambda *args, **flags: time.sleep(1e6))
