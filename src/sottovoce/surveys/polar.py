"""Polar coordinates: a distance in [0, radius] and an angle, within one ε (Zheng et al., section 6).

    m = sottovoce.polar(epsilon=4.0, radius=10.0)
    cells = m.report(positions)                # x, y in; one integer per person out, for both parts
    certificate(m).limit                       # what no division of ε among two reports can beat
    t = sottovoce.Tally(m, cells)

The loss is (|r' − r|/radius)^k + (angle between θ' and θ, in radians)^k, with weights if wanted, and ε is
divided so that the sum of the two worst cases is least; for the mean position (design="unbiased") so that its
variance is. Distances count in radii, so that the division does not depend on the unit of length. The paper's
division (1.32, 5.69) for ε = 1 + 2π does not even add up; see
docs/howto/polar.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import pairwise
from typing import Literal

import numpy as np

from sottovoce.designs.classic import ogpm, ptt
from sottovoce.designs.optimal import most_epsilon, optimal
from sottovoce.designs.solver.error_floors import circular_limit, even_prior_limit
from sottovoce.errors import (
    MIN_EPSILON,
    ArgumentError,
    check_epsilon,
    loss_exponent,
    one_of,
    positive_number,
)
from sottovoce.notebook import Shown
from sottovoce.reporters.composites.polar import Polar
from sottovoce.reporters.law.moments import resultant
from sottovoce.reporters.mechanism import Mechanism
from sottovoce.surveys.split_budget import split_budget
from sottovoce.values.circle import Circle
from sottovoce.values.interval import Interval

Design = Literal["optimal", "unbiased", "ogpm"]
DESIGNS: tuple[Design, ...] = ("optimal", "unbiased", "ogpm")
ANGLE_CELLS, DISTANCE_CELLS = 512, 256


@dataclass(frozen=True)
class PolarCertificate(Shown):
    """How close a pair of reports, one of distance and one of angle, comes to the best such pair.

    It covers every mechanism for either part and every division of ε. It does not cover mechanisms that
    randomise both coordinates jointly.

    Attributes:
        limit: No pair whose ε add up to the total does better.
        worst: What this pair attains.
    """

    limit: float
    worst: float

    @property
    def ratio(self) -> float:
        """worst / limit."""
        return self.worst / self.limit


def certificate(m: Polar) -> PolarCertificate:
    """Bound every division of ε between any two mechanisms, by the limits of the parts.

    Both limits fall with ε, so for ε₁ between two neighbouring points of a grid the limit at the upper one
    plus that of the rest at the lower one bounds the total. The weakest gap is halved until the bound is
    close.

    Args:
        m: A mechanism for positions.

    Returns:
        The limit, and how close `m` comes to it.
    """
    k, worst = loss_exponent(m.loss), m.worst_error()

    def radial(epsilon: float) -> float:
        if epsilon > most_epsilon(k):
            return m.weights[0] * even_prior_limit(epsilon, k)
        return m.weights[0] * _distance(epsilon, k).certificate.limit

    def angular(epsilon: float) -> float:
        return m.weights[1] * (2 * math.pi) ** k * circular_limit(epsilon, k)

    total = m.epsilon
    grid = [0.0, *(total * np.arange(1, 9) / 8).tolist()]
    while True:
        bounds = [radial(b) + angular(total - a) for a, b in pairwise(grid)]
        i = int(np.argmin(bounds))
        if worst / bounds[i] < 1.005 or grid[i + 1] - grid[i] < 1e-3 * total:
            return PolarCertificate(float(bounds[i]), worst)
        grid.insert(i + 1, (grid[i] + grid[i + 1]) / 2)


def polar(
    epsilon: float,
    radius: float = 1.0,
    loss: str | float = "l2",
    *,
    weights: tuple[float, float] = (1.0, 1.0),
    design: Design = "optimal",
) -> Polar:
    """Design a reporter of positions: distance and angle, with the best division of ε between them.

    Best for the worst case of w₁·(|r' − r|/radius)^k + w₂·(angle)^k. The angle is by the circular OGPM, which
    is optimal.

    Args:
        epsilon: What both parts together may cost.
        radius: The largest distance from the pole.
        loss: "l1", "l2" or the number k ≥ 1.
        weights: (w₁, w₂).
        design: Of the distance. "optimal": least error; "unbiased": for the mean position, with loss "l2";
            "ogpm": that of the paper.

    Returns:
        The reporter; values are x and y.

    Raises:
        ValueError: If an argument is out of range.

    Example:
        >>> m = polar(1 + 2 * math.pi, design="ogpm")
        >>> round(m.distance.epsilon, 1), round(m.angle.epsilon, 1)
        (1.5, 5.8)
    """
    epsilon, radius, k = check_epsilon(epsilon), positive_number(radius, "radius"), loss_exponent(loss)
    one_of(design, "design", DESIGNS)
    if design == "unbiased" and k != 2:
        sentence = f"loss must be 'l2' for design='unbiased', which minimises a variance, got loss={loss!r}"
        raise ArgumentError(sentence, argument="loss")
    one, two = (positive_number(w, "weights") for w in weights)
    parts = [partial(_distance, k=k, design=design), partial(_angle, k=k)]
    shares = (
        divided_for_mean(epsilon)
        if design == "unbiased"
        else split_budget(epsilon, parts, k, weights=(one, two)).epsilons
    )
    distance, angle = (build(epsilon=share) for build, share in zip(parts, shares, strict=True))
    distance = replace(distance, domain=Interval(0.0, radius), certificate=None)
    return Polar(epsilon, loss, distance, angle, (one, two))


@lru_cache(maxsize=256)
def divided_for_mean(epsilon: float) -> tuple[float, float]:
    """The division of ε that knows the mean position best.

    It is estimated by r'·e^{iθ'}/ρ, whose second moment is at most (1 + V)/ρ² radii squared, where V is the
    worst variance of the distance and ρ the resultant of the angle. V is that of I-PTT, which falls with ε as
    the optimum does and takes no solver.

    Args:
        epsilon: What both parts together may cost.

    Returns:
        The parts of the distance and of the angle.
    """
    least = min(MIN_EPSILON, epsilon / 4)

    def moment(share: float) -> float:
        angle = max((1 - share) * epsilon, least)
        worst = ptt(max(share * epsilon, least), (0, 1), cells=DISTANCE_CELLS).worst_variance()
        return (1 + worst) / resultant(_angle(angle, 2.0)) ** 2

    best = min(np.arange(1, 40) / 40, key=moment)
    return float(best) * epsilon, (1 - float(best)) * epsilon


@lru_cache(maxsize=512)
def _distance(epsilon: float, k: float, design: Design = "optimal") -> Mechanism:
    """On [0, 1]; where ε is too large for an optimal design the best of the classic ones."""
    if design != "ogpm" and epsilon <= most_epsilon(k):
        return optimal(epsilon, (0, 1), "value" if design == "optimal" else "mean", loss=k)
    if design == "unbiased":
        return ptt(epsilon, (0, 1), cells=DISTANCE_CELLS)
    return ogpm(epsilon, (0, 1), k, cells=DISTANCE_CELLS)


def _angle(epsilon: float, k: float) -> Mechanism:
    return ogpm(epsilon, Circle(2 * math.pi), k, cells=ANGLE_CELLS)
