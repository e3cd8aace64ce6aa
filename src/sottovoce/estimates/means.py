"""Mean and variance of the people behind a tally.

    sottovoce.mean(t)                              # value, low, high
    sottovoce.mean(t, interval="finite")           # holds at every n, not only for large ones
    sottovoce.mean(t, estimand="respondents")      # of the people who answered: only the noise counts

Methods of the mean: "decoded" averages the decoded reports, right for an unbiased mechanism and its default;
"envelope" works with every mechanism (see `envelope`) and is the default of the others; "distribution" takes
the value from the reconstructed distribution and the interval from the envelope; "raw" averages the decoded
reports of a biased mechanism, as the OGPM paper does: its interval is for the average report.
"""

from __future__ import annotations

import math

import numpy as np

from sottovoce.core.errors import check_confidence
from sottovoce.core.kernels.tables import FloatArray
from sottovoce.core.mixture import Mixture
from sottovoce.core.randomness import Seeded
from sottovoce.core.reporter import NumberReporter
from sottovoce.estimates.crossfit import CrossFit
from sottovoce.estimates.envelope import Target
from sottovoce.estimates.estimate import (
    ESTIMANDS,
    INTERVALS,
    Estimate,
    check_choice,
    check_tally,
    few_notes,
    in_order,
)
from sottovoce.estimates.limits import (
    Part,
    betting_limit,
    bootstrap_limit,
    moments,
    noise_reach,
    normal_limit,
)
from sottovoce.estimates.tally import Tally

METHODS = ("auto", "decoded", "envelope", "distribution", "raw")
_MEAN = Target(lambda t: t)


def mean(
    tally: Tally,
    *,
    method: str = "auto",
    interval: str = "normal",
    estimand: str = "population",
    confidence: float = 0.95,
    rng: Seeded = 0,
) -> Estimate:
    """The mean, with an interval.

    `interval`: "normal" (with a correction for skewness), "finite" (error at most 1 − confidence at every n
    and for people who are not alike, by betting; for respondents of an unbiased mechanism also by Chernoff's
    bound on its noise, whichever suits n and the mechanism) or "bootstrap" (bootstrap-t on the counts; `rng`
    seeds it).
    `method`: "decoded" averages the decoded reports of an unbiased mechanism, "envelope" holds for every
    mechanism and truth; "auto" takes the first where it is valid, otherwise the second. "distribution" and
    "raw" are for comparison: the mean of the reconstruction, and of the reports as they are. `estimand`: the
    mean of the "population" that these people stand for, or of the "respondents" themselves.

    >>> import numpy as np
    >>> from sottovoce.designs.classic import pm
    >>> m = pm(epsilon=2.0, domain=(0, 24))
    >>> t = Tally(m, m.report(np.full(10_000, 8.0), rng=1))
    >>> e = mean(t)
    >>> bool(e.low < 8.0 < e.high), e.method
    (True, 'decoded')
    """
    check_choice(method, "method", METHODS)
    check_choice(interval, "interval", INTERVALS)
    check_choice(estimand, "estimand", ESTIMANDS)
    tail = (1 - check_confidence(confidence)) / 2
    m = needs_interval(tally, "mean", "circular_mean").mechanism
    if method == "auto":
        method = "decoded" if is_unbiased(m) else "envelope"
    elif method == "decoded" and not is_unbiased(m):
        raise ValueError("method='decoded' needs an unbiased mechanism; use 'envelope', or 'raw' on purpose")
    raw = method == "raw"
    lower, upper = _statistics(tally, method, interval, estimand, tail)
    ends = (float(lower[0].weights.min()), float(lower[0].weights.max())) if raw else (0.0, 1.0)
    if interval == "finite":
        low, high = betting_limit(lower[0], -1, tail, ends), betting_limit(upper[0], 1, tail, ends)
        if method == "decoded" and estimand == "respondents":
            low, high = _of_respondents(lower[0], m, tail, (low, high))
    elif tally.n < 2:
        low, high = ends
    elif interval == "bootstrap":
        low, high = (
            bootstrap_limit(one, side, tail, estimand, rng) for one, side in ((lower, -1), (upper, 1))
        )
    else:
        low, high = (normal_limit(one, side, tail, estimand) for one, side in ((lower, -1), (upper, 1)))
    below, above = moments(lower, estimand), moments(upper, estimand)
    value = (below.value + above.value) / 2
    if method == "distribution":
        from sottovoce.estimates.distribution import distribution

        value = float(m.domain.to_unit(distribution(tally, band=False).mean))
    notes = _notes(tally.n, interval, raw and not is_unbiased(m), ends[0] <= value <= ends[1])
    low, high = (float(np.clip(limit, *ends)) for limit in (low, high))
    low, value, high, odd = in_order(low, value, high)
    exact = method in ("decoded", "raw")
    error = float(max(below.error, above.error)) if tally.n > 1 else math.nan
    low, value, high = (float(m.domain.from_unit(t)) for t in (low, value, high))
    return Estimate(
        value,
        low,
        high,
        error * m.domain.width,
        confidence,
        tally.n,
        what="mean report" if raw else "mean",
        estimand=estimand,
        method=method if interval == "normal" else f"{method}, {interval}",
        notes=notes + odd,
        reach=float(np.ptp(lower[0].weights)) * m.domain.width / tally.n if exact else None,
    )


def _statistics(
    tally: Tally, method: str, interval: str, estimand: str, tail: float
) -> tuple[list[Part], list[Part]]:
    """What bounds the mean from below and from above; decoded reports do both."""
    if method in ("decoded", "raw"):
        part = _decoded_part(tally, estimand)
        return [part], [part]
    fit = CrossFit(tally, blind=interval == "finite")
    return fit.parts(_MEAN, -1, tail, estimand), fit.parts(_MEAN, 1, tail, estimand)


def _of_respondents(
    part: Part, m: NumberReporter, tail: float, betting: tuple[float, float]
) -> tuple[float, float]:
    """Limits for these people's own mean at every n: by betting, or by the mechanism's noise alone.

    Betting adapts to the noise there is but pays for people's spread. Which is used depends on the mechanism
    and n only, never on the reports: the one that is narrower for people spread evenly.
    """
    if isinstance(m, Mixture):  # whose law is not known to be convex as `noise_reach` needs it
        return betting
    t = np.linspace(0.0, 1.0, 513)
    law, n = m.operator(m.domain.from_unit(t)), part.n
    even = Part(part.weights, law.mix(np.full(513, (n + 0.5) / 513)), part.least, part.most)
    wide = betting_limit(even, 1, tail, (0.0, 1.0)) - betting_limit(even, -1, tail, (0.0, 1.0))
    below, above = (noise_reach(part, law, t, side, tail) for side in (-1, 1))
    if below + above >= wide:
        return betting
    mean = float(part.weights @ part.counts) / n
    return mean - below, mean + above


def _notes(n: int, interval: str, biased: bool, inside: bool) -> tuple[str, ...]:
    said = list(few_notes(n)) if interval != "finite" else []
    if said:
        said.append("interval='finite' holds at every n")
    if biased:
        said.append("the average report of a biased mechanism: the interval is not for the people's mean")
    if not inside:
        said.append("before clipping the value was outside the domain")
    return tuple(said)


def variance(tally: Tally, *, estimand: str = "population", confidence: float = 0.95) -> Estimate:
    """The variance of the people's values (not of the reports), with an interval for every truth.

    Var ≤ E(x − c)² for every c, and Var = E(x − c)² − (mean − c)²: both averages have envelopes.
    `estimand`: of the "population" that these people stand for, or of the "respondents" themselves (divided
    by n).
    """
    check_choice(estimand, "estimand", ESTIMANDS)
    tail = (1 - check_confidence(confidence)) / 2
    m = needs_interval(tally, "variance", "circular_mean").mechanism
    fit = CrossFit(tally)
    centre = sum(moments(fit.parts(_MEAN, side, tail), "population").value for side in (-1, 1)) / 2
    centre = float(np.clip(centre, 0.0, 1.0))
    square = Target(lambda t: (t - centre) ** 2, curvature=(2.0, 2.0))
    # The mean's own interval takes a fifth of the lower limit's error; its square is of smaller order.
    below, above = (
        moments(fit.parts(square, side, share * tail, estimand), estimand)
        for side, share in ((-1, 0.8), (1, 1.0))
    )
    low, high = 0.0, 0.25
    if tally.n > 1:
        high = above.limit(1, tail)
        away = max(abs(fit.limit(_MEAN, side, 0.1 * tail, estimand) - centre) for side in (-1, 1))
        low = below.limit(-1, 0.8 * tail) - away**2
    low, high = (float(np.clip(limit, 0.0, 0.25)) for limit in (low, high))
    low, value, high, odd = in_order(low, (below.value + above.value) / 2, high)
    error = float(max(below.error, above.error)) if tally.n > 1 else math.nan
    value, low, high, error = (m.domain.width**2 * number for number in (value, low, high, error))
    notes = few_notes(tally.n) + odd
    return Estimate(value, low, high, error, confidence, tally.n, "variance", estimand, "envelope", notes)


def is_unbiased(m: NumberReporter) -> bool:
    """Whether decoded reports average to the truth at every x, to rounding.

    >>> from sottovoce.designs.classic import ogpm, pm
    >>> is_unbiased(pm(1.0)), is_unbiased(ogpm(1.0))
    (True, False)
    """
    if m.domain.is_circle:
        return False
    # Points that no regular grid of cells shares.
    t = np.concatenate(([0.0, 1.0], np.mod(np.arange(1, 512) * 0.6180339887498949, 1.0)))
    return bool(np.abs(m.operator(m.domain.from_unit(t)).expect(_decoded(m)) - t).max() < 1e-9)


def needs_interval(tally: Tally, what: str, instead: str) -> Tally:
    """A tally with data of a mechanism on an interval."""
    if check_tally(tally).mechanism.domain.is_circle:
        raise ValueError(f"{what} is not defined on a circle; use {instead}")
    return tally.required()


def _decoded(m: NumberReporter) -> FloatArray:
    return m.domain.to_unit(m.decode(np.arange(m.cells)))


def _decoded_part(tally: Tally, estimand: str) -> Part:
    """The decoded mean as a statistic, with what its noise can be at any x and is on average."""
    m, weights = tally.mechanism, _decoded(tally.mechanism)
    t = np.linspace(0.0, 1.0, 513)
    law = m.operator(m.domain.from_unit(t))
    first = law.expect(weights)
    noise = law.expect(weights**2) - first**2
    average = None
    if estimand == "respondents":
        from scipy.interpolate import make_interp_spline

        # Between grid points the variance leaves its chord by at most (Δt)²/4 where E[y] = x.
        shape = make_interp_spline(t, noise + (t[1] - t[0]) ** 2 / 4, k=1)
        fit = CrossFit(tally)
        found = moments(fit.parts(Target(shape, curvature=(-1e-9, 0.0)), 1, 0.16), "population").value
        average = float(np.clip(found, noise.min(), noise.max()))
    return Part(weights, tally.counts, max(float(noise.min()), 0.0), float(noise.max()), average)
