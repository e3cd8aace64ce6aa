"""How well a relation of two numbers will be known: in one round, and in two.

    sottovoce.plan("pair", epsilon=1.0, people=100_000, domain={"age": (0, 120), "commute": (0, 3)})

The counts to expect are those of the exact law, so the standard error is the one that the estimate will say.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import ArrayLike

from sottovoce.compose.pair import PairRounds, pair, pair_rounds
from sottovoce.core.domains import DomainLike
from sottovoce.core.errors import ArgumentError, check_epsilon, whole_number
from sottovoce.core.kernels.tables import FloatArray
from sottovoce.core.survey import Survey
from sottovoce.estimates.products import Relation
from sottovoce.estimates.tabular import Row, Tabular
from sottovoce.estimates.tally import Tally

Pair = Sequence[DomainLike] | Mapping[str, DomainLike]
_GRID = (np.arange(16) + 0.5) / 16  # of people spread evenly
_MOST = 4000  # people of a sample whose laws are looked at


@dataclass(frozen=True)
class PairOption:
    """One way to ask for a pair.

    Attributes:
        name: "one round" or "two rounds".
        design: What people would run.
        error: The standard error of the correlation; infinite where the spread is not resolved.
    """

    name: str
    design: Survey | PairRounds
    error: float


@dataclass(frozen=True, repr=False)
class PairPlan(Tabular):
    """Ways to ask how two numbers vary together, the one to take first.

    Attributes:
        epsilon: The privacy parameter.
        people: How many report.
        options: The ways.
    """

    epsilon: float
    people: int
    options: tuple[PairOption, ...]

    @property
    def best(self) -> PairOption:
        """The one to take."""
        return self.options[0]

    @property
    def rows(self) -> list[Row]:
        """A row for each way, with the standard error of the correlation."""
        return [{"name": one.name, "error of the correlation": one.error} for one in self.options]

    def __str__(self) -> str:
        lines = [f"a pair of {self.people:,} people at ε = {self.epsilon:g}"]
        return "\n".join([*lines, *(f"  {one.name}: correlation ± {one.error:.2g}" for one in self.options)])


def plan_pair(
    epsilon: float | None, people: int | None, domains: Pair, sample: ArrayLike | None = None
) -> PairPlan:
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
        PairOption("one round", one, _error(_expected(one, values, n))),
        PairOption("two rounds", rounds, _error(_expected(second, cut, n - first))),
    ]
    return PairPlan(e, n, tuple(sorted(options, key=lambda option: option.error)))


def _expected(survey: Survey, values: FloatArray, people: int) -> Tally:
    """The counts to expect of so many people like these."""
    given = dict(zip(survey.domain, values.T, strict=True))
    laws = [
        share * survey.law_of(name, given).mean(axis=0)
        for name, share in zip(survey.questions, survey.shares, strict=True)
    ]
    return Tally.from_counts(survey, np.rint(people * np.concatenate(laws)).astype(np.int64))


def _error(tally: Tally) -> float:
    x, y = tally.reporter.domain  # type: ignore[misc]
    error = Relation.of(tally).estimate("correlation", x, y, 0.95).standard_error
    return float(np.nan_to_num(error, nan=np.inf))
