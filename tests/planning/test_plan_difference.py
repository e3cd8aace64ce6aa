"""sv.plan("difference"): power, people and ε from exact variances, and what simulation says."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

import sottovoce as sv

SAMPLE = 24 * np.random.default_rng(1).beta(5, 2, 2000)


def test_people_power_and_epsilon_agree() -> None:
    plan = sv.plan("difference", epsilon=2.0, people=None, domain=(0, 24), shift=0.48, sample=SAMPLE)
    assert plan.power == pytest.approx(0.8, abs=1e-3)
    again = sv.plan("difference", 2.0, plan.people, (0, 24), shift=0.48, sample=SAMPLE)
    assert again.power == pytest.approx(plan.power)
    surer = sv.plan("difference", 2.0, None, (0, 24), shift=0.48, sample=SAMPLE, power=0.9)
    assert surer.people > 1.3 * plan.people
    worst = sv.plan("difference", 2.0, None, (0, 24), shift=0.48)
    assert worst.people > plan.people
    assert "80 %" in str(plan)


def test_an_epsilon_is_found_that_just_does() -> None:
    plan = sv.plan("difference", None, 20_000, (0, 24), shift=0.48)
    assert plan.power >= 0.8 - 1e-9
    assert sv.plan("difference", plan.epsilon / 1.03, 20_000, (0, 24), shift=0.48).power < 0.8


def test_the_power_is_what_simulation_shows() -> None:
    """200 comparisons at the planned number of people; false alarm 1e-6. Half of the people see too few."""
    plan = sv.plan("difference", 2.0, None, (0, 24), shift=1.2, sample=SAMPLE)
    m, rng = plan.mechanism, np.random.default_rng(2)
    laws = [m.operator(x).mix(np.full(len(x), 1 / len(x))) for x in (SAMPLE, np.clip(SAMPLE - 1.2, 0, 24))]

    def seen(people: int) -> int:
        drawn = (
            [sv.Tally.from_counts(m, rng.multinomial(people, law / law.sum())) for law in laws]
            for _ in range(200)
        )
        return sum(sv.difference(a, b).low > 0 for a, b in drawn)

    low, high = binom.ppf([1e-6, 1 - 1e-6], 200, plan.power)
    assert low <= seen(plan.people) <= high
    assert seen(plan.people // 2) < low


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "needs shift"),
        ({"shift": -1.0}, "shift must be positive"),
        ({"shift": 0.1, "power": 1.5, "people": None}, "power must lie"),
        ({"shift": 0.1, "domain": sv.Circle(24)}, "linear interval"),
        ({"shift": 0.1, "epsilon": None, "people": None}, "epsilon or people"),
        ({"shift": 1e-6, "epsilon": None, "people": 10}, "so few people"),
    ],
)
def test_refusals(arguments: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        sv.plan("difference", **{"epsilon": 1.0, "people": 100, "domain": (0, 1), **arguments})  # type: ignore[arg-type]
