"""The base of every reporter: a claim that is counted, a number type for cells, and noisy values."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict, Unpack

import numpy as np

from sottovoce.arrays import FloatArray, IntArray
from sottovoce.errors import DataError, PrivacyError, check_epsilon
from sottovoce.exact.exponential import counts_keep
from sottovoce.frozen import Compact
from sottovoce.notebook import Shown
from sottovoce.randomness.word_source import Seeded
from sottovoce.values.checked_arrays import as_cells
from sottovoce.values.missing_and_outside import Missing, Outside
from sottovoce.values.space import Space
from sottovoce.wire.canonical import digest

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import ArrayLike, NDArray

    from sottovoce.reporters.composites.functions_by_lot import Functions
    from sottovoce.reporters.contract import Reporter
    from sottovoce.reporters.mechanism import Mechanism
    from sottovoce.reporters.number import Number
    from sottovoce.reporters.question import Question
    from sottovoce.reporters.translates import Translates


class Specified(Compact, ABC):
    """What is wholly given by its canonical spec, equal where the digests are; base of `ReporterBase`."""

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


class Composition(NamedTuple):
    """The reporters that a report is put together from.

    Attributes:
        reporters: Each of them.
        shares: The part of the people who report each.
        drawn: How many of them one person reports.
        names: What each reports, by name; none where all report the same.
    """

    reporters: tuple[Reporter, ...]
    shares: tuple[float, ...]
    drawn: int
    names: tuple[str, ...] = ()


class ReporterBase(Specified, Shown):
    """An ε-LDP reporter in exact integers; `Number`, `Translates`, `Polar` and `Survey` build on it."""

    epsilon: float
    name: str
    #: How many integers one person's report is.
    width: int = 1
    #: The question that it was made for, such as "mean".
    made_for: str | None = None
    #: What is proved about how good it is.
    certificate: Any = None
    #: Random 64-bit words that one report takes; None where a lot decides.
    draws: int | None = None
    #: What a report is put together from; None where it is one thing.
    composition: Composition | None = None
    #: The options as numbers, where people rate something.
    ratings: FloatArray | None = None
    #: The two parts of a place that is reported by its distance and its angle.
    distance_and_angle: tuple[Mechanism, Mechanism] | None = None
    #: What the items are functions of, where they are functions of what a person gives.
    functions: Functions | None = None

    @property
    @abstractmethod
    def questions(self) -> tuple[Question, ...]:
        """What can be asked of a tally of these reports, in the order in which a summary answers."""

    if TYPE_CHECKING:  # fields of some, properties of others

        @property
        def domain(self) -> Space | Mapping[str, Space]:
            """Where values lie; of a survey, by item."""

        @property
        def items(self) -> Mapping[str, Reporter]:
            """What is asked, by name; {"value": itself} where it is one thing."""

    def as_number(self) -> Number:
        """This, if it reports one number.

        Returns:
            The object itself.

        Raises:
            DataError: If it reports something else.
        """
        raise self._another("one number")

    def as_choice(self) -> Translates:
        """This, if it reports a choice.

        Returns:
            The object itself.

        Raises:
            DataError: If it reports something else.
        """
        raise self._another("a choice; see sottovoce.choice")

    def as_places(self) -> Translates:
        """This, if it reports places on a grid.

        Returns:
            The object itself.

        Raises:
            DataError: If it reports something else.
        """
        raise self._another("places; see sottovoce.place")

    def _another(self, wanted: str) -> DataError:
        from sottovoce.reporters.contract import described  # with every space there is

        kind = f"this is a tally of {described(self)}, not of {wanted}"
        return DataError(kind, code="kind", argument="tally")

    def _facts(self) -> dict[str, str]:
        return {
            "privacy": f"ε = {self.epsilon:g}: a report changes odds between two values by at most "
            f"{math.exp(self.epsilon):.3g}",
            **({} if self.made_for is None else {"made for": self.made_for}),
            "values in": "several items" if isinstance(self.domain, Mapping) else str(self.domain),
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
        """Randomise values.

        Args:
            values: What people know.
            **options: `clip`, `missing`, `outside` and `rng`, as the contract has them.

        Returns:
            Unsigned integers, the only thing that leaves a device.
        """

    @abstractmethod
    def decode(self, cells: ArrayLike) -> Any:
        """What each cell stands for.

        Args:
            cells: Integers that were reported.

        Returns:
            Values in the units of the domain; of a survey by item.
        """

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
