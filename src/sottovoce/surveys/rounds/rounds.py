"""Campaigns in which the reports of some people choose the mechanism of the others: a plan for each question.

    plan = sottovoce.rounds("quantile", epsilon=1.0, domain=(0, 24), p=0.9)

Everybody answers in one round only and spends ε once.
"""

from __future__ import annotations

from sottovoce.errors import ArgumentError, check_epsilon, one_of, real_number, refuse_others
from sottovoce.surveys.rounds.direction_rounds import DirectionRounds
from sottovoce.surveys.rounds.mean_rounds import TwoRounds, two_rounds
from sottovoce.surveys.rounds.quantile_rounds import QuantileRounds
from sottovoce.surveys.rounds.range_rounds import RangeRounds
from sottovoce.values.circle import Circle
from sottovoce.values.domain import Domain
from sottovoce.values.interval import DomainLike, as_domain

_BINS = 32
@dataclass(frozen=True)
class TwoRounds(Shown, Compact):
    """A first mechanism that knows nothing, and a way to make the second from its reports.
    Attributes:
        epsilon: What one person's report may cost, in either round.
        domain: The interval that values lie in.
        caution: The weight of an even spread in the guess: how much the second round allows for a first one
            that was wrong.
    """
    epsilon: float
    domain: Domain
    caution: float = 0.1
    @cached_property
    def first(self) -> Mechanism:
        """For the people of the first round: unbiased, of least worst-case variance."""
        return optimal(self.epsilon, self.domain)
    def guess(self, first: Tally) -> tuple[FloatArray, FloatArray]:
        """Say where values seem to lie after the first round.
        Args:
            first: The tally of the first round.
        Returns:
            Points, and their weights.
        Raises:
            DataError: If it is not a tally of `first`.
            NoDataError: If nobody reported.
        """
        if first.digest != self.first.digest:
            raise DataError("first must be a tally of the first round's mechanism", argument="first")
        bins = min(_BINS, max(2, self.first.cells))
        shape = distribution(first.required(), bins=bins, band=False)
        even = np.full(bins, 1 / bins)
        middle = (shape.edges[1:] + shape.edges[:-1]) / 2
        return middle, (1 - self.caution) * np.asarray(shape.probabilities) + self.caution * even
    def second(self, first: Tally) -> Mechanism:
        """Design the mechanism for everyone else: unbiased, of least expected variance under the guess.
            The mechanism of the second round.
        return optimal(self.epsilon, self.domain, prior=self.guess(first))
    def shares(self, first: Tally, second: Number, people: int) -> FloatArray:
        """Say how much each round counts: as much as it is worth under the guess.
            second: The mechanism of the second round.
            people: How many report in the second round.
            Two weights that add up to 1.
        points, weights = self.guess(first)
        spread = float(weights @ (points - weights @ points) ** 2)
        noise = np.array([weights @ m.variance(points) for m in (self.first, second)])
        worth = np.array([first.n, people]) / (noise + spread)
        return np.asarray(worth / worth.sum())
    def mean(self, first: Tally, second: Tally, *, confidence: float = 0.95) -> Estimate:
        """Estimate the mean of all, both rounds weighted by their `shares`.
            second: The tally of the second round.
            confidence: How often the interval should hold.
            The mean of the population, in the units of the domain.
            DataError: If a round has fewer than two reports or another domain.
        if first.n < 2 or second.required(2).mechanism.domain != self.domain:
            raise DataError("both rounds need at least two reports, on the same domain", argument="second")
        z = normal_quantile((1 - check_confidence(confidence)) / 2)
        parts = [_moments(tally) for tally in (first, second)]
        share = self.shares(first, second.mechanism, second.n)
        value = float(sum(s * mean for s, (mean, _) in zip(share, parts, strict=True)))
        error = math.sqrt(sum(s**2 * square for s, (_, square) in zip(share, parts, strict=True)))
        ends = np.clip([value - z * error, value + z * error], self.domain.low, self.domain.high)
        low, high = float(ends[0]), float(ends[1])
        value = float(np.clip(value, low, high))
        n = first.n + second.n
        return Estimate(value, low, high, error, confidence, n, "mean", "population", "two rounds")
    #: The answer of these rounds, by the name that all plans in rounds have.
    estimate = mean
def two_rounds(epsilon: float, domain: DomainLike = (0, 1), *, caution: float = 0.1) -> TwoRounds:
    """Plan two rounds of one ε per person; ask a tenth of the people first.
    Args:
        epsilon: What one person's report may cost; everybody reports in one round only.
        caution: The weight of an even spread in what the first round says, at most 1: how much the second
            allows for a first one that misled.
    Returns:
        The plan: `first`, then `second(tally)`, then `mean(first, second)`.
    Raises:
        ValueError: If an argument is out of range or the domain is a circle.
    Example:
        >>> plan = two_rounds(epsilon=2.0, domain=(0, 24))
        >>> plan.first.name
        'optimal (mean)'
    caution = real_number(caution, "caution")
    if not 0 < caution <= 1:
        raise ArgumentError(f"caution must lie in (0, 1], got caution={caution!r}", argument="caution")
    line = as_domain(domain)
    if line.is_circle:
        sentence = "two rounds are for the mean on an interval; a circle has no mean on the line"
        raise ArgumentError(sentence, argument="domain")
    return TwoRounds(check_epsilon(epsilon), line, caution)
from sottovoce.values.circle import Circle
from sottovoce.values.interval import DomainLike, as_domain

#: What each task takes beside ε.
_TAKEN = {
    "mean": "domain caution", "quantile": "domain p share", "direction": "domain",
    "range": "largest unit signed",
}  # fmt: skip


def rounds(
    task: str,
    epsilon: float,
    domain: DomainLike = (0, 1),
    *,
    p: float | None = None,
    share: float = 0.3,
    caution: float = 0.1,
    largest: float | None = None,
    unit: float = 1.0,
    signed: bool = True,
) -> TwoRounds | QuantileRounds | RangeRounds | DirectionRounds:
    """Plan a campaign in which the reports of some people choose the mechanism of the others.

    Everybody answers in one round only and spends ε once: what is chosen depends on public reports.

    Args:
        task: "mean", "quantile", "direction" (of a circle), or "range" where nobody knows how large values
            are.
        epsilon: What one person's report may cost.
        domain: The interval that values lie in, or the circle.
        p: Which quantile.
        share: Of a quantile: the part of the people to ask first.
        caution: Of a mean: as in `two_rounds`.
        largest: Of a range: what no value exceeds, whatever its sign; 10^6 times too much costs little.
        unit: Of a range: what is small.
        signed: Of a range: False if no value is negative.

    Returns:
        The plan: `first`, then `second(…)`, then `estimate(first, second)`; of a range `first`, then `range`.

    Raises:
        ValueError: If an argument is out of range or the task does not suit the domain.

    Example:
        >>> from sottovoce.estimates.tally import Tally
        >>> plan = rounds("quantile", epsilon=1.0, domain=(0, 24), p=0.9)
        >>> plan.second(Tally(plan.first, plan.first.report([8.0] * 500, rng=1)), people=1000).cells
        24
    """
    one_of(task, "task", tuple(_TAKEN))
    refuse_others(rounds, f"task={task!r}", locals(), _TAKEN[task])
    if task == "range":
        ends = real_number(largest, "largest"), real_number(unit, "unit")
        if not 0 < ends[1] < ends[0] or (signed and ends[1] < 1e-14 * ends[0]):
            rule = "unit must be positive and below largest, with signs at least 1e-14 of it"
            raise ArgumentError(f"{rule}, got unit={unit!r}, largest={largest!r}", argument="unit")
        return RangeRounds(check_epsilon(epsilon), *ends, signed)
    if task == "mean":
        return two_rounds(epsilon, domain, caution=caution)
    line = as_domain(domain)
    if task == "direction":
        if not isinstance(line, Circle):
            raise ArgumentError("an interval has no direction", code="domain", argument="domain")
        return DirectionRounds(check_epsilon(epsilon), line)
    if line.is_circle:
        raise ArgumentError("a circle has no quantiles", code="domain", argument="domain")
    for name, number in (("p", real_number(p, "p")), ("share", real_number(share, "share"))):
        if not 0 < number < 1:
            sentence = f"{name} must lie strictly between 0 and 1, got {name}={number!r}"
            raise ArgumentError(sentence, argument=name)
    return QuantileRounds(check_epsilon(epsilon), line, float(p or 0), share)
