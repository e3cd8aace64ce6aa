"""What the published counts reveal: the central ε of n shuffled reports, computed from the shipped integers.

    sottovoce.shuffled(mechanism, people=10_000, delta=1e-6).epsilon    # and .lower beside it
    curve = sottovoce.shuffled(mechanism, people=10_000, delta=None)    # δ for every ε; curve.plot()
    curve.group(4), curve.composed(other)                               # four people; a second campaign

From whoever sees only the counts a person is protected far better than ε says, if so many people reported
honestly and nobody sees the reports one by one. From the operator, who does, by the ε of the mechanism.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, overload

from sottovoce.auditing.blanket import blanket
from sottovoce.auditing.sums import divergence
from sottovoce.auditing.witness import Witness, witness
from sottovoce.core.errors import ArgumentError, one_of, real_number, whole_number
from sottovoce.core.exact import log_upper
from sottovoce.core.reporter import Reporter

Neighbours = Literal["replace", "remove"]

MOST_PEOPLE = 10**9
_DEEPEST = 28.0  # √(−log δ) of the least double
_CLOSE = 2e-5  # how far an ε is narrowed down, relatively


@dataclass(frozen=True, eq=False)
class Shuffled:
    """The central ε of the counts of so many reports, between two bounds.

    Attributes:
        epsilon: An upper bound of the central ε: the counts keep (epsilon, delta).
        lower: A lower bound: with some truth of the others, two inputs can be told apart that well.
        delta: The δ that goes with both.
        people: How many people report honestly, the person in question among them.
        local: The ε of one report, which protects against whoever sees it.
        witness: The two inputs and the truth of the others behind `lower`.
    """

    epsilon: float
    lower: float
    delta: float
    people: int
    local: float
    witness: Witness

    @property
    def pair(self) -> tuple[Any, Any]:
        """The two inputs that are easiest to tell apart."""
        return self.witness.first, self.witness.second

    @property
    def sentence(self) -> str:
        """What a reader of the counts may be told, with what it needs.

        Example:
            >>> from sottovoce.designs.classic import ogpm
            >>> print(shuffled(ogpm(1.0, loss="l1"), people=10_000).sentence)
            These counts are (0.04, 1e-06)-private for everybody in them, if at least 10,000 people answered
            honestly and nobody sees reports one by one; whoever does is held off by ε = 1 only.
        """
        return (
            f"These counts are ({rounded_up(self.epsilon)}, {self.delta:g})-private for everybody in them, "
            f"if at least {self.people:,} people answered honestly and nobody sees reports one by one; "
            f"whoever does is held off by ε = {rounded_up(self.local)} only."
        )

    def __str__(self) -> str:
        return (
            f"central epsilon between {self.lower:.5g} and {self.epsilon:.5g} at delta {self.delta:g}, "
            f"for {self.people:,} honest people whose reports nobody sees one by one"
        )


@dataclass(frozen=True, eq=False)
class Curve:
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
        from sottovoce.auditing.losses import composed

        return composed((self, *others))

    def plot(self, axes: Any = None, **style: Any) -> Any:
        """δ against ε, the upper bound and the lower one.

        Args:
            axes: Where to draw; a new picture without it.
            **style: Passed to matplotlib for the upper bound.

        Returns:
            The axes.
        """
        from sottovoce.auditing.pictures import draw_curve

        return draw_curve(self, axes, style)

    def _crossing(self, value: Callable[[float], float], delta: float) -> tuple[float, float]:
        """ε with value above δ, and close to it one with value at most δ; both are checked, not interpolated.

        √(−log δ) is nearly linear in ε: each step looks where a line through the ends meets the wanted one.
        """
        delta = real_number(delta, "delta")
        if not 0 < delta < 1:
            raise ArgumentError(
                f"delta must lie strictly between 0 and 1, got delta={delta!r}", argument="delta"
            )
        depth = _depth(delta)
        ends = {False: (0.0, _depth(value(0.0))), True: (self.local, _DEEPEST)}
        if ends[False][1] >= depth:
            return 0.0, 0.0
        x, widths = (
            min(self.likely * max(depth, 0.5) * math.sqrt(2.0), 0.9 * self.local),
            [math.inf, math.inf],
        )
        while True:
            at = _depth(value(x))
            side = at >= depth
            ends[side] = (x, at)
            (low, left), (high, right) = ends[False], ends[True]
            if high - low <= _CLOSE * high:
                break
            if high - low > widths[-2] / 2 or right == _DEEPEST:  # the line does not lead there
                x = (low + high) / 2 if low > high / 4 else max(1.5 * low, high / 4)
            else:
                x = low + (high - low) * (depth - left) / (right - left)
                x += _CLOSE / 4 * high * (-1 if side else 1)  # to the other side of the crossing
                x = min(max(x, low + _CLOSE / 8 * high), high - _CLOSE / 8 * high)
            widths.append(high - low)
        return ends[False][0], ends[True][0]


@overload
def shuffled(
    reporter: Reporter, people: int, delta: float = 1e-6, *, neighbours: Neighbours = "replace"
) -> Shuffled: ...
@overload
def shuffled(
    reporter: Reporter, people: int, delta: None, *, neighbours: Neighbours = "replace"
) -> Curve: ...
def shuffled(
    reporter: Reporter, people: int, delta: float | None = 1e-6, *, neighbours: Neighbours = "replace"
) -> Shuffled | Curve:
    """The central ε of the counts of many reports: what whoever sees only them can learn about one person.

    It is computed from the integers that ship, with every rounding outward, for the worst two inputs and the
    worst truth of everybody else: `docs/explanation/shuffled.md` has the argument.

    Args:
        reporter: What the people run. The report of a survey is all that a person sends, taken together.
        people: How many report *honestly*, the person in question among them. Others do not count.
        delta: The δ of the (ε, δ) guarantee; None for the whole curve.
        neighbours: "replace": a person's answer is exchanged for any other. "remove": it is exchanged for a
            draw from the blanket, which carries no value, so that the number of reports stays as published.

    Returns:
        Both bounds at `delta`, or the curve.

    Raises:
        ArgumentError: If `people` or `delta` is out of range, or `neighbours` is another word.
        ArgumentTypeError: If the reporter is of a kind whose law is not known here.

    Example:
        >>> from sottovoce.designs.classic import ogpm
        >>> result = shuffled(ogpm(epsilon=2.0, loss="l1"), people=10_000)
        >>> round(result.lower, 3), round(result.epsilon, 3)
        (0.103, 0.103)
    """
    people = whole_number(people, "people", least=1, most=MOST_PEOPLE)
    one_of(neighbours, "neighbours", ("replace", "remove"))
    above, example = blanket(reporter), witness(reporter, removal=neighbours == "remove")
    tops = (above,) if neighbours == "replace" else (above.removal, above.removal.swapped)
    local, likely = log_upper(reporter.largest_ratio), above.distance() / math.sqrt(people)
    somewhere = min(4 * likely, local / 2)
    bottom = max(
        (example.contrast, example.contrast.swapped),
        key=lambda contrast: divergence(contrast, people, somewhere).lower,
    )
    curve = Curve(
        lambda epsilon: max(divergence(top, people, epsilon).upper for top in tops),
        lambda epsilon: divergence(bottom, people, epsilon).lower,
        local,
        people,
        likely,
    )
    if delta is None:
        return curve
    return Shuffled(curve.epsilon(delta), curve.lower(delta), float(delta), people, curve.local, example)


def rounded_up(number: float, digits: int = 2) -> str:
    """A number with a few digits, never less than it is.

    Example:
        >>> rounded_up(0.0396211), rounded_up(1.0)
        ('0.04', '1')
    """
    if number <= 0:
        return "0"
    unit = 10.0 ** (math.floor(math.log10(number)) - digits + 1)
    return f"{math.ceil(number / unit * (1 - 1e-12)) * unit:.{digits}g}"


def _depth(delta: float) -> float:
    """√(−log δ), between 0 and that of the least double."""
    return math.sqrt(-math.log(min(delta, 1.0))) if delta > 0 else _DEEPEST


def _not_negative(epsilon: float) -> float:
    epsilon = real_number(epsilon, "epsilon")
    if epsilon < 0:
        raise ArgumentError(f"epsilon must not be negative, got epsilon={epsilon!r}", argument="epsilon")
    return epsilon
