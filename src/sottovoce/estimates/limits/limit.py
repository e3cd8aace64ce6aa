"""The limit of a quantity that weighted counts give: all limits but those of `every_n` come from here."""

from __future__ import annotations

from typing import Any

import numpy as np

from sottovoce.estimates.limits.weighted_counts import Moments, Statistic, moments


def limit(parts: Statistic | Moments, side: int, tail: float) -> Any:
    """value ± error·(t + skewness·(2t² + 1)/6): the skewness term only where it widens (Hall 1992).

    Args:
        parts: What bounds the quantity from that side; moments where people are added up or many weightings
            of the same counts are looked at together.
        side: 1 for an upper limit, −1 for a lower one.
        tail: Its error.

    Returns:
        The limit; an array for arrays.
    """
    from scipy.special import stdtrit

    here = parts if isinstance(parts, Moments) else moments(parts)
    t = -float(stdtrit(here.freedom, tail))
    lean = np.maximum(0.0, side * here.skewness) * (2 * t**2 + 1) / 6
    return here.value + side * (here.slack + here.error * (t + lean))
