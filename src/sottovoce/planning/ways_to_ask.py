"""What a plan says of anything but one number: ways to ask, with the errors to expect of each.

    sottovoce.plan("choice", epsilon=1.0, people=10_000, domain=["car", "bike", "walk"])
    sottovoce.plan("choices", epsilon=1.0, people=100_000, domain=["news", "games", "music"])
    sottovoce.plan("pair", epsilon=1.0, people=100_000, domain={"age": (0, 120), "commute": (0, 3)})
    sottovoce.plan("group", epsilon=1.0, people=100_000, domain=(["car", "bike"], (0, 3)))
    sottovoce.plan("place", epsilon=2.0, people=10_000, domain=sottovoce.Disc(10))

Reports that name blocks of options are best for shares; a window on the numbers is better for the mean of
ratings at small ε. Both answer both: the least variance of unbiased estimates from a law P, at the even
truth, is that of weighted least squares, (P·D⁻¹·Pᵀ)⁻¹ with D the chances of the reports.

For a pair, a group and any of several options the counts to expect are those of the exact law, so the
error is the one that the estimate will say. Places are for people spread evenly: errors of the mean
position and distances of single reports are by the exact laws.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.arrays import FloatArray
from sottovoce.designs.block_designs import block_variance, family
from sottovoce.designs.choice import choice
from sottovoce.designs.optimal import most_epsilon, optimal
from sottovoce.designs.place import Box, expected_distance
from sottovoce.errors import ArgumentError, check_epsilon, whole_number
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.groups import groups
from sottovoce.estimates.position import position_variance
from sottovoce.estimates.relation import correlation
from sottovoce.estimates.shares import shares
from sottovoce.estimates.tally import Tally
from sottovoce.plots.data_table import Row, Tabular
from sottovoce.reporters.composites.polar import Polar
from sottovoce.reporters.composites.survey import Survey
from sottovoce.reporters.contract import Reporter
from sottovoce.reporters.law.moments import resultant
from sottovoce.reporters.translates import Translates
from sottovoce.surveys.design import Grouped, Pair, design
from sottovoce.surveys.pair import pair
from sottovoce.surveys.polar import polar
from sottovoce.surveys.rounds.pair_rounds import PairRounds, pair_rounds
from sottovoce.surveys.within import GROUP, NUMBER
from sottovoce.values.disc import Disc
from sottovoce.values.interval import Interval

_MOST_RATINGS = 64  # ratings up to which a window is looked at
_SPREAD = 64  # positions that a distance is averaged over
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # its multiples spread evenly
_GRID = (np.arange(16) + 0.5) / 16  # of people spread evenly
_MOST = 4000  # people of a sample whose laws are looked at


@dataclass(frozen=True)
class Way:
    """One way to ask.

    Attributes:
        name: What it is called.
        design: What people would run: a reporter, or rounds.
        errors: The error of each answer, by what it is of; infinite where it is not resolved. A
            single report about a place has the distance to the person, on average.
        reason: What it is good for, where errors do not say it.
    """

    name: str
    design: Reporter | PairRounds
    errors: Mapping[str, float]
    reason: str = ""

    @property
    def error(self) -> float:
        """The first of the errors, that of what is asked for."""
        return next(iter(self.errors.values()))


@dataclass(frozen=True, repr=False)
class WaysPlan(Tabular):
    """Ways to ask, the one to take first.

    Attributes:
        epsilon: The privacy parameter.
        people: How many report.
        options: The ways.
    """

    epsilon: float
    people: int
    options: tuple[Way, ...]

    @property
    def best(self) -> Way:
        """The one to take."""
        return self.options[0]

    def best_for(self, of: str) -> Way | None:
        """Find the way with the least error of an answer.

        Args:
            of: What the answer is of, such as "mean".

        Returns:
            The way; None if no way answers that.
        """
        answering = [one for one in self.options if of in one.errors]
        return min(answering, key=lambda one: one.errors[of]) if answering else None

    @property
    def rows(self) -> list[Row]:
        """A row for each way, with its errors."""
        rows: list[Row] = []
        for one in self.options:
            rows.append({"name": one.name, **{f"error of the {of}": e for of, e in one.errors.items()}})
            rows[-1].update({"reason": one.reason} if one.reason else {})
        return rows

    def __str__(self) -> str:
        lines = [f"{self.people:,} people, ε = {self.epsilon:g}"]
        for one in self.options:
            errors = ", ".join(f"{of} ± {error:.2g}" for of, error in one.errors.items())
            lines.append(f"  {one.name}: {errors}{one.reason and '; '}{one.reason}")
        best = {of: self.best_for(of) or self.best for of in self.best.errors}
        if any(one is not self.best for one in best.values()):
            lines.append(f"  best: {', '.join(f'{one.name} for the {of}' for of, one in best.items())}")
        return "\n".join(lines)


def plan_choice(epsilon: float | None, people: int | None, options: Sequence[str | int]) -> WaysPlan:
    """Say what error to expect of shares, and of ratings of their mean too.

    Args:
        epsilon: The privacy parameter.
        people: How many people report.
        options: What they choose from; whole numbers are ratings.

    Returns:
        The designs, with the errors of a "share", where all options are chosen alike, and of the "mean" of
        ratings.

    Raises:
        ArgumentError: If ε, people or the options are none.
    """
    if epsilon is None or people is None:
        raise ArgumentError("a plan of a choice needs epsilon and people", argument="epsilon")
    epsilon, n = check_epsilon(epsilon), whole_number(people, "people", least=1)
    m = choice(epsilon, options)
    k, d = len(m.domain.names), len(m.blocks[0])  # type: ignore[union-attr]
    total = float(block_variance(k, d, epsilon)) * family(k, d).ratio
    names = m.domain.names  # type: ignore[union-attr]
    rated = np.array(names, dtype=np.float64) if all(isinstance(name, int) for name in names) else None
    errors = {"share": math.sqrt(total / k / n)}
    if rated is not None:
        errors["mean"] = math.sqrt(total / (k - 1) * k * float(np.var(rated)) / n)
    designs = [Way("choice", m, errors)]
    if rated is not None and k <= _MOST_RATINGS and epsilon <= most_epsilon():
        window = optimal(epsilon, (float(rated.min()), float(rated.max())))
        error = _least_squares(window.probabilities(rated))
        noise = float(np.mean(window.variance(rated)) + np.var(rated))
        errors = {"share": math.sqrt(np.trace(error) / k / n), "mean": math.sqrt(noise / n)}
        designs.append(Way("window", window, errors))
    return WaysPlan(epsilon, n, tuple(designs))


def _least_squares(law: FloatArray) -> FloatArray:
    """n times the covariance of the least squares estimates of shares, where all are alike."""
    information = (law / law.mean(axis=0).clip(1e-300)) @ law.T
    k = len(law)
    # What is estimated is multinomial itself: its own covariance is in the inverse already, less p·pᵀ.
    return np.asarray(np.linalg.pinv(information, rcond=1e-12) - 1 / k**2)


def plan_pair(
    epsilon: float | None, people: int | None, domains: Pair, sample: ArrayLike | None = None
) -> WaysPlan:
    """Say how well a correlation will be known.

    Args:
        epsilon: The privacy parameter.
        people: How many report.
        domains: The intervals of two numbers.
        sample: Values that stand for the people to come, a row for each; by default both numbers are
            anywhere in their domains alike, and have nothing to do with each other.

    Returns:
        One round and two rounds, the one with the smaller error first.

    Raises:
        ArgumentError: If ε, people, the domains or the sample are none.
    """
    e, n = check_epsilon(epsilon), whole_number(people, "people", least=64)
    rounds = pair_rounds(e, domains)
    low, wide = (np.array([getattr(one, end) for one in rounds.domains.values()]) for end in ("low", "width"))
    values = low + wide * np.array(list(product(_GRID, _GRID)))
    if sample is not None:
        values = np.asarray(sample, dtype=np.float64)[:_MOST]
        if values.ndim != 2 or values.shape[1] != 2 or not len(values):
            raise ArgumentError("sample must have a row of two numbers for each person", argument="sample")
    one = pair(e, rounds.domains)
    first = round(rounds.asked_first * n)
    second = rounds.second(_expected(rounds.first, values, first))
    ends = [(domain.low, domain.high) for domain in second.domain.values()]  # type: ignore[attr-defined]
    cut = np.clip(values, *np.transpose(ends))
    options = [
        Way("one round", one, _error("correlation", correlation(_expected(one, values, n)))),
        Way("two rounds", rounds, _error("correlation", correlation(_expected(second, cut, n - first)))),
    ]
    return WaysPlan(e, n, tuple(sorted(options, key=lambda option: option.error)))


def plan_group(epsilon: float | None, people: int | None, domain: Grouped) -> WaysPlan:
    """Say how well the mean within a private group will be known.

    Args:
        epsilon: The privacy parameter.
        people: How many report.
        domain: The options, and the interval of the number. Groups are taken to be alike, and numbers
            anywhere in the interval.

    Returns:
        The design that `sottovoce.within` takes.

    Raises:
        ArgumentError: If ε, people or the domain are none.
    """
    e, n = check_epsilon(epsilon), whole_number(people, "people", least=64)
    survey = design("group", e, domain)
    line = survey.domain[NUMBER]
    assert isinstance(line, Interval)
    names = survey.domain[GROUP].names  # type: ignore[attr-defined]
    values = np.array(list(product(names, line.from_unit(_GRID).tolist())), dtype=object)
    answer = groups(_expected(survey, values, n))[names[0]].mean
    return WaysPlan(e, n, (Way("within", survey, _error("mean of a group", answer)),))


def plan_choices(epsilon: float | None, people: int | None, options: Sequence[str]) -> WaysPlan:
    """Say how well the shares of options will be known, of which a person may have any.

    Args:
        epsilon: The privacy parameter.
        people: How many report.
        options: What they choose from. Half of the people are taken to have each.

    Returns:
        The design that `sottovoce.any_of` takes.

    Raises:
        ArgumentError: If ε, people or the options are none.
    """
    e, n = check_epsilon(epsilon), whole_number(people, "people", least=64)
    survey = design("choices", e, options)
    halves = np.tile([[0], [1]], len(survey.items))
    answer = shares(_expected(survey, halves, n)).estimates[0]
    return WaysPlan(e, n, (Way("any of", survey, _error("share", answer)),))


def _expected(survey: Survey, values: NDArray[Any], people: int) -> Tally:
    """The counts to expect of so many people like these."""
    given = dict(zip(survey.domain, values.T, strict=True))
    laws = [
        share * survey.item_law(name, given).mean(axis=0)
        for name, share in zip(survey.items, survey.shares, strict=True)
    ]
    return Tally.from_counts(survey, np.rint(people * np.concatenate(laws)).astype(np.int64))


def _error(of: str, answer: Estimate) -> dict[str, float]:
    return {of: float(np.nan_to_num(answer.error, nan=np.inf))}


def plan_places(epsilon: float | None, people: int | None, domain: Disc | Box) -> WaysPlan:
    """Compare reporters of places.

    Args:
        epsilon: The privacy parameter.
        people: How many report.
        domain: A disc around the origin, or a box.

    Returns:
        `sottovoce.place` first: it alone gives maps that come near to what ε allows. For a disc also polar
        coordinates, whose single reports may be nearer.
    """
    e, n = check_epsilon(epsilon), whole_number(people, "people", least=2)
    ours = design("place", e, domain)
    x = ours.domain.spread(np.arange(1, _SPREAD + 1, dtype=np.uint64) * _GOLDEN)

    def way(m: Translates | Polar, variance: float, reason: str) -> Way:
        distance = float(expected_distance(m, x).mean())
        return Way(m.name, m, {"mean position": math.sqrt(variance / n), "single report": distance}, reason)

    options = [way(ours, position_variance(ours), "for maps, the mean position and shares of regions")]
    if isinstance(domain, Disc):
        m = polar(e, domain.radius, design="unbiased")
        r = domain.radius * np.sqrt((np.arange(256) + 0.5) / 256)
        moment = float(np.mean(r**2 + m.distance.variance(r)))
        spread = moment / (2 * resultant(m.angle) ** 2)
        options.append(way(m, spread, "the paper's distance and angle; its maps are coarser"))
    return WaysPlan(e, n, tuple(options))
