"""The central ε of shuffled reports beside the published bounds, with the time it takes on one core.

python -m benchmarks.shuffled            # writes benchmarks/results/shuffled.json and the table of the page

Clones: Feldman, McMillan and Talwar (FOCS 2021), in closed form (Theorem 3.1) and numerically (Theorem 3.2).
Variation ratio: Wang et al. (2023), by the formulas of its public code, p = q = e^ε, β the total variation.
The published numbers are computed with the same certified sums; theirs is the law, not the arithmetic.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import sottovoce as sv
from benchmarks._tables import replace_table, table
from sottovoce.auditing.blanket import blanket
from sottovoce.auditing.calibration import largest_local
from sottovoce.auditing.contrast import Contrast
from sottovoce.auditing.curve import Curve
from sottovoce.auditing.sums import divergence

RESULTS = Path(__file__).parent / "results" / "shuffled.json"
PAGE = Path(__file__).parents[1] / "docs" / "explanation" / "shuffled.md"
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


def variation_ratio(reporter: sv.Reporter) -> Contrast:
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


CASES = ((1.0, 1000), (1.0, 10**5), (2.0, 100), (2.0, 10**5), (4.0, 1000), (8.0, 10**8))
DESIGNS: dict[str, Callable[[float], sv.Reporter]] = {
    "ogpm": lambda epsilon: sv.ogpm(epsilon, loss="l1"),
    "optimal": sv.optimal,
    "duchi": sv.duchi,
    "choice of 5": lambda epsilon: sv.choice(epsilon, list("abcde")),
}


def measured(name: str, epsilon: float, people: int) -> dict[str, Any]:
    """Both bounds with the time they take, and the published ones."""
    reporter = DESIGNS[name](epsilon)
    begin = time.process_time()
    result = sv.shuffled(reporter, people, DELTA)
    seconds = time.process_time() - begin
    published = {
        "clones": solved(clones(epsilon), epsilon, people),
        "clones, closed": clones_closed(epsilon, people),
        "variation ratio": solved(variation_ratio(reporter), epsilon, people),
    }
    return {
        "design": name, "epsilon": epsilon, "people": people, "upper": result.epsilon, "lower": result.lower,
        "seconds": round(seconds, 2), **{k: v if math.isfinite(v) else None for k, v in published.items()},
    }  # fmt: skip


def windows(central: tuple[float, float], people: int) -> dict[str, Any]:
    """The least variance along the windows with an even background, at a central guarantee."""
    best: dict[str, float] = {}
    for q in (None, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95):
        local = largest_local(lambda epsilon, q=q: sv.ptt(epsilon, q=q), central, people)  # type: ignore[misc]
        best[str(q)] = sv.ptt(local, q=q).worst_variance()
    return {"central": central, "people": people, "variance": best, "gain": best["None"] / min(best.values())}


def main() -> None:
    rows = [measured(name, *case) for name, case in product(DESIGNS, CASES)]
    room = [windows(*case) for case in (((0.1, 1e-8), 10**5), ((0.03, 1e-8), 10**4), ((1.0, 1e-6), 10**3))]
    RESULTS.write_text(json.dumps({"bounds": rows, "windows": room}, indent=1) + "\n")
    names = ("upper", "lower", "clones", "clones, closed", "variation ratio")
    lines = [
        [row["design"], f"{row['epsilon']:g}", f"{row['people']:,}"]
        + ["—" if row[name] is None else f"{row[name]:.4g}" for name in names]
        + [f"{row['seconds']:.2f}"]
        for row in rows
    ]
    head = ("design", "ε", "people", "central ε", "at least", "clones", "closed form", "variation ratio", "s")
    replace_table(PAGE, "shuffled", table(head, lines))
    print("upper/lower at most", max(row["upper"] / row["lower"] for row in rows))
    print("above clones:", [row for row in rows if row["upper"] > 1.0001 * row["clones"]])
    print("seconds at most", max(row["seconds"] for row in rows))
    print("gain along the windows", [case["gain"] for case in room])


if __name__ == "__main__":
    main()
