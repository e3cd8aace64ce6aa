"""A law: a comparison mechanism that is not a window, as exact formulas.

A law answers the questions a mechanism answers (density, error, bias, variance and their worst cases), so
that both stand in one plot. It also samples, but only for simulation: inverting a distribution function in
floating point leaves different low bits for different truths, so `tabulate` is what to deploy.

Everything with an underscore is in the unit coordinate of the domain; a law supplies those formulas.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from sottovoce.core.domains import Domain, DomainLike, FloatArray, as_domain
from sottovoce.core.errors import DataError, loss_exponent
from sottovoce.core.values import as_numbers, count_outside

if TYPE_CHECKING:
    from sottovoce.core.rows import Rows

_BLOCK = 1 << 14
_GRID = 1025  # inputs looked at before the worst case is refined


@dataclass(frozen=True)
class Law(ABC):
    """The distribution of a report for every input of a domain, ε-LDP."""

    epsilon: float
    domain: Domain
    name: str = field(default="law", kw_only=True, compare=False)

    # -- the formulas, in the unit coordinate -----------------------------------------------------------

    @abstractmethod
    def _density(self, t: FloatArray, y: FloatArray) -> FloatArray: ...

    @abstractmethod
    def _cdf(self, t: FloatArray, y: FloatArray) -> FloatArray: ...

    @abstractmethod
    def _quantile(self, t: FloatArray, u: FloatArray) -> FloatArray: ...

    @abstractmethod
    def _deviation(self, t: FloatArray) -> tuple[FloatArray, FloatArray]:
        """E[y − t] and E[(y − t)²], distances on the line."""

    @abstractmethod
    def _error(self, t: FloatArray, k: float, circular: bool) -> FloatArray:
        """E|y − t|^k."""

    def _atoms(self, t: FloatArray) -> list[tuple[float, FloatArray]]:
        """Single reports that carry mass: (where, how much at each t)."""
        return []

    def _range(self) -> tuple[float, float]:
        """Where reports lie, all but a millionth of them at either end."""
        return 0.0, 1.0

    # -- the law of a report ----------------------------------------------------------------------------

    def density(self, x: ArrayLike, y: ArrayLike) -> FloatArray:
        """The density of a report y when the truth is x; infinite on an atom."""
        t, v = self._pair(x, y)
        density = self._density(t, v) / self.domain.width
        for where, mass in self._atoms(t):
            density = np.where((v == where) & (mass > 0), np.inf, density)
        return np.asarray(density)[()]

    def cdf(self, x: ArrayLike, y: ArrayLike) -> FloatArray:
        """P(report ≤ y | x). On a circle, counted from the domain's origin."""
        return np.asarray(self._cdf(*self._pair(x, y)))[()]

    def quantile(self, x: ArrayLike, u: ArrayLike) -> FloatArray:
        """The least y with cdf(x, y) ≥ u, for u strictly between 0 and 1."""
        level = np.asarray(as_numbers(u, "u"), dtype=np.float64)
        wrong, first = count_outside(level.reshape(-1), lambda p: (p > 0) & (p < 1))
        if wrong:
            raise ValueError(
                f"u must lie strictly between 0 and 1: {wrong} of {level.size} do not, "
                f"the first at index {first}"
            )
        t, level = np.broadcast_arrays(self._unit(x), level)
        return np.asarray(self.domain.from_unit(self._quantile(t, level)))[()]

    def atoms(self, x: float) -> list[tuple[float, float]]:
        """Reports that carry mass by themselves when the truth is x: (report, probability)."""
        found = self._atoms(self._unit(x))
        return [(float(self.domain.from_unit(where)), float(mass)) for where, mass in found]

    def sample(self, x: ArrayLike, rng: np.random.Generator | int) -> FloatArray:
        """One report per value, for simulation only; `tabulate` gives a mechanism that is exactly ε-LDP."""
        if rng is None:
            raise TypeError("rng must be a numpy Generator or an integer seed: a law samples in simulations")
        generator = rng if isinstance(rng, np.random.Generator) else np.random.default_rng(rng)
        t = self._unit(x)
        flat, out = t.reshape(-1), np.empty(t.size)
        for first in range(0, t.size, _BLOCK):
            part = flat[first : first + _BLOCK]
            # Centres of the generator's lattice: never 0 or 1, where a quantile may be infinite.
            u = np.minimum(generator.random(part.size) + 2.0**-54, 1 - 2.0**-53)
            out[first : first + _BLOCK] = self._quantile(part, u)
        return np.asarray(self.domain.from_unit(out).reshape(t.shape))[()]

    # -- expectations -----------------------------------------------------------------------------------

    def error(self, x: ArrayLike, loss: str | float = "l2", distance: str | None = None) -> FloatArray:
        """E|y − x|^k of a report y at each x. `distance`: the domain's own, or "linear" / "circular"."""
        k, circular = loss_exponent(loss), self._circular(distance)
        return np.asarray(self.domain.width**k * self._error(self._unit(x), k, circular))[()]

    def worst_error(self, loss: str | float = "l2", distance: str | None = None) -> float:
        """The largest error over the whole domain."""
        k, circular = loss_exponent(loss), self._circular(distance)
        return self.domain.width**k * _largest(lambda t: self._error(t, k, circular))

    def bias(self, x: ArrayLike) -> FloatArray:
        """E[y] − x (for reports as numbers on the line)."""
        return np.asarray(self.domain.width * self._deviation(self._unit(x))[0])[()]

    def variance(self, x: ArrayLike) -> FloatArray:
        """The variance of a report at each x."""
        return np.asarray(self.domain.width**2 * self._variance(self._unit(x)))[()]

    def worst_variance(self) -> float:
        """The largest variance over the whole domain."""
        return self.domain.width**2 * _largest(self._variance)

    def _variance(self, t: FloatArray) -> FloatArray:
        first, second = self._deviation(t)
        return np.asarray(np.maximum(second - first * first, 0.0))

    # -- something to deploy ----------------------------------------------------------------------------

    def tabulate(self, inputs: int = 257, cells: int = 1024) -> Rows:
        """The same law as explicit integer rows: exact, ε by counting, for local use.

        The truth is rounded to the nearest of `inputs` evenly spaced values; a report is one of about
        `cells` equal cells, plus one for each atom. Rounding a row may break the ε of its neighbours, so
        rows are repaired until the counts satisfy it.

        >>> from sottovoce.laws import bounded_laplace
        >>> table = bounded_laplace(1.0).tabulate(inputs=65, cells=256)
        >>> table.largest_ratio <= 2.7182818284590455
        True
        """
        from sottovoce.laws.tabulate import tabulate

        return tabulate(self, inputs, cells)

    # -- arguments --------------------------------------------------------------------------------------

    def _unit(self, x: ArrayLike) -> FloatArray:
        numbers = np.asarray(as_numbers(x, "x"), dtype=np.float64)
        outside, first = count_outside(numbers.reshape(-1), self.domain.contains)
        if outside:
            raise DataError(
                f"x must lie in the domain: {outside} of {numbers.size} do not, the first at index {first}"
            )
        return self.domain.to_unit(numbers)

    def _pair(self, x: ArrayLike, y: ArrayLike) -> tuple[FloatArray, FloatArray]:
        reports = np.asarray(as_numbers(y, "y"), dtype=np.float64)
        t, v = np.broadcast_arrays(self._unit(x), self.domain.to_unit(reports))
        return t, v

    def _circular(self, distance: str | None) -> bool:
        if distance not in (None, "linear", "circular"):
            raise ValueError(f"distance must be 'linear' or 'circular', got distance={distance!r}")
        if distance == "circular" and not self.domain.is_circle:
            raise ValueError("distance='circular' needs a law on a circle")
        return self.domain.is_circle if distance is None else distance == "circular"


def interval_domain(domain: DomainLike, name: str) -> Domain:
    """The domain of a law that lives on an interval."""
    domain = as_domain(domain)
    if domain.is_circle:
        raise ValueError(f"{name} is defined on an interval; on a circle use purkayastha or von_mises")
    return domain


def circle_domain(domain: DomainLike, name: str) -> Domain:
    """The domain of a law that lives on a circle."""
    domain = as_domain(domain)
    if not domain.is_circle:
        raise ValueError(f"{name} is defined on a circle, got domain={domain!r}")
    return domain


def _largest(f: Callable[[FloatArray], FloatArray]) -> float:
    """max f over [0, 1]: the best of a grid, refined between its neighbours."""
    from scipy.optimize import minimize_scalar

    grid = np.linspace(0.0, 1.0, _GRID)
    values = np.broadcast_to(f(grid), grid.shape)
    best = int(np.argmax(values))
    left, right = grid[max(best - 1, 0)], grid[min(best + 1, _GRID - 1)]
    refined = minimize_scalar(
        lambda t: -float(f(np.array(t))), bounds=(left, right), method="bounded", options={"xatol": 1e-12}
    )
    return max(float(values[best]), -float(refined.fun))
