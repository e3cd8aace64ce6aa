"""The mean and the distribution of a number within each of several private groups.

    g = sottovoce.groups(tally)            # of sottovoce.within(…)
    g["bike"].share, g["bike"].mean, g["bike"].distribution

The sum of the numbers of a group and its share are weighted counts; the mean is their ratio, with the limits
of Fieller. Where a group is not resolved, nothing is excluded.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from sottovoce.arrays import FloatArray
from sottovoce.errors import DataError, check_confidence
from sottovoce.estimates.answer.units import check_tally, in_own_units
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.fits.deconvolution import Inverse
from sottovoce.estimates.fits.mean_products import UNRESOLVED, Ratio
from sottovoce.estimates.limits.weighted_counts import Part, cut, moments, normal_quantile
from sottovoce.estimates.shares import nearest_shares
from sottovoce.estimates.tally import Tally
from sottovoce.notebook import Shown
from sottovoce.plots.data_table import Row, Tabular
from sottovoce.plots.forest_plot import draw_forest
from sottovoce.reporters.composites.functions_by_lot import Function
from sottovoce.reporters.contract import described
from sottovoce.values.domain import Domain

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, repr=False)
class Group(Shown):
    """One group.

    Attributes:
        share: The part of all people who are in it.
        mean: The mean of their numbers; on a log scale the geometric mean.
        levels: The points at which their distribution is told, from end to end of the domain.
        distribution: The part of the group at each, with numbers between two points counted for both; empty
            where two levels are all that is asked.
    """

    share: Estimate
    mean: Estimate
    levels: tuple[float, ...]
    distribution: tuple[float, ...]


@dataclass(frozen=True, repr=False)
class Groups(Tabular, Mapping[str | int, Group]):
    """What is known about each group, by option.

    Attributes:
        n: How many people reported.
        confidence: How often each interval holds.
        options: The groups.
        each: What is known about them, in the same order.
    """

    n: int
    confidence: float
    options: tuple[str | int, ...]
    each: tuple[Group, ...] = field(repr=False)

    @cached_property
    def _places(self) -> dict[str | int, int]:
        return {option: i for i, option in enumerate(self.options)}

    def __getitem__(self, option: str | int) -> Group:
        return self.each[self._places[option]]

    def __iter__(self) -> Iterator[str | int]:
        return iter(self.options)

    def __len__(self) -> int:
        return len(self.options)

    @property
    def rows(self) -> list[Row]:
        """A row per group: its share and its mean, with their limits."""
        return [
            {"group": option, "share": g.share.value, "share_low": g.share.low, "share_high": g.share.high,
             "mean": g.mean.value, "mean_low": g.mean.low, "mean_high": g.mean.high}
            for option, g in self.items()
        ]  # fmt: skip

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the mean of each group, with its interval.

        Args:
            ax: Axes of matplotlib; by default new ones.

        Returns:
            The axes.

        Raises:
            MissingExtra: If matplotlib is not installed.
        """
        title = f"{100 * self.confidence:.10g} % intervals"
        return draw_forest([str(option) for option in self], [group.mean for group in self.each], title, ax)

    def __str__(self) -> str:
        lines = [f"{self.n} people in {len(self)} groups, {100 * self.confidence:.10g} % intervals"]
        for group in self.each:
            mean = group.mean
            lines.append(
                f"  {mean.what}: {mean.value:.4g}, {mean.low:.4g} to {mean.high:.4g}; "
                f"{100 * group.share.value:.1f} % of the people"
            )
        return "\n".join(lines)


def groups(tally: Tally, *, confidence: float = 0.95) -> Groups:
    """Estimate the share of each private group, and the mean and distribution of a number within it.

    Args:
        tally: Counts of reports of `sottovoce.within`.
        confidence: How often each interval should hold.

    Returns:
        What is known about each group, by option.

    Raises:
        DataError: If the reports are of something else.
        NoDataError: If there are none.

    Example:
        >>> import numpy as np
        >>> from sottovoce.surveys.within import within
        >>> w = within(4.0, ["car", "bike"], (0, 10))
        >>> people = {"group": ["car", "bike"] * 5000, "number": [2.0, 6.0] * 5000}
        >>> g = groups(Tally(w, w.report(people, rng=1)))
        >>> bool(g["bike"].mean.low < 6 < g["bike"].mean.high)
        True
    """
    reporter = check_tally(tally).law
    functions = reporter.functions
    of = next((one.about for one in reporter.questions if one.name == "groups"), ())
    if functions is None or not of:
        kind = (
            f"this is a tally of {described(reporter)}, not of a number within groups; see sottovoce.within"
        )
        raise DataError(kind, code="kind", argument="tally")
    check_confidence(confidence)
    options: Any = functions.inputs[of[0]]
    line: Any = functions.inputs[of[1]]
    item = dict(zip(functions.each, reporter.items, strict=True))
    joint = tally[item[Function("level", of)]].required(2)
    own = item.get(Function("value", of[:1]))
    apart, alone = own is not None, joint if own is None else tally[own].required(2)
    law, k = Inverse.of(joint.law.as_choice()), len(options)
    many = law.reporter.cells // len(law.reporter.sets) // k
    values = 2 * np.arange(many) / (many - 1) - 1
    level = np.repeat(values, k)
    each = []
    for c, option in enumerate(options.names):
        own = np.arange(k * many) % k == c
        above = law.part(np.where(own, level, 0.0), joint.counts)
        if apart:
            of_choice = Inverse.of(alone.law.as_choice())
            below = of_choice.part((np.arange(k) == c).astype(float), alone.counts)
        else:
            below = law.part(own.astype(float), joint.counts)
        spread = np.empty(0)
        if many > 2:
            shares = law.moments(joint.counts).mean[own]
            spread = nearest_shares(shares / max(float(shares.sum()), 1e-12))
        each.append(_group(option, above, below, apart, line, confidence, tally, spread))
    return Groups(tally.n, confidence, options.names, tuple(each))


def _group(
    option: str | int,
    above: Part,
    below: Part,
    apart: bool,
    line: Domain,
    confidence: float,
    tally: Tally,
    spread: FloatArray,
) -> Group:
    """A group from the weighted counts of its sum and its share."""
    t = normal_quantile((1 - confidence) / 2)
    (top, a), (bottom, width) = (
        (float(one.value), float(one.error)) for one in (moments([part]) for part in (above, below))
    )
    both = 0.0 if apart else _covariance(above, below)
    ratio = Ratio.of(top, bottom, np.eye(2), np.array([[a**2, both], [both, width**2]]), t)
    least, most = map(float, cut(bottom - t * width, bottom + t * width, (0.0, 1.0)))
    share = in_own_units(tally, f"share of {option!r}", bottom, (least, most), width, confidence, "inverse")
    low, high = (float(line.from_unit((end + 1) / 2)) for end in cut(ratio.low, ratio.high, (-1.0, 1.0)))
    mean = replace(
        share,
        value=min(max(float(line.from_unit((min(max(ratio.value, -1.0), 1.0) + 1) / 2)), low), high),
        low=low,
        high=high,
        error=math.nan if line.is_log else ratio.error * float(line.stretched(0.5)),
        what=f"{'geometric ' * line.is_log}mean within {option!r}",
        method="signs" if apart else "inverse",
        notes=(UNRESOLVED,) if math.isinf(ratio.high) else (),
    )
    levels = tuple(line.from_unit(np.linspace(0, 1, spread.size)).tolist()) if spread.size else ()
    return Group(share, mean, levels, tuple(spread.tolist()))


def _covariance(one: Part, other: Part) -> float:
    """That of the averages of two weightings of the same reports."""
    share = one.counts / one.n
    first, second = (weights - share @ weights for weights in (one.weights, other.weights))
    return float(share @ (first * second)) / (one.n - 1)
