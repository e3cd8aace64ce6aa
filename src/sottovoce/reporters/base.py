"""The base of every reporter: a claim that is counted, a number type for cells, and noisy values."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import numpy as np

from sottovoce.arrays import IntArray
from sottovoce.errors import PrivacyError, check_epsilon
from sottovoce.exact.exponential import counts_keep
from sottovoce.frozen import Compact
from sottovoce.notebook import Shown
from sottovoce.randomness.word_source import Seeded
from sottovoce.values.checked_arrays import as_cells
from sottovoce.values.missing_and_outside import Missing, Outside
from sottovoce.wire.canonical import digest

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import ArrayLike, NDArray


class Specified(Compact, ABC):
    """What is wholly given by its canonical spec: equal where the digests are."""

    @abstractmethod
    def to_json(self) -> str:
        """Write the canonical spec.

        Returns:
            JSON text: resolved numbers, nothing else.
        """

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the canonical spec without its task; a tally and a campaign are tied to it."""
        return digest(self.to_json())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Specified) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)


class ReportOptions(TypedDict, total=False):
    """The keywords of `report`."""

    clip: bool
    missing: Missing
    outside: Outside
    rng: Seeded


class ReporterBase(Specified, Shown):
    """An ε-LDP reporter in exact integers. Immutable."""

    epsilon: float
    name: str
    #: How many integers one person's report is.
    width: int = 1

    def _facts(self) -> dict[str, str]:
        made_for = getattr(self, "made_for", None)
        return {
            "privacy": f"ε = {self.epsilon:g}: a report changes odds between two values by at most "
            f"{math.exp(self.epsilon):.3g}",
            **({} if made_for is None else {"made for": made_for}),
            "values in": str(getattr(self, "domain", "several items")),
            "possible reports": f"{self.cells:,}",
            "digest": self.digest[:12],
        }

    @property
    @abstractmethod
    def cells(self) -> int:
        """How many different integers a report is made of: cells 0 … cells−1."""

    @property
    @abstractmethod
    def largest_ratio(self) -> Fraction:
        """The largest ratio of the probabilities of one report under two inputs: e to the exact ε."""

    @property
    def _extremes(self) -> tuple[int, int]:
        """Two numbers with the largest ratio: fractions are not needed to check a claim."""
        return self.largest_ratio.as_integer_ratio()

    @abstractmethod
    def report(self, values: Any, **options: Unpack[ReportOptions]) -> NDArray[Any]:
        """Randomise values: unsigned integers, the only thing that leaves a device."""

    @abstractmethod
    def decode(self, cells: ArrayLike) -> Any:
        """What each cell stands for."""

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """The narrowest unsigned integer that holds every cell."""
        return np.min_scalar_type(self.cells - 1)

    def checked(self, cells: ArrayLike) -> IntArray:
        """The cells as integers, if they are reports that this object can give.

        Args:
            cells: Integers that were received.

        Returns:
            The same as an array of 64-bit integers.

        Raises:
            DataError: If something is not a report.
        """
        return as_cells(cells, self.cells)

    def perturb(self, values: Any, **options: Unpack[ReportOptions]) -> Any:
        """Noisy values instead of cells: `decode(report(values))`.

        Args:
            values: As in `report`.
            **options: `clip`, `missing`, `outside` and `rng` as in `report`.

        Returns:
            What `decode` gives.
        """
        return self.decode(self.report(values, **options))


def check_claim(reporter: ReporterBase) -> None:
    """Refuse an ε that is out of its range or that the counts do not keep."""
    epsilon = check_epsilon(reporter.epsilon)
    if "epsilon" in reporter.__dict__:
        object.__setattr__(reporter, "epsilon", epsilon)
    if not counts_keep(*reporter._extremes, epsilon):
        from sottovoce.exact.rational_bounds import log_upper

        raise PrivacyError(
            f"the counts give epsilon={log_upper(reporter.largest_ratio):.12g}, "
            f"more than the claimed epsilon={epsilon!r}",
            argument="epsilon",
        )
