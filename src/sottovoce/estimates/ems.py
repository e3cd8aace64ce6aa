"""Expectation maximisation on a grid of inputs, plain (EM) or with a smoothing step (EMS, Li et al. 2020).

    f ← f ∘ P(c / Pᵀf) / n,      EMS: then each bin becomes ¼, ½, ¼ of its neighbours and itself

EM climbs to the maximum of the likelihood, which is spiky; EMS stops where climbing and smoothing balance. Both
stop when an iteration gains less than `tolerance` in log likelihood (Li et al.: 10⁻³·e^ε for EM, 10⁻³ for EMS).
"""

from __future__ import annotations

import numpy as np

from sottovoce.errors import NoDataError
from sottovoce.estimates.differences import Differences
from sottovoce.kernels import compiled_available
from sottovoce.kernels.tables import FloatArray

_ROUNDS = 10  # iterations between two looks at the likelihood


def em(
    counts: FloatArray,
    law: Differences,
    *,
    smoothing: bool = False,
    circle: bool = False,
    tolerance: float = 1e-3,
    most: int = 100_000,
    start: FloatArray | None = None,
    compiled: bool | None = None,
) -> tuple[FloatArray, int]:
    """The probabilities of the inputs of `law`, and how many iterations it took."""
    inputs = law.shape[0]
    c = np.zeros(len(law.background))
    c[law.cells] = counts
    if not c.sum():
        raise NoDataError("there are no reports to reconstruct a distribution from")
    f = np.full(inputs, 1 / inputs) if start is None else np.array(start, dtype=np.float64)
    run = _compiled if (compiled_available() if compiled is None else compiled) else _plain
    before = -np.inf
    for done in range(0, most, _ROUNDS):
        value = run(c, law, f, smoothing, circle, _ROUNDS)
        if abs(value - before) < tolerance * _ROUNDS:
            return f / f.sum(), done + _ROUNDS
        before = value
    return f / f.sum(), most


def _compiled(
    c: FloatArray, law: Differences, f: FloatArray, smoothing: bool, circle: bool, rounds: int
) -> float:
    from sottovoce.kernels import compiled_em

    arrays = law.background, law.extra, law.slots, law.entries
    return float(compiled_em.iterate(*arrays, c, f, smoothing, circle, rounds))


def _plain(
    c: FloatArray, law: Differences, f: FloatArray, smoothing: bool, circle: bool, rounds: int
) -> float:
    """`rounds` iterations on f in place; returns the log likelihood before the last of them."""
    reported = c > 0
    n = c.sum()
    ratio = np.zeros_like(c)
    value = 0.0
    for turn in range(rounds):
        q = law.slot_mix(f)
        if turn == rounds - 1:
            value = float(c[reported] @ np.log(q[reported]))
        np.divide(c, q, out=ratio, where=reported)
        f *= law.slot_expect(ratio)
        f /= n
        np.maximum(f, 0.0, out=f)
        if smoothing:
            f[:] = smooth(f, circle=circle)
    return value


def smooth(f: FloatArray, *, circle: bool) -> FloatArray:
    """One smoothing step: ¼, ½, ¼; at the ends of an interval ⅔, ⅓; rescaled to the sum 1."""
    out = 0.5 * f
    out[1:] += 0.25 * f[:-1]
    out[:-1] += 0.25 * f[1:]
    if circle:
        out[0] += 0.25 * f[-1]
        out[-1] += 0.25 * f[0]
    else:
        out[0] = (2 * f[0] + f[1]) / 3
        out[-1] = (2 * f[-1] + f[-2]) / 3
    out /= out.sum()
    return out
