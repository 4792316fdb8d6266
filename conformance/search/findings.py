"""What is known of JAX: deviations from the contract that random programs would meet all the time.

A step that meets one is left out of programs, so that what is found is new. Each has a program that shows it, which a
test runs: a finding that no longer occurs is told.
"""

from __future__ import annotations

from dataclasses import dataclass

from packaging.specifiers import SpecifierSet

from conformance.probes import programs

from .lying import Lies, cut_alike, devices, keeps, pieces, wanted
from .open import Open, one_fate, runs
from .walk import Act, Held


@dataclass(frozen=True)
class Finding(Open):
    """A deviation of JAX: the rule that it breaks, the steps that meet it, and the versions that have it."""

    versions: str = ">=0.4.35"

    def holds(self, version: str) -> bool:
        """Whether JAX of that version has it."""
        return SpecifierSet(self.versions).contains(version, prereleases=True)


def _targets(act: Act) -> list[tuple[Held, str | None]]:
    """What a put that is not refused is given, and where it is put to."""
    if act.step["do"] not in ("put", "puts") or not act.done:
        return []
    places = act.step["at"] if act.step["do"] == "puts" else [act.step["at"]]
    return [*zip(act.inputs, places, strict=True)]


def _donated(act: Act) -> list[tuple[Held, str | None]]:
    """That which it donates."""
    return [(x, at) for x, at in _targets(act) if any(x is it for it in act.donates)]


def _reorders(x: Held, at: str) -> bool:
    here, there = devices(x.lies), devices(wanted(at))
    return sorted(here) == sorted(there) and here != there


def _not_donated(act: Act) -> bool:
    return any(
        at is None or not _reorders(x, at) or not x.exact or _sizes(x.lies) != _sizes(wanted(at))
        for x, at in _donated(act)
    )


def _sizes(lies: Lies) -> list[int]:
    """How large a shard is."""
    return [stop - start for start, stop in pieces(lies)[0]]


def _other_devices(act: Act) -> bool:
    """To as many other devices, given as a sharding."""
    return any(
        at is not None
        and not programs.PLACES[at].bare
        and len(devices(x.lies)) == len(devices(wanted(at)))
        and {*devices(x.lies)} != {*devices(wanted(at))}
        for x, at in _donated(act)
    )


def _put_twice(act: Act) -> bool:
    return act.step["do"] == "puts" and one_fate(act)


def _kinds(act: Act) -> bool:
    return any(at is not None and _reorders(x, at) and x.lies["kind"] != wanted(at)["kind"] for x, at in _targets(act))


def _in_part(act: Act) -> bool:
    return any(
        at is not None
        and (keeps(x.lies, wanted(at)) or not x.exact)
        and not (x.exact and cut_alike(x.lies, wanted(at)))
        and {*devices(x.lies)} & {*devices(wanted(at))}
        and not _reorders(x, at)  # which a program does
        for x, at in _targets(act)
    )


def _through_the_host(act: Act) -> bool:
    return any(
        at is not None
        and len(devices(x.lies)) > 1
        and len({*pieces(x.lies)}) == 1
        and not cut_alike(x.lies, wanted(at))
        and not _reorders(x, at)
        for x, at in _targets(act)
    )


def _moved(act: Act) -> bool:
    """in_shardings elsewhere that cut an argument as it is cut."""
    given = zip(act.inputs, act.step.get("in") or (), strict=False)
    return any(
        it.lies["committed"]
        and devices(it.lies) != devices(wanted(at))
        and (not it.exact or _same_cut(it.lies, wanted(at)))
        for it, at in given
    )


def _same_cut(one: Lies, other: Lies) -> bool:
    """Whether two shardings cut alike, on whatever devices: one and the same to the compiler."""
    return pieces(one) == pieces(other) or len({*pieces(one), *pieces(other)}) == 1


def _dropped(act: Act) -> bool:
    return runs(act) and act.step.get("f") in ("unused", "constant") and not act.step["keep"]


def _constant(act: Act) -> bool:
    return runs(act) and act.step.get("f") == "constant" and not act.step["keep"]


def _compiled_already(act: Act) -> bool:
    return runs(act) and any(it.ended or it.open for it in act.inputs)


def _loose(act: Act) -> bool:
    """A donated argument that is committed nowhere, which others or an inner sharding may cut, and out_shardings."""
    return (
        runs(act)
        and bool(act.step.get("out"))
        and (len(act.inputs) > 1 or bool(act.step.get("where")))
        and any(not it.lies["committed"] for it in act.donates)
    )


def _twice(act: Act) -> bool:
    return runs(act) and one_fate(act) and any(len(devices(it.lies)) > 1 for it in act.inputs)


def _shard_viewed(act: Act) -> bool:
    return any(bool(it.fate.views) and len(devices(it.lies)) > 1 for it in act.donates)


def _format(act: Act) -> bool:
    return any(
        at is not None and bool(programs.PLACES[at].order) and devices(x.lies) != devices(wanted(at))
        for x, at in _targets(act)
    )


def _meshes(act: Act) -> bool:
    """A program in which meshes of different sizes meet, where no out_shardings say what comes out."""
    if not runs(act) or act.step.get("out"):
        return False
    under = act.step.get("under") or ("", None)
    named = [act.step.get("where"), under[1], *(act.step.get("in") or ())]
    meshes = [it.lies for it in act.inputs] + [wanted(at) for at in named if at]
    return len({str([size for _, size in it["axes"]]) for it in meshes if it.get("axes")}) > 1


RUNTIME = ">=0.9.1,<0.11.1"
"""The versions whose runtime does not survive an error of its own on several devices."""

FINDINGS = (
    Finding(
        "not-donated",
        "PUT-11",
        "a donating put that does more, or less, than reorder devices does not donate",
        _not_donated,
    ),
    Finding("other-devices", "PUT-22", "a donating put to as many other devices leaves null pointers", _other_devices),
    Finding("put-twice", "PUT-53", "an array that is put twice and donated is lost, or ends the process", _put_twice),
    Finding("kinds", "PUT-06", "a put that reorders devices does not change the kind of memory", _kinds),
    Finding("format", "PUT-34", "a put to a format on other devices is refused", _format),
    Finding("in-part", "PUT-17", "shards that stay on their device are not copied, so arrays end in part", _in_part),
    Finding("through-the-host", "PUT-17", "a replica that is cut anew is cut out of a view of it", _through_the_host),
    Finding("constant", "DEV-21", "a result that takes no argument lies on the default device", _constant),
    Finding("moved", "DEV-03", "in_shardings elsewhere that cut an argument alike move it silently", _moved),
    Finding("unused", "DEV-09", "an argument that the program does not use is not checked", _dropped),
    Finding("compiled", "PUT-23", "a program found again reads a deleted argument", _compiled_already, RUNTIME),
    Finding(
        "meshes",
        "DEV-20",
        "what comes out is written in the mesh of some argument, which ends in an error where it has no such axes",
        _meshes,
        ">=0.9",
    ),
    Finding("loose", "DON-29", "donating what is committed nowhere may end in an internal error", _loose),
    Finding("twice", "DON-41", "an array that is donated and there again ends the process", _twice, RUNTIME),
    Finding("torn", "PUT-12", "a donation while a view of one shard is held ends the others", _shard_viewed),
)
