"""Which reporter of places to take: what each is good for, in numbers.

    sottovoce.plan("place", epsilon=2.0, people=10_000, domain=sottovoce.Disc(10))

For people spread evenly. Errors of the mean position and distances of single reports are by the exact laws.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sottovoce.compose.design import design
from sottovoce.compose.polar import polar
from sottovoce.compose.selection import resultant
from sottovoce.core.discs import Disc
from sottovoce.core.errors import check_epsilon, whole_number
from sottovoce.core.polar import Polar
from sottovoce.core.translates import Translates
from sottovoce.designs.places import Box, expected_distance
from sottovoce.estimates.positions import position_variance
from sottovoce.estimates.tabular import Row, Tabular

_SPREAD = 64  # positions that a distance is averaged over
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # its multiples spread evenly


@dataclass(frozen=True)
class PlaceOption:
    """One reporter of places.

    Attributes:
        mechanism: The reporter.
        error: The standard error of the mean position, along x.
        distance: How far one report is from the person, on average.
        reason: What it is good for.
    """

    mechanism: Translates | Polar
    error: float
    distance: float
    reason: str


@dataclass(frozen=True, repr=False)
class PlacePlan(Tabular):
    """Reporters of places, the one to take first.

    Attributes:
        epsilon: The privacy parameter.
        people: How many report.
        options: The reporters.
    """

    epsilon: float
    people: int
    options: tuple[PlaceOption, ...]

    @property
    def best(self) -> PlaceOption:
        """The one to take."""
        return self.options[0]

    @property
    def rows(self) -> list[Row]:
        """A row for each reporter."""
        return [
            {"name": one.mechanism.name, "error of the mean": one.error, "distance of a report": one.distance,
             "reason": one.reason}
            for one in self.options
        ]  # fmt: skip

    def __str__(self) -> str:
        lines = [f"places of {self.people:,} people at ε = {self.epsilon:g}"]
        for one in self.options:
            numbers = f"mean position ± {one.error:.3g}, one report {one.distance:.3g} away"
            lines.append(f"  {one.mechanism.name}: {numbers}; {one.reason}")
        return "\n".join(lines)


def plan_places(epsilon: float | None, people: int | None, domain: Disc | Box) -> PlacePlan:
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

    def option(m: Translates | Polar, variance: float, reason: str) -> PlaceOption:
        return PlaceOption(m, math.sqrt(variance / n), float(expected_distance(m, x).mean()), reason)

    options = [option(ours, position_variance(ours), "for maps, the mean position and shares of regions")]
    if isinstance(domain, Disc):
        m = polar(e, domain.radius, design="unbiased")
        r = domain.radius * np.sqrt((np.arange(256) + 0.5) / 256)
        moment = float(np.mean(r**2 + m.distance.variance(r)))
        spread = moment / (2 * resultant(m.angle) ** 2)
        options.append(option(m, spread, "the paper's distance and angle; its maps are coarser"))
    return PlacePlan(e, n, tuple(options))
