"""Formulas of the central mechanisms, in floating point: for analysis only, never for sampling.

One person's value is 1 unit (M grid steps); b = e^−ε. The staircase and its two-dimensional cousin are
mixtures of uniform laws on balls of radius γ + t with weight ∝ b^t·volume, which gives every moment.
Equations are those of Kulesza, Suresh and Wang (2024), with their misprints corrected.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sottovoce.core.domains import FloatArray
from sottovoce.core.errors import check_epsilon


def sigma2(epsilon: float) -> float:
    """Eq. (2): no ε-DP mean has a worst-case n²·MSE below σ²(ε)·(high − low)², up to o(1).

    >>> round(sigma2(1.0), 5), round(sigma2(8.0), 8)
    (1.9181, 0.00337983)
    """
    epsilon = check_epsilon(epsilon)
    b = math.exp(-epsilon)
    return (2 ** (-2 / 3) * b ** (2 / 3) * (1 + b) ** (2 / 3) + b) / math.expm1(-epsilon) ** 2


def optimal_gamma(epsilon: float) -> float:
    """γ of least variance for the staircase: Eq. (50) of Geng and Viswanath, simplified.

    >>> round(optimal_gamma(1.0), 4)
    0.4167
    """
    b = math.exp(-epsilon)
    return ((b * (1 + b) / 2) ** (1 / 3) - b) / -math.expm1(-epsilon)


def ladder_moment(power: int, epsilon: float, gamma: Any) -> Any:
    """Σ_{t ≥ 0} b^t·(γ + t)^power."""
    b, c = math.exp(-epsilon), -math.expm1(-epsilon)
    sums = [1 / c, b / c**2, b * (1 + b) / c**3, b * (1 + 4 * b + b * b) / c**4]
    sums.append(b * (1 + 11 * b + 11 * b**2 + b**3) / c**5)
    return sum(math.comb(power, i) * gamma ** (power - i) * sums[i] for i in range(power + 1))


def staircase_variance(epsilon: float, gamma: float | None = None) -> float:
    """Variance of the staircase; with the optimal γ it is `sigma2`."""
    gamma = optimal_gamma(epsilon) if gamma is None else gamma
    return float(ladder_moment(3, epsilon, gamma)) / (3 * ladder_moment(1, epsilon, gamma))


def staircase_level(x: ArrayLike, gamma: float) -> FloatArray:
    """J(x): ⌊x + 1 − γ⌋ for x ≥ 0, mirrored below."""
    x = np.asarray(x, dtype=np.float64)
    return np.copysign(np.floor(np.abs(x) + 1 - gamma), x) + 0.0


def staircase_density(x: ArrayLike, epsilon: float, gamma: float | None = None) -> FloatArray:
    """Eq. (11): a(γ)·e^(−ε·|J(x)|). Both marginals of the hourglass (Lemma 3)."""
    gamma = optimal_gamma(epsilon) if gamma is None else gamma
    return _peak(epsilon, gamma) * np.exp(-epsilon * np.abs(staircase_level(x, gamma)))


def _peak(epsilon: float, gamma: float) -> float:
    """a(γ) of Definition 2."""
    return -math.expm1(-epsilon) / (2 * (gamma + math.exp(-epsilon) * (1 - gamma)))


def hourglass_density(x: ArrayLike, k: ArrayLike, epsilon: float, gamma: float | None = None) -> FloatArray:
    """Eq. (7): density at (x, k − x), along the diagonal that sums to the integer k."""
    gamma = optimal_gamma(epsilon) if gamma is None else gamma
    level = staircase_level(x, gamma)
    exponent = np.abs(level) + np.abs(np.asarray(k) - level)
    return _peak(epsilon, gamma) * math.tanh(epsilon / 2) * np.exp(-epsilon * exponent)


def hourglass_conditional(
    k: ArrayLike, x: ArrayLike, epsilon: float, gamma: float | None = None
) -> FloatArray:
    """Lemma 4, corrected: given x, k = x + y is two-sided geometric about J(x), not about ⌈x + 1 − γ⌉."""
    gamma = optimal_gamma(epsilon) if gamma is None else gamma
    distance = np.abs(np.asarray(k) - staircase_level(x, gamma))
    return math.tanh(epsilon / 2) * np.exp(-epsilon * distance)


def staircase2d_density(x: ArrayLike, y: ArrayLike, epsilon: float, gamma: float | None = None) -> FloatArray:
    """Definition 3, with the normaliser of `staircase2d_normaliser`."""
    gamma = optimal_gamma_2d(epsilon) if gamma is None else gamma
    radius = np.abs(np.asarray(x, dtype=np.float64)) + np.abs(np.asarray(y, dtype=np.float64))
    return staircase2d_normaliser(epsilon, gamma) * np.exp(-epsilon * staircase_level(radius, gamma))


def staircase2d_normaliser(epsilon: float, gamma: float) -> float:
    """a(γ) of Definition 3; its first term is printed without a factor 2.

    (1 − b)² / (2·(2b(b + (1 − b)γ) + (1 − b)(b + (1 − b)γ²)))
    """
    b = math.exp(-epsilon)
    c = -math.expm1(-epsilon)
    return c * c / (2 * (2 * b * (b + c * gamma) + c * (b + c * gamma**2)))


def staircase2d_variance(epsilon: float, gamma: float | None = None) -> float:
    """Variance of one coordinate: a diamond of radius R has R²/6. The coordinates are uncorrelated."""
    gamma = optimal_gamma_2d(epsilon) if gamma is None else gamma
    return float(ladder_moment(4, epsilon, gamma)) / (6 * ladder_moment(2, epsilon, gamma))


@lru_cache(maxsize=256)
def optimal_gamma_2d(epsilon: float) -> float:
    """γ of least variance for the two-dimensional staircase.

    >>> round(optimal_gamma_2d(4.0), 3)
    0.391
    """
    from scipy.optimize import minimize_scalar

    found = minimize_scalar(
        lambda gamma: staircase2d_variance(epsilon, gamma), bounds=(0.0, 1.0), method="bounded"
    )
    return float(found.x)


def hourglass_products(epsilon: float, gamma: float) -> tuple[float, float]:
    """E[x·J] and E[J²] of the staircase's x and its level J."""
    b, c, peak = math.exp(-epsilon), -math.expm1(-epsilon), _peak(epsilon, gamma)
    first, second = b / c**2, b * (1 + b) / c**3  # Σ a·b^a, Σ a²·b^a
    return 2 * peak * (second + (gamma - 0.5) * first), 2 * peak * second


def pivot_variance(
    mechanism: str, epsilon: float, mean: ArrayLike, *, origin: float = 0.0, gamma: float | None = None
) -> FloatArray:
    """Variance of (noise of the sum) − mean·(noise of the count): n²·MSE of the mean, up to o(1).

    `mean` lies in [0, 1]; `origin` is low/(high − low), for "independent" (Algorithm 1) only.
    """
    mean = np.asarray(mean, dtype=np.float64)
    if mechanism in ("independent", "shifted"):
        origin = origin if mechanism == "independent" else -0.5
        reach = max(abs(origin), abs(origin + 1))
        return 8 * (reach / epsilon) ** 2 + (mean + origin) ** 2 * discrete_laplace_variance(epsilon / 2)
    if mechanism == "transformed":
        return ((1 - mean) ** 2 + mean**2) * 2 / epsilon**2
    if mechanism == "staircase2d":
        return ((1 - mean) ** 2 + mean**2) * staircase2d_variance(epsilon, gamma)
    gamma = optimal_gamma(epsilon) if gamma is None else gamma
    variance = staircase_variance(epsilon, gamma)
    if mechanism == "swap":
        return variance + 0 * mean
    if mechanism == "hourglass":
        cross, square = hourglass_products(epsilon, gamma)
        size = square + discrete_laplace_variance(epsilon)
        return variance - 2 * mean * cross + mean**2 * size
    raise ValueError(f"mechanism must be a name of a central mechanism, got mechanism={mechanism!r}")


def discrete_laplace_variance(rate: float) -> float:
    """Variance of the two-sided geometric law: 2b/(1 − b)²."""
    return 2 * math.exp(-rate) / math.expm1(-rate) ** 2
