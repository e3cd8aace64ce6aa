"""The planner's predictions against simulated answers, and the time that they take.

The prediction is what `sv.plan` says for the design of each question, over its reference shapes; the other
side is what `sv.plan(simulate=True)` does: answers from simulated tallies. The few constants of predictions
were chosen on these; the cases after them are fresh: people who are early, late or spread evenly. Seconds are
CPU time of a plan with every rival, of asking how many people and of asking which ε meet nine tenths of its
error, each with an empty cache folder, modules loaded. Lines are appended to benchmarks/results/planner.jsonl
as they come (a stopped run goes on); the table goes into docs/measurements/plans.md.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import ndtri
from scipy.stats import beta

import sottovoce as sv
from benchmarks._tables import replace_table

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "planner.jsonl"
PAGE = HERE.parent / "docs" / "measurements" / "plans.md"
TAKES = "4 min"

HOURS, CLOCK = (0, 24), sv.Circle(24)
REFERENCE = "reference"
_EVEN = (np.arange(4096) + 0.5) / 4096
#: Hours of people who are none of the reference shapes.
SAMPLES = {
    REFERENCE: None,
    "even": 24 * _EVEN,
    "early": 24 * beta.ppf(_EVEN, 2, 5),
    "late": 24 * (1 - np.minimum(0.08 * np.exp(ndtri(_EVEN)), 1)),
}
#: Question, domain, its parameters, ε, people, how many tallies of each shape, and who they are.
CASES: tuple[tuple[str, Any, dict[str, Any], float, int, int, str], ...] = (
    ("mean", HOURS, {}, 1.0, 10_000, 600, REFERENCE),
    ("mean", HOURS, {}, 4.0, 1000, 600, REFERENCE),
    ("direction", CLOCK, {}, 1.0, 10_000, 600, REFERENCE),
    ("direction", CLOCK, {}, 4.0, 1000, 200, REFERENCE),
    ("probability", HOURS, {"between": (12, 18)}, 1.0, 10_000, 300, REFERENCE),
    ("probability", HOURS, {"between": (12, 18)}, 4.0, 1000, 300, REFERENCE),
    ("quantile", HOURS, {"p": 0.9}, 1.0, 2000, 40, REFERENCE),
    ("quantile", HOURS, {"p": 0.9}, 1.0, 50_000, 40, REFERENCE),
    ("quantile", HOURS, {"p": 0.5}, 2.0, 10_000, 40, REFERENCE),
    ("distribution", HOURS, {}, 1.0, 2000, 100, REFERENCE),
    ("distribution", HOURS, {}, 1.0, 50_000, 50, REFERENCE),
    ("distribution", HOURS, {}, 4.0, 10_000, 50, REFERENCE),
    ("distribution", CLOCK, {}, 1.0, 2000, 100, REFERENCE),
    ("distribution", CLOCK, {}, 1.0, 50_000, 50, REFERENCE),
    ("value", HOURS, {}, 1.0, 1, 1, REFERENCE),
    ("mean", HOURS, {}, 6.0, 1000, 300, REFERENCE),
    ("value", HOURS, {}, 9.0, 1, 8, REFERENCE),
    ("value", HOURS, {"loss": "l1"}, 6.0, 1, 8, REFERENCE),
    ("mean", HOURS, {}, 0.7, 3000, 300, "early"),
    ("mean", HOURS, {}, 3.0, 20_000, 300, "even"),
    ("direction", CLOCK, {}, 1.5, 3000, 200, "early"),
    ("probability", HOURS, {"between": (5, 9)}, 0.7, 20_000, 200, "early"),
    ("quantile", HOURS, {"p": 0.25}, 0.7, 20_000, 16, "early"),
    ("quantile", HOURS, {"p": 0.75}, 3.0, 3000, 16, "late"),
    ("quantile", HOURS, {"p": 0.5}, 1.5, 20_000, 16, "even"),
    ("distribution", HOURS, {}, 1.5, 5000, 60, "early"),
    ("distribution", HOURS, {}, 0.7, 20_000, 180, "late"),
    ("distribution", CLOCK, {}, 2.0, 10_000, 60, "early"),
)


def timed(*arguments: Any, **more: Any) -> tuple[sv.Plan, float]:
    """A plan and the CPU seconds that it took, nothing known from before."""
    cache = os.environ.get("SOTTOVOCE_CACHE")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["SOTTOVOCE_CACHE"] = folder
        try:
            begin = time.process_time()
            plan = sv.plan(*arguments, **more)
            return plan, round(time.process_time() - begin, 2)
        finally:
            os.environ.pop("SOTTOVOCE_CACHE") if cache is None else os.environ.update(SOTTOVOCE_CACHE=cache)


def compare(
    question: str, domain: Any, more: dict[str, Any], epsilon: float, people: int, times: int, who: str
) -> dict[str, Any]:
    """One line: predicted, seen, and how long predictions took."""
    words, more = str(more or ""), {**more, "sample": SAMPLES[who]}
    plan, seconds = timed(question, epsilon, people, domain, **more)
    told = next(option for option in plan.options if option.name == "design")
    target = 0.9 * told.error
    # No ε makes people differ less from each other, and no number of them makes one report better.
    which = timed(
        question, None, 2 * people, domain, 0.9 * target if question != "value" else target, **more
    )[1]
    many = 0.0 if question == "value" else timed(question, epsilon, None, domain, target, **more)[1]
    simulation = replace(plan.scenario, simulate=True, repetitions=times)
    seen = simulation.option(plan.candidates[0], epsilon, people)
    assert seen is not None
    return {
        "question": question, "circle": domain is CLOCK, "more": words, "epsilon": epsilon, "who": who,
        "people": people, "predicted": told.error, "seen": seen.error, "doubt": seen.doubt / seen.error,
        "seconds": [seconds, many, which],
    }  # fmt: skip


def table(lines: list[dict[str, Any]]) -> str:
    rows = [
        "| question | domain | who | ε | people | predicted | seen | ratio | s | s, people? | s, ε? |",
        "|---" * 11 + "|",
    ]
    for x in lines:
        ratio, where = x["predicted"] / x["seen"], "circle" if x["circle"] else "interval"
        rows.append(
            f"| {x['question']} {x['more']} | {where} | {x['who']} | {x['epsilon']:g} | {x['people']:,} | "
            f"{x['predicted']:.4g} | {x['seen']:.4g} | {ratio:.3f} ± {ratio * x['doubt']:.3f} | "
            f"{' | '.join(f'{s:.2f}' for s in x['seconds'])} |"
        )
    return "\n".join(rows)


def read() -> list[dict[str, Any]]:
    return [json.loads(line) for line in RESULTS.read_text().splitlines()] if RESULTS.exists() else []


def main() -> None:
    done = {(x["question"], x["circle"], x["more"], x["epsilon"], x["people"], x["who"]) for x in read()}
    for question, domain, more, *_ in CASES:  # loads what is loaded once
        sv.plan(question, 1.3, 100_000, domain, **more)
    for question, domain, more, epsilon, people, times, who in CASES:
        if (question, domain is CLOCK, str(more or ""), epsilon, people, who) in done:
            continue
        line = compare(question, domain, more, epsilon, people, times, who)
        with RESULTS.open("a") as file:
            file.write(json.dumps(line) + "\n")
        print(table([line]).splitlines()[-1], flush=True)
        replace_table(PAGE, "planner", table(read()))
    off = max(abs(x["predicted"] / x["seen"] - 1) for x in read())
    print(f"largest deviation {off:.1%}, longest plan {max(max(x['seconds']) for x in read()):.2f} s")


if __name__ == "__main__":
    main()
