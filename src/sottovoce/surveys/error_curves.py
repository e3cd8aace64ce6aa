"""Error curves over ε, and the division of ε at which their weighted sum is least.

Error curves need be neither convex nor smooth, so the minimum is sought globally: every curve is tabulated,
the best division on a fine grid follows by dynamic programming, and the curves are tabulated again around it
until the exact errors agree with the table.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from sottovoce.arrays import FloatArray, IntArray
from sottovoce.designs.solver.roots import lowest

_FIRST = 13  # points of a curve before anything is known
_ROUNDS = 6


class ErrorCurve:
    """The error of one mechanism as a function of its ε: exact where it was computed, smooth between."""

    def __init__(self, error: Callable[[float], float], least: float, most: float) -> None:
        self._error = error
        self._errors: dict[float, float] = {}
        self._smooth: Callable[[FloatArray], FloatArray] | None = None
        for epsilon in np.geomspace(least, most, _FIRST) if most > least else [most]:
            self.at(float(epsilon))

    def at(self, epsilon: float) -> float:
        """The exact error, computed once."""
        if epsilon not in self._errors:
            self._errors[epsilon] = self._error(epsilon)
            self._smooth = None
        return self._errors[epsilon]

    @property
    def points(self) -> tuple[FloatArray, FloatArray]:
        """Where it was computed, increasing, and the errors there."""
        epsilon = np.array(sorted(self._errors))
        return epsilon, np.array([self._errors[e] for e in epsilon.tolist()])

    def knows(self, epsilon: float) -> bool:
        """True if the error was computed within a hundredth of ε: another there would tell no more."""
        return bool(np.abs(self.points[0] / epsilon - 1).min() < 0.01)

    def __call__(self, epsilon: FloatArray) -> FloatArray:
        if self._smooth is None:
            self._smooth = self._interpolated()
        return np.asarray(self._smooth(np.log(epsilon)))

    def _interpolated(self) -> Callable[[FloatArray], FloatArray]:
        from scipy.interpolate import PchipInterpolator

        x, y = self.points
        if len(x) == 1:
            return lambda log: np.full(np.shape(log), y[0])
        if (y <= 0).any():
            return PchipInterpolator(np.log(x), y)
        smooth = PchipInterpolator(np.log(x), np.log(y))
        return lambda log: np.exp(smooth(log))


def best_division(
    epsilon: float, curves: Sequence[ErrorCurve], weights: Sequence[float], least: float
) -> Sequence[float]:
    """Grid, descent, tabulate again where the optimum is; the best division whose errors are exact wins."""

    def exact(shares: Sequence[float]) -> float:
        return sum(w * c.at(s) for w, c, s in zip(weights, curves, shares, strict=True))

    def interpolated(shares: Sequence[float]) -> float:
        return float(sum(w * c(np.array(s)) for w, c, s in zip(weights, curves, shares, strict=True)))

    best: Sequence[float] = [epsilon / len(curves)] * len(curves)
    least_total, units = exact(best), max(240, 8 * len(curves))
    for _ in range(_ROUNDS):
        shares = _on_grid(epsilon, curves, weights, units)
        shares = _descended(curves, weights, shares, least, 1.5 * epsilon / units)
        guess, total = (
            interpolated(shares),
            exact(shares),
        )  # in this order: exact errors become part of a curve
        if total < least_total:
            best, least_total = shares, total
        if abs(total - guess) <= 1e-7 * total:
            break
        for curve, share in zip(curves, shares, strict=True):
            for near in (share * 0.96, share * 1.04):
                if least <= near <= epsilon and not curve.knows(near):
                    curve.at(near)
    return best


def _on_grid(
    epsilon: float, curves: Sequence[ErrorCurve], weights: Sequence[float], units: int
) -> list[float]:
    """The best division into whole units of ε/units, on the interpolated curves."""
    grid, tables = tabulated(curves, weights, epsilon, units)
    _, choices = divided(tables)
    left, shares = len(grid), []
    for choice in reversed(choices):
        own = int(choice[left - 1])
        shares.append(float(grid[own - 1]))
        left -= own
    return shares[::-1]


def tabulated(
    curves: Sequence[ErrorCurve], weights: Sequence[float], epsilon: float, units: int
) -> tuple[FloatArray, list[FloatArray]]:
    """Weighted errors at ε·1/units … ε; below what was tabulated a curve is worth nothing."""
    grid = epsilon * np.arange(1, units + 1) / units
    tables = []
    for curve, weight in zip(curves, weights, strict=True):
        known = curve.points[0]
        table = weight * curve(np.clip(grid, known[0], known[-1]))
        tables.append(np.where(grid >= known[0] * (1 - 1e-12), table, np.inf))
    return grid, tables


def divided(tables: list[FloatArray]) -> tuple[FloatArray, list[IntArray]]:
    """Min-plus convolution: the least total for each number of units, and each table's own units in it."""
    units = len(tables[0])
    best, choices = tables[0], [np.arange(1, units + 1)]
    for table in tables[1:]:
        following, choice = np.full(units, np.inf), np.ones(units, dtype=np.int64)
        for total in range(2, units + 1):
            sums = table[: total - 1] + best[total - 2 :: -1]
            own = int(np.argmin(sums))
            following[total - 1], choice[total - 1] = sums[own], own + 1
        best, choices = following, [*choices, choice]
    return best, choices


def _descended(
    curves: Sequence[ErrorCurve], weights: Sequence[float], shares: list[float], least: float, reach: float
) -> list[float]:
    """Coordinate descent from a grid point: neighbours trade ε, each within `reach` of what it had."""
    shares = list(shares)
    for _ in range(3 if len(shares) < 9 else 1):
        for i, j in pairwise(range(len(shares))):
            total = _pair_total(curves[i], curves[j], weights[i], weights[j], shares[i] + shares[j])
            low = max(least, shares[i] - reach)
            high = min(shares[i] + shares[j] - least, shares[i] + reach)
            if high > low:
                share, least_total = lowest(total, low, high, 1e-7)
                if least_total < total(shares[i]):
                    shares[i], shares[j] = share, shares[i] + shares[j] - share
    return shares


def _pair_total(
    first: ErrorCurve, second: ErrorCurve, weight: float, other: float, both: float
) -> Callable[[float], float]:
    """The weighted errors of two mechanisms that share `both`, as a function of the first one's part."""
    return lambda x: float(weight * first(np.array(x)) + other * second(np.array(both - x)))
