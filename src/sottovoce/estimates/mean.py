"""The mean of the people behind a tally, not of their reports.

sottovoce.mean(tally)                              # value, low, high
sottovoce.mean(tally, interval="finite")           # holds at every n, not only for large ones
sottovoce.mean(tally, estimand="respondents")      # of the people who answered: only the noise counts
sottovoce.mean(tally, sequential=True)             # holds at every look while reports come in
sottovoce.mean(tally, fakes=20)                    # holds even if 20 reports were fakes
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from sottovoce.errors import check_confidence, one_of, refuse_others
from sottovoce.estimates.answer.better_design import advice
from sottovoce.estimates.answer.units import (
    AT_EVERY_N,
    FEW,
    INTERVALS,
    Advice,
    Query,
    check_tally,
    generator_of,
)
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.limits.declared_shape import UNDECLARED, declaration, declared_average
from sottovoce.estimates.limits.envelope import IDENTITY, CrossFit, Target
from sottovoce.estimates.limits.every_n import betting_limit, respondents_limits, sequential_noise_limits
from sottovoce.estimates.limits.limit import limit
from sottovoce.estimates.limits.sequential import sequential_average, sequential_cost
from sottovoce.estimates.limits.weighted_counts import (
    Part,
    Statistic,
    between,
    bootstrap_limit,
    decoded_noise,
    moments,
)
from sottovoce.estimates.shares import mean_of_ratings
from sottovoce.estimates.tally import Tally
from sottovoce.randomness.word_source import Seeded

_GEOMETRIC = "on a log scale it is the mean of the logarithms: below the usual mean, nearer to the median"


def mean(
    tally: Tally,
    *,
    interval: str = "normal",
    shape: str | None = None,
    density: float | None = None,
    steepness: float | None = None,
    estimand: str = "population",
    confidence: float = 0.95,
    sequential: bool = False,
    fakes: int = 0,
    rng: Seeded = None,
) -> Estimate:
    """Estimate the mean, with an interval.

    Reports of an unbiased mechanism are decoded and averaged; of any other the answer is the middle of two
    bounds that hold for every truth. The answer's `method` says which: "decoded" or "envelope".

    Args:
        tally: Counts of reports about a number.
        interval: "normal" (with a correction for skewness), "finite" (error at most 1 − confidence at every n
            and for people who are not alike, by betting; for respondents of an unbiased mechanism also by
            Chernoff's bound on its noise, whichever suits n and the mechanism) or "bootstrap" (bootstrap-t
            on the counts).
        shape: What you know beforehand, as in `quantile`: with it the method is "declared".
        density: The same.
        steepness: The same.
        estimand: The mean of the "population" that these people stand for, or of the "respondents".
        confidence: How often the interval should hold.
        sequential: Limits that hold at every n and at every look, so that results may be watched and
            collecting stopped once the answer is clear. By betting, for people of one population; for
            respondents of an unbiased mechanism by its noise, whoever they are. A note says how much wider
            they are than limits for this n alone. They go with no other `interval`.
        fakes: How many reports may be fakes: the limits hold whatever those are.
        rng: Seeds the bootstrap alone. By default the tally does: the same tally gives the same answer.

    Returns:
        The value and its limits in the units of the domain. On a log scale it is the geometric mean: e to the
        mean of the logarithms. Of ratings the mean of the options, which takes a confidence only.

    Raises:
        ValueError: If the domain is a circle or the tally is empty.
        DataError: If the reports contradict what was declared.

    Example:
        >>> import numpy as np
        >>> from sottovoce.designs.classic import pm
        >>> m = pm(epsilon=2.0, domain=(0, 24))
        >>> e = mean(Tally(m, m.report(np.full(10_000, 8.0), rng=1)))
        >>> bool(e.low < 8.0 < e.high), e.method
        (True, 'decoded')
    """
    if check_tally(tally).law.ratings is not None:
        refuse_others(mean, "ratings", {**locals(), "rng": rng}, "tally confidence")
        return mean_of_ratings(tally, check_confidence(confidence))
    query = Query(tally, "mean", estimand, confidence, fakes).on_interval(instead="circular_mean")
    if query.domain.is_log:
        query = replace(query, what="geometric mean")
    one_of(interval, "interval", INTERVALS)
    refuse_others(mean, f"interval={interval!r}", {"rng": rng}, "rng" * (interval == "bootstrap"))
    if sequential:
        refuse_others(mean, "sequential=True", {"interval": interval})
        interval = "sequential"
    if (shape, density, steepness) != UNDECLARED:
        declared = declaration(query, shape, density, steepness, plain=interval == "normal")
        return declared_average(query, declared, IDENTITY, power=1)
    return (_average if tally.law.as_number().unbiased else _envelope)(query, interval, rng)


def _average(query: Query, interval: str, rng: Seeded) -> Estimate:
    """The average of decoded reports of an unbiased mechanism."""
    part = replace(decoded_part(query.tally, query.estimand), fakes=query.fakes)
    average = moments([part])
    notes = _notes(query, interval, average.value)
    limits = _limits(query, interval, ([part], [part]), rng)
    if query.estimand == "respondents" and interval == "finite":
        limits = respondents_limits(part, query.tally.law.as_number(), query.tail, limits)
    elif query.estimand == "respondents" and interval == "sequential":
        limits = sequential_noise_limits(part, query.tally.law.as_number(), query.tail)
    if interval == "sequential":
        notes += sequential_cost(query, limits, [part], [part])
    return query.answer(
        limits,
        average.value,
        average.error,
        method=_named("decoded", interval),
        notes=notes,
        at_every_n=interval in AT_EVERY_N,
        reach=float(np.ptp(part.weights)) / query.tally.n,
        sides=(average, average) if interval == "normal" else None,
        advice=_advice(query, interval),
    )


def decoded_part(tally: Tally, estimand: str) -> Part:
    """The decoded mean as a statistic, with what its noise can be at any x and is on average."""
    (t, noise), ceiling = decoded_noise(tally.law.as_number()), math.inf
    least, most = max(float(noise.min()), 0.0), float(noise.max())
    if estimand == "respondents":
        from scipy.interpolate import make_interp_spline

        # Between grid points the variance leaves its chord by at most (Δt)²/4 where E[y] = x.
        shape = make_interp_spline(t, noise + (t[1] - t[0]) ** 2 / 4, k=1)
        statistic = CrossFit(tally).statistic(Target(shape, curvature=(-1e-9, 0.0)), 1, 0.16)
        ceiling = float(np.clip(moments(statistic).value, noise.min(), noise.max()))
    return Part(tally.law.as_number().positions, tally.counts, least, most, ceiling)


def _envelope(query: Query, interval: str, rng: Seeded) -> Estimate:
    """The middle of two statistics that bound the mean for every mechanism and truth."""
    # A finite interval needs weights fixed beforehand.
    fit = CrossFit(query.tally, blind=interval == "finite", fakes=query.fakes)
    lower, upper = (fit.statistic(IDENTITY, side, query.tail, query.estimand) for side in (-1, 1))
    sides = moments(lower), moments(upper)
    value, error, bias = between(*sides)
    notes = _notes(query, interval, value)
    if interval == "sequential":
        limits = sequential_average(fit, IDENTITY, query)
        notes += sequential_cost(query, limits, lower, upper)
    else:
        limits = _limits(query, interval, (lower, upper), rng)
    if query.tally.n >= FEW and bias**2 > error**2 / 2:
        gap = float(query.domain.stretched(bias))
        by = f"a factor of {math.exp(gap):.3g}" if query.domain.is_log else f"± {gap:.2g}"
        notes = (f"mostly not chance: so many reports of this mechanism leave the mean open by {by}", *notes)
    return query.answer(
        limits,
        value,
        error,
        method=_named("envelope", interval),
        notes=notes,
        at_every_n=interval in AT_EVERY_N,
        sides=sides if interval == "normal" else None,
        advice=_advice(query, interval),
    )


def _limits(
    query: Query, interval: str, statistics: tuple[Statistic, Statistic], rng: Seeded
) -> tuple[float, float]:
    """Limits of the kind that was asked for, from what bounds the mean on either side."""
    sides = tuple(zip(statistics, (-1, 1), strict=True))
    if interval in AT_EVERY_N:
        sequential = interval == "sequential"
        below, above = (betting_limit(one, side, query.tail, sequential=sequential) for one, side in sides)
    elif interval == "bootstrap" and query.tally.n > 1:
        generator = generator_of(query.tally, rng)
        below, above = (bootstrap_limit(one, side, query.tail, generator) for one, side in sides)
    else:
        below, above = (float(limit(one, side, query.tail)) for one, side in sides)
    return below, above


def _advice(query: Query, interval: str) -> Advice | None:
    return query.advised(advice, "mean") if interval == "normal" and not query.fakes else None


def _named(method: str, interval: str) -> str:
    return method if interval == "normal" else f"{method}, {interval}"


def _notes(query: Query, interval: str, value: float) -> tuple[str, ...]:
    notes: tuple[str, ...] = (_GEOMETRIC,) if query.domain.is_log else ()
    if query.tally.n < FEW and interval not in AT_EVERY_N:
        notes += ("interval='finite' holds at every n",)
    if not 0.0 <= value <= 1.0:
        notes += ("before clipping the value was outside the domain",)
    return notes
