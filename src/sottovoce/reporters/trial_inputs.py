"""What a rule of the contract needs: a sentence when it is broken, and values to try it at."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import ContractError
from sottovoce.reporters.contract import Reporter
from sottovoce.values.domain import Domain
from sottovoce.values.options import Options
from sottovoce.values.space import Space

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio: its multiples spread evenly


def require(holds: object, rule: str, sentence: str) -> None:
    """Raise a `ContractError` that names the rule, unless it holds."""
    if not holds:
        raise ContractError(f"{rule}: {sentence}", code=rule)


def space_of(reporter: Reporter) -> Space:
    """Where the values of a reporter of one thing lie."""
    domain = reporter.domain
    if not isinstance(domain, Space):
        raise ContractError(f"domain: it must be a Space, got {type(domain).__name__}", code="domain")
    return domain


def trial_inputs(reporter: Reporter, count: int) -> NDArray[Any]:
    """Values of one thing to try a rule at: see `trial_values`."""
    return trial_values(space_of(reporter), count)


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


def outside_inputs(reporter: Reporter) -> NDArray[Any]:
    """A few values that do not lie in the domain."""
    domain = space_of(reporter)
    if isinstance(domain, Options):
        return np.array([f"none of {domain.names[:2]}"], dtype=object)
    with np.errstate(over="ignore"):
        if isinstance(domain, Domain):
            beyond = np.asarray(domain.from_unit([-0.3719083, 1.3719083, 2.1190847]))
        else:
            beyond = trial_inputs(reporter, 4) * 1e3
    return np.asarray(beyond[~domain.contains(beyond) & ~domain.absent(beyond)])
