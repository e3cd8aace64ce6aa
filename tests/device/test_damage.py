"""Files that are not what they were: damaged, edited, older, newer, gone."""

from __future__ import annotations

import contextlib
import json
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.device.ledger import LEDGER
from sottovoce.errors import LedgerError
from sottovoce.storage.journal import Head


@pytest.fixture
def ledger(tmp_path: Path) -> sv.Ledger:
    ledger = sv.Ledger(tmp_path / "ledger.db", budget=3)
    ledger.enrol("a", sv.duchi(0.5))
    for day in range(3):
        ledger.report("a", 0.5, str(day))
    return ledger


def rewrite(path: Path, change: object, *, reseal: bool = True) -> None:
    """Edit entries by hand, with seals that match."""
    db = sqlite3.connect(path)
    rows = [json.loads(body) for (body,) in db.execute("SELECT body FROM entries ORDER BY n")]
    change(rows)  # type: ignore[operator]
    db.execute("DELETE FROM entries")
    head = Head.first(LEDGER)
    for row in rows:
        body = json.dumps(row, sort_keys=True, separators=(",", ":"))
        head = head.then(body)
        db.execute(
            "INSERT INTO entries VALUES (?, ?, ?)", (head.count, body, head.seal if reseal else "0" * 64)
        )
    db.commit()
    db.close()


def test_no_flipped_byte_goes_unnoticed(ledger: sv.Ledger) -> None:
    """Every flip is refused or changes nothing that the ledger says."""
    good, truth = ledger.path.read_bytes(), ledger.entries()
    used = [i for i, byte in enumerate(good) if byte]
    rng, refused = np.random.default_rng(3), 0
    chosen = rng.choice(used, size=300, replace=False)
    for place in chosen:
        damaged = bytearray(good)
        damaged[place] ^= 1 << int(rng.integers(8))
        ledger.path.write_bytes(damaged)
        try:
            assert sv.Ledger(ledger.path).entries() == truth
        except LedgerError:
            refused += 1
    assert refused > 0.9 * len(chosen)


@pytest.mark.parametrize("keep", [0, 1, 100, 4096, 8000])
def test_a_file_cut_short_is_refused(ledger: sv.Ledger, keep: int) -> None:
    ledger.path.write_bytes(ledger.path.read_bytes()[:keep])
    with pytest.raises(LedgerError):
        sv.Ledger(ledger.path, budget=3)
    # A program that has read the file before knows what it held; it cannot make the file good either.
    with contextlib.suppress(LedgerError):
        ledger.report("a", 0.5, "3")
    with pytest.raises(LedgerError):
        sv.Ledger(ledger.path)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda rows: rows[2].update(spent="1/4"), "charged wrongly"),
        (lambda rows: rows[2].update(cells=[]), "a report must be 1 cells"),
        (lambda rows: rows[2].update(cells=[2**64]), "breaks its own rules"),
        (lambda rows: rows[2].update(cells=0), "a report must be a list of integers"),
        (lambda rows: rows[2].update(slot=0, kept=[0]), "kept that was not agreed to"),
        (lambda rows: rows[2].update(new=False), "a report is free that was not"),
        (lambda rows: rows[2].update(cells=[2]), "cells must lie in 0..1"),
        (lambda rows: rows[3].update(period="0"), "reported twice"),
        (lambda rows: rows[0].update(budget="1"), "left of the budget of 1"),
        (lambda rows: rows.pop(0), "out of place"),
        (lambda rows: rows[3].update(kind="gift"), "breaks its own rules"),
        (lambda rows: rows[3].update(campaign="b"), "breaks its own rules"),
        (lambda rows: rows[1]["terms"].update(again=1.0), "unexpected keyword argument 'again'"),
        (lambda rows: rows[3].pop("key"), "breaks its own rules"),
        (lambda rows: rows.clear(), "no entries"),
    ],
)
def test_a_chain_that_breaks_the_rules_is_refused(ledger: sv.Ledger, change: object, sentence: str) -> None:
    rewrite(ledger.path, change)
    with pytest.raises(LedgerError, match=sentence):
        sv.Ledger(ledger.path)


def test_an_edited_entry_is_refused(ledger: sv.Ledger) -> None:
    rewrite(ledger.path, lambda rows: None)
    assert sv.Ledger(ledger.path).spent == 1.5
    rewrite(ledger.path, lambda rows: None, reseal=False)
    with pytest.raises(LedgerError, match="entry 1 does not match its seal"):
        sv.Ledger(ledger.path)


def test_a_kept_answer_cannot_be_swapped(tmp_path: Path) -> None:
    ledger = sv.Ledger(tmp_path / "l", budget=3)
    ledger.enrol("a", sv.duchi(0.5), repeat="bins", draws=2)
    for day, value in enumerate([-1.0, -1.0, 1.0]):
        ledger.report("a", value, str(day))

    def swap(rows: list[dict[str, Any]]) -> None:
        for name in ("cells", "kept"):
            rows[3][name] = [1 - rows[3][name][0]]

    rewrite(ledger.path, swap)
    with pytest.raises(LedgerError, match="a kept draw has changed"):
        sv.Ledger(ledger.path)


def test_other_files_are_refused(tmp_path: Path, ledger: sv.Ledger) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("not a database at all, only some notes " * 20)
    with pytest.raises(LedgerError, match=r"damaged or no ledger"):
        sv.Ledger(text, budget=1)
    other = tmp_path / "other.db"
    db = sqlite3.connect(other)
    db.execute("CREATE TABLE entries (n, body, digest)")
    db.commit()
    db.close()
    with pytest.raises(LedgerError, match="is damaged or no ledger"):
        sv.Ledger(other, budget=1)
    db = sqlite3.connect(ledger.path)
    db.execute("PRAGMA user_version = 2")
    db.close()
    with pytest.raises(LedgerError, match="a ledger of version 2; this program reads version 1"):
        sv.Ledger(ledger.path)
    with pytest.raises(LedgerError, match="cannot create the ledger"):
        sv.Ledger(tmp_path / "no" / "such" / "folder", budget=1)


def test_an_older_copy_is_noticed_by_whoever_remembers(ledger: sv.Ledger) -> None:
    older = ledger.path.with_name("older")
    shutil.copy(ledger.path, older)
    ledger.report("a", 0.5, "3")
    witness = ledger.witness
    shutil.copy(older, ledger.path)
    # A running program remembers, a witness kept elsewhere remembers,
    with pytest.raises(LedgerError, match="An older copy may have been put back"):
        ledger.report("a", 0.5, "4")
    with pytest.raises(LedgerError, match="An older copy may have been put back"):
        sv.Ledger(ledger.path, witness=witness)
    # and without either nobody can: the documented limit.
    assert sv.Ledger(ledger.path).spent == 1.5
    # An older witness is fine: the ledger has only grown since.
    old = sv.Ledger(ledger.path).witness
    sv.Ledger(ledger.path).report("a", 0.5, "5")
    assert sv.Ledger(ledger.path, witness=old).spent == 2


def test_a_ledger_that_vanished_is_not_begun_anew(ledger: sv.Ledger) -> None:
    witness = ledger.witness
    ledger.path.unlink()
    with pytest.raises(LedgerError, match="cannot use the ledger"):
        ledger.report("a", 0.5, "3")
    with pytest.raises(LedgerError, match="there is no ledger at"):
        sv.Ledger(ledger.path, budget=3, create=False)
    with pytest.raises(LedgerError, match="there is no ledger at"):
        sv.Ledger(ledger.path, budget=3, witness=witness)
    assert not ledger.path.exists()


@pytest.mark.parametrize("witness", ["", "3", "3:abc", "-1:" + "0" * 64, "x:" + "0" * 64, 7])
def test_a_witness_has_its_form(ledger: sv.Ledger, witness: str) -> None:
    with pytest.raises(ValueError, match="witness must be what"):
        sv.Ledger(ledger.path, witness=witness)
