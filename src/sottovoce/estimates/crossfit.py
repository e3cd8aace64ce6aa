"""Limits of averages from the reports themselves: which weights, applied to which of them, many at once.

Weights that are tuned to the very counts they are applied to look better than they are (n = 100, ε = 4,
square wave, skewed truth: 76 % coverage instead of 95 %). So reports are divided at random into two halves,
each half gets the weights that the other one suggests, and the two averages are pooled. The division is drawn
from a generator seeded by the tally itself: the same tally gives the same answer.

Whoever needs weights is a generator (`Asking`): it yields the limits whose weights it needs, is sent them,
and returns its result. Run in step, several of them have their problems solved together.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from functools import cached_property
from typing import NamedTuple, TypeVar

import numpy as np

from sottovoce.core.kernels.tables import FloatArray, IntArray
from sottovoce.estimates.envelope import BINS, Envelope, Nodes, Target, solved
from sottovoce.estimates.model import Coarse, em
from sottovoce.estimates.query import FEW, generator_of
from sottovoce.estimates.statistic import Part, moments
from sottovoce.estimates.tally import Tally

_GROUPS = 64
_FEW_TO_DRAW = 100_000


class Limit(NamedTuple):
    """A limit from above (side 1) or below that weights are asked for, with the error that z says."""

    envelope: Envelope
    target: Target
    side: int
    z: float


Result = TypeVar("Result")
Asking = Generator[list[Limit], list[FloatArray], Result]


def in_step(askings: Sequence[Asking[Result]]) -> Asking[list[Result]]:
    """Several as one, which asks for whatever they ask for."""
    results: dict[int, Result] = {}
    weights: dict[int, list[FloatArray] | None] = dict.fromkeys(range(len(askings)))
    while weights:
        limits: dict[int, list[Limit]] = {}
        for i, given in weights.items():
            try:
                limits[i] = next(askings[i]) if given is None else askings[i].send(given)
            except StopIteration as end:
                results[i] = end.value
        every = iter((yield [limit for some in limits.values() for limit in some])) if limits else iter(())
        weights = {i: [next(every) for _ in some] for i, some in limits.items()}
    return [results[i] for i in range(len(askings))]


def answered(asking: Asking[Result]) -> Result:
    """What one of them returns, given the weights that it asks for."""
    try:
        limits = next(asking)
        while True:
            weights = solved([one.envelope.posed(one.target, one.side, one.z) for one in limits])
            limits = asking.send([one.side * w for one, w in zip(limits, weights, strict=True)])
    except StopIteration as end:
        result: Result = end.value
        return result


class CrossFit:
    """A tally on groups of cells, divided for choosing and applying weights.

    With `blind` the weights never look at the data: they suit people spread evenly over the domain. With
    `fakes` so many reports may be anything: then weights are blind too, so that no forged report chooses
    those of honest ones, and every limit is wider by what forged reports can do.

    Attributes:
        halves: Counts of all cells, and the density on equal bins that the other half suggests.
    """

    def __init__(self, tally: Tally, *, blind: bool = False, fakes: int = 0) -> None:
        self.fakes = fakes
        self.coarse = Coarse.of(tally, _GROUPS)
        self.n, self.nodes = self.coarse.n, Nodes(self.coarse)
        self.law, even = self.coarse.table_of_bins(BINS), np.full(BINS, 1 / BINS)
        if blind or fakes or self.n < FEW:  # half of very few reports could suggest nothing
            self.halves: list[tuple[IntArray, FloatArray]] = [(tally.counts, even)]
        else:
            one = half(tally.counts, generator_of(tally))
            halves = one, tally.counts - one
            # Stopped long before it follows the noise: only a rough idea of the truth is wanted.
            pilots = [em(self.law, self.coarse.grouped(half), tolerance=0.05, most=300) for half in halves]
            densities = [pilot.probabilities for pilot in pilots]
            self.halves = list(zip(halves, reversed(densities), strict=True))

    @cached_property
    def _problems(self) -> list[tuple[IntArray, Envelope]]:
        return [
            (self.coarse.grouped(counts), Envelope(self.nodes, self.law.mix(density), self.n))
            for counts, density in self.halves
        ]

    def statistic(self, target: Target, side: int, tail: float, estimand: str = "population") -> list[Part]:
        """What bounds the average of a target from above (side 1) or below (side −1)."""
        return answered(self._parts(target, side, tail, estimand))

    def limits(
        self, bounds: Sequence[tuple[Target, int]], tail: float, estimand: str = "population"
    ) -> list[float]:
        """Normal confidence limits for the averages of several targets."""
        return answered(in_step([self.limit(*bound, tail, estimand) for bound in bounds]))

    def limit(self, target: Target, side: int, tail: float, estimand: str) -> Asking[float]:
        """One of them."""
        parts = yield from self._parts(target, side, tail, estimand)
        return float(moments(parts, estimand).limit(side, tail))

    def _parts(self, target: Target, side: int, tail: float, estimand: str) -> Asking[list[Part]]:
        weights = yield [Limit(problem, target, side, _z(tail)) for _, problem in self._problems]
        return [
            problem.part(one, counts, estimand, self.fakes)
            for one, (counts, problem) in zip(weights, self._problems, strict=True)
        ]


def _z(tail: float) -> float:
    from scipy.special import ndtri

    return -float(ndtri(tail))


def half(counts: IntArray, generator: np.random.Generator) -> IntArray:
    """Half of the reports: drawn without replacement if they are few, by coins if they are many."""
    n = int(counts.sum())
    if n <= _FEW_TO_DRAW:
        return generator.multivariate_hypergeometric(counts, n // 2, method="count")
    return generator.binomial(counts, 0.5)
