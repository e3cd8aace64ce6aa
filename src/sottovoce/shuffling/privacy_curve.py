"""δ for every central ε, between two bounds: what a curve says, and where it crosses a δ."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sottovoce.errors import ArgumentError, real_number, whole_number
from sottovoce.notebook import Shown
from sottovoce.shuffling.composition import composed_delta, depth

_CLOSE = 2e-5  # how far an ε is narrowed down, relatively
_NOTHING = 1e-3  # of what is likely: an ε so small may be 0


@dataclass(frozen=True, eq=False, repr=False)
class Curve(Shown):
    """δ for every central ε.

    Attributes:
        above: An upper bound of δ, for each ε.
        below: A lower bound of δ, for each ε.
        local: The ε that holds with δ = 0, however few people there are.
        people: How many people report honestly.
        likely: About how far ε will be when δ = e^{−1/2}; where a search begins.
    """

    above: Callable[[float], float]
    below: Callable[[float], float]
    local: float
    people: int
    likely: float

    def delta(self, epsilon: float) -> float:
        """Bound δ from above.

        Args:
            epsilon: The central ε, not negative.

        Returns:
            A δ that the counts keep with that ε.

        Raises:
            ArgumentError: If `epsilon` is negative.
        """
        epsilon = _not_negative(epsilon)
        return 0.0 if epsilon >= self.local else min(1.0, self.above(epsilon))

    def epsilon(self, delta: float) -> float:
        """Bound the central ε from above.

        Args:
            delta: The δ that goes with it, strictly between 0 and 1.

        Returns:
            An ε that the counts keep with that δ.
        """
        return self._crossing(self.above, delta)[1]

    def lower(self, delta: float) -> float:
        """Bound the central ε from below.

        Args:
            delta: The δ that goes with it, strictly between 0 and 1.

        Returns:
            An ε that the counts do not keep with that δ.
        """
        return self._crossing(self.below, delta)[0]

    def group(self, size: int) -> Curve:
        """The curve for several people at once, whose answers all change.

        δ_k(kε) ≤ δ(ε)·(1 + e^ε + … + e^{(k−1)ε}).

        Args:
            size: How many people.

        Returns:
            Their curve.
        """
        size = whole_number(size, "size", least=1, most=self.people)

        def above(epsilon: float) -> float:
            each = epsilon / size
            return self.above(each) * math.fsum(math.exp(i * each) for i in range(size)) * (1 + 1e-12)

        return Curve(above, self.below, size * self.local, self.people, size * self.likely)

    def composed(self, *others: Curve) -> Curve:
        """The curve of several campaigns that ask the same people, each with draws of its own.

        Args:
            *others: The curves of the other campaigns.

        Returns:
            The curve of all of them together.
        """
        curves = (self, *others)
        return Curve(
            composed_delta(curves, len(curves)),
            lambda epsilon: max(curve.below(epsilon) for curve in dict.fromkeys(curves)),
            math.fsum(curve.local for curve in curves),
            min(curve.people for curve in curves),
            math.hypot(*(curve.likely for curve in curves)),
        )

    def plot(self, axes: Any = None, **style: Any) -> Any:
        """δ against ε, the upper bound and the lower one.

        Args:
            axes: Where to draw; a new picture without it.
            **style: Passed to matplotlib for the upper bound.

        Returns:
            The axes.
        """
        from sottovoce.plots.curve_plot import draw_curve

        return draw_curve(self, axes, style)

    def _crossing(self, value: Callable[[float], float], delta: float) -> tuple[float, float]:
        """ε with value above δ, and close to it one with value at most δ.

        Each step looks where a line through √(−log δ) at both ends crosses, or, as long as only one is known,
        the curve of Gaussian noise, and checks beside that. Before any value is small enough, the end is
        where a chord in e^ε to `local` is: δ is convex in e^ε, so it lies below.
        """
        delta = check_delta(delta)
        low, high, most = 0.0, self.local, math.exp(self.local)
        at: dict[float, float] = {}
        widths = [math.inf, math.inf]
        x = min(_crossed(self.likely, delta), 0.9 * self.local)
        while True:
            height = value(x)
            at[x], side = depth(height), height <= delta
            low, high = (low, x) if side else (x, high)
            if high not in at:
                chord = math.log(most - (most - math.exp(low)) * (delta / height)) * (1 + 2.0**-48)
                high = min(high, max(chord, low))
            if high <= _NOTHING * self.likely and value(0.0) <= delta:
                return 0.0, 0.0
            if high - low <= _CLOSE * high:
                return low, high
            if low in at and high in at:
                aim = low + (high - low) * (depth(delta) - at[low]) / (at[high] - at[low])
            else:
                aim = _crossed(_fitted(x, height), delta) if 0 < height < 1 else 0.0
            aim += _CLOSE / 4 * high * (-1 if side else 1)  # to the other side of the crossing
            if low < aim < high and high - low <= widths[-2] / 2:
                x = min(max(aim, low + _CLOSE / 8 * high), high - _CLOSE / 8 * high)
            elif high not in at and low > 0.8 * self.local:
                x = high * (1 - _CLOSE / 2)
            elif high in at and not low:  # beyond the crossing, a little at first
                x = max(high - max(4 * (high - aim), high * 2.0 ** (len(at) - 7)), high / 4)
            else:
                x = (low + high) / 2 if low > high / 4 else max(1.5 * low, high / 4)
            widths.append(high - low)


def _gaussian(epsilon: float, shift: float) -> float:
    """δ of Gaussian noise, for answers that lie so many standard deviations apart."""

    def below(z: float) -> float:
        return math.erfc(-z / math.sqrt(2)) / 2

    deep = below(-shift / 2 - epsilon / shift)
    return below(shift / 2 - epsilon / shift) - (math.exp(epsilon) * deep if deep else 0.0)


def _crossed(shift: float, delta: float) -> float:
    """The ε of Gaussian noise at a δ, or 0."""
    low, high = 0.0, 40 * shift + shift**2
    for _ in range(48):
        middle = (low + high) / 2
        low, high = (middle, high) if _gaussian(middle, shift) > delta else (low, middle)
    return low


def _fitted(epsilon: float, delta: float) -> float:
    """The shift of Gaussian noise that has this δ at this ε."""
    low, high = epsilon / 100 + 1e-12, 10 * epsilon + 10
    for _ in range(60):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if _gaussian(epsilon, middle) < delta else (low, middle)
    return high


def check_delta(delta: float, name: str = "delta") -> float:
    """A δ that is one.

    Args:
        delta: The number.
        name: What to call it in an error.

    Raises:
        ArgumentError: If it does not lie strictly between 0 and 1.
    """
    delta = real_number(delta, name)
    if not 0 < delta < 1:
        what = "delta" if name == "delta" else f"the delta of {name}"
        raise ArgumentError(f"{what} must lie strictly between 0 and 1, got {delta!r}", argument=name)
    return delta


def _not_negative(epsilon: float) -> float:
    epsilon = real_number(epsilon, "epsilon")
    if epsilon < 0:
        raise ArgumentError(f"epsilon must not be negative, got epsilon={epsilon!r}", argument="epsilon")
    return epsilon
