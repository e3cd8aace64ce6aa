"""The other way round: the largest local ε whose counts keep a central guarantee, and the best even window.

largest_local(sottovoce.pm, (0.1, 1e-8), people=10**5)        # 3.4: what each report may cost
least_variance((0.03, 1e-8), people=10**4)                    # the window, of all with an even background
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial

from sottovoce.designs.classic import ptt
from sottovoce.designs.published_formulas import ptt_optimal_q, ptt_worst_variance
from sottovoce.errors import MAX_EPSILON, MIN_EPSILON, positive_number
from sottovoce.reporters.contract import Reporter
from sottovoce.reporters.mechanism import Mechanism
from sottovoce.shuffling.composition import depth
from sottovoce.shuffling.privacy_curve import check_delta
from sottovoce.shuffling.shuffled import shuffled
from sottovoce.values.interval import DomainLike

_CLOSE = 2e-3  # how far the local ε is narrowed down, relatively
_SHARES = tuple(i / 16 for i in range(1, 16))  # values of q
_BETTER = 2e-3  # what another q has to gain


def largest_local(
    design: Callable[[float], Reporter],
    central: tuple[float, float],
    people: int,
    *,
    most: float = MAX_EPSILON,
) -> float:
    """The largest local ε of a design with which the counts of so many people keep (ε, δ).

    It is looked for among numbers of four digits. The one that is returned was checked with the proved upper
    bound; one that is 0.2 % larger failed it or would, by the slope of δ, or is more than any design takes.

    Args:
        design: Makes a reporter from a local ε. It is called one to four times.
        central: The ε and δ that the counts shall keep.
        people: How many report honestly.
        most: The largest local ε that the design takes.

    Returns:
        The local ε, at least the central one.

    Raises:
        ArgumentError: If `central` or `people` is out of range.

    Example:
        >>> local = largest_local(ptt, (0.1, 1e-8), people=10**5)
        >>> 3 < local < 4
        True
    """
    guarantee = _Guarantee.of(central, people)
    typical, slope = _typical(guarantee)
    return _crossing(guarantee, design, typical * (1 + _CLOSE / 2), slope, most)[0]


@dataclass(frozen=True)
class EvenWindow:
    """The best window with an even background at a central guarantee.

    Attributes:
        mechanism: The window, unbiased. Its counts keep the guarantee, by the proved upper bound.
        q: Which one of its family it is (`ptt`).
        gain: How many times less its worst-case variance is than that of the window that is best for single
            reports, at the same guarantee.
        compared: The values of q that were looked at; at none of them another window does better.
    """

    mechanism: Mechanism
    q: float
    gain: float
    compared: tuple[float, ...]


def least_variance(central: tuple[float, float], people: int, domain: DomainLike = (0, 1)) -> EvenWindow:
    """The unbiased window with an even background whose worst-case variance is least at a central guarantee.

    For a given q both the variance and what is hidden fall with the local ε. So a q is out if the local ε
    with which it would be better than the best so far does not keep the guarantee: one bound for each.

    Args:
        central: The ε and δ that the counts shall keep.
        people: How many report honestly.
        domain: The interval that values lie in.

    Returns:
        The window, and what it was compared with.

    Raises:
        ArgumentError: If an argument is out of range.

    Example:
        >>> window = least_variance((0.03, 1e-8), people=10**4)
        >>> 1.05 < window.gain < 1.15
        True
    """
    guarantee = _Guarantee.of(central, people)
    local, slope = _typical(guarantee)
    q = ptt_optimal_q(local)
    ordinary = best = ptt_worst_variance(local, q)
    compared: list[float] = []
    for shares in (_SHARES, (-1 / 32, 1 / 32), (-1 / 64, 1 / 64)):  # coarse to fine, around the best so far
        around = q if shares is not _SHARES else 0.0
        for share in (around + step for step in shares if 0 < around + step < 1):
            compared.append(share)
            needed = _reaching(best * (1 - _BETTER), share)
            if needed is not None and guarantee.spare(ptt(needed, domain, share)) >= 0:
                local, _ = _crossing(guarantee, partial(ptt, domain=domain, q=share), needed, slope)
                q = share
                best = ptt_worst_variance(local, q)
    return EvenWindow(ptt(local, domain, q), q, ordinary / best, tuple(compared))


@dataclass(frozen=True)
class _Guarantee:
    """What the counts of so many people shall keep."""

    epsilon: float
    delta: float
    people: int

    @classmethod
    def of(cls, central: tuple[float, float], people: int) -> _Guarantee:
        """The guarantee, checked."""
        return cls(positive_number(central[0], "central"), check_delta(central[1], "central"), people)

    def spare(self, reporter: Reporter) -> float:
        """How much deeper than asked for δ is; negative if the guarantee fails."""
        return depth(shuffled(reporter, self.people, None).delta(self.epsilon)) - depth(self.delta)


@lru_cache(maxsize=64)
def _typical(guarantee: _Guarantee) -> tuple[float, float]:
    """The largest local ε of a window that is quickly made, and a slope of δ there: where others begin."""
    epsilon, deep = guarantee.epsilon, depth(guarantee.delta)
    hidden = guarantee.people * (epsilon / deep) ** 2
    start = min(max(math.log1p(0.29 * hidden + math.sqrt(hidden)), 1.2 * epsilon), MAX_EPSILON)  # a fit
    return _crossing(guarantee, ptt, start, -deep * max(0.36, 0.85 / start))


def _crossing(
    guarantee: _Guarantee,
    design: Callable[[float], Reporter],
    start: float,
    slope: float,
    most: float = MAX_EPSILON,
) -> tuple[float, float]:
    """The largest local ε that keeps a guarantee, along lines within two numbers that enclose it; a slope."""
    least = min(max(_rounded(guarantee.epsilon), MIN_EPSILON), most)
    low, high = (least, depth(0.0) - depth(guarantee.delta)), (most, -depth(guarantee.delta))
    x, last = _rounded(min(max(start, least), most)), None
    for tries in range(1, 60):
        value = guarantee.spare(design(x))
        low, high = ((x, value), high) if value >= 0 else (low, (x, value))
        if last is not None and last[0] != x and (value - last[1]) / (x - last[0]) < 0:
            slope = (value - last[1]) / (x - last[0])
        last = (x, value)
        if low[0] == most or high[0] - low[0] <= _CLOSE * high[0]:
            break
        if value >= 0 and value <= -slope * _CLOSE * x:  # 0.2 % more would be too much
            break
        x = x * (1 - _CLOSE / 4) - value / slope
        if (tries > 4 and tries % 2) or not low[0] < x < high[0]:
            x = (low[0] + high[0]) / 2
        x = _rounded(x)
        if not low[0] < x < high[0]:
            break
    return low[0], slope


def _reaching(variance: float, q: float) -> float | None:
    """The local ε with which the window of a given q has so little variance, if any has."""
    low, high = MIN_EPSILON, MAX_EPSILON
    if ptt_worst_variance(high, q) > variance:
        return None
    while high - low > 1e-6 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if ptt_worst_variance(middle, q) > variance else (low, middle)
    return high


def _rounded(number: float) -> float:
    """Four digits, not more than the number."""
    unit = 10.0 ** (math.floor(math.log10(number)) - 3)
    return float(f"{math.floor(number / unit * (1 + 1e-12)) * unit:.4g}")
