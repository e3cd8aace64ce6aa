"""The ledger: what it charges, what it repeats, what it refuses."""

from __future__ import annotations

import math
import threading
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sottovoce as sv
from sottovoce.device import ledger as module
from sottovoce.device.ledger_state import Report
from sottovoce.errors import BudgetError, LedgerError


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.db"


def small(epsilon: float = 1.0, cells: int = 8) -> sv.Mechanism:
    return sv.ogpm(epsilon, (0, 24), cells=cells)


def test_an_answer_is_recorded_once_and_given_again(path: Path) -> None:
    ledger = sv.Ledger(path, budget=2)
    ledger.enrol("commute", sv.ogpm(1.0, (0, 24)))
    first = ledger.report("commute", 3.0, "monday")
    assert first.spent == 1
    assert ledger.spent == 1
    # Another value, another object, another program: the same period has one report.
    assert ledger.report("commute", 20.0, "monday") == first
    assert sv.Ledger(path).report("commute", None, "monday") == first
    assert ledger.spent == 1
    assert ledger.pending() == [first]
    ledger.acknowledge(first)
    assert sv.Ledger(path).pending() == []
    assert len(first.key) >= 22


def test_money_is_exact(path: Path) -> None:
    ledger = sv.Ledger(path, budget=0.3)
    ledger.enrol("a", small(0.1))
    for day in range(3):
        ledger.report("a", 1.0, str(day))
    assert ledger.spent == Fraction(3, 10)  # 0.1 + 0.1 + 0.1 > 0.3 in floats
    with pytest.raises(BudgetError, match=r"needs epsilon=0\.1, but 0 is left of the budget of 0\.3"):
        ledger.report("a", 1.0, "3")
    assert len(ledger.account("a").reports) == 3


def test_over_the_budget_nothing_happens(path: Path) -> None:
    ledger = sv.Ledger(path, budget="5/3")
    ledger.enrol("a", small())
    ledger.report("a", 1.0, "0")
    before = ledger.witness
    with pytest.raises(BudgetError, match="2/3 is left of the budget of 5/3"):
        ledger.report("a", 1.0, "1")
    assert ledger.witness == before
    ledger.change_budget(2)
    ledger.report("a", 1.0, "1")
    with pytest.raises(BudgetError, match="at least 2"):
        ledger.change_budget(1.5)


def test_one_answer_for_a_whole_campaign(path: Path) -> None:
    ledger = sv.Ledger(path, budget=1)
    ledger.enrol("once", small(), repeat="once")
    assert ledger.remaining == 0
    reports = [ledger.report("once", value, str(day)) for day, value in enumerate([1.0, 23.0, None, 12.0])]
    assert len({a.cells for a in reports}) == 1
    assert len({a.key for a in reports}) == 4
    assert [a.spent for a in reports] == [1, 0, 0, 0]
    assert ledger.account("once").terms.hides_changes


def test_bins_are_free_until_a_new_one(path: Path) -> None:
    ledger = sv.Ledger(path, budget=2)
    ledger.enrol("bins", small(0.5), repeat="bins", bins=4, draws=3)
    days = [1.0, 5.9, 6.0, 2.0, 13.0, 7.0]
    reports = [ledger.report("bins", value, str(day)) for day, value in enumerate(days)]
    half = Fraction(1, 2)
    assert [a.spent for a in reports] == [half, 0, half, 0, half, 0]
    cells = [a.cells for a in reports]
    assert cells[0] == cells[1] == cells[3]
    assert cells[2] == cells[5]
    # Its three bins are used up: a fourth bin gives the latest report, not silence and not a charge.
    held = ledger.report("bins", 23.0, "6")
    assert (held.cells, held.spent, held.held) == (cells[5], 0, True)
    assert ledger.report("bins", 1.0, "7").cells == cells[0]
    assert ledger.spent == Fraction(3, 2)
    assert not ledger.account("bins").terms.hides_changes
    assert "not hidden" in str(ledger)


def test_what_a_campaign_of_bins_may_cost_is_set_aside(path: Path) -> None:
    """Otherwise a refusal elsewhere would tell that the value changed."""
    ledger = sv.Ledger(path, budget=2)
    ledger.enrol("bins", small(0.5), repeat="bins", bins=4, draws=3)
    ledger.enrol("daily", small(0.5))
    ledger.report("daily", 1.0, "0")
    with pytest.raises(BudgetError):
        ledger.report("daily", 1.0, "1")
    with pytest.raises(BudgetError, match="campaign 'more' needs epsilon=1"):
        ledger.enrol("more", small(), repeat="once")


def test_randomised_again_every_send_is_charged(path: Path) -> None:
    ledger = sv.Ledger(path, budget=3)
    ledger.enrol("again", sv.duchi(1.0), repeat="bins", bins=2, draws=2, again=0.25, sends=4)
    spent = [
        ledger.report("again", value, str(day)).spent for day, value in enumerate([-1.0, -1.0, 1.0, -1.0])
    ]
    assert spent == [Fraction(5, 4), Fraction(1, 4), Fraction(5, 4), Fraction(1, 4)]
    with pytest.raises(BudgetError, match="4 sends"):
        ledger.report("again", -1.0, "4")
    assert ledger.account("again").terms.hides_changes


@pytest.mark.parametrize("missing", ["uniform", 12.0])
@pytest.mark.parametrize("repeat", ["fresh", "once", "bins"])
def test_missing_and_outside_values_are_answered(path: Path, missing: float | str, repeat: str) -> None:
    ledger = sv.Ledger(path, budget=20)
    draws = 9 if repeat == "bins" else None
    ledger.enrol("c", small(), repeat=repeat, missing=missing, draws=draws, outside="missing")
    for day, value in enumerate([None, math.nan, math.inf, -5, 10**400, np.float32(25.5), np.array(2)]):
        assert 0 <= ledger.report("c", value, str(day)).cells[0] < 8
    for bad in ("7", [1.0], True, 1j):
        with pytest.raises(TypeError, match="value must be a number"):
            ledger.report("c", bad, "bad")


def test_a_missing_value_is_a_bin_of_its_own(path: Path) -> None:
    ledger = sv.Ledger(path, budget=9)
    ledger.enrol("bins", small(), repeat="bins", bins=2, draws=3)
    reports = [
        ledger.report("bins", value, str(day)) for day, value in enumerate([1, None, None, 20, math.nan])
    ]
    assert [a.spent for a in reports] == [1, 1, 0, 1, 0]
    assert reports[1].cells == reports[2].cells == reports[4].cells


def test_only_few_cells_are_kept(path: Path) -> None:
    ledger = sv.Ledger(path, budget=9)
    with pytest.raises(ValueError, match="stable identifier: there must be at most 64 different reports"):
        ledger.enrol("a", sv.ogpm(1.0, (0, 24)), repeat="once")
    ledger.enrol("a", sv.ogpm(1.0, (0, 24), cells=64), repeat="once")


@pytest.mark.parametrize(
    ("terms", "sentence"),
    [
        ({"repeat": "daily"}, "repeat must be one of 'fresh', 'once', 'bins', got repeat='daily'"),
        ({"bins": 4}, "bins does not belong to repeat='fresh'"),
        ({"again": 1.0}, "again does not belong to repeat='fresh'"),
        ({"repeat": "bins"}, "needs draws"),
        ({"repeat": "bins", "draws": 0}, "draws must be between 1 and 9, got draws=0"),
        ({"repeat": "bins", "draws": 10}, "draws must be between 1 and 9, got draws=10"),
        ({"repeat": "bins", "draws": 2, "bins": 65}, "bins must be between 1 and 64"),
        ({"repeat": "bins", "draws": 2, "again": 1.0}, "needs sends"),
        ({"repeat": "bins", "draws": 2, "again": -1.0, "sends": 3}, "epsilon must be positive"),
        ({"sends": 0}, "sends must be at least 1"),
        ({"missing": 25.0}, "missing must lie in the domain"),
        ({"missing": "skip"}, "missing must be one of"),
        ({"missing": "refuse"}, "never silent because of a value"),
        ({"missing": "drop"}, "missing must be one of"),
        ({"outside": "drop"}, "outside must be one of"),
        ({"outside": "refuse"}, "never silent because of a value"),
    ],
)
def test_terms_are_checked(path: Path, terms: dict[str, object], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        sv.Ledger(path, budget=9).enrol("a", small(), **terms)  # type: ignore[arg-type]


def test_terms_do_not_change(path: Path) -> None:
    ledger = sv.Ledger(path, budget=9)
    ledger.enrol("a", small())
    ledger.enrol("a", small())
    with pytest.raises(LedgerError, match="enrolled on other terms"):
        ledger.enrol("a", small(), sends=3)
    with pytest.raises(LedgerError, match="enrolled on other terms"):
        ledger.enrol("a", small(2.0))
    with pytest.raises(ValueError, match="campaign 'b' is not enrolled"):
        ledger.report("b", 1.0)
    with pytest.raises(TypeError, match="reporter must be a mechanism"):
        ledger.enrol("c", "ogpm")  # type: ignore[arg-type]


@pytest.mark.parametrize("budget", [0, -1, math.nan, math.inf, "many", "1/0", True, None])
def test_a_budget_is_a_positive_number(path: Path, budget: object) -> None:
    with pytest.raises((ValueError, TypeError), match="budget"):
        sv.Ledger(path, budget=budget)
    assert not path.exists()


def test_a_ledger_keeps_its_budget(path: Path) -> None:
    sv.Ledger(path, budget=2)
    with pytest.raises(LedgerError, match="has a budget of 2, not 3"):
        sv.Ledger(path, budget=3)
    assert sv.Ledger(path).budget == 2
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_clock_that_goes_backwards_changes_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = sv.Ledger(path, budget=2)
    ledger.enrol("a", small())
    ledger.report("a", 1.0, "0")
    monkeypatch.setattr(module, "_now", lambda: "1999-01-01T00:00:00+00:00")
    ledger.report("a", 1.0, "1")
    with pytest.raises(BudgetError):
        ledger.report("a", 1.0, "2")
    times = [entry["at"] for entry in sv.Ledger(path).entries()]
    assert times == sorted(times)
    assert times[-1] > "2026"


moves = st.lists(
    st.tuples(st.sampled_from(["fresh", "once", "bins"]), st.integers(0, 5), st.floats(-5, 30) | st.none()),
    max_size=14,
)


@settings(max_examples=12, deadline=None, database=None)
@given(moves=moves, budget=st.fractions(Fraction(1, 2), 4, max_denominator=12))
def test_any_sequence_of_answers_stays_within_the_budget(
    tmp_path_factory: pytest.TempPathFactory, moves: list[tuple[str, int, float | None]], budget: Fraction
) -> None:
    ledger = sv.Ledger(tmp_path_factory.mktemp("ledger") / "l", budget=budget)
    total: dict[tuple[str, int], Report] = {}
    for campaign, period, value in moves:
        try:
            rest = {"draws": 2, "bins": 3} if campaign == "bins" else {}
            ledger.enrol(campaign, small(0.25), repeat=campaign, **rest)  # type: ignore[arg-type]
            report = ledger.report(campaign, value, str(period))
        except BudgetError:
            continue
        assert total.setdefault((campaign, period), report) == report
        assert ledger.spent == sum(a.spent for a in total.values()) <= budget
        assert ledger.spent + ledger.remaining <= budget
    again = sv.Ledger(ledger.path)
    assert again.spent == ledger.spent
    assert {(a.campaign, int(a.period)) for a in again.pending()} == set(total)


def test_a_seed_is_one_stream_for_all_that_is_drawn(path: Path) -> None:
    """The same words for the stand-in and for its report would tie them together."""
    ledger = sv.Ledger(path, budget=2000)
    m = sv.duchi(0.01, (0, 1))
    ledger.enrol("a", m)
    cells = [ledger.report("a", None, str(seed), rng=seed).cells[0] for seed in range(100)]
    assert 20 < sum(cells) < 80  # even; with one word for both the low half would always give 0


@pytest.mark.parametrize("budget", ["1e999999999", "1" * 200, "", "x", "1/0", -1, 0, 1e9, "1e10"])
def test_budgets_that_are_none(path: Path, budget: object) -> None:
    with pytest.raises(ValueError, match="budget must be"):
        sv.Ledger(path, budget=budget)
    assert not path.exists()


def test_threads_may_ask_while_others_enrol(path: Path) -> None:
    ledger = sv.Ledger(path, budget=1000)
    mechanism, failures = small(0.01), []

    def enrol() -> None:
        for i in range(60):
            ledger.enrol(str(i), mechanism)
        done.set()

    def ask() -> None:
        try:
            while not done.is_set():
                ledger.pending(), ledger.spent, ledger.remaining, ledger.campaigns
        except RuntimeError as error:  # a dictionary that changed under the loop
            failures.append(error)

    done = threading.Event()
    threads = [threading.Thread(target=work) for work in (enrol, ask, ask)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(ledger.campaigns) == 60
