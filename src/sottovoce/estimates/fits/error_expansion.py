"""How far a reconstructed distribution will be off, without simulating any: a local expansion.

The reconstruction is run once on the counts to expect: what differs from the truth then is bias. Around it
the reconstruction is nearly linear in the counts, f(c) ≈ f(nq) + R·(c − nq), and counts are nearly normal. So
draws of the noise, pushed through R, are draws of the error.

    R = ∂f/∂θ·(H + S)⁻¹·Gᵀ·diag(1/q)        (`log_density`, averaged over fits by evidence)

Noisy counts choose another smoothing S than the expected ones: it is taken from one draw and from its mirror
image.
"""

from __future__ import annotations

import numpy as np

from sottovoce.arrays import FloatArray
from sottovoce.estimates.answer.linear_algebra import single_threaded
from sottovoce.estimates.fits import log_density
from sottovoce.estimates.fits.refits import refits, response
from sottovoce.reporters.law.operator import Operator
from sottovoce.reporters.number import Number

_POINTS = (128, 256)  # the second where windows are too narrow for the first
_NARROW = 6.0  # the ε from which on they are
_DRAWS = 300


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
    points = _POINTS[reporter.epsilon > _NARROW]
    first = reporter.bins(points * (1 if reporter.epsilon <= 3 else 2))
    domain = reporter.domain
    fine, grid = (
        reporter.operator(domain.from_unit((np.arange(n) + 0.5) / n)).coarsen(first)
        for n in (len(density), points)
    )
    q = np.maximum(fine.mix(density), 1e-300)
    noise = np.random.default_rng(seed).normal(size=(len(q), _DRAWS)) * np.sqrt(people * q)[:, None]
    noise -= q[:, None] * noise.sum(axis=0)
    truth = density.reshape(points, -1).sum(axis=1)
    return np.cumsum(_expand(grid, people * q, noise, domain.is_circle) - truth[:, None], axis=0)


def _expand(law: Operator, counts: FloatArray, noise: FloatArray, circle: bool) -> FloatArray:
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
