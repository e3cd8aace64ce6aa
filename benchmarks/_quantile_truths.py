"""Truths that quantile intervals are measured on: exact probabilities, and tallies drawn from their law."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from scipy.stats import beta, gamma

import sottovoce as sv
from sottovoce.reporters.number import Number

BINS = 4096
MIDDLES = (np.arange(BINS) + 0.5) / BINS


@dataclass(frozen=True, eq=False)
class Truth:
    """Points of the unit interval with their probabilities."""

    name: str
    points: np.ndarray
    shares: np.ndarray

    def quantile(self, p: float, *, largest: bool = False) -> float:
        """The smallest p-quantile, or the largest: they differ where F stays at p."""
        below = np.cumsum(self.shares) + (-1e-12 if largest else 1e-12)
        return float(self.points[np.searchsorted(below, p)])

    @cached_property
    def density(self) -> np.ndarray:
        """On equal bins."""
        return np.histogram(self.points, BINS, (0.0, 1.0), weights=self.shares)[0]

    def tally(self, m: Number, n: int, rng: np.random.Generator) -> sv.Tally:
        """The reports of n people: multinomial with the exact law of the cells."""
        return sv.Tally.from_counts(m, rng.multinomial(n, law(self, m)))


_LAWS: dict[tuple[str, str], np.ndarray] = {}


def law(truth: Truth, m: Number) -> np.ndarray:
    if (truth.name, m.digest) not in _LAWS:
        chance = np.maximum(m.operator(m.domain.from_unit(truth.points)).mix(truth.shares), 0.0)
        _LAWS[truth.name, m.digest] = chance / chance.sum()
    return _LAWS[truth.name, m.digest]


def _smooth(name: str, cdf: np.ndarray) -> Truth:
    shares = np.diff(cdf)
    return Truth(name, MIDDLES, shares / shares.sum())


@cache
def truths() -> dict[str, Truth]:
    edges = np.linspace(0, 1, BINS + 1)
    hours = gamma(9, scale=0.9).cdf(24 * edges)
    whole = np.diff(gamma(9, scale=0.9).cdf(np.array([-1.0, *np.arange(24) + 0.5, 25.0])))
    made = [
        _smooth("hours", hours),
        _smooth("Beta(1, 8)", beta(1, 8).cdf(edges)),
        _smooth("two peaks", 0.4 * beta(20, 60).cdf(edges) + 0.6 * beta(60, 20).cdf(edges)),
        _smooth("uniform", edges),
        _smooth("Beta(5, 2)", beta(5, 2).cdf(edges)),
        Truth("whole hours", np.arange(25) / 24, whole / whole.sum()),
        Truth("two groups", np.array([0.3, 0.8]), np.array([0.5, 0.5])),
    ]
    return {truth.name: truth for truth in made}
