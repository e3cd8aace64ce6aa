"""An answer with its uncertainty: what every estimator returns."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from sottovoce.errors import whole_number

ESTIMANDS = ("population", "respondents")
INTERVALS = ("normal", "finite", "bootstrap")
FEW = 16  # reports below which an answer says that its interval rests on little


@dataclass(frozen=True)
class Estimate:
    """A value and the interval [low, high] that covers the truth with the given confidence.

    `what` names the quantity, `estimand` whose it is: of the "population" that the people stand for, or of
    the "respondents" themselves. `method` says how it was computed, `notes` what the reader should know.
    `reach` is the most by which replacing one report can move the value, where that is known.
    `standard_error` is that of the value, `n` the number of reports.
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
        digits = _digits(self.high - self.low)
        text = (
            f"{self.what}: {self.value:.{digits}f}, {100 * self.confidence:g} % interval "
            f"{self.low:.{digits}f} to {self.high:.{digits}f} "
            f"({self.estimand}, n={self.n}, {self.method})"
        )
        return "\n".join((text, *(f"  note: {note}" for note in self.notes)))


def _digits(width: float) -> int:
    """Decimals that show an interval to about two figures of its width."""
    if not width > 0 or not math.isfinite(width):
        return 4
    return min(12, max(0, 2 - math.floor(math.log10(width))))


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
