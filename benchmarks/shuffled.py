"""The central ε of shuffled reports beside the published bounds, with the time it takes on one core.

python -m benchmarks.shuffled

Clones: Feldman, McMillan and Talwar (FOCS 2021), in closed form (Theorem 3.1) and numerically (Theorem 3.2).
Variation ratio: Wang et al. (2023), by the formulas of its public code, p = q = e^ε, β the total variation.
The published numbers are computed with the same certified sums; theirs is the law, not the arithmetic.
"""

from __future__ import annotations

import math
import time

import numpy as np

import sottovoce as sv
from sottovoce.auditing.blanket import blanket
from sottovoce.auditing.contrast import Contrast
from sottovoce.auditing.curve import Curve
from sottovoce.auditing.sums import divergence

DELTA = 1e-6
TAKES = "1 min"


def clones_closed(epsilon: float, people: int) -> float:
    if epsilon > math.log(people / (16 * math.log(2 / DELTA))):
        return math.nan
    e = math.exp(epsilon)
    root = 8 * math.sqrt(e * math.log(4 / DELTA) / people)
    return math.log(1 + (e - 1) / (e + 1) * (root + 8 * e / people))


def clones(epsilon: float) -> Contrast:
    """Others report like either input with probability 1/(2e^ε) each; what else they report is known."""
    e = math.exp(epsilon)
    r = 1 / (2 * e)
    share = np.array([e, 1]) / (e + 1)
    return Contrast(np.array([r, r]), share / r, share[::-1] / r)


def variation_ratio(reporter: sv.Mechanism) -> Contrast:
    """Others' remaining reports and those of the person in question look alike, by assumption."""
    p, above = math.exp(sv.audit(reporter).epsilon), blanket(reporter)
    beta = float(above.mass @ np.maximum(above.first - above.second, 0))
    alpha = beta / (p - 1)
    first = np.array([p * alpha, alpha, 1 - alpha - p * alpha])
    mass = np.array([alpha, alpha, 1 - 2 * alpha])
    if mass[2] < 1e-9:
        first, mass = first[:2], mass[:2]
    return Contrast(mass, first / mass, first[[1, 0, 2][: mass.size]] / mass)


def solved(contrast: Contrast, local: float, people: int) -> float:
    """The ε of a contrast at δ."""
    curve = Curve(
        lambda epsilon: divergence(contrast, people, epsilon).upper,
        lambda epsilon: divergence(contrast, people, epsilon).lower,
        local,
        people,
        contrast.distance() / math.sqrt(people),
    )
    return curve.epsilon(DELTA)


def main() -> None:
    print("| design | ε | people | central ε | at least | clones | clones, closed | variation ratio | s |")
    print("|---|---|---|---|---|---|---|---|---|")
    designs = {"ogpm": lambda e: sv.ogpm(e, loss="l1"), "optimal": sv.optimal, "duchi": sv.duchi}
    for name, design in designs.items():
        for epsilon in (1.0, 2.0, 4.0):
            for people in (10**3, 10**4, 10**5, 10**8):
                reporter = design(epsilon)
                begin = time.process_time()
                result = sv.shuffled(reporter, people, DELTA)
                seconds = time.process_time() - begin
                others = [solved(clones(epsilon), epsilon, people), clones_closed(epsilon, people)]
                others.append(solved(variation_ratio(reporter), epsilon, people))
                numbers = " | ".join(f"{x:.4g}" for x in (result.epsilon, result.lower, *others))
                print(f"| {name} | {epsilon:g} | {people:,} | {numbers} | {seconds:.2f} |", flush=True)


if __name__ == "__main__":
    main()
