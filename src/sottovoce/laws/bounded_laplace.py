"""B-Laplace (Holohan et al. 2020): a Laplace density restricted to the domain.

    density ∝ e^{−ε|y − t|} on [0, 1], normaliser (2 − e^{−εt} − e^{−ε(1−t)})/ε

Scale 1/ε satisfies ε-LDP: the normaliser is the same at both ends, where the ratio is largest. The OGPM
paper (appendix B.8) takes the normaliser of t = 0 for every t, which is not a density in between.
"""

from __future__ import annotations

from sottovoce.designs.solver.integer_weights import named
from sottovoce.errors import check_epsilon
from sottovoce.laws.laplace import Exponential
from sottovoce.laws.law import interval_domain
from sottovoce.laws.radial import Restricted
from sottovoce.values.interval import DomainLike


@named
def bounded_laplace(epsilon: float, domain: DomainLike = (0, 1)) -> Restricted:
    """Report with a Laplace density on the domain alone, normalised for every truth.

    Args:
        epsilon: Privacy parameter ε.
        domain: The interval that values lie in.

    Returns:
        The law, with reports in the domain.

    Raises:
        ValueError: If an argument is out of range or the domain is a circle.

    Example:
        >>> float(bounded_laplace(2.0).error(0.5, "l1").round(4))  # the paper's formula: 0.3056
        0.209
    """
    epsilon = check_epsilon(epsilon)
    return Restricted(epsilon, interval_domain(domain, "bounded_laplace"), Exponential(epsilon))
