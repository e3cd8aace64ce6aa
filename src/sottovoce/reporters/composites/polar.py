"""A position by distance and angle, each with a part of ε (Zheng et al., section 6).

A report is one integer for both: distance cell × number of angle cells + angle cell. The two parts are
independent, so their ratios multiply.

    {"epsilon": ε, "format": "polar/1", "loss": 2, "parts": [distance, angle], "weights": [1, 1]}
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.arrays import FloatArray
from sottovoce.errors import SpecError, loss_exponent
from sottovoce.randomness.word_source import Seeded, word_source
from sottovoce.reporters.base import Composition, ReporterBase, check_claim
from sottovoce.reporters.composites.item_rules import product_of_largest
from sottovoce.reporters.law.number_law import FEW
from sottovoce.reporters.mechanism import Mechanism
from sottovoce.reporters.question import Question
from sottovoce.values.checked_arrays import as_cells, as_numbers
from sottovoce.values.disc import LEAST, Disc
from sottovoce.values.missing_and_outside import Missing, Outside, Policy
from sottovoce.wire.canonical import POLAR, canonical, untasked


@dataclass(frozen=True, eq=False, repr=False)
class Polar(ReporterBase):
    """A mechanism for the distance and one for the angle.

    Attributes:
        epsilon: What both parts together may cost.
        loss: The loss that ε was divided for.
        distance: The mechanism of the distance, on [0, radius].
        angle: The mechanism of the angle, in radians.
        weights: How much the losses of distance and angle count.
        name: Which design it is.
    """

    epsilon: float
    loss: str | float
    distance: Mechanism
    angle: Mechanism
    weights: tuple[float, float] = (1.0, 1.0)
    name: str = field(default="polar", compare=False)

    def __post_init__(self) -> None:
        check_claim(self)
        check_parts(self.distance, self.angle)

    # -- identity ---------------------------------------------------------------------------------------

    @property
    def radius(self) -> float:
        """The largest distance."""
        return self.distance.domain.high

    @property
    def domain(self) -> Disc:
        """Where positions lie."""
        return Disc(self.radius)

    @property
    def cells(self) -> int:
        """How many different reports there are."""
        return self.distance.cells * self.angle.cells

    @property
    def distance_and_angle(self) -> tuple[Mechanism, Mechanism]:  # type: ignore[override]
        """The two parts."""
        return self.distance, self.angle

    @property
    def composition(self) -> Composition:  # type: ignore[override]
        """What a report is put together from."""
        return Composition((self.distance, self.angle), (1.0, 1.0), 2, ("distance", "angle"))

    @property
    def questions(self) -> tuple[Question, ...]:
        """The mean place if distances average to the truth, a map where both parts tell a distribution."""
        map_ = min(self.distance.cells, self.angle.cells) > FEW
        told = {"position": self.distance.unbiased, "heatmap": map_}
        return tuple(Question(name) for name, whether in told.items() if whether)

    @property
    def items(self) -> Mapping[str, Polar]:
        """{"value": this}: one thing is asked."""
        return {"value": self}

    @property
    def largest_ratio(self) -> Fraction:
        """The exact ratio of the joint report."""
        return product_of_largest((self.distance.largest_ratio, self.angle.largest_ratio), 2)

    def to_json(self) -> str:
        content = {
            "format": POLAR,
            "epsilon": self.epsilon,
            "loss": loss_exponent(self.loss),
            "weights": list(self.weights),
            "parts": [json.loads(untasked(part.to_json())) for part in (self.distance, self.angle)],
        }
        return canonical(content)

    def __repr__(self) -> str:
        shares = f"{self.distance.epsilon:.4g} + {self.angle.epsilon:.4g}"
        return (
            f"<{self.name} epsilon={self.epsilon!r} = {shares} radius={self.radius!r} cells={self.cells} "
            f"digest={self.digest[:12]}>"
        )

    # -- what the device does ---------------------------------------------------------------------------

    def report(
        self,
        values: ArrayLike,
        *,
        clip: bool = False,
        missing: Missing = "refuse",
        outside: Outside = "refuse",
        rng: Seeded = None,
    ) -> NDArray[Any]:
        """Randomise positions: one integer each.

        Args:
            values: Positions x, y around the pole: an array whose last axis is 2.
            clip: Bring positions outside to the rim. Short for `outside="clip"`.
            missing: What stands in for missing positions: "uniform"; refused by default.
            outside: What happens to positions outside the disc: "refuse", "clip" or "missing".
            rng: A seed or generator, for simulations only.

        Returns:
            Unsigned integers, one per position.

        Raises:
            DataError: If positions are refused.
        """
        policy = Policy.of(missing, outside, clip).checked(self.domain)
        source = word_source(rng)
        points = policy.prepare(self.domain.numbers(values), self.domain, source)
        return self.report_polar(*self._coordinates(points), rng=source)

    def report_polar(self, distance: ArrayLike, angle: ArrayLike, *, rng: Seeded = None) -> NDArray[Any]:
        """Randomise positions given by distance and angle.

        Args:
            distance: Distances from the pole, at most the radius.
            angle: Angles in radians, however often around.
            rng: A seed or generator, for simulations only.

        Returns:
            Unsigned integers, one per position.

        Raises:
            DataError: If distances lie beyond the radius.
        """
        r, theta = np.broadcast_arrays(as_numbers(distance, "distance"), as_numbers(angle, "angle"))
        source = word_source(rng)
        one = self.distance.report(r, rng=source).astype(np.int64)
        two = self.angle.report(theta, clip=True, rng=source)
        return np.asarray(one * self.angle.cells + two).astype(self.dtype)[()]

    def decode(self, cells: ArrayLike) -> FloatArray:
        """The position that each cell stands for.

        Args:
            cells: Integers that were reported.

        Returns:
            Positions x, y on a last axis of 2.
        """
        r, theta = self.decode_polar(cells)
        return np.stack((r * np.cos(theta), r * np.sin(theta)), axis=-1)

    def decode_polar(self, cells: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """The distance and the angle that each cell stands for.

        Args:
            cells: Integers that were reported.

        Returns:
            Distances, and angles in radians.
        """
        one, two = np.divmod(as_cells(cells, self.cells), self.angle.cells)
        return self.distance.decode(one), self.angle.decode(two)

    # -- its law ----------------------------------------------------------------------------------------

    def probabilities(self, x: ArrayLike) -> FloatArray:
        """The probability of each cell.

        Args:
            x: Positions x, y in the disc.

        Returns:
            A row per position.
        """
        r, theta = self._coordinates(np.asarray(x, dtype=np.float64))
        one, two = self.distance.probabilities(r), self.angle.probabilities(theta)
        return np.asarray((one[..., :, None] * two[..., None, :]).reshape(*r.shape, self.cells))

    def error(self, x: ArrayLike) -> FloatArray:
        """The expected loss w₁·(|r' − r|/radius)^k + w₂·(angle between θ' and θ)^k.

        Args:
            x: Positions x, y in the disc.

        Returns:
            One number per position.
        """
        r, theta = self._coordinates(np.asarray(x, dtype=np.float64))
        one, two = self.distance.error(r, self.loss), self.angle.error(theta, self.loss)
        return np.asarray(self._per_radius * one + self.weights[1] * two)

    def worst_error(self) -> float:
        """The largest expected loss over the disc.

        Returns:
            The sum of both worst cases.
        """
        one, two = self.distance.worst_error(self.loss), self.angle.worst_error(self.loss)
        return self._per_radius * one + self.weights[1] * two

    def _coordinates(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Distances, of which those that rounding led beyond the rim are on it, and angles."""
        away = np.hypot(points[..., 0], points[..., 1])
        away = np.where(self.domain.contains(points), np.minimum(away, self.radius), away)
        return away, np.mod(np.arctan2(points[..., 1], points[..., 0]), 2 * math.pi)

    @property
    def _per_radius(self) -> float:
        return self.weights[0] / self.radius ** loss_exponent(self.loss)


def check_parts(distance: Mechanism, angle: Mechanism) -> None:
    """The rules of a position that are not those of its parts."""
    low, turn = distance.domain, angle.domain
    if low.is_circle or low.low != 0 or not turn.is_circle or not math.isclose(turn.width, 2 * math.pi):
        raise SpecError("a position is a distance from 0 on and an angle in radians", argument="parts")
    if low.high < LEAST:
        raise SpecError(f"radius must be at least {LEAST}, got {low.high!r}", argument="radius")
