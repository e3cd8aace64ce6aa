"""Intervals at every n for the mean of the respondents: against PTT's Theorem 5, and that they hold."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom

import sottovoce as sv
from sottovoce.estimates.limits.every_n import noise_reach
from sottovoce.estimates.limits.weighted_counts import Part


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0])
@pytest.mark.parametrize("n", [30, 300, 30_000])
def test_finite_intervals_are_no_wider_than_bernsteins_and_hoeffdings(epsilon: float, n: int) -> None:
    """PTT's Theorem 5, with the constants of its proof (B.1), is about the mean of the respondents."""
    m = sv.ptt(epsilon, (-1, 1), cells=4096)
    x = np.random.default_rng(2).uniform(-1, 1, n)
    error = 1e-6  # so that a false alarm below would be no chance
    tally = sv.Tally(m, m.report(x, rng=1))
    e = sv.mean(tally, interval="finite", estimand="respondents", confidence=1 - error)
    first, last = m.decode([0, m.cells - 1])
    log = math.log(2 / error)
    linear = 2 / 3 * (last + 1) * log  # solves nγ² = (2V + ⅔mγ)·log(2/β)
    bernstein = (linear + math.sqrt(linear**2 + 8 * n * m.worst_variance() * log)) / (2 * n)
    assert e.half_width <= min(bernstein, (last - first) * math.sqrt(log / 2 / n))
    assert e.low <= x.mean() <= e.high


@pytest.mark.parametrize("side", [-1, 1])
@pytest.mark.parametrize("make", [sv.pm, sv.duchi, sv.optimal])
def test_the_reach_of_noise_holds_between_the_points_it_is_computed_at(make, side: int) -> None:  # type: ignore[no-untyped-def]
    m = make(2.0)
    t = sv.Tally(m, m.report(np.full(200, m.domain.high), rng=1))
    y = m.domain.to_unit(m.decode(np.arange(m.cells)))
    part = Part(y, t.counts, 0.0, m.worst_variance() / m.domain.width**2)

    def reach(points: int) -> float:
        at = np.linspace(0, 1, points)
        return noise_reach(part, m.operator(m.domain.from_unit(at)), at, side, 0.025)

    assert reach(4097) * (1 - 1e-9) <= reach(65) <= 1.01 * reach(4097)
    # Chernoff at the best λ for the very worst x is what no valid bound can be below.
    at, need = np.linspace(0, 1, 4097), math.log(1 / 0.025) / t.n
    law = m.operator(m.domain.from_unit(at))
    sizes = math.sqrt(2 * need / part.most) * np.geomspace(0.2, 5, 25)
    cost = [(np.log(law.expect(np.exp(-s * side * y))) + s * side * at).max() for s in sizes]
    assert reach(65) * (1 + 1e-9) >= min((c + need) / s for c, s in zip(cost, sizes, strict=True))


def test_the_finite_interval_holds_for_respondents_who_differ() -> None:
    """ε = 4, where the bound on the noise is used: betting would pay for the spread of these people."""
    m = sv.ptt(4.0, (0, 1), cells=1024)
    people = np.repeat([0.0, 0.2, 1.0], [50, 20, 10])
    rng, held, narrower, runs = np.random.default_rng(9), 0, 0, 60
    for _ in range(runs):
        t = sv.Tally(m, m.report(people, rng=rng))
        e, population = (sv.mean(t, interval="finite", estimand=who) for who in ("respondents", "population"))
        held += e.low <= people.mean() <= e.high
        narrower += e.half_width < 0.7 * population.half_width
    assert held / runs >= binom.ppf(1e-6, runs, 0.95) / runs
    assert narrower == runs
