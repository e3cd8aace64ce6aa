"""A position in a disc or a box: a window in the plane.

A report names a disc of the grid that holds the person's own place more often than others. Discs reach beyond
the edge of the area (a margin), so that all positions are told apart alike and a mean position stays honest;
on a torus they come in again at the opposite edge, which is a little better for maps and for nothing else.
"""

from __future__ import annotations

import math
from typing import Literal, cast

import numpy as np
from numpy.typing import ArrayLike

from sottovoce.arrays import FloatArray
from sottovoce.errors import (
    ArgumentError,
    ArgumentTypeError,
    check_epsilon,
    one_of,
    positive_number,
    real_number,
    refuse_others,
    whole_number,
)
from sottovoce.reporters.composites.polar import Polar
from sottovoce.reporters.translates import Translates
from sottovoce.values.area import KILOMETRES, Area
from sottovoce.values.disc import Positions

Edge = Literal["margin", "torus"]
Box = tuple[tuple[float, float], tuple[float, float]]
#: The radius of a disc in sides of the area is first·e^(−rate·ε) (benchmarks/places.py).
_RADII = {"margin": (0.55, 1 / 3), "torus": (0.33, 0.273)}
_DISTORTION = 0.1  # the most by which a degree of longitude may differ from that in the middle


def place(
    epsilon: float,
    radius: float | None = None,
    *,
    box: Box | None = None,
    centre: tuple[float, float] = (0.0, 0.0),
    degrees: bool = False,
    edge: Edge = "margin",
    points: int = 48,
) -> Translates:
    """A reporter of a position in a disc or a box.

    Args:
        epsilon: The privacy parameter.
        radius: How far from the centre positions may be; in kilometres where they are in degrees.
        box: Instead of a radius ((x₀, x₁), (y₀, y₁)); in degrees (longitudes, latitudes).
        centre: The middle of the disc; in degrees (longitude, latitude).
        degrees: Whether positions are longitudes and latitudes. The area must be so small that a degree of
            longitude measures the same everywhere in it, to a tenth.
        edge: "margin", or "torus" for maps alone.
        points: How many points the grid has along the longer side.

    Returns:
        A reporter for `sottovoce.heatmap`, `sottovoce.mean_position` and `sottovoce.region_share`.

    Raises:
        ArgumentError: If the area is none: a radius of zero, ends in the wrong order, across the date line,
            or too large for degrees.

    Example:
        >>> m = place(2.0, radius=10.0)
        >>> m.report([[3.0, 4.0], [-8.0, 1.5]], rng=1).shape
        (2,)
        >>> place(2.0, box=((13.1, 13.8), (52.3, 52.7)), degrees=True).domain.points
        (45, 48)
    """
    epsilon = check_epsilon(epsilon)
    one_of(edge, "edge", tuple(_RADII))
    if box is not None:
        refuse_others(place, "a box", {"centre": centre})
    x, y = _sides(radius, box, centre, degrees)
    across, along = _lengths(x, y, degrees)
    step = max(across, along) / (whole_number(points, "points", 8, 256) - 1)
    grid = max(2, round(along / step) + 1), max(2, round(across / step) + 1)
    first, rate = _RADII[edge]
    reach = first * math.exp(-rate * epsilon) * math.sqrt(across * along) / step
    most = min(grid) // 2 - 1 if edge == "torus" else max(grid)
    block = disc(min(reach, max(most, 0.0)))
    margin = len(block) - 1 if edge == "margin" else 0
    area = Area(x, y, box is None, degrees, grid, (grid[0] + margin, grid[1] + margin))
    return Translates.of(epsilon, area, (block,), name="place")


def disc(radius: float) -> tuple[int, ...]:
    """The lengths of the rows of the points within a distance of one of them.

    Args:
        radius: In steps of the grid.

    Returns:
        Odd numbers.
    """
    square = math.floor(radius**2)
    reach = math.isqrt(square)
    return tuple(2 * math.isqrt(square - row**2) + 1 for row in range(-reach, reach + 1))


def _sides(
    radius: float | None,
    box: Box | None,
    centre: tuple[float, float],
    degrees: bool,
) -> Box:
    if (radius is None) == (box is None):
        raise ArgumentError("radius or box must be given, and not both", argument="radius")
    if box is not None:
        try:
            (left, right), (low, high) = box
        except (TypeError, ValueError):
            sentence = f"box must be ((x0, x1), (y0, y1)), got box={box!r}"
            raise ArgumentTypeError(sentence, argument="box") from None
        sides = tuple((real_number(a, "box"), real_number(b, "box")) for a, b in ((left, right), (low, high)))
        if any(not first < last for first, last in sides):
            hint = "; across the date line ask on either side of it" if degrees else ""
            raise ArgumentError(f"box must have ends in order, got box={box!r}{hint}", argument="box")
        return sides  # type: ignore[return-value]
    away, (a, b) = positive_number(radius, "radius"), (real_number(c, "centre") for c in centre)
    tall = away / KILOMETRES if degrees else away
    wide = tall / max(math.cos(math.radians(b)), 1e-9) if degrees else away
    return (a - wide, a + wide), (b - tall, b + tall)


def _lengths(x: tuple[float, float], y: tuple[float, float], degrees: bool) -> tuple[float, float]:
    """How wide and how high the area is, in one unit."""
    if not degrees:
        return x[1] - x[0], y[1] - y[0]
    middle = math.cos(math.radians(sum(y) / 2))
    off = max((abs(math.cos(math.radians(end)) / middle - 1) for end in y), default=0.0)
    if not off <= _DISTORTION:
        raise ArgumentError(
            "latitudes must be so close that a degree of longitude differs by at most "
            f"{100 * _DISTORTION:g} %, got {100 * off:.3g} %; project positions first",
            code="distortion",
            argument="box",
        )
    return (x[1] - x[0]) * middle, y[1] - y[0]


def expected_distance(reporter: Translates | Polar, x: ArrayLike) -> FloatArray:
    """How far, on average, a single report is from where the person is.

    Args:
        reporter: Of places, or polar.
        x: Positions.

    Returns:
        A distance for each, by the exact law; in kilometres where positions are in degrees.

    Example:
        >>> far = expected_distance(place(4.0, radius=1.0), [[0.0, 0.0], [0.5, 0.7]])
        >>> bool(0.2 < far[0] < far[1] < 0.6)
        True
    """
    at, area = np.asarray(x, dtype=np.float64), cast(Positions, reporter.domain)
    away = (reporter.decode(np.arange(reporter.cells)) - at[..., None, :]) * area.scale
    return np.asarray((reporter.probabilities(at) * np.hypot(away[..., 0], away[..., 1])).sum(axis=-1))
