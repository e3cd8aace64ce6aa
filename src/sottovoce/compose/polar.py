"""Polar coordinates: a distance in [0, radius] and an angle, within one ε (Zheng et al., section 6).

    m = sottovoce.polar(epsilon=4.0, radius=10.0)
    cells = m.report(distance, angle)          # one integer per person: both cells
    m.certificate.limit, m.certificate.ratio   # what no division of ε among two reports can beat
    t = sottovoce.Tally(m, cells)

The loss is (|r' − r|/radius)^k + (angle between θ' and θ, in radians)^k, with weights if wanted, and ε is
divided so that the sum of the two worst cases is least. Distances count in radii, so that the division does
not depend on the unit of length. The paper's division (1.32, 5.69) for ε = 1 + 2π does not even add up; see
docs/howto/polar.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache, partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.compose import joint
from sottovoce.compose.budget import Split, split_budget
from sottovoce.core import spec
from sottovoce.core.domains import Circle, Interval
from sottovoce.core.errors import PrivacyError, SpecError, check_epsilon, loss_exponent, positive_number
from sottovoce.core.exact import exp_lower
from sottovoce.core.kernels.tables import FloatArray
from sottovoce.core.mechanism import Mechanism
from sottovoce.core.randomness import Seeded, word_source
from sottovoce.core.values import as_cells, as_numbers
from sottovoce.designs.classic import ogpm
from sottovoce.designs.limits import circular_limit
from sottovoce.designs.optimal import optimal

DESIGNS = ("optimal", "unbiased", "ogpm")
ANGLE_CELLS, DISTANCE_CELLS = 512, 256


@dataclass(frozen=True)
class PolarCertificate:
    """`limit`: no pair of reports, one of distance and one of angle, whose ε add up to the total does better.

    It covers every mechanism for either part and every division of ε. It does not cover mechanisms that
    randomise both coordinates jointly.
    `worst` is what this pair attains.
    """

    limit: float
    worst: float

    @property
    def ratio(self) -> float:
        """worst / limit."""
        return self.worst / self.limit


@dataclass(frozen=True, eq=False, repr=False)
class Polar(spec.Specified):
    """A mechanism for the distance and one for the angle; a report is one integer for both.

    `weights` are those of the two losses, `split` how ε was divided, where it was searched for.
    """

    epsilon: float
    loss: str | float
    distance: Mechanism
    angle: Mechanism
    weights: tuple[float, float] = (1.0, 1.0)
    split: Split | None = None

    def __post_init__(self) -> None:
        if self.largest_ratio > exp_lower(self.epsilon):
            raise PrivacyError(f"the two parts together exceed epsilon={self.epsilon!r}")
        low, turn = self.distance.domain, self.angle.domain
        if low.is_circle or low.low != 0 or not turn.is_circle or not math.isclose(turn.width, 2 * math.pi):
            raise SpecError("a position is a distance from 0 on and an angle in radians")

    @property
    def radius(self) -> float:
        """The largest distance."""
        return self.distance.domain.high

    @property
    def cells(self) -> int:
        """How many different reports there are."""
        return self.distance.cells * self.angle.cells

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """The narrowest unsigned integer that holds every report."""
        return np.min_scalar_type(self.cells - 1)

    @property
    def largest_ratio(self) -> Fraction:
        """The exact ratio of the joint report: its parts are independent, so their ratios multiply."""
        return joint.product_of_largest((self.distance.largest_ratio, self.angle.largest_ratio), 2)

    def to_json(self) -> str:
        """The canonical spec of both parts."""
        rest = {"loss": loss_exponent(self.loss), "weights": list(self.weights)}
        return joint.write(joint.POLAR, self.epsilon, (self.distance, self.angle), **rest)

    @classmethod
    def from_json(cls, text: str | bytes) -> Polar:
        """Read a spec that anybody may have written; refused unless its counts give the ε it claims.

        `text` is what `to_json` wrote.
        """
        content = joint.read(text, joint.POLAR)
        distance, angle = joint.parts_of(content)
        if not isinstance(content["weights"], list) or len(content["weights"]) != 2:
            raise SpecError("weights must be a list of two numbers")
        one, two = (positive_number(weight, "weights") for weight in content["weights"])
        loss = loss_exponent(content["loss"])
        return cls(check_epsilon(content["epsilon"]), loss, distance, angle, (one, two))

    def __repr__(self) -> str:
        shares = f"{self.distance.epsilon:.4g} + {self.angle.epsilon:.4g}"
        return f"<Polar epsilon={self.epsilon!r} = {shares} radius={self.radius!r} cells={self.cells}>"

    # -- what the device does ---------------------------------------------------------------------------

    def report(
        self, distance: ArrayLike, angle: ArrayLike, *, clip: bool = False, rng: Seeded = None
    ) -> NDArray[Any]:
        """Randomise positions given by distance and angle (radians): one integer each."""
        r, theta = np.broadcast_arrays(as_numbers(distance, "distance"), as_numbers(angle, "angle"))
        rng = word_source(rng)
        one = self.distance.report(r, clip=clip, rng=rng).astype(np.int64)
        two = self.angle.report(theta, clip=True, rng=rng)  # an angle is an angle, however often around
        return np.asarray(one * self.angle.cells + two).astype(self.dtype)[()]

    def report_xy(
        self, x: ArrayLike, y: ArrayLike, *, clip: bool = False, rng: Seeded = None
    ) -> NDArray[Any]:
        """The same for Cartesian coordinates around the pole."""
        x, y = np.asarray(as_numbers(x, "x"), dtype=float), np.asarray(as_numbers(y, "y"), dtype=float)
        return self.report(np.hypot(x, y), np.arctan2(y, x), clip=clip, rng=rng)

    def decode(self, cells: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Distance and angle that each cell stands for."""
        one, two = np.divmod(as_cells(cells, self.cells), self.angle.cells)
        return self.distance.decode(one), self.angle.decode(two)

    # -- its law ----------------------------------------------------------------------------------------

    def error(self, distance: ArrayLike, angle: ArrayLike) -> FloatArray:
        """The expected loss at each position.

        `distance` and `angle` (radians) say where.
        """
        theta = np.mod(np.asarray(angle, dtype=float), 2 * math.pi)
        one, two = self.distance.error(distance, self.loss), self.angle.error(theta, self.loss)
        return np.asarray(self._per_radius * one + self.weights[1] * two)

    def worst_error(self) -> float:
        """The largest expected loss over the disc."""
        one, two = self.distance.worst_error(self.loss), self.angle.worst_error(self.loss)
        return self._per_radius * one + self.weights[1] * two

    @property
    def _per_radius(self) -> float:
        return self.weights[0] / self.radius ** loss_exponent(self.loss)

    @cached_property
    def certificate(self) -> PolarCertificate:
        """A limit for every division of ε between any two mechanisms, proved by the parts' own limits.

        Both limits fall with ε, so for ε₁ between two neighbouring points of a grid the limit at the upper
        one plus that of the rest at the lower one bounds the total. The weakest gap is halved until the
        bound is close.
        """
        k, worst = loss_exponent(self.loss), self.worst_error()

        def radial(epsilon: float) -> float:
            return self.weights[0] * _unit_distance(epsilon, k).certificate.limit

        def angular(epsilon: float) -> float:
            return self.weights[1] * (2 * math.pi) ** k * circular_limit(epsilon, k)

        total = self.epsilon
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
    design: str = "optimal",
) -> Polar:
    """Distance and angle with the best division of ε for w₁·(|r' − r|/radius)^k + w₂·(angle)^k.

    `design` of the distance: `sv.optimal`; the same "unbiased" (for the mean position; loss "l2"); or the
    "ogpm" of the paper. The angle is by the circular OGPM, which is optimal.
    `weights` are (w₁, w₂).

    >>> m = polar(1 + 2 * math.pi, design="ogpm")
    >>> round(m.distance.epsilon, 1), round(m.angle.epsilon, 1)
    (1.5, 5.8)
    """
    epsilon, radius, k = check_epsilon(epsilon), positive_number(radius, "radius"), loss_exponent(loss)
    if design not in DESIGNS:
        raise ValueError(f"design must be one of {', '.join(DESIGNS)}, got design={design!r}")
    if design == "unbiased" and k != 2:
        raise ValueError(f"design='unbiased' minimises a variance: loss must be 'l2', got loss={loss!r}")
    one, two = (positive_number(w, "weights") for w in weights)
    parts: list[Callable[..., Mechanism]] = [partial(_DISTANCES[design], k=k), partial(_angle, k=k)]
    split = split_budget(epsilon, parts, k, weights=(one, two))
    distance, angle = (build(epsilon=share) for build, share in zip(parts, split.epsilons, strict=True))
    distance = Mechanism(distance.epsilon, Interval(0.0, radius), distance.window)
    return Polar(epsilon, loss, distance, angle, (one, two), split)


@lru_cache(maxsize=256)
def _unit_distance(epsilon: float, k: float) -> Mechanism:
    return optimal(epsilon, (0, 1), "value", loss=k)


@lru_cache(maxsize=256)
def _unbiased_distance(epsilon: float, k: float) -> Mechanism:
    return optimal(epsilon, (0, 1), "mean", loss=k)


def _ogpm_distance(epsilon: float, k: float) -> Mechanism:
    return ogpm(epsilon, (0, 1), k, cells=DISTANCE_CELLS)


def _angle(epsilon: float, k: float) -> Mechanism:
    return ogpm(epsilon, Circle(2 * math.pi), k, cells=ANGLE_CELLS)


_DISTANCES: dict[str, Callable[..., Mechanism]] = {
    "optimal": _unit_distance,
    "unbiased": _unbiased_distance,
    "ogpm": _ogpm_distance,
}
