"""AOT: programs that are lowered and compiled ahead of time, what they say of themselves, and their calls."""

from __future__ import annotations

import contextlib
import inspect
import re
import threading
from typing import Any

import numpy as np

from . import arrays
from .arrays import ARRAYS
from .common import ARRAY, INTERNAL, all_are, constrain, mapped
from .places import EIGHT, FOUR, SQUARE, Place

LINE = (("x", 4),)
PLACES = {
    "free": Place((0,), committed=False),
    "dev1": Place((1,)),
    "mesh1": Place((1,), (("x", 1),), ("x",)),
    "four": Place(FOUR, LINE, ("x",)),
    "back": Place((3, 2, 1, 0), LINE, ("x",)),
    "rep": Place(FOUR, LINE),
    "square": Place(FOUR, SQUARE, ("x", "y")),
    "eight": Place(EIGHT, (("x", 8),), ("x",)),
    "other": Place((4, 5, 6, 7), LINE, ("x",)),
    "other_rep": Place((4, 5, 6, 7), LINE),
    "square_other": Place((4, 5, 6, 7), SQUARE, ("x", "y")),
    "two": Place((0, 1), (("x", 2),), ("x",)),
}
"""Where the arguments of programs lie: nowhere in particular, on one device, on several."""

# --- programs ---------------------------------------------------------------------------------------------------------


def _scan(jax, at):
    return jax.jit(lambda first: jax.lax.scan(lambda carry, row: (carry + row, row), first, first)[0])


def _bump(jax, at):
    return jax.jit(lambda first: first + 1)


def _add(jax, at):
    return jax.jit(lambda first, second: first + second)


PROGRAMS: dict[str, Any] = {
    "plain": _bump,
    "two": _add,
    "both": lambda jax, at: jax.jit(lambda first, second: (first + 1, second + 2)),
    "tree": lambda jax, at: jax.jit(lambda tree: {"a": tree["u"] + 1, "b": (tree["v"][0] + 2, [tree["v"][1]])}),
    "empty": lambda jax, at: jax.jit(lambda tree: {"a": tree["u"] + 1, "n": tree["n"], "e": ()}),
    "keyword": lambda jax, at: jax.jit(lambda first, *, second: first + second),
    "keywords": lambda jax, at: jax.jit(lambda **named: named["b"] + named["a"]),
    "rest": lambda jax, at: jax.jit(lambda *rest: rest[0] + rest[1]),
    "default": lambda jax, at: jax.jit(lambda first, second=2: first + second),
    "static": lambda jax, at: jax.jit(lambda n, first: first * n, static_argnums=0),
    "static_name": lambda jax, at: jax.jit(lambda first, n: first * n, static_argnames="n"),
    "donated": lambda jax, at: jax.jit(lambda first: first + 1, donate_argnums=0),
    "donated_name": lambda jax, at: jax.jit(lambda first, second: (first + 1, second + 2), donate_argnames="second"),
    "donated_tree": lambda jax, at: jax.jit(
        lambda first, tree: (first + 1, tree["u"] + 2, tree["v"] + 3), donate_argnums=1
    ),
    "unused": lambda jax, at: jax.jit(lambda first, second: first + 1),
    "kept": lambda jax, at: jax.jit(lambda first, second: first + 1, keep_unused=True),
    "identity": lambda jax, at: jax.jit(lambda first: first),
    "twice": lambda jax, at: jax.jit(lambda first: (first, first)),
    "constant": lambda jax, at: jax.jit(lambda first: np.ones((8, 8), np.float32)),
    "nothing": lambda jax, at: jax.jit(lambda first: None),
    "no_arguments": lambda jax, at: jax.jit(lambda: jax.numpy.arange(8)),
    "inner": lambda jax, at: jax.jit(lambda first: jax.jit(lambda x: x + 1)(first) * 2),
    "map": lambda jax, at: jax.jit(lambda first: mapped(jax, at)(first)),
    "constraint": lambda jax, at: jax.jit(lambda first: constrain(jax, first + 1, at)),
    "in": lambda jax, at: jax.jit(lambda first: first + 1, in_shardings=at),
    "out": lambda jax, at: jax.jit(lambda first: first + 1, out_shardings=at),
    "outs": lambda jax, at: jax.jit(lambda first: (first + 1, first + 2), out_shardings=(at, None)),
    "in_numpy": lambda jax, at: jax.jit(lambda first: first + 1, in_shardings=at),
    "scan": _scan,
    "cond": lambda jax, at: jax.jit(
        lambda first: jax.lax.cond(first[0, 0] == 0, lambda x: x + 1, lambda x: x - 1, first)
    ),
    "grad": lambda jax, at: jax.jit(jax.grad(lambda first: (first * first).sum())),
    "vmap": lambda jax, at: jax.jit(jax.vmap(lambda first: first + 1)),
    "sum": lambda jax, at: jax.jit(lambda first: {"sum": first.sum()}),
    "numpy": _add,
    "python": _add,
    "np_scalar": _add,
    "weak": _bump,
    "key": lambda jax, at: jax.jit(lambda first: (jax.random.key_data(first), first)),
    "zero": _bump,
    "scalar": _bump,
    "bool": lambda jax, at: jax.jit(lambda first: first),
    "int": _bump,
    "bf16": _bump,
    "complex": _bump,
}
"""Programs of every form, given a sharding that some of them name."""

ONE = {
    "key": "key_8x8",
    "zero": "f32_0x8",
    "scalar": "f32_0d",
    "bool": "b1_8x8",
    "int": "i32_8x8",
    "bf16": "bf16_8x8",
    "complex": "c64_8x8",
}
"""The arrays of those programs that are not called with one of the usual."""

GIVES: dict[str, Any] = {
    "two": lambda x, n: (x[:2], {}),
    "both": lambda x, n: (x[:2], {}),
    "tree": lambda x, n: (({"u": x[0], "v": x[1:]},), {}),
    "empty": lambda x, n: (({"u": x[0], "n": None},), {}),
    "keyword": lambda x, n: (x[:1], {"second": x[1]}),
    "keywords": lambda x, n: ((), {"b": x[0], "a": x[1]}),
    "rest": lambda x, n: (x[:2], {}),
    "static": lambda x, n: ((*n, x[0]), {}),
    "static_name": lambda x, n: (x[:1], {"n": 3} if n else {}),
    "donated_name": lambda x, n: (x[:2], {}),
    "donated_tree": lambda x, n: ((x[0], {"u": x[1], "v": x[2]}), {}),
    "unused": lambda x, n: (x[:2], {}),
    "kept": lambda x, n: (x[:2], {}),
    "no_arguments": lambda x, n: ((), {}),
    "in_numpy": lambda x, n: ((arrays.value(ARRAY),), {}),
    "numpy": lambda x, n: ((x[0], arrays.value(ARRAY)), {}),
    "python": lambda x, n: ((x[0], 3.0), {}),
    "np_scalar": lambda x, n: ((x[0], np.float32(3)), {}),
    "weak": lambda x, n: ((3.0,), {}),
}
"""What those programs are called with that take more, or other things, than one array, by position and by name.

There are three arrays; `n` are the static arguments, which a compiled program does not take.
"""

DONATED = {"donated": [0], "donated_name": [1], "donated_tree": [1, 2]}
"""The arrays among the arguments that are donated, by number."""

DROPPED = {"unused": [1], "constant": [0], "nothing": [0]}
"""Those that the program neither uses nor keeps."""


def _tupled(v):
    return v + 1, v + 2


GIVEN_BACK: dict[str, Any] = {
    "two": lambda v: v + v,
    "both": _tupled,
    "tree": lambda v: {"a": v + 1, "b": (v + 2, [v])},
    "empty": lambda v: {"a": v + 1, "n": None, "e": ()},
    "keyword": lambda v: v + v,
    "keywords": lambda v: v + v,
    "rest": lambda v: v + v,
    "default": lambda v: v + 2,
    "static": lambda v: v * 3,
    "static_name": lambda v: v * 3,
    "donated_name": _tupled,
    "donated_tree": lambda v: (v + 1, v + 2, v + 3),
    "identity": lambda v: v,
    "twice": lambda v: (v, v),
    "constant": lambda v: np.ones((8, 8), np.float32),
    "nothing": lambda v: None,
    "no_arguments": lambda v: np.arange(8, dtype=np.int32),
    "inner": lambda v: (v + 1) * 2,
    "outs": _tupled,
    "scan": lambda v: v + v.sum(axis=0),
    "grad": lambda v: v + v,
    "sum": lambda v: {"sum": v.sum()},
    "numpy": lambda v: v + v,
    "python": lambda v: v + 3,
    "np_scalar": lambda v: v + 3,
    "weak": lambda v: np.float32(4),
    "key": lambda v: (v, v),
    "bool": lambda v: v,
    "int": lambda v: v + np.int32(1),
    "bf16": lambda v: v + v.dtype.type(1),
    "complex": lambda v: v + np.complex64(1),
}
"""What programs give back for a value; the others give one more."""


STATIC = (3,)


def stages(jax, see, form, place):
    """A program is lowered and compiled, says what it is, and is called: beside a call of the jitted function."""
    program = PROGRAMS[form](jax, PLACES[place].make(jax))
    args, kwargs = _arguments(jax, form, place, STATIC)
    given = _arrays(jax, (args, kwargs))
    before = _remember(jax, see, given)
    counts = see.counts()
    see.step("lower")
    lowered = program.lower(*args, **kwargs)
    see(lowering=_left(jax, see, form, given, before), compiled=_since(see, counts)["compile"])
    see.step("compile")
    ready = lowered.compile()
    see(compiling=_left(jax, see, form, given, before))
    args, kwargs = _arguments(jax, form, place, ())
    given = _arrays(jax, (args, kwargs))
    before = _remember(jax, see, given)
    counts = see.counts()
    see.step("call")
    y = jax.block_until_ready(ready(*args, **kwargs))
    see(redone=_since(see, counts))
    see(value=_same(jax, see, form, y))
    see.step("look at what it says")
    _says_of_arguments(jax, see, form, place, (lowered, ready), (args, kwargs))
    _says_of_results(jax, see, lowered, ready, y)
    if form in ("out", "outs"):
        first = jax.tree.leaves(lowered.out_info)[0]
        see(placed=_alike(_lies(see, first), see.sharding(jax.tree.leaves(y)[0])))
    see.step("look at its arguments")
    donated = [n for n in DONATED.get(form, []) if n < len(given)]
    stay = [n for n in range(len(given)) if n not in donated]
    see(stay=_left(jax, see, form, [given[n] for n in stay], [before[n] for n in stay]))
    gone = [see.state(given[n], arrays.value(ARRAY)) for n in donated]
    see.step("call again")
    args, kwargs = _arguments(jax, form, place, ())
    see(again=_same(jax, see, form, ready(*args, **kwargs)))
    see.step("call the jitted function")
    args, kwargs = _arguments(jax, form, place, STATIC)
    given = _arrays(jax, (args, kwargs))
    z = jax.block_until_ready(program(*args, **kwargs))
    ys, zs = jax.tree.leaves(y), jax.tree.leaves(z)
    see(tree=_alike(jax.tree.structure(y), jax.tree.structure(z)))
    see(types=_alike([_type(it) for it in ys], [_type(it) for it in zs]))
    see(sharding=_alike([see.sharding(it) for it in ys], [see.sharding(it) for it in zs]))
    see(committed=_alike([see.committed(it) for it in ys], [see.committed(it) for it in zs]))
    see(donated=_alike(gone, [see.state(given[n], arrays.value(ARRAY)) for n in donated]))


def _says_of_arguments(jax, see, form, place, both, given):
    """What a lowered and a compiled program say of their arguments."""
    leaves = jax.tree.leaves(given)
    types = [_type(it) for it in leaves]
    see(in_tree=_alike([it.in_tree for it in both], [jax.tree.structure(given)] * 2))
    see(in_avals=_alike([[_type(aval) for aval in jax.tree.leaves(it.in_avals)] for it in both], [types] * 2))
    infos = [jax.tree.leaves(it.args_info) for it in both]
    see(args_info=_alike([[_shape(info) for info in it] for it in infos], [[_shape(it) for it in leaves]] * 2))
    donated = DONATED.get(form, [])
    flags = [number in donated for number in range(len(leaves))]
    see(donates=_alike([[info.donated for info in it] for it in infos], [flags] * 2))
    see(donate_argnums=_alike([list(it.donate_argnums) for it in both], [donated] * 2))
    shardings = jax.tree.leaves(both[1].input_shardings)
    used = [x for number, x in enumerate(leaves) if number not in DROPPED.get(form, [])]
    if len(used) < len(leaves):
        see(dropped="none" if len(shardings) == len(used) else "there")
    taken = used if len(shardings) == len(used) else leaves
    see(input_shardings=all_are(["same", *[_takes(place, it, x) for it, x in zip(shardings, taken, strict=True)]]))


def _says_of_results(jax, see, lowered, ready, y):
    """What a lowered and a compiled program say of their results."""
    tree, leaves = jax.tree.structure(y), jax.tree.leaves(y)
    shapes = [_shape(it) for it in leaves]
    see(out_tree=_alike([it.out_tree for it in (lowered, ready)], [tree] * 2))
    see(out_info=_alike([_shape(it) for it in jax.tree.leaves(lowered.out_info)], shapes))
    see(out_info_tree=_alike(jax.tree.structure(lowered.out_info), tree))
    lie = [see.sharding(it) for it in leaves]
    shardings = jax.tree.leaves(ready.output_shardings)
    see(output_shardings=_alike([see.placement(it, x.shape) for it, x in zip(shardings, leaves, strict=True)], lie))
    if hasattr(ready, "out_info"):
        infos = jax.tree.leaves(ready.out_info)
        see(ready_out_info=_alike([_shape(it) for it in infos], shapes))
        see(ready_out_shardings=_alike([_lies(see, it) for it in infos], lie))


# --- calls that do not fit --------------------------------------------------------------------------------------------


def bump(first):
    return first + 1


def add(first, second):
    return first + second


def apart(first, *, second):
    return first + second


def pick(tree):
    return tree["u"] + tree["v"][0]


def scale(n, first):
    return first * n


def forget(first, second):
    return first + 1


def beneath(jax):
    return jax.jit(lambda first: jax.random.key_data(first))


BUILT: dict[str, Any] = {
    "bump": lambda jax, x: jax.jit(bump).lower(x[0]).compile(),
    "add": lambda jax, x: jax.jit(add).lower(x[0], x[1]).compile(),
    "apart": lambda jax, x: jax.jit(apart).lower(x[0], second=x[1]).compile(),
    "pick": lambda jax, x: jax.jit(pick).lower({"u": x[0], "v": (x[1],)}).compile(),
    "scale": lambda jax, x: jax.jit(scale, static_argnums=0).lower(3, x[0]).compile(),
    "forget": lambda jax, x: jax.jit(forget).lower(x[0], x[1]).compile(),
    "give": lambda jax, x: jax.jit(bump, donate_argnums=0).lower(x[0]).compile(),
    "weak": lambda jax, x: jax.jit(bump).lower(3.0).compile(),
    "strong": lambda jax, x: jax.jit(bump).lower(np.float32(3)).compile(),
    "key": lambda jax, x: beneath(jax).lower(_keys(jax)).compile(),
}
"""Programs that are called with what does not fit; x are arrays."""

FITTING: dict[str, Any] = {
    "bump": lambda jax, x: ((x[0],), {}),
    "add": lambda jax, x: ((x[0], x[1]), {}),
    "apart": lambda jax, x: ((x[0],), {"second": x[1]}),
    "pick": lambda jax, x: (({"u": x[0], "v": (x[1],)},), {}),
    "scale": lambda jax, x: ((x[0],), {}),
    "forget": lambda jax, x: ((x[0], x[1]), {}),
    "give": lambda jax, x: ((x[0],), {}),
    "weak": lambda jax, x: ((3.0,), {}),
    "strong": lambda jax, x: ((np.float32(3),), {}),
    "key": lambda jax, x: ((_keys(jax),), {}),
}
"""What they are called with that fits."""

HOLDS: dict[str, Any] = {
    "add": lambda v: v + v,
    "apart": lambda v: v + v,
    "pick": lambda v: v + v,
    "scale": lambda v: v * 3,
    "weak": lambda v: np.float32(4),
    "strong": lambda v: np.float32(4),
    "key": lambda v: arrays.value("key_8x8"),
}
"""What their results hold; the others give one more."""


def _of(jax, array):
    """An array of another type, where the others lie."""
    return jax.block_until_ready(jax.device_put(arrays.value(array), PLACES["four"].make(jax)))


def _keys(jax):
    return _array(jax, "key", "four")


TYPES: dict[str, Any] = {
    "dtype": ("add", lambda jax, x: ((x[0], _of(jax, "i32_8x8")), {}), ("i32_8x8",)),
    "narrower": ("add", lambda jax, x: ((x[0], _of(jax, "bf16_8x8")), {}), ("bf16_8x8",)),
    "bool": ("add", lambda jax, x: ((x[0], _of(jax, "b1_8x8")), {}), ("b1_8x8",)),
    "complex": ("add", lambda jax, x: ((x[0], _of(jax, "c64_8x8")), {}), ("c64_8x8",)),
    "shape": ("add", lambda jax, x: ((x[0], _part(jax, (4, 8))), {}), ((4, 8),)),
    "longer": ("add", lambda jax, x: ((x[0], _part(jax, (8, 16))), {}), ((8, 16),)),
    "rank": ("add", lambda jax, x: ((x[0], _part(jax, (8,))), {}), ((8,),)),
    "empty": ("add", lambda jax, x: ((x[0], _part(jax, (0, 8))), {}), ((0, 8),)),
    "np_dtype": ("add", lambda jax, x: ((x[0], arrays.value("i32_8x8")), {}), ("i32_8x8",)),
    "np_shape": ("add", lambda jax, x: ((x[0], np.zeros((4, 8), np.float32)), {}), ((4, 8),)),
    "python": ("add", lambda jax, x: ((x[0], 3.0), {}), ((),)),
    "np_scalar": ("add", lambda jax, x: ((x[0], np.float32(3)), {}), ((),)),
    "first": ("add", lambda jax, x: ((_of(jax, "i32_8x8"), x[1]), {}), ("i32_8x8",)),
    "named": ("apart", lambda jax, x: ((x[0],), {"second": _of(jax, "i32_8x8")}), ("i32_8x8",)),
    "leaf": ("pick", lambda jax, x: (({"u": x[0], "v": (_of(jax, "i32_8x8"),)},), {}), ("i32_8x8",)),
    "unused": ("forget", lambda jax, x: ((x[0], _of(jax, "i32_8x8")), {}), ("i32_8x8",)),
    "given": ("give", lambda jax, x: ((_part(jax, (4, 8)),), {}), ((4, 8),)),
    "given_away": ("give", lambda jax, x: ((_of(jax, "i32_8x8"),), {}), ("i32_8x8",)),
    "weak": ("weak", lambda jax, x: ((3,), {}), ("i32_0d",)),
    "key": ("add", lambda jax, x: ((x[0], _keys(jax)), {}), ("key<fry>[8,8]",)),
    "no_key": ("key", lambda jax, x: ((x[0],), {}), ("f32_8x8",)),
}
"""Calls with an array of another type: the program, what it is called with, and the type that does not fit."""

NAMED = {
    "first": ("first", 0),
    "leaf": ("tree['v'][0]", 0),
    "given": ("first", 0),
    "given_away": ("first", 0),
    "weak": ("first", 0),
    "no_key": ("first", 0),
}
"""What the argument is called that has another type; elsewhere it is the second."""

TREES: dict[str, Any] = {
    "few": ("add", lambda jax, x: ((x[0],), {}), ("args",)),
    "none": ("add", lambda jax, x: ((), {}), ("args",)),
    "many": ("add", lambda jax, x: ((x[0], x[1], x[2]), {}), ("args",)),
    "unknown": ("add", lambda jax, x: ((x[0], x[1]), {"third": x[2]}), ("third",)),
    "by_name": ("add", lambda jax, x: ((x[0],), {"second": x[1]}), ("second",)),
    "by_position": ("apart", lambda jax, x: ((x[0], x[1]), {}), ("second",)),
    "unnamed": ("apart", lambda jax, x: ((x[0],), {}), ("second",)),
    "renamed": ("apart", lambda jax, x: ((x[0],), {"third": x[1]}), ("third",)),
    "wrapped": ("add", lambda jax, x: ((x[0], (x[1],)), {}), ("args[1]",)),
    "nothing": ("add", lambda jax, x: ((x[0], None), {}), ("args[1]",)),
    "bare": ("pick", lambda jax, x: ((x[0],), {}), ("args[0]",)),
    "listed": ("pick", lambda jax, x: (({"u": x[0], "v": [x[1]]},), {}), ("args[0]['v']",)),
    "keyed": ("pick", lambda jax, x: (({"u": x[0], "w": (x[1],)},), {}), ("'w'",)),
    "missing": ("pick", lambda jax, x: (({"u": x[0]},), {}), ("'v'",)),
    "extra": ("pick", lambda jax, x: (({"u": x[0], "v": (x[1],), "w": x[2]},), {}), ("'w'",)),
    "deeper": ("pick", lambda jax, x: (({"u": x[0], "v": (x[1], x[2])},), {}), ("args[0]['v']",)),
    "static": ("scale", lambda jax, x: ((3, x[0]), {}), ("args",)),
    "static_name": ("scale", lambda jax, x: ((x[0],), {"n": 3}), ("'n'",)),
    "given": ("give", lambda jax, x: ((x[0], x[1]), {}), ("args",)),
}
"""Calls with arguments of another structure: the program, what it is called with, and where they differ."""

STRANGE: dict[str, Any] = {
    "struct": ("add", lambda jax, x: ((x[0], jax.ShapeDtypeStruct((8, 8), np.float32)), {}), ("ShapeDtypeStruct",)),
    "text": ("add", lambda jax, x: ((x[0], "text"), {}), ("str",)),
    "object": ("add", lambda jax, x: ((x[0], object()), {}), ("object",)),
    "words": ("add", lambda jax, x: ((x[0], np.array(["a"])), {}), ("<U1", "str")),
    "given": ("give", lambda jax, x: (("text",), {}), ("str",)),
}
"""Calls with what is no array, and what the message may call that."""

GONE: dict[str, Any] = {
    "first": ("add", lambda jax, x: ((_gone(x[2]), x[1]), {}), ("deleted", "donated")),
    "second": ("add", lambda jax, x: ((x[0], _gone(x[2])), {}), ("deleted", "donated")),
    "named": ("apart", lambda jax, x: ((x[0],), {"second": _gone(x[2])}), ("deleted", "donated")),
    "leaf": ("pick", lambda jax, x: (({"u": x[0], "v": (_gone(x[2]),)},), {}), ("deleted", "donated")),
    "given": ("give", lambda jax, x: ((_gone(x[2]),), {}), ("deleted", "donated")),
}
"""Calls with an array that is deleted, and what the message says of it."""

MISTAKES: dict[str, Any] = {"type": TYPES, "tree": TREES, "strange": STRANGE, "deleted": GONE}
"""Calls that do not fit, by what is wrong with them."""


def _gone(x):
    x.delete()
    return x


def _part(jax, shape):
    """An array of another shape that lies on the same devices."""
    held = np.zeros(shape, np.float32)
    return jax.block_until_ready(jax.device_put(held, PLACES["four"].make(jax)))


def refused(jax, see, wrong, mistake):
    """A compiled program is called with what does not fit; then with what does."""
    program, call, words = MISTAKES[wrong][mistake]
    x = [_array(jax, "bump", "four") for _ in range(3)]
    ready = BUILT[program](jax, x)
    before = _remember(jax, see, x)
    args, kwargs = call(jax, x)
    others = [it for it in _arrays(jax, (args, kwargs)) if not any(it is one for one in x)]
    counts = see.counts()
    see.step("call")
    try:
        jax.block_until_ready(ready(*args, **kwargs))
    except Exception as error:
        see(accepted=False, refused=_class(see, error))
        if wrong == "type":
            see(named=see.names_argument(error, *NAMED.get(mistake, ("second", 1))))
            see(shown=all(see.named(error, it) != [] for it in _both_worded(mistake, words[0])))
        else:
            see(named=see.named(error, words) != [])
    else:
        see(accepted=True, refused="no", named=False, shown=False)
    see(redone=_since(see, counts))
    see.step("look at the arguments")
    kept = [n for n in range(3) if wrong != "deleted" or n != 2]
    left = _left(jax, see, "bump", [x[n] for n in kept], [before[n] for n in kept])
    see(inputs="deleted" if wrong != "deleted" and any(it.is_deleted() for it in others) else left)
    _fits(jax, see, program, ready)


def _fits(jax, see, program, ready):
    """A compiled program is called with what fits."""
    x = [_array(jax, "bump", "four") for _ in range(2)]
    args, kwargs = FITTING[program](jax, x)
    see.step("call with what fits")
    y = ready(*args, **kwargs)
    see(after=see.same(y, np.asarray(HOLDS.get(program, bump)(arrays.value(ARRAY)))))


def _both_worded(mistake, given):
    """How a message may show the type that a program was compiled for, and how the one that it is given."""
    return [_worded({"weak": "f32_0d", "no_key": "key<fry>[8,8]"}.get(mistake, "f32_8x8")), _worded(given)]


def _worded(it):
    """How a message may show a type."""
    if isinstance(it, tuple):
        inner = ",".join(map(str, it))
        return [f"float32[{inner}]", f"f32[{inner}]", str(it)]
    if it not in ARRAYS:
        return [it]
    values = ARRAYS[it]
    inner = ",".join(map(str, values.shape))
    return [f"{values.dtype}[{inner}]"]


def _class(see, error):
    """The class of an error among Python's own, and whether it is an internal one."""
    own = next(it for it in type(error).__mro__ if it.__module__ == "builtins")
    return ("internal " if see.named(error, INTERNAL) else "") + own.__name__


# --- calls that fit in other words ------------------------------------------------------------------------------------

LOOSELY: dict[str, Any] = {
    "weak_for_strong": ("strong", lambda jax, x: ((3.0,), {})),
    "strong_for_weak": ("weak", lambda jax, x: ((np.float32(3),), {})),
    "array_for_weak": ("weak", lambda jax, x: ((jax.device_put(np.float32(3)),), {})),
}
"""Calls with another weak type than the program was compiled for."""

WORDED: dict[str, Any] = {
    "wide": ("add", lambda jax, x: ((x[0], arrays.value(ARRAY).astype(np.float64)), {})),
    "numpy": ("add", lambda jax, x: ((x[0], arrays.value(ARRAY)), {})),
    "strided": ("add", lambda jax, x: ((x[0], arrays.HOST["np_strided"](ARRAY)), {})),
    "order": ("pick", lambda jax, x: (({"v": (x[1],), "u": x[0]},), {})),
    "same": ("add", lambda jax, x: ((x[0], x[0]), {})),
    "key": ("key", lambda jax, x: ((_keys(jax),), {})),
    "np_scalar": ("strong", lambda jax, x: ((np.float64(3),), {})),
    "zero_d": ("strong", lambda jax, x: ((np.full((), 3, np.float32),), {})),
    "static": ("scale", lambda jax, x: ((x[0],), {})),
}
"""Calls that fit, though they are written otherwise."""


def loosely(jax, see, call):
    """A compiled program is called with a value of another weak type."""
    _called(jax, see, *LOOSELY[call])


def worded(jax, see, call):
    """A compiled program is called with what fits, and is written otherwise."""
    _called(jax, see, *WORDED[call])


def _called(jax, see, program, call):
    x = [_array(jax, "bump", "four") for _ in range(2)]
    ready = BUILT[program](jax, x)
    args, kwargs = call(jax, x)
    counts = see.counts()
    see.step("call")
    try:
        y = jax.block_until_ready(ready(*args, **kwargs))
    except Exception as error:
        see(refused=_class(see, error))
    else:
        see(refused="no", value=see.same(y, np.asarray(HOLDS.get(program, bump)(arrays.value(ARRAY)))))
    see(redone=_since(see, counts))


# --- calls within something else --------------------------------------------------------------------------------------

WITHIN: dict[str, Any] = {
    "jit": lambda jax, ready, x: jax.jit(lambda first: ready(first))(x),
    "grad": lambda jax, ready, x: jax.grad(lambda first: ready(first).sum())(x),
    "vjp": lambda jax, ready, x: jax.vjp(ready, x),
    "vmap": lambda jax, ready, x: jax.vmap(ready)(x),
    "eval_shape": lambda jax, ready, x: jax.eval_shape(ready, x),
    "scan": lambda jax, ready, x: jax.lax.scan(lambda carry, row: (ready(carry), row), x, x),
    "cond": lambda jax, ready, x: jax.lax.cond(True, ready, lambda first: first, x),
    "while": lambda jax, ready, x: jax.lax.while_loop(lambda first: first[0, 0] < 1, ready, x),
    "lower": lambda jax, ready, x: jax.jit(lambda first: ready(first)).lower(x),
}
"""Where a compiled program is called while something is traced."""


def within(jax, see, how):
    """A compiled program is called with what a function that is traced has in the place of an array."""
    x = _array(jax, "bump", "four")
    ready = BUILT["bump"](jax, [x])
    before = _remember(jax, see, [x])
    counts = see.counts()
    see.step("call")
    try:
        jax.block_until_ready(WITHIN[how](jax, ready, x))
    except Exception as error:
        see(accepted=False, refused=_class(see, error))
        see(named=see.named(error, ("compiled",)) != [] and see.named(error, ("Tracer", "transformation", "jit")) != [])
    else:
        see(accepted=True, refused="no", named=False)
    see(redone=_since(see, counts)["compile"])
    see(inputs=_left(jax, see, "bump", [x], before))
    _fits(jax, see, "bump", ready)


AROUND: dict[str, Any] = {
    "with_own": lambda jax: PLACES["four"].make(jax).mesh,
    "with_other": lambda jax: PLACES["eight"].make(jax).mesh,
    "set_own": lambda jax: jax.set_mesh(PLACES["four"].make(jax).mesh),
    "set_other": lambda jax: jax.set_mesh(PLACES["eight"].make(jax).mesh),
    "set_back": lambda jax: jax.set_mesh(PLACES["back"].make(jax).mesh),
    "device": lambda jax: jax.default_device(jax.devices()[3]),
    "thread": lambda jax: contextlib.nullcontext(),
    "nothing": lambda jax: contextlib.nullcontext(),
}
"""What a compiled program is called under."""


def around(jax, see, how, given):
    """A compiled program is called under a context, or in another thread, with arrays or with values of the host's."""
    x = _array(jax, "bump", "four")
    ready = BUILT["bump"](jax, [x])
    held = x if given == "array" else arrays.value(ARRAY)
    found = []
    see.step("call")
    with AROUND[how](jax):
        if how == "thread":
            other = threading.Thread(target=lambda: found.append(ready(held)))
            other.start()
            other.join()
        else:
            found.append(ready(held))
    y = jax.block_until_ready(found[0])
    see(value=see.same(y, arrays.value(ARRAY) + 1))
    see(sharding=see.sharding(y), committed=see.committed(y))


# --- what programs cost, and their texts ------------------------------------------------------------------------------


def multiply(first, second):
    return first @ second


COSTS: dict[str, Any] = {
    "multiply": (lambda jax: jax.jit(multiply), 2, 1024),
    "add": (lambda jax: jax.jit(add), 2, 64),
    "bump": (lambda jax: jax.jit(bump), 1, 64),
    "forget": (lambda jax: jax.jit(forget), 2, 64),
    "give": (lambda jax: jax.jit(bump, donate_argnums=0), 1, 64),
}
"""Programs of one result of the usual shape, how many arguments they take, and how many flops they are."""

USED: dict[str, int] = {"forget": 1}
"""How many arguments a program uses, where it does not use all."""


def cost(jax, see, program, place):
    """What a lowered and a compiled program say that they cost."""
    make, count, _ = COSTS[program]
    x = [_array(jax, "bump", place) for _ in range(count)]
    lowered = make(jax).lower(*x)
    used = USED.get(program, count)
    see.step("lowered")
    told = lowered.cost_analysis()
    fields = ("flops", "bytes accessed")
    see(lowered=[name for name in fields if name not in told], flops=told.get("flops"))
    see(bytes="enough" if told.get("bytes accessed", 0) >= (used + 1) * 256 else "too few")
    see.step("compiled")
    ready = lowered.compile()
    own = ready.cost_analysis()
    see(kind=type(own).__name__)
    own = own[0] if isinstance(own, list) else own
    see(compiled=[name for name in fields if name not in own], positive=own.get("flops", 0) > 0)
    see(alone=_alike(own.get("flops"), told.get("flops")))
    see.step("memory")
    memory = ready.memory_analysis()
    see(arguments=memory.argument_size_in_bytes, results=memory.output_size_in_bytes)
    see(rest=memory.temp_size_in_bytes >= 0 and memory.generated_code_size_in_bytes >= 0)
    see.step("text")
    text = ready.as_text()
    see(module=text.startswith("HloModule "), shards=_shards(place) in text, count=_count(text))
    see(left=see.shardy_operations(text))


SHARDS = {"free": (8, 8), "four": (2, 8), "back": (2, 8), "rep": (8, 8), "square": (4, 4)}
"""What each device has of an array of eight by eight."""


def _shards(place):
    """The same as HLO writes it."""
    return f"f32[{','.join(map(str, SHARDS[place]))}]"


def _count(text):
    """How many devices a text is for."""
    found = re.search(r"num_partitions ?= ?(\d+)", text)
    return int(found[1]) if found else 1


TEXTS = (
    "plain",
    "both",
    "tree",
    "constraint",
    "map",
    "donated",
    "out",
    "unused",
    "no_arguments",
    "key",
    "inner",
    "scan",
)
"""Programs whose texts are looked at."""


def text(jax, see, form, place):
    """A lowered program as a text in each dialect, and as a module."""
    program = PROGRAMS[form](jax, PLACES[place].make(jax))
    args, kwargs = _arguments(jax, form, place, STATIC)
    counts = see.counts()
    lowered = program.lower(*args, **kwargs)
    see.step("stablehlo")
    plain = lowered.as_text("stablehlo")
    see(default=_alike(lowered.as_text(), plain), module=str(lowered.compiler_ir("stablehlo")) == plain)
    see(default_module=_alike(str(lowered.compiler_ir()), plain))
    types = [
        "tensor<8x8x2xui32>" if form == "key" else "tensor<8xi32>" if form == "no_arguments" else "tensor<8x8xf32>"
    ]
    see(declares="@main(" in plain and all(it in plain for it in types))
    see(partitions=_count(plain))
    see.step("hlo")
    hlo = lowered.as_text("hlo")
    see(hlo=hlo.startswith("HloModule ") and "ENTRY" in hlo, left=see.shardy_operations(hlo))
    other = lowered.compiler_ir("hlo").as_hlo_text()
    see(hlo_module=_alike(other, hlo), module_left=see.shardy_operations(other))
    see.step("unknown")
    see(text_of=_unknown(see, lowered.as_text), module_of=_unknown(see, lowered.compiler_ir))
    see(compile=_since(see, counts)["compile"])
    if "debug_info" in inspect.signature(lowered.as_text).parameters:
        see.step("located")
        located = lowered.as_text(debug_info=True)
        names = form == "no_arguments" or "first" in located or "tree" in located
        see(located="loc(" in located and names, bare="loc(" not in plain)


def _unknown(see, call):
    """What is said where a dialect is asked for that there is not."""
    try:
        call("nonsense")
    except Exception as error:
        return {"refused": _class(see, error), "named": see.named(error, ["nonsense"]) != []}
    return {"refused": "no"}


# --- what a program is lowered for ------------------------------------------------------------------------------------

FOR: dict[str, Any] = {
    "structs": lambda jax, x: (_struct(jax, x[0]), _struct(jax, x[1])),
    "mixed": lambda jax, x: (x[0], _struct(jax, x[1])),
    "turned": lambda jax, x: (_struct(jax, x[0]), x[1]),
}
"""What stands for two arrays that a program is lowered for."""


def _struct(jax, x):
    """What stands for an array where it lies."""
    return jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=x.sharding if x.committed else None)


def stands(jax, see, given, place):
    """A program is lowered for what stands for arrays, compiled, and called with arrays."""
    x = [_array(jax, "bump", place) for _ in range(2)]
    wanted = jax.jit(add).lower(*x)
    counts = see.counts()
    lowered = jax.jit(add).lower(*FOR[given](jax, x))
    see(text=_alike(lowered.as_text(), wanted.as_text()), compile=_since(see, counts)["compile"])
    see.step("compile")
    ready = lowered.compile()
    shardings = jax.tree.leaves(ready.input_shardings)
    see(takes=all_are([_takes(place, it, one) for it, one in zip(shardings, x, strict=True)]))
    see.step("call")
    y = ready(*x)
    see(
        value=see.same(y, arrays.value(ARRAY) * 2), sharding=_alike(see.sharding(y), see.sharding(wanted.compile()(*x)))
    )


# --- a traced program -------------------------------------------------------------------------------------------------

TRACED = (
    "plain",
    "tree",
    "keyword",
    "static",
    "donated",
    "donated_tree",
    "unused",
    "nothing",
    "no_arguments",
    "out",
    "key",
)
"""Programs that are traced on their own."""


def traced(jax, see, form, place):
    """A program is traced, says what it is, and is lowered then."""
    program = PROGRAMS[form](jax, PLACES[place].make(jax))
    args, kwargs = _arguments(jax, form, place, STATIC)
    counts = see.counts()
    see.step("trace")
    stage = program.trace(*args, **kwargs)
    see(redone=_since(see, counts))
    lowered = program.lower(*args, **kwargs)
    told = [[_type(aval) for aval in jax.tree.leaves(it.in_avals)] for it in (stage, lowered)]
    infos = [[[*_shape(it), it.donated] for it in jax.tree.leaves(one.args_info)] for one in (stage, lowered)]
    outs = [[_shape(it) for it in jax.tree.leaves(one.out_info)] for one in (stage, lowered)]
    see(avals=_alike(*told), infos=_alike(*infos), outs=_alike(*outs), tree=_alike(stage.in_tree, lowered.in_tree))
    see(donates=_alike(list(stage.donate_argnums), list(lowered.donate_argnums)))
    see.step("lower")
    see(text=_alike(stage.lower().as_text(), lowered.as_text()))


# --- options of the compiler ------------------------------------------------------------------------------------------

OPTIONS: dict[str, Any] = {
    "none": None,
    "empty": {},
    "embed": {"xla_embed_ir_in_executable": True},
    "level": {"xla_backend_optimization_level": 1},
    "both": {"xla_embed_ir_in_executable": True, "xla_backend_optimization_level": 1},
}
"""Options that a compiler takes."""

BAD: dict[str, Any] = {
    "unknown": ({"no_such_option": True}, "no_such_option"),
    "among": ({"xla_embed_ir_in_executable": True, "no_such_option": 1}, "no_such_option"),
    "bool": ({"xla_embed_ir_in_executable": "perhaps"}, "xla_embed_ir_in_executable"),
    "number": ({"xla_backend_optimization_level": "high"}, "xla_backend_optimization_level"),
}
"""Options that none takes, and which it is."""


def options(jax, see, options):
    """A program is compiled with options."""
    x = _array(jax, "bump", "four")
    see.step("compile")
    ready = jax.jit(bump).lower(x).compile(compiler_options=OPTIONS[options])
    y = ready(x)
    see(value=see.same(y, arrays.value(ARRAY) + 1), sharding=see.sharding(y))


def bad_options(jax, see, options, how):
    """A program is compiled with options that there are not; then without."""
    given, name = BAD[options]
    x = _array(jax, "bump", "four")
    before = _remember(jax, see, [x])
    see.step("compile")
    try:
        if how == "jit":
            jax.jit(bump, compiler_options=given).lower(x).compile()
        else:
            jax.jit(bump).lower(x).compile(compiler_options=given)
    except Exception as error:
        see(accepted=False, named=see.named(error, [name]) != [])
    else:
        see(accepted=True, named=False)
    see(inputs=_left(jax, see, "bump", [x], before))
    see.step("compile without")
    see(after=see.same(jax.jit(bump).lower(x).compile()(x), arrays.value(ARRAY) + 1))


# --- exported programs ------------------------------------------------------------------------------------------------

TAKEN = (
    "plain",
    "tree",
    "keyword",
    "static",
    "unused",
    "nothing",
    "inner",
    "constraint",
    "out",
    "map",
    "sum",
    "key",
    "zero",
    "weak",
    "no_arguments",
)
"""Programs that are exported."""

ELSEWHERE = {
    "free": "dev1",
    "dev1": "free",
    "four": "other",
    "back": "other",
    "square": "square_other",
    "rep": "other_rep",
}
"""Where the arguments lie instead, on as many other devices with a mesh of the same axes."""


def exported(jax, see, form, place, there):
    """A program is exported, written down, read back, and called with arguments that lie somewhere."""
    program = PROGRAMS[form](jax, PLACES[place].make(jax))
    args, kwargs = _arguments(jax, form, place, STATIC)
    counts = see.counts()
    see.step("export")
    first = jax.export.export(program)(*args, **kwargs)
    see.step("write")
    blob = first.serialize()
    see.step("read")
    second = jax.export.deserialize(blob)
    see(bytes=isinstance(blob, bytes | bytearray), compile=_since(see, counts)["compile"])
    see(devices=second.nr_devices, platforms=list(second.platforms) == [jax.devices()[0].platform])
    both = (first, second)
    see(names=_alike(*[it.fun_name for it in both]), avals=_alike(*[[_type(x) for x in it.in_avals] for it in both]))
    see(
        outs=_alike(*[[_shape(x) for x in it.out_avals] for it in both]),
        text=_alike(*[it.mlir_module() for it in both]),
    )
    dynamic, named = _arguments(jax, form, place, ())
    leaves = jax.tree.leaves((dynamic, named))
    see(tells=_alike([_shape(it) for it in second.in_avals], [_shape(it) for it in leaves]))
    see(tree=_alike([it.in_tree for it in both], [jax.tree.structure((dynamic, named))] * 2))
    at = place if there == "there" else ELSEWHERE[place]
    dynamic, named = _arguments(jax, form, at, ())
    given = _arrays(jax, (dynamic, named))
    before = _remember(jax, see, given)
    see.step("call")
    y = jax.block_until_ready(second.call(*dynamic, **named))
    see(value=_same(jax, see, form, y), structure=_alike(jax.tree.structure(y), second.out_tree))
    see(types=_alike([_shape(it) for it in jax.tree.leaves(y)], [_shape(it) for it in second.out_avals]))
    see(inputs=_left(jax, see, form, given, before))
    if jax.tree.leaves(y) and form not in ("weak", "no_arguments"):
        see(home=all_are([list(_devices(see, it)) for it in jax.tree.leaves(y)]))
        args, kwargs = _arguments(jax, form, at, STATIC)
        z = PROGRAMS[form](jax, PLACES[at].make(jax))(*args, **kwargs)
        each = zip(jax.tree.leaves(y), jax.tree.leaves(z), strict=True)
        see(
            lies=all_are(
                ["same" if one.sharding.is_equivalent_to(it.sharding, it.ndim) else "differs" for one, it in each]
            )
        )


def _devices(see, y):
    """The devices of an array, in order."""
    return see.sharding(y)["devices"]


COUNTS = {
    "many_one": ("four", "free"),
    "fewer": ("four", "two"),
    "more": ("four", "eight"),
}
"""Where a program is exported for, and where it is called on fewer or more devices."""

UNFIT: dict[str, Any] = {
    "shape": (lambda jax, x: ((x[0], _part(jax, (4, 8))), {}), ("(4, 8)", "[4,8]")),
    "rank": (lambda jax, x: ((x[0], _part(jax, (8,))), {}), ("(8,)", "[8]")),
    "dtype": (lambda jax, x: ((x[0], _of(jax, "i32_8x8")), {}), ("int32",)),
    "few": (lambda jax, x: ((x[0],), {}), ("args",)),
    "many": (lambda jax, x: ((x[0], x[1], x[2]), {}), ("args",)),
    "named": (lambda jax, x: ((x[0],), {"second": x[1]}), ("second",)),
    "wrapped": (lambda jax, x: ((x[0], (x[1],)), {}), ("args[1]",)),
}
"""Calls of an exported addition that do not fit, and what the message has to show."""


def unfit(jax, see, wrong, mistake):
    """An exported program is called where it cannot run, or with what does not fit; then with what does."""
    place, at = COUNTS[mistake] if wrong == "devices" else ("four", "four")
    first = [_array(jax, "bump", place) for _ in range(2)]
    platforms = {"platforms": ["tpu"]} if wrong == "platform" else {}
    program = jax.export.deserialize(jax.export.export(jax.jit(add), **platforms)(*first).serialize())
    x = [_array(jax, "bump", at) for _ in range(3)]
    before = _remember(jax, see, x)
    args, kwargs = UNFIT[mistake][0](jax, x) if wrong == "call" else ((x[0], x[1]), {})
    counts = see.counts()
    see.step("call")
    try:
        jax.block_until_ready(program.call(*args, **kwargs))
    except Exception as error:
        see(accepted=False, refused=_class(see, error))
        if wrong == "devices":
            numbers = [f"{len(PLACES[it].devices)} devices" for it in (place, at)]
            see(named=see.named(error, numbers) == numbers)
        elif wrong == "platform":
            see(named=see.named(error, ["tpu", jax.devices()[0].platform]) == ["tpu", jax.devices()[0].platform])
        else:
            see(named=see.named(error, UNFIT[mistake][1]) != [])
    else:
        see(accepted=True, refused="no", named=False)
    see(compile=_since(see, counts)["compile"])
    see(inputs=_left(jax, see, "bump", x, before))


# --- helpers ----------------------------------------------------------------------------------------------------------


def _first(x, n):
    return x[:1], {}


def _arguments(jax, form, place, static):
    """Fresh arguments of a program, by position and by name."""
    return GIVES.get(form, _first)(tuple(_array(jax, form, place) for _ in range(3)), static)


def _array(jax, form, place):
    """A fresh array that lies there, its transfer done."""
    array = ONE.get(form, ARRAY)
    held = jax.random.wrap_key_data(arrays.value(array)) if ARRAYS[array].key else arrays.value(array)
    return jax.block_until_ready(jax.device_put(held, PLACES[place].make(jax)))


def _arrays(jax, tree):
    """The arrays of a pytree; what lies in the host's memory is none."""
    return [it for it in jax.tree.leaves(tree) if isinstance(it, jax.Array)]


def _same(jax, see, form, y):
    """Whether results hold what they should."""
    array = ONE.get(form, ARRAY)
    wanted = jax.tree.leaves(GIVEN_BACK.get(form, bump)(arrays.value(array)))
    found = jax.tree.leaves(y)
    if len(found) != len(wanted):
        return "differs"
    return all_are(["same", *[see.same(_plain(jax, it), np.asarray(v)) for it, v in zip(found, wanted, strict=True)]])


def _plain(jax, x):
    """An array, of keys the numbers that lie beneath them."""
    return jax.random.key_data(x) if str(x.dtype).startswith("key") else x


def _remember(jax, see, xs):
    """Where arrays lie."""
    return [(see.sharding(x), see.committed(x), see.spans(_plain(jax, x))) for x in xs]


def _left(jax, see, form, xs, before):
    """What became of the arrays remembered: "untouched", "moved", or as `see.state` says it."""
    states = {see.state(_plain(jax, x), arrays.value(ONE.get(form, ARRAY))) for x in xs} - {"intact"}
    moved = not states and _remember(jax, see, xs) != before
    return " ".join(sorted(states)) or ("moved" if moved else "untouched")


def _since(see, counts):
    """What was lowered and compiled since."""
    now = see.counts()
    return {level: now[level] - counts[level] for level in ("lower", "compile")}


def _shape(x):
    """The shape and the dtype of an array, of a value of the host's, or of what stands for one."""
    return [list(x.shape), str(x.dtype)] if hasattr(x, "dtype") else [[], "float32"]


def _type(x):
    """The same, and whether the dtype is weak, as that of Python's numbers is."""
    return [*_shape(x), bool(getattr(x, "weak_type", not hasattr(x, "dtype")))]


def _lies(see, info):
    """Where what stands for an array says that it lies."""
    return "nowhere" if info.sharding is None else see.placement(info.sharding, info.shape)


def _takes(place, sharding, x):
    """Whether a program takes an argument as it lies; what is committed nowhere, on the devices of the others."""
    if isinstance(x, np.ndarray | np.generic | float) or not x.committed:
        return _alike(len(sharding.device_set), len(PLACES[place].devices))
    return "same" if sharding.is_equivalent_to(x.sharding, x.ndim) else "differs"


def _alike(one, other):
    return "same" if one == other else "differs"
