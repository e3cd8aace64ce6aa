"""Numbers about places that hold whatever the truth: the mean position, and the share of people in a region.

    x, y = sottovoce.mean_position(tally)
    sottovoce.region_share(tally, ((0.0, 4.0), (-2.0, 2.0)))

P(cell | position) is the average over the four points around a position, so what holds at the points of the
grid holds between them. For the mean there are weights of cells whose expectation is x at every point; among
them those are taken that vary least for people spread evenly, before anybody has reported. For the share of a
region, weights bound its indicator from above and from below (`envelope`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.arrays import FloatArray, IntArray
from sottovoce.errors import ArgumentError, check_confidence
from sottovoce.estimates.answer.units import FEW, check_tally, generator_of, half, in_own_units
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.fits.binned_cells import em
from sottovoce.estimates.fits.nonnegative_quadratic import least_quadratic
from sottovoce.estimates.fits.spatial_density import PlaceLaw
from sottovoce.estimates.limits.regions import LOT, Corners, corners
from sottovoce.estimates.limits.sums_of_bounds import Sides
from sottovoce.estimates.limits.weighted_counts import Moments, Part, between, moments, normal_quantile
from sottovoce.estimates.polar_position import polar_position
from sottovoce.estimates.tally import Tally
from sottovoce.reporters.translates import Translates

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_EXACT = 1e-7  # how far, relative to their norm, expectations may be from the target
_MOST = 800  # steps of conjugate gradients
_BLOCKS = 2500  # blocks of neighbouring cells, for the weights of a region
_MISSED = 0.005  # by which weights may be below a bound before they are raised
_MOST_CORNERS = 2000  # that are known at once; of more every other line at first
_CUTS = 150  # corners that are added at a time
_ROUNDS = 4


def mean_position(tally: Tally, *, confidence: float = 0.95) -> tuple[Estimate, Estimate]:
    """Estimate the mean position, with intervals that hold for every truth.

    Args:
        tally: Counts of reports about places, with a margin, or polar ones.
        confidence: How often each interval holds.

    Returns:
        The mean of x and the mean of y, in their own units.

    Raises:
        ArgumentError: If the places are on a torus, where opposite edges are the same.
        DataError: If the reports are not about places.
        NoDataError: If there are fewer than two.

    Example:
        >>> from sottovoce.designs.place import place
        >>> m = place(4.0, radius=10.0, points=24)
        >>> x, y = mean_position(Tally(m, m.report(np.tile([3.0, -4.0], (2000, 1)), rng=1)))
        >>> x.low < 3.0 < x.high, y.low < -4.0 < y.high
        (True, True)
    """
    if check_tally(tally).law.distance_and_angle is not None:
        return polar_position(tally, confidence=check_confidence(confidence))
    law, tail = PlaceLaw.of(tally, least=2), (1 - check_confidence(confidence)) / 2
    if law.area.moduli == law.area.points:
        raise ArgumentError(
            "the mean position needs places with edge='margin': on a torus opposite edges are the same",
            code="torus",
            argument="tally",
        )
    estimates = []
    for axis, (name, ends) in enumerate((("x", law.area.x), ("y", law.area.y))):
        weights, bias = _unbiased(law.reporter, axis, _EXACT)
        h = law.expect(weights)
        noise = law.expect(weights**2) - h**2
        part = Part(weights, tally.counts, max(float(noise.min()), 0.0), float(noise.max()))
        whole = replace(moments([part]), slack=bias)
        estimates.append(_answer(tally, whole, whole, ends, f"mean {name}", "unbiased", tail))
    return estimates[0], estimates[1]


@lru_cache(maxsize=1024)
def position_variance(reporter: Translates, tolerance: float = _EXACT) -> float:
    """n times the variance of the mean position along x, of people spread evenly.

    Args:
        reporter: Of places, with a margin.
        tolerance: How far, relative to their norm, expectations may be from x; 0.001 is a part of the time,
            and gives the variance to a few thousandths.

    Returns:
        Exact to the tolerance: the weights do not depend on the reports.
    """
    law = PlaceLaw(reporter, reporter.domain)  # type: ignore[arg-type]  # an area: the caller knows
    q, (weights, _) = law.mix(law.even[law.used]), _unbiased(reporter, 0, tolerance)
    return float(q @ weights**2 - (q @ weights) ** 2)


@lru_cache(maxsize=16)
def _unbiased(reporter: Translates, axis: int, tolerance: float) -> tuple[FloatArray, float]:
    """For x or for y the weights of the cells, and how far their expectation can be from it."""
    from scipy.sparse.linalg import LinearOperator, cg

    law = PlaceLaw(reporter, reporter.domain)  # type: ignore[arg-type]  # an area: the caller knows
    q, points = law.mix(law.even[law.used]), law.shape[0]
    square = LinearOperator((points, points), matvec=lambda f: law.expect(law.mix(f.reshape(-1)) / q))
    (low, high), many = (law.area.x, law.area.y)[axis], law.area.points[1 - axis]
    middle, step = (low + high) / 2, (high - low) / (many - 1)
    target = (law.positions[:, axis] - middle) / step
    f, _ = cg(square, target, rtol=tolerance, maxiter=_MOST)
    weights = law.mix(f) / q
    bias = float(np.abs(law.expect(weights) - target).max()) + LOT
    return middle + step * weights, step * bias


def region_share(
    tally: Tally,
    region: Sequence[Sequence[float]],
    *,
    confidence: float = 0.95,
) -> Estimate:
    """Estimate the share of people in a region, with an interval that holds for every truth.

    A region that is known beforehand should be asked about directly: "are you there?" with `sottovoce.choice`
    is several times sharper.

    Args:
        tally: Counts of reports about places.
        region: A box ((x₀, x₁), (y₀, y₁)), or the corners [(x, y), …] of a polygon, three or more. Of a
            polygon the squares of the grid that its edge meets count as in doubt.
        confidence: How often the interval holds.

    Returns:
        The share, between 0 and 1.

    Raises:
        ArgumentError: If the region is none, or has no part in the area.
        DataError: If the reports are not about places.
        NoDataError: If there are none.
    """
    law, tail = PlaceLaw.of(tally), (1 - check_confidence(confidence)) / 2
    fit = _Fit(law, tally)
    lower, upper = (moments(fit.statistic(corners(law, region, side), side, tail)) for side in (-1, 1))
    return _answer(tally, lower, upper, (0.0, 1.0), "share in the region", "envelope", tail)


@dataclass(frozen=True, eq=False)
class _Fit:
    """A tally on blocks of neighbouring cells, divided for choosing and applying weights."""

    law: PlaceLaw
    tally: Tally

    @cached_property
    def block(self) -> IntArray:
        """The block of each cell."""
        rows, columns = self.law.area.moduli
        sets = self.law.reporter.cells // (rows * columns)
        side = math.ceil(math.sqrt(self.law.reporter.cells / _BLOCKS))
        across = -(-columns // side)
        one = (np.arange(rows)[:, None] // side * across + np.arange(columns) // side).reshape(-1)
        return np.asarray((np.arange(sets)[:, None] * (one.max() + 1) + one).reshape(-1))

    def in_blocks(self, values: NDArray[Any]) -> FloatArray:
        """Sums over the blocks."""
        return np.asarray(np.bincount(self.block, values))

    @cached_property
    def held(self) -> csr_array:
        """How many cells of each block hold a point: points × blocks."""
        from scipy import sparse

        law = self.law
        column = self.block[np.concatenate([law.reporter.holding(int(e)) for e in law.elements])]
        row = np.repeat(np.arange(len(law.elements)), law.reporter.elements)
        shape = len(law.elements), int(self.block.max()) + 1
        return sparse.csr_array((np.ones(len(row)), (row, column)), shape=shape)

    @cached_property
    def halves(self) -> list[tuple[FloatArray, FloatArray, FloatArray]]:
        """Counts of the blocks; what the other half suggests that reports and people are like."""
        even = self.law.even[self.law.used]
        if self.tally.n < FEW:  # half of very few reports could suggest nothing
            return [(self.in_blocks(self.tally.counts), self.in_blocks(self.law.mix(even)), even)]
        one = half(self.tally.counts, generator_of(self.tally))
        halves = one, self.tally.counts - one
        pilots = [em(self.law, counts, even, most=60) for counts in halves]
        return [
            (self.in_blocks(counts), self.in_blocks(self.law.mix(pilot)), pilot)
            for counts, pilot in zip(halves, reversed(pilots), strict=True)
        ]

    def statistic(self, at: Corners, side: int, tail: float) -> list[Part]:
        """What bounds the average of the indicator from above (side 1) or below (side −1)."""
        parts = []
        for counts, pilot, people in self.halves:
            around = at.interpolation @ people
            share = float(at.bound @ around) / float(around.sum())
            w = self._above(at, side * (at.bound - share), pilot, tail)
            h, square = (self.law.expect(values[self.block]) for values in (w, w**2))
            noise = square - h**2
            weights = share + side * w
            parts.append(Part(weights, counts, max(float(noise.min()), 0.0), float(noise.max())))
        return parts

    def _above(self, at: Corners, bound: FloatArray, pilot: FloatArray, tail: float) -> FloatArray:
        """Weights with an expectation above the bound at every corner, nearly of the least expected limit.

        The quadratic program has μ/2 times the variance for κ times the standard deviation, which is the same
        where μ = κ/deviation. Where it falls short at corners that it did not know, it learns of them.
        """
        kappa = normal_quantile(tail) / math.sqrt(self.tally.n)
        background = self.in_blocks(self.law.background)
        known = np.ones(len(bound), dtype=bool) if len(bound) <= _MOST_CORNERS else at.few.copy()
        mu, missed = kappa * self.law.reporter.epsilon / 6, 0.0
        for _ in range(_ROUNDS):
            rows = background + self.law.extra * (at.interpolation[known] @ self.held).toarray()
            scaled = rows / np.sqrt(pilot)
            f = least_quadratic(scaled @ scaled.T, 1 + mu * bound[known], 1e-3 * mu)
            w = (rows.T @ f / pilot - 1) / mu
            short = bound - at.interpolation @ self.law.expect(w[self.block])
            missed = float(short.max())
            if missed < _MISSED:
                break
            known[np.argsort(short)[-_CUTS:]] = True
            mu = kappa / math.sqrt(float(pilot @ w**2))
        return np.asarray(w + max(missed, 0.0))


def _answer(
    tally: Tally,
    lower: Moments,
    upper: Moments,
    ends: tuple[float, float],
    what: str,
    method: str,
    tail: float,
) -> Estimate:
    """The estimate that two statistics give, one below and one above."""
    sides, n = Sides(lower, upper, ends), tally.n
    low, high = sides.limits(tail) if n > 1 else ends
    few = (f"n={n} is small for an interval that rests on a normal approximation",) if n < FEW else ()
    value, error = float(between(lower, upper).value), math.hypot(sides.error, float(upper.slack))
    return in_own_units(tally, what, value, (low, high), error, 1 - 2 * tail, method, notes=few, sides=sides)
