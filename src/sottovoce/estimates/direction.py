"""Mean direction and concentration on a circle, with intervals that hold for every truth.

C = E cos θ and S = E sin θ have envelope limits, and so has every E cos(θ − φ) = C cos φ + S sin φ, by adding
theirs. The mean direction is the φ at which E sin(θ − φ) is zero: its interval is the arc of φ around the
estimate at which zero is not excluded. The concentration is R = max over φ of E cos(θ − φ).
"""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sottovoce.arrays import FloatArray
from sottovoce.estimates.answer.units import Query
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.limits.envelope import CrossFit, Target
from sottovoce.estimates.limits.limit import limit
from sottovoce.estimates.limits.weighted_counts import Moments, Part, WeightMoments, between
from sottovoce.estimates.tally import Tally

TURN = 2 * np.pi
_COSINE = Target(lambda t: np.cos(TURN * t), curvature=(-(TURN**2), TURN**2))
_SINE = Target(lambda t: np.sin(TURN * t), curvature=(-(TURN**2), TURN**2))
_SCAN = 1440  # directions looked at: a quarter of a degree


def circular_mean(tally: Tally, *, estimand: str = "population", confidence: float = 0.95) -> Estimate:
    """Estimate the mean direction, with an interval that holds for every truth.

    Args:
        tally: Counts of reports on a circle.
        estimand: The direction of the "population" that these people stand for, or of the "respondents".
        confidence: How often the interval should hold.

    Returns:
        The direction and its limits in the units of the circle. `low` may be below and `high` above the ends
        of the domain, so that low ≤ value ≤ high always holds. When no direction can be excluded the
        interval is the whole circle and a note says so.

    Raises:
        ValueError: If the domain is an interval or the tally is empty.

    Example:
        >>> import numpy as np
        >>> from sottovoce.values.circle import Circle
        >>> from sottovoce.designs.classic import ogpm
        >>> m = ogpm(epsilon=2.0, domain=Circle(24))
        >>> e = circular_mean(Tally(m, m.report(np.random.default_rng(1).normal(8, 2, 10_000), rng=1)))
        >>> bool(e.low < 8 < e.high)
        True
    """
    query = Query(tally, "circular mean", estimand, confidence).on_circle(instead="mean")
    waves = Waves(query)
    value, error = waves.direction, waves.direction_error
    notes: tuple[str, ...] = ()
    whole = value - 0.5, value + 0.5
    arc = waves.arc() if tally.n > 1 else None
    if arc is None:
        arc, error = whole, math.nan
        notes = ("no direction can be excluded: the interval is the whole circle",)
    return query.answer(arc, value, error, ends=whole, notes=notes)


def concentration(tally: Tally, *, estimand: str = "population", confidence: float = 0.95) -> Estimate:
    """Estimate the length R of the mean resultant: 1 when all are at one point, 0 when directions cancel.

    Args:
        tally: Counts of reports on a circle.
        estimand: R of the "population" that these people stand for, or of the "respondents".
        confidence: How often the interval should hold.

    Returns:
        The length and its limits, between 0 and 1.

    Raises:
        ValueError: If the domain is an interval or the tally is empty.

    Example:
        >>> import numpy as np
        >>> from sottovoce.values.circle import Circle
        >>> from sottovoce.designs.classic import ogpm
        >>> m = ogpm(epsilon=2.0, domain=Circle(24))
        >>> concentration(Tally(m, m.report(np.full(10_000, 8.0), rng=1))).high
        1.0
    """
    query = Query(tally, "concentration", estimand, confidence).on_circle(instead="variance")
    waves = Waves(query)
    return query.answer(waves.resultant_limits(), waves.resultant, waves.resultant_error, power=0)


class Waves:
    """The envelope statistics of cosine and sine from above and below, and their combinations.

    a·E cos θ + b·E sin θ is bounded by a and b times the statistics of the sides that their signs ask for.
    Its moments are polynomials in a and b, so all directions are looked at together. For respondents the
    noise is taken at its largest over all x.
    """

    def __init__(self, query: Query) -> None:
        self.estimand, self.tail = query.estimand, query.tail
        fit = CrossFit(query.tally)
        self._rows = fit.nodes.finer.rows
        self._parts = {
            (name, side): fit.statistic(target, side, self.tail)
            for name, target in (("c", _COSINE), ("s", _SINE))
            for side in (-1, 1)
        }
        self._kept: dict[tuple[int, int], list[_Pair]] = {}

    def wave(self, a: FloatArray, b: FloatArray, side: int) -> Moments:
        """The moments of what bounds a·E cos θ + b·E sin θ from one side."""
        value, error, skewness = (np.empty(len(a)) for _ in range(3))
        freedom = 1.0
        for sign_a in (-1, 1):
            for sign_b in (-1, 1):
                here = ((a >= 0) == (sign_a > 0)) & ((b >= 0) == (sign_b > 0))
                if here.any():
                    pairs = self._pairs(side * sign_a, side * sign_b)
                    some = Moments.of([pair.at(a[here], b[here]) for pair in pairs])
                    value[here], error[here], skewness[here] = some.value, some.error, some.skewness
                    freedom = some.freedom
        return Moments(value, error, skewness, freedom)

    def _pairs(self, cosine: int, sine: int) -> list[_Pair]:
        if (cosine, sine) not in self._kept:
            both = zip(self._parts["c", cosine], self._parts["s", sine], strict=True)
            self._kept[cosine, sine] = [_Pair(c, s, self._rows, self.estimand) for c, s in both]
        return self._kept[cosine, sine]

    def centre(self, a: float, b: float) -> tuple[float, float]:
        """The value of a·E cos θ + b·E sin θ and its root mean square error."""
        value, error, _ = between(*(self.wave(np.array([a]), np.array([b]), side) for side in (-1, 1)))
        return float(value[0]), float(error[0])

    def _limit(self, a: FloatArray, b: FloatArray, side: int, tail: float) -> FloatArray:
        return np.asarray(limit(self.wave(a, b, side), side, tail))

    @cached_property
    def vector(self) -> tuple[float, float]:
        """The estimated E cos θ and E sin θ."""
        return self.centre(1.0, 0.0)[0], self.centre(0.0, 1.0)[0]

    @cached_property
    def direction(self) -> float:
        """The estimated direction as a unit coordinate in [0, 1)."""
        c, s = self.vector
        return float(np.mod(np.arctan2(s, c) / TURN, 1.0))

    @property
    def resultant(self) -> float:
        """The length of the vector."""
        return float(np.hypot(*self.vector))

    @property
    def _errors(self) -> tuple[float, float]:
        """The root mean square error of the vector along its direction and across it."""
        c, s = (float(part[0]) for part in _pointing(np.array([self.direction])))
        return self.centre(c, s)[1], self.centre(-s, c)[1]

    @property
    def resultant_error(self) -> float:
        """That of the length; an error across the direction makes the vector longer, by its square."""
        along, across = self._errors
        return math.hypot(along, min(across, across**2 / (2 * max(self.resultant, 1e-300))))

    @property
    def direction_error(self) -> float:
        """That of the direction in turns, from that of E sin(θ − φ) there."""
        return self._errors[1] / self.resultant / TURN if self.resultant > 0 else math.nan

    def arc(self) -> tuple[float, float] | None:
        """Directions around the estimate at which E sin(θ − φ) = 0 is not excluded, in turns."""

        def admitted(phi: NDArray[np.floating]) -> NDArray[np.bool_]:
            c, s = _pointing(phi)
            low, high = (self._limit(-s, c, side, self.tail) for side in (-1, 1))
            return (low <= 0.0) & (high >= 0.0)

        ends = []
        for side in (-1, 1):
            step = 1.0 / _SCAN
            out = np.flatnonzero(~admitted(self.direction + side * step * np.arange(_SCAN // 4 + 1)))
            if not len(out):  # the arc has reached the far half: R = 0 is possible
                return None
            inside = max(int(out[0]) - 1, 0) * step
            for _ in range(2):
                step /= 32
                out = np.flatnonzero(~admitted(self.direction + side * (inside + step * np.arange(1, 33))))
                inside += (int(out[0]) if len(out) else 31) * step
            ends.append(self.direction + side * (inside + step))
        return ends[0], ends[1]

    def resultant_limits(self) -> tuple[float, float]:
        """R is one E cos(θ − φ), and at least every one.

        Above: the largest upper limit over φ. Below: the largest lower limit over φ, each with the quantile
        of the longest of two normal components, √(−2 log tail), because φ is chosen by the data.
        """
        from scipy.special import ndtr

        longer = float(ndtr(-np.sqrt(-2 * np.log(self.tail))))
        c, s = _pointing(np.arange(72) / 72)
        high = max(0.0, float(self._limit(c, s, 1, self.tail).max()))
        low = max(0.0, float(self._limit(c, s, -1, longer).max()))
        # Between directions 5° apart the largest cosine is at least cos 2.5°.
        return low, high / float(np.cos(np.pi / 72))


class _Pair:
    """Two parts on the same counts, and the moments of their combinations a·c + b·s."""

    def __init__(self, c: Part, s: Part, rows: FloatArray, estimand: str) -> None:
        self.estimand, self.n, share = estimand, c.n, c.counts / c.n
        self.means = float(share @ c.weights), float(share @ s.weights)
        u, v = c.weights - self.means[0], s.weights - self.means[1]
        self.squares = [float(share @ product) for product in (u * u, 2 * u * v, v * v)]
        self.cubes = [float(share @ product) for product in (u**3, 3 * u * u * v, 3 * u * v * v, v**3)]
        h, k = rows @ u, rows @ v
        # Given x: the noise is a quadratic form in a and b, at every node.
        self.noise = np.stack([rows @ u**2 - h**2, 2 * (rows @ (u * v) - h * k), rows @ v**2 - k**2], axis=1)
        self.steps = np.abs(np.diff(h)).max(), np.abs(np.diff(k)).max()

    def at(self, a: FloatArray, b: FloatArray) -> WeightMoments:
        noise = self.noise @ np.stack([a * a, a * b, b * b])
        rise = (np.abs(a) * self.steps[0] + np.abs(b) * self.steps[1]) ** 2 / 4
        return WeightMoments(
            self.n,
            a * self.means[0] + b * self.means[1],
            a * a * self.squares[0] + a * b * self.squares[1] + b * b * self.squares[2],
            a**3 * self.cubes[0]
            + a * a * b * self.cubes[1]
            + a * b * b * self.cubes[2]
            + b**3 * self.cubes[3],
            np.maximum(noise.min(axis=0), 0.0),
            noise.max(axis=0) + rise if self.estimand == "respondents" else math.inf,
        )


def _pointing(phi: NDArray[np.floating]) -> tuple[FloatArray, FloatArray]:
    turned = TURN * phi.astype(np.float64)
    return np.cos(turned), np.sin(turned)
