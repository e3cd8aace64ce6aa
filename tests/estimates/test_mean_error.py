"""Means of the same people by every unbiased mechanism: `optimal` lowest, ratios as predicted."""

from __future__ import annotations

import math

import numpy as np
import pytest
from benchmarks.mean_error import EPSILONS, PREDICTED, Candidate, compare, groups, simulate, unbiased, worst
from scipy.special import ndtri

import sottovoce as sv

CAMPAIGNS = 4000


def test_discovery_finds_every_unbiased_mechanism_and_nothing_else() -> None:
    names = {candidate.name for candidate in unbiased(1.0)}
    assert names >= set(PREDICTED)
    assert not names & {"ogpm", "sw", "two_scale", "truncated_laplace", "bounded_laplace"}


@pytest.mark.parametrize("epsilon", [1.0, 4.0])
def test_optimal_has_the_lowest_worst_error_and_ratios_are_as_predicted(epsilon: float) -> None:
    found = compare(epsilon, CAMPAIGNS)
    k = EPSILONS.index(epsilon)
    best = worst(found["optimal"])
    # A false alarm of 1e-6 for all comparisons together.
    z = -float(ndtri(1e-6 / (2 * len(found) * (len(groups()) + 2))))
    for name, errors in found.items():
        for error in errors.values():
            assert abs(error.seen - error.exact) < z * error.se, name
        most = worst(errors)
        ratio = most.seen / best.seen
        se = ratio * math.hypot(most.se / most.seen, best.se / best.seen)
        if name != "optimal":
            assert most.exact > best.exact, name
            assert ratio > 1 - z * se, name
        if name in PREDICTED:
            # The shipped optimum is within 0.2 % of the limit that is the prediction.
            told = PREDICTED[name][k] / PREDICTED["optimal"][k]
            assert abs(ratio - told) < z * se + 0.003 * told, name
            assert most.exact == pytest.approx(PREDICTED[name][k], rel=0.003), name


def test_a_mechanism_of_another_epsilon_is_caught() -> None:
    """The mutant: reports of ε = 0.85 sold as those of ε = 1."""
    wrong, right = sv.pm(0.85, (0, 1)), sv.pm(1.0, (0, 1))
    mutant = Candidate("pm", lambda x, rng: wrong.perturb(x, rng=rng), right.variance)
    error = simulate(mutant, groups()["one end"], CAMPAIGNS, np.random.default_rng(3))
    assert abs(error.seen - error.exact) > -float(ndtri(1e-6 / 200)) * error.se
