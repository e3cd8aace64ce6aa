"""Confidence limits for Σ w·c/n: normal with its skewness, bootstrap-t, and by betting.

A *statistic* is a list of parts: weights on cells and the counts they apply to. The weights of a part do not
depend on its own counts, so each is an average of independent bounded terms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.kernels import Operator
from sottovoce.core.kernels.tables import FloatArray
from sottovoce.core.randomness import Seeded, seeded_generator

_DRAWS = 2000


@dataclass(frozen=True, eq=False)
class Part:
    """Weights, the counts they apply to, and what the mechanism says about the noise of one weighted report.

    `least` and `most` bound the variance of w(report) given x, over all x: the truth cannot make it smaller
    (or the noise larger). `noise` estimates its average over these people.
    """

    weights: FloatArray
    counts: NDArray[Any]
    least: float
    most: float
    noise: float | None = None

    @property
    def n(self) -> int:
        return int(self.counts.sum())


@dataclass(frozen=True)
class Summary:
    """A part in five numbers, or in five arrays for many weightings of the same counts at once."""

    n: int
    mean: Any
    square: Any  # the second and the third central moment of the weighted reports
    cube: Any
    least: Any
    most: Any  # the noise that counts for respondents: its average where known

    @classmethod
    def of(cls, part: Part) -> Summary:
        share = part.counts / part.n
        mean = float(share @ part.weights)
        centred = part.weights - mean
        most = part.most if part.noise is None else part.noise
        square, cube = float(share @ centred**2), float(share @ centred**3)
        return cls(part.n, mean, square, cube, part.least, most)


@dataclass(frozen=True)
class Moments:
    """Value, standard error and skewness of a statistic of n reports in so many parts."""

    value: Any
    error: Any
    skewness: Any
    freedom: int

    @classmethod
    def of(cls, parts: Sequence[Summary], estimand: str) -> Moments:
        """The parts together. Where reports are few the mechanism's own least variance stands in."""
        n = sum(part.n for part in parts)
        value = variance = third = 0.0
        for part in parts:
            share = part.n / n
            spread = np.maximum(part.square * part.n / max(part.n - 1, 1), part.least)
            if estimand == "respondents":
                spread = np.minimum(spread, part.most)
            value = value + share * part.mean
            variance = variance + share**2 * spread / part.n
            third = third + share**3 * part.cube / part.n**2
        error = np.sqrt(variance)
        return cls(value, error, third / np.maximum(error, 1e-100) ** 3, max(n - len(parts), 1))

    def limit(self, side: int, tail: float) -> Any:
        """value ± error·(t + skewness·(2t² + 1)/6): the skewness term only where it widens (Hall 1992)."""
        from scipy.special import stdtrit

        t = -float(stdtrit(self.freedom, tail))
        lean = np.maximum(0.0, side * self.skewness) * (2 * t**2 + 1) / 6
        return self.value + side * self.error * (t + lean)


def moments(parts: Sequence[Part], estimand: str) -> Moments:
    return Moments.of([Summary.of(part) for part in parts], estimand)


def normal_limit(parts: Sequence[Part], side: int, tail: float, estimand: str) -> float:
    return float(moments(parts, estimand).limit(side, tail))


def bootstrap_limit(parts: Sequence[Part], side: int, tail: float, estimand: str, rng: Seeded) -> float:
    """Bootstrap-t on the counts: the weights stay, the quantile of t comes from resampling."""
    generator = seeded_generator(rng)
    here = moments(parts, estimand)
    parts = [_fewer(part) for part in parts]
    n = sum(part.n for part in parts)
    shift, variance = np.zeros(_DRAWS), np.zeros(_DRAWS)
    for part in parts:
        again = generator.multinomial(part.n, part.counts / part.n, size=_DRAWS)
        mean = again @ part.weights / part.n
        square = again @ part.weights**2 / part.n - mean**2
        share = part.n / n
        shift += share * (mean - part.weights @ part.counts / part.n)
        variance += share**2 * np.maximum(square, part.least) / part.n
    studentised = np.divide(shift, np.sqrt(variance), out=np.zeros_like(shift), where=variance > 0)
    quantile = float(np.quantile(-side * studentised, 1 - tail))
    return here.value + side * here.error * max(quantile, 0.0)


def betting_limit(part: Part, side: int, tail: float, bounds: tuple[float, float]) -> float:
    """A limit whose error is at most `tail` at every n, for any independent people, identical or not.

    Bet against "the average is θ": the capital Π (1 + β(θ − w_i)) has expectation at most 1 if the w_i
    average θ or more, for each β fixed in advance (by the inequality of the means where people differ). So θ
    is excluded once the average capital over a few β reaches 1/tail (Markov; compare Waudby-Smith and
    Ramdas 2024). The β are those that suit the least and the most noise the mechanism allows.
    """
    w = side * part.weights
    low, high = (bounds[0], bounds[1]) if side > 0 else (-bounds[1], -bounds[0])
    top, n = float(w.max()), part.n
    quiet = np.sqrt(max(part.least, 1e-12 * (top - low) ** 2))
    loud = np.sqrt(max(part.most + (high - low) ** 2 / 4, quiet**2))
    sizes = np.geomspace(quiet, loud, 1 + int(np.ceil(np.log(loud / quiet) / np.log(2.5))))
    beta = np.minimum(np.sqrt(2 * np.log(1 / tail) / n) / sizes, 0.95 / (top - low))
    seen = np.flatnonzero(part.counts)
    w, counts = w[seen], part.counts[seen]

    def excluded(theta: float) -> bool:
        capital = [counts @ np.log1p(b * (theta - w)) for b in beta]
        return float(np.logaddexp.reduce(capital)) - np.log(len(beta)) >= np.log(1 / tail)

    if not excluded(high):
        return side * high
    if excluded(low):
        return side * low
    while high - low > 1e-9 * (bounds[1] - bounds[0]):
        middle = (low + high) / 2
        low, high = (low, middle) if excluded(middle) else (middle, high)
    return side * high


def noise_reach(part: Part, law: Operator, t: FloatArray, side: int, tail: float) -> float:
    """Chernoff's bound: how far people's own mean can be above (side 1) or below that of their reports.

    Reports are unbiased. γ = min over λ of (ψ(λ) + log(1/tail)/n)/λ with ψ(λ) = log max_x E e^{λ(x − y)}.
    Bernstein's inequality, as in PTT's Theorem 5, bounds ψ by the largest variance and deviation; here it is
    computed. Between the points t E[e^{−λy} | x] is convex in x, so it stays below its chords, and a chord
    times e^{λx} has its maximum in closed form.
    """
    need, x, y = np.log(1 / tail) / part.n, side * (t - 0.5), side * (part.weights - 0.5)
    usual = np.sqrt(2 * need / max(part.most, 1e-300))
    found = []
    for size in np.minimum(usual * np.geomspace(0.2, 5, 25), 600 / np.ptp(y)):
        g = law.expect(np.exp(-size * y))
        rise, step = np.diff(g), size * np.diff(x)
        level = -1 / step - np.divide(g[:-1], rise, out=np.zeros_like(rise), where=rise != 0)
        at = np.clip(np.stack([np.zeros_like(level), level, np.ones_like(level)]), 0.0, 1.0)
        cost = float((np.log(g[:-1] + at * rise) + size * x[:-1] + at * step).max())
        found.append((cost + 1e-13 + need) / size)  # a little for rounding
    return min(found)


def _fewer(part: Part, most: int = 1024) -> Part:
    """A part on at most `most` groups, each with the average weight of its reports: for resampling."""
    seen = np.flatnonzero(part.counts)
    if len(seen) <= most:
        return Part(part.weights[seen], part.counts[seen], part.least, part.most)
    first = seen[np.arange(most) * len(seen) // most]
    counts = np.add.reduceat(part.counts, first)
    weights = np.add.reduceat(part.counts * part.weights, first) / counts
    return Part(weights, counts, part.least, part.most)
