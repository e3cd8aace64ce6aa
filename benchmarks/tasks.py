"""What `sv.design` gives for every question, beside the best that the project has for it.

Predicted errors over the reference shapes of `sv.plan` for 10,000 people; exact for means and values. Within
2 % of the best is the aim. Writes benchmarks/results/tasks.json.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import sottovoce as sv

RESULTS = Path(__file__).parent / "results" / "tasks.json"
TAKES = "40 s"
EPSILONS = (0.5, 1.0, 2.0, 4.0)
HOURS, CLOCK = (0, 24), sv.Circle(24)
QUESTIONS: dict[str, tuple[str, Any, dict[str, Any]]] = {
    "mean": ("mean", HOURS, {}),
    "median": ("quantile", HOURS, {"p": 0.5}),
    "0.9-quantile": ("quantile", HOURS, {"p": 0.9}),
    "distribution": ("distribution", HOURS, {}),
    "distribution on a circle": ("distribution", CLOCK, {}),
    "direction": ("direction", CLOCK, {}),
    "share": ("share", HOURS, {"between": (6, 9)}),
    "value": ("value", HOURS, {}),
}


def ratio(task: str, domain: Any, more: dict[str, Any], epsilon: float) -> tuple[float, str]:
    """The error of our design over the best, and which that is."""
    errors = {o.name: o.error for o in sv.plan(task, epsilon, 10_000, domain, **more).options}
    best = min(errors, key=lambda name: errors[name])
    return errors["design"] / errors[best], best


def main() -> None:
    results: dict[str, dict[str, Any]] = {}
    for name, (task, domain, more) in QUESTIONS.items():
        results[name] = {f"{epsilon:g}": ratio(task, domain, more, epsilon) for epsilon in EPSILONS}
        print(name, {e: f"{r:.3f} ({best})" for e, (r, best) in results[name].items()}, flush=True)
    RESULTS.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
