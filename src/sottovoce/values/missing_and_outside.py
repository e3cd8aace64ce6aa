"""What becomes of values that are missing or outside the domain: one rule, declared beforehand.

    Policy()                                    # refuse both: the default of every function
    Policy(missing="uniform", outside="clip")   # what a client may run: it never stays silent

A value is *missing* if it is None, NaN or infinite, and *outside* if it is a number beyond the domain. A
stand-in goes through the same mechanism as everybody's value, so nobody sees who had none.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal

import numpy as np

from sottovoce.arrays import FloatArray
from sottovoce.errors import ArgumentError, ArgumentTypeError, DataError, one_of, real_number
from sottovoce.randomness.word_source import Seeded, word_source
from sottovoce.values.domain import Domain
from sottovoce.values.space import Space

if TYPE_CHECKING:
    from numpy.typing import NDArray

Missing = Literal["refuse", "uniform", "drop", "keep"] | float
Outside = Literal["refuse", "clip", "missing"]

_STAND_IN = "missing='uniform' or a number stands in for them"
#: Words that leave nobody out: a stand-in is reported for everybody.
STAND_INS = ("refuse", "uniform")
#: Words for tables and files, where a row may be left out ("drop") or left empty ("keep").
WORDS = ("refuse", "uniform", "drop", "keep")


@dataclass(frozen=True)
class Policy:
    """How values are treated that are missing or outside the domain.

    Attributes:
        missing: "refuse" (an error), "uniform" (a uniform draw of the domain stands in), a number that
            stands in, or, for tables and files, "drop" (the row is left out) and "keep" (it stays empty,
            which shows who had no value).
        outside: "refuse" (an error), "clip" (the nearest end of an interval, the same angle on a circle)
            or "missing" (treated as missing). An option that is not on the list has no nearest one: "clip"
            treats it as missing.
    """

    missing: Missing = "refuse"
    outside: Outside = "refuse"

    def __post_init__(self) -> None:
        one_of(self.outside, "outside", ("refuse", "clip", "missing"))
        if isinstance(self.missing, str):
            one_of(self.missing, "missing", WORDS)
        else:
            object.__setattr__(self, "missing", real_number(self.missing, "missing"))

    @classmethod
    def of(cls, missing: Missing = "refuse", outside: Outside = "refuse", clip: bool = False) -> Policy:
        """The policy that keyword arguments name; `clip=True` is short for `outside="clip"`.

        Raises:
            ArgumentError: If `clip=True` contradicts `outside`.
            ArgumentTypeError: If `clip` is not True or False.
        """
        if clip is False and isinstance(missing, str) and missing == outside == "refuse":
            return _refusing()
        if not isinstance(clip, bool | np.bool_):
            raise ArgumentTypeError(f"clip must be True or False, got clip={clip!r}", argument="clip")
        if clip and outside not in ("refuse", "clip"):
            raise ArgumentError(
                f"clip=True means outside='clip', got outside={outside!r}", code="choice", argument="clip"
            )
        return cls(missing, "clip" if clip else outside)

    @property
    def refuses(self) -> bool:
        """Whether every value that is missing or outside is an error."""
        return self.missing == "refuse" and self.outside == "refuse"

    @property
    def silent(self) -> bool:
        """Whether a value can end in an error or in no report: what a person's client must never run."""
        return self.missing in ("refuse", "drop", "keep") or self.outside == "refuse"

    def checked(self, domain: Space, words: tuple[str, ...] = STAND_INS) -> Policy:
        """This policy, if it makes sense for a domain.

        Args:
            domain: Where values lie; a stand-in must lie in it.
            words: The words that `missing` may be here.

        Returns:
            The policy itself.

        Raises:
            ArgumentError: If the stand-in lies outside, or `missing` is a word that is not for here.
        """
        if isinstance(self.missing, str):
            one_of(self.missing, "missing", words)
        elif not isinstance(domain, Domain):
            raise ArgumentError(
                f"missing must be 'uniform' or 'refuse' here, got missing={self.missing!r}",
                argument="missing",
            )
        elif not bool(domain.contains(self.missing)):
            raise ArgumentError(
                f"missing must lie in the domain, got missing={self.missing!r}", argument="missing"
            )
        return self

    def judge(
        self, values: FloatArray, domain: Space, name: str = "values"
    ) -> tuple[FloatArray, NDArray[np.bool_]]:
        """Apply the rule for values outside, and find the missing ones.

        Args:
            values: Numbers, NaN where there is none.
            domain: Where they should lie.
            name: What to call them in an error.

        Returns:
            The values, clipped where that is the rule, and a mask of those that count as missing.

        Raises:
            DataError: If something is refused. It gives a count and the first index, never a value.
        """
        missing = domain.absent(values)
        if self.missing == "refuse" and missing.any():
            raise _refusal(missing, name, "missing", "missing (NaN or infinite)", _STAND_IN)
        outside = ~missing & ~domain.contains(values)
        if outside.any():
            if self.outside == "refuse":
                raise _refusal(outside, name, "outside", f"outside {domain}", domain.advice)
            if self.outside == "clip" and domain.clips:
                values = np.array(values, dtype=np.float64)
                values[outside] = domain.bring_inside(values[outside])
            elif self.missing == "refuse":
                raise _refusal(outside, name, "outside", f"outside {domain}", _STAND_IN)
            else:
                missing = missing | outside
        return values, missing

    def prepare(
        self, values: FloatArray, domain: Space, rng: Seeded = None, name: str = "values"
    ) -> FloatArray:
        """Values that can all be randomised: judged, with stand-ins for the missing ones.

        Args:
            values: Numbers, NaN where there is none.
            domain: Where they should lie.
            rng: A seed for simulations; by default stand-ins come from the secure stream.
            name: What to call them in an error.

        Returns:
            An array of the same shape, inside the domain.

        Raises:
            DataError: If something is refused.
        """
        values, missing = self.judge(values, domain, name)
        if not missing.any():
            return values
        filled = np.array(values, dtype=np.float64)
        if isinstance(self.missing, str):
            words = word_source(rng).words(int(missing.sum()))
            filled[missing] = domain.spread(words)
            words.fill(0)
        else:
            filled[missing] = self.missing
        return filled


@cache
def _refusing() -> Policy:
    return Policy()


def _refusal(wrong: NDArray[np.bool_], name: str, code: str, what: str, advice: str) -> DataError:
    first, count = int(np.argmax(wrong.reshape(-1))), int(np.count_nonzero(wrong))
    sentence = f"{count} of {wrong.size} {name} are {what}, the first at index {first}; {advice}"
    return DataError(sentence, code=code, argument=name)
