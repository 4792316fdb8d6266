"""Random programs: a few arrays that steps make, put, use, donate and delete; what each step does, and what is left."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np

from . import arrays
from .places import EIGHT, FOUR, HELD, SOURCES, SQUARE, Place
from .put import FLAGS

ARRAY = "f32_8x8"

LINE = (("x", 4),)
PLACES = {
    **SOURCES,
    "dev1": Place((1,)),
    "bare1": Place((1,), bare=True),
    "dev5": Place((5,)),
    "mesh_of_1": Place((1,), (("x", 1),), ("x",)),
    "yx": Place(FOUR, SQUARE, ("y", "x")),
    "turned": Place((3, 1, 0, 2), SQUARE, ("x", "y")),
    "rep_turned": Place((3, 1, 0, 2), SQUARE),
    "line": Place(FOUR, LINE, ("x",)),
    "columns": Place(FOUR, LINE, (None, "x")),
    "back": Place((3, 2, 1, 0), LINE, ("x",)),
    "folded": Place(FOUR, SQUARE, (("x", "y"),)),
    "renamed": Place(FOUR, (("p", 2), ("q", 2)), ("p", "q")),
    "other": Place((4, 5, 6, 7), LINE, ("x",)),
    "other_xy": Place((4, 5, 6, 7), SQUARE, ("x", "y")),
    "across": Place((2, 3, 4, 5), SQUARE, ("x", "y")),
    "all": Place(EIGHT, (("x", 8),), ("x",)),
    "pinned": HELD["pinned"],
    "pinned_xy": Place(FOUR, SQUARE, ("x", "y"), kind="pinned_host"),
    "xy_by_columns": Place(FOUR, SQUARE, ("x", "y"), order=(1, 0)),
    "one_by_columns": Place((0,), order=(1, 0)),
}
"""Where arrays lie, are put and are wanted; `free` leaves it to JAX."""


def run(jax, see, steps, fresh):
    """A program, step by step: what each did or was refused with; then what is left, and which arrays go together.

    A `fresh` program finds nothing compiled, whatever ran before it. A step that is in a `hurry` waits for nothing, but
    where it may be refused later: JAX may hand on an array that is deleted.
    """
    if fresh:
        jax.clear_caches()
    held: dict[str, Any] = dict()  # noqa: C408 - these are the script's own
    holds: dict[str, Any] = dict()  # noqa: C408
    views: dict[str, Any] = dict()  # noqa: C408
    for number, step in enumerate(steps):
        see.step(f"step {number}")
        given = [held[name] for name in step.get("of", ())]
        lost = any(x.is_deleted() for x in given)
        try:
            made = DO[step["do"]](jax, step, held, views)
            if lost or not step.get("hurry"):
                jax.block_until_ready(made)
        except Exception as error:
            see(**{f"step{number}": _refused(see, error)})
        else:
            see(**{f"step{number}": _done(see, made)})
            if "to" in step:
                values = VALUES[step["do"]](step, holds)
                for position, name in enumerate(step["to"]):
                    held[name] = made[position]
                    holds[name] = values[position]
        see.step(f"look at what step {number} was given")
        see(**{f"gone{number}": [x.is_deleted() for x in given]})
    for name in views:
        see(**{f"view_{name}": "same" if views[name][0].tobytes() == views[name][1] else "differs"})
    left = []
    for name in held:
        see.step(f"look at {name}")
        state = see.state(held[name], holds[name])
        see(**{f"left_{name}": state})
        if state == "intact":
            left.append(name)
    for name in left:
        spans = see.spans(held[name])
        see(**{f"shares_{name}": [other for other in left if see.shares(spans, held[other]) in ("some", "all")]})
    for name in left:
        see.step(f"end {name}")
        see(**{f"with_{name}": _ended(see, held, holds, left, name)})


WORDS = ("deleted", "donate", "may_alias", "INVALID_ARGUMENT", "FAILED_PRECONDITION", "INTERNAL")


def _done(see, made):
    """What a step did: where the arrays lie that it made.

    Reads no value, as that may change what becomes of them.
    """
    lies = [{"committed": see.committed(y), "kind": see.memory_kind(y), "layout": see.layout(y)} for y in made]
    return {"is": "done", "lies": [see.sharding(y) | it for y, it in zip(made, lies, strict=True)]}


def _refused(see, error):
    """How a step is refused: the class of the error, and what its message speaks of.

    The messages of JAX's internal errors start with the code that they have there.
    """
    return {"is": type(error).__name__, "says": see.named(error, WORDS)}


def _ended(see, held, holds, left, ended):
    """What becomes of the arrays that are left when one of them is deleted, but for those that are intact.

    Those that went with an array before it are gone already.
    """
    there = [name for name in left if name != ended and not held[name].is_deleted()]
    held[ended].delete()
    states = {name: see.state(held[name], holds[name]) for name in there}
    return {name: state for name, state in states.items() if state != "intact"}


# --- steps ------------------------------------------------------------------------------------------------------------


def _make(jax, step, held, views):
    return [jax.device_put(arrays.value(ARRAY), _at(jax, step["at"]))]


def _make_on(jax, step, held, views):
    """An uncommitted array that lies on another device than the default one."""
    with jax.default_device(jax.devices()[step["device"]]):
        return [jax.device_put(arrays.value(ARRAY))]


def _put(jax, step, held, views):
    return [jax.device_put(held[step["of"][0]], _at(jax, step["at"]), **FLAGS[step["flags"]])]


def _puts(jax, step, held, views):
    places = [_at(jax, at) for at in step["at"]]
    return jax.device_put([held[name] for name in step["of"]], places, **_flags(step["flags"]))


def _flags(rows):
    """The rows of the flag table as prefix trees of a list."""
    donate, may_alias = [FLAGS[row].get("donate", False) for row in rows], [FLAGS[row].get("may_alias") for row in rows]
    return {"donate": donate, "may_alias": may_alias}


def _delete(jax, step, held, views):
    held[step["of"][0]].delete()
    return []


def _view(jax, step, held, views):
    view = VIEWS[step["how"]](jax, held[step["of"][0]])
    views[step["view"]] = view, view.tobytes()
    return []


VIEWS = {
    "first": lambda jax, x: np.asarray(x.addressable_shards[0].data),
    "last": lambda jax, x: np.asarray(x.addressable_shards[-1].data),
    "whole": lambda jax, x: np.asarray(x),
    "get": lambda jax, x: jax.device_get(x),
}
"""Views of an array that a user may hold in the host's memory."""


def _drop(jax, step, held, views):
    del views[step["view"]]
    return []


def _use(jax, step, held, views):
    USES[step["how"]](jax, held[step["of"][0]])
    return []


USES = {
    "repr": lambda jax, x: repr(x),
    "shards": lambda jax, x: [shard.data.shape for shard in x.addressable_shards],
    "read": lambda jax, x: np.array(x),
    "copy": lambda jax, x: copy.copy(x),
    "pickle": lambda jax, x: pickle.dumps(x),
    "index": lambda jax, x: jax.block_until_ready(x[0]),
    "is_deleted": lambda jax, x: x.is_deleted(),
}
"""Uses that leave an array as it is."""


def _eager(jax, step, held, views):
    operation, inputs = EAGER[step["f"]](jax), [held[name] for name in step["of"]]
    if not step["under"]:
        return [operation(*inputs)]
    with _context(jax, step):
        return [operation(*inputs)]


EAGER: dict[str, Any] = {
    "bump": lambda jax: lambda first: first + 1,
    "add": lambda jax: lambda first, second: first + second,
    "stack": lambda jax: lambda first, second: jax.numpy.concatenate([first, second])[8:],
}


def _call(jax, step, held, views):
    """A jitted call. Where it is `hot`, the program has run before, for fresh arrays that lie where the inputs lie."""
    program = jax.jit(_function(jax, step), **_options(jax, step))
    inputs = [held[name] for name in step["of"]]
    for _ in range(step["hot"]):
        jax.block_until_ready(program(*[_like(jax, x) for x in inputs]))
    if not step["under"]:
        return _listed(step, program(*inputs))
    with _context(jax, step):
        return _listed(step, program(*inputs))


def _capture(jax, step, held, views):
    """A call of a function that captures an array."""
    first, captured = [held[name] for name in step["of"]]
    return [jax.jit(lambda first: first + captured)(first)]


def _compiled(jax, step, held, views):
    """A call of a compiled object, which is built for arrays that lie somewhere."""
    built = [jax.device_put(arrays.value(ARRAY), _at(jax, at)) for at in step["built"]]
    program = jax.jit(_function(jax, step), **_options(jax, step)).lower(*built).compile()
    return _listed(step, program(*[held[name] for name in step["of"]]))


def _like(jax, x):
    """An array that lies where another one lies."""
    return jax.device_put(np.zeros(x.shape, x.dtype), x.sharding if x.committed else None)


def _listed(step, out):
    return [*out] if step["f"] in ("twice", "both") else [out]


def _options(jax, step):
    """What a jit is told, where it is told anything."""
    return {
        **({"donate_argnums": tuple(step["donate"])} if step["donate"] else {}),
        **({"in_shardings": tuple(_at(jax, at) for at in step["in"])} if step["in"] else {}),
        **({"out_shardings": _at(jax, step["out"])} if step["out"] else {}),
        **({"keep_unused": True} if step["keep"] else {}),
    }


def _function(jax, step):
    return FUNCTIONS[step["f"]](jax, _at(jax, step["where"]))


def _scan(jax, where):
    def add(carry, row):
        return jax.lax.with_sharding_constraint(carry + row, where), row

    return lambda first: jax.lax.scan(add, first, np.ones((1, 8), np.float32))[0]


def _cond(jax, where):
    def taken(x):
        return jax.lax.with_sharding_constraint(x + 1, where)

    return lambda first: jax.lax.cond(first[0, 0] >= 0, taken, lambda x: x - 1, first)


def _while(jax, where):
    def step(state):
        return state[0] + 1, jax.lax.with_sharding_constraint(state[1] + 1, where)

    return lambda first: jax.lax.while_loop(lambda state: state[0] < 1, step, (0, first))[1]


def _gradient(jax, where):
    return lambda first: jax.grad(lambda x: (jax.device_put(x, where) * x).sum())(first)


FUNCTIONS: dict[str, Any] = {
    "bump": lambda jax, where: lambda first: first + 1,
    "twice": lambda jax, where: lambda first: (first + 1, first + 2),
    "add": lambda jax, where: lambda first, second: first + second,
    "both": lambda jax, where: lambda first, second: (first + 1, second + 1),
    "unused": lambda jax, where: lambda first, second: first + 1,
    "constant": lambda jax, where: lambda first: np.ones((8, 8), np.float32),
    "constraint": lambda jax, where: lambda first: jax.lax.with_sharding_constraint(first + 1, where),
    "put": lambda jax, where: lambda first: jax.device_put(first, where),
    "copy": lambda jax, where: lambda first: jax.device_put(first, where, may_alias=False) + 1,
    "inner": lambda jax, where: lambda first: jax.jit(lambda x: x + 1, in_shardings=where)(first),
    "inner_out": lambda jax, where: lambda first: jax.jit(lambda x: x + 1, out_shardings=where)(first),
    "scan": _scan,
    "cond": _cond,
    "while": _while,
    "gradient": _gradient,
    "rows": lambda jax, where: jax.vmap(lambda first: first + 1),
    "map": lambda jax, where: jax.shard_map(
        lambda first: first + 1, mesh=where.mesh, in_specs=where.spec, out_specs=where.spec
    ),
}
"""Functions of one or two arrays; some of them name a sharding, `where`."""

NAMING = ("constraint", "put", "copy", "inner", "inner_out", "scan", "cond", "while", "gradient", "map")
"""Those that do."""


def _context(jax, step):
    """The mesh context that a step runs in."""
    return CONTEXTS[step["under"][0]](jax, _at(jax, step["under"][1]))


CONTEXTS = {
    "set_mesh": lambda jax, sharding: jax.set_mesh(sharding.mesh),
    "with": lambda jax, sharding: sharding.mesh,
}

DO = {
    "make": _make,
    "make_on": _make_on,
    "put": _put,
    "puts": _puts,
    "delete": _delete,
    "view": _view,
    "drop": _drop,
    "use": _use,
    "eager": _eager,
    "call": _call,
    "capture": _capture,
    "compiled": _compiled,
}
"""What steps do; each gives the arrays that it makes."""


# --- values -----------------------------------------------------------------------------------------------------------


def _fresh(step, holds):
    return [arrays.value(ARRAY)]


def _same(step, holds):
    return [holds[name] for name in step["of"]]


def _worked_out(step, holds):
    return GIVES[step["f"]](*[holds[name] for name in step["of"]])


def _bumped(first):
    return [first + 1]


GIVES: dict[str, Any] = {
    "bump": _bumped,
    "twice": lambda first: [first + 1, first + 2],
    "add": lambda first, second: [first + second],
    "both": lambda first, second: [first + 1, second + 1],
    "unused": lambda first, second: [first + 1],
    "constraint": _bumped,
    "put": lambda first: [first],
    "copy": _bumped,
    "inner": _bumped,
    "inner_out": _bumped,
    "scan": _bumped,
    "cond": _bumped,
    "while": _bumped,
    "gradient": lambda first: [first + first],
    "constant": lambda first: [np.ones_like(first)],
    "rows": _bumped,
    "map": _bumped,
    "stack": lambda first, second: [second],
}

VALUES = {
    "make": _fresh,
    "make_on": _fresh,
    "put": _same,
    "puts": _same,
    "eager": _worked_out,
    "call": _worked_out,
    "capture": lambda step, holds: [holds[step["of"][0]] + holds[step["of"][1]]],
    "compiled": _worked_out,
}
"""What the arrays hold that a step makes; the other steps make none."""


def _at(jax, place):
    """The second argument of `device_put` for a place by its name, None for none."""
    return PLACES[place].make(jax) if place else None
