"""Deliberately broken models: each takes one step of the executable model wrongly, and names the rules that it breaks.

A module for each chapter, and one more for what PUT says of programs and transformations. As a subject, `fault:NAME` is
the model with that fault; `fault` alone is the model without one, `fault:0.9.2` the same as of that JAX, and counts as
its cost which of the steps it took that faults take wrongly.
"""

from __future__ import annotations

import inspect
import pkgutil
import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property, wraps
from importlib import import_module
from inspect import getattr_static
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from impl.model.model import Model
    from impl.model.subject import Subject

ROOT = Path(__file__).parents[2]
M = TypeVar("M", bound="type[Model]")
BY_PYTHON = {"__module__", "__doc__", "__annotations__", "__firstlineno__", "__static_attributes__"}
"""What every class has of its own."""
STEPS = (FunctionType, staticmethod)
LIST = "python -m conformance faults --list"


@dataclass(frozen=True)
class Fault:
    """One way to be wrong. It breaks the rules in `breaks`, and beside them, unavoidably, those in `also`."""

    name: str
    breaks: tuple[str, ...]
    also: tuple[str, ...]
    model: type[Model]
    why: str
    contract: str = ""
    """The version of JAX whose contract it breaks; none is the newest."""

    @cached_property
    def steps(self) -> frozenset[str]:
        """The steps that it takes its own way; none where it changes the model otherwise, so that any may be wrong."""
        from impl.model.model import Model

        names = {name for kind in self.model.__mro__ if not issubclass(Model, kind) for name in vars(kind)}
        changed = frozenset(name for name in names - BY_PYTHON if hasattr(Model, name))
        return changed if all(isinstance(getattr_static(Model, name), STEPS) for name in changed) else frozenset()

    @property
    def where(self) -> str:
        """Its place in the source: impl/faults/put.py:120."""
        file, (_, line) = Path(inspect.getfile(self.model)), inspect.getsourcelines(self.model)
        return f"{file.relative_to(ROOT)}:{line}"


FAULTS: dict[str, Fault] = {}
"""Every fault by its name."""


def fault(*breaks: str, also: Iterable[str] = (), contract: str = "") -> Callable[[M], M]:
    """Registers a class of the model as a fault, `CopyIsAlias` as `copy_is_alias`; its docstring says what is wrong.

    One that breaks rules which are no longer in force names a `contract` in which they are: a version of JAX.
    """

    def register(model: M) -> M:
        name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", model.__name__).lower()
        why = " ".join((model.__doc__ or "").split())
        if name in FAULTS:
            raise ValueError(f"{model.__module__} has a second fault {name}; call it otherwise")
        if not breaks or not why:
            raise ValueError(f"fault {name}: say which rules it breaks, and in its docstring what it does wrong")
        if twice := sorted({id for id in (*breaks, *also) if [*breaks, *also].count(id) > 1}):
            raise ValueError(f"fault {name} names {', '.join(twice)} twice")
        FAULTS[name] = Fault(name, breaks, tuple(also), model, why, contract)
        return model

    return register


def find(name: str) -> Fault:
    """The fault of that name; LookupError, in one line, where there is none."""
    if name in FAULTS:
        return FAULTS[name]
    if not name:
        raise LookupError(f"which one? write fault:NAME; {LIST} lists them")
    near = ", ".join(get_close_matches(name, FAULTS, 3, 0.5))
    raise LookupError(f"there is no fault {name}; {f'near it: {near}; ' if near else ''}{LIST} lists them all")


def check(name: str) -> None:
    """LookupError or ValueError, in one line, where there is no fault of that name and no contract of that version."""
    if not _dated(name):
        find(name)
        return
    from impl import model

    model.check(name)


def environment(target: str) -> dict[str, str]:
    """What the model asks for."""
    from impl import model

    return model.environment(target)


def load() -> None:
    """Loads the model; the faults are there."""
    from impl import model

    model.load()


def start(target: str, partitioner: str, name: str = "") -> Subject:
    """The model with that fault, or watched and without one."""
    from impl import model

    if name and not _dated(name):
        fault = find(name)
        return model.start(target, partitioner, fault.contract, fault.model)
    taken: Counter[str] = Counter()
    subject = model.start(target, partitioner, name, _watched(taken))

    def cost() -> dict[str, int]:
        told = dict(taken)
        taken.clear()
        return told

    subject.cost = cost  # type: ignore[method-assign]
    return subject


def _dated(name: str) -> bool:
    """Whether it is a version of JAX, which is no fault's name."""
    return name[:1].isdigit()


def _watched(taken: Counter[str]) -> type[Model]:
    """The model, counting the steps that a fault takes wrongly."""
    from impl.model.model import Model

    def watched(name: str) -> Any:
        step = getattr(Model, name)

        @wraps(step)
        def counted(*args: Any, **kwargs: Any) -> Any:
            taken[name] += 1
            return step(*args, **kwargs)

        return staticmethod(counted) if isinstance(getattr_static(Model, name), staticmethod) else counted

    steps = {name for fault in FAULTS.values() for name in fault.steps}
    return type("Watched", (Model,), {name: watched(name) for name in steps})


for _module in pkgutil.iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")
