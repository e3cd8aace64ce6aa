"""The distribution of a number, reconstructed from a tally, and a band that does not rest on that.

    d = sottovoce.distribution(tally)            # edges, probabilities, low, high
    d.quantile(0.9); d.mean; d.plot(); d.to_csv("hours.csv")

What the noise did is undone by likelihood, on a grid finer than the bins that come back. Methods:

- "ld": log-density splines, smoothness chosen by the evidence (`log_density`); the default where n·ε² ≥ 2500;
- "ems": expectation maximisation with smoothing (Li et al. 2020); the default below that;
- "em": without smoothing: the likeliest histogram, spiky;
- "inversion": least squares against the exact law, then the nearest point of the simplex;
- "raw": the histogram of the noisy reports themselves, as the OGPM paper reads it: it is not the truth's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from sottovoce.core.arrays import FloatArray
from sottovoce.core.errors import check_confidence, one_of, whole_number
from sottovoce.core.randomness import Seeded
from sottovoce.estimates import log_density
from sottovoce.estimates.band import cumulative_band
from sottovoce.estimates.histogram import Distribution
from sottovoce.estimates.model import Coarse, em, smooth_circle, smooth_line
from sottovoce.estimates.query import check_tally, generator_of, single_threaded
from sottovoce.estimates.refits import refits
from sottovoce.estimates.tally import Tally

METHODS = ("auto", "ld", "ems", "em", "inversion", "raw")
MOST_BINS = 4096
_SPLINE_GRID, _EM_GRID = 512, 1024
_TOLERANCE = 1e-3  # Li et al.: per iteration, in log likelihood; times e^ε for EM


@single_threaded
def distribution(
    tally: Tally,
    bins: int | None = None,
    *,
    method: str = "auto",
    confidence: float = 0.95,
    band: bool = True,
    draws: int = 50,
    rng: Seeded = None,
) -> Distribution:
    """Reconstruct the distribution behind a tally on equal bins of the domain.

    Args:
        tally: Counts of reports about a number.
        bins: How many bins; by default their number follows from n and ε.
        method: "ld", "ems", "em", "inversion" or "raw", as the module describes them; "auto" takes "ld" where
            there is enough data for it and "ems" otherwise.
        confidence: How often the whole of the distribution function should lie inside the band.
        band: Whether to compute it, and how the reconstruction varies.
        draws: How many repetitions on resampled counts its variation comes from.
        rng: Seeds them. By default the tally does: the same tally gives the same.

    Returns:
        Probabilities of the bins, how much each would vary, and a band of the distribution function that
        holds for every truth and does not rest on the reconstruction.

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
    one_of(method, "method", METHODS)
    check_confidence(confidence)
    most = min(MOST_BINS, reporter.cells)
    count = default_bins(tally) if bins is None else whole_number(bins, "bins", least=2, most=most)
    if method == "auto":
        method = "ld" if tally.n * reporter.epsilon**2 >= log_density.ENOUGH else "ems"
    probabilities, again = _METHODS[method](tally, count)
    low = high = variation = None
    if band:
        generator = generator_of(tally, rng)
        variation = np.std(again(generator, whole_number(draws, "draws", least=2)), axis=0, ddof=1)
        low, high = cumulative_band(tally, count, confidence)
    edges = reporter.domain.from_unit(np.arange(count + 1) / count)
    return Distribution(
        reporter.domain,
        edges,
        probabilities,
        low,
        high,
        variation,
        confidence,
        tally.n,
        reporter.epsilon,
        method,
    )


def default_bins(tally: Tally) -> int:
    """A power of two near 4·(n·ε²)^¼, between 16 and 256: finer bins would show noise or smoothing only.

    >>> from sottovoce.designs.classic import sw
    >>> default_bins(Tally(sw(1.0), [0] * 10_000))
    32
    """
    ideal = 4 * (tally.n * tally.mechanism.epsilon**2) ** 0.25
    return int(min(2 ** np.clip(np.rint(np.log2(ideal)), 4, 8), tally.mechanism.cells))


# -- the methods: the probabilities of the bins, and a function that repeats them on resampled counts ------

Reconstruction = tuple[FloatArray, Callable[[np.random.Generator, int], Sequence[FloatArray]]]


class _Grid:
    """Reports on groups of cells, and their law on a grid that divides every bin into as many points."""

    def __init__(self, tally: Tally, bins: int, points: int, groups: int) -> None:
        self.coarse, self.inside = Coarse.of(tally, groups), -(-points // bins)
        self.law = self.coarse.law_of_bins(bins * self.inside, 1)
        self.circle = tally.mechanism.domain.is_circle

    def resampled(self, rng: np.random.Generator) -> FloatArray:
        return rng.multinomial(self.coarse.n, self.coarse.shares).astype(np.float64)

    def binned(self, f: FloatArray) -> FloatArray:
        return np.asarray(f.reshape(-1, self.inside).sum(axis=1))


def _each(
    again: Callable[[np.random.Generator], FloatArray],
) -> Callable[[np.random.Generator, int], list[FloatArray]]:
    """One repetition after the other."""
    return lambda rng, draws: [again(rng) for _ in range(draws)]


def _ld(tally: Tally, bins: int) -> Reconstruction:
    grid = _Grid(tally, bins, _SPLINE_GRID, _SPLINE_GRID * (1 if tally.mechanism.epsilon <= 3 else 2))
    model = log_density.Splines(grid.coarse.counts.astype(np.float64), grid.law, grid.circle)
    fits = model.fit()
    weights = log_density.shares(fits)

    def again(rng: np.random.Generator, draws: int) -> list[FloatArray]:
        samples = [(rng.choice(len(fits), p=weights), grid.resampled(rng)) for _ in range(draws)]
        counts = [[one for which, one in samples if which == i] for i in range(len(fits))]
        densities = [
            refits(model, fit, np.array(some, dtype=np.float64).T)
            for fit, some in zip(fits, counts, strict=True)
            if some
        ]
        return [grid.binned(f) for several in densities for f in several.T]

    return grid.binned(log_density.average(fits)), again


def _em(tally: Tally, bins: int) -> Reconstruction:
    grid = _Grid(tally, bins, _EM_GRID, _EM_GRID)
    tolerance = _TOLERANCE * float(np.exp(tally.mechanism.epsilon))
    fit = em(grid.law, grid.coarse.counts, tolerance=tolerance)

    def again(rng: np.random.Generator) -> FloatArray:  # where EM stops depends on how long it takes
        return grid.binned(
            em(grid.law, grid.resampled(rng), tolerance=0.0, most=fit.iterations).probabilities
        )

    return grid.binned(fit.probabilities), _each(again)


def _ems(tally: Tally, bins: int) -> Reconstruction:
    grid = _Grid(tally, bins, _EM_GRID, _EM_GRID)
    smooth = smooth_circle if grid.circle else smooth_line
    fit = em(grid.law, grid.coarse.counts, smooth=smooth, tolerance=_TOLERANCE)

    def again(rng: np.random.Generator) -> FloatArray:  # where EMS ends does not depend on where it starts
        counts, start = grid.resampled(rng), fit.probabilities
        return grid.binned(
            em(grid.law, counts, smooth=smooth, tolerance=_TOLERANCE, start=start).probabilities
        )

    return grid.binned(fit.probabilities), _each(again)


def _inversion(tally: Tally, bins: int) -> Reconstruction:
    coarse = Coarse.of(tally, _EM_GRID)
    law = coarse.law_of_bins(bins).dense().T
    weight = 1 / np.sqrt(law.mean(axis=1))  # groups are as noisy as they are likely
    inverse = np.linalg.pinv(law * weight[:, None], rcond=1e-10)

    def solve(shares: FloatArray) -> FloatArray:
        return onto_simplex(inverse @ (shares * weight))

    def again(rng: np.random.Generator) -> FloatArray:
        return solve(rng.multinomial(coarse.n, coarse.shares) / coarse.n)

    return solve(coarse.shares), _each(again)


def _raw(tally: Tally, bins: int) -> Reconstruction:
    place = np.clip((tally.mechanism.positions * bins).astype(np.int64), 0, bins - 1)
    shares = np.bincount(place, tally.counts, bins) / tally.n
    return shares, lambda rng, draws: list(rng.multinomial(tally.n, shares, size=draws) / tally.n)


_METHODS: dict[str, Callable[[Tally, int], Reconstruction]] = {
    "ld": _ld,
    "ems": _ems,
    "em": _em,
    "inversion": _inversion,
    "raw": _raw,
}


def onto_simplex(v: FloatArray) -> FloatArray:
    """The nearest point (Euclidean) with entries ≥ 0 that sum to 1.

    >>> onto_simplex(np.array([0.6, 0.6, -1.0])).tolist()
    [0.5, 0.5, 0.0]
    """
    ordered = np.sort(v)[::-1]
    excess = (np.cumsum(ordered) - 1) / np.arange(1, len(v) + 1)
    level = excess[np.count_nonzero(ordered > excess) - 1]
    return np.maximum(v - level, 0.0)
