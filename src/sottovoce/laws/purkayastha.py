"""The Purkayastha mechanism (Weggenmann, Kerschbaum 2021) on the circle.

    density ∝ exp(−(ε/π)·distance) for distances along a circle of circumference 2π

A Laplace density wrapped without overlap: the distance is at most π, so the ratio is at most e^ε.
"""

from __future__ import annotations

import math

from sottovoce.designs.solver.integer_weights import named
from sottovoce.errors import check_epsilon
from sottovoce.laws.circular import Around
from sottovoce.laws.laplace import Exponential
from sottovoce.laws.law import circle_domain
from sottovoce.values.circle import Circle
from sottovoce.values.interval import DomainLike


@named
def purkayastha(epsilon: float, domain: DomainLike | None = None) -> Around:
    """Report with a density that falls exponentially with the distance along the circle.

    Args:
        epsilon: Privacy parameter ε.
        domain: The circle; one of circumference 2π if not given.

    Returns:
        The law.

    Raises:
        ValueError: If an argument is out of range or the domain is an interval.

    Example:
        >>> purkayastha(1.0).worst_error("l2") > 2.5  # OGPM with the L2 root: 2.14
        True
    """
    epsilon = check_epsilon(epsilon)
    domain = circle_domain(Circle() if domain is None else domain, "purkayastha")
    return Around(epsilon, domain, Exponential(2 * epsilon, -math.expm1(-epsilon)))
