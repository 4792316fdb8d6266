"""The walls between the rooms: what each part may import (DESIGN.md, section 5)."""

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
JAX = ("jax", "jaxlib")
BUILTIN = (*sys.stdlib_module_names, "numpy")


def imports(path):
    """The absolute names of all modules that a file imports, at its top or later; names taken from a package too."""
    package = path.relative_to(ROOT).with_suffix("").parts[:-1]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
            module = ".".join(filter(None, (base, node.module)))
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)


def within(name, roots):
    return any(name == root or name.startswith(f"{root}.") for root in roots)


def files(*patterns):
    return sorted(path for pattern in patterns for path in ROOT.glob(pattern))


HOST = files("impl/host/**/*.py")
BESIDE = files("impl/host/observers.py", "impl/host/capabilities.py")
"""Of the host, what a subject derives from or asks once it is there; the pool and the host itself do without."""

FORBIDDEN = {
    "the judge": (
        files("conformance/*.py", "conformance/kit/**/*.py", "conformance/search/**/*.py", "conftest.py"),
        (*JAX, "impl.stock"),
    ),
    "the pool": (files("impl/host/**/*.py"), (*JAX, "impl.stock", "conformance", "reports")),
    "reports": (files("reports/**/*.py"), (*JAX, "impl")),
}
ALLOWED = {
    "probes": (files("conformance/probes/**/*.py"), (*BUILTIN, "conformance.probes")),
    "the host": ([it for it in HOST if it not in BESIDE], (*sys.stdlib_module_names, "impl.host")),
    "what looks at arrays": (BESIDE, (*BUILTIN, "impl.host")),
    "the model": (files("impl/model/**/*.py"), (*BUILTIN, "impl.host", "impl.model", "ml_dtypes")),
    "faults": (files("impl/faults/**/*.py"), (*BUILTIN, "impl.host", "impl.model", "impl.faults")),
    "stock": (files("impl/stock/**/*.py"), (*BUILTIN, *JAX, "impl.stock", "impl.host", "ml_dtypes")),
}


@pytest.mark.parametrize("room", FORBIDDEN)
def test_no_room_reaches_through_a_wall(room):
    paths, forbidden = FORBIDDEN[room]
    assert not {
        f"{path.relative_to(ROOT)}: {name}" for path in paths for name in imports(path) if within(name, forbidden)
    }


@pytest.mark.parametrize("room", ALLOWED)
def test_what_runs_beside_a_subject_needs_nothing_else(room):
    paths, allowed = ALLOWED[room]
    found = {(path, name) for path in paths for name in imports(path) if name != "impl"}  # which holds rooms alone
    assert not {f"{path.relative_to(ROOT)}: {name}" for path, name in found if not within(name, allowed)}


def test_pandas_is_met_through_reports_only():
    paths = files("conformance/**/*.py", "impl/**/*.py", "conftest.py")
    assert not [path for path in paths for name in imports(path) if within(name, ("pandas",))]


def test_probes_neither_assert_nor_ask_for_versions():
    for path in files("conformance/probes/**/*.py"):
        nodes = list(ast.walk(ast.parse(path.read_text())))
        assert not [node for node in nodes if isinstance(node, ast.Assert)], path
        assert not [node for node in nodes if isinstance(node, ast.Attribute) and "version" in node.attr], path


def test_the_walls_are_where_the_rooms_are():
    """An empty room would pass every test above."""
    for name in ("the judge", "the pool", "reports"):
        assert FORBIDDEN[name][0], name
    assert {"conformance/kit/verdicts.py", "conftest.py"} <= {
        str(path.relative_to(ROOT)) for path in FORBIDDEN["the judge"][0]
    }


def test_imports_are_resolved(tmp_path, monkeypatch):
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    path = tmp_path / "conformance" / "kit" / "a.py"
    path.parent.mkdir(parents=True)
    path.write_text(
        "from . import b\nfrom ..probes import put\nimport jax.numpy as jnp\ndef f():\n    from impl import stock\n"
    )
    assert {"conformance.kit.b", "conformance.probes.put", "jax.numpy", "impl.stock"} <= set(imports(path))
