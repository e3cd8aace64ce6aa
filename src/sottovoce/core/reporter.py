"""The contract of everything that reports.

    identity      epsilon, domain, cells, dtype, name, digest, to_json, repr
    the device    report, perturb, decode
    the law       total, counts, probabilities, operator, groups, bends,
                  error, bias, variance, density and their worst cases
    privacy       largest_ratio
    composition   questions, width, checked

`Reporter` is what tallies, files, clients and the collector need; `NumberReporter` adds the law of one
number, which estimates and plans work with. A survey is a reporter whose questions are
reporters again; asked for a law it refers to its questions.

`sottovoce.check_reporter` runs the contract's tests against any reporter, also one of your own.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.core.domains import Domain, FloatArray, Space
from sottovoce.core.kernels import Operator
from sottovoce.core.kernels.tables import IntArray
from sottovoce.core.policy import Missing, Outside
from sottovoce.core.randomness import Seeded


@runtime_checkable
class Reporter(Protocol):
    """Values in, integer cells out, within a counted ε."""

    @property
    def epsilon(self) -> float:
        """The privacy parameter that is claimed, and checked when the object is made."""

    @property
    def domain(self) -> Space | Mapping[str, Space]:
        """Where values lie; of a survey, by question."""

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
        """SHA-256 of the canonical spec; a tally and a campaign are tied to it."""

    def to_json(self) -> str:
        """The canonical spec: resolved numbers, nothing else."""

    @property
    def width(self) -> int:
        """How many integers one person's report is: 1, or as many as a survey asks for."""

    @property
    def questions(self) -> Mapping[str, Reporter]:
        """What is asked, by name, in the order of the cells; {"value": itself} where it is one thing."""

    def report(
        self,
        values: Any,
        *,
        clip: bool = False,
        missing: Missing = "refuse",
        outside: Outside = "refuse",
        rng: Seeded = None,
    ) -> NDArray[Any]:
        """Randomise values: unsigned integers, the only thing that leaves a device."""

    def perturb(
        self,
        values: Any,
        *,
        clip: bool = False,
        missing: Missing = "refuse",
        outside: Outside = "refuse",
        rng: Seeded = None,
    ) -> Any:
        """`decode(report(values))`: noisy values instead of cells."""

    def decode(self, cells: ArrayLike) -> Any:
        """What each cell stands for."""

    def checked(self, cells: ArrayLike) -> IntArray:
        """The cells as integers, if they are reports that this object can give."""

    @property
    def largest_ratio(self) -> Fraction:
        """The largest ratio of the probabilities of one report under two inputs: e to the exact ε."""


class NumberReporter(Reporter, Protocol):
    """A reporter of one number, with its exact law."""

    @property
    def domain(self) -> Domain:
        """Where values lie: an interval or a circle."""

    @property
    def total(self) -> int:
        """How many equally likely draws `counts` counts."""

    def decode(self, cells: ArrayLike) -> FloatArray:
        """The value that each cell stands for, in the units of the domain."""

    def counts(self, x: ArrayLike) -> IntArray:
        """How many of the `total` equally likely draws give each cell: exact integers, a row per x."""

    def probabilities(self, x: ArrayLike) -> FloatArray:
        """The probability of each cell, a row per x."""

    def operator(self, x: ArrayLike) -> Operator:
        """P(cell | x) for many x."""

    def groups(self, most: int) -> IntArray:
        """First cells of at most `most` groups of neighbouring cells."""

    def bends(self, first: IntArray) -> FloatArray:
        """Values between which the law of the groups that begin at `first` is linear in x."""

    def error(self, x: ArrayLike, loss: str | float = "l2", distance: str | None = None) -> FloatArray:
        """E|y − x|^k of a report y at each x."""

    def worst_error(self, loss: str | float = "l2", distance: str | None = None) -> float:
        """The largest error over the whole continuous domain."""

    def bias(self, x: ArrayLike) -> FloatArray:
        """E[y] − x."""

    def variance(self, x: ArrayLike) -> FloatArray:
        """The variance of a report at each x."""

    def worst_variance(self) -> float:
        """The largest variance over the whole continuous domain."""

    def density(self, x: ArrayLike, y: ArrayLike) -> FloatArray:
        """The density of a report near y when the truth is x."""
