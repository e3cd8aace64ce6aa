"""The table of docs/measurements/surveys.md: what is saved, what is printed, and what it shows."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks import attributes, rounds

DOCS = Path(__file__).parents[2] / "docs" / "measurements"
ROWS = json.loads(attributes.RESULTS.read_text())
GUESSED = ("even", "betas")


def test_the_page_shows_what_was_saved() -> None:
    page = (DOCS / "surveys.md").read_text()
    assert [(r["epsilon"], r["d"]) for r in ROWS] == [
        (epsilon, d) for epsilon in attributes.EPSILONS for d in attributes.WIDTHS
    ]
    assert attributes.table(ROWS) in page
    assert rounds.table(json.loads(rounds.RESULTS.read_text())) in page


@pytest.mark.parametrize(
    "saved", [r for r in ROWS if r["d"] == 4 and r["epsilon"] <= 4], ids=lambda r: f"epsilon={r['epsilon']:g}"
)
def test_saved_figures_are_those_of_this_code(saved: dict[str, object]) -> None:
    made = attributes.row(float(str(saved["epsilon"])), 4, runs=0)
    assert made["k"] == saved["k"]
    for truth in ("worst", *GUESSED):
        assert made[truth] == pytest.approx(saved[truth], rel=5e-3)


def test_vector_is_ahead_in_the_worst_case_and_for_an_assumed_spread() -> None:
    for r in ROWS:
        assert r["worst"]["default"] <= min(r["worst"].values()) * (1 + 1e-9)
        for truth in GUESSED:
            assert r[truth]["uniform"] <= 1.01 * min(r[truth].values())


def test_simulations_agree_with_exact_figures() -> None:
    """Scores of nearly normal errors: none beyond 5.5 of 140 (1e-6 or less), and spread as they should be."""
    scores = np.array(
        [
            (r["simulated"][name][0] - r["betas"][name]) / r["simulated"][name][1]
            for r in ROWS
            for name in attributes.METHODS
        ]
    )
    assert np.abs(scores).max() < 5.5
    assert 0.7 < np.sqrt(np.mean(scores**2)) < 1.4


def test_two_rounds_pay_where_values_lie_together_and_epsilon_is_not_small() -> None:
    for r in json.loads(rounds.RESULTS.read_text()):
        if r["truth"].startswith("narrow") and r["epsilon"] >= 2:
            assert r["20000"][0] < 0.85
        if r["epsilon"] == 0.5:
            assert r["1000"][0] > 0.99
