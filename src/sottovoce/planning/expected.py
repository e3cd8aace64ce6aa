"""What error to expect on the unit interval or circle: exact for means, simulated for shapes.

A simulation draws the tally itself: the counts of n reports are multinomial with the exact law of the cells,
so a million people cost no more than a thousand. Results are remembered, in the process and in small files
under `SOTTOVOCE_CACHE` (default: the user's cache directory); losing them costs time only.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from sottovoce._version import __version__
from sottovoce.estimates.distribution import distribution
from sottovoce.estimates.metrics import Cumulative, wasserstein
from sottovoce.estimates.quantiles import quantile
from sottovoce.kernels.tables import FloatArray
from sottovoce.tally import Tally

POINTS = 1024
_INTERVALS = 2  # an interval's width varies little, and takes a second
_PROBES = np.arange(1, 64) / 64  # where the cumulative distribution is compared


@dataclass(frozen=True)
class Expected:
    """The expected error and the half-width of the interval, on the unit domain."""

    error: float
    half_width: float


@dataclass(frozen=True, eq=False)
class Shapes:
    """Distributions that a plan imagines the truth to be: probabilities of 1024 bins each."""

    densities: FloatArray
    circle: bool

    @cached_property
    def key(self) -> str:
        return hashlib.sha256(self.densities.tobytes()).hexdigest()

    @property
    def points(self) -> FloatArray:
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


def mean_error(m: Any, people: int, shapes: Shapes | None, confidence: float) -> Expected:
    """The standard error of the decoded mean of an unbiased mechanism: the mechanism's noise only.

    Without shapes for the worst case over all truths.
    """
    variance = m.worst_variance() if shapes is None else (shapes.densities @ m.variance(shapes.points)).mean()
    error = float(np.sqrt(variance / people))
    return Expected(error, _normal(confidence) * error)


def direction_error(m: Any, people: int, shapes: Shapes, confidence: float) -> Expected:
    """The standard error of the mean direction on the unit circle, by the delta method.

    With z = e^{2πi·y}: E[z | x] = ρ·e^{2πi·x}. Turned so that the mean direction is 0, the error of the
    angle is Im(mean z)/|E z|; only the mechanism's noise counts.
    """
    law, z = m.operator(shapes.points), np.exp(2j * np.pi * m.decode(np.arange(m.cells)))
    errors = []
    for density in shapes.densities:
        mean = density @ (law.expect(z.real) + 1j * law.expect(z.imag))
        turned = z * np.exp(-1j * np.angle(mean))
        noise = law.expect(turned.imag**2) - law.expect(turned.imag) ** 2
        errors.append(np.sqrt(density @ noise / people) / abs(mean) / (2 * np.pi))
    error = float(np.mean(errors))
    return Expected(error, _normal(confidence) * error)


def _normal(confidence: float) -> float:
    from scipy.special import ndtri

    return float(ndtri((1 + confidence) / 2))


# -- shapes: simulated ----------------------------------------------------------------------------------


def simulated(
    task: str, m: Any, people: int, shapes: Shapes, confidence: float, repetitions: int, q: float
) -> Expected:
    """The error of the default reconstruction over simulated tallies, averaged over the shapes.

    "distribution": the Wasserstein distance; the half-width is that of the cumulative distribution, from its
    root mean square error (mean over the domain). "quantile": the absolute error of the q-quantile, and half
    the interval that `sottovoce.quantile` gives.
    """
    key = json.dumps([__version__, task, m.digest, people, shapes.key, confidence, repetitions, q])
    name = hashlib.sha256(key.encode()).hexdigest()[:32]
    if (known := _remembered(name)) is not None:
        return known
    rng = np.random.default_rng(int(name[:8], 16))
    run = _simulate_quantile if task == "quantile" else _simulate_distribution
    found = []
    for density in shapes.densities:
        law = np.maximum(m.operator(shapes.points).mix(density), 0)
        tallies = [Tally.from_counts(m, rng.multinomial(people, law / law.sum())) for _ in range(repetitions)]
        found.append(run(tallies, Cumulative.of_bins(density), confidence, q))
    result = Expected(*(float(value) for value in np.mean(found, axis=0)))
    _remember(name, result)
    return result


def _simulate_distribution(
    tallies: list[Tally], truth: Cumulative, confidence: float, q: float
) -> tuple[float, float]:
    circle = tallies[0].mechanism.domain.is_circle
    found = [Cumulative.of_bins(distribution(t, band=False).probabilities) for t in tallies]
    gaps = np.array([got.limits(_PROBES)[0] - truth.limits(_PROBES)[0] for got in found])
    errors = [wasserstein(got, truth, circle=circle) for got in found]
    return float(np.mean(errors)), _normal(confidence) * float(np.sqrt((gaps**2).mean(axis=0)).mean())


def _simulate_quantile(
    tallies: list[Tally], truth: Cumulative, confidence: float, q: float
) -> tuple[float, float]:
    true = float(np.interp(q, truth.after, truth.at))
    errors = [abs(float(distribution(t, band=False).quantile(q)) - true) for t in tallies]
    intervals = [quantile(t, q, confidence=confidence) for t in tallies[:_INTERVALS]]
    return float(np.mean(errors)), float(np.mean([(found.high - found.low) / 2 for found in intervals]))


_memory: dict[str, Expected] = {}


def _cache_file(name: str) -> Path:
    base = (
        os.environ.get("SOTTOVOCE_CACHE")
        or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "sottovoce"
    )
    return Path(base).expanduser() / f"plan-{name}.json"


def _remembered(name: str) -> Expected | None:
    if name not in _memory:
        try:
            content = json.loads(_cache_file(name).read_text())
            _memory[name] = Expected(float(content["error"]), float(content["half_width"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None
    return _memory[name]


def _remember(name: str, result: Expected) -> None:
    _memory[name] = result
    file = _cache_file(name)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(asdict(result)))
    except OSError:
        pass  # a cache that cannot be written is no cache
