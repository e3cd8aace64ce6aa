"""The planner's predictions against full simulations from people to answers.

Ratio of the predicted error to the error seen when people are drawn, randomise and are reconstructed or
averaged; both are means over repetitions, the standard error of the ratio beside it. Within 10 % is the aim.
"""

from __future__ import annotations

import math
import os
from dataclasses import replace

import numpy as np

import sottovoce as sv

TAKES = "10 min"


def seen_errors(option: object, task: str, sample: np.ndarray, q: float, repetitions: int) -> np.ndarray:
    rng = np.random.default_rng(11)
    m, n = option.mechanism(), option.people  # type: ignore[attr-defined]
    found = []
    for _ in range(repetitions):
        if task == "mean":
            people = np.resize(sample, n)
            found.append((m.perturb(people, rng=rng).mean() - people.mean()) ** 2)
            continue
        t = sv.Tally(m, m.report(rng.choice(sample, n), rng=rng))
        d = sv.distribution(t, band=False)
        gap = d.quantile(q) - np.quantile(sample, q)
        found.append(d.distance(sample) if task == "distribution" else abs(gap))
    return np.array(found)


def main() -> None:
    repetitions = int(os.environ.get("SOTTOVOCE_REPETITIONS", "60"))
    sample = 24 * np.random.default_rng(3).beta(5, 2, 50_000)
    worst: list[float] = []
    for task, epsilon, n in (
        ("mean", 1.0, 10_000),
        ("mean", 4.0, 1000),
        ("distribution", 1.0, 50_000),
        ("distribution", 2.0, 20_000),
        ("quantile", 1.0, 50_000),
    ):
        # One absolute error varies more than one distance, and one squared error more still.
        times = {"mean": 20, "quantile": 4}.get(task, 1) * repetitions
        p = sv.plan(task, epsilon, n, (0, 24), sample=sample, q=0.9, repetitions=1)
        question = replace(p.question, repetitions=times)
        for option in p.options if task == "mean" else p.options[:2]:
            predicted = 24 * question.expected(option.candidate, epsilon, n).error
            seen = seen_errors(option, task, sample, 0.9, times)
            mean, se = seen.mean(), seen.std(ddof=1) / math.sqrt(times)
            if task == "mean":  # root mean square
                mean, se = math.sqrt(mean), se / (2 * math.sqrt(mean))
            ratio = predicted / mean
            spread = ratio * se / mean * (1.0 if task == "mean" else math.sqrt(2))  # both sides are simulated
            worst.append(abs(ratio - 1))
            print(f"{task:<13} ε={epsilon:g} n={n:<7,}{option.name:<15} predicted {predicted:.4g} "
                  f"seen {mean:.4g}  ratio {ratio:.3f} ± {spread:.3f}", flush=True)  # fmt: skip
    print(f"largest deviation {max(worst):.1%}")


if __name__ == "__main__":
    main()
