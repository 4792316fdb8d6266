"""A `jax` and a `see` that log every call in order, and what holds a probe against the script that is made of it."""

import ast
import contextlib
import functools
import importlib
import itertools
import linecache
import sys

from conformance.repro.fold import fold
from conformance.repro.names import named
from conformance.repro.tidy import needed, tidied

OBSERVERS = ("same", "state", "spans", "sharding")
RESERVED = (*OBSERVERS, "describe", "jax", "note", "step", "np", "functools", "itertools", "traceback", "contextlib")


class Thing:
    """What a call of the world gives; it can be called, added, asked for parts and left."""

    def __init__(self, world, number):
        self.__dict__["world"], self.__dict__["number"] = world, number

    def __repr__(self):
        return f"#{self.number}"

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        self.world.log.append(f"{self!r}.{name}")
        return functools.partial(self.world.call, f"{self!r}.{name}")

    def __setattr__(self, name, value):
        self.world.log.append(f"{self!r}.{name} = {tell(value)}")

    def __getitem__(self, key):
        return self.world.call(f"{self!r}[]", key)

    def __setitem__(self, key, value):
        self.world.log.append(f"{self!r}[{tell(key)}] = {tell(value)}")

    def __delitem__(self, key):
        self.world.log.append(f"del {self!r}[{tell(key)}]")

    def __add__(self, other):
        return self.world.call(f"{self!r} +", other)

    def __radd__(self, other):
        return self.world.call(f"+ {self!r}", other)

    def __iadd__(self, other):
        self.world.log.append(f"{self!r} += {tell(other)}")
        return self

    def __lt__(self, other):
        self.world.call(f"{self!r} <", other)
        return self.number % 2 == 0

    def __bool__(self):
        self.world.log.append(f"bool({self!r})")
        return self.number % 2 == 0

    def __call__(self, *args, **kwargs):
        return self.world.call(f"{self!r}()", *args, **kwargs)


class World:
    """`jax`, with functions that say yes and no, fail, call and hand things out."""

    def __init__(self):
        self.log = []
        self.numbers = itertools.count()

    def call(self, name, *args, **kwargs):
        said = [*map(tell, args), *(f"{key}={tell(it)}" for key, it in kwargs.items())]
        self.log.append(f"{name}({', '.join(said)})")
        return Thing(self, next(self.numbers))

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return functools.partial(self.call, name)

    def devices(self):  # may be asked for whenever
        return [f"d{i}" for i in range(8)]

    def yes(self, *args):
        self.call("yes", *args)
        return True

    def no(self, *args):
        self.call("no", *args)
        return False

    def number(self, n):
        self.call("number", n)
        return n

    def items(self, n):
        return [self.call("item", i) for i in range(n)]

    def same(self, it):
        self.call("same", it)
        return it

    def fail(self, kind=ValueError, *args):
        self.call("fail", kind.__name__)
        raise kind(*args)

    def apply(self, f, *args, **kwargs):
        self.call("apply", *args, **kwargs)
        return f(*args, **kwargs)

    @contextlib.contextmanager
    def context(self, name):
        self.log.append(f"enter {tell(name)}")
        try:
            yield Thing(self, next(self.numbers))
        finally:
            self.log.append(f"leave {tell(name)}")

    @contextlib.contextmanager
    def hush(self):
        try:
            yield
        except ValueError:
            self.log.append("hushed")


class See:
    """`see`, on the same log."""

    def __init__(self, world):
        self.world = world

    def __call__(self, **facts):
        for name, it in facts.items():
            self.world.log.append(f"{name} = {tell(it)}")

    def step(self, name):
        self.world.log.append(f"# {name}")


for _name in OBSERVERS:
    setattr(See, _name, lambda self, *args, name=_name, **kw: self.world.call(f"see.{name}", *args, **kw))


def tell(it):
    if isinstance(it, (list, tuple, set, frozenset)):
        parts = [tell(part) for part in it]
        return f"{type(it).__name__}({', '.join(sorted(parts) if isinstance(it, (set, frozenset)) else parts)})"
    if isinstance(it, dict):
        return f"dict({', '.join(f'{tell(key)}: {tell(part)}' for key, part in it.items())})"
    if isinstance(it, functools.partial) or (callable(it) and not isinstance(it, (Thing, type))):
        return "function"
    return repr(it)


def run(act):
    """The log of an act, and how it ended."""
    world = World()
    try:
        act(world)
    except RecursionError:
        world.log.append("too deep")
    except Exception as error:
        world.log.append(f"{type(error).__name__}: {error}")
    return world.log


class Toys:
    """A package of toy probes."""

    def __init__(self, folder, name):
        self.folder, self.name = folder, name
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text("")
        sys.path.insert(0, str(folder))
        self.count = itertools.count()

    def close(self):
        sys.path.remove(str(self.folder))
        for it in [it for it in sys.modules if it.partition(".")[0] == self.name]:
            del sys.modules[it]
        linecache.clearcache()

    def module(self, text, name=None):
        name = name or f"toy{next(self.count)}"
        (self.folder / self.name / f"{name}.py").write_text(text)
        importlib.invalidate_caches()
        return importlib.import_module(f"{self.name}.{name}")

    def script(self, probe, case):
        """The probe's script, of the body alone."""
        folded = fold(probe, case, self.name, OBSERVERS)
        functions, body = tidied(needed(folded.functions, folded.body), folded.body)
        statements = named([*functions, *body], RESERVED)
        return "\n".join([*sorted(folded.imports), *map(ast.unparse, statements)])

    def logs(self, probe, case):
        """What a probe does, what its script does, and the script."""
        script = self.script(probe, case)
        expected = run(lambda world: probe(world, See(world), **case))

        def act(world):
            see = See(world)
            names = {name: getattr(see, name) for name in OBSERVERS}
            exec(compile(script, "<script>", "exec"), {"jax": world, "note": see, "step": see.step, **names})

        return expected, run(act), script
