"""Two rounds against one: when a first small round pays.

    python benchmarks/rounds.py            # writes benchmarks/results/rounds.json and prints the tables
    python benchmarks/rounds.py --table    # prints those of the saved figures

A tenth of the people answer first; the others get the design for what the first reports show
(`sv.two_rounds`). Figures are the variance of the estimated population mean over that of one round with the
worst-case design, everyone included. Given the second mechanism every variance is exact; what varies is the
first round, so the figures are means over first rounds with their standard errors. "known": the design for
the true distribution and nobody in a first round, the most that a first round can lead to.
"""

from __future__ import annotations

import argparse
import json
import sys
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import sottovoce as sv

TAKES = "1 min"

RESULTS = Path(__file__).parent / "results" / "rounds.json"
EPSILONS, PEOPLE, FIRST_ROUNDS = (0.5, 1.0, 2.0, 4.0), (1_000, 20_000), 3
X = (np.arange(2000) + 0.5) / 2000


def truths() -> dict[str, np.ndarray]:
    from scipy.stats import beta, norm

    made = {
        "narrow peak (sd 0.05 of the width)": norm(0.5, 0.05).pdf(X),
        "Beta(5, 2)": beta(5, 2).pdf(X),
        "uniform": np.ones(len(X)),
    }
    return {name: p / p.sum() for name, p in made.items()}


def variance(m: sv.Mechanism, p: np.ndarray) -> float:
    """Of one report of a person drawn from the population: noise and spread."""
    return float(p @ m.variance(X)) + float(p @ (X - p @ X) ** 2)


def two_rounds(epsilon: float, p: np.ndarray, people: int, seed: int) -> float:
    """The variance of both rounds together over that of one, for one first round."""
    plan, rng, asked = sv.two_rounds(epsilon), np.random.default_rng(seed), people // 10
    first = sv.Tally(plan.first, plan.first.report(rng.choice(X, asked, p=p), rng=rng))
    second = plan.second(first)
    share = plan.shares(first, second, people - asked)
    each = np.array([variance(plan.first, p) / asked, variance(second, p) / (people - asked)])
    return float(share**2 @ each / (variance(plan.first, p) / people))


def figures(epsilon: float, name: str, p: np.ndarray) -> dict[str, Any]:
    found: dict[str, Any] = {"epsilon": epsilon, "truth": name}
    worst_case = variance(sv.optimal(epsilon), p)
    found["known"] = variance(sv.optimal(epsilon, prior=(X, p)), p) / worst_case
    for people in PEOPLE:
        ratios = [two_rounds(epsilon, p, people, seed) for seed in range(FIRST_ROUNDS)]
        found[str(people)] = [float(np.mean(ratios)), float(np.std(ratios, ddof=1) / len(ratios) ** 0.5)]
    return found


def table(rows: list[dict[str, Any]]) -> str:
    lines = ["| values | people | " + " | ".join(f"ε = {e:g}" for e in EPSILONS) + " |", "|" + "---|" * 6]
    for name in dict.fromkeys(r["truth"] for r in rows):
        mine = [r for r in rows if r["truth"] == name]
        for people in PEOPLE:
            cells = [f"{r[str(people)][0]:.2f}" for r in mine]
            lines.append(f"| {name} | {people:,} | {' | '.join(cells)} |")
        lines.append(f"| | known | {' | '.join(format(r['known'], '.2f') for r in mine)} |")
    errors = [r[str(people)][1] for r in rows for people in PEOPLE]
    return "\n".join([*lines, "", f"Standard errors are at most {max(errors):.3f}."])


def main() -> None:
    parser = argparse.ArgumentParser(description="Variance of two rounds over that of one.")
    parser.add_argument("--table", action="store_true", help="Print the tables of the saved figures.")
    if parser.parse_args().table:
        rows = json.loads(RESULTS.read_text())
    else:
        rows = []
        for (name, p), epsilon in product(truths().items(), EPSILONS):
            print(f"{name}, epsilon = {epsilon:g}", file=sys.stderr, flush=True)
            rows.append(figures(epsilon, name, p))
        RESULTS.write_text("[\n" + ",\n".join(json.dumps(r) for r in rows) + "\n]\n")
    print(table(rows))


if __name__ == "__main__":
    main()
