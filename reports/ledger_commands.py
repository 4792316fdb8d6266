"""``python -m reports ledger COMMAND``: what is done with ledgers on the command line."""

from __future__ import annotations

import argparse
import fnmatch
import glob
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from reports import ledgers
from reports.ledgers import FOLDER, Ledger, LedgerError
from reports.text import plural, visible, wrap
from reports.words import Configuration

_ABOUT = """\
The ledgers: small text files under version control that sum up a version x target x partitioner each.

  python -m reports ledger show                         versions across, chapters and rules that do not hold down
  python -m reports ledger show --named 'PUT-1*'        the same, with rows for these rules alone
  python -m reports ledger show --rule PUT-17           one rule: what does not hold, from which version to which
  python -m reports ledger diff 0.5.3 0.6.2             what started to hold, what stopped, what deviates otherwise
  python -m reports ledger check RECORD                 a run against the ledgers of what it judged (exit 1: differs)
  python -m reports ledger write RECORD                 makes the ledgers of a whole run
  python -m reports ledger table 'LABEL = RULE[CASES]'  a Markdown table, versions across
  python -m reports ledger pages README.md              makes what these pages quote from ledgers anew
  python -m reports ledger validate                     the form of every ledger
"""
_ROW = """\
Each ROW is LABEL = RULE, LABEL = RULE[PATTERN] or LABEL = RULE[PATTERN !PATTERN]: WORD. Patterns choose cases of the
rule, those with a ! leave some out; WORD is said where the rule holds (default: holds, or which of its legal outcomes
were seen). Where it does not, a place has what was seen instead: crash, hang, the field and its value. "a / b" means
that some cases do this and some that; - that none is judged there.
"""


def add(commands: Any, raw: type[argparse.HelpFormatter]) -> None:
    """Adds ``ledger`` and its commands to the command line."""
    ledger = commands.add_parser(
        "ledger", help="the ledgers under version control", description=_ABOUT, formatter_class=raw
    )
    inner = ledger.add_subparsers(metavar="COMMAND", required=True)

    def command(name: str, does: Any, about: str, more: str = "") -> argparse.ArgumentParser:
        it: argparse.ArgumentParser = inner.add_parser(
            name, help=about, description=f"{about[0].upper()}{about[1:]}.\n\n{more}", formatter_class=raw
        )
        it.add_argument("--ledgers", metavar="DIR", type=Path, default=FOLDER, help="where they are (reports/ledger)")
        it.set_defaults(command=does)
        return it

    show = command("show", _show, "versions across, chapters and the rules that do not hold everywhere down")
    show.add_argument("--rule", metavar="GLOB", action="append", help="these rules in detail instead; repeatable")
    show.add_argument("--named", metavar="GLOB", nargs="+", help="rows for these rules alone, with what they say")
    table = command("table", _table, "a Markdown table, versions across", _ROW)
    table.add_argument("rows", metavar="ROW", nargs="+", help="LABEL = RULE[PATTERN]: WORD")
    table.add_argument("--spans", action="store_true", help="versions beside each other that say the same are one")
    table.add_argument("--say", metavar="WORD=OTHER", action="append", default=[], help="another word; repeatable")
    for it in (show, table):
        it.add_argument("--only", metavar="GLOB", default="*", help="ledgers of these names, such as 'stock-*-cpu8-*'")

    diff = command("diff", _diff, "what changed from one version's ledgers to another's")
    for side in ("old", "new"):
        diff.add_argument(side, metavar=side.upper(), help="a version, a ledger's name or pattern, or its file")

    check = command(
        "check",
        _check,
        "a run against the ledgers of what it judged",
        "Exit status: 0 as the ledgers say, or not compared, which is said: the version has none, the run is a\n"
        "selection, or JAX_* variables or XLA_FLAGS were set; 1 something differs, a ledger is gone, or not in its\n"
        "form; 2 the record or a ledger cannot be read, or the record is partial.",
    )
    check.add_argument("record", metavar="RECORD", type=Path)

    write = command(
        "write", _write, "makes the ledgers of a run", "Exit status: 0 all written; 1 some refused; 2 none."
    )
    write.add_argument("record", metavar="RECORD", type=Path)
    write.add_argument("--red", action="store_true", help="of a run that was not as expected, too")

    validate = command("validate", _validate, "the form of ledgers; exit 1 where one is not as it should be")
    validate.add_argument("files", metavar="FILE", type=Path, nargs="*", help="default: all of them")

    pages = command("pages", _pages, "makes what pages quote from ledgers anew")
    pages.add_argument("pages", metavar="FILE", type=Path, nargs="+")
    pages.add_argument("--check", action="store_true", help="change nothing; exit 1 where a page is out of date")


def _show(options: argparse.Namespace) -> int:
    from reports import rules, versions

    found = _only(options)
    if not found:
        print(f"No ledgers {'yet' if options.only == '*' else 'of that name'}.")
    elif options.rule:
        print(versions.details(found, _rules(found, options.rule), rules.contract().rules))
    else:
        named = _rules(found, options.named) if options.named else []
        print(versions.matrix(found, named, rules.contract().rules))
    return 0


def _table(options: argparse.Namespace) -> int:
    from reports import tables

    rows = [tables.row(spelled) for spelled in options.rows]
    found = _only(options)
    if len({(ledger.subject, ledger.target) for ledger in found}) > 1:
        raise LedgerError("these are ledgers of several subjects or targets; choose one with --only")
    say = dict(it.partition("=")[::2] for it in options.say)
    print(tables.table(found, rows, options.spans, say) if found else "No ledgers yet.")
    return 0


def _diff(options: argparse.Namespace) -> int:
    from reports import drift, rules
    from reports.diff import paired

    old, new = _named(options.old, options.ledgers), _named(options.new, options.ledgers)
    of_new = {ledger.configuration: ledger for ledger in new}
    of_old = {ledger.configuration: ledger for ledger in old}
    pairs = [(of_old[a], of_new[b]) for a, b in paired(list(of_old), list(of_new)).items()]
    if not pairs:
        raise LedgerError(f"{options.old} and {options.new} have no ledgers that can be paired")
    told = drift.text(pairs, [_shared(*pair) for pair in pairs], rules.contract().rules)
    print(told or "Nothing differs.")
    return 0


def _shared(old: Ledger, new: Ledger) -> dict[str, Sequence[str]]:
    """The suite's cases of each rule, where both ledgers are of these."""
    from reports import rules

    cases = rules.cases(old.version) | rules.cases(new.version)
    fits = {
        rule: [ids for it in (old, new) if rule in it.rule and it.rule[rule].total != len(ids)]
        for rule, ids in cases.items()
    }
    return {rule: ids for rule, ids in cases.items() if not fits[rule]}


def _check(options: argparse.Namespace) -> int:
    from reports import drift, rules, summed
    from reports.load import load

    run = load(options.record)
    others = {"of a selection": run.selected, f"of a run with {run.flags} set": bool(run.flags)}
    if (why := " and ".join(what for what, so in others.items() if so)) and not run.partial:
        print(visible(f"{options.record}: {why}, so not compared with the ledgers."))
        return 0
    summed.whole(run)
    contract = rules.contract()
    pairs: list[tuple[Ledger, Ledger]] = []
    cases: list[dict[str, Sequence[str]]] = []
    faults: list[str] = []
    without = dict.fromkeys(it.configuration.subject for it in run.configurations if not it.configuration.has_ledger)
    if without:
        told = f"No ledgers of {', '.join(without)} are kept: the run itself says whether it conforms."
        print("\n".join(wrap(visible(told), hang=2)))
    for judged in run.configurations:
        if not judged.configuration.has_ledger:
            continue
        path = options.ledgers / ledgers.file(judged.configuration)
        name = visible(judged.configuration.name)
        if path.exists():
            pairs.append((ledgers.read(path), summed.ledger(run, judged, contract)))
            cases.append(summed.cases(run, judged))
            faults += ledgers.problems(path)
        elif there := _partitioners(path, judged.configuration):
            faults.append(f"{name}: its ledger is gone; that of {' and '.join(there)} is there")
        else:
            print(f"{name}: no ledger of it is committed, so not compared.")
    if not pairs and not faults:
        return 0
    told = "\n\n".join(filter(None, [drift.text(pairs, cases, contract.rules), "\n".join(map(visible, faults))]))
    same = f"{plural(len(pairs), 'ledger')} compared: "
    if told:
        print(f"Not as the ledgers say:\n\n{told}\n")
        meant = f"If that is meant: python -m reports ledger write {options.record}, and commit what it changes."
        print("\n".join([f"{same}not the same.", *wrap(visible(meant), hang=2)]))
        return 1
    print(f"{same}the same.")
    return 0


def _partitioners(path: Path, configuration: Configuration) -> list[str]:
    """The other partitioners that have a ledger beside this one."""
    start = path.name.removesuffix(f"{configuration.partitioner}.toml")
    return sorted(it.stem.removeprefix(start) for it in path.parent.glob(f"{glob.escape(start)}*.toml"))


def _write(options: argparse.Namespace) -> int:
    from reports import rules, summed
    from reports.load import load

    told = list(summed.write(load(options.record), options.ledgers, rules.contract(), options.red))
    for name, how, _ in told:
        print(visible(f"{name}: {how}"))
    return 0 if all(written for *_, written in told) else 1


def _validate(options: argparse.Namespace) -> int:
    from reports import rules

    if not options.files and not options.ledgers.is_dir():
        raise LedgerError(f"{visible(str(options.ledgers))}: there is no such folder")
    files = options.files or sorted(options.ledgers.glob("*"))
    found = []
    for path in files:
        try:
            version = ledgers.read(path).version
        except LedgerError as error:
            found.append(str(error))
        else:
            found += ledgers.problems(path, rules.cases(version))
    print("\n".join([*map(visible, found), f"{plural(len(files), 'ledger')}, {plural(len(found), 'problem')}."]))
    return 1 if found else 0


def _pages(options: argparse.Namespace) -> int:
    from reports.__main__ import main
    from reports.pages import renewed

    def quoted(arguments: Sequence[str]) -> int:
        """A command of a page, of these ledgers unless it names others."""
        return main([*arguments[:2], "--ledgers", str(options.ledgers), *arguments[2:]])

    stale = 0
    for path in options.pages:
        before, after = renewed(path, quoted)
        said = "up to date" if before == after else "out of date" if options.check else "renewed"
        stale += said == "out of date"
        if said == "renewed":
            path.write_text(after, "utf-8")
        print(f"{visible(str(path))}: {said}")
    return 1 if stale else 0


def _only(options: argparse.Namespace) -> list[Ledger]:
    found = ledgers.stored(options.ledgers)
    return [ledger for ledger in found if fnmatch.fnmatchcase(ledger.configuration.name, options.only)]


def _rules(found: Sequence[Ledger], globs: Sequence[str]) -> list[str]:
    known = sorted({rule for ledger in found for rule in ledger.rule})
    wanted = [rule for rule in known if any(fnmatch.fnmatchcase(rule, glob) for glob in globs)]
    if not wanted:
        raise LedgerError(f"no rule in these ledgers matches {', '.join(globs)}")
    return wanted


def _named(name: str, folder: Path) -> list[Ledger]:
    """The ledgers that a version, a name or a file means."""
    if name.endswith(".toml"):
        return [ledgers.read(Path(name))]
    there = ledgers.stored(folder)
    found = [it for it in there if it.version == name or fnmatch.fnmatchcase(it.configuration.name, name)]
    if not found:
        versions = ", ".join(dict.fromkeys(ledger.version for ledger in there)) or "none"
        raise LedgerError(f"no ledger of {visible(name)}; there are those of {visible(versions)}")
    return found
