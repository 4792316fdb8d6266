"""Runs and frames as plain data, for ``--json``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from reports.run import Run

if TYPE_CHECKING:
    import pandas as pd

_OBJECTS = ("expected", "observed", "cost")


def about(run: Run) -> dict[str, Any]:
    """What a run is, without its cells."""
    header = run.headers[0] if run.headers else None
    return {
        "file": str(run.path),
        "project": header.project if header else None,
        "started": header.started if header else None,
        "partial": run.partial,
        "selected": run.selected,
        "flags": run.flags,
        "problems": list(run.problems),
        "cells": len(run.cells),
        "observations": run.observations,
        "configurations": [judged.configuration.name for judged in run.configurations],
    }


def rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """One object per row; null where the frame has nothing; expectations and observations as objects."""
    columns: dict[str, list[Any]] = {}
    for name in frame.columns:
        values = frame[name].astype(object)
        cells = values.where(values.notna(), None).tolist()
        if name.split("_")[0] in _OBJECTS:
            cells = [None if text is None else json.loads(text) for text in cells]
        columns[name] = cells
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
