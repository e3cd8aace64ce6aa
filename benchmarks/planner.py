"""The planner's predictions against simulated answers, and the time that they take.

The prediction is what `sv.plan` says for the design of each question, over its two reference shapes; the
other side is what `sv.plan(simulate=True)` does: answers from simulated tallies. Seconds are CPU time of a
plan with every rival, caches off, modules loaded. Lines are appended to benchmarks/results/planner.jsonl as
they come (a stopped run goes on); the table goes into docs/howto/plan.md.
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import sottovoce as sv
from benchmarks._tables import replace_table
from sottovoce.designs.tasks import Question
from sottovoce.planning.kinds import candidates
from sottovoce.planning.plans import Scenario

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "planner.jsonl"
PAGE = HERE.parent / "docs" / "howto" / "plan.md"
TAKES = "4 min"

HOURS, CLOCK = (0, 24), sv.Circle(24)
#: Task, domain, its parameters, ε, people and how many tallies of each shape.
CASES: tuple[tuple[str, Any, dict[str, Any], float, int, int], ...] = (
    ("mean", HOURS, {}, 1.0, 10_000, 600),
    ("mean", HOURS, {}, 4.0, 1000, 600),
    ("direction", CLOCK, {}, 1.0, 10_000, 600),
    ("direction", CLOCK, {}, 4.0, 1000, 60),
    ("share", HOURS, {"between": (12, 18)}, 1.0, 10_000, 150),
    ("share", HOURS, {"between": (12, 18)}, 4.0, 1000, 150),
    ("quantile", HOURS, {"p": 0.9}, 1.0, 2000, 5),
    ("quantile", HOURS, {"p": 0.9}, 1.0, 50_000, 5),
    ("quantile", HOURS, {"p": 0.5}, 2.0, 10_000, 5),
    ("distribution", HOURS, {}, 1.0, 2000, 16),
    ("distribution", HOURS, {}, 1.0, 50_000, 16),
    ("distribution", HOURS, {}, 4.0, 10_000, 12),
    ("distribution", CLOCK, {}, 1.0, 2000, 16),
    ("distribution", CLOCK, {}, 1.0, 50_000, 16),
    ("value", HOURS, {}, 1.0, 1, 1),
)


def compare(
    task: str, domain: Any, more: dict[str, Any], epsilon: float, people: int, times: int
) -> dict[str, Any]:
    """One line: predicted, seen, and how long the prediction took."""
    cache, os.environ["SOTTOVOCE_CACHE"] = os.environ.get("SOTTOVOCE_CACHE"), ""
    try:
        begin = time.process_time()
        told = sv.plan(task, epsilon, people, domain, **more).best
        seconds = time.process_time() - begin
    finally:
        os.environ.pop("SOTTOVOCE_CACHE") if cache is None else os.environ.update(SOTTOVOCE_CACHE=cache)
    question = Question.of(task, domain, **more)
    scenario = Scenario(question, 0.95, None, True, times)
    ours = candidates(question)[0]
    seen = scenario.option(ours, epsilon, people)
    assert seen is not None
    return {
        "task": task, "circle": domain is CLOCK, "more": str(more or ""), "epsilon": epsilon,
        "people": people, "predicted": told.error, "seen": seen.error, "doubt": seen.doubt / seen.error,
        "seconds": round(seconds, 3),
    }  # fmt: skip


def table(lines: list[dict[str, Any]]) -> str:
    rows = [
        "| question | domain | ε | people | predicted error | seen | predicted / seen | seconds |",
        "|---" * 8 + "|",
    ]
    for x in lines:
        ratio, where = x["predicted"] / x["seen"], "circle" if x["circle"] else "interval"
        rows.append(
            f"| {x['task']} {x['more']} | {where} | {x['epsilon']:g} | {x['people']:,} | "
            f"{x['predicted']:.4g} | {x['seen']:.4g} | {ratio:.3f} ± {ratio * x['doubt']:.3f} | "
            f"{x['seconds']:.2f} |"
        )
    return "\n".join(rows)


def read() -> list[dict[str, Any]]:
    return [json.loads(line) for line in RESULTS.read_text().splitlines()] if RESULTS.exists() else []


def main() -> None:
    done = {(x["task"], x["circle"], x["more"], x["epsilon"], x["people"]) for x in read()}
    sv.plan("mean", 1.0, 100, HOURS)  # loads what is loaded once
    sv.plan("distribution", 1.0, 100, HOURS)
    for task, domain, more, epsilon, people, times in CASES:
        if (task, domain is CLOCK, str(more or ""), epsilon, people) in done:
            continue
        line = compare(task, domain, more, epsilon, people, times)
        with RESULTS.open("a") as file:
            file.write(json.dumps(line) + "\n")
        print(table([line]).splitlines()[-1], flush=True)
        replace_table(PAGE, "planner", table(read()))
    off = max(abs(x["predicted"] / x["seen"] - 1) for x in read())
    print(f"largest deviation {off:.1%}, longest plan {max(x['seconds'] for x in read()):.2f} s")


if __name__ == "__main__":
    main()
