"""Limits that hold at every n, for people who all differ: by betting, and by the noise of the mechanism.

The *sequential* ones hold at every look: with the stated confidence the truth is inside all the intervals
that anybody ever computes while reports come in.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from sottovoce.arrays import FloatArray
from sottovoce.estimates.limits.weighted_counts import Part
from sottovoce.reporters.law.operator import Operator
from sottovoce.reporters.number import Number

_MOST_PEOPLE = 1e9  # bets of a sequence suit up to so many; beyond, it holds but is wide
_STEP = 2.5  # between neighbouring bets
_USUAL = 7.4  # twice the log of 1/0.025: bets of a sequence must not depend on the error that is asked for


def binomial_limits(count: ArrayLike, n: int, tail: float) -> tuple[FloatArray, FloatArray]:
    """Clopper and Pearson's limits of a chance: each errs with probability `tail` at most, at every n.

    Args:
        count: How often it happened; one number, or several of as many chances.
        n: Out of how many.
        tail: The error of each limit.

    Returns:
        The lower and the upper limits.
    """
    from scipy.special import betaincinv

    k = np.asarray(count, dtype=np.float64)
    low = np.where(k > 0, betaincinv(np.maximum(k, 1), n - k + 1, tail), 0.0)
    high = np.where(k < n, betaincinv(k + 1, np.maximum(n - k, 1), 1 - tail), 1.0)
    return low, high


def betting_limit(
    parts: Sequence[Part],
    side: int,
    tail: float,
    *,
    sequential: bool = False,
) -> float:
    """A limit whose error is at most `tail` at every n, for any independent people, identical or not.

    Bet against "the average is θ": the capital Π (1 + β(θ − w_i)) has expectation at most 1 if the w_i
    average θ or more, for each β fixed in advance (by the inequality of the means where people differ). So θ
    is excluded once the average capital over a few β reaches 1/tail (Markov; compare Waudby-Smith and
    Ramdas 2024). The β are those that suit the least and the most noise the mechanism allows.

    Parts are weightings of the same reports, each fixed in advance; the capital is spread over them.
    `sequential`: the β suit every n at once and look at nothing. Then each product is a supermartingale for
    people of one population, and by Ville's inequality the error is at most `tail` over all looks together.
    """
    low, high = (0.0, 1.0) if side > 0 else (-1.0, 0.0)
    players = [_Player(part, side, tail, low, sequential) for part in parts]
    bets = sum(len(player.beta) for player in players)

    def excluded(theta: float) -> bool:
        capital = np.concatenate([player.capital(theta) for player in players])
        return float(np.logaddexp.reduce(capital)) - np.log(bets) >= np.log(1 / tail)

    if not excluded(high):
        return side * high
    if excluded(low):
        return side * low
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (low, middle) if excluded(middle) else (middle, high)
    return side * high


class _Player:
    """One weighting of the reports and the bets that are placed on it."""

    def __init__(self, part: Part, side: int, tail: float, low: float, sequential: bool) -> None:
        w = side * part.weights
        self.least, self.top, self.fakes = float(w.min()), float(w.max()), part.fakes
        most = 0.95 / max(self.top - low, 1e-300)
        quiet = np.sqrt(max(part.least, 1e-12 * (self.top - low) ** 2))
        loud = np.sqrt(max(part.most + 1 / 4, quiet**2))
        if sequential:
            self.beta = _spaced(min(np.sqrt(_USUAL / _MOST_PEOPLE) / loud, most), most)
        else:
            self.beta = np.minimum(np.sqrt(2 * np.log(1 / tail) / part.n) / _spaced(quiet, loud), most)
        occupied = np.flatnonzero(part.counts)
        self.w, self.counts = w[occupied], part.counts[occupied]

    def capital(self, theta: float) -> FloatArray:
        """The logarithm of the capital that each bet against θ has now, at the least."""
        capital = np.array([self.counts @ np.log1p(b * (theta - self.w)) for b in self.beta])
        if self.fakes:  # what an honest report in the place of a fake could have cost at most
            best, worst = 1 + self.beta * (theta - self.least), 1 + self.beta * (theta - self.top)
            capital -= self.fakes * np.log(best / worst)
        return capital


def _spaced(low: float, high: float) -> FloatArray:
    return np.geomspace(low, high, 1 + int(np.ceil(np.log(high / low) / np.log(_STEP))))


def sequential_noise_limits(part: Part, reporter: Number, tail: float) -> tuple[float, float]:
    """Limits for these people's own mean that hold at every look, for people who all differ.

    For each λ fixed in advance exp(λ·Σ(x − y) − nψ(λ)) is a supermartingale; a few λ share the error.
    """
    t = np.linspace(0.0, 1.0, 513)
    law = reporter.operator(reporter.domain.from_unit(t))
    most = 600 / float(np.ptp(part.weights))
    scale = max(part.most, 1e-12)
    sizes = _spaced(min(np.sqrt(_USUAL / _MOST_PEOPLE / scale), most), most)
    mean = float(part.weights @ part.counts) / part.n
    below, above = (noise_reach(part, law, t, side, tail / len(sizes), sizes) for side in (-1, 1))
    return mean - below - part.slack, mean + above + part.slack


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
    wide = betting_limit([even], 1, tail) - betting_limit([even], -1, tail)
    below, above = (noise_reach(part, law, t, side, tail) for side in (-1, 1))
    if below + above >= wide:
        return betting
    mean = float(part.weights @ part.counts) / n
    return mean - below - part.slack, mean + above + part.slack


def noise_reach(
    part: Part, law: Operator, t: FloatArray, side: int, tail: float, sizes: FloatArray | None = None
) -> float:
    """Chernoff's bound: how far people's own mean can be above (side 1) or below that of their reports.

    Reports are unbiased. γ = min over λ of (ψ(λ) + log(1/tail)/n)/λ with ψ(λ) = log max_x E e^{λ(x − y)}.
    Bernstein's inequality, as in PTT's Theorem 5, bounds ψ by the largest variance and deviation; here it is
    computed. E[e^{−λy} | x] is convex in x, so between the points t it stays below its chords, and a chord
    times e^{λx} has its maximum in closed form. Where it is seen not to be convex the bound is infinite.
    """
    need, x, y = np.log(1 / tail) / part.n, side * (t - 0.5), side * (part.weights - 0.5)
    if sizes is None:  # λ around the one that suits n
        usual = np.sqrt(2 * need / max(part.most, 1e-300))
        sizes = np.minimum(usual * np.geomspace(0.2, 5, 25), 600 / np.ptp(y))
    reaches = []
    for size in sizes:
        g = law.expect(np.exp(-size * y))
        rise, step = np.diff(g), size * np.diff(x)
        if np.diff(rise).min() < -1e-9 * g.max():
            return math.inf
        level = -1 / step - np.divide(g[:-1], rise, out=np.zeros_like(rise), where=rise != 0)
        at = np.clip(np.stack([np.zeros_like(level), level, np.ones_like(level)]), 0.0, 1.0)
        cost = float((np.log(g[:-1] + at * rise) + size * x[:-1] + at * step).max())
        reaches.append((cost + 1e-13 + need) / size)  # a little for rounding
    return min(reaches)
