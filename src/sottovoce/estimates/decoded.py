"""Averages of decoded reports: right as they are where a mechanism is unbiased."""

from __future__ import annotations

import numpy as np

from sottovoce.core.number import Number
from sottovoce.estimates.crossfit import CrossFit
from sottovoce.estimates.envelope import Target
from sottovoce.estimates.statistic import Part, moments
from sottovoce.estimates.tally import Tally


def is_unbiased(reporter: Number) -> bool:
    """Whether decoded reports average to the truth at every x, to rounding.

    Args:
        reporter: A mechanism of one number.

    Returns:
        False on a circle, where an average of numbers means nothing.

    Example:
        >>> from sottovoce.designs.classic import ogpm, pm
        >>> is_unbiased(pm(1.0)), is_unbiased(ogpm(1.0))
        (True, False)
    """
    if reporter.domain.is_circle:
        return False
    ends = reporter.unit_table(np.array([0.0, 1.0]), np.arange(reporter.cells)) @ reporter.positions
    if np.abs(ends - (0.0, 1.0)).max() > 1e-9:
        return False
    # Points that no regular grid of cells shares.
    t = np.concatenate(([0.0, 1.0], np.mod(np.arange(1, 512) * 0.6180339887498949, 1.0)))
    domain = reporter.domain
    law = reporter.operator(np.clip(domain.from_unit(t), domain.low, domain.high))
    return bool(np.abs(law.expect(reporter.positions) - t).max() < 1e-9)


def decoded_part(tally: Tally, estimand: str) -> Part:
    """The decoded mean as a statistic, with what its noise can be at any x and is on average."""
    reporter, weights = tally.mechanism, tally.mechanism.positions
    t = np.linspace(0.0, 1.0, 513)
    domain = reporter.domain
    law = reporter.operator(np.clip(domain.from_unit(t), domain.low, domain.high))
    noise = law.expect(weights**2) - law.expect(weights) ** 2
    least, most = max(float(noise.min()), 0.0), float(noise.max())
    average = None
    if estimand == "respondents":
        from scipy.interpolate import make_interp_spline

        # Between grid points the variance leaves its chord by at most (Δt)²/4 where E[y] = x.
        shape = make_interp_spline(t, noise + (t[1] - t[0]) ** 2 / 4, k=1)
        statistic = CrossFit(tally).statistic(Target(shape, curvature=(-1e-9, 0.0)), 1, 0.16)
        average = float(np.clip(moments(statistic, "population").value, noise.min(), noise.max()))
    return Part(weights, tally.counts, least, most, average)
