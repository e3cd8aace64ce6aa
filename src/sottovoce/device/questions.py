"""What a campaign asks: a number, several numbers at once, or a position. Each is answered by one report.

A value that is missing (None, NaN, infinite) or out of range is answered by the declared rule, part by part,
through the same mechanism: neither silence nor an error may depend on what the value is. Only a value that
is no number at all, or the wrong count of them, is an error of the program.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sottovoce.compose.polar import Polar
from sottovoce.compose.vectors import Vector
from sottovoce.core.domains import Domain
from sottovoce.core.errors import real_number
from sottovoce.core.mechanism import Mechanism
from sottovoce.core.mixture import Mixture
from sottovoce.core.randomness import Seeded, word_source
from sottovoce.core.values import number_or_nan

Asked = Mechanism | Mixture | Vector | Polar
Rule = float | str
#: A cell; of a vector the (attribute, cell) pairs that were drawn, attributes increasing.
Cell = int | tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Fallback:
    """What one number of a given domain becomes when it is missing or out of range."""

    domain: Domain
    missing: Rule
    out_of_range: str

    def __post_init__(self) -> None:
        if self.out_of_range not in ("clip", "missing"):
            raise ValueError(
                f"out_of_range must be 'clip' or 'missing', got out_of_range={self.out_of_range!r}"
            )
        if self.missing == "uniform":
            return
        if isinstance(self.missing, str):
            raise ValueError(f"missing must be 'uniform' or a value, got missing={self.missing!r}")
        value = real_number(self.missing, "missing")
        if not bool(self.domain.contains(value)):
            raise ValueError(f"missing must lie in the domain, got missing={value!r}")
        object.__setattr__(self, "missing", value)

    def judge(self, value: object) -> float | None:
        """The number to randomise, None if it is missing. Never an error because of what the number is."""
        number = number_or_nan(value)
        if not math.isfinite(number):
            return None
        if bool(self.domain.contains(number)):
            return number
        if self.out_of_range == "missing":
            return None
        return float(self.domain.bring_inside(np.asarray(number)))

    def filled(self, number: float | None, rng: Seeded = None) -> float:
        """The number, or what stands in for it: a uniform draw, or the declared value."""
        if number is not None:
            return number
        if not isinstance(self.missing, str):
            return self.missing
        return float(self.domain.from_unit(float(word_source(rng).words(1)[0] >> np.uint64(11)) * 2.0**-53))


class Question(ABC):
    """One answer of a campaign: how a value is read, drawn, and written down."""

    @property
    @abstractmethod
    def outcomes(self) -> int:
        """How many different answers there are."""

    @property
    @abstractmethod
    def words(self) -> str:
        """What is asked, in words; empty when it is one number."""

    @abstractmethod
    def judge(self, value: object) -> Any:
        """The value with None where it is missing."""

    @abstractmethod
    def draw(self, judged: Any, rng: Seeded = None) -> Cell:
        """One exact draw; of what is missing by its stand-in."""

    def holds(self, cell: Cell) -> bool:
        """Whether the mechanism can give this answer."""
        return isinstance(cell, int) and 0 <= cell < self.outcomes


@dataclass(frozen=True)
class Number(Question):
    mechanism: Mechanism | Mixture
    fallback: Fallback
    words = ""

    @property
    def outcomes(self) -> int:
        return self.mechanism.cells

    def judge(self, value: object) -> float | None:
        return self.fallback.judge(value)

    def draw(self, judged: float | None, rng: Seeded = None) -> int:
        return int(self.mechanism.report(self.fallback.filled(judged, rng), clip=True, rng=rng))


@dataclass(frozen=True)
class Numbers(Question):
    """Several numbers: all of them, or some by lot, within one ε."""

    mechanism: Vector
    fallbacks: tuple[Fallback, ...]

    @property
    def outcomes(self) -> int:
        ways = [1] + [0] * self.mechanism.sampled  # ways[j]: reports of j attributes among those seen so far
        for part in self.mechanism.parts:
            for j in range(self.mechanism.sampled, 0, -1):
                ways[j] += ways[j - 1] * part.cells
        return ways[-1]

    @property
    def words(self) -> str:
        d, k = self.mechanism.attributes, self.mechanism.sampled
        if k == d:
            return f"Asks for {d} numbers at once, in one report."
        return f"Asks for {d} numbers at once and sends {k} of them, drawn by lot."

    def judge(self, value: object) -> tuple[float | None, ...]:
        return _judged(value, self.fallbacks)

    def draw(self, judged: tuple[float | None, ...], rng: Seeded = None) -> Cell:
        row = [fallback.filled(one, rng) for fallback, one in zip(self.fallbacks, judged, strict=True)]
        report = self.mechanism.report([row], clip=True, rng=rng)
        return tuple(zip(report.attributes[0].tolist(), report.cells[0].tolist(), strict=True))

    def holds(self, cell: Cell) -> bool:
        if isinstance(cell, int) or len(cell) != self.mechanism.sampled:
            return False
        chosen = [attribute for attribute, _ in cell]
        if chosen != sorted(set(chosen)) or not 0 <= chosen[0] <= chosen[-1] < self.mechanism.attributes:
            return False
        return all(0 <= one < self.mechanism.parts[attribute].cells for attribute, one in cell)


@dataclass(frozen=True)
class Position(Question):
    """Distance and angle, within one ε; an angle is an angle, however often around."""

    mechanism: Polar
    fallbacks: tuple[Fallback, ...]
    words = "Asks for a position: a distance and an angle, in one report."

    @property
    def outcomes(self) -> int:
        return self.mechanism.cells

    def judge(self, value: object) -> tuple[float | None, ...]:
        return _judged(value, self.fallbacks)

    def draw(self, judged: tuple[float | None, ...], rng: Seeded = None) -> int:
        r, theta = (fallback.filled(one, rng) for fallback, one in zip(self.fallbacks, judged, strict=True))
        return int(self.mechanism.report(r, theta, clip=True, rng=rng))


def ask(mechanism: Asked, missing: object, out_of_range: str) -> Question:
    """The question of a mechanism, with the declared rules."""
    if isinstance(mechanism, Mechanism | Mixture):
        return Number(mechanism, Fallback(mechanism.domain, missing, out_of_range))  # type: ignore[arg-type]
    if isinstance(mechanism, Polar):
        domains = (mechanism.distance.domain, mechanism.angle.domain)
        distance, angle = rules(missing, 2)
        both = Fallback(domains[0], distance, out_of_range), Fallback(domains[1], angle, "clip")
        return Position(mechanism, both)
    each = zip(mechanism.domains, rules(missing, mechanism.attributes), strict=True)
    return Numbers(mechanism, tuple(Fallback(domain, rule, out_of_range) for domain, rule in each))


def rules(missing: object, count: int) -> list[Rule]:
    """One rule for every number: the same for all, or a list."""
    if isinstance(missing, str) or not isinstance(missing, Sequence):
        return [missing] * count  # type: ignore[list-item]
    if len(missing) != count:
        raise ValueError(f"missing must have {count} entries, got {len(missing)}")
    return list(missing)


def cell_of(entry: object) -> Cell:
    """An answer as it is read from a file."""
    if isinstance(entry, list):
        if not all(isinstance(pair, list) and [type(n) for n in pair] == [int, int] for pair in entry):
            raise TypeError("an answer is a cell, or pairs of an attribute and a cell")
        return tuple((pair[0], pair[1]) for pair in entry)
    if type(entry) is not int:
        raise TypeError("an answer is a cell, or pairs of an attribute and a cell")
    return entry


def _judged(value: object, fallbacks: Sequence[Fallback]) -> tuple[float | None, ...]:
    if value is None:
        return (None,) * len(fallbacks)
    numbers = value.tolist() if isinstance(value, np.ndarray) else value
    if (
        isinstance(numbers, str | bytes)
        or not isinstance(numbers, Sequence)
        or len(numbers) != len(fallbacks)
    ):
        raise TypeError(f"value must be {len(fallbacks)} numbers (None: missing) or None")
    return tuple(fallback.judge(number) for fallback, number in zip(fallbacks, numbers, strict=True))
