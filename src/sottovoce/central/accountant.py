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

from sottovoce.core.durable import sync
from sottovoce.core.errors import BudgetError, check_epsilon, positive_number


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
    sottovoce.core.errors.BudgetError: the budget of 0.3 has 0.0 left, asked for epsilon=1e-06
    """

    def __init__(self, budget: float, path: str | Path | None = None) -> None:
        self._budget = positive_number(budget, "budget")
        self._path = None if path is None else Path(path)
        self._memory: list[Spent] = []
        self._lock = threading.Lock()
        if self._path is not None:
            self._start(self._path)

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

    def _start(self, path: Path) -> None:
        """The file's first line, unless it is there; its name is on the disk too before anything is spent."""
        with path.open("ab") as file:
            _lock(file)
            if not os.fstat(file.fileno()).st_size:
                _append(file, {"budget": self._budget})
        sync(path.parent)
        _ = self.history  # whether it can be read

    @contextmanager
    def _record(self) -> Iterator[tuple[list[Spent], BinaryIO | None]]:
        """What was spent so far, held still while the block runs."""
        with self._lock:
            if self._path is None:
                yield self._memory, None
                return
            try:
                file = self._path.open("rb+")
            except FileNotFoundError:  # a new one would start from nothing
                raise BudgetError(f"the budget file {str(self._path)!r} is gone: nothing was spent") from None
            with file:
                _lock(file)
                self._memory = self._read(file.read())
                yield self._memory, file

    def _read(self, text: bytes) -> list[Spent]:
        try:
            lines = [json.loads(line) for line in text.splitlines()]
            if text and not text.endswith(b"\n"):
                raise ValueError("unfinished line")
            budget = lines[0]["budget"]
            spent = [Spent(check_epsilon(line["epsilon"]), str(line["purpose"])) for line in lines[1:]]
        except (ValueError, LookupError, TypeError) as error:
            raise BudgetError(f"the budget file {str(self._path)!r} is damaged: nothing was spent") from error
        if budget != self._budget:
            rule = f"budget must be that of the file {str(self._path)!r}, {budget!r}"
            raise BudgetError(f"{rule}, got budget={self._budget!r}")
        return spent

    def __repr__(self) -> str:
        return f"Accountant(budget={self._budget!r}, remaining={self.remaining!r})"


def _total(spent: tuple[Spent, ...] | list[Spent]) -> Fraction:
    return sum((_as_written(one.epsilon) for one in spent), Fraction(0))


def _lock(file: BinaryIO) -> None:
    """Held until the file is closed, or its process dies."""
    import fcntl

    fcntl.flock(file, fcntl.LOCK_EX)


def _append(file: BinaryIO, line: dict[str, object]) -> None:
    """A line at the end, on the disk; or an error and the file as it was (a full disk writes half a line)."""
    size, text = os.lseek(file.fileno(), 0, os.SEEK_END), json.dumps(line).encode() + b"\n"
    try:
        while text:
            text = text[os.write(file.fileno(), text) :]
        os.fsync(file.fileno())
    except OSError:
        os.ftruncate(file.fileno(), size)
        raise
