"""Several campaigns, or several answers, of the same people: their privacy losses add up.

A curve δ(ε) is that of two distributions P, Q (Zhu, Dong and Wang 2022). Taken at multiples of a step and
joined by lines in e^ε, which lie above it, it belongs to a loss log(P/Q) on those multiples ("connect the
dots", Doroshenko et al. 2022). Losses of independent reports add up, so the laws of the losses are convolved.
All numbers added up are positive, so that roundings stay relative.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sottovoce.core.kernels.tables import FloatArray

if TYPE_CHECKING:
    from sottovoce.auditing.curve import Curve

_KNOTS = 64  # up to where δ is
_LEAST = 1e-13
_ROUNDING = 1e-10  # of a sum of products


@dataclass(frozen=True, eq=False)
class _Losses:
    """The law of log(P/Q) under P on multiples −k·step … k·step, and the mass where Q has none."""

    mass: FloatArray
    step: float
    infinite: float

    def plus(self, other: _Losses) -> _Losses:
        """Both losses, independent, on the same step."""
        total = self.infinite + other.infinite
        return _Losses(np.convolve(self.mass, other.mass), self.step, total)

    def delta(self, epsilon: float) -> float:
        """δ(ε) = P(∞) + E_P[(1 − e^{ε − loss})₊], rounded up."""
        reach = self.mass.size // 2
        losses = self.step * np.arange(-reach, reach + 1)
        over = losses > epsilon
        finite = float(self.mass[over] @ -np.expm1(epsilon - losses[over]))
        return (self.infinite + finite) * (1 + _ROUNDING)


def composed(curves: Sequence[Curve]) -> Curve:
    """The curve of independent reports to several campaigns.

    Args:
        curves: That of each campaign; the same object may come several times.
    """
    from sottovoce.auditing.curve import Curve

    different = list(dict.fromkeys(curves))
    step = max(curve.epsilon(_LEAST) for curve in different) / _KNOTS
    known = {curve: _losses(curve, step) for curve in different}
    total = known[curves[0]]
    for curve in curves[1:]:
        total = total.plus(known[curve])
    return Curve(
        total.delta,
        lambda epsilon: max(curve.below(epsilon) for curve in different),
        math.fsum(curve.local for curve in curves),
        min(curve.people for curve in curves),
        math.hypot(*(curve.likely for curve in curves)),
    )


def _losses(curve: Curve, step: float) -> _Losses:
    """The loss whose curve lies on and above the given one.

    With H(e^ε) = δ(ε), −H' is what Q has above; its jumps are the masses. Exchanging the two inputs gives the
    same curve, so P has at −ε what Q has at ε.
    """
    alpha = np.exp(step * np.arange(_KNOTS + 1))
    height = np.array([curve.delta(step * i) for i in range(_KNOTS + 1)])
    corner = _lower_hull(alpha, height)
    slope = np.append(np.diff(height[corner]) / np.diff(alpha[corner]), 0.0)
    rounding = 16 * 2.0**-53 * (np.abs(slope[1:]) + np.abs(slope[:-1]))
    jumps = np.zeros(_KNOTS + 1)
    jumps[corner[1:]] = np.diff(slope) + rounding
    right, left = jumps[1:] * alpha[1:], jumps[:0:-1]
    infinite = float(height[-1])
    middle = max(0.0, 1.0 - infinite - math.fsum(right) - math.fsum(left)) + 2.0**-50
    return _Losses(np.concatenate((left, [middle], right)), step, infinite)


def _lower_hull(x: FloatArray, y: FloatArray) -> list[int]:
    """Indices of the corners of the largest convex function below some points, first and last among them."""
    corner: list[int] = []
    for i in range(x.size):
        while len(corner) > 1:
            a, b = corner[-2], corner[-1]
            if (y[b] - y[a]) * (x[i] - x[a]) < (y[i] - y[a]) * (x[b] - x[a]):
                break
            corner.pop()
        corner.append(i)
    return corner
