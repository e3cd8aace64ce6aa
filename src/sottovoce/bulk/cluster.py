"""Around Spark: starting a local session, refusals as sentences, folders that are written whole and once."""

from __future__ import annotations

import os
import secrets
import shutil
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sottovoce.core.errors import DataError, MissingExtra, whole_number

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_JAVA = "Spark needs Java 17 or newer: install a JRE (openjdk-17-jre-headless) or set JAVA_HOME"


def session(cores: int | str = "*", *, retries: int = 0, **settings: str) -> SparkSession:
    """A local Spark session with the settings that these verbs like; a cluster's own session works too.

    `retries`: how often a task that died is tried again. A cluster does that on its own; locally it is not
    Spark's habit.
    `cores` is how many to use, "*" for all; further `settings` are Spark's own, by name.
    """
    spark_module = _pyspark()
    whole_number(retries, "retries")
    if shutil.which("java") is None and not os.environ.get("JAVA_HOME"):
        raise OSError(_JAVA)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    master = f"local[{cores},{retries + 1}]"
    builder = spark_module.sql.SparkSession.builder.master(master).appName("sottovoce")
    defaults = {"spark.ui.enabled": "false", "spark.sql.execution.arrow.pyspark.enabled": "true"}
    for key, value in {**defaults, **settings}.items():
        builder = builder.config(key, value)
    try:
        return builder.getOrCreate()
    except spark_module.errors.PySparkRuntimeError as error:
        if "JAVA_GATEWAY_EXITED" in str(error):
            raise OSError(f"{_JAVA}; the Java that was found did not start Spark") from None
        raise


def _pyspark() -> Any:
    try:
        import pandas  # noqa: F401
        import pyarrow  # noqa: F401
        import pyspark.errors
        import pyspark.sql
    except ImportError as error:
        raise MissingExtra(f"Spark (there is no {error.name})", "spark") from None
    return pyspark


def run_action(action: Callable[[], Any]) -> Any:
    """An action whose refusals in the workers come back as the sentence they were, without the stack."""
    from pyspark.errors import PySparkException

    try:
        return action()
    except PySparkException as error:
        if "PATH_ALREADY_EXISTS" in str(error):
            raise FileExistsError(_ONCE) from None
        for line in str(error).splitlines():
            for kind in ("DataError: ", "TypeError: "):
                if kind in line:
                    wrong = DataError if kind.startswith("Data") else TypeError
                    raise wrong(line.partition(kind)[2].strip()) from None
        raise


_ONCE = "output exists already: reports are written once, choose another name"


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
        raise FileExistsError(_ONCE)
    target = files.makeQualified(target)
    parent, name = target.getParent(), target.getName()
    for left in files.globStatus(java.Path(parent, f".{name}.*.partial")) or []:
        files.delete(left.getPath(), True)
    temporary = java.Path(parent, f".{name}.{secrets.token_hex(4)}.partial")
    try:
        run_action(lambda: df.write.mode("error").parquet(temporary.toString()))
        if files.exists(target) or not files.rename(temporary, target):
            raise FileExistsError(_ONCE)
    finally:
        files.delete(temporary, True)


def parallelism(df: DataFrame) -> int:
    """How many tasks run at once."""
    session = df.sparkSession
    if not hasattr(session, "_jsc"):
        return int(session.conf.get("spark.sql.shuffle.partitions") or 1)
    return int(session.sparkContext.defaultParallelism)


def need_columns(df: DataFrame, columns: list[str]) -> None:
    if missing := [name for name in columns if name not in df.columns]:
        raise DataError(f"the data has no column {missing[0]!r}; columns are {df.columns}")
    if odd := [name for name in columns if "." in name or "`" in name]:
        raise DataError(f"column {odd[0]!r} must be renamed: Spark takes a dot or a backtick for syntax")
