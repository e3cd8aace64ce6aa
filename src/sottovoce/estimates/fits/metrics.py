"""How far two distributions on a domain are apart.

A distribution is given as probabilities of equal bins (spread evenly inside each) or as a sample of values,
both in the unit coordinate. Distances are exact: between breakpoints the difference of two cumulative
distributions is linear.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sottovoce.arrays import FloatArray

METRICS = ("wasserstein", "ks", "l1")


@dataclass(frozen=True, eq=False)
class Cumulative:
    """F on [0, 1]: linear between `at` points, with jumps; `before` and `after` are its one-sided limits."""

    at: FloatArray
    before: FloatArray
    after: FloatArray

    @classmethod
    def of_bins(cls, probabilities: FloatArray) -> Cumulative:
        total = np.concatenate(([0.0], np.cumsum(probabilities)))
        return cls(np.linspace(0, 1, len(total)), total, total)

    @classmethod
    def of_sample(cls, unit: FloatArray) -> Cumulative:
        values, counts = np.unique(unit, return_counts=True)
        total = np.cumsum(counts) / len(unit)
        after = np.concatenate(([0.0], total, [1.0]))
        before = np.concatenate(([0.0, 0.0], total))
        return cls(np.concatenate(([0.0], values, [1.0])), before, after)

    def limits(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """F(x−) and F(x+) at increasing points x of [0, 1]."""
        left = np.clip(np.searchsorted(self.at, x, side="left"), 1, len(self.at) - 1)
        right = np.clip(np.searchsorted(self.at, x, side="right"), 1, len(self.at) - 1)
        return self._between(left - 1, x), self._between(right - 1, x)

    def _between(self, i: np.ndarray, x: FloatArray) -> FloatArray:
        gap = self.at[i + 1] - self.at[i]
        part = np.divide(x - self.at[i], gap, out=np.ones_like(x), where=gap > 0)
        return np.asarray(self.after[i] + np.clip(part, 0, 1) * (self.before[i + 1] - self.after[i]))


def differences(one: Cumulative, other: Cumulative) -> tuple[FloatArray, FloatArray, FloatArray]:
    """(length, start, end) of F − G on each stretch where it is linear."""
    x = np.union1d(one.at, other.at)
    f, g = one.limits(x), other.limits(x)
    return np.diff(x), (f[1] - g[1])[:-1], (f[0] - g[0])[1:]


def wasserstein(one: Cumulative, other: Cumulative, *, circle: bool = False) -> float:
    """The mean distance that mass has to move, as a share of the width (or circumference).

    On the line ∫|F − G|; around a circle mass may go either way: min over c of ∫|F − G − c|.
    """
    length, start, end = differences(one, other)
    shift = _middle(length, start, end) if circle else 0.0
    return float(length @ _mean_absolute(start - shift, end - shift))


def _mean_absolute(a: FloatArray, b: FloatArray) -> FloatArray:
    """The mean of |a + (b − a)u| over u in [0, 1]."""
    crosses = a * b < 0
    size = np.abs(a) + np.abs(b)
    return np.where(crosses, (a * a + b * b) / np.where(crosses, 2 * size, 1.0), size / 2)


def _middle(length: FloatArray, start: FloatArray, end: FloatArray) -> float:
    """The median of F − G over the circle: what minimises ∫|F − G − c|."""
    low, high = np.minimum(start, end), np.maximum(start, end)
    bottom, top = float(low.min()), float(high.max())
    for _ in range(60):
        c = (bottom + top) / 2
        span = np.maximum(high - low, 1e-300)
        below = length @ np.where(high > low, np.clip((c - low) / span, 0, 1), low < c)
        bottom, top = (c, top) if below < 0.5 else (bottom, c)
    return (bottom + top) / 2


def ks(one: Cumulative, other: Cumulative, *, circle: bool = False) -> float:
    """max |F − G| (Kolmogorov–Smirnov); on a circle, where F has no natural start, Kuiper's max − min."""
    _, start, end = differences(one, other)
    d = np.concatenate((start, end))
    return float(d.max() - d.min()) if circle else float(np.abs(d).max())


def l1(one: Cumulative, other: Cumulative, bins: int) -> float:
    """Σ |p_i − q_i| over `bins` equal bins: twice the total variation distance between the histograms."""
    edges = np.linspace(0, 1, bins + 1)
    # A bin holds its left edge, the last one both: F just below the edges, and all of it at the end.
    f, g = (np.append(c.limits(edges)[0][:-1], 1.0) for c in (one, other))
    return float(np.abs(np.diff(f) - np.diff(g)).sum())
