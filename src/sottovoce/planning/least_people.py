"""How many people, or which ε, it takes: the least with which a mechanism meets a target."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple, cast

from sottovoce.errors import MAX_EPSILON, MIN_EPSILON, positive_number
from sottovoce.planning.candidates import Candidate
from sottovoce.planning.scenario import Option, Scenario
from sottovoce.reporters.contract import Reporter
from sottovoce.reporters.number import Number
from sottovoce.shuffling.composition import depth
from sottovoce.shuffling.privacy_curve import check_delta
from sottovoce.shuffling.shuffled import shuffled

MOST_PEOPLE = 10**12
_LEAST_PEOPLE, LEAST_EPSILON = 100.0, 0.01
_OURS = 0.85  # of the ε of others: about what our design needs; larger ones take longer to make
_CLOSE = 2e-3  # how far a local ε for a central guarantee is narrowed down, relatively
_EXACT = {True: 0.02, False: 0.1}  # how exactly ε is searched for, for our design and for others


class Meeting(NamedTuple):
    """Where an error meets a target, and the power with which it falls there."""

    x: float
    slope: float


@dataclass
class Search:
    """What each candidate needs for what was asked, one after the other; None if no number does.

    Each search begins where the one before met the target, with the slope that was seen there.

    Attributes:
        scenario: What is to be known.
        epsilon: The privacy parameter; None asks for the least.
        people: How many people; None asks for the fewest.
        target: The error to meet, where something is asked for.
        central: What the counts are to keep, with the largest ε; or None.
    """

    scenario: Scenario
    epsilon: float | None
    people: int | None
    target: float | None
    central: tuple[float, float] | None
    _known: Meeting | None = None

    def best(self, candidate: Candidate) -> Option | None:
        """The option of a candidate.

        Args:
            candidate: A design.

        Returns:
            With the ε and the people that were given or found.
        """
        option, target, exact = self.scenario.option, self.target or 0.0, _EXACT[candidate.ours]
        epsilon, people = self.epsilon or 0.0, self.people or 0
        if self.central is not None:
            build = cache(cast("Callable[[float], Number]", candidate.build))  # takes longer than to judge it
            local = largest_local(build, self.central, people, most=candidate.most)
            return option(replace(candidate, build=build), local, people)
        if epsilon and people:
            return option(candidate, epsilon, people)
        if epsilon and self.scenario.question.name in ("mean", "direction"):  # the error is c/√n
            one = option(candidate, epsilon, MOST_PEOPLE)
            needed = math.ceil(MOST_PEOPLE * (one.error / target) ** 2) if one else math.inf
            return None if needed > MOST_PEOPLE else option(candidate, epsilon, max(1, int(needed)))
        if epsilon:
            made = cache(lambda n: option(candidate, epsilon, round(n)))
            ends, (start, slope) = (_LEAST_PEOPLE, float(MOST_PEOPLE)), self._known or Meeting(10_000.0, -0.5)
            exact *= 2
        else:
            made = cache(lambda e: option(candidate, round(e, 6), people))
            ends, (start, slope) = (LEAST_EPSILON, candidate.most), self._known or Meeting(1.0, -1.0)
            start *= _OURS if candidate.ours else 1.0

        def error(x: float) -> float:
            return math.inf if (one := made(x)) is None else one.error

        least = meeting(error, target, *ends, exact, start=start, slope=slope)
        self._known = least or self._known
        return None if least is None else made(least.x)


def meeting(
    error: Callable[[float], float],
    target: float,
    low: float,
    high: float,
    tolerance: float,
    *,
    start: float | None = None,
    slope: float = -0.5,
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
    for _ in range(40):
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


def largest_local(
    design: Callable[[float], Reporter],
    central: tuple[float, float],
    people: int,
    *,
    most: float = MAX_EPSILON,
) -> float:
    """The largest local ε of a design with which the counts of so many people keep (ε, δ).

    It is looked for among numbers of four digits. The one that is returned was checked with the proved upper
    bound; one that is 0.2 % larger failed it or would, by the slope of δ, or is more than any design takes.

    Args:
        design: Makes a reporter from a local ε. It is called a few times.
        central: The ε and δ that the counts shall keep.
        people: How many report honestly.
        most: The largest local ε that the design takes.

    Returns:
        The local ε, at least the central one.

    Raises:
        ArgumentError: If `central` or `people` is out of range.

    Example:
        >>> from sottovoce.designs.classic import pm
        >>> local = largest_local(pm, (0.1, 1e-8), people=10**5)
        >>> 3 < local < 4
        True
    """
    epsilon, deep = positive_number(central[0], "central"), depth(check_delta(central[1], "central"))
    hidden = people * (epsilon / deep) ** 2
    start = max(math.log1p(0.29 * hidden + math.sqrt(hidden)), 1.2 * epsilon)  # a fit
    least = min(max(_rounded(epsilon), MIN_EPSILON), most)

    def error(x: float) -> float:
        counts = shuffled(design(_rounded(1 / x)), people, None)
        return deep / max(depth(counts.delta(epsilon)), 1e-300)

    slope = -max(0.36 * start, 0.85)
    begin = 1 / min(max(start, least), most)
    met = meeting(error, 1.0, 1 / most, 1 / least, _CLOSE, start=begin, slope=slope)
    return least if met is None else _rounded(1 / met.x)


def _rounded(number: float) -> float:
    """A number of four digits, no larger."""
    unit = 10.0 ** (math.floor(math.log10(number)) - 3)
    return float(f"{math.floor(number / unit * (1 + 1e-12)) * unit:.4g}")
