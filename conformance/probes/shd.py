"""What SHD asks of a subject: shardings as values, and as the text of a program."""

from __future__ import annotations

import copy
import pickle

import numpy as np

from . import arrays
from .common import constrain
from .places import FOUR, SQUARE
from .shardings import ALL, MESHES, SHAPES, TEXTS, gathered, make, partners

# --- compared with each other -----------------------------------------------------------------------------------------


def compare(jax, see, rank, sharding, against):
    """A sharding beside each of a group: which are called equivalent, and equal, without being alike."""
    mine = make(jax, *ALL[rank][sharding].parts)
    twin = make(jax, *ALL[rank][sharding].parts)
    see(twin=[mine == twin, mine != twin], twin_hash=hash(mine) == hash(twin))
    see(reflexive=_answer(mine, mine, rank) is True and _answer(mine, twin, rank) is True)
    apart, taken, refused, onesided = [], [], [], []
    equal, hashed, contrary = [], [], []
    for name, relation, form, devices, axes, spec, kind in partners(rank, sharding, against):
        other = make(jax, form, devices, axes, spec, kind)
        if mine == other and relation != "alike":
            equal.append(name)
        if mine == other and hash(mine) != hash(other):
            hashed.append(name)
        if (mine == other) == (mine != other) or (mine == other) != (other == mine):
            contrary.append(name)
        forth, back = _answer(mine, other, rank), _answer(other, mine, rank)
        if "raised" in (forth, back):
            refused.append(form)
        else:
            if forth != back:
                onesided.append(name)
            if relation == "alike" and not forth:
                apart.append(name)
            if relation != "alike" and forth:
                taken.append([relation, name])
    see(apart=apart, refused=sorted(set(refused)), onesided=onesided, equal=equal, hashed=hashed, contrary=contrary)
    see(cut=[name for relation, name in taken if relation == "cut"])
    see(order=[name for relation, name in taken if relation == "order"])
    see(devices=[name for relation, name in taken if relation == "devices"])
    see(kind=[name for relation, name in taken if relation == "kind"])
    see(abstract=[name for relation, name in taken if relation == "abstract"])


def relate(jax, see, rank, group):
    """Every two of a group and of those that all JAX have: what is equivalent to one of two is so to the other."""
    named = gathered(rank, group)
    made = [make(jax, form, devices, axes, spec, kind) for _, form, devices, axes, spec, kind in named]
    same = np.array([[_answer(one, other, rank) is True for other in made] for one in made])
    equal = np.array([[one == other for other in made] for one in made])
    see(intransitive=_broken(same, [it[0] for it in named]), unequal=_broken(equal, [it[0] for it in named]))


def _broken(holds, names):
    """The first pairs for which something holds whose rows are not the same."""
    pairs = [(int(i), int(j)) for i, j in np.argwhere(holds)]
    return [[names[i], names[j]] for i, j in pairs if (holds[i] != holds[j]).any()][:3]


def _answer(one, other, rank):
    """Whether two are called equivalent: true, false or "raised"."""
    try:
        return bool(one.is_equivalent_to(other, rank))
    except Exception:
        return "raised"


# --- asked what they are ----------------------------------------------------------------------------------------------


def tell(jax, see, rank, sharding):
    """What a sharding says of itself and of how it cuts an array."""
    shape = SHAPES[rank]
    asked = make(jax, *ALL[rank][sharding].parts)
    see(shard=list(asked.shard_shape(shape)))
    see(parts=_parts(asked.devices_indices_map(shape), shape))
    see(parts_here=_parts(asked.addressable_devices_indices_map(shape), shape))
    see(count=asked.num_devices, set=sorted(it.id for it in asked.device_set))
    see(set_here=sorted(it.id for it in asked.addressable_devices), all_here=asked.is_fully_addressable)
    see(replicated=asked.is_fully_replicated)
    default = jax.devices()[0].default_memory().kind
    see(memory="default" if asked.memory_kind == default else asked.memory_kind)


def _parts(indices, shape):
    """What each device holds, by the number of the device: first and last of each dimension."""
    held = {
        device.id: [list(at.indices(size)[:2]) for at, size in zip(index, shape, strict=True)]
        for device, index in indices.items()
    }
    return [[id, held[id]] for id in sorted(held)]


def move(jax, see, rank, sharding, into):
    """The same sharding in another kind of memory; the first stays as it was."""
    shape = SHAPES[rank]
    first = make(jax, *ALL[rank][sharding].parts)
    moved = first.with_memory_kind(into)
    see(kind=moved.memory_kind, type=type(moved) is type(first))
    try:
        indices = moved.devices_indices_map(shape)
    except Exception as error:
        see(parts=_class(error), devices=[])
    else:
        see(parts=_parts(indices, shape), devices=[device.id for device in indices])
    see(left=first == make(jax, *ALL[rank][sharding].parts), back=moved.with_memory_kind(first.memory_kind) == first)


# --- what cannot be ---------------------------------------------------------------------------------------------------

UNEVEN = {
    "second": (("x", "y"), (8, 3)),
    "first": (("x", "y"), (7, 8)),
    "both": (("x", "y"), (7, 3)),
    "group": ((("x", "y"), None), (6, 8)),
    "last": ((None, None, "x"), (2, 2, 5)),
    "one": (("x",), (1,)),
}
"""Specs over a mesh of 2 by 2, and shapes that they do not divide."""

ASKED = {
    "shard_shape": lambda jax, asked, shape: asked.shard_shape(shape),
    "map": lambda jax, asked, shape: asked.devices_indices_map(shape),
    "put": lambda jax, asked, shape: jax.device_put(np.zeros(shape, np.float32), asked),
    "in": lambda jax, asked, shape: jax.jit(lambda x: x, in_shardings=asked).lower(np.zeros(shape, np.float32)),
    "out": lambda jax, asked, shape: jax.jit(lambda x: x, out_shardings=asked).lower(np.zeros(shape, np.float32)),
    "equivalent": lambda jax, asked, shape: asked.is_equivalent_to(
        make(jax, "named", FOUR, SQUARE, (), ""), len(shape)
    ),
}
"""How a sharding is asked to cut a shape."""


def divide(jax, see, uneven, asked):
    """A shape that cannot be cut evenly."""
    spec, shape = UNEVEN[uneven]
    sharding = make(jax, "named", FOUR, SQUARE, spec, "")
    see.step("ask")
    try:
        ASKED[asked](jax, sharding, shape)
    except Exception as error:
        see(refused=_class(error), shape=str(tuple(shape)) in str(error))
        wrong = [dimension for dimension in range(len(shape)) if shape[dimension] % _count(spec, dimension)]
        see(dimension=any(f"{word} {wrong[0]}" in str(error) for word in ("axis", "dimension")))
    else:
        see(refused="no", shape=False, dimension=False)


def _count(spec, dimension):
    """Into how many tiles a spec over a mesh of 2 by 2 cuts a dimension."""
    part = spec[dimension] if dimension < len(spec) else None
    return 1 if part is None else 4 if isinstance(part, tuple) else 2


LONGER = {
    "two_one": (("x", "y"), (8,)),
    "second_one": ((None, "x"), (8,)),
    "one_none": (("x",), ()),
    "three_two": ((None, None, "x"), (8, 8)),
    "group_one": ((None, ("x", "y")), (8,)),
}
"""Specs over a mesh of 2 by 2 that cut a dimension which an array of the shape has not."""


def outreach(jax, see, longer, asked):
    """A spec is for arrays of more dimensions than the one that it is asked to cut."""
    spec, shape = LONGER[longer]
    sharding = make(jax, "named", FOUR, SQUARE, spec, "")
    see.step("ask")
    try:
        ASKED[asked](jax, sharding, shape)
    except Exception as error:
        see(refused=_class(error))
        see(spec=see.names_spec(error, spec), rank=see.named(error, RANKED[len(shape)]) != [])
    else:
        see(refused="no", spec=False, rank=False)


RANKED = {
    rank: [
        f"rank {rank}",
        f"rank is {rank}",
        f"ndim {rank}",
        f"ndim={rank}",
        f"of {rank} dim",
        f"one of {rank}",
        str(shape),
    ]
    for rank, shape in ((0, ()), (1, (8,)), (2, (8, 8)))
}
"""Words for how many dimensions an array has: the number, or its shape."""


def _wrong(jax, spec, **more):
    """A sharding of a spec over a mesh of 2 by 2."""
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:4]).reshape(2, 2), ("x", "y"))
    return jax.sharding.NamedSharding(mesh, spec, **more)


MISTAKES = {
    "unknown": (lambda jax: _wrong(jax, jax.sharding.PartitionSpec("z")), ("z",)),
    "unknown_second": (lambda jax: _wrong(jax, jax.sharding.PartitionSpec("x", "z")), ("z",)),
    "unknown_group": (lambda jax: _wrong(jax, jax.sharding.PartitionSpec(("x", "z"))), ("z",)),
    "unknown_number": (lambda jax: _wrong(jax, jax.sharding.PartitionSpec(7)), ("7",)),
    "repeated": (lambda jax: _wrong(jax, jax.sharding.PartitionSpec("x", "x")), ("x",)),
    "repeated_group": (lambda jax: _wrong(jax, jax.sharding.PartitionSpec(("y", "y"))), ("y",)),
    "repeated_apart": (lambda jax: _wrong(jax, jax.sharding.PartitionSpec("x", None, ("y", "x"))), ("x",)),
    "mesh_device": (lambda jax: jax.sharding.NamedSharding(jax.devices()[0], jax.sharding.PartitionSpec("x")), ()),
    "mesh_none": (lambda jax: jax.sharding.NamedSharding(None, jax.sharding.PartitionSpec("x")), ()),
    "spec_string": (lambda jax: _wrong(jax, "x"), ()),
    "spec_tuple": (lambda jax: _wrong(jax, ("x",)), ()),
    "memory": (lambda jax: _wrong(jax, jax.sharding.PartitionSpec("x"), memory_kind="shelf"), ("shelf",)),
    "memory_single": (lambda jax: jax.sharding.SingleDeviceSharding(jax.devices()[0], memory_kind="shelf"), ("shelf",)),
    "memory_move": (lambda jax: _wrong(jax, jax.sharding.PartitionSpec("x")).with_memory_kind("shelf"), ("shelf",)),
}
"""Shardings that cannot be, and what their refusal has to name: the axis that is unknown or repeated, the memory."""


def mistake(jax, see, mistake):
    """A sharding that cannot be is made."""
    attempt, names = MISTAKES[mistake]
    see.step("make")
    try:
        attempt(jax)
    except Exception as error:
        see(refused=_class(error), named=all(_says(error, name) for name in names))
        see(there=all(_says(error, name) for name in ("x", "y")))
        kinds = [it.kind for it in jax.devices()[0].addressable_memories()]
        see(kinds=see.named(error, kinds) == kinds)
    else:
        see(refused="no", named=False, there=False, kinds=False)


def _says(error, name):
    """Whether a message has a name as a word of its own."""
    return name in str(error).replace("'", " ").replace("`", " ").replace(",", " ").replace(":", " ").split() or (
        f"'{name}'" in str(error)
    )


def _class(error):
    """The class of an error that users know it by."""
    for kind in (ValueError, TypeError):
        if isinstance(error, kind):
            return kind.__name__
    return type(error).__name__


# --- written, copied, shown -------------------------------------------------------------------------------------------

SPELLED = {
    "group": (("x",), (("x",),)),
    "group_second": ((None, "x"), (None, ("x",))),
    "group_both": (("x", "y"), (("x",), ("y",))),
    "nothing": ((None, "x"), ((), "x")),
    "longer": (("x",), ("x", None)),
    "longer_whole": ((), (None,)),
    "longest": ((None, "y"), (None, "y", None, None)),
}
"""Two ways to write a spec: an axis alone and as a group, None and as an empty group, and with Nones after it."""


def spell(jax, see, spelled):
    """A spec written in two ways."""
    one, other = SPELLED[spelled]
    specs = [jax.sharding.PartitionSpec(*spec) for spec in (one, other)]
    see(spec=_equal(specs[0], specs[1]))
    see(sharding=_equal(make(jax, "named", FOUR, SQUARE, one, ""), make(jax, "named", FOUR, SQUARE, other, "")))


def _equal(one, other):
    """Whether two are equal, both ways round, and then have one hash."""
    if (one == other) != (other == one):
        return "one way"
    if one != other:
        return "no"
    return "yes" if hash(one) == hash(other) else "with other hashes"


COPIES = {
    "copy": lambda it: copy.copy(it),
    "deep": lambda it: copy.deepcopy(it),
    "pickle": lambda it: pickle.loads(pickle.dumps(it)),
}
"""How a value is made from another."""


def duplicate(jax, see, rank, sharding, how):
    """A sharding is copied or pickled."""
    first = make(jax, *ALL[rank][sharding].parts)
    try:
        second = COPIES[how](first)
    except Exception as error:
        see(copy=_class(error))
    else:
        see(copy=_equal(first, second) if type(first) is type(second) else type(second).__name__)


SPECS = {
    "none": (),
    "axes": ("x", None, ("y", "z")),
    "open": ("?", "x"),
    "numbers": (1, "x"),
}
"""Specs to be copied; "?" is a dimension that is left to the partitioner."""


def duplicate_spec(jax, see, spec, how):
    """A spec is copied or pickled, a dimension that is left to the partitioner with it."""
    free = jax.sharding.PartitionSpec.UNCONSTRAINED
    first = jax.sharding.PartitionSpec(*[free if part == "?" else part for part in SPECS[spec]])
    second = COPIES[how](first)
    see(copy=_equal(first, second), open=[part is free for part in second])


def show(jax, see, rank, sharding):
    """A sharding as it is printed."""
    lay = ALL[rank][sharding]
    text = repr(make(jax, *lay.parts))
    spec = [part[0] if isinstance(part, tuple) and len(part) == 1 else part for part in lay.spec]
    see(spec=see.names_spec(text, spec), axes=see.names_axes(text, lay.axes))
    see(device=f"id={lay.devices[0]})" in text or f":{lay.devices[0]}" in text, kind="pinned_host" in text)


# --- as programs write them -------------------------------------------------------------------------------------------


def write(jax, see, rank, sharding):
    """The text of a program with an argument, a result and a constraint of one sharding; open ones are constraints."""
    lay = TEXTS[rank][sharding]
    asked = make(jax, *lay.parts)
    x = jax.ShapeDtypeStruct(SHAPES[rank], np.float32)
    see.step("lower")
    if "?" in lay.spec:
        text = see.lowered(jax.jit(lambda x: constrain(jax, x + 1, asked)), x)
    else:
        program = jax.jit(
            lambda x: (constrain(jax, x + 1, asked), x * 2), in_shardings=asked, out_shardings=(None, asked)
        )
        text = see.lowered(program, x)
        see(argument=_told(see, text, "arguments", 0, "tiles"), result=_told(see, text, "results", 1, "tiles"))
        see(ends=[_told(see, text, "arguments", 0, "open"), _told(see, text, "results", 1, "open")])
    see(constraint=_told(see, text, "constraints", 0, "tiles"), open=_told(see, text, "constraints", 0, "open"))
    see(axes=_told(see, text, "constraints", 0, "axes"))


def _told(see, text, of, number, what):
    """What a text says of an argument, a result or a constraint; "nothing" where it does not."""
    found = see.written(text)[of]
    return found[number][what] if number < len(found) and found[number] else "nothing"


PLACES = {
    "in": lambda jax, asked: jax.jit(lambda x: x, in_shardings=asked),
    "out": lambda jax, asked: jax.jit(lambda x: x, out_shardings=asked),
    "constraint": lambda jax, asked: jax.jit(lambda x: constrain(jax, x, asked)),
}
"""Where a program is told how an array is cut."""

KEYED = {
    "x.y": ("x", "y"),
    "x": ("x",),
    "-.y": (None, "y"),
    "xy": (("x", "y"),),
    "whole": (),
}
"""Specs over a mesh of 2 by 2 for an array of PRNG keys of rank 2."""


def write_keys(jax, see, spec, place):
    """The text of a program that is told how an array of keys is cut, which is one of numbers of a higher rank."""
    asked = make(jax, "named", FOUR, SQUARE, KEYED[spec], "")
    keys = jax.random.wrap_key_data(arrays.value("key_8x8"))
    see.step("lower")
    try:
        text = see.lowered(PLACES[place](jax, asked), keys)
    except Exception as error:
        see(tiles=_class(error), open=[])
    else:
        said = see.written(text)[{"in": "arguments", "out": "results", "constraint": "constraints"}[place]]
        told = [it for it in said if it and it["open"] != [0, 1]]  # JAX adds some that leave open all but the numbers
        see(tiles=told[0]["tiles"] if told else "nothing", open=told[0]["open"] if told else [])


def run_keys(jax, see, spec, place):
    """A program that is told how an array of keys is cut is run."""
    asked = make(jax, "named", FOUR, SQUARE, KEYED[spec], "")
    keys = jax.random.wrap_key_data(arrays.value("key_8x8"))
    see.step("call")
    try:
        y = jax.block_until_ready(PLACES[place](jax, asked)(keys))
    except Exception as error:
        see(value=_class(error), lies=[], shard=[])
    else:
        see(lies=_cut(see, y), shard=list(y.addressable_shards[0].data.shape))
        see(value=see.same(jax.random.key_data(y), arrays.value("key_8x8")))


def _cut(see, y):
    """The spec of an array, without what is left away at its end."""
    data = see.sharding(y)
    spec = [part[0] if isinstance(part, list) and len(part) == 1 else part for part in data.get("spec", ["no spec"])]
    return spec[: max([place + 1 for place, part in enumerate(spec) if part is not None], default=0)]


# --- edges ------------------------------------------------------------------------------------------------------------

EMPTY = {
    "one_first": ("flat", ("x",), (0, 8)),
    "one_second": ("flat", (None, "x"), (8, 0)),
    "one_group": ("one5", (("x", "y"),), (0, 8)),
    "more_first": ("square", ("x",), (0, 8)),
    "more_second": ("square", ("x", "y"), (8, 0)),
    "more_group": ("square", (("x", "y"),), (0,)),
}
"""A mesh, a spec and a shape with a dimension of size 0, which an axis of one device cuts, or one of more."""


def empty(jax, see, empty, place):
    """A program is told how an array is cut that has nothing in it."""
    mesh, spec, shape = EMPTY[empty]
    asked = make(jax, "named", *MESHES[mesh], spec, "")
    see.step("call")
    try:
        y = jax.block_until_ready(PLACES[place](jax, asked)(np.zeros(shape, np.float32)))
    except Exception as error:
        see(refused=_class(error), value="none")
    else:
        see(refused="no", value=see.same(y, np.zeros(shape, np.float32)), lies=_cut(see, y))


GIVEN = {
    "numpy": lambda jax, device: arrays.value("f32_8x8"),
    "free": lambda jax, device: jax.device_put(arrays.value("f32_8x8")),
    "there": lambda jax, device: jax.device_put(arrays.value("f32_8x8"), jax.devices()[device]),
    "keys": lambda jax, device: jax.random.wrap_key_data(arrays.value("key_8x8")),
}
"""What a program without a mesh is given: the host's array, one that is committed nowhere or to the device, keys."""


def alone(jax, see, device, given):
    """A constraint to a single device in a program that has no mesh."""
    asked = jax.sharding.SingleDeviceSharding(jax.devices()[device])
    x = GIVEN[given](jax, device)
    program = jax.jit(lambda x: constrain(jax, x, asked))
    see.step("lower")
    try:
        text = see.lowered(program, x)
    except Exception as error:
        see(lowers=_class(error), whole=False)
    else:
        said = see.written(text)["constraints"]
        see(lowers="yes", whole=bool(said) and said[0] is not None and set("".join(said[0]["tiles"])) <= {"0", "."})
    see.step("call")
    try:
        y = program(x)
    except Exception as error:
        see(runs=_class(error), devices=[], value="none")
    else:
        wanted = arrays.value("key_8x8" if given == "keys" else "f32_8x8")
        see(runs="yes", devices=see.sharding(y)["devices"])
        see(value=see.same(jax.random.key_data(y) if given == "keys" else y, wanted))


LEFT = {
    "x.U": ("x", "?"),
    "U.x": ("?", "x"),
    "U.yx": ("?", ("y", "x")),
    "U.-": ("?", None),
    "U.U": ("?", "?"),
}
"""Specs over a mesh of 2 by 2 with a dimension that is left to the partitioner."""


def leave(jax, see, left, place):
    """A program is told how some dimensions of its result are cut, and that the others are the partitioner's."""
    spec, value = LEFT[left], arrays.value("f32_8x8")
    asked = make(jax, "named", FOUR, SQUARE, spec, "")
    x = jax.device_put(value, make(jax, "named", FOUR, SQUARE, (None, None), ""))
    see.step("call")
    try:
        y = LEAVING[place](jax, asked)(x)
    except Exception as error:
        see(refused=_class(error), clear="unconstrained" in str(error).lower(), value="none", kept=False)
    else:
        see(refused="no", clear=False, value=see.same(y, value), kept=_kept(see, y, spec))


LEAVING = {**PLACES, "put": lambda jax, asked: lambda x: jax.device_put(x, asked)}
"""Where a dimension may be left to the partitioner, or may be asked to be."""


def _kept(see, y, spec):
    """Whether an array is cut as a spec says along the dimensions that it does not leave to the partitioner."""
    found = [*see.sharding(y)["spec"], None, None]
    found = [part[0] if isinstance(part, list) and len(part) == 1 else part for part in found]
    wanted = [list(part) if isinstance(part, tuple) else part for part in spec]
    return all(wanted[at] in ("?", found[at]) for at in range(len(wanted)))
