"""The m-piece problem given to a global solver (SCIP): formulation (2) at both ends of the domain.

The encoding uses that pieces rise to a peak and fall after it. With layers of height δ_i ≥ 0 and radius u_i
around an input x (see `pieces.densities`) the error is a sum of δ_i·u_i·u_i^k, every factor non-negative and
bounded, and radii are nested; the outermost layers reach the ends of the output interval. The masses
q_i = δ_i·u_i are unknowns of their own, at most 1: that is what makes the relaxation tight.
"""

from __future__ import annotations

import math
from typing import Any

from papers.pieces.densities import Span, best_pieces, expected_loss, signed_power


def solve_bilinear(
    epsilon: float, pieces: int, k: float, span: Span, gap: float, time_limit: float
) -> tuple[tuple[float, ...], float, float]:
    """(densities, value, bound): the best pieces found, their worst case, and SCIP's proven bound."""
    try:
        from pyscipopt import Model, quicksum
    except ImportError:
        raise ImportError("method='solver' needs SCIP: pip install pyscipopt") from None
    e, low, high = math.exp(epsilon), 1 / (math.exp(epsilon) * span.width), 1 / span.width
    model = Model()
    model.hideOutput()
    model.setParam("limits/gap", gap)
    model.setParam("limits/time", time_limit)
    first, last = (model.addVar(name, lb=low, ub=high) for name in ("first", "last"))
    peak = model.addVar("peak", lb=high, ub=e * high)
    at = (pieces - 1) // 2
    rise = [model.addVar(f"rise{i}", lb=0, ub=e * high) for i in range(at)]
    fall = [model.addVar(f"fall{i}", lb=0, ub=e * high) for i in range(pieces - 1 - at)]
    for outer, layers in ((first, rise), (last, fall)):
        model.addCons(peak == outer + quicksum(layers))
        model.addCons(peak <= e * outer)
    worst = model.addVar("worst", lb=0, ub=max(abs(span.a - span.d), abs(span.b - span.c)) ** k)
    for x in (span.a, span.b):
        mass, error = 0.0, 0.0
        ends = (x - span.c, span.d - x)
        for outer, layers, reach, other in ((first, rise, *ends), (last, fall[::-1], *ends[::-1])):
            part = _side(model, outer, layers, reach, k, nearest=max(0.0, -other))
            mass, error = mass + part[0], error + part[1]
        model.addCons(mass == 1)
        model.addCons(error <= worst)
    model.setObjective(worst)
    model.optimize()
    if not model.getNSols():
        raise TimeoutError(f"SCIP found no mechanism within time_limit={time_limit!r} seconds")
    densities = _feasible(
        model.getVal(first), [model.getVal(v) for v in rise], [model.getVal(v) for v in fall], e, span
    )
    value = max(expected_loss(best_pieces(densities, x, span), x, k) for x in (span.a, span.b))
    return densities, value, min(float(model.getDualbound()), value)


def _side(
    model: Any, outer: Any, layers: list[Any], reach: float, k: float, nearest: float
) -> tuple[Any, Any]:
    """Mass and error on one side of x: the outer height all the way, each inner layer up to its radius.

    `nearest` is how far x lies outside the output interval on the other side: no radius is shorter.
    """
    mass, error = outer * reach, outer * (signed_power(reach, k + 1) / (k + 1))
    nested = reach
    for layer in layers:  # from the outermost inwards
        if reach <= 0:  # x lies beyond this end: the whole side is cut off there
            mass, error = mass + layer * reach, error + layer * (signed_power(reach, k + 1) / (k + 1))
            continue
        radius = model.addVar(lb=nearest, ub=reach)
        held = model.addVar(lb=0, ub=1 + nearest * layer.getUbGlobal())
        model.addCons(held == layer * radius)
        model.addCons(radius <= nested)
        nested = radius
        mass, error = mass + held, error + held * (radius if k == 1 else radius**k) / (k + 1)
    return mass, error


def _feasible(first: float, rise: list[float], fall: list[float], e: float, span: Span) -> tuple[float, ...]:
    """The solver's heights as densities that keep the ratio and can hold unit mass, exactly."""
    heights = [first]
    for step in rise:
        heights.append(heights[-1] + max(step, 0.0))
    for step in fall:
        heights.append(heights[-1] - max(step, 0.0))
    least, most = 1 / (e * span.width), 1 / span.width
    bottom = min(max(min(heights[0], heights[-1]), least), most)
    return tuple(min(max(height, bottom), e * bottom) for height in heights)
