"""PUT: what `device_put` does to its input and its output under its two flags."""

from __future__ import annotations

import traceback

import numpy as np

from . import arrays, places

FLAGS: dict[str, dict[str, bool | None]] = {
    "default": {},
    "alias": {"donate": False, "may_alias": True},
    "copy": {"donate": False, "may_alias": False},
    "donate": {"donate": True, "may_alias": False},
    "move": {"donate": True, "may_alias": None},
    "both": {"donate": True, "may_alias": True},
}
"""The six rows of the flag table; `default` and `move` leave `may_alias` at None."""


def put(jax, see, source, target, flags, array):
    """One put: a look at the output, then at the input."""
    x = arrays.make(jax, source, array)
    before = see.spans(x)
    see.step("put")
    y = jax.device_put(x, places.make(jax, source, target), **FLAGS[flags])
    see(accepted=True)
    see.step("output")
    see(**_facts(see, before, x, y, array))
    see(input=see.state(x, arrays.value(array)))


def refused(jax, see, source, target, flags, array):
    """A put that may be refused: what the refusal says, what it did meanwhile, and what became of the input."""
    x = arrays.make(jax, source, array)
    where = places.make(jax, source, target)
    place, before, compiled = see.sharding(x), see.spans(x), see.compiled()
    see.step("put")
    try:
        jax.device_put(x, where, **FLAGS[flags])
    except Exception as error:
        see(refused=type(error).__name__, named=see.named(error, ("donate", "may_alias")))
    else:
        see(refused="no", named=[])
    see(compiled=see.compiled() - compiled)
    state = see.state(x, arrays.value(array))
    see(input=state)
    see(moved=state != "intact" or see.sharding(x) != place or see.spans(x) != before)


def pair(jax, see, source, target, flags, array, act):
    """Proves sharing without pointers: ends one side of a pair, waits, and looks at the other."""
    x = arrays.make(jax, source, array)
    see.step("put")
    y = jax.block_until_ready(jax.device_put(x, places.make(jax, source, target), **FLAGS[flags]))
    see.step("is_deleted")
    if x.is_deleted():
        see(other="gone")
        return
    how, side = act.split("_")
    ended, other = (x, y) if side == "input" else (y, x)
    see.step(how)
    if how == "delete":
        ended.delete()
    else:
        jax.block_until_ready(jax.jit(bump, donate_argnums=0)(ended))
    see(other=see.state(other, arrays.value(array)))


def use(jax, see, source, target, array, use):
    """One later use of a donated array, the first touch of it since the put; then another program where it lay."""
    x = arrays.make(jax, source, array)
    see.step("put")
    y = jax.block_until_ready(jax.device_put(x, places.make(jax, source, target), donate=True))
    see.step("use")
    try:
        USES[use](jax, x)
    except Exception as error:
        see(used="deleted" if see.named(error, ("deleted",)) else type(error).__name__)
    else:
        see(used="done")
    see(input=see.state(x, arrays.value(array)))
    see.step("later")
    jax.block_until_ready(jax.jit(bump)(arrays.make(jax, source, array)))
    del y  # alive until here


def rows(jax, see, source, target, flags, twin, array):
    """A row that leaves `may_alias` at None beside the row that it means, on fresh inputs."""
    where, value = places.make(jax, source, target), arrays.value(array)
    inputs, facts = [], []
    for row in (flags, twin):
        x = arrays.make(jax, source, array)
        before = see.spans(x)
        see.step("put")
        y = jax.device_put(x, where, **FLAGS[row])
        see.step("output")
        facts.append(_facts(see, before, x, y, array))
        inputs.append(x)
    states = [see.state(x, value) for x in inputs]
    see(differs=_differ(facts[0] | {"input": states[0]}, facts[1] | {"input": states[1]}))


def eager(jax, see, source, target, array):
    """The donating put beside the pattern that it replaces: put, wait, delete."""
    where, value = places.make(jax, source, target), arrays.value(array)
    x = arrays.make(jax, source, array)
    see.step("put")
    y = jax.device_put(x, where, donate=True)
    see.step("output")
    flagged = _output(see, y, value)
    state = see.state(x, value)
    see(input=state)
    if state != "deleted":
        return  # it did not donate: the pattern is no measure
    x = arrays.make(jax, source, array)
    see.step("pattern")
    y = jax.block_until_ready(jax.device_put(x, where))
    x.delete()
    see.step("output")
    see(differs=_differ(flagged, _output(see, y, value)))


def held(jax, see, source, target, then, array):
    """A donating put while the user holds a host view of the first shard: a look at the input, or at the view."""
    x, value = arrays.make(jax, source, array), arrays.value(array)
    view = np.asarray(x.addressable_shards[0].data)
    before = view.tobytes()
    see.step("put")
    y = jax.device_put(x, places.make(jax, source, target), donate=True)
    if then == "look":
        see(input=see.state(x, value))
        return
    see.step("overwrite")
    jax.block_until_ready(jax.jit(bump, donate_argnums=0)(y))
    see(view="same" if view.tobytes() == before else "differs")


def bump(x):
    """What a donated buffer is overwritten with."""
    return x + 1


def _output(see, y, value):
    """What the user sees of an output."""
    return {"value": see.same(y, value), "sharding": see.sharding(y), "committed": see.committed(y)}


def _facts(see, before, x, y, array):
    """What the user sees of an output, and how it relates to its input; reads nothing of the input."""
    return _output(see, y, arrays.value(array)) | {"original": y is x, "shares": see.shares(before, y)}


def _differ(some, others):
    return sorted(name for name in some if some[name] != others[name])


def _format_traceback(jax, x):
    """What a test runner or a notebook does with an error: formats it with the locals of its frames."""

    def fail(x):
        raise LookupError("somewhere else")

    try:
        fail(x)
    except LookupError as error:
        "".join(traceback.TracebackException.from_exception(error, capture_locals=True).format())


def _fresh(jax, **options):
    """A program that no other case has compiled: being found again changes what becomes of a deleted argument."""
    return jax.jit(lambda x: x + 1, **options)


def _hit(jax, x, **options):
    """Gives it to a program that was compiled, and is found again, for other arrays that lie where it lay."""
    program = _fresh(jax, **options)
    for _ in range(2):
        jax.block_until_ready(program(jax.device_put(np.zeros(x.shape, x.dtype), x.sharding)))
    jax.block_until_ready(program(x))


USES = {
    "is_deleted": lambda jax, x: x.is_deleted(),
    "repr": lambda jax, x: repr(x),
    "shards": lambda jax, x: [shard.data.shape for shard in x.addressable_shards],
    "block": lambda jax, x: x.block_until_ready(),
    "asarray": lambda jax, x: np.asarray(x),
    "add": lambda jax, x: jax.block_until_ready(x + 1),
    "jit": lambda jax, x: jax.block_until_ready(_fresh(jax)(x)),
    "donate": lambda jax, x: jax.block_until_ready(_fresh(jax, donate_argnums=0)(x)),
    "hit": _hit,
    "hit_donate": lambda jax, x: _hit(jax, x, donate_argnums=0),
    "put": lambda jax, x: jax.block_until_ready(jax.device_put(x, jax.devices()[2])),
    "delete": lambda jax, x: x.delete(),
    "live_arrays": lambda jax, x: [it.shape for it in jax.live_arrays()],
    "memory_profile": lambda jax, x: jax.profiler.device_memory_profile(),
    "traceback": _format_traceback,
}
"""Later uses of an array. The last three never name it."""
