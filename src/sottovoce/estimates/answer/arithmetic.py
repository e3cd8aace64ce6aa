"""Arithmetic with estimates of different people: a + b, a − b, 2·a, a / b.

    change = sottovoce.mean(june) - sottovoce.mean(may)
    change.low, change.high, change.p_value

Estimates that carry their bounds (means, probabilities, variances) are combined by them: see
`sums_of_bounds`. Of others only the limits are known; then both intervals have to hold at once, and
`confidence` says how often they do: 0.9025 for two of 0.95.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

from sottovoce.errors import ArgumentError, ArgumentTypeError
from sottovoce.estimates.limits.sums_of_bounds import Sides

Terms = Sequence[tuple[float, "Combinable"]]
Adviser = Callable[[], tuple[str, ...]]


@dataclass(frozen=True, repr=False)
class Combinable:
    """What of an `Estimate` takes part in arithmetic, and the operators; `Estimate` says what each is."""

    value: float
    low: float
    high: float
    error: float
    confidence: float
    n: int
    what: str
    estimand: str
    method: str
    notes: tuple[str, ...] = field(default_factory=tuple)
    reach: float | None = None
    p_value: float | None = None
    sides: Sides | None = field(default=None, repr=False, compare=False)
    sources: frozenset[str] = field(default=frozenset(), repr=False, compare=False)
    advisers: tuple[Adviser, ...] = field(default=(), repr=False, compare=False)

    def __neg__(self) -> Self:
        return combined([(-1.0, self)], what=f"−({self.what})")

    def __add__(self, other: Combinable | float) -> Self:
        if isinstance(other, Combinable):
            return combined([(1.0, self), (1.0, other)], what=f"{self.what} + {other.what}")
        return combined([(1.0, self)], _number(other), what=f"{self.what} + {other:g}")

    __radd__ = __add__

    def __sub__(self, other: Combinable | float) -> Self:
        if isinstance(other, Combinable):
            return combined([(1.0, self), (-1.0, other)], what=f"{self.what} − {other.what}")
        return combined([(1.0, self)], -_number(other), what=f"{self.what} − {other:g}")

    def __rsub__(self, other: float) -> Self:
        return combined([(-1.0, self)], _number(other), what=f"{other:g} − {self.what}")

    def __mul__(self, other: float) -> Self:
        return combined([(_number(other), self)], what=f"{other:g} · {self.what}")

    __rmul__ = __mul__

    def __truediv__(self, other: Combinable | float) -> Self:
        if isinstance(other, Combinable):
            return _ratio(self, other)
        if _number(other) == 0:
            raise ArgumentError("an estimate cannot be divided by 0", code="zero")
        return combined([(1 / _number(other), self)], what=f"{self.what} / {other:g}")


def combined(terms: Terms, constant: float = 0.0, *, what: str, confidence: float | None = None) -> Any:
    """Σ factor·estimate + constant, of estimates of different people.

    Args:
        terms: Factors and estimates.
        constant: What is added.
        what: What the sum is called.
        confidence: That of the sum, if the caller has chosen those of its terms so that it holds: `share_of`
            says how. By default what follows from theirs.

    Returns:
        An estimate of the kind of the first. With several terms it has a p-value for a sum of zero where all
        of them carry their bounds.

    Raises:
        ArgumentError: If the estimates share reports, or it is not known that they do not.
    """
    check_independent([one for _, one in terms])
    known = _known(terms)
    others = [term for term in terms if known is None or term[1].sides is None]
    low = high = constant
    error, level = 0.0, 1.0
    if known is not None:
        least = min(one.confidence for _, one in terms)
        level = least if confidence is None else share_of(confidence, len(others) + 1)
        sides = Sides.total(known, 0.0)
        low, high = (limit + constant for limit in sides.limits((1 - level) / 2))
        error = sides.error
    for f, one in others:
        low, high = low + f * (one.low if f > 0 else one.high), high + f * (one.high if f > 0 else one.low)
        error, level = math.hypot(error, f * one.error), level * one.confidence
    whole = None if known is None or others else Sides.total(known, constant)
    reaches = [abs(f) * one.reach for f, one in terms if one.reach is not None]
    return replace(
        terms[0][1],
        value=min(max(sum(f * one.value for f, one in terms) + constant, low), high),
        low=low,
        high=high,
        error=error,
        confidence=level if confidence is None else confidence,
        n=sum(one.n for _, one in terms),
        what=what,
        method=" and ".join(dict.fromkeys(one.method for _, one in terms)),
        notes=tuple(dict.fromkeys(note for _, one in terms for note in one.notes)),
        reach=max(reaches) if len(reaches) == len(terms) else None,
        sides=whole,
        sources=frozenset().union(*(one.sources for _, one in terms)),
        advisers=tuple(adviser for _, one in terms for adviser in one.advisers),
        p_value=None if whole is None or len(terms) == 1 else whole.p_value(),
    )


def share_of(confidence: float, intervals: int) -> float:
    """The confidence that each of several independent intervals needs for all of them to hold (Šidák).

    >>> round(share_of(0.9025, 2), 10)
    0.95
    """
    return float(confidence ** (1 / max(intervals, 1)))


def _known(terms: Terms) -> list[tuple[float, Sides]] | None:
    """The terms whose bounds are known, if there are any and enough error is left for their sum."""
    known = [(f, one.sides) for f, one in terms if one.sides is not None]
    if not any(f for f, _ in known):
        return None
    least = min(one.confidence for _, one in terms)
    return known if Sides.total(known).allows((1 - least) / 2) else None


def check_independent(estimates: Sequence[Combinable]) -> None:
    """Refuse estimates that rest on the same reports, and estimands that do not go together."""
    if len(estimates) < 2:
        return
    if len({one.estimand for one in estimates}) > 1:
        raise ArgumentError("estimates of the population and of respondents do not add up", code="estimand")
    seen: set[str] = set()
    for one in estimates:
        if not one.sources:
            raise ArgumentError(
                f"it is not known whose reports the {one.what} rests on, so nor whether it is independent",
                code="dependent",
            )
        if seen & one.sources:
            raise ArgumentError(
                f"the {one.what} rests on the same reports as another term: only estimates of different "
                "people are independent",
                code="dependent",
            )
        seen |= one.sources


def _ratio(top: Combinable, bottom: Combinable) -> Any:
    """a / b as Fieller does: the ratios r at which a − r·b = 0 is not excluded."""
    check_independent([top, bottom])
    confidence = min(top.confidence, bottom.confidence)
    exact = top.sides is not None and bottom.sides is not None
    if not exact:
        confidence = top.confidence * bottom.confidence
    if bottom.low <= 0 <= bottom.high:
        limits, value = (-math.inf, math.inf), math.nan if bottom.value == 0 else top.value / bottom.value
        notes: tuple[str, ...] = ("the divisor may be zero: nothing is excluded",)
    else:
        value, notes = top.value / bottom.value, ()
        quotients = [a / b for a in (top.low, top.high) for b in (bottom.low, bottom.high)]
        limits = min(quotients), max(quotients)

        def admitted(ratio: float) -> bool:
            difference = combined([(1.0, top), (-ratio, bottom)], what="")
            return bool(difference.low <= 0 <= difference.high)

        if exact:
            limits = _edge(admitted, value, limits[0]), _edge(admitted, value, limits[1])
    return replace(
        top,
        value=value,
        low=limits[0],
        high=limits[1],
        error=math.nan,
        confidence=confidence,
        n=top.n + bottom.n,
        what=f"{top.what} / {bottom.what}",
        notes=tuple(dict.fromkeys((*top.notes, *bottom.notes, *notes))),
        reach=None,
        sides=None,
        sources=top.sources | bottom.sources,
        advisers=top.advisers + bottom.advisers,
        p_value=None,
    )


def _edge(admitted: Callable[[float], bool], inside: float, outside: float) -> float:
    """Where a set that begins at `inside` ends, looked for towards `outside` and, if need be, beyond."""
    for _ in range(60):
        if not admitted(outside):
            break
        outside += outside - inside
    while abs(outside - inside) > 1e-9 * max(abs(inside), abs(outside)):
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if admitted(middle) else (inside, middle)
    return outside


def _number(other: object) -> float:
    if isinstance(other, bool) or not isinstance(other, int | float):
        kind = type(other).__name__
        raise ArgumentTypeError(f"an estimate combines with estimates and numbers, got {kind}")
    return float(other)
