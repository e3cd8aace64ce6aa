"""The share of people behind each option.

    s = sottovoce.shares(tally)
    s["bike"]                     # an Estimate
    s.simultaneous["bike"]        # all intervals hold together
    s.plot()

n_x is how many reports name a block that holds x. Where the family of blocks is balanced it is binomial with
the chance Q + (P − Q)·share, exactly and for people who all differ as well as at every n, so limits are those
of Clopper and Pearson. In other families shares are weighted counts with the weights that undo the
convolution, and limits are those of every weighted count (`weighted_counts`). Values are brought to add up to
1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from sottovoce.arrays import FloatArray
from sottovoce.errors import check_confidence
from sottovoce.estimates.answer.units import check_tally, in_own_units, sources_of
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.fits.deconvolution import Inverse
from sottovoce.estimates.limits.sums_of_bounds import Sides
from sottovoce.estimates.limits.weighted_counts import Moments, moments
from sottovoce.estimates.tally import Tally
from sottovoce.plots.data_table import Row, Tabular
from sottovoce.plots.distribution_plot import INK, SHADE, new_axes
from sottovoce.reporters.question import Question
from sottovoce.values.options import Options

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, repr=False)
class Shares(Tabular, Mapping[str | int, Estimate]):
    """The share of each option, as an `Estimate`, by option.

    Attributes:
        n: How many people reported.
        confidence: How often each interval holds.
        estimates: The shares in the order of the options.
        joint: The same shares with wider intervals, which hold all together that often.
        mean: The mean of the options, where they are numbers (ratings); otherwise None.
        options: The options, in their order.
    """

    n: int
    confidence: float
    estimates: tuple[Estimate, ...]
    joint: tuple[Estimate, ...]
    mean: Estimate | None
    options: tuple[str | int, ...] = field(repr=False)

    @cached_property
    def _places(self) -> dict[str | int, int]:
        return {option: i for i, option in enumerate(self.options)}

    def __getitem__(self, option: str | int) -> Estimate:
        return self.estimates[self._places[option]]

    def __iter__(self) -> Iterator[str | int]:
        return iter(self.options)

    def __len__(self) -> int:
        return len(self.options)

    @property
    def simultaneous(self) -> dict[str | int, Estimate]:
        """The shares with intervals that hold all together."""
        return dict(zip(self.options, self.joint, strict=True))

    @property
    def rows(self) -> list[Row]:
        """A row per option: its share, the limits, and those that hold for all options together."""
        return [
            {"option": option, "share": one.value, "low": one.low, "high": one.high,
             "joint_low": together.low, "joint_high": together.high}
            for option, one, together in zip(self.options, self.estimates, self.joint, strict=True)
        ]  # fmt: skip

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw a bar for each option, with its interval.

        Args:
            ax: Axes of matplotlib to draw on; by default a new figure.

        Returns:
            The axes.
        """
        axes: Any = new_axes(polar=False) if ax is None else ax
        estimates = self.estimates[::-1]  # the first option on top
        place = np.arange(len(estimates))
        ends = ("value", "low", "high")
        value, low, high = (100 * np.array([getattr(one, end) for one in estimates]) for end in ends)
        axes.barh(place, value, color=SHADE, height=0.7)
        axes.errorbar(
            value, place, xerr=np.abs([value - low, high - value]), fmt="none", ecolor=INK, capsize=3
        )
        axes.set(xlabel=f"share in %, with {100 * self.confidence:g} % intervals", xlim=(0, None))
        axes.set_yticks(place, [str(option) for option in self.options[::-1]])
        axes.spines[["top", "right"]].set_visible(False)
        return axes

    def __str__(self) -> str:
        width = max(len(str(option)) for option in self.options)
        lines = [f"shares of {self.n} people, {100 * self.confidence:.10g} % intervals"]
        for option, one in self.items():
            limits = f"{100 * one.low:5.1f} to {100 * one.high:5.1f} %"
            lines.append(f"  {option!s:<{width}}  {100 * one.value:5.1f} %  {limits}")
        return "\n".join(lines)


def shares(tally: Tally, *, confidence: float = 0.95) -> Shares:
    """Estimate the share of each option, with intervals.

    Args:
        tally: Counts of reports about a choice, or about any of several options (`any_of`).
        confidence: How often each interval holds, and how often those of `simultaneous` hold all together.

    Returns:
        The shares by option.

    Raises:
        DataError: If the reports are not about a choice.
        NoDataError: If there are none.

    Example:
        >>> from sottovoce.designs.choice import choice
        >>> m = choice(2.0, ["car", "bike", "train"])
        >>> s = shares(Tally(m, m.report(["car"] * 6000 + ["bike"] * 4000, rng=1)))
        >>> s["car"].low < 0.6 < s["car"].high, s.simultaneous["train"].low
        (True, 0.0)
    """
    check_confidence(confidence)
    if len(check_tally(tally).law.items) > 1 and Question("shares") in tally.law.questions:
        return _several(tally, confidence)
    reporter = tally.law.as_choice()
    options: Options = reporter.domain  # type: ignore[assignment]  # a choice has options
    law = Inverse.of(reporter)
    k, tail = len(options), (1 - confidence) / 2
    weighted = law.moments(tally.counts)
    value = nearest_shares(np.asarray(weighted.mean))
    # The two shares of yes and no are one number.
    sides = {"each": tail, "all": tail / k if k > 2 else tail}
    limits = {name: law.limits(tally.counts, weighted, side) for name, side in sides.items()}
    whole, sources = Moments.of([weighted]), sources_of(tally)
    method = "clopper-pearson" if law.balanced else "inverse"

    def answers(low: FloatArray, high: FloatArray) -> tuple[Estimate, ...]:
        numbers = zip(value.tolist(), low.tolist(), high.tolist(), strict=True)
        return tuple(
            in_own_units(
                tally,
                f"share of {option!r}",
                share,
                (least, most),
                float(whole.error[i]),
                confidence,
                method,
                reach=law.reach / tally.n,
                sides=Sides(whole.at(i), whole.at(i), (0.0, 1.0)),
                sources=sources,
            )
            for i, (option, (share, least, most)) in enumerate(zip(options.names, numbers, strict=True))
        )

    return Shares(
        n=tally.n,
        confidence=confidence,
        estimates=answers(*limits["each"]),
        joint=answers(*limits["all"]),
        mean=None if reporter.ratings is None else mean_of_ratings(tally, confidence),
        options=options.names,
    )


def _several(tally: Tally, confidence: float) -> Shares:
    """Any of several options: the share of those who have each."""
    names = tuple(tally.law.items)

    def answers(each: float) -> tuple[Estimate, ...]:
        return tuple(
            replace(shares(tally[name], confidence=each)[1], what=f"share of {name!r}", confidence=confidence)
            for name in names
        )

    together = answers(1 - (1 - confidence) / len(names))
    return Shares(tally.n, confidence, answers(confidence), together, None, names)


def nearest_shares(value: FloatArray) -> FloatArray:
    """The point of the simplex that is nearest to these numbers: none negative, adding up to 1."""
    ordered = np.sort(value)[::-1]
    excess = (np.cumsum(ordered) - 1) / np.arange(1, value.size + 1)
    last = int(np.flatnonzero(ordered > excess)[-1])
    return np.maximum(value - excess[last], 0.0)


def mean_of_ratings(tally: Tally, confidence: float) -> Estimate:
    """The mean of options that are numbers: one weighted count, of which every option is a part."""
    reporter = check_tally(tally).law.as_choice()
    number: FloatArray = reporter.ratings  # type: ignore[assignment]  # who asks knows that there are some
    part = Inverse.of(reporter).part(number, tally.counts)
    whole, tail = moments([part]), (1 - confidence) / 2
    sides = Sides(whole, whole, (float(number.min()), float(number.max())))
    numbers = float(whole.value), sides.limits(tail), float(whole.error)
    reach = float(np.ptp(part.weights)) / tally.n
    return in_own_units(tally, "mean", *numbers, confidence, "inverse", reach=reach, sides=sides)
