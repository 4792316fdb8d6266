"""`python -m impl.host`: a template (with --control) or a single host (with --channel). Started by the pool."""

from __future__ import annotations

import argparse
import os
import signal
import socket

from .serve import Subject, serve
from .template import PR_SET_PDEATHSIG, Template, detach, prctl


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m impl.host", description=__doc__)
    parser.add_argument("--subject", required=True)
    parser.add_argument("--target", required=True)
    parser.add_argument("--probes", required=True)
    parser.add_argument("--partitioner")
    parser.add_argument("--argument", help="what the subject is told when it starts")
    parser.add_argument("--foreground", action="store_true", help="keep the terminal")
    ends = parser.add_mutually_exclusive_group(required=True)
    ends.add_argument("--control", type=int, help="descriptor of a template's control socket")
    ends.add_argument("--channel", type=int, help="descriptor of a host's channel")
    options = parser.parse_args()
    for descriptor in (options.control, options.channel):
        if descriptor is not None:
            os.set_inheritable(descriptor, False)  # no program that a subject starts may hold it
    if not options.foreground:
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        detach(None)
    subject = Subject(options.subject, options.target)
    if options.control is None:
        serve(subject, options.partitioner, options.argument, options.probes, options.channel)
    prctl(PR_SET_PDEATHSIG, 0)  # from here on it sees the judge leave, and ends its hosts first
    with socket.socket(fileno=options.control) as control:
        Template(subject, options.probes, control).run()


if __name__ == "__main__":
    main()
