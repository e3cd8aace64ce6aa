"""The central ε of shuffled reports beside the published bounds, with the time it takes on one core.

python -m benchmarks.shuffled            # writes benchmarks/results/shuffled.json and the tables of the pages
python -m benchmarks.shuffled elsewhere  # one section again

Clones: Feldman, McMillan and Talwar (FOCS 2021), in closed form (Theorem 3.1) and numerically (Theorem 3.2).
Variation ratio: Wang et al. (2023), by the formulas of its public code, p = q = e^ε, β the total variation.
The published numbers are computed with the same certified sums; theirs is the law, not the arithmetic.
"""

from __future__ import annotations

import json
import math
import os
import sys
import time
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from statistics import NormalDist
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import sottovoce as sv
from benchmarks._tables import replace_table, table
from sottovoce.planning.least_people import largest_local
from sottovoce.shuffling.blanket import blanket
from sottovoce.shuffling.convolution import divergence
from sottovoce.shuffling.input_pair import Contrast
from sottovoce.shuffling.privacy_curve import Curve

RESULTS = Path(__file__).parent / "results" / "shuffled.json"
DOCS = Path(__file__).parents[1] / "docs"
PAGE, BATCH = DOCS / "explanation" / "shuffled.md", DOCS / "howto" / "minimum-batch.md"
DELTA = 1e-6
TAKES = "2 min"


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


CASES = (
    (1.0, 10), (1.0, 1000), (1.0, 10**5), (2.0, 30), (2.0, 100), (2.0, 10**5), (4.0, 1000), (4.0, 10**8),
    (8.0, 10**8),
)  # fmt: skip
DESIGNS: dict[str, Callable[[float], sv.Reporter]] = {
    "ogpm": lambda epsilon: sv.ogpm(epsilon, loss="l1"),
    "optimal": sv.optimal,
    "duchi": sv.duchi,
    "choice of 5": lambda epsilon: sv.choice(epsilon, list("abcde")),
}
THREE = tuple(product((1.5, 2.0, 4.0, 8.0), (10, 30, 60, 100, 200, 400, 1000, 2000, 10**4, 10**6, 10**8)))
MANY = (10, 100, 1000, 10**4, 10**6, 10**8)


def elsewhere() -> dict[str, sv.Reporter]:
    """Reporters without three disjoint windows, by name."""
    reporters: dict[str, sv.Reporter] = {
        f"{name}, ε = {epsilon:g}": DESIGNS[name](epsilon)
        for name, epsilon in product(("ogpm", "optimal", "duchi"), (0.25, 0.5, 1.0))
    }
    reporters |= {
        "optimal, ε = 2": sv.optimal(2.0),
        "sw, ε = 1": sv.sw(1.0),
        "two_scale, ε = 1": sv.two_scale(1.0),
    }
    reporters |= {"choice of 20, ε = 1": sv.choice(1.0, list(range(20))), "polar, ε = 2": sv.polar(2.0, 1.0)}
    for epsilon in (1.0, 2.0, 4.0, 8.0):
        law = sv.laws.truncated_laplace(epsilon)
        reporters[f"truncated Laplace, ε = {epsilon:g}"] = law.tabulate()
    for name, design in (("ogpm", lambda: sv.ogpm(1.0, loss="l1")), ("optimal", lambda: sv.optimal(1.0))):
        for sampled, asked in ((2, 2), (4, 4), (1, 4), (2, 4), (2, 10), (5, 10)):
            questions = {f"q{i}": design() for i in range(asked)}
            survey = sv.Survey(sampled * 1.0, questions, sampled)
            reporters[f"survey, {sampled} of {asked} {name}, ε = 1 each"] = survey
    every = {"a": sv.ogpm(1.0), "b": sv.duchi(1.0), "c": sv.choice(1.0, list("abcd")), "d": sv.optimal(1.0)}
    for sampled in (2, 4):
        reporters[f"survey, {sampled} of 4 different ones, ε = 1 each"] = sv.Survey(
            sampled + 0.1, every, sampled
        )
    return reporters


def gap(reporter: sv.Reporter, people: int) -> dict[str, Any]:
    """Both bounds with the time they take."""
    begin = time.process_time()
    result = sv.shuffled(reporter, people, DELTA)
    seconds = time.process_time() - begin
    return {
        "people": people, "upper": result.epsilon, "lower": result.lower, "seconds": round(seconds, 2),
    }  # fmt: skip


def measured(name: str, epsilon: float, people: int) -> dict[str, Any]:
    """Both bounds, and the published ones."""
    reporter = DESIGNS[name](epsilon)
    published = {
        "clones": solved(clones(epsilon), epsilon, people),
        "clones, closed": clones_closed(epsilon, people),
        "variation ratio": solved(variation_ratio(reporter), epsilon, people),
    }
    finite = {k: v if math.isfinite(v) else None for k, v in published.items()}
    return {"design": name, "epsilon": epsilon, **gap(reporter, people), **finite}


def three_windows(epsilon: float, people: int) -> dict[str, Any]:
    """Both bounds where three disjoint windows fit, and how far apart they are said to be."""
    row = gap(sv.ogpm(epsilon, loss="l1"), people)
    told = (math.expm1(row["upper"]) / (2 * math.expm1(epsilon))) ** 2
    return {"epsilon": epsilon, **row, "ratio": row["upper"] / row["lower"], "told": 1 + told}


def gaussian(central: tuple[float, float]) -> float:
    """The standard deviation of the Gaussian noise on a sum of numbers in [0, 1] that keeps (ε, δ)."""
    epsilon, delta = central
    cdf = NormalDist().cdf
    low, high = 1e-3, 1e6
    while high > low * (1 + 1e-9):
        s = math.sqrt(low * high)
        kept = cdf(0.5 / s - epsilon * s) - math.exp(epsilon) * cdf(-0.5 / s - epsilon * s) <= delta
        low, high = (low, s) if kept else (s, high)
    return high


def room(central: tuple[float, float], people: int) -> dict[str, Any]:
    """Designs with the largest local ε that keeps a guarantee, and noise on the exact sum."""
    designs: dict[str, Callable[[float], Any]] = {"ptt": sv.ptt, "optimal": sv.optimal, "duchi": sv.duchi}
    variance = {
        name: design(largest_local(design, central, people)).worst_variance()
        for name, design in designs.items()
    }
    over = math.sqrt(min(variance.values()) * people) / gaussian(central)
    return {"central": central, "people": people, "variance": variance, "over gaussian": over}


def needed(epsilon: float, central: tuple[float, float]) -> int:
    """The fewest honest people, to 2 %, whose counts of OGPM keep a guarantee."""
    reporter, low, high = sv.ogpm(epsilon), 10, 10**8
    while high > 1.02 * low:
        middle = round(math.sqrt(low * high))
        kept = sv.shuffled(reporter, middle, None).delta(central[0]) <= central[1]
        low, high = (low, middle) if kept else (middle, high)
    return high


def plans() -> list[dict[str, Any]]:
    """The time of a plan for readers of the counts, with an empty cache."""
    rows = []
    for question, options in (
        ("mean", {}),
        ("quantile", {"p": 0.5}),
        ("distribution", {}),
        ("probability", {"between": (6, 9)}),
    ):
        with TemporaryDirectory() as folder:
            os.environ["SOTTOVOCE_CACHE"] = folder
            begin = time.process_time()
            plan = sv.plan(question, people=10**5, domain=(0, 24), central=(0.1, 1e-8), **options)  # type: ignore[arg-type]
            rows.append(
                {
                    "question": question,
                    "seconds": round(time.process_time() - begin, 2),
                    "best": plan.best.name,
                }
            )
    return rows


SECTIONS: dict[str, Callable[[], Any]] = {
    "bounds": lambda: [measured(name, *case) for name, case in product(DESIGNS, CASES)],
    "three windows": lambda: [three_windows(*case) for case in THREE],
    "elsewhere": lambda: [
        {"design": name, **gap(reporter, people)} for name, reporter in elsewhere().items() for people in MANY
    ],
    "room": lambda: [
        room(*case) for case in (((0.1, 1e-8), 10**5), ((0.03, 1e-8), 10**4), ((1.0, 1e-6), 10**3))
    ],
    "minimum batch": lambda: {f"{epsilon:g}": needed(epsilon, (0.1, 1e-6)) for epsilon in (1.0, 2.0, 4.0)},
    "plans": plans,
}


def main(sections: Sequence[str] = ()) -> None:
    results = json.loads(RESULTS.read_text()) if sections else {}
    results |= {name: SECTIONS[name]() for name in sections or SECTIONS}
    RESULTS.write_text(json.dumps(results, indent=1) + "\n")
    write(results)


def refuted(row: dict[str, Any]) -> bool:
    """True if the variation ratio lies below what is certain."""
    return bool(row["variation ratio"] < row["lower"])


def write(results: dict[str, Any]) -> None:
    """The tables of the pages, and what must hold."""
    rows = results["bounds"]
    names = ("upper", "lower", "clones", "clones, closed", "variation ratio")
    lines = [
        [row["design"], f"{row['epsilon']:g}", f"{row['people']:,}"]
        + ["—" if row[name] is None else f"{row[name]:.4g}" for name in names[:-1]]
        + [("({:.4g})" if refuted(row) else "{:.4g}").format(row["variation ratio"])]
        + [f"{row['seconds']:.2f}"]
        for row in rows
    ]
    head = ("design", "ε", "people", "central ε", "at least", "clones", "closed form", "variation ratio", "s")
    replace_table(PAGE, "shuffled", table(head, lines))

    gaps = {(row["epsilon"], row["people"]): row["ratio"] for row in results["three windows"]}
    people = sorted({n for _, n in gaps})
    lines = [[f"{e:g}", *(f"{gaps[e, n]:.4f}" for n in people)] for e in sorted({e for e, _ in gaps})]
    replace_table(PAGE, "three windows", table(("ε", *(f"{n:,}" for n in people)), lines))

    ratios = {(row["design"], row["people"]): row["upper"] / row["lower"] for row in results["elsewhere"]}
    lines = [
        [name, *(f"{ratios[name, n]:.3f}" for n in MANY)]
        for name in dict.fromkeys(name for name, _ in ratios)
    ]
    replace_table(PAGE, "elsewhere", table(("reporter", *(f"{n:,}" for n in MANY)), lines))

    lines = [
        ["({:g}, {:g})".format(*row["central"]), f"{row['people']:,}"]
        + [f"{row['variance'][name]:.4g}" for name in ("ptt", "optimal", "duchi")]
        + [f"{row['over gaussian']:.2f}"]
        for row in results["room"]
    ]
    head = ("guarantee", "people", "ptt", "optimal", "duchi", "error over the Gaussian's")
    replace_table(PAGE, "room", table(head, lines))
    lines = [[f"ε = {e} per report", f"{n:,}"] for e, n in results["minimum batch"].items()]
    replace_table(BATCH, "batch", table(("", "honest people for (0.1, 10^−6)"), lines))

    every = [*rows, *results["three windows"], *results["elsewhere"]]
    print("above clones:", [row for row in rows if row["upper"] > 1.0001 * row["clones"]])
    above = [row for row in rows if row["upper"] > 1.0001 * row["variation ratio"]]
    print("above the variation ratio:", [(row["design"], row["epsilon"], row["people"]) for row in above])
    bad = {(row["design"], row["epsilon"]) for row in rows if refuted(row)}
    print(
        "though not refuted for that reporter:", [r for r in above if (r["design"], r["epsilon"]) not in bad]
    )
    print("seconds at most", max(row["seconds"] for row in every))
    print("three windows at most", max(gaps.values()))
    print("farther apart than told:", [r for r in results["three windows"] if r["ratio"] > r["told"] + 6e-4])
    print("elsewhere above 1.39:", {key: round(ratio, 3) for key, ratio in ratios.items() if ratio > 1.39})
    print("plans", results["plans"])


if __name__ == "__main__":
    main(sys.argv[1:])
