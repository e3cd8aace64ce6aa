"""Two numbers of one person, or a few: how they vary together.

    p = sottovoce.pair(1.0, {"age": (0, 120), "commute": (0, 3)})
    t = sottovoce.Tally(p, p.report({"age": ages, "commute": hours}))
    sottovoce.correlation(t), sottovoce.slope(t)

A lot names one function of the numbers, which is reported with the whole ε by the unbiased mechanism of least
variance. (p + q)²/4 and (p − q)²/4 cost as little as p·q would, and their sum tells the variances too.

Noise is as wide as the domain, so a domain that is twice as wide as it must be costs four times the error:
see `surveys.rounds.pair_rounds`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

from sottovoce.errors import ArgumentError, check_epsilon
from sottovoce.reporters.composites.functions_by_lot import Function
from sottovoce.reporters.composites.survey import Survey
from sottovoce.reporters.sampling.coin import MAX_COIN_BITS
from sottovoce.surveys.lot import by_lot
from sottovoce.surveys.relations import check_numbers, products
from sottovoce.surveys.survey import by_name
from sottovoce.values.domain import Domain
from sottovoce.values.interval import DomainLike, as_domain

MOST = 16  # numbers, whose functions are the most items that a survey can have
_VALUES = 0.19  # the share of people who are asked for a number itself; the others for functions of two
_SQUARES = 0.06


def pair(epsilon: float, domains: Sequence[DomainLike] | Mapping[str, DomainLike]) -> Survey:
    """Design a survey of how numbers of one person vary together.

    Args:
        epsilon: What one person's report may cost.
        domains: The interval of each number, by name; a list names two of them "x" and "y". 2 to 16.

    Returns:
        A survey of functions, of which each person answers one, drawn by lot: for `sottovoce.correlation`,
        `slope`, `covariance` and `covariances`.

    Raises:
        ArgumentError: If there is one domain or more than 16, one is no plain interval, or a name is long.

    Example:
        >>> p = pair(1.0, [(0, 120), (0, 10)])
        >>> list(p.items)
        ['x', 'y', 'x + y', 'x - y', 'x² - y²']
        >>> p.report({"x": [30.0, 40.0], "y": [2.5, 3.0]}).shape
        (2, 1)
    """
    inputs = numbers_by_name(domains)
    both = list(combinations(inputs, 2))
    items = {name: Function("value", (name,)) for name in inputs}
    for one in both:
        items |= products(*one)
    weights = _shares(len(inputs), 2 * len(both))
    if len(inputs) > 2:  # of more numbers, sums tell the square of each
        items = {name: one for name, one in items.items() if one.name != "squares"}
    else:
        weights = [*weights[:2], *(w - round(_SQUARES * sum(weights) / 2) for w in weights[2:])]
        weights.append(_power_above(sum(weights)) - sum(weights))
    return by_lot(check_epsilon(epsilon), inputs, items, weights, "pair")


def _shares(values: int, others: int) -> list[int]:
    """Whole numbers that add up to a power of two: a fifth of it for values, the rest for the others."""
    total = min(max(64, _power_above(4 * (values + others))), 1 << MAX_COIN_BITS)
    each = max(1, round(_VALUES * total / values))
    rest = total - values * each
    return [each] * values + [rest // others + (i < rest % others) for i in range(others)]


def _power_above(number: int) -> int:
    return 1 << (number - 1).bit_length()


def numbers_by_name(domains: Sequence[DomainLike] | Mapping[str, DomainLike]) -> dict[str, Domain]:
    """The intervals of 2 to 16 numbers, by name; two of a list are "x" and "y"."""
    inputs = {name: as_domain(domain) for name, domain in by_name(domains, "domains").items()}
    if not isinstance(domains, Mapping) and len(inputs) == 2:
        inputs = dict(zip("xy", inputs.values(), strict=True))
    if not 2 <= len(inputs) <= MOST:
        raise ArgumentError(f"domains must be 2 to {MOST}, got {len(inputs)}", argument="domains")
    check_numbers(inputs, "domains")
    return inputs
