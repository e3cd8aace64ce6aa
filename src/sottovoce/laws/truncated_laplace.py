"""T-Laplace: Laplace noise, then values outside the domain brought to its nearest end.

Post-processing, so ε stays; at an end of the domain half of all reports are exact. With r = ε|y − x|/Δ:

    E|y − x| at t on [0, 1]:  (2 − e^{−εt} − e^{−ε(1−t)}) / 2ε
"""

from __future__ import annotations

from sottovoce.designs.solver.integer_weights import named
from sottovoce.errors import check_epsilon
from sottovoce.laws.laplace import Exponential
from sottovoce.laws.law import interval_domain
from sottovoce.laws.radial import Cut
from sottovoce.values.interval import DomainLike


@named
def truncated_laplace(epsilon: float, domain: DomainLike = (0, 1)) -> Cut:
    """Add Laplace noise, then bring what falls outside the domain to its nearest end.

    Args:
        epsilon: Privacy parameter ε.
        domain: The interval that values lie in.

    Returns:
        The law, with an atom at either end of the domain.

    Raises:
        ValueError: If an argument is out of range or the domain is a circle.

    Example:
        >>> float(truncated_laplace(2.0).error(0.0, "l1").round(4))  # OGPM: 0.2689
        0.2162
    """
    epsilon = check_epsilon(epsilon)
    return Cut(epsilon, interval_domain(domain, "truncated_laplace"), Exponential(epsilon))
