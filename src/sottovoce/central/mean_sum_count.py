"""Private means, sums and counts of data in one place.

    sv.central.mean(values, epsilon=1.0, domain=(0, 60))                  # the hourglass mechanism
    sv.central.mean(table, 1.0, (0, 60), column="wait", by="team", groups=["a", "b"])

Each person is one value. Neighbouring data sets differ by one person added or removed, so the number of
people is private too (except with mechanism="swap"). Values become integers, noise is added to integer
sums by an exact sampler, and everything returned is computed from those noisy integers.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

import numpy as np

from sottovoce.arrays import FloatArray
from sottovoce.central import release_intervals
from sottovoce.central.accountant import Accountant
from sottovoce.central.grid import STEPS, Grid
from sottovoce.central.noise.by_name import noise_of, origin_of
from sottovoce.central.noise.exact_draws import ExactDraws, Integers
from sottovoce.central.noise.integer_staircase import PublicCount, Staircase
from sottovoce.central.noise.noise import add_noise
from sottovoce.central.release import GroupedRelease, Release
from sottovoce.central.totals import Data, Totals, count_rows, gather
from sottovoce.errors import ArgumentError, NoDataError, check_confidence, check_epsilon
from sottovoce.exact.rational_bounds import rational_epsilon
from sottovoce.randomness.word_source import Seeded
from sottovoce.values.interval import DomainLike
from sottovoce.values.missing_and_outside import Missing, Outside


def mean(
    values: Data,
    epsilon: float,
    domain: DomainLike,
    mechanism: str = "hourglass",
    *,
    column: str | None = None,
    by: str | Data | None = None,
    groups: Iterable[Hashable] | None = None,
    missing: Missing = "refuse",
    outside: Outside = "refuse",
    clip: bool = False,
    grid: int = STEPS,
    confidence: float = 0.95,
    accountant: Accountant | None = None,
    rng: Seeded = None,
) -> Release | GroupedRelease:
    """Release the mean of numbers in a public domain, ε-differentially private.

    Args:
        values: One number per person: an array, a pandas, polars or Arrow column, an iterator of such; with
            `column` a table, or an iterator of its batches.
        epsilon: The privacy parameter.
        domain: Where values lie, (low, high). It is public: choose it without looking at the data.
        mechanism: "hourglass" (optimal for every ε), "staircase2d", "transformed", "shifted" or
            "independent"; "swap" makes the number of people public and protects only their values.
        column: Which column of a table holds the numbers.
        by: One key per person, or the name of the column of keys.
        groups: The public keys: one mean for each, and none for other keys.
        missing: What a missing value (None, NaN, infinite) counts as: "refuse" (an error), "drop" (nobody)
            or a number.
        outside: What a value outside the domain counts as: "refuse" (an error), "clip" (the nearest end) or
            "missing".
        clip: Short for `outside="clip"`.
        grid: How many steps the domain is divided into.
        confidence: How often the interval should hold.
        accountant: A budget that is charged before any noise is drawn, and may refuse.
        rng: A seed, for simulations only: with it nobody is protected.

    Returns:
        The mean with its interval, or one per declared group.

    Raises:
        ArgumentError: If a parameter has a value that it must not have.
        DataError: If values are refused; it gives their number and the first index, never a value.
        BudgetError: If the accountant refuses.
        NoDataError: If a group is empty under "swap", where the number of people is public.

    Example:
        >>> release = mean([5, 7, 30], epsilon=1.0, domain=(0, 60), rng=1)
        >>> release.low <= release.value <= release.high
        True
    """
    epsilon, confidence = check_epsilon(epsilon), check_confidence(confidence)
    lattice = Grid.of(domain, grid, missing=missing, outside=outside, clip=clip)
    noise = noise_of(mechanism, epsilon, lattice)
    if noise.public_count and lattice.policy.missing == "drop":
        raise ArgumentError(
            f"missing must not be 'drop' with mechanism={mechanism!r}: how many are missing is private",
            code="choice",
            argument="missing",
        )
    totals = gather(values, lattice, column, by, groups)
    totals = totals.fit_for(int(lattice.steps * noise.farthest), epsilon)
    if noise.public_count and not totals.people.all():
        raise NoDataError(
            f"mechanism={mechanism!r} needs at least one value in every group: their number is public",
            argument="values",
        )
    draws = ExactDraws.using(rng)
    _spend(accountant, epsilon, "mean", column)
    sums, sizes = add_noise(totals.positions, totals.people * lattice.steps, noise, draws)

    s, n = _floats(sums, lattice.steps), _floats(sizes, lattice.steps)
    alpha = release_intervals.estimate(s, n)
    low, high = release_intervals.interval(s, n, alpha, noise, confidence, lattice.steps)
    half_step = 0.5 / lattice.steps  # what rounding to the grid may have moved the mean by
    release = GroupedRelease(
        what="mean",
        groups=totals.keys,
        value=_from_unit(alpha, lattice),
        low=_from_unit(np.maximum(low - half_step, 0), lattice),
        high=_from_unit(np.minimum(high + half_step, 1), lattice),
        error=release_intervals.standard_error(alpha, n, noise) * lattice.steps * lattice.step,
        count=n,
        epsilon=epsilon,
        method=mechanism,
        confidence=confidence,
    )
    return release if totals.grouped else release.at(0)


def sum(
    values: Data,
    epsilon: float,
    domain: DomainLike,
    *,
    column: str | None = None,
    by: str | Data | None = None,
    groups: Iterable[Hashable] | None = None,
    missing: Missing = "refuse",
    outside: Outside = "refuse",
    clip: bool = False,
    grid: int = STEPS,
    confidence: float = 0.95,
    accountant: Accountant | None = None,
    rng: Seeded = None,
) -> Release | GroupedRelease:
    """Release the sum of numbers in a public domain.

    Staircase noise for a sensitivity of max(|low|, |high|). Values are rounded to the grid first. The
    interval is about the noise only: on a coarse `grid` the rounding of n values may move their sum by up to
    n steps.

    Args:
        values: As in `mean`; so are all other arguments.
        epsilon: The privacy parameter.
        domain: Where values lie, (low, high), public.
        column: Which column of a table holds the numbers.
        by: One key per person, or the name of the column of keys.
        groups: The public keys.
        missing: What a missing value counts as.
        outside: What a value outside the domain counts as.
        clip: Short for `outside="clip"`.
        grid: How many steps the domain is divided into.
        confidence: How often the interval should hold.
        accountant: A budget that is charged before any noise is drawn.
        rng: A seed, for simulations only.

    Returns:
        The sum with its interval, or one per declared group. It does not tell the number of people.

    Raises:
        ArgumentError: If a parameter has a value that it must not have, or the domain lies too far from zero.
        DataError: If values are refused.
        BudgetError: If the accountant refuses.

    Example:
        >>> release = sum([5, 7, 30], epsilon=1.0, domain=(0, 60), rng=1)
        >>> release.low <= release.value <= release.high
        True
    """
    lattice = Grid.of(domain, grid, missing=missing, outside=outside, clip=clip)
    origin = origin_of(lattice)
    reach = max(abs(origin), abs(origin + lattice.steps))
    epsilon = check_epsilon(epsilon)
    totals = gather(values, lattice, column, by, groups).fit_for(2 * reach, epsilon)
    numbers = _Numbers("sum", origin * totals.people + totals.positions, reach, lattice.step, totals)
    return numbers.release(epsilon, confidence, column, accountant, rng)


def count(
    values: Data,
    epsilon: float,
    *,
    by: str | Data | None = None,
    groups: Iterable[Hashable] | None = None,
    confidence: float = 0.95,
    accountant: Accountant | None = None,
    rng: Seeded = None,
) -> Release | GroupedRelease:
    """Release the number of people: two-sided geometric noise, which is the staircase of sensitivity one.

    Args:
        values: Any sequence or table; its rows are counted, whatever they hold.
        epsilon: The privacy parameter.
        by: One key per row, or the name of the column of keys.
        groups: The public keys.
        confidence: How often the interval should hold.
        accountant: A budget that is charged before any noise is drawn.
        rng: A seed, for simulations only.

    Returns:
        The count with its interval, or one per declared group.

    Raises:
        ArgumentError: If a parameter has a value that it must not have.
        BudgetError: If the accountant refuses.

    Example:
        >>> count(range(1000), epsilon=1.0, rng=1).value
        1002.0
    """
    totals = count_rows(values, by, groups)
    numbers = _Numbers("count", totals.people, 1, 1.0, totals)
    return numbers.release(check_epsilon(epsilon), confidence, None, accountant, rng)


@dataclass(frozen=True)
class _Numbers:
    """Integers of sensitivity `reach`, in steps of `unit`, to be released with staircase noise."""

    what: str
    values: Integers
    reach: int
    unit: float
    totals: Totals

    def release(
        self,
        epsilon: float,
        confidence: float,
        column: str | None,
        accountant: Accountant | None,
        rng: Seeded,
    ) -> Release | GroupedRelease:
        confidence, draws = check_confidence(confidence), ExactDraws.using(rng)
        noise = Staircase.optimal(rational_epsilon(epsilon), self.reach)
        _spend(accountant, epsilon, self.what, column)
        noisy = self.values + noise.draw(self.values.size, draws, self.values.dtype)[0]
        value = _floats(noisy, 1) * self.unit
        # |z| > m for the integer z = round(x) means |x| > m + ½.
        quantile = float(release_intervals.quantiles(PublicCount(noise), confidence)[0])
        half = np.ceil(quantile * self.reach - 0.5) * self.unit
        release = GroupedRelease(
            what=self.what,
            groups=self.totals.keys,
            value=value,
            low=value - half,
            high=value + half,
            error=np.full(value.shape, np.sqrt(noise.variance) * self.reach * self.unit),
            count=value if self.what == "count" else None,
            epsilon=epsilon,
            method="geometric" if self.reach == 1 else "staircase",
            confidence=confidence,
        )
        return release if self.totals.grouped else release.at(0)


def _spend(accountant: Accountant | None, epsilon: float, statistic: str, column: str | None) -> None:
    if accountant is not None:
        accountant.spend(epsilon, statistic if column is None else f"{statistic} of {column}")


def _floats(numbers: Integers, unit: int) -> FloatArray:
    """numbers/unit, each correctly rounded."""
    return (numbers / unit).astype(np.float64)


def _from_unit(alpha: FloatArray, grid: Grid) -> FloatArray:
    return np.clip(grid.domain.from_unit(alpha), grid.domain.low, grid.domain.high)
