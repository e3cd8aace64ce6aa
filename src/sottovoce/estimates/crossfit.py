"""Envelope statistics of a tally: weights chosen on one half of the reports, applied to the other.

Weights that are tuned to the very counts they are applied to look better than they are (n = 100, ε = 4,
square wave, skewed truth: 76 % coverage instead of 95 %). So reports are divided at random into two halves,
each half gets the weights that the other one suggests, and the two averages are pooled. The division is drawn
from a generator seeded by the tally itself: the same tally gives the same answer.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from sottovoce.core.kernels.tables import FloatArray, IntArray
from sottovoce.estimates.em import em
from sottovoce.estimates.envelope import Envelope, Nodes, Target
from sottovoce.estimates.estimate import FEW
from sottovoce.estimates.model import Coarse
from sottovoce.estimates.statistic import Part, moments
from sottovoce.estimates.tally import Tally

_GROUPS = 64
BINS = 256  # of the pilot


class CrossFit:
    """A tally on groups of cells, divided for choosing and applying weights.

    With `blind` the weights never look at the data: they suit people spread evenly over the domain. `rough`
    is the pilots' cumulative distribution at the ends of equal bins: a guess where to look, nothing more.
    """

    def __init__(self, tally: Tally, *, blind: bool = False, groups: int = _GROUPS) -> None:
        self.coarse = Coarse.of(tally, groups)
        self.n, self.nodes = self.coarse.n, Nodes(self.coarse)
        self.law, even = self.coarse.law_of_bins(BINS, 1), np.full(BINS, 1 / BINS)
        if blind or self.n < FEW:  # half of very few reports could suggest nothing
            self._halves: list[tuple[IntArray, FloatArray]] = [(self.coarse.counts, self.law.mix(even))]
            self.rough = np.cumsum(even)
        else:
            one = _half(self.coarse.counts, tally.generator(counts=self.coarse.counts))
            two = self.coarse.counts - one
            # Stopped long before it follows the noise: only a rough idea of the truth is wanted.
            pilots = [em(self.law, half.astype(float), tolerance=0.05, most=300) for half in (one, two)]
            self._halves = [(one, pilots[1].reports), (two, pilots[0].reports)]
            self.rough = np.cumsum(pilots[0].probabilities + pilots[1].probabilities) / 2

    @cached_property
    def _problems(self) -> list[tuple[IntArray, Envelope]]:
        return [(counts, Envelope(self.nodes, pilot, self.n)) for counts, pilot in self._halves]

    def statistic(self, target: Target, side: int, tail: float, estimand: str = "population") -> list[Part]:
        """What bounds the average of a target from above (side 1) or below (side −1)."""
        from scipy.special import ndtri

        z = -float(ndtri(tail))
        parts = []
        for counts, problem in self._problems:
            weights = problem.upper(target, z) if side > 0 else problem.lower(target, z)
            least, most = problem.noise(weights)
            noise = problem.average_noise(weights, counts) if estimand == "respondents" else None
            parts.append(Part(weights, counts, least, most, noise))
        return parts

    def limit(self, target: Target, side: int, tail: float, estimand: str = "population") -> float:
        """A normal confidence limit for the average of a target."""
        return float(moments(self.statistic(target, side, tail, estimand), estimand).limit(side, tail))


def _half(counts: IntArray, generator: np.random.Generator) -> IntArray:
    """Half of the reports, drawn without replacement."""
    n = int(counts.sum())
    if n < 1_000_000_000:
        return generator.multivariate_hypergeometric(counts, n // 2, method="marginals")
    # numpy's hypergeometric stops at 10^9 reports; there, coins group by group are as good.
    return generator.binomial(counts, 0.5)
