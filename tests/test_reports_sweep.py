"""The sweep: what goes wrong with one version is said, and the others go on."""

from __future__ import annotations

from pathlib import Path

import pytest

from reports import sweep
from reports.ledgers import LedgerError
from reports.sweep import Pin, Plan, SweepError
from tests.reports_records import cell, configuration, footer, header, write

PLAN = Plan("3.12", "cpu:8", ("0.5.3", "9.9.9", "0.6.2"), (Pin("<0.5", ("numpy<2.3",)),))


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Environments and runs without their cost: 9.9.9 cannot be installed, 0.6.2 is red, 0.7.2's run leaves nothing."""

    def environment(plan: Plan, version: str, root: Path, say: object) -> Path:
        if version == "9.9.9":
            raise SweepError("cannot be installed: no such version")
        return root / version

    def judged(plan: Plan, version: str, python: Path, root: Path) -> tuple[Path, Path]:
        assert python == root / version
        bad = cell("PUT-01", "b", "deviates" if version == "0.6.2" else "conforms", version=version)
        cells = [cell("PUT-01", "a", version=version), bad]
        record = root / f"{version}.jsonl"
        if version != "0.7.2":
            write(record, header(), configuration(version=version), *cells, footer(*cells))
        return record, root / f"{version}.log"

    monkeypatch.setattr(sweep, "_environment", environment)
    monkeypatch.setattr(sweep, "_judged", judged)
    return tmp_path


@pytest.mark.parametrize("jobs", [1, 3])
def test_one_version_stops_no_other(root: Path, capsys: pytest.CaptureFixture[str], jobs: int) -> None:
    versions = ["9.9.9", "0.6.2", "0.7.2", "0.5.3"]
    assert sweep.sweep(PLAN, versions, jobs, root / "ledger", root) == 1
    out = capsys.readouterr().out
    assert "9.9.9: NO LEDGERS: cannot be installed: no such version" in out
    assert (
        "0.6.2: NO LEDGERS: 2 cells in 0 s; stock-0.6.2-cpu8-shardy no ledger, the run is red: 1 cell unexpected" in out
    )
    assert "0.7.2: NO LEDGERS: " in out
    assert "0.5.3: 2 cells in 0 s; stock-0.5.3-cpu8-shardy new" in out
    assert out.splitlines()[-1] == "4 versions in 0 min 0 s; no ledgers of 9.9.9, 0.6.2, 0.7.2."
    assert [path.name for path in (root / "ledger").iterdir()] == ["stock-0.5.3-cpu8-shardy.toml"]


def test_a_sweep_of_what_holds(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert sweep.sweep(PLAN, ["0.5.3"], 1, root / "ledger", root) == 0
    assert sweep.sweep(PLAN, ["0.5.3"], 1, root / "ledger", root) == 0
    assert "stock-0.5.3-cpu8-shardy unchanged\n1 version in 0 min 0 s.\n" in capsys.readouterr().out


def test_what_is_no_version_makes_no_folder(root: Path) -> None:
    with pytest.raises(LedgerError, match=r"'\.\./x' is no version"):
        sweep.sweep(PLAN, ["0.5.3", "../x"], 1, root / "ledger", root)
    assert not (root / "ledger").exists()


def test_old_versions_have_their_pins() -> None:
    plan = sweep.plan()
    assert plan.packages("0.4.35") == ["jax==0.4.35", "jaxlib==0.4.35", "numpy<2.3", "scipy<1.15"]
    assert plan.packages("0.12.0.1") == ["jax==0.12.0.1", "jaxlib==0.12.0.1"]
    assert {"0.4.35", "0.12.0.1"} <= set(plan.versions)
