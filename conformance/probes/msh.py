"""MSH: meshes, how they are made, and what holds while one is in context."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .common import INTERNAL, all_are
from .meshes import SIDES

NAMES = ("x", "y", "z", "u")

# --- make_mesh --------------------------------------------------------------------------------------------------------

MIXED = (5, 1, 6, 2, 0, 3, 7, 4)
"""All devices in an order of nobody's."""


def _last(count: int) -> tuple[int, ...]:
    """As many devices as a mesh takes, the first ones left out."""
    return tuple(range(8 - count, 8))


CHOICES: dict[str, Callable[[int], tuple[int, ...]]] = {
    "default": lambda count: tuple(range(8)),
    "exact": _last,
    "turned": lambda count: _last(count)[::-1],
    "more": lambda count: MIXED,
    "array": _last,
    "tuple": _last,
}
"""The devices that `make_mesh` is given, by their ids: all that there are; as many as it takes; more; not as a list."""


def count(sizes: str) -> int:
    """How many devices a mesh of such sizes takes: 8 for "2x4"."""
    product = 1
    for size in parsed(sizes):
        product *= size
    return product


def parsed(sizes: str) -> tuple[int, ...]:
    """The sizes that a text means: (2, 4) for "2x4"."""
    return tuple(int(size) for size in sizes.split("x"))


def _given(jax, choice, ids):
    """The devices of these ids as a keyword of `make_mesh`."""
    devices = [jax.devices()[id] for id in ids]
    if choice == "default":
        return {}
    return {"devices": np.array(devices) if choice == "array" else tuple(devices) if choice == "tuple" else devices}


def make(jax, see, sizes, choice):
    """A mesh is made, over devices that are chosen for it, and beside it a grid by the general helper."""
    names = NAMES[: len(parsed(sizes))]
    ids = CHOICES[choice](count(sizes))
    mesh = jax.make_mesh(parsed(sizes), names, **_given(jax, choice, ids))
    see(axes=[[name, size] for name, size in mesh.shape.items()], shape=list(mesh.devices.shape))
    see(devices=[device.id for device in mesh.devices.flat], chosen=sorted(it.id for it in mesh.devices.flat))
    grid = jax.experimental.mesh_utils.create_device_mesh(
        parsed(sizes), [jax.devices()[id] for id in ids[: count(sizes)]]
    )
    see(helper="same" if np.array_equal(mesh.devices, grid) else "differs")


NUMPY = {"int8": np.int8, "int32": np.int32, "int64": np.int64, "uint8": np.uint8}


def numpy_sizes(jax, see, sizes, dtype):
    """A mesh is made whose sizes are NumPy's numbers, and another whose sizes are an array of them."""
    names, numbers = NAMES[: len(parsed(sizes))], [NUMPY[dtype](size) for size in parsed(sizes)]
    seen = [jax.make_mesh(given, names) for given in (tuple(numbers), numbers, np.array(numbers))]
    see(equal=all(mesh == jax.make_mesh(parsed(sizes), names) for mesh in seen))
    see(plain=all(type(size) is int for mesh in seen for size in (*mesh.shape.values(), *mesh.devices.shape)))


# --- the types of axes ------------------------------------------------------------------------------------------------

TYPES = {"A": "Auto", "E": "Explicit", "M": "Manual"}


def typed(jax, see, how, axes, types):
    """A mesh is made, or built of a grid of devices, of so many axes, with types or without; what they are."""
    given = {}
    if types != "none":
        given = {"axis_types": tuple(getattr(jax.sharding.AxisType, TYPES[letter]) for letter in types)}
    sizes = (2,) * axes
    if how == "make_mesh":
        mesh = jax.make_mesh(sizes, NAMES[:axes], **given)
    else:
        mesh = jax.sharding.Mesh(np.array(jax.devices()[: 2**axes]).reshape(sizes), NAMES[:axes], **given)
    see(types="".join(str(it.name)[0] for it in mesh.axis_types))


# --- what is no mesh --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Asked:
    """What a mesh is asked for: by `make_mesh` of sizes and names, or by `Mesh` of a grid of such sizes.

    `devices` are ids, or other things that are no devices; none for all that there are. `types` are letters of `TYPES`,
    or what is no type.
    """

    sizes: Any
    names: Any
    devices: tuple[Any, ...] | None = None
    types: Any = None
    how: str = "make_mesh"


def _asked(sizes, **more):
    return Asked(sizes, NAMES[: len(sizes)], **more)


def _shown(sizes):
    return "x".join(str(size).replace("-", "m") for size in sizes)


PAIRS = [(a, b) for a in range(1, 17) for b in range(1, 17)]
UP_TO_8 = [
    *((a,) for a in range(1, 9)),
    *((a, b) for a, b in PAIRS if a * b <= 8),
    *((a, b, c) for a, b in PAIRS for c in range(1, 9) if a * b * c <= 8),
]
"""All sizes of one, two and three axes that eight devices suffice for,"""
UP_TO_16 = [
    *((a,) for a in range(9, 17)),
    *((a, b) for a, b in PAIRS if 8 < a * b <= 16),
    (2, 2, 3),
    (3, 3, 3),
    (9, 1, 1),
]
"""and sizes that they do not."""
BELOW_1 = [
    *((a,) for a in (0, -1, -8)),
    *((a, b) for a in (-8, -2, -1, 0, 1, 2, 8) for b in (-8, -2, -1, 0, 1, 2, 8) if min(a, b) < 1),
]

MISUSES = {
    "many": {_shown(sizes): _asked(sizes) for sizes in UP_TO_16},
    "few": {
        _shown(sizes): _asked(sizes, devices=tuple(range(int(np.prod(sizes)) - 1)))
        for sizes in UP_TO_8
        if np.prod(sizes) > 1
    },
    "below": {_shown(sizes): _asked(sizes) for sizes in BELOW_1},
    "no_number": {
        "half": _asked((2.5,)),
        "half_of_two": _asked((2, 1.5)),
        "half_numpy": _asked((np.float32(2.5),)),
        "nan": _asked((float("nan"),)),
        "infinite": _asked((float("inf"),)),
        "text": _asked(("x",)),
        "digits": _asked(("2",)),
        "none": _asked((None,)),
        "none_of_two": _asked((None, 4)),
        "complex": _asked((2 + 0j,)),
        "nested": _asked(((2,),)),
        "bare": Asked(4, ("x",)),
        "bare_none": Asked(None, ("x",)),
    },
    "whole": {
        "float": _asked((2.0,)),
        "float_of_two": _asked((2, 2.0)),
        "float_numpy": _asked((np.float32(2),)),
        "bool": _asked((True,)),
        "bool_of_two": _asked((True, 4)),
        "bool_numpy": _asked((np.bool_(True),)),
    },
    "repeated": {
        "two": Asked((2, 4), ("x", "x")),
        "three": Asked((2, 2, 2), ("x", "y", "x")),
        "all": Asked((2, 2, 2), ("x", "x", "x")),
        "ones": Asked((1, 1), ("x", "x")),
        "mesh": Asked((2, 4), ("x", "x"), how="Mesh"),
        "mesh_three": Asked((2, 2, 2), ("y", "x", "x"), how="Mesh"),
    },
    "rank": {
        f"{how}_{len(sizes)}_{named}": Asked(sizes, NAMES[:named], how=how)
        for how in ("make_mesh", "Mesh")
        for sizes in ((2,), (2, 2), (2, 2, 2))
        for named in range(5)
        if named != len(sizes)
    },
    "rank_text": {
        "xy": Asked((2, 4), "xy"),
        "xyz": Asked((2, 2, 2), "xyz"),
        "mesh_xy": Asked((2, 4), "xy", how="Mesh"),
    },
    "rank_types": {
        f"{how}_{len(sizes)}_{typed}": Asked(sizes, NAMES[: len(sizes)], types="EAAA"[:typed], how=how)
        for how in ("make_mesh", "Mesh")
        for sizes in ((2,), (2, 2), (2, 2, 2))
        for typed in range(5)
        if typed != len(sizes)
    },
    "no_type": {
        f"{how}_{name}": Asked((2, 2), ("x", "y"), types=types, how=how)
        for how in ("make_mesh", "Mesh")
        for name, types in {
            "texts": ("Auto", "Auto"),
            "nones": (None, None),
            "numbers": (1, 2),
            "names": ("x", "y"),
        }.items()
    },
    "no_name": {
        f"{how}_{name}": Asked((2, 4), names, how=how)
        for how in ("make_mesh", "Mesh")
        for name, names in {
            "none": (None, "x"),
            "nones": (None, None),
            "list": (["x"], "y"),
            "bare": None,
            "one": 1,
        }.items()
    },
    "tuple_name": {
        "make_mesh": Asked((2, 4), (("x", "y"), "z")),
        "Mesh": Asked((2, 4), ("z", ("x", "y")), how="Mesh"),
    },
    "twice": {
        "two": Asked((2,), ("x",), devices=(0, 0)),
        "four": Asked((4,), ("x",), devices=(0, 1, 2, 1)),
        "square": Asked((2, 2), ("x", "y"), devices=(3, 1, 2, 3)),
        "all": Asked((4,), ("x",), devices=(0, 0, 0, 0)),
        "mesh_two": Asked((2,), ("x",), devices=(0, 0), how="Mesh"),
        "mesh_square": Asked((2, 2), ("x", "y"), devices=(3, 1, 2, 3), how="Mesh"),
    },
    "no_device": {
        f"{how}_{name}": Asked((2,), ("x",), devices=devices, how=how)
        for how in ("make_mesh", "Mesh")
        for name, devices in {
            "numbers": ("0", "1"),
            "none": ("None", "None"),
            "last": (0, "None"),
            "text": ("cpu", 0),
        }.items()
    },
}
"""What is no mesh, by what is wrong with it. Devices in quotes are no devices."""

THINGS = {"0": 0, "1": 1, "None": None, "cpu": "cpu"}


def _devices(jax, asked):
    """The devices, or other things, that a mesh is asked for, in a list."""
    if asked.devices is None:
        return list(jax.devices())
    return [THINGS[it] if isinstance(it, str) else jax.devices()[it] for it in asked.devices]


def _types(jax, asked):
    """The types of axes that a mesh is asked for, as a keyword."""
    if asked.types is None:
        return {}
    if isinstance(asked.types, str):
        return {"axis_types": tuple(getattr(jax.sharding.AxisType, TYPES[letter]) for letter in asked.types)}
    return {"axis_types": asked.types}


def _ask(jax, asked, devices):
    """A mesh, as it is asked for."""
    if asked.how == "Mesh":
        grid = np.empty(len(devices), dtype=object)
        grid[:] = devices
        return jax.sharding.Mesh(
            grid[: int(np.prod(asked.sizes))].reshape(asked.sizes), asked.names, **_types(jax, asked)
        )
    given = {} if asked.devices is None else {"devices": devices}
    return jax.make_mesh(asked.sizes, asked.names, **given, **_types(jax, asked))


def _spelled(types):
    """How a message may show types of axes, which are given as letters."""
    inner = ", ".join([TYPES[letter] for letter in types])
    return [f"({inner})", f"({inner},)"]


def _says_both(see, error, some, others):
    """Whether a message says of two tuples how long they are, or shows them."""
    told = [see.names_count(error, len(it)) or see.names_tuple(error, it) for it in (some, others)]
    return all(told)


SAYS = {
    "many": lambda see, error, asked: see.names_tuple(error, asked.sizes) and see.names_count(error, 8),
    "few": lambda see, error, asked: see.names_tuple(error, asked.sizes) and see.names_count(error, len(asked.devices)),
    "below": lambda see, error, asked: see.names_tuple(error, asked.sizes),
    "no_number": lambda see, error, asked: _names_one(see, error, asked.sizes),
    "whole": lambda see, error, asked: _names_one(see, error, asked.sizes),
    "repeated": lambda see, error, asked: see.named(error, ["'x'"]) != [],
    "rank": lambda see, error, asked: _says_both(see, error, asked.sizes, asked.names),
    "rank_text": lambda see, error, asked: _says_both(see, error, asked.sizes, (asked.names,)),
    "rank_types": lambda see, error, asked: (
        (see.names_count(error, len(asked.names)) or see.names_tuple(error, asked.names))
        and (see.names_count(error, len(asked.types)) or see.named(error, _spelled(asked.types)) != [])
    ),
    "no_type": lambda see, error, asked: see.named(error, [repr(it) for it in asked.types]) != [],
    "no_name": lambda see, error, asked: see.named(error, ["axis name"]) != [],
    "tuple_name": lambda see, error, asked: see.named(error, ["('x', 'y')"]) != [],
    "twice": lambda see, error, asked: see.names_devices(error, asked.devices),
    "no_device": lambda see, error, asked: see.named(error, [" device"]) != [],
}
"""Whether a message says what is wrong, so that one can mend it."""


def _names_one(see, error, sizes):
    """Whether a message shows sizes, or one of them, or the word for them."""
    return see.named(error, [repr(sizes), "size", "shape"]) != []


def _refusal(see, error):
    """What a refusal is: "misuse" if its class says that the caller is wrong, else what it is instead."""
    if see.named(error, INTERNAL):
        return f"internal {type(error).__name__}"
    return "misuse" if isinstance(error, ValueError | TypeError) else type(error).__name__


def misuse(jax, see, what, wrong):
    """A mesh is asked for that there cannot be: what the refusal says, and what became of what was given."""
    asked = MISUSES[what][wrong]
    devices = _devices(jax, asked)
    before = [*devices]
    compiled = see.compiled()
    see.step("ask")
    try:
        _ask(jax, asked, devices)
    except Exception as error:
        see(refused=_refusal(see, error), says=SAYS[what](see, error, asked))
    else:
        see(refused="no", says=False)
    see(compiled=see.compiled() - compiled, kept=devices == before)


GRIDS = ("2x4", "4x2", "2x2x2", "8x1")


def grid(jax, see, sizes, grid):
    """A mesh is made over devices in an array of several dimensions."""
    devices = np.array(jax.devices()).reshape(parsed(grid))
    try:
        mesh = jax.make_mesh(parsed(sizes), NAMES[: len(parsed(sizes))], devices=devices)
    except Exception as error:
        see(refused=_refusal(see, error))
    else:
        see(refused="no", devices=[device.id for device in mesh.devices.flat])


# --- what a context gives ---------------------------------------------------------------------------------------------

CONTEXTS = {
    "with": lambda jax, mesh: mesh,
    "set_mesh": lambda jax, mesh: jax.set_mesh(mesh),
}
"""How a mesh is put in context."""


def _one():
    """A function without arguments: jitted again and again, it is one program for each mesh."""
    return 1


def _another():
    """Another one, for pjit alone."""
    return 1


WITNESS = {
    "with": lambda jax: jax.experimental.pjit.pjit(_another),
    "set_mesh": lambda jax: jax.jit(_one),
}
"""A call whose result lies on the mesh in context: a function of no arguments."""

RETURNS = {
    "int": lambda jax: lambda: 1,
    "zeros": lambda jax: lambda: jax.numpy.zeros((8, 8)),
    "pair": lambda jax: lambda: {"a": jax.numpy.zeros((8,)), "b": (1.5,)},
    "empty": lambda jax: lambda: jax.numpy.zeros((0, 8)),
}
"""Functions without arguments."""

CALLS = {
    "pjit": lambda jax, f: jax.experimental.pjit.pjit(f),
    "jit": lambda jax, f: jax.jit(f),
    "lower": lambda jax, f: jax.jit(f).lower().compile(),
    "eager": lambda jax, f: f,
}


def returns(jax, see, how, mesh, call, function):
    """A function without arguments is called while a mesh is in context."""
    grid = SIDES[mesh].make(jax).mesh
    f = RETURNS[function](jax)
    see.step("call")
    with CONTEXTS[how](jax, grid):
        results = jax.block_until_ready(jax.tree.leaves(CALLS[call](jax, f)()))
    seen = [see.sharding(y) for y in results]
    see(type=all_are([it["type"] for it in seen]), devices=all_are([it["devices"] for it in seen]))
    see(axes=all_are([it.get("axes", []) for it in seen]), whole=all(y.is_fully_replicated for y in results))
    see(committed=all_are([see.committed(y) for y in results]))
    see(value=all_are([see.same(y, np.full(y.shape, VALUE[function], y.dtype)) for y in results[-1:]]))


def turns(jax, see, first, last, mesh):
    """A function is called in one way, then in another; each is a context and what it is called by: "set_mesh.jit"."""
    grid = SIDES[mesh].make(jax).mesh

    def function():
        return 1

    for turn in (first, last):
        how, by = turn.split(".")
        see.step(by)
        if how == "none":
            y = CALLS[by](jax, function)()
        else:
            with CONTEXTS[how](jax, grid):
                y = CALLS[by](jax, function)()
    see(devices=see.sharding(y)["devices"], value=see.same(y, np.full((), 1, y.dtype)))


VALUE = {"int": 1, "zeros": 0, "pair": 1.5, "empty": 0}
"""What the last result holds."""


LOOSE = {
    "numpy": lambda jax: np.ones((8, 8), np.float32),
    "python": lambda jax: 1.0,
    "free": lambda jax: jax.block_until_ready(jax.device_put(np.ones((8, 8), np.float32))),
}
"""Arguments that are committed nowhere."""


def takes(jax, see, how, mesh, call, argument):
    """A function of an argument that is committed nowhere is called while a mesh is in context."""
    grid = SIDES[mesh].make(jax).mesh
    x = LOOSE[argument](jax)
    see.step("call")
    with CONTEXTS[how](jax, grid):
        y = jax.block_until_ready(CALLS[call](jax, lambda first: first + 1)(x))
    see(type=see.sharding(y)["type"], devices=see.sharding(y)["devices"], committed=see.committed(y))
    see(value=see.same(y, np.full(y.shape, 2, np.float32)))


# --- contexts within contexts -----------------------------------------------------------------------------------------


def nest(jax, see, how, meshes, ending):
    """A mesh is put in context within another one's context, which is left in one way or the other."""
    outer, inner = [SIDES[mesh].make(jax).mesh for mesh in meshes.split("_")]
    call = WITNESS[how](jax)
    see(before=_lies(see, call))
    with CONTEXTS[how](jax, outer):
        see(outer=_lies(see, call))
        try:
            with CONTEXTS[how](jax, inner):
                see(inner=_lies(see, call))
                if ending == "error":
                    raise KeyError("the suite's own")
        except KeyError:
            pass
        see(again=_lies(see, call))
    see(after=_lies(see, call))


def _lies(see, call):
    """On which devices the result of a call lies."""
    return see.sharding(call())["devices"]


MIXED_NESTS = {
    "set_in_with": ("with", "set_mesh"),
    "with_in_set": ("set_mesh", "with"),
}


def mix(jax, see, kinds, meshes):
    """A mesh is put in context in one way within the context of another one that was put there in the other way."""
    outer, inner = [SIDES[mesh].make(jax).mesh for mesh in meshes.split("_")]
    call = jax.jit(lambda first: jax.lax.with_sharding_constraint(first + 1, jax.sharding.PartitionSpec("x")))
    see.step("call")
    try:
        with CONTEXTS[MIXED_NESTS[kinds][0]](jax, outer), CONTEXTS[MIXED_NESTS[kinds][1]](jax, inner):
            y = call(np.ones((8, 8), np.float32))
    except Exception as error:
        see(refused=_refused(see, error))
    else:
        see(refused="no", devices=see.sharding(y)["devices"], value=see.same(y, np.full((8, 8), 2, np.float32)))


# --- threads ----------------------------------------------------------------------------------------------------------


def _together(functions):
    """Each function in a thread of its own, all at once; what they return, in their order."""
    found = [None] * len(functions)

    def run(number):
        found[number] = functions[number]()

    threads = [threading.Thread(target=run, args=(number,), daemon=True) for number in range(len(functions))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    return found


def thread_within(jax, see, how, mesh):
    """A thread is started within a context, and asks where results lie; the first thread asks again afterwards."""
    grid = SIDES[mesh].make(jax).mesh
    call = WITNESS[how](jax)
    see.step("call")
    with CONTEXTS[how](jax, grid):
        see(thread=_together([lambda: _lies(see, call)])[0])
        see(here=_lies(see, call))


def thread_enters(jax, see, how, mesh):
    """A thread puts a mesh in context while the first one has none."""
    grid = SIDES[mesh].make(jax).mesh
    call = WITNESS[how](jax)
    entered, asked = threading.Event(), threading.Event()

    def enter():
        with CONTEXTS[how](jax, grid):
            entered.set()
            asked.wait(20)
            return _lies(see, call)

    def ask():
        entered.wait(20)
        lies = _lies(see, call)
        asked.set()
        return lies

    see.step("call")
    there, here = _together([enter, ask])
    see(thread=there, here=here)


def threads_apart(jax, see, how, meshes):
    """Two threads have a mesh in context each, at one time, and call one function in turns."""
    grids = [SIDES[mesh].make(jax).mesh for mesh in meshes.split("_")]
    call = WITNESS[how](jax)
    barrier = threading.Barrier(2, timeout=20)

    def ask(grid):
        seen = []
        with CONTEXTS[how](jax, grid):
            for _ in range(4):
                barrier.wait()
                seen.append(_lies(see, call))
        return all_are(seen)

    see.step("call")
    one, other = _together([lambda: ask(grids[0]), lambda: ask(grids[1])])
    see(one=one, other=other)


# --- specs alone ------------------------------------------------------------------------------------------------------

NAMING = {
    "constraint": lambda jax, spec: jax.jit(lambda first: jax.lax.with_sharding_constraint(first + 1, spec)),
    "constraint_eager": lambda jax, spec: lambda first: jax.lax.with_sharding_constraint(first, spec) + 1,
    "in": lambda jax, spec: jax.jit(lambda first: first + 1, in_shardings=spec),
    "out": lambda jax, spec: jax.jit(lambda first: first + 1, out_shardings=spec),
    "pjit_in": lambda jax, spec: jax.experimental.pjit.pjit(lambda first: first + 1, in_shardings=spec),
    "pjit_out": lambda jax, spec: jax.experimental.pjit.pjit(lambda first: first + 1, out_shardings=spec),
    "put": lambda jax, spec: lambda first: jax.device_put(first, spec),
}
"""Where a spec can stand alone, its mesh left to the context."""

SPECS = {"rows": ("x",), "columns": (None, "x"), "whole": (), "unknown": ("q",), "one_unknown": ("x", "q")}


def named(jax, see, how, mesh, place, spec):
    """A spec stands alone where a mesh is in context, which has the axes that it names."""
    grid, parts = SIDES[mesh].make(jax).mesh, SPECS[spec]
    x = np.ones((8, 8), np.float32)
    call = NAMING[place](jax, jax.sharding.PartitionSpec(*parts))
    see.step("call")
    try:
        with CONTEXTS[how](jax, grid):
            y = jax.block_until_ready(call(x))
    except Exception as error:
        see(refused=_refused(see, error))
    else:
        see(refused="no", value=see.same(y, x if place == "put" else x + 1))
        see(devices=see.sharding(y)["devices"], spec=_padded(see.sharding(y).get("spec", [])))


def _padded(spec):
    """A spec of a matrix with every dimension in it."""
    return [*spec, None, None][:2]


def unnamed(jax, see, how, mesh, place, spec):
    """A spec stands alone where no mesh is in context that has the axes which it names."""
    parts = SPECS[spec]
    x = np.ones((8, 8), np.float32)
    call = NAMING[place](jax, jax.sharding.PartitionSpec(*parts))
    compiled = see.compiled()
    see.step("call")
    try:
        if how == "none":
            call(x)
        else:
            with CONTEXTS[how](jax, SIDES[mesh].make(jax).mesh):
                call(x)
    except Exception as error:
        see(refused=_refused(see, error), mesh=see.named(error, ["mesh"]) != [])
        see(axis=see.named(error, ["q"]) != [], axes=see.named(error, ["'x'"]) != [])
    else:
        see(refused="no", mesh=False, axis=False, axes=False)
    see(compiled=see.compiled() - compiled)


def _refused(see, error):
    """What a refusal is: "misuse" if its class says that the caller is wrong, or calls at the wrong time."""
    if type(error).__name__ == "RuntimeError" and not see.named(error, INTERNAL):
        return "misuse"
    return _refusal(see, error)


# --- set_mesh ---------------------------------------------------------------------------------------------------------


def statement(jax, see, meshes):
    """`set_mesh` is called and not entered; then again for another mesh; then both are left, the last one first."""
    one, other = [SIDES[mesh].make(jax).mesh for mesh in meshes.split("_")]
    call = jax.jit(_one)
    see.step("set")
    first = jax.set_mesh(one)
    try:
        see(held=_lies(see, call))
        second = jax.set_mesh(other)
        see(replaced=_lies(see, call))
        with second:
            see(entered=_lies(see, call))
        see(again=_lies(see, call))
    finally:
        with first:
            pass
    see(after=_lies(see, call))


def unset(jax, see, mesh):
    """No mesh is set, within the context of one."""
    call = jax.jit(_one)
    with jax.set_mesh(SIDES[mesh].make(jax).mesh):
        with jax.set_mesh(None):
            see(none=_lies(see, call))
        see(again=_lies(see, call))


GETTERS = {
    "get_mesh": lambda jax, mesh: jax.sharding.get_mesh() == mesh,
    "get_abstract_mesh": lambda jax, mesh: jax.sharding.get_abstract_mesh() == mesh.abstract_mesh,
}
EMPTY = {
    "get_mesh": lambda jax: jax.sharding.get_mesh().empty,
    "get_abstract_mesh": lambda jax: jax.sharding.get_abstract_mesh().empty,
}


def get(jax, see, getter, meshes):
    """The mesh in context is asked for, outside of contexts and within one and two of them, and within a jit."""
    one, other = [SIDES[mesh].make(jax).mesh for mesh in meshes.split("_")]
    seen = []

    def ask():
        seen.append(GETTERS[getter](jax, one))
        return 1

    see(before=EMPTY[getter](jax))
    with jax.set_mesh(one):
        see(outer=GETTERS[getter](jax, one))
        with jax.set_mesh(other):
            see(inner=GETTERS[getter](jax, other))
        see(again=GETTERS[getter](jax, one))
        if getter == "get_abstract_mesh":
            jax.jit(ask)()
            see(inside=all_are(seen))
    see(after=EMPTY[getter](jax))


NO_MESHES = {
    "text": lambda jax: "x",
    "number": lambda jax: 8,
    "devices": lambda jax: jax.devices(),
    "spec": lambda jax: jax.sharding.PartitionSpec("x"),
    "sharding": lambda jax: SIDES["four"].make(jax),
    "abstract": lambda jax: SIDES["four"].make(jax).mesh.abstract_mesh,
}


def set_wrong(jax, see, given):
    """What is no mesh is set, within the context of a mesh."""
    wrong, call = NO_MESHES[given](jax), jax.jit(_one)
    with jax.set_mesh(SIDES["back"].make(jax).mesh):
        try:
            with jax.set_mesh(wrong):
                pass
        except Exception as error:
            see(refused=_refusal(see, error), says=see.named(error, ["mesh", "Mesh"]) != [])
        else:
            see(refused="no", says=False)
        see(holds=_lies(see, call))


def set_inside(jax, see, meshes):
    """`set_mesh` is called within a function that is being traced, with a mesh in context and without."""
    one, other = [SIDES[mesh].make(jax).mesh if mesh != "none" else None for mesh in meshes.split("_")]

    def body(first):
        with jax.set_mesh(other):
            return first + 1

    see.step("call")
    try:
        with contextlib.ExitStack() as stack:
            if one is not None:
                stack.enter_context(jax.set_mesh(one))
            jax.jit(body)(np.ones((8, 8), np.float32))
    except Exception as error:
        see(refused=_refusal(see, error), says=see.named(error, ["set_mesh", "use_mesh"]) != [])
    else:
        see(refused="no", says=False)
    see(after=_lies(see, jax.jit(_one)))


def with_inside(jax, see, mesh):
    """`with mesh:` within a function that is being traced."""
    grid = SIDES[mesh].make(jax).mesh

    def body(first):
        with grid:
            return jax.lax.with_sharding_constraint(first + 1, jax.sharding.PartitionSpec("x"))

    see.step("call")
    try:
        y = jax.jit(body)(np.ones((8, 8), np.float32))
    except Exception as error:
        see(devices=[], spec=[], value=_refused(see, error))
    else:
        see(devices=see.sharding(y)["devices"], spec=_padded(see.sharding(y).get("spec", [])))
        see(value=see.same(y, np.full((8, 8), 2, np.float32)))


# --- shardings left to the compiler -----------------------------------------------------------------------------------

LEFT = {
    "in": lambda sharding: {"in_shardings": sharding},
    "out": lambda sharding: {"out_shardings": sharding},
    "both": lambda sharding: {"in_shardings": sharding, "out_shardings": sharding},
}
"""Which shardings of a function are left to the compiler."""


def auto(jax, see, left, mesh):
    """A function whose shardings are left to the compiler is lowered, and beside it one whose are not."""
    grid = SIDES[mesh].make(jax).mesh
    x = jax.ShapeDtypeStruct((8, 8), np.float32)
    named = jax.sharding.NamedSharding(grid, jax.sharding.PartitionSpec())
    see.step("lower")
    text = see.lowered(jax.jit(lambda first: first * 2, **LEFT[left](jax.experimental.pjit.AUTO(grid))), x)
    like = see.lowered(jax.jit(lambda first: first * 2, **LEFT[left](named)), x)
    see(mesh="same" if _meshes(text) == _meshes(like) else "differs")
    see(partitions=int(text.partition("mhlo.num_partitions = ")[2].partition(" ")[0]))


def _meshes(text):
    """The lines of a lowered text that declare meshes."""
    return [line.strip() for line in text.splitlines() if "sdy.mesh" in line]


def auto_runs(jax, see, left, mesh):
    """A function whose shardings are left to the compiler is compiled and called."""
    grid = SIDES[mesh].make(jax).mesh
    x = np.ones((8, 8), np.float32)
    lowered = jax.jit(lambda first: first * 2, **LEFT[left](jax.experimental.pjit.AUTO(grid))).lower(
        jax.ShapeDtypeStruct(x.shape, x.dtype)
    )
    see.step("compile")
    try:
        y = lowered.compile()(x)
    except Exception as error:
        see(value=_refused(see, error), devices=[])
    else:
        see(value=see.same(y, x * 2), devices=sorted(see.sharding(y)["devices"]))
