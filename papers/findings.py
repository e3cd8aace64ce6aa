"""What an entry takes and gives: how much is run, and the paper's statements next to what was found."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Verdict(StrEnum):
    """What a comparison with a paper's number found."""

    REPRODUCED = "reproduced"
    CORRECTED = "reproduced with the corrected formula"
    FAILED = "not reproducible"
    OURS = "not in the paper"


@dataclass(frozen=True)
class Finding:
    """One statement of a paper, its number, ours, and why they differ if they do.

    Attributes:
        claim: The statement in words.
        paper: The paper's number, as the report shows it.
        ours: What the computation found, as the report shows it.
        verdict: What follows from the two.
        note: Why they differ, or what else to know.
        numbers: The numbers that `paper`, `ours` and `note` show, unrounded.
    """

    claim: str
    paper: str
    ours: str
    verdict: Verdict
    note: str = ""
    numbers: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Result:
    """What an entry found.

    Attributes:
        findings: The paper's statements, judged.
        tables: Columns of CSV files, by the file's name and the column's.
        pictures: Figures by name.
    """

    findings: Sequence[Finding]
    tables: Mapping[str, Mapping[str, Sequence[object]]] = field(default_factory=dict)
    pictures: Mapping[str, Figure] = field(default_factory=dict)


@dataclass(frozen=True)
class Run:
    """How a reproduction is run: everything an entry's numbers may depend on.

    Attributes:
        quick: A smaller run.
        seed: The seed of all simulations.
        motionsense: The folder of the MotionSense files; a synthetic stand-in without it.
    """

    quick: bool = False
    seed: int = 20250
    motionsense: Path | None = None

    def rng(self, *what: object) -> np.random.Generator:
        """A generator of its own for each purpose, so that no entry's numbers depend on another's.

        Args:
            *what: Names the purpose.

        Returns:
            The same generator for the same seed and purpose.
        """
        return np.random.default_rng([self.seed, zlib.crc32(repr(what).encode())])

    def few(self, quick: int, full: int) -> int:
        """How many repetitions to run.

        Args:
            quick: So many in a quick run.
            full: So many otherwise.

        Returns:
            One of the two.
        """
        return quick if self.quick else full
