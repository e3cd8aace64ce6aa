"""Dividing ε among mechanisms: the least weighted total of their worst-case errors.

    s = split_budget(2.0, [partial(sv.ogpm, domain=(0, 1)), partial(sv.ogpm, domain=sv.Circle())], "l2")
    s.epsilons, s.total
    s.plot()                 # the curve that was optimised

A report that consists of independent reports of ε₁, …, ε_d is (ε₁ + … + ε_d)-LDP. How the least total is
found is in `surveys.error_curves`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Protocol, TypeVar

import numpy as np

from sottovoce.arrays import FloatArray
from sottovoce.errors import (
    MIN_EPSILON,
    ArgumentError,
    ArgumentTypeError,
    check_epsilon,
    positive_number,
)
from sottovoce.exact.rational_bounds import rational_epsilon
from sottovoce.notebook import Shown
from sottovoce.surveys.error_curves import ErrorCurve, best_division, divided, tabulated

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Judged(Protocol):
    """What has worst cases: a mechanism or a law."""

    def worst_error(self, loss: str | float = "l2") -> float: ...

    def worst_variance(self) -> float: ...


M = TypeVar("M", bound=Judged)
Design = Callable[..., M]  # called with epsilon=
Loss = str | float | Callable[[M], float]


@dataclass(frozen=True, repr=False)
class Split(Shown):
    """How ε was divided.

    Attributes:
        epsilon: What was divided.
        epsilons: The part of each mechanism, in their order.
        errors: Their worst-case errors, exact and unweighted.
        weights: How much each error counts.
        curves: The error of each as a function of its ε.
    """

    epsilon: float
    epsilons: tuple[float, ...]
    errors: tuple[float, ...]
    weights: tuple[float, ...]
    curves: tuple[ErrorCurve, ...] = field(repr=False)

    @property
    def total(self) -> float:
        """The weighted sum of the errors: what was made least."""
        return float(np.dot(self.weights, self.errors))

    def curve(self, attribute: int = 0, points: int = 200) -> tuple[FloatArray, FloatArray]:
        """Give the total as a function of one mechanism's ε, the others sharing the rest as well as they can.

        Args:
            attribute: Which mechanism.
            points: How many points the curve has, at least.

        Returns:
            Values of its ε, and the totals.

        Raises:
            ValueError: If there is only one mechanism.
        """
        d, least = len(self.epsilons), min(curve.points[0][0] for curve in self.curves)
        if d == 1:
            raise ArgumentError("there is nothing to divide between one attribute", argument="attribute")
        grid, tables = tabulated(self.curves, self.weights, self.epsilon, max(points, 8 * d))
        others, _ = divided(tables[:attribute] + tables[attribute + 1 :])
        own = np.arange(1, len(grid) - (d - 1) + 1)
        total = tables[attribute][own - 1] + others[len(grid) - own - 1]
        keep = grid[own - 1] >= least
        return grid[own - 1][keep], total[keep]

    def plot(self, attribute: int = 0, ax: Axes | None = None) -> Axes:
        """Draw the curve that was optimised, with the optimum marked.

        Args:
            attribute: Which mechanism's ε is on the axis.
            ax: Where to draw; new axes if not given.

        Returns:
            The axes.

        Raises:
            MissingExtra: If matplotlib is not installed.
        """
        from sottovoce.plots.distribution_plot import new_axes

        axes: Axes = new_axes(polar=False) if ax is None else ax
        axes.plot(*self.curve(attribute), color="C0")
        axes.plot(self.epsilons[attribute], self.total, "o", color="C3")
        axes.set_xlabel(f"ε of attribute {attribute} (of {self.epsilon:g} in all)")
        axes.set_ylabel("weighted total of worst-case errors")
        return axes


def split_budget(
    epsilon: float,
    mechanisms: Sequence[Design[M]],
    losses: Loss[M] | Sequence[Loss[M]] = "l2",
    *,
    weights: Sequence[float] | None = None,
) -> Split:
    """Divide ε among mechanisms so that the weighted total of their worst-case errors is least.

    Args:
        epsilon: What all of them together may cost.
        mechanisms: Functions of ε, such as `functools.partial(sv.ogpm, domain=(0, 24))`. One that is there
            several times is computed once.
        losses: "l1", "l2", a number k ≥ 1, "variance", or a function of a mechanism; one for all or one each.
        weights: How much each error counts; alike if not given.

    Returns:
        The parts of ε, whose exact sum is at most ε, and the errors.

    Raises:
        ValueError: If ε is too small to divide, there are no mechanisms, or losses or weights do not fit.
        TypeError: If a mechanism is not a function of ε.

    Example:
        >>> from functools import partial
        >>> from sottovoce.designs.classic import ogpm
        >>> from sottovoce.values.circle import Circle
        >>> parts = [partial(ogpm, cells=256), partial(ogpm, domain=Circle(), cells=256)]
        >>> [round(e, 2) for e in split_budget(1 + 2 * math.pi, parts).epsilons]
        [1.53, 5.75]
    """
    epsilon, d = check_epsilon(epsilon), len(mechanisms)
    if d == 0:
        raise ArgumentError("mechanisms must not be empty", argument="mechanisms")
    if not all(callable(design) for design in mechanisms):
        sentence = "mechanisms must be functions of epsilon, such as functools.partial(sv.ogpm, domain=...)"
        raise ArgumentTypeError(sentence, argument="mechanisms")
    if d * MIN_EPSILON > epsilon:
        sentence = f"epsilon={epsilon!r} is too small to split into {d}: each needs {MIN_EPSILON}"
        raise ArgumentError(sentence, argument="epsilon")
    scale = [positive_number(w, "weights") for w in (weights if weights is not None else [1.0] * d)]
    if len(scale) != d:
        sentence = f"weights must have one entry per mechanism, got {len(scale)} for {d}"
        raise ArgumentError(sentence, argument="weights")
    least = max(MIN_EPSILON, epsilon / (50 * d))

    @cache
    def curve_of(design: Design[M], loss: Loss[M]) -> ErrorCurve:
        return ErrorCurve(_error_of(design, loss), least, epsilon - (d - 1) * least)

    curves = tuple(map(curve_of, mechanisms, _losses(losses, d)))
    shares = shares_within(best_division(epsilon, curves, scale, least), epsilon)
    errors = tuple(curve.at(share) for curve, share in zip(curves, shares, strict=True))
    return Split(epsilon, shares, errors, tuple(scale), curves)


def shares_within(shares: Sequence[float], epsilon: float) -> tuple[float, ...]:
    """The shares as doubles whose exact rational sum is at most ε: each loses an ulp or two where needed."""
    out, limit = [float(s) for s in shares], rational_epsilon(epsilon)
    while sum((rational_epsilon(s) for s in out), Fraction(0)) > limit:
        out = [math.nextafter(s, 0.0) for s in out]
    return tuple(out)


def _losses(losses: Loss[M] | Sequence[Loss[M]], d: int) -> list[Loss[M]]:
    if isinstance(losses, str) or not isinstance(losses, Sequence):
        return [losses] * d
    if len(losses) != d:
        sentence = f"losses must have one entry per mechanism, got {len(losses)} for {d}"
        raise ArgumentError(sentence, argument="losses")
    return list(losses)


def _error_of(design: Design[M], loss: Loss[M]) -> Callable[[float], float]:
    if callable(loss):
        return lambda epsilon: float(loss(design(epsilon=epsilon)))
    if loss == "variance":
        return lambda epsilon: float(design(epsilon=epsilon).worst_variance())
    return lambda epsilon: float(design(epsilon=epsilon).worst_error(loss))
