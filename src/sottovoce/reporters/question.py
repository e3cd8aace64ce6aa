"""What can be asked of a tally, as data: a reporter says it, and the summary knows how to answer."""

from __future__ import annotations

from typing import NamedTuple


class Question(NamedTuple):
    """One thing that can be asked of a tally.

    Attributes:
        name: Its name in the table of `estimates.summary`, such as "mean".
        item: Of a survey, which item it is asked of; empty for all of them together.
        about: What it is about, where that is several things: both numbers of a relation, group and number.
        p: Which quantile.
        between: The range of a probability.
        option: The option of a share.
    """

    name: str
    item: str = ""
    about: tuple[str, ...] = ()
    p: float | None = None
    between: tuple[float, float] | None = None
    option: str | int | None = None
