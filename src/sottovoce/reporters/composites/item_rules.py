"""The rules of several items of one person, whatever they are asked of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce
from operator import mul
from typing import TYPE_CHECKING, Any

import numpy as np

from sottovoce.errors import DataError, SpecError
from sottovoce.values.checked_arrays import one_column
from sottovoce.values.space import Space

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

MAX_ITEMS = 256
MAX_NAME = 64


def columns_of(values: Any, spaces: Mapping[str, Space]) -> tuple[dict[str, NDArray[Any]], int | None]:
    """The values of each item, and how many people there are (None: one, as scalars)."""
    if hasattr(values, "keys"):
        if extra := [name for name in values.keys() if name not in spaces]:  # noqa: SIM118
            raise DataError(f"there is no item {extra[0]!r}", code="unknown", argument="values")
        if lacking := [name for name in spaces if name not in values.keys()]:  # noqa: SIM118
            raise DataError(f"item {lacking[0]!r} has no values", code="lacking", argument="values")
        columns = {name: np.asarray(one_column(values[name], name)) for name in spaces}
    else:
        table = np.asarray(values)
        if table.ndim not in (1, 2) or table.shape[-1] != len(spaces):
            raise DataError(
                f"values must have a column for each of {len(spaces)} items, got shape {table.shape}",
                code="shape",
                argument="values",
            )
        columns = dict(zip(spaces, np.moveaxis(table, -1, 0), strict=True))
    shapes = {
        np.shape(column)[: np.ndim(column) - len(spaces[name].shape)] for name, column in columns.items()
    }
    if len(shapes) != 1 or len(first := shapes.pop()) > 1:
        raise DataError("all items must have as many values", code="shape", argument="values")
    return columns, first[0] if first else None


def rule_of(rule: Any, name: str) -> Any:
    """The rule of one item, where rules are given by name."""
    return rule.get(name, "refuse") if isinstance(rule, Mapping) else rule


def product_of_largest(ratios: Iterable[Fraction], k: int) -> Fraction:
    """The exact ratio of a report of any k of these parts."""
    return reduce(mul, sorted(ratios, reverse=True)[:k])


def check_items(names: list[str], sampled: object, what: str = "questions") -> None:
    """The rules of a survey that are not those of its items."""
    if not 1 <= len(names) <= MAX_ITEMS:
        raise SpecError(f"a survey has 1 to {MAX_ITEMS} {what}, got {len(names)}", argument=what)
    for name in names:
        if not isinstance(name, str) or not 1 <= len(name) <= MAX_NAME or not name.isprintable():
            raise SpecError(f"names of {what} must be 1 to {MAX_NAME} printable characters", argument=what)
    if len(set(names)) != len(names):
        raise SpecError(f"two {what} have the same name", argument=what)
    if type(sampled) is not int or not 1 <= sampled <= len(names):
        raise SpecError(
            f"sampled must be a whole number between 1 and {len(names)}, got sampled={sampled!r}",
            argument="sampled",
        )
