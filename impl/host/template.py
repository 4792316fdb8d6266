"""The template: a process that has imported the subject, started no backend, and forks hosts on request.

It speaks JSON packets over a Unix socket. `{"fork": n, "partitioner": p, "argument": a}`, with two descriptors
(channel, stderr), asks for a host and is answered `{"forked": n, "pid": p}`; `{"exited": n, "status": s}` tells what
waitpid said. When the judge's end closes, every host goes, and so does the template.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import json
import os
import pkgutil
import select
import signal
import socket
import sys
from pathlib import Path

from .serve import Subject, serve

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36


def prctl(option: int, value: int) -> None:
    """Linux's prctl; does nothing elsewhere."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def detach(stderr: int | None) -> None:
    """Takes the terminal from a process: what a subject prints goes to stderr, an interrupt ends it like any signal."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    if stderr is not None:
        os.dup2(stderr, 2)
        os.close(stderr)
    os.dup2(2, 1)


class Template:
    def __init__(self, subject: Subject, probes: str, control: socket.socket) -> None:
        self.subject, self.probes, self.control = subject, probes, control
        self.hosts: dict[int, int] = {}  # pid -> number
        self.own = children()  # what the subject itself started

    def run(self) -> None:
        load(self.probes)
        gc.collect()
        gc.freeze()  # once here, not in every host: half of what a host takes to start
        prctl(PR_SET_CHILD_SUBREAPER, 1)  # what a host leaves behind becomes ours to end
        woken, wake = os.pipe()
        for end in (woken, wake):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(wake)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        try:
            while True:
                ready = select.select([self.control.fileno(), woken], [], [])[0]
                if woken in ready:
                    os.read(woken, 1 << 10)
                    self.reap()
                if self.control.fileno() in ready and not self.obey((woken, wake)):
                    return
        except (BrokenPipeError, ConnectionError):
            return
        finally:
            for pid in self.hosts:
                end_group(pid)
            self.hosts.clear()
            self.own.clear()
            self.end_orphans()

    def obey(self, close: tuple[int, int]) -> bool:
        packet, descriptors, *_ = socket.recv_fds(self.control, 1 << 12, 2)
        if not packet:
            return False
        message = json.loads(packet)
        channel, stderr = descriptors
        parent = os.getpid()
        pid = os.fork()
        if pid == 0:
            try:
                self.become_host(parent, close, stderr)
                serve(self.subject, message["partitioner"], message["argument"], self.probes, channel)
            finally:
                os._exit(1)  # never back into the template's own loop
        with contextlib.suppress(OSError):
            os.setpgid(pid, pid)
        os.close(channel)
        os.close(stderr)
        self.hosts[pid] = message["fork"]
        self.tell(forked=message["fork"], pid=pid)
        return True

    def become_host(self, parent: int, close: tuple[int, int], stderr: int) -> None:
        os.setpgid(0, 0)
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for descriptor in close:
            os.close(descriptor)
        self.control.close()
        detach(stderr)

    def reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            number = self.hosts.pop(pid, None)
            if number is not None:
                end_group(pid)
                self.end_orphans()
                self.tell(exited=number, status=os.waitstatus_to_exitcode(status))

    def end_orphans(self) -> None:
        """Ends processes that left a host's group and became ours when their parent died, and so do their children."""
        for _ in range(1000):
            strays = children() - self.own - set(self.hosts)
            if not strays:
                return
            for stray in strays:
                with contextlib.suppress(OSError):
                    os.kill(stray, signal.SIGKILL)
                    os.waitpid(stray, 0)

    def tell(self, **message: int) -> None:
        self.control.send(json.dumps(message).encode())


def load(probes: str) -> None:
    """Imports the probes: once here, not in every host. What cannot be imported, the host that needs it tells."""
    with contextlib.suppress(Exception):
        for module in pkgutil.iter_modules(importlib.import_module(probes).__path__, f"{probes}."):
            with contextlib.suppress(Exception):
                importlib.import_module(module.name)


def end_group(pid: int) -> None:
    """Ends a host's process group, whoever is left in it."""
    with contextlib.suppress(OSError):
        os.killpg(pid, signal.SIGKILL)


def children() -> set[int]:
    """This process's children, as far as the system tells (Linux does)."""
    try:
        return set(map(int, Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()))
    except OSError:
        return set()
