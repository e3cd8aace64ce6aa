"""Closed forms with their certificates: the circle, and ε outside the range where a search pays.

Large ε: a uniform background against the limit of the even prior, which holds for unbiased mechanisms as for
all. Tiny ε, unbiased: Duchi's two reports.
"""

from __future__ import annotations

import math
from dataclasses import replace

from sottovoce.core.domains import Circle, Domain, Interval
from sottovoce.core.errors import require_extra
from sottovoce.core.mechanism import Mechanism
from sottovoce.designs.bounds import circular_limit, even_prior_limit, reach_limit
from sottovoce.designs.build import uniform_window
from sottovoce.designs.certificate import Certificate
from sottovoce.designs.classic import DEFAULT_CELLS, duchi, ogpm, ptt
from sottovoce.designs.roots import lowest

_UNIT = Interval(0, 1)


def circular_optimum(epsilon: float, domain: Domain, k: float) -> Mechanism:
    """The circular OGPM of the loss: it attains the limit up to the width of a cell."""
    unit = ogpm(epsilon, Circle(1.0), loss=k)
    limit, worst = circular_limit(epsilon, k), unit.worst_error(k)
    certificate = Certificate(epsilon, k, False, limit, worst, form="rotation", width=domain.width)
    return Mechanism(epsilon, domain, unit.window, certificate)


def large_epsilon(epsilon: float, k: float, unbiased: bool) -> Mechanism:
    """A uniform background on [0, 1] against the even prior.

    Unbiased: the best I-PTT. Otherwise windows of one radius ρ that never stop at the ends: the background
    reaches ρ beyond the domain, and reports out there are read as its ends.
    """
    limit = even_prior_limit(epsilon, k)
    if unbiased:
        design = ptt(epsilon, _UNIT)
        worst = design.worst_variance()
    else:
        radius = _radius(epsilon, k)
        mass = (1 + 2 * radius) / (1 + 2 * radius * math.exp(epsilon))
        cells = DEFAULT_CELLS if k in (1, 2) else DEFAULT_CELLS // 4  # other losses have no quick worst case
        design = uniform_window(epsilon, _UNIT, mass=mass, cells=cells, margin=radius)
        design = design.truncated()
        worst = design.worst_error(k)
    return replace(design, certificate=Certificate(epsilon, k, unbiased, limit, worst, form="even prior"))


def _radius(epsilon: float, k: float) -> float:
    """ρ of least worst case, which is near an end: there the background is far off and the window whole."""
    require_extra("analysis", "an optimal design")

    def worst(log_radius: float) -> float:
        radius = math.exp(log_radius)
        window = math.expm1(epsilon) * radius ** (k + 1)
        return (1 + 2 * window) / (1 + 2 * radius * math.exp(epsilon))

    return math.exp(lowest(worst, -epsilon, -1.0, 1e-5)[0])


def tiny_epsilon(epsilon: float) -> Mechanism:
    """Duchi's two reports on [0, 1] against the limit of what means can be reached."""
    design = duchi(epsilon, _UNIT)
    limit, worst = reach_limit(epsilon), design.worst_variance()
    return replace(design, certificate=Certificate(epsilon, 2.0, True, limit, worst, form="reach"))
