"""The targets that subjects run on."""

from __future__ import annotations


def cpus(target: str) -> int:
    """How many devices the target `cpu:N` asks for; ValueError where it is no such target."""
    platform, _, count = target.partition(":")
    if platform != "cpu" or not count.isdecimal() or int(count) < 1:
        raise ValueError(f"unknown target {target}: write cpu:N, such as cpu:8")
    return int(count)
