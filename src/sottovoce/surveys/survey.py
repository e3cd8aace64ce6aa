"""Which items each person answers, and with how much ε: chosen by exact variances."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any, Literal, NamedTuple, TypeVar

from sottovoce.designs.classic import pm
from sottovoce.designs.place import place
from sottovoce.designs.prior import Prior
from sottovoce.errors import (
    MIN_EPSILON,
    ArgumentError,
    ArgumentTypeError,
    check_epsilon,
    one_of,
    positive_number,
    whole_number,
)
from sottovoce.reporters.composites.item_rules import MAX_ITEMS
from sottovoce.reporters.composites.survey import Survey
from sottovoce.surveys.item_worth import (
    UNIT,
    Design,
    SpreadLike,
    about_worst_variance,
    as_spread,
    suited,
    worth,
)
from sottovoce.surveys.relations import related
from sottovoce.surveys.split_budget import shares_within, split_budget
from sottovoce.values.circle import Circle
from sottovoce.values.disc import Disc
from sottovoce.values.domain import Domain
from sottovoce.values.interval import DomainLike, as_domain
from sottovoce.values.options import Options

T = TypeVar("T")
ItemLike = DomainLike | Options | Disc | Sequence[str | int]
Kind = tuple[Domain | Options | Disc, Prior | None, Design | None]
Strategy = Literal["auto", "split", "sample"]
STRATEGIES: tuple[Strategy, ...] = ("auto", "split", "sample")


def survey(
    epsilon: float,
    items: Sequence[ItemLike] | Mapping[str, ItemLike],
    strategy: Strategy = "auto",
    *,
    k: int | None = None,
    prior: Literal["uniform"] | Sequence[SpreadLike] | None = None,
    design: Design | None = None,
    weights: Sequence[float] | Mapping[str, float] | None = None,
    relations: Sequence[tuple[str, str]] = (),
) -> Survey:
    """Design a survey of several items within one ε: numbers, directions, choices and places.

    How many items a person answers, and with how much of ε, is chosen for the least total variance: of
    the means of numbers and positions, and of the average share of options. Numbers are judged by the worst
    truth, values at both ends, half and half. With a prior they are judged by the expected variance instead;
    reports stay unbiased if the guess is wrong, only their variance is larger.

    Args:
        epsilon: What one person's whole report may cost.
        items: By name: (low, high) or a domain for a number, a `Circle` for a direction, a list of
            options for a choice, a `Disc` for a place. A list of items names them "0", "1", ….
        strategy: "split": everybody answers all items, with a part of ε each. "sample": everybody answers
            k of them, chosen by lot, with ε/k each. "auto": whichever has the least total variance.
        k: How many items a person answers; the best number if not given.
        prior: A public guess of where numbers lie: "uniform" (anywhere in the domain alike) for all of them,
            or a list with one entry per item: "uniform", samples, a pair (values, weights), or None for
            the worst case.
        design: Makes the mechanism of a number from ε and its domain, in place of the unbiased one of least
            worst-case or expected variance.
        weights: How much each item counts, in units of its width, by name or one after the other; alike
            if not given. Weights also divide ε unevenly where all items are answered.
        relations: Names of two numbers each, of which `sottovoce.correlation` and `slope` are wanted.
            Everybody then answers one item or one function of two numbers, by lot, with the whole ε.

    Returns:
        A survey; `considered` has the total variance for every k that was looked at.

    Raises:
        ValueError: If an argument is out of range, arguments do not fit each other, or ε is too small to
            split.
        TypeError: If `items` is neither a list nor a dict.

    Example:
        >>> s = survey(2.0, {"age": (0, 120), "start": Circle(24), "transport": ["car", "bike", "train"]})
        >>> s.sampled, s.report({"age": 41, "start": 7.5, "transport": "bike"}).shape
        (1, (1,))
        >>> survey(4.0, [(0, 1)] * 8).sampled, survey(4.0, [(0, 1)] * 8, prior="uniform").sampled
        (2, 1)
    """
    epsilon = check_epsilon(epsilon)
    spaces = {name: _space(item) for name, item in by_name(items, "items").items()}
    d = len(spaces)
    one_of(strategy, "strategy", STRATEGIES)
    if relations:
        if strategy == "split" or k not in (None, 1) or prior is not None or design is not None:
            sentence = "relations are asked for by lot: they do not go with strategy, k, prior or design"
            raise ArgumentError(sentence, code="choice", argument="relations")
        return related(epsilon, spaces, [(x, y) for x, y in relations], _scale(weights, spaces))
    if k is not None and strategy == "split" and k != d:
        raise ArgumentError(f"strategy='split' answers all {d} items, got k={k!r}", argument="k")
    facts = zip(spaces, spaces.values(), _spreads(prior, spaces), _scale(weights, spaces), strict=True)
    asked = [_Item(*each, design) for each in facts]
    surveys = [_best_shares(epsilon, asked, count) for count in _counts(epsilon, d, strategy, k, design)]
    totals = {survey.sampled: _total(survey, asked) for survey in surveys}
    best = min(surveys, key=lambda survey: totals[survey.sampled])
    return Survey(epsilon, best.items, best.sampled, totals)


class _Item(NamedTuple):
    """Where values lie, how they are assumed to spread, and how much the item counts."""

    name: str
    space: Domain | Options | Disc
    spread: Prior | None
    weight: float
    design: Design | None

    @property
    def kind(self) -> Kind:
        """Items of one kind are worth the same for the same ε, in units of the domain's width."""
        if isinstance(self.space, Options):
            return Options(tuple(range(len(self.space)))), None, None
        if isinstance(self.space, Disc):
            return Disc(), None, None
        unit = Circle(1.0) if self.space.is_circle else UNIT
        return self.space if self.design is not None else unit, self.spread, self.design


def _curve_of(
    space: Domain | Options | Disc, spread: Prior | None, design: Design | None
) -> tuple[Callable[..., Any], Callable[[Any], float]]:
    """A function of ε for a reporter worth about as much as that of a kind of item; and its worth."""
    loss = partial(worth, spread=spread)
    if isinstance(space, Disc):
        return partial(place, radius=space.radius, points=16), loss  # on a coarse grid, to divide by
    if isinstance(space, Options) or design is not None or space.is_circle:
        return partial(suited, space=space, design=design), loss
    if spread is not None:
        # Dozens of designs for a guess would take a minute: divide by PM's formula, compare exactly.
        return partial(pm, domain=space, cells=2**10), loss
    return lambda epsilon: epsilon, about_worst_variance  # dozens of designs would take seconds


def by_name(items: Sequence[T] | Mapping[str, T], argument: str) -> dict[str, T]:
    """Items by name; those of a list are called "0", "1", …."""
    if isinstance(items, Sequence) and not isinstance(items, str):
        items = {str(i): item for i, item in enumerate(items)}
    if not isinstance(items, Mapping) or not items:
        sentence = f"{argument} must be a dict by the names of the items, or a list"
        raise ArgumentTypeError(sentence, argument=argument)
    if len(items) > MAX_ITEMS:
        sentence = f"there can be at most {MAX_ITEMS} items, got {len(items)}"
        raise ArgumentError(sentence, argument=argument)
    return dict(items)


def _space(item: ItemLike) -> Domain | Options | Disc:
    """Options are a list; two numbers in a tuple are the ends of an interval."""
    if isinstance(item, list) and len(item) == 2 and not isinstance(item[0], str):
        sentence = f"{item} can be read in two ways: write ({item[0]}, {item[1]}) for a number"
        raise ArgumentError(f"{sentence}, Options(…) for a choice of two", argument="items")
    if isinstance(item, list):
        item = Options(tuple(item))
    return item if isinstance(item, Options | Disc) else as_domain(item)  # type: ignore[arg-type]


def _scale(
    weights: Sequence[float] | Mapping[str, float] | None, spaces: Mapping[str, object]
) -> list[float]:
    if isinstance(weights, Mapping):
        if unknown := [name for name in weights if name not in spaces]:
            raise ArgumentError(f"weights name no item {unknown[0]!r}", argument="weights")
        weights = [weights.get(name, 1.0) for name in spaces]
    scale = [positive_number(w, "weights") for w in (weights if weights is not None else [1.0] * len(spaces))]
    if len(scale) != len(spaces):
        sentence = f"weights must have one entry per item, got {len(scale)} for {len(spaces)}"
        raise ArgumentError(sentence, argument="weights")
    return scale


def _spreads(
    prior: Literal["uniform"] | Sequence[SpreadLike] | None, spaces: Mapping[str, Domain | Options | Disc]
) -> list[Prior | None]:
    if prior is None or isinstance(prior, str):
        prior = [prior] * len(spaces)
    if not isinstance(prior, list) or len(prior) != len(spaces) or any(isinstance(p, float) for p in prior):
        rule = f"prior must be 'uniform' or a list with one guess for each of the {len(spaces)} items"
        raise ArgumentError(rule, argument="prior")
    return [
        as_spread(one, space) if isinstance(space, Domain) else None
        for one, space in zip(prior, spaces.values(), strict=True)
    ]


def _counts(epsilon: float, d: int, strategy: Strategy, k: int | None, design: Design | None) -> list[int]:
    """How many items per person to consider.

    With the default designs ε·(V(ε) + luck) falls while ε < 1, with luck at most ¼ (a test checks it), so to
    answer more than ε items each is worse than to answer fewer; beyond that only all of them are
    looked at.
    """
    if k is not None:
        count = whole_number(k, "k", least=1)
        if count > d:
            sentence = f"k must be at most the number of items, {d}, got k={count}"
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


def _best_shares(epsilon: float, items: list[_Item], count: int) -> Survey:
    """Equal shares; or uneven ones when all items are answered and they do not count alike."""
    even = shares_within([epsilon / count] * count, epsilon)[0]
    surveys = [_built(epsilon, items, count, [even] * len(items))]
    alike = len({(one.kind, one.weight) for one in items}) == 1
    if count == len(items) <= 16 and not alike:
        curve_of = cache(_curve_of)  # items of one kind share a curve
        designs, losses = zip(*(curve_of(*item.kind) for item in items), strict=True)
        weights = [item.weight for item in items]
        shares = split_budget(epsilon, designs, losses, weights=weights).epsilons
        surveys.append(_built(epsilon, items, count, shares))
    return min(surveys, key=lambda survey: _total(survey, items))


def _built(epsilon: float, items: list[_Item], count: int, shares: Sequence[float]) -> Survey:
    reporters = {
        one.name: suited(share, one.space, one.spread, one.design)
        for one, share in zip(items, shares, strict=True)
    }
    return Survey(epsilon, reporters, count)


def _total(survey: Survey, items: list[_Item]) -> float:
    """The weighted variance per person of all estimated means and average shares."""
    share = float(survey.share)
    return sum(one.weight * worth(survey.items[one.name], share, one.spread) for one in items)
