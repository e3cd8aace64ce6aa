"""Private means, sums and counts of data in one place.

    sv.central.mean(values, epsilon=1.0, bounds=(0, 60))                  # the hourglass mechanism
    sv.central.mean(table, 1.0, (0, 60), column="wait", by="team", groups=["a", "b"])

Each person is one value. Neighbouring data sets differ by one person added or removed, so the number of
people is private too (except with mechanism="swap"). Values become integers, noise is added to integer
sums by an exact sampler, and everything returned is computed from those noisy integers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sottovoce.central import intervals
from sottovoce.central.accountant import Accountant
from sottovoce.central.analysis import discrete_laplace_variance, staircase_variance
from sottovoce.central.draws import ExactDraws, Integers
from sottovoce.central.grid import STEPS, Grid, Missing
from sottovoce.central.mechanisms import add_noise, check_mechanism, far_from_zero, law_of, noise_of
from sottovoce.central.results import GroupedRelease, Release
from sottovoce.central.staircase import Staircase
from sottovoce.central.tails import staircase_quantile
from sottovoce.central.totals import Totals, count_rows, gather
from sottovoce.core.domains import DomainLike, FloatArray
from sottovoce.core.errors import NoDataError, check_confidence, check_epsilon
from sottovoce.core.exact import rational_epsilon
from sottovoce.core.randomness import Seeded


def mean(
    values: Any,
    epsilon: float,
    bounds: DomainLike,
    mechanism: str = "hourglass",
    *,
    column: str | None = None,
    by: Any = None,
    groups: Any = None,
    clip: bool = False,
    missing: Missing = "refuse",
    grid: int = STEPS,
    confidence: float = 0.95,
    accountant: Accountant | None = None,
    rng: Seeded = None,
) -> Release | GroupedRelease:
    """The mean of numbers within public bounds, ε-differentially private.

    `values` are numbers (an array, a pandas, polars or Arrow column, an iterator of such) or, with
    `column`, a table. `by` and `groups` give one mean per declared key; other keys are ignored.
    `mechanism`: "hourglass" (optimal for every ε), "staircase2d", "transformed", "shifted",
    "independent"; "swap" makes the number of people public and protects only their values.
    Outside values are refused unless clip=True; missing ones unless missing="drop" or a number to take
    instead. `grid` is the number of steps that the bounds are divided into. `rng` is for simulation only.
    An `accountant` is charged before any noise is drawn, and may refuse.

    >>> release = mean([5, 7, 30], epsilon=1.0, bounds=(0, 60), rng=1)
    >>> release.low <= release.value <= release.high
    True
    """
    epsilon, confidence = check_epsilon(epsilon), check_confidence(confidence)
    mechanism = check_mechanism(mechanism)
    lattice = Grid.of(bounds, grid, clip=clip, missing=missing)
    noise, law = noise_of(mechanism, epsilon, lattice), law_of(mechanism, epsilon, lattice)
    if mechanism == "swap" and missing == "drop":
        raise ValueError(
            "missing must not be 'drop' with mechanism='swap': how many values are missing is private"
        )
    totals = gather(values, lattice, column, by, groups).fit_for(
        int(lattice.steps * (2 + abs(law.origin))), epsilon
    )
    if mechanism == "swap" and not totals.people.all():
        raise NoDataError("mechanism='swap' needs at least one value in every group: their number is public")
    draws = ExactDraws.using(rng)
    _spend(accountant, epsilon, "mean", column)
    sums, sizes = add_noise(totals.positions, totals.people * lattice.steps, noise, draws)

    s, n = _floats(sums, lattice.steps), _floats(sizes, lattice.steps)
    alpha = intervals.estimate(s, n)
    low, high = intervals.interval(s, n, alpha, law, confidence, lattice.steps)
    half_step = 0.5 / lattice.steps  # what rounding to the grid may have moved the mean by
    found = GroupedRelease(
        "mean",
        totals.keys,
        _from_unit(alpha, lattice),
        _from_unit(np.maximum(low - half_step, 0), lattice),
        _from_unit(np.minimum(high + half_step, 1), lattice),
        intervals.standard_error(alpha, n, law) * lattice.steps * lattice.step,
        n,
        epsilon,
        mechanism,
        confidence,
    )
    return found if totals.grouped else found.at(0)


def sum(
    values: Any,
    epsilon: float,
    bounds: DomainLike,
    *,
    column: str | None = None,
    by: Any = None,
    groups: Any = None,
    clip: bool = False,
    missing: Missing = "refuse",
    grid: int = STEPS,
    confidence: float = 0.95,
    accountant: Accountant | None = None,
    rng: Seeded = None,
) -> Release | GroupedRelease:
    """The sum of numbers within public bounds: staircase noise for a sensitivity of max(|low|, |high|).

    Values are rounded to the grid first. The interval is about the noise only: on a coarse `grid` the
    rounding of n values may move their sum by up to n steps.
    All arguments are those of `mean`: `column`, `by` and `groups`, `missing`, `grid`, `accountant`.

    >>> release = sum([5, 7, 30], epsilon=1.0, bounds=(0, 60), rng=1)
    >>> release.low <= release.value <= release.high
    True
    """
    lattice = Grid.of(bounds, grid, clip=clip, missing=missing)
    origin = far_from_zero(lattice)
    reach = max(abs(origin), abs(origin + lattice.steps))
    epsilon = check_epsilon(epsilon)
    totals = gather(values, lattice, column, by, groups).fit_for(2 * reach, epsilon)
    numbers = origin * totals.people + totals.positions
    return _one_number(
        "sum", numbers, reach, lattice.step, totals, epsilon, confidence, column, accountant, rng
    )


def count(
    values: Any,
    epsilon: float,
    *,
    by: Any = None,
    groups: Any = None,
    confidence: float = 0.95,
    accountant: Accountant | None = None,
    rng: Seeded = None,
) -> Release | GroupedRelease:
    """The number of people: two-sided geometric noise, which is the staircase of sensitivity one.

    Rows are counted, whatever they hold: `values` may be any sequence or table.
    `by`, `groups` and `accountant` are those of `mean`.

    >>> count(range(1000), epsilon=1.0, rng=1).value
    999.0
    """
    epsilon = check_epsilon(epsilon)
    totals = count_rows(values, by, groups)
    return _one_number("count", totals.people, 1, 1.0, totals, epsilon, confidence, None, accountant, rng)


def _one_number(
    statistic: str,
    numbers: Integers,
    reach: int,
    unit: float,
    totals: Totals,
    epsilon: float,
    confidence: float,
    column: str | None,
    accountant: Accountant | None,
    rng: Seeded,
) -> Release | GroupedRelease:
    """Integers of sensitivity `reach`, in steps of `unit`, released with staircase noise."""
    confidence = check_confidence(confidence)
    draws = ExactDraws.using(rng)
    noise = Staircase.optimal(rational_epsilon(epsilon), reach)
    _spend(accountant, epsilon, statistic, column)
    noisy = numbers + noise.sample(numbers.size, draws, numbers.dtype)[0]
    value = _floats(noisy, 1) * unit
    # |z| > m for the integer z = round(x) means |x| > m + ½.
    half = np.ceil(staircase_quantile(epsilon, noise.gamma, confidence) * reach - 0.5) * unit
    variance = staircase_variance(epsilon, noise.gamma) if reach > 1 else discrete_laplace_variance(epsilon)
    error = np.full(value.shape, np.sqrt(variance) * reach * unit)
    people = value if statistic == "count" else None
    mechanism = "geometric" if reach == 1 else "staircase"
    found = GroupedRelease(
        statistic,
        totals.keys,
        value,
        value - half,
        value + half,
        error,
        people,
        epsilon,
        mechanism,
        confidence,
    )
    return found if totals.grouped else found.at(0)


def _spend(accountant: Accountant | None, epsilon: float, statistic: str, column: str | None) -> None:
    if accountant is not None:
        accountant.spend(epsilon, statistic if column is None else f"{statistic} of {column}")


def _floats(numbers: Integers, unit: int) -> FloatArray:
    """numbers/unit, each correctly rounded."""
    return (numbers / unit).astype(np.float64)


def _from_unit(alpha: FloatArray, grid: Grid) -> FloatArray:
    return np.clip(grid.bounds.from_unit(alpha), grid.bounds.low, grid.bounds.high)
