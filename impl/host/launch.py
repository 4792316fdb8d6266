"""Starts hosts: forked from a template where the system can fork, spawned elsewhere."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TAIL = 16_000  # bytes of a host's stderr that a report holds


class Child:
    """A host process, as its launcher knows it.

    `status` is what waitpid said: negative for a signal, None while it lives.
    """

    def __init__(self, channel: socket.socket, stderr: Path) -> None:
        self.channel, self.stderr = channel, stderr
        self.pid: int | None = None
        self.status: int | None = None

    def abort(self) -> None:
        """Asks for the process's stacks; works while C code holds the interpreter lock."""
        if self.pid is not None and self.status is None:
            with contextlib.suppress(OSError):
                os.kill(self.pid, signal.SIGABRT)

    def kill(self) -> None:
        """Ends the process and its group."""
        if self.pid is not None and self.status is None:
            with contextlib.suppress(OSError):
                os.killpg(self.pid, signal.SIGKILL)

    def state(self) -> str:
        """Why a process that was asked for its stacks may have shown none."""
        try:
            letter = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return "it did not answer SIGABRT"
        return "the process is stopped" if letter in "Tt" else f"it did not answer SIGABRT (state {letter})"

    def said(self, start: int = 0, end: int | None = None) -> str:
        """The tail of what the process wrote to stderr between two offsets."""
        if end is not None and end <= start:
            return ""
        try:
            with self.stderr.open("rb") as file:
                end = end or file.seek(0, os.SEEK_END)
                file.seek(max(start, end - TAIL))
                return file.read(max(0, end - file.tell())).decode(errors="replace")
        except OSError as error:
            return f"(stderr cannot be read: {error})"


class Launcher(ABC):
    """Starts the hosts of one subject, Python and target, under any partitioner and with any argument."""

    def __init__(self, subject: str, python: str, target: str, probes: str, folder: Path) -> None:
        self.python, self.folder = python, folder
        self.arguments = [python, "-m", "impl.host", "--subject", subject, "--target", target, "--probes", probes]
        self.problem: str | None = None
        self.stderr = ""
        self.count = 0

    def launch(self, partitioner: str, argument: str | None) -> Child:
        """A new host; one that cannot be started is dead from the start, and `problem` says why."""
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        self.count += 1
        child = Child(ours, self.folder / f"host-{self.count}")
        with theirs:
            try:
                with child.stderr.open("ab") as stderr:
                    self.start(child, partitioner, argument, theirs.fileno(), stderr.fileno())
            except OSError as error:
                self.problem = self.problem or f"{self.python}: a host cannot be started: {error}"
        if self.problem is not None:
            child.status = -signal.SIGKILL
        return child

    @abstractmethod
    def start(self, child: Child, partitioner: str, argument: str | None, channel: int, stderr: int) -> None:
        """Starts the process behind `child`, which gets the two descriptors."""

    @abstractmethod
    def poll(self) -> None:
        """Learns of exits."""

    @abstractmethod
    def close(self) -> None:
        """Ends every host that is left."""

    @abstractmethod
    def give_up(self, problem: str) -> None:
        """Ends a launcher that starts no hosts."""

    def popen(
        self, more: Iterable[str], descriptor: int, stderr: int | None, session: bool = True
    ) -> subprocess.Popen[bytes]:
        path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
        return subprocess.Popen(
            [*self.arguments, *more],
            pass_fds=[descriptor],
            stdin=subprocess.DEVNULL if session else None,
            stdout=stderr,
            stderr=stderr,
            start_new_session=session,
            env={**os.environ, "PYTHONPATH": path},
        )

    def forget(self, child: Child) -> None:
        child.channel.close()
        with contextlib.suppress(OSError):
            child.stderr.unlink()


class Forking(Launcher):
    """Forks hosts from a template process that imported the subject once."""

    def __init__(self, subject: str, python: str, target: str, probes: str, folder: Path) -> None:
        super().__init__(subject, python, target, probes, folder)
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.forked: dict[int, Child] = {}
        log = folder / "template"
        with theirs, log.open("ab") as stderr:
            try:
                self.process = self.popen(["--control", str(theirs.fileno())], theirs.fileno(), stderr.fileno())
            except OSError as error:
                self.problem = f"cannot start {python}: {error.strerror}"
        self.log = Child(self.control, log)

    def start(self, child: Child, partitioner: str, argument: str | None, channel: int, stderr: int) -> None:
        self.forked[self.count] = child
        message = json.dumps({"fork": self.count, "partitioner": partitioner, "argument": argument}).encode()
        if self.problem is None:
            try:
                socket.send_fds(self.control, [message], [channel, stderr])
            except OSError:
                self.lost()

    def poll(self) -> None:
        while self.problem is None:
            try:
                packet = self.control.recv(1 << 12, socket.MSG_DONTWAIT)
            except BlockingIOError:
                return
            except OSError:
                packet = b""
            if not packet:
                self.lost()
                return
            message = json.loads(packet)
            if "forked" in message:
                self.forked[message["forked"]].pid = message["pid"]
            else:
                self.forked.pop(message["exited"]).status = message["status"]

    def give_up(self, problem: str) -> None:
        self.process.kill()
        self.lost(problem)

    def lost(self, problem: str | None = None) -> None:
        """The template is gone, and its hosts with it."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(5)
        self.stderr = self.log.said()
        what = problem or f"the template of {self.python} died ({words(self.process.returncode)})"
        self.problem = told(what, self.stderr)
        for child in self.forked.values():
            child.status = -signal.SIGKILL

    def close(self) -> None:
        self.control.close()
        if self.problem is None:
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


class Spawning(Launcher):
    """Starts every host as a process of its own: where there is no fork, or on the user's terminal."""

    def __init__(
        self, subject: str, python: str, target: str, probes: str, folder: Path, foreground: bool = False
    ) -> None:
        super().__init__(subject, python, target, probes, folder)
        self.foreground = foreground
        self.processes: dict[int, tuple[subprocess.Popen[bytes], Child]] = {}

    def start(self, child: Child, partitioner: str, argument: str | None, channel: int, stderr: int) -> None:
        more = ["--partitioner", partitioner, "--channel", str(channel)]
        more += ["--argument", argument] if argument is not None else []
        try:
            if self.foreground:
                process = self.popen([*more, "--foreground"], channel, None, session=False)
            else:
                process = self.popen(more, channel, stderr)
        except OSError as error:
            self.problem = f"cannot start {self.python}: {error.strerror}"
            return
        child.pid = process.pid
        self.processes[process.pid] = process, child

    def poll(self) -> None:
        for pid, (process, child) in list(self.processes.items()):
            if process.poll() is not None:
                if not self.foreground:
                    with contextlib.suppress(OSError):
                        os.killpg(pid, signal.SIGKILL)
                child.status = process.returncode
                del self.processes[pid]

    def close(self) -> None:
        for process, child in self.processes.values():
            child.kill()
            process.wait()

    def give_up(self, problem: str) -> None:
        self.problem = problem


def words(status: int | None) -> str:
    """What waitpid said, in words."""
    if status is None:
        return "still running"
    return signal.Signals(-status).name if status < 0 else f"exit {status}"


def told(what: str, stderr: str) -> str:
    """A problem as one line: what happened, and the last thing that the process said of it."""
    last = stderr.strip().rpartition("\n")[2]
    return f"{what}: {last}" if last else what


def launcher(subject: str, python: str, target: str, probes: str, folder: Path, fork: bool | None) -> Launcher:
    """The launcher for this system. macOS has fork, but not for processes that hold its frameworks."""
    can = hasattr(os, "fork") and sys.platform != "darwin"
    kind = Forking if (can if fork is None else fork) else Spawning
    return kind(subject, python, target, probes, folder)
