"""Expectation maximisation on a grid of inputs, plain (EM) or with a smoothing step (EMS, Li et al. 2020).

    f ← f ∘ P(c / Pᵀf) / n,      EMS: then each bin becomes ¼, ½, ¼ of its neighbours and itself

EM climbs to the maximum of the likelihood, which is spiky: as a pilot it is stopped early. EMS stops where
climbing and smoothing balance. An iteration costs O(groups + bins).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sottovoce.core.kernels import Operator, compiled_available
from sottovoce.core.kernels.tables import FloatArray

_ROUNDS = 10  # iterations between two looks at the likelihood


@dataclass(frozen=True, eq=False)
class Fit:
    """Probabilities of the bins, of the groups (`reports`), and how the iteration ended."""

    probabilities: FloatArray
    reports: FloatArray
    iterations: int
    converged: bool
    log_likelihood: float


def em(
    law: Operator,
    counts: FloatArray,
    *,
    start: FloatArray | None = None,
    smoothing: bool = False,
    circle: bool = False,
    tolerance: float = 1e-3,
    most: int = 10_000,
    compiled: bool | None = None,
) -> Fit:
    """Fit bin probabilities to group counts until the log likelihood changes by less than `tolerance`.

    The change per iteration is meant, judged over ten. Li et al. stop at 10⁻³·e^ε for EM, 10⁻³ for EMS.
    """
    c = np.asarray(counts, dtype=np.float64)
    bins = law.shape[0]
    f = np.full(bins, 1.0 / bins) if start is None else np.array(start, dtype=np.float64)
    iterate = _compiled if (compiled_available() if compiled is None else compiled) else _plain
    steps, converged = climb(
        lambda rounds: iterate(law, c, f, smoothing, circle, rounds), tolerance=tolerance, most=most
    )
    f /= f.sum()
    q = law.mix(f)
    return Fit(f, q, steps, converged, float(c @ np.log(q)))


def climb(
    iterate: Callable[[int], float], *, tolerance: float, most: int, rounds: int = _ROUNDS
) -> tuple[int, bool]:
    """Iterate until the log likelihood changes by less than `tolerance` per iteration.

    Args:
        iterate: Makes so many iterations and returns the log likelihood before the last of them.
        tolerance: The change that is small enough.
        most: How many iterations are made at most.
        rounds: How many there are between two looks at the likelihood.

    Returns:
        How many iterations were made, and whether the likelihood settled.
    """
    before, converged, steps = -np.inf, False, 0
    while steps < most and not converged:
        many = min(rounds, most - steps)
        value = iterate(many)
        steps, converged, before = steps + many, abs(value - before) < tolerance * many, value
    return steps, converged


def _compiled(
    law: Operator, c: FloatArray, f: FloatArray, smoothing: bool, circle: bool, rounds: int
) -> float:
    from sottovoce.core.kernels import compiled_em

    arrays = law.background, law.extra, law.places, law.steps
    return float(compiled_em.iterate(*arrays, law.on_slots(c), f, smoothing, circle, rounds))


def _plain(law: Operator, c: FloatArray, f: FloatArray, smoothing: bool, circle: bool, rounds: int) -> float:
    """`rounds` iterations on f in place; returns the log likelihood before the last of them.

    The products of `Operator`, written out without temporaries: half of the time at 1024 bins.
    """
    (rising, falling), extra, background = law.differences, law.extra, law.background
    counts, share = law.on_slots(c), np.empty(len(extra))
    spare = 1.0 - law.on_slots(np.ones(law.shape[1]))
    n, value, positive = c.sum(), 0.0, background + spare
    for turn in range(rounds):
        q = rising @ f
        np.cumsum(q, out=q)
        q *= extra
        q += np.multiply(positive, f.sum(), out=share)  # 1 on spare slots, which have no counts
        if turn == rounds - 1:
            value = float(counts @ np.log(q))
        np.divide(counts, q, out=share)
        base = background @ share
        share *= extra
        gain = falling @ np.cumsum(share[::-1])[::-1]
        gain += base
        gain /= n
        f *= gain
        np.maximum(f, 0.0, out=f)
        if smoothing:
            f[:] = smooth(f, circle=circle)
    return value


def smooth(f: FloatArray, *, circle: bool) -> FloatArray:
    """One smoothing step: ¼, ½, ¼; at the ends of an interval ⅔, ⅓; rescaled to the sum 1."""
    out = np.convolve(f, (0.25, 0.5, 0.25), "same")
    if circle:
        out[0] += 0.25 * f[-1]
        out[-1] += 0.25 * f[0]
    else:
        out[0] = (2 * f[0] + f[1]) / 3
        out[-1] = (2 * f[-1] + f[-2]) / 3
    out /= out.sum()
    return out
