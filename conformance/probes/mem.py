"""MEM: kinds of memory, in programs and in what they leave; "" is a kind that nobody names, "default" the usual one."""

from __future__ import annotations

from dataclasses import replace

from . import arrays
from .places import FOUR, SQUARE, Place

ARRAY = "f32_8x8"

LAYS = {
    "one": Place((0,)),
    "four": Place(FOUR, SQUARE, ("x", "y")),
    "rep": Place(FOUR, SQUARE),
}
"""One device; four that hold a part each; four that hold everything each."""

# --- how a kind comes into a program ----------------------------------------------------------------------------------


def _put(jax, x, where):
    return jax.device_put(x, where)


def _constrain(jax, x, where):
    return jax.lax.with_sharding_constraint(x, where)


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
    "constraint": lambda jax, where, back: jax.jit(lambda first: _constrain(jax, first, where)),
    "constraint_amid": lambda jax, where, back: jax.jit(lambda first: _constrain(jax, first + 1, where) * 2),
    "constraint_inner": lambda jax, where, back: jax.jit(
        lambda first: jax.jit(lambda x: _constrain(jax, x + 1, where))(first)
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
    "constraint_eager": lambda jax, places: lambda x: [_constrain(jax, x, it) for it in places],
    "out": lambda jax, places: jax.jit(lambda x: [x] * len(places), out_shardings=places),
    "constraint": lambda jax, places: jax.jit(lambda x: [_constrain(jax, x, it) for it in places]),
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
