"""What a person sends about many attributes, and the counts that a collector keeps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import DataError, NoDataError
from sottovoce.core.kernels.tables import FloatArray
from sottovoce.estimates.distribution import distribution
from sottovoce.estimates.histogram import Distribution
from sottovoce.estimates.tally import Tally

if TYPE_CHECKING:
    from sottovoce.compose.vectors import Vector
    from sottovoce.estimates.estimate import Estimate


@dataclass(frozen=True, eq=False)
class VectorReport:
    """Row i: which attributes person i reports (increasing), and the cell of each."""

    attributes: NDArray[np.uint8]
    cells: NDArray[Any]

    def __len__(self) -> int:
        return len(self.attributes)

    def __getitem__(self, people: slice | NDArray[Any]) -> VectorReport:
        return VectorReport(self.attributes[people], self.cells[people])

    @staticmethod
    def gather(answers: Iterable[Sequence[tuple[int, int]]]) -> VectorReport:
        """One report of many people's (attribute, cell) pairs, as a ledger records them.

        `answers` has one list of pairs per person, all of the same length.
        """
        pairs = np.array(list(answers), dtype=np.int64)
        if pairs.ndim != 3 or pairs.shape[2] != 2 or pairs.min(initial=0) < 0 or (pairs[..., 0] > 255).any():
            raise DataError("answers must be (attribute, cell) pairs, equally many per person")
        return VectorReport(pairs[..., 0].astype(np.uint8), pairs[..., 1])


@dataclass(frozen=True, eq=False)
class VectorTally:
    """A tally per attribute, and how many people reported. Immutable; `+` merges.

    An attribute that is reported by lot is estimated from those who reported it: its intervals already
    count that they are fewer.
    `vector` is the mechanism, `tallies` has one tally per attribute.
    """

    vector: Vector
    people: int
    tallies: tuple[Tally, ...]

    @classmethod
    def of(cls, vector: Vector, report: VectorReport | None = None) -> VectorTally:
        """Count a `report` of a `vector`; without one the tally is empty."""
        if report is None:
            return cls(vector, 0, tuple(Tally(part) for part in vector.parts))
        attributes, cells = np.asarray(report.attributes), np.asarray(report.cells)
        if attributes.shape != cells.shape or attributes.ndim != 2 or attributes.shape[1] != vector.sampled:
            raise DataError(f"a report must have {vector.sampled} attributes and cells per person")
        late = int(attributes.max(initial=0)) >= vector.attributes
        if (
            attributes.dtype.kind not in "iu"
            or late
            or (np.diff(attributes.astype(np.int64), axis=1) <= 0).any()
        ):
            raise DataError(f"attributes must be different, increasing and below {vector.attributes}")
        tallies = tuple(Tally(part, cells[attributes == j]) for j, part in enumerate(vector.parts))
        return cls(vector, len(attributes), tallies)

    @property
    def digest(self) -> str:
        """The digest of the mechanism that the reports came from."""
        return self.vector.digest

    def __getitem__(self, attribute: int) -> Tally:
        """The tally of one attribute, for every estimate that takes a tally."""
        return self.tallies[attribute]

    def __add__(self, other: object) -> VectorTally:
        if not isinstance(other, VectorTally):
            return NotImplemented
        if other.digest != self.digest:
            raise DataError("tallies of different mechanisms do not merge")
        merged = tuple(a + b for a, b in zip(self.tallies, other.tallies, strict=True))
        return VectorTally(self.vector, self.people + other.people, merged)

    def __radd__(self, other: object) -> VectorTally:
        return self if other == 0 and isinstance(other, int) else NotImplemented

    # -- estimates --------------------------------------------------------------------------------------

    def mean(self, attribute: int, **options: Any) -> Estimate:
        """The mean of one attribute, given by its number; `options` are those of `sottovoce.mean`."""
        from sottovoce.estimates.means import mean

        return mean(self.tallies[attribute], **options)

    def circular_mean(self, attribute: int, **options: Any) -> Estimate:
        """The mean direction of one attribute on a circle, with `options` as in `sottovoce.circular_mean`."""
        from sottovoce.estimates.circular import circular_mean

        return circular_mean(self.tallies[attribute], **options)

    def quantile(self, attribute: int, q: float, **options: Any) -> Estimate:
        """The quantile `q` of one attribute, with `options` as in `sottovoce.quantile`."""
        from sottovoce.estimates.quantiles import quantile

        return quantile(self.tallies[attribute], q, **options)

    def distribution(self, attribute: int, **options: Any) -> Distribution:
        """The distribution of one attribute, with `options` as in `sottovoce.distribution`."""
        return distribution(self.tallies[attribute], **options)

    def means(self) -> FloatArray:
        """The mean of every attribute from those who reported it; on a circle of e^{ix}, as its angle."""
        return np.array([_plain_mean(tally) for tally in self.tallies])

    def scaled_mean(self, attribute: int) -> float:
        """PTT's estimate: reports times d/k, nothing where the lot fell elsewhere, about the middle.

        This is what `Vector.bound` is about. `mean` varies less: it knows how many reported.
        `attribute` is its number, from 0.
        """
        tally = self.tallies[attribute].required()
        domain = tally.mechanism.domain
        middle = float(domain.from_unit(0.5))
        total = float(tally.counts @ (tally.mechanism.decode(np.arange(tally.mechanism.cells)) - middle))
        return middle + total / (self.people * float(self.vector.share))


def _plain_mean(tally: Tally) -> float:
    if tally.n == 0:
        raise NoDataError("the tally holds no reports; this estimate needs at least 1")
    m = tally.mechanism
    decoded = m.decode(np.arange(m.cells))
    if not m.domain.is_circle:
        return float(tally.counts @ decoded / tally.n)
    turn = tally.counts @ np.exp(2j * np.pi * m.domain.to_unit(decoded))
    return float(m.domain.from_unit(np.angle(turn) / (2 * np.pi) % 1.0))
