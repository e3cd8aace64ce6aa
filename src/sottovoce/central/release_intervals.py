"""Estimates and intervals from released integers only: plain functions of arrays, one entry per release.

If α is the mean of the data, the released sum S and count N give S − α·N = the noise alone. So the set
{α in [0, 1] : |S − α·N| ≤ q(α)}, q(α) the quantile of that noise, covers α at every number of people, with no
approximation for small ones. Its hull is found from outside: the set lies within the interval that the
largest q gives, so q need only be known there, and three rounds of this are enough.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from sottovoce.arrays import FloatArray
from sottovoce.central.noise.noise import Noise

_NODES = 64  # per half of [0, 1]
_ROUNDS = 3


def estimate(s: FloatArray, n: FloatArray) -> FloatArray:
    """The mean in [0, 1]: s/n clipped; where n ≤ 0, the end that the released sums point to, else the middle.

    With both sums s and n − s cut at zero this is s/(s + (n − s)), which is Algorithm 3's clip for n > 0.
    """
    above, below = np.maximum(s, 0.0), np.maximum(n - s, 0.0)
    size = above + below
    return np.divide(above, size, out=np.full_like(size, 0.5), where=size > 0)


def standard_error(alpha: FloatArray, n: FloatArray, noise: Noise) -> FloatArray:
    """Square root of n²·MSE at the estimate, over the noisy count; at most the whole range."""
    return np.minimum(np.sqrt(noise.variance(alpha)) / np.maximum(n, 1.0), 1.0)


def interval(
    s: FloatArray, n: FloatArray, alpha: FloatArray, noise: Noise, confidence: float, steps: int
) -> tuple[FloatArray, FloatArray]:
    """Ends of the hull of the confidence set; where the set is empty, the estimate itself."""
    largest = _largest_between(noise, confidence) + 1 / steps  # integer noise is within a step of the law's
    last = largest.shape[0] - 1
    low, high = np.zeros_like(s), np.ones_like(s)
    for _ in range(_ROUNDS):
        q = largest[_node(np.floor(low * last), last), _node(np.ceil(high * last), last)]
        with np.errstate(divide="ignore", invalid="ignore"):
            one, two = (s - q) / n, (s + q) / n
        # n = 0 says nothing about α when |s| ≤ q, and 0/0 is the case |s| = q.
        low = np.maximum(low, np.nan_to_num(np.fmin(one, two), nan=0.0, neginf=0.0, posinf=2.0))
        high = np.minimum(high, np.nan_to_num(np.fmax(one, two), nan=1.0, neginf=-1.0, posinf=1.0))
        empty = low > high
        low, high = np.where(empty, alpha, low), np.where(empty, alpha, high)
    return np.minimum(low, alpha), np.maximum(high, alpha)


def _node(position: FloatArray, last: int) -> NDArray[np.int64]:
    return np.clip(position, 0, last).astype(np.int64)


@lru_cache(maxsize=64)
def _largest_between(noise: Noise, confidence: float) -> FloatArray:
    """The largest quantile between two nodes i ≤ j."""
    q = quantiles(noise, confidence)
    return np.stack([np.concatenate((q[:i], np.maximum.accumulate(q[i:]))) for i in range(q.size)])


@lru_cache(maxsize=256)
def quantiles(noise: Noise, confidence: float) -> FloatArray:
    """q(α) for α = 0, 1/128, …, 1: what the noise exceeds with probability 1 − confidence, in people."""
    alpha = np.linspace(0, 1, 2 * _NODES + 1)
    nodes = alpha[: _NODES + 1] if noise.symmetric else alpha
    miss = 1 - confidence
    low = np.zeros_like(nodes)
    high = np.full_like(nodes, noise.farthest * 2 * (3 - math.log(miss)) / min(noise.rate, 1))
    for _ in range(24):
        middle = (low + high) / 2
        too_far = noise.tail(middle, nodes, miss) > miss
        low, high = np.where(too_far, middle, low), np.where(too_far, high, middle)
    return np.concatenate((high, high[-2::-1])) if noise.symmetric else high
