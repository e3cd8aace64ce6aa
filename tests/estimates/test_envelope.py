"""The optimisation behind envelope weights, and the choice between respondents and the population."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import minimize

import sottovoce as sv
from sottovoce.estimates.fits.binned_cells import Binned
from sottovoce.estimates.limits.envelope import CrossFit, Envelope, Nodes, Target
from sottovoce.estimates.limits.envelope_solver import Problem, least_limit
from sottovoce.estimates.limits.quantile_interval import Limits, Look
from sottovoce.estimates.limits.weighted_counts import Part
from sottovoce.estimates.quantile import quantile_limits


def value(w: np.ndarray, q: np.ndarray, kappa: float) -> float:
    return float(q @ w + kappa * math.sqrt(max(q @ w**2 - (q @ w) ** 2, 0.0)))


@pytest.mark.parametrize("kappa", [0.01, 0.1, 1.0])
@pytest.mark.parametrize("seed", range(4))
def test_weights_are_nearly_the_best_there_are(kappa: float, seed: int) -> None:
    """Against a general solver, on small random problems: within 2 % of what the sampling error adds."""
    rng = np.random.default_rng(seed)
    rows = rng.dirichlet(np.ones(6), 20)
    bound, q = rng.random(20), rng.dirichlet(np.ones(20)) @ rows  # a pilot is a mixture of rows
    w, _ = least_limit(Problem(rows, bound, q, kappa))
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
    w, _ = least_limit(Problem(rows, bound, np.full(4, 0.25), 0.1))
    assert w == pytest.approx(np.ones(4))


@pytest.mark.parametrize(("times", "constant"), [(0.99, False), (1.01, True)])
def test_weights_are_constant_exactly_where_people_at_the_top_could_look_like_the_pilot(
    times: float, constant: bool
) -> None:
    """The bound is highest at one row: κ against the χ distance of the pilot from it."""
    rng = np.random.default_rng(3)
    rows = rng.dirichlet(np.ones(8), 30)
    bound, q = np.append(1.0, 0.5 * rng.random(29)), 0.9 * rows[0] + 0.1 * rows[1:].mean(axis=0)
    kappa = times * math.sqrt(float(((rows[0] - q) ** 2 / q).sum()))
    w, _ = least_limit(Problem(rows, bound, q, kappa))
    assert bool(np.ptp(w) == 0) is constant


@pytest.mark.parametrize("m", [sv.sw(2.0), sv.two_scale(1.0), sv.optimal(2.0, question="value")], ids=repr)
def test_the_law_between_bends_is_interpolated_exactly(m: sv.Mechanism) -> None:
    binned = Binned.of(sv.Tally(m, [0, 1]), 32)
    t, rows, *_ = Nodes(binned).curved
    x = np.clip(m.domain.from_unit(t), m.domain.low, m.domain.high)
    assert np.abs(binned.law(x).dense() - rows).max() < 1e-9


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
    # The ends of a quantile's interval are searched for, to a fiftieth of its width.
    wide = 1.04 if what == "quantile" else 1.0
    assert people.high - people.low <= wide * (population.high - population.low) + 1e-12
    if what in ("mean", "circular mean"):
        assert people.error < population.error
    assert "respondents" in str(people)
    with pytest.raises(ValueError, match="estimand must be one of"):
        ASK[what](t, estimand="them")


def test_the_average_noise_is_an_upper_estimate_and_close() -> None:
    m = sv.sw(4.0)
    x = np.random.default_rng(3).choice([0.1, 0.9], 50_000)
    fit = CrossFit(sv.Tally(m, m.report(x, rng=3)))
    (part, _) = fit.statistic(Target(lambda t: t), 1, 0.025, "respondents")
    law = fit.binned.law(x[:2000])
    exact = float((law.expect(part.weights**2) - law.expect(part.weights) ** 2).mean())
    assert 0.95 * exact < part.ceiling < 1.3 * exact
    assert part.least <= part.ceiling <= part.most


def test_quantiles_asked_together_are_those_asked_alone() -> None:
    m = sv.sw(1.0, cells=4096)
    x = np.random.default_rng(4).beta(2, 5, 20_000)
    t = sv.Tally(m, m.report(x, rng=4))
    together = sv.quantile(t, [0.1, 0.5, 0.9])
    for q, found in zip((0.1, 0.5, 0.9), together, strict=True):
        alone = sv.quantile(t, q)
        assert found.value == alone.value
        assert (found.low, found.high, found.bound) == (alone.low, alone.high, alone.bound)
    lows, highs = [e.low for e in together], [e.high for e in together]
    assert lows == sorted(lows)
    assert highs == sorted(highs)


LAWS_THAT_JUMP = {
    "steps": sv.optimal(1.0, question="value"),
    "many steps": sv.optimal(2.0, question="value", loss="l1"),
    "narrow windows": sv.sw(16.0),
    "values coarser than the nodes": sv.optimal(2.0, (1e9, 1e9 + 3), "value", loss="l1"),
    "a circle": sv.ogpm(1.0, sv.Circle(24, origin=-7)),
}


@pytest.mark.parametrize("name", LAWS_THAT_JUMP)
def test_an_envelope_holds_at_the_very_points_where_law_or_target_jump(name: str) -> None:
    """Round numbers: people can be exactly where a step table turns, and so can a question."""
    m = LAWS_THAT_JUMP[name]
    binned = Binned.of(sv.Tally(m, [0, 1]), 64)
    problem = Envelope(Nodes(binned), binned.law_of_parts(64).mix(np.full(64, 1 / 64)), 10**6)
    bends = m.domain.to_unit(m.bends(binned.first))
    places = [0.25, 0.5, 128.5 / 256, float(bends[len(bends) // 3]), float(bends[len(bends) // 2])]
    steps = [Target(lambda t, a=a: (t <= a).astype(float), jumps=(a,)) for a in places]
    for target in (*steps, Target(lambda t: t), Target(lambda t: (t - 0.3) ** 2, curvature=(2.0, 2.0))):
        at = m.domain.from_unit(np.concatenate((bends, target.jumps)))
        near = [m.domain.from_unit(m.domain.to_unit(at) + d) for d in (-3e-10, 3e-10)]
        x = np.concatenate([at, np.nextafter(at, -np.inf), np.nextafter(at, np.inf), *near])
        x = np.clip(x, m.domain.low, m.domain.high)
        law, tau = binned.law(x), target.at(m.domain.to_unit(x))
        assert (law.expect(problem.weights(target, 1, 1.96)) - tau).min() > -1e-7
        assert (tau - law.expect(problem.weights(target, -1, 1.96))).min() > -1e-7


@pytest.mark.parametrize(("epsilon", "loss", "x"), [(1.0, "l2", 0.5), (2.0, "l1", 0.5), (2.0, "l1", 0.25)])
def test_people_exactly_where_a_design_turns_are_counted(epsilon: float, loss: str, x: float) -> None:
    """All of them are at x, the end of the range: the share is 1, and no interval may exclude it."""
    m = sv.optimal(epsilon, question="value", loss=loss)
    t = sv.Tally(m, m.report(np.full(10_000, x), rng=1))
    assert sv.probability(t, 0, x).high == 1.0
    assert sv.probability(t, x, 1).high == 1.0
    median = sv.quantile(t, 0.5)
    assert median.low <= x <= median.high


def test_the_ends_of_the_people_are_looked_for_further_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """A limit that misleads by chance is not the last word: one further out that admits F = p is followed."""
    m = sv.sw(1.0, cells=4096)
    t = sv.Tally(m, m.report(np.random.default_rng(7).beta(5, 5, 20_000), rng=8))
    (ends,) = quantile_limits(CrossFit(t), [0.5], 0.025)
    look = Limits.look

    def misleading(self: Limits, side: int, at: float) -> Look:
        # Limits near the true end exclude by chance, as if the quantile lay above.
        honest = look(self, side, at)
        return honest._replace(excess=-0.01) if side > 0 and ends.low < at < ends.low + 0.03 else honest

    monkeypatch.setattr(Limits, "look", misleading)
    (again,) = quantile_limits(CrossFit(t), [0.5], 0.025)
    assert again.low <= ends.low + 0.031
    low = ends.low - 0.05

    def even(self: CrossFit, target: Target, side: int, *rest: object) -> list[Part]:
        known = 1.0 if side < 0 or target.jumps[0] > low else 0.0
        return [Part(np.full(2, known), np.array([10, 10]), 0.0, 0.0)]

    monkeypatch.setattr(CrossFit, "statistic", even)
    (wider,) = quantile_limits(CrossFit(t), [0.5], 0.025)
    assert wider.low <= ends.low + 1e-9
