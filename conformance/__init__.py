"""Holds a subject to the contract: rules, cases, probes, waivers, and the kit that ties them together."""
