"""Reads what asv has measured. asv's exit status says neither that something was nor that nothing was."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Figure:
    """A benchmark with its parameters, and its median or its count: None if it failed, NaN if it was not run."""

    name: str
    value: float | None

    @property
    def measured(self) -> bool:
        return self.value is not None and not math.isnan(self.value)


def figures(folder: Path, since: float) -> list[Figure]:
    """The figures of benchmarks that began at or after `since` (seconds, as of time.time), of every environment.

    asv keeps older ones in the same files: they are not of this run.
    """
    files = sorted(folder.glob("*/*-*.json"))
    return [figure for file in files for figure in _file(json.loads(file.read_text()), since)]


def _file(content: dict[str, Any], since: float) -> Iterator[Figure]:
    columns = content["result_columns"]
    for name, row in content["results"].items():
        entry = dict(zip(columns, row, strict=False))  # a row ends with its last value
        if entry["started_at"] < int(since * 1000):
            continue
        parameters = list(product(*entry["params"]))
        values = entry["result"] or [None] * len(parameters)
        for each, value in zip(parameters, values, strict=True):
            yield Figure(f"{name}({', '.join(each)})" if each else name, value)
