"""Two inputs as an observer compares them, against a law that stands for the others.

A report of kind j has probability `mass[j]` under the reference, `first[j]` and `second[j]` times that under
the two inputs. What is missing from the total mass is reports that say nothing about either.

If a sum of such comparisons is more spread out in the *convex order*, it is easier to tell the inputs apart:
a contrast that is above all others in that order bounds them all. Among all ξ − θη with given laws of ξ and η
the largest is the opposite pairing, large values of ξ with small ones of η, and it grows with either law
(Dhaene et al., Insurance: Mathematics and Economics 31, 2002).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sottovoce.arrays import FloatArray, IntArray

_MOST_KINDS = 4096
_GRID = 48  # points per coordinate where more kinds than that are gathered
_SAME = 2.0**-40  # likelihoods as near as this are one


@dataclass(frozen=True, eq=False)
class Contrast:
    """The likelihoods of two inputs, over those of a reference.

    Attributes:
        mass: Probability of each kind of report under the reference.
        first: The likelihood of each kind under the first input, over that of the reference.
        second: The same under the second input.
    """

    mass: FloatArray
    first: FloatArray
    second: FloatArray

    @cached_property
    def total(self) -> float:
        """The mass of all kinds together."""
        return math.fsum(self.mass)

    @property
    def silent(self) -> float:
        """The probability of a report that says nothing."""
        return max(0.0, 1.0 - self.total)

    @property
    def laws(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The probabilities of each kind under the first input, the second one and the reference."""
        return self.mass * self.first, self.mass * self.second, self.mass

    @property
    def swapped(self) -> Contrast:
        """The two inputs exchanged."""
        return Contrast(self.mass, self.second, self.first)

    @property
    def removal(self) -> Contrast:
        """The first input against the reference itself: an answer, or one that carries no value."""
        return Contrast(self.mass, self.first, np.full_like(self.first, 1.0 / self.total))

    def distance(self) -> float:
        """√E(ξ − η)²: n people hide the difference about as well as Gaussian noise of √n over this."""
        return math.sqrt(float(self.mass @ (self.first - self.second) ** 2))

    def times(self, other: Contrast) -> Contrast:
        """Both comparisons at once, of reports that are independent."""
        return Contrast(
            np.multiply.outer(self.mass, other.mass).ravel(),
            np.multiply.outer(self.first, other.first).ravel(),
            np.multiply.outer(self.second, other.second).ravel(),
        )


def mixture(parts: Sequence[Contrast], shares: Sequence[float]) -> Contrast:
    """One of several comparisons, by a lot that everybody sees.

    Args:
        parts: The comparisons.
        shares: The probability of each.
    """
    return Contrast(
        np.concatenate([share * part.mass for part, share in zip(parts, shares, strict=True)]),
        np.concatenate([part.first for part in parts]),
        np.concatenate([part.second for part in parts]),
    )


def sampled_parts(parts: Sequence[Contrast], sampled: int, *, outward: bool) -> Contrast:
    """The comparison of people who report `sampled` of several independent parts, drawn by lot.

    Args:
        parts: The comparison of each part.
        sampled: How many of them a person reports.
        outward: Where kinds have to be gathered: spread them (an upper bound) or merge them (a lower one).
    """
    one = np.ones(1)
    sums: list[Contrast | None] = [Contrast(one, one, one)] + [None] * sampled
    for part in parts:  # like elementary symmetric polynomials: `sums[k]` adds up over all choices of k parts
        for k in range(sampled, 0, -1):
            before, here = sums[k - 1], sums[k]
            if before is not None:
                more = before.times(part)
                sums[k] = merge_kinds(
                    more if here is None else mixture((here, more), (1.0, 1.0)), outward=outward
                )
    whole = sums[sampled]
    assert whole is not None
    return mixture((whole,), (1.0 / math.comb(len(parts), sampled),))


def merge_kinds(contrast: Contrast, *, outward: bool) -> Contrast:
    """The same with equal kinds taken together, and at most a few thousand of them.

    Args:
        contrast: Many kinds of reports.
        outward: Whether what is inexact in this shall help the observer (an upper bound) or not.
    """
    kept = contrast.mass > 0
    mass, first, second = contrast.mass[kept], contrast.first[kept], contrast.second[kept]
    if mass.size > _MOST_KINDS and outward:
        mass, first, second = _spread(mass, first, second)
    width = _SAME
    while True:
        key = np.rint(np.log([first, second]) / width).astype(np.int64)
        _, kind = np.unique(key, axis=1, return_inverse=True)
        kind = kind.reshape(-1)
        if outward or kind.max() < _MOST_KINDS:
            break
        width = max(width * 4, 2.0**-16)
    total = kind_masses(kind, mass)
    if not outward:
        return Contrast(
            total, kind_masses(kind, mass * first) / total, kind_masses(kind, mass * second) / total
        )
    most, least = np.zeros(total.size), np.full(total.size, np.inf)
    np.maximum.at(most, kind, first)
    np.minimum.at(least, kind, second)
    return Contrast(total, most, least)


def _spread(
    mass: FloatArray, first: FloatArray, second: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Every kind divided among the corners of its cell of a grid, means kept: larger in the convex order."""
    axes = [np.geomspace(values.min(), values.max() * (1 + _SAME), _GRID) for values in (first, second)]
    place, above = [], []
    for values, grid in zip((first, second), axes, strict=True):
        left = np.clip(np.searchsorted(grid, values, side="right") - 1, 0, _GRID - 2)
        place.append(left)
        above.append(
            np.clip((values - grid[left]) / np.maximum(grid[left + 1] - grid[left], 1e-300), 0.0, 1.0)
        )
    weights = np.zeros((_GRID, _GRID))
    for i in (0, 1):
        for j in (0, 1):
            share = np.where(i, above[0], 1 - above[0]) * np.where(j, above[1], 1 - above[1])
            np.add.at(weights, (place[0] + i, place[1] + j), mass * share)
    corner = np.broadcast_arrays(axes[0][:, None], axes[1][None, :])
    return weights.ravel(), corner[0].ravel(), corner[1].ravel()


def kind_masses(kind: IntArray, mass: FloatArray) -> FloatArray:
    """The mass of each kind.

    Args:
        kind: Which one each mass belongs to, counted from 0.
        mass: The masses.
    """
    return np.bincount(kind, mass).astype(np.float64)
