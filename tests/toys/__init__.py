"""A subject without JAX, for what concerns processes only: how hosts are fed, blamed, ended and replaced."""

import os
import signal
import subprocess
import time
from pathlib import Path

from impl.host.see import See


def environment(target: str) -> dict[str, str]:
    return {"TOY_DEVICES": target.rpartition(":")[2]}


FAULT = os.environ.get("TOY_FAULT")


def load() -> None:
    if FAULT == "no jax":
        raise ModuleNotFoundError("No module named 'jax'", name="jax")
    if FAULT == "load starts a program":
        subprocess.Popen(["sleep", "1000"])
    if FAULT == "load hangs":
        time.sleep(1e6)
    if FAULT == "template dies":
        os.kill(os.getpid(), signal.SIGILL)


def start(target: str, partitioner: str, *argument: str) -> "Toy":
    if FAULT == "no devices":
        raise RuntimeError("Unable to initialize backend")
    if FAULT == "host dies":
        print("the driver is not there", flush=True)
        os.kill(os.getpid(), signal.SIGILL)
    if FAULT == "dead switch":
        partitioner = "gspmd"
    if FAULT == "no driver":
        raise FileNotFoundError("libdriver.so")
    if FAULT == "dies once" and _second():
        os.kill(os.getpid(), signal.SIGILL)
    if FAULT == "fewer devices":
        return Toy(1, partitioner)
    return Toy(int(os.environ["TOY_DEVICES"]), partitioner, *argument)


def _second() -> bool:
    """Whether this is the second host of a run."""
    with Path(os.environ["TOY_FILE"]).open("ab", buffering=0) as file:
        file.write(b"host\n")  # appended in one go, whoever else is at it
        return file.tell() == 2 * len(b"host\n")


class Toy:
    jax = None

    def __init__(self, devices: int, partitioner: str, *argument: str) -> None:
        self.devices, self.partitioner, self.argument = devices, partitioner, argument

    def hello(self) -> dict[str, object]:
        return {
            "versions": {"jax": 1 if FAULT == "number for a version" else "1.0", "python": "3"},
            "devices": [{"id": i, "platform": "toy"} for i in range(self.devices)],
            "memory_kinds": [],
            "capabilities": ["executes", *self.argument],
            "partitioner": self.partitioner,
        }

    def see(self, note) -> See:
        return See(note)

    def settle(self) -> None:
        if FAULT == "settle leaves":
            raise SystemExit(3)

    def cost(self) -> dict[str, int]:
        if FAULT == "no cost":
            raise ValueError("nobody counted")
        return {}
