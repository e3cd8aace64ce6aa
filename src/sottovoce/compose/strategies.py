"""Which attributes each person reports, and with how much ε: chosen by exact variances."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from sottovoce.compose.attributes import UNIT, as_spread, attribute_mechanism, worth
from sottovoce.compose.budget import shares_within, split_budget
from sottovoce.core.domains import Circle, Domain, DomainLike, as_domain
from sottovoce.core.errors import MIN_EPSILON, check_epsilon, positive_number, whole_number
from sottovoce.core.mechanism import Mechanism
from sottovoce.core.survey import MAX_QUESTIONS, Survey
from sottovoce.designs.classic import pm
from sottovoce.designs.prior import Prior

Design = Callable[[float, Domain], Mechanism]
STRATEGIES = ("auto", "split", "sample")


def vector(
    epsilon: float,
    domains: Sequence[DomainLike] | Mapping[str, DomainLike],
    strategy: str = "auto",
    *,
    k: int | None = None,
    prior: Any = None,
    design: Design | None = None,
    weights: Sequence[float] | None = None,
) -> Survey:
    """Mechanisms for many attributes, linear and circular, within one ε.

    `k` fixes how many attributes a person reports (strategy="sample"). Attributes count alike, in units of
    their width, unless `weights` say otherwise; weights also divide ε unevenly when all are reported.

    The choice is made for the worst truth: values at both ends, half and half. `prior` is a public guess of
    where values lie, for which the *expected* variance is made least instead: "uniform" (anywhere in the
    domain alike) for all attributes, or a list with one entry each: "uniform", samples, a pair (values,
    weights), or None for the worst case. Reports stay unbiased if the guess is wrong; only their variance
    is larger then.

    `design` makes the mechanism of an attribute from ε and its domain, in place of the unbiased one of least
    worst-case or expected variance.
    `domains` has one domain per attribute, by name; a list names them "0", "1", ….

    >>> vector(1.0, {"age": (0, 120), "commute": (0, 5)}).sampled
    1
    >>> vector(4.0, [(0, 1)] * 8).sampled, vector(4.0, [(0, 1)] * 8, prior="uniform").sampled
    (2, 1)
    """
    if not isinstance(domains, Mapping) and isinstance(domains, Sequence) and not isinstance(domains, str):
        domains = {str(i): domain for i, domain in enumerate(domains)}
    epsilon, places = check_epsilon(epsilon), _domains(domains)
    d = len(places)
    if strategy not in STRATEGIES:
        raise ValueError(f"strategy must be one of {', '.join(STRATEGIES)}, got strategy={strategy!r}")
    if k is not None and strategy == "split" and k != d:
        raise ValueError(f"strategy='split' reports all {d} attributes, got k={k!r}")
    scale = [positive_number(w, "weights") for w in (weights if weights is not None else [1.0] * d)]
    if len(scale) != d:
        raise ValueError(f"weights must have one entry per attribute, got {len(scale)} for {d}")
    spreads = _spreads(prior, list(places.values()))
    asked = [_Attribute(*each, design) for each in zip(places, places.values(), spreads, scale, strict=True)]
    counts = _counts(epsilon, d, strategy, k, quick=design is None)
    made = [_made(epsilon, asked, count) for count in counts]
    totals = {m.sampled: _total(m, asked) for m in made}
    best = min(made, key=lambda m: totals[m.sampled])
    return Survey(epsilon, best.questions, best.sampled, totals)


@dataclass(frozen=True, eq=False)
class _Attribute:
    """What is asked: where, for which spread of values, and how much it counts."""

    name: str
    domain: Domain
    spread: Prior | None
    weight: float
    design: Design | None

    def build(self, epsilon: float) -> Mechanism:
        if self.design is not None:
            return self.design(epsilon, self.domain)
        return attribute_mechanism(epsilon, self.domain, self.spread)

    @property
    def like(self) -> Callable[..., Mechanism]:
        """A function of ε for something worth as much; equal ones share their curve in `split_budget`."""
        if self.design is not None:
            return partial(_by_design, domain=self.domain, design=self.design)
        place = Circle(1.0) if self.domain.is_circle else UNIT  # what it is worth is in units of the width
        if self.spread is not None and not self.domain.is_circle:
            # Dozens of designs for a guess would take a minute: divide by PM's formula, compare exactly.
            return partial(pm, domain=UNIT, cells=2**10)
        return partial(attribute_mechanism, domain=place)

    def counts_like(self, other: _Attribute) -> bool:
        same = self.spread is other.spread and self.weight == other.weight
        return same and self.domain.is_circle == other.domain.is_circle


def _by_design(epsilon: float, domain: Domain, design: Design) -> Mechanism:
    return design(epsilon, domain)


def _domains(domains: object) -> dict[str, Domain]:
    if not isinstance(domains, Mapping) or not domains:
        raise TypeError("domains must be a list of domains, one per attribute, or a dict by name")
    if len(domains) > MAX_QUESTIONS:
        raise ValueError(f"there can be at most {MAX_QUESTIONS} attributes, got {len(domains)}")
    return {name: as_domain(domain) for name, domain in domains.items()}


def _spreads(prior: Any, domains: list[Domain]) -> list[Prior | None]:
    if prior is None or isinstance(prior, str):
        return [as_spread(prior, domain) for domain in domains]
    if not isinstance(prior, list) or len(prior) != len(domains) or any(isinstance(p, float) for p in prior):
        rule = f"prior must be 'uniform' or a list with one guess for each of the {len(domains)} attributes"
        raise ValueError(rule)
    return [as_spread(one, domain) for one, domain in zip(prior, domains, strict=True)]


def _counts(epsilon: float, d: int, strategy: str, k: int | None, quick: bool) -> list[int]:
    """How many attributes per person to consider.

    With the default designs ε·(V(ε) + luck) falls while ε < 1, with luck at most ¼ (a test checks it), so to
    report more than ε attributes each is worse than to report fewer; beyond that only the whole vector is
    looked at.
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


def _made(epsilon: float, asked: list[_Attribute], count: int) -> Survey:
    """Equal shares; or uneven ones when all attributes are reported and they do not count alike."""
    even = shares_within([epsilon / count] * count, epsilon)
    made = [_built(epsilon, asked, count, [even[0]] * len(asked))]
    if count == len(asked) <= 16 and not all(one.counts_like(asked[0]) for one in asked):
        losses = [partial(worth, spread=one.spread) for one in asked]
        weights = [one.weight for one in asked]
        shares = split_budget(epsilon, [one.like for one in asked], losses, weights=weights).epsilons
        made.append(_built(epsilon, asked, count, shares))
    return min(made, key=lambda m: _total(m, asked))


def _built(epsilon: float, asked: list[_Attribute], count: int, shares: Sequence[float]) -> Survey:
    questions = {one.name: one.build(e) for e, one in zip(shares, asked, strict=True)}
    return Survey(epsilon, questions, count)


def _total(m: Survey, asked: list[_Attribute]) -> float:
    """The weighted variance per person of all estimated means."""
    share, parts = float(m.share), mechanisms(m)
    each = (one.weight * worth(parts[one.name], share, one.spread) for one in asked)
    return float(sum(each))


def mechanisms(survey: Survey) -> dict[str, Mechanism]:
    """The questions of a survey of numbers."""
    parts = {name: part for name, part in survey.questions.items() if isinstance(part, Mechanism)}
    if len(parts) < len(survey.questions):
        raise TypeError("every question must be of one number")
    return parts
