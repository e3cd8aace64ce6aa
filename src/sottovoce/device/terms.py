"""What a person's device agreed to for one campaign. Every rule is public and fixed before the first report.

How reports repeat:

* `Fresh`  a new draw for every period. Each costs ε; together they cost the sum, whatever the values did.
* `Once`   one draw is reported every period. It costs ε once, and later values do not matter at all.
* `Bins`   one draw for every *bin* of the value's range, kept and sent while the value stays in that bin.
  Each new bin costs ε. That is what the reports tell about the values **given when they changed bin**. The
  pattern of changes and returns itself is open: another report proves another value.
* `Bins` with `again=ε₂`: every send is randomised once more, from the kept draw, and costs ε₂. Then the
  pattern is protected too: T sends tell at most T·ε₂ about the whole sequence of values.

A kept draw is a stable identifier, so draws are kept only where there are at most 64 different reports.

Nothing here may depend on a value in a way that others can see. So what a campaign of bins can cost at most
is set aside when it begins (`draws` bins; with `again` also `sends` sends), and when its bins are used up
the device goes on sending the latest kept draw: falling silent would tell that the value has moved.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np

from sottovoce.device.inquiry import Cells, Inquiry, Numbers
from sottovoce.errors import ArgumentError, check_epsilon, one_of, whole_number
from sottovoce.exact.spending import as_written, plain
from sottovoce.randomness.word_source import Seeded
from sottovoce.reporters.contract import Reporter, as_reporter, line_of
from sottovoce.reporters.formats import from_json
from sottovoce.reporters.mechanism import Mechanism
from sottovoce.reporters.randomised_response import response
from sottovoce.storage.journal import Entry
from sottovoce.values.domain import Domain
from sottovoce.values.missing_and_outside import Missing, Outside

MAX_KEPT = 64  # different reports, of which one is kept
MISSING = -1  # the bin of a value that is not there


@dataclass(frozen=True)
class Terms(ABC):
    """The rules of one campaign on this device.

    Attributes:
        reporter: What randomises.
        missing: What stands in for missing values, for all questions or by name.
        outside: What happens to values outside.
        sends: How many reports there may be; None for no limit of their own.
    """

    repeat: ClassVar[str]

    reporter: Reporter
    missing: Missing | Mapping[str, Missing] = "uniform"
    outside: Outside = "clip"
    sends: int | None = None

    def __post_init__(self) -> None:
        as_reporter(self.reporter, "reporter")
        if isinstance(self.missing, Mapping):
            object.__setattr__(self, "missing", dict(self.missing))
        if self.sends is not None:
            object.__setattr__(self, "sends", whole_number(self.sends, "sends", least=1))
        self.inquiry  # noqa: B018  asking checks the rules for values missing or outside

    @cached_property
    def inquiry(self) -> Inquiry:
        """What is asked."""
        return Inquiry.of(self.reporter, self.missing, self.outside)

    def _check_kept(self) -> None:
        if self.inquiry.outcomes > MAX_KEPT:
            raise ArgumentError(
                f"repeat={self.repeat!r} keeps a draw, and a kept draw is a stable identifier: there must "
                f"be at most {MAX_KEPT} different reports, got {self.inquiry.outcomes}",
                argument="repeat",
            )

    # -- what it costs ----------------------------------------------------------------------------------

    @property
    def epsilon(self) -> Fraction:
        """What one draw costs."""
        return as_written(self.reporter.epsilon)

    @property
    def epsilon_again(self) -> Fraction:
        """What one send costs beyond that."""
        return Fraction(0)

    @property
    @abstractmethod
    def reserved(self) -> Fraction:
        """What is set aside at enrolment: all that the campaign can cost, wherever that is known."""

    @property
    def hides_changes(self) -> bool:
        """Whether ε covers the pattern of changes too, not only the values given the pattern."""
        return True

    # -- what is reported -------------------------------------------------------------------------------

    @property
    @abstractmethod
    def most_kept(self) -> int:
        """How many draws may be kept."""

    @abstractmethod
    def slot(self, numbers: Numbers) -> int | None:
        """Which kept draw stands for these numbers; None if none is kept."""

    def draw(self, slot: int | None, numbers: Numbers, rng: Seeded = None) -> Cells:
        """A new draw for a slot."""
        return self.inquiry.draw(numbers, rng)

    def sent(self, draw: Cells, rng: Seeded = None) -> Cells:
        """What is sent for a draw: itself, or its second randomisation."""
        return draw

    def could_send(self, draw: Cells, cells: Cells) -> bool:
        """Whether these cells can have been sent for a draw."""
        return cells == draw

    @abstractmethod
    def describe(self, kept: int) -> Iterator[str]:
        """How reports repeat, in words, when so many draws are kept."""

    # -- in a file --------------------------------------------------------------------------------------

    def to_entry(self) -> Entry:
        """The terms in a journal."""
        names = [field.name for field in fields(self) if field.name != "reporter"]
        return {
            "repeat": self.repeat, "spec": self.reporter.to_json(), **{n: getattr(self, n) for n in names},
        }  # fmt: skip


@dataclass(frozen=True)
class Fresh(Terms):
    """A new draw every period."""

    repeat: ClassVar[str] = "fresh"

    @property
    def reserved(self) -> Fraction:
        return self.epsilon * (self.sends or 0)

    @property
    def most_kept(self) -> int:
        return 0

    def slot(self, numbers: Numbers) -> int | None:
        return None

    def describe(self, kept: int) -> Iterator[str]:
        yield f"Every period has a new draw, at {plain(self.epsilon)} each."


@dataclass(frozen=True)
class Once(Terms):
    """One draw for all periods."""

    repeat: ClassVar[str] = "once"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_kept()

    @property
    def reserved(self) -> Fraction:
        return self.epsilon

    @property
    def most_kept(self) -> int:
        return 1

    def slot(self, numbers: Numbers) -> int:
        return 0

    def describe(self, kept: int) -> Iterator[str]:
        yield f"One draw, at {plain(self.epsilon)}, is reported every period."
        yield "Later values do not matter: changes stay hidden."


@dataclass(frozen=True)
class Bins(Terms):
    """One draw for each bin of a number's range.

    Attributes:
        draws: How many different bins may be paid for.
        bins: How many bins there are; if not given, as many as the reporter has cells.
        again: ε₂ of a second randomisation of every send, or None.
    """

    repeat: ClassVar[str] = "bins"

    draws: int | None = None
    bins: int | None = None
    again: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if line_of(self.reporter) is None:
            raise ArgumentError(
                "repeat='bins' is for one number; several at once repeat 'fresh' or 'once'",
                code="choice",
                argument="repeat",
            )
        self._check_kept()
        bins = whole_number(self.reporter.cells if self.bins is None else self.bins, "bins", 1, MAX_KEPT)
        object.__setattr__(self, "bins", bins)
        if self.draws is None:
            raise _lacking("draws", "repeat='bins' needs draws: how many different bins may be paid for")
        object.__setattr__(self, "draws", whole_number(self.draws, "draws", 1, bins + 1))
        if self.again is not None:
            object.__setattr__(self, "again", check_epsilon(self.again))
            if self.sends is None:
                raise _lacking("sends", "again is charged for every send, so it needs sends: how many")

    @property
    def epsilon_again(self) -> Fraction:
        return Fraction(0) if self.again is None else as_written(self.again)

    @property
    def reserved(self) -> Fraction:
        return self.epsilon * self.most_kept + self.epsilon_again * (self.sends or 0)

    @property
    def hides_changes(self) -> bool:
        return self.again is not None

    @property
    def most_kept(self) -> int:
        return self.draws or 0

    def slot(self, numbers: Numbers) -> int:
        """The bin; that of a missing value is one of its own."""
        value, bins = float(numbers["value"]), self.bins or 1
        if math.isnan(value):
            return MISSING
        return min(int(float(self._domain.to_unit(value)) * bins), bins - 1)

    def draw(self, slot: int | None, numbers: Numbers, rng: Seeded = None) -> Cells:
        """Drawn from the middle of the bin, so that it tells nothing finer than the bin."""
        assert slot is not None
        middle = math.nan if slot == MISSING else self._domain.from_unit((slot + 0.5) / (self.bins or 1))
        return self.inquiry.draw({"value": np.asarray(middle)}, rng)

    def sent(self, draw: Cells, rng: Seeded = None) -> Cells:
        if self.again is None:
            return draw
        return (int(self._response.report(float(draw[0]), rng=rng)),)

    def could_send(self, draw: Cells, cells: Cells) -> bool:
        return self.again is not None or cells == draw

    def describe(self, kept: int) -> Iterator[str]:
        yield f"One draw per bin, at {plain(self.epsilon)} each; {kept} of at most {self.draws} used."
        if self.again is None:
            yield "Not hidden: when your value changed bin, and when it came back."
            yield "Another report proves another value."
        else:
            cost = plain(self.epsilon_again)
            yield f"Every send is randomised again, at {cost} each: changes are hidden as well."

    @property
    def _domain(self) -> Domain:
        line = line_of(self.reporter)
        assert line is not None
        return line

    @cached_property
    def _response(self) -> Mechanism:
        assert self.again is not None
        return response(self.again, self.reporter.cells)


def _lacking(argument: str, sentence: str) -> ArgumentError:
    return ArgumentError(sentence, code="lacking", argument=argument)


WAYS: dict[str, type[Terms]] = {way.repeat: way for way in (Fresh, Once, Bins)}


def agree(reporter: Reporter, repeat: str, options: Mapping[str, object]) -> Terms:
    """Terms from the arguments of `Ledger.enrol`.

    Args:
        reporter: What randomises.
        repeat: The way of repeating.
        options: The other arguments; None where one was not given.

    Raises:
        ArgumentError: If an argument is not one of this way, or has a value that it must not have.
    """
    way = WAYS[one_of(repeat, "repeat", tuple(WAYS))]
    given = {name: value for name, value in options.items() if value is not None}
    for name in given:
        if name not in {field.name for field in fields(way)}:
            raise ArgumentError(f"{name} does not belong to repeat={repeat!r}", code="unknown", argument=name)
    return way(reporter, **given)  # type: ignore[arg-type]


def read_terms(entry: Entry) -> Terms:
    """Terms that a journal holds.

    Args:
        entry: What `Terms.to_entry` gave.

    Raises:
        ValueError, TypeError or KeyError: If it is something else.
    """
    options = {name: value for name, value in entry.items() if name not in ("repeat", "spec")}
    return WAYS[entry["repeat"]](from_json(entry["spec"]), **options)
