"""Quantiles, with intervals that hold for every truth.

The distribution function F(t) is the average of 1[x ≤ t], so it has envelope limits; a quantile's interval is
where those limits admit F = p. No smoothness of the truth is assumed: that is what the width pays for. The
value does assume it: it is the quantile of one smooth fit to the same bins of cells.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, overload

import numpy as np

from sottovoce.arrays import FloatArray
from sottovoce.errors import ArgumentError, real_number
from sottovoce.estimates.answer.better_design import advice
from sottovoce.estimates.answer.linear_algebra import single_threaded
from sottovoce.estimates.answer.units import Query, sources_of
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.fits.log_density import Splines
from sottovoce.estimates.limits.declared_shape import UNDECLARED, Declared, declaration
from sottovoce.estimates.limits.envelope import BINS, CrossFit
from sottovoce.estimates.limits.quantile_interval import Ends, Level, Sample, quantile_interval
from sottovoce.estimates.tally import Tally

_SMOOTH = 3, (0.1, 1e3)  # how smooth the fit is at first: the order of differences, and two weights
_SMOOTH_VALUE = (
    "the value is that of a smooth fit, whose error is not known; the interval does not rest on it"
)


@overload
def quantile(
    tally: Tally,
    p: float,
    *,
    shape: str | None = ...,
    density: float | None = ...,
    steepness: float | None = ...,
    estimand: str = ...,
    confidence: float = ...,
) -> Estimate: ...


@overload
def quantile(
    tally: Tally,
    p: Sequence[float],
    *,
    shape: str | None = ...,
    density: float | None = ...,
    steepness: float | None = ...,
    estimand: str = ...,
    confidence: float = ...,
) -> list[Estimate]: ...


def quantile(
    tally: Tally,
    p: float | Sequence[float],
    *,
    shape: str | None = None,
    density: float | None = None,
    steepness: float | None = None,
    estimand: str = "population",
    confidence: float = 0.95,
) -> Estimate | list[Estimate]:
    """Estimate a quantile, with an interval that holds for every true distribution.

    Args:
        tally: Counts of reports about a number.
        p: Which quantile, between 0 and 1; 0.5 is the median. A list of them shares a fit; each
            interval has its own confidence.
        shape: What you know beforehand: "unimodal", if the density rises to one place and falls from there.
            Like the next two it narrows the interval, which then holds for every truth of that shape; it is
            printed with the answer, and refused if the reports contradict it.
        density: The most that the density can be, per unit of the domain.
        steepness: The most by which the density can change per unit, in the interior.
        estimand: The quantile of the "population" that these people stand for, or of the "respondents".
        confidence: How often the interval should hold.

    Returns:
        The value and its limits in the units of the domain; for a list of `p` a list.

    Raises:
        ValueError: If `p` is not between 0 and 1, the domain is a circle or the tally is empty.
        DataError: If the reports contradict what was declared.

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
    shares = [_checked_level(level) for level in levels]
    queries = [
        Query(tally, f"{share:.12g}-quantile", estimand, confidence).on_interval(instead="probability")
        for share in shares
    ]
    if not queries:
        return []
    declares = (shape, density, steepness) != UNDECLARED
    declared = declaration(queries[0], shape, density, steepness) if declares else None
    fit = CrossFit(tally)
    values = quantile_values(fit, shares)
    if declared is not None:
        truths = Declared(fit, declared, queries[0].tail)
        notes, limits = (truths.note, _SMOOTH_VALUE), declared_limits(truths, shares)
        answers = [
            query.answer((ends.low, ends.high), value, math.nan, method="declared", notes=notes)
            for query, ends, value in zip(queries, limits, values, strict=True)
        ]
        return answers if several else answers[0]
    every, sources = quantile_limits(fit, shares, queries[0].tail, estimand), sources_of(tally)
    answers = [
        query.answer(
            (ends.low, ends.high),
            value,
            math.nan,
            notes=(_SMOOTH_VALUE,),
            bound=ends.bound,
            advice=query.advised(advice, "quantile", binned=fit.binned, p=share),
            sources=sources,
        )
        for query, share, ends, value in zip(queries, shares, every, values, strict=True)
    ]
    return answers if several else answers[0]


def median(
    tally: Tally,
    *,
    shape: str | None = None,
    density: float | None = None,
    steepness: float | None = None,
    estimand: str = "population",
    confidence: float = 0.95,
) -> Estimate:
    """Estimate the median: the 0.5-quantile, with an interval that holds for every true distribution.

    Args:
        tally: Counts of reports about a number.
        shape: What you know beforehand, as in `quantile`.
        density: The same.
        steepness: The same.
        estimand: The median of the "population" that these people stand for, or of the "respondents".
        confidence: How often the interval should hold.

    Returns:
        The value and its limits in the units of the domain.

    Raises:
        ValueError: If the domain is a circle or the tally is empty.
        DataError: If the reports contradict what was declared.

    Example:
        >>> import numpy as np
        >>> from sottovoce.designs.classic import sw
        >>> m = sw(epsilon=4.0, domain=(0, 24))
        >>> e = median(Tally(m, m.report(np.linspace(0, 24, 20_000), rng=1)))
        >>> bool(e.low < 12 < e.high)
        True
    """
    declared: dict[str, Any] = {"shape": shape, "density": density, "steepness": steepness}
    return quantile(tally, 0.5, **declared, estimand=estimand, confidence=confidence)


@single_threaded
def smooth_density(fit: CrossFit) -> FloatArray:
    """One smooth fit to the binned reports of a tally, on equal parts of the domain."""
    circle = fit.binned.mechanism.domain.is_circle
    return Splines(fit.binned.counts.astype(np.float64), fit.law, circle=circle).search(*_SMOOTH).density


def quantile_values(fit: CrossFit, levels: Sequence[float]) -> list[float]:
    """Quantiles of that fit, in the unit coordinate."""
    total = np.concatenate(([0.0], np.cumsum(smooth_density(fit))))
    return [float(t) for t in np.interp(levels, total / total[-1], np.arange(BINS + 1) / BINS)]


def quantile_limits(
    fit: CrossFit, levels: Sequence[float], tail: float, estimand: str = "population"
) -> list[Ends]:
    """Intervals for quantiles, in the unit coordinate."""
    if fit.n < 2:
        return [Ends(0.0, 1.0, 1.0)] * len(levels)
    counts, pilots = zip(*fit.halves, strict=True)
    sample = Sample(fit.binned.mechanism, fit.n, pilots, counts, fit.statistic)
    return [quantile_interval(sample, Level(p, tail, estimand)) for p in levels]


def declared_limits(declared: Declared, levels: Sequence[float]) -> list[Ends]:
    """The same for truths of a declared shape."""
    fit = declared.fit
    counts, pilots = zip(*fit.halves, strict=True)
    # A unimodal truth has no stretch without people between others.
    even = None if declared.shape.unimodal else declared.statistic
    sample = Sample(fit.binned.mechanism, fit.n, pilots, counts, even)
    return [quantile_interval(sample, Level(p, declared.tail), declared.cells) for p in levels]


def _checked_level(p: object) -> float:
    number = real_number(p, "p")
    if not 0 <= number <= 1:
        raise ArgumentError(f"p must lie between 0 and 1, got p={number!r}", argument="p")
    return number
