"""From real numbers to integers: the weights, decodings and start tables that designs share.

Every builder fixes integers first and derives the rest from them, so that what a design promises
(unbiasedness, the range of reports) holds for the integers that ship. `q` is a rational lower bound of
e^ε; e_j ≤ a_j·(q − 1) makes the ratio of any two counts at most q.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING, ParamSpec, TypeVar

import numpy as np

from sottovoce.arrays import FloatArray, IntArray
from sottovoce.errors import ArgumentError
from sottovoce.exact.exponential import BITS, MAX_BITS, MIN_BITS, exp_units, written
from sottovoce.reporters.mechanism import Mechanism
from sottovoce.reporters.window import Window
from sottovoce.values.domain import Domain

if TYPE_CHECKING:
    from _typeshed import DataclassInstance
    from numpy.typing import ArrayLike

_TWIN = 2.0**-40  # of the domain, and of all extra weight: what lies closer is one
Knots = Sequence[tuple[float, int]]  # (t, window start)
P = ParamSpec("P")
Made = TypeVar("Made", bound="DataclassInstance")


def named(design: Callable[P, Made]) -> Callable[P, Made]:
    """Give what a design makes the design's name."""

    @wraps(design)
    def build(*args: P.args, **kwargs: P.kwargs) -> Made:
        return replace(design(*args, **kwargs), name=design.__name__)

    return build


def uniform_window(
    epsilon: float, domain: Domain, *, mass: float, cells: int, margin: float = 0.0, lag: float = 0.0
) -> Mechanism:
    """Make equal cells over [−margin, 1 + margin], a background of total `mass` and windows around the truth.

    Without a margin the window is centred on t and stops at the ends of the domain (OGPM); on a circle it
    goes around. With a margin it moves evenly from one end of the range to the other (square wave), or by
    `lag` more slowly within half a window of the ends than evenly, and faster between.
    """
    q = exp_units(*written(epsilon))  # in whole numbers: a device that asks for this loads no fractions
    bits = draw_bits(mass, (q - (1 << BITS)) / (1 << BITS), domain.is_circle)
    weight, parts = mass.as_integer_ratio()
    a = max(1, _nearest(weight << bits, parts * cells))
    e = (a * q >> BITS) - a
    around, length = cells * e, (1 << bits) - cells * a
    if domain.is_circle:
        half = length // 2
        knots = [(0.0, around - half), (1.0, 2 * around - half)]
    elif margin > 0:
        stop, last = length / around / 2, around - length
        slow = round((1 - lag) * stop * last)
        bends = [(stop, slow), (1 - stop, last - slow)] if lag else []
        knots = [(0.0, 0), *bends, (1.0, last)]
    else:
        stop = min(0.5, length / around / 2)
        knots = [(stop, 0), (1.0 - stop, around - length)]
    window = _even_cells(bits, cells, a, e, (1 + 2 * margin) / cells, knots, wraps=domain.is_circle)
    return Mechanism(epsilon, domain, window)


def uniform_unbiased(
    epsilon: float, domain: Domain, *, share: float, cells: int, spread: float | None = None
) -> Mechanism:
    """Make equal cells with a window of about `share` of them that moves evenly in x: E[y] = x.

    The window is a whole number M of cells, so its mean is affine in the start. Without `spread` the
    window touches the ends of the range at the ends of the domain (PM, I-PTT, Duchi) and the decoding's
    step follows from E[y] = 1 at t = 1. With `spread` (the width of the range) the step is given and the
    starts follow (OGPM-U).
    """
    from fractions import Fraction

    from sottovoce.exact.rational_bounds import exp_lower

    q = exp_lower(epsilon)
    n, m = _cells_near(share, cells)
    bits = draw_bits(float(n / (n + m * (q - 1))), float(q - 1), False)
    a = math.ceil((1 << bits) / (n + m * (q - 1)))
    e = ((1 << bits) - n * a) // m
    length, slack = (1 << bits) - n * a, n * e - ((1 << bits) - n * a)
    # The mean of the rightmost window, in steps from the centre: m whole cells and what is left of K.
    offset = Fraction(e * m * (n - m), 2) + (length - m * e) * (Fraction(n - 1, 2) - m)
    if spread is None:
        step = float(Fraction(1 << bits, 2) / offset)
        first, last = 0, slack
    else:
        step = spread / n
        reach = Fraction(slack, 2) * Fraction(1 << bits, 2) / (offset * Fraction(step))
        first, last = round(Fraction(slack, 2) - reach), round(Fraction(slack, 2) + reach)
    return Mechanism(epsilon, domain, _even_cells(bits, n, a, e, step, [(0.0, first), (1.0, last)]))


def _even_cells(
    bits: int, cells: int, a: int, e: int, step: float, knots: Knots, *, wraps: bool = False
) -> Window:
    """A window over cells of one weight, `step` apart, symmetric about the middle of the domain."""
    return Window(
        wraps=wraps,
        bits=bits,
        count=np.array([cells]),
        background=np.array([a]),
        extra=np.array([e]),
        value=np.array([0.5 - step * (cells - 1) / 2]),
        step=np.array([step]),
        knot_t=np.array([t for t, _ in knots]),
        knot_s=np.array([s for _, s in knots]),
        stepwise=False,
    )


def _nearest(top: int, bottom: int) -> int:
    """The whole number nearest to a fraction, an even one if two are."""
    whole, rest = divmod(top, bottom)
    return whole + (2 * rest > bottom or (2 * rest == bottom and whole % 2 == 1))


def draw_bits(mass: float, gain: float, circle: bool) -> int:
    """The most bits for which A + H stays below 2^53 (on a circle 2H + 2^bits: any sum before it wraps).

    `gain` is q − 1.
    """
    extra = mass * gain
    reach = 2 * extra + 1 if circle else extra + mass
    return max(MIN_BITS, min(MAX_BITS, math.floor(53 - math.log2(reach * (1 + 1e-6)))))


def _cells_near(share: float, most: int) -> tuple[int, int]:
    """(N, M) with N in (most/2, most] and M/N as close to `share` as whole cells allow."""
    if most <= 4:
        return most, max(1, round(share * most))
    n = np.arange(most, max(most // 2, 2), -1)
    m = np.clip(np.rint(share * n), 1, n - 1)
    # Among equally good ratios the finest grid wins: argmin takes the first.
    best = int(np.argmin(np.abs(np.log(m / (share * n))).round(12)))
    return int(n[best]), int(m[best])


# -- non-uniform backgrounds ------------------------------------------------------------------------------


def background_window(
    epsilon: float, domain: Domain, *, positions: ArrayLike, masses: ArrayLike, unbiased: bool
) -> Mechanism:
    """Make a mechanism of any background on an interval: atoms of given masses at given unit positions.

    The window is the contiguous one nearest to t, or with `unbiased` the one whose mean is t. Positions
    must increase; masses below 1e−9 of the largest are dropped.
    """
    from sottovoce.exact.rational_bounds import exp_lower

    v, g = np.asarray(positions, dtype=np.float64), np.asarray(masses, dtype=np.float64)
    keep = g >= 1e-9 * g.max()
    v, g = v[keep], g[keep]
    q = exp_lower(epsilon)
    g = g * _between(float(g.sum()), float(1 / q)) / float(g.sum())
    bits = draw_bits(float(g.sum()), float(q - 1), False)
    a = np.maximum(1, np.rint(g * 2.0**bits)).astype(np.int64)
    e = np.array([math.floor(int(w) * q) - int(w) for w in a], dtype=np.int64)
    length, edge = (1 << bits) - int(a.sum()), np.concatenate(([0], np.cumsum(e)))
    levels = np.union1d(edge, edge - length)
    levels = levels[(levels >= 0) & (levels <= edge[-1] - length)]
    if unbiased:
        v, knot_t, knot_s = mean_starts(v, a, edge, length, levels, bits)
    else:
        knot_t, knot_s = _nearest_starts(v, edge, length, levels)
    window = Window(
        wraps=False,
        bits=bits,
        count=np.ones(len(v), dtype=np.int64),
        background=a,
        extra=e,
        value=v,
        step=np.zeros(len(v)),
        knot_t=knot_t,
        knot_s=knot_s,
        stepwise=not unbiased,
    )
    return Mechanism(epsilon, domain, window)


def _between(mass: float, least: float) -> float:
    """A background mass strictly between 1/q and 1: a constant report, too, needs a (tiny) window."""
    slack = (1 - least) * 2.0**-20
    return min(max(mass, least + slack), 1 - slack)


def _nearest_starts(
    v: FloatArray, edge: IntArray, length: int, levels: IntArray
) -> tuple[FloatArray, IntArray]:
    """Move on to the next level once its gain beats its loss: at the middle of the two end reports."""
    low = v[np.searchsorted(edge, levels[:-1], side="right") - 1]
    high = v[np.searchsorted(edge, levels[:-1] + length, side="right") - 1]
    turn = (low + high) / 2
    turn = np.concatenate(([0.0], turn))
    inside = turn <= 1
    inside[0] = True
    t, s = np.maximum(turn[inside], 0.0), levels[inside]
    last = np.append(np.diff(t) > 2.0**-60, True)  # of several moves at one place only the last counts
    return t[last], s[last]


def mean_starts(
    v: FloatArray, a: IntArray, edge: IntArray, length: int, levels: IntArray, bits: int
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Knots (mean at a level, level): between levels the mean is linear in the start.

    If rounding leaves an end of the domain out of reach, reports are stretched about the centre.
    """
    e = np.diff(edge)
    centred = v.astype(np.longdouble) - 0.5

    def mean(y: np.ndarray) -> np.ndarray:
        prefix = np.concatenate(([np.longdouble(0)], np.cumsum(e * y)))

        def integral(u: IntArray) -> np.ndarray:
            cell = np.clip(np.searchsorted(edge, u, side="right") - 1, 0, len(y) - 1)
            return np.asarray(prefix[cell] + (u - edge[cell]) * y[cell])

        return np.asarray(((a * y).sum() + integral(levels + length) - integral(levels)) / (1 << bits))

    means = mean(centred)
    stretch = max(np.longdouble(1), 0.5 / means[-1], -0.5 / means[0])
    if stretch > 1 + 1e-6:
        raise ArgumentError("this background is too narrow for an unbiased mechanism", argument="mass")
    t = np.asarray(means * stretch + 0.5, dtype=np.float64)
    s = levels.astype(np.int64)
    first = max(int(np.searchsorted(t, 0.0, side="right")) - 1, 0)
    last = min(int(np.searchsorted(t, 1.0, side="left")), len(t) - 1)
    t, s = t[first : last + 1], s[first : last + 1]
    t, s = _without_twins(*_within_unit(t, s), edge[-1])
    stretched = np.asarray(centred * stretch + 0.5, dtype=np.float64)
    return stretched, t, s


def _within_unit(t: FloatArray, s: IntArray) -> tuple[FloatArray, IntArray]:
    """Move an end knot outside [0, 1] along its segment to the end, and merge knots that coincide."""
    t, s = t.copy(), s.copy()
    if t[0] < 0:
        s[0] += round((0.0 - t[0]) / (t[1] - t[0]) * float(s[1] - s[0]))
        t[0] = 0.0
    if t[-1] > 1:
        s[-1] -= round((t[-1] - 1.0) / (t[-1] - t[-2]) * float(s[-1] - s[-2]))
        t[-1] = 1.0
    close = np.diff(t) <= 2.0**-60
    t[1:][close] = t[:-1][close]
    return t, s


def _without_twins(t: FloatArray, s: IntArray, whole: int) -> tuple[FloatArray, IntArray]:
    """Knots of which rounding made two are one again: both ends of a window came to an edge at once."""
    twin = (np.diff(t) > 0) & (np.diff(t) < _TWIN) & (np.diff(s) < _TWIN * whole)
    keep = ~np.append(False, twin)
    if not keep[-1]:  # the end of the domain stays
        keep[-2:] = False, True
    return t[keep], s[keep]
