"""A device_put that stops its process."""

import os
import signal

from impl.stock import environment, load
from tests.hostile import putting

__all__ = ["environment", "load", "start"]
start = putting(lambda *args, **flags: os.kill(os.getpid(), signal.SIGSTOP))
