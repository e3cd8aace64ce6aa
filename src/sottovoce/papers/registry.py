"""What is regenerated: entries, each a figure, table, example or theorem of a paper.

A module of this package registers its entries with `@entry`; importing the modules collects them. An entry
is a function of a `Run` (how much, which seed, which data) and returns a `Result`: findings that
put the paper's number next to ours, tables for CSV files, and pictures.
"""

from __future__ import annotations

import importlib
import math
import pkgutil
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: The papers, in the order of the report.
PAPERS = {
    "ogpm": "OGPM: Zheng, Mishra, Hu, Optimal piecewise-based mechanism for bounded numerical data under LDP",
    "ptt": "PTT: Ma, Zhu, Wang, Optimal piecewise transformation technique under LDP",
    "hourglass": "Hourglass: better private mean estimation in the add-remove model",
    "beyond": "Beyond the papers: the certified optimum and the limit in the same plots",
}


class Verdict(StrEnum):
    """What a comparison with a paper's number found."""

    REPRODUCED = "reproduced"
    CORRECTED = "reproduced with the corrected formula"
    FAILED = "not reproducible"
    OURS = "not in the paper"


@dataclass(frozen=True)
class Finding:
    """One statement of a paper, its number, ours, and why they differ if they do.

    `claim` is the statement in words, `verdict` follows from the two numbers, `note` says why.
    """

    claim: str
    paper: str
    ours: str
    verdict: Verdict
    note: str = ""


@dataclass(frozen=True)
class Result:
    """What an entry found: `findings`, `tables` by name and column, `pictures` by name."""

    findings: Sequence[Finding]
    tables: Mapping[str, Mapping[str, Sequence[object]]] = field(default_factory=dict)
    pictures: Mapping[str, Figure] = field(default_factory=dict)


@dataclass(frozen=True)
class Run:
    """How a reproduction is run: everything an entry's numbers may depend on.

    `quick` is for a smaller run, `seed` is that of all simulations, `motionsense` the folder of the data.
    """

    quick: bool = False
    seed: int = 20250
    motionsense: Path | None = None

    def rng(self, *what: object) -> np.random.Generator:
        """A generator of its own for each purpose, so that no entry's numbers depend on another's.

        `what` names the purpose.
        """
        return np.random.default_rng([self.seed, zlib.crc32(repr(what).encode())])

    def few(self, quick: int, full: int) -> int:
        """How many repetitions: `quick` of them in a quick run, otherwise `full`."""
        return quick if self.quick else full


@dataclass(frozen=True)
class Entry:
    """A figure, table, example or theorem of a `paper`: `name`, `title`, and `make`, which redoes it."""

    paper: str
    name: str
    title: str
    make: Callable[[Run], Result]

    @property
    def key(self) -> str:
        """The name of the entry in the report and on disk."""
        return f"{self.paper}-{self.name}"


_ENTRIES: dict[str, Entry] = {}


def entry(paper: str, name: str, title: str) -> Callable[[Callable[[Run], Result]], Callable[[Run], Result]]:
    """Register a function as an entry of the report."""

    def register(make: Callable[[Run], Result]) -> Callable[[Run], Result]:
        found = Entry(paper, name, title, make)
        if paper not in PAPERS or found.key in _ENTRIES:
            raise ValueError(f"entry {found.key} is of an unknown paper or registered twice")
        _ENTRIES[found.key] = found
        return make

    return register


def entries() -> list[Entry]:
    """Every entry of every module, paper by paper, in natural order."""
    import sottovoce.papers as package

    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{package.__name__}.{module.name}")
    order = list(PAPERS)
    return sorted(_ENTRIES.values(), key=lambda e: (order.index(e.paper), _natural(e.name)))


def _natural(name: str) -> tuple[object, ...]:
    parts = name.split("-")
    return tuple((1, int(part), "") if part.isdigit() else (0, 0, part) for part in parts)


# -- findings that judge themselves -----------------------------------------------------------------------


def number(
    claim: str,
    paper: float,
    ours: float,
    *,
    within: float,
    digits: int = 1,
    unit: str = "",
    corrected: bool = False,
    note: str = "",
) -> Finding:
    """The paper's number against ours: the verdict follows from the difference and nothing else."""
    close = math.isfinite(ours) and abs(paper - ours) <= within + 1e-12
    good = Verdict.CORRECTED if corrected else Verdict.REPRODUCED
    shown = digits if close else digits + 1
    ours = round(ours, shown) + 0.0  # no "-0.00"
    verdict = good if close else Verdict.FAILED
    return Finding(claim, f"{paper:.{digits}f}{unit}", f"{ours:.{shown}f}{unit}", verdict, note)


def statement(claim: str, holds: bool, ours: str, *, note: str = "", paper: str = "claimed") -> Finding:
    """A claim in words, against what the computation found."""
    return Finding(claim, paper, ours, Verdict.REPRODUCED if holds else Verdict.FAILED, note)


def addition(claim: str, ours: str, *, note: str = "", paper: str = "–") -> Finding:
    """A number that the paper does not give and should be read next to it."""
    return Finding(claim, paper, ours, Verdict.OURS, note)
