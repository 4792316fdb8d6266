"""A subject without JAX, for what concerns processes only: how hosts are fed, blamed, ended and replaced."""

import os
import signal
import time

from impl.host.see import See


def environment(target: str) -> dict[str, str]:
    return {"TOY_DEVICES": target.rpartition(":")[2]}


FAULT = os.environ.get("TOY_FAULT")


def load() -> None:
    if FAULT == "no jax":
        raise ModuleNotFoundError("No module named 'jax'", name="jax")
    if FAULT == "load hangs":
        time.sleep(1e6)
    if FAULT == "template dies":
        os.kill(os.getpid(), signal.SIGILL)


def start(target: str, partitioner: str) -> "Toy":
    if FAULT == "no devices":
        raise RuntimeError("Unable to initialize backend")
    if FAULT == "host dies":
        print("the driver is not there", flush=True)
        os.kill(os.getpid(), signal.SIGILL)
    if FAULT == "dead switch":
        partitioner = "gspmd"
    if FAULT == "fewer devices":
        return Toy(1, partitioner)
    return Toy(int(os.environ["TOY_DEVICES"]), partitioner)


class Toy:
    jax = None

    def __init__(self, devices: int, partitioner: str) -> None:
        self.devices, self.partitioner = devices, partitioner

    def hello(self) -> dict[str, object]:
        return {
            "versions": {"jax": "1.0", "python": "3"},
            "devices": [{"id": i, "platform": "toy"} for i in range(self.devices)],
            "memory_kinds": [],
            "capabilities": ["executes"],
            "partitioner": self.partitioner,
        }

    def see(self, note) -> See:
        return See(note)

    def settle(self) -> None:
        pass

    def cost(self) -> dict[str, int]:
        return {}
