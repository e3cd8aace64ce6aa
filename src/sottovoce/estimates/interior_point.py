"""A primal–dual interior-point method with Mehrotra's corrector, for the weights of an envelope.

    minimise  q·w + κ·sd_q(w) + c·u    subject to  A w + B u ≥ b,  u ≥ 0

The rows of A are probabilities; u is there where something is known about the truth (`shapes`). With
x = (w, u), all constraints together M x ≥ m, slack s = M x − m and dual variables λ the optimum satisfies

    ∇(q·w + κ·sd_q(w) + c·u) = Mᵀλ,    s ∘ λ = 0,    s, λ ≥ 0.

Constant weights are strictly feasible, so w starts inside and every iterate stays inside: the result is valid
wherever the method stops. Three things differ from the textbook, because of the standard deviation. It has a
kink where weights are constant, which is rounded off. It is curved only across the weights, not along
them; half of the curvature of the parabola that touches it from above is kept along them, or steps would run
away. And the barrier never falls far below the dual residual: complementarity waits for the gradient.
"""

from __future__ import annotations

import math
from functools import cache
from itertools import pairwise

import numpy as np

from sottovoce.core.kernels.tables import FloatArray

_MOST_STEPS = 30  # it needs about fifteen
_ROUNDED = 0.02  # the kink of the standard deviation is rounded off by this share of it
_BLOCK = 48
_TO_BOUNDARY = 0.99  # how far a step goes towards the nearest constraint


def least_limit(
    rows: FloatArray,
    bound: FloatArray,
    q: FloatArray,
    kappa: float,
    added: FloatArray | None = None,
    cost: FloatArray | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Weights w, and u where there is any, that nearly minimise q·w + κ·sd_q(w) + cost·u.

    They satisfy rows·w + added·u ≥ bound and u ≥ 0. The duality gap that is left is at most 1 % of what the
    sampling error adds.
    """
    from scipy.linalg.lapack import dposv, dpotrs

    highest, span = float(bound.max()), float(np.ptp(bound)) or 1.0
    b = bound - highest  # rows sum to 1, so weights follow; a target far from zero would cancel
    k, constraints, primal, price, unit = len(q), rows, np.full(len(q), span), q, np.ones(0)
    if added is None or cost is None or not len(cost):
        if _constant_is_optimal(rows[b >= -1e-12 * span], q, kappa):
            return np.full(k, highest), np.zeros(0)
    else:
        many, unit = len(cost), np.abs(added).max(axis=0)  # of each u: it adds at most 1
        constraints = np.block([[rows, added / unit], [np.zeros((many, k)), np.eye(many)]])
        b = np.append(b, np.zeros(many))
        little = span / (2 * float(np.abs(added / unit).sum(axis=1).max()))
        primal, price = np.append(primal, np.full(many, little)), np.append(q, cost / unit)
    slack = constraints @ primal - b
    dual = 1 / slack
    dual /= dual.sum()
    floor = span**2  # keeps the standard deviation away from zero while the weights are still constant
    flat = np.empty((2, k))
    for _ in range(_MOST_STEPS):
        w = primal[:k]
        centred = w - q @ w
        along = q * centred
        variance = float(along @ centred)
        floor = min(floor, max(_ROUNDED**2 * variance, floor / 100))
        slope = kappa / math.sqrt(variance + floor)
        gradient = price.copy()
        gradient[:k] += slope * along
        residual = gradient - dual @ constraints
        products = slack * dual
        gap = float(products.sum())
        missed = float(np.abs(residual).sum()) * max(float(np.abs(centred).max()), span)
        if gap + missed < 0.01 * kappa * max(math.sqrt(variance), 0.1 * span) or slack.min() <= 0:
            break
        hessian = _squared(constraints * np.sqrt(dual / slack)[:, None])
        np.multiply(q, math.sqrt(slope), out=flat[0])
        np.multiply(along, math.sqrt(slope / (2 * (variance + floor))), out=flat[1])
        hessian[:k, :k] -= flat.T @ flat
        diagonal = hessian.reshape(-1)[:: len(primal) + 1]
        diagonal[:k] += slope * q
        diagonal *= 1 + 1e-12
        # Predictor: straight towards complementarity zero. Δs = r∘s, and then Δλ = −(1 + r)∘λ.
        factor, step, failed = dposv(hessian.T, gradient, lower=1, overwrite_a=1)
        if failed:  # numerically singular: what we have is inside and nearly optimal
            break
        ratio = constraints @ step
        ratio /= -slack
        ahead = _step_length(float(ratio.min())), _step_length(-1.0 - float(ratio.max()))
        square = products * ratio
        first, second = float(square.sum()), float(square @ ratio)
        rest = (1 - ahead[1]) * (gap + ahead[0] * first) - ahead[1] * (first + ahead[0] * second)
        centring = (rest / gap) ** 3
        # Corrector: as much of the barrier as the predictor failed to remove, and its second-order error.
        square += square * ratio
        square -= products
        square += max(centring * gap, 0.1 * missed) / len(b)
        step, _ = dpotrs(factor, (square / slack) @ constraints - residual, lower=1)
        ratio = constraints @ step
        ratio /= slack
        square /= products
        square -= ratio
        primal = primal + _step_length(float(ratio.min()), _TO_BOUNDARY) * step
        dual *= 1 + _step_length(float(square.min()), _TO_BOUNDARY) * square
        slack = constraints @ primal - b
    w, u = primal[:k], primal[k:] / unit
    deviation = np.sqrt(max(float(q @ w**2 - (q @ w) ** 2), 0.0))
    if price @ primal + kappa * deviation >= 0.0:  # no better than constant weights
        return np.full(k, highest), np.zeros(len(u))
    return w + highest, u


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
    out, blocks = np.zeros((columns, columns)), _blocks(columns)
    for i, (first, end) in enumerate(blocks):
        for begin, last in blocks[i:]:
            np.matmul(a[:, first:end].T, a[:, begin:last], out=out[first:end, begin:last])
    return out


@cache
def _blocks(columns: int) -> list[tuple[int, int]]:
    """Columns in blocks of nearly equal size."""
    return list(pairwise(np.linspace(0, columns, -(-columns // _BLOCK) + 1).astype(int).tolist()))


def _step_length(least: float, share: float = 1.0) -> float:
    """The whole step, or this share of the way to zero for what shrinks most, relative to where it is."""
    return min(1.0, share / max(-least, 1e-300))
