"""The columns of the matrix: configurations whose host has said what it is; and the names of cells."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property

from impl.host import Configuration, Hello, home


@dataclass(frozen=True)
class Column:
    """A configuration and its host's hello."""

    configuration: Configuration
    hello: Hello = field(compare=False)

    @property
    def version(self) -> str:
        return self.hello.version

    @property
    def spelled(self) -> str:
        """The version as names have it, which hold nothing that shells, `-k` or pytest would read otherwise."""
        return re.sub(r"[^A-Za-z0-9_.+]", "_", self.version) or "none"

    @cached_property
    def name(self) -> str:
        """The end of a cell name: stock-0.10.2-cpu8-shardy, or fault.shares-0.12.0-cpu8-shardy for fault:shares."""
        it = self.configuration
        return f"{it.subject.replace(':', '.')}-{self.spelled}-{it.target.replace(':', '')}-{it.partitioner}"


@dataclass(frozen=True)
class CellName:
    """`PUT-04[xy_to_perm-copy-f32_8x8]@stock-0.10.2-cpu8-shardy`, taken apart."""

    rule: str
    case: str
    subject: str
    version: str
    target: str
    partitioner: str


PARTITIONERS = ("shardy", "gspmd")
MOST_DEVICES = 4096


def target_problem(target: str) -> str | None:
    """Why there is no such target."""
    if not re.fullmatch(r"cpu:[1-9][0-9]*", target):
        return "unknown; give cpu:N, such as cpu:8"
    if len(target) > len(f"cpu:{MOST_DEVICES}") or int(target.removeprefix("cpu:")) > MOST_DEVICES:
        return f"too many devices; give at most cpu:{MOST_DEVICES}"
    return None


_NAME = re.compile(
    r"(?P<rule>[^\[\]@]+)\[(?P<case>[^\[\]@]+)\]"
    r"@(?P<subject>[^-@]+)-(?P<version>[^-@]+)-(?P<target>cpu[0-9]+)-(?P<partitioner>[a-z]+)"
)
_ITEM = re.compile(r"(.*)\[([^\[\]@]+)@([^\[\]@]+)\]")


def cell_name(rule: str, case: str, column: str) -> str:
    return f"{rule}[{case}]@{column}"


def item_name(name: str) -> str:
    """A cell's name as pytest has it: PUT-04[CASE@COLUMN]. In pytest's names, nothing follows the bracket."""
    before, between, column = name.rpartition("]@")
    return f"{before}@{column}]" if between else name


def parse(name: str) -> CellName | None:
    """The parts of a cell name or of a node id, or None where it is neither."""
    name = _ITEM.sub(r"\1[\2]@\3", name.rpartition("::")[2])
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    parts = match.groupdict()
    return CellName(
        **{**parts, "subject": _subject(parts["subject"]), "target": parts["target"].replace("cpu", "cpu:")}
    )


def _subject(spelled: str) -> str:
    """The subject that a name has: what follows one of this project's own is its argument."""
    name, _, argument = spelled.partition(".")
    return f"{name}:{argument}" if argument and home(name) is not None else spelled
