"""Spark whose parts are killed while they work: a program of its own, for the tests to run and to kill.

    python -m tests.bulk.cluster_run FOLDER hang      writes reports until somebody kills this driver
    python -m tests.bulk.cluster_run FOLDER kill      writes them on two executors, then kills those

In front of `report`, or behind it, runs a step that passes batches on; the first attempt of one partition
stumbles after two of them.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import sottovoce as sv
from sottovoce.bulk import spark
from tests.bulk.daemon import PRELOADED

N = 2000
SECRET = bytes(range(200, 232))
M = sv.pm(1.0, (0, 10))
WAYS = ("worker", "executor", "overtaken")


def cluster(folder: Path) -> str:
    """The address of a master with two workers as on two hosts: Spark copies slow tasks to another host only.

    The three live in this driver's Java; every executor is a process of its own.
    """
    from pyspark import SparkContext

    SparkContext._ensure_initialized()
    gateway: Any = SparkContext._gateway
    java = gateway.jvm
    settings, none = java.org.apache.spark.SparkConf(), java.scala.Option.empty()
    deploy = java.org.apache.spark.deploy
    master = deploy.master.Master.startRpcEnvAndEndpoint("127.0.0.1", 0, 0, settings)._1()
    masters = gateway.new_array(java.String, 1)
    masters[0] = master.address().toSparkURL()
    for host in ("127.0.0.2", "127.0.0.3"):  # one core and 512 MB each
        place = str(folder / "work" / host)
        deploy.worker.Worker.startRpcEnvAndEndpoint(host, 0, 0, 1, 512, masters, place, none, settings, none)
    return str(masters[0])


def start(folder: Path, master: str, **more: str) -> Any:
    from pyspark.sql import SparkSession

    events = folder / "events"
    events.mkdir(exist_ok=True)
    settings = {
        "spark.ui.enabled": "false",
        "spark.log.level": "INFO",
        "spark.driver.host": "127.0.0.1",
        "spark.executor.memory": "512m",
        "spark.executorEnv.PYTHONPATH": os.pathsep.join(sys.path),
        "spark.executorEnv.SOTTOVOCE_PLAIN": "1",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.dir": events.as_uri(),
        "spark.sql.execution.arrow.maxRecordsPerBatch": "100",
        "spark.speculation": "true",
        "spark.speculation.interval": "100ms",
        "spark.speculation.minTaskRuntime": "3s",
        "spark.speculation.quantile": "0.5",
    }
    builder = SparkSession.builder.master(master).appName("killed")
    for key, value in {**settings, **more}.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def stumbling(way: str, marker: str = "") -> Callable[[Iterator[Any]], Iterator[Any]]:
    """The first attempt of partition 1 kills its worker or its executor, or waits, after two batches."""

    def step(batches: Iterator[Any]) -> Iterator[Any]:
        import os
        import pathlib
        import signal
        import time

        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        first = context.partitionId() == 1 and context.attemptNumber() == 0
        for count, batch in enumerate(batches):
            if first and count == 2:
                if way == "worker":
                    os.kill(os.getpid(), signal.SIGKILL)
                if way == "executor":  # the worker's parent is Spark's daemon, whose parent is the executor
                    fields = pathlib.Path(f"/proc/{os.getppid()}/stat").read_text().rpartition(")")[2].split()
                    os.kill(int(fields[1]), signal.SIGKILL)
                if marker:
                    pathlib.Path(marker).touch()
                time.sleep(600 if marker else 60)
            yield batch

    return step


def people(session: Any) -> Any:
    return session.range(0, N, numPartitions=4).selectExpr("id", "CAST(id % 11 AS DOUBLE) * 0.9 AS wait")


def pairs(frame: Any) -> list[list[int]]:
    return sorted([row["id"], row["wait"]] for row in frame.collect())


def met(session: Any, folder: Path) -> dict[str, Any]:
    """What came out of every mishap."""
    spark.new_secret = lambda: SECRET  # to look for it in what Spark wrote
    reports = spark.report(people(session), "wait", M, row_id="id", keep=["id"])
    found: dict[str, Any] = {"before": pairs(reports), "again": pairs(reports.repartition(3))}
    for way in WAYS:
        found[way] = pairs(reports.mapInArrow(stumbling(way), reports.schema))
        slow = people(session).mapInArrow(stumbling(way), "id long, wait double")
        spark.report(slow, "wait", M, output=str(folder / f"reports-{way}"), keep=["id"])
    found["explained"] = reports._jdf.queryExecution().toString()
    return found


def write(session: Any, folder: Path, *, wait: bool) -> None:
    frame = people(session)
    if wait:
        frame = frame.mapInArrow(stumbling("wait", str(folder / "waiting")), "id long, wait double")
    spark.report(frame, "wait", M, output=str(folder / "reports"), keep=["id"])


if __name__ == "__main__":
    where, wait = Path(sys.argv[1]), sys.argv[2] == "hang"
    session = start(where, "local[2]") if wait else start(where, cluster(where), **PRELOADED)
    write(session, where, wait=wait)
    (where / "found.json").write_text(json.dumps(met(session, where)))
    session.stop()
