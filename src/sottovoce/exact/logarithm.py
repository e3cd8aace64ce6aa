"""The natural logarithm in steps that every language rounds alike.

`math.log` may differ in its last digit between machines and languages, and a report depends on every digit.
This one is sums, products and quotients of doubles in a fixed order, so numpy and JavaScript give the same
bits. It takes as long for one value as for another, and is off by at most a few units of the last place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

LN2 = 0.6931471805599453
_ROOT = 0.7071067811865476
#: log m = 2s·(1 + s²/3 + s⁴/5 + …) with s = (m − 1)/(m + 1); |s| < 0.172, so the rest is below 2^-60.
_TERMS = range(21, 1, -2)


def natural_log(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """The logarithm of positive normal doubles.

    Args:
        x: Numbers; −∞ for those that are not positive, NaN for NaN.

    Returns:
        One logarithm each.

    Example:
        >>> natural_log(np.array([1.0, 2.0, 0.5])).tolist()
        [0.0, 0.6931471805599453, -0.6931471805599453]
    """
    with np.errstate(all="ignore"):
        fraction, exponent = np.frexp(x)  # x = fraction · 2^exponent, a half ≤ fraction < 1
        small = np.asarray(fraction < _ROOT, dtype=np.float64)
        m, k = fraction * (1.0 + small), exponent - small
        s = (m - 1.0) / (m + 1.0)
        z = s * s
        series = np.zeros_like(z)
        for odd in _TERMS:
            series = (series + 1.0 / odd) * z
        return np.where(x <= 0, -np.inf, k * LN2 + 2.0 * (s + s * series))
