"""The budget: exact addition, refusal before any harm, threads."""

from __future__ import annotations

import contextlib
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import sottovoce as sv
from sottovoce.errors import BudgetError, LedgerError


def test_ten_tenths_are_one_and_not_a_bit_more() -> None:
    account = sv.central.Accountant(1.0)
    for _ in range(10):
        account.spend(0.1)
    assert account.remaining == 0.0
    assert account.spent == 1.0
    with pytest.raises(BudgetError, match=r"needs epsilon=0\.000001, but 0 is left of the budget of 1"):
        account.spend(1e-6)


def test_releases_spend_and_refusals_release_nothing() -> None:
    account = sv.central.Accountant(1.0)
    sv.central.mean([1.0], 0.5, (0, 2), accountant=account)
    sv.central.sum({"w": [1.0]}, 0.3, (0, 2), column="w", accountant=account)
    with pytest.raises(BudgetError):
        sv.central.count([1, 2], 0.3, accountant=account)
    assert [(s.epsilon, s.purpose) for s in account.history] == [(0.5, "mean"), (0.3, "sum of w")]
    assert account.remaining == pytest.approx(0.2)
    sv.central.count([1, 2], 0.2, accountant=account)
    assert account.remaining == 0.0


def test_groups_of_one_release_cost_once() -> None:
    account = sv.central.Accountant(1.0)
    sv.central.mean([1.0, 2.0], 1.0, (0, 2), by=["a", "b"], groups=["a", "b", "c"], accountant=account)
    assert account.spent == 1.0


def test_threads_cannot_overspend() -> None:
    account = sv.central.Accountant(1.0)
    refused = []

    def work() -> None:
        for _ in range(50):
            try:
                account.spend(0.01)
            except BudgetError:
                refused.append(1)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(account.history) == 100
    assert len(refused) == 300
    assert account.remaining == 0.0


def test_a_file_is_shared_by_accountants_and_processes(tmp_path: Path) -> None:
    path = tmp_path / "budget.db"
    first, second = sv.central.Accountant(1.0, path), sv.central.Accountant(1.0, path)
    first.spend(0.5, "mean")
    assert second.remaining == 0.5
    account = f"sv.central.Accountant(1.0, {str(path)!r})"
    code = f"import sottovoce as sv; sv.central.count([1], 0.3, accountant={account})"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert [one.purpose for one in first.history] == ["mean", "count"]
    with pytest.raises(BudgetError, match=r"needs epsilon=0\.3, but 0\.2 is left"):
        second.spend(0.3)


def test_processes_cannot_overspend_together(tmp_path: Path) -> None:
    path = tmp_path / "budget.db"
    code = f"""
import sottovoce as sv
account = sv.central.Accountant(0.5, {str(path)!r})
for _ in range(20):
    try:
        account.spend(0.01)
    except BudgetError:
        pass
"""
    workers = [
        subprocess.Popen([sys.executable, "-c", "from sottovoce.errors import BudgetError\n" + code])
        for _ in range(4)
    ]
    assert [worker.wait() for worker in workers] == [0] * 4
    assert len(sv.central.Accountant(0.5, path).history) == 50


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ("DELETE FROM entries", "has no entries"),
        ("DELETE FROM entries WHERE n = 2", "entry 2 does not match its seal"),
        ("UPDATE entries SET body = replace(body, '0.5', '0.1')", "entry 2 does not match its seal"),
        ("PRAGMA user_version = 7", "version 7"),
        ("PRAGMA application_id = 7", "no budget file"),
    ],
)
def test_a_damaged_file_spends_nothing(tmp_path: Path, change: str, sentence: str) -> None:
    path = tmp_path / "budget.db"
    account = sv.central.Accountant(2.0, path)
    account.spend(0.5, "first")
    account.spend(0.5, "second")
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute(change)
        db.commit()
    damaged = path.read_bytes()
    with pytest.raises(LedgerError, match=sentence):
        sv.central.Accountant(2.0, path)
    assert path.read_bytes() == damaged


@pytest.mark.parametrize(
    "entry",
    [
        {"kind": "spend", "epsilon": 1.5, "purpose": "too much"},
        {"kind": "spend", "epsilon": -0.5, "purpose": "a gift"},
        {"kind": "open", "budget": "9"},
        {"kind": "spend", "purpose": "for nothing"},
    ],
)
def test_a_file_that_breaks_its_rules_is_not_believed(tmp_path: Path, entry: dict[str, object]) -> None:
    account = sv.central.Accountant(1.0, tmp_path / "budget.db")
    with account._journal.open() as turn:
        turn.append(entry)
    with pytest.raises(LedgerError, match="breaks its own rules"):
        account.spend(0.5)


def test_an_older_copy_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "budget.db"
    account = sv.central.Accountant(1.0, path)
    older = path.read_bytes()
    account.spend(1.0)
    assert account.remaining == 0
    path.write_bytes(older)
    with pytest.raises(LedgerError, match="An older copy may have been put back"):
        account.spend(1.0)


def test_a_file_that_is_gone_does_not_start_again_from_nothing(tmp_path: Path) -> None:
    path = tmp_path / "budget.db"
    account = sv.central.Accountant(1.0, path)
    account.spend(1.0)
    path.unlink()
    with pytest.raises(LedgerError, match="nothing was spent"):
        account.spend(1.0)
    assert not path.exists()
    path.write_text("")
    with pytest.raises(LedgerError, match="is empty"):
        account.spend(1.0)


def test_a_full_disk_spends_nothing_and_leaves_the_file_whole(tmp_path: Path) -> None:
    path = tmp_path / "budget.db"
    code = f"""
import resource, signal
import sottovoce as sv
from sottovoce.errors import LedgerError
account = sv.central.Accountant(1000.0, {str(path)!r})
account.spend(0.25, "before")
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (14000, resource.RLIM_INFINITY))
try:
    for _ in range(200):
        account.spend(0.5, "more")
except LedgerError as error:
    assert "nothing was spent" in str(error), error
    print(_)
"""
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    account = sv.central.Accountant(1000.0, path)
    assert [one.purpose for one in account.history] == ["before"] + ["more"] * int(run.stdout)
    account.spend(0.5)


def test_a_file_of_another_budget_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "budget.db"
    sv.central.Accountant(1.0, path)
    with pytest.raises(BudgetError, match=r"budget must be that of the file"):
        sv.central.Accountant(2.0, path)


@pytest.mark.parametrize("budget", [0, -1.0, float("inf"), "one"])
def test_bad_budgets(budget: object) -> None:
    with pytest.raises((ValueError, TypeError), match="budget must be"):
        sv.central.Accountant(budget)  # type: ignore[arg-type]
