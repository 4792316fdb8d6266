"""pytest-xdist: cells that share an observation stay on one worker, so that it is taken once."""

from __future__ import annotations

from collections.abc import Sequence
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
        """Unlike its base, it comes to an end when a worker has died and is replaced."""

        def _split_scope(self, nodeid: str) -> str:
            return scope(nodeid)

        def add_node_collection(self, node: Any, collection: Sequence[str]) -> None:
            super().add_node_collection(node, collection)
            if node not in self.registered_collections:  # a replacement that found other cells gets none
                node.shutdown()
                if all(it.shutting_down for it in self.nodes):  # nobody is left for what remains
                    self.workqueue.clear()

        def remove_node(self, node: Any) -> Any:
            if self.collection is None:  # nothing was handed out yet: its replacement has to collect first
                self.registered_collections.pop(node, None)
            return super().remove_node(node)

        def _reschedule(self, node: Any) -> None:
            # A worker keeps its last item until it is sent more, or that there is no more. All scopes of a dead one are
            # handed out again, those that are done too: to send a single one, as the base does, may be to send nothing.
            if node.shutting_down or node not in self.registered_collections:
                return
            while self.workqueue and self._pending_of(self.assigned_work[node]) <= 2:
                self._assign_work_unit(node)
            if not self.workqueue:
                node.shutdown()

    return ByObservation(config, log)
