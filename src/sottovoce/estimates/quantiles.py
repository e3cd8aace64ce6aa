"""Quantiles and the probability of a range, with intervals that hold for every truth.

The distribution function F(t) is the average of 1[x ≤ t], so it has envelope limits; a quantile's interval is
where those limits admit F = p. No smoothness of the truth is assumed: that is what the width pays for. The
value does assume it: it is the quantile of one smooth fit to the same groups of cells.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import overload

import numpy as np

from sottovoce.core.errors import ArgumentError, real_number
from sottovoce.estimates.asked import asked_share
from sottovoce.estimates.em import em, smooth_line
from sottovoce.estimates.envelope import BINS, CrossFit, Target
from sottovoce.estimates.estimate import Estimate, Query
from sottovoce.estimates.splines import ENOUGH, Splines
from sottovoce.estimates.statistic import between, moments
from sottovoce.estimates.suitability import advised
from sottovoce.estimates.tally import Tally
from sottovoce.estimates.watching import watched_average, watching_cost

_GRID = BINS  # an interval is rounded outwards to this part of the domain
_SHARED = range(0, _GRID, 32)  # points at which every quantile looks further out
_WATCHED = "envelope, sequential"
_SMOOTH_VALUE = (
    "the value is that of a smooth fit, whose error is not known; the interval does not rest on it"
)


@overload
def quantile(tally: Tally, p: float, *, estimand: str = ..., confidence: float = ...) -> Estimate: ...


@overload
def quantile(
    tally: Tally, p: Sequence[float], *, estimand: str = ..., confidence: float = ...
) -> list[Estimate]: ...


def quantile(
    tally: Tally, p: float | Sequence[float], *, estimand: str = "population", confidence: float = 0.95
) -> Estimate | list[Estimate]:
    """Estimate a quantile, with an interval that holds for every true distribution.

    Args:
        tally: Counts of reports about a number.
        p: Which quantile, between 0 and 1; 0.5 is the median. A list of them shares most of the work; each
            interval has its own confidence.
        estimand: The quantile of the "population" that these people stand for, or of the "respondents".
        confidence: How often the interval should hold.

    Returns:
        The value and its limits in the units of the domain; for a list of `p` a list.

    Raises:
        ValueError: If `p` is not between 0 and 1, the domain is a circle or the tally is empty.

    Example:
        >>> import numpy as np
        >>> from sottovoce.designs.classic import sw
        >>> m = sw(epsilon=4.0, domain=(0, 24))
        >>> e = quantile(Tally(m, m.report(np.linspace(0, 24, 20_000), rng=1)), 0.9)
        >>> bool(e.low < 21.6 < e.high)
        True
    """
    several = np.ndim(p) > 0
    levels: Iterable[object] = p if several else [p.item() if isinstance(p, np.ndarray) else p]  # type: ignore[assignment]
    shares = [_share(level) for level in levels]
    queries = [
        Query(tally, f"{share:.12g}-quantile", estimand, confidence).on_interval(instead="probability")
        for share in shares
    ]
    if not queries:
        return []
    fit = CrossFit(tally)
    limits = quantile_limits(fit, shares, queries[0].tail, estimand)
    values = quantile_values(fit, tally.mechanism.epsilon, shares)
    answers = [
        query.answer(interval, value, math.nan, notes=(_SMOOTH_VALUE,))
        for query, interval, value in zip(queries, limits, values, strict=True)
    ]
    answers = [advised("quantile", tally, one, p=share) for one, share in zip(answers, shares, strict=True)]
    return answers if several else answers[0]


def quantile_values(fit: CrossFit, epsilon: float, levels: Sequence[float]) -> list[float]:
    """Quantiles of one smooth fit, in the unit coordinate."""
    counts = fit.coarse.counts.astype(np.float64)
    if fit.n * epsilon**2 < ENOUGH:
        shares = em(fit.law, counts, smooth=smooth_line).probabilities
    else:
        shares = Splines(counts, fit.law, circle=False).search(3, (0.1, 1e3)).density
    total = np.concatenate(([0.0], np.cumsum(shares)))
    return [float(t) for t in np.interp(levels, total / total[-1], np.arange(BINS + 1) / BINS)]


def quantile_limits(
    fit: CrossFit, levels: Sequence[float], tail: float, estimand: str = "population"
) -> list[tuple[float, float]]:
    """Intervals for quantiles, in the unit coordinate."""
    if fit.n < 2:
        return [(0.0, 1.0)] * len(levels)
    above, below = (_Curve(fit, side, tail, estimand) for side in (1, -1))
    # At p = 0 the question is where F first leaves zero.
    return [(above.crossing(p)[0], below.crossing(max(p, 1e-12))[1]) for p in levels]


class _Curve:
    """Limits of F(t) from one side at the points of a grid, computed when asked for and kept.

    They increase but for rounding; where they do not, the wider interval is taken.
    """

    def __init__(self, fit: CrossFit, side: int, tail: float, estimand: str) -> None:
        self.fit, self.side, self.tail, self.estimand = fit, side, tail, estimand
        self.known = {-1: 0.0, _GRID: 1.0}  # F is 0 below the domain and 1 at its end

    def __getitem__(self, k: int) -> float:
        if k not in self.known:
            self.known[k] = self.fit.limit(Target.up_to(k / _GRID), self.side, self.tail, self.estimand)
        return self.known[k]

    def crossing(self, p: float) -> tuple[float, float]:
        """Neighbours on the grid between which the limits reach p, in the unit coordinate.

        Where F stays at p for long (between two groups of people, or beyond the last) every limit looked at
        on the way had its own chance to mislead: points further out are asked as well, and if one of them
        admits F = p the search goes on there.
        """
        below, above = self._search(p)
        while any((self[k] >= p) == (self.side > 0) for k in self._further_out(below, above)):
            below, above = self._search(p)
        return max(below, 0) / _GRID, above / _GRID

    def _search(self, p: float) -> tuple[int, int]:
        """Neighbours between which the limits reach p, from what is known and from the pilot's guess."""
        below, above = self._outermost(p)
        guess, turns = int(np.searchsorted(self.fit.rough, p)), 0
        while above - below > 1:
            k = guess if below < guess < above else self._between(p, below, above, halve=turns % 2 == 1)
            limit, turns = self[k], turns + 1
            below, above = (k, above) if limit < p else (below, k)
            if self.side > 0 and limit >= 1:  # nothing is known here: perhaps nowhere below either
                guess = below + 1
            elif self.side < 0 and limit <= 0:
                guess = above - 1
        return below, above

    def _outermost(self, p: float) -> tuple[int, int]:
        """The known points around p, the furthest out where there are several."""
        if self.side > 0:
            above = min(k for k, limit in self.known.items() if limit >= p)
            return max((k for k in self.known if k < above), default=-1), above
        below = max((k for k, limit in self.known.items() if limit < p), default=-1)
        return below, min(k for k in self.known if k > below)

    def _between(self, p: float, below: int, above: int, *, halve: bool) -> int:
        """The point on a straight line between two known ones, or their middle."""
        share = (p - self.known[below]) / max(self.known[above] - self.known[below], 1e-12)
        share = 0.5 if halve else min(max(share, 0.1), 0.9)
        return min(max(below + round((above - below) * share), below + 1), above - 1)

    def _further_out(self, below: int, above: int) -> list[int]:
        """Points beyond a crossing: some nearby, and some that all quantiles share."""
        steps = (2, 4, 8, 16)
        if self.side > 0:
            return [k for k in (*(below - step for step in steps), *_SHARED) if 0 <= k < below]
        return [k for k in (*(above + step for step in steps), *_SHARED) if above < k < _GRID]


def probability(
    tally: Tally,
    low: float,
    high: float,
    *,
    estimand: str = "population",
    confidence: float = 0.95,
    sequential: bool = False,
    fakes: int = 0,
) -> Estimate:
    """Estimate the share of the people with low ≤ x ≤ high; on a circle from low forwards to high.

    Args:
        tally: Counts of reports about a number.
        low: Where the range begins.
        high: Where it ends.
        estimand: The share of the "population" that these people stand for, or of the "respondents".
        confidence: How often the interval should hold.
        sequential: Limits that hold at every look while reports come in, as in `mean`.
        fakes: How many reports may be forged: the limits hold whatever those are.

    Returns:
        The share and its limits.

    Raises:
        ValueError: If the range is not in the domain or the tally is empty.

    Example:
        >>> import numpy as np
        >>> from sottovoce.designs.classic import sw
        >>> m = sw(epsilon=4.0, domain=(0, 24))
        >>> e = probability(Tally(m, m.report(np.linspace(0, 24, 20_000), rng=1)), 6, 12)
        >>> bool(e.low < 0.25 < e.high)
        True
    """
    begin, end = real_number(low, "low"), real_number(high, "high")
    query = Query(tally, f"probability of {begin:.12g} to {end:.12g}", estimand, confidence, fakes)
    for limit, name in ((begin, "low"), (end, "high")):
        if not query.domain.contains(limit):
            raise ArgumentError(f"{name} must lie in the domain, got {name}={limit!r}", argument=name)
    if begin > end and not query.domain.is_circle:
        raise ArgumentError(f"low must not exceed high, got low={begin!r}, high={end!r}", argument="low")
    first, last = query.domain.to_unit([begin, end]).tolist()
    asked = None if sequential or fakes else asked_share(tally, first, last, query.tail)
    if asked is not None:
        return query.answer(*asked, power=0, method="asked directly", at_every_n=True)
    fit, target = CrossFit(tally, fakes=fakes), Target.within(first, last)
    lower, upper = (moments(fit.statistic(target, side, query.tail, estimand), estimand) for side in (-1, 1))
    value, error, _ = between(lower, upper)
    if sequential:
        limits = watched_average(fit, target, query)
        notes = watching_cost(query, limits, lower, upper)
        return query.answer(limits, value, error, power=0, notes=notes, at_every_n=True, method=_WATCHED)
    limits = float(lower.limit(-1, query.tail)), float(upper.limit(1, query.tail))
    answer = query.answer(limits, value, error, power=0, sides=(lower, upper))
    return answer if fakes else advised("share", tally, answer, target=target)


def _share(p: object) -> float:
    number = real_number(p, "p")
    if not 0 <= number <= 1:
        raise ArgumentError(f"p must lie between 0 and 1, got p={number!r}", argument="p")
    return number
