"""What can be an answer: a number, an option of the list, two numbers for a position, or nothing.

What cannot is an error of the program. It is refused before anything is drawn, with the question or the index
of the person, but without the value. A number is never refused for what it is: the campaign's rule says what
becomes of one that is outside its domain.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.arrays import FloatArray
from sottovoce.errors import ArgumentTypeError, DataError
from sottovoce.values.checked_arrays import number_or_nan
from sottovoce.values.options import Options
from sottovoce.values.space import Space


def read_one(value: object, space: Space) -> FloatArray:
    """The numbers of one person's value, NaN where it is missing.

    Args:
        value: A number, an option or a position; None where there is none.
        space: Where it lies.

    Returns:
        A number, the place of an option, or two coordinates.

    Raises:
        ArgumentTypeError: If the value has the wrong type. The error does not tell it.
        DataError: If an option is not on the list.
    """
    if space.shape:
        items = [None] * space.shape[0] if value is None else items_of(value)
        if items is None or (len(items),) != space.shape:
            raise ArgumentTypeError("value must be a position (x, y) or None", argument="value")
        return np.array([number_or_nan(item) for item in items])
    if not isinstance(space, Options):
        return np.asarray(number_or_nan(value))
    is_one = not isinstance(value, bool | np.bool_) and items_of(value) is None  # True and 1 are equal
    place = space.numbers(value, "value") if is_one else np.empty(1)
    if place.ndim:
        raise ArgumentTypeError("value must be one option or None", argument="value")
    if place == -1:
        raise DataError("value must be one of the options or None", code="outside", argument="value")
    return place


def read_many(values: Any, space: Space) -> NDArray[Any]:
    """The values of many people as the reporter takes them.

    Args:
        values: One for each person.
        space: Where they lie.

    Returns:
        A value for each person; None or NaN where it is missing.

    Raises:
        ArgumentTypeError: If a value has the wrong type. The error gives the first index, never the value.
        DataError: If an option is not on the list; the same.
    """
    is_list = isinstance(values, list | tuple)  # of which numpy would make texts or numbers
    many = np.array(values, dtype=object) if is_list else values
    if not np.ndim(many):
        raise ArgumentTypeError("values must be one for each person", argument="values")
    refusal = None
    try:
        numbers = space.numbers(many, "values")
        fits = numbers.shape[1:] == space.shape and not (isinstance(space, Options) and -1 in numbers)
        if fits and not holds_truths(many):
            return space.named(numbers)
    except (TypeError, DataError) as error:  # which one it is, is found below
        refusal = error
    read = np.empty((len(many), *space.shape))
    for i, value in enumerate(np.asarray(many, dtype=object).tolist()):
        try:
            read[i] = read_one(value, space)
        except (ArgumentTypeError, DataError) as error:
            raise about(error, f"the one at index {i}", "values") from None
    if refusal is not None and not is_list:  # of the array as a whole
        raise refusal
    return space.named(read)


def holds_truths(values: object) -> bool:
    """Whether some values are True or False, which no client takes for an answer."""
    array = np.asarray(values)
    return array.dtype.kind in "bO" and bool in set(map(type, array.reshape(-1).tolist()))


def about(error: ArgumentTypeError | DataError, where: str, argument: str) -> ArgumentTypeError | DataError:
    """The same error, of a part of what was given."""
    return type(error)(f"{where}: {error}", code=error.code, argument=argument)


def items_of(value: object) -> Sequence[object] | None:
    """The items of a sequence that is no text."""
    items = value.tolist() if isinstance(value, np.ndarray) else value
    return items if isinstance(items, Sequence) and not isinstance(items, str | bytes) else None
