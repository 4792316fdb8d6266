"""The words of a record that every report shares: verdicts, and how a configuration is named."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

HELD = ("conforms", "permitted")
DEVIATING = ("deviates", "crashed", "hung")
UNJUDGED = ("unsupported", "not_run", "error")
VERDICTS = HELD + DEVIATING + UNJUDGED

ALWAYS_SHOWN = ("conforms", "deviates", "crashed")
"""Verdicts whose count is shown even when it is zero: the reader must not have to guess."""

RED_UNLESS_WAIVED = (*DEVIATING, "not_run", "error")
LEVELS = ("MUST", "SHOULD", "MAY")
PARTS = ("subject", "version", "target", "partitioner")
UNLEDGERED = ("model", "fault")
"""Subjects without ledgers: what they do is not written down from version to version, their runs say all of it."""


@dataclass(frozen=True)
class Configuration:
    """What was judged, and where. Two are the same when these four parts are; the rest is what its host said."""

    subject: str
    version: str
    target: str
    partitioner: str

    @property
    def parts(self) -> tuple[str, str, str, str]:
        """The four parts, in the order of ``PARTS``."""
        return self.subject, self.version, self.target, self.partitioner

    @property
    def has_ledger(self) -> bool:
        """Whether a ledger of it is kept."""
        return self.subject.partition(":")[0] not in UNLEDGERED

    @property
    def name(self) -> str:
        """The end of a cell name: ``stock-0.10.2-cpu8-shardy``."""
        target, version = self.target.replace(":", ""), re.sub(r"[^A-Za-z0-9_.+]", "_", self.version) or "none"
        return f"{self.subject.replace(':', '.')}-{version}-{target}-{self.partitioner}"


def release(version: str) -> tuple[list[int], str]:
    """What versions are sorted by: their numbers, then their spelling."""
    return [int(number) for number in re.findall(r"\d{1,18}", version)], version


def labels(configurations: Sequence[Configuration]) -> tuple[str, dict[Configuration, str]]:
    """What all have in common, and for each the parts that tell it apart (always its partitioner)."""
    common = [len({c.parts[i] for c in configurations}) == 1 and part != "partitioner" for i, part in enumerate(PARTS)]
    shared = (
        " ".join(p for p, same in zip(configurations[0].parts, common, strict=True) if same) if configurations else ""
    )
    return shared, {c: " ".join(p for p, same in zip(c.parts, common, strict=True) if not same) for c in configurations}
