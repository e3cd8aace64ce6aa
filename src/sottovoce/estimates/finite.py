"""Limits that hold at every n, for people who all differ: by betting, and by the noise of the mechanism."""

from __future__ import annotations

import math

import numpy as np

from sottovoce.core.kernels import Operator
from sottovoce.core.kernels.tables import FloatArray
from sottovoce.core.number import Number
from sottovoce.estimates.statistic import Part

_UNIT = (0.0, 1.0)


def betting_limit(part: Part, side: int, tail: float, ends: tuple[float, float] = _UNIT) -> float:
    """A limit whose error is at most `tail` at every n, for any independent people, identical or not.

    Bet against "the average is θ": the capital Π (1 + β(θ − w_i)) has expectation at most 1 if the w_i
    average θ or more, for each β fixed in advance (by the inequality of the means where people differ). So θ
    is excluded once the average capital over a few β reaches 1/tail (Markov; compare Waudby-Smith and
    Ramdas 2024). The β are those that suit the least and the most noise the mechanism allows.
    """
    w = side * part.weights
    low, high = ends if side > 0 else (-ends[1], -ends[0])
    top, n = float(w.max()), part.n
    quiet = np.sqrt(max(part.least, 1e-12 * (top - low) ** 2))
    loud = np.sqrt(max(part.most + (high - low) ** 2 / 4, quiet**2))
    sizes = np.geomspace(quiet, loud, 1 + int(np.ceil(np.log(loud / quiet) / np.log(2.5))))
    beta = np.minimum(np.sqrt(2 * np.log(1 / tail) / n) / sizes, 0.95 / (top - low))
    occupied = np.flatnonzero(part.counts)
    w, counts = w[occupied], part.counts[occupied]

    def excluded(theta: float) -> bool:
        capital = [counts @ np.log1p(b * (theta - w)) for b in beta]
        return float(np.logaddexp.reduce(capital)) - np.log(len(beta)) >= np.log(1 / tail)

    if not excluded(high):
        return side * high
    if excluded(low):
        return side * low
    while high - low > 1e-9 * (ends[1] - ends[0]):
        middle = (low + high) / 2
        low, high = (low, middle) if excluded(middle) else (middle, high)
    return side * high


def respondents_limits(
    part: Part, reporter: Number, tail: float, betting: tuple[float, float]
) -> tuple[float, float]:
    """Limits for these people's own mean: those by betting, or those by the mechanism's noise alone.

    Betting adapts to the noise there is but pays for people's spread. Which is used depends on the mechanism
    and n only, never on the reports: the one that is narrower for people spread evenly.
    """
    t, n = np.linspace(0.0, 1.0, 513), part.n
    law = reporter.operator(reporter.domain.from_unit(t))
    even = Part(part.weights, law.mix(np.full(513, (n + 0.5) / 513)), part.least, part.most)
    wide = betting_limit(even, 1, tail) - betting_limit(even, -1, tail)
    below, above = (noise_reach(part, law, t, side, tail) for side in (-1, 1))
    if below + above >= wide:
        return betting
    mean = float(part.weights @ part.counts) / n
    return mean - below, mean + above


def noise_reach(part: Part, law: Operator, t: FloatArray, side: int, tail: float) -> float:
    """Chernoff's bound: how far people's own mean can be above (side 1) or below that of their reports.

    Reports are unbiased. γ = min over λ of (ψ(λ) + log(1/tail)/n)/λ with ψ(λ) = log max_x E e^{λ(x − y)}.
    Bernstein's inequality, as in PTT's Theorem 5, bounds ψ by the largest variance and deviation; here it is
    computed. E[e^{−λy} | x] is convex in x, so between the points t it stays below its chords, and a chord
    times e^{λx} has its maximum in closed form. Where it is seen not to be convex the bound is infinite.
    """
    need, x, y = np.log(1 / tail) / part.n, side * (t - 0.5), side * (part.weights - 0.5)
    usual = np.sqrt(2 * need / max(part.most, 1e-300))
    reaches = []
    for size in np.minimum(usual * np.geomspace(0.2, 5, 25), 600 / np.ptp(y)):
        g = law.expect(np.exp(-size * y))
        rise, step = np.diff(g), size * np.diff(x)
        if np.diff(rise).min() < -1e-9 * g.max():
            return math.inf
        level = -1 / step - np.divide(g[:-1], rise, out=np.zeros_like(rise), where=rise != 0)
        at = np.clip(np.stack([np.zeros_like(level), level, np.ones_like(level)]), 0.0, 1.0)
        cost = float((np.log(g[:-1] + at * rise) + size * x[:-1] + at * step).max())
        reaches.append((cost + 1e-13 + need) / size)  # a little for rounding
    return min(reaches)
