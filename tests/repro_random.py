"""Writes random toy probes, for which the script must do what the probe does."""

from random import Random

NAMES = ("a", "b", "c", "x", "y", "same", "list")


class Writer:
    """Writes one module: helpers, then a probe. Every name is set before it is read, on all ways or on none."""

    def __init__(self, seed):
        self.random = Random(seed)
        self.helpers = []
        self.lines = []
        self.depth = 0

    def pick(self, *options):
        return self.random.choice(options)()

    def module(self):
        for index in range(self.random.randrange(3)):
            self.helper(f"helper{index}")
        self.function(
            "probe", ("jax", "see", "k", "n"), f"k={self.random.choice('ab')!r}, n={self.random.randrange(3)}"
        )
        return "\n".join(self.lines)

    def say(self, text):
        self.lines.append("    " * self.depth + text)

    def helper(self, name):
        parameters = self.random.sample(("a", "b", "x", "k"), self.random.randrange(1, 4))
        self.function(name, ("jax", *parameters), "")
        self.helpers.append((name, parameters))

    def function(self, name, parameters, defaults):
        plain = [it for it in parameters if not defaults or it in ("jax", "see")]
        self.say(f"def {name}({', '.join([*plain, *([defaults] if defaults else [])])}):")
        self.depth += 1
        self.vars = [it for it in parameters if it not in ("jax", "see")]
        self.functions, self.lists, self.fixed = [], [], {*()}
        self.sees, self.loops = "see" in parameters, 0
        self.block(self.random.randrange(2, 5))
        if self.sees:
            facts = ", ".join(f"v{i}={it}" for i, it in enumerate(self.vars))
            self.say(f"see({facts})")
        else:
            self.say(f"return {self.expr()}")
        self.depth -= 1

    def block(self, count):
        before = [*self.vars], [*self.functions], [*self.lists]
        for _ in range(count):
            self.statement()
        return before

    def inner(self, count=None):
        """A block of its own, whose new names are not read outside."""
        self.depth += 1
        self.say("pass")
        before = self.block(count or self.random.randrange(1, 3))
        self.depth -= 1
        self.vars, self.functions, self.lists = before

    def statement(self):
        options = [self.assign, self.assign, self.assign, self.tell, self.grow, self.unpack, self.add]
        if self.depth < 3:
            options += [
                self.if_,
                self.if_known,
                self.for_,
                self.for_known,
                self.try_,
                self.with_,
                self.closure,
                self.merge,
            ]
        if self.loops or self.random.random() < 0.1:
            options.append(self.leave)
        self.pick(*options)

    def name(self):
        return self.random.choice(NAMES)

    def set(self, name):
        self.functions = [it for it in self.functions if it != name]
        self.lists = [it for it in self.lists if it != name]
        if name not in self.vars:
            self.vars.append(name)

    def assign(self):
        value, name = self.expr(), self.name()
        self.say(f"{name} = {value}")
        self.set(name)

    def tell(self):
        if self.sees:
            self.say(f"see(t={self.expr()}, u={self.expr()})")
        else:
            self.say(f"jax.tell({self.expr()})")

    def grow(self):
        if self.lists and self.random.random() < 0.7:
            self.say(f"{self.random.choice(self.lists)}.append({self.expr()})")
            return
        name = self.name()
        known = f"[*{self.random.choice(self.lists)}]" if self.lists else "[1]"
        text = self.random.choice(("[]", f"[{self.expr()}]", "sorted((3, 1))", known))
        self.say(f"{name} = {text}")
        self.set(name)
        self.lists.append(name)

    def unpack(self):
        one, other = self.random.sample(NAMES, 2)
        self.say(f"{one}, {other} = {self.expr()}, {self.expr()}")
        self.set(one)
        self.set(other)

    def add(self):
        names = [it for it in self.vars if it not in self.lists and it != "k"]
        if names:
            name = self.random.choice(names)
            self.say(f"{name} = [{name}, {self.expr()}]")

    def merge(self):
        name = self.name()
        self.say(f"{name} = {{'p': {self.expr()}, 'q': {self.expr()}}}")
        if self.random.random() < 0.5:
            self.say(f"{name} |= {{'p': {self.expr()}}}")
        self.say(f"jax.merged(**{name})")
        self.set(name)

    def if_(self):
        self.say(f"if {self.test()}:")
        self.inner()
        if self.random.random() < 0.5:
            self.say("else:")
            self.inner()

    def if_known(self):
        known = "k" in self.vars and self.sees
        self.say(f"if TABLE.get(k, 0) == {self.random.randrange(1, 3)}:" if known else "if TABLE['a'] == 1:")
        self.inner()
        self.say("else:")
        self.inner()

    def for_(self):
        name = self.name()
        self.say(f"for {name} in jax.items({self.random.randrange(3)}):")
        self.loop(name)

    def for_known(self):
        name = self.name()
        over = self.random.choice(("(1, 2)", "range(14)", f"[{self.expr()}, {self.expr()}]", "PAIRS"))
        self.say(f"for {name} in {over}:")
        self.loop(name)

    def loop(self, name):
        before = [*self.vars], [*self.functions], [*self.lists]
        self.set(name)
        self.loops += 1
        self.inner()
        self.loops -= 1
        self.vars, self.functions, self.lists = before

    def try_(self):
        self.say("try:")
        self.inner()
        if self.random.random() < 0.5:
            self.depth += 1
            self.say(f"jax.fail({self.random.choice(('ValueError', 'KeyError'))}, {self.expr()})")
            self.depth -= 1
        self.say("except ValueError as error:")
        self.depth += 1
        self.say("jax.caught(str(error))")
        self.depth -= 1
        self.inner()
        if self.random.random() < 0.3:
            self.say("else:")
            self.inner()
        if self.random.random() < 0.3:
            self.say("finally:")
            self.inner()

    def with_(self):
        name = self.name()
        self.say(f"with jax.context({self.expr()}) as {name}:")
        self.loop_free(name)

    def loop_free(self, name):
        before = [*self.vars], [*self.functions], [*self.lists]
        self.set(name)
        self.inner()
        self.vars, self.functions, self.lists = before

    def closure(self):
        name = self.random.choice(("f", "g"))
        kept = [*self.vars], [*self.functions], [*self.lists]
        parameter = self.name()
        self.set(parameter)
        if self.random.random() < 0.6:
            self.say(f"{name} = lambda {parameter}: {self.expr()}")
        else:
            self.say(f"def {name}({parameter}):")
            loops, self.loops = self.loops, 0
            sees, self.sees = self.sees, False
            own = self.random.choice(("p", "q"))
            self.depth += 1
            self.say(f"{own} = {self.expr()}")
            self.say(f"return jax.own({own}, {self.expr()})")
            self.depth -= 1
            self.loops, self.sees = loops, sees
        self.vars, self.functions, self.lists = kept
        self.functions.append(name)

    def leave(self):
        if self.loops and self.random.random() < 0.6:
            self.say(f"if {self.test()}:")
            self.say(f"    {self.random.choice(('break', 'continue'))}")
        elif self.sees:
            self.say(f"if {self.test()}:")
            self.say("    return")
        else:
            self.say(f"if {self.test()}:")
            self.say(f"    return {self.expr()}")

    def test(self):
        known = "n" if "n" in self.vars and self.sees else "True"
        number = f"jax.number({self.random.randrange(3)})"
        return self.random.choice((f"jax.yes({self.expr(2)})", f"jax.no({self.expr(2)})", number, known))

    def expr(self, deep=0):
        if deep > self.random.randrange(1, 4):
            return self.atom()
        more = [self.jax_call, self.jax_call, self.helper_call, self.helper_call, self.function_call, self.display]
        more += [self.conditional, self.bool_op, self.text, self.comprehension, self.pick_one, self.maker, self.handed]
        return self.atom() if self.random.random() < 0.25 else self.random.choice(more)(deep + 1)

    def atom(self):
        return self.random.choice(
            (str(self.random.randrange(4)), repr(self.random.choice("ab")), *[self.variable()] * 2)
        )

    def variable(self):
        return self.random.choice(self.vars) if self.vars else "7"

    def jax_call(self, deep):
        name = self.random.choice(("f", "g", "same", "number"))
        return f"jax.{name}({self.expr(deep)})"

    def helper_call(self, deep):
        if not self.helpers:
            return self.jax_call(deep)
        name, parameters = self.random.choice(self.helpers)
        given = [self.expr(deep) for _ in parameters]
        if self.random.random() < 0.3:
            pairs = [f"{key}={it}" for key, it in zip(parameters, given, strict=True)]
            self.random.shuffle(pairs)
            return f"{name}(jax, {', '.join(pairs)})"
        return f"{name}(jax, {', '.join(given)})"

    def function_call(self, deep):
        if not self.functions:
            return self.helper_call(deep)
        name = self.random.choice(self.functions)
        return self.random.choice((f"{name}({self.expr(deep)})", f"jax.apply({name}, {self.expr(deep)})"))

    def display(self, deep):
        parts = [self.expr(deep) for _ in range(self.random.randrange(1, 3))]
        return self.random.choice(("[{}]", "({},)", "jax.many(*[{}])", "len([{}])")).format(", ".join(parts))

    def conditional(self, deep):
        return f"({self.expr(deep)} if {self.test()} else {self.expr(deep)})"

    def bool_op(self, deep):
        return f"({self.expr(deep)} {self.random.choice(('and', 'or'))} {self.expr(deep)})"

    def text(self, deep):
        if deep > 1:
            return f'"{{}} {{}}".format({self.jax_call(deep)}, {self.variable()})'
        return f"f'{{jax.f({self.variable()})}} {{{self.variable()}!r}}'"

    def comprehension(self, deep):
        name = self.name()
        over = self.random.choice(("(1, 2)", "jax.items(2)", "PAIRS", f"[{self.expr(deep)}, {self.expr(deep)}]"))
        before = [*self.vars], [*self.functions], [*self.lists]
        self.set(name)
        value = self.expr(deep)
        self.vars, self.functions, self.lists = before
        form = self.random.choice(("[{} for {} in {}]", "tuple({} for {} in {})", "any({} for {} in {})"))
        return form.format(value, name, over)

    def pick_one(self, deep):
        return self.random.choice(
            (
                f"[{self.expr(deep)}, {self.expr(deep)}][{self.random.randrange(2)}]",
                f"{{'p': {self.expr(deep)}, 'q': {self.expr(deep)}}}['p']",
                f"jax.both({self.expr(deep)}, k={self.expr(deep)})",
            )
        )

    def maker(self, deep):
        return f"MAKERS[{self.random.choice(('plain', 'twice'))!r}](jax, {self.expr(deep)})"

    def handed(self, deep):
        name = self.name()
        before = [*self.vars], [*self.functions], [*self.lists]
        self.set(name)
        value = self.expr(deep)
        self.vars, self.functions, self.lists = before
        return f"jax.apply(lambda {name}: {value}, {self.expr(deep)})"
