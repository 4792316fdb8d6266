"""DEV's probe of another platform, on a real second one: a plugin in this Python or one of SHARDSPEC_PYTHONS.

The suite's own targets have one platform, so DEV-54 to DEV-56 are `unsupported` there. Nothing but this test runs the
probe: a plugin for CPUs stands in for an accelerator.
"""

import sys
import warnings

import pytest

from tests.test_stock_versions import OTHERS, PARTITIONERS, VARIABLE, told

PLUGIN = "lammps-jax-pjrt-cpu"


@pytest.mark.parametrize("partitioner", PARTITIONERS)
def test_arrays_of_another_platform_are_refused_and_the_probe_sees_it(partitioner):
    pythons = (sys.executable, *OTHERS)
    seen = list(filter(None, (told(python, partitioner, "tests.platforms_there") for python in pythons)))
    if not seen:
        reason = f"DEV-54 to DEV-56 are tried nowhere: no Python here or in {VARIABLE} has {PLUGIN}"
        warnings.warn(reason, stacklevel=1)
        pytest.skip(reason)
    for it in seen:
        assert "platforms" in it["capabilities"]
        assert it["seen"] == dict.fromkeys(("called", "called_turned", "jit", "jit_turned"), REFUSED)


REFUSED = {"refused": "ValueError", "named": True, "shown": "neither", "compiled": 0, "inputs": "untouched"}
"""Two platforms that are both called CPU look alike in every message: what DEV-55 forbids."""
