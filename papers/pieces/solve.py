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
from typing import Literal

import numpy as np

from papers.pieces.densities import Piece, Span, best_pieces, expected_loss, merge
from papers.pieces.scalar import bracket, least_background, worst_error
from sottovoce.arrays import FloatArray
from sottovoce.errors import (
    ArgumentError,
    check_epsilon,
    loss_exponent,
    positive_number,
    real_number,
    refuse_others,
    whole_number,
)
from sottovoce.notebook import Shown
from sottovoce.values.interval import DomainLike, as_domain

Method = Literal["exact", "bracket", "solver"]
METHODS: tuple[Method, ...] = ("exact", "bracket", "solver")


@dataclass(frozen=True, repr=False)
class PieceSolution(Shown):
    """The best m pieces for the worst input (formulation (2)), and how well that is known.

    Attributes:
        epsilon: Privacy parameter ε.
        loss: The k of |y − x|^k.
        span: The input and the output interval.
        densities: The height of each piece, from left to right.
        value: The worst-case error of these densities.
        bound: No m-piece mechanism has less.
        method: "exact", "bracket" or "solver".
        seconds: How long it took.
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
        """Give the pieces for one input (formulation (3)).

        Args:
            x: An input.

        Returns:
            The pieces from left to right, some of them empty.

        Raises:
            ValueError: If `x` lies outside the input interval.
        """
        x = real_number(x, "x")
        if not self.span.a <= x <= self.span.b:
            sentence = f"x must lie in the domain [{self.span.a!r}, {self.span.b!r}], got x={x!r}"
            raise ArgumentError(sentence, argument="x")
        return best_pieces(self.densities, x, self.span)

    def merged(self, x: float) -> tuple[Piece, ...]:
        """Give the pieces for one input without redundant ones (⊎ of Lemma 3.3).

        Args:
            x: An input.

        Returns:
            The pieces from left to right: neighbours of one density joined, empty ones left out.
        """
        return merge(self.at(x), tolerance=1e-9 * self.span.width)

    def error(self, x: float) -> float:
        """Give the expected loss at one input.

        Args:
            x: An input.

        Returns:
            E|y − x|^k.
        """
        return expected_loss(self.at(x), x, self.loss)


def solve_pieces(
    epsilon: float,
    pieces: int = 3,
    loss: str | float = "l1",
    *,
    domain: DomainLike = (0, 1),
    output: DomainLike | None = None,
    method: Method = "exact",
    gap: float = 1e-3,
    time_limit: float = 60.0,
) -> PieceSolution:
    """Find the best generalised piecewise mechanism with m pieces, for the worst input of an interval.

    Args:
        epsilon: Privacy parameter ε.
        pieces: m, at most 64.
        loss: "l1", "l2" or the k ≥ 1 of |y − x|^k.
        domain: The interval of inputs.
        output: The interval of reports; the domain itself if not given.
        method: "exact": by the bathtub argument three pieces attain the optimum of every m ≥ 3; one convex
            function of one unknown is minimised. "bracket": a linear program with one scalar background
            bounds every m at once. "solver": SCIP (the package pyscipopt) on the bilinear problem.
        gap: The relative gap between value and bound at which "bracket" and "solver" stop.
        time_limit: Seconds after which "solver" stops.

    Returns:
        The densities, their worst case, and a bound for every m-piece mechanism.

    Raises:
        ValueError: If an argument is out of range or an interval is a circle.
        TypeError: If an argument is of the wrong type.
        ImportError: If `method` is "solver" and SCIP is not installed.
        TimeoutError: If "solver" finds no mechanism in time.

    Example:
        >>> s = solve_pieces(epsilon=1.0, pieces=4, loss="l1")
        >>> round(s.value, 5), len(s.merged(0.3))
        (0.37754, 3)
    """
    epsilon, k = check_epsilon(epsilon), loss_exponent(loss)
    count = whole_number(pieces, "pieces", least=1, most=64)
    span = _span(domain, domain if output is None else output)
    if method not in METHODS:
        sentence = f"method must be one of {', '.join(METHODS)}, got method={method!r}"
        raise ArgumentError(sentence, argument="method")
    taken = {"exact": "", "bracket": "gap", "solver": "gap time_limit"}[method]
    refuse_others(solve_pieces, f"method={method!r}", {"gap": gap, "time_limit": time_limit}, taken)
    gap, time_limit = positive_number(gap, "gap"), positive_number(time_limit, "time_limit")
    begin = time.perf_counter()
    if method == "solver":
        from papers.pieces.bilinear import solve_bilinear

        densities, value, bound = solve_bilinear(epsilon, count, k, span, gap, time_limit)
    else:
        densities, value, bound = _direct(
            math.exp(epsilon), count, k, span, gap if method == "bracket" else None
        )
    return PieceSolution(epsilon, k, span, densities, value, bound, method, time.perf_counter() - begin)


def _span(domain: DomainLike, output: DomainLike) -> Span:
    inside, outside = as_domain(domain), as_domain(output)
    if inside.is_circle or outside.is_circle:
        sentence = "solve_pieces needs intervals; on a circle ogpm is optimal among all mechanisms"
        raise ArgumentError(sentence, argument="domain" if inside.is_circle else "output")
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
    minima = [two(minimize(value, start, method="Nelder-Mead").x) for start in starts]
    best = min([flat, *minima], key=worst)
    return best, worst(best)
