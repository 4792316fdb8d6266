"""PUT: what `device_put` does to its input and its output under its two flags."""

from __future__ import annotations

import collections
import copy
import pickle
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
    before = arrays.spans(jax, see, source, array, x)
    where = places.make(jax, source, target)
    see.step("put")
    try:
        y = jax.device_put(x, where, **FLAGS[flags])
    except Exception:
        see(accepted=False)
        raise
    see(accepted=True)
    see.step("output")
    see(**_facts(jax, see, before, x, y, source, target, array))
    see(input=arrays.state(jax, see, source, array, x))


def refused(jax, see, source, target, flags, array):
    """A put that may be refused: what the refusal says, what it did meanwhile, and what became of the input."""
    x = arrays.make(jax, source, array)
    where = places.make(jax, source, target)
    before, compiled = _lies(jax, see, source, array, x), see.compiled()
    see.step("put")
    try:
        jax.device_put(x, where, **FLAGS[flags])
    except Exception as error:
        see(refused=type(error).__name__, named=see.named(error, ("donate", "may_alias")))
    else:
        see(refused="no", named=[])
    see(compiled=see.compiled() - compiled)
    state = arrays.state(jax, see, source, array, x)
    see(input=state)
    see(moved=state != "intact" or _lies(jax, see, source, array, x) != before)


def swapped(jax, see, source, target, flags, array):
    """A put of a NumPy array whose bytes are the other way round, which may be refused."""
    x = arrays.make(jax, source, array)
    see.step("put")
    try:
        y = jax.device_put(x, places.make(jax, source, target), **FLAGS[flags])
    except Exception as error:
        see(result="refused" if see.named(error, (str(x.dtype),)) else type(error).__name__)
    else:
        see(result=see.same(y, arrays.value(array)))
    see(input=arrays.state(jax, see, source, array, x))


def gone(jax, see, source, target, flags, array):
    """A put of an array that is deleted already, while another array lies where it lay."""
    x, other = arrays.make(jax, source, array), arrays.make(jax, source, array)
    where = places.make(jax, source, target)
    jax.clear_caches()  # what it compiles shows, whatever went before
    x.delete()
    compiled = see.compiled()
    see.step("put")
    try:
        jax.block_until_ready(jax.device_put(x, where, **FLAGS[flags]))
    except Exception as error:
        see(refused="deleted" if see.named(error, ("deleted",)) else type(error).__name__)
    else:
        see(refused="no")
    see(compiled=see.compiled() - compiled)
    see(other=arrays.state(jax, see, source, array, other))


def pair(jax, see, source, target, flags, array, act):
    """Proves sharing without pointers: ends or overwrites one side of a pair, waits, and looks at the other."""
    x = arrays.make(jax, source, array)
    see.step("put")
    y = jax.block_until_ready(jax.device_put(x, places.make(jax, source, target), **FLAGS[flags]))
    how, side = act.split("_")
    if source not in arrays.HOSTS:
        see.step("is_deleted")
        if x.is_deleted():
            see(other="gone")
            return
    ended, other = (x, y) if side == "input" else (y, x)
    see.step(how)
    ACTS[how](jax, ended)
    of_host = source in arrays.HOSTS and side == "output"
    see(other=arrays.state(jax, see, source if of_host else "one", array, other))


def hurry(jax, see, source, target, flags, array):
    """Writes into a large NumPy array as soon as its put returns; four times, as it is a matter of who is first."""
    where, was = places.make(jax, source, target), arrays.value(array)
    shows = []
    for _ in range(4):
        x = arrays.value(array)
        see.step("put")
        y = jax.device_put(x, where, **FLAGS[flags])
        x += 1
        shows.append(bool(np.any(np.asarray(y) != was)))
    see(other="changed" if any(shows) else "intact")


def chain(jax, see, source, middle, last, array):
    """A donating put, then a copy of its output; the array in between is deleted."""
    x = arrays.make(jax, source, array)
    see.step("put")
    y = jax.block_until_ready(jax.device_put(x, places.make(jax, source, middle), donate=True))
    see.step("copy")
    z = jax.block_until_ready(jax.device_put(y, places.make(jax, source, last), may_alias=False))
    see.step("delete")
    y.delete()
    see(other=see.state(z, arrays.value(array)))


def use(jax, see, source, target, array, use):
    """One later use of a donated array, the first touch of it since the put; then another program where it lay."""
    x = arrays.make(jax, source, array)
    see.step("put")
    y = jax.block_until_ready(jax.device_put(x, places.make(jax, source, target), donate=True))
    z, asked = None, x
    if use in TAKING:  # which hides what the put did: another array that was put likewise is asked
        asked = arrays.make(jax, source, array)
        z = jax.block_until_ready(jax.device_put(asked, places.make(jax, source, target), donate=True))
    see.step("use")
    try:
        USES[use](jax, x)
    except Exception as error:
        see(used="deleted" if see.named(error, ("deleted",)) else type(error).__name__)
    else:
        see(used="done")
    see(input=see.state(asked, arrays.value(array)))
    see.step("later")
    jax.block_until_ready(jax.jit(bump)(arrays.make(jax, source, array)))
    del y, z  # alive until here


def rows(jax, see, source, target, flags, twin, array):
    """A row that leaves `may_alias` at None beside the row that it means, on fresh inputs."""
    where = places.make(jax, source, target)
    inputs, facts = [], []
    for row in (flags, twin):
        x = arrays.make(jax, source, array)
        before = arrays.spans(jax, see, source, array, x)
        see.step("put")
        y = jax.device_put(x, where, **FLAGS[row])
        see.step("output")
        facts.append(_facts(jax, see, before, x, y, source, target, array))
        inputs.append(x)
    states = [arrays.state(jax, see, source, array, x) for x in inputs]
    see(differs=_differ(facts[0] | {"input": states[0]}, facts[1] | {"input": states[1]}))


def eager(jax, see, source, target, array):
    """The donating put beside the pattern that it replaces: put, wait, delete."""
    where = places.make(jax, source, target)
    x = arrays.make(jax, source, array)
    see.step("put")
    y = jax.device_put(x, where, donate=True)
    see.step("output")
    flagged = _output(jax, see, y, source, target, array)
    state = see.state(x, arrays.value(array))
    see(input=state)
    if state != "deleted":
        return  # it did not donate: the pattern is no measure
    x = arrays.make(jax, source, array)
    see.step("pattern")
    y = jax.block_until_ready(jax.device_put(x, where))
    x.delete()
    see.step("output")
    see(differs=_differ(flagged, _output(jax, see, y, source, target, array)))


def held(jax, see, source, target, then, view, array):
    """A donating put while the user holds a view of the input: a look at the input, or at the view."""
    x = arrays.make(jax, source, array)
    seen = VIEWS[view](jax, x)
    before = seen.tobytes()
    see.step("put")
    y = jax.device_put(x, places.make(jax, source, target), donate=True)
    if then == "look":
        see(input=see.state(x, arrays.value(array)))
        return
    see.step("overwrite")
    jax.block_until_ready(jax.jit(bump, donate_argnums=0)(y))
    see(view="same" if seen.tobytes() == before else "differs")


def torn(jax, see, source, target, use, array):
    """One later use of an input that was donated while the user held a view of one shard; then another program."""
    x = arrays.make(jax, source, array)
    view = np.asarray(x.addressable_shards[0].data)
    before = view.tobytes()
    see.step("put")
    y = jax.block_until_ready(jax.device_put(x, places.make(jax, source, target), donate=True))
    see(input=see.state(x, arrays.value(array)))
    see.step("use")
    try:
        USES[use](jax, x)
    except Exception:
        see(used="refused")
    else:
        see(used="done")
    see.step("later")
    jax.block_until_ready(jax.jit(bump)(arrays.make(jax, source, array)))
    see(view="same" if view.tobytes() == before else "differs")  # it is held until here, and so is the output
    del y


def twice(jax, see, source, target, order, array):
    """One array put twice in one call, once donated and once kept, in that order, or donated both times."""
    x = arrays.make(jax, source, array)
    see(**_twice(jax, see, x, source, target, order, array))
    see(input=see.state(x, arrays.value(array)))


def orders(jax, see, source, target, array):
    """The same array kept and donated in one call, in both orders of the leaves."""
    inputs, facts = [], []
    for order in ("donate_keep", "keep_donate"):
        x = arrays.make(jax, source, array)
        facts.append(_twice(jax, see, x, source, target, order, array))
        inputs.append(x)
    states = [see.state(x, arrays.value(array)) for x in inputs]
    see(differs=_differ(facts[0] | {"input": states[0]}, facts[1] | {"input": states[1]}))


def tree(jax, see, leaves, flags, targets):
    """A pytree put in one call, each leaf beside the same leaf put alone with the flags and the place it is given."""
    ends = LEAVES[leaves]
    where = [places.make(jax, source, target) for source, target, _ in ends]
    donate, may_alias, given = TREES[flags]
    alone = []
    for (source, target, array), row, place in zip(ends, given, where, strict=True):
        x = arrays.make(jax, source, array)
        before = arrays.spans(jax, see, source, array, x)
        see.step("alone")
        y = jax.block_until_ready(jax.device_put(x, place, **FLAGS[row]))
        facts = _facts(jax, see, before, x, y, source, target, array)
        alone.append(facts | {"input": arrays.state(jax, see, source, array, x)})
    a, b, c = xs = [arrays.make(jax, source, array) for source, _, array in ends]
    lay = [arrays.spans(jax, see, source, array, x) for (source, _, array), x in zip(ends, xs, strict=True)]
    see.step("put")
    out = jax.device_put({"a": a, "b": [b, None, c]}, FORMS[targets](*where), donate=donate, may_alias=may_alias)
    see.step("output")
    shape = [type(out).__name__, sorted(out), type(out["b"]).__name__, len(out["b"]), out["b"][1]]
    see(structure="same" if shape == ["dict", ["a", "b"], "list", 3, None] else "differs")
    ys = (out["a"], out["b"][0], out["b"][2])
    together = [_facts(jax, see, lay[i], xs[i], ys[i], *ends[i]) for i in range(3)]
    states = [arrays.state(jax, see, ends[i][0], ends[i][2], xs[i]) for i in range(3)]
    see(kept=sorted({states[i] for i in range(3) if given[i] not in ("donate", "move")}))
    differ = [_differ(alone[i], together[i] | {"input": states[i]}) for i in range(3)]
    see(differs=[f"{'abc'[i]}.{name}" for i in range(3) for name in differ[i]])


def misfit(jax, see, leaves, flags):
    """A pytree put with flags or places that do not fit it: what the refusal says, and what it did meanwhile."""
    ends = LEAVES[leaves]
    where = [places.make(jax, source, target) for source, target, _ in ends]
    donate, may_alias, targets = MISFITS[flags]
    a, b, c = xs = [arrays.make(jax, source, array) for source, _, array in ends]
    before = [_lies(jax, see, ends[i][0], ends[i][2], xs[i]) for i in range(3)]
    compiled = see.compiled()
    see.step("put")
    try:
        jax.device_put({"a": a, "b": [b, None, c]}, FORMS[targets](*where), donate=donate, may_alias=may_alias)
    except Exception as error:
        see(refused=type(error).__name__, named=see.named(error, ("donate", "may_alias")))
        places_ = see.named(error, ("device specification", "device argument", "device="))  # not only device_put
        see(blamed=see.named(error, ("donate", "may_alias")) or ["device"] * bool(places_))
    else:
        see(refused="no", named=[], blamed=[])
    see(compiled=see.compiled() - compiled)
    see(inputs=sorted({arrays.state(jax, see, ends[i][0], ends[i][2], xs[i]) for i in range(3)}))
    see(moved=[_lies(jax, see, ends[i][0], ends[i][2], xs[i]) for i in range(3)] != before)


def filled(jax, see, source, target, container, flags, array):
    """A put of a container of another kind, or of one without leaves."""
    Fields = collections.namedtuple("Fields", ["left", "right"])
    leaves = [arrays.make(jax, source, array) for _ in range(2)]
    x = CONTAINERS[container](Fields, *leaves)
    see.step("put")
    y = jax.block_until_ready(jax.device_put(x, places.make(jax, source, target), **FLAGS[flags]))
    kinds = [repr(jax.tree.map(lambda leaf: 0, tree)) for tree in (x, y)]
    see(structure="same" if kinds[0] == kinds[1] else "differs")
    see(value=sorted({see.same(it, arrays.value(array)) for it in jax.tree.leaves(y)}))


def inside(jax, see, source, target, flags, then, array):
    """A put inside a compiled program: a look at output and input, or at the input when the output is ended."""
    x = arrays.make(jax, source, array)
    where = places.make(jax, source, target)
    before = see.spans(x)
    see.step("jit")
    y = jax.block_until_ready(jax.jit(lambda x: jax.device_put(x, where, **FLAGS[flags]))(x))
    see.step("output")
    if then == "look":
        see(value=see.same(y, arrays.value(array)), shares=see.shares(before, y), original=y is x)
        see(input=see.state(x, arrays.value(array)))
        return
    see.step("is_deleted")
    if x.is_deleted():
        see(other="gone")
        return
    see.step("delete")
    y.delete()
    see(other=see.state(x, arrays.value(array)))


def under(jax, see, source, target, under, array):
    """Both flags on a put under a transformation: what the refusal says, and what became of the input."""
    x = arrays.make(jax, source, array)
    where = places.make(jax, source, target)
    before, compiled = _lies(jax, see, source, array, x), see.compiled()
    see.step("put")
    try:
        UNDER[under](jax, lambda x: jax.device_put(x, where, donate=True, may_alias=True), x)
    except Exception as error:
        see(refused=type(error).__name__, named=see.named(error, ("donate", "may_alias")))
    else:
        see(refused="no", named=[])
    see(compiled=see.compiled() - compiled)
    state = see.state(x, arrays.value(array))
    see(input=state)
    see(moved=state != "intact" or _lies(jax, see, source, array, x) != before)


def gradient(jax, see, source, target, flags, array):
    """The gradient of a function that puts its argument."""
    x = arrays.make(jax, source, array)
    where = places.make(jax, source, target)
    before = _lies(jax, see, source, array, x)
    see.step("grad")
    try:
        g = jax.grad(lambda x: (jax.device_put(x, where, **FLAGS[flags]) * 3).sum())(x)
    except Exception as error:
        see(refused=type(error).__name__, named=see.named(error, ("donate",)))
    else:
        see(refused="no", named=[])
        see(value=see.same(g, np.full_like(arrays.value(array), 3)))
    state = see.state(x, arrays.value(array))
    see(input=state)
    see(moved=state != "intact" or _lies(jax, see, source, array, x) != before)


def again(jax, see, source, target, flags, array):
    """A gradient through a donating put, asked for a second time with a fresh argument: what it compiles then."""
    where = places.make(jax, source, target)

    def put(x):
        return (jax.device_put(x, where, **FLAGS[flags]) * 3).sum()

    for step in ("first", "again"):
        x = arrays.make(jax, source, array)
        compiled = see.compiled()
        see.step(step)
        try:
            jax.grad(put)(x)
        except Exception as error:
            see(refused=type(error).__name__)
        else:
            see(refused="no")
        see(compiled=see.compiled() - compiled)


def after(jax, see, source, target, array):
    """The output of a donating put, read when programs have run on fresh arrays where the input lay."""
    x = arrays.make(jax, source, array)
    see.step("put")
    y = jax.block_until_ready(jax.device_put(x, places.make(jax, source, target), donate=True))
    del x
    others = [arrays.make(jax, source, array) for _ in range(4)]
    see.step("later")
    others = [jax.block_until_ready(jax.jit(bump, donate_argnums=0)(other)) for other in others]
    see.step("output")
    see(value=see.same(y, arrays.value(array)))
    see(others=sorted({see.same(other, arrays.value(array) + 1) for other in others}))


def cotangent(jax, see, source, target, flags, then, array):
    """The pullback of a put, called with a cotangent that lies where the put's output lies."""
    x = arrays.make(jax, source, array)
    where, there = places.make(jax, source, target), places.lies(source, target)
    see.step("put")
    _, back = jax.vjp(lambda x: jax.device_put(x, where, **FLAGS[flags]), x)
    ct = jax.block_until_ready(jax.device_put(arrays.value(array), there.make(jax)))
    before = see.spans(ct)
    see.step("pullback")
    (out,) = jax.block_until_ready(back(ct))
    see.step("output")
    if then == "look":
        see(value=see.same(out, arrays.value(array)), shares=see.shares(before, out), lies=_where(see, out))
        return
    see.step("delete")
    out.delete()
    see(other=see.state(ct, arrays.value(array)))


def mapped(jax, see, source, target, flags, array):
    """A put under `vmap`, beside the same put outside of it."""
    where = places.make(jax, source, target)
    inputs, facts = [], []
    for under in ("nothing", "vmap"):
        x = arrays.make(jax, source, array)
        before = see.spans(x)
        see.step(under)
        y = UNDER[under](jax, lambda x: jax.device_put(x, where, **FLAGS[flags]), x)
        see.step("output")
        facts.append(_facts(jax, see, before, x, y, source, target, array))
        inputs.append(x)
    states = [see.state(x, arrays.value(array)) for x in inputs]
    see(value=facts[1]["value"], shares=facts[1]["shares"], input=states[1])
    see(differs=_differ(facts[0] | {"input": states[0]}, facts[1] | {"input": states[1]}))


def mapped_spec(jax, see, source, target, array):
    """A put under `vmap` to a sharding whose spec speaks of a dimension: of which one, nobody says."""
    x = arrays.make(jax, source, array)
    where = places.make(jax, source, target)
    see.step("vmap")
    try:
        y = jax.vmap(lambda x: jax.device_put(x, where))(x)
    except (ValueError, NotImplementedError) as error:
        see(value="refused", spec=type(error).__name__)
    else:
        see(value=see.same(y, arrays.value(array)), spec=see.sharding(y).get("spec", "none"))
    see(input=see.state(x, arrays.value(array)))


def shaped(jax, see, source, target, flags, array):
    """A put in `eval_shape`: what it says of the output, and what it did to the input."""
    x = arrays.make(jax, source, array)
    where = places.make(jax, source, target)
    before, compiled = _lies(jax, see, source, array, x), see.compiled()
    see.step("eval_shape")
    out = jax.eval_shape(lambda x: jax.device_put(x, where, **FLAGS[flags]), x)
    see(shape=list(out.shape), dtype=str(out.dtype), array=isinstance(out, jax.Array))
    see(compiled=see.compiled() - compiled)
    see(input=arrays.state(jax, see, source, array, x))
    see(moved=_lies(jax, see, source, array, x) != before)


def bump(x):
    """What a donated buffer is overwritten with."""
    return x + 1


def _where(see, y):
    """The sharding of an array as data, without its kind of memory; one name in a tuple means that name."""
    data = {name: it for name, it in see.sharding(y).items() if name != "memory"}
    spec = [part[0] if isinstance(part, list) and len(part) == 1 else part for part in data.get("spec", [])]
    return data | ({"spec": spec} if "spec" in data else {})


def _output(jax, see, y, source, target, array):
    """What the user sees of an output."""
    place = places.lies(source, target)
    facts = {"value": see.same(arrays.numbers(jax, array, y), arrays.value(array))}
    facts |= {"sharding": _where(see, y), "committed": see.committed(y)}
    usual = jax.devices()[0].default_memory().kind
    kind = see.memory_kind(y) or usual
    facts |= {"memory": "as asked" if kind == (place.kind or usual) else kind}
    return facts | ({"layout": see.layout(y)} if place.order else {})


def _facts(jax, see, before, x, y, source, target, array):
    """What the user sees of an output, and how it relates to its input; reads nothing of the input."""
    shares = see.shares(before, arrays.numbers(jax, array, y))
    return _output(jax, see, y, source, target, array) | {"original": y is x, "shares": shares}


def _lies(jax, see, source, array, x):
    """Where an input lies, as data: its bytes, and its sharding if it has one."""
    return arrays.spans(jax, see, source, array, x), None if source in arrays.HOSTS else see.sharding(x)


def _twice(jax, see, x, source, target, order, array):
    """What a call did that puts `x` twice, and the first look at `x`: which of them meets a null pointer, varies."""
    where = places.make(jax, source, target)
    see.step("put")
    try:
        ys = jax.block_until_ready(jax.device_put([x, x], where, donate=ORDERS[order]))
        result = "done" if all(see.same(y, arrays.value(array)) == "same" for y in ys) else "differs"
    except Exception as error:
        result = "refused" if see.named(error, ("donat",)) else type(error).__name__
    x.is_deleted()
    return {"result": result}


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
    "get": lambda jax, x: jax.device_get(x),
    "copy": lambda jax, x: copy.copy(x),
    "pickle": lambda jax, x: pickle.dumps(x),
    "index": lambda jax, x: jax.block_until_ready(x[0]),
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

TAKING = ("donate", "hit_donate")
"""Those that delete an array that was alive."""

VIEWS = {
    "shard": lambda jax, x: np.asarray(x.addressable_shards[0].data),
    "last": lambda jax, x: np.asarray(x.addressable_shards[-1].data),
    "whole": lambda jax, x: np.asarray(x),
    "get": lambda jax, x: jax.device_get(x),
    "dlpack": lambda jax, x: np.from_dlpack(x),
}
"""Views of an array that a user may hold in the host's memory."""


def _write(jax, x):
    """Writes into the host's own memory."""
    x += 1


ACTS = {
    "delete": lambda jax, x: x.delete(),
    "donate": lambda jax, x: jax.block_until_ready(jax.jit(bump, donate_argnums=0)(x)),
    "write": _write,
}
"""How one side of a pair is ended or overwritten."""

UNDER = {
    "nothing": lambda jax, f, x: f(x),
    "jit": lambda jax, f, x: jax.jit(f)(x),
    "grad": lambda jax, f, x: jax.grad(lambda x: f(x).sum())(x),
    "vmap": lambda jax, f, x: jax.vmap(f)(x),
    "eval_shape": lambda jax, f, x: jax.eval_shape(f, x),
}
"""Transformations of a function of one array."""

ORDERS = {"donate_keep": [True, False], "keep_donate": [False, True], "donate_donate": [True, True]}

LEAVES = {
    "reordered": (("xy", "perm", "f32_8x8"), ("xy", "perm", "f32_8x8"), ("xy", "perm", "f32_8x8")),
    "moved": (("one", "dev1", "f32_8x8"), ("one", "dev1", "f32_8x8"), ("one", "dev1", "f32_8x8")),
    "mixed": (("xy", "perm", "f32_8x8"), ("np_aligned", "dev1", "f32_8x8"), ("one", "dev1", "f32_8x8")),
    "partly": (("xy", "perm", "f32_8x8"), ("xy", "none", "f32_8x8"), ("one", "none", "f32_8x8")),
    "apart": (("one", "dev1", "f32_8x8"), ("one", "dev5", "f32_8x8"), ("mesh1", "dev0", "f32_8x8")),
    "keyed": (("xy", "perm", "f32_8x8"), ("xy", "yx", "key_8x8"), ("one", "same", "key_8x8")),
}
"""Where the three leaves of {"a": leaf, "b": [leaf, None, leaf]} lie, where they are put, and what they are."""

CONTAINERS = {
    "named": lambda fields, a, b: fields(a, b),
    "nested": lambda fields, a, b: [fields(a, ()), (b, None)],
    "empty": lambda fields, a, b: {},
    "hollow": lambda fields, a, b: fields((), [None, {}]),
    "nothing": lambda fields, a, b: None,
}
"""Pytrees of two leaves or of none; `fields` is a class of named tuples."""

TREES = {
    "one_default": (False, None, ("default", "default", "default")),
    "one_copy": (False, False, ("copy", "copy", "copy")),
    "one_donate": (True, None, ("move", "move", "move")),
    "prefix_donate": ({"a": True, "b": False}, False, ("donate", "copy", "copy")),
    "prefix_keep": ({"a": False, "b": True}, None, ("default", "move", "move")),
    "prefix_alias": (False, {"a": True, "b": False}, ("alias", "copy", "copy")),
    "prefix_none": (False, {"a": None, "b": False}, ("default", "copy", "copy")),
    "tree_donate": ({"a": False, "b": [True, None, False]}, False, ("copy", "donate", "copy")),
    "tree_alias": (False, {"a": False, "b": [True, None, False]}, ("copy", "alias", "copy")),
    "tree_both": (
        {"a": True, "b": [False, None, False]},
        {"a": False, "b": [True, None, False]},
        ("donate", "alias", "copy"),
    ),
}
"""Flags for that pytree: `donate`, `may_alias`, and the row of the table that they mean for each leaf."""

FORMS = {
    "one": lambda a, b, c: a,
    "prefix": lambda a, b, c: {"a": a, "b": b},
    "tree": lambda a, b, c: {"a": a, "b": [b, None, c]},
    "lacking": lambda a, b, c: {"a": a},
    "longer": lambda a, b, c: {"a": a, "b": [b, None, c, c]},
}
"""The places of its leaves: one for all, one for each branch, one for each leaf; then two that do not fit it."""

MISFITS = {
    "conflict_first": ({"a": True, "b": [False, None, False]}, {"a": True, "b": [False, None, False]}, "tree"),
    "conflict_last": ({"a": True, "b": [False, None, True]}, {"a": False, "b": [True, None, True]}, "tree"),
    "conflict_prefix": ({"a": False, "b": True}, {"a": True, "b": [False, None, True]}, "tree"),
    "conflict_one": (True, {"a": False, "b": [False, None, True]}, "tree"),
    "donate_lacking": ({"a": True}, None, "tree"),
    "donate_longer": ({"a": True, "b": [True, None, True, True]}, None, "tree"),
    "donate_other": ([True, False], None, "tree"),
    "alias_lacking": (False, {"a": False}, "tree"),
    "alias_longer": (False, {"a": False, "b": [False, None, False, True]}, "tree"),
    "alias_other": (True, [False, False], "tree"),
    "place_lacking": (True, None, "lacking"),
    "place_longer": (True, None, "longer"),
}
"""Flags and places for that pytree that contradict each other in one leaf, or are no prefix of it."""
