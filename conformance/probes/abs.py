"""ABS: constraints and shard_maps over meshes without devices."""

from __future__ import annotations

import copy
import math
import pickle
from typing import Any

import numpy as np

from . import arrays
from .common import ARRAY, INTERNAL, WHICH, all_are, array_at, constrain, left, remember
from .meshes import SIDES
from .places import Place

SHAPE = (8, 8)

# --- programs over an abstract mesh -----------------------------------------------------------------------------------

PAIRS = {
    "first_last": ("four", "other"),
    "across": ("four", "across"),
    "order": ("four", "back"),
    "squares": ("square", "square_other"),
}
"""Two sets of devices, of as many devices, for meshes of the same axes."""


def _mapped(jax, f, sharding, out):
    return jax.shard_map(f, mesh=sharding.mesh, in_specs=sharding.spec, out_specs=out)


def _summed(jax, sharding):
    """Each device's part of the sum over the first axis, which all of them have then."""
    whole = jax.sharding.PartitionSpec()
    return _mapped(jax, lambda x: jax.lax.psum(x, "x"), sharding, whole)


def _scan(jax, sharding):
    def step(carry, row):
        return constrain(jax, carry + row, sharding), row

    return lambda first: jax.lax.scan(step, first, np.ones((1, 8), np.float32))[0]


def _scan_map(jax, sharding):
    add = _mapped(jax, lambda x: x + 1, sharding, sharding.spec)
    return lambda first: jax.lax.scan(lambda carry, row: (add(carry), row), first, np.ones((1, 8), np.float32))[0]


def _cond(jax, sharding):
    def taken(x):
        return constrain(jax, x + 1, sharding)

    return lambda first: jax.lax.cond(first[0, 0] == 0, taken, lambda x: x - 1, first)


def _while(jax, sharding):
    def step(state):
        return state[0] + 1, constrain(jax, state[1] + 1, sharding)

    return lambda first: jax.lax.while_loop(lambda state: state[0] < 1, step, (0, first))[1]


def _square(jax):
    """A sharding over an abstract mesh of four devices in a square."""
    mesh = SIDES["square"].make(jax).mesh.abstract_mesh
    return jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("y", "x"))


FORMS: dict[str, Any] = {
    "constraint": lambda jax, sharding: lambda first: constrain(jax, first + 1, sharding),
    "map": lambda jax, sharding: _mapped(jax, lambda x: x + 1, sharding, sharding.spec),
    "sum": _summed,
    "both": lambda jax, sharding: (
        lambda first: constrain(jax, _mapped(jax, lambda x: x + 1, sharding, sharding.spec)(first), sharding)
    ),
    "shapes": lambda jax, sharding: lambda first: constrain(jax, constrain(jax, first + 1, sharding), _square(jax)),
    "inner": lambda jax, sharding: lambda first: jax.jit(lambda x: constrain(jax, x + 1, sharding))(first),
    "inner_map": lambda jax, sharding: (
        lambda first: jax.jit(_mapped(jax, lambda x: x + 1, sharding, sharding.spec))(first)
    ),
    "scan": _scan,
    "scan_map": _scan_map,
    "cond": _cond,
    "while": _while,
    "grad": lambda jax, sharding: jax.grad(lambda first: (constrain(jax, first, sharding) * first).sum()),
    "vmap": lambda jax, sharding: jax.vmap(lambda first: constrain(jax, first + 1, sharding)),
    "constant": lambda jax, sharding: lambda first: constrain(jax, jax.numpy.ones(SHAPE), sharding),
    "constant_map": lambda jax, sharding: (
        lambda first: _mapped(jax, lambda x: x + 1, sharding, sharding.spec)(jax.numpy.zeros(SHAPE))
    ),
    "constant_beside": lambda jax, sharding: (
        lambda first: constrain(jax, jax.numpy.ones(SHAPE), sharding) + 0 * jax.numpy.sum(first)
    ),
}
"""Functions of one array that have something over an abstract mesh in them, which their result comes from."""


def _holds(form):
    """What the result of a form holds."""
    value = arrays.value(ARRAY)
    return GIVES.get(form, lambda value: value + 1)(value)


GIVES: dict[str, Any] = {
    "sum": lambda value: value.reshape(4, 2, 8).sum(0),
    "grad": lambda value: value + value,
    "constant": np.ones_like,
    "constant_map": np.ones_like,
    "constant_beside": np.ones_like,
}


def _asks(form, place):
    """Where the result of a form is asked to lie, on the devices of a place."""
    if form == "sum":
        return Place(place.devices, place.axes)
    if form == "shapes":
        return Place(place.devices, SIDES["square"].axes, ("y", "x"))
    return place


def _shape(form):
    """The shape of the result of a form."""
    return (2, 8) if form == "sum" else SHAPE


def run(jax, see, form, sides):
    """A function over an abstract mesh is called for two sets of devices in turn, and for the first again."""
    here, there = SIDES[PAIRS[sides][0]], SIDES[PAIRS[sides][1]]
    places = [here, there, here]
    inputs = [array_at(jax, place) for place in places]
    program = jax.jit(see.traced(FORMS[form](jax, _abstract(jax, here))))
    asked = [_cut(_asks(form, place), _shape(form)) for place in places]
    results = []
    done = []
    try:
        for x in inputs:
            see.step("call")
            done.append(see.redone(lambda x=x: results.append(jax.block_until_ready(program(x)))))
    except Exception as error:
        see(refused=_class(see, error), value="none", placed="none", devices="none", sharding="none", committed=False)
    else:
        see(refused="no", value=all_are([see.same(y, _holds(form)) for y in results]))
        found = [_placed(y, cut) for y, cut in zip(results, asked, strict=True)]
        see(placed=all_are(found), devices=all_are(["elsewhere" if it == "elsewhere" else "there" for it in found]))
        see(sharding=all_are([see.sharding(y)["type"] for y in results]))
        see(committed=all_are([see.committed(y) for y in results]))
    see(traces=[it["trace"] for it in done])
    see(lowers=[it["lower"] for it in done])
    see(compiles=[it["compile"] for it in done])


def guest(jax, see, form, side):
    """A function over an abstract mesh is called for an array on as many devices that is cut in another way."""
    x = array_at(jax, SIDES[side])
    program = jax.jit(FORMS[form](jax, _abstract(jax, SIDES["four"])))
    before = remember(see, [x])
    see.step("call")
    try:
        y = jax.block_until_ready(program(x))
    except Exception as error:
        see(refused=_class(see, error), value="none", placed="none")
    else:
        see(refused="no", value=see.same(y, _holds(form)))
        see(placed=_placed(y, _cut(Place(SIDES[side].devices, SIDES["four"].axes, SIDES["four"].spec))))
    see(inputs=left(see, [x], before))


def text(jax, see, form, sides):
    """A function over an abstract mesh is lowered for two sets of devices."""
    here, there = SIDES[PAIRS[sides][0]], SIDES[PAIRS[sides][1]]
    program = jax.jit(FORMS[form](jax, _abstract(jax, here)))
    texts = [see.lowered(program, array_at(jax, place)) for place in (here, there)]
    see(texts="same" if texts[0] == texts[1] else "differ")
    see(partitioner=see.partitioner(texts[0]) is not None)
    devices = [str(device) for device in jax.devices()] + [repr(device) for device in jax.devices()]
    see(devices=[word for word in [*devices, "device_ids"] if any(word in text for text in texts)])


# --- concrete meshes --------------------------------------------------------------------------------------------------


def concrete(jax, see, form, sides):
    """A function over a mesh with devices is called for an array on them, and for one on others."""
    here, there = SIDES[PAIRS[sides][0]], SIDES[PAIRS[sides][1]]
    inputs = [array_at(jax, place) for place in (here, there)]
    program = jax.jit(FORMS[form](jax, here.make(jax)))
    see.step("call")
    y = jax.block_until_ready(program(inputs[0]))
    see(value=see.same(y, _holds(form)), placed=_placed(y, _cut(_asks(form, here))))
    see.step("other devices")
    try:
        jax.block_until_ready(program(inputs[1]))
    except Exception as error:
        see(refused=_class(see, error))
        see(named=WHICH[see.names_devices(error, there.devices), see.names_devices(error, here.devices)])
    else:
        see(refused="no", named="neither")


TOGETHER = {
    "abstract_concrete": lambda jax, abstract, concrete: (
        lambda first: constrain(jax, constrain(jax, first + 1, abstract), concrete)
    ),
    "concrete_abstract": lambda jax, abstract, concrete: (
        lambda first: constrain(jax, constrain(jax, first + 1, concrete), abstract)
    ),
    "map_concrete": lambda jax, abstract, concrete: (
        lambda first: constrain(jax, _mapped(jax, lambda x: x + 1, abstract, abstract.spec)(first), concrete)
    ),
    "concrete_map": lambda jax, abstract, concrete: (
        lambda first: _mapped(jax, lambda x: x + 1, abstract, abstract.spec)(constrain(jax, first, concrete))
    ),
}
"""Programs with an abstract mesh and one with devices; the last one says how the result lies."""


def together(jax, see, form, given):
    """A program names an abstract mesh, and one with devices; its argument lies on those, elsewhere or nowhere."""
    there = SIDES["other"]
    x = arrays.value(ARRAY) if given == "numpy" else array_at(jax, SIDES[given])
    call = TOGETHER[form](jax, _abstract(jax, SIDES["four"]), there.make(jax))
    see.step("call")
    try:
        y = jax.block_until_ready(jax.jit(call)(x))
    except Exception as error:
        see(refused=_class(see, error), value="none", placed="none")
    else:
        see(refused="no", value=see.same(y, _holds(form)), placed=_placed(y, _cut(there)))


# --- operations on their own ------------------------------------------------------------------------------------------

ACTS = {
    "constraint": lambda jax, sharding: lambda x: constrain(jax, x, sharding),
    "map": lambda jax, sharding: _mapped(jax, lambda x: x * 1, sharding, sharding.spec),
}


def eager(jax, see, act, side):
    """A constraint or a shard_map over an abstract mesh takes the devices of an array, outside of any jit."""
    place = SIDES[side]
    x = array_at(jax, place)
    axes = SIDES["square" if len(place.axes) == 2 else "four"]
    call = ACTS[act](jax, _abstract(jax, axes))
    before = remember(see, [x])
    see.step("call")
    y = jax.block_until_ready(call(x))
    see(value=see.same(y, arrays.value(ARRAY)))
    see(placed=_placed(y, _cut(Place(place.devices, axes.axes, axes.spec))))
    see(sharding=see.sharding(y)["type"], committed=see.committed(y))
    see(inputs=left(see, [x], before))


INPUTS = {
    "two": lambda jax: array_at(jax, SIDES["two"]),
    "eight": lambda jax: array_at(jax, SIDES["eight"]),
    "square": lambda jax: array_at(jax, SIDES["square"]),
    "renamed": lambda jax: array_at(jax, SIDES["renamed"]),
    "dev0": lambda jax: array_at(jax, SIDES["dev0"]),
    "free": lambda jax: jax.block_until_ready(jax.device_put(arrays.value(ARRAY))),
    "numpy": lambda jax: arrays.value(ARRAY),
}
"""Inputs that have no mesh of the axes that an abstract mesh has, four of them in a line."""

WORDS = {
    "dev0": ("NamedSharding", "SingleDeviceSharding"),
    "free": ("NamedSharding", "SingleDeviceSharding"),
    "numpy": ("Array", "ndarray"),
}
"""What a message asks for in the place of an input without a mesh, and what it calls that."""


def misuse(jax, see, act, given):
    """A constraint or a shard_map over an abstract mesh, outside of any jit, is given an input with no such mesh."""
    x = INPUTS[given](jax)
    call = ACTS[act](jax, _abstract(jax, SIDES["four"]))
    lying = [] if given == "numpy" else [x]
    before = remember(see, lying)
    compiled = see.compiled()
    see.step("call")
    try:
        jax.block_until_ready(call(x))
    except Exception as error:
        see(accepted=False, refused=_class(see, error))
        see(abstract=see.named(error, ["AbstractMesh"]) != [])
        if given in WORDS:
            see(asks=see.named(error, WORDS[given][:1]) != [], told=see.named(error, WORDS[given][1:]) != [])
        else:
            see(axes=WHICH[see.shows_axes(error, SIDES[given].axes), see.shows_axes(error, SIDES["four"].axes)])
    else:
        see(accepted=True, refused="no", abstract=False, asks=False, told=False, axes="neither")
    see(compiled=see.compiled() - compiled)
    see(inputs=left(see, lying, before))


SECONDS = {
    "other": lambda jax: array_at(jax, SIDES["other"]),
    "back": lambda jax: array_at(jax, SIDES["back"]),
    "across": lambda jax: array_at(jax, SIDES["across"]),
    "square": lambda jax: array_at(jax, SIDES["square"]),
    "renamed": lambda jax: array_at(jax, SIDES["renamed"]),
    "two": lambda jax: array_at(jax, SIDES["two"]),
    "dev0": lambda jax: array_at(jax, SIDES["dev0"]),
    "free": lambda jax: jax.block_until_ready(jax.device_put(arrays.value(ARRAY))),
    "numpy": lambda jax: arrays.value(ARRAY),
}
"""The other input of a shard_map, whose first one lies on the first four devices."""


def pair(jax, see, given, turn):
    """A shard_map of two inputs over an abstract mesh, outside of any jit: one fits, and the other is in question."""
    mesh, spec = _abstract(jax, SIDES["four"]).mesh, _abstract(jax, SIDES["four"]).spec
    call = jax.shard_map(lambda x, y: x + y, mesh=mesh, in_specs=(spec, spec), out_specs=spec)
    x, y = array_at(jax, SIDES["four"]), SECONDS[given](jax)
    lying = [x] if given == "numpy" else [x, y]
    before = remember(see, lying)
    compiled = see.compiled()
    see.step("call")
    try:
        z = jax.block_until_ready(call(x, y) if turn == "last" else call(y, x))
    except Exception as error:
        see(accepted=False, refused=_class(see, error), value="none", placed="none")
        see(argument=see.names_argument(error, *(("y", 1) if turn == "last" else ("x", 0))))
        given_devices = SIDES[given].devices if given in SIDES else ()
        see(named=WHICH[see.names_devices(error, SIDES["four"].devices), see.names_devices(error, given_devices)])
        see(compiled=see.compiled() - compiled)
    else:
        see(accepted=True, refused="no", argument=False, named="neither")
        see(compiled="some" if see.compiled() > compiled else 0)  # how many depends on what was compiled before
        see(value=see.same(z, arrays.value(ARRAY) + arrays.value(ARRAY)), placed=_placed(z, _cut(SIDES["four"])))
    see(inputs=left(see, lying, before))


# --- the number of devices --------------------------------------------------------------------------------------------


def _several(jax, sharding):
    eight = _abstract(jax, SIDES["eight"])
    return lambda first: constrain(jax, constrain(jax, first + 1, sharding), eight)


COUNTED: dict[str, Any] = {
    **{form: FORMS[form] for form in ("constraint", "map", "inner", "scan")},
    "several": _several,
}
"""Functions of one array that have something over an abstract mesh of four devices in them."""


def count(jax, see, form, given):
    """A program over an abstract mesh of four devices is called for an array on another number, and lowered for it.

    It is tried again, but for two devices, which are no other case then than eight; after eight it is called for four.
    """
    place = SIDES[given]
    x = array_at(jax, place)
    program = jax.jit(COUNTED[form](jax, _abstract(jax, SIDES["four"])))
    before = remember(see, [x])
    compiled = see.compiled()
    see.step("call")
    told = _refusal(jax, see, program, x, place)
    see(**told)
    see(compiled=see.compiled() - compiled, inputs=left(see, [x], before))
    if given != "two":
        see.step("again")
        again = _refusal(jax, see, program, x, place)
        see(again="accepted" if again["refused"] == "no" else "same" if again == told else "otherwise")
    see.step("lower")
    see(lowers=_lowers(program, x))
    if given == "eight":
        see.step("another array")
        see(after=see.same(program(array_at(jax, SIDES["four"])), _holds(form)))


def _refusal(jax, see, program, x, place):
    """What a program is refused with, and whether that speaks of an abstract mesh and of both numbers of devices."""
    try:
        jax.block_until_ready(program(x))
    except Exception as error:
        ours, theirs = len(place.devices), 8 if len(place.devices) == 4 else 4
        numbers = see.names_count(error, ours) and see.names_count(error, theirs)
        whose = _class(see, error)
        told = numbers and see.named(error, ["AbstractMesh"]) != []
        return {"refused": whose, "internal": whose == "internal", "told": told}
    return {"refused": "no", "internal": False, "told": False}


def _lowers(program, x):
    """Whether a program is lowered for an array."""
    try:
        program.lower(x)
    except Exception:
        return False
    return True


NOWHERE: dict[str, Any] = {
    "constraint": FORMS["constraint"],
    "map": FORMS["map"],
}


def nowhere(jax, see, form, given):
    """A program over an abstract mesh is called for a value that is committed nowhere: nothing names devices."""
    x = INPUTS[given](jax)
    lying = [] if given == "numpy" else [x]
    before = remember(see, lying)
    program = jax.jit(NOWHERE[form](jax, _abstract(jax, SIDES["four"])))
    see.step("call")
    try:
        y = jax.block_until_ready(program(x))
    except Exception as error:
        see(refused=_class(see, error))
    else:
        see(refused="no", value=see.same(y, _holds(form)), devices=see.sharding(y)["devices"])
    see(inputs=left(see, lying, before))


# --- where a sharding is asked for ------------------------------------------------------------------------------------

TAKES: dict[str, Any] = {
    "in": lambda jax, sharding: jax.jit(lambda first: first + 1, in_shardings=sharding),
    "inner_in": lambda jax, sharding: jax.jit(lambda first: jax.jit(lambda x: x + 1, in_shardings=sharding)(first)),
    "out": lambda jax, sharding: jax.jit(lambda first: first + 1, out_shardings=sharding),
    "inner_out": lambda jax, sharding: jax.jit(lambda first: jax.jit(lambda x: x + 1, out_shardings=sharding)(first)),
    "put": lambda jax, sharding: jax.jit(lambda first: jax.device_put(first + 1, sharding)),
}
"""Programs that are told a sharding over an abstract mesh in another way than by a constraint."""


def take(jax, see, how, given):
    """A program is told a sharding over an abstract mesh, and called for an array on as many devices."""
    place = SIDES[given]
    x = array_at(jax, place)
    before = remember(see, [x])
    program = TAKES[how](jax, _abstract(jax, SIDES["four"]))
    see.step("call")
    try:
        y = jax.block_until_ready(program(x))
    except Exception as error:
        see(refused=_class(see, error), abstract=see.named(error, ["AbstractMesh"]) != [])
    else:
        placed = _placed(y, _cut(Place(place.devices, SIDES["four"].axes, SIDES["four"].spec)))
        see(refused="no", value=see.same(y, arrays.value(ARRAY) + 1), placed=placed)
        see(devices="elsewhere" if placed == "elsewhere" else "there")
    see(inputs=left(see, [x], before))


PUT_FLAGS = {"plain": {}, "donate": {"donate": True}}


def put(jax, see, given, flags):
    """A value is put to a sharding over an abstract mesh, outside of any jit."""
    x = INPUTS[given](jax) if given in INPUTS else array_at(jax, SIDES[given])
    lying = [] if given == "numpy" else [x]
    before = remember(see, lying)
    compiled = see.compiled()
    see.step("put")
    try:
        y = jax.block_until_ready(jax.device_put(x, _abstract(jax, SIDES["four"]), **PUT_FLAGS[flags]))
    except Exception as error:
        see(refused=_class(see, error), abstract=see.named(error, ["AbstractMesh"]) != [])
    else:
        see(refused="no", abstract=False, value=see.same(y, arrays.value(ARRAY)))
        see(placed=_placed(y, _cut(SIDES[given])) if given in SIDES else "none")
    see(compiled=see.compiled() - compiled, inputs=left(see, lying, before))


TREES = {"meshes": ("four", "square"), "devices": ("four", "other")}
"""Where the leaves of a pytree lie."""

TREE_ACTS = {
    "jit": lambda jax, asked: jax.jit(lambda tree: constrain(jax, tree, asked)),
    "eager": lambda jax, asked: lambda tree: constrain(jax, tree, asked),
}


def tree(jax, see, act, meshes):
    """A constraint on a pytree says something else of each of its leaves, over abstract meshes."""
    u, v = SIDES[TREES[meshes][0]], SIDES[TREES[meshes][1]]
    turned = v.spec[::-1]
    asked = {
        "u": jax.sharding.NamedSharding(u.make(jax).mesh.abstract_mesh, jax.sharding.PartitionSpec(None, "x")),
        "v": jax.sharding.NamedSharding(v.make(jax).mesh.abstract_mesh, jax.sharding.PartitionSpec(*turned)),
    }
    xs = {"u": array_at(jax, u), "v": array_at(jax, v)}
    before = remember(see, [xs["u"], xs["v"]])
    call = TREE_ACTS[act](jax, asked)
    see.step("call")
    ys = jax.block_until_ready(call(xs))
    see(value=all_are([see.same(ys[name], arrays.value(ARRAY)) for name in ("u", "v")]))
    cuts = {"u": _cut(Place(u.devices, u.axes, (None, "x"))), "v": _cut(Place(v.devices, v.axes, turned))}
    see(placed=[_placed(ys[name], cuts[name]) for name in ("u", "v")])
    see(inputs=left(see, [xs["u"], xs["v"]], before))


# --- values -----------------------------------------------------------------------------------------------------------


def _enter(mesh):
    with mesh:
        return True


LACKING: dict[str, Any] = {
    "device_set": lambda sharding: sharding.device_set,
    "addressable_devices": lambda sharding: sharding.addressable_devices,
    "is_fully_addressable": lambda sharding: sharding.is_fully_addressable,
    "devices_indices_map": lambda sharding: sharding.devices_indices_map(SHAPE),
    "addressable_devices_indices_map": lambda sharding: sharding.addressable_devices_indices_map(SHAPE),
    "mesh.devices": lambda sharding: sharding.mesh.devices,
    "mesh.device_ids": lambda sharding: sharding.mesh.device_ids,
    "mesh.local_devices": lambda sharding: sharding.mesh.local_devices,
    "enter": lambda sharding: _enter(sharding.mesh),
}
"""What is asked of a sharding over a mesh, and of the mesh, that only devices can answer."""

HAVING: dict[str, Any] = {
    "num_devices": lambda sharding: sharding.num_devices,
    "is_fully_replicated": lambda sharding: sharding.is_fully_replicated,
    "shard_shape": lambda sharding: list(sharding.shard_shape(SHAPE)),
    "spec": lambda sharding: [*sharding.spec],
    "mesh.size": lambda sharding: sharding.mesh.size,
    "mesh.empty": lambda sharding: sharding.mesh.empty,
    "mesh.shape": lambda sharding: [*sharding.mesh.shape.items()],
    "mesh.axis_names": lambda sharding: [*sharding.mesh.axis_names],
    "mesh.axis_sizes": lambda sharding: [*sharding.mesh.axis_sizes],
}
"""What is asked of them that is the same with devices and without."""


def lacking(jax, see, asked):
    """A sharding over an abstract mesh is asked for something that takes devices."""
    try:
        LACKING[asked](_abstract(jax, SIDES["four"]))
    except Exception as error:
        see(answered=False, abstract=see.named(error, ["AbstractMesh"]) != [])
    else:
        see(answered=True, abstract=False)


def having(jax, see, asked, side):
    """A sharding over an abstract mesh is asked for something that takes no devices, as one with devices is."""
    here = HAVING[asked](_abstract(jax, SIDES[side]))
    see(answer="same" if here == HAVING[asked](SIDES[side].make(jax)) else "differs")


ALIKE = {
    "same": ("four", "four"),
    "other_devices": ("four", "other"),
    "order": ("four", "back"),
    "squares": ("square", "square_other"),
    "size": ("four", "two"),
    "name": ("four", "renamed"),
    "shape": ("four", "square"),
}
"""The abstract meshes of two places; some are equal."""


def alike(jax, see, meshes):
    """Two abstract meshes, and shardings over them with the same spec, are compared."""
    one, other = ALIKE[meshes]
    _compare(jax, see, SIDES[one].make(jax).mesh.abstract_mesh, SIDES[other].make(jax).mesh.abstract_mesh)


def concrete_abstract(jax, see, side):
    """A mesh and its abstract mesh are compared, and shardings over them."""
    mesh = SIDES[side].make(jax).mesh
    _compare(jax, see, mesh.abstract_mesh, mesh)


SPELLED = {
    "named": (("x",), (4,), ("Auto",), "four"),
    "square": (("x", "y"), (2, 2), ("Auto", "Auto"), "square"),
    "explicit": (("x",), (4,), ("Explicit",), "four"),
    "half": (("x", "y"), (2, 2), ("Auto", "Explicit"), "square"),
    "turned": (("y", "x"), (2, 2), ("Auto", "Auto"), "square"),
}
"""Abstract meshes by their axes, and a place whose mesh has such axes; all of its are Auto."""


def spelled(jax, see, mesh):
    """An abstract mesh is made of names, sizes and types, and compared with that of a mesh with devices."""
    names, sizes, types, side = SPELLED[mesh]
    axis_types = tuple(getattr(jax.sharding.AxisType, it) for it in types)
    one = jax.sharding.AbstractMesh(sizes, names, axis_types=axis_types)
    see(types=[it.name for it in one.axis_types])
    devices = SIDES[side].make(jax).mesh.devices
    see(kept=[it.name for it in jax.sharding.Mesh(devices, names, axis_types=axis_types).abstract_mesh.axis_types])
    _compare(jax, see, one, SIDES[side].make(jax).mesh.abstract_mesh)


def default(jax, see, sizes):
    """An abstract mesh is made of names and sizes alone."""
    mesh = jax.sharding.AbstractMesh(tuple(sizes), ("x", "y")[: len(sizes)])
    see(types=sorted({it.name for it in mesh.axis_types}))


def _compare(jax, see, one, other):
    """Whether two meshes are equal, either way round, and have one hash; and whether shardings over them are equal."""
    spec = jax.sharding.PartitionSpec()
    shardings = [jax.sharding.NamedSharding(mesh, spec) for mesh in (one, other)]
    see(equal=one == other, turned=other == one, unequal=one != other, hashes=hash(one) == hash(other))
    see(shardings=shardings[0] == shardings[1], sharding_hashes=hash(shardings[0]) == hash(shardings[1]))


def equivalent(jax, see, side, spec):
    """A sharding over an abstract mesh and one with devices are asked whether they are equivalent, either way round."""
    abstract, concrete = _abstract(jax, SIDES[spec]), SIDES[side].make(jax)
    see(forward=_asked(see, lambda: abstract.is_equivalent_to(concrete, 2)))
    see(backward=_asked(see, lambda: concrete.is_equivalent_to(abstract, 2)))


def _asked(see, ask):
    """What is answered, or whose error it is."""
    try:
        return bool(ask())
    except Exception as error:
        return _class(see, error)


KEPT: dict[str, Any] = {
    "mesh": lambda jax: SIDES["square"].make(jax).mesh.abstract_mesh,
    "sharding": lambda jax: _abstract(jax, SIDES["square"]),
    "kind": lambda jax: jax.sharding.NamedSharding(
        SIDES["four"].make(jax).mesh.abstract_mesh, jax.sharding.PartitionSpec("x"), memory_kind="pinned_host"
    ),
}
WAYS: dict[str, Any] = {
    "pickle": lambda it: pickle.loads(pickle.dumps(it)),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}


def keep(jax, see, what, way):
    """An abstract mesh, or a sharding over one, is copied or goes through pickle."""
    it = KEPT[what](jax)
    again = WAYS[way](it)
    see(equal=it == again, hashes=hash(it) == hash(again), text=repr(it) == repr(again))


def show(jax, see, side):
    """An abstract mesh and a sharding over one are shown."""
    sharding = _abstract(jax, SIDES[side])
    texts = [repr(sharding.mesh), str(sharding.mesh), repr(sharding), str(sharding)]
    see(axes=[see.shows_axes(it, SIDES[side].axes) for it in texts])
    see(abstract=["AbstractMesh" in it for it in texts])


RANKS: dict[str, Any] = {
    "jit": lambda jax, sharding, x: jax.jit(lambda first: constrain(jax, first, sharding))(x),
    "eager": lambda jax, sharding, x: constrain(jax, x, sharding),
    "map": lambda jax, sharding, x: jax.jit(_mapped(jax, lambda x: x, sharding, sharding.spec))(x),
    "shard_shape": lambda jax, sharding, x: sharding.shard_shape(SHAPE),
    "equivalent": lambda jax, sharding, x: sharding.is_equivalent_to(sharding, 2),
}


def rank(jax, see, how):
    """A sharding over an abstract mesh with a spec for three dimensions meets an array of two."""
    mesh = SIDES["four"].make(jax).mesh.abstract_mesh
    sharding = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(None, None, "x"))
    x = array_at(jax, SIDES["four"])
    before = remember(see, [x])
    see.step("ask")
    try:
        RANKS[how](jax, sharding, x)
    except Exception as error:
        see(refused=_class(see, error), spec=see.names_spec(error, (None, None, "x")))
    else:
        see(refused="no", spec=False)
    see(inputs=left(see, [x], before))


# --- helpers ----------------------------------------------------------------------------------------------------------


def _abstract(jax, place):
    """The sharding of a place over its mesh without the devices."""
    sharding = place.make(jax)
    return jax.sharding.NamedSharding(sharding.mesh.abstract_mesh, sharding.spec)


def _placed(y, asked):
    """How an array lies, beside how it is asked to: "asked", "cut" otherwise on the same devices, or "elsewhere"."""
    lies = {
        shard.device.id: [it.indices(size)[:2] for it, size in zip(shard.index, y.shape, strict=True)]
        for shard in y.addressable_shards
    }
    if lies == asked:
        return "asked"
    return "cut" if sorted(lies) == sorted(asked) else "elsewhere"


def _cut(place, shape=SHAPE):
    """What each device of a place holds of an array: from where to where, in each dimension."""
    held = {}
    for number, device in enumerate(place.devices):
        at = _coordinates(place.axes, number)
        found = []
        for dimension, size in enumerate(shape):
            part = place.spec[dimension] if dimension < len(place.spec) else ()
            cutting = () if part is None else (part,) if isinstance(part, str) else part
            count, index = 1, 0
            for axis in cutting:
                count, index = count * dict(place.axes)[axis], index * dict(place.axes)[axis] + at[axis]
            found.append((size // count * index, size // count * (index + 1)))
        held[device] = found
    return held


def _coordinates(axes, number):
    """Where a device stands along each axis of a mesh, by its number in the mesh."""
    return {
        name: number // math.prod(size for _, size in axes[position + 1 :]) % own
        for position, (name, own) in enumerate(axes)
    }


def _class(see, error):
    """Whose error it is: the user's, by its class, or an internal one by its name."""
    if see.named(error, INTERNAL):
        return "internal"
    return "user" if type(error).__name__ in ("ValueError", "TypeError") else type(error).__name__
