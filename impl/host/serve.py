"""The host: holds one subject, runs the probes it is asked for, and says what was observed."""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import importlib
import os
import sys
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

from . import messages
from .facts import home
from .see import NotDataError

LINGER = 0.2  # seconds a host waits before it leaves, for a crash that is still on its way
PROJECT = str(Path(__file__).resolve().parents[2]) + os.sep
OUR_MISTAKES = (NameError, AttributeError, TypeError, LookupError, ImportError, AssertionError, SyntaxError)


class Subject:
    """A subject's module, imported as far as a template may: no backend is started."""

    def __init__(self, name: str, target: str) -> None:
        self.name, self.target = name, target
        self.problem: str | None = None
        try:
            self.module: ModuleType = importlib.import_module(home(name) or name)
            os.environ.update(self.module.environment(target))
            self.module.load()
        except ModuleNotFoundError as error:
            self.problem = self._missing(error)
        except Exception as error:
            self.problem = f"subject {name} cannot be loaded: {_line(error)}"

    def _missing(self, error: ModuleNotFoundError) -> str:
        if error.name in ("jax", "jaxlib"):
            return f"JAX is not there: {sys.executable} has no {error.name}; install jax there, or name another Python"
        return f"subject {self.name} cannot be loaded by {sys.executable}: {error}; name a module on its path"


def serve(subject: Subject, partitioner: str, argument: str | None, probes: str, channel: int) -> NoReturn:
    """Says hello, answers requests until the channel ends, lingers, and ends the process, whatever happens."""
    status = 1
    try:
        _tidy()
        host = Host(subject, partitioner, argument, probes, channel)
        if host.hello():
            for request in host.requests():
                host.attempt(request)
        time.sleep(LINGER)
        status = messages.LEFT
    except BaseException:
        traceback.print_exc()
    finally:
        _flush()
        os._exit(status)


class Host:
    def __init__(self, subject: Subject, partitioner: str, argument: str | None, probes: str, channel: int) -> None:
        self.module, self.probes, self.channel = subject, probes, channel
        self.name = subject.name if argument is None else f"{subject.name}:{argument}"
        self.asked = (partitioner,) if argument is None else (partitioner, argument)
        self.pid = os.getpid()
        self.rooms = (str(Path(__file__).parent), *getattr(importlib.import_module(probes), "__path__", ()))
        # A process that a probe forks holds no end of the channel.
        os.register_at_fork(after_in_child=lambda: os.close(channel))

    def hello(self) -> bool:
        facts: dict[str, Any] = {
            "versions": {},
            "devices": [],
            "memory_kinds": [],
            "capabilities": [],
            "partitioner": None,
        }
        problem = self.module.problem
        if problem is None:
            try:
                self.subject = self.module.module.start(self.module.target, *self.asked)
                facts.update(self.subject.hello())
            except Exception as error:
                traceback.print_exc()
                what = "no devices" if isinstance(error, RuntimeError) else f"subject {self.name} does not start"
                problem = f"{what}: {_line(error)}"
        self.send("hello", protocol=messages.VERSION, problem=problem, **facts)
        _collect()
        return problem is None

    def requests(self) -> Iterator[dict[str, Any]]:
        lines = messages.Lines()
        with contextlib.suppress(ConnectionError):
            while data := os.read(self.channel, 1 << 16):
                yield from lines.feed(data)

    def send(self, kind: str, **content: Any) -> None:
        rest = memoryview(messages.encode(kind, **content))
        try:
            while rest:
                rest = rest[os.write(self.channel, rest) :]
        except ConnectionError:  # the judge is gone
            os._exit(1)

    def only(self) -> None:
        """Ends a process that the probe forked: the request is not its to answer."""
        if os.getpid() != self.pid:
            os.write(2, b"shardspec: a process that the probe forked came back to the host; it ends here\n")
            os._exit(0)

    def attempt(self, request: dict[str, Any]) -> None:
        """Runs one probe. `end` is written only when nothing of it is left: locals, asynchronous work, garbage."""
        id = request["id"]
        self.send("begin", id=id, stderr=_written())
        start = time.perf_counter()
        end = self.run(id, request["probe"], request["case"])
        self.only()
        cost: dict[str, int] = {}
        try:
            self.subject.settle()
            cost = self.subject.cost()
        except BaseException as error:
            end["raised"] = end["raised"] or _raised(error, "settle")
        seconds = time.perf_counter() - start
        _collect()
        _flush()
        self.send("end", id=id, stderr=_written(), cost=cost, seconds=seconds, **end)

    def run(self, id: int, probe: str, case: dict[str, Any]) -> dict[str, Any]:
        end: dict[str, Any] = {"raised": None, "error": None}

        def note(**content: Any) -> None:
            self.only()
            try:
                self.send("note", id=id, **content)
            except (ValueError, TypeError) as error:
                raise NotDataError(f"not plain data, or too much of it: {error}") from None

        see = self.subject.see(note)
        try:
            observation = self.function(probe)(self.subject.jax, see, **case)
            if observation:
                see(**observation)
        except BaseException as error:
            if self.ours(error):
                end["error"] = f"{_line(error)} at {_place(error)}"
            else:
                end["raised"] = _raised(error, see.touch)
            traceback.clear_frames(error.__traceback__)
        return end

    def ours(self, error: BaseException) -> bool:
        """Whether an exception is the suite's own fault: a slip whose innermost frame is a probe's or the host's."""
        if isinstance(error, NotDataError):
            return True
        *_, (frame, _) = traceback.walk_tb(error.__traceback__)
        return isinstance(error, OUR_MISTAKES) and frame.f_code.co_filename.startswith(self.rooms)

    def function(self, probe: str) -> Any:
        module, _, name = probe.rpartition(".")
        return getattr(importlib.import_module(f"{self.probes}.{module}"), name)


def _tidy() -> None:
    """Makes the process ready to die: stacks on a fatal signal, no core dumps."""
    faulthandler.enable()
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _collect() -> None:
    """Collects garbage. What is left is the subject's own, such as its caches, and is never walked again."""
    gc.collect()
    gc.freeze()


def _raised(error: BaseException, step: str | None) -> dict[str, Any]:
    return {"class": type(error).__name__[:200], "message": _message(error), "at": step}


def _message(error: BaseException) -> str:
    try:
        return str(error)[:4000]
    except BaseException as worse:  # an exception may be as broken as its subject
        return f"(its message cannot be had: {type(worse).__name__[:200]})"


def _line(error: BaseException) -> str:
    """The exception as one line."""
    name, text = type(error).__name__[:200], " ".join(_message(error).split())[:300]
    return f"{name}: {text}" if text else name


def _place(error: BaseException) -> str:
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{last.filename.removeprefix(PROJECT)}:{last.lineno}"


def _written() -> int:
    """How many bytes the host's stderr holds so far; 0 where it is no file."""
    return os.fstat(2).st_size


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
