"""One attribute of many: which mechanism it gets, and what a person's report of it is worth.

`worth(m)` is the variance that one person adds to the estimate of the attribute's mean, in units of the
domain's width, in the worst case over all truths. When only a share s of the people report the attribute,
the mean of those who do estimates the mean of all with variance per person

    V(x)/s + (1/s − 1)·(x − x̄)²        averaged over the people

(noise, and the luck of who is asked). For a mechanism that is symmetric about the middle the worst truth is
an even pair around the middle, so the worst case is max over x of V(x)/s + (1/s − 1)(x − ½)².

On a circle the mean is that of e^{ix}: a report e^{iy}/ρ is unbiased for it, with ρ = E cos(y − x), and the
variance is at most 1/(sρ²) − 1, here divided by (2π)² as the width is 2π.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from sottovoce.designs.build import uniform_window
from sottovoce.designs.optimal import optimal
from sottovoce.domains import Domain, Interval
from sottovoce.kernels.tables import FloatArray
from sottovoce.mechanism import Mechanism

CIRCLE_CELLS = 2**12
_GRID = 2001


def attribute_mechanism(epsilon: float, domain: Domain) -> Mechanism:
    """The default: the unbiased mechanism of least variance; on a circle the one of largest E cos(y − x)."""
    if domain.is_circle:
        return _cosine_window(epsilon, domain)
    return Mechanism(epsilon, domain, _unit(epsilon).window)


@lru_cache(maxsize=256)
def _unit(epsilon: float) -> Mechanism:
    return optimal(epsilon, Interval(0, 1), "l2", unbiased=True)


def _cosine_window(epsilon: float, domain: Domain) -> Mechanism:
    """A window of half-width c around the truth: ρ = sin(c)·(E − 1)/(π + c(E − 1)) is largest.

    By the bathtub argument no ε-LDP mechanism on the circle has a larger ρ.
    """
    from scipy.optimize import minimize_scalar

    gain = math.expm1(epsilon)
    found = minimize_scalar(
        lambda c: -math.sin(c) / (math.pi + c * gain), bounds=(1e-9, math.pi / 2), method="bounded",
        options={"xatol": 1e-12},
    )  # fmt: skip
    mass = math.pi / (math.pi + float(found.x) * gain)
    return uniform_window(epsilon, domain, mass=mass, cells=CIRCLE_CELLS)


def resultant(m: Mechanism) -> float:
    """ρ = E cos(y − x) on a circle, at the middle of a cell."""
    angle = 2 * math.pi * m.window.v
    t = float(m.window.v[0])
    x = float(m.domain.from_unit(t))
    return float(m.probabilities([x])[0] @ np.cos(angle - 2 * math.pi * t))


def worth(m: Mechanism, share: float = 1.0) -> float:
    """Variance per person of the estimated mean in the worst case, in squared widths of the domain."""
    if m.domain.is_circle:
        return (1 / (share * resultant(m) ** 2) - 1) / (2 * math.pi) ** 2
    if share == 1.0:
        return m.worst_variance() / m.domain.width**2
    return float(np.max(variance_curve(m) / share + (1 / share - 1) * (_unit_grid() - 0.5) ** 2))


@lru_cache(maxsize=256)
def variance_curve(m: Mechanism) -> FloatArray:
    """V(x) in squared widths, on an even grid of the domain that holds both ends and the middle."""
    x = np.clip(m.domain.from_unit(_unit_grid()), m.domain.low, m.domain.high)
    return np.asarray(m.variance(x)) / m.domain.width**2


def _unit_grid() -> FloatArray:
    return np.linspace(0, 1, _GRID)
