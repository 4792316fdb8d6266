"""A device_put whose result is off by one."""

from impl.stock import environment, load
from tests.hostile import putting

__all__ = ["environment", "load", "start"]
start = putting(lambda put, *args, **flags: put(*args, **flags) + 1)
