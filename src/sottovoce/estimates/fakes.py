"""How far could fakes, reports that the mechanism never gave, move an answer?

    sottovoce.fakes(tally, k=100)        # how far 100 of them can move the mean

Whether there are any, as far as counts can tell, says `honesty`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sottovoce.errors import whole_number
from sottovoce.estimates.answer.units import check_tally
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.mean import mean
from sottovoce.estimates.tally import Tally
from sottovoce.notebook import Shown


@dataclass(frozen=True)
class Fakes(Shown):
    """How far fakes can move an answer.

    Attributes:
        k: How many fakes.
        n: How many reports there are.
        value: The estimate as it is.
        low: The least that they could make of it.
        high: The most.
        kind: "bound" when nothing can move it further, "search" when it is the worst that was found.
    """

    k: int
    n: int
    value: float
    low: float
    high: float
    kind: str

    def __str__(self) -> str:
        if self.kind == "bound":
            return (
                f"{self.k} fakes among {self.n} reports can have moved {self.value:.6g} by at most "
                f"{max(self.high - self.value, self.value - self.low):.4g}"
            )
        return (
            f"adding {self.k} fakes to {self.n} reports moved {self.value:.6g} to between "
            f"{self.low:.6g} and {self.high:.6g} (the worst found by a search, not a bound)"
        )


def fakes(tally: Tally, k: int, estimate: Callable[[Tally], Estimate] = mean, *, places: int = 33) -> Fakes:
    """Say what fakes can do to an estimate.

    For the mean of an unbiased mechanism it is a bound: each report carries one of finitely many weights, and
    a mean stays in the domain. Otherwise they are put on one cell at a time, and the worst is kept.

    Args:
        tally: Counts of reports about a number.
        k: How many reports are fakes.
        estimate: The estimate, a function of a tally.
        places: How many cells are tried where there is no bound.

    Returns:
        How far the value can be moved.

    Raises:
        ValueError: If `k` exceeds the number of reports, or the tally is empty.

    Example:
        >>> from sottovoce.designs.classic import pm
        >>> m = pm(epsilon=1.0, domain=(0, 24))
        >>> fakes(Tally(m, m.report([8.0] * 1000, rng=1)), k=10).kind
        'bound'
    """
    k = whole_number(k, "k", least=0, most=check_tally(tally).n)
    value = estimate(tally).value
    m = tally.law.as_number()
    if estimate is mean and m.unbiased and not m.domain.is_log:
        reach = k * (mean(tally).reach or 0.0)
        low, high = max(value - reach, m.domain.low), min(value + reach, m.domain.high)
        return Fakes(k, tally.n, value, low, high, "bound")
    cells = np.unique(np.linspace(0, m.cells - 1, whole_number(places, "places", least=2)).astype(np.int64))
    values = [value, *(estimate(tally + Tally.from_pairs(m, [(int(cell), k)])).value for cell in cells)]
    return Fakes(k, tally.n, value, min(values), max(values), "search")
