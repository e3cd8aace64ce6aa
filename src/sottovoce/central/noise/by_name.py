"""The central mechanisms by name: the one place that knows the names."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

from sottovoce.central.grid import Grid
from sottovoce.central.noise.discrete_laplace import SumAndCount, Transformed
from sottovoce.central.noise.hourglass import Hourglass
from sottovoce.central.noise.integer_staircase import PublicCount, Staircase
from sottovoce.central.noise.noise import Noise
from sottovoce.central.noise.plane_staircase import Staircase2D
from sottovoce.errors import ArgumentError, one_of
from sottovoce.exact.rational_bounds import rational_epsilon

_WIDEST = 1 << 62

MECHANISMS: dict[str, Callable[[Fraction, Grid], Noise]] = {
    "hourglass": lambda epsilon, grid: Hourglass.optimal(epsilon, grid.steps),
    "staircase2d": lambda epsilon, grid: Staircase2D.optimal(epsilon, grid.steps),
    "transformed": lambda epsilon, grid: Transformed(epsilon, grid.steps),
    "shifted": lambda epsilon, grid: SumAndCount(epsilon, grid.steps, -(grid.steps // 2)),
    "independent": lambda epsilon, grid: SumAndCount(epsilon, grid.steps, origin_of(grid)),
    "swap": lambda epsilon, grid: PublicCount(Staircase.optimal(epsilon, grid.steps)),
}
NAMES = tuple(MECHANISMS)


def noise_of(mechanism: str, epsilon: float, grid: Grid) -> Noise:
    """The noise of a mechanism on a grid.

    Args:
        mechanism: Its name.
        epsilon: The privacy parameter.
        grid: The positions of values.

    Raises:
        ArgumentError: If there is no such mechanism, or the domain lies too far from zero for "independent".
    """
    return _build(one_of(mechanism, "mechanism", NAMES), rational_epsilon(epsilon), grid)


@lru_cache(maxsize=256)  # one object per set of parameters, so that its thresholds are built once
def _build(mechanism: str, epsilon: Fraction, grid: Grid) -> Noise:
    return MECHANISMS[mechanism](epsilon, grid)


def origin_of(grid: Grid) -> int:
    """The grid's origin, refused where a sum of such numbers would need noise beyond 62 bits."""
    if abs(grid.origin) + grid.steps > _WIDEST:
        most = max(1, grid.steps * _WIDEST // (2 * abs(grid.origin)))
        raise ArgumentError(
            f"grid must be at most about {most} for a domain so far from zero, got grid={grid.steps}, "
            f"domain=({grid.domain.low!r}, {grid.domain.high!r})",
            argument="grid",
        )
    return grid.origin
