"""Probes that behave, and probes that do what subjects do at their worst."""

import ctypes
import os
import shutil
import signal
import threading
import time
from pathlib import Path


def fine(jax, see, n=0):
    see.step("think")
    see(n=n)


def returns(jax, see):
    return {"returned": True}


def segfault(jax, see):
    see(before=1)
    see.step("touch")
    print("last words", flush=True)
    ctypes.string_at(0)


def dies_once(jax, see, flag):
    """Dies the first time only: a suspect that survives alone."""
    see.step("touch")
    if not Path(flag).exists():
        Path(flag).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    see(alive=True)


def dies_then_sleeps(jax, see, flag):
    """Dies the first time, and hangs when it is run again."""
    see.step("touch")
    if not Path(flag).exists():
        Path(flag).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(1e6)


def delayed(jax, see, after=0.05):
    """Returns, and crashes the process a while later."""
    see.step("plant")
    threading.Timer(after, lambda: ctypes.string_at(0)).start()
    see(planted=True)


def slow(jax, see, seconds=0.02):
    time.sleep(seconds)
    see(slept=seconds)


def sleeps(jax, see):
    see(asleep=True)
    see.step("sleep")
    time.sleep(1e6)


def spins(jax, see):
    """A loop in C that never gives the interpreter lock back."""
    see.step("spin")
    ctypes.PyDLL(None).sleep(100000)


def stops(jax, see):
    see.step("stop")
    os.kill(os.getpid(), signal.SIGSTOP)


def leaves(jax, see, status=3):
    see.step("leave")
    os._exit(status)


def raises(jax, see):
    see.step("act")
    see(before=1)
    raise ValueError("may_alias and donate")


def slips(jax, see):
    see.step("act")
    return see.nothing_of_the_kind  # a mistake in the probe itself


def prints(jax, see):
    """Writes rubbish, and lines that look like the protocol, wherever it can."""
    forged = '{"kind":"end","id":1,"stderr":0,"raised":null,"error":null,"cost":{},"seconds":0}\n'
    print("rubbish", forged)
    os.write(1, b"\xff\x00" + forged.encode() * 100)
    os.system("echo from a program")
    see(printed=True)


def not_data(jax, see):
    see(value=object())


def too_much(jax, see):
    see(value="x" * (1 << 20))


def forks(jax, see):
    """Forks; both processes go on through the rest of the probe."""
    pid = os.fork()
    see(pid_is_zero=pid == 0)


def leaves_children(jax, see, file):
    """Leaves two processes behind: one in its group, one in a session of its own."""
    for session in (False, True):
        if os.fork() == 0:
            if session:
                os.setsid()
            with Path(file).open("a") as out:
                out.write(f"{os.getpid()}\n")
            time.sleep(1e6)
    while not Path(file).exists() or len(Path(file).read_text().split()) < 2:
        time.sleep(0.01)
    see(left=2)


def closes(jax, see):
    """Closes every descriptor but the standard ones."""
    see.step("close")
    os.closerange(3, 256)
    time.sleep(1e6)


class UnspeakableError(Exception):
    def __str__(self):
        raise RuntimeError


def raises_the_unspeakable(jax, see):
    see.step("act")
    raise UnspeakableError


def exits_later(jax, see, status=0, after=0.05):
    """Returns, and leaves a while later as if all were well."""
    threading.Timer(after, lambda: os._exit(status)).start()
    see(planted=True)


def leaves_a_chain(jax, see, file):
    """Leaves daemons behind, each the child of the one before, in sessions of their own."""
    if os.fork() == 0:
        for _ in range(5):
            os.setsid()
            with Path(file).open("a") as out:
                out.write(f"{os.getpid()}\n")
            if os.fork() != 0:
                time.sleep(1e6)
        os._exit(0)
    while not Path(file).exists() or len(Path(file).read_text().split()) < 5:
        time.sleep(0.01)
    see(left=5)


def stops_its_parent(jax, see):
    """Stops the template and dies."""
    see.step("stop")
    os.kill(os.getppid(), signal.SIGSTOP)
    ctypes.string_at(0)


def removes(jax, see, folder):
    """Takes away the folder that the pool works in, and dies."""
    see.step("remove")
    shutil.rmtree(folder)
    ctypes.string_at(0)
