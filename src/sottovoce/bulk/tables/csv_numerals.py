"""How a column of a CSV file writes its numbers: one rule for all of it, found before any is read.

A column has decimal points or decimal commas. 1,234 may be a fraction or more than a thousand: where nothing
else in the column says which, it is refused, and so are separators of thousands.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from sottovoce.errors import DataError

#: What a word in a column of numbers is: a mistake, or a missing value.
Words = Literal["refuse", "missing"]

_NUMBER = r"^[+-]?((\d+{0}?\d*|{0}\d+)([eE][+-]?\d+)?|(?i:inf(inity)?))$"
_NUMBERS = {mark: _NUMBER.replace("{0}", f"[{mark}]") for mark in ".,"}
_WHOLE = r"^-?\d+$"
_MAYBE_THOUSANDS = r"^[+-]?[1-9]\d{0,2}[.,]\d{3}$"
_THOUSANDS = r"^[+-]?\d{1,3}([., '’\x{a0}\x{202f}]\d{3})+([.,]\d+)?$"
_MISSING = f"^({'|'.join(map(re.escape, pyarrow.csv.ConvertOptions().null_values))})$"  # Arrow's words for it
_WRITE = "write the numbers without separators of thousands, and with one decimal mark"


class Numerals:
    """What a column's texts look like, batch by batch, and then the numbers that they are."""

    def __init__(self, kind: pa.DataType) -> None:
        self._kind, self._mark = kind, "."
        self._count, self._first = Counter[str](), dict[str, int]()
        self._rows = 0

    def look(self, texts: pa.Array) -> None:
        """Learn from some more of the column."""
        plain = _plain(texts)
        kinds = {"word": pc.invert(pc.match_substring_regex(plain, _WHOLE))}
        if not pa.types.is_integer(self._kind):
            point, comma = (pc.match_substring_regex(plain, number) for number in _NUMBERS.values())
            kinds = {".": pc.and_not(point, comma), ",": pc.and_not(comma, point)}
            other = pc.invert(pc.or_(point, comma))
            kinds["thousands"] = pc.and_(other, pc.match_substring_regex(plain, _THOUSANDS))
            kinds["word"] = pc.and_not(other, kinds["thousands"])
            maybe = pc.match_substring_regex(plain, _MAYBE_THOUSANDS)
            kinds["fraction"] = pc.and_not(pc.xor(point, comma), maybe)
        for kind, found in kinds.items():
            if found.true_count:
                self._count[kind] += found.true_count
                self._first.setdefault(kind, self._rows + int(np.from_dlpack(pc.indices_nonzero(found))[0]))
        self._rows += len(texts)

    def settle(
        self, where: str, decimal: str | None, delimiter: str, words: Words, place: Callable[[int], str]
    ) -> None:
        """Decide what the decimal mark is, and refuse what is then no number."""
        count, marks = self._count, [mark for mark in ".," if self._count[mark]]
        if decimal is None and delimiter != "," and len(marks) == 1 and not count["fraction"]:
            first, mark = place(self._first[marks[0]]), marks[0]
            raise DataError(
                f"{where} must say what {mark!r} means, first in {first}: decimal={mark!r} if it begins a "
                "fraction; if it separates thousands, write the numbers without it",
                argument="decimal",
            )
        self._mark = decimal or (marks[0] if len(marks) == 1 and delimiter != "," else ".")
        strange = {kind for kind in (".", ",", "thousands") if count[kind] and kind != self._mark}
        wrong = strange | ({"word"} if words == "refuse" and count["word"] else set())
        if not wrong:
            return
        rule = "whole numbers" if pa.types.is_integer(self._kind) else "numeric"
        first = place(min(self._first[kind] for kind in wrong))
        said = f"{where} must be {rule}: {sum(count[kind] for kind in wrong)} of {self._rows} values are not"
        if not strange:
            advice = "" if rule == "whole numbers" else "; words='missing' counts them as missing"
            raise DataError(f"{said}, the first in {first}{advice}", code="words")
        also = "" if decimal or "." in marks or "," not in marks else ", or say decimal=',' if that is it"
        raise DataError(f"{said}, the first in {first}; {_WRITE}{also}", code="words", argument="decimal")

    def numbers(self, texts: pa.Array) -> pa.Array:
        """The numbers that texts are, null where there is none."""
        plain = _plain(texts)
        if not pa.types.is_integer(self._kind):
            if self._count["word"]:
                plain = pc.if_else(
                    pc.match_substring_regex(plain, _NUMBERS[self._mark]), plain, _nulls(plain)
                )
            if self._mark == ",":
                plain = pc.replace_substring(plain, ",", ".")
        return plain.cast(self._kind)


def _plain(texts: pa.Array) -> pa.Array:
    """Texts without blanks around them, null where one stands for a missing value."""
    plain = pc.utf8_trim(texts, " \t")
    return pc.if_else(pc.match_substring_regex(plain, _MISSING), _nulls(plain), plain)


def _nulls(texts: pa.Array) -> pa.Array:
    """As many nulls: a None among Arrow's arguments would load pandas."""
    return pa.nulls(len(texts), pa.string())
