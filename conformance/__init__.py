"""Holds a subject to the contract: rules, cases, probes, waivers, and the kit that ties them together."""

MODEL, FAULTS = "model", "fault"
"""The subject that keeps the whole contract, and the one that is it with a fault."""
