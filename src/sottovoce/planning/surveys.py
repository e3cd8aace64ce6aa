"""How well a survey will answer: a relation of two numbers, a number within groups, any of several options.

    sottovoce.plan("pair", epsilon=1.0, people=100_000, domain={"age": (0, 120), "commute": (0, 3)})
    sottovoce.plan("group", epsilon=1.0, people=100_000, domain=(["car", "bike"], (0, 3)))
    sottovoce.plan("choices", epsilon=1.0, people=100_000, domain=["news", "games", "music"])

The counts to expect are those of the exact law, so the standard error is the one that the estimate will say.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.compose.design import Grouped, Pair, design
from sottovoce.compose.pair import pair, pair_rounds
from sottovoce.compose.within import GROUP, NUMBER
from sottovoce.core.domains import Interval
from sottovoce.core.errors import ArgumentError, check_epsilon, whole_number
from sottovoce.core.survey import Survey
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.groups import groups
from sottovoce.estimates.relation import correlation
from sottovoce.estimates.shares import shares
from sottovoce.estimates.tally import Tally
from sottovoce.planning.ways import Way, WaysPlan

_GRID = (np.arange(16) + 0.5) / 16  # of people spread evenly
_MOST = 4000  # people of a sample whose laws are looked at


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
    first = round(rounds.share * n)
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
    halves = np.tile([[0], [1]], len(survey.questions))
    answer = shares(_expected(survey, halves, n)).estimates[0]
    return WaysPlan(e, n, (Way("any of", survey, _error("share", answer)),))


def _expected(survey: Survey, values: NDArray[Any], people: int) -> Tally:
    """The counts to expect of so many people like these."""
    given = dict(zip(survey.domain, values.T, strict=True))
    laws = [
        share * survey.law_of(name, given).mean(axis=0)
        for name, share in zip(survey.questions, survey.shares, strict=True)
    ]
    return Tally.from_counts(survey, np.rint(people * np.concatenate(laws)).astype(np.int64))


def _error(of: str, answer: Estimate) -> dict[str, float]:
    return {of: float(np.nan_to_num(answer.standard_error, nan=np.inf))}
