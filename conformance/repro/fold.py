"""Folds a case into the source of a probe.

What the case's data decide is decided, helpers are written out where they are called, and what is left is the straight
code that a JAX user would have written for this one case. It is what makes a probe a script.

The folder goes through a probe as Python would run it, with values that are at hand or left to run (`values`). What it
is about to put into the script is put there in the order in which Python would run it (`base`). `statements`,
`expressions` and `calls` fold one form each, `spelling` writes values at hand, and `names` gives variables their names.
A form that cannot be made a script for sure is an UnfoldableError.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from .calls import Calls
from .frame import Frame, LeftError
from .names import copied
from .source import definition
from .spelling import Spelling
from .syntax import body_of, name_of
from .values import Known, UnfoldableError, Value


@dataclasses.dataclass
class Folded:
    """The statements of a script's body, the functions they call, and the modules they import.

    Variables have symbols, which `names.named` gives names.
    """

    body: list[ast.stmt]
    functions: list[ast.stmt]
    imports: set[str]


def fold(probe: Callable[..., Any], case: Mapping[str, Any], package: str, observers: Iterable[str]) -> Folded:
    """The probe with that case folded in; `package` holds the probes."""
    again: set[Any] = set()
    while True:  # a helper that is called again, and is more than an expression, becomes a function of the script
        folder = _Folder(package, {*observers}, again)
        try:
            body = folder.main(probe, case)
        except LeftError:
            raise UnfoldableError("a lambda or a condition needs statements that it has no place for") from None
        except RecursionError:
            raise UnfoldableError("a helper calls itself without end") from None
        if not (more := folder.repeated() - again):
            break
        again |= more
    for it in [*folder.functions, *body]:
        if any(isinstance(node, ast.Name) and node.id == "see" for node in ast.walk(it)):
            raise UnfoldableError("a probe hands on `see`")
    return Folded(copied(body), copied(folder.functions), folder.imports)


class _Folder(Calls, Spelling):
    def main(self, probe: Callable[..., Any], case: Mapping[str, Any]) -> list[ast.stmt]:
        node, module = definition(probe)
        if not isinstance(node, ast.FunctionDef) or node.decorator_list:
            raise UnfoldableError("a probe is a plain function")
        names = list(inspect.signature(probe).parameters)
        given: dict[str, Value] = {names[0]: name_of("jax"), names[1]: name_of("see")}
        given |= {name: Known(case[name]) for name in names[2:]}
        frame = Frame("main", module, node, self.symbols)
        frame.env.update(given)
        before = self.state()
        try:
            self.loosen(sorted(frame.loose & frame.env.keys()), frame)
            self.block(body_of(node), frame)
            return frame.out
        except LeftError:  # it returns from inside of a loop or a try: it stays a function
            self.back(before)
        frame = Frame("inline", module, node, self.symbols)
        return [ast.Expr(self.called(probe, node, module, given, frame))]

    def repeated(self) -> set[Any]:
        """Helpers, with their known arguments, that were written out more than once as more than an expression.

        Of one in the other the inner one alone: without it the outer one may be an expression.
        """
        found = {key for key, lengths in self.lengths.items() if len(lengths) > 1 and max(lengths) > 1}
        return {key for key in found if not self.within.get(key, set()) & found - {key}} or found
