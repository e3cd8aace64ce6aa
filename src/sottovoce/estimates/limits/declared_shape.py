"""Limits for truths of a declared shape: which of them the reports leave, and whether they leave any.

A class of truths is excluded by weights whose expectation is at most zero for all of it, if their average
over the reports is clearly above: the program of `honesty` in a directed form. The weights come from the
other half of the reports. A cell for the mode that is excluded is not looked at again; that spends a part of
the error. If all of them are, at an error of 1 in 1000, or the bounds of density and steepness are, the
declaration is refused.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from sottovoce.arrays import FloatArray, IntArray
from sottovoce.errors import ArgumentError, DataError
from sottovoce.estimates.answer.units import Query
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.limits.envelope import CrossFit, Envelope, Target
from sottovoce.estimates.limits.limit import limit
from sottovoce.estimates.limits.shape_constraints import Shape
from sottovoce.estimates.limits.weighted_counts import Part, Statistic, between, moments, normal_quantile

_DROPPED = 0.04  # the share of the error that leaving out cells of the mode may spend
UNDECLARED = (None, None, None)  # neither shape nor density nor steepness
_WORTH, _WILD = 0.1, 4.0  # a shape is used if it promises so much, with so much of the usual sampling error
_FALSE_ALARM = 1e-3  # a true declaration is refused so often at most
_NOTHING, _STRICT = Target(np.zeros_like), 3.1  # the quantile of that error


def declaration(
    query: Query, shape: str | None, density: float | None, steepness: float | None, *, plain: bool = True
) -> Shape:
    """What was declared, checked.

    Args:
        query: What is asked.
        shape: "unimodal", if that is declared.
        density: The most that the density is, per unit of the domain.
        steepness: The most that it changes, per unit and unit.
        plain: True if a normal interval is asked for, and no reports are fakes.

    Returns:
        The shape.

    Raises:
        ArgumentError: If one of them has no meaning here.
    """
    declared = Shape.declared(query.domain, shape, density, steepness)
    if query.estimand != "population":
        sentence = "a shape is declared of the population; respondents are as they are"
        raise ArgumentError(sentence, code="shape", argument="estimand")
    if not plain or query.fakes:
        sentence = "a declared shape goes with a normal interval for one look, without fakes"
        argument = "shape" if shape is not None else "steepness" if density is None else "density"
        raise ArgumentError(sentence, code="shape", argument=argument)
    return declared


def declared_average(
    query: Query,
    shape: Shape,
    target: Target,
    power: int,
    *,
    value: float | None = None,
    ends: tuple[float, float] = (0.0, 1.0),
) -> Estimate:
    """The average of a target over people whose distribution has a declared shape.

    Args:
        query: What is asked.
        shape: What was declared.
        target: What is averaged.
        power: How it grows with the domain.
        value: The value; by default the middle of two statistics.
        ends: What the average can be at all.

    Returns:
        The value, and limits.
    """
    declared = Declared(CrossFit(query.tally), shape, query.tail)
    lower, upper = (declared.bounds(target, side) for side in (-1, 1))
    limits = float(limit(lower, -1, declared.tail)), float(limit(upper, 1, declared.tail))
    if limits[0] > limits[1]:  # so do not what hold for every truth
        low, high = declared.fit.limits([(target, -1), (target, 1)], query.tail)
        limits = low, high
    middle = between(moments(lower), moments(upper)).value if value is None else value
    notes = (declared.note,)
    return query.answer(limits, middle, math.nan, ends=ends, power=power, method="declared", notes=notes)


def worth(
    shaped: tuple[Envelope, FloatArray], plain: tuple[Envelope, FloatArray], side: int, z: float
) -> bool:
    """Whether weights for truths of a shape promise a tighter limit than those for all truths.

    The weights for reports of one half rest on the other half, and so does this: it spends no error.

    Args:
        shaped: The problem of the shape, and its weights.
        plain: The same without it.
        side: 1 for an upper limit, −1 for a lower one.
        z: The quantile of the error.

    Returns:
        True if it is expected to be better on average of both pilots, by a part of the sampling error.
        Weights that vary far more than the others, because the pilot is no truth of the shape and the
        program follows the difference without end, must promise more: a gain of half of their own.
    """
    w, other = shaped[1], plain[1]
    gains = [side * (q.expected(other, side, z) - q.expected(w, side, z)) for q in (shaped[0], plain[0])]
    noise, usual = (q.expected(v, 1, z) - float(q.pilot @ v) for q, v in ((plain[0], w), plain))
    return sum(gains) > (2 * _WORTH * usual if noise < _WILD * usual else noise)


class Cell(NamedTuple):
    """A convex part of the shape, and the densities of it that each half of the reports suggests."""

    shape: Shape
    pilots: list[FloatArray]


class Declared:
    """Limits of averages over truths of a shape.

    Args:
        fit: The reports.
        shape: What was declared.
        tail: The error of each side of the interval.

    Raises:
        DataError: If the reports contradict the declaration.
    """

    def __init__(self, fit: CrossFit, shape: Shape, tail: float) -> None:
        self.fit, self.shape = fit, shape
        self.tail = tail * (1 - _DROPPED) if shape.unimodal else tail
        self.note = f"holds if the declaration does, made before looking at the reports: {shape.words}"
        pilots = [pilot for _, pilot in fit.halves]
        members = [self._nearest(cell, pilots) for cell in shape.cells()]
        against = [self._against(cell, pilots) for cell in members]
        if all(limit(parts, -1, _FALSE_ALARM) > 0 for parts in against):
            sentence = f"the reports contradict the declaration ({shape.words}): no such truth explains them"
            raise DataError(sentence, code="shape", argument="shape")
        if shape.unimodal:  # the likeliest such truth tells cells apart better than a rough pilot
            values = [float(moments(parts).value) for parts in against]
            pilots = members[values.index(min(values))].pilots
            members = [self._nearest(cell.shape, pilots) for cell in members]
            against = [self._against(cell, pilots) for cell in members]
            order = sorted(range(len(members)), key=lambda i: float(moments(against[i]).value))
            left = [i for i in order if limit(against[i], -1, 2 * tail * _DROPPED) <= 0]
            members = [members[i] for i in left or order[:1]]
        #: What the reports leave, the likeliest first.
        self.cells = members

    def bounds(self, target: Target, side: int) -> Statistic:
        """What bounds the average of a target from one side, whichever cell the truth is in."""
        halves = [self._parts(i, target, side) for i in range(len(self.fit.halves))]
        return max(zip(*halves, strict=True), key=lambda parts: side * float(limit(parts, side, self.tail)))

    def statistic(self, target: Target, side: int, tail: float, estimand: str) -> Statistic:
        """The same; error and people are those of the declaration."""
        return self.bounds(target, side)

    def _parts(self, i: int, target: Target, side: int) -> list[Part]:
        """What one half says of the target, for the truth in each cell.

        The outermost cell counts, so a shape is worth it in all of them or in none.
        """
        fit, counts = self.fit, self._counts[i]

        def weighed(envelope: Envelope) -> tuple[Envelope, FloatArray]:
            return envelope, envelope.weights(target, side, self.z)

        plain = weighed(Envelope(fit.nodes, fit.law.mix(fit.halves[i][1]), fit.n))
        shaped = [
            weighed(Envelope(fit.nodes, fit.law.mix(cell.pilots[i]), fit.n, cell.shape))
            for cell in self.cells
        ]
        if not all(worth(one, plain, side, self.z) for one in shaped):
            shaped = [plain] * len(shaped)
        return [envelope.part(weights, counts, "population") for envelope, weights in shaped]

    @cached_property
    def z(self) -> float:
        """The quantile of the tail."""
        return normal_quantile(self.tail)

    @cached_property
    def _counts(self) -> list[IntArray]:
        return [self.fit.binned.in_bins(counts) for counts, _ in self.fit.halves]

    def _nearest(self, shape: Shape, pilots: Sequence[FloatArray]) -> Cell:
        return Cell(shape, [shape.nearest(pilot, self.fit.law.matrix) for pilot in pilots])

    def _against(self, cell: Cell, pilots: Sequence[FloatArray]) -> Statistic:
        """What is at most zero on average for truths of the cell, and above if the pilots are right."""
        fit, parts = self.fit, []
        for pilot, inside, counts in zip(pilots, cell.pilots, self._counts, strict=True):
            reports = fit.law.mix(pilot)
            if cell.shape.mode is None:  # an upper limit of nothing
                weights = -Envelope(fit.nodes, reports, fit.n, cell.shape).weights(_NOTHING, 1, _STRICT)
            else:
                t, rows, _ = fit.nodes.around((), cell.shape)
                weights = (reports - fit.law.mix(inside)) / reports
                weights = weights - cell.shape.extremes(t, rows @ weights, fit.nodes.near).max()
            parts.append(Part(weights, counts, 0.0, math.inf))
        return parts
