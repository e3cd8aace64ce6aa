"""Other reconstructions of a distribution, to compare the library's splines with.

    f ← f ∘ P(c / Pᵀf) / n,      then each bin becomes ¼, ½, ¼ of its neighbours and itself

is expectation maximisation with smoothing (EMS, Li et al. 2020), the published standard: it stops where
climbing and smoothing balance, and its peaks are noise where people are few. Inversion is least squares
against the exact law, then the nearest point of the simplex. The raw histogram is that of the reports
themselves, as the OGPM paper reads it: it is not the truth's.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sottovoce.arrays import FloatArray, IntArray
from sottovoce.estimates.distribution import Distribution
from sottovoce.estimates.fits.binned_cells import Binned, Products
from sottovoce.estimates.tally import Tally

Smoothing = Callable[[FloatArray], FloatArray]
_GRID = 1024
_ROUNDS = 10  # iterations between two looks at the likelihood


def ems(tally: Tally, bins: int, tolerance: float = 1e-3) -> Distribution:
    """EMS on a grid of at least 1024 points; Li et al. stop at a tolerance of 10⁻³.

    >>> from sottovoce.designs.classic import sw
    >>> m = sw(2.0, (0, 24))
    >>> hours = np.random.default_rng(1).normal(8, 1.5, 20_000)
    >>> bool(abs(ems(Tally(m, m.report(hours, rng=1)), 24).mean - 8) < 0.2)
    True
    """
    binned, points = Binned.of(tally, _GRID), bins * -(-_GRID // bins)
    smooth = smooth_circle if tally.law.as_number().domain.is_circle else smooth_line
    even = np.full(points, 1 / points)
    f = smoothed_em(binned.law_of_parts(points, 1), binned.counts, even, smooth, tolerance=tolerance)
    return _histogram(tally, f.reshape(bins, -1).sum(axis=1), "ems")


def inversion(tally: Tally, bins: int) -> Distribution:
    """Least squares against the exact law; bins of cells are as noisy as they are likely."""
    binned = Binned.of(tally, _GRID)
    law = binned.law_of_parts(bins).dense().T
    weight = 1 / np.sqrt(law.mean(axis=1))
    found = np.linalg.pinv(law * weight[:, None], rcond=1e-10) @ (binned.shares * weight)
    return _histogram(tally, onto_simplex(found), "inversion")


def raw(tally: Tally, bins: int) -> Distribution:
    """The histogram of the reports; those beyond the domain count at its ends."""
    place = np.clip((tally.law.as_number().positions * bins).astype(np.int64), 0, bins - 1)
    return _histogram(tally, np.bincount(place, tally.counts, bins) / tally.n, "raw")


def _histogram(tally: Tally, probabilities: FloatArray, method: str) -> Distribution:
    domain, bins = tally.law.as_number().domain, len(probabilities)
    edges, n, epsilon = domain.from_unit(np.arange(bins + 1) / bins), tally.n, tally.law.as_number().epsilon
    return Distribution(domain, edges, probabilities, confidence=0.95, n=n, epsilon=epsilon, method=method)


def smoothed_em(
    law: Products,
    counts: FloatArray | IntArray,
    start: FloatArray,
    smooth: Smoothing,
    *,
    tolerance: float = 1e-3,
    most: int = 10_000,
) -> FloatArray:
    """Bin probabilities; it stops where the log likelihood changes by less per iteration, judged over ten."""
    c, f, before = np.asarray(counts, dtype=np.float64), start, -np.inf
    n, seen = c.sum(), c > 0
    for step in range(1, most + 1):
        q = law.mix(f)
        f = smooth(np.maximum(f * law.expect(c / q) / n, 0.0))
        if step % _ROUNDS == 0:
            value = float((c[seen] * np.log(q[seen])).sum())
            if abs(value - before) < tolerance * _ROUNDS:
                break
            before = value
    return np.asarray(f / f.sum())


def smooth_line(f: FloatArray) -> FloatArray:
    """¼, ½, ¼ of neighbours and itself; at the ends of an interval ⅔, ⅓; rescaled to the sum 1."""
    out = 0.5 * f
    out[1:-1] += 0.25 * (f[:-2] + f[2:])
    out[0] = (2 * f[0] + f[1]) / 3
    out[-1] = (2 * f[-1] + f[-2]) / 3
    return out / out.sum()


def smooth_circle(f: FloatArray) -> FloatArray:
    """¼, ½, ¼ of neighbours and itself around a circle, rescaled to the sum 1."""
    out = 0.25 * (np.roll(f, 1) + np.roll(f, -1)) + 0.5 * f
    return np.asarray(out / out.sum())


def onto_simplex(v: FloatArray) -> FloatArray:
    """The nearest point (Euclidean) with entries ≥ 0 that sum to 1.

    >>> onto_simplex(np.array([0.6, 0.6, -1.0])).tolist()
    [0.5, 0.5, 0.0]
    """
    ordered = np.sort(v)[::-1]
    excess = (np.cumsum(ordered) - 1) / np.arange(1, len(v) + 1)
    level = excess[np.count_nonzero(ordered > excess) - 1]
    return np.maximum(v - level, 0.0)
