"""Coverage and width of the intervals, by simulation: `python benchmarks/interval_coverage.py`.

Every row is one quantity, mechanism, ε, n and truth: the share of runs whose 95 % interval held the truth,
the least coverage that 400 runs of an honest interval show (false alarm 1e-6), and the median width in units
of the domain (a whole circle is 1). Truths: skewed is Beta(1, 8), two peaks are 40 % Beta(20, 60) and 60 %
Beta(60, 20), edge puts everyone at the lower end. On the circle the same shapes, a quarter turn wide.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.stats import beta as beta_law
from scipy.stats import binom

import sottovoce as sv

TAKES = "2 h"

Draw = Callable[[np.random.Generator, int], np.ndarray]


def _two_peaks(rng: np.random.Generator, n: int) -> np.ndarray:
    return np.where(rng.random(n) < 0.4, rng.beta(20, 60, n), rng.beta(60, 20, n))


#: Name: (draw, mean, variance, 0.9-quantile) on [0, 1].
TRUTHS: dict[str, tuple[Draw, float, float, float]] = {
    "skewed": (
        lambda rng, n: rng.beta(1, 8, n), 1 / 9, float(beta_law(1, 8).var()), float(beta_law(1, 8).ppf(0.9))
    ),
    "two peaks": (
        _two_peaks, 0.55, 0.4 * 0.25**2 + 0.6 * 0.75**2 + float(beta_law(20, 60).var()) - 0.55**2,
        float(beta_law(60, 20).ppf(1 - 0.1 / 0.6)),
    ),
    "edge": (lambda rng, n: np.zeros(n), 0.0, 0.0, 0.0),
}  # fmt: skip


def least_coverage(runs: int, confidence: float = 0.95, false_alarm: float = 1e-6) -> float:
    """What an interval of exactly this confidence stays above, except with the given probability."""
    return float(binom.ppf(false_alarm, runs, confidence) - 1) / runs


@dataclass(frozen=True)
class Row:
    quantity: str
    mechanism: str
    epsilon: float
    n: int
    truth: str
    coverage: float
    width: float
    milliseconds: float


def simulate(
    estimate: Callable[[sv.Tally], sv.Estimate],
    mechanism: sv.Mechanism | sv.Mixture,
    draw: Draw,
    truth: float,
    n: int,
    runs: int,
    seed: int,
) -> tuple[float, float, float]:
    """Coverage, median width in units of the domain, milliseconds of processor time per interval."""
    rng, domain = np.random.default_rng(seed), mechanism.domain
    held, widths, spent = 0, [], 0.0
    for _ in range(runs):
        tally = sv.Tally(mechanism, mechanism.report(draw(rng, n), rng=rng))
        begun = time.process_time()
        found = estimate(tally)
        spent += time.process_time() - begun
        if found.what == "circular mean":
            held += (truth - found.low) % 1.0 <= found.high - found.low
        else:
            # An interval of a point at the end of the domain may meet it up to rounding.
            held += found.low - 1e-12 <= truth <= found.high + 1e-12
        widths.append((found.high - found.low) / domain.width)
    return held / runs, float(np.median(widths)), 1e3 * spent / runs


def cases(quick: bool) -> Iterator[tuple[str, str, float, int, str]]:
    """(quantity, mechanism, ε, n, truth)"""
    epsilons = (1.0, 4.0) if quick else (0.25, 1.0, 4.0)
    for n in (100, 100_000):
        for epsilon in epsilons:
            for truth in TRUTHS:
                for mechanism in ("pm", "sw", "ogpm"):
                    yield "mean", mechanism, epsilon, n, truth
                yield "mean, finite", "pm", epsilon, n, truth
                yield "mean, finite", "sw", epsilon, n, truth
                if truth != "edge":
                    yield "variance", "sw", epsilon, n, truth
                    yield "0.9-quantile", "sw", epsilon, n, truth
                    yield "circular mean", "ogpm", epsilon, n, truth
    if not quick:
        for truth in ("skewed", "two peaks"):
            for n in (100, 100_000):
                yield "0.9-quantile", "two_scale", 1.0, n, truth
                yield "mean", "two_scale", 1.0, n, truth
                yield "circular mean", "two_scale", 1.0, n, truth
                yield "mean, bootstrap", "pm", 1.0, n, truth
                yield "mean, respondents", "pm", 1.0, n, truth


def run_case(quantity: str, name: str, epsilon: float, n: int, truth: str, runs: int, seed: int = 1) -> Row:
    draw, mean, variance, quantile = TRUTHS[truth]
    domain = sv.Circle(1.0) if quantity == "circular mean" else (0, 1)
    mechanism = getattr(sv, name)(epsilon, domain)
    if quantity == "circular mean":
        # A quarter turn wide, around the seam.
        def draw_circle(rng: np.random.Generator, n: int) -> np.ndarray:
            return (draw(rng, n) * 0.5 - 0.1) % 1.0

        many = np.exp(2j * np.pi * draw_circle(np.random.default_rng(0), 4_000_000)).mean()
        value = float(np.angle(many) / (2 * np.pi) % 1.0)
        found = simulate(sv.circular_mean, mechanism, draw_circle, value, n, runs, seed)
    elif quantity == "0.9-quantile":
        found = simulate(lambda t: sv.quantile(t, 0.9), mechanism, draw, quantile, n, runs, seed)
    elif quantity == "variance":
        found = simulate(sv.variance, mechanism, draw, variance, n, runs, seed)
    elif quantity == "mean, respondents":
        found = _respondents(mechanism, draw, n, runs, seed)
    else:
        interval = quantity.partition(", ")[2] or "normal"
        found = simulate(lambda t: sv.mean(t, interval=interval), mechanism, draw, mean, n, runs, seed)
    return Row(quantity, name, epsilon, n, truth, *found)


def _respondents(
    mechanism: sv.Mechanism, draw: Draw, n: int, runs: int, seed: int
) -> tuple[float, float, float]:
    """The same people every time: the truth is their own mean."""
    people = draw(np.random.default_rng(seed + 1), n)
    return simulate(
        lambda t: sv.mean(t, estimand="respondents"), mechanism, lambda rng, n: people, float(people.mean()),
        n, runs, seed,
    )  # fmt: skip


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default="", help="quantities that start with this")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args(arguments)
    least = least_coverage(options.runs)
    lines = [
        f"{options.runs} runs each; an honest 95 % interval covers at least {least:.3f} (false alarm 1e-6).",
        "",
        "| quantity | mechanism | ε | n | truth | coverage | median width | ms |",
        "|---|---|---|---|---|---|---|---|",
    ]
    print("\n".join(lines), flush=True)
    for case in cases(options.quick):
        if not case[0].startswith(options.only):
            continue
        row = run_case(*case, runs=options.runs)
        mark = "" if row.coverage >= least else " **below**"
        lines.append(
            f"| {row.quantity} | {row.mechanism} | {row.epsilon:g} | {row.n} | {row.truth} "
            f"| {row.coverage:.3f}{mark} | {row.width:.4f} | {row.milliseconds:.0f} |"
        )
        print(lines[-1], flush=True)
    if options.output:
        options.output.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
