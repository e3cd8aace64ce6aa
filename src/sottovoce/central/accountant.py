"""A budget across releases: sequential composition in exact rationals, and a refusal to overspend."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import BinaryIO

from sottovoce.errors import BudgetError, check_epsilon, positive_number


def _as_written(epsilon: float) -> Fraction:
    """The decimal that a number prints as: three times 0.1 is 0.3. Mechanisms never use more than this."""
    return Fraction(Decimal(repr(float(epsilon))))


@dataclass(frozen=True)
class Spent:
    """One release: its ε and what it was for.

    `purpose` is what the caller said about it.
    """

    epsilon: float
    purpose: str


class Accountant:
    """The ε still to be spent on one set of people.

    The ε of releases about the same people add up. Groups of one release are about different people and
    cost ε once. Spending is recorded before any noise is drawn; a release that is refused costs nothing.
    With a `path` the record is a file, one line per release, which every process on the machine that names
    it shares: spending locks it, and a line is on the disk before the release goes on.

    >>> account = Accountant(budget=0.3)
    >>> for question in ("age", "income", "commute"):
    ...     account.spend(0.1, question)
    >>> account.remaining
    0.0
    >>> account.spend(1e-6, "one more")
    Traceback (most recent call last):
    sottovoce.errors.BudgetError: the budget of 0.3 has 0.0 left, asked for epsilon=1e-06
    """

    def __init__(self, budget: float, path: str | Path | None = None) -> None:
        self._budget = positive_number(budget, "budget")
        self._path = None if path is None else Path(path)
        self._memory: list[Spent] = []
        self._lock = threading.Lock()
        if self._path is not None:
            with self._record() as (_, file):
                if file is not None and not file.tell():
                    _append(file, {"budget": self._budget})

    @property
    def budget(self) -> float:
        """The most ε that all releases together may cost."""
        return self._budget

    @property
    def history(self) -> tuple[Spent, ...]:
        """What was spent, in order."""
        with self._record() as (spent, _):
            return tuple(spent)

    @property
    def spent(self) -> float:
        """The ε of all releases so far."""
        return float(_total(self.history))

    @property
    def remaining(self) -> float:
        """What is left."""
        return float(_as_written(self._budget) - _total(self.history))

    def spend(self, epsilon: float, purpose: str = "") -> None:
        """Take ε from the budget, or raise BudgetError and take nothing.

        `purpose` is kept in the history, in words.
        """
        epsilon = check_epsilon(epsilon)
        with self._record() as (spent, file):
            left = _as_written(self._budget) - _total(spent)
            if left < _as_written(epsilon):
                raise BudgetError(
                    f"the budget of {self._budget!r} has {float(left)!r} left, asked for epsilon={epsilon!r}"
                )
            if file is not None:
                _append(file, {"epsilon": epsilon, "purpose": purpose})
            self._memory.append(Spent(epsilon, purpose))

    @contextmanager
    def _record(self) -> Iterator[tuple[list[Spent], BinaryIO | None]]:
        """What was spent so far, held still while the block runs."""
        with self._lock:
            if self._path is None:
                yield self._memory, None
                return
            import fcntl

            with self._path.open("ab+") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                file.seek(0)
                self._memory = self._read(file.read())
                yield self._memory, file

    def _read(self, text: bytes) -> list[Spent]:
        try:
            lines = [json.loads(line) for line in text.splitlines()]
            if text and not text.endswith(b"\n"):
                raise ValueError("unfinished line")
            budgets = [line["budget"] for line in lines[:1]]
            spent = [Spent(float(line["epsilon"]), str(line["purpose"])) for line in lines[1:]]
        except (ValueError, KeyError, TypeError) as error:
            raise BudgetError(f"the budget file {str(self._path)!r} is damaged: nothing was spent") from error
        if budgets not in ([], [self._budget]):
            rule = f"budget must be that of the file {str(self._path)!r}, {budgets[0]!r}"
            raise BudgetError(f"{rule}, got budget={self._budget!r}")
        return spent

    def __repr__(self) -> str:
        return f"Accountant(budget={self._budget!r}, remaining={self.remaining!r})"


def _total(spent: tuple[Spent, ...] | list[Spent]) -> Fraction:
    return sum((_as_written(one.epsilon) for one in spent), Fraction(0))


def _append(file: BinaryIO, line: dict[str, object]) -> None:
    file.write(json.dumps(line).encode() + b"\n")
    file.flush()
    os.fsync(file.fileno())
