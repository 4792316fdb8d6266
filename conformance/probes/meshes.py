"""Sides of a call that lie on different devices, or on the same in another way, as plain data."""

from __future__ import annotations

from .places import Place

LINE = (("x", 4),)
SQUARE = (("x", 2), ("y", 2))

SIDES = {
    "dev0": Place((0,)),
    "dev1": Place((1,)),
    "mesh0": Place((0,), (("x", 1),), ("x",)),
    "mesh1": Place((1,), (("x", 1),), ("x",)),
    "two": Place((0, 1), (("x", 2),), ("x",)),
    "four": Place((0, 1, 2, 3), LINE, ("x",)),
    "other": Place((4, 5, 6, 7), LINE, ("x",)),
    "across": Place((2, 3, 4, 5), LINE, ("x",)),
    "back": Place((3, 2, 1, 0), LINE, ("x",)),
    "eight": Place((0, 1, 2, 3, 4, 5, 6, 7), (("x", 8),), ("x",)),
    "rep": Place((0, 1, 2, 3), LINE),
    "rep_back": Place((3, 2, 1, 0), LINE),
    "square": Place((0, 1, 2, 3), SQUARE, ("x", "y")),
    "square_other": Place((4, 5, 6, 7), SQUARE, ("x", "y")),
    "square_turned": Place((0, 2, 1, 3), SQUARE, ("x", "y")),
    "columns": Place((0, 1, 2, 3), LINE, (None, "x")),
    "renamed": Place((0, 1, 2, 3), (("p", 4),), ("p",)),
    "spelled": Place((0, 1, 2, 3), LINE, ("x", None)),
    "folded": Place((0, 1, 2, 3), SQUARE, (("x", "y"),)),
    "pinned": Place((0, 1, 2, 3), LINE, ("x",), kind="pinned_host"),
    "pinned0": Place((0,), kind="pinned_host"),
    "free": Place((0,), committed=False),
}
"""Where a side of a call lies: one device, with a mesh and without; lines and squares of devices, in several orders."""

APART = {
    "disjoint": ("four", "other"),
    "overlapping": ("four", "across"),
    "subset": ("four", "two"),
    "superset": ("four", "eight"),
    "order": ("four", "back"),
    "one_many": ("dev0", "four"),
    "many_one": ("four", "dev0"),
    "one_one": ("dev0", "dev1"),
    "mesh_one": ("mesh0", "mesh1"),
    "squares": ("square", "square_other"),
    "square_order": ("square", "square_turned"),
    "line_square": ("four", "square_other"),
    "replicas_order": ("rep", "rep_back"),
}
"""Two sides that must not meet: other devices, or the same in another order."""

TOGETHER = {
    "equal": ("four", "four"),
    "spec": ("four", "columns"),
    "replicated": ("rep", "four"),
    "renamed": ("four", "renamed"),
    "folded": ("four", "folded"),
    "shape": ("square", "four"),
    "meshless": ("dev1", "mesh1"),
    "reordered": ("back", "rep_back"),
}
"""Two sides that may meet: the same devices in the same order, however their shardings are written."""

CALLED = {
    "devices": {
        "disjoint": ("four", "other"),
        "overlapping": ("four", "across"),
        "one_one": ("dev0", "dev1"),
        "mesh_one": ("mesh0", "mesh1"),
        "squares": ("square", "square_other"),
    },
    "order": {
        "order": ("four", "back"),
        "square_order": ("square", "square_turned"),
        "replicas_order": ("rep", "rep_back"),
    },
    "size": {
        "fewer": ("four", "two"),
        "more": ("four", "eight"),
        "many_one": ("four", "dev0"),
        "one_many": ("dev0", "four"),
    },
    "spec": {
        "other_spec": ("four", "columns"),
        "gathered": ("four", "rep"),
        "spread": ("rep", "four"),
    },
    "shape": {
        "other_shape": ("four", "square"),
        "flat": ("square", "four"),
    },
    "kind": {
        "kind": ("four", "pinned"),
        "kind_one": ("dev0", "pinned0"),
    },
}
"""What a compiled object is built for, and a committed argument that differs from it in one respect."""

FITTING = {
    "equal": ("four", "four"),
    "renamed": ("four", "renamed"),
    "spelled": ("four", "spelled"),
    "folded": ("four", "folded"),
    "meshless": ("dev1", "mesh1"),
    "meshed": ("mesh1", "dev1"),
    **{
        f"{place}_{loose}": (place, loose)
        for place in ("four", "back", "dev1", "square_other")
        for loose in ("free", "numpy")
    },
}
"""What a compiled object is built for, and an argument that fits: an equivalent sharding, or no commitment."""
