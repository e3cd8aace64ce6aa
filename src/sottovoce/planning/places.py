"""Which reporter of places to take: what each is good for, in numbers.

    sottovoce.plan("place", epsilon=2.0, people=10_000, domain=sottovoce.Disc(10))

For people spread evenly. Errors of the mean position and distances of single reports are by the exact laws.
"""

from __future__ import annotations

import math

import numpy as np

from sottovoce.compose.design import design
from sottovoce.compose.polar import polar
from sottovoce.core.discs import Disc
from sottovoce.core.errors import check_epsilon, whole_number
from sottovoce.core.expectations import resultant
from sottovoce.core.polar import Polar
from sottovoce.core.translates import Translates
from sottovoce.designs.places import Box, expected_distance
from sottovoce.estimates.positions import position_variance
from sottovoce.planning.ways import Way, WaysPlan

_SPREAD = 64  # positions that a distance is averaged over
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # its multiples spread evenly


def plan_places(epsilon: float | None, people: int | None, domain: Disc | Box) -> WaysPlan:
    """Compare reporters of places.

    Args:
        epsilon: The privacy parameter.
        people: How many report.
        domain: A disc around the origin, or a box.

    Returns:
        `sottovoce.place` first: it alone gives maps that come near to what ε allows. For a disc also polar
        coordinates, whose single reports may be nearer.
    """
    e, n = check_epsilon(epsilon), whole_number(people, "people", least=2)
    ours = design("place", e, domain)
    x = ours.domain.spread(np.arange(1, _SPREAD + 1, dtype=np.uint64) * _GOLDEN)

    def way(m: Translates | Polar, variance: float, reason: str) -> Way:
        distance = float(expected_distance(m, x).mean())
        return Way(m.name, m, {"mean position": math.sqrt(variance / n), "single report": distance}, reason)

    options = [way(ours, position_variance(ours), "for maps, the mean position and shares of regions")]
    if isinstance(domain, Disc):
        m = polar(e, domain.radius, design="unbiased")
        r = domain.radius * np.sqrt((np.arange(256) + 0.5) / 256)
        moment = float(np.mean(r**2 + m.distance.variance(r)))
        spread = moment / (2 * resultant(m.angle) ** 2)
        options.append(way(m, spread, "the paper's distance and angle; its maps are coarser"))
    return WaysPlan(e, n, tuple(options))
