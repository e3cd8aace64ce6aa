"""A mechanism: what a device runs. It turns values into integer cells and knows its own exact law.

    m = sottovoce.ogpm(epsilon=1.0, domain=(0, 24))
    cells = m.report(hours)      # leaves the device
    m.decode(cells)              # what the collector reads
    m.worst_error("l1")          # exact, for the integers that ship

A mechanism is immutable. Its ε is checked by counting when it is made: there is no object of this class
whose counts break its claim.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.core import spec
from sottovoce.core.domains import Domain
from sottovoce.core.errors import DataError, PrivacyError, check_epsilon, loss_exponent, whole_number
from sottovoce.core.exact import exp_lower, log_upper
from sottovoce.core.expectations import Expectations
from sottovoce.core.kernels import Operator, Sampler, compiled_available
from sottovoce.core.kernels.tables import FloatArray, IntArray
from sottovoce.core.randomness import Seeded, as_words, word_source
from sottovoce.core.values import as_cells, as_numbers, count_outside, in_domain
from sottovoce.core.window import Window

_BLOCK = {True: 1 << 16, False: 1 << 14}  # values per block, compiled or not: what the cache holds


@dataclass(frozen=True, eq=False, repr=False)
class Mechanism(spec.Specified):
    """An ε-LDP mechanism in exact integers: a domain and a window.

    `certificate` is set by `sottovoce.optimal`; it is about the mechanism, not part of it.
    `window` holds the integers.
    """

    epsilon: float
    domain: Domain
    window: Window
    certificate: Any = field(default=None, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))
        if self.window.wraps != self.domain.is_circle:
            raise ValueError("a circle needs a window that wraps around, an interval one that does not")
        if self.window.largest_ratio > exp_lower(self.epsilon):
            raise PrivacyError(
                f"the counts give epsilon={log_upper(self.window.largest_ratio):.12g}, "
                f"more than the claimed epsilon={self.epsilon!r}"
            )

    # -- identity ---------------------------------------------------------------------------------------

    @property
    def cells(self) -> int:
        """How many different reports there are: cells 0 … cells−1."""
        return self.window.cells

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """The narrowest unsigned integer that holds every cell."""
        return np.min_scalar_type(self.cells - 1)

    @property
    def largest_ratio(self) -> Fraction:
        """The largest ratio of the counts of one cell under two inputs: e to the exact ε."""
        return self.window.largest_ratio

    def to_json(self) -> str:
        """The canonical spec: resolved numbers, nothing else."""
        return spec.write(self.epsilon, self.domain, self.window)

    def __repr__(self) -> str:
        return (
            f"<Mechanism epsilon={self.epsilon!r} {self.domain} cells={self.cells} digest={self.digest[:12]}>"
        )

    # -- what the device does ---------------------------------------------------------------------------

    def report(self, values: ArrayLike, *, clip: bool = False, rng: Seeded = None) -> NDArray[Any]:
        """Randomise values: one integer cell each, the shape kept.

        Values outside the domain are refused unless `clip=True` says to bring them inside (the nearest end
        of an interval; the same angle on a circle). NaN and infinity are always refused. `rng` is for
        simulations only: the default draws from the operating system's entropy.
        """
        numbers = as_numbers(values, "values")
        source = word_source(rng)
        out = np.empty(numbers.shape, dtype=self.dtype)
        flat, target = numbers.reshape(-1), out.reshape(-1)
        block = _BLOCK[compiled_available()]
        words = np.empty(min(block, flat.size), dtype="<u8")
        for first in range(0, flat.size, block):
            part = slice(first, first + block)
            fresh = words[: target[part].size]
            source.fill(fresh)
            if not self._fill(target[part], flat[part], fresh, clip):
                refuse_values(self.domain, flat, clip)
        return out[()]

    def report_from(
        self, words: NDArray[np.uint64], values: ArrayLike, *, clip: bool = False
    ) -> NDArray[Any]:
        """The cells that given words draw, one word per value; they must be uniform and used only here."""
        flat = as_numbers(values, "values").reshape(-1)
        given = as_words(words, flat.size)
        out = np.empty(flat.size, dtype=self.dtype)
        if flat.size and not self._fill(out, flat, given, clip):
            refuse_values(self.domain, flat, clip)
        return out

    def _fill(self, out: NDArray[Any], values: NDArray[Any], words: NDArray[np.uint64], clip: bool) -> bool:
        """Fill `out`, using up the words; false if some value cannot be reported."""
        x = np.ascontiguousarray(values, dtype=np.float64)
        if clip and np.isfinite(x).all():
            x = self.domain.bring_inside(x)
        return self._sampler.fill(out, words, x) == 0

    @cached_property
    def _sampler(self) -> Sampler:
        return Sampler(self.window.tables, self.domain)

    def decode(self, cells: ArrayLike) -> FloatArray:
        """The value that each cell stands for, in the units of the domain."""
        return np.asarray(self._decoded[as_cells(cells, self.cells)])[()]

    @cached_property
    def _decoded(self) -> FloatArray:
        return self.domain.from_unit(self.window.v)

    def perturb(self, values: ArrayLike, *, clip: bool = False, rng: Seeded = None) -> FloatArray:
        """`decode(report(values))`: noisy values instead of cells."""
        return self.decode(self.report(values, clip=clip, rng=rng))

    # -- the exact law ----------------------------------------------------------------------------------

    def counts(self, x: ArrayLike) -> IntArray:
        """How many of the 2^bits equally likely draws give each cell: exact integers, a row per x."""
        return self.window.counts(self.window.starts(self._unit(x)))

    def probabilities(self, x: ArrayLike) -> FloatArray:
        """The probability of each cell, a row per x."""
        return np.asarray(self.counts(x) / self.window.total)

    def operator(self, x: ArrayLike) -> Operator:
        """P(cell | x) for many x as an operator with O(cells + inputs) products."""
        return self.window.operator(self.window.starts(self._unit(x).reshape(-1)))

    def groups(self, most: int) -> IntArray:
        """First cells of at most `most` groups of neighbouring cells, of nearly equal size."""
        many = min(whole_number(most, "most", least=1), self.cells)
        return np.arange(many, dtype=np.int64) * self.cells // many

    def bends(self, first: IntArray) -> FloatArray:
        """Values between which the probability of every group of cells is linear in x.

        `first` has the first cell of each group.
        """
        return np.clip(self.domain.from_unit(self._law.bends(first)), self.domain.low, self.domain.high)

    @cached_property
    def edges(self) -> FloatArray:
        """Boundaries of the cells on the value axis: halfway between reports."""
        return self.domain.from_unit(self._unit_edges)

    @cached_property
    def _unit_edges(self) -> FloatArray:
        v, w = self.window.v, self.window
        middle = (v[1:] + v[:-1]) / 2
        if w.wraps:
            return np.concatenate(([0.0], middle, [1.0]))
        gap = v[1:] - v[:-1] if len(v) > 1 else np.array([1.0])
        first, last = (w.step[i] if w.count[i] > 1 else gap[i] for i in (0, -1))
        return np.concatenate(([v[0] - first / 2], middle, [v[-1] + last / 2]))

    def density(self, x: ArrayLike, y: ArrayLike) -> FloatArray:
        """The density of a report near y when the truth is x: cell probability over cell width.

        Zero outside the range of reports, infinite on an atom (a report that several cells share).
        """
        x, y = np.broadcast_arrays(np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64))
        cell = np.clip(np.searchsorted(self.edges, y, side="right") - 1, 0, self.cells - 1)
        s = self.window.starts(self._unit(x))
        left, end = self.window.edge[cell], s + self.window.length
        right = left + self.window.e[cell]
        overlap = np.maximum(np.minimum(right, end) - np.maximum(left, s), 0)
        overlap = overlap + np.maximum(np.minimum(right, end - self.window.around) - left, 0)
        width = self.edges[cell + 1] - self.edges[cell]
        with np.errstate(divide="ignore", over="ignore"):
            density = (self.window.a[cell] + overlap) / self.window.total / width
        atom = np.searchsorted(self.edges, y, side="right") - np.searchsorted(self.edges, y, side="left") > 1
        density = np.where(atom, np.inf, density)
        return np.where((y >= self.edges[0]) & (y <= self.edges[-1]), density, 0.0)[()]

    def error(self, x: ArrayLike, loss: str | float = "l2", distance: str | None = None) -> FloatArray:
        """E|y − x|^k of a report y at each x. `distance`: the domain's own, or "linear" / "circular"."""
        k, circular = loss_exponent(loss), self._circular(distance)
        return self._at(x, lambda t, s: self.domain.stretched(self._law.error(t, s, k, circular), k))

    def worst_error(self, loss: str | float = "l2", distance: str | None = None) -> float:
        """The largest error over the whole continuous domain."""
        k, circular = loss_exponent(loss), self._circular(distance)
        return float(self.domain.stretched(self._law.worst_error(k, circular), k))

    def bias(self, x: ArrayLike) -> FloatArray:
        """E[y] − x (for reports as numbers on the line)."""
        return self._at(x, lambda t, s: self.domain.stretched(self._law.bias(t, s)))

    def variance(self, x: ArrayLike) -> FloatArray:
        """The variance of a report at each x."""
        return self._at(x, lambda t, s: self.domain.stretched(self._law.variance(s), 2))

    def worst_variance(self) -> float:
        """The largest variance over the whole continuous domain."""
        return float(self.domain.stretched(self._law.worst_variance(), 2))

    @cached_property
    def _law(self) -> Expectations:
        return Expectations(self.window)

    def _circular(self, distance: str | None) -> bool:
        if distance not in (None, "linear", "circular"):
            raise ValueError(f"distance must be 'linear' or 'circular', got distance={distance!r}")
        return self.domain.is_circle if distance is None else distance == "circular"

    def _at(self, x: ArrayLike, f: Any) -> FloatArray:
        t = self._unit(x)
        flat = t.reshape(-1)
        return np.asarray(f(flat, self.window.starts(flat).astype(np.float64))).reshape(t.shape)[()]

    def _unit(self, x: ArrayLike) -> FloatArray:
        return self.domain.to_unit(in_domain(x, self.domain, "x"))

    # -- other decodings --------------------------------------------------------------------------------

    def truncated(self) -> Mechanism:
        """The same cells, decoded values cut off at the ends of the domain (T-PM, T-SW)."""
        runs = [piece for run in self._runs() for piece in _cut_run(*run)]
        return self._redecoded(*(np.array(column) for column in zip(*runs, strict=True)))

    def compressed(self) -> Mechanism:
        """The same cells, the range of reports shrunk linearly to the domain (PM-C, SW-C)."""
        w = self.window
        last = w.value[-1] + w.step[-1] * (w.count[-1] - 0.5)
        low = w.value[0] - w.step[0] / 2
        factor = 1.0 / (last - low) if last > low else 1.0
        return self._redecoded(w.count, w.background, w.extra, (w.value - low) * factor, w.step * factor)

    def _runs(self) -> Iterator[tuple[int, int, int, float, float]]:
        w = self.window
        columns = (w.count, w.background, w.extra, w.value, w.step)
        return zip(*(column.tolist() for column in columns), strict=True)

    def _redecoded(self, count: Any, background: Any, extra: Any, value: Any, step: Any) -> Mechanism:
        window = replace(self.window, count=count, background=background, extra=extra, value=value, step=step)
        return Mechanism(self.epsilon, self.domain, window)


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


def refuse_values(domain: Domain, flat: NDArray[Any], clip: bool) -> NoReturn:
    """Say how many values cannot be randomised, and where the first is."""
    allowed = (lambda x: np.isfinite(x)) if clip else domain.contains
    count, first = count_outside(flat, allowed)
    rule = "finite" if clip else f"finite and in [{domain.low!r}, {domain.high!r}]"
    hint = "" if clip else "; pass clip=True to bring finite values inside"
    raise DataError(
        f"values must be {rule}: {count} of {flat.size} are not, the first at index {first}{hint}"
    )


def from_json(text: str | bytes) -> Mechanism:
    """Read a `window/1` spec that anybody may have written; refused unless its counts give its ε."""
    epsilon, domain, window = spec.read(text)
    return Mechanism(epsilon, domain, window)


def cells_within(cells: object, least: int = 2) -> int:
    """The `cells` argument of a design."""
    return whole_number(cells, "cells", least=least, most=1 << 20)
