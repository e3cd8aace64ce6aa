"""The end of an estimate that is in its own units already: shares, groups, positions, products."""

from __future__ import annotations

import math

from sottovoce.estimates.answer.units import sources_of
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.limits.sums_of_bounds import Sides
from sottovoce.estimates.tally import Tally


def told(
    tally: Tally,
    what: str,
    value: float,
    limits: tuple[float, float],
    error: float,
    confidence: float,
    method: str,
    *,
    notes: tuple[str, ...] = (),
    reach: float | None = None,
    sides: Sides | None = None,
    sources: frozenset[str] | None = None,
) -> Estimate:
    """The end of an estimate for the population that is in its own units already, and within its limits."""
    (low, high), several = limits, tally.n > 1
    return Estimate(
        min(max(value, low), high),
        low,
        high,
        error if several else math.nan,
        confidence,
        tally.n,
        what,
        "population",
        method,
        notes,
        reach,
        sides=sides if several else None,
        sources=sources_of(tally) if sources is None else sources,
    )
