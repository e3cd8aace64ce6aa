"""Weighted counts Σ w·c/n: their value, standard error and skewness, and the limits that follow.

A *statistic* is a list of parts: weights on cells and the counts they apply to. The weights of a part do not
depend on its own counts, so each is an average of independent bounded terms.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sottovoce.arrays import FloatArray
from sottovoce.reporters.number import Number

_DRAWS = 2000


@dataclass(frozen=True, eq=False)
class Part:
    """Weights, the counts they apply to, and what the mechanism says about the noise of one weighted report.

    Attributes:
        weights: One per cell (or bin of cells).
        counts: How many reports each has.
        least: The least variance of w(report) given x, over all x: the truth cannot make it smaller.
        most: The largest.
        ceiling: What the variance of a report can count for at most: of respondents the average noise over
            them, or an upper estimate of it.
        fakes: How many of the reports may be anything at all.
    """

    weights: FloatArray
    counts: NDArray[Any]
    least: float
    most: float
    ceiling: float = math.inf
    fakes: int = 0

    @property
    def n(self) -> int:
        """How many reports."""
        return int(self.counts.sum())

    @property
    def slack(self) -> float:
        """The most by which the fakes can have moved the average weight."""
        return self.fakes * float(np.ptp(self.weights)) / self.n if self.fakes else 0.0


Statistic = Sequence[Part]


@dataclass(frozen=True)
class WeightMoments:
    """The moments of a part, or arrays of them for many weightings of the same counts at once.

    Attributes:
        n: How many reports.
        mean: The average weight.
        square: The second central moment of the weights of the reports.
        cube: The third.
        least: The least variance of the noise.
        ceiling: What the variance can count for at most.
        slack: The most by which fakes can have moved the mean; they are in the other moments too.
    """

    n: int
    mean: Any
    square: Any
    cube: Any
    least: Any
    ceiling: Any = math.inf
    slack: Any = 0.0

    @classmethod
    def of(cls, part: Part) -> WeightMoments:
        """Those of one weighting."""
        n = part.n
        share = part.counts / n
        mean = float(share @ part.weights)
        centred = part.weights - mean
        squared = centred * centred
        square, cube = float(share @ squared), float(share @ (squared * centred))
        if part.fakes:  # an honest report in the place of a fake is at most so far from the mean
            square += part.fakes / n * float(np.abs(centred).max()) ** 2
        return cls(n, mean, square, cube, part.least, part.ceiling, part.slack)


@dataclass(frozen=True)
class Moments:
    """Value, standard error and skewness of a statistic, with its degrees of freedom.

    `slack` is added to every limit: what fakes may have done.
    """

    value: Any
    error: Any
    skewness: Any
    freedom: float
    slack: Any = 0.0

    @classmethod
    def of(cls, parts: Sequence[WeightMoments]) -> Moments:
        """The parts together. Where reports are few the mechanism's own least variance stands in."""
        n = sum(part.n for part in parts)
        value = variance = third = slack = 0.0
        for part in parts:
            share = part.n / n
            spread = np.maximum(part.square * part.n / max(part.n - 1, 1), part.least)
            spread = np.minimum(spread, part.ceiling)
            value = value + share * part.mean
            variance = variance + share**2 * spread / part.n
            third = third + share**3 * part.cube / part.n**2
            slack = slack + share * part.slack
        error = np.sqrt(variance)
        return cls(value, error, third / np.maximum(error, 1e-100) ** 3, max(n - len(parts), 1), slack)

    @classmethod
    def total(cls, terms: Sequence[tuple[float, Moments]]) -> Moments:
        """Σ factor·statistic of independent statistics; degrees of freedom as Welch and Satterthwaite."""
        variance = sum((factor * one.error) ** 2 for factor, one in terms)
        scale = max(float(np.sqrt(variance)), 1e-300)
        ratios = [factor * one.error / scale for factor, one in terms]
        spread = sum(r**4 / one.freedom for r, (_, one) in zip(ratios, terms, strict=True))
        return cls(
            sum(factor * one.value for factor, one in terms),
            float(np.sqrt(variance)),
            sum(r**3 * one.skewness for r, (_, one) in zip(ratios, terms, strict=True)),
            1 / spread if spread > 0 else 1.0,
            sum(abs(factor) * one.slack for factor, one in terms),
        )

    def at(self, i: int) -> Moments:
        """Those of one of several statistics."""
        return Moments(float(self.value[i]), float(self.error[i]), float(self.skewness[i]), self.freedom)


def moments(statistic: Statistic) -> Moments:
    """The moments of a statistic."""
    return Moments.of([WeightMoments.of(part) for part in statistic])


class Middle(NamedTuple):
    """The middle of two statistics that bound a quantity from both sides.

    Attributes:
        value: The middle.
        error: The most that its root mean square error can be.
        bias: The most that its bias can be.
    """

    value: Any
    error: Any
    bias: Any


def between(lower: Moments, upper: Moments) -> Middle:
    """The middle of two bounds: its bias is not known, but at most half of the distance between the two.

    Its standard error is at most the average of theirs.
    """
    bias = (upper.value - lower.value) / 2
    return Middle((lower.value + upper.value) / 2, np.hypot((lower.error + upper.error) / 2, bias), bias)


def cut(low: Any, high: Any, ends: tuple[float, float]) -> tuple[FloatArray, FloatArray]:
    """Limits within the ends of what is possible; where both are beyond one end, their middle moves to it.

    Cut alone such limits would be an interval of width 0, which noise made.
    """
    middle = (low + high) / 2
    beyond = (high <= ends[0]) | (low >= ends[1])
    move = np.where(beyond, np.clip(middle, *ends) - middle, 0.0)
    return np.clip(low + move, *ends), np.clip(high + move, *ends)


def bootstrap_limit(statistic: Statistic, side: int, tail: float, generator: np.random.Generator) -> float:
    """Bootstrap-t on the counts: the weights stay, the quantile of t comes from resampling."""
    here = moments(statistic)
    parts = [_fewer(part) for part in statistic]
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
    return float(here.value + side * (here.slack + here.error * max(quantile, 0.0)))


def _fewer(part: Part, most: int = 1024) -> Part:
    """A part on at most `most` bins, each with the average weight of its reports: for resampling."""
    occupied = np.flatnonzero(part.counts)
    if len(occupied) <= most:
        return Part(part.weights[occupied], part.counts[occupied], part.least, part.most)
    first = occupied[np.arange(most) * len(occupied) // most]
    counts = np.add.reduceat(part.counts, first)
    weights = np.add.reduceat(part.counts * part.weights, first) / counts
    return Part(weights, counts, part.least, part.most)


# -- decoded reports: weights that are where cells lie -------------------------------------------------------


@lru_cache(maxsize=16)
def decoded_noise(reporter: Number) -> tuple[FloatArray, FloatArray]:
    """Unit coordinates, and the variance of a decoded report there."""
    t, weights, domain = np.linspace(0.0, 1.0, 513), reporter.positions, reporter.domain
    law = reporter.operator(np.clip(domain.from_unit(t), domain.low, domain.high))
    return t, law.expect(weights**2) - law.expect(weights) ** 2


def normal_quantile(tail: float) -> float:
    """How many standard errors from its mean a normal number is with this probability, or further."""
    return -NormalDist().inv_cdf(tail)
