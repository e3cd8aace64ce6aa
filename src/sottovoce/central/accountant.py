"""A budget across releases: sequential composition in exact rationals, and a refusal to overspend."""

from __future__ import annotations

import os
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from sottovoce.errors import BudgetError, EntryError, check_epsilon
from sottovoce.exact.spending import Amount, afford, as_written, exact_budget, plain
from sottovoce.notebook import Shown
from sottovoce.storage.durable_file import Kind
from sottovoce.storage.journal import Entry, Journal

BUDGET = Kind("budget file", "SVBU", "nothing was spent")


@dataclass(frozen=True)
class Spent:
    """One release.

    Attributes:
        epsilon: What it cost.
        purpose: What it was for, in the caller's words.
    """

    epsilon: float
    purpose: str


class Spending:
    """What the entries of a budget file add up to."""

    def __init__(self) -> None:
        self.budget = self.spent = Fraction(0)
        self.history: list[Spent] = []

    def apply(self, entry: Entry) -> None:
        """Take one entry."""
        if entry["kind"] == "open" and not self.budget:
            self.budget = exact_budget(entry["budget"])
        elif entry["kind"] == "spend":
            release = Spent(check_epsilon(entry["epsilon"]), str(entry["purpose"]))
            self.afford(release)
            self.spent += as_written(release.epsilon)
            self.history.append(release)
        else:
            raise EntryError("an entry is out of place")

    def afford(self, release: Spent) -> None:
        """Refuse a release that costs more than is left."""
        afford(as_written(release.epsilon), self.spent, self.budget, release.purpose or "a release")


class Accountant(Shown):
    """The ε still to be spent on one set of people.

    The ε of releases about the same people add up. Groups of one release are about different people and
    cost ε once. Spending is recorded before any noise is drawn; a release that is refused costs nothing.

    Args:
        budget: The most ε that all releases together may cost. A float means the decimal that it prints as.
        path: A file for the record, which every process that names it shares. It is on disk before a release
            goes on. None keeps the record in memory.

    Raises:
        BudgetError: If the file has another budget.
        LedgerError: If the file is damaged, no budget file, or cannot be written.

    Example:
        >>> account = Accountant(budget=0.3)
        >>> for question in ("age", "income", "commute"):
        ...     account.spend(0.1, question)
        >>> account.remaining
        Fraction(0, 1)
        >>> account.spend(0.1, "wage")
        Traceback (most recent call last):
        sottovoce.errors.BudgetError: wage needs epsilon=0.1, but 0 is left of the budget of 0.3; ...
    """

    def __init__(self, budget: Amount, path: str | os.PathLike[str] | None = None) -> None:
        amount, file = exact_budget(budget), None if path is None else Path(path).absolute()
        self._journal = Journal(file, BUDGET, Spending)
        if file is None or not file.exists():
            self._journal.create({"kind": "open", "budget": str(amount)})
        self._journal.check()
        if self.budget != amount:
            raise BudgetError(
                f"budget must be that of the file {str(file)!r}, {plain(self.budget)}, got budget={budget!r}"
            )

    @property
    def budget(self) -> Fraction:
        """The most ε that all releases together may cost."""
        with self._journal.open() as turn:
            return turn.state.budget

    @property
    def history(self) -> tuple[Spent, ...]:
        """What was spent, in order."""
        with self._journal.open() as turn:
            return tuple(turn.state.history)

    @property
    def spent(self) -> Fraction:
        """The ε of all releases so far."""
        with self._journal.open() as turn:
            return turn.state.spent

    @property
    def remaining(self) -> Fraction:
        """What is left."""
        with self._journal.open() as turn:
            return turn.state.budget - turn.state.spent

    def spend(self, epsilon: float, purpose: str = "") -> None:
        """Take ε from the budget.

        Args:
            epsilon: How much.
            purpose: What for, in words; the history keeps it.

        Raises:
            BudgetError: If less is left; then nothing is spent.
            LedgerError: If the file is damaged, gone or cannot be written; then nothing is spent.
        """
        release = Spent(check_epsilon(epsilon), str(purpose))
        with self._journal.open() as turn:
            turn.state.afford(release)
            turn.append({"kind": "spend", **vars(release)})

    def __repr__(self) -> str:
        return f"<Accountant spent {plain(self.spent)} of {plain(self.budget)}>"
