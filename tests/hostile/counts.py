"""The real JAX, and a line in the file $SHARDSPEC_COUNT for each observation begun."""

import os
from typing import Any

from impl import stock
from impl.stock import environment, load

__all__ = ["environment", "load", "start"]


def start(target, partitioner):
    subject: Any = stock.start(target, partitioner)
    hello, see = subject.hello, subject.see

    def counted(note):
        file = os.open(os.environ["SHARDSPEC_COUNT"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.write(file, f"{partitioner} {os.getpid()}\n".encode())
        os.close(file)
        return see(note)

    def observed_from_here_on():
        facts = hello()  # looks around by itself
        subject.see = counted
        return facts

    subject.hello = observed_from_here_on
    return subject
