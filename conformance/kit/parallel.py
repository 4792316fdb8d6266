"""pytest-xdist: cells that share an observation stay on one worker, so that it is taken once."""

from __future__ import annotations

from typing import Any

from .columns import parse


def scope(nodeid: str) -> str:
    """A cell's node id without its rule; any other item's own."""
    if parse(nodeid) is None:
        return nodeid
    file, _, name = nodeid.rpartition("::")
    return f"{file}::[{name.partition('[')[2]}"


def scheduler(config: Any, log: Any) -> Any:
    """A scheduler that hands out whole scopes, or None where the distribution asked for keeps them anyway."""
    if config.getvalue("dist") not in ("load", "worksteal", "loadgroup"):
        return None
    from xdist.scheduler import LoadScopeScheduling

    class ByObservation(LoadScopeScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            return scope(nodeid)

    return ByObservation(config, log)
