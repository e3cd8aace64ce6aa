"""How many people, or which ε, it takes: the least with which a mechanism meets a target."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import NamedTuple

from sottovoce.errors import ArgumentError
from sottovoce.planning.candidates import Candidate
from sottovoce.planning.scenario import Option, Scenario
from sottovoce.reporters.number import Number
from sottovoce.shuffling.calibration import largest_local

MOST_PEOPLE = 10**12
_LEAST_PEOPLE, _LEAST_EPSILON = 100.0, 0.01
_OURS = 0.85  # of the ε of others: about what our design needs; larger ones take longer to make
_EXACT = {True: 0.02, False: 0.1}  # how exactly ε is searched for, for our design and for others

Options = Callable[[float], Option | None]


class Search:
    """The people or the ε with which mechanisms meet a target, one after the other; None if no number does.

    Each begins where the one before met it, with the slope that was seen there.
    """

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self._start: float | None = None
        self._slope: float | None = None

    def people(self, candidate: Candidate, epsilon: float, target: float) -> Option | None:
        """The option with the fewest people."""
        if self.scenario.question.name in ("mean", "direction"):  # the error is c/√n
            one = self.scenario.option(candidate, epsilon, MOST_PEOPLE)
            needed = math.ceil(MOST_PEOPLE * (one.error / target) ** 2) if one else math.inf
            if needed > MOST_PEOPLE:
                return None
            return self.scenario.option(candidate, epsilon, max(1, int(needed)))
        option = cache(lambda n: self.scenario.option(candidate, epsilon, round(n)))
        start, slope, exact = self._start or 10_000.0, self._slope or -0.5, 2 * _EXACT[candidate.ours]
        ends = _LEAST_PEOPLE, float(MOST_PEOPLE)
        return self._taken(option, meeting(_errors(option), target, *ends, exact, start=start, slope=slope))

    def epsilon(self, candidate: Candidate, people: int, target: float) -> Option | None:
        """The option with the least ε."""
        option = cache(lambda e: self.scenario.option(candidate, round(e, 6), people))
        start, slope, exact = self._start or 1.0, self._slope or -1.0, _EXACT[candidate.ours]
        start *= _OURS if candidate.ours else 1.0
        return self._taken(
            option, least_epsilon(_errors(option), target, candidate.most, exact, start=start, slope=slope)
        )

    def central(self, candidate: Candidate, central: tuple[float, float], people: int) -> Option | None:
        """The option with the largest ε whose counts keep a central guarantee."""

        @cache  # a design takes longer to make than to judge
        def build(epsilon: float) -> Number:
            m = candidate.build(epsilon)
            if m is None:
                raise ArgumentError(
                    f"candidates must be functions with central, got {candidate.name!r}",
                    argument="candidates",
                )
            return m

        local = largest_local(build, central, people, most=candidate.most)
        return self.scenario.option(replace(candidate, build=build), local, people)

    def _taken(self, option: Options, least: Meeting | None) -> Option | None:
        if least is None:
            return None
        self._start, self._slope = least
        return option(least.x)


def _errors(option: Options) -> Callable[[float], float]:
    return lambda x: math.inf if (one := option(x)) is None else one.error


class Meeting(NamedTuple):
    """Where an error meets a target, and the power with which it falls there."""

    x: float
    slope: float


def least_epsilon(
    error: Callable[[float], float],
    target: float,
    most: float,
    exact: float = _EXACT[True],
    *,
    start: float = 1.0,
    slope: float = -1.0,
) -> Meeting | None:
    """The least ε up to `most` at which an error meets a target, and the slope there: `meeting`."""
    return meeting(error, target, _LEAST_EPSILON, most, exact, start=start, slope=slope)


def meeting(
    error: Callable[[float], float],
    target: float,
    low: float,
    high: float,
    tolerance: float,
    *,
    start: float | None = None,
    slope: float = -0.5,
    most: int = 40,
) -> Meeting | None:
    """Find the least x at which a decreasing error meets a target, with few evaluations: secants in log–log.

    Args:
        error: Falls roughly like a power of x. One that is not quite monotone gives a place where it crosses.
        target: What it has to come down to.
        low: The least x to look at.
        high: The largest one.
        tolerance: x may be a factor 1 + tolerance above the least, as far as the last secant tells.
        start: Where to begin; by default at `low`.
        slope: The power to expect.
        most: How many evaluations there may be.

    Returns:
        x with error(x) ≤ target, and the last slope; None if even `high` misses the target.

    Example:
        >>> round(meeting(lambda n: 3 / n**0.5, 0.03, 1, 1e9, 0.001).x / 100)
        100
    """
    room, bottom, top = math.log1p(tolerance), math.log(low), math.log(high)
    above: float | None = None  # the last place that misses the target
    below: float | None = None  # the last that meets it
    x, seen, met = math.log(low if start is None else start), (math.nan, math.nan), False
    for _ in range(most):
        f = math.log(error(math.exp(x)) / target)
        if math.isfinite(f) and math.isfinite(seen[1]) and x != seen[0]:
            slope = min((f - seen[1]) / (x - seen[0]), -0.1)
        known, seen = math.isfinite(seen[1]), (x, f)
        if f <= 0:
            below = x
            close = above is not None and x - above <= room
            if x <= bottom or close or (known and f >= slope * room):
                return Meeting(math.exp(x), slope)
        elif x >= top:
            return None
        else:
            above = x
            if below is not None and below - x <= room:
                return Meeting(math.exp(below), slope)
        again, met = met == (f <= 0), f <= 0
        x += room / 2 - f / slope
        if above is not None and below is not None:
            x = (above + below) / 2 if again else min(max(x, above + room / 4), below - room / 4)
        x = min(max(x, bottom), top)
    return None if below is None else Meeting(math.exp(below), slope)
