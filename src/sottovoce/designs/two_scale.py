"""Two widths of one window, chosen by a public coin: made for distributions.

A wide window tells the broad shape of a distribution with little noise but wipes out some of its detail:
the transform of a box of half-width b has zeros. A second, narrower window has its zeros elsewhere, so
together they leave no frequency unseen. Sixty in a hundred people use half-width 0.30·s, the rest 0.17·s (in
units of the domain), with reports extended by the half-width as in the square wave; on a circle 0.26·s and
0.11·s of the circumference. Here s = e^{−ε/2} up to ε = 2 and falls like e^{−ε/4} from there on. The
constants come from simulation.
"""

from __future__ import annotations

import math

from sottovoce.designs.solver.integer_weights import named, uniform_window
from sottovoce.errors import check_epsilon
from sottovoce.reporters.mechanism import Mechanism, cells_within
from sottovoce.reporters.mixture import Mixture
from sottovoce.values.domain import Domain
from sottovoce.values.interval import DomainLike, as_domain

#: Half-widths over s, wide and narrow, on an interval and on a circle.
INTERVAL_REACH = (0.30, 0.17)
CIRCLE_REACH = (0.26, 0.11)
#: The coin: 614 of 1024 is 59.96 %.
WEIGHTS = (614, 410)


@named
def two_scale(epsilon: float, domain: DomainLike = (0, 1), *, cells: int = 2**15) -> Mixture:
    """Design two windows of different widths, chosen by a public coin, for distributions.

    Reconstructing a distribution from these reports is more accurate than from one width
    (benchmarks/reconstruction.py); for a mean use an unbiased mechanism.

    Args:
        epsilon: Privacy parameter ε.
        domain: Where values lie: (low, high) or a `Circle`.
        cells: How many different reports each of the two has.

    Returns:
        The two mechanisms and their coin, as one.

    Raises:
        ValueError: If an argument is out of range.
        TypeError: If an argument is of the wrong type.

    Example:
        >>> m = two_scale(epsilon=1.0)
        >>> m.weights, m.cells
        ((614, 410), 65536)
    """
    epsilon, domain = check_epsilon(epsilon), as_domain(domain)
    reaches = CIRCLE_REACH if domain.is_circle else INTERVAL_REACH
    scale = math.exp(-min(epsilon, 2) / 2 - max(epsilon - 2, 0) / 4)
    parts = [_box(epsilon, domain, reach * scale, cells_within(cells)) for reach in reaches]
    return Mixture((parts[0], parts[1]), WEIGHTS)


def _box(epsilon: float, domain: Domain, reach: float, cells: int) -> Mechanism:
    """A window of half-width `reach` around the truth, E times as likely as elsewhere."""
    gain = 2 * reach * math.expm1(epsilon)
    if domain.is_circle:
        return uniform_window(epsilon, domain, mass=1 / (1 + gain), cells=cells)
    mass = (1 + 2 * reach) / (1 + 2 * reach + gain)
    return uniform_window(epsilon, domain, mass=mass, cells=cells, margin=reach)
