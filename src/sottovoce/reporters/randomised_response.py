"""k-ary randomised response: a cell is passed on, or one of all k cells in its place.

Warner's coin for k answers, as a window: cells of equal weight a, and a window exactly one cell long that
sits on the cell to be passed on. It is the second randomisation of a memoised answer (Erlingsson et al.,
RAPPOR, 2014), where the reports of another mechanism are its inputs.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from sottovoce.errors import check_epsilon, whole_number
from sottovoce.exact.exponential import MAX_BITS, MIN_BITS
from sottovoce.exact.rational_bounds import exp_lower
from sottovoce.reporters.mechanism import Mechanism
from sottovoce.reporters.window import Window
from sottovoce.values.interval import Interval


def response(epsilon: float, cells: int) -> Mechanism:
    """Randomised response on cells 0 … cells−1: report(j) is j with odds e^ε against any other cell.

    Args:
        epsilon: The privacy parameter.
        cells: How many cells there are, at least 2.

    Returns:
        A mechanism whose values and reports are the cells.

    Raises:
        ArgumentError: If a parameter is out of range.

    Example:
        >>> m = response(epsilon=1.0, cells=4)
        >>> counts = m.counts([2.0])[0]
        >>> float(counts[2] / counts[0]).__round__(9), m.decode([0, 3]).tolist()
        (2.718281828, [0.0, 3.0])
    """
    epsilon, k = check_epsilon(epsilon), whole_number(cells, "cells", least=2, most=1 << 12)
    q = exp_lower(epsilon)
    # The most bits for which the weights of all cells, extra included, stay below 2^53.
    bits = max(MIN_BITS, min(MAX_BITS, math.floor(53 - math.log2(float(k * q / (k + q - 1)) * (1 + 1e-6)))))
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
    return Mechanism(epsilon, Interval(-0.5, k - 0.5), window, name="response")
