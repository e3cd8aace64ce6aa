"""A mechanism: what a device runs. It turns values into integer cells and knows its own exact law.

    m = sottovoce.ogpm(epsilon=1.0, domain=(0, 24))
    cells = m.report(hours)      # leaves the device
    m.decode(cells)              # what the collector reads
    m.worst_error("l1")          # exact, for the integers that ship

A mechanism is immutable. Its ε is checked by counting when it is made: there is no object of this class
whose counts break its claim.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from sottovoce.arrays import FloatArray, IntArray
from sottovoce.errors import ArgumentError, loss_exponent, whole_number
from sottovoce.reporters.base import check_claim
from sottovoce.reporters.law.cell_positions import cell_edges, density_on
from sottovoce.reporters.number import Number
from sottovoce.reporters.sampling.dispatch import Sampler
from sottovoce.reporters.window import Window
from sottovoce.reporters.window_format import write_window
from sottovoce.values.domain import Domain

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import ArrayLike, NDArray

    from sottovoce.reporters.law.blanket import Opposed
    from sottovoce.reporters.law.moments import WindowLaw
    from sottovoce.reporters.law.operator import Operator

_ROUNDED = 1e-12  # of all draws: smaller steps of starts are rounding


class Windowed(Number):
    """A reporter whose law is that of windows: of one (`Mechanism`), or of several by a coin (`Mixture`)."""

    @property
    @abstractmethod
    def _coin_sides(self) -> tuple[list[Window], list[float]]:
        """The windows, and the probability of each."""

    @cached_property
    def _law(self) -> WindowLaw:
        """The exact expectations."""
        from sottovoce.reporters.law.moments import WindowLaw  # a device has no use for them

        return WindowLaw(*self._coin_sides)

    @property
    def cover(self) -> FloatArray:
        from sottovoce.reporters.law.blanket import windows_cover

        return windows_cover(*self._coin_sides)

    def blanket(self) -> Opposed:
        from sottovoce.reporters.law.blanket import windows_blanket

        return windows_blanket(*self._coin_sides)

    def error(self, x: ArrayLike, loss: str | float = "l2", distance: str | None = None) -> FloatArray:
        k, circular = loss_exponent(loss), self._circular(distance)
        return self._at(x, lambda t, s: self.domain.stretched(self._law.error(t, s, k, circular), k))

    def worst_error(self, loss: str | float = "l2", distance: str | None = None) -> float:
        k, circular = loss_exponent(loss), self._circular(distance)
        return float(self.domain.stretched(self._law.worst_error(k, circular), k))

    def bias(self, x: ArrayLike) -> FloatArray:
        return self._at(x, lambda t, s: self.domain.stretched(self._law.bias(t, s)))

    def variance(self, x: ArrayLike) -> FloatArray:
        return self._at(x, lambda t, s: self.domain.stretched(self._law.variance(s), 2))

    def worst_variance(self) -> float:
        return float(self.domain.stretched(self._law.worst_variance(), 2))

    def table(self, x: ArrayLike, first: IntArray) -> FloatArray:
        return self.unit_table(self._unit(x).reshape(-1), first)

    def alike(self, t: float) -> tuple[float, float]:
        return t, t  # windows move

    def _at(self, x: ArrayLike, f: Any) -> FloatArray:
        t = self._unit(x)
        flat = t.reshape(-1)
        return np.asarray(f(flat, self._law.starts(flat))).reshape(t.shape)[()]


@dataclass(frozen=True, eq=False, repr=False)
class Mechanism(Windowed):
    """An ε-LDP mechanism in exact integers: a domain and a window.

    Attributes:
        epsilon: The privacy parameter that is claimed; the counts are checked against it.
        domain: Where values lie.
        window: The integers.
        certificate: Set by `sottovoce.optimal`; it is about the mechanism, not part of it.
        name: Which design it is.
        made_for: The question it was made for, such as "mean", or None.
    """

    epsilon: float
    domain: Domain
    window: Window
    certificate: Any = field(default=None, compare=False)
    name: str = field(default="window", compare=False)
    made_for: str | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if self.window.wraps != self.domain.is_circle:
            raise ArgumentError(
                "a circle needs a window that wraps around, an interval one that does not",
                code="domain",
                argument="window",
            )
        check_claim(self)

    # -- identity ---------------------------------------------------------------------------------------

    @property
    def cells(self) -> int:
        """How many different reports there are: cells 0 … cells−1."""
        return self.window.cells

    @property
    def total(self) -> int:
        """2^bits: the number of equally likely draws."""
        return self.window.total

    @property
    def largest_ratio(self) -> Fraction:
        """The largest ratio of the counts of one cell under two inputs: e to the exact ε."""
        return self.window.largest_ratio

    @property
    def _extremes(self) -> tuple[int, int]:
        return self.window.extremes

    @property
    def positions(self) -> FloatArray:
        """Where each cell's report lies, in the unit coordinate of the domain."""
        return self.window.v

    def to_json(self) -> str:
        return write_window(self.epsilon, self.domain, self.window, self.made_for)

    # -- what the device does ---------------------------------------------------------------------------

    def _fill(
        self, out: NDArray[Any], x: FloatArray, words: NDArray[np.uint64], *, paired: bool = False
    ) -> bool:
        return self._sampler.fill(out, words[0], x) == 0

    @cached_property
    def _sampler(self) -> Sampler:
        return Sampler(self.window.tables, self.domain)

    # -- the exact law ----------------------------------------------------------------------------------

    @property
    def _coin_sides(self) -> tuple[list[Window], list[float]]:
        return [self.window], [1.0]

    def counts(self, x: ArrayLike) -> IntArray:
        return self.window.counts(self.window.starts(self._unit(x)))

    def operator(self, x: ArrayLike) -> Operator:
        return self.window.operator(self.window.starts(self._unit(x).reshape(-1)))

    def unit_table(self, t: FloatArray, first: IntArray) -> FloatArray:
        return self.window.table(self.window.starts(t), first)

    def bins(self, most: int, between: tuple[float, float] | None = None) -> IntArray:
        if between is None or self.cells <= most:
            return self.window.even(most)
        begin, end = self.window.starts(np.array(between)).tolist()
        return self.window.placed(most, (begin, end + self.window.around * (end < begin)))

    def bends(self, first: IntArray) -> FloatArray:
        return np.clip(self.domain.from_unit(self.unit_bends(first)), self.domain.low, self.domain.high)

    def unit_bends(self, first: IntArray) -> FloatArray:
        # Where the polyline of starts turns, and where an end of the window passes an edge of a bin.
        w, (t, s, rise) = self.window, self.window.segments
        # Where a line would reach the least and the largest start, be it beyond its own ends: no harm done.
        moving = rise > 0
        met = np.add.outer((0.0, w.top), -s[moving]) / rise[moving] + t[moving]
        t, s = np.append(t, 1.0), np.append(s, s[-1] + (1.0 - t[-1]) * rise[-1])
        if t[0] > 0:
            t, s = np.insert(t, 0, 0.0), np.insert(s, 0, s[0] - t[0] * rise[0])
        edge = w.edge[np.append(first, w.cells)].astype(np.float64)
        levels = [edge, edge - w.length, [0.0, w.top]]
        if w.wraps:  # starts run twice around
            levels += [edge + w.around, edge - w.length + w.around, edge - w.length + 2 * w.around]
        level = np.concatenate(levels)
        # A start that jumps passes all levels between at one knot, which is a bend already.
        crossings = np.interp(level[(level > s[0]) & (level < s[-1])], s, t)
        return np.unique(np.concatenate((t, crossings, met[(met > 0) & (met < 1)])))

    @cached_property
    def edges(self) -> FloatArray:
        """Boundaries of the cells on the value axis: halfway between reports."""
        v, w = self.window.v, self.window
        if w.wraps:
            return self.domain.from_unit(cell_edges(v, v[0], 1.0 - v[-1]))
        gap = np.diff(v) if len(v) > 1 else np.array([1.0])
        first, last = (w.step[i] if w.count[i] > 1 else gap[i] for i in (0, -1))
        return self.domain.from_unit(cell_edges(v, first / 2, last / 2))

    def density(self, x: ArrayLike, y: ArrayLike) -> FloatArray:
        x, y = np.broadcast_arrays(np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64))
        cell = np.clip(np.searchsorted(self.edges, y, side="right") - 1, 0, self.cells - 1)
        overlap = self.window.overlap(self.window.starts(self._unit(x)), cell)
        return density_on(self.edges, y, (self.window.a[cell] + overlap) / self.window.total, cell)[()]

    @property
    def range(self) -> tuple[float, float] | None:
        t, starts, _ = self.window.segments
        if self.cells != 2 or not self.window.stepwise or self.domain.is_circle:
            return None
        step = np.flatnonzero(np.diff(starts) > _ROUNDED * self.total)
        return None if len(step) != 1 else (float(self.domain.from_unit(t[step[0] + 1])), self.domain.high)

    # -- other decodings --------------------------------------------------------------------------------

    def truncated(self) -> Mechanism:
        """The same cells, decoded values cut off at the ends of the domain (T-PM, T-SW).

        Returns:
            A mechanism with the same law of cells.
        """
        runs = [piece for run in self._runs() for piece in _cut_run(*run)]
        return self._redecoded("truncated", *(np.array(column) for column in zip(*runs, strict=True)))

    def compressed(self) -> Mechanism:
        """The same cells, the range of reports shrunk linearly to the domain (PM-C, SW-C).

        Returns:
            A mechanism with the same law of cells.
        """
        w = self.window
        last = w.value[-1] + w.step[-1] * (w.count[-1] - 0.5)
        low = w.value[0] - w.step[0] / 2
        factor = 1.0 / (last - low) if last > low else 1.0
        values = (w.value - low) * factor, w.step * factor
        return self._redecoded("compressed", w.count, w.background, w.extra, *values)

    def _runs(self) -> Iterator[tuple[int, int, int, float, float]]:
        w = self.window
        columns = (w.count, w.background, w.extra, w.value, w.step)
        return zip(*(column.tolist() for column in columns), strict=True)

    def _redecoded(self, how: str, *runs: NDArray[Any]) -> Mechanism:
        columns: dict[str, Any] = dict(
            zip(("count", "background", "extra", "value", "step"), runs, strict=True)
        )
        return Mechanism(
            self.epsilon, self.domain, replace(self.window, **columns), name=f"{self.name} {how}"
        )


def _cut_run(
    count: int, a: int, e: int, value: float, step: float
) -> Iterator[tuple[int, int, int, float, float]]:
    """A run of cells split where its values leave [0, 1]; the outer parts become atoms at the ends."""
    v = value + step * np.arange(count)
    below, above = int((v < 0).sum()), int((v > 1).sum())
    if below:
        yield below, a, e, 0.0, 0.0
    if count - below - above:
        yield count - below - above, a, e, float(v[below]), step
    if above:
        yield above, a, e, 1.0, 0.0


def cells_within(cells: object) -> int:
    """The `cells` argument of a design."""
    return whole_number(cells, "cells", least=2, most=1 << 20)
