"""Results that are rows of a table: as a data frame, and in a notebook."""

from __future__ import annotations

from abc import ABC, abstractmethod
from html import escape
from typing import TYPE_CHECKING

from sottovoce.core.errors import require_extra

if TYPE_CHECKING:
    from pandas import DataFrame

Row = dict[str, float | int | str | None]
MOST_SHOWN = 20


class Tabular(ABC):
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
        require_extra("frames", "a data frame")
        import pandas

        return pandas.DataFrame(self.rows)

    def _repr_html_(self) -> str:
        rows = self.rows[:MOST_SHOWN]
        head = "".join(f"<th>{escape(name)}</th>" for name in rows[0])
        body = ("".join(f"<td>{escape(_cell(value))}</td>" for value in row.values()) for row in rows)
        caption = escape(str(self).splitlines()[0])
        lines = "".join(f"<tr>{cells}</tr>" for cells in (head, *body))
        return f"<table><caption>{caption}</caption>{lines}</table>"


def label(key: object) -> str:
    """The name of a group, whose key may be a tuple."""
    return ", ".join(map(str, key)) if isinstance(key, tuple) else str(key)


def _cell(value: float | int | str | None) -> str:
    return f"{value:.6g}" if isinstance(value, float) else "" if value is None else str(value)
