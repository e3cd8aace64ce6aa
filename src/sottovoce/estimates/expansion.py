"""How far a reconstructed distribution will be off, without simulating any: a local expansion.

The reconstruction is run once on the counts to expect: what differs from the truth then is bias. Around it
the reconstruction is nearly linear in the counts, f(c) ≈ f(nq) + R·(c − nq), and counts are nearly normal. So
draws of the noise, pushed through R, are draws of the error.

- Splines (`log_density`): R = ∂f/∂θ·(H + S)⁻¹·Gᵀ·diag(1/q), averaged over fits by evidence. Noisy counts
  choose another smoothing S than the expected ones: it is taken from one draw and from its mirror image.
- EMS (`em`): each of its k rounds maps a deviation δ to Mδ + u, u what the noise adds in one round. So
  δ = (1 + M + … + M^{k−1})u, in the first few waves of the domain: the smoothing leaves no others.
"""

from __future__ import annotations

import numpy as np

from sottovoce.core.arrays import FloatArray
from sottovoce.core.kernels.operator import Operator
from sottovoce.core.number import Number
from sottovoce.estimates import log_density
from sottovoce.estimates.model import em, smooth_circle, smooth_line
from sottovoce.estimates.query import single_threaded
from sottovoce.estimates.refits import refits, response

_EMS_POINTS = 1024
_SPLINE_POINTS = (128, 256)  # the second where windows are too narrow for the first
_NARROW = 6.0  # the ε from which on they are
_WAVES = 64
_DRAWS = 300
_LONGER = 1.5  # so many times the rounds: EMS takes longer on noisy counts (benchmarks/planner.py)


@single_threaded
def reconstruction_errors(reporter: Number, people: int, density: FloatArray, seed: int = 0) -> FloatArray:
    """Draw errors of the cumulative distribution that `distribution` gives by default.

    Args:
        reporter: What people would report with.
        people: How many of them.
        density: Probabilities of 1024 equal bins of the domain, the truth to expect.
        seed: Of the draws; from seed to seed the mean error differs by two or three percent.

    Returns:
        The error at the ends of equal bins, a row per bin, a column per draw.
    """
    method = "ld" if people * reporter.epsilon**2 >= log_density.ENOUGH else "ems"
    points = _EMS_POINTS if method == "ems" else _SPLINE_POINTS[reporter.epsilon > _NARROW]
    first = reporter.groups(points * (1 if method == "ems" or reporter.epsilon <= 3 else 2))
    domain = reporter.domain
    fine, grid = (
        reporter.operator(domain.from_unit((np.arange(n) + 0.5) / n)).coarsen(first)
        for n in (len(density), points)
    )
    q = np.maximum(fine.mix(density), 1e-300)
    noise = np.random.default_rng(seed).normal(size=(len(q), _DRAWS)) * np.sqrt(people * q)[:, None]
    noise -= q[:, None] * noise.sum(axis=0)
    expand = _splines if method == "ld" else _ems
    truth = density.reshape(points, -1).sum(axis=1)
    return np.cumsum(expand(grid, people * q, noise, domain.is_circle) - truth[:, None], axis=0)


def _splines(law: Operator, counts: FloatArray, noise: FloatArray, circle: bool) -> FloatArray:
    model, half = log_density.Splines(counts, law, circle), noise.shape[1] // 2
    drawn = []
    for sign, part in ((1, noise[:, :half]), (-1, noise[:, half:])):
        noisy = np.maximum(counts + sign * noise[:, 0], 0.0)
        fits = log_density.Splines(noisy, law, circle).fit(log_density.STARTS[1::2])
        weighted = (
            weight * (refits(model, fit, counts[:, None]) + response(model, fit, part))
            for weight, fit in zip(log_density.shares(fits), fits, strict=True)
        )
        drawn.append(np.asarray(sum(weighted)))
    return np.hstack(drawn)


def _ems(law: Operator, counts: FloatArray, noise: FloatArray, circle: bool) -> FloatArray:
    fit, table = em(law, counts, smooth=smooth_circle if circle else smooth_line), law.dense()
    f, q, c = fit.probabilities[:, None], fit.reports[:, None], (counts / counts.sum())[:, None]
    waves, smoothing = _waves(len(f), circle), _smoothed(np.eye(len(f)), circle)
    seen = waves.T @ smoothing  # each wave's share of what a round leaves
    moved = waves * (table @ (c / q)) - f * (table @ (c / q**2 * (table.T @ waves)))
    step = seen @ moved
    rounds = np.linalg.matrix_power(step, round(_LONGER * fit.iterations))
    added = ((seen * f.T) @ table / q.T) @ noise / counts.sum()
    unit = np.eye(_WAVES)
    errors = waves @ np.linalg.solve(unit - step, (unit - rounds) @ added)
    return np.asarray(f + errors - f * errors.sum(axis=0))


def _waves(points: int, circle: bool) -> FloatArray:
    """Orthonormal waves at the middles of equal cells: cosines, on a circle sines too."""
    t, k = (np.arange(points) + 0.5) / points, np.arange(_WAVES)
    phase = (
        np.outer(t, np.pi * k)
        if not circle
        else np.outer(t, 2 * np.pi * ((k + 1) // 2)) - np.pi / 2 * (k % 2)
    )
    waves = np.cos(phase)
    return np.asarray(waves / np.linalg.norm(waves, axis=0))


def _smoothed(f: FloatArray, circle: bool) -> FloatArray:
    """What EMS does after a round, column by column."""
    out = 0.5 * f + 0.25 * np.roll(f, 1, axis=0) + 0.25 * np.roll(f, -1, axis=0)
    if not circle:
        out[0], out[-1] = (2 * f[0] + f[1]) / 3, (2 * f[-1] + f[-2]) / 3
    return out
