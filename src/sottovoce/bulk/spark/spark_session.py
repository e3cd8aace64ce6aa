"""A Spark session: started locally, refusals brought back from its tasks, folders written whole and once."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa

from sottovoce import errors
from sottovoce.bulk.tables.arrow_columns import check_type
from sottovoce.errors import Coded, DataError, ExistingFile, FileError, MissingExtra, whole_number
from sottovoce.values.space import Space

if TYPE_CHECKING:
    from pyspark import StatusTracker
    from pyspark.sql import DataFrame, SparkSession

Result = TypeVar("Result")
Task = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]

_JAVA = "Spark needs Java 17 or newer: install a JRE (openjdk-17-jre-headless) or set JAVA_HOME"
_ONCE = "output exists already: reports are written once, choose another name"
_NOTE = "sottovoce-refusal: "
_PATIENCE = 60.0  # seconds for attempts that were given up: Spark interrupts them, and they end soon


def session(cores: int | str = "*", *, retries: int = 0, **settings: str) -> SparkSession:
    """Start a local Spark session with the settings that these verbs like; a cluster's own session works too.

    Args:
        cores: How many to use, "*" for all.
        retries: How often a task that died is tried again. A cluster does that on its own; locally it is not
            Spark's habit.
        settings: Spark's own, by name.

    Returns:
        The session.

    Raises:
        MissingExtra: If pyspark, pandas or pyarrow is not installed.
        OSError: If there is no Java that starts Spark.

    Example:
        >>> session(2, **{"spark.sql.shuffle.partitions": "2"})  # doctest: +SKIP
        <pyspark.sql.session.SparkSession object at ...>
    """
    pyspark = _pyspark()
    whole_number(retries, "retries")
    if shutil.which("java") is None and not os.environ.get("JAVA_HOME"):
        raise FileError(_JAVA)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    master = f"local[{cores},{retries + 1}]"
    builder = pyspark.sql.SparkSession.builder.master(master).appName("sottovoce")
    defaults = {"spark.ui.enabled": "false", "spark.sql.execution.arrow.pyspark.enabled": "true"}
    for key, value in {**defaults, **settings}.items():
        builder = builder.config(key, value)
    try:
        return builder.getOrCreate()
    except pyspark.errors.PySparkRuntimeError as error:
        if error.getCondition() == "JAVA_GATEWAY_EXITED":
            raise FileError(f"{_JAVA}; the Java that was found did not start Spark") from None
        raise


def _pyspark() -> ModuleType:
    try:
        import pandas  # noqa: F401
        import pyspark.errors
        import pyspark.sql
    except ImportError as error:
        raise MissingExtra(f"Spark (there is no {error.name})", "spark") from None
    return pyspark


# -- refusals: raised in a task, read on the driver ---------------------------------------------------------


def noting_refusals(task: Task) -> Task:
    """The task, with a note on every refusal that the driver can read: all that Spark passes on is text."""

    @wraps(task)
    def noting(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        try:
            yield from task(batches)
        except Coded as error:
            content = {"kind": type(error).__name__, "sentence": str(error)}
            error.add_note(_NOTE + json.dumps({**content, "code": error.code, "argument": error.argument}))
            raise

    return noting


def run_action(action: Callable[[], Result]) -> Result:
    """An action of Spark's; what a task refused comes back as the error it was, without the stack."""
    from pyspark.errors import PySparkException

    try:
        return action()
    except PySparkException as error:
        if error.getCondition() == "PATH_ALREADY_EXISTS":
            raise ExistingFile(_ONCE) from None
        if refusal := _noted(str(error)):
            raise refusal from None
        raise


def _noted(text: str) -> Coded | None:
    """The refusal that a task noted in Spark's account of it."""
    _, mark, rest = text.partition(_NOTE)
    if not mark:
        return None
    note, _ = json.JSONDecoder().raw_decode(rest)
    kind = getattr(errors, note["kind"])
    return kind(note["sentence"], code=note["code"], argument=note["argument"])


# -- output -------------------------------------------------------------------------------------------------


def write_once(df: DataFrame, output: str) -> None:
    """Parquet files in a new folder, which has its name only when all of them are there.

    Written beside it first: Spark's commit keeps one attempt of each task, and the folder is renamed at the
    end. A killed run leaves a hidden folder, which the next one of the same name removes.
    """
    session = df.sparkSession
    if not hasattr(session, "_jsc"):  # Spark Connect shows no file system: Spark's own commit has to do
        run_action(lambda: df.write.mode("error").parquet(output))
        return
    java: Any = session._jvm
    java = java.org.apache.hadoop.fs
    target = java.Path(output)
    files = target.getFileSystem(session._jsc.hadoopConfiguration())
    if files.exists(target):
        raise ExistingFile(_ONCE)
    target = files.makeQualified(target)
    parent, name = target.getParent(), target.getName()
    for left in files.globStatus(java.Path(parent, f".{name}.*.partial")) or []:
        files.delete(left.getPath(), True)
    temporary = java.Path(parent, f".{name}.{secrets.token_hex(4)}.partial")
    try:
        with _all_ended(session):
            run_action(lambda: df.write.mode("error").parquet(temporary.toString()))
        # A task that was given up may still have made its folder after Spark's commit.
        files.delete(java.Path(temporary, "_temporary"), True)
        if files.exists(target) or not files.rename(temporary, target):
            raise ExistingFile(_ONCE)
    finally:
        files.delete(temporary, True)


@contextmanager
def _all_ended(session: SparkSession) -> Iterator[None]:
    """Run jobs, and wait for attempts that they gave up: one that still runs makes its folder again."""
    context, tag = session.sparkContext, f"sottovoce-{secrets.token_hex(4)}"
    context.addJobTag(tag)
    try:
        yield
    finally:
        context.removeJobTag(tag)
        java: Any = context._jsc
        jobs = java.sc().statusTracker().getJobIdsForTag(tag)
        tracker, limit = context.statusTracker(), time.monotonic() + _PATIENCE
        while time.monotonic() < limit and any(_runs(tracker, job) for job in jobs):
            time.sleep(0.05)


def _runs(tracker: StatusTracker, number: int) -> bool:
    """Whether a job, or an attempt that it started, has not ended. (A job's end is told after all starts.)"""
    job = tracker.getJobInfo(number)
    stages = [] if job is None else [tracker.getStageInfo(stage) for stage in job.stageIds]
    ended = job is None or job.status != "RUNNING"
    return not ended or any(stage is not None and stage.numActiveTasks > 0 for stage in stages)


# -- what a frame has ---------------------------------------------------------------------------------------


def parallelism(df: DataFrame) -> int:
    """How many tasks run at once."""
    session = df.sparkSession
    if not hasattr(session, "_jsc"):
        return int(session.conf.get("spark.sql.shuffle.partitions") or 1)
    return int(session.sparkContext.defaultParallelism)


def check_columns(df: DataFrame, columns: Sequence[str]) -> None:
    """Refuse columns that the frame does not have, or that Spark cannot be asked for by name."""
    if missing := [name for name in columns if name not in df.columns]:
        raise DataError(f"the data has no column {missing[0]!r}; columns are {df.columns}")
    if odd := [name for name in columns if "." in name or "`" in name]:
        raise DataError(f"column {odd[0]!r} must be renamed: Spark takes a dot or a backtick for syntax")


def check_values(df: DataFrame, column: str, domain: Space) -> None:
    """Refuse a column whose type does not fit a domain: here, since tasks run later."""
    from pyspark.sql.pandas.types import to_arrow_type

    check_type(to_arrow_type(df.schema[column].dataType), column, domain)
