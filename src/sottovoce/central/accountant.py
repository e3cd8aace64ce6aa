"""A budget across releases: sequential composition in exact rationals, and a refusal to overspend."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from sottovoce.errors import BudgetError, check_epsilon, positive_number


def _as_written(epsilon: float) -> Fraction:
    """The decimal that a number prints as: three times 0.1 is 0.3. Mechanisms never use more than this."""
    return Fraction(Decimal(repr(float(epsilon))))


@dataclass(frozen=True)
class Spent:
    """One release: its ε and what it was for."""

    epsilon: float
    purpose: str


class Accountant:
    """The ε still to be spent on one set of people.

    The ε of releases about the same people add up. Groups of one release are about different people and
    cost ε once. Spending is recorded before any noise is drawn; a release that is refused costs nothing.

    >>> account = Accountant(budget=0.3)
    >>> for question in ("age", "income", "commute"):
    ...     account.spend(0.1, question)
    >>> account.remaining
    0.0
    >>> account.spend(1e-6, "one more")
    Traceback (most recent call last):
    sottovoce.errors.BudgetError: the budget of 0.3 has 0.0 left, asked for epsilon=1e-06
    """

    def __init__(self, budget: float) -> None:
        self._budget = positive_number(budget, "budget")
        self._left = _as_written(self._budget)
        self._spent: list[Spent] = []
        self._lock = threading.Lock()

    @property
    def budget(self) -> float:
        return self._budget

    @property
    def remaining(self) -> float:
        return float(self._left)

    @property
    def spent(self) -> float:
        return float(_as_written(self._budget) - self._left)

    @property
    def history(self) -> tuple[Spent, ...]:
        """What was spent, in order."""
        return tuple(self._spent)

    def spend(self, epsilon: float, purpose: str = "") -> None:
        """Take ε from the budget, or raise BudgetError and take nothing."""
        epsilon = check_epsilon(epsilon)
        with self._lock:
            left = self._left - _as_written(epsilon)
            if left < 0:
                raise BudgetError(
                    f"the budget of {self._budget!r} has {self.remaining!r} left, "
                    f"asked for epsilon={epsilon!r}"
                )
            self._left = left
            self._spent.append(Spent(epsilon, purpose))

    def __repr__(self) -> str:
        return f"Accountant(budget={self._budget!r}, remaining={self.remaining!r})"
