"""The mechanisms by name: exact noise for the integers (Σ j, n·M), and what it does to the mean.

Every mechanism adds integer noise to the same two integers, so releasing, decoding and intervals are
written once. A person at position j adds (j, M); in the swap model one changes the sum by at most M.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal, Protocol, get_args

import numpy as np

from sottovoce.central.draws import Draws, Integers
from sottovoce.central.grid import Grid
from sottovoce.central.hourglass import Hourglass
from sottovoce.central.laplace import SumAndCount, Transformed
from sottovoce.central.staircase import Staircase
from sottovoce.central.staircase2d import Staircase2D
from sottovoce.central.tails import Law
from sottovoce.core.exact import rational_epsilon

Name = Literal["hourglass", "staircase2d", "transformed", "shifted", "independent", "swap"]
NAMES: tuple[str, ...] = get_args(Name)

_WIDEST = 1 << 62


class Noise(Protocol):
    """Noise for (Σ j, n·M)."""

    def sample(self, count: int, draws: Draws, dtype: Any = np.int64) -> tuple[Integers, Integers]: ...


@dataclass(frozen=True)
class PublicCount:
    """The swap model: staircase noise on the sum, none on the number of people."""

    staircase: Staircase

    def sample(self, count: int, draws: Draws, dtype: Any = np.int64) -> tuple[Integers, Integers]:
        total, _ = self.staircase.sample(count, draws, dtype)
        return total, np.zeros(count, dtype=dtype)


def check_mechanism(mechanism: object) -> str:
    if mechanism not in NAMES:
        raise ValueError(f"mechanism must be one of {', '.join(NAMES)}, got mechanism={mechanism!r}")
    return str(mechanism)


def noise_of(mechanism: str, epsilon: float, grid: Grid) -> Noise:
    """The noise of a mechanism on a grid."""
    origin = origin_of(mechanism, grid)
    return _build(mechanism, rational_epsilon(epsilon), grid.steps, origin)


def origin_of(mechanism: str, grid: Grid) -> int:
    """Where position 0 lies from the point the sum is taken about, in grid steps (else 0)."""
    if mechanism == "shifted":
        return -(grid.steps // 2)
    if mechanism == "independent":
        return far_from_zero(grid)
    return 0


def far_from_zero(grid: Grid) -> int:
    """The grid's origin, refused where a sum of such numbers would need noise beyond 62 bits."""
    if abs(grid.origin) + grid.steps > _WIDEST:
        most = max(1, grid.steps * _WIDEST // (2 * abs(grid.origin)))
        raise ValueError(
            f"grid must be at most about {most} for bounds so far from zero, got grid={grid.steps}, "
            f"bounds=({grid.bounds.low!r}, {grid.bounds.high!r})"
        )
    return grid.origin


def law_of(mechanism: str, epsilon: float, grid: Grid) -> Law:
    """The same noise in units of one person, in floating point, for estimates and intervals."""
    noise = noise_of(mechanism, epsilon, grid)
    staircase = getattr(noise, "staircase", noise)
    gamma = staircase.gamma if isinstance(staircase, Staircase | Staircase2D) else 0.0
    return Law(mechanism, epsilon, gamma, origin_of(mechanism, grid) / grid.steps)


@lru_cache(maxsize=256)
def _build(mechanism: str, epsilon: Fraction, steps: int, origin: int) -> Noise:
    # One object per set of parameters, so that its tables of thresholds are built once.
    if mechanism == "hourglass":
        return Hourglass.optimal(epsilon, steps)
    if mechanism == "staircase2d":
        return Staircase2D.optimal(epsilon, steps)
    if mechanism == "transformed":
        return Transformed(epsilon, steps)
    if mechanism == "swap":
        return PublicCount(Staircase.optimal(epsilon, steps))
    return SumAndCount(epsilon, steps, origin)


def add_noise(totals: Integers, sizes: Integers, noise: Noise, draws: Draws) -> tuple[Integers, Integers]:
    """Noisy (Σ j, n·M), in the integers the totals are given in.

    On int64 the additions are modulo 2^64. The noise is too: sums and products commute with the modulus,
    so the released pair is a function of the exact one, and wrapping around cannot cost privacy.
    """
    total_noise, size_noise = noise.sample(totals.size, draws, totals.dtype)
    return totals + total_noise, sizes + size_noise
