"""Means of many attributes: `vector` against PM with Wang et al.'s k, and Duchi's scheme for vectors.

    python benchmarks/attributes.py                  # exact errors, d = 1 … 64, as the table of the docs
    python benchmarks/attributes.py --simulate       # and every figure against a simulation
    python benchmarks/attributes.py --quick

Ten thousand people with values on [−1, 1]; the error is that of the estimated mean of these people. All
variances are exact: of the shipped mechanisms at every value, and of the lot that decides who reports what.

* `wang`: each person reports k = max(1, min(d, ⌊ε/2.5⌋)) attributes by PM with ε/k, times d/k (ICDE 2019).
  `wang, counted` is not published: the same with the mean of those who were asked, as `survey` has it.
* `duchi`: one of 2^d sign vectors times B, from the half space that agrees with the person's rounded vector
  with probability e^ε/(e^ε + 1) (Duchi, Jordan, Wainwright 2018). Published, vectors on the border belong
  to both half spaces; here half of them to each, which is better for even d.

Truths: `worst` is the worst for each method on its own; `even` is spread evenly; `betas` has another beta
distribution for every attribute (both shapes between 0.6 and 4), averaged over them.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import binom

import sottovoce as sv
from sottovoce.reporters.composites.survey import Survey

TAKES = "30 s"

Rows = np.ndarray
N = 10_000
RESULTS = Path(__file__).parent / "results" / "attributes.json"
X = np.linspace(-1, 1, 4001)
EPSILONS, WIDTHS = (0.5, 1.0, 2.0, 4.0, 8.0), (1, 2, 4, 8, 16, 32, 64)
METHODS = ("default", "uniform", "wang", "duchi")


# -- truths ---------------------------------------------------------------------------------------------


def shapes(d: int) -> Rows:
    """The two shapes of each attribute's beta distribution."""
    return np.random.default_rng(d).uniform(0.6, 4.0, size=(2, d))


def people(truth: str, n: int, d: int, rng: np.random.Generator) -> Rows:
    one, two = shapes(d) if truth == "betas" else np.ones((2, d))
    return 2 * rng.beta(one, two, size=(n, d)) - 1


def spreads(truth: str, d: int) -> list[Rows]:
    """For each attribute the chances of the points X (or of one attribute, if all are alike)."""
    from scipy.stats import beta

    if truth == "even":
        return [np.full(len(X), 1 / len(X))]
    edges = np.concatenate(([-1], (X[1:] + X[:-1]) / 2, [1]))
    return [np.diff(beta(a, b).cdf((edges + 1) / 2)) for a, b in shapes(d).T]


# -- exact variances ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Law:
    """Variance of a report at every value, the share of people asked, and how the estimate counts them.

    `counted`: the mean of those who were asked. Otherwise their sum times 1/(n·share), as published.
    """

    variance: Rows
    share: float
    counted: bool

    def error(self, spread: Rows | None) -> float:
        """Variance of the estimated mean of N people whose values are spread so; None: the worst truth."""
        if not self.counted:
            per_value = (self.variance / self.share + (1 / self.share - 1) * X**2) / N
            return float(per_value.max() if spread is None else spread @ per_value)
        # Those asked are a sample without replacement, of a size that varies.
        size = np.arange(1, N + 1)
        chance = binom.pmf(size, N, self.share)
        inverse = float((chance / size).sum() / chance.sum())
        luck = (inverse - 1 / N) * N / (N - 1)
        if spread is None:  # an even pair around the middle
            return float((self.variance * inverse + luck * X**2).max())
        return inverse * float(spread @ self.variance) + luck * float(spread @ (X - spread @ X) ** 2)


def vector_law(m: Survey) -> Law:
    part = m.items["0"]
    assert isinstance(part, sv.Mechanism)
    return Law(np.asarray(part.variance(X)), float(m.share), True)


def wang_k(epsilon: float, d: int) -> int:
    return max(1, min(d, math.floor(epsilon / 2.5)))


def wang_law(epsilon: float, d: int, counted: bool = False) -> Law:
    k = wang_k(epsilon, d)
    return Law(np.asarray(sv.pm(epsilon / k, (-1, 1)).variance(X)), k / d, counted)


def duchi_law(epsilon: float, d: int) -> Law:
    return Law(duchi_scale(epsilon, d) ** 2 - X**2, 1.0, True)


def duchi_scale(epsilon: float, d: int) -> float:
    """B: the reciprocal of the mean agreement of a coordinate with a sign vector of the half space."""
    e = math.exp(epsilon)
    # With an even number of coordinates, ties count half for either side.
    share = math.comb(d - 1, (d - 1) // 2 if d % 2 else d // 2) / 2 ** (d - 1)
    return (e + 1) / (e - 1) / share


# -- simulation -----------------------------------------------------------------------------------------


def vector_means(m: Survey, x: Rows, rng: np.random.Generator) -> Rows:
    return np.array([np.nanmean(column) for column in m.perturb(x, rng=rng).values()])


def wang_means(epsilon: float, x: Rows, rng: np.random.Generator) -> Rows:
    n, d = x.shape
    k = wang_k(epsilon, d)
    m = sv.pm(epsilon / k, (-1, 1))
    lot = np.argsort(rng.random((n, d)), axis=1)[:, :k]
    noisy = m.perturb(np.take_along_axis(x, lot, axis=1), rng=rng)
    total = np.zeros(d)
    np.add.at(total, lot, noisy)
    return total * d / k / n


def duchi_means(epsilon: float, x: Rows, rng: np.random.Generator) -> Rows:
    n, d = x.shape
    v = np.where(rng.random((n, d)) < (1 + x) / 2, 1, -1)
    side = np.where(rng.random(n) < math.exp(epsilon) / (math.exp(epsilon) + 1), 1, -1)
    t = rng.choice([-1, 1], size=(n, d))
    agree = (t * v).sum(axis=1)
    tie = rng.choice([-1, 1], size=n)
    flip = np.where(agree == 0, tie, np.sign(agree)) * side
    return duchi_scale(epsilon, d) * (t * flip[:, None]).mean(axis=0)


def simulated(means: Callable[[Rows], Rows], truth: str, d: int, runs: int, seed: int) -> tuple[float, float]:
    """Root mean squared error over attributes and runs, and its standard error."""
    rng = np.random.default_rng(seed)
    x = people(truth, N, d, rng)
    squares = np.array([np.mean((means(x) - x.mean(axis=0)) ** 2) for _ in range(runs)])
    root = math.sqrt(squares.mean())
    return root, float(squares.std(ddof=1) / math.sqrt(runs) / 2 / root)


# -- the table ------------------------------------------------------------------------------------------


def row(epsilon: float, d: int, runs: int) -> dict[str, Any]:
    """All figures of one ε and d: exact, and simulated on the betas if `runs` is positive."""
    default = sv.survey(epsilon, [(-1, 1)] * d)
    uniform = sv.survey(epsilon, [(-1, 1)] * d, prior="uniform")
    laws = {
        "default": vector_law(default),
        "uniform": vector_law(uniform),
        "wang": wang_law(epsilon, d),
        "wang, counted": wang_law(epsilon, d, counted=True),
        "duchi": duchi_law(epsilon, d),
    }
    found: dict[str, Any] = {"epsilon": epsilon, "d": d}
    found["k"] = {"default": default.sampled, "uniform": uniform.sampled, "wang": wang_k(epsilon, d)}
    found["worst"] = {name: math.sqrt(law.error(None)) for name, law in laws.items()}
    for truth in ("even", "betas"):
        chances = spreads(truth, d)
        found[truth] = {
            name: math.sqrt(float(np.mean([law.error(c) for c in chances]))) for name, law in laws.items()
        }
    if runs:
        rng = np.random.default_rng(1000 * d + int(10 * epsilon))
        ways: dict[str, Callable[[Rows], Rows]] = {
            "default": lambda x: vector_means(default, x, rng),
            "uniform": lambda x: vector_means(uniform, x, rng),
            "wang": lambda x: wang_means(epsilon, x, rng),
            "duchi": lambda x: duchi_means(epsilon, x, rng),
        }
        found["runs"] = runs
        found["simulated"] = {name: simulated(way, "betas", d, runs, seed=d) for name, way in ways.items()}
    return found


def table(rows: list[dict[str, Any]]) -> str:
    """Root mean squared errors in thousandths, as Markdown; the least of each group in bold."""
    lines = [
        "| ε | d | k | worst truth: default | Wang | Duchi "
        "| k | even spread: uniform | default | Wang | Duchi | betas: uniform | default | Wang | Duchi |",
        "|" + "---|" * 15,
    ]
    for r in rows:
        groups = [
            [r["worst"][name] for name in ("default", "wang", "duchi")],
            *(
                [r[truth][name] for name in ("uniform", "default", "wang", "duchi")]
                for truth in ("even", "betas")
            ),
        ]
        cells = [[f"**{shown(v)}**" if v < 1.0005 * min(g) else shown(v) for v in g] for g in groups]
        parts = [f"{r['epsilon']:g}", str(r["d"]), str(r["k"]["default"]), *cells[0], str(r["k"]["uniform"])]
        lines.append("| " + " | ".join([*parts, *cells[1], *cells[2]]) + " |")
    return "\n".join(lines)


def shown(error: float) -> str:
    return f"{1000 * error:.3g}"


def agreement(rows: list[dict[str, Any]]) -> str:
    """How far the simulations are from the exact figures, in standard errors."""
    scores = {
        name: [(r["simulated"][name][0] - r["betas"][name]) / r["simulated"][name][1] for r in rows]
        for name in METHODS
    }
    worst = ", ".join(f"{name} {max(np.abs(z)):.1f}" for name, z in scores.items())
    sizes = [r["simulated"][name][1] / r["simulated"][name][0] for r in rows for name in METHODS]
    together = math.sqrt(float(np.mean([z**2 for each in scores.values() for z in each])))
    return (
        f"{4 * len(rows)} simulated figures, with standard errors of {min(sizes):.1%} to {max(sizes):.1%}: "
        f"largest distance from the exact ones, in standard errors: {worst}; root mean square {together:.2f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Root mean squared error of the mean of d attributes.")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--simulate", action="store_true", help="Check every figure, and save all of them.")
    parser.add_argument("--table", action="store_true", help="Print the table of the saved figures.")
    given = parser.parse_args()
    if given.table:
        rows = json.loads(RESULTS.read_text())
    else:
        epsilons, widths = ((1.0, 4.0), (1, 4, 16)) if given.quick else (EPSILONS, WIDTHS)
        runs = 1600 if given.simulate else 0
        rows = []
        for epsilon, d in product(epsilons, widths):
            print(f"epsilon = {epsilon:g}, d = {d}", file=sys.stderr, flush=True)
            rows.append(row(epsilon, d, runs and max(50, runs // d)))
        if given.simulate and not given.quick:
            RESULTS.write_text("[\n" + ",\n".join(json.dumps(r) for r in rows) + "\n]\n")
    print(f"n = {N}; root mean squared error of a mean on [-1, 1], in thousandths\n")
    print(table(rows))
    if "simulated" in rows[0]:
        print(f"\n{agreement(rows)}")


if __name__ == "__main__":
    main()
