"""An answer with its uncertainty: what every estimator returns."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from sottovoce.core.errors import whole_number
from sottovoce.estimates.tally import Tally

ESTIMANDS = ("population", "respondents")
INTERVALS = ("normal", "finite", "bootstrap")
FEW = 16  # reports below which an answer says that its interval rests on little
CONTRADICTION = "the limits contradict each other: hardly reports of this mechanism, see sottovoce.honesty"


@dataclass(frozen=True)
class Estimate:
    """A value and the interval [low, high] that covers the truth with the given confidence.

    `what` names the quantity, `estimand` whose it is: of the "population" that the people stand for, or of
    the "respondents" themselves. `method` says how it was computed, `notes` what the reader should know.
    `reach` is the most by which replacing one report can move the value, where that is known.
    `standard_error` is that of the value (NaN where it is not known: of quantiles, of a direction where there
    is none, and from one report), `n` the number of reports.
    """

    value: float
    low: float
    high: float
    standard_error: float
    confidence: float
    n: int
    what: str
    estimand: str
    method: str
    notes: tuple[str, ...] = ()
    reach: float | None = None

    @property
    def half_width(self) -> float:
        """Half the width of the interval."""
        return (self.high - self.low) / 2

    def moved_by(self, k: int) -> float:
        """The most by which k fabricated reports among the n can have moved the value."""
        if self.reach is None:
            raise ValueError(f"there is no bound for the method {self.method!r}; see sottovoce.fabrication")
        return whole_number(k, "k", least=0, most=self.n) * self.reach

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as JSON takes them (a standard error that is not known is None)."""
        content = asdict(self)
        content["notes"] = list(self.notes)
        return {key: None if isinstance(v, float) and math.isnan(v) else v for key, v in content.items()}

    def __str__(self) -> str:
        value, low, high = _shown(self.value, self.low, self.high)
        text = (
            f"{self.what}: {value}, {100 * self.confidence:.10g} % interval {low} to {high} "
            f"({self.estimand}, n={self.n}, {self.method})"
        )
        return "\n".join((text, *(f"  note: {note}" for note in self.notes)))


def _shown(value: float, low: float, high: float) -> list[str]:
    """The numbers to about two figures of the interval's width; very small and very large ones in powers."""
    largest, width = max(abs(low), abs(high)), high - low
    decimals = 2 - math.floor(math.log10(width)) if 0 < width < math.inf else 4
    if largest == 0 or 1e-6 <= largest < 1e15:
        return [f"{number:.{min(max(0, decimals), 12)}f}" for number in (value, low, high)]
    figures = min(max(0, math.floor(math.log10(largest)) + decimals), 15)
    return [f"{number:.{figures}e}" for number in (value, low, high)]


def in_order(low: float, value: float, high: float) -> tuple[float, float, float, tuple[str, ...]]:
    """Limits in order with the value between them, and a note where they contradict each other.

    Each limit comes from a statistic of its own, so reports that no truth explains can put the lower one
    above the upper one. Then nothing between the two is excluded with any right.
    """
    notes: tuple[str, ...] = ()
    if low > high:
        notes = (CONTRADICTION,) if low - high > 1e-9 else ()
        low, high = high, low
    return low, min(max(value, low), high), high, notes


def check_tally(tally: object, name: str = "tally") -> Tally:
    """What an estimate takes, and nothing else."""
    if not isinstance(tally, Tally):
        raise TypeError(f"{name} must be a Tally, got {type(tally).__name__}")
    return tally


def check_choice(value: object, name: str, choices: tuple[str, ...]) -> str:
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, got {name}={value!r}")
    return str(value)


def few_notes(n: int) -> tuple[str, ...]:
    """What to say about an interval from very few reports."""
    if n < 2:
        return ("one report is too few for an interval: it is everything possible",)
    if n < FEW:
        return (f"n={n} is small for an interval that rests on a normal approximation",)
    return ()
