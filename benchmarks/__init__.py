"""What each guarantee costs: asv suites. docs/benchmarks.md says how to run them.

asv imports this before any suite, and a suite imports JAX: the devices and the threads have to be asked for here.
"""

import os
import sys
from pathlib import Path

# asv does not put the project on the path. What it measures is the commit that it checked out beside the environment
# it made, or, in an environment that existed, this working tree.
_made = os.environ.get("ASV_ENV_DIR")
sys.path.insert(0, str(Path(_made, "project") if _made else Path(__file__).parents[1]))

from impl.stock import environment  # noqa: E402

os.environ.update(environment("cpu:8"))
