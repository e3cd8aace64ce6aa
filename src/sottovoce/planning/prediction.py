"""What error to expect of an answer, from the exact law of the reports: nothing is simulated.

- mean, direction: the standard error of what is decoded, the people's own spread included;
- quantile, probability: the width that the program behind the interval itself expects; a probability that is
  asked directly is binomial;
- distribution: a local expansion of the reconstruction (`estimates.fits.error_expansion`);
- value: the worst case of one report.

Who the people are is not known: reference shapes stand for them, or a sample of values.

Numbers are those of a domain of width 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from sottovoce.arrays import FloatArray
from sottovoce.errors import NoDataError, loss_exponent
from sottovoce.estimates.answer.better_design import quantile_width
from sottovoce.estimates.fits.binned_cells import Binned
from sottovoce.estimates.fits.error_expansion import reconstruction_errors
from sottovoce.estimates.limits.direct_question import yes_chances
from sottovoce.estimates.limits.envelope import IDENTITY, Envelope, Nodes, Target
from sottovoce.estimates.limits.weighted_counts import normal_quantile
from sottovoce.reporters.number import Number
from sottovoce.reporters.question import Question
from sottovoce.values.checked_arrays import in_domain
from sottovoce.values.domain import Domain

_BINS = 1024  # equal ones of the domain: a plan imagines people by their probabilities
#: Their middles, in the unit coordinate.
MIDDLES = (np.arange(_BINS) + 0.5) / _BINS
_WHOLE = 0.5  # half the width of an interval that says nothing: it is the whole domain
_RANDOM = 12**-0.5  # the root mean square error of a random direction, in turns
_CELL_BINS = 96
# An interval that holds for every truth takes the weights of each half of the reports from the other half. So
# much larger its sampling error is, about, than with weights for the truth itself (benchmarks/planner.py).
_HALVES = 1.06


class Expected(NamedTuple):
    """What to expect where the domain has width 1.

    Attributes:
        error: The error to expect.
        half_width: Half the width of the interval; NaN where there is none.
        doubt: The standard error of a simulated error; predicted ones have none.
    """

    error: float
    half_width: float
    doubt: float = 0.0


@dataclass(frozen=True, eq=False)
class Setting:
    """Some people who answer a question with a mechanism.

    Attributes:
        question: What is to be known.
        reporter: What they report with.
        people: How many they are.
        density: What they are like: probabilities of equal bins of the domain.
        confidence: That of the interval.
        loss: What a single value minimises.
    """

    question: Question
    reporter: Number
    people: int
    density: FloatArray
    confidence: float
    loss: str | float = "l2"

    @cached_property
    def z(self) -> float:
        """The normal quantile of one side of the interval."""
        return normal_quantile((1 - self.confidence) / 2)

    @cached_property
    def x(self) -> FloatArray:
        """The middles of the bins, in the units of the domain."""
        return self.reporter.domain.from_unit(MIDDLES)

    @property
    def ends(self) -> tuple[float, float]:
        """The range of a probability, in the unit coordinate."""
        low, high = self.reporter.domain.to_unit(self.question.between or ()).tolist()
        return low, high

    def normal(self, error: float, whole: float = _WHOLE) -> Expected:
        """A standard error, with the interval that follows."""
        return Expected(error, min(self.z * error, whole))

    def envelope(self, target: Target) -> Expected:
        """The interval of an average that holds for every truth, and what its half-width is worth."""
        first = self.reporter.bins(_CELL_BINS)
        nodes = Nodes(Binned(self.reporter, first, np.zeros(len(first), dtype=np.int64)))
        problem = Envelope(nodes, self.density @ self.reporter.table(self.x, first), self.people)
        low, high = (problem.expected(problem.weights(target, s, self.z), s, self.z) for s in (-1, 1))
        half = min(_HALVES * (high - low) / 2, _WHOLE)
        return Expected(half / self.z, half)


def mean(s: Setting) -> Expected:
    """Of decoded reports where they are unbiased, otherwise by envelopes."""
    if not s.reporter.unbiased:
        return s.envelope(IDENTITY)
    noise = s.density @ s.reporter.variance(s.x) / s.reporter.domain.stretched(1.0, 2)
    spread = s.density @ MIDDLES**2 - (s.density @ MIDDLES) ** 2
    return s.normal(math.sqrt((noise + spread) / s.people))


def direction(s: Setting) -> Expected:
    """By the delta method: with z = e^{2πi·y} turned to the mean direction, the error is Im(mean z)/|E z|.

    Where people have hardly any direction, the error is that of a random one.
    """
    reports = s.reporter.operator(s.x).mix(s.density)
    z = np.exp(2j * np.pi * s.reporter.positions)
    mean = reports @ z
    across = reports @ (z * np.exp(-1j * np.angle(mean))).imag ** 2
    error = math.sqrt(across / s.people) / max(abs(mean), 1e-300) / (2 * math.pi)
    return s.normal(min(error, _RANDOM))


def quantile(s: Setting) -> Expected:
    """Half of the interval's width is the error, too: the value's own error is not known."""
    coarse = s.density.reshape(256, -1).sum(axis=1)
    people = max(1, round(s.people / _HALVES**2))  # where F is flat or steep the width is another multiple
    width = quantile_width(s.reporter, people, coarse, s.question.p or 0.5, s.confidence).expected
    half = min(width / 2, _WHOLE)
    return Expected(half, half)


def probability(s: Setting) -> Expected:
    """Binomial if it was asked directly, otherwise by envelopes."""
    target, chances = Target.within(*s.ends), yes_chances(s.reporter, *s.ends)
    if chances is None:
        return s.envelope(target)
    inside, outside = chances
    yes = outside + (inside - outside) * float(s.density @ target.at(MIDDLES))
    return s.normal(math.sqrt(yes * (1 - yes) / s.people) / abs(inside - outside))


def distribution(s: Setting) -> Expected:
    """The Wasserstein distance, and the half-width of the cumulative distribution."""
    errors = reconstruction_errors(s.reporter, s.people, s.density)
    if s.reporter.domain.is_circle:
        errors = errors - np.median(errors, axis=0)
    return Expected(float(np.abs(errors).mean()), min(s.z * float(np.sqrt((errors**2).mean())), _WHOLE))


def value(s: Setting) -> Expected:
    """The worst case of one report; it does not depend on how many people there are."""
    k = loss_exponent(s.loss)
    worst = s.reporter.worst_error(k) / float(s.reporter.domain.stretched(1.0, k))
    return Expected(worst ** (1 / k), math.nan)


def reference_shapes(circle: bool) -> FloatArray:
    """One skewed hump and two peaks; on a circle a hump across the seam and two peaks. A row each."""
    x = MIDDLES
    if circle:
        one = np.exp(2 * np.cos(2 * np.pi * (x - 0.95)))
        two = np.exp(8 * np.cos(2 * np.pi * (x - 0.3))) + np.exp(8 * np.cos(2 * np.pi * (x - 0.7)))
    else:
        one = x**4 * (1 - x)
        two = np.exp(-(((x - 0.3) / 0.06) ** 2) / 2) / 0.06 + np.exp(-(((x - 0.7) / 0.05) ** 2) / 2) / 0.05
    return np.stack([one / one.sum(), two / two.sum()])


def sample_shape(sample: ArrayLike | None, domain: Domain) -> FloatArray | None:
    """The histogram of some values that stand for the people to come, as the only row."""
    if sample is None:
        return None
    values = in_domain(sample, domain, "sample").reshape(-1)
    if not values.size:
        raise NoDataError("sample must not be empty", argument="sample")
    counts = np.histogram(domain.to_unit(values), _BINS, (0.0, 1.0))[0]
    return np.asarray((counts / counts.sum())[None, :])
