"""Graded rows: hidden by whole reports, where a blanket would keep only what all of them share.

Everybody reports cell j with probability at least m_j, γ = Σ m_j. So each of the N = n − 1 others may toss a
coin first: with probability γ the report is a draw from m/γ. Choose one of those, T, by lot, let the person
in question stand at T's place, put T's report aside, and tell the observer the reports by place. The one
aside is a draw from m/γ and says nothing about T. If d of the others drew from m/γ, T was chosen with
probability 1/d = ∫ u^{d−1} du; so what stands at place i is a draw from P_i − s·m/γ, s = (1 − u)γ:

    δ(ε) ≤ (1 − s)^N + E[(L₁ + … + L_N)₊] / N,   L_i = (P(j | x) − e^ε·P(j | x'))/q_i(j)

with probability q_i(j), else 0. The density of s is N(1 − s)^{N−1}, and more aside hides less: this holds for
every s ≤ γ and q_i ≤ P_i − s·m/γ. Here q_i is the least of a few inputs beside that of person i. Among few
people several s are better than one: each stands for the density below it. Each report hides with
nearly its own law, and the bound is largest for the worst truth of the others. Which one that is need not be
known: with s₊ ≤ e^{λs−1}/λ the expectation is a product,

    E[(ΣL)₊] ≤ max_i (E e^{λL_i})^N / (eλ),

whose factors are computed for all pairs of inputs at once: E e^{λL} is a product of two matrices.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sottovoce.auditing.bounds import UNIT, lowest
from sottovoce.core.arrays import FloatArray, IntArray

LEAST_DELTA = 1e-11  # what is less than this is left to the blanket
_ASIDE = 30.0  # s·N, at most: e^{−30} is far below
_STEP, _STEPS = 2.0, 80.0  # from one s·N to the next: at least, and γN/80 of what it is
_FEW, _LEAST_LEFT = 0.01, 0.05  # of m: where one s is enough, and what has to be left
_GROUPS = 5  # of inputs of the others
_BLOCK = 16  # inputs that are looked at together
_MOST_PRODUCTS = 1 << 27  # of one group
_STEEPEST = 300.0  # λ times a likelihood: e^300 is still a double


@dataclass(frozen=True, eq=False)
class Exchange:
    """The inputs of one person, at the places of others.

    Attributes:
        laws: The law of a report, a row for each input.
        least: The least probability of each cell.
        places: The same for each group of inputs of another person.
        others: How many others there are.
        square: The largest Σ (P − P')²/q of all pairs and places.
        worst: A place, and two inputs with that square.
    """

    laws: FloatArray
    least: FloatArray
    places: FloatArray
    others: int
    square: float
    worst: tuple[int, int, int]

    @classmethod
    def of(cls, rows: IntArray, people: int) -> Exchange | None:
        """The inputs of a table, or None if there are too few people or too many inputs.

        Args:
            rows: A row of counts for each input.
            people: How many report, the person in question included.
        """
        laws, others = rows / rows[0].sum(), people - 1
        least = laws.min(axis=0)
        if others * math.fsum(least) < 3 * _STEP or rows.shape[0] * rows.size > _MOST_PRODUCTS:
            return None
        places = np.array([group.min(axis=0) for group in np.array_split(laws, min(_GROUPS, len(laws)))])
        square, worst = 0.0, (0, 0, 0)
        for i, place in enumerate(places):
            scaled = laws / np.sqrt(place)
            gram = scaled @ scaled.T
            squares = np.diag(gram)[:, None] + np.diag(gram) - 2 * gram
            first, second = np.unravel_index(int(squares.argmax()), squares.shape)
            if squares[first, second] > square:
                square, worst = float(squares[first, second]), (i, int(first), int(second))
        return cls(laws, least, places, others, square, worst) if square else None

    @property
    def likely(self) -> float:
        """About how far ε will be when δ = e^{−1/2}."""
        return math.sqrt(self.square / self.others)

    @property
    def few(self) -> bool:
        """True if what is put aside counts."""
        return _FEW * self.shared < _ASIDE

    @property
    def shared(self) -> float:
        """How many of the others draw from what all inputs share, on average."""
        return self.others * math.fsum(self.least)

    def above(self, epsilon: float) -> float:
        """Bound δ from above.

        Args:
            epsilon: Where the divergence is wanted, not negative.
        """
        theta = math.exp(epsilon)
        deltas = np.array([self._hidden(theta, aside) for aside in self._asides])
        deltas = np.minimum.accumulate(deltas[::-1])[::-1]  # more aside hides less
        beyond = np.exp(-np.array([0.0, *self._asides]))
        return float(-np.diff(beyond) @ deltas + beyond[-1]) * (1 + 1e-12)

    @cached_property
    def _asides(self) -> list[float]:
        """Some s·N, each of which stands for what is below it; one only among many people."""
        most = min(_ASIDE, (1 - _LEAST_LEFT) * self.shared)
        asides = [_STEP if self.few else most]
        while asides[-1] < most:
            asides.append(min(asides[-1] + max(_STEP, asides[-1] * self.shared / _STEPS), most))
        return asides

    def _hidden(self, theta: float, aside: float) -> float:
        """The bound of E[(ΣL)₊]/N for a share s = aside/N."""
        places = (self.places - aside / self.shared * self.least) * (1 - 16 * UNIT)
        tilt, factor = self._tilt(theta, places)
        largest = tilt * float((self._blocks[0] / places.min(axis=0)).max())
        for place in places:
            factor = max(factor, self._largest(theta, tilt, place, factor))
        rounding = (self.laws.shape[1] + 64 + 8 * theta * largest) * UNIT
        exponent = self.others * (math.log(factor) + rounding) - 1
        return min(1.0, math.exp(min(exponent, 700.0)) / (tilt * self.others))

    def _largest(self, theta: float, tilt: float, place: FloatArray, known: float) -> float:
        """A bound of E e^{λL} of all pairs of inputs at one place; exact where it passes a known one.

        Blocks of inputs are looked at first, with what is worst of each; those that could pass, one by one.
        """
        silent, scale = 1 - math.fsum(place), tilt / place

        def chances(first: FloatArray, second: FloatArray) -> FloatArray:
            return np.asarray(silent + (place * np.exp(scale * first)) @ np.exp(-theta * scale * second).T)

        passing = chances(*self._blocks) > known
        if not passing.any():
            return known
        inputs = [np.repeat(passing.any(axis=k), _BLOCK)[: len(self.laws)] for k in (1, 0)]
        return float(chances(*(self.laws[some] for some in inputs)).max())

    @cached_property
    def _blocks(self) -> tuple[FloatArray, FloatArray]:
        """The largest and the least probabilities of blocks of inputs."""
        starts = np.arange(0, len(self.laws), _BLOCK)
        return np.maximum.reduceat(self.laws, starts), np.minimum.reduceat(self.laws, starts)

    def _tilt(self, theta: float, places: FloatArray) -> tuple[float, float]:
        """The λ that is best for the worst pair, in both orders and at all places, and their E e^{λL}."""
        pair = self.laws[list(self.worst[1:])]
        losses = np.stack([(one - theta * other) / places for one, other in (pair, pair[::-1])])
        silent = 1 - places.sum(axis=1)

        def factor(tilt: float) -> float:
            return float((silent + (places * np.exp(tilt * losses)).sum(axis=2)).max())

        high = 2 * ((theta - 1) / self.square + 1 / math.sqrt(self.square * self.others))
        steepest = _STEEPEST / float((self._blocks[0] / places.min(axis=0)).max())
        tilt = lowest(lambda t: self.others * math.log(factor(t)) - math.log(t), min(high, steepest))
        return tilt, factor(tilt)
