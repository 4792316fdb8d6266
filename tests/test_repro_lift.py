"""Observers and adapters come out of a package as functions that stand alone."""

import ast
import builtins
import symtable
from textwrap import dedent

import pytest

from conformance.repro.lift import Package
from conformance.repro.script import SHARED, STOCK

SEE = '''
    """Observers."""

    from __future__ import annotations

    import gc
    from collections.abc import Sequence

    import numpy as np

    from impl.host import looks as shared

    from . import counts

    LIMIT: int = 3


    class See(shared.Looks):
        def names(self, x: int, y: Sequence[int]) -> bool:
            return names(self.double(x), y) and self.where(x) == [x]

        def times(self):
            gc.collect()
            return counts.times() + np.int8(LIMIT)


    def names(x: int, y) -> bool:
        return helper(x) in y


    def helper(x):
        return -x


    def unused():
        return names(0, [])
'''
LOOKS = '''
    """Observers of every subject."""

    import math

    from . import see


    class Looks(see.See):
        def __init__(self, note, pointers: bool) -> None:
            self._pointers = pointers

        def double(self, x: int) -> int:
            """Twice."""
            y: int = x * 2
            self.step("double")
            return y

        def where(self, x):
            if not self._pointers:
                return "unknown"
            return [it for it in [x] if self._pointers]

        def root(self, x):
            return helper(x) * 2


    def helper(x):
        return math.sqrt(x)
'''
COUNTS = '''
    """Counts."""

    import threading

    SEEN = []
    OTHERS = []


    def listen(name: str) -> None:
        SEEN.append((name, threading.get_ident()))


    def other(name):
        OTHERS.append(name)


    list(map(listen, ("begin", "then")))
    list(map(other, ("begin", "then")))


    def times():
        return len(SEEN)
'''
ADAPTERS = '''
    """Adapters."""

    import jax


    def put(x, *, where=None):
        return jax.put(base(x), where)


    def base(x):
        return x


    def other(x):
        return x
'''


@pytest.fixture
def package(tmp_path):
    folder, shared = tmp_path / "subject", tmp_path / "looks.py"
    folder.mkdir()
    for name, text in {"__init__": "", "see": SEE, "counts": COUNTS, "adapters": ADAPTERS}.items():
        (folder / f"{name}.py").write_text(dedent(text))
    shared.write_text(dedent(LOOKS))
    return Package(folder, shared)


def lifted(package, observers=(), adapters=()):
    imports, statements = package.lift(observers, adapters)
    text = "\n".join([*sorted(imports), *map(ast.unparse, statements)])
    names = {"step": lambda name: None}
    exec(compile(text, "<lifted>", "exec"), names)
    return text, names


def test_the_observers_are_the_public_methods(package):
    assert package.observers == {"names": "see", "times": "see", "double": "looks", "where": "looks", "root": "looks"}


def test_an_observer_becomes_a_function_with_what_it_needs(package):
    text, names = lifted(package, {"double"})
    assert names["double"](4) == 8
    assert text == 'def double(x):\n    """Twice."""\n    y = x * 2\n    step(\'double\')\n    return y'


def test_an_observer_and_a_function_of_one_name_stay_apart(package):
    text, names = lifted(package, {"names"})
    assert names["names"](1, [-2]) is True
    assert names["names"](1, [2]) is False
    assert "unused" not in text
    assert "counts" not in text


def test_functions_of_one_name_in_two_modules_stay_apart(package):
    text, names = lifted(package, {"names", "root"})
    assert (names["names"](1, [-2]), names["root"](9)) == (True, 6)
    assert "import math" in text


def test_pointers_are_there(package):
    text, names = lifted(package, {"where"})
    assert names["where"](5) == [5]
    assert "pointers" not in text
    assert "unknown" not in text


def test_listeners_of_a_module_come_where_they_are_needed(package):
    text, names = lifted(package, {"times"})
    assert names["times"]() == 5  # two were heard
    assert "OTHERS" not in text
    assert {"import gc", "import threading", "import numpy as np"} <= {*text.splitlines()}
    assert text.index("def listen") < text.index("list(map(listen") < text.index("def times")


def test_an_adapter_comes_with_what_it_leans_on(package):
    imports, statements = package.lift((), {"put"})
    assert imports == {"import jax"}
    assert [it.name for it in statements] == ["put", "base"]


def test_a_second_lift_is_the_same(package):
    assert lifted(package, package.observers)[0] == lifted(package, package.observers)[0]


def test_every_observer_of_stock_stands_alone():
    """Every name that a lifted function reads is there."""
    package = Package(STOCK, SHARED)
    adapters = {name for name, it in package.modules["adapters"].defined.items() if isinstance(it, ast.FunctionDef)}
    for observers, wanted in [*(({it}, ()) for it in package.observers), *(((), {it}) for it in adapters)]:
        imports, statements = package.lift(observers, wanted)
        text = "\n".join([*sorted(imports), *map(ast.unparse, statements)])
        assert "self" not in text.replace("itself", "")
        assert undefined(text) <= {"step"}, text


def undefined(text):
    """The global names that code reads and nothing sets."""
    found, missing = [symtable.symtable(text, "<lifted>", "exec")], set()
    top = found[0]
    there = {it.get_name() for it in top.get_symbols() if it.is_assigned() or it.is_imported()}
    while found:
        table = found.pop()
        found += table.get_children()
        missing |= {it.get_name() for it in table.get_symbols() if it.is_global() and it.is_referenced()}
    return missing - there - {*vars(builtins)}
