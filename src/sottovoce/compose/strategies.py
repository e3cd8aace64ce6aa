"""Which questions each person answers, and with how much ε: chosen by exact variances."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Literal

from sottovoce.compose.budget import shares_within, split_budget
from sottovoce.compose.selection import UNIT, SpreadLike, as_spread, question_mechanism, worth
from sottovoce.core.domains import Circle, Domain, DomainLike, as_domain
from sottovoce.core.errors import (
    MIN_EPSILON,
    ArgumentError,
    ArgumentTypeError,
    check_epsilon,
    one_of,
    positive_number,
    whole_number,
)
from sottovoce.core.mechanism import Mechanism
from sottovoce.core.questions import MAX_QUESTIONS
from sottovoce.core.survey import Survey
from sottovoce.designs.classic import pm
from sottovoce.designs.prior import Prior

Design = Callable[[float, Domain], Mechanism]
Strategy = Literal["auto", "split", "sample"]
STRATEGIES: tuple[Strategy, ...] = ("auto", "split", "sample")


def vector(
    epsilon: float,
    domains: Sequence[DomainLike] | Mapping[str, DomainLike],
    strategy: Strategy = "auto",
    *,
    k: int | None = None,
    prior: Literal["uniform"] | Sequence[SpreadLike] | None = None,
    design: Design | None = None,
    weights: Sequence[float] | None = None,
) -> Survey:
    """Design a survey of many numbers, linear and circular, within one ε.

    The choice is made for the worst truth: values at both ends, half and half. With a prior it is made for
    the expected variance instead; reports stay unbiased if the guess is wrong, only their variance is larger.

    Args:
        epsilon: What one person's whole report may cost.
        domains: One domain per question, by name; a list names them "0", "1", ….
        strategy: "split": everybody answers all questions, with a part of ε each. "sample": everybody answers
            k of them, chosen by lot, with ε/k each. "auto": whichever has the least total variance.
        k: How many questions a person answers; the best number if not given.
        prior: A public guess of where values lie: "uniform" (anywhere in the domain alike) for all questions,
            or a list with one entry each: "uniform", samples, a pair (values, weights), or None for the worst
            case.
        design: Makes the mechanism of a question from ε and its domain, in place of the unbiased one of least
            worst-case or expected variance.
        weights: How much each question counts, in units of its width; alike if not given. Weights also divide
            ε unevenly where all questions are answered.

    Returns:
        A survey; `considered` has the total variance for every k that was looked at.

    Raises:
        ValueError: If an argument is out of range, arguments do not fit each other, or ε is too small to
            split.
        TypeError: If `domains` is neither a list nor a dict.

    Example:
        >>> vector(1.0, {"age": (0, 120), "commute": (0, 5)}).sampled
        1
        >>> vector(4.0, [(0, 1)] * 8).sampled, vector(4.0, [(0, 1)] * 8, prior="uniform").sampled
        (2, 1)
    """
    epsilon, places = check_epsilon(epsilon), by_name(domains)
    d = len(places)
    one_of(strategy, "strategy", STRATEGIES)
    if k is not None and strategy == "split" and k != d:
        raise ArgumentError(f"strategy='split' answers all {d} questions, got k={k!r}", argument="k")
    scale = [positive_number(w, "weights") for w in (weights if weights is not None else [1.0] * d)]
    if len(scale) != d:
        sentence = f"weights must have one entry per question, got {len(scale)} for {d}"
        raise ArgumentError(sentence, argument="weights")
    spreads = _spreads(prior, list(places.values()))
    questions = [
        _Question(*each, design) for each in zip(places, places.values(), spreads, scale, strict=True)
    ]
    surveys = [_best_shares(epsilon, questions, count) for count in _counts(epsilon, d, strategy, k, design)]
    totals = {survey.sampled: _total(survey, questions) for survey in surveys}
    best = min(surveys, key=lambda survey: totals[survey.sampled])
    return Survey(epsilon, best.questions, best.sampled, totals)


@dataclass(frozen=True, eq=False)
class _Question:
    """Where values lie, how they are assumed to spread, and how much the question counts."""

    name: str
    domain: Domain
    spread: Prior | None
    weight: float
    design: Design | None

    def mechanism(self, epsilon: float) -> Mechanism:
        if self.design is not None:
            return self.design(epsilon, self.domain)
        return question_mechanism(epsilon, self.domain, self.spread)

    @property
    def kind(self) -> tuple[Domain, Prior | None, Design | None]:
        """Questions of one kind are worth the same for the same ε, in units of the domain's width."""
        unit = Circle(1.0) if self.domain.is_circle else UNIT
        return self.domain if self.design is not None else unit, self.spread, self.design


def _curve_of(
    domain: Domain, spread: Prior | None, design: Design | None
) -> tuple[Callable[..., Mechanism], Callable[[Mechanism], float]]:
    """A function of ε for a mechanism worth about as much as that of a kind of question; and its worth."""
    loss = partial(worth, spread=spread)
    if design is not None:
        return partial(_designed, domain=domain, design=design), loss
    if spread is not None and not domain.is_circle:
        # Dozens of designs for a guess would take a minute: divide by PM's formula, compare exactly.
        return partial(pm, domain=domain, cells=2**10), loss
    return partial(question_mechanism, domain=domain), loss


def _designed(epsilon: float, domain: Domain, design: Design) -> Mechanism:
    return design(epsilon, domain)


def by_name(domains: Sequence[DomainLike] | Mapping[str, DomainLike]) -> dict[str, Domain]:
    if isinstance(domains, Sequence) and not isinstance(domains, str):
        domains = {str(i): domain for i, domain in enumerate(domains)}
    if not isinstance(domains, Mapping) or not domains:
        sentence = "domains must be a list of domains, one per question, or a dict by name"
        raise ArgumentTypeError(sentence, argument="domains")
    if len(domains) > MAX_QUESTIONS:
        sentence = f"there can be at most {MAX_QUESTIONS} questions, got {len(domains)}"
        raise ArgumentError(sentence, argument="domains")
    return {name: as_domain(domain) for name, domain in domains.items()}


def _spreads(
    prior: Literal["uniform"] | Sequence[SpreadLike] | None, domains: list[Domain]
) -> list[Prior | None]:
    if prior is None or isinstance(prior, str):
        return [as_spread(prior, domain) for domain in domains]
    if not isinstance(prior, list) or len(prior) != len(domains) or any(isinstance(p, float) for p in prior):
        rule = f"prior must be 'uniform' or a list with one guess for each of the {len(domains)} questions"
        raise ArgumentError(rule, argument="prior")
    return [as_spread(one, domain) for one, domain in zip(prior, domains, strict=True)]


def _counts(epsilon: float, d: int, strategy: Strategy, k: int | None, design: Design | None) -> list[int]:
    """How many questions per person to consider.

    With the default designs ε·(V(ε) + luck) falls while ε < 1, with luck at most ¼ (a test checks it), so to
    answer more than ε questions each is worse than to answer fewer; beyond that only all of them are
    looked at.
    """
    if k is not None:
        count = whole_number(k, "k", least=1)
        if count > d:
            sentence = f"k must be at most the number of questions, {d}, got k={count}"
            raise ArgumentError(sentence, argument="k")
        counts = [count]
    elif strategy == "split":
        counts = [d]
    else:
        counts = [c for c in range(1, d + 1) if design is not None or c <= max(1, math.ceil(epsilon))]
        if strategy == "auto" and d not in counts:
            counts.append(d)
    possible = [c for c in counts if epsilon / c >= MIN_EPSILON]
    if not possible:
        rule = f"epsilon={epsilon!r} is too small to split into {counts[0]}"
        raise ArgumentError(f"{rule}: each needs at least {MIN_EPSILON}", argument="epsilon")
    return possible


def _best_shares(epsilon: float, questions: list[_Question], count: int) -> Survey:
    """Equal shares; or uneven ones when all questions are answered and they do not count alike."""
    even = shares_within([epsilon / count] * count, epsilon)[0]
    surveys = [_built(epsilon, questions, count, [even] * len(questions))]
    alike = len({(one.domain.is_circle, one.spread, one.weight) for one in questions}) == 1
    if count == len(questions) <= 16 and not alike:
        curve_of = cache(_curve_of)  # questions of one kind share a curve
        designs, losses = zip(*(curve_of(*question.kind) for question in questions), strict=True)
        weights = [question.weight for question in questions]
        shares = split_budget(epsilon, designs, losses, weights=weights).epsilons
        surveys.append(_built(epsilon, questions, count, shares))
    return min(surveys, key=lambda survey: _total(survey, questions))


def _built(epsilon: float, questions: list[_Question], count: int, shares: Sequence[float]) -> Survey:
    mechanisms = {one.name: one.mechanism(share) for one, share in zip(questions, shares, strict=True)}
    return Survey(epsilon, mechanisms, count)


def _total(survey: Survey, questions: list[_Question]) -> float:
    """The weighted variance per person of all estimated means."""
    share, parts = float(survey.share), mechanisms(survey)
    return float(sum(one.weight * worth(parts[one.name], share, one.spread) for one in questions))


def mechanisms(survey: Survey) -> dict[str, Mechanism]:
    """The questions of a survey of numbers."""
    parts = {name: part for name, part in survey.questions.items() if isinstance(part, Mechanism)}
    if len(parts) < len(survey.questions):
        raise ArgumentTypeError("every question must be of one number", argument="survey")
    return parts
