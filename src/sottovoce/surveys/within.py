"""A number within a group that is private too: its mean and its distribution among those who chose an option.

    w = sottovoce.within(1.0, ["car", "bike", "train"], (0, 3))
    t = sottovoce.Tally(w, w.report({"group": ways, "number": hours}))
    sottovoce.groups(t)["bike"].mean

An option and a number are one element: c + k·level, with the number rounded by lot to one of a few levels.
One report then serves all groups; a lot over groups would waste a factor k.

For a mean at small ε two levels do, and *signs*: a report names for every option one of the two, the person's
own e^ε times as often as the other. It tells nothing about which option that is, so a few people are asked
for that alone. At larger ε, and for a distribution, options and levels together are one choice.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from sottovoce.designs.block_designs import block_size, block_variance, signed_family
from sottovoce.designs.choice import choice
from sottovoce.errors import ArgumentError, check_epsilon, whole_number
from sottovoce.reporters.composites.functions_by_lot import Function, Functions
from sottovoce.reporters.composites.survey import Survey
from sottovoce.reporters.translates import Translates
from sottovoce.values.interval import DomainLike, as_domain
from sottovoce.values.options import MAX_OPTIONS, Options, as_options

GROUP, NUMBER = "group", "number"
_SIGNS, _SHARES = 59, 5  # of 64 people, how many are asked for signs and how many for their option
_LEVELS = (2, 3, 5, 9)


def within(
    epsilon: float, options: Sequence[str | int], domain: DomainLike = (0, 1), *, levels: int | None = None
) -> Survey:
    """Design a survey of a number within groups, when the group is private too.

    Args:
        epsilon: What one person's report may cost.
        options: The groups, 2 to 500.
        domain: Where the number lies: an interval; on a log scale what is estimated are geometric means.
        levels: How many points its distribution is told at, evenly from end to end (of a log scale along the
            logarithm); by default as is best for the mean.

    Returns:
        A survey that takes "group" and "number" of each person, for `sottovoce.groups`.

    Raises:
        ArgumentError: If the domain is a circle, or options times levels are more than 1,000.

    Example:
        >>> w = within(1.0, ["car", "bike", "train"], (0, 3))
        >>> list(w.items), w.report({"group": ["bike"], "number": [0.5]}).shape
        (['group', 'number by group'], (1, 1))
    """
    check_epsilon(epsilon)
    groups, line = as_options(options), as_domain(domain)
    if line.is_circle:
        raise ArgumentError("domain must be an interval: a circle has no mean", argument="domain")
    k = len(groups)
    if levels is not None:
        levels = whole_number(levels, "levels", least=2)
    if k * (levels or 2) > MAX_OPTIONS:
        raise ArgumentError(
            f"options times levels must be at most {MAX_OPTIONS}, got {k} times {levels or 2}",
            argument="options",
        )
    inputs = {GROUP: groups, NUMBER: line}
    question = f"{NUMBER} by {GROUP}"
    level = Function("level", (GROUP, NUMBER))
    costs = {many: blocks_variance(epsilon, k, many) for many in _LEVELS if k * many <= MAX_OPTIONS}
    many = levels or min(costs, key=costs.__getitem__)
    if levels is None and signs_variance(epsilon, k) <= costs[many]:
        reporters = {GROUP: choice(epsilon, groups.names), question: _signs(epsilon, k)}
        functions = Functions(inputs, (Function("value", (GROUP,)), level), (_SHARES, _SIGNS))
    else:
        reporters = {question: choice(epsilon, range(k * many))}
        functions = Functions(inputs, (level,), (1,))
    return Survey(epsilon, reporters, 1, name="within", functions=functions)


def _signs(epsilon: float, k: int) -> Translates:
    blocks, multipliers, _ = signed_family(k)
    return Translates.of(epsilon, Options(tuple(range(2 * k))), blocks, multipliers, name="signs")


def signs_variance(epsilon: float, k: int) -> float:
    """n times the variance of the mean within one of k equal groups, by signs; numbers are on [−1, 1].

    For a group whose mean is 0.

    Args:
        epsilon: The privacy parameter.
        k: How many groups.

    Returns:
        k²((E + 1)/(E − 1))², over the share of people who are asked.
    """
    return float((k / math.tanh(epsilon / 2)) ** 2 * (_SIGNS + _SHARES) / _SIGNS)


def blocks_variance(epsilon: float, k: int, levels: int) -> float:
    """The same by one choice of options and levels, at the even truth.

    Args:
        epsilon: The privacy parameter.
        k: How many groups.
        levels: How many levels.

    Returns:
        k² times the variance of Σ v·share over the levels v of one group.
    """
    size = k * levels
    total = float(block_variance(size, block_size(size, epsilon), epsilon))
    squares = sum((2 * i / (levels - 1) - 1) ** 2 for i in range(levels))
    return k**2 * total / (size - 1) * squares
