"""The optimisation behind envelope weights, and the choice between respondents and the population."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import minimize

import sottovoce as sv
from sottovoce.estimates.crossfit import CrossFit
from sottovoce.estimates.envelope import Nodes, Target, minimise_limit
from sottovoce.estimates.model import Coarse


def value(w: np.ndarray, q: np.ndarray, kappa: float) -> float:
    return float(q @ w + kappa * math.sqrt(max(q @ w**2 - (q @ w) ** 2, 0.0)))


@pytest.mark.parametrize("kappa", [0.01, 0.1, 1.0])
@pytest.mark.parametrize("seed", range(4))
def test_weights_are_nearly_the_best_there_are(kappa: float, seed: int) -> None:
    """Against a general solver, on small random problems: within 2 % of what the sampling error adds."""
    rng = np.random.default_rng(seed)
    rows = rng.dirichlet(np.ones(6), 20)
    bound, q = rng.random(20), rng.dirichlet(np.ones(20)) @ rows  # a pilot is a mixture of rows
    w = minimise_limit(rows, bound, q, kappa)
    assert (rows @ w - bound).min() > -1e-9
    best = minimize(
        lambda w: float(q @ w) + kappa * math.sqrt(float(q @ (w - q @ w) ** 2) + 1e-12),
        np.full(6, 1.0),
        constraints={"type": "ineq", "fun": lambda w: rows @ w - bound},
        method="SLSQP",
        options={"maxiter": 500},
    )
    spread = math.sqrt(float(q @ (w - q @ w) ** 2))
    assert value(w, q, kappa) <= float(best.fun) + 0.02 * kappa * max(spread, 0.1)
    assert value(np.full(6, bound.max()), q, kappa) >= value(w, q, kappa)


def test_nothing_better_than_constant_weights_gives_constant_weights() -> None:
    rows = np.full((10, 4), 0.25)  # a mechanism that says nothing
    bound = np.linspace(0, 1, 10)
    assert minimise_limit(rows, bound, np.full(4, 0.25), 0.1) == pytest.approx(np.ones(4))


@pytest.mark.parametrize("m", [sv.sw(2.0), sv.two_scale(1.0), sv.optimal(2.0)], ids=repr)
def test_the_law_between_bends_is_interpolated_exactly(m: sv.Mechanism) -> None:
    coarse = Coarse.of(sv.Tally(m, [0, 1]), 32)
    t, rows = Nodes(coarse).curved
    x = np.clip(m.domain.from_unit(t), m.domain.low, m.domain.high)
    assert np.abs(coarse.law(x).dense() - rows).max() < 1e-9


ASK = {
    "mean": lambda t, **o: sv.mean(t, **o),
    "variance": lambda t, **o: sv.variance(t, **o),
    "quantile": lambda t, **o: sv.quantile(t, 0.7, **o),
    "probability": lambda t, **o: sv.probability(t, 0.1, 0.4, **o),
    "circular mean": lambda t, **o: sv.circular_mean(t, **o),
    "concentration": lambda t, **o: sv.concentration(t, **o),
}


@pytest.mark.parametrize("what", ASK)
def test_every_estimate_says_whose_it_is_and_respondents_are_no_less_sure(what: str) -> None:
    around = what in ("circular mean", "concentration")
    m = sv.two_scale(4.0, sv.Circle(1) if around else (0, 1))
    x = np.random.default_rng(2).choice([0.05, 0.3, 0.35], 20_000)
    t = sv.Tally(m, m.report(x, rng=2))
    population, people = (ASK[what](t, estimand=e) for e in ("population", "respondents"))
    assert (population.estimand, people.estimand) == ("population", "respondents")
    assert ASK[what](t).estimand == "population"
    # A quantile's interval is rounded outwards to a grid, so it may only be equal.
    assert people.high - people.low <= population.high - population.low + 1e-12
    if what in ("mean", "circular mean"):
        assert people.standard_error < population.standard_error
    assert "respondents" in str(people)
    with pytest.raises(ValueError, match="estimand must be one of"):
        ASK[what](t, estimand="them")


def test_the_average_noise_is_an_upper_estimate_and_close() -> None:
    m = sv.sw(4.0)
    x = np.random.default_rng(3).choice([0.1, 0.9], 50_000)
    fit = CrossFit(sv.Tally(m, m.report(x, rng=3)))
    (part, _) = fit.parts(Target(lambda t: t), 1, 0.025, "respondents")
    law = fit.coarse.law(x[:2000])
    exact = float((law.expect(part.weights**2) - law.expect(part.weights) ** 2).mean())
    assert part.noise is not None
    assert 0.95 * exact < part.noise < 1.3 * exact
    assert part.least <= part.noise <= part.most


def test_quantiles_asked_together_are_those_asked_alone() -> None:
    m = sv.sw(1.0, cells=4096)
    x = np.random.default_rng(4).beta(2, 5, 20_000)
    t = sv.Tally(m, m.report(x, rng=4))
    together = sv.quantile(t, [0.1, 0.5, 0.9])
    for q, found in zip((0.1, 0.5, 0.9), together, strict=True):
        alone = sv.quantile(t, q)
        assert found.value == alone.value
        # The search may meet a limit that is not quite monotone from another side: a step of its grid.
        assert abs(found.low - alone.low) <= 1 / 256
        assert abs(found.high - alone.high) <= 1 / 256
    lows, highs = [e.low for e in together], [e.high for e in together]
    assert lows == sorted(lows)
    assert highs == sorted(highs)
