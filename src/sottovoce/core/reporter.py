"""What counting and estimating need of a mechanism: `Mechanism` has it, and so has a mixture of several."""

from __future__ import annotations

from typing import Protocol

from numpy.typing import ArrayLike

from sottovoce.core.domains import Domain
from sottovoce.core.kernels import Operator
from sottovoce.core.kernels.tables import FloatArray, IntArray


class Reporter(Protocol):
    """Values in, integer cells out, with a known law.

    `operator` gives that law for some inputs; `groups` the first cells of groups of neighbouring cells (as in
    `Operator.coarsen`); `bends` the values between which the probability of every group is linear in x.
    """

    @property
    def epsilon(self) -> float:
        """The privacy parameter."""

    @property
    def domain(self) -> Domain:
        """Where values lie."""

    @property
    def cells(self) -> int:
        """How many different reports there are."""

    @property
    def digest(self) -> str:
        """SHA-256 of the canonical spec."""

    def to_json(self) -> str:
        """The canonical spec."""

    def decode(self, cells: ArrayLike) -> FloatArray:
        """The value that each cell stands for."""

    def operator(self, x: ArrayLike) -> Operator:
        """P(cell | x) for many x."""

    def groups(self, most: int) -> IntArray:
        """First cells of at most `most` groups of neighbouring cells."""

    def bends(self, first: IntArray) -> FloatArray:
        """Values between which the law of the groups that begin at `first` is linear in x."""
