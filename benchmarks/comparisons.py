"""Comparisons: coverage, looks, bands, power and time.

    python -m benchmarks comparisons                  # all parts, into benchmarks/results/comparisons.json
    python benchmarks/comparisons.py coverage band    # only these parts; --table writes the page

Counts are drawn as multinomials from the exact law of the reports of a truth, so that a hundred thousand
people cost as much as a hundred. A coverage fails below what an interval of exactly 95 % stays above in so
many runs, with a false alarm of 1e-6. Skewed is Beta(1, 8), two peaks are 40 % Beta(20, 60) and 60 %
Beta(60, 20).
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import beta, binom, norm

import sottovoce as sv
from benchmarks._tables import replace_table, table
from sottovoce.comparing.difference import _turned
from sottovoce.comparing.quantity import Quantity
from sottovoce.estimates.distribution import cumulative_band
from sottovoce.estimates.limits.every_n import _Player
from sottovoce.estimates.mean import decoded_part

TAKES = "25 min"
HERE = Path(__file__).parent
RESULTS, PAGE = (
    HERE / "results" / "comparisons.json",
    HERE.parent / "docs" / "measurements" / "comparisons.md",
)
X = (np.arange(2000) + 0.5) / 2000
GRID = np.arange(11) / 10
MEAN = Quantity.of("mean")
SHARE = [1.0]  # of the runs: less for a quick look
Truth = tuple[np.ndarray, np.ndarray]


def of_density(density: np.ndarray) -> Truth:
    return X, density / density.sum()


TRUTHS: dict[str, Truth] = {
    "skewed": of_density(beta(1, 8).pdf(X)),
    "two peaks": of_density(0.4 * beta(20, 60).pdf(X) + 0.6 * beta(60, 20).pdf(X)),
    "two groups": (np.array([0.3, 0.8]), np.array([0.5, 0.5])),
    "heaped": (GRID, beta(2, 3).pdf(0.05 + 0.9 * GRID) / beta(2, 3).pdf(0.05 + 0.9 * GRID).sum()),
    "spiky": (
        np.append(X, [0.5, 0.123]),
        np.append(0.6 * beta(2, 2).pdf(X) / beta(2, 2).pdf(X).sum(), [0.3, 0.1]),
    ),
}


@cache
def mechanism(name: str, epsilon: float, circle: bool = False) -> Any:
    if name == "design":
        return sv.design("mean", epsilon=epsilon, domain=(0, 1))
    return getattr(sv, name)(epsilon, sv.Circle(1.0) if circle else (0, 1))


@cache
def law(name: str, epsilon: float, truth: str, circle: bool = False) -> np.ndarray:
    x, p = TRUTHS[truth]
    reports = mechanism(name, epsilon, circle).operator(x).mix(p)
    return np.asarray(reports / reports.sum())


def draw(
    rng: np.random.Generator, name: str, epsilon: float, truth: str, n: int, circle: bool = False
) -> sv.Tally:
    counts = rng.multinomial(n, law(name, epsilon, truth, circle))
    return sv.Tally.from_counts(mechanism(name, epsilon, circle), counts)


def true_value(quantity: Quantity, truth: str) -> float:
    question, (x, p) = quantity.question, TRUTHS[truth]
    mean = float(x @ p)
    if question.name == "mean":
        return mean
    if question.name == "variance":
        return float((x - mean) ** 2 @ p)
    if question.between is not None:
        return float(p[(x >= question.between[0]) & (x <= question.between[1])].sum())
    if question.name == "direction":
        return float(np.angle(np.exp(2j * np.pi * x) @ p) / (2 * np.pi)) % 1
    order = np.argsort(x)
    return float(x[order][np.searchsorted(np.cumsum(p[order]), question.p or 0.5)])


def held(answers: Iterator[tuple[bool, float]], runs: int) -> dict[str, Any]:
    """How often, how wide, and whether that is enough."""
    runs = max(4, round(SHARE[0] * runs))
    pairs = [next(answers) for _ in range(runs)]
    inside = sum(one for one, _ in pairs)
    return {
        "runs": runs,
        "coverage": inside / runs,
        "median width": float(np.median([width for _, width in pairs])),
        "enough": bool(inside >= binom.ppf(1e-6, runs, 0.95)),
    }


Group = tuple[str, float, str, int]  # mechanism, ε, truth, n


def totals(
    rng: np.random.Generator, quantity: Quantity, terms: list[tuple[float, Group]]
) -> Iterator[tuple[bool, float]]:
    """Intervals of Σ factor·quantity, and whether they hold."""
    circle = quantity.is_direction
    truth = sum(f * true_value(quantity, g[2]) for f, g in terms)
    while True:
        tallies = [(f, draw(rng, *g, circle)) for f, g in terms]
        if circle:
            d = _turned(quantity, tallies[0][1], tallies[1][1], 0.95)
            off = (truth - d.value + 0.5) % 1 - 0.5 + d.value
            yield d.low <= off <= d.high, d.high - d.low
        else:
            d = quantity.total(tallies, 0.95, "")
            yield d.low <= truth <= d.high, d.high - d.low


SIZES = ((100, 100), (100, 100_000), (1_000, 10_000), (100_000, 100_000))
DAYS = (100, 3_000, 500, 20_000, 100, 1_000, 400)


def coverage() -> list[dict[str, Any]]:
    """Differences, contrasts and slopes."""
    rows = []

    def row(kind: str, of: str, mechanisms: str, epsilon: float, people: str, result: dict[str, Any]) -> None:
        rows.append(
            {"kind": kind, "of": of, "mechanisms": mechanisms, "epsilon": epsilon, "people": people, **result}
        )

    for epsilon in (0.5, 1.0, 2.0, 4.0):
        rng = np.random.default_rng([18, round(10 * epsilon)])
        for a, b in SIZES:
            for one, other in (("optimal", "optimal"), ("optimal", "duchi")):
                for truths in (("skewed", "two peaks"), ("skewed", "skewed")):
                    terms = [
                        (1.0, (one, epsilon, truths[0], a)),
                        (-1.0, (other, min(2 * epsilon, 4.0) if one != other else epsilon, truths[1], b)),
                    ]
                    row(
                        "difference",
                        "mean",
                        f"{one}, {other}; {' / '.join(truths)}",
                        epsilon,
                        f"{a:,} / {b:,}",
                        held(totals(rng, MEAN, terms), 400),
                    )
        contrast = [
            (1.0, ("optimal", epsilon, "skewed", 100)),
            (-0.5, ("duchi", epsilon, "two peaks", 1_000)),
            (-0.5, ("optimal", epsilon, "skewed", 20_000)),
        ]
        row(
            "contrast",
            "mean",
            "optimal, duchi, optimal",
            epsilon,
            "100 / 1,000 / 20,000",
            held(totals(rng, MEAN, contrast), 400),
        )
        away = np.arange(7) - np.average(np.arange(7), weights=DAYS)
        factors = np.array(DAYS) * away / (np.array(DAYS) * away**2).sum()
        slope = [
            (float(f), ("optimal", epsilon, "skewed" if i % 2 else "two peaks", n))
            for i, (f, n) in enumerate(zip(factors, DAYS, strict=True))
        ]
        row(
            "slope",
            "mean",
            "optimal, seven days",
            epsilon,
            "100 to 20,000",
            held(totals(rng, MEAN, slope), 300),
        )
    others = (
        (Quantity.of("probability", between=(0.0, 0.3)), "sw", 120),
        (Quantity.of("variance"), "sw", 80),
        (Quantity.of("quantile", p=0.5), "sw", 80),
        (Quantity.of("direction"), "ogpm", 60),
        (MEAN, "sw", 120),
    )
    for epsilon in (1.0, 4.0):
        rng = np.random.default_rng([19, round(10 * epsilon)])
        for quantity, name, runs in others:
            for a, b in ((100, 1_000), (20_000, 100_000)):
                terms = [(1.0, (name, epsilon, "skewed", a)), (-1.0, (name, epsilon, "two peaks", b))]
                row(
                    "difference",
                    quantity.question.name,
                    f"{name}; skewed / two peaks",
                    epsilon,
                    f"{a:,} / {b:,}",
                    held(totals(rng, quantity, terms), runs),
                )
    return rows


def families(rng: np.random.Generator, groups: int, over: str) -> Iterator[tuple[bool, float]]:
    """Comparisons of so many groups: whether all intervals hold, and their median width."""
    truths = ["skewed" if i % 3 else "two peaks" for i in range(groups)]
    means = [true_value(MEAN, truth) for truth in truths]
    while True:
        tallies = {
            i: draw(rng, "optimal", 2.0, truth, (100, 1_000, 20_000)[i % 3]) for i, truth in enumerate(truths)
        }
        c = sv.compare(tallies, over=over)
        if over == "groups":
            pairs = [(means[i], e) for i, e in enumerate(c.groups.values())]
        else:
            gaps = [means[i] - means[j] for i, j in combinations(range(groups), 2)]
            pairs = list(zip(gaps, c.differences.values(), strict=True))
        inside = all(e.low <= mean <= e.high for mean, e in pairs)
        yield inside, float(np.median([e.high - e.low for _, e in pairs]))


def together() -> list[dict[str, Any]]:
    """All intervals of 2, 12 and 100 groups at once."""
    runs = {
        (2, "groups"): 400,
        (12, "groups"): 400,
        (100, "groups"): 400,
        (2, "pairs"): 400,
        (12, "pairs"): 400,
        (100, "pairs"): 60,
    }
    return [
        {"groups": k, "over": over, **held(families(np.random.default_rng([20, k]), k, over), number)}
        for (k, over), number in runs.items()
    ]


def looks() -> list[dict[str, Any]]:
    """Errors under 1,000 looks: the capital of the library's bets against the truth, at every look."""
    rows, runs, number = [], 1_000, 1_120
    for name, epsilon, truth in (
        ("optimal", 1.0, "skewed"),
        ("optimal", 4.0, "two peaks"),
        ("duchi", 2.0, "skewed"),
    ):
        rng = np.random.default_rng([21, round(10 * epsilon)])
        m, p, mean = mechanism(name, epsilon), law(name, epsilon, truth), true_value(MEAN, truth)
        part = decoded_part(sv.Tally.from_counts(m, np.ones(m.cells, dtype=np.int64)), "population")
        at = np.unique(np.geomspace(50, 200_000, number).astype(np.int64))
        steps = np.diff(at, prepend=0)
        logs = []
        for side in (-1, 1):
            player = _Player(part, side, 0.025, (0.0, 1.0) if side > 0 else (-1.0, 0.0), True)
            logs.append(np.log1p(player.beta[None] * (side * mean - player.w[:, None])))
        sequential = alone = 0
        for _ in range(runs):
            counts = np.cumsum(rng.multinomial(steps, p), axis=0)
            capital = [np.logaddexp.reduce(counts @ log, axis=1) - np.log(log.shape[1]) for log in logs]
            sequential += bool((np.maximum(*capital) >= np.log(40)).any())
            average = counts @ part.weights / at
            error = np.sqrt((counts @ part.weights**2 / at - average**2) / at)
            alone += bool((np.abs(average - mean) > 1.96 * error).any())
        rows.append(
            {
                "mechanism": name,
                "epsilon": epsilon,
                "truth": truth,
                "looks": len(at),
                "runs": runs,
                "error": sequential / runs,
                "error of intervals for one n": alone / runs,
                "enough": bool(sequential <= binom.ppf(1 - 1e-6, runs, 0.05)),
            }
        )
        widths = {}
        for n in (100, 10_000, 1_000_000):
            t = draw(rng, name, epsilon, truth, n)
            widths[str(n)] = round(sv.mean(t, sequential=True).half_width / sv.mean(t).half_width, 2)
        rows[-1]["width against one n"] = widths
    return rows


def bands(
    rng: np.random.Generator, name: str, epsilon: float, truth: str, n: int
) -> Iterator[tuple[bool, float]]:
    """Bands on 64 bins: whether the whole true F is inside, at the edges and at every jump between them."""
    (x, p), edges = TRUTHS[truth], np.arange(65) / 64
    at = np.array([p[x <= edge + 1e-12].sum() for edge in edges])
    right = np.clip(np.searchsorted(edges, x), 1, 64)
    order = np.argsort(x)
    after = np.empty(len(x))
    after[order] = np.cumsum(p[order])
    while True:
        low, high = cumulative_band(draw(rng, name, epsilon, truth, n), 64, 0.95)
        inside = (low <= at + 1e-9).all() and (at <= high + 1e-9).all()
        inside &= (low[right - 1] <= after + 1e-9).all() and (after - p <= high[right] + 1e-9).all()
        yield bool(inside), float(np.median(high - low))


def band() -> list[dict[str, Any]]:
    """Whether the whole true distribution function lies inside."""
    rows = []
    for name, epsilon, n in (("sw", 1.0, 10_000), ("two_scale", 2.0, 50_000), ("sw", 4.0, 1_000)):
        for truth in ("two groups", "heaped", "spiky", "skewed"):
            rng = np.random.default_rng([22, round(epsilon), n])
            answers = bands(rng, name, epsilon, truth, n)
            rows.append(
                {"mechanism": name, "epsilon": epsilon, "people": n, "truth": truth, **held(answers, 100)}
            )
    return rows


def power() -> list[dict[str, Any]]:
    """People of each group who see a shift of 2 % of the domain with a chance of 80 %."""
    rows, shift = [], 0.02
    p = beta(5, 2).pdf(X) / beta(5, 2).pdf(X).sum()
    low = np.clip(X - shift, 0, 1)
    gap = float(p @ (X - low))
    z = norm.ppf(0.975) + norm.ppf(0.8)
    for epsilon in (1.0, 2.0, 4.0):
        needed, laws = {}, {}
        for name in ("duchi", "optimal", "design"):
            m = mechanism(name, epsilon)
            laws[name] = [m.operator(x).mix(p) for x in (X, low)]
            noise = sum(float(p @ m.variance(x)) + float(p @ (x - p @ x) ** 2) for x in (X, low))
            needed[name] = int(np.ceil(z**2 * noise / gap**2))
        seen = {}
        for label, name, n in (
            ("one bit", "duchi", needed["duchi"]),
            ("design", "design", needed["design"]),
            ("one bit, as few", "duchi", needed["design"]),
        ):
            rng, m, hits = np.random.default_rng([23, round(epsilon)]), mechanism(name, epsilon), 0
            for _ in range(400):
                a, b = (sv.Tally.from_counts(m, rng.multinomial(n, one / one.sum())) for one in laws[name])
                hits += (sv.difference(a, b).p_value or 0.0) < 0.05
            seen[label] = hits / 400
        rows.append({"epsilon": epsilon, "people": needed, "power": seen})
    return rows


def speed() -> list[dict[str, Any]]:
    """10,000 groups compared in one pass, against their separate estimates."""
    import pyarrow as pa

    from sottovoce import bulk
    from sottovoce.bulk.grouped_tally import GroupedTally

    m, groups, each = mechanism("optimal", 1.0), 10_000, 100
    rng = np.random.default_rng(24)
    cells = rng.choice(m.cells, groups * each, p=law("optimal", 1.0, "skewed"))
    content = pa.table(
        {
            "group": np.repeat(np.arange(groups), each),
            "cell": cells,
            "count": np.ones(groups * each, dtype=np.int64),
        }
    )
    grouped = GroupedTally.from_table(m, ["group"], content)

    def seconds(work: Callable[[], object]) -> float:
        begin = time.process_time()
        work()
        return time.process_time() - begin

    apart = seconds(partial(bulk.estimates, grouped, "", "group", sv.mean))
    one = seconds(lambda: sv.compare(grouped).ranks)
    return [{"groups": groups, "separate": apart, "compared": one, "ratio": one / apart}]


PARTS: dict[str, Callable[[], list[dict[str, Any]]]] = {
    "coverage": coverage,
    "together": together,
    "looks": looks,
    "band": band,
    "power": power,
    "speed": speed,
}


def write_tables(results: dict[str, list[dict[str, Any]]]) -> None:
    """The tables of the page."""
    cover = []
    for kind in ("difference", "contrast", "slope"):
        for of in dict.fromkeys(row["of"] for row in results["coverage"] if row["kind"] == kind):
            rows = [row for row in results["coverage"] if (row["kind"], row["of"]) == (kind, of)]
            shares = [row["coverage"] for row in rows]
            runs = sum(row["runs"] for row in rows)
            cover.append(
                (
                    f"{kind} of {of}",
                    str(len(rows)),
                    f"{runs:,}",
                    f"{min(shares):.3f}",
                    f"{np.mean(shares):.3f}",
                    str(sum(row["enough"] for row in rows)),
                )
            )
    replace_table(
        PAGE, "coverage", table(["what", "settings", "runs", "lowest coverage", "mean", "pass"], cover)
    )
    replace_table(
        PAGE,
        "together",
        table(
            ["groups", "together", "runs", "coverage of all", "median width"],
            [
                (
                    str(r["groups"]),
                    r["over"],
                    str(r["runs"]),
                    f"{r['coverage']:.3f}",
                    f"{r['median width']:.3f}",
                )
                for r in results["together"]
            ],
        ),
    )
    replace_table(
        PAGE,
        "looks",
        table(
            [
                "mechanism",
                "ε",
                "truth",
                "error, sequential",
                "error, one n at every look",
                "width at n = 100",
                "10⁴",
                "10⁶",
            ],
            [
                (
                    r["mechanism"],
                    f"{r['epsilon']:g}",
                    r["truth"],
                    f"{r['error']:.4f}",
                    f"{r['error of intervals for one n']:.2f}",
                    *(f"{w:.2f}" for w in r["width against one n"].values()),
                )
                for r in results["looks"]
            ],
        ),
    )
    replace_table(
        PAGE,
        "band",
        table(
            ["mechanism", "ε", "people", "truth", "runs", "whole curve inside", "median width"],
            [
                (
                    r["mechanism"],
                    f"{r['epsilon']:g}",
                    f"{r['people']:,}",
                    r["truth"],
                    str(r["runs"]),
                    f"{r['coverage']:.2f}",
                    f"{r['median width']:.3f}",
                )
                for r in results["band"]
            ],
        ),
    )
    people = [[f"{n:,}" for n in r["people"].values()] for r in results["power"]]
    ratios = [
        [f"{r['people'][name] / r['people']['duchi']:.2f}" for name in ("optimal", "design")]
        for r in results["power"]
    ]
    seen = [[f"{100 * share:.0f} %" for share in r["power"].values()] for r in results["power"]]
    head = ["ε", "one bit", "`sv.optimal`", "`sv.design`", "ratio, optimal", "ratio, design"]
    lines = [(f"{r['epsilon']:g}", *people[i], *ratios[i], *seen[i]) for i, r in enumerate(results["power"])]
    seen_by = ["power: one bit", "design", "one bit with as few people"]
    replace_table(PAGE, "power", table([*head, *seen_by], lines))


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(PARTS)}; by default all")
    parser.add_argument(
        "--table", action="store_true", help="write the tables into docs/measurements/comparisons.md"
    )
    parser.add_argument("--share", type=float, default=1.0, help="of the runs, for a quick look")
    chosen = parser.parse_args(arguments)
    SHARE[0] = chosen.share
    for name in chosen.parts or ([] if chosen.table else PARTS):
        rows = PARTS[name]()
        results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
        RESULTS.write_text(json.dumps({**results, name: rows}, indent=1) + "\n")
        for row in rows:
            print(name, row, flush=True)
    if chosen.table:
        write_tables({**{name: [] for name in PARTS}, **json.loads(RESULTS.read_text())})


if __name__ == "__main__":
    main(sys.argv[1:])
