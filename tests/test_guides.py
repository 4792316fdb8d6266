"""The guides show what commands print, and name commands and options that there are."""

from __future__ import annotations

import importlib.metadata
import itertools
import os
import re
import shlex
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from conformance.kit import rules

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
SHOWN_WITH = "0.10.2"
"""The JAX that printed what the guides show."""
here = pytest.mark.skipif(
    importlib.metadata.version("jax") != SHOWN_WITH, reason=f"the guides show what jax {SHOWN_WITH} prints"
)

FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
INLINE = re.compile(r"(?<!`)`([^`]+)`(?!`)")
ELIDED = "..."


def blocks(page: Path) -> list[tuple[str, str]]:
    """The fenced blocks of a page: kind and text."""
    return FENCED.findall(page.read_text("utf-8"))


def ran(command: list[str], cwd: Path) -> str:
    """What a command prints; in a child of its own, as its reader would run it."""
    kept = {name: it for name, it in os.environ.items() if not name.startswith(("JAX_", "XLA_"))}
    told = subprocess.run(
        command,
        cwd=cwd,
        env=kept | {"PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
        check=False,
    )
    return told.stdout


def shown(text: str, printed: str) -> str | None:
    """The first part of a shown text that was not printed, or was not in this order; parts stand between ``...``."""
    at = 0
    lines = "\n" + "\n".join(line.rstrip() for line in printed.splitlines()) + "\n"
    for part in re.split(rf"^{re.escape(ELIDED)}\n", text, flags=re.MULTILINE):
        if part.strip():
            found = lines.find("\n" + part, at)
            if found < 0:
                return part
            at = found + len(part)
    return None


@pytest.mark.parametrize(
    ("text", "missed"),
    [
        ("a\nb\n", None),
        ("a\n...\nc\n", None),
        ("...\nb\n...\n", None),
        ("a\nc\n", "a\nc\n"),
        ("c\n...\na\n", "a\n"),
        ("", None),
        ("b c\n", "b c\n"),
        ("b\n...\nb\n", "b\n"),
    ],
)
def test_what_is_shown_must_be_printed_in_this_order(text, missed):
    assert shown(text, "a\nb  \nc\n") == missed


def sessions() -> list[tuple[str, str]]:
    """The console blocks of all pages."""
    return [(page.name, text) for page in PAGES for kind, text in blocks(page) if kind == "console"]


@here
@pytest.mark.parametrize(("page", "text"), sessions())
def test_commands_print_what_the_guides_show(page, text, tmp_path):
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        python, *arguments = shlex.split(command)
        assert python == "python", f"{page}: {command}"
        printed = ran([sys.executable, *arguments], tmp_path)
        assert shown(output, printed) is None, f"{page}: {command} printed\n{printed}"


def programs() -> list[tuple[str, str, str]]:
    """Each Python block with the block of text beneath it."""
    found = []
    for page in PAGES:
        every = blocks(page)
        for (kind, program), (beneath, output) in itertools.pairwise(every):
            if (kind, beneath) == ("python", "text") and program.startswith("import "):
                found.append((page.name, program, output))
    return found


@here
@pytest.mark.parametrize(("page", "program", "output"), programs())
def test_programs_print_what_the_guides_show(page, program, output, tmp_path):
    (tmp_path / "program.py").write_text(program, "utf-8")
    assert ran([sys.executable, "program.py"], tmp_path) == output, page


def test_a_row_that_names_a_rule_is_of_that_rule():
    rows = [row for page in PAGES for row in re.findall(r"^.+ \(([A-Z]+-\d+)\) = ([A-Z]+-\d+)", page.read_text(), re.M)]
    assert len(rows) > 50
    assert all(said == judged for said, judged in rows), rows


def test_each_guide_shows_a_program_and_commands():
    """Without them the tests above would pass over nothing."""
    guides = {"did-my-donation-happen.md", "which-devices-may-meet.md"}
    assert {page for page, _, _ in programs()} == guides
    assert {page for page, text in sessions() if "python -m conformance repro " in text} >= guides


# --- commands that are named but not run ------------------------------------------------------------------------------


def commands() -> list[tuple[str, str]]:
    """Every command that a page has in a text, a table or a block."""
    found = []
    for page in PAGES:
        text = page.read_text("utf-8")
        inline = [" ".join(it.split()) for it in INLINE.findall(FENCED.sub("", text))]
        block = [
            line.partition(" #")[0].strip().removeprefix("$ ") for _, it in blocks(page) for line in it.splitlines()
        ]
        comments = [line.strip() for line in re.findall(r"<!-- (python .+?)(?: -->)?$", text, re.MULTILINE)]
        found += [
            (page.name, it) for it in (*inline, *block, *comments) if it.startswith(("python -m ", "make ", "tox "))
        ]
    return sorted(set(found))


@cache
def usage(*command: str) -> str:
    """What ``--help`` says; empty where there is no such command."""
    told = subprocess.run(
        [sys.executable, *command, "--help"], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )
    return told.stdout if told.returncode == 0 else ""


def named(command: str) -> tuple[list[str], list[str]]:
    """A command's module and subcommands, and the options that it is given."""
    _, module, *rest = words = shlex.split(command)[1:]
    nested = {"conformance": 1, "reports": 2 if rest[:1] == ["ledger"] else 1, "benchmarks": 1}.get(module, 0)
    options = [word.partition("=")[0] for word in rest if re.match(r"--?[a-z]", word)]
    return [*words[:2], *rest[:nested]], options


@pytest.mark.parametrize(("page", "command"), [it for it in commands() if it[1].startswith("python -m ")])
def test_each_command_and_option_that_is_named_exists(page, command):
    program, options = named(command)
    if any(not re.fullmatch(r"[-a-z]+", word) for word in program):
        return  # a placeholder: python -m reports ledger COMMAND
    said = usage(*program)
    assert said, f"{page}: there is no {' '.join(program)}"
    own = [option for option in options if program[1] != "benchmarks" or option in said]  # asv's own go through
    missing = [option for option in own if not re.search(rf"(?<![-\w]){re.escape(option)}(?![-\w])", said)]
    assert not missing, f"{page}: {' '.join(program)} has no {missing}"


def test_each_target_of_make_and_environment_of_tox_that_is_named_exists():
    makefile, tox = (ROOT / "Makefile").read_text(), (ROOT / "tox.ini").read_text()
    for page, command in commands():
        words = shlex.split(command)
        if words[0] == "make":
            assert re.search(rf"^{words[1]}:", makefile, re.MULTILINE), f"{page}: {command}"
        if words[0] == "tox":
            assert f"[testenv:{words[2]}]" in tox, f"{page}: {command}"


def test_commands_are_found_in_the_pages():
    found = {command for _, command in commands()}
    assert "make sweep" in found
    assert any(command.startswith("python -m conformance repros ") for command in found)
    assert any(command.startswith("python -m reports ledger table ") for command in found)
    assert len(found) > 30


def test_pages_link_to_pages_and_headings_that_exist():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text("utf-8")):
            if target.startswith(("http:", "https:")):
                continue
            path, _, heading = target.partition("#")
            there = (page.parent / path) if path else page
            assert there.exists(), f"{page.name}: {target}"
            titles = re.findall(r"^#+ (.+)$", there.read_text("utf-8"), re.MULTILINE) if heading else []
            slugs = {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}
            assert not heading or heading in slugs, f"{page.name}: {target}"


def test_the_readme_names_every_chapter():
    told = re.findall(r"^\| ([A-Z]{3}) \| (.*) \|$", PAGES[0].read_text("utf-8"), re.MULTILINE)
    chapters = rules.load(ROOT / "conformance" / "contract").chapters.values()
    assert {(id, text.replace("`", "")) for id, text in told} == {(it.chapter, it.title) for it in chapters}
