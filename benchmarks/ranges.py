"""An unknown range against a known one: what a first guess 10^6 times too wide costs.

    python benchmarks/ranges.py            # writes benchmarks/results/ranges.json
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


def run(name: str, rng: np.random.Generator) -> dict[str, tuple[float, float, bool]]:
    """Errors, widths, and whether the interval held, of each question."""
    (low, high), draw = TRUTHS[name]
    values, many = draw(rng, PEOPLE), np.sort(draw(np.random.default_rng(0), 1_000_000))
    median, out = float(np.median(many)), {}

    def note(way: str, e: sv.Estimate, true: float) -> None:
        out[way] = e.value - true, e.high - e.low, bool(e.low <= true <= e.high)

    known = sv.design("mean", EPSILON, (low, high))
    note("mean, known", sv.mean(People(values, rng).answer(known)), float(np.clip(many, low, high).mean()))
    people = People(values, rng)
    plan, domain, rounds = found(people, high - low)
    beyond = people.answer(plan.beyond(domain), 0.05)
    last = people.answer(sv.design("mean", EPSILON, domain))
    note("mean, unknown", plan.mean(beyond, last, trimmed=True), float(np.clip(many, *domain.ends).mean()))
    for way, there in (("known", None), ("unknown", domain)):
        people = People(values, rng)
        if there is not None:
            plan, there, rounds = found(people, high - low)
        pairs = sv.rounds("quantile", EPSILON, there or (low, high), p=0.5)
        first = people.answer(pairs.first, 0.3 * people.rest() / PEOPLE)
        second = pairs.second(first, people.rest())
        e = pairs.estimate(first, people.answer(second))
        note(f"median, {way}", e if there is None else plan.quantile(e, there), median)
    out["rounds"] = (rounds, 0.0, True)
    return out


def rows_of(results: list[dict[str, Any]]) -> list[list[str]]:
    return [
        [r["truth"], r["question"], number(r["known"]), number(r["unknown"]),
         f"{r['unknown'] / r['known']:.2f}", f"{r['held']} of {r['runs']}"]
        for r in results
    ]  # fmt: skip


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args(arguments)
    results = json.loads(RESULTS.read_text()) if options.table else []
    for name in () if options.table else TRUTHS:
        rng = np.random.default_rng(len(name))
        every = [run(name, rng) for _ in range(options.runs)]
        for question in ("mean", "median"):
            known, unknown = (
                np.array([one[f"{question}, {way}"] for one in every]) for way in ("known", "unknown")
            )
            results.append(
                {
                    "truth": name, "question": question, "runs": options.runs,
                    "known": float(np.median(known[:, 1])), "unknown": float(np.median(unknown[:, 1])),
                    "rms": [float(np.sqrt((one[:, 0] ** 2).mean())) for one in (known, unknown)],
                    "held": int(unknown[:, 2].sum()),
                    "rounds": float(np.mean([one["rounds"][0] for one in every])),
                }
            )  # fmt: skip
        RESULTS.write_text("[\n" + ",\n".join(json.dumps(r) for r in results) + "\n]\n")
    head = ["truth", "question", "known range: width", "unknown: width", "ratio", "held"]
    replace_table(PAGE, "ranges", table(head, rows_of(results)))


if __name__ == "__main__":
    main(sys.argv[1:])
