"""How every estimate begins and ends: what is asked, checked, and the answer in the units of the domain."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from sottovoce.arrays import IntArray
from sottovoce.errors import ArgumentError, ArgumentTypeError, check_confidence, one_of, whole_number
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.limits.sums_of_bounds import Sides
from sottovoce.estimates.limits.weighted_counts import Moments, cut
from sottovoce.estimates.tally import Tally
from sottovoce.randomness.word_source import Seeded, seeded_generator
from sottovoce.values.domain import Domain

ESTIMANDS = ("population", "respondents")
INTERVALS = ("normal", "finite", "bootstrap")
AT_EVERY_N = ("finite", "sequential")
FEW = 16  # reports below which an answer says that its interval rests on little
_FEW_TO_DRAW = 100_000  # reports
_ROUNDING = 1e-12  # limits are rounded outwards by this, on a domain of width 1
Advice = Callable[[Estimate], tuple[str, ...]]
CONTRADICTION = "the limits contradict each other: hardly reports of this mechanism, see sottovoce.honesty"


@dataclass(frozen=True)
class Query:
    """What is asked of a tally, checked: the beginning and the end of every estimate.

    Attributes:
        tally: Counts with at least one report.
        what: The quantity, such as "mean".
        estimand: Whose it is, one of `ESTIMANDS`.
        confidence: How often the interval should hold.
        fakes: How many of the reports may be fakes.
    """

    tally: Tally
    what: str
    estimand: str = "population"
    confidence: float = 0.95
    fakes: int = 0

    def __post_init__(self) -> None:
        one_of(self.estimand, "estimand", ESTIMANDS)
        check_confidence(self.confidence)
        whole_number(self.fakes, "fakes", least=0, most=check_tally(self.tally).n)

    def on_interval(self, instead: str) -> Query:
        """This query, if the domain is an interval."""
        if self.domain.is_circle:
            sentence = f"{self.what} is not defined on a circle; use {instead}"
            raise ArgumentError(sentence, code="domain", argument="tally")
        return self

    def on_linear_scale(self, instead: str) -> Query:
        """This query, if differences of values mean something and not only factors."""
        if self.domain.is_log:
            sentence = f"{self.what} is not estimated on a log scale; use {instead}"
            raise ArgumentError(sentence, code="domain", argument="tally")
        return self

    def on_circle(self, instead: str) -> Query:
        """This query, if the domain is a circle."""
        if not self.domain.is_circle:
            sentence = f"{self.what} needs a mechanism on a Circle; on an interval use {instead}"
            raise ArgumentError(sentence, code="domain", argument="tally")
        return self

    @property
    def domain(self) -> Domain:
        """Where the people's values lie."""
        return self.tally.law.as_number().domain

    @property
    def tail(self) -> float:
        """The error that each side of the interval may have."""
        return (1 - self.confidence) / 2

    def advised(
        self, advice: Callable[..., tuple[str, ...]], question: str, **about: object
    ) -> Advice | None:
        """What to say of a mechanism that was made for something else; of few reports nothing."""
        m = self.tally.law.as_number()
        if self.tally.n < FEW or m.made_for in (question, "distribution"):
            return None
        return partial(advice, question, m, **about)

    def answer(
        self,
        limits: tuple[float, float],
        value: float,
        error: float,
        *,
        ends: tuple[float, float] = (0.0, 1.0),
        power: int = 1,
        method: str = "envelope",
        notes: tuple[str, ...] = (),
        at_every_n: bool = False,
        reach: float | None = None,
        sides: tuple[Moments, Moments] | None = None,
        spent: float = 0.0,
        bound: float | None = None,
        advice: Advice | None = None,
        sources: frozenset[str] | None = None,
    ) -> Estimate:
        """The estimate, from numbers on a domain of width 1.

        Args:
            limits: The lower and the upper limit.
            value: The value.
            error: Its root mean square error, or NaN.
            ends: What the quantity can be at all; limits are clipped to it.
            power: How it grows with the domain: 1 for a position, 2 for a square, 0 for a share.
            method: How it was computed.
            notes: What the reader should know.
            at_every_n: True if the limits hold for few reports too.
            reach: The most by which one report can move the value.
            sides: The statistics below and above, where the limits are theirs.
            spent: The error on each side that is not theirs.
            bound: The width below which no honest interval can go.
            advice: What says of the estimate what another design would give.
            sources: What `sources_of` says of the tally, if that is known.

        Returns:
            Limits in order, the value between them, all in the units of the domain.
        """
        n = self.tally.n
        if not at_every_n:
            notes, limits = _few_notes(n) + notes, ends if n < 2 else limits
        elif n < 2:
            notes += ("one report is too few for a standard error",)
        if self.fakes:
            notes += (f"the limits hold even if {self.fakes} of the {n} reports were fakes",)
        low, high = limits[0] - _ROUNDING, limits[1] + _ROUNDING
        if low > high:  # each limit has a statistic of its own: then nothing between the two is excluded
            notes += (CONTRADICTION,) if -np.diff(np.clip((low, high), *ends)) > 1e-9 else ()
            low, high = high, low
        low, high = map(float, cut(low, high, ends))
        value = min(max(float(value), low), high)
        numbers = np.array([low, value, high])
        numbers = self.domain.from_unit(numbers) if power == 1 else self.domain.stretched(numbers, power)
        if n < 2 or math.isnan(error):
            error = math.nan
        else:  # the truth lies between the ends, so no error is larger than the way to the further one
            error = min(error, max(value - ends[0], ends[1] - value))
            error = float(self.domain.stretched(error, power))
        low, value, high = numbers.tolist()
        if self.domain.is_log and power == 1:  # errors are factors there
            error, reach, sides, bound = math.nan, None, None, None
        if reach is not None:
            reach = float(self.domain.stretched(reach, power))
        answer = Estimate(
            value,
            low,
            high,
            error,
            self.confidence,
            n,
            self.what,
            self.estimand,
            method,
            notes,
            reach,
            bound=None if bound is None or n < 2 else float(self.domain.stretched(bound, power)),
            sides=None if sides is None or n < 2 else self._in_units(sides, ends, power, spent),
            sources=sources_of(self.tally) if sources is None else sources,
        )
        return answer if advice is None else replace(answer, advisers=(partial(advice, answer),))

    def _in_units(
        self, sides: tuple[Moments, Moments], ends: tuple[float, float], power: int, spent: float
    ) -> Sides:
        """Two statistics of the unit coordinate in the units of the domain."""

        places = np.array([*(m.value for m in sides), *ends])
        places = self.domain.from_unit(places) if power == 1 else self.domain.stretched(places, power)
        lengths = self.domain.stretched(np.array([(m.error, m.slack) for m in sides]), power).tolist()
        lower, upper = (
            Moments(place, error, float(m.skewness), m.freedom, slack)
            for place, (error, slack), m in zip(places.tolist(), lengths, sides, strict=False)
        )
        return Sides(lower, upper, (float(places[2]), float(places[3])), spent)


def in_own_units(
    tally: Tally,
    what: str,
    value: float,
    limits: tuple[float, float],
    error: float,
    confidence: float,
    method: str,
    *,
    notes: tuple[str, ...] = (),
    reach: float | None = None,
    sides: Sides | None = None,
    sources: frozenset[str] | None = None,
) -> Estimate:
    """The end of an estimate for the population that is in its own units already, and within its limits."""
    (low, high), several = limits, tally.n > 1
    return Estimate(
        min(max(value, low), high),
        low,
        high,
        error if several else math.nan,
        confidence,
        tally.n,
        what,
        "population",
        method,
        notes,
        reach,
        sides=sides if several else None,
        sources=sources_of(tally) if sources is None else sources,
    )


def check_tally(tally: object, least: int = 1) -> Tally:
    """What an estimate takes: a tally of so many reports at least."""
    if not isinstance(tally, Tally):
        raise ArgumentTypeError(f"tally must be a Tally, got {type(tally).__name__}", argument="tally")
    return tally if tally.n >= least else tally.required(least)


def sources_of(tally: Tally) -> frozenset[str]:
    """The sources and, where tallies of different people would hardly ever agree in all counts, a hash.

    So that one read twice from a file is known to be the same.
    """
    occurred = np.flatnonzero(tally.counts)
    counts = tally.counts[occurred]
    # About −log of the chance of equal counts: each cell is a Poisson number, and their sum is given.
    few = len(counts) < 100  # each adds log 4π at least
    if few and np.log(4 * np.pi * counts).sum() - np.log(4 * np.pi * max(tally.n, 1)) < 2 * np.log(1e9):
        return tally.sources
    content = tally.reporter.digest.encode() + occurred.tobytes() + counts.tobytes()
    return tally.sources | {hashlib.sha256(content).hexdigest()}


def generator_of(tally: Tally, rng: Seeded = None, counts: IntArray | None = None) -> np.random.Generator:
    """What an estimate draws with: by default seeded by the counts, so that the same tally gives the same.

    Args:
        tally: Whose estimate it is.
        rng: A seed or a generator to use instead.
        counts: The counts that seed it; by default those of the cells.

    Returns:
        A generator of numpy.
    """
    if rng is not None:
        return seeded_generator(rng)
    content = tally.counts if counts is None else counts
    seed = hashlib.sha256(tally.reporter.digest.encode() + content.tobytes()).digest()
    return np.random.default_rng(int.from_bytes(seed[:16], "big"))


def half(counts: IntArray, generator: np.random.Generator) -> IntArray:
    """Half of the reports: drawn without replacement if they are few, by coins if they are many."""
    n = int(counts.sum())
    if n <= _FEW_TO_DRAW:
        return generator.multivariate_hypergeometric(counts, n // 2, method="count")
    return generator.binomial(counts, 0.5)


def _few_notes(n: int) -> tuple[str, ...]:
    """What to say about an interval from very few reports."""
    if n < 2:
        return ("one report is too few for an interval: it is everything possible",)
    if n < FEW:
        return (f"n={n} is small for an interval that rests on a normal approximation",)
    return ()
