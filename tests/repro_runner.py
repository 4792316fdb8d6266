"""Runs scripts one after the other, each in a fork of a process that has imported JAX and started nothing.

A script must find what it would find in a process of its own. Called as `python repro_runner.py LIMIT SCRIPT...`;
writes the output of each beside it, and its exit status, or "hung", as a line of stdout.
"""

import os
import signal
import sys
import time
from pathlib import Path


def main(limit, *paths):
    os.environ["JAX_PLATFORMS"] = "cpu"
    os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
    import jax  # noqa: F401

    for path in map(Path, paths):
        child = os.fork()
        if not child:
            out = os.open(path.with_suffix(".out"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(out, 1)
            os.dup2(out, 2)
            try:
                exec(compile(path.read_text(), str(path), "exec"), {"__name__": "__main__"})
            except SystemExit as end:
                sys.stdout.flush()
                os._exit(int(end.code or 0))
            except BaseException as error:
                print(f"\n{type(error).__name__}: {error}", flush=True)
                os._exit(1)
        until = time.monotonic() + float(limit)
        while not (ended := os.waitpid(child, os.WNOHANG))[0]:
            if time.monotonic() > until:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                break
            time.sleep(0.01)
        print(os.waitstatus_to_exitcode(ended[1]) if ended[0] else "hung", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
