"""DEV's probe of another platform, on a real second one: a plugin in this Python or one of SHARDSPEC_PYTHONS.

The suite's own targets have one platform, so DEV-54 to DEV-56 are `unsupported` there. Nothing but this test runs the
probe: a plugin for CPUs stands in for an accelerator.
"""

import json
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from tests.test_stock_versions import OTHERS, PARTITIONERS, VARIABLE

ROOT = Path(__file__).parents[1]
PLUGIN = "lammps-jax-pjrt-cpu"


@pytest.mark.parametrize("partitioner", PARTITIONERS)
def test_arrays_of_another_platform_are_refused_and_the_probe_sees_it(partitioner):
    told = list(filter(None, (asked(python, partitioner) for python in (sys.executable, *OTHERS))))
    if not told:
        reason = f"DEV-54 to DEV-56 are tried nowhere: no Python here or in {VARIABLE} has {PLUGIN}"
        warnings.warn(reason, stacklevel=1)
        pytest.skip(reason)
    for it in told:
        assert "platforms" in it["capabilities"]
        assert it["seen"] == dict.fromkeys(("called", "called_turned", "jit", "jit_turned"), REFUSED)


REFUSED = {"refused": "ValueError", "named": True, "shown": "neither", "compiled": 0, "inputs": "untouched"}
"""Two platforms that are both called CPU look alike in every message: what DEV-55 forbids."""


def asked(python, partitioner):
    """What that Python's JAX does beside the plugin; None where there is no plugin."""
    done = subprocess.run(
        [python, "-W", "ignore", "-m", "tests.platforms_there", partitioner],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, f"{python} ended with {done.returncode}\n{done.stderr}"
    return json.loads(done.stdout)
