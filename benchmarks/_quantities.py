"""What the coverage benchmark asks of a tally, and the truths that people are drawn from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

import sottovoce as sv
from benchmarks._truths import departure_clock, flights
from sottovoce.estimates.limits.envelope import CrossFit
from sottovoce.estimates.quantile import quantile_limits

RANGE = (0.2, 0.6)


@cache
def pool(truth: str) -> np.ndarray:
    """The values of a truth, in order."""
    rng, n = np.random.default_rng(0), 500_000
    if truth.startswith("skewed"):
        values = rng.beta(1, 8, n)
    elif truth.startswith("two peaks"):
        values = np.where(rng.random(n) < 0.4, rng.beta(20, 60, n), rng.beta(60, 20, n))
    elif truth == "edge":
        values = np.zeros(1)
    elif truth == "two groups":
        values = np.array([0.3, 0.8])
    else:
        values = departure_clock() if truth == "departure clock" else flights("air_time", 0, 700)
    return np.sort((values * 0.5 - 0.1) % 1.0 if truth.endswith("around") else values)


def direction(x: np.ndarray) -> complex:
    return complex(np.exp(2j * np.pi * x).mean())


def share(x: np.ndarray) -> float:
    return float(((x >= RANGE[0]) & (x <= RANGE[1])).mean())


@dataclass(frozen=True)
class Quantity:
    """What is asked of a tally: intervals on the unit domain, and the true values for some people.

    `every`: asked in one of so many runs, because it costs more or is a variant of another.
    """

    names: tuple[str, ...]
    ask: Callable[[sv.Tally], Sequence[tuple[float, float]]]
    true: Callable[[np.ndarray], Sequence[float]]
    every: int = 1
    estimand: str = "population"


def _one(found: sv.Estimate) -> list[tuple[float, float]]:
    return [(found.low, found.high)]


def _quantity(
    name: str,
    make: Callable[..., sv.Estimate],
    true: Callable[[np.ndarray], float],
    every: int,
    **options: str,
) -> Quantity:
    estimand = options.get("estimand", "population")
    kind = options.get("interval", "" if estimand == "population" else estimand)
    label = f"{name}, {kind}" if kind else name
    return Quantity((label,), lambda t: _one(make(t, **options)), lambda x: [true(x)], every, estimand)


def quantiles(levels: tuple[float, ...], every: int, estimand: str = "population") -> Quantity:
    names = tuple(f"{q:g}-quantile" + (", respondents" if estimand != "population" else "") for q in levels)
    return Quantity(
        names,
        lambda t: [ends[:2] for ends in quantile_limits(CrossFit(t), levels, 0.025, estimand)],
        lambda x: [float(np.quantile(x, q, method="inverted_cdf")) for q in levels],
        every,
        estimand,
    )


def _range(t: sv.Tally, **options: str) -> sv.Estimate:
    return sv.probability(t, *RANGE, **options)


def _angle(x: np.ndarray) -> float:
    return float(np.angle(direction(x)) / (2 * np.pi) % 1.0)


OF = {"estimand": "respondents"}
MEAN = [
    _quantity("mean", sv.mean, np.mean, 1),
    _quantity("mean", sv.mean, np.mean, 4, **OF),
    _quantity("mean", sv.mean, np.mean, 4, interval="finite"),
    _quantity("mean", sv.mean, np.mean, 4, interval="bootstrap"),
]
SHAPE = [
    _quantity("variance", sv.variance, np.var, 2),
    _quantity("variance", sv.variance, np.var, 4, **OF),
    quantiles((0.9,), 1),
    quantiles((0.5,), 4),
    quantiles((0.9,), 4, "respondents"),
    _quantity("probability", _range, share, 2),
    _quantity("probability", _range, share, 4, **OF),
]
MEDIAN = quantiles((0.5,), 1)
AROUND = [
    _quantity("circular mean", sv.circular_mean, _angle, 1),
    _quantity("circular mean", sv.circular_mean, _angle, 4, **OF),
    _quantity("concentration", sv.concentration, lambda x: abs(direction(x)), 4),
    _quantity("concentration", sv.concentration, lambda x: abs(direction(x)), 4, **OF),
]
