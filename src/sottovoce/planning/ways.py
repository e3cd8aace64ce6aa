"""What a plan says of anything but one number: ways to ask, with the errors to expect of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sottovoce.compose.pair import PairRounds
from sottovoce.core.reporter import Reporter
from sottovoce.estimates.tabular import Row, Tabular


@dataclass(frozen=True)
class Way:
    """One way to ask.

    Attributes:
        name: What it is called.
        design: What people would run: a reporter, or rounds.
        errors: The standard error of each answer, by what it is of; infinite where it is not resolved. A
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
