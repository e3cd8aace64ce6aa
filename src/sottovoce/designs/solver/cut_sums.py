"""Weighted sums of cuts: r(y) = Σ w·c(D(y)), and where it is least over every real y.

That needs neither a grid nor a solver. Between the roots of the D's each D keeps its sign, so there r is
convex and its tangents bound it from below: a table of every cut at every root. For absolute and squared
error r is one quadratic between neighbouring corners, and its coefficients follow from those of the piece
before: thousands of cuts cost a sort and a sum.
"""

from __future__ import annotations

import math

import numpy as np

from sottovoce.arrays import FloatArray
from sottovoce.designs.solver.cuts import Cuts

_MANY = 400  # cuts for which the table is too large
_NARROW = math.exp(6.3)  # above this e^ε tangents in a table lie so far below r that limits suffer
_ORIGIN = 0.5  # of the coordinate in which polynomials are written
_ROUNDING = 2.0**-52  # of one term of a sum


def sides(cuts: Cuts) -> tuple[FloatArray, FloatArray]:
    """The coefficients (of 1, z, z² with z = y − ½) of every D below and above its x: a row per cut."""
    x, a, b, kappa = cuts.x - _ORIGIN, cuts.a, cuts.b, cuts.kappa
    if cuts.k == 2:
        both = np.stack((a * x * x - b * x - kappa, b - 2 * a * x, a), axis=1)
        return both, both
    zero = np.zeros_like(x)
    return (
        np.stack(((a - b) * x - kappa, b - a, zero), axis=1),
        np.stack((-(a + b) * x - kappa, b + a, zero), axis=1),
    )


def between(cuts: Cuts) -> tuple[FloatArray, FloatArray]:
    """The two reports between which D is negative: both x if it never is, infinite where it stays so."""
    x, b, kappa, lossy = cuts.x, cuts.b, cuts.kappa, cuts.a > 0
    a = np.where(lossy, cuts.a, 1.0)
    middle = np.where(lossy & (cuts.k == 2), x - b / (2 * a), x)
    square = b * b / (4 * a * a) + kappa / a
    half = np.sqrt(np.maximum(square, 0)) if cuts.k == 2 else np.maximum(kappa / a, 0)
    low, high = middle - half, middle + half
    never = np.where(kappa > 0, np.inf, 0.0)  # turns, without a slope
    turn = x + np.divide(kappa, b, out=never, where=b != 0)
    low = np.where(lossy, low, np.where(b < 0, turn, np.where((b > 0) | (kappa > 0), -np.inf, x)))
    return low, np.where(lossy, high, np.where(b < 0, np.inf, turn))


def lows(cuts: Cuts, weights: FloatArray, e: float) -> tuple[FloatArray, FloatArray]:
    """Where r is least on each of its pieces, and a number below r there by at least what rounding may hide.

    The loss must be absolute or squared.
    """
    left, right = (weights[:, None] * side for side in sides(cuts))
    low, high = between(cuts)
    opens, closes = np.isfinite(low), np.isfinite(high)
    corner = np.concatenate((low[opens], cuts.x, high[closes])) - _ORIGIN
    more = np.where(low < high, e - 1, 0.0)[:, None]  # of a D that is negative somewhere: then around its x
    change = np.concatenate(((more * left)[opens], (1 + more) * (right - left), (-more * right)[closes]))
    order = np.argsort(corner, kind="stable")
    corner, change = corner[order], change[order]
    first, last = left * np.where(opens, 1.0, e)[:, None], right * np.where(closes, 1.0, e)[:, None]
    pieces = np.vstack((first.sum(axis=0), first.sum(axis=0) + np.cumsum(change, axis=0)))
    pieces[-1] = last.sum(axis=0)  # of its own terms: far out, others' rounding would be magnified
    size = np.tile(np.abs(first).sum(axis=0) + np.abs(last).sum(axis=0), (len(pieces), 1))
    size[1:-1] += np.abs(change).sum(axis=0)
    begin, end = np.append(-np.inf, corner), np.append(corner, np.inf)
    c0, c1, c2 = pieces.T
    with np.errstate(divide="ignore", invalid="ignore"):
        vertex = np.clip(np.where(c2 > 0, -c1 / (2 * c2), 0.0), begin, end)
    z = np.stack([np.where(np.isfinite(at), at, vertex) for at in (begin, vertex, end)])
    r = c0 + z * (c1 + z * c2)
    s0, s1, s2 = size.T
    r -= _ROUNDING * (len(change) + 16) * (s0 + np.abs(z) * (s1 + np.abs(z) * s2))
    falls = (c2[[0, -1]] == 0) & (c1[[0, -1]] * [1, -1] > 0)  # towards an infinity: no error is in the sum
    r[:, [0, -1]] = np.where(falls, -np.inf, r[:, [0, -1]])
    least = r.argmin(axis=0), np.arange(len(pieces))
    return z[least] + _ORIGIN, r[least]


def least_sum(cuts: Cuts, weights: FloatArray, e: float) -> float:
    """A number that r(y) = Σ w·c(D(y)) is nowhere below, for any real y; tight if r is negative somewhere."""
    if cuts.k in (1, 2) and (len(cuts) > _MANY or e > _NARROW):
        return float(lows(cuts, weights, e)[1].min())
    points = cuts.roots()
    middle = (points[1:] + points[:-1]) / 2
    outer = [points[0] - 1.0, points[-1] + 1.0]
    sign = np.where(cuts.values(np.concatenate((outer[:1], middle, outer[1:]))) < 0, e, 1.0)
    factor = sign * weights[:, None]  # per cut and piece; the first and last pieces reach to infinity
    low = _unbounded(cuts, factor[:, 0], points[0], -1.0)
    low = min(low, _unbounded(cuts, factor[:, -1], points[-1], 1.0))
    return min(low, _bounded(cuts, factor[:, 1:-1], points[:-1], points[1:]))


def _unbounded(cuts: Cuts, factor: FloatArray, end: float, side: float) -> float:
    """The least of a convex piece from `end` outwards: where it stops falling, its tangents bound it."""
    step = 1.0
    for _ in range(200):
        far = end + side * step
        beyond = np.array([end + 2 * side * step])
        if side * float(factor @ cuts.slopes(np.array([far]), beyond)[:, 0]) >= 0:
            left, right = sorted((end, far))
            return _bounded(cuts, factor[:, None], np.array([left]), np.array([right]))
        step *= 2
    return -np.inf


def _bounded(cuts: Cuts, factor: FloatArray, left: FloatArray, right: FloatArray) -> float:
    """The least over convex pieces: tangents at both ends, halving the pieces that are not settled."""

    scale = float(np.abs(factor * cuts.kappa[:, None]).sum(axis=0).max(initial=0.0))
    least, floor = np.inf, np.zeros(0)
    for _ in range(64):
        middle = (left + right) / 2
        f0, f1 = ((factor * cuts.values(y)).sum(axis=0) for y in (left, right))
        d0, d1 = ((factor * cuts.slopes(y, middle)).sum(axis=0) for y in (left, right))
        least = min(least, f0.min(initial=np.inf), f1.min(initial=np.inf))
        falls = (d0 < 0) & (d1 > 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            meet = f0 + d0 * (f1 - f0 - d1 * (right - left)) / (d0 - d1)
        floor = np.where(falls, np.minimum(meet, np.minimum(f0, f1)), np.minimum(f0, f1))
        unsettled = floor < min(least - 1e-13 * scale, 0.0)
        if not unsettled.any():
            break
        factor = np.hstack((factor[:, unsettled], factor[:, unsettled]))
        left, right = (
            np.append(left[unsettled], middle[unsettled]),
            np.append(middle[unsettled], right[unsettled]),
        )
    return float(min(least, floor.min(initial=np.inf))) - 1e-13 * scale


def least_shift(cuts: Cuts, weights: FloatArray, e: float) -> float:
    """Nearly the least η ≥ 0 for which lowering every κ by η makes r nowhere negative; checked.

    The least of r is concave in η and grows at least as fast as Σw·η. So the first step, −least/Σw, is
    enough; and where a chord from an η too small to one large enough meets zero, the concave curve lies above
    it: every point on the way down is large enough, too.
    """
    low = 1e-12 * float(np.abs(cuts.kappa).max())
    below = least_sum(cuts.lowered(low), weights, e)
    if below >= 0:
        return low
    enough, trial = math.inf, low - below / float(weights.sum()) * (1 + 1e-9)
    for _ in range(60):
        above = least_sum(cuts.lowered(trial), weights, e)
        if above >= 0:
            enough = trial
            trial = low + (trial - low) * below / (below - above) * (1 + 1e-9)
        elif enough < math.inf:
            break
        else:  # rounding: a first step that is enough on paper only
            trial += (trial - low) * 0.01
        if trial >= enough * 0.998:
            break
    return enough
