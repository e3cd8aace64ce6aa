"""Graded rows: hidden by whole reports, where a blanket would keep only what all of them share.

Everybody reports cell j with probability at least m_j, γ = Σ m_j. So each of the N = n − 1 others may toss a
coin first: with probability γ the report is a draw from m/γ. Choose one of those, T, by lot, let the person
in question stand at T's place, put T's report aside, and tell the observer the reports by place. The one
aside is a draw from m/γ and says nothing about T. If d of the others drew from m/γ, T was chosen with
probability 1/d = ∫ u^{d−1} du; so what stands at place i is a draw from P_i − s·m/γ, s = (1 − u)γ:

    δ(ε) ≤ (1 − s)^N + E[(L₁ + … + L_N)₊] / N,   L_i = (P(j | x) − e^ε·P(j | x'))/q_i(j)

with probability q_i(j), else 0. The density of s is N(1 − s)^{N−1}, and more aside hides less: this holds for
every s ≤ γ and q_i ≤ P_i − s·m/γ. Here q_i is the least of a few inputs beside that of person i. Among few
people two such s are better than one: the smaller stands for most of the density. Each report hides with
nearly its own law, and the bound is largest for the worst truth of the others. Which one that is need not be
known: with s₊ ≤ e^{λs−1}/λ the expectation is a product,

    E[(ΣL)₊] ≤ max_i (E e^{λL_i})^N / (eλ),

whose factors are computed for all pairs of inputs at once: E e^{λL} is a product of two matrices.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sottovoce.auditing.bounds import UNIT, lowest
from sottovoce.core.kernels.tables import FloatArray, IntArray

LEAST_DELTA = 1e-11  # what is less than this is left to the blanket
_ASIDE, _OFTEN = 30.0, 6.0  # s·N: e^{−30} is far below; e^{−6} makes the rest count little
_FEW, _LEAST_LEFT = 0.01, 0.05  # of m: where one s is enough, and what has to be left
_GROUPS = 5  # of inputs of the others
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
        if (
            others * math.fsum(least) * (1 - _LEAST_LEFT) < _OFTEN
            or rows.shape[0] * rows.size > _MOST_PRODUCTS
        ):
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
        return _FEW * self.others * math.fsum(self.least) < _ASIDE

    def above(self, epsilon: float) -> float:
        """Bound δ from above.

        Args:
            epsilon: Where the divergence is wanted, not negative.
        """
        most = min(_ASIDE, (1 - _LEAST_LEFT) * self.others * math.fsum(self.least))
        delta = self._hidden(math.exp(epsilon), most)
        if self.few and most > _OFTEN:
            often, rarely = min(self._hidden(math.exp(epsilon), _OFTEN), delta), math.exp(-_OFTEN)
            delta = (1 - rarely) * often + rarely * delta
        return (math.exp(-most) + delta) * (1 + 1e-12)

    def _hidden(self, theta: float, aside: float) -> float:
        """The bound of E[(ΣL)₊]/N for a share s = aside/N."""
        share = aside / (self.others * math.fsum(self.least))
        places = (self.places - share * self.least) * (1 - 16 * UNIT)
        tilt = self._tilt(theta, places)
        factor = rounding = 0.0
        for place in places:
            ratio = tilt * self.laws / place
            chances = (place * np.exp(ratio)) @ np.exp(-theta * ratio).T
            factor = max(factor, float(chances.max()) + 1 - math.fsum(place))
            rounding = max(rounding, (place.size + 64 + 8 * theta * float(ratio.max())) * UNIT)
        exponent = self.others * (math.log(factor) + rounding) - 1
        return min(1.0, math.exp(min(exponent, 0.0)) / (tilt * self.others))

    def _tilt(self, theta: float, places: FloatArray) -> float:
        """The λ that is best for the worst pair; any other is fair too."""
        place, first, second = places[self.worst[0]], *self.laws[list(self.worst[1:])]
        losses, silent = (first - theta * second) / place, 1 - math.fsum(place)

        def exponent(tilt: float) -> float:
            return self.others * math.log(silent + float(place @ np.exp(tilt * losses))) - math.log(tilt)

        high = 2 * ((theta - 1) / self.square + 1 / math.sqrt(self.square * self.others))
        steepest = _STEEPEST / (theta * float((self.laws / places.min(axis=0)).max()))
        return lowest(exponent, min(high, steepest))
