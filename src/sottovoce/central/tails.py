"""How far a mean can be off: tails of (noise of the sum) − α·(noise of the count), α the mean in [0, 1].

If α is the mean of the data, the released sum Ŝ and count N̂ give Ŝ − α·N̂ = the noise alone, so
{α : |Ŝ − α·N̂| ≤ q(α)} with q(α) its quantile is a confidence set that holds at every n, with no
approximation for small ones. `tail` gives P(|noise| > t), never less than the truth: what is left out of
an infinite sum is added as mass beyond t, and for small ε numbers are taken in blocks at their worst end.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from sottovoce.central.analysis import ladder_moment
from sottovoce.core.domains import FloatArray

_NODES = 64  # per half of [0, 1]


@dataclass(frozen=True)
class Law:
    """A mechanism's noise in units of one person.

    `gamma` is that of its staircase (0 if it has none), `origin` that of `SumAndCount` over M.
    """

    mechanism: str
    epsilon: float
    gamma: float = 0.0
    origin: float = 0.0

    @property
    def symmetric(self) -> bool:
        """Whether the sum of j and of M − j are noised alike."""
        return self.mechanism not in ("independent", "shifted")


@lru_cache(maxsize=256)
def quantiles(law: Law, confidence: float) -> FloatArray:
    """q(α) for α = 0, 1/128, …, 1, in units of one person."""
    alpha = np.linspace(0, 1, 2 * _NODES + 1)
    nodes = alpha[: _NODES + 1] if law.symmetric else alpha
    miss = 1 - confidence
    low = np.zeros_like(nodes)
    high = np.full_like(nodes, (2 + abs(law.origin)) * 2 * (3 - math.log(miss)) / min(law.epsilon, 1))
    for _ in range(24):
        middle = (low + high) / 2
        too_far = tail(law, middle, nodes, miss) > miss
        low, high = np.where(too_far, middle, low), np.where(too_far, high, middle)
    return np.concatenate((high, high[-2::-1])) if law.symmetric else high


def tail(law: Law, t: FloatArray, alpha: FloatArray, miss: float) -> FloatArray:
    """P(|noise of the sum − α·noise of the count| > t), to within a thousandth of `miss` from above.

    For mechanisms that treat both ends alike α must be at most ½.
    """
    epsilon, gamma = law.epsilon, law.gamma
    if law.mechanism == "swap":
        return staircase_tail(t, epsilon, gamma)
    if law.mechanism == "transformed":
        return _two_laplace(t, (1 - alpha) / epsilon, alpha / epsilon)
    t, alpha = t[:, None], alpha[:, None]
    if law.mechanism == "staircase2d":
        return _diamonds(t, 1 - 2 * alpha, epsilon, gamma, miss)
    if law.mechanism == "hourglass":
        numbers, mass, rest = _two_sided(epsilon, miss)
        return 2 * (_beyond_levels(t - alpha * numbers, alpha, epsilon, gamma) @ mass) + rest
    numbers, mass, rest = _two_sided(epsilon / 2, miss)
    s = t - np.abs(alpha + law.origin) * numbers
    half = np.exp(-np.abs(s) * epsilon / (2 * max(abs(law.origin), abs(law.origin + 1)))) / 2
    return 2 * (np.where(s > 0, half, 1 - half) @ mass) + rest


def _two_sided(rate: float, miss: float) -> tuple[FloatArray, FloatArray, float]:
    """The two-sided geometric law in blocks: each block's largest number, its mass, and the mass left out."""
    length = max(1, int(0.04 / rate))
    blocks = math.ceil((8 - math.log(miss)) / (rate * length))
    first = 1 + length * np.arange(blocks)
    mass = np.exp(-rate * first) * -math.expm1(-rate * length) / (1 + math.exp(-rate))
    numbers = np.concatenate((-first[::-1], [0], first + length - 1)).astype(np.float64)
    rest = 2 * math.exp(-rate * (1 + length * blocks)) / (1 + math.exp(-rate))
    return numbers, np.concatenate((mass[::-1], [math.tanh(rate / 2)], mass)), rest


def _beyond_levels(s: FloatArray, alpha: FloatArray, epsilon: float, gamma: float) -> FloatArray:
    """P(x − α·J > s) for the staircase's x and its level J, α ≤ ½.

    Level a ≥ 1 spreads x − α·a evenly over the unit that ends at u = a(1 − α) + γ, with mass ∝ b^a; s cuts
    at most two of these units.
    """
    negative = s < 0
    s = np.abs(s)
    b, step = math.exp(-epsilon), 1 - alpha
    peak = -math.expm1(-epsilon) / (2 * (gamma + b * (1 - gamma)))
    found = np.maximum(gamma - s, 0) + b * np.maximum(1 - gamma - step - s, 0)  # levels 0 and −1
    whole = np.maximum(np.ceil((s + 1 - gamma) / step), 1)  # from here on a unit lies beyond s
    found += np.exp(-epsilon * whole) / -math.expm1(-epsilon)
    for back in (1, 2):
        a = whole - back
        found += np.where(a >= 1, np.exp(-epsilon * a) * np.clip(a * step + gamma - s, 0, 1), 0)
    found *= peak
    return np.where(negative, 1 - found, found)


def staircase_tail(t: FloatArray, epsilon: float, gamma: float) -> FloatArray:
    """P(|x| > t) for the staircase."""
    j = np.floor(t + 1 - gamma)
    b = math.exp(-epsilon)
    peak = -math.expm1(-epsilon) / (2 * (gamma + b * (1 - gamma)))
    return 2 * peak * np.exp(-epsilon * j) * (j + gamma - t + b / -math.expm1(-epsilon))


@lru_cache(maxsize=256)
def staircase_quantile(epsilon: float, gamma: float, confidence: float) -> float:
    """What a staircase's noise exceeds with probability 1 − confidence."""
    return float(quantiles(Law("swap", epsilon, gamma), confidence)[0])


def _two_laplace(t: FloatArray, long: FloatArray, short: FloatArray) -> FloatArray:
    """P(|X + Y| > t) for independent Laplace variables of two scales."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        gap = long**2 - short**2
        apart = (long**2 * np.exp(-t / long) - short**2 * np.exp(-t / short)) / gap
        apart = np.where(short == 0, np.exp(-t / long), apart)
    return np.where(gap == 0, (1 + t / (2 * long)) * np.exp(-t / long), apart)


def _diamonds(t: FloatArray, slope: FloatArray, epsilon: float, gamma: float, miss: float) -> FloatArray:
    """P(|(slope·p + q)/2| > t), the two-dimensional staircase being a mixture of squares |p|, |q| ≤ R."""
    length = max(1, int(0.04 / epsilon))
    blocks = math.ceil((16 - math.log(miss)) / (epsilon * length))
    first = length * np.arange(blocks + 1)
    left = (
        np.exp(-epsilon * first) * ladder_moment(2, epsilon, gamma + first) / ladder_moment(2, epsilon, gamma)
    )
    radius = gamma + first[1:] - 1
    w = 2 * t / radius
    sloped = (1 + slope - w) ** 2 / (4 * np.maximum(slope, 1e-300))
    beyond = np.where(w <= 1 - slope, 1 - w, np.where(w < 1 + slope, sloped, 0))
    return beyond @ (left[:-1] - left[1:]) + left[-1]
