"""Means and mean products of several numbers of one person, from the questions of a pair.

Every question is an average of a function that is linear in these, reported without bias and by other people
than every other question. So they are known by weighted least squares, with their covariances.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations_with_replacement

import numpy as np

from sottovoce.arrays import FloatArray, IntArray
from sottovoce.errors import ArgumentError, DataError, NoDataError, check_confidence, one_of
from sottovoce.estimates.answer.units import check_tally, in_own_units
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.limits.weighted_counts import Part, cut, decoded_noise, moments
from sottovoce.estimates.tally import Tally
from sottovoce.reporters.composites.functions_by_lot import Function
from sottovoce.reporters.contract import described
from sottovoce.values.domain import Domain

QUANTITIES = ("correlation", "slope", "covariance")
UNRESOLVED = "the spread is not resolved: nothing can be excluded"


@dataclass(frozen=True, eq=False)
class Relation:
    """Means and mean products of numbers scaled to −1 … 1, with the covariances of these estimates.

    Attributes:
        tally: What they come from.
        domains: Where the numbers lie.
        mean: The mean of each.
        product: The mean of the product of each two.
        place: Where the mean of each (k entries) and each product (k × k) is in `error`.
        error: The covariances of all of them.
        freedom: One less than the reports of the question that has fewest.
    """

    tally: Tally
    domains: dict[str, Domain]
    mean: FloatArray
    product: FloatArray
    place: IntArray
    error: FloatArray
    freedom: int

    @classmethod
    def of(cls, tally: Tally) -> Relation:
        """Weighted least squares over the questions of a pair.

        Raises:
            DataError: If it is not a tally of one.
            NoDataError: If a question has fewer than two reports.
        """
        reporter = check_tally(tally).law
        functions = reporter.functions
        if functions is None or not any(map(_is_product, functions.each)):
            raise DataError(
                f"this is a tally of {described(reporter)}, not of a pair; see sottovoce.pair",
                code="kind",
                argument="tally",
            )
        inputs = [
            name
            for name in functions.inputs
            if any(name in one.of for one in functions.each if _is_product(one))
        ]
        k = len(inputs)
        place = np.full((k + 1, k), -1)
        place[0] = np.arange(k)
        for at, (i, j) in enumerate(combinations_with_replacement(range(k), 2)):
            place[1 + i, j] = place[1 + j, i] = k + at
        rows, values, variances, least = [], [], [], math.inf
        for function, name in zip(functions.each, reporter.items, strict=True):
            if not set(function.of) <= set(inputs):
                continue
            part = tally[name]
            if part.n < 2:
                raise NoDataError(f"question {name!r} has fewer than two reports", argument="tally")
            m = part.law.as_number()
            decoded = m.domain.to_unit(m.decode(np.arange(m.cells)))
            least_noise = max(float(decoded_noise(m)[1].min()), 0.0)
            known = moments([Part(decoded, part.counts, least_noise, math.inf)])
            row, constant = _linear(function, inputs, place)
            rows.append(row)
            values.append(known.value - constant)
            variances.append(max(known.error**2, 1e-300))
            least = min(least, part.n)
        design, weight = np.array(rows), 1 / np.array(variances)
        reached = np.flatnonzero(design.any(axis=0))
        inverse = np.linalg.inv((design[:, reached].T * weight) @ design[:, reached])
        estimate, error = np.full(design.shape[1], np.nan), np.full((design.shape[1],) * 2, np.nan)
        estimate[reached] = inverse @ (design[:, reached].T @ (weight * np.array(values)))
        error[np.ix_(reached, reached)] = inverse
        return cls(
            tally,
            {name: functions.inputs[name] for name in inputs},  # type: ignore[misc]
            estimate[place[0]],
            estimate[place[1:]],
            place,
            error,
            int(least) - 1,
        )

    @property
    def names(self) -> tuple[str, ...]:
        """The numbers."""
        return tuple(self.domains)

    def spreads(self, i: int, j: int) -> tuple[FloatArray, FloatArray]:
        """The variance of a number, its covariance with another and the variance of that, and their errors.

        The product of two estimated means is corrected for its bias; its spread is counted to second order.
        """
        pairs = ((i, i), (i, j), (j, j))
        mean, at = self.mean, self.place[0]
        noise = self.error[np.ix_(at[[i, j]], at[[i, j]])]
        own = {i: 0, j: 1 if j != i else 0}
        value = np.array([self.product[a, b] - mean[a] * mean[b] + noise[own[a], own[b]] for a, b in pairs])
        slopes = np.zeros((3, self.error.shape[0]))
        for row, (a, b) in zip(slopes, pairs, strict=True):
            row[self.place[1 + a, b]] += 1.0
            row[at[a]] -= mean[b]
            row[at[b]] -= mean[a]
        used = np.flatnonzero(slopes.any(axis=0))
        error = slopes[:, used] @ self.error[np.ix_(used, used)] @ slopes[:, used].T
        for r, (a, b) in enumerate(pairs):
            for s, (c, d) in enumerate(pairs):  # Cov(ab, cd) of normal numbers, beyond the linear part
                error[r, s] += noise[own[a], own[c]] * noise[own[b], own[d]]
                error[r, s] += noise[own[a], own[d]] * noise[own[b], own[c]]
        return value, error

    def centre_and_spread(self, i: int) -> tuple[float, float]:
        """Where a number lies and how far it spreads, in its unit coordinate; not less than is resolved."""
        value, error = self.spreads(i, i)
        return (float(self.mean[i]) + 1) / 2, math.sqrt(max(value[0], 2 * math.sqrt(error[0, 0]))) / 2

    def estimate(self, question: str, x: str, y: str, confidence: float) -> Estimate:
        """A quantity of two of the numbers.

        Args:
            question: "correlation", "slope" or "covariance".
            x: The first, by name.
            y: The second.
            confidence: How often the interval should hold.

        Returns:
            The value, and its limits.

        Raises:
            ArgumentError: If there is no such number or quantity.
        """
        from scipy.special import stdtrit

        check_confidence(confidence)
        one_of(question, "question", QUANTITIES)
        i, j = (self.names.index(one_of(name, at, self.names)) for name, at in ((x, "x"), (y, "y")))
        values, error = self.spreads(i, j)
        if np.isnan(values).any():
            raise ArgumentError(
                f"the relation of {x!r} and {y!r} was not asked for", code="unknown", argument="y"
            )
        first, both, second = values.tolist()
        t = float(stdtrit(self.freedom, (1 + confidence) / 2))
        units = [float(self.domains[name].stretched(0.5)) for name in (x, y)]
        if question == "covariance":
            width, scale = math.sqrt(error[1, 1]), units[0] * units[1]
            answer = Ratio(both, width, both - t * width, both + t * width)
            ends = (0.0 if i == j else -1.0, 1.0)
        elif question == "slope":
            answer = Ratio.of(both, first, np.array([[0, 1, 0], [1, 0, 0]]), error, t)
            scale, ends = units[1] / units[0], (-math.inf, math.inf)
        else:
            root = math.sqrt(max(first, 0.0) * max(second, 0.0))
            gradient = np.array([second, 0, first]) / (2 * root) if root else np.zeros(3)
            answer = Ratio.of(both, root, np.array([[0, 1, 0], gradient]), error, t)
            scale, ends = 1.0, (-1.0, 1.0)
        low, high = map(float, cut(answer.low, answer.high, ends))
        numbers = answer.value * scale, (low * scale, high * scale), answer.error * scale
        notes = (UNRESOLVED,) if math.isinf(answer.high) else ()
        what = f"{question} of {x!r} and {y!r}"
        return in_own_units(self.tally, what, *numbers, confidence, "functions by lot", notes=notes)


@dataclass(frozen=True)
class Ratio:
    """A value, its standard error and its limits; infinite where the denominator may be zero."""

    value: float
    error: float
    low: float
    high: float

    @classmethod
    def of(cls, above: float, below: float, slopes: FloatArray, error: FloatArray, t: float) -> Ratio:
        """All r with (above − r·below)² ≤ t² times its variance (Fieller 1954)."""
        (a, b), (_, c) = (slopes @ error @ slopes.T).tolist()
        lead = below**2 - t**2 * c
        if below <= 0 or lead <= 0:
            return cls(above / below if below > 0 else 0.0, math.nan, -math.inf, math.inf)
        middle = above * below - t**2 * b
        root = math.sqrt(max(middle**2 - lead * (above**2 - t**2 * a), 0.0))
        value = above / below
        width = math.sqrt(max(a - 2 * value * b + value**2 * c, 0.0)) / below
        return cls(value, width, (middle - root) / lead, (middle + root) / lead)


def _is_product(function: Function) -> bool:
    """Whether a function tells squares or products of numbers."""
    return function.name not in ("value", "level")


def _linear(function: Function, names: list[str], place: IntArray) -> tuple[FloatArray, float]:
    """How the average of a function depends on means and mean products, and a constant."""
    row = np.zeros(int(place.max()) + 1)
    i, j = names.index(function.of[0]), names.index(function.of[-1])
    one, both, two = place[1 + i, i], place[1 + i, j], place[1 + j, j]
    if function.name == "value":
        row[place[0, i]] = 0.5
        return row, 0.5
    if function.name == "square":
        row[one] = 1.0
        return row, 0.0
    if function.name == "squares":
        row[[one, two]] = 0.5, -0.5
        return row, 0.5
    row[[one, both, two]] = 0.25, 0.5 if function.name == "sum" else -0.5, 0.25
    return row, 0.0
