"""What a person's device agreed to for one campaign. Every rule is public and fixed before the first answer.

How answers repeat:

* ``fresh``  a new draw for every period. Each costs ε; together they cost the sum, whatever the values did.
* ``once``   one draw answers every period. It costs ε once, and later values do not matter at all.
* ``bins``   one draw for every *bin* of the value's range, kept and sent while the value stays in that bin.
  Each new bin costs ε. That is what the answers tell about the values **given when they changed bin**. The
  pattern of changes and returns itself is open: another answer proves another value.
* ``bins`` with ``again=ε₂``: every send is randomised once more, from the kept cell, and costs ε₂. Then the
  pattern is protected too: T sends tell at most T·ε₂ about the whole sequence of values.

A kept cell is a stable identifier, so answers are kept only for mechanisms of at most 64 cells.

Nothing here may depend on a value in a way that others can see. So what a campaign of bins can cost at most
is set aside when it begins (`answers` bins; with `again` also `sends` sends), and when its bins are used up
the device goes on sending the latest kept answer: falling silent would tell that the value has moved.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from sottovoce.designs.response import response
from sottovoce.domains import Domain
from sottovoce.errors import MAX_EPSILON, LedgerError, check_epsilon, real_number, whole_number
from sottovoce.exact import exp_lower
from sottovoce.mechanism import Mechanism
from sottovoce.mixture import Mixture, from_json
from sottovoce.randomness import Seeded, word_source

MAX_KEPT_CELLS = 64
REPEATS = ("fresh", "once", "bins")
MISSING = -1  # the bin of a value that is not there


@dataclass(frozen=True)
class Terms:
    """The rules of one campaign on this device."""

    mechanism: Mechanism | Mixture
    repeat: str = "fresh"
    bins: int | None = None
    answers: int | None = None
    again: float | None = None
    sends: int | None = None
    missing: float | str = "uniform"
    out_of_range: str = "clip"

    def __post_init__(self) -> None:
        if not isinstance(self.mechanism, Mechanism | Mixture):
            raise TypeError(f"mechanism must be a mechanism, got {type(self.mechanism).__name__}")
        if self.mechanism.largest_ratio > exp_lower(self.mechanism.epsilon):
            raise LedgerError("mechanism: its counts break the ε it claims")
        if self.repeat not in REPEATS:
            raise ValueError(f"repeat must be one of {', '.join(REPEATS)}, got repeat={self.repeat!r}")
        if self.repeat != "fresh" and self.mechanism.cells > MAX_KEPT_CELLS:
            raise ValueError(
                f"repeat={self.repeat!r} keeps an answer, and a kept cell is a stable identifier: the "
                f"mechanism must have at most {MAX_KEPT_CELLS} cells, got cells={self.mechanism.cells}"
            )
        self._check_bins()
        if self.sends is not None:
            object.__setattr__(self, "sends", whole_number(self.sends, "sends", least=1))
        self._check_missing()

    def _check_bins(self) -> None:
        kept = self.repeat == "bins"
        for name in ("bins", "answers", "again"):
            if getattr(self, name) is not None and not kept:
                raise ValueError(f"{name} belongs to repeat='bins', got repeat={self.repeat!r}")
        if not kept:
            return
        bins = self.mechanism.cells if self.bins is None else self.bins
        bins = whole_number(bins, "bins", least=1, most=MAX_KEPT_CELLS)
        object.__setattr__(self, "bins", bins)
        if self.answers is None:
            raise ValueError("repeat='bins' needs answers: how many different bins may be paid for")
        object.__setattr__(self, "answers", whole_number(self.answers, "answers", 1, bins + 1))
        if self.again is not None:
            object.__setattr__(self, "again", check_epsilon(self.again))
            if not isinstance(self.mechanism, Mechanism):
                raise ValueError("again needs a mechanism of one part")
            if self.sends is None:
                raise ValueError("again is charged for every send, so it needs sends: how many there may be")

    def _check_missing(self) -> None:
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

    # -- what it costs ----------------------------------------------------------------------------------

    @property
    def domain(self) -> Domain:
        return self.mechanism.domain

    @property
    def epsilon(self) -> Fraction:
        """What one draw costs."""
        return as_written(self.mechanism.epsilon)

    @property
    def epsilon_again(self) -> Fraction:
        """What one send costs beyond that."""
        return Fraction(0) if self.again is None else as_written(self.again)

    @property
    def reserved(self) -> Fraction:
        """What is set aside at enrolment: all that the campaign can cost, wherever that is known."""
        if self.repeat == "once":
            return self.epsilon
        if self.repeat == "fresh":
            return self.epsilon * (self.sends or 0)
        return self.epsilon * (self.answers or 0) + self.epsilon_again * (self.sends or 0)

    @property
    def hides_changes(self) -> bool:
        """Whether ε covers the pattern of changes too, not only the values given the pattern."""
        return self.repeat != "bins" or self.again is not None

    # -- what it does with a value ----------------------------------------------------------------------

    def judge(self, value: object) -> float | None:
        """The value to randomise, None if it is missing. Never an error because of what the value is."""
        if value is None:
            return None
        if isinstance(value, np.ndarray) and value.ndim == 0:
            value = value.item()
        if isinstance(value, bool | np.bool_) or not isinstance(
            value, int | float | np.integer | np.floating
        ):
            raise TypeError(f"value must be a number or None, got {type(value).__name__}")
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            return None
        if bool(self.domain.contains(number)):
            return number
        if self.out_of_range == "missing":
            return None
        return float(self.domain.bring_inside(np.asarray(number)))

    def bin_of(self, value: float | None) -> int:
        """The declared bin; MISSING is one of its own."""
        if value is None:
            return MISSING
        bins = self.bins or 1
        return min(int(float(self.domain.to_unit(value)) * bins), bins - 1)

    def draw(self, value: float | None, rng: Seeded = None) -> int:
        """One exact draw; a missing value is a uniform one (or the declared one), by the same mechanism."""
        if value is None:
            value = self.stand_in(rng)
        return int(self.mechanism.report(value, clip=True, rng=rng))

    def stand_in(self, rng: Seeded = None) -> float:
        if not isinstance(self.missing, str):
            return self.missing
        return float(self.domain.from_unit(float(word_source(rng).words(1)[0] >> np.uint64(11)) * 2.0**-53))

    def draw_bin(self, bin_: int, rng: Seeded = None) -> int:
        """The answer of a bin: drawn from its middle, so that it tells nothing finer than the bin."""
        middle = None if bin_ == MISSING else float(self.domain.from_unit((bin_ + 0.5) / (self.bins or 1)))
        return self.draw(middle, rng)

    def resend(self, kept: int, rng: Seeded = None) -> int:
        """What is sent for a kept cell: itself, or its second randomisation."""
        if self.again is None:
            return kept
        return int(self._again.report(float(kept), rng=rng))

    @cached_property
    def _again(self) -> Mechanism:
        assert self.again is not None
        return response(self.again, self.mechanism.cells)

    # -- in a file --------------------------------------------------------------------------------------

    def to_entry(self) -> dict[str, Any]:
        named = ("repeat", "bins", "answers", "again", "sends", "missing", "out_of_range")
        return {"spec": self.mechanism.to_json(), **{name: getattr(self, name) for name in named}}

    @staticmethod
    def from_entry(entry: dict[str, Any]) -> Terms:
        rest = {name: value for name, value in entry.items() if name != "spec"}
        return Terms(from_json(entry["spec"]), **rest)


def as_written(epsilon: float) -> Fraction:
    """The decimal that a double prints as: what a person agreed to, and never less than what is kept.

    Mechanisms keep the smaller of this and the double itself (`exact.rational_epsilon`), so a charge of
    this much is never too little, and three times 0.3 fits a budget of 0.9.

    >>> as_written(0.3)
    Fraction(3, 10)
    """
    return Fraction(Decimal(repr(float(epsilon))))


def budget_of(value: object, name: str = "budget") -> Fraction:
    """A budget as an exact rational; a float means the decimal it prints as."""
    if isinstance(value, Fraction | int) and not isinstance(value, bool):
        number = Fraction(value)
    elif isinstance(value, str):
        try:
            number = Fraction(value)
        except (ValueError, ZeroDivisionError):
            raise ValueError(
                f"{name} must be a number such as '1.5' or '3/2', got {name}={value!r}"
            ) from None
    else:
        number = as_written(real_number(value, name))
    if not 0 < number <= 1_000_000 * int(MAX_EPSILON):
        raise ValueError(f"{name} must be positive and finite, got {name}={value!r}")
    return number


def plain(number: Fraction) -> str:
    """A rational in decimals where they end, as a fraction where they do not.

    >>> plain(Fraction(3, 2)), plain(Fraction(1, 3))
    ('1.5', '1/3')
    """
    rest = number.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    if rest != 1 or number.denominator > 10**12:
        return str(number)
    text = f"{float(number):.12f}".rstrip("0").rstrip(".")
    return text if Fraction(text) == number else str(number)
