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

from sottovoce.arrays import FloatArray
from sottovoce.designs.solver.roots import lowest
from sottovoce.errors import ArgumentError, ArgumentTypeError, loss_exponent, one_of
from sottovoce.notebook import Shown
from sottovoce.values.checked_arrays import as_numbers, in_domain
from sottovoce.values.domain import Domain
from sottovoce.values.interval import DomainLike, as_domain

if TYPE_CHECKING:
    from sottovoce.reporters.rows import Rows

_BLOCK = 1 << 14
_GRID = 1025  # inputs looked at before the worst case is refined


@dataclass(frozen=True)
class Law(Shown, ABC):
    """The distribution of a report for every input of a domain, ε-LDP.

    Attributes:
        epsilon: Privacy parameter ε.
        domain: Where values lie.
        name: Which law it is.
    """

    epsilon: float
    domain: Domain
    name: str = field(default="law", kw_only=True, compare=False)

    # -- the formulas, in the unit coordinate -----------------------------------------------------------

    @abstractmethod
    def _density(self, t: FloatArray, y: FloatArray) -> FloatArray: ...

    @abstractmethod
    def _cdf(self, t: FloatArray, y: FloatArray) -> FloatArray: ...

    @abstractmethod
    def _quantile(self, t: FloatArray, p: FloatArray) -> FloatArray: ...

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
        """Give the density of a report y when the truth is x.

        Args:
            x: Values in the domain.
            y: Places where a report may lie.

        Returns:
            Zero outside the range of reports, infinite on an atom.
        """
        t, v = self._pair(x, y)
        density = self._density(t, v) * self.domain.unit_slope(y)
        for where, mass in self._atoms(t):
            density = np.where((v == where) & (mass > 0), np.inf, density)
        return np.asarray(density)[()]

    def cdf(self, x: ArrayLike, y: ArrayLike) -> FloatArray:
        """Give P(report ≤ y) when the truth is x; on a circle, counted from the domain's origin.

        Args:
            x: Values in the domain.
            y: Places where a report may lie.

        Returns:
            Probabilities.
        """
        return np.asarray(self._cdf(*self._pair(x, y)))[()]

    def quantile(self, x: ArrayLike, p: ArrayLike) -> FloatArray:
        """Give the least y with cdf(x, y) ≥ p.

        Args:
            x: Values in the domain.
            p: Probabilities strictly between 0 and 1.

        Returns:
            Places where reports lie.

        Raises:
            ValueError: If a probability is out of range.
        """
        level = np.asarray(as_numbers(p, "p"), dtype=np.float64)
        if not ((level > 0) & (level < 1)).all():
            raise ArgumentError("p must lie strictly between 0 and 1", argument="p")
        t, level = np.broadcast_arrays(self._unit(x), level)
        return np.asarray(self.domain.from_unit(self._quantile(t, level)))[()]

    def atoms(self, x: float) -> list[tuple[float, float]]:
        """Give the reports that carry mass by themselves.

        Args:
            x: A value in the domain.

        Returns:
            Pairs of a report and its probability.
        """
        atoms = self._atoms(self._unit(x))
        return [(float(self.domain.from_unit(where)), float(mass)) for where, mass in atoms]

    def sample(self, x: ArrayLike, rng: np.random.Generator | int) -> FloatArray:
        """Draw one report per value, for simulations only: in floating point ε does not hold.

        `tabulate` gives a reporter that is exactly ε-LDP.

        Args:
            x: Values in the domain.
            rng: A generator or a seed.

        Returns:
            Reports in the units of the domain.

        Raises:
            TypeError: If there is no generator.
        """
        if rng is None:
            raise ArgumentTypeError(
                "rng must be a generator or a seed: a law is for simulations", argument="rng"
            )
        generator = rng if isinstance(rng, np.random.Generator) else np.random.default_rng(rng)
        t = self._unit(x)
        flat, out = t.reshape(-1), np.empty(t.size)
        for first in range(0, t.size, _BLOCK):
            part = flat[first : first + _BLOCK]
            # Centres of the generator's lattice: never 0 or 1, where a quantile may be infinite.
            p = np.minimum(generator.random(part.size) + 2.0**-54, 1 - 2.0**-53)
            out[first : first + _BLOCK] = self._quantile(part, p)
        return np.asarray(self.domain.from_unit(out).reshape(t.shape))[()]

    # -- expectations -----------------------------------------------------------------------------------

    def error(self, x: ArrayLike, loss: str | float = "l2", distance: str | None = None) -> FloatArray:
        """Give E|y − x|^k of a report y.

        Args:
            x: Values in the domain.
            loss: "l1", "l2" or a number k ≥ 1.
            distance: "linear" or "circular"; by default the domain's own.

        Returns:
            One number per x, in the units of the domain to the power k.
        """
        k, circular = loss_exponent(loss), self._circular(distance)
        return np.asarray(self.domain.width**k * self._error(self._unit(x), k, circular))[()]

    def worst_error(self, loss: str | float = "l2", distance: str | None = None) -> float:
        """Give the largest error over the whole domain.

        Args:
            loss: As in `error`.
            distance: As in `error`.

        Returns:
            The supremum.
        """
        k, circular = loss_exponent(loss), self._circular(distance)
        return self.domain.width**k * _largest(lambda t: self._error(t, k, circular))

    def bias(self, x: ArrayLike) -> FloatArray:
        """Give E[y] − x, for reports as numbers on the line.

        Args:
            x: Values in the domain.

        Returns:
            One number per x, in the units of the domain.
        """
        return np.asarray(self.domain.width * self._deviation(self._unit(x))[0])[()]

    def variance(self, x: ArrayLike) -> FloatArray:
        """Give the variance of a report.

        Args:
            x: Values in the domain.

        Returns:
            One number per x, in squared units of the domain.
        """
        return np.asarray(self.domain.width**2 * self._variance(self._unit(x)))[()]

    def worst_variance(self) -> float:
        """Give the largest variance over the whole domain.

        Returns:
            The supremum, in squared units of the domain.
        """
        return self.domain.width**2 * _largest(self._variance)

    def _variance(self, t: FloatArray) -> FloatArray:
        first, second = self._deviation(t)
        return np.asarray(np.maximum(second - first * first, 0.0))

    # -- something to deploy ----------------------------------------------------------------------------

    def tabulate(self, inputs: int = 257, cells: int = 1024) -> Rows:
        """Make a reporter of explicit integer rows that follows this law, with ε by counting.

        A truth is rounded to the nearest of evenly spaced inputs. Rounding a row may break the ε of its
        neighbours, so rows are repaired until the counts satisfy it.

        Args:
            inputs: How many rows there are.
            cells: How many equal cells there are; each atom adds one.

        Returns:
            A reporter that can be tallied, estimated, audited and deployed.

        Raises:
            ValueError: If the table would be too small or too large.
            TypeError: If a number is not whole.

        Example:
            >>> from sottovoce.laws import bounded_laplace
            >>> table = bounded_laplace(1.0).tabulate(inputs=65, cells=256)
            >>> table.largest_ratio <= 2.7182818284590455
            True
        """
        from sottovoce.laws.tabulate import tabulate

        return tabulate(self, inputs, cells)

    # -- arguments --------------------------------------------------------------------------------------

    def _unit(self, x: ArrayLike) -> FloatArray:
        return self.domain.to_unit(in_domain(x, self.domain, "x"))

    def _pair(self, x: ArrayLike, y: ArrayLike) -> tuple[FloatArray, FloatArray]:
        reports = np.asarray(as_numbers(y, "y"), dtype=np.float64)
        t, v = np.broadcast_arrays(self._unit(x), self.domain.to_unit(reports))
        return t, v

    def _circular(self, distance: str | None) -> bool:
        if distance is None:
            return self.domain.is_circle
        allowed = ("linear", "circular") if self.domain.is_circle else ("linear",)
        return one_of(distance, "distance", allowed) == "circular"


def interval_domain(domain: DomainLike, name: str) -> Domain:
    """The domain of a law that lives on an interval."""
    domain = as_domain(domain)
    if domain.is_circle:
        sentence = f"{name} is defined on an interval; on a circle use purkayastha or von_mises"
        raise ArgumentError(sentence, argument="domain")
    return domain


def circle_domain(domain: DomainLike, name: str) -> Domain:
    """The domain of a law that lives on a circle."""
    domain = as_domain(domain)
    if not domain.is_circle:
        raise ArgumentError(f"{name} is defined on a circle, got domain={domain!r}", argument="domain")
    return domain


def _largest(f: Callable[[FloatArray], FloatArray]) -> float:
    """max f over [0, 1]: the best of a grid, refined between its neighbours."""
    grid = np.linspace(0.0, 1.0, _GRID)
    values = np.broadcast_to(f(grid), grid.shape)
    best = int(np.argmax(values))
    left, right = grid[[max(best - 1, 0), min(best + 1, _GRID - 1)]].tolist()
    return max(float(values[best]), -lowest(lambda t: -float(f(np.array(t))), left, right)[1])
