"""Limits with a closed form: what no ε-LDP mechanism beats, without any search.

**Circle.** Take any mechanism and average it over all rotations of input and report together: still ε-LDP,
and its error, now the same at every input, is the average of the old errors: at most the old worst case.
It is described by one density f of the offset y − x, and privacy says max f ≤ E·min f. Under ∫f = 1 the least
expected loss puts E·min f on an arc around 0 and min f elsewhere: the circular OGPM, for any loss that grows
with the distance.

**Interval, even prior.** Average the cuts D = |y − x|^k − ρ^k over all x in [0, 1]. The part of c(D) below
zero is least when the whole window lies inside, the rest at y = ½, so for every real y

    r(y) ≥ −(E − 1)·2k/(k + 1)·ρ^{k+1} + 2^{−k}/(k + 1) − ρ^k.

With ρ the root of the right side, ρ^k bounds the worst case. It misses what the ends of the domain cost.

**Interval, unbiased, small ε.** Three cuts (see `designs.solver.cuts`): the error at ½ with κ = −m, and both
ends' means with D = ±(y − ½), κ = ½ and weight v each. Then r(y) = (y − ½)² + m − v(E − 1)|y − ½| ≥ 0 for
every y if v = 2√m/(E − 1), and the bound v − m is largest at m = (E − 1)^−2, where it is (E − 1)^−2 itself.
"""

from __future__ import annotations

import math

from sottovoce.designs.published_formulas import ogpm_density
from sottovoce.designs.solver.roots import root


def circular_limit(epsilon: float, k: float) -> float:
    """The least worst-case E[distance^k] of all ε-LDP mechanisms on a circle of circumference 1.

    >>> round(circular_limit(1.0, 2.0) * 4, 5)  # the worst case of OGPM on [0, 1], as distances are at most ½
    0.2173
    """
    p = ogpm_density(epsilon, k)
    w = math.expm1(epsilon - math.log(p)) / math.expm1(epsilon)
    return 0.5**k * (w ** (k + 1) * math.expm1(epsilon) + 1) * p / ((k + 1) * math.exp(epsilon))


def even_prior_limit(epsilon: float, k: float) -> float:
    """ρ^k of the even prior on [0, 1], a hair below the root.

    >>> even_prior_limit(8.0, 1.0) < 0.010913 < 1.3 * even_prior_limit(8.0, 1.0)
    True
    """
    more = math.expm1(epsilon)

    def r(radius: float) -> float:
        return 0.5**k / (k + 1) - radius**k - more * 2 * k / (k + 1) * radius ** (k + 1)

    radius = root(r, 0.0, 0.5) * (1 - 1e-12)
    return radius**k if r(radius) >= 0 else 0.0


def reach_limit(epsilon: float, k: float = 2.0) -> float:
    """The least worst-case variance of unbiased ε-LDP mechanisms on [0, 1] is at least this; sharp as ε → 0.

    >>> round(reach_limit(0.1), 2)  # a search proves 99.98
    90.41
    """
    return math.expm1(epsilon) ** -2 * (1 - 1e-15)


#: The closed forms a certificate can name.
CLOSED = {"rotation": circular_limit, "even prior": even_prior_limit, "reach": reach_limit}
