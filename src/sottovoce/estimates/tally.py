"""Counts per cell: all that a collector keeps, and all that an estimate needs.

    t = sottovoce.Tally(m, cells)
    t = t_monday + t_tuesday            # exact: merging is integer addition, in any order
    Tally.from_pairs(m, rows)           # SELECT cell, COUNT(*) … GROUP BY cell

A tally belongs to one mechanism, by digest; tallies of different digests refuse to merge. The empty
tally is the identity of `+`; it is only *estimating* from it that is an error.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sized
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sottovoce.core import spec
from sottovoce.core.errors import DataError, MissingExtra, NoDataError, SpecError, whole_number
from sottovoce.core.formats import from_json
from sottovoce.core.kernels.tables import IntArray
from sottovoce.core.number import Number
from sottovoce.core.randomness import Seeded, seeded_generator
from sottovoce.core.reporter import NumberReporter, Reporter
from sottovoce.core.values import as_cells

FORMAT = "tally/1"
_MOST_BYTES = 1 << 25  # two numbers for each of the most cells that a mechanism can have
_MOST = 1 << 53  # reports in one tally: every sum of counts is then an exact integer in any engine


class Tally:
    """How often each cell was reported: immutable.

    >>> from sottovoce.designs.classic import duchi
    >>> m = duchi(epsilon=1.0)
    >>> t = Tally(m, [0, 1, 1]) + Tally(m, [1])
    >>> t.n, t.counts.tolist()
    (4, [1, 3])
    """

    __slots__ = ("_counts", "_mechanism", "_n")
    _counts: IntArray
    _mechanism: Reporter
    _n: int

    def __init__(self, mechanism: Reporter, cells: ArrayLike | None = None) -> None:
        counts = np.zeros(_cell_count(mechanism), dtype=np.int64)
        if cells is not None:
            _count_into(counts, cells, mechanism)
        self._set(mechanism, counts)

    def _set(self, mechanism: Reporter, counts: IntArray) -> None:
        total, width = _total(counts), mechanism.width
        if total % width:
            raise DataError(f"a report is {width} cells: counts must add up to a multiple, got {total}")
        object.__setattr__(self, "_n", total // width)
        counts.setflags(write=False)
        object.__setattr__(self, "_mechanism", mechanism)
        object.__setattr__(self, "_counts", counts)

    @classmethod
    def _of(cls, mechanism: Reporter, counts: IntArray) -> Tally:
        tally = cls.__new__(cls)
        tally._set(mechanism, counts)
        return tally

    # -- other ways in ----------------------------------------------------------------------------------

    @classmethod
    def from_counts(cls, mechanism: Reporter, counts: ArrayLike) -> Tally:
        """One count per cell of the mechanism.

        `counts` are whole numbers, as many as there are cells.
        """
        array = _whole(counts, "counts")
        if array.shape != (_cell_count(mechanism),):
            raise DataError(
                f"counts must have one entry for each of the mechanism's {mechanism.cells} cells, "
                f"got shape {array.shape}"
            )
        return cls._of(mechanism, array.copy())

    @classmethod
    def from_pairs(cls, mechanism: Reporter, pairs: Iterable[tuple[int, int]] | Mapping[int, int]) -> Tally:
        """(cell, count) pairs, as `SELECT cell, COUNT(*) … GROUP BY cell` returns them; repeats add up."""
        rows = list(pairs.items() if isinstance(pairs, Mapping) else pairs)
        if any(not isinstance(row, Sized) or len(row) != 2 for row in rows):
            raise DataError("pairs must be (cell, count)")
        return cls._of(mechanism, _spread(mechanism, [row[0] for row in rows], [row[1] for row in rows]))

    @classmethod
    def from_batches(cls, mechanism: Reporter, batches: Iterable[ArrayLike]) -> Tally:
        """Cells that arrive in batches of any size; memory stays at one count per cell."""
        counts = np.zeros(_cell_count(mechanism), dtype=np.int64)
        for batch in batches:
            _count_into(counts, batch, mechanism)
        return cls._of(mechanism, counts)

    @classmethod
    def from_arrow(
        cls, mechanism: Reporter, data: Any, *, cell: str = "cell", count: str | None = None
    ) -> Tally:
        """Arrow data (array, table, reader or anything with an Arrow stream), batch by batch.

        Of a table the column `cell` is read, with `count` also a column of counts.
        """
        counts = np.zeros(_cell_count(mechanism), dtype=np.int64)
        for batch in _arrow_batches(data):
            columns = getattr(batch, "schema", None)
            if columns is None:
                _count_into(counts, _without_nulls(batch, "cells"), mechanism)
                continue
            missing = [name for name in (cell, count) if name is not None and name not in columns.names]
            if missing:
                raise DataError(f"there is no column {missing[0]!r}; columns are {columns.names}")
            found = _without_nulls(batch.column(cell), cell)
            if count is None:
                _count_into(counts, found, mechanism)
            else:
                counts += _spread(mechanism, found, _without_nulls(batch.column(count), count))
                _total(counts)
        return cls._of(mechanism, counts)

    @classmethod
    def from_json(cls, text: str | bytes, mechanism: Reporter | None = None) -> Tally:
        """Read what `to_json` wrote. With a mechanism, its digest has to be the one in the text."""
        content = spec.parse_json(text, "a tally", _MOST_BYTES)
        if not isinstance(content, dict) or content.get("format") != FORMAT:
            raise SpecError(f"format must be {FORMAT!r}")
        if missing := {"cells", "counts", "mechanism", "digest"} - set(content):
            raise SpecError(f"a tally lacks the key {min(missing)!r}")
        if mechanism is None:
            mechanism = from_json(json.dumps(content["mechanism"]))
        if mechanism.digest != content["digest"]:
            raise DataError(_differ(mechanism.digest, str(content["digest"])))
        return cls._of(mechanism, _spread(mechanism, content["cells"], content["counts"]))

    def to_json(self) -> str:
        """The mechanism's spec and the cells that occurred, with their counts."""
        occurred = np.flatnonzero(self._counts)
        content = {
            "format": FORMAT,
            "digest": self.digest,
            "mechanism": json.loads(self._mechanism.to_json()),
            "cells": occurred.tolist(),
            "counts": self._counts[occurred].tolist(),
        }
        return json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)

    # -- what it holds ----------------------------------------------------------------------------------

    @property
    def reporter(self) -> Reporter:
        """What the reports came from."""
        return self._mechanism

    @property
    def mechanism(self) -> NumberReporter:
        """What the reports came from, if they are of one number.

        Raises:
            DataError: If the tally is of a survey or of positions.
        """
        if not isinstance(self._mechanism, Number):
            asked = self._mechanism.questions.items()
            names = [name for name, question in asked if isinstance(question, Number)]
            hint = f"; ask one of its questions, such as tally[{names[0]!r}]" if names else ""
            kind = f"this is a tally of a {self._mechanism.name}, not of one number{hint}"
            raise DataError(kind, code="kind", argument="tally")
        return self._mechanism

    @property
    def digest(self) -> str:
        """The digest of the mechanism that the reports came from."""
        return self._mechanism.digest

    @property
    def counts(self) -> IntArray:
        """One count per cell (read-only)."""
        return self._counts

    @property
    def n(self) -> int:
        """How many reports."""
        return self._n

    def coarsen(self, first: ArrayLike) -> IntArray:
        """Counts of groups of neighbouring cells: group i holds cells first[i] … first[i+1]−1."""
        starts = np.asarray(first)
        whole = starts.ndim == 1 and starts.size > 0 and starts.dtype.kind in "iu"
        if not (whole and starts[0] == 0 and (np.diff(starts) > 0).all() and starts[-1] < self._counts.size):
            raise ValueError(f"first must increase from 0 and stay below {self._counts.size}")
        return np.add.reduceat(self._counts, starts)

    def required(self, least: int = 1) -> Tally:
        """This tally, if it holds at least that many reports."""
        if self._n < least:
            have = "no reports" if self._n == 0 else f"{self._n} report{'s' if self._n > 1 else ''}"
            raise NoDataError(f"the tally holds {have}; this estimate needs at least {least}")
        return self

    def __getitem__(self, question: str) -> Tally:
        """The tally of one question of a survey, for every estimate that takes a tally.

        Args:
            question: The question's name; what asks one thing only has the question "value".

        Returns:
            A tally of that question's reporter: of those who answered it.

        Raises:
            KeyError: If there is no such question.
        """
        if question not in self._mechanism.questions:
            names = ", ".join(map(repr, self._mechanism.questions))
            raise KeyError(f"there is no question {question!r}; questions are {names}")
        first = 0
        for name, reporter in self._mechanism.questions.items():
            if name == question:
                return Tally._of(reporter, self._counts[first : first + reporter.cells].copy())
            first += reporter.cells
        raise AssertionError

    def generator(self, rng: Seeded = None, *, counts: IntArray | None = None) -> np.random.Generator:
        """What an estimate draws with: seeded by the counts, so that the same tally gives the same answer.

        Args:
            rng: A seed or a generator to use instead.
            counts: The counts that seed it; by default those of the cells.

        Returns:
            A generator of numpy.
        """
        if rng is not None:
            return seeded_generator(rng)
        content = self._counts if counts is None else counts
        seed = hashlib.sha256(self.digest.encode() + content.tobytes()).digest()
        return np.random.default_rng(int.from_bytes(seed[:16], "big"))

    # -- merging ----------------------------------------------------------------------------------------

    def __add__(self, other: object) -> Tally:
        if not isinstance(other, Tally):
            return NotImplemented
        if self.digest != other.digest:
            raise DataError(_differ(self.digest, other.digest))
        return Tally._of(self._mechanism, self._counts + other._counts)

    def __radd__(self, other: object) -> Tally:
        """`sum(tallies)` starts from 0."""
        return self if other == 0 and isinstance(other, int) else NotImplemented

    def __eq__(self, other: object) -> bool:
        same = isinstance(other, Tally) and self.digest == other.digest
        return same and bool(np.array_equal(self._counts, other._counts))  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash((self.digest, self._counts.tobytes()))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a tally is immutable; add tallies with +")

    def __reduce__(self) -> tuple[Any, ...]:
        return Tally.from_counts, (self._mechanism, self._counts)

    def __repr__(self) -> str:
        return f"<Tally n={self._n} cells={self._counts.size} digest={self.digest[:12]}>"


def _cell_count(mechanism: Reporter) -> int:
    if not hasattr(mechanism, "digest") or not hasattr(mechanism, "cells"):
        raise TypeError(f"mechanism must be a mechanism, got {type(mechanism).__name__}")
    return int(mechanism.cells)


def _count_into(counts: IntArray, cells: ArrayLike, mechanism: Reporter) -> None:
    flat = mechanism.checked(_without_nulls(cells, "cells")).reshape(-1)
    if flat.size * 8 < counts.size:
        np.add.at(counts, flat, 1)
    else:
        counts += np.bincount(flat, minlength=counts.size)


def _spread(mechanism: Reporter, cells: ArrayLike, counts: ArrayLike) -> IntArray:
    """Counts given for some cells, repeats added up, as one count per cell."""
    found, amounts = as_cells(cells, _cell_count(mechanism)), _whole(counts, "counts")
    if found.ndim != 1 or found.shape != amounts.shape:
        shapes = f"{found.shape} and {amounts.shape}"
        raise DataError(f"cells and counts must be lists of equal length, got shapes {shapes}")
    _total(amounts)
    out = np.zeros(mechanism.cells, dtype=np.int64)
    np.add.at(out, found, amounts)
    return out


def _total(counts: IntArray) -> int:
    """Their sum, at most 2^53: as floats first, because a sum of absurd integers could wrap around."""
    if counts.sum(dtype=np.float64) > 2.0 * _MOST or int(counts.sum()) > _MOST:
        raise DataError("counts must add up to at most 2^53")
    return int(counts.sum())


def _whole(counts: ArrayLike, name: str) -> IntArray:
    """Counts: whole numbers from 0 to 2^53 (PostgreSQL returns a SUM as Decimal)."""
    array = np.asarray(counts)
    if array.size == 0:
        return array.astype(np.int64)
    if array.dtype.kind == "O":
        try:
            whole = [int(c) if isinstance(c, Decimal) and c == int(c) else c for c in array.reshape(-1)]
            return np.array([whole_number(c, name, 0, _MOST) for c in whole]).reshape(array.shape)
        except (TypeError, ValueError, OverflowError):
            raise DataError(f"{name} must be whole numbers from 0 to 2^53") from None
    if array.dtype.kind not in "iu":
        raise TypeError(f"{name} must be whole numbers, got {array.dtype}")
    wrong = (array < 0) | (array > _MOST)
    if wrong.any():
        first = int(np.argmax(wrong.reshape(-1)))
        raise DataError(
            f"{name} must lie between 0 and 2^53: {int(wrong.sum())} of {array.size} do not, "
            f"the first at index {first}"
        )
    return array.astype(np.int64)


def _without_nulls(column: Any, name: str) -> Any:
    """An Arrow column as numpy; anything else as it came."""
    if not hasattr(column, "null_count") or not hasattr(column, "to_numpy"):
        return column
    if column.null_count:
        raise DataError(f"{name} must not be null: {column.null_count} of {len(column)} are")
    return np.asarray(column)


def _arrow_batches(data: Any) -> Iterable[Any]:
    """Record batches (or plain arrays) of whatever speaks Arrow."""
    try:
        import pyarrow as pa
    except ImportError:
        raise MissingExtra("reading Arrow data", "bulk") from None
    if isinstance(data, pa.Array | pa.RecordBatch):
        return [data]
    if isinstance(data, pa.ChunkedArray):
        return data.iterchunks()
    if isinstance(data, pa.RecordBatchReader):
        return data
    if hasattr(data, "__arrow_c_stream__"):
        return pa.RecordBatchReader.from_stream(data)
    raise TypeError(f"data must be Arrow data, got {type(data).__name__}")


def _differ(one: str, other: str) -> str:
    return f"tallies of different mechanisms do not merge: digests {one[:12]}… and {other[:12]}…"
