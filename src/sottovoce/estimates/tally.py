"""Counts per cell: all that a collector keeps, and all that an estimate needs.

    tally = sottovoce.Tally(m, cells)
    tally = monday + tuesday            # exact: merging is integer addition, in any order
    Tally.from_pairs(m, rows)           # SELECT cell, COUNT(*) … GROUP BY cell

A tally belongs to one reporter, by digest; tallies of different digests refuse to merge. The empty
tally is the identity of `+`; it is only *estimating* from it that is an error.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Mapping, Sized
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sottovoce.arrays import IntArray
from sottovoce.errors import DataError, NoDataError, SpecError, UnknownKey
from sottovoce.estimates.answer.counting import MOST, TOO_MANY, arrow_columns, counts_of, whole_counts
from sottovoce.notebook import Shown
from sottovoce.reporters.base import ReporterBase
from sottovoce.reporters.contract import Reporter
from sottovoce.reporters.formats import from_json, law_of
from sottovoce.wire.canonical import untasked
from sottovoce.wire.checked_json import parse_json

FORMAT = "tally/1"
_MOST_BYTES = 1 << 25  # two numbers for each of the most cells that a mechanism can have


class Tally(Shown):
    """How often each cell was reported: immutable.

    Args:
        reporter: What the reports come from, a mechanism or a survey.
        cells: The reports; none for an empty tally.

    Attributes:
        reporter: What the reports came from.
        law: Their exact law, which estimates work with: the same, or what its spec says.
        counts: One count per cell, read-only.
        n: How many people reported.
        sources: Where the reports come from: a random name for every count that was made, those of all parts
            of a sum. Estimates of tallies that share one are not independent.

    Example:
        >>> from sottovoce.designs.classic import duchi
        >>> m = duchi(epsilon=1.0)
        >>> tally = Tally(m, [0, 1, 1]) + Tally(m, [1])
        >>> tally.n, tally.counts.tolist()
        (4, [1, 3])
    """

    __slots__ = ("counts", "n", "reporter", "sources")
    reporter: Reporter
    counts: IntArray
    n: int
    sources: frozenset[str]

    def __init__(self, reporter: Reporter, cells: ArrayLike | None = None) -> None:
        self._set(reporter, counts_of(reporter, [] if cells is None else [(cells, None)]))

    def _set(self, reporter: Reporter, counts: IntArray, sources: frozenset[str] | None = None) -> None:
        cells, width = int(counts.sum()), reporter.width
        if cells > MOST:
            raise DataError(TOO_MANY)
        if cells % width:
            raise DataError(f"a report is {width} cells: counts must add up to a multiple, got {cells}")
        counts.setflags(write=False)
        sources = frozenset((uuid.uuid4().hex,)) if sources is None else sources
        content = {"reporter": reporter, "counts": counts, "n": cells // width, "sources": sources}
        for name, value in content.items():
            object.__setattr__(self, name, value)

    @classmethod
    def _of(cls, reporter: Reporter, counts: IntArray, sources: frozenset[str] | None = None) -> Tally:
        tally = cls.__new__(cls)
        tally._set(reporter, counts, sources)
        return tally

    # -- other ways in ----------------------------------------------------------------------------------

    @classmethod
    def from_counts(cls, reporter: Reporter, counts: ArrayLike) -> Tally:
        """Take one count per cell.

        Args:
            reporter: What the reports come from.
            counts: Whole numbers, as many as there are cells.

        Returns:
            The tally.

        Raises:
            DataError: If they are not that.
        """
        every = counts_of(reporter, [])
        if (array := whole_counts(counts)).shape != every.shape:
            rule = f"counts must have one entry for each of {every.size} cells"
            raise DataError(f"{rule}, got shape {array.shape}")
        return cls._of(reporter, array + every)

    @classmethod
    def from_pairs(cls, reporter: Reporter, pairs: Iterable[tuple[int, int]] | Mapping[int, int]) -> Tally:
        """Take pairs of cell and count, as `SELECT cell, COUNT(*) … GROUP BY cell` returns them.

        Args:
            reporter: What the reports come from.
            pairs: (cell, count); those of one cell add up.

        Returns:
            The tally.

        Raises:
            DataError: If they are not that.
        """
        rows = list(pairs.items() if isinstance(pairs, Mapping) else pairs)
        if any(not isinstance(row, Sized) or len(row) != 2 for row in rows):
            raise DataError("pairs must be (cell, count)")
        return cls._of(reporter, counts_of(reporter, [([row[0] for row in rows], [row[1] for row in rows])]))

    @classmethod
    def from_batches(cls, reporter: Reporter, batches: Iterable[ArrayLike]) -> Tally:
        """Count reports that arrive in batches; memory stays at one count per cell.

        Args:
            reporter: What the reports come from.
            batches: Reports, batch by batch of any size.

        Returns:
            The tally.
        """
        return cls._of(reporter, counts_of(reporter, ((batch, None) for batch in batches)))

    @classmethod
    def from_arrow(
        cls, reporter: Reporter, data: object, *, cell: str = "cell", count: str | None = None
    ) -> Tally:
        """Count reports in Arrow data, batch by batch.

        Args:
            reporter: What the reports come from.
            data: An array, a table, a reader or anything with an Arrow stream.
            cell: The column of a table that holds the cells.
            count: The column that holds how often each occurred, if there is one.

        Returns:
            The tally.

        Raises:
            DataError: If there is no such column, or something in it is not a cell.
        """
        return cls._of(reporter, counts_of(reporter, arrow_columns(data, cell, count)))

    @classmethod
    def from_json(cls, text: str | bytes, reporter: Reporter | None = None) -> Tally:
        """Read what `to_json` wrote.

        Args:
            text: The JSON.
            reporter: What the reports must have come from, by digest; by default what the text says.

        Returns:
            The tally.

        Raises:
            SpecError: If the text is not a tally.
            DataError: If it is of something else.
        """
        content = parse_json(text, "a tally", _MOST_BYTES)
        if not isinstance(content, dict) or content.get("format") != FORMAT:
            raise SpecError(f"format must be {FORMAT!r}")
        if missing := {"cells", "counts", "mechanism", "digest"} - set(content):
            raise SpecError(f"a tally lacks the key {min(missing)!r}")
        if reporter is None:
            reporter = from_json(json.dumps(content["mechanism"]))
        if reporter.digest != content["digest"]:
            raise DataError(_differ(reporter.digest, str(content["digest"])))
        return cls._of(reporter, counts_of(reporter, [(content["cells"], content["counts"])]))

    def to_json(self) -> str:
        """Write the reporter's spec and the cells that occurred, with their counts.

        Returns:
            JSON, always the same for the same tally.
        """
        occurred = np.flatnonzero(self.counts)
        content = {
            "format": FORMAT,
            "digest": self.digest,
            "mechanism": json.loads(self.reporter.to_json()),
            "cells": occurred.tolist(),
            "counts": self.counts[occurred].tolist(),
        }
        return json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)

    # -- what it holds ----------------------------------------------------------------------------------

    @property
    def law(self) -> ReporterBase:
        """The exact law of what the reports came from: itself, or what its spec says."""
        return law_of(self.reporter)

    @property
    def digest(self) -> str:
        """The digest of what the reports came from."""
        return self.reporter.digest

    def __getitem__(self, item: str) -> Tally:
        """The tally of one item of a survey, for every estimate that takes a tally.

        Args:
            item: The item's name; what asks one thing only has the item "value".

        Returns:
            A tally of that item's reporter: of those who answered it.

        Raises:
            KeyError: If there is no such item.
        """
        first = 0
        for name, reporter in self.reporter.items.items():
            if name == item:
                return Tally._of(reporter, self.counts[first : first + reporter.cells].copy(), self.sources)
            first += reporter.cells
        names = ", ".join(map(repr, self.reporter.items))
        raise UnknownKey(f"there is no item {item!r}; items are {names}", argument="item")

    def required(self, least: int = 1) -> Tally:
        """This tally, if there are reports to estimate from.

        Args:
            least: How many there must be.

        Returns:
            The tally itself.

        Raises:
            NoDataError: If there are fewer.
        """
        if self.n < least:
            have = "no reports" if self.n == 0 else f"{self.n} report{'s' if self.n > 1 else ''}"
            sentence = f"the tally holds {have}; this estimate needs at least {least}"
            raise NoDataError(sentence, argument="tally")
        return self

    # -- merging ----------------------------------------------------------------------------------------

    def __add__(self, other: object) -> Tally:
        if not isinstance(other, Tally):
            return NotImplemented
        if self.digest != other.digest:
            raise DataError(_differ(self.digest, other.digest))
        reporter = self.reporter
        if reporter.questions != other.reporter.questions:  # made for different ones: the sum is for neither
            reporter = from_json(untasked(reporter.to_json()))
        return Tally._of(reporter, self.counts + other.counts, self.sources | other.sources)

    def __radd__(self, other: object) -> Tally:
        """`sum(tallies)` starts from 0."""
        return self if other == 0 and isinstance(other, int) else NotImplemented

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tally):
            return NotImplemented
        return self.digest == other.digest and bool(np.array_equal(self.counts, other.counts))

    def __hash__(self) -> int:
        return hash((self.digest, self.counts.tobytes()))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a tally is immutable; add tallies with +")

    def __reduce__(self) -> tuple[Any, ...]:
        return Tally._of, (self.reporter, self.counts, self.sources)

    def _facts(self) -> dict[str, str]:
        return {"reports": f"{self.n:,}", "of": repr(self.reporter)}

    def __repr__(self) -> str:
        return f"<Tally n={self.n} cells={self.counts.size} digest={self.digest[:12]}>"


def _differ(one: str, other: str) -> str:
    return f"tallies of different mechanisms do not merge: digests {one[:12]}… and {other[:12]}…"
