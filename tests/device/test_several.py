"""Several numbers, or a position, in one answer: one joint ε, recorded before it is sent."""

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
from sottovoce.compose.reports import VectorReport
from sottovoce.compose.vectors import Vector
from tests.device.test_damage import rewrite

import sottovoce as sv
from sottovoce.compose.polar import Polar
from sottovoce.core import journal
from sottovoce.core.errors import BudgetError, LedgerError
from sottovoce.core.exact import exp_upper
from sottovoce.device.terms import Terms

TURN = sv.ogpm(0.5, sv.Circle(), cells=8)
SEVERAL = Vector(
    0.7, (sv.duchi(0.4, (0, 1)), sv.ogpm(0.3, (0, 24), cells=3), sv.ogpm(0.3, (0, 24), cells=4)), 2
)
PLACE = Polar(0.8, "l2", sv.ogpm(0.3, (0, 10), cells=8), TURN)


@pytest.fixture
def ledger(tmp_path: Path) -> sv.Ledger:
    ledger = sv.Ledger(tmp_path / "ledger.db", budget=3)
    ledger.enrol("several", SEVERAL)
    ledger.enrol("place", PLACE)
    return ledger


def test_one_joint_epsilon_is_charged_and_recorded_first(ledger: sv.Ledger) -> None:
    first = ledger.answer("several", [0.2, 20.0, None], "monday")
    assert first.spent == Fraction(7, 10)
    assert first.digest == SEVERAL.digest
    assert isinstance(first.cell, tuple)
    assert len(first.cell) == 2
    # Another value, another program: the lot and the cells of the period stay what they were.
    assert sv.Ledger(ledger.path).answer("several", [0.9, 1.0, 1.0], "monday") == first
    place = ledger.answer("place", (3.0, -1.0), "monday")
    assert place.spent == Fraction(4, 5)
    assert 0 <= int(str(place.cell)) < 64
    assert ledger.spent == Fraction(3, 2)
    assert {a.key for a in sv.Ledger(ledger.path).pending()} == {first.key, place.key}
    ledger.answer("several", None, "tuesday")
    ledger.answer("place", (3.0, -1.0), "tuesday")
    assert ledger.spent == 3
    with pytest.raises(BudgetError, match=r"needs epsilon=0\.7, but 0 is left of the budget of 3"):
        ledger.answer("several", [0.2, 20.0, 1.0], "wednesday")


def test_the_stated_epsilon_is_that_of_the_joint_report() -> None:
    """All joint reports of the vector under all pairs of rows: the charge covers the exact ratio."""
    terms = Terms(SEVERAL)
    rows = list(product([0.0, 1.0], [0.0, 12.0, 24.0], [0.0, 24.0]))
    laws = [joint_law(row) for row in rows]
    worst = max(max(law[cell] for law in laws) / min(law[cell] for law in laws) for cell in laws[0])
    assert worst <= SEVERAL.largest_ratio <= exp_upper(terms.epsilon)
    assert float(worst) > 0.99 * math.exp(0.7)  # and what is charged is not much too much
    assert len(laws[0]) == terms.question.outcomes == 2 * 3 + 2 * 4 + 3 * 4
    assert all(terms.question.holds(cell) for cell in laws[0])


def joint_law(row: tuple[float, ...]) -> dict[Any, Fraction]:
    law = {}
    for i, j in ((0, 1), (0, 2), (1, 2)):
        one, two = (
            [Fraction(int(c), p.window.total) for c in p.counts([row[at]])[0]]
            for at, p in ((i, SEVERAL.parts[i]), (j, SEVERAL.parts[j]))
        )
        for a, b in product(range(len(one)), range(len(two))):
            law[(i, a), (j, b)] = one[a] * two[b] / 3
    return law


def test_draws_follow_the_counted_law() -> None:
    row, runs, rng = (1.0, 0.0, 24.0), 6000, np.random.default_rng(3)
    question = Terms(SEVERAL).question
    seen = Counter(question.draw(question.judge(row), rng) for _ in range(runs))

    def distance(truth: tuple[float, ...]) -> float:
        return sum((seen[c] - runs * float(p)) ** 2 / (runs * float(p)) for c, p in joint_law(truth).items())

    limit = chi2.isf(1e-6, question.outcomes - 1)
    assert distance(row) < limit
    assert distance((0.0, 24.0, 0.0)) > limit  # the check can fail


def test_recorded_answers_make_a_tally(tmp_path: Path) -> None:
    m = Vector(4.0, (sv.duchi(2.0, (0, 1)), sv.ogpm(2.0, (0, 24), cells=16)), 2)
    ledger = sv.Ledger(tmp_path / "l", budget=200)
    ledger.enrol("c", m)
    answers = [ledger.answer("c", [1.0, 6.0], str(day)).cell for day in range(40)]
    t = m.tally(VectorReport.gather(answers))  # type: ignore[arg-type]
    assert t.people == 40
    assert t.means()[0] > 0.5
    with pytest.raises(ValueError, match="attribute, cell"):
        VectorReport.gather([[(0, 1)], [(0, -1)]])


def test_missing_numbers_are_answered_by_their_rule(tmp_path: Path) -> None:
    ledger = sv.Ledger(tmp_path / "l", budget=100)
    two = Vector(16.0, (sv.ogpm(8.0, (0, 1), cells=8), sv.ogpm(8.0, (0, 1), cells=8)), 2)
    ledger.enrol("c", two, missing=[0.05, "uniform"], out_of_range="missing")
    gaps, rng = [None, [math.nan, 0.9], [7.0, math.inf]], np.random.default_rng(1)
    cells = [ledger.answer("c", value, str(i), rng=rng).cell for i, value in enumerate(gaps)]
    assert all(cell[0][1] <= 1 for cell in cells)  # type: ignore[index]
    assert ledger.account("c").terms.to_entry()["missing"] == (0.05, "uniform")
    assert sv.Ledger(ledger.path).account("c").terms == ledger.account("c").terms
    ledger.enrol("c", two, missing=(0.05, "uniform"), out_of_range="missing")
    for bad in ("ab", [0.5], [0.5, 0.5, 0.5], 0.5, ["a", 0.5], [True, 0.5]):
        with pytest.raises(TypeError, match="value must be"):
            ledger.answer("c", bad, "bad")
    with pytest.raises(ValueError, match="missing must have 2 entries, got 1"):
        ledger.enrol("d", two, missing=[0.5])
    with pytest.raises(ValueError, match="missing must lie in the domain"):
        ledger.enrol("d", two, missing=[0.5, 2.0])
    # A position: any angle is an angle, a distance beyond the radius follows the rule.
    ledger.enrol("p", PLACE, missing=[1.0, 0.0], out_of_range="clip")
    for i, value in enumerate([(99.0, 1e6), (None, 1.0), (3.0, None), None, np.array([1.0, -9.0])]):
        assert 0 <= int(str(ledger.answer("p", value, str(i)).cell)) < 64


def test_what_repeats(tmp_path: Path) -> None:
    ledger = sv.Ledger(tmp_path / "l", budget=9)
    ledger.enrol("once", SEVERAL, repeat="once")
    answers = [ledger.answer("once", [0.1, day, day], str(day)) for day in range(3)]
    assert len({a.cell for a in answers}) == 1
    assert [a.spent for a in answers] == [Fraction(7, 10), 0, 0]
    assert sv.Ledger(ledger.path).answer("once", None, "9").cell == answers[0].cell
    with pytest.raises(ValueError, match="repeat='bins' is for one number"):
        ledger.enrol("bins", SEVERAL, repeat="bins", answers=2)
    with pytest.raises(ValueError, match="at most 64 cells, got cells=512"):
        ledger.enrol("big", Polar(0.8, "l2", sv.ogpm(0.3, (0, 10), cells=64), TURN), repeat="once")


def test_the_largest_vector_fits_and_what_does_not_is_refused_before_it_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = sv.optimal(1.0)
    big = Vector(1.0, (part,) * 256, 1)
    assert Vector.from_json(big.to_json()) == big
    ledger = sv.Ledger(tmp_path / "l", budget=9)
    ledger.enrol("big", big)
    assert len(ledger.answer("big", [0.5] * 256).cell) == 1  # type: ignore[arg-type]
    monkeypatch.setattr(journal, "MAX_ENTRY", len(big.to_json()) // 2)
    other = sv.Ledger(tmp_path / "other", budget=9)
    with pytest.raises(ValueError, match="nothing was recorded"):
        other.enrol("big", big)
    assert sv.Ledger(other.path).campaigns == ()


def test_in_plain_words(ledger: sv.Ledger) -> None:
    text = str(ledger)
    assert "Asks for 3 numbers at once and sends 2 of them, drawn by lot." in text
    assert "Asks for a position: a distance and an angle, in one report." in text


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda rows: rows[3].update(cell=[[0, 0], [0, 1]]), "a cell that the mechanism does not have"),
        (lambda rows: rows[3].update(cell=[[0, 0]]), "a cell that the mechanism does not have"),
        (lambda rows: rows[3].update(cell=[[0, 0], [3, 0]]), "a cell that the mechanism does not have"),
        (lambda rows: rows[3].update(cell=[[0, 2], [1, 0]]), "a cell that the mechanism does not have"),
        (lambda rows: rows[3].update(cell=5), "a cell that the mechanism does not have"),
        (lambda rows: rows[3].update(cell=[["0", 0], [1, 0]]), "pairs of an attribute and a cell"),
        (lambda rows: rows[3].update(spent="3/10"), "charged wrongly"),
        (lambda rows: cheaper(rows[1]), "together exceed"),
        (lambda rows: cheaper(rows[2]), "together exceed"),
    ],
)
def test_a_chain_that_breaks_the_rules_is_refused(
    ledger: sv.Ledger, change: Callable[[Any], None], sentence: str
) -> None:
    ledger.answer("several", [0.2, 20.0, None], "monday")
    rewrite(ledger.path, change)
    with pytest.raises(LedgerError, match=sentence):
        sv.Ledger(ledger.path)


def cheaper(entry: dict[str, Any]) -> None:
    """The lie: a spec that claims less ε than its parts need together."""
    for epsilon in (0.7, 0.8):
        entry["terms"]["spec"] = entry["terms"]["spec"].replace(
            f'"epsilon":{epsilon},"format":"{"vector" if epsilon == 0.7 else "polar"}',
            f'"epsilon":0.6,"format":"{"vector" if epsilon == 0.7 else "polar"}',
        )
