"""Closed forms with their certificates: the circle, and for a mean at a tiny ε Duchi's two reports."""

from __future__ import annotations

from dataclasses import replace

from sottovoce.designs.classic import duchi, ogpm
from sottovoce.designs.solver.certificate import Certificate
from sottovoce.designs.solver.error_floors import circular_limit, reach_limit
from sottovoce.reporters.mechanism import Mechanism
from sottovoce.values.circle import Circle
from sottovoce.values.domain import Domain
from sottovoce.values.interval import Interval

_UNIT = Interval(0, 1)


def circular_optimum(epsilon: float, domain: Domain, k: float) -> Mechanism:
    """The circular OGPM of the loss: it attains the limit up to the width of a cell."""
    unit = ogpm(epsilon, Circle(1.0), loss=k)
    limit, worst = circular_limit(epsilon, k), unit.worst_error(k)
    certificate = Certificate(epsilon, k, False, limit, worst, form="rotation", width=domain.width)
    return Mechanism(epsilon, domain, unit.window, certificate)


def tiny_epsilon(epsilon: float) -> Mechanism:
    """Duchi's two reports on [0, 1] against the limit of what means can be reached."""
    design = duchi(epsilon, _UNIT)
    limit, worst = reach_limit(epsilon), design.worst_variance()
    return replace(design, certificate=Certificate(epsilon, 2.0, True, limit, worst, form="reach"))
