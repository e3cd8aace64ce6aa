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

Numpy's calls cost more than the arithmetic of such small problems, so these are solved in step: vectors are
rows of one array, with slack 1 and zeros beyond a problem's end. No solution depends on others, to the bit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np

from sottovoce.core.arrays import FloatArray
from sottovoce.estimates.model import DIAGONAL, Pairs
from sottovoce.estimates.statistic import Asking, Result

_MOST_STEPS, _MOST_WITH_U = 30, 60  # it needs about fifteen; with u twice as many
_BLOCK = 64
_ALONE = 400_000  # multiplications for which BLAS starts no threads
_IN_STEP = 32  # problems: vectors of more would not stay in the cache
_ROUNDED = 0.02  # the kink of the standard deviation is rounded off by this share of it
_RUN = 4.0  # a step moves weights by so many of their standard deviations: nothing else may stop them
_TO_BOUNDARY = 0.99  # how far a step goes towards the nearest constraint


class Problem(NamedTuple):
    """What is minimised, and under which constraints.

    Attributes:
        rows: A, probabilities in every row.
        bound: b.
        q: Probabilities of the pilot.
        kappa: κ.
        added: B, where something is known about the truth.
        cost: c.
        pairs: What AᵀDA is summed from, if that is little.
    """

    rows: FloatArray
    bound: FloatArray
    q: FloatArray
    kappa: float
    added: FloatArray | None = None
    cost: FloatArray | None = None
    pairs: Pairs | None = None


def least_limits(problems: Sequence[Problem]) -> list[tuple[FloatArray, FloatArray]]:
    """Weights w, and u where there is any, that nearly minimise q·w + κ·sd_q(w) + cost·u in each problem.

    They satisfy the constraints. The duality gap left is at most 1 % of what the sampling error adds.
    """
    programs = [_Program(problem) for problem in problems]
    by_size = sorted(programs, key=lambda one: one.matrix.shape)
    for begin in range(0, len(by_size), _IN_STEP):
        _solve(by_size[begin : begin + _IN_STEP])
    return [one.solution() for one in programs]


class _Program:
    """A problem about x = (w, u), measured from constant weights at the highest bound: M x ≥ b.

    At first x is strictly inside, and then where the method ends; q is zero for u.
    """

    def __init__(self, problem: Problem) -> None:
        rows, bound, q, self.kappa, added, cost, pairs = problem
        self.highest, self.span = float(bound.max()), float(np.ptp(bound)) or 1.0
        self.b = bound - self.highest  # rows sum to 1, so weights follow; a target far from zero would cancel
        self.k, self.matrix, self.price, self.q = len(q), rows, q, q
        self.x, self.unit, self.pairs = np.full(self.k, self.span), np.ones(0), pairs
        if added is None or cost is None or not len(cost):
            return
        self.unit = np.abs(added).max(axis=0)  # of each u: it adds at most 1
        added, many = added / self.unit, np.zeros(len(cost))
        little = self.span / (2 * float(np.abs(added).sum(axis=1).max()))
        self.matrix = np.block([[rows, added], [np.zeros((len(many), self.k)), np.eye(len(many))]])
        self.b, self.q = np.append(self.b, many), np.append(q, many)
        self.x, self.price = np.append(self.x, many + little), np.append(q, cost / self.unit)

    def constant_is_optimal(self, dual: FloatArray) -> bool:
        """True if the dual variables prove it: people at the target's top could look like the pilot q.

        No weights beat constant ones if some mixture of the rows where the bound is highest has a χ² distance
        to q of at most κ².
        """
        if len(self.unit):
            return False
        share = np.where(self.b >= -1e-12 * self.span, dual[: len(self.b)], 0.0)
        apart = share @ self.matrix / share.sum() - self.q
        return float((apart**2 / self.q).sum()) <= self.kappa**2

    def squares(self, weights: FloatArray) -> FloatArray:
        """The upper triangle of Mᵀ diag(weights) M plus the diagonal of the last weights, from the end."""
        m, k = self.matrix.shape
        if (pairs := self.pairs) is not None:
            sums = np.bincount(pairs.place, pairs.value * weights.take(pairs.row), k * k)
            return sums.reshape(k, k).astype(np.float64, copy=False)
        scaled, out = self.matrix * np.sqrt(weights[:m, None]), np.empty((k, k))
        for one, other in _blocks(m, k):
            np.matmul(scaled[:, one].T, scaled[:, other], out=out[one, other])
        diagonal = out.reshape(-1)[:: k + 1]
        diagonal += weights[: -1 - k : -1]
        diagonal *= DIAGONAL
        return out

    def solution(self) -> tuple[FloatArray, FloatArray]:
        """The weights and u, or constant weights if those are no worse."""
        w, u, mean = self.x[: self.k], self.x[self.k :] / self.unit, float(self.q @ self.x)
        deviation = math.sqrt(max(float(self.q @ self.x**2) - mean**2, 0.0))
        if self.price @ self.x + self.kappa * deviation >= 0.0:
            return np.full(self.k, self.highest), np.zeros(len(u))
        return w + self.highest, u


@np.errstate(all="ignore")  # programs that are done are computed along with the others, and not looked at
def _solve(programs: Sequence[_Program]) -> None:
    """Move the x of each program to where the method ends."""
    from scipy.linalg.blas import dsyrk
    from scipy.linalg.lapack import dposv, dpotrs

    matrices, ends = [one.matrix for one in programs], [one.matrix.shape for one in programs]
    price, primal, q = (_stack([getattr(one, name) for one in programs]) for name in ("price", "x", "q"))
    is_weight = _stack([np.ones(one.k) for one in programs], primal.shape[1])
    kappa, span = np.array([(one.kappa, one.span) for one in programs]).T
    inside = _stack([np.ones(len(one.b)) for one in programs])
    beyond, count = 1 - inside, inside.sum(axis=1)
    slack, ratio, step, pull = beyond.copy(), beyond * 0, primal * 0, primal * 0
    weights, flat, reverse = np.hstack((ratio, pull)), np.stack((pull, pull, pull)), q[:, ::-1].copy()
    ones = np.ones_like(pull)
    for i, program in enumerate(programs):
        slack[i, : len(program.b)] = program.matrix @ program.x - program.b
    dual = inside / slack
    dual /= np.vecdot(dual, inside)[:, None]
    floor = span**2  # keeps the standard deviation away from zero while the weights are still constant
    most = np.array([_MOST_WITH_U if len(one.unit) else _MOST_STEPS for one in programs])
    live, factors = np.arange(len(programs)), list(matrices)
    views = [(dual[i, :m], ratio[i, :m], pull[i, :k]) for i, (m, k) in enumerate(ends)]
    turned = _Turn(programs, primal.shape[1])
    for turn in range(int(most.max())):
        for i in live.tolist():
            views[i][0].dot(matrices[i], views[i][2])
        centred = (primal - np.vecdot(q, primal)[:, None]) * is_weight
        along = q * centred
        variance = np.vecdot(along, centred)
        floor = np.minimum(floor, np.maximum(_ROUNDED**2 * variance, floor / 100))
        slope = kappa / np.sqrt(variance + floor)
        gradient = price + slope[:, None] * along
        residual = gradient - pull
        products = slack * dual
        gap = np.vecdot(slack, dual)
        missed = np.vecdot(np.abs(residual), ones) * np.maximum(np.abs(centred).max(axis=1), span)
        near = gap + missed < 0.01 * kappa * np.maximum(np.sqrt(variance), 0.1 * span)
        worse = (np.vecdot(price, primal) + kappa * np.sqrt(variance) >= 0) & (turn > 3)
        for i in live[worse[live]].tolist():
            near[i] |= programs[i].constant_is_optimal(dual[i])
        live = live[~(near | (slack.min(axis=1) <= 0) | (turn >= most))[live]]
        # Predictor: straight towards complementarity zero. Δs = r∘s, and then Δλ = −(1 + r)∘λ.
        np.divide(dual, slack, out=weights[:, : dual.shape[1]])
        np.multiply(reverse, slope[:, None], out=weights[:, dual.shape[1] :])
        np.multiply(q, np.sqrt(slope)[:, None], out=flat[0])
        np.multiply(along, np.sqrt(slope / (2 * (variance + floor)))[:, None], out=flat[1])
        flat[2] = gradient
        columns = turned.by_v(flat)
        ratio[:], step[:] = 0.0, 0.0
        for i in live.tolist():
            k = ends[i][1]
            hessian = programs[i].squares(weights[i])
            lower = dsyrk(-1.0, columns[:2, i, :k].T, 1.0, hessian.T, lower=1, overwrite_c=1)
            factors[i], step[i, :k], failed = dposv(lower, columns[2, i, :k], lower=1, overwrite_a=1)
            if failed:  # numerically singular: what we have is inside and nearly optimal
                live = live[live != i]
        step = turned.of_w(step)
        for i in live.tolist():
            matrices[i].dot(step[i, : ends[i][1]], views[i][1])
        if not len(live):
            break
        ratio /= -slack
        forward, back = _step_length(ratio.min(axis=1)), _step_length(-1.0 - ratio.max(axis=1))
        square = products * ratio
        first, second = np.vecdot(products, ratio), np.vecdot(square, ratio)
        rest = (1 - back) * (gap + forward * first) - back * (first + forward * second)
        # Corrector: as much of the barrier as the predictor failed to remove, and its second-order error.
        square += square * ratio
        square -= products
        barrier = np.maximum((rest / gap) ** 3 * gap, 0.1 * missed) / count
        square += barrier[:, None] * inside
        share = square / slack
        ratio[:], step[:] = 0.0, 0.0
        for i in live.tolist():
            share[i, : ends[i][0]].dot(matrices[i], views[i][2])
        right = turned.by_v(pull - residual)
        for i in live.tolist():
            k = ends[i][1]
            step[i, :k] = dpotrs(factors[i], right[i, :k], lower=1)[0]
        step = turned.of_w(step)
        for i in live.tolist():
            matrices[i].dot(step[i, : ends[i][1]], views[i][1])
        ratio /= slack
        square /= products + beyond
        square -= ratio
        length = _RUN * (np.sqrt(variance) + span) / np.maximum(np.sqrt(np.vecdot(q * step, step)), 1e-300)
        length = np.minimum(length, _step_length(ratio.min(axis=1), _TO_BOUNDARY))[:, None]
        primal += length * step
        slack += length * ratio * slack
        dual *= 1 + _step_length(square.min(axis=1), _TO_BOUNDARY)[:, None] * square
    for program, x, (_, k) in zip(programs, primal, ends, strict=True):
        program.x = x[:k]


def _stack(vectors: Sequence[FloatArray], width: int = 0) -> FloatArray:
    """Vectors as the rows of an array, with zeros behind them; its width is a multiple of that of a block."""
    out = np.zeros((len(vectors), -(-max(width, *map(len, vectors)) // _BLOCK) * _BLOCK))
    for row, vector in zip(out, vectors, strict=True):
        row[: len(vector)] = vector
    return out


class _Turn:
    """From gradients by w to those by v, in which Newton's matrix is summed (see `Pairs`); from v to w."""

    def __init__(self, programs: Sequence[_Program], width: int) -> None:
        units = [np.ones(len(one.x)) if one.pairs is None else one.pairs.unit for one in programs]
        self.unit = _stack(units, width)
        self.link = self.unit[:, :-1] * np.array([[one.pairs is not None] for one in programs])

    def by_v(self, y: FloatArray) -> FloatArray:
        out = y * self.unit
        out[..., 1:] -= y[..., :-1] * self.link
        return out

    def of_w(self, v: FloatArray) -> FloatArray:
        out = v * self.unit
        out[:, :-1] -= v[:, 1:] * self.link
        return out


@cache
def _blocks(rows: int, columns: int) -> list[tuple[slice, slice]]:
    """The upper triangle of MᵀM in blocks so small that BLAS starts no threads, which cost more."""
    many = math.ceil(columns * math.sqrt(rows / _ALONE))
    parts = [slice(columns * i // many, columns * (i + 1) // many) for i in range(many)]
    return list(combinations_with_replacement(parts, 2))


def _step_length(least: FloatArray, share: float = 1.0) -> FloatArray:
    """The whole step, or this share of the way to zero for what shrinks most, relative to where it is."""
    return np.minimum(1.0, share / np.maximum(-least, 1e-300))


class Posed(NamedTuple):
    """A problem of weights, and all rows at which they have to be above a bound."""

    problem: Problem
    rows: FloatArray
    bound: FloatArray

    def raised(self, w: FloatArray, u: FloatArray) -> FloatArray:
        """A solution as weights that hold everywhere. What u costs is in all: it joins every limit."""
        short = self.bound - self.rows @ w
        if self.problem.added is not None and self.problem.cost is not None:
            short, w = short - self.problem.added @ u, w + float(self.problem.cost @ u)
        return w + max(0.0, float(short.max()))


def solved(posed: Sequence[Posed]) -> list[FloatArray]:
    """The weights of several problems, which takes less time together."""
    solutions = least_limits([one.problem for one in posed])
    return [one.raised(*solution) for one, solution in zip(posed, solutions, strict=True)]


def answered(asking: Asking[Result]) -> Result:
    """What one of them returns, given the weights that it asks for."""
    try:
        limits = next(asking)
        while True:
            weights = solved([one.envelope.posed(one.target, one.side, one.z) for one in limits])
            limits = asking.send([one.side * w for one, w in zip(limits, weights, strict=True)])
    except StopIteration as end:
        result: Result = end.value
        return result
