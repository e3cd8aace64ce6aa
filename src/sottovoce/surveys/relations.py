"""Surveys that also tell how numbers of one person vary together.

    survey(1.0, {"age": (0, 120), "commute": (0, 3), "way": ["car", "bike"]}, relations=[("age", "commute")])

Two numbers are told of by the square of their sum, that of their difference, and the difference of their
squares (`reporters.composites.functions_by_lot`): from these the means, the shares and how the numbers vary
together are known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sottovoce.errors import ArgumentError
from sottovoce.reporters.composites.functions_by_lot import Function, on_a_line
from sottovoce.reporters.composites.survey import Survey
from sottovoce.reporters.sampling.coin import MAX_COIN_BITS
from sottovoce.surveys.lot import apportioned, by_lot
from sottovoce.values.space import Space

LONGEST = 24  # letters of a name: two and a sign fit into an item's name
_SQUARES = 0.15  # of a relation's two functions: what the difference of squares takes


def related(
    epsilon: float,
    spaces: Mapping[str, Space],
    relations: Sequence[tuple[str, str]],
    weights: Sequence[float],
) -> Survey:
    """Design a survey that also tells how numbers vary together.

    Args:
        epsilon: What one person's report may cost.
        spaces: What is asked for, by name: numbers, directions and choices.
        relations: Names of two numbers each.
        weights: How often the lot names each item; a relation counts as two items of the mean weight.

    Returns:
        A survey of functions.

    Raises:
        ArgumentError: If a relation is not of two different numbers on a line or is there twice, or a
            item is a place.
    """
    if any(space.shape for space in spaces.values()):
        raise ArgumentError(
            "a place cannot be asked for beside a relation", code="choice", argument="relations"
        )
    if len({frozenset(one) for one in relations}) < len(relations):
        raise ArgumentError("a relation is there twice", code="repeated", argument="relations")
    functions = {name: Function("value", (name,)) for name in spaces}
    shares, mean = list(weights), sum(weights) / len(weights)
    for x, y in relations:
        if x == y or x not in spaces or y not in spaces:
            raise ArgumentError(f"relations must name two items each, got {(x, y)!r}", argument="relations")
        functions |= products(x, y)
        shares += [mean * (1 - _SQUARES), mean * (1 - _SQUARES), 2 * mean * _SQUARES]
    check_numbers({name: spaces[name] for one in relations for name in one}, "relations")
    return by_lot(epsilon, spaces, functions, apportioned(shares, 1 << MAX_COIN_BITS), "survey")


def products(x: str, y: str) -> dict[str, Function]:
    """The functions of two numbers that tell how they vary together."""
    both = (x, y)
    return {
        f"{x} + {y}": Function("sum", both),
        f"{x} - {y}": Function("difference", both),
        f"{x}² - {y}²": Function("squares", both),
    }


def check_numbers(spaces: Mapping[str, Any], argument: str) -> None:
    """Refuse what products are not computed of.

    Raises:
        ArgumentError: If something is no interval on a linear scale, or a name is long.
    """
    for name, space in spaces.items():
        if not on_a_line(space) or space.is_log:
            rule = "the domains of related numbers must be intervals on a linear scale"
            raise ArgumentError(f"{rule}, that of {name!r} is not", argument=argument)
        if len(name) > LONGEST:
            rule = f"names of a pair must have at most {LONGEST} characters"
            raise ArgumentError(f"{rule}, got {name!r}", argument=argument)
