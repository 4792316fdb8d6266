"""A cell's reproducer: one file of plain JAX, in the spelling of the version that it is for."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import textwrap
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import impl
from conformance.kit.explain import fields
from conformance.kit.run import Result
from impl.host import Hello, Request

from .fold import Folded, fold
from .lift import Package
from .names import named
from .syntax import is_name, path_of, stored
from .tidy import needed, shortened, tidied, wrapped
from .values import UnfoldableError

STOCK, SHARED = (Path(impl.__path__[0]) / it for it in ("stock", "host/observers.py"))
WIDTH = 88
MESSAGE = 200  # characters of an exception's message
DEATHS = frozenset(("exit", "hung", "signal"))
"""What is observed of a process that did not come to its end."""

OWN = ("jax", "np", "json", "os", "sys", "seen", "note", "step", "legal", "ok")
"""Names that a script has for itself."""

HEAD = '''\
"""{headline}

{maker}

{facts}

{ending}
"""

{imports}

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count={devices}"

{jax}

jax.config.update("jax_use_shardy_partitioner", {shardy})

seen = {{}}


def note(**facts):
    """Says what is seen, as it is seen."""
    for name, value in facts.items():
        seen[name] = json.loads(json.dumps(value))
        print(f"{{name}} = {{json.dumps(value)}}", flush=True)


def step(name):
    """Says what comes next, as it may end the process."""
    print(f"# {{name}}", flush=True)
'''

TAIL = """
{test}
print("the rule holds" if ok else "{fails}", flush=True)
sys.exit(0 if ok else 1)
"""
FAILS = "the rule does not hold"

MAKER = "Made by shardspec, an executable contract of how JAX places arrays, for its rule {rule}."
DIES = "Exits with 0 where the rule holds; where it does not, {how}."
ENDINGS = {
    "signal": DIES.format(how="the process dies: {observed[signal]}"),
    "exit": DIES.format(how="the process ends before that, with {observed[exit]}"),
    "hung": DIES.format(how="it hangs after its last line"),
    "raised": "Exits with 0 where the rule holds, with 1 where it does not: {observed[raised][class]} leaves it.",
    "crashed": "Exits with 1 where the rule does not hold, or dies after that, with 0 where it does.",
    "hangs": "Exits with 1 where the rule does not hold, or hangs after that, with 0 where it does.",
    "value": "Exits with 1 where the rule does not hold, with 0 where it does.",
}
"""What a script says of its end, by what it shows."""

CAME_TO_ITS_END = {"survives": True, "raised": "nothing"}
"""What is seen where nothing ends a script before its end."""


def script(package: str, result: Result, short: bool) -> str:
    """The reproducer's text, as ruff lays it out."""
    return formatted(draft(package, result, short))


def draft(package: str, result: Result, short: bool) -> str:
    """The reproducer's text.

    `short`: the only facts looked at are those that the rule speaks of and those that a death left unseen, which may be
    too little to show the deviation.
    """
    look, rule, judged = result.cell.look, result.cell.rule, result.ruling.judged
    seen = result.outcome.fields if result.outcome else {}

    def kept(folded: Folded) -> set[str]:
        dies = not DEATHS.isdisjoint(judged.observed)  # what that left unseen may be what brings it
        return {it for it in _noted_in(folded) if it in rule.fields or (dies and it not in seen)}

    legal = list(judged.expected.values()) if rule.outcomes else [judged.expected]
    story = Story(
        f"{rule.id} {rule.level}: {rule.text}",
        MAKER.format(rule=rule.id),
        {
            "case": look.case.id,
            "on": f"jax {look.column.version}, {look.column.configuration.target}, "
            f"{look.column.configuration.partitioner}",
            "expected": " or ".join(map(fields, legal)),
            "observed": brief(judged.observed),
        },
        _ending(result),
        _test(legal, rule.fields),
    )
    return written(package, look.request, look.column.hello, story, kept if short else None)


@dataclass(frozen=True)
class Story:
    """What a script says of itself, and the statements that set `ok`, whether what it saw is as it should be."""

    headline: str
    maker: str
    facts: Mapping[str, str]
    ending: str
    test: str


def written(
    package: str, request: Request, hello: Hello, story: Story, kept: Callable[[Folded], Collection[str]] | None = None
) -> str:
    """The text of a script that does what a probe does for a request; it notes all facts, or those that are kept."""
    module, _, name = request.probe.partition(".")
    stock = Package(STOCK, SHARED)
    probe = getattr(import_module(f"{package}.probes.{module}"), name)
    folded = fold(probe, request.case, f"{package}.probes", stock.observers)
    body, functions = folded.body, folded.functions
    if kept is not None:
        body, functions = shortened(folded, kept(folded), stock.observers)
    functions = needed(functions, body)
    spelled = _Spelled(hello.spellings)
    functions, body = tidied(functions, body)
    statements = [_Telling().visit(spelled.visit(it)) for it in (*functions, *body)]
    used = {it.id for part in statements for it in ast.walk(part) if isinstance(it, ast.Name)}
    imports, lifted = stock.lift(used & stock.observers.keys(), spelled.adapters)
    imports |= {it for it in folded.imports if _brings(it) & used}
    taken = {it.name for it in lifted if isinstance(it, ast.ClassDef)} | stored(lifted) | spelled.adapters
    statements = named(statements, {*OWN, *taken}.union(*map(_brings, imports)))
    lifted, statements = wrapped(lifted, WIDTH), wrapped(statements, WIDTH)
    imports |= {"import json", "import os", "import sys"}
    with_jax = {it for it in imports if it.split()[1].partition(".")[0] == "jax"} | {"import jax"} | spelled.imports
    if any("np." in ast.unparse(it) for it in (*statements, *lifted)):
        with_jax.add("import numpy as np")
    head = HEAD.format(
        headline=textwrap.fill(story.headline, WIDTH, initial_indent="   ").lstrip(),
        maker=textwrap.fill(story.maker, WIDTH),
        facts="\n".join(_labelled(label, text) for label, text in story.facts.items()).replace("\\", "\\\\"),
        ending=textwrap.fill(story.ending, WIDTH),
        imports="\n".join(
            sorted(
                (it for it in imports if it not in with_jax and it != "import numpy as np"),
                key=lambda it: (it.split()[0] == "from", it),
            )
        ),
        devices=request.configuration.devices,
        jax="\n".join(sorted(with_jax, key=lambda it: (it.split()[0] == "from", it))),
        shardy=request.configuration.partitioner == "shardy",
    )
    parts = [head, *map(ast.unparse, lifted), *map(ast.unparse, statements[: len(functions)]), ""]
    parts += map(ast.unparse, statements[len(functions) :])
    text = "\n".join([*parts, TAIL.format(test=story.test, fails=FAILS)])
    try:
        with warnings.catch_warnings(action="ignore"):  # a comparison of what is known
            compile(text, "<script>", "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise UnfoldableError(f"what is made of it is no Python: {error}") from None
    return text


def _ending(result: Result) -> str:
    """How the script ends."""
    observed, outcome = result.ruling.judged.observed, result.outcome
    kinds = [it for it in ("signal", "exit", "hung") if it in observed]
    if isinstance(observed.get("raised"), dict):
        kinds.append("raised")
    if outcome is not None and outcome.status in ("crashed", "hung"):
        kinds.append("crashed" if outcome.status == "crashed" else "hangs")
    return ENDINGS[[*kinds, "value"][0]].format(observed=observed)


def _test(legal: Sequence[Mapping[str, Any]], fields: Collection[str]) -> str:
    """What is seen at the end, and the test of all that was."""
    ends = [f"{name}={value!r}" for name, value in CAME_TO_ITS_END.items() if name in fields]
    note = f"note({', '.join(ends)})\n" if ends else ""
    if len(legal) == 1:
        tests = [f"seen.get({name!r}) {'is' if isinstance(it, bool) else '=='} {it!r}" for name, it in legal[0].items()]
        return f"{note}ok = {' and '.join(tests)}"
    any_ = "any(all(seen.get(name) == value for name, value in it.items()) for it in legal)"
    return f"{note}legal = {legal}\nok = {any_}"


def brief(observed: Mapping[str, Any]) -> str:
    """An observation on one line, of an exception's message its start."""
    raised = observed.get("raised")
    if isinstance(raised, dict) and (lines := str(raised.get("message")).splitlines()):
        start = lines[0][:MESSAGE]
        cut = start != raised["message"]
        observed = {**observed, "raised": {**raised, "message": start + " ..." * cut}}
    return fields(observed)


def formatted(text: str) -> str:
    """The script as ruff lays it out, without the parentheses that unparsing leaves."""
    for command in (("check", "--fix", "--quiet", "--select=UP034"), ("format", f"--line-length={WIDTH}")):
        arguments = [sys.executable, "-m", "ruff", *command, "--isolated", "-"]
        done = subprocess.run(arguments, input=text, capture_output=True, text=True, check=False)
        if done.returncode:
            raise UnfoldableError(f"ruff does not lay it out: {done.stderr.strip()}")
        text = done.stdout
    return text


def _labelled(label: str, text: str) -> str:
    return textwrap.fill(
        text,
        WIDTH,
        initial_indent=label.ljust(10),
        subsequent_indent=" " * 10,
        break_on_hyphens=False,
        break_long_words=False,
    )


class _Spelled(ast.NodeTransformer):
    """Spells the names of JAX as the version has them."""

    def __init__(self, spellings: Mapping[str, str]) -> None:
        self.spellings = spellings
        self.adapters: set[str] = set()
        self.imports: set[str] = set()

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        path = path_of(node)
        if path is None or not path.startswith("jax."):
            return self.generic_visit(node)
        name = path.removeprefix("jax.")
        if name in self.spellings:
            path = self.spellings[name]
        elif any(it.startswith(f"{name}.") for it in self.spellings) or name.rpartition(".")[0] in self.spellings:
            return self.generic_visit(node)
        if path.startswith("adapters."):
            self.adapters.add(path.removeprefix("adapters."))
            return ast.copy_location(ast.Name(path.removeprefix("adapters."), ast.Load()), node)
        if path.startswith(("jax.experimental.", "jax.export.")):
            parts = path.split(".")
            self.imports.add(f"import {'.'.join(parts[: 3 if parts[1] == 'experimental' else 2])}")
        return ast.copy_location(ast.parse(path, mode="eval").body, node)


class _Telling(ast.NodeTransformer):
    """Prints the message of each error that is caught, on one line."""

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.AST:
        self.generic_visit(node)
        if node.name:
            told = ast.parse("print(f'{type(error).__name__}: {str(error)!r}', flush=True)").body[0]
            for it in ast.walk(told):
                if is_name(it, "error"):
                    it.id = node.name
            node.body.insert(0, told)
        return node


def _brings(line: str) -> set[str]:
    """The names that an import sets."""
    return {(it.asname or it.name).partition(".")[0] for it in ast.walk(ast.parse(line)) if isinstance(it, ast.alias)}


def _noted_in(folded: Folded) -> set[str]:
    """All fields that a script may note."""
    calls = [it for part in (*folded.functions, *folded.body) for it in ast.walk(part) if isinstance(it, ast.Call)]
    return {key.arg for it in calls if is_name(it.func, "note") for key in it.keywords if key.arg}


def noted(lines: Iterable[str]) -> tuple[dict[str, object], str | None]:
    """What a script said that it saw, and the step that it announced last."""
    seen: dict[str, object] = {}
    touch: str | None = None
    for line in lines:
        name, equals, value = line.partition(" = ")
        if line.startswith("# "):
            touch = line[2:]
        elif equals and name.isidentifier():
            with suppress(ValueError):  # what JAX prints
                seen[name] = json.loads(value)
    return seen, touch
