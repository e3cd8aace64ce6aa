"""The mean position of people on a disc, from polar reports.

Distance and angle are randomised independently, so the expectation of f(distance report)·g(angle report)
is F(r)·G(θ). For the angle e^{iθ'}/ρ has mean e^{iθ}. For the distance linear programming finds weights w_j
with Σ_j w_j P(j | r) near r, trading their noise against the largest bias B over **every** r; the interval
is the normal one, widened by B. So it holds for every truth, also where windows stop at the ends.
"""

from __future__ import annotations

import math

import numpy as np

from sottovoce.arrays import FloatArray
from sottovoce.errors import DataError, check_confidence
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.limits.weighted_counts import normal_quantile
from sottovoce.estimates.tally import Tally
from sottovoce.reporters.contract import described
from sottovoce.reporters.law.moments import resultant
from sottovoce.reporters.mechanism import Mechanism

BINS = 64  # of cells, at most, that weights and laws are computed on


def polar_position(tally: Tally, *, confidence: float) -> tuple[Estimate, Estimate]:
    """The mean of x and the mean of y, around the pole: `mean_position` of polar reports.

    Example:
        >>> from sottovoce.surveys.polar import polar
        >>> m = polar(4.0, radius=10.0, design="unbiased")
        >>> t = Tally(m, m.report(np.tile([3.0, 4.0], (2000, 1)), rng=1))
        >>> x, y = polar_position(t, confidence=0.95)
        >>> x.low < 3.0 < x.high and y.low < 4.0 < y.high
        True
    """
    distance, angle, counts = joint_counts(tally.required(2))
    radius = distance.domain.high
    z = normal_quantile((1 - check_confidence(confidence)) / 2)
    rho = resultant(angle)
    weights, bias = _radial_weights(distance, z / math.sqrt(tally.n) / rho)
    bias = bias * radius + radius * _angular_bias(angle, rho)
    turn = np.exp(1j * angle.decode(np.arange(angle.cells))) / rho
    value = radius * weights[:, None] * turn[None, :]
    estimates = []
    for name, part in (("x", value.real), ("y", value.imag)):
        mean = float((counts * part).sum() / tally.n)
        square = float((counts * part**2).sum() / tally.n)
        error = math.sqrt(max(square - mean**2, 0.0) / (tally.n - 1))
        reach = z * error + bias
        note = f"the interval allows for a bias of {bias:.3g}"
        estimates.append(
            Estimate(mean, mean - reach, mean + reach, math.hypot(error, bias), confidence, tally.n,
                     f"mean {name}", "population", "phasor", (note,))
        )  # fmt: skip
    return estimates[0], estimates[1]


def joint_counts(tally: Tally) -> tuple[Mechanism, Mechanism, FloatArray]:
    """The mechanisms of distance and angle and the counts, distance cells by angle cells."""
    if (parts := tally.law.distance_and_angle) is None:
        sentence = f"this is a tally of {described(tally.reporter)}, not of a polar mechanism"
        raise DataError(f"{sentence}; see sottovoce.polar", code="kind", argument="tally")
    return *parts, tally.counts.reshape(parts[0].cells, parts[1].cells).astype(np.float64)


def _radial_weights(m: Mechanism, noise: float) -> tuple[FloatArray, float]:
    """Weights per cell for the distance as a share of the radius, and their largest bias over every r.

    Minimises B + noise·max|w|. The probabilities are linear in r between bends, so B is attained at a bend
    or just below one.
    """
    from scipy.optimize import linprog

    first = m.bins(BINS)
    bends = m.bends(first)
    nodes = np.unique(np.concatenate((bends, np.nextafter(bends[1:], 0.0), [0.0])))
    law = m.operator(nodes).coarsen(first).dense()
    r = nodes / m.domain.high
    count, bins = law.shape
    one, zero = np.ones((count, 1)), np.zeros((count, 1))
    eye, edge, none = np.eye(bins), np.ones((bins, 1)), np.zeros((bins, 1))
    rows = np.block([[law, -one, zero], [-law, -one, zero], [eye, none, -edge], [-eye, none, -edge]])
    limits = np.concatenate((r, -r, np.zeros(2 * bins)))
    cost = np.concatenate((np.zeros(bins), [1.0, noise]))
    bounds = [(None, None)] * bins + [(0, None), (0, None)]
    solution = linprog(cost, A_ub=rows, b_ub=limits, bounds=bounds, method="highs")
    weights = np.asarray(solution.x)[:bins]
    bias = float(np.abs(law @ weights - r).max())
    size = np.diff(np.append(first, m.cells))
    return np.repeat(weights, size), bias


def _angular_bias(m: Mechanism, rho: float) -> float:
    """How far the mean of e^{iθ'}/ρ can be from e^{iθ}: what is left by cells of finite width."""
    theta = m.domain.low + m.domain.width / m.cells * np.linspace(0, 1, 33)
    mean = m.probabilities(theta) @ np.exp(1j * m.decode(np.arange(m.cells))) / rho
    return float(np.abs(mean - np.exp(1j * theta)).max())
