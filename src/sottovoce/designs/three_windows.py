"""Three windows of different widths, side by side on a circle of reports: made for quantiles.

A single window tells values apart where it begins and where it ends. Its transform has zeros, so there are
truths far apart whose reports look alike, and an interval that holds for all of them is wide. Three windows
of uneven widths at uneven distances have no common zero, like the marks of a ruler that measures every
length: each value makes three arcs of the circle E times as likely as the rest,

    widths s·(0.08, 0.17, 0.75),   gaps s·(0.64, 0.46),   s = 0.42·e^{−0.55ε} of the domain.

All arcs move with the value, and go on at the beginning of the circle where they pass its end. Honest
intervals of quantiles are a third narrower than with the square wave, on average of the truths of
benchmarks/quantile_designs.py. Values are told apart in steps of a 98th of the domain.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from sottovoce.designs.classic import DEFAULT_CELLS, sw
from sottovoce.designs.published_formulas import square_wave_reach
from sottovoce.designs.solver.integer_weights import named, uniform_window
from sottovoce.errors import check_epsilon
from sottovoce.exact.exponential import MIN_BITS
from sottovoce.exact.rows_that_keep_epsilon import repaired
from sottovoce.reporters.mechanism import Mechanism
from sottovoce.reporters.rows import Rows
from sottovoce.values.domain import Domain
from sottovoce.values.interval import DomainLike, as_domain

_CELLS, _INPUTS = 128, 98  # around the circle, and of them over the domain
_WIDTHS, _GAPS = (0.08, 0.17, 0.75), (0.64, 0.46, 0.0)
#: A single window: its width in those of the square wave, how it slows at the ends, up to which ε.
_NARROW, _LAG, _NARROWED = 0.75, 0.3, 6.0


@named
def three_windows(epsilon: float, domain: DomainLike = (0, 1)) -> Rows:
    """Design three windows that move with the value around a circle of 128 cells, for quantiles.

    Args:
        epsilon: Privacy parameter ε.
        domain: The interval that values lie in.

    Returns:
        A table of 98 inputs.

    Raises:
        ValueError: If an argument is out of range.

    Example:
        >>> m = three_windows(epsilon=1.0, domain=(0, 24))
        >>> m.cells, m.largest_ratio <= math.e
        (128, True)
    """
    epsilon, domain = check_epsilon(epsilon), as_domain(domain)
    scale, at, arcs = 0.42 * math.exp(-0.55 * epsilon) * _INPUTS, 0.0, []
    for width, gap in zip(_WIDTHS, _GAPS, strict=True):
        wide = max(1, round(scale * width))
        arcs.append(round(at) + np.arange(wide))
        at += scale * (width + gap)
    inside = np.unique(np.concatenate(arcs))
    weights = np.ones((_INPUTS, _CELLS))
    first = round(at - scale * _WIDTHS[-1] / 2)  # the last window is around the value
    inputs = np.arange(_INPUTS)
    around = (inputs[:, None] + inside - first + (_CELLS - _INPUTS) // 2) % _CELLS
    weights[inputs[:, None], around] = math.exp(epsilon)
    chances = weights / weights.sum(axis=1, keepdims=True)
    values = (np.arange(_CELLS) - (_CELLS - _INPUTS) // 2 + 0.5) / _INPUTS
    return Rows(epsilon, domain, (inputs + 0.5) / _INPUTS, repaired(chances, epsilon, MIN_BITS), values)


def narrow_wave(epsilon: float, domain: Domain) -> Mechanism:
    """A narrower window than the square wave's that moves faster between the ends: a small spec.

    Unlike OGPM's it stands still nowhere, so no two values look alike.
    """
    if epsilon > _NARROWED:
        return sw(epsilon, domain)
    reach = square_wave_reach(epsilon)
    share = _NARROW * 2 * reach / (1 + 2 * reach)  # of all cells
    margin = 0.5 / (1 - share * (1 - _LAG)) - 0.5  # centred on the truth, but for the ends
    mass = 1 / (1 + share * math.expm1(epsilon))
    made = uniform_window(epsilon, domain, mass=mass, cells=DEFAULT_CELLS, margin=margin, lag=_LAG)
    return replace(made, name="narrow wave")
