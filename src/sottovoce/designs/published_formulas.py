"""The formulas behind the published piecewise mechanisms: what their parameters are. E = e^ε throughout."""

from __future__ import annotations

import math

import numpy as np

from sottovoce.designs.solver.roots import lowest, root
from sottovoce.errors import check_epsilon, loss_exponent


def ogpm_density(epsilon: float, loss: str | float = "l2") -> float:
    """p: the central density on [0, 1] that minimises the worst-case error of a loss.

    >>> round(ogpm_density(1.0), 5)
    1.50933
    """
    epsilon = check_epsilon(epsilon)
    return math.exp(worst_theta(epsilon, loss_exponent(loss)) * epsilon)


def square_wave_reach(epsilon: float) -> float:
    """b of the square wave, by its power series where the closed form would cancel.

    >>> round(square_wave_reach(1e-6), 6), round(square_wave_reach(1.0), 6)
    (0.5, 0.256083)
    """
    if epsilon > 1:
        above = (epsilon - 1) + math.exp(-epsilon)
        below = 2 * (math.expm1(epsilon) - epsilon)
        return above / below
    n = np.arange(2, 30)
    term = np.cumprod(np.concatenate(([0.5], epsilon / n[1:])))  # ε^{n−2}/n!
    return float(((n - 1) * term).sum() / (2 * math.exp(epsilon) * term.sum()))


def ptt_parameters(epsilon: float, q: float) -> tuple[float, float]:
    """(k, a) of I-PTT on [−1, 1]: unbiased and normalised at once."""
    more = math.expm1(epsilon)
    return (more + 1) / (q * more), 1 / ((1 - q) * more)


def ptt_worst_variance(epsilon: float, q: float) -> float:
    """The variance of I-PTT at x = ±1 on [−1, 1]: a uniform part, the window's own, and (k − 1)x²."""
    k, a = ptt_parameters(epsilon, q)
    more = math.expm1(epsilon)
    background = 1 / (2 * more * a * k)
    return background * (2 / 3) * ((k + a) ** 3 + more * a**3) + k - 1


def ptt_optimal_q(epsilon: float) -> float:
    """The q of least worst-case variance.

    >>> round(ptt_optimal_q(1.0), 4)
    0.6784
    """
    return lowest(lambda q: ptt_worst_variance(epsilon, q), 1e-9, 1 - 1e-9)[0]


def worst_theta(epsilon: float, k: float) -> float:
    """θ with p = e^{θε} minimising [w^{k+1}(E−1) + 1]·p: the root of its derivative, free of cancellation."""
    if k == 1:
        return 0.5
    more = math.expm1(epsilon)

    def slope(theta: float) -> float:
        w = math.expm1((1 - theta) * epsilon) / more
        return 1 + more * w ** (k + 1) - (k + 1) * w**k * math.exp((1 - theta) * epsilon)

    return root(slope, 0.0, 1.0)


def theta_at(epsilon: float, k: float, t: float) -> float:
    """θ minimising the error at one point t of [0, 1]."""
    more = math.expm1(epsilon)

    def integral(left: float, right: float) -> float:
        def power(z: float) -> float:
            return math.copysign(abs(z) ** (k + 1), z) / (k + 1)

        return power(right - t) - power(left - t)

    def error(theta: float) -> float:
        w = math.expm1((1 - theta) * epsilon) / more
        left = min(max(t - w / 2, 0.0), 1 - w)
        return math.exp((theta - 1) * epsilon) * (integral(0, 1) + more * integral(left, left + w))

    grid = np.linspace(0, 1, 257).tolist()
    best = grid[int(np.argmin([error(theta) for theta in grid]))]
    return lowest(error, max(0.0, best - 1 / 128), min(1.0, best + 1 / 128))[0]
