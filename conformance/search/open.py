"""What the contract leaves open: steps of which nobody can say what they do, so that programs go without them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .lying import cut_alike, devices, wanted
from .walk import Act, Held


@dataclass(frozen=True)
class Open:
    """Steps that programs go without, and the rule that speaks of them, "" where there is none so far."""

    name: str
    rule: str
    why: str
    meets: Callable[[Act], bool]


def _uses_open(act: Act) -> bool:
    return act.step["do"] != "delete" and any(it.open for it in act.inputs)


def one_fate(act: Act) -> bool:
    """A donated array that is there again, or that may share its memory with another one of the call."""
    fates = [it.fate for it in act.inputs]
    return any(sum(it.fate is fate for fate in fates) > 1 for it in act.donates)


def runs(act: Act) -> bool:
    """Whether a step runs a program."""
    return act.step["do"] in ("call", "capture", "compiled", "eager")


def _kinds(act: Act) -> bool:
    named = [act.step.get("where"), act.step.get("out"), *(act.step.get("in") or ()), *act.step.get("built", ())]
    kinds = [it.lies["kind"] for it in act.inputs] + [wanted(it)["kind"] for it in named if it]
    return runs(act) and any(kind != "device" for kind in kinds)


def _cut_anew(act: Act) -> bool:
    return any(
        it.lies["committed"]
        and devices(it.lies) == devices(wanted(at))
        and not (it.exact and cut_alike(it.lies, wanted(at)))
        for it, at in zip(act.inputs, act.step.get("in") or (), strict=False)
    )


def _entered(act: Act) -> bool:
    how, mesh = act.step.get("under") or ("", "")
    uncommitted = not any(it.lies["committed"] for it in act.inputs)
    return bool(how) and (uncommitted or (how == "with" and any(_elsewhere(it, mesh) for it in act.inputs)))


def _elsewhere(x: Held, place: str) -> bool:
    return devices(x.lies) != devices(wanted(place))


def _unknown_cut(act: Act) -> bool:
    return act.step["do"] == "compiled" and any(it.lies["committed"] and not it.exact for it in act.inputs)


def _layout(act: Act) -> bool:
    return act.step["do"] == "compiled" and any(it.lies["layout"] != [0, 1] for it in act.inputs)


def _captured(act: Act) -> bool:
    if act.step["do"] != "capture":
        return False
    first, captured = act.inputs
    return not all(it.lies["committed"] for it in act.inputs) or devices(first.lies) != devices(captured.lies)


def _put_inside(act: Act) -> bool:
    if not runs(act) or act.step.get("f") not in ("put", "copy", "gradient"):
        return False
    there = devices(wanted(act.step["where"]))
    return any(not it.lies["committed"] or devices(it.lies) != there for it in act.inputs) or bool(act.step["in"])


OPEN = (
    Open("fates", "PUT-10", "uses an array whose fate may be that of one that ended", _uses_open),
    Open("twice-there", "PUT-53", "donates an array that is there twice, or what may share its memory", one_fate),
    Open("other-kinds", "", "runs a program on other kinds of memory than the device's own", _kinds),
    Open("anew", "DEV-22", "in_shardings cut a committed argument otherwise, or nobody says how it is cut", _cut_anew),
    Open("contexts", "DEV-34", "a mesh context with arrays on other devices, or uncommitted ones alone", _entered),
    Open("uncut", "DEV-42", "a compiled object meets an argument of which nobody says how it is cut", _unknown_cut),
    Open("captured", "DEV-57", "a function captures an array that lies elsewhere, or is committed nowhere", _captured),
    Open("layouts", "", "a compiled object meets an argument in another layout than it was compiled for", _layout),
    Open("inside", "", "a program puts its argument to other devices", _put_inside),
)
