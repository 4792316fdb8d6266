"""What comes of bad input and of its good neighbours, told as plain data: `python -m tests.input_there PARTITIONER`.

The rows are in tests/bad_arrays.py, tests/bad_programs.py and tests/good_input.py, each a user's call on a namespace
shaped like JAX and on the arrays of `given`. The installed JAX answers here; test_model_errors asks the model the same.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
import warnings
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

VALUE = np.arange(64, dtype=np.float32).reshape(8, 8)


def given(jax: Any) -> SimpleNamespace:
    """Fresh arrays, and places for them: eight devices, of which `line` and `square` have the first four."""
    names = SimpleNamespace(
        Mesh=jax.sharding.Mesh,
        Named=jax.sharding.NamedSharding,
        P=jax.sharding.PartitionSpec,
        Single=jax.sharding.SingleDeviceSharding,
        Layout=jax.experimental.layout.Layout,
        Format=jax.experimental.layout.Format,
        Struct=jax.ShapeDtypeStruct,
        constrain=jax.lax.with_sharding_constraint,
        made=jax.make_array_from_single_device_arrays,
    )
    devices = jax.devices()
    line, other = names.Mesh(np.array(devices[:4]), ("x",)), names.Mesh(np.array(devices[4:]), ("x",))
    square = names.Mesh(np.array(devices[:4]).reshape(2, 2), ("x", "y"))
    rows, elsewhere = names.Named(line, names.P("x")), names.Named(other, names.P("x"))
    gone = jax.device_put(VALUE, rows)
    gone.delete()
    arrays = {
        "x": jax.device_put(VALUE, rows),
        "y": jax.device_put(VALUE + 1, elsewhere),
        "one": jax.device_put(VALUE, devices[1]),
        "loose": jax.device_put(VALUE.copy()),
        "vector": jax.device_put(np.arange(8, dtype=np.float32), rows),
        "six": jax.device_put(np.arange(6, dtype=np.float32)),
        "whole": jax.device_put(np.arange(8, dtype=np.int32), names.Named(line, names.P())),
        "scalar": jax.device_put(np.float32(3)),
        "truth": jax.device_put(np.bool_(True)),
        "key": jax.random.key(0),
    }
    places = {
        "devices": devices,
        "line": line,
        "other": other,
        "square": square,
        "rows": rows,
        "elsewhere": elsewhere,
    }
    return SimpleNamespace(**vars(names), **arrays, **places, arrays=arrays, gone=gone)


Act = Callable[[Any, SimpleNamespace], Any]


def refused(jax: Any, act: Act) -> dict[str, Any]:
    """How a call is refused: the public classes of its error, nearest first, its message, and what it did to arrays."""
    a = given(jax)
    before = state(a)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            said = {"classes": [], "message": plain(repr(act(jax, a)))}
        except Exception as error:
            said = {"classes": public(error), "message": plain(error)}
    after = state(a)
    return {**said, "harmed": [name for name in before if after[name] != before[name]]}


def state(a: SimpleNamespace) -> dict[str, Any]:
    """Whether each array is there, where, and what it holds."""
    return {
        name: None
        if x.is_deleted()
        else (str(x.sharding), x.committed, str(x.dtype), None if name == "key" else np.asarray(x).tobytes())
        for name, x in a.arrays.items()
    }


def public(error: Exception) -> list[str]:
    """The names of an error's classes that users can name: Python's own, and those of `jax.errors`."""
    errors = sys.modules.get("jax.errors")
    return [
        {"JaxRuntimeError": "RuntimeError"}.get(it.__name__, it.__name__)  # what it is in all of JAX's messages
        for it in type(error).__mro__
        if it.__module__ == "builtins" or it.__name__.startswith(("Tracer", "Unexpected", "Concretization"))
        if it.__module__ == "builtins" or errors is None or hasattr(errors, it.__name__)
    ]


def accepted(jax: Any, act: Act) -> Any:
    """What an accepted call gives."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return told(jax, act(jax, given(jax)))
        except Exception as error:
            return f"refused: {type(error).__name__}: {error}"


def told(jax: Any, result: Any) -> Any:
    """A result as data: arrays with where they lie, anything else as Python writes it."""
    if isinstance(result, jax.Array):
        keys = str(result.dtype).startswith("key")
        return {
            "shape": list(result.shape),
            "dtype": str(result.dtype),
            "weak": getattr(result, "weak_type", False),
            "sharding": plain(result.sharding),
            "committed": result.committed,
            "value": np.asarray(jax.random.key_data(result) if keys else result).astype(float).tolist(),
        }
    if isinstance(result, list | tuple):
        return [told(jax, it) for it in result]
    if isinstance(result, dict):
        return {str(key): told(jax, it) for key, it in result.items()}
    if isinstance(result, np.ndarray):
        return [str(result.dtype), result.tolist()]
    return plain(repr(result))


def plain(text: Any) -> str:
    """A text in which devices are of no platform."""
    return re.sub(r"\b(Cpu|Model)Device", "Device", str(text))


def stock(partitioner: str) -> tuple[str, Any]:
    """The installed JAX on eight devices of the host, and its version."""
    from impl import stock as installed

    os.environ.update(installed.environment("cpu:8"))
    installed.load()
    subject = installed.start("cpu:8", partitioner)
    return subject.hello()["versions"]["jax"], subject.jax


def rows() -> tuple[dict[str, Any], dict[str, Any]]:
    """The tables."""
    from tests import bad_arrays, bad_programs, good_input

    return bad_arrays.BAD | bad_programs.BAD, good_input.GOOD


def today(version: str) -> bool:
    """Whether the tables are for that JAX: older ones have other classes here and there."""
    return tuple(map(int, version.split(".")[:2])) >= (0, 10)


def answers(partitioner: str) -> dict[str, Any]:
    """What the installed JAX says of all rows that it can be asked."""
    bad, good = rows()
    version, jax = stock(partitioner)
    if not today(version):
        return {"version": version}
    return {
        "version": version,
        "bad": {name: refused(jax, row.act) for name, row in bad.items() if not row.fatal},
        "good": {name: accepted(jax, act) for name, act in good.items()},
    }


if __name__ == "__main__":
    with contextlib.redirect_stdout(sys.stderr):  # JAX 0.12 prints on its way
        found = answers(sys.argv[1])
    json.dump(found, sys.stdout)
