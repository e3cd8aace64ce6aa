"""Densities in pieces around an input, and why one window is enough.

A density that rises in steps to its peak around x and falls in steps after it is a stack of layers: layer i
adds a height δ_i ≥ 0 on [x − u_i, x + v_i], within the output interval. Its mass is linear in the radii and
its loss convex in them (u^{k+1}/(k+1)), so for given heights the best radii are all equal: one window of one
radius ρ. Hence between the outer heights p_1 and p_m only the peak is ever used: three pieces.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple


class Piece(NamedTuple):
    """Constant density on [left, right).

    Attributes:
        density: The height.
        left: Where the piece begins.
        right: Where it ends.
    """

    density: float
    left: float
    right: float


class Span(NamedTuple):
    """The input interval [a, b] and the output interval [c, d] of Definition 3.1."""

    a: float
    b: float
    c: float
    d: float

    @property
    def width(self) -> float:
        return self.d - self.c


def merge(pieces: Iterable[Piece], tolerance: float = 1e-12) -> tuple[Piece, ...]:
    """⊎ of Lemma 3.3: neighbours of the same density become one piece; empty pieces vanish.

    >>> merge([Piece(1.0, 0, 0.5), Piece(1.0, 0.5, 0.7), Piece(2.0, 0.7, 0.7), Piece(0.5, 0.7, 1.0)])
    (Piece(density=1.0, left=0, right=0.7), Piece(density=0.5, left=0.7, right=1.0))
    """
    merged: list[Piece] = []
    for piece in pieces:
        if piece.right - piece.left <= tolerance:
            continue
        if merged and math.isclose(merged[-1].density, piece.density, rel_tol=1e-9):
            merged[-1] = Piece(merged[-1].density, merged[-1].left, piece.right)
        else:
            merged.append(piece)
    return tuple(merged)


def expected_loss(pieces: Iterable[Piece], x: float, k: float) -> float:
    """∫ |y − x|^k over the pieces."""
    return sum(
        p.density * (signed_power(p.right - x, k + 1) - signed_power(p.left - x, k + 1)) / (k + 1)
        for p in pieces
    )


def signed_power(u: float, k: float) -> float:
    return math.copysign(abs(u) ** k, u)


def best_pieces(densities: tuple[float, ...], x: float, span: Span) -> tuple[Piece, ...]:
    """Formulation (3): the best m pieces of given densities, in their order, for the input x.

    The densities must rise to a peak and fall after it. All inner edges lie at the radius ρ that the mass
    asks for, cut off at the ends of the output interval; pieces in between are empty.
    """
    peak = max(range(len(densities)), key=densities.__getitem__)
    radius = _radius(densities[0], densities[peak], densities[-1], x, span)
    left, right = (min(max(x + side * radius, span.c), span.d) for side in (-1, 1))
    edges = [span.c, *[left] * peak, *[right] * (len(densities) - 1 - peak), span.d]
    return tuple(Piece(*row) for row in zip(densities, edges[:-1], edges[1:], strict=True))


def _radius(first: float, peak: float, last: float, x: float, span: Span) -> float:
    """ρ with unit mass: (peak − first)·min(ρ, x − c) + (peak − last)·min(ρ, d − x) is what is missing."""
    missing = 1 - first * (x - span.c) - last * (span.d - x)
    sides = sorted(((x - span.c, peak - first), (span.d - x, peak - last)))
    slope, filled = sides[0][1] + sides[1][1], 0.0
    for reach, height in sides:
        start = max(reach, 0.0)
        if reach <= 0:  # x lies outside the output interval on this side: that edge stays at its end
            filled += height * reach
            slope -= height
        elif slope * start + filled >= missing or reach == sides[1][0]:
            break
        else:
            filled += height * reach
            slope -= height
    return max((missing - filled) / slope, 0.0) if slope > 0 else 0.0
