"""One scalar background: everything that probabilities independent of the input (Definition 3.1) allow.

If the densities p_1 … p_m do not depend on x and lie within a factor E, all of them lie in [g, E·g] with
g = min p. For one input x the best density in that band is E·g on a window around x and g elsewhere
(bathtub), and its error, as a function of g, is a maximum of linear functions:

    e(x; g) = max over λ of λ + g·C_x(λ),     C_x(λ) = ∫ c(|y − x|^k − λ) dy over the output interval.

So min over g of max over x is a convex problem in one unknown that bounds every m at once, and three pieces
attain it. The worst input is an end of the domain: the least over windows of a jointly convex function is
convex in x (Lemma 3.2).
"""

from __future__ import annotations

import math

import numpy as np

from papers.pieces.densities import Span, best_pieces, expected_loss, signed_power
from sottovoce.errors import SolverError


def window_error(g: float, x: float, e: float, k: float, span: Span) -> float:
    """e(x; g): the error at x of the three pieces g, E·g, g."""
    return expected_loss(best_pieces((g, e * g, g), x, span), x, k)


def worst_error(g: float, e: float, k: float, span: Span) -> float:
    return max(window_error(g, x, e, k, span) for x in (span.a, span.b))


def least_background(e: float, k: float, span: Span) -> float:
    """The g of least worst case, between all window (1/(E·|output|)) and no window (1/|output|)."""
    from scipy.optimize import minimize_scalar

    low, high = 1 / (e * span.width), 1 / span.width
    minimum = minimize_scalar(
        lambda log_g: worst_error(math.exp(log_g), e, k, span),
        bounds=(math.log(low), math.log(high)),
        method="bounded",
        options={"xatol": 1e-12},
    )
    return min(max(math.exp(minimum.x), low), high)


def bracket(e: float, k: float, span: Span, gap: float) -> tuple[float, float, float]:
    """(lower, upper, g): bounds of the best worst case for every number of pieces, by a growing LP in (g, t).

    The lower one holds for every m; three pieces with this g attain the upper one.
    """
    from scipy.optimize import linprog

    low, high = 1 / (e * span.width), 1 / span.width
    g, best_g, upper, lower = math.sqrt(low * high), 0.0, math.inf, 0.0
    rows: list[tuple[float, float]] = []
    for _ in range(200):
        value = worst_error(g, e, k, span)
        if value < upper:
            upper, best_g = value, g
        if upper - lower <= gap * upper:
            break
        rows += [_cut(g, x, e, k, span) for x in (span.a, span.b)]
        matrix = np.array([[slope, -1.0] for slope, _ in rows])
        result = linprog(
            np.array([0.0, 1.0]),
            A_ub=matrix,
            b_ub=np.array([-level for _, level in rows]),
            bounds=[(low, high), (0, None)],
        )
        if result.x is None:
            raise SolverError(f"the solver failed on the bracket: {result.message}")
        g, lower = float(result.x[0]), float(result.x[1])
    return lower, upper, best_g


def _cut(g: float, x: float, e: float, k: float, span: Span) -> tuple[float, float]:
    """(C_x(λ), λ) for the λ that is tight at g: the loss at the edge of its window."""
    window = best_pieces((g, e * g, g), x, span)[1]
    radius = max(abs(window.left - x), abs(window.right - x))
    level = radius**k

    def integral(left: float, right: float) -> float:
        rise = (signed_power(right - x, k + 1) - signed_power(left - x, k + 1)) / (k + 1)
        return rise - level * (right - left)

    inner = [min(max(x + side * radius, span.c), span.d) for side in (-1, 1)]
    return integral(span.c, span.d) + (e - 1) * integral(inner[0], inner[1]), level
