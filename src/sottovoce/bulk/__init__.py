"""Bulk work: columns of files and dataframes randomised and counted, on one machine or on Spark.

    from sottovoce import bulk
    bulk.report("people.parquet", {"wait": m}, output="reports.parquet", keep=["country"])
    bulk.tally("reports.parquet", "wait")                    # the mechanism comes with the file
    bulk.tally("reports.parquet", "wait", by=["country"])    # one tally per group
    bulk.estimates("reports.parquet", "wait", "country", sv.mean)   # one row per group

Reports carry the spec and digest of their mechanism in the column's metadata, so nothing has to be passed
along by hand and a mix-up is refused. The verbs for Spark are in `sottovoce.bulk.spark`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from sottovoce.errors import MissingExtra

try:
    import pyarrow  # noqa: F401  all of this package works on it
except ImportError:
    raise MissingExtra("bulk work", "files") from None

if TYPE_CHECKING:
    from sottovoce.bulk.count import tally as tally
    from sottovoce.bulk.group_estimates import estimates as estimates
    from sottovoce.bulk.grouped_tally import GroupedTally as GroupedTally
    from sottovoce.bulk.report_runs import report as report

#: Where each verb lives; loaded on first use, so that counting does not load what randomises.
_HOME = {
    "GroupedTally": "grouped_tally",
    "estimates": "group_estimates",
    "report": "report_runs",
    "tally": "count",
}

__all__ = ["GroupedTally", "estimates", "report", "tally"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'sottovoce.bulk' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"sottovoce.bulk.{_HOME[name]}"), name)
    globals()[name] = value
    return value
