"""One request on the user's own terminal: breakpoints, prints and Ctrl-C reach the probe.

There is no time limit. A probe that is stuck ends, with its stacks, at the third Ctrl-C.
"""

from __future__ import annotations

import itertools
import select
import signal
import tempfile
from pathlib import Path

from .facts import Configuration, Hello, Outcome, Request
from .launch import Spawning
from .talk import Attempt, Talk


def foreground(
    configuration: Configuration, request: Request, *, probes: str = "conformance.probes"
) -> tuple[Hello, Outcome]:
    """Runs one request with no time limit, in a process that has this one's stdin, stdout and stderr."""
    before = signal.getsignal(signal.SIGINT)
    try:
        with tempfile.TemporaryDirectory(prefix="shardspec-") as folder:
            return _run(configuration, request, probes, Path(folder))
    finally:
        signal.signal(signal.SIGINT, before)


def _run(configuration: Configuration, request: Request, probes: str, folder: Path) -> tuple[Hello, Outcome]:
    start = Spawning(configuration.name, configuration.python, configuration.target, probes, folder, foreground=True)
    talk = Talk(configuration, start.launch(configuration.partitioner, configuration.argument))
    presses = itertools.count(1)  # the probe gets each; a handler, unlike being ignored, is not inherited
    signal.signal(signal.SIGINT, lambda *_: talk.child.abort() if next(presses) == 3 else None)
    attempt = Attempt(request)
    talk.send(attempt)
    talk.close()
    while talk.child.status is None:
        if not talk.deaf:
            select.select([talk.child.channel], [], [], 0.1)
            talk.receive()
        start.poll()
    talk.receive()
    start.forget(talk.child)
    hello = talk.hello or Hello(problem=start.problem or "the host died before it said hello")
    if hello.problem or not talk.begun():
        return hello, Outcome("not_run", reason=hello.problem)
    if talk.fault is not None:
        return hello, attempt.partial("error", reason=talk.fault)
    if attempt.outcome is not None and talk.left:
        return hello, attempt.outcome
    died, status = talk.death()
    return hello, attempt.partial("crashed", signal=died, exit=status, late=attempt.outcome is not None)
