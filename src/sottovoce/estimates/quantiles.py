"""Quantiles and the probability of a range, with intervals that hold for every truth.

The distribution function F(t) is the average of 1[x ≤ t], so it has envelope limits; a quantile's interval is
where those limits admit F = p. No smoothness of the truth is assumed: that is what the width pays for. The
value itself comes from the reconstructed distribution.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import overload

import numpy as np

from sottovoce.errors import check_confidence, real_number
from sottovoce.estimates.crossfit import CrossFit
from sottovoce.estimates.envelope import Target
from sottovoce.estimates.estimate import Estimate, few_notes
from sottovoce.estimates.limits import moments, normal_limit
from sottovoce.estimates.means import needs_interval
from sottovoce.tally import Tally

_STEPS = 8  # halvings of the domain: an interval is rounded outwards by less than 1/256 of it


@overload
def quantile(tally: Tally, p: float, *, confidence: float = ...) -> Estimate: ...


@overload
def quantile(tally: Tally, p: Sequence[float], *, confidence: float = ...) -> list[Estimate]: ...


def quantile(
    tally: Tally, p: float | Sequence[float], *, confidence: float = 0.95
) -> Estimate | list[Estimate]:
    """The p-quantile of the population, or several at once (each interval has its own confidence).

    `p` is between 0 and 1, or a list of such numbers.
    """
    from sottovoce.estimates.distribution import distribution

    tail = (1 - check_confidence(confidence)) / 2
    wanted = [check_share(q) for q in (p if isinstance(p, Sequence | np.ndarray) else [p])]
    m = needs_interval(tally, "quantile", "probability").mechanism
    fit = CrossFit(tally)
    shape = distribution(tally, band=False)
    limits: dict[tuple[float, int], float] = {}

    def limit(t: float, side: int) -> float:
        """The limit of F(t) from above or below; F is 0 below the domain and 1 at its end."""
        if t >= 1.0:
            return 1.0
        if (t, side) not in limits:
            limits[t, side] = fit.limit(_below(t), side, tail)
        return limits[t, side]

    def estimate(q: float) -> Estimate:
        low, high = 0.0, 1.0
        if tally.n > 1:
            low, _ = _turn(lambda t: limit(t, 1) < q)
            # At p = 0 the question is where F first leaves zero.
            _, high = _turn(lambda t: limit(t, -1) < max(q, 1e-12))
        value = float(np.clip(m.domain.to_unit(shape.quantile(q)), low, high))
        low, value, high = (float(m.domain.from_unit(t)) for t in (low, value, high))
        what, notes = f"{q:g}-quantile", few_notes(tally.n)
        return Estimate(
            value, low, high, float("nan"), confidence, tally.n, what, "population", "envelope", notes
        )

    found = [estimate(q) for q in wanted]
    return found if isinstance(p, Sequence | np.ndarray) else found[0]


def _turn(before: Callable[[float], bool]) -> tuple[float, float]:
    """Neighbours on the grid of unit coordinates between which `before` turns false, by bisection."""
    if not before(0.0):
        return 0.0, 0.0
    below, above = 0, 1 << _STEPS
    while above - below > 1:
        middle = (below + above) // 2
        below, above = (middle, above) if before(middle / (1 << _STEPS)) else (below, middle)
    return below / (1 << _STEPS), above / (1 << _STEPS)


def probability(tally: Tally, low: float, high: float, *, confidence: float = 0.95) -> Estimate:
    """The share of the population with low ≤ x ≤ high; on a circle from low forwards to high.

    >>> import numpy as np
    >>> from sottovoce.designs.classic import sw
    >>> m = sw(epsilon=4.0, domain=(0, 24))
    >>> t = Tally(m, m.report(np.linspace(0, 24, 20_000), rng=1))
    >>> e = probability(t, 6, 12)
    >>> bool(e.low < 0.25 < e.high)
    True
    """
    if not isinstance(tally, Tally):
        raise TypeError(f"tally must be a Tally, got {type(tally).__name__}")
    tail = (1 - check_confidence(confidence)) / 2
    domain = tally.required().mechanism.domain
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
    lower, upper = (fit.parts(target, side, tail) for side in (-1, 1))
    least, most = 0.0, 1.0
    if tally.n > 1:
        least = normal_limit(lower, -1, tail, "population")
        most = normal_limit(upper, 1, tail, "population")
    least, most = (float(np.clip(limit, 0.0, 1.0)) for limit in (least, most))
    below, above = moments(lower, "population"), moments(upper, "population")
    value = float(np.clip((below.value + above.value) / 2, least, max(least, most)))
    error = max(below.error, above.error)
    what = f"probability of {ends[0]:g} to {ends[1]:g}"
    notes = few_notes(tally.n)
    return Estimate(value, least, most, error, confidence, tally.n, what, "population", "envelope", notes)


def check_share(p: object) -> float:
    number = real_number(p, "p")
    if not 0 <= number <= 1:
        raise ValueError(f"p must lie between 0 and 1, got p={number!r}")
    return number


def _below(t: float) -> Target:
    return Target(lambda x: (x <= t).astype(np.float64), jumps=(t,))
