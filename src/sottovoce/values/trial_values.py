"""Values to try a rule at: special and ordinary ones of a space, and some that lie outside."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.values.domain import Domain
from sottovoce.values.options import Options
from sottovoce.values.space import Space

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio: its multiples spread evenly


def trial_values(domain: Space, count: int) -> NDArray[Any]:
    """Values to try a rule at: the ends of the domain or its rim, the middle, and an even spread.

    Args:
        domain: Where they lie.
        count: How many of the spread.

    Returns:
        The same values every time; the special ones come first.
    """
    spread = domain.spread(np.arange(1, count + 1, dtype=np.uint64) * _GOLDEN)
    if isinstance(domain, Options):
        return np.concatenate((domain.named([0, len(domain) - 1, len(domain) // 2, 1]), domain.named(spread)))
    if isinstance(domain, Domain):
        ends = [domain.low, domain.high, float(domain.from_unit(0.5)), np.nextafter(domain.low, domain.high)]
        return np.concatenate((ends, spread))
    return np.concatenate((domain.bring_inside(spread * 1e3), spread))


def outside_values(domain: Space) -> NDArray[Any]:
    """A few values that do not lie in the domain."""
    if isinstance(domain, Options):
        return np.array([f"none of {domain.names[:2]}"], dtype=object)
    with np.errstate(over="ignore"):
        if isinstance(domain, Domain):
            beyond = np.asarray(domain.from_unit([-0.3719083, 1.3719083, 2.1190847]))
        else:
            beyond = trial_values(domain, 4) * 1e3
    return np.asarray(beyond[~domain.contains(beyond) & ~domain.absent(beyond)])
