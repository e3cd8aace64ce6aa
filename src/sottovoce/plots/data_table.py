"""Results that are rows of a table: as a data frame, and in a notebook."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from sottovoce.errors import require_extra
from sottovoce.frozen import Compact
from sottovoce.notebook import Shown

if TYPE_CHECKING:
    from pandas import DataFrame

Row = dict[str, float | int | str | None]
MOST_SHOWN = 20


class Tabular(Shown, Compact, ABC):
    """A result with rows."""

    @property
    @abstractmethod
    def rows(self) -> list[Row]:
        """Rows of plain values under the names of their columns."""

    def to_frame(self) -> DataFrame:
        """The rows as a data frame.

        Returns:
            A pandas data frame.

        Raises:
            MissingExtra: If pandas is not installed.
        """
        require_extra("files", "a data frame", "pandas")
        import pandas

        return pandas.DataFrame(self.rows)

    def _fields(self) -> Mapping[str, str]:
        return {}

    def _table(self) -> Sequence[Sequence[str]]:
        rows = self.rows
        cells = [[_cell(value) for value in row.values()] for row in rows[:MOST_SHOWN]]
        rest = [[f"… and {len(rows) - MOST_SHOWN:,} more"]] if len(rows) > MOST_SHOWN else []
        return [list(rows[0]), *cells, *rest]

    def _remarks(self) -> tuple[str, ...]:
        return ()


def label(key: object) -> str:
    """The name of a group, whose key may be a tuple."""
    return ", ".join(map(str, key)) if isinstance(key, tuple) else str(key)


def _cell(value: float | int | str | None) -> str:
    return f"{value:.6g}" if isinstance(value, float) else "" if value is None else str(value)
