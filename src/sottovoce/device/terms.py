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
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from sottovoce.core.domains import Domain
from sottovoce.core.errors import LedgerError, check_epsilon, whole_number
from sottovoce.core.exact import exp_lower
from sottovoce.core.formats import from_json
from sottovoce.core.mechanism import Mechanism
from sottovoce.core.number import Number
from sottovoce.core.randomness import Seeded
from sottovoce.core.reporter import Reporter
from sottovoce.core.spending import as_written
from sottovoce.designs.response import response
from sottovoce.device.questions import Asking, Cell, Judged, Rule, ask

MAX_KEPT_CELLS = 64
REPEATS = ("fresh", "once", "bins")
MISSING = -1  # the bin of a value that is not there


@dataclass(frozen=True)
class Terms:
    """The rules of one campaign on this device."""

    mechanism: Reporter
    repeat: str = "fresh"
    bins: int | None = None
    answers: int | None = None
    again: float | None = None
    sends: int | None = None
    missing: Rule | Sequence[Rule] = "uniform"
    out_of_range: str = "clip"

    def __post_init__(self) -> None:
        if not isinstance(self.mechanism, Reporter):
            raise TypeError(f"mechanism must be a mechanism, got {type(self.mechanism).__name__}")
        if self.mechanism.largest_ratio > exp_lower(self.mechanism.epsilon):
            raise LedgerError("mechanism: its counts break the ε it claims")
        if self.repeat not in REPEATS:
            raise ValueError(f"repeat must be one of {', '.join(REPEATS)}, got repeat={self.repeat!r}")
        outcomes = self.question.outcomes  # asking checks the rules for missing and out-of-range values
        if isinstance(self.missing, Sequence) and not isinstance(self.missing, str):
            each = tuple(rule if isinstance(rule, str) else float(rule) for rule in self.missing)
            object.__setattr__(self, "missing", each)
        elif not isinstance(self.missing, str):
            object.__setattr__(self, "missing", float(self.missing))
        if self.repeat != "fresh" and outcomes > MAX_KEPT_CELLS:
            raise ValueError(
                f"repeat={self.repeat!r} keeps an answer, and a kept cell is a stable identifier: the "
                f"mechanism must have at most {MAX_KEPT_CELLS} cells, got cells={outcomes}"
            )
        self._check_bins()
        if self.sends is not None:
            object.__setattr__(self, "sends", whole_number(self.sends, "sends", least=1))

    def _check_bins(self) -> None:
        kept = self.repeat == "bins"
        for name in ("bins", "answers", "again"):
            if getattr(self, name) is not None and not kept:
                raise ValueError(f"{name} belongs to repeat='bins', got repeat={self.repeat!r}")
        if not kept:
            return
        if not isinstance(self.mechanism, Number):
            raise ValueError(
                "repeat='bins' is for one number; several at once are repeated 'fresh' or 'once'"
            )
        bins = self.question.outcomes if self.bins is None else self.bins
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

    # -- what it costs ----------------------------------------------------------------------------------

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

    @cached_property
    def question(self) -> Asking:
        return ask(self.mechanism, self.missing, self.out_of_range)  # type: ignore[arg-type]

    def bin_of(self, judged: Judged) -> int:
        """The declared bin; MISSING is one of its own."""
        value = float(judged["value"])
        if math.isnan(value):
            return MISSING
        bins = self.bins or 1
        return min(int(float(self._domain.to_unit(value)) * bins), bins - 1)

    def draw_bin(self, bin_: int, rng: Seeded = None) -> Cell:
        """The answer of a bin: drawn from its middle, so that it tells nothing finer than the bin."""
        middle = math.nan if bin_ == MISSING else self._domain.from_unit((bin_ + 0.5) / (self.bins or 1))
        return self.question.draw({"value": np.asarray(middle)}, rng)

    @property
    def _domain(self) -> Domain:
        assert isinstance(self.mechanism, Number)
        return self.mechanism.domain

    def resend(self, kept: Cell, rng: Seeded = None) -> Cell:
        """What is sent for a kept cell: itself, or its second randomisation."""
        if self.again is None or not isinstance(kept, int):
            return kept
        return int(self._again.report(float(kept), rng=rng))

    @cached_property
    def _again(self) -> Mechanism:
        assert self.again is not None
        return response(self.again, self.question.outcomes)

    # -- in a file --------------------------------------------------------------------------------------

    def to_entry(self) -> dict[str, Any]:
        named = ("repeat", "bins", "answers", "again", "sends", "missing", "out_of_range")
        return {"spec": self.mechanism.to_json(), **{name: getattr(self, name) for name in named}}

    @staticmethod
    def from_entry(entry: dict[str, Any]) -> Terms:
        rest = {name: value for name, value in entry.items() if name != "spec"}
        return Terms(from_json(entry["spec"]), **rest)
