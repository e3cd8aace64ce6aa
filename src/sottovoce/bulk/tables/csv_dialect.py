"""How a CSV file is written: the encoding, what separates fields, and the line that Excel puts before them.

A byte order mark or valid UTF-8 settles the encoding. Other text is taken for that of Excel in Western Europe
and America (cp1252), which is said: names written in it would be read wrongly if it were another one.
"""

from __future__ import annotations

import codecs
import re
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypedDict

from sottovoce.errors import ArgumentError, DataError, one_of

_BLOCK = 1 << 20
_MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
_UTF8, _WINDOWS = "utf-8-sig", "cp1252"  # the former is UTF-8 with or without a mark
_LETTER = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
_SEPARATOR = re.compile(r'"?sep=([^\r\n"])"?[,;\t]*(?:\r\n|\r|\n)', re.IGNORECASE)  # Excel's first line

Decimal = Literal[".", ","]


class CsvOptions(TypedDict, total=False):
    """What can be said about CSV files that do not say it themselves; None for what they do say."""

    delimiter: str | None
    decimal: Decimal | None
    encoding: str | None


@dataclass(frozen=True)
class Dialect:
    """How a file is written; `skipped` lines come before the names of the columns."""

    encoding: str
    delimiter: str
    skipped: int


def check_csv(csv: CsvOptions) -> None:
    """Refuse what says nothing about a CSV file."""
    delimiter, decimal, encoding = csv.get("delimiter"), csv.get("decimal"), csv.get("encoding")
    if decimal is not None:
        one_of(decimal, "decimal", (".", ","))
    if delimiter is not None and delimiter != "tab" and not re.fullmatch(r'[^\w\s"+-]|\t', str(delimiter)):
        rule = "delimiter must be one character, such as ';', or 'tab'"
        raise ArgumentError(f"{rule}, got delimiter={delimiter!r}", argument="delimiter")
    if decimal is not None and decimal == delimiter:
        raise ArgumentError(
            f"decimal must not be the delimiter, got {decimal!r} for both", argument="decimal"
        )
    try:
        "".encode(encoding or _UTF8)
    except (LookupError, UnicodeError, TypeError):
        rule = "encoding must be one that Python knows, such as 'cp1252'"
        raise ArgumentError(f"{rule}, got encoding={encoding!r}", argument="encoding") from None


def read_dialect(path: Path, csv: CsvOptions) -> Dialect:
    """How a file is written, by what is said and by the bytes of all of it, block by block."""
    encoding = text_encoding(path, csv.get("encoding"))
    with open(path, encoding=encoding, newline="") as file:
        start = file.read(_BLOCK)
    first = _SEPARATOR.match(start)
    delimiter = csv.get("delimiter") or (first and first[1]) or _delimiter(start, path.name)
    return Dialect(encoding, "\t" if delimiter == "tab" else delimiter, int(first is not None))


def _delimiter(start: str, name: str) -> str:
    """What separates the names of the columns, outside quotes; a comma if there is one column only."""
    bare = re.sub(r'"[^"]*"', "-", start)
    names = next((line for line in bare.splitlines() if line), "")
    found = [mark for mark in ",;\t" if mark in names]
    if len(found) > 1:
        marks = " and ".join(map(repr, found))
        rule = f"the first line of {name} has {marks}: delimiter= says what separates columns"
        raise DataError(rule, argument="delimiter")
    return found[0] if found else ","


def text_encoding(path: Path, given: str | None = None) -> str:
    """The encoding of a file of text: what is said, or else what its bytes are. A guess is a warning."""
    if given is not None:
        name = codecs.lookup(given).name
        if line := _looked_at(path, name := _UTF8 if name == "utf-8" else name).line:
            raise DataError(f"{path.name} is not {given} text in line {line}", argument="encoding")
        return name
    with open(path, "rb") as file:
        start = file.read(_BLOCK)
    mark = next((name for mark, name in _MARKS.items() if start.startswith(mark)), None)
    utf8 = _looked_at(path, mark or _UTF8)
    if utf8.line is None and (mark or b"\0" not in start):
        return mark or _UTF8
    # A broken UTF-8 file has letters of UTF-8 nearly everywhere, another one nearly nowhere.
    strange = mark or b"\0" in start or utf8.letters * 10 >= utf8.others or _looked_at(path, _WINDOWS).line
    if strange:
        hint = "such as encoding='utf-16-le'" if b"\0" in start else "such as encoding='cp1252'"
        where = f"line {utf8.line or 1} of {path.name}"
        raise DataError(f"{where} is not {mark or 'UTF-8'} text: say what it is, {hint}", argument="encoding")
    guess = f"{path.name} is not UTF-8 text: it is read as {_WINDOWS}, that of Windows in Western Europe"
    warnings.warn(f"{guess}; encoding= says if it is another", stacklevel=2)
    return _WINDOWS


@dataclass
class _Look:
    line: int | None = None  # the first that is no text
    letters: int = 0  # letters of UTF-8 beyond ASCII
    others: int = 0  # bytes beyond ASCII that are in none


def _looked_at(path: Path, encoding: str) -> _Look:
    """What the bytes of a file are in an encoding."""
    decoder, look, lines = codecs.getincrementaldecoder(encoding)(), _Look(), 1
    with open(path, "rb") as file:
        while True:
            block = file.read(_BLOCK)
            if look.line is None:
                try:
                    lines += decoder.decode(block, not block).count("\n")
                except UnicodeDecodeError as error:
                    look.line = lines + error.object[: error.start].count(b"\n")
            if not block:
                return look
            if encoding == _UTF8:
                rest, letters = _LETTER.subn(b"", block)
                look.letters += letters
                look.others += len(rest) - len(rest.decode("ascii", "ignore"))
