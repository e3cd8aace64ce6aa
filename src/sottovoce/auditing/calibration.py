"""The other way round: the largest local ε whose counts keep a central guarantee."""

from __future__ import annotations

import math
from collections.abc import Callable

from sottovoce.auditing.curve import check_delta, depth
from sottovoce.auditing.shuffled import shuffled
from sottovoce.core.errors import MAX_EPSILON, MIN_EPSILON, positive_number
from sottovoce.core.reporter import Reporter

_CLOSE = 1e-3  # how far the local ε is narrowed down, relatively


def largest_local(design: Callable[[float], Reporter], central: tuple[float, float], people: int) -> float:
    """The largest local ε of a design with which the counts of so many people keep (ε, δ).

    It is looked for among numbers of four digits. The one that is returned was checked with the proved upper
    bound; one that is a thousandth larger failed it, or is more than any design takes.

    Args:
        design: Makes a reporter from a local ε.
        central: The ε and δ that the counts shall keep.
        people: How many report honestly.

    Returns:
        The local ε, at least the central one.

    Raises:
        ArgumentError: If `central` or `people` is out of range.

    Example:
        >>> from sottovoce.designs.classic import ogpm
        >>> local = largest_local(ogpm, (0.1, 1e-8), people=10**5)
        >>> 3 < local < 4
        True
    """
    epsilon, delta = positive_number(central[0], "central"), check_delta(central[1], "central")
    wanted = depth(delta)

    def spare(local: float) -> float:
        """How much deeper than asked for δ is; negative if the guarantee fails."""
        return depth(shuffled(design(local), people, None).delta(epsilon)) - wanted

    least = min(max(_rounded(epsilon), MIN_EPSILON), MAX_EPSILON)
    low, high = (least, depth(0.0) - wanted), (MAX_EPSILON, -wanted)
    x = _rounded(min(max(math.log1p(people * epsilon**2 / wanted**2), 1.2 * least), MAX_EPSILON))
    tries = 0
    while high[0] - low[0] > _CLOSE * high[0]:
        value = spare(x)
        low, high = ((x, value), high) if value >= 0 else (low, (x, value))
        if low[0] == MAX_EPSILON:
            break
        tries += 1
        share = low[1] / (low[1] - high[1]) if tries % 3 else 0.5
        margin = min(0.4, _CLOSE * high[0] / (high[0] - low[0]) / 2)
        x = _rounded(low[0] + min(max(share, margin), 1 - margin) * (high[0] - low[0]))
        if not low[0] < x < high[0]:
            break
    return low[0]


def _rounded(number: float) -> float:
    """Four digits, not more than the number."""
    unit = 10.0 ** (math.floor(math.log10(number)) - 3)
    return float(f"{math.floor(number / unit * (1 + 1e-12)) * unit:.4g}")
