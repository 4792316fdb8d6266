"""Registers the conformance plugin; it starts nothing until cells are collected."""

pytest_plugins = ["conformance.kit.plugin"]
