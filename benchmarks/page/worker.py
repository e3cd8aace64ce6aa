"""Measure one peer in the Python it is installed in: run as a script, JSON in, JSON out.

Needs numpy only, and nothing of sottovoce, so that any environment can run it. A peer is a file with tables
of functions (see `benchmarks.page.peers`). Every time is CPU time, the least of several rounds, and every
round also times the floor, numpy's plain `random` into an array that is there already: ratios are within one
process.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

FLOOR = 1 << 21  # values a turn


def cpu_seconds(work: Callable[[], object]) -> float:
    """CPU seconds of one call, all threads together."""
    begin = time.process_time()
    work()
    return time.process_time() - begin


def least_seconds(work: Callable[[], object], rounds: int = 5) -> float:
    """The least CPU seconds of several calls, after one that warms up."""
    work()
    return min(cpu_seconds(work) for _ in range(rounds))


def floor_work() -> Callable[[], object]:
    """numpy's plain generator into an array that is there already: what no sampler can avoid."""
    generator, out = np.random.default_rng(2), np.empty(FLOOR)
    return lambda: generator.random(out=out)


def fitting(run: Callable[[Any], object], values: Any, seconds: float) -> Any:
    """So many of the values that one call takes about `seconds`, or all of them; warms up on the way."""
    count = min(16, len(values))
    while True:
        spent = min(cpu_seconds(partial(run, values[:count])) for _ in range(2))
        if count == len(values) or spent >= seconds / 2:
            return values[: max(1, min(len(values), int(count * min(4.0, seconds / max(spent, 1e-9)))))]
        count = min(len(values), count * 4)


def measure_speed(peer: Any, task: dict[str, Any]) -> dict[str, Any]:
    """Seconds per value of every operation and of the floor, turn by turn."""
    values = np.load(task["values"])
    rows: dict[str, Any] = {}
    works: dict[str, tuple[Callable[[], object], int]] = {"": (floor_work(), FLOOR)}
    for name, make in {**getattr(peer, "SPEED", {}), **getattr(peer, "PRIVATISERS", {})}.items():
        try:
            run = make(task["epsilon"])
            part = fitting(run, values, task["seconds"])
        except Exception as error:
            rows[name] = {"failed": f"{type(error).__name__}: {error}"}
            continue
        works[name] = partial(run, part), len(part)
    times: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(task["rounds"]):
        for name, (work, count) in works.items():
            times[name].append(cpu_seconds(work) / count)
    floor = min(times.pop(""))
    for name, found in times.items():
        rows[name] = {"seconds": min(found), "ratio": min(found) / floor, "values": works[name][1]}
    return {"floor": floor, "rows": rows}


def simulate_errors(peer: Any, task: dict[str, Any]) -> dict[str, Any]:
    """Mean |y − x| and (y − x)² of reports at some inputs x, each with its standard error."""
    rows: dict[str, Any] = {}
    for name, make in getattr(peer, "PRIVATISERS", {}).items():
        try:
            rows[name] = [
                [
                    _moments(np.asarray(run(np.full(task["draws"], x)), dtype=np.float64) - x)
                    for x in task["inputs"]
                ]
                for run in map(make, task["epsilons"])
            ]
        except Exception as error:
            rows[name] = {"failed": f"{type(error).__name__}: {error}"}
    return rows


def _moments(error: Any) -> list[float]:
    out: list[float] = []
    for powered in (np.abs(error), error**2):
        out += [float(powered.mean()), float(powered.std() / len(error) ** 0.5)]
    return out


def reconstruct(peer: Any, task: dict[str, Any]) -> dict[str, Any]:
    """Probabilities of equal bins of [0, 1] from everybody's reports, with the CPU time of both steps."""
    rows: dict[str, Any] = {}
    for name, make in getattr(peer, "HISTOGRAMS", {}).items():
        try:
            rows[name] = [
                [_reconstruct_one(make(epsilon), np.load(path)) for path in task["data"]]
                for epsilon in task["epsilons"]
            ]
        except Exception as error:
            rows[name] = {"failed": f"{type(error).__name__}: {error}"}
    return rows


def _reconstruct_one(steps: tuple[Callable[[Any], Any], Callable[[Any], Any]], values: Any) -> dict[str, Any]:
    report, estimate = steps
    estimate(report(values[: len(values) // 10]))  # warms up
    begin = time.process_time()
    reports = report(values)
    middle = time.process_time()
    found = np.asarray(estimate(reports), dtype=np.float64)
    end = time.process_time()
    return {
        "report": middle - begin,
        "estimate": end - middle,
        "probabilities": [float(p) for p in found / found.sum()],
    }


TASKS = {"speed": measure_speed, "error": simulate_errors, "histogram": reconstruct}


def load(path: str) -> Any:
    """The module of a peer's file."""
    spec = importlib.util.spec_from_file_location("peer", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main() -> None:
    asked = json.load(sys.stdin)
    peer = load(asked["peer"])
    versions = {name: importlib.metadata.version(name) for name in ("numpy", *peer.DISTRIBUTIONS)}
    found = {name: TASKS[name](peer, task) for name, task in asked["tasks"].items()}
    print()  # a peer may have printed half a line
    print(json.dumps({"versions": versions, **found}))


if __name__ == "__main__":
    main()
