"""Quantiles and the probability of a range, with intervals that hold for every truth.

The distribution function F(t) is the average of 1[x ≤ t], so it has envelope limits; a quantile's interval is
where those limits admit F = p. No smoothness of the truth is assumed: that is what the width pays for. The
value itself comes from the reconstructed distribution.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import overload

import numpy as np

from sottovoce.core.errors import check_confidence, real_number
from sottovoce.estimates.crossfit import BINS, CrossFit
from sottovoce.estimates.envelope import Target
from sottovoce.estimates.estimate import ESTIMANDS, Estimate, check_choice, check_tally, few_notes, in_order
from sottovoce.estimates.limits import moments
from sottovoce.estimates.means import needs_interval
from sottovoce.estimates.tally import Tally

_GRID = BINS  # an interval is rounded outwards to this part of the domain
_SHARED = range(0, _GRID, 32)  # points at which every quantile looks further out


@overload
def quantile(tally: Tally, p: float, *, estimand: str = ..., confidence: float = ...) -> Estimate: ...


@overload
def quantile(
    tally: Tally, p: Sequence[float], *, estimand: str = ..., confidence: float = ...
) -> list[Estimate]: ...


def quantile(
    tally: Tally, p: float | Sequence[float], *, estimand: str = "population", confidence: float = 0.95
) -> Estimate | list[Estimate]:
    """The p-quantile of the people, or several at once (each interval has its own confidence).

    `p` is between 0 and 1, or a list of such numbers: several at once share most of the work. `estimand`:
    that of the "population" these people stand for, or of the "respondents" themselves.
    """
    from sottovoce.estimates.distribution import distribution

    check_choice(estimand, "estimand", ESTIMANDS)
    tail = (1 - check_confidence(confidence)) / 2
    several = np.ndim(p) > 0
    asked: Iterable[object] = p if several else [p.item() if isinstance(p, np.ndarray) else p]  # type: ignore[assignment]
    wanted = [check_share(q) for q in asked]
    m = needs_interval(tally, "quantile", "probability").mechanism
    shape = distribution(tally, band=False)
    found = []
    for q, (low, high) in zip(wanted, quantile_limits(tally, wanted, tail, estimand), strict=True):
        low, value, high, odd = in_order(low, float(m.domain.to_unit(shape.quantile(q))), high)
        low, value, high = (float(m.domain.from_unit(t)) for t in (low, value, high))
        what, notes = f"{q:.12g}-quantile", few_notes(tally.n) + odd
        found.append(
            Estimate(value, low, high, math.nan, confidence, tally.n, what, estimand, "envelope", notes)
        )
    return found if several else found[0]


def quantile_limits(
    tally: Tally, wanted: Sequence[float], tail: float, estimand: str = "population"
) -> list[tuple[float, float]]:
    """The intervals alone, in the unit coordinate: no reconstruction is needed for them."""
    if tally.n < 2:
        return [(0.0, 1.0)] * len(wanted)
    fit = CrossFit(tally)
    above, below = (_Cumulative(fit, side, tail, estimand) for side in (1, -1))
    # At p = 0 the question is where F first leaves zero.
    return [(above.turn(q)[0], below.turn(max(q, 1e-12))[1]) for q in wanted]


class _Cumulative:
    """Limits of F(t) from one side at the points of a grid, computed when asked for and kept."""

    def __init__(self, fit: CrossFit, side: int, tail: float, estimand: str) -> None:
        self.fit, self.side, self.tail, self.estimand = fit, side, tail, estimand
        self.known = {-1: 0.0, _GRID: 1.0}  # F is 0 below the domain and 1 at its end

    def at(self, k: int) -> float:
        if k not in self.known:
            self.known[k] = self.fit.limit(_below(k / _GRID), self.side, self.tail, self.estimand)
        return self.known[k]

    def turn(self, q: float) -> tuple[float, float]:
        """Neighbours on the grid between which the limit reaches q: from what is known and from the pilot."""
        # Limits are monotone but for rounding; where they are not, the wider interval is taken.
        if self.side > 0:
            above = min(k for k, limit in self.known.items() if limit >= q)
            below = max((k for k in self.known if k < above), default=-1)
        else:
            below = max((k for k, limit in self.known.items() if limit < q), default=-1)
            above = min(k for k in self.known if k > below)
        middle, turns = int(np.searchsorted(self.fit.rough, q)), 0
        while above - below > 1:
            if not below < middle < above:
                # A straight line between the ends, or every other time the middle, so that both ends move.
                share = (q - self.known[below]) / max(self.known[above] - self.known[below], 1e-12)
                share = 0.5 if turns % 2 else min(max(share, 0.1), 0.9)
                middle = min(max(below + round((above - below) * share), below + 1), above - 1)
            limit, turns = self.at(middle), turns + 1
            below, above = (middle, above) if limit < q else (below, middle)
            if self.side > 0 and limit >= 1:  # nothing is known here: perhaps nowhere below either
                middle = below + 1
            elif self.side < 0 and limit <= 0:
                middle = above - 1
        # Where F stays at q for long (between two groups of people, or beyond the last) every limit looked at
        # on the way had its own chance to mislead: points further out are asked as well.
        if any((self.at(k) >= q) == (self.side > 0) for k in self._further(below, above)):
            return self.turn(q)
        return max(below, 0) / _GRID, above / _GRID

    def _further(self, below: int, above: int) -> list[int]:
        """Points further out than where the limit was seen to turn: some nearby, and some that all share."""
        near = (2, 4, 8, 16)
        if self.side > 0:
            return [k for k in (*(below - step for step in near), *_SHARED) if 0 <= k < below]
        return [k for k in (*(above + step for step in near), *_SHARED) if above < k < _GRID]


def probability(
    tally: Tally, low: float, high: float, *, estimand: str = "population", confidence: float = 0.95
) -> Estimate:
    """The share of the people with low ≤ x ≤ high; on a circle from low forwards to high.

    `estimand`: of the "population" they stand for, or of the "respondents" themselves.

    >>> import numpy as np
    >>> from sottovoce.designs.classic import sw
    >>> m = sw(epsilon=4.0, domain=(0, 24))
    >>> t = Tally(m, m.report(np.linspace(0, 24, 20_000), rng=1))
    >>> e = probability(t, 6, 12)
    >>> bool(e.low < 0.25 < e.high)
    True
    """
    check_choice(estimand, "estimand", ESTIMANDS)
    tail = (1 - check_confidence(confidence)) / 2
    domain = check_tally(tally).required().mechanism.domain
    ends = [real_number(low, "low"), real_number(high, "high")]
    for end, name in zip(ends, ("low", "high"), strict=True):
        if not domain.contains(end):
            raise ValueError(f"{name} must lie in the domain, got {name}={end!r}")
    if ends[0] > ends[1] and not domain.is_circle:
        raise ValueError(f"low must not exceed high, got low={ends[0]!r}, high={ends[1]!r}")
    a, b = (float(t) for t in domain.to_unit(ends))
    if a <= b:
        target = Target(lambda t: ((t >= a) & (t <= b)).astype(np.float64), jumps=(a, b))
    else:
        target = Target(lambda t: ((t >= a) | (t <= b)).astype(np.float64), jumps=(a, b))
    fit = CrossFit(tally)
    lower, upper = (moments(fit.parts(target, side, tail, estimand), estimand) for side in (-1, 1))
    least, most = 0.0, 1.0
    if tally.n > 1:
        least, most = (
            float(np.clip(one.limit(side, tail), 0.0, 1.0)) for one, side in ((lower, -1), (upper, 1))
        )
    least, value, most, odd = in_order(least, (lower.value + upper.value) / 2, most)
    error = float(max(lower.error, upper.error)) if tally.n > 1 else math.nan
    what = f"probability of {ends[0]:.12g} to {ends[1]:.12g}"
    notes = few_notes(tally.n) + odd
    return Estimate(value, least, most, error, confidence, tally.n, what, estimand, "envelope", notes)


def check_share(p: object) -> float:
    number = real_number(p, "p")
    if not 0 <= number <= 1:
        raise ValueError(f"p must lie between 0 and 1, got p={number!r}")
    return number


def _below(t: float) -> Target:
    return Target(lambda x: (x <= t).astype(np.float64), jumps=(t,))
