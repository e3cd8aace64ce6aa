"""What estimates cost beside another checkout, in the same run: CPU seconds, and files on the way.

    python -m benchmarks.estimates BEFORE      # a folder that holds the other checkout's src

Both by turns in processes of their own, the least of all turns: what else the machine does only adds. 100,000
people report with ε = 1. The dashboard's answers are all that its page shows: mean or direction, five
quantiles, the distribution with its band, and whether the reports look honest, of a tally that just grew by a
hundred. A plan for a quantile is made for as many people, in a process that has made another. What the counts
tell about one person is computed when their two leading digits change, so not here.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._machine import describe_machine

TAKES = "3 min"
TURNS, ROUNDS = 3, 3
ROOT = Path(__file__).parent.parent
RESULTS = Path(__file__).parent / "results" / "estimates.json"
WAYS = ("mean", "quantile", "estimate")
ON_A_LINE = ("quantile", "five quantiles", "variance", "plan")
QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)


def seconds() -> dict[str, float]:
    """CPU seconds of each answer in this process, the least of the rounds."""
    import sottovoce as sv
    from sottovoce.collector.results.results import View, results

    x, best = 24 * np.random.default_rng(1).beta(2, 5, 100_000), {}
    reporters = {"SW": sv.sw(1.0, (0, 24)), "two scales": sv.two_scale(1.0, (0, 24))}
    reporters["OGPM on a circle"] = sv.ogpm(1.0, sv.Circle(24))
    for name, m in reporters.items():
        tallies = [sv.Tally(m, m.report(x[: len(x) - 100 * i - 50], rng=i)) for i in range(ROUNDS, -1, -1)]
        works: dict[str, Any] = {
            "quantile": lambda tally: sv.quantile(tally, 0.5),
            "five quantiles": lambda tally: sv.quantile(tally, QUANTILES),
            "probability": lambda tally: sv.probability(tally, 6.0, 9.0),
            "variance": sv.variance,
            "plan": lambda tally: sv.plan("quantile", 1.0, tally.n, (0, 24), p=0.5),
            "distribution with band": sv.distribution,
            "dashboard": lambda tally: results(tally, View(), {}, {}),
        }
        for work, answer in works.items():
            if work in ON_A_LINE and m.domain.is_circle:
                continue
            times = []
            for tally in tallies:  # the first warms up
                begin = time.process_time()
                answer(tally)
                times.append(time.process_time() - begin)
            best[f"{work}, {name}"] = min(times[1:])
    return best


def files(environment: dict[str, str]) -> dict[str, int]:
    """How many files of the package each way passes."""
    command = [sys.executable, str(ROOT / "tools" / "way.py"), *WAYS]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    lines = [line.split() for line in done.stdout.splitlines() if not line.startswith(" ")]
    return {name: int(count) for name, count, *_ in lines}


def main(before: str | None = None) -> None:
    folder = before or sys.argv[-1]
    if not (Path(folder) / "sottovoce").is_dir():
        raise SystemExit("python -m benchmarks.estimates BEFORE: the src folder of another checkout")
    trees = {"before": folder, "now": str(ROOT / "src")}
    environments = {
        name: {**os.environ, "PYTHONPATH": f"{tree}{os.pathsep}{ROOT}", "OPENBLAS_NUM_THREADS": "1"}
        for name, tree in trees.items()
    }
    best: dict[str, dict[str, float]] = {name: {} for name in trees}
    for _ in range(TURNS):
        for name, environment in environments.items():
            line = [
                sys.executable,
                "-c",
                "from benchmarks import estimates as e; print(e.json.dumps(e.seconds()))",
            ]
            done = subprocess.run(line, env=environment, capture_output=True, text=True, check=True)
            for work, took in json.loads(done.stdout.splitlines()[-1]).items():
                best[name][work] = min(took, best[name].get(work, took))
    ways = {name: files(environment) for name, environment in environments.items()}
    rows = [
        {"work": work, "before": best["before"][work], "now": now, "ratio": now / best["before"][work]}
        for work, now in best["now"].items()
    ]
    for row in rows:
        print(f"{row['work']:42} {row['before']:.3f} s {row['now']:.3f} s  {row['ratio']:.2f}")
    print(ways)
    content = {"machine": describe_machine(), "turns": TURNS, "rows": rows, "files": ways}
    RESULTS.write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    main()
