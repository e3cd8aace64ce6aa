"""k-ary randomised response: a cell is passed on, or one of all k cells in its place.

Warner's coin for k answers, as a window: cells of equal weight a, and a window exactly one cell long that
sits on the cell to be passed on. It is the second randomisation of a memoised answer (Erlingsson et al.,
RAPPOR, 2014), where the reports of another mechanism are its inputs.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from sottovoce.core.domains import Interval
from sottovoce.core.errors import MAX_EPSILON, check_epsilon, whole_number
from sottovoce.core.exact import exp_lower, log_upper
from sottovoce.core.mechanism import Mechanism
from sottovoce.core.window import Window
from sottovoce.designs.build import _bits


def response(epsilon: float, cells: int) -> Mechanism:
    """Randomised response on cells 0 … cells−1: report(j) is j with odds e^ε against any other cell.

    >>> m = response(epsilon=1.0, cells=4)
    >>> counts = m.counts([2.0])[0]
    >>> float(counts[2] / counts[0]).__round__(9), m.decode([0, 3]).tolist()
    (2.718281828, [0.0, 3.0])
    """
    epsilon, k = check_epsilon(epsilon), whole_number(cells, "cells", least=2, most=1 << 12)
    q = exp_lower(epsilon)
    bits = _bits(float(k / (k + q - 1)), q, False)
    a = math.ceil(Fraction(1 << bits) / (k + q - 1))
    e = (1 << bits) - k * a
    window = Window(
        wraps=False,
        bits=bits,
        count=np.array([k]),
        background=np.array([a]),
        extra=np.array([e]),
        value=np.array([0.5 / k]),
        step=np.array([1.0 / k]),
        knot_t=np.arange(k) / k,
        knot_s=np.arange(k) * e,
        stepwise=True,
    )
    return Mechanism(epsilon, Interval(-0.5, k - 0.5), window)


def passed_on(first: Mechanism, second: Mechanism) -> Mechanism:
    """The law of `second` run on the reports of `first`, for estimates from what was sent.

    It is a window again: the response adds a uniform background and keeps a share of the rest. Weights are
    rounded to 2^−50, so tally with this mechanism, but randomise with the two it came from.
    """
    if second.cells != first.cells or second.domain != Interval(-0.5, first.cells - 0.5):
        raise ValueError("second must be a response on the cells of first")
    one, two = first.window, second.window
    keep = Fraction(two.length, two.total)
    bits = one.bits if not one.wraps else one.bits - 1
    while True:
        scale = Fraction(1 << bits, one.total) * keep
        background = [
            round(scale * int(w) + Fraction(int(two.a[0]) << bits, two.total)) for w in one.background
        ]
        mass = sum(int(c) * w for c, w in zip(one.count, background, strict=True))
        extra = [math.floor(scale * int(w)) for w in one.extra]
        around = sum(int(c) * w for c, w in zip(one.count, extra, strict=True))
        if mass + around * (2 if one.wraps else 1) <= 1 << 53 and (1 << bits) - mass <= around:
            break
        bits -= 1
    top = 2 * around - 1 if one.wraps else around - ((1 << bits) - mass)
    stretch = Fraction(top, max(1, one.top))
    window = Window(
        wraps=one.wraps,
        bits=bits,
        count=one.count,
        background=np.array(background),
        extra=np.array(extra),
        value=one.value,
        step=one.step,
        knot_t=one.knot_t,
        knot_s=np.array([math.floor(stretch * int(s)) for s in one.knot_s]),
        stepwise=one.stepwise,
    )
    epsilon = math.nextafter(log_upper(window.largest_ratio) * (1 + 1e-12), math.inf)
    return Mechanism(min(epsilon, MAX_EPSILON), first.domain, window)
