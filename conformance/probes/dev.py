"""DEV: which devices may meet in one call, and what is said where they may not."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

import numpy as np

from . import arrays
from .common import ARRAY, WHICH, all_are, array_at, class_of, constrain, left, mapped, remember
from .meshes import APART, CALLED, FITTING, SIDES, TOGETHER

# --- two sides that meet in one call ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Meeting:
    """What the two sides of a call are, and how its arguments are called: a name and a position each."""

    parts: tuple[str, str]
    names: tuple[tuple[str, int], ...] = (("first", 0), ("second", 1))
    donates: bool = False


MEETINGS = {
    "jit": Meeting(("argument", "argument")),
    "eager": Meeting(("argument", "argument"), (("x", 0), ("y", 1))),
    "keyword": Meeting(("argument", "argument")),
    "tree": Meeting(("argument", "argument"), (("tree['u']", 0), ("tree['v'][0]", 1))),
    "static": Meeting(("argument", "argument"), (("first", 1), ("second", 2))),
    "donated": Meeting(("argument", "argument"), donates=True),
    "unused": Meeting(("argument", "argument")),
    "kept": Meeting(("argument", "argument")),
    "lower": Meeting(("argument", "argument")),
    "struct": Meeting(("argument", "argument")),
    "three": Meeting(("argument", "argument"), (("first", 0), ("third", 2))),
    "concatenate": Meeting(("argument", "argument"), (("arrays", 0), ("arrays", 1))),
    "grad": Meeting(("argument", "argument")),
    "vmap": Meeting(("argument", "argument")),
    "in": Meeting(("argument", "in_shardings")),
    "in_donated": Meeting(("argument", "in_shardings"), donates=True),
    "in_lower": Meeting(("argument", "in_shardings")),
    "in_some": Meeting(("in_shardings", "argument")),
    "in_in": Meeting(("in_shardings", "in_shardings")),
    "in_out": Meeting(("in_shardings", "out_shardings")),
    "out": Meeting(("argument", "out_shardings")),
    "out_donated": Meeting(("argument", "out_shardings"), donates=True),
    "out_out": Meeting(("out_shardings", "out_shardings")),
    "constraint": Meeting(("argument", "constraint")),
    "constraint_eager": Meeting(("argument", "constraint"), (("x", 0),)),
    "constraints": Meeting(("constraint", "constraint")),
    "in_constraint": Meeting(("in_shardings", "constraint")),
    "constraint_out": Meeting(("constraint", "out_shardings")),
    "map": Meeting(("argument", "shard_map")),
    "map_eager": Meeting(("argument", "shard_map"), (("x", 0),)),
    "map_constraint": Meeting(("constraint", "shard_map")),
    "map_in": Meeting(("in_shardings", "shard_map")),
    "map_out": Meeting(("shard_map", "out_shardings")),
    "maps": Meeting(("shard_map", "shard_map")),
    "inner_in": Meeting(("argument", "jit")),
    "inner_out": Meeting(("argument", "jit")),
    "inner_constraint": Meeting(("argument", "constraint")),
    "scan_constraint": Meeting(("argument", "constraint")),
    "cond_constraint": Meeting(("argument", "constraint")),
    "while_constraint": Meeting(("argument", "constraint")),
}
"""The calls in which two sides meet. Where no side is an argument, the arguments are the host's."""


def _keyword(jax, one, other):
    program = jax.jit(lambda first, second: first + second)
    return lambda x, y: program(x, second=y)


def _tree(jax, one, other):
    program = jax.jit(lambda tree: tree["u"] + tree["v"][0])
    return lambda x, y: program({"u": x, "v": (y,)})


def _static(jax, one, other):
    program = jax.jit(lambda n, first, second: first * n + second, static_argnums=0)
    return lambda x, y: program(1, x, y)


def _three(jax, one, other):
    program = jax.jit(lambda first, second, third: first + second + third)
    return lambda x, y: program(x, x, y)


def _in_some(jax, one, other):
    program = jax.jit(lambda first, second: first + second, in_shardings=(one, None))
    return lambda y: program(arrays.value(ARRAY), y)


def _scan_constraint(jax, one, other):
    def step(carry, row):
        return constrain(jax, carry + row, other), row

    return jax.jit(lambda first: jax.lax.scan(step, first, first)[0])


def _cond_constraint(jax, one, other):
    def taken(x):
        return constrain(jax, x + 1, other)

    return jax.jit(lambda first: jax.lax.cond(first[0, 0] == 0, taken, lambda x: x + 1, first))


def _while_constraint(jax, one, other):
    def step(state):
        return state[0] + 1, constrain(jax, state[1] + 1, other)

    return jax.jit(lambda first: jax.lax.while_loop(lambda state: state[0] < 1, step, (0, first))[1])


def _struct(jax, one, other):
    program = jax.jit(lambda first, second: first + second)
    struct = jax.ShapeDtypeStruct
    return lambda x, y: program.lower(*(struct(it.shape, it.dtype, sharding=it.sharding) for it in (x, y)))


CALLS = {
    "jit": lambda jax, one, other: jax.jit(lambda first, second: first + second),
    "eager": lambda jax, one, other: lambda x, y: x + y,
    "keyword": _keyword,
    "tree": _tree,
    "static": _static,
    "donated": lambda jax, one, other: jax.jit(lambda first, second: first + second, donate_argnums=(0, 1)),
    "unused": lambda jax, one, other: jax.jit(lambda first, second: first + 1),
    "kept": lambda jax, one, other: jax.jit(lambda first, second: first + 1, keep_unused=True),
    "lower": lambda jax, one, other: jax.jit(lambda first, second: first + second).lower,
    "struct": _struct,
    "three": _three,
    "concatenate": lambda jax, one, other: lambda x, y: jax.numpy.concatenate([x, y]),
    "grad": lambda jax, one, other: jax.grad(lambda first, second: (first * second).sum()),
    "vmap": lambda jax, one, other: jax.vmap(lambda first, second: first + second),
    "in": lambda jax, one, other: jax.jit(lambda first: first + 1, in_shardings=other),
    "in_donated": lambda jax, one, other: jax.jit(lambda first: first + 1, in_shardings=other, donate_argnums=0),
    "in_lower": lambda jax, one, other: jax.jit(lambda first: first + 1, in_shardings=other).lower,
    "in_some": _in_some,
    "in_in": lambda jax, one, other: jax.jit(lambda first, second: first + second, in_shardings=(one, other)),
    "in_out": lambda jax, one, other: jax.jit(lambda first: first + 1, in_shardings=one, out_shardings=other),
    "out": lambda jax, one, other: jax.jit(lambda first: first + 1, out_shardings=other),
    "out_donated": lambda jax, one, other: jax.jit(lambda first: first + 1, out_shardings=other, donate_argnums=0),
    "out_out": lambda jax, one, other: jax.jit(lambda first: (first + 1, first + 2), out_shardings=(one, other)),
    "constraint": lambda jax, one, other: jax.jit(lambda first: constrain(jax, first + 1, other)),
    "constraint_eager": lambda jax, one, other: lambda x: constrain(jax, x, other) + 1,
    "constraints": lambda jax, one, other: jax.jit(lambda first: constrain(jax, constrain(jax, first, one) + 1, other)),
    "in_constraint": lambda jax, one, other: jax.jit(lambda first: constrain(jax, first + 1, other), in_shardings=one),
    "constraint_out": lambda jax, one, other: jax.jit(
        lambda first: constrain(jax, first, one) + 1, out_shardings=other
    ),
    "map": lambda jax, one, other: jax.jit(lambda first: mapped(jax, other)(first)),
    "map_eager": lambda jax, one, other: mapped(jax, other),
    "map_constraint": lambda jax, one, other: jax.jit(lambda first: mapped(jax, other)(constrain(jax, first, one))),
    "map_in": lambda jax, one, other: jax.jit(lambda first: mapped(jax, other)(first), in_shardings=one),
    "map_out": lambda jax, one, other: jax.jit(lambda first: mapped(jax, one)(first), out_shardings=other),
    "maps": lambda jax, one, other: jax.jit(lambda first: mapped(jax, other)(mapped(jax, one)(first)) - 1),
    "inner_in": lambda jax, one, other: jax.jit(lambda first: jax.jit(lambda x: x + 1, in_shardings=other)(first)),
    "inner_out": lambda jax, one, other: jax.jit(lambda first: jax.jit(lambda x: x + 1, out_shardings=other)(first)),
    "inner_constraint": lambda jax, one, other: jax.jit(
        lambda first: jax.jit(lambda x: constrain(jax, x + 1, other))(first)
    ),
    "scan_constraint": _scan_constraint,
    "cond_constraint": _cond_constraint,
    "while_constraint": _while_constraint,
}
"""How each is written: given the shardings of both sides, what takes the arguments."""

ADD = ("jit", "keyword", "tree", "static", "donated", "eager", "lower", "struct", "in_in")
"""Those that add their two arguments; the others add one to the first."""


def meet(jax, see, meeting, sides):
    """Two sides that lie apart meet in one call: what the refusal says, and what the call did on its way there."""
    one, other = SIDES[APART[sides][0]], SIDES[APART[sides][1]]
    parts = MEETINGS[meeting].parts
    called = [name for part, name in zip(parts, MEETINGS[meeting].names, strict=False) if part == "argument"]
    inputs = _inputs(jax, parts, (one, other))
    lying = inputs if "argument" in parts else []
    call = CALLS[meeting](jax, one.make(jax), other.make(jax))
    before = remember(see, lying)
    compiled = see.compiled()
    see.step("call")
    try:
        jax.block_until_ready(call(*inputs))
    except Exception as error:
        see(accepted=False, refused=class_of(see, error))
        see(devices=WHICH[see.names_devices(error, one.devices), see.names_devices(error, other.devices)])
        see(parts=WHICH[see.names_part(error, parts[0]), see.names_part(error, parts[1])])
        see(named=all(see.names_argument(error, *name) for name in called))
    else:
        see(accepted=True, refused="no", devices="neither", parts="neither", named=False)
    see(compiled=see.compiled() - compiled)
    see(inputs=left(see, lying, before))


def again(jax, see, meeting, sides):
    """One program, called where all agrees, then where sides lie apart, twice, then where all agrees again."""
    one, other = SIDES[APART[sides][0]], SIDES[APART[sides][1]]
    parts = MEETINGS[meeting].parts
    agreed = (one, one) if parts[1] == "argument" else (other, other)
    call = CALLS[meeting](jax, one.make(jax), other.make(jax))
    wanted = _result(meeting in ADD)
    see.step("agreed")
    seen = [see.same(call(*_inputs(jax, parts, agreed)), wanted) for _ in range(2)]
    see(before=all_are(seen))
    see.step("apart")
    told = _refusal(jax, see, meeting, sides, call, _inputs(jax, parts, (one, other)))
    see(refused=told["refused"])
    inputs = _inputs(jax, parts, (one, other))
    before = remember(see, inputs)
    compiled = see.compiled()
    see.step("apart again")
    told_again = _refusal(jax, see, meeting, sides, call, inputs)
    see(again=told_again["refused"], compiled=see.compiled() - compiled)
    see(says=_compared(told, told_again))
    see(inputs=left(see, inputs, before))
    see.step("agreed")
    see(after=see.same(call(*_inputs(jax, parts, agreed)), wanted))


def capture(jax, see, sides):
    """A program whose function captures an array is called with an argument that lies apart from it."""
    one, other = SIDES[APART[sides][0]], SIDES[APART[sides][1]]
    x, captured = array_at(jax, one), array_at(jax, other)
    before = remember(see, [captured])
    see.step("call")
    try:
        y = jax.block_until_ready(jax.jit(lambda first: first + captured)(x))
    except Exception as error:
        see(refused=class_of(see, error))
    else:
        see(refused="no", value=see.same(y, _result(True)), devices=see.sharding(y)["devices"])
    see(captured=left(see, [captured], before))


def lay(jax, see, sides):
    """An argument meets in_shardings that lie on the same devices in the same order and cut it otherwise."""
    one, other = SIDES[TOGETHER[sides][0]], SIDES[TOGETHER[sides][1]]
    x = array_at(jax, one)
    before = remember(see, [x])
    see.step("call")
    try:
        y = jax.jit(lambda first: first + 1, in_shardings=other.make(jax))(x)
    except Exception as error:
        see(refused=class_of(see, error))
    else:
        see(refused="no", value=see.same(y, _result(False)), devices=see.sharding(y)["devices"])
    see(inputs=left(see, [x], before))


def agree(jax, see, meeting, sides):
    """Two sides on the same devices in the same order meet in one call."""
    one, other = SIDES[TOGETHER[sides][0]], SIDES[TOGETHER[sides][1]]
    parts = MEETINGS[meeting].parts
    inputs = _inputs(jax, parts, (one, other))
    call = CALLS[meeting](jax, one.make(jax), other.make(jax))
    before = remember(see, inputs)
    see.step("call")
    y = call(*inputs)
    see(value=see.same(y, _result(meeting in ADD)))
    see(devices=see.sharding(y)["devices"])
    see(inputs=left(see, inputs, before))


# --- what is committed nowhere ----------------------------------------------------------------------------------------


def _free_on(jax, device):
    """An uncommitted array that lies on another device than the default one."""
    with jax.default_device(jax.devices()[device]):
        return jax.block_until_ready(jax.device_put(arrays.value(ARRAY)))


LOOSE = {
    "free": lambda jax: jax.device_put(arrays.value(ARRAY)),
    "free_1": lambda jax: _free_on(jax, 1),
    "free_0d": lambda jax: jax.device_put(np.float32(3)),
    "numpy": lambda jax: arrays.value(ARRAY),
    "np_scalar": lambda jax: np.float32(3),
    "python": lambda jax: 3.0,
}
"""Arguments that are committed to no device; those called free are arrays, which lie on one all the same."""

FORMS = {
    "jit": lambda jax: jax.jit(lambda first, second: first + second),
    "tree": lambda jax: _tree(jax, None, None),
    "eager": lambda jax: lambda x, y: x + y,
}
"""How two are added."""


def follow(jax, see, place, loose, form, turn):
    """An array at a place and an argument that is committed nowhere are added, in either turn, and added again."""
    x, y = array_at(jax, SIDES[place]), jax.block_until_ready(LOOSE[loose](jax))
    lying = [y] if loose.startswith("free") else []
    before = remember(see, lying)
    call = FORMS[form](jax)
    see.step("call")
    results = [call(*((x, y) if turn == "last" else (y, x))) for _ in range(2)]
    see(value=all_are([see.same(z, arrays.value(ARRAY) + _holds(loose)) for z in results]))
    see(devices=all_are([see.sharding(z)["devices"] for z in results]))
    see(committed=all_are([see.committed(z) for z in results]))
    see(loose=left(see, lying, before, _holds(loose)))


def take(jax, see, meeting, place, loose):
    """A call whose other side lies at a place is given an argument that is committed nowhere, and given it again."""
    y = jax.block_until_ready(LOOSE[loose](jax))
    lying = [y] if loose.startswith("free") else []
    before = remember(see, lying)
    call = CALLS[meeting](jax, SIDES[place].make(jax), SIDES[place].make(jax))
    see.step("call")
    results = [call(y) for _ in range(2)]
    see(value=all_are([see.same(z, _result(False)) for z in results]))
    see(devices=all_are([see.sharding(z)["devices"] for z in results]))
    see(committed=all_are([see.committed(z) for z in results]))
    see(loose=left(see, lying, before, _holds(loose)))


# --- a mesh context ---------------------------------------------------------------------------------------------------

CONTEXTS = {
    "set_mesh": lambda jax, mesh: jax.set_mesh(mesh),
    "with": lambda jax, mesh: mesh,
}
ACTS = {
    "jit": lambda jax: jax.jit(lambda first: first + 1),
    "eager": lambda jax: lambda x: x + 1,
    "constraint": lambda jax: jax.jit(lambda first: constrain(jax, first + 1, jax.sharding.PartitionSpec("x"))),
}
"""What is done under a mesh context; the last names an axis of its mesh."""


def under(jax, see, how, meshes, array, act):
    """An array is used under the last of the mesh contexts that are entered, one in the other."""
    x = LOOSE[array](jax) if array in LOOSE else array_at(jax, SIDES[array])
    made = [SIDES[mesh].make(jax).mesh for mesh in meshes.split("_")]
    inputs = [] if array == "numpy" else [jax.block_until_ready(x)]
    before = remember(see, inputs)
    call = ACTS[act](jax)
    compiled = see.compiled()
    see.step("call")
    try:
        with contextlib.ExitStack() as stack:
            for mesh in made:
                stack.enter_context(CONTEXTS[how](jax, mesh))
            y = jax.block_until_ready(call(x))
    except Exception as error:
        see(accepted=False, refused=class_of(see, error), value="none", compiled=see.compiled() - compiled)
        mesh, devices = SIDES[meshes.split("_")[-1]].devices, SIDES[array].devices if array in SIDES else ()
        see(named=WHICH[see.names_devices(error, devices), see.names_devices(error, mesh)])
        see(argument=see.names_argument(error, "x" if act == "eager" else "first", 0))
    else:
        see(accepted=True, refused="no", named="neither", argument=False, compiled=see.compiled() - compiled)
        see(value=see.same(y, arrays.value(ARRAY) + 1), devices=see.sharding(y)["devices"])
    see(inputs=left(see, inputs, before))


# --- a compiled object ------------------------------------------------------------------------------------------------


def add_one(first):
    return first + 1


def add(first, second):
    return first + second


def add_leaves(tree):
    return tree["u"] + tree["v"][0]


def add_to_first(first, second):
    return first + 1


PROGRAMS = {
    "plain": lambda jax, built, x: jax.jit(add_one).lower(x).compile(),
    "named": lambda jax, built, x: jax.jit(add_one, in_shardings=built).lower(arrays.value(ARRAY)).compile(),
    "hot": lambda jax, built, x: jax.jit(add_one).lower(x).compile(),
    "donated": lambda jax, built, x: jax.jit(add_one, donate_argnums=0).lower(x).compile(),
    "second": lambda jax, built, x: jax.jit(add).lower(x, x).compile(),
    "tree": lambda jax, built, x: jax.jit(add_leaves).lower({"u": x, "v": (x,)}).compile(),
    "unused": lambda jax, built, x: jax.jit(add_to_first).lower(x, x).compile(),
    "kept": lambda jax, built, x: jax.jit(add_to_first, keep_unused=True).lower(x, x).compile(),
}
"""A program, compiled for arguments that lie where it is built for."""

GIVES = {
    "plain": lambda x, y: (y,),
    "named": lambda x, y: (y,),
    "hot": lambda x, y: (y,),
    "donated": lambda x, y: (y,),
    "second": lambda x, y: (x, y),
    "tree": lambda x, y: ({"u": x, "v": (y,)},),
    "unused": lambda x, y: (x, y),
    "kept": lambda x, y: (x, y),
}
"""What it is given: an argument that lies right, where it takes two, and the one in question."""

IN_QUESTION = {"second": ("second", 1), "tree": ("tree['v'][0]", 1), "unused": ("second", 1), "kept": ("second", 1)}
"""What the argument in question is called; elsewhere it is the first."""

SHOWN = {
    "devices": lambda see, error, place: see.names_devices(error, place.devices),
    "order": lambda see, error, place: see.names_devices(error, place.devices),
    "size": lambda see, error, place: see.names_devices(error, place.devices) or see.names_axes(error, place.axes),
    "shape": lambda see, error, place: see.names_axes(error, place.axes),
    "spec": lambda see, error, place: see.names_spec(error, place.spec),
    "kind": lambda see, error, place: see.named(error, [f"kind={place.kind or 'device'}"]) != [],
}
"""How a message shows a sharding, as far as two of them differ."""


def called(jax, see, differs, fault, form):
    """A compiled object is called with an argument that lies elsewhere than it was built for; then with a right one."""
    built, given = SIDES[CALLED[differs][fault][0]], SIDES[CALLED[differs][fault][1]]
    x, y = array_at(jax, built), array_at(jax, given)
    program = PROGRAMS[form](jax, built.make(jax), x)
    inputs = GIVES[form](x, y)
    before = remember(see, [x, y])
    compiled = see.compiled()
    if form == "hot":
        jax.block_until_ready([program(array_at(jax, built)) for _ in range(2)])
    see.step("call")
    try:
        jax.block_until_ready(program(*inputs))
    except Exception as error:
        see(accepted=False, refused=class_of(see, error))
        see(named=see.names_argument(error, *IN_QUESTION.get(form, ("first", 0))))
        see(shown=WHICH[SHOWN[differs](see, error, given), SHOWN[differs](see, error, built)])
    else:
        see(accepted=True, refused="no", named=False, shown="neither")
    see(compiled=see.compiled() - compiled)
    see(inputs=left(see, [x, y], before))
    see.step("again")
    z = program(*GIVES[form](array_at(jax, built), array_at(jax, built)))
    see(after=see.same(z, _result(form in ("second", "tree"))))


def fits(jax, see, fit, form):
    """A compiled object is called with an argument that lies where it was compiled for, or nowhere yet."""
    built, given = SIDES[FITTING[fit][0]], FITTING[fit][1]
    x = array_at(jax, built)
    y = jax.block_until_ready(LOOSE[given](jax) if given in LOOSE else array_at(jax, SIDES[given]))
    program = PROGRAMS[form](jax, built.make(jax), x)
    lying = [x] if given == "numpy" else [x, y]
    before = remember(see, lying)
    see.step("call")
    z = program(*GIVES[form](x, y))
    see(value=see.same(z, _result(form in ("second", "tree"))))
    see(devices=see.sharding(z)["devices"])
    see(inputs=left(see, lying, before))


# --- another platform -------------------------------------------------------------------------------------------------


def platforms(jax, see, form):
    """An array committed to another platform's device meets one, or a program compiled for one, on the default."""
    here = jax.devices()[0]
    there = next(it for it in jax.devices("cpu") if it.client is not here.client)
    x, y = (jax.block_until_ready(jax.device_put(arrays.value(ARRAY), device)) for device in (here, there))
    compiled_for, given = (y, x) if form.endswith("_turned") else (x, y)
    call = PLATFORMS[form.removesuffix("_turned")](jax, compiled_for)
    before = remember(see, [x, y])
    compiled = see.compiled()
    see.step("call")
    try:
        jax.block_until_ready(call(given))
    except Exception as error:
        see(refused=class_of(see, error))
        see(named=see.names_argument(error, "first", 0))
        see(shown=WHICH[_says(see, error, here, there), _says(see, error, there, here)])
    else:
        see(refused="no", named=False, shown="neither")
    see(compiled=see.compiled() - compiled)
    see(inputs=left(see, [x, y], before))


def _meet_there(jax, x):
    program = jax.jit(lambda first, second: first + second)
    return lambda given: program(given, x)


PLATFORMS = {
    "called": lambda jax, x: jax.jit(lambda first: first + 1).lower(x).compile(),
    "jit": _meet_there,
}
"""How an argument meets the platform of another."""


# --- helpers ----------------------------------------------------------------------------------------------------------


def _inputs(jax, parts, places):
    """An array for each side that is an argument; where none is, the host's for each that takes one."""
    if "argument" in parts:
        return [array_at(jax, place) for part, place in zip(parts, places, strict=True) if part == "argument"]
    return [arrays.value(ARRAY)] * (2 if parts == ("in_shardings", "in_shardings") else 1)


def _result(adds):
    """The value of a call that adds its two arguments, or one to the first."""
    value = arrays.value(ARRAY)
    return value + value if adds else value + 1


def _holds(loose):
    """The value of an argument that is committed nowhere."""
    return arrays.value(ARRAY) if loose in ("free", "free_1", "numpy") else np.float32(3)


def _refusal(jax, see, meeting, sides, call, inputs):
    """What a call is refused with: the class of the error, and what its message names; "no" where it is not."""
    one, other = SIDES[APART[sides][0]], SIDES[APART[sides][1]]
    parts = MEETINGS[meeting].parts
    called = [name for part, name in zip(parts, MEETINGS[meeting].names, strict=False) if part == "argument"]
    try:
        jax.block_until_ready(call(*inputs))
    except Exception as error:
        return {
            "refused": class_of(see, error),
            "devices": WHICH[see.names_devices(error, one.devices), see.names_devices(error, other.devices)],
            "parts": WHICH[see.names_part(error, parts[0]), see.names_part(error, parts[1])],
            "named": all(see.names_argument(error, *name) for name in called),
        }
    return {"refused": "no"}


def _compared(told, told_again):
    """How a second refusal compares with the first one: "same", "otherwise", or "nothing" where there is none."""
    if told_again["refused"] == "no":
        return "nothing"
    return "same" if told_again == told else "otherwise"


def _says(see, error, device, other):
    """Whether the message says which platform a device is of, in words that do not fit the other one as well."""
    words, others = ([repr(it), f"platform {it.platform.upper()}"] for it in (device, other))
    return see.named(error, [word for word in words if word not in others]) != []
