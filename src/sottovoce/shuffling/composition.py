"""Several campaigns, or several answers, of the same people: their privacy losses add up.

A curve δ(ε) is that of two distributions P, Q (Zhu, Dong and Wang 2022). Taken at multiples of a step and
joined by lines in e^ε, which lie above it, it belongs to a loss log(P/Q) on those multiples ("connect the
dots", Doroshenko et al. 2022). Losses of independent reports add up, so the laws of the losses are convolved.
All numbers added up are positive, so that roundings stay relative.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sottovoce.arrays import FloatArray

if TYPE_CHECKING:
    from sottovoce.shuffling.privacy_curve import Curve

_DEEPEST = 28.0  # √(−log δ) of the least double
_KNOTS = 64  # up to where δ is
_LEAST = 1e-13
_ROUNDING = 1e-10  # of a sum of products


@dataclass(frozen=True, eq=False)
class _Losses:
    """The law of log(P/Q) under P on multiples −k·step … k·step, and the mass where Q has none."""

    mass: FloatArray
    step: float
    infinite: float

    def convolve(self, other: _Losses) -> _Losses:
        """Both losses, independent, on the same step."""
        total = self.infinite + other.infinite
        return _Losses(np.convolve(self.mass, other.mass), self.step, total)

    def mix(self, other: _Losses, share: float) -> _Losses:
        """The other loss with a probability, this one else, by a lot that everybody sees."""
        infinite = (1 - share) * self.infinite + share * other.infinite
        return _Losses((1 - share) * self.mass + share * other.mass, self.step, infinite)

    def delta(self, epsilon: float) -> float:
        """δ(ε) = P(∞) + E_P[(1 − e^{ε − loss})₊], rounded up."""
        reach = self.mass.size // 2
        losses = self.step * np.arange(-reach, reach + 1)
        over = losses > epsilon
        finite = float(self.mass[over] @ -np.expm1(epsilon - losses[over]))
        return (self.infinite + finite) * (1 + _ROUNDING)


def composed_delta(curves: Sequence[Curve], sampled: int, knots: int = _KNOTS) -> Callable[[float], float]:
    """δ, bounded from above, of independent reports to some campaigns, drawn by a lot that everybody sees.

    Args:
        curves: That of each campaign; the same object may come several times.
        sampled: How many of them a person reports to.
        knots: At how many ε each curve is looked at. More of them cost time and lower the bound a little.
    """
    known, nothing = _on_one_step(curves, knots)
    sums = [nothing]  # of k among the campaigns so far
    for i, curve in enumerate(curves, start=1):
        more = [before.convolve(known[curve]) for before in sums[:sampled]]
        shared = [sums[k].mix(more[k - 1], k / i) for k in range(1, len(sums))]
        sums = [sums[0], *shared, *more[len(shared) :]]
    return sums[sampled].delta


def composed_deltas(
    curves: Sequence[Curve], choices: Sequence[tuple[int, ...]], knots: int
) -> list[Callable[[float], float]]:
    """δ, bounded from above, of independent reports to some of the campaigns, for several choices.

    Args:
        curves: That of each campaign.
        choices: Which of them are reported to, as indices; one may come several times.
        knots: At how many ε each curve is looked at.
    """
    known, nothing = _on_one_step(curves, knots)
    sums: dict[tuple[int, ...], _Losses] = {(): nothing}

    def total(choice: tuple[int, ...]) -> _Losses:
        if choice not in sums:
            sums[choice] = total(choice[:-1]).convolve(known[curves[choice[-1]]])
        return sums[choice]

    return [total(choice).delta for choice in choices]


def _on_one_step(curves: Sequence[Curve], knots: int) -> tuple[dict[Curve, _Losses], _Losses]:
    """The losses of some curves on multiples of the same step, and no loss at all."""
    different = list(dict.fromkeys(curves))
    reach = max(min(1.1 * math.sqrt(2) * depth(_LEAST) * curve.likely, curve.local) for curve in different)
    known = {curve: _losses(curve, reach / knots, knots) for curve in different}
    return known, _Losses(np.ones(1), reach / knots, 0.0)


def _losses(curve: Curve, step: float, knots: int) -> _Losses:
    """The loss whose curve lies on and above the given one.

    With H(e^ε) = δ(ε), −H' is what Q has above; its jumps are the masses. Exchanging the two inputs gives the
    same curve, so P has at −ε what Q has at ε.
    """
    alpha = np.exp(step * np.arange(knots + 1))
    height = np.array([curve.delta(step * i) for i in range(knots + 1)])
    corner = _lower_hull(alpha, height)
    slope = np.append(np.diff(height[corner]) / np.diff(alpha[corner]), 0.0)
    rounding = 16 * 2.0**-53 * (np.abs(slope[1:]) + np.abs(slope[:-1]))
    jumps = np.zeros(knots + 1)
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


def depth(delta: float) -> float:
    """√(−log δ), between 0 and that of the least double: nearly linear in ε.

    Args:
        delta: A number from 0 to 1.
    """
    return math.sqrt(-math.log(min(delta, 1.0))) if delta > 0 else _DEEPEST
