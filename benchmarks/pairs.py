"""Pairs and groups: errors, coverage, and what splitting ε would cost.

    python -m benchmarks.pairs [error|coverage|groups]    # measures, and keeps what is measured
    python -m benchmarks.pairs tables                     # puts the saved figures into the page

Every part keeps its figures in results/pairs.json.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import sottovoce as sv
from benchmarks._tables import replace_table, table
from sottovoce.surveys.within import blocks_variance, signs_variance

TAKES = "12 min"
RESULTS = Path(__file__).parent / "results" / "pairs.json"
PAGE = Path(__file__).parents[1] / "docs" / "explanation" / "pairs.md"
PEOPLE = 100_000
WIDE = ((-4.0, 4.0), (-4.0, 4.0))


def drawn(truth: str, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Two numbers of each person, on ± 4."""
    a, b = rng.normal(size=(2, n))
    if truth == "even":
        x, y = rng.uniform(-4, 4, (2, n))
    elif truth == "independent":
        x, y = a, b
    elif truth == "normal":
        x, y = a, 0.5 * a + 0.75**0.5 * b
    elif truth == "skewed":
        x, y = np.exp(a / 2) - 3, np.exp((a + b) / 3) - 3
    else:  # heaped: whole and half numbers, as people say them
        x, y = np.round(2 * a) / 2, np.round(a + b)
    return np.clip(x, -4, 4), np.clip(y, -4, 4)


def one_round(epsilon: float, x: Any, y: Any, seed: int) -> sv.Tally:
    p = sv.pair(epsilon, WIDE)
    return sv.Tally(p, p.report({"x": x, "y": y}, rng=seed))


def two_rounds(epsilon: float, x: Any, y: Any, everybody: Any, seed: int) -> float:
    """How far the estimate is from the correlation of everybody's values as they are clipped."""
    plan, first = sv.pair_rounds(epsilon, WIDE), int(0.3 * len(x))
    tally = sv.Tally(plan.first, plan.first.report({"x": x[:first], "y": y[:first]}, rng=seed))
    second = plan.second(tally)
    values = {"x": x[first:], "y": y[first:]}
    answer = plan.estimate(sv.Tally(second, second.report(values, clip=True, rng=seed + 1)))
    ends = [(one.low, one.high) for one in second.domain.values()]  # type: ignore[union-attr]
    cut = [np.clip(all_of, *each) for all_of, each in zip(everybody, ends, strict=True)]
    return answer.value - float(np.corrcoef(*cut)[0, 1])


def split(epsilon: float, x: Any, y: Any, seed: int) -> float:
    """Both numbers with half of ε each; the true spreads are given to it for nothing."""
    m = sv.optimal(epsilon / 2, WIDE[0])
    noisy = [m.perturb(values, rng=seed + i) for i, values in enumerate((x, y))]
    return float(np.cov(*noisy)[0, 1] / (x.std() * y.std()))


def error(saved: dict[str, Any], runs: int = 200) -> list[dict[str, Any]]:
    """Root mean square errors of the correlation of 100,000 people, beside those that the plan predicts."""
    rows = []
    for truth, epsilon in (("even", 1.0), ("normal", 1.0), ("even", 2.0), ("normal", 2.0), ("normal", 4.0)):
        errors: dict[str, list[float]] = {"one round": [], "two rounds": [], "split": []}
        everybody = drawn(truth, 1_000_000, np.random.default_rng(3))
        here = float(np.corrcoef(*everybody)[0, 1])
        for seed in range(runs):
            x, y = drawn(truth, PEOPLE, np.random.default_rng([seed, 7]))
            errors["one round"].append(sv.correlation(one_round(epsilon, x, y, 10 * seed)).value - here)
            errors["two rounds"].append(two_rounds(epsilon, x, y, everybody, 10 * seed))
            errors["split"].append(split(epsilon, x, y, 10 * seed) - here)
        rms = {name: float(np.sqrt(np.mean(np.square(each)))) for name, each in errors.items()}
        plan = sv.plan("pair", epsilon, PEOPLE, WIDE, sample=np.stack((x, y), axis=1))
        planned = {f"{one.name}, planned": one.error for one in plan.options}
        rows.append({"truth": truth, "epsilon": epsilon, "runs": runs, **rms, **planned})
        print(rows[-1], file=sys.stderr, flush=True)
    return rows


def coverage(saved: dict[str, Any], runs: int = 200, seconds: float = 300.0) -> list[dict[str, Any]]:
    """How often 95 % intervals of the correlation and the slope hold; what is known is kept."""
    rows, until = [], time.monotonic() + seconds
    known = {(r["truth"], r["epsilon"], r["n"]): r for r in saved.get("coverage", [])}
    for truth in ("independent", "normal", "skewed", "heaped"):
        x, y = drawn(truth, 4_000_000, np.random.default_rng(3))
        ratio, line = float(np.corrcoef(x, y)[0, 1]), float(np.cov(x, y)[0, 1] / x.var())
        for epsilon, n in ((1.0, 100_000), (2.0, 3_000), (2.0, 30_000)):
            row = known.get((truth, epsilon, n))
            if row is not None and (row["runs"] >= runs or time.monotonic() > until):
                rows.append(row)
                continue
            held = np.zeros(2)
            for seed in range(runs):
                values = drawn(truth, n, np.random.default_rng([seed, n]))
                tally = one_round(epsilon, *values, seed)
                for i, (answer, right) in enumerate(
                    ((sv.correlation(tally), ratio), (sv.slope(tally), line))
                ):
                    held[i] += answer.low <= right <= answer.high
            held /= runs
            figures = {"correlation": float(held[0]), "slope": float(held[1])}
            rows.append({"truth": truth, "epsilon": epsilon, "n": n, "runs": runs, **figures})
            print(rows[-1], file=sys.stderr, flush=True)
    return rows


def formula(epsilon: float, k: int) -> float:
    """What the design costs that `sv.within` takes."""
    return min(signs_variance(epsilon, k), *(blocks_variance(epsilon, k, levels) for levels in (2, 3, 5, 9)))


def groups(saved: dict[str, Any], runs: int = 400) -> list[dict[str, Any]]:
    """n times the variance of the mean within one of k equal groups, on [−1, 1], and its coverage."""
    rows = []
    for epsilon, k in ((1.0, 5), (2.0, 5), (4.0, 5), (2.0, 20)):
        w, n, held, shares, errors = sv.within(epsilon, range(k), (-1, 1)), PEOPLE, [], [], []
        for seed in range(runs):
            rng = np.random.default_rng([seed, k])
            values = {"group": rng.integers(0, k, n), "number": rng.uniform(-1, 1, n)}
            for group in sv.groups(sv.Tally(w, w.report(values, rng=seed))).values():
                errors.append(group.mean.value)
                held.append(group.mean.low <= 0 <= group.mean.high)
                shares.append(group.share.low <= 1 / k <= group.share.high)
        public = k * (4 * sv.optimal(epsilon).worst_variance() + 1 / 3)
        rows.append(
            {
                "epsilon": epsilon, "groups": k, "n": n, "public": public,
                "measured": n * float(np.var(errors)), "formula": formula(epsilon, k),
                "signs": len(w.items) == 2,
                "mean": float(np.mean(held)), "share": float(np.mean(shares)),
            }
        )  # fmt: skip
        print(rows[-1], file=sys.stderr, flush=True)
    return rows


def tables(saved: dict[str, Any]) -> None:
    """The page's tables from what is kept."""
    rows = [
        (
            r["truth"], f"{r['epsilon']:g}",
            *(f"{r[name]:.4f}" for way in ("one round", "two rounds") for name in (f"{way}, planned", way)),
            f"{r['split']:.3f}",
            f"{(r['split'] / min(r['one round'], r['two rounds'])) ** 2:.0f}",
        )
        for r in saved.get("error", [])
    ]  # fmt: skip
    ways = ("one round, planned", "one round", "two rounds, planned", "two rounds")
    heads = ("truth", "ε", *ways, "ε split", "people that splitting takes, times")
    replace_table(PAGE, "error", table(heads, rows))
    rows = [
        (
            r["truth"],
            f"{r['epsilon']:g}",
            f"{r['n']:,}",
            str(r["runs"]),
            f"{100 * r['correlation']:.1f} %",
            f"{100 * r['slope']:.1f} %",
        )
        for r in saved.get("coverage", [])
    ]
    replace_table(PAGE, "coverage", table(("truth", "ε", "people", "runs", "correlation", "slope"), rows))
    rows = [
        (
            f"{r['groups']}, ε = {r['epsilon']:g}", "signs" if r["signs"] else "one choice",
            f"{r['public']:.1f}", f"{r['formula']:.1f}", f"{r['formula'] / r['public']:.2f}",
            f"{r['measured']:.1f}", f"{r['measured'] / r['public']:.2f}",
            f"{100 * r['mean']:.1f} %", f"{100 * r['share']:.1f} %",
        )
        for r in saved.get("groups", [])
    ]  # fmt: skip
    private = ("private", "ratio", "simulated", "ratio")
    heads = ("groups", "design ", "public", *private, "mean held", "share held")
    replace_table(PAGE, "groups", table(heads, rows))


def _saved() -> dict[str, Any]:
    return json.loads(RESULTS.read_text()) if RESULTS.exists() else {}


def main() -> None:
    """Measure one part, or all of them."""
    saved = _saved()
    parts = {"error": error, "coverage": coverage, "groups": groups}
    for name in sys.argv[1:] or [*parts, "tables"]:
        if name == "tables":
            tables(saved)
            continue
        figures = parts[name](saved)
        saved = {**_saved(), name: figures}
        RESULTS.write_text(json.dumps(saved, indent=1) + "\n")


if __name__ == "__main__":
    main()
