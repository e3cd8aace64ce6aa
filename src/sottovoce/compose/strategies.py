"""Which attributes each person reports, and with how much ε: chosen by exact variances."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

from sottovoce.compose.attributes import attribute_mechanism, worth
from sottovoce.compose.budget import shares_within, split_budget
from sottovoce.compose.vectors import MAX_ATTRIBUTES, Vector
from sottovoce.domains import Domain, DomainLike, as_domain
from sottovoce.errors import MIN_EPSILON, check_epsilon, positive_number, whole_number
from sottovoce.mechanism import Mechanism

Design = Callable[[float, Domain], Mechanism]
STRATEGIES = ("auto", "split", "sample")


def vector(
    epsilon: float,
    domains: Sequence[DomainLike],
    strategy: str = "auto",
    *,
    k: int | None = None,
    design: Design = attribute_mechanism,
    weights: Sequence[float] | None = None,
) -> Vector:
    """Mechanisms for many attributes, linear and circular, within one ε.

    `k` fixes how many attributes a person reports (strategy="sample"). Attributes count alike, in units of
    their width, unless `weights` say otherwise; weights also divide ε unevenly when all are reported.
    `design` makes the mechanism of an attribute; the default is unbiased.

    >>> m = vector(1.0, [(0, 1)] * 8)
    >>> m.sampled, m.strategy
    (1, 'sample')
    """
    epsilon, places = check_epsilon(epsilon), _domains(domains)
    d = len(places)
    if strategy not in STRATEGIES:
        raise ValueError(f"strategy must be one of {', '.join(STRATEGIES)}, got strategy={strategy!r}")
    if k is not None and strategy == "split" and k != d:
        raise ValueError(f"strategy='split' reports all {d} attributes, got k={k!r}")
    scale = [positive_number(w, "weights") for w in (weights if weights is not None else [1.0] * d)]
    if len(scale) != d:
        raise ValueError(f"weights must have one entry per attribute, got {len(scale)} for {d}")
    counts = _counts(epsilon, d, strategy, k, quick=design is attribute_mechanism)
    made = [_made(epsilon, places, count, design, scale) for count in counts]
    totals = {m.sampled: _total(m, scale) for m in made}
    best = min(made, key=lambda m: totals[m.sampled])
    return Vector(epsilon, best.parts, best.sampled, totals)


def _domains(domains: Sequence[DomainLike]) -> list[Domain]:
    if isinstance(domains, Domain | str) or not isinstance(domains, Sequence) or not domains:
        raise TypeError("domains must be a list of domains, one per attribute")
    if len(domains) > MAX_ATTRIBUTES:
        raise ValueError(f"there can be at most {MAX_ATTRIBUTES} attributes, got {len(domains)}")
    return [as_domain(domain) for domain in domains]


def _counts(epsilon: float, d: int, strategy: str, k: int | None, quick: bool) -> list[int]:
    """How many attributes per person to consider.

    With the default designs ε·(V(ε) + ¼) falls while ε < 1 (a test checks it), so to report more than ε
    attributes each is worse than to report fewer; beyond that only the whole vector is looked at.
    """
    if k is not None:
        count = whole_number(k, "k", least=1)
        if count > d:
            raise ValueError(f"k must be at most the number of attributes, {d}, got k={count}")
        counts = [count]
    elif strategy == "split":
        counts = [d]
    else:
        counts = [c for c in range(1, d + 1) if not quick or c <= max(1, math.ceil(epsilon))]
        if strategy == "auto" and d not in counts:
            counts.append(d)
    possible = [c for c in counts if epsilon / c >= MIN_EPSILON]
    if not possible:
        least = f"each needs at least {MIN_EPSILON}"
        raise ValueError(f"epsilon={epsilon!r} is too small to split into {counts[0]}: {least}")
    return possible


def _made(epsilon: float, domains: list[Domain], count: int, design: Design, weights: list[float]) -> Vector:
    """Equal shares; uneven ones when all attributes are reported and they do not count alike."""
    alike = len(set(weights)) == 1 and len({domain.is_circle for domain in domains}) == 1
    if count == len(domains) > 1 and not alike and count <= 16:
        builds = [partial(_build, domain=domain, design=design) for domain in domains]
        shares = split_budget(epsilon, builds, worth, weights=weights).epsilons
    else:
        shares = shares_within([epsilon / count] * count, epsilon)
    each = shares if count == len(domains) else [shares[0]] * len(domains)
    return Vector(epsilon, tuple(design(e, domain) for e, domain in zip(each, domains, strict=True)), count)


def _build(epsilon: float, domain: Domain, design: Design) -> Mechanism:
    return design(epsilon, domain)


def _total(m: Vector, weights: list[float]) -> float:
    """The weighted variance per person of all estimated means."""
    share = float(m.share)
    return float(sum(w * worth(part, share) for w, part in zip(weights, m.parts, strict=True)))
