"""Small record files for the tests of `reports`."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

PLACE = {"subject": "stock", "version": "0.10.2", "target": "cpu:8", "partitioner": "shardy"}
RED = ("deviates", "crashed", "hung", "error", "not_run")

Record = dict[str, Any]


def header(**said: Any) -> Record:
    usual = {"project": "abc", "started": "2026-12-01T04:00:00Z", "selected": False, "writer": "main"}
    return {"kind": "header", "schema": 1, **usual, **said}


def configuration(**said: Any) -> Record:
    return {
        "kind": "configuration",
        **PLACE,
        "python": "3.11.7",
        "devices": 8,
        "witness": "shardy",
        "problem": None,
        **said,
    }


def cell(rule: str = "PUT-01", case: str = "a-copy-f32", verdict: str = "conforms", **said: Any) -> Record:
    """A cell as the suite writes it; a field given as `...` is left out."""
    place = PLACE | {key: said[key] for key in PLACE if key in said}
    observed = {"input": "deleted" if verdict in ("conforms", "permitted") else "intact"}
    waiver = said.get("waiver")
    target = str(place["target"]).replace(":", "")
    record = {
        "kind": "cell",
        "rule": rule,
        "chapter": rule.split("-")[0],
        "level": "MUST",
        "case": case,
        **place,
        "verdict": verdict,
        "outcome": None,
        "expected": {"input": "deleted"},
        "observed": observed,
        "reason": None,
        "waiver": None,
        "unexpected": verdict in RED and waiver is None,
        "witness": place["partitioner"],
        "cost": {"compile": 0},
        "attempt": 1,
        "seconds": 0.25,
        "name": f"{rule}[{case}]@{place['subject']}-{place['version']}-{target}-{place['partitioner']}",
        "observation": "put.put",
        **said,
    }
    return {key: value for key, value in record.items() if value is not ...}


def question(answer: str = "all", **said: Any) -> Record:
    return {"kind": "question", "question": "PUT-Q1", "case": "a", **PLACE, "observed": {"shares": answer}, **said}


def footer(*cells: Record, **said: Any) -> Record:
    """The footer that these cells should have."""
    last = {(c["rule"], c["case"], *(c[key] for key in PLACE)): c for c in cells if c["kind"] == "cell"}.values()
    counted = {
        "cells": len(last),
        "verdicts": dict(Counter(c["verdict"] for c in last)),
        "unexpected": sum(c.get("unexpected", False) for c in last),
        "observations": 1,
        "complete": True,
    }
    return {"kind": "footer", **counted, **said}


def write(path: Path, *records: Record | bytes) -> Path:
    """A record file of exactly these lines; bytes are written as they are, without a line end."""
    path.write_bytes(b"".join(r if isinstance(r, bytes) else json.dumps(r).encode() + b"\n" for r in records))
    return path


def whole(path: Path, *cells: Record, **said: Any) -> Path:
    """A whole run of these cells."""
    return write(path, header(**said), *cells, footer(*cells))
