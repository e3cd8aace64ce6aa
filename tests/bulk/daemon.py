"""What Spark forks its Python workers from, with their modules: dozens of them would import the same again.

    python -m tests.bulk.daemon pyspark.worker        as Spark starts it with the setting `PRELOADED`

Nothing may start a thread before the fork, so Arrow's allocator is told not to. Spark's own daemon imports
nothing; the driver that is killed in test_spark_killed.py has that one.
"""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path

PRELOADED = {"spark.python.daemon.module": __name__}

if __name__ == "__main__":
    os.environ |= {"JE_ARROW_MALLOC_CONF": "background_thread:false", "OPENBLAS_NUM_THREADS": "1"}
    for name in ("pandas", "pyspark.worker", "sottovoce.bulk.spark", "sottovoce.designs.classic"):
        import_module(name)
    assert len(list(Path("/proc/self/task").iterdir())) == 1
    import_module("pyspark.daemon").manager()
