"""What a plan imagines people to be like: probabilities of 1024 equal bins of the domain."""

from __future__ import annotations

import numpy as np

from sottovoce.arrays import FloatArray

POINTS = 1024
#: The middles of the bins, in the unit coordinate.
MIDDLES = (np.arange(POINTS) + 0.5) / POINTS


def reference_shapes(circle: bool) -> FloatArray:
    """One skewed hump and two peaks; on a circle a hump across the seam and two peaks. A row each."""
    x = MIDDLES
    if circle:
        one = np.exp(2 * np.cos(2 * np.pi * (x - 0.95)))
        two = np.exp(8 * np.cos(2 * np.pi * (x - 0.3))) + np.exp(8 * np.cos(2 * np.pi * (x - 0.7)))
    else:
        one = x**4 * (1 - x)
        two = np.exp(-(((x - 0.3) / 0.06) ** 2) / 2) / 0.06 + np.exp(-(((x - 0.7) / 0.05) ** 2) / 2) / 0.05
    return np.stack([one / one.sum(), two / two.sum()])


def sample_shape(unit: FloatArray) -> FloatArray:
    """The histogram of some values that stand for the people to come, as the only row."""
    counts = np.histogram(unit, POINTS, (0.0, 1.0))[0]
    return np.asarray((counts / counts.sum())[None, :])
