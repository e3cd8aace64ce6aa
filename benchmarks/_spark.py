"""Spark sessions for measurements: one per process, with an event log that says what was shuffled."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def start(cores: int, folder: str) -> Any:
    from sottovoce.bulk import spark

    settings = {
        "spark.log.level": "OFF",
        "spark.driver.memory": "4g",
        "spark.sql.shuffle.partitions": "8",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.dir": Path(folder).as_uri(),
        "spark.local.dir": folder,
    }
    return spark.session(cores, **settings)


def seconds(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def shuffled(folder: str) -> list[tuple[int, int]]:
    """Bytes and records that each stage with a shuffle wrote, from the event log."""
    stages: dict[int, tuple[int, int]] = {}
    for path in Path(folder).rglob("events_*"):
        for text in path.read_text().splitlines():
            event = json.loads(text)
            if event["Event"] != "SparkListenerTaskEnd" or "Task Metrics" not in event:
                continue
            wrote = event["Task Metrics"]["Shuffle Write Metrics"]
            size, records = stages.get(event["Stage ID"], (0, 0))
            stages[event["Stage ID"]] = (
                size + wrote["Shuffle Bytes Written"],
                records + wrote["Shuffle Records Written"],
            )
    return [found for _, found in sorted(stages.items()) if found[0]]


def in_its_own_process(module: str, job: str, *arguments: int) -> dict[str, Any]:
    """What a function of a benchmark returns, with the bytes and records of each shuffle in "shuffled"."""
    with tempfile.TemporaryDirectory(dir=os.environ.get("BULK_FOLDER")) as folder:
        code = (
            f"import json; from benchmarks import {module}; "
            f"print(json.dumps({module}.{job}(*{arguments}, {folder!r})))"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        found["shuffled"] = shuffled(folder)
    return found
