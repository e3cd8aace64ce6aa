"""False position: where something that increases crosses zero, in few looks."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple


class Bracket(NamedTuple):
    """Two places with a zero between them, and the values there.

    Attributes:
        low: A place where it is negative, or the outermost there is.
        high: A place where it is not.
        below: The value at the low place; −∞ if that was not looked at.
        above: The value at the high place, likewise.
    """

    low: float
    high: float
    below: float = -math.inf
    above: float = math.inf

    def narrowed(self, at: float, value: float) -> Bracket:
        """The bracket that a look at a place between the two leaves."""
        if value < 0:
            return self._replace(low=at, below=value)
        return self._replace(high=at, above=value)

    @property
    def chord(self) -> float:
        """Where the straight line between both values crosses zero."""
        return self.low - self.below * (self.high - self.low) / (self.above - self.below)


class Crossing(NamedTuple):
    """Where an increase crosses zero.

    Attributes:
        below: The last place where it was seen to be negative.
        at: Where the last chord has its zero.
        slope: That of the last chord.
    """

    below: float
    at: float
    slope: float


def false_position(
    excess: Callable[[float], float],
    bracket: Bracket,
    at: float,
    slope: float,
    exact: float,
    *,
    top: float = math.inf,
    looks: int = 14,
) -> Crossing:
    """Look at a place, then where the slope says, until the crossing is known as exactly as asked.

    Args:
        excess: What crosses zero; it increases but for rounding.
        bracket: Between which places.
        at: Where to look first.
        slope: How fast it is expected to rise there.
        exact: How exactly the crossing is wanted.
        top: The largest value there is: where that is seen nothing is known, and perhaps nowhere below.
        looks: How many there may be.

    Returns:
        The crossing.
    """
    in_a_row = 0  # looks above zero since the last below; below zero they are negative
    for _ in range(looks):
        at = min(max(at, bracket.low + exact / 2), bracket.high - exact / 2)
        y = excess(at)
        bracket = bracket.narrowed(at, y)
        in_a_row = min(in_a_row, 0) - 1 if y < 0 else max(in_a_row, 0) + 1
        gap, rise = bracket.high - bracket.low, bracket.above - bracket.below
        slope = rise / gap if rise < math.inf else slope
        if gap <= 1.5 * exact or -bracket.below <= slope * exact:
            break
        if rise < math.inf:  # halved where false position is slow
            at = ((bracket.low + bracket.high) / 2 if abs(in_a_row) > 1 else bracket.chord) - exact / 3
        elif y >= top:
            at = bracket.low + exact
        else:  # twice as far each time: it may hardly change for long
            at -= 2.0 ** (abs(in_a_row) - 1) * (1.2 * y / slope + math.copysign(exact / 2, y))
    known = bracket.above - bracket.below < math.inf
    return Crossing(bracket.low, bracket.chord if known else at, slope)
