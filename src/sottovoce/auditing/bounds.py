"""Numbers known between two bounds, the convolution whose error is known, and where a bound is least.

The error of the FFT is that of Higham, Accuracy and Stability of Numerical Algorithms, Theorem 24.2, with
more than twice its constant.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from sottovoce.core.arrays import FloatArray

UNIT = 2.0**-53
_SPARSE = 1 << 19  # products of so many pairs are added up one by one,
_FEW = 64  # and so many for each of the sums
_GOLDEN = (math.sqrt(5) - 1) / 2


class Bounds(NamedTuple):
    """A number, known to lie between two."""

    lower: float
    upper: float


def lowest(function: Callable[[float], float], high: float) -> float:
    """About where a convex function of numbers from 0 to `high` is least (golden section).

    Args:
        function: The function, which need not be defined at 0.
        high: The end of the range.
    """
    low, left, right = 0.0, (1 - _GOLDEN) * high, _GOLDEN * high
    at_left, at_right = function(left), function(right)
    for _ in range(40):
        if at_left < at_right:
            high, right, at_right = right, left, at_left
            left = high - _GOLDEN * (high - low)
            at_left = function(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + _GOLDEN * (high - low)
            at_right = function(right)
    return (low + high) / 2


def convolved(a: FloatArray, b: FloatArray) -> tuple[FloatArray, float]:
    """The convolution, not negative, and a bound of its ℓ₁ error.

    Args:
        a: Numbers that are not negative.
        b: The same.
    """
    i, j, size = np.flatnonzero(a), np.flatnonzero(b), a.size + b.size - 1
    if i.size * j.size <= min(_SPARSE, _FEW * size):
        places, products = np.add.outer(i, j).ravel(), np.multiply.outer(a[i], b[j]).ravel()
        sums = np.bincount(places, products, size).astype(np.float64)
        return sums, (min(i.size, j.size) + 2) * UNIT * float(sums.sum())
    levels = (size - 1).bit_length()
    length = 1 << levels
    waves = np.fft.rfft(a, length)
    sums = np.fft.irfft(waves * (waves if a is b else np.fft.rfft(b, length)), length)[:size]
    # ‖ifft(Â·δB̂)‖₂ ≤ ‖a‖₁·‖δb‖₂, and ‖·‖₁ ≤ √size·‖·‖₂.
    norms = a.sum() * np.linalg.norm(b) + b.sum() * np.linalg.norm(a) + 2 * np.linalg.norm(sums)
    return np.maximum(sums, 0.0), float(16 * UNIT * levels * math.sqrt(size) * norms)
