"""The host process, its protocol, and the pool that starts, feeds and replaces hosts.

Everything here needs the standard library only; a host adds the subject that it holds.
"""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - the subject's Python may be any
    raise SystemExit(f"Python {sys.version.split()[0]} is too old: a host needs 3.11 or newer")

from .facts import Configuration, Hello, Incident, Outcome, Request, home
from .foreground import foreground
from .pool import Pool

__all__ = ["Configuration", "Hello", "Incident", "Outcome", "Pool", "Request", "foreground", "home"]
