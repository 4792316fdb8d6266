"""A whole run of the judge as a program: pytest with the arguments given, then what that took, to a file."""

import json
import sys
import time
from pathlib import Path


def peak_memory() -> int:
    """The peak memory of this process alone, in bytes.

    Linux's getrusage starts a process at its parent's peak, whatever it executes; its status starts with the program.
    """
    status = Path("/proc/self/status")
    if status.exists():
        (peak,) = (line.split()[1] for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
        return int(peak) * 1024
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # bytes where there is no /proc


if __name__ == "__main__":
    import pytest

    file, *arguments = sys.argv[1:]
    status = pytest.main(arguments)
    Path(file).write_text(json.dumps({"peak_memory": peak_memory(), "cpu_seconds": time.process_time()}))
    sys.exit(status)
