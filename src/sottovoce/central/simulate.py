"""Error and coverage by simulation: many releases of the same data at once, through the code that ships."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sottovoce.central import intervals
from sottovoce.central.draws import ExactDraws
from sottovoce.central.grid import STEPS, Grid
from sottovoce.central.mechanisms import add_noise, check_mechanism, law_of, noise_of
from sottovoce.core.errors import check_epsilon
from sottovoce.core.randomness import Seeded


@dataclass(frozen=True)
class Simulated:
    """`error` is n²·MSE over (high − low)², `spread` its standard error, `coverage` of the intervals."""

    error: float
    spread: float
    coverage: float
    width: float


def simulate(
    mechanism: str,
    epsilon: float,
    people: int,
    mean: float,
    *,
    runs: int = 100_000,
    confidence: float = 0.95,
    low: float = 0.0,
    steps: int = STEPS,
    rng: Seeded = None,
) -> Simulated:
    """Release `runs` times the mean of `people` values in [low, low + 1] whose mean is low + `mean`.

    >>> result = simulate("hourglass", 1.0, 10_000, 0.01, runs=20_000, rng=1)
    >>> abs(result.error - 1.883) < 5 * result.spread
    True
    """
    epsilon, grid = check_epsilon(epsilon), Grid.of((low, low + 1), steps)
    noise, law = noise_of(check_mechanism(mechanism), epsilon, grid), law_of(mechanism, epsilon, grid)
    total = round(people * mean * steps)
    sums = np.full(runs, total, dtype=np.int64)
    sizes = np.full(runs, people * steps, dtype=np.int64)
    noisy_sums, noisy_sizes = add_noise(sums, sizes, noise, ExactDraws.using(rng))
    s, n = noisy_sums / steps, noisy_sizes / steps
    alpha = intervals.estimate(s, n)
    below, above = intervals.interval(s, n, alpha, law, confidence, steps)
    truth = total / (people * steps)
    squares = (people * (alpha - truth)) ** 2
    covered = (below <= truth) & (truth <= above)
    return Simulated(
        float(squares.mean()),
        float(squares.std() / np.sqrt(runs)),
        float(covered.mean()),
        float((above - below).mean()),
    )
