"""The pool: starts hosts, feeds them, replaces them, and blames deaths on the request that caused them.

One thread, one selector; it works while the judge waits for an outcome. Blame follows one path, whatever happened:

1. `end` was read: the outcome stands. Never begun: sent again to the next host.
2. Begun and unfinished (the suspect): run again alone in a fresh process. If it dies again, it is the one.
3. Otherwise every request that the host had answered is replayed alone, newest first, in a process that lingers before
   it leaves. The newest that dies is the one, even if its outcome was taken long ago; if none dies, it is an incident.
"""

from __future__ import annotations

import math
import selectors
import shutil
import tempfile
import time
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from .facts import Configuration, Hello, Incident, Outcome, Request
from .launch import Forking, Launcher, launcher, told, words
from .talk import Attempt, Talk

STUCK = 1.0  # seconds in one probe after which another host goes on with what is queued
WINDOW = 32  # requests on their way to one host
BACKLOG = 2_000  # requests sent ahead of being taken, per configuration
TRIALS = 4  # replays of one death at a time
START = 120.0  # seconds a host has to say hello
STACKS = 2.0  # seconds a silent host has to show its stacks
LEAVE = 10.0  # seconds a host has to leave
DIE = 5.0  # seconds a killed host has to be reported dead
STILLBORN = 2  # fresh hosts in a row that may die at once where others have worked
TICK = 0.05  # seconds between looks at the clock


@dataclass
class Ending:
    """Why the pool ends a host itself, and until when it is polite about it."""

    kind: Literal["hung", "fault", "unwanted"]
    text: str | None
    until: float


@dataclass
class Death:
    """A host's death whose cause is sought among the requests that it answered, newest first."""

    how: str
    stderr: str
    life: list[Attempt]
    tried: list[Outcome | bool | None] = field(default_factory=list)  # None while it runs, False if it survived
    over: bool = False


@dataclass
class Trial:
    """A request that runs alone in a host of its own; without an index it is the suspect."""

    attempt: Attempt
    fresh: Attempt
    death: Death
    index: int | None


class Lane:
    """One configuration: its queue and its hosts."""

    def __init__(self, configuration: Configuration, launcher: Launcher) -> None:
        self.configuration, self.launcher = configuration, launcher
        self.queue: deque[Attempt] = deque()
        self.workers: list[Talk] = []
        self.trials: dict[Talk, Trial] = {}
        self.hello: Hello | None = None
        self.problem: str | None = None
        self.ahead = 0  # requests sent and not yet taken
        self.launched = 0  # workers so far
        self.worked = False  # whether a host of it ever began a request
        self.stillborn = 0  # fresh hosts in a row that died before they did
        self.leaving = False  # nothing more is wanted of it

    @property
    def talks(self) -> list[Talk]:
        return [*self.workers, *self.trials]


class Pool:
    """Observations on request.

    `probes` is the package that holds the probes, `hosts` a number per configuration, `cell_timeout` in seconds from a
    probe's begin; a request may set a lower one. `fork=None` forks where the system can.
    """

    def __init__(
        self,
        *,
        probes: str = "conformance.probes",
        hosts: int = 1,
        cell_timeout: float = 30.0,
        fork: bool | None = None,
    ) -> None:
        self.probes, self.hosts, self.cell_timeout, self.fork = probes, hosts, cell_timeout, fork
        self.folder = Path(tempfile.mkdtemp(prefix="shardspec-"))
        self.selector = selectors.DefaultSelector()
        self.launchers: dict[tuple[str, str, str], Launcher] = {}
        self.lanes: dict[Configuration, Lane] = {}
        self.attempts: dict[Request, Attempt] = {}
        self.endings: dict[Talk, Ending] = {}
        self.blamed: list[tuple[Request, Outcome]] = []
        self.unblamed: list[Incident] = []
        self.reruns = 0
        self.forgotten = 0  # observations of configurations that were let go
        self.listened = time.monotonic()

    # What the judge asks.

    def start(self, configurations: Iterable[Configuration]) -> None:
        """Starts configurations side by side, without waiting for them."""
        for configuration in configurations:
            self._lane(configuration)

    def open(self, configuration: Configuration) -> Hello:
        """The configuration's hello; its `problem` says why it cannot be judged."""
        lane = self._lane(configuration)
        while lane.hello is None:
            self._pump()
        return lane.hello

    def want(self, requests: Iterable[Request]) -> None:
        """Queues requests, in this order, to be sent ahead of being taken, and sends what the hosts are ready for."""
        for request in requests:
            if request not in self.attempts:
                self.attempts[request] = attempt = Attempt(request)
                self._lane(request.configuration).queue.append(attempt)
        self._pump(0)

    def take(self, request: Request) -> Outcome:
        """Waits for a request's outcome."""
        self.want([request])
        attempt, lane = self.attempts[request], self._lane(request.configuration)
        while attempt.outcome is None:
            self._pump()
        attempt.taken = True
        if attempt.ahead:
            attempt.ahead = False
            lane.ahead -= 1
        return attempt.outcome

    def late(self) -> list[tuple[Request, Outcome]]:
        """Outcomes that changed after they were taken, each told once."""
        blamed, self.blamed = self.blamed, []
        return blamed

    def incidents(self) -> list[Incident]:
        """Deaths that no request could be blamed for."""
        return self.unblamed

    def counts(self) -> dict[str, int]:
        """Observations begun, reruns (suspects and replays) apart, and hosts that replaced another."""
        return {
            "observations": self.forgotten + sum(attempt.number > 0 for attempt in self.attempts.values()),
            "reruns": self.reruns,
            "restarts": sum(lane.launched - self.hosts for lane in self.lanes.values()),
        }

    def leave(self, configuration: Configuration) -> None:
        """Lets go of a configuration of which nothing more will be asked; its outcomes are forgotten."""
        self._leave(self._lane(configuration))
        mine = [request for request in self.attempts if request.configuration == configuration]
        self.forgotten += sum(self.attempts.pop(request).number > 0 for request in mine)

    def close(self) -> None:
        """Lets the hosts linger and leave, settles what their deaths mean, and ends everything."""
        for lane in self.lanes.values():
            self._leave(lane)
        while any(lane.talks for lane in self.lanes.values()):
            self._pump()
        self.kill()

    def kill(self) -> None:
        """Ends everything at once."""
        for started in self.launchers.values():
            started.close()
        self.selector.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    # Lanes and their hosts.

    def _lane(self, configuration: Configuration) -> Lane:
        if configuration not in self.lanes:
            key = (configuration.name, configuration.python, configuration.target)
            if key not in self.launchers:
                folder = self.folder / str(len(self.launchers))
                folder.mkdir()
                self.launchers[key] = started = launcher(*key, self.probes, folder, self.fork)
                if isinstance(started, Forking) and started.problem is None:
                    self.selector.register(started.control, selectors.EVENT_READ)
            self.lanes[configuration] = lane = Lane(configuration, self.launchers[key])
            self._tend(lane)
        return self.lanes[configuration]

    def _leave(self, lane: Lane) -> None:
        lane.leaving = True
        lane.queue.clear()
        for talk in lane.workers:
            if talk.sent or talk.hello is None:  # nobody waits for what it would answer
                self._end(talk, "unwanted")
            elif not talk.closed:
                talk.close()

    def _launch(self, lane: Lane) -> Talk:
        asked = lane.configuration
        talk = Talk(asked, lane.launcher.launch(asked.partitioner, asked.argument))
        self.selector.register(talk.child.channel, selectors.EVENT_READ, talk)
        return talk

    def _pump(self, timeout: float = TICK) -> None:
        pause = time.monotonic() - self.listened
        if pause > 1:  # limits count only while the judge listens
            for lane in self.lanes.values():
                for talk in lane.talks:
                    talk.since += pause
        for key, _ in self.selector.select(timeout):
            if isinstance(key.data, Talk):
                self._listen(key.data)
        self.listened = time.monotonic()
        for started in self.launchers.values():
            started.poll()
        for lane in self.lanes.values():
            self._tend(lane)

    def _listen(self, talk: Talk) -> None:
        deaf = talk.deaf
        talk.receive()
        if talk.deaf and not deaf:
            self.selector.unregister(talk.child.channel)

    def _tend(self, lane: Lane) -> None:
        """Looks after one lane: the dead, the silent, the missing, the queue."""
        for talk in lane.talks:
            if talk.child.status is not None:
                self._listen(talk)
                self._gone(lane, talk)
            else:
                self._watch(lane, talk)
        for talk in lane.workers:
            if talk.hello is not None:
                lane.hello = lane.hello or talk.hello
                if talk.hello.problem:
                    self._fail(lane, talk.hello)
        if lane.launcher.problem:
            self._fail(lane, Hello(problem=lane.launcher.problem, stderr=lane.launcher.stderr))
        if lane.problem is not None:
            while lane.queue:
                lane.queue.popleft().outcome = Outcome("not_run", reason=lane.problem)
        elif not lane.leaving:
            while len(lane.workers) < self.hosts or self._stuck(lane):
                lane.workers.append(self._launch(lane))
                lane.launched += 1
            for talk in lane.workers:
                self._feed(lane, talk)

    def _stuck(self, lane: Lane) -> bool:
        """Whether what is queued waits for hosts that may be hung: as many again go on with it meanwhile."""
        before = time.monotonic() - STUCK
        return (
            bool(lane.queue)
            and len(lane.workers) < 2 * self.hosts
            and all(talk.current is not None and talk.since < before for talk in lane.workers)
        )

    def _feed(self, lane: Lane, talk: Talk) -> None:
        if talk.hello is None or talk.deaf or talk in self.endings:
            return
        while lane.queue and len(talk.sent) < WINDOW and lane.ahead < BACKLOG:
            attempt = lane.queue.popleft()
            attempt.ahead = True
            lane.ahead += 1
            talk.send(attempt)

    def _fail(self, lane: Lane, hello: Hello) -> None:
        """The environment's fault: nothing of this lane can be judged any more."""
        if lane.problem is None:
            lane.problem = hello.problem
            lane.hello = lane.hello or hello
            for talk in lane.talks:
                self._end(talk, "unwanted")

    # Hosts that end.

    def _watch(self, lane: Lane, talk: Talk) -> None:
        now = time.monotonic()
        silent = now - talk.since
        if (ending := self.endings.get(talk)) is not None:
            if now >= ending.until:
                if ending.kind == "hung" and ending.text is None:
                    ending.text = f"no stacks: {talk.child.state()}"
                talk.child.kill()
            if now >= ending.until + DIE:
                lane.launcher.give_up(f"{lane.launcher.python}: its template does not answer")
        elif talk.fault is not None:
            self._end(talk, "fault", talk.fault)
        elif talk.eof:
            if silent > STACKS:
                self._end(talk, "fault", "the host closed its channel")
        elif talk.hello is None:
            if silent > START:
                what = f"{lane.launcher.python} said no hello within {START:.0f} s"
                if talk.child.pid is None:
                    lane.launcher.give_up(what)
                else:
                    self._end(talk, "fault", what)
        elif talk.sent:
            limit = talk.current.request.limit if talk.current is not None else math.inf
            if silent > min(self.cell_timeout, limit):
                self._end(talk, "hung")
        elif talk.closed and silent > LEAVE:
            self._end(talk, "hung")

    def _end(self, talk: Talk, kind: Literal["hung", "fault", "unwanted"], text: str | None = None) -> None:
        if talk in self.endings:
            return
        hung = kind == "hung"
        self.endings[talk] = Ending(kind, text, time.monotonic() + (STACKS if hung else 0))
        if hung:
            talk.child.abort()
        else:
            talk.child.kill()

    def _gone(self, lane: Lane, talk: Talk) -> None:
        """Sorts out a host whose death waitpid told."""
        if not talk.deaf:
            self.selector.unregister(talk.child.channel)
        if talk.begun():
            lane.worked, lane.stillborn = True, 0
        ending = self.endings.pop(talk, None)
        trial = lane.trials.pop(talk, None)
        if trial is not None:
            self._tried(lane, talk, trial, ending)
        else:
            lane.workers.remove(talk)
            self._lost(lane, talk, ending)
        lane.launcher.forget(talk.child)

    def _lost(self, lane: Lane, talk: Talk, ending: Ending | None) -> None:
        """A worker is gone: what it owed goes to the next one, and its end is explained."""
        for attempt in reversed(talk.unbegun()):
            attempt.ahead = False
            lane.ahead -= 1
            lane.queue.appendleft(attempt)
        current = talk.current
        if ending is None and talk.left and current is None:
            return
        if (ending is not None and ending.kind == "unwanted") or lane.launcher.problem:
            if current is not None:
                lane.queue.appendleft(current)
        elif not talk.begun():
            self._stillborn(lane, talk, ending)
        elif ending is not None:
            if current is not None:
                current.outcome = self._ended(talk, current, ending)
            else:
                what = ending.text or "the host fell silent after it had answered"
                self._incident(lane, what, talk.life[-1:], talk.child.said())
        else:
            death = Death(words(talk.child.status), talk.child.said(), talk.life[::-1])
            if current is not None:
                self._try(lane, current, death, None)
            else:
                self._replay(lane, death)

    def _stillborn(self, lane: Lane, talk: Talk, ending: Ending | None) -> None:
        """A host did not get as far as its first request: the environment's fault, unless it was once."""
        lane.stillborn += 1
        if talk.hello is not None and talk.hello.problem:
            self._fail(lane, talk.hello)
        elif not lane.worked or lane.stillborn > STILLBORN:
            stderr = talk.child.said()
            died = f"a fresh host died at once ({words(talk.child.status)})"
            what = ending.text if ending is not None and ending.text else died
            self._fail(lane, Hello(problem=told(what, stderr), stderr=stderr))

    def _ended(self, talk: Talk, attempt: Attempt, ending: Ending) -> Outcome:
        """The outcome of a request whose host the pool had to end."""
        status: Literal["hung", "error"] = "hung" if ending.kind == "hung" else "error"
        return attempt.partial(status, reason=ending.text, stderr=talk.child.said(attempt.stderr))

    def _incident(self, lane: Lane, what: str, attempts: list[Attempt], stderr: str) -> None:
        requests = tuple(attempt.request for attempt in attempts)
        self.unblamed.append(Incident(lane.configuration, what, requests, stderr))

    # Blame.

    def _try(self, lane: Lane, attempt: Attempt, death: Death, index: int | None) -> None:
        fresh = Attempt(attempt.request)
        fresh.number = attempt.number
        talk = self._launch(lane)
        lane.trials[talk] = Trial(attempt, fresh, death, index)
        talk.send(fresh)
        talk.close()

    def _tried(self, lane: Lane, talk: Talk, trial: Trial, ending: Ending | None) -> None:
        suspect = trial.index is None
        self.reruns += talk.begun()
        if not talk.begun() and lane.problem is None and lane.launcher.problem is None:
            self._stillborn(lane, talk, ending)
            if lane.problem is None:
                self._try(lane, trial.attempt, trial.death, trial.index)
                return
        if (ending is not None and ending.kind == "unwanted") or lane.problem or lane.launcher.problem:
            if suspect:
                trial.attempt.outcome = Outcome("not_run", reason=lane.problem or lane.launcher.problem)
            return
        fresh = trial.fresh
        survived = ending is None and talk.left and fresh.outcome is not None
        if survived:
            outcome = fresh.outcome
        elif ending is not None and fresh.outcome is None:
            outcome = self._ended(talk, fresh, ending)
        else:
            stderr = talk.child.said(fresh.stderr)
            signal, exit = talk.death()
            whole = fresh.outcome or fresh.partial("crashed")
            outcome = replace(
                whole, status="crashed", signal=signal, exit=exit, late=fresh.outcome is not None, stderr=stderr
            )
        if suspect:
            trial.attempt.outcome = outcome
            trial.attempt.number = fresh.number
            if survived:
                self._replay(lane, trial.death)
        else:
            crashed = outcome is not None and outcome.status == "crashed"
            trial.death.tried[trial.index or 0] = outcome if crashed else False
            self._replay(lane, trial.death)

    def _replay(self, lane: Lane, death: Death) -> None:
        """Goes on with a search, newest first; several replays run at a time, the newest that dies is blamed."""
        if death.over:
            return
        for attempt, result in zip(death.life, death.tried, strict=False):
            if result is None:
                break
            if isinstance(result, Outcome):
                death.over = True
                if attempt.taken:
                    self.blamed.append((attempt.request, result))
                attempt.outcome = result
                return
        else:
            if len(death.tried) == len(death.life):
                death.over = True
                what = (
                    f"a host died ({death.how}) and none of the {len(death.life)} requests it had answered dies alone"
                )
                self._incident(lane, what, death.life[::-1], death.stderr)
                return
        while death.tried.count(None) < TRIALS and len(death.tried) < len(death.life):
            death.tried.append(None)
            index = len(death.tried) - 1
            self._try(lane, death.life[index], death, index)
