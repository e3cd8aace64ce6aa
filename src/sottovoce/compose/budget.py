"""Dividing ε among mechanisms: the least weighted total of their worst-case errors.

    s = split_budget(2.0, [partial(sv.ogpm, domain=(0, 1)), partial(sv.ogpm, domain=sv.Circle())], "l2")
    s.epsilons, s.total
    s.plot()                 # the curve that was optimised

A report that consists of independent reports of ε₁, …, ε_d is (ε₁ + … + ε_d)-LDP. Error curves need be
neither convex nor smooth, so the minimum is sought globally: every curve is tabulated, the best division on a
fine grid follows by dynamic programming, and the curves are tabulated again around it until the exact errors
agree with the table.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, Protocol

import numpy as np

from sottovoce.core.errors import MIN_EPSILON, check_epsilon, positive_number
from sottovoce.core.exact import rational_epsilon
from sottovoce.core.kernels.tables import FloatArray

Loss = str | float | Callable[[Any], float]
_FIRST = 13  # points of a curve before anything is known
_ROUNDS = 6


class Build(Protocol):
    """Anything that makes a mechanism from its ε."""

    def __call__(self, epsilon: float) -> Any: ...


class Curve:
    """The error of one mechanism as a function of its ε: exact where it was computed, smooth between."""

    def __init__(self, build: Build, loss: Loss, least: float, most: float) -> None:
        self._error = _error_of(build, loss)
        self._known: dict[float, float] = {}
        self._smooth: Any = None
        self.add(np.geomspace(least, most, _FIRST) if most > least else [most])

    def add(self, epsilons: Sequence[float] | FloatArray) -> None:
        for epsilon in epsilons:
            self.at(float(epsilon))

    def at(self, epsilon: float) -> float:
        """The exact error, computed once."""
        if epsilon not in self._known:
            self._known[epsilon] = self._error(epsilon)
            self._smooth = None
        return self._known[epsilon]

    @property
    def points(self) -> tuple[FloatArray, FloatArray]:
        """Where it was computed, and what was found."""
        epsilon = np.array(sorted(self._known))
        return epsilon, np.array([self._known[e] for e in epsilon.tolist()])

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


@dataclass(frozen=True)
class Split:
    """How ε was divided. `errors` are exact and unweighted; `total` is their weighted sum.

    `epsilons` are the parts of ε, in the order of the mechanisms, `weights` what their errors count, `curves`
    the error of each as a function of its ε.
    """

    epsilon: float
    epsilons: tuple[float, ...]
    errors: tuple[float, ...]
    weights: tuple[float, ...]
    curves: tuple[Curve, ...]

    @property
    def total(self) -> float:
        """The weighted sum of the errors: what was made least."""
        return float(np.dot(self.weights, self.errors))

    def curve(self, attribute: int = 0, points: int = 200) -> tuple[FloatArray, FloatArray]:
        """ε of one attribute against the total when the others share the rest as well as they can.

        `attribute` says which one, `points` how many points of it at least.
        """
        d, least = len(self.epsilons), min(curve.points[0][0] for curve in self.curves)
        if d == 1:
            raise ValueError("there is nothing to divide between one attribute")
        grid, tables = _tables(self.curves, self.weights, self.epsilon, max(points, 8 * d))
        rest = tables[:attribute] + tables[attribute + 1 :]
        others, _ = _divide(rest)
        own = np.arange(1, len(grid) - (d - 1) + 1)
        total = tables[attribute][own - 1] + others[len(grid) - own - 1]
        keep = grid[own - 1] >= least
        return grid[own - 1][keep], total[keep]

    def plot(self, attribute: int = 0, ax: Any = None) -> Any:
        """The curve that was optimised, with the optimum marked; returns matplotlib's axes.

        `attribute` says whose ε is on the axis.
        """
        from sottovoce.estimates.pictures import new_axes

        ax = new_axes(polar=False) if ax is None else ax
        ax.plot(*self.curve(attribute), color="C0")
        ax.plot(self.epsilons[attribute], self.total, "o", color="C3")
        ax.set_xlabel(f"ε of attribute {attribute} (of {self.epsilon:g} in all)")
        ax.set_ylabel("weighted total of worst-case errors")
        return ax


def split_budget(
    epsilon: float,
    mechanisms: Sequence[Build],
    losses: Loss | Sequence[Loss] = "l2",
    *,
    weights: Sequence[float] | None = None,
) -> Split:
    """Divide ε among mechanisms so that the weighted total of their worst-case errors is least.

    `mechanisms` are functions of ε, such as `functools.partial(sv.ogpm, domain=(0, 24))`. A loss is "l1",
    "l2", a number k ≥ 1, "variance", or any function of a mechanism; one for all or one each.
    `losses` names them, `weights` says how much each error counts (alike if not given).

    >>> from functools import partial
    >>> from sottovoce.designs.classic import ogpm
    >>> from sottovoce.core.domains import Circle
    >>> parts = [partial(ogpm, loss="l2", cells=256), partial(ogpm, domain=Circle(), loss="l2", cells=256)]
    >>> [round(e, 2) for e in split_budget(1 + 2 * math.pi, parts).epsilons]
    [1.53, 5.75]
    """
    epsilon, d = check_epsilon(epsilon), len(mechanisms)
    if d == 0:
        raise ValueError("mechanisms must not be empty")
    if not all(callable(build) for build in mechanisms):
        raise TypeError(
            "mechanisms must be functions of epsilon, such as functools.partial(sv.ogpm, domain=...)"
        )
    least = max(MIN_EPSILON, epsilon / (50 * d))
    if d * MIN_EPSILON > epsilon:
        raise ValueError(f"epsilon={epsilon!r} is too small to split into {d}: each needs {MIN_EPSILON}")
    chosen = _losses(losses, d)
    scale = [positive_number(w, "weights") for w in (weights if weights is not None else [1.0] * d)]
    if len(scale) != d:
        raise ValueError(f"weights must have one entry per mechanism, got {len(scale)} for {d}")
    most, made = epsilon - (d - 1) * least, {}
    for build, loss in zip(mechanisms, chosen, strict=True):
        if _name(build, loss) not in made:
            made[_name(build, loss)] = Curve(build, loss, least, most)
    curves = tuple(made[_name(build, loss)] for build, loss in zip(mechanisms, chosen, strict=True))
    shares = _search(epsilon, curves, scale, least)
    exact = shares_within(shares, epsilon)
    errors = tuple(curve.at(share) for curve, share in zip(curves, exact, strict=True))
    return Split(epsilon, exact, errors, tuple(scale), curves)


def shares_within(shares: Sequence[float], epsilon: float) -> tuple[float, ...]:
    """The shares as doubles whose exact rational sum is at most ε: each loses an ulp or two where needed."""
    out, limit = [float(s) for s in shares], rational_epsilon(epsilon)
    while sum((rational_epsilon(s) for s in out), Fraction(0)) > limit:
        out = [math.nextafter(s, 0.0) for s in out]
    return tuple(out)


def _search(epsilon: float, curves: tuple[Curve, ...], weights: list[float], least: float) -> list[float]:
    """Grid, polish, tabulate again where the optimum is; the best division whose errors are exact wins."""
    even = [epsilon / len(curves)] * len(curves)
    best = sum(w * c.at(s) for w, c, s in zip(weights, curves, even, strict=True)), even
    for _ in range(_ROUNDS):
        shares = _polish(epsilon, curves, weights, _on_grid(epsilon, curves, weights), least)
        guess = float(sum(w * c(np.array(s)) for w, c, s in zip(weights, curves, shares, strict=True)))
        total = sum(w * c.at(s) for w, c, s in zip(weights, curves, shares, strict=True))
        if total < best[0]:
            best = total, shares
        if abs(total - guess) <= 1e-7 * total:
            break
        for curve, share in zip(curves, shares, strict=True):
            curve.add([s for s in (share * 0.96, share * 1.04) if least <= s <= epsilon])
    return best[1]


def _on_grid(epsilon: float, curves: Sequence[Curve], weights: Sequence[float]) -> list[float]:
    grid, tables = _tables(curves, weights, epsilon, max(240, 8 * len(curves)))
    _, choices = _divide(tables)
    left, shares = len(grid), []
    for choice in reversed(choices):
        units = int(choice[left - 1])
        shares.append(float(grid[units - 1]))
        left -= units
    return shares[::-1]


def _tables(
    curves: Sequence[Curve], weights: Sequence[float], epsilon: float, units: int
) -> tuple[FloatArray, list[FloatArray]]:
    """Weighted errors at ε·1/units … ε; below what was tabulated a curve is worth nothing."""
    grid = epsilon * np.arange(1, units + 1) / units
    tables = []
    for curve, weight in zip(curves, weights, strict=True):
        known = curve.points[0]
        table = weight * curve(np.clip(grid, known[0], known[-1]))
        tables.append(np.where(grid >= known[0] * (1 - 1e-12), table, np.inf))
    return grid, tables


def _divide(tables: list[FloatArray]) -> tuple[FloatArray, list[Any]]:
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


def _polish(
    epsilon: float, curves: Sequence[Curve], weights: Sequence[float], shares: list[float], least: float
) -> list[float]:
    """From the best grid point downhill between grid points, on the tabulated curves."""
    from scipy.optimize import minimize_scalar

    shares = list(shares)
    for _ in range(3 if len(shares) < 9 else 1):
        for i in range(len(shares) - 1):
            j, both = i + 1, shares[i] + shares[i + 1]

            def total(x: float, i: int = i, j: int = j, both: float = both) -> float:
                return float(weights[i] * curves[i](np.array(x)) + weights[j] * curves[j](np.array(both - x)))

            step = 1.5 * epsilon / max(240, 8 * len(shares))
            low, high = max(least, shares[i] - step), min(both - least, shares[i] + step)
            if high > low:
                found = minimize_scalar(total, bounds=(low, high), method="bounded", options={"xatol": 1e-7})
                if found.fun < total(shares[i]):
                    shares[i], shares[j] = float(found.x), both - float(found.x)
    return shares


def _name(build: Build, loss: Loss) -> tuple[object, ...]:
    """Equal partial functions share one curve."""
    if isinstance(build, partial):
        return build.func, repr(build.args), repr(sorted(build.keywords.items())), repr(loss)
    return build, repr(loss)


def _losses(losses: Loss | Sequence[Loss], d: int) -> list[Loss]:
    if isinstance(losses, str) or not isinstance(losses, Sequence):
        return [losses] * d
    if len(losses) != d:
        raise ValueError(f"losses must have one entry per mechanism, got {len(losses)} for {d}")
    return list(losses)


def _error_of(build: Build, loss: Loss) -> Callable[[float], float]:
    if callable(loss):
        return lambda epsilon: float(loss(build(epsilon=epsilon)))
    if loss == "variance":
        return lambda epsilon: float(build(epsilon=epsilon).worst_variance())
    return lambda epsilon: float(build(epsilon=epsilon).worst_error(loss))
