"""What smooth fits to reports say of equal bins: shares, a ribbon around them, and which may be the highest.

Fit i has the weight w_i, the density f_i on a grid, the design B_i and the penalised information A_i = H + S.
On bins it has the shares p_i, their mean is p, and as its coefficients move these shares move by

    M_i[b] = Σ_{g∈b} f_i[g] B_i[g] − p_i[b]·(f_iᵀB_i),        with the covariance  V_i = M_i A_i⁻¹ M_iᵀ.

**Ribbon.** The evidence likes curves that are too smooth: with few people a flat one, which does not vary. So
fits that are less smooth than the best are made too (its λ times .1 and .01), and all that the reports do not
rule out, with an evidence within 5 of the best, are asked: the ribbon holds p_i ± 1.645·√V_i[b, b] of each.
It is never narrower than the doubt about how people divide between the two halves of the domain.

**The highest bins** are those that are not surely lower than the highest one, t = argmax p:

    C = Σ w_i {V_i + (p_i − p)(p_i − p)ᵀ},    R = {b : p_t − p_b ≤ 2·√(C_tt + C_bb − 2C_tb)},

with the shortest gaps filled until two runs are left. They are named if the evidence for a shape is above 2
(against everybody evenly spread) and they are at most half of all bins. That is a rule that was tried, not a
theorem: benchmarks/small_surveys.py says how often it fails.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sottovoce.arrays import BoolArray, FloatArray
from sottovoce.estimates.fits.binned_cells import Binned
from sottovoce.estimates.fits.log_density import DensityFit, Splines, average, inverted, shares
from sottovoce.estimates.tally import Tally

_POINTS = 512  # of the grid
_NARROW = 3.0  # the ε from which on windows call for twice as many bins of reports
_NINE_IN_TEN = 1.645  # standard deviations on either side
_SMOOTHEST = (100.0, 1e5)  # λ from which less smooth fits start
_LESS = (0.1, 0.01)
_NOT_RULED_OUT = 5.0  # of evidence below the best; at 3 two bumps are missed at 600 people
_SHAPED = 2.0  # of evidence above everybody evenly spread
_NOTHING = 0.1  # of the even level: a lower limit below it is 0
_DOUBT = 2.0  # standard deviations of a difference

Run = tuple[int, int]


@dataclass(frozen=True, eq=False)
class Smooth:
    """Fits of a smooth density to a tally's reports: the same ones for any number of bins."""

    model: Splines
    fits: Sequence[DensityFit]

    @classmethod
    def of(cls, tally: Tally) -> Smooth:
        """Fit them."""
        m = tally.law.as_number()
        reports = Binned.of(tally, _POINTS * (1 if m.epsilon <= _NARROW else 2))
        law = reports.law_of_parts(_POINTS, 1)
        model = Splines(reports.counts.astype(np.float64), law, m.domain.is_circle)
        return cls(model, model.fit())

    @cached_property
    def density(self) -> FloatArray:
        """Their mean on the grid."""
        return average(self.fits)

    @cached_property
    def _best(self) -> DensityFit:
        return max(self.fits, key=lambda fit: fit.evidence)

    def probabilities(self, bins: int) -> FloatArray:
        """The share of each of equal bins."""
        return binned(self.density, bins)

    @property
    def shaped(self) -> bool:
        """Whether the reports tell the curve from a flat one."""
        even = self.model.law.mix(np.full(self.model.points, 1 / self.model.points))
        return self._best.evidence - float(self.model.counts @ np.log(even)) > _SHAPED

    def ribbon(self, bins: int) -> tuple[FloatArray, FloatArray]:
        """Limits for the share of each bin, of which each holds at about nine places in ten."""
        p = self.probabilities(bins)
        every = [*self.fits, *self._less_smooth]
        least = max(fit.evidence for fit in every) - _NOT_RULED_OUT
        lows, highs = [p * (1 - self._balance)], [p * (1 + self._balance)]
        for fit in every:
            if fit.evidence >= least:
                middle, moves = _moves(fit, bins)
                half = _NINE_IN_TEN * np.sqrt(
                    np.maximum(((moves @ self._spread(fit)) * moves).sum(axis=1), 0)
                )
                lows.append(middle - half)
                highs.append(middle + half)
        low = np.min(lows, axis=0)
        return np.where(low * bins < _NOTHING, 0.0, low), np.minimum(np.max(highs, axis=0), 1.0)

    @cached_property
    def _less_smooth(self) -> list[DensityFit]:
        """The best fit again with less smoothing; at the cap as well where that is less."""
        best = self._best
        start = np.minimum(best.smoothing, _SMOOTHEST)
        factors = _LESS if (start == best.smoothing).all() else (1.0, *_LESS)
        return [
            self.model.search(best.order, (first, second), best.atoms, move=False)
            for first, second in np.outer(factors, start).tolist()
        ]

    @cached_property
    def _balance(self) -> float:
        """How far one half of the domain may rise over the other, as a factor's distance from 1."""
        model, f = self.model, self.density
        side = np.where(np.arange(model.points) < model.points / 2, 1.0, -1.0)
        moves = model.law.mix(f * (side - f @ side))
        return _NINE_IN_TEN / float(np.sqrt(model.n * (moves**2 / model.law.mix(f)).sum()))

    def _spread(self, fit: DensityFit) -> FloatArray:
        """A⁻¹: how coefficients vary; without the bias of smoothing (A⁻¹HA⁻¹) it would be too little."""
        return inverted(fit.state.information + self.model.smoothing(fit))[0]

    def highest(self, bins: int) -> list[Run]:
        """Runs [first, end) of the bins that may be the highest; none if they are not told from the others.

        Around a circle the last run may end beyond the last bin.
        """
        if not self.shaped:
            return []
        p, covariance = self.probabilities(bins), np.zeros((bins, bins))
        for weight, fit in zip(shares(self.fits), self.fits, strict=True):
            middle, moves = _moves(fit, bins)
            off = middle - p
            covariance += weight * (moves @ self._spread(fit) @ moves.T + np.outer(off, off))
        t, variances = int(np.argmax(p)), covariance.diagonal()
        doubt = np.sqrt(np.maximum(variances[t] + variances - 2 * covariance[t], 0))
        found = runs(p[t] - p <= _DOUBT * doubt, circle=self.model.circle)
        return found if sum(end - first for first, end in found) <= bins / 2 else []


def binned(values: FloatArray, bins: int) -> FloatArray:
    """Sums over equal bins of what is spread evenly inside equal cells, of columns too."""
    total = np.concatenate((np.zeros_like(values[:1]), np.cumsum(values, axis=0)))
    at = np.arange(bins + 1) * len(values) / bins
    cell = np.minimum(at.astype(np.int64), len(values) - 1)
    part = (at - cell).reshape(-1, *[1] * (values.ndim - 1))
    return np.asarray(np.diff(total[cell] + part * (total[cell + 1] - total[cell]), axis=0))


def _moves(fit: DensityFit, bins: int) -> tuple[FloatArray, FloatArray]:
    """The shares of bins in a fit, and how they move with its coefficients."""
    f, design = fit.density, fit.state.design
    p = binned(f, bins)
    return p, binned(f[:, None] * design, bins) - p[:, None] * (f @ design)


def runs(inside: BoolArray, *, circle: bool) -> list[Run]:
    """Stretches [first, end) of what is inside, the shortest gaps filled until at most two are left."""
    inside, bins = inside.copy(), len(inside)
    while True:
        before, after = np.roll(inside, 1), np.roll(inside, -1)
        if not circle:
            before[0] = after[-1] = False
        first, end = np.flatnonzero(inside & ~before), np.flatnonzero(inside & ~after) + 1
        if not len(first):
            return [(0, bins)]
        if end[0] <= first[0]:  # what crosses the origin of a circle is its last run
            end = np.append(end[1:], end[0] + bins)
        if len(first) <= 2:
            return list(zip(first.tolist(), end.tolist(), strict=True))
        gaps = np.append(first[1:], first[0] + bins if circle else 2 * bins) - end
        shortest = int(np.argmin(gaps))
        inside[np.arange(end[shortest], end[shortest] + gaps[shortest]) % bins] = True
