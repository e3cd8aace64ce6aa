"""Balanced families: base sets of which every two options share as many cells as any other two.

For k options, blocks of d elements cost V(d)·ratio, where V(d) is what blocks of that size cost at best and

    ratio = mean(λ)·mean(1/λ),    λ_f = Σ_b |F(1_b)(f)|²    over frequencies f ≠ 0,

which is 1 exactly if the family is balanced. Multiplying a block by all units of Z_k makes λ equal within
each class of frequencies with the same divisor, so only a few classes are left to be balanced by a search:
swaps of single elements, from fixed seeds.
"""

from __future__ import annotations

import math
import random
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sottovoce.arrays import FloatArray, IntArray

MAX_CELLS = 1 << 16
_BALANCED = 1e-9  # a ratio this close to 1 is 1, to rounding
_SWAPS = 3000  # proposals for each family that is tried
_WORSE = 0.3  # how much further from balanced a swap may lead at first
_TRIES = 12
_LARGE = 6
_MOST_BLOCKS = 64
_MOST_BALANCED = 128
_MANY_CELLS = 1 << 14


class Family(NamedTuple):
    """Blocks, what they are multiplied with, and how far they are from balanced.

    Attributes:
        blocks: The base sets.
        multipliers: Every base set is used times each of these.
        ratio: How much more than a balanced family it costs: 1 for a balanced one.
    """

    blocks: tuple[tuple[int, ...], ...]
    multipliers: tuple[int, ...]
    ratio: float


def block_size(options: int, epsilon: float) -> int:
    """The size of block with the least total variance."""
    sizes = np.arange(1, options)
    return int(sizes[np.argmin(block_variance(options, sizes, epsilon))])


def block_variance(options: int, size: IntArray | int, epsilon: float) -> FloatArray:
    """n times the total variance of all shares at the even truth, of a balanced family with blocks of a size.

    Args:
        options: How many options, k.
        size: Elements of a block, d.
        epsilon: The privacy parameter.

    Returns:
        (k−1)²(dE + k − d)² / (k(E−1)²·d(k−d)).
    """
    k, d, growth = options, np.asarray(size, dtype=np.float64), math.expm1(epsilon)
    return np.asarray((k - 1) ** 2 * (d * growth + k) ** 2 / (k * growth**2 * d * (k - d)))


@lru_cache(maxsize=256)
def family(options: int, size: int) -> Family:
    """The smallest balanced family that a search finds, or the best of those with at most 2^16 cells.

    Args:
        options: How many options, k.
        size: Elements of a block, d.

    Returns:
        Blocks and multipliers; the same every time.
    """
    if size in (1, options - 1):
        return Family((tuple(range(size)),), (1,), 1.0)
    return _best(options, size, signed=False)


@lru_cache(maxsize=256)
def signed_family(options: int) -> Family:
    """Blocks of signs: each holds of every option exactly one of two elements, x or x + k.

    Such blocks tell nothing about which option a person has, and most about the sign that goes with it. The
    ratio is over odd frequencies, where all their power is; of a balanced family every two options have as
    many equal signs as unequal ones.

    Args:
        options: How many options, k; the group is Z_2k.

    Returns:
        Blocks and multipliers; the same every time.
    """
    return _best(2 * options, options, signed=True)


def _best(options: int, size: int, *, signed: bool) -> Family:
    """The first balanced family of those that are tried, or the best."""
    best = Family((), (), math.inf)
    for multipliers, count in _shapes(options, size, signed=signed):
        blocks, ratio = _search(options, size, count, multipliers, signed=signed)
        if ratio < best.ratio - _BALANCED:
            best = Family(blocks, multipliers, ratio)
        if ratio <= 1 + _BALANCED:
            break
    return best


def _shapes(options: int, size: int, *, signed: bool) -> list[tuple[tuple[int, ...], int]]:
    """Multipliers and numbers of blocks to try: small families that can be balanced, then large ones.

    t sets have t·d(d−1) differences; they are balanced only if that is a multiple of the k−1 there are.
    """
    shapes = [
        (multipliers, count)
        for multipliers in _multipliers(options)
        for count in range(1, min(MAX_CELLS // (options * len(multipliers)), _MOST_BLOCKS) + 1)
    ]
    shapes.sort(key=lambda shape: (len(shape[0]) * shape[1], shape[1]))
    if signed:  # small ones that can be balanced; of many options the first that come close
        if options <= _MOST_BALANCED:
            return shapes[: 2 * _TRIES]
        return [shape for shape in shapes if len(shape[0]) * shape[1] * options >= _MANY_CELLS][:2]
    pairs = 2 * size * (size - 1)
    even = [shape for shape in shapes if len(shape[0]) * shape[1] * pairs % (options - 1) == 0]
    large = {
        len(multipliers): (multipliers, count) for multipliers, count in shapes
    }  # the last is the largest
    return even[:_TRIES] + [large[size] for size in sorted(large)[-_LARGE:]]


def _multipliers(options: int) -> list[tuple[int, ...]]:
    """Groups of units of Z_k, one of each size; h and −h count as one, for they give the same λ."""
    units = [h for h in range(1, options) if math.gcd(h, options) == 1]
    groups: dict[int, tuple[int, ...]] = {1: (1,)}
    for unit in units:
        powers, h = {1}, unit
        while h != 1:
            powers.add(h)
            h = h * unit % options
        half = _half(powers, options)
        groups.setdefault(len(half), half)
    whole = _half(set(units), options)
    groups[len(whole)] = whole
    return [group for _, group in sorted(groups.items()) if len(group) * options <= MAX_CELLS]


def _half(units: set[int], options: int) -> tuple[int, ...]:
    return tuple(sorted({min(h, options - h) for h in units}))


def _search(
    options: int, size: int, count: int, multipliers: tuple[int, ...], *, signed: bool
) -> tuple[tuple[tuple[int, ...], ...], float]:
    """Blocks with λ as even as swaps of single elements make it, a little worse now and then on the way."""
    draw = random.Random(f"{options} {size} {count} {len(multipliers)}")
    orders = [draw.sample(range(options), options) for _ in range(count)]  # the first `size` are the block
    if signed:  # an element and its opposite are `size` apart in the order, and swapped with each other
        bits = [[draw.randrange(2) for _ in range(size)] for _ in range(count)]
        orders = [[x + size * (bit ^ side) for side in (0, 1) for x, bit in enumerate(one)] for one in bits]
    frequency = np.arange(1, options // 2 + 1, 2 if signed else 1)
    wave = np.exp(-2j * np.pi * np.outer(np.arange(options), frequency) / options)
    classes = _Classes.of(options, multipliers, frequency)
    transform = np.array([wave[order[:size]].sum(axis=0) for order in orders])
    total = (np.abs(transform) ** 2).sum(axis=0)
    ratio = classes.ratio(total)
    best, blocks = ratio, [order[:size] for order in orders]
    for step in range(_SWAPS):
        if best <= 1 + _BALANCED:
            break
        b, i = draw.randrange(count), draw.randrange(size)
        j = i + size if signed else draw.randrange(size, options)
        order = orders[b]
        changed = transform[b] + wave[order[j]] - wave[order[i]]
        trial = total + np.abs(changed) ** 2 - np.abs(transform[b]) ** 2
        now = classes.ratio(trial)
        if now - 1 < (ratio - 1) * (1 + _WORSE * (1 - step / _SWAPS) ** 4):
            order[i], order[j] = order[j], order[i]
            transform[b], total, ratio = changed, trial, now
            if ratio < best:
                best, blocks = ratio, [order[:size] for order in orders]
    return tuple(tuple(sorted(block)) for block in blocks), float(best)


class _Classes(NamedTuple):
    """Frequencies 1 … k/2 that the multipliers take into each other."""

    label: IntArray
    size: FloatArray
    weight: FloatArray

    @classmethod
    def of(cls, options: int, multipliers: tuple[int, ...], frequency: IntArray) -> _Classes:
        image = np.outer(multipliers, frequency) % options
        least = np.minimum(image, options - image).min(axis=0)
        _, label = np.unique(least, return_inverse=True)
        # A frequency and its opposite are two, but for k/2.
        weight = np.where(2 * frequency == options, 1.0, 2.0)
        return cls(
            label, np.bincount(label).astype(np.float64), np.asarray(np.bincount(label, weight), np.float64)
        )

    def ratio(self, total: NDArray[np.float64]) -> float:
        power = np.bincount(self.label, total) / self.size
        if power.min() <= 1e-9 * power.max():
            return math.inf
        weight = self.weight / self.weight.sum()
        return float((weight @ power) * (weight @ (1 / power)))
