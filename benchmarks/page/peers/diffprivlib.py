"""A catalogue of mechanisms (IBM), one value a call; noise in floats from the system's random source."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

DISTRIBUTIONS = ("diffprivlib",)
# 0.6.6 imports names from scikit-learn that 1.8 no longer has.
REQUIRES = ("diffprivlib>=0.6.6", "scikit-learn<1.8")

Run = Callable[[Any], Any]


def _each(name: str, epsilon: float, **options: Any) -> Run:
    from diffprivlib import mechanisms

    randomise = getattr(mechanisms, name)(epsilon=epsilon, sensitivity=1.0, **options).randomise
    return lambda x: [randomise(value) for value in x.tolist()]


def laplace(epsilon: float) -> Run:
    """`Laplace`: the sum of four samples, against attacks on the floats"""
    return _each("Laplace", epsilon)


def truncated(epsilon: float) -> Run:
    """`LaplaceTruncated`: what falls outside [0, 1] becomes its end"""
    return _each("LaplaceTruncated", epsilon, lower=0, upper=1)


def bounded(epsilon: float) -> Run:
    """`LaplaceBoundedDomain`: drawn again until it falls into [0, 1], at the scale that keeps ε"""
    return _each("LaplaceBoundedDomain", epsilon, lower=0, upper=1)


def snapping(epsilon: float) -> Run:
    """`Snapping`: Laplace snapped to a grid (Mironov 2012), private also in floats"""
    return _each("Snapping", epsilon, lower=0, upper=1)


def staircase(epsilon: float) -> Run:
    """`Staircase` noise (Geng and Viswanath) with its default step"""
    return _each("Staircase", epsilon)


def geometric(epsilon: float) -> Run:
    """`GeometricTruncated` on integers, the value rounded to 1/100, cut off at the ends"""
    from diffprivlib import mechanisms

    randomise = mechanisms.GeometricTruncated(epsilon=epsilon, sensitivity=100, lower=0, upper=100).randomise
    return lambda x: [randomise(value) / 100 for value in (x * 100).round().astype(int).tolist()]


PRIVATISERS = {
    "Laplace": laplace,
    "Laplace, truncated": truncated,
    "Laplace, bounded domain": bounded,
    "snapping": snapping,
    "staircase": staircase,
    "geometric, truncated": geometric,
}
LAWS = {
    "Laplace": "Laplace",
    "Laplace, truncated": "Laplace, truncated",
    "Laplace, bounded domain": "Laplace, bounded",
    "staircase": "staircase",
}
