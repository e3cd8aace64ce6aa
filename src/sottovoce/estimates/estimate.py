"""An answer with its uncertainty: what every estimator returns, and how every one of them ends."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING

import numpy as np

from sottovoce.core.domains import Domain
from sottovoce.core.errors import ArgumentError, ArgumentTypeError, check_confidence, one_of, whole_number
from sottovoce.core.kernels.tables import IntArray
from sottovoce.core.randomness import Seeded, seeded_generator
from sottovoce.core.shown import Shown
from sottovoce.estimates.arithmetic import Combinable
from sottovoce.estimates.forest import draw_forest
from sottovoce.estimates.sides import Sides
from sottovoce.estimates.statistic import Moments
from sottovoce.estimates.tabular import Row, Tabular
from sottovoce.estimates.tally import Tally
from sottovoce.estimates.words import explained, rounded

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ESTIMANDS = ("population", "respondents")
INTERVALS = ("normal", "finite", "bootstrap", "sequential")
AT_EVERY_N = ("finite", "sequential")
FEW = 16  # reports below which an answer says that its interval rests on little
_ROUNDING = 1e-12  # limits are rounded outwards by this, on a domain of width 1
CONTRADICTION = "the limits contradict each other: hardly reports of this mechanism, see sottovoce.honesty"


@dataclass(frozen=True, repr=False)
class Estimate(Combinable, Shown, Tabular):
    """A value and the interval [low, high] that covers the truth with the given confidence.

    Estimates of different people can be added, subtracted, multiplied by a number and divided.

    Attributes:
        value: The estimate, in the units of the domain.
        low: The lower limit.
        high: The upper limit.
        standard_error: The root mean square error of `value`: its sampling error and the most that its bias
            can be. NaN where it is not known, and a note says why: of quantiles, of a direction where none
            is excluded, from one report.
        confidence: How often the interval holds.
        n: How many reports there are.
        what: The quantity, such as "mean".
        estimand: Whose it is: of the "population" that the people stand for, or of the "respondents".
        method: How it was computed.
        notes: What the reader should know.
        reach: The most by which replacing one report can move the value, where that is known.
        p_value: Of a difference: a bound for the chance of one as large if there is none.
        effective: Of a weighted estimate: how many people drawn evenly would tell as much.
        bound: Of a quantile: the median width below which intervals that hold for every truth cannot go, for
            this mechanism, n and the distribution as it is estimated.
        sides: What bounds the quantity from either side, for arithmetic; None where only limits are known.
        sources: Names of the tallies that it rests on, so that arithmetic can refuse what is not independent.
    """

    value: float
    low: float
    high: float
    standard_error: float
    confidence: float
    n: int
    what: str
    estimand: str
    method: str
    notes: tuple[str, ...] = ()
    reach: float | None = None
    p_value: float | None = None
    effective: float | None = None
    bound: float | None = None
    sides: Sides | None = field(default=None, repr=False, compare=False)
    sources: frozenset[str] = field(default=frozenset(), repr=False, compare=False)

    @property
    def half_width(self) -> float:
        """Half the width of the interval."""
        return (self.high - self.low) / 2

    def moved_by(self, k: int) -> float:
        """The most by which fabricated reports can have moved the value.

        Args:
            k: How many of the n reports may be fabricated.

        Returns:
            A distance in the units of the value.

        Raises:
            ValueError: If no bound is known for the method.
        """
        if self.reach is None:
            raise ArgumentError(
                f"there is no bound for the method {self.method!r}; see sottovoce.fabrication",
                code="method",
            )
        return whole_number(k, "k", least=0, most=self.n) * self.reach

    def to_dict(self) -> dict[str, float | int | str | list[str] | None]:
        """Plain values, as JSON takes them.

        Returns:
            The attributes by name; a standard error that is not known is None.
        """
        content = {f.name: getattr(self, f.name) for f in fields(self) if f.repr}
        content["notes"] = list(self.notes)
        return {key: None if isinstance(v, float) and math.isnan(v) else v for key, v in content.items()}

    @property
    def rows(self) -> list[Row]:
        """One row of plain values, without the notes."""
        return [{key: value for key, value in self.to_dict().items() if not isinstance(value, list)}]

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the value and its interval.

        Args:
            ax: Axes of matplotlib; by default new ones.

        Returns:
            The axes.

        Raises:
            MissingExtra: If matplotlib is not installed.
        """
        return draw_forest([self.what], [self], f"{100 * self.confidence:.10g} % interval", ax)

    def _facts(self) -> dict[str, str]:
        return {
            "of": f"the {self.estimand}, from {self.n:,} reports",
            "how": f"{self.method}: {explained(self.method)}",
        }

    def _remarks(self) -> tuple[str, ...]:
        return self.notes

    def __repr__(self) -> str:
        value, low, high = rounded(self.value, self.low, self.high)
        return f"<Estimate {self.what} {value} in [{low}, {high}] n={self.n}>"

    def __str__(self) -> str:
        value, low, high = rounded(self.value, self.low, self.high)
        text = (
            f"{self.what}: {value}, {100 * self.confidence:.10g} % interval {low} to {high} "
            f"({self.estimand}, n={self.n}, {self.method})"
        )
        # The bound is a median, of a distribution that is estimated: one interval may well be narrower.
        if self.bound is not None and self.bound < self.high - self.low:
            text += f"; at best about {rounded(self.bound, self.low, self.high)[0]} wide in the median"
        text += "" if self.p_value is None else f", p = {self.p_value:.2g}"
        return "\n".join((text, *(f"  note: {note}" for note in self.notes)))


@dataclass(frozen=True)
class Query:
    """What is asked of a tally, checked: the beginning and the end of every estimate.

    Attributes:
        tally: Counts with at least one report.
        what: The quantity, such as "mean".
        estimand: Whose it is, one of `ESTIMANDS`.
        confidence: How often the interval should hold.
        fakes: How many of the reports may be forged.
    """

    tally: Tally
    what: str
    estimand: str = "population"
    confidence: float = 0.95
    fakes: int = 0

    def __post_init__(self) -> None:
        one_of(self.estimand, "estimand", ESTIMANDS)
        check_confidence(self.confidence)
        whole_number(self.fakes, "fakes", least=0, most=check_tally(self.tally).required().n)

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
        return self.tally.mechanism.domain

    @property
    def tail(self) -> float:
        """The error that each side of the interval may have."""
        return (1 - self.confidence) / 2

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

        Returns:
            Limits in order, the value between them, all in the units of the domain.
        """
        n = self.tally.n
        if not at_every_n:
            notes, limits = _few_notes(n) + notes, ends if n < 2 else limits
        elif n < 2:
            notes += ("one report is too few for a standard error",)
        if self.fakes:
            notes += (f"the limits hold even if {self.fakes} of the {n} reports were forged",)
        low, high = (float(np.clip(limit, *ends)) for limit in (limits[0] - _ROUNDING, limits[1] + _ROUNDING))
        if low > high:  # each limit has a statistic of its own: then nothing between the two is excluded
            notes += (CONTRADICTION,) if low - high > 1e-9 else ()
            low, high = high, low
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
        return Estimate(
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
            sources=self.tally.identity,
        )

    def _in_units(
        self, sides: tuple[Moments, Moments], ends: tuple[float, float], power: int, spent: float
    ) -> Sides:
        """Two statistics of the unit coordinate in the units of the domain."""

        def position(t: float) -> float:
            return float(self.domain.from_unit(t) if power == 1 else self.domain.stretched(t, power))

        def length(t: float) -> float:
            return float(self.domain.stretched(t, power))

        lower, upper = (
            Moments(position(m.value), length(m.error), float(m.skewness), m.freedom, length(m.slack))
            for m in sides
        )
        return Sides(lower, upper, (position(ends[0]), position(ends[1])), spent)


def check_tally(tally: object) -> Tally:
    """What an estimate takes, and nothing else."""
    if not isinstance(tally, Tally):
        raise ArgumentTypeError(f"tally must be a Tally, got {type(tally).__name__}", argument="tally")
    return tally


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
    seed = hashlib.sha256(tally.digest.encode() + content.tobytes()).digest()
    return np.random.default_rng(int.from_bytes(seed[:16], "big"))


def _few_notes(n: int) -> tuple[str, ...]:
    """What to say about an interval from very few reports."""
    if n < 2:
        return ("one report is too few for an interval: it is everything possible",)
    if n < FEW:
        return (f"n={n} is small for an interval that rests on a normal approximation",)
    return ()
