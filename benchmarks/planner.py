"""The planner's predictions against simulated answers, and the time that they take.

The prediction is what `sv.plan` says for the design of each question, over its two reference shapes; the
other side is what `sv.plan(simulate=True)` does: answers from simulated tallies. Seconds are CPU time of a
plan with every rival, of asking how many people and of asking which ε meet nine tenths of its error, each
with an empty cache folder, modules loaded. Lines are appended to benchmarks/results/planner.jsonl as they
come (a stopped run goes on); the table goes into docs/measurements/plans.md.
"""

from __future__ import annotations

import json
import os
import tempfile
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
PAGE = HERE.parent / "docs" / "measurements" / "plans.md"
TAKES = "4 min"

HOURS, CLOCK = (0, 24), sv.Circle(24)
#: Task, domain, its parameters, ε, people and how many tallies of each shape.
CASES: tuple[tuple[str, Any, dict[str, Any], float, int, int], ...] = (
    ("mean", HOURS, {}, 1.0, 10_000, 600),
    ("mean", HOURS, {}, 4.0, 1000, 600),
    ("direction", CLOCK, {}, 1.0, 10_000, 600),
    ("direction", CLOCK, {}, 4.0, 1000, 200),
    ("share", HOURS, {"between": (12, 18)}, 1.0, 10_000, 300),
    ("share", HOURS, {"between": (12, 18)}, 4.0, 1000, 300),
    ("quantile", HOURS, {"p": 0.9}, 1.0, 2000, 12),
    ("quantile", HOURS, {"p": 0.9}, 1.0, 50_000, 12),
    ("quantile", HOURS, {"p": 0.5}, 2.0, 10_000, 12),
    ("distribution", HOURS, {}, 1.0, 2000, 100),
    ("distribution", HOURS, {}, 1.0, 50_000, 50),
    ("distribution", HOURS, {}, 4.0, 10_000, 50),
    ("distribution", CLOCK, {}, 1.0, 2000, 100),
    ("distribution", CLOCK, {}, 1.0, 50_000, 50),
    ("value", HOURS, {}, 1.0, 1, 1),
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
    task: str, domain: Any, more: dict[str, Any], epsilon: float, people: int, times: int
) -> dict[str, Any]:
    """One line: predicted, seen, and how long predictions took."""
    plan, seconds = timed(task, epsilon, people, domain, **more)
    told = next(option for option in plan.options if option.name == "design")
    goal = 0.9 * told.error
    # No ε makes people differ less from each other, and no number of them makes one report better.
    which = timed(task, None, 2 * people, domain, 0.9 * goal if task != "value" else goal, **more)[1]
    many = 0.0 if task == "value" else timed(task, epsilon, None, domain, goal, **more)[1]
    question = Question.of(task, domain, **more)
    seen = Scenario(question, 0.95, None, True, times).option(candidates(question)[0], epsilon, people)
    assert seen is not None
    return {
        "task": task, "circle": domain is CLOCK, "more": str(more or ""), "epsilon": epsilon,
        "people": people, "predicted": told.error, "seen": seen.error, "doubt": seen.doubt / seen.error,
        "seconds": [seconds, many, which],
    }  # fmt: skip


def table(lines: list[dict[str, Any]]) -> str:
    rows = [
        "| question | domain | ε | people | predicted | seen | predicted / seen | s | s, people? | s, ε? |",
        "|---" * 10 + "|",
    ]
    for x in lines:
        ratio, where = x["predicted"] / x["seen"], "circle" if x["circle"] else "interval"
        rows.append(
            f"| {x['task']} {x['more']} | {where} | {x['epsilon']:g} | {x['people']:,} | "
            f"{x['predicted']:.4g} | {x['seen']:.4g} | {ratio:.3f} ± {ratio * x['doubt']:.3f} | "
            f"{' | '.join(f'{s:.2f}' for s in x['seconds'])} |"
        )
    return "\n".join(rows)


def read() -> list[dict[str, Any]]:
    return [json.loads(line) for line in RESULTS.read_text().splitlines()] if RESULTS.exists() else []


def main() -> None:
    done = {(x["task"], x["circle"], x["more"], x["epsilon"], x["people"]) for x in read()}
    for task, domain, more, *_ in CASES:  # loads what is loaded once
        sv.plan(task, 1.3, 100_000, domain, **more)
    for task, domain, more, epsilon, people, times in CASES:
        if (task, domain is CLOCK, str(more or ""), epsilon, people) in done:
            continue
        line = compare(task, domain, more, epsilon, people, times)
        with RESULTS.open("a") as file:
            file.write(json.dumps(line) + "\n")
        print(table([line]).splitlines()[-1], flush=True)
        replace_table(PAGE, "planner", table(read()))
    off = max(abs(x["predicted"] / x["seen"] - 1) for x in read())
    print(f"largest deviation {off:.1%}, longest plan {max(max(x['seconds']) for x in read()):.2f} s")


if __name__ == "__main__":
    main()
