"""An answer with its uncertainty: what every estimator returns."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from sottovoce.estimates.answer.arithmetic import Combinable
from sottovoce.plots.data_table import Row, Tabular
from sottovoce.plots.forest_plot import draw_forest

if TYPE_CHECKING:
    from matplotlib.axes import Axes


#: What the words for methods mean.
METHODS = {
    "decoded": "the average of what the reports stand for, right because the mechanism is unbiased",
    "unbiased": "the average of weights whose expectation is the value itself, wherever people are",
    "envelope": "limits that hold for every distribution the people may have",
    "declared": "limits that hold for every distribution of the declared shape",
    "asked directly": "people were asked this very question",
    "finite": "holds for any number of reports",
    "bootstrap": "by resampling the counts",
    "sequential": "holds however often somebody looks",
    "clopper-pearson": "exact limits of a count, for any number of reports",
    "inverse": "weighted counts, with the weights that undo the noise",
    "signs": "the noise of a sign and of a share, undone",
    "functions by lot": "each person answered one function of the numbers, drawn by lot",
    "two rounds": "a first part of the people told where to look",
    "hourglass": "noise on the sum and the count together, in the shape that costs a mean least",
    "staircase2d": "noise on the sum and the count together, of equal heights in steps",
    "transformed": "noise on the sums of distances to both ends of the domain",
    "shifted": "noise on the sum of distances to the middle, and on the count",
    "independent": "noise on the sum, and on the count",
    "swap": "noise on the sum; the number of people is public",
    "staircase": "noise on the sum, in steps",
    "geometric": "noise on the count",
}


@dataclass(frozen=True, repr=False)
class Estimate(Combinable, Tabular):
    """A value and the interval [low, high] that covers the truth with the given confidence.

    Estimates of different people can be added, subtracted, multiplied by a number and divided. `float`,
    `round` and formats such as f"{estimate:.1f}" take the value.

    Attributes:
        value: The estimate, in the units of the domain.
        low: The lower limit.
        high: The upper limit.
        error: The root mean square error of `value`: its sampling error and the most that its bias can be.
            NaN where it is not known, and a note says why: of quantiles, of a direction where none is
            excluded, from one report.
        confidence: How often the interval holds.
        n: How many reports there are.
        what: The quantity, such as "mean".
        estimand: Whose it is: of the "population" that the people stand for, or of the "respondents".
        method: How it was computed.
        notes: What the reader should know.
        reach: The most by which replacing one report can move the value, where that is known.
        p_value: Of a difference: a bound for the chance of one as large if there is none.
        effective: Of a weighted estimate: how many people drawn evenly would tell as much.
        bound: Of a quantile: the median width below which intervals that hold for every truth cannot go, for
            this mechanism, n and the distribution as it is estimated.
        sides: What bounds the quantity from either side, for arithmetic; None where only limits are known.
        advisers: What `advice` asks; they hold what they need, so that reading changes nothing.
        sources: Names of the tallies that it rests on, so that arithmetic can refuse what is not independent.
    """

    effective: float | None = None
    bound: float | None = None

    @property
    def half_width(self) -> float:
        """Half the width of the interval."""
        return (self.high - self.low) / 2

    def __float__(self) -> float:
        return self.value

    def __round__(self, digits: int | None = None) -> float:
        return round(self.value, digits)

    def __format__(self, spec: str) -> str:
        return format(self.value, spec) if spec else str(self)

    def advice(self) -> tuple[str, ...]:
        """What another design would have given, for the same ε and people.

        It is computed at each call: of quantiles and shares in about a tenth of a second.

        Returns:
            Sentences; none if the mechanism suits the question.
        """
        return tuple(dict.fromkeys(sentence for ask in self.advisers for sentence in ask()))

    def to_dict(self) -> dict[str, float | int | str | list[str] | None]:
        """Plain values, as JSON takes them.

        Returns:
            The attributes by name; what is not known or has no limit is None. Notes begin with the advice.
        """
        return {**self._plain(), "notes": list(self._remarks())}

    def _plain(self) -> dict[str, Any]:
        content = {f.name: getattr(self, f.name) for f in fields(self) if f.repr}
        return {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in content.items()}

    @property
    def rows(self) -> list[Row]:
        """One row of plain values, without the notes."""
        return [{key: value for key, value in self._plain().items() if key != "notes"}]

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the value and its interval.

        Args:
            ax: Axes of matplotlib; by default new ones.

        Returns:
            The axes.

        Raises:
            MissingExtra: If matplotlib is not installed.
        """
        return draw_forest([self.what], [self], f"{100 * self.confidence:.10g} % interval", ax)

    def _facts(self) -> dict[str, str]:
        return {
            "of": f"the {self.estimand}, from {self.n:,} reports",
            "how": f"{self.method}: {explained(self.method)}",
        }

    def _remarks(self) -> tuple[str, ...]:
        return (*self.advice(), *self.notes)

    def __repr__(self) -> str:
        value, low, high = rounded(self.value, self.low, self.high)
        return f"<Estimate {self.what} {value} in [{low}, {high}] n={self.n}>"

    def __str__(self) -> str:
        value, low, high = rounded(self.value, self.low, self.high)
        text = (
            f"{self.what}: {value}, {100 * self.confidence:.10g} % interval {low} to {high} "
            f"({self.estimand}, n={self.n}, {self.method})"
        )
        # The bound is a median, of a distribution that is estimated: one interval may well be narrower.
        if self.bound is not None and self.bound < self.high - self.low:
            text += f"; at best about {rounded(self.bound, self.low, self.high)[0]} wide in the median"
        text += "" if self.p_value is None else f", p = {self.p_value:.2g}"
        return "\n".join((text, *(f"  note: {note}" for note in self._remarks())))


def explained(method: str) -> str:
    """What a method is, in words; an empty text for one that is not in `METHODS`."""
    return "; ".join(METHODS[part] for part in method.split(", ") if part in METHODS)


def rounded(value: float, low: float, high: float) -> list[str]:
    """The numbers to about two figures of the interval's width; very small and very large ones in powers."""
    ends = [abs(end) for end in (value, low, high) if math.isfinite(end)]  # a slope may be without limit
    largest, width = max(ends, default=0.0), high - low
    decimals = 2 - math.floor(math.log10(width)) if 0 < width < math.inf else 4
    if largest == 0 or 1e-6 <= largest < 1e15:
        return [f"{number:.{min(max(0, decimals), 12)}f}" for number in (value, low, high)]
    figures = min(max(0, math.floor(math.log10(largest)) + decimals), 15)
    return [f"{number:.{figures}e}" for number in (value, low, high)]
