"""Published samplers that no package carries, in numpy as their papers and code have them.

Floating point throughout, and so not private as run (reports of one input can be impossible for another);
fast, because a whole array is one call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

DISTRIBUTIONS: tuple[str, ...] = ()
REQUIRES: tuple[str, ...] = ("numpy",)

Run = Callable[[Any], Any]


def laplace(epsilon: float) -> Run:
    """Laplace noise of scale 1/ε from numpy's generator, in floats"""
    rng = np.random.default_rng(5)
    return lambda x: x + rng.laplace(0.0, 1 / epsilon, len(x))


def square_wave(epsilon: float) -> Run:
    """Square Wave (Li et al., SIGMOD 2020) by inverting its distribution function, in floats"""
    rng = np.random.default_rng(6)
    _, b, p, q = wave(epsilon)

    def run(x: Any) -> Any:
        u = rng.random(len(x))
        left, window = q * x, 2 * b * p
        low, high = u < left, u >= left + window
        y = (u - left) / p + x - b
        y[low] = u[low] / q - b
        y[high] = (u[high] - left[high] - window) / q + x[high] + b
        return y

    return run


def piecewise(epsilon: float) -> Run:
    """Piecewise Mechanism (Wang et al., ICDE 2019), mapped from [-1, 1] to [0, 1], in floats"""
    rng = np.random.default_rng(7)
    root = np.exp(epsilon / 2)
    c = (root + 1) / (root - 1)

    def run(x: Any) -> Any:
        t = 2 * x - 1
        left = (c + 1) / 2 * t - (c - 1) / 2
        near = rng.random(len(x)) < root / (root + 1)
        u = rng.random(len(x))
        outside = u * (c + 1)
        y = np.where(near, left + u * (c - 1), np.where(outside < left + c, outside - c, outside - 1))
        return (y + 1) / 2

    return run


def wave(epsilon: float) -> tuple[float, float, float, float]:
    """e^ε, the half-width b and the two densities of the square wave."""
    e = float(np.exp(epsilon))
    b = (epsilon * e - e + 1) / (2 * e * (e - 1 - epsilon))
    return e, b, e / (2 * b * e + 1), 1 / (2 * b * e + 1)


def wave_matrix(epsilon: float, bins: int) -> Any:
    """P(report bin | input bin) of the square wave, `bins` of each, dense; inputs at their bin's middle."""
    _, b, p, q = wave(epsilon)
    x = (np.arange(bins) + 0.5) / bins
    edge = np.linspace(-b, 1 + b, bins + 1)
    inside = np.clip(np.minimum(edge[1:, None], x + b) - np.maximum(edge[:-1, None], x - b), 0, None)
    return q * (edge[1] - edge[0]) + (p - q) * inside


def ems(matrix: Any, counts: Any, tolerance: float, most: int = 10_000) -> Any:
    """EM with the smoothing ¼, ½, ¼ of Li et al., until the log-likelihood moves by less than that."""
    bins = matrix.shape[1]
    f, before = np.full(bins, 1 / bins), -np.inf
    for _ in range(most):
        f = dense_step(matrix, counts, f)
        likelihood = float(counts @ np.log(matrix @ f))
        if abs(likelihood - before) < tolerance:
            break
        before = likelihood
    return f


def dense_step(matrix: Any, counts: Any, f: Any) -> Any:
    """One step of EMS with the dense matrix."""
    f = f * (matrix.T @ (counts / (matrix @ f)))
    out = np.convolve(f, (0.25, 0.5, 0.25), "same")
    out[0], out[-1] = (2 * f[0] + f[1]) / 3, (2 * f[-1] + f[-2]) / 3
    return out / out.sum()


def wave_and_ems(epsilon: float) -> tuple[Run, Run]:
    """Square Wave and EMS on 1024 bins with the dense matrix, stopping as in its paper"""
    bins, b = 1024, wave(epsilon)[1]
    matrix = wave_matrix(epsilon, bins)

    def estimate(reports: Any) -> Any:
        counts = np.histogram(reports, bins, (-b, 1 + b))[0].astype(float)
        return ems(matrix, counts, 1e-3)

    return square_wave(epsilon), estimate


PRIVATISERS = {"Laplace": laplace, "Piecewise Mechanism": piecewise, "Square Wave": square_wave}
HISTOGRAMS = {"Square Wave + EMS": wave_and_ems}
LAWS = {"Laplace": "Laplace", "Piecewise Mechanism": "PM", "Square Wave": "SW"}
