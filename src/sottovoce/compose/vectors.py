"""Many attributes per person within one ε: all of them, or a few chosen by lot.

    m = sottovoce.vector(epsilon=4.0, domains=[(0, 120), (0, 10), sottovoce.Circle(24)])
    report = m.report(rows)              # which attributes, which cells
    t = m.tally(report)
    t.mean(0), t.quantile(1, 0.5), t.circular_mean(2)

Strategies: "split" gives every attribute its share of ε; "sample" lets each person report k of the d
attributes, drawn by lot without a look at the values, with ε/k each (Algorithm 3 of the PTT paper is k = 1);
"auto" takes what has the least total variance, computed exactly for each k.

Missing values. Silence would tell, so a missing value (NaN) is reported like any other: as a uniform draw of
the domain (`missing="uniform"`) or as a declared number, through the same mechanism.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.compose import joint
from sottovoce.compose.attributes import as_spread, worth
from sottovoce.compose.reports import VectorReport, VectorTally
from sottovoce.core import spec
from sottovoce.core.domains import Domain
from sottovoce.core.errors import (
    DataError,
    PrivacyError,
    SpecError,
    check_epsilon,
    real_number,
    whole_number,
)
from sottovoce.core.exact import exp_lower
from sottovoce.core.kernels.tables import FloatArray
from sottovoce.core.mechanism import Mechanism
from sottovoce.core.randomness import Seeded, word_source
from sottovoce.core.values import as_numbers


@dataclass(frozen=True, eq=False, repr=False)
class Vector(spec.Specified):
    """A mechanism for each attribute, and how many of them a person reports.

    `considered` holds what `vector` compared: {how many are reported: total variance per person}.
    `parts` are the mechanisms of the attributes, `sampled` is how many of them a person reports.
    """

    epsilon: float
    parts: tuple[Mechanism, ...]
    sampled: int
    considered: dict[int, float] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        if not 1 <= self.sampled <= len(self.parts):
            raise SpecError(f"sampled must be between 1 and {len(self.parts)}, got sampled={self.sampled}")
        if self.largest_ratio > exp_lower(self.epsilon):
            raise PrivacyError(f"the attributes together exceed epsilon={self.epsilon!r}")

    # -- identity ---------------------------------------------------------------------------------------

    @property
    def attributes(self) -> int:
        """How many attributes there are."""
        return len(self.parts)

    @property
    def domains(self) -> tuple[Domain, ...]:
        """The domain of each attribute."""
        return tuple(part.domain for part in self.parts)

    @property
    def strategy(self) -> str:
        """How people report: all attributes ("split"), or some of them by lot ("sample")."""
        return "split" if self.sampled == self.attributes else "sample"

    @property
    def share(self) -> Fraction:
        """The part of the people who report a given attribute."""
        return Fraction(self.sampled, self.attributes)

    @cached_property
    def largest_ratio(self) -> Fraction:
        """The exact ratio of the joint report.

        Which attributes are reported does not depend on the values and cancels; the reports of those k are
        independent, so the worst case is the product of the k largest ratios.
        """
        return joint.product_of_largest((part.largest_ratio for part in self.parts), self.sampled)

    def to_json(self) -> str:
        """The canonical spec: how many are sampled, and the spec of every part."""
        return joint.write(joint.VECTOR, self.epsilon, self.parts, sampled=self.sampled)

    @classmethod
    def from_json(cls, text: str | bytes) -> Vector:
        """Read a spec that anybody may have written; refused unless its counts give the ε it claims.

        `text` is what `to_json` wrote.
        """
        content = joint.read(text, joint.VECTOR)
        return cls(check_epsilon(content["epsilon"]), joint.parts_of(content), content["sampled"])

    def __repr__(self) -> str:
        return (
            f"<Vector epsilon={self.epsilon!r} reports {self.sampled} of {self.attributes} attributes "
            f"digest={self.digest[:12]}>"
        )

    # -- what the device does ---------------------------------------------------------------------------

    def report(
        self,
        values: ArrayLike,
        *,
        clip: bool = False,
        missing: float | str | Sequence[float | str] = "uniform",
        rng: Seeded = None,
    ) -> VectorReport:
        """Randomise a row of values per person (NaN: missing)."""
        rows = np.array(as_numbers(values, "values"), dtype=np.float64)
        rows = rows[None, :] if rows.ndim == 1 else rows
        if rows.ndim != 2 or rows.shape[1] != self.attributes:
            raise DataError(f"values must have {self.attributes} columns, got shape {np.shape(values)}")
        rng = word_source(rng)
        self._fill(rows, missing, rng)
        chosen = self._choose(len(rows), rng)
        cells = np.empty(chosen.shape, dtype=np.min_scalar_type(max(part.cells for part in self.parts) - 1))
        # Every value is randomised, also those that are not sent: a refusal must not depend on the lot.
        for j, part in enumerate(self.parts):
            try:
                reported = part.report(rows[:, j], clip=clip, rng=rng)
            except DataError as refusal:
                raise DataError(f"attribute {j}: {refusal}") from None
            person, place = np.nonzero(chosen == j)
            cells[person, place] = reported[person]
        return VectorReport(chosen, cells)

    def _fill(self, rows: FloatArray, missing: Any, rng: Seeded) -> None:
        """Put a uniform draw, or the declared number, where a value is missing."""
        each = isinstance(missing, Sequence) and not isinstance(missing, str)
        rules = list(missing) if each else [missing] * self.attributes
        if len(rules) != self.attributes:
            raise ValueError(f"missing must have {self.attributes} entries, got {len(rules)}")
        for j, (rule, domain) in enumerate(zip(rules, self.domains, strict=True)):
            if isinstance(rule, str) and rule != "uniform":
                raise ValueError(f"missing must be 'uniform' or a number, got missing={rule!r}")
            if not isinstance(rule, str) and not domain.contains(real_number(rule, "missing")):
                raise ValueError(f"missing must lie in the domain, got missing={rule!r} for attribute {j}")
            gaps = np.flatnonzero(np.isnan(rows[:, j]))
            if gaps.size and isinstance(rule, str):
                words = word_source(rng).words(gaps.size) >> np.uint64(11)
                rows[gaps, j] = domain.bring_inside(domain.from_unit(words * 2.0**-53))
            elif gaps.size:
                rows[gaps, j] = rule

    def _choose(self, people: int, rng: Seeded) -> NDArray[np.uint8]:
        """Which attributes each person reports, in increasing order."""
        d, k = self.attributes, self.sampled
        if k == d:
            return np.tile(np.arange(d, dtype=np.uint8), (people, 1))
        keys = word_source(rng).words(people * d).reshape(people, d)
        return np.sort(np.argpartition(keys, k - 1, axis=1)[:, :k], axis=1).astype(np.uint8)

    def tally(self, report: VectorReport | None = None) -> VectorTally:
        """Counts per attribute; `+` merges them.

        `report` is what `Vector.report` gave; without it the tally is empty.
        """
        return VectorTally.of(self, report)

    # -- its error --------------------------------------------------------------------------------------

    def worst_variance(self, attribute: int) -> float:
        """Variance per person of the estimated mean of one attribute in the worst case, in its own units.

        On a circle of circumference 2π that of the mean of e^{ix}.
        """
        part = self.parts[attribute]
        return float(part.domain.stretched(worth(part, float(self.share)), 2))

    def expected_variance(self, attribute: int, prior: Any = "uniform") -> float:
        """The same in expectation, when the values of that attribute are spread as assumed.

        `prior` is that spread: "uniform", samples, or values with weights, as in `optimal`.
        """
        part = self.parts[attribute]
        return float(part.domain.stretched(worth(part, float(self.share), as_spread(prior, part.domain)), 2))

    def bound(self, n: int, beta: float = 0.05) -> FloatArray:
        """With probability 1 − β every scaled mean of n people is within this of the truth.

        PTT's Theorem 11 with its constants: Bernstein's inequality for y·d/k (0 when not sampled), about the
        middle of the domain, and a union over attributes. For attributes on intervals, with unbiased
        mechanisms; see `VectorTally.scaled_mean`.
        `beta` is the error that all attributes together may make.
        """
        n, beta = whole_number(n, "n", least=1), real_number(beta, "beta")
        if not 0 < beta < 1:
            raise ValueError(f"beta must lie strictly between 0 and 1, got beta={beta!r}")
        return np.array([self._bernstein(part, n, beta / self.attributes) for part in self.parts])

    def _bernstein(self, part: Mechanism, n: int, beta: float) -> float:
        from sottovoce.compose.attributes import _unit_grid, variance_curve

        if part.domain.is_circle:
            raise ValueError("the bound is for attributes on intervals; a circle has no mean on the line")
        s = float(self.share)
        offset = (_unit_grid() - 0.5) ** 2
        variance = float(np.max(variance_curve(part) / s + (1 / s - 1) * offset))
        largest = float(np.abs(part.window.v - 0.5).max()) / s + 0.5
        log = math.log(2 / beta)
        within = largest * log / (3 * n) + math.sqrt((largest * log / (3 * n)) ** 2 + 2 * variance * log / n)
        return float(part.domain.stretched(within))
