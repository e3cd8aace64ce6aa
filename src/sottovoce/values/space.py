"""Sets of possible values: what intervals, circles, options, discs and areas have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from sottovoce.arrays import FloatArray
from sottovoce.frozen import Compact
from sottovoce.notebook import Shown
from sottovoce.values.checked_arrays import numbers_or_nan

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


class Space(Compact, Shown, ABC):
    """A set of possible values: numbers (a `Domain`), positions (`Disc`, `Area`) or choices (`Options`)."""

    #: The shape of one value: () for a number, (2,) for a position.
    shape: tuple[int, ...] = ()
    #: The values as numbers, where they are ratings.
    ratings: FloatArray | None = None
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

    @abstractmethod
    def examples(self, count: int) -> NDArray[Any]:
        """Values to try a rule at: the ends and the middle, or some of the rim, then an even spread.

        Args:
            count: How many of the spread.

        Returns:
            Values as people give them, the same every time.
        """

    def outside(self) -> NDArray[Any]:
        """A few finite values that do not lie in the set.

        Returns:
            None at all if everything finite lies in it.
        """
        with np.errstate(over="ignore"):
            beyond = self._beyond()
        return np.asarray(beyond[~self.contains(beyond) & ~self.absent(beyond)])

    def _beyond(self) -> FloatArray:
        """Values that may lie outside."""
        return self.examples(8) * 1e3

    def absent(self, x: FloatArray) -> NDArray[np.bool_]:
        """Tell which values are missing: a part of them is NaN or infinite.

        Args:
            x: Values, NaN where there is none.

        Returns:
            One truth value each.
        """
        return np.asarray(~np.isfinite(x).all(axis=tuple(range(-len(self.shape), 0))))
