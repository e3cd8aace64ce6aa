"""Counts as files, a day at a time: what is published about the reports, exactly."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sottovoce.collector.campaigns.clock import day_text
from sottovoce.errors import require_extra

Form = Literal["csv", "parquet"]
#: A day, its cells in order, and how often each was reported.
Day = tuple[int, NDArray[np.int64], NDArray[np.int64]]
_PIECE = 20_000


def export(days: Iterable[Day], form: Form) -> Iterator[bytes]:
    """Counts as CSV or Parquet, in pieces: no more than a day is in memory."""
    if form == "parquet":
        require_extra("files", "a Parquet file")
    return _csv(days) if form == "csv" else _parquet(days)


def _csv(days: Iterable[Day]) -> Iterator[bytes]:
    yield b"day,cell,count\n"
    for day, cells, counts in days:
        name = day_text(day)
        for first in range(0, len(cells), _PIECE):
            piece = slice(first, first + _PIECE)
            rows = zip(cells[piece].tolist(), counts[piece].tolist(), strict=True)
            yield "".join(f"{name},{cell},{count}\n" for cell, count in rows).encode()


def _parquet(days: Iterable[Day]) -> Iterator[bytes]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema({"day": pa.date32(), "cell": pa.uint32(), "count": pa.int64()})
    sink = _Sink()
    with pq.ParquetWriter(pa.PythonFile(sink, mode="w"), schema) as writer:
        for day, cells, counts in days:
            columns = [np.full(len(cells), day, dtype=np.int32), cells.astype(np.uint32), counts]
            arrays = [pa.array(one).cast(field.type) for one, field in zip(columns, schema, strict=True)]
            writer.write_table(pa.table(arrays, schema=schema))  # a row group for each day
            yield sink.taken()
    yield sink.taken()


class _Sink(io.RawIOBase):
    """Takes what a writer writes; whoever reads takes it away piece by piece."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, piece: object) -> int:
        self._pieces.append(bytes(piece))  # type: ignore[call-overload]
        return len(self._pieces[-1])

    def taken(self) -> bytes:
        """What was written since the last time."""
        pieces, self._pieces = self._pieces, []
        return b"".join(pieces)
