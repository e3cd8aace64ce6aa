"""A primal–dual interior-point method with Mehrotra's corrector, for the weights of an envelope.

    minimise  q·w + κ·sd_q(w)    subject to  A w ≥ b

The rows of A are probabilities. With slack s = A w − b and dual variables λ the optimum satisfies

    ∇(q·w + κ·sd_q(w)) = Aᵀλ,    s ∘ λ = 0,    s, λ ≥ 0.

Constant weights are strictly feasible, so w starts inside and every iterate stays inside: the result is valid
wherever the method stops. Three things differ from the textbook, because of the standard deviation. It has a
kink where weights are constant, which is rounded off. It is curved only across the weights, not along
them; half of the curvature of the parabola that touches it from above is kept along them, or steps would run
away. And the barrier never falls far below the dual residual: complementarity waits for the gradient.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from sottovoce.core.kernels.tables import FloatArray

_MOST_STEPS = 30  # it needs about fifteen
_ROUNDED = 0.02  # the kink of the standard deviation is rounded off by this share of it
_BLOCK = 48
_TO_BOUNDARY = 0.99  # how far a step goes towards the nearest constraint


def least_limit(constraints: FloatArray, bound: FloatArray, q: FloatArray, kappa: float) -> FloatArray:
    """Weights with constraints·w ≥ bound that nearly minimise q·w + κ·sd_q(w).

    The duality gap that is left is at most 1 % of what the sampling error adds.
    """
    from scipy.linalg.lapack import dposv, dpotrs

    highest, span = float(bound.max()), float(np.ptp(bound)) or 1.0
    b = bound - highest  # rows sum to 1, so weights follow; a target far from zero would cancel
    if _constant_is_optimal(constraints[b >= -1e-12 * span], q, kappa):
        return np.full(len(q), highest)
    primal = np.full(len(q), span)
    slack = constraints @ primal - b
    dual = 1 / slack
    dual /= dual.sum()
    floor = span**2  # keeps the standard deviation away from zero while the weights are still constant
    for _ in range(_MOST_STEPS):
        centred = primal - q @ primal
        variance = float(q @ (centred * centred))
        floor = min(floor, max(_ROUNDED**2 * variance, floor / 100))
        slope = kappa / np.sqrt(variance + floor)
        along = q * centred
        gradient = q + slope * along
        residual = gradient - constraints.T @ dual
        gap = float(slack @ dual)
        missed = float(np.abs(residual).sum()) * max(float(np.abs(centred).max()), span)
        if gap + missed < 0.01 * kappa * max(np.sqrt(variance), 0.1 * span) or slack.min() <= 0:
            break
        barrier = dual / slack
        scaled = constraints * np.sqrt(barrier)[:, None]
        flat = np.stack((np.sqrt(slope) * q, np.sqrt(slope / (2 * (variance + floor))) * along))
        hessian = _squared(scaled) - flat.T @ flat
        diagonal = hessian.reshape(-1)[:: len(q) + 1]
        diagonal += slope * q
        diagonal *= 1 + 1e-12
        # Predictor: straight towards complementarity zero.
        factor, step, failed = dposv(hessian, -gradient)
        if failed:  # numerically singular: what we have is inside and nearly optimal
            break
        slack_step = constraints @ step
        dual_step = -dual - barrier * slack_step
        slack_ahead = slack + _step_length(slack, slack_step) * slack_step
        dual_ahead = dual + _step_length(dual, dual_step) * dual_step
        centring = (slack_ahead @ dual_ahead / gap) ** 3
        # Corrector: as much of the barrier as the predictor failed to remove, and its second-order error.
        target = max(centring * gap, 0.1 * missed) / len(b) - slack * dual - slack_step * dual_step
        step, _ = dpotrs(factor, constraints.T @ (target / slack) - residual)
        slack_step = constraints @ step
        dual_step = (target - dual * slack_step) / slack
        primal = primal + _step_length(slack, slack_step, _TO_BOUNDARY) * step
        dual = dual + _step_length(dual, dual_step, _TO_BOUNDARY) * dual_step
        slack = constraints @ primal - b
    deviation = np.sqrt(max(float(q @ primal**2 - (q @ primal) ** 2), 0.0))
    if q @ primal + kappa * deviation >= 0.0:  # no better than constant weights
        return np.full(len(q), highest)
    return primal + highest


def _constant_is_optimal(top: FloatArray, q: FloatArray, kappa: float) -> bool:
    """True if no weights beat constant ones: people at the target's top could look like the pilot q.

    That is the case if some mixture of the rows where the bound is highest has a χ² distance to q of at most
    κ². A few multiplicative steps look for one.
    """
    share = np.full(len(top), 1 / len(top))
    for _ in range(8):
        mixed = share @ top
        if float(((mixed - q) ** 2 / q).sum()) <= kappa**2:
            return True
        share = share * (top @ (q / mixed))
    return False


def _squared(a: FloatArray) -> FloatArray:
    """The upper triangle of aᵀa, which is all that a Cholesky factorisation reads.

    In blocks of columns so small that BLAS starts no threads: on a busy machine these cost most.
    """
    columns = a.shape[1]
    out = np.zeros((columns, columns))
    edges = np.linspace(0, columns, -(-columns // _BLOCK) + 1).astype(int).tolist()
    for first, end in pairwise(edges):
        for begin, last in pairwise(edges):
            if begin >= first:
                out[first:end, begin:last] = a[:, first:end].T @ a[:, begin:last]
    return out


def _step_length(position: FloatArray, step: FloatArray, share: float = 1.0) -> float:
    """The whole step, or this share of the way to where the first entry would become zero."""
    return min(1.0, share / max(float((-step / position).max()), 1e-300))
