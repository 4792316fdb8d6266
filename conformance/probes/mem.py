"""MEM: kinds of memory, in programs and in what they leave; "" is a kind that nobody names, "default" the usual one."""

from __future__ import annotations

import io
import pickle
import warnings
from dataclasses import replace

import numpy as np

from . import arrays
from .common import ARRAY, all_are, class_of, constrain
from .places import FOUR, SQUARE, Place

LAYS = {
    "one": Place((0,)),
    "four": Place(FOUR, SQUARE, ("x", "y")),
    "rep": Place(FOUR, SQUARE),
}
"""One device; four that hold a part each; four that hold everything each."""

# --- how a kind comes into a program ----------------------------------------------------------------------------------


def _put(jax, x, where):
    return jax.device_put(x, where)


def _away(jax, where, back):
    """A step of a loop that puts its state there and back."""

    def step(carry, row):
        return _put(jax, _put(jax, carry + row, where), back), row

    return step


def _branches(jax, where):
    """A branch whose results both lie there."""
    return lambda first: jax.lax.cond(
        first[0, 0] == 0, lambda x: _put(jax, x + 1, where), lambda x: _put(jax, x + 2, where), first
    )


WAYS = {
    "argument": lambda jax, where, back: jax.jit(lambda first: first + 1),
    "returned": lambda jax, where, back: jax.jit(lambda first: first),
    "unused": lambda jax, where, back: jax.jit(lambda first, second: second + 1, keep_unused=True),
    "in": lambda jax, where, back: jax.jit(lambda first: first + 1, in_shardings=where),
    "out": lambda jax, where, back: jax.jit(lambda first: first + 1, out_shardings=where),
    "out_second": lambda jax, where, back: jax.jit(lambda first: (first + 1, first + 2), out_shardings=(None, where)),
    "out_inner": lambda jax, where, back: jax.jit(lambda first: jax.jit(lambda x: x + 1, out_shardings=where)(first)),
    "constraint": lambda jax, where, back: jax.jit(lambda first: constrain(jax, first, where)),
    "constraint_amid": lambda jax, where, back: jax.jit(lambda first: constrain(jax, first + 1, where) * 2),
    "constraint_inner": lambda jax, where, back: jax.jit(
        lambda first: jax.jit(lambda x: constrain(jax, x + 1, where))(first)
    ),
    "put": lambda jax, where, back: jax.jit(lambda first: _put(jax, first, where)),
    "put_amid": lambda jax, where, back: jax.jit(lambda first: _put(jax, first + 1, where) * 2),
    "put_inner": lambda jax, where, back: jax.jit(lambda first: jax.jit(lambda x: _put(jax, x + 1, where))(first)),
    "put_back": lambda jax, where, back: jax.jit(lambda first: _put(jax, _put(jax, first + 1, where), back)),
    "put_scan": lambda jax, where, back: jax.jit(lambda first: jax.lax.scan(_away(jax, where, back), first, first)[0]),
    "put_cond": lambda jax, where, back: jax.jit(_branches(jax, where)),
}
"""Programs in which one place is named, whose kind of memory they are about; `back` is the usual one."""

GIVEN = ("argument", "returned", "unused", "in")
"""The ways in which an argument lies in that kind; in the others it lies in the usual one, unnamed."""


def said(jax, see, lay, way, memory):
    """The module of a program in which one place is named: the kinds of memory that it speaks of."""
    usual, there = LAYS[lay].make(jax), _at(jax, LAYS[lay], memory)
    x = _array(jax, there if way in GIVEN else usual)
    given = (x, _array(jax, usual)) if way == "unused" else (x,)
    program = WAYS[way](jax, there, usual)
    see.step("lower")
    kinds = see.kinds_said(see.lowered(program, *given))
    see(said=kinds, names=memory in kinds)


def said_as_hlo(jax, see, lay, way, memory):
    """The same program as HLO: the kinds of memory that it speaks of, and whether anything in it is placed."""
    usual, there = LAYS[lay].make(jax), _at(jax, LAYS[lay], memory)
    x = _array(jax, there if way in GIVEN else usual)
    given = (x, _array(jax, usual)) if way == "unused" else (x,)
    see.step("lower")
    text = see.lowered_hlo(WAYS[way](jax, there, usual), *given)
    see(said=see.kinds_said(text), placed="annotate_device_placement" in text)


# --- what a put to the usual memory adds to a module ------------------------------------------------------------------

HOW = {
    "none": lambda jax, place: lambda x: jax.device_put(x),
    "device": lambda jax, place: lambda x: jax.device_put(x, jax.devices()[place.devices[0]]),
    "sharding": lambda jax, place: lambda x: jax.device_put(x, _at(jax, place, "default")),
}
"""A put to where its operand lies in the usual memory; told no place, a device, or a sharding that names the kind."""

SPOTS = {
    "whole": lambda jax, put: lambda first: put(first),
    "amid": lambda jax, put: lambda first: put(first + 1) * 2,
    "twice": lambda jax, put: lambda first: put(put(first) + 1),
    "inner": lambda jax, put: lambda first: jax.jit(lambda x: put(x + 1))(first) * 2,
    "scan": lambda jax, put: lambda first: jax.lax.scan(lambda carry, row: (put(carry + row), row), first, first)[0],
    "cond": lambda jax, put: lambda first: jax.lax.cond(first[0, 0] == 0, lambda x: put(x + 1), lambda x: x + 2, first),
    "grad": lambda jax, put: lambda first: jax.grad(lambda x: (put(x) * x).sum())(first),
}
"""Where in a program that put stands."""

HOLDS = {
    "whole": lambda x: x,
    "amid": lambda x: (x + 1) * 2,
    "twice": lambda x: x + 1,
    "inner": lambda x: (x + 1) * 2,
    "scan": lambda x: x + x.sum(axis=0),
    "cond": lambda x: x + 1,
    "grad": lambda x: x * 2,
}
"""What it gives."""


def idle(jax, see, lay, spot, how):
    """The module of a program with a put to where its operand lies anyway, beside that of the same without it."""
    x = _array(jax, LAYS[lay].make(jax))
    see.step("lower")
    with_it, without = (
        see.operations(see.lowered(jax.jit(SPOTS[spot](jax, put)), x))
        for put in (HOW[how](jax, LAYS[lay]), lambda x: x)
    )
    see(added=_added(without, with_it), lost=_added(with_it, without))


def idle_value(jax, see, lay, spot, how):
    """What a program gives that has such a put."""
    x = _array(jax, LAYS[lay].make(jax))
    see.step("call")
    y = jax.block_until_ready(jax.jit(SPOTS[spot](jax, HOW[how](jax, LAYS[lay])))(x))
    see(value=see.same(y, HOLDS[spot](arrays.value(ARRAY))), memory=_named(jax, see, y))


# --- which kind a result has ------------------------------------------------------------------------------------------

FORMS = {
    "put_eager": lambda jax, places: lambda x: [jax.device_put(x, it) for it in places],
    "constraint_eager": lambda jax, places: lambda x: [constrain(jax, x, it) for it in places],
    "out": lambda jax, places: jax.jit(lambda x: [x] * len(places), out_shardings=places),
    "constraint": lambda jax, places: jax.jit(lambda x: [constrain(jax, x, it) for it in places]),
    "put": lambda jax, places: jax.jit(lambda x: [jax.device_put(x, it) for it in places]),
}
"""One array, laid down at several places, which differ in their kinds of memory."""


def moved(jax, see, lay, form, memory):
    """An array in one kind of memory is laid down in every kind that there is: in which each result lies."""
    x = _array(jax, _at(jax, LAYS[lay], memory))
    lies = see.memory_kind(x)
    kinds = [it.kind for it in jax.devices()[0].addressable_memories()]
    call = FORMS[form](jax, [LAYS[lay].make(jax).with_memory_kind(kind) for kind in kinds])
    see.step("call")
    try:
        ys = jax.block_until_ready(call(x))
    except Exception:
        see(result="raises", elsewhere=["nothing there"], shards=[])
    else:
        see(result="done" if all(see.same(y, arrays.value(ARRAY)) == "same" for y in ys) else "differs")
        see(elsewhere=_elsewhere(kinds, [see.memory_kind(y) for y in ys]))
        see(shards=_elsewhere([see.memory_kind(y) for y in ys], ["+".join(see.shard_kinds(y)) for y in ys]))
    see(input=_kept(see, x, lies))


def stays(jax, see, lay, form, memory):
    """A program is given an array in one kind of memory and told of no other: in which its result lies."""
    x = _array(jax, _at(jax, LAYS[lay], memory))
    lies = see.memory_kind(x)
    see.step("call")
    y = jax.block_until_ready(jax.jit(STAYS[form])(x))
    see(value=see.same(y, STAYS[form](arrays.value(ARRAY))))
    see(memory="its own" if see.memory_kind(y) == lies else _named(jax, see, y))
    see(input=_kept(see, x, lies))


STAYS = {"returned": lambda x: x, "computed": lambda x: x + 1}

# --- kinds as part of shardings ---------------------------------------------------------------------------------------


def _memory(jax, memory):
    """How a kind of memory is given; by name, or not at all."""
    if memory == "unnamed":
        return {}
    return {"memory_kind": jax.devices()[0].default_memory().kind if memory == "default" else memory}


def _single(jax, memory):
    return jax.sharding.SingleDeviceSharding(jax.devices()[0], **_memory(jax, memory))


def _mesh_of_one(jax, memory):
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:1]), ("x",))
    return jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("x"), **_memory(jax, memory))


def _named_sharding(jax, memory):
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:4]).reshape(2, 2), ("x", "y"))
    return jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("x", "y"), **_memory(jax, memory))


def _positional(jax, memory):
    devices = np.array(jax.devices()[:4]).reshape(2, 2)
    return jax.sharding.PositionalSharding(devices, **_memory(jax, memory))


def _gspmd(jax, memory):
    return jax.sharding.GSPMDSharding.get_replicated(tuple(jax.devices()[:4]), **_memory(jax, memory))


TYPES = {
    "single": _single,
    "mesh_of_one": _mesh_of_one,
    "named": _named_sharding,
    "positional": _positional,
    "gspmd": _gspmd,
}
"""Shardings by their class, in a kind of memory."""


def pair(jax, see, one, other, memory, second):
    """Two shardings that differ in their kind of memory at most, and perhaps in how they are written."""
    x, y = TYPES[one](jax, memory), TYPES[other](jax, second)
    see(equal=x == y, hashes=hash(x) == hash(y))
    see(equivalent=sorted({x.is_equivalent_to(y, 2), y.is_equivalent_to(x, 2)}))
    see(shown=repr(x) != repr(y))


def sharding(jax, see, one, memory):
    """A sharding in a kind of memory: what it says of it, what is left by pickling, and the same in each other kind."""
    x = TYPES[one](jax, memory)
    usual = jax.devices()[0].default_memory().kind
    kind = usual if memory in ("unnamed", "default") else memory
    see(memory=x.memory_kind == kind, named=kind in repr(x))
    kinds = [it.kind for it in jax.devices()[0].addressable_memories()]
    others = [x.with_memory_kind(it) for it in kinds]
    see(changed=_elsewhere(kinds, [it.memory_kind for it in others]))
    see(back=all_are([it.with_memory_kind(kind) == x.with_memory_kind(kind) for it in others]))
    see(alike=all_are([_but_for_memory(it) == _but_for_memory(x) for it in others]))
    see(original=x.memory_kind == kind)
    see.step("pickle")
    try:
        again = _pickled(jax, x)
    except TypeError:
        see(pickled="refused")
    else:
        see(pickled="same" if again == x and again.memory_kind == x.memory_kind else "differs")


def _but_for_memory(sharding):
    """A sharding as data, without its kind of memory: its class, how it cuts, and its devices in order."""
    try:
        cuts = sharding.devices_indices_map((8, 8))
    except Exception:
        return type(sharding).__name__, "cuts nothing"
    return type(sharding).__name__, [(device.id, str(at)) for device, at in cuts.items()]


def _pickled(jax, x):
    """What is read of what is written of a sharding; devices are written as their ids."""
    device = type(jax.devices()[0])
    written = io.BytesIO()
    writer = pickle.Pickler(written)
    setattr(writer, "persistent_id", lambda it: it.id if isinstance(it, device) else None)  # noqa: B010
    writer.dump(x)
    reader = pickle.Unpickler(io.BytesIO(written.getvalue()))
    setattr(reader, "persistent_load", lambda id: jax.devices()[id])  # noqa: B010
    return reader.load()


# --- kinds that there are not -----------------------------------------------------------------------------------------

WRONG = {"unknown": "nonsense", "empty": "", "capitals": "DEVICE", "number": 3, "tuple": ("device",)}
"""What is no kind of memory: names that no memory has, and things that are no names."""

ASKED = {
    "single": lambda jax, kind: jax.sharding.SingleDeviceSharding(jax.devices()[0], memory_kind=kind),
    "named": lambda jax, kind: jax.sharding.NamedSharding(
        _named_sharding(jax, "unnamed").mesh, jax.sharding.PartitionSpec("x", "y"), memory_kind=kind
    ),
    "positional": lambda jax, kind: jax.sharding.PositionalSharding(np.array(jax.devices()[:4]), memory_kind=kind),
    "gspmd": lambda jax, kind: jax.sharding.GSPMDSharding.get_replicated(tuple(jax.devices()[:4]), memory_kind=kind),
    "with_single": lambda jax, kind: _single(jax, "unnamed").with_memory_kind(kind),
    "with_named": lambda jax, kind: _named_sharding(jax, "unnamed").with_memory_kind(kind),
    "with_positional": lambda jax, kind: _positional(jax, "unnamed").with_memory_kind(kind),
    "with_gspmd": lambda jax, kind: _gspmd(jax, "unnamed").with_memory_kind(kind),
    "device": lambda jax, kind: jax.devices()[0].memory(kind),
}
"""Where a kind of memory is asked for."""


def wrong(jax, see, asked, given):
    """A kind of memory that there is not is asked for: what the refusal says."""
    see.step("ask")
    try:
        ASKED[asked](jax, WRONG[given])
    except Exception as error:
        see(refused=class_of(see, error), named=see.named(error, [str(WRONG[given])]) != [])
        kinds = [it.kind for it in jax.devices()[0].addressable_memories()]
        see(offers=see.named(error, kinds) == kinds)
    else:
        see(refused="no", named=False, offers=False)


def memories(jax, see):
    """The memories of every device."""
    found = []
    for device in jax.devices():
        kinds = [it.kind for it in device.addressable_memories()]
        found.append(
            {
                "default": device.default_memory().kind in kinds,
                "once": len(set(kinds)) == len(kinds),
                "found": [device.memory(kind).kind for kind in kinds] == kinds,
                "usable": [jax.sharding.SingleDeviceSharding(device, memory_kind=kind).memory_kind for kind in kinds]
                == kinds,
            }
        )
    see(**{name: all_are([it[name] for it in found]) for name in ("default", "once", "found", "usable")})


# --- two kinds that meet ----------------------------------------------------------------------------------------------

ENTRIES = {
    "in": lambda jax, where: jax.jit(lambda first: first + 1, in_shardings=where),
    "in_second": lambda jax, where: jax.jit(lambda first, second: second + 1, in_shardings=(None, where)),
    "in_unused": lambda jax, where: jax.jit(lambda first, second: first + 1, in_shardings=(None, where)),
    "in_tree": lambda jax, where: jax.jit(lambda tree: tree["u"] + 1, in_shardings=({"u": where},)),
    "in_donated": lambda jax, where: jax.jit(lambda first: first + 1, in_shardings=where, donate_argnums=0),
    "in_lower": lambda jax, where: jax.jit(lambda first: first + 1, in_shardings=where).lower,
}
"""Programs whose in_shardings name a kind of memory."""

TAKES = {
    "in_second": lambda x: (arrays.value(ARRAY), x),
    "in_unused": lambda x: (arrays.value(ARRAY), x),
    "in_tree": lambda x: ({"u": x},),
}
"""What they take, if it is not the argument alone."""

CALLED = {"in_second": ("second", 1), "in_unused": ("second", 1), "in_tree": ("tree['u']", 0)}
"""What that argument is called, if it is not the first."""


def entry(jax, see, lay, entry, memory, second):
    """An argument in one kind of memory meets in_shardings of another."""
    x = _array(jax, _at(jax, LAYS[lay], memory))
    lies = see.memory_kind(x)
    program = ENTRIES[entry](jax, _at(jax, LAYS[lay], second))
    given = TAKES[entry](x) if entry in TAKES else (x,)
    wanted = _at(jax, LAYS[lay], second).memory_kind
    compiled = see.compiled()
    told = []
    for step in ("call", "call again"):
        see.step(step)
        try:
            jax.block_until_ready(program(*given))
        except Exception as error:
            told.append(class_of(see, error))
            see(named=see.names_argument(error, *CALLED.get(entry, ("first", 0))))
            see(kinds=see.named(error, [lies, wanted]) == [lies, wanted])
        else:
            told.append("no")
            see(named=False, kinds=False)
    see(refused=told[0], again=told[1], compiled=see.compiled() - compiled)
    see(input=_kept(see, x, lies))


def follow(jax, see, lay, given, memory):
    """A value that is committed nowhere meets in_shardings of a kind of memory."""
    x = arrays.value(ARRAY)
    if given == "free":
        x = jax.block_until_ready(jax.device_put(x))
    lies = see.memory_kind(x) if given == "free" else ""
    program = jax.jit(lambda first: first + 1, in_shardings=_at(jax, LAYS[lay], memory))
    see.step("call")
    try:
        y = jax.block_until_ready(program(x))
    except Exception as error:
        see(result=class_of(see, error))
    else:
        see(result=see.same(y, arrays.value(ARRAY) + 1))
    see(input=_kept(see, x, lies) if given == "free" else "intact")


PAIRED = {
    "add": lambda jax: lambda x, y: x + y,
    "jit": lambda jax: jax.jit(lambda first, second: first + second),
    "concatenate": lambda jax: lambda x, y: jax.numpy.concatenate([x, y])[:8] + y,
    "where": lambda jax: jax.jit(lambda first, second: jax.numpy.where(first >= 0, first + second, second)),
    "inner": lambda jax: jax.jit(lambda first, second: jax.jit(lambda x, y: x + y)(first, second)),
    "scan": lambda jax: jax.jit(
        lambda first, second: jax.lax.scan(lambda carry, _: (carry + second, None), first, None, length=1)[0]
    ),
}
"""Operations on two arrays; all of them add them up."""


def mixed(jax, see, lay, act, memory, second):
    """Two arrays in different kinds of memory meet in one operation."""
    x = _array(jax, _at(jax, LAYS[lay], memory))
    y = _array(jax, _at(jax, LAYS[lay], second))
    lies = [see.memory_kind(x), see.memory_kind(y)]
    see.step("call")
    try:
        z = jax.block_until_ready(PAIRED[act](jax)(x, y))
    except Exception as error:
        see(result="refused" if class_of(see, error) == "ValueError" else class_of(see, error))
        see(said="both" if see.named(error, lies) == lies else "not both")
    else:
        see(result=see.same(z, arrays.value(ARRAY) * 2), said="nothing")
    see(inputs=[_kept(see, x, lies[0]), _kept(see, y, lies[1])])


# --- what is done with an array in the host's memory ------------------------------------------------------------------

INDEX = {
    "element": lambda jax, x: x[1, 2],
    "row": lambda jax, x: x[1],
    "last": lambda jax, x: x[-1],
    "slice": lambda jax, x: x[2:6],
    "stepped": lambda jax, x: x[::2],
    "column": lambda jax, x: x[:, 1],
    "dynamic": lambda jax, x: x[jax.numpy.asarray(np.int32(1))],
}
"""Parts of an array,"""
COMPUTE = {
    "add": lambda jax, x: x + 1,
    "twice": lambda jax, x: x + x,
    "sum": lambda jax, x: x.sum(),
    "max": lambda jax, x: x.max(axis=0),
    "transpose": lambda jax, x: x.T,
    "reshape": lambda jax, x: x.reshape(4, 16),
    "astype": lambda jax, x: x.astype(np.int32),
    "concatenate": lambda jax, x: jax.numpy.concatenate([x, x]),
    "matmul": lambda jax, x: x @ x,
    "where": lambda jax, x: jax.numpy.where(x > 3, x, 0),
}
"""what is computed of it,"""
READ = {
    "asarray": lambda jax, x: np.asarray(x),
    "get": lambda jax, x: jax.device_get(x),
    "rows": lambda jax, x: np.stack([np.asarray(row) for row in x]),
    "scalar": lambda jax, x: np.float32(float(x[1, 2])),
    "shards": lambda jax, x: np.asarray(jax.device_get(x.addressable_shards[0].data)),
}
"""how it is read,"""
MANY = {
    "parts": lambda jax, x: [x[1, 2], x[1], x[-1], x[2:6], x[:, 1]],
    "results": lambda jax, x: [
        *[x + 1, x + x, x.sum(), x.max(axis=0), x.T, x.reshape(4, 16), x.astype(np.int32)],
        *[jax.numpy.concatenate([x, x]), x @ x],
    ],
}
"""and several of these in one program."""

PARTS = {
    "element": lambda x: x[1, 2],
    "row": lambda x: x[1],
    "last": lambda x: x[-1],
    "slice": lambda x: x[2:6],
    "stepped": lambda x: x[::2],
    "column": lambda x: x[:, 1],
    "dynamic": lambda x: x[1],
    "add": lambda x: x + 1,
    "twice": lambda x: x + x,
    "sum": lambda x: x.sum(),
    "max": lambda x: x.max(axis=0),
    "transpose": lambda x: x.T,
    "reshape": lambda x: x.reshape(4, 16),
    "astype": lambda x: x.astype(np.int32),
    "concatenate": lambda x: np.concatenate([x, x]),
    "matmul": lambda x: x @ x,
    "where": lambda x: np.where(x > 3, x, np.float32(0)),
    "asarray": lambda x: x,
    "get": lambda x: x,
    "rows": lambda x: x,
    "scalar": lambda x: x[1, 2],
    "parts": lambda x: [x[1, 2], x[1], x[-1], x[2:6], x[:, 1]],
    "results": lambda x: [
        *[x + 1, x + x, x.sum(), x.max(axis=0), x.T, x.reshape(4, 16), x.astype(np.int32)],
        *[np.concatenate([x, x]), x @ x],
    ],
}
"""What each of them gives."""


def used(jax, see, lay, act, how, memory):
    """An array in one kind of memory is indexed, computed with or read."""
    x = _array(jax, _at(jax, LAYS[lay], memory))
    lies = see.memory_kind(x)
    f = {**INDEX, **COMPUTE, **READ, **MANY}[act]
    see.step("call")
    try:
        y = jax.block_until_ready(jax.jit(lambda x: f(jax, x))(x) if how == "jit" else f(jax, x))
    except Exception as error:
        see(result=class_of(see, error))
    else:
        wanted = arrays.value(ARRAY)[x.addressable_shards[0].index] if act == "shards" else _part(act)
        pairs = zip(y, wanted, strict=True) if act in MANY else [(y, wanted)]
        see(result="same" if all(_alike(one, other) for one, other in pairs) else "differs")
    see(input=_kept(see, x, lies))


def _alike(one, other):
    """Whether a result is what the host computes, in value and dtype."""
    return np.asarray(one).dtype == np.asarray(other).dtype and np.array_equal(np.asarray(one), np.asarray(other))


def _part(act):
    """What the host computes of the array."""
    return PARTS[act](arrays.value(ARRAY))


THROUGH = {
    "vmap": lambda jax, there, back: jax.vmap(lambda row: row + 1),
    "inner": lambda jax, there, back: jax.jit(lambda x: jax.jit(lambda x: x + 1)(x)),
    "scan": lambda jax, there, back: jax.jit(lambda x: jax.lax.scan(lambda carry, row: (carry, row + 1), 0, x)[1]),
    "cond": lambda jax, there, back: jax.jit(lambda x: jax.lax.cond(True, lambda x: x + 1, lambda x: x + 2, x)),
    "while": lambda jax, there, back: jax.jit(
        lambda x: jax.lax.while_loop(lambda state: state[0] < 1, lambda state: (state[0] + 1, state[1] + 1), (0, x))[1]
    ),
    "grad": lambda jax, there, back: jax.grad(lambda x: (x * x).sum()),
    "grad_jit": lambda jax, there, back: jax.jit(jax.grad(lambda x: (x * x).sum())),
    "grad_away": lambda jax, there, back: jax.grad(lambda x: _away_and_back(jax, x, there, back).sum()),
    "grad_away_jit": lambda jax, there, back: jax.jit(jax.grad(lambda x: _away_and_back(jax, x, there, back).sum())),
}
"""Transformations, loops and branches of an array in one kind of memory, or of one that goes there and back."""


def _away_and_back(jax, x, there, back):
    return jax.device_put(jax.device_put(x, there) * 3, back)


def through(jax, see, lay, form, memory):
    """An array in one kind of memory goes through a transformation, a loop or a branch."""
    usual, there = LAYS[lay].make(jax), _at(jax, LAYS[lay], memory)
    away = form.startswith("grad_away")
    x = _array(jax, usual if away else there)
    value = arrays.value(ARRAY)
    wanted = np.full_like(value, 3) if away else value * 2 if form.startswith("grad") else value + 1
    see.step("call")
    try:
        y = jax.block_until_ready(THROUGH[form](jax, there, usual)(x))
    except Exception as error:
        see(result=class_of(see, error))
    else:
        see(result=see.same(y, wanted))


# --- other arrays -----------------------------------------------------------------------------------------------------


def other(jax, see, lay, array, memory):
    """An array of keys, without elements or without dimensions goes to a kind of memory and back, in a program too."""
    usual, there = LAYS[lay].make(jax), _at(jax, LAYS[lay], memory)
    x = arrays.make(jax, "one", array)
    see.step("put")
    y = jax.block_until_ready(jax.device_put(x, there))
    back = jax.block_until_ready(jax.device_put(y, usual))
    see(
        put=see.memory_kind(y) == there.memory_kind,
        value=see.same(arrays.numbers(jax, array, back), arrays.value(array)),
    )
    see.step("call")
    try:
        z = jax.block_until_ready(jax.jit(lambda first: first, out_shardings=there)(jax.device_put(x, usual)))
    except Exception as error:
        see(result=class_of(see, error), result_in=False)
    else:
        back = jax.block_until_ready(jax.device_put(z, usual))
        see(result=see.same(arrays.numbers(jax, array, back), arrays.value(array)))
        see(result_in=_named(jax, see, z) == memory)


# --- donation ---------------------------------------------------------------------------------------------------------

GIVES = {
    "out": lambda jax, where: jax.jit(lambda first: first + 1, out_shardings=where, donate_argnums=0),
    "put": lambda jax, where: jax.jit(lambda first: jax.device_put(first + 1, where), donate_argnums=0),
    "put_only": lambda jax, where: jax.jit(lambda first: jax.device_put(first, where), donate_argnums=0),
}
"""Programs that take an argument for good, and leave their result somewhere."""


def given_up(jax, see, lay, form, memory, second):
    """An argument in one kind of memory is donated to a program whose result is to lie in another, or in the same."""
    x = _array(jax, _at(jax, LAYS[lay], memory))
    program = GIVES[form](jax, _at(jax, LAYS[lay], second))
    see.step("call")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            y = jax.block_until_ready(program(x))
        except Exception as error:
            see(result=class_of(see, error))
        else:
            see(result=see.same(y, arrays.value(ARRAY) + (form != "put_only")))
    see(told=any("donated" in str(it.message) for it in told))
    see(input=see.state(x, arrays.value(ARRAY)))


# --- kinds in keys ----------------------------------------------------------------------------------------------------


def keyed(jax, see, lay, memory):
    """One program is called with an array in the default memory, with one in another kind, and with the first again."""
    usual, there = LAYS[lay].make(jax), _at(jax, LAYS[lay], memory)
    program = jax.jit(see.traced(lambda first: first + 1))
    results, again = [], []
    for where in (usual, there, usual, there):
        x = _array(jax, where)
        done = see.redone(lambda x=x: results.append(jax.block_until_ready(program(x))))
        again.append(done["compile"])
    see(value=all_are([see.same(y, arrays.value(ARRAY) + 1) for y in results]))
    see(first=again[1], later=again[2:])


def keyed_out(jax, see, lay, memory):
    """One function is jitted with out_shardings of two kinds of memory, which are called in turn."""
    usual, there = LAYS[lay].make(jax), _at(jax, LAYS[lay], memory)
    x = _array(jax, usual)

    def f(first):
        return first + 1

    results, kinds, again = [], [], []
    for where in (usual, there, usual, there):
        program = jax.jit(f, out_shardings=where)
        try:
            done = see.redone(lambda program=program: results.append(jax.block_until_ready(program(x))))
        except Exception as error:
            see(kinds=class_of(see, error), later=[])
            return
        kinds.append(see.memory_kind(results[-1]) == (where.memory_kind or see.memory_kind(x)))
        again.append(done["compile"])
    see(kinds="right" if all(kinds) else "wrong", later=again[2:])


# --- helpers ----------------------------------------------------------------------------------------------------------


def _at(jax, place, memory):
    """A place in a kind of memory."""
    if memory == "default":
        return place.make(jax).with_memory_kind(jax.devices()[0].default_memory().kind)
    return replace(place, kind="" if memory == "unnamed" else memory).make(jax)


def _named(jax, see, y):
    """The kind of memory that an array lies in; "default" for the usual one."""
    kind = see.memory_kind(y)
    return "default" if kind == jax.devices()[0].default_memory().kind else kind


def _elsewhere(asked, found):
    """Which kinds of memory became others: "asked -> found" for each."""
    return [f"{one} -> {other}" for one, other in zip(asked, found, strict=True) if one != other]


def _kept(see, x, lies):
    """What became of an argument: as `see.state` says it, or "moved" if it lies in another kind than it did."""
    state = see.state(x, arrays.value(ARRAY))
    return "moved" if state == "intact" and see.memory_kind(x) != lies else state


def _added(some, others):
    """The operations that others have more of."""
    return [name for name, count in others.items() if count > some.get(name, 0)]


def _array(jax, where):
    """A fresh array there, its transfer done."""
    return jax.block_until_ready(jax.device_put(arrays.value(ARRAY), where))
