"""A plan for a choice: what error to expect of each share and, of ratings, of the mean.

Reports that name blocks of options are best for shares; a window on the numbers is better for the mean of
ratings at small ε. Both answer both: the least variance of unbiased estimates from a law P, at the even
truth, is that of weighted least squares, (P·D⁻¹·Pᵀ)⁻¹ with D the chances of the reports.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sottovoce.core.errors import ArgumentError, check_epsilon, whole_number
from sottovoce.core.kernels.tables import FloatArray
from sottovoce.core.mechanism import Mechanism
from sottovoce.core.translates import Translates
from sottovoce.designs.choices import choice
from sottovoce.designs.families import block_variance, family
from sottovoce.designs.optimal import optimal
from sottovoce.estimates.tabular import Row, Tabular

_MOST_RATINGS = 64  # ratings up to which a window is looked at


@dataclass(frozen=True)
class ChoiceOption:
    """A design for a choice.

    Attributes:
        name: "choice", or "window" on the numbers of ratings.
        reporter: What people would run.
        share: The standard error of the share of one option, where all are chosen alike.
        mean: That of the mean rating; None where options are no numbers.
        total: n times the variance of all shares together.
    """

    name: str
    reporter: Translates | Mechanism
    share: float
    mean: float | None
    total: float


@dataclass(frozen=True, repr=False)
class ChoicePlan(Tabular):
    """What to expect of a choice.

    Attributes:
        epsilon: The privacy parameter.
        people: How many people report.
        options: The designs that were looked at.
    """

    epsilon: float
    people: int
    options: tuple[ChoiceOption, ...]

    @property
    def for_shares(self) -> ChoiceOption:
        """The design with the least error of shares."""
        return min(self.options, key=lambda one: one.share)

    @property
    def for_mean(self) -> ChoiceOption | None:
        """The design with the least error of the mean rating, if there is one."""
        rated = [one for one in self.options if one.mean is not None]
        return min(rated, key=lambda one: one.mean or math.inf) if rated else None

    @property
    def rows(self) -> list[Row]:
        """A row for each design, with the standard errors of a share and of the mean rating."""
        return [{"name": one.name, "share": one.share, "mean": one.mean} for one in self.options]

    def _facts(self) -> dict[str, str]:
        facts = {
            f"{one.name}": f"a share to ± {100 * one.share:.2g} points"
            + ("" if one.mean is None else f", the mean to ± {one.mean:.2g}")
            for one in self.options
        }
        best = self.for_mean
        return (
            facts
            if best is None
            else {**facts, "best": f"{self.for_shares.name} for shares, {best.name} for the mean"}
        )

    def __str__(self) -> str:
        lines = [f"{self.people:,} people, ε = {self.epsilon:g}"]
        return "\n".join([*lines, *(f"  {name}: {fact}" for name, fact in self._facts().items())])


def plan_choice(epsilon: float | None, people: int | None, options: Sequence[str | int]) -> ChoicePlan:
    """Say what error to expect of shares, and of ratings of their mean too.

    Args:
        epsilon: The privacy parameter.
        people: How many people report.
        options: What they choose from; whole numbers are ratings.

    Returns:
        The designs; `for_shares` and `for_mean` are the best ones.

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
    mean = None if rated is None else math.sqrt(total / (k - 1) * k * float(np.var(rated)) / n)
    designs = [ChoiceOption("choice", m, math.sqrt(total / k / n), mean, total)]
    if rated is not None and k <= _MOST_RATINGS:
        window = optimal(epsilon, (float(rated.min()), float(rated.max())))
        error = _least_squares(window.probabilities(rated))
        noise = float(np.mean(window.variance(rated)) + np.var(rated))
        designs.append(
            ChoiceOption(
                "window",
                window,
                math.sqrt(np.trace(error) / k / n),
                math.sqrt(noise / n),
                float(np.trace(error)),
            )
        )
    return ChoicePlan(epsilon, n, tuple(designs))


def _least_squares(law: FloatArray) -> FloatArray:
    """n times the covariance of the least squares estimates of shares, where all are alike."""
    information = (law / law.mean(axis=0).clip(1e-300)) @ law.T
    k = len(law)
    # What is estimated is multinomial itself: its own covariance is in the inverse already, less p·pᵀ.
    return np.asarray(np.linalg.pinv(information, rcond=1e-12) - 1 / k**2)
