"""Weights of cells that undo the convolution of a choice: their average is the share, for every truth."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sottovoce.arrays import FloatArray, IntArray
from sottovoce.estimates.limits.every_n import binomial_limits
from sottovoce.estimates.limits.limit import limit
from sottovoce.estimates.limits.weighted_counts import Moments, Part, WeightMoments, cut
from sottovoce.reporters.translates import Translates

_NOTHING = 1e-9  # of the largest power: what a frequency without any has, to rounding


@dataclass(frozen=True, eq=False)
class Inverse:
    """Weights of cells that undo the convolution: their average is the share, for every truth.

    Attributes:
        reporter: Whose cells they are.
        weights: For the option 0, sets × options, up to a constant; those for another are the same, moved.
        constant: What is added to the weights of each option.
    """

    reporter: Translates
    weights: FloatArray
    constant: FloatArray

    @classmethod
    def of(cls, reporter: Translates) -> Inverse:
        k = reporter.domain.group[0]
        transform = np.fft.rfft(reporter.indicator)
        power = (np.abs(transform) ** 2).sum(axis=0)
        power[power <= _NOTHING * power.max()] = np.inf  # what no report tells about is left out
        power[0] = np.inf  # the shares add up to 1: that frequency tells nothing
        weights = np.fft.irfft(transform / power, k) * (reporter.total / reporter.extra)
        left = reporter.correlated(reporter.backgrounds - reporter.background, weights) / reporter.total
        return cls(reporter, weights, 1 / k - left)

    @cached_property
    def balanced(self) -> bool:
        """Whether every two options share as many cells as any other two."""
        return bool(np.ptp(self.reporter.together[1:]) == 0)

    @property
    def reach(self) -> float:
        """The most by which one report can move n times a share."""
        return float(np.ptp(self.weights))

    def moments(self, counts: IntArray) -> WeightMoments:
        """The weighted counts of all options at once."""
        n, m = int(counts.sum()), self.reporter
        one, two, three = (m.correlated(counts, self.weights**power) / n for power in (1, 2, 3))
        even = np.full(m.cells, m.background / m.total)
        noise = (
            m.correlated(even, self.weights**2)[0]
            + m.correlated(m.indicator, self.weights**2) * (m.extra / m.total)
            - (np.arange(len(one)) == 0)
        )
        least = max(float(noise.min()), 0.0)
        cube = three - 3 * one * two + 2 * one**3
        return WeightMoments(n, self.constant + one, np.maximum(two - one**2, 0.0), cube, least)

    def part(self, number: FloatArray, counts: IntArray) -> Part:
        """The weighted counts whose average is Σ number·share, of a number for each option."""
        m = self.reporter
        transform = np.fft.rfft(number) * np.fft.rfft(self.weights)
        weights = (np.fft.irfft(transform, number.size) + number @ self.constant).reshape(-1)
        even = float(np.sum(weights**2)) * m.background / m.total
        noise = even + m.held(weights**2) * (m.extra / m.total) - number**2
        return Part(weights, counts, max(float(noise.min()), 0.0), float(noise.max()))

    def limits(self, counts: IntArray, weighted: WeightMoments, tail: float) -> tuple[FloatArray, FloatArray]:
        """The lower and upper limits of all shares."""
        if self.balanced:
            return self._exact(counts, tail)
        moments = Moments.of([weighted])
        return cut(limit(moments, -1, tail), limit(moments, 1, tail), (0.0, 1.0))

    def _exact(self, counts: IntArray, tail: float) -> tuple[FloatArray, FloatArray]:
        """Clopper and Pearson's limits of the chance that a report holds an option, as shares."""
        m = self.reporter
        shared = int(m.together[1])
        other = (m.held(m.backgrounds) + m.extra * shared) / m.total
        slope = m.extra * (m.elements - shared) / m.total
        chances = binomial_limits(np.rint(m.held(counts)), int(counts.sum()), tail)
        low, high = ((chance - other) / slope for chance in chances)
        return cut(low, high, (0.0, 1.0))
