"""The judge's end of one host's channel: what was sent, what began, what came back."""

from __future__ import annotations

import contextlib
import socket
import time
from collections import deque
from collections.abc import Mapping
from typing import Any

from . import messages
from .facts import Configuration, Hello, Outcome, Request
from .launch import Child, words


class Attempt:
    """A request on its way to an outcome. `number` counts the times it was begun."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.number = 0
        self.outcome: Outcome | None = None
        self.ahead = False  # sent to a worker and not yet taken
        self.taken = False
        self.fields: dict[str, Any] = {}
        self.touch: str | None = None
        self.stderr = 0

    def begin(self, stderr: int) -> None:
        self.number += 1
        self.fields, self.touch, self.stderr = {}, None, stderr

    def partial(self, status: Any, **facts: Any) -> Outcome:
        """An outcome made of what was noted so far."""
        return Outcome(status=status, fields=dict(self.fields), touch=self.touch, attempt=self.number, **facts)


class Talk:
    """A host in use: strictly first in, first out."""

    def __init__(self, configuration: Configuration, child: Child) -> None:
        self.configuration, self.child = configuration, child
        self.hello: Hello | None = None
        self.sent: deque[tuple[int, Attempt]] = deque()
        self.current: Attempt | None = None  # begun, not ended
        self.life: list[Attempt] = []  # ended here, oldest first
        self.fault: str | None = None  # the host broke the protocol
        self.closed = False  # nothing more is sent; the host will leave
        self.eof = False
        self.since = time.monotonic()  # from when its time limit counts
        self._lines = messages.Lines()
        self._out = b""
        self._ids = 0

    def send(self, attempt: Attempt) -> None:
        self._ids += 1
        if not self.sent:
            self.since = time.monotonic()
        self.sent.append((self._ids, attempt))
        request = attempt.request
        self._out += messages.encode("request", id=self._ids, probe=request.probe, case=dict(request.case))
        self.flush()

    def flush(self) -> None:
        try:
            while self._out:
                self._out = self._out[self.child.channel.send(self._out) :]
        except BlockingIOError:
            return
        except OSError:  # it is gone: waitpid will say how
            self._out = b""
        if self.closed:
            self._end()

    def close(self) -> None:
        """Lets the host leave once it has answered what was sent."""
        self.closed = True
        self.since = time.monotonic()
        self.flush()

    def _end(self) -> None:
        with contextlib.suppress(OSError):
            self.child.channel.shutdown(socket.SHUT_WR)

    def receive(self) -> None:
        """Reads all that is there."""
        while not self.eof and self.fault is None:
            try:
                data = self.child.channel.recv(1 << 16)
            except BlockingIOError:
                break
            except OSError:
                data = b""
            if not data:
                self.eof = True
                self.since = time.monotonic()
                break
            try:
                for message in self._lines.feed(data):
                    self._hear(message)
            except messages.ProtocolError as error:
                self.fault = f"the host broke the protocol: {error}"
        self.flush()

    def _hear(self, message: Mapping[str, Any]) -> None:
        kind = message["kind"]
        if kind != "note":
            self.since = time.monotonic()
        if kind == "hello" and self.hello is None:
            self.hello = self._smoke(message)
            return
        if kind in ("hello", "request") or not self.sent or self.sent[0][0] != message["id"]:
            raise messages.ProtocolError(f"{kind} came out of turn")
        attempt = self.sent[0][1]
        if (self.current is None) != (kind == "begin"):
            raise messages.ProtocolError(f"{kind} came out of turn")
        if kind == "begin":
            self.current = attempt
            attempt.begin(message["stderr"])
        elif kind == "note":
            attempt.fields.update(message.get("fields", {}))
            attempt.touch = message.get("step", attempt.touch)
        else:
            self.sent.popleft()
            self.current = None
            self.life.append(attempt)
            attempt.outcome = attempt.partial(
                "ended" if message["error"] is None else "error",
                raised=message["raised"],
                reason=message["error"],
                cost=message["cost"],
                seconds=message["seconds"],
                stderr=self.child.said(attempt.stderr, message["stderr"]),
            )

    def _smoke(self, message: Mapping[str, Any]) -> Hello:
        """Tells an environment that cannot be judged from a subject that deviates."""
        asked, has, ran = self.configuration, message["devices"], message["partitioner"]
        problem = message["problem"]
        if message["protocol"] != messages.VERSION:
            problem = f"the host speaks protocol {message['protocol']}, the judge {messages.VERSION}"
        elif problem is None and not has:
            problem = "no devices"
        elif problem is None and len(has) < asked.devices:
            problem = f"fewer devices than asked: {asked.target} needs {asked.devices}, the host has {len(has)}"
        elif problem is None and ran != asked.partitioner:
            problem = f"the partitioner that ran is {ran}, not {asked.partitioner}: the switch does nothing here"
        return Hello(
            versions=message["versions"],
            devices=tuple(has),
            memory_kinds=tuple(message["memory_kinds"]),
            capabilities=tuple(message["capabilities"]),
            partitioner=ran,
            spellings=message.get("spellings", {}),
            problem=problem,
            stderr=self.child.said() if problem else "",
        )

    @property
    def deaf(self) -> bool:
        """Whether nothing more can be heard from it."""
        return self.eof or self.fault is not None

    @property
    def left(self) -> bool:
        """Whether it ended in order, as it was asked to."""
        return self.closed and self.child.status == messages.LEFT

    def begun(self) -> bool:
        """Whether the host got as far as its first request."""
        return bool(self.life) or self.current is not None

    def unbegun(self) -> list[Attempt]:
        return [attempt for _, attempt in self.sent if attempt is not self.current]

    def death(self) -> tuple[str | None, int | None]:
        """The signal or the exit status that ended the process."""
        status = self.child.status
        return (words(status), None) if status is not None and status < 0 else (None, status)
