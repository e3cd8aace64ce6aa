"""Explicit integer rows: a law, a category or a researcher's own table as a reporter.

Row i holds, for input i, how many of the 2^bits equally likely draws give each cell. Any two rows differ by
at most a factor q ≤ e^ε in every cell, by counting. A truth between inputs goes to the nearest one.

    {"bits": 52, "circle": false, "domain": [low, high], "epsilon": ε, "format": "rows/1",
     "inputs": […], "rows": [[…], …], "values": […]}

is the wire format. `inputs` and `values` (what each cell decodes to) are in the unit coordinate of the
domain. Rows cost inputs × cells integers, so what can be a window had better be one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.arrays import FloatArray, IntArray
from sottovoce.errors import ArgumentError, SpecError, check_epsilon
from sottovoce.exact.exponential import MAX_BITS, MIN_BITS
from sottovoce.exact.rows_that_keep_epsilon import repaired
from sottovoce.reporters.base import check_claim
from sottovoce.reporters.law.cell_positions import cell_edges, density_on
from sottovoce.reporters.law.operator import Operator
from sottovoce.reporters.number import Number
from sottovoce.reporters.sampling.dispatch import fill_rows
from sottovoce.reporters.sampling.tables import RowTables
from sottovoce.values.checked_arrays import as_numbers
from sottovoce.values.domain import Domain
from sottovoce.values.domain_format import read_domain, write_domain
from sottovoce.values.interval import DomainLike, as_domain
from sottovoce.wire.canonical import ROWS, canonical
from sottovoce.wire.checked_json import as_float, as_int, as_list, check_keys

if TYPE_CHECKING:
    from sottovoce.reporters.law.blanket import Opposed

MAX_ENTRIES = 1 << 24
_WHOLE = 2  # so many times as many cells as bins are not binned
_UNEVEN = 100  # times as far apart as others: then a table's inputs are a scale of their own
_BESIDE = 2.0**-38  # inputs that are no further apart are the two sides of one border
_ROUNDED = 1e-3  # how far a table printed with a few digits may miss its ε


@dataclass(frozen=True, eq=False, repr=False)
class Rows(Number):
    """An ε-LDP reporter as a table of counts; its ε is checked when it is made.

    Attributes:
        epsilon: The privacy parameter that is claimed.
        domain: Where values lie.
        inputs: The inputs of the rows, increasing, in the unit coordinate of the domain.
        rows: The counts of all cells, a row per input, each adding up to 2^bits.
        values: What each cell decodes to, not decreasing, in the unit coordinate.
        name: Which law or table it is.
        made_for: The question it was made for, such as "probability", or None.
    """

    epsilon: float
    domain: Domain
    inputs: FloatArray
    rows: IntArray
    values: FloatArray
    name: str = field(default="rows", compare=False)
    made_for: str | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        for key, kind in (("inputs", np.float64), ("rows", np.int64), ("values", np.float64)):
            array = np.array(getattr(self, key), dtype=kind)
            array.setflags(write=False)
            object.__setattr__(self, key, array)
        check_table(self.domain, self.inputs, self.rows, self.values)
        check_claim(self)

    # -- identity ---------------------------------------------------------------------------------------

    @property
    def cells(self) -> int:
        """How many different reports there are."""
        return int(self.values.size)

    @cached_property
    def total(self) -> int:
        """2^bits: the sum of every row."""
        return int(self.rows[0].sum())

    @cached_property
    def largest_ratio(self) -> Fraction:
        """The largest ratio of the counts of one cell under two inputs, exactly."""
        return largest_ratio(self.rows)

    @property
    def positions(self) -> FloatArray:
        """Where each cell's report lies, in the unit coordinate of the domain."""
        return self.values

    def to_json(self) -> str:
        content = {
            "format": ROWS,
            "epsilon": self.epsilon,
            **write_domain(self.domain),
            "bits": self.total.bit_length() - 1,
            "inputs": self.inputs.tolist(),
            "values": self.values.tolist(),
            "rows": self.rows.tolist(),
        }
        return canonical(content, self.made_for)

    # -- what the device does ---------------------------------------------------------------------------

    def _fill(
        self, out: NDArray[Any], x: FloatArray, words: NDArray[np.uint64], *, paired: bool = False
    ) -> bool:
        if not bool(self.domain.contains(x).all()):
            return False
        fill_rows(out, words[0], self.domain.to_unit(x), self._tables)
        return True

    @cached_property
    def _tables(self) -> RowTables:
        return RowTables.of(self.rows, self._borders)

    def _row(self, t: FloatArray) -> IntArray:
        """The nearest input; on a circle the first one may be nearer than the last, across the seam."""
        nearest = np.searchsorted(self._borders, t, side="right")
        return np.asarray(np.where(nearest == len(self.inputs), 0, nearest), dtype=np.int64)

    @cached_property
    def _borders(self) -> FloatArray:
        """Where the nearest input changes, increasing."""
        middle = (self.inputs[1:] + self.inputs[:-1]) / 2
        return np.append(middle, (self.inputs[-1] + 1) / 2) if self.domain.is_circle else middle

    # -- the exact law ----------------------------------------------------------------------------------

    def counts(self, x: ArrayLike) -> IntArray:
        return np.asarray(self.rows[self._row(self._unit(x))])

    @property
    def cover(self) -> FloatArray:
        return np.asarray(self.rows.min(axis=0) / self.total)

    def blanket(self) -> Opposed:
        from sottovoce.reporters.law.blanket import table_blanket

        return table_blanket(self.rows)

    def operator(self, x: ArrayLike) -> Operator:
        return Operator.rows(np.atleast_2d(self.probabilities(np.reshape(x, -1))))

    def unit_table(self, t: FloatArray, first: IntArray) -> FloatArray:
        return np.asarray(np.add.reduceat(self.rows[self._row(t)], first, axis=1) / self.total)

    def bins(self, most: int, between: tuple[float, float] | None = None) -> IntArray:
        # Rows may tell values apart anywhere, so a table that is not much larger is used as it is.
        return np.arange(self.cells) if self.cells <= _WHOLE * most else super().bins(most)

    def alike(self, t: float) -> tuple[float, float]:
        borders = np.concatenate(([0.0], self._borders, [1.0]))
        row = int(np.clip(np.searchsorted(borders, t, side="right"), 1, len(borders) - 1))
        return float(borders[row - 1]), float(borders[row])

    def bends(self, first: IntArray) -> FloatArray:
        return np.unique(self.domain.from_unit(np.concatenate(([0.0], self._borders, [1.0]))))

    def worst_error(self, loss: str | float = "l2", distance: str | None = None) -> float:
        # Between borders the error is convex in x, up to the places opposite to a report.
        ends = np.concatenate(([0.0, 1.0], self._borders, np.nextafter(self._borders, 0.0)))
        if self._circular(distance):
            ends = np.concatenate((ends, np.mod(self.values + 0.5, 1.0)))
        x = np.clip(self.domain.from_unit(np.unique(ends)), self.domain.low, self.domain.high)
        return float(np.max(self.error(x, loss, distance)))

    def worst_variance(self) -> float:
        return float(np.max(self.variance(np.clip(self.domain.from_unit(self.inputs), *self._ends))))

    @property
    def range(self) -> tuple[float, float] | None:
        chance, whole = self.rows[:, -1], self.domain.is_circle
        if self.cells != 2 or len(np.unique(chance)) != 2:
            return None
        inside = chance == chance.max()
        begins, ends = (np.flatnonzero(np.diff(inside.astype(np.int64)) == turn) + 1 for turn in (1, -1))
        if max(len(begins), len(ends)) > 1 or (
            len(begins) and len(ends) and begins[0] > ends[0] and not whole
        ):
            return None
        first = self._turn(begins[0], begins[0]) if len(begins) else 0.0
        last = self._turn(ends[0], ends[0] - 1) if len(ends) else 1.0
        low, high = self.domain.from_unit(np.array([first, last])).tolist()
        return low, high

    def _turn(self, i: int, inner: int) -> float:
        """Where a range ends: halfway between two inputs, or at the inner one if the other is beside it."""
        beside = self.inputs[i] - self.inputs[i - 1] <= _BESIDE
        return float(self.inputs[inner] if beside else (self.inputs[i] + self.inputs[i - 1]) / 2)

    @property
    def evened(self) -> Rows:
        gaps = np.diff(self.inputs)
        if self.domain.is_circle or not len(gaps) or gaps.max() <= _UNEVEN * gaps.min():
            return self
        return replace(self, inputs=np.linspace(0.0, 1.0, len(self.inputs)))

    def from_even(self, t: FloatArray) -> FloatArray:
        # A truth goes to the nearest input, and the nearest one changes at the same places on either scale.
        every = np.arange(self.cells)
        scaled, values = self.evened.unit_bends(every), self.bends(every)
        return np.interp(t, scaled, values) if self.evened is not self else self.domain.from_unit(t)

    @property
    def _ends(self) -> tuple[float, float]:
        return self.domain.low, self.domain.high

    @cached_property
    def edges(self) -> FloatArray:
        """Boundaries of the cells on the value axis: halfway between reports."""
        gap = np.diff(self.values) if self.cells > 1 else np.array([1.0])
        return self.domain.from_unit(cell_edges(self.values, gap[0] / 2, gap[-1] / 2))

    def density(self, x: ArrayLike, y: ArrayLike) -> FloatArray:
        x, y = np.broadcast_arrays(np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64))
        cell = np.clip(np.searchsorted(self.edges, y, side="right") - 1, 0, self.cells - 1)
        chance = self.rows[self._row(self._unit(x)), cell] / self.total
        return density_on(self.edges, y, chance, cell)[()]

    # -- from a table -----------------------------------------------------------------------------------

    @classmethod
    def of(
        cls,
        epsilon: float,
        probabilities: ArrayLike,
        domain: DomainLike = (0, 1),
        *,
        inputs: ArrayLike | None = None,
        values: ArrayLike | None = None,
        name: str = "rows",
    ) -> Rows:
        """A table of probabilities as exact integers: the nearest rows that keep ε by counting.

        Args:
            epsilon: The privacy parameter. The table should keep it, up to rounding.
            probabilities: P(cell | input), a row per input.
            domain: Where values lie.
            inputs: The values that the rows are for; evenly spaced over the domain if not given.
            values: What each cell stands for, in the units of the domain; evenly spaced if not given.
            name: What to call it.

        Returns:
            A reporter that can be tallied, estimated, audited, planned with and deployed.

        Raises:
            ArgumentError: If the table is no table of probabilities, or does not keep ε up to rounding.

        Example:
            >>> coin = Rows.of(1.0, [[0.731, 0.269], [0.269, 0.731]], name="randomised response")
            >>> coin.cells, float(coin.largest_ratio) <= 2.718281828459046
            (2, True)
        """
        line = as_domain(domain)
        p = np.array(as_numbers(probabilities, "probabilities"), dtype=np.float64)
        if p.ndim != 2 or not (p >= 0).all() or not np.allclose(p.sum(axis=1), 1.0, atol=1e-6):
            raise ArgumentError("probabilities must be rows that add up to 1", argument="probabilities")
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = float(np.nanmax(p.max(axis=0) / p.min(axis=0)))
        # Rounding is repaired; a table that means another ε would become another mechanism.
        if ratio > math.exp(check_epsilon(epsilon)) * (1 + _ROUNDED):
            raise ArgumentError(
                f"probabilities must keep epsilon={epsilon!r}: those of one cell differ by a factor of "
                f"{ratio:.6g}, epsilon={math.log(ratio):.6g}",
                argument="probabilities",
            )
        n, m = p.shape
        t = _unit_grid(n, line) if inputs is None else line.to_unit(inputs)
        v = _unit_grid(m, line) if values is None else line.to_unit(values)
        return cls(epsilon, line, t, repaired(p, check_epsilon(epsilon)), v, name)


def _unit_grid(count: int, domain: Domain) -> FloatArray:
    """Evenly spaced over the domain; on a circle the last would be the first again."""
    return np.arange(count) / count if domain.is_circle else np.linspace(0.0, 1.0, count)


def read(content: dict[str, Any]) -> tuple[float, Domain, FloatArray, IntArray, FloatArray]:
    """What a `rows/1` spec says, checked for consistency but not yet for ε."""
    keys = {"format", "epsilon", "domain", "circle", "bits", "inputs", "rows", "values"}
    check_keys(content, keys, "spec", optional={"scale"})
    epsilon, domain = as_float(content["epsilon"], "epsilon"), read_domain(content)
    bits = as_int(content["bits"], "bits")
    if not MIN_BITS <= bits <= MAX_BITS:
        raise SpecError(f"bits must be between {MIN_BITS} and {MAX_BITS}, got {bits}", argument="bits")
    inputs = np.array(as_list(content["inputs"], "inputs", as_float))
    values = np.array(as_list(content["values"], "values", as_float))
    table = as_list(content["rows"], "rows", lambda row, where: as_list(row, where, as_int, len(values)))
    rows = np.array(table, dtype=np.int64).reshape(len(table), len(values))
    check_table(domain, inputs, rows, values)
    if int(rows[0].sum()) != 1 << bits:
        raise SpecError(f"every row must add up to 2^{bits}", argument="rows")
    return epsilon, domain, inputs, rows, values


def check_table(domain: Domain, inputs: FloatArray, rows: IntArray, values: FloatArray) -> None:
    """The rules of a table that do not concern ε."""
    if rows.shape != (inputs.size, values.size) or rows.size == 0 or (rows < 1).any():
        raise SpecError("rows must hold a positive count for every input and cell", argument="rows")
    if rows.size > MAX_ENTRIES:
        raise SpecError(f"rows must have at most {MAX_ENTRIES} entries, got {rows.size}", argument="rows")
    if (rows > 1 << MAX_BITS).any():
        raise SpecError(f"rows must add up to at most 2^{MAX_BITS}", argument="rows")
    totals = rows.sum(axis=1, dtype=object)
    total = int(totals[0])
    if (
        (totals != total).any()
        or total.bit_count() != 1
        or not MIN_BITS <= total.bit_length() - 1 <= MAX_BITS
    ):
        raise SpecError(
            f"every row must add up to the same power of two, 2^{MIN_BITS} to 2^{MAX_BITS}", argument="rows"
        )
    if not (inputs >= 0).all() or not (inputs <= 1).all() or (np.diff(inputs) <= 0).any():
        raise SpecError("inputs must increase from 0 to at most 1", argument="inputs")
    if domain.is_circle and inputs[0] != 0:
        raise SpecError("inputs on a circle must begin at 0", argument="inputs")
    if not np.isfinite(values).all() or (np.diff(values) < 0).any():
        raise SpecError("values must be finite and must not decrease", argument="values")


def largest_ratio(rows: IntArray) -> Fraction:
    """The largest ratio of two counts of one cell, exactly."""
    most, least = rows.max(axis=0), rows.min(axis=0)
    close = most / least >= (most / least).max() * (1 - 1e-14)
    return max(Fraction(int(m), int(n)) for m, n in zip(most[close], least[close], strict=True))
