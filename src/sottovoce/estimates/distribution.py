"""The distribution of a number, reconstructed from a tally, and a band that does not rest on that.

    d = sottovoce.distribution(tally)            # edges, probabilities, low, high
    d.sentence; d.quantile(0.9); d.mean; d.plot(); d.to_csv("hours.csv")

What the noise did is undone by likelihood, on a grid finer than the bins that come back, with log-density
splines whose smoothness is chosen by the evidence (`log_density`).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sottovoce.arrays import FloatArray
from sottovoce.errors import check_confidence, refuse_others, whole_number
from sottovoce.estimates.answer.linear_algebra import single_threaded
from sottovoce.estimates.answer.most_common_range import Range, Sure, surely
from sottovoce.estimates.answer.units import check_tally
from sottovoce.estimates.fits.smooth_fits import Smooth
from sottovoce.estimates.histogram import Distribution
from sottovoce.estimates.limits.envelope import CrossFit, Target
from sottovoce.estimates.tally import Tally
from sottovoce.values.domain import Domain

MOST_BINS = 4096
_POINTS = 32  # of the band, at most, where limits are computed
_ROUNDING = 1e-9  # its limits are rounded outwards by this


@single_threaded
def distribution(
    tally: Tally,
    bins: int | None = None,
    *,
    confidence: float = 0.95,
    band: bool = True,
) -> Distribution:
    """Reconstruct the distribution behind a tally on equal bins of the domain.

    Args:
        tally: Counts of reports about a number.
        bins: How many bins; by default their number follows from n and ε.
        confidence: How often the whole of the distribution function should lie inside the band.
        band: Whether to compute it, the ribbon and where values are most common.

    Returns:
        Probabilities of the bins, limits for each, what can be said of where people are, and a band of the
        distribution function that holds for every truth and does not rest on the reconstruction.

    Raises:
        ValueError: If the tally is empty, or there are more bins than the mechanism has cells.

    Example:
        >>> import numpy as np
        >>> from sottovoce.designs.two_scale import two_scale
        >>> m = two_scale(epsilon=2.0, domain=(0, 24))
        >>> hours = np.random.default_rng(1).normal(8, 1.5, 20_000)
        >>> d = distribution(Tally(m, m.report(hours, rng=1)), bins=24)
        >>> bool(abs(d.mean - 8) < 0.2), d.method
        (True, 'ld')
    """
    reporter = check_tally(tally).mechanism
    check_confidence(confidence)
    if not band:
        refuse_others(distribution, "band=False", {"confidence": confidence})
    most = min(MOST_BINS, reporter.cells)
    domain, usual = reporter.domain, default_bins(tally)
    count = usual if bins is None else whole_number(bins, "bins", least=2, most=most)
    smooth = Smooth.of(tally)
    d = Distribution(
        domain,
        domain.from_unit(np.arange(count + 1) / count),
        smooth.probabilities(count),
        confidence=confidence,
        n=tally.n,
        epsilon=reporter.epsilon,
        method="ld",
    )
    if not band:
        return d
    low, high = cumulative_band(tally, count, confidence)
    d = replace(d, low=low, high=high)
    if count != usual:  # what is said of where people are does not depend on the bins that are drawn
        low, high = cumulative_band(tally, usual, confidence)
    surest = surely(low, high, circle=domain.is_circle)
    return replace(
        d,
        ribbon=smooth.ribbon(count),
        shaped=smooth.shaped,
        most_common=tuple(_range(domain, *run, usual) for run in smooth.highest(usual)),
        sure=None if surest is None else Sure(surest.share, *_range(domain, *surest.edges, usual)),
    )


def _range(domain: Domain, first: int, last: int, bins: int) -> Range:
    """From one edge of equal bins to another; around a circle beyond its end."""
    low, high = domain.from_unit(np.array([first, last - bins * (last > bins)]) / bins).tolist()
    return low, high + domain.width * (last > bins)


def default_bins(tally: Tally) -> int:
    """A power of two near 4·(n·ε²)^¼, between 16 and 256: finer bins would show noise or smoothing only.

    >>> from sottovoce.designs.classic import sw
    >>> default_bins(Tally(sw(1.0), [0] * 10_000))
    32
    """
    ideal = 4 * (tally.n * tally.mechanism.epsilon**2) ** 0.25
    return int(min(2 ** np.clip(np.rint(np.log2(ideal)), 4, 8), tally.mechanism.cells))


def cumulative_band(tally: Tally, bins: int, confidence: float) -> tuple[FloatArray, FloatArray]:
    """Limits of F at the edges of equal bins, all together with the given confidence.

    F(t) is the average of 1[x ≤ t], so it has envelope limits at every t. The band takes them at a few
    points, which share the error evenly; between two of them F is held by the limits at both, because it
    increases.

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
