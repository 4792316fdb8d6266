"""The columns of the matrix: configurations whose host has said what it is; and the names of cells."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from impl.host import Configuration, Hello


@dataclass(frozen=True)
class Column:
    """A configuration and its host's hello."""

    configuration: Configuration
    hello: Hello = field(compare=False)

    @property
    def version(self) -> str:
        return self.hello.version

    @property
    def name(self) -> str:
        """The end of a cell name: stock-0.10.2-cpu8-shardy."""
        it = self.configuration
        return f"{it.subject}-{self.version.replace('-', '_')}-{it.target.replace(':', '')}-{it.partitioner}"


@dataclass(frozen=True)
class CellName:
    """`PUT-04[xy_to_perm-copy-f32_8x8]@stock-0.10.2-cpu8-shardy`, taken apart."""

    rule: str
    case: str
    subject: str
    version: str
    target: str
    partitioner: str


_NAME = re.compile(
    r"(?P<rule>[^\[\]@]+)\[(?P<case>[^\[\]@]+)\]"
    r"@(?P<subject>[^-@]+)-(?P<version>[^-@]+)-(?P<target>cpu\d+)-(?P<partitioner>[a-z]+)"
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
    return CellName(**{**parts, "target": parts["target"].replace("cpu", "cpu:")})
