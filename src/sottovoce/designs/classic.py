"""The published piecewise mechanisms, each a way to choose the numbers of a window. E = e^ε throughout.

All work on [0, 1] and move to any interval by the unit coordinate. Which to use: `optimal` beats every
one of them in its own measure; these are here to compare with, and because they need no solver.
"""

from __future__ import annotations

import math

from sottovoce.designs.published_formulas import (
    ptt_optimal_q,
    ptt_parameters,
    square_wave_reach,
    theta_at,
    worst_theta,
)
from sottovoce.designs.solver.integer_weights import named, uniform_unbiased, uniform_window
from sottovoce.errors import (
    ArgumentError,
    check_epsilon,
    loss_exponent,
    proper_fraction,
    real_number,
    refuse_others,
)
from sottovoce.reporters.mechanism import Mechanism, cells_within
from sottovoce.values.domain import Domain
from sottovoce.values.interval import DomainLike, as_domain

DEFAULT_CELLS = 2**16


@named
def ogpm(
    epsilon: float,
    domain: DomainLike = (0, 1),
    loss: str | float = "l2",
    *,
    at: float | None = None,
    cells: int = DEFAULT_CELLS,
) -> Mechanism:
    """Design the best piecewise mechanism with a uniform background (Zheng et al., Theorems 3.7 and 4.2).

    Density p on a window of length w = (E − p)/(p(E − 1)) around x, p/E elsewhere in the domain; on an
    interval the window stops at the ends, on a circle it wraps. p = e^{θε} minimises the worst-case
    error of the loss: θ = ½ for "l1"; for "l2" p is the root of (E−2)p³ + 3Ep − 2E² (the paper's
    e^{ε/2} is not optimal there).

    Args:
        epsilon: Privacy parameter ε.
        domain: Where values lie: (low, high) or a `Circle`.
        loss: "l1", "l2" or the k ≥ 1 of |y − x|^k.
        at: Minimise the error at this value instead of the worst one (paper, section 6).
        cells: How many different reports there are.

    Returns:
        The mechanism, with reports in the domain; biased on an interval.

    Raises:
        ValueError: If an argument is out of range.
        TypeError: If an argument is of the wrong type.

    Example:
        >>> m = ogpm(epsilon=1.0, domain=(0, 24), loss="l1")
        >>> round(m.worst_error("l1") / 24, 5)
        0.37754
    """
    epsilon, domain = check_epsilon(epsilon), as_domain(domain)
    theta = worst_theta(epsilon, loss_exponent(loss))
    if at is not None:
        if domain.is_circle:
            refuse_others(ogpm, "a circle, where every value is like every other", {"at": at})
        theta = theta_at(epsilon, loss_exponent(loss), _unit_point(domain, at))
    mass = math.exp((theta - 1) * epsilon)
    return uniform_window(epsilon, domain, mass=mass, cells=cells_within(cells))


@named
def pm(epsilon: float, domain: DomainLike = (0, 1), *, cells: int = DEFAULT_CELLS) -> Mechanism:
    """Design the piecewise mechanism of Wang et al. (ICDE 2019), for means.

    On [−1, 1] reports lie in [−C, C], C = (√E + 1)/(√E − 1), the window is C − 1 long.

    Args:
        epsilon: Privacy parameter ε.
        domain: The interval that values lie in.
        cells: How many different reports there are, at most.

    Returns:
        The mechanism, unbiased, with reports far beyond the domain.

    Raises:
        ValueError: If an argument is out of range or the domain is a circle.
        TypeError: If an argument is of the wrong type.

    Example:
        >>> round(pm(1.0).worst_variance(), 4)
        1.3059
    """
    epsilon, domain = check_epsilon(epsilon), _interval(domain, "pm")
    return uniform_unbiased(epsilon, domain, share=1 / (math.exp(epsilon / 2) + 1), cells=cells_within(cells))


@named
def sw(epsilon: float, domain: DomainLike = (0, 1), *, cells: int = DEFAULT_CELLS) -> Mechanism:
    """Design the square wave of Li et al. (SIGMOD 2020), for distributions.

        b = (εE − E + 1) / (2E(E − 1 − ε))

    A report lies within b of the truth with density E times that of elsewhere on [−b, 1 + b].

    Args:
        epsilon: Privacy parameter ε.
        domain: The interval that values lie in.
        cells: How many different reports there are.

    Returns:
        The mechanism, biased, with reports a little beyond the domain.

    Raises:
        ValueError: If an argument is out of range or the domain is a circle.
        TypeError: If an argument is of the wrong type.

    Example:
        >>> float(sw(1.0).error(0.0).round(4))
        0.2865
    """
    epsilon, domain = check_epsilon(epsilon), _interval(domain, "sw")
    b = square_wave_reach(epsilon)
    mass = (1 + 2 * b) / (2 * b * math.exp(epsilon) + 1)
    return uniform_window(epsilon, domain, mass=mass, cells=cells_within(cells), margin=b)


@named
def ptt(
    epsilon: float, domain: DomainLike = (0, 1), q: float | None = None, *, cells: int = DEFAULT_CELLS
) -> Mechanism:
    """Design I-PTT: an unbiased mechanism with a uniform background, one for each q in (0, 1).

    On [−1, 1]: k = E/(q(E − 1)), a = 1/((1 − q)(E − 1)), the window is kx ± a within ±(k + a). PM is
    q = √E/(√E + 1). (The paper treats k and a as independent; normalisation leaves one parameter.)

    Args:
        epsilon: Privacy parameter ε.
        domain: The interval that values lie in.
        q: Which one; that of least worst-case variance if not given.
        cells: How many different reports there are, at most.

    Returns:
        The mechanism, unbiased, with reports far beyond the domain.

    Raises:
        ValueError: If an argument is out of range or the domain is a circle.
        TypeError: If an argument is of the wrong type.

    Example:
        >>> round(ptt(1.0).worst_variance(), 4)
        1.2664
    """
    epsilon, domain = check_epsilon(epsilon), _interval(domain, "ptt")
    if q is None:
        q = ptt_optimal_q(epsilon)
    k, a = ptt_parameters(epsilon, proper_fraction(q, "q"))
    return uniform_unbiased(epsilon, domain, share=a / (k + a), cells=cells_within(cells))


@named
def duchi(epsilon: float, domain: DomainLike = (0, 1)) -> Mechanism:
    """Design the two reports of Duchi, Jordan and Wainwright: the best unbiased mechanism as ε → 0.

    On [−1, 1] the reports are ±(E + 1)/(E − 1).

    Args:
        epsilon: Privacy parameter ε.
        domain: The interval that values lie in.

    Returns:
        The mechanism, unbiased, with two cells.

    Raises:
        ValueError: If an argument is out of range or the domain is a circle.
        TypeError: If an argument is of the wrong type.

    Example:
        >>> duchi(1.0, (-1, 1)).decode([0, 1]).round(4).tolist()
        [-2.164, 2.164]
    """
    epsilon, domain = check_epsilon(epsilon), _interval(domain, "duchi")
    return uniform_unbiased(epsilon, domain, share=0.5, cells=2)


@named
def ogpm_unbiased(epsilon: float, domain: DomainLike = (0, 1), *, cells: int = DEFAULT_CELLS) -> Mechanism:
    """Design OGPM-U as printed (Zheng et al., Theorem 5.1): unbiased on [−C, C + 1], C as in `pm`.

    Dominated: PM has 3–4 times less variance with the same three pieces. Kept for comparison.

    Args:
        epsilon: Privacy parameter ε.
        domain: The interval that values lie in.
        cells: How many different reports there are, at most.

    Returns:
        The mechanism, unbiased, with reports far beyond the domain.

    Raises:
        ValueError: If an argument is out of range or the domain is a circle.
        TypeError: If an argument is of the wrong type.

    Example:
        >>> round(ogpm_unbiased(1.0).worst_variance(), 4)
        5.0245
    """
    epsilon, domain = check_epsilon(epsilon), _interval(domain, "ogpm_unbiased")
    c = 1 / math.tanh(epsilon / 4)
    share = 1 / (math.exp(epsilon / 2) + 1)
    return uniform_unbiased(epsilon, domain, share=share, cells=cells_within(cells), spread=2 * c + 1)


def _unit_point(domain: Domain, at: float) -> float:
    x0 = real_number(at, "at")
    if not domain.contains(x0):
        raise ArgumentError(f"at must lie in the domain, got at={x0!r}", argument="at")
    return float(domain.to_unit(x0))


def _interval(domain: DomainLike, name: str) -> Domain:
    domain = as_domain(domain)
    if domain.is_circle:
        sentence = f"{name} is defined on an interval; on a circle use ogpm, which is optimal there"
        raise ArgumentError(sentence, argument="domain")
    return domain
