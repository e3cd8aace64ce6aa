"""Error and coverage by simulation: many releases of the same data at once, through the code that ships."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sottovoce.arrays import FloatArray
from sottovoce.central import release_intervals
from sottovoce.central.grid import STEPS, Grid
from sottovoce.central.noise.by_name import noise_of
from sottovoce.central.noise.exact_draws import ExactDraws
from sottovoce.central.noise.noise import Noise, add_noise
from sottovoce.errors import check_epsilon
from sottovoce.randomness.word_source import Seeded


@dataclass(frozen=True)
class Trials:
    """Releases of one data set, on [0, 1].

    Attributes:
        noise: The mechanism.
        steps: How many steps the bounds were divided into.
        people: How many there are.
        truth: Their mean.
        sums: Released sums, in people.
        counts: Released numbers of people.
    """

    noise: Noise
    steps: int
    people: int
    truth: float
    sums: FloatArray
    counts: FloatArray

    @property
    def _squares(self) -> FloatArray:
        """n²·(estimate − mean)²."""
        return (self.people * (release_intervals.estimate(self.sums, self.counts) - self.truth)) ** 2

    @property
    def error(self) -> float:
        """n²·MSE over (high − low)²."""
        return float(self._squares.mean())

    @property
    def spread(self) -> float:
        """The standard error of `error`."""
        return float(self._squares.std() / np.sqrt(self.sums.size))

    def coverage(self, confidence: float = 0.95) -> float:
        """The share of intervals that hold the mean."""
        alpha = release_intervals.estimate(self.sums, self.counts)
        low, high = release_intervals.interval(
            self.sums, self.counts, alpha, self.noise, confidence, self.steps
        )
        return float(((low <= self.truth) & (self.truth <= high)).mean())


def simulate(
    mechanism: str,
    epsilon: float,
    people: int,
    mean: float,
    *,
    runs: int = 100_000,
    low: float = 0.0,
    steps: int = STEPS,
    rng: Seeded = None,
) -> Trials:
    """Release the mean of the same people many times.

    Args:
        mechanism: The name of a central mechanism.
        epsilon: The privacy parameter.
        people: How many there are.
        mean: Where their mean lies in the bounds, between 0 and 1.
        runs: How many releases.
        low: The lower bound; the upper one is one more.
        steps: How many steps the bounds are divided into.
        rng: A seed.

    Example:
        >>> trials = simulate("hourglass", 1.0, 10_000, 0.01, runs=20_000, rng=1)
        >>> abs(trials.error - 1.883) < 5 * trials.spread
        True
    """
    noise = noise_of(mechanism, check_epsilon(epsilon), Grid.of((low, low + 1), steps))
    total = round(people * mean * steps)
    sums, sizes = np.full(runs, total), np.full(runs, people * steps)
    noisy_sums, noisy_sizes = add_noise(sums, sizes, noise, ExactDraws.using(rng))
    return Trials(noise, steps, people, total / (people * steps), noisy_sums / steps, noisy_sizes / steps)
