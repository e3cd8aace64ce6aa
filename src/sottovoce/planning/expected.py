"""What error to expect on the unit interval or circle: exact for means, simulated for shapes.

A simulation draws the tally itself: the counts of n reports are multinomial with the exact law of the cells,
so a million people cost no more than a thousand. Results are remembered, in the process and in small files
under `SOTTOVOCE_CACHE` (default: the user's cache directory); losing them costs time only.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from sottovoce._version import __version__
from sottovoce.core.kernels.tables import FloatArray
from sottovoce.estimates.distribution import distribution
from sottovoce.estimates.metrics import Cumulative, wasserstein
from sottovoce.estimates.quantiles import quantile_limits
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
    """The expected error and the half-width of the interval, on the unit domain.

    `doubt` is the standard error of a simulated error; exact ones have none.
    """

    error: float
    half_width: float
    doubt: float = 0.0


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
    return Expected(error, min(_normal(confidence) * error, _WHOLE))


def direction_error(m: Any, people: int, shapes: Shapes, confidence: float) -> Expected:
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
    m: Any,
    people: int,
    shapes: Shapes,
    confidence: float,
    repetitions: int | None,
    q: float,
    tick: Tick | None = None,
) -> Expected:
    """The error of the default reconstruction over simulated tallies, averaged over the shapes.

    "distribution": the Wasserstein distance; the half-width is that of the cumulative distribution, from its
    root mean square error (mean over the domain). "quantile": the absolute error of the q-quantile, and half
    the interval that `sottovoce.quantile` gives. Without a number of repetitions there are as many as it
    takes to know the error to 3 % (standard error), at most 1000.
    """
    key = json.dumps([__version__, task, m.digest, people, shapes.key, confidence, repetitions, q])
    name = hashlib.sha256(key.encode()).hexdigest()[:32]
    if (known := _remembered(name)) is not None:
        return known
    rng = np.random.default_rng(int(name[:8], 16))
    make = _Quantiles if task == "quantile" else _Distributions
    law = m.operator(shapes.points)
    runs = [make(m, law.mix(density), people, density, confidence, q) for density in shapes.densities]
    done = False
    while not done:
        for run in runs:
            run.once(rng)
        errors = np.array([run.errors for run in runs])
        times, result = errors.shape[1], _pooled(errors)
        share = times / repetitions if repetitions else _nearly(times, len(runs), result)
        done = share >= 1
        if tick is not None:
            tick(min(share, 1.0))
    result = Expected(result.error, float(np.mean([run.half_width for run in runs])), result.doubt)
    _remember(name, result)
    return result


def _pooled(errors: FloatArray) -> Expected:
    """Mean over the shapes, with its standard error."""
    times = errors.shape[1]
    spread = errors.std(axis=1, ddof=1) if times > 1 else errors[:, 0]
    return Expected(float(errors.mean()), 0.0, float(np.sqrt((spread**2).sum() / times)) / len(errors))


def _nearly(times: int, shapes: int, so_far: Expected) -> float:
    """The share of the simulation that is done: standard errors fall like one over the root of its length."""
    if times * shapes >= _MOST:
        return 1.0
    needed = max(_LEAST, times * (so_far.doubt / (_SURE * so_far.error)) ** 2)
    return min(times / needed, 1.0) if times >= _LEAST else min(times / needed, 0.99)


class _Runs:
    """Simulated tallies of one shape, and what was found in them."""

    def __init__(
        self, m: Any, law: FloatArray, people: int, density: FloatArray, confidence: float, q: float
    ) -> None:
        law = np.maximum(law, 0)
        self.m, self.law, self.people = m, law / law.sum(), people
        self.truth, self.confidence, self.q = Cumulative.of_bins(density), confidence, q
        self.errors: list[float] = []

    def once(self, rng: np.random.Generator) -> None:
        self.look(Tally.from_counts(self.m, rng.multinomial(self.people, self.law)))

    def look(self, tally: Tally) -> None: ...


class _Distributions(_Runs):
    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._squares = np.zeros(len(_PROBES))

    def look(self, tally: Tally) -> None:
        found = Cumulative.of_bins(distribution(tally, band=False).probabilities)
        self._squares += (found.limits(_PROBES)[0] - self.truth.limits(_PROBES)[0]) ** 2
        self.errors.append(float(wasserstein(found, self.truth, circle=self.m.domain.is_circle)))

    @property
    def half_width(self) -> float:
        return _normal(self.confidence) * float(np.sqrt(self._squares / len(self.errors)).mean())


class _Quantiles(_Runs):
    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._halves: list[float] = []
        self._true = float(np.interp(self.q, self.truth.after, self.truth.at))

    def look(self, tally: Tally) -> None:
        found = float(distribution(tally, band=False).quantile(self.q))
        self.errors.append(abs(found - self._true))
        if len(self._halves) < _INTERVALS:
            [(low, high)] = quantile_limits(tally, [self.q], (1 - self.confidence) / 2)
            self._halves.append((high - low) / 2)

    @property
    def half_width(self) -> float:
        return float(np.mean(self._halves))


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
            _memory[name] = Expected(*(float(content[part]) for part in ("error", "half_width", "doubt")))
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
