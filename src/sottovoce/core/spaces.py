"""Sets of possible values, and positions in the plane as one of them; numbers are in `domains`."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.core.compact import Value
from sottovoce.core.errors import DataError, positive_number
from sottovoce.core.shown import Shown
from sottovoce.core.values import numbers_or_nan

FloatArray = NDArray[np.float64]
_ROUNDING = 2.0**-48  # of a distance: so far beyond the rim of a disc is on it


class Space(Value, Shown, ABC):
    """A set of possible values: numbers (a `Domain`), positions (`Disc`, `Area`) or choices (`Options`)."""

    #: The shape of one value: () for a number, (2,) for a position.
    shape: tuple[int, ...] = ()
    #: Whether values outside have a nearest one inside, and what to advise about them.
    clips = True
    advice = "outside='clip' (or clip=True) brings them inside"

    @property
    def decoded(self) -> tuple[int, ...]:
        """The shape of what one report stands for: by default that of a value."""
        return self.shape

    def numbers(self, values: Any, name: str = "values") -> FloatArray:
        """Values as the numbers that everything inside works with.

        Args:
            values: Values as people give them, of any shape.
            name: What to call them in an error.

        Returns:
            Numbers, NaN where there is none.
        """
        return numbers_or_nan(values, name)

    def quick_elements(self, values: Any) -> NDArray[Any] | None:
        """Values as elements of a group, where that takes no look at each; here it does.

        Args:
            values: Values as people give them.

        Returns:
            None.
        """
        return None

    def named(self, numbers: FloatArray) -> NDArray[Any]:
        """Numbers as the values that `report` takes.

        Args:
            numbers: What `numbers` gave.

        Returns:
            Values as people give them.
        """
        return numbers

    @abstractmethod
    def contains(self, x: ArrayLike) -> NDArray[np.bool_]:
        """Tell which values lie in the set.

        Args:
            x: Values.

        Returns:
            One truth value each; false for what is not finite.
        """

    @abstractmethod
    def bring_inside(self, x: FloatArray) -> FloatArray:
        """What `clip=True` means here.

        Args:
            x: Finite values.

        Returns:
            The nearest end of an interval or point of a disc, the same angle on a circle.
        """

    @abstractmethod
    def spread(self, words: NDArray[np.uint64]) -> FloatArray:
        """Spread values evenly over the set.

        Args:
            words: Uniform 64-bit words.

        Returns:
            One value for each word.
        """

    def absent(self, x: FloatArray) -> NDArray[np.bool_]:
        """Tell which values are missing: a part of them is NaN or infinite.

        Args:
            x: Values, NaN where there is none.

        Returns:
            One truth value each.
        """
        return np.asarray(~np.isfinite(x).all(axis=tuple(range(-len(self.shape), 0))))


class Positions(Space):
    """Positions x, y in the plane: arrays whose last axis is 2."""

    shape = (2,)

    def numbers(self, values: Any, name: str = "values") -> FloatArray:
        points = super().numbers(values, name)
        if points.ndim == 0 or points.shape[-1] != 2:
            raise DataError(
                f"{name} must be positions x, y, got shape {points.shape}", code="shape", argument=name
            )
        return points


@dataclass(frozen=True, eq=False)
class Disc(Positions):
    """Positions (x, y) around the origin.

    Attributes:
        radius: How far away they may be.

    >>> Disc(10).contains([[3, 4], [8, 8]]).tolist()
    [True, False]
    """

    radius: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", positive_number(self.radius, "radius"))

    def __str__(self) -> str:
        return f"the disc of radius {self.radius!r}"

    def contains(self, x: ArrayLike) -> NDArray[np.bool_]:
        x = np.asarray(x, dtype=np.float64)
        return np.asarray(np.hypot(x[..., 0], x[..., 1]) <= self.radius * (1 + _ROUNDING))

    def bring_inside(self, x: FloatArray) -> FloatArray:
        half = np.asarray(x) / 2  # the distance of a finite position may be infinite
        away = np.hypot(half[..., 0], half[..., 1])[..., None]
        outside = away > self.radius / 2
        return np.where(outside, self.radius * np.divide(half, away, where=outside, out=half), x)

    def spread(self, words: NDArray[np.uint64]) -> FloatArray:
        away = self.radius * np.sqrt((words >> np.uint64(32)) * 2.0**-32)
        turn = 2 * math.pi * ((words & np.uint64(0xFFFFFFFF)) * 2.0**-32)
        return np.stack((away * np.cos(turn), away * np.sin(turn)), axis=-1)
