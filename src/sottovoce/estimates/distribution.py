"""The distribution of a number, reconstructed from a tally, with bands.

    d = sottovoce.distribution(t)            # edges, probabilities, low, high
    d.quantile(0.9); d.mean; d.plot(); d.to_csv("hours.csv")

What the noise did is undone by likelihood, on a grid finer than the bins that come back. Methods:

- "ld": log-density splines, smoothness chosen by the evidence (`splines`); the default where n·ε² ≥ 2500;
- "ems": expectation maximisation with smoothing (Li et al. 2020); the default below that;
- "em": without smoothing: the likeliest histogram, spiky;
- "inversion": least squares against the exact law, then the nearest point of the simplex;
- "raw": the histogram of the noisy reports themselves, as the OGPM paper reads it: it is not the truth's.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sottovoce.core.domains import Domain
from sottovoce.core.errors import check_confidence, whole_number
from sottovoce.core.kernels.tables import FloatArray
from sottovoce.core.mixture import Mixture
from sottovoce.core.randomness import Seeded, seeded_generator
from sottovoce.estimates import splines
from sottovoce.estimates.em import em
from sottovoce.estimates.estimate import check_tally
from sottovoce.estimates.histogram import Distribution
from sottovoce.estimates.model import Coarse, bin_edges
from sottovoce.estimates.tally import Tally

METHODS = ("auto", "ld", "ems", "em", "inversion", "raw")
#: n·ε² from which splines beat EMS (benchmarks/reconstruction.py).
ENOUGH = 2500.0
MOST_BINS = 4096
_SPLINE_GRID, _EM_GRID = 512, 1024
_TOLERANCE = 1e-3  # Li et al.: per iteration, in log likelihood; times e^ε for EM


def distribution(
    t: Tally,
    bins: int | None = None,
    *,
    method: str = "auto",
    confidence: float = 0.95,
    band: bool = True,
    draws: int = 100,
    rng: Seeded = 0,
) -> Distribution:
    """Reconstruct the distribution behind a tally on equal bins of the domain.

    Without `bins` their number follows from n and ε. The pointwise band comes from `draws` bootstrap
    repetitions of the counts (`band=False`: none, quicker); it tells how the reconstruction would vary, not
    what its smoothing hides. The same `rng` gives the same band.

    >>> import numpy as np
    >>> from sottovoce.designs.two_scale import two_scale
    >>> m = two_scale(epsilon=2.0, domain=(0, 24))
    >>> t = Tally(m, m.report(np.random.default_rng(1).normal(8, 1.5, 20_000), rng=1))
    >>> d = distribution(t, bins=24)
    >>> bool(abs(d.mean - 8) < 0.2), d.method
    (True, 'ld')
    """
    t = check_tally(t, "t").required()
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}, got method={method!r}")
    resolution = min(MOST_BINS, finest(t))
    count = default_bins(t) if bins is None else whole_number(bins, "bins", least=2, most=resolution)
    chosen = method if method != "auto" else "ld" if t.n * t.mechanism.epsilon**2 >= ENOUGH else "ems"
    probabilities, again = _METHODS[chosen](t, count)
    low, high = None, None
    tail = (1 - check_confidence(confidence)) / 2
    if band:
        draws = whole_number(draws, "draws", least=2)
        generator = seeded_generator(rng)
        repeated = np.array([again(generator) for _ in range(draws)])
        low, high = np.quantile(repeated, [tail, 1 - tail], axis=0)
        low, high = np.minimum(low, probabilities), np.maximum(high, probabilities)
    domain: Domain = t.mechanism.domain
    edges = bin_edges(t.mechanism, count)
    return Distribution(domain, edges, probabilities, low, high, confidence, t.n, t.mechanism.epsilon, chosen)


def finest(t: Tally) -> int:
    """The resolution of the reports: how many cells a window of the mechanism moves over."""
    m = t.mechanism
    return max(part.cells for part in m.parts) if isinstance(m, Mixture) else int(m.cells)


def default_bins(t: Tally) -> int:
    """A power of two near 4·(n·ε²)^¼, between 16 and 256: finer bins would show noise or smoothing only.

    >>> from sottovoce.designs.classic import sw
    >>> default_bins(Tally(sw(1.0), [0] * 10_000))
    32
    """
    wanted = 4 * (t.n * t.mechanism.epsilon**2) ** 0.25
    return int(min(2 ** np.clip(np.rint(np.log2(wanted)), 4, 8), finest(t)))


# -- the methods: the probabilities of the bins, and a function that repeats them on resampled counts ------

Answer = tuple[FloatArray, Callable[[np.random.Generator], FloatArray]]


def _coarse(t: Tally, bins: int, grid: int, groups: int) -> tuple[Coarse, int, FloatArray]:
    """Counts on groups of cells, the number of grid points per bin, and the points themselves."""
    inside = -(-grid // bins)
    unit = (np.arange(bins * inside) + 0.5) / (bins * inside)
    return Coarse.of(t, groups), inside, t.mechanism.domain.from_unit(unit)


def _binned(f: FloatArray, inside: int) -> FloatArray:
    return np.asarray(f.reshape(-1, inside).sum(axis=1))


def _resample(coarse: Coarse, rng: np.random.Generator) -> FloatArray:
    return rng.multinomial(coarse.n, coarse.shares).astype(np.float64)


def _ld(t: Tally, bins: int) -> Answer:
    groups = _SPLINE_GRID if t.mechanism.epsilon <= 3 else 2 * _SPLINE_GRID
    coarse, inside, points = _coarse(t, bins, _SPLINE_GRID, groups)
    law, circle = coarse.law(points), t.mechanism.domain.is_circle
    fits = splines.Splines(coarse.counts.astype(np.float64), law, circle).fit()
    weights = splines.shares(fits)

    def again(rng: np.random.Generator) -> FloatArray:
        found = fits[rng.choice(len(fits), p=weights)]
        return _binned(splines.Splines(_resample(coarse, rng), law, circle).refit(found), inside)

    return _binned(splines.average(fits), inside), again


def _iterated(t: Tally, bins: int, *, smoothing: bool) -> Answer:
    coarse, inside, points = _coarse(t, bins, _EM_GRID, _EM_GRID)
    law, circle = coarse.law(points), t.mechanism.domain.is_circle
    tolerance = _TOLERANCE * (1.0 if smoothing else float(np.exp(t.mechanism.epsilon)))
    found = em(law, coarse.counts.astype(np.float64), smoothing=smoothing, circle=circle, tolerance=tolerance)

    def again(rng: np.random.Generator) -> FloatArray:
        counts = _resample(coarse, rng)
        # Where EM stops depends on where it starts; where EMS ends does not, so it may start at the answer.
        if smoothing:
            start = found.probabilities
            fit = em(law, counts, smoothing=True, circle=circle, tolerance=tolerance, start=start)
        else:
            fit = em(law, counts, tolerance=0.0, most=found.iterations)
        return _binned(fit.probabilities, inside)

    return _binned(found.probabilities, inside), again


def _inversion(t: Tally, bins: int) -> Answer:
    coarse = Coarse.of(t, _EM_GRID)
    law = coarse.law_of_bins(bins).dense().T
    weight = 1 / np.sqrt(law.mean(axis=1))  # groups are as noisy as they are likely
    inverse = np.linalg.pinv(law * weight[:, None], rcond=1e-10)

    def solve(shares: FloatArray) -> FloatArray:
        return onto_simplex(inverse @ (shares * weight))

    return solve(coarse.shares), lambda rng: solve(_resample(coarse, rng) / coarse.n)


def _raw(t: Tally, bins: int) -> Answer:
    values = t.mechanism.domain.to_unit(t.mechanism.decode(np.arange(t.mechanism.cells)))
    place = np.clip((values * bins).astype(np.int64), 0, bins - 1)
    shares = np.bincount(place, t.counts, bins) / t.n
    return shares, lambda rng: rng.multinomial(t.n, shares) / t.n


_METHODS: dict[str, Callable[[Tally, int], Answer]] = {
    "ld": _ld,
    "ems": lambda t, bins: _iterated(t, bins, smoothing=True),
    "em": lambda t, bins: _iterated(t, bins, smoothing=False),
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
