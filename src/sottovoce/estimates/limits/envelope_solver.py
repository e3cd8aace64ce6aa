"""Mehrotra's predictor–corrector method, primal and dual, for the weights of an envelope.

    minimise  q·w + κ·sd_q(w) + c·u    subject to  A w + B u ≥ b,  u ≥ 0

The rows of A are probabilities; u is there where something is known about the truth (`shape_constraints`).
With x = (w, u), all constraints together M x ≥ m, slack s = M x − m and dual variables λ the optimum
satisfies

    ∇(q·w + κ·sd_q(w) + c·u) = Mᵀλ,    s ∘ λ = 0,    s, λ ≥ 0.

Constant weights are strictly feasible, so w starts inside and every iterate stays inside: the result is valid
wherever the method stops. Three things differ from the textbook, because of the standard deviation. It has a
kink where weights are constant, which is rounded off. It is curved only across the weights, not along
them; half of the curvature of the parabola that touches it from above is kept along them, or steps would run
away. And the barrier never falls far below the dual residual: complementarity waits for the gradient.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from sottovoce.arrays import FloatArray
from sottovoce.estimates.answer.linear_algebra import single_threaded

_MOST_STEPS, _MOST_WITH_U = 30, 60  # it needs about ten; with u twice as many
_ROUNDED = 0.02  # the kink of the standard deviation is rounded off by this share of it
_RUN = 4.0  # a step moves weights by so many of their standard deviations: nothing else may stop them
_TO_BOUNDARY = 0.99  # how far a step goes towards the nearest constraint
_EXACT = 0.01  # the duality gap left, of what the sampling error adds
_DIAGONAL = 1 + 1e-12  # times a diagonal: sums of products may be singular


class Problem(NamedTuple):
    """What is minimised, and under which constraints.

    Attributes:
        rows: A, probabilities in every row.
        bound: b.
        q: Probabilities of the pilot.
        kappa: κ.
        added: B, where something is known about the truth.
        cost: c.
    """

    rows: FloatArray
    bound: FloatArray
    q: FloatArray
    kappa: float
    added: FloatArray | None = None
    cost: FloatArray | None = None


class Program(NamedTuple):
    """The same about x = (w, u): minimise price·x + κ·sd_q(x) subject to M x ≥ m.

    Weights are measured from constant ones at the highest bound, because a target far from zero would cancel.
    Each u is scaled to add at most 1.

    Attributes:
        matrix: M.
        bound: m.
        price: q and c.
        q: Probabilities of the pilot, and zeros for u.
        kappa: κ.
        span: How far the bound ranges.
        start: An x strictly inside.
    """

    matrix: FloatArray
    bound: FloatArray
    price: FloatArray
    q: FloatArray
    kappa: float
    span: float
    start: FloatArray

    @classmethod
    def of(cls, rows: FloatArray, bound: FloatArray, q: FloatArray, kappa: float) -> Program:
        """The program of a problem without u."""
        span = float(np.ptp(bound)) or 1.0
        return cls(rows, bound - bound.max(), q, q, kappa, span, np.full(len(q), span))

    def joined(self, added: FloatArray, cost: FloatArray) -> Program:
        """This program with u, which adds at most 1."""
        k, many = len(self.q), len(cost)
        little = self.span / (2 * float(np.abs(added).sum(axis=1).max()))
        return Program(
            np.block([[self.matrix, added], [np.zeros((many, k)), np.eye(many)]]),
            np.append(self.bound, np.zeros(many)),
            np.append(self.price, cost),
            np.append(self.q, np.zeros(many)),
            self.kappa,
            self.span,
            np.append(self.start, np.full(many, little)),
        )

    def value(self, x: FloatArray) -> float:
        """What is minimised; zero for constant weights at the highest bound."""
        variance = float(self.q @ x**2) - float(self.q @ x) ** 2
        return float(self.price @ x) + self.kappa * math.sqrt(max(variance, 0.0))

    def constant_is_optimal(self, dual: FloatArray) -> bool:
        """True if the dual variables prove it: people at the target's top could look like the pilot q.

        No weights beat constant ones if some mixture of the rows where the bound is highest has a χ² distance
        to q of at most κ².
        """
        if not self.q.all():  # with u there is more than constant weights
            return False
        share = np.where(self.bound >= -1e-12 * self.span, dual, 0.0)
        apart = share @ self.matrix / share.sum() - self.q
        return float((apart**2 / self.q).sum()) <= self.kappa**2


@single_threaded
def least_limit(problem: Problem) -> tuple[FloatArray, FloatArray]:
    """Weights w, and u where there is any, that nearly minimise q·w + κ·sd_q(w) + c·u.

    They satisfy the constraints. The duality gap left is at most 1 % of what the sampling error adds.
    """
    program, k = Program.of(*problem[:4]), len(problem.q)
    unit, most = np.ones(0), _MOST_STEPS
    if problem.added is not None and problem.cost is not None and len(problem.cost):
        unit, most = np.abs(problem.added).max(axis=0), _MOST_WITH_U
        program = program.joined(problem.added / unit, problem.cost / unit)
    x = _predictor_corrector(program, most)
    highest = float(problem.bound.max())
    if program.value(x) >= 0.0:
        return np.full(k, highest), np.zeros(len(unit))
    return x[:k] + highest, x[k:] / unit


def _predictor_corrector(program: Program, most: int) -> FloatArray:
    """The x where the method ends, after at most so many steps."""
    from scipy.linalg.lapack import dposv, dpotrs

    matrix, bound, price, q, kappa, span, x = program
    slack = matrix @ x - bound
    dual = 1 / slack
    dual /= dual.sum()
    floor = span**2  # keeps the standard deviation away from zero while the weights are still constant
    for step in range(most):
        centred = x - q @ x
        along = q * centred
        variance = float(along @ centred)
        floor = min(floor, max(_ROUNDED**2 * variance, floor / 100))
        slope = kappa / math.sqrt(variance + floor)
        gradient = price + slope * along
        residual = gradient - dual @ matrix
        products, deviation = slack * dual, math.sqrt(variance)
        gap = float(products.sum())
        missed = float(np.abs(residual).sum()) * max(float(np.abs(centred[q > 0]).max()), span)
        if gap + missed < _EXACT * kappa * max(deviation, 0.1 * span):
            break
        if step > 3 and price @ x + kappa * deviation >= 0 and program.constant_is_optimal(dual):
            break
        # Newton's matrix: MᵀDM and the curvature of the standard deviation.
        scaled = matrix * np.sqrt(dual / slack)[:, None]
        across = np.array([math.sqrt(slope) * q, math.sqrt(slope / (2 * (variance + floor))) * along])
        newton = scaled.T @ scaled
        newton.reshape(-1)[:: len(q) + 1] += slope * q
        newton.reshape(-1)[:: len(q) + 1] *= _DIAGONAL
        newton -= across.T @ across
        # Predictor: straight towards complementarity zero. Δs = r∘s, and then Δλ = −(1 + r)∘λ.
        factor, move, failed = dposv(newton.T, gradient, lower=1, overwrite_a=1)
        if failed:  # numerically singular: what we have is inside and nearly optimal
            break
        ratio = matrix @ move / -slack
        forward, back = _step_length(ratio), _step_length(-1 - ratio)
        rest = float(products @ ((1 + forward * ratio) * (1 - back * (1 + ratio))))
        # Corrector: as much of the barrier as the predictor failed to remove, and its second-order error.
        barrier = max((rest / gap) ** 3 * gap, 0.1 * missed) / len(slack)
        change = barrier - products + products * ratio * (1 + ratio)
        move = dpotrs(factor, (change / slack) @ matrix - residual, lower=1)[0]
        ratio = matrix @ move / slack
        run = _RUN * (deviation + span) / max(math.sqrt(float(q @ move**2)), 1e-300)
        length = min(run, _step_length(ratio, _TO_BOUNDARY))
        x = x + length * move
        slack *= 1 + length * ratio
        turn = change / products - ratio  # Δλ/λ
        dual *= 1 + _step_length(turn, _TO_BOUNDARY) * turn
        if slack.min() <= 0:
            break
    return x


def _step_length(ratio: FloatArray, share: float = 1.0) -> float:
    """The whole step, or this share of the way to zero for what shrinks most, relative to where it is."""
    return min(1.0, share / max(-float(ratio.min()), 1e-300))
