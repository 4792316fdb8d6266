"""DON: what a jitted call does to the arrays that are donated to it."""

from __future__ import annotations

import copy
import pickle
import warnings
from dataclasses import dataclass

import numpy as np

from . import arrays
from .common import all_are
from .places import Place

FOUR, SQUARE = (0, 1, 2, 3), (("x", 2), ("y", 2))

SPECS: dict[str, tuple[str | tuple[str, ...] | None, ...]] = {
    "rep": (),
    "x": ("x",),
    "y": ("y",),
    "folded": (("x", "y"),),
    "folded_yx": (("y", "x"),),
    "none_x": (None, "x"),
    "none_y": (None, "y"),
    "none_folded": (None, ("x", "y")),
    "none_folded_yx": (None, ("y", "x")),
    "xy": ("x", "y"),
    "yx": ("y", "x"),
}
"""Every way to cut a matrix over a square of devices."""

PLACES = {
    "one": Place((0,)),
    "dev5": Place((5,)),
    "free": Place((0,), committed=False),
    "mesh1": Place((0,), (("x", 1),), ("x",)),
    "two": Place((0, 1), (("x", 2),), ("x",)),
    "back": Place((3, 1, 2, 0), SQUARE, ("x", "y")),
    "eight": Place((0, 1, 2, 3, 4, 5, 6, 7), (("x", 4), ("y", 2)), ("x", "y")),
    "columns": Place(FOUR, SQUARE, ("x", "y"), order=(1, 0)),
    "pinned": Place((0,), kind="pinned_host"),
    **{name: Place(FOUR, SQUARE, spec) for name, spec in SPECS.items()},
}
"""Where a donated array lies."""

WIDE = 64
"""How far the second array of a call is from the first one, in each element."""

# --- a donation that a result can take --------------------------------------------------------------------------------


def bump(x):
    return x + 1


def add(x, y):
    return x + y


def apart(x, y):
    return x + 1, y + 2


def swap(x, y):
    return y, x


def branch(tree):
    return {"u": tree["u"] + 1, "v": (tree["v"][0] + 2,)}


def times(n, x):
    return x * n


def total(x):
    return x.sum(), x + 1


def itself(x):
    return x


def with_next(x):
    return x, x + 1


def twins(x):
    return x + 1, x + 1


def zeros(jax):
    return lambda x: jax.numpy.zeros((8, 8), "float32")


def nested(jax):
    return lambda x: jax.jit(bump)(x) + 0


@dataclass(frozen=True)
class Form:
    """How a call donates: what of x and y it donates and keeps, and by how much more than x each of its results is."""

    donates: str = "x"
    keeps: str = ""
    more: tuple[int, ...] = (1,)


FORMS = {
    "plain": Form(),
    "named": Form(),
    "keyword": Form(),
    "named_second": Form("y", "x", (1, WIDE + 2)),
    "both_keywords": Form("xy", "", (1, WIDE + 2)),
    "negative": Form("y", "x", (1, WIDE + 2)),
    "second": Form("y", "x", (1, WIDE + 2)),
    "first": Form("x", "y", (1, WIDE + 2)),
    "both": Form("xy", "", (1, WIDE + 2)),
    "swap": Form("xy", "", (WIDE, 0)),
    "tree": Form("xy", "", (1, WIDE + 2)),
    "list": Form("xy", "", (1, WIDE + 2)),
    "static": Form(more=(0,)),
    "static_named": Form(more=(0,)),
    "kept": Form(more=()),
    "itself": Form(more=(0,)),
    "nested": Form(),
    "in": Form(),
    "out": Form(),
    "in_out": Form(),
    "compiled": Form(),
    "compiled_tree": Form("xy", "", (1, WIDE + 2)),
    "compiled_keyword": Form(),
}
"""The ways to donate where a result can take the place of what is donated."""

CALLS = {
    "plain": lambda jax, s, x, y: jax.jit(bump, donate_argnums=0)(x),
    "named": lambda jax, s, x, y: jax.jit(bump, donate_argnames="x")(x),
    "keyword": lambda jax, s, x, y: jax.jit(bump, donate_argnames="x")(x=x),
    "named_second": lambda jax, s, x, y: jax.jit(apart, donate_argnames=("y",))(x, y=y),
    "both_keywords": lambda jax, s, x, y: jax.jit(apart, donate_argnames=("x", "y"))(y=y, x=x),
    "negative": lambda jax, s, x, y: jax.jit(apart, donate_argnums=-1)(x, y),
    "second": lambda jax, s, x, y: jax.jit(apart, donate_argnums=1)(x, y),
    "first": lambda jax, s, x, y: jax.jit(apart, donate_argnums=0)(x, y),
    "both": lambda jax, s, x, y: jax.jit(apart, donate_argnums=(0, 1))(x, y),
    "swap": lambda jax, s, x, y: jax.jit(swap, donate_argnums=(0, 1))(x, y),
    "tree": lambda jax, s, x, y: jax.jit(branch, donate_argnums=0)({"u": x, "v": (y,)}),
    "list": lambda jax, s, x, y: jax.jit(lambda them: apart(*them), donate_argnums=0)([x, y]),
    "static": lambda jax, s, x, y: jax.jit(times, static_argnums=0, donate_argnums=1)(1, x),
    "static_named": lambda jax, s, x, y: jax.jit(times, static_argnames="n", donate_argnames="x")(n=1, x=x),
    "kept": lambda jax, s, x, y: jax.jit(zeros(jax), donate_argnums=0, keep_unused=True, out_shardings=s)(x),
    "itself": lambda jax, s, x, y: jax.jit(itself, donate_argnums=0)(x),
    "nested": lambda jax, s, x, y: jax.jit(nested(jax), donate_argnums=0)(x),
    "in": lambda jax, s, x, y: jax.jit(bump, donate_argnums=0, in_shardings=s)(x),
    "out": lambda jax, s, x, y: jax.jit(bump, donate_argnums=0, out_shardings=s)(x),
    "in_out": lambda jax, s, x, y: jax.jit(bump, donate_argnums=0, in_shardings=s, out_shardings=s)(x),
    "compiled": lambda jax, s, x, y: jax.jit(bump, donate_argnums=0).lower(x).compile()(x),
    "compiled_tree": lambda jax, s, x, y: (
        jax.jit(branch, donate_argnums=0).lower({"u": x, "v": (y,)}).compile()({"u": x, "v": (y,)})
    ),
    "compiled_keyword": lambda jax, s, x, y: jax.jit(bump, donate_argnames="x").lower(x=x).compile()(x=x),
}
"""How each is written: given the sharding of x and y."""


def donate(jax, see, form, place):
    """A call that donates, where a result can take the place of what it donates: its results, then its arguments."""
    where, told = PLACES[place].make(jax), FORMS[form]
    x, y = _array(jax, where), _array(jax, where, WIDE)
    see.step("call")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        results = jax.tree.leaves(jax.block_until_ready(CALLS[form](jax, where, x, y)))
    see(warned=_told(caught))
    see.step("results")
    if told.more:
        see(value=all_are([see.same(it, _value(more)) for it, more in zip(results, told.more, strict=True)]))
    else:
        see(value=see.same(results[0], _value() * 0))
    see(kept=_states(see, [x, y], told.keeps))
    see(donated=_states(see, [x, y], told.donates))


ALONE = ("f8_8x8", "i4_8x8", "key_8x8")
NUMBERS = tuple(it for it in arrays.ARRAYS if it.endswith("_8x8") and it not in ALONE)
SHAPES = tuple(it for it in arrays.ARRAYS if not it.endswith(("_8x8", "_wide")))
"""Arrays that are donated alone, and those that are so together: of every plain dtype, and of every size."""


def turn(x):
    """What is done to an array of any dtype so that another one of that dtype results."""
    return x == False if x.dtype == bool else -x  # noqa: E712


def turn_all(xs):
    return [turn(x) for x in xs]


def change(jax, array):
    """The same to an array that is donated alone."""
    if arrays.ARRAYS[array].key:
        return lambda xs: [jax.random.wrap_key_data(jax.random.key_data(xs[0]) + 1)]
    if arrays.ARRAYS[array].dtype == "int4":  # which not every compiler can negate
        return lambda xs: [(-xs[0].astype("int8")).astype("int4")]
    return lambda xs: [-xs[0]]


def changed(array):
    """What then is its value."""
    value = arrays.value(array)
    if arrays.ARRAYS[array].key:
        return value + np.uint32(1)
    if value.dtype == "int4":
        return (-value.astype("int8")).astype("int4")  # NumPy negates it to an int8
    return ~value if value.dtype == bool else -value


def kinds(jax, see, array, place):
    """A donating call of an array of some dtype and size, with others where those are plain."""
    names = NUMBERS if array in NUMBERS else SHAPES if array in SHAPES else (array,)
    f = turn_all if len(names) > 1 else change(jax, array)
    where = PLACES[place].make(jax)
    xs = [arrays.placed(jax, PLACES[place], name) for name in names]
    see.step("call")
    ys = jax.block_until_ready(jax.jit(f, donate_argnums=0, out_shardings=where)(xs))
    see.step("result")
    x, y = xs[names.index(array)], ys[names.index(array)]
    see(value=see.same(arrays.numbers(jax, array, y), changed(array)))
    see.step("is_deleted")
    see(donated="deleted" if x.is_deleted() else "alive")
    see.step("read")
    try:
        np.asarray(arrays.numbers(jax, array, x))
    except Exception as error:
        see(read="deleted" if see.named(error, ("deleted",)) else type(error).__name__)
    else:
        see(read="done")


def chain(jax, see, chained, place):
    """Five calls in a row, each given what the one before it gave."""
    where = PLACES[place].make(jax)
    xs = [_array(jax, where)]
    step = CHAINS[chained](jax, where, xs[0])
    see.step("calls")
    for _ in range(5):
        xs.append(step(xs[-1]))
    see.step("result")
    see(value=see.same(xs[-1], _value(5)))
    see(donated=_states(see, xs[:-1], range(5), range(5)))


CHAINS = {
    "jit": lambda jax, s, x: jax.jit(bump, donate_argnums=0),
    "out": lambda jax, s, x: jax.jit(bump, donate_argnums=0, out_shardings=s),
    "compiled": lambda jax, s, x: jax.jit(bump, donate_argnums=0).lower(x).compile(),
}


def mixed(jax, see, place):
    """Donating and other calls by turns, over the same arrays: nothing that is alive changes."""
    where = PLACES[place].make(jax)
    x, y = _array(jax, where), _array(jax, where, WIDE)
    donating, keeping = jax.jit(bump, donate_argnums=0), jax.jit(bump)
    see.step("calls")
    a = keeping(x)
    b = donating(y)
    c = keeping(a)
    d = donating(a)
    e = donating(x)
    f = keeping(b)
    see.step("results")
    wanted = [(b, WIDE + 1), (c, 2), (d, 2), (e, 1), (f, WIDE + 2)]
    see(value=all_are([see.same(it, _value(more)) for it, more in wanted]))
    see(donated=_states(see, [x, y, a], range(3), [0, WIDE, 1]))


# --- a donation that no result can take, or perhaps one ---------------------------------------------------------------

SPARE = {
    "sum": lambda jax, s: (lambda x: x.sum(), {}),
    "half": lambda jax, s: (lambda x: x[:4], {}),
    "double": lambda jax, s: (lambda x: jax.numpy.concatenate([x, x]), {}),
    "f16": lambda jax, s: (lambda x: x.astype("float16"), {}),
    "c64": lambda jax, s: (lambda x: x.astype("complex64"), {}),
    "mask": lambda jax, s: (lambda x: x > 5, {}),
    "nothing": lambda jax, s: (lambda x: None, {"keep_unused": True}),
    "other": lambda jax, s: (lambda x: jax.numpy.zeros((4,), "float32"), {"keep_unused": True}),
    "dropped": lambda jax, s: (lambda x: jax.numpy.zeros((4,), "float32"), {}),
    "whole": lambda jax, s: (lambda x: x + 1, {"out_shardings": _spec(jax, s)}),
    "cut": lambda jax, s: (lambda x: x + 1, {"out_shardings": _spec(jax, s, "x")}),
    "pinned": lambda jax, s: (lambda x: x + 1, {"out_shardings": s.with_memory_kind("pinned_host")}),
}
"""Functions of one array with results of other sizes, cuts or kinds of memory, and the options of their jit."""

PERHAPS = {
    "i32": lambda jax, s: (lambda x: x.astype("int32"), {}),
    "flat": lambda jax, s: (lambda x: x.reshape(64), {}),
    "wider": lambda jax, s: (lambda x: x.reshape(4, 16), {}),
    "idle": lambda jax, s: (lambda x: jax.numpy.zeros((8, 8), "float32"), {}),
    "free_in": lambda jax, s: (lambda x: x + 1, {"in_shardings": s}),
    "free_in_out": lambda jax, s: (lambda x: x + 1, {"in_shardings": s, "out_shardings": s}),
    "free_out": lambda jax, s: (lambda x: x + 1, {"out_shardings": s}),
    "columns": lambda jax, s: (lambda x: x + 1, {}),
}
"""The same, with a result of as many bytes in another shape or dtype, without a use of the argument, for an array that
is committed nowhere and that the call lays out, or for one of another layout."""

GIVES = {
    "sum": lambda value: value.sum(),
    "half": lambda value: value[:4],
    "double": lambda value: np.concatenate([value, value]),
    "f16": lambda value: value.astype("float16"),
    "c64": lambda value: value.astype("complex64"),
    "mask": lambda value: value > 5,
    "nothing": lambda value: None,
    "other": lambda value: np.zeros(4, "float32"),
    "dropped": lambda value: np.zeros(4, "float32"),
    "i32": lambda value: value.astype("int32"),
    "flat": lambda value: value.reshape(64),
    "wider": lambda value: value.reshape(4, 16),
    "idle": lambda value: value * 0,
}
"""What they give; the others give one more than they are given."""


def spare(jax, see, form, place):
    """A call whose donation has no result to go to, made twice; what it says, and what it leaves of its argument."""
    where = PLACES[place].make(jax)
    see.step("make")
    x = _turned(jax, place) if form == "columns" else _array(jax, None if form.startswith("free") else where)
    f, options = {**SPARE, **PERHAPS}[form](jax, where)
    call = jax.jit(f, donate_argnums=0, **options)
    see.step("call")
    told, result, error = _call(jax, call, x)
    see(accepted=error is None, value=_gives(see, form, result))
    see.step("is_deleted")
    deleted = x.is_deleted()
    see(told=bool(told or deleted), named=_named(see, told))
    if deleted:
        see(warned=[len(told), 0], again="none")
    else:
        see.step("call again")
        again, result, error = _call(jax, call, x)
        see(warned=[len(told), len(again)], again=_gives(see, form, result))
    see(input=see.state(x, _value()))
    see.step("later")
    see(later="gone" if x.is_deleted() else see.same(jax.jit(bump)(x), _value(1)))


def fewer(jax, see, donated, place):
    """Two arrays are donated to a call with a result for one of them."""
    where = PLACES[place].make(jax)
    x, y = _array(jax, where), _array(jax, where, WIDE)
    call = jax.jit(lambda x, y: x + y, donate_argnums=(0, 1), out_shardings=where if donated == "out" else None)
    see.step("call")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        z = jax.block_until_ready(call(x, y))
    see(value=see.same(z, _value() + _value(WIDE)))
    see(inputs=" ".join(sorted([see.state(x, _value()), see.state(y, _value(WIDE))])))
    see(told=bool(_told(caught)))


def beside(jax, see, donated, out, place):
    """Two arrays meet in a call, of which the second is committed nowhere; one of them or both are donated."""
    where = PLACES[place].make(jax)
    x, y = _array(jax, where), _array(jax, None, WIDE)
    numbers = {"committed": 0, "free": 1, "both": (0, 1)}[donated]
    outs = {"open": None, "same": where, "whole": _spec(jax, where)}[out]
    call = jax.jit(lambda x, y: x + y, donate_argnums=numbers, out_shardings=outs)
    see.step("call")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            z = jax.block_until_ready(call(x, y))
    except Exception as error:
        see(accepted=type(error).__name__, value="none")
    else:
        see(accepted="yes", value=see.same(z, _value() + _value(WIDE)))
    see(committed=see.state(x, _value()), free=see.state(y, _value(WIDE)))


def _call(jax, call, x):
    """The warnings of a call that donates in vain, its result, and its error."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result, error = jax.block_until_ready(call(x)), None
        except Exception as raised:
            result, error = None, raised
    return [it.message for it in caught if "donated buffers" in str(it.message)], result, error


def _gives(see, form, result):
    """Whether a result is what the form gives."""
    wanted = GIVES[form](_value()) if form in GIVES else _value(1)
    if wanted is None or result is None:
        return "same" if wanted is result else "none"
    return see.same(result, np.asarray(wanted))


def _named(see, told):
    """Whether each warning names the argument, or says the shape of its buffers."""
    words = ("float32[8,8]", "float32[4,4]", "float32[4,8]", "float32[2,4]", "float32[2,8]", "float32[8,2]", " x ")
    return all(see.named(it, words) for it in told)


def _spec(jax, sharding, *spec):
    """The same mesh, cut otherwise."""
    return jax.sharding.NamedSharding(sharding.mesh, jax.sharding.PartitionSpec(*spec))


# --- what the compiled module says ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Module:
    """What a program is expected to say of its donations: which result lies in which parameter.

    `donates` are the positions of the arguments that it donates, `open` those of which it may say either.
    """

    aliases: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = ()
    donates: tuple[int, ...] = (0,)
    more: tuple[int, ...] = (1,)


MODULES = {
    "not": Module(donates=()),
    "plain": Module((((), (0,)),)),
    "out": Module((((), (0,)),)),
    "second": Module((((0,), (1,)),), (1,), (1, WIDE + 2)),
    "both": Module((((0,), (0,)), ((1,), (1,))), (0, 1), (1, WIDE + 2)),
    "after_sum": Module((((1,), (0,)),)),
    "after_unused": Module((((), (0,)),), (1,), (WIDE + 1,)),
    "after_kept": Module((((), (1,)),), (1,), (WIDE + 1,)),
    "named": Module((((), (0,)),)),
    "tree": Module((((0,), (0,)), ((1,), (1,))), (0, 1), (1, WIDE + 2)),
    "sum": Module(),
    "half": Module(),
    "i32": Module(),
    "flat": Module(),
}
"""Programs of x and y."""

LOWERED = {
    "not": lambda jax, s, x, y: (jax.jit(bump), (x,)),
    "plain": lambda jax, s, x, y: (jax.jit(bump, donate_argnums=0), (x,)),
    "out": lambda jax, s, x, y: (jax.jit(bump, donate_argnums=0, out_shardings=s), (x,)),
    "second": lambda jax, s, x, y: (jax.jit(apart, donate_argnums=1), (x, y)),
    "both": lambda jax, s, x, y: (jax.jit(apart, donate_argnums=(0, 1)), (x, y)),
    "after_sum": lambda jax, s, x, y: (jax.jit(total, donate_argnums=0), (x,)),
    "after_unused": lambda jax, s, x, y: (jax.jit(lambda x, y: y + 1, donate_argnums=1), (x, y)),
    "after_kept": lambda jax, s, x, y: (jax.jit(lambda x, y: y + 1, donate_argnums=1, keep_unused=True), (x, y)),
    "named": lambda jax, s, x, y: (jax.jit(bump, donate_argnames="x"), (x,)),
    "tree": lambda jax, s, x, y: (jax.jit(branch, donate_argnums=0), ({"u": x, "v": (y,)},)),
    "sum": lambda jax, s, x, y: (jax.jit(lambda x: x.sum(), donate_argnums=0), (x,)),
    "half": lambda jax, s, x, y: (jax.jit(lambda x: x[:4], donate_argnums=0), (x,)),
    "i32": lambda jax, s, x, y: (jax.jit(lambda x: x.astype("int32"), donate_argnums=0), (x,)),
    "flat": lambda jax, s, x, y: (jax.jit(lambda x: x.reshape(64), donate_argnums=0), (x,)),
}
"""How each is written, and what it is lowered for and called with."""


def aliased(jax, see, form, place):
    """A program that is compiled ahead of time: what its texts say of donation, its memory analysis, and its call."""
    where = PLACES[place].make(jax)
    x, y = _array(jax, where), _array(jax, where, WIDE)
    program, given = LOWERED[form](jax, where, x, y)
    shard = x.addressable_shards[0].data.nbytes
    before = [see.spans(x), see.spans(y)]
    see.step("lower")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        lowered = program.lower(*given)
    see(warned=_told(caught))
    text = lowered.as_text()
    see(declared=text.count("tf.aliasing_output") + text.count("jax.buffer_donor"))
    see.step("compile")
    compiled = lowered.compile()
    aliases = see.aliases(compiled.as_text())
    see(module=[[it["output"], it["parameter"]] for it in aliases])
    stats = compiled.memory_analysis()
    see(bytes=stats.alias_size_in_bytes / shard)
    see(arguments=stats.argument_size_in_bytes / shard)
    see.step("call")
    results = jax.tree.leaves(jax.block_until_ready(compiled(*given)))
    see.step("results")
    shares = [see.shares(before[number], it) for number in (0, 1) for it in results]
    see(buffers=sum(it == "all" for it in shares), partly=sum(it == "some" for it in shares))
    states = [see.state(x, _value()), see.state(y, _value(WIDE))]
    see(deleted=states.count("deleted"), inputs=" ".join(states))
    see(agree=len(aliases) == stats.alias_size_in_bytes / shard == states.count("deleted"))


# --- an array that is there twice -------------------------------------------------------------------------------------

TWICE = {
    "both": lambda jax: jax.jit(add, donate_argnums=(0, 1)),
    "first": lambda jax: jax.jit(add, donate_argnums=0),
    "second": lambda jax: jax.jit(add, donate_argnums=1),
    "results": lambda jax: jax.jit(apart, donate_argnums=(0, 1)),
    "keyword": lambda jax: jax.jit(apart, donate_argnames="x"),
    "tree": lambda jax: jax.jit(lambda x: [x["u"] + 1, x["v"][0] + 2], donate_argnums=0),
    "partly": lambda jax: jax.jit(lambda x, y: x[0] + x[1] + y["u"], donate_argnums=1),
}
"""Programs that donate one of two arrays, or both."""

GIVEN = {
    "keyword": lambda program, x, y: program(x, y=y),
    "tree": lambda program, x, y: program({"u": x, "v": (y,)}),
    "partly": lambda program, x, y: program([x, x], {"u": y}),
}
"""How they are given: where nothing else is said, by position."""


def twice(jax, see, order, how, place):
    """One array is two arguments of a call that donates it, and of the same call again; then it is used elsewhere."""
    where = PLACES[place].make(jax)
    x = _array(jax, where)
    program = TWICE[order](jax)
    give = GIVEN.get(order, lambda program, x, y: program(x, y))
    if how == "hot":
        see.step("before")
        for _ in range(2):
            jax.block_until_ready(give(program, _array(jax, where), _array(jax, where)))
    if how == "compiled":
        program = give(program.lower, _array(jax, where), _array(jax, where)).compile()
    see.step("call")
    told = _refusal(jax, see, lambda: give(program, x, x))
    see(refused=told["refused"], clear=told["clear"], named=told["named"])
    see.step("call again")
    see(again=_refusal(jax, see, lambda: give(program, x, x))["refused"])
    see(input=see.state(x, _value()))
    see.step("later")
    see(later="gone" if x.is_deleted() else see.same(jax.block_until_ready(jax.jit(bump)(x)), _value(1)))


def views(jax, see, view, order, place):
    """Two arrays over one memory are the arguments of a call that donates the first, or both."""
    where = PLACES[place].make(jax)
    x = _array(jax, where)
    y = SAME_MEMORY[view](jax, x, where)
    see.step("call")
    try:
        z = jax.block_until_ready(TWICE[order](jax)(x, y))
    except Exception as error:
        see(result="refused" if see.named(error, ("donat",)) else type(error).__name__)
    else:
        see(result=see.same(z, _value() + _value()))
    see(inputs=" ".join(sorted({see.state(x, _value()), see.state(y, _value())})))
    see.step("later")
    see(later=see.same(jax.block_until_ready(jax.jit(bump)(_array(jax, where))), _value(1)))


SAME_MEMORY = {
    "alias": lambda jax, x, s: jax.device_put(x, s, may_alias=True),
    "shard": lambda jax, x, s: x.addressable_shards[0].data,
    "assembled": lambda jax, x, s: jax.make_array_from_single_device_arrays(
        x.shape, s, [shard.data for shard in x.addressable_shards]
    ),
}
"""Another array over the memory of one."""


def _refusal(jax, see, call):
    """The class of the error of a call, whether it speaks of donation, and whether it names an argument."""
    try:
        jax.block_until_ready(call())
    except Exception as error:
        named = [see.names_argument(error, *it) for it in (("x", 0), ("y", 1), ("x['u']", 0), ("y['u']", 2))]
        return {"refused": "yes", "clear": bool(see.named(error, ("donat",))), "named": any(named)}
    return {"refused": "no", "clear": False, "named": False}


# --- an array that is used again --------------------------------------------------------------------------------------


def _hit(jax, x, y):
    """A program that has run before, on other arrays that lie alike."""
    program = jax.jit(like)
    for _ in range(2):
        jax.block_until_ready(program(jax.device_put(_value(), y.sharding)))
    jax.block_until_ready(program(x))


def like(x):
    return x * 2


def _compiled(jax, x, y):
    """A program that was compiled for an array that lies alike."""
    jax.block_until_ready(jax.jit(like).lower(y).compile()(x))


READS = {
    "asarray": lambda jax, x, y: np.asarray(x),
    "get": lambda jax, x, y: jax.device_get(x),
    "tolist": lambda jax, x, y: x.tolist(),
    "pickle": lambda jax, x, y: pickle.dumps(x),
    "copy": lambda jax, x, y: copy.copy(x),
    "iterate": lambda jax, x, y: list(x),
    "index": lambda jax, x, y: jax.block_until_ready(x[0]),
    "add": lambda jax, x, y: jax.block_until_ready(x + 1),
    "beside": lambda jax, x, y: jax.block_until_ready(y + x),
    "fresh": lambda jax, x, y: jax.block_until_ready(jax.jit(lambda x: x - 1)(x)),
    "fresh_donating": lambda jax, x, y: jax.block_until_ready(jax.jit(lambda x: x - 1, donate_argnums=0)(x)),
    "compiled": _compiled,
    "in_tree": lambda jax, x, y: jax.block_until_ready(jax.jit(branch)({"u": y, "v": (x,)})),
    "grad": lambda jax, x, y: jax.grad(lambda x: (x * x).sum())(x),
    "vmap": lambda jax, x, y: jax.block_until_ready(jax.vmap(bump)(x)),
    "put": lambda jax, x, y: jax.block_until_ready(jax.device_put(x, jax.devices()[2])),
    "put_same": lambda jax, x, y: jax.block_until_ready(jax.device_put(x, y.sharding)),
    "captured": lambda jax, x, y: jax.block_until_ready(jax.jit(lambda y: y + x)(y)),
    "again": lambda jax, x, y: jax.block_until_ready(jax.jit(bump, donate_argnums=0)(x)),
    "hit": _hit,
}
"""Uses that need what an array holds."""

GLANCES = {
    "repr": lambda jax, x, y: repr(x),
    "str": lambda jax, x, y: str(x),
    "shards": lambda jax, x, y: [shard.data.shape for shard in x.addressable_shards],
    "is_ready": lambda jax, x, y: x.is_ready(),
    "block": lambda jax, x, y: x.block_until_ready(),
    "block_tree": lambda jax, x, y: jax.block_until_ready([x, y]),
    "to_host_async": lambda jax, x, y: x.copy_to_host_async(),
    "constrain": lambda jax, x, y: jax.lax.with_sharding_constraint(x, y.sharding),
    "eval_shape": lambda jax, x, y: jax.eval_shape(bump, x),
    "lower": lambda jax, x, y: jax.jit(bump).lower(x),
}
"""Uses that need not read it."""

HARMLESS = {
    "is_deleted": lambda jax, x, y: x.is_deleted(),
    "facts": lambda jax, x, y: (x.shape, x.dtype, x.size, x.ndim, x.sharding, x.committed),
    "delete": lambda jax, x, y: x.delete(),
    "delete_twice": lambda jax, x, y: (x.delete(), x.delete()),
    "live_arrays": lambda jax, x, y: [it.shape for it in jax.live_arrays()],
    "drop": lambda jax, x, y: None,
}
"""Questions and acts that a deleted array has an answer for."""


EAGER = ("copy", "iterate", "index", "add", "beside", "grad", "vmap", "constrain")
"""Uses that run programs of JAX's own."""


def use(jax, see, use, place):
    """One use of an array that a call was given for good; then what the call gave, and another program.

    JAX's own programs may have run before in the process, and are found again without a look at their arguments. So
    that this is always so, they run on another array first.
    """
    where = PLACES[place].make(jax)
    x = _array(jax, where)
    see.step("call")
    y = jax.block_until_ready(jax.jit(bump, donate_argnums=0)(x))
    if use in EAGER:
        see.step("before")
        for _ in range(2):
            {**READS, **GLANCES}[use](jax, y, y)
    see.step("use")
    try:
        {**READS, **GLANCES, **HARMLESS}[use](jax, x, y)
    except Exception as error:
        see(used="deleted" if see.named(error, ("deleted",)) else type(error).__name__)
    else:
        see(used="done")
    see.step("later")
    see(output=see.same(y, _value(1)))
    see(later=see.same(jax.block_until_ready(jax.jit(bump)(_array(jax, where))), _value(1)))
    see(input=see.state(x, _value()))


# --- an array that another one came from ------------------------------------------------------------------------------

OPERATIONS = {
    "constrain": lambda jax, x: jax.lax.with_sharding_constraint(x, x.sharding),
    "identity": lambda jax, x: jax.jit(itself)(x),
    "identity_out": lambda jax, x: jax.jit(itself, out_shardings=x.sharding)(x),
    "tuple": lambda jax, x: jax.jit(with_next)(x)[0],
    "array": lambda jax, x: jax.numpy.array(x),
    "copy": lambda jax, x: copy.copy(x),
    "put_copy": lambda jax, x: jax.device_put(x, x.sharding, may_alias=False),
    "add_zero": lambda jax, x: x + 0,
}
"""What gives another array of the same value."""

NO_OPERATIONS = {
    "reshape": lambda jax, x: x.reshape(8, 8),
    "astype": lambda jax, x: x.astype("float32"),
    "slice": lambda jax, x: x[:],
    "rows": lambda jax, x: x[0:8],
    "asarray": lambda jax, x: jax.numpy.asarray(x),
    "broadcast": lambda jax, x: jax.numpy.broadcast_to(x, (8, 8)),
    "concatenate": lambda jax, x: jax.numpy.concatenate([x]),
}
"""What may give the array itself."""


def tie(jax, see, way, ended, place):
    """Two arrays of which one came from the other: one is donated, then the other is looked at."""
    x = _array(jax, PLACES[place].make(jax))
    see.step("make")
    y = jax.block_until_ready({**OPERATIONS, **NO_OPERATIONS}[way](jax, x))
    if y is x:
        see(other="itself")
        return
    gone, other = (y, x) if ended == "output" else (x, y)
    see.step("donate")
    z = jax.block_until_ready(jax.jit(bump, donate_argnums=0)(gone))
    see(value=see.same(z, _value(1)))
    see(other=see.state(other, _value()))
    see.step("later")
    see(later="gone" if other.is_deleted() else see.same(jax.block_until_ready(jax.jit(like)(other)), _value() * 2))


def results(jax, see, ended, place):
    """Two results of one call that are the same value: one is donated, then the other is looked at."""
    x = _array(jax, PLACES[place].make(jax))
    see.step("call")
    pair = jax.block_until_ready(jax.jit(twins)(x))
    if pair[0] is pair[1]:
        see(other="itself")
        return
    gone, other = pair if ended == "first" else pair[::-1]
    see.step("donate")
    jax.block_until_ready(jax.jit(bump, donate_argnums=0)(gone))
    see(other=see.state(other, _value(1)))


def captured(jax, see, what, place):
    """A donating program captures an array: another one, one that is donated later, or its own argument."""
    where = PLACES[place].make(jax)
    x, c = _array(jax, where), _array(jax, where, WIDE)
    held = x if what == "itself" else c
    program = jax.jit(lambda a: a + held, donate_argnums=0)
    more = 0 if what == "itself" else WIDE
    see.step("call")
    told = "refused"
    try:
        told = see.same(jax.block_until_ready(program(x)), _value() + _value(more))
    except Exception as error:
        told = "refused" if see.named(error, ("donat", "deleted")) else type(error).__name__
    see(result=told)
    if what == "later":
        see.step("donate what it captured")
        jax.block_until_ready(jax.jit(bump, donate_argnums=0)(c))
        see.step("call again")
        try:
            told = see.same(jax.block_until_ready(program(_array(jax, where))), _value() + _value(WIDE))
        except Exception as error:
            told = "refused" if see.named(error, ("donat", "deleted")) else type(error).__name__
        see(again=told)
    see(captured=see.state(held, _value(more)))
    see.step("later")
    see(later=see.same(jax.block_until_ready(jax.jit(bump)(_array(jax, where))), _value(1)))


VIEWS = {
    "whole": lambda jax, x: np.asarray(x),
    "get": lambda jax, x: jax.device_get(x),
    "shard": lambda jax, x: np.asarray(x.addressable_shards[0].data),
    "last": lambda jax, x: np.asarray(x.addressable_shards[-1].data),
    "dlpack": lambda jax, x: np.from_dlpack(x),
}
"""Views of an array in the host's memory."""


def viewed(jax, see, view, place):
    """An array is donated while the host holds a view of it, and what comes of it is donated as well."""
    x = _array(jax, PLACES[place].make(jax))
    seen = VIEWS[view](jax, x)
    before = seen.tobytes()
    see.step("call")
    y = jax.block_until_ready(jax.jit(bump, donate_argnums=0)(x))
    see(value=see.same(y, _value(1)))
    see.step("call again")
    z = jax.block_until_ready(jax.jit(bump, donate_argnums=0)(_array(jax, y.sharding, 1)))
    see(view="same" if seen.tobytes() == before else "differs")
    see(after=see.same(z, _value(2)))
    see(input=see.state(x, _value()))


# --- calls that come to nothing ---------------------------------------------------------------------------------------


def _fails(x):
    raise LookupError("in the function")


REFUSALS = {
    "elsewhere": lambda jax, s, x: jax.jit(apart, donate_argnums=(0, 1))(x, _array(jax, jax.devices()[5])),
    "tracing": lambda jax, s, x: jax.jit(_fails, donate_argnums=0)(x),
    "result": lambda jax, s, x: jax.jit(lambda x: (x + 1, "text"), donate_argnums=0)(x),
    "shapes": lambda jax, s, x: jax.jit(add, donate_argnums=0)(x, np.zeros(3, "float32")),
    "missing": lambda jax, s, x: jax.jit(add, donate_argnums=0)(x),
    "no_array": lambda jax, s, x: jax.jit(add, donate_argnums=0)(x, "text"),
    "gone": lambda jax, s, x: jax.jit(apart, donate_argnums=0)(x, _gone(jax, s)),
    "unhashable": lambda jax, s, x: jax.jit(times, static_argnums=0, donate_argnums=1)([1], x),
    "compiled_shape": lambda jax, s, x: _ahead(jax, s)(x, np.zeros((8, 4), "float32")),
    "compiled_dtype": lambda jax, s, x: _ahead(jax, s)(x, np.zeros((8, 8), "int32")),
    "compiled_missing": lambda jax, s, x: _ahead(jax, s)(x),
    "compiled_elsewhere": lambda jax, s, x: _ahead(jax, s)(x, _array(jax, jax.devices()[5])),
    "compiled_gone": lambda jax, s, x: _ahead(jax, s)(x, _gone(jax, s)),
}
"""Calls that are to donate an array, and cannot be made."""


def _ahead(jax, s):
    x, y = _array(jax, s), _array(jax, s)
    return jax.jit(apart, donate_argnums=0).lower(x, y).compile()


def _gone(jax, s):
    gone = _array(jax, s)
    gone.delete()
    return gone


def refused(jax, see, refusal, place):
    """A donating call that is refused, or whose function fails, leaves what it was to be given."""
    where = PLACES[place].make(jax)
    x = _array(jax, where)
    before = (see.spans(x), see.sharding(x))
    see.step("call")
    try:
        jax.block_until_ready(REFUSALS[refusal](jax, where, x))
    except Exception as error:
        internal = see.named(error, ("INTERNAL:", "INVALID_ARGUMENT", "Check failed"))
        see(refused="internal" if internal else "yes")
    else:
        see(refused="no")
    state = see.state(x, _value())
    see(input=state, moved=state != "intact" or (see.spans(x), see.sharding(x)) != before)
    see.step("later")
    see(later="gone" if state != "intact" else see.same(jax.block_until_ready(jax.jit(bump)(x)), _value(1)))


MISUSES: dict[str, dict[str, int | float | str | tuple[str, ...]]] = {
    "out_of_range": {"donate_argnums": 1},
    "out_of_range_negative": {"donate_argnums": -2},
    "text": {"donate_argnums": "x"},
    "fraction": {"donate_argnums": 0.5},
    "texts": {"donate_argnums": ("x",)},
    "unknown": {"donate_argnames": "z"},
    "number": {"donate_argnames": 0},
    "static": {"static_argnums": 0, "donate_argnums": 0},
    "static_named": {"static_argnames": "x", "donate_argnames": "x"},
    "static_mixed": {"static_argnums": 0, "donate_argnames": "x"},
}
"""Options of a jit over a function of one array, x, that mean nothing."""


def misuse(jax, see, option):
    """A jit with options of donation that mean nothing, and a call of it."""
    x = _array(jax, jax.devices()[0])
    see.step("jit")
    try:
        jax.block_until_ready(jax.jit(lambda x: x + 1, **MISUSES[option])(x))
    except (TypeError, ValueError) as error:
        see(refused="yes", named=see.named(error, ("donate_arg", "donated")) != [])
    except Exception as error:
        see(refused=type(error).__name__, named=False)
    else:
        see(refused="no", named=False)
    see(input=see.state(x, _value()))


TRACED = {
    "eval_shape": lambda jax, f, x: jax.eval_shape(f, x),
    "lower": lambda jax, f, x: f.lower(x),
    "compile": lambda jax, f, x: f.lower(x).compile(),
    "jit": lambda jax, f, x: jax.jit(lambda x: f(x) + 0)(x),
    "jit_twice": lambda jax, f, x: jax.jit(lambda x: f(x) + f(x))(x),
    "scan": lambda jax, f, x: jax.lax.scan(lambda x, row: (f(x), row), x, x)[0],
    "cond": lambda jax, f, x: jax.lax.cond(True, f, itself, x),
    "grad": lambda jax, f, x: jax.grad(lambda x: f(x).sum())(x),
    "vjp": lambda jax, f, x: jax.vjp(f, x)[0],
    "vmap": lambda jax, f, x: jax.vmap(f)(x),
}
"""A donating jit within something else."""

COMES = {
    "jit_twice": lambda value: 2 * (value + 1),
    "scan": lambda value: value + 8,
    "grad": lambda value: value * 0 + 1,
}
"""What comes of it; elsewhere one more."""


def traced(jax, see, under, place):
    """A donating jit is traced, or runs within something else: what becomes of the caller's array."""
    x = _array(jax, PLACES[place].make(jax))
    see.step("call")
    y = TRACED[under](jax, jax.jit(bump, donate_argnums=0), x)
    if under not in ("eval_shape", "lower", "compile"):
        see(value=see.same(y, COMES.get(under, lambda value: value + 1)(_value())))
    see(input=see.state(x, _value()))


# --- helpers ----------------------------------------------------------------------------------------------------------


def _array(jax, where, more=0):
    """A fresh array that lies there, its transfer done."""
    return jax.block_until_ready(jax.device_put(_value(more), where))


def _turned(jax, place):
    """An array whose first dimension is innermost in memory."""
    there = PLACES[place].make(jax)
    return jax.block_until_ready(jax.device_put(_array(jax, there.sharding), there))


def _value(more=0):
    value = arrays.value("f32_8x8")
    value += more
    return value


def _states(see, xs, which, more=(0, WIDE)):
    """What became of those arrays that are meant: one word if of all the same; "none" if none is meant."""
    numbers = ["xy".index(it) if isinstance(it, str) else it for it in which]
    wanted = [more[number] if number < len(more) else 0 for number in numbers]
    states = {see.state(xs[number], _value(it)) for number, it in zip(numbers, wanted, strict=True)}
    return " ".join(sorted(states)) or "none"


def _told(caught):
    """How many of the warnings are of donations that were not usable."""
    return sum("donated buffers" in str(it.message) for it in caught)
