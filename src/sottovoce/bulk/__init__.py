"""Bulk work: columns of files and dataframes randomised and counted, on one machine or on Spark.

    from sottovoce import bulk
    bulk.report("people.parquet", {"wait": m}, output="reports.parquet", keep=["country"])
    bulk.tally("reports.parquet", "wait")                    # the mechanism comes with the file
    bulk.tally("reports.parquet", "wait", by=["country"])    # one tally per group
    bulk.estimates("reports.parquet", "wait", "country", sv.mean)   # one row per group

Reports carry the spec and digest of their mechanism in the column's metadata, so nothing has to be passed
along by hand and a mix-up is refused. The verbs for Spark are in `sottovoce.bulk.spark`.
"""

import sottovoce.bulk.arrow  # first: it says which extra is missing  # noqa: F401
from sottovoce.bulk.estimating import estimates
from sottovoce.bulk.files import report
from sottovoce.bulk.groups import GroupedTally
from sottovoce.bulk.tallies import tally

__all__ = ["GroupedTally", "estimates", "report", "tally"]
