"""What DEV's probe sees where a plugin is a second platform: `python -m tests.platforms_there PARTITIONER`.

The plugin is a complete one from the package index, beside the JAX that it was built for. Without it: `null`.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from pathlib import Path
from typing import Any

from impl import stock

PLUGIN, LIBRARY = "lammps_jax_pjrt_cpu", "pjrt_c_api_cpu_plugin.so"


def told(library: Path, partitioner: str) -> dict[str, Any]:
    os.environ |= {"PJRT_NAMES_AND_LIBRARY_PATHS": f"thirdcpu:{library}", "JAX_PLATFORMS": "thirdcpu,cpu"}
    stock.load()
    from conformance.probes import dev

    subject = stock.start("the plugin's", partitioner)
    seen: dict[str, dict[str, Any]] = {}
    for form in (f"{form}{turn}" for form in dev.PLATFORMS for turn in ("", "_turned")):
        noted = seen[form] = {}
        dev.platforms(subject.jax, subject.see(lambda noted=noted, **it: noted.update(it.get("fields", {}))), form)
    return {"capabilities": subject.hello()["capabilities"], "seen": seen}


if __name__ == "__main__":
    found = importlib.util.find_spec(PLUGIN)
    library = Path(found.origin).with_name(LIBRARY) if found and found.origin else None
    print(json.dumps(told(library, sys.argv[1]) if library else None))
