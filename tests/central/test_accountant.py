"""The budget: exact addition, refusal before any harm, threads."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

import sottovoce as sv
from sottovoce.core.errors import BudgetError


def test_ten_tenths_are_one_and_not_a_bit_more() -> None:
    account = sv.central.Accountant(1.0)
    for _ in range(10):
        account.spend(0.1)
    assert account.remaining == 0.0
    assert account.spent == 1.0
    with pytest.raises(BudgetError, match=r"the budget of 1.0 has 0.0 left, asked for epsilon=1e-06"):
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
    path = tmp_path / "budget.jsonl"
    first, second = sv.central.Accountant(1.0, path), sv.central.Accountant(1.0, path)
    first.spend(0.5, "mean")
    assert second.remaining == 0.5
    account = f"sv.central.Accountant(1.0, {str(path)!r})"
    code = f"import sottovoce as sv; sv.central.count([1], 0.3, accountant={account})"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert [one.purpose for one in first.history] == ["mean", "count"]
    with pytest.raises(BudgetError, match=r"has 0\.2 left"):
        second.spend(0.3)
    assert path.read_text().count("\n") == 3


def test_processes_cannot_overspend_together(tmp_path: Path) -> None:
    path = tmp_path / "budget.jsonl"
    code = f"""
import sottovoce as sv
account = sv.central.Accountant(0.5, {str(path)!r})
for _ in range(20):
    try:
        account.spend(0.01)
    except sv.errors.BudgetError:
        pass
"""
    workers = [
        subprocess.Popen([sys.executable, "-c", "import sottovoce.core.errors;" + code]) for _ in range(4)
    ]
    assert [worker.wait() for worker in workers] == [0] * 4
    assert len(sv.central.Accountant(0.5, path).history) == 50


@pytest.mark.parametrize(
    "text",
    [
        "nonsense\n",
        '{"budget": 1.0}\n{"epsilon": 0.5, "purp',
        '{"epsilon": 1}\n',
        '{"budget": 1.0}\n{"epsilon": -0.5, "purpose": "more"}\n',
        '{"budget": 1.0}\n{"epsilon": NaN, "purpose": "more"}\n',
        "[]\n",
    ],
)
def test_a_damaged_file_spends_nothing(tmp_path: Path, text: str) -> None:
    path = tmp_path / "budget.jsonl"
    path.write_text(text)
    with pytest.raises(BudgetError, match="is damaged"):
        sv.central.Accountant(1.0, path)
    assert path.read_text() == text


def test_a_file_that_is_gone_does_not_start_again_from_nothing(tmp_path: Path) -> None:
    path = tmp_path / "budget.jsonl"
    account = sv.central.Accountant(1.0, path)
    account.spend(1.0)
    path.unlink()
    with pytest.raises(BudgetError, match="is gone: nothing was spent"):
        account.spend(1.0)
    assert not path.exists()
    path.write_text("")
    with pytest.raises(BudgetError, match="is damaged"):
        account.spend(1.0)


def test_a_full_disk_spends_nothing_and_leaves_the_file_whole(tmp_path: Path) -> None:
    path = tmp_path / "budget.jsonl"
    code = f"""
import resource
import sottovoce as sv
account = sv.central.Accountant(1.0, {str(path)!r})
account.spend(0.25, "before")
resource.setrlimit(resource.RLIMIT_FSIZE, (70, resource.RLIM_INFINITY))  # half of the next line fits
try:
    account.spend(0.5, "no room")
except OSError:
    print("refused")
"""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "refused\n"
    assert [one.purpose for one in sv.central.Accountant(1.0, path).history] == ["before"]


def test_a_file_of_another_budget_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "budget.jsonl"
    sv.central.Accountant(1.0, path)
    with pytest.raises(BudgetError, match=r"budget must be that of the file"):
        sv.central.Accountant(2.0, path)


@pytest.mark.parametrize("budget", [0, -1.0, float("inf"), "1"])
def test_bad_budgets(budget: object) -> None:
    with pytest.raises((ValueError, TypeError), match="budget must be"):
        sv.central.Accountant(budget)  # type: ignore[arg-type]
