"""What is regenerated: entries, each a figure, table, example or theorem of a paper.

A module of this package registers its entries with `@entry`; importing the modules collects them. An entry
is a function of a `Run` (how much, which seed, which data) that fills a `Sheet`.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass

from papers.findings import Result, Run
from papers.sheet import Sheet
from sottovoce.errors import ArgumentError

Fill = Callable[[Run, Sheet], None]

#: The papers, in the order of the report.
PAPERS = {
    "ogpm": "OGPM: Zheng, Mishra, Hu, Optimal piecewise-based mechanism for bounded numerical data under LDP",
    "ptt": "PTT: Ma, Zhu, Wang, Optimal piecewise transformation technique under LDP",
    "hourglass": "Hourglass: better private mean estimation in the add-remove model",
    "beyond": "Beyond the papers: the certified optimum and the limit in the same plots",
}


@dataclass(frozen=True)
class Entry:
    """A figure, table, example or theorem of a paper.

    Attributes:
        paper: A key of `PAPERS`.
        name: Such as "figure-8".
        title: What it shows.
        make: Computes it again.
    """

    paper: str
    name: str
    title: str
    make: Callable[[Run], Result]

    @property
    def key(self) -> str:
        """The name of the entry in the report and on disk."""
        return f"{self.paper}-{self.name}"


_ENTRIES: dict[str, Entry] = {}


def entry(paper: str, name: str, title: str) -> Callable[[Fill], Fill]:
    """Register a function that fills a sheet as an entry of the report."""

    def register(fill: Fill) -> Fill:
        def make(run: Run) -> Result:
            sheet = Sheet()
            fill(run, sheet)
            return sheet.result()

        one = Entry(paper, name, title, make)
        if paper not in PAPERS or one.key in _ENTRIES:
            raise ArgumentError(
                f"entry {one.key} is of an unknown paper or registered twice", code="twice", argument="key"
            )
        _ENTRIES[one.key] = one
        return fill

    return register


def entries() -> list[Entry]:
    """List every entry of every paper.

    Returns:
        Paper by paper, in natural order.
    """
    import papers as package

    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{package.__name__}.{module.name}")
    order = list(PAPERS)
    return sorted(_ENTRIES.values(), key=lambda e: (order.index(e.paper), _natural(e.name)))


def _natural(name: str) -> tuple[object, ...]:
    parts = name.split("-")
    return tuple((1, int(part), "") if part.isdigit() else (0, 0, part) for part in parts)
