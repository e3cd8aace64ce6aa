"""A plan for a choice: what error to expect of each share and, of ratings, of the mean.

Reports that name blocks of options are best for shares; a window on the numbers is better for the mean of
ratings at small ε. Both answer both: the least variance of unbiased estimates from a law P, at the even
truth, is that of weighted least squares, (P·D⁻¹·Pᵀ)⁻¹ with D the chances of the reports.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from sottovoce.core.arrays import FloatArray
from sottovoce.core.errors import ArgumentError, check_epsilon, whole_number
from sottovoce.designs.choices import choice
from sottovoce.designs.families import block_variance, family
from sottovoce.designs.optimal import most_epsilon, optimal
from sottovoce.planning.ways import Way, WaysPlan

_MOST_RATINGS = 64  # ratings up to which a window is looked at


def plan_choice(epsilon: float | None, people: int | None, options: Sequence[str | int]) -> WaysPlan:
    """Say what error to expect of shares, and of ratings of their mean too.

    Args:
        epsilon: The privacy parameter.
        people: How many people report.
        options: What they choose from; whole numbers are ratings.

    Returns:
        The designs, with the errors of a "share", where all options are chosen alike, and of the "mean" of
        ratings.

    Raises:
        ArgumentError: If ε, people or the options are none.
    """
    if epsilon is None or people is None:
        raise ArgumentError("a plan of a choice needs epsilon and people", argument="epsilon")
    epsilon, n = check_epsilon(epsilon), whole_number(people, "people", least=1)
    m = choice(epsilon, options)
    k, d = len(m.domain.names), len(m.blocks[0])  # type: ignore[union-attr]
    total = float(block_variance(k, d, epsilon)) * family(k, d).ratio
    names = m.domain.names  # type: ignore[union-attr]
    rated = np.array(names, dtype=np.float64) if all(isinstance(name, int) for name in names) else None
    errors = {"share": math.sqrt(total / k / n)}
    if rated is not None:
        errors["mean"] = math.sqrt(total / (k - 1) * k * float(np.var(rated)) / n)
    designs = [Way("choice", m, errors)]
    if rated is not None and k <= _MOST_RATINGS and epsilon <= most_epsilon():
        window = optimal(epsilon, (float(rated.min()), float(rated.max())))
        error = _least_squares(window.probabilities(rated))
        noise = float(np.mean(window.variance(rated)) + np.var(rated))
        errors = {"share": math.sqrt(np.trace(error) / k / n), "mean": math.sqrt(noise / n)}
        designs.append(Way("window", window, errors))
    return WaysPlan(epsilon, n, tuple(designs))


def _least_squares(law: FloatArray) -> FloatArray:
    """n times the covariance of the least squares estimates of shares, where all are alike."""
    information = (law / law.mean(axis=0).clip(1e-300)) @ law.T
    k = len(law)
    # What is estimated is multinomial itself: its own covariance is in the inverse already, less p·pᵀ.
    return np.asarray(np.linalg.pinv(information, rcond=1e-12) - 1 / k**2)
