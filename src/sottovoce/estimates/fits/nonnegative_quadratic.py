"""A primal–dual interior-point method for quadratic programs over numbers that are not negative.

    minimise  ½ fᵀKf − cᵀf    subject to  f ≥ 0

with the optimum where s = Kf − c ≥ 0 and s ∘ f = 0. For an envelope K = A diag(1/q) Aᵀ, and s/μ is how far
the weights (Aᵀf/q − 1)/μ are above their bound: they are feasible as soon as the linear equation holds, which
a full Newton step sees to, long before they are optimal.
"""

from __future__ import annotations

import numpy as np

from sottovoce.arrays import FloatArray

_MOST_STEPS = 40  # it needs about ten
_TO_BOUNDARY = 0.99


def least_quadratic(k: FloatArray, c: FloatArray, tolerance: float) -> FloatArray:
    """Numbers f ≥ 0 that nearly minimise ½ fᵀKf − cᵀf.

    Args:
        k: A positive semidefinite matrix.
        c: A vector.
        tolerance: How far Kf − c may be from s, and how large s·f may be.

    Returns:
        The numbers, all positive.
    """
    from scipy.linalg import cho_factor, cho_solve

    f, s = np.full(len(c), 1 / len(c)), np.full(len(c), 0.1 * float(np.abs(c).mean()))
    for _ in range(_MOST_STEPS):
        residual, gap = k @ f - c - s, float(f @ s)
        if float(np.abs(residual).max()) < tolerance and gap < tolerance:
            break
        matrix = k.copy()
        matrix.reshape(-1)[:: len(c) + 1] += s / f
        factor = cho_factor(matrix, overwrite_a=True, check_finite=False)

        def step(target: FloatArray | float) -> tuple[FloatArray, FloatArray]:
            move = cho_solve(factor, target / f - s - residual, check_finite=False)  # noqa: B023
            return move, k @ move + residual  # noqa: B023

        # Mehrotra: how far a step towards s·f = 0 comes tells how much to stay in the middle.
        move, slack = step(0.0)
        ahead = float((f + _reach(f, move, 1.0) * move) @ (s + _reach(s, slack, 1.0) * slack))
        move, slack = step((ahead / gap) ** 3 * gap / len(c) - move * slack)
        length = min(_reach(f, move, _TO_BOUNDARY), _reach(s, slack, _TO_BOUNDARY))
        f, s = f + length * move, s + length * slack
    return f


def _reach(position: FloatArray, move: FloatArray, share: float) -> float:
    """The whole move, or this share of the way to where the first number would be zero."""
    return min(1.0, share / max(float((-move / position).max()), 1e-300))
