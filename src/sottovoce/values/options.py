"""Options: the names of the answers that one may choose from."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.arrays import FloatArray
from sottovoce.errors import ArgumentError, ArgumentTypeError, SpecError
from sottovoce.values.checked_arrays import one_column
from sottovoce.values.space import Space

MAX_OPTIONS = 1000
MAX_LENGTH = 200
_UNKNOWN = "\0"  # not printable: never an option


@dataclass(frozen=True, repr=False)
class Options(Space):
    """A list of options, of which a person has one.

    A person's choice is the option itself, whatever its case and the spaces around it. Inside, choices are
    whole numbers: 0 for the first option, −1 for what is on no list, NaN for what is missing.

    Attributes:
        names: The options: texts, or whole numbers for ratings.

    Example:
        >>> transport = Options(("car", "bike", "train"))
        >>> transport.numbers(["bike", "Train ", None, "boat"]).tolist()
        [1.0, 2.0, nan, -1.0]
    """

    names: tuple[str | int, ...]
    clips = False
    lots = 1
    advice = "outside='missing' takes them as missing"

    def __post_init__(self) -> None:
        if isinstance(self.names, str | bytes) or not isinstance(self.names, Sequence | np.ndarray):
            kind = type(self.names).__name__
            raise ArgumentTypeError(f"options must be a list of options, got {kind}", argument="options")
        names = tuple(_plain(name) for name in self.names)
        if not 2 <= len(names) <= MAX_OPTIONS:
            raise ArgumentError(f"options must be 2 to {MAX_OPTIONS}, got {len(names)}", argument="options")
        seen: dict[str, str | int] = {}
        for name in names:
            if (other := seen.get(_key(name))) is not None:
                same = "" if other == name else f": {other!r} differs only by case or spaces"
                raise ArgumentError(f"options must differ, got {name!r} twice{same}", argument="options")
            seen[_key(name)] = name
        object.__setattr__(self, "names", names)

    @classmethod
    def read(cls, content: Any) -> Options:
        """The options of a spec that anybody may have written.

        Args:
            content: What should be a list of them.

        Returns:
            The options.

        Raises:
            SpecError: If it is none, or they are not written as they are kept.
        """
        if not isinstance(content, list):
            raise SpecError("options must be a list", argument="options")
        try:
            options = cls(tuple(content))
        except (ValueError, TypeError) as error:
            raise SpecError(str(error), argument="options") from None
        if list(options.names) != content:
            raise SpecError("options must be written without spaces around them", argument="options")
        return options

    def __str__(self) -> str:
        return f"the {len(self.names)} options"

    @property
    def ratings(self) -> FloatArray | None:  # type: ignore[override]
        """The options as numbers, if they are; not those of no and yes, whose mean is a share."""
        if self == NO_OR_YES or not all(isinstance(name, int) for name in self.names):
            return None
        return np.array(self.names, dtype=np.float64)

    @property
    def takes_truths(self) -> bool:
        """Whether False and True are options: 0 and 1."""
        return {0, 1} <= set(self.names)

    def __len__(self) -> int:
        return len(self.names)

    @property
    def group(self) -> tuple[int, ...]:
        """The group that options are elements of: whole numbers around a circle."""
        return (len(self.names),)

    @property
    def decoded(self) -> tuple[int, ...]:
        """The shape of what one report stands for: a truth value per option."""
        return (len(self.names),)

    def numbers(self, values: Any, name: str = "values") -> FloatArray:
        """Choices as whole numbers.

        Args:
            values: Options of any shape; None, NaN, an infinite number or a blank text where there is none.
                Truth values are 0 and 1, if both are options.
            name: What to call them in an error.

        Returns:
            Places in the list, −1 for what is not on it, NaN for what is missing.

        Raises:
            ArgumentTypeError: If something is neither a text nor a number. Only its type is named.
        """
        if (coded := _coded(values)) is not None:
            return np.append(self.numbers(coded[1], name), np.nan)[coded[0]]
        array = _as_array(values)
        if array.dtype.kind not in ("OUTiufb" if self.takes_truths else "OUTiuf"):
            raise ArgumentTypeError(f"{name} must be options, got {array.dtype}", argument=name)
        memory: dict[Any, float] = dict(self._places)

        def place(value: Any) -> float:
            known = memory.get(value)
            return memory.setdefault(value, self._place(value, name)) if known is None else known

        try:
            codes = [place(value) for value in array.reshape(-1).tolist()]
        except TypeError as error:
            if isinstance(error, ArgumentTypeError):
                raise
            raise ArgumentTypeError(f"{name} must be options, got objects", argument=name) from None
        return np.array(codes, dtype=np.float64).reshape(array.shape)

    def quick_elements(self, values: Any) -> NDArray[Any] | None:
        """Choices as elements of the group, where every one is an option as it is written in the list.

        Args:
            values: Options as people give them.

        Returns:
            Places in the list, of categories or of whole numbers without a gap (some of these may be none).
            None where something has to be looked at more closely.
        """
        if (coded := _coded(values)) is not None:
            codes, categories = coded
            places = np.nan_to_num(self.numbers(categories), nan=-1.0)
            return np.append(places, -1.0).astype(np.int8 if len(self) < 128 else np.int16)[codes]
        array = _as_array(values)
        if not array.ndim or not array.size:
            return None
        if array.dtype == bool and self.takes_truths:
            array = array.astype(np.int8)
        if self._first is None or array.dtype.kind not in "iu" or array.dtype == np.uint64:
            return None
        return array if self._first == 0 else array - self._first

    @cached_property
    def _first(self) -> int | None:
        """The least of whole numbers without a gap, if the options are those in order."""
        first = self.names[0]
        return (
            first if isinstance(first, int) and self.names == tuple(range(first, first + len(self))) else None
        )

    @cached_property
    def _places(self) -> dict[Any, int]:
        return {name: i for i, name in enumerate(self.names)}

    @cached_property
    def _keys(self) -> dict[str, float]:
        return {_key(name): float(i) for i, name in enumerate(self.names)}

    def _place(self, value: Any, name: str) -> float:
        blank = isinstance(value, str) and not value.strip()
        if value is None or blank or (isinstance(value, float) and not math.isfinite(value)):
            return math.nan
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise ArgumentTypeError(f"{name} must be options, got {type(value).__name__}", argument=name)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        return self._keys.get(_key(value), -1.0)

    def named(self, numbers: ArrayLike) -> NDArray[Any]:
        """The options at these places.

        Args:
            numbers: Places in the list; −1 and NaN as `numbers` gives them.

        Returns:
            Options in an array of objects; None where there is none.
        """
        names = np.array([*self.names, None, _UNKNOWN], dtype=object)
        places = np.asarray(numbers, dtype=np.float64)
        return np.asarray(names[np.nan_to_num(places, nan=-2.0).astype(np.int64)], dtype=object)

    def elements(self, x: FloatArray, words: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Choices as elements of the group.

        Args:
            x: Places in the list.
            words: What positions between two points are rounded by; options are none.

        Returns:
            The same as integers.
        """
        return x.astype(np.int64)

    def lot(self, x: FloatArray) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The elements that a value may become, and in how many of `lots` cases each: always itself.

        Args:
            x: Places in the list.

        Returns:
            One element and the number 1 for each.
        """
        return x.astype(np.int64)[:, None], np.ones((len(x), 1), dtype=np.int64)

    def members(self, block: Sequence[int]) -> NDArray[np.int64]:
        """The elements of a base set, checked.

        Args:
            block: Places in the list.

        Returns:
            Elements of the group.

        Raises:
            SpecError: If it is none.
        """
        size = len(self.names)
        if len(set(block)) != len(block) or not 1 <= len(block) < size:
            raise SpecError(
                "blocks must cover all options equally: each holds different ones, not none and not all",
                argument="blocks",
            )
        if not all(0 <= one < size for one in block):
            raise SpecError(f"blocks must hold numbers from 0 to {size - 1}", argument="blocks")
        return np.array(block, dtype=np.int64)

    def contains(self, x: ArrayLike) -> NDArray[np.bool_]:
        x = np.asarray(x, dtype=np.float64)
        return np.asarray((x >= 0) & (x < len(self.names)) & (x == np.floor(x)))

    def bring_inside(self, x: FloatArray) -> FloatArray:
        raise ArgumentError("an option that is not on the list has no nearest one", argument="clip")

    def examples(self, count: int) -> NDArray[Any]:
        last = len(self) - 1
        return self.named([0, last, (last + 1) // 2, 1, *np.linspace(0, last, count + 2)[1:-1].astype(int)])

    def outside(self) -> NDArray[Any]:
        return np.array([f"none of {self.names[:2]}"], dtype=object)

    def spread(self, words: NDArray[np.uint64]) -> FloatArray:
        # 32 bits times at most 1000: the shares of stand-ins differ by less than 10⁻⁶ of themselves.
        return np.asarray(
            ((words >> np.uint64(32)) * np.uint64(len(self.names))) >> np.uint64(32), np.float64
        )


def _as_array(values: Any) -> NDArray[Any]:
    """An array; a list stays as it is: numpy would turn 2.0 beside a text into the text "2.0"."""
    values = one_column(values, "values")
    return np.asarray(values) if hasattr(values, "__array__") else np.array(values, dtype=object)


def _coded(values: Any) -> tuple[NDArray[Any], NDArray[Any]] | None:
    """Codes (−1 where there is none) and categories of a pandas Categorical or a column of them."""
    column = getattr(values, "array", values)
    codes, categories = getattr(column, "codes", None), getattr(column, "categories", None)
    if codes is None or categories is None:
        return None
    return np.asarray(codes), np.asarray(categories, dtype=object)


def _plain(name: Any) -> str | int:
    """An option as it is kept: a text without spaces around it, or a whole number."""
    if isinstance(name, np.generic):
        name = name.item()
    if isinstance(name, bool) or not isinstance(name, str | int):
        kind = type(name).__name__
        raise ArgumentTypeError(f"an option must be a text or a whole number, got {kind}", argument="options")
    if isinstance(name, int):
        if abs(name) > 1 << 53:
            raise ArgumentError(f"an option must be at most 2^53, got {name}", argument="options")
        return name
    name = unicodedata.normalize("NFC", name).strip()
    if not 1 <= len(name) <= MAX_LENGTH or not name.isprintable():
        raise ArgumentError(
            f"an option must be 1 to {MAX_LENGTH} printable characters, got {len(name)}", argument="options"
        )
    return name


def _key(name: str | int | float) -> str:
    """What two options that a person would take for the same have in common."""
    return " ".join(unicodedata.normalize("NFC", str(name)).casefold().split())


def as_options(options: Any) -> Options:
    """Options as given, or those that a list means."""
    if isinstance(options, Options):
        return options
    several = hasattr(options, "__iter__") and not isinstance(options, str | bytes)
    return Options(tuple(options) if several else options)


#: The answers to a question of yes or no.
NO_OR_YES = Options((0, 1))
