"""The papers' m-piece framework: generalised piecewise mechanisms (Definition 3.1) and their optimum.

s = solve_pieces(epsilon=1.0, pieces=4, loss="l1")
s.value, s.bound          # worst case of the best 4 pieces, and what is proved about it
s.at(0.3)                 # formulation (3): the pieces for one input
s.merged(0.3)             # without redundant ones: never more than three
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np

from sottovoce.core.domains import DomainLike, as_domain
from sottovoce.core.errors import check_epsilon, loss_exponent, positive_number, real_number, whole_number
from sottovoce.core.kernels.tables import FloatArray
from sottovoce.papers.pieces.scalar import bracket, least_background, worst_error
from sottovoce.papers.pieces.staircase import Piece, Span, best_pieces, expected_loss, merge

METHODS = ("exact", "bracket", "solver")


@dataclass(frozen=True)
class PieceSolution:
    """The best m pieces for the worst input (formulation (2)), and how well that is known.

    `value` is the worst-case error of `densities`; no m-piece mechanism has less than `bound`.
    `span` holds the input and output intervals, `method` how it was found and `seconds` how long that took.
    """

    epsilon: float
    loss: float
    span: Span
    densities: tuple[float, ...]
    value: float
    bound: float
    method: str
    seconds: float

    @property
    def pieces(self) -> int:
        """m: how many pieces."""
        return len(self.densities)

    @property
    def gap(self) -> float:
        """(value − bound) / value."""
        return max(0.0, (self.value - self.bound) / self.value)

    def at(self, x: float) -> tuple[Piece, ...]:
        """The pieces for the input x, in order, some of them empty."""
        x = real_number(x, "x")
        if not self.span.a <= x <= self.span.b:
            raise ValueError(f"x must lie in the domain [{self.span.a!r}, {self.span.b!r}], got x={x!r}")
        return best_pieces(self.densities, x, self.span)

    def merged(self, x: float) -> tuple[Piece, ...]:
        """The pieces for the input x after merging redundant ones (⊎ of Lemma 3.3)."""
        return merge(self.at(x), tolerance=1e-9 * self.span.width)

    def error(self, x: float) -> float:
        """The expected loss at x."""
        return expected_loss(self.at(x), x, self.loss)


def solve_pieces(
    epsilon: float,
    pieces: int = 3,
    loss: str | float = "l1",
    *,
    domain: DomainLike = (0, 1),
    output: DomainLike | None = None,
    method: str = "exact",
    gap: float = 1e-3,
    time_limit: float = 60.0,
) -> PieceSolution:
    """The best generalised piecewise mechanism with m pieces, for the worst input of an interval.

    `output` is the interval of reports (the domain itself if not given). `method`:

    - "exact": by the bathtub argument three pieces attain the optimum of every m ≥ 3; one convex function of
      one unknown is minimised.
    - "bracket": a linear program with one scalar background bounds every m at once, to the relative `gap`.
    - "solver": SCIP (extra `solver`) on the bilinear problem, until `gap` or `time_limit` seconds.

    >>> s = solve_pieces(epsilon=1.0, pieces=4, loss="l1")
    >>> round(s.value, 5), len(s.merged(0.3))
    (0.37754, 3)
    """
    epsilon, k = check_epsilon(epsilon), loss_exponent(loss)
    count = whole_number(pieces, "pieces", least=1, most=64)
    span = _span(domain, domain if output is None else output)
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}, got method={method!r}")
    gap, time_limit = positive_number(gap, "gap"), positive_number(time_limit, "time_limit")
    begin = time.perf_counter()
    if method == "solver":
        from sottovoce.papers.pieces.bilinear import solve_bilinear

        densities, value, bound = solve_bilinear(epsilon, count, k, span, gap, time_limit)
    else:
        densities, value, bound = _direct(
            math.exp(epsilon), count, k, span, gap if method == "bracket" else None
        )
    return PieceSolution(epsilon, k, span, densities, value, bound, method, time.perf_counter() - begin)


def _span(domain: DomainLike, output: DomainLike) -> Span:
    inside, outside = as_domain(domain), as_domain(output)
    if inside.is_circle or outside.is_circle:
        raise ValueError("solve_pieces needs intervals; on a circle ogpm is optimal among all mechanisms")
    return Span(inside.low, inside.high, outside.low, outside.high)


def _direct(
    e: float, count: int, k: float, span: Span, gap: float | None
) -> tuple[tuple[float, ...], float, float]:
    if gap is None:
        g = least_background(e, k, span)
        value = bound = worst_error(g, e, k, span)
    else:
        bound, value, g = bracket(e, k, span, gap)
    if count >= 3:
        return (g, e * g, *[g] * (count - 2)), value, bound
    densities, value = _few(e, count, k, span)
    return densities, value, value if gap is None else bound


def _few(e: float, count: int, k: float, span: Span) -> tuple[tuple[float, ...], float]:
    """One or two pieces. Two densities fix both lengths by the total mass: the report ignores the input."""
    flat = (1 / span.width,) * count

    def worst(densities: tuple[float, ...]) -> float:
        return max(expected_loss(best_pieces(densities, x, span), x, k) for x in (span.a, span.b))

    if count == 1:
        return flat, worst(flat)
    from scipy.optimize import minimize

    def two(parameters: FloatArray) -> tuple[float, float]:
        ratio = math.exp(math.log(e) * math.tanh(parameters[0]))
        share = 1 / (1 + math.exp(-parameters[1]))
        second = 1 / (span.width * (share * ratio + 1 - share))
        return ratio * second, second

    def value(parameters: FloatArray) -> float:
        return worst(two(parameters))

    starts = [np.array([s, t]) for s in (-0.5, 0.5) for t in (-1.0, 1.0)]
    found = [two(minimize(value, start, method="Nelder-Mead").x) for start in starts]
    best = min([flat, *found], key=worst)
    return best, worst(best)
