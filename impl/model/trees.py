"""Pytrees: containers within containers, whose leaves are what a call is about.

Containers are dicts, lists, tuples, named tuples and None, which has no leaves. A prefix of a tree is a tree that
stops early: its leaf speaks for all leaves beneath it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any


@dataclass(frozen=True)
class Tree:
    """The structure of a pytree: a kind of container with its keys and children, or a leaf (no kind)."""

    kind: type | None = None
    keys: tuple[Any, ...] = ()
    children: tuple[Tree, ...] = ()

    @cached_property
    def leaves(self) -> int:
        """How many leaves there are."""
        return sum(child.leaves for child in self.children) if self.kind else 1

    @cached_property
    def paths(self) -> tuple[str, ...]:
        """How each leaf is reached: "['a'][0]", and "" for a tree that is a leaf."""
        if self.kind is None:
            return ("",)
        steps = zip(self.keys, self.children, strict=True)
        return tuple(f"{_step(self.kind, key)}{path}" for key, child in steps for path in child.paths)

    def build(self, leaves: Iterator[Any]) -> Any:
        """The pytree of that structure over the next leaves."""
        if self.kind is None:
            return next(leaves)
        return _build(self.kind, self.keys, [child.build(leaves) for child in self.children])


LEAF = Tree()


def flatten(tree: Any) -> tuple[list[Any], Tree]:
    """The leaves of a pytree, and its structure."""
    found: list[Any] = []
    return found, _structure(tree, found)


def unflatten(structure: Tree, leaves: Iterable[Any]) -> Any:
    """The pytree of that structure over those leaves."""
    return structure.build(iter(leaves))


def leaves(tree: Any) -> list[Any]:
    """The leaves of a pytree."""
    return flatten(tree)[0]


def structure(tree: Any) -> Tree:
    """The structure of a pytree."""
    return flatten(tree)[1]


def map(f: Callable[..., Any], tree: Any, *rest: Any) -> Any:
    """The pytree of what `f` gives for each leaf, and for those of the rest at its place."""
    found, structure = flatten(tree)
    others = [flatten(other) for other in rest]
    for _, other in others:
        if other != structure:
            raise ValueError("the pytrees that are mapped together differ in structure")
    columns = [found, *(it for it, _ in others)]
    return unflatten(structure, [f(*row) for row in zip(*columns, strict=True)])


def spread(prefix: Any, structure: Tree, name: str) -> list[Any]:
    """What a prefix says of each leaf; None anywhere in it says None of the leaves beneath.

    Where it is no prefix: a ValueError that says which argument (`name`) it was, and where it departs from the tree.
    """
    return list(_spread(prefix, structure, name, ""))


def _spread(prefix: Any, structure: Tree, name: str, path: str) -> Iterator[Any]:
    kind, keys, children = _parts(prefix)
    if kind in (None, type(None)):  # a leaf of the prefix
        yield from [prefix] * structure.leaves
        return
    if (kind, keys) != (structure.kind, structure.keys):
        raise ValueError(
            f"the {name} argument is no prefix of the pytree: at {path or 'its top'} it is {_says(kind, keys)}, "
            f"the tree is {_says(structure.kind, structure.keys)}"
        )
    for key, child, beneath in zip(keys, children, structure.children, strict=True):
        yield from _spread(child, beneath, name, path + _step(kind, key))


def departs(one: Tree, other: Tree) -> str:
    """Where two structures first differ: the path to it, and there what is not in both."""
    if (one.kind, one.keys) == (other.kind, other.keys):
        steps = zip(one.keys, one.children, other.children, strict=True)
        key, *both = next(it for it in steps if it[1] != it[2])
        return f"{_step(one.kind, key) if one.kind else ''}{departs(*both)}"
    missing = [*(key for key in one.keys if key not in other.keys), *(key for key in other.keys if key not in one.keys)]
    return f", {_says(one.kind, one.keys)} and {_says(other.kind, other.keys)}, {missing or ''}".rstrip(", ")


def _structure(tree: Any, found: list[Any]) -> Tree:
    kind, keys, children = _parts(tree)
    if kind is None:
        found.append(tree)
        return LEAF
    return Tree(kind, keys, tuple([_structure(child, found) for child in children]))


def _parts(tree: Any) -> tuple[Any, tuple[Any, ...], Sequence[Any]]:
    """The kind of container, its keys in order, and its children; no kind for a leaf."""
    kind = type(tree)
    if kind in (list, tuple):
        return kind, tuple(range(len(tree))), tree
    if kind is dict:
        keys = _sorted(tree)
        return kind, keys, [tree[key] for key in keys]
    if kind is OrderedDict:
        return kind, tuple(tree), list(tree.values())
    if tree is None:
        return kind, (), ()
    if isinstance(tree, tuple) and hasattr(kind, "_fields"):
        return kind, kind._fields, tree
    return None, (), ()


def _sorted(tree: dict[Any, Any]) -> tuple[Any, ...]:
    try:
        return tuple(sorted(tree))
    except TypeError:
        raise ValueError(f"the keys of a dict in a pytree have an order among them: got {list(tree)}") from None


def _build(kind: type, keys: tuple[Any, ...], children: list[Any]) -> Any:
    if kind is type(None):
        return None
    if kind in (list, tuple):
        return kind(children)
    if hasattr(kind, "_fields"):
        return kind(*children)
    return kind(zip(keys, children, strict=True))


def _step(kind: type, key: Any) -> str:
    return f".{key}" if hasattr(kind, "_fields") else f"[{key!r}]"


def _says(kind: type | None, keys: tuple[Any, ...]) -> str:
    if kind is None:
        return "a leaf"
    if kind is type(None):
        return "None"
    if kind in (list, tuple):
        return f"a {kind.__name__} of {len(keys)}"
    return f"a {kind.__name__} of {', '.join(map(repr, keys))}"
