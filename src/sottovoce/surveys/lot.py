"""Surveys in which a lot names one function of what a person gives, answered with the whole ε."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sottovoce.designs.choice import choice
from sottovoce.errors import ArgumentError
from sottovoce.reporters.composites.functions_by_lot import UNIT, Function, Functions
from sottovoce.reporters.composites.survey import Survey
from sottovoce.reporters.mechanism import Mechanism
from sottovoce.reporters.translates import Translates
from sottovoce.surveys.item_worth import item_mechanism
from sottovoce.values.domain import Domain
from sottovoce.values.options import Options
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

    def reporter(function: Function) -> Mechanism | Translates:
        space = inputs[function.of[0]] if function.name == "value" else UNIT
        if isinstance(space, Options):
            return choice(epsilon, space.names)
        assert isinstance(space, Domain)
        return item_mechanism(epsilon, space)

    reporters = {name: reporter(function) for name, function in items.items()}
    functions = Functions(inputs, tuple(items.values()), tuple(weights))
    return Survey(epsilon, reporters, 1, name=name, functions=functions)
