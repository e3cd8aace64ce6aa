"""What counting and estimating need of a mechanism: `Mechanism` has it, and so has a mixture of several."""

from __future__ import annotations

from typing import Protocol

from numpy.typing import ArrayLike

from sottovoce.domains import Domain
from sottovoce.kernels.tables import FloatArray, IntArray


class Operator(Protocol):
    """P(cell | input) for some inputs; `coarsen` sums cells from each entry of `first` to the next."""

    @property
    def shape(self) -> tuple[int, int]: ...

    def expect(self, f: FloatArray) -> FloatArray: ...

    def mix(self, w: FloatArray) -> FloatArray: ...

    def coarsen(self, first: IntArray) -> Operator: ...

    def dense(self) -> FloatArray: ...


class Reporter(Protocol):
    """Values in, integer cells out, with a known law.

    `operator` gives that law for some inputs; `groups` the first cells of groups of neighbouring cells (as in
    `Operator.coarsen`); `bends` the values between which the probability of every group is linear in x.
    """

    @property
    def epsilon(self) -> float: ...

    @property
    def domain(self) -> Domain: ...

    @property
    def cells(self) -> int: ...

    @property
    def digest(self) -> str: ...

    def to_json(self) -> str: ...

    def decode(self, cells: ArrayLike) -> FloatArray: ...

    def operator(self, x: ArrayLike) -> Operator: ...

    def groups(self, most: int) -> IntArray: ...

    def bends(self, first: IntArray) -> FloatArray: ...
