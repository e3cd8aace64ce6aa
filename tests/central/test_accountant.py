"""The budget: exact addition, refusal before any harm, threads."""

from __future__ import annotations

import threading

import pytest

import sottovoce as sv
from sottovoce.errors import BudgetError


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


@pytest.mark.parametrize("budget", [0, -1.0, float("inf"), "1"])
def test_bad_budgets(budget: object) -> None:
    with pytest.raises((ValueError, TypeError), match="budget must be"):
        sv.central.Accountant(budget)  # type: ignore[arg-type]
