"""Reports of two kinds: how many there are of each is a sum of coin tosses, and nothing has to be given away.

Everybody reports the second kind with a probability between `least` and `most`. A test gains most if each of
the others is at one of these two: for a given test the divergence is linear in every such probability. With f
the law of how many of the others report the second kind, and inputs that do so with probabilities p > q,

    δ(ε) = max_c [(p − θq)·f(c) − (θ − 1)·Σ_{i>c} f(i)],   θ = e^ε,

because f is log-concave, so that the best test is a threshold. The maximum is where f(c)/f(c+1) passes
r = (θ(1−q) − (1−p))/(p − θq): at the mode of f(i)·r^i, which is again a sum of coin tosses and has its mode
within 1 of its mean (Darroch 1964). How many of the others are at `most` is not known. All numbers between
two are bounded at once: those in doubt draw from what both ends share, and what else they report is told.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sottovoce.arrays import FloatArray
from sottovoce.shuffling.convolution import UNIT, Bounds, convolve

MOST_BLOCKS = 64
_MOST_POINTS, _LEAST_LOOKS = 1 << 18, 4  # of all blocks together
_CLOSE = 1.001  # where the worst block is worth no division
_TAIL = 1e-17  # what lies beyond 9 standard deviations and 40 (Bernstein's inequality), at both ends
_RARE = 1e-29  # what lies beyond 12 standard deviations and 50
_LEAST_GAIN = 1e-9  # of p − θq, where it is computed at all


@dataclass(frozen=True, order=True)
class Coin:
    """Two inputs of one person, and what the others do.

    Attributes:
        first: Probability of the second kind of report under the first input.
        second: The same under the second input.
        least: The least probability of it under any input.
        most: The largest.
    """

    first: float
    second: float
    least: float
    most: float

    @property
    def turned(self) -> Coin:
        """The same with the kinds of reports exchanged."""
        return Coin(1 - self.first, 1 - self.second, 1 - self.most, 1 - self.least)

    def divergence(self, people: int, epsilon: float) -> Bounds:
        """The hockey-stick divergence δ(ε) for the worst truth of the others.

        Args:
            people: How many, the one in question included.
            epsilon: Where the divergence is wanted, not negative.

        Returns:
            Numbers below and above it.

        Example:
            >>> low, high = Coin(0.75, 0.25, 0.25, 0.75).divergence(1, 0.0)
            >>> low <= 0.5 <= high
            True
        """
        if self.first < self.second:
            return self.turned.divergence(people, epsilon)
        theta = math.exp(epsilon)
        gain = self.first - theta * self.second
        if gain < _LEAST_GAIN:
            return Bounds(0.0, max(gain, 0.0) + 8 * UNIT)
        others = people - 1
        spread = math.sqrt(others * max(p * (1 - p) for p in (self.least, self.most)))
        most = min(max(int(_MOST_POINTS / (18 * spread + 80)), _LEAST_LOOKS), MOST_BLOCKS)
        if self.least == self.most:
            return self._against(theta, others, 0)
        if others <= most:
            truths = [self._against(theta, k, others - k) for k in range(others + 1)]
            return Bounds(max(truth.lower for truth in truths), max(truth.upper for truth in truths))
        lower = max(self._against(theta, k, others - k).lower for k in (0, others))

        def between(low: int, high: int) -> tuple[float, int, int]:
            shared = _at_least(high - low, 1 - self.most + self.least)
            return self._against(theta, low, others - high, shared).upper + _RARE, low, high

        doubts = [between(0, others // 2), between(others // 2, others)]
        while len(doubts) < most and max(doubts)[0] > _CLOSE * lower:  # divide where it is worst
            _, low, high = doubts.pop(doubts.index(max(doubts)))
            middle = (low + high) // 2
            doubts += [between(low, middle), between(middle, high) if high > low + 1 else between(high, high)]
        return Bounds(lower, max(doubts)[0])

    def _against(self, theta: float, high: int, low: int, shared: int = 0) -> Bounds:
        """The divergence if so many of the others are at `most`, at `least`, or draw from what both share."""
        common = self.least / (1 - self.most + self.least)
        tosses = [(k, p) for k, p in ((high, self.most), (low, self.least), (shared, common)) if k]
        gain = self.first - theta * self.second
        ratio = (theta * (1 - self.second) - (1 - self.first)) / gain
        tilt = math.log(ratio)
        begin, weights, error = 0, np.ones(1), 0.0
        for k, p in tosses:
            start, law = binomial(k, p, ratio)
            weights, rounding = convolve(weights, law)
            begin, error = begin + start, error + rounding + 2 * _TAIL + 8 * UNIT * law.size
        place = np.arange(weights.size)
        mean = float(place @ weights)
        reach = 2 + 64 * UNIT / gain * float((place - mean) ** 2 @ weights)
        middle = round(mean)
        decay = weights * np.exp(-tilt * np.maximum(place - middle, -reach))
        c = np.flatnonzero(np.abs(place - mean) <= reach)
        above = np.append(np.cumsum(decay[::-1])[::-1], 0.0)[c + 1]
        near = np.exp(-tilt * (c - middle))
        value = gain * weights[c] * near - (theta - 1) * above
        doubt = ((gain + theta) * error + 8 * UNIT * (1 + theta)) * near
        norm = sum(k * math.log1p(p * (ratio - 1)) for k, p in tosses)
        exponent = norm - tilt * (begin + middle)
        rounding = (norm + tilt * (begin + middle) + high + low + shared + 64) * 8 * UNIT
        scale = math.exp(min(exponent, 700.0))
        return Bounds(
            max(0.0, scale * float((value - doubt).max()) * (1 - rounding)),
            math.nextafter(scale * float((value + doubt).max()) * (1 + rounding), math.inf),
        )


def _at_least(tosses: int, p: float) -> int:
    """How many tosses fall, but for a rare case (Bernstein's inequality)."""
    return max(0, int(tosses * p - 12 * math.sqrt(tosses * p * (1 - p)) - 50))


def binomial(tosses: int, p: float, ratio: float = 1.0) -> tuple[int, FloatArray]:
    """Where it begins and the law of how many tosses fall, tilted by a ratio; without its farthest tails.

    The law is built up from the mode by the ratios of its neighbours, all at most 1.

    Args:
        tosses: How many.
        p: The probability of each.
        ratio: By how much each that falls is made more likely.
    """
    odds = p * ratio / (1 - p)
    mode = min(int((tosses + 1) * (odds / (1 + odds))), tosses)
    reach = int(9 * math.sqrt(tosses * odds) / (1 + odds)) + 41
    up = np.arange(mode, min(mode + reach, tosses), dtype=float)
    down = np.arange(mode, max(mode - reach, 0), -1, dtype=float)
    higher = np.cumprod((tosses - up) / (up + 1) * odds)
    lower = np.cumprod(down / (tosses - down + 1) / odds)
    law = np.concatenate((lower[::-1], [1.0], higher))
    return mode - down.size, law / law.sum()
