"""A mechanism of explicit integer rows: what a law becomes when somebody wants to run it.

Row i holds, for input i, how many of the 2^52 equally likely draws give each cell. There are weights g_j with
g_j ≤ row_ij ≤ ⌊q·g_j⌋ for every i, q a rational lower bound of e^ε; so any two inputs differ by at most a
factor q ≤ e^ε in every cell, by counting. A truth between inputs goes to the nearest one.

Rows cost inputs × cells integers and have no wire format: windows are what campaigns ship.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.core.domains import Domain, FloatArray
from sottovoce.core.errors import DataError, PrivacyError, check_epsilon, loss_exponent
from sottovoce.core.exact import exp_lower, log_upper
from sottovoce.core.randomness import Seeded, word_source
from sottovoce.core.values import as_cells, as_numbers, count_outside

IntArray = NDArray[np.int64]

BITS = 52
MAX_ENTRIES = 1 << 24
_BLOCK = 1 << 16


@dataclass(frozen=True, eq=False, repr=False)
class RowMechanism:
    """An ε-LDP mechanism as a table of counts; its ε is checked when it is made.

    `inputs` and `values` (what each cell decodes to) are in the unit coordinate of the domain.
    `rows` has the counts of all cells, a row per input, each adding up to 2^52.
    """

    epsilon: float
    domain: Domain
    inputs: FloatArray
    rows: IntArray
    values: FloatArray

    def __post_init__(self) -> None:
        check_epsilon(self.epsilon)
        if self.rows.shape != (self.inputs.size, self.values.size) or (self.rows < 1).any():
            raise ValueError("rows must hold a positive count for every input and cell")
        if (self.rows.sum(axis=1) != 1 << BITS).any():
            raise ValueError("every row must add up to 2^52")
        if self.largest_ratio > exp_lower(self.epsilon):
            raise PrivacyError(
                f"the counts give epsilon={self.exact_epsilon:.12g}, "
                f"more than the claimed epsilon={self.epsilon!r}"
            )

    def __repr__(self) -> str:
        return (
            f"<RowMechanism epsilon={self.epsilon!r} {self.domain} inputs={self.inputs.size} "
            f"cells={self.cells}>"
        )

    @property
    def cells(self) -> int:
        """How many different reports there are."""
        return int(self.values.size)

    @cached_property
    def largest_ratio(self) -> Fraction:
        """The largest ratio of the counts of one cell under two inputs, exactly."""
        most, least = self.rows.max(axis=0), self.rows.min(axis=0)
        close = most / least >= (most / least).max() * (1 - 1e-14)
        return max(Fraction(int(m), int(n)) for m, n in zip(most[close], least[close], strict=True))

    @property
    def exact_epsilon(self) -> float:
        """The logarithm of `largest_ratio`."""
        return log_upper(self.largest_ratio)

    # -- what the device does ---------------------------------------------------------------------------

    def report(self, values: ArrayLike, *, clip: bool = False, rng: Seeded = None) -> IntArray:
        """Randomise values: one integer cell each, the shape kept; arguments as for `Mechanism.report`."""
        numbers = np.asarray(as_numbers(values, "values"), dtype=np.float64)
        if clip and np.isfinite(numbers).all():
            numbers = self.domain.bring_inside(numbers)
        row = self._row(numbers, "values").reshape(-1)
        source, out = word_source(rng), np.empty(row.size, dtype=np.int64)
        for first in range(0, row.size, _BLOCK):
            part = row[first : first + _BLOCK]
            draw = (source.words(part.size) >> np.uint64(64 - BITS)).astype(np.int64)
            out[first : first + _BLOCK] = self._look_up(part, draw)
        return out.reshape(numbers.shape)[()]

    def _look_up(self, row: IntArray, draw: IntArray) -> IntArray:
        """The cell whose part of the row's prefix sums holds each draw, by bisection."""
        low, high = np.zeros(row.size, dtype=np.int64), np.full(row.size, self.cells - 1)
        while (low < high).any():
            middle = (low + high) // 2
            above = self._prefix[row, middle] <= draw
            low, high = np.where(above, middle + 1, low), np.where(above, high, middle)
        return low

    @cached_property
    def _prefix(self) -> IntArray:
        return np.asarray(np.cumsum(self.rows, axis=1))

    def decode(self, cells: ArrayLike) -> FloatArray:
        """The value that each cell stands for."""
        return np.asarray(self.domain.from_unit(self.values[as_cells(cells, self.cells)]))[()]

    def perturb(self, values: ArrayLike, *, clip: bool = False, rng: Seeded = None) -> FloatArray:
        """`decode(report(values))`."""
        return self.decode(self.report(values, clip=clip, rng=rng))

    # -- the exact law ----------------------------------------------------------------------------------

    def counts(self, x: ArrayLike) -> IntArray:
        """How many of the 2^52 draws give each cell, a row per x."""
        return np.asarray(self.rows[self._row(np.asarray(as_numbers(x, "x"), dtype=np.float64), "x")])

    def probabilities(self, x: ArrayLike) -> FloatArray:
        """The probability of each cell, a row per x."""
        return np.asarray(self.counts(x) / (1 << BITS))

    def error(self, x: ArrayLike, loss: str | float = "l2", distance: str | None = None) -> FloatArray:
        """E|y − x|^k at each x, of the counts that ship."""
        k = loss_exponent(loss)
        t = self.domain.to_unit(np.asarray(as_numbers(x, "x"), dtype=np.float64))
        away = np.abs(self.values - t[..., None])
        if self.domain.is_circle if distance is None else distance == "circular":
            away = np.minimum(away, 1 - away)
        return np.asarray(self.domain.width**k * (self.probabilities(x) * away**k).sum(axis=-1))[()]

    def worst_error(self, loss: str | float = "l2", distance: str | None = None) -> float:
        """The largest error over the inputs and the points halfway, where rounding moves a truth most."""
        return float(np.max(self.error(self._extremes, loss, distance)))

    def bias(self, x: ArrayLike) -> FloatArray:
        """E[y] − x."""
        x = np.asarray(as_numbers(x, "x"), dtype=np.float64)
        mean = self.probabilities(x) @ self.values - self.domain.to_unit(x)
        return np.asarray(self.domain.width * mean)[()]

    def variance(self, x: ArrayLike) -> FloatArray:
        """The variance of a report at each x."""
        p = self.probabilities(x)
        mean = p @ self.values
        square = (p * (self.values - mean[..., None]) ** 2).sum(axis=-1)
        return np.asarray(self.domain.width**2 * square)[()]

    def worst_variance(self) -> float:
        """The largest variance over the inputs."""
        return float(np.max(self.variance(self.domain.from_unit(self.inputs))))

    @cached_property
    def _extremes(self) -> FloatArray:
        t, middle = self.inputs, (self.inputs[1:] + self.inputs[:-1]) / 2
        around = np.concatenate((np.nextafter(middle, 0.0), np.nextafter(middle, 1.0)))
        ends = np.array([0.0, 1.0])
        return np.clip(self.domain.from_unit(np.concatenate((ends, t, around))),
                       self.domain.low, self.domain.high)  # fmt: skip

    def _row(self, x: FloatArray, name: str) -> IntArray:
        outside, first = count_outside(x.reshape(-1), self.domain.contains)
        if outside:
            raise DataError(
                f"{name} must be finite and in the domain: {outside} of {x.size} are not, "
                f"the first at index {first}"
            )
        t = self.domain.to_unit(x)
        middle = (self.inputs[1:] + self.inputs[:-1]) / 2
        nearest = np.searchsorted(middle, t, side="right")
        if self.domain.is_circle:  # beyond the last input the first one may be nearer, across the seam
            across = t > (self.inputs[-1] + 1 + self.inputs[0]) / 2
            nearest = np.where(across, 0, nearest)
        return np.asarray(nearest)


def repaired(p: FloatArray, epsilon: float) -> IntArray:
    """Integer rows of sum 2^52 as near to p as counting allows with ratio ≤ e^ε.

    g_j is the least weight that leaves room for the row with the most; rows are clipped to
    [g_j, ⌊q·g_j⌋], and what a row then has too much or too little is spread over its cells in proportion
    to the room they have.
    """
    q, total = exp_lower(epsilon), 1 << BITS
    most = np.rint(p.max(axis=0) * total).astype(np.int64)
    low = np.array([max(1, -(-int(m) * q.denominator // q.numerator)) for m in most], dtype=np.int64)
    high = np.array([int(g) * q.numerator // q.denominator for g in low], dtype=np.int64)
    if not int(low.sum()) <= total <= int(high.sum()):
        raise ValueError(f"these rows are too far from epsilon={epsilon!r} to be repaired")
    rows = np.clip(np.rint(p * total).astype(np.int64), low, high)
    for row in rows:
        _balance(row, low, high, total)
    return rows


def _balance(row: IntArray, low: IntArray, high: IntArray, total: int) -> None:
    """Move a row to the right sum within its bounds, in place."""
    missing = total - int(row.sum())
    sign = 1 if missing > 0 else -1
    room = (high - row) if missing > 0 else (row - low)
    # Slightly too little by rounding down; the rest goes out in single units.
    share = np.floor(room * (abs(missing) / max(int(room.sum()), 1) * (1 - 1e-12))).astype(np.int64)
    row += sign * share
    while left := abs(total - int(row.sum())):
        row[np.flatnonzero(row != (high if sign > 0 else low))[:left]] += sign
