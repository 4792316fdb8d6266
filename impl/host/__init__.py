"""The host process, its protocol, and the pool that starts, feeds and replaces hosts.

Everything here needs the standard library only; a host adds the subject that it holds.
"""

from .facts import Configuration, Hello, Incident, Outcome, Request
from .foreground import foreground
from .pool import Pool

__all__ = ["Configuration", "Hello", "Incident", "Outcome", "Pool", "Request", "foreground"]
