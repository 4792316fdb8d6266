"""Toy probes: those that must become scripts, and those that may be refused, but never become a wrong one."""

HEAD = """
import contextlib
import functools
import itertools
import os
import sys
import traceback
from dataclasses import dataclass, replace

import numpy as np

TABLE = {"a": 1, "b": 2}
FLAGS = {"none": {}, "one": {"donate": True}, "two": {"donate": False, "alias": None}}
MAKERS = {
    "plain": lambda jax, x: jax.plain(x),
    "twice": lambda jax, x: jax.twice(jax.once(x), x),
    "inner": lambda jax, x: lambda y: jax.inner(x, y),
}
PAIRS = (("p", 1), ("q", 2), ("r", 3))
LISTS = {"l": [1, 2]}


@dataclass(frozen=True)
class Spot:
    ids: tuple[int, ...]
    name: str = ""

    @property
    def first(self):
        return self.ids[0]

    def make(self, jax):
        found = [jax.devices()[i] for i in self.ids]
        if not self.name:
            return jax.bare(found[0])
        return jax.named(found, self.name)

    def renamed(self, name):
        return replace(self, name=name)


SPOTS = {"s": Spot((0,)), "t": Spot((1, 2), "x")}


def pair(jax, x):
    first = jax.first(x)
    second = jax.second(first)
    return first, second


def guarded(jax, x):
    try:
        return jax.fail(ValueError, x)
    except ValueError as error:
        return f"caught {error}"


def adder(jax, n):
    return lambda m: jax.add(n, m)
"""


def toys(text):
    """The toys of a text by name, which starts each on a line of its own."""
    parts = [it.partition("\n") for it in text.split("\n## ")[1:]]
    return {name.strip(): code for name, _, code in parts}


RIGHT = toys(
    '''
## branches on case data
def probe(jax, see, kind="b", n=2):
    if kind == "a":
        see(a=jax.f(1))
    elif kind == "b" and n > 1:
        see(b=jax.g(TABLE[kind]))
        if n == 2:
            return
    else:
        see(c=1)
    see(never=jax.h())
## branches that are left
def probe(jax, see, n=1):
    x = 1
    if jax.yes():
        x = 2
        y = jax.f(x)
    else:
        y = n
    see(x=x, y=y)
    if jax.no(x):
        x = 3
    elif jax.yes(x):
        x = jax.g(x)
    see(x=x)
## private names in branches
def probe(jax, see, k="s"):
    if jax.yes():
        spot = SPOTS[k]
        see(x=spot.make(jax), n=spot.first)
    else:
        spot = SPOTS["t"]
        see(y=spot.make(jax))
## an early return, then more
def probe(jax, see):
    if jax.no():
        see(x=1)
        return
    if jax.yes():
        see(x=2)
        return
    see(x=jax.f())
## an early return inside of a try
def probe(jax, see):
    try:
        jax.f()
        if jax.yes():
            return
        jax.g()
    finally:
        see(x=1)
    see(y=2)
## an early return inside of a loop
def probe(jax, see):
    for i in range(5):
        if jax.number(i) == 3:
            see(found=i)
            return
        see(i=i)
    see(none=True)
## an early return inside of a with
def probe(jax, see):
    with jax.context("c") as it:
        see(it=it)
        if jax.yes():
            return
    see(y=2)
## a helper with an early return inside of a loop
def find(jax, items, wanted):
    for i, it in enumerate(items):
        if jax.number(i) == wanted:
            return it
    return None
def probe(jax, see, wanted=1):
    see(x=find(jax, jax.items(3), wanted), y=find(jax, ("a", "b"), 7))
## loops, unrolled
def probe(jax, see):
    total = 0
    for name, n in PAIRS:
        x = jax.f(name, n)
        see(x=x)
        total += n
    see(total=total, last=name)
## loops, left
def probe(jax, see):
    total = 0
    for it in jax.items(3):
        y = jax.f(it)
        total += 1
        see(y=y)
    else:
        see(done=True)
    see(total=total, last=it)
## long loops, left
def probe(jax, see):
    x = None
    for i in range(20):
        x = jax.f(i, x)
    see(x=x)
## a loop that speaks of nothing
def probe(jax, see, n=2):
    for _ in range(n):
        x = jax.f()
    see(x=x)
## loops with an else, unrolled
def probe(jax, see):
    for i in (1, 2):
        jax.f(i)
    else:
        jax.g()
    for i in ():
        jax.f(i)
    else:
        jax.h()
    see(x=1)
## break and continue
def probe(jax, see):
    for i in range(6):
        if jax.number(i) == 1:
            continue
        if jax.number(i) == 3:
            x = i
            break
        see(i=i)
    else:
        see(never=1)
    see(x=x)
## a probe that returns what it does
def both(jax, see):
    see(b=jax.g())
    return jax.h()
def probe(jax, see, n=2):
    if n == 2:
        return see(a=jax.f(), b=both(jax, see))
    see(c=1)
## a probe that returns a helper
def both(jax, see):
    see(b=jax.g())
    return jax.h()
def probe(jax, see):
    return both(jax, see)
## a probe that returns a call
def probe(jax, see):
    return jax.f()
## a probe that returns a row of calls
def probe(jax, see):
    return jax.f(), [jax.g(jax.h())], {"a": jax.i()}
## a probe that returns on one of two ways
def probe(jax, see):
    if jax.yes():
        return
    return see(a=jax.f())
## a probe that returns on the other way
def probe(jax, see):
    if jax.no():
        return
    return see(a=jax.f())
## a probe that returns from either way
def probe(jax, see):
    if jax.no():
        return see(a=jax.f())
    else:
        return see(b=jax.g())
## a helper that gives its reason
def held(jax, n, m):
    """Holds `n`.

    It is `n` and `m`, so that it is so.
    """
    first = jax.f(n)
    return jax.g(first, m)
def probe(jax, see, n=2):
    see(a=held(jax, n, jax.h()), b=[held(jax, i, 3) for i in (n, 4)])
    see(c=jax.yes() and held(jax, n, n))
## helpers called twice
def probe(jax, see):
    a, b = pair(jax, 1)
    c, d = pair(jax, a)
    see(a=a, b=b, c=c, d=d)
## a helper that catches
def probe(jax, see):
    see(x=guarded(jax, "v"))
    y = guarded(jax, "w")
    see(y=y)
## a recursive helper over known data
def down(jax, n):
    if n == 0:
        return jax.zero()
    return jax.next(n, down(jax, n - 1))
def probe(jax, see, n=3):
    see(x=down(jax, n))
## a recursive helper over what is left
def walk(jax, n):
    if jax.number(n) == 0:
        return jax.zero()
    rest = walk(jax, jax.number(n - 1))
    return jax.next(rest)
def probe(jax, see):
    see(x=walk(jax, jax.number(2)))
## keywords out of order
def two(jax, a, b):
    return jax.two(a, b)
def inline(jax, a, b):
    x = jax.mid(b)
    return jax.two(a, x)
def probe(jax, see):
    see(x=two(jax, b=jax.f(), a=jax.g()))
    see(x=inline(jax, b=jax.f(), a=jax.g()))
    see(x=inline(jax, b=jax.f(), a=jax.g()))
## arguments that are not used
def lonely(jax, a, b):
    return jax.only(b)
def probe(jax, see):
    see(x=lonely(jax, jax.f(), jax.g()))
## the order of hoisted statements
def probe(jax, see):
    see(x=jax.f(jax.a(), pair(jax, jax.b()), jax.c()), y=jax.d())
    see(x=[jax.a(), pair(jax, 2)[1], jax.c()], y={"k": jax.d(), "l": pair(jax, 3)})
    z = jax.a() + pair(jax, 4)[0]
    see(z=z, t=f"{jax.e()} {pair(jax, 5)} {jax.f()!r:>3}")
    see(u=jax.a(*pair(jax, 6), *[jax.g(), jax.h()], k=pair(jax, 7)))
## an attribute before hoisted statements
def probe(jax, see):
    x = jax.f()
    see(y=x.method(pair(jax, 1)), z=x.attr)
    see(w=jax.g(x.one, pair(jax, 2), x.two))
## conditional expressions
def probe(jax, see, n=1):
    see(x=jax.f() if jax.yes() else jax.g(), y=jax.f() if n else jax.g())
    see(z=pair(jax, 1) if jax.no() else pair(jax, 2))
## short circuits
def probe(jax, see, n=0):
    see(a=jax.no() and jax.f(), b=jax.yes() and jax.f(), c=jax.yes() or jax.f(), d=n or jax.no() or 3)
    see(e=n and jax.f(), f=1 and jax.no() and pair(jax, 1), g=jax.number(0) or pair(jax, 2))
    see(h=jax.yes() and 5 and jax.no(), i=not jax.yes(), j=not n, k=jax.no() or 0 or n)
## any and all
def probe(jax, see, wanted=(1, 2, 3)):
    see(a=any(jax.number(i) == 2 for i in wanted), b=all(jax.number(i) < 2 for i in wanted))
    see(c=any(jax.no(s.first) for s in SPOTS.values()), d=all(jax.yes(s.first) for s in SPOTS.values()))
    see(e=any(i > 2 for i in wanted), f=all(it for it in jax.items(2)))
    see(g=all(jax.number(s.first) for s in SPOTS.values()), h=any(jax.f(s.name) for s in SPOTS.values()))
    see(i=any([jax.no(1), jax.yes(2), jax.yes(3)]))
## chained comparisons
def probe(jax, see):
    see(a=0 < jax.number(1) < jax.number(2), b=jax.number(3) < jax.number(2) < jax.number(5), c=1 < 2 < 3)
## a chained comparison with a helper at its end
def probe(jax, see):
    see(a=jax.number(3) < jax.number(2) < pair(jax, 1)[0].n)
## swaps
def probe(jax, see):
    a, b = jax.f(), jax.g()
    a, b = b, a
    see(a=a, b=b)
    for it in jax.items(2):
        a, b = b, it
    see(a=a, b=b)
    x, y, z = 1, 2, 3
    x, y, z = z, x, y
    see(x=x, y=y, z=z)
    a, x = x, a
    see(a=a, x=x)
## names that change
def probe(jax, see):
    x = jax.f()
    y = x
    x = jax.g()
    z = [x, y]
    x = 3
    see(x=x, y=y, z=z)
    x = x + 1
    see(x=x)
## a list of names that change
def probe(jax, see):
    x = jax.f()
    both = [x, 1]
    x = jax.g()
    see(a=both[0], b=both[1], x=x)
    for it in both:
        see(it=it)
## augmented assignments
def probe(jax, see, n=2):
    n += 1
    s = "a"
    s += str(n)
    x = jax.f()
    x += n
    y = x
    x += jax.g()
    see(n=n, s=s, x=x, y=y)
    x[jax.number(1)] += jax.h()
    x.attr = jax.i()
    x[pair(jax, 1)[0]] = jax.j()
    t = (1,)
    t += (jax.k(),)
    see(t=t)
## lists that change and have two names
def probe(jax, see):
    xs = []
    ys = xs
    xs.append(jax.f())
    ys.append(2)
    see(xs=xs, ys=ys)
    zs = list((1, 2))
    zs.append(jax.g())
    see(zs=zs)
    ws = sorted((3, 1))
    ws += [jax.h()]
    ws[0] = 7
    see(ws=ws)
    vs = [1, 2]
    us = vs
    us += [3]
    see(vs=vs, us=us)
## a list in a list
def probe(jax, see):
    rows = [[1], [2]]
    rows[0].append(jax.f())
    first = rows[0]
    first.append(3)
    see(rows=rows)
## a dictionary that changes
def probe(jax, see):
    facts = {"a": jax.f()}
    facts["b"] = jax.g()
    facts |= {"c": 3}
    other = facts
    other["d"] = 4
    see(**facts)
## dictionaries that merge and spread
def table(jax, x):
    facts = {"a": jax.f(x), "b": 2}
    facts |= {"c": jax.g(x)}
    return facts | {"d": 4}
def probe(jax, see, flags="two"):
    facts = table(jax, 1)
    see(**facts, **{"e": jax.h()}, f=6)
    see(**table(jax, 2) | {"a": 0})
    see(**{**facts, "a": jax.i(), **FLAGS[flags]})
    jax.put(1, **FLAGS[flags])
    see(a=facts["a"], keys=sorted(facts | {"z": 1}))
    see(b=({"x": jax.j()} | {"x": jax.k()})["x"])
## entries of displays that are taken
def probe(jax, see):
    see(a=[jax.f(), jax.g()][1], b=(jax.h(), jax.i())[0], c={"k": jax.j(), "l": jax.k()}["k"])
    see(d=len([jax.f(), jax.g()]), e=[1, jax.h(), 3][1:], f=(jax.i(), 2)[-1])
## try, except, else, finally
def probe(jax, see):
    x = 1
    try:
        x = jax.f()
        jax.fail(KeyError, "k")
        x = 3
    except (ValueError, TypeError) as error:
        see(wrong=str(error))
    except KeyError as error:
        see(x=x, error=str(error), kind=type(error).__name__)
        x = 4
    else:
        see(never=1)
    finally:
        see(last=x)
    try:
        y = jax.g()
    except ValueError:
        y = 2
    else:
        y = jax.h(y)
    see(x=x, y=y)
## an error that is raised, and raised again
def probe(jax, see):
    try:
        try:
            jax.fail(ValueError, "v")
        except ValueError as error:
            raise KeyError("k") from error
    except KeyError as error:
        see(error=str(error), cause=str(error.__cause__))
    raise ValueError(jax.number(3))
## contexts
def probe(jax, see):
    with jax.context("a") as a, jax.context(pair(jax, 1)) as (b):
        see(a=a, b=b)
        x = jax.f(a)
    see(x=x)
    with contextlib.ExitStack() as stack:
        for name in ("p", "q"):
            stack.enter_context(jax.context(name))
        see(y=1)
    x = 1
    with jax.hush():
        x = 2
        jax.fail()
        x = 3
    see(x=x)
## star arguments
def many(jax, *args, sep="-", **options):
    return jax.many(*args, sep, **options)
def probe(jax, see, ids=(1, 2)):
    xs = [jax.f(), jax.g()]
    see(a=many(jax, *ids, 3, *xs), b=many(jax, *xs, sep="+", n=1, m=jax.h()), c=jax.i(*jax.items(2), *ids))
    see(d=many(jax, **{"sep": "x", "k": jax.j()}), e=[*ids, *xs, *jax.items(1)], f=(*ids, 3))
## default arguments
def defaulted(jax, a, b=2, *, c=TABLE["a"], d=(1, 2)):
    return jax.d(a, b, c, d)
def probe(jax, see):
    see(a=defaulted(jax, 1), b=defaulted(jax, 1, c=jax.f()), c=defaulted(jax, *(3, 4), d=jax.g()))
    n = 5
    f = lambda x, m=n: jax.f(x, m)
    n = jax.number(6)
    def g(x, m=n, *, k=n):
        return jax.g(x, m, k)
    see(d=jax.apply(f, 1), e=g(2), f=g(3, k=1))
## lambdas over names that change
def probe(jax, see):
    n = 1
    f = lambda: jax.f(n)
    n = 2
    see(a=f())
    n = jax.number(3)
    see(b=f(), c=jax.apply(f))
    def g():
        return jax.g(late)
    late = 7
    see(d=g())
    late = 8
    see(e=g())
## lambdas in a loop
def probe(jax, see):
    fs = []
    for i in (1, 2, 3):
        fs.append(lambda: jax.f(i))
        see(now=jax.apply(lambda: jax.g(i)))
    for f in fs:
        see(then=f())
## lambdas in a comprehension
def probe(jax, see):
    fs = [lambda: jax.f(i) for i in (1, 2, 3)]
    gs = [lambda i=i: jax.g(i) for i in (1, 2, 3)]
    see(a=[f() for f in fs], b=[g() for g in gs])
## lambdas from a helper
def probe(jax, see):
    x = jax.number(1)
    f = adder(jax, x)
    x = jax.number(2)
    g = adder(jax, x)
    see(a=f(10), b=g(20))
    fs = []
    for it in jax.items(2):
        fs.append(adder(jax, it))
    see(c=[f(1) for f in fs])
    gs = [adder(jax, i) for i in jax.items(2)]
    see(d=[g(2) for g in gs])
    hs = []
    for i in (1, 2):
        hs.append(adder(jax, i))
    see(e=[h(3) for h in hs])
## names that clash
def probe(jax, see, x=1):
    same = jax.f()
    list = jax.g(same)
    note = jax.h(list)
    json = 4
    describe = jax.i(note)
    see(a=see.same(same, list), b=note, c=json, d=describe, e=see.state(describe))
    first = pair(jax, 9)
    second = pair(jax, first)
    see(f=first, g=second)
    np_ = np.dtype("float32").itemsize
    see(h=np_)
## parameters that clash with what they lean on
def shifted(jax, y):
    return lambda x: jax.shifted(x, y)
def listed(jax, y):
    return [jax.listed(x, y) for x in jax.items(2)]
def probe(jax, see):
    x = jax.f()
    see(a=shifted(jax, x)(1), b=listed(jax, x))
    same = jax.g()
    see(c=jax.apply(lambda same: see.same(same, x), same))
    see(d=[see.same(x, same) for same in jax.items(2)])
    it = [x for x in jax.items(1)]
    see(x=x, it=it)
## shadows
def probe(jax, see, x=1):
    def inner(x):
        y = jax.f(x)
        x = jax.g(y)
        return x
    y = inner(2)
    z = (lambda y: jax.h(y, x))(3)
    see(x=x, y=y, z=z, w=[x for x in (4, 5)], v={y: jax.i(y) for y in jax.items(1)})
    see(x=x, y=y)
## a variable called like a table
def probe(jax, see):
    def inner():
        TABLE = jax.f()
        return TABLE
    see(a=inner(), b=TABLE["a"])
## inner functions
def probe(jax, see, n=2):
    def fact(k):
        if k == 0:
            return jax.one()
        for _ in range(1):
            if k == n:
                jax.note(k)
        try:
            return jax.times(k, fact(k - 1))
        finally:
            jax.done(k)
    see(x=fact(n))
    def other(x, *rest, key=None, **more):
        total = 0
        for it in rest:
            total += it
        else:
            total += 10
        if x:
            total += 1
            label = "x"
        else:
            label = "y"
        return jax.other(total, label, key, more)
    see(y=other(1, 2, 3, key=4, z=5), z=other(0))
## comprehensions
def probe(jax, see, ids=(1, 2, 3)):
    see(a=[jax.f(i) for i in ids if i != 2], b=[jax.g(i, j) for i in ids for j in range(i) if j])
    see(c={i: jax.h(i) for i in ids}, d=[jax.i(x) for x in jax.items(2) if jax.yes(x)])
    see(e=[pair(jax, s.name)[0] for s in SPOTS.values()], f=[s.make(jax) for s in SPOTS.values()])
    see(g=tuple(jax.j(i) for i in ids), h=list(jax.k(i) for i in jax.items(2)), i=sum(i for i in ids))
    see(j=[[jax.l(i, j) for j in (1, 2)] for i in (3, 4)], k=sorted({jax.number(i) for i in ids}))
    see(l=[jax.m(x, i) for x, i in zip(jax.items(2), (1, 2), strict=True)])
    see(m=[jax.n(x, i) for i, x in enumerate([jax.o(), jax.p()])], n=dict((k, jax.q(v)) for k, v in PAIRS))
## generators
def probe(jax, see):
    g = (jax.f(i) for i in (1, 2))
    jax.h()
    see(a=list(g), b=list(g))
    z = zip((1, 2), (3, 4))
    see(c=list(z), d=list(z))
    e = enumerate("ab")
    see(e=next(e), f=list(e))
    r = reversed((1, 2, 3))
    see(g=next(r), h=next(r))
## zips
def probe(jax, see):
    xs, names = [jax.f(), jax.g(), jax.h()], ("a", "b", "c")
    for name, x in zip(names, xs, strict=True):
        see(**{name: x})
    for i, (name, x) in enumerate(zip(names, xs)):
        see(i=i, name=name, x=x)
    see(short=[jax.i(a, b) for a, b in zip((1, 2), "abc")])
## unpacking
def probe(jax, see):
    a, (b, c) = jax.f(), (jax.g(), 3)
    see(a=a, b=b, c=c)
    first, *rest = jax.items(3)
    see(first=first, rest=rest)
    [x, y] = jax.items(2)
    see(x=x, y=y)
    (z,) = [jax.h()]
    see(z=z)
    p = q = jax.i()
    r = s = []
    r.append(1)
    see(p=p, q=q, s=s)
## deletions
def probe(jax, see):
    x = jax.f()
    y = x
    del x
    see(y=y)
    x = jax.g()
    z = [1, 2, 3]
    del z[jax.number(0)]
    see(x=x, z=z)
    w = 3
    del w
## f-strings
def probe(jax, see, n=3, s="a'b"):
    see(a=f"{n:>3}|{s!r}|{n + 1}", b=f"{s} {jax.number(2):0{n}d}", c=f"{{{n}}} {jax.f()}")
    see(d="-".join(f"{i}" for i in range(n)), e="%s-%s" % (n, jax.number(1)), f="{}".format(jax.g()))
## numbers
def probe(jax, see, n=-1):
    see(a=n ** jax.number(2), b=-n, c=jax.number(2) ** n, d=(-2) ** jax.number(2), e=2j, f=float("inf"))
    see(g=jax.f(n, 1.5, True, None, ..., b"x"), h=jax.number(5) % 3 - n, i=~n, j=np.float32(3) + jax.number(1))
## dataclasses
def probe(jax, see, spot=SPOTS_S, key="t"):
    see(a=spot.make(jax), b=SPOTS[key].make(jax), c=spot.first, d=SPOTS[key].renamed("w").make(jax))
    see(e=Spot((4, 5), "v").make(jax), f=spot == SPOTS["s"], g=replace(spot, ids=(6,)).make(jax))
## tables of functions
def probe(jax, see):
    see(a=MAKERS["plain"](jax, 1), b=MAKERS["twice"](jax, jax.f()), c=MAKERS["inner"](jax, jax.g())(2))
    for name, make in MAKERS.items():
        see(**{name: make(jax, name)})
## functions handed on
def bump(x):
    return x + 1
def probe(jax, see):
    see(a=jax.apply(bump, jax.f()), b=jax.apply(bump, jax.g()), c=jax.number(bump(2)))
    see(d=jax.apply(MAKERS["plain"], jax, 2))
## one lambda handed on twice is one function
def probe(jax, see):
    f = MAKERS["plain"]
    a, b = jax.keep(f), jax.keep(f)
    g = lambda: 1
    fs = [g, lambda: 2]
    see(a=jax.same(f) is jax.same(f), b=jax.same(g) is jax.same(fs[0]), c=jax.same(fs[1]) is jax.same(fs[1]))
## observers
def probe(jax, see):
    see.step("one")
    x = jax.f()
    see(**{"a": see.same(x, 1)}, b=[see.state(x), see.spans(x)])
    look = see.sharding
    see(c=look(x), d=see.same(x, see.state(x)))
    see.step(f"two {1}")
## modules
def probe(jax, see):
    see(a=np.zeros((2,), np.uint8).nbytes + jax.number(1), b=list(itertools.chain((1,), (2,))), c=np.float32)
    see(d=functools.reduce(jax.add, (1, 2, 3)), e=int(np.prod((2, 3))), f=np.dtype("int8").name)
    see(g="".join(traceback.format_exception_only(ValueError("v"))), h=str(np.arange(3)[1:]))
## data of modules
def probe(jax, see):
    see(a="FOLDED_TOYS" in os.environ, b=sys.version_info[:2] > (3, 0), c=np.newaxis, d=jax.f(os.sep))
## helpers that look at where they run
def here(name):
    return os.environ.get(name, "none")
def deeper(name):
    if name == "x":
        return 1
    return [here(name)]
CALLS = {"c": lambda: sys.argv[0], "d": lambda: TABLE["a"]}
def probe(jax, see, name="FOLDED_TOYS"):
    see(a=here(name), b=deeper(name), c=CALLS["c"]() == sys.argv[0], d=CALLS["d"](), e=jax.f(deeper("x")))
## an empty body
def probe(jax, see):
    if jax.yes():
        pass
    else:
        see(x=1)
    for it in jax.items(2):
        pass
    try:
        pass
    except ValueError:
        pass
    """text"""
    see(y=2)
## what fails as the probe fails
def probe(jax, see, key="zz"):
    try:
        jax.f(TABLE[key])
    except KeyError as error:
        see(error=str(error))
    try:
        jax.g(1 // 0)
    except ZeroDivisionError:
        see(zero=True)
    x = None
    see(x=x.nothing)
## a method of what was made
def probe(jax, see):
    x = jax.f()
    m = x.method
    see(a=m(1), b=x.other(pair(jax, 2)[0]).third(), c=[it.name for it in jax.items(2)])
## conditions on what is told apart
def probe(jax, see, flag="none"):
    xs = [jax.f()] if flag == "none" else []
    ys = [] if flag == "none" else [jax.g()]
    see(a=1 if xs else 2, b=xs or [0], c=bool(ys))
    if ys:
        see(never=1)
    facts = {}
    if not facts:
        see(d=1)
## rows that are added
def probe(jax, see, n=1):
    xs = [jax.f(), 2]
    ys = [jax.g()] + xs + [3]
    see(ys=ys, zs=(1, 2) + (jax.h(),), ws=[jax.i()] * 2, vs=[*xs] + list(range(n)))
    for y in [1] + [jax.j()]:
        see(y=y)
## a helper that fills a list
def fill(jax, xs, n):
    xs.append(jax.f(n))
    xs += [n]
    return xs
def probe(jax, see):
    xs = []
    ys = fill(jax, xs, 1)
    fill(jax, xs, 2)
    see(xs=xs, same=ys is xs)
## a loop over pending values
def probe(jax, see):
    for x in (jax.f(), jax.g()):
        see(x=jax.h(x))
    see(ys=[jax.i(x) for x in [jax.j(), jax.k()]])
## a loop that changes what helpers gave
def probe(jax, see):
    x = jax.f()
    for it in jax.items(3):
        first, x = pair(jax, x)
        y = first
        see(x=x, y=y)
    see(x=x, first=first)
## a lambda with a condition and a helper
def picked(jax, x):
    y = jax.p(x)
    return jax.q(y)
def probe(jax, see, flag=True):
    f = lambda x: picked(jax, x) if flag else jax.never()
    g = lambda x: picked(jax, x) if jax.yes() else pair(jax, x)
    see(a=jax.apply(f, 1), b=jax.apply(g, 2))
## a name that only one way sets
def probe(jax, see):
    if jax.yes():
        x = jax.f()
    try:
        see(x=x)
    except NameError:
        see(x="no")
    if jax.no():
        y = 1
    try:
        see(y=y)
    except NameError:
        see(y="no")
## nested tries
def probe(jax, see):
    for i in (1, 2):
        try:
            x = jax.f(i)
            try:
                if i == 2:
                    jax.fail(KeyError, i)
                see(x=x)
            finally:
                see(i=i)
        except KeyError as error:
            see(error=str(error))
## contextmanagers of the probe's own
def probe(jax, see):
    stack = contextlib.ExitStack()
    with stack:
        stack.enter_context(jax.context("z"))
        stack.callback(jax.end, 1)
    see(x=1)
'''.replace("SPOTS_S", 'SPOTS["s"]')
)

RIGHT |= toys("""
## closure over loop var in helper inlined in comp
def mk(jax, i):
    def f():
        return jax.f(i)
    return f
def probe(jax, see):
    fs = [mk(jax, i) for i in (1, 2)]
    gs = [mk(jax, x) for x in jax.items(2)]
    see(a=[f() for f in fs], b=[g() for g in gs])
## helper that stores closures
def reg(jax, store, x):
    y = jax.g(x)
    store.append(lambda: jax.h(x, y))
def probe(jax, see):
    store = []
    for i in (1, 2, 3):
        reg(jax, store, i)
    for it in jax.items(2):
        reg(jax, store, it)
    see(a=[f() for f in store])
## table with pending dup
def probe(jax, see):
    d = {"a": jax.f(), "b": jax.g(), "a": jax.h()}
    see(**d)
    e = {**d, "b": jax.i()}
    e |= {"a": jax.j()}
    see(x=e["a"], y=e["b"])
## generator passed to left
def probe(jax, see):
    g = (jax.f(i) for i in (1, 2))
    see(a=jax.take(list(g)), b=sorted(jax.number(i) for i in (3, 1)), c=",".join(str(jax.number(i)) for i in (3, 1)))
    see(d=max(jax.number(i) for i in (1, 2)), e=sum(jax.number(i) for i in (1, 2)))
    see(f={jax.number(i): i for i in (1, 2)})
## nested helper early return in try
def h(jax, x):
    try:
        if jax.no():
            return jax.a(x)
        y = jax.b(x)
    except ValueError:
        return jax.c(x)
    finally:
        jax.d(x)
    return y
def probe(jax, see):
    see(a=h(jax, 1), b=[h(jax, i) for i in (1, 2)], c=jax.yes() and h(jax, 3))
## kw defaults evaluated once
def probe(jax, see):
    def f(x, y=jax.once(), *, z=jax.twice()):
        return jax.f(x, y, z)
    see(a=f(1), b=f(2, z=3), c=f(y=1, x=2))
## star in middle
def probe(jax, see):
    a, *b, c = [jax.f(), 2, jax.g(), 4]
    see(a=a, b=b, c=c)
    for x, *rest in ((1, 2, 3), (4, 5)):
        see(x=x, rest=rest)
    first, (second, third) = jax.f(), [jax.g(), jax.h()]
    see(first=first, second=second, third=third)
## conditional del and rebind
def probe(jax, see):
    x = [1, 2]
    y = x
    x = x + [jax.f()]
    y.append(3)
    see(x=x, y=y)
    z = y
    z += [4]
    see(y=y)
## try in unrolled loop with carried
def probe(jax, see):
    last = None
    for k in ("a", "b", "c"):
        try:
            if k == "b":
                jax.fail(ValueError, k)
            last = jax.f(k)
        except ValueError:
            see(failed=k)
        else:
            see(done=last)
    see(last=last)
## exceptions from known code
def probe(jax, see, n=0):
    try:
        x = 1 // n
    except ZeroDivisionError as e:
        see(e=type(e).__name__)
    try:
        (1, 2)[5]
        see(never=1)
    except IndexError:
        see(i=1)
    try:
        int("x")
        see(never=2)
    except ValueError as e:
        see(v=str(e))
## raise in expression helper
def boom(jax, x):
    raise ValueError(jax.number(x))
def probe(jax, see):
    try:
        see(a=jax.f(boom(jax, 3)))
    except ValueError as e:
        see(e=str(e))
    boom(jax, 4)
    see(never=1)
## boolop in args with helpers
def two(jax, x):
    a = jax.a(x)
    return jax.b(a)
def probe(jax, see):
    see(a=jax.f(jax.no() or two(jax, 1), two(jax, 2) if jax.yes() else two(jax, 3)))
    if jax.no() and two(jax, 4):
        see(b=1)
    elif two(jax, 5) and jax.yes():
        see(b=2)
    while_ = [x for x in jax.items(2) if two(jax, x)]
    see(c=while_)
## if test with helper elif
def probe(jax, see):
    if jax.no():
        x = 1
    elif pair(jax, 1)[0]:
        x = 2
    elif jax.yes():
        x = 3
    else:
        x = 4
    see(x=x)
## same helper different known args as function
def lab(jax, x, name="n"):
    y = jax.f(x)
    z = jax.g(y, name)
    return z
def probe(jax, see):
    see(a=lab(jax, 1), b=lab(jax, 1), c=lab(jax, True), d=lab(jax, 1.0))
    see(e=lab(jax, 1, "n"), f=lab(jax, name="m", x=jax.h()))
## string keys and merges with unknown dict
def probe(jax, see):
    d = jax.same({"a": 1})
    e = d | {"b": jax.f()}
    f = {**d, "c": 2}
    see(**e)
    see(**f, **{"z": 1})
    f.update(g=1)
    see(f=f)
## late binding of module-level helper names shadowed
def probe(jax, see):
    pair = jax.f
    see(a=pair(1))
    TABLE = {"a": jax.g()}
    see(b=TABLE["a"])
## variable used as both list and loop
def probe(jax, see):
    xs = [jax.f(), jax.g()]
    for i, x in enumerate(xs):
        xs[i] = jax.h(x)
    see(xs=xs)
    ys = [1, 2]
    for y in ys:
        if y == 1:
            ys.append(jax.number(5))
    see(ys=ys)
## comprehension shadows
def probe(jax, see, x=3):
    ys = [x for x in (1, 2)]
    zs = [(x, y) for y in ys for x in jax.items(1)]
    see(x=x, ys=ys, zs=zs)
    x = jax.f()
    ws = {x: x for x in jax.items(1)}
    see(x=x, ws=ws, vs=[x for _ in (1, 2)])
## nested functions two levels
def probe(jax, see):
    n = jax.number(2)
    def outer(a):
        b = jax.f(a, n)
        def inner(c):
            return jax.g(a, b, c, n)
        return inner
    f, g = outer(1), outer(2)
    see(a=f(1), b=g(2))
    n = 5
    see(c=f(1), d=outer(3)(4))
## lambda default capture in loop left
def probe(jax, see):
    fs = []
    for i in range(20):
        fs.append(lambda i=i: i)
    see(a=[f() for f in fs][:3])
    gs = [lambda: it for it in jax.items(3)]
    see(b=[g() for g in gs])
## with exceptions and loosened
def probe(jax, see):
    x = "start"
    with jax.hush():
        for i in (1, 2):
            x = jax.f(i)
            if jax.number(i) == 2:
                jax.fail()
            y = i
    see(x=x, y=y)
## deep try nest with return function
def find(jax, n):
    for i in range(n):
        try:
            with jax.context(i):
                if jax.number(i) == 1:
                    return jax.found(i)
                if jax.number(i) == 5:
                    continue
        finally:
            jax.fin(i)
    else:
        return jax.none()
def probe(jax, see):
    see(a=find(jax, 3), b=find(jax, 1))
## aug on attribute and nested
def probe(jax, see):
    x = jax.f()
    x.n = 1
    d = {"k": [1]}
    d["k"] += [jax.g()]
    d["k"].append(2)
    e = d["k"]
    e.append(3)
    see(d=d)
## slices
def probe(jax, see, n=1):
    xs = [jax.f(), jax.g(), jax.h()]
    see(a=xs[n:], b=xs[::-1], c=xs[-1], d=(1, 2, 3)[n], e="abc"[jax.number(1):], f=jax.items(3)[n:2])
    xs[0:1] = [7, 8]
    see(xs=xs)
## truthiness of things
def probe(jax, see):
    x = jax.f()
    see(a=not x, b=bool(x), c=x and 1, d=x or 2, e=1 if x else 2, f=[1 for _ in (1,) if x])
    if x and jax.yes():
        see(g=1)
    see(h=any((x, x)), i=all([x, jax.g()]))
## unknown star kwargs ordering
def kw(jax, **k):
    return jax.k(**k)
def probe(jax, see):
    see(a=kw(jax, b=jax.f(), a=jax.g()), b=kw(jax, **{"z": jax.h(), "y": 1}))
## name reuse across inlines
def one(jax, x):
    y = jax.one(x)
    return y
def two(jax, y):
    x = one(jax, y)
    return x, y
def probe(jax, see):
    x, y = jax.f(), jax.g()
    y, x = two(jax, x)
    see(x=x, y=y)
    x, y = two(jax, y), one(jax, x)
    see(x=x, y=y)
""")

EITHER = toys("""
## a table that is changed
def probe(jax, see):
    flags = FLAGS["one"]
    flags = dict(flags)
    flags["x"] = jax.f()
    see(**flags)
    LISTS["l"].append(jax.g())
    see(l=LISTS["l"])
    LISTS["l"].pop()
## a table's list under a name
def probe(jax, see):
    xs = LISTS["l"]
    xs.append(jax.g())
    see(l=LISTS["l"], xs=xs)
    xs.pop()
## a known list with two names
def probe(jax, see):
    xs = sorted((3, 1, 2))
    ys = xs
    ys.append(jax.f())
    see(xs=xs, ys=ys)
## a known list that a helper changes
def push(xs):
    xs.append(9)
    return xs
def probe(jax, see):
    xs = sorted((3, 1))
    if jax.yes():
        push(xs)
    ys = push(xs)
    see(xs=xs, ys=ys)
## a known list that an inner function changes
def probe(jax, see):
    def push(xs):
        xs.append(9)
    xs = sorted((3, 1))
    push(xs)
    see(xs=xs)
    ys = [*xs]
    f = lambda: ys.append(jax.f())
    f()
    jax.apply(lambda zs: zs.append(1), ys)
    see(ys=ys)
## a mutable default
def gather(jax, x, found=[]):
    found.append(x)
    return len(found)
def probe(jax, see):
    see(x=jax.f())
    see(a=gather(jax, 1))
    see(b=gather(jax, 2))
## nonlocal names
def probe(jax, see):
    n = 0
    def count():
        nonlocal n
        n += 1
        return n
    see(a=count(), b=count(), n=n)
## walrus
def probe(jax, see):
    if (x := jax.f()):
        see(x=x)
    see(y=[y := jax.g(i) for i in (1, 2)], z=y)
## while
def probe(jax, see):
    n = 0
    while n < 3:
        n += 1
        see(n=n)
## a match
def probe(jax, see, kind="b"):
    match kind:
        case "a":
            see(a=1)
        case _:
            see(b=jax.f())
## a class
def probe(jax, see):
    class Local:
        x = 1
    see(x=Local.x, y=jax.f())
## an import
def probe(jax, see):
    import math
    see(x=math.floor(1.5), y=jax.f())
## see handed on
def tell(see, x):
    see(told=x)
def probe(jax, see):
    tell(see, jax.f())
    jax.apply(tell, see, 3)
## a generator function
def each(jax):
    yield jax.f()
    yield jax.g()
def probe(jax, see):
    see(x=list(each(jax)))
## a decorated helper
@contextlib.contextmanager
def inside(jax):
    jax.enter()
    yield 3
    jax.leave()
@functools.cache
def cached(n):
    return [n]
def probe(jax, see):
    with inside(jax) as n:
        see(n=n)
    see(a=cached(1), b=cached(1) is cached(1))
## a decorated inner function
def probe(jax, see):
    @jax.wrap
    def f(x):
        return jax.f(x)
    see(a=f(1))
## a function with variables of its own
def make(n):
    def f(jax):
        return jax.f(n)
    return f
MADE = {"a": make(1), "b": make(2)}
def probe(jax, see):
    see(a=MADE["a"](jax), b=MADE["b"](jax))
## endless recursion
def deeper(jax, n):
    if jax.number(n) == 5:
        return n
    return deeper(jax, n + 1)
def probe(jax, see):
    see(x=deeper(jax, 0))
## a stored part before its value
def probe(jax, see):
    x = jax.f()
    x[0], y = jax.g(), jax.h()
    see(x=x, y=y)
    x[pair(jax, 1)[0]] += pair(jax, 2)[0]
    a = x[1] = jax.i()
    see(a=a)
## a lambda that needs statements
def probe(jax, see):
    f = lambda x: pair(jax, x)[0] if jax.yes() else [pair(jax, i) for i in (jax.g(), jax.h())][1]
    see(a=f(1))
## globals that change
COUNT = [0]
def probe(jax, see):
    COUNT[0] += 1
    see(x=jax.f(), n=len(COUNT))
    COUNT[0] -= 1
## sets
def probe(jax, see, ids=frozenset((1, 2))):
    found = set()
    found.add(jax.number(1))
    found |= {2}
    see(a=sorted(found), b=sorted(ids), c=jax.f({1, 2} - {2}), d=sorted({*ids, jax.number(4)}))
## identity
def probe(jax, see):
    a = [1]
    b = a
    c = [*a]
    see(x=a is b, y=a is c, z=LISTS["l"] is LISTS["l"], w=jax.f())
## arrays
ONES = np.ones(2)
def probe(jax, see):
    x = np.arange(3)
    y = x
    x[0] = 9
    see(y=str(y), z=str(ONES), w=jax.f(x.sum()))
    x += 1
    see(y=str(y))
## async
def probe(jax, see):
    see(x=jax.f())
    async def f():
        return 1
## an assertion
def probe(jax, see):
    assert jax.yes()
    see(x=1)
## a helper that returns its argument
def keep(x):
    return x
def probe(jax, see):
    x = jax.f()
    y = keep(x)
    x = jax.g()
    zs = keep([])
    ws = keep(zs)
    ws.append(1)
    see(x=x, y=y, zs=zs)
    us = sorted((1, 2))
    vs = keep(us)
    vs.append(3)
    see(us=us)
## a list handed on and changed by what it was handed to
def probe(jax, see):
    xs = sorted((2, 1))
    both = [xs, xs]
    both[0].append(jax.f())
    see(xs=xs, both=both)
    d = {"xs": xs}
    d["xs"].append(1)
    see(xs=xs)
## keywords given twice
def probe(jax, see):
    jax.f()
    see(**{"a": jax.g()}, **jax.same({"b": 2}), **{"c": jax.h()})
## spreads of what is left
def many(jax, *args, **options):
    return jax.many(args, options)
def probe(jax, see):
    see(a=many(jax, *jax.items(2), 3, **jax.same({"k": 1})))
## except star
def probe(jax, see):
    try:
        jax.f()
    except* ValueError:
        pass
    see(x=1)
## a name deleted on one way
def probe(jax, see):
    x = jax.f()
    if jax.yes():
        del x
    try:
        see(x=x)
    except NameError:
        see(x="gone")
## a loop that rebinds what it runs over
def probe(jax, see):
    xs = [jax.f(), jax.g()]
    for x in xs:
        xs = [x]
        see(x=x, xs=xs)
    see(xs=xs)
    n = 1
    for i in (1, 2):
        n = n + i
        f = lambda: jax.h(n)
        n = n * 2
        see(f=f())
## locals and globals
def probe(jax, see):
    x = jax.f()
    see(y=sorted(locals()))
## a helper that captures what its caller changes
def holder(jax, get):
    before = get()
    return jax.h(before, get())
def probe(jax, see):
    n = jax.number(1)
    f = lambda: jax.g(n)
    see(a=holder(jax, f))
    n = jax.number(2)
    see(b=holder(jax, f), c=holder(jax, lambda: n))
## an argument whose default is another function
def chosen(jax, make=MAKERS["plain"]):
    return make(jax, 3)
def probe(jax, see):
    see(a=chosen(jax), b=chosen(jax, MAKERS["twice"]), c=chosen(jax, lambda jax, n: jax.own(n)))
## a caught name used later
def probe(jax, see):
    error = "before"
    try:
        jax.fail(ValueError, "v")
    except ValueError as error:
        see(error=str(error))
    try:
        see(error=error)
    except NameError:
        see(error="gone")
    kept = None
    try:
        jax.fail(KeyError, "k")
    except KeyError as error:
        kept = error
    see(kept=str(kept))
""")
