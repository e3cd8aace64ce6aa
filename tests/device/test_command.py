"""sottovoce device: a person looks at their own ledger."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import sottovoce as sv
from sottovoce.cli import build_app
from sottovoce.errors import LedgerError


@pytest.fixture
def ledger(tmp_path: Path) -> sv.Ledger:
    ledger = sv.Ledger(tmp_path / "ledger.db", budget=4)
    ledger.enrol("commute", sv.ogpm(1.0, (0, 120)))
    ledger.enrol("sleep", sv.ogpm(0.5, (0, 24), cells=16), repeat="bins", draws=3, bins=6)
    ledger.enrol("mood", sv.duchi(0.25), repeat="bins", draws=1, again=0.125, sends=2)
    ledger.report("commute", 31.0, "monday")
    ledger.report("sleep", 7.5, "monday")
    return ledger


def run(*words: str) -> str:
    result = CliRunner().invoke(build_app(), ["device", *words])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.output


def test_show_says_what_is_and_is_not_protected(ledger: sv.Ledger) -> None:
    text = run("show", str(ledger.path))
    assert "Spent: epsilon 1.5 of 4, and 1.5 set aside." in text
    assert "by 4.48 at most, apart from when your value changed in sleep: that is not hidden." in text
    assert "commute: epsilon 1 for 1 report, 1 not yet acknowledged." in text
    assert "Another report proves another value." in text
    assert "Every send is randomised again, at 0.125 each: changes are hidden as well." in text
    assert str(ledger) + "\n" == text


def test_check_gives_a_witness_that_notices_an_older_copy(ledger: sv.Ledger) -> None:
    text = run("check", str(ledger.path))
    assert text.startswith("6 entries, every seal matches\n")
    witness = text.split()[-1]
    assert "the witness matches" in run("check", str(ledger.path), "--witness", witness)
    with pytest.raises(LedgerError, match="older copy"):
        run("check", str(ledger.path), "--witness", "99:" + witness.split(":")[1])


def test_pending_and_export(ledger: sv.Ledger, tmp_path: Path) -> None:
    report = ledger.account("commute").reports["monday"]
    assert f"commute\tmonday\tcells {report.cells[0]}\tkey {report.key}" in run("pending", str(ledger.path))
    out = tmp_path / "mine.json"
    assert "keep it to yourself" in run("export", str(ledger.path), "--output", str(out))
    assert json.loads(out.read_text()) == ledger.entries() == json.loads(run("export", str(ledger.path)))
    assert out.stat().st_mode & 0o777 == 0o600
    for waiting in ledger.pending():
        ledger.acknowledge(waiting)
    assert run("pending", str(ledger.path)) == "nothing is pending\n"


def test_a_path_without_a_ledger_creates_none(tmp_path: Path) -> None:
    result = CliRunner().invoke(build_app(), ["device", "show", str(tmp_path / "none.db")])
    assert result.exit_code == 2
    assert not (tmp_path / "none.db").exists()
