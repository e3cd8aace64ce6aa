"""A band that holds the whole distribution function, for every truth, and shares of coarse bins likewise.

F(t) is the average of 1[x ≤ t], so it has envelope limits at every t. The band takes them at a few points,
which share the error evenly; between two of them F is held by the limits at both, because it increases.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np

from sottovoce.arrays import FloatArray
from sottovoce.errors import check_confidence, whole_number
from sottovoce.estimates.answer.units import check_tally
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.limits.envelope import CrossFit, Target
from sottovoce.estimates.quantile import probability
from sottovoce.estimates.tally import Tally

_POINTS = 32  # at most, where limits are computed
_ROUNDING = 1e-9  # limits are rounded outwards by this


def cumulative_band(tally: Tally, bins: int, confidence: float) -> tuple[FloatArray, FloatArray]:
    """Limits of F at the edges of equal bins, all together with the given confidence.

    Args:
        tally: Counts of reports about a number.
        bins: How many bins.
        confidence: How often the whole of F should lie inside.

    Returns:
        The lower and the upper limit at each of the bins + 1 edges, increasing. Between two edges F lies
        above the lower limit at the left one and below the upper limit at the right one.
    """
    low, high = np.zeros(bins + 1), np.ones(bins + 1)
    low[-1] = 1.0  # everybody is at most at the end
    if tally.n > 1 and bins > 1:
        fit, circle = CrossFit(tally), tally.mechanism.domain.is_circle
        at = np.unique(np.linspace(0, bins, min(bins, _POINTS) + 1).round().astype(np.int64))[1:-1]
        tail = (1 - confidence) / 2 / len(at)
        targets = [Target.within(0.0, k / bins) if circle else Target.up_to(k / bins) for k in at]
        limits = fit.limits([(target, side) for target in targets for side in (-1, 1)], tail)
        low[at], high[at] = np.reshape(limits, (-1, 2)).T + np.array([[-_ROUNDING], [_ROUNDING]])
    low = np.maximum.accumulate(np.clip(low, 0.0, 1.0))
    high = np.minimum.accumulate(np.clip(high, 0.0, 1.0)[::-1])[::-1]
    # Limits are statistics of their own: where they cross, nothing between the two is excluded.
    return np.minimum(low, high), np.maximum(low, high)


def probabilities(
    tally: Tally, bins: int = 8, *, estimand: str = "population", confidence: float = 0.95
) -> list[Estimate]:
    """Estimate the shares of the people in equal bins: intervals that hold for every truth, all together.

    Few bins: each costs a share of the error, and what the mechanism blurs is not resolved by asking.

    Args:
        tally: Counts of reports about a number.
        bins: How many. A bin has both of its ends: people exactly between two count in both.
        estimand: Of the "population" that these people stand for, or of the "respondents".
        confidence: How often all intervals should hold together.

    Returns:
        One share for each bin, from the lowest.

    Raises:
        ValueError: If there are more than 64 bins, or the tally is empty.

    Example:
        >>> import numpy as np
        >>> from sottovoce.designs.classic import sw
        >>> m = sw(epsilon=4.0)
        >>> shares = probabilities(Tally(m, m.report(np.linspace(0, 1, 20_000), rng=1)), bins=4)
        >>> all(e.low < 0.25 < e.high for e in shares)
        True
    """
    check_confidence(confidence)
    count = whole_number(bins, "bins", least=2, most=64)
    domain = check_tally(tally).mechanism.domain
    edges = np.clip(domain.from_unit(np.arange(count + 1) / count), domain.low, domain.high)
    level = 1 - (1 - confidence) / count
    shares = [
        probability(tally, low, high, estimand=estimand, confidence=level)
        for low, high in pairwise(edges.tolist())
    ]
    return [replace(share, confidence=confidence) for share in shares]
