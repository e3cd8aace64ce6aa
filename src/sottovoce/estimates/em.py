"""Expectation–maximisation on binned inputs: f ← f · P(c / Pᵀf) / n, the likelihood never falls.

Each step costs two products of the operator, O(groups + bins). EM run to the end fits noise: as a *pilot* it
is stopped early, and reconstructions smooth between steps (`smooth`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sottovoce.kernels.tables import FloatArray
from sottovoce.reporter import Operator

Smoother = Callable[[FloatArray], FloatArray]


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
    smooth: Smoother | None = None,
    tolerance: float = 1e-3,
    most: int = 10_000,
) -> Fit:
    """Fit bin probabilities to group counts until a step gains less than `tolerance` in log-likelihood.

    With `smooth` (applied after every step) the likelihood may fall; the rule is then on its change.
    """
    counts = np.asarray(counts, dtype=np.float64)
    n = counts.sum()
    bins = law.shape[0]
    f = np.full(bins, 1.0 / bins) if start is None else np.asarray(start, dtype=np.float64)
    q = law.mix(f)
    last, converged, steps = _log_likelihood(counts, q), False, 0
    while steps < most and not converged:
        f = f * law.expect(counts / q) / n
        if smooth is not None:
            f = smooth(f)
        f = f / f.sum()
        q = law.mix(f)
        now = _log_likelihood(counts, q)
        steps, converged, last = steps + 1, abs(now - last) < tolerance, now
    return Fit(f, q, steps, converged, last)


def _log_likelihood(counts: FloatArray, q: FloatArray) -> float:
    """Σ c log q; every group has positive probability because every cell has a background."""
    return float(counts @ np.log(q))
