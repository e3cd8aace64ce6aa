"""Every estimate of people who are all alike, for everything that reports: an answer or a refusal in words.

At both ends of what they can say and inside, one, two, three and forty of them. No interval has the width 0.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
import pytest
from tests.reporters.catalogue import build, cases, others

import sottovoce as sv
from sottovoce.errors import Coded
from sottovoce.estimates.limits.sums_of_bounds import Sides
from sottovoce.estimates.limits.weighted_counts import Moments, cut
from sottovoce.estimates.relation import Covariances
from sottovoce.values.area import Area
from sottovoce.values.domain import Domain
from sottovoce.values.space import Space

#: Of each design on each kind of domain one ε that tells little and one that tells nearly everything.
ALL = {str(case): partial(build, case) for case in cases() if case.epsilon in (0.5, 8.0)} | others()
#: How many people, and which of three values they have.
PEOPLE = [(1, 0), (1, 1), (1, 2), (2, 0), (3, 1), (40, 0), (40, 1), (40, 2)]
#: What is asked of one of them only.
SLOW = {"region_share": (2, 0), "heatmap": (3, 1), "distribution": (1, 0), "summary": (40, 2)}
#: The square of such a domain is no number in floating point, nor is a half or a third of the smallest.
TOO_EXTREME = {
    ("vast", "variance"),
    *(("two doubles", name) for name in ("variance", "standard_deviation", "summary", "probabilities")),
}


def estimates() -> dict[str, Any]:
    """Public functions of a tally, but the one that asks what fakes could do to others."""
    every = {name: getattr(sv, name) for name in sv.__all__ if inspect.isfunction(getattr(sv, name))}
    first = {name: next(iter(inspect.signature(one).parameters), "") for name, one in every.items()}
    return {name: every[name] for name in every if first[name] == "tally" and name != "fakes"}


def asked(name: str, domain: Any) -> Iterator[dict[str, Any]]:
    """What to ask an estimate about."""
    if name == "probability":
        low, high = (domain.low, domain.high) if isinstance(domain, Domain) else (0.0, 1.0)
        middle = float(domain.from_unit(0.5)) if isinstance(domain, Domain) else 0.5
        ends = (low, low), (high, high), (low, middle), (middle, high)
        yield from ({"low": a, "high": b} for a, b in ends if (a, b) != (low, high))  # which is 1 exactly
    elif name == "quantile":
        yield {"p": [0.1, 0.5, 0.9]}
    elif name == "probabilities":
        yield {"bins": 3}
    elif name == "region_share":
        box = ((domain.x[0], sum(domain.x) / 2), domain.y) if isinstance(domain, Area) else ((0, 1), (0, 1))
        yield {"region": box}
    else:
        yield {}


def intervals(answer: Any) -> Iterator[tuple[str, float, float]]:
    """The limits of everything that an answer holds."""
    if isinstance(answer, sv.Estimate):
        yield answer.what, answer.low, answer.high
    elif isinstance(answer, tuple | list):
        for one in answer:
            yield from intervals(one)
    elif isinstance(answer, sv.Groups):
        yield from intervals([part for group in answer.each for part in (group.share, group.mean)])
    elif isinstance(answer, sv.Shares):
        yield from intervals([*answer.estimates, *answer.joint, *([answer.mean] if answer.mean else [])])
    elif isinstance(answer, sv.Summary):
        for one in answer:
            assert one.sentence or one.problem, one.label
            yield from intervals(list(one.numbers.values()))
    elif isinstance(answer, Covariances):
        for row in answer.rows:
            yield f"{row['x']} and {row['y']}", row["low"], row["high"]


def alike(domain: Space | Mapping[str, Space], n: int, which: int) -> Any:
    """n people who all have the same value: that of one end, of the other, or inside."""
    if isinstance(domain, Mapping):
        return {name: alike(one, n, which) for name, one in domain.items()}
    return np.repeat(domain.examples(4)[which : which + 1], n, axis=0)


def parts(tally: sv.Tally) -> Iterator[sv.Tally]:
    """A tally, and that of each question of a survey which was answered."""
    yield tally
    if isinstance(tally.reporter, sv.Survey):
        yield from (tally[name] for name in tally.reporter.items if tally[name].n)


@pytest.mark.parametrize("name", sorted(ALL))
def test_every_estimate_answers_with_a_width_or_refuses_in_words(name: str) -> None:
    reporter, answered = ALL[name](), 0
    every = estimates()
    assert {"mean", "groups", "probability", "shares", "mean_position", "covariances"} <= set(every)
    for n, which in PEOPLE:
        tally = sv.Tally(reporter, reporter.report(alike(reporter.domain, n, which), rng=10 * n + which))
        for part in parts(tally):
            for estimate, function in every.items():
                if SLOW.get(estimate, (n, which)) != (n, which) or (name, estimate) in TOO_EXTREME:
                    continue
                for question in asked(estimate, part.reporter.domain):
                    try:
                        answer = function(part, **question)
                    except Coded:  # says in words what it cannot do; anything else is an error
                        continue
                    for what, low, high in intervals(answer):
                        answered += 1
                        assert low < high, (estimate, question, what, n, which)
    assert answered or not isinstance(reporter, sv.Mechanism)


def test_private_groups_when_all_are_in_one() -> None:
    """A covariance that rounding makes negative, and limits that are both beyond an end."""
    w = sv.within(8.0, list("abcde"), (0, 1))
    for seed in range(40):
        t = sv.Tally(w, w.report({"group": ["a"] * 100, "number": [0.0] * 100}, rng=seed))
        for group in sv.groups(t).each:
            assert group.share.low < group.share.high
            assert group.mean.low < group.mean.high


def test_limits_beyond_an_end_keep_a_width() -> None:
    """Half of theirs, at that end; others are cut, and what is known to be an end stays it."""
    low, high = cut(np.array([-0.5, -0.1, 1.2, 0.4, 1.0]), np.array([-0.1, 0.2, 1.6, 1.4, 1.0]), (0.0, 1.0))
    np.testing.assert_allclose(low, [0.0, 0.0, 0.8, 0.4, 1.0])
    np.testing.assert_allclose(high, [0.2, 0.2, 1.0, 1.0, 1.0])
    shares = Moments(-0.3, 0.05, 0.0, 1e6)
    limits = Sides(shares, shares, (0.0, 1.0)).limits(0.025)
    assert limits == pytest.approx((0.0, 1.96 * 0.05), rel=1e-3)
