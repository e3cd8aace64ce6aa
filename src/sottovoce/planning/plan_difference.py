"""How many people, or which ε, it takes to see that two groups differ.

    sottovoce.plan("difference", epsilon=2.0, people=None, domain=(0, 24), shift=0.5)   # people of each group
    sottovoce.plan("difference", epsilon=2.0, people=5000, domain=(0, 24), shift=0.5)   # with which chance

A difference of means has the standard error √(2V/n), where V is the variance of one report: the exact noise
of the mechanism and the spread of the people. It is seen (its interval excludes zero) with the chance
Φ(shift/error − z).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from sottovoce.arrays import FloatArray
from sottovoce.designs.optimal import most_epsilon
from sottovoce.errors import (
    ArgumentError,
    check_epsilon,
    positive_number,
    proper_fraction,
    refuse_others,
    whole_number,
)
from sottovoce.planning.least_people import LEAST_EPSILON, meeting
from sottovoce.plots.data_table import Row, Tabular
from sottovoce.reporters.number import Number
from sottovoce.surveys.design import design
from sottovoce.values.checked_arrays import in_domain
from sottovoce.values.domain import Domain

_NORMAL = NormalDist()


@dataclass(frozen=True, repr=False)
class DifferencePlan(Tabular):
    """What it takes to see a difference of means.

    Attributes:
        epsilon: The privacy parameter.
        people: How many report in each of the two groups.
        shift: The difference to see, in the units of the domain.
        power: The chance of seeing it: that the interval excludes zero.
        confidence: That of the interval.
        mechanism: What both groups report with.
        error: The standard error of the difference.
    """

    epsilon: float
    people: int
    shift: float
    power: float
    confidence: float
    mechanism: Number
    error: float

    @property
    def rows(self) -> list[Row]:
        """The plan as one row."""
        names = ("epsilon", "people", "shift", "power", "confidence", "error")
        return [{name: getattr(self, name) for name in names}]

    def __str__(self) -> str:
        return (
            f"a difference of {self.shift:g} between two groups of {self.people:,} people at "
            f"ε = {self.epsilon:.4g} is seen with a chance of {100 * self.power:.0f} % "
            f"({100 * self.confidence:g} % intervals)"
        )


def plan_difference(
    epsilon: float | None,
    people: int | None,
    domain: Domain,
    *,
    shift: float | None,
    power: float = 0.8,
    confidence: float = 0.95,
    sample: ArrayLike | None = None,
) -> DifferencePlan:
    """Predict what it takes to see a difference of means, from exact variances.

    Args:
        epsilon: The privacy parameter; None asks for the least that does.
        people: How many report in each group; None asks how many it takes.
        domain: Where values lie.
        shift: The difference to see, in the units of the domain.
        power: The chance of seeing it that is asked for; with both numbers given it is computed.
        confidence: That of the interval.
        sample: Values that stand for the people to come; by default the worst truth.

    Returns:
        The plan, with what was left open filled in.

    Raises:
        ArgumentError: If the domain is a circle, there is nothing to ask for, or no ε is enough.
    """
    if shift is None:
        raise ArgumentError("question='difference' needs shift: the difference to see", argument="shift")
    if domain.is_circle or domain.is_log:
        raise ArgumentError("question='difference' is about means on a linear interval", argument="domain")
    if epsilon is None and people is None:
        raise ArgumentError("give epsilon or people, or both", argument="people")
    if epsilon is not None and people is not None:
        refuse_others(plan_difference, "epsilon and people, which give it", {"power": power})
    if epsilon is not None:
        check_epsilon(epsilon)
    if people is not None:
        whole_number(people, "people", least=2)
    chance = proper_fraction(power, "power")
    gap = positive_number(shift, "shift") / domain.width
    values = None if sample is None else domain.to_unit(in_domain(sample, domain, "sample").reshape(-1))
    z = _NORMAL.inv_cdf((1 + confidence) / 2)
    need = (gap / (z + _NORMAL.inv_cdf(chance))) ** 2 / 2  # what V/n has to be

    @cache
    def variance(level: float) -> float:
        return _variance(design("mean", epsilon=level, domain=(0, 1)), values)

    if epsilon is None:
        least = meeting(
            variance, need * (people or 0), LEAST_EPSILON, most_epsilon(), 0.02, start=1.0, slope=-2.0
        )
        if least is None:
            rule = f"no ε up to {most_epsilon():g} is enough for so few people"
            raise ArgumentError(rule, argument="people")
        epsilon = least.x
    if people is None:
        people = math.ceil(variance(epsilon) / need)
    error, mechanism = math.sqrt(2 * variance(epsilon) / people), design("mean", epsilon, domain)
    seen, length = _NORMAL.cdf(gap / error - z), float(domain.stretched(error))
    return DifferencePlan(epsilon, people, float(shift), seen, confidence, mechanism, length)


def _variance(mechanism: Number, values: FloatArray | None) -> float:
    """Of one report of a person drawn from the population: noise and spread."""
    t = np.linspace(0.0, 1.0, 513) if values is None else values
    noise = mechanism.variance(t)
    if values is not None:
        return float(np.mean(noise) + np.var(values))
    return float(np.max(noise + (t - 0.5) ** 2))  # the most that any truth can have
