"""Could these reports have come from this mechanism at all?

    sottovoce.honesty(tally).consistent        # lies the histogram where *some* truth could put it?

Whatever the people's values are, the expected histogram is a mixture of the rows P(·|x). Those rows are
linear between the mechanism's bends, so their hull is that of finitely many rows, and asking whether some
mixture is close enough to the counts is a linear program. "Close enough" is Hoeffding's bound in its
Kullback–Leibler form for every dyadic range of cells, the error shared out evenly: it holds at every n, and
for people who all differ.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sottovoce.arrays import FloatArray, IntArray
from sottovoce.errors import ArgumentError, SolverError, real_number
from sottovoce.estimates.answer.linear_algebra import single_threaded
from sottovoce.estimates.answer.units import check_tally
from sottovoce.estimates.fits.binned_cells import Binned
from sottovoce.estimates.limits.envelope import Nodes
from sottovoce.estimates.tally import Tally
from sottovoce.notebook import Shown
from sottovoce.reporters.question import Question

_BINS = 128
_ALMOST_ONE = 0.999  # the largest α at which the hull is looked at
_LOOKS = 50  # at mixtures, before the linear program is solved


@dataclass(frozen=True)
class Honesty(Shown):
    """Whether some truth explains the counts.

    Attributes:
        p_value: A bound for the chance that honest reports look as odd as these; 1 when they do not look odd.
        false_alarm: The chance of an alarm about honest reports.
        fakes: A lower limit, at that error, for the share of reports that the mechanism did not give.
        cells: The first and the last cell of the range where those show most; None if none do.
        n: How many reports there are.
    """

    p_value: float
    false_alarm: float
    fakes: float
    cells: tuple[int, int] | None
    n: int

    @property
    def consistent(self) -> bool:
        """Whether some truth explains the counts: `p_value` exceeds `false_alarm`."""
        return self.p_value > self.false_alarm

    @property
    def alarm(self) -> bool:
        """Whether no truth explains the counts."""
        return not self.consistent

    def __str__(self) -> str:
        if self.consistent:
            doubt = f" (p ≤ {self.p_value:.2g})" if self.p_value < 1 else ""
            return f"The {self.n:,} reports look honest{doubt}."
        assert self.cells is not None
        return (
            f"At least {100 * self.fakes:.2g} % of the {self.n:,} reports are not honest "
            f"(p ≤ {self.p_value:.2g}); most visible in cells {self.cells[0]} to {self.cells[1]}."
        )


@single_threaded
def honesty(tally: Tally, *, false_alarm: float = 1e-6) -> Honesty:
    """Test the counts against every possible truth.

    Args:
        tally: Counts of reports about a number or a choice.
        false_alarm: The chance of an alarm about honest reports; it holds at every n, also for people who all
            differ.

    Returns:
        Whether some truth explains the counts, and how many reports must be fakes if none does.

    Raises:
        ValueError: If `false_alarm` is not between 0 and 1, or the tally is empty or of another kind.

    Example:
        >>> from sottovoce.designs.classic import sw
        >>> m = sw(epsilon=1.0)
        >>> honesty(Tally(m, m.report([0.5] * 1000, rng=1))).consistent
        True
        >>> honesty(Tally(m, [7] * 1000)).consistent
        False
    """
    alpha = real_number(false_alarm, "false_alarm")
    if not 0 < alpha < 1:
        sentence = f"false_alarm must lie strictly between 0 and 1, got false_alarm={alpha!r}"
        raise ArgumentError(sentence, argument="false_alarm")
    hull = _Hull.of(check_tally(tally))
    strict = max(alpha, _ALMOST_ONE)
    if hull.is_near(strict) or hull.gap(strict)[0] <= 0:  # nor does anything stricter exclude it
        return Honesty(1.0, alpha, 0.0, None, tally.n)
    gap, where = hull.gap(alpha)
    if gap <= 0:
        return Honesty(hull.p_value(alpha, _ALMOST_ONE), alpha, 0.0, None, tally.n)
    first = np.append(hull.first, tally.reporter.cells)
    cells = (int(first[hull.begin[where]]), int(first[hull.end[where]]) - 1)
    return Honesty(hull.p_value(1e-300, alpha), alpha, gap, cells, tally.n)


class _Hull:
    """The linear program: mixtures of rows against limits on the probabilities of dyadic ranges."""

    @classmethod
    def of(cls, tally: Tally, bins: int = _BINS) -> _Hull:
        """Where bins of cells begin, their counts, and the rows whose mixtures are all laws there are."""
        law = tally.law
        if Question("shares") in law.questions:  # a row for each option
            first, rows = law.as_choice().hull(bins)
            return cls(first, np.add.reduceat(tally.counts, first), rows)
        binned = Binned.of(tally, bins)
        # The sides of a bend are one.
        return cls(binned.first, binned.counts, np.unique(Nodes(binned).straight.rows.round(8), axis=0))

    def __init__(self, first: IntArray, counts: IntArray, rows: FloatArray) -> None:
        self.first, self.counts, self.rows, self.n = first, counts, rows, int(counts.sum())
        self.begin, self.end = _dyadic(len(counts))
        below = np.concatenate(([0.0], np.cumsum(counts / self.n)))
        self.shares = np.clip(below[self.end] - below[self.begin], 0.0, 1.0)
        total = np.concatenate((np.zeros((len(rows), 1)), np.cumsum(rows, axis=1)), axis=1)
        self.law = (total[:, self.end] - total[:, self.begin]).T

    def is_near(self, alpha: float) -> bool:
        """True if the likeliest mixture, or one on the way to it, violates no limit: there is no gap then."""
        low, high = self._limits(alpha)
        mixture = np.full(len(self.rows), 1 / len(self.rows))
        for _ in range(_LOOKS):
            for _ in range(10):  # expectation maximisation
                mixture *= self.rows @ (self.counts / (mixture @ self.rows))
                mixture /= mixture.sum()
            shares = self.law @ mixture
            if (low <= shares).all() and (shares <= high).all():
                return True
        return False

    def gap(self, alpha: float) -> tuple[float, int]:
        """The least violation of any limit by any mixture, and the range where it occurs."""
        from scipy.optimize import linprog

        low, high = self._limits(alpha)
        ranges, inputs = self.law.shape
        one = np.ones((ranges, 1))
        above, under = np.hstack((self.law, -one)), np.hstack((-self.law, -one))
        solution = linprog(
            np.append(np.zeros(inputs), 1.0),
            A_ub=np.vstack((above, under)),
            b_ub=np.concatenate((high, -low)),
            A_eq=np.append(np.ones(inputs), 0.0)[None],
            b_eq=[1.0],
            bounds=[(0, None)] * inputs + [(-1, None)],
            method="highs",
        )
        if solution.x is None or solution.fun is None:
            raise SolverError(f"the linear program could not be solved: {solution.message}")
        fitted = self.law @ solution.x[:-1]
        worst = np.maximum(fitted - high, low - fitted)
        # Several ranges are violated equally: the shortest tells most.
        tied = np.flatnonzero(worst >= worst.max() - 1e-7)
        where = tied[np.argmin((self.end - self.begin)[tied])]
        # What the solver's tolerance could explain is not held against anybody.
        return float(solution.fun) - 1e-6, int(where)

    def _limits(self, alpha: float) -> tuple[FloatArray, FloatArray]:
        return _limits(self.shares, self.n, np.log(2 * len(self.shares) / alpha))

    def p_value(self, low: float, high: float) -> float:
        """The smallest α from `low` on at which the hull is excluded as at `high`, to a tenth of a decade."""
        exponents = np.log10(low), np.log10(high)
        if self.gap(low)[0] > 0:
            return low
        while exponents[1] - exponents[0] > 0.1:
            middle = sum(exponents) / 2
            excluded = self.gap(10.0**middle)[0] > 0
            exponents = (exponents[0], middle) if excluded else (middle, exponents[1])
        return float(10.0 ** exponents[1])


def _dyadic(bins: int) -> tuple[IntArray, IntArray]:
    """Ranges [begin, end) of 1, 2, 4, … neighbouring bins, none twice."""
    pairs = set()
    size = 1
    while size < bins:
        pairs |= {(a, min(a + size, bins)) for a in range(0, bins, size)}
        size *= 2
    begin, end = np.array(sorted(pairs or {(0, bins)})).T
    return begin, end


def _limits(share: FloatArray, n: int, budget: float) -> tuple[FloatArray, FloatArray]:
    """All p with n·KL(share ‖ p) ≤ budget, as an interval for each entry, by bisection."""

    def divergence(p: FloatArray) -> FloatArray:
        with np.errstate(divide="ignore", invalid="ignore"):
            one = np.where(share > 0, share * np.log(share / p), 0.0)
            other = np.where(share < 1, (1 - share) * np.log((1 - share) / (1 - p)), 0.0)
        return np.asarray(one + other)

    ends = []
    for edge in (0.0, 1.0):
        inside, outside = share.copy(), np.full_like(share, edge)
        for _ in range(60):
            middle = (inside + outside) / 2
            fine = n * divergence(middle) <= budget
            inside, outside = np.where(fine, middle, inside), np.where(fine, outside, middle)
        ends.append(outside)
    return ends[0], ends[1]
