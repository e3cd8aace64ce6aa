"""What an entry writes on: findings that judge themselves, tables for CSV files, pictures.

A finding's words are formats of its numbers, so that what is shown and what is compared cannot differ:

    sheet.statement("OGPM is lower at every x", worst < 0, "largest excess {excess:.1g}", {"excess": worst})
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, SupportsFloat

import numpy as np

from papers.findings import Finding, Result, Verdict
from papers.plots import curves, dress, figure, line
from sottovoce.arrays import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Numbers = Mapping[str, SupportsFloat]


def span(values: Any) -> Numbers:
    """The least and the most of some numbers."""
    return {"least": float(np.min(values)), "most": float(np.max(values))}


class Sheet:
    """The findings, tables and pictures of one entry, as they are added."""

    def __init__(self) -> None:
        self.findings: list[Finding] = []
        self.tables: dict[str, Mapping[str, Any]] = {}
        self.pictures: dict[str, Figure] = {}

    def result(self) -> Result:
        """Everything that was added."""
        return Result(self.findings, self.tables, self.pictures)

    def number(
        self,
        claim: str,
        paper: float,
        ours: SupportsFloat,
        *,
        within: float,
        digits: int = 1,
        unit: str = "",
        corrected: bool = False,
        note: str = "",
        numbers: Numbers | None = None,
    ) -> None:
        """The paper's number against ours: the verdict follows from the difference and nothing else."""
        value = float(ours)
        close = math.isfinite(value) and abs(paper - value) <= within + 1e-12
        good = Verdict.CORRECTED if corrected else Verdict.REPRODUCED
        shown = digits if close else digits + 1
        told = f"{round(value, shown) + 0.0:.{shown}f}{unit}"  # no "-0.00"
        every = {"paper": paper, "ours": value, **(numbers or {})}
        self._add(claim, f"{paper:.{digits}f}{unit}", told, good if close else Verdict.FAILED, note, every)

    def percent(self, claim: str, paper: float, ours: FloatArray, other: Any, **options: Any) -> None:
        """The mean of our errors in percent of the mean of another's: half a point is close."""
        ratio = 100 * float(np.mean(ours)) / float(np.mean(other))
        self.number(claim, paper, ratio, **{"within": 0.5, "unit": " %", **options})

    def statement(
        self,
        claim: str,
        holds: bool | np.bool_,
        ours: str,
        numbers: Numbers | None = None,
        *,
        note: str = "",
        paper: str = "claimed",
    ) -> None:
        """A claim in words, against what the computation found."""
        self._add(claim, paper, ours, Verdict.REPRODUCED if holds else Verdict.FAILED, note, numbers or {})

    def addition(
        self, claim: str, ours: str, numbers: Numbers | None = None, *, note: str = "", paper: str = "–"
    ) -> None:
        """A number that the paper does not give and should be read next to it."""
        self._add(claim, paper, ours, Verdict.OURS, note, numbers or {})

    def _add(self, claim: str, paper: str, ours: str, verdict: Verdict, note: str, numbers: Numbers) -> None:
        plain = {name: float(value) for name, value in numbers.items()}
        self.findings.append(
            Finding(claim, paper, ours.format(**plain), verdict, note.format(**plain), plain)
        )

    def figure(
        self, panels: int = 1, *, rows: int = 1, size: tuple[float, float] = (3.6, 2.9), name: str = ""
    ) -> list[Axes]:
        """A picture of equal panels."""
        self.pictures[name], axes = figure(panels, rows=rows, size=size)
        return axes

    def plot(
        self,
        axes: Axes,
        x: Any,
        named: Mapping[str, Any],
        title: str,
        across: str,
        up: str,
        *,
        table: str | None = "",
        log: str = "",
        bottom: float | None = None,
        top: float | None = None,
        legend: bool | str = True,
        columns: int = 1,
        colours: Mapping[str, str] | None = None,
        **style: Any,
    ) -> None:
        """Curves on one panel, the panel's words, and the table of the curves.

        `across` and `up` name the axes, `log` those that are logarithmic ("x", "y" or "xy"); `colours` are of
        curves that do not have that of their mechanism; `table` names the CSV file, None for none.
        """
        own = {name: {"color": colour} for name, colour in (colours or {}).items()}
        for name, values in named.items():
            line(axes, x, values, name, **{**style, **own.get(name, {})})
        if "x" in log:
            axes.set_xscale("log")
        if "y" in log:
            axes.set_yscale("log")
        if bottom is not None or top is not None:
            axes.set_ylim(bottom, top)
        dress(axes, title, across, up, legend=legend, columns=columns)
        if table is not None:
            self.tables[table] = curves(x, named)
