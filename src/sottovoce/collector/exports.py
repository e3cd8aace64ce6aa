"""Counts as files: what is stored about the reports, exactly."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Literal

from sottovoce.collector.moments import day_text

Form = Literal["csv", "parquet"]


def export(rows: Sequence[tuple[int, int, int]], form: Form) -> bytes:
    """Rows of (day, cell, count), as `Store.daily_counts` gives them, as CSV or Parquet."""
    days, cells, counts = ([row[i] for row in rows] for i in range(3))
    if form == "csv":
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["day", "cell", "count"])
        writer.writerows(zip(map(day_text, days), cells, counts, strict=True))
        return text.getvalue().encode()
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table(
        {
            "day": pa.array(days, pa.int32()).cast(pa.date32()),
            "cell": pa.array(cells, pa.uint32()),
            "count": pa.array(counts, pa.int64()),
        }
    )
    sink = io.BytesIO()
    pq.write_table(table, sink)
    return sink.getvalue()
