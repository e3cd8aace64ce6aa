"""What a central mechanism is: exact noise for two integers, and what that noise does to a mean.

The data are two integers: the sum of grid positions j in 0 … M, and M times the number of people. A person
at position j adds (j, M). If α is the mean of the positions over M, the noise of the sum minus α times the
noise of the count is what the released mean is off by, times the number of people: each mechanism knows the
variance and the tail of that difference. They are floating-point formulas of the continuous law, in units
of one person, for errors and intervals only. What is drawn is exact.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from sottovoce.arrays import FloatArray
from sottovoce.central.noise.exact_draws import Draws, Integers


class Noise(ABC):
    """Noise for (Σ j, n·M).

    Attributes:
        symmetric: Whether the sums of j and of M − j are noised alike. Then tails are for α ≤ ½ only.
        public_count: Whether the number of people is released as it is.
    """

    symmetric: ClassVar[bool] = True
    public_count: ClassVar[bool] = False

    @property
    @abstractmethod
    def rate(self) -> float:
        """ε as a double."""

    @property
    def farthest(self) -> float:
        """A scale of the noise at ε = 1, in people: quantiles are searched below a multiple of it."""
        return 2.0

    @abstractmethod
    def draw(self, count: int, draws: Draws, dtype: Any = np.int64) -> tuple[Integers, Integers]:
        """Independent pairs of noise, exactly.

        Args:
            count: How many.
            draws: Where the three basic draws come from.
            dtype: int64, which wraps around, or object for Python's integers.
        """

    @abstractmethod
    def exponent(self, total: int, size: int) -> Fraction | None:
        """The law: P(total, size) ∝ e^(−ε·exponent), None where it is zero."""

    @abstractmethod
    def variance(self, alpha: FloatArray) -> FloatArray:
        """Variance of (noise of the sum) − α·(noise of the count): n²·MSE of the mean, up to o(1)."""

    @abstractmethod
    def tail(self, t: FloatArray, alpha: FloatArray, miss: float) -> FloatArray:
        """P(|noise of the sum − α·noise of the count| > t), from above.

        Args:
            t: Distances, in people.
            alpha: The mean, for each distance.
            miss: The probability of interest; what is left out of sums is below a thousandth of it.
        """


def add_noise(totals: Integers, sizes: Integers, noise: Noise, draws: Draws) -> tuple[Integers, Integers]:
    """Noisy (Σ j, n·M), in the integers the totals are given in.

    On int64 the additions are modulo 2^64. The noise is too: sums and products commute with the modulus,
    so the released pair is a function of the exact one, and wrapping around cannot cost privacy.
    """
    total_noise, size_noise = noise.draw(totals.size, draws, totals.dtype)
    return totals + total_noise, sizes + size_noise
