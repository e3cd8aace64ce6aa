"""The contract of everything that reports.

    identity      epsilon, domain, cells, dtype, name, digest, to_json, repr
    the device    report, perturb, decode
    privacy       largest_ratio
    composition   items, width, checked
    answers       questions

`Reporter` is what tallies, files, clients and the collector need. Estimates and plans also need its law, and
`formats.law_of` finds it: an object of this library itself, of anybody else's what its spec says. A survey is
a reporter whose items are reporters again.

`sottovoce.check_reporter` runs the contract's tests against any reporter, also one of your own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol, Unpack, runtime_checkable

import numpy as np

from sottovoce.arrays import IntArray
from sottovoce.errors import ArgumentTypeError, ContractError
from sottovoce.randomness.word_source import Seeded
from sottovoce.reporters.question import Question
from sottovoce.values.disc import Positions
from sottovoce.values.domain import Domain
from sottovoce.values.missing_and_outside import Missing, Outside
from sottovoce.values.options import Options
from sottovoce.values.space import Space

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import ArrayLike, NDArray

    from sottovoce.reporters.base import ReportOptions


@runtime_checkable
class Reporter(Protocol):
    """Values in, integer cells out, within a counted ε."""

    @property
    def epsilon(self) -> float:
        """The privacy parameter that is claimed, and checked when the object is made."""

    @property
    def domain(self) -> Space | Mapping[str, Space]:
        """Where values lie; of a survey, by item."""

    @property
    def name(self) -> str:
        """Which mechanism it is, such as "ogpm" or "survey"."""

    @property
    def cells(self) -> int:
        """How many different integers a report is made of: 0 … cells−1."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """The narrowest unsigned integer that holds every cell."""

    @property
    def digest(self) -> str:
        """SHA-256 of the canonical spec without its task; a tally and a campaign are tied to it."""

    def to_json(self) -> str:
        """Write the canonical spec.

        Returns:
            JSON text: resolved numbers, nothing else.
        """

    @property
    def width(self) -> int:
        """How many integers one person's report is: 1, or as many as a survey asks for."""

    @property
    def items(self) -> Mapping[str, Reporter]:
        """What is asked, by name, in the order of the cells; {"value": itself} where it is one thing."""

    @property
    def questions(self) -> tuple[Question, ...]:
        """What can be asked of a tally of these reports, in the order in which a summary answers."""

    def report(
        self,
        values: Any,
        *,
        clip: bool = False,
        missing: Missing = "refuse",
        outside: Outside = "refuse",
        rng: Seeded = None,
    ) -> NDArray[Any]:
        """Randomise values.

        Args:
            values: What people know: numbers, positions, or of a survey the values by item.
            clip: Bring values outside into the domain. Short for `outside="clip"`.
            missing: What stands in for missing values.
            outside: What happens to values outside the domain.
            rng: A seed or generator, for simulations only.

        Returns:
            Unsigned integers, the only thing that leaves a device.
        """

    def perturb(self, values: Any, **options: Unpack[ReportOptions]) -> Any:
        """Noisy values instead of cells: `decode(report(values))`.

        Args:
            values: As in `report`.
            **options: `clip`, `missing`, `outside` and `rng` as in `report`.

        Returns:
            What `decode` gives.
        """

    def decode(self, cells: ArrayLike) -> Any:
        """What each cell stands for.

        Args:
            cells: Integers that were reported.

        Returns:
            Values in the units of the domain; of a survey by item.
        """

    def checked(self, cells: ArrayLike) -> IntArray:
        """The cells as integers, if they are reports that this object can give.

        Args:
            cells: Integers that were received.

        Returns:
            The same as an array of 64-bit integers.
        """

    @property
    def largest_ratio(self) -> Fraction:
        """The largest ratio of the probabilities of one report under two inputs: e to the exact ε."""


def spaces(reporter: Reporter) -> Mapping[str, Space]:
    """Where the values lie that a person gives, by name.

    Args:
        reporter: Whatever reports.

    Returns:
        The items or inputs of a survey; {"value": …} where one thing is asked.
    """
    domain = reporter.domain
    return domain if isinstance(domain, Mapping) else {"value": domain}


def space_of(reporter: Reporter) -> Space:
    """Where the values of a reporter of one thing lie."""
    domain = reporter.domain
    if not isinstance(domain, Space):
        raise ContractError(f"domain: it must be a Space, got {type(domain).__name__}", code="domain")
    return domain


def line_of(reporter: Reporter) -> Domain | None:
    """Where the numbers of a reporter of one number lie; None if it reports something else."""
    domain = reporter.domain
    return domain if isinstance(domain, Domain) else None


def described(reporter: Reporter) -> str:
    """What a reporter's reports are about, in the words of whoever asks; for messages.

    Args:
        reporter: Whatever reports.

    Returns:
        Such as "a choice of 5", "places", "numbers in [0, 24]", "a survey of 3 items".
    """
    domain = reporter.domain
    if isinstance(domain, Mapping):
        return f"a survey of {len(domain)} item{'s' * (len(domain) != 1)}"
    if isinstance(domain, Options):
        return f"a choice of {len(domain)}"
    return "places" if isinstance(domain, Positions) else f"numbers in {_ends(domain)}"


def _ends(domain: Space) -> str:
    return f"[{domain.low:.12g}, {domain.high:.12g}]" if isinstance(domain, Domain) else str(domain)


def as_reporter(thing: object, argument: str) -> Reporter:
    """What was given, if it has the members of a reporter.

    Args:
        thing: Whatever was given.
        argument: What it was given as.

    Returns:
        The same.

    Raises:
        ArgumentTypeError: If it has not.
    """
    if not isinstance(thing, Reporter):
        kind = type(thing).__name__
        raise ArgumentTypeError(f"{argument} must be a mechanism or a survey, got {kind}", argument=argument)
    return thing
