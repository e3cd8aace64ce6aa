"""What error to expect on the unit interval or circle: exact for means, simulated for shapes.

A simulation draws the tally itself: the counts of n reports are multinomial with the exact law of the cells,
so a million people cost no more than a thousand. Results are kept in the cache; losing them costs time only.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Callable
from dataclasses import astuple, dataclass
from functools import cached_property

import numpy as np

from sottovoce.core.kernels.tables import FloatArray
from sottovoce.core.number import Number
from sottovoce.designs import cache
from sottovoce.estimates.distribution import distribution
from sottovoce.estimates.envelope import CrossFit
from sottovoce.estimates.metrics import Cumulative, wasserstein
from sottovoce.estimates.quantiles import quantile_limits, quantile_values
from sottovoce.estimates.tally import Tally

POINTS = 1024
_INTERVALS = 4  # an interval's width varies little
_PROBES = np.arange(1, 64) / 64  # where the cumulative distribution is compared
_LEAST, _MOST = 16, 1000  # tallies that are simulated without a given number: of each shape, of all
_WHOLE = 0.5  # half the width of an interval that says nothing: it is the whole domain
_RANDOM = 12**-0.5  # the root mean square error of a random direction, in turns
_SURE = 0.03  # such a simulation ends when its standard error is this share of the error

Tick = Callable[[float], None]  # is told the share of the work that is done


@dataclass(frozen=True)
class Expected:
    """What to expect, on the unit domain.

    Attributes:
        error: The expected error.
        half_width: Half the width of the interval.
        doubt: The standard error of a simulated error; exact ones have none.
    """

    error: float
    half_width: float
    doubt: float = 0.0


@dataclass(frozen=True, eq=False)
class Shapes:
    """Distributions that a plan imagines the truth to be.

    Attributes:
        densities: Probabilities of 1024 bins, a row per distribution.
        circle: Whether they lie on a circle.
    """

    densities: FloatArray
    circle: bool

    @cached_property
    def key(self) -> str:
        """A digest of the distributions."""
        return hashlib.sha256(self.densities.tobytes()).hexdigest()

    @property
    def points(self) -> FloatArray:
        """The middles of the bins."""
        return (np.arange(POINTS) + 0.5) / POINTS


def reference_shapes(circle: bool) -> Shapes:
    """One skewed hump and two peaks; on a circle a hump across the seam and two peaks."""
    x = (np.arange(POINTS) + 0.5) / POINTS
    if circle:
        one = np.exp(2 * np.cos(2 * np.pi * (x - 0.95)))
        two = np.exp(8 * np.cos(2 * np.pi * (x - 0.3))) + np.exp(8 * np.cos(2 * np.pi * (x - 0.7)))
    else:
        one = x**4 * (1 - x)
        two = np.exp(-(((x - 0.3) / 0.06) ** 2) / 2) / 0.06 + np.exp(-(((x - 0.7) / 0.05) ** 2) / 2) / 0.05
    return Shapes(np.stack([one / one.sum(), two / two.sum()]), circle)


def sample_shape(unit: FloatArray, circle: bool) -> Shapes:
    """The histogram of some values that stand for the people to come."""
    counts = np.histogram(unit, POINTS, (0.0, 1.0))[0]
    return Shapes((counts / counts.sum())[None, :], circle)


# -- means: exact ---------------------------------------------------------------------------------------


def mean_error(m: Number, people: int, shapes: Shapes | None, confidence: float) -> Expected:
    """The standard error of the decoded mean of an unbiased mechanism: the mechanism's noise only.

    Without shapes for the worst case over all truths.
    """
    variance = m.worst_variance() if shapes is None else (shapes.densities @ m.variance(shapes.points)).mean()
    error = float(np.sqrt(variance / people))
    return Expected(error, min(_normal(confidence) * error, _WHOLE))


def direction_error(m: Number, people: int, shapes: Shapes, confidence: float) -> Expected:
    """The standard error of the mean direction on the unit circle, by the delta method.

    With z = e^{2πi·y}: E[z | x] = ρ·e^{2πi·x}. Turned so that the mean direction is 0, the error of the
    angle is Im(mean z)/|E z|; only the mechanism's noise counts. Where shapes have hardly any direction, the
    error is that of a random one.
    """
    law, z = m.operator(shapes.points), np.exp(2j * np.pi * m.decode(np.arange(m.cells)))
    errors = []
    for density in shapes.densities:
        mean = density @ (law.expect(z.real) + 1j * law.expect(z.imag))
        turned = z * np.exp(-1j * np.angle(mean))
        noise = law.expect(turned.imag**2) - law.expect(turned.imag) ** 2
        errors.append(np.sqrt(density @ noise / people) / max(abs(mean), 1e-300) / (2 * np.pi))
    error = float(np.minimum(errors, _RANDOM).mean())
    return Expected(error, min(_normal(confidence) * error, _WHOLE))


def _normal(confidence: float) -> float:
    from scipy.special import ndtri

    return -float(ndtri((1 - confidence) / 2))


# -- shapes: simulated ----------------------------------------------------------------------------------


def simulated(
    task: str,
    m: Number,
    people: int,
    shapes: Shapes,
    confidence: float,
    repetitions: int | None,
    p: float,
    tick: Tick | None = None,
) -> Expected:
    """The error of the default estimate over simulated tallies, averaged over the shapes.

    "distribution": the Wasserstein distance; the half-width is that of the cumulative distribution, from its
    root mean square error (mean over the domain). "quantile": the absolute error of the p-quantile, and half
    of its interval. Without a number of repetitions there are as many as it takes to know the error to 3 %
    (standard error), at most 1000.
    """
    question = [task, m.digest, people, shapes.key, confidence, repetitions, p]
    if (known := _remembered(question)) is not None:
        return known
    rng = np.random.default_rng(list(hashlib.sha256(json.dumps(question).encode()).digest()))
    law = m.operator(shapes.points)
    chances = [np.maximum(law.mix(density), 0.0) for density in shapes.densities]
    looks = [_look(task, Cumulative.of_bins(density), confidence, p) for density in shapes.densities]
    runs: list[
        list[tuple[float, FloatArray]]
    ] = []  # of every repetition, for every shape: error, half-widths
    share = 0.0
    while share < 1:
        tallies = [Tally.from_counts(m, rng.multinomial(people, chance / chance.sum())) for chance in chances]
        runs.append([look(tally) for look, tally in zip(looks, tallies, strict=True)])
        error, doubt = _pooled(np.array([[error for error, _ in run] for run in runs]))
        share = len(runs) / repetitions if repetitions else _progress(len(runs), len(looks), doubt / error)
        if tick is not None:
            tick(min(share, 1.0))
    squares = np.array([[half_widths**2 for _, half_widths in run] for run in runs])
    result = Expected(error, float(np.sqrt(np.nanmean(squares, axis=0)).mean()), doubt)
    cache.store("plans", question, json.dumps(astuple(result)).encode())
    return result


Look = Callable[[Tally], tuple[float, FloatArray]]


def _look(task: str, truth: Cumulative, confidence: float, p: float) -> Look:
    """What gives the error of an estimate, and half-widths that count by their root mean square."""
    turns, true = itertools.count(), float(np.interp(p, truth.after, truth.at))

    def distance(tally: Tally) -> tuple[float, FloatArray]:
        fitted = Cumulative.of_bins(distribution(tally, band=False).probabilities)
        gaps = fitted.limits(_PROBES)[0] - truth.limits(_PROBES)[0]
        circle = tally.mechanism.domain.is_circle
        return wasserstein(fitted, truth, circle=circle), _normal(confidence) * gaps

    def level(tally: Tally) -> tuple[float, FloatArray]:
        fit, half = CrossFit(tally), np.nan
        if next(turns) < _INTERVALS:
            [ends] = quantile_limits(fit, [p], (1 - confidence) / 2)
            half = (ends.high - ends.low) / 2
        [value] = quantile_values(fit, tally.mechanism.epsilon, [p])
        return abs(value - true), np.array([half])

    return level if task == "quantile" else distance


def _remembered(question: list[object]) -> Expected | None:
    """What was computed before; a file that does not hold three numbers is none."""
    try:
        error, half_width, doubt = map(float, json.loads(cache.load("plans", question) or b"[]"))
    except (ValueError, TypeError):
        return None
    return Expected(error, half_width, doubt)


def _pooled(errors: FloatArray) -> tuple[float, float]:
    """Mean over repetitions and shapes, with its standard error."""
    times, shapes = errors.shape
    spread = errors.std(axis=0, ddof=1) if times > 1 else errors[0]
    return float(errors.mean()), float(np.sqrt((spread**2).sum() / times)) / shapes


def _progress(times: int, shapes: int, doubt: float) -> float:
    """The share of a simulation that is done: standard errors fall like one over the root of its length."""
    if times * shapes >= _MOST:
        return 1.0
    needed = max(_LEAST, times * (doubt / _SURE) ** 2)
    return min(times / needed, 1.0) if times >= _LEAST else min(times / needed, 0.99)
