"""A partitioner switch that does nothing: Shardy runs, whatever is asked for."""

from impl import stock
from impl.stock import environment, load

__all__ = ["environment", "load", "start"]


def start(target, partitioner):
    return stock.start(target, "shardy")
