"""An unknown range against a known one: what a first guess 10^6 times too wide costs.

    python benchmarks/ranges.py            # goes on where it was; writes benchmarks/results/ranges.json
    python benchmarks/ranges.py --table    # only the table in docs/explanation/quantiles.md

100,000 people, ε = 1. "Known" asks everybody on a range that is ordinary for the truth: the design for means,
or two rounds for a median. "Unknown" knows only that values lie within 10^6 times as much, of either sign. A
tenth of the people answer on a signed logarithmic scale, a tenth on where those are, again while that shrinks
to less than a third, a twentieth whether they are beyond, and the rest on what was found. A mean is that of
values brought into the range.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import sottovoce as sv
from benchmarks._tables import number, replace_table, table

TAKES = "5 min"
RESULTS = Path(__file__).parent / "results" / "ranges.json"
PAGE = Path(__file__).parent.parent / "docs" / "explanation" / "quantiles.md"
PEOPLE, EPSILON, TOO_WIDE = 100_000, 1.0, 1e6
Draw = Callable[[np.random.Generator, int], np.ndarray]
TRUTHS: dict[str, tuple[tuple[float, float], Draw]] = {
    "hours, gamma(9, 0.9)": ((0, 24), lambda rng, n: rng.gamma(9, 0.9, n)),
    "temperatures, normal(12, 8)": ((-30, 50), lambda rng, n: rng.normal(12, 8, n)),
    "ages, triangular": ((0, 120), lambda rng, n: rng.triangular(0, 30, 95, n)),
}


class People:
    """Who has not answered yet."""

    def __init__(self, values: np.ndarray, rng: np.random.Generator) -> None:
        self.values, self.rng, self.asked = values, rng, 0

    def answer(self, m: Any, share: float = 1.0) -> sv.Tally:
        some = self.values[self.asked :][: int(share * len(self.values))]
        self.asked += len(some)
        seed = int(self.rng.integers(1 << 60))
        return sv.Tally(m, m.report(some, outside="clip", rng=seed))

    def rest(self) -> int:
        return len(self.values) - self.asked


def found(people: People, width: float) -> tuple[Any, sv.Interval, int]:
    """The plan, the range, and how many rounds it took."""
    plan = sv.rounds("range", EPSILON, largest=TOO_WIDE * width, unit=width / 100)
    tally, rounds = people.answer(plan.first, 0.1), 1
    domain = plan.range(tally)
    while True:
        before, rounds = domain, rounds + 1
        domain = plan.range(people.answer(sv.sw(EPSILON, domain), 0.1))
        if domain.width > before.width / 3:
            return plan, domain, rounds


def known(question: str, people: People, domain: sv.Interval) -> sv.Estimate:
    """The answer of everybody who has not answered yet, asked on a range."""
    if question == "mean":
        return sv.mean(people.answer(sv.design("mean", EPSILON, domain)))
    pairs = sv.rounds("quantile", EPSILON, domain, p=0.5)
    first = people.answer(pairs.first, 0.3 * people.rest() / PEOPLE)
    return pairs.estimate(first, people.answer(pairs.second(first, people.rest())))


def unknown(question: str, people: People, width: float) -> tuple[sv.Estimate, sv.Interval, int]:
    """The answer, the range, and in how many rounds that was found."""
    plan, domain, rounds = found(people, width)
    if question == "median":
        return plan.quantile(known(question, people, domain), domain), domain, rounds
    beyond = people.answer(plan.beyond(domain), 0.05)
    last = people.answer(sv.design("mean", EPSILON, domain))
    return plan.mean(beyond, last, trimmed=True), domain, rounds


def measure(name: str, question: str, runs: int) -> dict[str, Any]:
    """Median widths, root mean square errors, and how often the interval held."""
    (low, high), draw = TRUTHS[name]
    many = draw(np.random.default_rng(0), 1_000_000)

    def true(domain: sv.Interval) -> float:
        return float(np.median(many) if question == "median" else np.clip(many, *domain.ends).mean())

    errors, widths, held, rounds = np.zeros((2, runs)), np.zeros((2, runs)), 0, 0
    for run in range(runs):
        rng = np.random.default_rng([len(name), len(question), run])
        values, domain = draw(rng, PEOPLE), sv.Interval(low, high)
        answers = [(known(question, People(values, rng), domain), domain)]
        e, domain, count = unknown(question, People(values, rng), high - low)
        answers.append((e, domain))
        errors[:, run] = [e.value - true(domain) for e, domain in answers]
        widths[:, run] = [e.high - e.low for e, _ in answers]
        held, rounds = held + (e.low <= true(domain) <= e.high), rounds + count
    return {
        "truth": name, "question": question, "runs": runs, "width": np.median(widths, axis=1).tolist(),
        "rms": np.sqrt((errors**2).mean(axis=1)).tolist(), "held": held, "rounds": rounds / runs,
    }  # fmt: skip


def rows_of(results: list[dict[str, Any]]) -> list[list[str]]:
    """Ratios of errors with how far chance may move them: each is known to 1/√(2·runs) of itself."""
    return [
        [r["truth"], r["question"], *map(number, r["width"]), f"{r['width'][1] / r['width'][0]:.2f}",
         f"{r['rms'][1] / r['rms'][0]:.2f} ± {r['rms'][1] / r['rms'][0] / r['runs'] ** 0.5:.2f}",
         f"{r['held']} of {r['runs']}"]
        for r in results
    ]  # fmt: skip


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--settings", type=int, default=6, help="The most that are measured now.")
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args(arguments)
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else []
    done = {(r["truth"], r["question"]) for r in results}
    left = [setting for setting in product(TRUTHS, ("mean", "median")) if setting not in done]
    for setting in () if options.table else left[: options.settings]:
        results.append(measure(*setting, options.runs))
        RESULTS.write_text("[\n" + ",\n".join(json.dumps(r) for r in results) + "\n]\n")
    head = ["truth", "question", "known range: width", "unknown: width", "ratio", "ratio of errors", "held"]
    replace_table(PAGE, "ranges", table(head, rows_of(results)))


if __name__ == "__main__":
    main(sys.argv[1:])
