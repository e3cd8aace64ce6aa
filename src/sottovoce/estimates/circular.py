"""Mean direction and concentration on a circle, with intervals that hold for every truth.

C = E cos θ and S = E sin θ have envelope limits, and so has every E cos(θ − φ) = C cos φ + S sin φ, by adding
theirs. The mean direction is the φ at which E sin(θ − φ) is zero: its interval is the arc of φ around the
estimate at which zero is not excluded. The concentration is R = max over φ of E cos(θ − φ).
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from sottovoce.errors import check_confidence
from sottovoce.estimates.crossfit import CrossFit
from sottovoce.estimates.envelope import Target
from sottovoce.estimates.estimate import Estimate, few_notes
from sottovoce.estimates.limits import Part, moments, normal_limit
from sottovoce.tally import Tally

_TURN = 2 * np.pi
_COSINE = Target(lambda t: np.cos(_TURN * t), curvature=(-(_TURN**2), _TURN**2))
_SINE = Target(lambda t: np.sin(_TURN * t), curvature=(-(_TURN**2), _TURN**2))
_SCAN = 1440  # directions looked at: a quarter of a degree


def circular_mean(tally: Tally, *, confidence: float = 0.95) -> Estimate:
    """The mean direction of the population, in the units of the circle.

    `low` may be below and `high` above the ends of the domain, so that low ≤ value ≤ high always holds. When
    no direction can be excluded the interval is the whole circle and a note says so.

    >>> import numpy as np
    >>> from sottovoce.designs.classic import ogpm
    >>> from sottovoce.domains import Circle
    >>> m = ogpm(epsilon=2.0, domain=Circle(24))
    >>> t = Tally(m, m.report(np.random.default_rng(1).normal(8, 2, 10_000), rng=1))
    >>> e = circular_mean(t)
    >>> bool(e.low < 8 < e.high)
    True
    """
    waves = _Waves(tally, confidence)
    value, domain = waves.direction, tally.mechanism.domain
    notes = few_notes(tally.n)
    arc = None if tally.n < 2 else waves.arc()
    if arc is None:
        arc = (value - 0.5, value + 0.5)
        notes += ("no direction can be excluded: the interval is the whole circle",)
    low, high = arc
    around = domain.width
    error = waves.direction_error * around
    return Estimate(
        float(domain.from_unit(value)), domain.low + low * around, domain.low + high * around, error,
        confidence, tally.n, "circular mean", "population", "envelope", notes,
    )  # fmt: skip


def concentration(tally: Tally, *, confidence: float = 0.95) -> Estimate:
    """The length R of the mean resultant: 1 when all are at one point, 0 when directions cancel."""
    waves = _Waves(tally, confidence)
    value, error = waves.resultant, waves.resultant_error
    low, high = (0.0, 1.0) if tally.n < 2 else waves.resultant_limits()
    value = float(np.clip(value, low, max(low, high)))
    return Estimate(
        value,
        low,
        high,
        error,
        confidence,
        tally.n,
        "concentration",
        "population",
        "envelope",
        few_notes(tally.n),
    )


class _Waves:
    """The envelope statistics of cosine and sine from above and below, and their combinations."""

    def __init__(self, tally: Tally, confidence: float) -> None:
        if not isinstance(tally, Tally):
            raise TypeError(f"tally must be a Tally, got {type(tally).__name__}")
        if not tally.mechanism.domain.is_circle:
            raise ValueError("a mean direction needs a mechanism on a Circle; on an interval use mean")
        self.tail = (1 - check_confidence(confidence)) / 2
        fit = CrossFit(tally.required())
        self.nodes = fit.nodes
        self._parts = {
            (name, side): fit.parts(target, side, self.tail)
            for name, target in (("c", _COSINE), ("s", _SINE))
            for side in (-1, 1)
        }

    def wave(self, a: float, b: float, side: int) -> list[Part]:
        """The statistic bounding a·E cos θ + b·E sin θ from one side."""
        cosine = self._parts["c", side if a >= 0 else -side]
        sine = self._parts["s", side if b >= 0 else -side]
        together = []
        for c, s in zip(cosine, sine, strict=True):
            weights = a * c.weights + b * s.weights
            rows = self.nodes.straight[1]
            noise = rows @ weights**2 - (rows @ weights) ** 2
            together.append(Part(weights, c.counts, max(float(noise.min()), 0.0), float(noise.max())))
        return together

    def centre(self, a: float, b: float) -> float:
        return sum(moments(self.wave(a, b, side), "population").value for side in (-1, 1)) / 2

    def _limit(self, a: float, b: float, side: int, tail: float) -> float:
        return normal_limit(self.wave(a, b, side), side, tail, "population")

    @cached_property
    def vector(self) -> tuple[float, float]:
        return self.centre(1.0, 0.0), self.centre(0.0, 1.0)

    @cached_property
    def direction(self) -> float:
        """The estimated direction as a unit coordinate in [0, 1)."""
        c, s = self.vector
        return float(np.mod(np.arctan2(s, c) / _TURN, 1.0))

    @property
    def resultant(self) -> float:
        return float(np.hypot(*self.vector))

    @property
    def resultant_error(self) -> float:
        c, s = self._pointing(self.direction)
        return max(moments(self.wave(c, s, side), "population").error for side in (-1, 1))

    @property
    def direction_error(self) -> float:
        """Standard error of the direction in turns, from that of E sin(θ − φ) there."""
        c, s = self._pointing(self.direction)
        across = max(moments(self.wave(-s, c, side), "population").error for side in (-1, 1))
        return across / self.resultant / _TURN if self.resultant > 0 else float("nan")

    def arc(self) -> tuple[float, float] | None:
        """Directions around the estimate at which E sin(θ − φ) = 0 is not excluded, in turns."""

        def admitted(phi: float) -> bool:
            c, s = self._pointing(phi)
            low, high = (self._limit(-s, c, side, self.tail) for side in (-1, 1))
            return low <= 0.0 <= high

        step = 1.0 / _SCAN
        ends = []
        for side in (-1, 1):
            reach = 0
            while admitted(self.direction + side * reach * step):
                reach += 1
                if reach * step > 0.25:  # the arc has reached the far half: R = 0 is possible
                    return None
            inside, outside = max(reach - 1, 0) * step, max(reach, 1) * step
            for _ in range(10):
                middle = (inside + outside) / 2
                further = admitted(self.direction + side * middle)
                inside, outside = (middle, outside) if further else (inside, middle)
            ends.append(self.direction + side * outside)
        return ends[0], ends[1]

    def resultant_limits(self) -> tuple[float, float]:
        """R is one E cos(θ − φ), and at least every one.

        Above: the largest upper limit over φ. Below: the largest lower limit over φ, each with the quantile
        of the longest of two normal components, √(−2 log tail), because φ is chosen by the data.
        """
        from scipy.special import ndtr

        longer = float(1 - ndtr(np.sqrt(-2 * np.log(self.tail))))
        high, low = 0.0, 0.0
        for phi in np.arange(72) / 72:
            c, s = self._pointing(float(phi))
            high = max(high, self._limit(c, s, 1, self.tail))
            low = max(low, self._limit(c, s, -1, longer))
        # Between directions 5° apart the largest cosine is at least cos 2.5°.
        return min(low, 1.0), min(high / float(np.cos(np.pi / 72)), 1.0)

    @staticmethod
    def _pointing(phi: float) -> tuple[float, float]:
        return float(np.cos(_TURN * phi)), float(np.sin(_TURN * phi))
