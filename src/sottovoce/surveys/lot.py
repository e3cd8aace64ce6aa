"""Surveys in which a lot names one function of what a person gives, answered with the whole ε."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sottovoce.errors import ArgumentError
from sottovoce.reporters.composites.functions_by_lot import UNIT, Function, Functions
from sottovoce.reporters.composites.survey import Survey
from sottovoce.surveys.item_worth import suited
from sottovoce.values.space import Space


def apportioned(shares: Iterable[float], total: int) -> list[int]:
    """Whole numbers of at least 1 that add up to a total, as near to some shares as can be.

    Raises:
        ArgumentError: If there are more shares than that.
    """
    wanted = list(shares)
    if 2 * len(wanted) > total:
        raise ArgumentError(
            f"items and relations are too many, {len(wanted)} functions", argument="relations"
        )
    free, scale = total - len(wanted), sum(wanted)
    exact = [free * one / scale for one in wanted]
    weights = [1 + int(one) for one in exact]
    rest = sorted(range(len(exact)), key=lambda i: int(exact[i]) - exact[i])[: total - sum(weights)]
    for i in rest:
        weights[i] += 1
    return weights


def by_lot(
    epsilon: float,
    inputs: Mapping[str, Space],
    items: Mapping[str, Function],
    weights: Sequence[int],
    name: str,
) -> Survey:
    """A survey of functions, each with the mechanism of least variance and the whole ε."""
    reporters = {
        name: suited(epsilon, inputs[function.of[0]] if function.name == "value" else UNIT)
        for name, function in items.items()
    }
    functions = Functions(inputs, tuple(items.values()), tuple(weights))
    return Survey(epsilon, reporters, 1, name=name, functions=functions)
