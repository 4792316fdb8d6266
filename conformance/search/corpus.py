"""Programs that are kept: those that show what is known of JAX, and those that have been worth a look."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("corpus.toml")

USUAL: dict[str, dict[str, Any]] = {
    "eager": {"under": None},
    "call": {"where": None, "donate": [], "in": None, "out": None, "keep": False, "under": None, "hot": 0},
    "compiled": {"where": None, "donate": [], "in": None, "out": None, "keep": False},
}
"""What steps say that say nothing of it."""


@dataclass(frozen=True)
class Kept:
    """A program by name. Where it shows a finding, `differs` is how the difference starts."""

    name: str
    why: str
    steps: list[dict[str, Any]]
    differs: str = ""


def load() -> dict[str, Kept]:
    """The programs that are kept, by name."""
    written = tomllib.loads(FILE.read_text(encoding="utf-8"))["program"]
    kept = {it["name"]: Kept(**{**it, "steps": [*map(said, it["steps"])]}) for it in written}
    if len(kept) < len(written):
        raise ValueError(f"{FILE}: a program's name is there twice")
    return kept


def said(step: dict[str, Any]) -> dict[str, Any]:
    """A step with all that its probe asks for."""
    return {**USUAL.get(step["do"], {}), **step}
