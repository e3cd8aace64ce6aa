"""The hybrid mechanism (Wang et al., ICDE 2019): a coin chooses between PM and Duchi's two points.

    α = 1 − e^{−ε/2} for ε > ε* ≈ 0.61, else 0:   PM with probability α, Duchi otherwise

On [−1, 1] PM reports within ±C, C = (e^{ε/2}+1)/(e^{ε/2}−1), a box of length C − 1 around the truth's image;
Duchi reports ±(E+1)/(E−1). Both are unbiased and ε-LDP, and so is the mix.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sottovoce.arrays import FloatArray
from sottovoce.designs.solver.integer_weights import named
from sottovoce.errors import ArgumentError, check_epsilon, real_number
from sottovoce.laws.law import interval_domain
from sottovoce.laws.piecewise_linear import Linear, Pieces
from sottovoce.values.interval import DomainLike


@dataclass(frozen=True)
class Mixed(Linear):
    """`share` is α, the probability of PM."""

    share: float

    def _pieces(self, t: FloatArray) -> Pieces:
        c = 1 / math.tanh(self.epsilon / 4)
        low = 0.5 - c / 2 + (c + 1) / 2 * t
        edges = np.stack(
            [np.full_like(t, (1 - c) / 2), low, low + (c - 1) / 2, np.full_like(t, (1 + c) / 2)], axis=-1
        )
        # PM's box has probability √E/(√E+1) and length (C − 1)/2 on [0, 1].
        root = math.exp(self.epsilon / 2)
        box = self.share * root / (root + 1) / ((c - 1) / 2)
        densities = np.broadcast_to([box * math.exp(-self.epsilon), box, box * math.exp(-self.epsilon)],
                                    (*t.shape, 3))  # fmt: skip
        return edges, densities, densities

    def _atoms(self, t: FloatArray) -> list[tuple[float, FloatArray]]:
        lean = math.tanh(self.epsilon / 2) * (t - 0.5)
        away = 0.5 / math.tanh(self.epsilon / 2)
        rest = 1 - self.share
        return [(0.5 - away, rest * (0.5 - lean)), (0.5 + away, rest * (0.5 + lean))]

    def _range(self) -> tuple[float, float]:
        c = 1 / math.tanh(self.epsilon / (4 if self.share else 2))
        return (1 - c) / 2, (1 + c) / 2


@named
def hybrid(epsilon: float, domain: DomainLike = (0, 1), *, share: float | None = None) -> Mixed:
    """Mix PM and Duchi's two reports by a coin.

    Args:
        epsilon: Privacy parameter ε.
        domain: The interval that values lie in.
        share: The probability of PM; by the published switch if not given.

    Returns:
        The law, unbiased.

    Raises:
        ValueError: If an argument is out of range or the domain is a circle.

    Example:
        >>> round(hybrid(1.0).worst_variance(), 4)
        1.0722
    """
    epsilon, domain = check_epsilon(epsilon), interval_domain(domain, "hybrid")
    if share is None:
        share = hybrid_share(epsilon)
    elif not 0 <= real_number(share, "share") <= 1:
        raise ArgumentError(f"share must lie between 0 and 1, got share={share!r}", argument="share")
    return Mixed(epsilon, domain, float(share))


def hybrid_switch() -> float:
    """ε*: below it Duchi alone has the least worst-case variance.

    >>> round(hybrid_switch(), 4)
    0.6094
    """
    root = 405 * math.sqrt(241)
    cubes = math.cbrt(6353 - root) + math.cbrt(6353 + root)
    return math.log((-5 + 2 * cubes) / 27)


def hybrid_share(epsilon: float) -> float:
    """α of the published switch."""
    return -math.expm1(-epsilon / 2) if epsilon > hybrid_switch() else 0.0
