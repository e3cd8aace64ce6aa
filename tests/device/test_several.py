"""Several questions, or a position, in one report: one joint ε, recorded before it is sent."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2
from tests.device.test_damage import rewrite

import sottovoce as sv
from sottovoce.device.inquiry import Inquiry
from sottovoce.device.terms import Fresh
from sottovoce.errors import BudgetError, DataError, LedgerError
from sottovoce.exact.rational_bounds import exp_upper
from sottovoce.reporters.composites.polar import Polar
from sottovoce.reporters.composites.survey import Survey
from sottovoce.reporters.formats import from_json
from sottovoce.storage import journal

TURN = sv.ogpm(0.5, sv.Circle(), cells=8)
QUESTIONS = {
    "happy": sv.duchi(0.4, (0, 1)),
    "sleep": sv.ogpm(0.3, (0, 24), cells=3),
    "work": sv.ogpm(0.3, (0, 24), cells=4),
}
SEVERAL = Survey(0.7, QUESTIONS, 2)
PLACE = Polar(0.8, "l2", sv.ogpm(0.3, (0, 10), cells=8), TURN)


@pytest.fixture
def ledger(tmp_path: Path) -> sv.Ledger:
    ledger = sv.Ledger(tmp_path / "ledger.db", budget=3)
    ledger.enrol("several", SEVERAL)
    ledger.enrol("place", PLACE)
    return ledger


def test_one_joint_epsilon_is_charged_and_recorded_first(ledger: sv.Ledger) -> None:
    first = ledger.report("several", {"happy": 0.2, "sleep": 20.0, "work": None}, "monday")
    assert first.spent == Fraction(7, 10)
    assert first.digest == SEVERAL.digest
    assert len(first.cells) == 2
    # Another value, another program: the lot and the cells of the period stay what they were.
    assert sv.Ledger(ledger.path).report("several", [0.9, 1.0, 1.0], "monday") == first
    place = ledger.report("place", (3.0, -1.0), "monday")
    assert place.spent == Fraction(4, 5)
    assert 0 <= place.cells[0] < 64
    assert ledger.spent == Fraction(3, 2)
    assert {a.key for a in sv.Ledger(ledger.path).pending()} == {first.key, place.key}
    ledger.report("several", None, "tuesday")
    ledger.report("place", (3.0, -1.0), "tuesday")
    assert ledger.spent == 3
    with pytest.raises(BudgetError, match=r"needs epsilon=0\.7, but 0 is left of the budget of 3"):
        ledger.report("several", [0.2, 20.0, 1.0], "wednesday")


def test_a_choice_is_never_silent(tmp_path: Path) -> None:
    ledger = sv.Ledger(tmp_path / "ledger.db", budget=6)
    ledger.enrol("way", sv.choice(1.0, ["car", "bike", "train"]))
    for day, value in enumerate(("Bike", None, math.inf, "", "train")):
        assert 0 <= ledger.report("way", value, f"day {day}").cells[0] < 3
    with pytest.raises(DataError, match="must be one of the options or None"):
        ledger.report("way", "boat", "later")
    with pytest.raises(TypeError, match="must be one option or None"):
        ledger.report("way", ["car"], "later")


def test_the_stated_epsilon_is_that_of_the_joint_report() -> None:
    """All joint reports of the survey under all pairs of rows: the charge covers the exact ratio."""
    terms = Fresh(SEVERAL)
    rows = list(product([0.0, 1.0], [0.0, 12.0, 24.0], [0.0, 24.0]))
    laws = [joint_law(row) for row in rows]
    worst = max(max(law[cells] for law in laws) / min(law[cells] for law in laws) for cells in laws[0])
    assert worst <= SEVERAL.largest_ratio <= exp_upper(terms.epsilon)
    assert float(worst) > 0.99 * math.exp(0.7)  # and what is charged is not much too much
    assert len(laws[0]) == terms.inquiry.outcomes == 2 * 3 + 2 * 4 + 3 * 4
    for cells in laws[0]:
        terms.inquiry.check(cells)


def joint_law(row: tuple[float, ...]) -> dict[tuple[int, ...], Fraction]:
    """The probability of every report, from the published rules: a lot of two, then the two laws."""
    law, parts = {}, list(QUESTIONS.values())
    for i, j in ((0, 1), (0, 2), (1, 2)):
        one, two = (
            [Fraction(int(c), parts[at].total) for c in parts[at].counts([row[at]])[0]] for at in (i, j)
        )
        first, second = int(SEVERAL.offsets[i]), int(SEVERAL.offsets[j])
        for a, b in product(range(len(one)), range(len(two))):
            law[first + a, second + b] = one[a] * two[b] / 3
    return law


def test_draws_follow_the_counted_law() -> None:
    row, runs, rng = (1.0, 0.0, 24.0), 6000, np.random.default_rng(3)
    inquiry = Inquiry.of(SEVERAL, "uniform", "clip")
    seen = Counter(inquiry.draw(inquiry.judge(row), rng) for _ in range(runs))

    def distance(truth: tuple[float, ...]) -> float:
        return sum((seen[c] - runs * float(p)) ** 2 / (runs * float(p)) for c, p in joint_law(truth).items())

    limit = chi2.isf(1e-6, inquiry.outcomes - 1)
    assert distance(row) < limit
    assert distance((0.0, 24.0, 0.0)) > limit  # the check can fail


def test_recorded_reports_make_a_tally(tmp_path: Path) -> None:
    survey = Survey(4.0, {"happy": sv.duchi(2.0, (0, 1)), "sleep": sv.ogpm(2.0, (0, 24), cells=16)}, 2)
    ledger = sv.Ledger(tmp_path / "l", budget=200)
    ledger.enrol("c", survey)
    reports = [ledger.report("c", [1.0, 6.0], str(day)).cells for day in range(40)]
    tally = sv.Tally(survey, reports)
    assert tally.n == 40
    assert sv.mean(tally["happy"]).value > 0.5


def test_missing_numbers_are_reported_by_their_rule(tmp_path: Path) -> None:
    ledger = sv.Ledger(tmp_path / "l", budget=100)
    two = Survey(16.0, {"a": sv.ogpm(8.0, (0, 1), cells=8), "b": sv.ogpm(8.0, (0, 1), cells=8)}, 2)
    rules: Any = {"a": 0.05, "b": "uniform"}
    ledger.enrol("c", two, missing=rules, outside="missing")
    gaps, rng = [None, [math.nan, 0.9], {"a": 7.0, "b": math.inf}], np.random.default_rng(1)
    cells = [ledger.report("c", value, str(i), rng=rng).cells for i, value in enumerate(gaps)]  # type: ignore[arg-type]
    assert all(first <= 1 for first, _ in cells)
    assert ledger.account("c").terms.to_entry()["missing"] == rules
    assert sv.Ledger(ledger.path).account("c").terms == ledger.account("c").terms
    ledger.enrol("c", two, missing=rules, outside="missing")
    for bad in (
        "ab",
        [0.5],
        [0.5, 0.5, 0.5],
        0.5,
        ["a", 0.5],
        [True, 0.5],
        {"a": 0.5},
        {"a": 1, "b": 1, "c": 1},
    ):
        with pytest.raises(TypeError, match="value must be"):
            ledger.report("c", bad, "bad")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="missing must have a rule for each of a, b"):
        ledger.enrol("d", two, missing={"a": 0.5})
    with pytest.raises(ValueError, match="missing must lie in the domain"):
        ledger.enrol("d", two, missing={"a": 0.5, "b": 2.0})
    # A position: one beyond the radius follows the rule, half of one is none.
    ledger.enrol("p", PLACE)
    for i, value in enumerate([(99.0, 1e6), (None, 1.0), (3.0, math.nan), None, np.array([1.0, -9.0])]):
        assert 0 <= ledger.report("p", value, str(i)).cells[0] < 64  # type: ignore[arg-type]
    for bad in (3.0, (1.0,), "xy"):
        with pytest.raises(TypeError, match="value must be a position"):
            ledger.report("p", bad, "bad")


def test_what_repeats(tmp_path: Path) -> None:
    ledger = sv.Ledger(tmp_path / "l", budget=9)
    ledger.enrol("once", SEVERAL, repeat="once")
    reports = [ledger.report("once", [0.1, day, day], str(day)) for day in range(3)]
    assert len({r.cells for r in reports}) == 1
    assert [r.spent for r in reports] == [Fraction(7, 10), 0, 0]
    assert sv.Ledger(ledger.path).report("once", None, "9").cells == reports[0].cells
    with pytest.raises(ValueError, match="repeat='bins' is for one number"):
        ledger.enrol("bins", SEVERAL, repeat="bins", draws=2)
    with pytest.raises(ValueError, match="at most 64 different reports, got 512"):
        ledger.enrol("big", Polar(0.8, "l2", sv.ogpm(0.3, (0, 10), cells=64), TURN), repeat="once")


def test_the_largest_survey_fits_and_what_does_not_is_refused_before_it_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    question = sv.optimal(1.0)
    big = Survey(1.0, {f"question {i}": question for i in range(256)}, 1)
    assert from_json(big.to_json()) == big
    ledger = sv.Ledger(tmp_path / "l", budget=9)
    ledger.enrol("big", big)
    assert len(ledger.report("big", [0.5] * 256).cells) == 1
    monkeypatch.setattr(journal, "MAX_ENTRY", len(big.to_json()) // 2)
    other = sv.Ledger(tmp_path / "other", budget=9)
    with pytest.raises(ValueError, match="nothing was recorded"):
        other.enrol("big", big)
    assert sv.Ledger(other.path).campaigns == ()


def test_in_plain_words(ledger: sv.Ledger) -> None:
    text = str(ledger)
    assert "Asks for happy, sleep, work in one report, of which 2 drawn by lot are sent." in text
    assert "Asks for a position, in one report." in text


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda rows: rows[3].update(cells=[0, 1]), "different items in order"),
        (lambda rows: rows[3].update(cells=[5, 2]), "different items in order"),
        (lambda rows: rows[3].update(cells=[0]), "a report must be 2 cells"),
        (lambda rows: rows[3].update(cells=[0, 9]), "cells must lie in 0..8"),
        (lambda rows: rows[3].update(cells=[-1, 2]), "cells must lie in 0..8"),
        (lambda rows: rows[3].update(cells=5), "a report must be a list of integers"),
        (lambda rows: rows[3].update(cells=["0", 2]), "a report must be a list of integers"),
        (lambda rows: rows[3].update(spent="3/10"), "charged wrongly"),
        (lambda rows: cheaper(rows[1]), "more than the claimed epsilon=0.6"),
        (lambda rows: cheaper(rows[2]), "more than the claimed epsilon=0.6"),
    ],
)
def test_a_file_that_breaks_the_rules_is_refused(
    ledger: sv.Ledger, change: Callable[[Any], None], sentence: str
) -> None:
    ledger.report("several", [0.2, 20.0, None], "monday")
    rewrite(ledger.path, change)
    with pytest.raises(LedgerError, match=sentence):
        sv.Ledger(ledger.path)


def cheaper(entry: dict[str, Any]) -> None:
    """The lie: a spec that claims less ε than its parts need together."""
    for epsilon, form in ((0.7, "survey"), (0.8, "polar")):
        true, false = (f'"epsilon":{claim},"format":"{form}' for claim in (epsilon, 0.6))
        entry["terms"]["spec"] = entry["terms"]["spec"].replace(true, false)
