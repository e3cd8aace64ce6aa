"""II-PTT (Ma, Zhu, Wang; type II): an unbiased mechanism with a tent instead of a box.

Input [−1, 1], reports within ±(k + a), uniform background 1/(ak(E−1)) and on kx ± a a tent of height 1/(ak)
above it. Normalised and unbiased at once means 2/a + (E+1)/k = E − 1: one free parameter, k > (E+1)/(E−1).
(The paper treats k and a as independent.)

    Var = (k − 1)x² + (4η³/(E−1) + 1)·a / 6(η − 1),  η = (k + a)/a        [Eq. (22)]
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sottovoce.arrays import FloatArray
from sottovoce.designs.solver.integer_weights import named
from sottovoce.designs.solver.roots import lowest
from sottovoce.errors import ArgumentError, check_epsilon, positive_number
from sottovoce.laws.law import interval_domain
from sottovoce.laws.piecewise_linear import Linear, Pieces
from sottovoce.values.interval import DomainLike


@dataclass(frozen=True)
class Tent(Linear):
    """k and a on the scale of [−1, 1]."""

    k: float
    a: float

    def _pieces(self, t: FloatArray) -> Pieces:
        half, reach = self.a / 2, (self.k + self.a) / 2
        centre = 0.5 + self.k * (t - 0.5)
        low = 2 / (self.a * self.k * math.expm1(self.epsilon))  # densities double on [0, 1]
        high = low + 2 / (self.a * self.k)
        edges = np.stack(
            [
                np.full_like(t, 0.5 - reach),
                np.maximum(centre - half, 0.5 - reach),
                centre,
                np.minimum(centre + half, 0.5 + reach),
                np.full_like(t, 0.5 + reach),
            ],
            axis=-1,
        )
        shape = (*t.shape, 4)
        return (
            edges,
            np.broadcast_to([low, low, high, low], shape),
            np.broadcast_to([low, high, low, low], shape),
        )

    def _range(self) -> tuple[float, float]:
        reach = (self.k + self.a) / 2
        return 0.5 - reach, 0.5 + reach


@named
def ptt2(epsilon: float, domain: DomainLike = (0, 1), k: float | None = None) -> Tent:
    """Report with II-PTT's tent.

    Args:
        epsilon: Privacy parameter ε.
        domain: The interval that values lie in.
        k: The slope of the tent's place in x, on [−1, 1]; that of least worst-case variance if not given.

    Returns:
        The law, unbiased.

    Raises:
        ValueError: If an argument is out of range or the domain is a circle.

    Example:
        >>> round(ptt2(1.0, (-1, 1)).worst_variance(), 2)  # the best I-PTT: 5.07
        13.15
    """
    epsilon, domain = check_epsilon(epsilon), interval_domain(domain, "ptt2")
    k = ptt2_optimal_k(epsilon) if k is None else positive_number(k, "k")
    least = 1 / math.tanh(epsilon / 2)
    if k <= least:
        sentence = f"k must be larger than (E+1)/(E-1) = {least:.6g}, got k={k!r}"
        raise ArgumentError(sentence, argument="k")
    return Tent(epsilon, domain, k, tent_width(epsilon, k))


def tent_width(epsilon: float, k: float) -> float:
    """The a that normalises a given k."""
    return 2 / (math.expm1(epsilon) - (math.exp(epsilon) + 1) / k)


def ptt2_variance(epsilon: float, k: float, x: float = 1.0) -> float:
    """Eq. (22) at x, on [−1, 1], with the a that k implies."""
    a = tent_width(epsilon, k)
    eta = (k + a) / a
    return (k - 1) * x * x + (4 * eta**3 / math.expm1(epsilon) + 1) * a / (6 * (eta - 1))


def ptt2_optimal_k(epsilon: float) -> float:
    """The k of least variance at x = ±1.

    >>> round(ptt2_variance(1.0, ptt2_optimal_k(1.0)), 2)
    13.15
    """
    least = 1 / math.tanh(epsilon / 2)
    # k = least/q with q in (0, 1), as for I-PTT.
    return least / lowest(lambda q: ptt2_variance(epsilon, least / q), 1e-9, 1 - 1e-9)[0]
