"""The sentences of the contract, and reports without them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from reports import rules
from reports.rules import Contract, Rule


def test_the_contract_of_this_checkout_is_found() -> None:
    contract = rules.contract()
    assert contract.rules
    assert all(rule.id == id and rule.text for id, rule in contract.rules.items())
    assert contract.waivers
    assert all(waiver.reason and waiver.link for waiver in contract.waivers.values())


def test_reports_work_without_the_suite(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "conformance", None)
    assert rules.contract() == Contract()


def test_a_contract_that_cannot_be_read_costs_only_the_sentences(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    import conformance

    monkeypatch.setattr(conformance, "__file__", str(tmp_path / "__init__.py"))
    assert rules.contract() == Contract()


def test_title() -> None:
    known = {"PUT-01": Rule("PUT-01", "One\x1b[2J.", "")}
    assert rules.title("PUT-01", "MUST", known) == "PUT-01 MUST: One\\x1b[2J."
    assert rules.title("PUT-Q1", "", known) == "PUT-Q1"
